"""Building the kinematic tree of a model file: joints, bodies and frames under names that are unique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from liegroups.arrays import ArrayLike, Matrix, Vector

from ...robot.model.joints import joint_along
from ...robot.model.pinocchio import Placement, pin


class JointKind(Enum):
    """Joints that model files have, by what they leave free."""

    FIXED = "nothing"
    REVOLUTE = "rotation about an axis"
    PRISMATIC = "translation along an axis"
    HELICAL = "translation along an axis, coupled to the rotation about it"
    UNIVERSAL = "rotation about one axis, then about another"
    BALL = "any rotation"
    FREE = "any motion"

    @property
    def freedoms(self) -> int:
        """How many it leaves."""
        several = {JointKind.FIXED: 0, JointKind.UNIVERSAL: 2, JointKind.BALL: 3, JointKind.FREE: 6}
        return several.get(self, 1)


@dataclass(frozen=True, eq=False)
class JointLimits:
    """What a file says of the coordinates of a joint; infinite where it says nothing.

    Attributes:
        lower, upper: of its coordinate [rad or m].
        effort: largest force or torque [N or N m].
        velocity: largest speed [rad/s or m/s].
        damping, friction, armature: viscous friction, dry friction, and inertia of the rotor, by degree of freedom.
        stiffness, rest: of a spring on its coordinate, and where it has no force.
    """

    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    velocity: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0


class Tree:
    """A `pinocchio.Model` in the making. Joints are added parent first, whole subtrees one after the other.

    Args:
        name: of the model.

    Attributes:
        model: what has been built so far.
        renamed: new name -> name in the file, where a joint could not keep it.
    """

    def __init__(self, name: str) -> None:
        self.model: Any = pin.Model()
        self.model.name = name
        self.renamed: dict[str, str] = {}
        self._taken: dict[str, set[str]] = {"joint": {str(world) for world in self.model.names}}
        self._numbers: dict[tuple[str, str], int] = {}

    def joint(
        self,
        parent: int,
        kind: JointKind,
        placement: Placement,
        name: str,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        pitch: float = 0.0,
        limits: JointLimits | Sequence[JointLimits] | None = None,
        second: ArrayLike = (0.0, 1.0, 0.0),
    ) -> int:
        """Add a joint; its index.

        Args:
            parent: index of the joint that carries it; 0 is the world.
            kind: what it leaves free.
            placement: of the joint on its parent, at the zero of its coordinates.
            name: wanted; a number is appended where it is taken.
            axis: of a joint of one freedom, in its own frame.
            pitch: of a helical joint [m/rad].
            limits: bounds and the like, one by coordinate or one for all; bounds of hinges and slides only.
            second: the second axis of a universal joint.
        """
        model, free = self.model, _model_of(kind, axis, pitch, second)
        own = self._unique("joint", name)
        if own != name:
            self.renamed[own] = name
        index = int(model.addJoint(parent, free, placement, own))
        model.addJointFrame(index)
        if limits is not None:
            by_dof = [limits] * free.nv if isinstance(limits, JointLimits) else list(limits)
            for k, one in enumerate(by_dof):
                q, v = model.joints[index].idx_q + k, model.joints[index].idx_v + k
                if kind not in (JointKind.BALL, JointKind.FREE):
                    model.lowerPositionLimit[q], model.upperPositionLimit[q] = one.lower, one.upper
                model.upperEffortLimit[v], model.lowerEffortLimit[v] = one.effort, -one.effort
                model.upperVelocityLimit[v], model.lowerVelocityLimit[v] = one.velocity, -one.velocity
                model.upperDryFrictionLimit[v], model.lowerDryFrictionLimit[v] = one.friction, -one.friction
                model.damping[v], model.armature[v] = one.damping, one.armature
        return index

    def body(
        self,
        joint: int,
        placement: Placement,
        name: str,
        mass: float = 0.0,
        com: ArrayLike = (0, 0, 0),
        inertia: Any = 0.0,
    ) -> str:
        """Add a body to a joint; the name of its frame.

        Args:
            joint: index of the joint that carries it.
            placement: of the body's frame on the joint.
            name: wanted; a number is appended where another body has it.
            mass: [kg].
            com: centre of mass (3,), in the body's frame [m].
            inertia: (3, 3) about the centre of mass, in axes of the body's frame [kg m^2]; zero for a point.
        """
        own = self._unique("body", name)
        if mass:
            about = np.zeros((3, 3)) + np.asarray(inertia, dtype=np.float64)
            self.model.appendBodyToJoint(joint, pin.Inertia(mass, np.asarray(com, dtype=np.float64), about), placement)
        self.model.addBodyFrame(own, joint, placement, self._frame_of(joint))
        return own

    def frame(self, joint: int, placement: Placement, name: str) -> str:
        """Add a named place on a joint; its name, a number appended where another one has it."""
        own = self._unique("frame", name)
        self.model.addFrame(pin.Frame(own, joint, self._frame_of(joint), placement, pin.FrameType.OP_FRAME))
        return own

    def _frame_of(self, joint: int) -> int:
        return int(self.model.getFrameId(self.model.names[joint], pin.FrameType.JOINT)) if joint else 0

    def _unique(self, kind: str, wanted: str) -> str:
        taken = self._taken.setdefault(kind, set())
        name, number = wanted, self._numbers.get((kind, wanted), 1)
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        taken.add(name)
        self._numbers[kind, wanted] = number
        return name


def translation(vector: ArrayLike) -> Any:
    """The placement of a translation (3,) [m]."""
    return pin.SE3(np.eye(3), np.array(vector, dtype=np.float64))


def rotation_about(axis: ArrayLike, angle: float) -> Any:
    """The placement of a rotation about an axis through the origin.

    Args:
        axis: direction (3,).
        angle: [rad].
    """
    return pin.SE3(pin.exp3(angle * _unit(axis)), np.zeros(3))


def _unit(axis: ArrayLike) -> Vector:
    direction = np.asarray(axis, dtype=np.float64)
    return direction / np.sqrt(direction @ direction)


def _model_of(kind: JointKind, axis: ArrayLike, pitch: float, second: ArrayLike) -> Any:
    """The joint model of pinocchio, the aligned one where the axis is a coordinate axis."""
    if kind is JointKind.BALL:
        return pin.JointModelSpherical()
    if kind is JointKind.FREE:
        return pin.JointModelFreeFlyer()
    if kind is JointKind.UNIVERSAL:
        both = pin.JointModelComposite()
        for one in (axis, second):
            both.addJoint(_model_of(JointKind.REVOLUTE, one, 0.0, second), pin.SE3.Identity())
        return both
    if kind is JointKind.HELICAL:
        return joint_along("helical", _unit(axis), pitch)
    return joint_along("revolute" if kind is JointKind.REVOLUTE else "prismatic", _unit(axis))


def inertia_matrix(principal: ArrayLike, axes: Matrix) -> Matrix:
    """Inertia (3, 3) from principal moments (3,) and the rotation whose columns are the principal axes."""
    return (axes * np.asarray(principal, dtype=np.float64)) @ axes.T

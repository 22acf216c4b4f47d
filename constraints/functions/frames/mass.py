"""The centre of mass of a set of bodies: what the functions of it share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liegroups.arguments import as_tuple, is_one_of
from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import ModelError, OptionError
from ...point import MovingPoint
from ...robot import Robot
from ...robot.arguments import as_robot
from ...robot.model.pinocchio import Model, pin
from ...robot.moving_frames import MovingFrames, SeenFrame, WeightedPoint
from ...robot.posture import Kinematics
from ...robot.subtree import truncated
from ..function import Function
from .frame_function import motion_of, supporting_columns

_POSITION: Any = pin.KinematicLevel.POSITION
_ACCELERATION: Any = pin.KinematicLevel.ACCELERATION
_center_of_mass: Any = pin.centerOfMass
_center_jacobian: Any = pin.jacobianCenterOfMass


class MassFunction(Function):
    r"""A function of the centre of mass :math:`c = \sum_i m_i c_i / \sum_i m_i` of a set of bodies.

    The set is given by joints (the bodies they carry), by the sub-trees that start at joints, or is the whole robot.
    It is read from a shadow model: the robot's up to the last of them, with the inertias of all other bodies zero, on
    the same memory.
    """

    robot: Robot
    moving_joints: tuple[int, ...]
    _shadow: Model
    _parts: tuple[WeightedPoint, ...]

    def choose_bodies(self, robot: object, joints: Sequence[str] | None, subtrees: Sequence[str] | None) -> Robot:
        """Find the joints whose bodies count, and make the shadow model (from `__post_init__`).

        Raises:
            UnknownJointError: a joint the robot does not have.
            ModelError: if the chosen bodies have no mass, or one has a mass that is negative or not finite.
        """
        owner = type(self).__name__
        robot = as_robot(robot, f"robot of {owner}")
        if joints is not None and subtrees is not None:
            raise OptionError(f"{owner}: give joints or subtrees, not both")
        model: Any = robot.model
        if joints is not None:
            names = as_tuple(joints, f"joints of {owner}", "joint names", ordered=False)
            chosen = {_joint(robot, name) for name in names}
        else:
            below = ("universe",) if subtrees is None else subtrees
            roots = as_tuple(below, f"subtrees of {owner}", "joint names", ordered=False)
            chosen = {int(j) for root in roots for j in model.subtrees[_joint(robot, root)]}
        for j in sorted(chosen - {0}):
            if not 0.0 <= (mass := model.inertias[j].mass) < np.inf:
                raise ModelError(f"{owner}: the mass carried by joint '{model.names[j]}' of {robot.name} is {mass:g}")
        massive = tuple(j for j in sorted(chosen) if j > 0 and model.inertias[j].mass > 0.0)
        if not massive:
            raise ModelError(f"{owner}: the chosen bodies of {robot.name} have no mass")
        shadow = truncated(model, massive[-1])
        for j in range(shadow.njoints):
            if j not in massive:
                shadow.inertias[j] = pin.Inertia.Zero()
        bodies = [model.inertias[j] for j in massive]
        total = sum(body.mass for body in bodies)
        parts = tuple(
            WeightedPoint(j, pin.SE3(np.eye(3), np.array(body.lever)), body.mass / total)
            for j, body in zip(massive, bodies, strict=True)
        )
        set_fields(self, _shadow=shadow, moving_joints=massive, _parts=parts)
        return robot

    def columns_seen_from(self, joint: int) -> BoolVector:
        """Columns on which the centre of mass seen from a joint depends: those that move it and some body apart."""
        chain = supporting_columns(self.robot, joint)
        columns = np.zeros(self.robot.nv, dtype=np.bool_)
        for j in self.moving_joints:
            columns |= chain ^ supporting_columns(self.robot, j)
        return columns

    def center(self, k: Kinematics) -> Vector:
        """Centre of mass (3,) in the world [m].

        Args:
            k: kinematics at the point, of `kinematics_at`; after `center_jacobian`, which sums in another order.
        """
        return _center_of_mass(self._shadow, k.data, _POSITION, False)

    def center_jacobian(self, k: Kinematics) -> Matrix:
        """Jacobian (3, nv) of the centre of mass in the world, live.

        Args:
            k: kinematics at the point, with Jacobians.
        """
        _center_jacobian(self._shadow, k.data, False)
        return k.center_jacobian

    def center_motion(self, motion: MovingPoint) -> tuple[Vector, Vector, Vector]:
        """Position, velocity and acceleration at zero joint acceleration of the centre of mass, in the world."""
        data = motion_of(motion).with_drift().data
        _center_of_mass(self._shadow, data, _ACCELERATION, False)
        return np.array(data.com[0]), np.array(data.vcom[0]), np.array(data.acom[0])

    def center_frame(self, moving: MovingFrames) -> SeenFrame:
        """The centre of mass as the origin of a frame that never turns, with the derivatives of its motion.

        Args:
            moving: the robot's frames.
        """
        return moving.mean(self._parts)


def _joint(robot: Robot, name: str) -> int:
    return 0 if is_one_of(name, ("universe",)) else robot.joint_index(name)

"""Postures and motions: a robot's configuration (and velocity) in a workspace, computed in stages, on demand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, final
from weakref import ref

import numpy as np

from liegroups import Segments
from liegroups.arrays import Matrix, Vector

from ..point import ALL_JOINTS, MovingPoint, Point, SpaceMotion, SpacePoint, part_vector
from ..workspace import Workspace
from .frame import Frame
from .frame_pair import FramePair, frame_jacobian_of
from .frame_table import FrameTable
from .model.inertia import inertia_of, inverse_inertia_of
from .model.pinocchio import Placement, data_of, pin

if TYPE_CHECKING:
    from .space import RobotSpace

_LOCAL: Any = pin.LOCAL
_joint_jacobian: Any = pin.getJointJacobian


@final
class Kinematics:
    """Pinocchio's memory for one model in one workspace, and up to which stage it is computed for which point.

    Each mark is the serial number of the point for which the stage has been computed. Placements and joint Jacobians
    are computed for the joints up to the last one that anybody has asked for in this memory: with arms that no function
    reads, a humanoid's legs alone cost two thirds.

    Args:
        space: whose model.

    Attributes:
        model, data: pinocchio's.
        last: index of the last joint whose placement is computed.
        tree: the model up to there, or the model; its algorithms write to the same data.
        nq: coordinates of the tree; None where it is the model.
        jacobian_on: (model, data, joint, placement on it, axes) -> Jacobian (6, nv) of that frame, a new array.
        inertia_of, inverse_inertia_of: (model, data, q) -> joint-space inertia (nv, nv) and its inverse, new arrays.
        oMi: live placements of the joints in the world, by joint index.
        world_jacobian: live joint Jacobians (6, nv), spatial, in the world frame.
        frames: what `relative` made, by id of an owner that lives.
        center, center_jacobian: live results (3,), (3, nv) of the last centre of mass that was computed.
    """

    def __init__(self, space: RobotSpace) -> None:
        model: Any = space.model
        self.space, self.model, self.tree = space, model, model
        self.last, self.nq = 0, None
        self.jacobian_on = frame_jacobian_of(model)
        self.inertia_of, self.inverse_inertia_of = inertia_of(model), inverse_inertia_of(model)
        self.data = data_of(model)
        self.oMi: list[Placement] = list(self.data.oMi)  # references: they follow the data
        self.world_jacobian: Matrix = self.data.J.reshape(6, model.nv, order="F")  # one column comes as a vector
        self.center: Vector = self.data.com[0]
        self.center_jacobian: Matrix = self.data.Jcom.reshape(3, model.nv, order="F")
        self.placed = self.jacobians = 0
        self.frames: dict[int, FramePair] = {}
        self._owners: dict[int, ref[object]] = {}
        self.motion: object = None
        self.velocities = self.drift = self.mass = self.bias = 0
        self.mass_matrix: Matrix = np.zeros((0, 0))

    def reach(self, last: int) -> None:
        """Compute the joints up to this one from now on; what has been computed counts no more."""
        self.last, self.tree = self.space.tree_to(last)
        self.nq = None if self.tree is self.model else self.tree.nq
        self.placed = self.jacobians = 0

    def joint_jacobian(self, joint: int) -> Matrix:
        """Jacobian (6, nv) of a joint's twist, in its own frame; a new array."""
        J: Matrix = _joint_jacobian(self.model, self.data, joint, _LOCAL)
        return J if J.ndim == 2 else J[:, None]  # pinocchio gives one column as a vector

    def frame_jacobian(self, frame: Frame) -> Matrix:
        """Body Jacobian (6, nv) of a frame: its twist in its own axes; a new array."""
        return self.jacobian_on(self.model, self.data, frame.joint, frame.placement, _LOCAL)

    def relative(self, owner: object, a: Frame, b: Frame) -> FramePair:
        """Memory for frame b seen from frame a, made once for the owner (a function), forgotten when the owner is gone.

        Functions come and go while a workspace stays: each new right-hand side of an explicit pose makes one.
        """
        key = id(owner)
        found = self.frames.get(key)
        if found is None:
            found = self.frames[key] = FramePair(self.model, a, b)
            self._owners[key] = ref(owner, partial(_forget, ref(self), key))
        return found


def _forget(memory: ref[Kinematics], key: int, _: object) -> None:
    """Drop what belonged to an owner that is gone, before its id is used again."""
    kinematics = memory()
    if kinematics is not None:
        kinematics.frames.pop(key, None)
        kinematics._owners.pop(key, None)  # pyright: ignore[reportPrivateUsage]


@final
class Posture(Point):
    """A robot at a configuration q: its kinematics are computed once, on demand, in stages.

    `robot.at(q)` makes a posture that stays valid; `robot.at(q, workspace)` makes one that borrows the workspace and
    raises StalePostureError once the workspace holds another configuration.

    Attributes:
        kinematics: memory of the stages; `placed` and `with_jacobians` compute them and return it.
        frames: the named frames of the robot that made it, or of its model.
    """

    __slots__ = ("_lease", "frames", "kinematics", "space")
    space: RobotSpace
    frames: FrameTable

    def __init__(self, space: RobotSpace, q: Vector, workspace: Workspace, serial: int, lease: object = None) -> None:
        self.space, self.q, self.workspace, self.serial = space, q, workspace, serial
        self.kinematics = workspace.resource(space, "kinematics", space.kinematics)
        self._lease = lease

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, a pickled one too, is a posture in a workspace of its own: the memory is not copied.

        Raises:
            StalePostureError: the workspace holds another configuration.
        """
        self.check()
        return _posture_again, (self.space, self.q, getattr(self, "frames", None))

    def part(self, segments: Segments) -> Point:
        """The point of a block of joints (without kinematics); the whole space is the posture itself."""
        if len(segments) == self.space.nv:
            return self
        return SpacePoint(
            segments.space, part_vector(self.q, segments.q_slice, segments.q_indices), self.workspace, self.serial
        )

    # Stages: live memory for functions, valid until the workspace moves on.

    def placed(self, last: int = ALL_JOINTS) -> Kinematics:
        """Stage 1: the placements of the joints are computed.

        Args:
            last: index of the last joint that the caller reads; later joints may not be computed.
        """
        k = self.kinematics
        if k.placed == self.serial == self.workspace.serial and last <= k.last:
            return k
        self._ready(k, last)
        if k.placed != self.serial:
            pin.forwardKinematics(k.tree, k.data, self.q if k.nq is None else self.q[: k.nq])
            k.placed = self.serial
        return k

    def with_jacobians(self, last: int = ALL_JOINTS) -> Kinematics:
        """Stage 2: the joint Jacobians too (`data.J`: spatial, in the world frame); `last` as for `placed`."""
        k = self.kinematics
        if k.jacobians == self.serial == self.workspace.serial and last <= k.last:
            return k
        self._ready(k, last)
        if k.placed == self.serial:
            pin.computeJointJacobians(k.tree, k.data)
        else:
            pin.computeJointJacobians(k.tree, k.data, self.q if k.nq is None else self.q[: k.nq])
            k.placed = self.serial
        k.jacobians = self.serial
        return k

    def _ready(self, k: Kinematics, last: int) -> None:
        """Refuse a stale posture; make the memory reach a joint."""
        if self.workspace.serial != self.serial:
            self.check()
        if last > k.last:
            k.reach(last)

    # Values: copies, for users.

    def frame(self, frame: Frame | str) -> Frame:
        """The frame with this name, or the frame itself.

        Raises:
            UnknownFrameError: lists the frames whose names come closest.
            ModelError: a Frame on a joint that this robot does not have.
            WrongObjectError: neither a name nor a Frame.
        """
        if isinstance(frame, Frame):
            self.space.check_frame(frame)
            return frame
        try:
            table = self.frames
        except AttributeError:  # made by the space, which knows no frames that a robot has added
            table = self.frames = FrameTable.of(self.space.model)
        return table.find(frame)

    def placement(self, frame: Frame | str) -> Placement:
        r"""Placement :math:`{}^oM_f` of a frame in the world.

        Args:
            frame: a frame of the robot, or its name.
        """
        at = self.frame(frame)
        return self.placed().oMi[at.joint].act(at.placement)

    def jacobian(self, frame: Frame | str) -> Matrix:
        """Body Jacobian (6, nv) of a frame: its twist in its own axes, rows linear [m], angular [rad]."""
        return self.with_jacobians().frame_jacobian(self.frame(frame))

    def center_of_mass(self) -> Vector:
        """Centre of mass (3,) of the whole robot in the world [m]."""
        k = self.placed()
        return np.array(pin.centerOfMass(k.model, k.data, pin.KinematicLevel.POSITION, False))


def _posture_again(space: RobotSpace, q: Vector, frames: FrameTable | None) -> Posture:
    """The posture of a copy."""
    posture = space.at(q)
    if frames is not None:
        posture.frames = frames
    return posture


@final
class Motion(MovingPoint):
    """A posture with a velocity; it also gives velocities, drift accelerations, mass matrix and bias force.

    Attributes:
        point, posture: where.
        v: tangent velocity (nv,).
    """

    __slots__ = ("_token",)
    point: Posture

    def __init__(self, point: Posture, v: Vector) -> None:
        self.point, self.v = point, v
        self._token = object()

    @property
    def posture(self) -> Posture:
        """The posture that moves."""
        return self.point

    def part(self, segments: Segments) -> MovingPoint:
        """The motion of a block of joints (without kinematics); the whole space is the motion itself."""
        if len(segments) == self.point.space.nv:
            return self
        return SpaceMotion(self.point.part(segments), part_vector(self.v, segments.v_slice, segments.v_indices))

    def _stages(self) -> Kinematics:
        posture = self.point
        k = posture.kinematics
        if posture.workspace.serial != posture.serial:
            posture.check()
        if k.motion is not self._token:  # the memory holds the stages of one motion at a time
            k.motion = self._token
            k.velocities = k.drift = k.mass = k.bias = 0
        return k

    def with_velocities(self) -> Kinematics:
        """Stage: placements, and spatial velocities of the joints, each in its own frame (`data.v`)."""
        k = self._stages()
        serial = self.point.serial
        if k.velocities != serial:
            pin.forwardKinematics(k.model, k.data, self.point.q, self.v)
            k.velocities = k.placed = serial
        return k

    def with_drift(self) -> Kinematics:
        """Stage: and spatial accelerations at zero joint acceleration (`data.a`), each in its own frame."""
        k = self._stages()
        serial = self.point.serial
        if k.drift != serial:
            pin.forwardKinematics(k.model, k.data, self.point.q, self.v, self.point.space.zero_velocity)
            k.velocities = k.drift = k.placed = serial
        return k

    def velocity(self, frame: Frame | str) -> Vector:
        """Body twist (6,) of a frame: linear [m/s], angular [rad/s]."""
        at = self.point.frame(frame)
        return np.asarray(at.placement.actInv(self.with_velocities().data.v[at.joint]).vector)

    def drift_acceleration(self, frame: Frame | str) -> Vector:
        """Spatial acceleration (6,) of a frame at zero joint acceleration, in its axes [m/s2, rad/s2]."""
        at = self.point.frame(frame)
        return np.asarray(at.placement.actInv(self.with_drift().data.a[at.joint]).vector)

    def mass_matrix(self) -> Matrix:
        """Joint-space inertia matrix M(q) (nv, nv), symmetric; a copy."""
        k = self._stages()
        if k.mass != self.point.serial:
            k.mass_matrix = k.inertia_of(k.model, k.data, self.point.q)
            k.mass = self.point.serial
        return k.mass_matrix.copy()

    def inverse_mass_matrix(self) -> Matrix:
        r""":math:`M(q)^{-1}` (nv, nv) by articulated bodies, without M; not finite if a joint moves no mass."""
        k = self._stages()
        return k.inverse_inertia_of(k.model, k.data, self.point.q)

    def inertial_force(self, a: Vector) -> Vector:
        """M(q) a (nv,) by recursion, without M.

        Args:
            a: joint accelerations (nv,).
        """
        k = self._stages()
        if k.bias != self.point.serial:
            self.bias_force()
        return pin.rnea(k.model, k.data, self.point.q, self.v, a) - k.data.nle

    def bias_force(self) -> Vector:
        """Coriolis, centrifugal and gravity forces h(q, v) (nv,), with M a + h = tau."""
        k = self._stages()
        if k.bias != self.point.serial:
            pin.nonLinearEffects(k.model, k.data, self.point.q, self.v)
            k.bias = self.point.serial
        return np.array(k.data.nle)

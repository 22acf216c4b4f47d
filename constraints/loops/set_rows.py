"""The rows of a constraint set, evaluated together: one pass of kinematics, one product with the joint Jacobians.

A row of a contact or closure is a wrench W (6,) in the world: with the joint Jacobians :math:`J_o` (6, nv) of the world
frame, and the sign of each column (1 on the chain of the successor, -1 on that of the predecessor, 0 where both have
it or none), the row is :math:`W^T J_o` by columns. So all of them are one product (k, 6) (6, nv).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.segments import as_slice

from ..functions.frames.frame_function import supporting_columns
from ..robot import Motion, Robot
from ..robot.model.pinocchio import pin
from ..robot.posture import Kinematics
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import Reference, RowOwner
from ..rows.stack import Stack
from .contacts import PointRates
from .frame_rows import FrameRows
from .hinges.pose_map import Split

_LOCAL: Any = pin.LOCAL
_ALIGNED: Any = pin.LOCAL_WORLD_ALIGNED
_classical: Any = pin.getFrameClassicalAcceleration
_velocity: Any = pin.getFrameVelocity
_acceleration: Any = pin.getFrameAcceleration


class SetRows(NamedTuple):
    """The rows of a constraint set at one state, copies.

    Attributes:
        position: errors (size,); zero for contacts without anchor, and where a constraint is off.
        velocity: their rates (size,), J v less the velocity of the targets.
        jacobian: J (size, nv).
        drift: what the rows accelerate (size,) at zero joint acceleration, less the acceleration of the targets.
    """

    position: Vector
    velocity: Vector
    jacobian: Matrix
    drift: Vector


@final
class TogetherRows:
    """How the rows of a set are evaluated: what does not depend on the state, found once.

    Args:
        robot: the robot.
        stack: the constraints.
    """

    def __init__(self, robot: Robot, stack: Stack) -> None:
        self._nv, self._size = robot.nv, stack.size
        points: list[tuple[FrameRows, slice]] = []
        self._poses: list[_Pose | _OwnPoint] = []
        self._others: list[_Other] = []
        self._targets: list[tuple[FrameRows, slice, slice]] = []
        self._signs = np.zeros((stack.size, robot.nv))
        for owner, s, full in zip(stack.owners, stack.slices, stack.full_slices, strict=True):
            if not isinstance(owner, FrameRows):
                self._others.append(_Other(owner, s, full))
                continue
            if owner.target is not None:
                self._targets.append((owner, s, full))
            chains = (supporting_columns(robot, frame.joint) for frame in (owner.successor, owner.predecessor))
            successor, predecessor = (chain.astype(np.float64) for chain in chains)
            self._signs[s] = successor - predecessor
            if s.start == s.stop:  # a closure that leaves everything free
                continue
            if _is_world_point(owner):
                points.append((owner, s))
            elif _is_own_point(owner):
                self._poses.append(_OwnPoint(owner, s))
            else:
                self._poses.append(_Pose(owner, s))
        self._points = _WorldPoints(points) if points else None

    def at(self, motion: Motion, sides: RightHandSide) -> SetRows:
        """All rows at a state; those of constraints that are off are not zero yet, those without position are.

        Args:
            motion: the state.
            sides: right-hand sides; without velocities and accelerations they are at rest.
        """
        size = self._size
        k = motion.with_drift()
        motion.posture.with_jacobians()
        position, drift, W = np.zeros(size), np.zeros(size), np.zeros((size, 6))
        if self._points is not None:
            self._points.write(k, position, drift, W)
        for pose in self._poses:
            pose.write(motion, k, position, drift, W)
        product: Matrix = W.dot(k.world_jacobian)
        np.multiply(product, self._signs, product)
        J = np.add(product, 0.0, product)  # no zeros with a sign
        velocity = J.dot(motion.v)
        for owner, s, full in self._targets:
            point = sides.points[id(owner)]
            if point is not None and owner.has_position:
                position[s] -= point
            if sides.velocity is not None:
                velocity[s] -= sides.velocity[full]
            if sides.acceleration is not None:
                drift[s] -= sides.acceleration[full]
        rows = SetRows(position, velocity, J, drift)
        for other in self._others:
            other.write(motion, sides, rows)
        return rows


def reference_of(owner: RowOwner, full: slice, sides: RightHandSide) -> Reference:
    """The right-hand side of one constraint with its rates; `full` are its rows before the mask."""
    rates = (None if each is None else each[full] for each in (sides.velocity, sides.acceleration))
    return Reference(sides.points[id(owner)], *rates)


@final
class _Other:
    """A constraint that is neither a contact nor a closure, through its own rows of all three orders."""

    def __init__(self, owner: RowOwner, rows: slice, full: slice) -> None:
        self._owner, self._rows, self._full = owner, rows, full
        self._counts = np.flatnonzero(owner.rows.mask)

    def write(self, motion: Motion, sides: RightHandSide, rows: SetRows) -> None:
        """Fill the rows of this constraint."""
        owner, s, counts = self._owner, self._rows, self._counts
        error, J = np.zeros(owner.group.nv), np.zeros((owner.group.nv, owner.space.nv))
        own = reference_of(owner, self._full, sides)
        owner.write_position(motion.posture, own.point, error, None)
        rows.position[s] = error[counts]
        owner.write_velocity(motion, own, error, J)
        rows.velocity[s], rows.jacobian[s] = error[counts], J[counts]
        owner.write_acceleration(motion, own, error, J)
        rows.drift[s] = error[counts]


@final
class _Pose:
    """One contact or closure: its rows times the action of the pose of its successor."""

    def __init__(self, owner: FrameRows, rows: slice) -> None:
        self._function, self._moving, self._rows = owner.function, owner.moving, rows
        self._has_position = owner.has_position
        self._a, self._b = owner.predecessor, owner.successor
        self._size = owner.group.nv
        self._unused = np.zeros(self._size)

    def write(self, motion: Motion, k: Kinematics, position: Vector, drift: Vector, W: Matrix) -> None:
        """Fill the rows of this owner."""
        function, b, s = self._moving, self._b, self._rows
        frames = function.relative_frames(k)
        pose, model, data = frames.pose, k.model, k.data
        twist = _velocity(model, data, b.joint, b.placement, _LOCAL)
        acceleration = _acceleration(model, data, b.joint, b.placement, _LOCAL)
        if self._a.joint:
            a = self._a
            twist_a = pose.actInv(_velocity(model, data, a.joint, a.placement, _LOCAL))
            acceleration = acceleration - pose.actInv(_acceleration(model, data, a.joint, a.placement, _LOCAL))
            twist = twist - twist_a
            acceleration = acceleration + twist.cross(twist_a)
        D = np.zeros((self._size, 6))
        value = position[s] if function is self._function else self._unused
        function.pose_map.value_and_second(pose, twist.vector, acceleration.vector, value, D, drift[s])
        W[s] = D.dot(frames.to_b())
        if function is not self._function and self._has_position:
            self._function.pose_map.value(pose, position[s])


@final
class _OwnPoint:
    """A contact that holds a point, three rows in the axes of its frame, with rates of the frame."""

    def __init__(self, owner: FrameRows, rows: slice) -> None:
        self._rows = rows
        self._joint, self._placement = owner.successor.joint, owner.successor.placement
        self._pose_map = owner.function.pose_map if owner.has_position else None
        self._anchor: Any = owner.predecessor.placement

    def write(self, motion: Motion, k: Kinematics, position: Vector, drift: Vector, W: Matrix) -> None:
        """Fill the rows of this owner."""
        s, placed = self._rows, k.oMi[self._joint].act(self._placement)
        p, across = placed.translation, placed.rotation.T
        W[s, :3], W[s, 3:] = across, across.dot(pin.skew(-p))
        drift[s] = _classical(k.model, k.data, self._joint, self._placement, _LOCAL).linear
        if self._pose_map is not None:
            self._pose_map.value(self._anchor.actInv(placed), position[s])


def _is_own_point(owner: FrameRows) -> bool:
    """Whether velocity rows are those of a point, all three in the axes of its frame."""
    pose_map = owner.moving.pose_map
    return owner.predecessor.joint == 0 and type(pose_map) is PointRates and pose_map.in_own_axes


def _is_world_point(owner: FrameRows) -> bool:
    """Whether the rows are those of a point held in the world, in world axes."""
    pose_map = owner.moving.pose_map
    is_point = type(pose_map) is Split and pose_map.rotation is None
    return is_point and owner.predecessor.joint == 0 and owner.rate_function is None


@final
class _WorldPoints:
    """Points held in the world, in axes that do not move, all at once: rows n . p of points p on joints.

    Args:
        owners: with the rows of each.
    """

    def __init__(self, owners: Sequence[tuple[FrameRows, slice]]) -> None:
        points: dict[tuple[int, bytes], int] = {}  # several contacts may hold one point, each along its normal
        self._places: list[tuple[int, Any, Vector]] = []
        where, of, held, at = list[int](), list[int](), list[float](), list[Vector]()
        for owner, s in owners:
            frame = owner.successor
            place = frame.placement.translation.copy()
            point = points.setdefault((frame.joint, place.tobytes()), len(points))
            if point == len(self._places):
                self._places.append((frame.joint, frame.placement, place))
            for row in range(s.start, s.stop):
                where.append(row)
                of.append(point)
                held.append(float(owner.has_position))
                at.append(owner.predecessor.placement.translation)
        run = as_slice(where)
        self._where: Any = np.array(where) if run is None else run
        self._of = np.array(of)
        self._normals = np.concatenate([_directions(owner) for owner, _ in owners])
        self._held, self._any_held = np.array(held), any(held)
        self._offsets = self._held * np.einsum("ij,ij->i", self._normals, np.array(at))
        self._across = np.array([-pin.skew(n) for n in self._normals])  # p x n = across p

    def write(self, k: Kinematics, position: Vector, drift: Vector, W: Matrix) -> None:
        """Fill the rows of all of them."""
        model, data, oMi, n = k.model, k.data, k.oMi, self._normals
        points = [oMi[joint].act(p) for joint, _, p in self._places]
        points += [_classical(model, data, joint, placement, _ALIGNED).linear for joint, placement, _ in self._places]
        both = np.array(points).reshape(2, -1, 3).take(self._of, 1)
        where = self._where
        W[where, :3] = n
        W[where, 3:] = np.matmul(self._across, both[0][:, :, None])[:, :, 0]
        drift[where] = np.einsum("ij,ij->i", both[1], n)
        if self._any_held:
            position[where] = self._held * np.einsum("ij,ij->i", both[0], n) - self._offsets


def _directions(owner: FrameRows) -> Matrix:
    """Directions of the rows in the axes of the world; those of a closure are in a frame held there."""
    pose_map: Any = owner.function.pose_map
    turned: Matrix = pose_map.directions @ owner.predecessor.placement.rotation.T
    return turned

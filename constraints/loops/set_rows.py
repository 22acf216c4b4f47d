"""The rows of a constraint set, evaluated together: one pass of kinematics, one product with the joint Jacobians.

A row of a contact or closure is a wrench W (6,) in the world: with the joint Jacobians :math:`J_o` (6, nv) of the world
frame, and the sign of each column (1 on the chain of the successor, -1 on that of the predecessor, 0 where both have
it or none), the row is :math:`W^T J_o` by columns. So all of them are one product (k, 6) (6, nv).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ..functions.frame_function import supporting_columns
from ..robot import Motion, Robot
from ..robot.posture import Kinematics
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import Reference, RowOwner
from ..rows.stack import Stack
from .frame_rows import FrameRows
from .pose_map import OfRelativePose, Split


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
        self._poses: list[_Pose] = []
        self._others: list[_Other] = []
        self._targets: list[tuple[FrameRows, slice, slice]] = []
        self._signs = np.zeros((stack.size, robot.nv))
        for owner, s, full in zip(stack.owners, stack.slices, stack.full_slices, strict=True):
            if not isinstance(owner, FrameRows) or owner.space is not robot.space:
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
            else:
                self._poses.append(_Pose(owner, s))
        self._points = _WorldPoints(points) if points else None

    def at(self, motion: Motion, sides: RightHandSide, with_rates: bool) -> SetRows:
        """All rows at a state; those of constraints that are off are not zero yet.

        Args:
            motion: the state.
            sides: right-hand sides.
            with_rates: whether their velocities and accelerations count.
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
        J = np.multiply(product, self._signs, product)
        velocity = J.dot(motion.v)
        for owner, s, full in self._targets:
            point = sides.points[id(owner)]
            if point is not None:
                position[s] -= point
            if with_rates and sides.velocity is not None:
                velocity[s] -= sides.velocity[full]
            if with_rates and sides.acceleration is not None:
                drift[s] -= sides.acceleration[full]
        rows = SetRows(position, velocity, J, drift)
        for other in self._others:
            other.write(motion, sides, with_rates, rows)
        return rows


@final
class _Other:
    """A constraint that is neither a contact nor a closure, through its own rows of all three orders."""

    def __init__(self, owner: RowOwner, rows: slice, full: slice) -> None:
        self._owner, self._rows, self._full = owner, rows, full
        self._counts = np.flatnonzero(owner.rows.mask)

    def write(self, motion: Motion, sides: RightHandSide, with_rates: bool, rows: SetRows) -> None:
        """Fill the rows of this constraint."""
        owner, s, full, counts = self._owner, self._rows, self._full, self._counts
        error, J = np.zeros(owner.group.nv), np.zeros((owner.group.nv, owner.space.nv))
        point, velocity, acceleration = sides.points[id(owner)], sides.velocity, sides.acceleration
        own = Reference(
            point,
            velocity[full] if with_rates and velocity is not None else None,
            acceleration[full] if with_rates and acceleration is not None else None,
        )
        owner.write_position(motion.posture, point, error, None)
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
        self._value = np.zeros(owner.group.nv)

    def write(self, motion: Motion, k: Kinematics, position: Vector, drift: Vector, W: Matrix) -> None:
        """Fill the rows of this owner."""
        function: OfRelativePose = self._moving
        frames = function.relative_frames(k)
        pose, data, b, s = frames.pose, k.data, self._b, self._rows
        twist = b.placement.actInv(data.v[b.joint])
        acceleration = b.placement.actInv(data.a[b.joint])
        if self._a.joint:
            a = self._a
            twist_a = pose.actInv(a.placement.actInv(data.v[a.joint]))
            acceleration = acceleration - pose.actInv(a.placement.actInv(data.a[a.joint]))
            twist = twist - twist_a
            acceleration = acceleration + twist.cross(twist_a)
        D = np.zeros((len(self._value), 6))
        value = position[s] if function is self._function and self._has_position else self._value
        function.pose_map.value(pose, value, D)
        function.pose_map.second(pose, twist.vector, acceleration.vector, drift[s])
        W[s] = D.dot(frames.to_b())
        if function is not self._function and self._has_position:
            self._function.pose_map.value(pose, position[s])


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
        joints = sorted({owner.successor.joint for owner, _ in owners})
        self._joints = joints
        self._on: Indices = np.array([joints.index(owner.successor.joint) for owner, _ in owners], dtype=np.intp)
        self._places = np.array([owner.successor.placement.translation for owner, _ in owners])
        shift = np.zeros((len(owners), 3, 6))  # from the twist of the joint to the velocity of the point
        for i, place in enumerate(self._places):
            shift[i, :, :3] = np.eye(3)
            shift[i, :, 3:] = [[0.0, place[2], -place[1]], [-place[2], 0.0, place[0]], [place[1], -place[0], 0.0]]
        self._shift = shift
        rows, normals, offsets, of = list[int](), list[Vector](), list[float](), list[int]()
        for i, (owner, s) in enumerate(owners):
            held = owner.predecessor.placement
            for row, n in zip(range(s.start, s.stop), _directions(owner), strict=True):
                world = held.rotation @ n
                rows.append(row)
                normals.append(world)
                offsets.append(float(world @ held.translation) if owner.has_position else 0.0)
                of.append(i)
        self._rows, self._of = np.array(rows, dtype=np.intp), np.array(of, dtype=np.intp)
        run = rows == list(range(rows[0], rows[0] + len(rows)))
        self._where: Any = slice(rows[0], rows[0] + len(rows)) if run else self._rows
        self._normals, self._offsets = np.array(normals), np.array(offsets)
        self._held = np.array([owners[i][0].has_position for i in of], dtype=np.float64)
        n = self._normals
        self._across = np.zeros((len(n), 3, 3))  # p x n = across p
        self._across[:, 0, 1], self._across[:, 0, 2] = n[:, 2], -n[:, 1]
        self._across[:, 1, 0], self._across[:, 1, 2] = -n[:, 2], n[:, 0]
        self._across[:, 2, 0], self._across[:, 2, 1] = n[:, 1], -n[:, 0]

    def write(self, k: Kinematics, position: Vector, drift: Vector, W: Matrix) -> None:
        """Fill the rows of all of them."""
        data, oMi, on = k.data, k.oMi, self._on
        R = np.array([oMi[j].rotation for j in self._joints])
        t = np.array([oMi[j].translation for j in self._joints])
        moving = np.array([(data.v[j].vector, data.a[j].vector) for j in self._joints])  # (m, 2, 6)
        rates = np.matmul(moving[on], self._shift.transpose(0, 2, 1))  # (n, 2, 3): velocity, spatial acceleration
        velocity, acceleration = rates[:, 0], rates[:, 1]
        w = moving[on, 0, 3:]
        acceleration = acceleration + _cross(w, velocity)
        turned = np.matmul(R[on], np.stack((self._places, acceleration), axis=2))  # into the axes of the world
        points, classical = turned[:, :, 0] + t[on], turned[:, :, 1]
        p, n = points[self._of], self._normals
        W[self._where, :3] = n
        W[self._where, 3:] = np.matmul(self._across, p[:, :, None])[:, :, 0]
        position[self._where] = self._held * (np.einsum("ij,ij->i", n, p) - self._offsets)
        drift[self._where] = np.einsum("ij,ij->i", n, classical[self._of])


def _directions(owner: FrameRows) -> Matrix:
    pose_map: Any = owner.function.pose_map
    return pose_map.directions


_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def _cross(a: Matrix, b: Matrix) -> Matrix:
    """Cross products of rows (n, 3)."""
    return a.take(_NEXT, 1) * b.take(_LAST, 1) - a.take(_LAST, 1) * b.take(_NEXT, 1)

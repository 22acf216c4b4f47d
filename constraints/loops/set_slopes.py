"""What the rows of a constraint set change by with configuration and velocity: for derivatives of dynamics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.third_order import se3_ad, se3_coad

from ..functions.function import Function
from ..robot import Frame
from ..robot.elementary import ElementaryTree
from ..robot.pinocchio import pin
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import Reference, RowOwner
from .constraint_set import ConstraintSet
from .frame_rows import FrameRows
from .slopes import FIVE_POINTS

_LOCAL: Any = pin.LOCAL
_derivatives: Any = pin.getFrameAccelerationDerivatives


class SetSlopes(NamedTuple):
    r"""Derivatives of the rows of a set at (q, v), with an acceleration a and multipliers lambda that are kept.

    Attributes:
        jacobian: J (size, nv), of the velocity rows.
        position: (size, nv), of the position rows by q.
        rate: (size, nv), of the velocity rows by q.
        by_q, by_v: (size, nv), of the acceleration rows :math:`J a + \mathrm{drift}`.
        force: (nv, nv), of :math:`J^T \lambda` by q, but for what wrenches change by that stay as they are in their
            bodies.
        wrenches: those wrenches of all rows, by joint, in its axes at its origin (`pinocchio.StdVec_Force`).
    """

    jacobian: Matrix
    position: Matrix
    rate: Matrix
    by_q: Matrix
    by_v: Matrix
    force: Matrix
    wrenches: Any


class _Seen(NamedTuple):
    """Placement and motion of one frame in its own axes, with derivatives by q and v."""

    pose: Any
    twist: Any
    acceleration: Any
    jacobian: Matrix
    twist_q: Matrix
    acceleration_q: Matrix
    acceleration_v: Matrix


class _Relative(NamedTuple):
    """Motion of one frame seen from another, in its axes, with derivatives.

    Attributes:
        pose, twist, acceleration: X, its body twist (6,) and the derivative of that.
        jacobian: of X (6, nv), along body twists: of the twist by v, too.
        twist_q, acceleration_q, acceleration_v: (6, nv).
        carried: (6, nv) twist of the reference, seen from the frame, by v; None where it is in the world.
    """

    pose: Any
    twist: Vector
    acceleration: Vector
    jacobian: Matrix
    twist_q: Matrix
    acceleration_q: Matrix
    acceleration_v: Matrix
    carried: Matrix | None


class _Moving(NamedTuple):
    """A tree in motion, and its frames that were asked for: two owners may share one."""

    model: Any
    data: Any
    joints: tuple[int, ...]
    frames: dict[int, _Seen]

    def seen(self, frame: Frame) -> _Seen:
        """A frame of the robot."""
        known = self.frames.get(id(frame))
        if known is None:
            data, joint, placement = self.data, self.joints[frame.joint], frame.placement
            twist_q, by_q, by_v, J = _derivatives(self.model, data, joint, placement, _LOCAL)
            twist, acceleration = placement.actInv(data.v[joint]), placement.actInv(data.a[joint])
            known = _Seen(data.oMi[joint] * placement, twist, acceleration, J, twist_q, by_q, by_v)
            self.frames[id(frame)] = known
        return known


def has_exact_slopes(owner: RowOwner) -> bool:
    """Whether derivatives of dynamics know the rows of a constraint by formulas, without differences."""
    if isinstance(owner, FrameRows):
        return owner.moving.pose_map.has_exact_slopes
    return _is_flat(owner)


def set_slopes(
    constraint_set: ConstraintSet,
    q: Vector,
    v: Vector,
    a: Vector,
    multipliers: Vector,
    tree: ElementaryTree,
    data: Any,
    rhs: RightHandSide | None = None,
) -> SetSlopes:
    r"""Derivatives of all rows at a state; rows that are off are zero.

    With :math:`X = {}^aM_b`, :math:`\nu` its body twist and :math:`\dot\nu` the derivative of that,

    .. math::
        \delta X = J_{rel}\,\delta q, \qquad
        \delta \nu = \delta\nu_b - X^{-1}\delta\nu_a + \mathrm{ad}_{X^{-1}\nu_a}\,\delta X, \qquad
        \delta(J^T\lambda) = J_{rel}^T\,\delta(D^T\lambda) + \ldots

    Args:
        constraint_set: whose rows.
        q, v, a: (nq,), (nv,), (nv,).
        multipliers: lambda (size,).
        tree: of the set's robot, whose derivatives pinocchio knows.
        data: of pinocchio, for that tree; overwritten.
        rhs: right-hand sides with their rates; the default ones if absent.
    """
    robot = constraint_set.robot
    n, k, model = robot.nv, constraint_set.size, tree.model
    pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    J, position, rate, by_q, by_v = np.zeros((5, k, n))
    found = SetSlopes(
        J, position, rate, by_q, by_v, np.zeros((n, n)), pin.StdVec_Force(model.njoints * [pin.Force.Zero()])
    )
    stack = constraint_set.stack
    moving = _Moving(model, data, tree.joints, {})
    for on, owner, s in zip(constraint_set.active, stack, stack.slices, strict=True):
        if not on or s.start == s.stop:
            continue
        if isinstance(owner, FrameRows):
            _of_frames(owner, s, multipliers[s], moving, found)
        else:
            sides = constraint_set.rhs if rhs is None else rhs
            _of_others(owner, s, stack.full_slices[stack.index(owner)], robot, q, v, a, multipliers[s], sides, found)
    return found


def _of_frames(owner: FrameRows, s: slice, multipliers: Vector, tree: _Moving, found: SetSlopes) -> None:
    """The rows of a contact or closure, by the chain rule through the relative motion of its frames."""
    A, B = owner.predecessor, owner.successor
    b = tree.seen(B)
    motion = _in_world(A, b) if A.joint == 0 else _relative(tree.seen(A), b)
    X, J = motion.pose, motion.jacobian
    moving = owner.moving.pose_map
    D, value = np.zeros((moving.size, 6)), np.zeros(moving.size)
    moving.value(X, value, D)
    slopes = moving.slopes(X, motion.twist, motion.acceleration, multipliers)
    found.jacobian[s] = D @ J
    found.rate[s] = slopes.rate @ J + D @ motion.twist_q
    found.by_q[s] = slopes.by_pose @ J + slopes.by_twist @ motion.twist_q + D @ motion.acceleration_q
    found.by_v[s] = slopes.by_twist @ J + D @ motion.acceleration_v
    if owner.has_position:
        if owner.moving is owner.function:
            found.position[s] = found.jacobian[s]
        else:
            D_position = np.zeros((moving.size, 6))
            owner.function.pose_map.value(X, value, D_position)
            found.position[s] = D_position @ J
    wrench = multipliers @ D
    pushed: Any = pin.Force(wrench)
    found.wrenches[tree.joints[B.joint]] += B.placement.act(pushed)
    if slopes.force.any():
        found.force[...] += J.T @ (slopes.force @ J)
    if motion.carried is not None:
        found.wrenches[tree.joints[A.joint]] -= A.placement.act(X.act(pushed))
        found.force[...] += motion.carried.T @ (se3_coad(wrench) @ J)


def _in_world(A: Frame, b: _Seen) -> _Relative:
    """A frame seen from one held in the world."""
    twist, acceleration = b.twist.vector, b.acceleration.vector
    seen = A.placement.actInv(b.pose)
    return _Relative(seen, twist, acceleration, b.jacobian, b.twist_q, b.acceleration_q, b.acceleration_v, None)


def _relative(a: _Seen, b: _Seen) -> _Relative:
    """A frame seen from a moving one."""
    pose = a.pose.actInv(b.pose)
    to_b = pose.toActionMatrixInverse()
    back, back2 = pose.actInv(a.twist), pose.actInv(a.acceleration)
    nu = b.twist - back
    carried = to_b @ a.jacobian
    J = b.jacobian - carried
    ad_back, ad_nu = se3_ad(back.vector), se3_ad(nu.vector)
    back_q = to_b @ a.twist_q + ad_back @ J
    twist_q = b.twist_q - back_q
    second_q = (
        b.acceleration_q - to_b @ a.acceleration_q - se3_ad(back2.vector) @ J + ad_nu @ back_q - ad_back @ twist_q
    )
    second_v = b.acceleration_v - to_b @ a.acceleration_v + ad_nu @ carried - ad_back @ J
    acceleration = (b.acceleration - back2 + nu.cross(back)).vector
    return _Relative(pose, nu.vector, acceleration, J, twist_q, second_q, second_v, carried)


def _of_others(
    owner: RowOwner,
    s: slice,
    full: slice,
    robot: Any,
    q: Vector,
    v: Vector,
    a: Vector,
    multipliers: Vector,
    sides: RightHandSide,
    found: SetSlopes,
) -> None:
    """The rows of another constraint: by its function where its errors are values, else by differences."""
    counts = np.flatnonzero(owner.rows.mask)
    own = Reference(
        sides.points[id(owner)],
        None if sides.velocity is None else sides.velocity[full],
        None if sides.acceleration is None else sides.acceleration[full],
    )
    size, n = owner.group.nv, robot.nv

    def rows(at: Vector, speed: Vector) -> tuple[Vector, Vector, Matrix]:
        """Velocity rows, acceleration rows and Jacobian at another state."""
        motion, rate, second = robot.at(at, speed), np.zeros(size), np.zeros(size)
        J = np.zeros((size, n))
        owner.write_velocity(motion, own, rate, J)
        owner.write_acceleration(motion, own, second, J)
        return rate[counts], second[counts] + J[counts] @ a, J[counts]

    here = rows(q, v)[2]
    found.jacobian[s] = found.position[s] = here
    if _is_flat(owner):
        _of_values(owner, s, counts, robot, q, v, a, multipliers, here, found)
        return
    for i, e in enumerate(np.eye(n)):
        for step, factor in FIVE_POINTS:
            rate, second, seen = rows(robot.space.integrate(q, step * e), v)
            found.rate[s, i] += factor * rate
            found.by_q[s, i] += factor * second
            found.force[:, i] += factor * (multipliers @ seen)
            found.by_v[s, i] += factor * rows(q, v + step * e)[1]


def _is_flat(owner: RowOwner) -> bool:
    """Whether the errors are values of a function less a constant, and it has derivatives of its accelerations."""
    return owner.errors_are_values and type(owner.measured).drift_derivatives is not Function.drift_derivatives


def _of_values(
    owner: RowOwner,
    s: slice,
    counts: Any,
    robot: Any,
    q: Vector,
    v: Vector,
    a: Vector,
    multipliers: Vector,
    J: Matrix,
    found: SetSlopes,
) -> None:
    r"""Rows of values of a function: all is in its `drift_derivatives`, of :math:`J x` at rest too."""
    f, n = owner.measured, robot.nv
    motion, still = robot.at(q, v), np.zeros(n)
    by_q, by_v = np.zeros((f.outputs.nv, n)), np.zeros((f.outputs.nv, n))
    f.drift_derivatives(motion, a, by_q, by_v)
    found.by_q[s], found.by_v[s] = by_q[counts], by_v[counts]
    at_rest = robot.at(q, still)
    f.drift_derivatives(at_rest, v, by_q, by_v)
    found.rate[s] = by_q[counts]
    touched = np.flatnonzero(J.any(axis=0))
    for i in touched:
        e = np.zeros(n)
        e[i] = 1.0
        f.drift_derivatives(at_rest, e, by_q, by_v)
        found.force[i] += multipliers @ by_q[counts]

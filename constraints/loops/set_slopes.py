"""What the rows of a constraint set change by with configuration and velocity: for derivatives of dynamics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.third_order import se3_coad

from ..robot.elementary import ElementaryTree
from ..robot.moving_frames import MovingFrames
from ..robot.pinocchio import pin
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import Reference, RowOwner
from .constraint_set import ConstraintSet
from .frame_rows import FrameRows


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
        by_differences: names of the constraints whose rows are not known by formulas.
    """

    jacobian: Matrix
    position: Matrix
    rate: Matrix
    by_q: Matrix
    by_v: Matrix
    force: Matrix
    wrenches: Any
    by_differences: tuple[str, ...] = ()


class _State(NamedTuple):
    """Where, how fast, and the acceleration and multipliers that are kept."""

    q: Vector
    v: Vector
    a: Vector
    multipliers: Vector
    sides: RightHandSide


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

    Rows of frames are :math:`D(X)\,\nu`, with X the pose of one seen from the other (`MovingFrames.relative`); the
    derivative of their joint forces is that of the wrenches :math:`D^T\lambda` on both bodies.

    Args:
        constraint_set: whose rows.
        q, v, a: (nq,), (nv,), (nv,).
        multipliers: lambda (size,).
        tree: `robot.space.elementary` of the set's robot.
        data: of pinocchio, for that tree; overwritten.
        rhs: right-hand sides with their rates; the default ones if absent.
    """
    n, k, model = constraint_set.robot.nv, constraint_set.size, tree.model
    stack = constraint_set.stack
    rows, names = np.zeros((5, k, n)), list[str]()
    found = SetSlopes(*rows, np.zeros((n, n)), pin.StdVec_Force(model.njoints * [_NO_FORCE]))
    state = _State(q, v, a, multipliers, constraint_set.rhs if rhs is None else rhs)
    frames: MovingFrames | None = None
    for on, owner, s, full in zip(constraint_set.active, stack.owners, stack.slices, stack.full_slices, strict=True):
        if not on or s.start == s.stop:
            continue
        if isinstance(owner, FrameRows) and tree.is_exact:
            frames = MovingFrames(tree, data, q, v, a) if frames is None else frames
            _of_frames(owner, s, multipliers[s], frames, found)
            is_exact = owner.has_exact_derivatives
        else:
            is_exact = _of_others(constraint_set, owner, s, full, state, found)
        if not is_exact:
            names.append(owner.name)
    return found._replace(by_differences=tuple(names))


_NO_FORCE = pin.Force.Zero()


def _of_frames(owner: FrameRows, s: slice, multipliers: Vector, frames: MovingFrames, found: SetSlopes) -> None:
    """The rows of a contact or closure, by the chain rule through the relative motion of its frames."""
    A, B = owner.predecessor, owner.successor
    pose, twist, acceleration, J, twist_q, acceleration_q, acceleration_v, carried = frames.relative(A, B)
    D, slopes = owner.moving.rows_at(pose, twist, acceleration, multipliers)
    k = len(D)
    along = np.concatenate((D, slopes.rate, slopes.by_pose, slopes.by_twist)).dot(J)
    turned = np.concatenate((D, slopes.by_twist)).dot(twist_q)
    found.jacobian[s] = along[:k]
    np.add(along[k : 2 * k], turned[:k], found.rate[s])
    by_q = np.add(along[2 * k : 3 * k], turned[k:], found.by_q[s])
    by_q += D.dot(acceleration_q)
    np.add(along[3 * k :], D.dot(acceleration_v), found.by_v[s])
    if owner.has_position:
        found.position[s] = along[:k]
        if owner.moving is not owner.function:
            D_position, value = np.zeros((k, 6)), np.zeros(k)
            owner.function.pose_map.value(pose, value, D_position)
            found.position[s] = D_position.dot(J)
    wrench = multipliers.dot(D)
    pushed, joints = pin.Force(wrench), frames.tree.joints
    found.wrenches[joints[B.joint]] += B.placement.act(pushed)
    if slopes.force.any():
        found.force[...] += J.T.dot(slopes.force.dot(J))
    if carried is not None:
        found.wrenches[joints[A.joint]] -= A.placement.act(pose.act(pushed))
        found.force[...] += carried.T.dot(se3_coad(wrench).dot(J))


def _of_others(
    constraint_set: ConstraintSet, owner: RowOwner, s: slice, full: slice, state: _State, found: SetSlopes
) -> bool:
    """The rows of another constraint; whether they are known by formulas."""
    sides = state.sides
    own = Reference(
        sides.points[id(owner)],
        None if sides.velocity is None else sides.velocity[full],
        None if sides.acceleration is None else sides.acceleration[full],
    )
    counts = np.flatnonzero(owner.rows.mask)
    pushed = np.zeros(owner.group.nv)
    pushed[counts] = state.multipliers[s]
    motion = constraint_set.robot.at(state.q, state.v)
    slopes = owner.slopes(motion, own, state.a, pushed)
    found.jacobian[s] = slopes.jacobian[counts]
    if owner.has_position:
        found.position[s] = found.jacobian[s]
        if owner.rate_function is not None:
            position = np.zeros((owner.group.nv, owner.space.nv))
            owner.write_position(motion.posture, own.point, np.zeros(owner.group.nv), position)
            found.position[s] = position[counts]
    found.rate[s], found.by_q[s], found.by_v[s] = (each[counts] for each in (slopes.rate, slopes.by_q, slopes.by_v))
    found.force[...] += slopes.force
    return slopes.is_exact

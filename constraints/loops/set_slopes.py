"""What the rows of a constraint set change by with configuration and velocity: for derivatives of dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.third_order import se3_coad
from liegroups.segments import as_slice

from ..functions.frames.slopes import STRAIGHT
from ..robot.elementary import ElementaryTree
from ..robot.model.pinocchio import pin
from ..robot.moving_frames import MovingFrames, RelativeFrame
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from .constraint_set import ConstraintSet
from .frame_rows import FrameRows
from .set_rows import reference_of


class SetSlopes(NamedTuple):
    r"""Derivatives of the rows of a set at (q, v), with an acceleration a and multipliers lambda that are kept.

    Attributes:
        jacobian: J (size, nv), of the velocity rows.
        position: (size, nv), of the position rows by q; zero where the set is not stabilised.
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


class _SlopesState(NamedTuple):
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
    J, position, rate, by_q, by_v = np.zeros((5, k, n))
    wrenches, names = pin.StdVec_Force(model.njoints * [_NO_FORCE]), list[str]()
    found = SetSlopes(J, position, rate, by_q, by_v, np.zeros((n, n)), wrenches)
    state = _SlopesState(q, v, a, multipliers, constraint_set.rhs if rhs is None else rhs)
    of_frames, of_contacts = list[tuple[FrameRows, slice]](), list[tuple[FrameRows, slice]]()
    for owner, s in constraint_set.on:
        if s.start == s.stop:
            continue
        if isinstance(owner, FrameRows) and tree.is_exact:
            its_own = owner.moving.pose_map.in_own_axes and not owner.predecessor.joint
            (of_contacts if its_own else of_frames).append((owner, s))
            is_exact = owner.moving.pose_map.has_exact_slopes
        else:
            is_exact = _of_others(constraint_set, owner, s, stack.full_slices[stack.index(owner)], state, found)
        if not is_exact:
            names.append(owner.name)
    if of_frames or of_contacts:
        frames, placed = MovingFrames(tree, data, q, v, a), constraint_set.gains is not None
        for owner, s in of_contacts:
            _of_contact(owner, s, multipliers[s], frames, found, placed)
        for start in range(0, len(of_frames), TOGETHER):
            _of_frames(of_frames[start : start + TOGETHER], multipliers, frames, found, placed)
    return found._replace(by_differences=tuple(names)) if names else found


_NO_FORCE = pin.Force.Zero()

TOGETHER = 4
"""Contacts and closures whose products are done at once: calls cost more than zeros between few blocks."""


def _of_contact(
    owner: FrameRows, s: slice, multipliers: Vector, frames: MovingFrames, found: SetSlopes, placed: bool
) -> None:
    """The rows of a contact in its own axes, which pinocchio has; its force stays as it is in the body."""
    frame, data, model = owner.successor, frames.data, frames.tree.model
    joint, placement = frames.tree.joints[frame.joint], frame.placement
    of_point = s.stop - s.start == 3
    slopes = (_of_point if of_point else _of_body)(model, data, joint, placement, _LOCAL)
    rows = found.jacobian[s]
    if slopes[0].ndim == 1:  # pinocchio gives one column as a vector
        slopes = [each[:, None] for each in slopes]
    found.rate[s], found.by_q[s], found.by_v[s], rows[:] = slopes
    if placed and owner.has_position:
        D = np.zeros((len(multipliers), 6))
        pose = owner.predecessor.placement.actInv(data.oMi[joint] * placement)
        owner.function.pose_map.value(pose, np.empty(len(multipliers)), D)
        J: Matrix = _jacobian(model, data, joint, placement, _LOCAL).reshape(6, -1) if of_point else rows
        D.dot(J, found.position[s])
    pushed = pin.Force(multipliers, _NO_MOMENT) if of_point else pin.Force(multipliers)
    found.wrenches[joint] += placement.act(pushed)


_NO_MOMENT = np.zeros(3)
_LOCAL: Any = pin.LOCAL
_of_point: Any = pin.getPointClassicAccelerationDerivatives
_of_body: Any = pin.getFrameAccelerationDerivatives
_jacobian: Any = pin.getFrameJacobian


def _of_frames(
    owners: Sequence[tuple[FrameRows, slice]], multipliers: Vector, frames: MovingFrames, found: SetSlopes, placed: bool
) -> None:
    r"""The rows of some contacts and closures, by the chain rule through the relative motion of their frames.

    .. math:: \delta(D\nu) = \text{rate}\,\delta X + D\,\delta\nu, \qquad
        \delta\ddot r = \text{by\_pose}\,\delta X + \text{by\_twist}\,\delta\nu + D\,\delta\dot\nu
    """
    n, count = found.force.shape[0], len(owners)
    sizes: list[int] = [s.stop - s.start for _, s in owners]
    size = sum(sizes)
    of_rows = np.zeros((5, size, 6 * count))  # D, rate, by_pose, by_twist, D of the position
    forces = np.zeros((6 * count, 6 * count))
    J, twist_q = np.empty((6 * count, n)), np.empty((6 * count, n))
    second = np.empty((6 * count, 2 * n))
    at, bent = 0, False
    for i, (owner, s) in enumerate(owners):
        x, rows = slice(6 * i, 6 * i + 6), slice(at, at + sizes[i])
        at = rows.stop
        seen = frames.relative(owner.predecessor, owner.successor)
        J[x], twist_q[x], second[x, :n], second[x, n:] = seen[3:7]
        D, slopes = owner.moving.rows_at(seen.pose, seen.twist, seen.acceleration, multipliers[s])
        of_rows[0, rows, x] = D
        if slopes is not STRAIGHT:
            of_rows[1, rows, x], of_rows[2, rows, x], of_rows[3, rows, x] = slopes.rate, slopes.by_pose, slopes.by_twist
            forces[x, x] = slopes.force
            bent = True
        if placed and owner.has_position:
            of_rows[4, rows, x] = D
            if owner.moving is not owner.function:
                position = np.zeros((sizes[i], 6))
                owner.function.pose_map.value(seen.pose, np.empty(sizes[i]), position)
                of_rows[4, rows, x] = position
        _push(owner, multipliers[s] @ D, seen, frames, found)
    s = owners[0][1] if count == 1 else _together(owners)
    along = of_rows.reshape(5 * size, 6 * count).dot(J).reshape(5, size, n)
    accelerated = of_rows[0].dot(second)
    found.jacobian[s] = along[0]
    found.position[s] = along[4]
    found.rate[s] = along[1] + of_rows[0].dot(twist_q)
    found.by_q[s] = along[2] + accelerated[:, :n] + of_rows[3].dot(twist_q)
    found.by_v[s] = along[3] + accelerated[:, n:]
    if bent:
        found.force[...] += J.T.dot(forces.dot(J))


def _together(owners: Sequence[tuple[FrameRows, slice]]) -> Any:
    """The rows of all of them: a slice where they follow each other."""
    rows: list[int] = [i for _, s in owners for i in range(s.start, s.stop)]
    run = as_slice(rows)
    return np.array(rows) if run is None else run


def _push(owner: FrameRows, wrench: Vector, seen: RelativeFrame, frames: MovingFrames, found: SetSlopes) -> None:
    """Add the wrenches on both bodies; and what that on the predecessor changes by, which moves with the successor."""
    A, B, joints = owner.predecessor, owner.successor, frames.tree.joints
    pushed = pin.Force(wrench)
    found.wrenches[joints[B.joint]] += B.placement.act(pushed)
    if seen.carried is not None:
        found.wrenches[joints[A.joint]] -= A.placement.act(seen.pose.act(pushed))
        found.force[...] += seen.carried.T.dot(se3_coad(wrench).dot(seen.jacobian))


def _of_others(
    constraint_set: ConstraintSet, owner: RowOwner, s: slice, full: slice, state: _SlopesState, found: SetSlopes
) -> bool:
    """The rows of another constraint; whether they are known by formulas."""
    own = reference_of(owner, full, state.sides)
    counts = np.flatnonzero(owner.rows.mask)
    pushed = np.zeros(owner.group.nv)
    pushed[counts] = state.multipliers[s]
    motion = constraint_set.robot.at(state.q, state.v)
    slopes = owner.slopes(motion, own, state.a, pushed)
    found.jacobian[s] = slopes.jacobian[counts]
    if constraint_set.gains is not None and owner.has_position:
        found.position[s] = found.jacobian[s]
        if owner.rate_function is not None:
            position = np.zeros((owner.group.nv, owner.space.nv))
            owner.write_position(motion.posture, own.point, np.zeros(owner.group.nv), position)
            found.position[s] = position[counts]
    found.rate[s], found.by_q[s], found.by_v[s] = (each[counts] for each in (slopes.rate, slopes.by_q, slopes.by_v))
    found.force[...] += slopes.force
    return slopes.is_exact

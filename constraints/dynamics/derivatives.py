r"""Derivatives of constrained dynamics: how accelerations and multipliers change with state and forces.

With :math:`M a + h = \tau + J^T \lambda` and :math:`J a + \mu \lambda = \gamma`, at the solution,

.. math::
    M\,\delta a - J^T \delta\lambda = \delta\tau - \delta(h + M a) + \delta(J^T \lambda), \qquad
    J\,\delta a + \mu\,\delta\lambda = -\delta(J a + \text{drift} + k_d \dot e + k_p e)

with a and lambda kept in the changes on the right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Matrix, Vector

from ..linear_algebra import largest
from ..loops import ConstraintSet
from ..loops.set_slopes import SetSlopes, set_slopes
from ..robot.elementary import ElementaryTree
from ..robot.pinocchio import pin
from ..rows.right_hand_side import RightHandSide
from .row_space import RowSpace

CHANGES = 1e-7
"""What redundant rows change by in a motion that all rows leave, above which their rank is another one beside it."""


class Balance(NamedTuple):
    r"""What both equations change by at a solution, with acceleration and multipliers kept.

    Attributes:
        rows: of the constraint set.
        force_q, force_v: (nv, nv), of :math:`M a + h - J^T \lambda`.
        row_q, row_v: (size, nv), of :math:`J a + \mathrm{drift} + k_d \dot e + k_p e`.
    """

    rows: SetSlopes
    force_q: Matrix
    force_v: Matrix
    row_q: Matrix
    row_v: Matrix


@final
@dataclass(frozen=True, eq=False)
class SolutionSlopes:
    """Derivatives of accelerations and multipliers.

    Attributes:
        a_q, a_v, a_tau: (nv, nv), of the acceleration by q (along the tangent), v and joint forces.
        l_q, l_v, l_tau: (size, nv), of the multipliers.
    """

    a_q: Matrix
    a_v: Matrix
    a_tau: Matrix
    l_q: Matrix
    l_v: Matrix
    l_tau: Matrix


def balance_at(
    constraint_set: ConstraintSet,
    q: Vector,
    v: Vector,
    a: Vector,
    multipliers: Vector,
    tree: ElementaryTree,
    data: Any,
    rhs: RightHandSide | None = None,
) -> Balance:
    """What both equations of motion change by; wrenches of all rows are summed by joint.

    Args:
        constraint_set: whose rows, with their stabilisation.
        q, v: the state (nq,), (nv,).
        a: acceleration (nv,) at which.
        multipliers: lambda (size,) at which.
        tree: of the set's robot, whose derivatives pinocchio knows.
        data: of pinocchio, for that tree; overwritten.
        rhs: right-hand sides with their rates; the default ones if absent.
    """
    rows = set_slopes(constraint_set, q, v, a, multipliers, tree, data, rhs)
    by_q, by_v, _ = pin.computeRNEADerivatives(tree.model, data, q, v, a, rows.wrenches)
    row_q, row_v = rows.by_q, rows.by_v
    gains = constraint_set.gains
    if gains is not None:
        kp, kd = gains[0][:, None], gains[1][:, None]
        row_q = row_q + kp * rows.position + kd * rows.rate
        row_v = row_v + kd * rows.jacobian
    return Balance(rows, by_q - rows.force, by_v.copy(), row_q, row_v)


def damped_slopes(M: Matrix, balance: Balance, damping: float) -> SolutionSlopes | None:
    r"""Derivatives where the rows are independent, or damped: by :math:`S = J M^{-1} J^T + \mu I`.

    Args:
        M: mass matrix (nv, nv), with armature.
        balance: at the solution.
        damping: mu.

    Returns:
        None where a factorisation fails.
    """
    J = balance.rows.jacobian
    n, k = len(M), len(J)
    L, failed = lapack.dpotrf(M, lower=1)
    if failed:
        return None
    right = np.empty((n, 3 * n + k), order="F")
    right[:, :n], right[:, n : 2 * n] = -balance.force_q, -balance.force_v
    right[:, 2 * n : 3 * n], right[:, 3 * n :] = np.eye(n), J.T
    half = lapack.dtrtrs(L, right, lower=1)[0]
    Y = half[:, 3 * n :]
    if k:
        S = Y.T @ Y
        S.flat[:: k + 1] += damping
        C, failed = lapack.dpotrf(S, lower=1)
        if failed:
            return None
        wanted = -(Y.T @ half[:, : 3 * n])
        wanted[:, :n] -= balance.row_q
        wanted[:, n : 2 * n] -= balance.row_v
        push = lapack.dpotrs(C, wanted, lower=1)[0]
    else:
        push = np.zeros((0, 3 * n))
    a = lapack.dtrtrs(L, half[:, : 3 * n] + Y @ push, lower=1, trans=1)[0]
    return SolutionSlopes(*(x[:, s] for x in (a, push) for s in (slice(n), slice(n, 2 * n), slice(2 * n, 3 * n))))


def redundant_slopes(
    M: Matrix, balance: Balance, space: RowSpace, changes: Any, multipliers: Vector
) -> SolutionSlopes | None:
    r"""Derivatives where rows are redundant and their rank is locally constant; multipliers of least norm.

    Independent rows J_h give the accelerations and multipliers mu. With P the projector on the range of J, the multipliers of least norm have

    .. math:: P\,\delta\lambda = (J^T)^+ J_h^T\,\delta\mu, \qquad (I - P)\,\delta\lambda = (I - P)\,\delta J\,J^+ \lambda

    Args:
        M: mass matrix (nv, nv).
        balance: at the solution.
        space: the rows.
        changes: (velocity, multipliers) -> derivatives of J velocity (size, nv), and of J^T multipliers (nv, nv), by q.
        multipliers: lambda (size,), of least norm.

    Returns:
        None where the rank changes beside the state, or a factorisation fails.
    """
    J = balance.rows.jacobian
    kept = np.delete(np.arange(len(J)), np.concatenate([space.redundant, space.zero_rows]).astype(np.intp))
    U, sizes, Vt = np.linalg.svd(J)
    rank = space.rank
    if _changes_rank(J, U[:, rank:], Vt[rank:], changes):
        return None
    part = balance._replace(
        rows=balance.rows._replace(jacobian=J[kept]), row_q=balance.row_q[kept], row_v=balance.row_v[kept]
    )
    found = damped_slopes(M, part, 0.0)
    if found is None:
        return None
    back = U[:, :rank] @ (Vt[:rank] / sizes[:rank, None])  # (J^T)^+
    l_q, l_v, l_tau = (back @ (J[kept].T @ each) for each in (found.l_q, found.l_v, found.l_tau))
    moved = changes(back.T @ multipliers, None)[0]
    outside = U[:, rank:]
    l_q = l_q + outside @ (outside.T @ moved)
    return SolutionSlopes(found.a_q, found.a_v, found.a_tau, l_q, l_v, l_tau)


def _changes_rank(J: Matrix, left: Matrix, free: Matrix, changes: Any) -> bool:
    """Whether a combination of rows that vanishes would move what all rows leave free, beside this state."""
    size = largest(J)
    for w in left.T:
        moved = free @ changes(None, w)[1]
        if largest(moved) > CHANGES * size:
            return True
    return False

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

from ..linear_algebra import LEAST_ROW, largest
from ..loops import ConstraintSet
from ..loops.set_slopes import SetSlopes, set_slopes
from ..robot.elementary import ElementaryTree
from ..rows.right_hand_side import RightHandSide
from .methods.cholesky import inverse_factor
from .methods.row_space import RowSpace

CHANGES = 1e-7
"""What redundant rows change by in a motion that all rows leave, above which their rank is another one beside it."""


STATE_BESIDE, SECOND, JUMP = 1e-3, 1e-10, 0.1
"""How far a state beside is [m, rad]; part of the largest singular value above which one more counts there, where a
constant rank leaves 1e-15; and part of the largest entry that no row changes by, but for rows that are others there."""


WELL = 1e10
"""Condition of J M^-1 J^T up to which the rows are independent; their singular values are not computed then."""


ROUGH = 1e7
"""Condition above which derivatives are corrected by what the equations miss."""


class EquationChanges(NamedTuple):
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
        a_gamma: (nv, size), of the acceleration by what the rows are asked for.
        l_gamma: (size, size), of the multipliers by that.
    """

    a_q: Matrix
    a_v: Matrix
    a_tau: Matrix
    l_q: Matrix
    l_v: Matrix
    l_tau: Matrix
    a_gamma: Matrix
    l_gamma: Matrix


def slopes_of_balance(
    constraint_set: ConstraintSet,
    q: Vector,
    M: Matrix,
    balance: EquationChanges,
    multipliers: Vector,
    data: Any,
    damping: float = 0.0,
    rhs: RightHandSide | None = None,
) -> SolutionSlopes | None:
    """Derivatives at a solution of the dynamics: of independent, damped, or redundant rows.

    Args:
        constraint_set: whose rows, with their stabilisation.
        q: where (nq,).
        M: mass matrix (nv, nv), with armature.
        balance: what the equations change by at the solution.
        multipliers: lambda (size,); where rows are redundant and not damped, those of least norm.
        data: of pinocchio, for the elementary tree; overwritten.
        damping: mu.
        rhs: right-hand sides with their rates; the default ones if absent.

    Returns:
        None where there are none: the rank of the rows changes beside the state, or a matrix is singular.
    """
    found = damped_slopes(M, balance, damping, np.inf if damping else WELL)
    if damping or found is not None:
        return found
    space = RowSpace(balance.rows.jacobian, constraint_set.rounding)
    if space.is_full and space.rank == constraint_set.size:
        return damped_slopes(M, balance, 0.0) or saddle_slopes(M, balance)
    return redundant_slopes(M, balance, space, RowChanges(constraint_set, q, data, rhs), multipliers)


def balance_at(
    constraint_set: ConstraintSet,
    q: Vector,
    v: Vector,
    a: Vector,
    multipliers: Vector,
    tree: ElementaryTree,
    data: Any,
    rhs: RightHandSide | None = None,
) -> EquationChanges:
    """What both equations of motion change by; wrenches of all rows are summed by joint.

    Args:
        constraint_set: whose rows, with their stabilisation.
        q, v: the state (nq,), (nv,).
        a: acceleration (nv,) at which.
        multipliers: lambda (size,) at which.
        tree: `robot.space.elementary` of the set's robot.
        data: of pinocchio, for that tree; overwritten.
        rhs: right-hand sides with their rates; the default ones if absent.
    """
    rows = set_slopes(constraint_set, q, v, a, multipliers, tree, data, rhs)
    by_q, by_v = tree.force_slopes(data, q, v, a, rows.wrenches)
    by_q -= rows.force
    row_q, row_v = rows.by_q, rows.by_v
    gains = constraint_set.gains
    if gains is not None:
        kp, kd = gains[0][:, None], gains[1][:, None]
        row_q = row_q + kp * rows.position + kd * rows.rate
        row_v = row_v + kd * rows.jacobian
    return EquationChanges(rows, by_q, by_v, row_q, row_v)


def damped_slopes(M: Matrix, balance: EquationChanges, damping: float, most: float = np.inf) -> SolutionSlopes | None:
    r"""Derivatives where the rows are independent, or damped: by :math:`S = J M^{-1} J^T + \mu I`.

    With :math:`M = L L^T`, :math:`S = C C^T`, :math:`Y = L^{-1} J^T` and :math:`A = C^{-1} Y^T L^{-1}`,

    .. math:: \frac{\partial a}{\partial\tau} = L^{-T} L^{-1} - A^T A, \qquad
        \frac{\partial\lambda}{\partial\tau} = -C^{-T} A = -\Big(\frac{\partial a}{\partial\gamma}\Big)^T, \qquad
        \frac{\partial\lambda}{\partial\gamma} = S^{-1}

    Args:
        M: mass matrix (nv, nv), with armature.
        balance: at the solution.
        damping: mu.
        most: condition of S that is allowed.

    Returns:
        None where a factorisation fails, or the condition is greater.
    """
    J = balance.rows.jacobian
    k = len(J)
    half = inverse_factor(M)
    if half is None:
        return None
    a_tau = half.T.dot(half)
    if not k:
        return _by_state(balance, a_tau, J, np.zeros((0, 0)))
    Y = half.dot(J.T)
    S = Y.T.dot(Y)
    if damping:
        S.flat[:: k + 1] += damping
    size = float(S.trace())
    inner = inverse_factor(S)
    if inner is None or not size * float(np.vdot(inner, inner)) <= most:  # a bound of the condition
        return None
    A = inner.dot(Y.T.dot(half))
    a_tau -= A.T.dot(A)
    l_gamma = inner.T.dot(inner)
    rough = size * float(l_gamma.trace()) > ROUGH or float(M.trace()) * float(np.vdot(half, half)) > ROUGH
    return _by_state(balance, a_tau, -inner.T.dot(A), l_gamma, _saddle_point(M, J, damping) if rough else None)


def _saddle_point(M: Matrix, J: Matrix, damping: float) -> Matrix:
    """The matrix of both equations, of (a, lambda)."""
    n, k = len(M), len(J)
    K = np.zeros((n + k, n + k))
    K[:n, :n], K[:n, n:], K[n:, :n] = M, -J.T, J
    K[n:, n:].flat[:: k + 1] = damping
    return K


def _by_state(
    balance: EquationChanges, a_tau: Matrix, l_tau: Matrix, l_gamma: Matrix, K: Matrix | None = None
) -> SolutionSlopes:
    """Derivatives by q and v, from those by forces and by what the rows are asked for.

    Corrected once by what the equations miss, where the saddle point K is given: inertias of very different sizes cost
    digits.
    """
    _, force_q, force_v, row_q, row_v = balance
    a_gamma = -l_tau.T
    n = len(a_tau)
    whole = np.empty((n + len(l_tau), n + len(l_tau)))  # of (a, lambda) by (-force, -row)
    whole[:n, :n], whole[:n, n:], whole[n:, :n], whole[n:, n:] = a_tau, a_gamma, l_tau, l_gamma
    changes = np.empty((len(whole), 2 * n))
    changes[:n, :n], changes[:n, n:], changes[n:, :n], changes[n:, n:] = force_q, force_v, row_q, row_v
    moved: Matrix = whole.dot(changes)
    if K is not None:
        moved += whole.dot(changes - K.dot(moved))
    np.negative(moved, moved)
    return SolutionSlopes(moved[:n, :n], moved[:n, n:], a_tau, moved[n:, :n], moved[n:, n:], l_tau, a_gamma, l_gamma)


def saddle_slopes(M: Matrix, balance: EquationChanges) -> SolutionSlopes | None:
    """Derivatives where M is singular and independent rows hold the massless motions: by LU of the saddle point.

    Returns:
        None where the saddle point is singular, or so near to it that digits are lost.
    """
    J = balance.rows.jacobian
    n, k = len(M), len(J)
    K = _saddle_point(M, J, 0.0)
    lu, pivots, failed = lapack.dgetrf(K)
    if failed:
        return None
    condition, _ = lapack.dgecon(lu, float(np.abs(K).sum(axis=0).max(initial=0.0)))
    if condition < LEAST_CONDITION_OF_SLOPES:
        return None
    whole = lapack.dgetrs(lu, pivots, np.eye(n + k))[0]
    return _by_state(balance, whole[:n, :n], whole[n:, :n], whole[n:, n:], K)


LEAST_CONDITION_OF_SLOPES = 1e-13
"""Reciprocal condition of a saddle point below which it counts as singular."""


@final
class RowChanges:
    """What the rows of a set change by along q at a configuration, at rest and apart from their right-hand sides.

    Args:
        constraint_set: whose.
        q: (nq,).
        data: of pinocchio, for the elementary tree; overwritten.
        rhs: right-hand sides; the default ones if absent. Their rates do not count.
    """

    def __init__(self, constraint_set: ConstraintSet, q: Vector, data: Any, rhs: RightHandSide | None) -> None:
        self._set, self._q, self._data = constraint_set, q, data
        self._tree = constraint_set.robot.space.elementary
        self._rhs = rhs if rhs is None or rhs.velocity is None else RightHandSide(rhs.stack, rhs.vector)
        self._still = np.zeros(constraint_set.robot.nv)

    def rate(self, velocity: Vector) -> Matrix:
        """Derivative (size, nv) of J velocity by q."""
        return self._slopes(velocity, np.zeros(self._set.size)).rate

    def force(self, multipliers: Vector) -> Matrix:
        """Derivative (nv, nv) of J^T multipliers by q."""
        rows, still, slopes = self._slopes(self._still, multipliers), self._still, self._tree.force_slopes
        pushed = slopes(self._data, self._q, still, still, rows.wrenches)[0]
        return rows.force - pushed + slopes(self._data, self._q, still, still)[0]

    def beside(self) -> Matrix:
        """J (size, nv) at a configuration next to this one."""
        space = self._set.robot.space
        way = np.cos(np.arange(1.0, space.nv + 1.0))  # in no special direction, and the same in each run
        return self._set.jacobian(space.integrate(self._q, STATE_BESIDE * way), self._rhs)

    def _slopes(self, v: Vector, multipliers: Vector) -> SetSlopes:
        return set_slopes(self._set, self._q, v, self._still, multipliers, self._tree, self._data, self._rhs)


def redundant_slopes(
    M: Matrix, balance: EquationChanges, space: RowSpace, changes: RowChanges, multipliers: Vector
) -> SolutionSlopes | None:
    r"""Derivatives where rows are redundant and their rank is locally constant; multipliers of least norm.

    With :math:`J = U S V^T`, the orthonormal rows :math:`B = V^T` give accelerations and their multipliers mu. What
    redundant rows ask for beside the state may be more than they can meet together: then accelerations meet
    :math:`P \gamma`, P the projector on the range of J, as those of forward dynamics do. So

    .. math:: B\,\delta a = -S^{-1} U^T \delta(J a + \ldots), \qquad
        \delta\lambda = U S^{-1}\,\delta\mu + (I - P)\,\delta J\,J^+ \lambda

    Returns:
        None where the rank changes beside the state, or a factorisation fails.
    """
    J = balance.rows.jacobian
    U, sizes, Vt = np.linalg.svd(J)
    rank = space.rank
    if _changes_rank(J, U[:, rank:], Vt[rank:], changes):
        return None
    inside, outside = U[:, :rank] / sizes[:rank], U[:, rank:]
    met = inside.T  # what the orthonormal rows are asked for, of what all rows are
    rows = balance.rows._replace(jacobian=Vt[:rank])
    part = balance._replace(rows=rows, row_q=met @ balance.row_q, row_v=met @ balance.row_v)
    found = damped_slopes(M, part, 0.0) or saddle_slopes(M, part)
    if found is None:
        return None
    l_q, l_v, l_tau, l_gamma = (inside @ each for each in (found.l_q, found.l_v, found.l_tau, found.l_gamma))
    l_q = l_q + outside @ (outside.T @ changes.rate(Vt[:rank].T @ (met @ multipliers)))
    return SolutionSlopes(found.a_q, found.a_v, found.a_tau, l_q, l_v, l_tau, found.a_gamma @ met, l_gamma @ met)


def _changes_rank(J: Matrix, left: Matrix, free: Matrix, changes: RowChanges) -> bool:
    r"""Whether a combination of rows that vanishes would move what all rows leave free, beside this state.

    That is, :math:`w^T\,\delta J\,z` for combinations w and free motions z, from the side that has fewer.
    """
    size = max(largest(J), LEAST_ROW)  # where nothing moves any row, all are rounding
    limit = CHANGES * size
    if len(free) < left.shape[1]:
        changed = any(largest(left.T @ changes.rate(z)) > limit for z in free)
    else:
        changed = any(largest(free @ changes.force(w)) > limit for w in left.T)
    if changed or not len(free) or not left.shape[1]:
        return changed
    there = changes.beside()  # where the rank changes by terms of second order only
    if largest(there - J) > JUMP * size:
        return False  # other rows: beyond the edge of a polygon
    sizes = np.linalg.svd(there, compute_uv=False)
    return bool(sizes[J.shape[1] - len(free)] > SECOND * max(float(sizes[0]), LEAST_ROW))

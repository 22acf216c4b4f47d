"""Errors of a mechanism in two parts: what its joints can reduce, and what none of them moves (rounded numbers)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import UndefinedError
from ...linear_algebra import largest, rank_of_rows, singular_values
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...solvers.diagnosis.dependent_rows import Row
from ...solvers.newton.least_change import least_change
from ...solvers.projection.projection import Projection
from .corrector import CLOSED, Corrector, Ending, Trust
from .rank_beside import CLEAR, rank_beside

STEPS = 12
"""Newton steps by which what the joints can reduce is reduced."""
FARTHEST_SPLIT = 0.1
"""A step that is longer [rad or m] leads elsewhere."""
DIGITS_OF_ROWS = 1e-3
"""Up to this part of the largest singular value rows may be redundant but for the digits of a file: three of them."""


@final
@dataclass(frozen=True, eq=False)
class SplitErrors:
    r"""The errors e of a configuration in two parts, by the rank r of the Jacobian :math:`J = U S V^T`.

    Attributes:
        q: (nq,), where the first part is as small as Newton makes it.
        reachable: largest norm, over constraints, of :math:`U_r U_r^T e`, which motions of the joints change.
        left: :math:`e - U_r U_r^T e` (size,), which none does to first order.
        residual: largest norm of the errors of one constraint.
        rank: r.
        weakest: the largest singular value that does not count, as a part of the largest one; 0 without any.
        problem: whose rows they are.
    """

    q: Vector
    reachable: float
    left: Vector
    residual: float
    rank: int
    weakest: float
    problem: Problem

    @property
    def unmoved(self) -> float:
        """Largest norm, over constraints, of the part that no joint moves [m or rad]."""
        return _largest_norm(self.problem, self.left)

    @property
    def row(self) -> Row:
        """The row with the largest share of that part."""
        owners, i = self.problem.constraints, int(np.abs(self.left).argmax())
        for k, (owner, s) in enumerate(zip(owners, owners.slices, strict=True)):
            if s.start <= i < s.stop:
                return Row(owner.name, k, int(np.flatnonzero(owner.rows.mask)[i - s.start]))
        raise AssertionError("a row of no constraint")

    @property
    def words(self) -> str:
        """Which row is off, by how much, and what accepts it."""
        limit, part = 10.0 ** np.ceil(np.log10(max(1.05 * self.residual, 1e-300))), self.weakest
        reach = f"and the joints move it {part:.1g} times as much as others" if part else "and no joint moves it"
        return (
            f"{self.row} is off by {largest(self.left):.2g}, {reach}, as where axes are parallel, or lengths agree, "
            f"but for the digits of a file: `tolerance={limit:.0e}` accepts it"
        )


def split_errors(
    problem: Problem, q: Vector, rhs: RightHandSide, tolerance: float, rounding: float, steps: int = STEPS
) -> SplitErrors | None:
    r"""Reduce what the joints can reduce, by steps of least cost, and split what is left.

    .. math:: \min_d d^T W d \quad \text{such that} \quad U_r^T J\, d = -U_r^T e

    Args:
        problem: whose rows; all are equalities of one level.
        q: configuration (nq,) near one that closes it.
        rhs: right-hand sides.
        tolerance: what the first part is reduced to.
        rounding: singular values up to this part of the largest one do not count.
        steps: as many evaluations.

    Returns:
        The parts at the last configuration; None where the steps lead away, or a function has no value.
    """
    columns, constraints = _Reducible(problem, rhs, rounding), problem.constraints
    try:
        done = Corrector(columns.rows, columns).newton(q, Trust(tolerance, steps - 1, farthest=FARTHEST_SPLIT))
    except UndefinedError:
        return None
    if done.ending not in (Ending.CLOSED, Ending.OTHER_ROWS_OPEN):
        return None
    s, rank = columns.values, columns.rank
    beyond = float(s[rank] / s[0]) if rank < s.size and s[0] > 0.0 else 0.0
    residual = max(norm for _, norm in constraints.norms(done.error))
    reached = columns.reached @ columns.inside
    return SplitErrors(done.q, _largest_norm(problem, reached), done.error - reached, residual, rank, beyond, problem)


class _Reducible:
    """Columns of a `Corrector`: what is not frozen moves by steps of least cost, in the directions that count.

    Attributes:
        values: singular values at the last iterate.
        rank: how many of them count.
        reached: (rows, rank), an orthonormal basis of what motions reach.
        inside: (rank,) errors in it.
    """

    values: Vector
    rank: int
    reached: Matrix
    inside: Vector

    def __init__(self, problem: Problem, rhs: RightHandSide, rounding: float) -> None:
        self._problem, self._rhs, self._rounding = problem, rhs, rounding
        self._moving = np.flatnonzero(~problem.frozen)

    def rows(self, q: Vector) -> tuple[Vector, Matrix]:
        """Errors, and their Jacobian by what moves."""
        rows = self._problem.rows(q, self._rhs)
        return rows.error, rows.jacobian[:, self._moving]

    def off(self, error: Vector, J: Matrix) -> float:
        """Largest norm of what motions reach."""
        self.rank = -1
        if not (np.isfinite(error).all() and np.isfinite(J).all()):
            return np.inf
        left, self.values, _ = np.linalg.svd(J, full_matrices=False)
        self.rank = rank_of_rows(self.values, self._rounding)
        self.reached = left[:, : self.rank]
        self.inside = self.reached.T @ error
        return _largest_norm(self._problem, self.reached @ self.inside)

    def step(self, q: Vector, error: Vector, J: Matrix) -> tuple[Vector | None, float]:
        """Of least cost; None where rows are not finite."""
        if self.rank < 0:
            return None, 0.0
        return -least_change(self.reached.T @ J, self.inside, self._problem.weights[self._moving]), 0.0

    def moved(self, q: Vector, step: Vector) -> Vector:
        """By what moves."""
        whole = np.zeros(self._problem.space.nv)
        whole[self._moving] = step
        return self._problem.space.integrate(q, whole)


def closed_but_for_redundant_rows(projection: Projection, rounding: float) -> SplitErrors | None:
    """A configuration near the start of an assembly that failed, closed in all that joints can reduce; None without.

    The rest is at most 1e-6 [m or rad], and in rows that are redundant at that configuration, at the start and beside
    both: an arm that is stretched, but not to its target, is not redundant where it is bent, and stays a failure.

    Args:
        projection: an assembly that failed.
        rounding: of the constraint set.
    """
    problem, rhs, tolerance = projection.problem, projection.rhs, projection.options.threshold
    if projection.options.nearest or not can_be_split(problem):
        return None
    closed = [step.q for step in projection.trace or () if step.residual <= CLOSED]
    for near in (*closed[:1], projection.q):  # the first iterate that is closed to 1e-6, then the best one
        found = split_errors(problem, near, rhs, tolerance, rounding)
        holds = found is not None and found.residual <= max(CLOSED, tolerance)
        if found is not None and holds and _is_redundant(found, projection, rounding):
            return found
    return None


def is_closed(projection: Projection, q: Vector, rounding: float) -> bool:
    """Whether a configuration is closed in all that joints can reduce, and to 1e-6 in the rest.

    Args:
        projection: an assembly.
        q: configuration (nq,).
        rounding: of the constraint set.
    """
    problem, tolerance = projection.problem, projection.options.threshold
    residual = problem.residual(q, projection.rhs)
    if not residual <= CLOSED or not can_be_split(problem):
        return False
    return split_errors(problem, q, projection.rhs, tolerance, rounding, steps=1) is not None


def nearly_closed(projection: Projection) -> SplitErrors | None:
    """The parts of the errors of an assembly that failed, if rows that the joints hardly move explain it.

    Args:
        projection: an assembly that failed.
    """
    if not can_be_split(projection.problem) or not projection.residual <= DIGITS_OF_ROWS:
        return None
    tolerance = max(projection.options.threshold, 1e-3 * projection.residual)
    return split_errors(projection.problem, projection.q, projection.rhs, tolerance, DIGITS_OF_ROWS)


def can_be_split(problem: Problem) -> bool:
    """Whether all rows are equalities of one level."""
    return len(problem.levels) == 1 and not any((o.rows.one_sided & o.rows.mask).any() for o in problem.constraints)


def _is_redundant(found: SplitErrors, projection: Projection, rounding: float) -> bool:
    """Whether the rows are as redundant at the start, and beside the configuration, and bounds are kept."""
    problem, rhs, moving = projection.problem, projection.rhs, np.flatnonzero(~projection.problem.frozen)
    if problem.bounds.violations(found.q):
        return False

    def evaluate(q: Vector) -> tuple[Vector, Matrix]:
        rows = problem.rows(q, rhs)
        return rows.error, rows.jacobian

    try:
        J = evaluate(projection.start)[1][:, moving]
    except UndefinedError:
        return False
    at_start = rank_of_rows(singular_values(J), CLEAR * rounding)
    return at_start <= found.rank and rank_beside(evaluate, problem.space, found.q, moving, rounding) == found.rank


def _largest_norm(problem: Problem, error: Vector) -> float:
    return max((norm for _, norm in problem.constraints.norms(error)), default=0.0)

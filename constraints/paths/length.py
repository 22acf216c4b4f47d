"""Lengths of paths."""

from __future__ import annotations

from liegroups.arrays import Matrix, Vector

from ..linear_algebra import row_lengths
from ..problem.problem import Problem


def lengths_between(problem: Problem, Q0: Matrix, Q1: Matrix) -> Vector:
    r"""Distances between each two rows of as many configurations, over the dofs that steps move.

    .. math:: d(q_0, q_1)^2 = \sum_{i\ \mathrm{free}} (q_1 \ominus q_0)_i^2

    A radian counts as much as a metre. Dofs that are computed from others, or frozen, do not count.

    Args:
        problem: of the configurations: says which columns are free.
        Q0, Q1: configurations (n, nq).

    Returns:
        (n,).
    """
    return row_lengths(problem.space.difference(Q0, Q1)[:, problem.free])

"""Whether a closed configuration is singular: the rank of its rows there and at closed configurations beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from liegroups import Space
from liegroups.arrays import Indices, Matrix, Vector

from ...errors import UndefinedError
from ...linear_algebra import RANK_TOLERANCE, rank_of_rows, singular_values
from .corrector import CLOSED as CLOSED, Corrector, Trust, least_norm

Evaluated: TypeAlias = Callable[[Vector], tuple[Vector, Matrix]]
"""From a configuration (nq,) to errors (m,) and their Jacobian (m, nv)."""

RANK_BESIDE = 0.01
"""How far beside [rad or m] the rank is counted: there it has values of a hundredth where it has dropped."""
WAYS = 2
"""Number of directions that are tried, of all that the rows leave free."""
BACK = Trust(most=4, farthest=RANK_BESIDE)
"""Steps of Newton back to where the rows hold; one that is longer leads away from here."""

CLEAR = 10.0
"""A singular value counts beside only this much above where it would count: digits of a file differ from place to
place."""


def rank_beside(evaluate: Evaluated, space: Space, q: Vector, moving: Indices, rounding: float = RANK_TOLERANCE) -> int:
    r"""The largest rank of the rows at configurations 0.01 [rad or m] beside a closed one, on its own motions.

    A motion of the null space of J, then steps of Newton in the r directions that the rows have at q,
    :math:`q \leftarrow q \oplus -V_r S_r^{-1} U_r^T e`. Where the configurations that close the mechanism are a smooth
    surface of dimension nv - r, this leads back to it, and the rank is r there: also that of overconstrained loops,
    whose rows are independent at any open configuration. Where it is not, as at a dead centre, an arm that is
    stretched, or a parallelogram that is flat, the rows have the higher rank that they have nearby.

    Args:
        evaluate: errors and Jacobian at a configuration.
        space: of the configurations.
        q: (nq,), closed.
        moving: tangent columns that move.
        rounding: as of a constraint set.

    Returns:
        At least the rank at q.
    """
    J = evaluate(q)[1][:, moving]
    rank = rank_of_rows(singular_values(J), rounding)
    free = np.linalg.svd(J)[2][rank:]
    rng, most, back = np.random.default_rng(0), rank, _Back(evaluate, space, moving, rank)
    for _ in range(WAYS if len(free) and rank < len(J) else 0):
        step = np.zeros(space.nv)
        along = free.T @ rng.standard_normal(len(free))
        step[moving] = RANK_BESIDE * along / np.linalg.norm(along)
        try:
            there = Corrector(back.rows, back).newton(space.integrate(q, step), BACK)
        except UndefinedError:
            continue
        most = max(most, rank_of_rows(singular_values(there.J), CLEAR * rounding))
    return most


class _Back:
    """Columns of a `Corrector`: what moves goes back to where the rows hold, in the directions that they have at q."""

    def __init__(self, evaluate: Evaluated, space: Space, moving: Indices, rank: int) -> None:
        self._evaluate, self._space, self._moving, self._rank = evaluate, space, moving, rank

    def rows(self, q: Vector) -> tuple[Vector, Matrix]:
        """Errors, and their Jacobian by what moves."""
        error, J = self._evaluate(q)
        return error, J[:, self._moving]

    def off(self, error: Vector, J: Matrix) -> float:
        """Not used: the number of steps is fixed."""
        return np.inf

    def step(self, q: Vector, error: Vector, J: Matrix) -> tuple[Vector | None, float]:
        """Of least norm."""
        return least_norm(error, J, self._rank)[1], 0.0

    def moved(self, q: Vector, step: Vector) -> Vector:
        """By what moves."""
        whole = np.zeros(self._space.nv)
        whole[self._moving] = step
        return self._space.integrate(q, whole)

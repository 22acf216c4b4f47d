"""Whether a closed configuration is singular: the rank of its rows against that beside it, where they still hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from liegroups import Space
from liegroups.arrays import Indices, Matrix, Vector

from ...errors import UndefinedError
from ...linear_algebra import RANK_TOLERANCE, largest, rank_of_rows, singular_values

Evaluated: TypeAlias = Callable[[Vector], tuple[Vector, Matrix]]
"""From a configuration (nq,) to errors (m,) and their Jacobian (m, nv)."""

RANK_BESIDE = 0.01
"""How far beside [rad or m] the rank is counted: there it has values of a hundredth where it has dropped."""
WAYS = 2
"""So many directions, of all that the rows leave free."""
STEPS = 4
"""Steps of Newton back to where the rows hold."""
CLOSED = 1e-6
"""Residual up to which a configuration counts as closed [m or rad]: beyond, ranks are those of another posture."""

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
    rng, most = np.random.default_rng(0), rank
    for _ in range(WAYS if len(free) and rank < len(J) else 0):
        step = np.zeros(space.nv)
        along = free.T @ rng.standard_normal(len(free))
        step[moving] = RANK_BESIDE * along / np.linalg.norm(along)
        try:
            most = max(most, _rank_near(evaluate, space, space.integrate(q, step), moving, rank, rounding))
        except UndefinedError:
            continue
    return most


def _rank_near(evaluate: Evaluated, space: Space, near: Vector, moving: Indices, rank: int, rounding: float) -> int:
    """The rank at the configuration that closes from one nearby by the directions that the rows have."""
    for _ in range(STEPS):
        error, J = evaluate(near)
        U, s, Vt = np.linalg.svd(J[:, moving], full_matrices=False)
        change = Vt[:rank].T @ ((U[:, :rank].T @ error) / s[:rank]) if rank else np.zeros(moving.size)
        if not largest(change) <= RANK_BESIDE:  # away from here
            break
        step = np.zeros(space.nv)
        step[moving] = -change
        near = space.integrate(near, step)
    return rank_of_rows(singular_values(evaluate(near)[1][:, moving]), CLEAR * rounding)

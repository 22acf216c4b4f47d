"""What a projection decides, as functions of plain numbers and arrays: other programs can follow the same rules."""

from __future__ import annotations

import zlib
from math import ceil, tau

from liegroups.arrays import Indices, Matrix, Vector

Score = list[float]
"""Residual of each mandatory level, most important first, compared in this order; where there are several, one that is
satisfied counts as 0."""

ROUNDING_OF_A_COORDINATE = 2.0**-52
"""Part of a coordinate by which a shift of whole turns may round it."""
STATIONARY_RATIO = 0.02
"""A projected gradient of at most this part of the error norm is no way down."""
SETTLING, GAINING = 0.8, 0.9
"""The cap of a lower level grows while each level above falls to this part of its error in an iteration; else it is
halved, or cut to a tenth if the level itself does not fall to the second part."""


def is_better(score: Score, merit: float, best: Score, best_merit: float) -> bool:
    """Whether an iterate is the best so far: of lower score, ties by merit."""
    return score < best or (score == best and merit < best_merit)  # R21


def falls(score: Score, reference: Score, ratio: float) -> bool:
    """Whether a score is below `ratio` times another one: at level 0, or below it where the levels above are zero."""
    if score[0] < ratio * reference[0]:
        return True
    if score[0] > 0.0:
        return False
    for new, old in zip(score[1:], reference[1:], strict=False):
        if new < ratio * old:
            return True
        if new > 0.0 or old > 0.0:
            return False
    return False


def next_cap(cap: float, is_settling: bool, residual: float, before: float, largest: float) -> float:
    """The cap of a lower level for the next step.

    Args:
        cap: of the last step.
        is_settling: whether all levels above are satisfied, or fall to `SETTLING` of what they were.
        residual, before: of the level, now and before the last step.
        largest: cap of level 0.
    """
    return min((2.0 if is_settling else 0.5 if residual < GAINING * before else 0.1) * cap, largest)  # R20


def part_within(longest: float, cap: float) -> float:
    """How much of a step can be taken so that its longest coordinate moves no more than the cap; at most 1."""
    return cap / longest if longest > cap else 1.0


def into_bounds(x: float, lower: float, upper: float) -> tuple[float, float]:
    """An angle outside its bounds, shifted by whole turns to the nearest end of a range of (almost) a turn.

    Returns:
        The angle inside, and how far from a whole turn it may have been shifted [rad].
    """
    turned = x + tau * ceil((lower - x) / tau) if x < lower else x - tau * ceil((x - upper) / tau)
    inside = min(turned, upper) if x < lower else max(turned, lower)
    return inside, abs(inside - turned) + ROUNDING_OF_A_COORDINATE * abs(x)


def restart_row(start: Vector) -> int:
    """Row of the table of random configurations at which the restarts of a start begin: its bytes decide."""
    return zlib.crc32(start.tobytes())


def restart_configuration(q: Vector, table: Matrix, drawn: Indices, row: int) -> Vector:
    """A configuration (nq,) with its drawn entries from a row of the table; a new array."""
    q = q.copy()
    q[drawn] = table[row % len(table)][drawn]
    return q


def is_stationary(gradient: Vector, error: Vector) -> bool:
    """Whether a projected gradient of half the squared error is no way down."""
    return float(gradient.dot(gradient)) <= STATIONARY_RATIO**2 * float(error.dot(error))

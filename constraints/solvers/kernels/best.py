"""The best iterate of a projection, and when a score falls."""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel, off


@kernel
def copied_where(m: bool, W: Floats, x: int, n: int, y: int) -> None:
    """W[y:y+n] = W[x:x+n] where a mask says so."""
    for i in range(n):
        W[y + i] = chosen(m, W[x + i], W[y + i])


@kernel
def written_where(m: bool, W: Floats, place: int, x: float) -> None:
    """W[place] = x where a mask says so."""
    W[place] = chosen(m, x, W[place])


@kernel
def forget(I: Integers, W: Floats, asked: bool) -> None:
    """No iterate is the best one yet."""
    state = I[at.STATE]
    copied_where(asked, W, I[at.Q_START], I[at.NQ], I[at.Q_BEST])
    written_where(asked, W, I[at.SCORE_BEST], inf)
    written_where(asked, W, state + at.RESIDUAL, inf)
    written_where(asked, W, state + at.MERIT, inf)


@kernel
def take(I: Integers, W: Floats, q: int, residual: float, merit: float, asked: bool) -> None:
    """Make an iterate the best one."""
    state = I[at.STATE]
    if q != I[at.Q_BEST]:
        copied_where(asked, W, q, I[at.NQ], I[at.Q_BEST])
    copied_where(asked, W, I[at.SCORE], max(I[at.MANDATORY], 1), I[at.SCORE_BEST])
    written_where(asked, W, state + at.RESIDUAL, residual)
    written_where(asked, W, state + at.MERIT, merit)
    written_where(asked, W, state + at.BEST_TRY, W[state + at.TRIES])


@kernel
def keep(I: Integers, W: Floats, q: int, residual: float, merit: float, asked: bool) -> bool:
    """Make an iterate the best one if it is: of lower score, ties by merit."""
    better, undecided = merit < W[I[at.STATE] + at.MERIT], True
    for n in range(max(I[at.MANDATORY], 1)):
        a, b = W[I[at.SCORE] + n], W[I[at.SCORE_BEST] + n]
        tells = undecided & (a != b)
        better = (tells & (a < b)) | (better & off(tells))  # R21
        undecided = undecided & off(tells)
    better = better & asked
    if any_of(better):
        take(I, W, q, residual, merit, better)
    return better


@kernel
def falls(I: Integers, W: Floats, ratio: float) -> bool:
    """Whether the score is below `ratio` times the reference, as `rules.falls`."""
    found, undecided = False, True
    for n in range(max(I[at.MANDATORY], 1)):
        new, old = W[I[at.SCORE] + n], W[I[at.SCORE_REFERENCE] + n]
        less = new < ratio * old  # R22
        found = found | (undecided & less)
        undecided = undecided & off(less | (new > 0.0))
        if n > 0:
            undecided = undecided & off(old > 0.0)
    return found

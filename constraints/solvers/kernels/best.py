"""The best iterate of a projection, and when a score falls."""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, kernel
from .configurations import copy_to


@kernel
def forget(I: Integers, W: Floats) -> None:
    """No iterate is the best one yet."""
    state = I[at.STATE]
    copy_to(W, I[at.Q_START], I[at.NQ], I[at.Q_BEST])
    W[I[at.SCORE_BEST]] = inf
    W[state + at.RESIDUAL], W[state + at.MERIT] = inf, inf


@kernel
def take(I: Integers, W: Floats, q: int, residual: float, merit: float) -> None:
    """Make an iterate the best one."""
    state = I[at.STATE]
    if q != I[at.Q_BEST]:
        copy_to(W, q, I[at.NQ], I[at.Q_BEST])
    copy_to(W, I[at.SCORE], max(I[at.MANDATORY], 1), I[at.SCORE_BEST])
    W[state + at.RESIDUAL], W[state + at.MERIT], W[state + at.BEST_TRY] = residual, merit, W[state + at.TRIES]


@kernel
def keep(I: Integers, W: Floats, q: int, residual: float, merit: float) -> bool:
    """Make an iterate the best one if it is: of lower score, ties by merit."""
    better = merit < W[I[at.STATE] + at.MERIT]
    for n in range(max(I[at.MANDATORY], 1)):
        a, b = W[I[at.SCORE] + n], W[I[at.SCORE_BEST] + n]
        if a != b:
            better = a < b  # R21
            break
    if better:
        take(I, W, q, residual, merit)
    return better


@kernel
def falls(I: Integers, W: Floats, ratio: float) -> bool:
    """Whether the score is below `ratio` times the reference, as `rules.falls`."""
    for n in range(max(I[at.MANDATORY], 1)):
        new, old = W[I[at.SCORE] + n], W[I[at.SCORE_REFERENCE] + n]
        if new < ratio * old:  # R22
            return True
        if new > 0.0 or (n > 0 and old > 0.0):
            return False
    return False

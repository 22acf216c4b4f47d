"""The best iterate of a projection, and when a score falls."""

from __future__ import annotations

from math import inf

from ..machine.jit import Floats, Integers, kernel
from ..machine.layout import (
    BEST_TRY,
    MANDATORY,
    MERIT,
    NQ,
    Q_BEST,
    Q_START,
    RESIDUAL,
    SCORE,
    SCORE_BEST,
    SCORE_REFERENCE,
    STATE,
    TRIES,
)
from .configurations import copy_to


@kernel
def forget(I: Integers, W: Floats) -> None:
    """No iterate is the best one yet."""
    state = I[STATE]
    copy_to(W, I[Q_START], I[NQ], I[Q_BEST])
    W[I[SCORE_BEST]] = inf
    W[state + RESIDUAL], W[state + MERIT] = inf, inf


@kernel
def take(I: Integers, W: Floats, q: int, residual: float, merit: float) -> None:
    """Make an iterate the best one."""
    state = I[STATE]
    if q != I[Q_BEST]:
        copy_to(W, q, I[NQ], I[Q_BEST])
    copy_to(W, I[SCORE], max(I[MANDATORY], 1), I[SCORE_BEST])
    W[state + RESIDUAL], W[state + MERIT], W[state + BEST_TRY] = residual, merit, W[state + TRIES]


@kernel
def keep(I: Integers, W: Floats, q: int, residual: float, merit: float) -> bool:
    """Make an iterate the best one if it is: of lower score, ties by merit."""
    better = merit < W[I[STATE] + MERIT]
    for n in range(max(I[MANDATORY], 1)):
        a, b = W[I[SCORE] + n], W[I[SCORE_BEST] + n]
        if a != b:
            better = a < b
            break
    if better:
        take(I, W, q, residual, merit)
    return better


@kernel
def falls(I: Integers, W: Floats, ratio: float) -> bool:
    """Whether the score is below `ratio` times the reference, as `rules.falls`."""
    for n in range(max(I[MANDATORY], 1)):
        new, old = W[I[SCORE] + n], W[I[SCORE_REFERENCE] + n]
        if new < ratio * old:
            return True
        if new > 0.0 or (n > 0 and old > 0.0):
            return False
    return False

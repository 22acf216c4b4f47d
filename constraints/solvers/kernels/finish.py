"""The end of a try, and of a projection without success."""

from __future__ import annotations

from math import inf

from ..machine.jit import Floats, Integers, kernel
from ..machine.layout import (
    ALIGNED_ENTRIES,
    ALIGNED_LIMITS,
    ALL_BOUNDED,
    ALL_JOINTS,
    ALL_LIMITS,
    BODIES,
    COMPUTES,
    CONVERGED,
    DOUBTFUL,
    ENTRIES,
    ERROR,
    JACOBIAN,
    LEVEL_TABLE,
    LEVELS,
    LIMITS,
    LIVE,
    MANDATORY,
    MAPS,
    MERIT,
    NQ,
    OUT_OF_BOUNDS,
    Q_BEST,
    Q_NEXT,
    Q_NOW,
    RESIDUAL,
    ROWS,
    SCORE,
    SCORE_BEST,
    STATE,
    STATIONARY,
    STATUS,
    THRESHOLD,
    THRESHOLDS,
    TURNING,
    TURNING_LIMITS,
    UNDEFINED,
    UNKEPT,
    UNKEPT_LIMITS,
    VALUES,
    WITH_JACOBIAN,
    Q,
)
from ..tape.trees import place
from .best import forget, take
from .bodies import columns_turned
from .configurations import copy_to, is_finite, turned, within
from .levels import level_at, measure, rows_at
from .rows import measured
from .substitution import resolved

STATIONARY_RATIO = 0.02
"""As in `newton.rules`."""


@kernel
def contains(I: Integers, F: Floats, W: Floats, q: int, is_kept: bool) -> bool:
    """Whether q is within all its bounds; those that steps keep are not asked where it is known to keep them."""
    if is_kept:
        return within(I, F, W, I[UNKEPT], I[UNKEPT_LIMITS], q)
    return within(I, F, W, I[ALL_BOUNDED], I[ALL_LIMITS], q)


@kernel
def accepted(I: Integers, F: Floats, W: Floats, q: int, is_best: bool, residual: float, merit: float) -> int:
    """End of a try that satisfied the constraints; the status, or -1 where it has to go on from the best iterate."""
    nq, now, threshold = I[NQ], I[Q_NEXT], F[I[THRESHOLDS] + THRESHOLD]
    copy_to(W, q, nq, now)
    is_turned, off = turned(I, F, W, I[TURNING], I[TURNING_LIMITS], now)
    if is_turned and I[MAPS] != 0 and not resolved(I, F, W, now, VALUES):
        return UNDEFINED
    if I[COMPUTES] != 0 and not is_finite(W, now, nq):
        forget(I, W)
        return UNDEFINED
    if I[I[DOUBTFUL] + ROWS] > 0:
        copy_to(W, now, nq, I[Q])
        place(I, F, W, I[ALL_JOINTS], I[Q], VALUES)
        if not level_at(I, F, W, I[DOUBTFUL], VALUES):
            return UNDEFINED
        if not measured(I, W, I[DOUBTFUL])[1] <= threshold:
            forget(I, W)
            return UNDEFINED
    if off > 0.0:
        if not rows_at(I, F, W, now, VALUES):
            return UNDEFINED
        residual, merit = measure(I, F, W)
        take(I, W, now, residual, merit)
        if residual > threshold:
            return -1
    if within(I, F, W, I[UNKEPT], I[UNKEPT_LIMITS], now):
        take(I, W, now, residual, merit)
        return CONVERGED
    if is_best:
        copy_to(W, now, nq, I[Q_BEST])
    return OUT_OF_BOUNDS


@kernel
def _is_stationary(I: Integers, F: Floats, W: Floats) -> bool:
    """Whether the projected gradient at Q is no way down."""
    level, live = I[LEVEL_TABLE], I[LIVE]
    m, J, e = I[level + ROWS], I[level + JACOBIAN], I[level + ERROR]
    limits, entries = I[LIMITS], I[ENTRIES]
    if I[I[BODIES]] > 0:
        columns_turned(I, W, I[Q_NOW], J, m)
        limits, entries = I[ALIGNED_LIMITS], I[ALIGNED_ENTRIES]
    error2, gradient2 = 0.0, 0.0
    for i in range(m):
        error2 += W[e + i] * W[e + i]
    for c in range(live):
        g = 0.0
        for i in range(m):
            g += W[J + c * m + i] * W[e + i]
        x = W[I[Q_NOW] + I[entries + c]]
        outward = (x <= F[limits + c] and g > 0.0) or (x >= F[limits + live + c] and g < 0.0)
        if not outward:
            gradient2 += g * g
    return gradient2 <= STATIONARY_RATIO * STATIONARY_RATIO * error2


@kernel
def failed(I: Integers, F: Floats, W: Floats) -> int:
    """Status of a projection whose tries are spent: that of the best iterate, which is turned back into bounds."""
    state, best, threshold = I[STATE], I[Q_BEST], F[I[THRESHOLDS] + THRESHOLD]
    if W[state + RESIDUAL] < inf:
        is_turned, off = turned(I, F, W, I[TURNING], I[TURNING_LIMITS], best)
        if is_turned:
            if I[MAPS] != 0 and not resolved(I, F, W, best, VALUES):
                return UNDEFINED
            if off > 0.0:
                if not rows_at(I, F, W, best, VALUES):
                    return UNDEFINED
                residual, merit = measure(I, F, W)
                take(I, W, best, residual, merit)
    if W[state + RESIDUAL] <= threshold:
        copy_to(W, I[SCORE_BEST], max(I[MANDATORY], 1), I[SCORE])
        status = accepted(I, F, W, best, True, W[state + RESIDUAL], W[state + MERIT])
        return int(W[state + STATUS]) if status < 0 else status
    if W[state + RESIDUAL] == inf or W[state + STATUS] == UNDEFINED:
        return UNDEFINED
    if I[LEVELS] > 1:
        return int(W[state + STATUS])
    copy_to(W, best, I[NQ], I[Q_NOW])
    if not rows_at(I, F, W, I[Q_NOW], WITH_JACOBIAN):
        return UNDEFINED
    return STATIONARY if _is_stationary(I, F, W) else int(W[state + STATUS])

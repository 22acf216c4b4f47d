"""The end of a try, and of a projection without success."""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, kernel
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
        return within(I, F, W, I[at.UNKEPT], I[at.UNKEPT_LIMITS], q)
    return within(I, F, W, I[at.ALL_BOUNDED], I[at.ALL_LIMITS], q)


@kernel
def accepted(I: Integers, F: Floats, W: Floats, q: int, is_best: bool, residual: float, merit: float) -> int:
    """End of a try that satisfied the constraints; the status, or -1 where it has to go on from the best iterate."""
    nq, now, threshold = I[at.NQ], I[at.Q_NEXT], F[I[at.THRESHOLDS] + at.THRESHOLD]
    copy_to(W, q, nq, now)
    is_turned, off = turned(I, F, W, I[at.TURNING], I[at.TURNING_LIMITS], now)  # R27
    if is_turned and I[at.MAPS] != 0 and not resolved(I, F, W, now, at.VALUES):
        return at.UNDEFINED
    if I[at.COMPUTES] != 0 and not is_finite(W, now, nq):  # R30
        forget(I, W)
        return at.UNDEFINED
    if I[I[at.DOUBTFUL] + at.ROWS] > 0:
        copy_to(W, now, nq, I[at.Q])
        place(I, F, W, I[at.ALL_JOINTS], I[at.Q], at.VALUES)
        if not level_at(I, F, W, I[at.DOUBTFUL], at.VALUES):
            return at.UNDEFINED
        if not measured(I, W, I[at.DOUBTFUL])[1] <= threshold:  # R30
            forget(I, W)
            return at.UNDEFINED
    if off > 0.0:
        if not rows_at(I, F, W, now, at.VALUES):
            return at.UNDEFINED
        residual, merit = measure(I, F, W)
        take(I, W, now, residual, merit)
        if residual > threshold:  # R28
            return -1
    if within(I, F, W, I[at.UNKEPT], I[at.UNKEPT_LIMITS], now):  # R29
        take(I, W, now, residual, merit)
        return at.CONVERGED
    if is_best:
        copy_to(W, now, nq, I[at.Q_BEST])
    return at.OUT_OF_BOUNDS


@kernel
def _is_stationary(I: Integers, F: Floats, W: Floats) -> bool:
    """Whether the projected gradient at Q is no way down."""
    level, live = I[at.LEVEL_TABLE], I[at.LIVE]
    m, J, e = I[level + at.ROWS], I[level + at.JACOBIAN], I[level + at.ERROR]
    limits, entries = I[at.LIMITS], I[at.ENTRIES]
    if I[I[at.BODIES]] > 0:
        columns_turned(I, W, I[at.Q_NOW], J, m)
        limits, entries = I[at.ALIGNED_LIMITS], I[at.ALIGNED_ENTRIES]
    error2, gradient2 = 0.0, 0.0
    for i in range(m):
        error2 += W[e + i] * W[e + i]
    for c in range(live):
        g = 0.0
        for i in range(m):
            g += W[J + c * m + i] * W[e + i]
        x = W[I[at.Q_NOW] + I[entries + c]]
        outward = (x <= F[limits + c] and g > 0.0) or (x >= F[limits + live + c] and g < 0.0)
        if not outward:
            gradient2 += g * g
    return gradient2 <= STATIONARY_RATIO * STATIONARY_RATIO * error2


@kernel
def failed(I: Integers, F: Floats, W: Floats) -> int:
    """Status of a projection whose tries are spent: that of the best iterate, which is turned back into bounds."""
    state, best, threshold = I[at.STATE], I[at.Q_BEST], F[I[at.THRESHOLDS] + at.THRESHOLD]
    if W[state + at.RESIDUAL] < inf:
        is_turned, off = turned(I, F, W, I[at.TURNING], I[at.TURNING_LIMITS], best)
        if is_turned:
            if I[at.MAPS] != 0 and not resolved(I, F, W, best, at.VALUES):
                return at.UNDEFINED
            if off > 0.0:
                if not rows_at(I, F, W, best, at.VALUES):
                    return at.UNDEFINED
                residual, merit = measure(I, F, W)
                take(I, W, best, residual, merit)
    if W[state + at.RESIDUAL] <= threshold:  # R33
        copy_to(W, I[at.SCORE_BEST], max(I[at.MANDATORY], 1), I[at.SCORE])
        status = accepted(I, F, W, best, True, W[state + at.RESIDUAL], W[state + at.MERIT])
        return int(W[state + at.STATUS]) if status < 0 else status
    if W[state + at.RESIDUAL] == inf or W[state + at.STATUS] == at.UNDEFINED:
        return at.UNDEFINED
    if I[at.LEVELS] > 1:  # R34
        return int(W[state + at.STATUS])
    copy_to(W, best, I[at.NQ], I[at.Q_NOW])
    if not rows_at(I, F, W, I[at.Q_NOW], at.WITH_JACOBIAN):
        return at.UNDEFINED
    return at.STATIONARY if _is_stationary(I, F, W) else int(W[state + at.STATUS])

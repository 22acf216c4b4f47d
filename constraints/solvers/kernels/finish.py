"""The end of a try, and of a projection without success."""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel, off
from ..tape.calls import ask_for
from ..tape.trees import place
from .best import copied_where, forget, take
from .configurations import columns_turned, copy_to, is_finite, turned, within
from .levels import cleared, level_at, measure, rows_at
from .rows import measured
from .substitution import resolved

STATIONARY_RATIO = 0.02
"""As in `newton.rules`."""


@kernel
def contains(I: Integers, F: Floats, W: Floats, q: int, is_kept: bool) -> bool:
    """Whether q is within all its bounds; those that steps keep are not asked where it is known to keep them."""
    inside = is_kept & within(I, F, W, I[at.UNKEPT], I[at.UNKEPT_LIMITS], q)
    if any_of(off(is_kept)):
        inside = inside | (off(is_kept) & within(I, F, W, I[at.ALL_BOUNDED], I[at.ALL_LIMITS], q))
    return inside


@kernel
def _is_sound(I: Integers, F: Floats, W: Floats, q: int, asked: bool) -> bool:
    """Whether q is finite, and its computed outputs are what they should be; otherwise no iterate is the best one."""
    sound = asked
    if I[at.COMPUTES] != 0:  # R30
        spoilt = sound & off(is_finite(W, q, I[at.NQ]))
        forget(I, W, spoilt)
        sound = sound & off(spoilt)
    if I[I[at.DOUBTFUL] + at.ROWS] > 0:
        copy_to(W, q, I[at.NQ], I[at.Q])
        place(I, F, W, I[at.ALL_JOINTS], I[at.Q], at.VALUES)
        ask_for(I, W, sound)
        sound = sound & level_at(I, F, W, I[at.DOUBTFUL], at.VALUES)
        if any_of(sound):
            hit = measured(I, W, I[at.DOUBTFUL])[1] <= F[I[at.THRESHOLDS] + at.THRESHOLD]  # R30
            forget(I, W, sound & off(hit))
            sound = sound & hit
    return sound


@kernel
def accepted(
    I: Integers,
    F: Floats,
    W: Floats,
    q: int,
    is_best: bool,
    residual: float,
    merit: float,
    is_turned: bool,
    asked: bool,
) -> float:
    """Status of a try that satisfies the constraints at q; UNDECIDED where whole turns took it too far from that.

    Args:
        q: the iterate, in its bounds by whole turns.
        is_best: whether it is the best one.
        residual, merit: of it.
        is_turned: whether it was shifted.
        asked: whose try ends.
    """
    sound = _is_sound(I, F, W, q, asked)
    take(I, W, q, residual, merit, sound & is_turned)
    again = sound & is_turned & (residual > F[I[at.THRESHOLDS] + at.THRESHOLD])  # R28
    inside = sound & off(again) & within(I, F, W, I[at.UNKEPT], I[at.UNKEPT_LIMITS], q)  # R29
    take(I, W, q, residual, merit, inside)
    if q != I[at.Q_BEST]:
        copied_where(sound & off(inside) & is_best, W, q, I[at.NQ], I[at.Q_BEST])
    other = chosen(again, float(at.UNDECIDED), chosen(sound, float(at.OUT_OF_BOUNDS), float(at.UNDEFINED)))
    return chosen(inside, float(at.CONVERGED), other)


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
    """Status of a projection whose tries are spent: that of the best iterate, which is turned back into bounds.

    Of one configuration at a time.
    """
    state, best, threshold = I[at.STATE], I[at.Q_BEST], F[I[at.THRESHOLDS] + at.THRESHOLD]
    if W[state + at.RESIDUAL] < inf:
        is_turned, away = turned(I, F, W, I[at.TURNING], I[at.TURNING_LIMITS], best)
        if is_turned:
            ask_for(I, W, True)
            if I[at.MAPS] != 0 and not resolved(I, F, W, best, at.VALUES):
                return at.UNDEFINED
            if away > 0.0:
                ask_for(I, W, True)
                if not rows_at(I, F, W, best, at.VALUES):
                    return at.UNDEFINED
                residual, merit = measure(I, F, W)
                take(I, W, best, residual, merit, True)
    if W[state + at.RESIDUAL] <= threshold:  # R33
        copy_to(W, I[at.SCORE_BEST], max(I[at.MANDATORY], 1), I[at.SCORE])
        return int(accepted(I, F, W, best, True, W[state + at.RESIDUAL], W[state + at.MERIT], False, True))
    if W[state + at.RESIDUAL] == inf or W[state + at.STATUS] == at.UNDEFINED:
        return at.UNDEFINED
    if I[at.LEVELS] > 1:  # R34
        return int(W[state + at.STATUS])
    copy_to(W, best, I[at.NQ], I[at.Q_NOW])
    ask_for(I, W, True)
    if not rows_at(I, F, W, I[at.Q_NOW], at.WITH_JACOBIAN):
        cleared(I, W, True)
        return at.UNDEFINED
    return at.STATIONARY if _is_stationary(I, F, W) else int(W[state + at.STATUS])

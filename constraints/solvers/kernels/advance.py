"""From an iterate to the next one: step, bounds, cap, lower levels."""

from __future__ import annotations

from .bodies import columns_turned, translated
from .configurations import clamped, copy_to, moved, within
from .jit import Floats, Integers, kernel
from .layout import (
    ALIGNED_ENTRIES,
    ALIGNED_LIMITS,
    BODY_BOX,
    BODY_LIMITS,
    BOX,
    BOX_LIMITS,
    CAP,
    DAMPING,
    ENTRIES,
    ERROR,
    IS_OPEN,
    JACOBIAN,
    LEVEL_SIZE,
    LEVEL_TABLE,
    LEVELS,
    LIMITS,
    LIVE,
    MANDATORY,
    NQ,
    Q_NEXT,
    Q_NOW,
    ROWS,
    STEP,
    THRESHOLDS,
)
from .lower import extended
from .rows import measured
from .steps import damped_step, part_within_cap, saturated, squared_length

FAR = 100.0
"""As in `newton.iteration`."""


@kernel
def _planned(I: Integers, F: Floats, W: Floats, q: int, mu: float, limits: int, entries: int) -> tuple[float, bool]:
    """Keep STEP within bounds and cap, and add those of lower levels; part that the cap left, whether any is held."""
    step, cap, held = I[STEP], F[I[THRESHOLDS] + CAP], False
    if I[IS_OPEN] == 0 or limits != I[LIMITS]:
        held = saturated(I, F, W, q, mu, limits, entries)
    part = 1.0 if squared_length(I, W, step) <= cap * cap else part_within_cap(I, F, W, step)
    if part < 1.0:
        for c in range(I[LIVE]):
            W[step + c] *= part
    if I[LEVELS] > 1:
        extended(I, F, W, q, held, limits, entries)
    return part, held


@kernel
def advanced(I: Integers, F: Floats, W: Floats, merit: float, holding: bool) -> tuple[float, float, bool]:
    """Move Q by the step of the rows there; its squared length, the part that the cap left, whether dofs are held."""
    options, level, q, step, before = I[THRESHOLDS], I[LEVEL_TABLE], I[Q_NOW], I[STEP], I[Q_NEXT]
    error2 = merit if I[MANDATORY] == 1 else measured(I, W, level)[0]
    mu, cap = F[options + DAMPING] * min(error2, FAR) + 1e-12, F[options + CAP]
    damped_step(I, F, W, I[level + ERROR], mu, False)
    copy_to(W, q, I[NQ], before)
    if not holding and I[LEVELS] == 1:  # most steps: within bounds
        length2 = squared_length(I, W, step)
        part = 1.0 if length2 <= cap * cap else part_within_cap(I, F, W, step)
        moved(I, W, q, step, part)
        if within(I, F, W, I[BOX], I[BOX_LIMITS], q):
            return length2, part, False
        copy_to(W, before, I[NQ], q)
    part, held = _planned(I, F, W, q, mu, I[LIMITS], I[ENTRIES])
    moved(I, W, q, step, 1.0)
    if not within(I, F, W, I[BODY_BOX], I[BODY_LIMITS], q):
        for n in range(I[LEVELS]):
            other = I[LEVEL_TABLE] + LEVEL_SIZE * n
            columns_turned(I, W, before, I[other + JACOBIAN], I[other + ROWS])
        damped_step(I, F, W, I[level + ERROR], mu, False)
        part, held = _planned(I, F, W, before, mu, I[ALIGNED_LIMITS], I[ALIGNED_ENTRIES])
        copy_to(W, before, I[NQ], q)
        moved(I, W, q, step, 1.0)
        translated(I, W, q, before, step, 1.0)
        clamped(I, F, W, I[BOX], I[BOX_LIMITS], q)
    if held or I[LEVELS] > 1:
        clamped(I, F, W, I[BOX], I[BOX_LIMITS], q)
    return squared_length(I, W, step), part, held

"""One projection: its start and its tries, as `docs/solver.md` has them."""

from __future__ import annotations

from math import inf

from ..machine.jit import Floats, Integers, as_bits, kernel
from ..machine.layout import (
    ALL_JOINTS,
    BEST_TRY,
    BOX,
    BOX_LIMITS,
    CONSTANTS,
    CONVERGED,
    CRC,
    DOUBTFUL,
    DRAWN,
    ITERATIONS,
    LEAVING,
    LEAVING_LIMITS,
    LEVEL_SIZE,
    LEVEL_TABLE,
    LEVELS,
    MANDATORY,
    MAPS,
    MAX_ITERATIONS,
    MAX_ITERATIONS_SPENT,
    MERIT,
    NO_POINT,
    NQ,
    OPTIONAL,
    OUT_OF_BOUNDS,
    PREPARE,
    Q_BEST,
    Q_NEXT,
    Q_NOW,
    Q_READY,
    Q_START,
    Q_TRIAL,
    RESIDUAL,
    RESTARTS,
    RESUMED,
    ROWS,
    SCORE,
    SCORE_REFERENCE,
    SCREEN,
    STALL_COUNT,
    STALL_RATIO,
    STALLED,
    STATE,
    STATUS,
    TABLE,
    TABLE_ROWS,
    THRESHOLD,
    THRESHOLDS,
    TRACE,
    TRACED,
    TRIES,
    TWINS,
    UNDEFINED,
    VALUES,
    WITH_JACOBIAN,
    Q,
)
from ..tape.tape import run_tape
from ..tape.trees import place
from .advance import advanced
from .best import falls, forget, keep
from .configurations import clamped, copy_to, is_point, normalised, same_numbers, within
from .finish import accepted, contains, failed
from .levels import level_at, measure, rows_at
from .lower import caps_adapted, caps_begun
from .rows import measured
from .substitution import written

CHEAP_RESIDUAL, CHEAP_STEP2 = 1e-2, 0.1**2
"""As in `newton.program`."""


@kernel
def _check_sum(I: Integers, W: Floats) -> int:
    """CRC-32 of the bytes of the start."""
    bits, start, crc = as_bits(W), I[Q_START], 0xFFFFFFFF
    for i in range(I[NQ]):
        word = bits[start + i]
        for _ in range(8):
            crc = I[I[CRC] + ((crc ^ word) & 0xFF)] ^ (crc >> 8)
            word >>= 8
    return crc ^ 0xFFFFFFFF


@kernel
def _draw(I: Integers, F: Floats, W: Floats, row: int, q: int) -> None:
    """The start with its drawn entries from a row of the table."""
    copy_to(W, I[Q_READY], I[NQ], q)
    drawn = I[DRAWN]
    table = I[TABLE] + (row % I[TABLE_ROWS]) * I[drawn]
    for n in range(I[drawn]):
        W[q + I[drawn + 1 + n]] = F[table + n]


@kernel
def _restart(I: Integers, F: Floats, W: Floats, row: int) -> None:
    """Write the best of a few rows of the table into Q: the configuration of least residual."""
    best = inf
    for k in range(I[SCREEN]):
        to = I[Q_NOW] if k == 0 else I[Q_NEXT]
        _draw(I, F, W, row + k, to)
        if I[SCREEN] == 1:
            return
        copy_to(W, to, I[NQ], I[Q_TRIAL])
        residual = measure(I, F, W)[0] if rows_at(I, F, W, I[Q_TRIAL], VALUES) else inf
        if k == 0:
            best = residual
        elif residual < best:
            best = residual
            copy_to(W, to, I[NQ], I[Q_NOW])


@kernel
def _trace(I: Integers, W: Floats, residual: float, restarted: float) -> None:
    """Write the iterate down: its configuration, its residual, whether it is the first of a new try."""
    state, nq = I[STATE], I[NQ]
    at = I[TRACE] + int(W[state + TRACED]) * (nq + 2)
    copy_to(W, I[Q_NOW], nq, at)
    W[at + nq], W[at + nq + 1] = residual, restarted
    W[state + TRACED] += 1.0


@kernel
def _descend(I: Integers, F: Floats, W: Floats, known: bool) -> int:
    """One try: damped, saturated, capped Newton steps, all accepted, until success, stall or end of budget."""
    state, q, options = I[STATE], I[Q_NOW], I[THRESHOLDS]
    half = 0.5 * F[options + THRESHOLD]
    waited, cheap, holding, part, restarted = 0, False, False, 1.0, W[state + TRIES]
    W[I[SCORE_REFERENCE]] = inf
    caps_begun(I, F, W)
    while True:
        if not known and not rows_at(I, F, W, q, VALUES if cheap else WITH_JACOBIAN):
            return UNDEFINED
        known = False
        residual, merit = measure(I, F, W)
        if not merit < inf:
            return UNDEFINED
        if I[TRACE] != 0:
            _trace(I, W, residual, restarted)
            restarted = 0.0
        is_best = keep(I, W, q, residual, merit)
        if residual <= half:
            status = accepted(I, F, W, q, is_best, residual, merit)
            if status >= 0:
                return status
            copy_to(W, I[Q_BEST], I[NQ], q)
            residual, merit, cheap = W[state + RESIDUAL], W[state + MERIT], True
        shrinking = I[LEVELS] > 1 and caps_adapted(I, F, W)
        ratio = F[options + STALL_RATIO]
        if part != 1.0:
            ratio = 1.0 - part * (1.0 - ratio)
        if shrinking:
            waited += 0
        elif falls(I, W, ratio):
            copy_to(W, I[SCORE], max(I[MANDATORY], 1), I[SCORE_REFERENCE])
            waited = 0
        else:
            waited += 1
            if waited >= I[STALL_COUNT]:
                return STALLED
        if W[state + ITERATIONS] >= I[MAX_ITERATIONS]:
            return MAX_ITERATIONS_SPENT
        if cheap and not rows_at(I, F, W, q, WITH_JACOBIAN):
            return UNDEFINED
        W[state + ITERATIONS] += 1.0
        length2, part, holding = advanced(I, F, W, merit, holding)
        cheap = residual < CHEAP_RESIDUAL and length2 < CHEAP_STEP2


@kernel
def tries(I: Integers, F: Floats, W: Floats, usable: bool) -> int:
    """From Q, one try after the other until one succeeds or the budget is spent; the status."""
    state, row = I[STATE], -1
    while True:
        status = _descend(I, F, W, usable)
        usable = False
        if status == CONVERGED:
            return status
        if status == OUT_OF_BOUNDS and I[I[LEAVING]] > 0:
            if not within(I, F, W, I[LEAVING], I[LEAVING_LIMITS], I[Q_BEST]):
                return status
        if W[state + BEST_TRY] == W[state + TRIES]:
            W[state + STATUS] = float(status)
        if I[RESTARTS] == 0 or I[I[DRAWN]] == 0 or W[state + ITERATIONS] >= I[MAX_ITERATIONS]:
            return failed(I, F, W)
        row = _check_sum(I, W) if row < 0 else row + I[SCREEN]
        W[state + ITERATIONS] += 1.0
        W[state + TRIES] += 1.0
        _restart(I, F, W, row)


@kernel
def _look_at_start(I: Integers, F: Floats, W: Floats, changed: bool) -> bool:
    """Measure the start as it is; whether its rows serve the first step.

    The errors of explicit constraints are asked first; where they are too large nothing else is.
    """
    q, worst, maps = I[Q_START], 0.0, I[MAPS] != 0
    twins = I[TWINS] if changed or maps else I[DOUBTFUL]
    if changed or maps or I[twins + ROWS] > 0 or I[OPTIONAL] != 0:
        copy_to(W, q, I[NQ], I[Q])
        place(I, F, W, I[ALL_JOINTS], I[Q], VALUES)
    if I[twins + ROWS] > 0:
        if not level_at(I, F, W, twins, VALUES):
            return False
        _, worst = measured(I, W, twins)
        if worst > F[I[THRESHOLDS] + THRESHOLD]:
            return False
    usable = not (changed or maps or I[OPTIONAL] != 0)
    if usable:
        if not rows_at(I, F, W, q, WITH_JACOBIAN):
            return False
    else:
        for n in range(I[MANDATORY]):
            if not level_at(I, F, W, I[LEVEL_TABLE] + LEVEL_SIZE * n, VALUES):
                return False
    residual, merit = measure(I, F, W)
    keep(I, W, q, max(worst, residual), merit)
    return usable


@kernel
def project(I: Integers, F: Floats, W: Floats) -> int:
    """From Q_START and RHS (and Q, where RESUMED) to Q_BEST and the record of the state; the status."""
    nq, state = I[NQ], I[STATE]
    if not is_point(I, W, I[Q_START], nq):
        return NO_POINT
    resumed = W[state + RESUMED] != 0.0
    if not resumed:
        W[state + ITERATIONS], W[state + TRIES] = 0.0, 0.0
    W[state + BEST_TRY], W[state + STATUS], W[state + TRACED] = 0.0, float(STALLED), 0.0
    forget(I, W)
    if not run_tape(I, F, W, I[PREPARE], VALUES):
        return UNDEFINED
    ready = I[Q_READY]
    copy_to(W, I[Q_START], nq, ready)
    outside = normalised(I, W, ready)
    outside = clamped(I, F, W, I[BOX], I[BOX_LIMITS], ready) or outside
    written(I, W, I[CONSTANTS], ready)
    if resumed:
        return tries(I, F, W, False)
    changed = not same_numbers(W, I[Q_START], ready, nq)
    usable = _look_at_start(I, F, W, changed)
    if W[state + RESIDUAL] <= F[I[THRESHOLDS] + THRESHOLD] and contains(I, F, W, I[Q_START], not outside):
        return CONVERGED
    if changed or I[MAPS] != 0:
        forget(I, W)
    copy_to(W, ready, nq, I[Q_NOW])
    return tries(I, F, W, usable)

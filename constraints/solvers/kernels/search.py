"""One projection: its start and its tries, as `docs/solver.md` has them."""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, as_bits, kernel
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
    bits, start, crc = as_bits(W), I[at.Q_START], 0xFFFFFFFF
    for i in range(I[at.NQ]):
        word = bits[start + i]
        for _ in range(8):
            crc = I[I[at.CRC] + ((crc ^ word) & 0xFF)] ^ (crc >> 8)
            word >>= 8
    return crc ^ 0xFFFFFFFF


@kernel
def _draw(I: Integers, F: Floats, W: Floats, row: int, q: int) -> None:
    """The start with its drawn entries from a row of the table."""
    copy_to(W, I[at.Q_READY], I[at.NQ], q)
    drawn = I[at.DRAWN]
    table = I[at.TABLE] + (row % I[at.TABLE_ROWS]) * I[drawn]
    for n in range(I[drawn]):
        W[q + I[drawn + 1 + n]] = F[table + n]


@kernel
def _restart(I: Integers, F: Floats, W: Floats, row: int) -> None:
    """Write the best of a few rows of the table into Q: the configuration of least residual."""
    best = inf
    for k in range(I[at.SCREEN]):
        to = I[at.Q_NOW] if k == 0 else I[at.Q_NEXT]
        _draw(I, F, W, row + k, to)
        if I[at.SCREEN] == 1:
            return
        copy_to(W, to, I[at.NQ], I[at.Q_TRIAL])
        residual = measure(I, F, W)[0] if rows_at(I, F, W, I[at.Q_TRIAL], at.VALUES) else inf
        if k == 0:
            best = residual
        elif residual < best:
            best = residual
            copy_to(W, to, I[at.NQ], I[at.Q_NOW])


@kernel
def _trace(I: Integers, W: Floats, residual: float, restarted: float) -> None:
    """Write the iterate down: its configuration, its residual, whether it is the first of a new try."""
    state, nq = I[at.STATE], I[at.NQ]
    row = I[at.TRACE] + int(W[state + at.TRACED]) * (nq + 2)
    copy_to(W, I[at.Q_NOW], nq, row)
    W[row + nq], W[row + nq + 1] = residual, restarted
    W[state + at.TRACED] += 1.0


@kernel
def _descend(I: Integers, F: Floats, W: Floats, known: bool) -> int:
    """One try: damped, saturated, capped Newton steps, all accepted, until success, stall or end of budget."""
    state, q, options = I[at.STATE], I[at.Q_NOW], I[at.THRESHOLDS]
    half = 0.5 * F[options + at.THRESHOLD]
    waited, cheap, holding, part, restarted = 0, False, False, 1.0, W[state + at.TRIES]
    W[I[at.SCORE_REFERENCE]] = inf
    caps_begun(I, F, W)
    while True:
        if not known and not rows_at(I, F, W, q, at.VALUES if cheap else at.WITH_JACOBIAN):
            return at.UNDEFINED
        known = False
        residual, merit = measure(I, F, W)
        if not merit < inf:  # R25
            return at.UNDEFINED
        if I[at.TRACE] != 0:
            _trace(I, W, residual, restarted)
            restarted = 0.0
        is_best = keep(I, W, q, residual, merit)
        if residual <= half:  # R3
            status = accepted(I, F, W, q, is_best, residual, merit)
            if status >= 0:
                return status
            copy_to(W, I[at.Q_BEST], I[at.NQ], q)
            residual, merit, cheap = W[state + at.RESIDUAL], W[state + at.MERIT], True
        shrinking = I[at.LEVELS] > 1 and caps_adapted(I, F, W)
        ratio = F[options + at.STALL_RATIO]
        if part != 1.0:
            ratio = 1.0 - part * (1.0 - ratio)  # R23
        if shrinking:  # R24
            waited += 0
        elif falls(I, W, ratio):
            copy_to(W, I[at.SCORE], max(I[at.MANDATORY], 1), I[at.SCORE_REFERENCE])
            waited = 0
        else:
            waited += 1
            if waited >= I[at.STALL_COUNT]:  # R22
                return at.STALLED
        if W[state + at.ITERATIONS] >= I[at.MAX_ITERATIONS]:  # R26
            return at.MAX_ITERATIONS_SPENT
        if cheap and not rows_at(I, F, W, q, at.WITH_JACOBIAN):
            return at.UNDEFINED
        W[state + at.ITERATIONS] += 1.0
        length2, part, holding = advanced(I, F, W, merit, holding)
        if not length2 < inf:  # R12
            return at.UNDEFINED
        cheap = residual < CHEAP_RESIDUAL and length2 < CHEAP_STEP2


@kernel
def tries(I: Integers, F: Floats, W: Floats, usable: bool) -> int:
    """From Q, one try after the other until one succeeds or the budget is spent; the status."""
    state, row = I[at.STATE], -1
    while True:
        status = _descend(I, F, W, usable)
        usable = False
        if status == at.CONVERGED:
            return status
        if status == at.OUT_OF_BOUNDS and I[I[at.LEAVING]] > 0:  # R31
            if not within(I, F, W, I[at.LEAVING], I[at.LEAVING_LIMITS], I[at.Q_BEST]):
                return status
        if W[state + at.BEST_TRY] == W[state + at.TRIES]:  # R33
            W[state + at.STATUS] = float(status)
        if I[at.RESTARTS] == 0 or I[I[at.DRAWN]] == 0 or W[state + at.ITERATIONS] >= I[at.MAX_ITERATIONS]:
            return failed(I, F, W)
        row = _check_sum(I, W) if row < 0 else row + I[at.SCREEN]
        W[state + at.ITERATIONS] += 1.0
        W[state + at.TRIES] += 1.0  # R32
        _restart(I, F, W, row)


@kernel
def _look_at_start(I: Integers, F: Floats, W: Floats, changed: bool) -> bool:
    """Measure the start as it is; whether its rows serve the first step.

    The errors of explicit constraints are asked first; where they are too large nothing else is.
    """
    q, worst, maps = I[at.Q_START], 0.0, I[at.MAPS] != 0
    twins = I[at.TWINS] if changed or maps else I[at.DOUBTFUL]  # R6
    if changed or maps or I[twins + at.ROWS] > 0 or I[at.OPTIONAL] != 0:
        copy_to(W, q, I[at.NQ], I[at.Q])
        place(I, F, W, I[at.ALL_JOINTS], I[at.Q], at.VALUES)
    if I[twins + at.ROWS] > 0:
        if not level_at(I, F, W, twins, at.VALUES):
            return False
        _, worst = measured(I, W, twins)
        if worst > F[I[at.THRESHOLDS] + at.THRESHOLD]:
            return False
    usable = not (changed or maps or I[at.OPTIONAL] != 0)
    if usable:
        if not rows_at(I, F, W, q, at.WITH_JACOBIAN):
            return False
    else:
        for n in range(I[at.MANDATORY]):
            if not level_at(I, F, W, I[at.LEVEL_TABLE] + at.LEVEL_SIZE * n, at.VALUES):
                return False
    residual, merit = measure(I, F, W)
    keep(I, W, q, max(worst, residual), merit)
    return usable


@kernel
def project(I: Integers, F: Floats, W: Floats) -> int:
    """From Q_START and RHS (and Q, where RESUMED) to Q_BEST and the record of the state; the status."""
    nq, state = I[at.NQ], I[at.STATE]
    if not is_point(I, W, I[at.Q_START], nq):
        return at.NO_POINT
    resumed = W[state + at.RESUMED] != 0.0
    if not resumed:
        W[state + at.ITERATIONS], W[state + at.TRIES] = 0.0, 0.0
    W[state + at.BEST_TRY], W[state + at.STATUS], W[state + at.TRACED] = 0.0, float(at.STALLED), 0.0
    forget(I, W)
    if not run_tape(I, F, W, I[at.PREPARE], at.VALUES):
        return at.UNDEFINED
    ready = I[at.Q_READY]
    copy_to(W, I[at.Q_START], nq, ready)
    outside = normalised(I, W, ready)  # R4
    outside = clamped(I, F, W, I[at.BOX], I[at.BOX_LIMITS], ready) or outside
    written(I, W, I[at.CONSTANTS], ready)
    if resumed:
        return tries(I, F, W, False)
    changed = not same_numbers(W, I[at.Q_START], ready, nq)
    usable = _look_at_start(I, F, W, changed)
    if W[state + at.RESIDUAL] <= F[I[at.THRESHOLDS] + at.THRESHOLD] and contains(I, F, W, I[at.Q_START], not outside):
        return at.CONVERGED  # R2
    if changed or I[at.MAPS] != 0:
        forget(I, W)
    copy_to(W, ready, nq, I[at.Q_NOW])
    return tries(I, F, W, usable)

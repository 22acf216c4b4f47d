"""One projection: its start, its tries, its end, as `docs/solver.md` has them."""

from __future__ import annotations

from math import inf, isnan

from ..layout import (
    ALIGNED_ENTRIES,
    ALIGNED_LIMITS,
    ALL_BOUNDED,
    ALL_JOINTS,
    ALL_LIMITS,
    BEST_TRY,
    BODIES,
    BODY_BOX,
    BODY_LIMITS,
    BOX,
    BOX_LIMITS,
    CAP,
    CLEARED,
    COMPUTED,
    COMPUTES,
    CONSTANTS,
    CONVERGED,
    CRC,
    DAMPING,
    DOUBTFUL,
    DRAWN,
    ENTRIES,
    ERROR,
    FINAL_JOINTS,
    IS_OPEN,
    ITERATIONS,
    JACOBIAN,
    LEAVING,
    LEAVING_LIMITS,
    LEVELS,
    LEVEL_SIZE,
    LEVEL_TABLE,
    LIMITS,
    LIVE,
    MANDATORY,
    MAPS,
    MAX_ITERATIONS,
    MAX_ITERATIONS_SPENT,
    MERIT,
    NQ,
    OPTIONAL,
    OUT_OF_BOUNDS,
    PREPARE,
    Q,
    Q_BEST,
    Q_NEXT,
    Q_READY,
    Q_START,
    Q_TRIAL,
    RESIDUAL,
    RESTARTS,
    RHS,
    ROWS,
    SCORE,
    SCORE_BEST,
    SCORE_REFERENCE,
    SCREEN,
    STALLED,
    STALL_COUNT,
    STALL_RATIO,
    STATE,
    STATIONARY,
    STATUS,
    STEP,
    TABLE,
    TABLE_ROWS,
    TAPE,
    THRESHOLD,
    THRESHOLDS,
    TRIES,
    TURNING,
    TURNING_LIMITS,
    TWINS,
    UNDEFINED,
    UNKEPT,
    UNKEPT_LIMITS,
    VALUES,
    WITH_JACOBIAN,
)
from .bodies import columns_turned, translated
from .configurations import (
    clamped,
    copy_to,
    is_finite,
    moved,
    normalised,
    same_numbers,
    turned,
    within,
)
from .jit import Floats, Integers, as_bits, kernel
from .lower import caps_adapted, caps_begun, extended
from .rows import measured, write_rows
from .steps import damped_step, part_within_cap, saturated, squared_length
from .substitution import reduced, resolved, written
from .tape import run_tape
from .trees import place

FAR = 100.0
CHEAP_RESIDUAL, CHEAP_STEP2 = 1e-2, 0.1**2
EXACT = 1e-6
STATIONARY_RATIO = 0.02
NO_ROW = -1.0

# Rows at a configuration.


@kernel
def _level_at(I: Integers, F: Floats, W: Floats, level: int, jacobian: int) -> bool:
    """The rows of one level, joints being placed."""
    if jacobian != 0 and I[level + CLEARED] != 0:
        for i in range(I[level + ROWS] * (I[LIVE] + I[COMPUTED])):
            W[I[level + JACOBIAN] + i] = 0.0
    if not run_tape(I, F, W, I[level + TAPE], jacobian):
        return False
    write_rows(I, F, W, level, jacobian)
    if jacobian != 0 and I[MAPS] != 0:
        reduced(I, W, level)
    return True


@kernel
def _emptied(I: Integers, W: Floats, level: int) -> None:
    """Neither errors nor a Jacobian: an optional level where it has no value."""
    for i in range(I[level + ROWS]):
        W[I[level + ERROR] + i] = 0.0
    for i in range(I[level + ROWS] * (I[LIVE] + I[COMPUTED])):
        W[I[level + JACOBIAN] + i] = 0.0


@kernel
def _is_finite_level(I: Integers, W: Floats, level: int, jacobian: int) -> bool:
    """Whether all numbers of a level are finite."""
    m = I[level + ROWS]
    ok = is_finite(W, I[level + ERROR], m)
    return ok and (jacobian == 0 or is_finite(W, I[level + JACOBIAN], m * I[LIVE]))


@kernel
def rows_at(I: Integers, F: Floats, W: Floats, q: int, jacobian: int) -> bool:
    """Resolve q, and evaluate the rows of all levels there; False where a function has no value."""
    if I[MAPS] != 0 and not resolved(I, F, W, q, jacobian):
        return False
    place(I, F, W, I[FINAL_JOINTS], q, jacobian)
    for n in range(I[LEVELS]):
        level = I[LEVEL_TABLE] + LEVEL_SIZE * n
        if not _level_at(I, F, W, level, jacobian):
            if n < I[MANDATORY]:
                return False
            _emptied(I, W, level)
        elif n >= I[MANDATORY] and not _is_finite_level(I, W, level, jacobian):
            _emptied(I, W, level)
    return True


@kernel
def measure(I: Integers, F: Floats, W: Floats) -> tuple[float, float]:
    """Write the score of each mandatory level; residual and merit."""
    count, half = I[MANDATORY], 0.5 * F[I[THRESHOLDS] + THRESHOLD]
    residual, merit = 0.0, 0.0
    for n in range(count):
        m, r = measured(I, W, I[LEVEL_TABLE] + LEVEL_SIZE * n)
        W[I[SCORE] + n] = r if count == 1 or r > half else 0.0
        residual, merit = max(residual, r), merit + m
    if count == 0:
        W[I[SCORE]] = 0.0
    return residual, merit


@kernel
def _forget(I: Integers, W: Floats) -> None:
    """No iterate is the best one yet."""
    state = I[STATE]
    copy_to(W, I[Q_START], I[NQ], I[Q_BEST])
    W[I[SCORE_BEST]] = inf
    W[state + RESIDUAL], W[state + MERIT] = inf, inf


@kernel
def _take(I: Integers, W: Floats, q: int, residual: float, merit: float) -> None:
    """Make an iterate the best one."""
    state = I[STATE]
    if q != I[Q_BEST]:
        copy_to(W, q, I[NQ], I[Q_BEST])
    copy_to(W, I[SCORE], max(I[MANDATORY], 1), I[SCORE_BEST])
    W[state + RESIDUAL], W[state + MERIT], W[state + BEST_TRY] = residual, merit, W[state + TRIES]


@kernel
def _keep(I: Integers, W: Floats, q: int, residual: float, merit: float) -> bool:
    """Make an iterate the best one if it is: of lower score, ties by merit."""
    state, better = I[STATE], merit < W[I[STATE] + MERIT]
    for n in range(max(I[MANDATORY], 1)):
        a, b = W[I[SCORE] + n], W[I[SCORE_BEST] + n]
        if a != b:
            better = a < b
            break
    if better:
        _take(I, W, q, residual, merit)
    return better


@kernel
def _falls(I: Integers, W: Floats, ratio: float) -> bool:
    """Whether the score is below `ratio` times the reference, as `rules.falls`."""
    for n in range(max(I[MANDATORY], 1)):
        new, old = W[I[SCORE] + n], W[I[SCORE_REFERENCE] + n]
        if new < ratio * old:
            return True
        if new > 0.0 or (n > 0 and old > 0.0):
            return False
    return False


@kernel
def _look_at_start(I: Integers, F: Floats, W: Floats, changed: bool) -> bool:
    """Measure the start as it is; whether its rows serve the first step.

    The errors of explicit constraints are asked first; where they are too large nothing else is.
    """
    q, worst, maps = I[Q_START], 0.0, I[MAPS] != 0
    twins = I[TWINS] if changed or maps else I[DOUBTFUL]
    if changed or maps or I[twins + ROWS] > 0 or I[OPTIONAL] != 0:
        place(I, F, W, I[ALL_JOINTS], q, VALUES)
    if I[twins + ROWS] > 0:
        if not _level_at(I, F, W, twins, VALUES):
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
            if not _level_at(I, F, W, I[LEVEL_TABLE] + LEVEL_SIZE * n, VALUES):
                return False
    residual, merit = measure(I, F, W)
    _keep(I, W, q, max(worst, residual), merit)
    return usable


@kernel
def _planned(I: Integers, F: Floats, W: Floats, q: int, mu: float, limits: int, entries: int) -> tuple[float, bool]:
    """Keep STEP within bounds and cap, and add the steps of lower levels; part that the cap left, whether any is held."""
    step, cap, held = I[STEP], F[I[THRESHOLDS] + CAP], False
    if I[IS_OPEN] == 0 or limits != I[LIMITS]:
        held = saturated(I, F, W, q, mu, limits, entries)
    part = 1.0 if squared_length(I, W, step) <= cap * cap else part_within_cap(I, F, W, step)
    if part < 1.0:
        for c in range(I[LIVE]):
            W[step + c] *= part
    if I[LEVELS] > 1:
        extended(I, F, W, q, 1 if held else 0, limits, entries)
    return part, held


@kernel
def _next(I: Integers, F: Floats, W: Floats, merit: float, holding: bool) -> tuple[float, float, bool]:
    """Move Q by the step of the rows there; its squared length, the part that the cap left, whether dofs are held."""
    options, level, q, step, before = I[THRESHOLDS], I[LEVEL_TABLE], I[Q], I[STEP], I[Q_NEXT]
    error2 = merit if I[MANDATORY] == 1 else measured(I, W, level)[0]
    mu, cap = F[options + DAMPING] * min(error2, FAR) + 1e-12, F[options + CAP]
    damped_step(I, F, W, I[level + ERROR], mu, 0)
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
        damped_step(I, F, W, I[level + ERROR], mu, 0)
        part, held = _planned(I, F, W, before, mu, I[ALIGNED_LIMITS], I[ALIGNED_ENTRIES])
        copy_to(W, before, I[NQ], q)
        moved(I, W, q, step, 1.0)
        translated(I, W, q, before, step, 1.0)
        clamped(I, F, W, I[BOX], I[BOX_LIMITS], q)
    if held or I[LEVELS] > 1:
        clamped(I, F, W, I[BOX], I[BOX_LIMITS], q)
    return squared_length(I, W, step), part, held


@kernel
def _accept(I: Integers, F: Floats, W: Floats, q: int, is_best: bool, residual: float, merit: float) -> int:
    """End of a try that satisfied the constraints; the status, or -1 where it has to go on from the best iterate."""
    nq, now, threshold = I[NQ], I[Q_NEXT], F[I[THRESHOLDS] + THRESHOLD]
    copy_to(W, q, nq, now)
    is_turned, off = turned(I, F, W, I[TURNING], I[TURNING_LIMITS], now)
    if is_turned and I[MAPS] != 0 and not resolved(I, F, W, now, VALUES):
        return UNDEFINED
    if I[COMPUTES] != 0 and not is_finite(W, now, nq):
        _forget(I, W)
        return UNDEFINED
    if I[I[DOUBTFUL] + ROWS] > 0:
        place(I, F, W, I[ALL_JOINTS], now, VALUES)
        if not _level_at(I, F, W, I[DOUBTFUL], VALUES):
            return UNDEFINED
        if not measured(I, W, I[DOUBTFUL])[1] <= threshold:
            _forget(I, W)
            return UNDEFINED
    if off > EXACT * threshold:
        if not rows_at(I, F, W, now, VALUES):
            return UNDEFINED
        residual, merit = measure(I, F, W)
        _take(I, W, now, residual, merit)
        if residual > threshold:
            return -1
    if within(I, F, W, I[UNKEPT], I[UNKEPT_LIMITS], now):
        _take(I, W, now, residual, merit)
        return CONVERGED
    if is_best:
        copy_to(W, now, nq, I[Q_BEST])
    return OUT_OF_BOUNDS


@kernel
def _descend(I: Integers, F: Floats, W: Floats, known: bool) -> int:
    """One try: damped, saturated, capped Newton steps, all accepted, until success, stall or end of budget."""
    state, q, options = I[STATE], I[Q], I[THRESHOLDS]
    half, begun = 0.5 * F[options + THRESHOLD], W[state + ITERATIONS]
    waited, cheap, holding, part = 0, False, False, 1.0
    W[I[SCORE_REFERENCE]] = inf
    caps_begun(I, F, W)
    while True:
        if not known and not rows_at(I, F, W, q, VALUES if cheap else WITH_JACOBIAN):
            return UNDEFINED
        known = False
        residual, merit = measure(I, F, W)
        if not merit < inf:
            return UNDEFINED
        is_best = _keep(I, W, q, residual, merit)
        if residual <= half:
            status = _accept(I, F, W, q, is_best, residual, merit)
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
        elif _falls(I, W, ratio):
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
        length2, part, holding = _next(I, F, W, merit, holding)
        cheap = residual < CHEAP_RESIDUAL and length2 < CHEAP_STEP2


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
        to = I[Q] if k == 0 else I[Q_NEXT]
        _draw(I, F, W, row + k, to)
        if I[SCREEN] == 1:
            return
        copy_to(W, to, I[NQ], I[Q_TRIAL])
        residual = measure(I, F, W)[0] if rows_at(I, F, W, I[Q_TRIAL], VALUES) else inf
        if k == 0:
            best = residual
        elif residual < best:
            best = residual
            copy_to(W, to, I[NQ], I[Q])


@kernel
def _is_stationary(I: Integers, F: Floats, W: Floats) -> bool:
    """Whether the projected gradient at Q is no way down."""
    level, live = I[LEVEL_TABLE], I[LIVE]
    m, J, e = I[level + ROWS], I[level + JACOBIAN], I[level + ERROR]
    limits, entries = I[LIMITS], I[ENTRIES]
    if I[I[BODIES]] > 0:
        columns_turned(I, W, I[Q], J, m)
        limits, entries = I[ALIGNED_LIMITS], I[ALIGNED_ENTRIES]
    error2, gradient2 = 0.0, 0.0
    for i in range(m):
        error2 += W[e + i] * W[e + i]
    for c in range(live):
        g = 0.0
        for i in range(m):
            g += W[J + c * m + i] * W[e + i]
        x = W[I[Q] + I[entries + c]]
        outward = (x <= F[limits + c] and g > 0.0) or (x >= F[limits + live + c] and g < 0.0)
        if not outward:
            gradient2 += g * g
    return gradient2 <= STATIONARY_RATIO * STATIONARY_RATIO * error2


@kernel
def _failure(I: Integers, F: Floats, W: Floats) -> int:
    """Status of a projection whose tries are spent: that of the best iterate, which is turned back into bounds."""
    state, best, threshold = I[STATE], I[Q_BEST], F[I[THRESHOLDS] + THRESHOLD]
    if W[state + RESIDUAL] < inf:
        is_turned, off = turned(I, F, W, I[TURNING], I[TURNING_LIMITS], best)
        if is_turned:
            if I[MAPS] != 0 and not resolved(I, F, W, best, VALUES):
                return UNDEFINED
            if off > EXACT * threshold:
                if not rows_at(I, F, W, best, VALUES):
                    return UNDEFINED
                residual, merit = measure(I, F, W)
                _take(I, W, best, residual, merit)
    if W[state + RESIDUAL] <= threshold:
        copy_to(W, I[SCORE_BEST], max(I[MANDATORY], 1), I[SCORE])
        status = _accept(I, F, W, best, True, W[state + RESIDUAL], W[state + MERIT])
        return int(W[state + STATUS]) if status < 0 else status
    if W[state + RESIDUAL] == inf or W[state + STATUS] == UNDEFINED:
        return UNDEFINED
    if I[LEVELS] > 1:
        return int(W[state + STATUS])
    copy_to(W, best, I[NQ], I[Q])
    if not rows_at(I, F, W, I[Q], WITH_JACOBIAN):
        return UNDEFINED
    return STATIONARY if _is_stationary(I, F, W) else int(W[state + STATUS])


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
def tries(I: Integers, F: Floats, W: Floats, usable: bool) -> int:
    """One try after the other until one succeeds or the budget is spent; the status."""
    state, row = I[STATE], -1
    copy_to(W, I[Q_READY], I[NQ], I[Q])
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
            return _failure(I, F, W)
        row = _check_sum(I, W) if row < 0 else row + I[SCREEN]
        W[state + ITERATIONS] += 1.0
        W[state + TRIES] += 1.0
        _restart(I, F, W, row)


@kernel
def _contains(I: Integers, F: Floats, W: Floats, q: int, is_kept: bool) -> bool:
    """Whether q is within all its bounds; those that steps keep are not asked where it is known to keep them."""
    if is_kept:
        return within(I, F, W, I[UNKEPT], I[UNKEPT_LIMITS], q)
    return within(I, F, W, I[ALL_BOUNDED], I[ALL_LIMITS], q)


@kernel
def project(I: Integers, F: Floats, W: Floats) -> int:
    """From Q_START and RHS to Q_BEST and the record of the state; the status."""
    nq, state = I[NQ], I[STATE]
    W[state + ITERATIONS], W[state + TRIES], W[state + BEST_TRY], W[state + STATUS] = 0.0, 0.0, 0.0, float(STALLED)
    _forget(I, W)
    if not run_tape(I, F, W, I[PREPARE], VALUES):
        return UNDEFINED
    ready = I[Q_READY]
    copy_to(W, I[Q_START], nq, ready)
    outside = normalised(I, W, ready)
    outside = clamped(I, F, W, I[BOX], I[BOX_LIMITS], ready) or outside
    written(I, W, I[CONSTANTS], ready)
    changed = not same_numbers(W, I[Q_START], ready, nq)
    usable = _look_at_start(I, F, W, changed)
    if W[state + RESIDUAL] <= F[I[THRESHOLDS] + THRESHOLD] and _contains(I, F, W, I[Q_START], not outside):
        return CONVERGED
    if changed or I[MAPS] != 0:
        _forget(I, W)
    return tries(I, F, W, usable)

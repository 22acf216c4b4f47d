"""One projection: its start and its tries, as `docs/solver.md` has them; of many in lanes, each by itself.

A turn evaluates the iterate, and ends the try or goes on to the next iterate: NOW in the record of the state says
which. Kernels that act on some lanes are told whose turn it is by a mask, and leave the others as they are.
"""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, as_bits, chosen, count_of, kernel, off, one_by_one
from ..tape.calls import ask_for, stopped
from ..tape.tape import run_tape
from ..tape.trees import place
from .advance import advanced
from .best import copied_where, falls, forget, keep, written_where
from .configurations import clamped, copy_to, is_point, normalised, same_numbers, turned, within
from .finish import accepted, contains, failed
from .levels import cleared, level_at, measure, rows_at
from .lower import caps_adapted, caps_begun
from .rows import measured
from .substitution import written

CHEAP_RESIDUAL, CHEAP_STEP2 = 1e-2, 0.1**2
"""As in `newton.program`."""


@kernel
def check_sum(I: Integers, numbers: Floats, first: int, stride: int) -> int:
    """CRC-32 of the bytes of a start, whose numbers are a stride apart."""
    bits, crc, table = as_bits(numbers), 0xFFFFFFFF, I[at.CRC]
    for i in range(2 * I[at.NQ]):
        crc ^= (bits[first + (i >> 1) * stride] >> (32 * (i & 1))) & 0xFFFFFFFF
        a, b = I[table + 768 + (crc & 0xFF)], I[table + 512 + ((crc >> 8) & 0xFF)]
        crc = a ^ b ^ I[table + 256 + ((crc >> 16) & 0xFF)] ^ I[table + (crc >> 24)]
    return crc ^ 0xFFFFFFFF


@kernel
def _draw(
    I: Integers, F: Floats, row: int, numbers: Floats, lane: int, stride: int, to: Floats, place_: int, by: int
) -> None:
    """Write the start in a lane of numbers, with its drawn entries from a row of the table, to a place."""
    for i in range(I[at.NQ]):
        to[place_ + i * by] = numbers[(I[at.Q_READY] + i) * stride + lane]
    drawn = I[at.DRAWN]
    table = I[at.TABLE] + (row % I[at.TABLE_ROWS]) * I[drawn]
    for n in range(I[drawn]):
        to[place_ + I[drawn + 1 + n] * by] = F[table + n]


@kernel
def _screened(I: Integers, F: Floats, W: Floats, row: int, count: int, numbers: Floats, lane: int, stride: int) -> None:
    """Write residuals of so many rows of the table into RESIDUAL_NOW, at most one in each lane of W."""
    single, width, state = one_by_one(W), count_of(W), I[at.STATE]
    for n in range(width):
        _draw(I, F, row + min(n, count - 1), numbers, lane, stride, single, I[at.Q_NEXT] * width + n, width)
        single[(state + at.WHOSE) * width + n] = float(n)
    copy_to(W, I[at.Q_NEXT], I[at.NQ], I[at.Q_TRIAL])
    ask_for(I, W, W[state + at.WHOSE] < count)
    defined = rows_at(I, F, W, I[at.Q_TRIAL], at.VALUES)
    W[state + at.RESIDUAL_NOW] = chosen(defined, measure(I, F, W)[0], inf)


@kernel
def restart(I: Integers, F: Floats, W: Floats, row: int, numbers: Floats, lane: int, stride: int, alike: bool) -> None:
    """Write the best of a few rows of the table into Q_NOW: the configuration of least residual.

    Args:
        W: memory in which they are evaluated, as many at once as it has lanes.
        row: the first of them.
        numbers, lane, stride: memory of the projection, which of its lanes that is, and how many it has.
        alike: whether a row has the same residual for all: then it is in SCREENED once it is known, NaN before.
    """
    single, width, rows, best, nearest = one_by_one(W), count_of(W), I[at.TABLE_ROWS], inf, row
    now, known = (I[at.STATE] + at.RESIDUAL_NOW) * width, I[at.SCREENED] * width
    for k in range(I[at.SCREEN] if I[at.SCREEN] > 1 else 0):
        if alike:
            here = (row + k) % rows
            first = here - here % width
            if single[known + here] != single[known + here]:
                _screened(I, F, W, first, min(width, rows - first), numbers, lane, stride)
                for n in range(min(width, rows - first)):
                    single[known + first + n] = single[now + n]
            residual = single[known + here]
        else:
            if k % width == 0:
                _screened(I, F, W, row + k, min(width, I[at.SCREEN] - k), numbers, lane, stride)
            residual = single[now + k % width]
        if k == 0 or residual < best:
            best, nearest = residual, row + k
    _draw(I, F, nearest, numbers, lane, stride, numbers, I[at.Q_NOW] * stride + lane, stride)


@kernel
def _trace(I: Integers, W: Floats, restarted: float) -> None:
    """Write the iterate down: its configuration, its residual, whether it is the first of a new try."""
    state, nq = I[at.STATE], I[at.NQ]
    row = I[at.TRACE] + int(W[state + at.TRACED]) * (nq + 2)
    copy_to(W, I[at.Q_NOW], nq, row)
    W[row + nq], W[row + nq + 1] = W[state + at.RESIDUAL_NOW], restarted
    W[state + at.TRACED] += 1.0


@kernel
def begun(I: Integers, F: Floats, W: Floats, asked: bool) -> None:
    """A new try, from Q_NOW."""
    state = I[at.STATE]
    written_where(asked, W, I[at.SCORE_REFERENCE], inf)
    for n in (at.WAITED, at.CHEAP, at.HOLDING, at.TURNED):
        written_where(asked, W, state + n, 0.0)
    written_where(asked, W, state + at.PART_LEFT, 1.0)
    written_where(asked, W, state + at.NOW, float(at.UNDECIDED))
    caps_begun(I, F, W, asked)


@kernel
def _asks_errors_alone(I: Integers, W: Floats, asked: bool) -> bool:
    """Whether errors will do for all of them."""
    return not any_of(asked & (W[I[at.STATE] + at.CHEAP] == 0.0))


@kernel
def evaluated(I: Integers, F: Floats, W: Floats, known: bool, asked: bool) -> bool:
    """First part of a turn: rows at the iterate, if not known, and their measure; where they are defined."""
    state, defined = I[at.STATE], asked
    if not known:
        what = at.VALUES if _asks_errors_alone(I, W, asked) else at.WITH_JACOBIAN
        ask_for(I, W, asked)
        defined = defined & rows_at(I, F, W, I[at.Q_NOW], what)
    residual, merit = measure(I, F, W)
    W[state + at.RESIDUAL_NOW], W[state + at.MERIT_NOW] = residual, merit
    return defined & (merit < inf)  # R25


@kernel
def _arrived(I: Integers, F: Floats, W: Floats, defined: bool) -> float:
    """Have the best iterate, and end tries that satisfy the constraints; what is NOW."""
    state, q, nq = I[at.STATE], I[at.Q_NOW], I[at.NQ]
    residual, merit = W[state + at.RESIDUAL_NOW], W[state + at.MERIT_NOW]
    is_turned = defined & (W[state + at.TURNED] != 0.0)
    is_best = keep(I, W, q, residual, merit, defined & off(is_turned))
    now = chosen(defined, float(at.UNDECIDED), float(at.UNDEFINED))
    there = defined & (W[state + at.FRESH] != 0.0) & (residual <= F[I[at.THRESHOLDS] + at.THRESHOLD])
    if any_of(there):
        there = there & within(I, F, W, I[at.UNKEPT], I[at.UNKEPT_LIMITS], q)
        now, defined = chosen(there, float(at.CONVERGED), now), defined & off(there)  # R2
    ends = defined & ((residual <= 0.5 * F[I[at.THRESHOLDS] + at.THRESHOLD]) | is_turned)  # R3
    if not any_of(ends):
        return now
    copy_to(W, q, nq, I[at.Q_NEXT])
    shifted, _ = turned(I, F, W, I[at.TURNING], I[at.TURNING_LIMITS], I[at.Q_NEXT])  # R27
    shifted = shifted & ends & off(is_turned)
    if any_of(shifted):
        copied_where(shifted, W, I[at.Q_NEXT], nq, q)
        written_where(shifted, W, state + at.CHEAP, 1.0)
    W[state + at.TURNED] = chosen(shifted, 1.0, 0.0)
    ends = ends & off(shifted)
    if not any_of(ends):
        return now
    return chosen(ends, accepted(I, F, W, q, is_best, residual, merit, is_turned, ends), now)


@kernel
def _waited(I: Integers, F: Floats, W: Floats, now: float, asked: bool) -> float:
    """End tries whose score no longer falls, and such as have no iteration left; what is NOW."""
    state, ratio, shrinking = I[at.STATE], F[I[at.THRESHOLDS] + at.STALL_RATIO], False
    if I[at.LEVELS] > 1:
        shrinking = shrinking | caps_adapted(I, F, W, asked)
    part = W[state + at.PART_LEFT]
    ratio = chosen(part != 1.0, 1.0 - part * (1.0 - ratio), ratio)  # R23
    counts = asked & off(shrinking)  # R24
    falling = counts & falls(I, W, ratio)
    copied_where(falling, W, I[at.SCORE], max(I[at.MANDATORY], 1), I[at.SCORE_REFERENCE])
    waits = counts & off(falling)
    count = chosen(falling, 0.0, chosen(waits, W[state + at.WAITED] + 1.0, W[state + at.WAITED]))
    W[state + at.WAITED] = count
    stalls = waits & (count >= I[at.STALL_COUNT])  # R22
    spent = asked & (W[state + at.ITERATIONS] >= I[at.MAX_ITERATIONS])  # R26
    return chosen(stalls, float(at.STALLED), chosen(spent, float(at.MAX_ITERATIONS_SPENT), now))


@kernel
def arrived(I: Integers, F: Floats, W: Floats, defined: bool, asked: bool) -> None:
    """End tries that satisfy the constraints, by errors alone; the others are to have a whole turn."""
    state = I[at.STATE]
    now = _arrived(I, F, W, defined)
    written_where(asked, W, state + at.NOW, now)
    written_where(asked, W, state + at.CHEAP, W[state + at.TURNED])


@kernel
def gone_on(I: Integers, F: Floats, W: Floats, defined: bool, asked: bool) -> None:
    """Second part of a turn: a try ends, or its damped, saturated, capped Newton step is taken."""
    state, without_jacobian = I[at.STATE], _asks_errors_alone(I, W, asked)
    residual = W[state + at.RESIDUAL_NOW]
    now = _arrived(I, F, W, defined)
    goes = defined & (now == at.UNDECIDED) & (W[state + at.TURNED] == 0.0)
    if any_of(goes):
        now = _waited(I, F, W, now, goes)
        goes = goes & (now == at.UNDECIDED)
    if any_of(goes) and without_jacobian:
        ask_for(I, W, goes)
        known = rows_at(I, F, W, I[at.Q_NOW], at.WITH_JACOBIAN)
        now = chosen(goes & off(known), float(at.UNDEFINED), now)
        goes = goes & known
    if any_of(goes):
        W[state + at.ITERATIONS] += chosen(goes, 1.0, 0.0)
        length2, part, held = advanced(I, F, W, W[state + at.MERIT_NOW], W[state + at.HOLDING] != 0.0, goes)
        now = chosen(goes & off(length2 < inf), float(at.UNDEFINED), now)  # R12
        cheap = (residual < CHEAP_RESIDUAL) & (length2 < CHEAP_STEP2)
        W[state + at.CHEAP] = chosen(goes, chosen(cheap, 1.0, 0.0), W[state + at.CHEAP])
        W[state + at.HOLDING] = chosen(goes, chosen(held, 1.0, 0.0), W[state + at.HOLDING])
        W[state + at.PART_LEFT] = chosen(goes, part, W[state + at.PART_LEFT])
    written_where(asked, W, state + at.NOW, now)
    W[state + at.FRESH] = 0.0


@kernel
def try_ended(I: Integers, F: Floats, W: Floats, asked: bool) -> None:
    """What comes after a try: NOW is the status of the projection, FAILS, or TRIES_AGAIN."""
    state = I[at.STATE]
    now = W[state + at.NOW]
    undefined = asked & (now == at.UNDEFINED)
    if any_of(undefined):
        cleared(I, W, undefined)
    ends = now == at.CONVERGED
    if I[I[at.LEAVING]] > 0:  # R31
        kept = within(I, F, W, I[at.LEAVING], I[at.LEAVING_LIMITS], I[at.Q_BEST])
        ends = ends | ((now == at.OUT_OF_BOUNDS) & off(kept))
    goes = asked & off(ends)
    best_try = W[state + at.BEST_TRY] == W[state + at.TRIES]
    written_where(goes & best_try, W, state + at.STATUS, now)  # R33
    again = goes & (W[state + at.ITERATIONS] < I[at.MAX_ITERATIONS])
    if I[at.RESTARTS] == 0 or I[I[at.DRAWN]] == 0:
        again = again & off(again)
    W[state + at.ITERATIONS] += chosen(again, 1.0, 0.0)
    W[state + at.TRIES] += chosen(again, 1.0, 0.0)  # R32
    W[state + at.NOW] = chosen(goes, chosen(again, float(at.TRIES_AGAIN), float(at.FAILS)), now)


@kernel
def tries(I: Integers, F: Floats, W: Floats, usable: bool) -> int:
    """From Q_NOW, one try after the other until one succeeds or the budget is spent; the status. Of one at a time."""
    state, row = I[at.STATE], -1
    begun(I, F, W, True)
    restarted = W[state + at.TRIES]
    while True:
        defined = evaluated(I, F, W, usable, True)
        usable = False
        if I[at.TRACE] != 0 and defined and W[state + at.TURNED] == 0.0:
            _trace(I, W, restarted)
            restarted = 0.0
        gone_on(I, F, W, defined, True)
        if stopped(I, W):
            return at.RAISED
        if W[state + at.NOW] == at.UNDECIDED:
            continue
        try_ended(I, F, W, True)
        if W[state + at.NOW] == at.FAILS:
            return failed(I, F, W)
        if W[state + at.NOW] != at.TRIES_AGAIN:
            return int(W[state + at.NOW])
        row = check_sum(I, W, I[at.Q_START], 1) if row < 0 else row + I[at.SCREEN]
        restart(I, F, W, row, W, 0, 1, False)
        restarted = W[state + at.TRIES]
        begun(I, F, W, True)


@kernel
def _outputs_measured(I: Integers, F: Floats, W: Floats, twins: int, worst: float, asked: bool) -> tuple[bool, float]:
    """Who of the asked has no too large error of explicit constraints; the largest of each."""
    if I[twins + at.ROWS] == 0 or not any_of(asked):
        return asked, worst
    ask_for(I, W, asked)
    known = level_at(I, F, W, twins, at.VALUES)
    largest = measured(I, W, twins)[1]
    good = asked & known & off(largest > F[I[at.THRESHOLDS] + at.THRESHOLD])
    return good, chosen(asked, largest, worst)


@kernel
def _look_at_start(I: Integers, F: Floats, W: Floats, changed: bool, asked: bool) -> bool:
    """Measure the start as it is; whether its rows serve the first step.

    The errors of explicit constraints are asked first; where they are too large nothing else is.
    """
    q, maps = I[at.Q_START], I[at.MAPS] != 0
    usable = not (any_of(changed) or maps or I[at.OPTIONAL] != 0 or count_of(W) > 1)
    if not usable or I[I[at.DOUBTFUL] + at.ROWS] > 0:
        copy_to(W, q, I[at.NQ], I[at.Q])
        place(I, F, W, I[at.ALL_JOINTS], I[at.Q], at.VALUES)
    by_all = changed | maps  # R6
    some, worst = _outputs_measured(I, F, W, I[at.TWINS], 0.0, asked & by_all)
    others, worst = _outputs_measured(I, F, W, I[at.DOUBTFUL], worst, asked & off(by_all))
    good = some | others
    if not any_of(good):
        return False
    ask_for(I, W, good)
    if usable:  # of one at a time
        usable = any_of(rows_at(I, F, W, q, at.WITH_JACOBIAN))
        ask_for(I, W, good)
    if not usable:  # or there is no Jacobian
        for n in range(I[at.MANDATORY]):
            good = good & level_at(I, F, W, I[at.LEVEL_TABLE] + at.LEVEL_SIZE * n, at.VALUES)
    if not any_of(good):
        return False
    residual, merit = measure(I, F, W)
    keep(I, W, q, max(worst, residual), merit, good)
    return usable


@kernel
def started(I: Integers, F: Floats, W: Floats, resumed: bool, looks: bool) -> bool:
    """Look at Q_START, and have where tries begin in Q_READY; whether its rows serve the first step.

    NOW is the status where it ends here. Where it is `resumed` tries begin at Q_NOW as it is. Where it does not look,
    a start that serves as first iterate is FRESH.
    """
    nq, state, ready = I[at.NQ], I[at.STATE], I[at.Q_READY]
    point = is_point(I, W, I[at.Q_START], nq)
    W[state + at.NOW] = chosen(point, float(at.UNDECIDED), float(at.NO_POINT))
    if not any_of(point):
        return False
    if not resumed:
        W[state + at.ITERATIONS], W[state + at.TRIES] = 0.0, 0.0
    W[state + at.BEST_TRY], W[state + at.STATUS], W[state + at.TRACED] = 0.0, float(at.STALLED), 0.0
    W[state + at.FRESH] = 0.0
    forget(I, W, True)
    asked = point & (W[state + at.WHOSE] >= 0.0)  # a lane without a start has a copy of another one's
    ask_for(I, W, asked)
    defined = asked & run_tape(I, F, W, I[at.PREPARE], at.VALUES)
    written_where(point & off(defined), W, state + at.NOW, float(at.UNDEFINED))
    if not any_of(defined):
        return False
    copy_to(W, I[at.Q_START], nq, ready)
    outside = normalised(I, W, ready)  # R4
    outside = clamped(I, F, W, I[at.BOX], I[at.BOX_LIMITS], ready, True) | outside
    written(I, W, I[at.CONSTANTS], ready)
    if resumed:
        return False
    changed, usable = off(same_numbers(W, I[at.Q_START], ready, nq)), False
    fresh = defined & off(changed)
    if looks or I[at.COMPUTES] != 0 or I[at.OPTIONAL] != 0:
        fresh = fresh & off(fresh)
    W[state + at.FRESH] = chosen(fresh, 1.0, 0.0)
    asked = defined & off(fresh)
    if any_of(asked):
        usable = _look_at_start(I, F, W, changed, asked)
    there = defined & (W[state + at.RESIDUAL] <= F[I[at.THRESHOLDS] + at.THRESHOLD])
    if any_of(there):
        there = there & contains(I, F, W, I[at.Q_START], off(outside))
        written_where(there, W, state + at.NOW, float(at.CONVERGED))  # R2
    if any_of(changed) or I[at.MAPS] != 0:
        forget(I, W, off(there) & (changed | (I[at.MAPS] != 0)))
    copy_to(W, ready, nq, I[at.Q_NOW])
    return usable

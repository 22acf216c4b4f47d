"""Many projections side by side: a lane that ends takes the next start at once, and no slow one holds the others."""

from __future__ import annotations

from math import nan

from ..machine import layout as at
from ..machine.jit import (
    Floats,
    Integers,
    Matrix,
    Numbers,
    Vector,
    any_of,
    count_of,
    entrance,
    floats_at,
    integers_at,
    kernel,
    lanes_at,
    off,
    one_by_one,
    taken,
    which_of,
)
from ..tape.calls import ask_for, lane_of_stop, stopped
from ..tape.tape import run_tape
from .best import written_where
from .entry import project
from .finish import failed
from .search import arrived, begun, check_sum, evaluated, gone_on, restart, started, try_ended

AT_ONCE = 16
"""Rows that a thread takes: few, so that all threads end together."""
PART, PART_OF_MANY_ROWS, MANY_ROWS = 2, 3, 8
"""Errors alone are evaluated where one lane in so many is likely to end, and the others wait: sooner where level 0 has
many rows, whose step costs much more than errors."""


@kernel
def take_sides(I: Integers, W: Floats, side: Vector) -> None:
    """Write right-hand sides into the memory, of all lanes."""
    for i in range(I[at.RHS_SIZE]):
        W[I[at.RHS] + i] = side[i]


@kernel
def _prepared(I: Integers, F: Floats, L: Floats, side: Vector) -> None:
    """Write right-hand sides into the memory, and compute what holds for all configurations."""
    take_sides(I, L, side)
    ask_for(I, L, True)
    run_tape(I, F, L, I[at.PREPARE], at.VALUES)


@kernel
def _lowest(bits: int) -> int:
    """The place of the lowest bit that is set; there is one."""
    place = 0
    while (bits >> place) & 1 == 0:
        place += 1
    return place


@kernel
def _count(bits: int) -> int:
    """How many bits are set."""
    count = 0
    while bits != 0:
        bits, count = bits & (bits - 1), count + 1
    return count


@kernel
def _put(numbers: Floats, place: int, width: int, lane: int, x: Vector) -> None:
    """Write some numbers into a lane."""
    for i in range(x.shape[0]):
        numbers[(place + i) * width + lane] = x[i]


@kernel
def _moved_over(I: Integers, a: Floats, k: int, b: Floats, l: int, width: int, place: int, count: int) -> None:
    """Copy numbers of lane k to lane l of another memory."""
    for i in range(place, place + count):
        b[i * width + l] = a[i * width + k]


@kernel
def _enters(I: Integers, a: Floats, k: int, b: Floats, l: int, width: int, sides: bool) -> None:
    """Have the projection that lane k has begun in lane l of another memory."""
    nq, levels, mandatory = I[at.NQ], I[at.LEVELS], max(I[at.MANDATORY], 1)
    if a[(I[at.STATE] + at.FRESH) * width + k] != 0.0:  # all of these are the start
        for i in range(nq):
            x = a[(I[at.Q_START] + i) * width + k]
            b[(I[at.Q_START] + i) * width + l], b[(I[at.Q_READY] + i) * width + l] = x, x
            b[(I[at.Q_NOW] + i) * width + l], b[(I[at.Q_BEST] + i) * width + l] = x, x
    else:
        for q in (at.Q_START, at.Q_READY, at.Q_NOW, at.Q_BEST):
            _moved_over(I, a, k, b, l, width, I[q], nq)
    for score in (at.SCORE_BEST, at.SCORE_REFERENCE):
        _moved_over(I, a, k, b, l, width, I[score], mandatory)
    for cap in (at.CAPS, at.RESIDUALS, at.RESIDUALS_BEFORE):
        _moved_over(I, a, k, b, l, width, I[cap], levels)
    _moved_over(I, a, k, b, l, width, I[at.STATE], at.STATE_SIZE)
    if sides:
        _moved_over(I, a, k, b, l, width, I[at.RHS], I[at.RHS_SIZE])


@kernel
def _written_down(
    I: Integers, a: Floats, lane: int, width: int, row: int, status: int, ends: Matrix, figures: Matrix
) -> None:
    """Write the result of a row."""
    state = I[at.STATE]
    for i in range(I[at.NQ]):
        ends[row, i] = a[(I[at.Q_BEST] + i) * width + lane]
    figures[row, 0] = float(status)
    figures[row, 1] = a[(state + at.ITERATIONS) * width + lane]
    figures[row, 2] = a[(state + at.TRIES) * width + lane]
    figures[row, 3] = a[(state + at.RESIDUAL) * width + lane]


@kernel
def _made_ready(
    I: Integers,
    F: Floats,
    V: Floats,
    first: int,
    end: int,
    starts: Matrix,
    sides: Matrix,
    ends: Matrix,
    figures: Matrix,
    looks: bool,
) -> int:
    """Make starts ready from a row on, as many as there are lanes: such as end here are written down, the others wait.

    Which lanes these are, as bits. Where it does not look, starts that serve as first iterates all wait (`started`).
    """
    numbers, width, waiting, last = one_by_one(V), count_of(V), 0, end - 1
    for k in range(width):
        row = min(first + k, last)
        _put(numbers, I[at.Q_START], width, k, starts[row])
        if sides.shape[0] > 1:
            _put(numbers, I[at.RHS], width, k, sides[row])
        numbers[(I[at.STATE] + at.WHOSE) * width + k] = float(first + k) if first + k < end else -1.0
    started(I, F, V, False, looks)
    if stopped(I, V):
        figures[min(first + lane_of_stop(I, V), last), 0] = float(at.RAISED)
        return 0
    to = I[at.STATE] * width
    for k in range(min(width, end - first)):
        now = int(numbers[to + at.NOW * width + k])
        if now == at.UNDECIDED:
            waiting |= 1 << k
        else:
            _written_down(I, numbers, k, width, first + k, now, ends, figures)
        numbers[to + at.DRAW * width + k] = -1.0
    begun(I, F, V, True)
    return waiting


@kernel
def _turn(I: Integers, F: Floats, L: Floats, asked: bool) -> tuple[bool, bool]:
    """A turn of who is asked; or, where enough of them are likely to end, errors alone of these.

    Who is to be begun anew by itself: its start was not looked at, and has no Jacobian, but perhaps a value. And
    whether a start is a solution.
    """
    state, part = I[at.STATE], PART if I[I[at.LEVEL_TABLE] + at.ROWS] <= MANY_ROWS else PART_OF_MANY_ROWS
    near, fresh = asked & (L[state + at.CHEAP] != 0.0), asked & (L[state + at.FRESH] != 0.0)
    if part * _count(which_of(near)) >= count_of(L):
        arrived(I, F, L, evaluated(I, F, L, False, near), near)
        return near & off(near), False
    defined = evaluated(I, F, L, False, asked)
    gone_on(I, F, L, defined, asked)
    alone = fresh & off(defined)
    if I[at.CALLS] == 0:  # whoever has a value has a Jacobian
        alone = alone & off(alone)
    return alone, any_of(fresh & (L[state + at.NOW] == at.CONVERGED))


@kernel
def _ended(
    I: Integers, F: Floats, W: Floats, L: Floats, U: Floats, l: int, sides: Matrix, ends: Matrix, figures: Matrix
) -> bool:
    """What comes after the try of a lane: a restart, or the end of its row, which is written down; whether it ends."""
    numbers, width, state = one_by_one(L), count_of(L), I[at.STATE]
    alike = I[at.SCREENED] != 0 and I[at.CALLS] == 0 and sides.shape[0] == 1
    row, now = int(numbers[(state + at.WHOSE) * width + l]), int(numbers[(state + at.NOW) * width + l])
    if now == at.TRIES_AGAIN:
        draw = (state + at.DRAW) * width + l
        first = int(numbers[draw]) + I[at.SCREEN]
        if numbers[draw] < 0.0:
            first = check_sum(I, numbers, I[at.Q_START] * width + l, width)
        numbers[draw] = float(first)
        if sides.shape[0] > 1:
            take_sides(I, U, sides[row])
            ask_for(I, U, True)
            run_tape(I, F, U, I[at.PREPARE], at.VALUES)
        restart(I, F, U, first, numbers, l, width, alike)
        if stopped(I, U):
            figures[row, 0] = float(at.RAISED)
        return False
    if now == at.FAILS or now == at.ALONE:
        for i in range(I[at.SIZE]):
            W[i] = numbers[i * width + l]
        now = failed(I, F, W) if now == at.FAILS else project(I, F, W)
        if stopped(I, W):
            now = at.RAISED
        _written_down(I, W, 0, 1, row, now, ends, figures)
    else:
        _written_down(I, numbers, l, width, row, now, ends, figures)
    numbers[(state + at.WHOSE) * width + l] = -1.0
    if now != at.CONVERGED:  # nobody's, and finite
        for i in range(I[at.NQ]):
            numbers[(I[at.Q_NOW] + i) * width + l] = numbers[(I[at.Q_READY] + i) * width + l]
    return True


@kernel
def _all_ended(
    I: Integers,
    F: Floats,
    W: Floats,
    L: Floats,
    U: Floats,
    over: bool,
    alone: bool,
    sides: Matrix,
    ends: Matrix,
    figures: Matrix,
) -> int:
    """What comes after the tries that are over; the lanes whose rows end with them, as bits."""
    try_ended(I, F, L, over)
    written_where(alone, L, I[at.STATE] + at.NOW, float(at.ALONE))
    ended, lanes = 0, which_of(over)
    for l in range(count_of(L)):
        goes_on = not (stopped(I, U) or stopped(I, W))
        if (lanes >> l) & 1 != 0 and goes_on and _ended(I, F, W, L, U, l, sides, ends, figures):
            ended |= 1 << l
    begun(I, F, L, over)
    return ended


@kernel
def project_in_lanes(
    I: Integers,
    F: Floats,
    W: Floats,
    L: Floats,
    V: Floats,
    U: Floats,
    turn: Integers,
    starts: Matrix,
    sides: Matrix,
    ends: Matrix,
    figures: Matrix,
) -> None:
    """Project rows until nobody has any left, each as `project` does.

    Args:
        W: memory of one projection, in which such as fail end.
        L: memory in lanes, of the projections on their way.
        V: the same, of starts that are looked at.
        U: the same, of what restarts draw.
        turn: the first row that nobody has taken.
        starts, sides, ends, figures: as of `project_rows`.
    """
    numbers, ahead, width, state = one_by_one(L), one_by_one(V), count_of(L), I[at.STATE]
    full, busy, waiting, first, end, rows = (1 << width) - 1, 0, 0, 0, 0, starts.shape[0]
    take_sides(I, V, sides[0])
    _prepared(I, F, L, sides[0])
    _prepared(I, F, U, sides[0])
    L[state + at.WHOSE], none_left, looks = -1.0, False, False
    for i in range(-(-I[at.TABLE_ROWS] // width) if I[at.SCREENED] != 0 else 0):
        U[I[at.SCREENED] + i] = nan
    while not (stopped(I, L) or stopped(I, V) or stopped(I, U) or stopped(I, W)):
        entered = False
        while busy != full:
            if waiting == 0:
                if first >= end and not none_left:
                    first = taken(turn, AT_ONCE)
                    end = min(first + AT_ONCE, rows)
                    none_left = first >= end
                if first >= end:
                    break
                count = min(width, end - first)
                waiting = _made_ready(I, F, V, first, end, starts, sides, ends, figures, looks)
                looks = _count(waiting) < count
                first += count
                if stopped(I, V):
                    return
                continue
            k, l = _lowest(waiting), _lowest(~busy)
            _enters(I, ahead, k, numbers, l, width, sides.shape[0] > 1)
            waiting, busy, entered = waiting & ~(1 << k), busy | (1 << l), True
        if busy == 0:
            return
        asked = L[state + at.WHOSE] >= 0.0
        if entered and sides.shape[0] > 1:
            ask_for(I, L, asked)
            run_tape(I, F, L, I[at.PREPARE], at.VALUES)
        alone, solved = _turn(I, F, L, asked)
        looks = looks or solved
        if stopped(I, L):
            figures[int(numbers[(state + at.WHOSE) * width + lane_of_stop(I, L)]), 0] = float(at.RAISED)
            return
        over = asked & (L[state + at.NOW] != at.UNDECIDED)
        if any_of(over):
            busy = busy & ~_all_ended(I, F, W, L, U, over, alone, sides, ends, figures)


@entrance
def project_rows(
    where: Numbers, next_row: Numbers, starts: Matrix, sides: Matrix, ends: Matrix, figures: Matrix
) -> None:
    """Project many configurations side by side until nobody has any left: each as `project_row` does, bit for bit.

    Args:
        where: as there, then three memories of this worker in lanes (`jit.in_lanes`).
        next_row: `places` of an integer (1,), the first row that nobody has taken; threads share it, and all below.
        starts: (n, nq).
        sides: right-hand sides, (n, size), or (1, size) for all.
        ends: (n, nq), to be filled.
        figures: (n, 4), to be filled: status, iterations, restarts, residual.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    L, V, U = lanes_at(where[3]), lanes_at(where[4]), lanes_at(where[5])
    if starts.shape[0] > 0:
        project_in_lanes(I, F, W, L, V, U, integers_at(next_row[0]), starts, sides, ends, figures)

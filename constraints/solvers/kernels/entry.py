"""The kernel that Python calls."""

from __future__ import annotations

from math import nan, sqrt

from .configurations import is_point
from .jit import Floats, Integers, Matrix, Numbers, Vector, entrance, floats_at, integers_at, kernel, taken
from .layout import (
    ERROR,
    FINAL_JOINTS,
    HAS_READER,
    HAS_SOURCE,
    ITERATIONS,
    JACOBIAN,
    LEVEL_SIZE,
    LEVEL_TABLE,
    LEVELS,
    LIVE,
    NO_POINT,
    NQ,
    PREPARE,
    Q_BEST,
    Q_START,
    Q_TRIAL,
    RESIDUAL,
    RHS,
    RHS_SIZE,
    ROWS,
    STATE,
    TAPE,
    TRIES,
    VALUES,
    WITH_JACOBIAN,
    Q,
)
from .levels import measure, rows_at
from .search import project
from .tape import run_tape
from .trees import place

AT_ONCE = 16
"""Rows that a thread takes: few, so that all threads end together."""
UNIT = 1e-15
"""As in `Evaluation.reader`."""


@kernel
def _row(I: Integers, F: Floats, W: Floats, start: Vector, end: Vector) -> int:
    """Project one configuration; the status."""
    for i in range(I[NQ]):
        W[I[Q_START] + i] = start[i]
    status = project(I, F, W)
    for i in range(I[NQ]):
        end[i] = W[I[Q_BEST] + i]
    return status


@kernel
def _take_sides(I: Integers, W: Floats, side: Vector) -> None:
    """Write right-hand sides into the memory."""
    for i in range(I[RHS_SIZE]):
        W[I[RHS] + i] = side[i]


@entrance
def project_row(where: Numbers, start: Vector, end: Vector) -> tuple[int, int, int, float]:
    """Project one configuration, with the right-hand sides that are in the memory.

    Args:
        where: the packed problem and the memory of this worker: `places` of them.
        start: (nq,).
        end: (nq,), to be filled.

    Returns:
        Status, iterations, restarts, residual.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    status, state = _row(I, F, W, start, end), I[STATE]
    return status, int(W[state + ITERATIONS]), int(W[state + TRIES]), W[state + RESIDUAL]


@entrance
def project_rows(
    where: Numbers, next_row: Numbers, starts: Matrix, sides: Matrix, ends: Matrix, figures: Matrix
) -> None:
    """Project many configurations, a few after each other until nobody has any left: each as `project_row` does.

    Args:
        where: as there.
        next_row: `places` of an integer (1,), the first row that nobody has taken; threads share it, and all below.
        starts: (n, nq).
        sides: right-hand sides, (n, size), or (1, size) for all.
        ends: (n, nq), to be filled.
        figures: (n, 4), to be filled: status, iterations, restarts, residual.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    state, turn, count = I[STATE], integers_at(next_row[0]), starts.shape[0]
    first = taken(turn, AT_ONCE)
    if first < count and sides.shape[0] == 1:
        _take_sides(I, W, sides[0])
    while first < count:
        for n in range(first, min(first + AT_ONCE, count)):
            if sides.shape[0] > 1:
                _take_sides(I, W, sides[n])
            figures[n, 0] = float(_row(I, F, W, starts[n], ends[n]))
            figures[n, 1], figures[n, 2], figures[n, 3] = W[state + ITERATIONS], W[state + TRIES], W[state + RESIDUAL]
        first = taken(turn, AT_ONCE)


@entrance
def rows_of(where: Numbers, errors: Vector, jacobian: Matrix) -> bool:
    """Errors of all levels, and their reduced Jacobian, at the configuration and right-hand sides in the memory.

    Args:
        where: as for `project_row`; the configuration is at Q_TRIAL, where computed outputs are written to.
        errors: (rows,), to be filled.
        jacobian: (rows, live columns), to be filled; without rows it is not asked for.

    Returns:
        False where a function has no value.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    asked = WITH_JACOBIAN if jacobian.shape[0] > 0 else VALUES
    if not (run_tape(I, F, W, I[PREPARE], VALUES) and rows_at(I, F, W, I[Q_TRIAL], asked)):
        return False
    row = 0
    for n in range(I[LEVELS]):
        level = I[LEVEL_TABLE] + LEVEL_SIZE * n
        for i in range(I[level + ROWS]):
            errors[row] = W[I[level + ERROR] + i]
            if asked != 0:
                for c in range(I[LIVE]):
                    jacobian[row, c] = W[I[level + JACOBIAN] + c * I[level + ROWS] + i]
            row += 1
    return True


@kernel
def _read(I: Integers, F: Floats, W: Floats, table: Integers, q: Vector, side: Vector) -> bool:
    """Entries of the values at a configuration, by a table of `read_values`; False where a function has no value."""
    for i in range(I[NQ]):
        W[I[Q] + i] = q[i]
    place(I, F, W, I[FINAL_JOINTS], I[Q], VALUES)
    for n in range(I[LEVELS]):
        if not run_tape(I, F, W, I[I[LEVEL_TABLE] + LEVEL_SIZE * n + TAPE], VALUES):
            return False
    count = table[0]
    for n in range(count):
        side[table[2 + 2 * n]] = W[table[1 + 2 * n]]
    blocks = 1 + 2 * count
    for n in range(table[blocks]):
        first, size, length2 = table[blocks + 1 + 2 * n], table[blocks + 2 + 2 * n], 0.0
        for i in range(first, first + size):
            length2 += side[i] * side[i]
        length = sqrt(length2)
        if not abs(length - 1.0) <= UNIT:
            for i in range(first, first + size):
                side[i] /= length
    return True


@entrance
def read_values(where: Numbers, q: Vector, side: Vector) -> bool:
    """Write entries of the values of constraints at a configuration into right-hand sides.

    Args:
        where: `places` of the packed constraints, of the memory of this worker, and of a table: count, then (at in W,
            entry of the right-hand sides) of each number; count, then (first, size) of blocks of unit norm in these.
        q: (nq,).
        side: right-hand sides, to be filled.

    Returns:
        False where a function has no value.
    """
    return _read(
        integers_at(where[0]), floats_at(where[1]), floats_at(where[2]), integers_at(where[3]), q, side
    )


@kernel
def _residual_at(I: Integers, F: Floats, W: Floats, q: Vector) -> float:
    """Largest error norm of a constraint at a configuration, nothing resolved; NaN where a function has no value."""
    for i in range(I[NQ]):
        W[I[Q_TRIAL] + i] = q[i]
    return measure(I, F, W)[0] if rows_at(I, F, W, I[Q_TRIAL], VALUES) else nan


@entrance
def project_from_leaf(
    where: Numbers, asked: int, limit: float, leaf: Vector, start: Vector, side: Vector, end: Vector
) -> tuple[int, int, int, float]:
    """Project one configuration onto the leaf of another one, on which constraints must hold.

    Args:
        where: as for `project_row`; then the constraints that must hold, as for `rows_of`, and what reads right-hand
            sides, as for `read_values`.
        asked: HAS_SOURCE where there are such constraints, and HAS_READER where anything is read.
        limit: largest error of the constraints that must hold.
        leaf: (nq,), on the leaf.
        start: (nq,).
        side: right-hand sides, to be filled.
        end: (nq,), to be filled.

    Returns:
        Status, iterations, restarts, residual. NO_POINT: one of the two is no point, the constraints do not hold on the
        leaf, or a function has no value there.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    if leaf.shape[0] != I[NQ] or start.shape[0] != I[NQ]:
        return NO_POINT, 0, 0, 0.0
    for i in range(I[NQ]):
        W[I[Q_TRIAL] + i] = leaf[i]
    if not is_point(I, W, I[Q_TRIAL], I[NQ]):
        return NO_POINT, 0, 0, 0.0
    if asked & HAS_SOURCE != 0:
        if not _residual_at(integers_at(where[3]), floats_at(where[4]), floats_at(where[5]), leaf) <= limit:
            return NO_POINT, 0, 0, 0.0
    if asked & HAS_READER != 0:
        others = integers_at(where[6]), floats_at(where[7]), floats_at(where[8])
        if not _read(others[0], others[1], others[2], integers_at(where[9]), leaf, side):
            return NO_POINT, 0, 0, 0.0
    _take_sides(I, W, side)
    status, state = _row(I, F, W, start, end), I[STATE]
    return status, int(W[state + ITERATIONS]), int(W[state + TRIES]), W[state + RESIDUAL]

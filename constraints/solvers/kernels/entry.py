"""The kernel that Python calls."""

from __future__ import annotations

from .jit import Floats, Integers, Matrix, Numbers, Vector, entrance, floats_at, integers_at, kernel, taken
from .layout import (
    ERROR,
    ITERATIONS,
    JACOBIAN,
    LEVEL_SIZE,
    LEVEL_TABLE,
    LEVELS,
    LIVE,
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
    TRIES,
    VALUES,
    WITH_JACOBIAN,
)
from .levels import rows_at
from .search import project
from .tape import run_tape

AT_ONCE = 16
"""Rows that a thread takes: few, so that all threads end together."""


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

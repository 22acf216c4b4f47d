"""The kernel that Python calls."""

from __future__ import annotations

from .jit import Floats, Integers, Matrix, Numbers, Vector, entrance, floats_at, integers_at, kernel
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


@kernel
def _row(I: Integers, F: Floats, W: Floats, start: Vector, end: Vector) -> int:
    """Project one configuration; the status."""
    for i in range(I[NQ]):
        W[I[Q_START] + i] = start[i]
    status = project(I, F, W)
    for i in range(I[NQ]):
        end[i] = W[I[Q_BEST] + i]
    return status


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
def project_rows(where: Numbers, starts: Matrix, sides: Matrix, ends: Matrix, figures: Matrix) -> None:
    """Project many configurations, one after the other: each as `project_row`, bit for bit.

    Args:
        where: as there.
        starts: (n, nq).
        sides: right-hand sides, (n, size), or (1, size) for all.
        ends: (n, nq), to be filled.
        figures: (n, 4), to be filled: status, iterations, restarts, residual.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    state = I[STATE]
    for n in range(starts.shape[0]):
        if n < sides.shape[0]:
            for i in range(I[RHS_SIZE]):
                W[I[RHS] + i] = sides[n, i]
        figures[n, 0] = float(_row(I, F, W, starts[n], ends[n]))
        figures[n, 1], figures[n, 2], figures[n, 3] = W[state + ITERATIONS], W[state + TRIES], W[state + RESIDUAL]


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

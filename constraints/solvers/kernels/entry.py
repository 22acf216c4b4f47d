"""The kernel that Python calls."""

from __future__ import annotations

from .jit import Matrix, Numbers, Vector, address, entrance
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


@entrance
def project_row(
    integers: Numbers, floats: Vector, work: Vector, start: Vector, side: Vector, end: Vector
) -> tuple[int, int, int, float]:
    """Project one configuration.

    Args:
        integers, floats: the packed problem.
        work: memory of this worker.
        start: (nq,).
        side: right-hand sides (size,); none where they are those of the last call with this memory.
        end: (nq,), to be filled.

    Returns:
        Status, iterations, restarts, residual.
    """
    I, F, W = address(integers), address(floats), address(work)
    state = I[STATE]
    for i in range(I[NQ]):
        W[I[Q_START] + i] = start[i]
    for i in range(side.shape[0]):
        W[I[RHS] + i] = side[i]
    status = project(I, F, W)
    for i in range(I[NQ]):
        end[i] = W[I[Q_BEST] + i]
    return status, int(W[state + ITERATIONS]), int(W[state + TRIES]), W[state + RESIDUAL]


@entrance
def project_rows(
    integers: Numbers, floats: Vector, work: Vector, starts: Matrix, sides: Matrix, ends: Matrix, figures: Matrix
) -> None:
    """Project many configurations, one after the other: each as `project_row`, bit for bit.

    Args:
        integers, floats, work: as there.
        starts: (n, nq).
        sides: right-hand sides, (n, size), or (1, size) for all.
        ends: (n, nq), to be filled.
        figures: (n, 4), to be filled: status, iterations, restarts, residual.
    """
    nothing = sides[0, :0]
    for n in range(starts.shape[0]):
        side = sides[n] if n < sides.shape[0] else nothing
        status, iterations, restarts, residual = project_row(integers, floats, work, starts[n], side, ends[n])
        figures[n, 0], figures[n, 1], figures[n, 2], figures[n, 3] = status, iterations, restarts, residual


@entrance
def rows_of(
    integers: Numbers, floats: Vector, work: Vector, q: Vector, rhs: Vector, errors: Vector, jacobian: Matrix
) -> bool:
    """Errors of all levels at a configuration, outputs computed, and their reduced Jacobian.

    Args:
        integers, floats, work: as for `project_rows`.
        q: configuration (nq,); computed outputs are written into it.
        rhs: right-hand sides (size,).
        errors: (rows,), to be filled.
        jacobian: (rows, live columns), to be filled; without rows it is not asked for.

    Returns:
        False where a function has no value.
    """
    I, F, W = address(integers), address(floats), address(work)
    for i in range(I[RHS_SIZE]):
        W[I[RHS] + i] = rhs[i]
    for i in range(I[NQ]):
        W[I[Q_TRIAL] + i] = q[i]
    asked = WITH_JACOBIAN if jacobian.shape[0] > 0 else VALUES
    if not (run_tape(I, F, W, I[PREPARE], VALUES) and rows_at(I, F, W, I[Q_TRIAL], asked)):
        return False
    for i in range(I[NQ]):
        q[i] = W[I[Q_TRIAL] + i]
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

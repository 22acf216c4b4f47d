"""What Python calls to evaluate: rows of constraints, their residuals, leaves of a configuration."""

from __future__ import annotations

from math import sqrt

from ..machine import layout as at
from ..machine.jit import Floats, Integers, Matrix, Numbers, Vector, entrance, floats_at, integers_at, kernel
from ..tape.calls import ask_for
from ..tape.tape import run_tape
from ..tape.trees import place
from .configurations import is_point
from .levels import measure, rows_at

UNIT_OF_READER = 1e-15
"""As in `ValueReader.read`."""


@kernel
def _read(I: Integers, F: Floats, W: Floats, table: Integers, to: Floats, side: int) -> bool:
    """Write entries of the values at Q_TRIAL into right-hand sides; False where a function has no value."""
    for i in range(I[at.NQ]):
        W[I[at.Q] + i] = W[I[at.Q_TRIAL] + i]
    place(I, F, W, I[at.FINAL_JOINTS], I[at.Q], at.VALUES)
    ask_for(I, W, True)
    for n in range(I[at.LEVELS]):
        if not run_tape(I, F, W, I[I[at.LEVEL_TABLE] + at.LEVEL_SIZE * n + at.TAPE], at.VALUES):
            return False
    count = table[1]
    for n in range(count):
        to[side + table[3 + 2 * n]] = W[table[2 + 2 * n]]
    blocks = 2 + 2 * count
    for n in range(table[blocks]):
        first, size, length2 = side + table[blocks + 1 + 2 * n], table[blocks + 2 + 2 * n], 0.0
        for i in range(first, first + size):
            length2 += to[i] * to[i]
        length = sqrt(length2)
        if not abs(length - 1.0) <= UNIT_OF_READER:
            for i in range(first, first + size):
                to[i] /= length
    return True


@kernel
def _copy_leaf(leaf: Floats, I: Integers, W: Floats) -> None:
    """Write the configuration of a leaf to Q_TRIAL."""
    for i in range(I[at.NQ]):
        W[I[at.Q_TRIAL] + i] = leaf[1 + i]


@entrance
def on_leaf(where: Numbers) -> bool:
    """Check the leaf of a configuration, and read right-hand sides of a problem there into its memory.

    Args:
        where: `places` of the packed problem and the memory of this worker, of constraints that must hold on the leaf
            (as for `rows_of`), of constraints whose values are read there, of a table, and of the leaf: largest error
            of the former, configuration (nq,). The table: which of the two there are; count, then (at in W of a value,
            entry of the right-hand sides) of what is read; count, then (first entry, size) of blocks of unit norm
            among these.

    Returns:
        False where the configuration is no point, the constraints do not hold there, or a function has no value.
    """
    I, W = integers_at(where[0]), floats_at(where[2])
    table, leaf = integers_at(where[9]), floats_at(where[10])
    _copy_leaf(leaf, I, W)
    if not is_point(I, W, I[at.Q_TRIAL], I[at.NQ]):
        return False
    if table[0] & at.HAS_SOURCE != 0:
        Is, Fs, Ws = integers_at(where[3]), floats_at(where[4]), floats_at(where[5])
        _copy_leaf(leaf, Is, Ws)
        ask_for(Is, Ws, True)
        if not (rows_at(Is, Fs, Ws, Is[at.Q_TRIAL], at.VALUES) and measure(Is, Fs, Ws)[0] <= leaf[0]):
            return False
    if table[0] & at.HAS_READER != 0:
        Ir, Fr, Wr = integers_at(where[6]), floats_at(where[7]), floats_at(where[8])
        _copy_leaf(leaf, Ir, Wr)
        return _read(Ir, Fr, Wr, table, W, I[at.RHS])
    return True


@kernel
def _rows_into(I: Integers, F: Floats, W: Floats, errors: Vector, jacobian: Matrix, first: int, asked: int) -> bool:
    """Errors and Jacobian of all levels at Q_TRIAL, from a row on; False where a function has no value."""
    ask_for(I, W, True)
    if not rows_at(I, F, W, I[at.Q_TRIAL], asked):
        return False
    row = first
    for n in range(I[at.LEVELS]):
        level = I[at.LEVEL_TABLE] + at.LEVEL_SIZE * n
        for i in range(I[level + at.ROWS]):
            errors[row] = W[I[level + at.ERROR] + i]
            if asked != at.VALUES:
                for c in range(I[at.LIVE]):
                    jacobian[row, c] = W[I[level + at.JACOBIAN] + c * I[level + at.ROWS] + i]
            row += 1
    return True


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
    asked = at.WITH_JACOBIAN if jacobian.shape[0] > 0 else at.VALUES
    ask_for(I, W, True)
    return run_tape(I, F, W, I[at.PREPARE], at.VALUES) and _rows_into(I, F, W, errors, jacobian, 0, asked)


@entrance
def rows_of_many(where: Numbers, Q: Matrix, errors: Vector, jacobians: Matrix) -> bool:
    """As `rows_of`, at many configurations, one after the other.

    Args:
        where: as for `rows_of`.
        Q: configurations (n, nq).
        errors: (n rows,), to be filled.
        jacobians: (n rows, live columns), to be filled.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    ask_for(I, W, True)
    if not run_tape(I, F, W, I[at.PREPARE], at.VALUES):
        return False
    rows = errors.size // max(Q.shape[0], 1)
    for n in range(Q.shape[0]):
        for i in range(I[at.NQ]):
            W[I[at.Q_TRIAL] + i] = Q[n, i]
        if not _rows_into(I, F, W, errors, jacobians, n * rows, at.WITH_JACOBIAN):
            return False
    return True


@entrance
def residuals_of(where: Numbers, Q: Matrix, residuals: Vector) -> int:
    """Largest error norm of a constraint at many configurations, with the right-hand sides in the memory.

    Args:
        where: as for `rows_of`.
        Q: configurations (n, nq).
        residuals: (n,), to be filled.

    Returns:
        The row where a function has no value; n where there is none.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    ask_for(I, W, True)
    if not run_tape(I, F, W, I[at.PREPARE], at.VALUES):
        return 0
    for n in range(Q.shape[0]):
        for i in range(I[at.NQ]):
            W[I[at.Q_TRIAL] + i] = Q[n, i]
        ask_for(I, W, True)
        if not rows_at(I, F, W, I[at.Q_TRIAL], at.VALUES):
            return n
        residuals[n] = measure(I, F, W)[0]
    return Q.shape[0]

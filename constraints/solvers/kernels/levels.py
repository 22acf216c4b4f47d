"""The rows of all levels at a configuration, and their measure."""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel, off
from ..tape.tape import run_tape
from ..tape.trees import place
from .configurations import copy_to, is_finite
from .rows import measured, set_apart, write_rows
from .substitution import reduced, resolved


@kernel
def level_at(I: Integers, F: Floats, W: Floats, level: int, jacobian: int) -> bool:
    """The rows of one level, joints being placed."""
    if jacobian != 0 and I[level + at.CLEARED] != 0:
        for i in range(I[level + at.ROWS] * (I[at.LIVE] + I[at.COMPUTED])):
            W[I[level + at.JACOBIAN] + i] = 0.0
    defined = run_tape(I, F, W, I[level + at.TAPE], jacobian)
    if not any_of(defined):
        return defined
    write_rows(I, F, W, level, jacobian)
    if jacobian != 0 and I[at.MAPS] != 0:
        reduced(I, W, level)
    if jacobian != 0 and I[level + at.ONE_SIDED] != 0:
        set_apart(I, W, level)
    return defined


@kernel
def _emptied(I: Integers, W: Floats, level: int, empty: bool) -> None:
    """Neither errors nor a Jacobian: an optional level where it has no value."""
    for i in range(I[level + at.ROWS]):
        o = I[level + at.ERROR] + i
        W[o] = chosen(empty, 0.0, W[o])
    for i in range(I[level + at.ROWS] * (I[at.LIVE] + I[at.COMPUTED])):
        o = I[level + at.JACOBIAN] + i
        W[o] = chosen(empty, 0.0, W[o])


@kernel
def _is_finite_level(I: Integers, W: Floats, level: int, jacobian: int) -> bool:
    """Whether all numbers of a level are finite."""
    m = I[level + at.ROWS]
    finite = is_finite(W, I[level + at.ERROR], m)
    if jacobian != 0:
        finite = finite & is_finite(W, I[level + at.JACOBIAN], m * I[at.LIVE])
    return finite


@kernel
def rows_at(I: Integers, F: Floats, W: Floats, q: int, jacobian: int) -> bool:
    """Resolve q, and evaluate the rows of all levels there; False where a function has no value."""
    defined = True
    if I[at.MAPS] == 0:
        copy_to(W, q, I[at.NQ], I[at.Q])
    else:
        defined = defined & resolved(I, F, W, q, jacobian)  # R5
        if not any_of(defined):
            return defined
    place(I, F, W, I[at.FINAL_JOINTS], I[at.Q], jacobian)
    for n in range(I[at.LEVELS]):
        level = I[at.LEVEL_TABLE] + at.LEVEL_SIZE * n
        known = level_at(I, F, W, level, jacobian)
        if n < I[at.MANDATORY]:
            defined = defined & known
            if not any_of(defined):
                return defined
        else:
            empty = off(known & _is_finite_level(I, W, level, jacobian))  # R35
            if any_of(empty):
                _emptied(I, W, level, empty)
    return defined


@kernel
def cleared(I: Integers, W: Floats, asked: bool) -> None:
    """Jacobians as they were at first, where one was evaluated without a value: NaN times zero would stay in them."""
    table = I[at.JACOBIANS]
    for n in range(I[table]):
        first = I[table + 1 + 2 * n]
        for i in range(first, first + I[table + 2 + 2 * n]):
            W[i] = chosen(asked, 0.0, W[i])


@kernel
def measure(I: Integers, F: Floats, W: Floats) -> tuple[float, float]:
    """Write the score of each mandatory level; residual and merit."""
    count, half = I[at.MANDATORY], 0.5 * F[I[at.THRESHOLDS] + at.THRESHOLD]
    residual, merit = 0.0, 0.0
    for n in range(count):
        m, r = measured(I, W, I[at.LEVEL_TABLE] + at.LEVEL_SIZE * n)
        W[I[at.SCORE] + n] = r if count == 1 else chosen(r > half, r, 0.0)
        residual, merit = max(residual, r), merit + m
    if count == 0:
        W[I[at.SCORE]] = 0.0
    return residual, merit

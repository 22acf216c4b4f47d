"""Functions that are no kernels: called at an address, one configuration after the other."""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, called_at, chosen, count_of, kernel, one_by_one, which_of


@kernel
def ask_for(I: Integers, W: Floats, asked: bool) -> None:
    """Say for whom functions are called from now on: others are not evaluated, as they would be by Python."""
    if I[at.CALLS] != 0:
        W[I[at.CALLS] + at.MAY_CALL] = chosen(asked, 1.0, 0.0)


@kernel
def ask_no_more(I: Integers, W: Floats, defined: bool) -> None:
    """Call nothing more for whom a function had no value, until somebody is asked for again."""
    if I[at.CALLS] != 0:
        o = I[at.CALLS] + at.MAY_CALL
        W[o] = chosen(defined, W[o], 0.0)


@kernel
def stopped(I: Integers, W: Floats) -> bool:
    """Whether a function raised something: then nothing is called any more in this memory."""
    return I[at.CALLS] != 0 and one_by_one(W)[(I[at.CALLS] + at.STOPPED) * count_of(W)] != 0.0


@kernel
def lane_of_stop(I: Integers, W: Floats) -> int:
    """In whose lane that was."""
    return int(one_by_one(W)[(I[at.CALLS] + at.STOPPED) * count_of(W)]) - 1


@kernel
def _called_in(I: Integers, numbers: Floats, r: int, jacobian: int, lane: int, width: int) -> bool:
    """Call the function of an instruction for one lane; whether it has a value.

    [A]: what is called, a table; [B]: its memory, one piece of numbers for whatever lane: argument, value, Jacobian.
    """
    t, x, calls = I[r + at.A], I[r + at.B] * width, I[at.CALLS]
    nx, ny, rows, own = I[t + at.X_SIZE], I[t + at.Y_SIZE], I[t + at.J_ROWS], I[t + at.J_COLUMNS]
    y = x + nx
    J = y + ny
    for i in range(nx):
        numbers[x + i] = numbers[(I[r + at.X] + i) * width + lane]
    asked = -1 if jacobian == 0 else J
    code = called_at(I[t + at.ADDRESS], numbers, x, nx, y, ny, asked, rows * own)
    if code != I[t + at.HAS_VALUE]:
        if code != I[t + at.HAS_VALUE] + 1:
            numbers[(calls + at.STOPPED) * width] = float(1 + lane)
            numbers[(calls + at.CODE) * width] = float(code)
            numbers[(calls + at.CULPRIT) * width] = float(I[t + at.WHICH])
        return False
    for i in range(ny):
        numbers[(I[r + at.Y] + i) * width + lane] = numbers[y + i]
    if jacobian != 0:
        for n in range(I[t + at.TAKEN]):
            k, c = I[t + at.TAKEN + 1 + 2 * n], I[t + at.TAKEN + 2 + 2 * n]
            o = I[r + at.J] + c * I[r + at.JS]
            for i in range(rows):
                numbers[(o + i) * width + lane] = numbers[J + i * own + k]
    return True


@kernel
def called(I: Integers, W: Floats, r: int, jacobian: int, defined: bool) -> bool:
    """A function at an address, for those who are asked for and where all before it are defined; who has a value."""
    numbers, width, calls = one_by_one(W), count_of(W), I[at.CALLS]
    W[calls + at.ANSWERED] = 0.0
    asked = which_of(defined & (W[calls + at.MAY_CALL] != 0.0))
    for lane in range(width):
        if (asked >> lane) & 1 != 0 and not stopped(I, W) and _called_in(I, numbers, r, jacobian, lane, width):
            numbers[(calls + at.ANSWERED) * width + lane] = 1.0
    return W[calls + at.ANSWERED] != 0.0

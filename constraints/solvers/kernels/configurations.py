"""What happens to configurations: units, bounds, whole turns, steps; and free bodies whose translations have bounds."""

from __future__ import annotations

from math import inf, sqrt, tau

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, ceiling, chosen, has_same_bits, kernel, off
from ..tape.groups import rotate, se2_move, se3_move, so2_move, so3_move

UNIT_OF_START = 1e-12
"""As in `newton.program`."""
LOOSE_UNIT = 1e-6 * (1.0 + 1e-7)
"""As in `Space.check`, and its rounding."""
ROUNDING_OF_A_COORDINATE = 2.0**-52
"""Part of a coordinate by which a shift of whole turns may round it."""


@kernel
def copy_to(W: Floats, x: int, n: int, y: int) -> None:
    """W[y:y+n] = W[x:x+n]."""
    for i in range(n):
        W[y + i] = W[x + i]


@kernel
def _norm(W: Floats, x: int, n: int) -> float:
    s = 0.0
    for i in range(n):
        s += W[x + i] * W[x + i]
    return sqrt(s)


@kernel
def normalised(I: Integers, W: Floats, q: int) -> bool:
    """Divide blocks of unit norm by their norms where one is off by more than 1e-12; whether anything was off."""
    units, rough = I[at.UNITS], False
    for n in range(I[units]):
        o, size = q + I[units + 1 + 2 * n], I[units + 2 + 2 * n]
        rough = rough | off(abs(_norm(W, o, size) - 1.0) <= UNIT_OF_START)
    if any_of(rough):
        for n in range(I[units]):
            o, size = q + I[units + 1 + 2 * n], I[units + 2 + 2 * n]
            length = chosen(rough, _norm(W, o, size), 1.0)
            for i in range(size):
                W[o + i] /= length
    return rough


@kernel
def is_finite(W: Floats, x: int, n: int) -> bool:
    """Whether the squares of all numbers have a finite sum."""
    s = 0.0
    for i in range(n):
        s += W[x + i] * W[x + i]
    return s < inf


@kernel
def is_point(I: Integers, W: Floats, q: int, nq: int) -> bool:
    """Whether all numbers are finite, and blocks of unit norm have that norm."""
    units, found = I[at.UNITS], True
    for n in range(I[units]):
        found = found & (abs(_norm(W, q + I[units + 1 + 2 * n], I[units + 2 + 2 * n]) - 1.0) <= LOOSE_UNIT)
    for i in range(nq):
        found = found & (abs(W[q + i]) < inf)
    return found


@kernel
def clamped(I: Integers, F: Floats, W: Floats, box: int, limits: int, q: int, asked: bool) -> bool:
    """Put entries of who is asked into their bounds; whether one was outside."""
    outside = False
    for n in range(I[box]):
        o, lower, upper = q + I[box + 1 + n], F[limits + 2 * n], F[limits + 2 * n + 1]
        below, above = asked & (W[o] < lower), asked & (W[o] > upper)
        outside = outside | below | above
        W[o] = chosen(below, lower, chosen(above, upper, W[o]))
    return outside


@kernel
def within(I: Integers, F: Floats, W: Floats, box: int, limits: int, q: int) -> bool:
    """Whether entries are in their bounds."""
    inside = True
    for n in range(I[box]):
        x = W[q + I[box + 1 + n]]
        inside = inside & (F[limits + 2 * n] <= x) & (x <= F[limits + 2 * n + 1])
    return inside


@kernel
def turned(I: Integers, F: Floats, W: Floats, box: int, limits: int, q: int) -> tuple[bool, float]:
    """Shift angles outside their bounds by whole turns; whether any was, and how far from a whole turn one came."""
    any_turned, away = False, 0.0
    for n in range(I[box]):
        o, lower, upper = q + I[box + 1 + n], F[limits + 2 * n], F[limits + 2 * n + 1]
        x = W[o]
        outside, below = off((lower <= x) & (x <= upper)), x < lower
        if any_of(outside):
            turns = tau * ceiling(chosen(below, lower - x, x - upper) / tau)
            whole = chosen(below, x + turns, x - turns)
            W[o] = chosen(outside, chosen(below, min(whole, upper), max(whole, lower)), x)
            off_by = abs(W[o] - whole) + ROUNDING_OF_A_COORDINATE * abs(x)
            away, any_turned = chosen(outside, max(away, off_by), away), any_turned | outside
    return any_turned, away


@kernel
def same_numbers(W: Floats, x: int, y: int, n: int) -> bool:
    """Whether two vectors have the same bits."""
    same = True
    for i in range(n):
        same = same & has_same_bits(W[x + i], W[y + i])
    return same


@kernel
def _of(I: Integers, W: Floats, step: int, column: int, live: int) -> float:
    """Entry of a step, by the place in I that names its column; zero where it has none."""
    c = I[column]
    return W[step + c] if 0 <= c and c < live else 0.0


@kernel
def moved(I: Integers, W: Floats, q: int, step: int, part: float) -> None:
    """Move a configuration by a part of a step, given by live column, in place."""
    moves, live = I[at.MOVES], I[at.LIVE]
    for n in range(I[moves]):
        kind, o, c = I[moves + 1 + 3 * n], q + I[moves + 2 + 3 * n], I[moves + 3 + 3 * n]
        if kind == at.VECTOR:
            W[o] += part * W[step + c]
        elif kind == at.SO2:
            so2_move(W, o, part * _of(I, W, step, c, live))
        elif kind == at.SO3:
            x, y, z = _of(I, W, step, c, live), _of(I, W, step, c + 1, live), _of(I, W, step, c + 2, live)
            so3_move(W, o, part * x, part * y, part * z)
        elif kind == at.SE2:
            x, y, z = _of(I, W, step, c, live), _of(I, W, step, c + 1, live), _of(I, W, step, c + 2, live)
            se2_move(W, o, part * x, part * y, part * z)
        elif kind == at.SE3:
            x, y, z = _of(I, W, step, c, live), _of(I, W, step, c + 1, live), _of(I, W, step, c + 2, live)
            a, b, d = _of(I, W, step, c + 3, live), _of(I, W, step, c + 4, live), _of(I, W, step, c + 5, live)
            se3_move(W, o, part * x, part * y, part * z, part * a, part * b, part * d)


@kernel
def columns_turned(I: Integers, W: Floats, q: int, J: int, m: int) -> None:
    r"""Columns of m numbers by the coordinates of the translations, in place of velocities in the bodies' frames.

    .. math:: J' = J\, \mathrm{diag}(R^T, 1), \qquad p \leftarrow p + dp, \quad R \leftarrow R \exp(w)

    As `newton.free_bodies`.
    """
    bodies = I[at.BODIES]
    for n in range(I[bodies]):
        b = bodies + 1 + 4 * n
        size, r, o = I[b], q + I[b + 2], J + I[b + 3] * m
        if size == 3:
            for i in range(m):
                x, y, z = W[o + i], W[o + m + i], W[o + 2 * m + i]
                x, y, z = rotate(W[r], W[r + 1], W[r + 2], W[r + 3], x, y, z)
                W[o + i], W[o + m + i], W[o + 2 * m + i] = x, y, z
        else:
            c, s = W[r], W[r + 1]
            for i in range(m):
                x, y = W[o + i], W[o + m + i]
                W[o + i], W[o + m + i] = c * x - s * y, s * x + c * y


@kernel
def translated(I: Integers, W: Floats, q: int, before: int, step: int, part: float) -> None:
    """Translations of q: those of the configuration before, moved by coordinate."""
    bodies = I[at.BODIES]
    for n in range(I[bodies]):
        b = bodies + 1 + 4 * n
        for i in range(I[b]):
            W[q + I[b + 1] + i] = W[before + I[b + 1] + i] + part * W[step + I[b + 3] + i]

r"""Operators of the values of functions, with their Jacobians: what a formula is made of.

An operand is a value in W and its Jacobian, by column: entry (i, c) at `J + c * rows + i`. Where there is no value the
answer is False, and the numbers mean nothing. Numbers are chosen, not branched on: branches are on integers alone.
"""

from __future__ import annotations

from math import inf, sqrt

from ...functions.expressions.domains import LARGEST_EXPONENT, LEAST_NORM
from ..machine import layout as at
from ..machine.jit import Floats, Integers, chosen, exponential_by_library, kernel, logarithm_by_library
from .elementary import arc_tangent, length, sine_and_cosine
from .groups import rotate


@kernel
def _whole_power(s: float, exponent: int) -> float:
    """A power with a whole exponent, by squares."""
    made, base, n = 1.0, s, abs(exponent)
    while n > 0:
        if n % 2 == 1:
            made *= base
        base *= base
        n //= 2
    return 1.0 / made if exponent < 0 else made


@kernel
def _power(s: float, whole: int, is_whole: int, exponent: float) -> tuple[bool, float, float]:
    """With a whole exponent by products, else by the logarithm; the slope by its own, which is there where y is 0."""
    if is_whole != 0:
        if whole == 0:
            return s == s, 1.0, 0.0
        y = _whole_power(s, whole)
        return s == s, y, exponent * _whole_power(s, whole - 1)
    positive = s > 0.0
    base = chosen(positive, s, 1.0)
    log = logarithm_by_library(base)
    height, steep = exponent * log, (exponent - 1.0) * log
    small = (height <= LARGEST_EXPONENT) & (steep <= LARGEST_EXPONENT)
    y, slope = exponential_by_library(chosen(small, height, 0.0)), exponential_by_library(chosen(small, steep, 0.0))
    return positive & small, y, exponent * slope


@kernel
def _smooth_abs(s: float, width: float) -> tuple[bool, float, float]:
    most = max(abs(s), width)  # squares of numbers beyond 1e154 are none
    root = most * length(s / most, width / most)
    return root < inf, s * (s / (root + width)), s / root


@kernel
def _exponential(s: float) -> tuple[bool, float, float]:
    small = s <= LARGEST_EXPONENT
    y = exponential_by_library(chosen(small, s, 0.0))
    return small, y, y


@kernel
def _logarithm(s: float) -> tuple[bool, float, float]:
    positive = s > 0.0
    base = chosen(positive, s, 1.0)
    return positive, logarithm_by_library(base), 1.0 / base


@kernel
def _root(s: float) -> tuple[bool, float, float]:
    positive = s > 0.0
    root = sqrt(chosen(positive, s, 1.0))
    return positive, root, 0.5 / root


@kernel
def pointwise(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> bool:
    """A function of each of [C] numbers at [X], Jacobian at [B]; [A] which, [D] memory for slopes.

    Numbers: an exponent or a width; of a power, then 1 where it is whole.
    """
    kind, rows, numbers, slopes = I[r + at.A], I[r + at.C], I[r + at.NUMBERS], I[r + at.D]
    defined = True
    for i in range(rows):
        s = W[I[r + at.X] + i]
        has, y, slope = True, s, 1.0
        if kind == at.SINE:
            has = s == s
            y, slope = sine_and_cosine(s)
        elif kind == at.COSINE:
            sine, cosine = sine_and_cosine(s)
            has, y, slope = s == s, cosine, -sine
        elif kind == at.POWER:
            has, y, slope = _power(s, int(F[numbers]), int(F[numbers + 1]), F[numbers])
        elif kind == at.SMOOTH_ABS:
            has, y, slope = _smooth_abs(s, F[numbers])
        elif kind == at.SQUARE_ROOT:
            has, y, slope = _root(s)
        elif kind == at.EXPONENTIAL:
            has, y, slope = _exponential(s)
        elif kind == at.NATURAL_LOGARITHM:
            has, y, slope = _logarithm(s)
        defined = defined & has & (abs(y) + abs(slope) < inf)
        W[I[r + at.Y] + i], W[slopes + i] = y, slope
    if jacobian != 0:
        columns = I[r + at.COLS]
        for n in range(I[columns]):
            o, x = I[r + at.J] + I[columns + 1 + n] * I[r + at.JS], I[r + at.B] + I[columns + 1 + n] * rows
            for i in range(rows):
                W[o + i] = W[slopes + i] * W[x + i]
    return defined


@kernel
def _pair(kind: int, s: float, t: float) -> tuple[bool, float, float, float]:
    """Value of two numbers and its slopes."""
    if kind == at.PRODUCT_OF:
        return s == s, s * t, t, s
    if kind == at.QUOTIENT_OF:
        d = 1.0 / chosen(t != 0.0, t, 1.0)
        has = (t != 0.0) & (d * d < inf)
        return has, s / chosen(has, t, 1.0), d, -(s * d) * d
    if kind == at.ANGLE_OF:
        most = max(abs(s), abs(t))
        has = most > 0.0
        most = chosen(has, most, 1.0)
        a, b = s / most, t / most
        square = chosen(has, a * a + b * b, 1.0) * most
        by_s, by_t = b / square, -a / square
        return has & (abs(by_s) + abs(by_t) < inf), arc_tangent(s, t), by_s, by_t
    first = (s <= t) if kind == at.LESSER_OF else (s >= t)
    return s == s, chosen(first, s, t), chosen(first, 1.0, 0.0), chosen(first, 0.0, 1.0)


@kernel
def paired(I: Integers, W: Floats, r: int, jacobian: int) -> bool:
    """A function of pairs of numbers: [A] which; values at [X] and [C], Jacobians at [B] and in the table at [D].

    At [D] in I: the second Jacobian, rows of the result, of the first operand, of the second one, memory for slopes.
    An operand of one row goes with all rows.
    """
    kind, t, columns = I[r + at.A], I[r + at.D], I[r + at.COLS]
    rows, ns, nt, slopes = I[t + 1], I[t + 2], I[t + 3], I[t + 4]
    ds, dt = min(ns - 1, 1), min(nt - 1, 1)  # steps from row to row
    defined = True
    for i in range(rows):
        has, y, by_s, by_t = _pair(kind, W[I[r + at.X] + ds * i], W[I[r + at.C] + dt * i])
        defined = defined & has
        W[I[r + at.Y] + i], W[slopes + i], W[slopes + rows + i] = y, by_s, by_t
    if jacobian != 0:
        for n in range(I[columns]):
            c = I[columns + 1 + n]
            o, f, g = I[r + at.J] + c * I[r + at.JS], I[r + at.B] + c * ns, I[t] + c * nt
            for i in range(rows):
                W[o + i] = W[slopes + i] * W[f + ds * i] + W[slopes + rows + i] * W[g + dt * i]
    return defined


@kernel
def dot_product(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    """The scalar product of [A] numbers at [X] and at [C]; Jacobians at [B] and [D]."""
    size, x, z, columns = I[r + at.A], I[r + at.X], I[r + at.C], I[r + at.COLS]
    s = 0.0
    for k in range(size):
        s += W[x + k] * W[z + k]
    W[I[r + at.Y]] = s
    if jacobian != 0:
        for n in range(I[columns]):
            c = I[columns + 1 + n]
            f, g, s = I[r + at.B] + c * size, I[r + at.D] + c * size, 0.0
            for k in range(size):
                s += W[f + k] * W[z + k] + W[x + k] * W[g + k]
            W[I[r + at.J] + c * I[r + at.JS]] = s


@kernel
def norm_of(I: Integers, W: Floats, r: int, jacobian: int) -> bool:
    """The norm of [A] numbers at [X]; Jacobian at [B]."""
    size, x, columns = I[r + at.A], I[r + at.X], I[r + at.COLS]
    square = 0.0
    for k in range(size):
        square += W[x + k] * W[x + k]
    has = square > LEAST_NORM * LEAST_NORM
    norm = sqrt(chosen(has, square, 1.0))
    W[I[r + at.Y]] = norm
    if jacobian != 0:
        for n in range(I[columns]):
            f, s = I[r + at.B] + I[columns + 1 + n] * size, 0.0
            for k in range(size):
                s += W[x + k] * W[f + k]
            W[I[r + at.J] + I[columns + 1 + n] * I[r + at.JS]] = s / norm
    return has


@kernel
def cross_product(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    """The cross product of the vectors at [X] and [C]; Jacobians at [B] and [D]."""
    x, z, y, columns = I[r + at.X], I[r + at.C], I[r + at.Y], I[r + at.COLS]
    a, b, c, d, e, f = W[x], W[x + 1], W[x + 2], W[z], W[z + 1], W[z + 2]
    W[y], W[y + 1], W[y + 2] = b * f - c * e, c * d - a * f, a * e - b * d
    if jacobian != 0:
        for n in range(I[columns]):
            k = I[columns + 1 + n]
            o, g, h = I[r + at.J] + k * I[r + at.JS], I[r + at.B] + 3 * k, I[r + at.D] + 3 * k
            p, q, s, u, v, w = W[g], W[g + 1], W[g + 2], W[h], W[h + 1], W[h + 2]
            W[o] = q * f - s * e + (b * w - c * v)
            W[o + 1] = s * d - p * f + (c * u - a * w)
            W[o + 2] = p * e - q * d + (a * v - b * u)


@kernel
def rotated_vector(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    r"""The vector :math:`R p`: quaternion at [X], vector at [C]; :math:`R (J_p + J_R \times p)`, at [B] and [D].

    With [A] it is :math:`z = R^T p`, with :math:`R^T J_p - J_R \times z`.
    """
    x, z, y, columns = I[r + at.X], I[r + at.C], I[r + at.Y], I[r + at.COLS]
    back = I[r + at.A] != 0
    a, b, c, w = W[x], W[x + 1], W[x + 2], W[x + 3]
    if back:
        a, b, c = -a, -b, -c
    d, e, f = W[z], W[z + 1], W[z + 2]
    W[y], W[y + 1], W[y + 2] = rotate(a, b, c, w, d, e, f)
    if jacobian != 0:
        for n in range(I[columns]):
            k = I[columns + 1 + n]
            o, g, h = I[r + at.J] + k * I[r + at.JS], I[r + at.B] + 3 * k, I[r + at.D] + 3 * k
            p, q, s = W[g], W[g + 1], W[g + 2]
            if back:
                u, v, t = rotate(a, b, c, w, W[h], W[h + 1], W[h + 2])
                W[o] = u - (q * W[y + 2] - s * W[y + 1])
                W[o + 1] = v - (s * W[y] - p * W[y + 2])
                W[o + 2] = t - (p * W[y + 1] - q * W[y])
            else:
                u, v, t = W[h] + (q * f - s * e), W[h + 1] + (s * d - p * f), W[h + 2] + (p * e - q * d)
                W[o], W[o + 1], W[o + 2] = rotate(a, b, c, w, u, v, t)


@kernel
def operated(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> bool:
    """One operator; False where it has no value."""
    operation, defined = I[r + at.OPERATION], True
    if operation == at.POINTWISE:
        defined = pointwise(I, F, W, r, jacobian)
    elif operation == at.PAIRED:
        defined = paired(I, W, r, jacobian)
    elif operation == at.DOT:
        dot_product(I, W, r, jacobian)
    elif operation == at.CROSS_PRODUCT:
        cross_product(I, W, r, jacobian)
    elif operation == at.NORM_OF:
        defined = norm_of(I, W, r, jacobian)
    elif operation == at.ROTATED_VECTOR:
        rotated_vector(I, W, r, jacobian)
    return defined

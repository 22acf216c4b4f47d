"""Functions that are made of others, and of numbers: affine ones, products with constants, twins, compositions."""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, kernel
from .coefficients import exp_third, half_sinc
from .groups import exp_times, log_carried, point_log, point_product, point_quotient, rotate, seen_from, sign_of_matrix


@kernel
def affine(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    """A x + b. At [A] in I: rows, then for each the count of its numbers and (entry of x, column or -1) of each."""
    t, f, x, y = I[r + at.A], I[r + at.NUMBERS], I[r + at.X], I[r + at.Y]
    rows = I[t]
    t += 1
    if jacobian != 0:
        for n in range(I[I[r + at.COLS]]):
            for i in range(rows):
                W[I[r + at.J] + I[I[r + at.COLS] + 1 + n] * I[r + at.JS] + i] = 0.0
    for i in range(rows):
        s, count = F[f], I[t]
        t, f = t + 1, f + 1
        for _ in range(count):
            s += F[f] * W[x + I[t]]
            if jacobian != 0 and I[t + 1] >= 0:
                W[I[r + at.J] + I[t + 1] * I[r + at.JS] + i] = F[f]
            t, f = t + 2, f + 1
        W[y + i] = s


@kernel
def copied(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    """Entries of x as they are, with Jacobian one. At [A]: count, entries; at [B]: count, columns or -1."""
    entries, columns = I[r + at.A], I[r + at.B]
    for i in range(I[entries]):
        W[I[r + at.Y] + i] = W[I[r + at.X] + I[entries + 1 + i]]
    if jacobian != 0:
        n = I[columns]
        for k in range(n):
            if I[columns + 1 + k] >= 0:
                o = I[r + at.J] + I[columns + 1 + k] * I[r + at.JS]
                for i in range(n):
                    W[o + i] = 1.0 if i == k else 0.0


@kernel
def product(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    """A value times the point at [B] of the group at [A], in place, and its Jacobian.

    With [C] the value is a pose, whose quaternion gets the sign that it has as a matrix.
    """
    point_product(I, W, I[r + at.A], I[r + at.Y], I[r + at.B], I[r + at.Y])
    if I[r + at.C] != 0:
        sign_of_matrix(W, I[r + at.Y] + 3)
    if jacobian != 0:
        seen_from(I, W, I[r + at.A], I[r + at.B], I[r + at.J], I[r + at.JS], I[r + at.COLS])


@kernel
def _tangent(I: Integers, G: int) -> int:
    n = 0
    for leaf in range(I[G]):
        n += I[G + 3 + 3 * leaf]
    return n


@kernel
def twin(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    r"""Write :math:`f^{-1} g` of values at [X] and [B], and :math:`J_g - Ad^{-1} J_f` of Jacobians at [A] and [C]."""
    y, group = I[r + at.Y], I[r + at.D]
    point_quotient(I, W, group, I[r + at.X], I[r + at.B], y)
    if jacobian == 0:
        return
    columns, stride, nv = I[r + at.COLS], I[r + at.JS], _tangent(I, group)
    seen_from(I, W, group, y, I[r + at.A], nv, columns)
    for n in range(I[columns]):
        c = I[columns + 1 + n]
        for i in range(nv):
            W[I[r + at.J] + c * stride + i] = W[I[r + at.C] + c * nv + i] - W[I[r + at.A] + c * nv + i]


@kernel
def logarithm(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    """The logarithm of x^-1 y, points at [X] and [B] of the group at [D]; the Jacobian of that stands in the result."""
    point_log(I, W, I[r + at.D], I[r + at.X], I[r + at.B], I[r + at.Y])
    if jacobian != 0:
        log_carried(I, W, I[r + at.D], I[r + at.Y], I[r + at.J], I[r + at.JS], I[r + at.COLS])


@kernel
def weighted_sum(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    """Sum of [B] rows. At [A] in I: count, then (value, Jacobian, its columns) of each function; numbers: factors."""
    terms, rows, y, o = I[r + at.A], I[r + at.B], I[r + at.Y], I[r + at.J]
    for i in range(rows):
        W[y + i] = 0.0
    if jacobian != 0:
        for n in range(I[I[r + at.COLS]]):
            for i in range(rows):
                W[o + I[I[r + at.COLS] + 1 + n] * I[r + at.JS] + i] = 0.0
    for k in range(I[terms]):
        value, part, columns = I[terms + 1 + 3 * k], I[terms + 2 + 3 * k], I[terms + 3 + 3 * k]
        factor = F[I[r + at.NUMBERS] + k]
        for i in range(rows):
            W[y + i] += factor * W[value + i]
        if jacobian != 0:
            for n in range(I[columns]):
                c = I[columns + 1 + n]
                for i in range(rows):
                    W[o + c * I[r + at.JS] + i] += factor * W[part + c * rows + i]


@kernel
def _horner(F: Floats, coefficients: int, count: int, s: float) -> float:
    value = 0.0
    for k in range(count - 1, -1, -1):
        value = value * s + F[coefficients + k]
    return value


@kernel
def polynomial(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    """Polynomial of the number at [X], whose Jacobian is at [C]. Numbers: [A] coefficients, then the derivative's."""
    s, count, numbers = W[I[r + at.X]], I[r + at.A], I[r + at.NUMBERS]
    W[I[r + at.Y]] = _horner(F, numbers, count, s)
    if jacobian != 0:
        slope, columns = _horner(F, numbers + count, count - 1, s), I[r + at.COLS]
        for n in range(I[columns]):
            c = I[columns + 1 + n]
            W[I[r + at.J] + c * I[r + at.JS]] = slope * W[I[r + at.C] + c]


@kernel
def chain_rule(I: Integers, W: Floats, r: int) -> None:
    """The product of the Jacobians at [A] ([C] rows) and [B] ([D] rows)."""
    columns, rows, inner, f, g = I[r + at.COLS], I[r + at.C], I[r + at.D], I[r + at.A], I[r + at.B]
    for n in range(I[columns]):
        c = I[columns + 1 + n]
        o = I[r + at.J] + c * I[r + at.JS]
        for i in range(rows):
            s = 0.0
            for k in range(inner):
                s += W[f + k * rows + i] * W[g + c * inner + k]
            W[o + i] = s


@kernel
def selected(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    """Some rows of a value at [X] and a Jacobian at [C] of [D] rows. At [A], [B]: count, rows in q; in v."""
    entries, rows = I[r + at.A], I[r + at.B]
    for i in range(I[entries]):
        W[I[r + at.Y] + i] = W[I[r + at.X] + I[entries + 1 + i]]
    if jacobian != 0:
        columns = I[r + at.COLS]
        for n in range(I[columns]):
            c = I[columns + 1 + n]
            for i in range(I[rows]):
                W[I[r + at.J] + c * I[r + at.JS] + i] = W[I[r + at.C] + c * I[r + at.D] + I[rows + 1 + i]]


@kernel
def pose_from_rows(I: Integers, W: Floats, r: int, jacobian: int) -> None:
    """The pose (t, exp w) of the six numbers at [X]. At [B]: count, their columns or -1."""
    x, y = I[r + at.X], I[r + at.Y]
    a, b, c = W[x + 3], W[x + 4], W[x + 5]
    t = a * a + b * b + c * c
    s, w = half_sinc(t)
    W[y], W[y + 1], W[y + 2] = W[x], W[x + 1], W[x + 2]
    W[y + 3], W[y + 4], W[y + 5], W[y + 6] = s * a, s * b, s * c, w
    if jacobian == 0:
        return
    half, third, columns = 2.0 * s * s, exp_third(t, s, w), I[r + at.B]
    for k in range(6):
        if I[columns + 1 + k] < 0:
            continue
        o = I[r + at.J] + I[columns + 1 + k] * I[r + at.JS]
        d, e, f = 1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0
        for i in range(6):
            W[o + i] = 0.0
        if k < 3:
            W[o], W[o + 1], W[o + 2] = rotate(-s * a, -s * b, -s * c, w, d, e, f)
        else:
            W[o + 3], W[o + 4], W[o + 5] = exp_times(a, b, c, half, third, d, e, f)

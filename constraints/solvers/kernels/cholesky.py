r"""Damped normal equations by Cholesky: :math:`(J D^2 J^T + \mu I)\, y = e`, the matrix as :math:`U^T \Delta U`.

Of three and of six rows, the most common numbers, they are made and solved in registers, in less than half the time of
the general form (20 instead of 75 ns, 91 instead of 216 of seven columns).
"""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel


@kernel
def _add_column(W: Floats, m: int, J: int, N: int, first: int, end: int, scale2: float) -> None:
    """Upper half of N + J J^T, of one column of J with numbers in some rows, times a factor."""
    for i in range(first, end):
        a, row = scale2 * W[J + i], N + i * m
        for j in range(i, end):
            W[row + j] += a * W[J + j]


@kernel
def _add_columns(W: Floats, m: int, A: int, B: int, C: int, D: int, N: int, first: int, end: int) -> None:
    """The same of four columns: N is read and written a quarter as often as column by column."""
    for i in range(first, end):
        a, b, c, d = W[A + i], W[B + i], W[C + i], W[D + i]
        row = N + i * m
        for j in range(i, end):
            W[row + j] += (a * W[A + j] + b * W[B + j]) + (c * W[C + j] + d * W[D + j])


@kernel
def weight(I: Integers, F: Floats, W: Floats, column: int, holding: bool) -> float:
    """Square of a column's scale; zero where it is held."""
    scale2 = 1.0 if I[at.SCALE] == 0 else F[I[at.SCALE] + column] * F[I[at.SCALE] + column]  # R11
    return chosen(W[I[at.HELD] + column] != 0.0, 0.0, scale2) if holding else scale2


@kernel
def _made(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, N: int, mu: float, holding: bool) -> None:
    """Upper half of the matrix, as far as its profile."""
    ranges, profile = I[at.RANGES], I[at.PROFILE]
    for i in range(m):
        for j in range(i, I[profile + 2 * i]):
            W[N + i * m + j] = 0.0
        W[N + i * m + i] = mu
    if holding or I[at.SCALE] != 0:
        for c in range(n):
            _add_column(W, m, J + c * m, N, I[ranges + 2 * c], I[ranges + 2 * c + 1], weight(I, F, W, c, holding))
        return
    fours = I[at.FOURS]
    left = fours + 1 + 6 * I[fours]
    for k in range(I[fours]):
        g = fours + 1 + 6 * k
        A, B, C, D = J + I[g] * m, J + I[g + 1] * m, J + I[g + 2] * m, J + I[g + 3] * m
        _add_columns(W, m, A, B, C, D, N, I[g + 4], I[g + 5])
    for k in range(I[left]):
        c = I[left + 1 + k]
        _add_column(W, m, J + c * m, N, I[ranges + 2 * c], I[ranges + 2 * c + 1], 1.0)


@kernel
def cholesky_solved(I: Integers, W: Floats, N: int, m: int, y: int, profile: int) -> bool:
    """Solve N y = y, the upper half of N in place; False where rounding took definiteness.

    The diagonal becomes the inverse of that of Delta. Rows are taken off those below: sums of products, one number
    after the other, would wait for each other. Nothing is read beyond the profile of the factors, at in I as PROFILE
    (rows of loops without a common joint), or 0.
    """
    definite = True
    for k in range(m):
        top = N + k * m
        definite = definite & (W[top + k] > 0.0)
        if not any_of(definite):
            return definite
        inverse, last = 1.0 / chosen(definite, W[top + k], 1.0), m if profile == 0 else I[profile + 2 * k]
        W[top + k] = inverse
        for i in range(k + 1, last):
            a, row = W[top + i] * inverse, N + i * m
            for j in range(i, last):
                W[row + j] -= a * W[top + j]
            W[y + i] -= a * W[y + k]
    for k in range(m - 1, -1, -1):
        x = W[y + k] * W[N + k * m + k]
        W[y + k] = x
        for i in range(0 if profile == 0 else I[profile + 2 * k + 1], k):
            W[y + i] -= W[N + i * m + k] * x
    return definite


@kernel
def _factors(
    a: float, b: float, c: float, d: float, e: float, f: float
) -> tuple[float, float, float, float, float, float]:
    """Of the matrix with upper half (a b c, d e, f): the inverse of Delta, and the entries 01, 02, 12 of U."""
    p = 1.0 / a
    l, m = b * p, c * p
    q = 1.0 / (d - l * b)
    e -= l * c
    n = e * q
    return p, q, 1.0 / (f - (m * c + n * e)), l, m, n


@kernel
def _forward(l: float, m: float, n: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Solve U^T of three rows."""
    y -= l * x
    return x, y, z - (m * x + n * y)


@kernel
def _backward(l: float, m: float, n: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Solve U of three rows."""
    y -= n * z
    return x - (l * y + m * z), y, z


@kernel
def _are_positive(p: float, q: float, r: float) -> bool:
    return (0.0 < p) & (p < inf) & (0.0 < q) & (q < inf) & (0.0 < r) & (r < inf)


@kernel
def _three_solved(I: Integers, F: Floats, W: Floats, n: int, J: int, y: int, mu: float, holding: bool) -> bool:
    """The normal equations of three rows, made and solved."""
    a, b, c, d, e, f = mu, 0.0, 0.0, mu, 0.0, mu
    for k in range(n):
        u, v, w, g = W[J + 3 * k], W[J + 3 * k + 1], W[J + 3 * k + 2], weight(I, F, W, k, holding)
        x, s, t = g * u, g * v, g * w
        a, b, c, d, e, f = a + u * x, b + u * s, c + u * t, d + v * s, e + v * t, f + w * t
    p, q, r, l, m, o = _factors(a, b, c, d, e, f)
    x, s, t = _forward(l, m, o, W[y], W[y + 1], W[y + 2])
    W[y], W[y + 1], W[y + 2] = _backward(l, m, o, x * p, s * q, t * r)
    return _are_positive(p, q, r)


@kernel
def _six_made(I: Integers, F: Floats, W: Floats, n: int, J: int, mu: float, holding: bool) -> None:
    """Upper half of the matrix of six rows, [A B; . C], row by row without gaps."""
    a00, a01, a02, a11, a12, a22 = mu, 0.0, 0.0, mu, 0.0, mu
    b00, b01, b02, b10, b11, b12, b20, b21, b22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    c00, c01, c02, c11, c12, c22 = mu, 0.0, 0.0, mu, 0.0, mu
    for k in range(n):
        o, g = J + 6 * k, weight(I, F, W, k, holding)
        u, v, w, x, s, t = W[o], W[o + 1], W[o + 2], g * W[o + 3], g * W[o + 4], g * W[o + 5]
        b00, b01, b02 = b00 + u * x, b01 + u * s, b02 + u * t
        b10, b11, b12 = b10 + v * x, b11 + v * s, b12 + v * t
        b20, b21, b22 = b20 + w * x, b21 + w * s, b22 + w * t
        c00, c01, c02 = c00 + W[o + 3] * x, c01 + W[o + 3] * s, c02 + W[o + 3] * t
        c11, c12, c22 = c11 + W[o + 4] * s, c12 + W[o + 4] * t, c22 + W[o + 5] * t
        x, s, t = g * u, g * v, g * w
        a00, a01, a02, a11, a12, a22 = a00 + u * x, a01 + u * s, a02 + u * t, a11 + v * s, a12 + v * t, a22 + w * t
    N = I[at.NORMAL]
    W[N], W[N + 1], W[N + 2], W[N + 3], W[N + 4], W[N + 5] = a00, a01, a02, b00, b01, b02
    W[N + 6], W[N + 7], W[N + 8], W[N + 9], W[N + 10] = a11, a12, b10, b11, b12
    W[N + 11], W[N + 12], W[N + 13], W[N + 14] = a22, b20, b21, b22
    W[N + 15], W[N + 16], W[N + 17], W[N + 18], W[N + 19], W[N + 20] = c00, c01, c02, c11, c12, c22


@kernel
def _without(u: float, v: float, w: float, x: float, s: float, t: float, a: float) -> float:
    return a - (u * x + v * s + w * t)


@kernel
def _six_solved(W: Floats, N: int, y: int) -> bool:
    r"""Solve them for y: A and the columns of B first, then :math:`C - B^T A^{-1} B`, and back."""
    p, q, r, l, m, n = _factors(W[N], W[N + 1], W[N + 2], W[N + 6], W[N + 7], W[N + 11])
    a0, a1, a2 = _forward(l, m, n, W[N + 3], W[N + 8], W[N + 12])
    b0, b1, b2 = _forward(l, m, n, W[N + 4], W[N + 9], W[N + 13])
    c0, c1, c2 = _forward(l, m, n, W[N + 5], W[N + 10], W[N + 14])
    u, v, w = _forward(l, m, n, W[y], W[y + 1], W[y + 2])
    d0, d1, d2, e0, e1, e2, f0, f1, f2 = p * a0, q * a1, r * a2, p * b0, q * b1, r * b2, p * c0, q * c1, r * c2
    P, Q, R, L, M, O = _factors(
        _without(d0, d1, d2, a0, a1, a2, W[N + 15]),
        _without(d0, d1, d2, b0, b1, b2, W[N + 16]),
        _without(d0, d1, d2, c0, c1, c2, W[N + 17]),
        _without(e0, e1, e2, b0, b1, b2, W[N + 18]),
        _without(e0, e1, e2, c0, c1, c2, W[N + 19]),
        _without(f0, f1, f2, c0, c1, c2, W[N + 20]),
    )
    x, s, t = (
        _without(d0, d1, d2, u, v, w, W[y + 3]),
        _without(e0, e1, e2, u, v, w, W[y + 4]),
        _without(f0, f1, f2, u, v, w, W[y + 5]),
    )
    x, s, t = _forward(L, M, O, x, s, t)
    x, s, t = _backward(L, M, O, x * P, s * Q, t * R)
    W[y + 3], W[y + 4], W[y + 5] = x, s, t
    W[y], W[y + 1], W[y + 2] = _backward(
        l, m, n, _without(d0, e0, f0, x, s, t, u * p), _without(d1, e1, f1, x, s, t, v * q),
        _without(d2, e2, f2, x, s, t, w * r),
    )  # fmt: skip
    return _are_positive(p, q, r) & _are_positive(P, Q, R)


@kernel
def normal_solved(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, y: int, mu: float, holding: bool) -> bool:
    """Solve the damped normal equations of m rows and n columns at J for y, in place; columns that are HELD count not.

    False where rounding took definiteness; y is spoilt then.
    """
    if m == 3:
        return _three_solved(I, F, W, n, J, y, mu, holding)
    if m == 6:
        _six_made(I, F, W, n, J, mu, holding)
        return _six_solved(W, I[at.NORMAL], y)
    _made(I, F, W, m, n, J, I[at.NORMAL], mu, holding)
    return cholesky_solved(I, W, I[at.NORMAL], m, y, I[at.PROFILE])

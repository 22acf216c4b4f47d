r"""Damped normal equations by Cholesky: :math:`(J D^2 J^T + \mu I)\, y = e`, the matrix as :math:`U^T \Delta U`.

Of three and of six rows, the most common numbers, they are made and solved in registers, in less than half the time of
the general form (20 instead of 75 ns, 91 instead of 216 of seven columns).
"""

from __future__ import annotations

from math import inf

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel


@kernel
def weight(I: Integers, F: Floats, W: Floats, column: int, holding: bool) -> float:
    """Square of a column's scale; zero where it is held."""
    scale2 = 1.0 if I[at.SCALE] == 0 else F[I[at.SCALE] + column] * F[I[at.SCALE] + column]  # R11
    return chosen(W[I[at.HELD] + column] != 0.0, 0.0, scale2) if holding else scale2


@kernel
def _tile_made(
    I: Integers, F: Floats, W: Floats, m: int, J: int, N: int, i: int, j: int, count: int, listed: int, mu: float,
    holding: bool,
) -> None:  # fmt: skip
    """Three by three entries, in registers: of rows i and j, from so many columns, which are listed at in I."""
    a, b, c, d, e, f, g, h, k = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if i == j:
        a, e, k = mu, mu, mu
    for n in range(count):
        column = I[listed + n]
        o = J + column * m
        s = weight(I, F, W, column, holding)
        u, v, w, x, y, z = s * W[o + i], s * W[o + i + 1], s * W[o + i + 2], W[o + j], W[o + j + 1], W[o + j + 2]
        a, b, c = a + u * x, b + u * y, c + u * z
        d, e, f = d + v * x, e + v * y, f + v * z
        g, h, k = g + w * x, h + w * y, k + w * z
    o = N + i * m + j
    W[o], W[o + 1], W[o + 2] = a, b, c
    W[o + m], W[o + m + 1], W[o + m + 2] = d, e, f
    W[o + 2 * m], W[o + 2 * m + 1], W[o + 2 * m + 2] = g, h, k


@kernel
def _few_made(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, N: int, mu: float, holding: bool) -> None:
    """Upper half of the matrix of one or two rows."""
    for i in range(m):
        for j in range(i, m):
            s = 0.0
            if i == j:
                s = mu
            for c in range(n):
                s = s + weight(I, F, W, c, holding) * W[J + c * m + i] * W[J + c * m + j]
            W[N + i * m + j] = s


@kernel
def _made(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, N: int, mu: float, holding: bool) -> None:
    """Upper half of the matrix, as far as its profile; below the diagonal stands what nobody reads."""
    if m > 2:
        tile = I[at.TILES] + 1
        for _ in range(I[I[at.TILES]]):
            _tile_made(I, F, W, m, J, N, I[tile], I[tile + 1], I[tile + 2], tile + 3, mu, holding)
            tile += 3 + I[tile + 2]
    else:
        _few_made(I, F, W, m, n, J, N, mu, holding)


@kernel
def _entry(W: Floats, N: int, m: int, i: int, column: int, stride: int, first: int) -> float:
    """A number of a column, at row i, less what the rows from `first` on above it take."""
    a = W[column + i * stride]
    for k in range(first, i):
        row = N + k * m
        a -= W[row + i] * (W[row + k] * W[column + k * stride])
    return a


@kernel
def _three_entries(
    W: Floats, N: int, m: int, i: int, column: int, stride: int, first: int
) -> tuple[float, float, float]:
    """The same of three, at rows i to i + 2."""
    a, b, c = W[column + i * stride], W[column + (i + 1) * stride], W[column + (i + 2) * stride]
    for k in range(first, i):
        row = N + k * m
        x = W[row + k] * W[column + k * stride]
        a, b, c = a - W[row + i] * x, b - W[row + i + 1] * x, c - W[row + i + 2] * x
    return a, b, c


@kernel
def _inverse(x: float) -> float:
    """Of a pivot; of no use where it is not positive."""
    return 1.0 / chosen(x > 0.0, x, 1.0)


@kernel
def _three_rows(I: Integers, W: Floats, N: int, m: int, i: int, y: int, profile: int) -> bool:
    """Rows i to i + 2 of the factors, and what stands in y there; whether their pivots are positive."""
    first, end = 0, m
    if profile != 0:
        o = profile + 2 * i
        first, end = min(min(I[o + 1], I[o + 3]), I[o + 5]), max(max(I[o], I[o + 2]), I[o + 4])
    row = N + i * m
    a, _, _ = _three_entries(W, N, m, i, N + i, m, first)
    b, d, _ = _three_entries(W, N, m, i, N + i + 1, m, first)
    c, e, f = _three_entries(W, N, m, i, N + i + 2, m, first)
    p = _inverse(a)
    l, t = b * p, c * p
    d -= l * b
    e -= l * c
    q = _inverse(d)
    u = e * q
    f -= t * c + u * e
    W[row + i], W[row + i + 1], W[row + i + 2] = p, b, c
    W[row + m + i + 1], W[row + m + i + 2], W[row + 2 * m + i + 2] = q, e, _inverse(f)
    for j in range(i + 3, end):
        start = first
        if profile != 0:
            start = max(first, I[profile + 2 * j + 1])
        x, v, w = _three_entries(W, N, m, i, N + j, m, start)
        v -= l * x
        W[row + j], W[row + m + j], W[row + 2 * m + j] = x, v, w - (t * x + u * v)
    x, v, w = _three_entries(W, N, m, i, y, 1, first)
    v -= l * x
    W[y + i], W[y + i + 1], W[y + i + 2] = x, v, w - (t * x + u * v)
    return (a > 0.0) & (d > 0.0) & (f > 0.0)


@kernel
def cholesky_solved(I: Integers, W: Floats, N: int, m: int, y: int, profile: int) -> bool:
    """Solve N y = y, the upper half of N in place; False where rounding took definiteness.

    The diagonal becomes the inverse of that of Delta. Three rows at a time are made of all above, in registers: so a
    number is written once. Nothing is read beyond the profile of the factors, at in I as PROFILE (rows of loops
    without a common joint), or 0; but for zeros beside it.
    """
    definite = True
    for i in range(0, m - 2, 3):
        definite = definite & _three_rows(I, W, N, m, i, y, profile)
        if not any_of(definite):
            return definite
    for i in range(m - m % 3, m):
        first = 0 if profile == 0 else I[profile + 2 * i + 1]
        for j in range(i + 1, m if profile == 0 else I[profile + 2 * i]):
            W[N + i * m + j] = _entry(
                W, N, m, i, N + j, m, first if profile == 0 else max(first, I[profile + 2 * j + 1])
            )
        W[y + i] = _entry(W, N, m, i, y, 1, first)
        pivot = _entry(W, N, m, i, N + i, m, first)
        definite = definite & (pivot > 0.0)
        W[N + i * m + i] = _inverse(pivot)
    for i in range(m - 1, -1, -1):
        x, row = W[y + i], N + i * m
        for j in range((m if profile == 0 else I[profile + 2 * i]) - 1, i, -1):  # what comes last is needed last
            x -= W[row + j] * W[y + j]
        W[y + i] = x * W[row + i]
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
def _awake_rows(I: Integers, W: Floats, m: int, n: int, J: int) -> int:
    """How many rows are in threes that are not zero in all lanes, or in no three; AWAKE says which threes are.

    Rows of inequalities that hold are zero, and factors of them are what they were.
    """
    awake, count = I[I[at.AWAKE]], m % 3
    for i in range(0, m - 2, 3):
        W[awake + i] = 0.0
        for c in range(n):
            o = J + c * m + i
            if any_of((W[o] != 0.0) | (W[o + 1] != 0.0) | (W[o + 2] != 0.0)):
                W[awake + i] = 1.0
                count += 3
                break
    return count


@kernel
def _is_less(I: Integers, n: int, count: int) -> bool:
    """Whether so many rows and n columns, zeros among them, take fewer products than all rows without their zeros."""
    return count * count * (3 * n + count) < 6 * I[at.PRODUCTS]


@kernel
def _awake_solved(
    I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, y: int, mu: float, holding: bool, count: int
) -> bool:
    """The normal equations of the rows that are awake; the others get zeros, of which no step is made."""
    awake, all_columns, N, row = I[I[at.AWAKE]], I[at.AWAKE] + 1, I[at.NORMAL], 0
    x = awake + m
    K = x + m
    for i in range(m):
        if i >= m - m % 3 or any_of(W[awake + i - i % 3] != 0.0):
            W[x + row] = W[y + i]
            for c in range(n):
                W[K + c * count + row] = W[J + c * m + i]
            row += 1
    if count > 2:
        for i in range(0, count, 3):
            for j in range(i, count, 3):
                _tile_made(I, F, W, count, K, N, min(i, count - 3), min(j, count - 3), n, all_columns, mu, holding)
    else:
        _few_made(I, F, W, count, n, K, N, mu, holding)
    solved = cholesky_solved(I, W, N, count, x, 0)
    row = 0
    for i in range(m):
        W[y + i] = 0.0
        if i >= m - m % 3 or any_of(W[awake + i - i % 3] != 0.0):
            W[y + i] = W[x + row]
            row += 1
    return solved


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
    if I[at.AWAKE] != 0:
        count = _awake_rows(I, W, m, n, J)
        if count < m and _is_less(I, n, count):
            return _awake_solved(I, F, W, m, n, J, y, mu, holding, count)
    _made(I, F, W, m, n, J, I[at.NORMAL], mu, holding)
    return cholesky_solved(I, W, I[at.NORMAL], m, y, I[at.PROFILE])

r"""Steps of the levels below level 0, in the null space of the levels above: as `newton.hierarchy`.

.. math:: \min_z |J_i N z + e_i + J_i\, dq|^2 + \mu |z|^2, \qquad dq \leftarrow dq + N z

N from a pivoted QR factorisation of the rows above, in dofs that cost alike.
"""

from __future__ import annotations

from math import inf, sqrt

from .cholesky import cholesky_solved
from .configurations import copy_to
from .jit import Floats, Integers, kernel
from .layout import (
    ABOVE,
    CAP,
    CAPS,
    DAMPING,
    DUAL,
    ERROR,
    ERROR_TRIAL,
    FACTORS,
    HELD,
    JACOBIAN,
    LEVEL_SIZE,
    LEVEL_TABLE,
    LEVELS,
    LIVE,
    NORMAL,
    PART,
    PASSES,
    REFLECTED,
    RESIDUALS,
    RESIDUALS_BEFORE,
    ROTATED,
    ROWS,
    SCALE,
    STEP,
    THRESHOLD,
    THRESHOLDS,
)
from .rows import measured
from .steps import dot

RANK = 1e-6
"""As in `linear_algebra`: pivots below this part of the largest are zero."""
NOTHING = 1e-12
"""As in `newton.bounds`."""
LEAST_CAP = 1e-3
SETTLING, GAINING = 0.8, 0.9
"""As in `newton.iteration` and `newton.rules`."""


@kernel
def _row(I: Integers, F: Floats, W: Floats, level: int, i: int, held: bool, to: int) -> None:
    """A row of a level's Jacobian in dofs that cost alike, without those that are held."""
    m, J = I[level + ROWS], I[level + JACOBIAN]
    for c in range(I[LIVE]):
        scale = 1.0 if I[SCALE] == 0 else F[I[SCALE] + c]
        W[to + c] = 0.0 if held and W[I[HELD] + c] != 0.0 else scale * W[J + c * m + i]


@kernel
def _reflect(W: Floats, v: int, factor: float, first: int, n: int, x: int) -> None:
    """X - factor (v . x) v, of the entries from `first` on; v is one there."""
    s = W[x + first]
    for c in range(first + 1, n):
        s += W[v + c] * W[x + c]
    s *= factor
    W[x + first] -= s
    for c in range(first + 1, n):
        W[x + c] -= s * W[v + c]


@kernel
def _factorised(I: Integers, W: Floats, count: int) -> int:
    """Reflectors of the rows above, the longest row first; the rank. Reflector k is kept in row k of FACTORS."""
    n, rows, factors = I[LIVE], I[FACTORS], I[REFLECTED]
    copy_to(W, I[ABOVE], count * n, rows)
    first = 0.0
    for k in range(min(count, n)):
        longest, pivot = -1.0, k
        for i in range(k, count):
            s = 0.0
            for c in range(k, n):
                s += W[rows + i * n + c] * W[rows + i * n + c]
            if s > longest:
                longest, pivot = s, i
        length = sqrt(longest)
        first = length if k == 0 else first
        if not length > RANK * first:
            return k
        v = rows + k * n
        if pivot != k:
            for c in range(n):
                W[v + c], W[rows + pivot * n + c] = W[rows + pivot * n + c], W[v + c]
        beta = -length if W[v + k] > 0.0 else length
        W[factors + k] = (beta - W[v + k]) / beta
        by = 1.0 / (W[v + k] - beta)
        for c in range(k + 1, n):
            W[v + c] *= by
        for i in range(k + 1, count):
            _reflect(W, v, W[factors + k], k, n, rows + i * n)
    return min(count, n)


@kernel
def _solved(I: Integers, F: Floats, W: Floats, level: int, above: int, mu: float, held: bool) -> None:
    """The damped step of a level for the errors ERROR_TRIAL, in the null space of rows above, into PART."""
    n, m, N, y, part = I[LIVE], I[level + ROWS], I[NORMAL], I[DUAL], I[PART]
    rank = _factorised(I, W, above)
    for i in range(m):
        row = I[ROTATED] + i * n
        _row(I, F, W, level, i, held, row)
        for k in range(rank):
            _reflect(W, I[FACTORS] + k * n, W[I[REFLECTED] + k], k, n, row)
        for c in range(rank):
            W[row + c] = 0.0
    damping = mu
    while True:
        largest = 0.0
        for i in range(m):
            for j in range(i, m):
                W[N + i * m + j] = dot(W, I[ROTATED] + i * n + rank, I[ROTATED] + j * n + rank, n - rank)
            largest = max(largest, W[N + i * m + i])
            W[N + i * m + i] += damping
        copy_to(W, I[ERROR_TRIAL], m, y)
        if cholesky_solved(W, N, m, y):
            break
        damping = 10.0 * damping + 1e-12 * largest
    for c in range(n):
        s = 0.0
        for i in range(m):
            s -= W[I[ROTATED] + i * n + c] * W[y + i]
        W[part + c] = s
    for k in range(rank - 1, -1, -1):
        _reflect(W, I[FACTORS] + k * n, W[I[REFLECTED] + k], k, n, part)
    if I[SCALE] != 0:
        for c in range(n):
            W[part + c] *= F[I[SCALE] + c]


@kernel
def _cap(I: Integers, W: Floats, cap: float) -> float:
    """Scale PART down so that no coordinate moves more than the cap; the longest move."""
    longest = 0.0
    for c in range(I[LIVE]):
        longest = max(longest, abs(W[I[PART] + c]))
    if longest > cap:
        for c in range(I[LIVE]):
            W[I[PART] + c] *= cap / longest
        return cap
    return longest


@kernel
def _leaves(x: float, part: float, longest: float, lower: float, upper: float) -> bool:
    """Whether a column ends outside its bounds, and moves."""
    return (x + part < lower or x + part > upper) and abs(part) > NOTHING * longest


@kernel
def _within(
    I: Integers, F: Floats, W: Floats, level: int, above: int, cap: float, held: bool, q: int, limits: int, entries: int
) -> float:
    """Write the capped step of one level into PART; how much of it can be taken within bounds."""
    n, step, part, e2 = I[LIVE], I[STEP], I[PART], 0.0
    for i in range(I[level + ROWS]):
        e2 += W[I[ERROR_TRIAL] + i] * W[I[ERROR_TRIAL] + i]
    mu = F[I[THRESHOLDS] + DAMPING] * e2 + 1e-12
    _solved(I, F, W, level, above, mu, held)
    longest = _cap(I, W, cap)
    for _ in range(I[PASSES]):
        before = above
        for c in range(n):
            x = W[q + I[entries + c]] + W[step + c]
            if _leaves(x, W[part + c], longest, F[limits + c], F[limits + n + c]):
                for k in range(n):
                    W[I[ABOVE] + above * n + k] = 1.0 if k == c else 0.0
                above += 1
        if above == before:
            return 1.0
        _solved(I, F, W, level, above, mu, held)
        longest = _cap(I, W, cap)
    fraction = 1.0
    for c in range(n):
        x, lower, upper = W[q + I[entries + c]] + W[step + c], F[limits + c], F[limits + n + c]
        if _leaves(x, W[part + c], longest, lower, upper):
            end = upper if W[part + c] > 0.0 else lower
            fraction = min(fraction, (end - x) / W[part + c])
    return max(fraction, 0.0)


@kernel
def extended(I: Integers, F: Floats, W: Floats, q: int, held: bool, limits: int, entries: int) -> None:
    """Add the steps of the lower levels to STEP, the step of level 0.

    Args:
        q: configuration.
        held: whether some columns are HELD.
        limits, entries: as for `saturated`.
    """
    n, step, above = I[LIVE], I[STEP], 0
    for number in range(I[LEVELS]):
        level = I[LEVEL_TABLE] + LEVEL_SIZE * number
        m, J = I[level + ROWS], I[level + JACOBIAN]
        if number > 0:
            copy_to(W, I[level + ERROR], m, I[ERROR_TRIAL])
            for c in range(n):
                for i in range(m):
                    W[I[ERROR_TRIAL] + i] += W[J + c * m + i] * W[step + c]
            part = _within(I, F, W, level, above, W[I[CAPS] + number], held, q, limits, entries)
            for c in range(n):
                W[step + c] += part * W[I[PART] + c]
        for i in range(m):
            _row(I, F, W, level, i, held, I[ABOVE] + above * n)
            above += 1


@kernel
def caps_begun(I: Integers, F: Floats, W: Floats) -> None:
    """Caps of the lower levels, and residuals, at the start of a try."""
    for n in range(I[LEVELS]):
        W[I[CAPS] + n], W[I[RESIDUALS] + n] = F[I[THRESHOLDS] + CAP], inf


@kernel
def caps_adapted(I: Integers, F: Floats, W: Floats) -> bool:
    """Change the caps of the lower levels by how the levels above fare; whether some cap is on its way down."""
    now, before, half = I[RESIDUALS], I[RESIDUALS_BEFORE], 0.5 * F[I[THRESHOLDS] + THRESHOLD]
    falling, settles = False, True
    for n in range(I[LEVELS]):
        W[before + n] = W[now + n]
        W[now + n] = measured(I, W, I[LEVEL_TABLE] + LEVEL_SIZE * n)[1]
    for n in range(1, I[LEVELS]):
        r = W[now + n - 1]
        settles = settles and (r <= half or r < SETTLING * W[before + n - 1])
        factor = 2.0 if settles else 0.5 if W[now + n] < GAINING * W[before + n] else 0.1
        cap = min(factor * W[I[CAPS] + n], F[I[THRESHOLDS] + CAP])
        W[I[CAPS] + n] = cap
        falling = falling or (not settles and cap > LEAST_CAP)
    return falling

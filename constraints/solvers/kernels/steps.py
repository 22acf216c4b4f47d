r"""The step of level 0: damped, within bounds, capped.

.. math:: dq = -D^2 J^T y, \qquad (J D^2 J^T + \mu I)\, y = e
"""

from __future__ import annotations

from .configurations import copy_to
from .jit import Floats, Integers, kernel
from .layout import (
    CAP,
    DUAL,
    ERROR,
    ERROR_TRIAL,
    HELD,
    JACOBIAN,
    LEVEL_TABLE,
    LIVE,
    NORMAL,
    PASSES,
    ROWS,
    SCALE,
    STEP,
    STEP_TRIAL,
    THRESHOLDS,
    TO_BOUND,
)


@kernel
def _add_columns(W: Floats, m: int, J: int, N: int) -> None:
    """Upper half of N + J J^T, of four columns of J: N is read and written a quarter as often as column by column."""
    for i in range(m):
        a, b, c, d = W[J + i], W[J + m + i], W[J + 2 * m + i], W[J + 3 * m + i]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            row = N + i * m
            for j in range(i, m):
                more = a * W[J + j] + b * W[J + m + j]
                W[row + j] += more + (c * W[J + 2 * m + j] + d * W[J + 3 * m + j])


@kernel
def _add_column(W: Floats, m: int, J: int, N: int, scale2: float) -> None:
    """The same of one column, times a factor."""
    for i in range(m):
        a = scale2 * W[J + i]
        if a != 0.0:
            row = N + i * m
            for j in range(i, m):
                W[row + j] += a * W[J + j]


@kernel
def _normal_matrix(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, N: int, mu: float, holding: bool) -> None:
    """Upper half of J D^2 J^T + mu I."""
    for i in range(m):
        for j in range(i, m):
            W[N + i * m + j] = 0.0
        W[N + i * m + i] = mu
    first = 0
    if not holding and I[SCALE] == 0:
        while first + 4 <= n:
            _add_columns(W, m, J + first * m, N)
            first += 4
    for c in range(first, n):
        if not (holding and W[I[HELD] + c] != 0.0):
            _add_column(W, m, J + c * m, N, 1.0 if I[SCALE] == 0 else F[I[SCALE] + c] * F[I[SCALE] + c])


@kernel
def cholesky_solved(W: Floats, N: int, m: int, y: int) -> bool:
    """Solve N y = y by N = U^T D U, the upper half of N in place; False where rounding took definiteness.

    The diagonal becomes the inverse of D. Rows are taken off those below: sums of products, one number after the other,
    would wait for each other.
    """
    for k in range(m):
        top = N + k * m
        if not W[top + k] > 0.0:
            return False
        inverse = 1.0 / W[top + k]
        W[top + k] = inverse
        for i in range(k + 1, m):
            a, row = W[top + i] * inverse, N + i * m
            if a != 0.0:  # rows of two loops without a common joint
                for j in range(i, m):
                    W[row + j] -= a * W[top + j]
                W[y + i] -= a * W[y + k]
    for k in range(m - 1, -1, -1):
        x = W[y + k] * W[N + k * m + k]
        W[y + k] = x
        for i in range(k):
            W[y + i] -= W[N + i * m + k] * x
    return True


@kernel
def _largest_square(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, holding: bool) -> float:
    """Largest square of an entry of J D."""
    largest = 0.0
    for c in range(n):
        if holding and W[I[HELD] + c] != 0.0:
            continue
        scale2 = 1.0 if I[SCALE] == 0 else F[I[SCALE] + c] * F[I[SCALE] + c]
        for i in range(m):
            largest = max(largest, scale2 * W[J + c * m + i] * W[J + c * m + i])
    return largest


@kernel
def dot(W: Floats, x: int, y: int, n: int) -> float:
    """Sum of products, in four parts that do not wait for each other."""
    a, b, c, d, i = 0.0, 0.0, 0.0, 0.0, 0
    while i + 4 <= n:
        a += W[x + i] * W[y + i]
        b += W[x + i + 1] * W[y + i + 1]
        c += W[x + i + 2] * W[y + i + 2]
        d += W[x + i + 3] * W[y + i + 3]
        i += 4
    while i < n:
        a += W[x + i] * W[y + i]
        i += 1
    return (a + b) + (c + d)


@kernel
def damped_step(I: Integers, F: Floats, W: Floats, e: int, mu: float, holding: bool) -> None:
    """Write the damped step for errors e into STEP; columns that are HELD are left out where some are."""
    level = I[LEVEL_TABLE]
    m, n, J, N, y, step = I[level + ROWS], I[LIVE], I[level + JACOBIAN], I[NORMAL], I[DUAL], I[STEP]
    _normal_matrix(I, F, W, m, n, J, N, mu, holding)
    copy_to(W, e, m, y)
    while not cholesky_solved(W, N, m, y):  # rounding took definiteness: rows of very different size
        mu = 10.0 * mu + 1e-12 * _largest_square(I, F, W, m, n, J, holding)
        _normal_matrix(I, F, W, m, n, J, N, mu, holding)
        copy_to(W, e, m, y)
    for c in range(n):
        s = 0.0
        if not (holding and W[I[HELD] + c] != 0.0):
            s = -dot(W, J + c * m, y, m)
            if I[SCALE] != 0:
                s *= F[I[SCALE] + c] * F[I[SCALE] + c]
        W[step + c] = s


@kernel
def saturated(I: Integers, F: Floats, W: Floats, q: int, mu: float, limits: int, entries: int) -> bool:
    """Keep STEP within bounds: what would leave is set to its bound, the others make up for it; whether any is held.

    As `SolverBounds.saturate`: HELD says which, STEP has the step.

    Args:
        q: configuration.
        mu: damping.
        limits: at in F: lower bounds of columns, then upper ones.
        entries: at in I: the entry of q that each column moves alone.
    """
    level = I[LEVEL_TABLE]
    m, n, step, held, e = I[level + ROWS], I[LIVE], I[STEP], I[HELD], I[level + ERROR]
    for c in range(n):
        W[held + c] = 0.0
    holding, passes = False, I[PASSES]
    while True:
        more, leaves = False, False
        for c in range(n):
            x = W[q + I[entries + c]]
            target = x + W[step + c]
            inside = min(max(target, F[limits + c]), F[limits + n + c])
            W[I[TO_BOUND] + c] = inside - x
            if inside != target:
                leaves = True
                if W[held + c] == 0.0:
                    W[held + c], more = 1.0, True
        if not leaves or not more:
            return holding
        holding = True
        if passes == 0:
            copy_to(W, I[TO_BOUND], n, step)
            return True
        passes -= 1
        copy_to(W, e, m, I[ERROR_TRIAL])
        for c in range(n):
            if W[held + c] != 0.0:
                for i in range(m):
                    W[I[ERROR_TRIAL] + i] += W[I[level + JACOBIAN] + c * m + i] * W[I[TO_BOUND] + c]
        copy_to(W, I[TO_BOUND], n, I[STEP_TRIAL])
        damped_step(I, F, W, I[ERROR_TRIAL], mu, True)
        for c in range(n):
            if W[held + c] != 0.0:
                W[step + c] = W[I[STEP_TRIAL] + c]


@kernel
def part_within_cap(I: Integers, F: Floats, W: Floats, step: int) -> float:
    """How much of a step can be taken so that no coordinate moves more than the cap."""
    longest, cap = 0.0, F[I[THRESHOLDS] + CAP]
    for c in range(I[LIVE]):
        longest = max(longest, abs(W[step + c]))
    return cap / longest if longest > cap else 1.0


@kernel
def squared_length(I: Integers, W: Floats, step: int) -> float:
    """Of a step."""
    s = 0.0
    for c in range(I[LIVE]):
        s += W[step + c] * W[step + c]
    return s

r"""The step of level 0: damped, within bounds, capped.

.. math:: dq = -D^2 J^T y, \qquad (J D^2 J^T + \mu I)\, y = e
"""

from __future__ import annotations

from math import sqrt

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
def _normal_matrix(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, N: int, mu: float, holding: bool) -> None:
    """Lower half of J D^2 J^T + mu I."""
    for i in range(m):
        for j in range(i):
            W[N + i * m + j] = 0.0
        W[N + i * m + i] = mu
    for c in range(n):
        if holding and W[I[HELD] + c] != 0.0:
            continue
        o = J + c * m
        scale2 = 1.0 if I[SCALE] == 0 else F[I[SCALE] + c] * F[I[SCALE] + c]
        for i in range(m):
            a = W[o + i]
            if a != 0.0:
                a *= scale2
                for j in range(i + 1):
                    W[N + i * m + j] += a * W[o + j]


@kernel
def cholesky_solved(W: Floats, N: int, m: int, y: int) -> bool:
    """Solve N y = y by N = L L^T in place; False where rounding took definiteness."""
    for i in range(m):
        r = N + i * m
        for j in range(i):
            p, s = N + j * m, W[r + j]
            for k in range(j):
                s -= W[r + k] * W[p + k]
            W[r + j] = s * W[p + j]  # the diagonal has inverses
        s = W[r + i]
        for k in range(i):
            s -= W[r + k] * W[r + k]
        if not s > 0.0:
            return False
        W[r + i] = 1.0 / sqrt(s)
        s = W[y + i]
        for k in range(i):
            s -= W[r + k] * W[y + k]
        W[y + i] = s * W[r + i]
    for i in range(m - 1, -1, -1):
        s = W[y + i]
        for k in range(i + 1, m):
            s -= W[N + k * m + i] * W[y + k]
        W[y + i] = s * W[N + i * m + i]
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
            for i in range(m):
                s -= W[J + c * m + i] * W[y + i]
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

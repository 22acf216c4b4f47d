r"""The step of level 0: damped, within bounds, capped.

.. math:: dq = -D^2 J^T y, \qquad (J D^2 J^T + \mu I)\, y = e
"""

from __future__ import annotations

from math import inf, nan

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel, off
from .cholesky import normal_solved, weight
from .configurations import copy_to


@kernel
def _largest_square(I: Integers, F: Floats, W: Floats, m: int, n: int, J: int, holding: bool) -> float:
    """Largest square of an entry of J D."""
    largest = 0.0
    for c in range(n):
        for i in range(m):
            largest = max(largest, weight(I, F, W, c, holding) * W[J + c * m + i] * W[J + c * m + i])
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
def damped_step(I: Integers, F: Floats, W: Floats, e: int, mu: float, asked: bool, holding: bool) -> None:
    """Write the damped step for errors e into STEP, NaN where there is none; columns that are HELD are left out.

    Who is not `asked` gets a step of no use, and is not waited for.
    """
    level = I[at.LEVEL_TABLE]
    m, n, J, y, step = I[level + at.ROWS], I[at.LIVE], I[level + at.JACOBIAN], I[at.DUAL], I[at.STEP]
    copy_to(W, e, m, y)
    solved = normal_solved(I, F, W, m, n, J, y, mu, holding)
    missing = asked & off(solved)
    while any_of(missing):  # R12: rows of very different size, and rounding
        mu = chosen(missing, 10.0 * mu + 1e-12 * _largest_square(I, F, W, m, n, J, holding), mu)
        copy_to(W, e, m, y)
        solved = normal_solved(I, F, W, m, n, J, y, mu, holding)
        missing = missing & off(solved) & (mu < inf)
    ranges = I[at.RANGES]
    for c in range(n):
        first, end = I[ranges + 2 * c] & -4, min((I[ranges + 2 * c + 1] + 3) & -4, m)  # in the same four parts
        W[step + c] = -weight(I, F, W, c, holding) * dot(W, J + c * m + first, y + first, end - first)
    if any_of(asked & off(solved)):
        for c in range(n):
            W[step + c] = chosen(solved, W[step + c], nan)


@kernel
def entered(I: Integers, F: Floats, W: Floats, level: int, step: int) -> bool:
    """Make equalities of rows that hold and that a step crosses, as `rows.one_sided`; whether there are any."""
    table, limits, m, n = I[level + at.ONE_SIDED], I[level + at.SIDES], I[level + at.ROWS], I[at.LIVE]
    found = False
    for k in range(I[table]):
        i = I[table + 1 + 2 * k]
        e = I[level + at.ERROR] + i
        value, row = W[I[table + 2 + 2 * k]], I[level + at.UNCLIPPED] + k * n
        after = value + dot(W, row, step, n)
        limit = min(max(after, F[limits + 2 * k]), F[limits + 2 * k + 1])
        crossed = (W[e] == 0.0) & (limit != after)  # R9
        if any_of(crossed):
            W[e] = chosen(crossed, value - limit, W[e])
            for c in range(n):
                o = I[level + at.JACOBIAN] + c * m + i
                W[o] = chosen(crossed, W[row + c], W[o])
            found = found | crossed
    return found


@kernel
def saturated(I: Integers, F: Floats, W: Floats, q: int, mu: float, limits: int, entries: int, asked: bool) -> bool:
    """Keep STEP within bounds: what would leave is set to its bound, the others make up for it; whether any is held.

    As `SolverBounds.saturate`: HELD says which, STEP has the step.

    Args:
        q: configuration.
        mu: damping.
        limits: at in F: lower bounds of columns, then upper ones.
        entries: at in I: the entry of q that each column moves alone.
        asked: whose step it is; others keep theirs.
    """
    level = I[at.LEVEL_TABLE]
    m, n, step, held, e = I[level + at.ROWS], I[at.LIVE], I[at.STEP], I[at.HELD], I[level + at.ERROR]
    for c in range(n):
        W[held + c] = 0.0  # R14
    passes, holding = I[at.PASSES], asked & off(asked)
    while True:
        more = asked & off(asked)
        for c in range(n):
            x = W[q + I[entries + c]]
            target = x + W[step + c]
            inside = min(max(target, F[limits + c]), F[limits + n + c])
            W[I[at.TO_BOUND] + c] = inside - x
            new = asked & (inside != target) & (W[held + c] == 0.0)
            W[held + c] = chosen(new, 1.0, W[held + c])  # R13
            more = more | new
        asked = more
        if not any_of(asked):
            return holding
        holding = holding | asked
        if passes == 0:
            for c in range(n):
                W[step + c] = chosen(asked, W[I[at.TO_BOUND] + c], W[step + c])
            return holding
        passes -= 1
        copy_to(W, e, m, I[at.ERROR_TRIAL])
        for c in range(n):
            stays = W[held + c] != 0.0
            if any_of(stays):
                by = chosen(stays, W[I[at.TO_BOUND] + c], 0.0)
                for i in range(m):
                    W[I[at.ERROR_TRIAL] + i] += W[I[level + at.JACOBIAN] + c * m + i] * by
            W[I[at.STEP_TRIAL] + c] = chosen(asked, W[I[at.TO_BOUND] + c], W[step + c])
        damped_step(I, F, W, I[at.ERROR_TRIAL], mu, asked, True)
        for c in range(n):
            W[step + c] = chosen(asked & (W[held + c] == 0.0), W[step + c], W[I[at.STEP_TRIAL] + c])


@kernel
def part_within_cap(I: Integers, F: Floats, W: Floats, step: int) -> float:
    """How much of a step can be taken so that no coordinate moves more than the cap."""
    longest, cap = 0.0, F[I[at.THRESHOLDS] + at.CAP]
    for c in range(I[at.LIVE]):
        longest = max(longest, abs(W[step + c]))
    beyond = longest > cap
    return chosen(beyond, cap / chosen(beyond, longest, 1.0), 1.0)


@kernel
def squared_length(I: Integers, W: Floats, step: int) -> float:
    """Of a step."""
    s = 0.0
    for c in range(I[at.LIVE]):
        s += W[step + c] * W[step + c]
    return s

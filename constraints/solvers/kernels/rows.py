r"""Rows of constraints: errors :math:`s\,(r - \mathrm{clip}(r, l, u))`, r = log(rhs^-1 h), and their Jacobians."""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import NamedTuple

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel, off, record, rounded
from ..tape.groups import log_carried, point_log

NO_TURN = 1e-12
"""As in `rows.rotation_vectors`."""


@record
class RowPlaces(NamedTuple):
    """Where the rows of one constraint are: in I tables, in F intervals, in W numbers."""

    rows: int
    error: int
    side: int
    value: int
    columns: int
    J: int
    stride: int
    intervals: int
    where: int
    scaled: int


@kernel
def _places_of(I: Integers, b: int) -> RowPlaces:
    """Those of a block."""
    return RowPlaces(
        I[b + at.TANGENT],
        I[b + at.LOG],
        I[b + at.SIDE],
        I[b + at.VALUE],
        I[b + at.COLUMNS],
        I[b + at.BLOCK_JACOBIAN],
        I[b + at.STRIDE],
        I[b + at.INTERVALS],
        I[b + at.WHERE],
        I[b + at.SCALED],
    )


@kernel
def _apply_intervals(I: Integers, F: Floats, W: Floats, b: RowPlaces, jacobian: int) -> None:
    """Signed, scaled distances to the interval of each row; rows inside are zero, unless they are set apart later."""
    for i in range(b.rows):
        limits = b.intervals + 3 * i
        lower, upper, scale = F[limits], F[limits + 1], F[limits + 2]
        r = W[b.error + i]
        beyond = r - min(max(r, lower), upper)  # R8
        W[b.error + i] = beyond * scale
        if b.scaled != 0:
            W[b.scaled + i] = r * scale
        if jacobian != 0 and lower < upper and b.scaled == 0:
            holds = beyond == 0.0
            for n in range(I[b.columns]):
                o = b.J + I[b.columns + 1 + n] * b.stride + i
                W[o] = chosen(holds, 0.0, scale * W[o])
        elif jacobian != 0 and scale != 1.0:
            for n in range(I[b.columns]):
                o = b.J + I[b.columns + 1 + n] * b.stride + i
                W[o] = scale * W[o]


@kernel
def _copy_counting(I: Integers, W: Floats, level: int, b: RowPlaces, jacobian: int) -> None:
    """Rows that count, from the memory of their constraint to the level."""
    error, J, rows = I[level + at.ERROR], I[level + at.JACOBIAN], I[level + at.ROWS]
    for i in range(b.rows):
        row = I[b.where + i]
        if row >= 0:
            W[error + row] = W[b.error + i]
            if jacobian != 0:
                for n in range(I[b.columns]):
                    c = I[b.columns + 1 + n]
                    W[J + c * rows + row] = W[b.J + c * b.stride + i]


@kernel
def _shorter(W: Floats, r: int) -> tuple[float, float, float]:
    """As `rows.rotation_vectors.shorter`."""
    x, y, z = W[r], W[r + 1], W[r + 2]
    angle = sqrt(x * x + y * y + z * z)
    short = angle <= pi
    part = chosen(short, 1.0, 1.0 - 2.0 * pi * rounded(angle / (2.0 * pi)) / chosen(short, 1.0, angle))
    return x * part, y * part, z * part


@kernel
def _to_nearest_turn(I: Integers, W: Floats, b: RowPlaces, first: int, jacobian: int) -> None:
    """As `rows.rotation_vectors.to_nearest_turn`, of three rows."""
    e, value = b.error + first, b.value + first
    p, q, s = _shorter(W, b.side + first)
    x, y, z = W[value] - p, W[value + 1] - q, W[value + 2] - s
    W[e], W[e + 1], W[e + 2] = x, y, z
    far = off(x * x + y * y + z * z <= pi * pi)
    if not any_of(far):
        return
    u, v, w = x + p, y + q, z + s
    angle = sqrt(u * u + v * v + w * w)
    far = far & off((angle < NO_TURN) | (u * x + v * y + w * z <= pi * angle))
    by = chosen(far, angle, 1.0)
    u, v, w = u / by, v / by, w / by
    W[e] = chosen(far, x - 2.0 * pi * u, x)
    W[e + 1] = chosen(far, y - 2.0 * pi * v, y)
    W[e + 2] = chosen(far, z - 2.0 * pi * w, z)
    if jacobian != 0:
        part = 2.0 * pi / by
        for n in range(I[b.columns]):
            o = b.J + I[b.columns + 1 + n] * b.stride + first
            along = part * (u * W[o] + v * W[o + 1] + w * W[o + 2])
            W[o] = chosen(far, (1.0 - part) * W[o] + along * u, W[o])
            W[o + 1] = chosen(far, (1.0 - part) * W[o + 1] + along * v, W[o + 1])
            W[o + 2] = chosen(far, (1.0 - part) * W[o + 2] + along * w, W[o + 2])


@kernel
def write_rows(I: Integers, F: Floats, W: Floats, level: int, jacobian: int) -> None:
    """Errors of all blocks of a level, whose functions have been evaluated."""
    blocks = I[level + at.BLOCKS]
    for n in range(I[blocks]):
        start = blocks + 1 + at.BLOCK_SIZE * n
        b = _places_of(I, start)
        if I[start + at.FLAT] != 0:
            for i in range(b.rows):
                W[b.error + i] = W[b.value + i] - W[b.side + i]
            turns = I[start + at.TURNS]
            for t in range(I[turns]):
                _to_nearest_turn(I, W, b, I[turns + 1 + t], jacobian)
        else:
            group = I[start + at.GROUP]
            point_log(I, W, group, b.side, b.value, b.error)
            if jacobian != 0:
                log_carried(I, W, group, b.error, b.J, b.stride, b.columns)
        if b.intervals != 0:
            _apply_intervals(I, F, W, b, jacobian)
        if b.where != 0:
            _copy_counting(I, W, level, b, jacobian)


@kernel
def set_apart(I: Integers, W: Floats, level: int) -> None:
    """Keep the Jacobian of all rows with an interval, and clear it where they hold: as `rows.one_sided`."""
    table, m, n, J, to = (
        I[level + at.ONE_SIDED],
        I[level + at.ROWS],
        I[at.LIVE],
        I[level + at.JACOBIAN],
        I[level + at.UNCLIPPED],
    )
    for k in range(I[table]):
        i = I[table + 1 + 2 * k]
        holds = W[I[level + at.ERROR] + i] == 0.0  # R8
        for c in range(n):
            W[to + k * n + c] = W[J + c * m + i]
            W[J + c * m + i] = chosen(holds, 0.0, W[J + c * m + i])


@kernel
def measured(I: Integers, W: Floats, level: int) -> tuple[float, float]:
    """Squared norm of all rows of a level, and largest norm of one constraint; infinite where one is no number."""
    blocks, merit, worst = I[level + at.BLOCKS], 0.0, 0.0
    for n in range(I[blocks]):
        b = blocks + 1 + at.BLOCK_SIZE * n
        e, length2 = I[level + at.ERROR] + I[b + at.FIRST], 0.0
        for i in range(I[b + at.COUNT]):
            length2 += W[e + i] * W[e + i]
        merit += length2
        worst = max(worst, sqrt(length2))  # R1
    finite = merit < inf
    return chosen(finite, merit, inf), chosen(finite, worst, inf)

"""Solids that may collide: which pairs are apart for certain, by spheres that hold all of them, and which overlap."""

from __future__ import annotations

from math import sqrt

from ..machine import layout as at
from ..machine.jit import Floats, Integers, Matrix, Numbers, entrance, floats_at, integers_at, kernel
from ..tape.trees import place


@kernel
def _put(I: Integers, F: Floats, W: Floats, cover: int, first: int, end: int) -> None:
    """Put spheres of a solid, from the first one to before the end, at their places in the world."""
    out, M, s = I[cover + at.PUT] + 1, I[cover + at.CARRIER], I[cover + at.SPHERES]
    for n in range(first, end):
        x, y, z = F[s + 4 * n], F[s + 4 * n + 1], F[s + 4 * n + 2]
        for i in range(3):
            W[out + 3 * n + i] = W[M + 9 + i] + W[M + 3 * i] * x + W[M + 3 * i + 1] * y + W[M + 3 * i + 2] * z


@kernel
def _whole(I: Integers, F: Floats, W: Floats, cover: int) -> int:
    """Where the sphere around a solid is in W; it is put there if it is not."""
    out = I[cover + at.PUT]
    if W[out] == 0.0:
        W[out] = 1.0
        _put(I, F, W, cover, 0, 1)
    return out + 1


@kernel
def _spheres(I: Integers, F: Floats, W: Floats, cover: int) -> None:
    """Have all spheres of a solid at their places."""
    out = I[cover + at.PUT]
    if W[out] == 1.0:
        W[out] = 2.0
        _put(I, F, W, cover, 1, I[cover + at.SPHERE_COUNT] + 1)


@kernel
def _are_apart(F: Floats, W: Floats, a: int, b: int, radius: int, other: int, gap: float) -> bool:
    """Whether two spheres are farther than a gap from each other; centers in W, radii in F."""
    x, y, z, d = W[a] - W[b], W[a + 1] - W[b + 1], W[a + 2] - W[b + 2], F[radius] + F[other] + gap
    return x * x + y * y + z * z > d * d


@kernel
def _covers_apart(I: Integers, F: Floats, W: Floats, one: int, other: int, gap: float) -> bool:
    """Whether each sphere of a solid is apart from each one of another solid."""
    a, b, r, s = _whole(I, F, W, one), _whole(I, F, W, other), I[one + at.SPHERES] + 3, I[other + at.SPHERES] + 3
    if _are_apart(F, W, a, b, r, s, gap):
        return True
    _spheres(I, F, W, one)
    _spheres(I, F, W, other)
    for n in range(1, I[one + at.SPHERE_COUNT] + 1):
        if not _are_apart(F, W, a + 3 * n, b, r + 4 * n, s, gap):
            for k in range(1, I[other + at.SPHERE_COUNT] + 1):
                if not _are_apart(F, W, a + 3 * n, b + 3 * k, r + 4 * n, s + 4 * k, gap):
                    return False
    return True


@kernel
def _from_wall(F: Floats, W: Floats, kind: int, shape: int, a: int) -> float:
    r"""Distance of a point from a solid in the world; at most 0 inside.

    With :math:`(u, v, w) = R^T (p - p_0)`: box :math:`\|\max(|u|-h_u, 0), \ldots\|`, cylinder the same of
    :math:`(\sqrt{u^2+v^2}-r, |w|-h)`, capsule :math:`\|(u, v, \max(|w|-h, 0))\| - r`, sphere :math:`\|p-p_0\| - r`.
    """
    x, y, z = W[a] - F[shape + 9], W[a + 1] - F[shape + 10], W[a + 2] - F[shape + 11]
    u = abs(F[shape] * x + F[shape + 3] * y + F[shape + 6] * z)
    v = abs(F[shape + 1] * x + F[shape + 4] * y + F[shape + 7] * z)
    w = abs(F[shape + 2] * x + F[shape + 5] * y + F[shape + 8] * z)
    b, c, d = F[shape + 12], F[shape + 13], F[shape + 14]
    if kind == at.SPHERE_WALL:
        return sqrt(u * u + v * v + w * w) - b
    if kind == at.BOX_WALL:
        u, v, w = max(u - b, 0.0), max(v - c, 0.0), max(w - d, 0.0)
        return sqrt(u * u + v * v + w * w)
    w = max(w - c, 0.0)
    if kind == at.CAPSULE_WALL:
        return sqrt(u * u + v * v + w * w) - b
    u = max(sqrt(u * u + v * v) - b, 0.0)
    return sqrt(u * u + w * w)


@kernel
def _apart_from_wall(I: Integers, F: Floats, W: Floats, one: int, wall: int, gap: float) -> bool:
    """Whether each sphere of a solid is apart from a solid in the world."""
    a, r, kind, shape = _whole(I, F, W, one), I[one + at.SPHERES] + 3, I[wall + at.WALL_KIND], I[wall + at.WALL_SHAPE]
    if _from_wall(F, W, kind, shape, a) > F[r] + gap:
        return True
    _spheres(I, F, W, one)
    for n in range(1, I[one + at.SPHERE_COUNT] + 1):
        if not _from_wall(F, W, kind, shape, a + 3 * n) > F[r + 4 * n] + gap:
            return False
    return True


@kernel
def pairs_at(I: Integers, F: Floats, W: Floats, found: Integers, count: int, row: int) -> int:
    """Add to the list the pairs that are not apart for certain, at the configuration in Q; how long it is then."""
    place(I, F, W, I[at.ALL_JOINTS], I[at.Q], at.VALUES)
    covers = I[at.COVERS]
    for n in range(I[at.MOVING_COVERS]):
        W[I[covers + 1 + at.COVER_SIZE * n + at.PUT]] = 0.0
    pairs = I[at.COVER_PAIRS]
    for n in range(I[pairs]):
        pair = pairs + 1 + at.COVER_PAIR_SIZE * n
        one, other, gap = I[pair + at.ONE], I[pair + at.OTHER], F[I[pair + at.APART]]
        if I[pair + at.IS_WALL] != 0:
            apart = _apart_from_wall(I, F, W, one, other, gap)
        else:
            apart = _covers_apart(I, F, W, one, other, gap)
        if not apart:
            found[count], found[count + 1] = row, n
            count += 2
    return count


@kernel
def overlap(I: Integers, F: Floats, W: Floats, pair: int) -> bool:
    """Whether a pair collides for certain at the configuration that was looked at: a point of one is in the other."""
    record = I[I[at.OVERLAPS] + pair]
    if record == 0:
        return False
    M, p, out = I[record + at.POINTS_CARRIER], I[record + at.POINTS], I[record + at.POINT]
    kind, shape, within = I[record + at.INNER_KIND], I[record + at.INNER_SHAPE], F[I[record + at.WITHIN]]
    for n in range(I[record + at.POINT_COUNT]):
        x, y, z = F[p + 3 * n], F[p + 3 * n + 1], F[p + 3 * n + 2]
        for i in range(3):
            W[out + i] = W[M + 9 + i] + W[M + 3 * i] * x + W[M + 3 * i + 1] * y + W[M + 3 * i + 2] * z
        if _from_wall(F, W, kind, shape, out) <= within:
            return True
    return False


@entrance
def pairs_of_rows(where: Numbers, Q: Matrix, first: int, room: int) -> tuple[int, int]:
    """Look at rows, from one on, as long as there is room for all pairs of the next one.

    Args:
        where: `places` of the packed solids, of the memory of this worker, and of the list, to be filled with (row,
            pair) of those that are not apart for certain.
        Q: configurations (n, nq).
        first: row to begin with.
        room: of the list; at least two numbers a pair.

    Returns:
        The row that is next, and how many numbers were written.
    """
    I, F, W, out = integers_at(where[0]), floats_at(where[1]), floats_at(where[2]), integers_at(where[3])
    count, row, room = 0, first, room - 2 * I[I[at.COVER_PAIRS]]
    while row < Q.shape[0] and count <= room:
        for i in range(I[at.NQ]):
            W[I[at.Q] + i] = Q[row, i]
        count = pairs_at(I, F, W, out, count, row)
        row += 1
    return row, count

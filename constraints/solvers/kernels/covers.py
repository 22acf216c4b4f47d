"""Solids that may collide: which pairs are apart for certain, by spheres that hold all of them, and which overlap."""

from __future__ import annotations

from math import sqrt

from ..machine import layout as at
from ..machine.jit import Floats, Integers, Matrix, Numbers, entrance, floats_at, integers_at, kernel
from ..tape.trees import place


@kernel
def put(I: Integers, F: Floats, W: Floats, cover: int, first: int, end: int) -> None:
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
        put(I, F, W, cover, 0, 1)
    return out + 1


@kernel
def _spheres(I: Integers, F: Floats, W: Floats, cover: int) -> None:
    """Have all spheres of a solid at their places."""
    out = I[cover + at.PUT]
    if W[out] == 1.0:
        W[out] = 2.0
        put(I, F, W, cover, 1, I[cover + at.SPHERE_COUNT] + 1)


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
def _side(x: float, lower: float, upper: float) -> float:
    """How far a number is outside an interval."""
    return max(lower - x, x - upper, 0.0)


@kernel
def _near_points(P: Floats, leaves: int, size: int, x: float, y: float, z: float, d: float) -> bool:
    """Whether one of many points is not farther than d from (x, y, z).

    Boxes of their tree that are farther are passed over, with all that is in them: behind box n comes n + 1, or what
    comes behind the box that n is the second half of.
    """
    n = 1
    while n > 0:
        u, v = _side(x, P[6 * n], P[6 * n + 3]), _side(y, P[6 * n + 1], P[6 * n + 4])
        w = _side(z, P[6 * n + 2], P[6 * n + 5])
        if u * u + v * v + w * w <= d * d:
            if n < leaves:
                n = 2 * n
                continue
            first = 12 * leaves + 3 * size * (n - leaves)
            for k in range(size):
                u, v, w = P[first + 3 * k] - x, P[first + 3 * k + 1] - y, P[first + 3 * k + 2] - z
                if u * u + v * v + w * w <= d * d:
                    return True
        while n % 2 == 1:
            n = n // 2
        if n > 0:
            n += 1
    return False


@kernel
def _near_cloud(I: Integers, F: Floats, W: Floats, P: Floats, wall: int, a: int, d: float) -> bool:
    """Whether a point in the world is not farther than d from one of a cloud."""
    shape = I[wall + at.WALL_SHAPE]
    x, y, z = W[a] - F[shape + 9], W[a + 1] - F[shape + 10], W[a + 2] - F[shape + 11]
    u = F[shape] * x + F[shape + 3] * y + F[shape + 6] * z
    v = F[shape + 1] * x + F[shape + 4] * y + F[shape + 7] * z
    w = F[shape + 2] * x + F[shape + 5] * y + F[shape + 8] * z
    return _near_points(P, I[wall + at.WALL_LEAVES], I[wall + at.WALL_POINTS], u, v, w, d + F[shape + 12])


@kernel
def _apart_from_cloud(I: Integers, F: Floats, W: Floats, P: Floats, one: int, wall: int, gap: float) -> bool:
    """Whether each sphere of a solid is apart from all points of a cloud in the world."""
    a, r = _whole(I, F, W, one), I[one + at.SPHERES] + 3
    if not _near_cloud(I, F, W, P, wall, a, F[r] + gap):
        return True
    _spheres(I, F, W, one)
    for n in range(1, I[one + at.SPHERE_COUNT] + 1):
        if _near_cloud(I, F, W, P, wall, a + 3 * n, F[r + 4 * n] + gap):
            return False
    return True


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
def apart(I: Integers, F: Floats, W: Floats, where: Numbers, pair: int, gap: float) -> bool:
    """Whether a pair is apart for certain."""
    one, other = I[pair + at.ONE], I[pair + at.OTHER]
    if I[pair + at.IS_WALL] == 0:
        return _covers_apart(I, F, W, one, other, gap)
    if I[other + at.WALL_KIND] == at.CLOUD_WALL:
        return _apart_from_cloud(I, F, W, floats_at(where[I[other + at.WALL_CLOUD]]), one, other, gap)
    return _apart_from_wall(I, F, W, one, other, gap)


@kernel
def forget_places(I: Integers, W: Floats) -> None:
    """Say that no sphere of a solid that moves is at its place."""
    covers = I[at.COVERS]
    for n in range(I[at.MOVING_COVERS]):
        W[I[covers + 1 + at.COVER_SIZE * n + at.PUT]] = 0.0


@kernel
def pairs_at(
    I: Integers, F: Floats, W: Floats, where: Numbers, more: Matrix, found: Integers, count: int, row: int
) -> int:
    """Add to the list the pairs that are not apart for certain, at the configuration in Q; how long it is then."""
    place(I, F, W, I[at.ALL_JOINTS], I[at.Q], at.VALUES)
    forget_places(I, W)
    pairs = I[at.COVER_PAIRS]
    for n in range(I[pairs]):
        pair, wider = pairs + 1 + at.COVER_PAIR_SIZE * n, 0.0
        if more.shape[0] > 0:
            wider = more[row, n]
        if wider >= 0.0 and not apart(I, F, W, where, pair, F[I[pair + at.APART]] + wider):
            found[count], found[count + 1] = row, n
            count += 2
    return count


@entrance
def pairs_of_rows(where: Numbers, Q: Matrix, more: Matrix, first: int, room: int) -> tuple[int, int]:
    """Look at rows, from one on, as long as there is room for all pairs of the next one.

    Args:
        where: `places` of the packed solids, of the memory of this worker, of the list, to be filled with (row, pair)
            of those that are not apart for certain, and of the trees of clouds.
        Q: configurations (n, nq).
        more: how much farther than usual each pair must be apart (n, pairs), negative where it is not asked; no row at
            all for nowhere.
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
        count = pairs_at(I, F, W, where, more, out, count, row)
        row += 1
    return row, count


@entrance
def balls_of_rows(where: Numbers, Q: Matrix, out: Matrix) -> None:
    """Where the spheres around whole moving solids are, and how these are turned, at many configurations.

    Args:
        where: as of `pairs_of_rows`.
        Q: configurations (n, nq).
        out: to be filled (n, 12 solids): of each nine numbers of its rotation, and the center.
    """
    I, F, W = integers_at(where[0]), floats_at(where[1]), floats_at(where[2])
    for row in range(Q.shape[0]):
        for i in range(I[at.NQ]):
            W[I[at.Q] + i] = Q[row, i]
        place(I, F, W, I[at.ALL_JOINTS], I[at.Q], at.VALUES)
        for n in range(I[at.MOVING_COVERS]):
            cover = I[at.COVERS] + 1 + at.COVER_SIZE * n
            put(I, F, W, cover, 0, 1)
            for i in range(9):
                out[row, 12 * n + i] = W[I[cover + at.CARRIER] + i]
            for i in range(3):
                out[row, 12 * n + 9 + i] = W[I[cover + at.PUT] + 1 + i]

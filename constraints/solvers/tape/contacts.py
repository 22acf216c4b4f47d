r"""Contacts of convex polygons, and the pose that a contact asks for.

With p, R the pose of the object's surface seen from the floor's, its rows are those of `functions.contact`: first the
five of the contact, then the three of its place. Each is a row times the linear or the angular velocity of the object's
surface in its own axes.
"""

from __future__ import annotations

from math import inf, sqrt

from ...functions.contact.contact_pose import ON_THE_FLOOR
from ...functions.contact.contact_rows import NO_TWIST, SMALL_TILT, STEEP_TILT, UPSIDE_DOWN
from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel, off
from .coefficients import exp_third, half_sinc
from .elementary import arc_tangent, length, sine_and_cosine
from .frames import relative_pose
from .groups import exp_times, quaternion_product, rotate
from .trees import product_of_poses


@kernel
def swing(n0: float, n1: float, n2: float) -> tuple[float, float, float, float]:
    """As in `contact_rows`."""
    s = length(n1, n2)
    small, upside_down = (n0 > 0.0) & (s < SMALL_TILT), s < UPSIDE_DOWN
    s2 = s * s
    ratio = 1.0 + s2 * (1 / 6 + s2 * (3 / 40 + s2 * (5 / 112 + s2 * 35 / 1152)))
    if any_of(off(small)):
        held = upside_down & off(small)
        n1, n2 = chosen(held, 0.0, n1), chosen(held, -UPSIDE_DOWN, n2)
        s = chosen(held, UPSIDE_DOWN, s)
        ratio = chosen(small, ratio, arc_tangent(s, n0) / chosen(small, 1.0, s))
    return s, -n2, n1, ratio


@kernel
def swing_rates(
    n0: float, b: float, c: float, e: float, f: float, h: float, i: float, s: float, u: float, w: float, ratio: float
) -> tuple[float, float, float, float]:
    """As in `contact_rows`."""
    du_y, du_z, dw_y, dw_z = i, -h, -f, e
    steep, small = off(n0 > STEEP_TILT), (n0 > 0.0) & (s < SMALL_TILT)
    s2 = s * s
    series = 1 / 3 + s2 * (2 / 15 + s2 * (8 / 105 + s2 * 16 / 315))  # times s2: 1e-17 is left
    slope = chosen(small, series, (1.0 - ratio * n0) / chosen(small, 1.0, s2))  # minus the derivative by n_x
    by_y, by_z = slope * c, -slope * b
    uy, uz, wy, wz = ratio * du_y + by_y * u, ratio * du_z + by_z * u, ratio * dw_y + by_y * w, ratio * dw_z + by_z * w
    if any_of(steep):
        by = chosen(steep, s, 1.0)
        t, v = u / by, w / by
        along_y, along_z = t * du_y + v * dw_y, t * du_z + v * dw_z
        turn = 1.0 / chosen(steep, n0, 1.0) - ratio
        uy = chosen(steep, ratio * du_y + turn * along_y * t, uy)
        uz = chosen(steep, ratio * du_z + turn * along_z * t, uz)
        wy = chosen(steep, ratio * dw_y + turn * along_y * v, wy)
        wz = chosen(steep, ratio * dw_z + turn * along_z * v, wz)
    return uy, uz, wy, wz


@kernel
def nearest_on_edges(F: Floats, edges: int, count: int, y: float, z: float) -> tuple[float, float, float, float, float]:
    """Of a point outside a polygon, as `Surface.nearest`: the nearest point, and its derivative (yy, yz, zz)."""
    best, ny, nz, yy, yz, zz = inf, y, z, 1.0, 0.0, 1.0
    for n in range(count):
        e = edges + 5 * n
        dy, dz, ty, tz, long = y - F[e], z - F[e + 1], F[e + 2], F[e + 3], F[e + 4]
        along = ty * dy + tz * dz
        held = min(max(along, 0.0), long)
        py, pz = F[e] + held * ty, F[e + 1] + held * tz
        distance = length(y - py, z - pz)
        nearer = off(ty * dz - tz * dy >= 0.0) & (distance < best)
        best, ny, nz = chosen(nearer, distance, best), chosen(nearer, py, ny), chosen(nearer, pz, nz)
        on = chosen((0.0 < along) & (along < long), 1.0, 0.0)
        yy, yz = chosen(nearer, on * (ty * ty), yy), chosen(nearer, on * (ty * tz), yz)
        zz = chosen(nearer, on * (tz * tz), zz)
    return ny, nz, yy, yz, zz


@kernel
def nearest(F: Floats, edges: int, count: int, y: float, z: float) -> tuple[float, float, float, float, float]:
    """The point of a polygon nearest to (y, z), and its derivative, as `Surface.nearest`."""
    outside = False
    for n in range(count):
        e = edges + 5 * n
        outside = outside | (F[e + 2] * (z - F[e + 1]) - F[e + 3] * (y - F[e]) < 0.0)
    ny, nz, yy, yz, zz = y, z, 1.0, 0.0, 1.0
    if any_of(outside):
        a, b, c, d, e2 = nearest_on_edges(F, edges, count, y, z)
        ny, nz = chosen(outside, a, y), chosen(outside, b, z)
        yy, yz, zz = chosen(outside, c, 1.0), chosen(outside, d, 0.0), chosen(outside, e2, 1.0)
    return ny, nz, yy, yz, zz


@kernel
def _placed(I: Integers, F: Floats, W: Floats, pair: int) -> int:
    """The object's surface seen from the floor's: where its pose is."""
    out, surfaces = I[pair + at.PLACES], I[pair + at.SURFACES]
    product_of_poses(W, I[pair + at.FLOOR_POSE], F, surfaces, out)
    product_of_poses(W, I[pair + at.OBJECT_POSE], F, surfaces + 12, out + 12)
    relative_pose(W, out, out + 12, out + 24)
    return out + 24


@kernel
def _squared_error(W: Floats, M: int, ny: float, nz: float, margin: float) -> float:
    """Of the five rows of a contact, with the nearest point of the floor."""
    x, y, z = W[M + 9] + margin, W[M + 10], W[M + 11]
    _, u, w, ratio = swing(W[M], W[M + 3], W[M + 6])
    return x * x + (y - ny) * (y - ny) + (z - nz) * (z - nz) + (u * u + w * w) * ratio * ratio


@kernel
def _nearest_pair(
    I: Integers, F: Floats, W: Floats, pairs: int, margin: float
) -> tuple[float, float, float, float, float, float]:
    """The pair of surfaces that counts, that whose contact has the smallest error: its number, and its floor's point.

    All are placed; the places of that one are then at those of the first one, whichever it is in a lane.
    """
    first = pairs + 1
    M = _placed(I, F, W, first)
    ny, nz, yy, yz, zz = nearest(F, I[first + at.EDGES], I[first + at.EDGE_COUNT], W[M + 10], W[M + 11])
    found = 0.0
    if I[pairs] == 1:
        return found, ny, nz, yy, yz, zz
    best = sqrt(_squared_error(W, M, ny, nz, margin))
    for n in range(1, I[pairs]):
        pair = first + at.PAIR_SIZE * n
        P = _placed(I, F, W, pair)
        y, z, a, b, c = nearest(F, I[pair + at.EDGES], I[pair + at.EDGE_COUNT], W[P + 10], W[P + 11])
        error = sqrt(_squared_error(W, P, y, z, margin))
        nearer = error < best
        if any_of(nearer):
            best, found = chosen(nearer, error, best), chosen(nearer, float(n), found)
            ny, nz, yy, yz, zz = (
                chosen(nearer, y, ny),
                chosen(nearer, z, nz),
                chosen(nearer, a, yy),
                chosen(nearer, b, yz),
                chosen(nearer, c, zz),
            )
            for i in range(36):
                to = I[first + at.PLACES] + i
                W[to] = chosen(nearer, W[I[pair + at.PLACES] + i], W[to])
    return found, ny, nz, yy, yz, zz


@kernel
def _contact_rows(
    W: Floats, M: int, ny: float, nz: float, yy: float, yz: float, zz: float, margin: float, y: int, o: int
) -> None:
    """Value of the contact at y, and its five rows at o."""
    s, u, w, ratio = swing(W[M], W[M + 3], W[M + 6])
    W[y], W[y + 1], W[y + 2] = W[M + 9] + margin, W[M + 10] - ny, W[M + 11] - nz
    W[y + 3], W[y + 4] = ratio * u, ratio * w
    for i in range(3):
        b, c = W[M + 3 + i], W[M + 6 + i]
        W[o + i] = W[M + i]
        W[o + 3 + i] = (1.0 - yy) * b - yz * c
        W[o + 6 + i] = (1.0 - zz) * c - yz * b
    W[o + 9], W[o + 12] = 0.0, 0.0
    W[o + 10], W[o + 11], W[o + 13], W[o + 14] = swing_rates(
        W[M], W[M + 1], W[M + 2], W[M + 4], W[M + 5], W[M + 7], W[M + 8], s, u, w, ratio
    )


@kernel
def _place_rows(W: Floats, M: int, ny: float, nz: float, yy: float, yz: float, zz: float, y: int, o: int) -> None:
    """Value of the place at y, and its three rows at o."""
    c, s = W[M + 4] + W[M + 8], W[M + 7] - W[M + 5]
    norm = length(c, s)
    none = norm < NO_TWIST
    c, s, norm = chosen(none, 1.0, c), chosen(none, 0.0, s), chosen(none, 1.0, norm)
    W[y], W[y + 1], W[y + 2], W[y + 3] = ny, nz, c / norm, s / norm
    for i in range(3):
        W[o + i] = yy * W[M + 3 + i] + yz * W[M + 6 + i]
        W[o + 3 + i] = yz * W[M + 3 + i] + zz * W[M + 6 + i]
    square = norm * norm
    W[o + 6] = 1.0
    W[o + 7], W[o + 8] = -(c * W[M + 3] + s * W[M + 6]) / square, (s * W[M + 3] - c * W[M + 6]) / square


@kernel
def _sign(I: Integers, pairs: int, found: float, n: int) -> float:
    """How the pair that counts is moved by column n: 1 with the object, -1 with the floor, 0 not."""
    sign = float(I[I[pairs + 1 + at.SIGNS] + n])
    for k in range(1, I[pairs]):
        sign = chosen(found == k, float(I[I[pairs + 1 + at.PAIR_SIZE * k + at.SIGNS] + n]), sign)
    return sign


@kernel
def _columns(I: Integers, W: Floats, r: int, pairs: int, found: float, first: int, last: int) -> None:
    """Rows first to last times the velocity of the object's surface seen from the floor, by column."""
    columns, rows, R = I[r + at.COLS], I[r + at.B], I[pairs + 1 + at.PLACES] + 12
    x, y, z = W[R + 9], W[R + 10], W[R + 11]
    for n in range(I[columns]):
        column, sign = I[columns + 1 + n], _sign(I, pairs, found, n)
        t, o = I[at.TWISTS] + 6 * column, I[r + at.J] + column * I[r + at.JS]
        if I[pairs] == 1 and I[I[pairs + 1 + at.SIGNS] + n] == 0:
            for i in range(last - first):
                W[o + i] = 0.0
            continue
        d, e, f = sign * W[t + 3], sign * W[t + 4], sign * W[t + 5]
        a, b, c = sign * W[t] + e * z - f * y, sign * W[t + 1] + f * x - d * z, sign * W[t + 2] + d * y - e * x
        a, b, c = (
            W[R] * a + W[R + 3] * b + W[R + 6] * c,
            W[R + 1] * a + W[R + 4] * b + W[R + 7] * c,
            W[R + 2] * a + W[R + 5] * b + W[R + 8] * c,
        )
        d, e, f = (
            W[R] * d + W[R + 3] * e + W[R + 6] * f,
            W[R + 1] * d + W[R + 4] * e + W[R + 7] * f,
            W[R + 2] * d + W[R + 5] * e + W[R + 8] * f,
        )
        for i in range(first, last):
            k = rows + 3 * i
            if i == 3 or i == 4 or i == 7:
                W[o + i - first] = W[k] * d + W[k + 1] * e + W[k + 2] * f
            else:
                W[o + i - first] = W[k] * a + W[k + 1] * b + W[k + 2] * c


@kernel
def contact(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    """A contact, its place or both, by operation. At [A] in I: pairs of surfaces; [B] memory for the rows."""
    operation, y, rows, margin = I[r + at.OPERATION], I[r + at.Y], I[r + at.B], F[I[r + at.NUMBERS]]
    pairs = I[r + at.A]
    found, ny, nz, yy, yz, zz = _nearest_pair(I, F, W, pairs, margin)
    M, first, last = I[pairs + 1 + at.PLACES] + 24, 0, 8
    if operation == at.CONTACT_PLACE:
        first = 5
    else:
        _contact_rows(W, M, ny, nz, yy, yz, zz, margin, y, rows)
        y += 5
    if operation == at.CONTACT:
        last = 5
    else:
        _place_rows(W, M, ny, nz, yy, yz, zz, y, rows + 15)
    if jacobian != 0:
        _columns(I, W, r, pairs, found, first, last)


@kernel
def _pose_columns(I: Integers, W: Floats, r: int) -> None:
    """Jacobian of `pose_of_contact`. At [B] in I: count, column of each of the eight coordinates or -1."""
    x, q, columns = I[r + at.X], I[r + at.Y] + 3, I[r + at.B]
    y, z, cosine, sine = W[x + 3], W[x + 4], W[x + 7], W[x + 8]
    t = y * y + z * z
    h, w = half_sinc(t)
    half, third = 2.0 * h * h, exp_third(t, h, w)
    for k in range(8):
        if I[columns + 1 + k] < 0:
            continue
        o = I[r + at.J] + I[columns + 1 + k] * I[r + at.JS]
        for i in range(6):
            W[o + i] = 0.0
        if k == 7:
            W[o + 3] = 1.0
        elif k == 3 or k == 4:
            a, b, c = exp_times(0.0, y, z, half, third, 0.0, 4.0 - k, k - 3.0)
            W[o + 3], W[o + 4], W[o + 5] = a, cosine * b + sine * c, cosine * c - sine * b
        else:
            axis = k if k < 3 else k - 4
            a, b, c = 1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0
            W[o], W[o + 1], W[o + 2] = rotate(-W[q], -W[q + 1], -W[q + 2], W[q + 3], a, b, c)


@kernel
def pose_of_contact(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> bool:
    """As `PoseOfContact`, of nine numbers at [X]; False off the floor. Numbers: margin, then [A] edges of the floor."""
    x, o, numbers = I[r + at.X], I[r + at.Y], I[r + at.NUMBERS]
    y, z = W[x + 5], W[x + 6]
    ny, nz, _, _, _ = nearest(F, numbers + 1, I[r + at.A], y, z)
    on_the_floor = off(length(y - ny, z - nz) > ON_THE_FLOOR)
    W[o], W[o + 1], W[o + 2] = W[x] - F[numbers], W[x + 1] + y, W[x + 2] + z
    sine, cosine = sine_and_cosine(0.5 * arc_tangent(W[x + 8], W[x + 7]))
    s, w = half_sinc(W[x + 3] * W[x + 3] + W[x + 4] * W[x + 4])
    a, b, c, d = quaternion_product(0.0, s * W[x + 3], s * W[x + 4], w, sine, 0.0, 0.0, cosine)
    n = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    W[o + 3], W[o + 4], W[o + 5], W[o + 6] = n * a, n * b, n * c, n * d
    if jacobian != 0:
        _pose_columns(I, W, r)
    return on_the_floor

r"""The centre of mass of a set of bodies: seen from a frame, and between two feet.

Seen from frame a, with :math:`m_k, c_k` mass and centre of what a dof carries, (v, w) its twist in the world and M the
mass of all,

.. math:: J = {}^oR_a^T \left( \tfrac{m_k}{M} (v + w \times c_k) - (v + w \times c) \right)

the last term on the dofs that carry frame a alone.
"""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, kernel
from .trees import product_of_poses


@kernel
def _columns(I: Integers, W: Floats, r: int, M: int, part: float, x: float, y: float, z: float) -> None:
    columns, sums, twists, moved = I[r + at.COLS], I[r + at.C] + 12, I[at.TWISTS], I[r + at.B]
    for n in range(I[columns]):
        column, body = I[columns + 1 + n], I[moved + 2 * n]
        t, o = twists + 6 * column, I[r + at.J] + column * I[r + at.JS]
        u, v, w, d, e, f = W[t], W[t + 1], W[t + 2], W[t + 3], W[t + 4], W[t + 5]
        a, b, c = 0.0, 0.0, 0.0
        if body >= 0:
            k = sums + 4 * body
            m, p, q, s = part * W[k], part * W[k + 1], part * W[k + 2], part * W[k + 3]
            a, b, c = m * u + e * s - f * q, m * v + f * p - d * s, m * w + d * q - e * p
        if I[moved + 2 * n + 1] != 0:
            a, b, c = a - (u + e * z - f * y), b - (v + f * x - d * z), c - (w + d * y - e * x)
        for i in range(3):
            W[o + i] = W[M + i] * a + W[M + 3 + i] * b + W[M + 6 + i] * c


@kernel
def center_of_mass(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    """The function, at [A] in I: count of bodies, then (joint's pose, index of the parent body or -1) each.

    A body without mass may be there for those that it carries. At [B] in I: for each column the body that it moves, or
    -1, and whether it carries frame a; [C] memory: frame a, then four numbers a body; [D] pose of the joint of frame a.
    """
    bodies, numbers, M, y = I[r + at.A], I[r + at.NUMBERS], I[r + at.C], I[r + at.Y]
    count, sums = I[bodies], I[r + at.C] + 12
    product_of_poses(W, I[r + at.D], F, numbers, M)
    numbers += 12
    for n in range(count):
        o, pose, f = sums + 4 * n, I[bodies + 1 + 2 * n], numbers + 4 * n
        m = F[f]
        W[o] = m
        for i in range(3):
            row = pose + 3 * i
            W[o + 1 + i] = m * (W[pose + 9 + i] + W[row] * F[f + 1] + W[row + 1] * F[f + 2] + W[row + 2] * F[f + 3])
    total, x, s, t = 0.0, 0.0, 0.0, 0.0
    for n in range(count - 1, -1, -1):
        o, parent = sums + 4 * n, I[bodies + 2 + 2 * n]
        if parent < 0:
            total, x, s, t = total + W[o], x + W[o + 1], s + W[o + 2], t + W[o + 3]
        else:
            p = sums + 4 * parent
            W[p], W[p + 1], W[p + 2], W[p + 3] = (
                W[p] + W[o],
                W[p + 1] + W[o + 1],
                W[p + 2] + W[o + 2],
                W[p + 3] + W[o + 3],
            )
    part = 1.0 / total
    x, s, t = part * x, part * s, part * t
    a, b, c = x - W[M + 9], s - W[M + 10], t - W[M + 11]
    for i in range(3):
        W[y + i] = W[M + i] * a + W[M + 3 + i] * b + W[M + 6 + i] * c
    if jacobian != 0:
        _columns(I, W, r, M, part, x, s, t)


@kernel
def _triple(a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, i: float) -> float:
    """(a, b, c) times the cross product of (d, e, f) and (g, h, i)."""
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


@kernel
def _velocity(W: Floats, t: int, p: int, moves: int) -> tuple[float, float, float]:
    """Velocity of the point at p with the twist at t; zero where the twist does not move it."""
    if moves == 0:
        return 0.0, 0.0, 0.0
    x, y, z, d, e, f = W[p], W[p + 1], W[p + 2], W[t + 3], W[t + 4], W[t + 5]
    return W[t] + e * z - f * y, W[t + 1] + f * x - d * z, W[t + 2] + d * y - e * x


@kernel
def _feet_columns(I: Integers, W: Floats, r: int, M: int) -> None:
    """Jacobian of `com_between_feet`, by the product rule."""
    center, columns, moved = I[r + at.X], I[r + at.COLS], I[r + at.A]
    cx, cy, cz, lx, ly, lz = W[center], W[center + 1], W[center + 2], W[M + 9], W[M + 10], W[M + 11]
    rx, ry, rz, x, y, z = W[M + 21], W[M + 22], W[M + 23], W[M + 26], W[M + 29], W[M + 32]
    u, v, w = rx - lx, ry - ly, rz - lz
    p, q, s = cx - 0.5 * (lx + rx), cy - 0.5 * (ly + ry), cz - 0.5 * (lz + rz)
    mx, my, mz = q * w - s * v, s * u - p * w, p * v - q * u
    for n in range(I[columns]):
        column, flags = I[columns + 1 + n], moved + 3 * n
        t, k, o = I[at.TWISTS] + 6 * column, I[r + at.B] + 3 * column, I[r + at.J] + column * I[r + at.JS]
        a, b, c = W[k], W[k + 1], W[k + 2]
        d, e, f = _velocity(W, t, M + 9, I[flags])
        g, h, i = _velocity(W, t, M + 21, I[flags + 1])
        _, _, height = _velocity(W, t, M + 33, I[flags + 2])
        du, dv, dw = g - d, h - e, i - f
        turning = 0.0
        if I[flags + 2] != 0:
            turning = _triple(mx, my, mz, W[t + 3], W[t + 4], W[t + 5], x, y, z)
        leaning = _triple(x, y, z, a - 0.5 * (d + g), b - 0.5 * (e + h), c - 0.5 * (f + i), u, v, w)
        W[o] = c - height
        W[o + 1] = leaning + _triple(x, y, z, p, q, s, du, dv, dw) + turning
        W[o + 2] = u * (a - d) + v * (b - e) + w * (c - f) + (cx - lx) * du + (cy - ly) * dv + (cz - lz) * dw
        W[o + 3] = u * (a - g) + v * (b - h) + w * (c - i) + (cx - rx) * du + (cy - ry) * dv + (cz - rz) * dw


@kernel
def com_between_feet(I: Integers, F: Floats, W: Floats, r: int, jacobian: int) -> None:
    r"""Height of the centre of mass c over the reference r, its moment about the feet's line, and where along it.

    .. math:: \left((c - x_r)_z,\; R_r e_z \cdot ((c - m) \times u),\; (c - x_L) \cdot u,\; (c - x_R) \cdot u\right),
        \quad u = x_R - x_L, \quad m = (x_L + x_R) / 2

    At [X] and [B] in W: c and its Jacobian (3 numbers a column); at [A] in I: for each column whether it carries the
    left foot, the right one, the reference; at [C] memory for their poses; at [D] in I: poses of their joints.
    """
    M, y, c = I[r + at.C], I[r + at.Y], I[r + at.X]
    for k in range(3):
        product_of_poses(W, I[I[r + at.D] + k], F, I[r + at.NUMBERS] + 12 * k, M + 12 * k)
    u, v, w = W[M + 21] - W[M + 9], W[M + 22] - W[M + 10], W[M + 23] - W[M + 11]
    a, b, d = W[c] - W[M + 9], W[c + 1] - W[M + 10], W[c + 2] - W[M + 11]
    e, f, g = W[c] - W[M + 21], W[c + 1] - W[M + 22], W[c + 2] - W[M + 23]
    W[y] = W[c + 2] - W[M + 35]
    W[y + 1] = _triple(W[M + 26], W[M + 29], W[M + 32], 0.5 * (a + e), 0.5 * (b + f), 0.5 * (d + g), u, v, w)
    W[y + 2], W[y + 3] = a * u + b * v + d * w, e * u + f * v + g * w
    if jacobian != 0:
        _feet_columns(I, W, r, M)

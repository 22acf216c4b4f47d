r"""The centre of mass of a set of bodies, seen from a frame.

With :math:`m_k, c_k` mass and centre of what a dof carries, (v, w) its twist in the world and M the mass of all,

.. math:: J = {}^oR_a^T \left( \tfrac{m_k}{M} (v + w \times c_k) - (v + w \times c) \right)

the last term on the dofs that carry frame a alone.
"""

from __future__ import annotations

from ..layout import COLS, JS, NUMBERS, TWISTS, A, B, C, D, J, Y
from .jit import Floats, Integers, kernel
from .trees import product_of_poses


@kernel
def _columns(I: Integers, W: Floats, r: int, M: int, part: float, x: float, y: float, z: float) -> None:
    columns, sums, twists, moved = I[r + COLS], I[r + C] + 12, I[TWISTS], I[r + B]
    for n in range(I[columns]):
        column, body = I[columns + 1 + n], I[moved + 2 * n]
        t, o = twists + 6 * column, I[r + J] + column * I[r + JS]
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
    bodies, numbers, M, y = I[r + A], I[r + NUMBERS], I[r + C], I[r + Y]
    count, sums = I[bodies], I[r + C] + 12
    product_of_poses(W, I[r + D], F, numbers, M)
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

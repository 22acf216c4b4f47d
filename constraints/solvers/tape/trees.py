"""The tree of joints: poses of joints in the world, and the twist of each of their dofs."""

from __future__ import annotations

from ..machine import layout as at
from ..machine.jit import Floats, Integers, kernel, shared
from .elementary import sine_and_cosine
from .groups import rotation_matrix


@kernel
def _linked_product(W: Floats, M: int, F: Floats, N: int, c: float, s: float, out: int) -> None:
    r"""W[out] = W[M] T R_x(a) R_z: a translation and a turn about x, constants, then one by the angle of c and s.

    At [N] in F: cos a, sin a, the translation; then cosine and sine by which c and s were turned already.
    """
    ca, sa, p, q, r = F[N], F[N + 1], F[N + 2], F[N + 3], F[N + 4]
    for i in range(3):
        u, v, w = W[M + 3 * i], W[M + 3 * i + 1], W[M + 3 * i + 2]
        y = ca * v + sa * w
        W[out + 3 * i], W[out + 3 * i + 1], W[out + 3 * i + 2] = c * u + s * y, c * y - s * u, ca * w - sa * v
        W[out + 9 + i] = W[M + 9 + i] + u * p + v * q + w * r


@kernel
def product_of_poses(W: Floats, M: int, F: Floats, N: int, out: int) -> None:
    """W[out] = W[M] F[N], poses of 12 numbers: the rotation by rows, then the translation."""
    a, b, x, d, e, y, g, h, z = F[N], F[N + 1], F[N + 2], F[N + 3], F[N + 4], F[N + 5], F[N + 6], F[N + 7], F[N + 8]
    p, q, r = F[N + 9], F[N + 10], F[N + 11]
    for i in range(3):
        u, v, w = W[M + 3 * i], W[M + 3 * i + 1], W[M + 3 * i + 2]
        W[out + 3 * i] = u * a + v * d + w * g
        W[out + 3 * i + 1] = u * b + v * e + w * h
        W[out + 3 * i + 2] = u * x + v * y + w * z
        W[out + 9 + i] = W[M + 9 + i] + u * p + v * q + w * r


@kernel
def _turn_from(W: Floats, M: int, x: int, y: int, c: float, s: float) -> None:
    """Turn a pose from its own axis x towards its axis y."""
    for i in range(3):
        a, b = W[M + 3 * i + x], W[M + 3 * i + y]
        W[M + 3 * i + x], W[M + 3 * i + y] = c * a + s * b, c * b - s * a


@kernel
def _turn(W: Floats, M: int, c: float, s: float) -> None:
    """Turn a pose about its own z."""
    _turn_from(W, M, 0, 1, c, s)


@kernel
def _angular(I: Integers, W: Floats, M: int, axis: int, column: int, twists: int) -> None:
    if I[column] < 0:
        return
    o = twists + 6 * I[column]
    x, y, z = W[M + axis], W[M + 3 + axis], W[M + 6 + axis]
    a, b, c = W[M + 9], W[M + 10], W[M + 11]
    W[o], W[o + 1], W[o + 2] = b * z - c * y, c * x - a * z, a * y - b * x
    W[o + 3], W[o + 4], W[o + 5] = x, y, z


@kernel
def _linear(I: Integers, W: Floats, M: int, axis: int, column: int, twists: int) -> None:
    if I[column] < 0:
        return
    o = twists + 6 * I[column]
    W[o], W[o + 1], W[o + 2] = W[M + axis], W[M + 3 + axis], W[M + 6 + axis]
    W[o + 3], W[o + 4], W[o + 5] = 0.0, 0.0, 0.0


@kernel
def _write_twists(I: Integers, F: Floats, W: Floats, kind: int, M: int, columns: int, twists: int, pitch: int) -> None:
    """Twists of a joint's dofs that have a column: velocity of the point at the world's origin, angular velocity."""
    if kind <= at.CONTINUOUS:
        _angular(I, W, M, 2, columns, twists)
    elif kind == at.PRISMATIC:
        _linear(I, W, M, 2, columns, twists)
    elif kind == at.HELICAL:
        _angular(I, W, M, 2, columns, twists)
        if I[columns] >= 0:
            o = twists + 6 * I[columns]
            for i in range(3):
                W[o + i] += F[pitch] * W[M + 3 * i + 2]
    elif kind == at.SPHERICAL:
        for axis in range(3):
            _angular(I, W, M, axis, columns + axis, twists)
    elif kind == at.PLANAR:
        _linear(I, W, M, 0, columns, twists)
        _linear(I, W, M, 1, columns + 1, twists)
        _angular(I, W, M, 2, columns + 2, twists)
    elif kind != at.ELLIPSOID:  # which has written its own
        for axis in range(3):
            _linear(I, W, M, axis, columns + axis, twists)
        if kind == at.FREE:
            for axis in range(3):
                _angular(I, W, M, axis, columns + 3 + axis, twists)


@kernel
def _shift(W: Floats, M: int, x: float, y: float, z: float) -> None:
    """Shift a pose along its own axes."""
    for i in range(3):
        W[M + 9 + i] += x * W[M + 3 * i] + y * W[M + 3 * i + 1] + z * W[M + 3 * i + 2]


@kernel
def _rotate(W: Floats, M: int, x: int) -> None:
    """Turn a pose by the quaternion at x, seen in its own axes."""
    a, b, c, d, e, f, g, h, k = rotation_matrix(W[x], W[x + 1], W[x + 2], W[x + 3])
    for i in range(3):
        r, s, t = W[M + 3 * i], W[M + 3 * i + 1], W[M + 3 * i + 2]
        W[M + 3 * i] = r * a + s * d + t * g
        W[M + 3 * i + 1] = r * b + s * e + t * h
        W[M + 3 * i + 2] = r * c + s * f + t * k


@kernel
def _twist_at(W: Floats, M: int, o: int, x: float, y: float, z: float, a: float, b: float, c: float) -> None:
    """Write a twist in the world, from the velocity (x, y, z) of M's origin and the angular (a, b, c), in M's axes."""
    for i in range(3):
        r, s, t = W[M + 3 * i], W[M + 3 * i + 1], W[M + 3 * i + 2]
        W[o + i], W[o + 3 + i] = r * x + s * y + t * z, r * a + s * b + t * c
    x, y, z, a, b, c = W[o + 3], W[o + 4], W[o + 5], W[M + 9], W[M + 10], W[M + 11]
    W[o], W[o + 1], W[o + 2] = W[o] + b * z - c * y, W[o + 1] + c * x - a * z, W[o + 2] + a * y - b * x


@kernel
def _ellipsoid(I: Integers, F: Floats, W: Floats, M: int, q: int, radii: int, columns: int, jacobian: int) -> None:
    r"""Slide on an ellipsoid, and turn with its normal and about it, by angles (u, v, w) at q.

    .. math:: R = R_x(u)\, R_y(v)\, R_z(w), \qquad p = (a\,n_x,\; b\,n_y,\; c\,n_z), \quad n = R\,e_z

    Twists are written before the turn, in the axes that the joint stands on.
    """
    (su, cu), (sv, cv), (sw, cw) = sine_and_cosine(W[q]), sine_and_cosine(W[q + 1]), sine_and_cosine(W[q + 2])
    a, b, c, twists = F[radii], F[radii + 1], F[radii + 2], I[at.TWISTS]
    _shift(W, M, a * sv, -b * su * cv, c * cu * cv)
    if jacobian != 0:
        if I[columns] >= 0:
            _twist_at(W, M, twists + 6 * I[columns], 0.0, -b * cu * cv, -c * su * cv, 1.0, 0.0, 0.0)
        if I[columns + 1] >= 0:
            _twist_at(W, M, twists + 6 * I[columns + 1], a * cv, b * su * sv, -c * cu * sv, 0.0, cu, su)
        if I[columns + 2] >= 0:
            _twist_at(W, M, twists + 6 * I[columns + 2], 0.0, 0.0, 0.0, sv, -su * cv, cu * cv)
    _turn_from(W, M, 1, 2, cu, su)
    _turn_from(W, M, 2, 0, cv, sv)
    _turn(W, M, cw, sw)


@kernel
def _write_sines(I: Integers, F: Floats, W: Floats, joints: int, q: int) -> None:
    """Write sine and cosine of each hinge where its pose will be: they do not wait for each other, as poses do."""
    for n in range(I[joints]):
        j = joints + 1 + at.JOINT_SIZE * n
        kind, x, M, N = I[j + at.JOINT_KIND], q + I[j + at.ENTRY], I[j + at.PLACED], I[j + at.CONSTANT]
        if kind > at.CONTINUOUS and kind < at.LINK:
            continue
        s, c = sine_and_cosine(W[x]) if kind == at.REVOLUTE or kind == at.LINK else (W[x + 1], W[x])
        if kind >= at.LINK:
            s, c = F[N + 5] * s + F[N + 6] * c, F[N + 5] * c - F[N + 6] * s
        W[M], W[M + 1] = s, c


@shared
def place(I: Integers, F: Floats, W: Floats, joints: int, q: int, jacobian: int) -> None:
    r"""Place joints, parents before children: :math:`{}^oM_j = {}^oM_{parent}\, {}^{parent}M_j\, M(q_j)`.

    Args:
        joints: at in I: count, then joint records.
        q: where the configuration is.
        jacobian: whether the twists of their dofs are wanted.
    """
    _write_sines(I, F, W, joints, q)
    for n in range(I[joints]):
        j = joints + 1 + at.JOINT_SIZE * n
        kind, x, M, N = I[j + at.JOINT_KIND], q + I[j + at.ENTRY], I[j + at.PLACED], I[j + at.CONSTANT]
        s, c = W[M], W[M + 1]
        if kind >= at.LINK:
            _linked_product(W, I[j + at.PARENT], F, N, c, s, M)
            if jacobian != 0:
                _angular(I, W, M, 2, I[j + at.JOINT_COLUMNS], I[at.TWISTS])
            continue
        product_of_poses(W, I[j + at.PARENT], F, N, M)
        if kind <= at.CONTINUOUS:
            _turn(W, M, c, s)
        elif kind == at.PRISMATIC:
            _shift(W, M, 0.0, 0.0, W[x])
        elif kind == at.HELICAL:
            _shift(W, M, 0.0, 0.0, F[N + 12] * W[x])
            s, c = sine_and_cosine(W[x])
            _turn(W, M, c, s)
        elif kind == at.TRANSLATION:
            _shift(W, M, W[x], W[x + 1], W[x + 2])
        elif kind == at.SPHERICAL:
            _rotate(W, M, x)
        elif kind == at.PLANAR:
            _shift(W, M, W[x], W[x + 1], 0.0)
            _turn(W, M, W[x + 2], W[x + 3])
        elif kind == at.FREE:
            _shift(W, M, W[x], W[x + 1], W[x + 2])
            _rotate(W, M, x + 3)
        elif kind == at.ELLIPSOID:
            _ellipsoid(I, F, W, M, x, N + 12, I[j + at.JOINT_COLUMNS], jacobian)
        if jacobian != 0:
            _write_twists(I, F, W, kind, M, I[j + at.JOINT_COLUMNS], I[at.TWISTS], N + 12)

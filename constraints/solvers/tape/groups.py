r"""The maps of each Lie group, by leaf of a space: SO(2), SO(3), SE(2), SE(3).

The formulas of one vector are those of `liegroups.formulas.maps`: what asks no number there is compiled as it stands;
what does is here with choices, for lanes. What is added here reads and writes memory.

Poses are 12 numbers, the rotation matrix by rows and then the translation. Matrices of Jacobians are by column:
entry (i, c) at `J + c * stride + i`.
"""

from __future__ import annotations

from math import sqrt

from liegroups.formulas import maps
from liegroups.formulas.series import TINY_SQUARE

from ..machine import layout as at
from ..machine.jit import Floats, Integers, any_of, chosen, kernel, off
from .coefficients import exp_third, half_cot, half_sinc, log_coefficient, log_coefficient_by, log_coefficient_slope
from .elementary import arc_of, arc_tangent, sine_and_cosine

quaternion_product = kernel(maps.quaternion_product)
rotate = kernel(maps.rotate)
rotation_matrix = kernel(maps.rotation_matrix)


@kernel
def turn_of(x: float, y: float, z: float, w: float) -> tuple[float, float, float, float]:
    """Rotation vector of a unit quaternion, at most half a turn; and `half_cot` of its angle, which costs nothing here.

    As `rotation_between` of `maps`, from the neutral one.
    """
    n2 = x * x + y * y + z * z
    w2 = w * w
    small = n2 < TINY_SQUARE * w2
    s = (2.0 - n2 / chosen(small, w2, 1.0) * (2 / 3)) / chosen(small, w, 1.0)
    if any_of(off(small)):
        opposite = w < 0.0
        if any_of(w == 0.0):
            opposite = opposite | (w == 0.0) & ((x < 0.0) | (x == 0.0) & ((y < 0.0) | (y == 0.0) & (z < 0.0)))
        n = sqrt(n2)
        arc = 2.0 * arc_of(n, abs(w)) / chosen(n == 0.0, 1.0, n)
        s = chosen(small, s, chosen(opposite, -arc, arc))
    return s * x, s * y, s * z, 0.5 * (s * w)


@kernel
def quaternion_of(W: Floats, R: int) -> tuple[float, float, float, float]:
    """Unit quaternion of a rotation matrix, from the largest of its four numbers."""
    a, b, c = W[R], W[R + 4], W[R + 8]
    trace = a + b + c
    by_w, by_x, by_y, square = trace > 0.0, (a >= b) & (a >= c), b >= c, 1.0 + trace
    if any_of(off(by_w)):
        other = chosen(by_x, 1.0 + a - b - c, chosen(by_y, 1.0 + b - a - c, 1.0 + c - a - b))
        square = chosen(by_w, square, other)
    length = sqrt(square)
    most, s = 0.5 * length, 0.5 / length
    x, y, z = s * (W[R + 7] - W[R + 5]), s * (W[R + 2] - W[R + 6]), s * (W[R + 3] - W[R + 1])
    if not any_of(off(by_w)):
        return x, y, z, most
    xy, xz, yz = s * (W[R + 1] + W[R + 3]), s * (W[R + 2] + W[R + 6]), s * (W[R + 5] + W[R + 7])
    return (
        chosen(by_w, x, chosen(by_x, most, chosen(by_y, xy, xz))),
        chosen(by_w, y, chosen(by_x, xy, chosen(by_y, most, yz))),
        chosen(by_w, z, chosen(by_x, xz, chosen(by_y, yz, most))),
        chosen(by_w, most, chosen(by_x, x, chosen(by_y, y, z))),
    )


@kernel
def sign_of_matrix(W: Floats, q: int) -> None:
    """Give a unit quaternion the sign that `quaternion_of` its rotation matrix has."""
    x, y, z, w = W[q], W[q + 1], W[q + 2], W[q + 3]
    by_x, by_y = (x * x >= y * y) & (x * x >= z * z), y * y >= z * z
    leading = chosen(w * w > 0.25, w, chosen(by_x, x, chosen(by_y, y, z)))  # first: a positive trace
    sign = chosen(leading < 0.0, -1.0, 1.0)
    W[q], W[q + 1], W[q + 2], W[q + 3] = sign * x, sign * y, sign * z, sign * w


@kernel
def rotation_vector(W: Floats, R: int) -> tuple[float, float, float, float]:
    """Logarithm of a rotation matrix, at most half a turn, and `half_cot` of it."""
    x, y, z, w = quaternion_of(W, R)
    return turn_of(x, y, z, w)


@kernel
def log_times(x: float, y: float, z: float, k: float, a: float, b: float, c: float) -> tuple[float, float, float]:
    """(I + [w] / 2 + k [w]^2) (a, b, c), w = (x, y, z): the Jacobian of the logarithm times a column."""
    d, e, f = y * c - z * b, z * a - x * c, x * b - y * a
    return (a + 0.5 * d + k * (y * f - z * e), b + 0.5 * e + k * (z * d - x * f), c + 0.5 * f + k * (x * e - y * d))


@kernel
def exp_times(
    x: float, y: float, z: float, half: float, third: float, a: float, b: float, c: float
) -> tuple[float, float, float]:
    """(I - half [w] + third [w]^2) (a, b, c), w = (x, y, z): the right Jacobian of the exponential times a column."""
    d, e, f = y * c - z * b, z * a - x * c, x * b - y * a
    return (
        a - half * d + third * (y * f - z * e),
        b - half * e + third * (z * d - x * f),
        c - half * f + third * (x * e - y * d),
    )


@kernel
def so2_move(W: Floats, q: int, w: float) -> None:
    """Turn (cos, sin)."""
    c, s = W[q], W[q + 1]
    r, d = sine_and_cosine(w)
    x, y = c * d - s * r, c * r + s * d
    n = 1.0 / sqrt(x * x + y * y)
    W[q], W[q + 1] = n * x, n * y


@kernel
def so3_move(W: Floats, q: int, x: float, y: float, z: float) -> None:
    """Turn a quaternion."""
    s, w = half_sinc(x * x + y * y + z * z)
    a, b, c, d = quaternion_product(W[q], W[q + 1], W[q + 2], W[q + 3], s * x, s * y, s * z, w)
    n = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    W[q], W[q + 1], W[q + 2], W[q + 3] = n * a, n * b, n * c, n * d


@kernel
def se2_move(W: Floats, q: int, vx: float, vy: float, w: float) -> None:
    """Move a pose of the plane."""
    e, f = half_sinc(w * w)
    f, e = 2.0 * e * f, 2.0 * e * e * w
    x, y, c, s = f * vx - e * vy, e * vx + f * vy, W[q + 2], W[q + 3]
    W[q] += c * x - s * y
    W[q + 1] += s * x + c * y
    so2_move(W, q + 2, w)


@kernel
def se3_move(W: Floats, q: int, x: float, y: float, z: float, wx: float, wy: float, wz: float) -> None:
    """Move a pose."""
    t = wx * wx + wy * wy + wz * wz
    s, w = half_sinc(t)
    e, f = 2.0 * s * s, exp_third(t, s, w)
    gx, gy, gz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
    x += e * gx + f * (wy * gz - wz * gy)
    y += e * gy + f * (wz * gx - wx * gz)
    z += e * gz + f * (wx * gy - wy * gx)
    x, y, z = rotate(W[q + 3], W[q + 4], W[q + 5], W[q + 6], x, y, z)
    W[q] += x
    W[q + 1] += y
    W[q + 2] += z
    so3_move(W, q + 3, wx, wy, wz)


@kernel
def _so2_product(W: Floats, x: int, y: int, z: int) -> None:
    c, s, d, r = W[x], W[x + 1], W[y], W[y + 1]
    a, b = c * d - s * r, c * r + s * d
    n = 1.0 / sqrt(a * a + b * b)
    W[z], W[z + 1] = n * a, n * b


@kernel
def _so3_product(W: Floats, x: int, y: int, z: int) -> None:
    a, b, c, d = quaternion_product(W[x], W[x + 1], W[x + 2], W[x + 3], W[y], W[y + 1], W[y + 2], W[y + 3])
    n = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    W[z], W[z + 1], W[z + 2], W[z + 3] = n * a, n * b, n * c, n * d


@kernel
def point_product(I: Integers, W: Floats, G: int, x: int, y: int, z: int) -> None:
    """Write z = x y; z may be x."""
    for leaf in range(I[G]):
        kind, nq = I[G + 1 + 3 * leaf], I[G + 2 + 3 * leaf]
        if kind == at.VECTOR:
            for i in range(nq):
                W[z + i] = W[x + i] + W[y + i]
        elif kind == at.SO2:
            _so2_product(W, x, y, z)
        elif kind == at.SO3:
            _so3_product(W, x, y, z)
        elif kind == at.SE2:
            c, s, px, py = W[x + 2], W[x + 3], W[y], W[y + 1]
            W[z], W[z + 1] = W[x] + c * px - s * py, W[x + 1] + s * px + c * py
            _so2_product(W, x + 2, y + 2, z + 2)
        else:
            px, py, pz = rotate(W[x + 3], W[x + 4], W[x + 5], W[x + 6], W[y], W[y + 1], W[y + 2])
            W[z], W[z + 1], W[z + 2] = W[x] + px, W[x + 1] + py, W[x + 2] + pz
            _so3_product(W, x + 3, y + 3, z + 3)
        x, y, z = x + nq, y + nq, z + nq


@kernel
def _so2_quotient(W: Floats, x: int, y: int, z: int) -> None:
    c, s, d, r = W[x], W[x + 1], W[y], W[y + 1]
    W[z], W[z + 1] = c * d + s * r, c * r - s * d


@kernel
def _so3_quotient(W: Floats, x: int, y: int, z: int) -> None:
    a, b, c, d = quaternion_product(-W[x], -W[x + 1], -W[x + 2], W[x + 3], W[y], W[y + 1], W[y + 2], W[y + 3])
    W[z], W[z + 1], W[z + 2], W[z + 3] = a, b, c, d


@kernel
def point_quotient(I: Integers, W: Floats, G: int, x: int, y: int, z: int) -> None:
    """Write z = x^-1 y; z is neither."""
    for leaf in range(I[G]):
        kind, nq = I[G + 1 + 3 * leaf], I[G + 2 + 3 * leaf]
        if kind == at.VECTOR:
            for i in range(nq):
                W[z + i] = W[y + i] - W[x + i]
        elif kind == at.SO2:
            _so2_quotient(W, x, y, z)
        elif kind == at.SO3:
            _so3_quotient(W, x, y, z)
        elif kind == at.SE2:
            c, s, px, py = W[x + 2], W[x + 3], W[y] - W[x], W[y + 1] - W[x + 1]
            W[z], W[z + 1] = c * px + s * py, c * py - s * px
            _so2_quotient(W, x + 2, y + 2, z + 2)
        else:
            px, py, pz = W[y] - W[x], W[y + 1] - W[x + 1], W[y + 2] - W[x + 2]
            W[z], W[z + 1], W[z + 2] = rotate(-W[x + 3], -W[x + 4], -W[x + 5], W[x + 6], px, py, pz)
            _so3_quotient(W, x + 3, y + 3, z + 3)
        x, y, z = x + nq, y + nq, z + nq


@kernel
def seen_from(I: Integers, W: Floats, G: int, x: int, J: int, stride: int, columns: int) -> None:
    r"""Columns of a Jacobian times :math:`Ad_x^{-1}`, in place: twists before a product with x from the right.

    Args:
        x: point of the group.
        J, stride: where the columns are.
        columns: at in I: count, then which.
    """
    first = J
    for leaf in range(I[G]):
        kind, nq, nv = I[G + 1 + 3 * leaf], I[G + 2 + 3 * leaf], I[G + 3 + 3 * leaf]
        for n in range(I[columns]):
            o = first + I[columns + 1 + n] * stride
            if kind == at.SO3:
                W[o], W[o + 1], W[o + 2] = rotate(-W[x], -W[x + 1], -W[x + 2], W[x + 3], W[o], W[o + 1], W[o + 2])
            elif kind == at.SE2:
                c, s, w = W[x + 2], W[x + 3], W[o + 2]
                a, b = W[o] - W[x + 1] * w, W[o + 1] + W[x] * w
                W[o], W[o + 1] = c * a + s * b, c * b - s * a
            elif kind == at.SE3:
                d, e, f = W[o + 3], W[o + 4], W[o + 5]
                a = W[o] - (W[x + 1] * f - W[x + 2] * e)
                b = W[o + 1] - (W[x + 2] * d - W[x] * f)
                c = W[o + 2] - (W[x] * e - W[x + 1] * d)
                W[o], W[o + 1], W[o + 2] = rotate(-W[x + 3], -W[x + 4], -W[x + 5], W[x + 6], a, b, c)
                W[o + 3], W[o + 4], W[o + 5] = rotate(-W[x + 3], -W[x + 4], -W[x + 5], W[x + 6], d, e, f)
        x, first = x + nq, first + nv


@kernel
def _so2_log(W: Floats, x: int, y: int) -> float:
    c, s, d, r = W[x], W[x + 1], W[y], W[y + 1]
    return arc_tangent(c * r - s * d, c * d + s * r)


@kernel
def _so3_log(W: Floats, x: int, y: int) -> tuple[float, float, float, float]:
    a, b, c, d = quaternion_product(-W[x], -W[x + 1], -W[x + 2], W[x + 3], W[y], W[y + 1], W[y + 2], W[y + 3])
    return turn_of(a, b, c, d)


@kernel
def point_log(I: Integers, W: Floats, G: int, x: int, y: int, e: int) -> None:
    """Write e = log(x^-1 y), the shortest."""
    for leaf in range(I[G]):
        kind, nq, nv = I[G + 1 + 3 * leaf], I[G + 2 + 3 * leaf], I[G + 3 + 3 * leaf]
        if kind == at.VECTOR:
            for i in range(nq):
                W[e + i] = W[y + i] - W[x + i]
        elif kind == at.SO2:
            W[e] = _so2_log(W, x, y)
        elif kind == at.SO3:
            W[e], W[e + 1], W[e + 2], _ = _so3_log(W, x, y)
        elif kind == at.SE2:
            c, s, px, py = W[x + 2], W[x + 3], W[y] - W[x], W[y + 1] - W[x + 1]
            px, py = c * px + s * py, c * py - s * px
            w = _so2_log(W, x + 2, y + 2)
            a = half_cot(w * w)
            W[e], W[e + 1], W[e + 2] = a * px + 0.5 * w * py, a * py - 0.5 * w * px, w
        else:
            px, py, pz = W[y] - W[x], W[y + 1] - W[x + 1], W[y + 2] - W[x + 2]
            px, py, pz = rotate(-W[x + 3], -W[x + 4], -W[x + 5], W[x + 6], px, py, pz)
            a, b, c, cot = _so3_log(W, x + 3, y + 3)
            k = log_coefficient_by(a * a + b * b + c * c, cot)
            W[e], W[e + 1], W[e + 2] = log_times(-a, -b, -c, k, px, py, pz)
            W[e + 3], W[e + 4], W[e + 5] = a, b, c
        x, y, e = x + nq, y + nq, e + nv


@kernel
def _so3_carried(I: Integers, W: Floats, e: int, J: int, stride: int, columns: int) -> None:
    x, y, z = W[e], W[e + 1], W[e + 2]
    k = log_coefficient(x * x + y * y + z * z)
    for n in range(I[columns]):
        o = J + I[columns + 1 + n] * stride
        W[o], W[o + 1], W[o + 2] = log_times(x, y, z, k, W[o], W[o + 1], W[o + 2])


@kernel
def _se2_carried(I: Integers, W: Floats, e: int, J: int, stride: int, columns: int) -> None:
    x, y, w = W[e], W[e + 1], W[e + 2]
    t = w * w
    a, g, h = half_cot(t), log_coefficient(t) * w, 0.5 * w
    for n in range(I[columns]):
        o = J + I[columns + 1 + n] * stride
        b, c, d = W[o], W[o + 1], W[o + 2]
        W[o] = a * b - h * c + (g * x + 0.5 * y) * d
        W[o + 1] = h * b + a * c + (g * y - 0.5 * x) * d


@kernel
def _se3_carried(I: Integers, W: Floats, e: int, J: int, stride: int, columns: int) -> None:
    """[[C, D], [0, C]] of `liegroups.formulas.maps`: D is the derivative of C along the linear part."""
    x, y, z, a, b, c = W[e], W[e + 1], W[e + 2], W[e + 3], W[e + 4], W[e + 5]
    t = a * a + b * b + c * c
    k = log_coefficient(t)
    d = x * a + y * b + z * c
    u = log_coefficient_slope(t, k) * d
    xx, yy, zz = a * (2.0 * k * x + u * a), b * (2.0 * k * y + u * b), c * (2.0 * k * z + u * c)
    xy = k * (x * b + y * a) + u * a * b
    xz = k * (x * c + z * a) + u * a * c
    yz = k * (y * c + z * b) + u * b * c
    x, y, z = 0.5 * x, 0.5 * y, 0.5 * z
    for n in range(I[columns]):
        o = J + I[columns + 1 + n] * stride
        f, g, h = W[o + 3], W[o + 4], W[o + 5]
        i, j, m = log_times(a, b, c, k, W[o], W[o + 1], W[o + 2])
        W[o] = i + (-yy - zz) * f + (xy - z) * g + (xz + y) * h
        W[o + 1] = j + (xy + z) * f + (-xx - zz) * g + (yz - x) * h
        W[o + 2] = m + (xz - y) * f + (yz + x) * g + (-xx - yy) * h
        W[o + 3], W[o + 4], W[o + 5] = log_times(a, b, c, k, f, g, h)


@kernel
def log_carried(I: Integers, W: Floats, G: int, e: int, J: int, stride: int, columns: int) -> None:
    """Columns of a Jacobian times that of the logarithm at e, in place."""
    first = J
    for leaf in range(I[G]):
        kind, nv = I[G + 1 + 3 * leaf], I[G + 3 + 3 * leaf]
        if kind == at.SO3:
            _so3_carried(I, W, e, first, stride, columns)
        elif kind == at.SE2:
            _se2_carried(I, W, e, first, stride, columns)
        elif kind == at.SE3:
            _se3_carried(I, W, e, first, stride, columns)
        e, first = e + nv, first + nv

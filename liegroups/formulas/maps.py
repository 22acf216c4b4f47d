r"""The maps of each group for one vector, in plain Python floats; `batch_maps` does the same over leading axes.

Conventions: quaternions are xyzw, a twist is linear then angular, tangent vectors live in the body frame (right
perturbation), :math:`q \oplus v = q \exp(v)`; metres and radians. With the coefficients b, c, k of `series`,

.. math::
    J_{\exp}(w) = I - b [w] + c [w]^2, \qquad J_{\log}(w) = J_{\exp}^{-1}(w) = I + \tfrac12 [w] + k [w]^2,

and the upper right block of the 6 x 6 Jacobians of SE(3) is the derivative of these along the linear part.
Inputs are finite float arrays of the right size: `Space` checks sizes, ``Space.check`` the rest.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt
from struct import Struct

import numpy as np

from ..arrays import Matrix, Vector
from .series import EXP_SWITCH, LOG_SWITCH, TINY_SQUARE, b_prime, c_prime, c_value, k_prime, k_value

Floats3 = tuple[float, float, float]
Floats4 = tuple[float, float, float, float]
Floats9 = tuple[float, float, float, float, float, float, float, float, float]


_DOUBLE = np.dtype(np.float64)
_PACK9 = Struct("9d").pack
_PACK36 = Struct("36d").pack
_SHAPE3, _SHAPE6 = (3, 3), (6, 6)


def _matrix3(entries: Floats9) -> Matrix:
    """Return the (3, 3) matrix of nine entries by rows: packed into its buffer, in half the time of ``np.array``."""
    return np.ndarray(_SHAPE3, _DOUBLE, bytearray(_PACK9(*entries)))


# --- coefficients and quaternions ------------------------------------------------------------------------------------


def half_sinc(t: float) -> tuple[float, float]:
    """Return (sin(h) / theta, cos(h)) of h = theta / 2, for t = theta^2."""
    if t < TINY_SQUARE:
        return 0.5 - t * (1 / 48), 1.0 - t * (1 / 8)
    theta = sqrt(t)
    return sin(0.5 * theta) / theta, cos(0.5 * theta)


def exp_coefficients(t: float) -> tuple[float, float, float, float]:
    """Return (sin(h) / theta, cos(h), b, c): the quaternion of exp, and the coefficients of its Jacobian."""
    s, c = half_sinc(t)
    return s, c, 2.0 * s * s, c_value(t) if t < EXP_SWITCH else (1.0 - 2.0 * s * c) / t


def half_cot(t: float) -> float:
    """Return h cot(h) of h = theta / 2, for t = theta^2 below (2 pi)^2."""
    if t < TINY_SQUARE:
        return 1.0 - t * (1 / 12)
    half = 0.5 * sqrt(t)
    return half * cos(half) / sin(half)


def log_coefficient(t: float) -> float:
    """Return k, the coefficient of the Jacobian of log, for t = theta^2."""
    return k_value(t) if t < LOG_SWITCH else (1.0 - half_cot(t)) / t


def rotation_between(a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float) -> Floats3:
    """Return the rotation vector, of norm at most pi, of the inverse of the quaternion (a, b, c, d) times (e, f, g, h).

    It is the same, bit for bit, when either quaternion is replaced by its opposite.
    """
    x = d * e - h * a - (b * g - c * f)
    y = d * f - h * b - (c * e - a * g)
    z = d * g - h * c - (a * f - b * e)
    w = d * h + (a * e + b * f + c * g)
    n2 = x * x + y * y + z * z
    if n2 < TINY_SQUARE * w * w:
        s = (2.0 - n2 / (w * w) * (2 / 3)) / w
        return s * x, s * y, s * z
    n = sqrt(n2)
    if w < 0.0 or (w == 0.0 and (x < 0.0 or (x == 0.0 and (y < 0.0 or (y == 0.0 and z < 0.0))))):
        s = -2.0 * atan2(n, -w) / n
    else:
        s = 2.0 * atan2(n, w) / n if n else 0.0
    return s * x, s * y, s * z


def quaternion_product(a: float, b: float, c: float, d: float, x: float, y: float, z: float, w: float) -> Floats4:
    """Return (a, b, c, d) (x, y, z, w)."""
    return (
        d * x + w * a + (b * z - c * y),
        d * y + w * b + (c * x - a * z),
        d * z + w * c + (a * y - b * x),
        d * w - (a * x + b * y + c * z),
    )


def rotate(a: float, b: float, c: float, d: float, x: float, y: float, z: float) -> Floats3:
    """Return the vector (x, y, z) turned by the unit quaternion (a, b, c, d)."""
    e, f, g = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + d * e + (b * g - c * f), y + d * f + (c * e - a * g), z + d * g + (a * f - b * e)


def rotation_matrix(a: float, b: float, c: float, d: float) -> Floats9:
    """Return the nine entries, by rows, of the rotation matrix of the unit quaternion (a, b, c, d)."""
    e, f, g = 2.0 * a, 2.0 * b, 2.0 * c
    ae, bf, cg, af, ag, bg, de, df, dg = a * e, b * f, c * g, a * f, a * g, b * g, d * e, d * f, d * g
    return 1.0 - bf - cg, af - dg, ag + df, af + dg, 1.0 - ae - cg, bg - de, ag - df, bg + de, 1.0 - ae - bf


# --- SO(2): (cos, sin) -----------------------------------------------------------------------------------------------


def so2_integrate(q: Vector, v: Vector) -> Vector:
    """Return q exp(v)."""
    c, s = q.tolist()
    (w,) = v.tolist()
    d, r = cos(w), sin(w)
    x, y = c * d - s * r, c * r + s * d
    n = 1.0 / sqrt(x * x + y * y)
    return np.array([n * x, n * y])


def so2_difference(q0: Vector, q1: Vector) -> Vector:
    """Return log(q0^-1 q1), in [-pi, pi]."""
    c, s = q0.tolist()
    d, r = q1.tolist()
    return np.array([atan2(c * r - s * d, c * d + s * r)])


def so2_compose(q0: Vector, q1: Vector) -> Vector:
    """Return q0 q1."""
    c, s = q0.tolist()
    d, r = q1.tolist()
    x, y = c * d - s * r, c * r + s * d
    n = 1.0 / sqrt(x * x + y * y)
    return np.array([n * x, n * y])


def so2_inverse(q: Vector) -> Vector:
    """Return q^-1."""
    c, s = q.tolist()
    return np.array([c, -s])


# --- SE(2): (x, y, cos, sin), twist (vx, vy, w) ----------------------------------------------------------------------


def se2_integrate(q: Vector, v: Vector) -> Vector:
    """Return q exp(v)."""
    px, py, c, s = q.tolist()
    vx, vy, w = v.tolist()
    t = w * w
    e, f = half_sinc(t)
    f, e = 2.0 * e * f, 2.0 * e * e * w  # sin(w) / w, (1 - cos w) / w
    x, y = f * vx - e * vy, e * vx + f * vy
    d, r = cos(w), sin(w)
    g, h = c * d - s * r, c * r + s * d
    n = 1.0 / sqrt(g * g + h * h)
    return np.array([px + c * x - s * y, py + s * x + c * y, n * g, n * h])


def se2_difference(q0: Vector, q1: Vector) -> Vector:
    """Return log(q0^-1 q1), angle in [-pi, pi]."""
    ax, ay, c, s = q0.tolist()
    bx, by, d, r = q1.tolist()
    ex, ey = bx - ax, by - ay
    x, y = c * ex + s * ey, c * ey - s * ex
    w = atan2(c * r - s * d, c * d + s * r)
    a = half_cot(w * w)
    return np.array([a * x + 0.5 * w * y, a * y - 0.5 * w * x, w])


def se2_compose(q0: Vector, q1: Vector) -> Vector:
    """Return q0 q1."""
    ax, ay, c, s = q0.tolist()
    bx, by, d, r = q1.tolist()
    g, h = c * d - s * r, c * r + s * d
    n = 1.0 / sqrt(g * g + h * h)
    return np.array([ax + c * bx - s * by, ay + s * bx + c * by, n * g, n * h])


def se2_inverse(q: Vector) -> Vector:
    """Return q^-1."""
    x, y, c, s = q.tolist()
    return np.array([-c * x - s * y, s * x - c * y, c, -s])


def se2_adjoint(q: Vector) -> Matrix:
    """Return Ad_q (3, 3)."""
    x, y, c, s = q.tolist()
    return _matrix3((c, -s, y, s, c, -x, 0.0, 0.0, 1.0))


def se2_exp_jacobian(v: Vector) -> Matrix:
    """Return the right Jacobian of exp (3, 3)."""
    x, y, w = v.tolist()
    s, h, b, c = exp_coefficients(w * w)
    f, e, g = 2.0 * s * h, b * w, c * w
    return _matrix3((f, e, g * x - b * y, -e, f, b * x + g * y, 0.0, 0.0, 1.0))


def se2_log_jacobian(v: Vector) -> Matrix:
    """Return the inverse of the right Jacobian of exp (3, 3)."""
    x, y, w = v.tolist()
    t = w * w
    a, g, h = half_cot(t), log_coefficient(t) * w, 0.5 * w
    return _matrix3((a, -h, g * x + 0.5 * y, h, a, g * y - 0.5 * x, 0.0, 0.0, 1.0))


# --- SO(3): quaternion xyzw ------------------------------------------------------------------------------------------


def so3_integrate(q: Vector, v: Vector) -> Vector:
    """Return q exp(v)."""
    a, b, c, d = q.tolist()
    vx, vy, vz = v.tolist()
    s, w = half_sinc(vx * vx + vy * vy + vz * vz)
    a, b, c, d = quaternion_product(a, b, c, d, s * vx, s * vy, s * vz, w)
    n = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    return np.array([n * a, n * b, n * c, n * d])


def so3_difference(q0: Vector, q1: Vector) -> Vector:
    """Return log(q0^-1 q1), of norm at most pi."""
    a, b, c, d = q0.tolist()
    x, y, z, w = q1.tolist()
    return np.array(rotation_between(a, b, c, d, x, y, z, w))


def so3_compose(q0: Vector, q1: Vector) -> Vector:
    """Return q0 q1."""
    a, b, c, d = q0.tolist()
    x, y, z, w = q1.tolist()
    x, y, z, w = quaternion_product(a, b, c, d, x, y, z, w)
    n = 1.0 / sqrt(x * x + y * y + z * z + w * w)
    return np.array([n * x, n * y, n * z, n * w])


def so3_inverse(q: Vector) -> Vector:
    """Return q^-1."""
    x, y, z, w = q.tolist()
    return np.array([-x, -y, -z, w])


def so3_adjoint(q: Vector) -> Matrix:
    """Return Ad_q, the rotation matrix (3, 3)."""
    x, y, z, w = q.tolist()
    return _matrix3(rotation_matrix(x, y, z, w))


def _skew_polynomial(x: float, y: float, z: float, h: float, k: float) -> Floats9:
    """Return I + h [w] + k [w]^2 by rows, w = (x, y, z)."""
    xx, yy, zz, xy, xz, yz = k * x * x, k * y * y, k * z * z, k * x * y, k * x * z, k * y * z
    x, y, z = h * x, h * y, h * z
    return 1.0 - yy - zz, xy - z, xz + y, xy + z, 1.0 - xx - zz, yz - x, xz - y, yz + x, 1.0 - xx - yy


def so3_exp_jacobian(v: Vector) -> Matrix:
    """Return the right Jacobian of exp (3, 3)."""
    x, y, z = v.tolist()
    _, _, b, c = exp_coefficients(x * x + y * y + z * z)
    return _matrix3(_skew_polynomial(x, y, z, -b, c))


def so3_log_jacobian(v: Vector) -> Matrix:
    """Return the inverse of the right Jacobian of exp (3, 3)."""
    x, y, z = v.tolist()
    return _matrix3(_skew_polynomial(x, y, z, 0.5, log_coefficient(x * x + y * y + z * z)))


# --- SE(3): translation, quaternion xyzw; twist linear, angular ------------------------------------------------------


def se3_integrate(q: Vector, v: Vector) -> Vector:
    """Return q exp(v)."""
    px, py, pz, a, b, c, d = q.tolist()
    x, y, z, wx, wy, wz = v.tolist()
    s, w, e, f = exp_coefficients(wx * wx + wy * wy + wz * wz)
    gx, gy, gz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
    x, y, z = (
        x + e * gx + f * (wy * gz - wz * gy),
        y + e * gy + f * (wz * gx - wx * gz),
        z + e * gz + f * (wx * gy - wy * gx),
    )
    x, y, z = rotate(a, b, c, d, x, y, z)
    a, b, c, d = quaternion_product(a, b, c, d, s * wx, s * wy, s * wz, w)
    n = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    return np.array([px + x, py + y, pz + z, n * a, n * b, n * c, n * d])


def se3_difference(q0: Vector, q1: Vector) -> Vector:
    """Return log(q0^-1 q1), angular part of norm at most pi."""
    px, py, pz, a, b, c, d = q0.tolist()
    x, y, z, e, f, g, w = q1.tolist()
    x, y, z = rotate(-a, -b, -c, d, x - px, y - py, z - pz)
    e, f, g = rotation_between(a, b, c, d, e, f, g, w)
    k = log_coefficient(e * e + f * f + g * g)
    a, b, c = f * z - g * y, g * x - e * z, e * y - f * x
    return np.array(
        [
            x - 0.5 * a + k * (f * c - g * b),
            y - 0.5 * b + k * (g * a - e * c),
            z - 0.5 * c + k * (e * b - f * a),
            e,
            f,
            g,
        ]
    )


def se3_compose(q0: Vector, q1: Vector) -> Vector:
    """Return q0 q1."""
    px, py, pz, a, b, c, d = q0.tolist()
    x, y, z, e, f, g, w = q1.tolist()
    x, y, z = rotate(a, b, c, d, x, y, z)
    e, f, g, w = quaternion_product(a, b, c, d, e, f, g, w)
    n = 1.0 / sqrt(e * e + f * f + g * g + w * w)
    return np.array([px + x, py + y, pz + z, n * e, n * f, n * g, n * w])


def se3_inverse(q: Vector) -> Vector:
    """Return q^-1."""
    x, y, z, a, b, c, d = q.tolist()
    x, y, z = rotate(-a, -b, -c, d, x, y, z)
    return np.array([-x, -y, -z, -a, -b, -c, d])


def se3_adjoint(q: Vector) -> Matrix:
    """Return Ad_q = [[R, [p] R], [0, R]] (6, 6)."""
    x, y, z, a, b, c, d = q.tolist()
    rotation = rotation_matrix(a, b, c, d)
    r, s, t, u, v, w, e, f, g = rotation
    top = y * e - z * u, y * f - z * v, y * g - z * w
    middle = z * r - x * e, z * s - x * f, z * t - x * g
    corner = *top, *middle, x * u - y * r, x * v - y * s, x * w - y * t
    return _triangular(rotation, corner)


def _triangular(a: Floats9, b: Floats9) -> Matrix:
    """Return [[A, B], [0, A]] from the entries of A and B by rows."""
    r, s, t, u, v, w, x, y, z = a
    c, d, e, f, g, h, i, j, k = b
    o = 0.0
    entries = _PACK36(
        *(r, s, t, c, d, e, u, v, w, f, g, h, x, y, z, i, j, k), *(o, o, o, r, s, t, o, o, o, u, v, w, o, o, o, x, y, z)
    )
    return np.ndarray(_SHAPE6, _DOUBLE, bytearray(entries))


def _twist_polynomial(
    x: float, y: float, z: float, e: float, f: float, g: float, h: float, k: float, h1: float, k1: float
) -> Matrix:
    """Return [[C, D], [0, C]], C = I + h [w] + k [w]^2 and D its derivative along (x, y, z), where w = (e, f, g).

    ``h1`` and ``k1`` are the derivatives 2 dh/dt and 2 dk/dt.
    """
    d = x * e + y * f + z * g
    i, j, m = h * x + h1 * d * e, h * y + h1 * d * f, h * z + h1 * d * g
    u = k1 * d
    xx, yy, zz = e * (2.0 * k * x + u * e), f * (2.0 * k * y + u * f), g * (2.0 * k * z + u * g)
    xy, xz, yz = k * (x * f + y * e) + u * e * f, k * (x * g + z * e) + u * e * g, k * (y * g + z * f) + u * f * g
    corner = (-yy - zz, xy - m, xz + j, xy + m, -xx - zz, yz - i, xz - j, yz + i, -xx - yy)
    return _triangular(_skew_polynomial(e, f, g, h, k), corner)


def se3_exp_jacobian(v: Vector) -> Matrix:
    """Return the right Jacobian of exp (6, 6)."""
    x, y, z, e, f, g = v.tolist()
    t = e * e + f * f + g * g
    s, w, b, c = exp_coefficients(t)
    if t < EXP_SWITCH:
        b1, c1 = b_prime(t), c_prime(t)
    else:
        b1, c1 = (2.0 * s * w - 2.0 * b) / t, (b - 3.0 * c) / t
    return _twist_polynomial(x, y, z, e, f, g, -b, c, -b1, c1)


def se3_log_jacobian(v: Vector) -> Matrix:
    """Return the inverse of the right Jacobian of exp (6, 6)."""
    x, y, z, e, f, g = v.tolist()
    t = e * e + f * f + g * g
    if t < LOG_SWITCH:
        k, k1 = k_value(t), k_prime(t)
    else:
        a = half_cot(t)
        k = (1.0 - a) / t
        k1 = (0.25 - k * (a + 2.0)) / t
    return _twist_polynomial(x, y, z, e, f, g, 0.5, k, 0.0, k1)

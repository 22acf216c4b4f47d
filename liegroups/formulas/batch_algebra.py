"""Arrays of the maps over leading axes: coefficients of angles, quaternions, blocks of Jacobians.

The functions of `maps` with the same names do the same for one vector, with the same formulas and switches.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolVector, Matrix, Vector
from .series import EXP_SWITCH, LOG_SWITCH, TINY_SQUARE, c_value, k_value

# --- coefficients ----------------------------------------------------------------------------------------------------
# Both branches are evaluated everywhere, each with a t moved out of the other's reach, so that none divides by zero.


def split(t: Vector, switch: float) -> tuple[BoolVector, Vector]:
    """Where t is below a switch, and t itself with the switch in those places."""
    small = t < switch
    return small, np.where(small, switch, t)


def half_sinc(t: Vector) -> tuple[Vector, Vector]:
    """Return (sin(h) / theta, cos(h)) of h = theta / 2, for t = theta^2."""
    small, safe = split(t, TINY_SQUARE)
    theta = np.sqrt(safe)
    return (
        np.where(small, 0.5 - t * (1 / 48), np.sin(0.5 * theta) / theta),
        np.where(small, 1.0 - t * (1 / 8), np.cos(0.5 * theta)),
    )


def exp_coefficients(t: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Return (sin(h) / theta, cos(h), b, c): the quaternion of exp, and the coefficients of its Jacobian."""
    s, c = half_sinc(t)
    small, safe = split(t, EXP_SWITCH)
    return s, c, 2.0 * s * s, np.where(small, c_value(np.minimum(t, EXP_SWITCH)), (1.0 - 2.0 * s * c) / safe)


def half_cot(t: Vector) -> Vector:
    """Return h cot(h) of h = theta / 2, for t = theta^2 below (2 pi)^2."""
    small, safe = split(t, TINY_SQUARE)
    half = 0.5 * np.sqrt(safe)
    return np.where(small, 1.0 - t * (1 / 12), half * np.cos(half) / np.sin(half))


def log_coefficient(t: Vector) -> Vector:
    """Return k, the coefficient of the Jacobian of log, for t = theta^2."""
    small, safe = split(t, LOG_SWITCH)
    return np.where(small, k_value(np.minimum(t, LOG_SWITCH)), (1.0 - half_cot(t)) / safe)


def quaternion_log(u: Vector, w: Vector) -> Vector:
    """Return the rotation vector of the quaternion (u, w); the same, bit for bit, for its opposite."""
    x, y, z = columns(u)
    first = np.where(x != 0.0, x, np.where(y != 0.0, y, z))
    sign = np.where((w < 0.0) | ((w == 0.0) & (first < 0.0)), -1.0, 1.0)
    n2 = x * x + y * y + z * z
    small = n2 < TINY_SQUARE * w * w
    safe_w = np.where(small, w, 1.0)
    n = np.sqrt(n2)
    safe_n = np.where(small | (n == 0.0), 1.0, n)
    near = (2.0 - n2 / (safe_w * safe_w) * (2 / 3)) / safe_w
    return np.where(small, near, 2.0 * sign * np.arctan2(n, sign * w) / safe_n)[..., None] * u


# --- vectors, quaternions and blocks ---------------------------------------------------------------------------------


def columns(array: Vector) -> tuple[Vector, ...]:
    """The entries of the last axis, an array each."""
    return tuple(array[..., i] for i in range(array.shape[-1]))


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product of a and b."""
    x, y, z, e, f, g = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    first = y * g - z * f
    out = np.empty((*first.shape, 3))
    out[..., 0], out[..., 1], out[..., 2] = first, z * e - x * g, x * f - y * e
    return out


def dot(a: Vector, b: Vector) -> Vector:
    """Scalar product of a and b (3,)."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def quaternion_product(a: Vector, b: Vector) -> Vector:
    """Return a b."""
    u, d, x, w = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = d * x + w * u + cross(u, x)
    return np.concatenate([vector, d * w - dot(u, x)[..., None]], axis=-1)


def conjugate(q: Vector) -> Vector:
    """Return the opposite rotation."""
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def unit(q: Vector) -> Vector:
    """Return q divided by its norm."""
    norm = np.sqrt(np.sum(q * q, axis=-1, keepdims=True))
    if not norm.all():
        raise ZeroDivisionError("a vector of norm 0 has no direction")
    return q * (1.0 / norm)


def rotate(q: Vector, p: Vector) -> Vector:
    """Return the vector p turned by the unit quaternion q."""
    e = 2.0 * cross(q[..., :3], p)
    return p + q[..., 3:] * e + cross(q[..., :3], e)


def rotation_matrix(q: Vector) -> Matrix:
    """Return the rotation matrix of the unit quaternion q."""
    a, b, c, d = columns(q)
    aa, bb, cc, ab, ac, bc, da, db, dc = a * a, b * b, c * c, a * b, a * c, b * c, d * a, d * b, d * c
    entries = [0.5 - bb - cc, ab - dc, ac + db, ab + dc, 0.5 - aa - cc, bc - da, ac - db, bc + da, 0.5 - aa - bb]
    return 2.0 * np.stack(entries, axis=-1).reshape(*a.shape, 3, 3)


def skew(w: Vector) -> Matrix:
    """Return [w], with [w] x the cross product of w and x."""
    out = np.zeros((*w.shape, 3))
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = columns(w)
    out[..., 1, 2], out[..., 2, 0], out[..., 0, 1] = columns(-w)
    return out


def _outer(a: Vector, b: Vector) -> Matrix:
    return a[..., :, None] * b[..., None, :]


def skew_polynomial(w: Vector, h: Vector, k: Vector) -> Matrix:
    """Return I + h [w] + k [w]^2."""
    return (
        np.eye(3)
        + skew(h[..., None] * w)
        + k[..., None, None] * (_outer(w, w) - dot(w, w)[..., None, None] * np.eye(3))
    )


def triangular(a: Matrix, b: Matrix) -> Matrix:
    """Return [[A, B], [0, A]]."""
    out = np.zeros((*a.shape[:-2], 6, 6))
    out[..., :3, :3], out[..., :3, 3:], out[..., 3:, 3:] = a, b, a
    return out


def twist_polynomial(v: Vector, h: Vector, k: Vector, h1: Vector, k1: Vector) -> Matrix:
    """Return [[C, D], [0, C]], C = I + h [w] + k [w]^2 and D its derivative along the linear part of v."""
    p, w = v[..., :3], v[..., 3:]
    d = dot(p, w)
    corner = skew(h[..., None] * p + (h1 * d)[..., None] * w)
    corner += k[..., None, None] * (_outer(p, w) + _outer(w, p) - (2.0 * d)[..., None, None] * np.eye(3))
    corner += (k1 * d)[..., None, None] * (_outer(w, w) - dot(w, w)[..., None, None] * np.eye(3))
    return triangular(skew_polynomial(w, h, k), corner)


def plane_product(a: Vector, b: Vector) -> Vector:
    """Return the product of two (cos, sin), normalised."""
    c, s = columns(a)
    d, r = columns(b)
    return unit(np.stack([c * d - s * r, c * r + s * d], axis=-1))


def plane_rotate(a: Vector, p: Vector, sign: float) -> Vector:
    """Return the vector p of the plane turned by (cos, sin), or back if the sign is -1."""
    c, s = a[..., 0], sign * a[..., 1]
    x, y = columns(p)
    return np.stack([c * x - s * y, s * x + c * y], axis=-1)


def plane_matrix(entries: list[Vector]) -> Matrix:
    """Matrices (..., 3, 3) whose first two rows have these entries and whose last row is (0, 0, 1)."""
    zero = np.zeros_like(entries[0])
    return np.stack([*entries, zero, zero, zero + 1.0], axis=-1).reshape(*zero.shape, 3, 3)

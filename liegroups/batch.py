"""The maps of each group on leading axes, in numpy: the twins of `maps`, with the same coefficients and switches."""

from __future__ import annotations

import numpy as np

from .arrays import BoolVector, Matrix, Vector
from .rows import Rows
from .series import EXP_SWITCH, LOG_SWITCH, TINY, b_prime, c_prime, c_value, k_prime, k_value

__all__ = ["SE2Rows", "SE3Rows", "SO2Rows", "SO3Rows", "VectorRows"]


# --- coefficients ----------------------------------------------------------------------------------------------------
# Both branches are evaluated everywhere, each with a t moved out of the other's reach, so that none divides by zero.


def _above(t: Vector, switch: float) -> tuple[BoolVector, Vector]:
    small = t < switch
    return small, np.where(small, switch, t)


def half_sinc(t: Vector) -> tuple[Vector, Vector]:
    """Return (sin(h) / theta, cos(h)) of h = theta / 2, for t = theta^2."""
    small, safe = _above(t, TINY)
    theta = np.sqrt(safe)
    return (
        np.where(small, 0.5 - t * (1 / 48), np.sin(0.5 * theta) / theta),
        np.where(small, 1.0 - t * (1 / 8), np.cos(0.5 * theta)),
    )


def exp_coefficients(t: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Return (sin(h) / theta, cos(h), b, c): the quaternion of exp, and the coefficients of its Jacobian."""
    s, c = half_sinc(t)
    small, safe = _above(t, EXP_SWITCH)
    return s, c, 2.0 * s * s, np.where(small, c_value(np.minimum(t, EXP_SWITCH)), (1.0 - 2.0 * s * c) / safe)


def half_cot(t: Vector) -> Vector:
    """Return h cot(h) of h = theta / 2, for t = theta^2 below (2 pi)^2."""
    small, safe = _above(t, TINY)
    half = 0.5 * np.sqrt(safe)
    return np.where(small, 1.0 - t * (1 / 12), half * np.cos(half) / np.sin(half))


def log_coefficient(t: Vector) -> Vector:
    """Return k, the coefficient of the Jacobian of log, for t = theta^2."""
    small, safe = _above(t, LOG_SWITCH)
    return np.where(small, k_value(np.minimum(t, LOG_SWITCH)), (1.0 - half_cot(t)) / safe)


def quaternion_log(u: Vector, w: Vector) -> Vector:
    """Return the rotation vector of the quaternion (u, w); the same, bit for bit, for its opposite."""
    x, y, z = _columns(u)
    first = np.where(x != 0.0, x, np.where(y != 0.0, y, z))
    sign = np.where((w < 0.0) | ((w == 0.0) & (first < 0.0)), -1.0, 1.0)
    n2 = x * x + y * y + z * z
    small = n2 < TINY * w * w
    safe_w = np.where(small, w, 1.0)
    n = np.sqrt(n2)
    safe_n = np.where(small | (n == 0.0), 1.0, n)
    near = (2.0 - n2 / (safe_w * safe_w) * (2 / 3)) / safe_w
    return np.where(small, near, 2.0 * sign * np.arctan2(n, sign * w) / safe_n)[..., None] * u


# --- vectors, quaternions and blocks ---------------------------------------------------------------------------------


def _columns(array: Vector) -> tuple[Vector, ...]:
    return tuple(array[..., i] for i in range(array.shape[-1]))


def _cross(a: Vector, b: Vector) -> Vector:
    x, y, z = _columns(a)
    e, f, g = _columns(b)
    return np.stack([y * g - z * f, z * e - x * g, x * f - y * e], axis=-1)


def _dot(a: Vector, b: Vector) -> Vector:
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def quaternion_product(a: Vector, b: Vector) -> Vector:
    """Return a b."""
    u, d, x, w = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = d * x + w * u + _cross(u, x)
    return np.concatenate([vector, d * w - _dot(u, x)[..., None]], axis=-1)


def conjugate(q: Vector) -> Vector:
    """Return the opposite rotation."""
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def unit(q: Vector) -> Vector:
    """Return q divided by its norm."""
    return q * (1.0 / np.sqrt(np.sum(q * q, axis=-1, keepdims=True)))


def rotate(q: Vector, p: Vector) -> Vector:
    """Return the vector p turned by the unit quaternion q."""
    e = 2.0 * _cross(q[..., :3], p)
    return p + q[..., 3:] * e + _cross(q[..., :3], e)


def rotation_matrix(q: Vector) -> Matrix:
    """Return the rotation matrix of the unit quaternion q."""
    a, b, c, d = _columns(q)
    aa, bb, cc, ab, ac, bc, da, db, dc = a * a, b * b, c * c, a * b, a * c, b * c, d * a, d * b, d * c
    entries = [0.5 - bb - cc, ab - dc, ac + db, ab + dc, 0.5 - aa - cc, bc - da, ac - db, bc + da, 0.5 - aa - bb]
    return 2.0 * np.stack(entries, axis=-1).reshape(*a.shape, 3, 3)


def skew(w: Vector) -> Matrix:
    """Return [w], with [w] x the cross product of w and x."""
    x, y, z = _columns(w)
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)


def _outer(a: Vector, b: Vector) -> Matrix:
    return a[..., :, None] * b[..., None, :]


def _curve(w: Vector, h: Vector, k: Vector) -> Matrix:
    """Return I + h [w] + k [w]^2."""
    return (
        np.eye(3)
        + skew(h[..., None] * w)
        + k[..., None, None] * (_outer(w, w) - _dot(w, w)[..., None, None] * np.eye(3))
    )


def _triangular(a: Matrix, b: Matrix) -> Matrix:
    """Return [[A, B], [0, A]]."""
    out = np.zeros((*a.shape[:-2], 6, 6))
    out[..., :3, :3], out[..., :3, 3:], out[..., 3:, 3:] = a, b, a
    return out


def _screw(v: Vector, h: Vector, k: Vector, h1: Vector, k1: Vector) -> Matrix:
    """Return [[C, D], [0, C]], C = I + h [w] + k [w]^2 and D its derivative along the linear part of v."""
    p, w = v[..., :3], v[..., 3:]
    d = _dot(p, w)
    corner = skew(h[..., None] * p + (h1 * d)[..., None] * w)
    corner += k[..., None, None] * (_outer(p, w) + _outer(w, p) - (2.0 * d)[..., None, None] * np.eye(3))
    corner += (k1 * d)[..., None, None] * (_outer(w, w) - _dot(w, w)[..., None, None] * np.eye(3))
    return _triangular(_curve(w, h, k), corner)


def _turn(a: Vector, b: Vector) -> Vector:
    """Return the product of two (cos, sin), normalised."""
    c, s = _columns(a)
    d, r = _columns(b)
    return unit(np.stack([c * d - s * r, c * r + s * d], axis=-1))


def _turned(a: Vector, p: Vector, sign: float) -> Vector:
    """Return the vector p of the plane turned by (cos, sin), or back if the sign is -1."""
    c, s = a[..., 0], sign * a[..., 1]
    x, y = _columns(p)
    return np.stack([c * x - s * y, s * x + c * y], axis=-1)


def _matrix3(entries: list[Vector]) -> Matrix:
    zero = np.zeros_like(entries[0])
    return np.stack([*entries, zero, zero, zero + 1.0], axis=-1).reshape(*zero.shape, 3, 3)


# --- the groups ------------------------------------------------------------------------------------------------------


class VectorRows(Rows):
    """R^n: points add like vectors."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q + v."""
        return q + v

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return q1 - q0."""
        return q1 - q0

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 + q1."""
        return q0 + q1

    def inverse(self, q: Vector) -> Vector:
        """Return -q."""
        return -q

    def adjoint(self, q: Vector) -> Matrix:
        """Return the identity."""
        return np.zeros((*q.shape, q.shape[-1])) + np.eye(q.shape[-1])

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the identity."""
        return self.adjoint(v)

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the identity."""
        return self.adjoint(v)


class SO2Rows(Rows):
    """SO(2): (cos, sin)."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        return _turn(q, np.concatenate([np.cos(v), np.sin(v)], axis=-1))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), in [-pi, pi]."""
        c, s = _columns(q0)
        d, r = _columns(q1)
        return np.arctan2(c * r - s * d, c * d + s * r)[..., None]

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1."""
        return _turn(q0, q1)

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1."""
        return q * np.array([1.0, -1.0])

    def adjoint(self, q: Vector) -> Matrix:
        """Return the identity."""
        return np.ones((*q.shape[:-1], 1, 1))

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the identity."""
        return np.ones((*v.shape[:-1], 1, 1))

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the identity."""
        return np.ones((*v.shape[:-1], 1, 1))


class SE2Rows(Rows):
    """SE(2): (x, y, cos, sin), twist (vx, vy, w)."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        x, y, w = _columns(v)
        s, c = half_sinc(w * w)
        f, e = 2.0 * s * c, 2.0 * s * s * w
        exp = np.stack([f * x - e * y, e * x + f * y, np.cos(w), np.sin(w)], axis=-1)
        return self.compose(q, exp)

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), angle in [-pi, pi]."""
        x, y = _columns(_turned(q0[..., 2:], q1[..., :2] - q0[..., :2], -1.0))
        c, s = q0[..., 2], q0[..., 3]
        d, r = q1[..., 2], q1[..., 3]
        w = np.arctan2(c * r - s * d, c * d + s * r)
        a = half_cot(w * w)
        return np.stack([a * x + 0.5 * w * y, a * y - 0.5 * w * x, w], axis=-1)

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1."""
        return np.concatenate(
            [q0[..., :2] + _turned(q0[..., 2:], q1[..., :2], 1.0), _turn(q0[..., 2:], q1[..., 2:])], -1
        )

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1."""
        return np.concatenate([-_turned(q[..., 2:], q[..., :2], -1.0), q[..., 2:] * np.array([1.0, -1.0])], axis=-1)

    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q."""
        x, y, c, s = _columns(q)
        return _matrix3([c, -s, y, s, c, -x])

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp."""
        x, y, w = _columns(v)
        s, h, b, c = exp_coefficients(w * w)
        f, e, g = 2.0 * s * h, b * w, c * w
        return _matrix3([f, e, g * x - b * y, -e, f, b * x + g * y])

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp."""
        x, y, w = _columns(v)
        t = w * w
        a, g, h = half_cot(t), log_coefficient(t) * w, 0.5 * w
        return _matrix3([a, -h, g * x + 0.5 * y, h, a, g * y - 0.5 * x])


class SO3Rows(Rows):
    """SO(3): quaternion xyzw."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        s, c = half_sinc(_dot(v, v))
        return self.compose(q, np.concatenate([s[..., None] * v, c[..., None]], axis=-1))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), of norm at most pi."""
        q = quaternion_product(conjugate(q0), q1)
        return quaternion_log(q[..., :3], q[..., 3])

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1."""
        return unit(quaternion_product(q0, q1))

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1."""
        return conjugate(q)

    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q, the rotation matrix."""
        return rotation_matrix(q)

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp."""
        _, _, b, c = exp_coefficients(_dot(v, v))
        return _curve(v, -b, c)

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp."""
        t = _dot(v, v)
        return _curve(v, np.full_like(t, 0.5), log_coefficient(t))


class SE3Rows(Rows):
    """SE(3): translation, quaternion xyzw; twist linear, angular."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        p, w = v[..., :3], v[..., 3:]
        s, h, b, c = exp_coefficients(_dot(w, w))
        g = _cross(w, p)
        p = p + b[..., None] * g + c[..., None] * _cross(w, g)
        return self.compose(q, np.concatenate([p, s[..., None] * w, h[..., None]], axis=-1))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), angular part of norm at most pi."""
        back = conjugate(q0[..., 3:])
        p = rotate(back, q1[..., :3] - q0[..., :3])
        q = quaternion_product(back, q1[..., 3:])
        w = quaternion_log(q[..., :3], q[..., 3])
        g = _cross(w, p)
        return np.concatenate([p - 0.5 * g + log_coefficient(_dot(w, w))[..., None] * _cross(w, g), w], axis=-1)

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1."""
        turn = unit(quaternion_product(q0[..., 3:], q1[..., 3:]))
        return np.concatenate([q0[..., :3] + rotate(q0[..., 3:], q1[..., :3]), turn], axis=-1)

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1."""
        back = conjugate(q[..., 3:])
        return np.concatenate([-rotate(back, q[..., :3]), back], axis=-1)

    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q = [[R, [p] R], [0, R]]."""
        turn = rotation_matrix(q[..., 3:])
        return _triangular(turn, skew(q[..., :3]) @ turn)

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp."""
        t = _dot(v[..., 3:], v[..., 3:])
        s, h, b, c = exp_coefficients(t)
        small, safe = _above(t, EXP_SWITCH)
        below = np.minimum(t, EXP_SWITCH)
        b1 = np.where(small, b_prime(below), (2.0 * s * h - 2.0 * b) / safe)
        c1 = np.where(small, c_prime(below), (b - 3.0 * c) / safe)
        return _screw(v, -b, c, -b1, c1)

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp."""
        t = _dot(v[..., 3:], v[..., 3:])
        k = log_coefficient(t)
        small, safe = _above(t, LOG_SWITCH)
        k1 = np.where(small, k_prime(np.minimum(t, LOG_SWITCH)), (0.25 - k * (half_cot(t) + 2.0)) / safe)
        return _screw(v, np.full_like(t, 0.5), k, np.zeros_like(t), k1)

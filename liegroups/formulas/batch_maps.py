"""What a group does to vectors stacked along leading axes, in numpy: `BatchMaps`, and those of the groups."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..arrays import Matrix, Vector
from .batch_algebra import (
    columns,
    conjugate,
    cross,
    dot,
    exp_coefficients,
    half_cot,
    half_sinc,
    log_coefficient,
    plane_matrix,
    plane_product,
    plane_rotate,
    quaternion_log,
    quaternion_product,
    rotate,
    rotation_matrix,
    skew,
    skew_polynomial,
    split,
    triangular,
    twist_polynomial,
    unit,
)
from .series import EXP_SWITCH, LOG_SWITCH, b_prime, c_prime, k_prime


class BatchMaps(ABC):
    """The seven maps of a group on vectors stacked along leading axes.

    They compute the same as the functions of `GroupMaps` with the same names, which take one vector. `Space` calls them
    with float64 arrays whose last axis has the right size, and which broadcast against each other.
    """

    @abstractmethod
    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v): (..., nq), (..., nv) -> (..., nq)."""

    @abstractmethod
    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1): (..., nq), (..., nq) -> (..., nv)."""

    @abstractmethod
    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1: (..., nq), (..., nq) -> (..., nq)."""

    @abstractmethod
    def inverse(self, q: Vector) -> Vector:
        """Return q^-1: (..., nq) -> (..., nq)."""

    @abstractmethod
    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q: (..., nq) -> (..., nv, nv)."""

    @abstractmethod
    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp at v: (..., nv) -> (..., nv, nv)."""

    @abstractmethod
    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp at v: (..., nv) -> (..., nv, nv)."""


def repeated(matrices: Matrix, axes: tuple[int, ...]) -> Matrix:
    """Repeat matrices along leading axes."""
    return np.array(np.broadcast_to(matrices, axes + matrices.shape[-2:]))


class VectorMaps(BatchMaps):
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


class SO2Maps(BatchMaps):
    """SO(2): (cos, sin)."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        return plane_product(q, np.concatenate([np.cos(v), np.sin(v)], axis=-1))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), in [-pi, pi]."""
        c, s = columns(q0)
        d, r = columns(q1)
        return np.arctan2(c * r - s * d, c * d + s * r)[..., None]

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1."""
        return plane_product(q0, q1)

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


class SE2Maps(BatchMaps):
    """SE(2): (x, y, cos, sin), twist (vx, vy, w)."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        x, y, w = columns(v)
        s, c = half_sinc(w * w)
        f, e = 2.0 * s * c, 2.0 * s * s * w
        exp = np.stack([f * x - e * y, e * x + f * y, np.cos(w), np.sin(w)], axis=-1)
        return self.compose(q, exp)

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), angle in [-pi, pi]."""
        x, y = columns(plane_rotate(q0[..., 2:], q1[..., :2] - q0[..., :2], -1.0))
        c, s = q0[..., 2], q0[..., 3]
        d, r = q1[..., 2], q1[..., 3]
        w = np.arctan2(c * r - s * d, c * d + s * r)
        a = half_cot(w * w)
        return np.stack([a * x + 0.5 * w * y, a * y - 0.5 * w * x, w], axis=-1)

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1."""
        return np.concatenate(
            [q0[..., :2] + plane_rotate(q0[..., 2:], q1[..., :2], 1.0), plane_product(q0[..., 2:], q1[..., 2:])], -1
        )

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1."""
        return np.concatenate(
            [-plane_rotate(q[..., 2:], q[..., :2], -1.0), q[..., 2:] * np.array([1.0, -1.0])], axis=-1
        )

    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q."""
        x, y, c, s = columns(q)
        return plane_matrix([c, -s, y, s, c, -x])

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp."""
        x, y, w = columns(v)
        s, h, b, c = exp_coefficients(w * w)
        f, e, g = 2.0 * s * h, b * w, c * w
        return plane_matrix([f, e, g * x - b * y, -e, f, b * x + g * y])

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp."""
        x, y, w = columns(v)
        t = w * w
        a, g, h = half_cot(t), log_coefficient(t) * w, 0.5 * w
        return plane_matrix([a, -h, g * x + 0.5 * y, h, a, g * y - 0.5 * x])


class SO3Maps(BatchMaps):
    """SO(3): quaternion xyzw."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        s, c = half_sinc(dot(v, v))
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
        _, _, b, c = exp_coefficients(dot(v, v))
        return skew_polynomial(v, -b, c)

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp."""
        t = dot(v, v)
        return skew_polynomial(v, np.full_like(t, 0.5), log_coefficient(t))


class SE3Maps(BatchMaps):
    """SE(3): translation, quaternion xyzw; twist linear, angular."""

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v)."""
        p, w = v[..., :3], v[..., 3:]
        s, h, b, c = exp_coefficients(dot(w, w))
        g = cross(w, p)
        p = p + b[..., None] * g + c[..., None] * cross(w, g)
        return self.compose(q, np.concatenate([p, s[..., None] * w, h[..., None]], axis=-1))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), angular part of norm at most pi."""
        back = conjugate(q0[..., 3:])
        p = rotate(back, q1[..., :3] - q0[..., :3])
        q = quaternion_product(back, q1[..., 3:])
        w = quaternion_log(q[..., :3], q[..., 3])
        g = cross(w, p)
        return np.concatenate([p - 0.5 * g + log_coefficient(dot(w, w))[..., None] * cross(w, g), w], axis=-1)

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
        return triangular(turn, skew(q[..., :3]) @ turn)

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp."""
        t = dot(v[..., 3:], v[..., 3:])
        s, h, b, c = exp_coefficients(t)
        small, safe = split(t, EXP_SWITCH)
        below = np.minimum(t, EXP_SWITCH)
        b1 = np.where(small, b_prime(below), (2.0 * s * h - 2.0 * b) / safe)
        c1 = np.where(small, c_prime(below), (b - 3.0 * c) / safe)
        return twist_polynomial(v, -b, c, -b1, c1)

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp."""
        t = dot(v[..., 3:], v[..., 3:])
        k = log_coefficient(t)
        small, safe = split(t, LOG_SWITCH)
        k1 = np.where(small, k_prime(np.minimum(t, LOG_SWITCH)), (0.25 - k * (half_cot(t) + 2.0)) / safe)
        return twist_polynomial(v, np.full_like(t, 0.5), k, np.zeros_like(t), k1)

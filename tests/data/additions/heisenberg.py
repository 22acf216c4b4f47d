"""Maps of the Heisenberg group: (x, y, z)(a, b, c) = (x + a, y + b, z + c + x b)."""

from __future__ import annotations

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.group_maps import GroupMaps


def _compose(q0: Vector, q1: Vector) -> Vector:
    return q0 + q1 + np.array([0.0, 0.0, q0[0] * q1[1]])


def _inverse(q: Vector) -> Vector:
    return np.array([-q[0], -q[1], q[0] * q[1] - q[2]])


def _integrate(q: Vector, v: Vector) -> Vector:
    return _compose(q, np.array([v[0], v[1], v[2] + 0.5 * v[0] * v[1]]))


def _difference(q0: Vector, q1: Vector) -> Vector:
    a, b, c = _compose(_inverse(q0), q1)
    return np.array([a, b, c - 0.5 * a * b])


def _adjoint(q: Vector) -> Matrix:
    return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-q[1], q[0], 1.0]])


def _exp_jacobian(v: Vector) -> Matrix:
    return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5 * v[1], -0.5 * v[0], 1.0]])


def _log_jacobian(v: Vector) -> Matrix:
    return _exp_jacobian(-v)


HEISENBERG = GroupMaps(
    integrate=_integrate,
    difference=_difference,
    compose=_compose,
    inverse=_inverse,
    adjoint=_adjoint,
    exp_jacobian=_exp_jacobian,
    log_jacobian=_log_jacobian,
)

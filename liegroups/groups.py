"""The groups: R^n, SO(2), SE(2), SO(3), SE(3). Each class binds its one-vector maps (`maps`) and its rows (`batch`)."""

from __future__ import annotations

from functools import cache
from typing import Any, final

import numpy as np

from . import batch, maps, second_order
from .arrays import Matrix, Vector
from .doors import natural_number
from .layout import Layout
from .rows import Rows
from .space import Space

__all__ = ["SE2", "SE3", "SO2", "SO3", "Rn", "SE2Group", "SE3Group", "SO2Group", "SO3Group"]

_ONE = np.ones((1, 1))


@cache
def _identity(n: int) -> Matrix:
    return np.eye(n)


@final
class Rn(Space):
    """R^n: points add like vectors. ``Rn(3)`` is R^3; ``Rn(0)`` is the empty space."""

    def __init__(self, n: int) -> None:
        super().__init__(Layout.vector(natural_number(n, "dimension of R^n")))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild by the constructor."""
        return Rn, (self.nq,)

    @property
    def rows(self) -> Rows:
        """The batch gear."""
        return _VECTOR_ROWS

    def _integrate(self, q: Vector, v: Vector) -> Vector:
        return q + v

    def _difference(self, q0: Vector, q1: Vector) -> Vector:
        return q1 - q0

    def _compose(self, q0: Vector, q1: Vector) -> Vector:
        return q0 + q1

    def _inverse(self, q: Vector) -> Vector:
        return -q

    def _adjoint(self, q: Vector) -> Matrix:
        return _identity(self.nv).copy()

    def _exp_jacobian(self, v: Vector) -> Matrix:
        return _identity(self.nv).copy()

    def _log_jacobian(self, v: Vector) -> Matrix:
        return _identity(self.nv).copy()


@final
class SO2Group(Space):
    """Rotations of the plane: (cos, sin), tangent the angle [rad]."""

    def __init__(self) -> None:
        super().__init__(Layout.group("SO2", [1.0, 0.0], 1, [slice(0, 2)]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild by the constructor."""
        return SO2Group, ()

    @property
    def rows(self) -> Rows:
        """The batch gear."""
        return _SO2_ROWS

    def _integrate(self, q: Vector, v: Vector) -> Vector:
        return maps.so2_integrate(q, v)

    def _difference(self, q0: Vector, q1: Vector) -> Vector:
        return maps.so2_difference(q0, q1)

    def _compose(self, q0: Vector, q1: Vector) -> Vector:
        return maps.so2_compose(q0, q1)

    def _inverse(self, q: Vector) -> Vector:
        return maps.so2_inverse(q)

    def _adjoint(self, q: Vector) -> Matrix:
        return _ONE.copy()

    def _exp_jacobian(self, v: Vector) -> Matrix:
        return _ONE.copy()

    def _log_jacobian(self, v: Vector) -> Matrix:
        return _ONE.copy()

    def _bracket(self, x: Vector, y: Vector) -> Vector:
        return np.zeros(1)

    def _log_second(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        return acceleration.copy()


@final
class SE2Group(Space):
    """Rigid motions of the plane: (x, y, cos, sin), tangent the body twist (vx, vy, w) [m, rad]."""

    def __init__(self) -> None:
        super().__init__(Layout.group("SE2", [0.0, 0.0, 1.0, 0.0], 3, [slice(2, 4)]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild by the constructor."""
        return SE2Group, ()

    @property
    def rows(self) -> Rows:
        """The batch gear."""
        return _SE2_ROWS

    def _integrate(self, q: Vector, v: Vector) -> Vector:
        return maps.se2_integrate(q, v)

    def _difference(self, q0: Vector, q1: Vector) -> Vector:
        return maps.se2_difference(q0, q1)

    def _compose(self, q0: Vector, q1: Vector) -> Vector:
        return maps.se2_compose(q0, q1)

    def _inverse(self, q: Vector) -> Vector:
        return maps.se2_inverse(q)

    def _adjoint(self, q: Vector) -> Matrix:
        return maps.se2_adjoint(q)

    def _exp_jacobian(self, v: Vector) -> Matrix:
        return maps.se2_exp_jacobian(v)

    def _log_jacobian(self, v: Vector) -> Matrix:
        return maps.se2_log_jacobian(v)

    def _bracket(self, x: Vector, y: Vector) -> Vector:
        return second_order.se2_bracket(x, y)

    def _log_second(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        return second_order.se2_log_second(r, velocity, acceleration)


@final
class SO3Group(Space):
    """Rotations of space: quaternion xyzw, tangent the rotation vector in the body frame [rad]."""

    def __init__(self) -> None:
        super().__init__(Layout.group("SO3", [0.0, 0.0, 0.0, 1.0], 3, [slice(0, 4)]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild by the constructor."""
        return SO3Group, ()

    @property
    def rows(self) -> Rows:
        """The batch gear."""
        return _SO3_ROWS

    def _integrate(self, q: Vector, v: Vector) -> Vector:
        return maps.so3_integrate(q, v)

    def _difference(self, q0: Vector, q1: Vector) -> Vector:
        return maps.so3_difference(q0, q1)

    def _compose(self, q0: Vector, q1: Vector) -> Vector:
        return maps.so3_compose(q0, q1)

    def _inverse(self, q: Vector) -> Vector:
        return maps.so3_inverse(q)

    def _adjoint(self, q: Vector) -> Matrix:
        return maps.so3_adjoint(q)

    def _exp_jacobian(self, v: Vector) -> Matrix:
        return maps.so3_exp_jacobian(v)

    def _log_jacobian(self, v: Vector) -> Matrix:
        return maps.so3_log_jacobian(v)

    def _bracket(self, x: Vector, y: Vector) -> Vector:
        return second_order.cross(x, y)

    def _log_second(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        return second_order.so3_log_second(r, velocity, acceleration)


@final
class SE3Group(Space):
    """Rigid motions of space: translation, quaternion xyzw; tangent the body twist, linear then angular [m, rad]."""

    def __init__(self) -> None:
        super().__init__(Layout.group("SE3", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 6, [slice(3, 7)]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild by the constructor."""
        return SE3Group, ()

    @property
    def rows(self) -> Rows:
        """The batch gear."""
        return _SE3_ROWS

    def _integrate(self, q: Vector, v: Vector) -> Vector:
        return maps.se3_integrate(q, v)

    def _difference(self, q0: Vector, q1: Vector) -> Vector:
        return maps.se3_difference(q0, q1)

    def _compose(self, q0: Vector, q1: Vector) -> Vector:
        return maps.se3_compose(q0, q1)

    def _inverse(self, q: Vector) -> Vector:
        return maps.se3_inverse(q)

    def _adjoint(self, q: Vector) -> Matrix:
        return maps.se3_adjoint(q)

    def _exp_jacobian(self, v: Vector) -> Matrix:
        return maps.se3_exp_jacobian(v)

    def _log_jacobian(self, v: Vector) -> Matrix:
        return maps.se3_log_jacobian(v)

    def _bracket(self, x: Vector, y: Vector) -> Vector:
        return second_order.se3_bracket(x, y)

    def _log_second(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        return second_order.se3_log_second(r, velocity, acceleration)


_VECTOR_ROWS = batch.VectorRows()
_SO2_ROWS = batch.SO2Rows()
_SE2_ROWS = batch.SE2Rows()
_SO3_ROWS = batch.SO3Rows()
_SE3_ROWS = batch.SE3Rows()

SO2 = SO2Group()
"""Rotations of the plane."""

SE2 = SE2Group()
"""Rigid motions of the plane."""

SO3 = SO3Group()
"""Rotations of space."""

SE3 = SE3Group()
"""Rigid motions of space."""

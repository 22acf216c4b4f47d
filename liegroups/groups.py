"""The groups R^n, SO(2), SE(2), SO(3), SE(3): one class over tables of maps."""

from __future__ import annotations

from functools import cache
from operator import add, neg
from typing import Any

import numpy as np

from .arguments import natural_number
from .arrays import Matrix, Vector
from .formulas import log_slopes, maps, second_order
from .formulas.batch_maps import SE2Maps, SE3Maps, SO2Maps, SO3Maps, VectorMaps
from .formulas.group_maps import GroupMaps
from .layout import Layout
from .product import ProductSpace
from .space import Space


class Group(Space):
    """A group, defined by a layout and a table of maps; see `SE3` at the end of this file.

    Groups are equal when their kinds are (``Layout.group(kind, ...)``). A group can be pickled if its functions can be
    imported where it is loaded.

    Args:
        layout: sizes, neutral element and unit blocks: ``Layout.group(kind, neutral, nv, unit_blocks, order)``.
        maps: its functions, for one vector.
        batch_maps: the same for arrays with leading axes; by default a loop that calls `maps` for each vector.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return Group, (self.layout, self.maps, self.batch_maps)


class Rn(Group):
    """R^n: points add like vectors. ``Rn(3)`` is R^3; ``Rn(0)`` is the empty space."""

    def __init__(self, n: int) -> None:
        super().__init__(Layout.vector(natural_number(n, "dimension of R^n")), _VECTOR_MAPS, VectorMaps())

    def __reduce__(self) -> tuple[Any, ...]:
        return Rn, (self.nq,)


_ONE = np.ones((1, 1))


@cache
def _unit_matrix(n: int) -> Matrix:
    return np.eye(n)


def _identity(x: Vector) -> Matrix:
    """The identity, of the size of a vector."""
    return _unit_matrix(x.size).copy()


def _one(_: Vector) -> Matrix:
    """The identity (1, 1)."""
    return _ONE.copy()


def _difference(q0: Vector, q1: Vector) -> Vector:
    return q1 - q0


def _no_bracket(x: Vector, y: Vector) -> Vector:
    """Return 0: elements commute."""
    return np.zeros(x.size)


def _acceleration(r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
    """Return the acceleration itself: elements commute."""
    return acceleration.copy()


_VECTOR_MAPS = GroupMaps(
    integrate=add,
    difference=_difference,
    compose=add,
    inverse=neg,
    adjoint=_identity,
    exp_jacobian=_identity,
    log_jacobian=_identity,
    bracket=_no_bracket,
    log_second=_acceleration,
)

SO2 = Group(
    Layout.group("SO2", [1.0, 0.0], 1, [slice(0, 2)], "(cos, sin)"),
    GroupMaps(
        integrate=maps.so2_integrate,
        difference=maps.so2_difference,
        compose=maps.so2_compose,
        inverse=maps.so2_inverse,
        adjoint=_one,
        exp_jacobian=_one,
        log_jacobian=_one,
        bracket=_no_bracket,
        log_second=_acceleration,
        log_slopes=log_slopes.so2_log_slopes,
    ),
    SO2Maps(),
)
"""Rotations of the plane: (cos, sin), tangent the angle [rad]."""

SE2 = Group(
    Layout.group("SE2", [0.0, 0.0, 1.0, 0.0], 3, [slice(2, 4)], "x, y, then (cos, sin)"),
    GroupMaps(
        integrate=maps.se2_integrate,
        difference=maps.se2_difference,
        compose=maps.se2_compose,
        inverse=maps.se2_inverse,
        adjoint=maps.se2_adjoint,
        exp_jacobian=maps.se2_exp_jacobian,
        log_jacobian=maps.se2_log_jacobian,
        bracket=second_order.se2_bracket,
        log_second=second_order.se2_log_second,
        log_slopes=log_slopes.se2_log_slopes,
    ),
    SE2Maps(),
)
"""Rigid motions of the plane: (x, y, cos, sin), tangent the body twist (vx, vy, w) [m, rad]."""

SO3 = Group(
    Layout.group("SO3", [0.0, 0.0, 0.0, 1.0], 3, [slice(0, 4)], "the quaternion xyzw"),
    GroupMaps(
        integrate=maps.so3_integrate,
        difference=maps.so3_difference,
        compose=maps.so3_compose,
        inverse=maps.so3_inverse,
        adjoint=maps.so3_adjoint,
        exp_jacobian=maps.so3_exp_jacobian,
        log_jacobian=maps.so3_log_jacobian,
        bracket=second_order.cross,
        log_second=second_order.so3_log_second,
        log_slopes=log_slopes.so3_log_slopes,
    ),
    SO3Maps(),
)
"""Rotations of space: quaternion xyzw, tangent the rotation vector in the body frame [rad]."""

SE3 = Group(
    Layout.group(
        "SE3", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 6, [slice(3, 7)], "the position, then the quaternion xyzw"
    ),
    GroupMaps(
        integrate=maps.se3_integrate,
        difference=maps.se3_difference,
        compose=maps.se3_compose,
        inverse=maps.se3_inverse,
        adjoint=maps.se3_adjoint,
        exp_jacobian=maps.se3_exp_jacobian,
        log_jacobian=maps.se3_log_jacobian,
        bracket=second_order.se3_bracket,
        log_second=second_order.se3_log_second,
        log_slopes=log_slopes.se3_log_slopes,
    ),
    SE3Maps(),
)
"""Rigid motions of space: translation, quaternion xyzw; tangent the body twist, linear then angular [m, rad]."""

R3xSO3 = ProductSpace((Rn(3), SO3))
"""Translations and rotations apart: the difference is (p1 - p0, log of the relative rotation)."""

TRANSLATIONS = {SO2.atoms: 0, SE2.atoms: 2, SO3.atoms: 0, SE3.atoms: 3}
"""Structures of rotations and poses -> how many coordinates are a translation; they come first, in q and in v."""


def translation_size(space: Space) -> int:
    """How many coordinates the translation of a pose has; 0 for other groups."""
    return TRANSLATIONS.get(space.atoms, 0)

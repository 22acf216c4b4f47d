"""What rows of any order change by with configuration and velocity: by formulas where there are some."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import five_points, is_exact_on

from ..functions.group_motion import (
    force_derivative_of,
    force_of_logarithm,
    logarithm,
    moving_alone,
    moving_value,
    seen_from,
)
from ..point import MovingPoint, place_motion
from .rotation_vectors import is_turned

if TYPE_CHECKING:
    from ..functions.function import Function
    from .row_owner import Reference, RowOwner


class RowSlopes(NamedTuple):
    r"""Derivatives of all rows of a constraint, with an acceleration a and multipliers that are kept.

    Attributes:
        jacobian: J (k, nv), of the velocity rows by v.
        rate: (k, nv), of the velocity rows by q.
        by_q, by_v: (k, nv), of the acceleration rows :math:`J a + \mathrm{drift}`.
        force: (nv, nv), of :math:`J^T \lambda` by q.
        is_exact: whether no difference is in them.
    """

    jacobian: Matrix
    rate: Matrix
    by_q: Matrix
    by_v: Matrix
    force: Matrix
    is_exact: bool


def has_formulas(owner: RowOwner) -> bool:
    """Whether the rows of a function are known without differences."""
    return _moving(owner).has_exact_derivatives and is_exact_on(owner.group)


def _moving(owner: RowOwner) -> Function:
    """What velocity and acceleration rows are of."""
    return owner.measured if owner.rate_function is None else owner.rate_function


def row_slopes(owner: RowOwner, motion: MovingPoint, reference: Reference, a: Vector, multipliers: Vector) -> RowSlopes:
    """Derivatives of the rows of a function; see `RowOwner.slopes`."""
    rhs = reference.point
    if has_formulas(owner) and not (rhs is not None and _turns(owner, motion, rhs)):
        return _by_formulas(owner, motion, reference, a, multipliers)
    return _by_differences(owner, motion, reference, a, multipliers)


def _turns(owner: RowOwner, motion: MovingPoint, rhs: Vector) -> bool:
    """Whether rotation vectors are taken to the nearest turn here."""
    if not owner.wrapped_rotation_vectors:
        return False
    value = owner.measured.linearised_at(motion.point).value
    return any(is_turned(rhs[block], value[block] - rhs[block]) for block in owner.wrapped_rotation_vectors)


def _by_formulas(
    owner: RowOwner, motion: MovingPoint, reference: Reference, a: Vector, multipliers: Vector
) -> RowSlopes:
    h, group, point = _moving(owner), owner.group, motion.point
    n = h.inputs.nv
    factors = owner.rows.scale.copy()
    if owner.rows.one_sided.any():
        error = np.zeros(group.nv)
        owner.write_position(point, reference.point, error, None)
        factors[owner.rows.one_sided & (error == 0.0)] = 0.0
    pushed, moving = factors * multipliers, moving_value(h, motion, a)
    if group.is_flat:
        force = force_derivative_of(h, point, pushed)
    else:
        rhs = group.neutral if reference.point is None else reference.point
        apart = moving_alone(group, rhs, n, reference.velocity, reference.acceleration)
        moving = seen_from(group, moving, apart)
        inner, added = force_of_logarithm(group, moving.value, moving.jacobian, pushed)
        force = force_derivative_of(h, point, inner) + added
        moving = logarithm(group, moving)
    J, rate, by_q, by_v = (
        factors[:, None] * each for each in (moving.jacobian, moving.rate_q, moving.by_q, moving.by_v)
    )
    return RowSlopes(J, rate, by_q, by_v, force, True)


def _by_differences(
    owner: RowOwner, motion: MovingPoint, reference: Reference, a: Vector, multipliers: Vector
) -> RowSlopes:
    """The same of any rows, by five-point differences along the manifold."""
    space, q, v = owner.space, motion.point.q, np.array(motion.v)
    k, n, workspace = owner.group.nv, space.nv, motion.point.workspace.child

    def rows(at: Vector, speed: Vector) -> tuple[Vector, Vector, Matrix]:
        """Velocity rows, acceleration rows and Jacobian at another state."""
        there = place_motion(space, at, speed, workspace)
        rate, second, J = np.zeros(k), np.zeros(k), np.zeros((k, n))
        owner.write_velocity(there, reference, rate, J)
        owner.write_acceleration(there, reference, second, J)
        return rate, second + J @ a, J

    (by_rate, by_q, by_v), force = np.zeros((3, k, n)), np.zeros((n, n))
    for i, factor, step in five_points(n, np.flatnonzero(owner.columns)):
        rate, second, J = rows(space.integrate(q, step), v)
        by_rate[:, i] += factor * rate
        by_q[:, i] += factor * second
        force[:, i] += factor * (multipliers @ J)
        by_v[:, i] += factor * rows(q, v + step)[1]
    return RowSlopes(rows(q, v)[2], by_rate, by_q, by_v, force, False)

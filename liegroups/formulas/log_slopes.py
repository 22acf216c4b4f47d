r"""What rates and accelerations of a logarithm change by with the point: on any group, leaf by leaf.

With :math:`r = \log g`, :math:`\nu` the body velocity of g and :math:`\dot\nu` the derivative of that,
:math:`\dot r = J_{\log}(r)\,\nu` and :math:`\ddot r` as in `Space.log_second_derivative`. Points change by
:math:`g \exp(\delta)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Matrix, Vector
from .second_order import STEP_OF_FIVE_POINTS
from .third_order import PoseLog

if TYPE_CHECKING:
    from ..space import Space

FIVE_POINTS = tuple(
    (n * STEP_OF_FIVE_POINTS, factor / (12.0 * STEP_OF_FIVE_POINTS))
    for n, factor in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0))
)
"""Steps and factors of the five-point difference."""


def five_points(n: int, columns: Iterable[int] | None = None) -> Iterator[tuple[int, float, Vector]]:
    """Steps (n,) along coordinates, all or some, with their factors: sums of factors times values are derivatives."""
    for i in range(n) if columns is None else columns:
        for size, factor in FIVE_POINTS:
            step = np.zeros(n)
            step[i] = size
            yield i, factor, step


class LogSlopes(NamedTuple):
    r"""Derivatives of the rate and of the acceleration of a logarithm, all (nv, nv).

    Attributes:
        jacobian: :math:`J_{\log}(r)`.
        rate: of :math:`J_{\log}\,\nu` by g.
        force: of :math:`J_{\log}^T y` by g.
        by_point: of :math:`\ddot r` by g.
        by_velocity: of :math:`\ddot r` by :math:`\nu`.
    """

    jacobian: Matrix
    rate: Matrix
    force: Matrix
    by_point: Matrix
    by_velocity: Matrix

    @classmethod
    def straight(cls, nv: int) -> LogSlopes:
        """Those of a vector space, new arrays."""
        return cls(np.eye(nv), *(np.zeros((nv, nv)) for _ in range(4)))


def log_slopes(group: Space, r: Vector, velocity: Vector, acceleration: Vector, y: Vector) -> LogSlopes:
    r"""What :math:`\dot r`, :math:`J_{\log}^T y` and :math:`\ddot r` change by. One point.

    Exact for the groups of this package and their products; of other groups by five-point differences.

    Args:
        group: where g lives.
        r: its logarithm (nv,), inside the injectivity radius.
        velocity: body velocity (nv,) of g.
        acceleration: the derivative of that (nv,).
        y: (nv,).
    """
    found = LogSlopes.straight(group.nv)
    for leaf in group.leaves():
        if leaf.space.is_flat:
            continue
        v = leaf.v
        make = leaf.space.maps.log_slopes
        arguments = r[v], velocity[v], acceleration[v], y[v]
        own = _by_differences(leaf.space, *arguments) if make is None else make(*arguments)
        for whole, part in zip(found, own, strict=True):
            whole[v, v] = part
    return found


def is_exact_on(group: Space) -> bool:
    """Whether `log_slopes` is a formula there: no difference."""
    return all(leaf.space.is_flat or leaf.space.maps.log_slopes is not None for leaf in group.leaves())


def bracket_matrix(group: Space, x: Vector) -> Matrix:
    """Matrix (nv, nv) of the bracket with x: ad_x y = [x, y]."""
    if group.is_flat:
        return np.zeros((group.nv, group.nv))
    return np.array([group.bracket(x, e) for e in np.eye(group.nv)]).T


def cobracket_matrix(group: Space, y: Vector) -> Matrix:
    r"""Matrix (nv, nv) that takes x to :math:`\mathrm{ad}_x^T y`."""
    if group.is_flat:
        return np.zeros((group.nv, group.nv))
    return np.array([y @ bracket_matrix(group, e) for e in np.eye(group.nv)]).T


# --- of one group ----------------------------------------------------------------------------------------------------


def se3_log_slopes(r: Vector, velocity: Vector, acceleration: Vector, y: Vector) -> LogSlopes:
    """`log_slopes` on SE(3)."""
    log = PoseLog(r)
    J = log.jacobian
    slopes = log.second_slopes(velocity, acceleration)
    return LogSlopes(J, log.rate_slope(velocity) @ J, log.force_slope(y) @ J, *slopes)


def so3_log_slopes(r: Vector, velocity: Vector, acceleration: Vector, y: Vector) -> LogSlopes:
    """`log_slopes` on SO(3): that of a pose without translation."""
    return _inside_se3([3, 4, 5], r, velocity, acceleration, y)


def se2_log_slopes(r: Vector, velocity: Vector, acceleration: Vector, y: Vector) -> LogSlopes:
    """`log_slopes` on SE(2): that of SE(3) in the plane."""
    return _inside_se3([0, 1, 5], r, velocity, acceleration, y)


def so2_log_slopes(r: Vector, velocity: Vector, acceleration: Vector, y: Vector) -> LogSlopes:
    """`log_slopes` on SO(2): angles add."""
    return LogSlopes.straight(1)


def _inside_se3(rows: list[int], r: Vector, velocity: Vector, acceleration: Vector, y: Vector) -> LogSlopes:
    """Of a subgroup of SE(3), whose tangent is some of the six entries."""
    whole = np.zeros((4, 6))
    whole[:, rows] = r, velocity, acceleration, y
    part = np.ix_(rows, rows)
    return LogSlopes(*(each[part] for each in se3_log_slopes(*whole)))


def _by_differences(group: Space, r: Vector, velocity: Vector, acceleration: Vector, y: Vector) -> LogSlopes:
    n = group.nv
    _, rate, force, by_point, by_velocity = found = LogSlopes.straight(n)
    found.jacobian[:] = group.log_jacobian(r)
    g = group.exp(r)
    for i, factor, step in five_points(n):
        at = group.log(group.integrate(g, step))
        J = group.log_jacobian(at)
        rate[:, i] += factor * (J @ velocity)
        force[:, i] += factor * (y @ J)
        by_point[:, i] += factor * group.log_second_derivative(at, velocity, acceleration)
        by_velocity[:, i] += factor * group.log_second_derivative(r, velocity + step, acceleration)
    return found

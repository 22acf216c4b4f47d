"""Curves through points of a space, with velocity and acceleration in the tangent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from scipy.interpolate import PPoly

from liegroups import Space
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only

from ...linear_algebra import row_lengths
from ...robot import Bounds

STEP = 1e-4
"""Length of the steps of central differences in a chart [rad or m]: errors are about 1e-9 of a second derivative."""


class CurvePoints(NamedTuple):
    """Points of a curve, and how they change with its parameter s.

    Attributes:
        q: points (n, nq).
        first: body velocities dq/ds (n, nv).
        second: their derivatives by s (n, nv).
    """

    q: Matrix
    first: Matrix
    second: Matrix


@final
@dataclass(frozen=True, eq=False, repr=False)
class GroupSpline:
    r"""A curve through points of a space, twice continuously differentiable.

    Between two points it is a polynomial of degree 5 in the chart of the first,

    .. math:: q(s) = q_i \oplus c_i(s), \qquad \omega = J_{\exp}(c)\, c', \qquad
        \omega' = J_{\exp}(c)\, c'' + \big(\tfrac{d}{ds} J_{\exp}(c)\big)\, c'

    whose ends have the body velocity :math:`\omega` and the derivative :math:`\omega'` of the points; these are read
    from the polynomial through the logarithms of the nearest points.

    Attributes:
        space: of the points.
        points: (n, nq).
        charts: the polynomials c_i, (nv,) each, and their parameters s (n,), which rise.
    """

    space: Space
    points: Matrix
    charts: PPoly

    @staticmethod
    def through(space: Space, points: Matrix, s: Vector, width: int, bounds: Bounds | None = None) -> GroupSpline:
        """The curve through points.

        Args:
            space: of the points.
            points: (n, nq), n at least 2; neighbours closer than half a turn.
            s: parameters (n,) where it passes them, rising.
            width: number of points, 3 or 5, from which the derivatives at a point are read: 3 for points at uneven
                distances, 5 for many of a smooth curve.
            bounds: of the points; between them the numbers of joints stay within too (a translation of a free or planar
                joint is in its own axes: it may not).
        """
        first, second = _derivatives(space, points, s, width)
        if bounds is not None:
            _keep_within(bounds, points, s, first, second)
        steps = space.difference(points[:-1], points[1:])
        rates, bends = _in_charts(space, steps, first[1:], second[1:])
        h = np.diff(s)[:, None]
        a1, a2 = h * first[:-1], 0.5 * h**2 * second[:-1]
        d, e, f = steps - a1 - a2, h * rates - a1 - 2.0 * a2, 0.5 * (h**2 * bends - 2.0 * a2)
        a3, a4, a5 = 10.0 * d - 4.0 * e + f, -15.0 * d + 7.0 * e - 2.0 * f, 6.0 * d - 3.0 * e + f
        terms = [a5 / h**5, a4 / h**4, a3 / h**3, a2 / h**2, a1 / h, np.zeros_like(d)]
        return GroupSpline(space, read_only(np.array(points)), PPoly(np.array(terms), s))

    @property
    def s(self) -> Vector:
        """Parameters (n,) of the points."""
        return self.charts.x

    def at(self, s: Vector) -> CurvePoints:
        """Points at parameters (n,), from the first to the last of the curve."""
        i = np.clip(np.searchsorted(self.s, s, side="right") - 1, 0, len(self.s) - 2)
        return CurvePoints(self.space.integrate(self.points[i], self.charts(s)), *self.rates(s))

    def rates(self, s: Vector) -> tuple[Matrix, Matrix]:
        """Body velocities and their derivatives (n, nv) at parameters (n,), as `at` has them."""
        c, rates, bends = self.charts(s), self.charts(s, 1), self.charts(s, 2)
        first, second = np.array(rates), np.array(bends)
        for leaf in self.space.leaves():
            if leaf.space.is_flat:
                continue
            moving = np.flatnonzero((rates[:, leaf.v] != 0.0).any(axis=1) | (bends[:, leaf.v] != 0.0).any(axis=1))
            if not len(moving):
                continue
            part = (moving, leaf.v) if len(moving) < len(s) else (slice(None), leaf.v)
            rate, bend = rates[part], bends[part]
            J, slope = _jacobian(leaf.space, c[part], rate)
            first[part] = _times(J, rate)
            second[part] = _times(J, bend) + _times(slope, rate)
        return first, second


def _derivatives(space: Space, points: Matrix, s: Vector, width: int) -> tuple[Matrix, Matrix]:
    """Body velocity and its derivative (n, nv) at each point: in its own chart they are those of the logarithm."""
    n = len(points)
    width = min(width, n)
    near = np.clip(np.arange(n) - width // 2, 0, n - width)[:, None] + np.arange(width)
    offsets = s[near] - s[:, None]
    scale = np.abs(offsets).max(axis=1, keepdims=True)
    powers = (offsets / scale)[:, None, :] ** np.arange(width)[:, None]
    orders = np.zeros((width, 2))
    orders[1, 0] = 1.0
    if width > 2:
        orders[2, 1] = 2.0
    weights = np.asarray(np.linalg.solve(powers, np.broadcast_to(orders, (n, width, 2))), dtype=np.float64)
    logs = space.difference(points[:, None, :], points[near])
    derivatives = np.einsum("nwk,nwv->knv", weights, logs)
    return derivatives[0] / scale, derivatives[1] / scale**2


def _keep_within(bounds: Bounds, points: Matrix, s: Vector, first: Matrix, second: Matrix) -> None:
    """Lessen derivatives (n, nv) at points (n, nq) so that no polynomial between two leaves the bounds.

    Its control points, of which it is a mean, are on each side of a point at distance h: q, q + h q' / 5 and
    q + 2 h q' / 5 + h^2 q'' / 20.
    """
    i, v = bounds.space.vector_q, bounds.space.vector_v
    below, above = np.maximum(points[:, i] - bounds.lower[i], 0.0), np.maximum(bounds.upper[i] - points[:, i], 0.0)
    share, h = np.ones((len(points), len(v))), np.diff(s)
    for side in (np.append(h, 0.0)[:, None], -np.insert(h, 0, 0.0)[:, None]):
        near = 0.2 * side * first[:, v]
        for offset in (near, 2.0 * near + 0.05 * side**2 * second[:, v]):
            room, size = np.where(offset > 0.0, above, below), np.abs(offset)
            share = np.minimum(share, np.divide(room, size, out=np.ones_like(size), where=size > room))
    first[:, v] *= share
    second[:, v] *= share


def _jacobian(space: Space, c: Matrix, rates: Matrix) -> tuple[Matrix, Matrix]:
    """The right Jacobian of exp (n, m, m) at c (n, m), and its derivative along rates, by central differences."""
    h = (STEP / np.maximum(row_lengths(rates), STEP))[:, None]
    here, ahead, behind = space.exp_jacobian(np.stack([c, c + h * rates, c - h * rates]))
    return here, (ahead - behind) / (2.0 * h[:, :, None])


def _in_charts(space: Space, c: Matrix, first: Matrix, second: Matrix) -> tuple[Matrix, Matrix]:
    """Derivatives of the logarithms c (n, nv) from body velocities and their derivatives."""
    rates, bends = np.array(first), np.array(second)
    for leaf in space.leaves():
        if not leaf.space.is_flat:
            v = leaf.v
            rates[:, v] = _times(leaf.space.log_jacobian(c[:, v]), first[:, v])
            rows = zip(c[:, v], first[:, v], second[:, v], strict=True)
            bends[:, v] = [leaf.space.log_second_derivative(*row) for row in rows]
    return rates, bends


def _times(J: Matrix, v: Matrix) -> Matrix:
    """Matrices (n, m, m) times vectors (n, m)."""
    return np.einsum("nij,nj->ni", J, v)

r"""Enclosures of smooth formulas of vectors: of :math:`f(x(q))`, to second order.

.. math:: J = f'\, J_x, \qquad
    \partial_j J_{ik} = \sum_a f'_{ia}\, \partial_j J_{x,ak} + \sum_{ab} f''_{iab}\, J_{x,ak} J_{x,bj}

What is zero without any rounding stays zero: entries of J where each product has a factor that is zero on all of the
box. Of several boxes all has a leading axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from liegroups import Rn
from liegroups.arrays import BoolVector, Matrix

from .box import Bend, Enclosure, TangentBox
from .interval import UNIT, Interval, applied, insist, rounded_up

OF_TILTS = 1e-11
"""Relative error taken for the three hypergeometric functions of a tilt; against 50 digits 2.4e-14 was found."""

LARGEST_TILT = 3.0
"""Beyond this tilt [rad] an axis is nearly turned round, where its rows are singular."""


class Formula(NamedTuple):
    """A smooth function f of a vector x of n numbers, where it is enclosed.

    Attributes:
        value: f (m,) at the centre.
        near: f' (m, n) at the centre.
        slope: f' on the box.
        curve: f'' (m, n, n) on the box; None for a function that is straight.
    """

    value: Interval
    near: Interval
    slope: Interval
    curve: Interval | None = None

    def of(self, x: Enclosure, box: TangentBox) -> Enclosure:
        """With x enclosed on the box."""
        J = product_of(self.slope, x.jacobian)

        def bend() -> Bend:
            *leading, n, k, j = x.bend.slopes.shape
            slopes = (self.slope @ x.bend.slopes.reshaped(*leading, n, k * j)).reshaped(*J.shape, j)
            if self.curve is not None:
                columns = x.jacobian[..., None, :, :]
                slopes = slopes + columns.turned() @ (self.curve @ columns)
            return Bend(self.near @ x.bend.straight, slopes)

        return Enclosure.centred(Rn(J.shape[-2]), box, self.value.middle, _radius(self.value), J, bend)


def combined(A: Matrix, x: Enclosure, box: TangentBox) -> Enclosure:
    """Of A x, A (m, n) numbers."""
    rows, off = Interval.of(A), x.rounding + 8.0 * UNIT * np.abs(x.value) * (x.rounding > 0.0)
    small = applied(np.abs(A), off)
    small = np.where(small > 0.0, rounded_up(small), 0.0)
    return Formula(Interval.around(applied(A, x.value), small), rows, rows).of(x, box)


def stacked(parts: Sequence[Enclosure], box: TangentBox) -> Enclosure:
    """Vectors one under the other."""
    value, rounding = (np.concatenate([getattr(part, name) for part in parts], -1) for name in ("value", "rounding"))
    jacobian = Interval.joined([part.jacobian for part in parts], -2)
    outputs = Rn(value.shape[-1])
    return Enclosure.centred(outputs, box, value, rounding, jacobian, lambda: Bend.joined([p.bend for p in parts]))


def tilt(c: Interval) -> tuple[Interval, Interval, Interval]:
    r""":math:`k = \varphi/\sin\varphi` of a tilt with the cosine c, and its two derivatives by c.

    With :math:`x = (1 - c)/2`:
    :math:`k = {}_2F_1(1, 1; \tfrac32; x)`, :math:`-k' = \tfrac13\,{}_2F_1(2, 2; \tfrac52; x)`
    and :math:`k'' = \tfrac4{15}\,{}_2F_1(3, 3; \tfrac72; x)`. All coefficients of these series are positive, so each
    grows with x, and its values at the ends of x enclose it.

    Raises:
        UndefinedError: the tilt may be beyond `LARGEST_TILT`.
    """
    from scipy.special import hyp2f1

    least, most = np.maximum(c.lower, -1.0), np.minimum(c.upper, 1.0)
    what = "an axis that may be turned round, or stand on its head: its tilt has no derivative there"
    insist(least >= np.cos(LARGEST_TILT), what)
    x = np.array([0.5 * (1.0 - most), 0.5 * (1.0 - least)])
    k, k1, k2 = (
        Interval(low * (1.0 - OF_TILTS), high * (1.0 + OF_TILTS))
        for low, high in (
            hyp2f1(n, n, n + 0.5, x) * part for n, part in ((1.0, 1.0), (2.0, 1.0 / 3.0), (3.0, 4.0 / 15.0))
        )
    )
    return k, -k1, k2


def product_of(A: Interval, B: Interval) -> Interval:
    """Of matrices; zero where all products have a factor that is zero."""
    return masked(A @ B, (A.magnitude > 0.0).astype(np.float64) @ (B.magnitude > 0.0) > 0.0)


def masked(found: Interval, some: BoolVector) -> Interval:
    """Zero where a number is known to be zero."""
    return Interval(np.where(some, found.lower, 0.0), np.where(some, found.upper, 0.0))


def _radius(value: Interval) -> Matrix:
    exact: BoolVector = value.lower == value.upper
    return np.where(exact, 0.0, value.radius)

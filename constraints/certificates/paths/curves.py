r"""Bounds of how the Jacobian of rows bends along a straight way: of the third derivatives of `certificates.slopes`.

On :math:`m \oplus t d` bodies move by d itself, since :math:`J_{\exp}(t d)\, d = d`. So with :math:`L = J_{\log}(e)`,
:math:`E = J_{\exp}(t d)`, and :math:`J_g', J_g''` by lengths (`functions.frames.levers`),

.. math:: DF = L\, J_g\, E, \qquad e' = DF\, d = L\, J_g\, d, \qquad e'' = L'\, J_g\, d + L\, J_g'\, d

and :math:`DF''` and :math:`e'''` are sums of products by Leibniz' rule. By the series of both maps, with
:math:`a \ge \|\mathrm{ad}_e\|` at most :math:`\sqrt 2` and :math:`b \ge \|\mathrm{ad}_d\|` at most 1/5,

.. math:: |L'| \le (\tfrac12 + \tfrac a5)\, |\mathrm{ad}_{e'}|, \qquad
    |L''| \le 0.21\, |\mathrm{ad}_{e'}|^2 + (\tfrac12 + \tfrac a5)\, |\mathrm{ad}_{e''}|, \qquad
    |E'| \le \tfrac b2 + \tfrac25 b^2, \qquad |E''| \le \tfrac25 b^2

A tilt is :math:`f(c) = k(a \cdot c)\, P c` of a direction c, a and P of length 1; a motion of c across itself has a
part along a of at most the sine of the tilt, s. So :math:`|Df| \le k + |k'| s`, and with one way across c, or three,

.. math:: |D^2 f| \le k'' s^2 + |k'| (1 + s), \qquad |D^3 f| \le |k'''| s^4 + 3 k'' s^2
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups.arrays import Vector

from ...functions.enclosures.interval import Interval, rounded_up
from ...functions.enclosures.smooth import tilt
from ...functions.frames.levers import NormsAlong
from ..slopes import FARTHEST_TILT, OF_ADJOINTS, SlopedRows


class Curves(NamedTuple):
    """Of rows along d, several of them: bounds (n,) at all times from -1 to 1.

    Attributes:
        bend: of what the Jacobian's change along d changes by along d, as a norm.
        bow: of the third derivative of the rows.
    """

    bend: Vector
    bow: Vector


def of_exponential(b: Vector) -> tuple[Vector, Vector, Vector]:
    """Bounds of E, E' and E'', for b up to 1/5."""
    return 1.0 + 0.5 * b + 0.2 * b * b, 0.5 * b + 0.4 * b * b, 0.4 * b * b


def of_logarithm(a: float, once: Vector, twice: Vector) -> tuple[float, Vector, Vector]:
    """Bounds of L, L' and L'', for a up to the root of 2, from those of the adjoints of e' and e''."""
    rate = 0.5 + 0.2 * a
    return 1.0 + 0.5 * a + a * a / 11.0, rate * once, 0.21 * once**2 + rate * twice


def curves(block: SlopedRows, along: NormsAlong, curved: Vector, speed: Vector) -> Curves:
    """Bounds of the rows of one constraint.

    Args:
        block: the rows.
        along: of their Jacobian along motions of bodies.
        curved: (n,) lengths of d in rotations and bodies.
        speed: (n,) how fast the rows change at most.
    """
    E, E1, E2 = of_exponential(OF_ADJOINTS * curved)
    size = along.size * E
    slope = along.slope * E + along.size * E1
    bend, bow = along.bend * E + 2.0 * along.slope * E1 + along.size * E2, along.bow
    if block.tilted:
        f, f1, f2 = _OF_TILT
        by_f = 2.0 * f1 * along.way * slope + (f2 * along.way**2 + f1 * along.turn) * size
        bend, bow = f * bend + by_f, f * bow + 3.0 * f1 * along.way * along.turn + f2 * along.way**3
    elif block.farthest < np.inf:
        a, ad = OF_ADJOINTS * block.farthest, OF_ADJOINTS * speed
        L, L1, _ = of_logarithm(a, ad, 0.0 * ad)
        L2 = of_logarithm(a, ad, OF_ADJOINTS * (L1 * along.way + L * along.turn))[2]
        bend, bow = L * bend + 2.0 * L1 * slope + L2 * size, L * bow + 2.0 * L1 * along.turn + L2 * along.way
    return Curves(rounded_up(bend), rounded_up(bow))


def _of_tilt() -> tuple[float, float, float]:
    """Bounds of the first, second and third derivative of a tilt up to `FARTHEST_TILT`; the last is of the series."""
    s, c = np.sin(FARTHEST_TILT), np.cos(FARTHEST_TILT)
    k, k1, k2 = (float(each.magnitude) for each in tilt(Interval(c, np.ones(()))))
    return k + k1 * s, k2 * s * s + k1 * (1.0 + s), OF_THIRD * s**4 + 3.0 * k2 * s * s


OF_THIRD = 0.36
r"""At least :math:`|k'''| = \tfrac{12}{35}\,{}_2F_1(4, 4; \tfrac92; \tfrac{1 - c}2)`, as of `smooth.tilt`."""

_OF_TILT = _of_tilt()

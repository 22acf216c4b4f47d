r"""The angle between two unit vectors as a function of their product, with derivatives that never grow without bound.

In plain floats, as `maps`.
"""

from __future__ import annotations

from itertools import accumulate
from math import acos, asin, atan2, sin, sqrt
from operator import mul

NEAR_HALF_TURN = 1e-3
"""Closer than this to a half turn [rad] derivatives are those at this distance: there the axis of a swing is free."""
NEARLY_LEVEL = 0.2
"""Below this 1 - cos the longer series is exact to 1e-16, with three derivatives; the closed forms are to 1e-13."""
LEAST_SINE = 1e-9
"""A sine that is given counts as this at least."""

_LONGER: tuple[float, ...] = (1.0, *accumulate(((n + 1.0) / (n + 1.5) * 0.5 for n in range(21)), mul))[::-1]
UNIT_LOG = _LONGER[7:]
r"""Coefficients of :math:`{}_2F_1(1, 1; \tfrac32; y/2)`, y = 1 - cos, the highest power first."""


def unit_log(c: float) -> tuple[float, float, float]:
    r""":math:`k = \varphi/\sin\varphi` with :math:`\varphi = \arccos c`, and its two derivatives by c."""
    c = max(c, -1.0 + 0.5 * NEAR_HALF_TURN**2)
    y = 1.0 - c
    if y < 0.05:  # the closed forms lose digits: k = 2F1(1, 1; 3/2; y/2) as a series
        k = k1 = k2 = 0.0
        for coefficient in UNIT_LOG:
            k2 = k2 * y + 2.0 * k1
            k1 = k1 * y + k
            k = k * y + coefficient
        return k, -k1, k2
    square = y * (1.0 + c)
    k = acos(c) / sqrt(square)
    k1 = (c * k - 1.0) / square
    return k, k1, (k + 3.0 * c * k1) / square


def unit_log_slopes(c: float, sine: float | None = None) -> tuple[float, float, float, float]:
    """The k of `unit_log`, and its first three derivatives by c.

    Args:
        c: cosine.
        sine: of the same angle, not negative, where it is known better than by c: then nothing is held near a half
            turn.
    """
    if sine is None:
        c = max(c, -1.0 + 0.5 * NEAR_HALF_TURN**2)
        sine = sqrt((1.0 - c) * (1.0 + c))
    if c > 1.0 - NEARLY_LEVEL:
        y = sine * sine / (1.0 + c)  # 1 - c, without cancellation
        k = k1 = k2 = k3 = 0.0
        for coefficient in _LONGER:  # Horner's rule, with derivatives by y
            k3, k2, k1 = k3 * y + 3.0 * k2, k2 * y + 2.0 * k1, k1 * y + k
            k = k * y + coefficient
        return k, -k1, k2, -k3
    sine = max(sine, LEAST_SINE)
    square, k = sine * sine, atan2(sine, c) / sine
    k1 = (c * k - 1.0) / square
    k2 = (3.0 * c * k1 + k) / square
    return k, k1, k2, (5.0 * c * k2 + 4.0 * k1) / square


def arcsine(s: float) -> tuple[float, float, float]:
    """Arcsine and its two derivatives, held where the two axes are parallel."""
    s = min(max(s, -1.0), 1.0)
    cosine = max(sqrt((1.0 - s) * (1.0 + s)), sin(NEAR_HALF_TURN))
    return asin(s), 1.0 / cosine, s / cosine**3

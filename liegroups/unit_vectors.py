r"""The angle between two unit vectors as a function of their product, with derivatives that never grow without bound.

In plain floats, as `maps`.
"""

from __future__ import annotations

from math import acos, asin, sin, sqrt

NEAR_HALF_TURN = 1e-3
"""Closer than this to a half turn [rad] derivatives are those at this distance: there the axis of a swing is free."""


def _unit_log_series() -> tuple[float, ...]:
    terms, term = [1.0], 1.0
    for n in range(14):  # ratio of (1)_n (1)_n / ((3/2)_n n!) (y/2)^n
        term *= (n + 1.0) / (n + 1.5) * 0.5
        terms.append(term)
    return tuple(reversed(terms))


UNIT_LOG = _unit_log_series()
"""The highest power first."""


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


def unit_log_third(c: float) -> float:
    """Third derivative by c of the k of `unit_log`."""
    c = max(c, -1.0 + 0.5 * NEAR_HALF_TURN**2)
    y = 1.0 - c
    if y >= 0.05:
        _, k1, k2 = unit_log(c)
        return (4.0 * k1 + 5.0 * c * k2) / (y * (1.0 + c))
    k = k1 = k2 = k3 = 0.0
    for coefficient in UNIT_LOG:
        k3 = k3 * y + 3.0 * k2
        k2 = k2 * y + 2.0 * k1
        k1 = k1 * y + k
        k = k * y + coefficient
    return -k3


def arcsine(s: float) -> tuple[float, float, float]:
    """Arcsine and its two derivatives, held where the two axes are parallel."""
    s = min(max(s, -1.0), 1.0)
    cosine = max(sqrt((1.0 - s) * (1.0 + s)), sin(NEAR_HALF_TURN))
    return asin(s), 1.0 / cosine, s / cosine**3

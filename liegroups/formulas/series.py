r"""Power series, about angle zero, of the coefficients of the exponential, the logarithm and their Jacobians.

With :math:`t = \theta^2` and :math:`h = \theta / 2`,

.. math::
    b = \frac{1 - \cos\theta}{t}, \quad c = \frac{\theta - \sin\theta}{\theta^3}, \quad
    k = \frac{1 - h \cot h}{t}, \quad b', c', k' = 2 \frac{d}{dt}(b, c, k), \quad k'' = 2 \frac{d}{dt} k'.

They are polynomials in t, so that one function serves plain floats and arrays. Above the switches the closed forms of
`maps` (one vector) and of `batch_algebra` (arrays) are exact; b needs no series, as its half-angle form never cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import factorial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", float, NDArray[np.float64])

# Measured against 60 digits, worst of 60 points near t = 1: closed c 1e-15, b' 4e-15, c' 3e-14 (relative; the closed
# form loses a digit each time t falls tenfold, c' two), the eight-term series 2e-16. c' enters times theta^3: 5e-16.
EXP_SWITCH = 1.0
"""Square of the angle [rad^2] below which the series of the exponential map are used."""

# The same near t = 1.5: closed k 2e-15, k' 1e-13 (which enters times theta^3 and a factor 1/360: 5e-16), the
# twelve-term series 2e-16, good up to t = 2.
LOG_SWITCH = 1.5
"""Square of the angle [rad^2] below which the series of the logarithm are used."""

# Guards divisions of nearly zero by nearly zero: below it two terms of h cot h, sin(h)/h and atan(r)/r are exact to
# rounding (the next term is under 1e-17), above it the closed forms do not cancel.
TINY_SQUARE = 1e-8
"""Square of an angle [rad^2], or of the tangent of its half, below which two terms of a series are exact."""


def _rounded(coefficients: Sequence[Fraction]) -> tuple[float, ...]:
    """The same coefficients, each rounded once."""
    return tuple(map(float, coefficients))


def _polynomial(coefficients: Sequence[float]) -> Callable[[Real], Real]:
    """The polynomial in t with these coefficients, that of t^0 first."""
    last, *others = reversed(coefficients)

    def value(t: Real) -> Any:
        s = last
        for coefficient in others:
            s = coefficient + t * s
        return s

    return value


def _slope(coefficients: Sequence[Fraction]) -> list[Fraction]:
    """Coefficients of 2 d/dt of a series."""
    return [2 * n * coefficient for n, coefficient in enumerate(coefficients)][1:]


def _alternating(first: int, count: int) -> list[Fraction]:
    """Coefficients (-1)^n / (2 n + first)!: those of a sine or a cosine, from some term on."""
    return [Fraction((-1) ** n, factorial(2 * n + first)) for n in range(count)]


def _of_cotangent(count: int) -> list[Fraction]:
    """Coefficients of k, order by order from (1 - t k) sin(h) / h = cos h, where t = 4 h^2."""
    sine, cosine = ([a / 4**n for n, a in enumerate(_alternating(first, count + 1))] for first in (1, 0))
    found: list[Fraction] = []
    for n in range(1, count + 1):
        found.append(sine[n] - cosine[n] - sum(k * sine[n - 1 - j] for j, k in enumerate(found)))
    return found


C_VALUE = _rounded(_alternating(3, 8))
c_value = _polynomial(C_VALUE)
"""(theta - sin theta) / theta^3, for t below `EXP_SWITCH`."""

b_prime = _polynomial(_rounded(_slope(_alternating(2, 9))))
"""2 db/dt, for t below `EXP_SWITCH`."""

c_prime = _polynomial(_rounded(_slope(_alternating(3, 9))))
"""2 dc/dt, for t below `EXP_SWITCH`."""

K_VALUE = _rounded(_of_cotangent(12))
k_value = _polynomial(K_VALUE)
"""(1 - h cot h) / theta^2, for t below `LOG_SWITCH`."""

K_PRIME = _rounded(_slope(_of_cotangent(13)))
k_prime = _polynomial(K_PRIME)
"""2 dk/dt, for t below `LOG_SWITCH`."""

k_second = _polynomial(_rounded(_slope(_slope(_of_cotangent(14)))))
"""4 d2k/dt2, for t below `LOG_SWITCH`."""

k_third = _polynomial(_rounded(_slope(_slope(_slope(_of_cotangent(15))))))
"""8 d3k/dt3, for t below `LOG_SWITCH`."""

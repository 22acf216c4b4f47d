"""The angle of two unit vectors by their product, and third derivatives of logarithms, against 50-digit arithmetic."""

from __future__ import annotations

from math import asin, cos, pi, sin
from typing import Any

import mpmath
import numpy as np
import pytest

from liegroups.formulas.series import LOG_SWITCH, k_third
from liegroups.formulas.third_order import third_coefficient
from liegroups.unit_vectors import NEAR_HALF_TURN, arcsine, unit_log, unit_log_slopes

PRODUCTS = [1.0, 1.0 - 1e-12, 1.0 - 1e-5, 0.9501, 0.95, 0.9499, 0.5, 0.0, -0.3, -0.9, cos(pi - 2.0 * NEAR_HALF_TURN)]
"""On both sides of the switch at 0.95, and up to near a half turn."""
SQUARES = [0.0, 1e-9, 1e-3, 0.5, 0.5 * LOG_SWITCH, LOG_SWITCH * (1.0 - 1e-9), LOG_SWITCH, 1.5, 1.51, 4.0, 5.0, 8.0, 9.8]


def _k(c: mpmath.mpf) -> mpmath.mpf:
    """Of the angle by its sine."""
    return mpmath.acos(c) / mpmath.sqrt((1 - c) * (1 + c)) if c != 1 else mpmath.mpf(1)


def _slopes(c: float, order: int) -> list[mpmath.mpf]:
    """Derivatives of k by c; at 1 by its series 2F1(1, 1; 3/2; (1 - c)/2)."""
    if c == 1.0:
        terms = [mpmath.rf(1, n) ** 2 / mpmath.rf(mpmath.mpf(3) / 2, n) / 2**n for n in range(order + 1)]
        return [(-1) ** n * terms[n] for n in range(order + 1)]
    step = mpmath.mpf(1 - c) * mpmath.mpf("1e-15")
    return [mpmath.diff(_k, mpmath.mpf(c), n, h=step) for n in range(order + 1)]


@pytest.mark.parametrize("c", PRODUCTS)
def test_the_angle_by_its_sine_and_three_derivatives(c: float) -> None:
    with mpmath.workdps(80):
        exact = [float(value) for value in _slopes(c, 3)]
    near = 3e-13 / (1.0 + c) ** 2 if c < 0.5 else 3e-11
    for value, expected in zip(unit_log(c), exact, strict=False):
        assert value == pytest.approx(expected, rel=near)
    for value, expected in zip(unit_log_slopes(c), exact, strict=True):
        assert value == pytest.approx(expected, rel=near if c < 0.5 else 1e-12)


def test_beyond_the_last_milliradian_derivatives_are_held() -> None:
    edge = -1.0 + 0.5 * NEAR_HALF_TURN**2
    assert unit_log(-1.0) == unit_log(edge)
    assert unit_log_slopes(-1.0) == unit_log_slopes(edge)
    assert unit_log(edge)[0] == pytest.approx((pi - NEAR_HALF_TURN) / sin(NEAR_HALF_TURN), rel=1e-6)


@pytest.mark.parametrize("s", [-0.999, -0.5, 0.0, 1e-9, 0.3, 0.9999])
def test_the_arcsine_and_its_derivatives(s: float) -> None:
    with mpmath.workdps(50):
        exact = [float(mpmath.diff(mpmath.asin, mpmath.mpf(s), n)) for n in range(3)]
    np.testing.assert_allclose(arcsine(s), exact, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("s", [1.0, -1.0, 1.0 + 1e-15, -1.0 - 1e-15])
def test_slopes_of_the_arcsine_are_held_where_axes_are_parallel(s: float) -> None:
    angle, slope, second = arcsine(s)
    assert angle == pytest.approx(asin(round(s)), abs=1e-7)
    assert slope == pytest.approx(1.0 / sin(NEAR_HALF_TURN))
    assert second == pytest.approx(round(s) / sin(NEAR_HALF_TURN) ** 3)


@pytest.mark.parametrize("t", SQUARES)
def test_the_third_derivative_of_the_coefficient_of_logarithms(t: float) -> None:
    r"""Of :math:`k(t) = (1 - \tfrac{x}{2} \cot\tfrac{x}{2}) / x^2` with :math:`x = \sqrt t`, times 8."""

    def k(t: mpmath.mpf) -> Any:
        """By its series where t is small, with Bernoulli's numbers."""
        if abs(t) < 1:
            terms = range(1, 40)
            return mpmath.fsum(abs(mpmath.bernoulli(2 * n)) * t ** (n - 1) / mpmath.factorial(2 * n) for n in terms)
        x = mpmath.sqrt(t)
        return (1 - x / 2 * mpmath.cot(x / 2)) / t

    with mpmath.workdps(60):
        exact = float(8 * mpmath.diff(k, mpmath.mpf(t), 3, h=mpmath.mpf("1e-12")))
    assert third_coefficient(t) == pytest.approx(exact, rel=3e-9 if t >= LOG_SWITCH else 1e-13)
    if t < LOG_SWITCH:
        assert third_coefficient(t) == k_third(t)

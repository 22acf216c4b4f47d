"""Coefficients of Runge-Kutta methods: those of scipy, and the conditions of their orders, in rationals."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from constraints.dynamics.motions.tableaux import DOP853, ESDIRK43, RK4, Tableau


def test_order_eight_is_that_of_scipy() -> None:
    """Stages, weights, both estimates of the error, and the dense output, digit by digit."""
    known: Any = importlib.import_module("scipy.integrate._ivp.dop853_coefficients")
    np.testing.assert_array_equal(DOP853.a, known.A[:12, :12])
    np.testing.assert_array_equal(DOP853.b, known.B)
    np.testing.assert_array_equal(DOP853.c, known.C[:12])
    np.testing.assert_allclose(DOP853.error, known.E5[:12], atol=1e-15)
    np.testing.assert_allclose(DOP853.rough, known.E3[:12], atol=1e-15)
    np.testing.assert_array_equal(DOP853.more, known.A[13:])
    np.testing.assert_array_equal(DOP853.dense, known.D)
    assert (DOP853.order, DOP853.falls, DOP853.is_implicit) == (8, 8, False)


def conditions(a: np.ndarray, b: np.ndarray, c: np.ndarray, order: int) -> list[float]:
    """How far the conditions of Butcher's trees are missed, up to order 4 (Hairer, Norsett, Wanner, II.2)."""
    off = [b.sum() - 1.0, b @ c - 1 / 2, b @ c**2 - 1 / 3, b @ a @ c - 1 / 6]
    off += [b @ c**3 - 1 / 4, (b * c) @ a @ c - 1 / 8, b @ a @ c**2 - 1 / 12, b @ a @ a @ c - 1 / 24]
    return off[: {3: 4, 4: 8}[order]]


@pytest.mark.parametrize("method", [RK4, ESDIRK43, DOP853], ids=["RK4", "ESDIRK43", "DOP853"])
def test_conditions_of_order_four_hold(method: Tableau) -> None:
    """And each time is the sum of its stage's row."""
    np.testing.assert_allclose(method.a.sum(axis=1), method.c, atol=1e-14)
    np.testing.assert_allclose(conditions(method.a, method.b, method.c, 4), 0.0, atol=1e-14)
    assert method.order >= 4
    for part in method:
        assert not isinstance(part, np.ndarray) or not part.flags.writeable


def test_the_implicit_pair_is_stiffly_accurate_with_an_estimate_of_order_three() -> None:
    """The last stage is the step; one diagonal; the other weights are of order 3, and no more; at infinity nothing is
    left of a step, which is what L-stable says."""
    a, b, c = ESDIRK43.a, ESDIRK43.b, ESDIRK43.c
    np.testing.assert_array_equal(a[-1], b)
    np.testing.assert_array_equal(a.diagonal(), [0.0, *[0.25] * 5])
    assert not np.triu(a, 1).any()
    np.testing.assert_allclose(a @ c, c**2 / 2.0, atol=1e-14)  # stages of order 2

"""What logarithms of every group change by, against differences; and the coefficient that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Rn, Space
from liegroups.formulas.log_slopes import FIVE_POINTS, bracket_matrix, cobracket_matrix, is_exact_on, log_slopes
from liegroups.formulas.third_order import third_coefficient


def near(mine: Any, theirs: Any, tolerance: float) -> bool:
    return bool(np.abs(mine - theirs).max(initial=0.0) <= tolerance * (1.0 + np.abs(theirs).max(initial=0.0)))


@pytest.mark.parametrize("group", [SE3, SO3, SE2, SO2, R3xSO3, SE2 * SO3 * Rn(1)], ids=lambda group: group.name)
def test_slopes_of_logarithms(group: Space) -> None:
    """On every group, against differences of its own maps, near zero and near half a turn."""
    assert is_exact_on(group)
    rng = np.random.default_rng(6)
    for size in (1e-6, 0.3, 1.1):
        r = size * rng.standard_normal(group.nv)
        g, (v, a, y) = group.exp(r), rng.standard_normal((3, group.nv))
        found = log_slopes(group, r, v, a, y)
        assert near(found.jacobian, group.log_jacobian(r), 1e-12)
        for i, e in enumerate(np.eye(group.nv)):
            at = [(f, group.log(group.integrate(g, s * e)), v + s * e) for s, f in FIVE_POINTS]
            assert near(found.rate[:, i], sum(f * group.log_jacobian(x) @ v for f, x, _ in at), 1e-8)
            assert near(found.force[:, i], sum(f * y @ group.log_jacobian(x) for f, x, _ in at), 1e-8)
            assert near(found.by_point[:, i], sum(f * group.log_second_derivative(x, v, a) for f, x, _ in at), 1e-8)
            assert near(found.by_velocity[:, i], sum(f * group.log_second_derivative(r, w, a) for f, _, w in at), 1e-8)


@pytest.mark.parametrize("group", [SE3, SO3, SE2, SO2, Rn(2)], ids=lambda group: group.name)
def test_brackets_as_matrices(group: Space) -> None:
    r""":math:`\mathrm{ad}_x z = [x, z]`, and :math:`\mathrm{ad}_x^T y` by x."""
    x, y, z = np.random.default_rng(7).standard_normal((3, group.nv))
    np.testing.assert_allclose(bracket_matrix(group, x) @ z, group.bracket(x, z), atol=1e-14)
    assert cobracket_matrix(group, y) @ x @ z == pytest.approx(y @ group.bracket(x, z), abs=1e-13)


def test_third_coefficient_in_fifty_digits() -> None:
    """On both sides of the switch of the series, up to half a turn."""
    mp = pytest.importorskip("mpmath")
    with mp.workdps(50):
        for t in (1e-3, 0.5, 1.49, 1.51, 5.0, 9.8):
            exact = 8 * mp.diff(lambda x: (1 - mp.sqrt(x) / 2 * mp.cot(mp.sqrt(x) / 2)) / x, mp.mpf(t), 3)
            assert abs(third_coefficient(t) / float(exact) - 1.0) < 1e-9

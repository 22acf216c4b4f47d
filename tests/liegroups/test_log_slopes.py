"""Slopes of the logarithm by differences, for groups that bring no formula, and what a zero direction is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from liegroups import SE2, SE3, SO2, SO3, Group, Layout, R3xSO3, Rn, Space
from liegroups.errors import NotNormalizedError
from liegroups.formulas.log_slopes import FIVE_POINTS, bracket_matrix, cobracket_matrix, is_exact_on, log_slopes


def test_five_points_take_the_derivative_of_every_polynomial_of_degree_four() -> None:
    scale = max(step for step, _ in FIVE_POINTS)
    for power in range(5):
        taken = sum(factor * scale * (step / scale) ** power for step, factor in FIVE_POINTS)
        assert taken == pytest.approx(1.0 if power == 1 else 0.0, abs=1e-13)


def near(mine: Any, theirs: Any) -> bool:
    return bool(np.abs(mine - theirs).max(initial=0.0) <= 2e-9 * (1.0 + np.abs(theirs).max(initial=0.0)))


@pytest.mark.parametrize("has_formula", [True, False])
@pytest.mark.parametrize("group", [SE3, SO3, SE2, SO2, R3xSO3, SE2 * SO3 * Rn(1)], ids=lambda group: group.name)
def test_slopes_of_logarithms(group: Space, has_formula: bool) -> None:
    """On every group, against differences of its own maps; and as one group that brings no formula."""
    if not has_formula:
        layout = Layout.group("whole", group.neutral, group.nv, group.unit_blocks)
        group = Group(layout, replace(group.maps, log_slopes=None))
    assert is_exact_on(group) == has_formula
    rng = np.random.default_rng(6)
    for size in (1e-6, 0.3, 1.1):
        r = size * rng.standard_normal(group.nv)
        g, (v, a, y) = group.exp(r), rng.standard_normal((3, group.nv))
        found = log_slopes(group, r, v, a, y)
        np.testing.assert_allclose(found.jacobian, group.log_jacobian(r), rtol=0, atol=1e-12)
        for i, e in enumerate(np.eye(group.nv)):
            at = [(f, group.log(group.integrate(g, s * e)), v + s * e) for s, f in FIVE_POINTS]
            assert near(found.rate[:, i], sum(f * group.log_jacobian(x) @ v for f, x, _ in at))
            assert near(found.force[:, i], sum(f * y @ group.log_jacobian(x) for f, x, _ in at))
            assert near(found.by_point[:, i], sum(f * group.log_second_derivative(x, v, a) for f, x, _ in at))
            assert near(found.by_velocity[:, i], sum(f * group.log_second_derivative(r, w, a) for f, _, w in at))


@pytest.mark.parametrize("group", [SE3, SO3, SE2, SO2, Rn(2)], ids=lambda group: group.name)
def test_brackets_as_matrices(group: Space) -> None:
    r""":math:`\mathrm{ad}_x z = [x, z]`, and :math:`\mathrm{ad}_x^T y` by x."""
    x, y, z = np.random.default_rng(7).standard_normal((3, group.nv))
    np.testing.assert_allclose(bracket_matrix(group, x) @ z, group.bracket(x, z), atol=1e-14)
    assert cobracket_matrix(group, y) @ x @ z == pytest.approx(y @ group.bracket(x, z), abs=1e-13)


@pytest.mark.parametrize(("group", "block"), [(SO2, "(cos, sin)"), (SO3, "quaternion"), (SE3, "quaternion")])
def test_a_zero_direction_is_named_by_the_map_of_one_and_of_many(group: Space, block: str) -> None:
    zero = np.zeros(group.nq)
    with pytest.raises(NotNormalizedError, match="norm is 0") as one:
        group.integrate(zero, np.ones(group.nv))
    with pytest.raises(NotNormalizedError, match="norm is 0") as many:
        group.integrate(np.array([group.neutral, zero]), np.ones((2, group.nv)))
    assert block in str(one.value)
    assert block in str(many.value)

"""Slopes of the logarithm by differences, for groups that bring no formula, and what a zero direction is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from liegroups import SE2, SE3, SO2, SO3, Group, Space
from liegroups.errors import NotNormalizedError
from liegroups.formulas.log_slopes import FIVE_POINTS, is_exact_on, log_slopes


def test_five_points_take_the_derivative_of_every_polynomial_of_degree_four() -> None:
    scale = max(step for step, _ in FIVE_POINTS)
    for power in range(5):
        taken = sum(factor * scale * (step / scale) ** power for step, factor in FIVE_POINTS)
        assert taken == pytest.approx(1.0 if power == 1 else 0.0, abs=1e-13)


@pytest.mark.parametrize("group", [SO2, SO3, SE2, SE3], ids=lambda group: group.name)
def test_differences_find_the_slopes_of_the_formula(group: Space) -> None:
    unknown = Group(group.layout, replace(group.maps, log_slopes=None))
    assert is_exact_on(group)
    assert not is_exact_on(unknown)
    rng = np.random.default_rng(7)
    for size in (1e-6, 0.3, 1.2):
        r, velocity, acceleration, y = size * rng.uniform(-1.0, 1.0, group.nv), *rng.normal(size=(3, group.nv))
        exact, differences = (log_slopes(g, r, velocity, acceleration, y) for g in (group, unknown))
        for a, b in zip(exact, differences, strict=True):
            np.testing.assert_allclose(b, a, atol=2e-9)


@pytest.mark.parametrize(("group", "block"), [(SO2, "(cos, sin)"), (SO3, "quaternion"), (SE3, "quaternion")])
def test_a_zero_direction_is_named_by_the_map_of_one_and_of_many(group: Space, block: str) -> None:
    zero = np.zeros(group.nq)
    with pytest.raises(NotNormalizedError, match="norm is 0") as one:
        group.integrate(zero, np.ones(group.nv))
    with pytest.raises(NotNormalizedError, match="norm is 0") as many:
        group.integrate(np.array([group.neutral, zero]), np.ones((2, group.nv)))
    assert block in str(one.value)
    assert block in str(many.value)

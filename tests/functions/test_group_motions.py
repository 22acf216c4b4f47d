"""Points of groups that move with q: their motions and slopes against differences along the motion and by q and v."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import two_arms

from constraints import Function, Pose, Rotation
from constraints.functions.expressions.jets import Jet
from constraints.functions.group_motion import (
    force_derivative_of,
    force_of_logarithm,
    force_seen_from,
    logarithm,
    moving_alone,
    moving_value,
    seen_from,
)
from liegroups import SE3, R3xSO3
from liegroups.formulas.log_slopes import FIVE_POINTS

ROBOT = two_arms()
FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "SE(3)": (Pose(ROBOT, "left_tool", outputs=SE3), Pose(ROBOT, "right_tool", outputs=SE3)),
    "R3 x SO(3)": (Pose(ROBOT, "left_tool", outputs=R3xSO3), Pose(ROBOT, "right_tool", outputs=R3xSO3)),
    "SO(3)": (Rotation(ROBOT, "left_tool"), Rotation(ROBOT, "right_tool")),
}


def differences(f: Any) -> np.ndarray:
    return np.array([sum(factor * f(step * e) for step, factor in FIVE_POINTS) for e in np.eye(ROBOT.nv)]).T


@pytest.mark.parametrize("other", ["rests", "moves", "function"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_logarithms_of_what_is_seen_have_the_slopes_of_differences(name: str, other: str) -> None:
    r"""Of :math:`\log(r^{-1} h)` with r a point that rests, one that moves by itself, or another function."""
    h, r = FUNCTIONS[name]
    group, rng = h.outputs, np.random.default_rng(3)
    q, v, a = ROBOT.random(rng), *rng.normal(size=(2, ROBOT.nv))
    point = group.integrate(h.value(q), 0.3 * rng.normal(size=group.nv))
    own = (None, None) if other == "rests" else tuple(rng.normal(size=(2, group.nv)))

    def moving(step: Any = 0.0, faster: Any = 0.0) -> Jet:
        there = ROBOT.at(ROBOT.space.integrate(q, step + np.zeros(ROBOT.nv)), v + faster)
        of_r = moving_value(r, there, a) if other == "function" else moving_alone(group, point, ROBOT.nv, *own)
        return logarithm(group, seen_from(group, moving_value(h, there, a), of_r))

    found = moving()
    np.testing.assert_allclose(found.jacobian, differences(lambda e: moving(e).value), atol=1e-7)
    np.testing.assert_allclose(found.rate_q, differences(lambda e: moving(e).velocity[:, 0]), atol=1e-6)
    np.testing.assert_allclose(found.by_q, differences(lambda e: moving(e).acceleration[:, 0]), atol=1e-5)
    np.testing.assert_allclose(found.by_v, differences(lambda e: moving(0.0, e).acceleration[:, 0]), atol=1e-5)

    def along(t: float) -> np.ndarray:
        there = ROBOT.space.integrate(q, t * v + 0.5 * t * t * a)
        velocity, acceleration = (np.zeros(group.nv) if rate is None else rate for rate in own)
        of_r = group.integrate(point, t * velocity + 0.5 * t * t * acceleration)
        seen = r.value(there) if other == "function" else of_r
        return group.log(group.compose(group.inverse(seen), h.value(there)))

    t = 1e-3
    np.testing.assert_allclose(found.velocity[:, 0], (along(t) - along(-t)) / (2.0 * t), atol=1e-4)
    np.testing.assert_allclose(found.acceleration[:, 0], (along(t) - 2.0 * along(0.0) + along(-t)) / t**2, atol=1e-3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forces_of_what_is_seen_have_the_slopes_of_differences(name: str) -> None:
    r"""Of :math:`J^T y` of :math:`r^{-1} h`, and of that of its logarithm for a point r that rests."""
    h, r = FUNCTIONS[name]
    group, rng = h.outputs, np.random.default_rng(4)
    q, y, still = ROBOT.random(rng), rng.normal(size=group.nv), np.zeros(ROBOT.nv)
    away = group.integrate(h.value(q), 0.3 * rng.normal(size=group.nv))

    def seen(step: Any, of: Function | None) -> Jet:
        there = ROBOT.at(ROBOT.space.integrate(q, step), still)
        of_r = moving_value(of, there, still) if of is not None else moving_alone(group, away, ROBOT.nv, None, None)
        return seen_from(group, moving_value(h, there, still), of_r)

    truth = differences(lambda e: seen(e, r).jacobian.T @ y)
    np.testing.assert_allclose(force_seen_from(h, r, ROBOT.at(q), y), truth, atol=1e-6)
    here = seen(still, None)
    inner, added = force_of_logarithm(group, here.value, here.jacobian, y)
    truth = differences(lambda e: logarithm(group, seen(e, None)).jacobian.T @ y)
    np.testing.assert_allclose(force_derivative_of(h, ROBOT.at(q), inner) + added, truth, atol=1e-6)

"""Curves on groups against curves in closed form, and against their own differences taken by pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import PPoly

from constraints import Bounds
from constraints.planning.trajectories.group_spline import GroupSpline
from liegroups import SE2, SE3, SO2, SO3, Rn

POSES = Rn(2) * SO2 * SO3 * SE3 * SE2


def bent(space, seed: int, n: int, scale: float = 1.0):
    """Points of a smooth curve that no chart has as a line: q(s) = exp(u sin s) exp(w s^2), n of them."""
    rng = np.random.default_rng(seed)
    u, w = scale * rng.standard_normal((2, space.nv))
    s = np.linspace(0.0, 1.0, n)[:, None]
    return s[:, 0], space.compose(space.exp(u * np.sin(2.0 * s)), space.exp(w * s**2)), (u, w)


def rates_of(space, u, w, s):
    """Body velocity of that curve, by the product rule, and its derivative, by central differences of it."""

    def velocity(s):
        back = space.adjoint(space.inverse(space.exp(w * s**2)))
        return back @ u * 2.0 * np.cos(2.0 * s) + 2.0 * s * w

    return velocity(s), (velocity(s + 1e-5) - velocity(s - 1e-5)) / 2e-5


@pytest.mark.parametrize("space", [Rn(3), SO2, SO3, SE3, SE2, POSES], ids=lambda space: space.name)
def test_a_curve_through_many_points_is_the_one_they_are_of(space) -> None:
    """Where it passes no point: configuration, velocity and acceleration, on all groups."""
    s, points, (u, w) = bent(space, 1, 81)
    curve = GroupSpline.through(space, points, s, 5)
    looked = np.linspace(0.0, 1.0, 57)
    q, first, second = curve.at(looked)
    for k, at in enumerate(looked):
        expected = space.compose(space.exp(u * np.sin(2.0 * at)), space.exp(w * at**2))
        velocity, acceleration = rates_of(space, u, w, at)
        assert np.abs(space.difference(expected, q[k])).max() < 2e-7
        assert np.abs(first[k] - velocity).max() < 2e-5
        assert np.abs(second[k] - acceleration).max() < 5e-3
    middle = slice(5, -5)
    exact = np.array([rates_of(space, u, w, at)[1] for at in looked])
    assert np.abs(second[middle] - exact[middle]).max() < 5e-4


def test_errors_fall_with_the_fifth_power_of_the_distance() -> None:
    errors = []
    for n in (21, 41, 81):
        s, points, (u, w) = bent(SE3, 3, n)
        looked = np.linspace(0.3, 0.7, 41)
        q = GroupSpline.through(SE3, points, s, 5).at(looked).q
        exact = [SE3.compose(SE3.exp(u * np.sin(2.0 * at)), SE3.exp(w * at**2)) for at in looked]
        errors.append(np.abs(SE3.difference(np.array(exact), q)).max())
    assert errors[0] / errors[1] > 20.0
    assert errors[1] / errors[2] > 20.0


@pytest.mark.parametrize("width", [3, 5])
def test_a_curve_is_twice_differentiable_where_it_passes_its_points(width: int) -> None:
    """Uneven points with a corner: both sides of each point agree, and pinocchio's differences are its velocities."""
    rng = np.random.default_rng(5)
    s = np.cumsum(np.concatenate([[0.0], rng.uniform(0.05, 0.6, 11)]))
    steps = 0.2 * rng.standard_normal((12, 6))
    points = [SE3.neutral]
    for step in steps[1:]:
        points.append(SE3.integrate(points[-1], step))
    curve = GroupSpline.through(SE3, np.array(points), s, width)
    assert np.abs(SE3.difference(np.array(points), curve.at(s).q)).max() < 1e-12
    left, right = curve.at(s[1:-1] - 1e-9), curve.at(s[1:-1] + 1e-9)
    assert np.abs(left.first - right.first).max() < 1e-5
    assert np.abs(left.second - right.second).max() < 1e-4
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    looked, h = np.linspace(s[0] + 0.01, s[-1] - 0.01, 83), 1e-6
    before, here, after = (curve.at(looked + d) for d in (-h, 0.0, h))
    for k in range(len(looked)):
        velocity = pin.difference(model, before.q[k], after.q[k]) / (2.0 * h)
        assert np.abs(velocity - here.first[k]).max() < 1e-6
    slopes = (after.first - before.first) / (2.0 * h)
    assert np.abs(slopes - here.second).max() < 1e-3 * np.abs(here.second).max()


@pytest.mark.parametrize("width", [3, 5])
def test_a_curve_runs_the_same_way_backwards(width: int) -> None:
    """Through uneven points: derivatives are read from as many points before as behind."""
    rng = np.random.default_rng(6)
    s = np.cumsum(rng.uniform(0.05, 0.6, 12))
    points, looked = rng.standard_normal((12, 3)), np.linspace(s[0], s[-1], 50)
    forth = GroupSpline.through(Rn(3), points, s, width).at(looked)
    back = GroupSpline.through(Rn(3), points[::-1], -s[::-1], width).at(-looked)
    for one, other, sign in zip(forth, back, (1.0, -1.0, 1.0), strict=True):
        np.testing.assert_allclose(one, sign * other, rtol=1e-8, atol=1e-8 * np.abs(one).max())


@pytest.mark.parametrize("width", [3, 5])
def test_numbers_stay_within_their_bounds_between_points(width: int) -> None:
    """Uneven points, many of them at a bound; the rows of other factors are those without bounds, to the bit."""
    space, rng = Rn(2) * SO3, np.random.default_rng(7)
    bounds = Bounds(space, np.r_[[-0.3, -np.inf], [-1.0] * 4], np.r_[[0.4, 0.2], [1.0] * 4])
    s = np.cumsum(rng.uniform(0.02, 0.6, 60))
    flat = np.clip(rng.standard_normal((60, 2)), bounds.lower[:2], bounds.upper[:2])
    points = np.hstack([flat, SO3.exp(0.3 * rng.standard_normal((60, 3)))])
    looked = np.linspace(s[0], s[-1], 5000)
    free, kept = (GroupSpline.through(space, points, s, width, each).at(looked) for each in (None, bounds))
    excess = [np.maximum(bounds.lower - q, q - bounds.upper)[:, :2].max() for q in (free.q, kept.q)]
    assert excess[0] > 0.01
    assert excess[1] < 1e-12
    assert np.array_equal(free.q[:, 2:], kept.q[:, 2:])


def test_velocities_are_those_of_the_group_where_a_chart_is_not_bent() -> None:
    """c'' is exactly 0 at the end of c(s) = a s + b (s^3 - 3 s^2): differences by pinocchio say how q moves there."""
    a, b = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.4, -0.1])
    charts = PPoly(np.array([[b], [-3.0 * b], [a], [np.zeros(3)]]), [0.0, 1.0])
    curve = GroupSpline(SO3, np.array([SO3.neutral, SO3.exp(a - 2.0 * b)]), charts)
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    for s in (0.4, 0.999999):
        before, here, after = (curve.at(np.array([s + d])) for d in (-1e-6, 0.0, 1e-6))
        assert pin.difference(model, before.q[0], after.q[0]) / 2e-6 == pytest.approx(here.first[0], abs=1e-8)
    assert curve.at(np.ones(1)).first[0] == pytest.approx(curve.at(np.array([1.0 - 1e-7])).first[0], abs=1e-5)


def test_a_curve_through_two_points_is_their_geodesic() -> None:
    points = np.array([SO3.neutral, SO3.exp([0.5, -1.0, 0.2])])
    curve = GroupSpline.through(SO3, points, np.array([0.0, 2.0]), 5)
    q, first, second = curve.at(np.array([0.5]))
    assert q[0] == pytest.approx(SO3.exp([0.125, -0.25, 0.05]))
    assert first[0] == pytest.approx([0.25, -0.5, 0.1])
    assert second[0] == pytest.approx(np.zeros(3), abs=1e-12)

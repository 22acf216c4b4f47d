"""Minimal coordinates: partitions by name, closing, reduced dynamics beside the saddle point."""

from __future__ import annotations

import numpy as np
import pytest

from constraints.dynamics import forward_dynamics
from constraints.models import mechanisms
from constraints.reduced import minimal_coordinates, reduced_forward_dynamics, reduced_residual

NAMES = ("four_bar", "five_bar", "scissor_lift", "bennett", "delta_robot", "stewart_platform", "slider_crank")


@pytest.mark.parametrize("name", NAMES)
def test_reduced_dynamics_are_those_of_the_saddle_point(name: str) -> None:
    """Case 7: residual zero at the accelerations of direct dynamics; these are those of the saddle point."""
    mechanism = getattr(mechanisms, name)()
    rows, robot = mechanism.constraint_set(), mechanism.robot
    coordinates = minimal_coordinates(rows, mechanism.posture("closed"), independent=mechanism.motors)
    rng = np.random.default_rng(0)
    q = robot.space.integrate(mechanism.posture("closed"), 0.02 * rng.standard_normal(robot.nv))
    state = coordinates.at(q, rng.standard_normal(robot.nv), close=True)
    found = reduced_forward_dynamics(state).or_raise()
    other = forward_dynamics(rows, robot.at(state.q, state.v)).or_raise()
    size = np.abs(other.acceleration).max()
    np.testing.assert_allclose(found.acceleration, other.acceleration, atol=1e-10 * size)
    residual = reduced_residual(state, found.independent_acceleration)
    np.testing.assert_allclose(residual.independent, 0.0, atol=1e-10 * size)

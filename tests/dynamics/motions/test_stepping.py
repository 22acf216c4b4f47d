"""Single steps on a spring: pairs of order four, states between the ends of a step, Euler's step and its work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dynamics.motions.test_adaptive import oscillator

from constraints.dynamics import Forces, JointLaw, Scheme, SimulationOptions
from constraints.dynamics.motions.runge_kutta import Halt
from constraints.dynamics.motions.stepping import Stepper

K, DAMPING, MASS = 7.0, 0.3, 2.0


def stepper(scheme: Scheme = Scheme.RK4) -> Stepper:
    rows, forces = oscillator(K, DAMPING, MASS)
    return Stepper(rows, forces, scheme, SimulationOptions())


def runge_kutta(y: np.ndarray, h: float) -> np.ndarray:
    """One classical step of (position, velocity, work of the forces)."""

    def rate(y: np.ndarray) -> np.ndarray:
        force = -K * y[0] - DAMPING * y[1]
        return np.array([y[1], force / MASS, force * y[1]])

    a = rate(y)
    b = rate(y + 0.5 * h * a)
    c = rate(y + 0.5 * h * b)
    return y + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(y + h * c))


@pytest.mark.parametrize("h", [0.5, 0.1])
def test_a_leap_is_two_steps_of_order_four_with_the_error_of_richardson(h: float) -> None:
    own = stepper()
    state = own.state(3.0, own.robot.at([0.8], [-0.4]))
    step, y = own.leap(state, h), np.array([0.8, -0.4, 0.0])
    fine, coarse = runge_kutta(runge_kutta(y, 0.5 * h), 0.5 * h), runge_kutta(y, h)
    np.testing.assert_allclose([step.motion.q[0], step.motion.v[0], step.work], fine, rtol=1e-12)
    (estimate,) = step.estimates
    np.testing.assert_allclose(estimate, (fine - coarse)[:2] / 15.0, rtol=1e-9)
    taken = own.take(state, h)
    np.testing.assert_allclose([taken.motion.q[0], taken.motion.v[0], taken.work], coarse, rtol=1e-12)


@pytest.mark.parametrize("h", [0.5, 0.1])
def test_a_step_of_euler_and_the_mean_of_its_powers(h: float) -> None:
    own = stepper(Scheme.SEMI_IMPLICIT_EULER)
    q, v = 0.8, -0.4
    step = own.take(own.state(3.0, own.robot.at([q], [v])), h)
    force = -K * q - DAMPING * v
    after = v + h * force / MASS
    there = q + h * after
    np.testing.assert_allclose([step.motion.q[0], step.motion.v[0]], [there, after], rtol=1e-12)
    assert step.work == pytest.approx(0.5 * h * (force * v + (-K * there - DAMPING * after) * after), rel=1e-12)
    assert step.estimates == ()


@pytest.mark.parametrize("shift", [0.0, 0.05])
def test_between_the_ends_of_a_step_velocities_are_quadratic_and_places_follow(shift: float) -> None:
    """Both ends are met, with their velocities; where the places lack something at the end, it is blended in."""
    own, h = stepper(), 0.4
    state = own.state(1.0, own.robot.at([0.8], [-0.4]))
    a = float(state.dynamics.acceleration[0])
    bend = 0.25
    speed = -0.4 + h * a + bend
    behind = 0.8 - 0.4 * h + 0.5 * a * h**2 + bend * h / 3.0
    later: Any = own.robot.at([behind + shift], [speed])
    for part in (0.0, 0.3, 0.75, 1.0):
        s = part * h
        found = own.between(state, later, h, s)
        assert found.v[0] == pytest.approx(-0.4 + s * a + part**2 * bend, abs=1e-14)
        cubic = 0.8 - 0.4 * s + 0.5 * a * s**2 + bend * s**3 / (3.0 * h**2)
        assert found.q[0] == pytest.approx(cubic + shift * part**3 * (4.0 - 3.0 * part), abs=1e-14)


@pytest.mark.parametrize("h", [1.0, 0.1, 0.01])
def test_a_leap_over_a_force_that_jumps_is_refused(h: float) -> None:
    """Friction turns at each stage, so that the body would keep its speed, and the estimates be zero."""
    rows, _ = oscillator()
    friction = Forces(rows.robot, [JointLaw(rows.robot, "slide", lambda q, v: -5.0 * np.sign(v))])
    own = Stepper(rows, friction, Scheme.RK4, SimulationOptions())
    with pytest.raises(Halt, match="a force jumps"):
        own.leap(own.state(0.0, own.robot.at([0.0], [1e-3])), h)

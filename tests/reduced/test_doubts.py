"""Driven joints, sweeps and equilibria whose arguments are hardly meant."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from constraints.dynamics import JointSpring
from constraints.errors import UnknownNameError, WrongObjectError
from constraints.models import mechanisms
from constraints.reduced import Unknown, equilibrium
from constraints.rows import Target

LINKAGE = mechanisms.four_bar()
CLOSED = LINKAGE.posture("closed")


def at(target: Target, t: float) -> float:
    """Velocity of the crank that a target drives."""
    return float(LINKAGE.minimal_coordinates(CLOSED, driven={"crank": target}).at(CLOSED, t=t, close=True).v[0])


def test_a_driven_velocity_that_is_no_derivative_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """The row of a rod was warned of; a driven joint was not."""
    wrong = Target(lambda t: [1.0 + 0.1 * np.sin(3 * t)], lambda t: [0.1 * np.cos(3 * t)], lambda t: [0.0])
    with caplog.at_level(logging.WARNING):
        assert at(wrong, 0.0) == pytest.approx(0.1)
        at(wrong, 0.0)
    (line,) = caplog.messages
    assert line.startswith("'driven joint crank': the velocity of the target at 0 s is not the derivative")
    caplog.clear()
    right = Target(lambda t: [1.0 + 0.1 * np.sin(3 * t)], lambda t: [0.3 * np.cos(3 * t)])
    with caplog.at_level(logging.WARNING):
        at(right, 0.0)
    assert not caplog.messages


@pytest.mark.parametrize(("values", "asks"), [([1.5, 7.0], False), ([30.0], True), ([1.0, -20.0], True)])
def test_a_sweep_over_many_turns_asks_for_radians(
    values: list[float], asks: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """`np.arange(0, 361, 5)` turned a crank 57 times, without a word."""
    with caplog.at_level(logging.WARNING):
        LINKAGE.sweep(CLOSED, "crank", values).or_raise()
    assert len(caplog.messages) == asks
    for line in caplog.messages:
        assert line.startswith("values of a sweep of 'crank': they go over ")
        assert line.endswith(" turns, in radians: are they in degrees?")


@pytest.mark.parametrize("beside", [0.0, 4e-6, -7e-6])
def test_a_difference_across_a_jump_is_named(beside: float, caplog: pytest.LogCaptureFixture) -> None:
    """15000 rad/s from a difference across a jump, without a word."""
    jumps = Target(lambda t: [1.0 if t < 0.5 + beside else 1.3])
    with caplog.at_level(logging.WARNING):
        assert abs(at(jumps, 0.5)) > 1e4
        at(jumps, 0.5)
    (line,) = caplog.messages
    assert line.startswith("a Target jumps by 0.3 at ")
    assert "give `velocity`" in line


def test_a_fast_target_is_no_jump(caplog: pytest.LogCaptureFixture) -> None:
    fast = Target(lambda t: [1.0 + 0.01 * np.sin(3e4 * t)])
    with caplog.at_level(logging.WARNING):
        assert at(fast, 0.0) == pytest.approx(300.0, rel=0.02)
    assert not caplog.messages


def test_a_sweep_over_many_turns_says_how_many() -> None:
    """Degrees were taken: 355 rad, without a word that these are 56 turns."""
    many = LINKAGE.sweep(CLOSED, "crank", np.arange(0.0, 40.0, 5.0))
    assert f"crank 35 at the end, after {35.0 / (2.0 * np.pi):.3g} turns" in many.describe()
    once = LINKAGE.sweep(CLOSED, "crank", np.linspace(0.0, 2.0 * np.pi, 9))
    assert "turns" not in once.describe()


def test_a_scalar_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    """A bare KeyError: 'k'."""
    with pytest.raises(UnknownNameError, match="stiffness"):
        equilibrium(
            LINKAGE.minimal_coordinates(CLOSED),
            CLOSED,
            external=lambda x: [JointSpring(LINKAGE.robot, "crank", x["k"])],
            exchange={"crank": Unknown("stiffness", 3.0)},
        )


def test_what_acts_must_take_the_unknowns() -> None:
    """A `TypeError` of Python from the inside."""
    spring = JointSpring(LINKAGE.robot, "crank", 3.0)
    exchange = {"crank": Unknown("stiffness", 0.2)}
    with pytest.raises(WrongObjectError, match=r"f\(x\) of the unknowns by name \(here stiffness\)"):
        equilibrium(
            LINKAGE.minimal_coordinates(CLOSED),
            CLOSED,
            external=lambda: [spring],  # pyright: ignore[reportArgumentType]
            exchange=exchange,
        )

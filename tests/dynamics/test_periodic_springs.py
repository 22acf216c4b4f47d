"""Springs on continuous joints: the angle from rest is taken modulo a turn, and that is said."""

from __future__ import annotations

import logging
from math import cos, pi, sin
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body, point

from constraints.dynamics import Forces, JointSpring, SimulationOptions, simulate
from constraints.errors import ConstraintError, OptionError
from constraints.loops import ConstraintSet
from constraints.robot import Robot


def wheel(unbounded: bool = True) -> Robot:
    return one_body(pin.JointModelRUBZ() if unbounded else pin.JointModelRZ(), point(1.0, 0.4 * 0.3**2), "wheel")


def test_the_rest_of_a_continuous_joint_is_an_angle_modulo_a_turn(caplog: pytest.LogCaptureFixture) -> None:
    robot = wheel()
    with caplog.at_level(logging.WARNING):
        spring = JointSpring(robot, "wheel", 3.0, rest=0.5 + 4.0 * pi)
    assert "'wheel' is periodic" in caplog.text
    assert "half a turn" in caplog.text
    assert "rest=0.5 rad modulo a turn" in repr(spring)
    for angle in np.linspace(-9.0, 9.0, 37):
        q = np.array([cos(angle), sin(angle)])
        away = (angle - 0.5 + pi) % (2.0 * pi) - pi  # closed form
        if abs(abs(away) - pi) > 1e-6:
            assert spring.angle(q) == pytest.approx(away, abs=1e-12)
            np.testing.assert_allclose(spring.force_at(robot.at(q, [0.0])), [-3.0 * away], atol=1e-12)


def test_a_spring_on_a_revolute_joint_counts_turns_and_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    robot = wheel(unbounded=False)
    with caplog.at_level(logging.WARNING):
        spring = JointSpring(robot, "wheel", 3.0, rest=0.5)
    assert not caplog.text
    assert "rest=0.5)" in repr(spring)
    assert not spring.is_periodic
    np.testing.assert_allclose(spring.force_at(robot.at([7.0], [0.0])), [-3.0 * 6.5])
    with pytest.raises(OptionError, match="'wheel'"):
        spring.angle([0.0])


@pytest.mark.parametrize("rest", [[[1.0], 2.0], "a", [1.0, 2.0, 3.0], float("nan"), [2.0, 0.0]])
def test_rests_that_are_none_are_typed_errors(rest: Any) -> None:
    """A ragged list was a ValueError of numpy."""
    for unbounded in (True, False):
        with pytest.raises(ConstraintError, match="wheel"):
            JointSpring(wheel(unbounded), "wheel", 1.0, rest=rest)


def test_a_record_names_the_times_at_half_a_turn() -> None:
    """The wheel goes as v / w sin(w t) until half a turn, again and again: the first time is known."""
    robot, stiffness, speed = wheel(), 0.5, 20.0
    forces = Forces(robot, [JointSpring(robot, "wheel", stiffness, rest=0.0)])
    record = simulate(
        ConstraintSet(robot, []), robot.neutral, [speed], 1.0, forces=forces, options=SimulationOptions(max_step=0.02)
    )
    w = np.sqrt(stiffness / (0.4 * 0.3**2))
    first = np.arcsin(np.pi * w / speed) / w
    assert list(record.half_turns) == ["JointSpring wheel"]
    assert np.allclose(record.half_turns["JointSpring wheel"], [first, 3 * first, 5 * first], atol=2e-4)
    assert "passed half a turn from rest at 0.167" in record.describe()
    weak = Forces(robot, [JointSpring(robot, "wheel", 1e-9)])
    coarse = simulate(ConstraintSet(robot, []), robot.neutral, [2.0], 2.0, 0.3, forces=weak)
    assert coarse.half_turns["JointSpring wheel"] == pytest.approx([np.pi / 2.0], abs=1e-6)
    calm = simulate(ConstraintSet(robot, []), robot.neutral, [1.0], 1.0, forces=forces)
    assert calm.half_turns == {}
    assert "half a turn" not in calm.describe()

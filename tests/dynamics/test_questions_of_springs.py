"""Questions about springs whose rest or length is legal and hardly meant: asked once, in the log."""

from __future__ import annotations

import logging

import pytest

from constraints.dynamics import HingeSpring, JointSpring, PointSpring
from constraints.loops import Closure, Hinge
from constraints.models import mechanisms

ROBOT = mechanisms.five_bar().robot
BOUNDED = ROBOT.with_bounds({"left_inner": (-3.0, 3.0)})


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (120.0, "120 for 'left_inner', whose bounds are [-3, 3] rad: is it in degrees?"),
        (1.2, ""),
        (-3.5, ""),
        (-45.0, "-45 for 'left_inner', whose bounds are [-3, 3] rad: is it in degrees?"),
    ],
)
def test_a_rest_far_outside_of_the_bounds_is_asked_about(
    rest: float, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A spring that rested 19 turns away gave 9.5 kJ, without a word."""
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            JointSpring(BOUNDED, "left_inner", 5.0, rest=rest)
    assert caplog.messages == ([f"rest of a spring at joint 'left_inner': {words}"] if words else [])


def test_a_rest_many_turns_away_is_asked_about_without_bounds(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        JointSpring(ROBOT, "right_inner", 3.0, rest=60.0)
        JointSpring(ROBOT, "right_inner", 3.0, rest=12.0)
    (line,) = caplog.messages
    assert line.endswith("'right_inner': 60 rad, 9.55 turns: is it in degrees?")


def test_a_length_beyond_all_reach_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            PointSpring(ROBOT, "left_inner_end", "right_inner_end", 200.0, length=200.0)
        PointSpring(ROBOT, "left_inner_end", "right_inner_end", 200.0, length=2.0)
    (line,) = caplog.messages
    assert "length of a point spring of left_inner_end and right_inner_end: 200 m" in line
    assert line.endswith("is it in millimetres?")


def test_a_rest_of_a_cut_hinge_beyond_a_turn_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A pin and a slider: 45 rad, and 45 m, which no bounds tell from metres."""
    a, b = "left_outer_end", "right_outer_end"
    pin, slider = (Closure(ROBOT, a, b, hinge, name="joint") for hinge in (Hinge.pin(), Hinge.slider()))
    with caplog.at_level(logging.WARNING):
        HingeSpring(pin, 3.0, rest=45.0)
        HingeSpring(pin, 3.0, rest=3.0)
        HingeSpring(slider, 3.0, rest=45.0)
    (line,) = caplog.messages
    assert "rest of a spring at the hinge of 'joint': 45 rad, more than a whole turn: is it in degrees?" in line

"""Events that are past zero at the start, resets that open a loop, and functions that oscillate within a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dynamics.motions.test_events import ball, bounce, height
from dynamics.motions.test_integration import falling_bars

from constraints.dynamics import Event, MotionStatus, SimulationOptions, impact, simulate
from constraints.robot import Motion

G = 9.81


def thrown(z: float, speed: float, *events: Event, duration: float = 0.5, step: float = 0.01) -> Any:
    _, rows = ball()
    return simulate(rows.switched(off=["floor"]), [0, 0, z], [0, 0, speed], duration, step, events=events)


@pytest.mark.parametrize(
    ("direction", "z", "speed"), [("falling", -0.1, 0.0), ("falling", -0.1, -1.0), ("rising", 0.1, 1.0)]
)
def test_event_past_zero_at_the_start_happens_at_once(direction: Any, z: float, speed: float) -> None:
    """A ball below the floor fell on without a word, whatever it was to do there."""
    ended = thrown(z, speed, Event(height, "lands", direction=direction, terminal=True))
    assert (ended.status, ended.time) == (MotionStatus.EVENT, 0.0)
    np.testing.assert_array_equal(ended.q, [0.0, 0.0, z])
    watched = thrown(z, speed, Event(height, "lands", direction=direction)).or_raise()
    assert watched.events[0].time == 0.0
    assert watched.time == 0.5


def test_reset_at_once_turns_the_motion() -> None:
    """Below the floor and going down: the impact happens at the start, and the flight afterwards is the closed form."""
    _, rows = ball()
    lands = Event(height, "lands", direction="falling", reset=bounce(rows, 1.0))
    record = thrown(-0.1, -2.0, lands, duration=0.3).or_raise()
    (crossing,) = record.events
    assert crossing.time == 0.0
    assert crossing.after is not None
    np.testing.assert_allclose(crossing.after[1], [0.0, 0.0, 2.0], atol=1e-12)
    assert record.q[2] == pytest.approx(-0.1 + 2.0 * 0.3 - 0.5 * G * 0.09, abs=1e-9)


def test_event_past_zero_that_comes_back_happens_when_it_falls_again() -> None:
    """From -0.1 up: above zero it is an ordinary one; turned back below zero it happens at the top of its path."""
    lands = Event(height, "lands", direction="falling")
    through = thrown(-0.1, 3.0, lands, duration=1.0)
    assert [crossing.time for crossing in through.events] == [
        pytest.approx((3.0 + np.sqrt(9.0 - 0.2 * G)) / G, abs=1e-8)
    ]
    below = thrown(-0.1, 1.0, lands)
    assert [crossing.time for crossing in below.events] == [pytest.approx(1.0 / G, abs=0.01)]


def test_reset_that_opens_a_loop_is_a_status() -> None:
    """It was closed by projection without a word: another state than that of the reset."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    robot = rows.robot

    def moved(motion: Motion) -> Motion:
        return robot.at(motion.q + np.array([0.05, 0.0, 0.0, 0.0]), motion.v)

    def kicked(motion: Motion) -> Motion:
        return robot.at(motion.q, motion.v + np.array([1.0, 0.0, 0.0, 0.0]))

    for reset in (moved, kicked):
        soon = Event(lambda motion, t: t - 0.05, "kick", reset=reset, once=True)
        given: Any = (rows, q, np.zeros(4), 0.1, 0.01)
        record = simulate(*given, events=soon)
        assert record.status is MotionStatus.OPEN_AFTER_RESET
        assert not record.success
        assert "After the reset of 'kick' at 0.05" in record.reason
        assert "'pin' is off by" in record.reason
        assert record.time == pytest.approx(0.05)
        assert simulate(*given, events=soon, options=SimulationOptions(open_start=True)).success


def test_impact_in_a_reset_keeps_the_loop_closed() -> None:
    """The remedy of the message."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    robot = rows.robot

    def kicked(motion: Motion) -> Motion:
        hit = robot.at(motion.q, motion.v + np.array([1.0, 0.0, 0.0, 0.0]))
        return robot.at(motion.q, impact(rows, hit).velocity)

    soon = Event(lambda motion, t: t - 0.05, "kick", reset=kicked, once=True)
    assert simulate(rows, q, np.zeros(4), 0.1, 0.01, events=soon).or_raise().time == pytest.approx(0.1)


@pytest.mark.parametrize("frequency", [300.0, pytest.param(12345.0, marks=pytest.mark.long)])
def test_function_that_oscillates_within_a_step_is_said(frequency: float, caplog: pytest.LogCaptureFixture) -> None:
    """Two changes of sign within one step were missed in silence."""
    fast = Event(lambda motion, t: np.sin(2.0 * np.pi * frequency * t + 0.3), "fast")
    record = thrown(1.0, 0.0, fast, duration=0.1)
    assert record.success
    assert list(record.oscillating_events) == ["fast"]
    assert "the function of 'fast' changes its sign more than once in a step" in record.describe()
    assert any("fast changed sign more than once" in each.getMessage() for each in caplog.records)
    slow = thrown(1.0, 0.0, Event(lambda motion, t: np.sin(60.0 * t + 0.3), "slow"), duration=0.1)
    assert not slow.oscillating_events
    assert "oscillat" not in slow.describe()


def test_two_changes_within_one_step_are_found() -> None:
    """A ball that touches 1 m for 0.2 s within a step of 0.7 s: both passages, at the times of the closed form."""
    speed = np.sqrt(2.0 * G * 0.05)
    passes = Event(lambda motion, t: height(motion, t) - 1.0, "passes")
    record = thrown(0.0, np.sqrt(2.0 * G) * np.sqrt(1.05), passes, duration=1.0, step=0.9)
    at = [crossing.time for crossing in record.events]
    top = np.sqrt(2.0 * G * 1.05) / G
    np.testing.assert_allclose(at, [top - speed / G, top + speed / G], atol=3e-9)
    assert list(record.oscillating_events) == ["passes"]


def test_rest_on_a_contact_is_no_oscillation() -> None:
    """Rounding of a function that stays at zero is no change of sign."""
    _, rows = ball()
    watched = Event(height, "lands", direction="any")
    record = simulate(rows, [0, 0, 0], [0.5, 0, 0], 0.5, 0.05, events=watched).or_raise()
    assert not record.events
    assert not record.oscillating_events


def test_start_at_zero_waits_for_more_than_rounding() -> None:
    """A function that is zero at the start counts from beyond 1e-6 on; within it, at the end of a step, it does not."""

    def seen(depth: float) -> int:
        dips = Event(lambda motion, t: -depth * np.sin(np.pi * t), "dips", direction="falling")
        return len(thrown(1.0, 0.0, dips, duration=0.5, step=0.25).events)

    assert seen(0.5e-6) == 0
    assert seen(2e-6) == 1


def test_reset_near_zero_goes_where_the_next_moment_goes() -> None:
    """A ball that is put at 1e-9 below the floor with a velocity up is above it; one at 1e-3 below is not."""
    robot, rows = ball()

    def put(z: float) -> Any:
        return lambda motion: robot.at([0.0, 0.0, z], [0.0, 0.0, 2.0])

    for z, count in ((-1e-9, 2), (1e-9, 2)):
        lands = Event(height, "lands", direction="falling", reset=put(z))
        record = simulate(rows.switched(off=["floor"]), [0, 0, 0.2], np.zeros(3), 0.7, 0.01, events=lands)
        assert [crossing.name for crossing in record.events] == ["lands"] * count
        first = np.sqrt(0.4 / G)
        np.testing.assert_allclose([c.time for c in record.events], [first, first + 4.0 / G], atol=1e-7)

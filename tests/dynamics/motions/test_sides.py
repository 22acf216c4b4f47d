"""What is decided at sides that push, at thresholds and just beside them; pieces of motions that decide on numbers.

Oracle: closed forms of particles on a floor, and the definitions.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.motions.test_floor import G, body, box, particle
from dynamics.motions.test_stops import slider
from robots import arm

from constraints.dynamics import Floor, Forces, JointLaw, Stops
from constraints.dynamics.events.hits import hit
from constraints.dynamics.events.locating import TIME, first_below
from constraints.dynamics.events.sides import (
    CREEP,
    NO_DISTANCE,
    SLACK_OF_A_SIDE,
    SLOW_SLIP,
    STILL_SPEED,
    SeenSides,
    Standing,
    balanced,
)
from constraints.dynamics.events.stops import as_stops
from constraints.dynamics.events.unilateral import Unilateral
from constraints.dynamics.motions.limits import PASSED, limits_passed
from constraints.dynamics.motions.pace import damped_size
from constraints.errors import OptionError, UndefinedError


def on_the_floor(floor: Floor, z: float, v: Any) -> tuple[Unilateral, SeenSides]:
    """A particle at a height, with its point away from the floor."""
    events = Unilateral(floor._sides)
    holds = floor._sides.switched(floor._all, standing([False], [False]))
    return events, SeenSides(floor._sides, floor.robot.at([0.0, 0.0, z], v), 0.0, holds)


def standing(on: list[bool], sticks: list[bool]) -> Standing:
    return Standing(np.array(on), np.array(sticks))


# Starts.


@pytest.mark.parametrize(
    ("z", "v", "state"),
    [
        (0.0, (0.0, 0.0, 0.0), "sticks"),
        (0.99 * NO_DISTANCE, (0.0, 0.0, 0.0), "sticks"),
        (-0.99 * NO_DISTANCE, (0.0, 0.0, 0.0), "sticks"),
        (1.01 * NO_DISTANCE, (0.0, 0.0, 0.0), "away"),
        (0.0, (0.0, 0.0, 0.99 * STILL_SPEED), "sticks"),
        (0.0, (0.0, 0.0, 1.01 * STILL_SPEED), "away"),
        (0.0, (0.0, 0.0, -1.01 * STILL_SPEED), "away"),
        (0.0, (0.99 * STILL_SPEED, 0.0, 0.0), "sticks"),
        (0.0, (1.01 * STILL_SPEED, 0.0, 0.0), "slips"),
        (0.0, (0.0, 2.0, 0.0), "slips"),
    ],
)
def test_a_start_touches_what_it_is_at_and_sticks_where_it_is_still(z: float, v: Any, state: str) -> None:
    floor = Floor(particle(), ["point"], friction=0.5)
    assert floor.states(floor.start([0.0, 0.0, z], v)) == {"point": state}
    raised = Floor(particle(), ["point"], friction=0.5, height=0.25)
    assert raised.states(raised.start([0.0, 0.0, 0.25 + z], v)) == {"point": state}


def test_starts_below_the_floor_are_refused_with_every_point() -> None:
    floor = Floor(box(), ["c00", "c11", "c10"])
    q = floor.robot.neutral
    q[2] = 0.1 - 1.01 * NO_DISTANCE
    with pytest.raises(OptionError, match=r"beyond the floor by some: c00 \(1.01e-06 m\), c11 .*, c10 "):
        floor.start(q, np.zeros(6))
    q[2] = 0.1 - 0.99 * NO_DISTANCE
    assert set(floor.states(floor.start(q, np.zeros(6))).values()) == {"slips"}  # nothing holds them on ice


def test_a_point_that_is_pushed_off_the_floor_is_not_held_at_the_start() -> None:
    robot = particle()
    for lift, state in ((0.99 * G, "sticks"), (1.01 * G, "away")):
        push = Forces(robot, [JointLaw(robot, "body", lambda q, v, t, f=lift: [0.0, 0.0, f])])
        floor = Floor(robot, ["point"], friction=0.5, laws=push)
        assert floor.states(floor.start(np.zeros(3), np.zeros(3))) == {"point": state}
    for along, state in ((0.49 * G, "sticks"), (0.51 * G, "slips")):
        push = Forces(robot, [JointLaw(robot, "body", lambda q, v, t, f=along: [0.6 * f, 0.8 * f, 0.0])])
        floor = Floor(robot, ["point"], friction=0.5, laws=push)
        assert floor.states(floor.start(np.zeros(3), np.zeros(3))) == {"point": state}


# Values of events.


def test_values_of_events_are_distances_pushes_grips_and_speeds() -> None:
    floor = Floor(particle(), ["point"], friction=0.5)
    own = floor._sides
    events, away = on_the_floor(floor, 0.3, [0.0, 0.0, -1.0])
    assert events.gap(away, 0) == 0.3 + SLACK_OF_A_SIDE
    assert (events.pushing(away, 0), events.grip(away, 0), events.slide(away, 0)) == (1.0, 1.0, 1.0)
    motion = floor.robot.at(np.zeros(3), [3.0 * SLOW_SLIP, -4.0 * SLOW_SLIP, 0.0])
    slipping = SeenSides(own, motion, 0.0, own.switched(floor._all, standing([True], [False])))
    assert events.gap(slipping, 0) == 1.0
    assert events.pushing(slipping, 0) == pytest.approx(G)
    assert events.grip(slipping, 0) == 1.0
    assert events.slide(slipping, 0) == pytest.approx(4.0 * SLOW_SLIP)
    still = floor.robot.at(np.zeros(3), np.zeros(3))
    sticking = SeenSides(own, still, 0.0, own.switched(floor._all, standing([True], [True])))
    assert events.grip(sticking, 0) == pytest.approx(0.5 * G)
    assert events.slide(sticking, 0) == 1.0
    slow = floor.robot.at(np.zeros(3), [1.5 * SLOW_SLIP, 0.0, 0.0])
    slowing = SeenSides(own, slow, 0.0, own.switched(floor._all, standing([True], [False])))
    assert events.slide(slowing, 0) == pytest.approx(0.5 * SLOW_SLIP)
    names = [event.name for event in events.events()]
    assert names == ["point touches", "point leaves", "point slips", "point sticks"]
    assert [event.name for event in Floor(particle(), ["point"]).events] == names[:2]


@pytest.mark.parametrize("speed", [2.0 * CREEP, 1.01 * CREEP, CREEP, 0.5 * CREEP, SLOW_SLIP])
def test_friction_is_against_the_velocity_and_of_the_size_of_coulomb(speed: float) -> None:
    """Where nothing else acts, what would hold a point is nothing: its direction is its velocity at any speed."""
    floor = Floor(particle(), ["point"], friction=0.3)
    own, way = floor._sides, np.array([0.6, -0.8, 0.0])
    motion = floor.robot.at(np.zeros(3), speed * way)
    seen = SeenSides(own, motion, 0.0, own.switched(floor._all, standing([True], [False])))
    np.testing.assert_allclose(seen.friction(), -0.3 * G * way, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(seen.dynamics.acceleration, -0.3 * G * way, rtol=1e-9, atol=1e-9)
    assert seen.dragging == [0]
    stuck = SeenSides(own, motion, 0.0, own.switched(floor._all, standing([True], [True])))
    assert stuck.dragging == []
    assert not stuck.friction().any()


# Impacts.


@pytest.mark.parametrize(("speed", "bounces"), [(0.2, True), (0.0101, True), (0.0099, False), (0.001, False)])
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_impacts_bounce_above_the_speed_of_rest(e: float, speed: float, bounces: bool) -> None:
    floor = Floor(particle(), ["point"], restitution=e, friction=0.5)
    events, seen = on_the_floor(floor, 0.0, [0.1 * speed, 0.0, -speed])
    motion, holds = hit(seen, np.array([True]))
    np.testing.assert_allclose(motion.v, [0.0, 0.0, e * speed * bounces], atol=1e-12)
    state = "away" if bounces and e > 0.0 else "sticks"
    assert floor.states(holds) == {"point": state}
    assert floor.states(events.touched(seen, 0)[1]) == {"point": state}


def test_six_feet_of_which_some_come_too_slowly_to_bounce_come_to_rest() -> None:
    """Some would bounce while others rest, which no rigid body does; and they are too many for all ways to be tried."""
    feet = {f"p{i}{j}": (0.2 * i - 0.1, 0.1 * j - 0.1, -0.1) for i in range(2) for j in range(3)}
    robot = body(pin.JointModelFreeFlyer(), 1.0, 0.01, **feet)
    for mu in (0.0, 0.3):
        floor = Floor(robot, list(feet), restitution=0.5, rest_speed=0.1, friction=mu)
        nobody = floor._sides.switched(floor._all, standing([False] * 6, [False] * 6))
        motion = robot.at([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -0.1, 0.5, 0.0, 0.0])
        after, holds = hit(SeenSides(floor._sides, motion, 0.0, nobody), np.ones(6, dtype=np.bool_))
        np.testing.assert_allclose(after.v[2:5], 0.0, atol=1e-12)
        assert "away" not in floor.states(holds).values()


@pytest.mark.parametrize("mu", [0.1, 0.5])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_friction_of_an_impact_is_that_of_its_impulse(mu: float, e: float) -> None:
    """It takes mu (1 + e) of the speed into the floor, or all along it."""
    floor = Floor(particle(), ["point"], restitution=e, friction=mu)
    most = mu * (1.0 + e) * 2.0
    for along, left in ((0.9 * most, 0.0), (1.5 * most, 0.5 * most)):
        _, seen = on_the_floor(floor, 0.0, [0.6 * along, 0.8 * along, -2.0])
        motion, _ = hit(seen, np.array([True]))
        np.testing.assert_allclose(motion.v, [0.6 * left, 0.8 * left, 2.0 * e], atol=1e-9)


def test_points_that_come_with_another_are_hit_at_once() -> None:
    """Those within 1e-6 that sink; a box that falls flat on four corners does not turn."""
    floor = Floor(box(), ["c00", "c01", "c10", "c11"], restitution=0.5)
    q = floor.robot.neutral
    own = floor._sides
    nobody = own.switched(floor._all, standing([False] * 4, [False] * 4))
    for above, spins in ((0.5 * NO_DISTANCE, False), (-0.5 * NO_DISTANCE, False), (2.0 * NO_DISTANCE, True)):
        q[2] = 0.1
        motion = floor.robot.at(q, [0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
        seen = SeenSides(own, motion, 0.0, nobody)
        seen.gaps[1:] = above
        after, _ = Unilateral(own).touched(seen, 0)
        assert (np.abs(after.v[3:]).max() > 0.1) == spins
        if not spins:
            np.testing.assert_allclose(after.v, [0.0, 0.0, 0.5, 0.0, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize(("e", "also"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.3)])
@pytest.mark.parametrize("friction", [0.0, 9.0])
def test_a_point_that_an_impact_pushes_into_the_floor_is_hit_too(e: float, also: float, friction: float) -> None:
    """A short-armed rod hit at one end turns about a point this side of the other, which touches: both leave with e
    times their own speed into the floor; what is away does not count. Friction that holds all stops all along it."""
    robot = body(pin.JointModelFreeFlyer(), 1.0, 0.05, a=(-0.5, 0.0, 0.0), b=(0.5, 0.0, 0.0), c=(0.0, 0.0, 0.4))
    floor = Floor(robot, ["a", "b", "c"], restitution=e, friction=friction)
    own, turn = floor._sides, also - 1.0
    nobody = own.switched(floor._all, standing([False] * 3, [False] * 3))
    v = np.array([0.2 * (friction > 0.0), 0.0, -0.5 * (1.0 + also), 0.0, turn, 0.0])  # a at -1, b at -also
    after, holds = hit(SeenSides(own, robot.at(robot.neutral, v), 0.0, nobody), np.array([True, False, False]))
    expected = np.array([0.0, 0.0, 0.5 * e * (1.0 + also), 0.0, e * (1.0 - also), 0.0])
    np.testing.assert_allclose(after.v, expected, atol=1e-9)
    rests = "sticks" if friction else "slips"
    assert floor.states(holds) == {
        "a": "away" if e else rests, "b": "away" if e * also else rests, "c": "away"
    }  # fmt: skip


@pytest.mark.parametrize(("mu", "slips"), [(0.3, True), (0.6, False)])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_point_that_comes_straight_down_slips_against_what_would_hold_it(mu: float, slips: bool, side: float) -> None:
    """With K = [[2, 1], [1, 2]] along and across the floor a half of the push would hold it."""
    robot = body(pin.JointModelFreeFlyer(), 1.0, 0.01, point=(0.1 * side, 0.0, -0.1))
    floor = Floor(robot, ["point"], friction=mu)
    own, q = floor._sides, robot.neutral
    q[2] = 0.1
    seen = SeenSides(own, robot.at(q, np.eye(6)[2] * -2.0), 0.0, own.switched(floor._all, standing([False], [False])))
    after, holds = hit(seen, np.array([True]))
    part = min(mu, 0.5)
    push = 2.0 / (2.0 - part)
    expected = [-side * part * push, 0.0, push - 2.0, 0.0, side * (10.0 * part - 10.0) * push, 0.0]
    np.testing.assert_allclose(after.v, expected, atol=1e-9)
    assert floor.states(holds) == {"point": "slips" if slips else "sticks"}


def test_a_point_at_rest_that_would_sink_is_held_again() -> None:
    """Sticking where it is still and there is friction; not where it was let go, nor where it is away or moves."""
    for friction, z, v, state in (
        (0.5, 0.0, (0.0, 0.0, 0.0), "sticks"), (0.5, 0.0, (2.0 * STILL_SPEED, 0.0, 0.0), "slips"),
        (0.0, 0.0, (0.0, 0.0, 0.0), "slips"), (0.5, 2.0 * NO_DISTANCE, (0.0, 0.0, 0.0), "away"),
        (0.5, 0.0, (0.0, 0.0, 2.0 * STILL_SPEED), "away"),
    ):  # fmt: skip
        floor = Floor(particle(), ["point"], friction=friction)
        events, seen = on_the_floor(floor, z, v)
        assert floor.states(events.settled(seen.motion, seen.holds, 0.0)[1]) == {"point": state}
        assert floor.states(events.settled(seen.motion, seen.holds, 0.0, 0)[1]) == {"point": "away"}


def test_the_side_that_pulls_most_lets_go_first_and_then_the_one_beyond_its_friction() -> None:
    sides = Floor(box(), ["c00", "c01", "c10"], friction=0.5)._sides.sides
    both, none = standing([True] * 3, [True] * 3), np.zeros(2)
    along = [np.array([0.3, 0.4]), np.array([0.6, 0.0]), none]
    assert both.lessened(sides, np.array([2.0, 2.0, 0.0]), along, 2.0) is None
    found = both.lessened(sides, np.array([2.0, -0.1, -0.2]), along, 2.0)
    assert found is not None
    assert (found.on.tolist(), found.sticks.tolist()) == ([True, True, False], [True, True, False])
    found = both.lessened(sides, np.array([0.9, 1.0, 0.0]), along, 1.0)
    assert found is not None  # 0.6 - 0.5 is more than 0.5 - 0.45
    assert (found.on.tolist(), found.sticks.tolist()) == ([True] * 3, [True, False, True])
    assert standing([True] * 3, [False] * 3).lessened(sides, np.array([0.9, 1.0, 0.0]), along, 1.0) is None
    size = 1e-9 * 3.0
    assert both.lessened(sides, np.array([2.0, 2.0, -0.9 * size]), along, 2.0) is None
    assert both.lessened(sides, np.array([2.0, 2.0, -1.1 * size]), along, 2.0) is not None


@pytest.mark.parametrize(("feedback", "jams"), [(0.0, False), (0.5, False), (0.999, False), (1.0, True), (1.5, True)])
def test_friction_that_presses_as_hard_as_it_is_pushed_jams(feedback: float, jams: bool) -> None:
    """Friction of a push of one presses by k: f = 2 + k f."""
    own = np.array([[feedback]])
    if jams:
        with pytest.raises(UndefinedError, match="Painleve"):
            balanced(np.array([2.0]), own)
    else:
        found = balanced(np.array([2.0]), own)
        assert found == pytest.approx([2.0 / (1.0 - feedback)])


# Numbers.


@pytest.mark.parametrize("bad", [-1e-9, 1.0 + 1e-9, np.nan])
def test_restitutions_are_from_zero_to_one(bad: float) -> None:
    for e in (0.0, 1.0):
        assert Stops(restitution=e).restitution == e
        assert Floor(particle(), ["point"], restitution=e, rest_speed=0.0).restitution == e
    floor: Any = partial(Floor, particle(), ["point"])
    for make, what in ((Stops, "stops"), (floor, "a floor")):
        said = "" if np.isnan(bad) else rf": expected a number in \[0, 1\], got {re.escape(str(bad))}"
        with pytest.raises(ValueError, match=f"restitution of {what}{said}"):
            make(restitution=bad)
        with pytest.raises(OptionError, match="not negative, got -1e-09"):
            make(rest_speed=-1e-9)
    with pytest.raises(OptionError, match="friction of a floor"):
        floor(friction=-1e-9)


def test_stops_are_a_side_for_each_limit_that_is_there() -> None:
    robot = arm()
    sides = Stops().sides(robot)
    assert len(sides) == 2 * robot.nq
    assert [side.touches for side in sides[:2]] == [
        f"{sides[0].name} at its {word} limit" for word in ("lower", "upper")
    ]
    q = robot.random(np.random.default_rng(0))
    gaps = [float(side.normal.function.value(q)[0]) for side in sides]  # pyright: ignore[reportAttributeAccessIssue]
    np.testing.assert_allclose(gaps[::2], q - robot.bounds.lower)
    np.testing.assert_allclose(gaps[1::2], robot.bounds.upper - q)
    assert [side.touches for side in Stops().sides(slider(0.0))] == ["lift at its lower limit"]
    assert [side.touches for side in Stops().sides(slider(-np.inf, 2.0))] == ["lift at its upper limit"]
    with pytest.raises(OptionError, match="no limits of all joints"):
        Stops().sides(slider(-np.inf))
    with pytest.raises(OptionError, match=r"no limits of '?lift"):
        Stops(joints=["lift"]).sides(slider(-np.inf))
    assert as_stops("pass") is None
    assert as_stops("stop") == Stops()


def test_limits_are_passed_by_more_than_a_millionth() -> None:
    robot = slider(0.0, 1.0)
    times = np.array([0.0, 0.5, 1.0, 1.5])
    for beyond, sign in ((0.99 * PASSED, 0), (1.01 * PASSED, 1), (0.3, 1)):
        for lower in (False, True):
            q = [-beyond if lower else 1.0 + beyond, -1.5 * beyond if lower else 1.0 + 1.5 * beyond]
            found = limits_passed(robot, times, np.array([[0.5], [q[0]], [q[1]], [0.7]]))
            if 1.5 * beyond > PASSED:
                (passed,) = found
                assert passed.time == (0.5 if sign else 1.0)
                assert passed.violation.entry == 0
            else:
                assert found == ()
    assert limits_passed(robot, times, np.full((4, 1), 1.0)) == ()


@pytest.mark.parametrize("at", [0.3, 1e-4, 0.999999999, 1.0])
@pytest.mark.parametrize(
    ("shape", "most"),
    [
        (lambda x: -x, 4),
        (lambda x: -np.tanh(x) - 0.3 * x**2, 14),
        (lambda x: -(x**3), 34),
        (lambda x: 1.0 - 9.0 * (x >= 0), 34),
    ],
)
def test_the_time_of_an_event_is_behind_it_by_a_billionth(shape: Any, most: int, at: float) -> None:
    """Four evaluations more than bisection takes, which are 30, at most; few where the function is smooth."""
    asked = list[float]()

    def left(s: float) -> float:
        asked.append(s)
        return float(shape(s - at))

    found = first_below(left, (0.0, 1.0), (left(0.0), left(1.0)))
    assert 0.0 <= found - at <= TIME
    assert len(asked) <= most + 2
    assert 0.0 < min(asked[2:]) <= max(asked[2:]) < 1.0


def test_the_time_of_an_event_is_as_near_as_numbers_are() -> None:
    assert first_below(lambda s: -1.0, (0.5, 0.5 + 0.9 * TIME), (1.0, -1.0)) == 0.5 + 0.9 * TIME
    wide = first_below(lambda s: 1e9 + 0.25 - s, (1e9, 1e9 + 1.0), (0.25, -0.75))  # numbers are further apart there
    assert 0.0 <= wide - (1e9 + 0.25) <= 2.0 * np.spacing(1e9)


def test_the_size_of_an_error_is_the_better_estimate_as_far_as_the_rougher_allows() -> None:
    fine, rough = np.array([3.0, 4.0]), np.array([6.0, 8.0])
    assert damped_size([]) == 0.0
    assert damped_size([fine]) == pytest.approx(5.0 / sqrt(2.0))
    assert damped_size([fine, rough]) == pytest.approx(25.0 / sqrt((25.0 + 0.01 * 100.0) * 2.0))
    assert damped_size([0.0 * fine, 0.0 * rough]) == 0.0
    assert damped_size([0.0 * fine, rough]) == 0.0
    assert damped_size([fine, 0.0 * rough]) == pytest.approx(5.0 / sqrt(2.0))  # its root mean square

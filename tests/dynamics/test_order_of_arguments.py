"""Every function that a user writes takes the state first and the time last, or leaves the time out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from constraints import dynamics
from constraints.errors import WrongObjectError
from constraints.models import mechanisms, sample_two_arms

LINKAGE = mechanisms.four_bar()
ROWS = LINKAGE.constraint_set()
CLOSED = LINKAGE.posture("closed")
ROBOT = LINKAGE.robot
ARMS = sample_two_arms()
CLOSURE: Any = LINKAGE.closures[0]
Call = Callable[[Any], Any]


def turn(motion: Any) -> Any:
    return {"crank": 1.0}


def simulated(**options: Any) -> Any:
    return dynamics.simulate(ROWS, CLOSED, {}, 0.02, 0.01, **options)


def reset(f: Any) -> Any:
    ends = dynamics.Event(lambda motion, t: t - 0.005, "half", direction="rising", reset=f, once=True)
    return simulated(events=ends).or_raise().v


def happens(f: Any) -> Any:
    return simulated(events=dynamics.Event(f, "passes"), forces=turn).or_raise().events[0].time


SPEED = 0.5 * simulated(forces=turn).v[0]
TAKEN: list[tuple[Call, Any, Any]] = [
    (lambda f: simulated(forces=f).v, lambda motion: {"crank": 2.0}, lambda motion, t: {"crank": 2.0 + 0.0 * t}),
    (reset, lambda motion: motion, lambda motion, t: motion),
    (happens, lambda motion: motion.v[0] - SPEED, lambda motion, t: motion.v[0] - SPEED + 0.0 * t),
    (
        lambda f: dynamics.Forces(ROBOT, [dynamics.JointLaw(ROBOT, "crank", f)])(CLOSED, {"crank": 1.0}, 2.0),
        lambda q, v: -v,
        lambda q, v, t: -v + 0.0 * t,
    ),
]


@pytest.mark.parametrize(("call", "of_state", "of_state_and_time"), TAKEN, ids=["forces", "reset", "event", "law"])
def test_the_time_comes_last_or_is_left_out(call: Call, of_state: Any, of_state_and_time: Any) -> None:
    assert np.array_equal(call(of_state), call(of_state_and_time))


def test_the_time_is_the_time() -> None:
    """Tells `f(motion, t)` from `f(t, motion)`: a torque that is 0 for 10 ms, and the event is at 12 ms."""
    at = simulated(events=dynamics.Event(lambda motion, t: t - 0.012, "late")).events[0].time
    assert at == pytest.approx(0.012, abs=2e-9)
    seen = []
    simulated(forces=lambda motion, t: seen.append((t, motion.q.size)))
    assert sorted({round(t, 3) for t, _ in seen}) == [0.0, 0.005, 0.01, 0.015, 0.02]
    assert {n for _, n in seen} == {3}


OLD: dict[str, tuple[Call, Any]] = {
    "forces": (lambda f: simulated(forces=f), lambda t, motion: np.zeros(3)),
    "event": (lambda f: dynamics.Event(f, "passes"), lambda t, motion: motion.v[0]),
    "event, long name": (lambda f: dynamics.Event(f, "passes"), lambda time, m: m.v[0]),
    "reset": (lambda f: dynamics.Event(lambda motion: 1.0, "passes", reset=f), lambda t, motion: motion),
    "joint law": (lambda f: dynamics.JointLaw(ROBOT, "crank", f), lambda t, q, v: -v),
    "joint law, rates first": (lambda f: dynamics.JointLaw(ROBOT, "crank", f), lambda v, q: -v),
    "point link": (lambda f: dynamics.PointLink(ARMS, "left_tool", "right_tool", f), lambda t, length, rate: length),
    "point link, rate first": (
        lambda f: dynamics.PointLink(ARMS, "left_tool", "right_tool", f),
        lambda rate, length: length,
    ),
    "frame link": (lambda f: dynamics.FrameLink(ARMS, "left_tool", "right_tool", f), lambda t, pose, twist: -twist),
    "wrench": (lambda f: dynamics.ExternalForce("left_tool", f), lambda t, motion: np.zeros(6)),
    "hinge": (lambda f: dynamics.HingeForce(CLOSURE, f), lambda t, q, v: -v),
}


@pytest.mark.parametrize(("call", "function"), OLD.values(), ids=OLD)
def test_another_order_is_refused_when_it_is_given(call: Call, function: Any) -> None:
    """A joint law of (t, q, v) was taken, and got q for t; forces and events had the time first."""
    with pytest.raises(WrongObjectError, match=r"or f\(.*, t\) that returns .*: the state first, the time last"):
        call(function)


@pytest.mark.parametrize(
    "call",
    [lambda f: simulated(forces=f), lambda f: simulated(events=dynamics.Event(f, "passes")), reset],
    ids=["forces", "event", "reset"],
)
def test_an_old_order_without_names_is_said_when_it_fails(call: Call) -> None:
    with pytest.raises(WrongObjectError, match=r"the state first, the time last.*'float' object has no attribute 'v'"):
        call(lambda x, y: y.v[0])


def test_an_attribute_error_of_the_function_itself_is_its_own() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'omega'"):
        simulated(forces=lambda motion, t: np.zeros(3).omega)  # pyright: ignore[reportAttributeAccessIssue]


def test_forces_by_joint_are_those_of_the_vector() -> None:
    motion = ROBOT.at(CLOSED, {})
    by_name = simulated(forces=lambda motion: {"crank": 1.0}).accelerations[0]
    assert np.array_equal(by_name, dynamics.forward_dynamics(ROWS, motion, [1.0, 0.0, 0.0]).acceleration)

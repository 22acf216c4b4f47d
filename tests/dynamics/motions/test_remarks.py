"""What a record says beside its numbers, and what the log says before a motion."""

from __future__ import annotations

import logging
import re
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body, point

from constraints import Robot
from constraints.dynamics import Event, Forces, JointLaw, MotionStatus, PointSpring, SimulationOptions, simulate
from constraints.errors import UnknownNameError, WrongObjectError
from constraints.loops import Baumgarte, Closure, ConstraintSet, Hinge, PointContact
from constraints.models import mechanisms

LINKAGE = mechanisms.five_bar()
ROBOT, CLOSED, LOOP = LINKAGE.robot, LINKAGE.posture("closed"), LINKAGE.constraint_set()
STILL = np.zeros(4)


def ball() -> Robot:
    """A ball of 1 kg that moves up and down."""
    return one_body(pin.JointModelPZ(), point(1.0, 0.01), "ball")


def upright() -> tuple[ConstraintSet, Robot]:
    """The five-bar linkage in a vertical plane."""
    model: Any = pin.Model(ROBOT.model)
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    robot = Robot(model)
    return ConstraintSet(robot, [Closure(robot, "left_outer_end", "right_outer_end", Hinge.pin(), name="tip")]), robot


def test_a_contact_that_pulls_along_a_motion_is_named() -> None:
    """A floor held a ball down through a whole motion, without a word."""
    robot = ball()
    rows = ConstraintSet(robot, [PointContact(robot, "ball", [0.0, 0.0, 1.0], name="floor")])
    held = simulate(rows, [0.0], [0.0], 0.5, forces=lambda motion: [20.0])
    assert "contact 'floor' pulls, by up to 10.19 N, first at 0 s" in held.describe()
    lies = simulate(rows, [0.0], [0.0], 0.5)
    assert "pulls" not in lies.describe()


def test_a_motion_in_which_nothing_moves_says_so() -> None:
    """Linkages that lie flat stayed where they were, FINISHED."""
    assert "nothing moved" in simulate(LOOP, CLOSED, STILL, 0.2).describe()
    rows, _ = upright()
    assert "nothing moved" not in simulate(rows, CLOSED, STILL, 0.05).describe()


def test_the_work_of_functions_and_of_laws_without_potential_is_said() -> None:
    v = LINKAGE.minimal_coordinates(CLOSED).at(CLOSED, {"left_inner": 0.1}).v
    law = Forces(ROBOT, [JointLaw(ROBOT, "left_inner", lambda q, v: 50.0 * (q - 2.2))])
    record = simulate(LOOP, CLOSED, v, 0.1, forces=law)
    assert f"work of forces {record.work[-1]:.3g} J\n" in record.describe()
    by_function = simulate(LOOP, CLOSED, v, 0.1, forces=lambda motion: {"left_inner": 1.0})
    assert f"work of forces {by_function.work[-1]:.3g} J\n" in by_function.describe()


def test_an_event_that_did_not_happen_is_named() -> None:
    end = Event(lambda motion: motion.q[0] - 100.0, "never", terminal=True)
    now = Event(lambda motion: motion.q[0] + 1e-4, "soon")
    robot = ball()
    record = simulate(ConstraintSet(robot, []), [0.0], [0.0], 0.1, events=[end, now])
    assert "did not happen: event 'never'" in record.describe()
    assert "event 'soon' at" in record.describe()


def test_a_step_too_long_for_a_stiff_law_is_said_to_be() -> None:
    """The rate of the closure was 4e21, and nothing named the step."""
    stiff = Forces(ROBOT, [PointSpring(ROBOT, "left_inner_end", "right_inner_end", 1e9, length=0.2)])
    record = simulate(LOOP, CLOSED, STILL, 0.2, 0.001, forces=stiff)
    assert record.status is MotionStatus.NOT_PROJECTED
    assert "the step is too long for a stiff law" in record.reason
    assert "scheme='implicit'" in record.reason


def test_stiffness_that_makes_steps_short_is_said() -> None:
    """12680 states in 87 s, where the implicit scheme takes 20 in 0.2 s, and no hint."""
    rows, robot = upright()
    damper = PointSpring(robot, "left_inner_end", "right_inner_end", stiffness=1e4, damping=1e5, length=0.3)
    record = simulate(rows, CLOSED, STILL, 0.03, forces=Forces(robot, [damper]), options=SimulationOptions(every=50))
    assert record.success
    assert "scheme='implicit' takes far fewer" in record.describe()
    quick = simulate(
        rows, CLOSED, STILL, 0.03, forces=Forces(robot, [damper]), options=SimulationOptions(scheme="implicit")
    )
    assert quick.steps < record.steps / 5
    assert "scheme=" not in quick.describe()


def test_a_law_that_feeds_energy_is_named_where_a_motion_fails() -> None:
    """Minutes of ever shorter steps, and the words "stiff" and "jump" of a damper with the wrong sign."""
    rows, robot = upright()
    wrong = Forces(robot, [JointLaw(robot, "left_inner", lambda q, v: 5.0 * v)])
    record = simulate(rows, CLOSED, STILL, 0.25, 0.005, forces=wrong)
    assert not record.success
    assert "Forces did a work of" in record.reason
    said = re.search("JointLaw left_inner did a work of (.*) J while", record.describe())
    assert said is not None
    assert np.abs(record.work / float(said[1]) - 1.0).min() < 0.3  # a trapezoid, of a motion that runs away


@pytest.mark.parametrize(("time", "named"), [(0.001, True), (0.1, False)])
def test_gains_that_are_too_large_for_the_step_are_named(
    time: float, named: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """NOT_FINITE, "numbers overflow", of gains that were known beforehand."""
    rows = LOOP.stabilised(time)
    with caplog.at_level(logging.WARNING):
        simulate(rows, CLOSED, STILL, 0.05, 0.01, options=SimulationOptions(correction="baumgarte"))
    words = f"gains of 'left_outer_end to right_outer_end' ({1.0 / time**2:.4g}, {2.0 / time:.4g}) are too large"
    assert any(words in line for line in caplog.messages) is named
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        simulate(rows, CLOSED, STILL, 0.05, 0.01, options=SimulationOptions(correction="baumgarte", scheme="implicit"))
        simulate(rows, CLOSED, STILL, 0.05, options=SimulationOptions(correction="baumgarte"))
    assert not caplog.messages


def test_gains_without_an_anchor_are_named(caplog: pytest.LogCaptureFixture) -> None:
    robot = ball()
    rows = ConstraintSet(robot, [PointContact(robot, "ball", [0.0, 0.0, 1.0], name="floor")])
    options = SimulationOptions(correction="baumgarte")
    for kp, said in ((0.0, []), (100.0, ["position gains that act on nothing, for want of an anchor: floor"])):
        with caplog.at_level(logging.WARNING):
            simulate(rows.stabilised(Baumgarte(kp, 20.0)), [0.3], [0.0], 0.1, 0.01, options=options)
        assert [line.removeprefix("motion: ") for line in caplog.messages] == said


def test_a_column_that_there_is_not_is_answered_with_the_nearest() -> None:
    columns = simulate(LOOP, CLOSED, STILL, 0.01).series()
    assert isinstance(columns, dict)
    with pytest.raises(UnknownNameError, match="q left_inner"):
        _ = columns["left_inner"]


def test_an_exception_of_a_law_names_the_law() -> None:
    """The exception of a user's law was bare."""

    def broken(q: float, v: float) -> float:
        return {"a": 1.0}["k"] * q * v

    law = Forces(ROBOT, [JointLaw(ROBOT, "left_inner", broken)])
    with pytest.raises(KeyError) as caught:
        simulate(LOOP, CLOSED, STILL, 0.01, forces=law)
    assert "raised by the law at joint 'left_inner'" in caught.value.__notes__


def test_a_stiff_spring_has_no_wrong_sign() -> None:
    """A spring of 1e9 N/m gave 4.6e7 J, as it has, and was told that its sign is wrong; the motion ended too early."""
    rows, robot = upright()
    spring = PointSpring(robot, "left_inner_end", "right_inner_end", stiffness=1e9, length=0.3)
    record = simulate(rows, CLOSED, STILL, 0.1, 0.01, forces=[spring])
    assert not record.success
    assert "sign is wrong" not in record.describe()


def test_forces_are_laws_one_or_several() -> None:
    """`forces=[spring]` was refused: "expected a function f(motion)"."""
    rows, robot = upright()
    spring = PointSpring(robot, "left_inner_end", "right_inner_end", stiffness=20.0, length=0.3)
    ends = [
        simulate(rows, CLOSED, STILL, 0.05, 0.01, forces=f).qs[-1] for f in (spring, [spring], Forces(robot, [spring]))
    ]
    assert np.array_equal(ends[0], ends[2])
    assert np.array_equal(ends[1], ends[2])
    with pytest.raises(WrongObjectError, match="expected a function"):
        simulate(rows, CLOSED, STILL, 0.05, 0.01, forces=20.0)  # pyright: ignore[reportArgumentType]

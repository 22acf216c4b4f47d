"""What actions and their balances say of arguments that are legal and hardly meant."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.test_stances import box, rest

from constraints import Robot, actions, loops
from constraints.dynamics import DynamicsStatus
from constraints.errors import OptionError
from constraints.interop import MultipleShooting
from constraints.models import mechanisms
from constraints.robot import Frame

LINKAGE = mechanisms.five_bar()
ROBOT, CLOSED = LINKAGE.robot, LINKAGE.posture("closed")


def linkage_action() -> actions.ContactForwardDynamics:
    motors = actions.Actuators.joints(ROBOT, LINKAGE.motors)
    return actions.ContactForwardDynamics(ROBOT, motors, LINKAGE.constraint_set().stabilised(0.1))


@pytest.mark.parametrize(("coefficient", "asks"), [(35.0, True), (11.5, True), (1.2, False)])
def test_a_coefficient_that_looks_like_degrees_is_asked_about_once(
    coefficient: float, asks: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            box().quasi_static(rest(box()), cones=coefficient)
    words = [line for line in caplog.messages if "is it in degrees?" in line]
    assert len(words) == int(asks)
    assert all(f"coefficient of a friction cone: {coefficient:g}" in line for line in words)


def test_a_sole_in_millimetres_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        loops.Sole.rectangle(200.0, 120.0)
        loops.Sole.rectangle(200.0, 120.0)
        loops.Sole.rectangle(0.2, 0.12)
        loops.Sole.rectangle(4.0, 4.0)
    assert caplog.messages == ["sole of 200 m by 120 m: is it in millimetres?"]


def test_a_free_base_with_controls_is_asked_about_once_a_robot(caplog: pytest.LogCaptureFixture) -> None:
    """A humanoid was held by the controls of its free joint."""
    robot = box().robot
    with caplog.at_level(logging.WARNING):
        actions.ContactForwardDynamics(robot)
        actions.Actuators.full(robot)
        actions.Actuators.full(ROBOT)
    (line,) = caplog.messages
    assert "its first joint, 'box', is free" in line
    assert "Actuators.floating_base(robot)" in line


def test_an_open_loop_is_said_of_balances_and_nodes() -> None:
    """An open loop was an equilibrium without a word."""
    action, space = linkage_action(), actions.StateSpace(ROBOT)
    apart = space.join(CLOSED + 0.2)
    off = np.linalg.norm(action.constraint_set.position_error(CLOSED + 0.2))
    words = f"at an open state, 'left_outer_end to right_outer_end' is off by {off:.3g}"
    assert words in action.quasi_static(apart).describe()
    assert words in action.calc(apart, [0.0, 0.0]).describe()
    assert words in actions.SemiImplicitEuler(action, 0.01).open_at(apart)
    closed = space.join(CLOSED)
    assert action.quasi_static(closed).opened == action.open_at(closed) == ""
    assert "open state" not in action.calc(closed, [0.0, 0.0]).describe()


def test_a_robot_lifted_off_its_anchor_is_said() -> None:
    base = box()
    robot = base.robot
    held = loops.SurfaceContact(robot, Frame("sole", 1, pin.SE3.Identity()), name="foot").anchored(robot.neutral)
    action = actions.ContactForwardDynamics(robot, base.actuators, loops.ConstraintSet(robot, [held]))
    q = robot.neutral.copy()
    assert action.quasi_static(action.state.join(q), cones=0.7).opened == ""
    q[2] += 0.5
    assert "'foot' is off by 0.5" in action.quasi_static(action.state.join(q), cones=0.7).describe()


def test_controls_beyond_the_effort_limits_are_named() -> None:
    model: Any = pin.Model(ROBOT.model)
    model.upperEffortLimit, model.lowerEffortLimit = np.full(4, 0.1), np.full(4, -0.1)
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    robot = Robot(model)
    rows = loops.ConstraintSet(
        robot, [loops.Closure(robot, "left_outer_end", "right_outer_end", loops.Hinge.pin(), name="tip")]
    )
    motors = actions.Actuators.joints(robot, LINKAGE.motors)
    held = actions.ContactForwardDynamics(robot, motors, rows).quasi_static(actions.StateSpace(robot).join(CLOSED))
    assert [each.name for each in held.beyond_limits] == list(LINKAGE.motors)
    assert f"'left_inner' {held.u[0]:.4g} (limit -0.1)" in held.describe()
    easy = actions.ContactForwardDynamics(
        ROBOT, actions.Actuators.joints(ROBOT, LINKAGE.motors), LINKAGE.constraint_set()
    )
    assert easy.quasi_static(actions.StateSpace(ROBOT).join(CLOSED)).beyond_limits == ()


def test_numbers_go_along_the_normal_of_the_cone() -> None:
    """A cone that pointed into the ground gave no equilibrium, beside numbers along z that fitted."""
    found = box().quasi_static(rest(box()), cones=loops.FrictionCone(0.7, [0.0, 0.0, -1.0]))
    assert found.status is DynamicsStatus.NOT_ADMISSIBLE
    assert "-19.62 N along its normal (0, 0, -1) in the world, friction needed inf" in found.describe()
    up = box().quasi_static(rest(box()), cones=0.7)
    assert "19.62 N along its normal, friction" in up.describe()


def test_the_direction_of_a_normal_is_said_in_the_world() -> None:
    action = box(points=[(0.0, 0.0)])
    robot = action.robot
    tilted = Frame("tilted", 1, pin.SE3(pin.rpy.rpyToMatrix(0.0, np.pi / 2, 0.0), np.zeros(3)))
    held = loops.PointContact(robot, tilted, axes=loops.Axes.LOCAL, name="tilted")
    still = actions.ContactForwardDynamics(robot, action.actuators, loops.ConstraintSet(robot, [held]))
    found = still.quasi_static(rest(still))
    assert "along its normal (1, 0, 2.2e-16) in the world" in found.describe()
    np.testing.assert_allclose(found.loads["tilted"].normal, [1.0, 0.0, 0.0], atol=1e-12)


def test_how_far_a_centre_of_pressure_is_outside_is_said() -> None:
    action = box(at=(0.109, 0.0))
    found = action.quasi_static(rest(action), soles={"sole": loops.Sole.rectangle(0.2, 0.12)})
    assert found.status is DynamicsStatus.NOT_ADMISSIBLE
    assert found.loads["sole"].outside == pytest.approx(0.009)
    assert "centre of pressure (0.109, 0) m, 0.009 m outside its sole" in found.describe()
    wide = action.quasi_static(rest(action), soles={"sole": loops.Sole.rectangle(0.4, 0.12)})
    assert "outside" not in wide.describe()


def test_shooting_from_or_to_an_open_state_says_so() -> None:
    """CONVERGED from a start whose loop was open by 0.18 m, and no word of a goal with an open loop."""
    action, space = linkage_action(), actions.StateSpace(ROBOT)
    apart = space.join(CLOSED + 0.2)
    found = MultipleShooting([actions.SemiImplicitEuler(action, 0.01)] * 3, action, apart).minimize()
    assert found.success
    assert "start: at an open state, 'left_outer_end to right_outer_end' is off by" in str(found)
    goal = actions.StageConstraint(action.stage.states(), reference=apart, name="goal")
    last = actions.ContactForwardDynamics(ROBOT, action.actuators, action.constraint_set, constraints=[goal])
    steps = [actions.SemiImplicitEuler(action, 0.02)] * 2
    never = MultipleShooting(steps, last, space.join(CLOSED)).minimize(max_iterations=5)
    assert not never.success
    assert never.opened[0].startswith("'goal': at an open state")
    assert len(never.opened) == 1


def test_a_sole_of_a_point_is_refused_whether_there_is_an_equilibrium_or_not() -> None:
    """It was seen only where controls and contacts could hold the robot."""
    action = box(points=[(0.0, 0.0)])
    hanging = action.switched(off=["p0"])
    for each in (action, hanging):
        with pytest.raises(OptionError, match="sole of 'p0': it is no SurfaceContact"):
            each.quasi_static(rest(each), soles={"p0": loops.Sole.rectangle(0.2, 0.1)})


@pytest.mark.parametrize(("time", "step", "asks"), [(0.1, 0.01, False), (0.001, 0.01, True), (0.001, 0.001, False)])
def test_gains_too_large_for_a_step_are_named(
    time: float, step: float, asks: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Roots at 1/T: explicit steps of ten times T blow up."""
    action = actions.ContactForwardDynamics(ROBOT, None, LINKAGE.constraint_set().stabilised(time))

    def said() -> list[str]:
        return [line for line in caplog.messages if f"are too large for steps of {step:g} s" in line]

    with caplog.at_level(logging.WARNING):
        for n in range(2):
            node = actions.SemiImplicitEuler(action, step)
            node.calc(node.state.zero)
            assert len(said()) == int(asks and n > 0)  # a terminal node takes no step
            node.calc(node.state.zero, np.zeros(node.nu))
    assert len(said()) == int(asks)


def test_gains_of_a_contact_without_an_anchor_are_named(caplog: pytest.LogCaptureFixture) -> None:
    contact = loops.PointContact(ROBOT, "left_outer_end", name="without anchor")
    rows = loops.ConstraintSet(ROBOT, [contact], {contact: loops.Baumgarte(100.0, 20.0)})
    with caplog.at_level(logging.WARNING):
        held = contact.anchored(CLOSED)
        anchored = loops.ConstraintSet(ROBOT, [held], {held: loops.Baumgarte(100.0, 20.0)})
        for each in (rows, anchored):
            node = actions.SemiImplicitEuler(actions.ContactForwardDynamics(ROBOT, None, each), 0.01)
            node.calc(node.state.join(CLOSED), np.zeros(node.nu))
    (line,) = [line for line in caplog.messages if "for want of an anchor" in line]
    assert (
        "SemiImplicitEuler of 0.01 s: position gains that act on nothing, for want of an anchor: without anchor" in line
    )

"""Springs, dampers and other laws in nodes: accelerations of forward dynamics, derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from actions.test_redundant import LEFT, RIGHT, slopes_agree, soles, state_near, walking

from constraints import actions
from constraints.dynamics import (
    ExternalForce,
    FunctionSpring,
    HingeSpring,
    JointLaw,
    JointSpring,
    PointSpring,
    forward_dynamics,
)
from constraints.errors import WrongObjectError
from constraints.functions import Position
from constraints.loops import Axes, ConstraintSet
from constraints.models import mechanisms, sample_arm


def arm() -> tuple[Any, list[Any], Any]:
    """Without contacts, with laws of each kind."""
    robot = sample_arm()
    joint = robot.joint_names[2]
    laws: list[Any] = [
        JointSpring(robot, joint, 30.0, 2.0, rest=0.3),
        PointSpring(robot, "tool", None, 200.0, 5.0, 0.4),
        FunctionSpring(Position(robot, "elbow"), [10.0, 20.0, 30.0], 1.0, rest=[0.1, 0.0, 0.3]),
        ExternalForce("tool", [1.0, -2.0, 3.0, 0.1, 0.2, 0.3]),
    ]
    return (
        actions.ContactForwardDynamics(robot, external=laws, with_force_derivatives=True),
        laws,
        robot.reference("home"),
    )


def walker(axes: Axes) -> tuple[Any, list[Any], Any]:
    """On two soles, by pinocchio's own contacts; springs in all joints of the legs and between the feet."""
    rows = soles(LEFT, RIGHT, axes=axes)
    robot = rows.robot
    laws: list[Any] = [JointSpring(robot, name, 40.0, 3.0, rest=0.1) for name in robot.joint_names[1:]]
    laws.append(PointSpring(robot, LEFT, RIGHT, 500.0, 10.0, 0.1))
    return walking(rows, external=laws), laws, robot.neutral


def loop() -> tuple[Any, list[Any], Any]:
    """A four-bar with a spring at its closure."""
    four = mechanisms.four_bar()
    closures: Any = four.closures
    laws: list[Any] = [HingeSpring(closures[0], 5.0, 0.3), JointSpring(four.robot, "crank", 2.0, 0.1)]
    made = actions.ContactForwardDynamics(
        four.robot, None, four.constraint_set().stabilised(0.1), external=laws, with_force_derivatives=True
    )
    return made, laws, four.posture("closed")


CASES = {
    "arm": arm,
    "pinocchio's contacts": lambda: walker(Axes.LOCAL),
    "turned contacts": lambda: walker(Axes.LOCAL_WORLD_ALIGNED),
    "loop": loop,
}


@pytest.mark.parametrize("case", CASES)
def test_laws_act_in_a_node_with_exact_derivatives(case: str) -> None:
    action, laws, q = CASES[case]()
    x, u = state_near(action, q, 0.1, 1)
    done, motion = action.calc(x, u).or_raise(), action.robot.at(*action.state.split(x))
    known = forward_dynamics(action.constraint_set, motion, action.actuators.tau(motion.q, u), external=laws)
    np.testing.assert_allclose(done.acceleration, known.acceleration, atol=1e-9 * np.abs(known.acceleration).max())
    without = action.replace(external=()).calc(x, u).acceleration
    assert np.abs(done.acceleration - without).max() > 0.1
    assert slopes_agree(action, x, u).has_exact_derivatives
    for kind in (actions.SemiImplicitEuler, actions.RungeKutta4):
        slopes_agree(kind(action, 0.01), x, u)


def test_what_has_no_formula_is_named() -> None:
    robot = sample_arm()
    law = JointLaw(robot, robot.joint_names[0], lambda q, v: -3.0 * np.sin(q) - 0.2 * v)
    action = actions.ContactForwardDynamics(robot, external=[law])
    x, u = state_near(action, robot.reference("home"), 0.1, 2)
    found = slopes_agree(action, x, u, 1e-6)
    assert found.by_differences == ("external force 0 (JointLaw)",)
    assert "external: JointLaw" in action.describe()
    with pytest.raises(WrongObjectError, match="external force 0"):
        actions.ContactForwardDynamics(robot, external=[3])  # pyright: ignore[reportArgumentType]


def test_springs_carry_their_part_of_an_equilibrium() -> None:
    robot = sample_arm()
    laws = [JointSpring(robot, name, 20.0, 1.0) for name in robot.joint_names]
    action = actions.ContactForwardDynamics(robot, constraint_set=ConstraintSet(robot, []), external=laws)
    q = robot.reference("home")
    found = action.quasi_static(action.state.join(q)).or_raise()
    at_rest = forward_dynamics(action.constraint_set, robot.at(q, np.zeros(robot.nv)), found.u, external=laws)
    np.testing.assert_allclose(at_rest.acceleration, 0.0, atol=1e-8)
    held = robot.at(q, np.zeros(robot.nv)).bias_force() + 20.0 * q
    np.testing.assert_allclose(found.u, held, atol=1e-9)

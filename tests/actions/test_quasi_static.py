"""Controls that hold a robot at rest.

Case 16 of the acceptance list of contact dynamics (case 6 is in `test_stored.py`). Oracle: pinocchio's gravity, and the
equation of balance.
"""

# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOptionalOperand=false
# pyright: reportOptionalCall=false, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.dense import error
from actions.test_stored import anymal
from robots import needs_robot_data, panda

from constraints.actions import ContactForwardDynamics
from constraints.errors import FailedError, OptionError, SizeError, UnknownNameError, WrongObjectError
from constraints.loops import ConstraintSet, Form, SurfaceContact


def state() -> Any:
    action = anymal()
    return action.state.join(action.robot.random(np.random.default_rng(3)))


def test_no_equilibrium_is_said() -> None:
    """ANYmal on one foot: Crocoddyl gives a torque, and the robot accelerates by 161."""
    action = anymal().switched(on=["LF_FOOT"])
    found = action.quasi_static(state())
    assert not found.success
    assert found.residual > 1.0
    assert found.residual == np.abs(found.missing).max()
    first, force = next(iter(found.unbalanced.items()))
    assert f"{abs(force):.3g} N or N m, at '{first}' {force:.3g}, '" in str(found)
    column = action.robot.velocity_slice_of(first.split("[")[0]).start + int(first.split("[")[1][:-1])
    assert found.missing[column] == force
    assert abs(force) == found.residual
    with pytest.raises(FailedError, match="no equilibrium") as caught:
        found.or_raise()
    assert caught.value.result is found
    assert np.array_equal(found.multipliers[3:], np.zeros(9))


def test_balance_holds_with_the_multipliers() -> None:
    action, x = anymal(), state()
    found = action.quasi_static(x).or_raise()
    q, _ = action.state.split(x)
    J = action.constraint_set.jacobian(q)
    gravity = pin.computeGeneralizedGravity(action.robot.model, action.robot.model.createData(), q)
    assert error(action.actuators.tau(q, found.u) + J.T @ found.multipliers, gravity) < 1e-9
    assert np.abs(action.calc(x, found.u).acceleration).max() < 1e-8


def arm_in_contact() -> tuple[ContactForwardDynamics, Any, Any]:
    robot = panda()
    contact = SurfaceContact(robot, "panda_hand_tcp", form=Form.RATES, name="hand")
    action = ContactForwardDynamics(robot, None, ConstraintSet(robot, [contact]))
    q = robot.random(np.random.default_rng(0))
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    return action, action.state.join(q), gravity


@needs_robot_data
@pytest.mark.parametrize("weight", [1e9, np.inf])
def test_weights_of_forces_against_torques(weight: float) -> None:
    """The limit of heavy forces is the pure torque of gravity, to 1e-9; without weights the contact carries a part."""
    action, x, gravity = arm_in_contact()
    assert error(action.quasi_static(x, weights={"multipliers": weight}).or_raise().u, gravity) < 1e-9
    assert error(action.quasi_static(x).or_raise().u, gravity) > 0.1


@needs_robot_data
def test_weights_are_those_of_the_least_norm() -> None:
    """Optimal: the weighted solution has no part along motions of (u, lambda) that keep the balance."""
    action, x, _ = arm_in_contact()
    w_u, w_l = np.linspace(1.0, 3.0, 9), np.linspace(0.5, 2.0, 6)
    found = action.quasi_static(x, weights={"controls": w_u, "multipliers": w_l}).or_raise()
    A = np.hstack([np.eye(9), action.constraint_set.jacobian(action.state.split(x)[0]).T])
    free = np.linalg.svd(A)[2][9:]
    W = np.concatenate([w_u, w_l]) ** 2
    assert np.abs(free @ (W * np.concatenate([found.u, found.multipliers]))).max() < 1e-9


@pytest.mark.parametrize(
    ("change", "error_type", "said"),
    [
        ({"weights": {"torques": 1.0}}, UnknownNameError, "torques"),
        ({"weights": {"controls": 0.0}}, OptionError, "positive"),
        ({"weights": {"controls": np.nan}}, OptionError, "positive"),
        ({"weights": {"controls": np.ones(3)}}, SizeError, "controls"),
        ({"weights": [1.0]}, WrongObjectError, "weights"),
        ({"tolerance": -1.0}, WrongObjectError, "tolerance"),
        ({"max_iterations": -1}, SizeError, "iterations"),
    ],
)
def test_bad_options_are_named(change: Any, error_type: type[Exception], said: str) -> None:
    with pytest.raises(error_type, match=said):
        anymal().quasi_static(state(), **change)


def test_a_state_that_moves_is_refused() -> None:
    """Crocoddyl ignores velocities."""
    x = state()
    x[-1] = 0.1
    with pytest.raises(OptionError, match="expected no velocity"):
        anymal().quasi_static(x)

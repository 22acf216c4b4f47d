"""What is said of states that are off their constraints, and that the numbers are those of the state."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from dynamics.motions.test_integration import arm_that_is_pulled, falling_bars

from constraints import Robot
from constraints.dynamics import MotionStatus, SimulationOptions, forward_dynamics, impact, inverse_dynamics, simulate
from constraints.errors import NoAttributeError
from constraints.loops import ConstraintSet
from constraints.robot import Motion


def test_forward_dynamics_at_an_open_state_says_so() -> None:
    """It succeeded without a word; one line, with error and rate, and none at a closed state."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    robot = rows.robot
    closed = forward_dynamics(rows, robot.at(q, np.zeros(4)))
    assert "open" not in closed.describe()
    apart_at = q + np.array([0.05, 0.0, 0.0, 0.0])
    apart = forward_dynamics(rows, robot.at(apart_at, np.zeros(4)))
    (line,) = [line for line in apart.describe().splitlines() if "open state" in line]
    error = np.linalg.norm(rows.position_error(apart_at))
    assert f"'pin' is off by {error:.3g}, its rate by 0" in line
    moving = forward_dynamics(rows, robot.at(q, [1.0, 0.0, 0.0, 0.0]))
    rate = np.linalg.norm(rows.velocity_error(q, np.array([1.0, 0.0, 0.0, 0.0])))
    assert f"its rate by {rate:.3g}: close it first" in moving.describe()


@pytest.mark.parametrize("gap", [3.5e-7, 1e-5])
def test_failed_projection_names_the_error_of_the_state(gap: float) -> None:
    """At 0 s it named the error of the place where the failed projection had ended, up to a million times as large."""
    rows, _, _ = arm_that_is_pulled(1.0)
    q = np.array([1e-4, -2e-4])
    record = simulate(rows, q, np.zeros(2), 0.01, 0.005, options=SimulationOptions(start=1.0 + gap, open_start=True))
    assert record.status is MotionStatus.NOT_PROJECTED
    off = float(record.reason.split("is off by ")[1].split(",")[0])
    assert off <= 1.01 * np.abs(rows.position_error(q, rows.rhs_at(1.0 + gap))).max()


def test_results_without_a_report_do_not_point_to_one() -> None:
    """`save` of a motion or an impact named `report(path)`, which they do not have."""
    rows, q = falling_bars()
    result = impact(rows, rows.robot.at(q, np.zeros(4)))
    with pytest.raises(NoAttributeError) as caught:
        _ = result.save  # type: ignore[attr-defined]
    assert "report" not in str(caught.value)


def test_efforts_beyond_the_limits_of_the_model_are_named() -> None:
    """They were given in silence: an actuator of 1 N m that is asked for more."""
    model = pin.Model()
    for i in range(2):
        joint = model.addJoint(i, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * i])), f"joint{i}")
        inertia = pin.Inertia(1.0, np.array([0.25, 0.0, 0.0]), 0.02 * np.eye(3))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    model.upperEffortLimit = np.array([1.0, 100.0])
    model.lowerEffortLimit = np.array([-1.0, -100.0])
    robot = Robot(model)
    rows, motion = ConstraintSet(robot, []), robot.at(np.zeros(2), np.zeros(2))
    found = inverse_dynamics(rows, motion, np.zeros(2), actuated=robot.joint_names).or_raise()
    (beyond,) = found.beyond_limits
    assert (beyond.name, beyond.limit) == ("joint0", -1.0)
    assert beyond.effort == pytest.approx(found.effort_of("joint0")[0])
    assert f"beyond the effort limits of the model: 'joint0' {beyond.effort:.4g} (limit -1)" in found.describe()
    light = inverse_dynamics(rows, motion, motion_free(motion), actuated=robot.joint_names).or_raise()
    assert light.beyond_limits == ()
    assert "limits" not in light.describe()


def motion_free(motion: Motion) -> np.ndarray:
    """The acceleration without any effort."""
    return np.linalg.solve(motion.mass_matrix(), -motion.bias_force())

"""Joints that are not in depth-first order, which pinocchio's mass matrix and constraint dynamics take for granted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Robot
from constraints.dynamics import DynamicsStatus, Method, MethodError, forward_dynamics
from constraints.loops import Axes, ConstraintSet, Form, PointContact
from constraints.robot.model.inertia import is_depth_first


def two_arms(in_turn: bool) -> Any:
    """Two arms of two joints on a slider; joints of both in turn, or one arm after the other. Armature everywhere."""
    model = pin.Model()
    step = pin.SE3(np.eye(3), np.array([0.4, 0.1, 0.2]))
    base = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "base")
    index = {"": base}
    for name in ("a", "b", "aa", "bb") if in_turn else ("a", "aa", "b", "bb"):
        joint = pin.JointModelRY() if name in ("a", "bb") else pin.JointModelRZ()
        index[name] = model.addJoint(index[name[1:]], joint, step, name)
    armature = np.zeros(5)
    for i, name in enumerate(("", "a", "aa", "b", "bb")):
        model.appendBodyToJoint(index[name], pin.Inertia.FromBox(1.0 + i, 0.1, 0.2, 0.3), step)
        armature[index[name] - 1] = 0.1 * (1 + i)
    model.armature = armature
    model.lowerPositionLimit, model.upperPositionLimit = np.full(5, -np.inf), np.full(5, np.inf)
    return model


def state(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    return rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal(n)


@pytest.mark.parametrize("in_turn", [False, True])
def test_the_mass_matrix_is_that_of_inverse_dynamics(in_turn: bool) -> None:
    """Found at random trees: columns of M are differences of RNEA; `crba` mixes branches that are not contiguous."""
    model = two_arms(in_turn)
    assert is_depth_first(model) is not in_turn
    robot, data = Robot(model), model.createData()
    q, v, _ = state(np.random.default_rng(1), 5)
    rest = pin.rnea(model, data, q, np.zeros(5), np.zeros(5)).copy()
    M = np.array([pin.rnea(model, data, q, np.zeros(5), e) - rest for e in np.eye(5)]).T
    assert np.abs(robot.at(q, v).mass_matrix() - M).max() < 1e-12


def test_order_of_joints_changes_no_acceleration() -> None:
    """Found at random trees: the same robot, its joints in another order, by every method that takes it."""
    rng = np.random.default_rng(2)
    q, v, tau = state(rng, 5)
    found = []
    for in_turn in (False, True):
        robot = Robot(two_arms(in_turn))
        order = [robot.joint_names.index(name) for name in ("base", "a", "aa", "b", "bb")]
        own = [np.empty(5) for _ in range(3)]
        for mine, given in zip(own, (q, v, tau), strict=True):
            mine[order] = given
        contact = PointContact(robot, "aa", axes=Axes.LOCAL, form=Form.RATES, name="tip")
        rows = ConstraintSet(robot, [contact])
        motion = robot.at(own[0], own[1])
        for method in (Method.AUTOMATIC, Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE, Method.TEST_FORCES):
            result = forward_dynamics(rows, motion, own[2], method=method)
            assert result.status is DynamicsStatus.RANK_DEFICIENT  # the joint under the contact does not move it
            found.append((result.acceleration[order], result.multipliers))
    for a, lam in found:
        assert np.abs(a - found[0][0]).max() < 1e-9
        assert np.abs(lam - found[0][1]).max() < 1e-9


def test_the_proximal_method_refuses_such_robots() -> None:
    """Found at random trees: pinocchio's constraint dynamics are wrong there, and say nothing."""
    robot = Robot(two_arms(True))
    rows = ConstraintSet(robot, [PointContact(robot, "aa", axes=Axes.LOCAL, form=Form.RATES, name="tip")])
    with pytest.raises(
        MethodError, match="does not support 'tip': the joints of the robot are not in depth-first order"
    ):
        forward_dynamics(rows, robot.at(robot.neutral, np.zeros(5)), method=Method.PROXIMAL)

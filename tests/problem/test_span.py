"""Spans of revolute joints: what no configuration reaches is too far, and nothing else is."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from explicit_samples import arm_and_box

from constraints import Implicit, Problem, Robot, Transformation, explicit_relative_pose, locked_joint
from constraints.functions import Identity
from constraints.problem.span import Span, spans_of
from liegroups import Rn
from liegroups.arrays import Vector


def grasped(robot: Robot) -> tuple[Problem, Span]:
    """The gripper at the handle of a box that stays where it is."""
    held = Implicit.zero(Transformation(robot, "handle", reference="gripper"))
    still = locked_joint(robot, "box/root_joint")
    problem = Problem(robot, [held, still])
    (span,) = spans_of(problem)
    return problem, span


def with_box_at(robot: Robot, q: Vector, gripper: pin.SE3, away: Vector) -> Vector:
    """The configuration with the handle where the gripper is, and then shifted."""
    q = q.copy()
    handle = gripper * robot.frame("handle").placement.inverse()
    q[robot.slice_of("box/root_joint")] = pin.SE3ToXYZQUAT(pin.SE3(handle.rotation, handle.translation + away))
    return q


def test_what_an_arm_reaches_is_never_too_far() -> None:
    """The box is put where the gripper is at one configuration, and seen from any other one; far away it is too far."""
    robot, rng = arm_and_box(), np.random.default_rng(0)
    _, span = grasped(robot)
    for _ in range(300):
        one, other = robot.random(rng), robot.random(rng)
        gripper = robot.at(one).placement("gripper")
        assert not span.is_too_short(robot.at(with_box_at(robot, other, gripper, np.zeros(3))), 0.0)
        far = rng.standard_normal(3)
        far *= 20.0 / np.linalg.norm(far)
        assert span.is_too_short(robot.at(with_box_at(robot, other, gripper, far)), 1e-4)


def test_the_limit_is_where_a_stretched_chain_ends() -> None:
    """Two links of one metre and a hand on a plane: points within two metres are within its span, others are not."""
    model = pin.Model()
    place = [pin.SE3.Identity(), pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))]
    first = model.addJoint(0, pin.JointModelRZ(), place[0], "first")
    second = model.addJoint(first, pin.JointModelRZ(), place[1], "second")
    hand = model.addJoint(second, pin.JointModelRZ(), place[1], "hand")
    box = model.addJoint(0, pin.JointModelFreeFlyer(), place[0], "box")
    model.addFrame(pin.Frame("tool", hand, 0, pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    model.addFrame(pin.Frame("handle", box, 0, place[0], pin.FrameType.OP_FRAME))
    robot = Robot(model)
    wanted = Implicit.zero(Transformation(robot, "handle", reference="tool"))
    (span,) = spans_of(Problem(robot, [wanted, locked_joint(robot, "box")]))
    for x, too_far in ((2.2999, False), (2.3001, True)):  # the hand is 0.3 m before its tool
        q = robot.neutral.copy()
        q[3] = x
        assert span.is_too_short(robot.at(q), 0.0) == too_far
        assert not span.is_too_short(robot.at(q), 1e-3)


def test_only_revolute_joints_and_whole_poses_are_judged() -> None:
    robot = arm_and_box()
    held = Implicit.zero(Transformation(robot, "handle", reference="gripper"))
    assert not spans_of(Problem(robot, [held]))  # the box moves
    carried = explicit_relative_pose(robot, "elbow", "box/root_joint")
    assert not spans_of(Problem(robot, [held, carried]))
    some = Implicit.zero(Transformation(robot, "handle", reference="gripper"), mask=[True] * 5 + [False])
    still = locked_joint(robot, "box/root_joint")
    assert not spans_of(Problem(robot, [some, still]))
    given = Implicit.equal(Transformation(robot, "handle", reference="gripper"), np.full(6, 0.1))
    assert not spans_of(Problem(robot, [given, still]))
    assert spans_of(Problem(Rn(1), [Implicit.zero(Identity(Rn(1)))])) == []

"""Bounds while solving: kept by every iterate, met exactly, wrapped by whole turns only where that is allowed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, needs_robot_data, pr2, two_arms, ur5

from constraints import Affine, Bounds, Function, Implicit, Options, Pose, Position, Problem, Projector, Robot, Status
from constraints.functions import Identity
from liegroups import SE2, SE3, SO2, SO3, Rn

TURN = 2.0 * np.pi


def spinner(lower: float, upper: float, *, alone: bool = False) -> Robot:
    """A revolute joint about z with a tip at radius 1, and a joint beside it that does not move the tip."""
    model: Any = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "spin")
    if not alone:
        model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "idle")
    tip = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    model.addFrame(pin.Frame("tip", joint, 0, tip, pin.FrameType.OP_FRAME))
    return Robot(model).with_bounds({"spin": (lower, upper)})


def tip_at(robot: Robot, angle: float) -> Implicit:
    return Implicit.equal(Position(robot, "tip"), [np.cos(angle), np.sin(angle), 0.0], mask=[1, 1, 0])


# Kept by every iterate


@pytest.mark.parametrize("options", [Options(trace=True), Options.local(trace=True)], ids=["restarts", "local"])
def test_every_iterate_is_within_bounds(options):
    """DESIGN 3.7: every iterate of a trace is within the bounds that steps keep, in reach of the goal or not."""
    robot, rng = two_arms(), np.random.default_rng(90)
    grip = Pose(robot, "right_tool", reference="left_tool")
    far = Implicit.equal(Position(robot, "left_tool"), [2.0, 2.0, 2.0])
    at_bound = 0
    for c in (Implicit.equal(grip, grip.value(robot.reference("home"))), far):
        projector = Projector(Problem(robot, [c]), options)
        for _ in range(20):
            result = projector.project(robot.random(rng))
            assert result.trace is not None
            for step in result.trace:
                assert (step.q >= robot.bounds.lower).all()
                assert (step.q <= robot.bounds.upper).all()
            assert robot.bounds.contains(result.q)
            at_bound += len(result.active_bounds)
    assert at_bound > 0  # bounds had something to do


@needs_robot_data
def test_every_iterate_of_pr2_is_within_bounds():
    """DESIGN 3.7: with prismatic, revolute and (cos, sin) joints; those that wrap are free until the end."""
    robot, rng = pr2(), np.random.default_rng(91)
    grip = Pose(robot, "r_wrist_roll_joint", reference="l_wrist_roll_joint")
    problem = Problem(robot, [Implicit.equal(grip, [0.0, -0.3, 0.0, 0.0, 0.0, 0.0, 1.0])])
    projector = Projector(problem, Options(trace=True))
    kept = np.ones(robot.nq, dtype=bool)
    kept[robot.space.vector_q] = ~problem.wraps[robot.space.vector_v]
    for _ in range(20):
        result = projector.project(robot.random(rng))
        assert result.trace is not None
        for step in result.trace:
            assert (step.q >= robot.bounds.lower)[kept].all()
            assert (step.q <= robot.bounds.upper)[kept].all()
        assert robot.bounds.contains(result.q)


def test_a_bound_is_met_exactly():
    """DESIGN 3.7: a dof that would leave is *set* to its bound, bit for bit (q + (hi - q) is not always hi); the others
    make up for it."""
    rng = np.random.default_rng(92)
    for _ in range(200):
        upper = rng.uniform(0.0, 1.0, 3)
        lower = upper - rng.uniform(0.5, 2.0, 3)
        goal = float(upper.sum() - rng.uniform(0.0, 0.2))
        problem = Problem(Rn(3), [Implicit.zero(Affine([[1.0, 1.0, 1.0]], -goal))], Bounds(Rn(3), lower, upper))
        result = Projector(problem, Options(trace=True, restarts=False)).project(rng.uniform(lower, upper))
        assert result.success
        assert ((lower <= result.q) & (result.q <= upper)).all()
        assert len(result.active_bounds) == (result.q == upper).sum() + (result.q == lower).sum()
        near = np.abs(result.q - upper) < 1e-12
        np.testing.assert_array_equal(result.q[near], upper[near])


def test_what_a_bound_takes_the_others_give():
    """DESIGN 3.7: saturate and redistribute: with two dofs at their bounds one step still reaches a linear goal."""
    bounds = Bounds(Rn(3), [-1.0, -1.0, -9.0], [0.1, 0.2, 9.0])  # type: ignore[arg-type]
    problem = Problem(Rn(3), [Implicit.zero(Affine([[1.0, 1.0, 1.0]], -3.0))], bounds)
    result = Projector(problem, Options(cap=10.0, damping=0.0, restarts=False)).project([0.0, 0.0, 0.0])
    assert result.success
    assert result.q[:2].tolist() == [0.1, 0.2]
    assert result.iterations == 1
    assert result.q[2] == pytest.approx(2.7, abs=1e-9)
    assert result.active_bounds == ("R3[0] at its upper bound", "R3[1] at its upper bound")


def test_a_dof_at_its_bound_is_released():
    """DESIGN 3.7: the set is rebuilt at each iteration: a start at the wrong bound leaves it."""
    bounds = Bounds(Rn(2), np.zeros(2), np.ones(2))
    curve = Function.from_callable(
        lambda q: [q[0] - 0.5, q[1] - (q[0] - 0.5) ** 2 - 0.25], Rn(2), Rn(2), lambda q: [[1, 0], [1 - 2 * q[0], 1]]
    )
    result = Projector(Problem(Rn(2), [Implicit.zero(curve)], bounds), Options(restarts=False)).project([0.0, 1.0])
    assert result.success
    np.testing.assert_allclose(result.q, [0.5, 0.25], rtol=0, atol=1e-4)
    assert result.active_bounds == ()


def test_impossible_within_bounds():
    """Property 15: a goal outside the box ends at its nearest face, STATIONARY, never outside."""
    bounds = Bounds(Rn(2), np.zeros(2), np.ones(2))
    problem = Problem(Rn(2), [Implicit.zero(Affine(np.eye(2), [-2.0, -0.5]))], bounds)
    result = Projector(problem).project([0.2, 0.9])
    assert result.status is Status.STATIONARY
    assert result.q[0] == 1.0
    assert result.q[1] == pytest.approx(0.5, abs=0.05)
    assert result.residual == pytest.approx(1.0, abs=1e-3)
    assert result.active_bounds == ("R2[0] at its upper bound",)


# Wrapping


@pytest.mark.parametrize("start", [0.1, 2.5, 3.1, -3.0, 3.0 + TURN, -9.0, 20.0])
@pytest.mark.parametrize("goal", [0.0, 1.0, 3.0, -3.0, -1.5])
def test_a_full_turn_wraps_into_its_bounds(start, goal):
    """DESIGN 3.7: a revolute joint whose range is a full turn ends within bounds, shifted by whole turns only."""
    robot = spinner(-np.pi, np.pi)
    problem = Problem(robot, [tip_at(robot, goal)])
    assert problem.wraps.tolist() == [True, False]
    result = Projector(problem).project([start, 0.0])
    assert result.success
    assert robot.bounds.contains(result.q)
    assert np.cos(result.q[0] - goal) > 1.0 - 1e-8


def test_a_robot_of_one_joint():
    """DESIGN 2: every kinematic function works on a robot with one dof."""
    robot = spinner(-np.pi, np.pi, alone=True)
    result = Projector(Problem(robot, [tip_at(robot, 1.0)])).project([2.0])
    assert result.success
    assert result.q[0] == pytest.approx(1.0, abs=1e-4)


def test_wrapping_only_where_outside():
    """DESIGN 3.7: within a range of several turns an angle inside its bounds stays on its turn."""
    robot = spinner(-3 * TURN, 3 * TURN)
    for turns in (-2, -1, 0, 1, 2):
        result = Projector(Problem(robot, [tip_at(robot, 0.3)]), Options(restarts=False)).project([turns * TURN, 0.0])
        assert result.success
        assert result.q[0] == pytest.approx(turns * TURN + 0.3, abs=1e-4)
    outside = Projector(Problem(robot, [tip_at(robot, 0.3)])).project([5 * TURN, 0.0])
    assert outside.success
    assert robot.bounds.contains(outside.q)
    assert (outside.q[0] - 0.3) / TURN == pytest.approx(round((outside.q[0] - 0.3) / TURN), abs=1e-4)


def test_wrap_false_never_wraps():
    """DESIGN 3.7: with wrap=False a joint stops at its bound and no iterate jumps by a turn."""
    robot = spinner(-np.pi, np.pi)
    problem, local = Problem(robot, [tip_at(robot, -3.0)]), Options.local(trace=True)
    result = Projector(problem, local).project([3.0, 0.0])
    assert result.trace is not None
    steps = [step.q[0] for step in result.trace]
    assert max(abs(b - a) for a, b in pairwise(steps)) <= 1.5 + 1e-12
    assert all(-np.pi <= x <= np.pi for x in steps)
    assert not result.success
    assert result.q[0] == np.pi
    assert Projector(problem).project([3.0, 0.0]).success


RANGES = [(-3.1, 3.1, False), (-np.pi, np.pi, True), (0.0, TURN - 9e-7, True), (0.0, TURN - 2e-6, False)]


@pytest.mark.parametrize(("lower", "upper", "wraps"), RANGES)
def test_which_ranges_wrap(lower, upper, wraps):
    """DESIGN 3.7: a range of at least 2 pi - 1e-6 wraps, a smaller one does not; prismatic joints never do."""
    robot = spinner(lower, upper)
    assert bool(Problem(robot, [tip_at(robot, 0.0)]).wraps[0]) is wraps
    for start in (lower + 0.1, upper - 0.1):
        result = Projector(Problem(robot, [tip_at(robot, 1.0)])).project([start, 0.0])
        assert result.success
        assert robot.bounds.contains(result.q)


def test_a_coupled_joint_does_not_wrap():
    """DESIGN 2: a joint in a linear coupling is not periodic there: it never wraps, and the coupling holds."""
    robot, rng = (
        arm().with_bounds({"shoulder_yaw": (-np.pi, np.pi), "wrist_roll": (-np.pi, np.pi)}),
        np.random.default_rng(93),
    )
    row = np.zeros((1, 7))
    row[0, [0, 1]] = 1.0, -2.0
    coupling = Implicit.zero(Affine(row, None, robot.space), name="gear")
    goal = Implicit.equal(Position(robot, "tool"), Position(robot, "tool").value(robot.reference("home")))
    problem = Problem(robot, [goal, coupling])
    assert problem.wraps.tolist() == [False] * 6 + [True]
    assert Problem(robot, [goal]).wraps.tolist() == [True] + [False] * 5 + [True]
    projector = Projector(problem)
    for _ in range(40):
        result = projector.project(robot.random(rng))
        if result.success:
            assert abs(result.q[0] - 2.0 * result.q[1]) <= 1e-4
            assert robot.bounds.contains(result.q)


@needs_robot_data
def test_ur5_ends_within_its_turns():
    """Property 14 habit: 100 random poses of UR5, all successes within +-pi."""
    robot, rng = ur5(), np.random.default_rng(94)
    projector = Projector(Problem(robot, [Implicit.equal(Pose(robot, "wrist_3_joint"), name="tool")]))
    successes = 0
    for _ in range(100):
        goal = Pose(robot, "wrist_3_joint").value(robot.random(rng))
        result = projector.project(robot.random(rng), projector.problem.rhs.replace("tool", goal))
        successes += result.success
        if result.success:
            assert robot.bounds.contains(result.q)
    assert successes >= 97


# Bounds of other coordinates (translations of free bodies: test_free_bodies.py)


@pytest.mark.parametrize("group", [SO2, SE2, SO3, SE3], ids=str)
def test_entries_of_unit_vectors_have_no_bounds(group):
    """DESIGN 3.7: whatever is stated for (cos, sin) or a quaternion, every rotation is reached."""
    rng = np.random.default_rng(96)
    bounds = Bounds(group, np.full(group.nq, -0.9), np.full(group.nq, 0.9))
    for _ in range(20):
        goal = group.random(rng, np.full(group.nq, -0.5), np.full(group.nq, 0.5))
        result = Projector(Problem(group, [Implicit.equal(Identity(group), goal)], bounds)).project(group.random(rng))
        assert np.linalg.norm(group.difference(goal, result.q)) <= 1e-4


def test_starts_outside_their_bounds():
    """DESIGN 3.7: a start outside its bounds is not changed; the result is within them, also where no constraint moves
    the joint; one that satisfies the constraints but not the bounds is no solution."""
    robot = arm()
    start = robot.reference("home")
    start[1], start[6] = 2.5, -4.0  # the roll of the wrist does not move the elbow
    before = start.tobytes()
    c = Implicit.equal(Position(robot, "elbow"), Position(robot, "elbow").value(robot.reference("home")))
    for options in (Options(), Options.local()):
        result = Projector(Problem(robot, [c]), options).project(start)
        assert start.tobytes() == before
        assert result.success
        assert robot.bounds.contains(result.q)
        assert result.q[6] == robot.bounds.lower[6]
    outside = robot.reference("home")
    outside[6] = -4.0
    problem = Problem(robot, [c])
    assert problem.is_satisfied(outside, c)
    assert not problem.is_satisfied(outside)
    result = Projector(problem).project(outside)
    assert result.success
    assert result.q.tobytes() != outside.tobytes()
    np.testing.assert_array_equal(result.q[:6], outside[:6])


def test_a_frozen_start_outside_its_bounds():
    """DESIGN 3.9, 3.7: a frozen joint does not move, even into its bounds: the status says that it is outside."""
    robot = arm()
    start = robot.reference("home")
    start[6] = -4.0
    c = Implicit.equal(
        Position(robot, "elbow"), Position(robot, "elbow").value(robot.random(np.random.default_rng(97)))
    )
    result = Projector(Problem(robot, [c], frozen=["wrist_roll"])).project(start)
    assert result.status is Status.OUT_OF_BOUNDS
    assert result.q[6] == -4.0
    assert [violation.joint for violation in result.violations] == ["wrist_roll"]
    assert result.residual <= 1e-4


def test_without_bounds_nothing_is_kept_in():
    """DESIGN 2: `Bounds.none` drops the bounds: solutions may leave them."""
    robot = arm()
    row = np.eye(1, 7)
    c = Implicit.zero(Affine(row, [-3.5], robot.space), name="beyond")
    assert not Projector(Problem(robot, [c])).project(robot.neutral).success
    free = Projector(Problem(robot, [c], Bounds.none(robot.space))).project(robot.neutral)
    assert free.success
    assert free.q[0] == pytest.approx(3.5, abs=1e-4)
    assert Projector(Problem(robot.space, [c])).project(robot.neutral).success


def test_free_flyer_bounds_of_a_humanoid():
    """Property 15: with bounds on its base a humanoid's result is within all bounds, or says that it is not."""
    man, rng = humanoid(), np.random.default_rng(98)
    robot = man.with_bounds({"root_joint": (-0.3, 0.3)})
    foot = Pose(robot, "lleg6_joint")
    projector = Projector(Problem(robot, [Implicit.equal(foot, foot.value(robot.neutral))]))
    for _ in range(20):
        result = projector.project(robot.random(rng))
        assert result.success == (result.residual <= 1e-4 and robot.bounds.contains(result.q))

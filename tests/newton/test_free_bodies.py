"""Translations of free and planar joints and of carried objects in a box: held by the solver, exactly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from robots import arm, humanoid

from constraints import (
    Base,
    Bounds,
    Explicit,
    Function,
    Implicit,
    Options,
    Orientation,
    Part,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Status,
    Transformation,
    explicit_relative_pose,
)
from constraints.models import sample_arm
from constraints.robot.frame_table import FrameKind
from constraints.solvers.step_control import Backtracking
from liegroups import SE3, SO3, Rn

Vector = NDArray[np.float64]
BODY = "<robot name='b'><link name='body'/></robot>"
THRESHOLD = 1e-4


# Robots, and the box of a body in them.


def in_box(robot: Robot, joint: str, middle: Any, side: Any) -> Robot:
    middle, side = np.broadcast_arrays(np.asarray(middle, dtype=float), np.asarray(side, dtype=float))
    return robot.with_bounds({joint: (middle - side, middle + side)})


def block(robot: Robot, joint: str) -> slice:
    factor = next(factor for factor in robot.space.factors if factor.name == joint)
    return slice(factor.q.start, factor.q.start + (3 if factor.space.nv == 6 else 2))


def cart() -> Robot:
    """A planar base with the sample arm on it."""
    model: Any = pin.Model()
    base = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "cart")
    model.addFrame(pin.Frame("deck", base, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return Robot(pin.appendModel(model, sample_arm().model, model.getFrameId("deck"), pin.SE3.Identity()))


def on_a_swing() -> Robot:
    """A free body on a turned and shifted seat of a joint that moves, with a finger on it."""
    model: Any = pin.Model()
    seat = pin.SE3(pin.utils.rotate("x", 0.7), np.array([0.1, 0.2, 0.3]))
    swing = model.addJoint(0, pin.JointModelRZ(), seat, "swing", *(np.full(1, x) for x in (9.0, 9.0, -1.0, 1.0)))
    body = model.addJoint(swing, pin.JointModelFreeFlyer(), seat, "body")
    finger = model.addJoint(body, pin.JointModelRY(), seat, "finger", *(np.full(1, x) for x in (9.0, 9.0, -2.0, 2.0)))
    model.addFrame(pin.Frame("tip", finger, 0, seat, pin.FrameType.OP_FRAME))
    return Robot(model)


def arm_and_object() -> Robot:
    return Robot.system([Part("arm", arm()), Part("box", Robot.from_urdf(BODY, base=Base.FREE_FLYER))], "scene")


SCENES = {
    "humanoid": (humanoid, "root_joint", "rarm6_joint"),
    "cart": (cart, "cart", "tool"),
    "swing": (on_a_swing, "body", "tip"),
}


def pose_by_pinocchio(robot: Robot, frame: str, q: Vector) -> Any:
    model: Any = robot.model
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId(frame)]


def is_inside(robot: Robot, q: Vector) -> bool:
    return bool(((robot.bounds.lower <= q) & (q <= robot.bounds.upper)).all())


def seat_of(robot: Robot, joint: str) -> Any:
    """The frame in which a joint's translation is its coordinates."""
    model: Any = robot.model
    i = model.getJointId(joint)
    return robot.frame(model.names[model.parents[i]], model.jointPlacements[i], kind=FrameKind.JOINT)


def box_row(robot: Robot, joint: str) -> Implicit:
    """The box as a constraint, narrower by the threshold."""
    p = block(robot, joint)
    lower, upper = np.full(3, -np.inf), np.full(3, np.inf)
    lower[: p.stop - p.start], upper[: p.stop - p.start] = robot.bounds.lower[p], robot.bounds.upper[p]
    position = Position(robot, joint, reference=seat_of(robot, joint))
    mask = np.isfinite(lower) | np.isfinite(upper)
    return Implicit.between(position, lower + THRESHOLD, upper - THRESHOLD, mask=mask, name="box")


def unbounded(robot: Robot, joint: str) -> Bounds:
    return robot.bounds.replace({joint: (-np.inf, np.inf)})


# Within reach


@pytest.mark.parametrize("side", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("name", list(SCENES))
def test_poses_that_can_be_reached_in_a_box_are_reached(name: str, side: float) -> None:
    """Mend 18: of 40 starts as many succeed as with the box as rows by hand (one less is noise); each success is inside
    exactly and satisfies the constraint by plain pinocchio, and so is every iterate inside."""
    make, joint, frame = SCENES[name]
    robot, rng = in_box(make(), joint, 0.1, side), np.random.default_rng(18)
    f, p = Pose(robot, frame), block(robot, joint)
    held = Projector(Problem(robot, [Implicit.equal(f, name="goal")]), Options(trace=True))
    rows = Projector(Problem(robot, [Implicit.equal(f, name="goal"), box_row(robot, joint)], unbounded(robot, joint)))
    successes = others = 0
    for _ in range(40):
        start, goal = robot.random(rng), f.value(robot.random(rng))
        result = held.project(start, goal)
        successes += result.success
        others += rows.project(start, rows.problem.rhs.replace("goal", goal)).success
        assert is_inside(robot, result.q)
        for step in result.trace or ():
            assert (robot.bounds.lower[p] <= step.q[p]).all()
            assert (step.q[p] <= robot.bounds.upper[p]).all()
        if result.success:
            error = pin.log6(pin.XYZQUATToSE3(goal).actInv(pose_by_pinocchio(robot, frame, result.q)))
            assert np.linalg.norm(error.vector) <= THRESHOLD * (1.0 + 1e-9)
    assert successes >= max(36, others - 1)


def test_a_start_outside_its_box_is_put_into_it() -> None:
    """Mend 18: also where no constraint moves the body; a start that satisfies all is returned bit for bit."""
    robot, rng = in_box(arm_and_object(), "box/root_joint", 0.0, 0.2), np.random.default_rng(1)
    f = Pose(robot, "arm/tool")
    projector = Projector(Problem(robot, [Implicit.equal(f, f.value(robot.random(rng)))]))
    start = robot.random(rng)
    start[block(robot, "box/root_joint")] = 0.5, -3.0, 0.1
    result = projector.project(start)
    assert result.success
    assert result.q[block(robot, "box/root_joint")].tolist() == [0.2, -0.2, 0.1]
    again = projector.project(result.q)
    assert again.iterations == 0
    assert again.q.tobytes() == result.q.tobytes()


@pytest.mark.parametrize("name", list(SCENES))
def test_a_solution_at_its_bound_comes_back_bit_for_bit(name: str) -> None:
    """Mend 18, DESIGN 3.2: projection is idempotent at a bound that is met exactly."""
    make, joint, frame = SCENES[name]
    robot, rng = in_box(make(), joint, 0.0, 0.03), np.random.default_rng(2)
    f, p, at = Pose(robot, frame), block(make(), joint), 0
    projector = Projector(Problem(robot, [Implicit.equal(f)]))
    for _ in range(20):
        result = projector.project(robot.random(rng), f.value(robot.random(rng)))
        if result.success:
            again = projector.project(result.q, result.rhs)
            assert again.q.tobytes() == result.q.tobytes()
            at += bool(((result.q[p] == robot.bounds.lower[p]) | (result.q[p] == robot.bounds.upper[p])).any())
            assert len([word for word in result.active_bounds if word.startswith(joint)]) == (
                (result.q[p] == robot.bounds.lower[p]).sum() + (result.q[p] == robot.bounds.upper[p]).sum()
            )
    assert at > 0


@pytest.mark.parametrize("options", [Options(), Options.local(), Options(step_control=Backtracking())], ids=str)
def test_bounds_of_one_axis_leave_the_others_free(options: Options) -> None:
    """Mend 18: one side of one axis: the body goes as far as it must along the others, and not beyond the bound."""
    robot = Robot.from_urdf(BODY, base=Base.FREE_FLYER)
    robot = robot.with_bounds({"root_joint": ([-np.inf, -np.inf, 0.3], np.inf)})
    projector = Projector(Problem(robot, [Implicit.equal(Pose(robot, "body"))]), options)
    rng = np.random.default_rng(3)
    for _ in range(20):
        start = np.r_[rng.uniform(-3, 3, 2), rng.uniform(0.3, 2), SO3.random(rng)]
        reached = projector.project(start, np.r_[rng.uniform(-3, 3, 2), 0.3, SO3.random(rng)])
        assert reached.success
        below = np.r_[rng.uniform(-3, 3, 2), 0.1, SO3.random(rng)]
        result = projector.project(start, below)
        assert not result.success
        assert result.q[2] == 0.3
        np.testing.assert_allclose(result.q[:2], below[:2], atol=0.05)


# Out of reach


@pytest.mark.parametrize("name", list(SCENES))
def test_what_can_be_reached_outside_only_is_no_success(name: str) -> None:
    """Mend 18: the best iterate is inside, its status not CONVERGED; a body on the world gets there without a box."""
    make, joint, frame = SCENES[name]
    robot, rng = in_box(make(), joint, 0.0, 0.1), np.random.default_rng(4)
    f = Pose(robot, frame)
    goals = np.array([f.value(robot.random(rng)) for _ in range(10)])
    goals[:, 0] += 7.0
    held = Projector(Problem(robot, [Implicit.equal(f)]))
    free = Projector(Problem(robot, [Implicit.equal(f)], unbounded(robot, joint)))
    for goal in goals:
        start = robot.random(rng)
        result = held.project(start, goal)
        assert result.status in (Status.STATIONARY, Status.STALLED, Status.MAX_ITERATIONS)
        assert result.residual > 1.0
        assert is_inside(robot, result.q)
        assert name == "swing" or free.project(start, goal).success


def test_a_pose_outside_its_box_is_stationary_at_the_nearest_face() -> None:
    """Mend 18: a body alone: the box is met exactly, the residual is the distance to it, and the bound is named."""
    robot = Robot.from_urdf(BODY, base=Base.FREE_FLYER)
    robot = robot.with_bounds({"root_joint": ([-1.0, -1.0, 0.0], [1.0, 1.0, 2.0])})
    projector = Projector(Problem(robot, [Implicit.equal(Pose(robot, "body"), name="pose")]))
    rng = np.random.default_rng(95)
    turn = SO3.random(rng)
    faces = ([0.5, 0.5, 1.0], None), ([1.5, 0.0, 1.0], "[0] at its upper"), ([0.0, 0.0, -0.1], "[2] at its lower")
    for point, face in faces:
        goal = np.r_[point, turn]
        result = projector.project(np.r_[rng.uniform(0.0, 1.0, 3), turn], goal)
        assert result.success is (face is None)
        if face is not None:
            assert result.status is Status.STATIONARY
            assert result.active_bounds == (f"root_joint{face} bound",)
            assert result.violations == ()
            assert result.residual == pytest.approx(np.linalg.norm(point - result.q[:3]), abs=1e-2)
            conflict = result.diagnose(iterations=60, trials=20).conflict
            assert conflict is not None
            assert sorted(member.name for member in conflict.members) == ["pose", "root_joint"]


# What else shapes a step


def test_bounds_that_are_not_met_change_nothing() -> None:
    """Mend 18: steps that stay in the box are those without it, bit for bit."""
    make, joint, frame = SCENES["humanoid"]
    wide, rng = in_box(make(), joint, 0.0, 50.0), np.random.default_rng(6)
    f = Pose(wide, frame)
    held = Projector(Problem(wide, [Implicit.equal(f)]))
    free = Projector(Problem(wide, [Implicit.equal(f)], unbounded(wide, joint)))
    for _ in range(20):
        start = wide.random(rng)
        start[:3] *= 0.01
        goal = f.value(start)
        goal[:3] += rng.uniform(-0.3, 0.3, 3)
        one, other = held.project(start, goal), free.project(start, goal)
        if not one.restarts:
            assert one.q.tobytes() == other.q.tobytes()


def on_a_plane(a: Vector, s: float, turn: Vector) -> Function:
    """a . p - s of the translation p of a body, by the velocity in its frame at a rotation given."""
    row = np.r_[a @ pin.Quaternion(turn).matrix(), 0.0, 0.0, 0.0]
    return Function.from_callable(lambda q: a @ q[:3] - s, SE3, Rn(1), lambda q: row)


@pytest.mark.parametrize("costs", [[1.0, 1.0, 1.0], [1.0, 40.0, 3.0], [1e-3, 1.0, 1e3]], ids=str)
@pytest.mark.parametrize("levels", [1, 2])
def test_costs_are_by_the_axes_of_the_body(costs: list[float], levels: int) -> None:
    """Mend 18: a step that meets a bound is the cheapest one that does, its costs by the body's own axes: compared to
    the closed form."""
    rng, met = np.random.default_rng(7), 0
    nothing = Function.from_callable(lambda q: 0.0 * q[:1], SE3, Rn(1), lambda q: np.zeros((1, 6)))
    upper = np.array([0.02, 9.0, 9.0, *[1.0] * 4])
    for _ in range(20):
        a, s, turn = rng.uniform(0.3, 1.0, 3), 0.5, SO3.random(rng)
        rows = [[Implicit.zero(on_a_plane(a, s, turn))], [Implicit.zero(nothing)]][:levels]
        problem = Problem(SE3, rows, Bounds(SE3, -upper, upper), weights=[*costs, 1.0, 1.0, 1.0])
        step = Options(damping=0.0, max_iterations=1, restarts=False, cap=100.0)
        result = Projector(problem, step).project(np.r_[np.zeros(3), turn])
        R = pin.Quaternion(turn).matrix()
        W = R @ np.diag(costs) @ R.T
        cheapest = np.linalg.solve(W, a)
        dp = cheapest * s / (a @ cheapest)
        if abs(dp[0]) > 0.02:  # the bound holds the first coordinate
            met += 1
            x, E = np.sign(dp[0]) * 0.02, np.array([a, [1.0, 0.0, 0.0]])
            kkt = np.block([[W, E.T], [E, np.zeros((2, 2))]])
            dp = np.linalg.solve(kkt, [0.0, 0.0, 0.0, s, x])[:3]
            assert result.q[0] == x
        np.testing.assert_allclose(result.q[:3], dp, atol=1e-6 * max(1.0, np.abs(dp).max()))
    assert met > 5


@pytest.mark.parametrize("optional", [False, True])
def test_lower_levels_keep_to_the_box(optional: bool) -> None:
    """Mend 18: the upper level is reached as often as alone, every iterate is inside, and the lower level gains."""
    robot, rng = in_box(humanoid(), "root_joint", 0.0, 0.05), np.random.default_rng(8)
    hand, foot = Pose(robot, "rarm6_joint"), Position(robot, "lleg6_joint")
    p, alone, both, errors = block(robot, "root_joint"), 0, 0, list[list[float]]()
    for _ in range(15):
        start, goal = robot.random(rng), robot.random(rng)
        first, second = Implicit.equal(hand, hand.value(goal)), Implicit.equal(foot, foot.value(goal))
        one = Projector(Problem(robot, [first])).project(start)
        two = Projector(Problem(robot, [[first], [second]], optional_last=optional), Options(trace=True)).project(start)
        alone += one.success
        both += two.problem.is_satisfied(two.q, first)
        errors.append([float(np.linalg.norm(two.problem.error(q, second))) for q in (two.q, one.q)])
        assert is_inside(robot, two.q)
        for step in two.trace or ():
            assert (np.abs(step.q[p]) <= 0.05).all()
    assert both >= alone - 1
    with_level, without = np.mean(errors, axis=0)
    assert with_level < 0.5 * without


def test_frozen_bodies_stay_where_they_are() -> None:
    """Mend 18, DESIGN 3.9: a frozen body outside its box does not move, and the status says that it is outside."""
    robot, rng = in_box(humanoid(), "root_joint", 0.0, 0.05), np.random.default_rng(9)
    f = Position(robot, "rarm6_joint")
    start = robot.random(rng)
    start[0] = 0.2
    problem = Problem(robot, [Implicit.equal(f, f.value(start) + 0.001)], frozen=["root_joint"])
    result = Projector(problem).project(start)
    assert result.q[:7].tobytes() == start[:7].tobytes()
    assert result.status is Status.OUT_OF_BOUNDS
    assert result.violations[0].joint == "root_joint"


def test_a_batch_gives_the_same_bits() -> None:
    """Mend 18, DESIGN 3.12: rows of a batch are single calls, whatever the chunks and workers."""
    for make, joint, frame in SCENES.values():
        robot, rng = in_box(make(), joint, 0.0, 0.05), np.random.default_rng(10)
        f = Pose(robot, frame)
        projector = Projector(Problem(robot, [Implicit.equal(f, f.value(robot.random(rng)))]))
        Q = np.array([robot.random(rng) for _ in range(12)])
        single = [projector.project(q).q.tobytes() for q in Q]
        assert [r.q.tobytes() for r in projector.project_batch(Q)] == single
        with ThreadPoolExecutor(2) as pool:
            assert [r.q.tobytes() for r in projector.project_batch(Q, executor=pool, chunk=5)] == single


# Carried objects


def carried(side: float, rng: np.random.Generator) -> tuple[Robot, Explicit, Implicit]:
    """An arm with an object in its hand, the object in a box, its height and tilt given."""
    robot = arm_and_object()
    grasp = explicit_relative_pose(robot, "arm/tool", "box/body", name="grasp")
    goal = robot.random(rng)
    M = pose_by_pinocchio(robot, "arm/tool", goal)
    robot = in_box(robot, "box/root_joint", M.translation, side)
    grasp = explicit_relative_pose(robot, "arm/tool", "box/body", name="grasp")
    tilt = Implicit.zero(Transformation(robot, "box/body", M), mask=[0, 0, 1, 1, 1, 0], name="tilt")
    return robot, grasp, tilt


@pytest.mark.parametrize("side", [0.2, 0.05])
@pytest.mark.parametrize("options", [Options(), Options(trace=True, seed=3)], ids=["default", "traced"])
def test_a_carried_object_is_brought_into_its_box(side: float, options: Options) -> None:
    """Mend 18: its translation is computed, and held all the same: of 40 starts as many succeed as with rows by hand,
    each inside exactly, the object in the hand by plain pinocchio."""
    rng = np.random.default_rng(11)
    successes = others = 0
    for _ in range(8):
        robot, grasp, tilt = carried(side, rng)
        held = Projector(Problem(robot, [grasp, tilt]), options)
        row = box_row(robot, "box/root_joint")
        rows = Projector(Problem(robot, [grasp, tilt, row], unbounded(robot, "box/root_joint")), options)
        for _ in range(5):
            start = robot.random(rng)
            result = held.project(start)
            successes += result.success
            others += rows.project(start).success
            assert result.status in (Status.CONVERGED, Status.OUT_OF_BOUNDS, Status.STALLED, Status.MAX_ITERATIONS)
            if result.success:
                assert is_inside(robot, result.q)
                M, N = (pose_by_pinocchio(robot, frame, result.q) for frame in ("arm/tool", "box/body"))
                assert np.abs(M.homogeneous - N.homogeneous).max() < 1e-9
                assert np.linalg.norm(tilt.function.value(result.q)[[2, 3, 4]]) <= THRESHOLD * (1.0 + 1e-9)
                again = held.project(result.q)
                assert again.q.tobytes() == result.q.tobytes()
                assert again.iterations == 0
    assert successes >= max(36, others - 1)


def test_a_carried_object_that_cannot_be_inside_says_so() -> None:
    """Mend 18: rows do not help where the box is out of reach: OUT_OF_BOUNDS, the solution outside, the budget kept."""
    rng = np.random.default_rng(12)
    robot, _, _ = carried(0.1, rng)
    robot = in_box(robot, "box/root_joint", 9.0, 0.1)
    grasp = explicit_relative_pose(robot, "arm/tool", "box/body", name="grasp")
    f = Orientation(robot, "arm/tool")
    projector = Projector(Problem(robot, [grasp, Implicit.equal(f, f.value(robot.random(rng)))]))
    result = projector.project(robot.random(rng))
    assert result.status is Status.OUT_OF_BOUNDS
    assert result.residual <= THRESHOLD
    assert result.iterations <= projector.options.max_iterations
    assert {violation.joint for violation in result.violations} == {"box/root_joint"}


# Refinement and sensitivity


def test_nearest_sees_the_bounds_of_bodies() -> None:
    """Mend 18: the nearest configuration in the box is stationary with the bound as an active constraint, inside
    exactly, and not farther than the greedy one."""
    robot, rng = in_box(humanoid(), "root_joint", 0.0, 0.05), np.random.default_rng(13)
    f, active = Pose(robot, "rarm6_joint"), 0
    for _ in range(6):
        start, goal = robot.random(rng), f.value(robot.random(rng))
        problem = Problem(robot, [Implicit.equal(f, goal)])
        greedy = Projector(problem).project(start)
        nearest = Projector(problem, Options(nearest=True)).project(start)
        if not greedy.success:
            continue
        assert nearest.success
        assert is_inside(robot, nearest.q)
        assert nearest.stationarity is not None
        assert nearest.stationarity <= 1e-8
        lengths = [np.linalg.norm(robot.space.difference(start, r.q)) for r in (nearest, greedy)]
        assert lengths[0] <= lengths[1] + 1e-6
        active += bool((np.abs(nearest.q[:3]) >= 0.05 - 1e-8).any())
    assert active > 0


def test_sensitivity_holds_bounds_of_bodies() -> None:
    """Mend 18: the derivative of a solution at a bound of its body's translation keeps it there: by differences of
    projections that go on from the solution."""
    robot, rng = in_box(humanoid(), "root_joint", 0.0, 0.05), np.random.default_rng(14)
    f, compared = Pose(robot, "rarm6_joint"), 0
    fine = Options(threshold=1e-11, restarts=False, max_iterations=60)
    for _ in range(12):
        goal = f.value(robot.random(rng))
        problem = Problem(robot, [Implicit.equal(f, goal, name="goal")])
        result = Projector(problem, fine).project(robot.random(rng))
        at = np.flatnonzero(np.abs(result.q[:3]) == 0.05)
        if not result.success or not at.size:
            continue
        dq = result.sensitivity().rhs_of("goal")
        R = pin.Quaternion(result.q[3:7].copy()).matrix()
        np.testing.assert_allclose((R @ dq[:3])[at], 0.0, atol=1e-8)
        for i in range(6):
            for h in (1e-5, -1e-5):
                moved = SE3.integrate(goal, h * np.eye(6)[i])
                there = Projector(problem, fine).project(result.q, moved)
                if there.success and there.active_bounds == result.active_bounds:
                    measured = robot.space.difference(result.q, there.q) / h
                    np.testing.assert_allclose(measured, dq[:, i], atol=1e-3 * max(1.0, np.abs(dq).max()))
                    compared += 1
    assert compared >= 3


def test_sensitivity_of_a_body_that_only_its_box_moves() -> None:
    """Mend 18: a start is put to the face of its box: of its motion only what is along the face is left."""
    robot, rng = in_box(arm_and_object(), "box/root_joint", 0.0, 0.2), np.random.default_rng(15)
    f = Pose(robot, "arm/tool")
    projector = Projector(Problem(robot, [Implicit.equal(f, f.value(robot.random(rng)))]))
    start = robot.random(rng)
    start[block(robot, "box/root_joint")] = 0.7, 0.1, 0.0
    result = projector.project(start).or_raise()
    v = robot.segments("box/root_joint").v_indices
    sensitivity = result.sensitivity()
    assert "box/root_joint[0] at a bound" in sensitivity.weakly_active
    for i in v:
        h = 1e-6 * np.eye(robot.nv)[i]
        ends = [projector.project(robot.space.integrate(result.q, side * h)).q for side in (1.0, -1.0)]
        moved = [
            robot.space.difference(result.q, end)[v] / side / 1e-6 for end, side in zip(ends, (1.0, -1.0), strict=True)
        ]
        R = pin.Quaternion(result.q[block(robot, "box/root_joint").stop :][:4].copy()).matrix()
        outward = 0 if i - v[0] >= 3 or R[0, i - v[0]] > 0.0 else 1
        np.testing.assert_allclose(sensitivity.start[v, i], moved[outward], atol=1e-5)

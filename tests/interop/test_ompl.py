"""Leaves of problems as spaces of OMPL, against finite differences, plain pinocchio and coal."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from explicit_samples import arm_and_box
from planning.judge import faults

from constraints import (
    Affine,
    Base,
    Bounds,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    linear_coupling,
)
from constraints.collisions import CollisionModel, Shape
from constraints.errors import (
    EmptyProblemError,
    FailedError,
    NotNormalizedError,
    OptionError,
    SizeError,
    SpaceMismatchError,
    WrongObjectError,
)
from constraints.interop import OmplSpace
from constraints.models import mechanisms, sample_arm
from constraints.paths import Path
from constraints.planning import PlanningStatus
from liegroups import SO2, Rn

base: Any = pytest.importorskip("ompl.base")
geometric: Any = pytest.importorskip("ompl.geometric")
util: Any = pytest.importorskip("ompl.util")
util.setLogLevel(util.LOG_NONE)
util.RNG.setSeed(1)

ARM = sample_arm()
MODEL: Any = ARM.model
LEVEL = Implicit.equal(Position(ARM, "tool"), [0.0, 0.0, 0.45], mask=[False, False, True], name="level")
BODY = "<robot name='body'><link name='base_link'/></robot>"
POST = Shape("post", "Cylinder", (0.06, 1.4), placement=[0.55, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0])


def arm_ends() -> tuple[np.ndarray, np.ndarray]:
    """Either side of a post, the tool at a height."""
    found = list[np.ndarray]()
    for y in (-0.35, 0.35):
        at = Implicit.equal(Position(ARM, "tool"), [0.45, y, 0.45], name="hand")
        q = Projector(Problem(ARM, [LEVEL, at]), Options(threshold=1e-9)).project(ARM.references["home"])
        found.append(np.array(q.or_raise().q))
    return found[0], found[1]


def arm_model() -> CollisionModel:
    return CollisionModel(ARM, [POST, Shape("tip", "Sphere", (0.05,), "tool")])


def height_error(q: np.ndarray) -> float:
    data = MODEL.createData()
    pin.framesForwardKinematics(MODEL, data, q)
    return abs(float(data.oMf[MODEL.getFrameId("tool")].translation[2]) - 0.45)


def solved(space: OmplSpace, goal: np.ndarray, seconds: float = 30.0, planner: Any = None) -> Path:
    setup = space.setup(goal)
    setup.setPlanner((planner or geometric.RRTConnect)(space.information))
    setup.solve(seconds)
    return space.path(setup)


def value_of(space: OmplSpace, x: np.ndarray) -> np.ndarray:
    out = np.full(space.constraint.getCoDimension(), np.nan)
    space.constraint.function(x, out)
    return out


def jacobian_of(space: OmplSpace, x: np.ndarray) -> np.ndarray:
    """Through OMPL, which calls back."""
    out = np.full((space.constraint.getCoDimension(), x.size), np.nan, order="F")
    base.Constraint.jacobian(space.constraint, x, out)
    return out


def box_on_hand(frozen: tuple[str, ...] = ()) -> tuple[Problem, np.ndarray]:
    """An arm and a free box whose handle is in the gripper, solved for, and an elbow that follows the wrist."""
    robot = arm_and_box()
    hold = Implicit.equal(Pose(robot, "handle", reference="gripper"), name="hold")
    coupling = linear_coupling(robot, "arm/elbow", {"arm/wrist_roll": 0.4}, 0.2)
    at = {"box/root_joint": ([-3.0] * 3, [3.0] * 3)}
    problem = Problem(robot, [hold, coupling], robot.bounds.replace(at), frozen=frozen)
    start = np.array(Projector(problem, Options(threshold=1e-10)).project(robot.neutral).or_raise().q)
    return problem, start


def wheels() -> tuple[Problem, np.ndarray]:
    """Two angles as (cos, sin) and a number, without a robot: sin a + sin b / 2 = t."""
    space = SO2 * SO2 * Rn(1)
    f = Function.from_callable(lambda q: [q[1] + 0.5 * q[3] - q[4]], space, Rn(1), name="sum")
    problem = Problem(space, [Implicit.zero(f)], Bounds(space, np.full(5, -2.0), np.full(5, 2.0)))
    return problem, np.array([np.cos(0.4), np.sin(0.4), 1.0, 0.0, np.sin(0.4)])


@pytest.mark.parametrize("case", ["arm", "box", "frozen", "wheels"])
def test_jacobians_are_the_derivatives_of_the_function(case: str) -> None:
    """On the leaf, away from it, and off the unit norms."""
    if case == "arm":
        problem, start = Problem(ARM, [LEVEL]), arm_ends()[0]
    elif case == "wheels":
        problem, start = wheels()
    else:
        problem, start = box_on_hand(("arm/shoulder_yaw",) if case == "frozen" else ())
    space, rng, h = OmplSpace(problem, start), np.random.default_rng(0), 1e-6
    x0, blocks = space.coordinates.of(start), space.coordinates.unit_blocks
    assert space.constraint.getAmbientDimension() == x0.size
    np.testing.assert_allclose(value_of(space, x0), 0.0, rtol=0, atol=5e-5)
    for scale in (0.0, 0.2, 0.6):
        x = x0 + scale * rng.standard_normal(x0.size)
        rows, J = value_of(space, x), jacobian_of(space, x)
        norms = [x[block] @ x[block] - 1.0 for block in blocks]
        np.testing.assert_allclose(rows[rows.size - len(blocks) :], norms, rtol=0, atol=1e-14)
        for i in range(x.size):
            step = h * np.eye(x.size)[i]
            slope = (value_of(space, x + step) - value_of(space, x - step)) / (2.0 * h)
            np.testing.assert_allclose(J[:, i], slope, rtol=0, atol=2e-8 * (1.0 + np.abs(slope).max()))


def test_the_function_is_what_pinocchio_says() -> None:
    """The pose of the handle in the gripper, at the normalised quaternion, with the elbow computed."""
    problem, start = box_on_hand()
    robot, space = arm_and_box(), OmplSpace(problem, start)
    model: Any = robot.model
    at, data = space.coordinates.indices, model.createData()
    gripper, handle = robot.frame("gripper"), robot.frame("handle")
    elbow, wrist = (model.joints[model.getJointId(f"arm/{name}")].idx_q for name in ("elbow", "wrist_roll"))
    assert elbow not in at
    x = space.coordinates.of(start) + 0.3 * np.random.default_rng(1).standard_normal(at.size)
    q = np.zeros(robot.nq)
    q[at] = x
    q[-4:] /= np.linalg.norm(q[-4:])
    q[elbow] = 0.4 * q[wrist] + 0.2
    pin.forwardKinematics(model, data, q)
    seen = (data.oMi[gripper.joint] * gripper.placement).actInv(data.oMi[handle.joint] * handle.placement)
    rows = value_of(space, x)
    expected = np.concatenate([pin.log6(seen).vector, [x[-4:] @ x[-4:] - 1.0]])
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-12)
    assert abs(space.constraint.distance(x) - np.linalg.norm(expected)) < 1e-12


def test_projections_keep_bounds_and_norms() -> None:
    problem, start = box_on_hand()
    space, rng, count = OmplSpace(problem, start), np.random.default_rng(2), 0
    x0, at = space.coordinates.of(start), space.coordinates.indices
    for _ in range(40):
        x = x0 + 0.4 * rng.standard_normal(x0.size)
        side = np.sign(x[-4:])
        if not space.constraint.project(x):
            continue
        count += 1
        assert abs(np.linalg.norm(x[-4:]) - 1.0) < 1e-12
        assert (x >= problem.bounds.lower[at]).all()
        assert (x <= problem.bounds.upper[at]).all()
        assert space.constraint.isSatisfied(x)
        assert np.abs(value_of(space, x)).max() < 1e-4
        assert side @ x[-4:] > 0.0  # a projection does not go to the other side of the sphere
        off = x.copy()
        off[-4:] *= 1.01
        assert not space.constraint.isSatisfied(off)
    assert count > 20
    nowhere = x0.copy()
    nowhere[-4:] = 0.0
    assert not space.constraint.project(nowhere)


def test_a_quaternion_and_its_negative_are_one_state() -> None:
    problem, start = box_on_hand()
    space, other = OmplSpace(problem, start), start.copy()
    other[-4:] *= -1.0
    states = [space.state(q) for q in (start, other)]
    numbers = [[state[i] for i in range(len(space.coordinates))] for state in states]
    assert numbers[0] == numbers[1]
    np.testing.assert_array_equal(space.q(states[1])[-4:], start[-4:])
    assert OmplSpace(problem, other).state(start)[len(space.coordinates) - 1] == other[-1]


@pytest.mark.parametrize("planner", ["RRTConnect", "RRT"])
def test_a_path_round_a_post_has_no_faults(planner: str) -> None:
    """By plain pinocchio and coal; its ends are the given ones."""
    (q0, q1), model = arm_ends(), arm_model()
    space = OmplSpace(Problem(ARM, [LEVEL]), q0, collisions=model)
    path = solved(space, q1, planner=getattr(geometric, planner))
    assert faults(path, MODEL, model.checker.geometry, height_error, (q0, q1)) == []


def test_a_free_body_turns_and_passes_a_post() -> None:
    """A bar that may not leave a plane, turned by 2.8 rad, its goal given with the other sign."""
    body = Robot.from_urdf(BODY, base=Base.FREE_FLYER)
    robot = body.with_bounds({"root_joint": ([-1.0] * 3, [1.0] * 3)})
    plane = Implicit.equal(Position(robot, "base_link"), [0.0, 0.0, 0.3], mask=[False, False, True], name="plane")
    turned = pin.Quaternion(pin.exp3(np.array([0.3, -0.2, 2.8]))).coeffs()
    q0, q1 = np.array([-0.6, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]), np.concatenate([[0.6, 0.1, 0.3], -turned])
    post = Shape("post", "Box", (0.2, 0.9, 2.0), placement=[0.0, 0.1, 0.3, 0.0, 0.0, 0.0, 1.0])
    model = CollisionModel(robot, [post, Shape("bar", "Box", (0.3, 0.05, 0.05), "base_link")])
    space = OmplSpace(Problem(robot, [plane]), q0, collisions=model)
    assert space.constraint.getManifoldDimension() == 5
    for sign in (1.0, -1.0):  # half a turn is as far to both sides: it stays as it is given
        half = space.state([-0.6, 0.5, 0.3, 0.0, 0.0, sign, 0.0])
        assert [half[i] for i in range(7)] == [-0.6, 0.5, 0.3, 0.0, 0.0, sign, 0.0]
    for one in np.random.default_rng(0).normal(size=(20, 4)):  # of norm 1 to rounding: every bit is kept
        q = np.concatenate([q0[:3], np.sign(one[3]) * one / np.linalg.norm(one)])
        assert space.q(space.state(q)).tobytes() == q.tobytes()
    path = solved(space, q1)
    np.testing.assert_array_equal(path.end[:3], q1[:3])
    assert abs(path.end[3:] @ turned) > 1.0 - 1e-12
    ends = path.start, path.end
    np.testing.assert_array_equal(path.start, q0)
    found = faults(path, robot.model, model.checker.geometry, lambda q: abs(float(q[2]) - 0.3), ends)
    assert found == []


def test_a_closed_chain_with_redundant_rows(caplog: pytest.LogCaptureFixture) -> None:
    """Five rows of which the plane makes three redundant: OMPL has two, and is told; the loop closes all the way."""
    linkage = mechanisms.four_bar(0.4, 0.15, 0.35, 0.3)
    turn = 2.0 * np.pi
    problem = linkage.problem()
    problem = problem.with_bounds(Bounds(problem.space, np.full(3, -turn), np.full(3, turn)))
    start = linkage.postures["closed"]
    with caplog.at_level(logging.WARNING):
        space = OmplSpace(problem, start)
    assert "3 of 5 rows depend on the others at the start: OMPL's function has 2" in caplog.text
    assert space.constraint.getCoDimension() == 2
    assert space.constraint.getManifoldDimension() == 1
    x = start + 0.1 * np.array([1.0, -1.0, 0.5])
    J, h = jacobian_of(space, x), 1e-6
    slopes = [(value_of(space, x + h * e) - value_of(space, x - h * e)) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(J, np.stack(slopes, axis=1), rtol=0, atol=1e-8)
    driven = Problem(linkage.robot, [*problem.constraints, angle_of(problem, 2.5)])
    goal = np.array(Projector(driven, Options(threshold=1e-8)).project(start).or_raise().q)
    path = solved(space, goal)
    assert np.array_equal(path.end, goal)
    for q in path.samples:
        crank = 0.15 * np.array([np.cos(q[0]), np.sin(q[0])])
        coupler = 0.35 * np.array([np.cos(q[0] + q[1]), np.sin(q[0] + q[1])])
        rocker = np.array([0.4, 0.0]) + 0.3 * np.array([np.cos(q[2]), np.sin(q[2])])
        assert np.abs(crank + coupler - rocker).max() < 1e-4


def angle_of(problem: Problem, value: float) -> Implicit:
    f = Function.from_callable(lambda q: q[:1], problem.space, Rn(1), name="crank")
    return Implicit.equal(f, [value])


def test_explicit_constraints_alone() -> None:
    """No row is left: the elbow follows in every state and sample."""
    follow = linear_coupling(ARM, "elbow", {"shoulder_pitch": -0.5}, 0.3)
    (q0, q1), problem = (ARM.random(np.random.default_rng(i)) for i in (3, 4)), Problem(ARM, [follow])
    space = OmplSpace(problem, problem.free_coordinates().q(problem.free_coordinates().of(q0)))
    assert space.constraint.getCoDimension() == 0
    assert len(space.coordinates) == 6
    path = solved(space, problem.free_coordinates().q(problem.free_coordinates().of(q1)))
    elbow, pitch = (ARM.joint_names.index(name) for name in ("elbow", "shoulder_pitch"))
    np.testing.assert_allclose(path.samples[:, elbow], 0.3 - 0.5 * path.samples[:, pitch], rtol=0, atol=1e-12)


def test_atlases_take_the_same_constraint() -> None:
    """Charts of OMPL's own, from function and Jacobian: a wheel is turned along a sine."""
    problem, start = wheels()
    space = OmplSpace(problem, start)
    atlas = base.AtlasStateSpace(space.space.getSpace(), space.constraint)
    information = base.ConstrainedSpaceInformation(atlas)
    state = atlas.allocState()
    state.copy(space.coordinates.of(start).tolist())
    atlas.anchorChart(state)
    information.setup()
    assert atlas.getChartCount() == 1


def test_ends_that_cannot_be_used_are_named_before_ompl_is_asked() -> None:
    (q0, q1), model, problem = arm_ends(), arm_model(), Problem(ARM, [LEVEL])
    off, hit = q0 + 0.1, collides(problem, model)
    for bad, said, status in (
        (off, "start for OMPL is refused: .*'level'", PlanningStatus.START_OFF),
        (hit, "start for OMPL is refused: .*post collides with tip", PlanningStatus.START_COLLIDES),
    ):
        with pytest.raises(FailedError, match=said) as caught:
            OmplSpace(problem, bad, collisions=model)
        assert caught.value.result.status is status
    space = OmplSpace(problem, q0, collisions=model)
    for bad, said in (
        (off, "goal for OMPL is refused: .*'level'"),
        (hit, "goal for OMPL is refused: .*post collides with tip"),
    ):
        with pytest.raises(FailedError, match=said):
            space.setup(bad)
        with pytest.raises(FailedError, match=said.replace("goal", "state")):
            space.state(bad)
    narrow = problem.with_bounds(ARM.bounds.replace({"elbow": (q0[3] + 0.1, q0[3] + 0.5)}))
    with pytest.raises(FailedError, match="elbow outside its lower bound"):
        OmplSpace(narrow, q0)
    several = space.setup(np.stack([hit, q1, off]))  # any of which will do
    assert several.getGoal().getStateCount() == 1
    with pytest.raises(SizeError, match="goal"):
        space.setup(q1[:3])
    with pytest.raises(NotNormalizedError, match="start"):
        OmplSpace(wheels()[0], [2.0, 0.0, 1.0, 0.0, 0.0])


def collides(problem: Problem, model: CollisionModel) -> np.ndarray:
    at = Implicit.equal(Position(ARM, "tool"), [0.55, 0.0, 0.45], name="hand")
    q = np.array(Projector(problem | Problem(ARM, [at])).project(ARM.references["home"]).or_raise().q)
    assert not model.is_free(q)
    return q


def test_states_off_the_leaf_are_not_valid() -> None:
    (q0, _), model = arm_ends(), arm_model()
    space = OmplSpace(Problem(ARM, [LEVEL]), q0, collisions=model)
    state, valid = space.state(q0), space.information.isValid
    assert valid(state)
    for q in (q0 + 0.05, ARM.bounds.upper + 0.1, collides(Problem(ARM, [LEVEL]), model)):
        state.copy(q.tolist())
        assert not valid(state)
    level = Implicit.equal(Affine(np.eye(ARM.nv)[:1], None, ARM.space), [0.25], name="first")
    projector = Projector(Problem(ARM, [level]), Options(threshold=2.0**-10))
    near = OmplSpace(projector, np.r_[0.25, q0[1:]])
    state, valid = near.state(np.r_[0.25, q0[1:]]), near.information.isValid
    for off, holds in ((2.0**-10, True), (-(2.0**-10), True), (2.0**-10 + 2.0**-20, False)):  # to the threshold
        state.copy([0.25 + off, *q0[1:]])
        assert valid(state) == holds


def test_a_path_that_misses_something_is_refused() -> None:
    """With steps that jump over the post, OMPL finds the straight way; it is not taken."""
    (q0, q1), model = arm_ends(), arm_model()
    space = OmplSpace(Problem(ARM, [LEVEL]), q0, collisions=model, delta=2.0)
    straight = geometric.PathGeometric(space.information, space.state(q0), space.state(q1))
    with pytest.raises(FailedError, match=r"states 1 and 2 of 3 .*: post collides with tip; take a smaller delta"):
        space.path(straight)
    assert straight.getStateCount() == 2
    free = OmplSpace(Problem(ARM, [LEVEL]), q0)
    assert free.path(straight).max_error() < 1e-4
    one = geometric.PathGeometric(free.information, free.state(q0))
    np.testing.assert_array_equal(free.path(one).end, q0)


def test_a_search_without_success_is_no_path() -> None:
    (q0, q1), model = arm_ends(), arm_model()
    wall = Shape("wall", "Box", (4.0, 0.02, 4.0))  # the tip is on one side of it, the goal on the other
    space = OmplSpace(Problem(ARM, [LEVEL]), q0, collisions=model.added(wall))
    setup = space.setup(q1)
    with pytest.raises(FailedError, match="OMPL has no path to the goal"):
        space.path(setup)
    setup.setPlanner(geometric.RRT(space.information))
    setup.solve(0.3)
    assert setup.haveSolutionPath()  # an approximate one
    with pytest.raises(FailedError, match="OMPL has no path to the goal: Approximate solution"):
        space.path(setup)


def test_frozen_joints_of_a_goal_are_those_of_the_start() -> None:
    (q0, q1), name = arm_ends(), ARM.joint_names[6]  # the last joint turns the tool about itself
    space = OmplSpace(Problem(ARM, [LEVEL], frozen=[name]), q0)
    q1[6] = q0[6] + 0.01
    with pytest.raises(FailedError, match=f"goal for OMPL is refused: frozen joints are not as at the start: {name}"):
        space.setup(q1)
    q1[6] = q0[6]
    path = solved(space, q1)
    np.testing.assert_array_equal(path.samples[:, 6], q0[6])
    np.testing.assert_array_equal(path.end, q1)


def test_bad_input() -> None:
    (q0, _), problem = arm_ends(), Problem(ARM, [LEVEL])
    for wrong in (3, None, ARM):
        with pytest.raises(WrongObjectError, match="problem for OMPL"):
            OmplSpace(wrong, q0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="collisions for OMPL"):
        OmplSpace(problem, q0, collisions=3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SpaceMismatchError, match="collision model"):
        OmplSpace(wheels()[0], wheels()[1], collisions=arm_model())
    for delta in (0.0, -1.0, np.nan, "x"):
        with pytest.raises(OptionError, match="delta for OMPL"):
            OmplSpace(problem, q0, delta=delta)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="solution of OMPL"):
        OmplSpace(problem, q0).path(3)
    with pytest.raises(WrongObjectError, match="state of OMPL"):
        OmplSpace(problem, q0).q(q0)
    other = OmplSpace(*wheels())
    with pytest.raises(WrongObjectError, match="solution of OMPL: expected a SimpleSetup of this space"):
        OmplSpace(problem, q0).path(other.setup(wheels()[1]))
    where = wheels()[0]
    with pytest.raises(OptionError, match=r"expected bounds for all coordinates.*none for"):
        OmplSpace(where.with_bounds(Bounds.none(where.space)), wheels()[1])
    hand = Implicit.equal(Pose(ARM, "tool"), Pose(ARM, "tool").value(q0), name="hand")
    held = Problem(ARM, [hand], frozen=[ARM.joint_names[0]])
    with pytest.raises(EmptyProblemError, match="nothing can move at the start: 6 free coordinates, rows of rank 6"):
        OmplSpace(held, q0)


def test_a_projector_gives_its_options_and_a_right_hand_side_its_leaf() -> None:
    q0, _ = arm_ends()
    height = Implicit.equal(Position(ARM, "tool"), [0.0, 0.0, 0.2], mask=[False, False, True], name="height")
    problem = Problem(ARM, [height])
    space = OmplSpace(Projector(problem, Options.local(threshold=1e-7)), q0, problem.rhs_from(q0))
    assert space.constraint.getTolerance() == 1e-7
    x = q0 + 0.1
    assert space.constraint.project(x)
    assert height_error(x) < 1e-7
    with pytest.raises(FailedError, match="another leaf"):
        OmplSpace(problem, q0)
    assert repr(space) == "OmplSpace(7 coordinates, manifold of dimension 6)"

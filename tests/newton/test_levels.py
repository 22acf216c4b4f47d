"""Priority levels, costs of motion, frozen dofs: what one level may do to another, and what a step may move."""

from __future__ import annotations

import numpy as np
import pytest
from robots import panda, talos, ur5

from constraints import (
    Affine,
    Bounds,
    CenterOfMass,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Status,
    Transformation,
    rigid_transform,
)
from constraints.errors import NotFiniteError, OptionError, SizeError, UnknownJointError
from constraints.models import sample_arm
from constraints.rows.stacking import Rows
from constraints.solvers.newton.bounds import SolverBounds
from constraints.solvers.newton.hierarchy import Hierarchy
from constraints.solvers.newton.linear_step import DampedCholesky
from liegroups import Rn, Segments


def standing(robot: Robot) -> np.ndarray:
    q = robot.neutral
    q[2] = 1.02
    for side in ("left", "right"):
        for joint, angle in (("3", -0.41), ("4", 0.86), ("5", -0.45)):
            q[robot.slice_of(f"leg_{side}_{joint}_joint")] = angle
    return robot.bounds.clip(q)


def feet(robot: Robot, q: np.ndarray) -> list[Implicit]:
    posture = robot.at(q)
    return [
        Implicit.zero(Transformation(robot, name, posture.placement(robot.frame(name))), name=name)
        for name in ("leg_left_6_joint", "leg_right_6_joint")
    ]


def balance(robot: Robot, q: np.ndarray) -> Implicit:
    centre = CenterOfMass(robot, reference="leg_left_6_joint")
    return Implicit.zero(
        CenterOfMass(robot, reference=robot.frame("leg_left_6_joint", rigid_transform(centre.value(q)))),
        mask=[True, True, False],
        name="balance",
    )


def starts(robot: Robot, q: np.ndarray, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [robot.bounds.clip(robot.space.integrate(q, 0.2 * rng.standard_normal(robot.nv))) for _ in range(count)]


@pytest.fixture(scope="module")
def humanoid() -> tuple[Robot, np.ndarray]:
    robot = talos()
    return robot, standing(robot)


@pytest.mark.parametrize("optional", [False, True])
def test_an_infeasible_last_level_costs_the_first_nothing(humanoid, optional):
    """Properties 16, 17: feet; balance; gaze at a point out of reach: level 0 holds from every start."""
    robot, q = humanoid
    above = [feet(robot, q), [balance(robot, q)]]
    gaze = Implicit.equal(Position(robot, "head_2_joint"), [3.0, 0.0, 3.0], name="gaze")
    problem = Problem(robot, [*above, [gaze]], optional_last=optional)
    projector = Projector(problem)
    for q0 in starts(robot, q, 40):
        result = projector.project(q0)
        for constraint in above[0]:
            assert np.linalg.norm(problem.error(result.q, constraint)) <= 1e-4
        assert result.success == optional
        assert robot.bounds.contains(result.q)


def test_levels_that_agree_are_all_satisfied(humanoid):
    robot, q = humanoid
    problem = Problem(robot, [feet(robot, q), [balance(robot, q)]])
    projector = Projector(problem, Options.local())
    for q0 in starts(robot, q, 40):
        result = projector.project(q0).or_raise()
        assert problem.residual(result.q) <= 1e-4


def test_the_optional_level_is_pulled_as_far_as_it_goes(humanoid):
    """An optional level shapes the steps: the head ends nearer to where it looks than without it."""
    robot, q = humanoid
    gaze = Implicit.equal(Position(robot, "head_2_joint"), [0.3, 0.0, 1.3], name="gaze")
    with_gaze = Projector(Problem(robot, [feet(robot, q), [gaze]], optional_last=True))
    without = Projector(Problem(robot, feet(robot, q)))
    alone = Problem(robot, [gaze])
    nearer = [
        alone.residual(with_gaze.project(q0).or_raise().q) < alone.residual(without.project(q0).or_raise().q)
        for q0 in starts(robot, q, 20)
    ]
    assert sum(nearer) >= 18


def test_a_lower_level_gives_way():
    """Two levels that contradict: x = 1 first, then x = 2 and y = 3 in R^2."""
    first = Implicit.zero(Affine([[1.0, 0.0]], [-1.0]), name="x = 1")
    second = Implicit.zero(Affine(np.eye(2), [-2.0, -3.0]), name="(x, y) = (2, 3)")
    result = Projector(Problem(Rn(2), [[first], [second]]), Options(max_iterations=60)).project([0.0, 0.0])
    assert not result.success
    np.testing.assert_allclose(result.q, [1.0, 3.0], atol=1e-3)
    optional = Projector(Problem(Rn(2), [[first], [second]], optional_last=True)).project([0.0, 0.0])
    assert optional.status is Status.CONVERGED
    assert abs(optional.q[0] - 1.0) <= 1e-4


def test_bounds_hold_for_every_level():
    """A lower level that wants beyond a bound ends at it, and leaves the level above alone."""
    robot = ur5()
    name = robot.joint_names[0]
    arm = robot.with_bounds({name: (-0.5, 0.5)})
    height = Implicit.equal(Position(arm, arm.joint_names[-1]).restricted([2]), 0.4, name="height")
    A = np.zeros((1, arm.nv))
    A[0, 0] = 1.0
    beyond = Implicit.zero(Affine(A, [-2.0], arm.space), name="beyond the bound")
    projector = Projector(Problem(arm, [[height], [beyond]], optional_last=True), Options(trace=True))
    rng = np.random.default_rng(5)
    for _ in range(30):
        result = projector.project(arm.random(rng))
        assert result.success
        for step in result.trace or ():
            assert -0.5 <= step.q[0] <= 0.5


@pytest.mark.parametrize("costs", [None, np.linspace(0.5, 2.0, 7)], ids=["ones", "costs"])
def test_dofs_that_are_held_have_no_part_in_the_step_of_a_lower_level(costs):
    """Exactly none, nor those that it holds itself: a rounding at a bound would shorten all of a small step to zero."""
    rng, space, own = np.random.default_rng(9), Rn(7), 0
    bounds = Bounds(space, np.full(7, -0.3), np.full(7, 0.3))
    box = SolverBounds(Problem(space, [Implicit.zero(Affine(np.eye(7)))], bounds), wrap=False)
    held = np.arange(7) == 2
    for _ in range(40):
        levels = [Rows(rng.standard_normal(m), rng.standard_normal((m, 7)), ()) for m in (3, 2)]
        step = np.where(held, 0.3, rng.uniform(-0.3, 0.3, 7))
        for error in (1.0, 1e-13):
            levels[1].error[:] = error - levels[1].jacobian @ step
            hierarchy = Hierarchy([DampedCholesky(2)], 0.05, 1, costs)
            part = hierarchy.extend(np.zeros(7), step, held, levels, [1.5], box) - step
            assert part[2] == 0.0
            assert np.abs((levels[0].jacobian * ~held) @ part).max() < 1e-14
            assert (np.abs(step + part) <= 0.3 + 1e-15).all()
            own += 1 < np.count_nonzero(part == 0.0) < 7
    assert own > 10


@pytest.mark.parametrize("held", [None, [2], [0, 5]])
def test_steps_of_lower_levels_where_costs_are_not_by_column(held):
    r"""Motions S u of coordinates that cost alike: the least u in the null space of the rows above and of held ones."""
    rng, space = np.random.default_rng(10), Rn(7)
    box = SolverBounds(Problem(space, [Implicit.zero(Affine(np.eye(7)))]), wrap=False)
    fixed = None if held is None else np.isin(np.arange(7), held)
    for _ in range(20):
        levels = [Rows(rng.standard_normal(m), rng.standard_normal((m, 7)), ()) for m in (3, 2)]
        step, root = rng.uniform(-0.3, 0.3, 7), rng.standard_normal((7, 7)) + 3.0 * np.eye(7)
        part = Hierarchy([DampedCholesky(2)], 0.05, 1, None).extend(
            np.zeros(7), step, fixed, levels, [1e9], box, root
        ) - step  # fmt: skip
        above = levels[0].jacobian @ root if held is None else np.vstack((levels[0].jacobian @ root, root[held]))
        N = np.linalg.svd(above)[2][len(above) :].T
        e, J = levels[1].error + levels[1].jacobian @ step, levels[1].jacobian @ root @ N
        u = -N @ J.T @ np.linalg.solve(J @ J.T + (0.05 * e @ e + 1e-12) * np.eye(2), e)
        np.testing.assert_allclose(part, root @ u, rtol=0, atol=1e-9)
        assert held is None or (part[held] == 0.0).all()


# Costs of motion


def test_steps_are_the_smallest_in_the_costs():
    """x + y = 1 from the origin: costs (1, 3) move x three times as far; no cost at all moves x alone."""
    line = Implicit.zero(Affine([[1.0, 1.0]], [-1.0]), name="x + y = 1")
    tight = Options(threshold=1e-10)
    np.testing.assert_allclose(Projector(Problem(Rn(2), [line]), tight).project([0.0, 0.0]).q, [0.5, 0.5], atol=1e-9)
    for costs, expected in (([1.0, 3.0], [0.75, 0.25]), ([10.0, 30.0], [0.75, 0.25]), ([0.0, 1.0], [1.0, 0.0])):
        result = Projector(Problem(Rn(2), [line], weights=costs), tight).project([0.0, 0.0])
        np.testing.assert_allclose(result.q, expected, atol=2e-6)


def test_costs_by_joint_name():
    robot = panda()
    q0 = robot.configuration({"panda_joint2": 0.3, "panda_joint4": -1.8, "panda_joint6": 2.0})
    there = Position(robot, "panda_joint7").value(q0) + np.array([0.02, 0.05, 0.03])
    target = Implicit.equal(Position(robot, "panda_joint7"), there)
    moved = {
        cost: abs(Projector(Problem(robot, [target], weights={"panda_joint1": cost})).project(q0).or_raise().q[0])
        for cost in (1.0, 1e4)
    }
    assert moved[1e4] < 0.01 * moved[1.0]


@pytest.mark.parametrize("weights", [[-1.0, 1.0], [0.0, 0.0]])
def test_costs_out_of_range_are_refused(weights):
    line = Implicit.zero(Affine([[1.0, 1.0]], [-1.0]))
    with pytest.raises(OptionError, match="weights"):
        Problem(Rn(2), [line], weights=weights)
    with pytest.raises(NotFiniteError, match="weights"):
        Problem(Rn(2), [line], weights=[np.nan, 1.0])


# Frozen dofs


def test_frozen_joints_do_not_move_by_a_bit(humanoid):
    robot, q = humanoid
    joints = ["arm_left_1_joint", "torso_1_joint"]
    problem = Problem(robot, feet(robot, q), frozen=joints)
    projector = Projector(problem)
    for q0 in starts(robot, q, 10):
        result = projector.project(q0).or_raise()
        for joint in joints:
            assert result.q[robot.slice_of(joint)].tobytes() == q0[robot.slice_of(joint)].tobytes()
    assert "arm_left_1_joint" in problem.describe()


def test_a_frozen_free_flyer_does_not_move_by_a_bit(humanoid):
    robot, q = humanoid
    hand = Implicit.equal(Position(robot, "arm_left_7_joint"), [0.3, 0.3, 1.1])
    result = Projector(Problem(robot, [hand], frozen=[robot.segments("root_joint")])).project(q).or_raise()
    assert result.q[:7].tobytes() == q[:7].tobytes()


def test_an_unknown_frozen_joint_is_named(humanoid):
    robot, q = humanoid
    with pytest.raises(UnknownJointError, match="arm_left_1_joint"):
        Problem(robot, feet(robot, q), frozen=["arm_left_1_jont"])


def test_centre_of_mass_with_a_frozen_waist(humanoid):
    robot, q = humanoid
    over = CenterOfMass(robot)
    target = over.value(q) + np.array([0.02, 0.01, -0.02])
    problem = Problem(robot, [*feet(robot, q), Implicit.equal(over, target)], frozen=["torso_1_joint"])
    assert np.linalg.norm(over.value(Projector(problem).project(q).or_raise().q) - target) <= 1e-4


def test_segments_beyond_the_space_are_refused():
    line = Implicit.zero(Affine([[1.0, 1.0]], [-1.0]))
    with pytest.raises(SizeError, match="frozen"):
        Problem(Rn(2), [line], frozen=[Segments.coordinates(Rn(5), [4])])


def test_the_dimension_is_that_of_the_mandatory_levels(humanoid):
    robot, q = humanoid
    stand = feet(robot, q)
    gaze = Implicit.equal(Position(robot, "head_2_joint"), [0.3, 0.0, 1.3])
    with_gaze = Problem(robot, [stand, [gaze]], optional_last=True)
    assert with_gaze.dimension(q) == Problem(robot, stand).dimension(q) == robot.nv - 12
    v = np.random.default_rng(0).standard_normal(robot.nv)
    np.testing.assert_allclose(with_gaze.project_tangent(q, v), Problem(robot, stand).project_tangent(q, v), atol=1e-12)
    assert Problem(robot, [stand, [gaze]]).dimension(q) == robot.nv - 15


def test_a_tool_pose_above_a_wish_for_the_elbow() -> None:
    """Six rows and two bounds or more on seven dofs: the upper level is solved from as many starts as alone."""
    arm = sample_arm()
    hand = Implicit.equal(Pose(arm, "tool"), [0.45, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0], name="hand")
    elbow = Implicit.equal(Position(arm, "elbow"), [0.2, 1.0, 0.4], name="elbow")
    wished = Projector(Problem(arm, [[hand], [elbow]], optional_last=True), Options(max_iterations=100))
    plain = Projector(Problem(arm, [hand]), Options(max_iterations=100))
    starts = arm.random(np.random.default_rng(0), 100)
    both = [sum(projector.project(q).success for q in starts) for projector in (wished, plain)]
    assert both[0] >= both[1] - 2

"""Sensitivities of projected configurations against projections of changed problems."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from newton.test_levels import standing, starts
from robots import arm, panda, pr2, talos, ur5

from constraints import (
    Affine,
    Bounds,
    CenterOfMass,
    Comparison,
    Explicit,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projection,
    Projector,
    Robot,
    explicit_relative_pose,
    locked_joint,
)
from constraints.cli.demo_scenes import sample_scenes
from constraints.errors import SpaceMismatchError, WrongObjectError
from constraints.solvers import Sensitivity, SensitivityError
from constraints.solvers.diagnosis.sensitivity import SensitivityKind
from liegroups import Rn, Segments

TIGHT = Options(threshold=1e-11, nearest=True, restarts=False, wrap=False, max_iterations=100)
GREEDY = Options(threshold=1e-12, restarts=False, wrap=False, max_iterations=100)


def slope(space: Any, solved: Callable[[float], np.ndarray], h: float) -> np.ndarray:
    """Derivative of a solution by a number, at zero: Richardson's extrapolation of central differences."""
    first, second = (space.difference(solved(-t), solved(t)) / (2.0 * t) for t in (h, 2.0 * h))
    return (4.0 * first - second) / 3.0


def compare(given: np.ndarray, measured: list[np.ndarray]) -> None:
    """Columns equal to 1e-5 of the largest of the matrix."""
    expected = np.stack(measured, axis=1)
    assert np.abs(given - expected).max() <= 1e-5 * max(np.abs(expected).max(), 1e-3)


def check_rhs(projector: Projector, result: Projection, near: np.ndarray, h: float = 2e-4) -> None:
    """Columns of all right-hand sides: projected again from the solution, near the same reference."""
    problem, sensitivity = result.problem, result.sensitivity()
    for owner in problem.constraints:
        group, point = owner.group, result.rhs.of(owner)
        if not owner.rows.free_rhs.all():
            with pytest.raises(SensitivityError, match="takes no right-hand side"):
                sensitivity.rhs_of(owner)
            continue
        measured = []
        for e in np.eye(group.nv):

            def solved(t: float, e: np.ndarray = e, owner: Any = owner, point: np.ndarray = point) -> np.ndarray:
                sides = result.rhs.replace(owner, owner.group.integrate(point, t * e))
                return again(projector, result.q, sides, near)

            measured.append(slope(problem.space, solved, h))
        compare(sensitivity.rhs_of(owner), measured)


def again(projector: Projector, q: np.ndarray, rhs: Any, near: np.ndarray) -> np.ndarray:
    found = projector.project(q, rhs, near) if projector.options.nearest else projector.project(q, rhs)
    found = found.or_raise()
    assert found.stationarity is None or found.stationarity <= 1e-8
    return found.q


def panda_at_a_pose() -> tuple[Problem, np.ndarray]:
    robot = panda()
    q = robot.configuration({"panda_joint2": 0.3, "panda_joint4": -1.8, "panda_joint6": 2.0})
    hand = robot.frame("panda_hand")
    target = robot.at(q).placement(hand)
    costs = np.random.default_rng(1).uniform(0.5, 2.0, robot.nv)
    problem = Problem(robot, [Implicit.equal(Pose(robot, hand), target)], weights=costs)
    q[-2:] = 0.02  # the fingers, which nothing moves
    q[:-2] += 0.1 * np.random.default_rng(0).standard_normal(robot.nv - 2)
    return problem, robot.bounds.clip(q)


def talos_standing() -> tuple[Problem, np.ndarray]:
    """Feet held, centre of mass drawn beyond its box, so that inequality rows are active; the waist frozen."""
    robot = talos()
    q = standing(robot)
    placed = robot.at(q)
    held = [
        Implicit.equal(Pose(robot, name), placed.placement(robot.frame(name)), name=name)
        for name in ("leg_left_6_joint", "leg_right_6_joint")
    ]
    centre = CenterOfMass(robot)
    low = centre.value(q) + np.array([0.02, 0.02, -0.3])
    box = Implicit.above(centre, low, name="box")
    return Problem(robot, [*held, box], frozen=["torso_1_joint"]), starts(robot, q, 1)[0]


def arm_with_a_box() -> tuple[Problem, np.ndarray]:
    """The box' pose is computed from the arm's: an output in SE(3), with a right-hand side."""
    scene = next(scene for scene in sample_scenes() if "carries a box" in scene.name)
    robot = scene.robot
    grasp, upright = scene.problem.resolution.explicits[0], scene.problem.levels[0].owners[0]
    assert isinstance(grasp, Explicit)
    hold = explicit_relative_pose(
        robot, robot.frame("arm/tool", [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]), "box/body",
        [0.01, 0.02, 0.03, 0.1, -0.2, 0.1], comparison=Comparison.EQUALITY, name="grasp",
    )  # fmt: skip
    return Problem(robot, [hold, upright], weights={"box/root_joint": 0.3}), scene.starts(1, 3)[0]


NEAREST_CASES = {"panda": panda_at_a_pose, "talos": talos_standing, "box": arm_with_a_box}


@pytest.mark.parametrize("name", list(NEAREST_CASES))
def test_nearest_solutions_follow_right_hand_sides_reference_and_start(name):
    """By differences of projections to 1e-5: redundant arm, free-flyer with inequalities, computed SE(3) output."""
    problem, q0 = NEAREST_CASES[name]()
    space, projector = problem.space, Projector(problem, TIGHT)
    result = projector.project(q0).or_raise()
    sensitivity = result.sensitivity()
    assert sensitivity.kind is SensitivityKind.NEAREST
    assert not sensitivity.weakly_active
    check_rhs(projector, result, q0)
    some = np.random.default_rng(0).choice(space.nv, min(space.nv, 8), replace=False)
    for what, given in (("near", sensitivity.near), ("start", sensitivity.start)):
        measured = []
        for e in np.eye(space.nv)[some]:

            def solved(t: float, e: np.ndarray = e, what: str = what) -> np.ndarray:
                reference = space.integrate(q0, t * e)
                begin = result.q.copy()
                if what == "start":  # the same search: only what is frozen is read from the start
                    begin[frozen_entries(problem)] = reference[frozen_entries(problem)]
                return again(projector, begin, None, reference)

            measured.append(slope(space, solved, 2e-4))
        compare(given[:, some], measured)


def frozen_entries(problem: Problem) -> np.ndarray:
    space = problem.space
    return space.vector_q[problem.frozen[space.vector_v]]


def test_frozen_dofs_are_those_of_the_start():
    problem, q0 = talos_standing()
    space, projector = problem.space, Projector(problem, TIGHT)
    result = projector.project(q0).or_raise()
    column = int(np.flatnonzero(problem.frozen)[0])

    def solved(t: float) -> np.ndarray:
        step = t * np.eye(space.nv)[column]
        return again(projector, space.integrate(result.q, step), None, space.integrate(q0, step))

    measured = slope(space, solved, 2e-4)
    assert measured[column] == pytest.approx(1.0)
    compare(result.sensitivity().start[:, [column]], [measured])
    given = projector.project(q0, near=q0).or_raise().sensitivity()
    assert not given.start[:, ~problem.frozen].any()


def test_the_only_solution_follows_its_target():
    """Six rows, six joints: no refinement is needed; the start has no part in it."""
    robot = ur5()
    q = np.array([0.4, -1.2, 1.7, -2.07, -1.57, 0.4])
    target = robot.at(q).placement(robot.frame("tool0"))
    projector = Projector(Problem(robot, [Implicit.equal(Pose(robot, "tool0"), target)]), GREEDY)
    result = projector.project(q + 0.05).or_raise()
    sensitivity = result.sensitivity()
    assert sensitivity.kind is SensitivityKind.UNIQUE
    check_rhs(projector, result, q)
    assert not sensitivity.start.any()
    assert not sensitivity.near.any()
    J = Pose(robot, "tool0").jacobian(result.q)
    np.testing.assert_allclose(sensitivity.rhs, np.linalg.inv(J), rtol=1e-7, atol=1e-7)


def test_a_redundant_solution_is_continued():
    """A closed loop of two arms: the smallest motion that follows; from a start beside it, the projected motion."""
    robot = pr2()
    a, b = "l_gripper_tool_frame", "r_gripper_tool_frame"
    held = Implicit.equal(Pose(robot, b, reference=a), [0.0, -0.4, 0.0, 0.0, 0.0, 0.0, 1.0])
    problem = Problem(robot, [held], Bounds.none(robot.space))
    projector = Projector(problem, GREEDY)
    result = projector.project(robot.random(np.random.default_rng(2))).or_raise()
    sensitivity = result.sensitivity()
    assert sensitivity.kind is SensitivityKind.CONTINUED
    check_rhs(projector, result, result.q)
    some = [0, 5, 15, 22, 29]
    measured = []
    for e in np.eye(robot.nv)[some]:

        def solved(t: float, e: np.ndarray = e) -> np.ndarray:
            return projector.project(robot.space.integrate(result.q, t * e)).or_raise().q

        measured.append(slope(robot.space, solved, 2e-4))
    compare(sensitivity.start[:, some], measured)
    v = np.random.default_rng(0).standard_normal(robot.nv)
    moving = np.where(problem.columns, v, 0.0)
    np.testing.assert_allclose(sensitivity.start @ moving, problem.project_tangent(result.q, moving), atol=1e-8)


@pytest.mark.parametrize("wrap", [True, False])
def test_a_joint_that_may_turn_is_held_by_no_bound(wrap: bool):
    """Three planar joints, the first at pi, its upper bound: with `wrap` it goes on from -pi, else it is held."""
    model: Any = pin.Model()
    joint, link = 0, pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    for i in range(3):
        joint = model.addJoint(joint, pin.JointModelRZ(), link if i else pin.SE3.Identity(), f"joint {i}")
    model.addFrame(pin.Frame("tip", joint, link, pin.FrameType.OP_FRAME))
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = -np.pi, np.pi
    robot = Robot(model)
    q, tip = np.array([np.pi, 0.3, 0.4]), Position(robot, "tip")
    place, projector = tip.value(q), Options(threshold=1e-10, restarts=False, wrap=wrap)

    def problem_at(ahead: float) -> Problem:
        return Problem(robot, [Implicit.equal(tip, place + np.r_[0.0, ahead, 0.0], mask=[True, True, False])])

    def solved(ahead: float) -> np.ndarray:
        found = Projector(problem_at(ahead), projector).project(q).or_raise().q
        return q + np.remainder(found - q + 1.0, 2.0 * np.pi) - 1.0  # the turn that it takes is none

    found = Projector(problem_at(0.0), projector).project(q).sensitivity()
    assert bool(found.weakly_active) != wrap
    if wrap:
        compare(found.parameter(problem_at, 0.0), [slope(robot.space, solved, 1e-3)])
    else:
        assert abs(found.parameter(problem_at, 0.0)[0, 0]) < 1e-12


def test_parameters_of_frames_targets_bounds_and_costs():
    """The placement of a tool, a height, a joint's bound, a cost: problems of their own, by differences."""
    robot = arm()
    q0 = robot.bounds.clip(robot.neutral + np.linspace(0.1, 0.6, robot.nq))
    base = robot.at(q0 + 0.05).placement(robot.frame("tool")).translation
    name = robot.joint_names[1]
    price = {robot.joint_names[0]: 2.0}
    target = Implicit.equal(Position(robot, tool_at(robot, 0.05)), base + np.array([0.03, 0.02, -0.02]))
    free = Projector(Problem(robot, [target], weights=price), TIGHT).project(q0).or_raise()
    wall = 0.5 * float(q0[1] + free.q[1])  # a bound in the way, that the solution leans on
    side = np.sign(free.q[1] - q0[1])

    def problem_at(value: np.ndarray) -> Problem:
        length, height, edge, price = value
        target = Implicit.equal(
            Position(robot, tool_at(robot, length)), base + np.array([0.03, 0.02, height]), name="target"
        )
        box = robot.bounds.replace({name: (-2.0, edge) if side > 0.0 else (edge, 2.0)})
        return Problem(robot, [target], box, weights={robot.joint_names[0]: price})

    value = np.array([0.05, -0.02, wall, 2.0])
    projector = Projector(problem_at(value), TIGHT)
    result = projector.project(q0).or_raise()
    assert result.active_bounds
    sensitivity = result.sensitivity()
    assert not sensitivity.weakly_active
    measured = []
    for e in np.eye(4):

        def solved(t: float, e: np.ndarray = e) -> np.ndarray:
            return again(Projector(problem_at(value + t * e), TIGHT), result.q, None, q0)

        measured.append(slope(robot.space, solved, 1e-4))
    compare(sensitivity.parameter(problem_at, value), measured)
    assert measured[2][1] == pytest.approx(1.0)

    def one(height: float) -> Problem:
        return problem_at(np.array([value[0], height, *value[2:]]))

    compare(sensitivity.parameter(one, -0.02), [measured[1]])


@pytest.mark.parametrize("size", [1.0, 1e4])
def test_parameters_are_varied_by_a_part_of_their_size(size):
    """A problem that sees its parameter in steps of 1e-9 of its size: differences much wider than these see a slope."""
    step = 1e-9 * size

    def problem_at(value: float) -> Problem:
        return Problem(Rn(1), [Implicit.equal(Affine([[1.0]]), step * np.round([value / step]), name="x")])

    result = Projector(problem_at(size), TIGHT).project([size]).or_raise()
    np.testing.assert_allclose(result.sensitivity().parameter(problem_at, size), [[1.0]], rtol=0, atol=1e-3)


def tool_at(robot: Robot, length: float) -> Any:
    return robot.frame("tool", [0.0, 0.02, length, 0.0, 0.0, 0.0, 1.0])


def test_locked_joints_and_the_dofs_that_follow():
    """The right-hand side of a constant map moves its output, what is computed from that, and what makes up for it."""
    space = Rn(4)
    y = Segments.coordinates(space, [1])
    lock = locked_joint(space, Segments.coordinates(space, [0]), [0.5])
    double = Explicit(Affine([[2.0, 0.0, 0.0, 0.0]], [0.1], space), y, name="y = 2x + 0.1")
    plane = Implicit.equal(Affine([[1.0, 1.0, 1.0, 2.0]], [0.0], space), [1.0], name="plane")
    result = Projector(Problem(space, [lock, double, plane]), TIGHT).project([0.0, 0.0, 0.3, 0.2]).or_raise()
    sensitivity = result.sensitivity()
    np.testing.assert_allclose(sensitivity.rhs_of(lock)[:, 0], [1.0, 2.0, -0.6, -1.2], atol=1e-8)
    np.testing.assert_allclose(sensitivity.rhs_of("plane")[:, 0], [0.0, 0.0, 0.2, 0.4], atol=1e-8)


def test_what_has_no_sensitivity_is_refused():
    robot = arm()
    hold = Implicit.equal(Position(robot, "tool"), [0.4, 0.2, 0.5], name="hold")
    twice = Implicit.equal(hold.function, [0.4, 0.2, 0.5], name="twice")
    result = Projector(Problem(robot, [hold, twice]), TIGHT).project(robot.neutral).or_raise()
    assert result.sensitivity().near.any()
    short = Projector(Problem(robot, [hold]), Options(nearest=True, refine_iterations=0)).project(robot.neutral)
    with pytest.raises(SensitivityError, match="refine_iterations"):
        short.sensitivity()
    idle = Projector(Problem(Rn(3), [Implicit.zero(Affine([[1.0, 1.0, 1.0]], [-1.0]))], weights=[1.0, 0.0, 0.0]), TIGHT)
    with pytest.raises(SensitivityError, match="unique"):
        idle.project([0.0, 0.0, 0.0]).sensitivity()
    with pytest.raises(WrongObjectError, match="problem_at"):
        result.sensitivity().parameter(lambda value: value, 1.0)  # type: ignore[arg-type, return-value]
    with pytest.raises(SpaceMismatchError, match="other parameters"):
        result.sensitivity().parameter(lambda value: short.problem, 1.0)
    with pytest.raises(WrongObjectError, match="projection"):
        Sensitivity(3)  # type: ignore[arg-type]


def test_sensitivities_travel_and_say_what_they_are():
    problem, q0 = panda_at_a_pose()
    sensitivity = Projector(problem, TIGHT).project(q0).or_raise().sensitivity()
    there = pickle.loads(pickle.dumps(sensitivity))
    np.testing.assert_allclose(there.rhs, sensitivity.rhs, atol=1e-12)
    assert "NEAREST" in repr(sensitivity)
    assert isinstance(problem.robot, Robot)


@pytest.mark.parametrize("nearest", [False, True])
def test_computed_dofs_follow_a_start_that_nothing_moves(nearest):
    """x1 = 2 x0, and a row on x2 alone: x0 stays where it starts, and x1 moves twice as much as the start does."""
    space = Rn(3)
    couple = Explicit(Affine([[2.0, 0.0, 0.0]], [0.3], space), Segments.coordinates(space, [1]))
    problem = Problem(space, [couple, Implicit.equal(Affine([[0.0, 0.0, 1.0]], [0.0], space), [0.5])])
    projector = Projector(problem, Options(nearest=nearest, threshold=1e-10))
    start = np.array([0.2, 0.0, 0.1])
    result = projector.project(start)
    ends = [projector.project(start + h * np.eye(3)[0]).q for h in (-1e-5, 1e-5)]
    expected = (ends[1] - ends[0]) / 2e-5
    np.testing.assert_allclose(result.sensitivity().start[:, 0], expected, rtol=0, atol=1e-6)
    assert expected[1] == pytest.approx(2.0 * expected[0], abs=1e-6)

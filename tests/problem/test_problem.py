"""Problems: what they refuse, lift and describe, and what planners ask of them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, two_arms

from constraints import (
    Affine,
    Bounds,
    Comparison,
    Function,
    Implicit,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Target,
    errors,
)
from constraints.functions import Constant, Identity
from liegroups import SE3, SO3, R3xSO3, Rn, Segments


def heavier_arm() -> Robot:
    """A robot with the space of the sample arm, joint by joint, that is another robot."""
    model: Any = pin.Model(arm().model)
    model.inertias[3] = pin.Inertia(9.0, model.inertias[3].lever, model.inertias[3].inertia)
    return Robot(model, references={"home": arm().reference("home")})


def hand(robot: Robot, frame: str = "tool", name: str = "") -> Implicit:
    return Implicit.equal(Position(robot, frame), name=name)


# What is refused


def test_same_name_different_frames_both_apply():
    """Property 8: two constraints with one name and different frames are two constraints; a solution satisfies both."""
    robot, rng = two_arms(), np.random.default_rng(60)
    q = robot.reference("home")
    left = Implicit.equal(Position(robot, "left_tool", name="hand"), Position(robot, "left_tool").value(q))
    right = Implicit.equal(Position(robot, "right_tool", name="hand"), Position(robot, "right_tool").value(q))
    problem = Problem(robot, [left, right])
    assert left.name == right.name
    assert problem.constraints.size == 6
    result = Projector(problem).project(robot.random(rng))
    assert result.success
    for constraint, frame in ((left, "left_tool"), (right, "right_tool")):
        there = robot.at(result.q).placement(robot.frame(frame)).translation
        assert np.linalg.norm(there - constraint.default_rhs) <= 1e-4
    with pytest.raises(
        errors.AmbiguousNameError, match=r"2 constraints are named 'hand', at positions 0, 1: give the object"
    ):
        problem.error(q, "hand")
    assert problem.error(q, right).shape == (3,)
    for text in (problem.describe(), result.describe()):
        assert text.count("'hand' (constraint 0)") == text.count("'hand' (constraint 1)") == 1


def test_same_object_twice_is_an_error():
    """Property 8: the same object twice is diagnosed by name, within a level and across levels."""
    c = hand(arm(), name="grasp")
    for given in ([c, c], [[c], [c]], [[c, hand(arm(), "elbow")], [c]]):
        with pytest.raises(errors.DuplicateError, match="'grasp' is given twice"):
            Problem(arm(), given)
    big = arm().space * Rn(1)
    with pytest.raises(errors.DuplicateError, match="'grasp'"):
        Problem(big, [c, c])


def test_two_robots_with_equal_spaces():
    """DESIGN 2: functions of two robots are refused even where their spaces are equal; also on products."""
    other = heavier_arm()
    assert other.space == arm().space
    for where, given in (
        (arm(), [hand(arm()), hand(other, name="foreign")]),
        (arm().space, [hand(other, name="foreign")]),
        (arm().space * Rn(2), [hand(other, name="foreign")]),
        (arm().space * Rn(2), [hand(other, name="foreign").on(other.space * Rn(2))]),  # lifting does not hide it
    ):
        with pytest.raises(errors.RobotMismatchError, match="'foreign' belongs to another robot than the problem"):
            Problem(where, given)


def test_the_same_robot_after_unpickling():
    """Property 21: a function pickled and read again is of the same robot: its digest says so."""
    again = pickle.loads(pickle.dumps(hand(arm(), name="again")))
    assert again.function.robot is not arm()
    problem = Problem(arm(), [hand(arm(), "elbow"), again])
    q = arm().random(np.random.default_rng(61))
    np.testing.assert_array_equal(problem.error(q, "again"), Position(arm(), "tool").value(q))


def test_foreign_spaces():
    """Property 9: a constraint on another space is refused with its name and the two spaces."""
    there = Implicit.zero(Identity(SO3), name="there")
    with pytest.raises(errors.SpaceMismatchError, match=r"'there'.*SO3"):
        Problem(arm(), [there])
    with pytest.raises(errors.SpaceMismatchError, match=r"'there'.*2 fitting factors"):
        Problem(SO3 * SO3, [there])
    with pytest.raises(errors.SpaceMismatchError, match="bounds of a problem"):
        Problem(arm(), [hand(arm())], two_arms().bounds)


@pytest.mark.parametrize("given", [None, 3, "tool", hand(arm()), {}, [hand(arm()), "tool"], [[hand(arm())], [3]]])
def test_what_is_no_list_of_constraints(given):
    """Property 9: what is no list of constraints is refused with what was expected."""
    with pytest.raises(errors.WrongObjectError, match=r"constraint.*expected"):
        Problem(arm(), given)


# Lifting


def test_lifting_onto_a_product():
    """DESIGN 2: functions of the robot, of R^n and of the whole live together on robot.space * Rn(2)."""
    robot, rng = arm(), np.random.default_rng(62)
    space = robot.space * Rn(2)
    tool = hand(robot, name="tool")
    slack = Implicit.equal(Affine([[1.0, -1.0]]), [0.3], name="slack")
    row = np.zeros((1, 9))
    row[0, [3, 8]] = 1.0, -2.0
    tied = Implicit.zero(Affine(row, None, space), name="tied")
    problem = Problem(space, [tool, slack, tied])
    q = np.r_[robot.random(rng), 0.2, 0.7]
    expected = np.r_[Position(robot, "tool").value(q[:7]), 0.2 - 0.7 - 0.3, q[3] - 1.4]
    np.testing.assert_allclose(problem.error(q), expected, rtol=0, atol=1e-15)
    J = np.zeros((5, 9))
    J[:3, :7], J[3, 7:], J[4, [3, 8]] = Position(robot, "tool").jacobian(q[:7]), [1.0, -1.0], [1.0, -2.0]
    np.testing.assert_allclose(problem.jacobian(q), J, rtol=0, atol=1e-15)
    for which in (tool, slack, tied, "slack", 1):
        assert problem.constraints.index(which) is not None
    goal = Position(robot, "tool").value(robot.reference("home"))
    result = Projector(problem).project(q, problem.rhs.replace(tool, goal))
    assert result.success
    assert np.linalg.norm(Position(robot, "tool").value(result.q[:7]) - goal) <= 1e-4
    assert abs(result.q[7] - result.q[8] - 0.3) <= 1e-4


# What planners ask


def circle() -> Problem:
    """q on the unit circle: dimension 1, tangent (-y, x)."""
    f = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="circle")
    return Problem(Rn(2), [Implicit.zero(f)])


def test_closed_form_dimension_and_tangent():
    """Property 20, for implicit rows: on the circle the tangent is (-y, x), the dimension 1."""
    problem, rng = circle(), np.random.default_rng(63)
    for angle in np.linspace(0.0, 6.0, 25):
        x, y = np.cos(angle), np.sin(angle)
        basis = problem.tangent_basis([x, y])
        assert basis.shape == (2, 1)
        assert problem.dimension([x, y]) == 1
        assert abs(abs(basis[:, 0] @ [-y, x]) - 1.0) < 1e-12
        v = rng.uniform(-1.0, 1.0, 2)
        np.testing.assert_allclose(
            problem.project_tangent([x, y], v), (v @ [-y, x]) * np.array([-y, x]), rtol=0, atol=1e-12
        )
    assert problem.dimension([0.0, 0.0]) == 2  # where the Jacobian vanishes


@pytest.mark.parametrize("robot", [arm(), two_arms(), humanoid()], ids=str)
def test_tangent_basis_is_an_orthonormal_kernel(robot):
    """Property 20, for implicit rows: J N = 0, N' N = I, N N' v the nearest velocity with J v = 0."""
    rng, frames = np.random.default_rng(64), robot.frame_names
    problem = Problem(robot, [Implicit.equal(Pose(robot, frames[-1], reference=frames[-2])), hand(robot, frames[-1])])
    for _ in range(10):
        q, v = robot.random(rng), rng.uniform(-1.0, 1.0, robot.nv)
        J, N = problem.jacobian(q), problem.tangent_basis(q)
        rank = np.linalg.matrix_rank(J, 1e-6)
        assert N.shape == (robot.nv, robot.nv - rank)
        assert problem.dimension(q) == robot.nv - rank
        assert np.abs(J @ N).max(initial=0.0) < 1e-10
        np.testing.assert_allclose(N.T @ N, np.eye(N.shape[1]), rtol=0, atol=1e-12)
        w = problem.project_tangent(q, v)
        assert np.abs(J @ w).max() < 1e-10
        np.testing.assert_allclose(w, v - np.linalg.pinv(J, rcond=1e-6) @ (J @ v), rtol=0, atol=1e-9)
        np.testing.assert_allclose(problem.project_tangent(q, w), w, rtol=0, atol=1e-12)


def test_redundant_rows_count_once():
    """DESIGN 3.6: duplicated rows do not change the dimension."""
    robot, q = arm(), arm().reference("home")
    pose = [Implicit.equal(Pose(robot, "tool")) for _ in range(3)]
    for n in (1, 2, 3):
        problem = Problem(robot, pose[:n])
        assert problem.constraints.size == 6 * n
        assert problem.dimension(q) == 1
        assert np.abs(problem.jacobian(q) @ problem.tangent_basis(q)).max() < 1e-10


def test_residual_is_the_worst_constraint():
    """DESIGN 3.2: the residual is the largest norm of the errors of one constraint, scaled, masked rows left out."""
    f = Identity(Rn(3))
    problem = Problem(
        Rn(3), [Implicit(f, mask=[1, 1, 0], scale=2.0), Implicit(f, Comparison.SUPERIOR, mask=[0, 0, 1], margin=1.0)]
    )
    assert problem.residual([0.3, 0.4, 5.0]) == 1.0
    assert problem.residual([0.3, 0.4, -2.0]) == 3.0
    np.testing.assert_array_equal(problem.error([0.3, 0.4, -2.0]), [0.6, 0.8, -3.0])


def test_is_satisfied_whole_and_by_constraint():
    """DESIGN 3.2: as a whole a configuration must be within its bounds too; by constraint its errors alone count."""
    f = Affine([[1.0, 1.0]], -1.0, name="sum")
    bounds = Bounds(Rn(2), np.zeros(2), np.ones(2))
    problem = Problem(Rn(2), [Implicit.zero(f)], bounds)
    assert problem.is_satisfied([0.5, 0.5])
    assert problem.is_satisfied([1.0, 0.0])
    assert not problem.is_satisfied([1.2, -0.2])
    assert problem.is_satisfied([1.2, -0.2], "sum")
    assert problem.is_satisfied([1.2, -0.2], 0)
    assert not problem.is_satisfied([0.5, 0.6], "sum")
    threshold = 0.1 + 1e-12
    assert problem.is_satisfied([0.5, 0.6], threshold=threshold)
    assert not problem.is_satisfied([0.5, 0.6], threshold=0.09)
    assert problem.is_satisfied([0.5, 0.6], rhs=None, threshold=threshold)


def test_lists_are_taken_for_configurations():
    """Property 25: configurations and velocities may be lists."""
    problem = circle()
    assert problem.residual([3, 4]) == problem.residual(np.array([3.0, 4.0])) == 24.0
    assert problem.project_tangent([1, 0], [1, 1]).tolist() == pytest.approx([0.0, 1.0])
    assert problem.rows((3, 4)).error.tolist() == [24.0]


def test_results_are_copies():
    """Property 21: what a problem hands out is the caller's: the next question does not change it."""
    robot, rng = arm(), np.random.default_rng(65)
    problem = Problem(robot, [hand(robot)])
    q, other = robot.random(rng), robot.random(rng)
    J, e, rows = problem.jacobian(q), problem.error(q), problem.rows(q)
    kept = J.tobytes(), e.tobytes(), rows.error.tobytes(), rows.jacobian.tobytes()
    for question in (problem.rows, problem.jacobian, problem.error, problem.residual):
        question(other)
    assert kept == (J.tobytes(), e.tobytes(), rows.error.tobytes(), rows.jacobian.tobytes())


# Values


def test_problems_pickle_and_copy():
    """Property 21: a copy of a problem gives the same bits."""
    robot, rng = two_arms(), np.random.default_rng(66)
    turning = Implicit.equal(Position(robot, "left_tool"), Target(_rise), name="rise")
    problem = Problem(
        robot, [turning, Implicit.equal(Pose(robot, "right_tool", reference="left_tool"), mask=[1] * 5 + [0])]
    )
    for again in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem), copy.copy(problem)):
        q = robot.random(rng)
        assert again.error(q).tobytes() == problem.error(q).tobytes()
        assert again.jacobian(q).tobytes() == problem.jacobian(q).tobytes()
        assert again.rhs_at(0.5).vector.tobytes() == problem.rhs_at(0.5).vector.tobytes()
        assert again.bounds.lower.tobytes() == problem.bounds.lower.tobytes()


def _rise(t: float) -> list[float]:
    return [0.3, 0.2, 0.5 + 0.1 * t]


def test_free_body_pose_has_no_freedom():
    """Property 20, closed form: a free body whose pose is held has dimension 0, whose position is held 3."""
    box = Problem(SE3, [Implicit.equal(Identity(SE3), name="pose")])
    q = SE3.random(np.random.default_rng(67))
    assert box.dimension(q) == 0
    assert box.tangent_basis(q).shape == (6, 0)
    assert np.abs(box.project_tangent(q, np.ones(6))).max() < 1e-14
    held = Problem(R3xSO3, [Implicit(Identity(R3xSO3), mask=[1, 1, 1, 0, 0, 0])])
    assert held.dimension(R3xSO3.neutral) == 3


def test_a_problem_is_its_own_after_its_arguments_were_changed() -> None:
    """Copies and pickles of a problem have what it was made of, whatever the caller does to that later."""
    robot = arm()
    joints = list(robot.joint_names)
    weights, frozen, levels = np.ones(robot.nv), [joints[1]], [hand(robot)]
    still = np.arange(robot.nv) == 1
    by_joint: dict[str, Any] = {joints[2]: np.array([3.0])}
    first = Problem(robot, levels, weights=weights, frozen=frozen)
    second = Problem(robot, levels, weights=by_joint, frozen=still)
    weights[0], by_joint[joints[2]][0] = 100.0, 5.0
    by_joint[joints[3]] = 7.0
    frozen.append(joints[2])
    still[:] = False
    levels.append(hand(robot))
    for problem in (first, second):
        assert np.flatnonzero(problem.frozen).tolist() == [1]
        for other in (copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
            np.testing.assert_array_equal(other.weights, problem.weights)
            np.testing.assert_array_equal(other.has_cost, problem.has_cost)
            np.testing.assert_array_equal(other.frozen, problem.frozen)
            assert len(other.constraints) == 1


def test_a_part_of_a_pose_cannot_be_frozen() -> None:
    """A free body whose first velocity is zero moves along that axis when it turns: such a column is no dof to keep."""
    space = SE3 * Rn(2)
    held = Implicit.zero(Identity(space))
    for part in (Segments((0,), (0,), Rn(1)), Segments((3,), (3,), Rn(1))):
        with pytest.raises(errors.OverlapError, match="cut in two"):
            Problem(space, [held], frozen=[part])
    whole = Problem(space, [held], frozen=[Segments.of(space, 0), Segments.coordinates(space, [7])])
    assert whole.frozen.tolist() == [True] * 6 + [False, True]


def test_where_nothing_moves_there_is_no_problem() -> None:
    """A model of a stone, and a space of no dimension, are told apart."""
    with pytest.raises(errors.EmptyProblemError, match="nothing moves: robot 'stone' has only fixed joints"):
        Problem(Robot(pin.Model(), "stone"), [])
    with pytest.raises(errors.EmptyProblemError, match="the space 'R0' has no coordinate"):
        Problem(Rn(0), [])


def test_what_no_dof_moves_is_warned_of_unless_it_is_a_constant(caplog: pytest.LogCaptureFixture) -> None:
    still = Implicit.equal(Affine(np.zeros((1, 2)), [0.0]), name="still")
    moved = Implicit.equal(Affine([[1.0, 0.0]]), name="moved")
    chosen = Implicit.equal(Constant([0.0], Rn(1), Rn(2)), name="chosen")
    for owners, named in (
        ([moved], []), ([moved, chosen], []), ([moved, still], ["still"]), ([[moved, chosen], [still]], ["still"]),
    ):  # fmt: skip
        Problem(Rn(2), owners)
        assert [message.split("'")[1] for message in caplog.messages] == named
        caplog.clear()


def test_other_bounds_take_the_place_of_those_in_force() -> None:
    """All else stays: constraints, levels, costs, frozen dofs, an optional last level."""
    robot = arm()
    hand, wish = (
        Implicit.zero(Position(robot, "tool"), name="hand"),
        Implicit.zero(Position(robot, "elbow"), name="wish"),
    )
    narrow = Bounds(robot.space, np.full(7, -0.25), np.full(7, 0.5))
    problem = Problem(
        robot, [[hand], [wish]], narrow, weights={"elbow": 3.0}, frozen=["wrist_roll"], optional_last=True
    )
    other = problem.with_bounds(robot.bounds)
    np.testing.assert_array_equal(problem.bounds.upper, np.full(7, 0.5))
    np.testing.assert_array_equal(other.bounds.upper, robot.bounds.upper)
    assert [level.names for level in other.levels] == [level.names for level in problem.levels]
    assert other.contains(hand)
    assert other.optional_last
    for name in ("weights", "frozen"):
        np.testing.assert_array_equal(getattr(other, name), getattr(problem, name))

"""locked_joint: a joint held at a value, whole or in part, of a robot or beside it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from robots import arm, joint_models, mixed_tree

from constraints import Comparison, Implicit, Position, Problem, Projector, errors, locked_joint
from constraints.testing import check_function
from liegroups import SE2, SE3, SO2, SO3, Rn, Segments

JOINTS = list(joint_models())


def group_of(joint: str) -> Any:
    return mixed_tree().segments(joint).space


def value_of(joint: str, seed: int = 3) -> np.ndarray:
    return group_of(joint).random(np.random.default_rng(seed))


@pytest.mark.parametrize("joint", JOINTS)
def test_joint_of_every_type_is_held_at_its_value(joint: str) -> None:
    """Property 10: the joint has the value bit for bit, the other joints are the start's bit for bit."""
    robot, value = mixed_tree(), value_of(joint)
    locked = locked_joint(robot, joint, value)
    problem = Problem(robot, [locked])
    assert locked.is_constant
    assert locked.rows.words == ("EQUALITY",) * group_of(joint).nv
    assert not locked.map.columns.any()
    assert (problem.reduced_size, int(problem.free.sum())) == (0, robot.nv - group_of(joint).nv)
    s = robot.slice_of(joint)
    for seed in range(5):
        q = robot.random(np.random.default_rng(seed))
        result = Projector(problem).project(q)
        assert (result.success, result.iterations) == (True, 0)
        np.testing.assert_array_equal(result.q[s], locked.map.value(q))  # the value, its unit vectors normalised
        np.testing.assert_allclose(result.q[s], value, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(np.delete(result.q, range(s.start, s.stop)), np.delete(q, range(s.start, s.stop)))
        assert problem.residual(result.q) < 1e-12


@pytest.mark.parametrize("joint", a_few(JOINTS, 9))
def test_right_hand_side_is_the_difference_from_the_value(joint: str) -> None:
    """Property 4: rhs_from(q) holds the joint where q has it; its log is the difference from the value."""
    robot, value, group = mixed_tree(), value_of(joint), group_of(joint)
    locked = locked_joint(robot, joint, value)
    problem = Problem(robot, [locked])
    s = robot.slice_of(joint)
    assert not group.log(problem.rhs.of(locked)).any()
    for seed in range(5):
        there, elsewhere = (robot.random(np.random.default_rng([seed, i])) for i in range(2))
        sides = problem.rhs_from(there)
        np.testing.assert_allclose(group.log(sides.of(locked)), group.difference(value, there[s]), rtol=0, atol=1e-12)
        assert problem.residual(there, sides) < 1e-12
        relocked = Projector(problem).project(elsewhere, sides).q
        np.testing.assert_allclose(group.difference(there[s], relocked[s]), 0.0, rtol=0, atol=1e-12)
        again = problem.rhs_from(relocked)
        assert again.same_as(sides, 1e-12)


@pytest.mark.parametrize("joint", a_few(JOINTS, 9))
def test_error_of_a_locked_joint_is_its_distance(joint: str) -> None:
    """Property 1: the twin is value^-1 q, its Jacobian the identity on the joint, zero elsewhere."""
    robot, group = mixed_tree(), group_of(joint)
    value = value_of(joint)
    locked = locked_joint(robot, joint, value)
    check_function(locked.twin.function, samples=1)
    problem = Problem(robot, [locked])
    q = robot.random(np.random.default_rng(9))
    s, v = robot.slice_of(joint), robot.velocity_slice_of(joint)
    q[s] = group.integrate(value, np.full(group.nv, 0.1))
    np.testing.assert_allclose(problem.error(q), 0.1, rtol=0, atol=1e-12)
    q[s] = value
    J = problem.jacobian(q)
    np.testing.assert_allclose(J[:, v], np.eye(group.nv), rtol=0, atol=1e-12)
    assert not np.delete(J, range(v.start, v.stop), axis=1).any()


@pytest.mark.parametrize(
    ("joint", "given", "expected"),
    [
        ("rx", 0.3, [0.3]),
        ("rubx", 0.3, [np.cos(0.3), np.sin(0.3)]),
        ("rubx", [0.6, 0.8], [0.6, 0.8]),
        ("planar", [1.0, 2.0, 0.3], [1.0, 2.0, np.cos(0.3), np.sin(0.3)]),
        ("spherical", pin.utils.rotate("x", 0.4), [np.sin(0.2), 0.0, 0.0, np.cos(0.2)]),
        ("free", pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]),
        ("translation", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    ],
    ids=str,
)
def test_values_are_given_as_in_configurations(joint: str, given: Any, expected: list[float]) -> None:
    """Numbers, angles, rotations, placements."""
    robot = mixed_tree()
    locked = locked_joint(robot, joint, given)
    q = Projector(Problem(robot, [locked])).project(robot.neutral).q
    np.testing.assert_allclose(q[robot.slice_of(joint)], expected, rtol=0, atol=1e-15)


def test_value_is_neutral_by_default() -> None:
    """Without a value the neutral element."""
    robot = mixed_tree()
    for joint in JOINTS:
        q = Projector(Problem(robot, [locked_joint(robot, joint)])).project(robot.random(np.random.default_rng(0))).q
        np.testing.assert_array_equal(q[robot.slice_of(joint)], group_of(joint).neutral)


def test_part_of_a_vector_joint_is_held() -> None:
    """Two coordinates of a translation joint, and coordinates of several joints, not neighbours."""
    robot = mixed_tree()
    v = robot.velocity_slice_of("translation").start
    q = robot.random(np.random.default_rng(1))
    block = Segments.coordinates(robot.space, [v, v + 2])
    locked = locked_joint(robot, block, [0.5, -0.5])
    solved = Projector(Problem(robot, [locked])).project(q).q
    s = robot.slice_of("translation").start
    np.testing.assert_array_equal(solved[s : s + 3], [0.5, q[s + 1], -0.5])
    assert (solved != q).sum() == 2
    spread = Segments.coordinates(robot.space, [robot.velocity_slice_of("rx").start, v + 1])
    locked = locked_joint(robot, spread, [0.1, 0.2], name="spread")
    problem = Problem(robot, [locked])
    solved = Projector(problem).project(q).q
    assert (solved[robot.slice_of("rx").start], solved[s + 1]) == (0.1, 0.2)
    assert "rx, translation[1]" in problem.describe()
    sides = problem.rhs_from(q)
    np.testing.assert_allclose(sides.of("spread"), [q[0] - 0.1, q[s + 1] - 0.2], rtol=0, atol=1e-15)


def test_joints_are_held_together() -> None:
    """Segments of several joints, rotations among them."""
    robot = mixed_tree()
    block = robot.segments("rx", "spherical", "rubz")
    value = block.space.random(np.random.default_rng(2))
    solved = Projector(Problem(robot, [locked_joint(robot, block, value)])).project(robot.neutral).q
    np.testing.assert_allclose(solved[list(block.q)], value, rtol=0, atol=1e-15)


@pytest.mark.parametrize("first", [True, False], ids=["robot first", "robot last"])
def test_extra_variables_beside_a_robot_are_held(first: bool) -> None:
    """robot.space * Rn(k): a variable by its segments, a factor by its name, a joint through the robot."""
    robot = arm()
    space = robot.space * Rn(3) if first else Rn(3) * robot.space
    extra = 7 if first else 0
    one = locked_joint(space, Segments.coordinates(space, [extra + 1]), 0.4, name="extra")
    joint = locked_joint(robot, "elbow", 1.0)
    tool = Position(robot, "tool")
    there = tool.value([0.3, 0.4, -0.2, 1.0, 0.5, 0.6, 0.0])
    problem = Problem(space, [one, joint, Implicit.equal(tool, there)])
    assert problem.reduced_size == 3
    q = np.random.default_rng(0).uniform(0.0, 0.5, 10)
    result = Projector(problem).project(q)
    assert result.success
    elbow = 3 if first else 6
    assert (result.q[extra + 1], result.q[elbow]) == (0.4, 1.0)
    np.testing.assert_array_equal(result.q[[extra, extra + 2]], q[[extra, extra + 2]])
    sides = problem.rhs_from(q)
    np.testing.assert_allclose(sides.of(one), q[extra + 1] - 0.4, rtol=0, atol=1e-15)
    np.testing.assert_allclose(sides.of(joint), q[elbow] - 1.0, rtol=0, atol=1e-15)
    whole = locked_joint(space, space.factors[1 if first else 0].name, [0.1, 0.2, 0.3])
    solved = Projector(Problem(space, [whole])).project(q).q
    np.testing.assert_array_equal(solved[extra : extra + 3], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("group", [Rn(3), SO2, SO3, SE2, SE3], ids=str)
def test_whole_space_is_held(group: Any) -> None:
    """A space without robot, all of it: nothing is free."""
    value = group.random(np.random.default_rng(4))
    locked = locked_joint(group, Segments.all(group), value)
    problem = Problem(group, [locked])
    assert not problem.free.any()
    result = Projector(problem).project(group.neutral)
    assert result.success
    np.testing.assert_allclose(result.q, value, rtol=0, atol=1e-15)


def test_locked_joint_out_of_its_bounds_ends_in_that_status() -> None:
    """Outputs are never clamped; their bounds are checked at the end."""
    robot = arm()
    result = Projector(Problem(robot, [locked_joint(robot, "elbow", -1.0)])).project(
        robot.random(np.random.default_rng(0))
    )
    assert result.status.name == "OUT_OF_BOUNDS"
    assert result.q[3] == -1.0


def test_refusals_name_the_joint() -> None:
    """Property 7 and 9: unknown joints, values of another size, of another kind; the message says which joint."""
    robot = mixed_tree()
    with pytest.raises(errors.UnknownJointError, match="spherical"):
        locked_joint(robot, "sperical")
    with pytest.raises(errors.UnknownNameError, match="no"):
        locked_joint(Rn(2) * SO3, "no")
    for joint, bad in (("rx", [0.1, 0.2]), ("free", np.zeros(6)), ("spherical", np.zeros(3)), ("planar", [1.0, 2.0])):
        with pytest.raises(errors.SizeError, match=f"value of locked '{joint}'"):
            locked_joint(robot, joint, bad)
    with pytest.raises(errors.SizeError, match=r"value of locked '\[0, 1\]'"):
        locked_joint(Rn(3), Segments.coordinates(Rn(3), [0, 1]), [1.0, 2.0, 3.0])
    with pytest.raises(errors.NotNormalizedError, match="value of locked 'spherical'"):
        locked_joint(robot, "spherical", [0.0, 0.0, 0.0, 2.0])
    with pytest.raises(errors.NotFiniteError, match="value of locked 'rx'"):
        locked_joint(robot, "rx", np.nan)
    with pytest.raises(errors.DtypeError, match="value of locked 'rx'"):
        locked_joint(robot, "rx", "zero")
    with pytest.raises(errors.WrongObjectError, match="value of locked 'rx'"):
        locked_joint(robot, "rx", pin.SE3.Identity())
    with pytest.raises(errors.WrongObjectError, match="where of a locked joint"):
        locked_joint("robot", "rx")  # type: ignore[arg-type]
    with pytest.raises(errors.WrongObjectError, match="at least one coordinate"):
        locked_joint(robot, Segments.empty())
    with pytest.raises(errors.SizeError, match=r"outputs of 'locked \[2\]'.*below 2"):
        locked_joint(Rn(2), Segments((2,), (2,), Rn(1)))
    with pytest.raises(errors.SpaceMismatchError, match="outputs of"):
        locked_joint(SO2 * Rn(2), Segments((0,), (0,), Rn(1)))
    with pytest.raises(errors.OverlapError, match="cut in two"):
        locked_joint(SO3, Segments((0,), (0,), Rn(1)))


def test_names_and_copies() -> None:
    """A locked joint has a name of its own, pickles, and is EQUALITY on all rows."""
    robot = mixed_tree()
    locked = locked_joint(robot, "free", value_of("free"))
    assert locked.name == "locked free"
    assert locked_joint(robot, "free", name="fixed").name == "fixed"
    again = pickle.loads(pickle.dumps(locked))
    np.testing.assert_array_equal(again.map.value(robot.neutral), value_of("free"))
    assert locked.comparison is Comparison.EQUALITY

"""Which bodies a state holds together, what distance the others keep, right-hand sides along parts of a path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import two_arms

from constraints import Comparison, Implicit, Pose, Position, Problem, Target, locked_joint
from constraints.errors import OptionError, WrongObjectError
from constraints.functions import ConvexShapeContactHold, Surface
from constraints.paths.moving_rhs import MovingRightHandSide
from constraints.paths.relative_motion import SecurityMargins, Tie, collision_pairs, relative_motion
from liegroups import SE3, R3xSO3

EQUALITY, ZERO, SUPERIOR, _ = Comparison
SIX = Pose(two_arms(), "right_tool", reference="left_tool")


def standing(count: int) -> Implicit:
    """A square on the right tool that stands on one of several on the left tool."""
    robot, square = two_arms(), [[-0.1, -0.1, 0.0], [0.1, -0.1, 0.0], [0.1, 0.1, 0.0], [-0.1, 0.1, 0.0]]
    floors = [Surface(f"floor {i}", robot.frame("left_tool"), square) for i in range(count)]
    return Implicit.zero(ConvexShapeContactHold(robot, floors, Surface("sole", robot.frame("right_tool"), square)))


def joint_of(frame: str) -> str:
    robot = two_arms()
    return str(robot.model.names[robot.frame(frame).joint])


@pytest.mark.parametrize(
    ("constraint", "tie"),
    [
        (Implicit.zero(SIX), Tie.CONSTRAINED),
        (Implicit.equal(SIX), Tie.PARAMETERIZED),
        (Implicit.zero(Pose(two_arms(), "right_tool", reference="left_tool", outputs=R3xSO3)), Tie.CONSTRAINED),
        (Implicit(SIX, [EQUALITY] + [ZERO] * 5), Tie.PARAMETERIZED),
        (Implicit.zero(SIX, mask=[1, 1, 1, 1, 1, 0]), Tie.UNCONSTRAINED),
        (Implicit(SIX, [ZERO] * 5 + [SUPERIOR]), Tie.UNCONSTRAINED),
        (Implicit.below(SIX, [0.0] * 6), Tie.UNCONSTRAINED),
        (Implicit.above(SIX, [0.0] * 6), Tie.UNCONSTRAINED),
        (Implicit.between(SIX, [-0.1] * 6, [0.0] * 6), Tie.UNCONSTRAINED),
        (Implicit.between(SIX, [0.0] * 6, [0.1] * 6), Tie.UNCONSTRAINED),
        (Implicit.zero(Position(two_arms(), "right_tool", reference="left_tool")), Tie.UNCONSTRAINED),
        (standing(1), Tie.CONSTRAINED),
        (standing(2), Tie.UNCONSTRAINED),
    ],
)
def test_six_equalities_of_a_relative_pose_hold_two_bodies_together(constraint: Implicit, tie: Tie) -> None:
    """Nothing less does: no row may be left out, be an inequality, or have a width."""
    left, right = joint_of("left_tool"), joint_of("right_tool")
    found = relative_motion(two_arms(), [constraint])
    assert found.between(left, right) is found.between(right, left) is tie
    assert found.between(left, left) is Tie.CONSTRAINED
    assert found.between("universe", left) is found.between("universe", right) is Tie.UNCONSTRAINED
    free = "all bodies are free to move against each other"
    assert found.describe() == (free if tie is Tie.UNCONSTRAINED else f"{left} and {right}: {tie.value}")
    margins = SecurityMargins(0.01, {(right, left): 0.25})
    pairs = collision_pairs(found, margins, [(left, right), ("universe", left)])
    assert [(pair.a, pair.b, pair.margin) for pair in pairs] == [(left, right, 0.25)] * (tie is Tie.UNCONSTRAINED) + [
        ("universe", left, 0.01)
    ]


def test_ties_follow_each_other() -> None:
    """What is held by what is held is held, on a leaf where one of the ties is that of a leaf."""
    robot, left, right = two_arms(), joint_of("left_tool"), joint_of("right_tool")
    world = Implicit.equal(Pose(robot, "left_tool"))
    found = relative_motion(robot, [Implicit.zero(SIX), world])
    assert found.between(left, right) is Tie.CONSTRAINED
    assert found.between("universe", left) is Tie.PARAMETERIZED
    assert found.between("universe", right) is Tie.PARAMETERIZED
    assert relative_motion(robot, []).describe() == "all bodies are free to move against each other"


def test_a_joint_that_is_locked_holds_its_two_bodies() -> None:
    robot = two_arms()
    for i, joint in enumerate(robot.joint_names, start=1):
        parent = ("universe", *robot.joint_names)[int(robot.model.parents[i])]
        found = relative_motion(robot, [locked_joint(robot, joint)])
        assert found.describe() == f"{parent} and {joint}: {Tie.PARAMETERIZED.value}"
    first = relative_motion(robot, [locked_joint(robot, joint) for joint in robot.joint_names[:2]])
    names = ("universe", *robot.joint_names)
    assert first.describe().splitlines() == [
        f"{names[i]} and {names[j]}: {Tie.PARAMETERIZED.value}" for i, j in ((0, 1), (0, 2), (1, 2))
    ]


def test_a_target_that_moves_in_time_holds_nothing() -> None:
    """The bodies move against each other along it, so that their collisions are looked for."""
    robot, left = two_arms(), joint_of("left_tool")
    moving = Target(lambda t: [0.1 * t, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0])
    found = relative_motion(robot, [Implicit.equal(Pose(robot, "left_tool"), moving)])
    assert found.describe() == "all bodies are free to move against each other"
    assert collision_pairs(found, SecurityMargins(), [("universe", left)]) == (("universe", left, 0.0),)


def test_margins_are_zero_unless_they_are_given() -> None:
    assert SecurityMargins().between("a", "b") == 0.0
    margins = SecurityMargins(-0.01, {("b", "a"): 0.1})
    assert margins.between("a", "b") == margins.between("b", "a") == 0.1
    assert margins.between("a", "c") == margins.between("a", "a") == -0.01


def test_margins_are_of_two_joints_each_pair_once() -> None:
    wrong: list[Any] = [("a",), ("a", "b", "c"), ("a", 1), (1, "a"), 1]
    for pair in wrong:
        with pytest.raises(WrongObjectError, match=r"pair of a margin: expected (a sequence of )?two joint names"):
            SecurityMargins(0.0, {pair: 0.1})
    with pytest.raises(OptionError, match="only once"):
        SecurityMargins(0.0, {("a", "b"): 0.1, ("b", "a"): 0.1})
    assert SecurityMargins(0.0, {("a", "b"): 0.1, ("a", "c"): 0.2}).between("c", "a") == 0.2


@pytest.mark.parametrize("first", [(0.0, 1.0), (0.2, 0.8), (0.7, 0.1)])
@pytest.mark.parametrize("second", [(0.5, 1.0), (1.0, 0.0), (0.25, 0.75)])
def test_a_part_of_a_part_of_moving_right_hand_sides(first: tuple[float, float], second: tuple[float, float]) -> None:
    """Times go through both windows; the way between two points is the geodesic, its ends are they, bit for bit."""
    problem = Problem(two_arms(), [Implicit.equal(Pose(two_arms(), "left_tool"))])
    rng = np.random.default_rng(3)
    begin, end = SE3.random(rng), SE3.random(rng)
    sides: Any = (begin, end)
    moving = MovingRightHandSide.of(problem, sides)
    np.testing.assert_array_equal(moving.at(0.0).vector, begin)
    np.testing.assert_array_equal(moving.at(1.0).vector, end)
    part = moving.between(*first).between(*second)
    for t in (0.0, 0.3, 1.0):
        inner = second[0] + t * (second[1] - second[0])
        s = first[0] + inner * (first[1] - first[0])
        expected = SE3.integrate(begin, s * SE3.difference(begin, end))
        assert np.abs(SE3.difference(expected, part.at(t).vector)).max() < 1e-12

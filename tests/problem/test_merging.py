"""Merging of problems and of stacks: what each asks for, together; right-hand sides of parts; what does not go."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box
from robots import arm

from constraints import (
    Affine,
    Bounds,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Position,
    Problem,
    Projector,
    Robot,
    Stack,
    errors,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
)
from constraints.functions import Identity
from constraints.models import sample_arm
from liegroups import SO2, SO3, ProductSpace, Rn, Segments, Space

EQUALITY = Comparison.EQUALITY


def linear(space: Space, *row: float, name: str, rhs: float = 0.0) -> Implicit:
    """One linear row on the numbers of a space."""
    return Implicit.equal(Affine([row], None, space), [rhs], name=name)


def names(problem: Problem) -> list[list[str]]:
    return [list(level.names) for level in problem.levels]


def test_levels_by_number_and_shared_constraints_once() -> None:
    """HPP's merge is a union: a constraint of both is there once; errors by constraint are slices of the whole."""
    space = Rn(4)
    a, b, c, d = (linear(space, *np.eye(4)[i], name="abcd"[i], rhs=0.1 * i) for i in range(4))
    left, right = Problem(space, [[a, b], [c]]), Problem(space, [[b], [d]])
    both = left | right
    assert names(both) == [["a", "b"], ["c", "d"]]
    assert both.constraints.owners == (a, b, c, d)
    assert both.implies(left)
    assert both.implies(right)
    assert not left.implies(both)
    q = np.array([1.0, 2.0, 3.0, 4.0])
    for part in (left, right):
        for owner in part.constraints:
            np.testing.assert_array_equal(both.error(q, owner), part.error(q, owner))
    np.testing.assert_array_equal(both.error(q), [1.0, 1.9, 2.8, 3.7])
    assert names(Problem.merged(left, right, Problem(space, [a]))) == names(both)
    assert names(left.merged()) == names(left)


@pytest.mark.parametrize("seed", range(12))
def test_levels_of_any_problems_are_merged_by_one_rule(seed: int) -> None:
    """Each constraint once, in the order in which it comes first, where it matters most; wishes are the last level."""
    rng, space = np.random.default_rng(seed), Rn(6)
    every = [linear(space, *np.eye(6)[i], name="abcdef"[i]) for i in range(6)]
    parts: list[Problem] = []
    for _ in range(int(rng.integers(1, 4))):
        chosen = list(rng.permutation(6)[: rng.integers(1, 5)])
        levels: list[list[Implicit]] = [[] for _ in range(int(rng.integers(1, 4)))]
        for i in chosen:
            levels[int(rng.integers(0, len(levels)))].append(every[int(i)])
        levels[-1] = levels[-1] or [every[0]] if not any(every[0] in level for level in levels) else levels[-1]
        parts.append(Problem(space, levels, optional_last=len(levels) > 1 and bool(rng.integers(0, 2))))
    place: dict[str, int] = {}
    for part in parts:
        for i, level in enumerate(part.constraint_levels):
            is_wish = part.optional_last and i == len(part.constraint_levels) - 1
            for owner in level:
                place[owner.name] = min(place.get(owner.name, 9), 9 if is_wish else i)
    needed = [level for level in place.values() if level < 9]
    expected = [[n for n, at in place.items() if at == i] for i in range(max([0, *needed]) + 1)]
    wishes = [n for n, at in place.items() if at == 9]
    both = Problem.merged(*parts)
    assert [[owner.name for owner in level] for level in both.constraint_levels] == expected + [wishes] * bool(wishes)
    assert both.optional_last == bool(wishes)


def test_bounds_are_intersected_and_frozen_dofs_united() -> None:
    robot = arm()
    joint, other = robot.joint_names[1], robot.joint_names[2]
    hand = Implicit.equal(Position(robot, "tool"), [0.3, 0.2, 0.5])
    wrist = locked_joint(robot, robot.joint_names[-1], 0.5)
    left = Problem(robot, [hand], robot.bounds.replace({joint: (-0.5, 2.0)}), frozen=[other])
    right = Problem(robot, [hand, wrist], robot.bounds.replace({joint: (-1.0, 0.25)}), frozen=[robot.joint_names[0]])
    both = left | right
    column = robot.segments(joint).v[0]
    assert (both.bounds.tangent_lower[column], both.bounds.tangent_upper[column]) == (-0.5, 0.25)
    others = np.arange(robot.nv) != column
    np.testing.assert_array_equal(both.bounds.tangent_lower[others], robot.bounds.tangent_lower[others])
    np.testing.assert_array_equal(both.frozen, left.frozen | right.frozen)
    assert both.robot is robot
    free = left | Problem(robot, [wrist], Bounds.none(robot.space))  # no bounds take nothing away
    np.testing.assert_array_equal(free.bounds.lower, left.bounds.lower)
    apart = Problem(robot, [wrist], robot.bounds.replace({joint: (0.5, 1.0)}))
    with pytest.raises(errors.EmptyIntervalError, match=joint):
        right | apart


@pytest.mark.parametrize("front", [False, True])
def test_a_problem_of_a_factor_is_lifted(front: bool) -> None:
    """`robot.space` with `robot.space * Rn(2)`, the robot first or last: constraints, explicit ones, bounds, costs and
    frozen dofs move to the robot's place."""
    robot = arm()
    space = Rn(2) * robot.space if front else robot.space * Rn(2)
    at = 2 if front else 0
    hand = Implicit.equal(Position(robot, "tool"), [0.3, 0.2, 0.5], name="hand")
    follow = linear_coupling(robot, robot.joint_names[5], {robot.joint_names[3]: -0.5}, 0.1)
    half = Function.from_callable(lambda x: 0.5 * x, Rn(1), Rn(1), lambda x: np.array([[0.5]]), name="half")
    unbound = Explicit(half, Segments((4,), (4,), Rn(1)), Segments((2,), (2,), Rn(1)), name="half")
    small = Problem(robot, [hand, follow, unbound], weights={robot.joint_names[1]: 3.0}, frozen=[robot.joint_names[0]])
    extra = Affine(np.eye(2, 9, 0 if front else 7), [-1.0, 2.0], space, name="extra")
    big = Problem(space, [Implicit.zero(extra)])
    for both in (small | big, big | small):
        assert both.space is space
        assert both.contains(hand)
        assert both.contains(follow)
        np.testing.assert_array_equal(both.bounds.lower[at : at + 7], robot.bounds.lower)
        assert np.isinf(both.bounds.lower[[0, 1] if front else [7, 8]]).all()
        assert np.flatnonzero(both.frozen).tolist() == [at]
        assert np.flatnonzero(both.weights != 1.0).tolist() == [at + 1]
        assert {v for e in both.resolution.explicits for v in e.outputs.v} == {at + 5, at + 4}
        start = np.zeros(9)
        start[at : at + 7] = robot.random(np.random.default_rng(3))
        start[at] = 0.1
        q = Projector(both).project(start).or_raise().q
        arm_part = q[at : at + 7]
        assert np.abs(robot.at(arm_part).placement(robot.frame("tool")).translation - [0.3, 0.2, 0.5]).max() < 1e-4
        assert (arm_part[0], arm_part[5], arm_part[4]) == (0.1, 0.1 - 0.5 * arm_part[3], 0.5 * arm_part[2])
        np.testing.assert_allclose(q[:2] if front else q[7:], [1.0, -2.0], atol=1e-4)
    shared = Problem(space, [hand, Implicit.zero(extra)]) | small  # lifted there, given as it is here
    assert sorted(shared.constraints.names) == sorted(["hand", "extra", follow.name, "half"])


def test_one_constraint_that_computes_other_dofs_is_two() -> None:
    """Without a space of its own it computes the third number of the problem that it is given to, merged or not."""
    robot = arm()
    space = Rn(2) * robot.space
    half = Explicit(Affine([[0.5]]), Segments((4,), (4,), Rn(1)), Segments((2,), (2,), Rn(1)), name="half")
    big, small = Problem(space, [half]), Problem(robot, [half])
    for both in (big | small, small | big):
        assert sorted(v for e in both.resolution.explicits for v in e.outputs.v) == [4, 6]
    assert len((big | Problem(space, [half])).constraints) == 1


def test_what_cannot_stay_explicit_becomes_implicit_and_says_why() -> None:
    """Of two constraints that compute one dof the first problem's stays explicit."""
    robot = arm()
    joint = robot.joint_names[5]
    couple = linear_coupling(robot, joint, {robot.joint_names[3]: -0.5}, 0.1, name="couple")
    lock = locked_joint(robot, joint, 0.3, name="lock")
    left, right = Problem(robot, [[], [couple]]), Problem(robot, [[], [lock]])
    both = left | right
    assert [e.name for e in both.resolution.explicits] == ["couple"]
    assert "already computed by 'couple'" in both.describe()
    assert names(both) == [[], ["lock"]]
    assert [e.name for e in (right | left).resolution.explicits] == ["lock"]


# Right-hand sides.


def test_right_hand_sides_of_parts() -> None:
    """Property 4: what each part has is there, bit for bit, per constraint; the rest keeps its default."""
    robot = arm_and_box()
    hold = explicit_relative_pose(robot, "gripper", "handle", comparison=EQUALITY, name="hold")
    hand, elbow, high = (
        Implicit.equal(Position(robot, f), [0.0, 0.0, 0.0], name=f) for f in ("gripper", "elbow", "handle")
    )
    left, right = Problem(robot, [[hand, hold], [elbow]]), Problem(robot, [high, hold])
    both = left | right
    q = robot.random(np.random.default_rng(8))
    a, b = left.rhs_from(q), right.rhs_from(q)
    made = both.rhs_from_parts(a, b)
    for part in (a, b):
        for owner in part.stack:
            np.testing.assert_array_equal(made.of(owner), part.of(owner))
    assert made.same_as(both.rhs_from(q))
    half = both.rhs_from_parts(a)
    np.testing.assert_array_equal(half.of(high), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(both.rhs_from_parts().vector, both.rhs.vector)
    with pytest.raises(errors.MergeConflictError, match="right-hand side of 'hold'"):
        both.rhs_from_parts(a, right.rhs_from(robot.random(np.random.default_rng(9))))
    with pytest.raises(errors.UnknownNameError, match="gripper"):
        right.rhs_from_parts(a)
    with pytest.raises(errors.WrongObjectError, match="part of right-hand sides"):
        both.rhs_from_parts(a.vector)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["implicit", "inequality", "explicit"])
def test_a_constraint_that_is_lifted_twice_is_found_by_the_object_the_user_holds(kind: str) -> None:
    """A factor of a factor, merged step by step: contains, implies, right-hand sides, errors, and once only.

    `merged.contains(h)` was False, and `merged.rhs.replace(h, ...)` said that h was none of the constraints there.
    """
    inner = SO3 * Rn(2)
    middle_space = ProductSpace([inner, SO2])
    big_space = ProductSpace([middle_space, Rn(1)])
    pick = Affine([[0.0, 0.0, 0.0, 1.0, 1.0]], None, inner, name="sum")
    half = Function.from_callable(lambda x: 0.5 * x, Rn(1), Rn(1), lambda x: np.array([[0.5]]), name="half")
    h = {
        "implicit": lambda: Implicit.equal(pick, [0.4], name="h"),
        "inequality": lambda: Implicit.above(pick, 0.1, name="h"),
        "explicit": lambda: Explicit(
            half, Segments((5,), (4,), Rn(1)), Segments((4,), (3,), Rn(1)), whole=inner, comparison=EQUALITY, name="h"
        ),
    }[kind]()
    small = Problem(inner, [h])
    middle = small | Problem(middle_space, [Implicit.equal(Identity(SO2), name="turn").on(middle_space)])
    big = middle | Problem(big_space, [linear(Rn(1), 1.0, name="number").on(big_space)])
    assert big.constraints.names.count("h") == 1
    for held in (h, middle.constraints[h]):
        assert big.contains(held)
        assert big.constraints.index(held) == big.constraints.names.index("h")
    assert big.implies(small)
    assert big.implies(middle)
    q = big.space.random(np.random.default_rng(0))
    np.testing.assert_allclose(big.error(q, h), small.error(q[: inner.nq], h), rtol=0, atol=1e-14)
    if kind != "inequality":
        np.testing.assert_array_equal(big.rhs.replace(h, [0.7]).of(h), [0.7])
        np.testing.assert_array_equal(big.rhs_from_parts(middle.rhs.replace(h, [0.7])).of("h"), [0.7])
    assert (big | middle).constraints.names.count("h") == 1


# What does not go, and stacks.


def test_what_does_not_go_together_is_refused() -> None:
    robot = arm()
    hand = Implicit.equal(Position(robot, "tool"), [0.3, 0.2, 0.5])
    problem = Problem(robot, [hand])
    twin = Robot(pickle.loads(pickle.dumps(robot.model)), "twin").with_frame("extra", "tool", np.eye(4))
    other = sample_arm().with_bounds({robot.joint_names[0]: (-0.1, 0.1)})
    assert (problem | Problem(other, [Implicit.equal(Position(other, "tool"), [0.3, 0.2, 0.5])])).robot is robot
    with pytest.raises(errors.RobotMismatchError, match="two robots"):
        problem | Problem(two := _shifted(twin), [Implicit.equal(Position(two, "tool"), [0.3, 0.2, 0.5])])
    with pytest.raises(errors.SpaceMismatchError, match="factor"):
        problem | Problem(Rn(3), [linear(Rn(3), 1.0, 1.0, 1.0, name="sum")])
    halves = [Problem(robot.space * Rn(k), [hand]) for k in (1, 2)]
    with pytest.raises(errors.SpaceMismatchError, match="factor"):
        halves[0] | halves[1]
    for nothing in (None, hand, [hand], robot):
        with pytest.raises(errors.WrongObjectError, match="a Problem"):
            problem | nothing  # type: ignore[operator]


def _shifted(robot: Robot) -> Robot:
    """The same joints, one of them elsewhere."""
    model: Any = pickle.loads(pickle.dumps(robot.model))
    placement = model.jointPlacements[2].copy()
    placement.translation += 0.1
    model.jointPlacements[2] = placement
    return Robot(model, "shifted")


def test_a_merged_problem_pickles() -> None:
    robot = arm()
    a, b = (Implicit.equal(Position(robot, f), [0.3, 0.2, 0.5], name=f) for f in ("tool", "elbow"))
    both = Problem(robot, [a], weights={robot.joint_names[0]: 4.0}) | Problem(robot.space * Rn(1), [[a], [b]])
    again = pickle.loads(pickle.dumps(both))
    assert names(again) == names(both) == [["tool"], ["elbow"]]
    np.testing.assert_array_equal(again.weights, both.weights)
    q = np.linspace(-0.5, 0.5, 8)
    np.testing.assert_array_equal(again.error(q), both.error(q))


def test_stacks_one_after_the_other_or_united() -> None:
    """`a + b` keeps both layouts and refuses what they share; `a | b` has it once."""
    space = Rn(3)
    a, b, c = (linear(space, *np.eye(3)[i], name="abc"[i]) for i in range(3))
    assert (Stack([a]) + Stack([b, c])).names == ("a", "b", "c")
    assert (Stack([a, b]) | Stack([b, c])).owners == (a, b, c)
    assert (Stack([c, b]) | Stack([b, a])).owners == (c, b, a)
    with pytest.raises(errors.DuplicateError, match="'b'"):
        Stack([a, b]) + Stack([b, c])
    twin = linear(space, 0.0, 1.0, 0.0, name="b")  # another object of the same name is another constraint
    assert len(Stack([a, b]) | Stack([twin])) == 3
    ways: tuple[Any, ...] = (Stack.__add__, Stack.__or__)
    for way in ways:
        with pytest.raises(errors.WrongObjectError, match="a Stack"):
            way(Stack([a]), [b])

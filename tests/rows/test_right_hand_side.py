"""Right-hand sides: one vector beside the problem, by constraint, as points, unchanged by a round trip."""

from __future__ import annotations

import copy
import pickle
from typing import Any, cast

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, two_arms

from constraints import Comparison, Function, Implicit, Pose, Position, Problem, Projector, RightHandSide, Rotation
from constraints.errors import (
    AmbiguousNameError,
    NotFiniteError,
    NotNormalizedError,
    RightHandSideError,
    SizeError,
    SpaceMismatchError,
    UndefinedError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import Identity
from liegroups import SE3, SO3, Element, R3xSO3, Rn

EQUALITY, ZERO, SUPERIOR, _ = Comparison


def parts() -> list[Implicit]:
    """Four constraints of every kind of group, two of them with one name."""
    robot = two_arms()
    return [
        Implicit.equal(Pose(robot, "left_tool"), name="left"),
        Implicit(Position(robot, "right_tool"), [EQUALITY, ZERO, EQUALITY], name="right"),
        Implicit.equal(Rotation(robot, "right_tool"), name="turn"),
        Implicit.equal(Pose(robot, "right_tool", outputs=R3xSO3), name="turn"),
    ]


def points(rng) -> list[np.ndarray]:
    """A right-hand side for each of them."""
    return [SE3.random(rng), rng.uniform(-1.0, 1.0, 3) * [1.0, 0.0, 1.0], SO3.random(rng), R3xSO3.random(rng)]


def test_round_trip_whole():
    """Property 4: get, set, get of the whole vector is the identity, bit for bit."""
    rng, problem = np.random.default_rng(40), Problem(two_arms(), parts())
    for _ in range(50):
        vector = np.concatenate(points(rng))
        rhs = RightHandSide(problem.constraints, vector)
        np.testing.assert_array_equal(rhs.vector, vector)
        again = problem.check_rhs(rhs.vector)
        np.testing.assert_array_equal(again.vector, vector)
        assert problem.check_rhs(again) is again


def test_round_trip_by_constraint():
    """Property 4: by object, by position (from both ends) and by unique name, one constraint at a time."""
    rng, given = np.random.default_rng(41), parts()
    problem = Problem(two_arms(), given)
    for i, names in enumerate((["left"], ["right"], [], [])):
        for which in [given[i], i, i - 4, np.int64(i), *names]:
            point = points(rng)[i]
            rhs = problem.rhs.replace(which, point)
            np.testing.assert_array_equal(rhs.of(which), point)
            for j in range(4):
                if j != i:
                    np.testing.assert_array_equal(rhs.of(j), problem.rhs.of(j))
            np.testing.assert_array_equal(rhs.vector[problem.constraints.rhs_slices[i]], point)
    assert problem.rhs.vector[0] == 0.0


def test_right_hand_sides_by_name_are_no_mapping():
    """A mapping by name is refused with what to call instead."""
    problem, by_name = Problem(two_arms(), parts()), cast(Any, {"a": 0.0})
    with pytest.raises(WrongObjectError, match=r"problem\.rhs\.replace"):
        problem.residual(two_arms().neutral, by_name)
    with pytest.raises(WrongObjectError, match=r"problem\.rhs\.replace"):
        RightHandSide(problem.constraints, by_name)


def test_several_constraints_with_one_name():
    """Property 8: the name is refused with its number of owners; object and position still tell them apart."""
    given = parts()
    problem = Problem(two_arms(), given)
    with pytest.raises(AmbiguousNameError, match="2 constraints are named 'turn', at positions 2, 3") as caught:
        problem.rhs.of("turn")
    assert caught.value.positions == (2, 3)
    with pytest.raises(UnknownNameError, match=r"'turns'.*nearest names are turn"):
        problem.rhs.of("turns")
    assert problem.rhs.of(given[2]).size == 4
    assert problem.rhs.of(given[3]).size == 7


def test_rhs_from_a_configuration():
    """Property 4: rhs_from(q) makes q satisfy the EQUALITY rows of every constraint; nothing is rebuilt."""
    rng, problem = np.random.default_rng(42), Problem(two_arms(), parts())
    for _ in range(20):
        q = two_arms().random(rng)
        rhs = problem.rhs_from(q)
        error = problem.error(q, rhs=rhs)
        error[7] = 0.0  # the row of "right" that is EQUAL_TO_ZERO
        np.testing.assert_allclose(error, 0.0, rtol=0, atol=1e-12)
        assert rhs.of("right")[1] == 0.0
        assert problem.error(q, rhs=rhs)[7] == pytest.approx(problem.error(q)[7])


def test_rhs_moves_the_solution():
    """Property 12: one projector, many right-hand sides: each solution satisfies the one it was asked for."""
    rng, robot = np.random.default_rng(43), arm()
    hand = Implicit.equal(Position(robot, "tool"), name="hand")
    projector = Projector(Problem(robot, [hand]))
    for _ in range(20):
        goal = Position(robot, "tool").value(robot.random(rng))
        rhs = projector.problem.rhs.replace(hand, goal)
        result = projector.project(robot.random(rng), rhs)
        assert result.success
        assert np.linalg.norm(Position(robot, "tool").value(result.q) - goal) <= 1e-4
        assert projector.is_satisfied(result.q, rhs=rhs)
        assert result.rhs is rhs


def test_points_in_every_form():
    """Property 25: numbers in a list, an Element, a placement."""
    rng, problem = np.random.default_rng(44), Problem(two_arms(), parts())
    q = SE3.random(rng)
    import pinocchio as pin

    for given in (q, q.tolist(), tuple(q.tolist()), Element(q, SE3), pin.XYZQUATToSE3(q)):
        np.testing.assert_allclose(problem.rhs.replace("left", given).of("left"), q, rtol=0, atol=1e-15)


def test_opposite_quaternions_are_the_same():
    """Property 2: right-hand sides compare as points of their groups, q and -q being one."""
    rng, problem = np.random.default_rng(45), Problem(two_arms(), parts())
    rhs = RightHandSide(problem.constraints, np.concatenate(points(rng)))
    for which, start in (("left", 3), (2, 0), (3, 3)):
        point = rhs.of(which)
        point[start:] *= -1.0
        assert rhs.same_as(rhs.replace(which, point))
        point[start:] = SO3.random(rng)
        assert not rhs.same_as(rhs.replace(which, point))
    assert not rhs.same_as(Problem(two_arms(), parts()[:3]).rhs)


@pytest.mark.parametrize(
    ("which", "point", "kind", "said"),
    [
        ("right", [0.0, 0.1, 0.0], RightHandSideError, r"'right': row 1 is EQUAL_TO_ZERO"),
        ("left", np.zeros(6), SizeError, r"right-hand side of 'left' of SE3: expected size 7, received 6"),
        ("left", np.zeros(7), NotNormalizedError, r"right-hand side of 'left'"),
        (2, [np.nan, 0.0, 0.0, 1.0], NotFiniteError, r"right-hand side of 'turn'"),
        (4, np.zeros(3), SizeError, r"position of a constraint"),
        (1.5, np.zeros(3), WrongObjectError, r"constraint: expected the object, its position, or its name"),
    ],
)
def test_refusals_name_the_constraint(which, point, kind, said):
    """Property 9: what is wrong with a right-hand side is said with the constraint, and the row."""
    with pytest.raises(kind, match=said):
        Problem(two_arms(), parts()).rhs.replace(which, point)


def test_whole_vectors_are_checked_part_by_part():
    """Property 9: in a whole vector too the constraint with the wrong part is named."""
    problem = Problem(two_arms(), parts())
    vector = problem.rhs.vector.copy()
    vector[8] = 0.3
    with pytest.raises(RightHandSideError, match="'right': row 1"):
        problem.residual(two_arms().neutral, vector)
    names = r"7 of 'left', 3 of 'right', .*; problem.rhs.replace\(name, point\) changes one"
    with pytest.raises(SizeError, match=rf"right-hand side: expected size 21, received 20 \({names}"):
        problem.residual(two_arms().neutral, vector[:-1])


def test_right_hand_side_of_another_problem_is_refused():
    """Property 9: right-hand sides belong to their problem; a copy of the same problem takes them."""
    given = parts()
    problem, other = Problem(two_arms(), given), Problem(two_arms(), given[:2])
    for method in (problem.residual, problem.jacobian, problem.is_satisfied, Projector(problem).project):
        with pytest.raises(SpaceMismatchError, match="right-hand side of another problem"):
            method(two_arms().neutral, rhs=other.rhs)
    again = pickle.loads(pickle.dumps(problem))
    assert again.residual(two_arms().neutral, problem.rhs) == problem.residual(two_arms().neutral)


def test_constraints_made_again_are_told_from_others_of_the_same_names() -> None:
    """What cannot be read off two functions of one name and group is seen in their values, where they have any."""
    robot = two_arms()

    def problem(height: float, outputs: Any = SE3, comparison: Any = EQUALITY) -> Problem:
        hand = robot.with_frame("hand", "left_tool", pin.SE3(np.eye(3), np.array([0.0, 0.0, height])))
        return Problem(robot, [Implicit(Pose(hand, "hand", outputs=outputs), comparison, name="hand")])

    mine = problem(0.1)
    assert mine.residual(robot.neutral, problem(0.1).rhs) == mine.residual(robot.neutral)
    with pytest.raises(SpaceMismatchError, match="and 'hand' of this problem are different constraints"):
        mine.residual(robot.neutral, problem(0.1001).rhs)
    with pytest.raises(SpaceMismatchError, match="and 'hand' of this problem are different constraints"):
        mine.residual(robot.neutral, problem(0.1, comparison=[EQUALITY] * 5 + [ZERO]).rhs)
    with pytest.raises(SpaceMismatchError, match="'hand' in R3xSO3, the problem's is 'hand' in SE3"):
        mine.residual(robot.neutral, problem(0.1, R3xSO3).rhs)


@pytest.mark.parametrize("undefined", ["neither", "mine", "theirs", "both"])
def test_functions_without_a_value_are_compared_where_they_have_one(undefined: str) -> None:
    """Only where one has a value and the other has none are they told apart by it."""

    def problem(has_values: bool) -> Problem:
        def value(q: np.ndarray) -> np.ndarray:
            if not has_values:
                raise UndefinedError("nowhere")
            return q[:1] ** 2

        return Problem(Rn(2), [Implicit.equal(Function.from_callable(value, Rn(2), Rn(1), name="f"))])

    mine, theirs = problem(undefined not in ("mine", "both")), problem(undefined not in ("theirs", "both"))
    vector = np.array([2.0])
    if undefined in ("mine", "theirs"):
        with pytest.raises(SpaceMismatchError, match="are different constraints"):
            mine.is_satisfied([1.0, 1.0], rhs=theirs.rhs.replace("f", vector))
    elif undefined == "neither":
        assert mine.error([3.0, 1.0], rhs=theirs.rhs.replace("f", vector)).tolist() == [7.0]
    else:
        with pytest.raises(UndefinedError):
            mine.error([1.0, 1.0], rhs=theirs.rhs)


def test_right_hand_sides_are_values():
    """Property 21: read-only, replaced and not changed; pickled and deep-copied with the same bits."""
    rng, problem = np.random.default_rng(46), Problem(two_arms(), parts())
    vector = np.concatenate(points(rng))
    rhs = RightHandSide(problem.constraints, vector)
    vector[:] = 9.0
    assert rhs.vector.max() < 9.0
    assert not rhs.vector.flags.writeable
    before = rhs.vector.tobytes()
    rhs.replace("left", SE3.neutral)
    assert rhs.vector.tobytes() == before
    copied = rhs.of("left")
    copied[:] = 7.0
    assert rhs.vector.tobytes() == before
    for again in (pickle.loads(pickle.dumps(rhs)), copy.deepcopy(rhs)):
        assert again.vector.tobytes() == before
        assert not again.vector.flags.writeable


def test_printing_names_the_constraints():
    """Property 19: a right-hand side prints by constraint."""
    text = repr(Problem(Rn(2), [Implicit.equal(Identity(Rn(2)), [1.0, 2.0], name="corner")]).rhs)
    assert "corner" in text
    assert "[1. 2.]" in text


def test_right_hand_sides_are_read_and_taken_over_by_constraint():
    """What is read at a point is what the checked way gives; what another problem has is taken bit for bit."""
    rng, owners = np.random.default_rng(47), parts()
    problem, smaller = Problem(two_arms(), owners), Problem(two_arms(), owners[2:])
    q = two_arms().random(rng)
    whole = problem.rhs_from(q)
    checked = RightHandSide(problem.constraints, whole.vector)
    assert checked.same_as(whole, 1e-15)
    some = problem.rhs.read_at(problem.at(q), [1, 3])
    for i in range(4):
        expected = whole if i in (1, 3) else problem.rhs
        assert some.of(i).tobytes() == expected.of(i).tobytes()
    taken = smaller.rhs.taken_from(whole, [0, 1])
    assert [taken.of(i).tobytes() for i in (0, 1)] == [whole.of(i).tobytes() for i in (2, 3)]
    assert smaller.residual(q, taken) <= 1e-12


def test_rows_of_whole_factors_are_read_as_they_are():
    """Where the rows of each rotation are alike, EQUALITY rows keep the value and the others are neutral: as by the
    logarithm, but without its rounding; mixed rows of one rotation go through the logarithm."""
    robot, rng = two_arms(), np.random.default_rng(48)
    for types in ([EQUALITY] * 3 + [ZERO] * 3, [ZERO, EQUALITY, ZERO] + [EQUALITY] * 3, [ZERO] * 4 + [EQUALITY] * 2):
        constraint = Implicit(Pose(robot, "left_tool", outputs=R3xSO3), types)
        for _ in range(20):
            value = R3xSO3.random(rng)
            free = np.array([comparison is EQUALITY for comparison in types])
            expected = R3xSO3.exp(np.where(free, R3xSO3.log(value), 0.0))
            assert np.abs(R3xSO3.difference(expected, constraint.rhs_at_value(value))).max() < 1e-12

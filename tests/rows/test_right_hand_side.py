"""Right-hand sides: one vector beside the problem, by constraint, as points, unchanged by a round trip."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from robots import arm, two_arms

from constraints import Comparison, Implicit, Pose, Position, Problem, Projector, RightHandSide, Rotation
from constraints.errors import (
    AmbiguousNameError,
    NotFiniteError,
    NotNormalizedError,
    RightHandSideError,
    SizeError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)
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


@pytest.mark.parametrize(
    ("which", "point", "kind", "said"),
    [
        ("right", [0.0, 0.1, 0.0], RightHandSideError, r"'right': row 1 is EQUAL_TO_ZERO"),
        ("left", np.zeros(6), SizeError, r"right-hand side of 'left' of SE3: expected size 7, received 6"),
        ("left", np.zeros(7), NotNormalizedError, r"right-hand side of 'left'.*norm"),
        ("left", Element([0.0, 0.0], Rn(2)), SpaceMismatchError, r"right-hand side of 'left'"),
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

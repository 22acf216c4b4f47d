"""Problems in words: rows, intervals, right-hand sides, targets; and the errors of one constraint alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import (
    Bounds,
    Comparison,
    ConvexShapeContact,
    Function,
    Implicit,
    Options,
    Orientation,
    Pose,
    Position,
    Problem,
    Projector,
    Rotation,
    Surface,
    Transformation,
    linear_coupling,
    locked_joint,
)
from constraints.errors import ConstraintError
from constraints.functions import Identity
from constraints.models import sample_humanoid
from liegroups import SE3, SO3, R3xSO3, Rn

HAND = Position(arm(), "tool")


def lines_of(*constraints: Any) -> list[str]:
    """What is said about constraints of the arm, line by line."""
    return Problem(arm(), list(constraints)).describe().splitlines()[1:-1]


def test_a_plain_equality_takes_one_line():
    """Nothing is said of rows that are all one equality; of a neutral right-hand side, where that is in the world."""
    assert lines_of(Implicit.equal(Position(arm(), "tool"), [0.1, 0.2, 0.12345], name="here")) == [
        "  level 0: 'here' in R3, 3 of 3 rows (3 EQUALITY); implicit: solved by Newton steps",
        "    right-hand side [0.1, 0.2, 0.1235]",
    ]
    still = lines_of(Implicit.equal(Pose(arm(), "tool"), [0, 0, 0, 0, 0, 0, -1.0], name="minus the identity"))
    assert still[1:] == ["    right-hand side the identity pose, 'tool' at the origin of the world"]


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        (Implicit.above(HAND, [0.1, -np.inf, 0.2]), "row 0 at least 0.1; row 2 at least 0.2; row 1 left out"),
        (Implicit.below(HAND, 0.25, margin=0.05), "rows 0-2 at most 0.2"),
        (Implicit.between(HAND, -0.1, [0.1, 0.2, 0.1]), "rows 0, 2 in [-0.1, 0.1]; row 1 in [-0.1, 0.2]"),
        (Implicit.zero(Orientation(arm(), "tool"), mask=[1, 1, 0]), "rows 0-1 EQUAL_TO_ZERO; row 2 left out"),
        (Implicit(HAND, Comparison.SUPERIOR, margin=0.01), "rows 0-2 SUPERIOR (at least 0.01)"),
        (Implicit(HAND, Comparison.INFERIOR, margin=0.01), "rows 0-2 INFERIOR (at most -0.01)"),
        (Implicit(HAND, scale=[1, 1, 0.1]), "rows 0-1 EQUAL_TO_ZERO; row 2 EQUAL_TO_ZERO, error times 0.1"),
        (
            Implicit(HAND, [Comparison.EQUALITY, Comparison.SUPERIOR, None], lower=-1.0, upper=2.0),
            "row 0 EQUALITY; row 1 SUPERIOR; row 2 in [-1, 2]",
        ),
    ],
)  # fmt: skip
def test_rows_that_differ_are_told_one_by_one(constraint: Implicit, said: str):
    """Comparison and interval of each row, where they are not all one plain equality."""
    assert lines_of(constraint)[1] == f"    {said}"
    assert all(line.startswith("    right-hand side") for line in lines_of(constraint)[2:])


@pytest.mark.parametrize(
    ("constraint", "length"),
    [
        (Implicit.equal(Orientation(arm(), "tool"), [0.0, 0.0, 90.0]), 90.0),
        (Implicit.equal(Orientation(arm(), "tool"), [3.0, 3.0, 0.0]), 3.0 * np.sqrt(2.0)),
        (Implicit.equal(Transformation(arm(), "tool"), [90.0, 9.0, 9.0, 0.0, -4.0, 0.0]), 4.0),
        (Implicit.above(Orientation(arm(), "tool"), [-np.inf, 3.5, -np.inf]), 3.5),
        (Implicit.below(Pose(arm(), "tool"), [np.inf, np.inf, np.inf, np.inf, np.inf, -45.0]), 45.0),
        (Implicit.equal(Orientation(arm(), "tool"), [0.0, 0.0, np.pi]), 0.0),
        (Implicit.equal(Orientation(arm(), "tool"), [0.0, 0.0, 90.0], mask=[1, 1, 0]), 0.0),
        (Implicit.equal(Position(arm(), "tool"), [0.0, 0.0, 90.0]), 0.0),
        (Implicit.between(Orientation(arm(), "tool"), -90.0, 90.0), 0.0),
        (Implicit.equal(Transformation(arm(), "tool"), [90.0, 0.0, 0.0, 3.0, 0.9, 0.0]), 0.0),
        (Implicit.below(Pose(arm(), "tool"), [-45.0, *[np.inf] * 5]), 0.0),
        (Implicit.above(Rotation(arm(), "tool"), [2.0, 2.0, 2.0]), 2.0 * np.sqrt(3.0)),
        (Implicit.between(Rotation(arm(), "tool"), [2.0, -9.0, -9.0], [9.0, -2.5, 9.0]), np.hypot(2.0, 2.5)),
        (Implicit.above(Rotation(arm(), "tool"), [1.8, 1.8, 1.8]), 0.0),
    ],
)
def test_rotation_vectors_longer_than_pi_are_said_to_be_out_of_reach(constraint: Implicit, length: float):
    """The logarithm of a rotation is at most pi long, so that this is certain; degrees are the usual reason."""
    problem = Problem(arm(), [constraint])
    on_product = Problem(arm().space * Rn(1), [constraint])
    for text in (problem.describe(), on_product.describe()):
        assert ("out of reach" in text) == (length > 0.0)
        assert length == 0.0 or f"at least {length:.4g} long; angles are in radians" in text
    if length:  # as far as random configurations tell, the error is at least what is beyond pi
        for q in arm().random(np.random.default_rng(5), 50):
            assert np.linalg.norm(problem.error(q)) >= length - np.pi - 1e-9


@pytest.mark.parametrize(
    ("row", "told"), [(0, False), (2, False), (4, False), (5, True), (7, True), (8, True), (10, True)]
)
def test_out_of_reach_are_rotations_wherever_they_are_in_a_product(row: int, told: bool):
    """R^2 x SE3 x SO3: numbers and translations may be large, rows 5 to 7 and 8 to 10 are rotation vectors."""
    space = Rn(2) * SE3 * SO3
    upper = np.full(space.nv, np.inf)
    upper[row] = -3.5
    assert ("out of reach" in Problem(space, [Implicit.below(Identity(space), upper)]).describe()) == told


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        ([-np.inf] * 3, [np.inf] * 3, "bounds on 0 dofs"),
        ([-np.inf, 0.0, -np.inf], [np.inf] * 3, "bounds on 1 dof,"),
        ([-np.inf, 0.0, -np.inf], [1.0, np.inf, np.inf], "bounds on 2 dofs"),
        ([-1.0, 0.0, -np.inf], [1.0, np.inf, np.inf], "bounds on 2 dofs"),
        ([-1.0] * 3, [1.0] * 3, "bounds on 3 dofs"),
    ],
)
def test_a_dof_is_bounded_by_one_side_too(lower: list[float], upper: list[float], said: str):
    space = Rn(3)
    problem = Problem(space, [Implicit.equal(Identity(space))], bounds=Bounds(space, np.array(lower), np.array(upper)))
    assert said in problem.describe()


@pytest.mark.parametrize(
    ("constraint", "told"),
    [
        (Implicit.above(Pose(arm(), "tool"), [*[-np.inf] * 2, 0.3, *[-np.inf] * 3]), True),
        (Implicit.between(Pose(arm(), "tool"), [-0.1] * 6, [0.1] * 6), True),
        (Implicit.equal(Pose(arm(), "tool", outputs=R3xSO3), mask=[0, 0, 1, 0, 0, 0]), False),
    ],
)
def test_rows_of_se3_that_are_no_positions_are_told(constraint: Implicit, told: bool):
    """Told where translation rows are asked for one by one, or as intervals, and the rotation is not held."""
    hint = "translation rows of SE3 are positions only if the rotation error is zero"
    assert (hint in Problem(arm(), [constraint]).describe()) == told


@pytest.mark.parametrize("kind", [Implicit.equal, Implicit.zero])
def test_which_masks_of_se3_hold_no_position(kind: Callable[..., Implicit]):
    """Of the 63: those with a row of translation that hold neither all of the translation nor all of the rotation."""
    hint = "translation rows of SE3 are positions only if the rotation error is zero"
    space = Rn(2) * SE3
    for number in range(1, 64):
        mask = [bool(number >> i & 1) for i in range(6)]
        wanted = any(mask[:3]) and not all(mask[:3]) and not all(mask[3:])
        assert (hint in Problem(space, [kind(Identity(space), mask=[1, 0, *mask])]).describe()) == wanted, mask


def test_a_row_of_se3_is_no_height():
    """Plain pinocchio: what satisfies row 2 of a pose in SE3 is at many heights, in R3 x SO3 at one."""
    heights = list[float]()
    for outputs in (SE3, R3xSO3):
        goal = Pose(arm(), "tool", outputs=outputs).value(arm().reference("home"))
        one = Implicit.equal(Pose(arm(), "tool", outputs=outputs), goal, mask=[0, 0, 1, 0, 0, 0])
        found = Projector(Problem(arm(), [one])).project_batch(arm().random(np.random.default_rng(3), 20))
        at = [arm().at(q).placement(arm().frame("tool")).translation[2] for q in found.q[found.success]]
        heights.append(float(np.ptp(at)))
    assert heights[0] > 0.1
    assert heights[1] <= 2e-4


def test_one_name_for_several_is_legal_and_told_apart():
    """Reports number the constraints that share a name by their position, and only those."""
    hand, other = (Implicit.equal(Position(arm(), frame), [2.0, 0.0, 0.0], name="hand") for frame in ("tool", "elbow"))
    single = Implicit.zero(Orientation(arm(), "tool"), name="upright")
    problem = Problem(arm(), [hand, single, other])
    labels = ("'hand' (constraint 0)", "'upright'", "'hand' (constraint 2)")
    assert problem.constraints.labels == labels
    result = Projector(problem, Options(max_iterations=10)).project(arm().neutral)
    assert not result.success
    for text in (problem.describe(), result.describe(), str(result.diagnose(iterations=20, trials=3))):
        assert [text.count(label) > 0 for label in labels] == [True] * 3
        assert "'upright' (" not in text
    for name in ("upright", 1, single):
        assert problem.error(arm().neutral, name).shape == (3,)


def everything() -> Problem:
    """A problem with rows of every kind: plain, on groups, masked, intervals, contacts, computed, held."""
    robot = sample_humanoid()
    floor = Surface("floor", robot.frame("universe"), [[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]])
    sole = Surface("sole", robot.frame("rleg_wrist2_body"), [[0, 0, 0], [0, 0.1, 0], [0.1, 0.1, 0], [0.1, 0, 0]])
    hand = Position(robot, "rarm_effector_body")
    return Problem(
        robot,
        [
            [
                Implicit.equal(Pose(robot, "lleg_wrist2_body"), name="foot"),
                Implicit(hand, [Comparison.EQUALITY, None, None], lower=0.0, upper=0.1, scale=0.5, name="hand"),
                Implicit(ConvexShapeContact(robot, floor, sole), name="on the floor"),
                Implicit.equal(hand, [0.3, 0.0, 0.2], mask=[1, 0, 1], name="masked"),
            ],
            [
                Implicit.equal(
                    Transformation(robot, "larm_effector_body", reference="rarm_effector_body"), name="hands"
                ),
                linear_coupling(robot, "rarm_elbow_joint", {"larm_elbow_joint": -1.0}, 0.3, name="mirrored"),
                locked_joint(robot, "lleg_elbow_joint", 0.2, name="held"),
            ],
        ],
        optional_last=True,
    )


def test_errors_of_one_constraint_are_those_of_all():
    """`problem.error(q, constraint)` is bit for bit the constraint's part of `problem.error(q)`, whatever its rows."""
    problem, rng = everything(), np.random.default_rng(7)
    stack, space = problem.constraints, problem.space
    for _ in range(20):
        q = space.random(rng)
        for rhs in (None, problem.rhs_from(space.random(rng))):
            whole = problem.error(q, rhs=rhs)
            for i, rows in enumerate(stack.slices):
                assert problem.error(q, i, rhs).tobytes() == whole[rows].tobytes()


def test_only_the_constraint_that_is_asked_for_is_evaluated():
    """The others are not called, so that one without a value does not hide the error of another."""

    def refuse(q: Any) -> Any:
        raise AssertionError("not asked for")

    group = SO3 * Rn(2)
    wanted = Implicit.equal(Function.from_callable(lambda q: q[4:], group, Rn(2)), [1.0, 2.0], name="wanted")
    problem = Problem(group, [wanted, Implicit.zero(Function.from_callable(refuse, group, Rn(1)), name="other")])
    q = [0.0, 0.0, 0.0, 1.0, 3.0, 3.0]
    assert problem.error(q, "wanted").tolist() == [2.0, 1.0]
    assert not problem.is_satisfied(q, wanted)
    with pytest.raises(AssertionError):
        problem.error(q)
    with pytest.raises(ConstraintError, match="nearest names are wanted"):
        problem.error(q, "wnated")

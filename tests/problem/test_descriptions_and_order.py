"""What a problem is made of, read and put in order: whole descriptions, arguments, dependencies, tangents, merging."""

# pyright: reportArgumentType=false
# bounds and arguments that are wrong are given as lists

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from robots import arm, mixed_tree

from constraints import (
    Affine,
    Bounds,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Position,
    Problem,
    Projector,
    RightHandSide,
    Target,
    locked_joint,
)
from constraints.errors import (
    EmptyProblemError,
    MergeConflictError,
    OptionError,
    OverlapError,
    SizeError,
    SpaceMismatchError,
    UndefinedError,
    UnknownJointError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.functions import Constant, Identity
from constraints.point import revolute_columns
from constraints.problem.arguments import bounds_on, costs, frozen_columns, other_bounds
from constraints.problem.description import (
    active_bounds,
    errors_of,
    frozen_by_bounds,
    missed_by_outputs,
    targets_without_time as without_time,
)
from constraints.problem.merging import explicits_as_rows
from constraints.problem.resolution import dof_names
from liegroups import SO3, ProductSpace, Rn, Segments, Space

EQUALITY, ZERO, SUPERIOR, INFERIOR = Comparison


def follow(space: Space, reads: list[int], writes: list[int], factor: float = 2.0, **options: Any) -> Explicit:
    """Each output is so many times the sum of what is read."""
    f = Affine(np.full((len(writes), len(reads)), factor))
    parts = (Segments.coordinates(space, columns) for columns in (writes, reads))
    return Explicit(f, *parts, whole=space, **options)


# Descriptions.


def test_a_description_is_all_of_a_problem() -> None:
    """Levels, generations, rows in words, frozen dofs, costs, bounds: line by line."""
    space = Rn(6)
    mixed = Implicit(
        Affine(np.eye(5, 6), None, space), [EQUALITY, EQUALITY, None, SUPERIOR, INFERIOR], [1.5, 0.0, 0.0, 0.0, 0.0],
        [1, 1, 1, 1, 1], [2.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.25, 0.5], [0, 0, -1.0, 0, 0], [0, 0, 2.0, 0, 0],
        name="mixed",
    )  # fmt: skip
    sides = Implicit.above(Affine(np.eye(2, 6), None, space), 0.25, mask=[True, False], name="side")
    wish = Implicit.zero(Affine(np.eye(1, 6), None, space), name="wish")
    computed = follow(space, [0], [4], name="lid")
    refused = follow(space, [1], [4], name="late")
    lower, upper = np.full(6, -np.inf), np.full(6, np.inf)
    lower[0], upper[1], lower[2], upper[2] = -1.0, 1.0, 0.5, 0.5
    problem = Problem(
        space, [[mixed, computed, refused], [sides], [wish]], Bounds(space, lower, upper), optional_last=True,
        weights=[1.0, 2.0, 0.0, 2.0, 1.0, 1.0], frozen=Segments.coordinates(space, [5]),
    )  # fmt: skip
    name = space.leaves()[0].name
    assert problem.describe().splitlines() == [
        f"Problem on {space.name}: 6 dofs (3 free), 9 rows, 8 of them left to Newton steps",
        "  more rows (8) than free dofs (3): solvable only if rows repeat or are inequalities",
        "  level 0: 'mixed' in R5, 5 of 5 rows (2 EQUALITY, 1 in an interval, 1 SUPERIOR, 1 INFERIOR); implicit: "
        "solved by Newton steps",
        "    row 0 EQUALITY, error times 2; row 1 EQUALITY; row 2 in [-1, 2]; row 3 SUPERIOR (at least 0.25); row 4 "
        "INFERIOR (at most -0.5)",
        "    right-hand side [1.5, 0, 0, 0, 0]",
        "  level 0: 'late' in R1, 1 of 1 row (1 EQUAL_TO_ZERO); implicit because its output "
        f"{name}[4] is already computed by 'lid'",
        "  level 1: 'side' in R2, 1 of 2 rows (1 in an interval); implicit: solved by Newton steps",
        "    row 0 at least 0.25; row 1 left out",
        "  level 2 (optional): 'wish' in R1, 1 of 1 row (1 EQUAL_TO_ZERO); implicit: solved by Newton steps",
        f"  generation 0: 'lid' in R1, 1 of 1 row (1 EQUAL_TO_ZERO); explicit: computes {name}[4]",
        f"  frozen: {name}[5]",
        f"  cost of motion 2: {name}[1, 3]",
        f"  cost of motion 0 (moves freely; frozen= keeps it still): {name}[2]",
        f"  cannot move, both bounds are equal: {name}[2]",
        "  bounds on 3 dofs, 0 of them free to turn by whole turns",
    ]
    assert repr(problem) == "Problem(6 dofs, 9 rows: mixed, late, side, wish, lid)"


def lines(constraint: Any, space: Space, **options: Any) -> list[str]:
    """What is said of one constraint below its line."""
    return [
        line.strip() for line in Problem(space, [constraint], **options).describe().splitlines() if line[:4] == "    "
    ]


def test_rows_in_intervals_and_kinds_are_counted() -> None:
    f = Identity(Rn(3))
    assert "3 of 3 rows (3 in intervals)" in Problem(Rn(3), [Implicit.between(f, -1.0, 1.0)]).describe()
    (said,) = lines(Implicit(f, [SUPERIOR, INFERIOR, SUPERIOR]), Rn(3))
    assert said == "rows 0, 2 SUPERIOR; row 1 INFERIOR"
    assert lines(Implicit.zero(f), Rn(3)) == []
    many = Implicit(Identity(Rn(14)), lower=np.arange(14.0))
    assert lines(many, Rn(14))[0].endswith("row 11 at least 11; and 2 more kinds")
    many = Implicit(Identity(Rn(12)), lower=np.arange(12.0))
    assert lines(many, Rn(12))[0].endswith("row 11 at least 11")
    (said,) = lines(Implicit.equal(Identity(Rn(14)), np.arange(14.0)), Rn(14))
    assert said == "right-hand side [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and 2 more]"


def test_costs_are_listed_up_to_twelve() -> None:
    space = Rn(15)
    row = [Implicit.zero(Affine(np.eye(1, 15), None, space))]
    said = Problem(space, row, weights=np.r_[1.0, np.arange(2.0, 16.0)]).describe().splitlines()
    listed = [line for line in said if line.startswith("  cost of motion")]
    assert len(listed) == 12
    assert listed[0].startswith("  cost of motion 15: ")
    assert "  and 2 more costs of motion" in said
    said = Problem(space, row, weights=np.r_[1.0, 1.0, 1.0, np.arange(2.0, 14.0)]).describe()
    assert said.count("cost of motion") == 12
    assert "more" not in said


def test_targets_in_words() -> None:
    def moved(**options: Any) -> Implicit:
        return Implicit.equal(Identity(Rn(1)), Target(lambda t: [t + 2.0], **options), name="go")

    (said,) = lines(moved(), Rn(1))
    assert said == "a Target over all times; right-hand side at time 0 s: [2]"
    (said,) = lines(moved(interval=(1.0, 3.0)), Rn(1))
    assert said == "a Target over [1, 3] s; right-hand side at time 1 s: [3]"
    (said,) = lines(moved(interval=(-np.inf, 3.0)), Rn(1))
    assert said == "a Target over [-inf, 3] s; right-hand side at time 0 s: [2]"
    late = Implicit.equal(Identity(Rn(1)), Target(lambda t: [t], interval=(1.0, 3.0)), name="late")
    early = Implicit.equal(Identity(Rn(1)), Target(lambda t: [t], interval=(-3.0, 3.0)), name="early")
    problem = Problem(Rn(1), [late, early, moved()])
    assert without_time(problem, problem.rhs) == (
        "Target of 'late' evaluated at time 1 s: `rhs=problem.rhs_at(t)` evaluates it at t",
        "Target of 'early', 'go' evaluated at time 0 s: `rhs=problem.rhs_at(t)` evaluates it at t",
    )
    assert without_time(problem, problem.rhs_at(1.0)) == ()
    (said,) = without_time(problem, problem.rhs.replace("late", [2.0]).replace("go", [9.0]))
    assert said.startswith("Target of 'early' evaluated at time 0 s")


@pytest.mark.parametrize(
    ("joint", "value", "outside"), [(0, 0.5, False), (0, 1.0, False), (0, -1.0, False), (0, 1.1, True), (0, -1.1, True)]
)
def test_held_joints_in_words(joint: int, value: float, outside: bool) -> None:
    space = Rn(2)
    lock = locked_joint(space, Segments.coordinates(space, [joint]), [value])
    box = Bounds(space, np.full(2, -1.0), np.full(2, 1.0))
    (said,) = lines(lock, space, bounds=box)
    assert said == f"held at [{value:g}]{', outside its bounds' if outside else ''}"


def test_active_bounds_and_equal_ones() -> None:
    """Below, at, inside, at, above; where both bounds are equal they are named by themselves, unless it is outside."""
    space = Rn(1) * Rn(1) * Rn(1) * Rn(1) * Rn(1) * Rn(1)
    names = [leaf.name for leaf in space.leaves()]
    box = Bounds(space, [0.0] * 6, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    row = Implicit.zero(Affine(np.eye(1)).on(space, Segments.coordinates(space, [0])))
    problem = Problem(space, [row], box)
    assert active_bounds(problem, np.array([-0.1, 0.0, 0.5, 1.0, 1.1, 0.0])) == (
        f"{names[0]} outside its lower bound", f"{names[1]} at its lower bound",
        f"{names[3]} at its upper bound", f"{names[4]} outside its upper bound",
    )  # fmt: skip
    assert active_bounds(problem, np.array([0.5] * 5 + [0.1])) == (f"{names[5]} outside its upper bound",)
    assert frozen_by_bounds(problem) == f"cannot move, both bounds are equal: {names[5]}"
    assert frozen_by_bounds(problem, that_matter=True) == ""
    held = Problem(space, [row], Bounds(space, [0.0] * 6, [0.0] + [1.0] * 5), frozen=[names[0]])
    assert frozen_by_bounds(held) == ""
    still = Problem(space, [row], Bounds(space, [0.0] * 6, [0.0] + [1.0] * 5))
    assert frozen_by_bounds(still, that_matter=True) == f"cannot move, both bounds are equal: {names[0]}"


def test_errors_in_words() -> None:
    line = Implicit.equal(Affine([[3.0, 4.0]]), [1.0], name="line")
    wish = Implicit.zero(Identity(Rn(2)), name="wish")
    problem = Problem(Rn(2), [[line], [wish]], Bounds(Rn(2), [0.0, -9.0], [9.0, 9.0]), optional_last=True)
    q = np.array([0.0, 0.5])
    name = problem.space.leaves()[0].name
    assert errors_of(problem, q, None, 0.4) == [
        "'line': error 1", "'wish': error 0.5 (optional, not satisfied)", f"{name}[0] at its lower bound",
    ]  # fmt: skip
    assert errors_of(problem, q, None, 0.5)[1] == "'wish': error 0.5"
    assert errors_of(problem, q, problem.rhs.replace("line", [0.0]), 0.5)[0] == "'line': error 2"


def test_outputs_that_miss_are_found_in_order_of_resolution() -> None:
    """A wrong inverse is named; where a map has no value there is nothing to tell after it."""
    space = Rn(3)
    double = Function.from_callable(lambda q: 2.0 * q, Rn(1), Rn(1), lambda q: [[2.0]], name="double")
    wrong = replace(follow(space, [0], [1], name="wrong"), g=double, g_inverse=double)
    right = follow(space, [1], [2], name="right")
    problem = Problem(space, [wrong, right])
    q = np.array([1.0, 0.0, 0.0])
    assert [e.name for e in missed_by_outputs(problem, q, problem.rhs, 1e-4)] == ["wrong"]
    assert missed_by_outputs(problem, q, problem.rhs, 6.0) == []
    assert [e.name for e in missed_by_outputs(problem, q, problem.rhs, 5.9)] == ["wrong"]
    np.testing.assert_array_equal(q, [1.0, 0.0, 0.0])

    def root(q: np.ndarray) -> np.ndarray:
        raise UndefinedError("never")

    never = Function.from_callable(root, Rn(1), Rn(1), name="never")
    lost = Explicit(never, Segments.coordinates(space, [0]), Segments.coordinates(space, [2]), whole=space)
    problem = Problem(space, [lost, replace(wrong, inputs=Segments.coordinates(space, [0]))])
    assert missed_by_outputs(problem, q, problem.rhs, 1e-4) == []


# Arguments.


@pytest.mark.parametrize(
    ("weights", "expected", "given"),
    [
        (None, [1.0] * 3, [False] * 3), ([1, 2, 0], [1.0, 2.0, 0.0], [True] * 3), ({}, [1.0] * 3, [False] * 3),
        ({"b": 4}, [1.0, 4.0, 4.0], [False, True, True]), ({"b": [2.0, 3.0]}, [1.0, 2.0, 3.0], [False, True, True]),
        ({"a": 0.0, "b": 1.0}, [0.0, 1.0, 1.0], [True] * 3),
        ({"a": np.int64(2), "b": np.float32(3.0)}, [2.0, 3.0, 3.0], [True] * 3),
    ],
)  # fmt: skip
def test_costs_in_every_form(weights: Any, expected: list[float], given: list[bool]) -> None:
    space = ProductSpace([Rn(1), Rn(2)], ["a", "b"])
    priced, known = costs(space, weights)
    assert (priced.tolist(), known.tolist()) == (expected, given)
    assert not priced.flags.writeable
    assert not known.flags.writeable
    for wrong, kind, said in (
        ([1.0, 1.0, -1e-9], OptionError, "negative, got -1e-09 for 'b'"), ([0.0] * 3, OptionError, "at least one cost"),
        ({"a": 0.0, "b": 0.0}, OptionError, "at least one cost"), ([1.0] * 2, SizeError, "or by joint"),
        ({"c": 1.0}, UnknownJointError, "'c'"), ({"b": [1.0]}, SizeError, "weights of a problem, 'b'"),
        ({3: 1.0}, WrongObjectError, "the name of a joint"),
    ):  # fmt: skip
        with pytest.raises(kind, match=said):
            costs(space, wrong)


def test_frozen_columns_in_every_form() -> None:
    space = ProductSpace([Rn(2), SO3], ["a", "b"])
    part = Segments.coordinates(space, [1])
    for frozen, expected in (
        ((), []), (["a"], [0, 1]), (["b"], [2, 3, 4]), (part, [1]), ([part, "b"], [1, 2, 3, 4]),
        ([True, False, True, True, True], [0, 2, 3, 4]), (np.array([False, True, False, False, False]), [1]),
        (np.zeros(5, dtype=bool), []),
    ):  # fmt: skip
        columns = frozen_columns(space, frozen)
        assert np.flatnonzero(columns).tolist() == expected
        assert not columns.flags.writeable
    for wrong, kind, said in (
        ("a", WrongObjectError, r"got a single name: write \['a'\]"), ({"a": 1.0}, WrongObjectError, "a mapping"),
        (3, WrongObjectError, "frozen dofs"), ([True] * 4, SizeError, "5, one per tangent column"),
        ([False, False, True, False, False], OverlapError, "frozen dofs of a problem"),
        ([True, "a"], WrongObjectError, "the name of a joint"), (["c"], UnknownJointError, "'c'"),
        ([Segments.coordinates(Rn(9), [7])], SizeError, "columns below 5"),
        ([Segments.coordinates(Rn(9), [5])], SizeError, "columns below 5"),
    ):  # fmt: skip
        with pytest.raises(kind, match=said):
            frozen_columns(space, wrong)
    product = arm().space * Rn(1)
    robot = next(factor for factor in product.factors if factor.space.nv == arm().nv)
    joint = arm().joint_names[2]
    columns = np.flatnonzero(frozen_columns(product, [joint])) - robot.v.start
    assert columns.tolist() == [2]
    assert frozen_columns(product, [robot.name]).sum() == arm().nv
    twice = arm().space * arm().space  # the name of a joint alone would freeze that of one robot only
    with pytest.raises(UnknownJointError, match=r"R7\[\d\]\.elbow, R7\[\d\]\.elbow"):
        frozen_columns(twice, ["elbow"])
    with pytest.raises(UnknownJointError, match="elbow"):
        costs(twice, {"elbow": 2.0})
    assert np.flatnonzero(frozen_columns(twice, ["R7[1].elbow"])).tolist() == [7 + arm().joint_names.index("elbow")]


def test_bounds_in_every_form() -> None:
    robot = arm()
    given = Bounds(robot.space, np.full(7, -1.0), np.full(7, 1.0))
    assert bounds_on(robot.space, robot, given) is given
    assert bounds_on(robot.space, robot, None) is robot.bounds
    free = bounds_on(Rn(2), None, None)
    assert np.isinf(free.lower).all()
    assert np.isinf(free.upper).all()
    for wrong, said in (
        (True, r"Bounds.none\(space\) for no bounds, got True"), (([0.0], [1.0]), r"Bounds\(space, lower, upper\)"),
        ([0.0, 1.0], r"Bounds\(space, lower, upper\)"), ({"a": (0.0, 1.0)}, r"robot.with_bounds\(\{...\}\)"),
        (3.0, "expected Bounds, or None for the robot's, got"),
    ):  # fmt: skip
        with pytest.raises(WrongObjectError, match=said):
            bounds_on(robot.space, robot, wrong)
    with pytest.raises(SpaceMismatchError, match="bounds of a problem"):
        bounds_on(Rn(2), None, given)


def test_other_bounds_are_those_of_robots_in_functions(caplog: pytest.LogCaptureFixture) -> None:
    """By joint, of either side, however deep; told in the log where no bounds are given, and in words."""
    robot = arm()
    names = robot.joint_names
    low = robot.with_bounds({names[1]: (-0.5, float(robot.bounds.upper[1]))})
    high = robot.with_bounds({names[3]: (float(robot.bounds.lower[3]), 0.5)})
    for other, joints in ((robot, ""), (low, names[1]), (high, names[3])):
        tool = Position(other, "tool")
        for f in (tool, tool + Position(other, "elbow"), np.eye(3) @ tool):
            assert other_bounds(robot.bounds, [Implicit.zero(f)]) == joints
    both = [Implicit.zero(Position(low, "tool")), Implicit.zero(Position(high, "tool"))]
    assert other_bounds(robot.bounds, both) == f"{names[1]}, {names[3]}"
    bigger = robot.space * Rn(1)
    Problem(bigger, [Implicit.zero(Position(low, "tool").on(bigger))])  # a space has no bounds: seven are not looked at
    keeps = "a space has no bounds; Problem(space, constraints, robot.bounds.on(space)) keeps those of"
    assert caplog.messages == [f"R8: {keeps} {', '.join(f'R7.{name}' for name in names)}"]
    kept = Problem(bigger, [Implicit.zero(Position(low, "tool").on(bigger))], low.bounds.on(bigger))
    assert len(caplog.messages) == 1
    assert "robot of its functions" not in kept.describe()
    caplog.clear()
    caplog.set_level("INFO", "constraints")
    problem = Problem(robot, both)
    assert caplog.messages == [
        "sample_arm: the bounds of the problem's robot are used, not those of the robot of its functions; "
        f"they differ on {names[1]}, {names[3]}"
    ]
    own = Problem(robot, [Implicit.zero(Position(robot, "tool"))])
    given = Problem(robot, both, Bounds.none(robot.space))  # given: nothing to say in the log
    assert len(caplog.messages) == 1
    said = f"other bounds on {names[1]}, {names[3]}"
    assert f"these are the bounds of the problem's robot; the robot of its functions has {said}" in problem.describe()
    assert f"these are the bounds of the problem; the robot of its functions has {said}" in given.describe()
    assert "robot of its functions" not in own.describe()


def test_only_revolute_joints_with_a_whole_turn_wrap() -> None:
    """Range, periodic functions, no output, not frozen; also where the robot is a factor of a product."""
    robot = arm()
    lower, upper = np.full(7, -np.pi), np.full(7, np.pi)
    upper[1] -= 1e-3
    lower[2], upper[2] = -np.inf, np.inf
    lower[3] = -3.0 * np.pi
    box = Bounds(robot.space, lower, upper)
    hand = Implicit.zero(Position(robot, "tool"))
    assert Problem(robot, [hand], box).wraps.tolist() == [True, False, True, True, True, True, True]
    held = Problem(robot, [hand], box, frozen=[robot.joint_names[0]])
    assert held.wraps.tolist() == [False, False, True, True, True, True, True]
    turned = Implicit.equal(Affine(np.eye(1, 7, 4), [0.0], robot.space), [0.2])
    assert Problem(robot, [hand, turned], box).wraps.tolist() == [True, False, True, True, False, True, True]
    lock = locked_joint(robot, robot.joint_names[5], 0.1)
    assert Problem(robot, [hand, lock], box).wraps.tolist()[5] is False
    product = Rn(1) * robot.space
    assert revolute_columns(product).tolist() == [False] + [True] * 7
    tree = mixed_tree()
    assert revolute_columns(Rn(2) * tree.space)[2:].tolist() == tree.space.revolute.tolist()
    assert not revolute_columns(Rn(3)).any()


def test_where_nothing_moves_and_levels_that_are_none() -> None:
    hand = Implicit.zero(Position(arm(), "tool"), name="hand")
    for wrong, said in (
        ([Position(arm(), "tool")], "constraint 0 of level 0"), ([[hand], ["hand"]], "constraint 0 of level 1"),
        ([hand, [hand]], r"a mixture: entries 0 \(hand\) are not levels, entries 1 are"),
        (hand, r"constraints, \[constraint\]"),
    ):  # fmt: skip
        with pytest.raises(WrongObjectError, match=said):
            Problem(arm(), wrong)
    for empty in ([], [[]], [Implicit.zero(Position(arm(), "tool"), mask=False)]):
        with pytest.raises(EmptyProblemError, match=r"at least one row.*always holds is Implicit\.zero\(functions\."):
            Problem(arm(), empty)
    always = Problem(arm(), [Implicit.zero(Constant([0.0], Rn(1), arm().space))])
    assert all(always.is_satisfied(q) for q in arm().random(np.random.default_rng(0), 5))
    for one in ([hand], [[hand]]):
        with pytest.raises(OptionError, match=r"optional_last of a problem.*\[\[mandatory\], \[optional\]\]"):
            Problem(arm(), one, optional_last=True)
    assert Problem(arm(), [[], [hand]], optional_last=True).optional_last
    assert len(Problem(arm(), [(hand,), []]).levels) == 2


# Dependencies and resolution.


def test_dependencies_name_whole_joints_and_coordinates() -> None:
    """A joint that somebody uses in part is named by coordinate; rotations only as a whole."""
    space = ProductSpace([Rn(2), Rn(2), Rn(1), SO3], ["a", "b", "c", "turn"])
    first = follow(space, [0], [2, 3], name="first")
    second = follow(space, [2, 3], [4], name="second")
    third = follow(space, [0, 1], [4], name="third")
    problem = Problem(space, [first, second, third])
    found = {entry.name: entry for entry in problem.resolution.dependencies(space)}
    assert list(found) == ["first", "second", "third"]
    assert (found["first"].reads, found["first"].writes) == (("a[0]",), ("b",))
    assert (found["second"].reads, found["second"].writes) == (("b",), ("c",))
    assert (found["third"].reads, found["third"].writes) == (("a[0]", "a[1]"), ("c",))
    assert [entry.generation for entry in found.values()] == [0, 1, None]
    assert [bool(entry.reason) for entry in found.values()] == [False, False, True]
    assert [(a.name, b.name) for a, b in problem.resolution.edges()] == [("first", "second")]
    assert dof_names(space, [0, 4, 5, 6, 7]) == "a[0], c, turn"
    assert dof_names(space, [1, 2, 3, 6]) == "a[1], b, turn[1]"
    assert dof_names(space, []) == ""


def test_names_of_a_product_are_short_where_that_is_plain() -> None:
    robot, space = arm(), arm().space * Rn(1)
    last = next(f for f in space.factors if f.space.nv == 1)
    mimic = follow(space, [0], [last.v.start], name="mimic")
    (entry,) = Problem(space, [mimic]).resolution.dependencies(space)
    assert entry.reads == (robot.joint_names[0],)
    twice = robot.space * robot.space
    mimic = follow(twice, [0], [8], name="mimic")
    (entry,) = Problem(twice, [mimic]).resolution.dependencies(twice)
    assert entry.reads == (twice.leaves()[0].name,)
    assert entry.reads != (robot.joint_names[0],)


def test_what_rows_move_through_computed_dofs() -> None:
    """x3 = f(x2), x2 = f(x0): rows that read x3 move x0; frozen dofs never; what is computed of these moves."""
    space = Rn(6)
    chain = [follow(space, [0, 5], [2]), follow(space, [2], [3]), follow(space, [1], [4])]

    def moved(columns: list[int], frozen: list[int]) -> list[int]:
        row = Implicit.zero(Affine(np.eye(6)[columns], None, space))
        problem = Problem(space, [row, *chain], frozen=Segments.coordinates(space, frozen))
        return np.flatnonzero(problem.implicit_dofs).tolist()

    assert moved([3], []) == [0, 2, 3, 5]
    assert moved([3], [5]) == [0, 2, 3]
    assert moved([0], []) == [0, 2, 3]
    assert moved([4], []) == [1, 4]
    assert moved([1], []) == [1, 4]
    assert moved([0], [0]) == []
    assert moved([2], [0, 5]) == []


def chained() -> Problem:
    """Computed through curved maps, a frozen dof, two rows, an optional one."""
    space = Rn(5)
    square = Function.from_callable(lambda q: q**2 + 0.1, Rn(1), Rn(1), lambda q: [[2.0 * q[0]]])
    first, second = (
        Explicit(square, Segments.coordinates(space, [b]), Segments.coordinates(space, [a]), whole=space)
        for a, b in ((0, 1), (1, 2))
    )
    rows = Function.from_callable(
        lambda q: [q[2] * q[3] + q[0], np.sin(q[3]) + q[1]], space, Rn(2),
        lambda q: [[1.0, 0, q[3], q[2], 0], [0, 1.0, 0, np.cos(q[3]), 0]],
    )  # fmt: skip
    wish = Implicit.zero(Affine([[0.0, 0, 0, 1.0, 1.0]]), name="wish")
    return Problem(
        space,
        [[Implicit.zero(rows), second, first], [wish]],
        frozen=Segments.coordinates(space, [4]),
        optional_last=True,
    )


def test_derivatives_through_computed_dofs_are_differences() -> None:
    """T and the reduced Jacobian, all levels; a frozen dof has no column; a plain configuration or a point."""
    problem, h = chained(), 1e-6

    def resolved(x: np.ndarray) -> np.ndarray:
        q = np.array([x[0], 0.0, 0.0, x[1], 0.3])
        q[1] = q[0] ** 2 + 0.1
        q[2] = q[1] ** 2 + 0.1
        return q

    x = np.array([0.7, -0.4])
    q = resolved(x)
    T = np.transpose([(resolved(x + h * e) - resolved(x - h * e)) / (2 * h) for e in np.eye(2)])
    expected = np.zeros((5, 5))
    expected[:, [0, 3]] = T
    for where in (q, problem.at(q)):
        np.testing.assert_allclose(problem.resolution_jacobian(where), expected, atol=1e-8)
        J = problem.reduced_jacobian(where)
        assert J.shape == (3, 2)
        np.testing.assert_allclose(J, problem.jacobian(q)[:3] @ T, atol=1e-8)
    assert problem.reduced_size == 3
    one = problem.dimension(q)
    basis = problem.tangent_basis(q)
    assert (one, basis.shape) == (0, (5, 0))
    free = Problem(problem.space, problem.constraint_levels[0][1:], frozen=Segments.coordinates(problem.space, [4]))
    basis = free.tangent_basis(q)
    assert free.dimension(q) == 2
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    assert not basis[4].any()
    np.testing.assert_allclose(T @ np.linalg.lstsq(T, basis, rcond=None)[0], basis, atol=1e-8)


def test_the_projected_velocity_is_the_nearest_that_keeps_the_rows() -> None:
    """T P v: computed dofs following; optional rows and frozen dofs do not count."""
    space = Rn(4)
    row = Implicit.zero(Affine([[1.0, 2.0, 2.0, 0.0]]))
    wish = Implicit.zero(Affine([[1.0, 0.0, 0.0, 0.0]]))
    double = follow(space, [0], [2])
    problem = Problem(space, [[row, double], [wish]], optional_last=True, frozen=Segments.coordinates(space, [3]))
    v = np.array([1.0, -2.0, 7.0, 9.0])
    reduced = np.array([5.0, 2.0])  # of x0, whose x2 follows, and x1
    kept = v[:2] - reduced * (reduced @ v[:2]) / (reduced @ reduced)
    np.testing.assert_allclose(problem.project_tangent(np.zeros(4), v), [*kept, 2.0 * kept[0], 0.0], atol=1e-12)
    again = problem.project_tangent(np.zeros(4), problem.project_tangent(np.zeros(4), v))
    np.testing.assert_allclose(again, problem.project_tangent(np.zeros(4), v), atol=1e-12)


def test_errors_and_satisfaction_leave_an_optional_level_out() -> None:
    line = Implicit.equal(Affine([[3.0, 4.0]]), [1.0], name="line", mask=[True])
    wish = Implicit.zero(Identity(Rn(2)), name="wish", mask=[False, True])
    lid = follow(Rn(2), [0], [1], name="lid")
    problem = Problem(Rn(2), [[line], [wish]], Bounds(Rn(2), [0.0, 0.0], [1.0, 1.0]), optional_last=True)
    q = [0.2, 0.6]
    assert problem.residual(q) == pytest.approx(2.0)
    assert problem.error(q, "wish").tolist() == [0.6]
    assert problem.is_satisfied(q, "wish", threshold=0.6)
    assert not problem.is_satisfied(q, "wish", threshold=0.59)
    assert problem.is_satisfied([0.2, 0.1])
    assert not problem.is_satisfied([1.0 / 3.0 + 1e-5, -1e-5])
    assert problem.is_satisfied([0.2, 0.1 + 2.4e-5])
    assert not problem.is_satisfied([0.2, 0.1 + 2.6e-5])
    computed = Problem(Rn(2), [[lid]])
    assert computed.residual([0.5, 2.0]) == 1.0
    assert (computed.reduced_size, computed.implicit_dofs.tolist()) == (0, [False, False])
    rows = explicits_as_rows(computed)
    assert (rows.reduced_size, rows.free.tolist(), len(rows.explicits)) == (1, [True, True], 0)
    assert explicits_as_rows(problem) is problem
    result = Projector(rows, Options(threshold=1e-9)).project([0.5, 2.0])
    np.testing.assert_allclose(result.q, [0.9, 1.8], atol=1e-6)
    assert rows.residual(result.q) == computed.residual(result.q)


# Merging.


def test_merged_problems_take_the_bigger_space_and_the_robot() -> None:
    robot = arm()
    hand = Implicit.zero(Position(robot, "tool"), name="hand")
    on_robot, on_space = Problem(robot, [hand]), Problem(robot.space, [Implicit.zero(Position(robot, "elbow"))])
    for merged in (on_robot | on_space, on_space | on_robot):
        assert merged.robot is robot
        assert len(merged.constraints) == 2
    wide = robot.space * Rn(1)
    big = Problem(wide, [Implicit.zero(Affine(np.eye(1, wide.nv), None, wide))])
    for merged in (on_robot | big, big | on_robot):
        assert merged.robot is None
        assert merged.space == wide
    with pytest.raises(SpaceMismatchError, match="problems to be merged"):
        _ = on_robot | Problem(Rn(2), [Implicit.zero(Identity(Rn(2)))])
    with pytest.raises(WrongObjectError, match="problem 1 to be merged"):
        on_robot.merged("problem")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        (None, None, [1.0, 1.0, 1.0]), ({"a": 2.0}, None, [2.0, 1.0, 1.0]), ({"a": 2.0}, {"b": 3.0}, [2.0, 3.0, 3.0]),
        ([1.0, 2.0, 3.0], None, [1.0, 2.0, 3.0]), ([1.0, 2.0, 2.0], {"b": 2.0}, [1.0, 2.0, 2.0]),
        ({"b": [1.0, 2.0]}, {"b": [1.0, 2.0]}, [1.0, 1.0, 2.0]),
    ],
)  # fmt: skip
def test_costs_of_merged_problems(a: Any, b: Any, merged: list[float]) -> None:
    space = ProductSpace([Rn(1), Rn(2)], ["a", "b"])
    row = Implicit.zero(Affine([[1.0, 1.0, 1.0]], None, space))
    both = Problem(space, [row], weights=a) | Problem(space, [row], weights=b)
    assert both.weights.tolist() == merged
    has = [weights is not None and (not isinstance(weights, dict) or name in weights) for weights in (a, b)
           for name in ("a", "b")]  # fmt: skip
    assert both.has_cost.tolist() == [has[0] or has[2], *[has[1] or has[3]] * 2]
    with pytest.raises(MergeConflictError, match=r"weight of 'b'.*2.*3") as caught:
        _ = Problem(space, [row], weights={"b": [1.0, 2.0]}) | Problem(space, [row], weights={"b": [1.0, 3.0]})
    assert (caught.value.first, caught.value.second) == (2.0, 3.0)


def test_right_hand_sides_of_parts_in_detail() -> None:
    """Points and rates by constraint; a rotation and its opposite agree; what no part has keeps its default."""
    turn, move = Implicit.equal(Identity(SO3), name="turn"), Implicit.equal(Identity(SO3), name="move")
    rest = Implicit.equal(Identity(SO3), name="rest")
    a, b = Problem(SO3, [turn, move]), Problem(SO3, [move, turn])
    whole = Problem(SO3, [rest]) | a
    q = SO3.random(np.random.default_rng(1))
    one, other = a.rhs.replace("turn", q), b.rhs.replace("turn", -q)
    made = whole.rhs_from_parts(one, other)
    assert made.of("turn").tolist() == q.tolist()
    assert made.of("rest").tolist() == SO3.neutral.tolist()
    assert made.velocity is None
    with pytest.raises(MergeConflictError, match="right-hand side of 'move'"):
        whole.rhs_from_parts(a.rhs.replace("move", q), b.rhs)
    with pytest.raises(UnknownNameError, match="'rest' of a part is not in this problem"):
        a.rhs_from_parts(whole.rhs)
    moving = RightHandSide(a.constraints, a.rhs.vector, np.arange(6.0), 10.0 + np.arange(6.0))
    made = whole.rhs_from_parts(moving)
    assert made.velocity is not None
    assert made.acceleration is not None
    at = {owner.name: block for owner, block in zip(whole.constraints, whole.constraints.full_slices, strict=True)}
    assert made.velocity[at["turn"]].tolist() == [0.0, 1.0, 2.0]
    assert made.velocity[at["move"]].tolist() == [3.0, 4.0, 5.0]
    assert made.acceleration[at["turn"]].tolist() == [10.0, 11.0, 12.0]
    assert made.acceleration[at["move"]].tolist() == [13.0, 14.0, 15.0]
    assert not made.velocity[at["rest"]].any()
    assert not made.acceleration[at["rest"]].any()
    rates = np.r_[3.0, 4.0, 5.0, 0.0, 1.0, 2.0]
    faster = RightHandSide(b.constraints, b.rhs.vector, rates + 2e-12, 10.0 + rates)
    bent = RightHandSide(b.constraints, b.rhs.vector, rates, 10.0 + rates + 1e-9)
    for off in (faster, bent):
        with pytest.raises(MergeConflictError):
            whole.rhs_from_parts(moving, off)
    close = RightHandSide(b.constraints, b.rhs.vector, np.r_[3.0, 4.0, 5.0, 0.0, 1.0, 2.0 + 5e-13], 10.0 + rates)
    whole.rhs_from_parts(moving, close)
    still, slow = (RightHandSide(a.constraints, a.rhs.vector, np.full(6, rate)) for rate in (0.0, 1e-12))
    assert whole.rhs_from_parts(still, slow).velocity is not None  # apart by the tolerance itself

"""Parts of rows each for itself: tables, targets, stacks, right-hand sides, which constraints are the same."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box
from robots import arm

from constraints import (
    Affine,
    Comparison,
    ConvexShapeContactHold,
    Explicit,
    Function,
    Implicit,
    Pose,
    Position,
    Problem,
    Projector,
    RightHandSide,
    Stack,
    Surface,
    Target,
    Workspace,
    errors,
    explicit_contact,
    locked_joint,
)
from constraints.functions import Identity
from constraints.point import place, place_motion
from constraints.rows.angle_limits import idle_limits
from constraints.rows.comparison import RowTable, by_row
from constraints.rows.same_constraints import what_differs
from constraints.rows.stack import label
from constraints.rows.stacking import Order, Rows, StackedRows, evaluate_optional, stack_rows
from liegroups import SO2, SO3, Rn, Segments

EQUALITY, ZERO, SUPERIOR, INFERIOR = Comparison
INF = np.inf


# Tables.


def table(size: int = 3, **changes: Any) -> RowTable:
    given: dict[str, Any] = dict.fromkeys(("comparison", "mask", "scale", "lower", "upper")) | {"margin": 0.0} | changes
    return RowTable.of(size, "hand", **given)


def test_tables_of_all_kinds() -> None:
    """Lower, upper, scale, free_rhs, mask, words: for each kind of row, a scalar standing for all."""
    one = table(scale=2.0)
    np.testing.assert_array_equal([one.lower, one.upper, one.scale], [[0.0] * 3, [0.0] * 3, [2.0] * 3])
    assert (one.free_rhs.tolist(), one.mask.tolist(), one.words) == ([False] * 3, [True] * 3, ("EQUAL_TO_ZERO",) * 3)
    free = table(comparison=EQUALITY, mask=[1, 0, 1])
    assert (free.free_rhs.tolist(), free.mask.tolist(), free.words) == (
        [True] * 3,
        [True, False, True],
        ("EQUALITY",) * 3,
    )
    np.testing.assert_array_equal([free.lower, free.upper], [[0.0, -INF, 0.0], [0.0, INF, 0.0]])
    sides = table(comparison=[SUPERIOR, INFERIOR, None], margin=[0.1, 0.2, 0.3], lower=[9.5, -1, -1], upper=[9, 9, 2])
    np.testing.assert_allclose(sides.lower, [0.1, -INF, -0.7], atol=1e-15)
    np.testing.assert_allclose(sides.upper, [INF, -0.2, 1.7], atol=1e-15)
    assert sides.words == ("SUPERIOR", "INFERIOR", "an interval")
    half = table(lower=[-INF, 1.0, -INF], upper=[INF, INF, 2.0], margin=0.5)
    assert half.mask.tolist() == [False, True, True]
    np.testing.assert_array_equal([half.lower, half.upper], [[-INF, 1.5, -INF], [INF, INF, 1.5]])
    point = table(lower=-1.0, upper=1.0, margin=1.0)
    np.testing.assert_array_equal([point.lower, point.upper], [[0.0] * 3] * 2)
    assert not point.one_sided.any()
    for wrong, said in (
        ({"lower": -1.0, "upper": 1.0, "margin": 1.0 + 1e-9}, r"row 0 is empty: its margin 1 is wider than half"),
        ({"scale": INF}, r"scale must be positive and finite, got \[inf, inf, inf\]"),
        ({"margin": INF, "comparison": SUPERIOR}, r"margin must be zero or larger, and finite, got \[inf, inf, inf\]"),
        ({"lower": [0.0, INF, 0.0]}, r"row 1 is empty: no number is in \[inf, inf\]"),
        ({"upper": [0.0, 1.0, -INF]}, r"row 2 is empty: no number is in \[-inf, -inf\]"),
    ):  # fmt: skip
        with pytest.raises(errors.OptionError, match=said):
            table(3, **wrong)  # type: ignore[arg-type]
    assert not table(lower=[0.0, INF, 0.0], mask=[1, 0, 1]).mask[1]


def test_which_tables_are_plain_and_which_rows_have_a_side() -> None:
    assert table().is_plain
    assert table(comparison=EQUALITY, mask=[0, 1, 0]).is_plain
    assert table(scale=[2.0, 1.0, 2.0], mask=[0, 1, 0]).is_plain
    for other in ({"scale": [1.0, 1.0, 2.0]}, {"comparison": [ZERO, ZERO, SUPERIOR]}, {"lower": 1.0, "upper": 1.0},
                  {"comparison": [ZERO, ZERO, INFERIOR]}):  # fmt: skip
        assert not table(3, **other).is_plain
    mixed = table(comparison=[SUPERIOR, None, ZERO], lower=1.0, upper=1.0, scale=[1.0, 2.0, 3.0])
    assert mixed.one_sided.tolist() == [True, False, False]
    bare = mixed.unclipped()
    np.testing.assert_array_equal([bare.lower, bare.upper], [[0.0, 1.0, 0.0]] * 2)
    assert (bare.scale.tolist(), bare.words) == (mixed.scale.tolist(), mixed.words)


def test_rows_become_errors_in_place() -> None:
    """Scaled distances to the interval; inside it the row of the Jacobian is zero, of an equality never."""
    rows = table(
        5, lower=[-1.0, -1.0, -1.0, 0.5, -INF], upper=[1.0, 1.0, 1.0, 0.5, 2.0], scale=[2.0, 1.0, 3.0, 4.0, 1.0]
    )
    error, J = np.array([1.5, 0.5, -2.0, 0.5, 2.0]), np.ones((5, 2))
    rows.apply(error, J)
    np.testing.assert_array_equal(error, [1.0, 0.0, -3.0, 0.0, 0.0])
    np.testing.assert_array_equal(J[:, 0], [2.0, 0.0, 3.0, 4.0, 0.0])
    error = np.array([1.5, 0.5, -2.0, 0.5, 2.0])
    rows.apply(error)
    np.testing.assert_array_equal(error, [1.0, 0.0, -3.0, 0.0, 0.0])


def test_numbers_by_row() -> None:
    np.testing.assert_array_equal(by_row(None, -INF, 2, "hand", "lower"), [-INF, -INF])
    np.testing.assert_array_equal(by_row(3, 0.0, 2, "hand", "lower"), [3.0, 3.0])
    np.testing.assert_array_equal(by_row([INF, 1.0], 0.0, 2, "hand", "lower"), [INF, 1.0])
    assert by_row(1.0, 0.0, 2, "hand", "lower").flags.writeable
    with pytest.raises(errors.SizeError, match="one number or 2"):
        by_row([1.0], 0.0, 2, "hand", "lower")
    with pytest.raises(errors.NotFiniteError, match=r"NaN at \[1\]"):
        by_row([1.0, np.nan], 0.0, 2, "hand", "lower")


@pytest.mark.parametrize(
    ("made", "lower", "upper"),
    [
        (Implicit.above, 0.0, INF), (Implicit.below, -INF, 0.0),
        (lambda f: Implicit.above(f, [1.0, 2.0], margin=0.5), [1.5, 2.5], INF),
        (lambda f: Implicit.below(f, [1.0, 2.0], margin=[0.5, 0.25]), -INF, [0.5, 1.75]),
        (lambda f: Implicit.between(f, -1.0, [1.0, 2.0], margin=0.25), -0.75, [0.75, 1.75]),
        (lambda f: Implicit(f, SUPERIOR), 0.0, INF), (lambda f: Implicit(f, INFERIOR), -INF, 0.0),
        (Implicit.zero, 0.0, 0.0), (Implicit.equal, 0.0, 0.0), (Implicit, 0.0, 0.0),
    ],
)  # fmt: skip
def test_constructors_say_what_they_ask_for(made: Any, lower: Any, upper: Any) -> None:
    rows = made(Identity(Rn(2))).rows
    np.testing.assert_array_equal([rows.lower, rows.upper], [np.broadcast_to(lower, 2), np.broadcast_to(upper, 2)])
    assert rows.free_rhs.tolist() == [made == Implicit.equal] * 2
    assert repr(made(Identity(Rn(2)))).endswith("2 rows)")
    assert repr(Implicit.zero(Identity(Rn(2)), mask=[True, False], name="one")) == "Implicit('one', 1 row)"


# Targets.


def test_a_target_is_compared_to_its_own_differences() -> None:
    """Row, time, both numbers; relative to 1 + the largest slope; between the slopes of a kink anything passes."""
    space = Rn(2)
    good = Target(lambda t: [np.sin(t), 100.0 * t], lambda t: [np.cos(t), 100.0], lambda t: [-np.sin(t), 0.0])
    assert good.disagreement(0.3, space) == ""
    wrong = Target(good.value, lambda t: [np.cos(t), 100.2])
    said = wrong.disagreement(0.5, space)
    assert said == (
        "the velocity of the target at 0.5 s is not the derivative of its value: row 1 is 100.2, the value changes by "
        "100 per second"
    )
    assert Target(good.value, lambda t: [np.cos(t), 100.1]).disagreement(0.5, space) == ""
    assert wrong.disagreement(0.5, space, 1e-2) == ""
    assert wrong.disagreement(0.5, space, 1.9e-3) != ""
    assert wrong.disagreement(0.5, space, 2.0e-3) == ""
    bent = Target(good.value, good.velocity, lambda t: [0.5 - np.sin(t), 0.0])
    said = bent.disagreement(0.5, space)
    assert said.startswith(
        "the acceleration of the target at 0.5 s is not the derivative of its velocity: row 0 is 0.0205"
    )
    assert "the velocity changes by -0.479426 per second" in said
    assert Target(good.value, None, lambda t: [0.0, 9.0]).disagreement(0.0, space).startswith("the acceleration")
    for slope, passes in ((-1.0, True), (0.0, True), (1.0, True), (1.1, False), (-1.1, False)):
        kink = Target(lambda t: [abs(t)], lambda t, slope=slope: [slope])  # type: ignore[misc]
        assert (kink.disagreement(0.0, Rn(1)) == "") == passes
    ends = Target(lambda t: [t * t], lambda t: [2.0 * t], interval=(0.0, 1.0))
    assert ends.disagreement(0.0, Rn(1)) == ends.disagreement(1.0, Rn(1)) == ""
    assert Target(lambda t: [t], lambda t: [7.0], interval=(1.0, 1.0)).disagreement(1.0, Rn(1)) == ""
    assert Target(lambda t: [t]).disagreement(0.0, Rn(1)) == ""


def test_a_wrong_rate_is_warned_of_once_and_looked_for_ever_more_seldom(caplog: pytest.LogCaptureFixture) -> None:
    looked: list[int] = []

    def value(t: float) -> list[float]:
        looked.append(1)
        return [t]

    right, counts = Target(value, lambda t: [1.0]), list[int]()
    for _ in range(17):
        looked.clear()
        right.watch(0.5, Rn(1), "right")
        counts.append(len(looked) > 0)
    assert [i + 1 for i, seen in enumerate(counts) if seen] == [1, 2, 4, 8, 16]
    looked.clear()
    Target(value).watch(0.5, Rn(1), "none")
    assert not looked
    late = Target(value, lambda t: [1.0 if t < 2.0 else 3.0])
    with caplog.at_level(logging.WARNING, "constraints"):
        late.watch(1.0, Rn(1), "late")
        assert not caplog.records
        for _ in range(9):
            late.watch(3.0, Rn(1), "late")
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["'late'"]

    def lost(t: float) -> list[float]:
        raise ZeroDivisionError

    Target(lost, lambda t: [1.0]).watch(0.0, Rn(1), "lost")
    caplog.clear()
    with caplog.at_level(logging.WARNING, "constraints"):
        Target(lambda t: [t], None, lambda t: [5.0]).watch(0.0, Rn(1), "bent")
    assert len(caplog.records) == 1


def test_times_of_a_target() -> None:
    """Its first time is that nearest to zero; roundings beyond the ends pass; more does not."""
    for interval, first in (((-1.0, 2.0), 0.0), ((1.0, 2.0), 1.0), ((-3.0, -2.0), -2.0), ((-INF, INF), 0.0)):
        assert Target(lambda t: [t], interval=interval).first_time == first
    target = Target(lambda t: [t], interval=(1.0, 2.0))
    for t in (1.0, 2.0, 1.0 - 9e-13, 2.0 + 9e-13, np.float64(1.5), 1):
        assert target.at(t).shape == (1,)
    for t in (1.0 - 1e-9, 2.0 + 1e-9):
        with pytest.raises(errors.OptionError, match="is outside the interval"):
            target.at(t)
        with pytest.raises(errors.OptionError, match="is outside the interval"):
            target.velocity_at(t, Rn(1))
        with pytest.raises(errors.OptionError, match="is outside the interval"):
            target.acceleration_at(t, Rn(1))
    rests = Target(lambda t: [t], interval=(1.0, 1.0))  # no speed that could be told
    assert rests.velocity_at(1.0, Rn(1)).tolist() == rests.acceleration_at(1.0, Rn(1)).tolist() == [0.0]
    wide = Target(lambda t: [t**3], interval=(0.0, 1.0))
    np.testing.assert_allclose(wide.acceleration_at(0.0, Rn(1)), [0.0], atol=1e-3)
    np.testing.assert_allclose(wide.acceleration_at(1.0, Rn(1)), [6.0], atol=1e-3)


# Stacks.


def test_a_stack_knows_its_rows() -> None:
    a = Implicit.zero(Identity(SO3), mask=[1, 0, 1], name="a")
    b = Implicit.zero(Identity(SO3), mask=False, name="b")
    c = Implicit.equal(Identity(SO3), name="c")
    stack = Stack([a, b, c])
    assert stack.slices == (slice(0, 2), slice(2, 2), slice(2, 5))
    assert stack.full_slices == (slice(0, 3), slice(3, 6), slice(6, 9))
    assert stack.rhs_slices == (slice(0, 4), slice(4, 8), slice(8, 12))
    assert (stack.size, stack.full_size, stack.rhs_size) == (5, 9, 12)
    assert stack.active.tolist() == [0, 2, 6, 7, 8]
    assert (stack.names, stack.labels) == (("a", "b", "c"), ("'a'", "'b'", "'c'"))
    assert stack.norms(np.array([3.0, 4.0, 0.0, 0.0, 2.0])) == [("a", 5.0), ("b", 0.0), ("c", 2.0)]
    assert [stack.index(i) for i in (0, 2, -1, -3, np.int64(1), "b", c)] == [0, 2, 2, 0, 1, 1, 2]
    assert stack[-1] is c
    for wrong in (3, -4):
        with pytest.raises(errors.SizeError, match="below 3"):
            stack.index(wrong)
    for wrong in (True, 1.0, None):
        with pytest.raises(errors.WrongObjectError):
            stack.index(wrong)
    with pytest.raises(errors.UnknownNameError, match="but another one has its name"):
        stack.index(Implicit.zero(Identity(SO3), name="a"))
    with pytest.raises(errors.UnknownNameError) as caught:
        stack.index(Implicit.zero(Identity(SO3), name="d"))
    assert "but another one has its name" not in str(caught.value)
    twice = Stack([a, Implicit.zero(Identity(SO3), name="a"), c])
    assert twice.labels == ("'a' (constraint 0)", "'a' (constraint 1)", "'c'")
    with pytest.raises(errors.AmbiguousNameError):
        twice.index("a")
    assert label("a", 0, ["a"]) == "'a'"
    none = Stack([])
    assert (len(none), none.size, none.rhs_size, none.active.tolist(), none.active.dtype.kind) == (0, 0, 0, [], "i")
    assert repr(stack) == "Stack(5 rows: a, b, c)"
    lifted = a.on(SO3 * Rn(1))
    assert Stack([lifted]).index(a) == 0


def test_measures_of_stacked_rows() -> None:
    """Merit and largest norm of an owner; nothing without rows; infinite where one is no number."""
    error = np.array([3.0, 4.0, 0.0, 12.0])
    rows = Rows(error, np.zeros((4, 1)), (slice(0, 2), slice(2, 2), slice(2, 4)))
    assert (rows.merit, rows.measure(), rows.residual, len(rows.parts)) == (169.0, (169.0, 12.0), 12.0, 2)
    other = rows.with_jacobian(np.ones((4, 1)))
    assert (other.residual, other.jacobian.sum(), rows.jacobian.sum()) == (12.0, 4.0, 0.0)
    none = Rows(np.zeros(0), np.zeros((0, 1)), (slice(0, 0),))
    assert (none.merit, none.measure()) == (0.0, (0.0, 0.0))
    for bad in (np.nan, INF, -INF, 1e200):
        error[1] = bad
        assert rows.measure() == (INF, INF)


def masked() -> tuple[Stack, Any]:
    """Rows of every owner masked differently: the first, scattered, the last, none, all."""
    robot = arm()
    hand = [Implicit.equal(Position(robot, "tool"), mask=mask, name=f"m{i}", rhs=[0.1 * i, 0.0, 0.2])
            for i, mask in enumerate(([0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]))]  # fmt: skip
    return Stack([*hand, Implicit.equal(Pose(robot, "elbow"), mask=[1, 0, 0, 1, 1, 0])]), robot


def test_masked_rows_at_every_level() -> None:
    """Errors, Jacobians, rates and drifts of masked rows are those of whole owners, one by one."""
    stack, robot = masked()
    rng = np.random.default_rng(9)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    whole = Stack([Implicit.equal(owner.function, owner.default_rhs) for owner in stack])  # type: ignore[attr-defined]
    for order in Order:
        point: Any = robot.at(q) if order is Order.POSITION else robot.at(q, v)
        mine, theirs = stack_rows(stack, point, order), stack_rows(whole, point, order)
        np.testing.assert_allclose(mine.error, theirs.error[stack.active], rtol=0, atol=1e-13)
        np.testing.assert_allclose(mine.jacobian, theirs.jacobian[stack.active], rtol=0, atol=1e-13)
        few = Stack(stack.owners[1:2])
        one = stack_rows(few, point, order)
        np.testing.assert_allclose(one.error, theirs.error[[3, 5]], rtol=0, atol=1e-13)
    there = robot.at(q)
    bare = stack_rows(stack, there, jacobian=False).error.copy()
    np.testing.assert_array_equal(bare, stack_rows(stack, there).error)


def test_columns_that_were_written_are_cleared() -> None:
    """Whoever adds to a Jacobian in place says so; what no function declares is zero again at every level."""
    f = Affine([[1.0, 0.0]]).on(Rn(3), Segments.coordinates(Rn(3), [0, 1]))
    stack = Stack([Implicit.zero(f), Implicit.zero(f, mask=[True])])
    stacked, sides = StackedRows(stack, Rn(3)), RightHandSide(stack)
    motion = place_motion(Rn(3), np.ones(3), np.ones(3), Workspace())
    for again in (
        lambda: stacked.position(motion.point, sides), lambda: stacked.velocity(motion, sides, False),
        lambda: stacked.acceleration(motion, sides, False),
    ):  # fmt: skip
        again()
        stacked.rows.jacobian[:, 2] = 7.0
        stacked.reduced = True
        np.testing.assert_array_equal(again().jacobian, [[1.0, 0.0, 0.0]] * 2)
        assert not stacked.reduced
    stacked.mask_undefined()
    assert not stacked.rows.error.any()
    assert not stacked.rows.jacobian.any()


@pytest.mark.parametrize("kind", ["fine", "no value", "nan", "nan slope"])
def test_rows_that_need_not_hold_are_none_where_they_have_no_value(kind: str) -> None:
    def value(q: np.ndarray) -> Any:
        if kind == "no value":
            raise errors.UndefinedError("no")
        return [np.nan] if kind == "nan" else q

    f = Function.from_callable(value, Rn(1), Rn(1), lambda q: [[np.nan if kind == "nan slope" else 2.0]])
    stack = Stack([Implicit.zero(f)])
    stacked, point = StackedRows(stack, Rn(1)), place(Rn(1), np.ones(1), Workspace())
    for jacobian in (True, False):
        evaluate_optional(stacked, point, RightHandSide(stack), jacobian)
        has = kind == "fine" or (kind == "nan slope" and not jacobian)
        assert stacked.rows.error.tolist() == [1.0 if has else 0.0]
    evaluate_optional(stacked, point, RightHandSide(stack), True)
    assert stacked.rows.jacobian.tolist() == [[2.0 if kind == "fine" else 0.0]]


@pytest.mark.parametrize(
    ("value", "interval", "said"),
    [
        (lambda t: [0.3 * (t > 3e-6)], (-INF, INF), "by 0.3 at 2.5e-06 s: its velocity, a difference across the jump, "
         "is 1.5e+04 there; give `velocity`, or restrict its interval"),
        (lambda t: [-0.3 * (t < -3e-6)], (-INF, INF), "by 0.3 at -3.125e-06 s"),
        (lambda t: [40.0 * (t > -3e-6) + 60.0 * (t > 3e-6)], (-INF, INF), "by 60 at 2.5e-06 s"),
        (lambda t: [0.0, 0.01 * (t > -3e-6), 0.06 * (t > 3e-6)], (-INF, INF), "by 0.06 at 2.5e-06 s"),
        (lambda t: [32.0 * (t > -3e-6) + 32.0 * (t > 3e-6)], (-(2.0**-17), 2.0**-17), ""),  # no part has more than half
        (lambda t: [np.clip(t / 5e-6, 0.0, 1.0)], (-INF, INF), ""),  # a quarter of the interval is wide
        (lambda t: [100.1 * t], (0.0, 2.0**-17), ""),
        (lambda t: [100.0 * t], (0.0, 2.0**-17), None),
        (lambda t: [-100.0 * t], (0.0, 2.0**-17), None),
        (lambda t: [1e-3 * (t > 0.0)], (-INF, INF), None),
    ],
)  # fmt: skip
def test_a_jump_is_told_once(value: Any, interval: Any, said: str | None, caplog: pytest.LogCaptureFixture) -> None:
    """Where more than half of a change of more than 100 in a second is in a part of 1/32; where it is less, or none."""
    asked = list[float]()
    target = Target(lambda t: (asked.append(t), value(t))[1], interval=interval)
    space = Rn(len(value(0.0)))
    with caplog.at_level(logging.WARNING, "constraints"):
        for _ in range(3):
            target.velocity_at(0.0, space)
    assert len(asked) == 3 * 2 + {None: 0, "": 3}.get(said, 1) * 5 * 3
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == bool(said)
    assert not said or messages[0].startswith(f"a Target jumps {said}")


# Right-hand sides.


def test_right_hand_sides_and_their_rates_are_checked() -> None:
    stack = Stack([Implicit.equal(Identity(SO3), name="turn"), Implicit.zero(Identity(SO3), name="still")])
    rhs = RightHandSide(stack, None, np.arange(6.0), np.ones(6))
    assert rhs.velocity is not None
    assert rhs.velocity.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    for rates, said in (({"velocity": np.zeros(5)}, "velocity of right-hand sides"),
                        ({"acceleration": np.zeros(7)}, "acceleration of right-hand sides")):  # fmt: skip
        with pytest.raises(errors.SizeError, match=said):
            RightHandSide(stack, **rates)
    with pytest.raises(errors.WrongObjectError, match=r"8 numbers or a RightHandSide, got a mapping.*rhs\.replace"):
        RightHandSide(stack, {"turn": [0, 0, 0, 1]})  # type: ignore[arg-type]
    with pytest.raises(errors.WrongObjectError, match="stack of right-hand sides"):
        RightHandSide([])  # type: ignore[arg-type]
    with pytest.raises(errors.OperatorError, match=r"rhs\.of\(name\)"):
        rhs["turn"]  # type: ignore[index]
    with pytest.raises(errors.OperatorError, match="right-hand sides are immutable"):
        rhs["turn"] = [0, 0, 0, 1]  # type: ignore[index]
    replaced = rhs.replace("turn", [0.0, 0.0, 1.0, 0.0])
    assert replaced.velocity is not None
    assert replaced.acceleration is not None
    assert (replaced.velocity.tolist(), replaced.acceleration.tolist()) == (rhs.velocity.tolist(), [1.0] * 6)
    there = rhs.read_at(SO3.exp([0.0, 0.0, 0.5]))
    assert there.velocity is None
    np.testing.assert_allclose(SO3.log(there.of("turn")), [0.0, 0.0, 0.5], atol=1e-14)
    assert there.of("still").tolist() == SO3.neutral.tolist()
    assert rhs.read_at(SO3.neutral, []).vector.tolist() == rhs.vector.tolist()
    flat = Stack([Implicit.equal(Identity(Rn(2)), name="a"), Implicit.equal(Identity(Rn(2)), name="b")])
    some = RightHandSide(flat, [1.0, 2.0, 0.0, 0.0])
    assert some.points[id(flat[1])] is None
    assert some.points[id(flat[0])].tolist() == [1.0, 2.0]  # type: ignore[union-attr]
    assert RightHandSide(Stack([])).vector.shape == (0,)
    assert repr(some) == "RightHandSide(a: [1. 2.]; b: [0. 0.])"


@pytest.mark.parametrize(("off", "same"), [(0.0, True), (9e-13, True), (2e-12, False), (-2e-12, False)])
def test_same_right_hand_sides(off: float, same: bool) -> None:
    stack = Stack([Implicit.equal(Identity(Rn(2)), name="a")])
    one = RightHandSide(stack, [1.0, 2.0])
    other = RightHandSide(stack, [1.0, 2.0 + off])
    assert one.same_as(other) == same
    assert one.same_as(other, 1e-11)
    assert not one.same_as(RightHandSide(Stack([])))
    assert not RightHandSide(stack, [1.0, 0.0]).same_as(RightHandSide(Stack([Implicit.equal(Identity(SO2))])))
    turn = Stack([Implicit.equal(Identity(SO3))])
    assert RightHandSide(turn, [0, 0, 0, 1.0]).same_as(RightHandSide(turn, [0, 0, 0, -1.0]))


def test_maps_of_right_hand_sides_are_kept_for_one_at_a_time() -> None:
    robot = arm()
    lock = locked_joint(robot, robot.joint_names[0], 0.5)
    rhs = Problem(robot, [lock]).rhs
    assert rhs.map_of(lock).value(robot.neutral).tolist() == [0.5]
    moved, workspace = rhs.replace(lock, [0.2]), Workspace()
    assert (rhs.same_as(rhs, 0.0), rhs.same_as(moved)) == (True, False)
    first = moved.map_of(lock, workspace)
    assert first.value(robot.neutral).tolist() == [0.7]
    assert moved.map_of(lock, workspace) is first
    assert rhs.map_of(lock, workspace) is not first
    assert rhs.map_of(lock, workspace).value(robot.neutral).tolist() == [0.5]
    assert moved.map_of(lock) is not moved.map_of(lock)


# Whose constraints are the same.


def test_what_makes_constraints_others() -> None:
    """Type, space, each column of the table, value: nothing else; a copy is the same."""
    line = Affine([[1.0, 2.0]], [0.5])

    def one(f: Function = line, comparison: Any = EQUALITY, **options: Any) -> Stack:
        return Stack([Implicit(f, comparison, name="line", **options)])

    mine = one()
    assert what_differs(one(), mine) == ""
    assert what_differs(one(Affine([[1.0, 2.0]], [0.5])), mine) == ""
    assert what_differs(one(Affine([[1.0, 2.0]], [0.5 + 1e-12])), mine) == ""
    explicit = Explicit(
        Affine([[2.0]]), Segments.coordinates(Rn(2), [1]), Segments.coordinates(Rn(2), [0]), whole=Rn(2), name="line",
        comparison=EQUALITY,
    )  # fmt: skip
    for other in (
        one(scale=2.0), one(comparison=ZERO), one(comparison=SUPERIOR), one(comparison=INFERIOR), one(mask=[False]),
        one(None or Affine([[1.0, 2.0]], [0.5 + 1e-6])), one(Affine([[1.0, 2.0 + 1e-6]], [0.5])), Stack([explicit]),
        one(Affine([[1.0, 2.0, 0.0]], [0.5])),
    ):  # fmt: skip
        for a, b in ((mine, other), (other, mine)):
            assert what_differs(a, b) == "its 'line' and 'line' of this problem are different constraints with the " \
                "same name"  # fmt: skip
    no_number = (one(Function.from_callable(lambda q: [np.nan * q[0]], Rn(2), Rn(1), trace=False)) for _ in range(2))
    assert what_differs(*no_number) == ""
    wide = one(comparison=None, lower=-1.0, upper=1.0)
    assert what_differs(wide, one(comparison=None, lower=-1.0, upper=1.0)) == ""
    for sides in ((-1.0, 2.0), (-2.0, 1.0)):
        assert what_differs(wide, one(comparison=None, lower=sides[0], upper=sides[1])) != ""
    far = one(Affine([[1.0, 2.0]], [0.6]), None, lower=-99.0, upper=99.0)
    assert what_differs(one(comparison=None, lower=-99.0, upper=99.0), far) != ""  # values, not distances
    two = Stack([mine[0], Implicit.zero(line, name="more")])
    assert what_differs(mine, two) == "it belongs to 1 constraints ('line'), the problem has 2"
    renamed = Stack([Implicit(line, EQUALITY, name="row")])
    assert what_differs(renamed, mine) == "its constraint 0 is 'row' in R1, the problem's is 'line' in R1"
    groups = Stack([Implicit.equal(Identity(Rn(2)), name="line")])
    assert what_differs(groups, mine) == "its constraint 0 is 'line' in R2, the problem's is 'line' in R1"
    with pytest.raises(errors.OtherConstraintsError, match="different constraints with the same name"):
        RightHandSide(one(scale=2.0)).on(mine)
    again = one()
    assert RightHandSide(again).on(mine).stack is mine
    assert again in mine.copies
    rates = RightHandSide(again, [1.0], [2.0], [3.0]).on(mine)
    assert (rates.vector, rates.velocity, rates.acceleration) == ([1.0], [2.0], [3.0])


def test_where_only_one_has_a_value_they_are_others() -> None:
    """Six random configurations at most, two with a value; functions that have none anywhere are not told apart."""

    def half(bad: bool) -> Stack:
        def value(q: np.ndarray) -> Any:
            if bad and q[0] > 0.0:
                raise errors.UndefinedError("no")
            return q[:1]

        return Stack([Implicit.equal(Function.from_callable(value, Rn(2), Rn(1), name="f"), name="f")])

    assert what_differs(half(False), half(True)) != ""
    assert what_differs(half(True), half(False)) != ""
    assert what_differs(half(True), half(True)) == ""

    def never(q: np.ndarray) -> Any:
        raise errors.UndefinedError("nowhere")

    one, other = (
        Stack([Implicit.equal(Function.from_callable(never, Rn(2), Rn(1), name="f"), name="f")]) for _ in range(2)
    )
    assert what_differs(one, other) == ""
    assert what_differs(half(False), one) != ""
    rng = np.random.default_rng(0)
    draws = [Rn(2).random(rng) for _ in range(3)]

    def other_at(q: np.ndarray) -> Stack:
        f = Function.from_callable(lambda p: p[:1] + np.array_equal(p, q), Rn(2), Rn(1), name="f", trace=False)
        return Stack([Implicit.equal(f, name="f")])

    plain = other_at(np.zeros(2))
    assert [what_differs(other_at(q), plain) != "" for q in draws] == [True, True, False]


def test_limits_beyond_half_a_turn_are_told_unless_they_stand_for_none() -> None:
    """Half a turn, a whole one and large numbers stand for none on both sides; degrees do on neither."""
    angles = Identity(SO3)
    for lower, upper, told in (
        (-np.pi, np.pi, False), (-3.15, 6.28, False), (-1e9, np.pi, False),
        (-45.0, np.pi, True), (-np.pi, 45.0, True), (-360.0, 360.0, True), (-1.0, 45.0, False), (-45.0, 1.0, False),
    ):  # fmt: skip
        said = idle_limits(table(lower=lower, upper=upper), angles, SO3)
        assert said.startswith("limits of rows 0-2 have no effect") == told == bool(said)
    some = idle_limits(table(lower=-45.0, upper=[45.0, 1.0, 45.0], mask=[True, True, False]), angles, SO3)
    assert some.startswith("limits of row 0 have no effect")


# Ways to make an explicit constraint.


def test_only_a_joint_of_a_robot_without_a_value_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    robot = arm()
    joint, space = robot.joint_names[0], robot.space
    block = robot.segments(joint)
    with caplog.at_level(logging.WARNING, "constraints"):
        for quiet in (
            (robot, joint, 0.5),
            (robot, joint, 0.0),
            (robot, block, None),
            (space, joint, None),
            (space, block, 0.5),
        ):
            locked_joint(*quiet)  # type: ignore[arg-type]
        assert not caplog.records
        lock = locked_joint(robot, joint)
    assert [record.getMessage() for record in caplog.records] == [
        f"locked '{joint}': no value was given, it is held at [0.0]; Problem(..., frozen=['{joint}']) holds it at its "
        "value in the start"
    ]
    assert lock.name == f"locked {joint}"
    assert locked_joint(robot, block, 0.1).name == f"locked {list(block.v)}"


def test_fixed_rows_take_roundings_relative_to_the_whole() -> None:
    f = Identity(Rn(2))
    mixed = Implicit(f, [EQUALITY, ZERO], name="mixed")
    for value, big, passes in (
        (0.9e-12, 0.0, True), (1.1e-12, 0.0, False), (-1.1e-12, 0.0, False), (0.9e-10, 100.0, True),
        (1.1e-10, 100.0, False),
    ):  # fmt: skip
        if passes:
            mixed.check_rhs([big, value])
        else:
            with pytest.raises(errors.RightHandSideError, match="row 1 is EQUAL_TO_ZERO"):
                mixed.check_rhs([big, value])


def test_an_explicit_contact_has_the_rows_of_its_hold() -> None:
    """Five rows at zero, three where it stands; names, levels, the right-hand side by default and one that is given."""
    robot = arm_and_box()
    box, edges = robot.frame("handle"), [[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.4, 0.2, 0.0], [0.0, 0.2, 0.0]]
    floor = Surface("floor", robot.frame("universe"), edges)
    sole = Surface("sole", box, edges[::-1])
    hold = ConvexShapeContactHold(robot, floor, sole, 0.01, name="stands")
    contact = explicit_contact(hold)
    assert contact.rows.words == ("EQUAL_TO_ZERO",) * 5 + ("EQUALITY",) * 3
    assert contact.rows.mask.all()
    assert (contact.name, contact.level, explicit_contact(hold, level=2, name="there").level) == ("stands", 0, 2)
    assert explicit_contact(hold, name="there").name == "there"
    rhs = np.r_[np.zeros(5), 0.05, -0.02, np.cos(0.3), np.sin(0.3)]
    for given in (None, rhs):
        problem = Problem(robot, [explicit_contact(hold, given)])
        q = Projector(problem).project(robot.random(np.random.default_rng(3))).q
        wanted = [*[0.0] * 7, 1.0, 0.0] if given is None else given
        np.testing.assert_allclose(hold.value(q), wanted, atol=1e-12)
    two = ConvexShapeContactHold(robot, [floor, Surface("other", robot.frame("universe"), edges)], sole)
    with pytest.raises(errors.OptionError, match=r"several pairs.*\('floor', 'sole'\), \('other', 'sole'\)"):
        explicit_contact(two)

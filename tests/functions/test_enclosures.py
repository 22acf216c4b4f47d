"""Enclosures: no value and no Jacobian is outside; intervals against exact fractions and 50 digits; what has none."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import enclosure_cases as cases
import fifty_digits as digits
import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from mpmath import mp as _mp
from robots import arm, mixed_tree

from constraints import (
    CenterOfMass,
    Function,
    Orientation,
    Pose,
    Position,
    Robot,
    Rotation,
    Transformation,
    rigid_transform,
)
from constraints.errors import (
    NoEnclosureError,
    NotFiniteError,
    NotNormalizedError,
    OptionError,
    SizeError,
    SpaceMismatchError,
    UndefinedError,
)
from constraints.functions import Enclosure, Interval, TangentBox, exp, log, sqrt
from constraints.functions.affine import Constant, Identity
from constraints.functions.enclosures.group_bounds import adjoint_bound, exp_jacobian_bound, log_jacobian_bound, walked
from constraints.functions.enclosures.interval import angle
from constraints.functions.enclosures.maps import OF_LOGS
from constraints.functions.frames.chain_bounds import seen
from constraints.functions.frames.pose_from_rows import PoseFromRows
from constraints.models.mechanisms import five_bar
from constraints.point import Point
from constraints.testing import CheckFailed, check_function
from liegroups import SE2, SE3, SO2, SO3, Rn, Space

mp: Any = _mp


@functools.cache
def enclosed_functions() -> tuple[Function, ...]:
    return tuple(f for f in cases.functions().values() if cases.has_enclosure(f))


@draws(1, 20)
def test_nothing_is_outside_of_boxes_of_all_functions(count: int) -> None:
    """Those of closures in `tests/loops/test_hinges.py`."""
    functions = [f for f in enclosed_functions() if f.name not in cases.closures()]
    assert len(functions) > 100
    assert cases.all_inside(functions * count, np.random.default_rng(0)) > 0.7 * count * len(functions)


@draws(3, 200)
def test_nothing_is_outside_of_boxes_of_formulas(count: int) -> None:
    rng = np.random.default_rng(1)
    for seed in range(count):
        f, q = cases.tree(seed, 4)
        box = cases.box_of(f, rng, -6.0, -2.0, q)
        found = cases.enclosed(f, box)
        if found is not None:
            assert cases.sampled(f, box, found, rng, 20, judged=0).outside == 0, seed


@draws(40, 400)
def test_several_boxes_are_enclosed_as_each_of_them(count: int) -> None:
    rng, functions, seen = np.random.default_rng(5), enclosed_functions(), 0
    for f in [functions[int(i)] for i in rng.integers(len(functions), size=count)]:
        boxes = [box for box in (cases.box_of(f, rng, -6.0, -2.0) for _ in range(8)) if box.ball is None]
        alone = [(box, found) for box in boxes if (found := cases.enclosed(f, box)) is not None]
        if len(alone) < 2:
            continue
        seen += 1
        together = f.enclosed(TangentBox(f.inputs, *(np.array([getattr(b, k) for b, _ in alone]) for k in "qr")))
        for i, (_, own) in enumerate(alone):
            of_all = (together.value, together.rounding, together.error, *_ends(together))
            for x, y in zip(of_all, (own.value, own.rounding, own.error, *_ends(own)), strict=True):
                np.testing.assert_allclose(x[i], y, rtol=1e-6, atol=1e-12, err_msg=f.name)
    assert seen > 0.5 * count


def _ends(found: Enclosure) -> list[np.ndarray]:
    parts = (found.jacobian, found.bend.straight, found.bend.slopes)
    return [x for part in parts for x in (part.lower, part.upper)]


def test_boxes_without_a_value_are_told_among_several() -> None:
    x = Identity(Rn(2))
    box = TangentBox(Rn(2), [[1.0, 2.0], [0.05, 2.0], [3.0, 1.0]], 0.1)
    with pytest.raises(UndefinedError) as refused:
        log(x).enclosed(box)
    assert refused.value.where.tolist() == [False, True, False]
    with pytest.raises(UndefinedError) as refused:
        OneByOne().enclosed(box)
    assert refused.value.where.tolist() == [False, True, False]
    turned = SO3.exp(np.array([[0.0, 0.0, 1.0], [0.0, 3.14, 0.0], [0.3, 0.0, 0.0]]))
    angles = Identity(SO3) - Constant(SO3.neutral, SO3, SO3)
    with pytest.raises(UndefinedError, match="half a turn") as refused:
        angles.enclosed(TangentBox(SO3, turned, 0.01))
    assert refused.value.where.tolist() == [False, True, False]
    away = Identity(SO2) - Constant(SO2.neutral, SO2, SO2)
    with pytest.raises(UndefinedError, match="angle near half a turn") as refused:
        away.enclosed(TangentBox(SO2, SO2.exp(np.array([[1.0], [3.0], [-3.1], [-2.9]])), 0.2))
    assert refused.value.where.tolist() == [False, True, True, False]


@dataclass(frozen=True, eq=False, repr=False)
class OneByOne(Function):
    """Logarithms, which are enclosed on one box at a time."""

    def __post_init__(self) -> None:
        self.declare(Rn(2), Rn(2))

    def evaluate(self, point: Point, value: np.ndarray, jacobian: np.ndarray | None = None) -> None:
        log(Identity(Rn(2))).evaluate(point, value, jacobian)

    def enclosure(self, box: TangentBox) -> Enclosure:
        return log(Identity(Rn(2))).enclosure(box)


@pytest.mark.parametrize("measures", [Position, Orientation, Transformation, Rotation, Pose])
def test_what_does_not_leave_a_plane_is_known_without_rounding_on_several_boxes(measures: Any) -> None:
    robot = five_bar().robot
    f = measures(robot, "left_outer_end", reference="right_outer_end")
    box = TangentBox(robot.space, robot.space.random(np.random.default_rng(8), size=4), 1e-3)
    together = f.enclosed(box)
    for i, one in enumerate(box.each):
        alone = f.enclosure(one)
        np.testing.assert_array_equal(together.rounding[i] == 0.0, alone.rounding == 0.0)
        np.testing.assert_array_equal(together.jacobian.magnitude[i] == 0.0, alone.jacobian.magnitude == 0.0)
        assert (alone.rounding == 0.0).sum() == (~alone.jacobian.magnitude.any(axis=1)).sum() > 0


def test_a_pose_from_turned_axes_has_rounding_along_all_of_them() -> None:
    """The normal of the plane is another axis there, and no quaternion keeps it."""
    robot = five_bar().robot
    turned = robot.frame("right_outer_end").moved(rigid_transform(rotation=np.roll(np.eye(3), 1, axis=1)))
    q = robot.space.random(np.random.default_rng(8))
    found, kept = (Pose(robot, "left_outer_end", a).enclosure(TangentBox(robot.space, q, 0.0))
                   for a in (turned, "right_outer_end"))  # fmt: skip
    assert (found.rounding[:3] > 0.0).all()
    assert (kept.rounding[:3] > 0.0).sum() == 2


@pytest.mark.parametrize("size", [1e-6, 1e-2, 0.3])
def test_a_pose_from_rows_is_enclosed_and_its_parts_do_not_mix(size: float) -> None:
    """No translation moves with the rotation vector; what else changes, by at most a few times the box."""
    f, rng = PoseFromRows(), np.random.default_rng(3)
    for _ in range(5):
        box = TangentBox(f.inputs, rng.uniform(-1.0, 1.0, 6), size * rng.random(6))
        found = f.enclosure(box)
        assert cases.sampled(f, box, found, rng, 20, judged=0).outside == 0
        assert found.jacobian.magnitude[:3, 3:].max() < 1e-12
        assert found.jacobian.magnitude[3:, :3].max() < 1e-12
        assert found.jacobian.radius.max() < 10.0 * size


def test_a_direction_is_seen_on_several_boxes_as_on_each_of_them() -> None:
    robot, rng = arm(), np.random.default_rng(9)
    frames = [robot.frame(name) for name in list(robot.frame_names)[-2:]]
    box, b = TangentBox(robot.space, robot.space.random(rng, size=3), 1e-3), np.array([0.0, 0.6, -0.8])
    together = seen(robot, frames[0], frames[1:], box).direction(b).place(box)
    several = seen(robot, frames[0], [frames[1], robot.frame("elbow")], box).direction(b)  # the first has directions
    for x, y in zip(several, seen(robot, frames[0], frames[1:], box).direction(b), strict=True):
        if isinstance(x, np.ndarray):
            assert x.shape == np.shape(y)
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-14)
    for i, one in enumerate(box.each):
        alone = seen(robot, frames[0], frames[1:], one).direction(b).place(one)
        theirs = (alone.value, alone.rounding, *_ends(alone))
        for x, y in zip((together.value, together.rounding, *_ends(together)), theirs, strict=True):
            np.testing.assert_allclose(x[i], y, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("robot", [arm(), mixed_tree(), cases.every_joint()])
def test_joints_of_many_configurations_are_where_pinocchio_puts_them(robot: Robot) -> None:
    tree, Q = robot.space.elementary, robot.space.random(np.random.default_rng(6), size=5)
    for q, origins, rotations in zip(Q, *tree.placements(Q), strict=True):
        data = tree.model.createData()
        pin.forwardKinematics(tree.model, data, q)
        np.testing.assert_allclose(origins, [oMi.translation for oMi in data.oMi], atol=1e-14)
        np.testing.assert_allclose(rotations, [oMi.rotation for oMi in data.oMi], atol=1e-14)


@draws(6, 200)
def test_nothing_is_outside_in_50_digits(count: int) -> None:
    rng, functions = np.random.default_rng(2), enclosed_functions()
    for i in range(count):
        f = functions[int(rng.integers(len(functions)))]
        box = cases.box_of(f, rng, -9.0, -3.0)
        found = cases.enclosed(f, box)
        if found is None:
            continue
        v = cases.step_in(box, rng, i % 2 == 0) * (i % 3 > 0)
        assert not cases.outside_in_digits(f, box, found, v, int(rng.integers(max(1, f.inputs.nv)))), f.name


def test_what_is_beyond_the_straight_part_shrinks_with_the_square() -> None:
    f, q = Position(arm(), "tool"), arm().random(np.random.default_rng(3))
    J = np.abs(f.jacobian(q)).sum(axis=1)
    over = [f.enclosure(TangentBox(f.inputs, q, size)).error - size * J for size in (4e-3, 2e-3, 1e-3)]
    assert all((3.9 < a / b).all() and (a / b < 4.1).all() for a, b in pairwise(over))


def test_what_jacobians_are_beside_their_straight_part_shrinks_with_the_square() -> None:
    for f in (Position(arm(), "tool"), Pose(arm(), "tool"), CenterOfMass(arm(), reference="elbow")):
        q, v = arm().random(np.random.default_rng(3)), np.random.default_rng(4).uniform(-1.0, 1.0, 7)
        bends = [(size, f.enclosure(TangentBox(f.inputs, q, size)).bend) for size in (4e-3, 2e-3, 1e-3)]
        rests = [cases.bent(bend, size * v).radius.max() for size, bend in bends]
        assert all(3.8 < a / b < 4.2 for a, b in pairwise(rests))
        H = bends[-1][1].slopes.middle
        step = np.array([(f.jacobian(q + 1e-6 * e) - f.jacobian(q - 1e-6 * e)) / 2e-6 for e in np.eye(7)])
        np.testing.assert_allclose(H, np.moveaxis(step, 0, 2), atol=1e-8)


def test_sums_over_a_ball_are_less_than_over_its_box() -> None:
    f, q = Position(arm(), "tool"), arm().random(np.random.default_rng(3))
    box, ball = TangentBox(f.inputs, q, 0.02), TangentBox(f.inputs, q, 0.02, np.full(7, 0.02))
    wide, narrow = f.enclosure(box), f.enclosure(ball)
    assert (narrow.error < wide.error).all()
    assert narrow.jacobian.radius.max() < 0.6 * wide.jacobian.radius.max()


# Intervals.


def fractions_of(x: Interval) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(a), Fraction(b)) for a, b in zip(x.lower.tolist(), x.upper.tolist(), strict=True)]


def drawn(rng: np.random.Generator, n: int) -> Interval:
    middle = rng.normal(size=n) * 10.0 ** rng.integers(-6, 6, n)
    return Interval.around(middle, np.abs(middle) * 10.0 ** rng.uniform(-17, 0.5, n) * rng.integers(0, 2, n))


@pytest.mark.parametrize("sign", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("seed", range(3))
def test_operations_hold_in_exact_fractions(sign: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = drawn(rng, 200), drawn(rng, 200)
    for (a, b), (c, d), (low, high) in zip(*map(fractions_of, (x, y, sign(x, y))), strict=True):
        ends = [sign(p, q) for p in (a, b) for q in (c, d)]
        assert low <= min(ends) <= max(ends) <= high


def test_quotients_hold_in_exact_fractions() -> None:
    rng = np.random.default_rng(7)
    x, y = drawn(rng, 300), drawn(rng, 300)
    off_zero = np.flatnonzero((y.lower > 0.0) | (y.upper < 0.0))
    x, y = x[off_zero], y[off_zero]
    for (a, b), (c, d), (low, high) in zip(*map(fractions_of, (x, y, x / y)), strict=True):
        ends = [p / q for p in (a, b) for q in (c, d)]
        assert low <= min(ends) <= max(ends) <= high


def test_products_of_matrices_hold_in_exact_fractions() -> None:
    rng = np.random.default_rng(8)
    A, B = drawn(rng, 12), drawn(rng, 8)
    A, B = (
        Interval(A.lower.reshape(3, 4), A.upper.reshape(3, 4)),
        Interval(B.lower.reshape(4, 2), B.upper.reshape(4, 2)),
    )
    found = A @ B
    for _ in range(100):
        a, b = (np.where(rng.random(x.shape) < 0.5, x.lower, x.upper) for x in (A, B))
        for i, j in np.ndindex(3, 2):
            exact = sum(Fraction(s) * Fraction(t) for s, t in zip(a[i].tolist(), b[:, j].tolist(), strict=True))
            assert Fraction(float(found.lower[i, j])) <= exact <= Fraction(float(found.upper[i, j]))


WAVES: dict[str, tuple[Any, Any, float, float]] = {
    "sin": (Interval.sin, lambda s: mp.sin(s), -50.0, 50.0),
    "cos": (Interval.cos, lambda s: mp.cos(s), -50.0, 50.0),
    "exp": (Interval.exp, lambda s: mp.exp(s), -40.0, 40.0),
    "log": (Interval.log, lambda s: mp.log(s), 1e-9, 50.0),
    "sqrt": (Interval.sqrt, lambda s: mp.sqrt(s), 1e-9, 50.0),
    "square": (Interval.square, lambda s: s * s, -9.0, 9.0),
    "cube": (lambda x: x.power(3.0), lambda s: s**3, -9.0, 9.0),
    "power 4": (lambda x: x.power(4.0), lambda s: s**4, -9.0, 9.0),
    "power -1.5": (lambda x: x.power(-1.5), lambda s: s ** mp.mpf(-1.5), 1e-3, 9.0),
}


@pytest.mark.parametrize("name", WAVES)
def test_functions_hold_in_50_digits(name: str) -> None:
    apply, judge, least, most = WAVES[name]
    rng = np.random.default_rng(9)
    lower = rng.uniform(least, most, 100)
    upper = np.minimum(lower + 10.0 ** rng.uniform(-16, 0.8, 100) * rng.integers(0, 2, 100), most)
    found = apply(Interval(lower, upper))
    for a, b, low, high in zip(*(x.tolist() for x in (lower, upper, found.lower, found.upper)), strict=True):
        for t in (0.0, 1.0, *rng.uniform(0.0, 1.0, 4)):
            value = judge(mp.mpf(a) + (mp.mpf(b) - mp.mpf(a)) * mp.mpf(t))
            assert low <= value <= high


def test_waves_reach_their_extremes_and_far_arguments_are_anything() -> None:
    found = Interval(np.array([1.0, -1.0, 1e7]), np.array([2.0, 1.0, 1e7 + 0.1])).sin()
    assert (found.upper[0], found.lower[2], found.upper[2]) == (1.0, -1.0, 1.0)
    assert found.upper[1] < 0.85
    assert Interval(np.array([3.0]), np.array([3.3])).cos().lower == -1.0


def test_ends_are_in_their_interval_and_the_middle_is_half_way() -> None:
    ends = Interval(np.array([1.0, -2.0]), np.array([4.0, -2.0]))
    assert ends.contains(ends.lower)
    assert ends.contains(ends.upper)
    assert not ends.contains([0.5, -2.0])
    assert not ends.contains([2.0, -1.5])
    assert ends.middle.tolist() == [2.5, -2.0]
    assert ends.radius == pytest.approx([1.5, 0.0])


def test_angles_hold_and_never_jump() -> None:
    rng = np.random.default_rng(10)
    x, y = (Interval.around(rng.normal(size=200), rng.uniform(0, 0.3, 200)) for _ in range(2))
    fine = np.flatnonzero(~((x.lower <= 0.0) & (y.lower <= 0.0) & (y.upper >= 0.0)))
    x, y = x[fine], y[fine]
    found = angle(y, x)
    for _ in range(20):
        at = np.arctan2(rng.uniform(y.lower, y.upper), rng.uniform(x.lower, x.upper))
        assert found.contains(at)
    with pytest.raises(Exception, match="jump"):
        angle(Interval.around([0.0], 0.1), Interval.around([-1.0], 0.1))


def test_what_cannot_be_is_unbounded_or_refused() -> None:
    huge = Interval.around([1e308], 1e307)
    assert (huge * huge).upper[0] == np.inf
    for refused in (lambda x: 1.0 / x, Interval.sqrt, Interval.log, lambda x: x.power(0.5), lambda x: x.power(-2.0)):
        with pytest.raises(Exception, match="zero"):
            refused(Interval.around([0.0], 0.1))
    anything = Interval.around([np.nan, 1.0, 2.0], [0.1, np.inf, 0.5])
    np.testing.assert_array_equal(anything.lower[:2], -np.inf)
    np.testing.assert_array_equal(anything.upper[:2], np.inf)
    assert anything.contains([1e300, -1e300, 2.4])
    assert not anything.contains([0.0, 0.0, 2.6])
    with np.errstate(invalid="ignore"):
        wide = Interval(np.array([[1.0, -np.inf]]), np.array([[2.0, np.inf]])) @ Interval.of([[1.0], [1.0]])
    assert (wide.lower[0, 0], wide.upper[0, 0]) == (-np.inf, np.inf)
    known = Interval.around([[1.0, 2.0], [0.5, -1.0]], 0.25)
    assert (len(known), known.shape) == (2, (2, 2))
    ends = [[3.0, 2.0], [-2.0, 1.0]] @ known  # the left one is known: rows of radius 5/4 and 3/4
    np.testing.assert_allclose(ends.lower, [[4.0 - 1.25, 4.0 - 1.25], [-1.5 - 0.75, -5.0 - 0.75]], atol=1e-14)
    np.testing.assert_allclose(ends.upper, [[4.0 + 1.25, 4.0 + 1.25], [-1.5 + 0.75, -5.0 + 0.75]], atol=1e-14)
    np.testing.assert_array_equal([known.power(0.0).lower, known.power(0.0).upper], np.ones((2, 2, 2)))
    with pytest.raises(AttributeError, match="widest"):
        _ = known.widest  # type: ignore[attr-defined]


# Groups.


@pytest.mark.parametrize("space", [SO2, SE2, SO3, SE3, Rn(2) * SO3 * SE3], ids=lambda space: space.name)
def test_maps_of_groups_are_within_their_bounds(space: Space) -> None:
    rng = np.random.default_rng(11)
    for size in (1e-9, 1e-4, 0.1, 0.7):
        D = size * rng.uniform(0.1, 1.0, space.nv)
        bounds = exp_jacobian_bound(space, D), log_jacobian_bound(space, D), adjoint_bound(space, D)
        for _ in range(20):
            d = D * rng.choice([-1.0, 1.0], space.nv)
            maps = space.exp_jacobian(d), space.log_jacobian(d), space.adjoint(space.exp(d))
            for bound, J in zip(bounds, maps, strict=True):
                assert (np.abs(J - np.eye(space.nv)) <= bound + 1e-14).all()


@pytest.mark.parametrize("space", [SE2, SO3, SE3], ids=lambda space: space.name)
def test_jacobians_of_logarithms_are_as_exact_as_is_taken(space: Space) -> None:
    """Up to rotations of 3 rad, against 50 digits."""
    rng, worst, log = np.random.default_rng(13), 0.0, Identity(space) - Constant(space.neutral, space, space)
    for _ in range(12):
        e = rng.normal(size=space.nv)
        e[-3 if space.nv > 3 or space is SO3 else -1 :] *= 10.0 ** rng.uniform(-9.0, 0.0)
        turn = np.linalg.norm(e[-3:] if space is not SE2 else e[-1:])
        e *= min(1.0, 3.0 / turn)
        J, at = space.log_jacobian(e), digits.moved(space, digits.point_of(space, space.neutral), digits.exact(e))
        for k, column in enumerate(digits.exact(J).T):
            worst = max(worst, *np.abs((column - digits.column_at(log, at, k)).astype(float)))
    assert worst < 0.1 * OF_LOGS


def test_motions_lead_no_farther_than_their_bound() -> None:
    rng, space = np.random.default_rng(12), SE3
    for size in (1e-6, 0.05, 0.4):
        way = size * rng.uniform(0.1, 1.0, 6)
        for _ in range(10):
            q = space.neutral
            for _ in range(20):
                q = space.integrate(q, way / 20 * rng.choice([-1.0, 1.0, 1.0, 1.0], 6))
            assert (np.abs(space.log(q)) <= walked(space, way) * (1.0 + 1e-12)).all()
    for space in (SO3, SE2, SE3, Rn(2) * SE3):  # and not much farther than they go: by the square of the way
        for size in (1e-6, 1e-3, 0.1):
            way = size * rng.uniform(0.0, 1.0, space.nv)
            assert (walked(space, way) - way <= 10.0 * size * size).all()
            assert (walked(space, way) >= way).all()


# What has none, and what is wrong.


def test_functions_in_python_have_none_and_say_so_by_name() -> None:
    f = Function.from_callable(lambda x: x[:1] ** 2, Rn(2), Rn(1), name="a square")
    for g in (f, f + 1.0, Identity(Rn(1)) @ f):
        with pytest.raises(NoEnclosureError, match="a square"):
            g.enclosure(TangentBox(Rn(2), [1.0, 2.0], 0.1))
    robot = mixed_tree()
    with pytest.raises(NoEnclosureError, match="ellipsoid"):
        Position(robot, robot.frame_names[-1]).enclosure(TangentBox(robot.space, robot.space.neutral, 0.1))


@pytest.mark.parametrize("f", [1.0 / Identity(Rn(1)), log(Identity(Rn(1))), sqrt(Identity(Rn(1)))])
def test_functions_without_a_value_on_the_box_say_so(f: Function) -> None:
    assert f.enclosure(TangentBox(Rn(1), [1.0], 0.5)).error[0] > 0.0
    with pytest.raises(Exception, match="zero"):
        f.enclosure(TangentBox(Rn(1), [0.1], 0.5))


@pytest.mark.parametrize(
    ("center", "radius", "error"),
    [
        ([0.0], 0.1, SizeError), ([0.0, np.nan], 0.1, NotFiniteError), ([0.0, 0.0], np.nan, NotFiniteError),
        ([0.0, 0.0], [0.1, np.inf], NotFiniteError), ([0.0, 0.0], [0.1], SizeError), ([0.0, 0.0], -0.1, OptionError),
        ([[0.0, 0.0, 0.0]], 0.1, SizeError), ([[0.0, np.nan]], 0.1, NotFiniteError), ([[0.0, 0.0]], -0.1, OptionError),
        ([[[0.0, 0.0]]], 0.1, SizeError),
    ],
)  # fmt: skip
def test_boxes_that_are_none(center: Any, radius: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="box"):
        TangentBox(Rn(2), center, radius)


def test_rotations_of_several_boxes_are_normalised_or_refused() -> None:
    q = SO3.random(np.random.default_rng(0), size=3)
    assert np.abs(np.linalg.norm(TangentBox(SO3, q * (1.0 + 1e-9), 0.1).q, axis=1) - 1.0).max() <= 2e-16
    q[1] *= 1.1
    with pytest.raises(NotNormalizedError, match="row 1 of centers of boxes"):
        TangentBox(SO3, q, 0.1)


def test_boxes_of_other_spaces_are_refused() -> None:
    with pytest.raises(SpaceMismatchError, match="tool"):
        Position(arm(), "tool").enclosure(TangentBox(Rn(2), [0.0, 0.0], 0.1))


@dataclass(frozen=True, eq=False, repr=False)
class Square(Function):
    """The square of a number, with an enclosure whose Jacobian is wide by a factor."""

    part: float

    def __post_init__(self) -> None:
        self.declare(Rn(1), Rn(1))

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        value[0] = point.q[0] ** 2
        if jacobian is not None:
            jacobian[0, 0] = 2.0 * point.q[0]

    def enclosure(self, box: TangentBox) -> Enclosure:
        x, size = Interval.of(box.q), np.abs(box.q) ** 2
        J = 2.0 * Interval.around(box.q, self.part * box.r)
        return Enclosure.centred(self.outputs, box, (x * x).middle, 1e-15 * size, J[None])


def test_users_enclosures_are_looked_at() -> None:
    check_function(Square(1.0))
    exp(Square(1.0)).enclosure(TangentBox(Rn(1), [0.3], 0.1))
    with pytest.raises(CheckFailed, match="outside of its enclosure"):
        check_function(Square(0.9))

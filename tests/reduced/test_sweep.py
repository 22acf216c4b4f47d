"""Drivers turned all the way: one branch whatever the spacing, singularities where closed forms have them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from published_mechanisms import four_bar_windows
from record_arguments import with_records

from constraints import ConstraintError, Implicit, Robot, errors
from constraints.functions import Function
from constraints.loops import Closure, ConstraintSet, Hinge, PointClosure, RodClosure
from constraints.models import Mechanism, mechanisms
from constraints.reduced import PartitionError, SweepOptions, SweepStatus, minimal_coordinates, sweep
from liegroups import Rn

TURN = 2.0 * np.pi


def four_bar(q: np.ndarray, g: float, a: float, c: float, r: float, side: float) -> np.ndarray:
    """Configuration by the triangle over the diagonal, at the crank angle of q; the rocker on one side of it."""
    crank = q[0]
    elbow = np.array([a * math.cos(crank), a * math.sin(crank)])
    along = np.array([g, 0.0]) - elbow
    d = float(np.hypot(*along))
    x = (d * d + c * c - r * r) / (2.0 * d)
    y = side * math.sqrt(max(c * c - x * x, 0.0))
    joint = elbow + (x * along + y * np.array([-along[1], along[0]])) / d
    coupler = math.atan2(*(joint - elbow)[::-1]) - crank
    return np.array([crank, coupler, math.atan2(joint[1], joint[0] - g)])


def side_of(q: np.ndarray, g: float, a: float, c: float, r: float) -> float:
    first, other = (four_bar(q, g, a, c, r, side) for side in (1.0, -1.0))
    return 1.0 if off(q, first) < off(q, other) else -1.0


def off(q: np.ndarray, other: np.ndarray) -> float:
    """Largest difference, whole turns aside."""
    return float(np.abs((q - other + np.pi) % TURN - np.pi).max())


def closed(mechanism: Mechanism) -> np.ndarray:
    return mechanism.posture("closed")


# Whole turns.


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett"])
def test_a_whole_turn_comes_back_to_the_start(name: str) -> None:
    """To 1e-10, whole turns aside; two turns in the other direction too; closed all the way, driver to the bit."""
    mechanism = getattr(mechanisms, name)()
    q, driver = closed(mechanism), mechanism.motors[0]
    for turns in (1, -2):
        values = q[0] + np.linspace(0.0, turns * TURN, 25)
        found = mechanism.sweep(q, driver, values).or_raise()
        assert found.status is SweepStatus.COMPLETED
        np.testing.assert_array_equal(found.values, values)
        np.testing.assert_array_equal(found.qs[:, 0], values)
        assert off(found.qs[-1], q) < 1e-10
        rows = mechanism.constraint_set()
        assert max(np.abs(rows.position_error(each)).max() for each in found.qs) < 1e-11
        assert set(found.signs.tolist()) == {found.signs[0]}


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett", "stewart_platform"])
def test_values_that_differ_by_rounding_alone_are_reached(name: str) -> None:
    """Angles of `arctan2` or `linspace` are the present one but for the last bits, at the start and later."""
    mechanism = getattr(mechanisms, name)()
    q, driver = closed(mechanism), mechanism.motors[0]
    start = float(q[mechanism.robot.slice_of(driver)][0])
    for little in (1.2e-16, 3e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-9):
        values = start + np.array([little, -little, 0.02, 0.02 + little, 0.02])
        found = mechanism.sweep(q, driver, values).or_raise()
        np.testing.assert_array_equal(found.values, values)
        assert set(found.signs.tolist()) == {found.signs[0]}


def test_what_is_held_stays_to_the_bit() -> None:
    mechanism = mechanisms.five_bar()
    q = closed(mechanism)
    found = mechanism.sweep(q, "left_inner", [2.3, 2.0, 2.6]).or_raise()
    assert found.held == ("right_inner",)
    assert set(found.qs[:, mechanism.robot.slice_of("right_inner").start]) == {q[2]}
    other = mechanism.sweep(q, "left_inner", [2.3], independent=["right_outer"]).or_raise()
    assert other.held == ("right_outer",)
    assert other.qs[0][3] == q[3]
    assert sweep(mechanism.constraint_set(), q, "left_inner", [2.3]).success


# One branch.


@pytest.mark.parametrize("spacing", [1.0, 0.1, pytest.param(0.01, marks=pytest.mark.long)])
def test_the_branch_does_not_depend_on_the_spacing(spacing: float) -> None:
    linkage = mechanisms.four_bar()
    q = closed(linkage)
    values = np.arange(1.0, 7.0 + 1e-9, spacing)
    found = linkage.sweep(q, "crank", values).or_raise()
    side = side_of(q, 0.4, 0.15, 0.35, 0.3)
    assert max(off(each, four_bar(each, 0.4, 0.15, 0.35, 0.3, side)) for each in found.qs) < 1e-9
    assert np.abs(found.qs[-1] - linkage.sweep(q, "crank", [7.0]).qs[0]).max() < 1e-11


@draws(4, 12)
def test_far_jumps_in_any_order_keep_the_branch(count: int) -> None:
    linkage, rng = mechanisms.four_bar(), np.random.default_rng(0)
    q = closed(linkage)
    values = rng.uniform(-20.0, 20.0, count)
    found = linkage.sweep(q, "crank", values).or_raise()
    side = side_of(q, 0.4, 0.15, 0.35, 0.3)
    np.testing.assert_array_equal(found.values, values)
    assert max(off(each, four_bar(each, 0.4, 0.15, 0.35, 0.3, side)) for each in found.qs) < 1e-9


@draws(1, 3)
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bennett", "change_point"])
@pytest.mark.parametrize("step", [0.02, 5.0])
def test_long_steps_are_cut_where_the_curve_asks_for_it(name: str, step: float, count: int) -> None:
    """A limit of 5 rad gives the configurations of one of 0.02 rad: what a step may be is said by the curve."""
    mechanism = mechanisms.four_bar(0.4, 0.15, 0.395, 0.16) if name == "change_point" else getattr(mechanisms, name)()
    q = closed(mechanism)
    values = q[0] + np.array([3.0, -4.0, 9.0])[:count]
    found = mechanism.sweep(q, mechanism.motors[0], values, options=SweepOptions(step=step)).or_raise()
    usual = mechanism.sweep(q, mechanism.motors[0], values).or_raise()
    np.testing.assert_allclose(found.qs, usual.qs, atol=1e-9)
    assert (found.steps > usual.steps) == (step < 0.1)
    assert found.steps < usual.steps or step < 0.1


def row_of(robot: Robot, value: Any, gradient: Any) -> ConstraintSet:
    """One row, that a function of all angles is zero."""
    return ConstraintSet(
        robot, [Implicit.zero(Function.from_callable(value, robot.space, Rn(1), gradient), name="row")]
    )


@pytest.mark.parametrize("step", [0.02, 0.1, 0.3, 1.0, 3.0, 10.0])
def test_parallel_branches_are_not_mistaken_for_each_other(step: float) -> None:
    """sin(40 (rocker - 3 crank^2)): branches 0.08 rad apart, every second one with the same sign.

    Neither the sign of the determinant nor the tangent tells the second next branch: the chord does.
    """

    def gradient(q: np.ndarray) -> list[list[float]]:
        slope = 40.0 * math.cos(40.0 * (q[2] - 3.0 * q[0] ** 2))
        return [[-6.0 * q[0] * slope, 0.0, slope]]

    rows = row_of(mechanisms.four_bar().robot, lambda q: [math.sin(40.0 * (q[2] - 3.0 * q[0] ** 2))], gradient)
    found = sweep(
        rows, np.zeros(3), "crank", [0.5, -0.7, 1.0], independent=["coupler"], options=SweepOptions(step=step)
    ).or_raise()
    np.testing.assert_allclose(found.qs[:, 2], 3.0 * found.values**2, atol=1e-10)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, -1e-2, -1e-4, -1e-6])
@pytest.mark.parametrize("bar", ["coupler", "rocker"])
def test_branches_that_nearly_touch_are_told_apart(gap: float, bar: str) -> None:
    """Almost a parallelogram: where it is nearly flat the branches are |gap| apart. A crank that turns all the way
    stays on its own; one that cannot turns at a dead point. Truth: the triangle, and the triangle inequality."""
    sizes = (0.4, 0.15, 0.4 + gap, 0.15) if bar == "coupler" else (0.4, 0.15, 0.4, 0.15 + gap)
    linkage = mechanisms.four_bar(*sizes)
    q = closed(linkage)
    g, a, c, r = sizes
    found = linkage.sweep(q, "crank", np.linspace(1.0, 7.0, 40))
    side = side_of(q, g, a, c, r)
    assert max(off(each, four_bar(each, g, a, c, r, side)) for each in found.qs) < 1e-6
    passes = abs(c - r) <= g + a <= c + r and abs(c - r) <= abs(g - a) <= c + r
    if passes:
        assert found.status is SweepStatus.COMPLETED, found.describe()
        assert not found.singularities
    else:
        assert found.status is SweepStatus.DEAD_POINT, found.describe()
        line = c + r if g + a > c + r else abs(c - r)
        turn = math.acos((g * g + a * a - line * line) / (2.0 * g * a))
        assert found.singularities[0].value == pytest.approx(turn if line == c + r else TURN - turn, abs=1e-6)


@draws(15, 60)
def test_random_four_bars_follow_the_closed_form_up_to_their_dead_points(count: int) -> None:
    """60 linkages, Grashof or not: every value reached is that of the triangle, on its side; dead points to 1e-9."""
    rng = np.random.default_rng(1)
    dead = whole = 0
    while dead + whole < count:
        g, a, c, r = rng.uniform(0.1, 0.5, 4).tolist()
        try:
            linkage = mechanisms.four_bar(g, a, c, r, angle=rng.uniform(-3.0, 3.0))
        except errors.OptionError:
            continue
        q = closed(linkage)
        if min(abs(math.cos(q[2] - q[0] - q[1])), abs(math.sin(q[2] - q[0] - q[1]))) < 0.05:
            continue
        found = linkage.sweep(q, "crank", q[0] + np.linspace(0.0, TURN, 13))
        side = side_of(q, g, a, c, r)
        assert all(off(each, four_bar(each, g, a, c, r, side)) < 1e-8 for each in found.qs)
        if found.status is SweepStatus.COMPLETED:
            assert abs(c - r) < abs(g - a)
            assert g + a < c + r
            whole += 1
            continue
        assert found.status is SweepStatus.DEAD_POINT, found.describe()
        cosines = [(g * g + a * a - line**2) / (2.0 * g * a) for line in (c + r, c - r)]
        limits = np.array([math.acos(x) for x in cosines if abs(x) < 1.0])
        ends = np.concatenate([limits, -limits])
        assert np.abs((found.end_value - ends + np.pi) % TURN - np.pi).min() < 1e-9
        assert off(found.end[:1], found.singularities[0].q[:1]) == 0.0
        dead += 1
    assert min(dead, whole) > count / 12


# Dead points.


def test_a_lift_beyond_its_reach_stops_at_its_dead_point() -> None:
    """One stage: the slide is bar * cos(angle), 0.6 m at most; two bars may move there."""
    lift = mechanisms.scissor_lift(1)
    found = lift.sweep(closed(lift), "slide", np.linspace(0.53, 0.7, 10))
    assert found.status is SweepStatus.DEAD_POINT
    assert not found.success
    assert abs(found.end_value - 0.6) < 1e-12
    assert found.singularities[0].joints == ("a1", "b1")
    np.testing.assert_allclose(found.qs[:, 1], np.arccos(found.values / 0.6), atol=1e-10)
    with pytest.raises(errors.FailedError, match=r"(?s)DEAD_POINT.*slide 0\.6 at the end") as caught:
        found.or_raise()
    assert caught.value.result is found


@pytest.mark.parametrize(("end", "where"), [(1.0, 0.1), (-1.0, -0.1)])
def test_slider_drives_the_slider_crank_to_its_dead_points(end: float, where: float) -> None:
    """The crank is along the slide there: x = +-crank + sqrt(rod^2 - offset^2)."""
    mechanism = mechanisms.slider_crank()
    found = mechanism.sweep(closed(mechanism), "slider", [0.4, end])
    assert found.status is SweepStatus.DEAD_POINT
    assert found.end_value == pytest.approx(where + math.sqrt(0.16 - 0.0025), abs=1e-12)
    assert found.singularities[0].least < 1e-6
    assert "crank" in found.singularities[0].joints
    assert "slider" not in found.singularities[0].joints


def test_it_turns_back_on_the_other_branch() -> None:
    """Values are met again in reverse, with the crank on the other side of its dead point; the sign changes there."""
    sizes = (0.1, 0.04, 0.12, 0.08)
    linkage = mechanisms.four_bar(*sizes, angle=math.radians(40.0))
    values = np.radians(np.arange(60.0, 140.0, 5.0))
    found = linkage.sweep(closed(linkage), "rocker", values, options=SweepOptions(turn_back=True)).or_raise()
    assert found.status is SweepStatus.TURNED_BACK
    n = int((np.degrees(values) < 128.682).sum())
    assert found.indices.tolist() == [*range(n), *reversed(range(n))]
    np.testing.assert_array_equal(found.values, values[found.indices])
    np.testing.assert_array_equal(found.signs, np.r_[np.full(n, found.signs[0]), np.full(n, -found.signs[0])])
    (dead,) = found.singularities
    assert dead.before == n
    cranks = found.qs[:, 0]
    assert (np.diff(cranks) > 0.0).all()  # one curve: the crank goes on turning
    assert cranks[n - 1] < dead.q[0] < cranks[n]
    sides = [side_of(q, *sizes) for q in found.qs]
    assert set(sides) == {sides[0]}  # of the crank's own triangle, which has no dead point
    assert off(found.qs[-1][2:], found.qs[0][2:]) == 0.0
    assert off(found.qs[-1][:1], found.qs[0][:1]) > 0.1


def test_it_turns_back_on_its_way_down_too() -> None:
    linkage = mechanisms.four_bar(0.1, 0.04, 0.12, 0.08, math.radians(40.0))
    values = np.radians([57.0, 54.95, 54.0])
    found = linkage.sweep(closed(linkage), "rocker", values, options=SweepOptions(turn_back=True))
    assert found.status is SweepStatus.TURNED_BACK
    assert found.indices.tolist() == [0, 1, 1, 0]
    assert len(found.singularities) == 1


def test_a_dead_point_before_the_first_value_is_the_end() -> None:
    lift = mechanisms.scissor_lift(1)
    for turn_back in (False, True):
        found = lift.sweep(closed(lift), "slide", [0.65, 0.7], options=SweepOptions(turn_back=turn_back))
        assert found.status is SweepStatus.DEAD_POINT
        assert found.qs.shape == (0, 3)
        assert found.end_value == pytest.approx(0.6, abs=1e-12)


# Ways that cross.


def test_a_flat_parallelogram_is_a_branch_point() -> None:
    """Stretched flat it may go on as a parallelogram, or crossed; `cross` goes straight on, and the sign changes."""
    linkage = mechanisms.four_bar(0.4, 0.15, 0.4, 0.15)
    q = closed(linkage)
    found = linkage.sweep(q, "crank", np.linspace(1.0, 7.5, 30))
    assert found.status is SweepStatus.BRANCH_POINT
    assert abs(found.end_value - np.pi) < 1e-9
    assert found.singularities[-1].joints == ("coupler", "rocker")
    assert found.singularities[-1].least < 1e-7
    assert linkage.judge(found.end).mobility == 2
    straight = linkage.sweep(q, "crank", np.linspace(1.0, 7.5, 30), options=SweepOptions(cross=True)).or_raise()
    np.testing.assert_allclose(straight.qs[:, 2], straight.values, atol=1e-8)  # the rocker is parallel throughout
    np.testing.assert_allclose([each.value for each in straight.singularities], [np.pi, TURN], atol=1e-9)
    signs = straight.signs / straight.signs[0]
    np.testing.assert_array_equal(signs, np.where((straight.values > np.pi) & (straight.values < TURN), -1.0, 1.0))


def test_two_loops_that_are_flat_at_once_are_a_branch_point() -> None:
    """The determinant changes its sign twice there, which is not at all: the rank tells."""
    windows = four_bar_windows(2)
    found = sweep(windows.constraint_set, windows.q, "crank0", np.linspace(1.6, 4.0, 9), independent=[])
    assert found.status is SweepStatus.BRANCH_POINT
    assert abs(found.end_value - np.pi) < 1e-8


def test_a_start_where_ways_cross_is_refused_by_a_status() -> None:
    """At a flat parallelogram the rows have rank 1, so that one coordinate too many would be held."""
    linkage = mechanisms.four_bar(0.4, 0.15, 0.4, 0.15, angle=0.0)
    found = linkage.sweep(closed(linkage), "crank", [0.5, 1.0])
    assert found.status is SweepStatus.SINGULAR_START
    assert not found.success
    assert len(found.values) == 0


# Drivers of other kinds.


def continuous_four_bar() -> tuple[ConstraintSet, np.ndarray]:
    """The default four-bar with joints that keep (cos, sin)."""
    made = mechanisms.four_bar()
    model = pin.Model()
    one = model.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "crank")
    two = model.addJoint(one, pin.JointModelRUBZ(), pin.SE3(np.eye(3), np.array([0.15, 0.0, 0.0])), "coupler")
    three = model.addJoint(0, pin.JointModelRUBZ(), pin.SE3(np.eye(3), np.array([0.4, 0.0, 0.0])), "rocker")
    for joint in (one, two, three):
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    robot = Robot(model, "continuous")
    one_end = robot.frame("coupler", pin.SE3(np.eye(3), np.array([0.35, 0.0, 0.0])))
    other_end = robot.frame("rocker", pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])))
    q = robot.configuration(dict(zip(("crank", "coupler", "rocker"), closed(made), strict=True)))
    return ConstraintSet(robot, [Closure(robot, one_end, other_end, Hinge.pin([0, 0, 1]), name="pin")]), q


def test_a_continuous_joint_counts_on_over_turns() -> None:
    rows, q = continuous_four_bar()
    values = 1.0 + np.linspace(0.0, 2.0 * TURN, 17)
    found = sweep(rows, q, "crank", values).or_raise()
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_allclose(found.qs[:, :2], np.stack([np.cos(values), np.sin(values)], axis=1), atol=1e-15)
    np.testing.assert_allclose(found.qs[-1], q, atol=1e-10)
    plain = mechanisms.four_bar()
    other = plain.sweep(closed(plain), "crank", values).qs
    np.testing.assert_allclose(np.cos(other[:, 2]), found.qs[:, 4], atol=1e-10)
    np.testing.assert_allclose(
        found.transmission_angles(), plain.sweep(closed(plain), "crank", values).transmission_angles()
    )


def test_a_coordinate_of_a_joint_with_several() -> None:
    mechanism = mechanisms.slider_crank()
    q = closed(mechanism)
    found = mechanism.sweep(q, "rod[1]", q[2] + np.linspace(0.0, -0.3, 4)).or_raise()
    np.testing.assert_array_equal(found.qs[:, 2], found.values)
    with pytest.raises(errors.OptionError, match=r"'rod' has 2 coordinates; name one: rod\[0\], rod\[1\]"):
        mechanism.sweep(q, "rod", [1.0])


def test_a_coordinate_of_a_free_joint_is_a_motion_from_the_start() -> None:
    r"""q0 (+) c e_i: the platform turns about its own z axis, or moves along its own x axis."""
    platform = mechanisms.stewart_platform()
    tilted = platform.robot.space.integrate(closed(platform), 0.1 * np.eye(platform.robot.nv)[3])
    q = mechanisms.stewart_posture(platform, tilted[platform.robot.slice_of("platform")])
    for i in (0, 5):
        found = platform.sweep(q, f"platform[{i}]", [0.0, 0.2, -0.1], preferred=["platform"]).or_raise()
        for value, each in zip(found.values, found.qs, strict=True):
            moved = platform.robot.space.integrate(q, value * np.eye(platform.robot.nv)[i])
            np.testing.assert_allclose(each[:7], moved[:7], atol=1e-12)
            np.testing.assert_allclose(each, mechanisms.stewart_posture(platform, moved[:7]), atol=1e-10)


def test_parts_of_rotations_that_are_held_are_named() -> None:
    """One coordinate of a pose held while its others follow is a rate: it says so; whole joints are no such thing."""
    platform = mechanisms.stewart_platform()
    lengths = [f"length{i}" for i in range(2, 6)]
    found = platform.sweep(closed(platform), "length1", [0.58], independent=["platform[3]", *lengths])
    assert found.success
    assert found.held_as_rates == ("platform[3]",)
    assert "held as rates: platform[3]" in found.describe()
    whole = platform.sweep(closed(platform), "length1", [0.58])
    assert whole.held == tuple(platform.motors[1:])
    assert whole.held_as_rates == ()
    assert "rates" not in whole.describe()


def test_a_part_of_a_rotation_that_others_determine_cannot_drive() -> None:
    """With the legs held, the yaw is one of six coordinates of a pose that all move: it has no value of its own."""
    platform = mechanisms.stewart_platform()
    with pytest.raises(
        errors.OptionError, match=r"'platform\[5\]' is a part of a rotation whose other parts, platform\[0\]"
    ):
        platform.sweep(closed(platform), "platform[5]", [0.1])


# Other ends.


def test_a_function_without_value_on_the_way_ends_it() -> None:
    """sin(crank) less the coupler; without value from 2.5 on."""

    def value(q: np.ndarray) -> list[float]:
        if q[0] >= 2.5:
            raise errors.UndefinedError("there is nothing beyond 2.5")
        return [math.sin(q[0]) - q[1]]

    rows = row_of(mechanisms.four_bar().robot, value, lambda q: [[math.cos(q[0]), -1.0, 0.0]])
    found = sweep(rows, np.array([1.0, math.sin(1.0), 0.3]), "crank", [2.0, 2.4, 3.0], independent=["rocker"])
    assert found.status is SweepStatus.UNDEFINED, found.describe()
    np.testing.assert_allclose(found.qs[:, 1], np.sin(found.values), atol=1e-11)
    assert 2.5 - 1e-6 < found.end_value < 2.5


# Transmission angles.


def planar_slider_crank(closure: str) -> tuple[ConstraintSet, np.ndarray]:
    """Crank 0.1, rod 0.3, the slider on the x axis; closed by a pin, a point, or a rod in place of the rod's body."""
    model = pin.Model()
    crank = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "crank")
    end = pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0]))
    rod = None if closure == "rod" else model.addJoint(crank, pin.JointModelRZ(), end, "rod")
    slider = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slider")
    for joint in (crank, slider) if rod is None else (crank, rod, slider):
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    robot = Robot(model, "planar")
    x = 0.1 * math.cos(0.7) + math.sqrt(0.09 - 0.01 * math.sin(0.7) ** 2)
    values = {"crank": 0.7, "slider": x}
    if rod is None:
        owner: Any = RodClosure(robot, robot.frame("crank", end), robot.frame("slider"), 0.3, name="rod")
    else:
        values["rod"] = -math.asin(math.sin(0.7) / 3.0) - 0.7
        tip = robot.frame("rod", pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])))
        at = robot.frame("slider")
        pin_z = Closure(robot, at, tip, Hinge.pin([0, 0, 1]), name="wrist")
        owner = PointClosure(robot, at, tip, name="wrist") if closure == "point" else pin_z
    return ConstraintSet(robot, [owner]), robot.configuration(values)


@pytest.mark.parametrize("closure", ["pin", "point", "rod"])
def test_transmission_angle_of_a_slider_crank(closure: str) -> None:
    """Between the rod and the normal of the slide: sin phi = crank sin(angle) / rod, mu = 90 deg - |phi|; driven at the
    slider it is that between crank and rod, and 0 at its dead point."""
    rows, q = planar_slider_crank(closure)
    found = sweep(rows, q, "crank", 0.7 + np.linspace(0.0, TURN, 20)).or_raise()
    phi = np.arcsin(np.abs(np.sin(found.values)) / 3.0)
    np.testing.assert_allclose(found.transmission_angles(), np.pi / 2.0 - phi, atol=1e-10)
    back = sweep(rows, q, "slider", [0.3, 0.35, 0.41])
    assert back.end_value == pytest.approx(0.4, abs=1e-12)
    cosines = (0.01 + 0.09 - back.values**2) / 0.06
    np.testing.assert_allclose(back.transmission_angles(), np.arccos(np.abs(cosines)), atol=1e-9)


def test_transmission_angle_with_a_held_joint_and_by_frames() -> None:
    five = mechanisms.five_bar()
    found = five.sweep(closed(five), "left_inner", [2.0, 2.4]).or_raise()
    direction = found.qs[:, 0] + found.qs[:, 1] - found.qs[:, 2] - found.qs[:, 3]
    angle = np.arccos(np.abs(np.cos(direction)))
    np.testing.assert_allclose(found.transmission_angles(), angle, atol=1e-10)
    through = ("left_outer", "left_outer_end", "right_outer")
    np.testing.assert_allclose(found.transmission_angles(through=through), angle, atol=1e-10)
    with pytest.raises(errors.SizeError, match="frames of a transmission angle"):
        found.transmission_angles(through=through[:2])
    spatial = mechanisms.slider_crank()
    with pytest.raises(errors.OptionError, match="'crank' is not in a planar loop of four pivots"):
        spatial.sweep(closed(spatial), "crank", [1.0]).transmission_angles()


def test_least_singular_values_are_those_of_the_jacobian() -> None:
    linkage = mechanisms.four_bar()
    found = linkage.sweep(closed(linkage), "crank", [1.2, 2.0]).or_raise()
    for q, least in zip(found.qs, found.least_singular_values, strict=True):
        J = linkage.constraint_set().jacobian(q)
        assert least == pytest.approx(np.linalg.svd(J[:, 1:], compute_uv=False)[-1], rel=1e-9)
    np.testing.assert_allclose(found.least_with(["crank"]), found.least_singular_values, rtol=1e-9)


def test_signs_are_those_of_the_determinant() -> None:
    linkage = mechanisms.four_bar(0.1, 0.04, 0.12, 0.08, math.radians(40.0))
    found = linkage.sweep(
        closed(linkage), "rocker", np.radians([60.0, 100.0, 120.0, 135.0]), options=SweepOptions(turn_back=True)
    ).or_raise()
    parts = found.coordinates.partition
    for q, sign in zip(found.qs, found.signs, strict=True):
        J = linkage.constraint_set().jacobian(q)
        assert sign == np.sign(np.linalg.det(J[np.ix_(parts.rows, parts.dependent)]))


# Bad input.


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"driver": "crnk"}, errors.UnknownNameError, "crank"),
        ({"driver": 3}, errors.WrongObjectError, "driver of a sweep"),
        ({"independent": ["rocker"]}, PartitionError, "rocker"),
        ({"independent": ["crank"]}, errors.OptionError, "'crank' is the driver"),
        ({"independent": "rocker"}, errors.WrongObjectError, r"\['rocker'\]"),
        ({"values": []}, errors.SizeError, "values of a sweep"),
        ({"values": [[1.0, 2.0]]}, errors.SizeError, "values of a sweep"),
        ({"values": [1.0, np.nan]}, errors.NotFiniteError, "values of a sweep"),
        ({"values": "1"}, errors.DtypeError, "values of a sweep"),
        ({"turn_back": 1}, errors.WrongObjectError, "turn_back"),
        ({"cross": None}, errors.WrongObjectError, "cross"),
        ({"step": 0.0}, errors.OptionError, "step of a sweep"),
        ({"max_steps": 0}, errors.OptionError, "max_steps"),
        ({"tolerance": 0.0}, errors.OptionError, "tolerance of a sweep"),
        ({"bounds": 3.0}, errors.WrongObjectError, "bounds of a sweep"),
        ({"bounds": mechanisms.bennett().robot.bounds}, errors.SpaceMismatchError, "bounds of a sweep"),
        ({"actuated": ["crank", "rocker"]}, errors.SizeError, "1, the mobility"),
        ({"actuated": []}, errors.SizeError, "1, the mobility"),
        ({"actuated": "crank"}, errors.WrongObjectError, r"\['crank'\]"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], error: type[ConstraintError], words: str) -> None:
    linkage = mechanisms.four_bar()
    whole = {"q": closed(linkage), "driver": "crank", "values": [1.0, 1.1]} | given
    with pytest.raises(error, match=words):
        linkage.sweep(**with_records(whole, options=SweepOptions))


def test_a_driver_that_the_rows_hold_is_refused() -> None:
    """A dead point of the rocker: there it cannot be driven. And a joint that a held one determines."""
    linkage = mechanisms.four_bar(0.1, 0.04, 0.12, 0.08, math.radians(40.0))
    dead = linkage.sweep(closed(linkage), "rocker", [np.pi]).end
    with pytest.raises(PartitionError, match="rocker") as caught:
        linkage.sweep(dead, "rocker", [1.0])
    assert caught.value.names == ("rocker",)


def test_inputs_are_left_alone_and_results_are_read_only() -> None:
    linkage = mechanisms.four_bar()
    q, values = closed(linkage), np.array([1.2, 1.4])
    before = q.copy()
    found = linkage.sweep(q, "crank", values)
    np.testing.assert_array_equal(q, before)
    for array in (found.qs, found.values, found.asked, found.signs, found.end, found.indices):
        assert not array.flags.writeable
    with pytest.raises(ConstraintError, match="success"):
        bool(found)


# Words and pictures.


def test_it_says_what_happened() -> None:
    five = mechanisms.five_bar()
    found = five.sweep(closed(five), "left_inner", np.linspace(2.2, -9.0, 60))
    said = found.describe()
    assert "sweep of 'left_inner': DEAD_POINT" in said
    assert "held: right_inner" in said
    assert "follow: left_outer, right_outer" in said
    assert "dead point at -1.98785" in said
    assert str(found) == said
    assert repr(found) == "Sweep('left_inner', DEAD_POINT, 23 values, 1 singular point)"


def test_the_driver_is_the_first_independent_coordinate() -> None:
    five = mechanisms.five_bar()
    found = five.sweep(closed(five), "left_inner", [2.3])
    again = minimal_coordinates(five.constraint_set(), found.qs[0], independent=found.coordinates.independent)
    assert again.independent == ("left_inner", "right_inner")
    assert found.driver.name == "left_inner"


def test_transmission_angles_are_those_of_the_worst_of_several_loops() -> None:
    """Stumble 2: a crank that drives two four-bars, the angles of one loop alone."""
    model, z = pin.Model(), pin.JointModelRZ()

    def bar(parent: int, x: float, name: str) -> int:
        joint = model.addJoint(parent, z, pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])), name)
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        return joint

    crank = bar(0, 0.0, "crank")
    sizes = {"near": (0.4, 0.12, 0.37, 0.27), "far": (0.45, 0.12, 0.43, 0.2)}
    for name, (g, a, _, _) in sizes.items():
        bar(crank, a, f"{name} coupler")
        bar(0, g, f"{name} rocker")
    robot = Robot(model, "two loops")
    closures, values = list[Closure](), {"crank": 1.0}
    for name, (g, a, c, r) in sizes.items():
        ends = [
            robot.frame(f"{name} {link}", pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])))
            for link, x in (("coupler", c), ("rocker", r))
        ]
        closures.append(Closure(robot, ends[0], ends[1], Hinge.pin([0, 0, 1]), name=f"{name} pin"))
        _, values[f"{name} coupler"], values[f"{name} rocker"] = four_bar(np.array([1.0]), g, a, c, r, 1.0)
    found = sweep(ConstraintSet(robot, closures), robot.configuration(values), "crank", np.arange(1.0, 7.3, 0.3))
    cosines = [
        (c**2 + r**2 - (g**2 + a**2 - 2.0 * g * a * np.cos(found.or_raise().values))) / (2.0 * c * r)
        for g, a, c, r in sizes.values()
    ]
    each = np.arccos(np.abs(cosines))
    assert set(each.argmin(axis=0)) == {0, 1}  # neither loop is the worst one everywhere
    np.testing.assert_allclose(found.transmission_angles(), each.min(axis=0), atol=1e-9)
    assert found.transmission_loops == ("near pin", "far pin")
    axes: Any = found.plot().axes[-1]
    assert axes.get_ylabel().split()[3:] == "smallest of near pin, far pin".split()
    crank_end, *others = "near coupler", robot.frame("near rocker", pin.SE3(np.eye(3), np.array([0.27, 0.0, 0.0])))
    chosen = found.transmission_angles(through=[crank_end, *others, "near rocker"])
    np.testing.assert_allclose(chosen, each[0], atol=1e-9)

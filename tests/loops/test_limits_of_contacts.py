"""What contacts carry and which rows they keep: soles in closed form, masks against the rows of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import placement, two_arms_frames

from constraints import Position
from constraints.dynamics import forward_dynamics
from constraints.errors import OptionError, SizeError, WrongObjectError
from constraints.loops import Axes, ConstraintSet, Form, PointContact, Sole, SurfaceContact
from constraints.loops.contacts import PointRates, TwistRows
from constraints.loops.hinges.custom_fit import CustomRows
from constraints.loops.hinges.hinge import Hinge
from constraints.loops.hinges.masked_map import MaskedMap, as_mask
from constraints.loops.hinges.pose_map import LogPose, Split, TurnedLog
from constraints.loops.hinges.rotation_rows import Turn
from constraints.models import sample_arm

WORLD, LOCAL = Axes.LOCAL_WORLD_ALIGNED, Axes.LOCAL
TURN = pin.exp3(np.array([0.3, -0.8, 0.5]))


# Soles.


def test_how_far_a_point_is_from_a_rectangle() -> None:
    """By the worst edge: of 0.2 m along x and 0.1 m along y."""
    sole = Sole.rectangle(0.2, 0.1)
    assert sorted(map(tuple, np.asarray(sole.corners).tolist())) == [
        (-0.1, -0.05), (-0.1, 0.05), (0.1, -0.05), (0.1, 0.05)]  # fmt: skip
    for point, off in (
        ([0.0, 0.0], -0.05), ([0.12, 0.0], 0.02), ([-0.13, 0.0], 0.03), ([0.0, 0.06], 0.01), ([0.0, -0.09], 0.04),
        ([0.09, 0.01], -0.01), ([0.12, 0.1], 0.05), ([0.1, 0.0], 0.0),
    ):  # fmt: skip
        assert sole.distance(point) == off
    for point in ([0.0, 0.0, 0.0], [0.0], [[0.0, 0.0]]):
        with pytest.raises(SizeError, match="point on a sole"):
            sole.distance(point)
    for length, width in ((0.0, 0.1), (0.1, 0.0), (-0.1, 0.1), (0.1, -0.1)):
        with pytest.raises(OptionError, match="length and width of a sole: expected positive"):
            Sole.rectangle(length, width)


def test_corners_of_a_sole() -> None:
    """Three or more, in the plane; those inside the others are no corners; heights do not count."""
    triangle = [[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]
    assert len(np.asarray(Sole([*triangle, [0.5, 0.5]]).corners)) == 3
    high = Sole([[*corner, z] for corner, z in zip(triangle, (0.1, -7.0, 2.0), strict=True)])
    assert high.distance([3.0, 4.0]) == pytest.approx(12.0 / 5.0)
    assert high.distance([1.0, 1.0]) == pytest.approx(-1.0)
    for wrong in (triangle[:2], [[*c, 0.0, 0.0] for c in triangle], [[1.0]] * 3, [0.0, 1.0, 2.0]):
        with pytest.raises(SizeError, match="corners of a sole"):
            Sole(wrong)
    with pytest.raises(OptionError, match="on one line"):
        Sole([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


def test_where_a_wrench_presses() -> None:
    """A force at a point of the plane presses there; rows of a sole see its distance, times what pushes."""
    sole, rng = Sole([[0.1, 0.05], [-0.1, 0.06], [-0.08, -0.05], [0.12, -0.04]]), np.random.default_rng(4)
    A = sole.rows
    assert A.shape == (5, 6)
    inside = 0
    for _ in range(60):
        at, force, twist = np.r_[rng.uniform(-0.15, 0.15, 2), 0.0], rng.normal(size=3), rng.normal()
        wrench = np.r_[force, np.cross(at, force)] + twist * np.eye(6)[5]
        found = Sole.pressure(wrench)
        if force[2] <= 0.0:
            assert found is None
            assert (A @ wrench).max() > 0.0
            continue
        assert found is not None
        np.testing.assert_allclose(found, at[:2], atol=1e-9)
        assert (A[:-1] @ wrench).max() == pytest.approx(force[2] * sole.distance(at[:2]), abs=1e-12)
        assert (A @ wrench)[-1] == -force[2]
        inside += bool((A @ wrench <= 0.0).all())
    assert inside > 3
    assert Sole.pressure(np.zeros(6)) is None


# Masks.


def test_masks_from_users() -> None:
    assert as_mask(None, 3, "x") is None
    assert as_mask([True, True, True], 3, "x") is None
    assert as_mask([1, 0, 1], 3, "x") == (True, False, True)
    assert as_mask([False, True], 2, "x") == (False, True)
    with pytest.raises(SizeError, match="mask of x"):
        as_mask([True, False], 3, "x")
    with pytest.raises(OptionError, match="mask of x: expected one row or more"):
        as_mask([False, False, False], 3, "x")
    with pytest.raises(WrongObjectError, match="3 truth values"):
        as_mask([0.5, 1.0, 0.0], 3, "x")


@pytest.mark.parametrize("whole", [LogPose(), TurnedLog(TURN), Split(TURN, Turn(TURN)), TwistRows(TURN, spatial=False)],
                         ids=lambda each: type(each).__name__)  # fmt: skip
@pytest.mark.parametrize("rows", [[0], [1, 4], [0, 2, 3, 5], [5, 1]])
def test_masked_rows_are_those_of_the_whole(whole: Any, rows: list[int]) -> None:
    """Values, derivatives and slopes; forces those of the multipliers of these rows alone."""
    rng, masked, n = np.random.default_rng(3), MaskedMap(whole, np.array(rows)), len(rows)
    assert masked.size == n
    assert masked.has_exact_slopes
    pose = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
    (twist, acceleration), y = rng.normal(size=(2, 6)), rng.normal(size=n)
    every, D, out, own = np.zeros(6), np.zeros((6, 6)), np.full(n, np.nan), np.full((n, 6), np.nan)
    whole.value(pose, every, D)
    masked.value(pose, out, own)
    np.testing.assert_array_equal(out, every[rows])
    np.testing.assert_array_equal(own, D[rows])
    masked.value(pose, out := np.full(n, np.nan))
    np.testing.assert_array_equal(out, every[rows])
    whole.second(pose, twist, acceleration, every)
    masked.second(pose, twist, acceleration, out)
    np.testing.assert_array_equal(out, every[rows])
    spread = np.zeros(6)
    spread[rows] = y
    theirs, mine = whole.slopes(pose, twist, acceleration, spread), masked.slopes(pose, twist, acceleration, y)
    np.testing.assert_array_equal(mine.force, theirs.force)
    for one, other in ((mine.rate, theirs.rate), (mine.by_pose, theirs.by_pose), (mine.by_twist, theirs.by_twist)):
        np.testing.assert_array_equal(one, other[rows])
    assert not MaskedMap(CustomRows(Hinge.custom([Hinge.pin("z"), Hinge.pin("x")])), np.array([0])).has_exact_slopes


@pytest.mark.parametrize("mask", [[1, 0, 0], [0, 1, 1], [1, 0, 1]])
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("axes", Axes)
@pytest.mark.parametrize("anchored", [False, True])
def test_contacts_of_some_rows(anchored: bool, axes: Axes, form: Form, mask: list[int]) -> None:
    """Position, velocity and acceleration of the rows that are kept, of points and of surfaces."""
    robot, rng = two_arms_frames(), np.random.default_rng(5)
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
    point, surface = ([0.1, 0.2, 0.3], placement(51)) if anchored else (None, None)
    held = np.array(mask) > 0
    more = np.array([*mask, *reversed(mask)]) > 0
    for kept, whole, some in (
        (held, PointContact(robot, "b", anchor=point, axes=axes, form=form),
         PointContact(robot, "b", anchor=point, axes=axes, form=form, mask=held.tolist())),
        (more, SurfaceContact(robot, "b", surface, axes=axes, form=form),
         SurfaceContact(robot, "b", surface, axes=axes, form=form, mask=more.tolist())),
    ):  # fmt: skip
        assert some.mask == tuple(kept.tolist())
        assert some.has_position == anchored
        np.testing.assert_allclose(some.residual(q), whole.residual(q)[kept], atol=1e-15)
        np.testing.assert_allclose(some.residual_rate(q, v), whole.residual_rate(q, v)[kept], atol=1e-13)
        expected = whole.residual_acceleration(q, v, a)[kept]
        np.testing.assert_allclose(some.residual_acceleration(q, v, a), expected, atol=1e-12)


def test_how_a_point_slides_in_words() -> None:
    robot = two_arms_frames()
    for changes, said in (
        ({}, ""), ({"mask": [True, True, True]}, ""), ({"mask": [True, False, True]}, "along y"),
        ({"mask": [False, False, True]}, "along x, along y"),
        ({"normal": [0.0, 0.6, 0.8]}, "in the plane across its normal [0.0, 0.6, 0.8]"),
    ):  # fmt: skip
        assert PointContact(robot, "b", **changes).free == said  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="give a normal or a mask, not both"):
        PointContact(robot, "b", [0.0, 0.0, 1.0], mask=[True, False, False])


def test_the_error_in_other_axes_than_the_rates() -> None:
    """For rows in LOCAL axes and the form RATES alone: the position in world axes, rates as they were."""
    robot, rng, at = two_arms_frames(), np.random.default_rng(8), np.array([0.1, 0.2, 0.3])
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    plain = PointContact(robot, "b", anchor=at, axes=LOCAL, form=Form.RATES)
    moved = PointContact(robot, "b", anchor=at, axes=LOCAL, form=Form.RATES, error_axes=WORLD)
    placed = robot.at(q).placement("b")
    np.testing.assert_allclose(plain.residual(q), placed.rotation.T @ (placed.translation - at), atol=1e-12)
    np.testing.assert_allclose(moved.residual(q), placed.translation - at, atol=1e-12)
    np.testing.assert_array_equal(moved.residual_rate(q, v), plain.residual_rate(q, v))
    one = PointContact(robot, "b", [0.0, 0.6, 0.8], at, axes=LOCAL, form=Form.RATES, error_axes=WORLD)
    np.testing.assert_allclose(one.residual(q), [np.array([0.0, 0.6, 0.8]) @ (placed.translation - at)], atol=1e-12)
    assert not PointContact(robot, "b", axes=LOCAL, form=Form.RATES, error_axes=WORLD).has_position
    same = PointContact(robot, "b", anchor=at, axes=LOCAL, error_axes=LOCAL)
    np.testing.assert_allclose(same.residual(q), plain.residual(q), atol=1e-12)
    for axes, form, error_axes in ((LOCAL, Form.DERIVATIVE, WORLD), (WORLD, Form.RATES, LOCAL)):
        with pytest.raises(OptionError, match=r"error_axes are only for LOCAL rows in Form\.RATES"):
            PointContact(robot, "b", anchor=at, axes=axes, form=form, error_axes=error_axes)
    with pytest.raises(WrongObjectError, match="axes of the error of 'contact"):
        PointContact(robot, "b", anchor=at, error_axes="LOCAL")  # type: ignore[arg-type]
    for word in ("WORLD", "world", pin.WORLD):
        with pytest.raises(OptionError, match="WORLD is ambiguous"):
            PointContact(robot, "b", axes=word)  # type: ignore[arg-type]


def test_rows_in_the_axes_of_the_body_say_so() -> None:
    """Pinocchio's own: all three of a point, or the spatial twist; no other rows are."""
    assert PointRates(np.eye(3)).in_own_axes
    assert not PointRates(np.eye(3)[:2]).in_own_axes
    assert not PointRates(np.eye(3)[[1, 0, 2]]).in_own_axes
    assert not PointRates(np.diag([1.0, 1.0, -1.0])).in_own_axes
    seen = {(turned, spatial): TwistRows(TURN if turned else None, spatial=spatial).in_own_axes
            for turned in (False, True) for spatial in (False, True)}  # fmt: skip
    assert seen == {(False, True): True, (False, False): False, (True, True): False, (True, False): False}
    assert not Split(np.eye(3), None).in_own_axes


# Contacts of fewer than three rows.


def test_a_set_says_which_contacts_slide() -> None:
    robot = sample_arm()
    tool = robot.frame_names[-1]
    owners = [PointContact(robot, tool, [0.0, 0.0, 1.0], name="floor"), PointContact(robot, tool, name="pinned"),
              PointContact(robot, tool, mask=[True, False, True], name="rail"),
              SurfaceContact(robot, tool, name="glued")]  # fmt: skip
    rows = ConstraintSet(robot, owners).switched(off=["glued"])
    lines = rows.describe().splitlines()
    assert len(lines) == 5
    assert "'floor'" in lines[1]
    assert "slides: in the plane across its normal [0.0, 0.0, 1.0]" in lines[1]
    assert "slides" not in lines[2]
    assert "2 rows; slides: along y" in lines[3]
    assert "slides" not in lines[4]
    assert lines[4].endswith("; off")


def test_a_contact_with_a_normal_is_pushed_along_its_plane() -> None:
    """By plain numbers: the point accelerates in the plane of a contact of one row, and not with three."""
    robot = sample_arm()
    tool = robot.frame_names[-1]
    motion = robot.at(robot.random(np.random.default_rng(0)), np.zeros(robot.nv))
    for contact, slides in ((PointContact(robot, tool, [0.0, 0.0, 1.0]), True), (PointContact(robot, tool), False)):
        a = forward_dynamics(ConstraintSet(robot, [contact]), motion).or_raise().acceleration
        moved = Position(robot, tool).jacobian(motion.q) @ a  # at rest
        assert abs(moved[2]) < 1e-9 * np.abs(a).max()
        assert bool(np.abs(moved[:2]).max() > 1e-3) is slides
        assert bool(contact.free) is slides

"""Thresholds of assemblies from both sides, their defaults, and custom hinges of one step or none."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from loops.test_assembly import planar_arm, rod_mechanism
from samples import two_arms_frames

from constraints import Bounds, Implicit, Pose, Status, Target
from constraints.errors import FailedError, WrongObjectError
from constraints.loops import (
    AssemblyOptions,
    Baumgarte,
    Closure,
    ConstraintSet,
    Hinge,
    OpenMechanismError,
    PointClosure,
    PointContact,
    RodClosure,
    assemble_position,
    assemble_velocity,
)
from constraints.loops.hinges.custom_fit import CustomRows
from constraints.loops.hinges.hinge_fit import fitted, hinge_rows, rate_matrix
from constraints.loops.partition import partition
from constraints.models import mechanisms

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0


def held_tip(*, target: Target | None = None) -> tuple[ConstraintSet, np.ndarray]:
    """An arm of two bars whose tip is held at (0.8, 0.5), with the posture that closes it."""
    robot = planar_arm(0.7, 0.6)
    rows = ConstraintSet(robot, [PointClosure(robot, [0.8, 0.5, 0, 0, 0, 0, 1], "tip", target=target, name="tip")])
    closed = assemble_position(
        ConstraintSet(robot, [PointClosure(robot, [0.8, 0.5, 0, 0, 0, 0, 1], "tip")]), [1.0, -1.0]
    )
    return rows, closed.or_raise().q


def off_by(rows: ConstraintSet, q: np.ndarray, size: float) -> np.ndarray:
    """A posture beside a closed one, whose error is nearly of this size."""
    return q + np.linalg.solve(rows.jacobian(q)[:2], [size, 0.0])


def test_defaults_of_an_assembly() -> None:
    """To 1e-12, in 100 iterations, near and not nearest, with the iterates kept."""
    rows, q = held_tip()
    done = assemble_position(rows, q + 0.1)
    options = done.projection.options
    assert (options.threshold, options.max_iterations, options.nearest) == (1e-12, 100, False)
    assert len(done.iterates) == len(done.residuals) == done.iterations + 1 > 2
    assert done.residuals[-1] == done.residual <= 1e-12
    for size, iterations in ((5e-12, 1), (5e-13, 0)):
        start = off_by(rows, q, size)
        assert np.linalg.norm(rows.position_error(start)) == pytest.approx(size, rel=0.1)
        assert assemble_position(rows, start).iterations == iterations
    for most in (0, 1):
        short = assemble_position(rows, q + 0.3, options=AssemblyOptions(max_iterations=most))
        assert (short.status, short.iterations) == (Status.MAX_ITERATIONS, most)
        assert "; more: `max_iterations=" in str(short)
    assert "more:" not in str(assemble_position(rod_mechanism(9.0), [0.4, -0.9, 0.3]))


@pytest.mark.parametrize(("size", "is_open"), [(0.9e-4, False), (1.1e-4, True)])
def test_from_a_tenth_of_a_millimetre_on_a_mechanism_is_open(
    size: float, is_open: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Velocities are warned of, and a branch is refused."""
    rows, q = held_tip()
    start = off_by(rows, q, size)
    with caplog.at_level(logging.WARNING):
        assemble_velocity(rows, start, np.ones(2))
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == is_open
    if is_open:
        assert said[0] == (
            f"velocity of an assembly: q is not closed, constraint 'tip' is off by {size:.3g}; take the q of "
            "assemble_position"
        )
        with pytest.raises(OpenMechanismError, match=r"'tip' is off by 0\.00011 in position"):
            assemble_position(rows, q, stay_on_branch=1.0, before=start)
    else:
        assert assemble_position(rows, q, stay_on_branch=1.0, before=start).success


def test_targets_are_watched_where_the_time_is_known(caplog: pytest.LogCaptureFixture) -> None:
    rows, q = held_tip(target=Target(lambda t: [t, 0.0, 0.0], lambda t: [1.0, 0.0, 0.0], lambda t: np.zeros(3)))
    assemble_velocity(rows, q, np.ones(2))
    assemble_position(rows, q)
    (said,) = caplog.records  # once a set: nobody gave a time
    assert "the targets of 'tip' stand still where their time begins" in said.getMessage()
    caplog.clear()
    assert assemble_position(rows, q, rhs=rows.rhs_at(0.0), stay_on_branch=1.0, before=q + 0.3).branch is not None
    assert not caplog.records
    assemble_velocity(rows, q, np.ones(2), rhs=rows.rhs_at(0.2))
    (said,) = caplog.records
    assert "constraint 'tip' is off by 0.2" in said.getMessage()


@pytest.mark.parametrize(("speed", "told"), [(0.9e-4, 0), (1.1e-4, 1)])
def test_velocities_that_contradict_by_less_are_not_told(
    speed: float, told: int, caplog: pytest.LogCaptureFixture
) -> None:
    rows, q = held_tip()
    v0 = np.zeros(2)
    v0[1] = speed / np.linalg.norm(rows.jacobian(q)[:, 1])
    v = assemble_velocity(rows, q, v0, driven=["j0", "j1"])
    np.testing.assert_array_equal(v, v0)
    assert len(caplog.records) == told


def test_an_assembly_in_words() -> None:
    """The worst constraint first, coordinates out of bounds, and whether bounds were asked for."""
    robot = planar_arm(0.7, 0.6).with_bounds({"j0": (-0.1, 0.1), "j1": (-3.0, 3.0)})
    owners = [PointClosure(robot, [9.0, 0, 0, 0, 0, 0, 1], "tip", name="far"),
              RodClosure(robot, None, "tip", 1.0, name="rod")]  # fmt: skip
    failed = assemble_position(ConstraintSet(robot, owners), [0.5, 0.3])
    assert failed.worst == failed.errors[0][0] == "far"
    assert failed.errors[0][1] > failed.errors[1][1]
    assert failed.residual == failed.errors[0][1]
    with pytest.raises(FailedError) as caught:
        failed.or_raise()
    assert str(failed) in str(caught.value)
    rows = ConstraintSet(robot, [RodClosure(robot, None, "tip", 1.0, name="rod")])
    loose = assemble_position(rows, [0.5, 0.3])
    assert loose.or_raise() is loose
    assert loose.success
    assert "was not asked to keep any bounds" in str(loose)
    (outside,) = loose.violations
    line = f"  outside the bounds of the robot: 'j0' {abs(outside.amount):.3g} rad above its bound"
    assert line in loose.describe().splitlines()
    assert outside.amount == pytest.approx(loose.q[0] - 0.1)
    kept = assemble_position(rows, [0.05, 0.3], options=AssemblyOptions(bounds=robot.bounds))
    assert kept.success
    assert "was not asked" not in str(kept)
    assert "outside" not in kept.describe()
    below = Bounds(robot.space, np.array([-np.inf, -np.inf]), np.array([np.inf, 5.0]))
    assert "was not asked" not in str(assemble_position(rows, [0.05, 0.3], options=AssemblyOptions(bounds=below)))
    assert f"residual {kept.residual:.3g}, {kept.iterations} iteration" in str(kept)
    assert repr(kept) == f"Assembly(CONVERGED, residual {kept.residual:.3g}, {kept.iterations} iterations)"


# Sets.


def test_a_set_with_further_constraints() -> None:
    """They come behind, and are off; the others are on or off, and stabilised, as they were."""
    robot = two_arms_frames()
    first = [PointClosure(robot, "a", "b", name="one"), RodClosure(robot, "a", "b", 0.4, name="two")]
    rows = ConstraintSet(robot, first, {"two": Baumgarte(3.0, 4.0)}, rounding=1e-5).switched(off=["one"])
    more = rows.extended([PointContact(robot, "b", name="three")])
    assert more.names == ("one", "two", "three")
    assert more.active.tolist() == [False, True, False]
    assert more.baumgarte == (Baumgarte(), Baumgarte(3.0, 4.0), Baumgarte())
    assert more.rounding == 1e-5
    assert (rows.names, rows.size, more.size) == (("one", "two"), 4, 7)
    assert rows.extended([]).active.tolist() == [False, True]
    for which in ({"one"}, frozenset([0]), ["one"], iter(["one"])):  # what order there is does not matter
        assert rows.switched(on=which).active.tolist() == [True, False]  # type: ignore[arg-type]
    for which in ({"two"}, frozenset([1])):
        assert rows.switched(off=which).active.tolist() == [False, False]  # type: ignore[arg-type]
    with pytest.raises(WrongObjectError, match="constraints of a set"):
        ConstraintSet(robot, set(first))  # type: ignore[arg-type]


def test_names_of_rows_and_gains_by_row() -> None:
    robot = two_arms_frames()
    owners = [
        PointClosure(robot, "a", "b", name="one"),
        Implicit.equal(Pose(robot, "b"), mask=[0, 1, 0, 0, 0, 1], name="two"),
    ]
    rows = ConstraintSet(robot, owners)
    assert [rows.row_name(i) for i in range(5)] == ["one[0]", "one[1]", "one[2]", "two[0]", "two[1]"]
    for wrong in (5, -1):
        with pytest.raises(WrongObjectError, match="row of a constraint set"):
            rows.row_name(wrong)
    assert rows.gains is None
    for gains in (Baumgarte(3.0, 0.0), Baumgarte(0.0, 4.0)):
        kp, kd = rows.stabilised(gains, "two").gains or (None, None)
        assert kp is not None
        np.testing.assert_array_equal(kp, [0.0, 0.0, 0.0, gains.position_gain, gains.position_gain])
        np.testing.assert_array_equal(kd, [0.0, 0.0, 0.0, gains.velocity_gain, gains.velocity_gain])
    assert repr(rows) == "ConstraintSet(2 constraints, 5 rows)"
    assert repr(rows.switched(off=[0])) == "ConstraintSet(2 constraints, 5 rows, 1 off)"
    assert not rows.is_of_contacts
    contacts = ConstraintSet(robot, [PointContact(robot, "b")])
    assert contacts.is_of_contacts
    assert not ConstraintSet(robot, [PointContact(robot, "b"), owners[0]]).is_of_contacts


def test_contacts_without_anchor_have_no_position() -> None:
    """Zero errors and rows of position; no problem where nothing else has any."""
    robot = two_arms_frames()
    owners = [PointContact(robot, "b", name="loose"), PointClosure(robot, "a", "b", name="one")]
    rows, q = ConstraintSet(robot, owners), robot.random(np.random.default_rng(0))
    error, J = rows.position_rows(robot.at(q))
    for found in (error, rows.position_error(q)):
        assert not found[:3].any()
        assert found[3:].all()
    assert not J[:3].any()
    np.testing.assert_allclose(J[3:], rows.jacobian(q)[3:], atol=1e-13)
    assert [owner.name for owner in rows.anchored] == ["one"]
    assert [owner.name for owner in rows.problem().constraints] == ["one"]
    for off in (rows.switched(off=["one"]), ConstraintSet(robot, owners[:1])):
        with pytest.raises(Exception, match="contacts without anchor have no position rows: 'loose'"):
            off.problem()
    assert not rows.switched(off=["one"]).position_error(q).any()
    assert not rows.switched(off=["one"]).position_rows(robot.at(q))[1].any()


# Custom hinges of one step, or none.


@pytest.mark.parametrize(
    "hinge", [Hinge.pin(AXIS), Hinge.slider(AXIS), Hinge.helical(AXIS, 0.3), Hinge.ball(), Hinge.locked()], ids=str
)
def test_a_custom_hinge_of_one_step_is_that_hinge(hinge: Hinge) -> None:
    """Closed where it is, with its coordinates and rates there; as many rows, which hold what it holds.

    One that holds everything could not be evaluated.
    """
    custom, rng = Hinge.custom([hinge]), np.random.default_rng(2)
    rows = CustomRows(custom)
    assert rows.size == hinge.rows == 6 - hinge.dofs
    for _ in range(3):
        theta = hinge.space.integrate(hinge.space.neutral, rng.uniform(-1.5, 1.5, hinge.dofs))
        pose = hinge.placement(theta)
        out, D, plain, exact = (
            np.full(rows.size, np.nan),
            *(np.zeros((rows.size, 6)) for _ in "ab"),
            np.zeros(rows.size),
        )
        rows.value(pose, out, D)
        np.testing.assert_allclose(out, 0.0, atol=1e-10)
        hinge_rows(hinge).value(pose, exact, plain)
        np.testing.assert_allclose(np.linalg.pinv(D) @ D, np.linalg.pinv(plain) @ plain, atol=1e-8)
        found = fitted(custom, pose, hinge.subspace(theta) @ np.ones(hinge.dofs), np.zeros(6))
        assert found.rates.shape == found.accelerations.shape == (hinge.dofs,)
        if hinge.dofs:
            np.testing.assert_allclose(rate_matrix(custom, pose) @ hinge.subspace(theta), np.eye(hinge.dofs), atol=1e-9)
            np.testing.assert_allclose(found.rates, 1.0, atol=1e-9)
            assert np.abs(hinge.space.difference(found.coordinates, theta)).max() < 1e-8
        off = pose * pin.exp6(0.05 * rng.normal(size=6))
        rows.value(off, out)
        assert np.abs(out).max() > 1e-3


# Partitions.


def test_a_partition_at_its_thresholds() -> None:
    """Singular values count from above the tolerance on; driven columns count neither as scale nor as dependent."""
    for size, rank in ((0.9e-6, 1), (1.1e-6, 2)):
        J = np.diag([1.0, size])
        assert partition(J).rank == rank
        assert partition(1e3 * J).rank == rank
        found = partition(np.hstack([1e6 * np.ones((2, 1)), J]), driven=np.array([True, False, False]))
        assert (found.rank, found.driven.tolist()) == (rank, [0])
    for tolerance, rank in ((0.09, 2), (0.11, 1)):
        assert partition(np.diag([1.0, 0.1]), tolerance=tolerance).rank == rank
    wished = partition(np.ones((1, 4)), wished=[2], preferred=[0, 2])
    assert wished.independent.tolist()[:2] == [2, 0]
    assert wished.dependent.size == 1
    nothing = partition(np.zeros((0, 3)), preferred=[1])
    assert (nothing.rank, nothing.independent.tolist(), nothing.rows.tolist()) == (0, [1, 0, 2], [])
    assert mechanisms.four_bar().robot.nv == 3


def test_closures_along_one_axis_or_several() -> None:
    robot: Any = two_arms_frames()
    row = [0.0, 0.6, 0.8, 0.0, 0.0, 0.0]
    one, same = Closure.along(robot, "a", "b", row), Closure.along(robot, "a", "b", [row])
    assert one.group.nv == same.group.nv == 1
    q = robot.random(np.random.default_rng(1))
    np.testing.assert_array_equal(one.residual(q), same.residual(q))
    np.testing.assert_allclose(np.abs(one.residual(q)), np.abs(np.array(row[:3]) @ one.pose(q).translation), atol=1e-12)

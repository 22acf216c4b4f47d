"""Rows of a set evaluated together are those of the stacking code, one constraint after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Position, Target, loops
from constraints.rows.stacking import Order, stack_rows
from tests import robots

ROBOT = robots.humanoid()
LEFT, RIGHT, HAND = "lleg6_joint", "rleg6_joint", "larm5_joint"


def moving(n: int) -> Target:
    """A target of n numbers with rates."""
    a, b = np.linspace(0.1, 0.3, n), np.linspace(-0.2, 0.5, n)
    return Target(lambda t: a * t + b * t * t, lambda t: a + 2.0 * b * t, lambda t: 2.0 * b)


def every_kind(rng: Any) -> loops.ConstraintSet:
    q = ROBOT.random(rng)
    owners: list[Any] = [
        loops.PointContact(ROBOT, LEFT, [0.0, 0.6, 0.8], name="free point"),
        loops.PointContact(ROBOT, LEFT, name="held point", target=moving(3)).anchored(q),
        loops.PointContact(ROBOT, RIGHT, [0.0, 0.0, 1.0], name="normal").anchored(q),
        loops.PointContact(ROBOT, RIGHT, axes=loops.Axes.LOCAL, name="local point").anchored(q),
        loops.PointContact(ROBOT, RIGHT, axes=loops.Axes.LOCAL, form=loops.Form.RATES, name="local rates").anchored(q),
        loops.SurfaceContact(ROBOT, LEFT, name="sole", target=moving(6)).anchored(q),
        loops.SurfaceContact(
            ROBOT, LEFT, axes=loops.Axes.LOCAL_WORLD_ALIGNED, form=loops.Form.RATES, name="sole rates"
        ).anchored(q),
        loops.SurfaceContact(ROBOT, RIGHT, axes=loops.Axes.LOCAL_WORLD_ALIGNED, name="free sole"),
        loops.Closure(ROBOT, HAND, RIGHT, loops.Hinge.universal(), name="cross"),
        loops.Closure(ROBOT, HAND, RIGHT, loops.Hinge.pin("x"), form=loops.Form.RATES, name="pin rates"),
        loops.PointClosure(ROBOT, None, HAND, target=moving(3), name="ball"),
        loops.RodClosure(ROBOT, LEFT, RIGHT, 0.7, name="rod"),
        loops.PointClosure(ROBOT, pin.SE3.Random(), HAND, name="ball in the world"),
        loops.Closure(ROBOT, pin.SE3.Random(), HAND, loops.Hinge.cylindrical("y"), name="cylinder in the world"),
        loops.Closure(ROBOT, pin.SE3.Random(), HAND, loops.Hinge.ball(), name="ball hinge in the world"),
        Implicit.zero(Position(ROBOT, HAND), mask=[True, False, True], name="masked"),
        Implicit.above(Position(ROBOT, HAND), [-9.0, -9.0, 9.0], name="one-sided"),
        Implicit.equal(Position(ROBOT, LEFT), moving(3), name="goal"),
    ]
    return loops.ConstraintSet(ROBOT, owners)


@pytest.mark.parametrize("at", [None, 0.7])
@pytest.mark.parametrize("seed", range(5))
def test_together_is_one_after_the_other(seed: int, at: float | None) -> None:
    rng = np.random.default_rng(seed)
    rows = every_kind(rng)
    q, v = ROBOT.random(rng), rng.normal(size=ROBOT.nv)
    rhs = None if at is None else rows.rhs_at(at)
    motion = ROBOT.at(q, v)
    found = rows.rows_at(motion, rhs)
    position = stack_rows(rows.stack, motion.posture, Order.POSITION, rhs).error.copy()
    velocity = stack_rows(rows.stack, motion, Order.VELOCITY, rhs)
    np.testing.assert_allclose(found.position, position, atol=1e-12)
    np.testing.assert_allclose(found.velocity, velocity.error, atol=1e-11)
    np.testing.assert_allclose(found.jacobian, velocity.jacobian, atol=1e-12)
    drift = stack_rows(rows.stack, motion, Order.ACCELERATION, rhs).error
    np.testing.assert_allclose(found.drift, drift, atol=1e-10)


def test_rows_that_are_off_are_zero_in_all_four() -> None:
    rng = np.random.default_rng(9)
    rows = every_kind(rng)
    motion = ROBOT.at(ROBOT.random(rng), rng.normal(size=ROBOT.nv))
    off = rows.switched(off=["held point", "sole", "masked"])
    whole, some = rows.rows_at(motion), off.rows_at(motion)
    silent = np.zeros(rows.size, dtype=bool)
    for name in ("held point", "sole", "masked"):
        silent[rows.slice_of(name)] = True
    for before, after in zip(whole, some, strict=True):
        assert not after[silent].any()
        np.testing.assert_array_equal(after[~silent], before[~silent])
    counts = off.counts_in(some)
    assert not counts[silent].any()
    one_sided = rows.slice_of("one-sided")
    np.testing.assert_array_equal(counts[one_sided], [False, False, True])


def test_points_held_along_several_normals_are_placed_once() -> None:
    """Three normals at one point are the rows of one contact of three rows, turned."""
    rng = np.random.default_rng(3)
    q, v = ROBOT.random(rng), rng.normal(size=ROBOT.nv)
    N = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    three = [loops.PointContact(ROBOT, LEFT, n, name=f"n{i}").anchored(ROBOT.neutral) for i, n in enumerate(N)]
    one = loops.ConstraintSet(ROBOT, [loops.PointContact(ROBOT, LEFT).anchored(ROBOT.neutral)])
    found, whole = loops.ConstraintSet(ROBOT, three).rows_at(ROBOT.at(q, v)), one.rows_at(ROBOT.at(q, v))
    for mine, theirs in zip(found, whole, strict=True):
        np.testing.assert_allclose(mine, N @ theirs, atol=1e-12)

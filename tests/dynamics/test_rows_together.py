"""The rows of a set, evaluated together, are those of its constraints one by one."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from constraints.loops import Axes, Closure, ConstraintSet, Form, Hinge, PointClosure, PointContact, RodClosure
from constraints.models import sample_two_arms
from constraints.rows.stacking import Order, stack_rows

TURNED = pin.SE3(pin.exp3(np.array([0.4, -0.7, 1.1])), np.array([0.3, 0.2, 0.5]))


@pytest.mark.parametrize("seed", range(3))
def test_rows_together_are_rows_one_by_one(seed: int) -> None:
    """Found at random closures: points held in frames of the world that are turned (3c42c1b lost the turn)."""
    rng, robot = np.random.default_rng(seed), sample_two_arms()
    owners = [
        PointClosure(robot, TURNED, "left_tool", name="in a turned frame"),
        PointClosure(robot, "left_tool", "right_tool", name="between two"),
        Closure(robot, TURNED, "right_tool", Hinge.ball(), name="ball in a turned frame"),
        Closure(robot, TURNED, "right_tool", Hinge.gimbal(), form=Form.RATES, name="gimbal, rates"),
        Closure(robot, None, "right_tool", Hinge.cylindrical(), name="cylinder in the world"),
        Closure(robot, TURNED, "right_tool", Hinge.free(), name="free"),
        RodClosure(robot, TURNED, "right_tool", 0.4, name="rod"),
        PointContact(robot, "left_tool", [0.6, 0.0, 0.8], anchor=[0.1, 0.2, 0.3], name="one row"),
        PointContact(robot, "left_tool", name="two contacts of one point"),
        PointContact(robot, "left_tool", [0.0, 0.6, 0.8], axes=Axes.LOCAL, name="in its own axes"),
    ]
    rows = ConstraintSet(robot, [owners[i] for i in rng.permutation(len(owners))])
    motion = robot.at(robot.space.random(rng), rng.standard_normal(robot.nv))
    together = rows.rows_at(motion)
    alone = stack_rows(rows.stack, motion, Order.ACCELERATION)
    assert np.abs(together.jacobian - alone.jacobian).max() < 1e-12
    assert np.abs(together.drift - alone.error).max() < 1e-11
    assert np.abs(together.velocity - stack_rows(rows.stack, motion, Order.VELOCITY).error).max() < 1e-12
    placed = np.concatenate([np.full(owner.group.nv, owner.has_position) for owner in rows.stack])
    alone = stack_rows(rows.stack, motion.posture, Order.POSITION)
    assert np.abs(together.position - alone.error)[placed].max() < 1e-12

"""Derivatives of the rows of a whole set, against differences of the rows and of the forces that they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Frame, Implicit, Robot
from constraints.functions import CenterOfMass
from constraints.loops import (
    Axes,
    Baumgarte,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    PointClosure,
    PointContact,
    RodClosure,
    SurfaceContact,
)
from constraints.loops.set_slopes import SetSlopes, set_slopes
from constraints.models import sample_humanoid
from liegroups.formulas.log_slopes import FIVE_POINTS

AWAY = pin.SE3(pin.exp3(np.array([0.4, -0.7, 1.1])), np.array([0.3, -0.2, 0.5]))


def differences(f: Any, n: int) -> Any:
    """Derivative of f at zero (..., n), of order four."""
    return np.moveaxis(np.array([sum(c * f(s * e) for s, c in FIVE_POINTS) for e in np.eye(n)]), 0, -1)


def at(rows: ConstraintSet, q: Any, v: Any, a: Any, y: Any) -> SetSlopes:
    tree = rows.robot.space.elementary
    return set_slopes(rows, q, v, a, y, tree, tree.model.createData())


def of_wrenches(robot: Robot, q: Any, wrenches: list[Any]) -> Any:
    """Generalised forces (nv,) of wrenches on joints, each in the axes of its joint."""
    model = robot.model
    data, found = model.createData(), np.zeros(model.nv)
    pin.computeJointJacobians(model, data, q)
    for joint in range(1, model.njoints):
        J: Any = pin.getJointJacobian(model, data, joint, pin.LOCAL)
        found += np.asarray(J).reshape(6, -1).T @ wrenches[joint].vector
    return found


def checked(rows: ConstraintSet, seed: int) -> SetSlopes:
    robot, rng = rows.robot, np.random.default_rng(seed)
    space, n = robot.space, robot.nv
    q = space.integrate(robot.neutral, 0.6 * rng.standard_normal(n))
    (v, a), y = rng.standard_normal((2, n)), rng.standard_normal(rows.size)
    found = at(rows, q, v, a, y)
    y = np.where(rows.jacobian(q).any(axis=1), y, 0.0)

    def near(mine: Any, theirs: Any) -> bool:
        return bool(np.abs(mine - theirs).max() < 1e-6 * (1.0 + np.abs(theirs).max()))

    def accelerations(x: Any, u: Any) -> Any:
        return rows.jacobian(x) @ a + rows.drift(x, u)

    def there(d: Any) -> Any:
        return space.integrate(q, d)

    assert near(found.jacobian, rows.jacobian(q))
    assert near(found.rate, differences(lambda d: rows.jacobian(there(d)) @ v, n))
    assert near(found.by_q, differences(lambda d: accelerations(there(d), v), n))
    assert near(found.by_v, differences(lambda d: accelerations(q, v + d), n))
    placed = differences(lambda d: rows.position_error(there(d)), n) if rows.gains is not None else found.jacobian * 0
    assert near(found.position, placed)
    wrenches = list(found.wrenches)
    carried = differences(lambda d: of_wrenches(robot, there(d), wrenches), n)
    assert near(found.force + carried, differences(lambda d: rows.jacobian(there(d)).T @ y, n))
    return found


def bodies(robot: Robot) -> list[Frame]:
    """Frames on three limbs, off their joints."""
    model = robot.model
    leaves = [j for j in range(1, model.njoints) if j not in list(model.parents)][:3]
    return [Frame(f"on {model.names[j]}", j, AWAY, str(model.names[j])) for j in leaves]


@pytest.mark.parametrize(
    "gains", [pytest.param(None, marks=pytest.mark.long), Baumgarte(3.0, 2.0)], ids=["loose", "stabilised"]
)
def test_a_set_of_every_kind(gains: Baumgarte | None) -> None:
    """Contacts in their own axes and in others, closures of two bodies, and a constraint that is no frame."""
    robot = sample_humanoid()
    a, b, c = bodies(robot)
    owners: list[Any] = [
        PointContact(robot, a, anchor=AWAY.translation, axes=Axes.LOCAL, form=Form.RATES, name="point"),
        Closure(robot, a, b, Hinge.pin([0.6, 0.0, 0.8]), name="pin"),
        SurfaceContact(robot, c, AWAY, axes=Axes.LOCAL, form=Form.RATES, name="sole"),
        PointContact(robot, b, [0.0, 0.6, 0.8], AWAY.translation, form=Form.RATES, name="slides"),
        PointClosure(robot, b, c, name="ball"), RodClosure(robot, a, c, 0.7, name="rod"),
        Closure(robot, a, c, Hinge.pin([0.0, 0.0, 1.0]), form=Form.RATES, name="rates"),
        PointContact(robot, c, axes=Axes.LOCAL, form=Form.RATES, name="nowhere"),
        Implicit(CenterOfMass(robot), mask=[True, False, True], name="balance"),
    ]  # fmt: skip
    rows = ConstraintSet(robot, owners) if gains is None else ConstraintSet(robot, owners).stabilised(gains)
    assert checked(rows, 1).by_differences == ()
    off = rows.switched(off=["pin", "sole"])
    found = checked(off, 2)
    for name in ("pin", "sole"):
        s = off.slice_of(name)
        assert not any(each[s].any() for each in found[:5])


def test_a_robot_of_one_joint() -> None:
    """Pinocchio gives the one column as a vector."""
    model: Any = pin.Model()
    model.addJoint(0, pin.JointModelRY(), AWAY, "turn")
    robot = Robot(model, "wheel")
    frame = Frame("rim", 1, AWAY, "turn")
    for owner in (PointContact(robot, frame, anchor=AWAY.translation, axes=Axes.LOCAL, form=Form.RATES, name="point"),
                  SurfaceContact(robot, frame, AWAY, axes=Axes.LOCAL, form=Form.RATES, name="sole")):  # fmt: skip
        checked(ConstraintSet(robot, [owner]), 3)
        checked(ConstraintSet(robot, [owner]).stabilised(2.0), 3)

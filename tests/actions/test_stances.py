"""Stances that the ground can carry, and those that it cannot.

Truth: closed forms of boxes on a floor and on a slope, and a linear program over forces at the corners of soles, which
knows no centre of pressure.
"""

from __future__ import annotations

import importlib
from math import cos, inf, sin
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog

from constraints.actions import Actuators, ContactForwardDynamics
from constraints.dynamics import DynamicsStatus
from constraints.errors import ConstraintError, FailedError, OptionError
from constraints.loops import Axes, ConstraintSet, FrictionCone, PointContact, Sole, SurfaceContact
from constraints.robot import Frame, Robot

FOUR = [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)]
"""Corners of the sole of a box, at which it may stand on points."""


def box(at: tuple[float, float] = (0.0, 0.0), slope: float = 0.0, points: Any = None) -> ContactForwardDynamics:
    """A free box of 2 kg whose centre of mass is at (x, y, 0.3) of its sole, on a slope about y."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "box")
    inertia = pin.Inertia(2.0, np.array([*at, 0.3]), 0.01 * np.eye(3))
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    model.gravity.linear = 9.81 * np.array([sin(slope), 0.0, -cos(slope)])  # pyright: ignore[reportAttributeAccessIssue]
    robot = Robot(model)
    if points is None:
        held = [SurfaceContact(robot, Frame("sole", joint, pin.SE3.Identity()), name="sole")]
    else:
        frames = [Frame(f"p{i}", joint, pin.SE3(np.eye(3), np.array([*p, 0.0]))) for i, p in enumerate(points)]
        held = [PointContact(robot, frame, axes=Axes.LOCAL, name=frame.name) for frame in frames]
    return ContactForwardDynamics(robot, Actuators.floating_base(robot), ConstraintSet(robot, held))


def rest(action: ContactForwardDynamics) -> Any:
    return action.state.join(action.robot.neutral)


def test_what_each_contact_carries_is_said() -> None:
    """A centre of pressure 86 mm beside the sole was an equilibrium without a word."""
    found = box(at=(0.186, 0.02)).quasi_static(rest(box()))
    assert found.success
    np.testing.assert_allclose(found.centre_of_pressure["sole"], [0.186, 0.02], atol=1e-12)
    assert found.loads["sole"].normal_force == pytest.approx(2.0 * 9.81)
    assert found.friction_needed["sole"] == pytest.approx(0.0, abs=1e-12)
    assert Sole.rectangle(0.2, 0.1).distance(found.centre_of_pressure["sole"]) == pytest.approx(0.086)
    assert "centre of pressure (0.186, 0.02) m" in found.describe()


def test_a_contact_that_pulls_is_named() -> None:
    action = box(at=(0.3, 0.0), points=FOUR)
    found = action.quasi_static(rest(action))
    assert set(found.pulling) == {"p2", "p3"}
    assert all(force < 0.0 for force in found.pulling.values())
    assert "but 'p2' pulls" in str(found)
    assert found.friction_needed["p2"] == inf
    within = action.quasi_static(rest(action), cones=0.5)
    assert within.status is DynamicsStatus.NOT_ADMISSIBLE
    assert within.overloaded
    with pytest.raises(FailedError, match="would have to give way"):
        within.or_raise()


def test_a_contact_that_pulls_is_named_by_a_calculation() -> None:
    """A box that leans over its feet, which only push: two of them pull; a terminal node has no forces."""
    robot = box(at=(0.3, 0.0)).robot
    feet = [Frame(f"p{i}", 1, pin.SE3(np.eye(3), np.array([*p, 0.0]))) for i, p in enumerate(FOUR)]
    held = [
        PointContact(robot, foot, normal=(0.0, 0.0, 1.0), anchor=foot.placement.translation, name=foot.name)
        for foot in feet
    ]
    action = ContactForwardDynamics(robot, Actuators.floating_base(robot), ConstraintSet(robot, held))
    done = action.calc(rest(action), np.zeros(0)).or_raise()
    (words,) = done.remarks
    assert words.startswith("pulling, which contacts that only push cannot do: 'p2' by 2.45")
    assert "'p3' by 2.45" in words
    assert action.calc(rest(action)).remarks == ()


@pytest.mark.parametrize("degrees", [5.0, 15.0, 25.0])
def test_a_box_on_a_slope_needs_the_tangent_of_its_angle(degrees: float) -> None:
    slope = np.deg2rad(degrees)
    action = box(slope=slope)
    found = action.quasi_static(rest(action))
    assert found.friction_needed["sole"] == pytest.approx(np.tan(slope))
    for margin, holds in ((1.05, True), (0.95, False)):
        mu = margin * np.tan(slope)
        assert action.quasi_static(rest(action), cones={"sole": FrictionCone(mu, edges=64)}).success is holds
    assert FrictionCone(0.3).needed(np.array([0.3, 0.0, 2.0])) == pytest.approx(0.15)


def corner_forces(action: ContactForwardDynamics, corners: np.ndarray, mu: float) -> bool:
    """Whether forces at corners, in a pyramid of 64 edges, carry the box: by a linear program."""
    model: Any = action.robot.model
    g = model.gravity.linear * 2.0
    com = np.array(model.inertias[1].lever)
    angles = 2.0 * np.pi * np.arange(64) / 64
    generators = [np.array([mu * np.cos(t), mu * np.sin(t), 1.0]) for t in angles]
    columns = [np.concatenate([f, np.cross([*p, 0.0], f)]) for p in corners for f in generators]
    asked = -np.concatenate([g, np.cross(com, g)])
    return bool(linprog(np.zeros(len(columns)), A_eq=np.array(columns).T, b_eq=asked, method="highs").success)


def test_soles_and_cones_are_the_verdict_of_forces_at_corners() -> None:
    rng = np.random.default_rng(4)
    said = []
    for _ in range(60):
        corners = rng.uniform(-0.15, 0.15, (5, 2))
        action = box(at=tuple(rng.uniform(-0.12, 0.12, 2)), slope=rng.uniform(0.0, 0.4))
        mu = rng.uniform(0.1, 0.8)
        sole = Sole(corners)
        found = action.quasi_static(rest(action), cones=FrictionCone(mu, edges=64), soles={"sole": sole})
        margin = min(
            abs(sole.distance(found.centre_of_pressure.get("sole", np.ones(2)))),
            abs(mu - found.friction_needed["sole"]),
        )
        if margin < 2e-3:
            continue  # the pyramid is inside the cone by 1e-3
        truth = corner_forces(action, corners, mu)
        said.append(truth)
        assert found.success is truth
    assert 10 < sum(said) < len(said) - 10


def test_least_forces_of_feet_that_only_push_are_those_of_a_solver() -> None:
    """Four feet and a load beside their middle: least squares within the cones, against SLSQP."""
    minimize: Any = importlib.import_module("scipy.optimize").minimize

    action = box(at=(0.19, 0.05), points=FOUR)
    free = action.quasi_static(rest(action)).or_raise()
    found = action.quasi_static(rest(action), cones=FrictionCone(0.2, edges=6)).or_raise()
    assert found.residual <= found.limit
    assert not found.pulling
    assert max(found.friction_needed.values()) <= 0.2 * (1.0 + 1e-6)
    J = action.constraint_set.jacobian(action.robot.neutral)
    asked = J.T @ free.multipliers
    np.testing.assert_allclose(J.T @ found.multipliers, asked, atol=1e-9)
    C = np.kron(np.eye(4), FrictionCone(0.2, edges=6).rows)
    judge = minimize(
        lambda y: y @ y, found.multipliers, jac=lambda y: 2.0 * y, method="SLSQP", tol=1e-14,
        constraints=[{"type": "eq", "fun": lambda y: J.T @ y - asked}, {"type": "ineq", "fun": lambda y: -C @ y}],
    )  # fmt: skip
    assert found.multipliers @ found.multipliers == pytest.approx(judge.fun, rel=1e-7)


def test_bad_cones_and_soles_are_named() -> None:
    action = box()
    with pytest.raises(OptionError, match="not negative"):
        FrictionCone(-0.1)
    with pytest.raises(OptionError, match="on one line"):
        Sole([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    for bad in (
        lambda: Sole([[0.0, 0.0]]),
        lambda: Sole.rectangle(0.0, 1.0),
        lambda: FrictionCone(0.5, (0.0, 0.0, 2.0)),
    ):
        with pytest.raises(ConstraintError):
            bad()
    wrong: Any = {"foot": 0.5}
    with pytest.raises(ConstraintError, match="foot"):
        action.quasi_static(rest(action), cones=wrong)

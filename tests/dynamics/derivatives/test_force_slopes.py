"""What springs, links and forces at hinges change by with the state, against differences; at the bad places too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.derivatives.test_forward_derivatives import joints_of_several_kinds
from loops.test_hinges import HINGES
from samples import placement

from constraints import Frame, Robot, dynamics
from constraints.dynamics.laws.external_force import force_slopes
from constraints.errors import RobotMismatchError
from constraints.loops import Axes, Closure

MOVED = [name for name, hinge in HINGES.items() if hinge.dofs]
ANGLES = (0.0, 1e-8, 1e-4, 1e-2, 0.5, 1.3, 2.9)
"""No turn, both sides of the switch of the series, long turns."""


def slope(f: Callable[[Any], Any], n: int, h: float) -> Any:
    """Derivative at 0: central differences of three steps, extrapolated."""
    rows = []
    for step in (h, 0.5 * h, 0.25 * h):
        rows.append(np.array([(f(step * e) - f(-step * e)) / (2.0 * step) for e in np.eye(n)]).T)
    for factor in (4.0, 16.0):
        rows = [narrow + (narrow - wide) / (factor - 1.0) for wide, narrow in pairwise(rows)]
    return rows[0]


def check(force: Any, motion: Any, h: float = 2e-3) -> None:
    """Both derivatives, exact and to 1e-7."""
    space, q, v = motion.posture.space, np.array(motion.q), np.array(motion.v)
    truths = (
        slope(lambda d: force.generalised(space.at(space.integrate(q, d), v)), v.size, h),
        slope(lambda d: force.generalised(space.at(q, v + d)), v.size, 0.1),
    )
    size = max(np.abs(force.generalised(motion)).max(), *(np.abs(truth).max() for truth in truths))
    for mine, truth in zip(force.generalised_slopes(motion), truths, strict=True):
        assert np.abs(mine - truth).max() <= 1e-7 * size


def frames(robot: Robot) -> list[Any]:
    """On two branches, one inside a joint of several parts, and one of the world."""
    ends = [Frame(name, robot.joint_index(name), placement(i), name) for i, name in enumerate(("composite", "zyx"))]
    return [*ends, Frame("wall", 0, placement(5), "universe")]


@pytest.mark.parametrize("ends", [(0, 1), (1, 0), (0, 2), (2, 1)])
def test_forces_between_two_frames(ends: tuple[int, int]) -> None:
    """Links, springs and wrenches: on joints of every kind, on two mixed up branches, from and to the world."""
    robot, rng = joints_of_several_kinds(), np.random.default_rng(1)
    a, b = (frames(robot)[i] for i in ends)
    for _ in range(3):
        motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
        check(dynamics.PointSpring(robot, a, b, stiffness=30.0, damping=2.0, length=0.3, tension=5.0), motion)
        check(dynamics.PointSpring(robot, a, b, stiffness=30.0, damping=2.0), motion)
        check(dynamics.PointLink(robot, a, b, -7.0), motion)
        for axes in Axes:
            check(dynamics.ExternalForce(b if b.joint else a, rng.standard_normal(6), axes), motion)


def test_links_that_are_nearly_of_no_length() -> None:
    """Down to 1e-6 m; where the ends coincide there are no formulas."""
    robot, rng = bodies(), np.random.default_rng(2)
    for gap in (1e-2, 1e-4, 1e-6):
        q = pair(pin.SE3(pin.exp3(rng.standard_normal(3)), gap * np.array([0.6, 0.0, 0.8])))
        motion = robot.at(q, rng.standard_normal(12))
        for damping in (0.0, 2.0):
            check(dynamics.PointSpring(robot, "a", "b", stiffness=30.0, damping=damping, length=0.3), motion, 0.1 * gap)
    spring = dynamics.PointSpring(robot, "a", "b", stiffness=30.0)
    assert spring.generalised_slopes(robot.at(pair(pin.SE3.Identity()), np.zeros(12))) is None


def bodies() -> Robot:
    """Two free bodies."""
    model = pin.Model()
    for name in ("a", "b"):
        j = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(j, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), placement(3))
    return Robot(model)


def pair(pose: Any) -> Any:
    """Configuration at which the second body is seen so from the first."""
    first = placement(11)
    return np.concatenate([pin.SE3ToXYZQUAT(first), pin.SE3ToXYZQUAT(first * pose)])


@pytest.mark.parametrize("apart", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", MOVED)
def test_forces_at_hinges(name: str, apart: int) -> None:
    """Constant ones and springs on the coordinates of every hinge: at closed poses, and far from them."""
    robot, rng, hinge = bodies(), np.random.default_rng(3), HINGES[name]
    cut = Closure(robot, "a", "b", hinge, name="cut")
    n, angles = hinge.dofs, ANGLES if name != "custom" else ()  # far away its fit is on one branch or another
    poses = [
        hinge.kinematics(hinge.space.integrate(hinge.space.neutral, 0.7 * x))[0] for x in rng.uniform(-1, 1, (4, n))
    ]
    for angle in angles:
        axis = rng.standard_normal(3)
        poses.append(pin.SE3(pin.exp3(angle * axis / np.linalg.norm(axis)), 0.3 * rng.standard_normal(3)))
    for pose in poses[MOVED.index(name) % apart :: apart]:  # all angles are met by some hinge
        motion = robot.at(pair(pose), rng.standard_normal(12))
        rest = hinge.space.integrate(hinge.space.neutral, 0.2 * rng.standard_normal(n))
        constant = dynamics.HingeForce(cut, rng.standard_normal(n))
        assert constant.has_exact_slopes == (name != "custom")
        check(constant, motion, 1e-3)
        check(dynamics.HingeSpring(cut, rng.uniform(1.0, 5.0, n), rng.uniform(0.1, 1.0, n), rest), motion, 1e-3)


def test_springs_of_joints() -> None:
    """Of every kind, at rest, near it, and next to half a turn from it."""
    robot, rng = joints_of_several_kinds(), np.random.default_rng(4)
    for name in robot.joint_names:
        factor = robot.space.factors[robot.joint_index(name) - 1]
        space, n = factor.space, factor.space.nv
        for angle in ANGLES:
            q, away = robot.random(rng), rng.standard_normal(n)
            rest = space.integrate(q[factor.q], angle * away / np.linalg.norm(away))
            spring = dynamics.JointSpring(robot, name, rng.uniform(1.0, 5.0, n), rng.uniform(0.1, 1.0, n), rest)
            check(spring, robot.at(q, rng.standard_normal(robot.nv)), 1e-3)


def test_what_has_no_formulas() -> None:
    """Functions of a user, ellipsoid joints."""
    robot, free = joints_of_several_kinds(), bodies()
    motion, apart = robot.at(robot.neutral, np.zeros(robot.nv)), free.at(pair(placement(4)), np.zeros(12))
    a, b, _ = frames(robot)
    assert dynamics.PointLink(robot, a, b, lambda length, rate: length).generalised_slopes(motion) is None
    assert dynamics.JointLaw(robot, "zyx", lambda q, v: -v).generalised_slopes(motion) is None
    assert dynamics.FrameLink(robot, a, b, lambda pose, twist: -twist).generalised_slopes(motion) is None
    pin_of = Closure(free, "a", "b", HINGES["pin"], name="pin")
    assert dynamics.HingeForce(pin_of, lambda angle, rate: -angle).generalised_slopes(apart) is None
    fitted = Closure(free, "a", "b", HINGES["custom"], name="custom")
    names = force_slopes([dynamics.HingeSpring(pin_of, 1.0), dynamics.HingeSpring(fitted, 1.0)], apart)[2]
    assert names == ("external force 1 (HingeSpring)",)
    model = pin.Model()
    model.appendBodyToJoint(
        model.addJoint(0, pin.JointModelEllipsoid(0.2, 0.3, 0.4), placement(1), "on"),
        pin.Inertia.Random(),
        placement(2),
    )
    egg = Robot(model)
    assert dynamics.PointSpring(egg, None, "on", 1.0).generalised_slopes(egg.at(egg.neutral, np.zeros(3))) is None
    with pytest.raises(RobotMismatchError):
        dynamics.PointSpring(robot, a, b, 1.0).generalised_slopes(apart)

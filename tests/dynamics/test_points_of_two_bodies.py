"""The proximal method on closures that hold a point of two bodies: ball, gimbal, `PointClosure`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Frame
from constraints.dynamics import DynamicsStatus, Method, forward_dynamics, impact
from constraints.dynamics.methods import articulated, proximal
from constraints.loops import Closure, ConstraintSet, Hinge, PointClosure, PointContact
from constraints.models import mechanisms, sample_arm, sample_two_arms


def both(rows: ConstraintSet, q: Any, v: Any, tau: Any) -> tuple[Any, Any]:
    """By pinocchio and by the direct method, from one state."""
    motion = rows.robot.at(q, v)
    found = forward_dynamics(rows, motion, tau, method=Method.PROXIMAL)
    assert found.method is Method.PROXIMAL
    return found, forward_dynamics(rows, motion, tau, method=Method.DIRECT)


def agree(found: Any, expected: Any, within: float) -> None:
    assert np.abs(found - expected).max() <= within * np.abs(expected).max()


@pytest.mark.parametrize("size", [1.0, 1e6, 1e9])
def test_forces_are_met_to_a_part_of_their_size(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large; where they are missed by more, the direct method solves."""
    bars = mechanisms.four_bar()
    closure: Any = bars.closures[0]
    rows = ConstraintSet(bars.robot, [PointClosure(bars.robot, closure.predecessor, closure.successor, name="point")])
    q = bars.postures["closed"]
    motion, tau = rows.robot.at(q, np.zeros(3)), size * np.array([1.0, -0.4, 0.3])
    found, direct = both(rows, q, np.zeros(3), tau)
    agree(found.acceleration, direct.acceleration, 1e-8)
    own = proximal.pinocchio_constraints_of(rows, motion)
    follow, missed = type(own).follow, [1e-3 * size, 1e-6 * size, 0.0]

    def astray(self: Any, *given: Any) -> tuple[Any, Any]:
        more, push = follow(self, *given)
        return more, push + missed.pop(0)

    monkeypatch.setattr(type(own), "follow", astray)
    found, _ = both(rows, q, np.zeros(3), tau)  # corrected twice
    agree(found.acceleration, direct.acceleration, 1e-8)
    agree(found.multipliers, direct.multipliers, 1e-8)
    assert missed == []
    monkeypatch.setattr(proximal, "REFINED", 0)
    monkeypatch.setattr(type(own), "follow", lambda self, *_: (np.zeros(3), np.full(own.size, 1e-7 * size)))
    assert forward_dynamics(rows, motion, tau, method=Method.PROXIMAL).method is Method.DIRECT


def test_articulated_bodies_are_right_before_they_are_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies of like masses lose no digits: the first solution is taken."""
    monkeypatch.setattr(articulated, "_corrected", None)
    arm, rng = sample_arm(), np.random.default_rng(6)
    rows = ConstraintSet(arm, [PointContact(arm, "tool")])
    motion = arm.at(arm.random(rng), rng.normal(size=arm.nv))
    tau = rng.normal(size=arm.nv)
    found, direct = (forward_dynamics(rows, motion, tau, method=m) for m in (Method.TEST_FORCES, Method.DIRECT))
    assert found.method is Method.TEST_FORCES
    agree(found.acceleration, direct.acceleration, 1e-10)
    agree(found.multipliers, direct.multipliers, 1e-10)


def test_a_planar_loop_that_a_ball_closes_has_one_row_too_many() -> None:
    bars = mechanisms.four_bar()
    closure = bars.closures[0]
    assert isinstance(closure, Closure)
    assert closure.predecessor.joint
    for held in (Closure(bars.robot, closure.predecessor, closure.successor, Hinge.ball(), name="ball"),
                 PointClosure(bars.robot, closure.predecessor, closure.successor, name="point")):  # fmt: skip
        rows = ConstraintSet(bars.robot, [held])
        q = bars.postures["closed"]
        Z = np.linalg.svd(rows.jacobian(q))[2][2:]
        found, direct = both(rows, q, 2.0 * Z[0], np.array([1.0, -0.4, 0.3]))
        assert found.status is direct.status is DynamicsStatus.RANK_DEFICIENT
        agree(found.acceleration, direct.acceleration, 1e-10)
        agree(found.multipliers, direct.multipliers, 1e-9)


def test_a_point_between_a_body_and_one_below_it_in_the_chain() -> None:
    """Both joints are on one branch: columns of the upper one cancel."""
    arm = sample_arm()
    names = list(arm.model.names)
    upper = Frame("upper", 2, pin.SE3(pin.exp3(np.array([0.3, 0.5, -0.2])), np.array([0.1, 0.2, -0.3])), names[2])
    lower = Frame("lower", arm.model.njoints - 1, pin.SE3(np.eye(3), np.array([0.0, -0.1, 0.2])), names[-1])
    rng = np.random.default_rng(4)
    for pair in ((upper, lower), (lower, upper)):
        rows = ConstraintSet(arm, [PointClosure(arm, *pair, name="point")])
        found, direct = both(rows, *rng.standard_normal((3, arm.nv)))
        assert found.status is direct.status is DynamicsStatus.SOLVED
        agree(found.acceleration, direct.acceleration, 1e-9)
        agree(found.multipliers, direct.multipliers, 1e-9)


@pytest.mark.parametrize(("points", "rank"), [(1, 3), (2, 5), (3, 6)])
def test_points_that_two_hands_share_in_motion_and_at_an_impact(points: int, rank: int) -> None:
    """Two points leave a spin, three hold the body by nine rows; they are closed at the state."""
    robot, rng = sample_two_arms(), np.random.default_rng(5)
    q = robot.space.integrate(robot.neutral, 0.5 * rng.standard_normal(robot.nv))
    here = robot.at(q)
    apart = here.placement("left_tool").actInv(here.placement("right_tool"))
    owners = []
    for i, at in enumerate(rng.uniform(-0.3, 0.3, (points, 3))):
        left = robot.frame("left_tool", pin.SE3(np.eye(3), at))
        right = robot.frame("right_tool", pin.SE3(np.eye(3), apart.actInv(at)))
        owners.append(PointClosure(robot, left, right, name=f"point{i}"))
    rows = ConstraintSet(robot, owners)
    assert np.abs(np.concatenate([owner.residual(q) for owner in owners])).max() < 1e-14
    Z = np.linalg.svd(rows.jacobian(q))[2][rank:]
    found, direct = both(rows, q, rng.standard_normal(len(Z)) @ Z, rng.standard_normal(robot.nv))
    assert found.status is direct.status
    assert found.status is (DynamicsStatus.SOLVED if rank == 3 * points else DynamicsStatus.RANK_DEFICIENT)
    agree(found.acceleration, direct.acceleration, 1e-9)
    agree(found.multipliers, direct.multipliers, 1e-8)
    v = rng.standard_normal(robot.nv)
    hit = [impact(rows, robot.at(q, v), method=method) for method in (Method.PROXIMAL, Method.DIRECT)]
    assert hit[0].method is Method.PROXIMAL
    agree(hit[0].velocity, hit[1].velocity, 1e-9)

"""Motions on the manifold: orders of the schemes, energy, projection, targets, records and what ends them early."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body, point
from published_mechanisms import bricard
from record_arguments import with_records

from constraints import ConstraintError, Implicit, Position, Robot, Target
from constraints.dynamics import (
    DynamicsStatus,
    Forces,
    JointLaw,
    JointSpring,
    MotionRecord,
    MotionStatus,
    SimulationOptions,
    impact,
    simulate,
)
from constraints.dynamics.motions.metric_projection import MetricProjection
from constraints.errors import (
    FailedError,
    MissingExtraError,
    NotFiniteError,
    OptionError,
    SizeError,
    TruthValueError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.loops import Baumgarte, Closure, ConstraintSet, Hinge, OpenMechanismError, PointClosure, PointContact
from constraints.models import mechanisms
from constraints.robot import Motion

RK4, EULER = "rk4", "semi-implicit euler"


def body(inertia: tuple[float, float, float] = (0.3, 0.5, 0.8), gravity: float = 0.0) -> Robot:
    """A free rigid body."""
    return one_body(pin.JointModelFreeFlyer(), pin.Inertia(2.0, np.zeros(3), np.diag(inertia)), "base", gravity=gravity)


def balls(count: int = 2) -> Robot:
    """A chain of bodies on ball joints, under gravity."""
    model, joint = pin.Model(), 0
    for i in range(count):
        at = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 if i else 0.0]))
        joint = model.addJoint(joint, pin.JointModelSpherical(), at, f"ball{i}")
        model.addJointFrame(joint)
        inertia = pin.Inertia(1.0 + i, np.array([0.05, 0.0, -0.25]), np.diag([0.03, 0.04, 0.01]))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return Robot(model)


def falling_bars(kind: Any = mechanisms.five_bar, **sizes: float) -> tuple[ConstraintSet, np.ndarray]:
    """A planar linkage under gravity along -y, with its closed posture."""
    made = kind(**sizes)
    model = made.robot.model.copy()
    model.gravity = pin.Motion(np.array([0.0, -9.81, 0.0]), np.zeros(3))
    robot = Robot(model)
    a, b = (made.closures[0].predecessor.name, made.closures[0].successor.name)
    return ConstraintSet(robot, [Closure(robot, a, b, Hinge.pin([0, 0, 1]), name="pin")]), made.posture("closed")


def distance(record: MotionRecord, other: MotionRecord) -> float:
    robot = record.constraint_set.robot
    return float(np.abs(robot.space.difference(record.q, other.q)).max() + np.abs(record.v - other.v).max())


# Orders.


def test_free_body_of_a_symmetric_top_follows_its_closed_form() -> None:
    """Item 8: SE(3), order 4: R(t) = exp(t L / I1) exp(t w3 (1 - I3 / I1) e3), the centre on a straight line."""
    I1, I3 = 0.3, 0.8
    robot = body((I1, I1, I3))
    v0, T = np.array([0.4, -0.2, 0.3, 2.0, -1.0, 3.0]), 1.0
    w = v0[3:]
    precession = pin.exp3(T * np.array([I1 * w[0], I1 * w[1], I3 * w[2]]) / I1)
    R = precession @ pin.exp3(np.array([0.0, 0.0, T * w[2] * (1.0 - I3 / I1)]))
    errors: list[float] = []
    for h in (0.05, 0.025, 0.0125):
        record = simulate(ConstraintSet(robot, []), robot.neutral, v0, T, h).or_raise()
        np.testing.assert_allclose(record.q[:3], T * v0[:3], atol=20 * h**4)
        here = robot.at(record.q).placement("base")
        errors.append(float(np.linalg.norm(pin.log3(R.T @ here.rotation))))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (np.abs(orders - 4.0) < 0.25).all(), (errors, orders)
    assert errors[-1] < 1e-6


def start(kind: str) -> tuple[ConstraintSet, Any, Any]:
    """A set with the start of a motion."""
    if kind == "closed chain":
        return *falling_bars(ground=1.2, inner=1.0, outer=1.4), np.zeros(4)
    if kind == "closed by a ball":
        robot = balls(3)
        q = robot.configuration(
            {"ball1": pin.exp3(np.array([0.7, 0.2, 0.1])), "ball2": pin.exp3(np.array([0.9, 0, 0]))}
        )
        tip = robot.frame("ball2", pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5])))
        return ConstraintSet(robot, [PointContact(robot, tip, name="tip").anchored(q)]), q, np.zeros(robot.nv)
    if kind == "closed by projection":
        made = bricard()
        return made.constraint_set, made.q, made.v
    robot = balls() if kind == "ball joints" else body()
    return ConstraintSet(robot, []), robot.neutral, np.array([1.0, -2.0, 3.0, 2.0, 1.0, -1.0])


@pytest.mark.parametrize(
    ("scheme", "order", "longest", "shorter"), [("dop853", 8.0, 0.4, 0.05), ("implicit", 4.0, 0.05, 0.025)]
)
@pytest.mark.parametrize("kind", ["ball joints", "free body", "closed chain", "closed by projection"])
def test_high_orders_by_halving_the_step(kind: str, scheme: str, order: float, longest: float, shorter: float) -> None:
    """On SO(3), SE(3), and with constraints, whose stages are projected where rows repeat others."""
    duration, h = 0.1 if (kind, scheme) == ("closed by projection", "implicit") else 0.8, longest
    if kind == "closed chain":
        duration, h = 0.2, shorter
    options = SimulationOptions(scheme=scheme, rtol=1e-12, atol=1e-12)
    ends = [simulate(*start(kind), duration, h / 2**k, options=options) for k in range(3)]
    gaps = [distance(a, b) for a, b in pairwise(ends)]
    assert np.log2(gaps[0] / gaps[1]) > order - 0.7, gaps


@pytest.mark.parametrize(("scheme", "order"), [(RK4, 4.0), (EULER, 1.0)])
@pytest.mark.parametrize("kind", ["ball joints", "free body", "closed chain", "closed by a ball"])
def test_order_by_halving_the_step(kind: str, scheme: str, order: float) -> None:
    """Item 8: the order on SO(3), SE(3), and with constraints kept by projection."""
    duration, h = (0.4, 0.02) if scheme == RK4 else (0.1, 0.004)
    ends = [
        simulate(*start(kind), duration, h / 2**k, options=SimulationOptions(scheme=scheme, every=1000))
        for k in range(3)
    ]
    poor = MotionStatus.POOR_STEP  # the energy of order 1 is off by more than 1 %, which is said now
    assert all(end.success or (scheme == EULER and end.status is poor) for end in ends)
    gaps = [distance(a, b) for a, b in pairwise(ends)]
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(order, abs=0.35), gaps


def test_pendulum_of_a_held_point_is_that_of_a_ball_joint() -> None:
    """Item 8: a body held at a point by a closure moves as the same body on a joint."""
    held = body(gravity=9.81)
    corner = held.frame("base", pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5])))
    rows = ConstraintSet(held, [PointClosure(held, pin.SE3.Identity(), corner, name="pivot")])
    q = np.array([0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 1.0])
    w = np.array([1.0, 2.0, 0.5])
    v = np.concatenate([np.cross(w, [0.0, 0.0, -0.5]), w])
    inertia = pin.Inertia(2.0, np.array([0.0, 0.0, -0.5]), np.diag([0.3, 0.5, 0.8]))
    pendulum = one_body(pin.JointModelSpherical(), inertia, "ball")
    one = simulate(rows, q, v, 0.5, 0.005).or_raise()
    other = simulate(ConstraintSet(pendulum, []), pendulum.neutral, w, 0.5, 0.005).or_raise()
    np.testing.assert_allclose(
        held.at(one.q).placement("base").rotation, pendulum.at(other.q).placement("ball").rotation, atol=1e-7
    )
    np.testing.assert_allclose(one.v[3:], other.v, atol=1e-6)


# Energy and constraints.


def test_energy_is_that_of_pinocchio_and_is_kept() -> None:
    """Item 8: kinetic and potential energy of closed states; projection keeps them, and the rows."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    record = simulate(rows, q, np.zeros(4), 0.25, 0.0025).or_raise()
    model = rows.robot.model
    data = model.createData()
    for i in (0, 37, 100):
        kinetic = pin.computeKineticEnergy(model, data, record.qs[i], record.vs[i])
        assert record.kinetic_energy[i] == pytest.approx(kinetic, rel=1e-12)
        assert record.potential_energy[i] == pytest.approx(pin.computePotentialEnergy(model, data, record.qs[i]))
    assert record.energy_drift < 1e-6 * record.kinetic_energy.max()
    for i in range(101):
        assert np.linalg.norm(rows.position_error(record.qs[i])) <= 1e-10
        assert np.linalg.norm(rows.velocity_error(record.qs[i], record.vs[i])) <= 1e-12 * (1 + record.vs[i].max())
    assert record.position_drift.max() <= 1e-10


def test_baumgarte_lets_errors_settle_and_projection_has_none() -> None:
    """Item 8: the two corrections go the same way; the set's own stabilisation leaves errors, without it they grow."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    kept = simulate(rows, q, np.zeros(4), 1.0, 0.01).or_raise()
    settled, loose = (
        simulate(each, q, np.zeros(4), 1.0, 0.01, options=SimulationOptions(correction="baumgarte")).or_raise()
        for each in (rows.stabilised(0.05), rows)
    )
    assert kept.position_drift.max() <= 1e-10 < settled.position_drift.max() < loose.position_drift.max() < 1e-3
    assert distance(kept, settled) < 1e-2


def test_projection_is_the_least_motion_in_the_metric_of_the_mass() -> None:
    """Item 8: velocities as after an impact; M-gradients in the row space; a closed state comes back bit for bit."""
    rows, q = falling_bars()
    robot, rng = rows.robot, np.random.default_rng(3)
    projection = MetricProjection(rows, 1e-11)
    for size in (0.05, 1e-5):
        start = robot.at(robot.space.integrate(q, size * rng.standard_normal(4)), rng.standard_normal(4))
        found = projection.project(start, None)
        assert isinstance(found, Motion)
        assert np.linalg.norm(rows.position_error(found.q)) <= 1e-11
        there = robot.at(found.q, start.v)
        M, J = there.mass_matrix(), rows.jacobian(found.q)
        np.testing.assert_allclose(found.v, impact(rows, there).velocity, atol=1e-12)
        changes = [M @ (found.v - start.v)]
        if size == 1e-5:  # near enough for the metric of the start to be that of the end
            changes.append(M @ (found.q - start.q))
        for change in changes:
            force = np.linalg.lstsq(J.T, change, rcond=1e-9)[0]
            assert np.linalg.norm(J.T @ force - change) < 1e-3 * np.linalg.norm(change)
    again = projection.project(found, None)
    assert again is found


def test_targets_are_followed_in_all_three_orders() -> None:
    """Item 8: a tip driven round a circle is on it, with its speed, and the multipliers are the force that does it."""
    model = pin.buildSampleModelManipulator()
    robot = Robot(model)
    rng = np.random.default_rng(1)
    q = 0.3 + 0.2 * rng.standard_normal(robot.nq)
    place = robot.at(q).placement(robot.joint_names[-1]).translation.copy()

    def value(t: float) -> np.ndarray:
        return 0.02 * np.array([np.cos(6 * t) - 1.0, np.sin(6 * t), 0.0])

    def velocity(t: float) -> np.ndarray:
        return 0.12 * np.array([-np.sin(6 * t), np.cos(6 * t), 0.0])

    def acceleration(t: float) -> np.ndarray:
        return -0.72 * np.array([np.cos(6 * t), np.sin(6 * t), 0.0])

    tip = PointContact(
        robot, robot.joint_names[-1], anchor=place, target=Target(value, velocity, acceleration), name="tip"
    )
    rows = ConstraintSet(robot, [tip])
    v = np.linalg.pinv(rows.jacobian(q)) @ velocity(0.0)
    record = simulate(rows, q, v, 0.2, 0.01, forces=lambda motion, t: motion.bias_force()).or_raise()
    for t, q_t, v_t, a_t in zip(record.times, record.qs, record.vs, record.accelerations, strict=True):
        at = robot.at(q_t).placement(robot.joint_names[-1]).translation - place
        np.testing.assert_allclose(at, value(t), atol=1e-10)
        np.testing.assert_allclose(rows.jacobian(q_t) @ v_t, velocity(t), atol=1e-9)
        drift = rows.drift(q_t, v_t)
        np.testing.assert_allclose(rows.jacobian(q_t) @ a_t + drift, acceleration(t), atol=1e-8)
    assert record.multipliers_of("tip").shape == (21, 3)


def test_contact_without_anchor_follows_the_rate_of_its_target_alone() -> None:
    """Item 8: it has no position: stabilisation has nothing to pull at, though the target is far away."""
    robot = body()
    away = Target(lambda t: [t + 3.0, 0.0, 0.0], lambda t: [1.0, 0.0, 0.0], lambda t: [0.0, 0.0, 0.0])
    rows = ConstraintSet(robot, [PointContact(robot, "base", target=away, name="moves")]).stabilised(0.1)
    v = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    motion = robot.at(robot.neutral, v)
    np.testing.assert_array_equal(rows.rows_at(motion, rows.rhs_at(0.5)).position, 0.0)
    for correction in ("projection", "baumgarte"):
        record = simulate(rows, robot.neutral, v, 1.0, 0.1, options=SimulationOptions(correction=correction)).or_raise()
        np.testing.assert_allclose(record.q[:3], [1.0, 0.0, 0.0], atol=1e-12)


# What ends a motion early.


def arm_that_is_pulled(speed: float) -> tuple[ConstraintSet, np.ndarray, np.ndarray]:
    """Two bars of 1 m in a plane, the tip driven along x from 1 m on: at 2 m they are stretched."""
    model = pin.Model()
    joint = 0
    for i in range(2):
        at = pin.SE3(np.eye(3), np.array([1.0 if i else 0.0, 0.0, 0.0]))
        joint = model.addJoint(joint, pin.JointModelRZ(), at, f"bar{i}")
        model.addJointFrame(joint)
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), 0.1 * np.eye(3)), pin.SE3.Identity())
    robot = Robot(model)
    tip = robot.frame("bar1", pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0])))
    along = Target(lambda t: [1.0 + speed * t], lambda t: [speed], lambda t: [0.0])
    held = PointContact(robot, tip, normal=[1, 0, 0], anchor=np.zeros(3), target=along, name="tip")
    other = PointContact(robot, tip, normal=[0, 1, 0], anchor=np.zeros(3), name="line")
    q = np.array([np.pi / 3, -2 * np.pi / 3])
    rows = ConstraintSet(robot, [held, other])
    return rows, q, np.linalg.solve(rows.jacobian(q), [speed, 0.0])


@pytest.mark.parametrize("scheme", [RK4, EULER])
def test_step_that_cannot_be_projected_is_a_status(scheme: str) -> None:
    """Item 8: a tip that is pulled out of reach at 2 m: the motion ends before, with the states reached so far."""
    rows, q, v = arm_that_is_pulled(1.0)
    record = simulate(rows, q, v, 2.0, 0.01, options=SimulationOptions(scheme=scheme))
    assert record.status is MotionStatus.NOT_PROJECTED
    assert not record.success
    assert 0.9 < record.time <= 1.0
    assert record.position_drift.max() <= 1e-10
    assert "'tip' is off by" in record.reason or "'line' is off by" in record.reason
    np.testing.assert_allclose(record.times, 0.01 * np.arange(len(record.times)), atol=1e-12)
    with pytest.raises(FailedError, match="NOT_PROJECTED") as caught:
        record.or_raise()
    assert caught.value.result is record


def test_rows_that_contradict_are_a_status() -> None:
    """Item 8: two targets that ask the same point for two accelerations."""
    robot = body()
    still = PointContact(robot, "base", name="still")
    away = Target(lambda t: [0.5 * t**2, 0.0, 0.0], lambda t: [t, 0.0, 0.0], lambda t: [1.0, 0.0, 0.0])
    pulled = PointContact(robot, "base", target=away, name="pulled")
    rows = ConstraintSet(robot, [still, pulled])
    record = simulate(rows, robot.neutral, np.zeros(6), 1.0, 0.1)
    assert record.status is MotionStatus.NOT_PROJECTED  # what projection makes of the first step
    assert record.dynamics == (DynamicsStatus.INCONSISTENT,)
    record = simulate(rows, robot.neutral, np.zeros(6), 1.0, 0.1, options=SimulationOptions(correction="baumgarte"))
    assert record.status is MotionStatus.NO_ACCELERATION
    assert record.dynamics == (DynamicsStatus.INCONSISTENT,)
    assert "INCONSISTENT" in str(record)
    for apart, status in ((0.15, MotionStatus.FINISHED), (0.25, MotionStatus.NO_ACCELERATION)):
        both = [  # half of what they are apart is missed, of 101 m/s2, by the one and the other
            PointContact(
                robot, "base", name=f"{a}", target=Target(lambda t, a=a: [0.5 * a * t * t, 0.0, 0.0],
                                                         lambda t, a=a: [a * t, 0.0, 0.0], lambda t, a=a: [a, 0.0, 0.0])
            )
            for a in (100.0, 100.0 - apart)
        ]  # fmt: skip
        record = simulate(
            ConstraintSet(robot, both),
            robot.neutral,
            np.zeros(6),
            0.01,
            0.005,
            options=SimulationOptions(correction="baumgarte"),
        )
        assert record.status is status


def test_singular_mass_is_a_status() -> None:
    """Item 8: a body without mass that nothing holds has no acceleration."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    robot = Robot(model)
    record = simulate(ConstraintSet(robot, []), [0.0], [1.0], 1.0, 0.1)
    assert (record.status, record.dynamics) == (MotionStatus.NO_ACCELERATION, (DynamicsStatus.SINGULAR_SYSTEM,))


def test_overflow_is_a_status() -> None:
    """Item 8: forces that grow without bound."""
    robot = body()
    record = simulate(
        ConstraintSet(robot, []), robot.neutral, np.ones(6), 5.0, 0.05, forces=lambda motion, t: 1e3 * motion.v**3
    )
    assert record.status is MotionStatus.NOT_FINITE
    assert np.isfinite(record.qs).all()
    assert 0 < len(record.times) < 100


# The start.


def test_open_start_is_refused_or_asked_for() -> None:
    """Item 8: energy is a result of closed states only: refused, closed first, or marked by numbers that are none."""
    rows, q = falling_bars()
    opened = q + np.array([0.05, 0.0, 0.0, 0.0])
    with pytest.raises(OpenMechanismError, match=r"'pin' is off by .* in position; close it") as caught:
        simulate(rows, opened, np.zeros(4), 0.1, 0.01)
    assert caught.value.worst == "pin"
    assert caught.value.residual == pytest.approx(np.linalg.norm(rows.position_error(opened)))
    with pytest.raises(OpenMechanismError, match=r"'pin' is off by .* in velocity; close it"):
        simulate(rows, q, [1.0, 0.0, 0.0, 0.0], 0.1, 0.01)
    closed = simulate(rows, opened, np.zeros(4), 0.05, 0.01, options=SimulationOptions(open_start=True)).or_raise()
    assert closed.position_drift[0] <= 1e-10
    assert np.isfinite(closed.energy).all()
    stabilised = rows.stabilised(0.02)
    settles = simulate(
        stabilised, opened, np.zeros(4), 0.4, 0.002, options=SimulationOptions(correction="baumgarte", open_start=True)
    ).or_raise()
    np.testing.assert_array_equal(settles.qs[0], opened)
    assert np.isnan(settles.energy[0])
    assert np.isfinite(settles.energy[-1])
    assert settles.position_drift[-1] < 1e-4 < settles.position_drift[0]
    assert f"open at {np.isnan(settles.energy).sum()} of 201 states" in settles.describe()


def test_start_that_cannot_be_closed_is_a_status() -> None:
    rows, q, v = arm_that_is_pulled(1.0)
    record = simulate(
        rows, q, v, 1.0, 0.01, options=SimulationOptions(start=5.0, open_start=True)
    )  # the target is at 6 m then
    assert record.status is MotionStatus.NOT_PROJECTED
    assert len(record.times) == 1
    assert np.isnan(record.energy[0])
    assert "energy: none" in record.describe()


def test_rates_that_cannot_be_met_are_a_status() -> None:
    """Item 8: one point at rest that is asked to move, too: no velocity does both."""
    robot = body()
    still = PointContact(robot, "base", name="still")
    away = Target(lambda t: [t, 0.0, 0.0], lambda t: [1.0, 0.0, 0.0], lambda t: [0.0, 0.0, 0.0])
    rows = ConstraintSet(robot, [still, PointContact(robot, "base", target=away, name="moves")])
    record = simulate(rows, robot.neutral, np.zeros(6), 1.0, 0.1, options=SimulationOptions(open_start=True))
    assert record.status is MotionStatus.NOT_PROJECTED
    assert "its rate by 0.5" in record.reason


# The record and its arguments.


def test_record_has_the_steps_asked_for() -> None:
    robot = body()
    record = simulate(
        ConstraintSet(robot, []), robot.neutral, np.ones(6), 0.95, 0.1, options=SimulationOptions(every=3, start=2.0)
    )
    np.testing.assert_allclose(record.times, [2.0, 2.3, 2.6, 2.9, 2.95])
    assert (record.qs.shape, record.vs.shape) == ((5, 7), (5, 6))
    assert record.accelerations.shape == (5, 6)
    assert record.multipliers.shape == (5, 0)
    assert record.status is MotionStatus.FINISHED
    assert record.or_raise() is record
    assert repr(record) == "MotionRecord(FINISHED, 5 states to 2.95 s)"
    with pytest.raises(TruthValueError, match="success"):
        bool(record)


def test_energy_counts_the_springs() -> None:
    """Stumble 3: a body on a spring seemed to lose its energy, because the spring's own was left out.

    It swings about a fixed axis as a harmonic oscillator: potential energy k x^2 / 2 of the spring, from x = 0.
    """
    robot = one_body(pin.JointModelRZ(), point(1.0, 0.5), "swing", gravity=0.0)
    rows, spring = ConstraintSet(robot, []), JointSpring(robot, "swing", 2.0)
    record = simulate(rows, [0.0], [1.0], 1.0, 0.01, forces=Forces(robot, [spring])).or_raise()
    np.testing.assert_allclose(np.asarray(record.force_energy), 0.25 * np.sin(2.0 * record.times) ** 2, atol=1e-8)
    np.testing.assert_allclose(record.energy, 0.25 * np.cos(2.0 * record.times) ** 2, atol=1e-8)
    assert record.energy_drift < 1e-8
    assert "energy, with that of the forces: within" in record.describe()
    push = JointLaw(robot, "swing", lambda q, v: -2.0 * q)
    for forces in (Forces(robot, [spring, push]), lambda motion, t: -2.0 * motion.q):
        other = simulate(rows, [0.0], [1.0], 0.5, 0.01, forces=forces)
        assert other.force_energy is None
        assert "energy of bodies and gravity: within" in other.describe()
        assert "(other forces do work: add `forces.energy(q)`)" in other.describe()
    free = simulate(rows, [0.0], [1.0], 0.5, 0.1)
    np.testing.assert_array_equal(free.force_energy, np.zeros(6))
    assert "  energy: within" in free.describe()


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, seen = body(), []
    rows = ConstraintSet(robot, [])
    simulate(
        rows,
        robot.neutral,
        np.ones(6),
        1.0,
        0.25,
        options=SimulationOptions(progress=lambda done, total: seen.append((done, total))),
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    pytest.importorskip("tqdm")
    simulate(rows, robot.neutral, np.ones(6), 1.0, 0.25, options=SimulationOptions(progress=True))
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(MissingExtraError, match="tqdm"):
        simulate(rows, robot.neutral, np.ones(6), 1.0, 0.25, options=SimulationOptions(progress=True))


@pytest.mark.parametrize(
    ("error", "said", "changes"),
    [
        (OptionError, "positive number", {"step": 0.0}),
        (OptionError, "positive number", {"duration": -1.0}),
        (OptionError, "duration", {"duration": "long"}),
        (SizeError, "q", {"q0": [0.0]}),
        (SizeError, "velocity", {"v0": [0.0]}),
        (NotFiniteError, "velocity", {"v0": [np.nan] * 6}),
        (WrongObjectError, "forces", {"forces": np.zeros(6)}),
        (SizeError, "tau", {"forces": lambda motion, t: np.zeros(5)}),
        (UnknownNameError, "RK4", {"scheme": "rk5"}),
        (UnknownNameError, "PROJECTION", {"correction": "project"}),
        (UnknownNameError, "method", {"method": "best"}),
        (OptionError, "every", {"every": 0}),
        (OptionError, "tolerance", {"tolerance": 0.0}),
        (WrongObjectError, "event 0", {"events": [3]}),
        (WrongObjectError, "ConstraintSet", {"constraint_set": "set"}),
        (UnknownNameError, "forces=", {"tau": np.zeros(6)}),
    ],
)
def test_wrong_arguments_are_named(error: type[Exception], said: str, changes: dict[str, Any]) -> None:
    robot = body()
    given: dict[str, Any] = {
        **{"constraint_set": ConstraintSet(robot, []), "q0": robot.neutral, "v0": np.zeros(6)},
        **{"duration": 1.0, "step": 0.1, **changes},
    }
    with pytest.raises(error, match=said) as caught:
        simulate(**with_records(given, options=SimulationOptions))
    assert isinstance(caught.value, ConstraintError)


def test_implicit_constraints_and_stabilisations_take_part() -> None:
    """Item 8: rows of one's own: a body whose origin stays on a plane."""
    robot = body(gravity=9.81)
    plane = Implicit.equal(Position(robot, "base"), name="plane", mask=[False, False, True])
    rows = ConstraintSet(robot, [plane], {"plane": Baumgarte.settling(0.1)})
    record = simulate(rows, robot.neutral, np.array([1.0, 0.0, 0.0, 0.0, 0.0, 2.0]), 0.5, 0.01).or_raise()
    np.testing.assert_allclose(record.qs[:, 2], 0.0, atol=1e-10)
    np.testing.assert_allclose(record.q[:2], [0.5, 0.0], atol=1e-8)
    np.testing.assert_allclose(record.multipliers[:, 0], 2.0 * 9.81, rtol=1e-9)


def test_a_step_longer_than_the_duration_is_refused() -> None:
    """Step and duration swapped gave one step of the duration, without a word."""
    robot = Robot(pin.buildSampleModelManipulator())
    with pytest.raises(OptionError, match=r"step of a motion: expected at most its duration of 0\.001 s, got 1 s"):
        simulate(ConstraintSet(robot, []), robot.neutral, np.zeros(robot.nv), 0.001, 1.0)
    assert simulate(ConstraintSet(robot, []), robot.neutral, np.zeros(robot.nv), 0.3, 0.1 + 0.2).success


def test_baumgarte_without_gains_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """By the names of the constraints that drift; not of those that are off, nor where projection keeps them."""
    mechanism = mechanisms.five_bar()
    loops, q = mechanism.constraint_set(), mechanism.posture("closed")
    (name,) = loops.names
    quiet = (loops.stabilised(0.1), "baumgarte"), (loops.switched(off=[0]), "baumgarte"), (loops, "projection")
    for rows, correction in quiet:
        simulate(rows, q, np.zeros(4), 0.01, 0.01, options=SimulationOptions(correction=correction))
    assert not caplog.records
    simulate(loops, q, np.zeros(4), 0.01, 0.01, options=SimulationOptions(correction="baumgarte"))
    (record,) = caplog.records
    assert f"no gains for {name}, which will drift" in record.getMessage()

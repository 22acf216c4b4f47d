"""Inverse dynamics with constraints: truth from plain pinocchio, from dense least squares, and from RBDL's results."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import scipy.linalg
from dynamics.test_forces import Cut
from each_choice import a_few
from linkages import KEPT, arm_and_body, moving, upright
from loops.test_hinges import HINGES
from rbdl_models import linkage, model_of, set_of
from samples import placement

from constraints import Affine, Frame, Implicit, Robot, Target, errors, loops
from constraints.dynamics import (
    DynamicsStatus,
    ExternalForce,
    HingeForce,
    HingeMaps,
    InverseDynamics,
    forward_dynamics,
    inverse_dynamics,
)
from constraints.dynamics.methods.least_deviation import solve_inverse
from constraints.models import mechanisms, sample_humanoid, sample_two_arms
from liegroups import Segments

DATA = Path(__file__).parent.parent / "data" / "rbdl_inverse.json"


@functools.cache
def stored() -> Any:
    return json.loads(DATA.read_text())["models"]


@functools.cache
def rows_of(name: str) -> loops.ConstraintSet:
    """The model of one file of RBDL's results, with its rows."""
    if name != "humanoid_4contacts":
        return set_of(name)
    d = stored()[name]["model"]
    robot = Robot(model_of(d), name)
    owners: list[loops.PointContact] = []
    for i, row in enumerate(d["constraint_rows"]):
        point = pin.SE3(np.eye(3), np.array(row["point"], dtype=float))
        at = Frame(row["name"], row["body"] + 1, point, robot.joint_names[row["body"]])
        owners.append(loops.PointContact(robot, at, row["normal_world"], name=f"{row['name']} {i}"))
    return loops.ConstraintSet(robot, owners)


def columns(actuated: Any) -> np.ndarray:
    return np.eye(len(actuated))[:, np.array(actuated, dtype=bool)]


def on_rows(rows: loops.ConstraintSet, motion: Any, seed: int) -> np.ndarray:
    """A random acceleration that the rows allow."""
    J, drift = rows.jacobian(motion.q), rows.drift(motion.q, motion.v)
    a = np.random.default_rng(seed).standard_normal(rows.robot.nv)
    return a - np.linalg.pinv(J, 1e-8) @ (J @ a + drift)


def plain(rows: loops.ConstraintSet, motion: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias force by plain pinocchio."""
    model: Any = rows.robot.model
    data = model.createData()
    M = np.array(pin.crba(model, data, motion.q))
    return np.triu(M) + np.triu(M, 1).T, np.array(pin.rnea(model, data, motion.q, motion.v, np.zeros(model.nv)))


def residuals(rows: loops.ConstraintSet, motion: Any, B: np.ndarray, found: InverseDynamics) -> tuple[float, float]:
    """How far (a, u, lambda) are from both equations."""
    M, h = plain(rows, motion)
    J, drift = rows.jacobian(motion.q), rows.drift(motion.q, motion.v)
    a = found.acceleration
    return (
        float(np.abs(M @ a + h - B @ found.effort - J.T @ found.multipliers).max()),
        float(np.abs(J @ a + drift).max(initial=0.0)),
    )


# Exact: actuation that is full on the manifold.


@pytest.mark.parametrize("name", ["fivebar_planar", "fourbar_planar", "double_pendulum_absolute"])
def test_rbdls_exact_results_are_ours(name: str) -> None:
    """RBDL 18: the forces of `InverseDynamicsConstraints`, of the stored results; forward dynamics gives qdd back."""
    rows = rows_of(name)
    for s in stored()[name]["states"]:
        motion, wanted = rows.robot.at(s["q_inplace"], s["qdot"]), np.array(s["qdd_desired"])
        found = inverse_dynamics(rows, motion, wanted, actuation=columns(s["actuated"]))
        assert found.success
        assert found.is_fully_actuated
        assert found.is_fully_actuated == s["fully_actuated"]
        assert found.surplus == 0
        size = 1.0 + np.abs(wanted).max()
        assert np.abs(found.deviation).max() < 1e-10 * size
        assert np.abs(found.tau - s["exact"]["tau"]).max() < 1e-10 * (1.0 + np.abs(found.tau).max())
        back = forward_dynamics(rows, motion, found.tau).or_raise()
        assert np.abs(back.acceleration - wanted).max() < 1e-10 * size
        if name != "double_pendulum_absolute":  # there RBDL mixes angular and linear rows
            assert np.abs(found.multipliers - s["exact"]["force"]).max() < 1e-10 * size


def test_the_humanoid_on_four_contacts() -> None:
    """RBDL 18: 19 joints for 15 motions: the same acceleration as RBDL's forces give, by forces of least norm."""
    name = "humanoid_4contacts"
    rows = rows_of(name)
    for s in stored()[name]["states"]:
        motion, wanted = rows.robot.at(s["q_inplace"], s["qdot"]), np.array(s["qdd_desired"])
        B = columns(s["actuated"])
        found = inverse_dynamics(rows, motion, wanted, actuation=B).or_raise()
        assert found.is_fully_actuated
        assert found.surplus == 4
        assert np.abs(found.deviation).max() < 1e-10 * (1.0 + np.abs(wanted).max())
        theirs = np.array(s["exact"]["tau"])
        for tau in (found.tau, theirs):
            back = forward_dynamics(rows, motion, tau).or_raise().acceleration
            assert np.abs(back - wanted).max() < 1e-10 * (1.0 + np.abs(wanted).max())
        assert np.linalg.norm(found.effort) < np.linalg.norm(theirs)
        N = scipy.linalg.null_space(rows.jacobian(motion.q))  # least norm: u in the row space of N^T B
        assert np.abs(scipy.linalg.null_space(N.T @ B).T @ found.effort).max() < 1e-9
        assert max(residuals(rows, motion, B, found)) < 1e-9
        units = np.where(np.arange(19) % 2, 1.0, 1e-4)  # half of them in other units
        assert inverse_dynamics(rows, motion, wanted, actuation=B * units).or_raise().is_fully_actuated


def test_own_matrices_with_the_rows_of_rbdl() -> None:
    """RBDL 18: on the slider crank, whose rows RBDL differentiates wrongly, its own H, C, G, gamma give its forces."""
    for s in stored()["slidercrank3d"]["states"]:
        H, C, G, gamma = (np.array(s[k]) for k in ("H", "C", "G", "gamma"))
        B, wanted = columns(s["actuated"]), np.array(s["qdd_desired"])
        found = solve_inverse(H, G, -C, gamma, B, wanted)
        assert found.solution.status is DynamicsStatus.SOLVED
        assert not found.unactuated.shape[1]
        assert np.abs(found.solution.acceleration - wanted).max() < 1e-10 * (1.0 + np.abs(wanted).max())
        assert np.abs(B @ found.effort - s["exact"]["tau"]).max() < 1e-9 * (1.0 + np.abs(s["exact"]["tau"]).max())
        force = np.array(s["exact"]["force"])
        assert np.abs(found.solution.multipliers - force).max() < 1e-9 * (1.0 + np.abs(force).max())


@pytest.mark.parametrize(
    "name", ["fivebar_planar", "fourbar_planar", "slidercrank3d", "double_pendulum_absolute", "humanoid_4contacts"]
)
def test_feasible_targets_are_met_exactly_where_the_relaxed_ones_of_rbdl_are_missed(name: str) -> None:
    """RBDL 18: RBDL's relaxed variant misses targets that can be met by 0.01 to 3.8; ours has no such variant."""
    rows = rows_of(name)
    for s in stored()[name]["states"]:
        missed = np.linalg.norm(np.array(s["relaxed"]["qdd"]) - s["qdd_desired"])
        assert missed > 0.01
        motion = rows.robot.at(s["q_inplace"], s["qdot"])
        wanted = on_rows(rows, motion, 3) if name == "slidercrank3d" else np.array(s["qdd_desired"])
        found = inverse_dynamics(rows, motion, wanted, actuation=columns(s["actuated"])).or_raise()
        assert np.linalg.norm(found.deviation) < 1e-10 * (1.0 + np.linalg.norm(wanted))


def test_without_constraints_it_is_plain_inverse_dynamics() -> None:
    """RBDL 18: an arm with no rows and all joints actuated: `pinocchio.rnea`."""
    robot = sample_two_arms()
    rng = np.random.default_rng(2)
    q, v, a = robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    found = inverse_dynamics(loops.ConstraintSet(robot, []), robot.at(q, v), a, actuated=robot.joint_names).or_raise()
    truth = pin.rnea(robot.model, robot.model.createData(), q, v, a)
    assert found.is_fully_actuated
    assert np.abs(found.tau - truth).max() < 1e-11 * (1.0 + np.abs(truth).max())


@pytest.mark.parametrize("seed", range(5))
def test_round_trip_through_forward_dynamics(seed: int) -> None:
    """RBDL 18, Robotran 8: tau to acceleration to the same tau, with forces from outside and others of the joints."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed, seed)
    rng = np.random.default_rng(seed)
    motors = ("left_inner", "right_inner")
    B = np.eye(4)[:, [0, 2]]
    u, passive = 5.0 * rng.standard_normal(2), rng.standard_normal(4)
    cut: Any = rows["cut"]
    outside = [ExternalForce("right_outer_end", rng.standard_normal(6)), HingeForce(cut, 0.7)]
    there = forward_dynamics(rows, motion, B @ u + passive, external=outside).or_raise()
    found = inverse_dynamics(rows, motion, there.acceleration, actuated=motors, tau=passive, external=outside)
    assert found.success
    assert found.is_fully_actuated
    assert np.abs(found.effort - u).max() < 1e-10 * (1.0 + np.abs(u).max())
    assert np.abs(found.effort_of("right_inner") - u[1:]).max() < 1e-10 * (1.0 + np.abs(u).max())
    assert np.abs(found.multipliers - there.multipliers).max() < 1e-9 * (1.0 + np.abs(there.multipliers).max())


def test_a_humanoid_standing_on_surfaces() -> None:
    """RBDL 18: round trip of a floating base on two 6D contacts, the base without actuator."""
    robot = sample_humanoid()
    rows = loops.ConstraintSet(robot, [loops.SurfaceContact(robot, f"{side}leg_effector_body") for side in "lr"])
    rng = np.random.default_rng(4)
    q = robot.random(rng)
    J = rows.jacobian(q)
    v = rng.standard_normal(robot.nv)
    v -= np.linalg.pinv(J) @ (J @ v)
    motion = robot.at(q, v)
    joints = [factor.name for factor in robot.space.factors[1:]]
    wanted = on_rows(rows, motion, 5)
    found = inverse_dynamics(rows, motion, wanted, actuated=joints).or_raise()
    assert found.is_fully_actuated
    assert np.abs(found.tau[:6]).max() == 0.0
    size = 1.0 + np.abs(wanted).max()
    assert np.abs(found.deviation).max() < 1e-10 * size
    assert np.abs(forward_dynamics(rows, motion, found.tau).or_raise().acceleration - wanted).max() < 1e-8 * size


def test_gravity_compensation_is_the_slope_of_the_potential() -> None:
    """RBDL 18: a four-bar held at rest: the crank's torque is dV/dq along the closed curve, by differences."""
    rows, closed = upright("four_bar")
    model: Any = rows.robot.model

    def potential(angle: float) -> float:
        start = np.array(closed)
        start[0] = angle
        exact = loops.AssemblyOptions(tolerance=1e-13)
        found = loops.assemble_position(rows, start, driven=["crank"], options=exact).or_raise()
        return float(pin.computePotentialEnergy(model, model.createData(), found.q))

    rest = rows.robot.at(closed, np.zeros(3))
    found = inverse_dynamics(rows, rest, np.zeros(3), actuated=["crank"]).or_raise()
    step = 1e-4
    slope = (potential(closed[0] + step) - potential(closed[0] - step)) / (2.0 * step)
    assert abs(slope) > 0.1
    assert found.effort_of("crank")[0] == pytest.approx(slope, rel=1e-6)
    other = inverse_dynamics(rows, rest, np.zeros(3), actuated=["rocker"]).or_raise()
    cut: Any = rows["cut"]
    B = HingeMaps(cut).rates(closed)
    third = inverse_dynamics(rows, rest, np.zeros(3), actuated=["cut"]).or_raise()
    v = loops.assemble_velocity(rows, closed, np.ones(3))
    power = [float(found.tau @ v), float(other.tau @ v), float(third.effort @ (B @ v))]
    assert power == pytest.approx([power[0]] * 3, rel=1e-9)


# Too many, too few.


def test_more_actuators_than_motions_share_by_least_norm() -> None:
    """Robotran 8: over-actuation: the least norm by the pseudo-inverse, equations met, the result says so."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    wanted = on_rows(rows, motion, 1)
    found = inverse_dynamics(rows, motion, wanted, actuated=rows.robot.joint_names).or_raise()
    M, h = plain(rows, motion)
    N = scipy.linalg.null_space(rows.jacobian(closed), rcond=1e-8)
    truth = np.linalg.pinv(N.T) @ N.T @ (M @ wanted + h)
    assert found.surplus == 2
    assert np.abs(found.effort - truth).max() < 1e-10 * (1.0 + np.abs(truth).max())
    assert max(residuals(rows, motion, np.eye(4), found)) < 1e-10
    assert "2 more than needed" in found.describe()


def nearest_by_least_squares(
    M: np.ndarray, h: np.ndarray, J: np.ndarray, gamma: np.ndarray, B: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """The acceleration nearest to a target in the metric of M, over all u: dense, by the saddle point for each u."""
    n, k = len(h), len(gamma)
    K = np.block([[M, -J.T], [J, np.zeros((k, k))]])
    pseudo = np.linalg.pinv(K, 1e-11)
    start = (pseudo @ np.concatenate([-h, gamma]))[:n]
    slope = (pseudo @ np.vstack([B, np.zeros((k, B.shape[1]))]))[:n]
    L = np.linalg.cholesky(M)
    return start + slope @ np.linalg.lstsq(L.T @ slope, L.T @ (wanted - start), rcond=1e-11)[0]


@pytest.mark.parametrize("seed", range(4))
def test_too_few_actuators_give_the_nearest_acceleration_and_say_so(seed: int) -> None:
    """RBDL 18: under-actuated: the least-squares optimum in the metric of M, with its deviation, no success."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed, seed)
    wanted = on_rows(rows, motion, 10 + seed)
    B = np.random.default_rng(seed).standard_normal((4, 1))
    M, h = plain(rows, motion)
    J, drift = rows.jacobian(closed), rows.drift(motion.q, motion.v)
    truth = nearest_by_least_squares(M, h, J, -drift, B, wanted)
    found = inverse_dynamics(rows, motion, wanted, actuation=B)
    assert found.status is DynamicsStatus.UNDERACTUATED
    assert not found.success
    assert not found.is_fully_actuated
    assert found.unactuated
    size = 1.0 + np.abs(truth).max()
    assert np.abs(found.acceleration - truth).max() < 1e-9 * size
    assert np.abs(found.deviation - (truth - wanted)).max() < 1e-9 * size
    assert found.distance == pytest.approx(float(np.sqrt(found.deviation @ M @ found.deviation)))
    assert np.abs(found.nearest - wanted).max() < 1e-9 * size
    assert max(residuals(rows, motion, B, found)) < 1e-9 * size
    back = forward_dynamics(rows, motion, found.tau).or_raise()
    assert np.abs(back.acceleration - found.acceleration).max() < 1e-9 * size
    with pytest.raises(errors.FailedError, match="without actuator") as error:
        found.or_raise()
    assert error.value.result is found
    with pytest.raises(errors.TruthValueError):
        bool(found)


def test_what_too_few_actuators_can_give_is_met_exactly() -> None:
    """RBDL 18: a feasible target of an under-actuated robot is met to 1e-10, and its forces are those that made it."""
    robot = sample_humanoid()
    joints = [factor.name for factor in robot.space.factors[1:]]
    rng = np.random.default_rng(6)
    motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
    free, nv = loops.ConstraintSet(robot, []), robot.nv
    tau = np.concatenate([np.zeros(6), 10.0 * rng.standard_normal(nv - 6)])
    wanted = np.array(pin.aba(robot.model, robot.model.createData(), motion.q, motion.v, tau))
    found = inverse_dynamics(free, motion, wanted, actuated=joints)
    assert found.success
    assert not found.is_fully_actuated
    size = 1.0 + np.linalg.norm(wanted)
    assert np.linalg.norm(found.deviation) < 1e-10 * size
    assert np.abs(found.tau - tau).max() < 1e-9 * size


def test_a_target_that_contradicts_the_rows_is_projected() -> None:
    """RBDL 18: of a target off the rows the nearest on them is taken; the deviation and the status say so."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    wanted = np.array([1.0, 2.0, 3.0, 4.0])
    found = inverse_dynamics(rows, motion, wanted, actuated=rows.robot.joint_names)
    assert found.status is DynamicsStatus.OFF_CONSTRAINTS
    assert not found.success
    M, _ = plain(rows, motion)
    J, drift = rows.jacobian(closed), rows.drift(motion.q, motion.v)
    inverse = np.linalg.inv(M)
    nearest = wanted - inverse @ J.T @ np.linalg.pinv(J @ inverse @ J.T, 1e-10) @ (J @ wanted + drift)
    assert np.abs(found.acceleration - nearest).max() < 1e-9 * (1.0 + np.abs(nearest).max())
    assert np.abs(found.nearest - nearest).max() < 1e-9 * (1.0 + np.abs(nearest).max())
    assert max(residuals(rows, motion, np.eye(4), found)) < 1e-9
    assert "contradicts the constraints" in found.describe()


def test_a_target_by_joint_is_completed_by_the_rows() -> None:
    """Robotran 8: accelerations of the motors alone; the other joints follow from the rows."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    motors = ["left_inner", "right_inner"]
    found = inverse_dynamics(rows, motion, {"left_inner": 1.5, "right_inner": [-0.5]}, actuated=motors).or_raise()
    J, drift = rows.jacobian(closed), rows.drift(motion.q, motion.v)
    rest = np.linalg.lstsq(J[:, [1, 3]], -drift - J[:, [0, 2]] @ [1.5, -0.5], rcond=1e-9)[0]
    assert np.abs(found.acceleration - [1.5, rest[0], -0.5, rest[1]]).max() < 1e-9 * (1.0 + np.abs(rest).max())
    one = inverse_dynamics(rows, motion, {"left_inner": 1.5}, actuated=motors).or_raise()
    assert one.acceleration[0] == pytest.approx(1.5)
    N = scipy.linalg.null_space(np.vstack([J, [1.0, 0.0, 0.0, 0.0]]), rcond=1e-8)
    assert np.abs(N.T @ one.acceleration).max() < 1e-10  # the rest is as small as can be
    four = dict(zip(rows.robot.joint_names, (1.0, 2.0, 3.0, 4.0), strict=True))
    against = inverse_dynamics(rows, motion, {k: four[k] for k in list(four)[:3]}, actuated=rows.robot.joint_names)
    assert against.status is DynamicsStatus.OFF_CONSTRAINTS
    assert against.target[:3] == pytest.approx([1.0, 2.0, 3.0])
    with pytest.raises(errors.UnknownJointError, match="left_inner"):
        inverse_dynamics(rows, motion, {"left_iner": 1.0}, actuated=motors)


# Cut hinges.


@pytest.mark.parametrize("name", HINGES)
def test_actuated_closures_have_the_force_of_the_joint(name: str) -> None:
    """Karana: T at each cut hinge is what `pinocchio.rnea` gives the joint of the tree in its place, of every hinge."""
    cut, old = Cut(name), arm_and_body()
    closure, joint, rows, motion = cut.closure, cut.joint, cut.rows, cut.motion
    wanted = on_rows(rows, motion, 8)
    model: Any = joint.robot.model
    a = np.zeros(model.nv)
    for kept in KEPT:
        a[joint.robot.velocity_slice_of(kept)] = wanted[old.velocity_slice_of(kept)]
    if joint.joint is not None:
        a[joint.robot.velocity_slice_of("loop")] = closure.hinge_motion(cut.q, cut.v, wanted).accelerations
    truth = np.array(pin.rnea(model, model.createData(), cut.after, cut.rates, a))
    found = inverse_dynamics(rows, motion, wanted, actuated=[*KEPT, closure]).or_raise()
    assert found.is_fully_actuated
    assert found.surplus == 0
    size = 1.0 + np.abs(truth).max()
    for kept in KEPT:
        assert np.abs(found.effort_of(kept) - truth[joint.robot.velocity_slice_of(kept)]).max() < 1e-8 * size
    if joint.joint is not None:
        T = truth[joint.robot.velocity_slice_of("loop")]
        assert np.abs(found.effort_of(closure) - T).max() < 1e-8 * size
        assert np.abs(found.effort_of("loop") - T).max() < 1e-8 * size
        assert np.abs(found.hinge_force("loop") - T).max() < 1e-8 * size
    else:
        assert found.hinge_force("loop").size == 0


def test_ideal_closures_carry_no_force_along_their_hinge() -> None:
    """Karana: T recovered by the motion subspace is zero where nothing drives the cut hinge, and its T where it is."""
    rows, closed = upright("four_bar")
    motion = moving(rows, closed)
    wanted = on_rows(rows, motion, 1)
    ideal = inverse_dynamics(rows, motion, wanted, actuated=["crank"]).or_raise()
    assert np.abs(ideal.wrench("cut")).max() > 0.1
    assert np.abs(ideal.hinge_force("cut")).max() < 1e-11 * np.abs(ideal.wrench("cut")).max()
    driven = inverse_dynamics(rows, motion, wanted, actuated=["cut"]).or_raise()
    assert driven.is_fully_actuated
    assert driven.hinge_force("cut") == pytest.approx(driven.effort_of("cut"), rel=1e-10)
    cut: Any = rows["cut"]
    given = HingeForce(cut, driven.effort)
    back = forward_dynamics(rows, motion, external=[given]).or_raise()
    assert np.abs(back.acceleration - wanted).max() < 1e-9 * (1.0 + np.abs(wanted).max())
    tip = loops.ConstraintSet(rows.robot, [loops.PointContact(rows.robot, "coupler_end", [0.0, 1.0, 0.0], name="tip")])
    touching = inverse_dynamics(tip, motion, wanted, actuated=rows.robot.joint_names)
    with pytest.raises(errors.WrongObjectError, match="constraint with a hinge"):
        touching.hinge_force("tip")


# Ranks, singular inertias, targets of rows.


def test_redundant_rows_are_no_failure() -> None:
    """RBDL 14, 18: a five-bar closed by a pin and by a weld's worth of points: least-norm multipliers, rows named."""
    plane, closed = upright("five_bar")
    cut: Any = plane["cut"]
    again = [loops.PointClosure(plane.robot, cut.predecessor, cut.successor, name=name) for name in ("one", "two")]
    rows = loops.ConstraintSet(plane.robot, again)
    motion = moving(rows, closed)
    found = inverse_dynamics(rows, motion, on_rows(rows, motion, 2), actuated=["left_inner", "right_inner"])
    assert found.status is DynamicsStatus.RANK_DEFICIENT
    assert found.success
    assert found.is_fully_actuated
    assert found.rank == 2
    assert len(found.redundant_rows) == 4  # two rows twice, and two across the plane
    J = rows.jacobian(closed)
    assert np.abs(scipy.linalg.null_space(J.T, rcond=1e-8).T @ found.multipliers).max() < 1e-10
    alone = inverse_dynamics(plane, motion, found.target, actuated=["left_inner", "right_inner"]).or_raise()
    assert alone.effort == pytest.approx(found.effort, rel=1e-9)
    assert alone.wrench("cut") == pytest.approx(found.wrench("one") + found.wrench("two"), abs=1e-9)


def test_bodies_without_mass() -> None:
    """RBDL 15, 18: the massless leaf of RBDL's linkage: solved where the rows or an actuator hold it, else said."""
    rows = linkage()
    robot = rows.robot
    start, exact = np.pi * np.array([0.75, -0.5, 0.25, 0.5, -0.5]), loops.AssemblyOptions(tolerance=1e-13)
    q = loops.assemble_position(rows, start, options=exact).or_raise().q
    motion = moving(rows, q)
    wanted = on_rows(rows, motion, 1)
    held = inverse_dynamics(rows, motion, wanted, actuated=["j0", "j2"]).or_raise()
    back = forward_dynamics(rows, motion, held.tau).or_raise()
    assert np.abs(back.acceleration - wanted).max() < 1e-8 * (1.0 + np.abs(wanted).max())
    free = loops.ConstraintSet(robot, [])
    swinging = robot.at(q, motion.v)
    target = np.arange(1.0, 6.0)
    driven = inverse_dynamics(free, swinging, target, actuated=robot.joint_names).or_raise()
    assert driven.tau == pytest.approx(np.array(pin.rnea(robot.model, robot.model.createData(), q, motion.v, target)))
    sliding = loops.ConstraintSet(robot, [loops.PointContact(robot, "j1", [0.0, 1.0, 0.0], name="slide")])
    off = inverse_dynamics(sliding, swinging, target, actuated=robot.joint_names)
    assert off.status is DynamicsStatus.OFF_CONSTRAINTS
    M, _ = plain(sliding, swinging)
    pull = scipy.linalg.null_space(sliding.jacobian(q)).T @ M @ off.deviation
    assert np.abs(pull).max() < 1e-10 * (1.0 + np.abs(off.deviation).max())
    loose = inverse_dynamics(free, swinging, target, actuated=["j0", "j1", "j2", "j3"])
    assert loose.status is DynamicsStatus.SINGULAR_SYSTEM
    assert not loose.success
    assert not np.any(loose.acceleration)


def test_rows_that_contradict_each_other() -> None:
    """RBDL 18: two contacts that ask one point for two accelerations: no success, the equation of motion holds."""
    robot = sample_two_arms()
    rng = np.random.default_rng(1)
    motion = robot.at(robot.random(rng), np.zeros(robot.nv))
    up = [0.0, 0.0, 1.0]
    rows = loops.ConstraintSet(robot, [loops.PointContact(robot, "left_tool", up, name=name) for name in ("a", "b")])
    asked = {"actuated": robot.joint_names, "row_acceleration": [1.0, 2.0]}
    found = inverse_dynamics(rows, motion, np.zeros(robot.nv), **asked)
    assert found.status is DynamicsStatus.INCONSISTENT
    assert not found.success
    assert rows.jacobian(motion.q) @ found.acceleration == pytest.approx([1.5, 1.5])
    met = inverse_dynamics(rows, motion, found.acceleration, actuated=robot.joint_names, row_acceleration=[1.5, 1.5])
    assert met.success
    assert met.undetermined_rows == ("a[0]", "b[0]")


def test_driven_joints_as_rows_with_a_target() -> None:
    """Robotran 8: a driven joint is a row with a target in time; its multiplier is the force that drives it."""
    linkage, closed = upright("five_bar")
    robot = linkage.robot
    follow = Target(lambda t: [closed[0] + 0.3 * t + 0.4 * t * t], lambda t: [0.3 + 0.8 * t], lambda t: [0.8])
    angle = Affine(np.eye(4)[:1], inputs=robot.space)
    drive = Implicit.equal(angle, follow, name="drive")
    rows = loops.ConstraintSet(robot, [*linkage.stack, drive])
    motion = robot.at(closed, loops.assemble_velocity(rows, closed, np.ones(4), rhs=rows.rhs_at(0.0)))
    found = inverse_dynamics(
        rows, motion, {"right_inner": -1.0}, actuated=["right_inner"], rhs=rows.rhs_at(0.0)
    ).or_raise()
    assert found.acceleration[[0, 2]] == pytest.approx([0.8, -1.0])
    both = inverse_dynamics(linkage, motion, found.acceleration, actuated=["left_inner", "right_inner"]).or_raise()
    assert both.effort == pytest.approx([found.multipliers_of("drive")[0], found.effort[0]], rel=1e-9)


def test_rows_that_are_off_have_no_force() -> None:
    """RBDL 19: switched rows: an open chain is an open chain."""
    rows, closed = upright("five_bar")
    robot = rows.robot
    v = np.array([1.0, -2.0, 0.5, 1.0])
    a = np.array([0.1, 0.2, 0.3, 0.4])
    off = rows.switched(off=["cut"])
    found = inverse_dynamics(off, robot.at(closed, v), a, actuated=robot.joint_names).or_raise()
    assert not found.multipliers.any()
    assert found.tau == pytest.approx(np.array(pin.rnea(robot.model, robot.model.createData(), closed, v, a)))


# Bad input.


def test_what_is_actuated_can_be_said_in_several_ways() -> None:
    """Names, Segments, closures, a matrix: one answer; and its parts by name."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    wanted = on_rows(rows, motion, 4)
    block = rows.robot.segments("left_inner", "right_inner")
    ways: list[dict[str, Any]] = [
        {"actuated": ["left_inner", "right_inner"]},
        {"actuated": block},
        {"actuated": [block]},
        {"actuated": [Segments.coordinates(rows.robot.space, [0]), "right_inner"]},
        {"actuation": np.eye(4)[:, [0, 2]].tolist()},
    ]
    efforts = [inverse_dynamics(rows, motion, wanted, **way).or_raise().effort for way in ways]
    assert all((effort == efforts[0]).all() for effort in efforts)
    assert inverse_dynamics(rows, motion, wanted, **ways[3]).actuators.names == ("left_inner", "right_inner")
    with pytest.raises(errors.UnknownNameError, match="right_outer"):
        inverse_dynamics(rows, motion, wanted, **ways[0]).effort_of("right_outer")


def test_bad_input_is_refused_by_name() -> None:
    """RBDL 20: typed errors that name the culprit."""
    rows, closed = upright("five_bar")
    motion, zero = rows.robot.at(closed, np.zeros(4)), np.zeros(4)
    wrong: tuple[tuple[dict[str, Any], Any, str], ...] = (
        ({}, errors.OptionError, "got none"),
        ({"actuated": ["left_inner"], "actuation": np.eye(4)}, errors.OptionError, "got both"),
        ({"actuated": "left_inner"}, errors.WrongObjectError, r"write \['left_inner'\]"),
        ({"actuated": ["left_iner"]}, errors.UnknownNameError, "left_inner"),
        ({"actuated": ["left_inner", "left_inner"]}, errors.OptionError, "twice"),
        ({"actuated": [3]}, errors.WrongObjectError, "actuated joint"),
        ({"actuated": 3}, errors.WrongObjectError, "actuated joints"),
        ({"actuation": np.eye(3)}, errors.SizeError, r"\(4, na\)"),
        ({"actuation": np.full((4, 1), np.nan)}, errors.NotFiniteError, "actuation matrix"),
        ({"actuated": ["left_inner"], "tau": np.zeros(3)}, errors.SizeError, "tau"),
        ({"actuated": ["left_inner"], "external": [3]}, errors.WrongObjectError, "external force 0"),
        ({"actuated": ["left_inner"], "row_acceleration": np.zeros(2)}, errors.SizeError, "rows"),
        ({"actuated": ["left_inner"], "tolerance": -1.0}, errors.WrongObjectError, "tolerance"),
    )
    for given, kind, said in wrong:
        with pytest.raises(kind, match=said):
            inverse_dynamics(rows, motion, zero, **given)
    with pytest.raises(errors.SizeError, match="wanted acceleration"):
        inverse_dynamics(rows, motion, np.zeros(3), actuated=["left_inner"])
    other = sample_two_arms()
    elsewhere = loops.PointClosure(other, "left_tool", "right_tool")
    with pytest.raises(errors.RobotMismatchError):
        inverse_dynamics(loops.ConstraintSet(other, [elsewhere]), motion, zero, actuated=["left_inner"])


def test_numbers_that_overflow_are_a_status() -> None:
    """RBDL 20: a velocity whose square overflows: NOT_FINITE, no exception."""
    rows, closed = upright("five_bar")
    with np.errstate(all="ignore"):
        found = inverse_dynamics(rows, rows.robot.at(closed, np.full(4, 1e160)), np.zeros(4), actuated=["left_inner"])
    assert found.status is DynamicsStatus.NOT_FINITE
    assert not found.success
    assert not found.is_fully_actuated


# Random robots.

JOINTS = (
    pin.JointModelRX, pin.JointModelRY, pin.JointModelPZ, pin.JointModelSpherical, pin.JointModelFreeFlyer,
    pin.JointModelPlanar, pin.JointModelTranslation, pin.JointModelRUBX, pin.JointModelSphericalZYX,
)  # fmt: skip


def random_robot(rng: np.random.Generator) -> Robot:
    """A tree of 3 to 8 joints of any type."""
    model, chain = pin.Model(), [0]
    for i in range(int(rng.integers(3, 9))):
        if rng.random() < 0.5:
            chain = chain[: int(rng.integers(1, len(chain) + 1))]
        kind = JOINTS[int(rng.integers(len(JOINTS)))]
        chain.append(model.addJoint(chain[-1], kind(), placement(int(rng.integers(10**6))), f"j{i}"))
        body = pin.Inertia.FromBox(rng.uniform(0.3, 3.0), *rng.uniform(0.1, 0.5, 3))
        model.appendBodyToJoint(chain[-1], body, placement(int(rng.integers(10**6))))
    return Robot(model, "random").without_bounds()


def random_rows(robot: Robot, rng: np.random.Generator) -> loops.ConstraintSet:
    """Up to two closures or contacts, and sometimes one of them twice."""
    owners: list[Any] = []
    for k in range(int(rng.integers(0, 3))):
        a, b = (int(i) for i in rng.choice(len(robot.joint_names) + 1, 2, replace=False))
        ends = [Frame(str(i), i, placement(int(rng.integers(10**6)))) for i in (a, b)]
        hinge = HINGES[rng.choice([name for name in HINGES if name != "free"])]
        kind = rng.random()
        if kind < 0.7:
            owners.append(loops.Closure(robot, ends[0], ends[1], hinge, name=f"c{k}"))
        elif kind < 0.85 or not b:
            owners.append(loops.PointClosure(robot, ends[0], ends[1], name=f"p{k}"))
        else:
            owners.append(loops.PointContact(robot, ends[1], name=f"k{k}"))
    if owners and isinstance(owners[0], loops.Closure) and rng.random() < 0.3:
        owners.append(loops.PointClosure(robot, owners[0].predecessor, owners[0].successor, name="again"))
    return loops.ConstraintSet(robot, owners)


@pytest.mark.parametrize("seed", a_few(range(60), 20))
def test_random_robots_meet_both_equations_and_the_condition_of_the_minimum(seed: int) -> None:
    """RBDL 18: random trees, closures, contacts, actuators and targets, open and closed: equations and optimality."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    rows = random_rows(robot, rng)
    motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
    names: list[Any] = [name for name in robot.joint_names if rng.random() < 0.6]
    names += [owner for owner in rows.stack if isinstance(owner, loops.Closure) and rng.random() < 0.5]
    wanted = rng.standard_normal(robot.nv) if rng.random() < 0.3 else on_rows(rows, motion, seed)
    found = inverse_dynamics(rows, motion, wanted, actuated=names)
    assert found.describe()
    M, h = plain(rows, motion)
    J, drift, B, a = rows.jacobian(motion.q), rows.drift(motion.q, motion.v), found.actuators.matrix, found.acceleration
    forces = [M @ a, h, B @ found.effort, J.T @ found.multipliers]
    size = 1.0 + max(np.abs(force).max() for force in forces)
    assert np.abs(forces[0] + forces[1] - forces[2] - forces[3]).max() < 1e-11 * size
    if found.status is DynamicsStatus.INCONSISTENT:
        best = np.linalg.lstsq(J, -drift, rcond=1e-9)[0]
        assert np.linalg.norm(J @ best + drift) > 1e-9 * np.linalg.norm(drift)
    else:
        assert np.abs(J @ a + drift).max(initial=0.0) < 1e-10 * (1.0 + np.abs(a).max())
    N = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, 1e-9) if J.size else 0 :].T
    U, sizes, _ = np.linalg.svd(N.T @ B)
    left = U[:, int((sizes > 1e-8).sum()) :]
    assert found.is_fully_actuated == (left.shape[1] == 0)
    K = left.T @ N.T @ M @ N
    moves = N @ np.linalg.svd(K)[2][len(K) :].T  # what actuators can change
    gap = np.abs(moves.T @ M @ (a - wanted)).max(initial=0.0)
    assert gap < 1e-9 * (1.0 + np.abs(M).max() * np.abs(a - wanted).max())


def test_what_turns_no_joint_drives_nothing() -> None:
    """RBDL 18: columns that are rounding are no actuators: the slide across a tilted linkage, and of a matrix."""
    flat = mechanisms.four_bar()
    model = pin.Model(flat.robot.model)
    for i in (1, 3):
        model.jointPlacements[i] = placement(9) * model.jointPlacements[i]
    robot = Robot(model, "tilted")
    loop: Any = flat.closures[0]
    rows = loops.ConstraintSet(
        robot, [loops.Closure(robot, loop.predecessor, loop.successor, loops.Hinge.cylindrical(), name="cut")]
    )
    motion = moving(rows, np.array(flat.postures["closed"]))
    slide = loops.Closure(robot, loop.predecessor, loop.successor, loops.Hinge.slider([0.0, 0.0, 1.0]), name="slide")
    wanted = on_rows(rows, motion, 1)
    found = inverse_dynamics(rows, motion, wanted, actuated=[slide])
    assert found.status is DynamicsStatus.UNDERACTUATED
    assert not found.is_fully_actuated
    assert not np.any(found.effort)
    both = inverse_dynamics(rows, motion, wanted, actuated=["cut"]).or_raise()
    assert both.surplus == 1
    assert both.effort[0] == 0.0
    H, B = np.diag([1.0, 2.0]), np.array([[1.0, 0.0], [0.0, 1e-16]])
    own = solve_inverse(H, np.zeros((0, 2)), np.zeros(2), np.zeros(0), B, np.ones(2))
    assert own.solution.status is DynamicsStatus.UNDERACTUATED
    assert own.effort == pytest.approx([1.0, 0.0])
    held = solve_inverse(H, np.array([[1.0, 0.0]]), np.zeros(2), np.zeros(1), np.array([[1.0], [1e-9]]), np.ones(2))
    assert held.solution.status is DynamicsStatus.UNDERACTUATED
    assert not held.effort.any()
    lost = solve_inverse(H, np.zeros((0, 2)), np.zeros(2), np.zeros(0), np.full((2, 1), np.nan), np.ones(2))
    assert lost.solution.status is DynamicsStatus.NOT_FINITE


def test_the_effort_of_a_closure_is_not_that_of_a_joint_of_its_name() -> None:
    """`effort_of(closure)` gave the effort of the joint, though the closure was not actuated."""
    linkage = mechanisms.five_bar()
    robot = linkage.robot
    cut = loops.Closure(robot, "left_outer_end", "right_outer_end", loops.Hinge.pin(), name="left_inner")
    motion = robot.at(linkage.posture("closed"), np.zeros(4))
    rows = loops.ConstraintSet(robot, [cut])
    found = inverse_dynamics(rows, motion, np.zeros(4), actuated=[robot.segments("left_inner"), "right_inner"])
    with pytest.raises(errors.UnknownNameError, match="left_inner"):
        found.effort_of(cut)
    assert found.effort_of("left_inner") == found.effort[0]
    driven = inverse_dynamics(rows, motion, np.zeros(4), actuated=["right_inner", cut])
    assert driven.effort_of(cut) == driven.effort_of("left_inner") == driven.effort[1]

"""Dynamics in minimal coordinates: truth from a dense saddle point of plain pinocchio, from energy, from `pin.aba`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from closed_mechanisms import ALL
from closed_states import LIMITS, SOUND, apart, errors_of, mechanism_of, samples, state_of, truth_of
from each_choice import a_few, draws
from linkages import upright

from constraints import Affine, Implicit, Robot, Target
from constraints.dynamics import DynamicsStatus, ExternalForce, PointSpring, forward_dynamics
from constraints.errors import (
    FailedError,
    NotFiniteError,
    SizeError,
    TruthValueError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.loops import Closure, ConstraintSet, Hinge, assemble_position, assemble_velocity
from constraints.models import mechanisms
from constraints.reduced import (
    minimal_coordinates,
    reduced_forward_dynamics,
    reduced_inverse_dynamics,
    reduced_mass_matrix,
    reduced_residual,
    reduced_system,
)

# The saddle point.


@draws(4, 24)
@pytest.mark.parametrize("name", ALL)
def test_reduced_dynamics_are_those_of_the_saddle_point(name: str, count: int) -> None:
    """Cases 6 and 7, issue 16, done when: accelerations, driven forces, J^T lambda and multipliers of closed states,
    M_r by the energy and the residual by M_r, of each mechanism; the thousand are `benchmarks/reduced_soundness.py`."""
    rng = np.random.default_rng([16, ALL.index(name)])
    for sample in samples(name, count, rng):
        errors, status = errors_of(sample, rng)
        assert {what: size for what, size in errors.items() if not size <= LIMITS[what]} == {}
        assert status in SOUND


def test_driven_joint_with_acceleration() -> None:
    """Case 6: with one driven joint of non-zero acceleration udd, lambda and Q_c are those of the KKT system to 1e-10,
    J qdd + Jdot qd = 0; without B_vc cdd, as in a published source, the rows would be missed."""
    for sample in samples("5bar_linkage_iso3d", 12, np.random.default_rng(6)):
        if not sample.cdd.size:
            continue
        truth, parts = truth_of(sample), sample.state.coordinates.partition
        found = reduced_forward_dynamics(
            sample.state, sample.tau, driven_acceleration=sample.cdd, external=sample.external
        ).or_raise()
        size = np.abs(truth.acceleration).max()
        assert apart(found.independent_acceleration, truth.acceleration[parts.independent], size) < 1e-10
        assert apart(found.acceleration[parts.driven], sample.cdd, 1.0) == 0.0
        assert apart(found.multipliers, truth.multipliers, np.abs(truth.multipliers).max()) < 1e-10
        assert apart(found.driven_forces, truth.driven_forces, np.abs(truth.driven_forces).max()) < 1e-10
        assert apart(truth.J @ found.acceleration, -truth.drift, size) < 1e-12
        without = found.acceleration.copy()
        without[parts.dependent] -= sample.state.B[:, parts.independent.size :] @ sample.cdd
        assert np.abs(truth.J @ without + truth.drift).max() > 1e-2 * np.abs(sample.cdd).max()


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_reduced_inertia_is_symmetric_and_positive(name: str) -> None:
    """Case 7: M_r is symmetric positive definite, and the block of M_ruc."""
    state = state_of(name)
    M_r, system = reduced_mass_matrix(state), reduced_system(state)
    np.testing.assert_allclose(M_r, M_r.T, rtol=0, atol=1e-14 * np.abs(M_r).max())
    scale = 1.0 / np.sqrt(np.diag(M_r))
    assert np.linalg.eigvalsh(M_r * scale * scale[:, None]).min() > 0.0
    np.testing.assert_allclose(system.independent_mass, M_r, rtol=0, atol=1e-14 * np.abs(M_r).max())


def test_blocks_of_the_reduced_system_are_derivatives_of_the_residual() -> None:
    """Case 7: M_ruc, F_ruc by columns of the residual, R_u and Q_c at unit accelerations."""
    state = state_of("delta_robot", driven=("arm2",))
    system = reduced_system(state)
    zero = reduced_residual(state)
    np.testing.assert_allclose(system.independent_bias, zero.independent, atol=1e-12)
    np.testing.assert_allclose(system.driven_bias, zero.driven, atol=1e-12)
    for k, unit in enumerate(np.eye(system.split)):
        one = reduced_residual(state, unit)
        np.testing.assert_allclose(one.independent - zero.independent, system.independent_mass[:, k], atol=1e-12)
        np.testing.assert_allclose(one.driven - zero.driven, system.coupling.T[:, k], atol=1e-12)
    one = reduced_residual(state, None, [1.0])
    np.testing.assert_allclose(one.independent - zero.independent, system.coupling[:, 0], atol=1e-12)
    np.testing.assert_allclose(one.driven - zero.driven, system.driven_mass[:, 0], atol=1e-12)
    assert repr(system) == "ReducedSystem(u 2, c 1)"


# Driven joints and moving rows.


def test_driven_joint_as_a_function_of_time() -> None:
    """Issue 16, 4: the acceleration of a driven joint is that of its target at the time of the state; Q_c is the force
    of a saddle point with the target as a row."""
    mechanism, rows, q = mechanism_of("five_bar")
    robot, left = mechanism.robot, robot_row(mechanism.robot, "left_inner")
    start = float(q[robot.slice_of("left_inner")][0])
    turn = Target(lambda t: [start + 0.3 * np.sin(t)], lambda t: [0.3 * np.cos(t)], lambda t: [-0.3 * np.sin(t)])
    coordinates = minimal_coordinates(rows, q, driven={"left_inner": turn}, independent=["right_inner"])
    whole = ConstraintSet(robot, [*rows.stack.owners, Implicit.equal(left, turn, name="drive")])
    for t in (0.0, 0.4, 1.1):
        state = coordinates.at(q, np.full(4, 0.5), t=t, close=True)
        assert state.q[0] == pytest.approx(start + 0.3 * np.sin(t), abs=1e-14)
        found = reduced_forward_dynamics(state, [0.1, 0.2, 0.3, 0.4]).or_raise()
        assert found.acceleration[0] == pytest.approx(-0.3 * np.sin(t), abs=1e-14)
        other = forward_dynamics(
            whole, robot.at(state.q, state.v), [0.1, 0.2, 0.3, 0.4], rhs=whole.rhs_at(t)
        ).or_raise()
        np.testing.assert_allclose(found.acceleration, other.acceleration, atol=1e-12)
        np.testing.assert_allclose(found.driven_force("left_inner"), other.multipliers_of("drive"), atol=1e-12)
        residual = reduced_residual(state, found.independent_acceleration, tau=[0.1, 0.2, 0.3, 0.4])
        np.testing.assert_allclose(residual.driven, found.driven_forces, atol=1e-12)
        stopped = reduced_forward_dynamics(state, driven_acceleration=[0.0])
        assert stopped.acceleration[0] == 0.0
    with pytest.raises(UnknownNameError, match=r"right_inner.*left_inner"):
        found.driven_force("right_inner")


def robot_row(robot: Robot, joint: str) -> Affine:
    """The coordinate of a joint."""
    pick = np.zeros((1, robot.nv))
    pick[0, robot.velocity_slice_of(joint)] = 1.0
    return Affine(pick, inputs=robot.space)


def test_rows_that_move() -> None:
    """Issue 16, 4: closures and rows with targets in time: velocity and acceleration of the rows count."""
    platform = mechanisms.stewart_platform()
    robot, q = platform.robot, platform.posture("closed")
    length = float(q[robot.slice_of("length1")][0])
    grow = Target(lambda t: [length + 0.05 * np.sin(3 * t)])
    rows = platform.constraint_set([Implicit.equal(robot_row(robot, "length1"), grow, name="grow")])
    coordinates = minimal_coordinates(rows, q)
    assert len(coordinates.independent) == 5
    t = 0.3
    at = assemble_position(rows, q, rhs=rows.rhs_at(t)).or_raise().q
    state = coordinates.at(at, np.random.default_rng(0).standard_normal(robot.nv), t=t, close=True)
    assert state.v[robot.velocity_slice_of("length1")][0] == pytest.approx(0.15 * np.cos(0.9), abs=1e-8)
    found = reduced_forward_dynamics(state).or_raise()
    other = forward_dynamics(rows, robot.at(state.q, state.v), rhs=rows.rhs_at(t)).or_raise()
    size = np.abs(other.acceleration).max()
    np.testing.assert_allclose(found.acceleration, other.acceleration, atol=1e-10 * size)
    np.testing.assert_allclose(found.multipliers, other.multipliers, atol=1e-9 * np.abs(other.multipliers).max())
    assert found.acceleration[robot.velocity_slice_of("length1")][0] == pytest.approx(-0.45 * np.sin(0.9), abs=1e-4)


def test_targets_that_contradict_in_acceleration_alone() -> None:
    """Issue 16, 4: redundant rows closed in position and velocity whose targets accelerate apart are no success."""
    mechanism, rows, q = mechanism_of("four_bar")
    row = robot_row(mechanism.robot, "crank")
    angle = float(q[0])
    still = Implicit.equal(row, Target(lambda t: [angle], lambda t: [0.0], lambda t: [0.0]), name="still")
    starts = Target(lambda t: [angle + t * t], lambda t: [2 * t], lambda t: [2.0])
    both = ConstraintSet(mechanism.robot, [*rows.stack.owners, still, Implicit.equal(row, starts, name="starts")])
    state = minimal_coordinates(both, q).at(q, np.zeros(3))
    found = reduced_forward_dynamics(state)
    assert found.status is DynamicsStatus.INCONSISTENT
    assert not found.success
    with pytest.raises(FailedError, match="Redundant rows"):
        found.or_raise()
    with pytest.raises(TruthValueError):
        bool(found)
    inverse = reduced_inverse_dynamics(state, actuated=["crank"])
    assert inverse.status is DynamicsStatus.INCONSISTENT


# Edges of the partition.


def test_without_rows_it_is_the_tree() -> None:
    """Issue 16, 4: without constraints it is the dynamics of the tree; with driven joints those of the others."""
    mechanism, _, q = mechanism_of("slider_crank")
    robot, rng = mechanism.robot, np.random.default_rng(0)
    v, tau = rng.standard_normal(4), rng.standard_normal(4)
    free = ConstraintSet(robot, [])
    model: Any = robot.model
    found = reduced_forward_dynamics(minimal_coordinates(free, q).at(q, v), tau).or_raise()
    np.testing.assert_allclose(found.acceleration, pin.aba(model, model.createData(), q, v, tau), rtol=1e-11)
    assert found.multipliers.shape == (0,)
    coordinates = minimal_coordinates(free, q, driven=["crank"])
    state = coordinates.at(q, v)
    found = reduced_forward_dynamics(state, tau, driven_acceleration=[2.0]).or_raise()
    assert found.acceleration[0] == 2.0
    needed = pin.rnea(model, model.createData(), q, v, found.acceleration) - tau
    np.testing.assert_allclose(needed, [found.driven_forces[0], 0.0, 0.0, 0.0], atol=1e-11)


def test_fully_driven() -> None:
    """Issue 16, 4: nu = 0: the motion is given, the forces of the drives are what is asked for."""
    mechanism, rows, q = mechanism_of("five_bar")
    coordinates = minimal_coordinates(rows, q, driven=["left_inner", "right_inner"])
    state = coordinates.at(q, np.random.default_rng(0).standard_normal(4), close=True)
    found = reduced_forward_dynamics(state, driven_acceleration=[1.0, -2.0]).or_raise()
    assert reduced_mass_matrix(state).shape == (0, 0)
    assert found.independent_acceleration.shape == (0,)
    np.testing.assert_allclose(found.acceleration[[0, 2]], [1.0, -2.0])
    back = forward_dynamics(
        rows, mechanism.robot.at(state.q, state.v), [found.driven_forces[0], 0.0, found.driven_forces[1], 0.0]
    )
    np.testing.assert_allclose(back.acceleration, found.acceleration, atol=1e-11)


def massless_arm() -> tuple[ConstraintSet, np.ndarray]:
    """A four-bar with a fourth joint on its coupler that moves no mass."""
    model = pin.Model(mechanisms.four_bar().robot.model)
    model.addJoint(2, pin.JointModelRX(), pin.SE3.Identity(), "pointer")
    robot = Robot(model, "with a pointer")
    whole = ConstraintSet(robot, [Closure(robot, "coupler_end", "rocker_end", Hinge.pin(), name="cut")])
    q = robot.space.neutral.copy()
    for joint in ("crank", "coupler", "rocker"):
        q[robot.slice_of(joint)] = mechanism_of("four_bar")[2][mechanism_of("four_bar")[0].robot.slice_of(joint)]
    return whole, q


def test_massless_motions_are_named() -> None:
    """Issue 16, 4: a coordinate without mass that nothing holds has no acceleration: the status names it, as that of
    the saddle point does; driven it is none of the others' business."""
    rows, q = massless_arm()
    state = minimal_coordinates(rows, q).at(q)
    found = reduced_forward_dynamics(state)
    other = forward_dynamics(rows, rows.robot.at(q, np.zeros(4)))
    assert found.status is DynamicsStatus.SINGULAR_SYSTEM
    assert other.status.name == "SINGULAR_SYSTEM"
    assert found.free_motions == other.free_motions == ("pointer",)
    assert not found.acceleration.any()
    assert "pointer" in str(found)
    with pytest.raises(FailedError, match="pointer"):
        found.or_raise()
    driven = minimal_coordinates(rows, q, driven=["pointer"]).at(q)
    whole = reduced_forward_dynamics(driven, driven_acceleration=[3.0]).or_raise()
    assert whole.free_motions == ()
    assert whole.acceleration[rows.robot.velocity_slice_of("pointer")] == 3.0
    assert whole.driven_forces == pytest.approx([0.0], abs=1e-14)
    empty = pin.Model(mechanisms.four_bar().robot.model)
    for i in range(empty.njoints):
        empty.inertias[i] = pin.Inertia.Zero()
    closure = Closure(Robot(empty, "empty"), "coupler_end", "rocker_end", Hinge.pin(), name="cut")
    nothing = reduced_forward_dynamics(minimal_coordinates(ConstraintSet(closure.robot, [closure]), q[:3]).at(q[:3]))
    assert nothing.status is DynamicsStatus.SINGULAR_SYSTEM
    assert nothing.free_motions == ("crank", "coupler", "rocker")


def test_light_motions_are_solved() -> None:
    """Issue 16, 4: a joint with a billionth of the others' inertia is light, not massless, as for the saddle point."""
    rows, q = massless_arm()
    model = pin.Model(rows.robot.model)
    model.inertias[4] = pin.Inertia(1e-8, np.array([0.0, 0.0, 0.1]), 1e-13 * np.eye(3))
    robot = Robot(model, "with a light pointer")
    light = ConstraintSet(robot, [Closure(robot, "coupler_end", "rocker_end", Hinge.pin(), name="cut")])
    state = minimal_coordinates(light, q).at(q, [0.0, 0.0, 0.0, 0.3])
    found = reduced_forward_dynamics(state, [0.1, 0.0, 0.0, 1e-9]).or_raise()
    other = forward_dynamics(light, robot.at(q, state.v), [0.1, 0.0, 0.0, 1e-9]).or_raise()
    np.testing.assert_allclose(found.acceleration, other.acceleration, rtol=1e-9)


def test_light_motions_of_sliders_are_those_of_the_equations() -> None:
    """Two light slides in series beside a heavy one that a row ties to both: solved in rationals, by Cramer's rule."""
    first, second, heavy = 1e-11, 3e-11, 2.0
    model: Any = pin.Model()
    below = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "a")
    for name, parent, mass in (("a", 0, first), ("b", below, second), ("c", 0, heavy)):
        joint = below if name == "a" else model.addJoint(parent, pin.JointModelPX(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    robot = Robot(model, "sliders").without_bounds()
    rows = ConstraintSet(robot, [Implicit.zero(Affine([[1.0, 0.5, -1.0]], None, robot.space), name="tie")])
    state = minimal_coordinates(rows, np.zeros(3), independent=["a", "b"]).at(np.zeros(3))
    tau = np.array([2e-11, 5e-11, 3e-11])
    e, d, m, f, g, h = (Fraction(x) for x in (first, second, heavy, *tau.tolist()))
    A, B, C = e + d + m, d + m / 2, d + m / 4
    right, left = f + h, g + h / 2
    det = A * C - B * B
    x, y = (C * right - B * left) / det, (A * left - B * right) / det
    found = reduced_forward_dynamics(state, tau).or_raise()
    exact = np.array([float(x), float(y), float(x + y / 2)])
    np.testing.assert_allclose(found.acceleration, exact, rtol=1e-9)
    np.testing.assert_allclose(found.multipliers, [float(h - m * (x + y / 2))], rtol=1e-9)


# Forces, rows that repeat others, numbers.


def test_springs_and_wrenches_act() -> None:
    """Issue 16, 4: external forces and springs act as in `forward_dynamics`."""
    rows, q = upright("five_bar")
    robot = rows.robot
    spring = PointSpring(robot, "left_inner", "right_inner_end", stiffness=40.0, length=0.1, damping=2.0)
    push = ExternalForce("left_outer_end", [1.0, 2.0, 0.0, 0.0, 0.0, 0.5])
    state = minimal_coordinates(rows, q).at(q, assemble_velocity(rows, q, [1.0, 0.0, 0.5, 0.0]))
    found = reduced_forward_dynamics(state, external=[spring, push]).or_raise()
    other = forward_dynamics(rows, robot.at(q, state.v), external=[spring, push]).or_raise()
    np.testing.assert_allclose(found.acceleration, other.acceleration, rtol=1e-10)
    plain = reduced_forward_dynamics(state).acceleration
    assert np.abs(plain - found.acceleration).max() > 1.0
    residual = reduced_residual(state, found.independent_acceleration, external=[spring, push])
    np.testing.assert_allclose(residual.independent, 0.0, atol=1e-11)
    assert found.acting == (spring, push)


def test_redundant_rows_get_zero_and_least_norm_converts() -> None:
    """Issue 16, 4: multipliers of redundant rows are zero, those of least norm are the saddle point's; the forces on
    joints and bodies that are determined are the same."""
    state = state_of("5bar_linkage")
    coordinates = state.coordinates
    found = reduced_forward_dynamics(state).or_raise()
    other = forward_dynamics(coordinates.constraint_set, state.motion).or_raise()
    redundant = coordinates.partition.redundant
    assert redundant.size == 3
    assert not found.multipliers[redundant].any()
    size = np.abs(other.multipliers).max()
    np.testing.assert_allclose(found.least_norm(), other.multipliers, atol=1e-10 * size)
    np.testing.assert_allclose(found.generalised_force(0), other.generalised_force(0), atol=1e-9 * size)
    assert found.undetermined_rows == other.undetermined_rows
    assert found.rank == 3


def test_near_a_dead_point_nothing_is_lost() -> None:
    """Issue 16, 4: where J_v is nearly singular and inertias differ by a million, as in the delta robot of a file, both
    equations are met: what rounding left is solved for again."""
    worst = 1.0
    for sample in samples("robot_delta", 60, np.random.default_rng(3)):
        worst = min(worst, sample.state.lu.rcond)
        truth = truth_of(sample)
        found = reduced_forward_dynamics(
            sample.state, sample.tau, driven_acceleration=sample.cdd, external=sample.external
        ).or_raise()
        assert apart(found.acceleration, truth.acceleration, np.abs(truth.acceleration).max()) < 1e-10
    assert worst < 1e-5


def test_what_is_wrong_with_an_argument_is_named() -> None:
    """Issue 16, 4: bad input ends in named errors, numbers that are too large in a status."""
    state = state_of("four_bar")
    for function in (reduced_forward_dynamics, reduced_residual, reduced_system, reduced_mass_matrix):
        with pytest.raises(WrongObjectError, match=r"closed state|ClosedState"):
            function(state.motion)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SizeError, match="tau"):
        reduced_forward_dynamics(state, [1.0])
    with pytest.raises(NotFiniteError, match="tau"):
        reduced_forward_dynamics(state, [1.0, np.nan, 0.0])
    with pytest.raises(SizeError, match="independent coordinates"):
        reduced_residual(state, [1.0, 2.0])
    with pytest.raises(SizeError, match="driven coordinates"):
        reduced_forward_dynamics(state, driven_acceleration=[1.0])
    with pytest.raises(WrongObjectError, match="external force 0"):
        reduced_forward_dynamics(state, external=["wind"])  # pyright: ignore[reportArgumentType]
    huge = reduced_forward_dynamics(state, [1e308, 1e308, -1e308])
    assert huge.status is DynamicsStatus.NOT_FINITE
    assert not huge.acceleration.any()


def test_reduced_dynamics_describe_themselves() -> None:
    """Stumble 11: other results had `describe`; and a value for a driven joint, given as an independent one."""
    linkage = mechanisms.five_bar()
    coordinates = linkage.minimal_coordinates(linkage.posture("closed"), driven=["left_inner"])
    found = reduced_forward_dynamics(coordinates.at(coordinates.q), driven_acceleration=[2.0])
    text = found.describe()
    (independent,), (driven,) = coordinates.independent, coordinates.driven
    assert f"acceleration of {independent}: {found.independent_acceleration[0]:.6g}" in text
    assert f"force of the drive of {driven}: {found.driven_forces[0]:.6g}" in text
    assert str(found.status) in text
    rows, q = upright("four_bar")
    turned = minimal_coordinates(rows, q, driven=["crank"])
    with pytest.raises(
        SizeError, match=r"received 1 \(driven ones are the second argument: spread\(\[\], \[6.28\]\)\)"
    ):
        turned.spread([6.28])
    assert turned.spread([], [6.28])[rows.robot.velocity_slice_of("crank")] == 6.28

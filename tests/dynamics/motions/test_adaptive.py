"""Adaptive motions: published coefficients, orders, energy, errors, stiff laws, singular poses, poor fixed steps."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body, point
from dynamics.motions.test_events import ball, height
from dynamics.motions.test_integration import balls, body, falling_bars
from published_mechanisms import bricard, four_bar_windows, squeezer
from record_arguments import with_records
from scipy.integrate import solve_ivp

from constraints import Affine, Implicit, Robot, Target
from constraints.dynamics import (
    Event,
    Forces,
    JointLaw,
    JointSpring,
    MotionStatus,
    Scheme,
    SimulationOptions,
    forward_dynamics,
    simulate,
)
from constraints.dynamics.motions.tableaux import ESDIRK43, RK4, Tableau, dop853
from constraints.errors import OptionError, UnknownNameError
from constraints.loops import ConstraintSet

DOP853 = dop853()


def oscillator(stiffness: float = 4.0, damping: float = 0.0, mass: float = 1.0) -> tuple[ConstraintSet, Forces]:
    """A mass on a spring, along x, without gravity."""
    robot = one_body(pin.JointModelPX(), point(mass, 1.0), "slide", gravity=0.0)
    return ConstraintSet(robot, []), Forces(robot, [JointSpring(robot, "slide", stiffness, damping)])


@pytest.mark.parametrize(("tableau", "order"), [(RK4, 4), (DOP853, 8), (ESDIRK43, 4)])
def test_coefficients_are_of_their_order(tableau: Tableau, order: int) -> None:
    """Conditions of the tall trees and of quadrature, and the order on a linear equation with a known solution."""
    A, b, c = tableau.a, tableau.b, tableau.c
    np.testing.assert_allclose(A.sum(axis=1), c, atol=1e-14)
    tall = np.ones(len(b))
    for k in range(1, order + 1):
        assert b @ c ** (k - 1) == pytest.approx(1.0 / k, abs=1e-13)
        assert b @ tall == pytest.approx(1.0 / np.prod(np.arange(1, k + 1)), abs=1e-13)
        tall = A @ tall
    assert (b * c) @ A @ c == pytest.approx(1.0 / 8.0, abs=1e-14)
    assert b @ A @ c**2 == pytest.approx(1.0 / 12.0, abs=1e-14)
    assert (tableau.falls, tableau.is_implicit) == (order, tableau is ESDIRK43)
    weights = [tableau.error, tableau.rough]
    for each in (w for w in weights if w.size):
        assert each.sum() == pytest.approx(0.0, abs=1e-14)
        assert each @ c == pytest.approx(0.0, abs=1e-14)
        assert each @ c**2 == pytest.approx(0.0, abs=1e-14)
        assert each @ A @ c == pytest.approx(0.0, abs=1e-14)
        assert abs(each @ c**3) + abs(each @ A @ c**2) > 1e-4 or tableau is DOP853
    assert not any(part.flags.writeable for part in tableau if isinstance(part, np.ndarray))


def test_order_eight_is_that_of_scipy() -> None:
    """Stages, weights, both estimates of the error, and the dense output, digit by digit."""
    known: Any = importlib.import_module("scipy.integrate._ivp.dop853_coefficients")
    np.testing.assert_array_equal(DOP853.a, known.A[:12, :12])
    np.testing.assert_array_equal(DOP853.b, known.B)
    np.testing.assert_array_equal(DOP853.c, known.C[:12])
    np.testing.assert_allclose(DOP853.error, known.E5[:12], atol=1e-15)
    np.testing.assert_allclose(DOP853.rough, known.E3[:12], atol=1e-15)
    np.testing.assert_array_equal(DOP853.more, known.A[13:])
    np.testing.assert_array_equal(DOP853.dense, known.D)


def test_implicit_scheme_is_stiffly_accurate_and_l_stable() -> None:
    """Its last stage is the step, and what is infinitely stiff is gone after it."""
    A, b = ESDIRK43.a, ESDIRK43.b
    np.testing.assert_array_equal(A[-1], b)
    np.testing.assert_array_equal(A.diagonal(), [0.0, *[0.25] * 5])
    np.testing.assert_allclose(A @ ESDIRK43.c, ESDIRK43.c**2 / 2.0, atol=1e-14)
    for z in (-1e3, -1e6, -1e9, 1e6j):
        growth = 1.0 + z * (b @ np.linalg.solve(np.eye(6) - z * A, np.ones(6)))
        assert abs(growth) < 20.0 / abs(z)
    axis = [
        1.0 + 1j * y * (b @ np.linalg.solve(np.eye(6) - 1j * y * A, np.ones(6))) for y in np.geomspace(1e-3, 1e6, 400)
    ]
    assert np.abs(axis).max() <= 1.0 + 1e-12


@pytest.mark.parametrize("name", ["five-bar", "windows", "bricard", "squeezer", "balls"])
def test_energy_is_kept_by_default(name: str) -> None:
    """Issue: within 1e-6 of the exchanged energy at default tolerances; with the work of forces where they act."""
    forces: Any = None
    if name == "five-bar":
        rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
        v, duration = np.zeros(4), 1.0
    elif name == "balls":
        rows = ConstraintSet(balls(3), [])
        q, v, duration = rows.robot.neutral, np.array([1.0, -2.0, 3.0, 2.0, 1.0, -1.0, 0.5, 0.5, 0.5]), 1.0
    else:
        made: Any = {"windows": four_bar_windows, "bricard": bricard, "squeezer": squeezer}[name]()
        rows, q, v, duration = made.constraint_set, made.q, made.v, 0.03 if name == "squeezer" else 2.0
        forces = getattr(made, "forces", None)
    record = simulate(rows, q, v, duration, forces=forces).or_raise()
    assert np.abs(record.energy_error).max() < 1e-6 * record.exchanged_energy
    assert record.times[-1] == duration
    assert record.position_drift.max() <= 1e-10
    assert 0 < record.steps < record.evaluations


def test_adaptive_costs_at_most_twice_what_scipy_takes() -> None:
    """Issue: accelerations computed, beside DOP853 of scipy at 1e-6 in the same coordinates."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    count = [0]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        count[0] += 1
        return np.concatenate([y[4:], forward_dynamics(rows, rows.robot.at(y[:4], y[4:])).acceleration])

    start = np.concatenate([q, np.zeros(4)])
    solve_ivp(rates, (0.0, 1.0), start, method="DOP853", rtol=1e-6, atol=1e-6)
    record = simulate(rows, q, np.zeros(4), 1.0).or_raise()
    assert record.evaluations <= 2 * count[0]


def test_tolerances_are_what_they_say() -> None:
    """The error at the end falls with them, and the estimate of the record is above it."""
    rows, forces = oscillator()
    errors: list[float] = []
    for tolerance in (1e-4, 1e-7, 1e-10):
        record = simulate(
            rows, [1.0], [0.0], 10.0, forces=forces, options=SimulationOptions(rtol=tolerance, atol=tolerance)
        ).or_raise()
        errors.append(abs(record.q[0] - np.cos(20.0)))
        assert errors[-1] < 10.0 * tolerance
        assert errors[-1] < record.position_error[-1] < 1e2 * np.sqrt(tolerance)  # of order 5, for steps of order 8
        assert (np.diff(record.position_error) >= 0.0).all()
    assert errors[0] > errors[1] > errors[2]
    fixed = simulate(rows, [1.0], [0.0], 1.0, 0.01, forces=forces)
    assert np.isnan(fixed.position_error[-1])


def test_longest_step_is_kept() -> None:
    robot = body()
    record = simulate(
        ConstraintSet(robot, []), robot.neutral, np.ones(6), 1.0, options=SimulationOptions(max_step=0.05)
    ).or_raise()
    assert np.diff(record.times).max() <= 0.05 + 1e-12
    fast = simulate(ConstraintSet(robot, []), robot.neutral, 40.0 * np.ones(6), 1.0).or_raise()
    assert 40.0 * np.diff(fast.times).max() < np.pi  # rotation vectors of a step are unique


def test_stiff_bushing_takes_few_steps() -> None:
    """Issue: 10 g on 1e6 N/m and 1e3 N s/m at the tip of a pendulum: 200 steps a second, slow motion to 1e-4."""

    def pendulum(is_rigid: bool) -> Robot:
        model = pin.Model()
        arm = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "arm")
        rod = pin.Inertia(1.0, np.array([0.0, 0.0, -0.25]), np.diag([0.02, 0.02, 1e-4]))
        model.appendBodyToJoint(arm, rod, pin.SE3.Identity())
        tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5]))
        on = arm if is_rigid else model.addJoint(arm, pin.JointModelTranslation(), tip, "bushing")
        at = tip if is_rigid else pin.SE3.Identity()
        model.appendBodyToJoint(on, pin.Inertia(0.01, np.zeros(3), np.zeros((3, 3))), at)
        return Robot(model)

    rigid, soft = pendulum(True), pendulum(False)
    truth = simulate(
        ConstraintSet(rigid, []), [1.0], [0.0], 0.5, options=SimulationOptions(rtol=1e-9, atol=1e-9)
    ).or_raise()
    bushing = JointSpring(soft, "bushing", stiffness=1e6, damping=1e3)
    start: Any = (ConstraintSet(soft, []), [1.0, 0.0, 0.0, 0.0], np.zeros(4), 0.5)
    for forces in (Forces(soft, [bushing]), lambda motion, t: bushing.generalised(motion)):
        record = simulate(*start, forces=forces, options=SimulationOptions(scheme=Scheme.IMPLICIT)).or_raise()
        assert record.steps <= 100
        assert record.q[0] == pytest.approx(truth.q[0], abs=1e-4)
        assert np.abs(record.energy_error).max() < 1e-4 * record.exchanged_energy
    fixed = simulate(
        *start, step=0.005, forces=Forces(soft, [bushing]), options=SimulationOptions(scheme="implicit")
    ).or_raise()
    assert fixed.q[0] == pytest.approx(truth.q[0], abs=1e-4)


def test_implicit_steps_keep_closed_loops() -> None:
    """A five-bar on a stiff spring, whose rows repeat others: near the motion of many small explicit steps."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    robot = rows.robot
    joint = robot.joint_names[0]
    forces = Forces(robot, [JointSpring(robot, joint, stiffness=1e6, damping=1e5, rest=q[0])])
    start: Any = (rows, q, np.zeros(4), 0.01)
    implicit = simulate(*start, forces=forces, options=SimulationOptions(scheme="implicit")).or_raise()
    explicit = simulate(*start, forces=forces).or_raise()
    assert implicit.steps < 0.5 * explicit.steps
    np.testing.assert_allclose(implicit.q, explicit.q, atol=1e-5)
    assert implicit.position_drift.max() <= 1e-10


def test_poor_fixed_step_is_no_success() -> None:
    """Issue: a five-bar whose energy was off by half, as a success; with long steps NOT_PROJECTED, now said so."""
    rows, q = falling_bars(ground=1.2, inner=1.0, outer=1.4)
    record = simulate(rows, q, np.zeros(4), 2.0, 0.02)
    good = simulate(rows, q, np.zeros(4), 2.0).or_raise()
    lost = np.abs(record.energy_error).max()
    assert np.abs(good.energy_error).max() < 1e-6 * good.exchanged_energy
    assert (record.status is MotionStatus.POOR_STEP) == (lost > 0.01 * record.exchanged_energy)
    coarse = simulate(rows, q, np.zeros(4), 2.0, 0.05)
    assert not coarse.success
    rows, forces = oscillator(400.0)
    record = simulate(rows, [1.0], [0.0], 1.0, 0.1, forces=forces)
    assert record.status is MotionStatus.POOR_STEP
    assert "J were exchanged" in str(record)
    assert simulate(rows, [1.0], [0.0], 1.0, 0.01, forces=forces).success


def test_steady_motions_are_not_poor() -> None:
    """What exchanges no energy is judged by its own: rest, straight flight, a free top."""
    robot = body()
    rows = ConstraintSet(robot, [])
    for v in (np.zeros(6), np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 2.0, -1.0, 3.0])):
        assert simulate(rows, robot.neutral, v, 1.0, 0.05).success
        assert simulate(rows, robot.neutral, v, 1.0).success


def test_work_is_that_of_the_forces() -> None:
    """A damped oscillator: the work is minus what the spring stores and the damper takes; the balance closes."""
    rows, forces = oscillator(4.0, damping=0.5)
    for step in ("adaptive", 0.01):
        record = simulate(rows, [1.0], [0.0], 2.0, step, forces=forces).or_raise()
        np.testing.assert_allclose(record.work, record.kinetic_energy - record.kinetic_energy[0], atol=1e-7)
        assert np.abs(record.energy_error).max() < 1e-7
    drive = Forces(rows.robot, [JointLaw(rows.robot, "slide", lambda q, v, t: 3.0 * np.cos(t))])
    driven = simulate(rows, [0.0], [0.0], 2.0, forces=drive).or_raise()
    np.testing.assert_allclose(driven.work, 0.5 * (3.0 * np.sin(driven.times)) ** 2, atol=1e-7)


def test_events_within_long_steps_have_the_times_of_the_closed_form() -> None:
    """A flight that is one step: passages at times to 1e-9, and dense output tells where to look."""
    _, rows = ball()
    passes = [Event(lambda m, t, z=z: height(m, t) - z, f"{z}", direction="falling") for z in (0.9, 0.5, 0.1)]
    record = simulate(rows.switched(off=["floor"]), [0, 0, 1.0], np.zeros(3), 0.45, events=passes).or_raise()
    expected = [np.sqrt(2.0 * (1.0 - z) / 9.81) for z in (0.9, 0.5, 0.1)]
    np.testing.assert_allclose([crossing.time for crossing in record.events], expected, atol=2e-9)


def test_within_a_step_a_moving_target_is_where_it_is_at_that_time() -> None:
    """A slide that follows sin(t), from t = 1 on: an event where it is at 1.2, at the time when it is there."""
    robot = oscillator()[0].robot
    along = Target(lambda t: [np.sin(t)], lambda t: [np.cos(t)], lambda t: [-np.sin(t)])
    rows = ConstraintSet(robot, [Implicit.equal(Affine([[1.0]], None, robot.space), along, name="follows")])
    passes = Event(lambda motion: float(motion.q[0] - np.sin(1.2)), "passes")
    record = simulate(
        rows, [np.sin(1.0)], [np.cos(1.0)], 0.5, options=SimulationOptions(start=1.0), events=passes
    ).or_raise()
    (crossing,) = record.events
    assert crossing.time == pytest.approx(1.2, abs=2e-9)
    assert crossing.q[0] == pytest.approx(np.sin(crossing.time), abs=1e-10)
    assert record.steps < 5


def test_steps_that_become_too_short_are_a_status() -> None:
    """A force that jumps without end, as dry friction at rest does: said, not computed for hours."""
    rows, _ = oscillator()
    friction = Forces(rows.robot, [JointLaw(rows.robot, "slide", lambda q, v: -5.0 * np.sign(v - 0.1 * q))])
    record = simulate(rows, [1.0], [0.0], 500.0, forces=friction)
    assert record.status is MotionStatus.STEP_TOO_SHORT
    assert not record.success
    assert "At " in record.reason


def test_tip_out_of_reach_is_still_a_status() -> None:
    """A step that has no result is tried again shorter, down to the place where none has."""
    from dynamics.motions.test_integration import arm_that_is_pulled

    rows, q, v = arm_that_is_pulled(1.0)
    record = simulate(rows, q, v, 2.0)
    assert not record.success
    assert 0.9 < record.time <= 1.0 + 1e-6


@pytest.mark.parametrize(
    ("error", "said", "changes"),
    [
        (UnknownNameError, "adaptive", {"step": "variable"}),
        (OptionError, "DOP853 or IMPLICIT, got RK4", {"scheme": "rk4"}),
        (OptionError, "rtol of a motion: expected a positive number, got 0", {"rtol": 0.0}),
        (OptionError, "atol", {"atol": -1.0}),
        (OptionError, "max_step", {"max_step": 0.0}),
    ],
)
def test_wrong_arguments_are_named(error: type[Exception], said: str, changes: dict[str, Any]) -> None:
    robot = body()
    given = ConstraintSet(robot, []), robot.neutral, np.zeros(6), 1.0
    with pytest.raises(error, match=said):
        simulate(*given, **with_records(changes, options=SimulationOptions))


def test_progress_of_adaptive_steps_is_by_time() -> None:
    robot, seen = body(), list[tuple[int, int]]()
    simulate(
        *(ConstraintSet(robot, []), robot.neutral, np.ones(6), 1.0),
        options=SimulationOptions(progress=lambda done, total: seen.append((done, total)), max_step=0.1),
    )
    assert seen[-1] == (100, 100)
    assert seen == sorted(seen)

"""Modes beside a linearised saddle point, closed forms of tops, rotors and a column, and a simulated motion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from linkages import upright
from reduced.test_equilibrium import Law
from reduced.test_modes_everywhere import saddle_point

from constraints import Robot
from constraints.dynamics import DynamicsStatus, PointSpring, simulate
from constraints.errors import FailedError, OptionError, TruthValueError, UnknownNameError, WrongObjectError
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.models import mechanisms
from constraints.reduced import (
    Equilibrium,
    EquilibriumOptions,
    KeptMotion,
    ModeClass,
    Modes,
    equilibrium,
    linearisation,
    minimal_coordinates,
    modes,
)
from constraints.robot import Motion


def sprung_four_bar() -> tuple[Equilibrium, list[PointSpring]]:
    rows, q = upright("four_bar")
    hook = pin.SE3(np.eye(3), np.array([0.5, 0.5, 0.0]))
    springs = [PointSpring(rows.robot, "crank_end", hook, stiffness=400.0, damping=20.0, length=0.2)]
    coordinates = minimal_coordinates(rows, q, independent=["crank"])
    start = coordinates.close(q + np.array([-0.3, 0.0, 0.0])).or_raise().q
    return equilibrium(coordinates, start, external=springs).or_raise(), springs


def sprung_five_bar() -> tuple[Equilibrium, list[PointSpring]]:
    rows, q = upright("five_bar")
    springs = [
        PointSpring(rows.robot, name, pin.SE3(np.eye(3), np.array([x, 0.6, 0.0])), 300.0, damping=d, length=0.1)
        for name, x, d in (("left_inner_end", -0.4, 3.0), ("right_inner_end", 0.5, 0.0))
    ]
    coordinates = minimal_coordinates(rows, q, independent=["left_inner", "right_inner"])
    return equilibrium(coordinates, q, external=springs).or_raise(), springs


@pytest.mark.parametrize("made", [sprung_four_bar, sprung_five_bar])
def test_eigenvalues_are_those_of_the_linearised_saddle_point(made: Any) -> None:
    """Case 13: eigenvalues of A within 1e-6 (relative) of those of a linearised KKT model."""
    found, springs = made()
    linear = found.linearisation()
    mine = np.linalg.eigvals(linear.state_matrix)
    theirs, missing = saddle_point(found.coordinates.constraint_set, found.q, *springs)
    assert missing < 1e-7
    for s in mine:
        assert np.abs(theirs - s).min() < 1e-6 * abs(s)
    named = linear.modes().or_raise()
    for mode in named:
        assert np.abs(mine - mode.eigenvalue).min() <= 1e-9 * abs(mode.eigenvalue)
        assert mode.kind is ModeClass.COMPLEX_DECAYING
        assert mode.error < 1e-6 * abs(mode.eigenvalue)


def test_a_simulated_motion_comes_back_after_a_period() -> None:
    """Released 1e-3 rad from rest along the mode of a four-bar without damping: back there after 1 / frequency."""
    found, springs = sprung_four_bar()
    rows = found.coordinates.constraint_set
    spring = PointSpring(rows.robot, springs[0].a, springs[0].b, stiffness=400.0, length=0.2)

    def pull(motion: Motion, t: float) -> np.ndarray:
        return spring.generalised(motion)

    (mode,) = equilibrium(found.coordinates, found.q, external=[spring]).or_raise().modes().or_raise()
    assert mode.kind is ModeClass.COMPLEX_NEUTRAL
    start = mode.configurations(4, amplitude=1e-3)[0]
    period = 1.0 / mode.frequency
    record = simulate(rows, start, np.zeros(3), period, period / 400, forces=pull).or_raise()
    assert np.abs(record.qs[-1] - start).max() < 2e-6
    half = record.qs[200] - found.q
    np.testing.assert_allclose(half, -(start - found.q), atol=5e-6)


def test_shapes_keep_the_loops_closed() -> None:
    found, _ = sprung_five_bar()
    rows = found.coordinates.constraint_set
    for mode in found.modes().or_raise():
        assert np.abs(mode.independent).max() == 1.0
        assert np.abs(rows.jacobian(found.q) @ mode.shape).max() < 1e-12
        for q in (*mode.configurations(8, amplitude=0.1), *mode.configurations(12, amplitude=0.1)):
            assert np.abs(rows.position_error(q)).max() < 1e-12
        near = mode.configurations(1, amplitude=1e-5)[0]
        np.testing.assert_allclose((near - found.q) / 1e-5, mode.shape.real, atol=1e-3)
        with pytest.raises(OptionError, match="frames of a mode"):
            mode.configurations(0)


def swing(law: Callable[[float, float], float]) -> Modes:
    """A unit inertia that turns about a vertical axis under a law of angle and speed."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    coordinates = minimal_coordinates(ConstraintSet(Robot(model), []), [0.0])
    return equilibrium(coordinates, [0.0], external=[Law(lambda q, v: [law(q[0], v[0])])]).or_raise().modes()


@pytest.mark.parametrize(
    ("stiffness", "damping", "kinds", "values"),
    [
        (4.0, 0.0, "COMPLEX_NEUTRAL", [2j]),
        (4.0, 1.0, "COMPLEX_DECAYING", [-0.5 + 1j * np.sqrt(3.75)]),
        (4.0, -1.0, "COMPLEX_GROWING", [0.5 + 1j * np.sqrt(3.75)]),
        (4.0, 4.0, "REAL_DECAYING REAL_DECAYING", [-2.0, -2.0]),
        (4.0, 5.0, "REAL_DECAYING REAL_DECAYING", [-1.0, -4.0]),
        (-4.0, 0.0, "REAL_DECAYING REAL_GROWING", [-2.0, 2.0]),
        (-2.0, 1.0, "REAL_GROWING REAL_DECAYING", [1.0, -2.0]),
        (0.0, 0.0, "REAL_NEUTRAL", [0.0]),
        (0.0, 3.0, "REAL_NEUTRAL REAL_DECAYING", [0.0, -3.0]),
        (4.0, 1e-6, "COMPLEX_DECAYING", [-0.5e-6 + 1j * np.sqrt(4.0 - 0.25e-12)]),
    ],
)
def test_six_classes(stiffness: float, damping: float, kinds: str, values: list[complex]) -> None:
    found = swing(lambda q, v: -stiffness * np.sin(q) - damping * v).or_raise()
    assert " ".join(mode.kind.name for mode in found) == kinds
    double = stiffness == damping
    np.testing.assert_allclose(found.eigenvalues, values, rtol=1e-6 if double else 1e-9, atol=1e-9)
    for mode, s in zip(found, values, strict=True):
        assert abs(mode.eigenvalue - s) <= mode.error + 1e-15
        assert mode.damping_ratio == pytest.approx(abs(s.real) / abs(s) if s else 0.0, rel=1e-6, abs=1e-12)
    assert found.is_stable is ("GROWING" not in kinds)


def top(spin: float) -> Modes:
    """A symmetric top on a ball at its tip, upright: m = 1 kg, l = 0.1 m, A = 0.012, C = 0.004 kg m2 about the tip."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "tip")
    inertia = pin.Inertia(1.0, np.array([0.0, 0.0, 0.1]), np.diag([0.002, 0.002, 0.004]))
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    robot = Robot(model)
    coordinates = minimal_coordinates(ConstraintSet(robot, []), robot.neutral)
    return equilibrium(coordinates, robot.neutral, KeptMotion([0.0, 0.0, spin])).or_raise().modes().or_raise()


def test_sleeping_top() -> None:
    """A ball that spins: A w^2 - C s w + m g l = 0 of the precession in the world, w - s in the body's axes.

    Source: Goldstein, Classical Mechanics, section 5.7: it sleeps where C^2 s^2 > 4 A m g l.
    """
    A, C, weight = 0.012, 0.004, 9.81 * 0.1
    critical = 2.0 * np.sqrt(A * weight) / C
    fast = 1.2 * critical
    w = np.roots([A, -C * fast, weight])
    found = top(fast)
    expected = np.sort(np.abs(w - fast))
    assert len(found.rigid) == 1
    assert found.rigid[0].name == "tip[2]"
    np.testing.assert_allclose([m.angular_frequency for m in found[1:]], expected, rtol=1e-7)
    assert {m.kind for m in found[1:]} == {ModeClass.COMPLEX_NEUTRAL}
    slow = top(0.8 * critical)
    w = np.roots([A, -C * 0.8 * critical, weight])
    assert not slow.is_stable
    assert max(m.rate for m in slow) == pytest.approx(np.abs(w.imag).max(), rel=1e-7)


def test_a_mode_that_grows_or_decays_has_no_frequency_not_even_a_negative_zero() -> None:
    """Issue 18: a pendulum upright, s = -+sqrt(m g l / I); its decaying mode was printed with -0.0000 Hz."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "pivot")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.array([0.0, 0.0, 0.5]), 0.1 * np.eye(3)), pin.SE3.Identity())
    rows = ConstraintSet(Robot(model), [])
    upright_modes = equilibrium(minimal_coordinates(rows, [0.0]), [0.0]).or_raise().modes().or_raise()
    rate = np.sqrt(2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.25))
    np.testing.assert_allclose([mode.rate for mode in upright_modes], [-rate, rate], rtol=1e-9)
    assert [np.copysign(1.0, mode.frequency) for mode in upright_modes] == [1.0, 1.0]
    assert "-0.0000" not in upright_modes.describe()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_free_rotor(axis: int) -> None:
    """Euler: spinning at s about a principal axis, s^2 (I3 - I1)(I3 - I2) / (I1 I2) = w^2; the middle one grows."""
    inertia, spin = np.array([1.0, 2.0, 3.5]), 3.0
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "rotor")
    model.appendBodyToJoint(joint, pin.Inertia(1.3, np.zeros(3), np.diag(inertia)), pin.SE3.Identity())
    robot = Robot(model)
    v = np.zeros(6)
    v[3 + axis] = spin
    coordinates = minimal_coordinates(ConstraintSet(robot, []), robot.neutral)
    found = equilibrium(coordinates, robot.neutral, KeptMotion(v)).or_raise().modes().or_raise()
    first, second = np.delete(inertia, axis)
    square = spin**2 * (inertia[axis] - first) * (inertia[axis] - second) / (first * second)
    seen = found.eigenvalues
    assert np.abs(seen - np.sqrt(complex(-square))).min() < 1e-5
    assert found.is_stable is (axis != 1)


@pytest.mark.parametrize(("part", "stable"), [(0.999, True), (1.001, False)])
def test_ziegler_column_flutters(part: float, stable: bool) -> None:
    """A follower force: K_r is not symmetric; masses 2 m and m: flutter from P = (7/2 - sqrt 2) c / l on.

    Source: Ziegler, Principles of Structural Stability, section 4.3.
    """
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    inner = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "inner")
    bar = np.array([0.8, 0.0, 0.0])
    outer = model.addJoint(inner, pin.JointModelRZ(), pin.SE3(np.eye(3), bar), "outer")
    model.appendBodyToJoint(inner, pin.Inertia(2.0, bar, np.zeros((3, 3))), pin.SE3.Identity())
    model.appendBodyToJoint(outer, pin.Inertia(1.0, bar, np.zeros((3, 3))), pin.SE3.Identity())
    stiffness = 50.0
    push = part * (3.5 - np.sqrt(2.0)) * stiffness / 0.8
    robot = Robot(model)
    column = Law(lambda q, v: [-stiffness * q[0] - push * 0.8 * np.sin(q[1]), -stiffness * q[1]])
    coordinates = minimal_coordinates(ConstraintSet(robot, []), robot.neutral)
    found = equilibrium(coordinates, robot.neutral, external=[column]).or_raise().modes().or_raise()
    assert found.is_stable is stable
    kinds = {mode.kind for mode in found}
    assert kinds == ({ModeClass.COMPLEX_NEUTRAL} if stable else {ModeClass.COMPLEX_GROWING, ModeClass.COMPLEX_DECAYING})


def test_weightless_linkage_that_floats_has_rigid_modes_alone() -> None:
    """Two bars on a pin between free bodies: seven directions without a force, found by what K_r is, not by luck."""
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    for name in "ab":
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.diag([0.01, 0.02, 0.03])), pin.SE3.Identity())
    robot = Robot(model)
    rows = ConstraintSet(robot, [Closure(robot, "a", "b", Hinge.pin([0, 0, 1]), name="pin")])
    coordinates = minimal_coordinates(rows, robot.neutral)
    found = equilibrium(coordinates, robot.neutral).or_raise()
    assert len(found.unheld) == 7
    assert [mode.kind for mode in found.modes()] == [ModeClass.REAL_NEUTRAL] * 7


def test_state_that_is_no_equilibrium_is_refused_by_status() -> None:
    rows, q = upright("four_bar")
    linear = linearisation(minimal_coordinates(rows, q, independent=["crank"]).at(q))
    found = modes(linear)
    assert found.status is DynamicsStatus.NO_EQUILIBRIUM
    assert len(found) == 0
    assert f"R_u is {abs(linear.residual[0]):.3g}" in str(found)
    with pytest.raises(FailedError, match="NO_EQUILIBRIUM") as caught:
        found.or_raise()
    assert caught.value.result is found
    with pytest.raises(FailedError):
        _ = found.is_stable
    with pytest.raises(TruthValueError):
        bool(found)
    assert len(modes(linear, at_any_state=True).or_raise()) >= 1
    assert modes(linear, ignored=["crank"]).or_raise().missing == 0.0


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_what_is_an_equilibrium_does_not_depend_on_the_size_of_a_machine(size: float) -> None:
    """A slider-crank of 0.1 mm, 0.1 m or 1 km: found from 0.1 rad away; 1e-3 rad beside it is no equilibrium."""
    made = mechanisms.slider_crank(crank=0.1 * size, rod=0.4 * size, offset=0.05 * size)
    q, space = made.posture("closed"), made.robot.space
    coordinates = minimal_coordinates(made.constraint_set(), q, independent=made.motors)
    spring = Law(lambda x, v: [5.0 * size**2 * d for d in (space.difference(x, q)[0], 0.0, 0.0, 0.0)])
    start = coordinates.close(space.integrate(q, coordinates.spread([0.1]))).or_raise().q
    found = equilibrium(coordinates, start, external=[spring]).or_raise()
    assert np.abs(space.difference(q, found.q))[0] < 1e-9
    assert found.modes().success
    beside = coordinates.close(space.integrate(q, coordinates.spread([1e-3]))).or_raise().q
    assert linearisation(coordinates.at(beside), external=[spring]).modes().status is DynamicsStatus.NO_EQUILIBRIUM


def test_ignored_coordinates_are_held() -> None:
    """With the right motor held, the five-bar is a four-bar of one mode; the shape is still there."""
    found, springs = sprung_five_bar()
    held = found.modes(ignored=["right_inner"]).or_raise()
    assert held.ignored == ("right_inner",)
    (mode,) = held
    names = found.coordinates.independent
    assert mode.independent[names.index("right_inner")] == 0.0
    alone = minimal_coordinates(
        found.coordinates.constraint_set, found.q, independent=["left_inner"], driven=["right_inner"]
    )
    (other,) = (
        equilibrium(alone, found.q, external=springs, options=EquilibriumOptions(tolerance=1e-8))
        .or_raise()
        .modes()
        .or_raise()
    )
    assert mode.eigenvalue == pytest.approx(other.eigenvalue, rel=1e-7)
    assert "held: right_inner" in held.describe()


def test_mechanism_whose_joints_are_all_driven_has_no_modes() -> None:
    made = mechanisms.four_bar()
    coordinates = minimal_coordinates(made.constraint_set(), made.posture("closed"), driven=["crank"])
    found = equilibrium(coordinates, made.posture("closed")).or_raise().modes().or_raise()
    assert len(found) == 0
    assert found.is_stable
    with pytest.raises(OptionError, match="at least one of 0 modes"):
        found.plot()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_matrices_that_are_not_finite_are_a_status(wrong: float) -> None:
    made = mechanisms.four_bar()
    coordinates = minimal_coordinates(made.constraint_set(), made.posture("closed"), independent=["crank"])
    linear = linearisation(coordinates.at(coordinates.q), external=[Law(lambda q, v: [wrong * v[0], 0.0, 0.0])])
    assert linear.modes(at_any_state=True).status is DynamicsStatus.NOT_FINITE


def test_coordinate_without_mass_is_a_status() -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "empty")
    model.appendBodyToJoint(joint, pin.Inertia.Zero(), pin.SE3.Identity())
    coordinates = minimal_coordinates(ConstraintSet(Robot(model), []), [0.0])
    linear = linearisation(coordinates.at([0.0]))
    assert modes(linear).status is DynamicsStatus.SINGULAR_SYSTEM
    with pytest.raises(OptionError, match="M_r is singular"):
        _ = linear.state_matrix


def test_bad_arguments_are_named() -> None:
    found, _ = sprung_four_bar()
    linear = found.linearisation()
    with pytest.raises(WrongObjectError, match="linearised motion"):
        modes(found)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnknownNameError, match="crank"):
        modes(linear, ignored=["crnk"])
    with pytest.raises(OptionError, match="the independent ones are: crank"):
        modes(linear, ignored=["rocker"])
    with pytest.raises(UnknownNameError, match="at_any_state"):
        modes(linear, at_any_stat=True)  # pyright: ignore[reportCallIssue]
    with pytest.raises(WrongObjectError, match="class of modes"):
        modes(linear).of("rigid")  # pyright: ignore[reportArgumentType]


def test_words() -> None:
    found, _ = sprung_four_bar()
    named = found.modes().or_raise()
    lines = named.describe().splitlines()
    assert lines[0].startswith("SOLVED")
    assert lines[2].endswith("decays, oscillating   crank")
    assert f"{named[0].frequency:.4f}" in lines[2]
    assert repr(named) == "Modes(SOLVED, 1)"
    assert str(named[0]).startswith("decays, oscillating: ")
    assert repr(named[0]).startswith("Mode(COMPLEX_DECAYING, s = ")


def test_pictures(tmp_path: Path) -> None:
    """A figure with a panel a mode, and a GIF of closed configurations."""
    pytest.importorskip("matplotlib")
    found, _ = sprung_five_bar()
    named = found.modes().or_raise()
    figure = named.plot(tmp_path / "modes.png")
    assert (tmp_path / "modes.png").stat().st_size > 10_000
    assert len(figure.axes) == 1 + len(named)
    named[0].animate(tmp_path / "mode.gif", frames=6)
    with pytest.importorskip("PIL.Image").open(tmp_path / "mode.gif") as image:
        assert image.n_frames == 6
    with pytest.raises(OptionError, match="frames"):
        named[0].animate(tmp_path / "mode.gif", frames=0)

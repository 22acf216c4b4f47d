"""Small motions whose frequencies are in textbooks: free bodies on rods and pins, and a governor that spins."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from constraints import Robot, reduced
from constraints.loops import Closure, ConstraintSet, Hinge, RodClosure

G = 9.81


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array([x, y, z]))


def free_bodies(*inertias: tuple[float, list[float], tuple[float, float, float]]) -> Robot:
    """Bodies that move freely, each of a mass, principal inertias, and centre."""
    model = pin.Model()
    for i, (mass, inertia, centre) in enumerate(inertias):
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"body{i}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(centre), np.diag(inertia)), pin.SE3.Identity())
    return Robot(model)


def hung(robot: Robot, points: list[tuple[float, float]], length: float) -> ConstraintSet:
    """A body whose points (x, y, 0) hang on parallel rods from the height of the length."""
    frames = [robot.frame("body0", at(x, y)) for x, y in points]
    hooks = [at(x, y, length) for x, y in points]
    rods = [RodClosure(robot, *ends, length, name=f"rod{i}") for i, ends in enumerate(zip(hooks, frames, strict=True))]
    return ConstraintSet(robot, rods)


def modes_at_rest(rows: ConstraintSet, q: np.ndarray) -> reduced.Modes:
    found = reduced.equilibrium(reduced.minimal_coordinates(rows, q), q).or_raise()
    np.testing.assert_array_equal(found.q, q)
    return found.modes().or_raise()


def test_trifilar_pendulum() -> None:
    """Turning sqrt(2 g/L) = 4.4294, sway sqrt(g/L) = 3.1321 rad/s twice; L = 1 m.

    Source: the trifilar suspension, den Hartog, Mechanical Vibrations (problems of chapter 2). A disc of radius r on
    rods at its rim: torque m g r^2 / L per rad of turning, inertia m r^2 / 2.
    """
    m, r = 2.0, 0.3
    robot = free_bodies((m, [0.25 * m * r * r, 0.25 * m * r * r, 0.5 * m * r * r], (0.0, 0.0, 0.0)))
    angles = (0.3, 0.3 + 2.0 * np.pi / 3.0, 0.3 + 4.0 * np.pi / 3.0)
    rows = hung(robot, [(r * np.cos(a), r * np.sin(a)) for a in angles], 1.0)
    modes = modes_at_rest(rows, robot.neutral)
    assert [mode.kind for mode in modes] == [reduced.ModeClass.COMPLEX_NEUTRAL] * 3
    expected = [np.sqrt(G), np.sqrt(G), np.sqrt(2.0 * G)]
    np.testing.assert_allclose(expected, [3.1321, 3.1321, 4.4294], atol=5e-5)
    np.testing.assert_allclose([mode.angular_frequency for mode in modes], expected, rtol=1e-9)
    turning = np.abs(modes[2].shape)
    assert turning[5] == 1.0  # about z, and nothing else
    assert turning[:5].max() < 1e-9


def test_bifilar_bar() -> None:
    """Turning sqrt(3 g/L) = 5.4249 rad/s, sway sqrt(g/L) along and across; nothing holds it about its own axis.

    Source: the bifilar suspension, den Hartog, Mechanical Vibrations. A bar of length 2 b on rods at its ends: torque
    m g b^2 / L per rad, inertia m b^2 / 3.
    """
    m, b = 1.5, 0.4
    robot = free_bodies((m, [1e-3, m * b * b / 3.0, m * b * b / 3.0], (0.0, 0.0, 0.0)))
    modes = modes_at_rest(hung(robot, [(b, 0.0), (-b, 0.0)], 1.0), robot.neutral)
    assert np.sqrt(3.0 * G) == pytest.approx(5.4249, abs=5e-5)
    np.testing.assert_allclose(
        [mode.angular_frequency for mode in modes], [0.0, np.sqrt(G), np.sqrt(G), np.sqrt(3.0 * G)], rtol=1e-9
    )
    assert [mode.kind for mode in modes.rigid] == [reduced.ModeClass.REAL_NEUTRAL]
    assert modes.rigid[0].name == "body0[3]"
    found = reduced.equilibrium(modes.linearisation.state.coordinates, robot.neutral)
    assert found.unheld == ("body0[3]",)


def test_double_pendulum_of_free_bodies_with_cut_pins() -> None:
    """sqrt((2 -+ sqrt 2) g/l) = 2.3972, 5.7873 rad/s of two equal masses on rods of one length.

    Source: Landau and Lifshitz, Mechanics, section 23, problem 2 (with equal masses and lengths).
    """
    length, m = 1.0, 0.7
    point = (m, [0.0, 0.0, 0.0], (0.0, 0.0, -length))
    robot = free_bodies(point, point)
    pins = [
        Closure(robot, pin.SE3.Identity(), "body0", Hinge.pin([0, 1, 0]), name="upper"),
        Closure(robot, robot.frame("body0", at(z=-length)), "body1", Hinge.pin([0, 1, 0]), name="lower"),
    ]
    q = robot.configuration({"body1": [0.0, 0.0, -length, 0.0, 0.0, 0.0, 1.0]})
    modes = modes_at_rest(ConstraintSet(robot, pins), q)
    expected = np.sqrt((2.0 + np.array([-1.0, 1.0]) * np.sqrt(2.0)) * G / length)
    np.testing.assert_allclose(expected, [2.3972, 5.7873], atol=6e-5)  # 5.78735, cut, not rounded
    np.testing.assert_allclose([mode.angular_frequency for mode in modes], expected, rtol=1e-9)


SPIN = 4.0


def governor(arms: tuple[str, ...] = ("left", "right")) -> tuple[ConstraintSet, np.ndarray]:
    """Balls of 1 kg on arms of 1 m from the axis, a sleeve without mass that keeps them alike; arms at 0.7 rad."""
    model = pin.Model()
    spin = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "spin")
    for name in arms:
        axis = np.array([0.0, -1.0 if name == "left" else 1.0, 0.0])
        arm = model.addJoint(spin, pin.JointModelRevoluteUnaligned(axis), at(), name)
        model.appendBodyToJoint(arm, pin.Inertia(1.0, np.array([0.0, 0.0, -1.0]), np.zeros((3, 3))), at())
    model.addJoint(spin, pin.JointModelPZ(), pin.SE3.Identity(), "sleeve")
    robot = Robot(model)
    rods = [RodClosure(robot, robot.frame(arm, at(z=-0.5)), "sleeve", 0.5, name=arm) for arm in arms]
    return ConstraintSet(robot, rods), robot.configuration({"sleeve": -np.cos(0.7)} | dict.fromkeys(arms, 0.7))


def spinning(rows: ConstraintSet, speed: float) -> np.ndarray:
    v = np.zeros(rows.robot.nv)
    v[rows.robot.velocity_slice_of("spin")] = speed
    return v


def balanced_governor() -> reduced.Equilibrium:
    rows, q = governor()
    coordinates = reduced.minimal_coordinates(rows, q, independent=["left"], driven=["spin"])
    return reduced.equilibrium(coordinates, q, reduced.KeptMotion(spinning(rows, SPIN))).or_raise()


def test_watt_governor() -> None:
    """cos t0 = g/(l W^2), 52.184 deg, small motion W sin t0 = 3.1599 rad/s at a spin of W = 4 rad/s; l = 1 m.

    Source: Pontryagin, Ordinary Differential Equations, section 27 (the centrifugal governor; there the spin may
    change, here it is driven): l t'' = W^2 l sin t cos t - g sin t.
    """
    found = balanced_governor()
    robot = found.coordinates.constraint_set.robot
    angle = np.arccos(G / SPIN**2)
    assert found.kind is reduced.EquilibriumKind.QUASI_STATIC
    assert np.rad2deg(angle) == pytest.approx(52.184, abs=5e-4)
    np.testing.assert_allclose(
        found.q, robot.configuration({"left": angle, "right": angle, "sleeve": -np.cos(angle)}), atol=1e-10
    )
    (mode,) = found.modes().or_raise()
    assert SPIN * np.sin(angle) == pytest.approx(3.1599, abs=5e-5)
    assert mode.angular_frequency == pytest.approx(SPIN * np.sin(angle), rel=1e-9)
    assert mode.kind is reduced.ModeClass.COMPLEX_NEUTRAL
    assert mode.shape[robot.velocity_slice_of("right")] == pytest.approx(1.0)
    assert mode.shape[robot.velocity_slice_of("sleeve")] == pytest.approx(np.sin(angle))
    assert found.driven_forces == pytest.approx([0.0], abs=1e-9)  # a steady spin needs no torque


def test_watt_governor_whose_arm_hangs_down_is_unstable() -> None:
    """An arm that hangs down at the same spin: s^2 = W^2 - g/l > 0, so one mode grows and one decays."""
    rows, _ = governor(("left",))
    q = rows.robot.configuration({"sleeve": -1.0})
    coordinates = reduced.minimal_coordinates(rows, q, independent=["left"], driven=["spin"])
    found = reduced.equilibrium(coordinates, q, reduced.KeptMotion(spinning(rows, SPIN))).or_raise()
    modes = found.modes().or_raise()
    rate = np.sqrt(SPIN**2 - G)
    np.testing.assert_allclose(sorted(modes.eigenvalues.real), [-rate, rate], rtol=1e-9)
    assert not modes.is_stable
    assert {mode.kind for mode in modes} == {reduced.ModeClass.REAL_GROWING, reduced.ModeClass.REAL_DECAYING}


def test_spin_of_a_governor_in_the_place_of_its_arm() -> None:
    """An exchanged unknown that is a speed: the spin at which the arms stand at 0.7 rad, W^2 = g/(l cos t)."""
    rows, q = governor()
    coordinates = reduced.minimal_coordinates(rows, q, independent=["left"], driven=["spin"])
    found = reduced.equilibrium(
        coordinates,
        q,
        reduced.KeptMotion(lambda x: spinning(rows, x["spin"])),
        exchange={"left": reduced.Unknown("spin", 3.0)},
    ).or_raise()
    assert found.scalars["spin"] == pytest.approx(np.sqrt(G / np.cos(0.7)), rel=1e-10)
    np.testing.assert_allclose(found.q, q, atol=1e-12)


def test_governor_that_spins_too_slowly_lets_its_arm_down() -> None:
    """Below W^2 = g/l the arm only hangs: from 0.7 rad the search ends there."""
    rows, q = governor(("left",))
    coordinates = reduced.minimal_coordinates(rows, q, independent=["left"], driven=["spin"])
    found = reduced.equilibrium(coordinates, q, reduced.KeptMotion(spinning(rows, 2.0))).or_raise()
    np.testing.assert_allclose(found.q, rows.robot.configuration({"sleeve": -1.0}), atol=1e-9)
    assert found.modes().or_raise()[0].angular_frequency == pytest.approx(np.sqrt(G - 4.0), rel=1e-8)

"""Springs and laws on any function: against the springs that there are, the slope of their energy, and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.derivatives.test_force_slopes import check, slope
from robots import arm, mixed_tree, two_arms

from constraints import Affine, CenterOfMass, Function, Orientation, Pose, Position, Robot, Rotation
from constraints.dynamics import (
    ExternalForce,
    Forces,
    FunctionLaw,
    FunctionSpring,
    JointLaw,
    JointSpring,
    PointLink,
    PointSpring,
    dynamics_derivatives,
    forward_dynamics,
    simulate,
)
from constraints.dynamics.laws.law import NoEnergyError, NoTimeError
from constraints.errors import OptionError, RobotMismatchError, SizeError, UndefinedError, WrongObjectError
from constraints.functions import dot, norm, rotated
from constraints.functions.affine import Identity
from constraints.loops import Axes, ConstraintSet
from liegroups import Rn


def apart(robot: Robot) -> Function:
    return norm(Position(robot, "left_tool") - Position(robot, "right_tool"))


FUNCTIONS: dict[str, Any] = {
    "a height": lambda: Position(arm(), "tool")[2],
    "a point": lambda: Position(arm(), "tool", reference="elbow"),
    "a rotation vector": lambda: Orientation(arm(), "tool"),
    "a rotation": lambda: Rotation(arm(), "tool"),
    "a pose": lambda: Pose(two_arms(), "left_tool", reference="right_tool"),
    "a centre of mass": lambda: CenterOfMass(two_arms()),
    "a distance": lambda: apart(two_arms()),
    "a formula": lambda: Position(arm(), "tool")[2] * dot(rotated(Rotation(arm(), "tool"), [0, 0, 1]), [0, 0, 1]),
    "all coordinates": lambda: Identity(mixed_tree().space),
}


def state(f: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return f.inputs.at(
        f.inputs.integrate(f.inputs.neutral, 0.7 * rng.standard_normal(f.inputs.nv)), rng.standard_normal(f.inputs.nv)
    )


def spring_on(f: Any, seed: int) -> FunctionSpring:
    rng = np.random.default_rng(seed)
    n, at = f.outputs.nv, f.value(state(f, seed).q)
    return FunctionSpring(
        f, rng.uniform(1.0, 9.0, n), rng.uniform(0.1, 1.0, n), f.outputs.integrate(at, 0.5 * rng.standard_normal(n))
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_spring_is_the_slope_of_its_energy_and_its_damper_takes_power(name: str) -> None:
    f = FUNCTIONS[name]()
    motion, spring = state(f, 1), spring_on(f, 1)
    q, space = np.array(motion.q), f.inputs
    still = spring.generalised(space.at(q, np.zeros(space.nv)))
    truth = -slope(lambda d: np.array([spring.energy(space.integrate(q, d))]), space.nv, 1e-2)[0]
    np.testing.assert_allclose(still, truth, atol=1e-8 * np.abs(truth).max())
    rate = f.jacobian(q) @ motion.v
    power = (spring.generalised(motion) - still) @ motion.v
    assert power == pytest.approx(-float(np.asarray(spring.damping) @ rate**2), rel=1e-10)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_its_derivatives_are_those_of_differences(name: str) -> None:
    f = FUNCTIONS[name]()
    spring = spring_on(f, 2)
    assert spring.has_exact_slopes
    for seed in (2, 3):
        check(spring, state(f, seed), 1e-2)


def test_it_is_the_spring_of_a_joint() -> None:
    """One formula of both: the coordinates of a joint as a function that a user writes."""
    robot = two_arms()
    joint = robot.joint_names[3]
    column = robot.space.factors[robot.joint_index(joint) - 1].v.start
    angle = Affine(np.eye(robot.nv)[column : column + 1], inputs=robot.space)
    motion = robot.at(robot.random(np.random.default_rng(0)), np.random.default_rng(1).standard_normal(robot.nv))
    mine, truth = FunctionSpring(angle, 3.0, 0.2, 0.4), JointSpring(robot, joint, 3.0, 0.2, 0.4)
    np.testing.assert_allclose(mine.generalised(motion), truth.generalised(motion), rtol=1e-13)
    for a, b in zip(mine.generalised_slopes(motion) or (), truth.generalised_slopes(motion) or (), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    assert mine.energy(motion.q) == pytest.approx(truth.energy(motion.q), rel=1e-13)
    law, own = FunctionLaw(angle, lambda x, rate: 2.0 * x - rate), JointLaw(robot, joint, lambda x, v: 2.0 * x - v)
    np.testing.assert_allclose(law.generalised(motion), own.generalised(motion), rtol=1e-13)


def test_on_a_distance_it_is_the_spring_between_two_points() -> None:
    robot = two_arms()
    rng = np.random.default_rng(5)
    length = apart(robot)
    for _ in range(5):
        motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
        truth = PointSpring(robot, "left_tool", "right_tool", 30.0, 2.0, 0.3)
        mine = FunctionSpring(length, 30.0, 2.0, 0.3)
        size = np.abs(truth.generalised(motion)).max()
        np.testing.assert_allclose(mine.generalised(motion), truth.generalised(motion), atol=1e-12 * size)
        for a, b in zip(mine.generalised_slopes(motion) or (), truth.generalised_slopes(motion) or (), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10 * np.abs(b).max())
        rope = FunctionLaw(length, lambda x, rate: -5.0 * x * x)
        link = PointLink(robot, "left_tool", "right_tool", lambda x, rate: 5.0 * x * x)
        np.testing.assert_allclose(rope.generalised(motion), link.generalised(motion), atol=1e-12 * size)


def test_a_constant_force_on_a_height_is_a_weight() -> None:
    motion = state(FUNCTIONS["a height"](), 6)
    weight = FunctionLaw(Position(arm(), "tool")[2], lambda z, rate: -9.81, lambda z: 9.81 * z)
    outside = ExternalForce("tool", [0.0, 0.0, -9.81, 0.0, 0.0, 0.0], Axes.LOCAL_WORLD_ALIGNED)
    np.testing.assert_allclose(weight.generalised(motion), outside.generalised(motion), atol=1e-13)
    assert weight.energy(motion.q) == pytest.approx(9.81 * Position(arm(), "tool").value(motion.q)[2])
    assert weight.force_at(motion) == [-9.81]


@pytest.mark.parametrize("name", ["a formula", "a pose", "a distance"])
def test_it_enters_dynamics_and_their_derivatives(name: str) -> None:
    """Accelerations are those of `pinocchio.aba` with its joint forces, and derivatives those of differences."""
    f = FUNCTIONS[name]()
    robot: Any = f.inputs
    space, motion, spring = f.inputs, state(f, 7), spring_on(f, 7)
    rows = ConstraintSet(two_arms() if space.nv == two_arms().nv else arm(), [])
    result = forward_dynamics(rows, motion, external=[spring]).or_raise()
    model = robot.model
    truth = pin.aba(model, model.createData(), motion.q, motion.v, spring.generalised(motion))
    np.testing.assert_allclose(result.acceleration, truth, atol=1e-9 * np.abs(truth).max())
    by = dynamics_derivatives(result).or_raise()
    assert not by.by_differences
    q, v = np.array(motion.q), np.array(motion.v)

    def acceleration(d: Any) -> Any:
        there = space.at(space.integrate(q, d), v)
        return pin.aba(model, model.createData(), there.q, v, spring.generalised(there))

    by_q = slope(acceleration, space.nv, 1e-2)
    np.testing.assert_allclose(by.acceleration_dq, by_q, atol=2e-7 * np.abs(by_q).max())


def test_energy_is_kept_in_a_motion() -> None:
    """An arm whose tool hangs on a spring on a formula: kinetic and potential energy together stay what they were."""
    robot = arm()
    spring = FunctionSpring(norm(Position(robot, "tool") - [0.2, 0.1, 0.5]), 40.0, rest=0.1)
    q = robot.reference("home")
    record = simulate(ConstraintSet(robot, []), q, np.zeros(robot.nv), 0.3, forces=Forces(robot, [spring]))
    model: Any = robot.model
    energy = [
        pin.computeMechanicalEnergy(model, model.createData(), a, b) + spring.energy(a)
        for a, b in zip(record.qs, record.vs, strict=True)
    ]
    assert np.ptp(energy) < 1e-6 * max(1.0, np.abs(energy).max())
    assert np.abs(record.vs).max() > 0.1


def test_time_energy_and_what_has_no_value() -> None:
    f = Position(arm(), "tool")[2]
    motion = state(f, 8)
    law = FunctionLaw(f, lambda z, rate, t: 3.0 * t)
    assert law.at(2.0).force_at(motion) == [6.0]
    np.testing.assert_allclose(Forces(arm(), [law])(motion.q, motion.v, 2.0), law.at(2.0).generalised(motion))
    assert law.at(2.0).generalised_slopes(motion) is None
    with pytest.raises(NoTimeError, match="law on"):
        law.generalised(motion)
    with pytest.raises(NoEnergyError, match="give `potential=`"):
        law.energy(motion.q)
    nowhere = FunctionSpring(norm(Position(arm(), "tool") - Position(arm(), "tool")), 1.0)
    with pytest.raises(UndefinedError, match="norm"):
        nowhere.generalised(motion)


def test_bad_input_is_refused_by_name() -> None:
    robot, nothing = arm(), 3
    f, other = Position(robot, "tool"), two_arms()
    for make, kind, said in (
        (lambda: FunctionSpring(nothing, 1.0), WrongObjectError, "function of a function spring"),  # type: ignore[arg-type]
        (lambda: FunctionLaw(Identity(Rn(2)), lambda x, v: v), WrongObjectError, "a robot's configuration"),
        (lambda: FunctionSpring(f, [1.0, 2.0]), SizeError, "stiffness of a spring on"),
        (lambda: FunctionSpring(f, -1.0), OptionError, "stiffness of a spring on"),
        (lambda: FunctionSpring(f, 1.0, [1.0, -1.0, 0.0]), OptionError, "damping of a spring on"),
        (lambda: FunctionSpring(f, 1.0, rest=[0.0]), SizeError, "rest of a spring on"),
        (lambda: FunctionLaw(f, 2.0), WrongObjectError, "law on"),  # type: ignore[arg-type]
        (lambda: FunctionLaw(f, lambda rate, value: rate), WrongObjectError, "the state first"),
        (lambda: FunctionLaw(f, lambda x, v: [1.0]).generalised(state(f, 1)), SizeError, "law on"),
        (
            lambda: FunctionSpring(f, 1.0).generalised(other.at(other.neutral, np.zeros(other.nv))),
            RobotMismatchError,
            "Position",
        ),
    ):
        with pytest.raises(kind, match=said):
            make()

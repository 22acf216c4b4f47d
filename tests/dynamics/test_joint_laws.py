"""Forces on the coordinates of joints: springs, dampers and any law, of every type of joint; and at cut hinges."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.test_links import slope
from linkages import moving, upright
from samples import placement

from constraints import Robot
from constraints.dynamics import HingeForce, HingeSpring, JointLaw, JointSpring, forward_dynamics
from constraints.dynamics.laws.law import NoEnergyError, NoTimeError
from constraints.errors import (
    ConstraintError,
    DtypeError,
    NotFiniteError,
    NotNormalizedError,
    OptionError,
    RobotMismatchError,
    SizeError,
    UnknownJointError,
    WrongObjectError,
)
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.models import sample_two_arms

JOINTS: dict[str, Any] = {
    "revolute": pin.JointModelRZ(),
    "continuous": pin.JointModelRUBX(),
    "slider": pin.JointModelPY(),
    "helical": pin.JointModelHZ(0.1),
    "ball": pin.JointModelSpherical(),
    "planar": pin.JointModelPlanar(),
    "translation": pin.JointModelTranslation(),
    "free": pin.JointModelFreeFlyer(),
}


@functools.cache
def chain() -> Robot:
    """A body on every type of joint, one after the other."""
    model, parent = pin.Model(), 0
    for i, (name, joint) in enumerate(JOINTS.items()):
        parent = model.addJoint(parent, joint, placement(50 + i), name)
        model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0, 0.2, 0.3, 0.4), placement(60 + i))
    return Robot(model, "chain").without_bounds()


def random_motion(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return chain().at(chain().random(rng), rng.standard_normal(chain().nv))


@pytest.mark.parametrize("joint", JOINTS)
def test_joint_springs_are_the_slope_of_their_energy(joint: str) -> None:
    """Item 5, joint laws: of any type of joint the force at rest is -dE/dq by differences, no other joint has one;
    the damper takes the power D v^2."""
    robot, rng = chain(), np.random.default_rng(1)
    factor = robot.space.factors[robot.joint_index(joint) - 1]
    motion, n = random_motion(2), factor.space.nv
    rest = factor.space.integrate(np.array(motion.q[factor.q]), 0.5 * rng.standard_normal(n))
    K, D = rng.uniform(1.0, 9.0, n), rng.uniform(0.1, 1.0, n)
    spring = JointSpring(robot, joint, K, D, rest)
    still = spring.generalised(robot.at(motion.q, np.zeros(robot.nv)))
    assert still == pytest.approx(-slope(spring.energy, robot, motion.q), rel=1e-6, abs=1e-7)
    assert not np.delete(still, np.arange(robot.nv)[factor.v]).any()
    assert np.abs(still[factor.v]).min() > 1e-3
    damped = spring.generalised(motion) - still
    assert damped @ motion.v == pytest.approx(-float(D @ motion.v[factor.v] ** 2))
    assert spring.force_at(motion) == pytest.approx(spring.generalised(motion)[factor.v])
    at_rest = np.array(motion.q)
    at_rest[factor.q] = rest
    assert spring.energy(at_rest) == pytest.approx(0.0, abs=1e-20)


def test_a_ball_is_pulled_along_its_rotation_vector() -> None:
    """Item 5, joint laws: with one stiffness the torque is -k times the rotation vector from rest, as at a cut ball."""
    robot = chain()
    turn = np.array([0.3, -0.9, 0.4])
    factor = robot.space.factors[robot.joint_index("ball") - 1]
    q = robot.neutral
    q[factor.q] = factor.space.integrate(q[factor.q], turn)
    still = robot.at(q, np.zeros(robot.nv))
    assert JointSpring(robot, "ball", 2.5).force_at(still) == pytest.approx(-2.5 * turn, rel=1e-12)


@pytest.mark.parametrize("kind", ["pin", "ball"])
def test_a_spring_on_a_joint_is_that_at_a_hinge_in_its_place(kind: str) -> None:
    """Case 11: a tree joint seen as a cut: the joint spring gives the joint forces of a hinge spring between the two
    frames that the joint holds together."""
    joint: Any = {"pin": pin.JointModelRZ(), "ball": pin.JointModelSpherical()}[kind]
    hinge = {"pin": Hinge.pin(), "ball": Hinge.ball()}[kind]
    model = pin.Model()
    model.appendBodyToJoint(model.addJoint(0, pin.JointModelFreeFlyer(), placement(1), "base"), box(), placement(2))
    model.appendBodyToJoint(model.addJoint(1, joint, placement(3), "joint"), box(), placement(4))
    robot = Robot(model, kind)
    seat = robot.frame("base", placement(3))
    between = Closure(robot, seat, "joint", hinge, name="between")
    rng = np.random.default_rng(6)
    n = hinge.dofs
    K, D = rng.uniform(1.0, 9.0, n), rng.uniform(0.1, 1.0, n)
    motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
    on_joint = JointSpring(robot, "joint", K, D).generalised(motion)
    assert on_joint == pytest.approx(HingeSpring(between, K, D).generalised(motion), rel=1e-8, abs=1e-8)
    law = {
        "pin": lambda angle, rate: -K[0] * angle - D[0] * rate,
        "ball": lambda q, w: -K * pin.log3(pin.Quaternion(q).toRotationMatrix()) - D * w,
    }[kind]
    if kind == "pin":
        assert HingeForce(between, law).generalised(motion) == pytest.approx(on_joint, rel=1e-8, abs=1e-8)
    same = K[0] * np.ones(n)
    isotropic = {"pin": lambda q, v: -K[0] * q, "ball": lambda q, v: -K[0] * pin.log3(pin.Quaternion(q).matrix())}[kind]
    truth = JointSpring(robot, "joint", same).generalised(motion)
    assert JointLaw(robot, "joint", isotropic).generalised(motion) == pytest.approx(truth, rel=1e-9, abs=1e-9)


def box() -> Any:
    return pin.Inertia.FromBox(1.0, 0.2, 0.3, 0.4)


def test_springs_count_turns_where_the_configuration_does() -> None:
    """Item 5, joint laws: an angle of 2 pi + 0.1 is stretched by that, a (cos, sin) by 0.1."""
    robot = chain()
    q = robot.configuration({"revolute": 2 * np.pi + 0.1, "continuous": 2 * np.pi + 0.1})
    still = robot.at(q, np.zeros(robot.nv))
    assert JointSpring(robot, "revolute", 2.0).force_at(still) == pytest.approx([-2.0 * (2 * np.pi + 0.1)])
    assert JointSpring(robot, "continuous", 2.0).force_at(still) == pytest.approx([-0.2])


@pytest.mark.parametrize("joint", JOINTS)
def test_a_law_receives_the_coordinates_of_its_joint(joint: str) -> None:
    """Item 5, joint laws: numbers of a joint with one coordinate, arrays of others, copies; what it gives is the force
    on that joint alone."""
    robot, motion = chain(), random_motion(3)
    factor = robot.space.factors[robot.joint_index(joint) - 1]
    seen: list[Any] = []

    def law(q: Any, v: Any) -> Any:
        seen.extend((q, v))
        return -2.0 * v

    force = JointLaw(robot, joint, law).generalised(motion)
    q, v = seen
    assert np.array_equal(np.atleast_1d(q), motion.q[factor.q])
    assert np.array_equal(np.atleast_1d(v), motion.v[factor.v])
    assert isinstance(q, float) == (factor.space.nq == 1)
    assert force[factor.v] == pytest.approx(-2.0 * motion.v[factor.v])
    assert not np.delete(force, np.arange(robot.nv)[factor.v]).any()
    if not isinstance(v, float):
        v[:] = 0.0  # its own copy
        assert motion.v[factor.v].all()


def test_laws_with_a_potential_and_in_time() -> None:
    """Item 5, joint laws: a pendulum spring k sin q has the energy k (1 - cos q); a motor in time takes the time."""
    robot = chain()
    q = random_motion(4).q
    still = robot.at(q, np.zeros(robot.nv))
    law = JointLaw(robot, "revolute", lambda q, v: -3.0 * np.sin(q), lambda q: 3.0 * (1.0 - np.cos(q)))
    assert law.generalised(still) == pytest.approx(-slope(law.energy, robot, q), rel=1e-7, abs=1e-8)
    motor = JointLaw(robot, "slider", lambda q, v, t: 5.0 * t)
    assert motor.at(2.0).force_at(still) == pytest.approx([10.0])
    with pytest.raises(NoTimeError, match="law at joint 'slider'"):
        motor.generalised(still)
    with pytest.raises(NoEnergyError, match="law at joint 'slider'"):
        motor.energy(q)


@pytest.mark.parametrize("joint", JOINTS)
def test_joint_laws_enter_the_dynamics_as_tau(joint: str) -> None:
    """Item 5, joint laws: as `external=` of forward dynamics what `pinocchio.aba` gives with the same joint forces."""
    robot, motion = chain(), random_motion(5)
    spring = JointSpring(robot, joint, 3.0, 0.5)
    found = forward_dynamics(ConstraintSet(robot, []), motion, external=[spring]).or_raise().acceleration
    model: Any = robot.model
    truth = pin.aba(model, model.createData(), motion.q, motion.v, spring.generalised(motion))
    assert found == pytest.approx(truth, rel=1e-8, abs=1e-8)


def test_a_law_at_a_cut_hinge() -> None:
    """Case 11: T at a cut as a function of hinge coordinates, rates and time: the spring's own force when it is that of
    a spring, and T of the result."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    cut: Any = rows["cut"]
    spring = HingeSpring(cut, 4.0, 0.5)
    law = HingeForce(cut, lambda angle, rate: -4.0 * angle - 0.5 * rate)
    assert law.generalised(motion) == pytest.approx(spring.generalised(motion), rel=1e-12)
    assert law.on_successor(motion) == pytest.approx(spring.on_successor(motion), rel=1e-12)
    driven = HingeForce(cut, lambda angle, rate, t: 3.0 * t)
    found = forward_dynamics(rows, motion, external=[driven.at(2.0)]).or_raise()
    truth = forward_dynamics(rows, motion, external=[HingeForce(cut, 6.0)]).or_raise()
    assert found.acceleration == pytest.approx(truth.acceleration, rel=1e-10)
    assert found.hinge_force("cut") == pytest.approx([6.0], rel=1e-9)
    with pytest.raises(NoTimeError, match="force at the hinge of 'cut'"):
        driven.generalised(motion)
    wrong: Any
    for wrong, kind, said in (
        (lambda angle: 0.0, WrongObjectError, ""),
        (lambda angle, rate: [1.0, 2.0], SizeError, "received 2"),
        (lambda angle, rate: np.nan, NotFiniteError, ""),
        (lambda angle, rate: None, DtypeError, "received NoneType"),
    ):
        with pytest.raises(kind, match=f"force at the hinge of 'cut'.*{said}"):
            HingeForce(cut, wrong).generalised(motion)


def test_bad_joint_laws_are_refused_by_name() -> None:
    """Bad input: typed errors that name the culprit, when it is made or when its law gives nothing of use."""
    robot, motion = chain(), random_motion(6)
    nothing: Any = 3

    def law(f: Any, joint: str = "ball") -> JointLaw:
        return JointLaw(robot, joint, f)

    made: list[tuple[Any, type[ConstraintError], str]] = [
        (lambda: JointSpring(nothing, "ball", 1.0), WrongObjectError, "robot of a joint spring"),
        (lambda: JointSpring(robot, "bal", 1.0), UnknownJointError, "ball"),
        (lambda: JointSpring(robot, nothing, 1.0), WrongObjectError, "joint of a joint spring"),
        (lambda: JointSpring(robot, "ball", -1.0), OptionError, "stiffness of a spring at joint 'ball'"),
        (lambda: JointSpring(robot, "ball", 1.0, [1.0, -1.0, 1.0]), OptionError, "damping of a spring at joint 'ball'"),
        (lambda: JointSpring(robot, "ball", [1.0, 2.0]), SizeError, "stiffness of a spring at joint 'ball'"),
        (lambda: JointSpring(robot, "ball", 1.0, rest=[0, 0, 0, 2.0]), NotNormalizedError, "rest of a spring"),
        (lambda: JointSpring(robot, "ball", 1.0, rest=[0.0] * 3), SizeError, "rest of a spring at joint 'ball'"),
        (lambda: JointLaw(nothing, "ball", np.add), WrongObjectError, "robot of a joint law"),
        (lambda: JointLaw(robot, "bal", np.add), UnknownJointError, "ball"),
        (lambda: law(nothing), WrongObjectError, r"law at joint 'ball'.*f\(q, v\) or f\(q, v, t\)"),
        (lambda: law(lambda q: q), WrongObjectError, "law at joint 'ball'"),
        (lambda: law(lambda q, v: v[:2]).generalised(motion), SizeError, "law at joint 'ball'"),
        (lambda: law(lambda q, v: 1.0).generalised(motion), SizeError, "law at joint 'ball'"),
        (lambda: law(lambda q, v: None).generalised(motion), DtypeError, "law at joint 'ball'"),
        (lambda: law(lambda q, v: v * np.nan).generalised(motion), NotFiniteError, "law at joint 'ball'"),
        (lambda: JointLaw(robot, "ball", np.add, nothing), WrongObjectError, "potential of a law at joint 'ball'"),
    ]
    for make, kind, said in made:
        with pytest.raises(kind, match=said):
            make()
    other = sample_two_arms()
    elsewhere = other.at(other.neutral, np.zeros(other.nv))
    for force in (JointSpring(robot, "ball", 1.0), law(lambda q, v: -v)):
        with pytest.raises(RobotMismatchError, match="at joint 'ball': the motion is of another robot"):
            force.generalised(elsewhere)

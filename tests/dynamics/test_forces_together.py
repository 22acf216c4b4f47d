"""All that acts on a robot as one value: the sum, its time, forces by body, energy, and its places in the dynamics."""

from __future__ import annotations

import pickle
from math import cos, sin
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body, point
from dynamics.test_links import slope
from linkages import PREDECESSOR, SUCCESSOR, arm_and_body, moving, upright

from constraints.dynamics import (
    ExternalForce,
    Forces,
    FrameLink,
    HingeForce,
    HingeSpring,
    JointLaw,
    JointSpring,
    MotionStatus,
    PointLink,
    PointSpring,
    constrained_system,
    forward_dynamics,
    inverse_dynamics,
    simulate,
)
from constraints.dynamics.laws.law import NoEnergyError, NoTimeError
from constraints.errors import (
    DtypeError,
    NotFiniteError,
    RobotMismatchError,
    SizeError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.loops import Axes, Closure, ConstraintSet, Hinge
from constraints.models import sample_two_arms

WORLD = Axes.LOCAL_WORLD_ALIGNED


class Drag:
    """A force of one's own, without wrenches."""

    def generalised(self, motion: Any) -> np.ndarray:
        return -0.3 * motion.v


def cut() -> Closure:
    return Closure(arm_and_body(), PREDECESSOR, SUCCESSOR, Hinge.ball(), name="cut")


def glue(pose: Any, twist: np.ndarray) -> np.ndarray:
    return -2.0 * twist


def laws() -> list[Any]:
    """One of each kind."""
    robot, joint = arm_and_body(), cut()
    return [
        PointSpring(robot, "two", "tail", 20.0, 1.0, 0.1),
        PointLink(robot, None, "tip", lambda length, rate, t: 3.0 * t - rate),
        FrameLink(robot, PREDECESSOR, SUCCESSOR, glue),
        ExternalForce("tip", lambda motion, t: np.array([t, 0.0, 1.0, 0.0, 0.5, 0.0]), WORLD),
        ExternalForce("two", np.arange(6.0)),
        HingeForce(joint, [1.0, -2.0, 3.0]),
        HingeSpring(joint, 5.0, 0.3),
        JointSpring(robot, "one", 4.0, 0.2),
        JointLaw(robot, "tail", lambda q, v, t: np.cos(t)),
        Drag(),
    ]


def state(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    robot, rng = arm_and_body(), np.random.default_rng(seed)
    return robot.random(rng), rng.standard_normal(robot.nv)


def test_the_sum_starts_from_zero() -> None:
    """Item 5, forces(q, v, t): zero without laws; the sum of all with them, each at its time; asked twice the same."""
    robot = arm_and_body()
    q, v = state()
    assert not Forces(robot)(q, v, 1.0).any()
    forces = Forces(robot, laws())
    for t in (0.0, 0.7):
        motion = robot.at(q, v)
        each = [(law.at(t) if hasattr(law, "at") else law).generalised(motion) for law in laws()]
        assert forces(q, v, t) == pytest.approx(np.sum(each, axis=0), rel=1e-12, abs=1e-12)
    assert np.array_equal(forces(q, v, 0.7), forces(q, v, 0.7))
    assert np.abs(forces(q, v, 0.7) - forces(q, v, 0.0)).max() > 0.1
    with pytest.raises(NoTimeError, match=r"law of a point link of world and tip .*\.at\(t\)"):
        forces(q, v)
    assert len(forces) == len(laws())
    assert repr(Forces(robot, [Drag()])) == "Forces('arm and body', [Drag])"


def test_laws_that_need_no_time_are_asked_without() -> None:
    """Item 5: t may be left out where no law takes it."""
    robot = arm_and_body()
    q, v = state()
    forces = Forces(robot, [PointSpring(robot, "two", "tail", 20.0), Drag()])
    assert np.array_equal(forces(q, v), forces(q, v, 3.0))


def test_forces_act_wherever_a_force_does() -> None:
    """Item 5: as `external=` of forward and inverse dynamics, as a whole, among others, or inside other Forces."""
    robot = arm_and_body()
    motion = robot.at(*state(1))
    rows = ConstraintSet(robot, [])
    forces = Forces(robot, laws()).at(0.4)
    total = forces.generalised(motion)
    truth = pin.aba(robot.model, robot.model.createData(), motion.q, motion.v, total)
    nested = Forces(robot, [forces, Drag()])
    for external in (forces, [forces], list(forces), Forces(robot, [forces])):
        found = forward_dynamics(rows, motion, external=external).or_raise()
        assert found.acceleration == pytest.approx(truth, rel=1e-8, abs=1e-8)
        assert constrained_system(rows, motion, external=external).bias == pytest.approx(motion.bias_force() - total)
    assert len(nested) == len(forces) + 1
    assert nested.generalised(motion) == pytest.approx(total - 0.3 * motion.v)
    found = inverse_dynamics(rows, motion, truth, actuation=np.eye(robot.nv), external=forces).or_raise()
    assert np.abs(found.effort).max() < 1e-8 * (1.0 + np.abs(total).max())


def test_forces_at_a_cut_are_known_to_the_result() -> None:
    """Case 11: laws inside Forces count in the force across a cut, and one that replaces replaces."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    joint: Any = rows["cut"]
    forces = Forces(rows.robot, [HingeForce(joint, 9.0), HingeForce(joint, 2.0, replace=True), HingeForce(joint, 1.0)])
    assert len(forces) == 2
    found = forward_dynamics(rows, motion, external=forces).or_raise()
    assert found.hinge_force("cut") == pytest.approx([3.0], rel=1e-9)
    again = forward_dynamics(rows, motion, external=[HingeSpring(joint, 100.0), forces]).or_raise()
    assert again.acceleration == pytest.approx(found.acceleration, rel=1e-9)


# By body.


@pytest.mark.parametrize("axes", [WORLD, Axes.LOCAL])
def test_forces_by_body_are_the_generalised_force(axes: Axes) -> None:
    """Item 5, frc and trq: forces and moments at the centres of mass do what the generalised force does: truth by
    `pinocchio.rnea` with them as external forces."""
    robot, (q, v) = arm_and_body(), state(2)
    motion = robot.at(q, v)
    forces = Forces(robot, laws()).at(0.3)
    found = forces.on_bodies(motion, axes)
    model: Any = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    assert found.bodies == tuple(model.names)
    outside = [pin.Force.Zero() for _ in range(model.njoints)]
    for i in range(1, model.njoints):
        R = data.oMi[i].rotation if axes is WORLD else np.eye(3)
        f, m = R.T @ found.forces[i], R.T @ found.moments[i]
        outside[i] = pin.Force(f, m + np.cross(model.inertias[i].lever, f))
        assert np.array_equal(found.of(model.names[i]), np.concatenate([found.forces[i], found.moments[i]]))
    zero = np.zeros(robot.nv)
    by_bodies = pin.rnea(model, data, q, v, zero) - pin.rnea(model, data, q, v, zero, outside)
    assert by_bodies + found.joint_forces == pytest.approx(forces.generalised(motion), rel=1e-9, abs=1e-9)
    alone = Forces(robot, laws()[-3:]).at(0.3).generalised(motion)
    assert found.joint_forces == pytest.approx(alone)
    assert str(found).splitlines()[1].startswith("  universe: [")
    with pytest.raises(UnknownNameError, match="tail"):
        found.of("tial")


def test_internal_forces_sum_to_zero_over_all_bodies() -> None:
    """Case 10: of links and hinges alone, the world's reactions among them: forces and moments sum to zero."""
    robot, motion = arm_and_body(), arm_and_body().at(*state(3))
    found = Forces(robot, [law for law in laws()[:7] if not isinstance(law, ExternalForce)]).at(0.3).on_bodies(motion)
    model: Any = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, motion.q)
    centers = [data.oMi[i].act(model.inertias[i].lever) if i else np.zeros(3) for i in range(model.njoints)]
    size = np.abs(found.forces).max()
    assert size > 1.0
    assert np.abs(found.forces.sum(axis=0)).max() < 1e-12 * size
    assert np.abs((found.moments + np.cross(centers, found.forces)).sum(axis=0)).max() < 1e-10 * size
    assert found.forces[0].any()  # the world holds one end of a link
    assert not found.joint_forces.any()


def test_a_hanging_mass_by_body() -> None:
    """Case 9: a link that carries a mass: the force on its body, and the opposite on the world."""
    robot = one_body(pin.JointModelTranslation(), point(2.0), "mass")
    found = Forces(robot, [PointLink(robot, None, "mass", 2.0 * 9.81)])
    motion = robot.at([0.0, 0.0, -1.0], np.zeros(3))
    by_body = found.on_bodies(motion)
    assert by_body.of("mass") == pytest.approx([0.0, 0.0, 2.0 * 9.81, 0.0, 0.0, 0.0])
    assert by_body.of("universe") == pytest.approx([0.0, 0.0, -2.0 * 9.81, 0.0, 0.0, 0.0])
    still = forward_dynamics(ConstraintSet(robot, []), motion, external=found).or_raise()
    assert still.acceleration == pytest.approx(np.zeros(3), abs=1e-12)


# Energy.


def test_the_energy_is_that_of_all() -> None:
    """Item 5, energies: the sum; joint forces at rest are its slope; a law without energy is named."""
    robot, (q, _) = arm_and_body(), state(4)
    pin_of = Closure(robot, PREDECESSOR, SUCCESSOR, Hinge.pin(), name="pin")

    def pull(pose: Any, twist: np.ndarray) -> np.ndarray:
        return np.r_[-4.0 * pose.translation @ pose.rotation, np.zeros(3)]

    conservative = Forces(
        robot,
        [
            PointSpring(robot, "two", "tail", 20.0, 1.0, 0.1),
            PointLink(robot, None, "tip", 3.0),
            HingeSpring(cut(), 5.0, 0.3),
            HingeForce(pin_of, lambda angle, rate: -sin(angle), potential=lambda angle: -cos(angle)),
            FrameLink(robot, "two", "tail", pull, potential=lambda pose: 2.0 * pose.translation @ pose.translation),
            JointSpring(robot, "one", 4.0),
        ],
    )
    truth = -slope(conservative.energy, robot, q)
    assert conservative(q, np.zeros(robot.nv)) == pytest.approx(truth, rel=1e-6, abs=1e-6)
    with pytest.raises(NoEnergyError, match=r"force 6 \(Drag\)"):
        Forces(robot, [conservative, Drag()]).energy(q)
    with pytest.raises(NoEnergyError, match="law at joint 'one'"):
        Forces(robot, [JointLaw(robot, "one", lambda q, v: -v)]).energy(q)
    with pytest.raises(NoEnergyError, match="force at the hinge of 'cut'"):
        HingeForce(cut(), [1.0, 2.0, 3.0]).energy(q)


# In time.


def test_a_motion_under_forces_in_time() -> None:
    """Item 5, `simulate(forces=Forces)`: a mass pushed by F0 sin(W t) is at F0 / (m W^2) (W t - sin(W t))."""
    robot = one_body(pin.JointModelTranslation(), point(2.0), "mass", gravity=0.0)
    push = ExternalForce("mass", lambda motion, t: [3.0 * np.sin(4.0 * t), 0.0, 0.0, 0.0, 0.0, 0.0])
    rows = ConstraintSet(robot, [])
    record = simulate(rows, np.zeros(3), np.zeros(3), 1.0, 0.01, forces=Forces(robot, [push])).or_raise()
    x = 3.0 / (2.0 * 16.0) * (4.0 * record.times - np.sin(4.0 * record.times))
    assert record.qs[:, 0] == pytest.approx(x, abs=1e-8)
    same = simulate(
        rows, np.zeros(3), np.zeros(3), 1.0, 0.01, forces=lambda motion, t: [3.0 * np.sin(4.0 * t), 0.0, 0.0]
    )
    assert record.q == pytest.approx(same.q, abs=1e-14)


def test_a_motion_keeps_the_energy_of_its_springs() -> None:
    """Item 5: a five-bar with springs at its cut, on a joint and across: kinetic, potential and spring energy stay, by
    the order of the scheme."""
    rows, closed = upright("five_bar")
    robot, joint = rows.robot, rows["cut"]
    assert isinstance(joint, Closure)
    springs = Forces(
        robot,
        [
            HingeSpring(joint, 0.05),
            JointSpring(robot, robot.joint_names[0], 0.1),
            PointSpring(robot, "left_inner_end", "right_inner_end", 20.0, length=0.2),
        ],
    )
    drifts: list[float] = []
    for step in (0.004, 0.002):
        record = simulate(rows, closed, np.zeros(robot.nv), 0.1, step, forces=springs).or_raise()
        stored = np.array([springs.energy(q) for q in record.qs])
        whole = record.energy + stored
        assert np.ptp(stored) > 1e-2  # they did work
        drifts.append(float(np.abs(whole - whole[0]).max()))
    assert drifts[1] < drifts[0] / 8.0
    assert drifts[1] < 1e-9


def test_a_link_whose_ends_meet_ends_a_motion_by_name() -> None:
    """Case 9: two ends that come to coincide on the way are a status that names the link, with the states before."""
    robot = one_body(pin.JointModelTranslation(), point(), "mass", gravity=0.0)
    link = Forces(robot, [PointLink(robot, None, "mass", lambda length, rate: 0.0 * length)])
    record = simulate(ConstraintSet(robot, []), [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 2.0, 0.25, forces=link)
    assert record.status is MotionStatus.NO_ACCELERATION
    assert "point link of world and mass: the ends coincide" in record.reason
    assert 0.5 <= record.time <= 1.0
    assert np.isfinite(record.qs).all()


def test_forces_of_another_robot_do_not_move_it() -> None:
    """Bad input: `simulate` refuses them at its door."""
    rows, closed = upright("five_bar")
    robot = arm_and_body()
    with pytest.raises(RobotMismatchError, match="forces of a motion"):
        simulate(rows, closed, np.zeros(rows.robot.nv), 0.1, 0.01, forces=Forces(robot))


# External forces as functions.


def test_an_external_force_as_a_function_of_the_state() -> None:
    """Item 5, external forces: drag on a tip: -c v in the axes of the world, which takes the power c v^2."""
    robot, (q, v) = arm_and_body(), state(5)
    motion = robot.at(q, v)

    def drag(motion: Any) -> np.ndarray:
        velocity = motion.posture.placement("tip").rotation @ motion.velocity("tip")[:3]
        return np.concatenate([-0.7 * velocity, np.zeros(3)])

    force = ExternalForce("tip", drag, WORLD)
    speed = motion.velocity("tip")[:3]
    assert force.generalised(motion) @ v == pytest.approx(-0.7 * float(speed @ speed))
    assert force.at(3.0) is force
    for wrong, kind in (
        (lambda: np.zeros(6), WrongObjectError),
        (lambda motion: np.zeros(3), SizeError),
        (lambda motion: "x", DtypeError),
        (lambda motion: np.full(6, np.inf), NotFiniteError),
    ):
        with pytest.raises(kind, match="wrench of an external force"):
            ExternalForce("tip", wrong).generalised(motion)


def test_bad_forces_are_refused_by_name() -> None:
    """Bad input: typed errors that name the culprit."""
    robot, other = arm_and_body(), sample_two_arms()
    nothing: Any = 3
    free = ConstraintSet(robot, [])
    kind_of: Any = Drag
    elsewhere = other.at(other.neutral, np.zeros(other.nv))

    class Short:
        def generalised(self, motion: Any) -> np.ndarray:
            return motion.v[:2]

    for make, kind, said in (
        (lambda: Forces(nothing), WrongObjectError, "robot of forces"),
        (lambda: Forces(robot, nothing), WrongObjectError, "laws of forces"),
        (lambda: forward_dynamics(free, robot.at(*state()), external=nothing - 3), WrongObjectError, "external forces"),
        (lambda: Forces(robot, [Drag(), nothing]), WrongObjectError, "external force 1"),
        (lambda: Forces(robot, [kind_of]), WrongObjectError, "external force 0"),
        (lambda: Forces(robot, [JointSpring(other, other.joint_names[0], 1.0)]), RobotMismatchError, "JointSpring"),
        (lambda: Forces(robot, [Drag(), Forces(other, [Drag()])]), RobotMismatchError, r"force 1 \(Forces\)"),
        (lambda: Forces(robot).generalised(elsewhere), RobotMismatchError, "arm and body"),
        (lambda: Forces(robot).on_bodies(elsewhere), RobotMismatchError, "arm and body"),
        (lambda: Forces(robot).at(nothing * np.nan), NotFiniteError, "time of forces"),
        (lambda: Forces(robot, [Short()])(*state()), SizeError, r"external force 0 \(Short\)"),
        (lambda: Forces(robot).on_bodies(robot.at(*state()), nothing), WrongObjectError, "axes of body forces"),
    ):
        with pytest.raises(kind, match=said):
            make()


def test_forces_pickle() -> None:
    """Laws that pickle make forces that do."""
    robot, (q, v) = arm_and_body(), state(6)
    forces = Forces(robot, [PointSpring(robot, "two", "tail", 20.0), FrameLink(robot, PREDECESSOR, SUCCESSOR, glue)])
    assert pickle.loads(pickle.dumps(forces))(q, v) == pytest.approx(forces(q, v), rel=1e-14)

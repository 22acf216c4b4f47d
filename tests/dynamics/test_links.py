"""Links between points and between frames: signs, thresholds, laws in time, energies."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from linkages import PREDECESSOR, SUCCESSOR, arm_and_body, upright
from samples import placement

from constraints import Robot, errors
from constraints.dynamics import FrameLink, HingeSpring, LinkState, LinkStatus, PointLink, PointSpring, forward_dynamics
from constraints.dynamics.laws.law import NoEnergyError, NoTimeError
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.loops.closures import FixedClosureError
from constraints.models import sample_two_arms


def two_masses(m: float = 1.0) -> Robot:
    """Two point masses in space, without gravity."""
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    for name, mass in (("a", m), ("b", 3.0 * m)):
        joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    return Robot(model, "masses")


APART = np.array([0.0, 0.0, 0.0, 3.0, 0.0, 4.0])
LEAVING = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
TOGETHER = np.zeros(6)


def slope(energy: Callable[[np.ndarray], float], robot: Robot, q: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Derivative of an energy by central differences along the manifold (nv,)."""
    ahead, behind = ([energy(robot.space.integrate(q, side * h * e)) for e in np.eye(robot.nv)] for side in (1.0, -1.0))
    return (np.array(ahead) - np.array(behind)) / (2.0 * h)


# Links between points: case 9.


@pytest.mark.parametrize("law", [7.0, lambda length, rate: 7.0], ids=["number", "function"])
def test_a_positive_link_pulls(law: Any) -> None:
    """Case 9: Fl > 0 is traction: F on b is -Fl (x_b - x_a) / |x_b - x_a|, on a the opposite; Fl < 0 pushes."""
    robot = two_masses()
    motion = robot.at(APART, LEAVING)
    link = PointLink(robot, "a", "b", law)
    assert link.link_force(motion) == 7.0
    assert link.force(motion) == pytest.approx([-4.2, 0.0, -5.6])
    assert link.force(motion, "a") == pytest.approx([4.2, 0.0, 5.6])
    # the two masses come closer: by Newton, a_i = F_i / m_i
    free = forward_dynamics(ConstraintSet(robot, []), motion, external=[link]).or_raise().acceleration
    assert free == pytest.approx([4.2, 0.0, 5.6, -1.4, 0.0, -5.6 / 3.0])
    assert (APART[3:] - APART[:3]) @ (free[3:] - free[:3]) < 0.0
    pushes = PointLink(robot, "a", "b", -7.0)
    assert pushes.force(motion) == pytest.approx(-link.force(motion))


def test_swapped_ends_give_the_opposite_force() -> None:
    """Case 9: on the other point the opposite force; the generalised one is the same, whichever end is named first."""
    robot = sample_two_arms()
    rng = np.random.default_rng(0)
    motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))

    def law(length: float, rate: float) -> float:
        return 3.0 * length**2 + 0.5 * rate

    one = PointLink(robot, "left_tool", "right_tool", law)
    two = PointLink(robot, "right_tool", "left_tool", law)
    assert one.force(motion) == pytest.approx(-two.force(motion), rel=1e-12)
    assert one.force(motion) == pytest.approx(two.force(motion, "a"), rel=1e-12)
    assert one.generalised(motion) == pytest.approx(two.generalised(motion), rel=1e-12)
    assert one.state(motion).force == pytest.approx(one.force(motion), rel=1e-12)
    assert one.state(motion).force == pytest.approx(-two.state(motion).force, rel=1e-12)


def test_length_and_rate_are_those_of_the_line() -> None:
    """Case 9: a law receives |x| and d|x|/dt, by differences along the motion."""
    robot = sample_two_arms()
    rng = np.random.default_rng(1)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    seen: list[tuple[float, float]] = []

    def law(length: float, rate: float) -> float:
        seen.append((length, rate))
        return 0.0

    link = PointLink(robot, "left_tool", "right_tool", law)
    link.link_force(robot.at(q, v))
    h = 1e-5
    ahead, behind = (link.distance(robot.space.integrate(q, side * h * v)) for side in (1.0, -1.0))
    assert seen == [(pytest.approx(link.distance(q), rel=1e-12), pytest.approx((ahead - behind) / (2 * h), rel=1e-6))]


def test_a_law_of_a_spring_is_a_spring() -> None:
    """Case 9: a law k (l - l0) + d l' gives what PointSpring gives, to rounding, force, joint forces and energy."""
    robot = sample_two_arms()
    rng = np.random.default_rng(2)
    motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
    for a, b in (("left_tool", "right_tool"), (None, "left_tool"), ("right_tool", placement(4))):
        spring = PointSpring(robot, a, b, 30.0, 2.0, 0.3, 1.5)
        link = PointLink(
            robot,
            a,
            b,
            lambda length, rate: 1.5 + 30.0 * (length - 0.3) + 2.0 * rate,
            lambda length: 15.0 * (length - 0.3) ** 2 + 1.5 * length,
        )
        assert link.generalised(motion) == pytest.approx(spring.generalised(motion), rel=1e-12)
        assert link.force(motion) == pytest.approx(spring.force(motion), rel=1e-12)
        assert link.energy(motion.q) == pytest.approx(spring.energy(motion.q), rel=1e-12)
        assert spring.state(motion).force == pytest.approx(spring.force(motion), rel=1e-12)
        assert spring.state(motion).tension == pytest.approx(spring.link_force(motion), rel=1e-12)


def test_two_masses_on_a_spring_swing_as_the_book_says() -> None:
    """Case 9: two bodies m1, m2 on a spring: the relative acceleration is -k x (1/m1 + 1/m2), the square of
    omega = sqrt(k / m) with the reduced mass m."""
    robot, k, l0 = two_masses(2.0), 50.0, 1.0
    link = PointLink(robot, "a", "b", lambda length, rate: k * (length - l0))
    q = np.array([0.0, 0.0, 0.0, 1.2, 0.0, 0.0])
    a = forward_dynamics(ConstraintSet(robot, []), robot.at(q, np.zeros(6)), external=[link]).or_raise().acceleration
    reduced = 2.0 * 6.0 / 8.0
    assert a[3] - a[0] == pytest.approx(-(k / reduced) * 0.2, rel=1e-12)


def test_any_law_with_a_potential_is_the_slope_of_its_energy() -> None:
    """Case 9, energies: joint forces are -dE/dq by differences, E'(l) = Fl: a stiffening spring, a constant force."""
    robot = sample_two_arms()
    q = robot.random(np.random.default_rng(5))
    still = robot.at(q, np.zeros(robot.nv))
    for link in (
        PointLink(robot, "left_tool", "right_tool", lambda x, rate: 8.0 * x**3, lambda x: 2.0 * x**4),
        PointLink(robot, None, "right_tool", 12.0),
    ):
        assert link.generalised(still) == pytest.approx(-slope(link.energy, robot, q), rel=1e-7, abs=1e-7)


# Coincident ends.


def test_ends_that_coincide_are_a_status_and_infinities() -> None:
    """Case 9: below 1e-14 m the force is infinite in every component and the status says so; the law is not asked."""
    robot = two_masses()
    link = PointLink(robot, "a", "b", lambda length, rate: 1.0 / length)
    state = link.state(robot.at(TOGETHER, LEAVING))
    assert isinstance(state, LinkState)
    assert state.status is LinkStatus.COINCIDENT
    assert not state.success
    assert (state.force == np.inf).all()
    assert state.tension == np.inf
    assert (state.length, state.rate) == (0.0, 1.0)
    assert str(state).startswith("point link of a and b")
    with pytest.raises(errors.TruthValueError):
        bool(state)
    near = np.array([0.0, 0.0, 0.0, 0.9e-14, 0.0, 0.0])
    assert link.state(robot.at(near, LEAVING)).status is LinkStatus.COINCIDENT
    apart = PointLink(robot, "a", "b", 5.0).state(robot.at(near * 2.0, LEAVING))
    assert apart.status is LinkStatus.DEFINED
    assert apart.force == pytest.approx([-5.0, 0.0, 0.0])
    assert "DEFINED" in str(apart)


def test_the_threshold_is_ones_own_or_none() -> None:
    """Case 9: another threshold; zero refuses a length of zero alone; a negative one disables the test, and the force
    is what the division gives."""
    robot = two_masses()
    link = PointLink(robot, "a", "b", 5.0)
    close = robot.at(np.array([0.0, 0.0, 0.0, 1e-3, 0.0, 0.0]), LEAVING)
    together = robot.at(TOGETHER, LEAVING)
    assert link.state(close).status is LinkStatus.DEFINED
    assert link.state(close, 1e-2).status is LinkStatus.COINCIDENT
    assert (link.state(close, 1e-2).force == np.inf).all()
    assert link.state(close, 0.0).status is LinkStatus.DEFINED
    assert link.state(together, 0.0).status is LinkStatus.COINCIDENT
    untested = link.state(close, -1.0)
    assert untested.status is LinkStatus.UNTESTED
    assert untested.success
    assert untested.force == pytest.approx([-5.0, 0.0, 0.0])
    divided = link.state(together, -1.0)
    assert divided.status is LinkStatus.UNTESTED
    assert np.isnan(divided.force).all()  # 0 / 0
    assert not divided.success
    tiny = link.state(robot.at(np.array([0.0, 0.0, 0.0, 0.0, 1e-15, 0.0]), LEAVING), -1.0)
    assert tiny.force == pytest.approx([0.0, -5.0, 0.0])
    for wrong, kind in ((np.nan, errors.NotFiniteError), ("x", errors.DtypeError)):
        bad: Any = wrong
        with pytest.raises(kind, match="threshold of a point link"):
            link.state(close, bad)


def test_a_coincident_link_does_not_poison_the_dynamics() -> None:
    """Case 9: in dynamics an error names the link, whatever a threshold was elsewhere; a spring of zero length goes on
    by its limit, which its state tells from a force with a direction."""
    robot = two_masses()
    together = robot.at(TOGETHER, LEAVING)
    rows = ConstraintSet(robot, [])
    stretched, pulled = PointSpring(robot, "a", "b", 10.0, 0.0, 0.1), PointSpring(robot, "a", "b", tension=1.0)
    for link in (PointLink(robot, "a", "b", 5.0), stretched, pulled):
        for ask in (
            lambda link=link: link.generalised(together),
            lambda link=link: link.force(together),
            lambda link=link: link.link_force(together),
            lambda link=link: link.on_bodies(together),
            lambda link=link: link.distance_rates(TOGETHER),
            lambda link=link: forward_dynamics(rows, together, external=[link]),
        ):
            with pytest.raises(errors.UndefinedError, match=r"point \w+ of a and b: the ends coincide"):
                ask()
    soft = PointSpring(robot, "a", "b", 10.0, 3.0)
    assert not soft.generalised(robot.at(TOGETHER, np.zeros(6))).any()
    assert soft.energy(TOGETHER) == 0.0
    near = soft.force(robot.at(np.array([0.0, 0.0, 0.0, 1e-9, 0.0, 0.0]), LEAVING))
    assert near == pytest.approx([-3.0, 0.0, 0.0], abs=1e-7)
    with pytest.raises(errors.UndefinedError, match="ends coincide"):
        soft.distance_rates(TOGETHER)
    state = soft.state(together)
    assert state.status is LinkStatus.LIMIT
    assert state.force == pytest.approx([-3.0, 0.0, 0.0])
    assert state.force == pytest.approx(soft.force(together))
    stiff = stretched.state(together)
    assert stiff.status is LinkStatus.COINCIDENT
    assert (stiff.force == np.inf).all()


# Time.


def test_laws_in_time() -> None:
    """Item 5: an actuator whose force varies in time takes the time from outside; without one it says so."""
    robot = two_masses()
    motion = robot.at(APART, LEAVING)
    link = PointLink(robot, "a", "b", lambda length, rate, t: 2.0 * t)
    assert link.at(3.0).link_force(motion) == 6.0
    assert link.at(3.0).at(1.0).link_force(motion) == 2.0
    assert link.at(3.0).force(motion) == pytest.approx([-3.6, 0.0, -4.8])
    for ask in (link.link_force, link.state, link.generalised):
        with pytest.raises(NoTimeError, match=r"point link of a and b depends on time"):
            ask(motion)
    with pytest.raises(errors.NotFiniteError, match="time of law of a point link"):
        link.at(np.inf)
    still = PointLink(robot, "a", "b", lambda length, rate: 1.0)
    assert still.at(2.0) is still


def test_an_argument_with_a_default_is_no_time() -> None:
    """Item 5: the idiom `k=k` of a loop is not filled with the time, an argument named t is."""
    robot = two_masses()
    motion = robot.at(APART, LEAVING)
    kept = PointLink(robot, "a", "b", lambda length, rate, k=4.0: k * length)
    assert kept.at(100.0).link_force(motion) == pytest.approx(20.0)
    timed = PointLink(robot, "a", "b", lambda length, rate, t=0.5: t * length)
    assert timed.at(2.0).link_force(motion) == pytest.approx(10.0)
    with pytest.raises(NoTimeError):
        timed.link_force(motion)


# Links between frames.


def bushing(pose: Any, twist: np.ndarray) -> np.ndarray:
    """A linear bushing: translation in the axes of a, rotation vector; damped by the twist."""
    turn = pin.log3(pose.rotation)
    pull = -pose.rotation.T @ (np.array([30.0, 40.0, 50.0]) * pose.translation)
    push = -pin.Jlog3(pose.rotation).T @ (np.array([3.0, 4.0, 5.0]) * turn)
    rates = np.concatenate([pose.rotation @ twist[:3], twist[3:]])
    damped = np.array([1.0, 1.5, 2.0, 0.1, 0.2, 0.3]) * rates
    return np.concatenate([pull - pose.rotation.T @ damped[:3], push - damped[3:]])


def stored(pose: Any) -> float:
    """Its energy."""
    x, turn = pose.translation, pin.log3(pose.rotation)
    return 0.5 * float([30.0, 40.0, 50.0] @ x**2 + [3.0, 4.0, 5.0] @ turn**2)


def random_motion(seed: int) -> Any:
    robot = arm_and_body()
    rng = np.random.default_rng(seed)
    return robot.at(robot.random(rng), rng.standard_normal(robot.nv))


def test_frame_links_are_equal_and_opposite() -> None:
    """Item 5, 3D links: wrenches on the two frames sum to zero at any point; the joint forces do their power."""
    robot, motion = arm_and_body(), random_motion(3)
    link = FrameLink(robot, PREDECESSOR, SUCCESSOR, bushing)
    (b, on_b), (a, on_a) = link.on_bodies(motion)
    assert (a, b) == (link.a, link.b)
    posture = motion.posture
    in_world = [posture.placement(frame).act(pin.Force(w)).vector for frame, w in ((a, on_a), (b, on_b))]
    assert in_world[0] == pytest.approx(-in_world[1], abs=1e-10)
    X = posture.placement(a).actInv(posture.placement(b))
    twist = motion.velocity(b) - X.actInv(pin.Motion(motion.velocity(a))).vector
    assert on_b == pytest.approx(bushing(X, twist), rel=1e-12)
    assert link.wrench(motion) == pytest.approx(on_b)
    assert link.generalised(motion) @ motion.v == pytest.approx(on_b @ twist, rel=1e-10)
    # truth from plain pinocchio: the same wrenches as external forces of rnea
    model, data = robot.model, robot.model.createData()
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    for frame, wrench in ((a, on_a), (b, on_b)):
        forces[frame.joint] += frame.placement.act(pin.Force(wrench))
    zero = np.zeros(robot.nv)
    with_them = pin.rnea(model, data, motion.q, motion.v, zero, forces)
    without = pin.rnea(model, data, motion.q, motion.v, zero)
    assert link.generalised(motion) == pytest.approx(without - with_them, rel=1e-9, abs=1e-9)


def test_a_bushing_by_law_is_a_spring_on_a_free_hinge() -> None:
    """Item 5, 3D links: two ways to one bushing, a law of pose and twist, and a spring on the coordinates of a hinge
    that holds nothing."""
    robot = arm_and_body()
    free = Closure(robot, PREDECESSOR, SUCCESSOR, Hinge.free(), name="mount")
    spring = HingeSpring(free, [30.0, 40.0, 50.0, 3.0, 4.0, 5.0], [1.0, 1.5, 2.0, 0.1, 0.2, 0.3])
    link = FrameLink(robot, PREDECESSOR, SUCCESSOR, bushing, stored)
    for seed in range(5):
        motion = random_motion(seed)
        assert link.generalised(motion) == pytest.approx(spring.generalised(motion), rel=1e-9, abs=1e-9)
        assert link.energy(motion.q) == pytest.approx(spring.energy(motion.q), rel=1e-12)
        assert link.wrench(motion) == pytest.approx(spring.on_successor(motion), rel=1e-9, abs=1e-9)


def test_a_conservative_frame_link_is_the_slope_of_its_energy() -> None:
    """Item 5, 3D links: at rest the joint forces are -dE/dq by differences, between bodies and to the world; a
    coupled stiffness on log6 too."""
    robot = arm_and_body()
    rng = np.random.default_rng(8)
    root = rng.standard_normal((6, 6))
    K = root @ root.T

    def law(pose: Any, twist: np.ndarray) -> np.ndarray:
        return -pin.Jlog6(pose).T @ K @ pin.log6(pose).vector

    def energy(pose: Any) -> float:
        x = pin.log6(pose).vector
        return 0.5 * float(x @ K @ x)

    for a, b in ((PREDECESSOR, SUCCESSOR), (None, "tip"), ("tip", placement(12))):
        link = FrameLink(robot, a, b, law, energy)
        q = robot.random(rng)
        still = robot.at(q, np.zeros(robot.nv))
        assert link.generalised(still) == pytest.approx(-slope(link.energy, robot, q), rel=1e-6, abs=1e-6)


def test_a_frame_link_in_time_and_in_dynamics() -> None:
    """Item 5, 3D links: as `external=` it gives the acceleration of its joint forces."""
    robot, motion = arm_and_body(), random_motion(4)
    rows = ConstraintSet(robot, [])
    link = FrameLink(robot, None, "tip", lambda pose, twist, t: np.array([0.0, 0.0, t, 0.0, 0.0, 0.0]))
    found = forward_dynamics(rows, motion, external=[link.at(2.0)]).or_raise().acceleration
    R = motion.posture.placement("tip").rotation
    truth = 2.0 * R[:, 2] @ (R @ motion.posture.jacobian("tip")[:3])
    assert link.at(2.0).generalised(motion) == pytest.approx(truth, rel=1e-10)
    assert found == pytest.approx(forward_dynamics(rows, motion, truth).or_raise().acceleration, rel=1e-9)
    with pytest.raises(NoTimeError, match="frame link of world and tip"):
        forward_dynamics(rows, motion, external=[link])


# Bad input.


def stretch(length: float, rate: float) -> float:
    """A law at the top of a module: it pickles."""
    return 3.0 * length + rate


def test_links_pickle() -> None:
    """A link of a named law is sent to another process and acts the same."""
    robot = two_masses()
    link = PointLink(robot, "a", "b", stretch)
    back = pickle.loads(pickle.dumps(link))
    assert back.link_force(robot.at(APART, LEAVING)) == link.link_force(robot.at(APART, LEAVING)) == 15.6


def test_bad_links_are_refused_by_name() -> None:
    """Bad input: typed errors that name the culprit, when it is made or when its law gives nothing of use."""
    robot = two_masses()
    rows, _ = upright("five_bar")
    motion = robot.at(APART, LEAVING)
    nothing: Any = "robot"

    def link(law: Any, *more: Any) -> PointLink:
        return PointLink(robot, "a", "b", law, *more)

    def frames(law: Any, *more: Any) -> FrameLink:
        return FrameLink(robot, "a", "b", law, *more)

    made: list[tuple[Any, type[errors.ConstraintError], str]] = [
        (lambda: PointLink(nothing, None, "b", 1.0), errors.WrongObjectError, "robot of a point link"),
        (lambda: PointLink(robot, "nowhere", "b", 1.0), errors.UnknownFrameError, "nowhere"),
        (lambda: PointLink(robot, "a", "a", 1.0), FixedClosureError, "point link of a and a"),
        (lambda: link("pull"), errors.DtypeError, "law of a point link of a and b"),
        (lambda: link(np.nan), errors.NotFiniteError, "law of a point link"),
        (lambda: link([1.0, 2.0]), errors.SizeError, "law of a point link"),
        (lambda: link(lambda length: 1.0), errors.WrongObjectError, r"f\(length, rate\) or f\(length, rate, t\)"),
        (lambda: link(lambda a, b, c, d: 1.0), errors.WrongObjectError, "law of a point link"),
        (lambda: link(lambda *numbers: 1.0), errors.WrongObjectError, "law of a point link"),
        (lambda: link(1.0, 3.0), errors.WrongObjectError, "potential of a point link"),
        (lambda: link(lambda length, rate: np.nan).link_force(motion), errors.NotFiniteError, "law of a point link"),
        (lambda: link(lambda length, rate: "x").state(motion), errors.DtypeError, "law of a point link"),
        (lambda: link(lambda length, rate: None).generalised(motion), errors.DtypeError, "law of a point link"),
        (lambda: link(lambda length, rate: 1.0).energy(APART), NoEnergyError, "potential="),
        (lambda: link(1.0).force(motion, nothing), errors.UnknownNameError, "end of a point link"),
        (lambda: FrameLink(nothing, None, "b", bushing), errors.WrongObjectError, "robot of a frame link"),
        (lambda: FrameLink(robot, "b", "b", bushing), FixedClosureError, "frame link of b and b"),
        (lambda: frames(np.ones(6)), errors.WrongObjectError, r"f\(pose, twist\)"),
        (lambda: frames(lambda pose: np.ones(6)), errors.WrongObjectError, "law of a frame link"),
        (
            lambda: frames(lambda pose, twist: np.ones(3)).wrench(motion),
            errors.SizeError,
            "law of a frame link of a and b",
        ),
        (lambda: frames(lambda pose, twist: None).wrench(motion), errors.DtypeError, "law of a frame link"),
        (lambda: frames(bushing).energy(APART), NoEnergyError, "potential="),
    ]
    for make, kind, said in made:
        with pytest.raises(kind, match=said):
            make()
    other = rows.robot
    elsewhere = other.at(other.neutral, np.zeros(other.nv))
    for force in (link(1.0), frames(bushing)):
        for ask in (force.generalised, force.on_bodies):
            with pytest.raises(errors.RobotMismatchError, match="of a and b"):
                ask(elsewhere)

"""Forces: wrenches of constraints, forces at cut hinges, springs and dampers; truth from plain pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body
from dynamics.test_cut_forces import ring
from dynamics.test_links import slope, two_masses
from each_choice import a_few
from linkages import KEPT, PREDECESSOR, SUCCESSOR, arm_and_body, moving, upright
from loops.test_hinges import HINGES
from samples import placement

from constraints import Frame, Robot, errors, loops
from constraints.dynamics import (
    ExternalForce,
    HingeForce,
    HingeMaps,
    HingeSpring,
    Method,
    PointSpring,
    constrained_system,
    forward_dynamics,
)
from constraints.loops.closures import FixedClosureError
from constraints.models import mechanisms, sample_two_arms

WORLD = loops.Axes.LOCAL_WORLD_ALIGNED


class Cut:
    """A closure of some hinge, in a closed moving state, and the joint of a tree in its place."""

    def __init__(self, name: str, seed: int = 7, *, reverse: bool = False) -> None:
        robot, rng = arm_and_body(), np.random.default_rng(seed)
        self.closure = loops.Closure(
            robot, *((SUCCESSOR, PREDECESSOR) if reverse else (PREDECESSOR, SUCCESSOR)), HINGES[name], name="loop"
        )
        self.joint: loops.PhysicalJoint = loops.to_joint(self.closure, reverse=reverse)
        self.rows = loops.ConstraintSet(robot, [self.closure])
        q = robot.random(rng)
        if self.closure.group.nv:
            q = loops.assemble_position(self.rows, q, options=loops.AssemblyOptions(tolerance=1e-13)).or_raise().q
        self.motion = robot.at(q, loops.assemble_velocity(self.rows, q, rng.standard_normal(robot.nv)))
        self.q, self.v = q, self.motion.v
        self.after, self.rates = self.joint.state(q, self.v)
        self.T = 3.0 * rng.standard_normal(self.closure.hinge.dofs)
        self.tau = np.zeros(robot.nv)
        for kept in KEPT:
            self.tau[robot.velocity_slice_of(kept)] = rng.standard_normal()

    def tree(self, T: np.ndarray) -> tuple[Any, Any, np.ndarray]:
        """Model, data and accelerations of the tree under the same forces, T on the joint."""
        model: Any = self.joint.robot.model
        data, tau = model.createData(), np.zeros(model.nv)
        for kept in KEPT:
            tau[self.joint.robot.velocity_slice_of(kept)] = self.tau[arm_and_body().velocity_slice_of(kept)]
        if self.joint.joint is not None:
            tau[self.joint.robot.velocity_slice_of(self.joint.joint)] = T
        return model, data, np.array(pin.aba(model, data, self.after, self.rates, tau))

    def gap(self, found: np.ndarray, truth: np.ndarray) -> float:
        """How far accelerations of the kept joints are from those of the tree, relative to the largest."""
        old, new = arm_and_body(), self.joint.robot
        gaps = [found[old.velocity_slice_of(kept)] - truth[new.velocity_slice_of(kept)] for kept in KEPT]
        return float(np.abs(gaps).max() / (1.0 + np.abs(truth).max()))


# Wrenches.


def force_of_joint(cut: Cut, T: np.ndarray) -> Any:
    """What the joint in the place of the cut transmits, on the successor in its own frame, by `pinocchio.rnea`."""
    model, data, a = cut.tree(T)
    pin.rnea(model, data, cut.after, cut.rates, a)
    body = cut.joint.frame(cut.closure.successor)
    return body.placement.actInv(data.f[body.joint])


@pytest.mark.parametrize("name", [name for name in HINGES if name != "locked"])
def test_inter_body_force_is_that_of_the_joint(name: str) -> None:
    """Karana, closed loops 10: the whole wrench across a cut, T included, is what the joint in its place transmits."""
    cut = Cut(name)
    truth = force_of_joint(cut, cut.T)
    found = forward_dynamics(cut.rows, cut.motion, cut.tau, external=[HingeForce(cut.closure, cut.T)]).or_raise()
    size = 1.0 + np.abs(truth.vector).max()
    across = found.inter_body_force("loop", frame=cut.closure.successor)
    assert np.abs(across - truth.vector).max() < 1e-8 * size
    # reported at the source, with the sign as if acting on the target
    at_source = cut.closure.pose(cut.q).act(truth)
    assert np.abs(found.inter_body_force("loop") - at_source.vector).max() < 1e-8 * size
    R = cut.motion.posture.placement(cut.closure.predecessor).rotation
    turned = np.concatenate([R @ at_source.linear, R @ at_source.angular])
    assert np.abs(found.inter_body_force(cut.closure, WORLD) - turned).max() < 1e-8 * size
    # the constraint alone, and T recovered by the motion subspace
    ideal = found.wrench("loop") + HingeMaps(cut.closure).successor(cut.q) @ cut.T
    assert np.abs(ideal - truth.vector).max() < 1e-8 * size
    assert np.abs(found.hinge_force("loop") - cut.T).max() < 1e-8 * size


def test_wrenches_in_any_frame_and_axes() -> None:
    """Closed loops 10: one wrench, on either body, at any frame, in any axes: the same force in the world."""
    cut = Cut("pin")
    found = forward_dynamics(cut.rows, cut.motion, cut.tau).or_raise()
    posture = cut.motion.posture
    in_world = {
        "successor": posture.placement(SUCCESSOR).act(pin.Force(found.wrench("loop"))).vector,
        "predecessor": posture.placement(PREDECESSOR).act(pin.Force(found.wrench("loop", "predecessor"))).vector,
    }
    assert np.abs(in_world["successor"] + in_world["predecessor"]).max() < 1e-10 * np.abs(in_world["successor"]).max()
    for frame in ("tip", "two", "universe", PREDECESSOR, SUCCESSOR):
        M = posture.placement(frame)
        local = found.wrench("loop", frame=frame)
        assert M.act(pin.Force(local)).vector == pytest.approx(in_world["successor"], rel=1e-9, abs=1e-9)
        turned = found.wrench("loop", axes=WORLD, frame=frame)
        assert turned == pytest.approx(np.concatenate([M.rotation @ local[:3], M.rotation @ local[3:]]))
    J = cut.rows.jacobian(cut.q)
    on_successor = found.wrench("loop") @ posture.jacobian(SUCCESSOR)
    by_frames = on_successor + found.wrench("loop", "predecessor") @ posture.jacobian(PREDECESSOR)
    assert by_frames == pytest.approx(J.T @ found.multipliers, abs=1e-9)
    assert found.generalised_force("loop") == pytest.approx(J.T @ found.multipliers, abs=1e-9)
    wrong: Any = "sucessor"
    with pytest.raises(errors.UnknownNameError, match="successor"):
        found.wrench("loop", wrong)
    with pytest.raises(errors.WrongObjectError, match="axes of a wrench"):
        found.wrench("loop", axes=wrong)
    with pytest.raises(errors.OptionError, match="axes of a wrench: WORLD is ambiguous"):
        found.wrench("loop", axes=pin.WORLD)
    with pytest.raises(errors.UnknownFrameError):
        found.wrench("loop", frame="tipp")


def test_contact_forces_carry_the_weight() -> None:
    """RBDL 5: statics: the wrench of a surface contact on a free body is its weight, in any form of asking."""
    model = pin.Model()
    body = pin.Inertia.FromBox(2.0, 0.3, 0.4, 0.5)
    model.appendBodyToJoint(model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "box"), body, placement(3))
    robot = Robot(model, "box")
    q = np.array(pin.SE3ToXYZQUAT(placement(5)))
    foot = robot.frame("box", placement(6))
    rows = loops.ConstraintSet(robot, [loops.SurfaceContact(robot, foot, name="foot")])
    found = forward_dynamics(rows, robot.at(q, np.zeros(6))).or_raise()
    held = found.wrench("foot", axes=WORLD)
    arm = robot.at(q).center_of_mass() - robot.at(q).placement(foot).translation
    assert held[:3] == pytest.approx([0.0, 0.0, 2.0 * 9.81], abs=1e-9)
    assert held[3:] == pytest.approx(np.cross(arm, [0.0, 0.0, 2.0 * 9.81]), abs=1e-9)
    assert found.wrench("foot", "predecessor", frame="universe") == pytest.approx(
        -found.wrench("foot", frame="universe"), abs=1e-9
    )
    assert found.inter_body_force("foot", frame="universe") == pytest.approx(found.wrench("foot", frame="universe"))


def test_internal_forces_of_a_floating_ring_cancel() -> None:
    """Closed loops 10: the momentum of a floating closed chain changes by gravity alone, whatever acts inside."""
    rows, q = ring("ball", floats=False)
    robot = rows.robot
    motion = moving(rows, q)
    ball: Any = rows["cut"]
    inside: list[Any] = [
        HingeForce(ball, [1.0, -2.0, 3.0]),
        HingeSpring(ball, 5.0, 0.3),
        PointSpring(robot, "j1", "j3", 20.0, 1.0, 0.1),
    ]
    tau = np.concatenate([np.zeros(6), np.arange(1.0, robot.nv - 5)])
    found = forward_dynamics(rows, motion, tau, external=inside).or_raise()
    model: Any = robot.model
    data = model.createData()
    change = pin.computeCentroidalMomentumTimeVariation(model, data, q, motion.v, found.acceleration)
    weight = sum(body.mass for body in model.inertias) * model.gravity.linear
    assert np.abs(change.linear - weight).max() < 1e-9 * (1.0 + np.abs(found.acceleration).max())
    assert np.abs(change.angular).max() < 1e-9 * (1.0 + np.abs(found.acceleration).max())
    # and each body by Newton and Euler, with the wrenches across the cut as external ones
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    on_s = found.wrench("cut") + sum(force.on_successor(motion) for force in inside[:2])
    on_p = found.wrench("cut", "predecessor") + sum(force.on_predecessor(motion) for force in inside[:2])
    for frame, wrench in ((ball.successor, on_s), (ball.predecessor, on_p)):
        forces[frame.joint] += frame.placement.act(pin.Force(wrench))
    needed = pin.rnea(model, data, q, motion.v, found.acceleration, forces)
    assert np.abs(needed - tau - inside[2].generalised(motion)).max() < 1e-9 * (1.0 + np.abs(needed).max())


def test_components_that_are_not_determined_are_flagged() -> None:
    """Closed loops 10: across the plane of a planar linkage the cut's force is not unique, in the plane it is."""
    rows, closed = upright("four_bar")
    found = forward_dynamics(rows, moving(rows, closed)).or_raise()
    assert not found.is_determined("cut")
    assert found.undetermined_rows == ("cut[2]", "cut[3]", "cut[4]")
    cut: Any = rows["cut"]
    plane = loops.Closure.along(rows.robot, cut.predecessor, cut.successor, np.eye(6)[[0, 1]], name="plane")
    single = forward_dynamics(loops.ConstraintSet(rows.robot, [plane]), moving(rows, closed)).or_raise()
    assert single.is_determined("plane")
    assert single.undetermined_rows == ()
    assert found.multipliers[:2] == pytest.approx(single.multipliers, rel=1e-9)
    both = loops.ConstraintSet(
        rows.robot, [plane, loops.PointClosure(rows.robot, cut.predecessor, cut.successor, name="point")]
    )
    doubled = forward_dynamics(both, moving(rows, closed)).or_raise()
    assert not doubled.is_determined("plane")
    off = forward_dynamics(both.switched(off=["point"]), moving(rows, closed)).or_raise()
    assert off.is_determined("plane")
    assert off.is_determined("point")  # it is off: its force is zero
    assert not np.any(off.wrench("point"))


# Forces at cut hinges: closed loops 11.


@pytest.mark.parametrize("reverse", [False, True], ids=["successor", "predecessor"])
@pytest.mark.parametrize("name", [name for name in HINGES if name != "locked"])
def test_a_force_at_a_cut_hinge_is_one_on_the_joint(name: str, reverse: bool) -> None:
    """Closed loops 11, 12: T at a cut gives the accelerations of the tree with T on its joint, of every hinge."""
    cut = Cut(name, reverse=reverse)
    T = cut.T
    if reverse:  # a reversed hinge has its steps, and their rates, backwards
        work = cut.T @ cut.closure.hinge_motion(cut.q, cut.v).rates
        T = np.zeros(cut.T.size)
        for i in range(T.size):  # T of the joint does the same work for every rate
            unit = np.zeros(cut.joint.robot.nv)
            unit[cut.joint.robot.velocity_slice_of("loop").start + i] = 1.0
            q, v = cut.joint.original(cut.after, unit)
            T[i] = cut.T @ cut.closure.hinge_motion(q, v).rates
        assert work == pytest.approx(T @ cut.rates[cut.joint.robot.velocity_slice_of("loop")], abs=1e-9)
    _, _, truth = cut.tree(T)
    given = HingeForce(cut.closure, cut.T)
    found = forward_dynamics(cut.rows, cut.motion, cut.tau, external=[given]).or_raise()
    assert cut.gap(found.acceleration, truth) < 1e-9
    assert cut.gap(forward_dynamics(cut.rows, cut.motion, cut.tau).or_raise().acceleration, truth) > 1e-4


@pytest.mark.parametrize("name", a_few(HINGES, 5))
def test_a_closure_turned_into_a_joint_has_the_same_accelerations(name: str) -> None:
    """Closed loops 12: `to_joint`: forward dynamics of the cut mechanism and `pinocchio.aba` of the tree agree."""
    for seed in (7, 8, 9):
        cut = Cut(name, seed)
        _, _, truth = cut.tree(np.zeros(cut.T.size))
        assert cut.gap(forward_dynamics(cut.rows, cut.motion, cut.tau).or_raise().acceleration, truth) < 1e-9


def along(x: float) -> Any:
    return pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))


PINS = {  # where the four pins are on the bars: ground-crank, crank-coupler, coupler-rocker, ground-rocker
    "world": {0: along(0.0), 3: along(0.4)},
    "crank": {0: along(0.0), 1: along(0.15)},
    "coupler": {1: along(0.0), 2: along(0.35)},
    "rocker": {3: along(0.0), 2: along(0.3)},
}
SIDES = {0: ("world", "crank"), 1: ("crank", "coupler"), 2: ("coupler", "rocker"), 3: ("world", "rocker")}
CHAINS = {  # the tree that is left by a cut at each: bar, the bar that carries it, by which pin
    0: (("rocker", "world", 3), ("coupler", "rocker", 2), ("crank", "coupler", 1)),
    1: (("crank", "world", 0), ("rocker", "world", 3), ("coupler", "rocker", 2)),
    2: (("crank", "world", 0), ("coupler", "crank", 1), ("rocker", "world", 3)),
    3: (("crank", "world", 0), ("coupler", "crank", 1), ("rocker", "coupler", 2)),
}
BARS = ("crank", "coupler", "rocker")


class FourBar:
    """A four-bar with bodies of any inertia, cut at one of its four pins."""

    def __init__(self, cut: int) -> None:
        model = pin.Model()
        model.gravity.linear = np.array([0.0, -9.81, 0.0])
        index, seen = {"world": 0}, {"world": pin.SE3.Identity()}  # joint of each bar, and the bar seen from it
        for bar, parent, joint in CHAINS[cut]:
            index[bar] = model.addJoint(
                index[parent], pin.JointModelRZ(), seen[parent] * PINS[parent][joint], f"pin{joint}"
            )
            seen[bar] = PINS[bar][joint].inverse()
            body = pin.Inertia.FromBox(1.0 + BARS.index(bar), 0.3, 0.1, 0.2)
            model.appendBodyToJoint(index[bar], body, seen[bar] * placement(55 + BARS.index(bar)))
        self.robot = Robot(model, f"cut at {cut}").without_bounds()
        a, b = (Frame(bar, index[bar], seen[bar] * PINS[bar][cut]) for bar in SIDES[cut])
        self.closure = loops.Closure(self.robot, a, b, loops.Hinge.pin(), name="cut")
        self.rows = loops.ConstraintSet(self.robot, [self.closure])
        self.cut, self.chain = cut, CHAINS[cut]

    def vector(self, bars: dict[str, float]) -> np.ndarray:
        """Joint coordinates (or rates) from the angles of the bars in the world."""
        return np.array([bars[bar] - bars[parent] for bar, parent, _ in self.chain])

    def bars(self, joints: np.ndarray) -> dict[str, float]:
        out = {"world": 0.0}
        for (bar, parent, _), number in zip(self.chain, joints.tolist(), strict=True):
            out[bar] = out[parent] + number
        return out

    def torque(self, at: int, T: float) -> tuple[np.ndarray, list[HingeForce]]:
        """T at a pin, successor relative to predecessor as of a cut there: on the joint, or at the cut."""
        tau = np.zeros(3)
        if at == self.cut:
            return tau, [HingeForce(self.closure, T)]
        for i, (bar, _, joint) in enumerate(self.chain):
            if joint == at:
                tau[i] = T if bar == SIDES[at][1] else -T
        return tau, []


@pytest.mark.parametrize("at", range(4))
def test_the_motion_is_the_same_for_any_choice_of_cut(at: int) -> None:
    """Closed loops 11: a torque at one pin of a four-bar, cut at each of its four pins: one motion, to 1e-9."""
    first = FourBar(2)
    mechanism = mechanisms.four_bar()
    closed = mechanism.postures["closed"]
    angles = {"world": 0.0, "crank": closed[0], "coupler": closed[0] + closed[1], "rocker": closed[2]}
    start = first.vector(angles)
    q = loops.assemble_position(first.rows, start, options=loops.AssemblyOptions(tolerance=1e-13)).or_raise().q
    angles = first.bars(q)
    v = loops.assemble_velocity(first.rows, q, np.array([2.0, 1.0, -1.0]))
    rates = first.bars(v)
    found: list[list[float]] = []
    for cut in range(4):
        linkage = FourBar(cut)
        here, speed = linkage.vector(angles), linkage.vector(rates)
        assert np.abs(linkage.rows.position_error(here)).max() < 1e-12
        assert np.abs(linkage.rows.velocity_error(here, speed)).max() < 1e-12
        tau, external = linkage.torque(at, 1.7)
        a = forward_dynamics(linkage.rows, linkage.robot.at(here, speed), tau, external=external).or_raise()
        bars = linkage.bars(a.acceleration)
        found.append([bars[bar] for bar in BARS])
    assert np.abs(np.array(found) - found[0]).max() < 1e-9 * (1.0 + np.abs(found[0]).max())
    still = forward_dynamics(first.rows, first.robot.at(q, v)).or_raise().acceleration
    moved = first.vector({"world": 0.0, **dict(zip(BARS, found[2], strict=True))})
    assert np.abs(moved - still).max() > 0.1


@pytest.mark.parametrize("name", HINGES)
def test_the_maps_from_hinge_forces_to_wrenches(name: str) -> None:
    """Karana: functions of q: on the target and the opposite on the source; S^T F^T = 1; the work is T . rates."""
    cut = Cut(name)
    maps, hinge = HingeMaps(cut.closure), cut.closure.hinge
    on_s, on_p, S_ = maps.successor(cut.q), maps.predecessor(cut.q), maps.subspace(cut.q)
    assert on_s.shape == on_p.shape == (6, hinge.dofs) == (6, maps.dofs)
    assert np.abs(S_.T @ on_s - np.eye(hinge.dofs)).max(initial=0.0) < 1e-9
    pose: Any = cut.closure.pose(cut.q)
    back = np.linalg.inv(pose.toActionMatrix()).T @ on_s
    assert np.abs(on_p + back).max(initial=0.0) < 1e-12
    rates = maps.rates(cut.q)
    assert np.abs(rates @ cut.v - cut.closure.hinge_motion(cut.q, cut.v).rates).max(initial=0.0) < 1e-10
    posture = cut.motion.posture
    by_frames = on_s.T @ posture.jacobian(SUCCESSOR) + on_p.T @ posture.jacobian(PREDECESSOR)
    assert np.abs(rates - by_frames).max(initial=0.0) < 1e-11
    given = HingeForce(cut.closure, cut.T)
    assert given.generalised(cut.motion) == pytest.approx(rates.T @ cut.T, abs=1e-11)
    assert given.on_successor(cut.motion) == pytest.approx(on_s @ cut.T, abs=1e-12)
    assert given.on_predecessor(cut.motion) == pytest.approx(on_p @ cut.T, abs=1e-12)


@pytest.mark.parametrize("name", [n for n in HINGES if n != "locked"])
def test_rates_of_open_closures_are_derivatives_of_the_fit(name: str) -> None:
    """Karana: on an open closure too the rates that T works on are those of the fitted coordinates."""
    cut = Cut(name)
    robot, space = arm_and_body(), cut.closure.hinge.space
    rng = np.random.default_rng(2)
    q = robot.space.integrate(cut.q, 0.1 * rng.standard_normal(robot.nv))
    v, h = rng.standard_normal(robot.nv), 1e-5
    ahead, behind = (cut.closure.hinge_motion(robot.space.integrate(q, s * v)).coordinates for s in (h, -h))
    slope = space.difference(behind, ahead) / (2.0 * h)
    assert HingeMaps(cut.closure).rates(q) @ v == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_hinge_forces_add_or_replace() -> None:
    """Karana: later forces of one closure add; one that replaces takes the place of those before it, springs too."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    cut: Any = rows["cut"]
    other = loops.Closure(rows.robot, "left_inner_end", "right_inner_end", loops.Hinge.pin(), name="other")

    def acceleration(*forces: Any) -> np.ndarray:
        return forward_dynamics(rows, motion, external=forces).or_raise().acceleration

    sum_of = acceleration(HingeForce(cut, 3.0))
    assert acceleration(HingeForce(cut, [1.0]), HingeForce(cut, 2.0)) == pytest.approx(sum_of, rel=1e-10)
    before = (HingeForce(cut, 7.0), HingeSpring(cut, 100.0))
    assert acceleration(*before, HingeForce(cut, 3.0, replace=True)) == pytest.approx(sum_of, rel=1e-10)
    kept = acceleration(HingeForce(other, 5.0), HingeForce(cut, 3.0, replace=True))
    assert kept == pytest.approx(acceleration(HingeForce(cut, 3.0), HingeForce(other, 5.0)), rel=1e-10)
    assert np.abs(kept - sum_of).max() > 1e-3
    after = acceleration(HingeForce(cut, 9.0, replace=True), HingeForce(cut, 2.0))
    assert after == pytest.approx(acceleration(HingeForce(cut, 11.0)), rel=1e-10)
    shared = forward_dynamics(rows, motion, external=[HingeForce(other, 5.0), HingeForce(cut, 3.0)]).or_raise()
    assert shared.hinge_force("cut") == pytest.approx([3.0], rel=1e-9)  # what acts at another cut does not count
    taken = forward_dynamics(rows, motion, external=[*before, HingeForce(cut, 3.0, replace=True)]).or_raise()
    assert taken.hinge_force("cut") == pytest.approx([3.0], rel=1e-9)


def test_a_cut_is_known_by_its_frames_and_hinge() -> None:
    """Karana: T on another Closure object of the same cut counts at the cut; on another hinge there it does not."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    cut: Any = rows["cut"]
    again = loops.Closure(rows.robot, cut.predecessor, cut.successor, loops.Hinge.pin())
    found = forward_dynamics(rows, motion, external=[HingeForce(again, 3.0)]).or_raise()
    assert found.hinge_force("cut") == pytest.approx([3.0], rel=1e-9)
    for hinge in (loops.Hinge.pin([0.0, 0.0, -1.0]), loops.Hinge.slider([0.0, 0.0, 1.0])):
        apart = loops.Closure(rows.robot, cut.predecessor, cut.successor, hinge, name="cut")
        found = forward_dynamics(rows, motion, external=[HingeForce(apart, 3.0)]).or_raise()
        assert found.hinge_force("cut") == pytest.approx([0.0], abs=1e-9)
        across = found.inter_body_force("cut")
        assert across == pytest.approx(-found.wrench("cut", "predecessor"), abs=1e-9)


@pytest.mark.parametrize("method", ["direct", "null space", "range space"])
def test_all_methods_take_all_forces(method: str) -> None:
    """RBDL 2: forces of any kind enter the system once, so that methods agree; the system shows them."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)
    cut: Any = rows["cut"]
    forces = [
        ExternalForce("left_outer_end", np.arange(6.0)),
        HingeForce(cut, 2.0),
        HingeSpring(cut, 3.0, 0.5, rest=0.2),
        PointSpring(rows.robot, None, "right_outer_end", 40.0, 2.0, 0.1),
    ]
    once = forward_dynamics(rows, motion).or_raise()
    total = sum(force.generalised(motion) for force in forces)
    truth = forward_dynamics(rows, motion, total).or_raise().acceleration
    found = forward_dynamics(rows, motion, external=forces, method=method).or_raise()
    assert found.acceleration == pytest.approx(truth, rel=1e-8)
    assert np.abs(truth - once.acceleration).max() > 0.1
    system = constrained_system(rows, motion, external=forces)
    assert system.bias == pytest.approx(motion.bias_force() - total)


def test_contacts_and_springs_by_test_forces_and_by_pinocchio() -> None:
    """RBDL 2: a spring between two arms with contacts, by the methods that take contacts only."""
    robot = sample_two_arms()
    rng = np.random.default_rng(0)
    motion = robot.at(robot.random(rng), rng.standard_normal(robot.nv))
    rows = loops.ConstraintSet(robot, [loops.PointContact(robot, "left_tool", name="touch")])
    spring = PointSpring(robot, "left_tool", "right_tool", 100.0, 3.0, 0.2)
    truth = forward_dynamics(rows, motion, spring.generalised(motion), method=Method.DIRECT).or_raise().acceleration
    for method in (Method.TEST_FORCES, Method.PROXIMAL, Method.AUTOMATIC):
        found = forward_dynamics(rows, motion, external=[spring], method=method).or_raise()
        assert found.acceleration == pytest.approx(truth, rel=1e-7, abs=1e-7)


def test_forces_of_ones_own() -> None:
    """RBDL 20: whatever has `generalised(motion)` acts; a wrong size or object is refused with its place."""
    rows, closed = upright("five_bar")
    motion = moving(rows, closed)

    class Friction:
        def generalised(self, motion: Any) -> np.ndarray:
            return -0.3 * motion.v

    class Short:
        def generalised(self, motion: Any) -> np.ndarray:
            return motion.v[:2]

    class Words:
        def generalised(self, motion: Any) -> Any:
            return ["a"] * 4

    found = forward_dynamics(rows, motion, external=[Friction()]).or_raise()
    assert found.acceleration == pytest.approx(forward_dynamics(rows, motion, -0.3 * motion.v).acceleration)
    wrong: tuple[tuple[Any, Any, str], ...] = (
        (Short(), errors.SizeError, r"external force 1 \(Short\)"),
        (Words(), errors.DtypeError, "external force 1"),
        (Friction, errors.WrongObjectError, "external force 1"),
        (3, errors.WrongObjectError, "external force 1"),
    )
    for force, kind, said in wrong:
        forces: list[Any] = [Friction(), force]
        with pytest.raises(kind, match=said):
            forward_dynamics(rows, motion, external=forces)


# Springs.


@pytest.mark.parametrize("name", [n for n in HINGES if n != "locked"])
def test_hinge_springs_are_the_slope_of_their_energy(name: str) -> None:
    """Closed loops 9: at rest the joint forces of a hinge spring are -dE/dq, closed or open; damping takes power."""
    cut = Cut(name)
    robot, rng = arm_and_body(), np.random.default_rng(4)
    dofs, space = cut.closure.hinge.dofs, cut.closure.hinge.space
    rest = space.integrate(cut.closure.hinge_motion(cut.q).coordinates, 0.4 * rng.standard_normal(dofs))
    spring = HingeSpring(cut.closure, rng.uniform(1.0, 9.0, dofs), rng.uniform(0.1, 1.0, dofs), rest)
    for q in (cut.q, robot.space.integrate(cut.q, 0.05 * rng.standard_normal(robot.nv))):
        still = spring.generalised(robot.at(q, np.zeros(robot.nv)))
        assert still == pytest.approx(-slope(spring.energy, robot, q), rel=1e-5, abs=1e-6)
        v = rng.standard_normal(robot.nv)
        rates = HingeMaps(cut.closure).rates(q) @ v
        damped = spring.generalised(robot.at(q, v)) - still
        assert damped @ v == pytest.approx(-float(np.asarray(spring.damping) @ rates**2))
    assert HingeSpring(cut.closure, 3.0, rest=rest).energy(cut.joint.original(cut.after)[0]) > 0.0


@pytest.mark.parametrize("name", ["pin", "slider", "cylindrical", "planar", "universal"])
def test_a_spring_at_a_cut_is_one_on_the_joint(name: str) -> None:
    """Closed loops 11: a spring at a cut hinge moves the mechanism as -k (theta - rest) - d rate on the joint does."""
    cut = Cut(name)
    fit = cut.closure.hinge_motion(cut.q, cut.v)
    rest = fit.coordinates - 0.3
    _, _, truth = cut.tree(-4.0 * 0.3 - 0.5 * fit.rates)
    spring = HingeSpring(cut.closure, 4.0, 0.5, rest)
    found = forward_dynamics(cut.rows, cut.motion, cut.tau, external=[spring]).or_raise()
    assert cut.gap(found.acceleration, truth) < 1e-9
    assert found.hinge_force("loop") == pytest.approx(-1.2 - 0.5 * fit.rates, rel=1e-8)
    assert spring.energy(cut.q) == pytest.approx(0.5 * 4.0 * 0.09 * fit.rates.size)


def test_angles_of_pin_springs_are_taken_to_the_nearest_turn() -> None:
    """Closed loops 9: a pin at -3 rad with rest at 3 rad is stretched by 0.28 rad, not by 6."""
    robot = one_body(pin.JointModelFreeFlyer(), pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3))
    spring = HingeSpring(loops.Closure(robot, None, "body", loops.Hinge.pin(), name="pin"), 2.0, rest=3.0)
    q = np.array(pin.SE3ToXYZQUAT(pin.SE3(pin.utils.rotate("z", -3.0), np.zeros(3))))
    stretch = 2.0 * np.pi - 6.0
    assert spring.hinge_force(robot.at(q, np.zeros(6))) == pytest.approx([-2.0 * stretch])
    assert spring.energy(q) == pytest.approx(stretch**2)


def test_links_have_the_sign_of_robotran() -> None:
    """Closed loops 9: F_l > 0 pulls together; the force on b is -F_l x / |x|, swapped ends the opposite."""
    robot = two_masses()
    q = np.array([0.0, 0.0, 0.0, 3.0, 0.0, 4.0])
    v = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    link = PointSpring(robot, "a", "b", 10.0, 2.0, 4.0, 0.5)
    motion = robot.at(q, v)
    assert link.distance(q) == pytest.approx(5.0)
    assert link.distance_rates(q) @ v == pytest.approx(0.6)
    tension = 0.5 + 10.0 * 1.0 + 2.0 * 0.6
    assert link.link_force(motion) == pytest.approx(tension)
    assert link.force(motion) == pytest.approx([-0.6 * tension, 0.0, -0.8 * tension])
    assert link.force(motion, "a") == pytest.approx([0.6 * tension, 0.0, 0.8 * tension])
    swapped = PointSpring(robot, "b", "a", 10.0, 2.0, 4.0, 0.5)
    assert swapped.link_force(motion) == pytest.approx(tension)
    assert swapped.force(motion) == pytest.approx(link.force(motion, "a"))
    assert swapped.generalised(motion) == pytest.approx(link.generalised(motion))
    assert link.generalised(motion) == pytest.approx(-tension * link.distance_rates(q))
    assert PointSpring(robot, "a", "b", 10.0, length=6.0).link_force(motion) == pytest.approx(-10.0)  # pushes apart
    assert link.energy(q) == pytest.approx(0.5 * 10.0 * 1.0 + 0.5 * 5.0)
    free = forward_dynamics(loops.ConstraintSet(robot, []), motion, external=[link]).or_raise().acceleration
    assert 3.0 * free[3:] == pytest.approx(link.force(motion))
    end: Any = "c"
    with pytest.raises(errors.UnknownNameError, match="end of a point spring"):
        link.force(motion, end)


def test_point_springs_are_the_slope_of_their_energy() -> None:
    """Closed loops 9: between two arms, and to the world: joint forces -dE/dq, by differences."""
    robot = sample_two_arms()
    rng = np.random.default_rng(5)
    for a, b in (("left_tool", "right_tool"), (None, "left_tool"), ("right_tool", placement(4))):
        link = PointSpring(robot, a, b, 30.0, 2.0, 0.3, 1.5)
        q = robot.random(rng)
        still = link.generalised(robot.at(q, np.zeros(robot.nv)))
        assert still == pytest.approx(-slope(link.energy, robot, q), rel=1e-5, abs=1e-6)
        v = rng.standard_normal(robot.nv)
        power = (link.generalised(robot.at(q, v)) - still) @ v
        assert power == pytest.approx(-2.0 * float(link.distance_rates(q) @ v) ** 2)


def test_bad_forces_are_refused_by_name() -> None:
    """RBDL 20: typed errors that name the culprit."""
    rows, _ = upright("five_bar")
    robot = rows.robot
    cut: Any = rows["cut"]
    nothing: Any = "robot"
    made: list[tuple[Any, type[errors.ConstraintError], str]] = [
        (lambda: HingeForce(nothing, 1.0), errors.WrongObjectError, "closure of a hinge force"),
        (lambda: HingeForce(cut, [1.0, 2.0]), errors.SizeError, "'cut'"),
        (lambda: HingeForce(cut, np.nan), errors.NotFiniteError, "'cut'"),
        (lambda: HingeForce(cut, 1.0, replace=nothing), errors.WrongObjectError, "replace"),
        (lambda: HingeMaps(nothing), errors.WrongObjectError, "hinge maps"),
        (lambda: HingeSpring(cut, -1.0), errors.OptionError, "stiffness of a spring"),
        (lambda: HingeSpring(cut, 1.0, [1.0, 2.0]), errors.SizeError, "damping"),
        (lambda: HingeSpring(cut, 1.0, rest=[1.0, 2.0]), errors.SizeError, "rest"),
        (lambda: HingeSpring(nothing, 1.0), errors.WrongObjectError, "closure of a hinge spring"),
        (lambda: PointSpring(robot, "nowhere", None, 1.0), errors.UnknownFrameError, "nowhere"),
        (lambda: PointSpring(robot, None, "left_outer_end", -1.0), errors.OptionError, "stiffness"),
        (lambda: PointSpring(robot, None, "left_outer_end", length=-1.0), errors.OptionError, "length"),
        (lambda: PointSpring(robot, None, "left_outer_end", tension=np.inf), errors.NotFiniteError, "tension"),
        (lambda: PointSpring(robot, "left_outer", "left_outer_end", 1.0), FixedClosureError, "left_outer"),
        (lambda: PointSpring(nothing, None, None), errors.WrongObjectError, "robot of a point spring"),
    ]
    for make, kind, said in made:
        with pytest.raises(kind, match=said):
            make()
    other = sample_two_arms()
    elsewhere = other.at(other.neutral, np.zeros(other.nv))
    link = PointSpring(robot, None, "left_outer_end", 1.0)
    for force in (HingeForce(cut, 1.0), HingeSpring(cut, 1.0), link):
        with pytest.raises(errors.RobotMismatchError):
            force.generalised(elsewhere)

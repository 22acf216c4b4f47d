"""Multiple shooting for SciPy: derivatives, solutions known otherwise, charts, failures as values, named errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Position, Robot, errors
from constraints.actions import (
    Actuators,
    ContactForwardDynamics,
    Cost,
    Derivatives,
    DiscreteAction,
    ImpulseDynamics,
    RungeKutta4,
    SemiImplicitEuler,
    StageConstraint,
    StateSpace,
)
from constraints.dynamics import DynamicsStatus
from constraints.interop import MultipleShooting, ShootingStatus, ShootingTrajectory
from constraints.loops import Closure, ConstraintSet, Hinge, PointContact
from constraints.models import mechanisms


def cart() -> Robot:
    """A mass of 2 kg on a rail."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "rail")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return Robot(model, "cart")


def pendulum(limit: float = np.inf, mass: float = 1.0) -> Robot:
    """Two bars; what each motor gives at most."""
    model = pin.Model()
    for i in range(2):
        joint = model.addJoint(i, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, -1.0 * i])), f"joint_{i}")
        bar = pin.Inertia(mass, np.array([0.0, 0.0, -0.5]), 0.1 * mass * np.eye(3))
        model.appendBodyToJoint(joint, bar, pin.SE3.Identity())
    model.upperEffortLimit, model.lowerEffortLimit = np.full(2, limit), np.full(2, -limit)
    return Robot(model, "pendulum")


def hopper() -> Robot:
    """A free body with a leg of two joints and a foot."""
    model = pin.Model()
    body = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(body, pin.Inertia(4.0, np.array([0.1, 0.0, 0.0]), 0.3 * np.eye(3)), pin.SE3.Identity())
    hip = model.addJoint(body, pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.0])), "hip")
    model.appendBodyToJoint(hip, pin.Inertia(1.0, np.array([0.0, 0.0, -0.2]), 0.05 * np.eye(3)), pin.SE3.Identity())
    knee = model.addJoint(hip, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5])), "knee")
    model.appendBodyToJoint(knee, pin.Inertia(0.5, np.array([0.0, 0.0, -0.2]), 0.02 * np.eye(3)), pin.SE3.Identity())
    return Robot(model, "hopper").with_frame("foot", "knee", pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5])))


def free_body() -> Robot:
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    body = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(body, pin.Inertia(1.0, np.zeros(3), np.diag([0.1, 0.2, 0.3])), pin.SE3.Identity())
    return Robot(model, "satellite")


def reach(robot: Robot, goal: Any, steps: int = 20, h: float = 0.05, end: float = 1.0) -> MultipleShooting:
    """Little torque, and at the end near a state."""
    state = StateSpace(robot)
    stage = state.with_controls(robot.nv)
    run = ContactForwardDynamics(robot, costs=[Cost(stage.control(), weight=0.1, name="torque")])
    last = ContactForwardDynamics(robot, costs=[Cost(stage.states(), goal, end)])
    return MultipleShooting([SemiImplicitEuler(run, h)] * steps, last, state.zero)


def hop(seed: int = 0) -> MultipleShooting:
    """All there is: contacts, an impulse without controls, equalities, inequalities, costs of forces, two schemes."""
    robot, rng = hopper(), np.random.default_rng(seed)
    state = StateSpace(robot)
    q = state.integrate(state.zero, 0.3 * rng.normal(size=state.ndx))[: robot.nq]
    rows = ConstraintSet(robot, [PointContact(robot, "foot", name="foot").anchored(q)]).stabilised(0.1)
    legs = Actuators.floating_base(robot)
    stage = state.with_controls(legs.nu, rows)
    costs = [
        Cost(stage.control(), weight=0.1),
        Cost(stage.force("foot"), weight=0.01),
        Cost(stage.states(), weight=1.0),
    ]
    limits = [
        StageConstraint(stage.lift(Position(robot, "foot")), lower=-5.0, upper=5.0),
        StageConstraint(stage.force("foot"), lower=-500.0, name="push"),
        StageConstraint(stage.control().restricted([0]), name="idle"),
    ]
    stance = ContactForwardDynamics(robot, legs, rows, costs, limits)
    flight = stance.switched(off=["foot"])
    hit = ImpulseDynamics(robot, rows)
    end = ContactForwardDynamics(robot, legs, rows, [Cost(stage.states())], [StageConstraint(stage.velocity())])
    actions: list[DiscreteAction] = [SemiImplicitEuler(stance, 0.02), RungeKutta4(flight, 0.02), hit]
    return MultipleShooting([*actions, SemiImplicitEuler(stance, 0.02)], end, state.join(q))


def test_rows_and_cost_have_the_derivatives_they_are_given():
    """Issue 17, item 7: against central differences along z, away from the base of the charts."""
    program, rng = hop(), np.random.default_rng(1)
    z = 0.3 * rng.normal(size=program.n)
    J, g, step = program.jacobian(z).toarray(), program.gradient(z), 1e-6
    assert J.shape == (program.lower.size, program.n)
    for i, e in enumerate(step * np.eye(program.n)):
        ahead, behind = z + e, z - e
        column = (program.rows(ahead) - program.rows(behind)) / (2.0 * step)
        assert np.abs(column - J[:, i]).max() < 1e-6 * max(1.0, np.abs(J).max())
        slope = (program.cost(ahead) - program.cost(behind)) / (2.0 * step)
        assert abs(slope - g[i]) < 1e-6 * max(1.0, np.abs(g).max())


def test_hessian_is_that_of_the_cost_where_residuals_are_straight():
    """Of speeds and torques the Gauss-Newton Hessian is the Hessian."""
    robot, rng = hopper(), np.random.default_rng(2)
    state = StateSpace(robot)
    stage = state.with_controls(robot.nv)
    costs = [Cost(stage.control(), weight=0.3), Cost(stage.velocity(), weight=2.0)]
    run = ContactForwardDynamics(robot, costs=costs)
    program = MultipleShooting([SemiImplicitEuler(run, 0.02)] * 3, run, state.zero)
    z, step = 0.2 * rng.normal(size=program.n), 1e-5
    H = program.hessian(z).toarray()
    for i, e in enumerate(step * np.eye(program.n)):
        column = (program.gradient(z + e) - program.gradient(z - e)) / (2.0 * step)
        assert np.abs(column - H[:, i]).max() < 1e-7


def test_hessian_is_that_of_the_nodes_seen_in_their_charts():
    """Each state in its own chart, which a rotation bends: by differences of the trajectory."""
    program, rng = hop(), np.random.default_rng(8)
    z = 0.3 * rng.normal(size=program.n)
    H, nodes, state = program.hessian(z).toarray(), program.nodes(z), program.state
    for k, (d, block) in enumerate(zip(nodes.slopes[1:], program._x, strict=True), 1):  # pyright: ignore
        columns = list[np.ndarray]()
        for e in 1e-5 * np.eye(program.n)[block]:
            ends = (program.trajectory(z + s * e).xs[k] for s in (-1.0, 1.0))
            columns.append(state.difference(*ends) / 2e-5)
        T = np.transpose(columns)
        np.testing.assert_allclose(H[block, block], T.T @ d.Lxx @ T, rtol=1e-6, atol=1e-6 * np.abs(d.Lxx).max())


def test_linear_motion_is_solved_as_its_riccati_equation_says():
    """Issue 17, item 7: a mass on a rail, against the recursion of linear-quadratic control."""
    robot, h, N = cart(), 0.1, 30
    state = StateSpace(robot)
    stage = state.with_controls(1)
    run = ContactForwardDynamics(robot, costs=[Cost(stage.control(), weight=0.1), Cost(stage.states(), weight=1.0)])
    end = ContactForwardDynamics(robot, costs=[Cost(stage.states(), weight=10.0)])
    x0 = np.array([1.0, -0.5])
    found = MultipleShooting([SemiImplicitEuler(run, h)] * N, end, x0).minimize(tolerance=1e-9).or_raise()
    A, B = np.array([[1.0, h], [0.0, 1.0]]), np.array([[h * h / 2.0], [h / 2.0]])  # of 2 kg
    P = 10.0 * np.eye(2)
    for _ in range(N):
        S = 0.1 * h * np.eye(1) + B.T @ P @ B
        P = h * np.eye(2) + A.T @ P @ A - A.T @ P @ B @ np.linalg.solve(S, B.T @ P @ A)
    assert found.cost == pytest.approx(0.5 * x0 @ P @ x0, rel=1e-9)
    assert found.defect < 1e-9


def test_bounds_of_controls_hold_at_the_solution():
    robot = cart()
    model = pin.Model(robot.model)
    model.upperEffortLimit, model.lowerEffortLimit = np.array([3.0]), np.array([-3.0])
    weak = Robot(model)
    free, bound = (reach(one, [1.0, 0.0], end=100.0).minimize(tolerance=1e-6).or_raise() for one in (robot, weak))
    assert max(np.abs(u).max() for u in free.trajectory.us) > 5.0
    assert max(np.abs(u).max() for u in bound.trajectory.us) == pytest.approx(3.0, abs=1e-3)
    assert bound.missed <= 1e-6
    assert bound.cost > free.cost


def test_inequalities_and_equalities_hold_at_the_solution():
    robot = pendulum()
    state = StateSpace(robot)
    stage = state.with_controls(2)
    slow = StageConstraint(stage.velocity(), lower=-2.0, upper=2.0, name="slow")
    goal = StageConstraint(stage.states(), reference=[1.0, 0.5, 0.0, 0.0], name="goal")
    run = ContactForwardDynamics(robot, costs=[Cost(stage.control())], constraints=[slow])
    end = ContactForwardDynamics(robot, constraints=[goal])
    program = MultipleShooting([SemiImplicitEuler(run, 0.04)] * 15, end, state.zero)
    found = program.minimize(tolerance=1e-6).or_raise()
    assert np.abs(found.trajectory.xs[-1] - [1.0, 0.5, 0.0, 0.0]).max() < 1e-6
    assert np.abs(found.trajectory.xs[:, 2:]).max() == pytest.approx(2.0, abs=1e-3)
    run_free = ContactForwardDynamics(robot, costs=[Cost(stage.control())])
    free = MultipleShooting([SemiImplicitEuler(run_free, 0.04)] * 15, end, state.zero).minimize().or_raise()
    assert np.abs(free.trajectory.xs[:, 2:]).max() > 2.2
    assert free.cost < found.cost


def test_charts_follow_a_long_turn():
    """A free body turns by 2.8 rad about a skew axis: further than `turn`, so the charts are renewed."""
    robot = free_body()
    state = StateSpace(robot)
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    goal = state.integrate(state.zero, np.r_[0.5, 0.0, 0.0, 2.8 * axis, np.zeros(6)])
    found = reach(robot, goal, steps=10, h=0.1, end=100.0).minimize(tolerance=1e-6, turn=0.5).or_raise()
    assert found.charts > 1
    assert np.linalg.norm(state.difference(state.zero, found.trajectory.xs[-1])[3:6]) > 2.5
    program, turned = reach(robot, goal, steps=10, h=0.1, end=100.0), list[float]()
    program.minimize(max_iterations=20, turn=0.5, callback=lambda z, _: turned.append(program.turned(z)))
    first = 1 + next(i for i, angle in enumerate(turned) if angle > 0.5)  # iterations in the first chart
    for budget, charts in ((first - 1, 1), (first, 1), (first + 1, 2)):
        few = program.minimize(max_iterations=budget, turn=0.5)
        assert (few.status, few.iterations, few.charts) == (ShootingStatus.MAX_ITERATIONS, budget, charts)
    other = reach(robot, goal, steps=10, h=0.1, end=100.0).around(found.trajectory)
    again = other.minimize(tolerance=1e-6).or_raise()
    assert again.charts == 1
    assert again.cost == pytest.approx(found.cost, rel=1e-8)


def test_steps_and_trajectories_are_inverse():
    program, rng = hop(), np.random.default_rng(3)
    z = 0.4 * rng.normal(size=program.n)
    assert np.abs(program.step(program.trajectory(z)) - z).max() < 1e-9
    moved = program.around(program.trajectory(z))
    assert np.abs(moved.rows(np.zeros(program.n)) - program.rows(z)).max() < 1e-12
    assert moved.turned(np.zeros(program.n)) == 0.0
    assert program.turned(z) > 0.4


@pytest.mark.parametrize("closed_knots", [False, True])
def test_closure_at_every_knot_makes_the_rows_dependent(closed_knots: bool):
    """Issue 17, item 7: dynamics keep the loop closed, so rows that ask for it again are redundant."""
    made = mechanisms.five_bar()
    robot = made.robot
    tip = Closure(robot, "left_outer_end", "right_outer_end", Hinge.pin([0, 0, 1]), name="tip")
    rows, state = ConstraintSet(robot, [tip]).stabilised(0.02), StateSpace(robot)
    motors = Actuators.joints(robot, ["left_inner", "right_inner"])
    stage = state.with_controls(2)
    gap = stage.lift((Position(robot, "left_outer_end") - Position(robot, "right_outer_end")).restricted([0, 1]))
    closure = [StageConstraint(gap)] if closed_knots else []
    run = ContactForwardDynamics(robot, motors, rows, constraints=closure)
    program = MultipleShooting([SemiImplicitEuler(run, 0.01)] * 8, run, state.join(made.posture("closed")))
    J = program.jacobian(np.zeros(program.n)).toarray()
    J = J / np.linalg.norm(J, axis=1, keepdims=True)
    assert (np.linalg.svd(J, compute_uv=False)[-1] < 1e-4) == closed_knots


def test_rows_of_the_start_that_nothing_changes_are_left_out():
    robot = pendulum()
    state = StateSpace(robot)
    stage = state.with_controls(2)
    slow, weak = (StageConstraint(f, lower=-1.0, upper=1.0) for f in (stage.velocity(), stage.control()))
    run = SemiImplicitEuler(ContactForwardDynamics(robot, constraints=[slow, weak]), 0.1)
    program = MultipleShooting([run] * 3, run, state.zero)
    assert program.lower.size == 3 * state.ndx + 2 + 4 + 4 + 2
    assert np.count_nonzero(program.are_defects) == 3 * state.ndx
    with pytest.raises(errors.OptionError, match=r"no control can change is violated by 0\.5"):
        MultipleShooting([run] * 3, run, [0.0, 0.0, 1.5, 0.0])


class NoSlopes(DiscreteAction):
    """A step that has derivatives only near its start."""

    def __init__(self, step: SemiImplicitEuler) -> None:
        self.step = step
        self.state, self.stage, self.costs, self.constraints = step.state, step.stage, step.costs, step.constraints

    @property
    def u_lower(self) -> Any:
        return self.step.u_lower

    @property
    def u_upper(self) -> Any:
        return self.step.u_upper

    def calc(self, x: Any, u: Any = None) -> Any:
        return self.step.calc(x, u)

    def calc_diff(self, calculation: Any) -> Derivatives:
        found = self.step.calc_diff(calculation)
        far = np.abs(calculation.x).max() > 0.05
        names = ("Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu", "Gx", "Gu", "Hx", "Hu")
        parts: dict[str, Any] = {name: getattr(found, name) for name in names}
        return Derivatives(**parts, status=DynamicsStatus.NO_DERIVATIVES) if far else found


def impact(*limits: StageConstraint, force: float | None = None, robot: Robot | None = None) -> ImpulseDynamics:
    """The foot meets the ground; its impulse is at least `force` in all directions, if that is given."""
    own = hopper() if robot is None else robot
    rows = ConstraintSet(own, [PointContact(own, "foot", name="foot")])
    stage = StateSpace(own).with_controls(0, rows)
    push = [] if force is None else [StageConstraint(stage.force("foot"), lower=force, name="push")]
    return ImpulseDynamics(own, rows, constraints=[*push, *limits])


def falling(last: Any, **options: Any) -> MultipleShooting:
    """Two steps in the air, from a posture and a velocity of all joints, and an impact."""
    state, rng = last.state, np.random.default_rng(7)
    robot = state.robot
    stage = state.with_controls(robot.nv - 6)
    costs = [Cost(stage.control(), weight=1e-3)]
    step = SemiImplicitEuler(ContactForwardDynamics(robot, Actuators.floating_base(robot), costs=costs), 0.05)
    return MultipleShooting([step] * 2, last, state.integrate(state.zero, 0.3 * rng.normal(size=state.ndx)), **options)


@pytest.mark.parametrize("with_place", [False, True])
@pytest.mark.parametrize("kind", ["inequality", "equality"])
def test_rows_of_an_impact_at_the_end_count(kind: str, with_place: bool):
    """An impact has no terminal node: its rows of impulses are rows of the program, beside those of the state."""
    robot = hopper()
    place = StageConstraint(Position(robot, "foot"), lower=-5.0, name="place")
    free = impact(robot=robot)
    stage = free.stage
    missed_by = np.array([0.1, 0.2, 0.3])
    least = free.calc(falling(free).base.xs[-1]).impulses + missed_by
    rows: dict[str, Any] = {"inequality": {"lower": least}, "equality": {"reference": least}}[kind]
    last = impact(
        *([place] if with_place else []), StageConstraint(stage.force("foot"), **rows, name="push"), robot=robot
    )
    program, ndx = falling(last), stage.state.ndx
    z = np.zeros(program.n)
    done = last.calc(program.base.xs[-1])
    assert program.lower.size == program.upper.size == 2 * ndx + 3 + 3 * with_place
    assert np.array_equal(program.rows(z)[2 * ndx :], np.concatenate([done.h, done.g]))
    J, step = program.jacobian(z).toarray(), 1e-6
    for i, e in enumerate(step * np.eye(program.n)):
        column = (program.rows(z + e) - program.rows(z - e)) / (2.0 * step)
        assert np.abs(column - J[:, i]).max() < 1e-6 * max(1.0, np.abs(J).max())
    found = program.minimize(tolerance=1e-7).or_raise()
    impulses = last.calc(found.trajectory.xs[-1]).impulses
    assert (impulses - least).min() > -1e-6
    if kind == "equality":
        assert np.abs(impulses - least).max() < 1e-6


def test_rows_of_an_impact_at_the_start_are_constant():
    """Nothing can change an impact from the start: rows that hold are left out, others are an error."""
    robot = hopper()
    free = impact(robot=robot)
    x0 = falling(free).base.xs[0]
    least = float(free.calc(x0).impulses.min())
    step = SemiImplicitEuler(ContactForwardDynamics(robot), 0.05)
    held = MultipleShooting([impact(force=least - 0.1, robot=robot), step], step, x0)
    assert held.lower.size == 2 * free.state.ndx
    assert held.rows(np.zeros(held.n)).size == held.lower.size
    assert held.jacobian(np.zeros(held.n)).shape == (held.lower.size, held.n)
    with pytest.raises(
        errors.OptionError, match=r"an inequality of the first action that no control can change .* by 0\.1$"
    ):
        MultipleShooting([impact(force=least + 0.1, robot=robot), step], step, x0)


def test_an_action_that_returns_other_rows_than_it_says_is_named():
    robot = pendulum()
    state = StateSpace(robot)
    slow = StageConstraint(state.with_controls(2).velocity(), lower=-1.0, upper=1.0)
    step = SemiImplicitEuler(ContactForwardDynamics(robot, constraints=[slow]), 0.1)
    wrong: Any = NoSlopes(step)
    wrong.constraints = SemiImplicitEuler(ContactForwardDynamics(robot), 0.1).constraints
    program = MultipleShooting([step], wrong, state.zero)
    with pytest.raises(errors.SizeError, match=r"inequalities of node 1: expected size 0, .* 2"):
        program.rows(np.zeros(program.n))


def weak_pendulum() -> Robot:
    model = pin.Model(pendulum().model)
    model.upperEffortLimit, model.lowerEffortLimit = np.full(2, 3.0), np.full(2, -2.0)
    return Robot(model, "pendulum")


def test_given_controls_are_kept_and_only_the_optimisation_starts_within_bounds():
    robot, rng = weak_pendulum(), np.random.default_rng(8)
    us = [np.array([5.0, -4.0]), np.array([1.0, 2.5]), np.array([-2.0, -9.0])]
    given = ShootingTrajectory(0.1 * rng.normal(size=(4, 4)), tuple(us))
    made = reach(robot, [0.1, 0.0, 0.0, 0.0], steps=3)
    program = MultipleShooting(made.actions, made.terminal, given.xs[0], given.xs, us)
    other = MultipleShooting(made.actions, made.terminal, given.xs[0])
    for each in (program, other):
        back = each.trajectory(each.step(given))
        assert np.abs(back.xs - given.xs).max() < 1e-15
        assert all(np.abs(a - b).max() < 1e-15 for a, b in zip(back.us, us, strict=True))
    assert program.cost(np.zeros(program.n)) == pytest.approx(other.cost(other.step(given)), rel=1e-14)
    assert all(np.array_equal(a, b) for a, b in zip(other.around(given).base.us, us, strict=True))
    begin = program.trajectory(program.start)
    assert np.array_equal(begin.us, [[3.0, -2.0], [1.0, 2.5], [-2.0, -2.0]])
    assert np.array_equal(begin.xs, given.xs)
    assert not other.start.any()
    assert program.minimize(max_iterations=0).trajectory.us[0].tolist() == [3.0, -2.0]
    found = program.minimize(tolerance=1e-8).or_raise()
    assert found.cost == pytest.approx(other.minimize(tolerance=1e-8).or_raise().cost, rel=1e-6)
    assert all((u <= 3.0 + 1e-8).all() and (u >= -2.0 - 1e-8).all() for u in found.trajectory.us)


def test_controls_are_copied():
    program, u = reach(pendulum(), np.zeros(4), steps=1), np.array([1.0, 2.0])
    kept = MultipleShooting(program.actions, program.terminal, np.zeros(4), us=[u])
    u[:] = 9.0
    assert kept.base.us[0].tolist() == [1.0, 2.0]


def test_another_start_is_named():
    program = reach(pendulum(), [1.0, 0.0, 0.0, 0.0], steps=3)
    x0, xs = program.base.xs[0], np.zeros((4, 4))
    xs[0, 1] = 0.25
    other = ShootingTrajectory(xs, program.base.us)
    said = r"the first one differs from the start x0 by 0\.25; give the same x0, or only the 3 states after it"
    for make in (
        lambda: MultipleShooting(program.actions, program.terminal, x0, xs),
        lambda: program.step(other),
        lambda: program.around(other),
    ):
        with pytest.raises(errors.OptionError, match=said):
            make()
    MultipleShooting(program.actions, program.terminal, x0, xs[1:])
    MultipleShooting(program.actions, program.terminal, xs[0], xs)
    free = free_body()
    step = SemiImplicitEuler(ContactForwardDynamics(free), 0.1)
    start = StateSpace(free).zero
    MultipleShooting([step], step, start, [start * np.r_[np.ones(3), -np.ones(4), np.ones(6)], start])  # -q: the same


def test_failures_are_values():
    program = reach(pendulum(), [1.0, 0.0, 0.0, 0.0])
    short = program.minimize(max_iterations=2)
    assert short.status is ShootingStatus.MAX_ITERATIONS
    assert short.iterations == 2
    with pytest.raises(errors.FailedError, match="MAX_ITERATIONS") as raised:
        short.or_raise()
    assert raised.value.result is short
    stopped = program.minimize(callback=lambda z, state: state.nit >= 3)
    assert stopped.status is ShootingStatus.INTERRUPTED
    steps = [NoSlopes(step) for step in program.actions]  # type: ignore[arg-type]
    lost = MultipleShooting(steps, program.terminal, program.base.xs[0]).minimize()
    assert lost.status is ShootingStatus.NO_DERIVATIVES
    assert "FailedError" in lost.said
    assert not lost.success


class Nowhere(NoSlopes):
    """A step that is undefined where the first coordinate is above 0.3."""

    def calc(self, x: Any, u: Any = None) -> Any:
        if x[0] > 0.3:
            raise errors.UndefinedError("too far")
        return self.step.calc(x, u)

    def calc_diff(self, calculation: Any) -> Derivatives:
        if np.abs(calculation.x).max() > 0.15:
            raise errors.UndefinedError("no slopes")
        return self.step.calc_diff(calculation)


def test_undefined_nodes_are_told():
    """At the start it has no dynamics, with the node; later it has no derivatives. Other nodes keep their defects."""
    program = reach(pendulum(), [1.0, 0.0, 0.0, 0.0], steps=3)
    steps = [Nowhere(step) for step in program.actions]  # type: ignore[arg-type]
    x0, far = np.array([0.1, 0.0, 0.0, 0.0]), np.array([0.4, 0.0, 0.0, 0.0])
    lost = MultipleShooting(steps, program.terminal, x0, [x0, far, x0])
    nodes = lost.nodes(np.zeros(lost.n))
    assert not nodes.success
    assert nodes.cost == np.inf
    assert [defect.any() for defect in nodes.defects] == [True, True, False]
    with pytest.raises(errors.UndefinedError, match="too far"):
        _ = nodes.slopes
    found = lost.minimize()
    assert (found.status, found.said) == (ShootingStatus.NO_DYNAMICS, "node 2: a function is undefined")
    assert np.isnan(found.gradient)
    assert (found.iterations, found.charts) == (0, 1)
    assert found.defect == pytest.approx(np.abs(np.concatenate(nodes.defects)).max())
    assert str(found) == (
        f"{ShootingStatus.NO_DYNAMICS}\n  cost inf, defect {found.defect:.1e}, other rows 0.0e+00, gradient nan, "
        "0 iterations\n  node 2: a function is undefined"
    )
    assert repr(found) == "ShootingResult(NO_DYNAMICS, cost inf, 0 iterations)"
    assert repr(found.trajectory) == "ShootingTrajectory(3 steps, nx 4)"
    without = MultipleShooting(steps, program.terminal, x0).minimize()
    assert (without.status, without.said) == (ShootingStatus.NO_DERIVATIVES, "UndefinedError: no slopes")


def test_a_node_without_dynamics_costs_infinitely_much():
    """The massless end of a chain has no acceleration: the start says so, with the node that fails."""
    model = pin.Model(pendulum().model)
    model.inertias[2] = pin.Inertia.Zero()
    program = reach(Robot(model), [1.0, 0.0, 0.0, 0.0], steps=3)
    z = np.zeros(program.n)
    assert program.cost(z) == np.inf
    assert np.isfinite(program.rows(z)).all()
    with pytest.raises(errors.FailedError):
        _ = program.nodes(z).slopes
    found = program.minimize()
    assert found.status is ShootingStatus.NO_DYNAMICS
    assert found.said.startswith("node 0: ")


def test_bad_input_is_named():
    robot = pendulum()
    state = StateSpace(robot)
    run = ContactForwardDynamics(robot)
    step = SemiImplicitEuler(run, 0.1)
    with pytest.raises(errors.EmptyProblemError, match="one action or more"):
        MultipleShooting([], run, state.zero)
    with pytest.raises(errors.WrongObjectError, match=r"action 1 of a shooting problem.*DiscreteAction"):
        MultipleShooting([step, run], run, state.zero)  # type: ignore[list-item]
    with pytest.raises(errors.WrongObjectError, match="terminal action"):
        MultipleShooting([step], "end", state.zero)  # type: ignore[arg-type]
    with pytest.raises(errors.RobotMismatchError, match=r"action 1 of a shooting problem is of .*'cart'"):
        MultipleShooting([step], ContactForwardDynamics(cart()), state.zero)
    with pytest.raises(errors.SizeError, match="start"):
        MultipleShooting([step], run, np.zeros(3))
    with pytest.raises(errors.SizeError, match="controls of a base trajectory"):
        MultipleShooting([step], run, state.zero, us=[np.zeros(2)] * 2)
    with pytest.raises(errors.SizeError, match="states of a base trajectory"):
        MultipleShooting([step], run, state.zero, xs=np.zeros((4, 4)))
    with pytest.raises(errors.NotFiniteError, match="control 0"):
        MultipleShooting([step], run, state.zero, us=[[np.nan, 0.0]])
    free = free_body()
    one = SemiImplicitEuler(ContactForwardDynamics(free), 0.1)
    with pytest.raises(errors.NotNormalizedError, match="state 1"):
        MultipleShooting([one], one, StateSpace(free).zero, xs=np.ones((1, 13)))
    program = MultipleShooting([step], run, state.zero)
    with pytest.raises(errors.SizeError, match="step of a trajectory"):
        program.cost(np.zeros(3))
    with pytest.raises(errors.WrongObjectError, match="trajectory"):
        program.around(np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(errors.OptionError, match="turn of a chart"):
        program.minimize(turn=4.0)
    with pytest.raises(errors.WrongObjectError, match="callback"):
        program.minimize(callback=3)  # type: ignore[arg-type]
    with pytest.raises(errors.SizeError, match="states of a base trajectory"):
        program.step(ShootingTrajectory(np.zeros((9, 4)), (np.zeros(2),)))

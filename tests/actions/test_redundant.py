"""Redundant rows, singular states and loops in actions.

Cases 14 and 15 of the acceptance list of contact dynamics, at the level of actions. Oracle: central differences of
the action's own values, which `test_dense.py` and `test_stored.py` know from elsewhere; and the problem with fewer
rows.
"""

# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOptionalOperand=false
# pyright: reportOptionalCall=false, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from actions.dense import differences, error
from crocoddyl_cases import robot_of

from constraints import Robot, actions
from constraints.dynamics import DynamicsStatus, forward_dynamics
from constraints.errors import FailedError
from constraints.loops import (
    AssemblyOptions,
    Axes,
    Baumgarte,
    Closure,
    ConstraintSet,
    Form,
    Hinge,
    SurfaceContact,
    assemble_position,
    assemble_velocity,
)
from constraints.models import load

LEFT, RIGHT = "left_sole_link", "right_sole_link"


def soles(*frames: str, axes: Axes = Axes.LOCAL) -> ConstraintSet:
    robot = robot_of("talos_legs")
    q = robot.neutral
    owners = [
        SurfaceContact(robot, f, axes=axes, form=Form.RATES, name=f"{f} {i}").anchored(q) for i, f in enumerate(frames)
    ]
    return ConstraintSet(robot, owners).stabilised(Baumgarte(40.0, 9.0))


def walking(rows: ConstraintSet, **options: Any) -> actions.ContactForwardDynamics:
    robot = rows.robot
    options = {"with_force_derivatives": True, **options}
    return actions.ContactForwardDynamics(robot, actions.Actuators.floating_base(robot), rows, **options)


def state_near(action: Any, q: Any, size: float, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    dx = np.concatenate([size * rng.standard_normal(action.state.nv), rng.standard_normal(action.state.nv)])
    return action.state.integrate(action.state.join(q), dx), rng.standard_normal(action.nu)


def slopes_agree(action: Any, x: Any, u: Any, limit: float = 1e-7) -> Any:
    """Derivatives of an action against differences of its values."""
    found = action.calc_diff(action.calc(x, u).or_raise()).or_raise()

    def at(d: Any) -> Any:
        done = action.calc(action.state.integrate(x, d[: action.state.ndx]), u + d[action.state.ndx :]).or_raise()
        if isinstance(action, actions.DifferentialAction):
            return np.concatenate([done.acceleration, done.multipliers])
        start = action.calc(x, u).next_state
        return action.state.difference(start, done.next_state)

    D = differences(at, action.state.ndx + action.nu, 5e-4)
    n = len(found.Fx)
    assert error(found.Fx, D[:n, : action.state.ndx]) < limit
    if action.nu:
        assert error(found.Fu, D[:n, action.state.ndx :]) < limit
    if isinstance(action, actions.DifferentialAction) and found.multipliers_x is not None:
        assert error(found.multipliers_x, D[n:, : action.state.ndx]) < 10 * limit
        assert error(found.multipliers_u, D[n:, action.state.ndx :]) < 10 * limit
    return found


class TestDuplicatedSole:
    """Case 15: eighteen rows of rank twelve, without damping."""

    @pytest.mark.parametrize("axes", list(Axes))
    def test_it_is_the_problem_of_twelve_rows_with_multipliers_of_least_norm(self, axes: Axes) -> None:
        action, known = walking(soles(LEFT, RIGHT, LEFT, axes=axes)), walking(soles(LEFT, RIGHT, axes=axes))
        x, u = state_near(known, known.robot.neutral, 0.2, 0)
        done, twelve = action.calc(x, u).or_raise(), known.calc(x, u).or_raise()
        assert done.status is DynamicsStatus.RANK_DEFICIENT
        assert error(done.acceleration, twelve.acceleration) < 1e-10
        left, right = twelve.multipliers[:6], twelve.multipliers[6:]
        assert error(done.multipliers, np.concatenate([0.5 * left, right, 0.5 * left])) < 1e-9
        found, other = action.calc_diff(done).or_raise(), known.calc_diff(twelve).or_raise()
        assert found.status is DynamicsStatus.RANK_DEFICIENT
        assert error(found.Fx, other.Fx) < 1e-9
        assert error(found.Fu, other.Fu) < 1e-9
        halves = np.concatenate([0.5 * other.multipliers_x[:6], other.multipliers_x[6:], 0.5 * other.multipliers_x[:6]])
        assert error(found.multipliers_x, halves) < 1e-9
        if axes is Axes.LOCAL:
            for scheme in (actions.SemiImplicitEuler, actions.RungeKutta4):
                steps = [scheme(each, 1e-3) for each in (action, known)]
                mine, theirs = (each.calc_diff(each.calc(x, u)) for each in steps)
                assert mine.status is DynamicsStatus.RANK_DEFICIENT
                assert theirs.status is DynamicsStatus.SOLVED
                assert error(mine.Fx, theirs.Fx) < 1e-9

    def test_wrenches_of_both_halves_sum_up(self) -> None:
        action, known = walking(soles(LEFT, RIGHT, LEFT)), walking(soles(LEFT, RIGHT))
        x, u = state_near(known, known.robot.neutral, 0.2, 1)
        a, b = action.calc_diff(action.calc(x, u)), known.calc_diff(known.calc(x, u))
        mine = a.wrench(0, axes=Axes.LOCAL_WORLD_ALIGNED).by_x + a.wrench(2, axes=Axes.LOCAL_WORLD_ALIGNED).by_x
        assert error(mine, b.wrench(0, axes=Axes.LOCAL_WORLD_ALIGNED).by_x) < 1e-9

    def test_damping_is_another_problem_and_exact_too(self) -> None:
        action = walking(soles(LEFT, RIGHT, LEFT), damping=1e-3)
        slopes_agree(action, *state_near(action, action.robot.neutral, 0.2, 2))

    @pytest.mark.parametrize("restitution", [0.0, 0.3])
    def test_impulses(self, restitution: float) -> None:
        rows, twelve = soles(LEFT, RIGHT, LEFT), soles(LEFT, RIGHT)
        action, known = (actions.ImpulseDynamics(r.robot, r, restitution) for r in (rows, twelve))
        x, _ = state_near(known, known.robot.neutral, 0.2, 3)
        done, other = action.calc(x), known.calc(x)
        assert error(done.next_state, other.next_state) < 1e-10
        a, b = action.calc_diff(done).or_raise(), known.calc_diff(other).or_raise()
        assert error(a.Fx, b.Fx) < 1e-9
        halves = np.concatenate([0.5 * b.multipliers_x[:6], b.multipliers_x[6:], 0.5 * b.multipliers_x[:6]])
        assert error(a.multipliers_x, halves) < 1e-9
        assert (a.status, b.status) == (DynamicsStatus.RANK_DEFICIENT, DynamicsStatus.SOLVED)
        assert a.Fu.shape == b.Fu.shape == (2 * rows.robot.nv, 0)

    def test_restitution_of_one_contact_alone(self) -> None:
        rows = soles(LEFT, RIGHT)
        action = actions.ImpulseDynamics(rows.robot, rows, {1: 0.4})
        x, _ = state_near(action, action.robot.neutral, 0.2, 4)
        done = action.calc(x)
        J = rows.jacobian(action.state.split(x)[0])
        before, after = J @ action.state.split(x)[1], J @ action.state.split(done.next_state)[1]
        assert np.abs(after + np.repeat([0.0, 0.4], 6) * before).max() < 1e-10
        slopes_agree(action, x, np.zeros(0))


def parallelogram(tip: float) -> tuple[Robot, ConstraintSet, Any]:
    """Two equal cranks and a bar, closed by a pin; the tip of the last link is at (tip, 0)."""
    model: Any = pin.Model()
    body = pin.Inertia.FromBox(1.0, 0.3, 0.1, 0.1)
    joint = 0
    for name, length in (("crank", 0.0), ("bar", 1.0), ("rocker", 2.0)):
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([length, 0.0, 0.0])), name)
        model.appendBodyToJoint(joint, body, pin.SE3(np.eye(3), np.array([0.5, 0.1, 0.0])))
    model.addFrame(pin.Frame("end", joint, 0, pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    model.addFrame(pin.Frame("ground", 0, 0, pin.SE3(np.eye(3), np.array([tip, 0.0, 0.0])), pin.FrameType.OP_FRAME))
    robot = Robot(model, "parallelogram")
    rows = ConstraintSet(robot, [Closure(robot, "ground", "end", Hinge.pin([0, 0, 1]), name="cut")])
    return robot, rows, robot.neutral


class TestLoops:
    """Case 14: loops between two bodies in an action."""

    @pytest.mark.parametrize("damping", [0.0, 1e-3])
    def test_planar_loop_closed_by_a_pin_has_redundant_rows(self, damping: float) -> None:
        """Five rows of rank two at every closed state: exact accelerations, least multipliers."""
        robot, rows, _ = parallelogram(2.0)
        action = actions.ContactForwardDynamics(robot, None, rows.stabilised(0.1), damping=damping)
        q = assemble_position(rows, np.array([1.0, -0.8, -1.5])).q
        x = action.state.join(q, [0.3, 0.2, -0.1])
        done = action.calc(x, [1.0, 0.5, -0.3]).or_raise()
        assert done.status is (DynamicsStatus.SOLVED if damping else DynamicsStatus.RANK_DEFICIENT)
        slopes_agree(action, x, np.array([1.0, 0.5, -0.3]))

    @pytest.mark.parametrize("damping", [0.0, 1e-3])
    @pytest.mark.parametrize("form", list(Form))
    @pytest.mark.parametrize("hinge", [Hinge.locked(), Hinge.pin([0, 1, 0]), Hinge.ball()], ids=str)
    def test_loop_of_a_humanoid(self, hinge: Hinge, form: Form, damping: float) -> None:
        """Six, five and three rows between two moving bodies, with gains (case 10 with damping)."""
        robot = robot_of("talos_legs")
        rng = np.random.default_rng(5)
        q = robot.random(rng)
        cut = Closure(robot, LEFT, RIGHT, hinge, form=form, name="cut")
        rows = ConstraintSet(robot, [cut]).stabilised(Baumgarte(10.0, 4.0))
        action = walking(rows, damping=damping)
        near = robot.space.integrate(q, 0.1 * rng.standard_normal(18))
        x, u = action.state.join(near, rng.standard_normal(18)), rng.standard_normal(12)
        slopes_agree(action, x, u)

    def test_a_dead_point_has_accelerations_but_no_derivatives(self) -> None:
        """The rank of the rows changes there: SINGULAR, NaN and an error by or_raise, never silent zeros."""
        robot, rows, q = parallelogram(3.0)
        action = actions.ContactForwardDynamics(robot, None, rows, with_force_derivatives=True)
        done = action.calc(action.state.join(q), np.zeros(3))
        found = action.calc_diff(done)
        assert done.success
        assert found.status is DynamicsStatus.NO_DERIVATIVES
        assert not found.success
        assert np.isnan(found.Fx).all()
        assert np.isnan(found.multipliers_x).all()
        assert found.Lx.shape == (6,)
        with pytest.raises(FailedError) as caught:
            found.or_raise()
        assert caught.value.result is found
        with pytest.raises(FailedError):
            found.wrench("cut")
        for scheme in (actions.SemiImplicitEuler, actions.RungeKutta4):
            step = scheme(action, 1e-3)
            assert step.calc_diff(step.calc(action.state.join(q), np.zeros(3))).status is DynamicsStatus.NO_DERIVATIVES


class TestRowsOfRounding:
    """Cassie's loops have rows that nothing moves: 1e-17 long where others are 1, they are no independent rows."""

    def test_cassie(self) -> None:
        """Multipliers are those of forward dynamics, of least norm; they were 1e19, and called unique."""
        mechanism = load(Path(__file__).parents[1] / "data" / "mechanisms" / "cassie_mjcf" / "cassie_mjcf.xml")
        robot, rows = mechanism.robot, mechanism.constraint_set()
        q = np.array(next(iter(mechanism.postures.values())))
        rng = np.random.default_rng(3)
        q = assemble_position(
            rows,
            robot.space.integrate(q, 0.1 * rng.standard_normal(robot.nv)),
            options=AssemblyOptions(tolerance=1e-12),
        ).q
        v = assemble_velocity(rows, q, rng.standard_normal(robot.nv))
        tau = rng.standard_normal(robot.nv)
        action = actions.ContactForwardDynamics(robot, None, rows, with_force_derivatives=True)
        done = action.calc(action.state.join(q, v), tau)
        plain = forward_dynamics(rows, robot.at(q, v), tau)
        assert done.status is plain.status is DynamicsStatus.RANK_DEFICIENT
        assert error(done.acceleration, plain.acceleration) < 1e-9
        assert error(done.multipliers, plain.multipliers) < 1e-9
        assert np.abs(action.calc_diff(done).or_raise().multipliers_x).max() < 1e6
        hit = actions.ImpulseDynamics(robot, rows)
        jump = hit.calc(action.state.join(q, rng.standard_normal(robot.nv)))
        assert jump.status is DynamicsStatus.RANK_DEFICIENT
        assert np.abs(jump.impulses).max() < 1e3


class TestSingularMass:
    """A body without mass that nothing holds: a status, and no numbers that look like some."""

    def action(self) -> actions.ContactForwardDynamics:
        model: Any = pin.Model()
        model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "light")
        return actions.ContactForwardDynamics(Robot(model, "light"))

    def test_it_ends_in_a_status(self) -> None:
        action = self.action()
        done = action.calc(np.zeros(2), np.ones(1))
        assert not done.success
        assert np.isnan(done.acceleration).all()
        with pytest.raises(FailedError, match="not unique"):
            done.or_raise()
        found = action.calc_diff(done)
        assert found.status is DynamicsStatus.NOT_SOLVED
        assert np.isnan(found.Fx).all()

    @pytest.mark.parametrize("scheme", [actions.SemiImplicitEuler, actions.RungeKutta4])
    def test_steps_in_time_say_so_too(self, scheme: Any) -> None:
        step = scheme(self.action(), 1e-3)
        done = step.calc(np.zeros(2), np.ones(1))
        assert not done.success
        assert np.isnan(done.next_state).all()
        assert "not unique" in str(done)
        found = step.calc_diff(done)
        assert found.status is DynamicsStatus.NOT_SOLVED
        assert np.isnan(found.Fx).all()

    def test_armature_gives_it_mass(self) -> None:
        action = self.action().replace(armature=0.5)
        assert action.calc(np.zeros(2), np.ones(1)).or_raise().acceleration == pytest.approx([2.0])
        assert self.action().replace(armature=0.5, damping=0.1).calc(np.zeros(2), np.ones(1)).success

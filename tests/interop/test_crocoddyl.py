"""Actions as models of crocoddyl: its differences, its solvers, and what they find against SciPy's solution."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from interop.test_shooting import hopper, pendulum

from constraints import Robot
from constraints.actions import (
    ContactForwardDynamics,
    Cost,
    ImpulseDynamics,
    RungeKutta4,
    SemiImplicitEuler,
    StageConstraint,
    StateSpace,
)
from constraints.errors import WrongObjectError
from constraints.interop import MultipleShooting, as_crocoddyl_action, as_crocoddyl_state
from constraints.interop.crocoddyl_wheels import look
from constraints.loops import ConstraintSet, PointContact

crocoddyl: Any = pytest.importorskip("crocoddyl")

BLOCKS = ("Fx", "Fu", "Lx", "Lu", "Lxx", "Lxu", "Luu", "Gx", "Gu", "Hx", "Hu")


def standing() -> tuple[ContactForwardDynamics, np.ndarray, np.ndarray]:
    """A leg in contact with costs and constraints of all kinds, a state and a control."""
    robot, rng = hopper(), np.random.default_rng(4)
    state = StateSpace(robot)
    x = state.integrate(state.zero, rng.uniform(-0.5, 0.5, state.ndx))
    rows = ConstraintSet(robot, [PointContact(robot, "foot", name="foot").anchored(x[: robot.nq])]).stabilised(0.1)
    stage = state.with_controls(robot.nv, rows)
    costs = [Cost(stage.states(), x, name="x"), Cost(stage.control(), name="u"), Cost(stage.force("foot"), name="f")]
    limits = [
        StageConstraint(stage.velocity(), lower=-1.0, upper=1.0),
        StageConstraint(stage.force("foot"), lower=-90.0),
        StageConstraint(stage.control().restricted([0, 1]), name="idle"),
        StageConstraint(stage.velocity().restricted([0]), name="still"),
    ]
    return ContactForwardDynamics(robot, None, rows, costs, limits), x, rng.normal(size=robot.nv)


def swing(robot: Robot, weight: float = 10.0) -> tuple[SemiImplicitEuler, ContactForwardDynamics]:
    """Up, with little torque."""
    state = StateSpace(robot)
    stage, goal = state.with_controls(2), [np.pi, 0.0, 0.0, 0.0]
    run = ContactForwardDynamics(robot, costs=[Cost(stage.control(), weight=0.1), Cost(stage.velocity(), weight=0.1)])
    end = ContactForwardDynamics(robot, costs=[Cost(stage.states(), goal, weight)])
    return SemiImplicitEuler(run, 0.05), end


def solved(solver: str, run: Any, end: Any, steps: int = 30) -> Any:
    state = run.state
    problem = crocoddyl.ShootingProblem(
        state.zero, [as_crocoddyl_action(run)] * steps, as_crocoddyl_action(SemiImplicitEuler(end, 1.0))
    )
    found = getattr(crocoddyl, solver)(problem)
    found.th_stop = 1e-12
    assert found.solve([state.zero] * (steps + 1), [np.zeros(run.nu)] * steps, 300)
    return found


@pytest.mark.parametrize("kind", ["differential", "euler", "runge_kutta"])
def test_differences_of_crocoddyl_find_our_derivatives(kind: str):
    """Issue 17, item 7: through crocoddyl's own numdiff, dynamics, costs and rows."""
    action, x, u = standing()
    made: Any = {
        "differential": action,
        "euler": SemiImplicitEuler(action, 0.05),
        "runge_kutta": RungeKutta4(action, 0.05),
    }[kind]
    model = as_crocoddyl_action(made)
    numeric = crocoddyl.DifferentialActionModelNumDiff if kind == "differential" else crocoddyl.ActionModelNumDiff
    differences = numeric(model, True)
    data, other = model.createData(), differences.createData()
    for one, memory in ((model, data), (differences, other)):
        one.calc(memory, x, u)
        one.calcDiff(memory, x, u)
    second = ("Lxx", "Lxu", "Luu")  # its Gauss-Newton ones take all weights to be one
    for name in BLOCKS if kind == "differential" else [n for n in BLOCKS if n not in second]:
        ours, theirs = np.asarray(getattr(data, name)), np.asarray(getattr(other, name))
        assert np.abs(ours - theirs).max() < 2e-6 * max(1.0, np.abs(theirs).max()), name


def test_crocoddyl_integrates_as_we_do():
    """crocoddyl's semi-implicit Euler over the differential model, through its transport on our group."""
    action, x, u = standing()
    own = as_crocoddyl_action(SemiImplicitEuler(action, 0.05))
    theirs = crocoddyl.IntegratedActionModelEuler(as_crocoddyl_action(action), 0.05)
    memories = []
    for model in (own, theirs):
        data = model.createData()
        model.calc(data, x, u)
        model.calcDiff(data, x, u)
        memories.append(data)
    for name in ("xnext", "cost", "g", "h", *BLOCKS):
        ours, others = (np.asarray(getattr(data, name)) for data in memories)
        assert np.abs(ours - others).max() < 1e-12 * max(1.0, np.abs(ours).max()), name


def test_states_are_those_of_pinocchio():
    """Difference, integration, their derivatives and transport, as Pinocchio has them for a configuration."""
    robot, rng = hopper(), np.random.default_rng(5)
    space, model, nq, nv = StateSpace(robot), robot.model, robot.nq, robot.nv
    state, which = as_crocoddyl_state(space), crocoddyl.Jcomponent
    x, dx = state.rand(), rng.uniform(-0.5, 0.5, space.ndx)
    y = state.integrate(x, dx)
    assert np.abs(y[:nq] - pin.integrate(model, x[:nq], dx[:nv])).max() < 1e-12
    assert np.abs(state.diff(x, y) - dx).max() < 1e-12
    first, second = state.Jdiff(x, y, which.both)
    assert np.abs(second[:nv, :nv] - pin.dDifference(model, x[:nq], y[:nq], pin.ARG1)).max() < 1e-10
    assert np.abs(first[:nv, :nv] - pin.dDifference(model, x[:nq], y[:nq], pin.ARG0)).max() < 1e-10
    J = rng.normal(size=(space.ndx, 3))
    for component, argument in ((which.first, pin.ARG0), (which.second, pin.ARG1)):
        moved = state.JintegrateTransport(x, dx, J, component)[:nv]
        assert np.abs(moved - pin.dIntegrateTransport(model, x[:nq], dx[:nv], J[:nv], argument)).max() < 1e-12
        one = state.Jintegrate(x, dx, component)[:nv, :nv]
        assert np.abs(one - pin.dIntegrate(model, x[:nq], dx[:nv], argument)).max() < 1e-12


def test_a_pendulum_swings_up_at_the_cost_that_scipy_finds():
    """Issue 17, item 7: FDDP of crocoddyl and trust-constr of SciPy end in the same trajectory."""
    run, end = swing(pendulum())
    found = solved("SolverFDDP", run, end)
    program = MultipleShooting([run] * 30, end, run.state.zero, np.array(found.xs), list(found.us))
    other = program.minimize(tolerance=1e-8).or_raise()
    assert found.cost == pytest.approx(other.cost, rel=1e-7)
    assert np.abs(np.array(found.xs) - other.trajectory.xs).max() < 1e-3
    assert np.abs(found.xs[-1][:2] - [np.pi, 0.0]).max() < 0.2


def test_bounds_of_controls_are_those_of_crocoddyl():
    free = solved("SolverBoxFDDP", *swing(pendulum()))
    most = max(np.abs(u).max() for u in free.us)
    assert not free.problem.runningModels[0].has_control_limits
    bound = solved("SolverBoxFDDP", *swing(pendulum(0.8 * most)))
    assert bound.problem.runningModels[0].has_control_limits
    assert max(np.abs(u).max() for u in bound.us) == pytest.approx(0.8 * most)
    assert bound.cost > free.cost


def test_equalities_of_running_nodes_hold_for_intro():
    """The second motor is off: SolverIntro of crocoddyl looks at h and Hu."""
    robot = pendulum()
    stage = StateSpace(robot).with_controls(2)
    run, end = swing(robot)
    off = StageConstraint(stage.control().restricted([1]), name="off")
    lame = SemiImplicitEuler(ContactForwardDynamics(robot, costs=run.costs.costs, constraints=[off]), 0.05)
    found = solved("SolverIntro", lame, end)
    assert max(abs(u[1]) for u in found.us) < 1e-8
    assert found.cost > solved("SolverIntro", run, end).cost


def test_terminal_nodes_and_impulses():
    action, x, u = standing()
    model = as_crocoddyl_action(action)
    data, done = model.createData(), action.calc(x)
    model.calc(data, x, u)
    model.calc(data, x)
    assert (model.ng, model.nh, model.ng_T, model.nh_T) == (
        action.ng,
        action.nh,
        action.ng_terminal,
        action.nh_terminal,
    )
    assert np.array_equal(data.g[: action.ng_terminal], done.g)
    assert not data.g[action.ng_terminal :].any()
    assert data.cost == done.cost
    model.calcDiff(data, x)
    assert np.array_equal(data.Lx, action.calc_diff(done).Lx)

    hit = ImpulseDynamics(action.robot, action.constraint_set)
    impact = as_crocoddyl_action(hit)
    memory = impact.createData()
    impact.calc(memory, x, np.zeros(0))
    assert np.array_equal(memory.xnext, hit.calc(x, np.zeros(0)).next_state)

    pushing = hit.stage.force(0)
    limits = [
        StageConstraint(pushing, lower=0.0, name="push"),
        StageConstraint(hit.stage.velocity(), lower=-9.0, name="slow"),
        StageConstraint(pushing.restricted([0]), name="no slip"),
    ]
    last = hit.replace(constraints=limits)
    end = as_crocoddyl_action(last)  # as the last node: rows of impulses count, and come in the order of the action
    assert (end.ng_T, end.nh_T) == (end.ng, end.nh) == (last.ng, last.nh)
    memory, known = end.createData(), last.calc(x)
    end.calc(memory, x)
    end.calcDiff(memory, x)
    assert np.array_equal(memory.g[: end.ng_T], known.g)
    assert np.array_equal(np.atleast_1d(memory.h)[: end.nh_T], known.h)
    assert np.array_equal(memory.Gx[: end.ng_T], last.calc_diff(known).Gx)


def test_derivatives_are_never_those_of_another_state():
    """calcDiff looks at its arguments: crocoddyl's own models give those of the last calc."""
    action, x, u = standing()
    model, y = as_crocoddyl_action(action), action.state.integrate(x, 0.1 * np.ones(action.state.ndx))
    data = model.createData()
    model.calc(data, x, u)
    model.calcDiff(data, y, u)
    assert np.array_equal(data.Fx, np.asarray(action.calc_diff(action.calc(y, u)).Fx))


def test_what_has_no_numbers_is_nan_and_says_why(caplog: pytest.LogCaptureFixture):
    """Nothing is raised: crocoddyl's solvers call from parallel regions, where an exception ends the process."""
    model = pin.Model(pendulum().model)
    model.inertias[2] = pin.Inertia.Zero()
    run, end = swing(Robot(model))
    one, zero = as_crocoddyl_action(run), run.state.zero
    data = one.createData()
    one.calc(data, zero, np.zeros(2))
    assert np.isnan(data.xnext).all()
    assert np.isnan(data.cost)
    assert "SINGULAR" in data.said
    one.calc(data, np.full(4, np.nan), np.zeros(2))
    assert np.isnan(data.cost)
    assert "state" in data.said
    problem = crocoddyl.ShootingProblem(zero, [one] * 3, as_crocoddyl_action(SemiImplicitEuler(end, 1.0)))
    with caplog.at_level(logging.WARNING, "constraints.interop.crocoddyl_actions"):
        assert not crocoddyl.SolverFDDP(problem).solve([zero] * 4, [np.zeros(2)] * 3, 5)
    assert any("no derivatives of" in record.getMessage() for record in caplog.records)


def test_wheels_that_do_not_belong_together_are_in_the_log(caplog: pytest.LogCaptureFixture):
    """Issue 17, item 7: one comparison of accelerations, in a process of its own, since a wrong pair may crash."""
    program = "from constraints.interop.crocoddyl_wheels import difference; print(difference())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    agrees = done.returncode == 0 and float(done.stdout) < 1e-9
    look.cache_clear()
    with caplog.at_level(logging.WARNING, "constraints.interop.crocoddyl_wheels"):
        said = look()
        look()
    assert (said == "") == agrees
    assert [record.getMessage() for record in caplog.records] == ([] if agrees else [said])
    if not agrees:
        assert f"crocoddyl {crocoddyl.__version__} and pinocchio {pin.__version__} are not compatible" in said


def test_bad_input_is_named():
    with pytest.raises(WrongObjectError, match="state space for crocoddyl"):
        as_crocoddyl_state(hopper())  # type: ignore[arg-type]
    with pytest.raises(WrongObjectError, match="action for crocoddyl"):
        as_crocoddyl_action(hopper())  # type: ignore[arg-type]
    action, x, u = standing()
    model = as_crocoddyl_action(action)
    data = model.createData()
    model.calc(data, 2.0 * x, u)
    assert np.isnan(data.cost)
    assert "must have norm 1" in data.said
    assert "ContactForwardDynamics" in str(model)
    assert "hopper" in str(as_crocoddyl_state(action.state))

"""Multiple shooting through CasADi and Ipopt: the same solutions, derivatives that CasADi sees, failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interop.test_shooting import pendulum

from constraints.actions import ContactForwardDynamics, Cost, SemiImplicitEuler, StageConstraint, StateSpace
from constraints.errors import FailedError, WrongObjectError
from constraints.interop import MultipleShooting, as_casadi

casadi: Any = pytest.importorskip("casadi")

QUIET = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}


def swing(steps: int = 25, mass: float = 1.0) -> MultipleShooting:
    """A double pendulum swings up, no faster than it may, and is there at rest."""
    robot = pendulum(25.0, mass)
    state = StateSpace(robot)
    stage = state.with_controls(2)
    slow = StageConstraint(stage.velocity(), lower=-4.0, upper=4.0)
    goal = StageConstraint(stage.states(), reference=[np.pi, 0.0, 0.0, 0.0])
    run = ContactForwardDynamics(robot, costs=[Cost(stage.control(), weight=0.1)], constraints=[slow])
    end = ContactForwardDynamics(robot, constraints=[goal])
    return MultipleShooting([SemiImplicitEuler(run, 0.06)] * steps, end, state.zero)


def test_ipopt_and_trust_constr_find_the_same_trajectory():
    """Issue 17, item 7: casadi.Callback, exact derivatives, and the same bounds."""
    program = swing()
    made = as_casadi(program)
    solver = casadi.nlpsol("swing", "ipopt", made.nlp, {**made.options, **QUIET, "ipopt.tol": 1e-8})
    found = solver(**made.arguments)
    assert solver.stats()["success"]
    z = found["x"].full().ravel()
    rows = program.rows(z)
    assert np.abs(rows[program.are_defects]).max() < 1e-7
    assert (rows > program.lower - 1e-6).all()
    assert (rows < program.upper + 1e-6).all()
    other = program.around(program.trajectory(z)).minimize(tolerance=1e-6).or_raise()
    assert float(found["f"]) == pytest.approx(other.cost, rel=1e-4)
    assert np.abs(program.trajectory(z).xs[-1] - [np.pi, 0.0, 0.0, 0.0]).max() < 1e-7


def test_functions_of_casadi_are_those_of_the_program():
    program, rng = swing(4), np.random.default_rng(6)
    made, z = as_casadi(program), 0.3 * rng.normal(size=swing(4).n)
    f, g = made.nlp(z, casadi.DM())
    assert float(f) == program.cost(z)
    assert np.array_equal(g.full().ravel(), program.rows(z))
    assert np.array_equal(made.options["grad_f"](z, casadi.DM())[1].full().ravel(), program.gradient(z))
    assert np.array_equal(made.options["jac_g"](z, casadi.DM())[1].full(), program.jacobian(z).toarray())
    H = made.options["hess_lag"](z, casadi.DM(), 2.0, np.zeros(program.lower.size)).full()
    assert np.array_equal(H, 2.0 * np.triu(program.hessian(z).toarray()))


def test_solvers_start_within_the_bounds():
    """Controls of the base that no motor can give are moved there."""
    made = swing(3)
    program = made.around(made.trajectory(np.where(np.arange(made.n) % 6 < 2, 40.0, 0.0)))
    assert program.base.us[0].tolist() == [40.0, 40.0]
    given = as_casadi(program).arguments
    assert (given["x0"] >= given["lbx"]).all()
    assert (given["x0"] <= given["ubx"]).all()
    assert program.trajectory(given["x0"]).us[0].tolist() == [25.0, 25.0]


def test_bad_input_is_named():
    with pytest.raises(WrongObjectError, match="program for CasADi"):
        as_casadi(3)  # type: ignore[arg-type]
    with pytest.raises(FailedError, match="SINGULAR"):
        as_casadi(swing(3, mass=0.0))

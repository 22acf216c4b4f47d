"""Linear steps against their closed forms, and restarts against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm
from scipy import sparse

from constraints import Bounds, Implicit, Options, Position, Problem, Projector
from constraints.functions import Identity
from constraints.solvers import NewtonEngine
from constraints.solvers.newton.least_change import LeastChange
from constraints.solvers.newton.linear_step import DampedCholesky, LinearStep
from constraints.solvers.newton.sparse_rows import SparseKKT
from liegroups import Rn

COSTS = [None, [2.0] * 5, [1.0, 4.0, 0.25, 2.0, 9.0], [1.0, 0.0, 3.0, 3.0, 0.0]]


@pytest.mark.parametrize("costs", COSTS, ids=str)
@pytest.mark.parametrize("step", [DampedCholesky, SparseKKT])
@pytest.mark.parametrize("rows", [1, 3, 8, 20])
def test_damped_steps_are_the_minimum_of_their_cost(
    step: type[LinearStep], costs: list[float] | None, rows: int
) -> None:
    """|J dq + e|^2 + mu dq^T W dq by its normal equations; costs count by their mean, zero as 1e-6 of the least."""
    rng, n = np.random.default_rng(rows), 5
    J, e, mu = rng.standard_normal((rows, n)), rng.standard_normal(rows), 0.03
    weights = None if costs is None else np.array(costs)
    W = np.ones(n)
    if weights is not None:
        positive = weights[weights > 0.0]
        W = np.maximum(weights, 1e-6 * positive.min()) / positive.mean()
    expected = np.linalg.solve(J.T @ J + mu * np.diag(W), -J.T @ e)
    rows_of_it: Any = sparse.csr_matrix(J) if step.is_sparse else J
    np.testing.assert_allclose(step(rows, weights).solve(e, rows_of_it, mu), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("rows", [2, 3, 7])
def test_rows_that_repeat_are_solved_without_damping(rows: int) -> None:
    """Least squares by singular values; the first factorisation fails, as J J^T is singular."""
    J = np.tile([[3.0, 0.0, 4.0]], (rows, 1))
    e = np.ones(rows)
    found = DampedCholesky(rows).solve(e, J, 0.0)
    np.testing.assert_allclose(found, -np.linalg.lstsq(J, e, rcond=None)[0], rtol=1e-6)


@pytest.mark.parametrize("step", [DampedCholesky, SparseKKT, LeastChange])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 5.0, 1.0, 1.0, 3.0])], ids=["alike", "costs"])
def test_frozen_joints_do_not_move_by_any_step(step: type[LinearStep], weights: np.ndarray | None) -> None:
    """Two joints are frozen by name, and the others do what is asked; without bounds, as a sparse step knows none."""
    robot = arm()
    joints = [place.name for place in robot.space.factors]
    frozen = [joints[1], joints[3]]
    hand = Implicit.equal(Position(robot, "tool"), name="hand")
    problem = Problem(robot.space, [hand], frozen=frozen, weights=weights)
    projector = Projector(problem, Options(damping=1e-3), engine=NewtonEngine(step))
    columns = np.concatenate([np.arange(f.v.start, f.v.stop) for f in robot.space.factors if f.name in frozen])
    q = robot.random(np.random.default_rng(7))
    rhs = problem.rhs_from(robot.space.integrate(q, np.where(problem.free, 0.1, 0.0)))
    result = projector.project(q, rhs=rhs)
    assert result.success
    np.testing.assert_array_equal(robot.space.difference(q, result.q)[columns], 0.0)
    np.testing.assert_allclose(hand.function.value(result.q), rhs.vector, atol=1e-4)


@pytest.mark.parametrize("frozen", [(), (1, 3)])
def test_one_damped_step_is_the_same_by_dense_and_by_sparse_rows(frozen: tuple[int, ...]) -> None:
    """What is frozen is no part of the step, so that the others do all that the rows ask for."""
    robot = arm()
    joints = [place.name for place in robot.space.factors]
    problem = Problem(robot.space, [Implicit.equal(Position(robot, "tool"))], frozen=[joints[i] for i in frozen])
    q = robot.random(np.random.default_rng(8))
    rhs = problem.rhs_from(robot.space.integrate(q, np.full(robot.nv, 0.01)))
    dense, sparse_rows = (
        Projector(problem, Options(), engine=NewtonEngine(step)).one_step(q, rhs=rhs)
        for step in (DampedCholesky, SparseKKT)
    )
    assert not np.array_equal(dense, q)
    np.testing.assert_allclose(sparse_rows, dense, rtol=0, atol=1e-10)


@pytest.mark.parametrize("screen", [2, 5])
def test_a_restart_goes_on_from_the_least_of_those_it_looks_at(screen: int) -> None:
    """Restarts that look at one configuration each take those that a restart looks at, in their order."""
    space = Rn(2)
    out_of_reach = Implicit.equal(Identity(space), [7.0, -9.0])
    problem = Problem(space, [out_of_reach], bounds=box(-1.0, 1.0))

    def restarts(screen: int) -> list[tuple[np.ndarray, float]]:
        options = Options(screen=screen, trace=True, max_iterations=200)
        result = Projector(problem, options).project([0.25, 0.5])
        assert not result.success
        assert result.trace is not None
        return [(step.q, step.residual) for step in result.trace if step.restarted]

    one, best = restarts(1), restarts(screen)
    assert len(one) > 2 * screen
    assert len(best) > 2
    for k, (q, residual) in enumerate(best[: len(one) // screen]):
        found = min(one[k * screen : (k + 1) * screen], key=lambda pair: pair[1])
        np.testing.assert_array_equal(q, found[0])
        assert residual == found[1]
        assert residual == pytest.approx(np.hypot(q[0] - 7.0, q[1] + 9.0), rel=1e-12)


def box(lower: float, upper: float) -> Bounds:
    return Bounds(Rn(2), np.full(2, lower), np.full(2, upper))

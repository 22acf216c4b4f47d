"""Linear steps against their closed forms, and restarts against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm
from scipy import sparse

from constraints import Affine, Bounds, Explicit, Implicit, Options, Position, Problem, Projector
from constraints.errors import OptionError, StepError, WrongObjectError
from constraints.functions import Identity
from constraints.solvers import NewtonEngine
from constraints.solvers.newton.least_change import LeastChange, least_change
from constraints.solvers.newton.linear_step import DampedCholesky, LinearStep
from constraints.solvers.newton.sparse_kkt import SparseKKT
from liegroups import SE3, Rn, Segments

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
    dense, by_kkt = (
        Projector(problem, Options(), engine=NewtonEngine(step)).one_step(q, rhs=rhs)
        for step in (DampedCholesky, SparseKKT)
    )
    assert not np.array_equal(dense, q)
    np.testing.assert_allclose(by_kkt, dense, rtol=0, atol=1e-10)


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


class Own(LinearStep):
    """A direction as a user writes it."""

    def __init__(self, rows: int, weights: np.ndarray | None = None) -> None:
        self.rows = rows

    def solve(self, e: np.ndarray, J: np.ndarray, mu: float, root: np.ndarray | None = None) -> np.ndarray:
        return -np.linalg.pinv(J) @ e


def own(solve: Any) -> type[LinearStep]:
    return type("MyStep", (Own,), {"solve": solve})


@pytest.mark.parametrize(("solve", "said"), [
    (lambda self, e, J, mu, root=None: None, "MyStep.solve returned None"),
    (lambda self, e, J, mu, root=None: np.zeros(3, dtype=np.float32), "MyStep.solve returned array"),
    (lambda self, e, J, mu, root=None: np.zeros(2), r"shape \(2,\), but nv is 3"),
    (lambda self, e, J, mu, root=None: np.zeros((3, 1)), r"shape \(3, 1\), but nv is 3"),
    (lambda self, e, J, mu, root=None: np.array([0.0, np.inf, 0.0]), "not finite although the errors are"),
    (lambda self, e, J, mu, root=None: np.linalg.solve(np.zeros((3, 3)), np.zeros(3)), "could not solve .Singular"),
])  # fmt: skip
def test_directions_of_users_are_watched(solve: Any, said: str) -> None:
    """What they return instead of a motion is named; of errors that are no numbers nothing is expected."""
    row = np.array([[1.0, 2.0, 0.0]])
    with pytest.raises(StepError, match=said):
        own(solve)(1).solve(np.ones(1), row, 0.0)
    problem = Problem(Rn(3), [Implicit.zero(Affine(row, [1.0]))])
    with pytest.raises(StepError, match=said):
        Projector(problem, engine=NewtonEngine(own(solve))).project(np.ones(3))
    step = Own(1).solve(np.array([5.0]), row, 0.0)
    np.testing.assert_allclose(step, [-1.0, -2.0, 0.0], atol=1e-12)
    assert np.isnan(Own(1).solve(np.array([np.nan]), row, 0.0)).all()
    assert own(lambda self, e, J, mu, root=None: Own.solve(self, e, J, mu, root))(1).solve(step[:1], row, 0.0).size == 3
    assert type("Quiet", (Own,), {}).solve is Own.solve


def test_engines_take_classes_that_can_be_made_and_called() -> None:
    def build(self: Any, rows: int) -> None: ...

    for words, names in (
        (r"a class made by MyStep\(rows, weights\)", {"__init__": build}),
        (r"a class with MyStep.solve\(self, e, J, mu, root=None\)", {"solve": lambda self, e, J: e}),
    ):
        with pytest.raises(WrongObjectError, match=words):
            NewtonEngine(type("MyStep", (Own,), names))
    wrong: Any
    for wrong in (3, "step", int, DampedCholesky(3)):
        with pytest.raises(WrongObjectError, match="linear step of an engine: expected a class that is a LinearStep"):
            NewtonEngine(wrong)
    engine = NewtonEngine(Own)
    assert engine.step is Own
    assert repr(engine) == "NewtonEngine(Own)"
    assert repr(NewtonEngine()) == "NewtonEngine(DampedCholesky)"


def test_sparse_steps_solve_one_level_without_bounds() -> None:
    """Levels, bounds, and bounded bodies are refused; explicit constraints are rows."""
    space = Rn(1) * SE3
    low = np.full(space.nq, -np.inf)
    row, other = (Implicit.zero(Affine([[a]]).on(space, Segments.coordinates(space, [0]))) for a in (1.0, 2.0))
    lower, upper = low.copy(), -low
    lower[1] = -1.0
    body = Implicit.zero(Identity(SE3).on(space, Segments.of(space, space.factors[1].name)))
    joint = low.copy()
    joint[0] = -1.0
    engine = NewtonEngine(SparseKKT)
    for problem in (
        Problem(space, [[row], [other]]), Problem(space, [row], Bounds(space, joint, upper)),
        Problem(space, [row, body], Bounds(space, lower, upper)),
    ):  # fmt: skip
        with pytest.raises(OptionError, match="SparseKKT solves one level without bounds"):
            Projector(problem, engine=engine)
    target = Implicit.equal(Affine([[1.0]]).on(space, Segments.coordinates(space, [0])), [0.4])
    for problem in (
        Problem(space, [target, body]),
        Problem(space, [[target], [Implicit.zero(other.function, mask=False)]]),
    ):
        assert Projector(problem, engine=engine).project(space.neutral).q[0] == pytest.approx(0.4, abs=1e-4)
    follow = Explicit(Affine([[2.0]]), Segments.coordinates(Rn(2), [1]), Segments.coordinates(Rn(2), [0]), whole=Rn(2))
    result = Projector(Problem(Rn(2), [follow, Implicit.zero(Affine([[1.0, 0.0]], [-0.3]))]), engine=engine).project(
        [0, 0]
    )
    np.testing.assert_allclose(result.q, [0.3, 0.6], atol=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_the_least_change_by_pseudo_inverses(seed: int) -> None:
    """Any ranks, costs that are zero, small or alike, damping: by pinv, the null space and the costs."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 5)), 5
    J, e, mu = rng.normal(size=(m, n)), rng.normal(size=m), float(rng.choice([0.0, 0.1]))
    J[-1] = J[0] if m > 2 else J[-1]
    J[:, seed % n] = 0.0 if seed % 2 else J[:, seed % n]
    W = rng.uniform(0.5, 2.0, n) * (rng.random(n) < 0.7) * 10.0 ** rng.integers(-8, 8)
    U, s, V = np.linalg.svd(J)
    rank = int((s > 1e-6 * s.max()).sum())
    d, Z = np.zeros(n), V[rank:].T
    for u, x, v in zip(U.T[:rank], s[:rank], V[:rank], strict=True):
        d += v * (u @ e) * x / (x * x + mu)
    costs = np.sqrt(W)[:, None] * Z
    d = d - Z @ np.linalg.pinv(costs, rcond=1e-9) @ (np.sqrt(W) * d)
    np.testing.assert_allclose(least_change(J, e, W, mu), d, rtol=0, atol=1e-7)
    moving = J.any(axis=0)
    step = LeastChange(m, W).solve(e, J, mu)
    np.testing.assert_allclose(step[moving], -least_change(J[:, moving], e, W[moving], mu), rtol=0, atol=1e-12)
    assert not step[~moving].any()


def test_sparse_steps_take_no_cost_for_a_part_of_the_least() -> None:
    """1e-6 of the least cost that is positive, which may be small itself."""
    rng = np.random.default_rng(1)
    J, e, W = rng.standard_normal((3, 5)), rng.standard_normal(3), np.array([2e-4, 2e-10, 1.0, 3.0, 3.0])
    W /= np.mean([2e-4, 1.0, 3.0, 3.0])
    expected = np.linalg.solve(J.T @ J + 0.03 * np.diag(W), -J.T @ e)
    rows: Any = sparse.csr_matrix(J)
    found = SparseKKT(3, np.array([2e-4, 0.0, 1.0, 3.0, 3.0])).solve(e, rows, 0.03)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


def test_the_least_change_counts_the_costs_of_computed_dofs() -> None:
    """x + z = 1 with y = 2 x: x^2 + y^2 + z^2 is least at x = 1/6, and x^2 + z^2 alone would be at 1/2."""
    space = Rn(3)
    follow = Explicit(
        Affine([[2.0]]), Segments.coordinates(space, [1]), Segments.coordinates(space, [0]), whole=space, name="follow"
    )
    line = Implicit.zero(Affine([[1.0, 0.0, 1.0]], [-1.0]), name="line")
    problem = Problem(space, [follow, line])
    options = Options(threshold=1e-9, cap=9.0)
    for step, expected in ((LeastChange, [1 / 6, 1 / 3, 5 / 6]), (DampedCholesky, [0.5, 1.0, 0.5])):
        result = Projector(problem, options, engine=NewtonEngine(step)).project(np.zeros(3)).or_raise()
        np.testing.assert_allclose(result.q, expected, atol=1e-5)

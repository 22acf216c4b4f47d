"""The parts of a refinement, each for itself: model, multipliers, feasible set, objectives, second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm, humanoid
from scipy import optimize

from constraints import (
    Affine,
    Bounds,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Position,
    Problem,
    Projector,
    locked_joint,
)
from constraints.errors import UndefinedError
from constraints.point import place
from constraints.solvers.refinement.feasible_set import INSIDE_ROW_BOUNDS, FeasibleSet, FeasibleSetAt, refined_columns
from constraints.solvers.refinement.objective import Distance, LastLevel, NoObjective
from constraints.solvers.refinement.optimality import differences, inequalities, inequality_name, optimality
from constraints.solvers.refinement.quadratic_model import ALONG_EQUALITIES, Inequalities, QuadraticModel, multipliers
from constraints.solvers.refinement.restoration import STEPS, Restoration
from constraints.workspace import Workspace
from liegroups import SE2, SE3, SO2, SO3, Rn, Segments, Space

INF = np.inf


def rows(C: Any, d: Any) -> Inequalities:
    C, d = np.atleast_2d(np.array(C, dtype=float)), np.array(d, dtype=float)
    return Inequalities(C, d, np.arange(d.size), np.ones(d.size))


def symmetric(values: list[float], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of given eigenvalues, and its eigenvectors."""
    vectors = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return vectors @ np.diag(values) @ vectors.T, vectors


# The quadratic model.


@pytest.mark.parametrize("seed", range(6))
def test_the_step_of_a_convex_model_is_its_least_within_the_rows(seed: int) -> None:
    """Against SLSQP: step, multipliers that explain the slope there, complementary, and the gain of the model."""
    rng = np.random.default_rng(seed)
    B, _ = symmetric(list(rng.uniform(0.5, 3.0, 4)), seed)
    N, c = np.linalg.qr(rng.normal(size=(6, 4)))[0], rng.normal(size=4)
    C, d = rng.normal(size=(5, 6)), -rng.uniform(0.0, 0.2, 5)
    step, weights, gain = QuadraticModel(N, B, c, np.zeros((0, 4))).step(rows(C, d))
    G = C @ N

    def model(z: np.ndarray) -> float:
        return float(c @ z + 0.5 * z @ B @ z)

    minimize: Any = optimize.minimize
    found = minimize(
        model, np.zeros(4), jac=lambda z: c + B @ z, method="SLSQP", options={"ftol": 1e-14, "maxiter": 200},
        constraints=[{"type": "ineq", "fun": lambda z: G @ z - d, "jac": lambda z: G}],
    )  # fmt: skip
    z = N.T @ step
    np.testing.assert_allclose(step, N @ z, rtol=0, atol=1e-12)
    np.testing.assert_allclose(z, found.x, rtol=0, atol=1e-5)
    assert (G @ z - d >= -1e-9).all()
    assert (weights >= 0.0).all()
    np.testing.assert_allclose(weights * (G @ z - d), 0.0, rtol=0, atol=1e-8)
    np.testing.assert_allclose(c + B @ z, weights @ G, rtol=0, atol=1e-8)
    assert gain == pytest.approx(-model(z), abs=1e-10)
    assert weights.any()


def test_a_free_step_is_newtons_and_its_gain_half_the_slope() -> None:
    B, _ = symmetric([0.5, 1.0, 4.0], 1)
    c = np.array([1.0, -2.0, 0.5])
    step, weights, gain = QuadraticModel(np.eye(3), B, c, np.zeros((0, 3))).step(rows(np.zeros((0, 3)), []))
    np.testing.assert_allclose(step, -np.linalg.solve(B, c), rtol=0, atol=1e-12)
    assert weights.size == 0
    assert gain == pytest.approx(0.5 * c @ np.linalg.solve(B, c), rel=1e-12)


@pytest.mark.parametrize("slope", [1e-4, 0.5])
@pytest.mark.parametrize("down", [-2.0, -0.01])
def test_down_a_saddle_the_step_has_a_reach_at_least(slope: float, down: float) -> None:
    """Along an eigenvalue below zero the size counts, but the step is 0.2 long at least; elsewhere it is Newton's."""
    B, vectors = symmetric([3.0, 1.0, down], 2)
    c = vectors @ np.array([0.3, -0.2, slope])
    step, _, _ = QuadraticModel(np.eye(3), B, c, np.zeros((0, 3))).step(rows(np.zeros((0, 3)), []))
    expected = [-0.1, 0.2, -max(slope / abs(down), 0.2)]
    np.testing.assert_allclose(vectors.T @ step, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("small", "counts"), [(-2e-3, -3e-3), (1e-3, 1e-3), (0.0, 3e-9), (1e-12, 3e-9), (1e-8, 1e-8)])
def test_flat_curvature_is_raised_and_rounding_below_zero_is_no_saddle(small: float, counts: float) -> None:
    """-2e-3 of 3 is above -1e-3 of the largest: its size counts. What is below 1e-9 of it counts as that."""
    B, vectors = symmetric([3.0, 1.0, small], 3)
    B, vectors = np.diag([3.0, 1.0, small]), np.eye(3)
    slope = 1e-10
    step, _, _ = QuadraticModel(np.eye(3), B, slope * vectors[2], np.zeros((0, 3))).step(rows(np.zeros((0, 3)), []))
    assert abs(step[2]) == pytest.approx(slope / (2e-3 if small < 0.0 else counts), rel=1e-6)


def test_rows_that_push_are_stiff_and_what_runs_along_them_is_not() -> None:
    """Ten times the largest entry is added across a pushing row of any length."""
    B, c = np.diag([1.0, 2.0, -4.0]), np.array([1.0, 1.0, 1.0])
    for length in (1e-3, 1.0, 50.0):
        model = QuadraticModel(np.eye(3), B, c, np.array([[0.0, 0.0, length]]))
        step, _, _ = model.step(rows(np.zeros((0, 3)), []))
        np.testing.assert_allclose(step, [-1.0, -0.5, -1.0 / (10.0 * 4.0 - 4.0)], rtol=1e-9)


def test_a_row_that_only_the_second_round_leaves_is_kept_too() -> None:
    """Kept at the first row the step would leave a second that Newton's own step keeps."""
    c = np.array([-1.0, -0.1])
    C, d = [[-1.0, 0.0], [1.0, -2.0]], [-0.3, -0.05]  # x <= 0.3, and then y <= (x + 0.05) / 2
    step, weights, _ = QuadraticModel(np.eye(2), np.eye(2), c, np.zeros((0, 2))).step(rows(C, d))
    np.testing.assert_allclose(step, [0.3, 0.1], atol=1e-9)
    step, weights, _ = QuadraticModel(np.eye(2), np.eye(2), np.array([-1.0, -0.5]), np.zeros((0, 2))).step(rows(C, d))
    np.testing.assert_allclose(step, [0.3, 0.175], atol=1e-9)
    np.testing.assert_allclose(np.array([-1.0, -0.5]) + step, weights @ np.array(C), atol=1e-9)


def test_a_row_that_the_equalities_decide_is_no_row_of_the_step() -> None:
    N = np.array([[1.0], [0.0]])
    C = [[1e-12, 1.0], [-1.0, 0.0]]
    step, weights, _ = QuadraticModel(N, np.eye(1), np.array([-1.0]), np.zeros((0, 1))).step(rows(C, [0.0, -2.0]))
    np.testing.assert_allclose(step, [1.0, 0.0], atol=1e-12)
    assert not weights.any()


def test_multipliers_explain_what_a_gradient_pushes_against() -> None:
    """Non-negative, whatever the lengths of the normals; rows of no length have none."""
    normals = np.array([[2.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1e-12], [0.0, 0.0, 0.0]])
    mu, left = multipliers(np.array([3.0, -1.0, 0.7]), normals)
    np.testing.assert_allclose(mu, [1.5, 0.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(left, [0.0, -1.0, 0.7], atol=1e-12)
    mu, _ = multipliers(np.array([0.0, 1.0]), np.array([[0.0, ALONG_EQUALITIES], [0.0, 2.0]]))
    np.testing.assert_allclose(mu, [0.0, 0.5], atol=1e-12)
    for gradient, some in ((np.zeros(3), normals), (np.ones(3), np.zeros((0, 3)))):
        mu, left = multipliers(gradient, some)
        assert not mu.any()
        np.testing.assert_array_equal(left, gradient)
    rng = np.random.default_rng(0)
    for _ in range(10):
        A, g = rng.normal(size=(3, 4)) * np.array([[0.1], [1.0], [7.0]]), rng.normal(size=4)
        mu, left = multipliers(g, A)
        np.testing.assert_allclose(mu, optimize.nnls(A.T, g)[0], atol=1e-9)
        np.testing.assert_allclose(left, g - mu @ A, atol=1e-12)


def test_roundings_of_a_far_row_do_not_hold_a_step() -> None:
    """The free step ends at -1e6: a row that it leaves by 1e-8 there is met to rounding, one of 1e-5 is held."""
    model = QuadraticModel(np.eye(1), np.eye(1), np.array([1e6]), np.zeros((0, 1)))
    for off, held in ((1e-8, False), (1e-5, True)):
        _, weights, _ = model.step(rows([1.0], [off - 1e6]))
        assert weights.any() == held


# Objectives.


@pytest.mark.parametrize("space", [Rn(3), SO2, SO3, SE2, SE3, Rn(1) * SO3], ids=str)
def test_objectives_are_half_squares_with_their_gradients(space: Space) -> None:
    rng, workspace, h = np.random.default_rng(7), Workspace(), 1e-6
    near, q, W = space.random(rng), space.random(rng), rng.uniform(0.2, 2.0, space.nv)
    f = Function.from_callable(lambda q: np.sin(q[:1]) + q[:1] ** 2, space, Rn(1), name="f")
    problem = Problem(space, [Implicit(f, Comparison.EQUALITY, scale=3.0, rhs=[0.2], name="f")])
    moved = Distance(space, W, near)
    for objective, cost in (
        (moved, lambda q: 0.5 * space.difference(near, q) @ (W * space.difference(near, q))),
        (LastLevel(problem.constraints), lambda q: 0.5 * (3.0 * (f.value(q) - 0.2)) @ (3.0 * (f.value(q) - 0.2))),
        (NoObjective(space.nv), lambda q: 0.0),
    ):
        value, gradient, least = objective.at(place(space, q, workspace), problem.rhs)
        assert value == pytest.approx(cost(q), rel=1e-12)
        ahead, behind = ([cost(space.integrate(q, s * h * e)) for e in np.eye(space.nv)] for s in (1.0, -1.0))
        np.testing.assert_allclose(gradient, (np.array(ahead) - behind) / (2.0 * h), atol=1e-6)
        if objective is moved:
            assert least == pytest.approx(1e-6 * W.max() * max(1.0, np.abs(near).max()), rel=1e-12)
        elif isinstance(objective, LastLevel):
            e, J = problem.error(q), problem.jacobian(q)
            assert least == pytest.approx(np.abs(e) @ np.linalg.norm(J, axis=1), rel=1e-12)
        else:
            assert least == 0.0
    for near, size in ([0.2, -0.1], 1.0), ([0.2, -3.0], 3.0):
        far = Distance(Rn(2), np.array([0.5, 2.0]), np.array(near))
        assert far.at(place(Rn(2), np.zeros(2), workspace), problem.rhs)[2] == pytest.approx(2e-6 * size, rel=1e-12)


# The feasible set.


def sample() -> Problem:
    """Rows of all kinds on x0 ... x4; x3 = 2 x0 + 0.1 is computed and bounded, x4 frozen."""
    space = Rn(6)
    double = Explicit(
        Affine([[2.0]], [0.1]), Segments.coordinates(space, [3]), Segments.coordinates(space, [0]), whole=space
    )
    bowl = Function.from_callable(
        lambda q: [q[0] ** 2 + q[3], q[1] * q[2], q[0] + q[1]], space, Rn(3),
        lambda q: [[2 * q[0], 0, 0, 1, 0, 0], [0, q[2], q[1], 0, 0, 0], [1, 1, 0, 0, 0, 0]], name="bowl",
    )  # fmt: skip
    mixed = Implicit(
        bowl, [Comparison.EQUALITY, None, Comparison.SUPERIOR], [0.5, 0.0, 0.0], scale=[2.0, 3.0, 0.5],
        margin=[0.0, 0.1, 0.2], lower=[0.0, -1.0, 0.0], upper=[0.0, 2.0, 0.0], name="bowl",
    )  # fmt: skip
    lower = np.array([-5.0, -INF, 0.0, -1.0, -INF, -INF])
    upper = np.array([5.0, 4.0, INF, 2.0, INF, INF])
    return Problem(space, [double, mixed], Bounds(space, lower, upper), frozen=Segments.coordinates(space, [4]))


def at(problem: Problem, q: np.ndarray, objective: Any = None) -> tuple[FeasibleSetAt, Any]:
    feasible = FeasibleSet(problem, refined_columns(problem, True))
    view = feasible.seen(problem.rhs, Workspace(), objective or NoObjective(problem.space.nv))
    return view, view.at(q)


def test_a_feasible_set_has_a_value_and_an_interval_for_each_row_and_guard() -> None:
    problem = sample()
    view, local = at(problem, np.array([1.0, 2.0, 3.0, 9.0, 0.5, 0.7]))
    feasible = view.feasible
    assert feasible.live.tolist() == [0, 1, 2, 5]
    assert feasible.moving.tolist() == [0, 1, 2, 3, 5]
    np.testing.assert_allclose(
        feasible.lower, [0.0, 3.0 * -0.9, 0.5 * 0.2, -1.0 + INSIDE_ROW_BOUNDS], rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(feasible.upper, [0.0, 3.0 * 1.9, INF, 2.0 - INSIDE_ROW_BOUNDS], rtol=0, atol=1e-14)
    assert feasible.equal.tolist() == [True, False, False, False]
    assert feasible.wide.tolist() == [1, 2, 3]
    assert feasible.guarded == [3]
    assert (feasible.size, feasible.nv) == (4, 6)
    assert not feasible.resting.any()
    assert feasible.is_clipped
    np.testing.assert_allclose(local.q, [1.0, 2.0, 3.0, 2.1, 0.5, 0.7], rtol=0, atol=1e-15)
    np.testing.assert_allclose(local.values, [2.0 * (1.0 + 2.1 - 0.5), 18.0, 1.5, 2.1], rtol=0, atol=1e-12)
    expected = [[8.0, 0, 0, 0, 0, 0], [0, 9.0, 6.0, 0, 0, 0], [0.5, 0.5, 0, 0, 0, 0], [2.0, 0, 0, 0, 0, 0]]
    np.testing.assert_allclose(
        local.jacobian[:, feasible.live], np.array(expected)[:, feasible.live], rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(view.residual(local), [5.2, 18.0 - 5.7, 0.0, 0.1 + INSIDE_ROW_BOUNDS], rtol=0, atol=1e-9)
    kept = view.kept(local)
    np.testing.assert_allclose(kept.lower, [5.2, -2.7, 0.1, -1.0 + INSIDE_ROW_BOUNDS], rtol=0, atol=1e-9)
    np.testing.assert_allclose(kept.upper, [5.2, 18.0, INF, 2.1], rtol=0, atol=1e-9)
    assert not kept.residual(local).any()


def test_steps_of_a_feasible_set_end_at_bounds_and_leave_the_others_alone() -> None:
    view, local = at(sample(), np.array([1.0, 2.0, 3.0, 9.0, 0.5, 0.7]))
    after = view.feasible.moved(local.q, np.array([7.0, 1.0, -9.0, 0.0, 1.0, 1.0]))
    np.testing.assert_array_equal(after[[0, 1, 2, 4, 5]], [5.0, 3.0, 0.0, 0.5, 1.7])


def test_the_inequalities_are_linear_rows_on_steps() -> None:
    """Lower ends first, each C p >= d: of rows, of the guarded dof, of the bounds of live dofs; d is never above 0."""
    view, local = at(sample(), np.array([1.0, 2.0, 0.1, 9.0, 0.5, 0.7]))
    found = inequalities(view, local)
    assert found.number.tolist() == [1, 2, 3, 4 + 0, 4 + 2, 1, 3, 4 + 0, 4 + 1]
    assert found.side.tolist() == [1.0] * 5 + [-1.0] * 4
    np.testing.assert_allclose(
        found.d, [-2.7 - 0.6, 0.1 - 1.5, -1.0 - 2.1, -6.0, -0.1, 0.6 - 5.7, 0.0, -4.0, -2.0], rtol=0, atol=1e-8
    )
    C = local.jacobian[:, [0, 1, 2, 5]]
    np.testing.assert_allclose(found.C[:3], C[1:], rtol=0, atol=0)
    np.testing.assert_allclose(found.C[5:7], -C[[1, 3]], rtol=0, atol=0)
    np.testing.assert_array_equal(found.C[[3, 4]], np.eye(4)[[0, 2]])
    np.testing.assert_array_equal(found.C[[7, 8]], -np.eye(4)[[0, 1]])
    names = [inequality_name(view.feasible, n, s) for n, s in zip(found.number, found.side, strict=True)]
    assert names[0] == "'bowl', row 1, at its lower end"
    assert names[1] == "'bowl', row 2, at its lower end"
    assert names[5] == "'bowl', row 1, at its upper end"
    joints = [leaf.name for leaf in view.feasible.problem.space.leaves()]
    ends = zip(names[2:5] + names[6:], [3, 0, 2, 3, 0, 1], ["lower"] * 3 + ["upper"] * 3, strict=True)
    for name, column, end in ends:
        assert name == f"{joints[0]}[{column}] at its {end} bound"


def test_inequalities_are_named_by_their_joints() -> None:
    robot = humanoid()
    low = Implicit.above(Position(robot, "rarm6_joint"), 0.1, mask=[0, 0, 1], name="hand")
    feasible = FeasibleSet(Problem(robot, [low]), np.ones(robot.nv, np.bool_))
    assert inequality_name(feasible, 0, 1.0) == "'hand', row 2, at its lower end"
    for column, name in ((6, robot.joint_names[1]), (robot.nv - 1, robot.joint_names[-1])):
        assert inequality_name(feasible, feasible.size + column, -1.0) == f"{name} at its upper bound"


@pytest.mark.parametrize("space", [SE2, SE3], ids=str)
def test_positions_of_bodies_are_guarded_with_their_gradients(space: Space) -> None:
    """The bounded coordinates of a body are rows; each gradient is the difference along the manifold."""
    whole = Rn(1) * space
    lower, upper = np.full(whole.nq, -INF), np.full(whole.nq, INF)
    lower[1], upper[2] = -3.0, 4.0
    row = Implicit.equal(Affine(np.eye(1)).on(whole, Segments.coordinates(whole, [0])), [0.3])
    problem = Problem(whole, [row], Bounds(whole, lower, upper))
    assert refined_columns(problem, True).all()
    assert refined_columns(problem, False).tolist() == [True] + [False] * space.nv
    q = whole.random(np.random.default_rng(8))
    view, local = at(problem, q)
    assert view.feasible.guarded == [1, 2]
    np.testing.assert_array_equal(local.values[1:], q[1:3])
    np.testing.assert_allclose(view.feasible.lower[1:], [-3.0 + INSIDE_ROW_BOUNDS, -INF], rtol=0, atol=1e-15)
    np.testing.assert_allclose(view.feasible.upper[1:], [INF, 4.0 - INSIDE_ROW_BOUNDS], rtol=0, atol=1e-15)
    seen = [(whole.integrate(q, 1e-6 * e) - whole.integrate(q, -1e-6 * e))[1:3] / 2e-6 for e in np.eye(whole.nv)]
    np.testing.assert_allclose(local.jacobian[1:], np.transpose(seen), atol=1e-8)


def test_narrow_bounds_keep_their_order() -> None:
    """A guarded coordinate is kept inside by a quarter of its range at most."""
    space = Rn(2)
    follow = Explicit(Affine([[1.0]]), Segments.coordinates(space, [1]), Segments.coordinates(space, [0]), whole=space)
    problem = Problem(space, [follow], Bounds(space, np.array([-1.0, 0.2]), np.array([1.0, 0.2 + 4e-10])))
    feasible = FeasibleSet(problem, problem.columns)
    np.testing.assert_allclose(feasible.lower - 0.2, [1e-10], rtol=0, atol=1e-16)
    np.testing.assert_allclose(feasible.upper - 0.2, [3e-10], rtol=0, atol=1e-16)


def test_rotations_rest_as_a_whole_where_they_cost() -> None:
    """One cost is enough for a rotation to rest; numbers rest by coordinate; what moves rests nowhere."""
    space = Rn(3) * SO3 * SO3
    row = Implicit.equal(Affine(np.eye(1, 3), [0.0], Rn(3)).on(space, Segments.coordinates(space, [0, 1, 2])), [0.3])
    weights = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    feasible = FeasibleSet(Problem(space, [row], weights=weights), np.eye(1, 9, dtype=bool)[0])
    assert feasible.resting.tolist() == [False, False, True, True, True, True, False, False, False]


# First and second order.


def test_optimality_of_a_point_that_leans_on_rows_and_bounds() -> None:
    """x + y + z = 3 next to 0 with x at most 0.5 and y at least 1.5: multipliers by hand, nothing left."""
    space = Rn(3)
    plane = Implicit.zero(Affine([[1.0, 1.0, 1.0]], [-3.0]), name="plane")
    floor = Implicit.above(Affine([[0.0, 2.0, 0.0]], [0.0]), 3.0, name="floor")
    problem = Problem(space, [plane, floor], Bounds(space, np.full(3, -9.0), np.array([0.5, 9.0, 9.0])))
    near = np.zeros(3)
    view, local = at(problem, np.array([0.5, 1.5, 1.0]), Distance(space, np.ones(3), near))
    order = optimality(view, local)
    np.testing.assert_allclose(order.basis.T @ order.basis, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.ones(3) @ order.basis, 0.0, atol=1e-12)
    active = {
        (int(n), s): w for n, s, w in zip(order.slopes.number, order.slopes.side, order.weights, strict=True) if w
    }
    assert active == {(1, 1.0): pytest.approx(0.25), (2, -1.0): pytest.approx(0.5)}
    np.testing.assert_allclose(order.rows, [1.0, 0.25], atol=1e-12)
    assert order.stationarity <= 1e-12
    elsewhere = optimality(view, view.at(np.array([0.5, 2.0, 0.5])))
    left = np.array([0.0, 0.75, -0.75])  # of (0.5, 2, 0.5) what neither the plane nor the bound explains
    assert elsewhere.stationarity == pytest.approx(np.linalg.norm(left) / np.linalg.norm([0.5, 2.0, 0.5]), rel=1e-9)
    assert optimality(view, view.at(near)).stationarity == 0.0
    assert optimality(*at(problem, np.array([0.5, 2.0, 0.5]))).stationarity == 0.0  # nothing is minimised


@pytest.mark.parametrize("central", [True, False])
def test_second_derivatives_of_the_lagrangian(central: bool) -> None:
    """Of x^2 y + y^3 with multiplier 2 and the distance: the Hessian by hand, times the steps."""
    space = Rn(2)
    f = Function.from_callable(
        lambda q: [q[0] ** 2 * q[1] + q[1] ** 3], space, Rn(1), lambda q: [[2 * q[0] * q[1], q[0] ** 2 + 3 * q[1] ** 2]]
    )
    problem = Problem(space, [Implicit.zero(f)])
    q, steps = np.array([0.7, -0.4]), np.array([[1.0, 0.3], [2.0, -1.0]])
    view, local = at(problem, q, Distance(space, np.array([1.0, 3.0]), np.zeros(2)))
    H = np.diag([1.0, 3.0]) - 2.0 * np.array([[2 * q[1], 2 * q[0]], [2 * q[0], 6 * q[1]]])
    found = differences(view, local, np.array([2.0]), steps, 1e-5, central)
    np.testing.assert_allclose(found, H @ steps, rtol=0, atol=1e-8 if central else 3e-4)


# Restoration.


def restoration(problem: Problem, **options: Any) -> Restoration:
    o = Options(**options)
    feasible = FeasibleSet(problem, refined_columns(problem, True))
    return Restoration(feasible, o.damping, o.cap, o.saturating_passes)


def test_restored_rows_are_met_and_the_way_is_the_least() -> None:
    """On a plane one step is enough; moves are inverse to the costs; a budget of none takes none."""
    space = Rn(3)
    problem = Problem(space, [Implicit.zero(Affine([[1.0, 1.0, 1.0]], [-0.3]))], weights=[1.0, 2.0, 4.0])
    view, _ = at(problem, np.zeros(3))
    restored = restoration(problem)
    local, worst, taken = restored.restore(view, np.zeros(3), 1e-10)
    np.testing.assert_allclose(local.q, 0.3 * np.array([4.0, 2.0, 1.0]) / 7.0, rtol=0, atol=1e-6)
    assert worst <= 1e-10
    assert 1 <= taken <= 5
    local, worst, taken = restored.restore(view, np.zeros(3), 1e-10, budget=0)
    assert (worst, taken) == (pytest.approx(0.3), 0)
    held = np.array([True, False, True])
    local, worst, _ = restored.restore(view, np.zeros(3), 1e-10, held=held)
    np.testing.assert_allclose(local.q, [0.0, 0.3, 0.0], rtol=0, atol=1e-9)
    local, worst, taken = restored.restore(view, np.zeros(3), 1e-10, np.array([0.2]))
    assert local.values[0] == pytest.approx(0.2, abs=1e-9)
    contradictory = Problem(space, [Implicit.zero(Affine([[1.0, 0, 0], [1.0, 0, 0]], [-0.1, -0.3]))])
    view, _ = at(contradictory, np.zeros(3))
    local, worst, taken = restoration(contradictory).restore(view, np.zeros(3), 1e-10)
    assert local.q[0] == pytest.approx(0.2, abs=1e-9)  # between the two, and the independent part is met
    assert worst <= 1e-10
    assert taken < STEPS


def test_a_locked_joint_is_where_it_is_locked_after_a_refinement() -> None:
    """To the last bit: steps have roundings in its column, which are no motion."""
    robot, rng = arm(), np.random.default_rng(0)
    hand = Position(robot, "tool")
    lock = locked_joint(robot, robot.joint_names[0], 0.1)
    for _ in range(12):
        problem = Problem(robot, [Implicit.equal(hand, hand.value(robot.random(rng))), lock])
        result = Projector(problem, Options(nearest=True)).project(robot.random(rng))
        assert result.q[0] == 0.1


def test_rows_inside_their_interval_do_not_move_a_restoration() -> None:
    space = Rn(2)
    problem = Problem(space, [
        Implicit.zero(Affine([[1.0, 0.0]], [-0.2])), Implicit.between(Affine([[1.0, 1.0]], [0.0]), -1.0, 1.0),
    ])  # fmt: skip
    view, _ = at(problem, np.zeros(2))
    local, worst, _ = restoration(problem).restore(view, np.array([0.0, 0.5]), 1e-10)
    np.testing.assert_allclose(local.q, [0.2, 0.5], rtol=0, atol=1e-9)
    local, worst, _ = restoration(problem).restore(view, np.array([0.0, 0.5]), 1e-10, np.array([np.nan, -1.0]))
    np.testing.assert_allclose(local.q, [0.2, -1.2], rtol=0, atol=1e-9)
    assert worst <= 1e-10


@pytest.mark.parametrize(("turns", "expected"), [(0, 0), (1, 1), (4, 2), (-1, -1), (-4, -1)])
def test_a_solution_is_turned_towards_its_reference_as_far_as_bounds_allow(turns: int, expected: int) -> None:
    """With room for one turn back and two ahead: near a reference so many turns away it ends the nearest one inside."""
    robot = arm()
    lower, upper = np.full(7, -np.pi), np.full(7, np.pi)
    lower[0], upper[0] = -8.0, 16.5
    q = 0.3 * robot.random(np.random.default_rng(4))
    q[0] = 2.5
    hand = Implicit.equal(Position(robot, "tool"), Position(robot, "tool").value(q))
    problem = Problem(robot, [hand], Bounds(robot.space, lower, upper))
    assert problem.wraps[0]
    near = q.copy()
    near[0] += 2.0 * np.pi * turns
    result = Projector(problem, Options(nearest=True)).project(q + 0.05, near=near)
    assert result.success
    whole = 2.5 + 2.0 * np.pi * expected
    end = whole if turns == expected else (lower[0], upper[0])[turns > 0]  # or to the bound, the hand held
    assert result.q[0] == pytest.approx(end, abs=1e-6)
    lower[1:], upper[1:] = q[1:] - 1e-3, q[1:] + 1e-3
    held = Problem(robot, [hand], Bounds(robot.space, lower, upper))  # the others stay, and the reference is none
    result = Projector(held, Options(nearest=True)).project(q + 5e-4, near=near + 0.01)
    assert result.success
    assert result.q[0] == pytest.approx(whole, abs=0.1)


def test_curved_rows_are_followed_in_few_steps() -> None:
    """Twelve points nearest to a reference in a slice of an ellipsoid: 161 iterations in all when this was written."""
    axes, spent = np.array([2.0, 1.0, 1.5]), 0
    f = Function.from_callable(lambda q: [(q / axes) @ (q / axes)], Rn(3), Rn(1), lambda q: [2.0 * q / axes**2])
    rows = [Implicit.below(f, 1.0), Implicit.zero(Affine([[1.0, 1.0, 1.0]], [-0.3]))]
    projector = Projector(Problem(Rn(3), rows), Options(nearest=True, threshold=1e-9))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        result = projector.project(rng.uniform(-0.3, 0.3, 3), near=rng.uniform(-3.0, 3.0, 3))
        assert result.success
        assert result.stationarity == pytest.approx(0.0, abs=1e-8)
        spent += result.iterations
    assert spent <= 180


# What goes wrong.


@pytest.mark.parametrize("shift", [[0.1, 0.1, 0.0], [0.0, 0.0, 5.0]], ids=["off its row", "out of bounds"])
def test_a_refinement_that_goes_astray_leaves_the_solution(monkeypatch: Any, shift: list[float]) -> None:
    """Whatever its steps make of it: what is not a solution, or not within bounds, is not taken."""
    space, restore = Rn(3), Restoration.restore

    def astray(self: Any, view: FeasibleSetAt, q: np.ndarray, *others: Any, **more: Any) -> Any:
        local, worst, taken = restore(self, view, q, *others, **more)
        return view.at(local.q + np.array(shift)), worst, taken

    row = Implicit.zero(Affine([[1.0, 1.0, 0.0]], [-1.0]))
    problem = Problem(space, [row], Bounds(space, np.full(3, -2.0), np.full(3, 2.0)))
    near, start = np.array([2.0, -0.5, 1.0]), np.zeros(3)
    plain = Projector(problem).project(start)
    honest = Projector(problem, Options(nearest=True)).project(start, near=near)
    monkeypatch.setattr(Restoration, "restore", astray)
    result = Projector(problem, Options(nearest=True)).project(start, near=near)
    assert result.success
    np.testing.assert_array_equal(result.q[:2], plain.q[:2])
    assert result.iterations == plain.iterations
    assert result.stationarity is not None
    assert result.stationarity > 1e-3 > 1e-8 > (honest.stationarity or 0.0)
    assert ", not the nearest yet: above `refine_tolerance` 1e-08)" in str(result)
    assert "yet" not in str(honest)


def test_a_part_of_a_step_is_taken_that_gains_what_it_promises(monkeypatch: Any) -> None:
    """Armijo's rule: the first half of a half that lowers the cost by a ten-thousandth of its own slope."""
    restore, first, steps = Restoration.restore, list[Any](), list[np.ndarray]()

    def rigged(self: Any, view: FeasibleSetAt, q: np.ndarray, *others: Any, **more: Any) -> Any:
        if not first:
            first.append(restore(self, view, q, *others, **more)[0])
            return first[0], 0.0, 1
        step = q - first[0].q
        steps.append(step)
        tried = np.linalg.norm(step) / np.linalg.norm(steps[0])
        gain = (0.9 if tried > 0.3 else 1.1) * 1e-4 * float(first[0].gradient @ step)
        return first[0]._replace(cost=first[0].cost + gain), 0.0, 1

    monkeypatch.setattr(Restoration, "restore", rigged)
    problem = Problem(Rn(2), [Implicit.zero(Affine([[1.0, 1.0]], [-1.0]))])
    Projector(problem, Options(nearest=True)).project(np.zeros(2), near=[2.0, -0.5])
    np.testing.assert_allclose(steps[:4], np.outer([1.0, 0.5, 0.25, 1.0], steps[0]), atol=1e-12)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_gradients_that_are_rough_end_where_nothing_is_gained(seed: int, unit: float) -> None:
    """Jacobians that are off by a millionth, elsewhere otherwise: costs that do not tell are no reason to go on."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(5, 3)), rng.normal(size=5)
    wish = Function.from_callable(
        lambda q: unit * (A @ q + 0.3 * np.sin(A @ q) - b), Rn(3), Rn(5),
        lambda q: unit * A * (1.0 + 0.3 * np.cos(A @ q))[:, None] * (1.0 + 1e-6 * np.sin(1e9 * q)),
    )  # fmt: skip
    held = Implicit.zero(Affine([[1.0, 1.0, 1.0]], [-0.3]))
    problem = Problem(Rn(3), [[held], [Implicit.zero(wish)]], optional_last=True)
    options = Options(optimise_last=True, refine_gain=0.0, restarts=False)
    result = Projector(problem, options).project(rng.normal(size=3))
    assert result.success
    assert result.stationarity == pytest.approx(0.0, abs=1e-4)
    assert result.iterations <= 25


def test_a_start_that_satisfies_everything_needs_no_jacobian() -> None:
    """Nothing is nearer to it than itself, also where a row has a kink."""
    root = Function.from_callable(
        lambda q: np.sqrt(q[:1]), Rn(2), Rn(1), lambda q: [[0.5 / np.sqrt(q[0] or np.nan), 0.0]]
    )
    problem = Problem(Rn(2), [Implicit.below(root, 2.0)])
    result = Projector(problem, Options(nearest=True)).project([0.0, 1.0])
    assert (result.iterations, result.stationarity) == (0, 0.0)
    assert result.q.tolist() == [0.0, 1.0]
    assert result.refined is not None
    assert result.refined.from_start


def test_second_derivatives_by_default_look_ahead_only() -> None:
    """One evaluation a motion, two where they are central."""
    seen: list[np.ndarray] = []

    def f(q: np.ndarray) -> np.ndarray:
        seen.append(q.copy())
        return np.array([q @ q])

    problem = Problem(Rn(3), [Implicit.zero(Function.from_callable(f, Rn(3), Rn(1), lambda q: [2.0 * q]))])
    view, local = at(problem, np.ones(3))
    for central, count in ((None, 2), (False, 2), (True, 4)):
        seen.clear()
        more = {} if central is None else {"central": central}
        differences(view, local, np.ones(1), np.eye(3)[:, :2], 1e-6, **more)
        assert len(seen) == count


def test_least_squares_that_do_not_end_are_cut(monkeypatch: Any) -> None:
    """Where non-negative least squares run out of steps, plain ones without their negative entries are near enough."""

    def endless(*_: Any) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr(optimize, "nnls", endless)
    mu, left = multipliers(np.array([2.0, -1.0, 0.5]), np.array([[1.0, 0.0, 0.0], [0.0, 4.0, 0.0]]))
    np.testing.assert_allclose(mu, [2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(left, [0.0, -1.0, 0.5], atol=1e-12)


@pytest.mark.parametrize("bad", [INF, -INF, np.nan])
def test_a_value_that_is_no_number_is_none(bad: float) -> None:
    """Steps beyond an edge are halved alike, whether a function raises there or gives infinity or NaN."""

    def curve(q: np.ndarray) -> np.ndarray:
        return np.array([q[1] - 0.3 * q[0] ** 2])

    def silent(q: np.ndarray) -> np.ndarray:
        return np.full(1, bad) if q[0] > 1.0 else curve(q)

    def loud(q: np.ndarray) -> np.ndarray:
        if q[0] > 1.0:
            raise UndefinedError("beyond the edge")
        return curve(q)

    ends = []
    for value in (silent, loud):
        f = Function.from_callable(value, Rn(2), Rn(1), lambda q: [[-0.6 * q[0], 1.0]])
        for rows in ([Implicit.zero(f)], [Implicit.between(f, -0.1, 0.1)]):
            projector = Projector(Problem(Rn(2), rows), Options(nearest=True, trace=True))
            result = projector.project([-0.5, 0.4], near=[3.0, 0.5])
            assert result.success
            assert result.q[0] > 0.5
            ends.append(result)
    for a, b in zip(ends[:2], ends[2:], strict=True):
        assert a.q.tobytes() == b.q.tobytes()
        assert (a.iterations, a.stationarity) == (b.iterations, b.stationarity)

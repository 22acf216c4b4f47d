"""Parts of Newton steps each for itself: costs, null spaces, least change, bounds, restarts, bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import (
    Affine,
    Bounds,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
)
from constraints.functions import Identity
from constraints.point import place
from constraints.solvers import Status
from constraints.solvers.evaluation import Evaluation
from constraints.solvers.newton.bounds import SolverBounds
from constraints.solvers.newton.computed_bodies import INSIDE_BODY_BOUNDS, BringBack, ComputedBodies
from constraints.solvers.newton.free_bodies import FreeBodies, rotation
from constraints.solvers.newton.hierarchy import NullSpace
from constraints.solvers.newton.least_change import LeastChange, least_change
from constraints.solvers.newton.linear_step import DampedCholesky, capped, dof_scale, length_within, without
from constraints.solvers.newton.program import NewtonProgram
from constraints.solvers.newton.restarts import Restarts
from constraints.solvers.newton.rules import into_bounds, is_stationary, next_cap
from constraints.solvers.newton.sparse_kkt import SparseRows, is_long_and_sparse
from constraints.solvers.newton.state import StallTest
from constraints.workspace import Workspace
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn, Segments, Space
from liegroups.groups import translation_size

INF = np.inf


# Costs and caps.


def test_costs_become_scales() -> None:
    """Relative to their mean; equal costs are none; a cost of zero counts as 1e-6 of the least one."""
    assert dof_scale(np.array([2.0, 2.0])) is None
    for costs, squares in (
        ([1.0, 3.0], [2.0, 2.0 / 3.0]),
        ([1.0, 0.0, 3.0], [2.0, 2e6, 2.0 / 3.0]),
        ([0.0, 2.0], [1e6, 1.0]),
    ):
        scale = dof_scale(np.array(costs))
        assert scale is not None
        np.testing.assert_allclose(scale**2, squares)


def test_steps_are_cut_by_their_longest_coordinate() -> None:
    """Not by their norm: a step longer than the cap of which no coordinate is stays itself."""
    step = np.array([0.8, -0.8, 0.1])
    assert capped(step, 1.0) is step
    assert length_within(step, 0.8) == 1.0
    assert length_within(step, 0.4) == 0.5
    np.testing.assert_allclose(capped(np.array([0.1, -2.0]), 0.5), [0.025, -0.5])
    assert length_within(np.array([0.3, 0.4]), 0.5) == 1.0
    assert next_cap(0.2, True, 1.0, 1.0, 1.5) == 0.4
    assert next_cap(1.0, True, 1.0, 1.0, 1.5) == 1.5
    assert next_cap(0.2, False, 0.89, 1.0, 1.5) == 0.1
    assert next_cap(0.2, False, 0.9, 1.0, 1.5) == pytest.approx(0.02)
    e = np.array([3.0, 4.0])
    assert is_stationary(np.array([0.0999, 0.0]), e)
    assert not is_stationary(np.array([0.1001, 0.0]), e)


def test_an_angle_far_away_is_known_to_its_rounding() -> None:
    x = 1e6
    inside, apart = into_bounds(x, -np.pi, np.pi)
    assert apart == pytest.approx(x * 2.0**-52)
    assert inside == pytest.approx(np.remainder(x + np.pi, 2 * np.pi) - np.pi, abs=1e-9)


def test_held_dofs_leave_the_others_their_motions() -> None:
    rng = np.random.default_rng(0)
    S, held = rng.normal(size=(4, 4)), np.array([True, False, False, True])
    free, cheapest = without(S, held)
    assert not free[held].any()
    np.testing.assert_allclose(cheapest[held], np.eye(2), atol=1e-12)
    inverse = np.linalg.pinv(S[held])
    np.testing.assert_allclose(cheapest, S @ inverse, atol=1e-12)
    np.testing.assert_allclose(free, S @ (np.eye(4) - inverse @ S[held]), atol=1e-12)


def test_damped_steps_with_costs_that_are_no_columns() -> None:
    """S S' in place of W^-1, also where the rows are as many as are multiplied whole."""
    rng = np.random.default_rng(1)
    for rows in (3, 11, 12, 39, 40):
        J, e, S = rng.normal(size=(rows, 6)), rng.normal(size=rows), rng.normal(size=(6, 6))
        expected = -S @ S.T @ J.T @ np.linalg.solve(J @ S @ S.T @ J.T + 0.1 * np.eye(rows), e)
        np.testing.assert_allclose(DampedCholesky(rows).solve(e, J, 0.1, S), expected, atol=1e-9)
        np.testing.assert_allclose(LeastChange(rows).solve(e, J, 1e-12, S), -S @ np.linalg.pinv(J @ S) @ e, atol=1e-6)
        plain = -J.T @ np.linalg.solve(J @ J.T + 0.1 * np.eye(rows), e)
        np.testing.assert_allclose(DampedCholesky(rows).solve(e, J, 0.1), plain, atol=1e-9)


def test_least_change_moves_what_is_free_first() -> None:
    """x + y + z = 1 with a cost of zero on z; where costs leave some open, the shortest; rank by singular values."""
    J, e = np.array([[1.0, 1.0, 1.0]]), np.array([1.0])
    np.testing.assert_allclose(least_change(J, e, np.array([1.0, 1.0, 0.0])), [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(least_change(J, e, np.array([1.0, 0.0, 0.0])), [0.0, 0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(least_change(J, e, np.zeros(3)), [1 / 3] * 3, atol=1e-12)
    np.testing.assert_allclose(least_change(J, e, np.array([1.0, 2.0, 4.0])), np.array([4.0, 2.0, 1.0]) / 7.0)
    tiny = least_change(J, e, 1e-14 * np.array([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(tiny, np.array([4.0, 2.0, 1.0]) / 7.0)
    twice = np.vstack((J, J))
    np.testing.assert_allclose(least_change(twice, np.array([1.0, 3.0]), np.ones(3)), [2 / 3] * 3, atol=1e-12)
    np.testing.assert_allclose(least_change(J, e, np.ones(3), 3.0), [1 / 6] * 3, atol=1e-12)
    step = LeastChange(1, np.array([1.0, 1.0, 4.0, 0.0])).solve(e, np.array([[1.0, 0.0, 1.0, 0.0]]), 0.0)
    np.testing.assert_allclose(step, [-0.8, 0.0, -0.2, 0.0], atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 5), (4, 9), (5, 5), (7, 5), (11, 6), (0, 5), (70, 65)])
def test_null_spaces_rotate_rows_and_bring_motions_back(shape: tuple[int, int]) -> None:
    """Property 17: a motion in the null space changes nothing above; redundant rows, and more rows than dofs."""
    m, n = shape
    A = np.random.default_rng(m).normal(size=(m, n))
    if m > 3:
        A[3] = A[0] - A[1]
        A[2] *= 1e-9
    space = NullSpace(A)
    rank = np.linalg.matrix_rank(A, tol=1e-7)
    assert space.rank == rank if m else not space._tau.size  # pyright: ignore[reportPrivateUsage]
    Q = np.array([space.back(e) for e in np.eye(n)]).T
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=1e-12)
    if m:
        np.testing.assert_allclose(A @ Q[:, rank:], 0.0, atol=1e-7)
    J = np.random.default_rng(9).normal(size=(3, n))
    expected = J @ Q
    expected[:, : rank if m else 0] = 0.0
    np.testing.assert_allclose(space.rotate(J), expected, atol=1e-12)
    assert not np.shares_memory(space.rotate(J), J)


def test_when_a_try_has_stalled() -> None:
    """So many scores in a row that do not fall enough; of a capped step only a part of the fall is asked for."""
    stall = StallTest(0.5, 2)
    assert not stall.is_stalled([1.0])
    assert [stall.is_stalled([x]) for x in (0.6, 0.49, 0.3, 0.3)] == [False, False, False, True]
    stall = StallTest(0.5, 1)
    assert not stall.is_stalled([1.0])
    assert not stall.is_stalled([0.89], 0.2)
    assert stall.is_stalled([0.89 * 0.91], 0.2)


# Bounds.


def numbers(lower: Any, upper: Any, **options: Any) -> Problem:
    space = Rn(len(lower))
    return Problem(space, [Implicit.zero(Affine(np.ones((1, len(lower)))))], Bounds(space, lower, upper), **options)


def test_bounds_clamp_and_say_what_leaves() -> None:
    box = SolverBounds(numbers([0.0, -1.0, -INF], [1.0, 1.0, INF]), True)
    q = np.array([0.5, 1.0, 9.0])
    assert box.clamp(q) is q
    np.testing.assert_array_equal(box.clamp(np.array([-1.0, 2.0, 9.0])), [0.0, 1.0, 9.0])
    minus = np.array([-0.0, 0.0, 0.0])
    assert box.clamp(minus) is minus
    step, part = np.zeros(3), np.array([1.0, 0.5, 1.0])
    assert box.leaving(q, step, part).tolist() == [True, True, False]  # type: ignore[union-attr]
    assert box.leaving(q, step, np.array([0.5, -2.0, 3.0])) is None
    assert box.leaving(q, np.array([0.0, 1.0, 0.0]), np.array([0.1, 1e-14, 0.0])) is None
    assert box.fraction(q, step, np.array([1.0, -1.0, 1.0])) == 0.5
    assert box.fraction(q, step, np.array([-2.0, -1.0, 1.0])) == 0.25
    assert box.fraction(q, step, np.array([0.25, -1.0, 1.0])) == 1.0
    assert box.fraction(q, step, np.array([0.0, 1.0, 0.0])) == 0.0
    assert box.fraction(q, np.array([0.5, 0.0, 0.0]), np.array([1e-16, -1.0, 0.0])) == 1.0
    np.testing.assert_array_equal(box.projected(np.array([0.0, 1.0, 0.0]), np.array([1.0, -1.0, 1.0])), [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(
        box.projected(np.array([0.0, 1.0, 0.0]), np.array([-1.0, 1.0, 1.0])), [-1.0, 1.0, 1.0]
    )
    small = np.array([1e-9, -1e-9, 1e-9])  # at a lower and at an upper bound, and where there is none
    np.testing.assert_array_equal(box.projected(np.array([0.0, 1.0, 0.0]), small), [0.0, 0.0, 1e-9])
    np.testing.assert_array_equal(box.projected(np.array([0.0, 1.0, 0.0]), -small), -small)
    for q, inside in (([0.0, 1.0, 5.0], True), ([-1e-16, 0.0, 0.0], False), ([0.5, 1.0 + 1e-15, 0.0], False)):
        assert box.contains(np.array(q)) == inside
    open_box = SolverBounds(numbers([-INF] * 2, [INF] * 2), True)
    assert open_box.is_open
    assert open_box.contains(np.array([9.0, 9.0]))
    assert open_box.leaving(np.zeros(2), np.zeros(2), np.ones(2)) is None
    frozen = SolverBounds(numbers([0.0, 0.0], [1.0, 1.0], frozen=Segments.coordinates(Rn(2), [0])), True)
    assert frozen.lower.tolist() == [-INF, 0.0]
    assert not frozen.contains(np.array([2.0, 0.5]))
    assert frozen.contains(np.array([0.0, 0.5]))  # at a bound is inside
    assert frozen.contains(np.array([1.0, 0.5]))
    np.testing.assert_array_equal(frozen.clamp(np.array([2.0, 2.0])), [2.0, 1.0])


@pytest.mark.parametrize("held", [3, 4, 5, 6])
@pytest.mark.parametrize("by_root", [False, True])
def test_what_bounds_take_the_others_give(held: int, by_root: bool) -> None:
    """One row over eight dofs, of which some stop at once: the sum is that of the free step, however many are held."""
    lower, upper = np.full(8, -9.0), np.full(8, 9.0)
    upper[:held] = 0.01
    box = SolverBounds(numbers(lower, upper), True)
    J, e, solver = np.ones((1, 8)), np.array([-0.8]), DampedCholesky(1)
    root = np.eye(8) if by_root else None
    step = solver.solve(e, J, 1e-12, root)
    found, at = box.saturate(np.zeros(8), step, e, J, 1e-12, solver, 1, root)
    expected = np.full(8, (0.8 - 0.01 * held) / (8 - held))
    expected[:held] = 0.01
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert at is not None
    assert np.flatnonzero(at).tolist() == list(range(held))
    clipped, at = box.saturate(np.zeros(8), step, e, J, 1e-12, solver, 0, root)
    np.testing.assert_allclose(clipped, np.minimum(step, upper))
    inside, none = box.saturate(np.zeros(8), np.full(8, 0.005), e, J, 1e-12, solver, 1, root)
    assert none is None
    assert inside.tolist() == [0.005] * 8


# Restarts.


def test_what_restarts_draw() -> None:
    """Numbers in their bounds, revolute ones in [-pi, pi] too, rotations whole; poses and what no row reads stay."""
    robot = arm()
    lower, upper = np.full(7, -9.0), np.full(7, 9.0)
    lower[2], upper[2] = 4.0, 5.0
    lower[3], upper[3] = np.pi, 9.0
    hand = Implicit.zero(Position(robot, "elbow"))
    problem = Problem(robot, [hand], Bounds(robot.space, lower, upper), frozen=[robot.joint_names[0]])
    drawn = np.array(Restarts(problem, 3, 64).configurations(np.full(7, 0.123), 5, 64))
    reads = problem.columns & problem.free
    assert not reads[0]
    assert (drawn[:, ~reads] == 0.123).all()
    for i in np.flatnonzero(reads):
        low, high = (4.0, 5.0) if i == 2 else (np.pi, np.pi) if i == 3 else (-np.pi, np.pi)
        assert low <= drawn[:, i].min() <= drawn[:, i].max() <= high
        if i not in (2, 3):
            assert np.ptp(drawn[:, i]) > 5.0
    again = Restarts(problem, 3, 64).configurations(np.full(7, 0.123), 69, 1)[0]
    np.testing.assert_array_equal(again, drawn[0])
    assert not np.array_equal(Restarts(problem, 4, 64).configurations(np.full(7, 0.123), 5, 1)[0], drawn[0])
    space = ProductSpace([SE3, SO3, SO3, Rn(2), SE2, SO2], ["body", "turn", "idle", "x", "plane", "angle"])
    f = Function.from_callable(lambda q: q[7:9], space, Rn(2), lambda q: np.zeros((2, space.nv)),
                               columns=[i in (0, 6, 12, 14, 17) for i in range(space.nv)])  # fmt: skip
    restarts = Restarts(Problem(space, [Implicit.zero(f)]), 0, 8)
    q = space.neutral
    moved = np.flatnonzero(np.ptp([q, *restarts.configurations(q, 0, 8)], axis=0) > 0.0)
    blocks = {leaf.name: leaf.q for leaf in space.leaves()}
    assert set(moved) == {*range(*blocks["turn"].indices(99)), blocks["x"].start, *range(*blocks["angle"].indices(99))}
    assert not restarts.is_empty
    fixed = Problem(space, [Implicit.zero(f)], frozen=["turn", "x", "angle"])
    assert Restarts(fixed, 0, 8).is_empty
    assert Restarts(Problem(SE3, [Implicit.zero(Identity(SE3))]), 0, 8).is_empty


# Sparse rows.


@pytest.mark.parametrize("frozen", [[], [0, 3]])
def test_sparse_rows_are_the_dense_ones(frozen: list[int]) -> None:
    """Of masked, scaled and plain owners, into vectors and groups, with right-hand sides; values alone too."""
    robot = arm()
    tool, elbow = Position(robot, "tool"), Position(robot, "elbow")
    owners = [
        Implicit.equal(tool, [0.1, 0.2, 0.3]), Implicit.zero(elbow, mask=[0, 1, 1]),
        Implicit.equal(Pose(robot, "tool"), mask=[1, 0, 1, 1, 0, 1]), Implicit(elbow, scale=[1, 2, 3]),
        Implicit.zero(Affine(np.eye(2, robot.nv), [0.0, 0.5], robot.space)),
        Implicit(Position(robot, "tool"), [Comparison.SUPERIOR, None, Comparison.EQUALITY], lower=-0.1, upper=0.1),
    ]  # fmt: skip
    problem = Problem(robot, owners)
    moving = np.ones(robot.nv, dtype=bool)
    moving[frozen] = False
    sparse = SparseRows(problem.constraints, moving)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q = robot.random(rng)
        point = place(robot.space, q, Workspace())
        dense = problem.rows(q)
        rows: Any = sparse.position(point, problem.rhs)
        np.testing.assert_allclose(rows.error, dense.error, atol=1e-14)
        np.testing.assert_allclose(rows.jacobian.toarray(), dense.jacobian * moving, atol=1e-14)
        sparse.rows.error[:] = 0.0
        np.testing.assert_allclose(sparse.position(point, problem.rhs, False).error, dense.error, atol=1e-14)


@pytest.mark.parametrize(("n", "per_row", "pays"), [(80, 12, True), (79, 2, False), (80, 13, False), (200, 2, True)])
def test_when_sparse_rows_pay(n: int, per_row: int, pays: bool) -> None:
    """From 80 columns on, with at most 0.15 of the entries declared."""
    A = np.zeros((1, n))
    A[0, :per_row] = 1.0
    problem = Problem(Rn(n), [Implicit.zero(Affine(A)), Implicit.zero(Affine(np.vstack((A, A))), mask=[True, False])])
    assert is_long_and_sparse(problem) == pays


# Bodies.


@pytest.mark.parametrize("space", [SE2, SE3], ids=str)
def test_translations_are_columns_of_turned_steps(space: Space) -> None:
    """J R' by the coordinates of the translation; what keeps it inside; the cheapest motions with costs by axis."""
    size = translation_size(space)
    assert size == (2 if space == SE2 else 3)
    assert translation_size(SO3) == translation_size(Rn(3)) == 0
    whole = Rn(1) * space
    lower, upper = np.full(whole.nq, -INF), np.full(whole.nq, INF)
    lower[1], upper[2] = -1.0, 2.0
    box = Bounds(whole, lower, upper)
    hold = Implicit.zero(Affine(np.ones((1, 1))).on(whole, Segments.coordinates(whole, [0])))
    weights = np.r_[1.0, np.arange(1.0, whole.nv)]
    bodies = FreeBodies(Problem(whole, [hold], box, weights=weights))
    assert bodies
    assert bodies.entries.tolist() == bodies.columns.tolist() == list(range(1, 1 + size))
    q = whole.random(np.random.default_rng(2))
    q[1:3] = [-0.5, 1.5]
    R = space.adjoint(q[1:])[:size, :size]
    np.testing.assert_allclose(rotation(q[1 + size :]), R, atol=1e-14)
    J = np.random.default_rng(3).normal(size=(2, whole.nv))
    turned = bodies.turned_matrix(q, J)
    np.testing.assert_allclose(turned[:, 1 : 1 + size], J[:, 1 : 1 + size] @ R.T, atol=1e-14)
    np.testing.assert_array_equal(turned[:, 1 + size :], J[:, 1 + size :])
    for x, inside in ((-1.0, True), (-1.1, False), (5.0, True)):
        q[1] = x
        assert bodies.keep(q) == inside
    assert bodies.at_bounds(np.where(np.arange(whole.nq) == 1, -0.5, q)) == []
    q[1] = -1.0
    ((columns, along),) = bodies.at_bounds(q)
    D = np.ones(size)
    D[0] = 0.0
    assert columns == slice(1, 1 + size)
    np.testing.assert_allclose(along, R.T @ np.diag(D) @ R, atol=1e-14)
    S = bodies.root(q)
    scale = dof_scale(weights)
    assert S is not None
    assert scale is not None
    T = np.eye(whole.nv)
    T[1 : 1 + size, 1 : 1 + size] = R
    np.testing.assert_allclose(S @ S.T, T @ np.diag(scale**2) @ T.T, atol=1e-12)
    assert FreeBodies(Problem(whole, [hold], box)).root(q) is None
    assert not FreeBodies(Problem(whole, [hold], box, frozen=Segments.of(whole, whole.factors[1].name)))
    assert not FreeBodies(Problem(whole, [hold]))
    wanted = np.zeros(whole.nv, dtype=bool)
    wanted[2] = True
    assert np.flatnonzero(bodies.together(wanted)).tolist() == list(range(1, 1 + size))
    after, step = q.copy(), np.arange(float(whole.nv))
    bodies.translate(q, step, after)
    np.testing.assert_allclose(after[1 : 1 + size] - q[1 : 1 + size], step[1 : 1 + size], atol=1e-14)


def test_rows_bring_computed_bodies_inside_their_box() -> None:
    """Half the threshold inside, a quarter of the box at most; only bodies that are computed of what moves."""
    space = ProductSpace([SE3, SE3], ["hand", "box"])
    lower, upper = np.full(14, -INF), np.full(14, INF)
    lower[7], upper[7], upper[8] = 0.0, 2.0, 1.0
    bounds = Bounds(space, lower, upper)
    carried = Explicit(
        Identity(SE3), Segments.of(space, "box"), Segments.of(space, "hand"), whole=space, name="carried"
    )
    reach = Implicit.zero(Function.from_callable(lambda q: q[:1], space, Rn(1)), name="reach")
    bodies = ComputedBodies(Problem(space, [carried, reach], bounds), 1e-2)
    assert bodies
    q = space.neutral.copy()
    for x, out in ((0.0, False), (-1e-12, True), (2.0, False), (2.1, True)):
        q[7] = x
        assert bodies.leave(q) == out
    problem = bodies.problem
    row = problem.constraints["bounds of box"]
    margin = INSIDE_BODY_BOUNDS * 1e-2
    np.testing.assert_allclose(row.rows.lower[:2], [margin, -INF])
    np.testing.assert_allclose(row.rows.upper[:2], [2.0 - margin, 1.0 - margin])
    assert row.rows.mask.tolist() == [True, True, False]
    other = problem.at(q)
    np.testing.assert_allclose(row.measured.value(q), q[7:10], atol=1e-15)  # type: ignore[attr-defined]
    assert other.q.tobytes() == q.tobytes()
    narrow = Bounds(space, np.where(np.arange(14) == 7, 0.0, lower), np.where(np.arange(14) == 7, 4e-3, upper))
    row = ComputedBodies(Problem(space, [carried, reach], narrow), 1e-2).problem.constraints["bounds of box"]
    np.testing.assert_allclose([row.rows.lower[0], row.rows.upper[0]], [1e-3, 3e-3])
    assert not ComputedBodies(Problem(space, [carried, reach]), 1e-2)
    result = Projector(Problem(space, [carried, Implicit.zero(Function.from_callable(
        lambda q: [q[1] + q[0]], space, Rn(1)), name="line")], bounds), Options()).project(space.integrate(
            space.neutral, np.r_[-0.5, 0.9, np.zeros(10)]))  # fmt: skip
    assert result.success
    assert result.q[7] >= 0.0


def test_only_solutions_out_of_bounds_are_brought_back() -> None:
    """A failure whose computed body is outside its box stays as it is; nothing more is spent on it."""
    space = ProductSpace([SE3, SE3], ["hand", "box"])
    upper = np.full(14, INF)
    upper[7] = 1.0
    bounds = Bounds(space, np.full(14, -INF), upper)
    carried = Explicit(
        Identity(SE3), Segments.of(space, "box"), Segments.of(space, "hand"), whole=space, name="carried"
    )
    never = Function.from_callable(
        lambda q: [(q[0] - 3.0) ** 2 + 1.0], space, Rn(1), lambda q: 2.0 * (q[0] - 3.0) * np.eye(1, 12), name="never"
    )
    problem, options = Problem(space, [carried, Implicit.zero(never)], bounds), Options(restarts=False)
    computed = ComputedBodies(problem, options.threshold)
    q, workspace = space.neutral, Workspace()
    found = NewtonProgram(problem, options, DampedCholesky).run(q, problem.rhs, workspace)
    assert found.status not in (Status.CONVERGED, Status.OUT_OF_BOUNDS)
    assert computed.leave(found.q)
    evaluation = Evaluation(space, problem.constraints)
    bring_back = BringBack(problem, options, computed, lambda inside: NewtonProgram(inside, options), evaluation)
    again = NewtonProgram(problem, options, DampedCholesky, bring_back).run(q, problem.rhs, workspace)
    assert (again.status, again.iterations, again.restarts) == (found.status, found.iterations, found.restarts)
    np.testing.assert_array_equal(again.q, found.q)

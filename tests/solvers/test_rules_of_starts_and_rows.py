"""Numbered rules of `docs/solver.md`, one test a rule, by both engines: starts, computed dofs, rows."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from solvers.small_problems import INF, box, computed, damping, iterates, robot, row, run, second

from constraints import Affine, Bounds, Explicit, Implicit, Position, Problem, locked_joint
from liegroups import Rn, Segments, Space

THRESHOLD = 1e-2


def follow(space: Space, out: int, inputs: int, factor: float, offset: float = 0.0) -> Explicit:
    """q_out = factor * q_in + offset."""
    return computed(space, out, inputs, Affine([[factor]], [offset]))


def test_r01_satisfied_is_the_largest_norm_of_a_constraint(engine: str) -> None:
    """Errors (3, 4) of one constraint and 4.5 of another: 5, not 6.7; scaled, and at most the threshold."""
    errors = Implicit.equal(Affine(np.eye(3)[:2]), [3.0, 4.0])
    for constraints in ([errors, row([0, 0, 1.0], 4.5)], [row([0, 0, 1.0], 4.5), errors]):
        first = run(engine, Problem(Rn(3), constraints), np.zeros(3), max_iterations=0)
        assert first.residual == pytest.approx(5.0, rel=1e-14)
    for factor, scale, satisfied in ((0.99, 1.0, True), (1.01, 1.0, False), (0.6, 2.0, False), (1.5, 0.5, True)):
        rows = [row(r, factor * THRESHOLD, scale=scale) for r in np.eye(3)]  # norm of all: 1.7 times that of one
        result = run(engine, Problem(Rn(3), rows), np.zeros(3), threshold=THRESHOLD)
        assert (result.iterations == 0) == satisfied
    both = Implicit.equal(Affine(np.eye(2)), [0.9 * THRESHOLD] * 2)
    assert run(engine, Problem(Rn(2), [both]), np.zeros(2), threshold=THRESHOLD).iterations > 0


def test_r02_a_start_that_satisfies_all_within_bounds_is_returned_unchanged(engine: str) -> None:
    rows = [row([0.0, 1.0], 0.9 * THRESHOLD)]
    start = np.array([1.3, -0.0])
    inside = run(engine, Problem(Rn(2), rows), start, threshold=THRESHOLD)
    assert (inside.success, inside.iterations, inside.q.tobytes()) == (True, 0, start.tobytes())
    outside = run(engine, Problem(Rn(2), rows, box([-1.0, -9.0], [1.0, 9.0])), start, threshold=THRESHOLD)
    assert outside.success
    assert outside.iterations == 1
    assert outside.q[0] == 1.0


def test_r03_a_search_goes_on_to_half_the_threshold(engine: str) -> None:
    """The first step ends at 0.75 thresholds by its cap: a success for a start, not for a search."""
    problem = Problem(Rn(1), [row([1.0], 10.75 * THRESHOLD)])
    result = run(engine, problem, [0.0], threshold=THRESHOLD, cap=10.0 * THRESHOLD)
    assert result.success
    assert result.iterations == 2
    assert second(result)[0] == pytest.approx(10.0 * THRESHOLD, abs=1e-15)
    short = run(engine, problem, [0.3 * THRESHOLD], threshold=THRESHOLD, cap=10.0 * THRESHOLD)
    assert short.iterations == 1  # 0.45 thresholds


def test_r04_a_start_is_made_ready(engine: str) -> None:
    """Unit vectors off by more than 1e-12, bounds that steps keep, outputs of constant maps."""
    spherical = robot(("ball", pin.JointModelSpherical()), ("x", pin.JointModelPX()), ("z", pin.JointModelPX()))
    upper = np.array([2.0] * 4 + [1.0, 1.0])
    far = Implicit.equal(Position(spherical, "end of x"), [0.5, 0.0, 0.0], mask=[True, False, False])
    problem = Problem(spherical, [far], Bounds(spherical.space, -upper, upper), frozen=["z"])
    unit = np.array([0.1, 0.5, -0.7, 0.5])
    for error, is_kept in ((1e-13, True), (1e-9, False)):
        ball = unit * ((1.0 + error) / np.linalg.norm(unit))
        q = iterates(run(engine, problem, [*ball, 5.0, 5.0]))[0]
        assert (q[:4].tobytes() == ball.tobytes()) == is_kept
        assert abs(np.linalg.norm(q[:4]) - 1.0) < 1e-12
        assert q[4:].tolist() == [1.0, 5.0]
    space = Rn(2)
    fixed = locked_joint(space, Segments.coordinates(space, [1]), [0.25])
    assert iterates(run(engine, Problem(space, [fixed, row([1.0, 1.0], 3.0)]), [0.0, 7.0]))[0].tolist() == [0.0, 0.25]


def test_r05_outputs_are_computed_first_and_their_derivatives_join_the_columns_of_the_inputs(engine: str) -> None:
    """y = 2 x + 1, z = 3 y: the row x + y + z has the derivative 1 + 2 + 6 by x."""
    space = Rn(3)
    chain = [follow(space, 2, 1, 3.0), follow(space, 1, 0, 2.0, 1.0)]
    result = run(engine, Problem(space, [*chain, row([1.0, 1.0, 1.0], 7.0)]), [0.0, 8.0, 9.0], cap=9.0)
    assert iterates(result)[0].tolist() == [0.0, 1.0, 3.0]
    x = 3.0 * 9.0 / (81.0 + damping(9.0))
    np.testing.assert_allclose(second(result), [x, 2.0 * x + 1.0, 6.0 * x + 3.0], rtol=1e-13)


def test_r06_a_start_has_to_satisfy_explicit_constraints_too(engine: str) -> None:
    problem = Problem(Rn(2), [follow(Rn(2), 1, 0, 2.0), row([1.0, 0.0], 1.0)])
    for off, is_kept in ((0.0, True), (0.9, True), (1.1, False), (500.0, False)):
        start = [1.0, 2.0 + off * THRESHOLD]
        result = run(engine, problem, start, threshold=THRESHOLD)
        assert result.success
        assert result.iterations == 0
        assert result.q.tolist() == (start if is_kept else [1.0, 2.0])


def test_r07_what_is_frozen_has_no_column(engine: str) -> None:
    """By the problem, by equal bounds; what no row reads stays too. The others take all of the step."""
    bounds = box([-9.0, -9.0, 0.3, -9.0], [9.0, 9.0, 0.3, 9.0])
    problem = Problem(Rn(4), [row([1.0, 1.0, 1.0, 0.0], 2.0)], bounds, frozen=Segments.coordinates(Rn(4), [1]))
    result = run(engine, problem, [0.0, 0.5, 0.3, 0.123], saturating_passes=0)
    x = 1.2 / (1.0 + damping(1.44))
    np.testing.assert_allclose(second(result), [x, 0.5, 0.3, 0.123], rtol=1e-14)
    assert result.success
    assert result.q[1:].tolist() == [0.5, 0.3, 0.123]


def test_r08_a_row_that_holds_is_zero_and_has_no_jacobian(engine: str) -> None:
    """Its error is the distance to the interval; inside it changes neither the damping nor the step of others."""
    for start, error, end in ((5.0, 3.0, 2.0), (0.0, -1.0, 1.0)):
        between = Implicit.between(Affine([[1.0]]), [1.0], [2.0])
        result = run(engine, Problem(Rn(1), [between]), [start], cap=9.0)
        assert result.trace is not None
        assert result.trace[0].residual == abs(error)
        assert second(result)[0] == pytest.approx(start - error / (1.0 + damping(error * error)), rel=1e-14)
        assert result.q[0] == pytest.approx(end, abs=1e-4)
    holds = Implicit.between(Affine([[1.0, 1.0]]), [-100.0], [100.0])
    result = run(engine, Problem(Rn(2), [holds, row([0.0, 1.0], 4.0)]), [0.0, 0.0], cap=9.0)
    np.testing.assert_allclose(second(result), [0.0, 4.0 / (1.0 + damping(16.0))], rtol=1e-14)


def test_r09_a_row_that_a_step_would_cross_is_an_equality_at_its_limit(engine: str) -> None:
    """x + y = 1 with x at most 0.1: solved again with both rows and the same mu."""
    limit = Implicit(Affine([[1.0, 0.0]]), None, lower=[-INF], upper=[0.1])
    result = run(engine, Problem(Rn(2), [row([1.0, 1.0], 1.0), limit]), [0.0, 0.0])
    J, e = np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([-1.0, -0.1])
    expected = -J.T @ np.linalg.solve(J @ J.T + damping(1.0) * np.eye(2), e)
    np.testing.assert_allclose(second(result), expected, rtol=1e-13)
    far = Implicit(Affine([[1.0, 0.0]]), None, lower=[-INF], upper=[0.5])
    result = run(engine, Problem(Rn(2), [row([1.0, 1.0], 1.0), far]), [0.0, 0.0])
    np.testing.assert_allclose(second(result), [1.0 / (2.0 + damping(1.0))] * 2, rtol=1e-13)

"""Numbered rules of `docs/solver.md`, one test a rule, by both engines: the step of level 0, and of lower levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from solvers.small_problems import INF, box, curve, damping, iterates, robot, row, run, second

from constraints import Affine, Implicit, Position, Problem, Status
from liegroups import Rn

FAR = 1e3
"""A cap that no step here meets."""


def test_r10_the_step_is_damped_by_the_squared_error_up_to_a_hundred(engine: str) -> None:
    for error, mu in ((2.0, 0.12), (9.0, 2.43), (20.0, 3.0)):
        result = run(engine, Problem(Rn(1), [row([2.0], error)]), [0.0], cap=FAR)
        assert second(result)[0] == pytest.approx(2.0 * error / (4.0 + mu), rel=1e-11)
        own = run(engine, Problem(Rn(1), [row([2.0], error)]), [0.0], cap=FAR, damping=0.5)
        assert second(own)[0] == pytest.approx(2.0 * error / (4.0 + damping(error * error, 0.5)), rel=1e-11)
    bare = run(engine, Problem(Rn(1), [row([1e-6], 1e-6)]), [0.0], cap=FAR, damping=0.0, threshold=1e-9)
    assert second(bare)[0] == pytest.approx(0.5, rel=1e-9)  # 1e-12 beside the square of 1e-6


def test_r11_the_step_is_the_least_in_the_costs(engine: str) -> None:
    """Costs over their mean; no cost counts as 1e-6 of the least one above zero."""
    for costs, inverse in (
        ([1.0, 3.0], [2.0, 2.0 / 3.0]), ([5.0, 5.0], [1.0, 1.0]), ([0.0, 4.0], [1e6, 1.0]),
    ):  # fmt: skip
        problem = Problem(Rn(2), [row([1.0, 2.0], 1.0)], weights=costs)
        a, b = inverse
        y = 1.0 / (a + 4.0 * b + damping(1.0))
        np.testing.assert_allclose(second(run(engine, problem, [0.0, 0.0])), [a * y, 2.0 * b * y], rtol=1e-12)


def test_r12_damping_grows_until_the_equations_are_solved_and_no_step_is_infinite(engine: str) -> None:
    """Two rows of 1e9, the same: definite to rounding only with mu of 1e6. Squares that overflow: no step at all."""
    twice = Problem(Rn(2), [row([1e9, 0.0], 1e9), row([1e9, 0.0], 1e9)])
    result = run(engine, twice, [0.0, 0.0])
    assert result.success
    grown = 10.0 * damping(100.0) + 1e6
    assert second(result)[0] - 1.0 == pytest.approx(-grown / 2e18, rel=1e-3)
    huge = [row(coefficients, 1.0) for coefficients in ([1e160, 1e160], [0.0, 1e160], [1.0, 0.0], [0.0, 1.0])]
    for levels in (huge, [[row([1.0, 0.0], 0.0)], huge]):
        with np.errstate(all="ignore"):  # kernels that are not compiled have numpy's numbers
            result = run(engine, Problem(Rn(2), levels), [0.0, 0.0])
        assert result.status is Status.UNDEFINED
        assert result.iterations == 1
        assert result.q.tolist() == [0.0, 0.0]


def test_r13_what_a_step_takes_out_of_bounds_is_held_and_the_others_make_up(engine: str) -> None:
    """x + y + z = 6 from (0.1, 0, 0): so many passes, the rest is clipped; exactly to the bound."""
    mu = damping(5.9**2)
    free = 5.9 / (3.0 + mu)
    after_x = 5.3 / (2.0 + mu)
    after_y = (5.3 - 1.72) / (1.0 + mu)
    problem = Problem(Rn(3), [row([1.0, 1.0, 1.0], 6.0)], box([-INF] * 3, [0.7, 1.72, INF]))
    for passes, expected in (
        (0, [0.7, free, free]), (1, [0.7, 1.72, after_x]), (2, [0.7, 1.72, after_y]), (3, [0.7, 1.72, after_y]),
    ):  # fmt: skip
        q = second(run(engine, problem, [0.1, 0.0, 0.0], cap=FAR, saturating_passes=passes))
        np.testing.assert_allclose(q, expected, rtol=1e-12)
        assert (q[0], q[1] == 1.72) == (0.7, passes > 0)


def test_r14_no_dof_is_held_when_an_iteration_begins(engine: str) -> None:
    """x squared is 0.25: from 0.05 the step overshoots to the bound, the next one leaves it again."""
    result = run(engine, Problem(Rn(1), [curve([-0.25, 0.0, 1.0], [1.0])], box([0.0], [1.0])), [0.05], cap=FAR)
    assert second(result).tolist() == [1.0]
    assert iterates(result)[2][0] == pytest.approx(1.0 - 2.0 * 0.75 / (4.0 + damping(0.5625)), rel=1e-12)
    assert result.success


def test_r15_translations_of_free_bodies_are_columns_where_a_step_would_leave_their_bounds(engine: str) -> None:
    """x + y = 1 of a body that is turned: x ends on its bound 0.2, y makes up; the body's own axes say nothing."""
    upper = [0.2, *[INF] * 6]
    body = robot(("body", pin.JointModelFreeFlyer()))
    body = body.with_bounds({"body": ([-INF] * 3, upper[:3])})
    line = Implicit.equal(Affine([[1.0, 1.0, 0.0]]) @ Position(body, "end of body"), [1.0])
    turned = pin.Quaternion(pin.exp3(np.array([0.3, -0.5, 0.9]))).coeffs()
    q = second(run(engine, Problem(body, [line]), [0.0, 0.0, 0.0, *turned]))
    assert q[0] == 0.2
    np.testing.assert_allclose(q[1:3], [0.8 / (1.0 + damping(1.0)), 0.0], atol=1e-12)
    np.testing.assert_allclose(q[3:], turned, atol=1e-12)
    free = robot(("body", pin.JointModelFreeFlyer()))
    line = Implicit.equal(Affine([[1.0, 1.0, 0.0]]) @ Position(free, "end of body"), [1.0])
    q = second(run(engine, Problem(free, [line]), [0.0, 0.0, 0.0, *turned]))
    np.testing.assert_allclose(q[:3], [1.0 / (2.0 + damping(1.0))] * 2 + [0.0], atol=1e-12)


def test_r16_a_step_is_scaled_so_that_no_coordinate_moves_more_than_the_cap(engine: str) -> None:
    problem = Problem(Rn(2), [Implicit.equal(Affine(np.eye(2)), [8.0, -4.0])])
    np.testing.assert_allclose(second(run(engine, problem, [0.0, 0.0])), [1.5, -0.75], rtol=1e-13)
    np.testing.assert_allclose(second(run(engine, problem, [0.0, 0.0], cap=0.4)), [0.4, -0.2], rtol=1e-13)
    longest = 8.0 / (1.0 + damping(80.0))
    np.testing.assert_allclose(second(run(engine, problem, [0.0, 0.0], cap=longest + 1e-9))[0], longest, rtol=1e-13)


def test_r17_a_lower_level_moves_in_the_null_space_of_those_above(engine: str) -> None:
    """x + y = 1, then x = 2, then z = 3 with x: each sees what the steps above leave of its error."""
    levels = [[row([1.0, 1.0, 0.0], 1.0)], [row([1.0, 0.0, 0.0], 2.0)], [row([1.0, 0.0, 1.0], 3.0)]]
    result = run(engine, Problem(Rn(3), levels), [0.0, 0.0, 0.0], cap=FAR)
    x = y = 1.0 / (2.0 + damping(1.0))
    error = x - 2.0
    along = -0.5 * error / (0.5 + damping(error**2))  # by (1, -1, 0): J N N^T J^T is 1/2
    x, y = x + along, y - along
    error = x - 3.0
    z = -error / (1.0 + damping(error**2))
    np.testing.assert_allclose(second(result), [x, y, z], rtol=1e-12)


def test_r18_pivots_up_to_a_millionth_of_the_largest_are_zero(engine: str) -> None:
    """Rows x and x + d y of level 0: where d counts, nothing is left to level 1, which asks for y = 1."""
    for d, moves in ((0.9e-6, True), (1.1e-6, False)):
        levels = [[row([1.0, 0.0], 0.0), row([1.0, d], 0.0)], [row([0.0, 1.0], 1.0)]]
        y = 1.0 / (1.0 + damping(1.0)) if moves else 0.0
        np.testing.assert_allclose(second(run(engine, Problem(Rn(2), levels), [0.0, 0.0])), [0.0, y], atol=1e-6)


def test_r19_a_lower_level_holds_for_itself_what_it_would_take_out_of_bounds(engine: str) -> None:
    """x + y = 1 below w = 1, x at most 0.1: x gets no part of it and y makes up; without passes all of it is cut."""
    levels = [[row([0.0, 0.0, 1.0], 1.0)], [row([1.0, 1.0, 0.0], 1.0)]]
    problem = Problem(Rn(3), levels, box([-9.0] * 3, [0.1, 9.0, 9.0]))
    w = y = 1.0 / (1.0 + damping(1.0))
    for passes, expected in ((2, [0.0, y, w]), (1, [0.0, y, w]), (0, [0.1, 0.1, w])):
        result = run(engine, problem, [0.0, 0.0, 0.0], saturating_passes=passes)
        np.testing.assert_allclose(second(result), expected, rtol=1e-12, atol=1e-300)
    both = Problem(Rn(3), [[levels[0][0], row([1.0, 1.0, 0.0], 0.0)], [row([2.0, 0.0, 0.0], 1.0)]],
                   box([-9.0] * 3, [0.1, 9.0, 9.0]))  # fmt: skip
    np.testing.assert_allclose(second(run(engine, both, [0.0] * 3, saturating_passes=1)), [0.0, 0.0, w], atol=1e-15)


def contradiction() -> list[Any]:
    """x = 0 and x = 1: from 0 the residual is 1, then 0.51, then 0.5."""
    return [row([1.0, 0.0], 0.0), row([1.0, 0.0], 1.0)]


def test_r20_the_cap_of_a_lower_level_follows_how_the_levels_above_settle(engine: str) -> None:
    """Doubled, up to the cap, while they fall to 0.8; else halved where its own error falls to 0.9, else a tenth."""
    problem = Problem(Rn(2), [contradiction(), [row([0.0, 1.0], 10.0)]])
    y = [q[1] for q in iterates(run(engine, problem, [0.0, 0.0]))]
    steps = [1.5, 1.5, 0.75, 0.375, 0.0375, 0.00375, 0.000375]
    np.testing.assert_allclose(np.diff(y)[: len(steps)], steps, rtol=1e-6)
    levels = [[curve([-0.25, 0.0, 1.0], [1.0, 0.0])], [row([0.0, 1.0], 20.0)]]  # level 0 overshoots once
    result = run(engine, Problem(Rn(2), levels), [0.05, 0.0], max_iterations=6)
    np.testing.assert_allclose(np.diff([q[1] for q in iterates(result)]), [1.5, 0.15, 0.3, 0.6, 1.2, 1.5], rtol=1e-6)

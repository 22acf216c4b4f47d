"""Numbered rules of `docs/solver.md`, one test a rule, by both engines: the best iterate, ends of tries, failures."""

from __future__ import annotations

import zlib

import numpy as np
import pinocchio as pin
import pytest
from solvers.small_problems import box, computed, curve, damping, iterates, robot, row, run, second

from constraints import Affine, Explicit, Implicit, Position, Problem, Projection, Robot, Status, explicit_relative_pose
from liegroups import Rn, Segments


def contradiction(columns: int = 1) -> list[Implicit]:
    """x = 0 and x = 1: from 0 the residual is 1, 0.507, 0.50004, ..."""
    x = [1.0, *[0.0] * (columns - 1)]
    return [row(x, 0.0), row(x, 1.0)]


def test_r21_the_best_iterate_has_the_lowest_score_by_level_then_the_lowest_merit(engine: str) -> None:
    parabola = run(engine, Problem(Rn(1), [curve([-0.25, 0.0, 1.0], [1.0])]), [0.05], max_iterations=1)
    assert second(parabola)[0] == pytest.approx(1.55)  # worse
    assert parabola.q.tolist() == [0.05]
    assert parabola.residual == pytest.approx(0.2475, rel=1e-14)
    never = row([0.0, 0.0], 1.0)  # the residual stays 1, the merit falls
    tied = run(engine, Problem(Rn(2), [never, row([0.0, 1.0], 0.9)]), [0.0, 0.0], max_iterations=1)
    np.testing.assert_allclose(tied.q, [0.0, 0.9 / (1.0 + damping(1.81))], rtol=1e-13)
    above = [row([1.0, 0.0], 0.0), row([1.0, 5e-7], 0.0)]  # its error rises with y, and remains below half a threshold
    below = [row([0.0, 1.0], 10.0), row([0.0, 1.0], 12.0)]
    levels = run(engine, Problem(Rn(2), [above, below]), [0.0, 0.0], max_iterations=20)
    assert levels.q[1] == pytest.approx(11.0, abs=0.1)
    first = run(engine, Problem(Rn(2), [above, below]), [0.0, 0.0], max_iterations=20, threshold=1e-6)
    assert abs(first.q[1]) < 2.0  # beyond half a threshold it is what counts most


def test_r22_a_try_stalls_when_its_score_does_not_fall_enough_for_some_iterations(engine: str) -> None:
    """To 0.98 of the reference within 4 without restarts, to 0.9 within 2 with them."""
    alone = run(engine, Problem(Rn(1), contradiction()), [0.0])
    assert alone.iterations == 5
    again = run(engine, Problem(Rn(1), contradiction()), [0.0], restarts=True, max_iterations=30)
    assert again.trace is not None
    assert [step.restarted for step in again.trace][:5] == [False] * 4 + [True]
    for factor, count in ((1.9, 30), (2.0, 4)):  # each step leaves 0.99476 and 0.99502: 0.9792 and 0.9802 in four
        slow = run(engine, Problem(Rn(1), [row([1.0], 1e4)]), [0.0], damping=factor, cap=1e9, max_iterations=30)
        assert slow.iterations == count
        assert slow.status is (Status.STALLED if count == 4 else Status.MAX_ITERATIONS)
    for ratio, count in ((0.5, 2), (0.51, 3)):  # the first step falls to 0.5074, so the reference is 1 or that
        short = run(engine, Problem(Rn(1), contradiction()), [0.0], patience_ratio=ratio, patience_count=2)
        assert short.iterations == count


def test_r23_after_a_capped_step_a_part_of_that_fall_is_enough(engine: str) -> None:
    """1000 m by steps of 1.5 m: 0.15 % each."""
    result = run(engine, Problem(Rn(1), [row([1.0], 1000.0)]), [0.0], max_iterations=800)
    assert result.success
    assert 666 <= result.iterations <= 670


def test_r24_an_iteration_that_lowers_a_cap_is_no_stall(engine: str) -> None:
    """Residuals of level 0 stay at 0.5; caps of level 1 fall from 1.5 to 0.0004 in five iterations, then it is one."""
    for levels, count in (
        ([contradiction(2), [row([0.0, 1.0], 10.0)]], 9), ([contradiction(2), [row([0.0, 1.0], 0.0)]], 8),
    ):  # fmt: skip
        result = run(engine, Problem(Rn(2), levels), [0.0, 0.0])
        assert result.status is Status.STALLED
        assert result.iterations == count


def unbounded(y: float) -> list[Implicit]:
    """1e308 x in [-1e308, 1e308], which is not finite from x = 1.8 on; y."""
    limit = np.array([1e308])
    return [Implicit.between(Affine([[1e308, 0.0]]), -limit, limit), row([0.0, 1.0], y)]


def test_r25_a_try_ends_where_an_error_is_not_finite(engine: str) -> None:
    with np.errstate(over="ignore"):
        alone = run(engine, Problem(Rn(2), unbounded(0.5)), [10.0, 0.0])
        again = run(engine, Problem(Rn(2), unbounded(0.5)), [10.0, 0.0], restarts=True)
    assert (alone.status, alone.residual, alone.iterations) == (Status.UNDEFINED, np.inf, 0)
    assert alone.q.tolist() == [10.0, 0.0]
    assert (again.status, again.restarts) == (Status.CONVERGED, 1)


def test_r26_satisfied_comes_before_stalled_and_stalled_before_the_budget(engine: str) -> None:
    """A search that ends for one reason at the iterate where its budget ends too."""
    for most, status in ((8, Status.STALLED), (7, Status.MAX_ITERATIONS)):
        levels = [contradiction(2), [row([0.0, 1.0], 0.0)]]
        result = run(engine, Problem(Rn(2), levels), [0.0, 0.0], max_iterations=most)
        assert (result.status, result.iterations) == (status, most)
    flat = Problem(Rn(1), [row([1.0], 1e-3)])
    assert run(engine, flat, [0.0], max_iterations=1, patience_ratio=1e-9, patience_count=1).success
    assert run(engine, flat, [0.0], max_iterations=0).status is Status.MAX_ITERATIONS


def turning(short: float) -> Robot:
    """A joint about z with its tip at 1 m, and a range of a turn less 2 * short."""
    return robot(("joint", pin.JointModelRZ()), lower=-np.pi + short, upper=np.pi - short)


def at_angle(body: Robot, angle: float, radius: float = 1.0) -> Problem:
    """Its tip at a point of the plane."""
    point = [radius * np.cos(angle), radius * np.sin(angle), 0.0]
    return Problem(body, [Implicit.equal(Position(body, "tip of joint"), point)])


def test_r27_joints_that_may_turn_come_into_their_bounds_by_whole_turns_at_the_end(engine: str) -> None:
    for turns, start in ((3, 20.0), (-2, -11.0), (0, 0.5)):
        result = run(engine, at_angle(turning(0.0), 0.7), [start], restarts=True)
        assert result.success
        assert result.restarts == 0
        assert iterates(result)[0][0] == start
        assert result.q[0] == pytest.approx(iterates(result)[-1][0] - 2.0 * np.pi * turns, abs=1e-14)
        assert result.q[0] == pytest.approx(0.7, abs=1e-4)
    narrow = run(engine, at_angle(turning(1e-3), 0.7), [20.0])
    assert iterates(narrow)[0][0] == np.pi - 1e-3
    assert iterates(run(engine, at_angle(turning(0.0), 0.7), [20.0], wrap=False))[0][0] == np.pi


def test_r28_a_shift_that_is_no_whole_turn_is_measured(engine: str) -> None:
    """A range of a turn less 9.8e-7 [rad], and a target in the gap: the error at the bound decides."""
    problem = at_angle(turning(4.9e-7), np.pi)
    result = run(engine, problem, [3.0], threshold=1e-8)
    assert not result.success
    assert result.residual == pytest.approx(4.9e-7, rel=1e-3)
    assert result.residual == pytest.approx(problem.residual(result.q), rel=1e-6)
    loose = run(engine, problem, [3.0], threshold=1e-6)
    assert loose.success
    assert abs(loose.q[0]) <= np.pi - 4.9e-7
    assert loose.residual == pytest.approx(problem.residual(loose.q), rel=1e-6)


def doubled() -> Explicit:
    """y = 2 x."""
    return computed(Rn(2), 1, 0, Affine([[2.0]]))


def test_r29_a_solution_outside_bounds_that_no_step_keeps_is_a_failed_try(engine: str) -> None:
    """Bounds of computed and of frozen dofs; the next try may end inside."""
    bounds = box([-2.0, -3.0], [2.0, 1.0])
    result = run(engine, Problem(Rn(2), [doubled(), row([1.0, 0.0], 1.0)], bounds), [0.2, 0.4])
    assert result.status is Status.OUT_OF_BOUNDS
    assert result.residual <= 0.5e-4
    np.testing.assert_allclose(result.q, [1.0, 2.0], atol=1e-4)
    both = Problem(Rn(2), [doubled(), curve([-1.0, 0.0, 1.0], [1.0, 0.0])], bounds)
    result = run(engine, both, [0.9, 1.8], restarts=True)
    assert result.success
    assert result.restarts > 0
    np.testing.assert_allclose(result.q, [-1.0, -2.0], atol=1e-3)
    still = Problem(Rn(2), [row([1.0, 0.0], 1.0)], bounds, frozen=Segments.coordinates(Rn(2), [1]))
    assert run(engine, still, [0.0, 1.5]).status is Status.OUT_OF_BOUNDS


def test_r30_computed_outputs_must_satisfy_their_own_twin(engine: str) -> None:
    """A twin y - x of a map that gives y = x + off."""
    space = Rn(2)
    for off, status in ((0.9e-4, Status.CONVERGED), (1.1e-4, Status.UNDEFINED)):
        f, twin = Affine([[1.0]], [off]), Affine([[-1.0, 1.0]])
        result = run(engine, Problem(space, [computed(space, 1, 0, f, twin), row([1.0, 0.0], 1.5)]), [0.0, 0.0])
        assert result.status is status
        assert (result.residual == np.inf) == (status is Status.UNDEFINED)
        np.testing.assert_allclose(result.q[0], 1.5 if result.success else 0.0, atol=1e-4)


def test_r31_a_computed_body_outside_its_bounds_is_brought_back(engine: str) -> None:
    """x + y = 2 of a hand that holds a box, x of the box at most 0.3: half a threshold inside, x is met to the rest."""
    bodies = robot(("hand", pin.JointModelFreeFlyer()), ("box", pin.JointModelFreeFlyer()))
    bodies = bodies.with_bounds({"box": ([-np.inf] * 3, [0.3, np.inf, np.inf])})
    hold = explicit_relative_pose(bodies, "end of hand", "end of box")
    line = Implicit.equal(Affine([[1.0, 1.0, 0.0]]) @ Position(bodies, "end of hand"), [2.0])
    result = run(engine, Problem(bodies, [hold, line]), bodies.neutral)
    assert result.success
    assert 0.3 - 1e-4 <= result.q[7] <= 0.3
    assert result.iterations == len(iterates(result)) - 2  # the solution outside is looked at twice
    assert sum(np.array_equal(q, bodies.neutral) for q in iterates(result)) == 1
    assert sum(result.q[7:9]) == pytest.approx(2.0, abs=1e-4)
    np.testing.assert_allclose(result.q[:3], result.q[7:10], atol=1e-12)


def tries(result: Projection) -> list[list[int]]:
    """Numbers of the iterates of a trace, by try."""
    assert result.trace is not None
    found: list[list[int]] = [[]]
    for i, step in enumerate(result.trace):
        if step.restarted:
            found.append([])
        found[-1].append(i)
    return found


def test_r32_restarts_read_a_table_from_a_row_that_the_bytes_of_the_start_name(engine: str) -> None:
    """The best of the next eight rows, of dofs that rows read; a restart costs one iteration."""
    bowl = Problem(Rn(2), [curve([1.0, 0.0, 1.0], [1.0, 0.0])], box([-2.0, -5.0], [3.0, 5.0]))
    start = np.array([0.7, 0.25])
    result = run(engine, bowl, start, restarts=True, seed=5, max_iterations=40)
    table = Rn(2).random(np.random.default_rng(5), np.array([-2.0, -5.0]), np.array([3.0, 5.0]), 256)
    at = zlib.crc32(start.tobytes())
    begun = [iterates(result)[own[0]] for own in tries(result)]
    assert len(begun) > 3
    for i, q in enumerate(begun[1:]):
        candidates = [table[(at + 8 * i + k) % 256, 0] for k in range(8)]
        assert q.tolist() == [min(candidates, key=abs), 0.25]
    assert len(begun) == result.restarts + 1
    assert result.iterations == len(iterates(result)) - 1 <= 40


def test_r33_a_failure_is_the_best_iterate_of_all_tries_with_the_status_of_its_try(engine: str) -> None:
    levels = [[curve([1.0, 0.0, 1.0], [1.0, 0.0])], [row([0.0, 1.0], 0.0)]]  # x squared is -1
    seen = set[tuple[Status, bool]]()
    for most in range(5, 40, 3):
        result = run(engine, Problem(Rn(2), levels), [0.7, 0.0], restarts=True, max_iterations=most)
        squares = [q[0] ** 2 for q in iterates(result)]
        best = int(np.argmin(squares))
        assert result.q[0] ** 2 == pytest.approx(squares[best], rel=1e-9)
        seen.add((result.status, best in tries(result)[-1]))
    assert (Status.STALLED, False) in seen  # the last try ended with the budget, another one had the best iterate
    assert (Status.MAX_ITERATIONS, True) in seen
    assert (Status.MAX_ITERATIONS, False) not in seen
    far = run(engine, at_angle(turning(0.0), 0.7, radius=2.0), [20.0])
    assert not far.success
    assert abs(far.q[0]) <= np.pi
    late = Problem(Rn(1), [row([1.0], 0.1075)])  # at 0.75 thresholds where the budget ends
    result = run(engine, late, [0.0], threshold=1e-2, cap=0.1, max_iterations=1)
    assert (result.status, result.iterations) == (Status.CONVERGED, 1)


def test_r34_no_way_down_within_bounds_is_stationary(engine: str) -> None:
    """A gradient of at most 0.02 of the error, of one level; what would leave the bounds is left out."""
    never = row([0.0], 1.0)
    for slope, status in ((0.028, Status.STATIONARY), (0.029, Status.MAX_ITERATIONS)):  # times 1 over root 2
        problem = Problem(Rn(1), [never, row([slope], 1.0)])
        assert run(engine, problem, [0.0], max_iterations=0).status is status
        two = Problem(Rn(2), [[row([0.0, 0.0], 1.0), row([slope, 0.0], 1.0)], [row([0.0, 1.0], 0.0)]])
        assert run(engine, two, [0.0, 0.0], max_iterations=0).status is Status.MAX_ITERATIONS
    for lower, upper, target in ((-1.0, 1.0, 2.0), (-1.0, 1.0, -2.0)):
        problem = Problem(Rn(1), [row([1.0], target)], box([lower], [upper]))
        end = upper if target > 0.0 else lower
        assert run(engine, problem, [end], max_iterations=0).status is Status.STATIONARY
        assert run(engine, problem, [-end], max_iterations=0).status is Status.MAX_ITERATIONS


def test_r35_an_optional_last_level_shapes_steps_and_decides_nothing(engine: str) -> None:
    """It counts neither for the end nor for the best iterate; where it has no value, it has no rows."""
    above, wish = [row([0.0, 1.0], 1.0)], [row([1.0, 0.0], 5.0), row([1.0, 0.0], 7.0)]
    with_wish = run(engine, Problem(Rn(2), [above, wish], optional_last=True), [0.0, 0.0])
    plain = run(engine, Problem(Rn(2), above), [0.0, 0.0])
    assert with_wish.success
    assert (with_wish.iterations, with_wish.residual) == (plain.iterations, plain.residual)
    assert second(with_wish)[0] == pytest.approx(1.5, rel=1e-12)
    assert not run(engine, Problem(Rn(2), [above, wish]), [0.0, 0.0], max_iterations=30).success
    nowhere = Implicit.between(Affine([[1e308, 0.0]]), [-1e308], [1e308])
    with np.errstate(over="ignore"):
        undefined = run(engine, Problem(Rn(2), [above, [nowhere]], optional_last=True), [10.0, 0.0])
    assert undefined.success
    assert [q.tolist() for q in iterates(undefined)] == [[10.0, q[1]] for q in iterates(plain)]

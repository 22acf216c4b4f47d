"""Calls of a batch on one thread: how many rows each has, by the time that the one before took; what is read of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("numba")

from compiled.kinds_of_problems import equal
from robots import arm, mixed_tree

from constraints import Implicit, Options, Pose, Problem
from constraints.functions import Affine
from constraints.solvers import CompiledEngine, Status
from constraints.solvers.compiled import program as compiled_program
from constraints.solvers.compiled.program import CompiledProgram
from constraints.solvers.engine import CODE_OF_STATUS, RowsInterrupted
from constraints.solvers.machine import layout
from constraints.workspace import Workspace
from liegroups import Rn


class Calls(NamedTuple):
    """Row numbers of each call, and the outcomes."""

    sizes: list[int]
    sides: list[int]
    found: Any


def called(problem: Problem, n: int, spent: list[float], monkeypatch: pytest.MonkeyPatch, many: bool = False) -> Calls:
    """A batch whose calls take these times, the last of them from then on, where a call of 4 s is a long one."""
    program: Any = CompiledEngine().compile(problem, Options(max_iterations=2))
    assert isinstance(program, CompiledProgram)
    clock, sizes, sides, times = [100.0], list[int](), list[int](), list(spent)

    def project(_: object, turn: Any, starts: Any, some: Any, ends: Any, figures: Any) -> None:
        sizes.append(len(starts))
        sides.append(len(some))
        assert len(starts) == len(ends) == len(figures)
        ends[:], figures[:] = starts, [layout.STALLED, len(sizes), 3.0, 0.5]
        clock[0] += times.pop(0) if len(times) > 1 else times[0]

    monkeypatch.setattr(compiled_program, "CALL", 4.0)
    monkeypatch.setattr(compiled_program, "perf_counter", lambda: clock[0])
    program.project_shared = project  # pyright: ignore[reportAttributeAccessIssue]
    Q = np.arange(n * problem.space.nq, dtype=float).reshape(n, problem.space.nq)
    given = [problem.rhs] * n if many else compiled_program.repeat(problem.rhs)
    return Calls(sizes, sides, program.run_many(Q, given, Workspace()))


def line(size: int) -> Problem:
    return Problem(Rn(size), [Implicit.zero(Affine(np.ones((1, size))))])


@pytest.mark.parametrize(
    ("spent", "expected"),
    [
        ([1.0, 0.5, 4.0, 4.1, 0.25, 9.0], [16, 32, 128, 64, 32, 256, 128, 64, 32, 16, 8, 4, 2, 1, 1]),
        ([0.9, 1.6, 2.5], [16, 35, 43, 34, 27, 21]),
        ([5.0, 0.0], [16, 8, 256, 8192, 100]),
        ([1.0, 0.0624, 0.01, 2.0], [16, 32, 1024, 32768, 20]),
        ([2.0], [16] * 31),
    ],
)
def test_a_call_has_the_rows_that_should_take_half_of_its_time(
    spent: list[float], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem(arm(), [equal(Pose(arm(), "tool"))])
    calls = called(problem, sum(expected), spent, monkeypatch)
    assert calls.sizes == expected
    assert calls.sides == [1] * len(expected)
    found = calls.found
    np.testing.assert_array_equal(found.q, np.arange(found.q.size, dtype=float).reshape(found.q.shape))
    assert found.iterations.tolist() == [k + 1 for k, size in enumerate(expected) for _ in range(size)]
    assert (found.codes == CODE_OF_STATUS[Status.STALLED]).all()
    assert (found.restarts == 3).all()
    assert (found.residual == 0.5).all()
    each = sum([*spent, *[spent[-1]] * (len(expected) - len(spent))][: len(expected)]) / sum(expected)
    np.testing.assert_allclose(found.seconds, each, rtol=1e-12)


@pytest.mark.parametrize(("size", "first"), [(1, 16), (12, 16), (13, 15), (40, 5), (200, 1), (201, 1), (500, 1)])
def test_the_first_call_has_fewer_rows_of_many_dofs(size: int, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert called(line(size), 20, [2.0], monkeypatch).sizes[0] == first


def test_rows_have_their_own_right_hand_sides_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = called(line(3), 40, [2.0], monkeypatch, many=True)
    assert calls.sides == calls.sizes == [16, 16, 8]
    assert called(line(3), 0, [2.0], monkeypatch).sizes == []
    assert called(line(3), 1, [2.0], monkeypatch, many=True).sides == [1]
    assert called(line(201), 2, [2.0], monkeypatch, many=True).sides == [1, 1]


@pytest.mark.parametrize("brings_back", [False, True])
def test_rows_that_were_done_when_somebody_interrupted_are_told(
    brings_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of whole calls; but for rows that would still be brought back into bounds."""
    problem, Q = line(3), np.arange(120.0).reshape(40, 3)
    program: Any = CompiledEngine().compile(problem, Options(max_iterations=2))
    count = [0]

    def project(_: object, turn: Any, starts: Any, some: Any, ends: Any, figures: Any) -> None:
        if count[0] == 20:
            raise KeyboardInterrupt
        ends[:], figures[:] = starts + 1.0, [layout.STALLED, 4.0, 3.0, 0.5]
        figures[1, 0] = layout.OUT_OF_BOUNDS
        count[0] += len(starts)

    monkeypatch.setattr(compiled_program, "FIRST_ROWS", 20)
    monkeypatch.setattr(compiled_program.CompiledProgram, "brings_back", brings_back)
    program.project_shared = project
    with pytest.raises(RowsInterrupted) as stopped:
        program.run_many(Q, compiled_program.repeat(problem.rhs), Workspace())
    expected = [i for i in range(20) if not (brings_back and i == 1)]
    assert stopped.value.rows.tolist() == expected
    found = stopped.value.outcomes
    np.testing.assert_array_equal(found.q, Q[expected] + 1.0)
    assert (found.codes == CODE_OF_STATUS[Status.OUT_OF_BOUNDS]).tolist() == [i == 1 for i in expected]
    assert found.iterations.tolist() == [4] * len(expected)


def test_a_traced_projection_that_is_resumed_has_the_iterates_before_it() -> None:
    """Iterations and restarts go on from those of before, from its configuration; nothing of it is left behind."""
    problem = Problem(arm(), [equal(Pose(arm(), "tool"))])
    for options in (Options.local(trace=True), Options.local()):
        program: Any = CompiledEngine().compile(problem, options)
        rng, work = np.random.default_rng(0), Workspace()
        q, rhs = arm().random(rng), problem.rhs_from(arm().random(rng))
        whole = program.run(q, rhs, work)
        middle = arm().random(rng)
        from_middle = program.run(middle, rhs, work)
        before = whole._replace(q=middle, iterations=7, restarts=2)
        found = program.resume(q, rhs, work, before)
        assert found.q.tobytes() == from_middle.q.tobytes()
        assert (found.iterations, found.restarts) == (7 + from_middle.iterations, 2 + from_middle.restarts)
        assert program.run(q, rhs, work).q.tobytes() == whole.q.tobytes()
        if options.trace:
            assert len(found.trace) == len(whole.trace) + len(from_middle.trace)
            np.testing.assert_array_equal([s.q for s in found.trace[: len(whole.trace)]], [s.q for s in whole.trace])
        else:
            assert found.trace is None


def test_starts_that_are_no_points_are_refused_and_batches_take_any_array() -> None:
    robot = mixed_tree()
    problem = Problem(robot, [equal(Pose(robot, "chain_tip"))])
    program: Any = CompiledEngine().compile(problem, Options(max_iterations=3))
    rng, box = np.random.default_rng(1), np.ones(robot.nq)
    Q = np.array([robot.space.random(rng, -box, box) for _ in range(3)])
    expected = program.run_many(Q, compiled_program.repeat(problem.rhs), Workspace())
    fixed = np.asfortranarray(Q)
    fixed.setflags(write=False)
    found = program.run_many(fixed, compiled_program.repeat(problem.rhs), Workspace())
    assert found.q.tobytes() == expected.q.tobytes()
    bad = Q[0].copy()
    bad[robot.space.unit_blocks[0]] *= 1.1
    with pytest.raises(ValueError, match="q"):
        program.run(bad, problem.rhs, Workspace())


@pytest.mark.parametrize(("given", "row"), [((), 1), ((5,), 6)])
def test_a_traced_batch_names_the_row_that_is_no_point(given: tuple[int, ...], row: int) -> None:
    robot = mixed_tree()
    problem = Problem(robot, [equal(Pose(robot, "chain_tip"))])
    program: Any = CompiledEngine().compile(problem, Options(max_iterations=1, trace=True))
    Q = np.array([robot.neutral, robot.neutral, robot.neutral])
    Q[1, robot.space.unit_blocks[0]] *= 1.1
    repeat = compiled_program.repeat
    with pytest.raises(ValueError, match="q") as refused:
        program.run_many(Q, repeat(problem.rhs), Workspace(), repeat(None), *given)
    assert refused.value.__notes__ == [f"in row {row} of the batch"]

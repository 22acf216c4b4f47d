"""The budget of a projection: 400 iterations by default, 100 for single tries, and a time limit beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pytest
from robots import arm

from constraints import Function, Implicit, Options, Position, Problem, Projector, Status
from constraints.errors import NotSavableError, OptionError
from constraints.manipulation import ConstraintGraph, State
from constraints.paths.interpolation import interpolate
from constraints.solvers import CompiledEngine, Engine
from constraints.solvers.engine import Outcome, Program
from constraints.solvers.newton.engine import NewtonEngine
from constraints.solvers.time_limit import TimedProgram
from liegroups import Rn

ENGINES: list[Callable[[], Engine]] = [NewtonEngine, CompiledEngine]


def out_of_reach() -> Problem:
    return Problem(arm(), [Implicit.equal(Position(arm(), "tool"), [5.0, 0.0, 0.0])])


def within_reach() -> Problem:
    return Problem(arm(), [Implicit.equal(Position(arm(), "tool"), [0.3, 0.2, 0.5])])


def test_the_default_budget_is_400_and_of_single_tries_100() -> None:
    assert Options().max_iterations == 400
    assert Options.local().max_iterations == 100
    assert ConstraintGraph(arm(), [State("all")], []).options.max_iterations == 100
    assert Projector(out_of_reach()).project(np.zeros(7)).iterations == 400


@pytest.mark.parametrize("engine", ENGINES)
def test_a_time_limit_ends_a_failure(engine: Callable[[], Engine]) -> None:
    """Ten million iterations take minutes; the limit is kept to a tenth of a second also where a chunk is under way."""
    projector = Projector(out_of_reach(), Options(max_iterations=10_000_000, seconds=0.2), engine())
    projector.project(np.zeros(7))  # loads kernels
    began = perf_counter()
    result = projector.project(np.zeros(7))
    assert perf_counter() - began < 0.6  # a busy machine
    assert result.status is Status.TIME_LIMIT
    assert not result.success
    assert f"in {result.seconds:.2g} s, of 0.2 s; more: `Options(seconds=...)`" in str(result)
    same = Options(max_iterations=result.iterations)
    again = Projector(out_of_reach(), same, engine()).project(np.zeros(7))
    assert again.q.tobytes() == result.q.tobytes()
    assert again.residual == result.residual


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_found_in_time_is_what_is_found_without_a_limit(engine: Callable[[], Engine]) -> None:
    rng = np.random.default_rng(0)
    limited = Projector(within_reach(), Options(seconds=100.0), engine())
    free = Projector(within_reach(), Options(), engine())
    for _ in range(20):
        q = arm().random(rng)
        a, b = limited.project(q), free.project(q)
        assert a.success
        assert (a.q.tobytes(), a.iterations, a.restarts, a.status) == (
            b.q.tobytes(),
            b.iterations,
            b.restarts,
            b.status,
        )


def test_chunks_grow_as_far_as_the_time_is_enough() -> None:
    """By a clock of our own, an iteration costing a second: 4, then powers of two that fit in half of what is left."""
    now, budgets = [0.0], list[int]()

    class Failing(Program):
        def __init__(self, options: Options) -> None:
            self._most = options.max_iterations

        def run(self, q0: Any, rhs: Any, workspace: Any, near: Any = None) -> Outcome:
            now[0] += self._most
            budgets.append(self._most)
            return Outcome(q0, Status.STALLED, self._most, 0, 1.0, None, None)

        def step(self, q0: Any, rhs: Any, workspace: Any) -> Any:
            return q0

    timed = TimedProgram(100.0, Options(max_iterations=1000), Failing, lambda: now[0])
    nothing: Any = None
    found = timed.run(np.zeros(1), nothing, nothing)
    assert budgets == [4, 32]
    assert (found.status, found.iterations, now[0]) == (Status.TIME_LIMIT, 32, 36.0)
    budgets.clear()
    now[0] = 0.0
    timed.run(np.zeros(1), nothing, nothing)
    assert budgets == [32]  # half of 100 is 50: known from before
    assert (
        TimedProgram(100.0, Options(max_iterations=3), Failing, lambda: now[0])
        .run(np.zeros(1), nothing, nothing)
        .status
        is Status.STALLED
    )  # the budget was used up, not the time


def test_a_slow_function_is_stopped_too() -> None:
    def slow(q: Any) -> Any:
        sleep(0.01)
        return [np.sin(q[0]) + 2.0]

    problem = Problem(Rn(1), [Implicit.zero(Function.from_callable(slow, Rn(1), Rn(1), lambda q: [[np.cos(q[0])]]))])
    began = perf_counter()
    result = Projector(problem, Options(max_iterations=10_000, seconds=0.5)).project([0.3])
    assert perf_counter() - began < 2.0
    assert result.status is Status.TIME_LIMIT
    late = Projector(problem, Options(max_iterations=10_000, seconds=1e-3)).project([0.3])
    assert f"in {late.seconds:.2g} s, as the limit of 0.001 s is looked at between chunks of iterations;" in str(late)


def test_a_time_limit_is_refused_where_results_must_be_the_same_bits(tmp_path: Path) -> None:
    limited = Options(seconds=1.0)
    problem, q = within_reach(), np.zeros(7)
    for call in (
        lambda: Projector(problem, limited).project_batch([q]),
        lambda: ConstraintGraph(arm(), [State("all")], [], options=limited),
        lambda: interpolate(problem, q, q, options=Options.local(seconds=1.0)),
        lambda: Options(seconds=1.0, nearest=True),
        lambda: Options(seconds=1.0, optimise_last=True),
    ):
        with pytest.raises(OptionError, match=r"'seconds' .*depend on the machine.*max_iterations"):
            call()
    with pytest.raises(NotSavableError, match="seconds"):
        limited.save(tmp_path / "options.json")
    for wrong in (0.0, -1.0, np.inf, "1", True):
        with pytest.raises(OptionError, match="seconds"):
            Options(seconds=wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="seconds"):
        Options(timeout=1.0)  # type: ignore[call-arg]

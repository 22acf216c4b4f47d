"""The compiled engine beside the readable one: statuses, iterations, configurations; batches; what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from each_choice import draws
from robots import arm

import constraints as lc
from constraints.errors import NotFiniteError, UnknownNameError
from constraints.files import Report
from constraints.models import sample_arm
from constraints.solvers import Backtracking, CompiledEngine, NewtonEngine, why_not
from liegroups import Rn

pytest.importorskip("numba")

SAME = 0.99
"""Part of the starts at which two programs must agree: roundings send a few down another path."""


@pytest.fixture(scope="module")
def blocks(benchmarks: Any) -> ModuleType:
    """The problems of the proof at scale: those of the benchmark, and random constraints on random trees."""
    module = benchmarks("soundness_blocks")
    if module.missing():
        pytest.skip(module.missing())
    return module


def agree(problem: lc.Problem, a: Any, b: Any) -> bool:
    """Whether two projections are one."""
    apart = problem.space.difference(a.q, b.q)
    figures = a.status is b.status and a.iterations == b.iterations and a.restarts == b.restarts
    return figures and float(np.abs(apart).max(initial=0.0)) < 1e-9


@draws(16, 40)
def test_projections_are_those_of_the_readable_engine(blocks: ModuleType, count: int) -> None:
    """Problem files and random constraints of all kinds, from good starts and bad ones."""
    same = count = packed = 0
    for number in range(count):
        block = blocks.make_block(11, number)
        problem, options = block.projector.problem, block.projector.options
        if why_not(problem, options) is not None:
            continue
        packed += 1
        one, other = (lc.Projector(problem, options, engine) for engine in ("compiled", "readable"))
        for q in block.starts[:: 100 // 8]:
            a, b = one.project(q, block.rhs), other.project(q, block.rhs)
            assert a.success == b.success or a.iterations > 3
            same, count = same + agree(problem, a, b), count + 1
    assert packed >= count / 2
    assert same >= SAME * count, f"{same} of {count}"


@pytest.mark.parametrize("optional", [False, True])
def test_lower_levels_are_those_of_the_readable_engine(optional: bool) -> None:
    """A hand at a place first, its orientation next, an elbow out of reach last; costs and bounds."""
    robot = sample_arm()
    there = np.array([0.3, -0.4, 0.2, -1.2, 0.1, 0.6, 0.0])
    levels = [
        [lc.Implicit.equal(lc.Position(robot, "tool"), lc.Position(robot, "tool").value(there))],
        [lc.Implicit.equal(lc.Orientation(robot, "tool"), lc.Orientation(robot, "tool").value(there))],
        [lc.Implicit.equal(lc.Position(robot, "elbow"), [3.0, 0.0, 0.0])],
    ]
    weights = np.array([1.0, 0.3, 2.0, 1.0, 0.5, 1.0, 5.0])
    problem = lc.Problem(robot, levels, weights=weights, optional_last=optional)
    assert why_not(problem) is None
    budget = lc.Options(max_iterations=15)  # the last level never comes to rest, and roundings grow
    (one, other), rng = (lc.Projector(problem, budget, e) for e in ("compiled", "readable")), np.random.default_rng(3)
    pairs = [(one.project(q), other.project(q)) for q in (robot.random(rng) for _ in range(40))]
    assert sum(agree(problem, a, b) for a, b in pairs) >= 36
    assert any(a.success for a, _ in pairs) == optional


def two_targets() -> tuple[lc.Robot, lc.Problem]:
    robot = arm()
    return robot, lc.Problem(
        robot, [lc.Implicit.equal(lc.Pose(robot, "tool")), lc.Implicit.equal(lc.CenterOfMass(robot), mask=[1, 0, 0])]
    )


def reachable(robot: lc.Robot, problem: lc.Problem, rng: np.random.Generator) -> Any:
    return problem.rhs_from(robot.random(rng))


def test_right_hand_sides_are_not_kept_from_call_to_call() -> None:
    robot, problem = two_targets()
    projector, rng = lc.Projector(problem, engine="compiled"), np.random.default_rng(1)
    q, first, second = robot.random(rng), reachable(robot, problem, rng), reachable(robot, problem, rng)
    for rhs in (first, second, first, None, second):
        afresh = lc.Projector(problem, engine="compiled").project(q, rhs)
        assert projector.project(q, rhs).q.tobytes() == afresh.q.tobytes()
        projector.project_batch([q], None if rhs is second else second)


def test_a_start_that_is_read_only_or_in_pieces_is_taken() -> None:
    robot, problem = two_targets()
    program = CompiledEngine().compile(problem, lc.Options())
    rng = np.random.default_rng(4)
    q, workspace = robot.random(rng), lc.Projector(problem)._pool.take()
    rhs = reachable(robot, problem, rng)
    whole = program.run(q.copy(), rhs, workspace)
    still = q.copy()
    still.setflags(write=False)
    np.testing.assert_array_equal(program.run(still, rhs, workspace).q, whole.q)
    np.testing.assert_array_equal(program.run(np.repeat(q, 2)[::2], rhs, workspace).q, whole.q)
    np.testing.assert_array_equal(still, q)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("size", [1e153, 1e154, 1e300])
def test_a_start_whose_squares_overflow_is_a_point(size: float) -> None:
    """Its numbers are finite: one call and a batch project it as the readable engine does; infinity is refused."""
    robot = sample_arm()
    problem = lc.Problem(robot, [lc.Implicit.equal(lc.Position(robot, "tool"), [0.3, 0.2, 0.4])])
    start = np.full(robot.nq, size)
    ours, theirs = (lc.Projector(problem, engine=engine) for engine in ("compiled", "readable"))
    found = ours.project(start)
    assert found.status is theirs.project(start).status
    assert np.array_equal(ours.project_batch([start, start]).q, [found.q, found.q])
    start[3] = np.inf
    with pytest.raises(NotFiniteError, match="q"):
        ours.project(start)


def test_a_function_of_the_users_is_solved_by_the_compiled_engine() -> None:
    """And the result says so."""
    robot = arm()
    mine = lc.Function.from_callable(lambda q: [q @ q - 1.0], robot.space, Rn(1), name="mine", trace=False)
    problem = lc.Problem(robot, [lc.Implicit.zero(mine)])
    assert why_not(problem) is None
    found = lc.Projector(problem, engine="compiled").project(np.full(robot.nq, 0.3))
    assert found.success
    assert isinstance(found.engine, CompiledEngine)
    batch = lc.Projector(problem, engine="compiled").project_batch([np.full(robot.nq, 0.3)])
    assert isinstance(batch[0].engine, CompiledEngine)


def test_options_that_are_not_compiled_are_named() -> None:
    _, problem = two_targets()
    assert why_not(problem, lc.Options(trace=True)) is None
    assert "trace of up to 10000000 iterations" in str(why_not(problem, lc.Options(trace=True, max_iterations=10**7)))
    assert "Backtracking" in str(why_not(problem, lc.Options(step_control=Backtracking())))
    assert why_not(problem, lc.Options.local()) is None


def test_the_iterates_are_those_of_the_readable_engine() -> None:
    """With computed bodies that are brought back inside too; and they change nothing of the result."""
    robot, problem = two_targets()
    for q in robot.random(np.random.default_rng(0), 5):
        plain = lc.Projector(problem).project(q)
        keeps = lc.Options(trace=True)
        mine, theirs = (lc.Projector(problem, keeps, engine).project(q) for engine in ("compiled", "readable"))
        assert isinstance(mine.engine, CompiledEngine)
        assert mine.q.tobytes() == plain.q.tobytes()
        assert mine.trace is not None
        assert theirs.trace is not None
        assert len(mine.trace) == mine.iterations + 1
        assert [step.restarted for step in mine.trace] == [step.restarted for step in theirs.trace]
        for a, b in zip(mine.trace, theirs.trace, strict=True):
            assert a.residual == pytest.approx(b.residual, abs=1e-9)
            np.testing.assert_allclose(a.q, b.q, atol=1e-9)
    batch = lc.Projector(problem, lc.Options(trace=True)).project_batch(robot.random(np.random.default_rng(0), 3))
    assert all(row.trace is not None and len(row.trace) == row.iterations + 1 for row in batch)


def test_engines_by_name() -> None:
    """The compiled one is the usual one, where the extra is installed."""
    robot, problem = two_targets()
    for name, kind in (("readable", NewtonEngine), ("compiled", CompiledEngine), (None, CompiledEngine)):
        projector = lc.Projector(problem, engine=name)
        assert isinstance(projector.engine, kind)
        assert isinstance(projector.project(robot.neutral).engine, kind)
    with pytest.raises(UnknownNameError, match="compiled"):
        lc.Projector(problem, engine="compild")


def test_a_report_says_which_engine_solved_and_is_done_again_by_it(tmp_path: Path) -> None:
    robot, problem = two_targets()
    rng = np.random.default_rng(5)
    found = lc.Projector(problem, engine="compiled").project(robot.random(rng), reachable(robot, problem, rng))
    found.report(tmp_path / "report.json")
    report = Report.load(tmp_path / "report.json")
    assert isinstance(report.engine, CompiledEngine)
    assert report.reproduce().q.tobytes() == found.q.tobytes()


def test_a_failure_has_the_status_of_the_readable_engine() -> None:
    """Out of reach, and no budget."""
    robot = arm()
    far = lc.Implicit.equal(lc.Position(robot, "tool"), [9.0, 0.0, 0.0])
    problem, q = lc.Problem(robot, [far]), robot.random(np.random.default_rng(6))
    for options in (lc.Options(), lc.Options.local(), lc.Options(max_iterations=0)):
        one, other = (lc.Projector(problem, options, engine).project(q) for engine in ("compiled", "readable"))
        assert not one.success
        assert one.status is other.status

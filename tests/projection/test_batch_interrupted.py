"""Ctrl-C in a batch: seen soon, and what was done is there, with the bits of the single call."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from robots import humanoid, ur5

from constraints import Implicit, Options, Pose, Problem, Projector
from constraints.solvers import BatchInterrupted
from constraints.solvers.compiled import program as compiled_program
from constraints.solvers.engine import RowsInterrupted

SEEN = 0.3
"""Seconds within which Ctrl-C is to be seen."""


@pytest.fixture(autouse=True)
def by_default() -> Iterator[None]:
    """A job in the background begins with SIGINT ignored."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def hopeless(engine: str, robot: str = "ur5") -> tuple[Projector, np.ndarray]:
    """Poses out of reach, with many iterations: each row takes as long as rows can."""
    made = ur5() if robot == "ur5" else humanoid()
    pose = [9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    problem = Problem(made, [Implicit.equal(Pose(made, made.joint_names[-1]), pose, name="far")])
    starts = made.random(np.random.default_rng(0), 400)
    return Projector(problem, Options(max_iterations=100), engine), starts


def after_first_rows(of: type, name: str, then: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something done once, when the first rows of a batch are done."""
    usual = getattr(of, name)

    def told(*given: object) -> object:
        found = usual(*given)
        monkeypatch.undo()
        then()
        return found

    monkeypatch.setattr(of, name, told)


@pytest.mark.parametrize(("engine", "robot"), [("compiled", "ur5"), ("compiled", "humanoid"), ("readable", "ur5")])
def test_an_interruption_is_seen_soon_and_loses_nothing(
    engine: str, robot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of three times within 0.3 s: others may use the machine."""
    if engine == "compiled":
        pytest.importorskip("numba")
    projector, some = hopeless(engine, robot)
    starts = np.tile(some, (500, 1))
    expected = [projector.project(q) for q in some[:3]]
    projector.project_batch(some[:16])  # kernels of batches: compiled before the clock runs
    waited = list[float]()
    for _ in range(3):
        sent = list[float]()

        def send(sent: list[float] = sent) -> None:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.3, send)
        what = "project_shared" if engine == "compiled" else "run"
        after_first_rows(type(projector.program), what, timer.start, monkeypatch)  # pyright: ignore[reportPrivateUsage]
        try:
            with pytest.raises(KeyboardInterrupt) as stopped:
                projector.project_batch(starts)
        finally:
            timer.cancel()  # a batch that ended before sends no signal into what follows
        waited.append(time.perf_counter() - sent[0])
        stop = stopped.value
        assert isinstance(stop, BatchInterrupted)
        assert 0 < len(stop.batch) < len(starts)
        assert stop.rows.tolist() == list(range(len(stop.batch)))
        assert f"{len(stop.rows)} of 200000 rows were done" in str(stop)
        for i, single in enumerate(expected[: len(stop.batch)]):
            assert stop.batch.q[i].tobytes() == single.q.tobytes()
            assert stop.batch[i].status is single.status
            assert stop.batch.iterations[i] == single.iterations
        assert np.isfinite(stop.batch.residual).all()
        assert (stop.batch.residual > 1.0).all()
        if min(waited) < SEEN:
            return
    pytest.fail(f"seen after {waited} s")


def test_chunks_that_came_back_are_not_lost() -> None:
    """With progress there are chunks; the callback that ends it has been told of these rows."""
    projector, starts = hopeless("readable")
    told = list[int]()

    def tell(done: int, _: int) -> None:
        told.append(done)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(BatchInterrupted) as stopped:
        projector.project_batch(starts[:40], chunk=4, progress=tell)
    assert told == [4, 8, 12]
    assert stopped.value.rows.tolist() == list(range(12))
    assert stopped.value.batch.q[11].tobytes() == projector.project(starts[11]).q.tobytes()
    assert np.array_equal(stopped.value.batch.starts, starts[:12])


def test_rows_of_a_chunk_that_was_interrupted_are_not_lost() -> None:
    projector, starts = hopeless("readable")
    run, calls = projector.program.run, list[int]()  # pyright: ignore[reportPrivateUsage]

    def stopping(*given: object) -> object:
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return run(*given)  # pyright: ignore[reportArgumentType]

    projector.program.run = stopping  # pyright: ignore
    with pytest.raises(BatchInterrupted) as stopped:
        projector.project_batch(starts[:40], chunk=4)
    assert stopped.value.rows.tolist() == list(range(6))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 333])
def test_calls_of_a_batch_change_no_bit(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows a call has: which depends on the clock."""
    pytest.importorskip("numba")
    projector, starts = hopeless("compiled")
    usual = projector.project_batch(starts[:n])
    monkeypatch.setattr(compiled_program, "CALL", 0.0)
    one_by_one = projector.project_batch(starts[:n])
    assert usual.q.tobytes() == one_by_one.q.tobytes()
    assert usual.iterations.tolist() == one_by_one.iterations.tolist()


def test_an_interruption_between_calls_has_the_calls_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """And of an interrupted batch with rows of their own right-hand sides, each row has its own."""
    pytest.importorskip("numba")
    robot = ur5()
    hand = Implicit.equal(Pose(robot, robot.joint_names[-1]), name="hand")
    problem, rng = Problem(robot, [hand]), np.random.default_rng(5)
    projector, starts = Projector(problem, engine="compiled"), robot.random(rng, 60)
    sides = [problem.rhs_from(robot.random(rng)) for _ in starts]
    monkeypatch.setattr(compiled_program, "CALL", 0.0)
    shared, calls = compiled_program.CompiledProgram.project_shared, list[int]()

    def stopping(self: object, *given: object) -> None:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        shared(self, *given)  # pyright: ignore

    monkeypatch.setattr(compiled_program.CompiledProgram, "project_shared", stopping)
    with pytest.raises(BatchInterrupted) as stopped:
        projector.project_batch(starts, sides)
    monkeypatch.undo()
    stop = stopped.value
    assert 0 < len(stop.rows) < 60
    for i, row in enumerate(stop.batch):
        single = projector.project(starts[i], sides[i])
        assert row.q.tobytes() == single.q.tobytes()
        assert row.rhs.vector.tobytes() == single.rhs.vector.tobytes()


def test_a_worker_that_is_interrupted_sends_no_rows() -> None:
    """Its KeyboardInterrupt goes through a pipe: it is a plain one."""
    from constraints.solvers.projection.workers import Task, work

    class Interrupted:
        def run(self, _: Task) -> object:
            raise RowsInterrupted(np.arange(0), None)  # pyright: ignore[reportArgumentType]

    with pytest.raises(KeyboardInterrupt) as stopped:
        work(Interrupted(), Task(0, np.zeros((1, 2))))  # pyright: ignore[reportArgumentType]
    assert type(stopped.value) is KeyboardInterrupt

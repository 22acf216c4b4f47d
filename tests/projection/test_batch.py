"""Batches: a row is the single call, bit for bit, whoever works; interruptions, dead workers and bad rows."""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import arm, humanoid, two_arms

from constraints import (
    ConstraintError,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projection,
    ProjectionBatch,
    Projector,
    RightHandSide,
    Status,
    errors,
    linear_coupling,
)
from constraints.solvers.projection import workers
from liegroups import Rn

Answer = tuple[bytes, Status, int, int, float, bytes]


# What is projected


@functools.cache
def projector() -> Projector:
    """A grip and a height that varies; an elbow joint that follows another. Half the rows ask for what is too far."""
    robot = two_arms()
    grip = Pose(robot, "right_tool", reference="left_tool")
    follow = linear_coupling(robot, robot.joint_names[-1], {robot.joint_names[-2]: 0.5})
    reach = Implicit.equal(Position(robot, "left_tool"), [0.4, 0.1, 1.0], mask=[0, 0, 1], name="height")
    return Projector(
        Problem(robot, [Implicit.equal(grip, grip.value(robot.reference("home")), name="grip"), reach, follow]),
        Options(max_iterations=15),
    )


@functools.cache
def starts(n: int = 60) -> np.ndarray:
    return two_arms().random(np.random.default_rng(4), n)


@functools.cache
def sides(n: int = 60) -> list[RightHandSide]:
    """One right-hand side a row; those above 2 m are out of reach."""
    rhs = projector().problem.rhs
    return [rhs.replace("height", [0.0, 0.0, z]) for z in np.linspace(0.8, 2.6, n)]


def answer(result: Projection) -> Answer:
    """All that a projection gives, but for the time it took."""
    side = result.rhs.vector.tobytes()
    return result.q.tobytes(), result.status, result.iterations, result.restarts, result.residual, side


@functools.cache
def singles() -> list[Answer]:
    return [answer(projector().project(q, rhs)) for q, rhs in zip(starts(), sides(), strict=True)]


def answers(batch: Iterable[Projection]) -> list[Answer]:
    return [answer(row) for row in batch]


class Backwards(Executor):
    """Runs everything later, in another thread, the last chunk first."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.timer: threading.Timer | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, functools.partial(fn, *args, **kwargs)))
        if self.timer is None:
            self.timer = threading.Timer(0.05, self.go)
            self.timer.start()
        return future

    def go(self) -> None:
        for future, call in reversed(self.waiting):
            future.set_result(call())


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


# A row is the single call


@pytest.mark.parametrize(
    ("where", "chunk"),
    [*(("here", chunk) for chunk in (None, 1, 7, 60, 1000)), *(("threads", chunk) for chunk in (None, 1, 13)),
     ("processes", None), ("processes", 13), ("backwards", 7)],
)  # fmt: skip
def test_a_row_is_the_single_call(processes: ProcessPoolExecutor, where: str, chunk: int | None) -> None:
    """Property 18: whoever works, whatever the chunks and the order in which they return; failed rows are statuses."""
    with ThreadPoolExecutor(3) as threads:
        pool = {"here": None, "threads": threads, "processes": processes, "backwards": None}[where]
        for given in (sides(), np.stack([side.vector for side in sides()])):
            pool = Backwards() if where == "backwards" else pool
            batch = projector().project_batch(starts(), given, pool, chunk)
            assert answers(batch) == singles()
    assert 10 < batch.success.sum() < 50


def run_script(folder: Path, text: str, *arguments: str, timeout: float = 120.0) -> str:
    """What a script prints, in a Python of its own."""
    script = folder / "script.py"
    script.write_text(text)
    here = Path(__file__).resolve().parent.parent
    path = os.pathsep.join([str(here.parent), str(here), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, str(script), *arguments]
    out = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, cwd=folder)
    assert out.returncode == 0, out.stdout + out.stderr
    return out.stdout


FORK = """
import multiprocessing, os, pickle, signal, sys, threading, time
from concurrent.futures import ProcessPoolExecutor

def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
    projector, starts, sides, expected = pickle.load(open(sys.argv[1], "rb"))
    rows = lambda batch: [
        (r.q.tobytes(), r.status, r.iterations, r.restarts, r.residual, r.rhs.vector.tobytes()) for r in batch
    ]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        print(rows(projector.project_batch(starts, sides, pool)) == expected)
        done = []
        def tell(some, total):
            done.append(some)
            if len(done) == 3:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            projector.project_batch(starts.repeat(200, axis=0), None, pool, 20, tell)
        except KeyboardInterrupt:
            print("interrupted", done[-1] < 1000)
        began = time.perf_counter()
        print(rows(projector.project_batch(starts, sides, pool)) == expected, time.perf_counter() - began < 5.0)

main()
"""


@pytest.mark.program
def test_interruption_leaves_the_executor_usable(tmp_path: Path) -> None:
    """Ctrl-C in the middle of 600 chunks on forked processes: it propagates, what has not begun is cancelled, and the
    same executor then gives the bits of the single call."""
    data = tmp_path / "data.pickle"
    data.write_bytes(pickle.dumps((projector(), starts(), sides(), singles())))
    assert run_script(tmp_path, FORK, str(data)).split() == ["True", "interrupted", "True", "True", "True"]


def test_levels_rotations_and_traces_travel(processes: ProcessPoolExecutor) -> None:
    """Property 18: quaternions, two levels, traces kept, an optional last level."""
    robot = humanoid()
    hand = robot.joint_names[-1]
    problem = Problem(
        robot,
        [[Implicit.zero(Pose(robot, "rleg6_joint"), name="foot")], [Implicit.zero(Position(robot, hand), name="hand")]],
        optional_last=True,
    )
    p, given = Projector(problem, Options(trace=True, max_iterations=12)), robot.random(np.random.default_rng(0), 12)
    expected = [p.project(q) for q in given]
    for batch in (p.project_batch(given), p.project_batch(given, executor=processes, chunk=5)):
        assert answers(batch) == [answer(r) for r in expected]
        for row, single in zip(batch, expected, strict=True):
            assert [(s.q.tobytes(), s.residual, s.restarted) for s in row.trace or ()] == [
                (s.q.tobytes(), s.residual, s.restarted) for s in single.trace or ()
            ]


@pytest.mark.parametrize("form", ["one", "vector"])
def test_one_right_hand_side_for_all_rows(processes: ProcessPoolExecutor, form: str) -> None:
    """Property 18: a RightHandSide, or its flat vector, here and in processes."""
    rhs = sides()[7]
    expected = [answer(projector().project(q, rhs)) for q in starts()]
    given = rhs if form == "one" else rhs.vector.tolist()
    assert answers(projector().project_batch(starts(), given)) == expected
    assert answers(projector().project_batch(starts(), given, processes)) == expected


@pytest.mark.parametrize("each", [False, True])
def test_references_of_nearest(processes: ProcessPoolExecutor, each: bool) -> None:
    """Property 18: one reference for all rows, or one a row, here and in processes; a bad one is named."""
    robot = arm()
    p = Projector(Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.1, 0.5])]), Options(nearest=True))
    Q, near = robot.random(_rng(), 8), robot.random(np.random.default_rng(1), 8)
    expected = [p.project(q, near=n if each else near[0]) for q, n in zip(Q, near, strict=True)]
    for pool in (None, processes):
        batch = p.project_batch(Q, executor=pool, chunk=3, near=near if each else near[0])
        assert answers(batch) == [answer(r) for r in expected]
        assert [r.refined and r.refined.stationarity for r in batch] == [
            r.refined and r.refined.stationarity for r in expected
        ]
    assert "yet" not in repr(batch)
    short = Projector(p.problem, Options(nearest=True, refine_iterations=1)).project_batch(Q)
    left = sum("not the nearest yet" in str(r) for r in short)
    assert left > 0
    assert repr(short).endswith(f"; {left} not the nearest yet)")
    near[5, 2] = np.inf
    with pytest.raises(errors.NotFiniteError, match="row 5 of near"):
        p.project_batch(Q, near=near)
    with pytest.raises(errors.SizeError, match="one for each of the 8 rows"):
        p.project_batch(Q, near=near[:5])
    with pytest.raises(errors.OptionError, match="nearest"):
        projector().project_batch(starts(), near=starts())


def test_defaults_and_other_numbers_are_taken() -> None:
    """Integers, float32 and lists are starts like any; the right-hand sides of the constraints are the default."""
    robot = arm()
    p = Projector(Problem(robot, [Implicit.equal(Position(robot, "tool"), [0.4, 0.1, 0.5])]))
    for Q in ([[0] * 7, [1] * 7], np.zeros((2, 7), dtype=np.float32), np.asfortranarray(robot.random(_rng(), 3))):
        expected = [answer(p.project(np.array(q, dtype=np.float64))) for q in np.asarray(Q)]
        assert answers(p.project_batch(Q)) == expected


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


# The value


def test_the_value() -> None:
    """Arrays, read-only; counts, rows, a readable repr; it pickles; inputs are not changed and not kept."""
    Q = starts().copy()
    batch = projector().project_batch(Q, sides())
    assert Q.tobytes() == starts().tobytes()
    Q[:] = 0.0
    assert answers(batch) == singles()
    for array in (batch.q, batch.status, batch.iterations, batch.residual, batch.restarts, batch.seconds):
        assert len(array) == len(batch) == 60
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    assert sum(batch.counts.values()) == 60
    assert batch.counts[Status.CONVERGED] == int(batch.success.sum())
    assert repr(batch.counts).startswith(f"{{Status.CONVERGED: {int(batch.success.sum())}, Status.")
    assert eval(repr(batch.counts), {"Status": Status}) == batch.counts
    assert (batch.success == (batch.status == Status.CONVERGED)).all()
    assert repr(batch).startswith(f"ProjectionBatch(60 rows: {int(batch.success.sum())} CONVERGED, ")
    assert "largest residual of a success" in repr(batch)
    assert (batch.residual[batch.success] <= 1e-4).all()
    assert batch[-1].describe() == projector().project(starts()[-1], sides()[-1]).describe()
    assert answer(batch[59]) == answer(batch[-1])
    assert batch[3].seconds > 0.0
    again: ProjectionBatch = pickle.loads(pickle.dumps(batch))
    assert answers(again) == singles()


def test_an_empty_batch(processes: ProcessPoolExecutor) -> None:
    for pool in (None, processes):
        batch = projector().project_batch(np.zeros((0, two_arms().nq)), executor=pool)
        assert len(batch) == 0
        assert batch.counts == {}
        assert repr(batch) == "ProjectionBatch(0 rows)"
        assert list(batch) == []
    none: tuple[Any, ...] = [], (), np.zeros((0, projector().problem.rhs.vector.size))  # one a row, of no row
    for sides in none:
        assert len(projector().project_batch(np.zeros((0, two_arms().nq)), sides)) == 0
    with pytest.raises(errors.SizeError, match="right-hand side"):
        projector().project_batch(np.zeros((1, two_arms().nq)), [])


# Bad input, before any work


class Counting(ThreadPoolExecutor):
    submitted = 0

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        self.submitted += 1
        return super().submit(*args, **kwargs)


def bad_rows() -> Iterator[tuple[Any, Any, type[Exception], str]]:
    robot, n = humanoid(), 5
    good = robot.random(_rng(), n)
    nan, norm = good.copy(), good.copy()
    nan[3, 9], norm[2, 3:7] = np.nan, [0.0, 0.0, 0.0, 1.01]
    nq = robot.nq
    yield nan, None, errors.NotFiniteError, "row 3 of Q"
    yield norm, None, errors.NotNormalizedError, "row 2 of Q"
    yield good[0], None, errors.SizeError, f"expected size (n, {nq}), received ({nq},)"
    yield good[:, :-1], None, errors.SizeError, "Q of"
    yield [], None, errors.SizeError, f"received (0,) (for no configurations, give np.zeros((0, {nq})))"
    yield [good[0].tolist(), [0.0]], None, errors.DtypeError, "Q:"
    yield good.astype(str), None, errors.DtypeError, "Q:"
    yield None, None, errors.DtypeError, "Q:"
    size = 10  # a pose and a position
    rhs = np.tile(np.r_[np.zeros(6), 1.0, np.zeros(3)], (n, 1))
    for change, error, words in (
        (np.nan, errors.NotFiniteError, "row 4 of rhs"),
        (0.5, errors.BatchRowError, "row 4 of rhs: right-hand side of 'foot'"),
    ):
        wrong = rhs.copy()
        wrong[4, 6] = change
        yield good, wrong, error, words
    wrong = rhs.copy()
    wrong[1, 8] = 1e-9
    yield good, wrong, errors.BatchRowError, "row 1 of rhs: right-hand side of 'hand'"
    yield good, rhs[:3], errors.SizeError, "one for each of the 5 rows"
    yield good, rhs[:, :-1], errors.SizeError, f"(5, {size})"
    yield good, rhs[0, :-1], errors.SizeError, "right-hand side"
    yield good, "text", errors.DtypeError, "rhs"
    yield good, [sides()[0]] * 5, errors.BatchRowError, "row 0 of rhs"
    yield good, sides()[0], errors.SpaceMismatchError, "right-hand side"
    yield good, [*sides()[:4], 3], errors.WrongObjectError, "row 4 of rhs"


@pytest.mark.parametrize("which", range(18))
def test_bad_rows_are_named_before_any_work(which: int) -> None:
    """Bad input: the row and what is wrong with it, and no chunk was begun."""
    Q, rhs, error, words = list(bad_rows())[which]
    robot = humanoid()
    foot = Implicit.equal(Pose(robot, "rleg6_joint"), name="foot")
    p = Projector(Problem(robot, [foot, Implicit.zero(Position(robot, robot.joint_names[-1]), name="hand")]))
    with Counting(1) as pool, pytest.raises(error) as caught:
        p.project_batch(Q, rhs, pool)
    assert isinstance(caught.value, ConstraintError)
    assert words in str(caught.value)
    assert pool.submitted == 0


def test_other_bad_arguments() -> None:
    p, Q = projector(), starts()[:3]
    for wrong in (3, "threads", ThreadPoolExecutor):
        with pytest.raises(errors.WrongObjectError, match="executor of a batch"):
            p.project_batch(Q, executor=wrong)  # pyright: ignore[reportArgumentType]
    for wrong in (0, -1, 2.0, True, "3"):
        with pytest.raises(errors.OptionError, match="chunk of a batch"):
            p.project_batch(Q, chunk=wrong)  # pyright: ignore[reportArgumentType]
    for wrong in (3, "bar"):
        with pytest.raises(errors.WrongObjectError, match="progress of a batch"):
            p.project_batch(Q, progress=wrong)  # pyright: ignore[reportArgumentType]
    row = sides()[0].vector.copy()
    row[:] = 9.0
    with pytest.raises(errors.BatchRowError) as caught:
        p.project_batch(Q, np.stack([sides()[0].vector, row, row]))
    assert caught.value.row == 1
    assert isinstance(caught.value.__cause__, errors.RightHandSideError | errors.NotNormalizedError)


# Progress


def test_progress_is_told_to_a_function(processes: ProcessPoolExecutor) -> None:
    for pool in (None, processes):
        told: list[tuple[int, int]] = []

        def tell(done: int, total: int, told: list[tuple[int, int]] = told) -> None:
            told.append((done, total))

        projector().project_batch(starts(), executor=pool, chunk=25, progress=tell)
        assert [total for _, total in told] == [60, 60, 60]
        assert told[-1][0] == 60
        assert {b - a for (a, _), (b, _) in zip([(0, 0), *told], told, strict=False)} == {25, 10}


def test_progress_as_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """tqdm on use; without it, the extra is named."""
    pytest.importorskip("tqdm")
    projector().project_batch(starts(), progress=True)
    assert "60/60" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(errors.MissingExtraError, match="parallel"):
        projector().project_batch(starts(), progress=True)


def test_a_progress_function_that_raises_ends_the_batch() -> None:
    """As an interruption does: chunks that have not begun are cancelled, and the executor works on."""

    def tell(done: int, total: int) -> None:
        raise ZeroDivisionError

    with Counting(1) as pool:
        with pytest.raises(ZeroDivisionError):
            projector().project_batch(starts(), executor=pool, chunk=1, progress=tell)
        began = time.perf_counter()
        assert pool.submit(int).result() == 0
        assert time.perf_counter() - began < 1.0


# Executors that fail, problems that do not travel


def _circle(act: Callable[[np.ndarray], Any] | None = None) -> Projector:
    """The unit circle; `act` is called first."""
    f = _Circle() if act is None else _Circle(act)
    return Projector(Problem(Rn(2), [Implicit.zero(Function.from_callable(f, Rn(2), Rn(1), name="circle"))]))


class _Circle:
    """q -> |q|^2 - 1, and a count of how often it was unpickled."""

    unpickled = 0

    def __init__(self, act: Callable[[np.ndarray], Any] = np.size) -> None:
        self.act = act

    def __call__(self, q: np.ndarray) -> float:
        self.act(q)
        return float(q @ q) - 1.0

    def __setstate__(self, state: dict[str, Any]) -> None:
        _Circle.unpickled += 1
        self.__dict__.update(state)


def _unpickled(_: int) -> tuple[int, int]:
    time.sleep(0.02)
    return os.getpid(), _Circle.unpickled


def _die(q: np.ndarray) -> None:
    if q[0] > 50.0 and multiprocessing.parent_process() is not None:
        os._exit(3)


def _divide(q: np.ndarray) -> float:
    return 1.0 / 0.0 if q[0] == 7.0 else 1.0


def _undefined(q: np.ndarray) -> None:
    if q[0] == 7.0:
        raise errors.UndefinedError("no value there")


class _Odd(Exception):
    """An exception that cannot be rebuilt from its pickle."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"odd {a} {b}")


def _raise_odd(q: np.ndarray) -> None:
    raise _Odd(1, 2)


def points(n: int = 30) -> np.ndarray:
    Q = _rng().uniform(0.5, 3.0, (n, 2))
    Q[17, 0] = 7.0
    return Q


def test_a_worker_unpickles_a_problem_once(processes: ProcessPoolExecutor) -> None:
    """Thirty chunks, two batches and two processes: one unpickling each at most."""
    p = _circle()
    before = dict(processes.map(_unpickled, range(8)))
    for _ in range(2):
        p.project_batch(points(), executor=processes, chunk=1)
    after = dict(processes.map(_unpickled, range(8)))
    assert max(after[pid] - before.get(pid, 0) for pid in after) == 1


def test_a_worker_keeps_few_problems() -> None:
    """The memory of a worker is bounded, and the problem that was used last stays."""
    jobs = [pickle.loads(pickle.dumps(_circle(functools.partial(np.add, i))._job)) for i in range(7)]
    expected = answers(_circle().project_batch(points()))
    for job in (*jobs, jobs[-1]):
        rows = job.run(workers.Task(0, points())).outcomes
        assert rows.q.tobytes() == b"".join(a[0] for a in expected)
    assert len(workers._READY) == workers.KEPT
    assert list(workers._READY)[-1] == jobs[-1]._digest


@pytest.mark.program
def test_a_dead_worker_is_a_typed_error() -> None:
    """A worker that dies ends the batch with what died, not with a hang; so does the next batch on the same pool."""
    Q = points()
    Q[4, 0] = 60.0
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(errors.ExecutorError, match=r"a worker of the executor died.*make a new one"):
            _circle(_die).project_batch(Q, executor=pool)
        with pytest.raises(errors.ExecutorError, match="died"):
            _circle(_die).project_batch(Q, executor=pool)


def test_executors_that_take_no_work() -> None:
    """Shut down before, or while chunks wait."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(errors.ExecutorError, match="shut down"):
        projector().project_batch(starts(), executor=pool)
    pool = ThreadPoolExecutor(1)

    def stop(done: int, total: int) -> None:
        pool.shutdown(wait=False, cancel_futures=True)

    with pytest.raises(errors.ExecutorError, match="cancelled"):
        projector().project_batch(starts().repeat(20, axis=0), executor=pool, chunk=10, progress=stop)


def test_a_problem_that_does_not_pickle(processes: ProcessPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads take it; processes say why not; with cloudpickle they take it too."""
    p = _circle(lambda q: None)
    expected = answers(p.project_batch(points()))
    with ThreadPoolExecutor(2) as pool:
        assert answers(p.project_batch(points(), executor=pool)) == expected
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "cloudpickle", None)
        with pytest.raises(errors.NotPicklableError, match=r"lambda.*importable"):
            p.project_batch(points(), executor=processes)
    pytest.importorskip("cloudpickle")
    assert answers(p.project_batch(points(), executor=processes)) == expected


@pytest.mark.parametrize("where", ["here", "thread", "process"])
def test_an_exception_of_a_function_is_that_of_the_single_call(processes: ProcessPoolExecutor, where: str) -> None:
    """A bug in a function of the user's is no failed row: it is raised as it is, with the row; the pool works on."""
    p = _circle(_divide)
    with ThreadPoolExecutor(1) as threads:
        pool = {"here": None, "thread": threads, "process": processes}[where]
        with pytest.raises(ZeroDivisionError) as caught:
            p.project_batch(points(), executor=pool, chunk=7)
        assert "in row 17 of the batch" in caught.value.__notes__
        assert len(p.project_batch(points()[:17], executor=pool)) == 17
    if where == "process":
        assert "_divide" in caught.value.__notes__[-1]
        with pytest.raises(errors.ExecutorError, match="odd 1 2"):
            _circle(_raise_odd).project_batch(points(), executor=processes)


def test_an_undefined_row_is_a_status(processes: ProcessPoolExecutor) -> None:
    """Where a function says it has no value, the row fails and the others do not."""
    projector = Projector(_circle(_undefined).problem, Options.local())
    for pool in (None, processes):
        batch = projector.project_batch(points(), executor=pool, chunk=10)
        assert batch.counts == {Status.CONVERGED: 29, Status.UNDEFINED: 1}
        assert batch[17].status is Status.UNDEFINED

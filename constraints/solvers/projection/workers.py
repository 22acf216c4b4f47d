"""Work sent elsewhere: a problem that travels once to each worker, chunks of rows, and an executor that runs them."""

from __future__ import annotations

import hashlib
import importlib
import pickle
import sys
import traceback
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import ConstraintError, ExecutorError, NotPicklableError
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...workspace import Pool, Workspace
from ..engine import Engine, Outcomes, Program, RowsInterrupted, SharedRows
from ..options import Options
from ..refinement import refined

Sides = RightHandSide | list[RightHandSide] | Vector | Matrix
"""Right-hand sides of rows: one for all, one a row, or the same as flat vectors (size,) or (n, size)."""

GUARD = 'spawned workers import the script: put its code under `if __name__ == "__main__":`'

KEPT = 4
"""Problems that a worker keeps ready; the one used longest ago goes first."""


class Task(NamedTuple):
    """A chunk of a batch: plain data.

    Attributes:
        start: index of its first row in the batch.
        Q: starts (n, nq).
        sides: right-hand sides, those of the constraints where None.
        near: references of `nearest`: one (nq,), one a row (n, nq), or None for the starts.
    """

    start: int
    Q: Matrix
    sides: Sides | None = None
    near: Vector | Matrix | None = None


class Chunk(NamedTuple):
    """What a chunk gave.

    Attributes:
        start: index of its first row in the batch.
        outcomes: row by row.
    """

    start: int
    outcomes: Outcomes


class Failure(NamedTuple):
    """An exception in a worker as data, because executors differ in what they do with one.

    Attributes:
        error: the exception, where it pickles.
        text: its traceback.
    """

    error: Exception | None
    text: str


@final
class Job:
    """A problem made ready to be solved here, that travels as bytes and is made ready again once a worker.

    In this process (threads) it is used as it is. Pickling it gives its digest and its bytes, made once; who receives
    them asks its own memory for the digest before it reads the bytes.

    Args:
        problem, options, engine: of the projector.
        program: what the engine made of them, refined; compiled if absent.

    Attributes:
        problem, options, engine: of the projector.
        solver: the engine that solves, which another one may leave the problem to.
        rows_a_task: how many rows are worth a task.
    """

    def __init__(self, problem: Problem, options: Options, engine: Engine, program: Program | None = None) -> None:
        self.problem, self.options, self.engine = problem, options, engine
        self._program = refined(engine, problem, options) if program is None else program
        self.solver = self._program.engine or engine
        self.rows_a_task = self._program.rows_a_task
        self._message: tuple[str, bytes] | None = None
        self._pool = Pool(Workspace)

    def make_ready(self) -> None:
        """What each worker would do first, and can read from the disk once it is done: kernels of batches."""
        self._program.shared(np.empty((0, self.problem.space.nq)), repeat(self.problem.rhs))

    def run(self, task: Task) -> Chunk:
        """Project every row of a chunk, in a workspace of this thread's own."""
        near: Any = task.near if is_by_row(task.near) else repeat(task.near)
        sides = _each(task.sides, self.problem, len(task.Q))
        workspace = self._pool.take()
        outcomes = self._program.run_many(task.Q, sides, workspace, near, task.start)
        self._pool.give(workspace)
        return Chunk(task.start, outcomes)

    def run_on_threads(self, Q: Matrix, sides: Sides, executor: Executor, count: int) -> Outcomes | None:
        """Project every row on threads that take rows from each other; None where this is not done.

        Args:
            Q, sides: as of a task.
            executor: of threads.
            count: how many of them.
        """
        rows = self._program.shared(Q, _each(sides, self.problem, len(Q)))
        if rows is None:
            return None
        futures, failures = list[Future[Failure | None]](), list[Failure]()
        try:
            for _ in range(count):
                with _ours(self):
                    futures.append(executor.submit(self._share, rows))
            for future in futures:
                with _ours(self):
                    failed = future.result()
                if failed is not None:
                    failures.append(failed)
        except BaseException:
            rows.stop()
            for future in futures:
                future.cancel()
            raise
        if failures:
            _raise(failures[0])
        workspace = self._pool.take()
        outcomes = rows.outcomes(workspace)
        self._pool.give(workspace)
        return outcomes

    def _share(self, rows: SharedRows) -> Failure | None:
        """What one thread does; an exception of a function as data."""
        workspace = self._pool.take()
        try:
            rows.work(workspace)
        except Exception as error:
            return Failure(error, traceback.format_exc())
        self._pool.give(workspace)
        return None

    @property
    def message(self) -> tuple[str, bytes]:
        """Digest and bytes.

        Raises:
            NotPicklableError: something in the problem does not pickle.
        """
        if self._message is None:
            data = _pickled((self.problem, self.options, self.engine))
            self._message = hashlib.sha256(data).hexdigest(), data
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        return _Received, self.message


@final
class _Received:
    """A job as it arrives in a worker: opened when it is first run, so that what fails there is reported from there."""

    __slots__ = ("_data", "_digest")

    def __init__(self, digest: str, data: bytes) -> None:
        self._digest, self._data = digest, data

    def run(self, task: Task) -> Chunk:
        """As `Job.run`."""
        job = _READY.pop(self._digest, None)
        if job is None:
            job = Job(*pickle.loads(self._data))
        _READY[self._digest] = job  # at the end: used last
        while len(_READY) > KEPT:
            _READY.pop(next(iter(list(_READY))), None)
        return job.run(task)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Received, (self._digest, self._data)


_READY: dict[str, Job] = {}
"""Of a worker: digest -> the problem made ready, a few of them. Results do not depend on it."""


def work(job: Job | _Received, task: Task) -> Chunk | Failure:
    """What a worker runs: a chunk, and its exceptions as data."""
    try:
        return job.run(task)
    except RowsInterrupted:
        raise KeyboardInterrupt from None  # without the rows: whoever asked for them is interrupted too
    except Exception as error:
        return Failure(error if _travels(error) else None, traceback.format_exc())


def dispatch(job: Job, tasks: Iterable[Task], executor: Executor, take: Callable[[Chunk], None]) -> None:
    """Run chunks on an executor, and take each as it comes back, in whatever order.

    Whatever ends it early (Ctrl-C, an exception of `take`) cancels the chunks that have not begun; the executor is
    left to its owner.

    Args:
        job: the problem.
        tasks: the chunks.
        executor: of any kind.
        take: given what each chunk gave, in this thread.

    Raises:
        ExecutorError: a worker died, the executor is shut down, or chunks were cancelled by others.
        NotPicklableError: the problem cannot be sent.
    """
    futures: list[Future[Chunk | Failure]] = []
    ended: SimpleQueue[Future[Chunk | Failure]] = SimpleQueue()  # as_completed would wait for ever for the cancelled
    try:
        for task in tasks:
            with _ours(job):
                futures.append(executor.submit(work, job, task))
            futures[-1].add_done_callback(ended.put)
        for _ in futures:
            with _ours(job):
                given = ended.get().result()
            if isinstance(given, Failure):
                _raise(given)
            else:
                take(given)
    except BaseException as error:
        if not isinstance(error.__cause__, BrokenExecutor):  # such a one is ending them itself: do not cross it
            for future in futures:
                future.cancel()
        raise


@contextmanager
def _ours(job: Job) -> Generator[None]:
    """Exceptions of an executor become ours."""
    try:
        yield
    except ConstraintError:
        raise  # the problem does not pickle, said while it was sent
    except CancelledError as error:
        raise ExecutorError(
            "the batch was cancelled: its executor was shut down, or its chunks were cancelled"
        ) from error
    except BrokenExecutor as error:
        raise ExecutorError(
            f"a worker of the executor died ({error}): {_without_guard()}out of memory, killed, or unable to start; an "
            "executor that lost a worker accepts no more work: make a new one"
        ) from error
    except Exception as error:
        _ = job.message  # raises if that is why
        if "bootstrapping phase" in str(error):  # a worker that imports the script, and comes by this line again
            raise ExecutorError(f"a worker ran the batch again when it started: {GUARD}") from error
        said = f"{type(error).__name__}: {error}"
        raise ExecutorError(f"the executor does not run the batch ({said}): was it shut down?") from error


def _without_guard() -> str:
    """The first suspect where workers died: a script that does its work when it is imported; empty for others."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        text = "" if path is None else Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return f"{path} has no `__main__` guard ({GUARD}); or " if text and "__main__" not in text else ""


def _raise(failure: Failure) -> None:
    """Raise what a function raised in a worker, as the single call would have."""
    if failure.error is None:
        raise ExecutorError(f"an exception in a worker that cannot be sent back:\n{failure.text}")
    if failure.error.__traceback__ is None:  # it came from another process
        failure.error.add_note(f"in a worker, where the traceback was:\n{failure.text}")
    raise failure.error


def _pickled(given: tuple[Any, ...]) -> bytes:
    """Bytes of a problem; functions of the main module or without a name go by value where cloudpickle is installed."""
    try:
        data = pickle.dumps(given, protocol=pickle.HIGHEST_PROTOCOL)
        if b"__main__" not in data:
            return data
    except Exception as error:
        data, reason = b"", error
    else:
        reason = None
    try:
        cloudpickle: Any = importlib.import_module("cloudpickle")
    except ImportError:
        cloudpickle = None
    if cloudpickle is not None:
        try:
            return cloudpickle.dumps(given, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            reason = reason or error
    if data:
        return data
    raise NotPicklableError(
        f"the problem cannot be sent to another process ({reason}): your functions must be importable there, defined "
        "at the top level of a module (no lambda, not inside a function); or use threads; or install cloudpickle"
    ) from reason


def _travels(error: Exception) -> bool:
    """Whether an exception survives pickling: some constructors do not take what they are given then."""
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False


def is_by_row(given: Any) -> bool:
    """Whether right-hand sides or references are one a row, not one for all."""
    return isinstance(given, list) or (isinstance(given, np.ndarray) and given.ndim == 2)


def _each(sides: Any, problem: Problem, n: int) -> Iterable[RightHandSide]:
    """Right-hand sides of this copy of the problem, one for each of n rows."""
    return map(problem.check_rhs, sides) if is_by_row(sides) else repeat(problem.check_rhs(sides), n)

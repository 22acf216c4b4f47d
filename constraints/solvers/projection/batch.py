"""Many configurations in one call: here, or spread over the workers of any executor."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import index
from types import NoneType
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, final, overload

import numpy as np
from numpy.typing import NDArray

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.frozen import read_only

from ...errors import OptionError, SizeError, WrongObjectError
from ...exports import from_above, from_extra
from ...keywords import FieldOf, can_be_called
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...words import counted
from ..engine import CODE_OF_STATUS, STATUS_OF_CODE, Engine, Outcomes, RowsInterrupted
from ..options import Options
from ..result import Verdict
from ..status import Status
from .batch_arguments import BatchRightHandSides, references_of, sides_of, starts_of
from .projection import Case, Projection
from .workers import Chunk, Job, Sides, Task, dispatch, is_by_row

if TYPE_CHECKING:
    from ...certificates.certificate import Certificate

Progress = bool | Callable[[int, int], object]
"""True for a bar by tqdm, or who is told how many rows are done, and of how many."""

CHUNKS, LARGEST_CHUNK = 32, 1000
"""Without `chunk`, a batch is cut in that many parts, of at most so many rows; in fewer where rows cost little."""

Objects = NDArray[np.object_]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ProjectionBatch(Verdict):
    """Results of projecting many configurations: arrays, row i for start i. Read-only.

    `batch[i]` and iteration give a row as a `Projection`; it is bit for bit the result of `Projector.project` (except
    for the time). `batch[2:5]`, `batch[~batch.success]` and `batch[[0, 3]]` are batches of some rows. A
    batch is neither true nor false: use `success.all()`, or `len(batch) == 0`.

    Attributes:
        problem, options, engine: as given to the projector.
        starts: the given configurations (n, nq).
        outcomes: results, row by row; most of its fields are properties too.
    """

    problem: Problem
    options: Options
    engine: Engine
    _sides: Sides
    starts: Matrix
    _near: Vector | Matrix | None
    outcomes: Outcomes

    q = FieldOf[Matrix](
        "outcomes.q", "Configurations (n, nq): solutions, or for failures the iterates of least residual."
    )

    @cached_property
    def status(self) -> Objects:
        """Why each row ended (n,), members of `Status`; `batch.status == Status.STALLED` is a mask."""
        return read_only(STATUS_OF_CODE[self.outcomes.codes])

    iterations = FieldOf[Indices]("outcomes.iterations", "Number of iterations of each row (n,).")
    restarts = FieldOf[Indices]("outcomes.restarts", "Number of restarts of each row (n,).")
    residual = FieldOf[Vector]("outcomes.residual", "Largest error norm of a constraint (n,).")
    seconds = FieldOf[Vector]("outcomes.seconds", "Computing time of each row [s] (n,).")

    @property
    def success(self) -> BoolVector:
        """(n,) true for the rows that satisfy all constraints within their bounds."""
        return self.outcomes.codes == CODE_OF_STATUS[Status.CONVERGED]

    @property
    def counts(self) -> dict[Status, int]:
        """Number of rows with each status that occurs."""
        counts = np.bincount(self.outcomes.codes, minlength=len(Status)).tolist()
        return {status: count for status, count in zip(Status, counts, strict=True) if count}

    def rhs(self, row: SupportsIndex) -> RightHandSide:
        """The right-hand sides of a row.

        Raises:
            SizeError: no such row.
            WrongObjectError: something that is no row.
        """
        sides, i = self._sides, self._row(row)
        if isinstance(sides, RightHandSide):
            return sides
        return self.problem.check_rhs(sides[i])

    def certify(self) -> tuple[Certificate, ...]:
        """Prove of each row that an exact solution is near it, as `Projection.certify`: many at once cost less."""
        own = is_by_row(self._sides) or not len(self)
        sides = [self.rhs(i) for i in range(len(self))] if own else self.rhs(0)
        return from_above("certify_batch")(self.problem, self.q, sides)

    def __len__(self) -> int:
        return len(self.q)

    def __iter__(self) -> Iterator[Projection]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, row: SupportsIndex) -> Projection: ...

    @overload
    def __getitem__(self, row: slice | Sequence[int] | Indices | BoolVector) -> ProjectionBatch: ...

    def __getitem__(self, row: Any) -> Projection | ProjectionBatch:
        """A row as a Projection; rows of a slice, a mask (n,) or a list of indices as a batch.

        Raises:
            SizeError: no such row, or a mask of another length.
            WrongObjectError: something else.
        """
        if not hasattr(row, "__index__") or getattr(row, "ndim", 0):
            return self._part(self._rows(row))
        i, near = self._row(row), cast("Any", self._near)
        near = near[i] if is_by_row(near) else near
        case = Case(self.problem, self.rhs(i), self.options, self.starts[i], near, self.engine)
        return Projection(case, self.outcomes.get(i), float(self.seconds[i]))

    def _part(self, rows: Indices) -> ProjectionBatch:
        """A batch of some rows."""
        sides, starts, near = (_some(given, rows) for given in (self._sides, self.starts, self._near))
        return replace(self, _sides=sides, starts=starts, _near=near, outcomes=self.outcomes.some(rows))

    def _rows(self, given: Any) -> Indices:
        """Indices of rows, from a slice, a mask or a list."""
        if isinstance(given, slice):
            return np.arange(len(self))[given]
        array: NDArray[Any] = np.asarray(given)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iub"):
            expected = "a whole number, a slice, a mask (n,) or a list of whole numbers"
            raise WrongObjectError("row of a batch", expected, given)
        if array.dtype.kind == "b":
            if array.size != len(self):
                raise SizeError("mask of a batch", len(self), array.size, "one entry per row")
            return np.flatnonzero(array)
        return np.array([self._row(i) for i in array.tolist()], dtype=np.intp)

    def _row(self, row: SupportsIndex) -> int:
        try:
            i = index(row)
        except TypeError:
            raise WrongObjectError("row of a batch", "a whole number", row) from None
        if not -len(self) <= i < len(self):
            raise SizeError("row of a batch", f"below {len(self)}", i)
        return i % len(self)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {status.name}" for status, count in self.counts.items())
        spent = int(np.count_nonzero((self.iterations >= self.options.max_iterations) & ~self.success))
        most = counted(self.options.max_iterations, "iteration")
        used = f"; {counted(spent, 'failure')} used all {most}" if spent else ""
        worst = self.residual[self.success].max(initial=0.0)
        solved = f"; largest residual of a success {worst:.3g}" if self.success.any() else ""
        left = Counter(r.left(self.options.refine_tolerance) for r in self.outcomes.refined if r is not None)
        solved += "".join(f"; {count} {words}" for words, count in left.items() if words)
        return f"ProjectionBatch({counted(len(self), 'row')}{': ' if counts else ''}{counts}{used}{solved})"


@final
class BatchInterrupted(KeyboardInterrupt):
    """Ctrl-C in a batch: a KeyboardInterrupt that has the rows that were done.

    Args:
        batch: the rows that were done, each with the bits of the single call.
        rows: their numbers in the whole batch.
        total: how many rows that had.

    Attributes:
        batch, rows: as given.
    """

    def __init__(self, batch: ProjectionBatch, rows: Indices, total: int) -> None:
        super().__init__(
            f"{len(rows)} of {counted(total, 'row')} were done: `except KeyboardInterrupt as stop:` has them as "
            "`stop.batch`, and their numbers as `stop.rows`"
        )
        self.batch, self.rows = batch, rows


def project_batch(
    job: Job,
    Q: ArrayLike,
    rhs: BatchRightHandSides | None = None,
    executor: Executor | None = None,
    chunk: int | None = None,
    progress: Progress | None = None,
    near: ArrayLike | None = None,
) -> ProjectionBatch:
    """What `Projector.project_batch` does, with the projector's problem made ready.

    Args:
        job: the problem made ready.
        Q, rhs, executor, chunk, progress, near: as there.
    """
    job.options.without_clock("of a batch")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongObjectError("progress of a batch", "True, False, or a function of (done, total)", progress)
    if callable(progress) and not can_be_called(progress, 0, 0):
        raise WrongObjectError("progress of a batch", "a function of two arguments, (done, total)", progress)
    expect(executor, (Executor, NoneType), "executor of a batch", "a concurrent.futures.Executor, or None")
    problem = job.problem
    starts = starts_of(problem.space, Q)
    n = len(starts)
    sides = sides_of(problem, rhs, n)
    references = None if near is None else references_of(problem.space, near, n)
    size = _chunk(chunk, n, executor, progress, job.rows_a_task)
    if isinstance(executor, ThreadPoolExecutor) and chunk is None and not progress and near is None:
        found = job.run_on_threads(starts, sides, executor, _threads(n, job.rows_a_task))
        if found is not None:
            return ProjectionBatch(problem, job.options, job.solver, sides, read_only(starts), None, found.closed())
    plain = sides if executor is None else _flat(sides, problem)
    tasks = [
        Task(rows.start, *(_some(given, rows) for given in (starts, plain, references)))
        for rows in (slice(i, i + size) for i in range(0, n, size))
    ]
    read_only(starts)
    whole = partial(ProjectionBatch, problem, job.options, job.solver, sides, starts, references)
    try:
        with reporting(progress, n) as report:
            found = _done(job, tasks, executor, report) if tasks else Outcomes.empty(n, problem.space.nq)
    except RowsInterrupted as stop:
        every = Outcomes.empty(n, problem.space.nq)
        every.fill(stop.rows, stop.outcomes)
        raise BatchInterrupted(whole(every.closed())[list[int](stop.rows.tolist())], stop.rows, n) from None
    return whole(found.closed())


def _done(job: Job, tasks: Sequence[Task], executor: Executor | None, report: Callable[[int], None]) -> Outcomes:
    """What all tasks gave, those of one without another copy.

    Raises:
        RowsInterrupted: Ctrl-C.
    """
    if executor is None and len(tasks) == 1:
        outcomes = job.run(tasks[0]).outcomes
        report(len(outcomes.q))
        return outcomes
    last = tasks[-1]
    found = Outcomes.empty(last.start + len(last.Q), last.Q.shape[1])
    done = np.zeros(len(found.q), dtype=np.bool_)

    def take(part: Chunk) -> None:
        found.take(part.start, part.outcomes)
        done[part.start : part.start + len(part.outcomes.q)] = True
        report(len(part.outcomes.q))

    at = 0
    try:
        if executor is None:
            for task in tasks:
                at = task.start
                take(job.run(task))
        else:
            job.make_ready()
            dispatch(job, tasks, executor, take)
    except KeyboardInterrupt as stop:
        if isinstance(stop, RowsInterrupted):
            found.fill(at + stop.rows, stop.outcomes)
            done[at + stop.rows] = True
        rows = np.flatnonzero(done)
        raise RowsInterrupted(rows, found.some(rows)) from stop
    return found


def _flat(sides: Sides, problem: Problem) -> Sides | None:
    """As plain data, which travels; None for what the problem has itself."""
    if isinstance(sides, RightHandSide):
        return None if sides is problem.rhs else sides.vector
    return np.stack([side.vector for side in sides]) if isinstance(sides, list) and sides else sides


def _some(given: Any, rows: slice | Indices) -> Any:
    """Those of some rows, where there is one a row."""
    if not is_by_row(given):
        return given
    whole: Any = given
    if isinstance(rows, slice):
        return whole[rows]
    return [whole[i] for i in rows.tolist()] if isinstance(given, list) else read_only(whole[rows])


def _chunk(chunk: int | None, n: int, executor: Executor | None, progress: Progress | None, least: int = 1) -> int:
    """Rows of a chunk; those that are chosen here have `least` rows or more, and their number is a power of two."""
    if chunk is None:
        if executor is None and not progress:
            return max(n, 1)
        chunks = CHUNKS
        while chunks > 1 and chunks * least > n:
            chunks //= 2  # two, four or eight workers get equal parts
        return max(1, min(-(-n // chunks), LARGEST_CHUNK))
    if not isinstance(chunk, int | np.integer) or isinstance(chunk, bool) or chunk < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionError(f"chunk of a batch: expected a whole number from 1, or None, got {chunk!r}")
    return int(chunk)


def _threads(n: int, least: int) -> int:
    """How many threads share n rows: as many as there are cores, of `least` rows or more."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, n // least))


@contextmanager
def reporting(progress: Progress | None, total: int, unit: str = "row") -> Generator[Callable[[int], None]]:
    """Who is told that some more rows are done."""
    if progress is None or progress is False:
        yield lambda _: None
    elif progress is True:
        with from_extra("tqdm", "parallel").tqdm(total=total, unit=unit) as bar:
            yield bar.update
    else:
        done = 0

        def tell(more: int) -> None:
            nonlocal done
            done += more
            progress(done, total)

        yield tell

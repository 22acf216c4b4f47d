"""Engines: what turns a problem into a program, and runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from liegroups import Space
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.frozen import read_only

from ..problem.problem import Problem
from ..robot import Robot
from ..rows.right_hand_side import RightHandSide
from ..rows.stack import Stack
from ..workspace import Workspace
from .evaluation import Evaluation, ValueReader
from .options import Options
from .status import Refined, Status, Step

if TYPE_CHECKING:
    from .division import DivisionProgram
    from .edges import EdgeProgram
    from .growth import GrowthProgram, Rules

new_tuple = cast("Any", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]
"""Makes a named tuple of its class and all its fields, in 0.2 us less than the class itself: once a projection."""


STATUS_OF_CODE: NDArray[np.object_] = np.array(tuple(Status), dtype=np.object_)
CODE_OF_STATUS = {status: code for code, status in enumerate(Status)}
"""Statuses of rows by number: 0 is the success."""


class Outcome(NamedTuple):
    """What a program gives back: plain data.

    Attributes:
        q: solution or best iterate (nq,).
        status: why it ended.
        iterations, restarts: how many.
        residual: largest error norm of a constraint at q.
        trace: the iterates, if asked for.
        refined: how the solution was refined, if it was.
    """

    q: Vector
    status: Status
    iterations: int
    restarts: int
    residual: float
    trace: Sequence[Step] | None
    refined: Refined | None = None


class Outcomes(NamedTuple):
    """What a program gives back of many rows: the fields of `Outcome`, and how long each took [s].

    Statuses are codes, places in `STATUS_OF_CODE`: numbers are compared and sent in a twentieth of the time of members.
    """

    q: Matrix
    codes: NDArray[np.int8]
    iterations: Indices
    restarts: Indices
    residual: Vector
    traces: list[Sequence[Step] | None]
    refined: list[Refined | None]
    seconds: Vector

    @staticmethod
    def empty(n: int, nq: int) -> Outcomes:
        """Room for n rows."""
        iterations, restarts = np.zeros((2, n), dtype=np.intp)
        residual, seconds = np.zeros((2, n))
        codes = np.zeros(n, dtype=np.int8)
        return Outcomes(np.zeros((n, nq)), codes, iterations, restarts, residual, [None] * n, [None] * n, seconds)

    def put(self, i: int, outcome: Outcome, seconds: float) -> None:
        """Write one row."""
        self.q[i], self.codes[i], self.residual[i] = outcome.q, CODE_OF_STATUS[outcome.status], outcome.residual
        self.iterations[i], self.restarts[i], self.seconds[i] = outcome.iterations, outcome.restarts, seconds
        self.traces[i], self.refined[i] = outcome.trace, outcome.refined

    def get(self, i: int) -> Outcome:
        """One row."""
        figures = int(self.iterations[i]), int(self.restarts[i]), float(self.residual[i])
        return Outcome(self.q[i], STATUS_OF_CODE.item(self.codes[i]), *figures, self.traces[i], self.refined[i])

    def take(self, start: int, part: Outcomes) -> None:
        """Write the rows of a part, from a row on."""
        rows = slice(start, start + len(part.q))
        every: Any = zip(self, part, strict=True)
        for mine, theirs in every:
            mine[rows] = theirs

    def fill(self, rows: Indices, part: Outcomes) -> None:
        """Write some rows."""
        every: Any = zip(self, part, strict=True)
        for mine, theirs in every:
            if isinstance(mine, list):
                for i, one in zip(rows.tolist(), theirs, strict=True):
                    mine[i] = one
            else:
                mine[rows] = theirs

    def closed(self) -> Outcomes:
        """The same rows, arrays read-only from now on."""
        every: Any = self
        for column in every:
            if not isinstance(column, list):
                read_only(column)
        return self

    def some(self, rows: Indices) -> Outcomes:
        """Some rows; arrays read-only."""
        every: Any = self
        columns: list[Any] = [[of[i] for i in rows] if isinstance(of, list) else read_only(of[rows]) for of in every]
        return Outcomes(*columns)


class RowsInterrupted(KeyboardInterrupt):
    """Ctrl-C while rows were projected.

    Args:
        rows: which were done (k,).
        outcomes: what came out of these, k rows.
    """

    def __init__(self, rows: Indices, outcomes: Outcomes) -> None:
        super().__init__()
        self.rows, self.outcomes = rows, outcomes


class SharedRows(ABC):
    """Rows of a batch that threads of one process take from each other: none waits while another has much to do."""

    @abstractmethod
    def work(self, workspace: Workspace) -> None:
        """Project rows that nobody has taken, until there are none; on any thread, in its own workspace."""

    @abstractmethod
    def stop(self) -> None:
        """Let nobody take another row."""

    @abstractmethod
    def outcomes(self, workspace: Workspace) -> Outcomes:
        """What came out, once all rows are done."""


class Source(NamedTuple):
    """Where a projection onto a leaf starts: what must hold there.

    Attributes:
        evaluation: of the constraints that must hold.
        rhs: their right-hand sides.
        limit: largest error norm of one of them.
    """

    evaluation: Evaluation
    rhs: RightHandSide
    limit: float


class LeafProgram(ABC):
    """A program that reads its right-hand sides itself, at a configuration that is on the leaf: all in one call."""

    @abstractmethod
    def run(self, leaf: Vector, q0: Vector, workspace: Workspace) -> tuple[Outcome, RightHandSide] | None:
        """Check the leaf, read right-hand sides there, project; None where one of the three did not succeed.

        Then the same in three steps says why.

        Args:
            leaf: configuration on the leaf, a float64 array, not checked.
            q0: start of the projection, likewise; neither is changed.
            workspace: memory of this worker.
        """


class Program(ABC):
    """A problem made ready to be solved many times. Immutable: what changes is in the workspace.

    Attributes:
        engine: whose program it is, where that is not the engine that was asked for one; None otherwise.
        checks_starts: whether `run` itself refuses a float64 vector (nq,) that is no point of the space, as
            `space.check` does; otherwise it gets points only.
        rows_a_task: how many rows of a batch are worth a task of an executor.
    """

    engine: Engine | None = None
    checks_starts: bool = False
    rows_a_task: int = 1

    @abstractmethod
    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """Project one configuration.

        Args:
            q0: start (nq,), checked (or not yet: `checks_starts`); not changed.
            rhs: right-hand sides, of this problem.
            workspace: memory of this worker.
            near: what `Options(nearest=True)` is near to (nq,), checked; the start if absent. Others leave it unread.
        """

    def run_many(
        self,
        Q: Matrix,
        sides: Iterable[RightHandSide],
        workspace: Workspace,
        nears: Iterable[Vector | None] = repeat(None),
        first: int = 0,
    ) -> Outcomes:
        """Project many configurations, each as `run` does, bit for bit; here one after the other.

        An exception of a function of the user's carries a note with the row.

        Args:
            Q: starts (n, nq), checked; not changed.
            sides: right-hand sides, one a row.
            workspace: as for `run`.
            nears: what each is near to, as for `run`.
            first: number of the first row, for that note.

        Raises:
            RowsInterrupted: Ctrl-C, which is seen within 0.3 s; it has the rows that were done.
        """
        outcomes, done = Outcomes.empty(*Q.shape), 0
        for i, (q0, rhs, near) in enumerate(zip(Q, sides, nears, strict=False)):  # sides and nears may have no end
            began = perf_counter()
            try:
                outcome = self.run(q0.copy(), rhs, workspace, near)
                outcomes.put(i, outcome, perf_counter() - began)
                done = i + 1
            except KeyboardInterrupt as stop:
                rows = np.arange(done)
                raise RowsInterrupted(rows, outcomes.some(rows)) from stop
            except Exception as error:
                error.add_note(f"in row {first + i} of the batch")
                raise
        return outcomes

    def shared(self, Q: Matrix, sides: Iterable[RightHandSide]) -> SharedRows | None:
        """Rows for threads to share, with arguments as of `run_many`; None where it is not that kind of program."""
        return None

    def from_leaf(self, source: Source | None, reader: ValueReader | None) -> LeafProgram | None:
        """This program on leaves of configurations; None where it is not that kind of program.

        Args:
            source: what must hold on the leaf, if anything.
            reader: reads the right-hand sides there; without one they are those of the problem.
        """
        return None

    def growth(self, rules: Rules) -> GrowthProgram | None:
        """This program in steps towards targets; None where it is not that kind of program.

        Args:
            rules: of the steps.
        """
        return None

    @cached_property
    def edges(self) -> EdgeProgram | None:
        """This program along edges; None where it is not that kind of program."""
        return None

    @cached_property
    def division(self) -> DivisionProgram | None:
        """This program between samples of paths; None where it is not that kind of program."""
        return None

    @abstractmethod
    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """One step from a configuration: clamp, resolve, step, resolve again; whatever it does to the error.

        Args:
            q0, rhs, workspace: as for `run`.

        Raises:
            UndefinedError: a function has no value there.
        """


class Engine(ABC):
    """Compiles problems to programs. The readable engine, in Python and numpy, is the reference for the others."""

    @abstractmethod
    def compile(self, problem: Problem, options: Options) -> Program:
        """A program for a problem."""

    def evaluation(self, where: Robot | Space, stack: Stack) -> Evaluation:
        """Evaluation of constraints: by their functions, unless the engine has a faster one.

        Args:
            where: the robot or space of the constraints.
            stack: the constraints.
        """
        return Evaluation(where, stack)

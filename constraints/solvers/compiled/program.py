"""Programs of the compiled engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from itertools import islice, repeat
from time import perf_counter
from typing import Any, TypeVar, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...workspace import Workspace
from ..division import DivisionProgram
from ..edges import EdgeProgram
from ..engine import LeafProgram, Outcome, Outcomes, Program, RowsInterrupted, SharedRows, Source, new_tuple
from ..evaluation import ValueReader
from ..growth import GrowthProgram, Rules
from ..kernels.loading import entrances
from ..machine import layout
from ..newton.computed_bodies import BringBack, ComputedBodies, Resumable
from ..newton.engine import NewtonEngine
from ..newton.program import NewtonProgram
from ..options import Options
from ..trace import Trace
from .calls import know_calls
from .division import CompiledDivision
from .edges import CompiledEdges
from .evaluation import CompiledEvaluation
from .growth import CompiledGrowth
from .leaf import CompiledLeaf
from .packing import NotPacked
from .problem import Packed, packed
from .statuses import CODES, STATUSES

_log = logging.getLogger(__package__)
_T = TypeVar("_T")

ROWS_A_TASK = 128
"""A task costs 0.1 ms beside its rows, mostly with the interpreter's lock; a row of an arm 0.01 ms."""
FIRST_ROWS, DOFS = 16, 200
"""The first call of a batch has that many rows, fewer where they have more dofs together than that."""
CALL = 0.05
"""Time of a call of a batch [s], between which Ctrl-C is seen: one has as many rows as should take half of it."""
GROWTH = 0.5, 32.0
"""A call has at least and at most so many times the rows of the one before, which may have been easy ones."""
LANE_MEMORIES = 3
"""Memories in lanes that a worker has: of projections on their way, of starts, and of what restarts draw."""


def compiled(problem: Problem, options: Options) -> Program:
    """The program of a problem: of the compiled engine where it can be packed, of the readable one otherwise."""
    try:
        return CompiledProgram(problem, options, ComputedBodies(problem, options.threshold) or None)
    except NotPacked as reason:
        _log.info("solved by the readable engine: %s", reason)
        readable = NewtonEngine()
        program = readable.compile(problem, options)
        program.engine = readable
        return program


def _strict(problem: Problem, options: Options) -> Resumable:
    """A program that takes what it is given as it is."""
    try:
        return CompiledProgram(problem, options)
    except NotPacked:
        return NewtonProgram(problem, options)


@final
class _Memory:
    """What a worker writes into: a copy of the packed memory, the state in it, the right-hand sides that it has."""

    __slots__ = ("_lanes", "_packed", "_places", "_sides", "_whole", "rhs", "state", "where", "work")

    def __init__(self, packed: Packed, places: Callable[..., Any]) -> None:
        integers, floats, work, _ = packed
        self.work = work.copy()
        self._whole = integers, floats, self.work  # held: `where` has their addresses only
        self.where, self._places, self._packed = places(*self._whole), places, packed
        self._lanes: Any = None
        state, sides = int(integers[layout.STATE]), int(integers[layout.RHS])
        self.state = self.work[state : state + layout.STATE_SIZE]
        self._sides = self.work[sides : sides + int(integers[layout.RHS_SIZE])]
        self.rhs: RightHandSide | None = None

    @property
    def where_many(self) -> Any:
        """`where`, then memory in lanes, for the first batch made."""
        if self._lanes is None:
            made = entrances().in_lanes(self._packed.work, LANE_MEMORIES)
            self._lanes = self._places(*self._whole, *made), made
        return self._lanes[0]

    def raise_stopped(self) -> None:
        """Raise what stopped the kernels in it, in lanes too; it is as new then."""
        try:
            self._packed.raise_stopped(self.work)
            for one in () if self._lanes is None else self._lanes[1]:
                self._packed.raise_stopped(one.reshape(self.work.size, -1)[:, 0])
        except BaseException:
            self.rhs = self._lanes = None
            raise

    def take(self, rhs: RightHandSide | None) -> None:
        """Right-hand sides for the calls to come, where they are others; None where these bring their own."""
        self.rhs = rhs
        if rhs is not None:
            self._sides[:] = rhs.vector


@final
class CompiledProgram(Resumable):
    """A packed problem.

    Args:
        problem: what is solved.
        options: how.
        leaving: computed bodies that are brought back where a solution has one out of its bounds.

    Raises:
        NotPacked: something that the compiled engine does not solve.
    """

    checks_starts = True
    rows_a_task = ROWS_A_TASK

    def __init__(self, problem: Problem, options: Options, leaving: ComputedBodies | None = None) -> None:
        self.problem, self.options = problem, options
        self._packed = packed(problem, options, leaving)
        kernels = entrances()
        self._project, self._places = kernels.project_row, kernels.places
        integers = self._packed.integers
        self._begin, self._traced = int(integers[layout.Q_NOW]), int(integers[layout.TRACE])
        self._nq = problem.space.nq
        self._last: tuple[Workspace | None, Any] = None, None  # memory of the last workspace: 0.2 us to find it
        self._bring_back: BringBack | None = None
        self._calls = self._packed.calls
        if self._calls is not None:
            know_calls(problem, self._calls)
        if leaving is not None:
            evaluation = CompiledEvaluation(problem.robot or problem.space, problem.constraints)
            strict = partial(_strict, options=options)
            self._bring_back = BringBack(problem, options, leaving, strict, evaluation)

    def run(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, near: Vector | None = None) -> Outcome:
        """As `Program.run`."""
        last, memory = self._last
        if workspace is not last:
            memory = workspace.resource(self, "memory", _Memory, self._packed, self._places)
            self._last = workspace, memory
        if rhs is not memory.rhs:
            memory.take(rhs)
        end, calls = np.empty(self._nq), self._calls
        began = None if calls is None else calls.begun()
        try:
            status, iterations, restarts, residual = self._project(memory.where, q0, end)
        except TypeError:  # a start that is read-only, or in pieces: kernels have one signature
            return self.run(np.array(q0), rhs, workspace)
        if calls is not None and began is not None:
            calls.ended(began, self.problem)
        if status >= layout.NO_POINT:
            memory.raise_stopped()
            self.problem.space.check(q0, "q")  # says why it is no point
        trace = self._trace(memory) if self._traced else None
        found: Outcome = new_tuple(Outcome, (end, STATUSES[status], iterations, restarts, residual, trace, None))
        return self._inside(found, q0, rhs, workspace) if status == layout.OUT_OF_BOUNDS else found

    def _inside(self, found: Outcome, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Outcome:
        """Go on from a solution out of bounds, as `BringBack.inside`, where that is done at all."""
        return found if self._bring_back is None else self._bring_back.inside(found, q0, rhs, workspace)

    def from_leaf(self, source: Source | None, reader: ValueReader | None) -> LeafProgram | None:
        """As `Program.from_leaf`; not with `trace`."""
        if self._traced:
            return None
        return CompiledLeaf.of(self._packed, self.problem.rhs, self._inside, source, reader)

    def growth(self, rules: Rules) -> GrowthProgram | None:
        """As `Program.growth`; not with `trace`."""
        return self._moving(partial(CompiledGrowth, rules=rules))

    @cached_property
    def edges(self) -> EdgeProgram | None:
        """As `Program.edges`; not with `trace`."""
        return self._moving(CompiledEdges)

    @cached_property
    def division(self) -> DivisionProgram | None:
        """As `Program.division`; not with `trace`."""
        return self._moving(CompiledDivision)

    def _moving(self, make: Callable[[Problem, Packed], _T]) -> _T | None:
        """A kernel that moves between configurations; None where a group is not packed, or iterates are traced."""
        if self._traced:
            return None
        try:
            return make(self.problem, self._packed)
        except NotPacked:
            return None

    def _trace(self, memory: _Memory) -> Trace:
        """The iterates that a projection wrote down."""
        nq, begin = self._nq, self._traced
        count = int(memory.state[layout.TRACED])
        return Trace(memory.work[begin : begin + count * (nq + 2)].copy(), nq)

    def run_many(
        self,
        Q: Matrix,
        sides: Iterable[RightHandSide],
        workspace: Workspace,
        nears: Iterable[Vector | None] = repeat(None),
        first: int = 0,
    ) -> Outcomes:
        """As `Program.run_many`, in few calls; each row is said to have taken an equal part of the time.

        With `trace` row by row.
        """
        if self._traced:
            return super().run_many(Q, sides, workspace, nears, first)
        rows = _Rows(self, Q, sides)
        try:
            rows.work_alone(workspace)
            return rows.outcomes(workspace)
        except KeyboardInterrupt as stop:
            raise rows.interrupted() from stop
        except Exception as error:
            rows.note(error, first)
            raise

    @property
    def brings_back(self) -> bool:
        """Whether rows that end out of bounds are gone on from."""
        return self._bring_back is not None

    def shared(self, Q: Matrix, sides: Iterable[RightHandSide]) -> SharedRows | None:
        """As `Program.shared`; not with `trace`."""
        return None if self._traced else _Rows(self, Q, sides)

    def project_shared(self, workspace: Workspace, *arrays: Any) -> None:
        """Run the kernel on rows that threads may share: `arrays` are its other arguments."""
        memory = workspace.resource(self, "memory", _Memory, self._packed, self._places)
        memory.take(None)
        where, calls, project_many = memory.where_many, self._calls, entrances().project_rows
        if calls is None:
            project_many(where, *arrays)
            return
        began = calls.begun()
        project_many(where, *arrays)
        calls.ended(began, self.problem)
        memory.raise_stopped()

    def brought_back(
        self, outcomes: Outcomes, rows: Indices, Q: Matrix, sides: Sequence[RightHandSide], workspace: Workspace
    ) -> None:
        """Go on from rows out of bounds, as `BringBack.all_inside`, where that is done at all."""
        if self._bring_back is not None:
            self._bring_back.all_inside(outcomes, rows, Q, sides, workspace)

    def resume(self, q0: Vector, rhs: RightHandSide, workspace: Workspace, before: Outcome) -> Outcome:
        """As `Resumable.resume`."""
        memory = workspace.resource(self, "memory", _Memory, self._packed, self._places)
        state = memory.state
        memory.work[self._begin : self._begin + q0.size] = before.q
        state[layout.ITERATIONS], state[layout.TRIES] = before.iterations, before.restarts
        state[layout.RESUMED] = 1.0
        found = self.run(q0, rhs, workspace)
        state[layout.RESUMED] = 0.0
        return found if found.trace is None else found._replace(trace=(*(before.trace or ()), *found.trace))

    def step(self, q0: Vector, rhs: RightHandSide, workspace: Workspace) -> Vector:
        """As `Program.step`, by the readable engine."""
        return NewtonEngine().compile(self.problem, self.options).step(q0, rhs, workspace)


@final
class _Rows(SharedRows):
    """Rows of a batch; all arrays are those of the kernel, which fills them.

    Args:
        program: of the problem.
        Q: starts (n, nq).
        sides: right-hand sides, one a row, or one without end.
    """

    def __init__(self, program: CompiledProgram, Q: Matrix, sides: Iterable[RightHandSide]) -> None:
        kernels = entrances()
        kernels.project_rows  # where it is to be compiled, that is done here, and once  # noqa: B018
        self._program, self._began = program, perf_counter()
        self._sides = list(islice(sides, 1) if isinstance(sides, repeat) else sides)
        self._next = np.zeros(1, dtype=np.int64)
        # Kernels have one signature: writeable, in one piece, row by row.
        self._starts = Q if Q.flags.carray else np.array(Q, order="C")
        size = program.problem.rhs.vector.size
        whole = np.array([side.vector for side in self._sides]).reshape(len(self._sides), size)
        self._found, self._figures = Outcomes.empty(*Q.shape), np.zeros((len(Q), 4))
        self._arrays = kernels.places(self._next), self._starts, whole, self._found.q, self._figures
        self._done = 0

    def work_alone(self, workspace: Workspace) -> None:
        """Project all rows on this thread, some a call: a kernel sees no Ctrl-C, what is between two calls does.

        Which rows a call has changes nothing of what comes out.
        """
        turn, starts, whole, ends, figures = self._arrays
        size, count = max(1, min(FIRST_ROWS, DOFS // max(starts.shape[1], 1))), len(starts)
        while self._done < count:
            some, began = slice(self._done, min(self._done + size, count)), perf_counter()
            self._next[0] = 0
            sides = whole[some] if len(whole) > 1 else whole
            self._program.project_shared(workspace, turn, starts[some], sides, ends[some], figures[some])
            self._done, spent = some.stop, perf_counter() - began
            growth = min(max(0.5 * CALL / spent, GROWTH[0]), GROWTH[1]) if spent > 0.0 else GROWTH[1]
            size = max(1, int(growth * size))

    def interrupted(self) -> RowsInterrupted:
        """The rows that were done when Ctrl-C came."""
        self._read(self._done)
        ended = np.arange(self._done)
        if self._program.brings_back:
            ended = ended[self._figures[ended, 0] != layout.OUT_OF_BOUNDS]
        return RowsInterrupted(ended, self._found.some(ended))

    def note(self, error: Exception, first: int) -> None:
        """Say in which row a function raised an exception.

        Args:
            error: the exception.
            first: number of the first row.
        """
        raised = np.flatnonzero(self._figures[:, 0] == layout.RAISED)
        if raised.size:
            error.add_note(f"in row {first + int(raised[0])} of the batch")

    def work(self, workspace: Workspace) -> None:
        """As `SharedRows.work`."""
        try:
            self._program.project_shared(workspace, *self._arrays)
        except Exception as error:
            self.stop()
            self.note(error, 0)
            raise

    def stop(self) -> None:
        """As `SharedRows.stop`."""
        self._next[0] = len(self._starts)

    def outcomes(self, workspace: Workspace) -> Outcomes:
        """As `SharedRows.outcomes`; each row is said to have taken an equal part of the time."""
        self._read(len(self._figures))
        outside = np.flatnonzero(self._figures[:, 0] == layout.OUT_OF_BOUNDS)
        self._program.brought_back(self._found, outside, self._starts, self._sides, workspace)
        return self._found

    def _read(self, count: int) -> None:
        """Read the figures of the first rows."""
        outcomes, figures = self._found, self._figures[:count]
        outcomes.codes[:count] = CODES[figures[:, 0].astype(np.intp)]
        outcomes.iterations[:count], outcomes.restarts[:count] = figures[:, 1], figures[:, 2]
        outcomes.residual[:count] = figures[:, 3]
        outcomes.seconds[:count] = (perf_counter() - self._began) / max(count, 1)

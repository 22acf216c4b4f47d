"""Projections onto the leaf of a configuration: checked and read by one kernel, projected by the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Vector

from ...rows.right_hand_side import RightHandSide
from ...workspace import Workspace
from ..engine import LeafProgram, Outcome, Source, new_tuple
from ..evaluation import Evaluation, ValueReader
from ..kernels.loading import entrances
from ..machine import layout
from .evaluation import CompiledEvaluation, EvaluationMemory
from .problem import Packed
from .statuses import STATUSES

Inside = Callable[[Outcome, Vector, RightHandSide, Workspace], Outcome]
"""What becomes of a solution that is out of bounds."""


class _Memory(NamedTuple):
    """What a worker writes into.

    Attributes:
        problem, where: addresses, the first arguments of `project_row` and of `on_leaf`.
        leaf: where the configuration of the leaf is written (nq,).
        sides: where its right-hand sides are then.
        held: what `where` has the addresses of.
        work: memory of the problem.
        others: memories of what is checked and read.
    """

    problem: Any
    where: Any
    leaf: Vector
    sides: Vector
    held: tuple[Any, ...]
    work: Vector
    others: tuple[EvaluationMemory, ...]


@final
class CompiledLeaf(LeafProgram):
    """A packed problem with what must hold on leaves, and with what reads right-hand sides there, packed too.

    A target of a constraint graph where nothing is left to solve takes 4.6 us by it, and 10.1 in single calls of Python
    that check, evaluate, read, and project.

    Args:
        packed: the problem.
        rhs: right-hand sides of the problem, of which some are read.
        inside: asked where a solution is out of bounds.
        source, reader: as for `Program.from_leaf`; evaluated by kernels.
    """

    def __init__(
        self, packed: Packed, rhs: RightHandSide, inside: Inside, source: Source | None, reader: ValueReader | None
    ) -> None:
        self._packed, self._rhs, self._inside, self._source, self._reader = packed, rhs, inside, source, reader
        kernels = entrances()
        self._project, self._on_leaf, self._places = kernels.project_row, kernels.on_leaf, kernels.places
        self._nq = int(packed.integers[layout.NQ])
        self._shape = (self._nq,)
        self._last: tuple[Workspace | None, Any] = None, None  # memory of the last workspace: 0.2 us to find it

    @staticmethod
    def of(
        packed: Packed, rhs: RightHandSide, inside: Inside, source: Source | None, reader: ValueReader | None
    ) -> CompiledLeaf | None:
        """One of these, or None where kernels do not do all of it."""
        unknown = source is not None and _memory_of(source.evaluation) is None
        unread = reader is not None and _table(reader) is None
        return None if unknown or unread else CompiledLeaf(packed, rhs, inside, source, reader)

    def run(self, leaf: Vector, q0: Vector, workspace: Workspace) -> tuple[Outcome, RightHandSide] | None:
        """As `LeafProgram.run`."""
        last, memory = self._last
        if workspace is not last:
            memory = workspace.resource(self, "memory", self._memory)
            self._last = workspace, memory
        if leaf.shape != self._shape or q0.shape != self._shape:
            return None
        memory.leaf[:] = leaf
        if not self._on_leaf(memory.where):
            for other in memory.others:
                other.raise_stopped()
            return None
        end = np.empty(self._nq)
        status, iterations, restarts, residual = self._project(memory.problem, q0, end)
        if status >= layout.NO_POINT:
            self._packed.raise_stopped(memory.work)
            return None
        rhs = self._rhs if self._reader is None else self._rhs.with_valid(memory.sides.copy())
        found: Outcome = new_tuple(Outcome, (end, STATUSES[status], iterations, restarts, residual, None, None))
        if status == layout.OUT_OF_BOUNDS:
            found = self._inside(found, q0, rhs, workspace)
        return found, rhs

    def _memory(self) -> _Memory:
        integers, floats, work, _ = self._packed
        problem = integers, floats, work.copy()
        source = None if self._source is None else _memory_of(self._source.evaluation, self._source.rhs)
        reader = None if self._reader is None else _memory_of(self._reader.evaluation)
        table = None if self._reader is None else _table(self._reader)
        asked = layout.HAS_SOURCE * (source is not None) + layout.HAS_READER * (reader is not None)
        parts = [problem if memory is None else memory.whole for memory in (source, reader)]  # of none: not looked at
        leaf = np.zeros(1 + self._nq)
        leaf[0] = 0.0 if self._source is None else self._source.limit
        held = *problem, *parts[0], *parts[1], np.array([asked, *(table or [])], dtype=np.int64), leaf
        sides = slice(integers[layout.RHS], integers[layout.RHS] + integers[layout.RHS_SIZE])
        others = tuple(memory for memory in (source, reader) if memory is not None)
        where = self._places(*problem), self._places(*held)
        return _Memory(*where, leaf[1:], problem[2][sides], held, problem[2], others)


def _memory_of(evaluation: Evaluation, rhs: RightHandSide | None = None) -> EvaluationMemory | None:
    """Memory of a worker for constraints; None where kernels do not evaluate them."""
    return evaluation.new_memory(rhs) if isinstance(evaluation, CompiledEvaluation) else None


def _table(reader: ValueReader) -> list[int] | None:
    """What is read, as `on_leaf` has it after its first entry; None where kernels do not give it."""
    evaluation = reader.evaluation
    if not isinstance(evaluation, CompiledEvaluation) or not evaluation.places.size:
        return None
    moved: list[int] = np.column_stack((evaluation.places[reader.entries], reader.to)).ravel().tolist()
    units = [number for block in reader.units for number in (block.start, block.stop - block.start)]
    return [len(reader.to), *moved, len(reader.units), *units]

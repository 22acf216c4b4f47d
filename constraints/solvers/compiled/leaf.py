"""Projections onto the leaf of a configuration: checked, read and projected in one call of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from liegroups.arrays import Vector

from ...rows.right_hand_side import RightHandSide
from ...workspace import Workspace
from ..engine import LeafProgram, Outcome, Source, new_tuple
from ..kernels import layout
from ..kernels.loading import entrances
from .evaluation import CompiledEvaluation, CompiledReader
from .problem import Packed
from .statuses import STATUSES

Inside = Callable[[Outcome, Vector, RightHandSide, Workspace], Outcome]
"""What becomes of a solution that is out of bounds."""


@final
class CompiledLeaf(LeafProgram):
    """A packed problem with what must hold on leaves, and with what reads right-hand sides there, packed too.

    A target of a constraint graph where nothing is left to solve takes half of the time that it takes step by step
    (see `docs/performance.md`): the rest was Python between calls.

    Args:
        packed: the problem.
        rhs: right-hand sides of the problem, of which some are read.
        inside: asked where a solution is out of bounds.
        source, reader: as for `Program.from_leaf`.
    """

    def __init__(
        self,
        packed: Packed,
        rhs: RightHandSide,
        inside: Inside,
        source: Source | None,
        reader: CompiledReader | None,
    ) -> None:
        self._packed, self._rhs, self._inside, self._source, self._reader = packed, rhs, inside, source, reader
        self._limit = 0.0 if source is None else source.limit
        self._asked = layout.HAS_SOURCE * (source is not None) + layout.HAS_READER * (reader is not None)
        self._project: Callable[..., Any] = entrances().project_from_leaf
        self._last: tuple[Workspace | None, Any] = None, None  # memory of the last workspace: 0.2 us to find it

    @staticmethod
    def of(
        packed: Packed, rhs: RightHandSide, inside: Inside, source: Source | None, reader: object
    ) -> CompiledLeaf | None:
        """One of these, or None where kernels do not do all of it."""
        if source is not None:
            evaluation = source.evaluation
            if not isinstance(evaluation, CompiledEvaluation) or evaluation.new_memory(source.rhs) is None:
                return None
        if reader is not None and (not isinstance(reader, CompiledReader) or reader.packed() is None):
            return None
        return CompiledLeaf(packed, rhs, inside, source, reader)

    def run(self, leaf: Vector, q0: Vector, workspace: Workspace) -> tuple[Outcome, RightHandSide] | None:
        """As `LeafProgram.run`."""
        last, where = self._last
        if workspace is not last:
            where = workspace.resource(self, "addresses", self._addresses)[0]
            self._last = workspace, where
        end, side = np.empty(q0.size), self._rhs.vector.copy()
        try:
            status, iterations, restarts, residual = self._project(where, self._asked, self._limit, leaf, q0, side, end)
        except TypeError:  # what is no vector, or in pieces
            return None
        if status == layout.NO_POINT:
            return None
        rhs = self._rhs if self._reader is None else self._rhs.with_valid(side)
        found: Outcome = new_tuple(Outcome, (end, STATUSES[status], iterations, restarts, residual, None, None))
        if status == layout.OUT_OF_BOUNDS:
            found = self._inside(found, q0, rhs, workspace)
        return found, rhs

    def _addresses(self) -> tuple[Any, ...]:
        """The first argument of `project_from_leaf` for a worker, and what it has the addresses of."""
        integers, floats, work = self._packed
        problem = integers, floats, work.copy()
        source, reader, table = problem, problem, integers  # where there is none: not looked at
        if self._source is not None and isinstance(self._source.evaluation, CompiledEvaluation):
            memory = self._source.evaluation.new_memory(self._source.rhs)
            source = source if memory is None else memory.whole
        if self._reader is not None:
            packed = self._reader.packed()
            (reader, table) = (reader, table) if packed is None else (packed[0].whole, packed[1])
        held = *problem, *source, *reader, table
        return entrances().places(*held), held

"""Problems on the leaf of a configuration: projectors with what reads their right-hand sides, prepared once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, partial
from typing import final

import numpy as np

from liegroups.arrays import Vector

from ..problem.problem import Problem
from ..robot import Robot
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from ..solvers import Engine, Options, Projector
from ..solvers.engine import LeafProgram, Source
from ..solvers.evaluation import Evaluation, ValueReader
from ..workspace import Workspace
from .foliation import Foliation, merge_foliations
from .memory import GraphMemory

Choice = Sequence[tuple[Foliation, Foliation]]
"""Foliations, each with the pair of surfaces that is chosen."""


@final
class Evaluations:
    """Evaluations of constraints by the engine of a graph: one for each list of them."""

    def __init__(self, robot: Robot, engine: Engine) -> None:
        self.robot, self.engine = robot, engine
        self._found: dict[tuple[int, ...], Evaluation] = {}

    def of(self, owners: Sequence[RowOwner]) -> Evaluation:
        """That of some constraints, in order."""
        key = tuple(map(id, owners))  # the evaluation keeps them alive
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self.engine.evaluation(self.robot, Stack(owners))
        return found


@final
class LeafReader:
    """Reads right-hand sides of some constraints of a problem where a configuration is.

    The values of all of them at once; of each value the entries that EQUALITY rows keep. The others are neutral in all
    right-hand sides.

    Attributes:
        entries: reads the entries that are kept.
        is_whole: whether they are all that is read.
    """

    def __init__(self, evaluations: Evaluations, stack: Stack, which: Sequence[int]) -> None:
        self._evaluation = evaluations.of([stack.owners[i] for i in which])
        kept, there, units = list[int](), list[int](), list[slice]()
        self._logarithms: list[tuple[RowOwner, slice, slice]] = []
        for i, block in zip(which, self._evaluation.stack.rhs_slices, strict=True):
            owner, to = stack.owners[i], stack.rhs_slices[i]
            if owner.kept is None:
                self._logarithms.append((owner, block, to))
                continue
            entries: list[int] = np.flatnonzero(owner.kept).tolist()
            kept += [block.start + k for k in entries]
            there += [to.start + k for k in entries]
            if entries:
                units += [slice(to.start + b.start, to.start + b.stop) for b in owner.group.unit_blocks]
        self.entries = ValueReader(
            self._evaluation, np.array(kept, dtype=np.intp), np.array(there, dtype=np.intp), units
        )
        self.is_whole = not self._logarithms

    def read(self, rhs: RightHandSide, q: Vector, workspace: Workspace) -> RightHandSide:
        """The same right-hand sides but for those that are read."""
        vector = rhs.vector.copy()
        self.entries.read(q, workspace, vector)
        if self._logarithms:
            values = self._evaluation.values(q, workspace)
            for owner, block, to in self._logarithms:
                vector[to] = owner.rhs_at_value(values[block])
        return rhs.with_valid(vector)


@final
class LeafProblem:
    """A problem with its projector, some of whose constraints have right-hand sides that say on which leaf.

    Args:
        evaluations: of the graph.
        owners: its constraints.
        options: of its projector.
        everywhere: those of them that are the same for all configurations: they keep their own right-hand sides.

    Attributes:
        problem: the problem.
    """

    def __init__(
        self,
        evaluations: Evaluations,
        owners: Sequence[RowOwner],
        options: Options,
        everywhere: Sequence[RowOwner] = (),
    ) -> None:
        self.problem = Problem(evaluations.robot, owners)
        self._evaluations, self._options = evaluations, options
        same = {id(owner) for owner in everywhere}
        varying = [(i, owner) for i, owner in enumerate(self.problem.constraints) if id(owner) not in same]
        self._free = tuple(i for i, owner in varying if np.any(owner.rows.free_rhs & owner.rows.mask))
        self._reader = cache(partial(LeafReader, evaluations, self.problem.constraints))
        self._places: dict[Stack, list[tuple[slice, slice]] | None] = {}

    @cached_property
    def projector(self) -> Projector:
        """What puts configurations onto it."""
        return Projector(self.problem, self._options, self._evaluations.engine)

    def rhs_at(self, q: Vector, workspace: Workspace, before: RightHandSide | None = None) -> RightHandSide:
        """Right-hand sides that put it on the leaf of a configuration.

        Args:
            q: configuration (nq,), checked.
            workspace: memory.
            before: those of a problem that has led to q: they are taken over where it has all constraints that vary.
        """
        rhs = self.problem.rhs
        if not self._free:
            return rhs
        taken = None if before is None else self._taken(before.stack)
        if before is None or taken is None:
            return self.read_at(rhs, q, self._free, workspace)
        vector = rhs.vector.copy()
        for here, there in taken:
            vector[here] = before.vector[there]
        return rhs.with_valid(vector)

    def read_at(self, rhs: RightHandSide, q: Vector, which: Sequence[int], workspace: Workspace) -> RightHandSide:
        """The same right-hand sides but for some constraints, at those positions, which are read at a configuration."""
        return self._reader(tuple(which)).read(rhs, q, workspace)

    def from_leaf(self, source: Source | None) -> LeafProgram | None:
        """What projects onto the leaf of a configuration in one call; None where the engine does not do that."""
        reader = self._reader(self._free) if self._free else None
        if reader is not None and not reader.is_whole:
            return None
        return self.projector.program.from_leaf(source, None if reader is None else reader.entries)

    def _taken(self, other: Stack) -> list[tuple[slice, slice]] | None:
        """Where right-hand sides that vary are here and in another problem; None where it has not all of them."""
        if other not in self._places:
            stack, there = self.problem.constraints, {id(o): s for o, s in zip(other, other.rhs_slices, strict=True)}
            wanted = [(stack.rhs_slices[i], there.get(id(stack.owners[i]))) for i in self._free]
            shared = [(here, place) for here, place in wanted if place is not None]
            self._places[other] = shared if len(shared) == len(wanted) else None
        return self._places[other]


@final
class ProblemFamily:
    """What some constraints ask for: one problem for each choice of surfaces, made when somebody needs it.

    Args:
        evaluations: of the graph.
        owners: the constraints, each once.
        foliations: those that may be concerned.
        options: of projectors.
        nothing: the constraint of a problem that has none.
        everywhere: as in `LeafProblem`.

    Attributes:
        owners, foliations: as given.
        chooses: whether there are surfaces to choose among.
    """

    def __init__(
        self,
        evaluations: Evaluations,
        owners: Sequence[RowOwner],
        foliations: Sequence[Foliation],
        options: Options,
        nothing: RowOwner,
        everywhere: Sequence[RowOwner],
    ) -> None:
        self.owners, self.foliations = owners, foliations
        self._evaluations, self._options, self._nothing = evaluations, options, nothing
        self._everywhere = everywhere
        self.chooses = any(foliation.variants for foliation in foliations)
        self._problems: dict[object, LeafProblem] = {}

    def at(self, q: Vector, memory: GraphMemory) -> LeafProblem:
        """The one with the pairs of surfaces that touch at a configuration."""
        return self.on(self.chosen(q, memory)) if self.chooses else self.whole

    @cached_property
    def whole(self) -> LeafProblem:
        """The one in which no surfaces are chosen."""
        return self.on([(foliation, foliation) for foliation in self.foliations])

    def chosen(self, q: Vector, memory: GraphMemory) -> Choice:
        """The foliations with the pairs of surfaces that touch at a configuration."""
        return [(f, f.at_point(memory.at(q)) if f.variants else f) for f in self.foliations]

    def on(self, chosen: Choice) -> LeafProblem:
        """The one with some pairs of surfaces."""
        key = tuple(one.pair for _, one in chosen)
        found = self._problems.get(key)
        if found is None:
            owners = merge_foliations(self.owners, chosen) or [self._nothing]
            found = self._problems[key] = LeafProblem(self._evaluations, owners, self._options, self._everywhere)
        return found

"""A whole problem with its options, packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from liegroups.arguments import with_article
from liegroups.arrays import Vector

from ...errors import UndefinedError
from ...functions.function import Function
from ...functions.translation import RightTranslation
from ...problem.problem import Problem
from ...rows.explicit import Explicit
from ...rows.row_owner import RowOwner
from ...rows.stack import Stack
from ..machine import layout
from ..newton.computed_bodies import ComputedBodies
from ..options import Options
from ..step_control import FullSteps
from .calls import Calls
from .functions import pack_copy, pack_function, pack_product, pack_translated
from .packing import Argument, Integers, NotPacked, PackedResult, Packer
from .search import SearchPacker
from .sparsity import products, profile, row_ranges, tiles

TRACE_SIZE = 10_000_000
"""Numbers that the iterates of a projection may take in memory."""


class Packed(NamedTuple):
    """A problem as kernels take it.

    Attributes:
        integers, floats: its tables and constants.
        work: the memory as a projection finds it; each worker has a copy.
        calls: what kernels call beside each other; None where there is nothing.
    """

    integers: Integers
    floats: Vector
    work: Vector
    calls: Calls | None = None

    def raise_stopped(self, work: Vector) -> None:
        """Raise what a function raised, or did, that stopped the kernels in a memory, which is then as new.

        Args:
            work: the memory of a worker.
        """
        if self.calls is None:
            return
        record = int(self.integers[layout.CALLS])
        if work[record + layout.STOPPED] != 0.0:
            code, culprit = int(work[record + layout.CODE]), int(work[record + layout.CULPRIT])
            work[:] = self.work
            raise self.calls.error(code, culprit)


_Generation = tuple[int, int, set[int], set[int]]
"""Tape and writes of a generation; the joints that it needs, and the entries of q that it writes."""


class _Level(NamedTuple):
    """A level that was packed: its record, and the joints that it needs."""

    record: list[int]
    joints: set[int]


def packed(problem: Problem, options: Options, leaving: ComputedBodies | None = None) -> Packed:
    """A problem with its options as flat arrays.

    Args:
        problem: what is solved.
        options: how.
        leaving: computed bodies; a solution that has one out of its bounds ends the projection.

    Raises:
        NotPacked: something that the compiled engine does not solve.
    """
    return _ProblemPacker(problem, options, leaving).packed()


@final
class _ProblemPacker:
    """Packs one problem: columns first, then explicit constraints, levels, bounds and restarts."""

    def __init__(self, problem: Problem, options: Options, leaving: ComputedBodies | None) -> None:
        self._problem, self._options, self._leaving = problem, options, leaving
        self._refuse_options()
        self._moving = [[e for e in g if not e.is_constant] for g in problem.resolution.generations]
        computed = [v for generation in self._moving for e in generation for v in e.outputs.v]
        live = problem.implicit_dofs & problem.free & ~problem.bounds.frozen  # R7
        self._live: list[int] = np.flatnonzero(live).tolist()
        self._computed = computed
        self._columns: Integers = np.full(problem.space.nv, -1, dtype=np.int64)
        self._columns[self._live] = np.arange(len(self._live))
        self._columns[computed] = len(self._live) + np.arange(len(computed))
        self._packer = Packer(len(self._live) + len(computed))
        self._header = self._packer.header

    def packed(self) -> Packed:
        """All of it."""
        problem, header, packer = self._problem, self._header, self._packer
        nq = problem.space.nq
        header[layout.NQ], header[layout.LIVE], header[layout.COMPUTED] = nq, len(self._live), len(self._computed)
        placed = layout.Q, layout.Q_NOW, layout.Q_START, layout.Q_READY, layout.Q_BEST
        for name in (*placed, layout.Q_NEXT, layout.Q_TRIAL, layout.Q_QUICK, layout.Q_BODIES):
            header[name] = packer.filled(problem.space.neutral)
        header[layout.RHS], header[layout.RHS_SIZE] = packer.filled(problem.rhs.vector), problem.rhs.vector.size
        header[layout.TWISTS] = packer.memory(6 * packer.columns)
        header[layout.STATE] = packer.memory(layout.STATE_SIZE)
        if self._options.trace:
            header[layout.TRACE] = packer.memory((self._options.max_iterations + 2) * (nq + 2))
        self._constraints()
        search = SearchPacker(packer, problem, self._options, self._columns, self._live, self._leaving)
        search.pack()
        if packer.calls.called:
            header[layout.CALLS] = packer.memory(layout.CALL_SIZE)
        return Packed(*packer.arrays(), packer.calls if packer.calls.called else None)

    def _refuse_options(self) -> None:
        """What is not solved here, by option."""
        options = self._options
        if options.trace and (options.max_iterations + 2) * (self._problem.space.nq + 2) > TRACE_SIZE:
            raise NotPacked(f"the option trace of up to {options.max_iterations} iterations")
        if not isinstance(options.step_control, FullSteps):
            raise NotPacked(f"the step control {type(options.step_control).__name__}")

    # Constraints.

    def _argument(self) -> Argument:
        return Argument(self._header[layout.Q], self._columns, is_configuration=True)

    def _side(self, owner: RowOwner) -> int:
        """Where the right-hand side of a constraint is in W."""
        stack = self._problem.constraints
        return self._header[layout.RHS] + stack.rhs_slices[stack.index(owner)].start

    def _constraints(self) -> None:
        problem, packer, header = self._problem, self._packer, self._header
        header[layout.EXPLICIT_JACOBIAN] = packer.jacobian(len(self._computed) * packer.columns)
        elements: dict[int, int] = {}
        constants = list[tuple[int, int]]()

        def prepare() -> None:
            for explicit in problem.resolution.explicits:
                elements[id(explicit)] = self._element(explicit)
            for explicit in problem.resolution.explicits:
                if explicit.is_constant:
                    at = self._constant_outputs(explicit, elements[id(explicit)])
                    constants.extend((at + i, entry) for i, entry in enumerate(explicit.outputs.q_indices.tolist()))

        header[layout.PREPARE] = packer.recorded(prepare)
        header[layout.CONSTANTS] = packer.records(constants)
        generations = [self._generation(g, elements) for g in self._moving if g]
        for explicit in problem.resolution.explicits:
            if explicit.has_branches:  # rows alone do not tell what is satisfied
                raise NotPacked(f"{explicit.name}, an explicit constraint whose twin has branches")
        levels = [self._level(level, looks_ahead=n == 0) for n, level in enumerate(x for x in problem.levels if x.size)]
        twins = self._level(problem.explicits, values=True)
        doubtful = self._level(Stack([e for e in problem.resolution.explicits if not e.is_exact]), values=True)
        header[layout.LEVELS] = len(levels)
        header[layout.MANDATORY] = sum(1 for level in problem.mandatory if level.size)
        header[layout.OPTIONAL] = int(header[layout.LEVELS] > header[layout.MANDATORY])
        header[layout.COMPUTES], header[layout.MAPS] = int(len(problem.explicits) > 0), int(len(generations) > 0)
        self._schedule([*self._neutral_outputs(generations), *generations], levels, [twins, doubtful])
        header[layout.LEVEL_TABLE] = packer.table([i for level in levels for i in level.record])
        header[layout.TWINS], header[layout.DOUBTFUL] = packer.table(twins.record), packer.table(doubtful.record)
        header[layout.CHAIN] = packer.records(self._chain())
        self._sparsity(next((level for level in problem.levels if level.size), None))
        for name in (layout.SCORE, layout.SCORE_BEST, layout.SCORE_REFERENCE):
            header[name] = packer.memory(max(header[layout.MANDATORY], 1))

    def _element(self, explicit: Explicit) -> int:
        """What the value of f is multiplied by, as a point of its group: where it is in W. Emits what makes it."""
        packer, side = self._packer, self._side(explicit)
        group, inverse = explicit.map.outputs, explicit.g_inverse
        if explicit.rhs_map is None and not isinstance(inverse, RightTranslation):
            return side
        at = packer.memory(group.nq)
        result = PackedResult.of_value(at)
        if explicit.rhs_map is None:
            pack_copy(packer, side, result, range(group.nq))
        else:
            pack_function(packer, explicit.rhs_map, Argument.still(side, explicit.group.nv), result)
        if isinstance(inverse, RightTranslation):
            pack_product(packer, inverse, Argument.still(at, group.nv), result, packer.filled(inverse.constant))
        return at

    def _constant_outputs(self, explicit: Explicit, element: int) -> int:
        """Outputs of a map without input: where they are in W. Emits what makes them."""
        packer, f = self._packer, explicit.map
        try:
            value = packer.filled(f.value_of(f.inputs.neutral))
        except UndefinedError:
            raise NotPacked(f"{f.name}, a constant without a value") from None
        at = packer.memory(f.outputs.nq)
        result = PackedResult.of_value(at)
        pack_copy(packer, value, result, range(f.outputs.nq))
        pack_product(packer, f, Argument.still(0, f.inputs.nv), result, element)
        if explicit.g_inverse is None or isinstance(explicit.g_inverse, RightTranslation):
            return at
        outputs = packer.memory(explicit.g_inverse.outputs.nq)
        still = Argument.still(at, f.outputs.nv)
        pack_function(packer, explicit.g_inverse, still, PackedResult.of_value(outputs))
        return outputs

    def _generation(self, explicits: Sequence[Explicit], elements: dict[int, int]) -> _Generation:
        """Pack a generation."""
        packer, writes, entries = self._packer, list[tuple[int, int]](), set[int]()
        packer.used = set()

        def write() -> None:
            for explicit in explicits:
                at = self._map(explicit, elements[id(explicit)])
                places = explicit.outputs.q_indices.tolist()
                writes.extend((at + i, entry) for i, entry in enumerate(places))
                entries.update(places)

        return packer.recorded(write), packer.records(writes), packer.used, entries

    def _neutral_outputs(self, generations: Sequence[_Generation]) -> list[_Generation]:
        """A generation before all others, where joints read computed outputs before these are computed: neutral ones.

        A relative pose is that of two joints seen from the world, and has their rounding, of joints that carry both
        too. Where such a joint is computed itself, outputs would depend on what stood there before, in the last bits.
        """
        packer, tree = self._packer, self._packer.joints
        read, left = set[int](), {i for _, _, _, entries in generations for i in entries}
        for _, _, joints, entries in generations:
            for number in set[int]() if tree is None else tree.with_carriers(joints):
                read |= left.intersection(() if tree is None else tree.joints[number].entries)
            left -= entries
        if not read:
            return []
        at = packer.filled(self._problem.space.neutral[sorted(read)])
        writes = packer.records([(at + i, entry) for i, entry in enumerate(sorted(read))])
        return [(packer.recorded(lambda: None), writes, set(), read)]

    def _map(self, explicit: Explicit, element: int) -> int:
        """Emit an explicit map, its derivative into E: where its value is in W."""
        packer, f, inverse = self._packer, explicit.map, explicit.g_inverse
        outer = None if isinstance(inverse, RightTranslation) else inverse
        first, count = self._computed.index(explicit.outputs.v[0]), len(self._computed)
        value = packer.memory((f if outer is None else outer).outputs.nq)
        result = PackedResult(value, self._header[layout.EXPLICIT_JACOBIAN] + first, count)
        pack_translated(packer, f, element, outer, self._argument(), result)
        return value

    def _chain(self) -> list[tuple[int, int]]:
        """Which derivatives by computed dofs the chain rule replaces: (row, earlier row)."""
        pairs = list[tuple[int, int]]()
        for generation in self._moving:
            for explicit in generation:
                reads = explicit.map.columns
                earlier = [k for k, v in enumerate(self._computed) if reads[v]]
                rows = [self._computed.index(v) for v in explicit.outputs.v]
                pairs += [(row, k) for row in rows for k in earlier]
        return pairs

    def _sparsity(self, level: Stack | None) -> None:
        """Where the rows of the first level have numbers, once computed dofs are reduced."""
        packer, live, through = self._packer, len(self._live), dict[int, set[int]]()

        def moved_by(f: Function) -> set[int]:
            columns = packer.columns_of(f, self._argument())
            return {c for c in columns if c < live}.union(*(through[c] for c in columns if c >= live))

        for generation in self._moving:
            for explicit in generation:
                reached = moved_by(explicit.map)
                through.update((int(self._columns[v]), reached) for v in explicit.outputs.v)
        pairs = () if level is None else zip(level.owners, level.slices, strict=True)
        blocks = [(rows, moved_by(owner.measured)) for owner, rows in pairs if rows.stop > rows.start]
        leaves = [self._columns[leaf.v] for leaf in self._problem.space.leaves() if not leaf.space.is_flat]
        ranges = row_ranges(live, blocks, [c[(c >= 0) & (c < live)] for c in leaves])
        size = 0 if level is None else level.size
        header = self._header
        reach = profile(size, ranges)
        header[layout.RANGES], header[layout.PROFILE] = packer.table(ranges.ravel()), packer.table(reach.ravel())
        table = tiles(size, ranges, reach[:, 0])
        header[layout.TILES], header[layout.PRODUCTS] = packer.table(table), products(table, reach)

    def _level(self, level: Stack, values: bool = False, looks_ahead: bool = False) -> _Level:
        """Pack the rows of a level; of some only errors are asked for, of others which rows a step would cross."""
        packer, size = self._packer, level.size
        packer.used = set()
        error, jacobian = packer.memory(size), 0 if values else packer.jacobian(size * packer.columns)
        blocks, one_sided = list[list[int]](), list[tuple[RowOwner, slice, int]]()

        def write() -> None:
            for owner, counting in zip(level.owners, level.slices, strict=True):
                if counting.stop > counting.start:
                    blocks.append(self._block(owner, counting, size, error, jacobian))
                    if looks_ahead and (owner.rows.one_sided & owner.rows.mask).any():
                        blocks[-1][layout.SCALED] = packer.memory(owner.group.nv)
                        one_sided.append((owner, counting, blocks[-1][layout.SCALED]))

        tape = packer.recorded(write)
        read = np.zeros(self._problem.space.nv, dtype=np.bool_)
        for owner in level:
            read |= owner.columns
        outputs = [k for k, v in enumerate(self._computed) if read[v]]
        record = [size, error, jacobian, packer.records(blocks), tape, int(bool(outputs)), packer.counted(outputs)]
        record += self._one_sided(one_sided)
        return _Level(record, packer.used)

    def _one_sided(self, owners: Sequence[tuple[RowOwner, slice, int]]) -> list[int]:
        """Rows with an interval, of owners with their rows in the level and where these are unclipped."""
        records, limits = list[tuple[int, int]](), list[tuple[float, float]]()
        for owner, counting, scaled in owners:
            rows = owner.rows
            for place, i in enumerate(np.flatnonzero(rows.mask).tolist()):
                if rows.one_sided[i]:
                    records.append((counting.start + place, scaled + i))
                    limits.append((rows.scale[i] * rows.lower[i], rows.scale[i] * rows.upper[i]))
        if not records:
            return [0, 0, 0]
        packer = self._packer
        return [packer.records(records), packer.constants(limits), packer.memory(len(records) * len(self._live))]

    def _block(self, owner: RowOwner, counting: slice, size: int, error: int, jacobian: int) -> list[int]:
        """The record of one constraint's rows; emits the instructions of its function."""
        if not owner.has_position or type(owner).__module__.partition(".")[0] != "constraints":
            raise NotPacked(f"{owner.name}, {with_article(type(owner))}")
        packer, f, rows, nv = self._packer, owner.measured, owner.rows, owner.group.nv
        value, first = packer.memory(f.outputs.nq), counting.start
        if rows.mask.all():
            log, where, result = error + first, 0, PackedResult(value, jacobian + first, size)
        else:
            log, own = packer.memory(nv), 0 if not jacobian else packer.jacobian(nv * packer.columns)
            places = np.full(nv, -1)
            places[rows.mask] = np.arange(first, counting.stop)
            where, result = packer.table(places), PackedResult(value, own, nv)
        pack_function(packer, f, self._argument(), result)
        columns = packer.counted(packer.columns_of(f, self._argument()))
        limits = 0
        if not (rows.is_plain and bool(rows.mask.all())):
            limits = packer.constants(np.column_stack((rows.lower, rows.upper, rows.scale)))
        turns = packer.counted([block.start for block in owner.wrapped_rotation_vectors])
        flat, group = int(f.outputs.is_flat), packer.group(f.outputs)
        place = (value, result.jacobian, result.stride, group, flat, self._side(owner), nv, columns, log, where)
        return [*place, limits, first, counting.stop - first, turns, 0]

    def _schedule(self, generations: Sequence[_Generation], levels: Sequence[_Level], others: Sequence[_Level]) -> None:
        """When joints are placed: those that a generation needs before it, unless they stand there already."""
        packer, tree = self._packer, self._packer.joints
        placed, records = set[int](), list[tuple[int, int, int]]()
        for tape, writes, joints, entries in generations:
            needed = set[int]() if tree is None else tree.with_carriers(joints)
            records.append((0 if tree is None else tree.table(needed - placed), tape, writes))
            placed |= needed
            placed -= set[int]() if tree is None else tree.moved_by(entries)
        wanted = {j for level in levels for j in level.joints}
        needed = set[int]() if tree is None else tree.with_carriers(wanted)
        everything = needed | {j for level in others for j in level.joints}
        everything = set[int]() if tree is None else tree.with_carriers(everything)
        nothing = packer.counted([])
        records = [(joints or nothing, tape, writes) for joints, tape, writes in records]
        header = self._header
        header[layout.GENERATIONS] = packer.records(records)
        header[layout.FINAL_JOINTS] = nothing if tree is None else tree.table(needed - placed)
        header[layout.ALL_JOINTS] = nothing if tree is None else tree.table(everything)

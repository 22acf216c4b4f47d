"""What a search needs beside rows: what steps move, within which bounds, and where restarts begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from liegroups import Space

from ...problem.problem import Problem
from ..machine import layout
from ..newton.bounds import SolverBounds
from ..newton.computed_bodies import ComputedBodies
from ..newton.free_bodies import FreeBodies
from ..newton.linear_step import dof_scale
from ..newton.restarts import Restarts
from ..options import Options
from .packing import Integers, NotPacked, Packer, leaf_of

LEAST_RESTING = 9
"""With so many rows that may hold and be zero, steps are asked which are, if to leave all of them out is less work."""


@final
class SearchPacker:
    """Packs steps, bounds and restarts of a problem, once its levels are packed.

    Args:
        packer: takes them.
        problem, options: what is solved, and how.
        columns: (nv,) column of each tangent coordinate, or -1.
        live: the tangent coordinates that steps move, in the order of their columns.
        leaving: computed bodies; a solution that has one out of its bounds ends the projection.
    """

    def __init__(
        self,
        packer: Packer,
        problem: Problem,
        options: Options,
        columns: Integers,
        live: list[int],
        leaving: ComputedBodies | None,
    ) -> None:
        self._packer, self._problem, self._options = packer, problem, options
        self._columns, self._live, self._leaving, self._header = columns, live, leaving, packer.header

    def pack(self) -> None:
        """All of it, and the options."""
        self._steps()
        self._bounds()
        self._restarts()
        options, header = self._options, self._header
        ratio = options.stall_ratio if options.restarts else options.patience_ratio
        numbers = [options.threshold, options.damping, options.cap, ratio]
        header[layout.THRESHOLDS] = self._packer.constants(numbers)
        header[layout.MAX_ITERATIONS], header[layout.PASSES] = options.max_iterations, options.saturating_passes

    def _steps(self) -> None:
        problem, packer, header, live = self._problem, self._packer, self._header, len(self._live)
        space = problem.space
        header[layout.MOVES] = moves_of(packer, space, self._columns, live)
        header[layout.UNITS] = packer.records([(b.start, b.stop - b.start) for b in space.unit_blocks])
        sizes = [level.size for level in problem.levels]
        rows = max(sizes, default=0)
        for name in (layout.STEP, layout.STEP_TRIAL, layout.TO_BOUND, layout.HELD):
            header[name] = packer.memory(live)
        header[layout.NORMAL] = packer.memory(rows * rows)
        header[layout.DUAL], header[layout.ERROR_TRIAL] = packer.memory(rows), packer.memory(rows)
        first = problem.levels[0] if problem.levels else ()
        resting = sum(int((owner.rows.one_sided & owner.rows.mask).sum()) for owner in first)
        awake = sum(sizes[:1]) - resting
        if resting >= LEAST_RESTING and awake**2 * (3 * live + awake) < 6 * header[layout.PRODUCTS]:  # as in the kernel
            header[layout.AWAKE] = packer.table([packer.memory(sizes[0] * (2 + live)), *range(live)])
        lower = header[layout.LEVELS] > 1
        above = sum(sizes) + live * (1 + self._options.saturating_passes) if lower else 0
        header[layout.ABOVE], header[layout.FACTORS] = packer.memory(above * live), packer.memory(above * live)
        header[layout.REFLECTED], header[layout.PART] = packer.memory(above), packer.memory(live)
        header[layout.ROTATED] = packer.memory(rows * live if lower else 0)
        for name in (layout.CAPS, layout.RESIDUALS, layout.RESIDUALS_BEFORE):
            header[name] = packer.memory(header[layout.LEVELS])
        scale = dof_scale(problem.weights)
        header[layout.SCALE] = 0 if scale is None else packer.constants(scale[self._live])

    def _bounds(self) -> None:
        problem, packer, header = self._problem, self._packer, self._header
        bodies = FreeBodies(problem)
        bounds, box = problem.bounds, SolverBounds(problem, self._options.wrap, bodies)
        header[layout.IS_OPEN] = int(box.is_open)
        header[layout.ENTRIES] = packer.table(box.coordinate[self._live])
        header[layout.LIMITS] = packer.constants([*box.lower[self._live], *box.upper[self._live]])
        self._bodies(bodies, SolverBounds(problem, self._options.wrap, bodies, aligned=True))
        inner = (box.inner_lower, box.inner_upper)
        limited = np.flatnonzero(np.isfinite(inner[0]) | np.isfinite(inner[1])).tolist()
        self._limits(layout.BOX, layout.BOX_LIMITS, [(i, inner[0][i], inner[1][i]) for i in limited])
        limited = np.flatnonzero(np.isfinite(bounds.lower) | np.isfinite(bounds.upper)).tolist()
        every = [(i, bounds.lower[i], bounds.upper[i]) for i in limited]
        self._limits(layout.ALL_BOUNDED, layout.ALL_LIMITS, every)
        self._limits(layout.UNKEPT, layout.UNKEPT_LIMITS, box.unkept)
        self._limits(layout.TURNING, layout.TURNING_LIMITS, box.turning)
        bodies_computed = () if self._leaving is None else self._leaving.bodies
        leaving = {i for body in bodies_computed for i in range(body.q.start, body.q.stop)}
        self._limits(layout.LEAVING, layout.LEAVING_LIMITS, [entry for entry in every if entry[0] in leaving])

    def _bodies(self, bodies: FreeBodies, aligned: SolverBounds) -> None:
        """Free bodies with bounds on their translation that steps move."""
        header, packer, records = self._header, self._packer, list[tuple[int, int, int, int]]()
        if not bodies.alike:
            raise NotPacked("different costs for the axes of a free body with bounds")
        for body in bodies.bodies:
            columns = self._columns[body.velocity]
            if not ((columns >= 0) & (columns < len(self._live))).all():
                continue  # no row moves it, and it stays where it is
            size = body.translation.stop - body.translation.start
            records.append((size, body.translation.start, body.rotation.start, int(columns[0])))
        header[layout.BODIES] = packer.records(records)
        box = zip(bodies.entries.tolist(), bodies.lower.tolist(), bodies.upper.tolist(), strict=True)
        self._limits(layout.BODY_BOX, layout.BODY_LIMITS, box)
        header[layout.ALIGNED_ENTRIES] = packer.table(aligned.coordinate[self._live])
        header[layout.ALIGNED_LIMITS] = packer.constants([*aligned.lower[self._live], *aligned.upper[self._live]])

    def _limits(self, entries: int, limits: int, box: Iterable[tuple[int, Any, Any]]) -> None:
        """Entries of q with their bounds."""
        listed = list(box)
        self._header[entries] = self._packer.counted([i for i, _, _ in listed])
        self._header[limits] = self._packer.constants([x for _, lower, upper in listed for x in (lower, upper)])

    def _restarts(self) -> None:
        options, packer, header = self._options, self._packer, self._header
        header[layout.SCREEN] = options.screen
        header[layout.STALL_COUNT] = options.stall_count if options.restarts else options.patience_count
        header[layout.RESTARTS] = int(options.restarts)
        if options.restarts:
            restarts = Restarts(self._problem, options.seed, options.restart_table)
            header[layout.TABLE] = packer.constants(restarts.table[:, restarts.drawn])
            header[layout.TABLE_ROWS], header[layout.DRAWN] = len(restarts.table), packer.counted(restarts.drawn)
            header[layout.CRC] = packer.table(_CHECK_SUMS)
            header[layout.SCREENED] = int(self._are_alike(restarts))

    def _are_alike(self, restarts: Restarts) -> bool:
        """Whether rows of the table have the same residuals for all starts, to the last bit.

        Then all that is read is drawn or computed: by functions, and by joints, which carry frames and need not move
        one against the other.
        """
        problem, tree = self._problem, self._packer.joints
        read = set[int]() if tree is None else {i for joint in tree.joints for i in joint.entries}
        for leaf in problem.space.leaves():
            moved, count = problem.columns[leaf.v], leaf.q.stop - leaf.q.start
            by = np.flatnonzero(moved if leaf.space.is_flat else np.full(count, moved.any()))
            read.update((leaf.q.start + by).tolist())
        computed = {i for explicit in problem.resolution.explicits for i in explicit.outputs.q_indices.tolist()}
        return read <= {*restarts.drawn.tolist()} | computed


def moves_of(packer: Packer, space: Space, columns: Integers, live: int) -> int:
    """What steps of live columns move; where the records are in I."""
    moves = list[tuple[int, int, int]]()
    for leaf in space.leaves():
        own = columns[leaf.v]
        moving = (own >= 0) & (own < live)
        if leaf.space.is_flat:
            moves += [(layout.VECTOR, leaf.q.start + i, int(own[i])) for i in np.flatnonzero(moving).tolist()]
        elif moving.any():
            moves.append((leaf_of(leaf.space)[0], leaf.q.start, packer.table(own)))
    return packer.records(moves)


def _check_sums() -> list[int]:
    """Tables of CRC-32 of a byte with none, one, two and three bytes of zeros behind it, one after the other.

    Four bytes at once, by Kounavis and Berry (2008), "Novel table lookup-based algorithms for high-performance CRC
    generation".
    """
    table = list[int]()
    for byte in range(256):
        for _ in range(8):
            byte = 0xEDB88320 ^ (byte >> 1) if byte & 1 else byte >> 1
        table.append(byte)
    for n in range(3 * 256):
        table.append(table[table[n] & 0xFF] ^ (table[n] >> 8))
    return table


_CHECK_SUMS = _check_sums()

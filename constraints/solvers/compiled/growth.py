"""Growth by a kernel: steps aimed, projected, measured and freed by covers, in one call."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...workspace import Pool
from ..growth import Doubts, GrowthProgram, Rules
from ..kernels.loading import entrances
from ..machine import layout
from .packing import Integers, Packer
from .problem import Packed
from .search import moves_of

_NO_MORE = np.zeros((0, 0))
"""Pairs of solids are as far apart as usual."""


class _Memory(NamedTuple):
    """What one thread writes into, the right-hand sides too; `where` has addresses only."""

    where: Any
    sides: Vector
    held: tuple[Any, ...]


@final
class CompiledGrowth(GrowthProgram):
    """A packed problem, and what steps keep to.

    Args:
        problem: the constraints.
        packed: the same, with the options of the projections.
        rules: of the steps.

    Raises:
        NotPacked: a group that is not one of the library's.
    """

    def __init__(self, problem: Problem, packed: Packed, rules: Rules) -> None:
        self._packed, self._own = packed, _own(problem, rules)
        kernels = entrances()
        self._grow, self._places = kernels.grow_ways, kernels.places
        self._pool, self._no_solids = Pool(self._made), Pool(partial(_no_solids, problem.space.nq))

    def _made(self) -> _Memory:
        held = *_copied(self._packed), *_copied(self._own)
        integers = self._packed.integers
        sides = held[2][int(integers[layout.RHS]) :][: int(integers[layout.RHS_SIZE])]
        return _Memory(self._places(*held), sides, held)

    def grow(
        self, targets: Matrix, ways: Matrix, figures: Matrix, rhs: RightHandSide, solids: Pool[Doubts] | None
    ) -> Indices:
        """As `GrowthProgram.grow`."""
        solids = self._no_solids if solids is None else solids
        memory, doubts = self._pool.take(), solids.take()
        memory.sides[:] = rhs.vector
        count = self._grow(memory.where, doubts.where, targets, ways, figures, _NO_MORE, doubts.found.size)
        pairs = doubts.found[:count].reshape(-1, 2).copy()
        self._pool.give(memory)
        solids.give(doubts)
        return pairs


def _copied(packed: Packed) -> tuple[Integers, Vector, Vector]:
    """With memory of its own."""
    return packed.integers, packed.floats, packed.work.copy()


def _own(problem: Problem, rules: Rules) -> Packed:
    """What steps are aimed and measured with: configurations, differences, weights."""
    space, packer = problem.space, Packer(problem.space.nv)
    header = packer.header
    header[layout.NQ], header[layout.LIVE] = space.nq, space.nv
    header[layout.SPACE] = packer.group(space)
    header[layout.MOVES] = moves_of(packer, space, np.arange(space.nv), space.nv)
    header[layout.COMPARED] = packer.counted(rules.columns.tolist())
    header[layout.WEIGHTS] = packer.constants(rules.weights)
    header[layout.RULES] = packer.constants([rules.farthest, rules.least_gain, rules.met])
    header[layout.DIFFERENCE], header[layout.WAY] = packer.memory(space.nv), packer.memory(layout.WAY_SIZE)
    for name in (layout.Q_NOW, layout.Q_NEXT, layout.TARGET):
        header[name] = packer.memory(space.nq)
    return Packed(*packer.arrays())


def _no_solids(nq: int) -> Doubts:
    """Of a robot without joints and solids."""
    packer = Packer(0)
    packer.header[layout.Q] = packer.memory(nq)
    none, found = packer.counted([]), np.empty(0, dtype=np.int64)
    for name in (layout.COVER_PAIRS, layout.COVERS, layout.ALL_JOINTS):
        packer.header[name] = none
    held = *packer.arrays(), found
    return Doubts(found, entrances().places(*held), held)

"""Growth by a kernel: steps aimed, projected, measured and freed by covers, in one call."""

from __future__ import annotations

from functools import partial
from typing import final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...workspace import Pool
from ..growth import Doubts, GrowthProgram, Rules
from ..kernels.loading import entrances
from ..machine import layout
from .moving import moving_memory, moving_packer
from .packing import Integers, Packer
from .problem import Packed

_NO_MORE = np.zeros((0, 0))
"""Pairs of solids are as far apart as usual."""


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
        self._grow, self._pool = entrances().grow_ways, moving_memory(packed, _own(problem, rules))
        self._no_solids = Pool(partial(_no_solids, problem.space.nq))

    def grow(
        self, targets: Matrix, ways: Matrix, figures: Matrix, rhs: RightHandSide, solids: Pool[Doubts] | None
    ) -> Indices:
        """As `GrowthProgram.grow`."""
        solids = self._no_solids if solids is None else solids
        memory, doubts = self._pool.take(), solids.take()
        memory.sides[:] = rhs.vector
        count = self._grow(memory.where, doubts.where, targets, ways, figures, _NO_MORE, doubts.found.size)
        memory.raise_stopped()
        pairs = doubts.found[:count].reshape(-1, 2).copy()
        self._pool.give(memory)
        solids.give(doubts)
        return pairs


def _own(problem: Problem, rules: Rules) -> tuple[Integers, Vector, Vector]:
    """What steps are aimed and measured with: configurations, differences, weights."""
    packer = moving_packer(problem)
    header = packer.header
    header[layout.COMPARED] = packer.counted(rules.columns.tolist())
    header[layout.WEIGHTS] = packer.constants(rules.weights)
    header[layout.RULES] = packer.constants([rules.farthest, rules.least_gain, rules.met])
    header[layout.WAY] = packer.memory(layout.WAY_SIZE)
    for name in (layout.Q_NOW, layout.Q_NEXT, layout.TARGET):
        header[name] = packer.memory(problem.space.nq)
    return packer.arrays()


def _no_solids(nq: int) -> Doubts:
    """Of a robot without joints and solids."""
    packer = Packer(0)
    packer.header[layout.Q] = packer.memory(nq)
    none, found = packer.counted([]), np.empty(0, dtype=np.int64)
    for name in (layout.COVER_PAIRS, layout.COVERS, layout.ALL_JOINTS):
        packer.header[name] = none
    held = *packer.arrays(), found
    return Doubts(found, entrances().places(*held), held)

"""Parts of paths divided by a kernel: interpolated, projected, measured and freed by covers, in one call."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import Matrix

from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ..division import Divided, DivisionProgram, MovedSolids
from ..kernels.loading import entrances
from ..machine import layout
from .moving import moving_memory, moving_packer
from .problem import Packed

_NO_SIDES = np.zeros((0, 0))
"""Right-hand sides are in the memory."""


@final
class CompiledDivision(DivisionProgram):
    """A packed problem with what interpolates between samples.

    Args:
        problem: the constraints.
        packed: the same, with the options of the projections.

    Raises:
        NotPacked: a group that is not one of the library's.
    """

    def __init__(self, problem: Problem, packed: Packed) -> None:
        space, packer = problem.space, moving_packer(problem)
        header = packer.header
        header[layout.Q_NEXT] = packer.memory(space.nq)
        header[layout.STOPS] = packer.memory((layout.MOST_LEGS + 1) * space.nq)
        header[layout.LEGS] = packer.memory(2 * layout.MOST_LEGS * space.nv)
        integers, _, work = packer.arrays()
        self._divide, self._pool = entrances().divide_parts, moving_memory(packed, (integers, work))

    def divide(
        self,
        parts: Matrix,
        legs: int,
        samples: Matrix,
        sides: RightHandSide | Matrix,
        asked: Matrix,
        solids: MovedSolids,
    ) -> Divided | None:
        """As `DivisionProgram.divide`."""
        memory, covers, motions = self._pool.take(), solids.covers.take(), solids.motions.take()
        if isinstance(sides, RightHandSide):
            memory.sides[:], sides = sides.vector, _NO_SIDES
        motions.reaches[:] = solids.reaches
        more, (count, pairs) = np.repeat(asked, legs - 1, axis=0), asked.shape
        inner, moved = np.empty((len(more), samples.shape[1])), np.zeros((count * legs, pairs))
        found = np.empty(2 * more.size, dtype=np.int64)
        size = self._divide(memory.where, covers.where, motions.where, parts, samples, sides, inner, moved, more, found)
        memory.raise_stopped()
        self._pool.give(memory)
        solids.covers.give(covers)
        solids.motions.give(motions)
        return None if size < 0 else Divided(inner, moved, more, found[:size].reshape(-1, 2))

"""Edges by a kernel: halved, projected and measured in one call."""

from __future__ import annotations

from math import log2
from typing import final

import numpy as np

from liegroups.arrays import Matrix

from ...problem.problem import Problem
from ...problem.steps import StepSize
from ...rows.right_hand_side import RightHandSide
from ..edges import MIDDLE_OF_INTERVAL, SHORTEST_PART_OF_PATH, SLACK_OF_A_MIDDLE, EdgeProgram, Edges
from ..kernels.loading import entrances
from ..machine import layout
from .moving import moving_memory, moving_packer
from .problem import Packed

ROOM = 64
"""Samples that a call of the kernel writes for one edge, and for two or more that many times as many."""
EDGES_A_CALL = 32
"""Between two calls Ctrl-C is seen."""


@final
class CompiledEdges(EdgeProgram):
    """A packed problem with what halves the ways between configurations.

    Args:
        problem: the constraints.
        packed: the same, with the options of the projections.

    Raises:
        NotPacked: a group that is not one of the library's.
    """

    def __init__(self, problem: Problem, packed: Packed) -> None:
        packer, sample = moving_packer(problem), 1 + problem.space.nq
        header = packer.header
        header[layout.MEASURES] = packer.records(StepSize(problem).measures)
        header[layout.EDGE] = packer.memory(layout.EDGE_SIZE)
        header[layout.HERE], header[layout.HALF] = packer.memory(sample), packer.memory(sample)
        header[layout.AHEAD] = packer.memory(sample * (2 - round(log2(SHORTEST_PART_OF_PATH))))
        integers, _, work = packer.arrays()
        self._edge = slice(edge := int(integers[layout.EDGE]), edge + layout.EDGE_SIZE)
        self._lay, self._pool = entrances().lay_edges, moving_memory(packed, (integers, work))

    def run(self, Q0: Matrix, Q1: Matrix, rhs: RightHandSide, max_angle: float, max_length: float) -> Edges:
        """As `EdgeProgram.run`."""
        count, nq = Q0.shape
        starts, ends = (Q if Q.flags.carray else np.array(Q, order="C") for Q in (Q0, Q1))
        figures, parts = np.empty((count, 3 + 2 * nq)), list[Matrix]()
        memory = self._pool.take()
        memory.sides[:] = rhs.vector
        for begin in range(0, count, EDGES_A_CALL):
            record = max_angle, max_length, SHORTEST_PART_OF_PATH, MIDDLE_OF_INTERVAL, SLACK_OF_A_MIDDLE, 0, 0
            memory.own[self._edge] = record
            some, first = slice(begin, begin + EDGES_A_CALL), 0
            given = starts[some], ends[some]
            while first < len(given[0]):
                samples = np.empty((ROOM * (1 if count == 1 else ROOM), 1 + nq))
                first, written = self._lay(memory.where, *given, first, samples, figures[some])
                memory.raise_stopped()
                parts.append(samples[:written])
        self._pool.give(memory)
        samples = parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty((0, 1 + nq))])
        offsets = np.zeros(count + 1, dtype=np.intp)
        offsets[1:] = np.cumsum(figures[:, 1])
        status = figures[:, 0].astype(np.intp)
        return Edges(status, offsets, samples[:, 0], samples[:, 1:], figures[:, 2 : 2 + nq], figures[:, 2 + nq :])

"""Random solutions of targets: where branches begin, and whether there are any where they stop."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...collisions.model import Collision
from ...rows.right_hand_side import RightHandSide
from ...solvers import Options, Projector
from ...words import counted
from ..ends import Refused, in_words
from ..leaf import LeafOfProblem
from ..limits import Clock
from ..status import PlanningStatus

DRAWN_AT_ONCE = 64
"""Random configurations that are projected onto targets together. It is part of what a seed means."""
MOST_STARTS = 32
"""Most branches that begin at random solutions."""
ROUNDS_OF_STARTS = 20
"""Times that this is done before there is no start."""
DISTINCT = 1.0
"""Least distance between two starts, in largest steps."""


@final
class RandomSolutions:
    """Projects random configurations onto targets, from far.

    Args:
        leaf: of the first targets.
        rng: generator.
        clock: when to give up.
        like: configuration (nq,) whose frozen dofs they have; the neutral one, moved into bounds, by default.

    Attributes:
        tried: how many projections.
        nearest: the last try that failed by least, in words.
    """

    def __init__(self, leaf: LeafOfProblem, rng: np.random.Generator, clock: Clock, like: Vector | None = None) -> None:
        self._leaf, self._rng, self._clock = leaf, rng, clock
        options, bounds = Options(threshold=leaf.projector.options.threshold), leaf.problem.bounds
        self._projector = Projector(leaf.problem, options, leaf.projector.engine)
        self._like = np.clip(leaf.space.neutral, bounds.lower, bounds.upper) if like is None else like
        self.tried, self.nearest = 0, ""

    def of(self, rhs: RightHandSide) -> Matrix:
        """Solutions (n, nq) found from a number of random configurations; they may collide."""
        drawn = self._leaf.random(self._rng, self._like, DRAWN_AT_ONCE)
        batch = self._projector.project_batch(drawn, rhs)
        self._leaf.counts.projections += len(batch)
        self.tried += len(batch)
        if not batch.success.any():
            self.nearest = str(batch[int(batch.residual.argmin())])
        return batch.q[batch.success]

    def starts(self) -> Matrix | Refused:
        """Free solutions (n, nq) of the first targets, none near another one; or why there is none."""
        leaf, pairs = self._leaf, tuple[Collision, ...]()
        for _ in range(ROUNDS_OF_STARTS):
            Q = self.of(leaf.rhs)
            free = leaf.free(Q)
            if free.any():
                return self._distinct(Q[free])
            if len(Q) and leaf.collisions is not None:
                pairs = leaf.collisions.collisions(Q[0])
            if self._clock.is_over:
                break
        words = f"{counted(self.tried, 'projection')}; {in_words(pairs) or self.nearest}"
        return Refused(PlanningStatus.NO_START, words, pairs)

    def _distinct(self, Q: Matrix) -> Matrix:
        """Rows that are not near one before."""
        kept, distances = list[Vector](), self._leaf.chart.distances
        for q in Q:
            if not kept or distances(np.array(kept), np.repeat(q[None], len(kept), axis=0)).min() > DISTINCT:
                kept.append(q)
            if len(kept) == MOST_STARTS:
                break
        return np.array(kept)

"""Configurations at which branches begin: given ones, or random solutions of the first targets."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...collisions.model import Collision
from ...solvers import Options, Projector
from ...words import counted
from ..ends import Refused, in_words
from ..leaf import LeafOfProblem
from ..limits import Clock
from ..status import PlanningStatus

STARTS_AT_ONCE = 64
"""Random configurations that are projected onto the first targets together. It is part of what a seed means."""
MOST_STARTS = 32
"""Most branches that begin at random solutions."""
ROUNDS_OF_STARTS = 20
"""Times that this is done before there is no start."""
DISTINCT = 1.0
"""Least distance between two starts, in largest steps."""


@final
class RandomStarts:
    """Draws starts.

    Args:
        leaf: of the first targets.
        rng: generator.
        clock: when to give up.
    """

    def __init__(self, leaf: LeafOfProblem, rng: np.random.Generator, clock: Clock) -> None:
        self._leaf, self._rng, self._clock = leaf, rng, clock
        options = Options(threshold=leaf.projector.options.threshold)
        self._projector = Projector(leaf.problem, options, leaf.projector.engine)

    def found(self) -> Matrix | Refused:
        """Free solutions (n, nq) of the first targets, none near another one; or why there is none."""
        leaf, pairs, nearest, tried = self._leaf, tuple[Collision, ...](), "", 0
        like = self._rest()
        for _ in range(ROUNDS_OF_STARTS):
            batch = self._projector.project_batch(leaf.random(self._rng, like, STARTS_AT_ONCE), leaf.rhs)
            leaf.counts.projections += len(batch)
            tried += len(batch)
            Q = batch.q[batch.success]
            free = leaf.free(Q)
            if free.any():
                return self._distinct(Q[free])
            if len(Q) and leaf.collisions is not None:
                pairs = leaf.collisions.collisions(Q[0])
            elif not nearest:
                nearest = str(batch[int(batch.residual.argmin())])
            if self._clock.is_over:
                break
        words = f"{counted(tried, 'projection')}; {in_words(pairs) or nearest}"
        return Refused(PlanningStatus.NO_START, words, pairs)

    def _rest(self) -> Vector:
        """The neutral configuration, moved into bounds: what frozen joints have."""
        bounds = self._leaf.problem.bounds
        return np.clip(self._leaf.space.neutral, bounds.lower, bounds.upper)

    def _distinct(self, Q: Matrix) -> Matrix:
        """Rows that are not near one before."""
        kept, distances = list[Vector](), self._leaf.chart.distances
        for q in Q:
            if not kept or distances(np.array(kept), np.repeat(q[None], len(kept), axis=0)).min() > DISTINCT:
                kept.append(q)
            if len(kept) == MOST_STARTS:
                break
        return np.array(kept)

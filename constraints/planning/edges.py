"""Edges between nodes, judged in one place: projected, without a jump, within bounds, free."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ..paths.interpolation import MIDDLE_OF_INTERVAL, SLACK_OF_A_MIDDLE
from ..paths.moving_rhs import MovingRightHandSide
from ..paths.path import Path, Piece, StepSize
from .leaf import LeafOfProblem

LEAST_PART_OF_STEP = 2.0**-6
"""Part of a largest step below which an interval is not halved: ends that are still apart there are a jump."""
CHECKED_ANGLE, CHECKED_LENGTH = 0.02, 0.005
"""Most that a joint moves between configurations of a path that are looked at for collisions [rad], [m]."""


class Laid(NamedTuple):
    """A way along nodes, on the constraints.

    Attributes:
        path: along the nodes; None where an edge fails.
        refused: numbers of edges that fail, edge i leads from node i to node i + 1.
    """

    path: Path | None
    refused: Indices


@final
class Edges:
    """Judges ways along nodes of one leaf.

    Args:
        leaf: where they lie.
    """

    def __init__(self, leaf: LeafOfProblem) -> None:
        self._leaf, self._size = leaf, StepSize(leaf.problem)

    def _steps(self, Q0: Matrix, Q1: Matrix) -> Vector:
        """Distances (n,) of the joint that moves most, in largest steps."""
        angles, lengths = self._size.of_rows(Q0, Q1)
        max_angle, max_length = self._leaf.limits
        return np.maximum(angles / max_angle, lengths / max_length)

    def laid(self, Q: Matrix) -> Laid:
        """The path along nodes (n, nq), whose samples are so close to each other that nothing jumps, and free.

        Intervals between nodes are halved as `interpolate` does it, all of them at once; then the path is looked at
        for collisions between its samples.
        """
        leaf = self._leaf
        starts, ends, t0, t1 = Q[:-1], Q[1:], np.arange(len(Q) - 1.0), np.arange(1.0, len(Q))
        nominal = self._steps(starts, ends)
        samples, times = [Q], [np.arange(float(len(Q)))]
        while len(starts):
            H, good = leaf.projected(leaf.space.interpolate(starts, ends, 0.5))
            whole, edges = self._steps(starts, ends), t0.astype(int)
            middle = np.maximum(self._steps(starts, H), self._steps(H, ends))
            short = (whole <= 1.0) & (middle <= MIDDLE_OF_INTERVAL * whole + SLACK_OF_A_MIDDLE)
            good &= short | ((t1 - t0) * nominal[edges] >= LEAST_PART_OF_STEP)
            good[good] = leaf.free(H[good])
            if not good.all():
                return Laid(None, np.unique(edges[~good]))
            middles = 0.5 * (t0 + t1)
            samples.append(H)
            times.append(middles)
            again = ~short
            starts, ends = np.concatenate([starts[again], H[again]]), np.concatenate([H[again], ends[again]])
            t0, t1 = np.concatenate([t0[again], middles[again]]), np.concatenate([middles[again], t1[again]])
        places = np.concatenate(times)
        order = np.argsort(places, kind="stable")
        path = self._path(np.concatenate(samples)[order])
        met = self._collision(path)
        if met is None:
            return Laid(path, np.empty(0, dtype=np.intp))
        before = np.searchsorted(path.pieces[0].times, met, side="right") - 1
        edge = min(int(places[order][before]), len(Q) - 2)
        return Laid(None, np.array([edge]))

    def _path(self, Q: Matrix) -> Path:
        """A path of one piece along samples (n, nq)."""
        leaf = self._leaf
        moved = np.maximum(leaf.chart.distances(Q[:-1], Q[1:]), 1e-9)
        times = np.concatenate([[0.0], np.cumsum(moved)])
        times /= times[-1]
        times[-1] = 1.0
        sides = MovingRightHandSide(leaf.rhs)
        piece = Piece(leaf.problem, sides, Q, times, leaf.projector.options, projector=leaf.projector)
        return Path((piece,))

    def _collision(self, path: Path) -> float | None:
        """When something collides first along a path; None where nothing does."""
        if self._leaf.collisions is None:
            return None
        met = self._leaf.collisions.first_collision(path, CHECKED_ANGLE, CHECKED_LENGTH)
        return None if met is None else met.time

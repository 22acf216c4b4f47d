"""EdgeJudge between nodes, judged in one place: projected, without a jump, within bounds, free."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

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


class Halved(NamedTuple):
    """Ways along nodes, with samples.

    Attributes:
        samples: configurations (n, nq), the nodes among them, in the order of the ways.
        edges: the edge of each sample (n,), that is the number of the node at which it begins.
        refused: numbers of edges that fail.
        lost: whether a way has such an edge (ways,); it has not all samples then.
    """

    samples: Matrix
    edges: Indices
    refused: Indices
    lost: BoolVector


@final
class EdgeJudge:
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
        """The path along nodes (n, nq), whose samples are so close to each other that nothing jumps, and free."""
        halved = self.halved(Q, np.zeros(len(Q), dtype=np.intp))
        if halved.refused.size:
            return Laid(None, halved.refused)
        samples = halved.samples
        free = self.free_between(samples[:-1], samples[1:])
        refused = np.unique(halved.edges[:-1][~free])
        return Laid(None if refused.size else self.path(samples), refused)

    def halved(self, Q: Matrix, ways: Indices) -> Halved:
        """Samples along nodes so close to each other that nothing jumps, within bounds, and free.

        Intervals between nodes are halved as `interpolate` does it, those of all ways at once.

        Args:
            Q: nodes (n, nq) of one way after the other.
            ways: the way of each node (n,), rising. A way with an edge that fails is not gone on with.
        """
        leaf, edges = self._leaf, np.flatnonzero(ways[:-1] == ways[1:])
        starts, ends, t0, t1 = Q[edges], Q[edges + 1], edges.astype(np.float64), edges + 1.0
        nominal, refused = np.zeros(len(Q)), np.zeros(len(Q), dtype=np.bool_)
        nominal[edges] = self._steps(starts, ends)
        lost = np.zeros(int(ways[-1]) + 1, dtype=np.bool_)
        samples, times = [Q], [np.arange(float(len(Q)))]
        while len(starts):
            H, good = leaf.projected(leaf.space.interpolate(starts, ends, 0.5))
            firsts, seconds = np.concatenate([starts, starts, H]), np.concatenate([ends, H, ends])
            whole, before, after = self._steps(firsts, seconds).reshape(3, -1)
            middle, edges = np.maximum(before, after), t0.astype(np.intp)
            short = (whole <= 1.0) & (middle <= MIDDLE_OF_INTERVAL * whole + SLACK_OF_A_MIDDLE)
            good &= short | ((t1 - t0) * nominal[edges] >= LEAST_PART_OF_STEP)
            good[good] = leaf.free(H[good])
            refused[edges[~good]] = lost[ways[edges[~good]]] = True
            middles = 0.5 * (t0 + t1)
            samples.append(H)
            times.append(middles)
            again = ~short & ~lost[ways[edges]]
            starts, ends = np.concatenate([starts[again], H[again]]), np.concatenate([H[again], ends[again]])
            t0, t1 = np.concatenate([t0[again], middles[again]]), np.concatenate([middles[again], t1[again]])
        places = np.concatenate(times)
        order = np.argsort(places, kind="stable")
        return Halved(np.concatenate(samples)[order], places[order].astype(np.intp), np.flatnonzero(refused), lost)

    def free_between(self, Q0: Matrix, Q1: Matrix) -> BoolVector:
        """Whether all is free between each two rows (n, nq), neighbours on a path, looked at closely.

        As `CollisionModel.first_collision` looks at it: at equal parts of the interpolation, projected.
        """
        leaf, free = self._leaf, np.ones(len(Q0), dtype=np.bool_)
        if leaf.collisions is None:
            return free
        angles, lengths = self._size.of_rows(Q0, Q1)
        parts = np.maximum(np.ceil(np.maximum(angles / CHECKED_ANGLE, lengths / CHECKED_LENGTH)), 1.0).astype(int)
        rows = np.repeat(np.arange(len(Q0)), parts - 1)
        counts = np.arange(1, len(rows) + 1) - (np.cumsum(parts - 1) - (parts - 1))[rows]
        Q, good = leaf.projected(leaf.space.interpolate(Q0[rows], Q1[rows], counts / parts[rows]))
        good[good] = leaf.free(Q[good])
        free[rows[~good]] = False
        return free

    def path(self, Q: Matrix) -> Path:
        """A path of one piece along samples (n, nq)."""
        leaf = self._leaf
        moved = np.maximum(leaf.chart.distances(Q[:-1], Q[1:]), 1e-9)
        times = np.concatenate([[0.0], np.cumsum(moved)])
        times /= times[-1]
        times[-1] = 1.0
        sides = MovingRightHandSide(leaf.rhs)
        piece = Piece(leaf.problem, sides, Q, times, leaf.projector.options, projector=leaf.projector)
        return Path((piece,))

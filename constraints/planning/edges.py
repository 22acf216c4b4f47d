"""Edges between nodes, judged in one place: projected, without a jump, within bounds, free."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix

from ..errors import FailedError
from ..paths.edges import interpolate_edges
from ..paths.interpolation import PathStatus
from ..paths.moving_rhs import MovingRightHandSide
from ..paths.path import Path, Piece, StepSize
from .leaf import MAX_ANGLE, MAX_LENGTH, LeafOfProblem

CHECKED_ANGLE, CHECKED_LENGTH = 0.02, 0.005
"""Most that a joint moves between configurations of a path that are looked at for collisions [rad], [m]."""

LAST_RESOLUTION = 2e-5
"""Of the last look at a path: contact that is deeper than half of it is found [m]."""


class Laid(NamedTuple):
    """A way along nodes, on the constraints.

    Attributes:
        path: along the nodes; None where an edge fails.
        refused: numbers of edges that fail, edge i leads from node i to node i + 1.
        edges: the edge of each sample but the last.
    """

    path: Path | None
    refused: Indices
    edges: Indices


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
    """Judges ways along nodes of one leaf."""

    def __init__(self, leaf: LeafOfProblem) -> None:
        self._leaf, self._size = leaf, StepSize(leaf.problem)

    def laid(self, Q: Matrix) -> Laid:
        """The path along nodes (n, nq), whose samples are so close to each other that nothing jumps, and free."""
        laid = self.sketched(Q)
        met = None if laid.path is None else self.met(laid.path)
        if laid.path is None or met is None:
            return laid
        times, edges = laid.path.pieces[0].times, laid.edges
        return laid._replace(path=None, refused=edges[[min(int(np.searchsorted(times, met, "right")), len(edges)) - 1]])

    def sketched(self, Q: Matrix) -> Laid:
        """The same, free at its samples: whether it is free between them `met` says."""
        halved = self.halved(Q, np.zeros(len(Q), dtype=np.intp))
        path = None if halved.refused.size else self.path(halved.samples)
        return Laid(path, halved.refused, halved.edges[:-1])

    def met(self, path: Path) -> float | None:
        """When something collides first on a path, thin things too, as `CollisionModel.first_collision` says.

        Where the constraints are not reached between two samples, as may be near singular ones: when that is.
        """
        try:
            model = self._leaf.collisions
            found = None if model is None else model.first_collision(path, LAST_RESOLUTION)
        except FailedError as lost:
            (piece,), last = path.pieces, np.broadcast_to(lost.result.q, path.pieces[0].samples.shape)
            away = self._leaf.chart.distances(piece.samples, last)
            i = int((away[:-1] + away[1:]).argmin())
            return float(0.5 * (piece.times[i] + piece.times[i + 1]))
        return None if found is None else found.time

    def halved(self, Q: Matrix, ways: Indices) -> Halved:
        """Samples along nodes so close to each other that nothing jumps, within bounds, and free.

        Edges are those of `interpolate_edges`, of all ways at once.

        Args:
            Q: nodes (n, nq) of one way after the other.
            ways: the way of each node (n,), rising.
        """
        leaf, edges = self._leaf, np.flatnonzero(ways[:-1] == ways[1:])
        ends = Q[edges], Q[edges + 1]
        found = interpolate_edges(leaf.projector, *ends, leaf.rhs, max_angle=MAX_ANGLE, max_length=MAX_LENGTH)
        owners = np.repeat(edges, np.diff(found.offsets))
        inside = (found.times > 0.0) & (found.times < 1.0)
        samples, places = found.samples[inside], (owners + found.times)[inside]
        leaf.counts.projections += len(samples)
        refused = np.zeros(len(Q), dtype=np.bool_)
        refused[edges[[status is not PathStatus.COMPLETE for status in found.status]]] = True
        refused[owners[inside][~leaf.free(samples)]] = True
        lost = np.zeros(int(ways[-1]) + 1, dtype=np.bool_)
        lost[ways[refused]] = True
        places = np.concatenate([np.arange(float(len(Q))), places])
        order = np.argsort(places, kind="stable")
        whole = np.concatenate([Q, samples])[order]
        return Halved(whole, places[order].astype(np.intp), np.flatnonzero(refused), lost)

    def free_between(self, Q0: Matrix, Q1: Matrix) -> BoolVector:
        """Whether nothing collides at equal parts of the ways between each two rows (n, nq), neighbours on a path.

        This is quick, of many at once, and may miss what is thin: `met` has the last word.
        """
        leaf, free = self._leaf, np.ones(len(Q0), dtype=np.bool_)
        if leaf.collisions is None:
            return free
        angles, lengths = self._size.of_rows(Q0, Q1)
        parts = np.maximum(np.ceil(np.maximum(angles / CHECKED_ANGLE, lengths / CHECKED_LENGTH)), 1.0).astype(int)
        rows, numbers = inner_parts(parts)
        Q, good = leaf.projected(leaf.space.interpolate(Q0[rows], Q1[rows], numbers / parts[rows]))
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


def inner_parts(parts: Indices) -> tuple[Indices, Indices]:
    """Of ways divided into some parts (n,): the way, and the number from 1, of each place between two parts (m,)."""
    ways = np.repeat(np.arange(len(parts)), parts - 1)
    return ways, np.arange(1, len(ways) + 1) - (np.cumsum(parts - 1) - (parts - 1))[ways]

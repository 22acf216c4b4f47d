"""Trees of configurations on one leaf, grown towards many targets at once."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix

from ..solvers.machine import layout
from .leaf import LeafOfProblem
from .ways import STEPS_OF_GROWTH, ways_to


class Grown(NamedTuple):
    """What became of targets.

    Attributes:
        nodes: the node (n,) that came nearest to each.
        reached: (n,) whether it is the target.
    """

    nodes: Indices
    reached: BoolVector


@final
class SearchTree:
    """A tree of configurations: each node but the roots has a parent, from which one step leads to it.

    Args:
        leaf: where they lie.
        roots: configurations (n, nq).

    Attributes:
        count: number of nodes, those that were cut included.
        still: targets in a row that led to no node farther than a step from all nodes before.
    """

    def __init__(self, leaf: LeafOfProblem, roots: Matrix) -> None:
        self._leaf, self._room = leaf, 1024
        self.count = self.still = 0
        self._q = np.empty((self._room, leaf.space.nq))
        self._x = np.empty((self._room, leaf.chart.size))
        self._parents = np.full(self._room, -1, dtype=np.intp)
        self._cut = np.zeros(self._room, dtype=np.bool_)
        self.add(roots, np.full(len(roots), -1))

    @property
    def q(self) -> Matrix:
        """The nodes (count, nq)."""
        return self._q[: self.count]

    @property
    def parents(self) -> Indices:
        """Their parents (count,), -1 for roots."""
        return self._parents[: self.count]

    def add(self, Q: Matrix, parents: Indices) -> Indices:
        """New nodes; their numbers."""
        first, after = self.count, self.count + len(Q)
        while after > self._room:
            self._grow_room()
        new = slice(first, after)
        self._q[new], self._parents[new], self._cut[new] = Q, parents, False
        self._x[new] = self._leaf.chart.coordinates(Q)
        self.count = after
        return np.arange(first, after)

    def _grow_room(self) -> None:
        more = self._room
        self._q = np.concatenate([self._q, np.empty((more, self._q.shape[1]))])
        self._x = np.concatenate([self._x, np.empty((more, self._x.shape[1]))])
        self._parents = np.concatenate([self._parents, np.full(more, -1, dtype=np.intp)])
        self._cut = np.concatenate([self._cut, np.zeros(more, dtype=np.bool_)])
        self._room += more

    def nearest(self, targets: Matrix) -> Indices:
        """The node that is nearest to each target."""
        leaf, n = self._leaf, self.count
        return leaf.chart.nearest(self._x[:n], leaf.chart.coordinates(targets), self._cut[:n])[0]

    def grow(self, targets: Matrix) -> Grown:
        """Steps from the nearest nodes towards targets (m, nq), all at once, up to where a step fails."""
        at, before = self.nearest(targets), self.count
        starts = self._q[at]
        ways = ways_to(self._leaf, starts, targets, self._leaf.chart.distances(starts, targets))
        taken = np.arange(STEPS_OF_GROWTH)[:, None] < ways.steps  # numbers go by steps, as they are taken at once
        numbers = np.tile(at, (1 + STEPS_OF_GROWTH, 1))
        numbers[1:][taken] = np.arange(before, before + int(taken.sum()))
        self.add(ways.q[:, 1:].swapaxes(0, 1)[taken], numbers[:-1][taken])
        at = numbers[ways.steps, np.arange(len(at))]
        self._see(np.unique(at[at >= before]), before, len(targets))
        return Grown(at, ways.states == layout.REACHED)

    def _see(self, ends: Indices, before: int, targets: int) -> None:
        """Note whether some nodes are new ground: farther than a step from all nodes up to a number."""
        leaf, self.still = self._leaf, self.still + targets
        if ends.size:
            rows, _ = leaf.chart.nearest(self._x[:before], self._x[ends], self._cut[:before])
            if (leaf.chart.distances(self._q[rows], self._q[ends]) > 1.0).any():
                self.still = 0

    def branch(self, node: int) -> Indices:
        """Nodes from the root to a node."""
        nodes = [node]
        while self._parents[nodes[-1]] >= 0:
            nodes.append(int(self._parents[nodes[-1]]))
        return np.array(nodes[::-1], dtype=np.intp)

    def cut(self, node: int) -> None:
        """Take a node out of the tree, with all that grew from it."""
        gone, parents = self._cut[: self.count], self.parents
        gone[node] = True
        while True:
            more = ~gone & gone[parents] & (parents >= 0)
            if not more.any():
                return
            gone |= more

    def is_cut(self, node: int) -> bool:
        """Whether a node was taken out."""
        return bool(self._cut[node])

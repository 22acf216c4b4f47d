"""Trees of configurations on one leaf, grown towards many targets at once."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix

from ..solvers.machine import layout
from .leaf import LeafOfProblem
from .ways import STEPS_OF_GROWTH, ways_to

ROOM = 1024
"""Nodes that there is room for at first."""


class NodeTable:
    """Nodes, each a configuration with the one that it was reached from: arrays whose room is doubled where it ends.

    Args:
        leaf: where they lie.
        **columns: more arrays with a row for each node, of `ROOM` rows.

    Attributes:
        count: number of nodes, those that were cut off included.
    """

    def __init__(self, leaf: LeafOfProblem, **columns: Any) -> None:
        self._leaf, self.count = leaf, 0
        self._columns: dict[str, Any] = {
            "q": np.empty((ROOM, leaf.space.nq)),
            "parents": np.empty(ROOM, dtype=np.intp),
            "cut": np.empty(ROOM, dtype=np.bool_),
            **columns,
        }

    def __getitem__(self, name: str) -> Any:
        """A column (count, ...), to be written to."""
        return self._columns[name][: self.count]

    @property
    def q(self) -> Matrix:
        """The nodes (count, nq)."""
        return self["q"]

    @property
    def parents(self) -> Indices:
        """Their parents (count,), -1 for roots."""
        return self["parents"]

    def _put(self, count: int, **values: Any) -> Indices:
        """New nodes; their numbers. Values are those of all columns (count, ...), or one for all nodes."""
        first, self.count = self.count, self.count + count
        for name, column in self._columns.items():
            while len(column) < self.count:
                self._columns[name] = column = np.concatenate([column, np.empty_like(column)])
            column[first : self.count] = values[name]
        return np.arange(first, self.count)

    def way(self, node: int) -> Indices:
        """Nodes from a root to a node."""
        found, parents = [node], self._columns["parents"]
        while parents[found[-1]] >= 0:
            found.append(int(parents[found[-1]]))
        return np.array(found[::-1], dtype=np.intp)


class Grown(NamedTuple):
    """What became of targets.

    Attributes:
        nodes: the node (n,) that came nearest to each.
        reached: (n,) whether it is the target.
    """

    nodes: Indices
    reached: BoolVector


@final
class SearchTree(NodeTable):
    """A tree of configurations: each node but the roots has a parent, from which one step leads to it.

    Attributes:
        still: targets in a row that led to no node farther than a step from all nodes before.
    """

    def __init__(self, leaf: LeafOfProblem, roots: Matrix) -> None:
        super().__init__(leaf, x=np.empty((ROOM, leaf.chart.size)))
        self.still = 0
        self.add(roots, np.full(len(roots), -1))

    def add(self, Q: Matrix, parents: Indices) -> Indices:
        """New nodes; their numbers."""
        return self._put(len(Q), q=Q, x=self._leaf.chart.coordinates(Q), parents=parents, cut=False)

    def nearest(self, targets: Matrix) -> Indices:
        """The node that is nearest to each target."""
        chart = self._leaf.chart
        return chart.nearest(self["x"], chart.coordinates(targets), self["cut"])[0]

    def grow(self, targets: Matrix) -> Grown:
        """Steps from the nearest nodes towards targets (m, nq), all at once, up to where a step fails."""
        at, before = self.nearest(targets), self.count
        starts = self.q[at]
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
        chart, x, self.still = self._leaf.chart, self["x"], self.still + targets
        if ends.size:
            rows, _ = chart.nearest(x[:before], x[ends], self["cut"][:before])
            if (chart.distances(self.q[rows], self.q[ends]) > 1.0).any():
                self.still = 0

    def cut(self, node: int) -> None:
        """Take a node out of the tree, with all that grew from it."""
        gone, parents = self["cut"], self.parents
        gone[node] = True
        while True:
            more = ~gone & gone[parents] & (parents >= 0)
            if not more.any():
                return
            gone |= more

    def is_cut(self, node: int) -> bool:
        """Whether a node was taken out."""
        return bool(self["cut"][node])

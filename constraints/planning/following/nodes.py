"""Solutions along a parameter, each with the one that it was followed from."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..leaf import LeafOfProblem
from ..trees import ROOM, NodeTable


@final
class FollowedNodes(NodeTable):
    """Solutions of targets at values of a parameter."""

    def __init__(self, leaf: LeafOfProblem) -> None:
        super().__init__(leaf, s=np.empty(ROOM), cost=np.empty(ROOM))

    @property
    def s(self) -> Vector:
        """Values of the parameter (count,)."""
        return self["s"]

    @property
    def cost(self) -> Vector:
        """Lengths (count,) of the ways to them, in largest steps."""
        return self["cost"]

    @property
    def cut(self) -> BoolVector:
        """Whether the last step to them was taken back (count,)."""
        return self["cut"]

    def add(self, s: Vector, Q: Matrix, parents: Indices) -> Indices:
        """New nodes; their numbers. Parents are numbers of nodes, -1 for starts."""
        cost, begun = np.zeros(len(Q)), parents >= 0
        before = parents[begun]
        cost[begun] = self.cost[before] + self._leaf.chart.distances(self.q[before], Q[begun])
        return self._put(len(Q), s=s, q=Q, cost=cost, parents=parents, cut=False)

    def way(self, node: int) -> Indices:
        """Nodes from a start to a node, up to where a step was taken back."""
        way = super().way(node)
        lost = np.flatnonzero(self.cut[way])
        return way[: lost[0]] if lost.size else way

    def take_back(self, node: int) -> None:
        """Take back the step that leads to a node, and so what was followed from there."""
        self.cut[node] = True

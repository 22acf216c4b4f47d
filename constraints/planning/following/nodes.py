"""Solutions along a parameter, each with the one that it was followed from."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..leaf import LeafOfProblem


@final
class FollowedNodes:
    """Solutions of targets at values of a parameter.

    Args:
        leaf: of the problem, whose measure of distances is used.

    Attributes:
        count: how many.
    """

    def __init__(self, leaf: LeafOfProblem) -> None:
        self._leaf, self.count = leaf, 0
        room = 1024
        self._s, self._cost = np.empty(room), np.empty(room)
        self._q = np.empty((room, leaf.space.nq))
        self._parents, self._cut = np.empty(room, dtype=np.intp), np.zeros(room, dtype=np.bool_)

    @property
    def s(self) -> Vector:
        """Values of the parameter (count,)."""
        return self._s[: self.count]

    @property
    def q(self) -> Matrix:
        """Solutions (count, nq)."""
        return self._q[: self.count]

    @property
    def cost(self) -> Vector:
        """Lengths (count,) of the ways to them, in largest steps."""
        return self._cost[: self.count]

    @property
    def cut(self) -> BoolVector:
        """Whether the last step to them was taken back (count,)."""
        return self._cut[: self.count]

    def add(self, s: Vector, Q: Matrix, parents: Indices) -> Indices:
        """New nodes; their numbers. Parents are numbers of nodes, -1 for starts."""
        first, self.count = self.count, self.count + len(Q)
        while self.count > len(self._s):
            self._grow_room()
        new, begun = slice(first, self.count), parents >= 0
        self._s[new], self._q[new], self._parents[new], self._cut[new] = s, Q, parents, False
        cost = np.zeros(len(Q))
        cost[begun] = self._cost[parents[begun]] + self._leaf.chart.distances(self._q[parents[begun]], Q[begun])
        self._cost[new] = cost
        return np.arange(first, self.count)

    def way(self, node: int) -> Indices:
        """Nodes from a start to a node, up to where a step was taken back."""
        found = [node]
        while self._parents[found[-1]] >= 0:
            found.append(int(self._parents[found[-1]]))
        way = np.array(found[::-1], dtype=np.intp)
        lost = np.flatnonzero(self._cut[way])
        return way[: lost[0]] if lost.size else way

    def parent(self, node: int) -> int:
        """The node that one was followed from; -1 of a start."""
        return int(self._parents[node])

    def take_back(self, node: int) -> None:
        """Take back the step that leads to a node, and so what was followed from there."""
        self._cut[node] = True

    def _grow_room(self) -> None:
        room = 2 * len(self._s)
        for name in ("_s", "_cost", "_q", "_parents", "_cut"):
            old: np.ndarray = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

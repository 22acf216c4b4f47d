"""Nodes of searches: arrays that grow together, and ways from a root."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import Indices

ROOM = 1024
"""Nodes that there is room for at first."""


@final
class NodeTable:
    """Arrays with a row for each node; their room is doubled where it is not enough.

    Args:
        **columns: an array each, of as many rows as there shall be room for at first.

    Attributes:
        count: number of nodes.
    """

    def __init__(self, **columns: Any) -> None:
        self._columns, self.count = columns, 0

    def __getitem__(self, name: str) -> Any:
        """A column (count, ...), to be written to."""
        return self._columns[name][: self.count]

    def add(self, count: int, **values: Any) -> Indices:
        """New nodes; their numbers.

        Args:
            count: how many.
            values: of all columns (count, ...), or one value for all.
        """
        first, self.count = self.count, self.count + count
        for name, column in self._columns.items():
            while len(column) < self.count:
                self._columns[name] = column = np.concatenate([column, np.empty_like(column)])
            column[first : self.count] = values[name]
        return np.arange(first, self.count)

    def way(self, node: int) -> Indices:
        """Nodes from a root to a node, by the column `parents`: -1 is the parent of a root."""
        found, parents = [node], self._columns["parents"]
        while parents[found[-1]] >= 0:
            found.append(int(parents[found[-1]]))
        return np.array(found[::-1], dtype=np.intp)

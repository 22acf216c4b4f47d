"""Rows of many closures as one sparse Jacobian: each closure writes the columns of its own loop only."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..point import Point
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..rows.stack import Stack
from .pose_map import OfRelativePose

__all__ = ["SparseRows", "entries"]


def entries(stack: Stack) -> int:
    """Number of entries of the Jacobian that are not declared zero."""
    return sum(int(owner.rows.mask.sum()) * int(owner.columns.sum()) for owner in stack)


class _Part(NamedTuple):
    """One owner: its rows in the stack, which of its own count, its columns, which of them count, its entries."""

    owner: RowOwner
    rows: slice
    counting: Indices
    declared: Indices
    kept: Indices | None
    entries: slice


@final
class SparseRows:
    """Errors of a stack and the declared entries of their Jacobian, in an order that never changes.

    Args:
        stack: the constraints.
        moving: (nv,) true for the columns that count.

    Attributes:
        shape: rows, and columns that count.
        rows, columns: (n,) where each entry is.
    """

    def __init__(self, stack: Stack, moving: BoolVector) -> None:
        place: Indices = np.cumsum(moving) - 1
        rows: list[Indices] = [np.zeros(0, dtype=np.intp)]
        columns: list[Indices] = [np.zeros(0, dtype=np.intp)]
        self._parts: list[_Part] = []
        start = 0
        for owner, s in zip(stack, stack.slices, strict=True):
            declared, counting = np.flatnonzero(owner.columns), np.flatnonzero(owner.rows.mask)
            kept = np.flatnonzero(moving[declared])
            stop = start + counting.size * kept.size
            numbers: Indices = np.arange(s.start, s.stop, dtype=np.intp)
            rows.append(numbers.repeat(kept.size))
            columns.append(np.asarray(np.tile(place[declared[kept]], counting.size), dtype=np.intp))
            whole = kept.size == declared.size
            self._parts.append(_Part(owner, s, counting, declared, None if whole else kept, slice(start, stop)))
            start = stop
        self.rows, self.columns = np.concatenate(rows), np.concatenate(columns)
        self.shape = (stack.size, int(moving.sum()))
        self._starts = np.array([s.start for s in stack.slices if s.stop > s.start], dtype=np.intp)

    def evaluate(self, point: Point, rhs: RightHandSide, error: Vector, data: Vector) -> None:
        """Write the errors (rows,) and the entries (n,) at a point.

        Args:
            point: where.
            rhs: right-hand sides.
            error, data: to be filled.
        """
        for owner, s, counting, declared, kept, place in self._parts:
            side, function = rhs.points[id(owner)], owner.plain_function
            if isinstance(function, OfRelativePose):
                block = function.compact(point, error[s])
                if side is not None:
                    error[s] -= side
            else:
                J: Matrix = point.scratch(owner, "sparse rows", (owner.group.nv, owner.space.nv))
                e: Vector = point.scratch(owner, "sparse errors", (owner.group.nv,))
                owner.write_position(point, side, e, J)
                error[s] = e[counting]
                block = J[np.ix_(counting, declared)]
            data[place] = (block if kept is None else block[:, kept]).reshape(-1)

    def residual(self, error: Vector) -> float:
        """Largest norm of the rows of one owner."""
        if not self._starts.size:
            return 0.0
        return float(np.sqrt(np.add.reduceat(error * error, self._starts).max()))

    def matrix(self, data: Vector) -> Any:
        """The Jacobian as a sparse matrix of scipy."""
        return sparse.csr_matrix((data, (self.rows, self.columns)), shape=self.shape)

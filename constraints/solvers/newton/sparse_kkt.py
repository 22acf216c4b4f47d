"""Long chains: rows as one sparse Jacobian, each closure in the columns of its own loop, and steps by a sparse KKT."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from liegroups import Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...point import Point
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...rows.stack import Stack
from ...rows.stacking import Rows
from .linear_step import LinearStep

SPARSE_FROM = 80
"""From this many columns on, a sparse factorisation is faster where at most `SPARSE_DENSITY` of the entries count."""
SPARSE_DENSITY = 0.15
"""Part of the entries up to which a sparse factorisation is faster."""


def is_long_and_sparse(problem: Problem) -> bool:
    """Whether the rows of a problem are many and sparse enough for a sparse factorisation."""
    stack = problem.constraints
    entries = sum(int(owner.rows.mask.sum()) * int(owner.columns.sum()) for owner in stack)  # not declared zero
    return problem.space.nv >= SPARSE_FROM and entries <= SPARSE_DENSITY * stack.size * problem.space.nv


@final
class SparseKKT(LinearStep):
    r"""Damped steps for sparse rows, with least cost W.

    .. math:: \begin{pmatrix} W & J^T \\ J & -\mu I \end{pmatrix} \begin{pmatrix} dq \\ y \end{pmatrix}
        = \begin{pmatrix} 0 \\ -e \end{pmatrix}

    by a sparse factorisation with a band as wide as a loop. A cost of zero counts as 1e-6 of the smallest positive one.
    Only for one level of equalities without bounds; explicit constraints are rows.

    Args:
        rows, weights: as those of `LinearStep`.
    """

    resolves: ClassVar[bool] = False
    is_sparse: ClassVar[bool] = True

    __slots__ = ("_pattern", "_rows", "_weights")

    def __init__(self, rows: int, weights: Vector | None = None) -> None:
        self._rows, self._weights = rows, np.ones(0) if weights is None else weights
        if self._weights.size:
            positive = self._weights[self._weights > 0.0]  # damping is relative to costs: their mean is 1
            self._weights = np.maximum(self._weights / positive.mean(), 1e-6 * positive.min() / positive.mean())
        self._pattern: tuple[Any, Any, Any] | None = None  # of J, which keeps it: found with the first step

    @classmethod
    def stacked_rows(cls, level: Stack, space: Space, moving: BoolVector) -> Any:
        """As `LinearStep.stacked_rows`: sparse ones."""
        return SparseRows(level, moving)

    def solve(self, e: Vector, J: Any, mu: float, root: Matrix | None = None) -> Vector:
        """As `LinearStep.solve`; J is a sparse matrix of scipy by rows, whose pattern never changes."""
        del root  # of bounded bodies, which sparse steps do not know
        m, n = J.shape
        order, indices, pointers = self._pattern = self._pattern or _pattern(J)
        costs = self._weights if self._weights.size else np.ones(n)
        values = np.concatenate([costs, J.data, J.data, np.full(m, -mu)])[order]
        system = sparse.csc_matrix((values, indices, pointers), shape=(n + m, n + m))
        factors: Any = splu(system, permc_spec="COLAMD")
        solution: Vector = factors.solve(np.concatenate([np.zeros(n), -e]))
        return solution[:n]


def _pattern(J: Any) -> tuple[Any, Any, Any]:
    """Of the system by compressed columns: the order of its entries, their rows, and where each column begins."""
    m, n = int(J.shape[0]), int(J.shape[1])
    columns: Indices = J.indices
    rows: Indices = np.repeat(np.arange(m), np.diff(np.asarray(J.indptr, dtype=np.intp)))
    i = np.concatenate([np.arange(n), columns, n + rows, n + np.arange(m)])
    j = np.concatenate([np.arange(n), n + rows, columns, n + np.arange(m)])
    order = np.lexsort((i, j))
    return order, i[order].astype(np.int32), np.searchsorted(j[order], np.arange(n + m + 1)).astype(np.int32)


class _Part(NamedTuple):
    """One owner: its rows in the stack, which of its own count, which of its columns do, and where its entries go."""

    owner: RowOwner
    rows: slice
    counting: Indices
    kept: Indices
    entries: Indices


@final
class SparseRows:
    """The rows of one stack in one workspace, as `StackedRows`, with the declared entries of the Jacobian alone.

    Args:
        stack: the constraints.
        moving: (nv,) true for the columns that move; the others are zero.

    Attributes:
        rows: what is stacked; their Jacobian is a sparse matrix of scipy, by rows.
        one_sided: None: rows with an interval count by their distance alone.
    """

    one_sided: ClassVar[None] = None

    __slots__ = ("_parts", "rows")

    def __init__(self, stack: Stack, moving: BoolVector) -> None:
        rows, columns, sizes = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)], [0]
        kept = [np.flatnonzero(moving[owner.columns]) for owner in stack]
        counting = [np.flatnonzero(owner.rows.mask) for owner in stack]
        for owner, s, mine, own in zip(stack, stack.slices, kept, counting, strict=True):
            rows.append(np.arange(s.start, s.stop, dtype=np.intp).repeat(mine.size))
            columns.append(np.tile(np.flatnonzero(owner.columns)[mine], own.size))
            sizes.append(own.size * mine.size)
        i, j, starts = np.concatenate(rows), np.concatenate(columns), np.cumsum(sizes)
        J: Any = sparse.csr_matrix((np.arange(i.size, dtype=np.float64), (i, j)), shape=(stack.size, moving.size))
        J.sort_indices()
        place = np.empty(i.size, dtype=np.intp)
        place[J.data.astype(np.intp)] = np.arange(i.size)
        self.rows = Rows(np.zeros(stack.size), J, stack.slices)
        self._parts = [
            _Part(owner, s, own, mine, place[a:b])
            for owner, s, own, mine, a, b in zip(
                stack, stack.slices, counting, kept, starts[:-1], starts[1:], strict=True
            )
        ]

    def position(self, point: Point, sides: RightHandSide, jacobian: bool = True) -> Rows:
        """Errors at a point and the entries of their Jacobian."""
        error, J = self.rows.error, self.rows.jacobian
        data: Any = J.data  # of a sparse matrix
        for owner, s, counting, kept, place in self._parts:
            e: Vector = point.scratch(owner, "sparse errors", (owner.group.nv,))
            block = _write(owner, point, sides.points[id(owner)], e, jacobian)
            error[s] = e[counting]
            if block is not None:
                data[place] = block[counting[:, None], kept].ravel()
        return self.rows


def _write(owner: RowOwner, point: Point, rhs: Vector | None, error: Vector, jacobian: bool) -> Matrix | None:
    """Write the errors of one owner; return the declared columns of their Jacobian where it is asked for."""
    if jacobian and owner.errors_are_values:
        block = owner.measured.compact(point, error)
        if rhs is not None:
            error -= rhs
        return block
    J: Matrix | None = point.scratch(owner, "sparse rows", (owner.group.nv, owner.space.nv)) if jacobian else None
    owner.write_position(point, rhs, error, J)
    return None if J is None else J[:, owner.columns]

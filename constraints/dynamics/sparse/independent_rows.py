"""Which rows of many closures are independent: those of each closure first, then of all where that was not enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.formulas.batch_algebra import cross

from ...linear_algebra import LEAST_ROW, RANK_TOLERANCE, numerical_rank, pivots


class Paths(NamedTuple):
    """The joints between the two frames of closures, for closures with as many rows and as many columns.

    Attributes:
        which: which closures (k,).
        rows: their rows in the stack (k, r).
        columns: tangent columns of the joints on exactly one of the two chains (k, c).
        signs: +1 on the chain of the successor, -1 on that of the predecessor (k, c).
    """

    which: Indices
    rows: Indices
    columns: Indices
    signs: Vector

    def block(self, D: Matrix, J: Matrix, R: Matrix, p: Vector) -> Block:
        """Their rows of the Jacobian.

        Args:
            D: rows of all closures on their relative twists (size, 6).
            J: joint Jacobians (6, nv), spatial, in the world frame.
            R, p: poses of the successors of all closures in the world.
        """
        own, at, back = D[self.rows], p[self.which], R[self.which].transpose(0, 2, 1)
        columns = J.T[self.columns]  # (k, c, 6)
        linear = columns[:, :, :3] + cross(columns[:, :, 3:], at[:, None, :])
        seen = own[:, :, :3] @ (back @ linear.transpose(0, 2, 1))
        seen += own[:, :, 3:] @ (back @ columns[:, :, 3:].transpose(0, 2, 1))
        seen *= self.signs[:, None, :]
        return Block(self, seen)


class Block(NamedTuple):
    """Rows of the Jacobian of closures, without the columns that are zero.

    Attributes:
        paths: whose.
        values: (k, r, c).
    """

    paths: Paths
    values: Matrix

    @property
    def lengths(self) -> Vector:
        """Norms of the rows (k, r)."""
        return np.sqrt((self.values**2).sum(2))

    def times(self, a: Vector) -> Vector:
        """Their rows times joint accelerations or velocities (nv,): (k, r)."""
        return np.matmul(self.values, a[self.paths.columns][:, :, None])[:, :, 0]

    def sizes(self, a: Vector) -> Vector:
        """Sizes of the terms of these products (k, r): sums of their absolute values."""
        return np.matmul(np.abs(self.values), np.abs(a)[self.paths.columns][:, :, None])[:, :, 0]


def paths_of(ends: Sequence[tuple[int, int]], slices: Sequence[slice], model: object) -> list[Paths]:
    """The paths of closures, those of one size together.

    Args:
        ends: joints of predecessor and successor.
        slices: rows of the closures in the stack.
        model: the tree.
    """
    parents, starts, sizes = (list(getattr(model, name)) for name in ("parents", "idx_vs", "nvs"))
    sorts: dict[tuple[int, int], list[tuple[int, list[int], list[float]]]] = {}
    for i, ((a, b), rows) in enumerate(zip(ends, slices, strict=True)):
        columns: list[int] = []
        signs: list[float] = []
        while a != b:
            joint = max(a, b)
            columns += range(starts[joint], starts[joint] + sizes[joint])
            signs += [1.0 if b > a else -1.0] * sizes[joint]
            a, b = (parents[a], b) if a > b else (a, parents[b])
        sorts.setdefault((rows.stop - rows.start, len(columns)), []).append((i, columns, signs))
    found: list[Paths] = []
    for (count, width), members in sorts.items():
        which = np.array([i for i, _, _ in members], dtype=np.intp)
        first = np.array([slices[i].start for i, _, _ in members], dtype=np.intp)
        columns_of = np.array([columns for _, columns, _ in members], dtype=np.intp).reshape(-1, width)
        signs_of = np.array([signs for _, _, signs in members]).reshape(-1, width)
        found.append(Paths(which, first[:, None] + np.arange(count), columns_of, signs_of))
    return found


def independent_in_closures(blocks: Sequence[Block], on: BoolVector, rounding: float) -> tuple[BoolVector, float]:
    """Rows (size,) that are independent among those of their own closure, and the norm of what is left of the others.

    It is a QR with row pivoting of all closures at once; pivots up to `rounding` of the longest row of all are zero.
    """
    kept, rest = np.zeros_like(on), 0.0
    longest = max((float((block.lengths * on[block.paths.rows]).max(initial=0.0)) for block in blocks), default=0.0)
    least = (rounding * max(longest, LEAST_ROW)) ** 2
    for block in blocks:
        rows = block.paths.rows
        left = block.values * on[rows][:, :, None]
        here: BoolVector = np.zeros(rows.shape, dtype=np.bool_)
        all_of: Indices = np.arange(rows.shape[0], dtype=np.intp)
        for _ in range(min(left.shape[1:])):
            sizes = (left**2).sum(2)
            pick = sizes.argmax(1)
            best = sizes[all_of, pick]
            good = best > least
            if not good.any():
                break
            here[all_of[good], pick[good]] = True
            u = left[all_of, pick] * (good / np.sqrt(np.where(good, best, 1.0)))[:, None]
            left -= np.matmul(left, u[:, :, None]) * u[:, None, :]
            left[all_of[good], pick[good]] = 0.0
        kept[rows] = here
        rest += float((left**2).sum())
    return kept, sqrt(rest)


class Choice(NamedTuple):
    """Independent rows among all.

    Attributes:
        rows: true for these rows (size,).
        columns: as many columns of the Jacobian, which are independent too.
        rest: norm of what is left of the other rows.
    """

    rows: BoolVector
    columns: Indices
    rest: float


def independent_by_elimination(blocks: Sequence[Block], kept: BoolVector) -> Choice | None:
    """Rows that are independent among all kept ones: pivots of a Gaussian elimination that keeps rows short.

    Columns are taken from the leaves of the tree, since closures between neighbours share few of them; the pivot is in
    the shortest row that has a tenth of the largest entry. Entries up to 1e-6, in rows of unit length, are zero.

    Returns:
        None where the rows become long.
    """
    left, lengths = _unit_rows(blocks, kept), np.zeros(kept.size)
    for block in blocks:
        lengths[block.paths.rows] = block.lengths
    holders: dict[int, set[int]] = {}
    for i, row in left.items():
        for column in row:
            holders.setdefault(column, set()).add(i)
    budget = LONGEST * sum(map(len, left.values()))
    rows, columns, rest = np.zeros_like(kept), list[int](), 0.0
    for column in sorted(holders, reverse=True):
        values = {i: left[i].pop(column) for i in sorted(holders[column]) if i in left and column in left[i]}
        largest = max(map(abs, values.values()), default=0.0)
        if largest <= RANK_TOLERANCE:
            rest += sum((x * lengths[i]) ** 2 for i, x in values.items())
            continue
        pivot = min((i for i, x in values.items() if abs(x) >= 0.1 * largest), key=lambda i: len(left[i]))
        rows[pivot], row = True, left.pop(pivot)
        columns.append(column)
        for i in values.keys() - {pivot}:
            budget -= len(row) + 1
            factor, other = values[i] / values[pivot], left[i]
            for c, x in row.items():
                other[c] = other.get(c, 0.0) - factor * x
                holders[c].add(i)
                if abs(other[c]) < CANCELLED:
                    del other[c]
        if budget < 0:
            return None
    return Choice(rows, np.array(columns, dtype=np.intp), sqrt(rest))


CANCELLED = 1e-11
"""An entry of a row of unit length that is less than this is what rounding left of zero."""

LONGEST = 30
"""How many times the entries of the rows an elimination may touch: beyond, a dense decomposition is as good."""


def _unit_rows(blocks: Sequence[Block], kept: BoolVector) -> dict[int, dict[int, float]]:
    """The kept rows, of unit length: row -> column -> entry."""
    found: dict[int, dict[int, float]] = {}
    for block in blocks:
        columns, values = block.paths.columns.tolist(), block.values
        values = values / np.sqrt(np.maximum((values**2).sum(2), np.finfo(np.float64).tiny))[:, :, None]
        for k, r in zip(*np.nonzero(kept[block.paths.rows]), strict=True):
            found[int(block.paths.rows[k, r])] = dict(zip(columns[k], values[k, r].tolist(), strict=True))
    return found


def independent_of_all(blocks: Sequence[Block], kept: BoolVector, nv: int) -> Choice:
    """The same by a dense QR of the rows of unit length, of cost n^3."""
    chosen = np.flatnonzero(kept)
    rows_of: Matrix = dense(blocks, kept.size, nv)[chosen]
    lengths = np.sqrt((rows_of**2).sum(1))
    J = rows_of / lengths[:, None]
    order, sizes = pivots(J.T)
    rank = numerical_rank(sizes)
    rows = np.zeros_like(kept)
    rows[chosen[order[:rank]]] = True
    rest = float(np.sqrt((sizes[rank:] ** 2).sum() * len(J))) * float(lengths[order[rank:]].max(initial=0.0))
    return Choice(rows, pivots(J[order[:rank]])[0][:rank], rest)


def dense(blocks: Sequence[Block], size: int, nv: int) -> Matrix:
    """The rows of blocks as one Jacobian (size, nv)."""
    J = np.zeros((size, nv))
    for block in blocks:
        J[block.paths.rows[:, :, None], block.paths.columns[:, None, :]] = block.values
    return J


def least_norm(blocks: Sequence[Block], on: BoolVector, kept: BoolVector, multipliers: Vector) -> Vector:
    """Multipliers (size,) of the same forces with the least norm, where closures are independent of each other.

    Args:
        blocks: rows of the Jacobian.
        on: rows that count.
        kept: rows that are independent.
        multipliers: zero on the others.
    """
    out = multipliers.copy()
    for block in blocks:
        rows = block.paths.rows
        several = np.flatnonzero((on[rows] & ~kept[rows] & (block.lengths > 0.0)).any(1))
        if several.size:
            own = rows[several]
            basis: Matrix = np.linalg.svd(block.values[several] * on[own][:, :, None], full_matrices=False)[0]
            spanned: BoolVector = np.arange(basis.shape[2], dtype=np.intp) < kept[own].sum(1)[:, None]
            parts: Matrix = np.matmul(multipliers[own][:, None, :], basis)[:, 0] * spanned
            out[own] = np.matmul(basis, parts[:, :, None])[:, :, 0]
    return out


def least_norm_of_all(blocks: Sequence[Block], on: BoolVector, choice: Choice, multipliers: Vector, nv: int) -> Vector:
    r"""The same where closures depend on each other: the projection onto the span of independent columns J.

    .. math::

        \begin{pmatrix} 1 & J \\ J^T & 0 \end{pmatrix} \begin{pmatrix} \lambda - \lambda_{least} \\ y \end{pmatrix} =
        \begin{pmatrix} \lambda \\ 0 \end{pmatrix}
    """
    place = np.full(nv, -1, dtype=np.intp)
    place[choice.columns] = np.arange(choice.columns.size)
    size, parts = multipliers.size, list[tuple[Indices, Indices, Vector]]()
    for block in blocks:
        rows = np.broadcast_to(block.paths.rows[:, :, None], block.values.shape)
        columns = np.broadcast_to(place[block.paths.columns][:, None, :], block.values.shape)
        used = (columns >= 0) & on[rows]
        parts.append((rows[used], columns[used] + size, block.values[used]))
    i, j, x = (np.concatenate(part) for part in zip(*parts, strict=True))
    own = np.arange(size)
    places = np.concatenate([own, i, j]), np.concatenate([own, j, i])
    n = size + choice.columns.size
    matrix: Any = csc_matrix((np.concatenate([np.ones(size), x, x]), places), shape=(n, n))
    solve: Callable[[Vector], Vector] = cast(Any, splu(matrix)).solve
    b = np.concatenate([multipliers, np.zeros(choice.columns.size)])
    y = solve(b)
    return multipliers - (y + solve(b - matrix @ y))[:size]

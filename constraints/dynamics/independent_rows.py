"""Which rows of many closures are independent: those of each closure first, then of all where that was not enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..linear_algebra import RANK_TOLERANCE, numerical_rank, pivots
from .relative_rows import crossed

ZERO_ROW = 1e-11
"""A row shorter than this part of what its closure and its joints could make of it is rounding: it is zero."""


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
        linear = columns[:, :, :3] + crossed(columns[:, :, 3:], at[:, None, :])
        seen = own[:, :, :3] @ (back @ linear.transpose(0, 2, 1))
        seen += own[:, :, 3:] @ (back @ columns[:, :, 3:].transpose(0, 2, 1))
        seen *= self.signs[:, None, :]
        reach = np.sqrt((linear**2).sum(2).max(1, initial=0.0)) + 1.0
        return Block(self, seen, ZERO_ROW * np.sqrt((own**2).sum(2)) * reach[:, None])


class Block(NamedTuple):
    """Rows of the Jacobian of closures, without the columns that are zero.

    Attributes:
        paths: whose.
        values: (k, r, c).
        floor: lengths up to which a row is zero (k, r).
    """

    paths: Paths
    values: Matrix
    floor: Vector

    def times(self, a: Vector) -> Vector:
        """Their rows times joint accelerations or velocities (nv,): (k, r)."""
        return np.matmul(self.values, a[self.paths.columns][:, :, None])[:, :, 0]

    def sizes(self, a: Vector) -> Vector:
        """What these products are made of (k, r): the sum of the sizes of their terms."""
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
        first = np.array([slices[i].start for i in which.tolist()], dtype=np.intp)
        columns_of = np.array([columns for _, columns, _ in members], dtype=np.intp).reshape(-1, width)
        signs_of = np.array([signs for _, _, signs in members]).reshape(-1, width)
        found.append(Paths(which, first[:, None] + np.arange(count), columns_of, signs_of))
    return found


def independent_in_closures(blocks: Sequence[Block], on: BoolVector) -> BoolVector:
    """Rows (size,) that are independent among the rows of their own closure: the pivots of its rows of unit length.

    It is a QR with row pivoting of all closures at once; pivots up to 1e-6 are zero.

    Args:
        blocks: rows of the Jacobian.
        on: rows that count.
    """
    kept = np.zeros_like(on)
    for block in blocks:
        rows = block.paths.rows
        lengths = np.sqrt((block.values**2).sum(2))
        counted = on[rows] & (lengths > block.floor)
        left = block.values * (counted / np.where(counted, lengths, 1.0))[:, :, None]
        here, all_of = np.zeros_like(counted), np.arange(rows.shape[0])
        for _ in range(min(left.shape[1:])):
            sizes = (left**2).sum(2)
            pick = sizes.argmax(1)
            best = sizes[all_of, pick]
            good = best > RANK_TOLERANCE**2
            if not good.any():
                break
            here[all_of[good], pick[good]] = True
            u = left[all_of, pick] * (good / np.sqrt(np.where(good, best, 1.0)))[:, None]
            left -= np.matmul(left, u[:, :, None]) * u[:, None, :]
            left[all_of, pick] = 0.0
        kept[rows] = here
    return kept


def independent_of_all(blocks: Sequence[Block], kept: BoolVector, nv: int) -> BoolVector:
    """Rows (size,) that are independent among all kept ones: pivots of a dense QR, of cost n^3.

    Args:
        blocks: rows of the Jacobian.
        kept: rows that count.
        nv: number of columns.
    """
    chosen = np.flatnonzero(kept)
    J = dense(blocks, kept.size, nv)[chosen]
    order, sizes = pivots((J / np.sqrt((J**2).sum(1))[:, None]).T)
    out = np.zeros_like(kept)
    out[chosen[order[: numerical_rank(sizes)]]] = True
    return out


def dense(blocks: Sequence[Block], size: int, nv: int) -> Matrix:
    """The rows of blocks as one Jacobian (size, nv)."""
    J = np.zeros((size, nv))
    for block in blocks:
        J[block.paths.rows[:, :, None], block.paths.columns[:, None, :]] = block.values
    return J


def least_norm(blocks: Sequence[Block], on: BoolVector, kept: BoolVector, multipliers: Vector, nv: int) -> Vector:
    """Multipliers (size,) that make the same forces with the least norm, where closures are independent of each other.

    Args:
        blocks: rows of the Jacobian.
        on: rows that count.
        kept: rows that are independent.
        multipliers: zero on the others.
        nv: number of columns.
    """
    out = multipliers.copy()
    for block in blocks:
        rows = block.paths.rows
        lengths = np.sqrt((block.values**2).sum(2))
        several = np.flatnonzero((on[rows] & ~kept[rows] & (lengths > block.floor)).any(1))
        if several.size:
            own = rows[several]
            U = np.linalg.svd(block.values[several] * on[own][:, :, None], full_matrices=False)[0]
            U = U * (np.arange(U.shape[2]) < kept[own].sum(1)[:, None])[:, None, :]
            out[own] = np.matmul(U, np.matmul(multipliers[own][:, None, :], U)[:, 0, :, None])[:, :, 0]
    return out


def least_norm_of_all(
    blocks: Sequence[Block], on: BoolVector, kept: BoolVector, multipliers: Vector, nv: int
) -> Vector:
    """The same where closures depend on each other: by an SVD of all rows."""
    rows = np.flatnonzero(on)
    U = np.linalg.svd(dense(blocks, on.size, nv)[rows], full_matrices=False)[0][:, : int(kept.sum())]
    out = np.zeros_like(multipliers)
    out[rows] = U @ (multipliers[rows] @ U)
    return out

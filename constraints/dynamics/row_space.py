"""What a set of acceleration rows asks for: rank, what can be met of it, and multipliers of least norm."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..linear_algebra import numerical_rank, pivots

NO_ROW = 1e-12
"""Rows below this part of the longest one are rounding: they count as rows of zeros."""

CLEARLY_INDEPENDENT = 1e-4
"""A lower bound of the least singular value of unit rows from which on no decomposition is asked for their rank."""

UNIQUE = 1e-12
"""Square of the part of a unit row in vanishing combinations of rows, above which its multiplier is not unique."""

CONSISTENT = 1e-9
"""Part of the size of the accelerations up to which what redundant rows ask for may differ."""


class Independent(NamedTuple):
    r"""Rows B of full rank that span those of a Jacobian, and what they ask for: :math:`B\,a = \beta`.

    Attributes:
        rows: B (rank, nv), unit rows, or orthonormal ones where some were redundant.
        wanted: beta (rank,).
        is_consistent: whether a acceleration that meets them meets all rows.
        gap: norm of what cannot be met, in unit rows.
    """

    rows: Matrix
    wanted: Vector
    is_consistent: bool
    gap: float


@final
class RowSpace:
    r"""The rows of a Jacobian G (k, nv), brought to unit length: their rank, and what they can meet together.

    With :math:`G = D\,\hat G`, D the lengths of the rows, and :math:`\hat G = U S V^T`: singular values above 1e-6 of
    the largest count (`numerical_rank`). Rows of zeros (constraints that are off) have no part in it.

    Args:
        G: (k, nv).

    Attributes:
        rank: how many rows are independent.
        is_full: whether all rows are, but for those of zeros.
    """

    def __init__(self, G: Matrix) -> None:
        self.G = G
        lengths = np.sqrt(np.einsum("ij,ij->i", G, G))
        on = lengths > NO_ROW * lengths.max(initial=0.0)
        self._all = bool(on.all())
        self._on: Any = slice(None) if self._all else np.flatnonzero(on)
        self._lengths: Vector = lengths if self._all else lengths[on]
        rows = G if self._all else G[on]
        self._unit: Matrix = rows / self._lengths[:, None]
        self.is_full = self._is_clearly_full() or self._numerical_rank() == len(self._unit)
        self.rank = len(self._unit) if self.is_full else self._numerical_rank()

    def _is_clearly_full(self) -> bool:
        """Whether the Gram matrix of the unit rows bounds their least singular value from below, far from zero."""
        unit = self._unit
        if not len(unit):
            return True
        if len(unit) > unit.shape[1]:
            return False
        L, failed = lapack.dpotrf(unit @ unit.T, lower=1, clean=1)
        if failed:
            return False
        inverted: tuple[Matrix, int] = lapack.dtrtri(L, lower=1)
        inverse, failed = inverted
        return not failed and 1.0 > CLEARLY_INDEPENDENT**2 * float(np.vdot(inverse, inverse))

    @cached_property
    def _svd(self) -> tuple[Matrix, Vector, Matrix]:
        U, sizes, Vt = np.linalg.svd(self._unit, full_matrices=False)
        return U, sizes, Vt

    def _numerical_rank(self) -> int:
        return numerical_rank(self._svd[1])

    @property
    def singular_values(self) -> Vector:
        """Those of the unit rows, largest first."""
        return self._svd[1]

    @cached_property
    def redundant(self) -> Indices:
        """Rows (indices) that repeat others, as many as the rank lacks, in order."""
        if self.is_full:
            return np.zeros(0, dtype=np.intp)
        order = pivots(self._unit.T)[0]
        where = np.arange(len(self.G), dtype=np.intp)[self._on]
        return np.sort(where[order[self.rank :]])

    @cached_property
    def determined(self) -> BoolVector:
        """Rows (k,) whose multiplier is unique: those that no combination of the others can stand for.

        A row that has a part above 1e-6 in the combinations of unit rows that vanish is not one of them, nor is a row
        of zeros.
        """
        kept = np.zeros(len(self.G), dtype=np.bool_)
        kept[self._on] = True
        if not self.is_full:
            U = self._svd[0][:, : self.rank]
            kept[self._on] = 1.0 - np.einsum("ij,ij->i", U, U) <= UNIQUE
        return kept

    def independent(self, gamma: Vector, size: float = 0.0) -> Independent:
        r"""Rows of full rank that ask for the same, where all rows together can be met.

        Otherwise they ask for the least squares optimum of :math:`G\,a = \gamma`.

        Args:
            gamma: (k,), what the rows are asked to be.
            size: size of the accelerations that gamma was computed from: their rounding is no contradiction.
        """
        wanted: Vector = gamma if self._all else gamma[self._on]
        off = 0.0 if self._all else float(np.abs(np.delete(gamma, self._on)).max(initial=0.0))
        beta = wanted / self._lengths
        if self.is_full:
            return Independent(self._unit, beta, off <= CONSISTENT * (size + _norm(gamma)), off)
        left, values, right = self._svd
        U, sizes, Vt = left[:, : self.rank], values[: self.rank], right[: self.rank]
        all_met = self.met(gamma)
        met = (all_met if self._all else all_met[self._on]) / self._lengths
        gap = max(_norm(beta - met), off)
        return Independent(Vt, (U.T @ met) / sizes, gap <= CONSISTENT * (size + _norm(beta)), gap)

    def met(self, gamma: Vector) -> Vector:
        r"""The nearest to gamma (k,) that all rows can be together: :math:`G G^+ \gamma`."""
        if self.is_full:
            some: Vector = gamma if self._all else gamma[self._on]
        else:
            Q = np.linalg.qr(self._lengths[:, None] * self._svd[0][:, : self.rank])[0]
            some = Q @ (Q.T @ (gamma if self._all else gamma[self._on]))
        return self._spread(some)

    def unit(self, multipliers: Vector) -> Vector:
        """Multipliers of the unit rows, where all are independent, from those of all rows (k,)."""
        return self._lengths * (multipliers if self._all else multipliers[self._on])

    def _spread(self, some: Vector) -> Vector:
        if self._all:
            return some
        every = np.zeros(len(self.G))
        every[self._on] = some
        return every

    def multipliers(self, mu: Vector) -> Vector:
        r"""Multipliers (k,) of all rows from those of the independent ones, :math:`G^T \lambda = B^T \mu`.

        Where rows are redundant there are many: those of least norm.

        Args:
            mu: (rank,).
        """
        if self.is_full:
            some = mu / self._lengths
        else:
            U, sizes, _ = self._svd
            A = self._lengths[:, None] * U[:, : self.rank]
            some = A @ np.linalg.solve(A.T @ A, mu / sizes[: self.rank])
        return self._spread(some)


def _norm(x: Vector) -> float:
    return float(np.sqrt(x @ x))

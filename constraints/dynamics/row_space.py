"""What a set of acceleration rows asks for: rank, what can be met of it, and multipliers of least norm."""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import blas, lapack

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..linear_algebra import norm, numerical_rank, pivots

NO_ROW = 1e-8
"""Rows below this part of the longest one are rounding: they count as rows of zeros; at unit length they would hold
noise. What such rows ask for is noise up to the same part; a row that is zero to the bit is judged as the others are.
Those of a constraint set are judged by its own part (`ConstraintSet.rounding`)."""

CLEARLY_INDEPENDENT = 1e-4
"""A lower bound of the least singular value of unit rows from which on no decomposition is asked for their rank."""

UNIQUE = 1e-12
"""Square of the part of a unit row in vanishing combinations of rows, above which its multiplier is not unique."""

CONSISTENT = 3e-10
"""Part of the size of the accelerations up to which what redundant rows ask for may differ: success means rows met to
1e-9, in whatever norm that is asked, and norms of a few rows differ by factors of about 3."""

BALANCED = 1e-6
"""Accelerations below this part of what forces would do without each other are in balance: what is left is rounding."""

SAME = 1e-13
"""A singular value below this part of the largest one is rounding: the rows repeat each other to the last digit."""


_NONE: Indices = np.zeros(0, dtype=np.intp)
_NO_ROWS: Matrix = np.zeros((0, 0))


class Independent(NamedTuple):
    r"""Rows B of full rank that span those of a Jacobian, and what they ask for: :math:`B\,a = \beta`.

    Attributes:
        rows: B (rank, nv): the rows themselves, or orthonormal ones where some were redundant.
        wanted: beta (rank,).
        is_consistent: whether a acceleration that meets them meets all rows.
        gap: norm of what cannot be met, in unit rows.
        nearly: (m, nv) directions in which unit rows differ from combinations of these, as long as they differ (the
            singular values that do not count): rounding, unless rows only nearly repeat others.
        size: of the accelerations, by which that is judged; or what of them counts as rounding, where they are less.
    """

    rows: Matrix
    wanted: Vector
    is_consistent: bool
    gap: float
    nearly: Matrix
    size: float

    def are_all_met_by(self, a: Vector) -> bool:
        """Whether an acceleration (nv,) that meets these rows meets those that were left out, too."""
        if not len(self.nearly):
            return self.is_consistent
        return self.is_consistent and _norm(self.nearly @ a) <= CONSISTENT * (self.size + _norm(a))


@final
class RowSpace:
    r"""The rows of a Jacobian G (k, nv), brought to unit length: their rank, and what they can meet together.

    With :math:`G = D\,\hat G`, D the lengths of the rows, and :math:`\hat G = U S V^T`: singular values above 1e-6 of
    the largest count (`numerical_rank`). Rows of zeros (constraints that are off) have no part in it.

    Args:
        G: (k, nv).
        rounding: rows below this part of the longest one count as zero.

    Attributes:
        rank: how many rows are independent.
        is_full: whether all rows are, but for those of zeros.
        is_finite: whether G is; otherwise its rows count as zero.
    """

    def __init__(self, G: Matrix, rounding: float = NO_ROW) -> None:
        gram: Matrix = blas.dgemm(1.0, G.T, G.T, trans_a=1) if G.size else np.zeros((len(G), len(G)))
        lengths = np.sqrt(gram.diagonal())
        sizes: list[float] = lengths.tolist()
        longest, shortest = max(sizes, default=0.0), min(sizes, default=0.0)
        self.is_finite = isfinite(sum(sizes))
        self.G = G if self.is_finite else np.zeros_like(G)
        self._all = self.is_finite and shortest > rounding * longest
        self._on: Any = slice(None)
        self._lengths: Vector = lengths
        self.is_full = self._all and _are_clearly_independent(gram, lengths, G.shape[1])
        if self.is_full:
            self.rank = len(G)
            return
        if not self._all:
            self._on = np.flatnonzero(lengths > rounding * longest if self.is_finite else np.zeros(len(G), np.bool_))
            self._lengths = lengths[self._on]
            short = lengths[np.delete(np.arange(len(G)), self._on)]
            self._judged_by = np.where(short == 0.0, CONSISTENT, rounding)
        self.rank = numerical_rank(self._svd[1])
        self.is_full = self.rank == len(self._lengths)

    @property
    def _unit(self) -> Matrix:
        """Rows that are not zero, of unit length."""
        return self.G[self._on] / self._lengths[:, None]

    @cached_property
    def _svd(self) -> tuple[Matrix, Vector, Matrix]:
        U, sizes, Vt = np.linalg.svd(self._unit, full_matrices=False)
        return U, sizes, Vt

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
        kept = self.is_on
        if not self.is_full:
            U = self._svd[0][:, : self.rank]
            kept[self._on] = 1.0 - np.einsum("ij,ij->i", U, U) <= UNIQUE
        return kept

    @cached_property
    def vanishing(self) -> Matrix:
        r"""Combinations (k, n) of unit rows that vanish: orthonormal columns N with :math:`\hat G^T N = 0`.

        A row of zeros is one of its own. What :math:`D^{-1} N` (`lengths`) adds to the multipliers gives no force.
        """
        on = self.is_on
        zero = np.flatnonzero(~on)
        alone = np.zeros((len(self.G), zero.size))
        alone[zero, np.arange(zero.size)] = 1.0
        if self.is_full:
            return alone
        whole = np.linalg.qr(self._svd[0][:, : self.rank], mode="complete")[0]
        together = np.zeros((len(self.G), whole.shape[1] - self.rank))
        together[on] = whole[:, self.rank :]
        return np.concatenate([together, alone], axis=1)

    @property
    def lengths(self) -> Vector:
        """Lengths of the rows (k,); a row of zeros has that of the longest one, or 1 where all are zero."""
        every = np.full(len(self.G), float(self._lengths.max(initial=0.0)) or 1.0)
        every[self._on] = self._lengths
        return every

    @property
    def is_on(self) -> BoolVector:
        """Rows (k,) that are not zero."""
        on = np.zeros(len(self.G), dtype=np.bool_)
        on[self._on] = True
        return on

    @property
    def zero_rows(self) -> Indices:
        """Rows (indices) of zeros."""
        return _NONE if self._all else np.delete(np.arange(len(self.G), dtype=np.intp), self._on)

    def independent(self, gamma: Vector, size: float = 0.0) -> Independent:
        r"""Rows of full rank that ask for the same, where all rows together can be met.

        Otherwise they ask for the least squares optimum of :math:`G\,a = \gamma`.

        Args:
            gamma: (k,), what the rows are asked to be.
            size: size of the accelerations that gamma was computed from: their rounding is no contradiction; with that
                of forces which may cancel (`in_balance`).
        """
        if self.is_full and self._all:
            return Independent(self.G, gamma, True, 0.0, _NO_ROWS, size)
        wanted: Vector = gamma[self._on]
        off = np.zeros(0) if self._all else np.abs(np.delete(gamma, self._on))
        limits = np.zeros(0) if self._all else self._judged_by
        if self.is_full:
            rows: Matrix = self.G[self._on]
            size_of_all = size + _norm(gamma)
            agrees = bool((off <= limits * size_of_all).all())
            return Independent(rows, wanted, agrees, float(off.max(initial=0.0)), rows[:0], size)
        left, values, right = self._svd
        U, sizes, Vt = left[:, : self.rank], values[: self.rank], right[: self.rank]
        nearly: Matrix = values[self.rank :, None] * right[self.rank :]
        beta = wanted / self._lengths
        inside = U.T @ beta
        apart = _norm(beta - U @ inside)
        gap = max(apart, float(off.max(initial=0.0)))
        size += _norm(beta)
        is_consistent = apart <= CONSISTENT * size and bool((off <= limits * size).all())
        if not is_consistent:
            inside = U.T @ (self.met(gamma)[self._on] / self._lengths)
        return Independent(Vt, inside / sizes, is_consistent, gap, nearly, size)

    def met(self, gamma: Vector) -> Vector:
        r"""The nearest to gamma (k,) that all rows can be together: :math:`G G^+ \gamma`."""
        some: Vector = gamma[self._on]
        if not self.is_full:
            Q = np.linalg.qr(self._lengths[:, None] * self._svd[0][:, : self.rank])[0]
            some = Q @ (Q.T @ some)
        return self._spread(some)

    def of_independent(self, multipliers: Vector) -> Vector:
        """Multipliers of the independent rows, where those that are not zero are, from those of all rows (k,)."""
        return multipliers[self._on]

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
            some = mu
        else:
            U, sizes, Vt = self._svd
            kept = int((sizes > SAME * sizes[0]).sum())  # also those of rows that nearly repeat others push: not at all
            Q, R = np.linalg.qr(self._lengths[:, None] * U[:, :kept])
            push = np.zeros(kept)
            push[: self.rank] = mu
            some, rows = np.zeros(len(Q)), self.G[self._on]
            for _ in range(2):  # the second time what rounding left of the force: short rows need large multipliers
                left = push - Vt[:kept] @ (some @ rows)
                left[self.rank :] = 0.0  # along what rows nearly repeat: rounding, that tiny sizes would blow up
                some = some + Q @ lapack.dtrtrs(R, left / sizes[:kept], trans=1)[0]
        return self._spread(some)


def in_balance(inertia: float, force: Vector) -> float:
    """The size below which accelerations are in balance: they are judged by it, not by their own, which is rounding.

    Args:
        inertia: trace of the mass matrix; the mean of its diagonal is what forces accelerate.
        force: that others may cancel, those of rows among them (n,).
    """
    return BALANCED * norm(force) * force.size / inertia if inertia > 0.0 else 0.0


def _are_clearly_independent(gram: Matrix, lengths: Vector, columns: int) -> bool:
    r"""Whether the Gram matrix of rows, overwritten, bounds the least singular value of the unit rows far from zero.

    With :math:`\hat L` its Cholesky factor for unit rows, that value is at least :math:`1 / |\hat L^{-1}|_F`.
    """
    if not len(gram):
        return True
    if len(gram) > columns:
        return False
    L, failed = lapack.dpotrf(gram, lower=1, clean=1, overwrite_a=1)
    if failed:
        return False
    inverted: tuple[Matrix, int] = lapack.dtrtri(L, lower=1, overwrite_c=1)
    inverse, failed = inverted
    inverse *= lengths
    return not failed and 1.0 > CLEARLY_INDEPENDENT**2 * float(np.vdot(inverse, inverse))


def _norm(x: Vector) -> float:
    return norm(x) if x.size else 0.0

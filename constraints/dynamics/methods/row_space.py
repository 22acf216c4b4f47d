"""Rows of accelerations: their rank, the part of their right side that can be met, and multipliers of least norm."""

from __future__ import annotations

from functools import cached_property
from math import hypot, isfinite
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import blas, lapack

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...linear_algebra import LEAST_ROW, RANK_TOLERANCE, norm, pivots, rank_of_rows

CONSISTENT = 3e-10
"""Part of the size of the accelerations up to which what rows of unit length ask for may differ from what independent
rows give them: then these are met as they are, and short ones as long ones. Norms of a few rows differ by factors of
about 3, and success means rows met to 1e-9."""

SAME = 1e-14
"""A singular value up to this part of the largest one is rounding of the decomposition: its rows stay as they are."""

CLEARLY_INDEPENDENT = 1e-4
"""A lower bound of the least singular value of unit rows from which on no decomposition is asked for their rank."""

UNIQUE = 1e-12
"""Square of the part of a unit row in vanishing combinations of rows, above which its multiplier is not unique."""

MET = 1e-9
"""Part of the size of the accelerations up to which success promises that a row is met."""

BALANCED = 1e-6
"""Accelerations below this part of what forces would do without each other are in balance: what is left is rounding."""


_NONE: Indices = np.zeros(0, dtype=np.intp)
_NO_ROWS: Matrix = np.zeros((0, 0))
_NO_NUMBERS: Vector = np.zeros(0)


class Independent(NamedTuple):
    r"""Rows B of full rank that span those of a Jacobian, and what they ask for: :math:`B\,a = \beta`.

    Attributes:
        rows: B (rank, nv), rows of the Jacobian: of unit length where some were left out.
        wanted: beta (rank,).
        left_out: (m, nv) what does not count of the rows: combinations of them of norm 1, as short as they are (their
            singular values).
        asked: what these ask for (m,).
        apart: norm of what is asked of combinations that vanish, rows of zeros among them.
        limit: the miss of what was left out, by the size of the accelerations, up to which there is no contradiction:
            `rounding` times the largest singular value.
        size: of the accelerations that the rows were computed from; or what of them counts as rounding, where they are
            less.
    """

    rows: Matrix
    wanted: Vector
    left_out: Matrix
    asked: Vector
    apart: float
    limit: float
    size: float

    def are_all_met_by(self, a: Vector) -> bool:
        """Whether an acceleration (nv,) that meets these rows meets those that were left out, too, up to the limit."""
        beside = _norm(self.asked - self.left_out @ a) if len(self.asked) else 0.0
        return max(self.apart, beside) <= self.limit * (self.size + _norm(a))


@final
class RowSpace:
    r"""The rows of a Jacobian G (k, nv) as they are: their rank, and what they can meet together.

    With :math:`G = U S V^T`, singular values above `rounding` times the largest count (`rank_of_rows`, the rule of
    mobility and partitions too). The others, and rows of zeros, are left out: no force acts along them, and what they
    ask for, up to `rounding` of the accelerations, is no contradiction.

    Args:
        G: (k, nv).
        rounding: singular values up to this part of the largest one do not count.

    Attributes:
        rank: how many rows are independent.
        is_full: whether all rows are, but for those of zeros.
        is_regular: whether all rows are, and none is zero.
        is_finite: whether G is; otherwise its rows count as zero.
    """

    def __init__(self, G: Matrix, rounding: float = RANK_TOLERANCE) -> None:
        gram: Matrix = blas.dgemm(1.0, G.T, G.T, trans_a=1) if G.size else np.zeros((len(G), len(G)))
        lengths = np.sqrt(gram.diagonal())
        sizes: list[float] = lengths.tolist()
        shortest, whole = min(sizes, default=0.0), sum(sizes)
        self.is_finite = isfinite(whole)
        self.G = G if self.is_finite else np.zeros_like(G)
        self._rounding, self._lengths = rounding, lengths
        self._all = self.is_finite and shortest > 0.0
        if self._all and _are_clearly_independent(gram, lengths, G.shape[1], rounding * max(whole, LEAST_ROW)):
            self.is_full, self.is_regular, self.rank = True, True, len(G)
            return
        self._on = np.flatnonzero(lengths) if self.is_finite else _NONE
        self.rank = rank_of_rows(self._svd[1], rounding)
        self.is_full = self.rank == self._on.size
        self.is_regular = self.is_full and self._all

    @cached_property
    def _on(self) -> Indices:
        """Rows that are not zero."""
        return np.arange(len(self.G), dtype=np.intp)

    @cached_property
    def _svd(self) -> tuple[Matrix, Vector, Matrix]:
        """Of the rows that are not zero."""
        U, sizes, Vt = np.linalg.svd(self.G if self._all else self.G[self._on], full_matrices=False)
        return U, sizes, Vt

    @property
    def singular_values(self) -> Vector:
        """Those of the rows, largest first."""
        return self._svd[1]

    @cached_property
    def _order(self) -> Indices:
        """The rows that are not zero, as pivoted QR takes them: the first, as many as the rank, span the others."""
        return self._on[pivots(self.G[self._on].T)[0]]

    @cached_property
    def redundant(self) -> Indices:
        """Rows (indices) that repeat others or are rounding, as many as the rank lacks, in order; none of zeros."""
        return _NONE if self.is_full else np.sort(self._order[self.rank :])

    @cached_property
    def determined(self) -> BoolVector:
        """Rows (k,) whose multiplier is unique: those that no combination of the others can stand for.

        A row that has a part above 1e-6 in the combinations that vanish is not one of them, nor is a row of zeros.
        """
        return np.asarray(np.einsum("ij,ij->i", self.vanishing, self.vanishing) <= UNIQUE, dtype=np.bool_)

    @cached_property
    def vanishing(self) -> Matrix:
        r"""Combinations N (k, n) of rows that vanish, or do not count: orthonormal columns.

        A row of zeros is one of its own. What N adds to the multipliers gives no force.
        """
        zero = self.zero_rows
        alone = np.zeros((len(self.G), zero.size))
        alone[zero, np.arange(zero.size)] = 1.0
        if self.is_full:
            return alone
        whole = np.linalg.qr(self._svd[0][:, : self.rank], mode="complete")[0][:, self.rank :]
        together = np.zeros((len(self.G), whole.shape[1]))
        together[self._on] = whole
        return np.concatenate([together, alone], axis=1)

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

    @cached_property
    def _basis(self) -> tuple[Indices, Matrix, Matrix, Matrix]:
        """Independent rows: which; they, without what does not count and divided by their lengths; Q R of them."""
        chosen = np.sort(self._order[: self.rank])
        (U, sizes, Vt), r = self._svd, self.rank
        extra = slice(r, r + self._uncertain)
        rows = self.G[chosen] - (U[np.searchsorted(self._on, chosen), extra] * sizes[extra]) @ Vt[extra]
        rows /= self._lengths[chosen, None]
        Q, R = np.linalg.qr(rows.T)
        return chosen, rows, Q, R

    @property
    def _uncertain(self) -> int:
        """How many singular values do not count, but are no rounding of the decomposition either."""
        sizes = self._svd[1]
        return int((sizes[self.rank :] > SAME * sizes[0]).sum()) if sizes.size else 0

    @property
    def nearly_repeats(self) -> bool:
        """Whether rows are left out that repeat others, or are zero, only nearly."""
        return not self.is_full and self._uncertain > 0

    def independent(self, gamma: Vector, size: float = 0.0) -> Independent:
        r"""Rows of full rank, and what they are asked for: where rows contradict each other the least squares optimum.

        Args:
            gamma: (k,), what the rows are asked to be.
            size: size of the accelerations that gamma was computed from: their rounding is no contradiction; with that
                of forces which may cancel (`in_balance`).
        """
        if self.is_regular:
            return Independent(self.G, gamma, _NO_ROWS, _NO_NUMBERS, 0.0, 0.0, size)
        zero = self.zero_rows
        if self.is_full:
            limit = self._rounding * max(float(self._svd[1].max(initial=0.0)), LEAST_ROW)
            return Independent(
                self.G[self._on], gamma[self._on], _NO_ROWS, _NO_NUMBERS, _norm(gamma[zero]), limit, size
            )
        (left, values, right), r, on = self._svd, self.rank, self._on
        chosen, rows, Q, R = self._basis
        beta = gamma[chosen] / self._lengths[chosen]
        seen = (self.G[on] @ Q) @ lapack.dtrtrs(R, beta, trans=1)[0]  # what the others are where these are met
        differ = _norm((gamma[on] - seen) / self._lengths[on])
        if not differ <= CONSISTENT * (size + _norm(beta)):
            beta = self.met(gamma)[chosen] / self._lengths[chosen]
        asked = left.T @ gamma[on]
        apart = hypot(_norm(gamma[zero]), _norm(gamma[on] - left @ asked))
        limit = self._rounding * max(float(values.max(initial=0.0)), LEAST_ROW)
        return Independent(rows, beta, values[r:, None] * right[r:], asked[r:], apart, limit, size)

    def met(self, gamma: Vector) -> Vector:
        r"""The nearest to gamma (k,) that the rows that count can be together."""
        some: Vector = gamma[self._on]
        if not self.is_full:
            U = self._svd[0][:, : self.rank]
            some = U @ (U.T @ some)
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

    def along(self, force: Vector) -> Vector:
        r"""Multipliers mu (rank,) of the independent rows that give a force, :math:`B^T \mu = f`; not all rows are."""
        _, _, Q, R = self._basis
        mu: Vector = lapack.dtrtrs(R, Q.T @ force)[0]
        return mu

    def multipliers(self, mu: Vector) -> Vector:
        r"""Multipliers (k,) of all rows from those of the independent ones, :math:`G^T \lambda = B^T \mu`.

        Where rows are redundant there are many: those of least norm, which have no part along what does not count.
        """
        if self.is_full:
            return self._spread(mu)
        chosen, rows, _, _ = self._basis
        lengths, U, every = self._lengths[chosen], self._svd[0][:, : self.rank], np.zeros(len(self.G))
        every[chosen] = mu / lengths
        every[self._on] = U @ (U.T @ every[self._on])
        every[chosen] += self.along(mu @ rows - every @ self.G) / lengths  # large ones of short rows cost others digits
        return every


def in_balance(inertia: float, force: Vector) -> float:
    """The size below which accelerations of forces that cancel are rounding: `BALANCED` of what one alone would cause.

    Args:
        inertia: trace of the mass matrix; the mean of its diagonal is what forces accelerate.
        force: that others may cancel, those of rows among them (n,).
    """
    return BALANCED * norm(force) * force.size / inertia if inertia > 0.0 else 0.0


def missed(G: Matrix, a: Vector, gamma: Vector, size: float, balanced: float = 0.0) -> dict[int, float]:
    """Rows that are missed by more than 1e-9 of the accelerations: row -> by how much, in order.

    Args:
        G: (k, nv).
        a: acceleration (nv,).
        gamma: what the rows are asked for (k,).
        size: of the accelerations that gamma was computed from.
        balanced: size below which accelerations are in balance (`in_balance`): a millionth of it is rounding.
    """
    left, least = np.abs(G @ a - gamma), MET * (size + _norm(a)) + BALANCED * balanced
    return {int(i): float(left[i]) for i in np.flatnonzero(left > least)}


def _are_clearly_independent(gram: Matrix, lengths: Vector, columns: int, least: float) -> bool:
    r"""Whether the Gram matrix of rows, overwritten, bounds their least singular value above `least`, and accurately.

    With L its Cholesky factor, that value is at least :math:`1 / |L^{-1}|_F`. It is accurate where the same bound of
    the rows brought to unit length is far from zero.
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
    if failed or not least * least * float(np.vdot(inverse, inverse)) < 1.0:
        return False
    inverse *= lengths
    return 1.0 > CLEARLY_INDEPENDENT**2 * float(np.vdot(inverse, inverse))


def _norm(x: Vector) -> float:
    return norm(x) if x.size else 0.0

"""Dense factorisations of the linear algebra of dynamics: A x = b, or None where A is nearly singular."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Matrix, Vector

from .status import Factorisation
from .tree_sparsity import MASSLESS

SUSPECT = 1e-11
"""Estimate of the reciprocal condition of the saddle point below which it is judged by its motions without rows."""


def lightest(L: Matrix, A: Matrix) -> float:
    """The least pivot of a Cholesky factor, as a part of its diagonal entry."""
    pivots = L.diagonal()
    return float((pivots * pivots / A.diagonal()).min(initial=1.0))


def _by_lu(A: Matrix, b: Vector) -> Vector | None:
    norm = float(np.abs(A).sum(axis=0).max(initial=0.0))
    LU, pivots, failed = lapack.dgetrf(A)
    if failed or not lapack.dgecon(LU, norm)[0] > SUSPECT:
        return None
    return lapack.dgetrs(LU, pivots, b)[0]


def _by_qr(A: Matrix, b: Vector) -> Vector | None:
    Q, R = np.linalg.qr(A)
    return _back(R, Q.T @ b)


def _by_pivoted_qr(A: Matrix, b: Vector) -> Vector | None:
    packed, order, tau, _, _ = lapack.dgeqp3(A)
    right, _, _ = lapack.dormqr("L", "T", packed, tau, b[:, None], max(64, 32 * len(b)))
    x = _back(packed, right[:, 0])
    if x is None:
        return None
    out = np.empty_like(x)
    out[order - 1] = x
    return out


def _back(R: Matrix, b: Vector) -> Vector | None:
    """Back substitution, unless the triangle is nearly singular."""
    if not lapack.dtrcon(R)[0] > SUSPECT:
        return None
    return lapack.dtrtrs(R, b)[0]


def by_cholesky(A: Matrix, b: Vector, parts: Vector | None = None) -> Vector | None:
    """Solve A x = b for an A that is positive definite; None where it is nearly singular.

    Args:
        A: (n, n).
        b: (n,).
        parts: what the diagonal entries were added up from (n,), by which their rounding is judged; themselves if
            absent.
    """
    L, failed = lapack.dpotrf(A, lower=1)
    pivots: Vector = L.diagonal()
    sizes = A.diagonal() if parts is None else parts
    if failed or not (pivots * pivots > MASSLESS * sizes).all():
        return None
    return lapack.dpotrs(L, b, lower=1)[0]


def _gram_by_cholesky(Y: Matrix, b: Vector) -> Vector:
    K = Y.T @ Y
    L, failed = lapack.dpotrf(K, lower=1)
    return _gram_by_qr(Y, b) if failed else lapack.dpotrs(L, b, lower=1)[0]


def _gram_by_lu(Y: Matrix, b: Vector) -> Vector:
    return lapack.dgesv(Y.T @ Y, b)[2]


def _gram_by_qr(Y: Matrix, b: Vector) -> Vector:
    R = np.linalg.qr(Y, mode="r")
    return lapack.dtrtrs(R, lapack.dtrtrs(R, b, trans=1)[0])[0]


def _gram_by_pivoted_qr(Y: Matrix, b: Vector) -> Vector:
    packed, order, _, _, _ = lapack.dgeqp3(np.asfortranarray(Y))
    order, k = order - 1, len(b)
    R = packed[:k]
    out = np.empty(k)
    out[order] = lapack.dtrtrs(R, lapack.dtrtrs(R, b[order], trans=1)[0])[0]
    return out


SQUARE: dict[Factorisation, Callable[[Matrix, Vector], Any]] = {
    Factorisation.CHOLESKY: _by_lu,
    Factorisation.LU: _by_lu,
    Factorisation.PIVOTED_QR: _by_pivoted_qr,
    Factorisation.QR: _by_qr,
}
DEFINITE = {**SQUARE, Factorisation.CHOLESKY: by_cholesky}
GRAM: dict[Factorisation, Callable[[Matrix, Vector], Vector]] = {
    Factorisation.CHOLESKY: _gram_by_cholesky,
    Factorisation.LU: _gram_by_lu,
    Factorisation.PIVOTED_QR: _gram_by_pivoted_qr,
    Factorisation.QR: _gram_by_qr,
}

"""Linear algebra: products of short vectors, ranks of Jacobians by one tolerance, linear systems with held rows."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import Any, final

import numpy as np
from scipy.linalg import blas, qr

from liegroups.arguments import as_tolerance
from liegroups.arrays import Indices, Matrix, Vector

from .errors import OptionError

_log = logging.getLogger(__name__)

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit the threads of the linear algebra."""

dot: Callable[[Vector, Vector], float] = blas.ddot
"""Product of two contiguous vectors that are not empty, as a plain float: a third of the time of numpy's own."""

norm: Callable[[Vector], float] = blas.dnrm2
"""Norm of a contiguous vector that is not empty, also where its square would overflow."""


def as_rank_tolerance(candidate: object, what: str) -> float:
    """Take a part of the largest singular value from a user: a number that is not negative, and below 1.

    Raises:
        WrongObjectError: no number, or below zero.
        OptionError: 1 or more.
    """
    tolerance = as_tolerance(candidate, what)
    if tolerance >= 1.0:
        words = f"a part of the largest singular value, below 1 (usual: {RANK_TOLERANCE:g})"
        raise OptionError(f"{what}: expected {words}, got {tolerance:g}")
    return tolerance


@cache
def warn_of_threads() -> None:
    """Say once where threads of the linear algebra will wait for each other: several may be used, on a busy machine.

    Matrices of mechanisms are small: threads gain little where cores are idle, and cost a multiple where they are not.
    """
    cores = os.cpu_count() or 1
    if not may_use_threads() or not hasattr(os, "getloadavg") or os.getloadavg()[0] < cores:
        return
    _log.warning(
        "the machine is busy (load %.1f on %d cores) and the linear algebra may use several threads, which then wait "
        "for each other: set OMP_NUM_THREADS=1 before Python starts (matrices of mechanisms are small)",
        os.getloadavg()[0],
        cores,
    )


def may_use_threads() -> bool:
    """Whether the linear algebra may use several threads: no limit of one is set, and there are several cores."""
    return (os.cpu_count() or 1) > 1 and all(os.environ.get(name) != "1" for name in THREADS)


def is_finite(x: Vector) -> bool:
    """Whether a contiguous vector is: by one call of BLAS, without a warning where squares overflow."""
    return not x.size or isfinite(norm(x))


def largest(x: Vector | Matrix) -> float:
    """Size of the largest entry; 0 where there is none."""
    return float(np.abs(x).max(initial=0.0))


def row_lengths(A: Matrix) -> Vector:
    """Norms (n,) of the rows of A (n, m)."""
    return np.sqrt(np.einsum("ij,ij->i", A, A))


RANK_TOLERANCE = 1e-6
"""Singular values and pivots of a Jacobian that are not above this part of the largest one count as zero."""

LEAST_ROW = 1e-6
"""Where no row moves by more, for velocities of 1, ranks are those of rows as long as this [m, rad]."""

TIE = 1e-7
"""Columns whose distances from a span differ by a smaller part are equally far: LAPACK knows distances to 1e-8."""

FLAT = 1e-9
"""A curvature below this part of the largest is none."""


def numerical_rank(sizes: Vector, scale: float | None = None, tolerance: float = RANK_TOLERANCE) -> int:
    r"""How many of some sizes count: those with :math:`s_i > \tau\, s_{max}`. The one count of ranks.

    The sizes are singular values where a rank is reported, or where rows may be mixed: these depend neither on the
    order of rows nor on that of columns, and the least of them is the distance to a matrix of lower rank. They are
    pivots of a QR with column pivoting (`pivots`, `row_space`) where rows or columns have to be chosen, and within the
    steps of a solver, since that decomposition is the cheaper one.

    Args:
        sizes: singular values, or pivots without their signs, in any order.
        scale: :math:`s_{max}`; the largest of the sizes by default. To be said for what is left of a matrix after a
            projection, which may be rounding alone.
        tolerance: :math:`\tau`.
    """
    largest = sizes.max(initial=0.0) if scale is None else scale
    return int((sizes > tolerance * largest).sum())


def rank_of_rows(values: Vector, rounding: float = RANK_TOLERANCE) -> int:
    r"""Rank of the rows of constraints by their singular values, :math:`s_i > \rho \max(s_{max}, 10^{-6})`.

    The one rule for mobility, partitions, velocities, dynamics by every method, impacts and derivatives. The rows are
    taken as they are, in m, rad or what their functions give: lengths of rows do not decide, for they change with the
    axes in which a constraint is written. Where nothing moves any row, all are rounding.

    Args:
        values: singular values of the rows that are on.
        rounding: :math:`\rho`.
    """
    return numerical_rank(values, max(float(values.max(initial=0.0)), LEAST_ROW), rounding)


def singular_values(A: Matrix) -> Vector:
    """Singular values of A, largest first."""
    return np.asarray(np.linalg.svd(A, compute_uv=False), dtype=np.float64)


def pivots(A: Matrix) -> tuple[Indices, Vector]:
    """Columns of A (n,) in the order in which pivoted QR takes them, and its pivots without signs, largest first.

    The first columns, as many as the rank, span the others. Of columns that are equally far from the span of those
    before, the first one is taken, and not the one that the rounding of this processor's BLAS makes longer.
    """
    if not A.size:
        return np.arange(A.shape[1], dtype=np.intp), np.zeros(0)
    preference: Vector = np.power(1.0 - TIE, np.arange(A.shape[1], dtype=np.float64))
    decomposition: Any = qr(A * preference, mode="r", pivoting=True)
    R, order = decomposition
    return np.asarray(order, dtype=np.intp), np.abs(np.diag(R)) / preference[order[: min(A.shape)]]


def row_space(J: Matrix) -> tuple[Matrix, int]:
    """Orthogonal matrix whose first columns span the rows of J, and how many: its rank by pivoted QR.

    Args:
        J: (rows, columns).
    """
    if not J.size:
        return np.eye(J.shape[1]), 0
    Q, R, _ = qr(J.T, pivoting=True)
    return np.array(Q, dtype=np.float64), numerical_rank(np.abs(np.diag(R)))


def null_space(J: Matrix) -> Matrix:
    """Orthonormal basis (columns, columns less rank) of the vectors that J maps to zero, by pivoted QR."""
    Q, rank = row_space(J)
    return Q[:, rank:]


@final
class KktSystem:
    r"""How the minimum of a quadratic function with held rows moves with a parameter.

    .. math::

        \begin{pmatrix} H & -E^T \\ E & 0 \end{pmatrix}
        \begin{pmatrix} dx \\ d\lambda \end{pmatrix} = - \begin{pmatrix} g_\theta \\ c_\theta \end{pmatrix}

    solved by the null space Z of E, which may have redundant rows:
    :math:`dx = -E^+ c_\theta + Z z`, :math:`(Z^T H Z)\, z = -Z^T (g_\theta - H E^+ c_\theta)`.

    Args:
        E: held rows (k, n); singular values below 1e-6 of the largest are zero.
        hessian: H (n, n).

    Attributes:
        E: held rows (k, n).
        is_singular: whether the curvature along Z vanishes somewhere: then there is no derivative.
    """

    def __init__(self, E: Matrix, hessian: Matrix) -> None:
        self.E, self._hessian = E, hessian
        U, values, V = np.linalg.svd(E)
        rank = numerical_rank(values)
        self._follow: Matrix = -(V[:rank].T / values[:rank]) @ U[:, :rank].T
        self._Z: Matrix = V[rank:].T
        self._curvature = self._Z.T @ hessian @ self._Z
        self.is_singular = False
        if self._Z.shape[1]:
            sizes = singular_values(self._curvature)
            self.is_singular = not sizes[-1] > FLAT * max(float(np.abs(hessian).max()), float(sizes[0]))

    def motion(self, rows: Matrix, gradient: Matrix) -> tuple[Matrix, Vector]:
        """The motions dx (n, p), and what is left of the changes of the rows (p,) because no motion follows them.

        Args:
            rows: changes of the held rows, a column each (k, p).
            gradient: changes of the gradient of the Lagrangian (n, p).
        """
        follow = self._follow @ rows
        left = np.linalg.norm(self.E @ follow + rows, axis=0)
        if self._Z.shape[1]:
            pull = self._Z.T @ (gradient + self._hessian @ follow)
            follow = follow - self._Z @ np.linalg.solve(self._curvature, pull)
        return follow, np.asarray(left, dtype=np.float64)

    def kept(self) -> Matrix:
        """The projector (n, n) onto the motions that keep the rows, along those that H calls orthogonal to them."""
        return np.asarray(self._Z @ np.linalg.solve(self._curvature, self._Z.T @ self._hessian))

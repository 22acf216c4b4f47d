"""Linear algebra: products of short vectors, and ranks of Jacobians by one tolerance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas, qr

from liegroups.arrays import Matrix, Vector

__all__ = ["RANK_TOLERANCE", "dot", "norm", "row_space"]

dot: Callable[[Vector, Vector], float] = blas.ddot
"""Product of two contiguous vectors that are not empty, as a plain float: a third of the time of numpy's own."""

norm: Callable[[Vector], float] = blas.dnrm2
"""Norm of a contiguous vector that is not empty, also where its square would overflow."""

RANK_TOLERANCE = 1e-6
"""Pivots of a Jacobian smaller than this part of the largest one count as zero."""


def row_space(J: Matrix) -> tuple[Matrix, int]:
    """Orthogonal matrix whose first columns span the rows of J, and how many: its rank by pivoted QR.

    Args:
        J: (rows, columns).
    """
    if not J.size:
        return np.eye(J.shape[1]), 0
    Q, R, _ = qr(J.T, pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > RANK_TOLERANCE * pivots.max(initial=0.0)).sum())
    return np.array(Q, dtype=np.float64), rank

"""Ranks of Jacobians: one tolerance, one decomposition."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from .arrays import Matrix

__all__ = ["RANK_TOLERANCE", "row_space"]

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

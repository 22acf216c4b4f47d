"""The step of a level: damped least squares by Cholesky."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.linalg import blas, lapack

from ..arrays import Matrix, Vector

__all__ = ["DampedCholesky"]

_dposv: Any = lapack.dposv
_dsyrk: Any = blas.dsyrk


@final
class DampedCholesky:
    r"""Damped step of one level.

    .. math:: dq = -J^T y, \qquad (J J^T + \mu I)\, y = e

    It minimises :math:`|J\,dq + e|^2 + \mu |dq|^2`.

    Args:
        rows: number of rows.
    """

    __slots__ = ("_identity",)

    def __init__(self, rows: int) -> None:
        self._identity = np.eye(rows, order="F")

    def solve(self, e: Vector, J: Matrix, mu: float) -> Vector:
        """The step (nv,).

        Args:
            e: errors (rows,).
            J: their Jacobian (rows, nv), contiguous by rows.
            mu: damping, positive.
        """
        normal = _dsyrk(1.0, J.T, mu, self._identity, 1)  # upper half of J J^T + mu I
        _, y, info = _dposv(normal, e, 0, 1)
        while info != 0:  # rounding took definiteness: rows of very different size
            mu = 10.0 * mu + 1e-12 * float(np.abs(J).max()) ** 2
            _, y, info = _dposv(_dsyrk(1.0, J.T, mu, self._identity, 1), e, 0, 1)
        step = y.dot(J)
        return np.negative(step, step)

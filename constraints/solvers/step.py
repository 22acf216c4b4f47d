"""The step of a level: damped least squares by Cholesky."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.linalg import lapack

from ..arrays import Matrix, Vector

__all__ = ["DampedCholesky"]

_dposv: Any = lapack.dposv


@final
class DampedCholesky:
    r"""Damped step of one level.

    .. math:: dq = -J^T y, \qquad (J J^T + \mu I)\, y = e

    It minimises :math:`|J\,dq + e|^2 + \mu |dq|^2`. Memory of one level in one workspace.

    Args:
        rows: number of rows.
    """

    __slots__ = ("_diagonal", "_normal")

    def __init__(self, rows: int) -> None:
        self._normal = np.zeros((rows, rows))
        self._diagonal = self._normal.reshape(-1)[:: rows + 1]

    def solve(self, e: Vector, J: Matrix, mu: float) -> Vector:
        """The step (nv,).

        Args:
            e: errors (rows,).
            J: their Jacobian (rows, nv).
            mu: damping, positive.
        """
        np.dot(J, J.T, self._normal)
        self._diagonal += mu
        _, y, info = _dposv(self._normal, e)
        while info != 0:  # J J^T + mu I lost definiteness to rounding: rows of very different size
            np.dot(J, J.T, self._normal)
            mu = 10.0 * mu + 1e-12 * float(self._diagonal.max())
            self._diagonal += mu
            _, y, info = _dposv(self._normal, e)
        step = y.dot(J)
        return np.negative(step, step)

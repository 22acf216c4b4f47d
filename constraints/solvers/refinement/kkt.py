"""The linear system of the implicit function theorem at a stationary point."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...linear_algebra import RANK_TOLERANCE

__all__ = ["Kkt", "rank_of"]

SINGULAR = 1e-9
"""A curvature below this part of the largest is none: the point is not locally unique."""


@final
class Kkt:
    r"""How a stationary point moves with a parameter.

    .. math::

        \begin{pmatrix} H & -E^T \\ E & 0 \end{pmatrix}
        \begin{pmatrix} dx \\ d\lambda \end{pmatrix} = - \begin{pmatrix} g_\theta \\ c_\theta \end{pmatrix}

    solved by the null space Z of E, which may have redundant rows:
    :math:`dx = -E^+ c_\theta + Z z`, :math:`(Z^T H Z)\, z = -Z^T (g_\theta - H E^+ c_\theta)`.

    Args:
        E: held rows (k, n); singular values below 1e-6 of the largest are zero.
        hessian: H (n, n).

    Attributes:
        E: as given.
        is_singular: whether the curvature along Z vanishes somewhere: then there is no derivative.
    """

    def __init__(self, E: Matrix, hessian: Matrix) -> None:
        self.E, self._hessian = E, hessian
        U, values, V = np.linalg.svd(E)
        rank = _count(values)
        self._follow: Matrix = -(V[:rank].T / values[:rank]) @ U[:, :rank].T
        self._Z: Matrix = V[rank:].T
        self._curvature = self._Z.T @ hessian @ self._Z
        self.is_singular = False
        if self._Z.shape[1]:
            sizes = np.linalg.svd(self._curvature, compute_uv=False)
            self.is_singular = not sizes[-1] > SINGULAR * max(float(np.abs(hessian).max()), float(sizes[0]))

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


def rank_of(A: Matrix) -> int:
    """Rank of some rows, by singular values."""
    return _count(np.linalg.svd(A, compute_uv=False)) if A.size else 0


def _count(values: Any) -> int:
    """Singular values that count."""
    return int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())

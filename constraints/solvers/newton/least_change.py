"""Steps of the least cost, where costs may be zero: by singular values."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...linear_algebra import largest, numerical_rank
from .linear_step import LinearStep


@final
class LeastChange(LinearStep):
    r"""The step of least cost :math:`dq^T W dq` that solves a level; a cost of zero is exactly zero.

    A dof with a cost moves only if the dofs without cost cannot solve the level alone. Explicit constraints are rows,
    so computed dofs keep their costs. It uses a singular value decomposition, which is slower than `DampedCholesky`.

    Args:
        rows, weights: as those of `LinearStep`.
    """

    resolves: ClassVar[bool] = False

    __slots__ = ("_weights",)

    def __init__(self, rows: int, weights: Vector | None = None) -> None:
        del rows
        self._weights = weights

    def solve(self, e: Vector, J: Matrix, mu: float, root: Matrix | None = None) -> Vector:
        """As `LinearStep.solve`."""
        if root is not None:
            return -root.dot(least_change(J.dot(root), e, np.ones(len(root)), mu))
        moving, step = np.flatnonzero(J.any(axis=0)), np.zeros(len(J.T))  # what no row sees stays
        weights = np.ones(step.size) if self._weights is None else self._weights
        step[moving] = -least_change(J[:, moving], e, weights[moving], mu)
        return step


def least_change(J: Matrix, e: Vector, W: Vector, mu: float = 0.0) -> Vector:
    """The d of least d^T W d with J d = e, by singular values; where the costs leave some open, the shortest.

    Args:
        J: (m, n).
        e: (m,); what J cannot reach is met by least squares.
        W: (n,) costs, not negative.
        mu: damping of the squared singular values.
    """
    U, s, Vt = np.linalg.svd(J)
    rank = numerical_rank(s)
    d = Vt[:rank].T @ ((U[:, :rank].T @ e) * s[:rank] / (s[:rank] ** 2 + mu))
    Z, root = Vt[rank:].T, np.sqrt(W)
    left, sizes, right = np.linalg.svd(root[:, None] * Z, full_matrices=False)
    costly = sizes > 1e-10 * largest(root)  # what costs nothing has roundings here
    open_part = right[costly].T @ ((left[:, costly].T @ (root * d)) / sizes[costly])
    return np.asarray(d - Z @ open_part)

"""Steps by the pseudo-inverse."""

from __future__ import annotations

from typing import final

import numpy as np

from constraints.solvers.newton.linear_step import LinearStep
from liegroups.arrays import Matrix, Vector


@final
class PseudoInverse(LinearStep):
    """Gauss-Newton by the pseudo-inverse: no damping but where singular values vanish.

    Args:
        rows, weights: as those of `LinearStep`.
    """

    __slots__ = ("_scale",)

    def __init__(self, rows: int, weights: Vector | None = None) -> None:
        costs = np.ones(1) if weights is None else weights
        self._scale = 1.0 / np.sqrt(np.maximum(costs, 0.01 * costs[costs > 0.0].min()))

    def solve(self, e: Vector, J: Matrix, mu: float, root: Matrix | None = None) -> Vector:
        """As `LinearStep.solve`."""
        S = self._scale * np.eye(J.shape[1]) if root is None else root
        return -S @ (np.linalg.pinv(J @ S, rcond=1e-3) @ e)

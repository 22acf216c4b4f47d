"""What rows change by with the place and the velocity: first derivatives of rates, forces and accelerations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix

_STEP = 1e-3
FIVE_POINTS = tuple((n * _STEP, factor / (12.0 * _STEP)) for n, factor in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)))
"""Steps and factors of the five-point difference: truncation and rounding are both about 1e-12 of maps of ordinary
size."""


class Slopes(NamedTuple):
    r"""What the rows of a map change by with the pose X, along its body twists, and with its velocity.

    Of rows of a rotation the columns are the three of the angular velocity.

    Attributes:
        rate: (size, 6), of :math:`D(X)\,\nu` by X.
        force: (6, 6), of :math:`D(X)^T \lambda` by X.
        by_pose: (size, 6), of the second time derivative by X.
        by_twist: (size, 6), of the second time derivative by :math:`\nu`.
    """

    rate: Matrix
    force: Matrix
    by_pose: Matrix
    by_twist: Matrix

    @classmethod
    def zero(cls, size: int, n: int = 6) -> Slopes:
        """Zeros, to be filled; n is 3 for rows of a rotation."""
        return cls(np.zeros((size, n)), np.zeros((n, n)), np.zeros((size, n)), np.zeros((size, n)))

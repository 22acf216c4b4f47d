"""The factors of -J_v: the one matrix that closes a mechanism in position, velocity and acceleration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Matrix

_getrf: Any = lapack.dgetrf
_getrs: Any = lapack.dgetrs
_gecon: Any = lapack.dgecon
_lange: Any = lapack.dlange

SINGULAR = 1e-12
"""Reciprocal condition (1-norm) of J_v below which it counts as singular: a dead point of the coordinates."""


class LU(NamedTuple):
    """The LU factors of -J_v at a closed state or iterate: computed once, used for position, velocity and acceleration.

    Attributes:
        factors, pivots: as LAPACK's getrf.
        rcond: reciprocal condition in the 1-norm, 0 where a pivot is zero.
        sign: of det J_v, 0 where a pivot is zero.
    """

    factors: Matrix
    pivots: Any
    rcond: float
    sign: float

    @property
    def is_singular(self) -> bool:
        """Whether J_v is singular up to rounding: `rcond` below 1e-12."""
        return self.rcond < SINGULAR

    def solve(self, b: Any) -> Any:
        r""":math:`(-J_v)^{-1} b`."""
        return _getrs(self.factors, self.pivots, b)[0] if b.size else np.zeros(b.shape)

    def solve_transposed(self, b: Any) -> Any:
        r""":math:`(-J_v)^{-T} b`."""
        return _getrs(self.factors, self.pivots, b, trans=1)[0] if b.size else np.zeros(b.shape)


def factorised(J_v: Matrix) -> LU:
    """LU of -J_v (r, r), with its condition and the sign of det J_v."""
    n = len(J_v)
    if n == 0:
        return LU(np.zeros((0, 0)), np.zeros(0, dtype=np.int32), 1.0, 1.0)
    negative = np.negative(J_v, order="F")
    size = _lange("1", negative)
    factors, pivots, info = _getrf(negative, overwrite_a=True)
    if info != 0:
        return LU(factors, pivots, 0.0, 0.0)
    flips = n  # plain numbers: loops are short
    for i, (pivot, diagonal) in enumerate(zip(pivots.tolist(), factors.diagonal().tolist(), strict=True)):
        flips += (pivot != i) + (diagonal < 0.0)
    return LU(factors, pivots, float(_gecon(factors, size)[0]), -1.0 if flips % 2 else 1.0)

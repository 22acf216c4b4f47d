"""The step of a level: damped least squares by Cholesky."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from scipy.linalg import blas, lapack

from liegroups.arrays import BoolVector, Matrix, Vector

from ...linear_algebra import dot

__all__ = ["DampedCholesky", "capped", "dof_scale", "part_within", "without"]

_dposv: Any = lapack.dposv
_dsyrk: Any = blas.dsyrk
_dgemm: Any = blas.dgemm
_dgemv: Any = blas.dgemv
_idamax: Any = blas.idamax  # index of the largest entry in size: a third of the time of numpy.abs(step).max()

MIDDLING = range(12, 40)
"""Numbers of rows with which OpenBLAS has the whole of a symmetric product sooner (20 %) than its half."""


@final
class DampedCholesky:
    r"""Damped step of one level, the smallest in the costs of motion.

    .. math:: dq = -W^{-1} J^T y, \qquad (J W^{-1} J^T + \mu I)\, y = e

    It minimises :math:`|J\,dq + e|^2 + \mu\, dq^T W dq`.

    Args:
        rows: number of rows.
        scale: (nv,) :math:`W^{-1/2}`; None for ones.
    """

    __slots__ = ("_identity", "_is_middling", "_scale")

    def __init__(self, rows: int, scale: Vector | None = None) -> None:
        self._identity = np.eye(rows, order="F")
        self._is_middling = rows in MIDDLING
        self._scale = scale

    def solve(self, e: Vector, J: Matrix, mu: float, root: Matrix | None = None) -> Vector:
        """The step (nv,).

        Args:
            e: errors (rows,).
            J: their Jacobian (rows, nv), contiguous by rows.
            mu: damping, positive.
            root: S (nv, nv) with S S^T in place of W^-1, where costs are not by column.
        """
        if root is not None:
            columns = J.dot(root).T
        else:
            columns = J.T if self._scale is None else (J * self._scale).T
        if self._is_middling:
            normal = _dgemm(1.0, columns, columns, mu, self._identity, 1)  # J J^T + mu I
        else:
            normal = _dsyrk(1.0, columns, mu, self._identity, 1)  # its upper half: what counts
        _, y, info = _dposv(normal, e, 0, 1)
        while info != 0:  # rounding took definiteness: rows of very different size
            mu = 10.0 * mu + 1e-12 * float(np.abs(columns).max()) ** 2
            _, y, info = _dposv(_dsyrk(1.0, columns, mu, self._identity, 1), e, 0, 1)
        step: Vector = _dgemv(-1.0, columns, y)
        if root is not None:
            return root.dot(step)
        if self._scale is not None:
            step *= self._scale
        return step


def capped(step: Vector, cap: float) -> Vector:
    """The step, scaled down so that no coordinate moves more than the cap; itself where none does."""
    part = part_within(step, cap)
    return step if part == 1.0 else step * part


def part_within(step: Vector, cap: float) -> float:
    """How much of a step can be taken so that no coordinate moves more than the cap; at most 1."""
    if dot(step, step) <= cap * cap:
        return 1.0
    longest = abs(step.item(_idamax(step)))
    return cap / longest if longest > cap else 1.0


def dof_scale(weights: Vector) -> Vector | None:
    """Root of each dof's inverse cost; None for equal costs. No cost counts as 1e-6 of the least one."""
    positive = weights[weights > 0.0]
    if positive.size == weights.size and (weights == weights[0]).all():
        return None
    return np.sqrt(positive.mean() / np.maximum(weights, 1e-6 * positive.min()))


def without(root: Matrix, held: BoolVector) -> tuple[Matrix, Matrix]:
    r"""Motions without held dofs, where costs are not by column.

    Args:
        root: S (nv, nv), the motions S u of coordinates u that cost alike.
        held: (nv,) true for dofs that are given.

    Returns:
        S P, with P the projector onto :math:`S_{held}\, u = 0`; and :math:`S\, S_{held}^+`, the cheapest motion of each
        held dof.
    """
    rows = root[held]
    inverse = np.asarray(np.linalg.pinv(rows), dtype=np.float64)
    free = root - root.dot(inverse).dot(rows)
    free[held] = 0.0  # roundings
    return free, root.dot(inverse)

"""The step of a refinement: the least value of a quadratic model within linear bounds."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Indices, Matrix, Vector

from ...linear_algebra import largest, row_lengths

_dsyevd: Any = lapack.dsyevd
FLATTEST = 1e-9
"""Curvatures below this part of the largest one count as this part."""
ALONG_EQUALITIES = 1e-9
"""An inequality whose gradient is this part of itself along the equalities is decided by them."""
ROUNDS = 20
"""At most so many times the rows that a step would leave are added to those that it keeps."""
STIFFNESS = 10.0
"""Curvature across rows that push, in parts of the largest entry of the Hessian."""
SADDLE, REACH = 1e-3, 0.2
"""An eigenvalue below minus this part of the largest is a way down, taken this far [rad or m] at least."""


class Inequalities(NamedTuple):
    r"""Rows :math:`C p \ge d` on steps p, with d at most zero: no step is always allowed.

    Attributes:
        C: (n, columns).
        d: (n,).
        number: (n,) which row of the feasible set it is; bounds count on after the rows, by tangent column.
        side: (n,) 1 at the lower end of an interval, -1 at the upper.
    """

    C: Matrix
    d: Vector
    number: Indices
    side: Vector


@final
class QuadraticModel:
    r"""A quadratic model in coordinates z of a null space, its Hessian made positive definite.

    .. math:: \min_z\; c^T z + \tfrac12 z^T B z \quad \text{with} \quad C N z \ge d

    Rows that push count as stiff, :math:`B + \sigma \hat C_p^T \hat C_p`: what curves across them says nothing about
    motions along them, whose curvature stays as it is. Then B is used with the sizes of its eigenvalues, those near
    zero raised; along negative curvature, a saddle, the step has the length `REACH`. In coordinates where B is the
    identity this is a least distance problem, solved as non-negative least squares on its multipliers.

    Args:
        basis: N (columns, m).
        B: Hessian (m, m), symmetric.
        c: gradient (m,).
        pushing: gradients (n, m) of active inequalities with positive multipliers.

    Source: Lawson and Hanson, Solving Least Squares Problems, chapter 23.
    """

    def __init__(self, basis: Matrix, B: Matrix, c: Vector, pushing: Matrix) -> None:
        stiff = B
        if len(pushing):
            unit = pushing / np.maximum(row_lengths(pushing), 1e-300)[:, None]
            stiff = B + (STIFFNESS * largest(B)) * (unit.T @ unit)
        values, vectors, _ = _dsyevd(stiff)
        sizes, along = np.abs(values), np.abs(c @ vectors)
        most = largest(sizes)
        down = values < -SADDLE * most
        sizes[down] = np.minimum(sizes[down], along[down] / REACH)
        sizes = np.maximum(sizes, max(FLATTEST * most, 1e-300))
        self._to_step = basis @ (vectors / np.sqrt(sizes))
        self._free: Vector = -(vectors / np.sqrt(sizes)).T @ c

    def step(self, rows: Inequalities) -> tuple[Vector, Vector, float]:
        """The step (columns,), the multiplier of each inequality, and how much lower the model is there."""
        y, weights = self._free, np.zeros(rows.d.size)
        G, chosen = rows.C @ self._to_step, np.zeros(rows.d.size, dtype=np.bool_)
        sizes = row_lengths(G)
        usable = sizes > ALONG_EQUALITIES * largest(sizes)
        for _ in range(ROUNDS):
            short = rows.d - G @ y
            leaving = usable & ~chosen & (short > 1e-12 * np.maximum(sizes, -rows.d))
            if not leaving.any():
                break
            chosen |= leaving
            y, some = _least_distance(self._free, G[chosen], rows.d[chosen])
            weights[:] = 0.0
            weights[chosen] = some
        off = y - self._free
        gain = 0.5 * float(self._free.dot(self._free)) - 0.5 * float(off.dot(off))
        return self._to_step @ y, weights, gain


def multipliers(gradient: Vector, normals: Matrix) -> tuple[Vector, Vector]:
    r"""Multipliers :math:`\mu \ge 0` that explain a gradient best, and what they leave of it.

    .. math:: \min_{\mu \ge 0} |g - N^T \mu|

    Args:
        gradient: g (m,).
        normals: N (n, m), gradients of active inequalities.
    """
    mu = np.zeros(len(normals))
    sizes = row_lengths(normals)
    usable = np.flatnonzero(sizes > ALONG_EQUALITIES)
    if usable.size:
        mu[usable] = _nnls((normals[usable] / sizes[usable, None]).T, gradient) / sizes[usable]
    return mu, gradient - mu @ normals


def _least_distance(centre: Vector, G: Matrix, d: Vector) -> tuple[Vector, Vector]:
    """The point nearest to `centre` with G y >= d, and the multipliers of the rows."""
    sizes = row_lengths(G)
    unit = G / sizes[:, None]
    h = d / sizes - unit @ centre
    scale = largest(h)
    target = np.zeros(centre.size + 1)
    target[-1] = 1.0
    w = _nnls(np.vstack((unit.T, h / scale)), target)
    left = 1.0 - float(h @ w) / scale
    if not left > 0.0:  # no such point to rounding: stay
        return np.zeros_like(centre), np.zeros(d.size)
    mu = w * (scale / left)
    return centre + mu @ unit, mu / sizes


def _nnls(A: Matrix, b: Vector) -> Vector:
    """Non-negative least squares."""
    from scipy.optimize import nnls  # 0.1 s to import, only for who refines

    try:
        solution: Vector = nnls(A, b)[0]
    except RuntimeError:  # its budget of iterations; close enough for a step, and multipliers are checked
        return np.maximum(np.linalg.lstsq(A, b, rcond=None)[0], 0.0)
    return solution

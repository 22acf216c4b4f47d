r"""The saddle point of dynamics by two Cholesky factors: that of the inertia, and that of the rows on it.

.. math:: H = L L^T, \qquad B H^{-1} B^T + \mu I = C C^T

The limits of all Cholesky factors of dynamics stand here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from liegroups.arrays import Matrix, Vector

from .tree_sparsity import MASSLESS

LIGHT = 1e-9
"""A pivot below this part of its diagonal entry is too light for Cholesky to be accurate: LU does it."""

REPEATED = 1e-8
"""A pivot of the rows below this part of the largest diagonal entry: the rows may repeat each other."""

EVEN = 1e-3
"""Least pivot, as a part of its diagonal entry, from which on nothing needs to be corrected."""

NEAT = 1e-13
"""Part of its terms by which an equation may be missed before it is corrected."""

NO_MASS = 1e-12
"""An inertia of a coordinate, or a curvature of the kinetic energy, below this part of the largest one is none."""

_potrf: Any = lapack.dpotrf
_potrs: Any = lapack.dpotrs
_trtrs: Any = lapack.dtrtrs


def lightest(L: Matrix, A: Matrix) -> float:
    """The least pivot of a Cholesky factor of A, as a part of its diagonal entry."""
    pivots = L.diagonal()
    return min((pivots * pivots / A.diagonal()).tolist(), default=1.0)


def inverse_factor(M: Matrix) -> Matrix | None:
    """The inverse of the lower Cholesky factor of a symmetric matrix; None where it is not positive."""
    L, failed = _potrf(M, lower=1, clean=1)
    if failed:
        return None
    inverted: tuple[Matrix, int] = lapack.dtrtri(L, lower=1, overwrite_c=1)
    return None if inverted[1] else inverted[0]


def lacks_mass(H: Matrix) -> bool:
    """Whether a motion of one coordinate has no mass, beside the heaviest."""
    diagonal = H.diagonal().tolist()
    return bool(diagonal) and not min(diagonal) > NO_MASS * max(diagonal)


def heaviest_of(H: Matrix) -> float:
    """The largest diagonal entry of an inertia; 0 of none."""
    return float(H.diagonal().max(initial=0.0))


def is_light(K: Matrix, heaviest: float) -> bool:
    """Whether a pivot of the inertia of free motions may be rounding, beside the heaviest of all coordinates."""
    L, failed = _potrf(K, lower=1)
    pivots: Vector = L.diagonal()
    return bool(failed) or not (pivots * pivots > LIGHT * heaviest).all()


def by_cholesky(A: Matrix, b: Vector, parts: Vector | None = None) -> Vector | None:
    """Solve A x = b for an A that is positive definite; None where it is nearly singular.

    Args:
        A: (n, n).
        b: (n,).
        parts: what the diagonal entries were added up from (n,), by which their rounding is judged; themselves if
            absent.
    """
    L, failed = _potrf(A, lower=1)
    pivots: Vector = L.diagonal()
    sizes = A.diagonal() if parts is None else parts
    if failed or not (pivots * pivots > MASSLESS * sizes).all():
        return None
    return _potrs(L, b, lower=1)[0]


def by_blocks(
    H: Matrix, B: Matrix, c: Vector, beta: Vector, damping: float = 0.0, *, independent: bool = False
) -> tuple[Vector, Vector] | None:
    r"""Acceleration and multipliers of :math:`H a = c + B^T \lambda`, :math:`B a + \mu \lambda = \beta`.

    Args:
        H: inertia (n, n).
        B: rows (k, n).
        c: force (n,).
        beta: what the rows are asked for (k,).
        damping: mu.
        independent: whether the rows are known to be independent.

    Returns:
        None where H is too light, rows may repeat each other (without damping), or numbers overflow.
    """
    k = len(B)
    if lacks_mass(H):
        return None
    L, failed = _potrf(H, lower=1)
    least = 0.0 if failed else lightest(L, H)
    if not least > LIGHT:
        return None
    right = np.empty((len(H), k + 1), order="F")
    right[:, :k], right[:, k] = B.T, c
    solved = _trtrs(L, right, lower=1, overwrite_b=1)[0]
    Y, z = solved[:, :k], solved[:, k]
    if not k:
        return _finite(_trtrs(L, z, lower=1, trans=1)[0], beta)
    K = Y.T.dot(Y)
    longest = max(K.diagonal().tolist())
    if damping:
        K.flat[:: k + 1] += damping
    C, failed = _potrf(K, lower=1)
    if failed or not (damping or independent or min(C.diagonal().tolist()) ** 2 > REPEATED * longest):
        return None

    def solve(z: Vector, asked: Vector) -> tuple[Vector, Vector]:
        mu = _potrs(C, asked - z.dot(Y), lower=1)[0]
        return _trtrs(L, z + Y.dot(mu), lower=1, trans=1)[0], mu

    found = solve(z, beta)
    if not damping and min(least, lightest(C, K)) <= EVEN:
        found = corrected(H, B, c, beta, found, lambda f, g: solve(_trtrs(L, f, lower=1)[0], g))
    return _finite(*found)


def corrected(
    H: Matrix,
    B: Matrix,
    c: Vector,
    beta: Vector,
    found: tuple[Vector, Vector],
    solve: Callable[[Vector, Vector], tuple[Vector, Vector]],
) -> tuple[Vector, Vector]:
    """Iterative refinement of both equations: the factors have the square of the condition of B."""
    a, mu = found
    for _ in range(2):
        force, rows = c + mu @ B - H @ a, beta - B @ a
        size = np.abs(a)
        if (np.abs(force) <= NEAT * (np.abs(H) @ size)).all() and (np.abs(rows) <= NEAT * (np.abs(B) @ size)).all():
            break
        more, push = solve(force, rows)
        a, mu = a + more, mu + push
    return a, mu


def _finite(a: Vector, mu: Vector) -> tuple[Vector, Vector] | None:
    return (a, mu) if np.isfinite(a).all() else None

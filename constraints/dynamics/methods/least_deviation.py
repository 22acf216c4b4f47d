r"""The linear algebra of inverse dynamics with constraints, on given matrices.

.. math:: H\,a = c + B\,u + G^T \lambda, \qquad G\,a = \gamma, \qquad \min_{a, u, \lambda} |a - a^*|_H

With :math:`a = a_0 + N z`, N a basis of the motions that G leaves, u reaches the directions of :math:`A = N^T B`; P is
a basis of those that it does not. The minimum has

.. math:: z = z^* - P\,(P^T H_z P)^{-1} P^T \big(H_z z^* - N^T (c - H a_0)\big), \quad H_z = N^T H N

with :math:`z^*` the coordinates of what is nearest to the target on the rows. Nothing of H is inverted where everything
is actuated, and nothing is subtracted where the target can be met: it is then met exactly.

Source: our own; `InverseDynamicsConstraints` of RBDL solves the fully actuated case, and its relaxed variant adds a
weighted term, by which it misses targets that can be met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ...linear_algebra import RANK_TOLERANCE, numerical_rank
from .cholesky import NO_MASS, by_cholesky, heaviest_of
from .row_space import Independent, RowSpace, in_balance
from .saddle_point import Solution, bases_of, solved, unsolved
from .status import DynamicsStatus

NO_DRIVE = 1e-8
"""Columns of actuators below this part of the longest one drive nothing."""

NO_INERTIA = 1e-15
"""Part of the largest inertia below which one is rounding: light links have 1e-13 of it, and are solved for."""


@final
@dataclass(frozen=True, eq=False)
class InverseSolution:
    """The acceleration nearest to a target, with the forces and multipliers that give it.

    Attributes:
        solution: acceleration, multipliers of least norm, status, rows.
        effort: u (na,), of least norm where several give the same.
        nearest: (n,) the acceleration on the rows that is nearest to the target, whatever is actuated.
        unactuated: (n, m) a basis of the motions that the rows leave and nothing drives.
        surplus: how many more numbers u has than directions that it drives.
    """

    solution: Solution
    effort: Vector
    nearest: Vector
    unactuated: Matrix
    surplus: int


def solve_inverse(
    H: Matrix,
    G: Matrix,
    c: Vector,
    gamma: Vector,
    B: Matrix,
    target: Vector,
    *,
    size: float = 0.0,
    rounding: float = RANK_TOLERANCE,
    tolerance: float = 1e-6,
) -> InverseSolution:
    r"""Solve for the acceleration nearest to a target in the metric of H, with what gives it.

    Args:
        H: (n, n), positive semidefinite; definite on the motions that nothing drives.
        G: (k, n).
        c: (n,), what acts besides.
        gamma: (k,).
        B: (n, na).
        target: a* (n,).
        size: size of the accelerations that gamma was computed from, by which rounding is judged.
        rounding: singular values of G up to this part of the largest one do not count.
        tolerance: up to this part of 1 + |a*| a deviation from the target is none.
    """
    n, na = len(c), int(B.shape[1])
    if not all(np.isfinite(x).all() for x in (H, G, c, gamma, B, target)):
        none = unsolved(RowSpace(np.zeros(G.shape)), DynamicsStatus.NOT_FINITE, n)
        return InverseSolution(none, np.zeros(na), np.zeros(n), np.zeros((n, 0)), 0)
    space = RowSpace(G, rounding)
    rows = space.independent(gamma, size if space.is_full else size + in_balance(float(H.trace()), c))
    Y, N = bases_of(rows.rows)
    square = rows.rows @ Y
    start: Vector = Y @ np.linalg.solve(square, rows.wanted)
    Hz, cz = N.T @ H @ N, N.T @ (c - H @ start)
    wanted = _nearest(H, Hz, N, target - start)
    driven, left = _directions(N, B)
    z = _least(Hz, cz, left, wanted, np.diagonal(H) @ (N @ left) ** 2, heaviest_of(H))
    surplus = na - driven.shape[1]
    if z is None:
        free = N @ left @ _massless(left.T @ Hz @ left, H)
        failed = unsolved(space, DynamicsStatus.SINGULAR_SYSTEM, n, free)
        return InverseSolution(failed, np.zeros(na), start + N @ wanted, N @ left, surplus)
    a, nearest = start + N @ z, start + N @ wanted
    u = _least_norm(driven.T @ N.T @ B, driven.T @ (Hz @ z - cz))
    mu = np.linalg.solve(square.T, Y.T @ (H @ a - c - B @ u))
    found = solved(space, rows, a, np.asarray(mu, dtype=np.float64))
    if not np.isfinite(u).all():
        found = unsolved(space, DynamicsStatus.NOT_FINITE, n)
    enough = tolerance * (1.0 + float(np.linalg.norm(target)))
    if found.status.is_success and np.linalg.norm(z - wanted) > enough:
        found = found._replace(status=DynamicsStatus.UNDERACTUATED)
    elif found.status.is_success and np.linalg.norm(nearest - target) > enough:
        found = found._replace(status=DynamicsStatus.OFF_CONSTRAINTS)
    return InverseSolution(found, u, nearest, N @ left, surplus)


def completed(
    G: Matrix, gamma: Vector, named: BoolVector, values: Vector, size: float = 0.0, rounding: float = RANK_TOLERANCE
) -> Vector:
    r"""A target (n,) of which some entries are given: the others follow from :math:`G\,a = \gamma`.

    What the rows leave open is as small as can be. Where the given entries contradict the rows they stay as they are.

    Args:
        G: (k, n).
        gamma: (k,).
        named: (n,) true for the entries that are given.
        values: their values.
        size, rounding: as in `solve_inverse`.
    """
    rows: Independent = RowSpace(G, rounding).independent(gamma, size)
    Y, N = bases_of(rows.rows)
    a: Vector = Y @ np.linalg.solve(rows.rows @ Y, rows.wanted)
    U, sizes, Vt = np.linalg.svd(N[named])
    rank = numerical_rank(sizes, 1.0)
    a = a + N @ (Vt[:rank].T @ ((U[:, :rank].T @ (values - a[named])) / sizes[:rank]))
    a[named] = values
    return a


def _nearest(H: Matrix, Hz: Matrix, N: Matrix, wanted: Vector) -> Vector:
    """Coordinates z of the vector N z that is nearest in the metric of H; where that is blind, the ordinary one."""
    z = N.T @ wanted
    if not len(z):
        return z
    pull = N.T @ (H @ (wanted - N @ z))
    step = by_cholesky(Hz, pull)
    if step is None:
        values, vectors = np.linalg.eigh(Hz)
        heavy = values > NO_MASS * max(values[-1], heaviest_of(H))
        step = vectors[:, heavy] @ ((vectors[:, heavy].T @ pull) / values[heavy])
    return z + step


def _directions(N: Matrix, B: Matrix) -> tuple[Matrix, Matrix]:
    """Orthonormal bases of the directions of z that u drives, and of the others; columns of B brought to length 1.

    Columns that are rounding beside the longest one drive nothing.
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", B, B))
    drives = lengths > NO_DRIVE * lengths.max(initial=0.0)
    A = N.T @ np.where(drives, B / np.where(drives, lengths, 1.0), 0.0)
    U, sizes, _ = np.linalg.svd(A)
    rank = numerical_rank(sizes, max(1.0, float(sizes.max(initial=0.0))))
    return U[:, :rank], U[:, rank:]


def _least(Hz: Matrix, cz: Vector, left: Matrix, wanted: Vector, parts: Vector, heaviest: float) -> Vector | None:
    """The z nearest to what is wanted that needs no force where nothing drives; None where it is not unique.

    Args:
        Hz, cz, left, wanted: inertia and forces of the motions that the rows leave, what nothing drives, z*.
        parts: inertias that the columns of `left` add up (m,): a pivot that is rounding beside them has no mass.
        heaviest: the largest inertia of all coordinates.
    """
    if not left.shape[1]:
        return wanted
    K, gap = left.T @ Hz @ left, left.T @ (Hz @ wanted - cz)
    step = by_cholesky(K, gap, np.maximum(parts, heaviest * NO_INERTIA))
    return None if step is None else wanted - left @ step


def _least_norm(A: Matrix, b: Vector) -> Vector:
    """The shortest u with A u = b, for an A of independent rows."""
    if not len(b):
        return np.zeros(int(A.shape[1]))
    Q, R = np.linalg.qr(A.T)
    return np.asarray(Q @ np.linalg.solve(R.T, b), dtype=np.float64)


def _massless(K: Matrix, H: Matrix) -> Matrix:
    """Motions of which K is the inertia that have none, at least the lightest."""
    values, vectors = np.linalg.eigh(K)
    light = values <= NO_MASS * max(values[-1], heaviest_of(H))
    return vectors[:, light] if light.any() else vectors[:, :1]

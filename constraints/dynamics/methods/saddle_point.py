r"""The linear algebra of constrained dynamics, on given matrices.

.. math:: H\,a = c + G^T \lambda, \qquad G\,a = \gamma

H (n, n) is symmetric, and positive definite at least on the motions that G leaves. Redundant rows are left out by the
same rule in all methods (`RowSpace`); they differ in what they factorise.

Source: the three `SolveConstrainedSystem...` of RBDL, whose multipliers of the null space method are wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only

from ...errors import OptionError, SizeError
from ...linear_algebra import RANK_TOLERANCE, is_finite, row_lengths
from .cholesky import NO_MASS, by_blocks, corrected, heaviest_of, is_light, lacks_mass
from .dense import DEFINITE, GRAM, SQUARE
from .matrices import fitting, own_bases
from .row_space import Independent, RowSpace, in_balance
from .status import DynamicsStatus, Factorisation
from .tree_sparsity import TreeSparsity, no_sparsity

NO_MOTION: Matrix = read_only(np.zeros((0, 0)))
"""Where no motion is left free."""


class Solution(NamedTuple):
    """Solution of a saddle point system.

    Attributes:
        acceleration: a (n,).
        multipliers: lambda (k,), of least norm where rows are redundant.
        status: whether both equations hold.
        row_space: rank and redundant rows.
        free: (n, m) an orthonormal basis of the motions that neither mass nor rows hold, where the status is
            SINGULAR_SYSTEM.
    """

    acceleration: Vector
    multipliers: Vector
    status: DynamicsStatus
    row_space: RowSpace
    free: Matrix = NO_MOTION


def solve_direct(
    H: Matrix,
    G: Matrix,
    c: Vector,
    gamma: Vector,
    factorisation: Factorisation = Factorisation.CHOLESKY,
    *,
    size: float = 0.0,
    rounding: float = RANK_TOLERANCE,
) -> Solution:
    r"""Solve by one factorisation of the whole saddle point (n + rank unknowns).

    Args:
        H: (n, n); may be singular.
        G: (k, n).
        c: (n,).
        gamma: (k,).
        factorisation: of the saddle point.
        size: size of the accelerations that gamma was computed from, by which rounding is judged; that of c comes on
            top.
        rounding: singular values of G up to this part of the largest one do not count.
    """

    def solve(H: Matrix, c: Vector, space: RowSpace, rows: Independent) -> Solution:
        found = None
        if factorisation is Factorisation.CHOLESKY:
            found = by_blocks(H, rows.rows, c, rows.wanted, independent=True)
        found = found or _whole(H, rows, c, SQUARE[factorisation])
        if found is not None:
            return solved(space, rows, *found)
        scale = unit_scale(H)
        _, Z = bases_of(rows.rows * scale)
        free = _massless(Z.T @ (H * scale * scale[:, None]) @ Z, Z, scale, 1.0)
        if free.shape[1]:
            return unsolved(space, DynamicsStatus.SINGULAR_SYSTEM, len(c), free)
        return solve_null_space(H, G, c, gamma, factorisation, size=size, rounding=rounding)

    return _with_rows(H, G, c, gamma, size, rounding, solve)


def _whole(
    H: Matrix, rows: Independent, c: Vector, solve: Callable[[Matrix, Vector], Any]
) -> tuple[Vector, Vector] | None:
    """Acceleration and multipliers by the whole matrix; None where it is nearly singular."""
    B, n, r = rows.rows, len(c), len(rows.rows)
    scale = unit_scale(H)
    scaled = B * scale
    lengths = row_lengths(scaled)
    scaled /= lengths[:, None]
    K = np.zeros((n + r, n + r), order="F")
    K[:n, :n] = H * scale * scale[:, None]
    K[:n, n:], K[n:, :n] = scaled.T, scaled
    x = solve(K, np.concatenate([c * scale, rows.wanted / lengths]))
    return None if x is None else (x[:n] * scale, -x[n:] / lengths)


def solve_range_space(
    H: Matrix,
    G: Matrix,
    c: Vector,
    gamma: Vector,
    factorisation: Factorisation = Factorisation.CHOLESKY,
    *,
    sparsity: TreeSparsity | None = None,
    size: float = 0.0,
    rounding: float = RANK_TOLERANCE,
) -> Solution:
    r"""Solve by :math:`H = L^T L` along the tree, and :math:`K = Y^T Y` with :math:`Y = L^{-T} G^T`, k x k.

    Args:
        H: (n, n), positive definite, zero outside the pattern.
        G, c, gamma, size, rounding: as in `solve_direct`.
        factorisation: of K, or (QR) of Y.
        sparsity: which entries of H may differ from zero; all by default.
    """

    def solve(H: Matrix, c: Vector, space: RowSpace, rows: Independent) -> Solution:
        tree = no_sparsity(len(c)) if sparsity is None else sparsity
        if tree.nv != len(c):
            raise SizeError("sparsity of a mass matrix", len(c), tree.nv, "degrees of freedom")
        if type(sparsity) is TreeSparsity and not sparsity.is_zero_outside(H):
            raise OptionError("H of a saddle point: expected zeros outside the given pattern")
        L = None if lacks_mass(H) else tree.factor(H)
        if L is None:
            return unsolved(space, DynamicsStatus.SINGULAR_MASS, len(c))
        Y, z = tree.solve_transposed(L, rows.rows.T), tree.solve_transposed(L, c)
        if not len(rows.wanted):
            return solved(space, rows, tree.solve(L, z), rows.wanted)

        def by_factors(z: Vector, asked: Vector) -> tuple[Vector, Vector]:
            mu = GRAM[factorisation](Y, asked - Y.T @ z)
            return tree.solve(L, z + Y @ mu), mu

        def again(f: Vector, g: Vector) -> tuple[Vector, Vector]:
            return by_factors(tree.solve_transposed(L, f), g)

        found = by_factors(z, rows.wanted)
        return solved(space, rows, *corrected(H, rows.rows, c, rows.wanted, found, again))

    return _with_rows(H, G, c, gamma, size, rounding, solve)


def solve_null_space(
    H: Matrix,
    G: Matrix,
    c: Vector,
    gamma: Vector,
    factorisation: Factorisation = Factorisation.CHOLESKY,
    *,
    bases: tuple[Matrix, Matrix] | None = None,
    size: float = 0.0,
    rounding: float = RANK_TOLERANCE,
) -> Solution:
    r"""Solve by :math:`a = Y y + Z z`, with Y a basis of the rows and Z one of what they leave.

    .. math:: (G Y)\,y = \gamma, \quad (Z^T H Z)\,z = Z^T (c - H Y y), \quad (G Y)^T \lambda = Y^T (H a - c)

    Args:
        H: (n, n); may be singular, but not on the motions that G leaves.
        G, c, gamma, size, rounding: as in `solve_direct`.
        factorisation: of Z^T H Z.
        bases: Y (n, k) and Z (n, n - k) of one's own, for a G of full rank; orthonormal ones by QR by default.
    """

    def solve(H: Matrix, c: Vector, space: RowSpace, rows: Independent) -> Solution:
        scale = unit_scale(H) if bases is None else np.ones(len(c))
        A, B, push = H * scale * scale[:, None], rows.rows * scale, c * scale
        Y, Z = bases_of(B) if bases is None else own_bases(bases, space, len(c))
        square = B @ Y
        a: Vector = Y @ np.linalg.solve(square, rows.wanted)
        if Z.shape[1]:
            K, right = Z.T @ A @ Z, Z.T @ (push - A @ a)
            z = None if is_light(K, heaviest_of(A)) else DEFINITE[factorisation](K, right)
            if z is None:
                free = _massless(K, Z, scale, heaviest_of(A))
                if free.shape[1]:
                    return unsolved(space, DynamicsStatus.SINGULAR_SYSTEM, len(c), free)
                z = np.linalg.solve(K, right)
            a = a + Z @ z
        mu = np.linalg.solve(square.T, Y.T @ (A @ a - push))
        return solved(space, rows, a * scale, np.asarray(mu, dtype=np.float64))

    return _with_rows(H, G, c, gamma, size, rounding, solve)


def bases_of(B: Matrix) -> tuple[Matrix, Matrix]:
    """Orthonormal bases Y (n, k) of the rows of B (k, n), which has full rank, and Z (n, n - k) of what they leave."""
    Q = np.linalg.qr(B.T, mode="complete")[0] if len(B) else np.eye(B.shape[1])
    return Q[:, : len(B)], Q[:, len(B) :]


def _with_rows(
    H: Matrix,
    G: Matrix,
    c: Vector,
    gamma: Vector,
    size: float,
    rounding: float,
    solve: Callable[[Matrix, Vector, RowSpace, Independent], Solution],
) -> Solution:
    """Bring the rows to full rank, and solve."""
    mass, rows, force, asked = fitting(H, G, c, gamma)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is NOT_FINITE
        space = RowSpace(rows, rounding)
        if not (space.is_finite and is_finite(asked) and is_finite(force) and is_finite(mass.ravel(order="K"))):
            return unsolved(space, DynamicsStatus.NOT_FINITE, len(force))
        known = size if space.is_full else size + in_balance(float(mass.trace()), force)
        return solve(mass, force, space, space.independent(asked, known))


def solved(space: RowSpace, rows: Independent, a: Vector, mu: Vector) -> Solution:
    """The solution of independent rows as one of all rows."""
    if not (is_finite(a) and is_finite(mu)):
        return unsolved(space, DynamicsStatus.NOT_FINITE, len(a))
    if space.is_regular:
        return Solution(a, mu, DynamicsStatus.SOLVED, space)
    if not rows.are_all_met_by(a):
        status = DynamicsStatus.INCONSISTENT
    else:
        status = DynamicsStatus.SOLVED if space.is_full else DynamicsStatus.RANK_DEFICIENT
    return Solution(a, space.multipliers(mu), status, space)


def unsolved(space: RowSpace, status: DynamicsStatus, n: int, free: Matrix | None = None) -> Solution:
    """No solution: zeros, with the reason."""
    return Solution(np.zeros(n), np.zeros(len(space.G)), status, space, NO_MOTION if free is None else free)


def unit_scale(H: Matrix) -> Vector:
    """Factors of the unknowns that bring the diagonal of H to one where it is not zero."""
    diagonal = np.diagonal(H)
    heavy = diagonal > NO_MASS * diagonal.max(initial=0.0)
    return 1.0 / np.sqrt(np.where(heavy, diagonal, diagonal.max(initial=0.0) or 1.0))


def _massless(K: Matrix, Z: Matrix, scale: Vector, heaviest: float) -> Matrix:
    """Orthonormal basis (n, m) of the motions :math:`Z z` without mass, K the inertia of z; both of scaled unknowns."""
    if not len(K):
        return np.zeros((len(scale), 0))
    values, vectors = np.linalg.eigh(K)
    free = scale[:, None] * (Z @ vectors[:, values <= NO_MASS * max(values[-1], heaviest)])
    return np.linalg.qr(free)[0] if free.shape[1] else free

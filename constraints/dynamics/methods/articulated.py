r"""Test forces (Kokkevis): :math:`J M^{-1} J^T` from articulated bodies, without a mass matrix.

The answer of the robot to a unit test force on a row is :math:`M^{-1} J_i^T`. Pinocchio's articulated bodies give the
answers to unit forces on all joints in one run, so that those of the rows are one product.

Source: E. Kokkevis, Practical physics for articulated characters, 2004; `ForwardDynamicsContactsKokkevis` of RBDL,
which takes neither external forces nor stabilisation, and runs the articulated bodies once for each row.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from liegroups.arrays import Matrix, Vector

from ...dynamics.methods.status import DynamicsStatus
from ...linear_algebra import RANK_TOLERANCE, is_finite, norm
from ...robot import Motion
from .row_space import BALANCED, Independent, RowSpace
from .saddle_point import Solution, solved, unsolved

MET = 1e-10
"""Residual of the equation of motion, as a part of its largest term, up to which articulated bodies solved it."""

NEAT = 1e-12
"""Part of its terms by which the equation of motion may be missed before it is corrected."""

REFINED = 10
"""Corrections at most: articulated bodies lose digits where light bodies carry heavy ones, up to all but two of them,
and each correction wins back as many as are left."""


def solve_test_forces(
    motion: Motion, force: Vector, G: Matrix, gamma: Vector, size: float = 0.0, rounding: float = RANK_TOLERANCE
) -> Solution:
    """Solve with one run of articulated bodies, and a factorisation of as many rows as are independent.

    Args:
        motion: the state.
        force: what accelerates the robot without constraints (nv,): forces less Coriolis, gravity and so on.
        G: rows of contacts (k, nv).
        gamma: what they are asked for (k,).
        size: of the accelerations that gamma was computed from.
        rounding: singular values of G up to this part of the largest one do not count.
    """
    space, n = RowSpace(G, rounding), len(force)
    if not (space.is_finite and is_finite(gamma)):
        return unsolved(space, DynamicsStatus.NOT_FINITE, n)
    answers: Matrix = motion.inverse_mass_matrix().T  # symmetric: by columns, as BLAS has it
    a: Vector = blas.dgemv(1.0, answers, force)
    if not space.is_full:  # what force and weight would do without each other and without rows
        size += BALANCED * (norm(a) + norm(blas.dgemv(1.0, answers, motion.bias_force())))
    rows = space.independent(gamma, size)
    B, mu, factor = rows.rows, rows.wanted, np.zeros((0, 0))
    moved, pushed = answers[:, :0], force
    if len(B):
        moved = blas.dgemm(1.0, answers, B.T)
        factor, failed = lapack.dpotrf(blas.dgemm(1.0, B.T, moved, trans_a=1), lower=1, overwrite_a=1)
        if failed:
            return unsolved(space, DynamicsStatus.SINGULAR_MASS, n)
        mu = lapack.dpotrs(factor, rows.wanted - blas.dgemv(1.0, B.T, a, trans=1), lower=1, overwrite_b=1)[0]
        a = blas.dgemv(1.0, moved, mu, 1.0, a, overwrite_y=1)
        pushed = blas.dgemv(1.0, B.T, mu, 1.0, force)
    # Digits may be lost wherever light bodies carry heavy ones, which no number that is at hand here would tell.
    needed = motion.inertial_force(a)
    is_met = not len(B) or norm(blas.dgemv(-1.0, B.T, a, 1.0, rows.wanted, trans=1)) <= NEAT * norm(a)
    if not (is_met and norm(needed - pushed) <= NEAT * norm(needed)):
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is SINGULAR_MASS
            found = _corrected(motion, a, mu, force, rows, answers, moved, factor)
        if found is None:
            return unsolved(space, DynamicsStatus.SINGULAR_MASS, n)
        a, mu = found
    return solved(space, rows, a, mu)


def multipliers_of_forces(motion: Motion, space: RowSpace, forces: Matrix) -> Matrix | None:
    r"""What multipliers change by with generalised forces: :math:`-(B M^{-1} B^T)^{-1} B M^{-1} F`, of least norm.

    Args:
        motion: the state.
        space: of the rows (size, nv).
        forces: F (nv, k), in columns.

    Returns:
        (size, k); None where bodies without mass leave no such matrix.
    """
    answers = motion.inverse_mass_matrix()
    B = space.independent(np.zeros(len(space.G))).rows
    moved = answers @ B.T
    factor, failed = lapack.dpotrf(B @ moved, lower=1)
    if failed or not is_finite(factor.ravel()):
        return None
    if not len(B):
        return np.zeros((len(space.G), forces.shape[1]))
    mu = -lapack.dpotrs(factor, moved.T @ forces, lower=1)[0]
    return np.array([space.multipliers(each) for each in mu.T]).T


def _corrected(
    motion: Motion,
    a: Vector,
    mu: Vector,
    force: Vector,
    rows: Independent,
    answers: Matrix,
    moved: Matrix,
    factor: Matrix,
) -> tuple[Vector, Vector] | None:
    """Iterative refinement of both equations; None where the equation of motion is not met after it."""
    M, B, missed, terms = motion.mass_matrix(), rows.rows, a, a
    for _ in range(REFINED):
        missed = force + mu @ B - M @ a
        terms = np.abs(M) @ np.abs(a) + np.abs(force)
        off = rows.wanted - B @ a
        if (np.abs(missed) <= NEAT * terms).all() and (np.abs(off) <= NEAT * (np.abs(B) @ np.abs(a))).all():
            break
        more = answers @ missed
        push = lapack.dpotrs(factor, off - B @ more, lower=1)[0] if len(B) else mu
        mu, a = mu + push, a + more + moved @ push
    return (a, mu) if (np.abs(missed) <= MET * terms.max(initial=0.0)).all() else None

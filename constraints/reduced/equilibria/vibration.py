"""The quadratic eigenvalue problem of small motions, and what errors of its matrices do to its eigenvalues."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from liegroups.arrays import Matrix

from ...linear_algebra import largest

ComplexVector = NDArray[np.complex128]

EPS = float(np.finfo(np.float64).eps)
"""Distance of 1 from the next double."""
_eig: Any = linalg.eig
_eigh: Any = linalg.eigh
_cholesky: Any = linalg.cholesky
_solve_triangular: Any = linalg.solve_triangular


class Root(NamedTuple):
    """An eigenvalue of the quadratic problem; of a complex pair the one with positive imaginary part.

    Attributes:
        value: s [1/s].
        error: bound on its error, to first order, by those of the matrices [1/s].
        shape: (n,), x of (s^2 M + s C + S) x = 0.
    """

    value: complex
    error: float
    shape: ComplexVector


class Vibration(NamedTuple):
    """Matrices of small motions, each with estimates of the errors of its entries.

    Attributes:
        mass, damping, stiffness: M, C, S (n, n).
        mass_error, damping_error, stiffness_error: (n, n), none negative.
    """

    mass: Matrix
    damping: Matrix
    stiffness: Matrix
    mass_error: Matrix
    damping_error: Matrix
    stiffness_error: Matrix


class _Unit(NamedTuple):
    """The same in coordinates of unit mass: C and S, bounds on the norms of their errors, and the way back.

    Attributes:
        C, S: (n, n) [1/s, 1/s2].
        c, s: bounds.
        back: (n, n), from unit-mass coordinates to those of the matrices.
    """

    C: Matrix
    S: Matrix
    c: float
    s: float
    back: Matrix


def roots(given: Vibration) -> list[Root]:
    r"""All eigenvalues of :math:`(s^2 M + s\,C + S)\,x = 0` with Im s >= 0, zero ones first, then by size.

    In coordinates of unit mass (Cholesky). Without damping they are roots of :math:`-s^2`, an eigenvalue of S alone, so
    that multiple ones, and zero ones, stay what they are; else they are those of the state matrix. A zero eigenvalue
    stands for the one or two that a direction without stiffness has, the other being that of its damping.

    Raises:
        numpy.linalg.LinAlgError: M is not positive definite.
    """
    if not len(given.mass):
        return []
    unit = _unit(given)
    if largest(unit.C) <= unit.c:
        found = _undamped(unit)
    else:
        found = _damped(unit)
    return sorted(
        (Root(root.value, root.error, unit.back @ root.shape) for root in found),
        key=lambda root: (abs(root.value), root.value.real),
    )


def _unit(given: Vibration) -> _Unit:
    L = _cholesky(given.mass, lower=True)
    back = np.asarray(_solve_triangular(L, np.eye(len(L)), lower=True)).T
    size = np.abs(back)

    def scaled(A: Matrix) -> Matrix:
        return back.T @ A @ back

    def bound(error: Matrix, A: Matrix) -> float:
        own = float(np.linalg.norm(size.T @ error @ size))
        mass = float(np.linalg.norm(size.T @ given.mass_error @ size))
        return 2.0 * own + (mass + 8.0 * EPS * len(A)) * float(np.linalg.norm(A))

    C, S = scaled(given.damping), scaled(given.stiffness)
    return _Unit(C, S, bound(given.damping_error, C), bound(given.stiffness_error, S), back)


def _undamped(unit: _Unit) -> list[Root]:
    found: list[Root] = []
    if largest(unit.S - unit.S.T) <= unit.s:
        values, vectors = _eigh(0.5 * (unit.S + unit.S.T))
        conditions = np.ones(len(values))
    else:
        values, left, vectors = _eig(unit.S, left=True, right=True)
        conditions = 1.0 / np.maximum(np.abs((left.conj() * vectors).sum(axis=0)), EPS)
    for square, x, condition in zip(values, vectors.T, conditions, strict=True):
        square_error = float(min(condition * unit.s, np.sqrt(unit.s * np.linalg.norm(unit.S))))  # of multiple roots
        shape = np.asarray(x, dtype=np.complex128)
        if abs(square) <= square_error:
            found.append(Root(0j, float(np.sqrt(square_error)), shape))
            continue
        s = complex(np.sqrt(-complex(square)))
        error = 0.5 * square_error / abs(s)
        if abs(complex(square).imag) <= square_error:  # s squared is real
            s = complex(0.0, abs(s.imag)) if complex(square).real > 0.0 else complex(abs(s.real), 0.0)
        opposite = complex(-s.real, 0.0 - s.imag)  # of a real root real too, without a negative zero
        found += [Root(root, error, shape) for root in (s, opposite) if root.imag > 0.0 or s.imag == 0.0]
    return found


def _damped(unit: _Unit) -> list[Root]:
    n = len(unit.S)
    _, sizes, V = np.linalg.svd(unit.S)
    free = sizes <= unit.s
    found = [Root(0j, float(np.sqrt(unit.s)), V[i].astype(np.complex128)) for i in np.flatnonzero(free)]
    A = np.block([[-unit.C, -unit.S], [np.eye(n), np.zeros((n, n))]])
    values, left, right = _eig(A, left=True, right=True)
    scale = float(np.linalg.norm(A))
    order = np.argsort(np.abs(values))
    least = 3.0 * np.sqrt(unit.s)
    zeros = sum(k < len(found) or bool(abs(values[i]) <= least) for k, i in enumerate(order[: 2 * len(found)]))
    for i in order[zeros:]:
        s, x, y = complex(values[i]), right[n:, i], left[:n, i]
        slope = abs(y.conj() @ ((2.0 * s) * x + unit.C @ x))
        sizes_of = float(np.linalg.norm(x) * np.linalg.norm(y))
        change = abs(s) * unit.c + unit.s
        error = change * sizes_of / max(slope, EPS * sizes_of * abs(s))
        error += 4.0 * EPS * scale / max(abs(left[:, i].conj() @ right[:, i]), EPS)
        error = min(error, 4.0 * float(np.sqrt(change + EPS * scale * abs(s))))  # of multiple roots
        if abs(s.imag) <= error:
            s = complex(s.real, 0.0)
        elif abs(s.real) <= error:
            s = complex(0.0, s.imag)
        if s.imag >= 0.0:
            found.append(Root(s, error, np.asarray(x, dtype=np.complex128)))
    return found

"""Short vectors and matrices by the many: an entry for each body or closure along the first axis."""

from __future__ import annotations

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.batch_algebra import cross, skew, triangular
from liegroups.formulas.second_order import log_coefficients

FAR_TURN = 3.0
"""Beyond this angle [rad] the logarithm of a rotation is taken one by one."""


def turned(A: Matrix, x: Vector) -> Vector:
    """A x, by entry: (k, r, n) and (k, n) -> (k, r)."""
    return np.matmul(A, x[:, :, None])[:, :, 0]


def turned_back(R: Matrix, x: Vector) -> Vector:
    """The transpose of R times x, by entry."""
    return np.matmul(x[:, None, :], R)[:, 0]


def turned_rows(rows: Matrix, actions: Matrix) -> Matrix:
    """Rows (k, n) times matrices (k, n, n), by entry."""
    return np.matmul(rows[:, None, :], actions)[:, 0]


def inverse_actions(R: Matrix, p: Vector) -> Matrix:
    """The matrices (k, 6, 6) that take twists from outside into frames of pose (R, p)."""
    back = R.transpose(0, 2, 1)
    return triangular(back, -(back @ skew(p)))


def brackets(x: Vector) -> Matrix:
    """The matrices (k, 6, 6) of the bracket of twists (k, 6) with others."""
    return triangular(skew(x[:, 3:]), skew(x[:, :3]))


def rotation_vectors(R: Matrix) -> Vector:
    """Logarithms (k, 3) of rotations of less than `FAR_TURN`."""
    s = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], 1)
    sine = np.sqrt((s * s).sum(1))
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    ratio = 1.0 + sine * sine / 6.0  # the angle over its sine
    large = sine > 1e-4
    ratio[large] = angle[large] / sine[large]
    return s * ratio[:, None]


def pose_logs(R: Matrix, p: Vector, twist: Vector, acceleration: Vector) -> tuple[Vector, Matrix, Vector]:
    r"""Logarithms (k, 6) of poses, their Jacobians (k, 6, 6), and their second time derivatives (k, 6).

    With A the bracket of the logarithm r = (v, w), E what takes the angular part to the linear one, and k as in
    `liegroups.formulas.second_order`,

    .. math:: J = 1 + \tfrac12 A + (k + 2 k' (w \cdot v)\,E)\,A^2.

    Args:
        R, p: poses, turned by less than `FAR_TURN`.
        twist, acceleration: their body twists and the derivatives of these (k, 6).
    """
    w = rotation_vectors(R)
    k, k1, k2 = np.array([log_coefficients(t) for t in (w * w).sum(1).tolist()]).reshape(-1, 3).T
    W = skew(w)
    v = p - 0.5 * cross(w, p) + k[:, None] * turned(W, cross(w, p))
    r = np.concatenate([v, w], 1)
    A = brackets(r)
    twice = A @ A
    along = (w * v).sum(1)
    J = np.eye(6) + 0.5 * A + _scaled(k, k1 * along, twice)
    rate = turned(J, twist)
    v1, w1 = rate[:, :3], rate[:, 3:]
    turning, change = (w * w1).sum(1), brackets(rate)
    slope = 0.5 * change + _scaled(k, k1 * along, change @ A + A @ change)
    slope += _scaled(k1 * turning, k2 * turning * along + k1 * ((w1 * v).sum(1) + (w * v1).sum(1)), twice)
    return r, J, turned(J, acceleration) + turned(slope, twist)


def _scaled(real: Vector, dual: Vector, A: Matrix) -> Matrix:
    """Matrices times dual numbers: the dual part takes angular rows to linear ones."""
    out = real[:, None, None] * A
    out[:, :3] += dual[:, None, None] * A[:, 3:]
    return out

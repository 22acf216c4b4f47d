"""From translation and rotation vector to a pose."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from liegroups import SE3, SO3, Rn

from ..arrays import Matrix, Vector
from ..function import Function
from ..point import Point
from ..short_vectors import dot

__all__ = ["PoseFromRows", "shorter", "to_nearest_turn"]

NO_TURN = 1e-12
"""Rotations of less have no axis to take a whole turn about [rad]."""


@dataclass(frozen=True, eq=False, repr=False)
class PoseFromRows(Function):
    r"""The pose with a given translation and rotation vector: the inverse of what `Transformation` takes apart.

    .. math:: f(t, w) = (t, \exp w) \in SE(3), \quad J = \mathrm{diag}(\exp(w)^T,\; J_r(w))

    with :math:`J_r` the right Jacobian of exp.

    Shapes:
        value (7,), jacobian (6, 6).
    """

    def __post_init__(self) -> None:
        """Declare it."""
        self.declare(Rn(6), SE3)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        t, w = point.q[:3], point.q[3:]
        value[:3] = t
        value[3:] = SO3.exp(w)
        if jacobian is not None:
            jacobian[:] = 0.0
            jacobian[:3, :3] = np.asarray(SE3.adjoint(SE3.inverse(np.r_[np.zeros(3), value[3:]])))[:3, :3]
            jacobian[3:, 3:] = SO3.exp_jacobian(w)


def shorter(rows: Vector) -> Vector:
    """Rows (t, w) (6,) of the same pose whose rotation vector is at most half a turn: themselves where it is."""
    w = rows[3:]
    angle = sqrt(dot(w, w))
    if angle <= pi:
        return rows
    return np.r_[rows[:3], w * (1.0 - 2.0 * pi * round(angle / (2.0 * pi)) / angle)]


def to_nearest_turn(rhs: Vector, error: Vector, jacobian: Matrix | None = None) -> None:
    r"""Take that of the rotation vectors :math:`w` and :math:`w - 2\pi a` of one rotation, a its axis, that is nearest.

    .. math:: e = w - r \;\to\; w - 2\pi a - r \text{ where } a^T (w - r) > \pi, \qquad
        J \to \big(1 - \tfrac{2\pi}{|w|}(1 - a a^T)\big) J

    With r the right-hand side; so half a turn to one side is half a turn to the other.

    Args:
        rhs: rows (t, r) (6,), r at most half a turn.
        error: (t, w) - (t, r) (6,), changed in place.
        jacobian: of (t, w), (6, nv), likewise.
    """
    apart = error[3:]
    if dot(apart, apart) <= pi * pi:
        return
    w = apart + rhs[3:]
    angle = sqrt(dot(w, w))
    if angle < NO_TURN:  # no axis, and half a turn is as far to each side
        return
    a = w / angle
    if dot(a, apart) <= pi:
        return
    apart -= 2.0 * pi * a
    if jacobian is not None:
        part = 2.0 * pi / angle
        jacobian[3:] = (1.0 - part) * jacobian[3:] + part * np.outer(a, a @ jacobian[3:])

"""Rows that are rotation vectors, of which any of the same rotation will do: w and w - 2 pi a, a its axis, are one."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..linear_algebra import dot

NO_TURN = 1e-12
"""Rotations of less have no axis to take a whole turn about [rad]."""


def shorter(r: Vector) -> Vector:
    """The rotation vector (3,) of the same rotation that is at most half a turn: itself where it is."""
    angle = sqrt(dot(r, r))
    return r if angle <= pi else r * (1.0 - 2.0 * pi * round(angle / (2.0 * pi)) / angle)


def shorter_rates(r: Vector, rate: Vector, second: Vector) -> tuple[Vector, Vector]:
    """First and second time derivative (3,) of `shorter(r)`, from those of r."""
    angle = sqrt(dot(r, r))
    return (rate, second) if angle <= pi else _turned_rates(r, round(angle / (2.0 * pi)), rate, second)


def to_nearest_turn(r: Vector, error: Vector, jacobian: Matrix | None = None) -> None:
    r"""Take that of the rotation vectors :math:`w` and :math:`w - 2\pi a` of one rotation, a its axis, that is nearest.

    .. math:: e = w - r \;\to\; w - 2\pi a - r \text{ where } a^T (w - r) > \pi, \qquad
        J \to \big(1 - \tfrac{2\pi}{|w|}(1 - a a^T)\big) J

    With r the right-hand side; so half a turn to one side is half a turn to the other.

    Args:
        r: right-hand side (3,), at most half a turn.
        error: w - r (3,), changed in place.
        jacobian: of w, (3, nv), likewise.
    """
    w = _to_be_turned(r, error)
    if w is None:
        return
    angle = sqrt(dot(w, w))
    a = w / angle
    error -= 2.0 * pi * a
    if jacobian is not None:
        part = 2.0 * pi / angle
        jacobian[:] = (1.0 - part) * jacobian + part * np.outer(a, a @ jacobian)


def rates_to_nearest_turn(
    r: Vector, error: Vector, own: Vector, v: Vector, rates: Vector, jacobian: Matrix, *, second: bool
) -> None:
    """First or second time derivative of the error of `to_nearest_turn`, and its Jacobian.

    Args:
        r: right-hand side (3,), at most half a turn.
        error: w - r (3,), before it is taken to the nearest turn.
        own: time derivative of r (3,) of the order of the rates: the right-hand side does not turn.
        v: velocity of the space (nv,).
        rates: of w - r (3,), changed in place.
        jacobian: of w, (3, nv), likewise.
        second: whether the rates are second derivatives.
    """
    w = _to_be_turned(r, error)
    if w is not None:
        rates[:] = _turned_rates(w, 1, jacobian @ v, rates + own)[second] - own
        to_nearest_turn(r, error, jacobian)


def is_turned(r: Vector, error: Vector) -> bool:
    """Whether `to_nearest_turn` changes an error (3,)."""
    return _to_be_turned(r, error) is not None


def _to_be_turned(r: Vector, error: Vector) -> Vector | None:
    """The rotation vector w (3,) of an error, where a whole turn less is nearer to that of the right-hand side."""
    if dot(error, error) <= pi * pi:
        return None
    w = error + r
    angle = sqrt(dot(w, w))
    if angle < NO_TURN or dot(w, error) <= pi * angle:  # no axis: half a turn is as far to each side
        return None
    return w


def _turned_rates(w: Vector, turns: int, rate: Vector, second: Vector) -> tuple[Vector, Vector]:
    r"""First and second time derivative of :math:`w - 2\pi n\,a`, a the axis of w, from those of w.

    .. math:: \dot a = (\dot w - a\,\dot\theta) / \theta, \qquad
        \ddot a = (\ddot w - a\,\ddot\theta - 2\,\dot a\,\dot\theta) / \theta, \qquad \theta = |w|
    """
    angle = sqrt(dot(w, w))
    a = w / angle
    spin = float(a @ rate)
    tilt = (rate - a * spin) / angle
    bend = (second - a * float(tilt @ rate + a @ second) - 2.0 * tilt * spin) / angle
    return rate - 2.0 * pi * turns * tilt, second - 2.0 * pi * turns * bend

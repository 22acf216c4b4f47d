"""Errors of rows (t, w) whose rotation vector may be any of its rotation: w and w - 2 pi a, a its axis, are one."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..linear_algebra import dot
from ..point import MovingPoint, Point
from .implicit import Implicit

__all__ = ["shorter", "to_nearest_turn", "write_turned", "write_turned_rates"]

NO_TURN = 1e-12
"""Rotations of less have no axis to take a whole turn about [rad]."""


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
    w = _to_be_turned(rhs, error)
    if w is None:
        return
    angle = sqrt(dot(w, w))
    a = w / angle
    error[3:] -= 2.0 * pi * a
    if jacobian is not None:
        part = 2.0 * pi / angle
        jacobian[3:] = (1.0 - part) * jacobian[3:] + part * np.outer(a, a @ jacobian[3:])


def write_turned(twin: Implicit, point: Point, rhs: Vector, error: Vector, jacobian: Matrix | None) -> None:
    """The errors of a twin with rows (t, w), as `RowOwner.write_position`, with the nearest rotation vector."""
    short = shorter(rhs)
    twin.write_position(point, short, error, jacobian)
    to_nearest_turn(short, error, jacobian)


def write_turned_rates(
    twin: Implicit, motion: MovingPoint, rhs: Vector, moving: tuple[Vector | None, ...], rates: Vector, jacobian: Matrix
) -> None:
    """First or second time derivative of the errors of `write_turned`, as `RowOwner.write_velocity` or `_acceleration`.

    Args:
        twin: with rows (t, w).
        motion: where, and how fast.
        rhs: right-hand side (6,).
        moving: its first time derivative (6,), or the first and the second; None for zero.
        rates: (6,) to be filled, of the order of the last of these.
        jacobian: (6, nv) to be filled.
    """
    short = shorter(rhs)
    if short is not rhs and any(given is not None for given in moving):
        moving = _shorter_rates(rhs, moving)
    if len(moving) == 1:
        twin.write_velocity(motion, short, moving[0], rates, jacobian)
    else:
        twin.write_acceleration(motion, short, moving[0], moving[1], rates, jacobian)
    error = np.empty(6)
    twin.write_position(motion.point, short, error, None)
    w = _to_be_turned(short, error)
    if w is None:
        return
    last = moving[-1]
    own = np.zeros(3) if last is None else last[3:]  # of the right-hand side, which does not turn
    first, second = _turned_rates(w, 1, jacobian[3:] @ motion.v, rates[3:] + own)
    rates[3:] = (first if len(moving) == 1 else second) - own
    to_nearest_turn(short, error, jacobian)


def _to_be_turned(rhs: Vector, error: Vector) -> Vector | None:
    """The rotation vector w (3,) of an error, where a whole turn less is nearer to that of the right-hand side."""
    apart = error[3:]
    if dot(apart, apart) <= pi * pi:
        return None
    w = apart + rhs[3:]
    angle = sqrt(dot(w, w))
    if angle < NO_TURN or dot(w, apart) <= pi * angle:  # no axis: half a turn is as far to each side
        return None
    return w


def _shorter_rates(rhs: Vector, moving: tuple[Vector | None, ...]) -> tuple[Vector, ...]:
    """Time derivatives of `shorter` rows (6,), from those of the rows."""
    first, second = (np.zeros(6) if given is None else given.copy() for given in (*moving, None)[:2])
    turns = round(sqrt(dot(rhs[3:], rhs[3:])) / (2.0 * pi))
    first[3:], second[3:] = _turned_rates(rhs[3:], turns, first[3:], second[3:])
    return (first, second)[: len(moving)]


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

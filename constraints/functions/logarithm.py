"""Second derivatives of logarithms along a motion: what rows `log(rhs^-1 h)` need at acceleration level."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from liegroups import SE2, SE3, SO3, Space

from ..arrays import Vector
from ..robot.pinocchio import pin
from .frames import drift_of_rotation_log, rotation_log

__all__ = ["bracket", "cross", "drift_of_log", "drift_of_pose_log", "seen_from"]


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product of two vectors (3,): a tenth of the time of `numpy.cross`."""
    product: Vector = pin.skew(a).dot(b)
    return product


def bracket(group: Space, x: Vector, y: Vector) -> Vector:
    """Lie bracket [x, y] of a group, block by block."""
    out = np.zeros(x.size)
    for leaf in group.leaves():
        a, b = x[leaf.v], y[leaf.v]
        if leaf.space == SO3:
            out[leaf.v] = cross(a, b)
        elif leaf.space == SE3:
            out[leaf.v] = np.r_[cross(a[3:], b[:3]) + cross(a[:3], b[3:]), cross(a[3:], b[3:])]
        elif leaf.space == SE2:
            out[leaf.v] = [-a[2] * b[1] + a[1] * b[2], a[2] * b[0] - a[0] * b[2], 0.0]
    return out


def seen_from(
    group: Space, g: Vector, moving: tuple[Vector, Vector], reference: tuple[Vector, Vector]
) -> tuple[Vector, Vector]:
    r"""Body velocity of :math:`g = r^{-1} h` and its derivative, from those of h and r.

    .. math:: \nu = \nu_h - Ad_g^{-1}\nu_r, \qquad \dot\nu = \dot\nu_h - Ad_g^{-1}\dot\nu_r + [\nu, Ad_g^{-1}\nu_r]

    Args:
        group: the group.
        g: point (nq,).
        moving, reference: body velocity and its derivative (nv,) of h, and of r.
    """
    A = group.adjoint(group.inverse(g))
    seen = A @ reference[0]
    velocity = moving[0] - seen
    return velocity, moving[1] - A @ reference[1] + bracket(group, velocity, seen)


def drift_of_log(group: Space, g: Vector, velocity: Vector, acceleration: Vector) -> Vector:
    """Second time derivative of log g (nv,), block by block.

    Args:
        group: the group.
        g: point (nq,).
        velocity, acceleration: its body velocity and the derivative of that (nv,).
    """
    out = np.array(acceleration)
    for leaf in group.leaves():
        x, v, a = g[leaf.q], velocity[leaf.v], acceleration[leaf.v]
        if leaf.space == SO3:
            out[leaf.v] = drift_of_rotation_log(SO3.log(x), v, a)
        elif leaf.space == SE3:
            out[leaf.v] = drift_of_pose_log(pin.XYZQUATToSE3(x), v, a)
        elif leaf.space == SE2:  # the planar motions of SE(3): the logarithm of one is that of the other
            turn = math.atan2(x[3], x[2])
            planar = pin.XYZQUATToSE3(np.array([x[0], x[1], 0.0, 0.0, 0.0, math.sin(turn / 2), math.cos(turn / 2)]))
            lifted = [np.array([y[0], y[1], 0.0, 0.0, 0.0, y[2]]) for y in (v, a)]
            out[leaf.v] = drift_of_pose_log(planar, *lifted)[[0, 1, 5]]
    return out


def drift_of_pose_log(pose: Any, twist: Vector, acceleration: Vector) -> Vector:
    r"""Second time derivative of :math:`\log_6` of a pose (6,): linear, then angular.

    .. math:: \log_6(R, p) = (u, w), \quad w = \log_3 R, \quad
        u = p - \tfrac12 w \times p + c(\theta)\, w\times(w\times p)

    differentiated twice; c as in `drift_of_rotation_log`.

    Args:
        pose: a placement, its rotation short of half a turn.
        twist, acceleration: its body twist (6,) and the derivative of that.
    """
    R, p = pose.rotation, pose.translation
    omega, alpha = twist[3:], acceleration[3:]
    J = np.empty((3, 3))
    w = rotation_log(R, J)
    w1, w2 = J @ omega, drift_of_rotation_log(w, omega, alpha)
    p1 = R @ twist[:3]
    p2 = R @ (acceleration[:3] + cross(omega, twist[:3]))
    x, x1, x2 = w @ w, 2.0 * (w @ w1), 2.0 * (w1 @ w1 + w @ w2)
    c, cx, cxx = _half_cotangent(float(x))
    c1, c2 = cx * x1, cxx * x1 * x1 + cx * x2
    wp = w @ p
    wp1, wp2 = w1 @ p + w @ p1, w2 @ p + 2.0 * (w1 @ p1) + w @ p2
    K = w * wp - p * x  # w x (w x p)
    K1 = w1 * wp + w * wp1 - p1 * x - p * x1
    K2 = w2 * wp + 2.0 * w1 * wp1 + w * wp2 - p2 * x - 2.0 * p1 * x1 - p * x2
    turning = cross(w2, p) + 2.0 * cross(w1, p1) + cross(w, p2)
    return np.concatenate([p2 - 0.5 * turning + c2 * K + 2.0 * c1 * K1 + c * K2, w2])


def _zeta(s: int) -> float:
    if s in (2, 4):
        return math.pi**s / {2: 6.0, 4: 90.0}[s]
    return sum(float(n) ** -s for n in range(1000, 0, -1))


_SERIES = tuple(2.0 * _zeta(2 * k + 2) / (2.0 * math.pi) ** (2 * k + 2) for k in range(27))
"""Coefficients in theta^2 of c: |B_2k+2| / (2k+2)!; up to half a turn each is at most a quarter of the one before."""


def _half_cotangent(x: float) -> tuple[float, float, float]:
    r""":math:`c = (1 - \frac\theta2\cot\frac\theta2)/\theta^2` and its two derivatives by :math:`x = \theta^2`."""
    c = cx = cxx = 0.0
    for coefficient in reversed(_SERIES):
        cxx = cxx * x + 2.0 * cx
        cx = cx * x + c
        c = c * x + coefficient
    return c, cx, cxx

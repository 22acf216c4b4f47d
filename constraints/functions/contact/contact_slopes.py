r"""What the rows of a contact between two surfaces change by with the pose of one seen from the other, and its motion.

Rows of places are those of a translation, along directions that stay as they are beside a point (`Nearest`). Rows of
the rotation are functions :math:`h(m)` of numbers :math:`m_i = \mathrm{tr}(A_i^T R)`, linear in R. With the body
angular velocity w and :math:`B_i = A_i^T R`,

.. math:: \dot m_i = \mathrm{tr}(B_i [w]), \qquad \ddot m_i = \mathrm{tr}(B_i ([w]^2 + [\dot w])), \qquad
    \ddot h = h'(\ddot m) + h''(\dot m, \dot m)

Parallel: m is the object's normal n and :math:`h = k(n_x)\,(-n_z, n_y)`, with k of `liegroups.unit_vectors`. Turned:
m is (c, s) of `contact_rows` and h the angle of the complex number c + i s.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.unit_vectors import unit_log_slopes

from ...robot.model.pinocchio import pin
from ..frames.slopes import Slopes, TwistRowSlopes, translation_slopes
from .contact_rows import NO_TWIST, Touch

_NORMAL = np.zeros((3, 3, 3))
_NORMAL[[0, 1, 2], [0, 1, 2], 0] = 1.0  # m_i is entry (i, x) of R
_TURN = np.zeros((2, 3, 3))
_TURN[0, 1, 1] = _TURN[0, 2, 2] = _TURN[1, 2, 1] = 1.0
_TURN[1, 1, 2] = -1.0
_ASIDE = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_ALONG = np.array([1.0, 0.0, 0.0])


class _Bend(NamedTuple):
    """Derivatives of rows h(m) at a point.

    Attributes:
        first: h' (size, k).
        second: h'' (size, k, k), symmetric in the last two.
        third: h'''(v, v, .) (size, k), along the velocity v of m.
    """

    first: Matrix
    second: Any
    third: Matrix


def contact_motion_rows(
    at: Touch, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector
) -> tuple[TwistRowSlopes, Vector]:
    """The five rows of the contact, with their slopes, and their second time derivatives (5,).

    Args:
        at: how the surfaces lie.
        pose: the object's surface seen from the floor's.
        twist, acceleration: its body twist (6,), and the derivative of that.
        multipliers: of the rows (5,).
    """
    near = at.near
    inside = np.array([[1.0, 0.0, 0.0], [0.0, 1.0 - near.yy, -near.yz], [0.0, -near.yz, 1.0 - near.zz]])
    return _of_pose(inside, _NORMAL, _parallel, pose, twist, acceleration, multipliers)


def place_motion_rows(
    at: Touch, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector
) -> tuple[TwistRowSlopes, Vector]:
    """The three rows that say where on the floor, as `contact_motion_rows`."""
    near = at.near
    held = np.array([[0.0, near.yy, near.yz], [0.0, near.yz, near.zz]])
    return _of_pose(held, _TURN, _angle, pose, twist, acceleration, multipliers)


def stacked_rows(parts: Sequence[tuple[TwistRowSlopes, Vector]]) -> tuple[TwistRowSlopes, Vector]:
    """Rows of several kinds of one pose."""
    rows, seconds = [part[0] for part in parts], [part[1] for part in parts]
    rate, by_pose, by_twist = (
        np.concatenate([getattr(each.slopes, what) for each in rows]) for what in ("rate", "by_pose", "by_twist")
    )
    force: Matrix = np.add.reduce([each.slopes.force for each in rows])
    D = np.concatenate([each.D for each in rows])
    return TwistRowSlopes(D, Slopes(rate, force, by_pose, by_twist)), np.concatenate(seconds)


def _of_pose(
    directions: Matrix, forms: Any, bend: Any, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector
) -> tuple[TwistRowSlopes, Vector]:
    """Rows of the translation along directions, then those of the rotation."""
    R, w, count = pose.rotation, twist[3:], len(directions)
    size = len(multipliers)
    D, found, second = np.zeros((size, 6)), Slopes.zero(size), np.zeros(size)
    D[:count, :3] = directions @ R
    translation_slopes(found, directions, R, twist, acceleration, multipliers[:count])
    spin = pin.skew(w)
    second[:count] = D[:count, :3] @ (acceleration[:3] + spin @ twist[:3])
    turned = forms.transpose(0, 2, 1) @ R  # B_i
    of_spin = spin @ spin + pin.skew(acceleration[3:])
    N, N_w = _axial(turned), _axial(spin @ turned)
    speed = N @ w
    second_m = np.trace(turned @ of_spin, axis1=1, axis2=2)
    own: _Bend = bend(np.trace(turned, axis1=1, axis2=2), speed)
    bent = own.second @ speed
    D[count:, 3:] = own.first @ N
    second[count:] = own.first @ second_m + bent @ speed
    found.rate[count:, 3:] = bent @ N + own.first @ N_w
    found.by_pose[count:, 3:] = (own.second @ second_m + own.third) @ N
    found.by_pose[count:, 3:] += 2.0 * bent @ N_w + own.first @ _axial(of_spin @ turned)
    found.by_twist[count:, 3:] = 2.0 * bent @ N + own.first @ (N_w + _axial(turned @ spin))
    pushed = multipliers[count:]
    B = np.tensordot(pushed @ own.first, turned, 1)
    found.force[3:, 3:] += N.T @ np.tensordot(pushed, own.second, 1) @ N + B.T - np.trace(B) * np.eye(3)
    return TwistRowSlopes(D, found), second


def _axial(B: Any) -> Matrix:
    """Rows a_i with a_i . x = tr(B_i [x])."""
    return np.stack([B[:, 1, 2] - B[:, 2, 1], B[:, 2, 0] - B[:, 0, 2], B[:, 0, 1] - B[:, 1, 0]], axis=1)


def _parallel(n: Vector, v: Vector) -> _Bend:
    """Of the swing, by the normal."""
    ratio, slope, bend, third = unit_log_slopes(float(n[0]), sqrt(float(n[1] * n[1] + n[2] * n[2])))
    aside, moved, x = _ASIDE @ n, _ASIDE @ v, float(v[0])
    along = np.outer(aside, _ALONG)
    second = slope * (_ASIDE[:, :, None] * _ALONG + _ASIDE[:, None, :] * _ALONG[:, None])
    second[:, 0, 0] += bend * aside
    thirds = bend * (2.0 * x * np.outer(moved, _ALONG) + x * x * _ASIDE) + third * x * x * along
    return _Bend(ratio * _ASIDE + slope * along, second, thirds)


def _angle(m: Vector, v: Vector) -> _Bend:
    """Of the angle of m, as a complex number."""
    z = complex(*m)
    if abs(z) < NO_TWIST:
        z = 1.0 + 0.0j
    basis, rate = np.array([1.0, 1.0j]) / z, complex(*v) / z
    second = -np.outer(basis, basis).imag
    return _Bend(basis.imag[None], second[None], 2.0 * (rate * rate * basis).imag[None])

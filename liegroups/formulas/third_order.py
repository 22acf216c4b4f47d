r"""How velocities and accelerations of logarithms change with the point: derivatives of the second-order maps.

With :math:`r = \log g`, :math:`J(r) = J_{\log}` and :math:`\nu` the body velocity, :math:`\dot r = J \nu` and
:math:`\ddot r = s(r, \nu, \dot\nu)` (`second_order`). Here is what s changes by when g, or :math:`\nu`, is another one.
All is written with the matrix of the bracket, :math:`A = \mathrm{ad}_r`,

.. math:: J(r) = I + \tfrac12 A + K A^2, \qquad K = k(t) + \varepsilon\,2 k'(t)\,(w \cdot u)

where on SE(3) r = (u, w), :math:`t = |w|^2`, and :math:`\varepsilon` takes the angular part to the linear one. A
rotation vector w is the twist (0, w) of SE(3).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Matrix, Vector
from .second_order import log_coefficients
from .series import LOG_SWITCH, k_third

_EPSILON = np.zeros((6, 6))
_EPSILON[:3, 3:] = np.eye(3)


def se3_ad(x: Vector) -> Matrix:
    """Matrix (6, 6) of the bracket with a twist x, linear then angular: ad_x y = [x, y]."""
    a, b, c, d, e, f = x.tolist()
    return np.array(
        [
            [0.0, -f, e, 0.0, -c, b],
            [f, 0.0, -d, c, 0.0, -a],
            [-e, d, 0.0, -b, a, 0.0],
            [0.0, 0.0, 0.0, 0.0, -f, e],
            [0.0, 0.0, 0.0, f, 0.0, -d],
            [0.0, 0.0, 0.0, -e, d, 0.0],
        ]
    )


def se3_coad(y: Vector) -> Matrix:
    r"""Matrix (6, 6) that takes x to :math:`\mathrm{ad}_x^T y`, for a wrench y (force, moment)."""
    a, b, c, d, e, f = y.tolist()
    return np.array(
        [
            [0.0, 0.0, 0.0, 0.0, -c, b],
            [0.0, 0.0, 0.0, c, 0.0, -a],
            [0.0, 0.0, 0.0, -b, a, 0.0],
            [0.0, -c, b, 0.0, -f, e],
            [c, 0.0, -a, f, 0.0, -d],
            [-b, a, 0.0, -e, d, 0.0],
        ]
    )


def third_coefficient(t: float) -> float:
    """Return 8 d3k/dt3 at t, the squared angle, up to half a turn and a little beyond."""
    if t < LOG_SWITCH:
        return k_third(t)
    k, k1, k2 = log_coefficients(t)
    return (2.0 * k1 * k1 + (8.0 * k * k1 - 7.0 * k2) / t + 2.0 * k * k2) if t else k_third(t)


class PoseLog:
    r"""The logarithm r (6,) of a pose, with derivatives of three orders.

    Args:
        r: (6,) [m, rad], its angular part below pi in norm.

    Attributes:
        jacobian: J(r) (6, 6).
    """

    def __init__(self, r: Vector) -> None:
        self._u, self._w = r[:3], r[3:]
        self._t, self._turn = float(self._w @ self._w), float(self._w @ self._u)
        self._k, self._k1, self._k2 = log_coefficients(self._t)
        self._A = se3_ad(r)
        self._square = self._A @ self._A
        self._K = self._k * np.eye(6) + self._k1 * self._turn * _EPSILON
        along_w, along_both = np.concatenate([np.zeros(3), self._w]), np.concatenate([self._w, self._u])
        self._gradient_k = self._k1 * along_w
        self._gradient_ke = self._k1 * along_both + self._k2 * self._turn * along_w
        self.jacobian: Matrix = np.eye(6) + 0.5 * self._A + self._K @ self._square

    def rate_slope(self, x: Vector) -> Matrix:
        r"""Derivative (6, 6) of J(r) x by r, at a constant x (6,)."""
        A, y = self._A, se3_ad(x)
        b, c = A @ x, self._square @ x
        changed = np.outer(c, self._gradient_k) + np.outer(_EPSILON @ c, self._gradient_ke)
        return -0.5 * y + changed - self._K @ (se3_ad(b) + A @ y)

    def force_slope(self, y: Vector) -> Matrix:
        r"""Derivative (6, 6) of :math:`J(r)^T y` by r, at a constant y (6,)."""
        square, z = self._square, y @ self._K
        slope = 0.5 * se3_coad(y) + se3_coad(z @ self._A) + self._A.T @ se3_coad(z)
        slope += np.outer(y @ square, self._gradient_k) + np.outer(y @ _EPSILON @ square, self._gradient_ke)
        return slope

    def second_slopes(self, velocity: Vector, acceleration: Vector) -> tuple[Matrix, Matrix]:
        r"""Derivatives (6, 6) of :math:`\ddot r` by the pose (along its body twists) and by its body velocity.

        Args:
            velocity: body twist (6,).
            acceleration: the derivative of that.
        """
        A, K, J, ad_v = self._A, self._K, self.jacobian, se3_ad(velocity)
        w, k1, k2 = self._w, self._k1, self._k2
        d, b = J @ velocity, A @ velocity
        c, e = A @ b, self._square  # [r, [r, v]]
        ad_d, ad_b = se3_ad(d), se3_ad(b)
        inner = ad_d @ velocity
        mixed = ad_d @ b + A @ inner
        spin, both = float(w @ d[3:]), float(w @ d[:3] + self._u @ d[3:])
        slope, slope_dual = k1 * spin, k1 * both + k2 * self._turn * spin
        rates = slope * np.eye(6) + slope_dual * _EPSILON

        def changes(d_d: Matrix, own: Matrix) -> tuple[Vector, Vector]:
            """Gradients of slope and slope_dual; `own` is how r itself changes."""
            g_spin = d[3:] @ own[3:] + w @ d_d[3:]
            g_both = d[:3] @ own[3:] + d[3:] @ own[:3] + w @ d_d[:3] + self._u @ d_d[3:]
            along_w = w @ own[3:]
            g_turn = w @ own[:3] + self._u @ own[3:]
            k3 = third_coefficient(self._t)
            g_slope = k2 * spin * along_w + k1 * g_spin
            g_dual = k2 * both * along_w + k1 * g_both
            g_dual = g_dual + k3 * self._turn * spin * along_w + k2 * (g_turn * spin + self._turn * g_spin)
            return g_slope, g_dual

        d_d, d_b = self.rate_slope(velocity), -ad_v
        g_slope, g_dual = changes(d_d, np.eye(6))
        by_r = -0.5 * ad_v @ d_d
        by_r += np.outer(c, g_slope) + np.outer(_EPSILON @ c, g_dual) + rates @ (A @ d_b - ad_b)
        by_r += np.outer(mixed, self._gradient_k) + np.outer(_EPSILON @ mixed, self._gradient_ke)
        by_r += K @ (ad_d @ d_b - ad_b @ d_d - se3_ad(inner) - A @ ad_v @ d_d)
        by_pose = (by_r + self.rate_slope(acceleration)) @ J

        h_slope, h_dual = changes(J, np.zeros((6, 6)))
        by_v = 0.5 * (ad_d - ad_v @ J)
        by_v += np.outer(c, h_slope) + np.outer(_EPSILON @ c, h_dual) + rates @ e
        by_v += K @ (ad_d @ A - ad_b @ J + A @ (ad_d - ad_v @ J))
        return by_pose, by_v

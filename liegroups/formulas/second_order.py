r"""Second order maps of one vector: Lie brackets, and second time derivatives of logarithms along a motion.

With :math:`\nu` the body velocity of a point g(t), :math:`r = \log g` has :math:`\dot r = J_{\log}(r)\,\nu` and

.. math:: \ddot r = J_{\log}(r)\,\dot\nu + \Big(\frac{d}{dt} J_{\log}(r)\Big)\,\nu.

On SO(3), with :math:`k(t) = (1 - h \cot h)/t`, :math:`t = |r|^2`, :math:`h = |r|/2` (`series`),

.. math:: J_{\log}(r)\,\nu = \nu + \tfrac12 [r, \nu] + k\,[r, [r, \nu]].

SE(3) has the same formula in dual numbers: a twist (u, w) is the dual vector w + eps u, the bracket is the dual cross
product, and k becomes :math:`k(t) + \varepsilon\,2 k'(t)\, w \cdot u`. SE(2) is the plane of SE(3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..arrays import Matrix, Vector
from .maps import half_cot
from .series import LOG_SWITCH, k_prime, k_second, k_value

Floats3: TypeAlias = tuple[float, float, float]

STEP_OF_FIVE_POINTS = 1e-3
"""Step of the five-point differences: truncation and rounding are both about 1e-13 of maps of ordinary size."""


def _cross(a: Floats3, b: Floats3) -> Floats3:
    x, y, z = a
    u, v, w = b
    return y * w - z * v, z * u - x * w, x * v - y * u


def _dot(a: Floats3, b: Floats3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _sum(*terms: tuple[float, Floats3]) -> Floats3:
    """Sum of vectors with their factors."""
    x = y = z = 0.0
    for factor, (u, v, w) in terms:
        x, y, z = x + factor * u, y + factor * v, z + factor * w
    return x, y, z


def _floats(x: Vector) -> Floats3:
    a, b, c = x.tolist()
    return a, b, c


def log_coefficients(t: float) -> tuple[float, float, float]:
    """Return k, 2 dk/dt and 4 d2k/dt2 at t, the squared angle, up to half a turn and a little beyond."""
    if t < LOG_SWITCH:
        return k_value(t), k_prime(t), k_second(t)
    a = half_cot(t)
    k = (1.0 - a) / t
    k1 = (0.25 - k * (a + 2.0)) / t
    return k, k1, (2.0 * k * k + 2.0 * k * k1 * t - 5.0 * k1) / t


# --- brackets --------------------------------------------------------------------------------------------------------


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product of two vectors (3,), the bracket of SO(3): a tenth of the time of `numpy.cross`."""
    return np.array(_cross(_floats(a), _floats(b)))


def se3_bracket(x: Vector, y: Vector) -> Vector:
    """Bracket of two twists (6,), linear then angular: (w_x x u_y + u_x x w_y, w_x x w_y)."""
    # Plain numbers, written out: with a function between the parts it takes half as long again.
    k, m, n, x1, y1, z1 = x.tolist()
    o, p, q, x2, y2, z2 = y.tolist()
    return np.array(
        [
            y1 * q - z1 * p + m * z2 - n * y2,
            z1 * o - x1 * q + n * x2 - k * z2,
            x1 * p - y1 * o + k * y2 - m * x2,
            y1 * z2 - z1 * y2,
            z1 * x2 - x1 * z2,
            x1 * y2 - y1 * x2,
        ]
    )


def se2_bracket(x: Vector, y: Vector) -> Vector:
    """Bracket of two planar twists (3,)."""
    a, b, c = x.tolist()
    d, e, f = y.tolist()
    return np.array([b * f - c * e, c * d - a * f, 0.0])


def structure_constants(adjoint: Callable[[Vector], Matrix], exp: Callable[[Vector], Vector], nv: int) -> Matrix:
    r"""Return C (nv, nv, nv): :math:`[x, y] = \sum_i x_i\, C_i\, y` with :math:`C_i = d/ds\, Ad_{\exp(s e_i)}` at 0.

    By five-point differences of the adjoint.

    Args:
        adjoint, exp: maps of the group, for one vector.
        nv: size of a tangent vector.
    """
    return np.array([_slope(lambda s, e=e: adjoint(exp(s * e))) for e in np.eye(nv)]).reshape(nv, nv, nv)


# --- second derivatives of logarithms --------------------------------------------------------------------------------


def so3_log_second(r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
    """Second time derivative of a rotation vector (3,).

    Args:
        r: the rotation vector (3,) [rad], below pi in norm.
        velocity, acceleration: body angular velocity [rad/s] and acceleration [rad/s2] of the rotation.
    """
    v, w, a = _floats(r), _floats(velocity), _floats(acceleration)
    k, k1, _ = log_coefficients(_dot(v, v))
    vw, va = _cross(v, w), _cross(v, a)
    vvw = _cross(v, vw)
    rate = _sum((1.0, w), (0.5, vw), (k, vvw))
    rw = _cross(rate, w)
    terms = (k, _cross(v, va)), (k, _cross(rate, vw)), (k, _cross(v, rw)), (k1 * _dot(v, rate), vvw)
    return np.array(_sum((1.0, a), (0.5, va), (0.5, rw), *terms))


def se3_log_second(r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
    r"""Second time derivative of the logarithm of a pose (6,), linear then angular.

    .. math::
        \ddot r = \dot\nu + \tfrac12 s + k\,([r, s] + [\dot r, [r, \nu]]) + \dot k\,[r, [r, \nu]],
        \qquad s = [r, \dot\nu] + [\dot r, \nu]

    Args:
        r: the logarithm (6,) [m, rad], its angular part below pi in norm.
        velocity, acceleration: body twist (6,) of the pose and the derivative of that.
    """
    # Written out: 4.2 us, of the 14 that a contact of six rows takes; with a function for each bracket it were 6.3.
    # Of each dual vector x, y, z is the angular part, and l, m, n the linear one, its dual part.
    rl, rm, rn, rx, ry, rz = r.tolist()
    wl, wm, wn, wx, wy, wz = velocity.tolist()
    al, am, an, ax, ay, az = acceleration.tolist()
    k, k1, k2 = log_coefficients(rx * rx + ry * ry + rz * rz)
    turn = rx * rl + ry * rm + rz * rn
    ke = k1 * turn
    # b = [r, w], with w the velocity.
    bx, by, bz = ry * wz - rz * wy, rz * wx - rx * wz, rx * wy - ry * wx
    bl = ry * wn - rz * wm + rm * wz - rn * wy
    bm = rz * wl - rx * wn + rn * wx - rl * wz
    bn = rx * wm - ry * wl + rl * wy - rm * wx
    # c = [r, b].
    cx, cy, cz = ry * bz - rz * by, rz * bx - rx * bz, rx * by - ry * bx
    cl = ry * bn - rz * bm + rm * bz - rn * by
    cm = rz * bl - rx * bn + rn * bx - rl * bz
    cn = rx * bm - ry * bl + rl * by - rm * bx
    # d: the rate of the logarithm, w + b / 2 + k c.
    dx, dy, dz = wx + 0.5 * bx + k * cx, wy + 0.5 * by + k * cy, wz + 0.5 * bz + k * cz
    dl = wl + 0.5 * bl + k * cl + ke * cx
    dm = wm + 0.5 * bm + k * cm + ke * cy
    dn = wn + 0.5 * bn + k * cn + ke * cz
    # s = [r, a] + [d, w], and t = [r, s] + [d, b].
    sx = (ry * az - rz * ay) + (dy * wz - dz * wy)
    sy = (rz * ax - rx * az) + (dz * wx - dx * wz)
    sz = (rx * ay - ry * ax) + (dx * wy - dy * wx)
    sl = (ry * an - rz * am + rm * az - rn * ay) + (dy * wn - dz * wm + dm * wz - dn * wy)
    sm = (rz * al - rx * an + rn * ax - rl * az) + (dz * wl - dx * wn + dn * wx - dl * wz)
    sn = (rx * am - ry * al + rl * ay - rm * ax) + (dx * wm - dy * wl + dl * wy - dm * wx)
    tx = (ry * sz - rz * sy) + (dy * bz - dz * by)
    ty = (rz * sx - rx * sz) + (dz * bx - dx * bz)
    tz = (rx * sy - ry * sx) + (dx * by - dy * bx)
    tl = (ry * sn - rz * sm + rm * sz - rn * sy) + (dy * bn - dz * bm + dm * bz - dn * by)
    tm = (rz * sl - rx * sn + rn * sx - rl * sz) + (dz * bl - dx * bn + dn * bx - dl * bz)
    tn = (rx * sm - ry * sl + rl * sy - rm * sx) + (dx * bm - dy * bl + dl * by - dm * bx)
    growth = rx * dx + ry * dy + rz * dz
    slope = k1 * growth
    slope_dual = k1 * ((rx * dl + ry * dm + rz * dn) + (rl * dx + rm * dy + rn * dz)) + k2 * turn * growth
    return np.array(
        [
            al + 0.5 * sl + k * tl + ke * tx + slope * cl + slope_dual * cx,
            am + 0.5 * sm + k * tm + ke * ty + slope * cm + slope_dual * cy,
            an + 0.5 * sn + k * tn + ke * tz + slope * cn + slope_dual * cz,
            ax + 0.5 * sx + k * tx + slope * cx,
            ay + 0.5 * sy + k * ty + slope * cy,
            az + 0.5 * sz + k * tz + slope * cz,
        ]
    )


def se2_log_second(r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
    """Second time derivative of the logarithm of a planar pose (3,): that of SE(3) in the plane."""
    x, v, a = (np.array([y[0], y[1], 0.0, 0.0, 0.0, y[2]]) for y in (r, velocity, acceleration))
    return se3_log_second(x, v, a)[[0, 1, 5]]


def log_second_by_differences(
    log_jacobian: Callable[[Vector], Matrix], r: Vector, velocity: Vector, acceleration: Vector
) -> Vector:
    """Second time derivative of a logarithm r (nv,) on any group: five-point differences of the Jacobian of log.

    Args:
        log_jacobian: of the group, for one vector.
        r: the logarithm (nv,).
        velocity, acceleration: body velocity (nv,) and the derivative of that.
    """
    J = log_jacobian(r)
    rate = J @ velocity
    speed = float(np.abs(rate).max(initial=0.0))
    moved = J @ acceleration
    if speed == 0.0:
        return moved
    return moved + speed * (_slope(lambda s: log_jacobian(r + (s / speed) * rate)) @ velocity)


def _slope(f: Callable[[float], Matrix]) -> Matrix:
    """Derivative at 0 of a matrix that depends on a number, by five points."""
    return (
        8.0 * (f(STEP_OF_FIVE_POINTS) - f(-STEP_OF_FIVE_POINTS))
        - (f(2.0 * STEP_OF_FIVE_POINTS) - f(-2.0 * STEP_OF_FIVE_POINTS))
    ) / (12.0 * STEP_OF_FIVE_POINTS)

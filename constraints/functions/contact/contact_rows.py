r"""Rows of a contact between two surfaces, from the pose of one seen from the other.

With :math:`p, R` the pose of the object's surface seen from the floor's (both x axes into the floor) and
:math:`n = R e_x`:

- on the plane: :math:`p_x + margin`;
- inside: :math:`(p_y, p_z)` less the nearest point of the polygon;
- parallel: the smallest rotation that leads :math:`e_x` to n, :math:`\theta\,(-n_z, n_y)/\sin\theta` with
  :math:`\cos\theta = n_x`;
- where: the nearest point of the polygon, and the rotation left about the normal,
  :math:`\varphi = \mathrm{atan2}(R_{zy} - R_{yz}, R_{yy} + R_{zz})`.

The last two are the swing and the twist of :math:`R = \mathrm{swing}\cdot\mathrm{twist}`: unlike the logarithm of R
neither jumps when the object turns about the normal by half a turn; only upside down (:math:`\theta = \pi`) is
singular.
Derivatives are by the body twist (v, w) of the object's surface: :math:`\dot p = R v`, :math:`\dot R = R [w]`.
"""

from __future__ import annotations

from math import atan2, hypot, sqrt
from typing import Any, NamedTuple

from liegroups.arrays import Matrix, Vector

from .contact_surface import Nearest, Surface

SMALL_TILT = 0.03
"""Below this sine of the tilt the series are exact to 1e-16; the closed forms are exact to 1e-12 above it."""
UPSIDE_DOWN = 1e-9
"""Below this sine of the tilt of an object that stands on its head the direction in which it tilts is a choice."""
NO_TWIST = 1e-15
"""Below this length of (cos, sin) nothing is left but rounding: on its head an object has no turn about the normal."""
STEEP_TILT = -0.5
"""Below this cosine of the tilt derivatives are taken along and across the tilt: there both are well conditioned."""


class Touch(NamedTuple):
    """How an object's surface lies on a floor's.

    Attributes:
        p, R: pose, as three numbers and nine (by row).
        near: the nearest point of the floor.
    """

    p: tuple[float, float, float]
    R: tuple[float, ...]
    near: Nearest


def touch(aMb: Any, floor: Surface) -> Touch:
    """What the rows need to know of a pose.

    Args:
        aMb: the object's surface seen from the floor's.
        floor: the floor's surface.
    """
    a, b, c, x, d, e, f, y, g, h, i, z, *_ = aMb.homogeneous.ravel().tolist()
    return Touch((x, y, z), (a, b, c, d, e, f, g, h, i), floor.nearest(y, z))


def swing(n0: float, n1: float, n2: float) -> tuple[float, float, float, float]:
    r"""Sine of the tilt, its direction (-n_z, n_y), and :math:`\theta/\sin\theta`."""
    s = hypot(n1, n2)
    if n0 > 0.0 and s < SMALL_TILT:
        s2 = s * s
        return s, -n2, n1, 1.0 + s2 * (1 / 6 + s2 * (3 / 40 + s2 * (5 / 112 + s2 * 35 / 1152)))
    if s < UPSIDE_DOWN:
        s, n1, n2 = UPSIDE_DOWN, 0.0, -UPSIDE_DOWN
    return s, -n2, n1, atan2(s, n0) / s


def swing_rates(
    n0: float, b: float, c: float, e: float, f: float, h: float, i: float, s: float, u: float, w: float, ratio: float
) -> tuple[float, float, float, float]:
    r"""Derivative of the swing by the angular part (y, z) of the twist, :math:`\dot n = w_z R e_y - w_y R e_z`.

    Args:
        n0: first entry of R.
        b, c, e, f, h, i: second and third column of R, by row.
        s, u, w, ratio: as of `swing`.

    Returns:
        The two entries of the first row, and those of the second.
    """
    du_y, du_z, dw_y, dw_z = i, -h, -f, e
    if n0 > STEEP_TILT:
        s2 = s * s
        if n0 > 0.0 and s < SMALL_TILT:
            slope = 1 / 3 + s2 * (2 / 15 + s2 * (8 / 105 + s2 * 16 / 315))  # times s2: 1e-17 is left
        else:
            slope = (1.0 - ratio * n0) / s2  # minus the derivative of the ratio by n_x
        by_y, by_z = slope * c, -slope * b
        return ratio * du_y + by_y * u, ratio * du_z + by_z * u, ratio * dw_y + by_y * w, ratio * dw_z + by_z * w
    t, v = u / s, w / s
    along_y, along_z = t * du_y + v * dw_y, t * du_z + v * dw_z
    turn = 1.0 / n0 - ratio
    return (
        ratio * du_y + turn * along_y * t,
        ratio * du_z + turn * along_z * t,
        ratio * dw_y + turn * along_y * v,
        ratio * dw_z + turn * along_z * v,
    )


def contact_error(at: Touch, margin: float) -> float:
    """Norm of the five rows of the contact."""
    _, u, w, ratio = swing(at.R[0], at.R[3], at.R[6])
    x, y, z = at.p
    return sqrt((x + margin) ** 2 + (y - at.near.y) ** 2 + (z - at.near.z) ** 2 + (u * u + w * w) * ratio * ratio)


def write_contact(at: Touch, margin: float, value: Vector, rows: Matrix | None) -> None:
    """The five rows of the contact: on the plane, inside (2), parallel (2).

    Args:
        at: how the surfaces lie.
        margin: height of the object above the floor [m].
        value: (5,) to be filled.
        rows: (5, 6) derivative by the body twist, or None.
    """
    (x, y, z), R, near = at
    s, u, w, ratio = swing(R[0], R[3], R[6])
    value[:] = (x + margin, y - near.y, z - near.z, ratio * u, ratio * w)
    if rows is None:
        return
    yy, yz, zz = 1.0 - near.yy, -near.yz, 1.0 - near.zz
    rows[0, :3] = R[:3]
    rows[1, :3] = (yy * R[3] + yz * R[6], yy * R[4] + yz * R[7], yy * R[5] + yz * R[8])
    rows[2, :3] = (yz * R[3] + zz * R[6], yz * R[4] + zz * R[7], yz * R[5] + zz * R[8])
    a, b, c, d = swing_rates(R[0], R[1], R[2], R[4], R[5], R[7], R[8], s, u, w, ratio)
    rows[3, 4:], rows[4, 4:] = (a, b), (c, d)


def write_place(at: Touch, value: Vector, rows: Matrix | None) -> None:
    """The rows that say where on the floor: point (2), and (cos, sin) of the rotation about the normal.

    Args:
        at: how the surfaces lie.
        value: (4,) to be filled.
        rows: (3, 6) derivative by the body twist, or None.
    """
    _, R, near = at
    c, s = R[4] + R[8], R[7] - R[5]
    norm = hypot(c, s)  # 1 + n_x: zero upside down, where any rotation will do
    if norm < NO_TWIST:
        c, s, norm = 1.0, 0.0, 1.0
    value[:] = (near.y, near.z, c / norm, s / norm)
    if rows is None:
        return
    yy, yz, zz = near.yy, near.yz, near.zz
    rows[0, :3] = (yy * R[3] + yz * R[6], yy * R[4] + yz * R[7], yy * R[5] + yz * R[8])
    rows[1, :3] = (yz * R[3] + zz * R[6], yz * R[4] + zz * R[7], yz * R[5] + zz * R[8])
    square = norm * norm
    rows[2, 3:] = (1.0, -(c * R[3] + s * R[6]) / square, (s * R[3] - c * R[6]) / square)

"""What a contact can carry: forces in a cone of friction, centres of pressure on a sole."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, sqrt
from typing import final

import numpy as np

from liegroups.arguments import finite_number, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import OptionError, SizeError
from ..questions import ask_once
from ..ranges import whole_number
from ..robot.placement import unit_axis

SLIPPERY = 10.0
"""A coefficient of friction above this is asked about."""

LONG_SOLE = 5.0
"""A sole longer than this is asked about [m]."""


@final
@dataclass(frozen=True, eq=False)
class FrictionCone:
    r"""Coulomb's cone: forces f on the robot with :math:`|f - (n^T f)\, n| \le \mu\, n^T f`.

    Args:
        coefficient: mu, not negative.
        normal: n (3,), unit, out of the ground, in the axes of the contact's rows; z by default.
        edges: of the pyramid inside the cone that stands for it where inequalities have to be linear.

    Raises:
        OptionError: a negative coefficient, fewer than three edges.
        NotNormalizedError, SizeError, NotFiniteError: an invalid normal.
    """

    coefficient: float
    normal: ArrayLike = (0.0, 0.0, 1.0)
    edges: int = 8

    def __post_init__(self) -> None:
        """Check the numbers."""
        mu = finite_number(self.coefficient, "coefficient of a friction cone")
        if mu < 0.0:
            raise OptionError(f"coefficient of a friction cone: expected a number that is not negative, got {mu:g}")
        whole_number(self.edges, "edges of a friction cone", 3)
        if mu > SLIPPERY:
            ask_once(f"coefficient of a friction cone: {mu:g}, rubber on rock has about 1: is it in degrees?")
        set_fields(self, coefficient=mu, normal=read_only(unit_axis(self.normal, "normal of a friction cone")))

    def needed(self, force: Vector) -> float:
        r"""The coefficient that a force (3,) needs, :math:`|f_t| / f_n`; infinite where it does not push.

        Zero for a force that is zero.
        """
        n = np.asarray(self.normal)
        push = float(n @ force)
        across = force - push * n
        slip = sqrt(float(across @ across))
        return slip / push if push > 0.0 else 0.0 if push == slip == 0.0 else inf

    @property
    def rows(self) -> Matrix:
        r"""Rows A (edges + 1, 3): forces with :math:`A f \le 0` are in the pyramid, which is inside the cone."""
        n = np.asarray(self.normal)
        first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        first /= sqrt(float(first @ first))
        angles = 2.0 * np.pi * (np.arange(self.edges) + 0.5) / self.edges
        across = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * np.cross(n, first)
        return np.concatenate([across - self.coefficient * np.cos(np.pi / self.edges) * n, -n[None, :]])


@final
@dataclass(frozen=True, eq=False)
class Sole:
    r"""The polygon of ground that a surface contact presses on, in the plane of the x and y axes of its rows.

    The centre of pressure of a wrench (f, m) at the origin of the contact is
    :math:`(-m_y, m_x) / f_z`; it is inside the convex hull of the corners where the ground only pushes.

    Args:
        corners: (k, 2) or (k, 3), at least three, in any order [m]; only x and y count.

    Raises:
        OptionError: corners on one line.
        SizeError, NotFiniteError: other corners.

    Example:
        >>> foot = Sole.rectangle(0.2, 0.1)
        >>> foot.distance([0.12, 0.0])
        0.02
    """

    corners: ArrayLike

    _edges: Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the corners, and find their hull."""
        given = real_numbers(self.corners, "corners of a sole", finite=True)
        if given.ndim != 2 or given.shape[1] not in (2, 3) or len(given) < 3:
            raise SizeError("corners of a sole", "(3 or more, 2)", given.shape)
        from scipy.spatial import ConvexHull, QhullError

        points = np.array(given[:, :2])
        try:
            hull = ConvexHull(points)
        except QhullError as error:
            raise OptionError(f"corners of a sole: they lie on one line, got {points.tolist()}") from error
        size = np.ptp(points, axis=0)
        if size.max() > LONG_SOLE:
            ask_once(f"sole of {size[0]:g} m by {size[1]:g} m: is it in millimetres?")
        set_fields(self, corners=read_only(points[hull.vertices]), _edges=read_only(np.array(hull.equations)))

    @staticmethod
    def rectangle(length: float, width: float) -> Sole:
        """A sole about the origin, `length` along x and `width` along y [m]."""
        x, y = (0.5 * finite_number(size, f"{name} of a sole") for size, name in ((length, "length"), (width, "width")))
        if not (x > 0.0 and y > 0.0):
            raise OptionError(f"length and width of a sole: expected positive numbers [m], got {length:g}, {width:g}")
        return Sole([[x, y], [-x, y], [-x, -y], [x, -y]])

    @staticmethod
    def pressure(wrench: Vector) -> Vector | None:
        """Centre of pressure (2,) [m] of a wrench (6,) at the origin of the contact; None where it does not push."""
        return np.array([-wrench[4], wrench[3]]) / wrench[2] if wrench[2] > 0.0 else None

    def distance(self, point: ArrayLike) -> float:
        """How far a point (2,) is outside [m], by the worst edge; negative inside."""
        at = real_numbers(point, "point on a sole", finite=True)
        if at.shape != (2,):
            raise SizeError("point on a sole", 2, at.shape)
        return round(float((self._edges[:, :2] @ at + self._edges[:, 2]).max()), 15)

    @property
    def rows(self) -> Matrix:
        r"""Rows A (k + 1, 6): wrenches with :math:`A w \le 0` push, with their centre of pressure on the sole."""
        out = np.zeros((len(self._edges) + 1, 6))
        x, y, offset = self._edges.T
        out[:-1, 2], out[:-1, 3], out[:-1, 4] = offset, y, -x
        out[-1, 2] = -1.0
        return out

"""What a surface contact can carry: centres of pressure on a sole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from liegroups.arguments import finite_number, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import OptionError, SizeError
from ..questions import ask_once

LONG_SOLE = 5.0
"""A sole longer than this is asked about [m]."""


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

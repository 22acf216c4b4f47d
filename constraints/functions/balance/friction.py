"""Friction of a contact: the forces that it can carry."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import final

import numpy as np

from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...questions import ask_once
from ...ranges import not_negative, whole_number
from ...robot.placement import unit_axis

SLIPPERY = 10.0
"""A coefficient of friction above this is asked about."""


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
        mu = not_negative(self.coefficient, "coefficient of a friction cone")
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
        return np.concatenate([self._across(0.5) - self.coefficient * np.cos(np.pi / self.edges) * n, -n[None, :]])

    @property
    def rays(self) -> Matrix:
        r"""Forces along the edges of that pyramid (edges, 3), each of 1 along the normal.

        Without friction the normal alone (1, 3). Forces in the pyramid are sums of them, with factors of 0 or more.
        """
        n = np.asarray(self.normal)
        if self.coefficient == 0.0:
            return n[None, :].copy()
        return n + self.coefficient * self._across(0.0)

    def _across(self, start: float) -> Matrix:
        """Unit vectors (edges, 3) in the plane across the normal, from an angle on, in parts of the one between two."""
        n = np.asarray(self.normal)
        first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        first /= sqrt(float(first @ first))
        angles = 2.0 * np.pi * (np.arange(self.edges) + start) / self.edges
        return np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * np.cross(n, first)

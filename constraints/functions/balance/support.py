"""What a robot leans on: points of a frame, with a normal and a coefficient of friction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.arguments import as_tuple, expect, real_numbers
from liegroups.arrays import ArrayLike, Matrix
from liegroups.frozen import read_only, set_fields

from ...errors import SizeError
from ...robot import Frame
from ...words import counted
from ..contact.contact_surface import Surface
from .friction import FrictionCone


@dataclass(frozen=True, eq=False, repr=False)
class Support:
    r"""Points at which a robot is pushed, each by forces in a pyramid of friction about one normal.

    Points and normal move with their frame: of a foot or a hand, or of the world for what stays where it is.

    Args:
        frame: their frame, `robot.frame(...)`.
        points: (k, 3), at least one: a point, the ends of a line, the corners of a sole [m].
        friction: coefficient mu of all points; without it only normal forces.
        normal: n (3,), unit, out of the ground towards the robot, in the axes of the frame; z by default.
        edges: of the pyramid of forces, which is inside Coulomb's cone.

    Attributes:
        cone: the `FrictionCone` of coefficient, normal and edges.

    Raises:
        OptionError: a negative coefficient, fewer than three edges.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError, WrongObjectError: what is wrong with the others.

    Example:
        >>> from constraints.models import sample_humanoid
        >>> Support(sample_humanoid().frame("rleg_effector_body"), [[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]], friction=0.5)
        <support of rleg_effector_body: 2 points, friction 0.5>
    """

    frame: Frame
    points: ArrayLike
    friction: float = 0.0
    normal: ArrayLike = (0.0, 0.0, 1.0)
    edges: int = 8

    cone: FrictionCone = field(init=False)

    def __post_init__(self) -> None:
        frame = expect(self.frame, Frame, "frame of a support", "a Frame (robot.frame(name))")
        what = f"points of the support of {frame}"
        points = np.array(real_numbers(self.points, what, "points (k, 3)", finite=True))
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise SizeError(what, "at least 1 row of 3", points.shape)
        cone = FrictionCone(self.friction, self.normal, self.edges)
        set_fields(self, points=read_only(points), normal=cone.normal, friction=cone.coefficient, cone=cone)

    @staticmethod
    def under(surface: Surface, friction: float = 0.0) -> Support:
        """The corners of a surface of the robot that stands on the ground: its normal points out of the ground.

        Args:
            surface: of the robot, of a foot say.
            friction: coefficient of friction.
        """
        given = expect(surface, Surface, "surface of a support")
        normal = np.asarray(given.frame.placement.rotation).T @ -given.normal
        return Support(given.frame, given.points, friction, normal)

    def columns(self, forces: Matrix) -> Matrix:
        r"""Wrenches (6, k n), in the axes of the frame at its origin, of n forces at each point: f, then p x f.

        Args:
            forces: (n, 3), in the axes of the frame.
        """
        points: Any = self.points
        moments = np.cross(points[:, None, :], forces[None, :, :])
        return np.concatenate([np.tile(forces, (len(points), 1)).T, moments.reshape(-1, 3).T])

    def __repr__(self) -> str:
        grip = f"friction {self.friction:g}" if self.friction else "no friction"
        return f"<support of {self.frame}: {counted(len(np.asarray(self.points)), 'point')}, {grip}>"


def as_supports(supports: Any, what: str) -> tuple[Support, ...]:
    """Supports as a user gives them: one, or a sequence of at least one.

    Args:
        supports: what came.
        what: whose, in messages.

    Raises:
        WrongObjectError, SizeError: something else, or none.
    """
    if isinstance(supports, Support):
        return (supports,)
    found = as_tuple(supports, f"supports of {what}", "Supports, or a Support")
    if not found:
        raise SizeError(f"supports of {what}", "at least one", 0)
    return tuple(expect(each, Support, f"support {i} of {what}") for i, each in enumerate(found))

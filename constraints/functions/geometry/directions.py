"""Directions and angles of frames, and parts of vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.formulas.second_order import cross
from liegroups.frozen import set_fields

from ...errors import SizeError, UndefinedError
from ...point import Point
from ...robot import Frame, Robot
from ...robot.model.pinocchio import Placement
from ...robot.placement import unit_axis
from ..combined import FunctionWithFormula
from ..expression import Expression, atan2, cos, rotated, sin, stack
from ..frames.rotation import Rotation
from ..function import Function


def direction(
    robot: Robot, frame: Frame | str, axis: ArrayLike, reference: Frame | str | Placement | Vector | None = None
) -> Expression:
    r"""The direction in which an axis of frame b points, seen from frame a.

    .. math:: f(q) = {}^aR_b\, u \in \mathbb{R}^3, \quad \lVert f \rVert = 1

    With w another direction, fixed in a: parallel is `Implicit.zero(f - w)`, the other way round
    `Implicit.zero(f + w)` (three rows of rank 2), either way `Implicit.zero(across(f, w))` (two rows), within a
    cone of half angle :math:`\alpha` `Implicit.above(dot(f, w), cos(alpha))`, at a right angle
    `Implicit.zero(dot(f, w))`. The Jacobian of these rows vanishes where f is opposite to what they ask for, and
    that of the cone where f = w.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        axis: u, a unit vector (3,) of b, or "x", "y", "z", "-x", "-y", "-z".
        reference: frame a, a frame name, a Frame, or a placement in the world; the world by default.

    Shapes:
        value (3,), jacobian (3, nv).

    Raises:
        UnknownFrameError: a frame that the robot does not have.
        NotNormalizedError: the axis is no unit vector.

    Example:
        >>> from constraints import Implicit
        >>> from constraints.functions import direction
        >>> from constraints.models import sample_arm
        >>> downward = Implicit.zero(direction(sample_arm(), "tool", "z") + [0.0, 0.0, 1.0])

    Source: `AngleBetweenVectorsConstraint` of Drake, `axis_align_task` of placo.
    """
    return rotated(Rotation(robot, frame, reference), unit_axis(axis, "axis of a direction"))


@dataclass(frozen=True, eq=False, repr=False)
class AngleAbout(FunctionWithFormula):
    r"""The angle by which frame b is turned about an axis, seen from frame a: the twist of its rotation.

    .. math:: \theta = \operatorname{atan2}(e_2^T R e_1 - e_1^T R e_2,\ e_1^T R e_1 + e_2^T R e_2)
        = \operatorname{atan2}(2 w s,\ w^2 - s^2), \quad R = {}^aR_b, \quad s = u^T v

    with :math:`e_1, e_2, u` right-handed, u the axis and (v, w) the quaternion: R is a turn by :math:`\theta` about u,
    and one about an axis across it. With :math:`J_{ang}` the Jacobian of `Rotation`,

    .. math:: J = \frac{(w^2 u + w\, u \times v + s\, v)^T J_{ang}}{w^2 + s^2}

    It jumps at :math:`\pm\pi`: a coupling of angles is `wrapped`, which does not. It has no value where the axis is
    tilted by half a turn.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        axis: u, a unit vector (3,) of a, or "x", "y", "z", "-x", "-y", "-z".
        reference: frame a, a frame name, a Frame, or a placement in the world; the world by default.
        name: name in messages.

    Attributes:
        written: the first formula, by operators: what is asked for drifts, for bounds, and by the compiled engine.

    Shapes:
        value (1,): [rad], in :math:`(-\pi, \pi]`.
        jacobian (1, nv).

    Raises:
        UnknownFrameError: a frame that the robot does not have.
        NotNormalizedError: the axis is no unit vector.
        UndefinedError: when evaluated where the axis is tilted by half a turn.

    Source: the twist of a swing and a twist; Dobrowolski, Swing-twist decomposition in Clifford algebra, 2015.
    """

    robot: Robot
    frame: Frame | str
    axis: ArrayLike
    reference: Frame | str | Placement | Vector | None = None
    name: str = field(default="", kw_only=True)

    written: Function = field(init=False)
    _rotation: Rotation = field(init=False)
    _axis: Vector = field(init=False)

    def __post_init__(self) -> None:
        R, u = Rotation(self.robot, self.frame, self.reference), unit_axis(self.axis, "axis of an angle")
        first, second = beside(u)
        both = stack(rotated(R, first), rotated(R, second))
        written = atan2(np.append(second, -first) @ both, np.append(first, second) @ both)
        set_fields(self, axis=u, _axis=u, written=written, _rotation=R)
        name = f"AngleAbout({R.name}, [{', '.join(f'{x:.4g}' for x in u.tolist())}])"
        self.declare(R.inputs, written.outputs, R.columns, periodic=R.periodic, name=self.name or name)

    @property
    def frame_a(self) -> Frame:
        """The frame from which it is seen, as resolved."""
        return self._rotation.frame_a

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        quaternion: Vector = point.scratch(self, "rotation", (4,))
        turns: Any = None if jacobian is None else point.scratch(self, "turns", (3, self.inputs.nv))
        self._rotation.evaluate(point, quaternion, turns)
        (x, y, z, w), (a, b, c) = quaternion.tolist(), self._axis.tolist()
        s = a * x + b * y + c * z
        size = w * w + s * s
        if size == 0.0:
            raise UndefinedError(f"{self.name}: its axis is tilted by half a turn")
        value[0] = math.atan2(2.0 * w * s, (w - s) * (w + s))
        if jacobian is not None:
            k, m, n = w * w / size, w / size, s / size
            first = k * a + m * (b * z - c * y) + n * x
            second = k * b + m * (c * x - a * z) + n * y
            third = k * c + m * (a * y - b * x) + n * z
            jacobian[0] = np.array([first, second, third]).dot(turns)


def wrapped(f: Function) -> Expression:
    r"""Angles in :math:`(-\pi, \pi]`, by row: they differ from f by whole turns.

    .. math:: h(q) = \operatorname{atan2}(\sin f, \cos f), \quad J = J_f

    For what turns more than once. A screw of pitch p, metres a turn, with `travel` [m] along its axis and `angle` about
    it: `wrapped(2 * pi / p * travel - angle) == 0`. Two gears with m and n teeth, with angles about their axes:
    `wrapped(m * first + n * second)`, minus for a gear inside a ring, equal to the phase in which they mesh. In
    both whole turns of an angle drop out, whatever turn `AngleAbout` gives; teeth must be whole numbers for that.
    The value jumps half a turn away from 0.

    Args:
        f: angles, a function into R^n [rad].

    Shapes:
        value (n,): [rad]; jacobian (n, nv).

    Example:
        >>> from math import pi
        >>> from constraints import Implicit, Position
        >>> from constraints.functions import AngleAbout, wrapped
        >>> from constraints.models import sample_arm
        >>> arm = sample_arm()
        >>> travel, angle = Position(arm, "tool")[2], AngleAbout(arm, "tool", "z")
        >>> screw = Implicit.zero(wrapped(2 * pi / 0.05 * travel - angle))

    Source: `gear_task` of placo; the screw joint of hpp-pinocchio.
    """
    angles = expect(f, Function, "angles that are wrapped", "a Function")
    return atan2(sin(angles), cos(angles))


def across(v: Function, axis: ArrayLike) -> Function:
    r"""The part of a vector across an axis: its two coordinates in the plane at right angles to it.

    .. math:: f(q) = (e_1, e_2)^T v(q) \in \mathbb{R}^2

    with :math:`e_1, e_2, u` right-handed and u the axis. Of a point p, `across(p - c, u)` is 0 on the line through c
    along u, and `norm(across(p - c, u)) - r` is 0 on the cylinder of radius r about it, minus its depth inside: that
    one has no value on the line. For a line that moves take the point seen from it, `Position(robot, b, reference=a)`.

    Args:
        v: a function into R^3.
        axis: u, a unit vector (3,), or "x", "y", "z", "-x", "-y", "-z".

    Shapes:
        value (2,): in the units of v; jacobian (2, nv), of full rank where that of v is.

    Raises:
        SizeError: not a vector of three rows.
        NotNormalizedError: the axis is no unit vector.

    Source: `PointToLineDistanceConstraint` of Drake.
    """
    return np.array(beside(unit_axis(axis, "axis of a part across"))) @ vector_of(v, "vector of a part across", 3)


def beside(axis: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed frame, with a unit vector as its third axis."""
    least = int(np.argmin(np.abs(axis)))
    first = np.eye(3)[least] - axis[least] * axis
    first /= np.sqrt(first @ first)
    return first, cross(axis, first)


def vector_of(f: Function, what: str, *sizes: int) -> Function:
    """A function into R^n of one of some sizes.

    Args:
        f: what a user gave.
        what: how an error message names it.
        sizes: that fit.
    """
    given = expect(f, Function, what, "a Function")
    if not given.outputs.is_flat or given.outputs.nv not in sizes:
        raise SizeError(what, " or ".join(f"R{n}" for n in sizes), given.outputs.name)
    return given

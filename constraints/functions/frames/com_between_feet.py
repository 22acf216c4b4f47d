"""Where the centre of mass is between two feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ...point import Point
from ...questions import ask_once
from ...robot import Frame, Robot
from ...robot.model.pinocchio import pin
from ..combined import FunctionWithFormula
from ..expression import cross, dot, stack
from ..function import Function
from .center_of_mass import CenterOfMass
from .frame_function import as_frame, kinematics_at, supporting_columns
from .mass import MassFunction
from .position import Position

_WORLD_AXES: Any = pin.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, eq=False, repr=False)
class ComBetweenFeet(FunctionWithFormula, MassFunction):
    r"""Position of the centre of mass c between two feet: height, offset from their line, position along the line.

    With :math:`x_L, x_R` the origins of the feet, :math:`u = x_R - x_L`, :math:`m = (x_L + x_R)/2` and the axes
    :math:`R_r` of a reference frame with origin :math:`x_r`, all in the world,

    .. math:: f(q) = \begin{pmatrix} (c - x_r)_z \\ \left(R_r^T\,((c - m) \times u)\right)_z \\
        (c - x_L)\cdot u \\ (c - x_R)\cdot u \end{pmatrix} \in \mathbb{R}^4

    The first row is a difference of heights in the *world*. For balance keep rows 0 and 1 at their right-hand sides,
    row 2 above zero and row 3 below zero. Feet with one origin are asked about in the log.

    Args:
        robot: the robot.
        left, right, reference: frame names or Frames.
        joints: names of the joints whose bodies count; all by default.
        subtrees: names of joints whose whole sub-trees count, instead of `joints`.
        name: name in messages.

    Attributes:
        written: the same by operators: what is asked for drifts and for bounds.

    Shapes:
        value (4,): [m], [m2], [m2], [m2].
        jacobian (4, nv).

    Raises:
        UnknownFrameError, UnknownJointError: lists the names that come closest.
        ModelError: if the bodies have no mass.

    Source: `ComBetweenFeet` of hpp-constraints.
    """

    robot: Robot
    left: Frame | str
    right: Frame | str
    reference: Frame | str
    joints: Sequence[str] | None = None
    subtrees: Sequence[str] | None = None
    name: str = field(default="", kw_only=True)

    written: Function = field(init=False)
    _frames: tuple[Frame, Frame, Frame] = field(init=False)

    def __post_init__(self) -> None:
        robot = self.choose_bodies(self.robot, self.joints, self.subtrees)
        frames = tuple(as_frame(robot, f, type(self).__name__) for f in (self.left, self.right, self.reference))
        _ask_of_one_foot(*frames[:2])
        columns = self.columns_seen_from(0)
        for frame in frames:
            columns |= supporting_columns(robot, frame.joint)
        center = CenterOfMass(robot, self.joints, self.subtrees)
        set_fields(self, _frames=frames, written=_written(center, frames, robot))
        self.declare(robot.space, Rn(4), columns, periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian)
        Jc = None if jacobian is None else self.center_jacobian(k)
        c = self.center(k)
        oMi = k.oMi
        oML, oMR, oMr = (oMi[f.joint].act(f.placement) for f in self._frames)
        xL, xR, R = oML.translation, oMR.translation, oMr.rotation
        u, lever = xR - xL, c - 0.5 * (xL + xR)
        z, moment = R[:, 2], pin.skew(lever).dot(u)
        value[0] = c[2] - oMr.translation[2]
        value[1] = z.dot(moment)
        value[2] = (c - xL).dot(u)
        value[3] = (c - xR).dot(u)
        if jacobian is None or Jc is None:
            return
        JL, JR, Jr = (k.jacobian_on(k.model, k.data, f.joint, f.placement, _WORLD_AXES) for f in self._frames)
        Ju, Jlever = JR[:3] - JL[:3], Jc - 0.5 * (JL[:3] + JR[:3])
        turn, along, half = pin.skew(z), u.dot(Jlever) + lever.dot(Ju), u.dot(Ju)
        jacobian[0] = Jc[2] - Jr[2]
        jacobian[1] = turn.dot(lever).dot(Ju) - turn.dot(u).dot(Jlever) + turn.dot(moment).dot(Jr[3:])
        jacobian[2], jacobian[3] = along + half, along - half


def _ask_of_one_foot(left: Frame, right: Frame) -> None:
    """Ask about feet whose origins are the same point of one body: there is no line between them."""
    if left.joint == right.joint and np.array_equal(left.placement.translation, right.placement.translation):
        both = f"'{left}' twice" if left.name == right.name else f"'{left}' and '{right}', at one point"
        ask_once(f"left and right of ComBetweenFeet are {both}: rows 1, 2 and 3 are zero everywhere: is it meant?")


def _written(center: Function, feet: Sequence[Frame], robot: Robot) -> Function:
    """The same rows written with operators, for second derivatives and bounds."""
    left, right, reference = feet
    above = reference.moved(pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0])))
    xL, xR, x, top = (Position(robot, frame) for frame in (left, right, reference, above))
    u = xR - xL
    moment = cross(center - 0.5 * (xL + xR), u)
    return stack((center - x)[2], dot(top - x, moment), dot(center - xL, u), dot(center - xR, u))

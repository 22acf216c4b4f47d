"""Position of a frame's origin, in the world or seen from another frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector

from ..point import MovingPoint, Point
from ..robot import Frame, Robot
from .frame_function import FrameFunction, kinematics_at

if TYPE_CHECKING:
    from ..robot.pinocchio import Placement

__all__ = ["Position", "RelativePosition"]


class _PositionRows(FrameFunction):
    """The rows both functions share: the translation of aMb."""

    sees_only_frames = True

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        frames = self.relative_frames(k)
        value[:] = frames.translation
        if jacobian is not None:
            frames.linear[:] = frames.rotation
            self.write_jacobian(k, frames.rows[:3], jacobian)

    mixed_rows = (slice(0, 3),)

    def evaluate_for_step(self, point: Point, error: Vector, jacobian: Matrix | None = None) -> None:
        r"""As `StepRows.evaluate_for_step`, in b: :math:`{}^bp_a = -{}^aR_b^T\,{}^ap_b` and :math:`-J_{lin}`."""
        k, back = self.seen_backwards(point, jacobian)
        error[...] = back.translation
        if jacobian is not None:
            jacobian[...] = self.body_columns(k, back, None)[:3]

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)
        out[:] = aMb.rotation @ (gamma[:3] + np.cross(twist[3:], twist[:3]))


@dataclass(frozen=True, eq=False, repr=False)
class Position(_PositionRows):
    r"""Position of the origin of a frame, in the world or in a reference frame fixed in the world.

    .. math:: f(q) = {}^a p_b \in \mathbb{R}^3, \quad J = {}^aR_b\, J_{lin}

    with :math:`J_{lin}` the linear rows of the body Jacobian of b.

    Args:
        robot: robot that owns the frame.
        frame: frame name or Frame.
        reference: placement of the axes in the world (`pinocchio.SE3`, 4 x 4, or seven numbers); the world by default.
        name: name in messages.

    Shapes:
        value (3,): [m] in the axes of the reference.
        jacobian (3, nv).

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `Position` of hpp-constraints.
    """

    robot: Robot
    frame: Frame | str
    reference: Placement | Vector | None = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Resolve names."""
        self.resolve(self.robot, self.reference, self.frame, Rn(3), self.name or None)


@dataclass(frozen=True, eq=False, repr=False)
class RelativePosition(_PositionRows):
    r"""Position of the origin of frame b seen from frame a.

    .. math:: f(q) = {}^a p_b = {}^oR_a^T({}^op_b - {}^op_a) \in \mathbb{R}^3

    Args:
        robot: robot that owns both frames.
        a, b: frame names or Frames.
        name: name in messages.

    Shapes:
        value (3,): [m] in the axes of a.
        jacobian (3, nv): zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `RelativePosition` of hpp-constraints.
    """

    robot: Robot
    a: Frame | str
    b: Frame | str
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Resolve names."""
        self.resolve(self.robot, self.a, self.b, Rn(3), self.name or None)

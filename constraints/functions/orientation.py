"""Orientation as a rotation vector (R^3): the logarithm of a rotation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from liegroups import Rn
from liegroups.arrays import Matrix, Vector
from liegroups.second_order import so3_log_second

from ..point import MovingPoint, Point
from ..robot import Frame, Robot
from ..robot.pinocchio import pin
from .frame_function import FrameFunction, kinematics_at, rotation_log

if TYPE_CHECKING:
    from ..robot.pinocchio import Placement

__all__ = ["Orientation", "RelativeOrientation"]


class _RotationLogRows(FrameFunction):
    """The rows both functions share: the logarithm of the rotation of aMb."""

    sees_only_frames = True

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        frames = self.relative_frames(k)
        if jacobian is None:
            value[:] = rotation_log(frames.rotation)
            return
        value[:] = rotation_log(frames.rotation, frames.angular)
        self.write_jacobian(k, frames.rows[3:], jacobian)

    mixed_rows = (slice(0, 3),)

    def evaluate_for_step(self, point: Point, error: Vector, jacobian: Matrix | None = None) -> None:
        r"""As `StepRows.evaluate_for_step`, in b: :math:`\log {}^bR_a = -\log {}^aR_b` and :math:`-J_{ang}`."""
        k, back = self.seen_backwards(point, jacobian)
        error[...] = pin.log3(back.rotation)
        if jacobian is not None:
            jacobian[...] = self.body_columns(k, back, None)[3:]

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)
        out[:] = so3_log_second(rotation_log(aMb.rotation), twist[3:], gamma[3:])


@dataclass(frozen=True, eq=False, repr=False)
class Orientation(_RotationLogRows):
    r"""Rotation vector of a frame, in the world or from a reference orientation.

    .. math:: f(q) = \log({}^aR_b) \in \mathbb{R}^3, \quad J = J_{log}({}^aR_b)\, J_{ang}

    with :math:`J_{ang}` the angular rows of the body Jacobian of b. Its norm is the angle; it jumps at half a turn.

    Args:
        robot: robot that owns the frame.
        frame: frame name or Frame.
        reference: placement in the world (`pinocchio.SE3`, 4 x 4, or seven numbers) of frame a; the world by default.
        name: name in messages.

    Shapes:
        value (3,): [rad].
        jacobian (3, nv).

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `Orientation` of hpp-constraints.
    """

    robot: Robot
    frame: Frame | str
    reference: Placement | Vector | None = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Resolve names."""
        self.resolve(self.robot, self.reference, self.frame, Rn(3), self.name or None)


@dataclass(frozen=True, eq=False, repr=False)
class RelativeOrientation(_RotationLogRows):
    r"""Rotation vector of frame b seen from frame a.

    .. math:: f(q) = \log({}^oR_a^T\, {}^oR_b) \in \mathbb{R}^3

    Its norm is the angle; it jumps at half a turn.

    Args:
        robot: robot that owns both frames.
        a, b: frame names or Frames.
        name: name in messages.

    Shapes:
        value (3,): [rad].
        jacobian (3, nv): zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `RelativeOrientation` of hpp-constraints.
    """

    robot: Robot
    a: Frame | str
    b: Frame | str
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Resolve names."""
        self.resolve(self.robot, self.a, self.b, Rn(3), self.name or None)

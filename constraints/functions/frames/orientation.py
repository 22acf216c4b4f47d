"""Orientation as a rotation vector (R^3): the logarithm of a rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liegroups import SO3, Rn
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import so3_log_second

from ...point import MovingPoint, Point
from ...robot.placement import rotation_log
from ..enclosures.box import Enclosure, TangentBox, of_many
from ..enclosures.maps import logarithm
from .chain_bounds import seen
from .frame_function import FrameOfRobot, kinematics_at
from .slopes import TwistRowSlopes, pose_rows


@dataclass(frozen=True, eq=False, repr=False)
class Orientation(FrameOfRobot):
    r"""Rotation vector of frame b seen from frame a: from the world, a placement in it, or a frame that moves.

    .. math:: f(q) = \log({}^aR_b) = \log({}^oR_a^T\, {}^oR_b) \in \mathbb{R}^3, \quad J = J_{log}({}^aR_b)\, J_{ang}

    with :math:`J_{ang}` the angular rows of the Jacobian of the body twist of b relative to a. Its norm is the angle;
    it jumps at half a turn.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        reference: frame a, a frame name, a Frame, or a placement in the world (`pinocchio.SE3`, 4 x 4, seven numbers);
            the world by default.
        name: name in messages.

    Shapes:
        value (3,): [rad].
        jacobian (3, nv): zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `Orientation`, `RelativeOrientation` of hpp-constraints.
    """

    group = Rn(3)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        frames = self.relative_frames(k)
        if jacobian is None:
            value[:] = rotation_log(frames.rotation)
            return
        value[:] = rotation_log(frames.rotation, frames.angular)
        self.write_jacobian(k, frames.rows[3:], jacobian)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)
        out[:] = so3_log_second(rotation_log(aMb.rotation), twist[3:], gamma[3:])

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        found = seen(self.robot, self.frame_a, [self.frame_b], box.on(self.inputs, self.name))
        return logarithm(SO3, found.turn(box), box)

    def rows_at(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes:
        return pose_rows(pose, twist, acceleration, multipliers, moves=False, turns=True)

"""Pose as six numbers (R^6): translation, then rotation vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroups import SO3, Rn
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import so3_log_second

from ...point import MovingPoint, Point
from ...robot.placement import rotation_log
from ..enclosures.box import Bend, Enclosure, TangentBox, of_many
from ..enclosures.interval import Interval
from ..enclosures.maps import logarithm
from .chain_bounds import seen
from .frame_function import FrameOfRobot, kinematics_at
from .slopes import TwistRowSlopes, pose_rows


@dataclass(frozen=True, eq=False, repr=False)
class Transformation(FrameOfRobot):
    r"""Pose of frame b seen from frame a as translation and rotation vector.

    .. math:: f(q) = \left({}^ap_b,\; \log {}^aR_b\right) \in \mathbb{R}^6, \quad {}^aM_b = {}^oM_a^{-1}\,{}^oM_b

    *Not* the logarithm of SE(3): translation and rotation do not mix. Use `Pose` for values in a group.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        reference: frame a, a frame name, a Frame, or a placement in the world (`pinocchio.SE3`, 4 x 4, seven numbers);
            the world by default.
        name: name in messages.

    Shapes:
        value (6,): translation [m] in the axes of a, rotation vector [rad].
        jacobian (6, nv): zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `Transformation`, `RelativeTransformation` of hpp-constraints.
    """

    group = Rn(6)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        frames = self.relative_frames(k)
        R = frames.rotation
        value[:3] = frames.translation
        if jacobian is None:
            value[3:] = rotation_log(R)
            return
        frames.linear[...] = R
        value[3:] = rotation_log(R, frames.angular)
        self.write_jacobian(k, frames.rows, jacobian)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)
        out[:3] = aMb.rotation @ (gamma[:3] + np.cross(twist[3:], twist[:3]))
        out[3:] = so3_log_second(rotation_log(aMb.rotation), twist[3:], gamma[3:])

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        found = seen(self.robot, self.frame_a, [self.frame_b], box.on(self.inputs, self.name))
        turn = logarithm(SO3, found.turn(box), box)
        value = np.concatenate([found.position[..., 0, :], turn.value], axis=-1)
        small = np.concatenate([found.planes.off(found.near[..., :1]), turn.rounding], axis=-1)
        columns = Interval.joined([found.position_columns(), turn.jacobian], -2)

        def bend() -> Bend:
            return Bend.joined([found.position_bend(), turn.bend])

        return Enclosure.centred(self.outputs, box, value, small, columns, bend)

    def rows_at(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes:
        return pose_rows(pose, twist, acceleration, multipliers, moves=True, turns=True)

"""Position of a frame's origin, in the world or seen from another frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector

from ...point import MovingPoint, Point
from ...robot import Frame
from ..enclosures.box import Enclosure, TangentBox, of_many
from ..function import Function
from .chain_bounds import seen
from .frame_function import FrameOfRobot, kinematics_at
from .rotation import Rotation
from .slopes import TwistRowSlopes, pose_rows


@dataclass(frozen=True, eq=False, repr=False)
class Position(FrameOfRobot):
    r"""Position of the origin of frame b seen from frame a: from the world, a placement in it, or a frame that moves.

    .. math:: f(q) = {}^ap_b = {}^oR_a^T({}^op_b - {}^op_a) \in \mathbb{R}^3, \quad J = {}^aR_b\, J_{lin}

    with :math:`J_{lin}` the linear rows of the Jacobian of the body twist of b relative to a.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        reference: frame a, a frame name, a Frame, or a placement in the world (`pinocchio.SE3`, 4 x 4, seven numbers);
            the world by default.
        name: name in messages.

    Shapes:
        value (3,): [m] in the axes of a.
        jacobian (3, nv): zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `Position`, `RelativePosition` of hpp-constraints.
    """

    group = Rn(3)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        frames = self.relative_frames(k)
        value[:] = frames.translation
        if jacobian is not None:
            frames.linear[:] = frames.rotation
            self.write_jacobian(k, frames.rows[:3], jacobian)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)
        out[:] = aMb.rotation @ (gamma[:3] + np.cross(twist[3:], twist[:3]))

    def relative(self, turn: Function, origin: Function) -> Position | None:
        frame = frame_of(turn, origin, self.frame_a)
        return None if frame is None else Position(self.robot, self.frame_b, frame)

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        return seen(self.robot, self.frame_a, [self.frame_b], box.on(self.inputs, self.name)).place(box)

    def rows_at(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes:
        return pose_rows(pose, twist, acceleration, multipliers, moves=True, turns=False)

    def pairing_slope(self, point: Point, pairing: Matrix) -> Vector:
        frames, J, chains = self.chain_at(point)
        return chains.forces_slope(J, frames.rotation.T.dot(pairing))


def frame_of(turn: Function, origin: Function, frame_a: Frame) -> Frame | None:
    """The frame whose rotation and origin two functions are, both seen from frame a; None where they are none's.

    Args:
        turn, origin: the functions.
        frame_a: what both are seen from.
    """
    if type(turn) is not Rotation or type(origin) is not Position:
        return None
    pairs = (turn.frame_a, frame_a), (origin.frame_a, frame_a), (turn.frame_b, origin.frame_b)
    alike = all(
        a.joint == b.joint and np.array_equal(a.placement.homogeneous, b.placement.homogeneous) for a, b in pairs
    )
    return turn.frame_b if alike else None

"""Orientation as a rotation (SO(3))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from liegroups import SO3
from liegroups.arrays import Matrix, Vector

from ...point import MovingPoint, Point
from ...robot.model.pinocchio import pin
from ..enclosures.box import Enclosure, TangentBox, of_many
from .chain_bounds import seen
from .frame_function import FrameOfRobot, kinematics_at
from .slopes import Slopes, TwistRowSlopes


@dataclass(frozen=True, eq=False, repr=False)
class Rotation(FrameOfRobot):
    r"""Rotation of frame b seen from frame a (the world, a placement in it, a frame that moves), as a point of SO(3).

    .. math:: f(q) = {}^aR_b = {}^oR_a^T\, {}^oR_b \in SO(3), \quad J = J_{ang}

    with :math:`J_{ang}` the angular rows of the Jacobian of the body twist of b relative to a. Against a right-hand
    side the error is :math:`\log(R_{rhs}^T\, {}^aR_b)`, which is smooth everywhere but at half a turn from the target.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        reference: frame a, a frame name, a Frame, or a placement in the world (`pinocchio.SE3`, 4 x 4, seven numbers);
            the world by default.
        name: name in messages.

    Shapes:
        value (4,): quaternion xyzw.
        jacobian (3, nv): [rad] in the axes of b; zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `OrientationSO3`, `RelativeOrientationSO3` of hpp-constraints.
    """

    group = SO3

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        value[:] = pin.SE3ToXYZQUAT(self.relative_placement(k))[3:]
        if jacobian is not None:
            rows = point.scratch(self, "rows", (3, 6))
            rows[0, 3] = rows[1, 4] = rows[2, 5] = 1.0
            self.write_jacobian(k, rows, jacobian)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        out[:] = self.relative_motion(motion)[2][3:]

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        return seen(self.robot, self.frame_a, [self.frame_b], box.on(self.inputs, self.name)).turn(box)

    def rows_at(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes:
        return TwistRowSlopes(np.eye(6)[3:], Slopes.zero(3))

    def pairing_slope(self, point: Point, pairing: Matrix) -> Vector:
        _, J, chains = self.chain_at(point)
        return chains.wrenches_slope(J, np.concatenate([np.zeros(pairing.shape), pairing]))

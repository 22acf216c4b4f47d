"""Pose of a frame as a point of SE(3) or of R^3 x SO(3)."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups import SE3, R3xSO3, Space
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import WrongObjectError
from ...point import MovingPoint, Point
from ...robot.model.pinocchio import pin
from ..enclosures.box import Bend, Enclosure, TangentBox, of_many
from ..enclosures.interval import Interval
from ..function import Function
from .chain_bounds import seen
from .frame_function import FrameOfRobot, kinematics_at
from .slopes import Slopes, TwistRowSlopes, translation_slopes


@dataclass(frozen=True, eq=False, repr=False)
class Pose(FrameOfRobot):
    r"""Pose of frame b seen from frame a: from the world, a placement in it, or a frame that moves.

    .. math:: f(q) = {}^aM_b = {}^oM_a^{-1}\, {}^oM_b \in SE(3) \text{ or } \mathbb{R}^3 \times SO(3), \quad
        J_{SE(3)} = J_b - {}^bX_a J_a

    with :math:`J_a, J_b` body Jacobians (:math:`J_a = 0` for the world). The value is the same seven numbers in both
    groups; the errors differ: against a right-hand side M, :math:`\log_6(M^{-1}\,{}^aM_b)` in SE(3), and translation
    difference with :math:`\log_3` in R3xSO3.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        reference: frame a, a frame name, a Frame, or a placement in the world (`pinocchio.SE3`, 4 x 4, seven numbers);
            the world by default.
        outputs: `liegroups.SE3` (default) or `liegroups.R3xSO3`.
        name: name in messages.

    Shapes:
        value (7,): translation [m], quaternion xyzw.
        jacobian (6, nv): linear [m] (axes of b in SE(3), of a in R3xSO3), angular [rad] (axes of b);
            zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.

    Source: `TransformationR3xSO3`, `RelativeTransformationR3xSO3` of hpp-constraints; the SE(3) form is new here.
    """

    outputs: Space = SE3

    _body: bool = field(init=False)  # the tangent is the body twist: SE(3)

    def __post_init__(self) -> None:
        if self.outputs not in (SE3, R3xSO3):
            raise WrongObjectError(
                f"outputs of {type(self).__name__}", "liegroups.SE3 or liegroups.R3xSO3", repr(self.outputs)
            )
        set_fields(self, _body=self.outputs == SE3)
        self.resolve(self.robot, self.reference, self.frame, self.outputs, self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        frames = self.relative_frames(k)
        value[...] = pin.SE3ToXYZQUAT(frames.pose)  # [:] would make a view first
        if jacobian is None:
            return
        if self._body:
            self.write_jacobian(k, None, jacobian)
        else:
            rows = frames.rows
            rows[3, 3] = rows[4, 4] = rows[5, 5] = 1.0
            frames.linear[:] = frames.rotation
            self.write_jacobian(k, rows, jacobian)

    def translated(self, element: Vector) -> Function:
        """With SE(3) outputs: the pose of a frame at the offset `element` from b."""
        if not self._body:
            return super().translated(element)
        shifted = copy.copy(self)  # its columns are the same: each new right-hand side of a grasp makes one
        frame = self.frame_b.moved(pin.XYZQUATToSE3(element))
        set_fields(shifted, frame=frame, frame_b=frame)
        return shifted

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)
        out[:] = gamma
        if not self._body:
            out[:3] = aMb.rotation @ (gamma[:3] + np.cross(twist[3:], twist[:3]))

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        found = seen(self.robot, self.frame_a, [self.frame_b], box.on(self.inputs, self.name))
        moved = found.carried_columns() if self._body else found.position_columns()
        value = np.concatenate([found.position[..., 0, :], found.quaternion], axis=-1)
        near = (found.planes.carried_off if self._body else found.planes.off)(found.near[..., :1])
        small = np.concatenate([1.001 * near, found.turned()], axis=-1)  # of V^-1, as good as the identity
        columns = Interval.joined([moved, found.turned_columns()], -2)

        def bend() -> Bend:
            moves, turns = found.carried_bend() if self._body else found.position_bend(), found.turned_bend()
            return Bend.joined([moves, turns])

        return Enclosure.centred(self.outputs, box, value, small, columns, bend)

    def rows_at(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes:
        D, found = np.eye(6), Slopes.zero(6)
        if not self._body:
            D[:3, :3] = pose.rotation
            translation_slopes(found, np.eye(3), pose.rotation, twist, acceleration, multipliers[:3])
        return TwistRowSlopes(D, found)

    def pairing_slope(self, point: Point, pairing: Matrix) -> Vector | None:
        _, J, chains = self.chain_at(point)
        return chains.wrenches_slope(J, pairing) if self._body else None

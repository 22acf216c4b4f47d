"""What closures and contacts measure, as a function of the configuration of a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from liegroups import Rn
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.segments import as_slice

from ...errors import NoEnclosureError
from ...functions.enclosures.box import Enclosure, TangentBox, of_many
from ...functions.frames.frame_function import FrameFunction, kinematics_at
from ...functions.frames.slopes import TwistRowSlopes
from ...point import MovingPoint, Point
from ...robot import Frame, Robot
from .enclosing import PoseOnBox
from .pose_map import PoseMap


@dataclass(frozen=True, eq=False, repr=False)
class OfRelativePose(FrameFunction):
    r"""A `PoseMap` of the pose of frame b seen from frame a, as a function of the robot's configuration.

    .. math:: f(q) = r({}^aM_b), \qquad J = D\,({}^bJ_b - {}^bX_a\,{}^aJ_a)

    Only the columns of the joints on exactly one of the two chains are read and written.

    Args:
        robot: the robot.
        a, b: Frames.
        pose_map: r.
        name: name in messages.
    """

    robot: Robot
    a: Frame
    b: Frame
    pose_map: PoseMap
    name: str = field(default="", kw_only=True)

    written_in: ClassVar[Mapping[str, str]] = {
        "evaluate": "D in `value` of the map, by the body twist: linear, then angular, in the axes of b "
        "(the velocity of its origin in the axes of a is pose.rotation @ twist[:3])",
        "drift": "`second` of the map",
        "drift_derivatives": "`by_pose` and `by_twist` in `slopes` of the map",
        "force_derivative": "`force` in `slopes` of the map",
    }

    _indices: Indices = field(init=False)
    _block: slice | None = field(init=False)
    _signs: Matrix = field(init=False)
    _same_sign: bool = field(init=False)

    def __post_init__(self) -> None:
        """Resolve the frames, and note the columns."""
        self.resolve(self.robot, self.a, self.b, Rn(self.pose_map.size), self.name or None)
        indices = np.flatnonzero(self.columns)
        signs = np.ascontiguousarray(self._sign[0, indices])
        set_fields(self, _indices=indices, _block=as_slice(indices.tolist()))
        set_fields(self, _signs=signs, _same_sign=bool((signs == 1.0).all()))

    @property
    def indices(self) -> Indices:
        """The tangent columns the function depends on."""
        return self._indices

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        """As `Function.enclosure`, of maps that have one."""
        try:
            return self.pose_map.enclosure(PoseOnBox(self, box.on(self.inputs, self.name)))
        except NoEnclosureError as error:
            raise NoEnclosureError(f"{self.name} ({error.what})", error.why) from error

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """As `Function.evaluate`."""
        if jacobian is None:
            self.pose_map.value(self.relative_placement(kinematics_at(point, None)), value)
        elif self._block is not None:
            jacobian[:, self._block] = self.compact(point, value)
        else:
            jacobian[:, self._indices] = self.compact(point, value)

    def compact(self, point: Point, value: Vector) -> Matrix:
        """As `Function.compact`."""
        k = kinematics_at(point, value)
        frames = self.relative_frames(k)
        D = frames.rows[: self.pose_map.size]
        self.pose_map.value(frames.pose, value, D)
        J = k.world_jacobian
        columns = J[:, self._block] if self._block is not None else J.take(self._indices, 1)
        seen: Matrix = D.dot(frames.to_b()).dot(columns)
        if not self._same_sign:
            seen *= self._signs
        return seen

    def rows_at(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> TwistRowSlopes:
        """As `FrameFunction.rows_at`."""
        D, value = np.zeros((self.pose_map.size, 6)), np.zeros(self.pose_map.size)
        self.pose_map.value(pose, value, D)
        return TwistRowSlopes(D, self.pose_map.slopes(pose, twist, acceleration, multipliers))

    @property
    def has_exact_derivatives(self) -> bool:
        """As of `FrameFunction`; and where the map has a formula."""
        return super().has_exact_derivatives and self.pose_map.has_exact_slopes

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        """As `Function.drift`."""
        self.pose_map.second(*self.relative_motion(motion), out)

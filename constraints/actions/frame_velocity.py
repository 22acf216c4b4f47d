"""Velocity of a frame as a function of states."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from liegroups import ProductSpace, Rn, Segments
from liegroups.arguments import expect
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import five_points
from liegroups.frozen import set_fields

from ..functions.frames.frame_function import as_frame, supporting_columns
from ..functions.function import Function
from ..loops import Axes
from ..loops.contacts import as_axes
from ..point import Point
from ..robot import Frame, Posture, Robot
from ..robot.arguments import as_robot
from ..robot.model.pinocchio import pin


@dataclass(frozen=True, eq=False, repr=False)
class FrameVelocity(Function):
    r"""Twist of a frame of the robot, a function of its state (q, v).

    .. math:: f(q, v) = J_f(q)\,v \in \mathbb{R}^6

    with :math:`J_f` the body Jacobian of the frame (LOCAL), or the same rotated into the axes of the world
    (LOCAL_WORLD_ALIGNED: the velocity of the frame's origin, and the angular velocity).

    Args:
        robot: the robot.
        frame: frame name or Frame.
        axes: of the rows.
        name: name in messages.

    Shapes:
        value (6,): linear [m/s], angular [rad/s].
        jacobian (6, 2 nv): by q along the tangent, and by v.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.
        OptionError: axes that are not supported, with the reason.

    Source: `ResidualModelFrameVelocity` of Crocoddyl.
    """

    robot: Robot
    frame: Frame | str
    axes: Axes = Axes.LOCAL
    name: str = field(default="", kw_only=True)
    _seen: Frame = field(init=False)
    _block: Segments = field(init=False)

    def __post_init__(self) -> None:
        """Resolve names."""
        robot = as_robot(self.robot, "robot of a frame velocity")
        frame = as_frame(robot, self.frame, "a frame velocity")
        as_axes(self.axes, "a frame velocity")
        inputs = ProductSpace([robot.space, Rn(robot.nv)], ["configuration", "velocity"])
        set_fields(self, _seen=frame, _block=Segments.of(inputs, 0))
        moves = np.tile(supporting_columns(robot, frame.joint), 2)
        self.declare(inputs, Rn(6), moves, name=self.name or f"FrameVelocity({frame.name})")

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """As `Function.evaluate`."""
        posture = expect(point.part(self._block), Posture, f"point of {self.name}")
        v, k = point.q[self.robot.nq :], posture.with_jacobians()
        J = k.frame_jacobian(self._seen)
        in_world = self.axes is Axes.LOCAL_WORLD_ALIGNED
        R = k.data.oMi[self._seen.joint].rotation @ self._seen.placement.rotation if in_world else None
        twist = J @ v
        value[:] = twist if R is None else _turned(R, twist)
        if jacobian is None:
            return
        by_q, n = self._by_q(posture.q, v), self.robot.nv
        if R is None:
            jacobian[:, :n], jacobian[:, n:] = by_q, J
        else:
            turning = np.vstack([pin.skew(twist[:3]), pin.skew(twist[3:])]) @ J[3:]
            jacobian[:, :n], jacobian[:, n:] = _turned(R, by_q - turning), _turned(R, J)
        jacobian[:, ~self.columns] = 0.0

    def _by_q(self, q: Vector, v: Vector) -> Matrix:
        """Derivative (6, nv) of the body twist by q."""
        tree = self.robot.space.elementary
        if tree.is_exact:
            moving = tree.moving(q, v, np.zeros(v.size))
            found = moving.seen(self._seen).twist_q
            tree.datas.give(moving.data)
            return found
        found = np.zeros((6, v.size))
        for i, factor, step in five_points(v.size):
            found[:, i] += factor * (self.robot.at(self.robot.space.integrate(q, step)).jacobian(self._seen) @ v)
        return found


def _turned(R: Matrix, rows: Matrix) -> Matrix:
    """Linear and angular rows in the axes of the world."""
    return np.concatenate((R @ rows[:3], R @ rows[3:]))

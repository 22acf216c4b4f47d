"""Rows of two frames of a robot: what closures and contacts share."""

from __future__ import annotations

from enum import Enum
from typing import Any, Self

import numpy as np

from liegroups import Space
from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Matrix, TangentLike, Vector
from liegroups.frozen import set_fields

from ..robot import Frame, Robot
from ..robot.model.pinocchio import Placement
from ..rows.comparison import Comparison, RowTable
from ..rows.row_owner import RowOwner
from ..rows.target import Target
from ..words import counted
from .hinges.pose_map import PoseMap
from .hinges.relative_pose import OfRelativePose


class Form(Enum):
    """Meaning of the velocity and acceleration rows of a contact or a closure."""

    DERIVATIVE = "first and second time derivative of the position rows"
    RATES = (
        "velocity and acceleration of the frame, as in pinocchio, Crocoddyl and TSID: spatial accelerations in "
        "six rows, classical ones of points; the position error is used for stabilisation only"
    )

    def __repr__(self) -> str:
        return str(self)


class FrameRows(RowOwner):
    """Rows of the pose of one frame, the successor, seen from another, the predecessor: a `PoseMap` of that pose.

    Attributes:
        robot: the robot.
        predecessor, successor: the two frames; joint 0 is the world.
        function: the rows as a function of the robot's configuration.
        rate_function: in the form RATES, what velocity and acceleration rows are of.
    """

    robot: Robot
    predecessor: Frame
    successor: Frame
    function: OfRelativePose
    _rates: OfRelativePose | None = None

    def bind(
        self,
        robot: Robot,
        a: Frame,
        b: Frame,
        pose_map: PoseMap,
        target: Target | None,
        name: str,
        rates: PoseMap | None = None,
    ) -> None:
        """Make the rows (from the constructor).

        Args:
            robot, a, b: of the function.
            pose_map: what is measured.
            target: what the rows follow in time; zero, for good, by default.
            name: name in messages.
            rates: what velocity and acceleration rows measure, where they are not derivatives of the position rows.
        """
        if target is not None:
            expect(target, Target, f"target of '{name}'")
        function = OfRelativePose(robot, a, b, pose_map, name=name)
        comparison = Comparison.EQUAL_TO_ZERO if target is None else Comparison.EQUALITY
        rows = RowTable.of(function.outputs.nv, name, comparison, None, None, 0.0, None, None)
        moving = None if rates is None else OfRelativePose(robot, a, b, rates, name=name)
        set_fields(self, name=name, robot=robot, predecessor=a, successor=b, function=function)
        set_fields(self, _rates=moving, rate_function=moving)
        self.take_rows(function, rows, target)

    def on(self, space: Space) -> Self:
        """As `RowOwner.on`."""
        other = self.copy_on(self.function_on(self.measured, space))
        if self.rate_function is not None:
            set_fields(other, rate_function=self.function_on(self.rate_function, space))
        return other

    @property
    def moving(self) -> OfRelativePose:
        """What velocity and acceleration rows are of, as a function of the robot's configuration."""
        return self.function if self._rates is None else self._rates

    def pose(self, q: ArrayLike) -> Placement:
        """Successor seen from predecessor at q (nq,)."""
        posture = self.robot.at(q)  # held until all is copied
        return self.function.relative_placement(posture.placed()).copy()

    def residual(self, q: ArrayLike) -> Vector:
        """The rows (k,) at q; zero where there is no position."""
        return self.function.value(q) if self.has_position else np.zeros(self.group.nv)

    def residual_rate(self, q: ArrayLike, v: TangentLike) -> Vector:
        """Velocity rows (k,): the first time derivative of the rows, in the form DERIVATIVE."""
        return self.moving.jacobian(q) @ self.robot.space.check_tangent(v, "v")

    def residual_acceleration(self, q: ArrayLike, v: TangentLike, a: TangentLike | None = None) -> Vector:
        """Acceleration rows (k,) at joint accelerations a, zero by default."""
        out = np.zeros(self.group.nv)
        self.moving.drift(self.robot.at(q, v), out)
        return out if a is None else out + self.moving.jacobian(q) @ self.robot.space.check_tangent(a, "a")

    def motion(
        self, q: ArrayLike, v: TangentLike | None = None, a: TangentLike | None = None
    ) -> tuple[Any, Vector, Vector]:
        """Pose of the successor seen from the predecessor, its body twist (6,), and the derivative of that."""
        robot = self.robot
        v = np.zeros(robot.nv) if v is None else robot.space.check_tangent(v, "v")
        motion = robot.at(q, v)
        pose, twist, gamma = self.function.relative_motion(motion)
        pose = pose.copy()  # it lives in the workspace of the motion
        if a is not None:
            J, posture = np.zeros((6, robot.nv)), robot.at(q)
            k = posture.with_jacobians()
            self.function.relative_frames(k)
            self.function.write_jacobian(k, None, J)
            gamma = gamma + J @ robot.space.check_tangent(a, "a")
        return pose, twist, gamma

    def constraint_matrices(self, q: ArrayLike) -> tuple[Matrix, Matrix]:
        r"""Matrices on the body twists of the two frames: velocity rows are :math:`Q_p\,\nu_p + Q_s\,\nu_s`.

        Args:
            q: configuration (nq,).

        Returns:
            :math:`Q_p, Q_s` (k, 6). Their transposes give the wrenches of multipliers on the two frames, in their axes.
        """
        X = self.pose(q)
        D, value = np.zeros((self.group.nv, 6)), np.zeros(self.group.nv)
        self.moving.pose_map.value(X, value, D)
        return -D @ X.toActionMatrixInverse(), D

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {counted(self.group.nv, 'row')})"

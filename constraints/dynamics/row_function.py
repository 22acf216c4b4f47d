"""Row owners made of one function: closures, and contacts with an anchor."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from liegroups import Space
from liegroups.frozen import set_fields

from ..arrays import Matrix, Vector
from ..comparison import Comparison
from ..errors import WrongObjectError
from ..implicit import Implicit
from ..point import MovingPoint, Point
from ..robot import Frame, Robot
from ..stack import RowOwner
from ..target import Target
from .pose_map import OfRelativePose, PoseMap

__all__ = ["FrameRows"]


class FrameRows(RowOwner):
    """Rows of the pose of one frame seen from another; everything about rows is that of `implicit`.

    Attributes:
        robot: the robot.
        predecessor, successor: the two frames; joint 0 is the world.
        function: the rows as a function of the configuration.
        implicit: the function with its comparison and right-hand side.
    """

    robot: Robot
    predecessor: Frame
    successor: Frame
    function: OfRelativePose
    implicit: Implicit

    def bind(self, robot: Robot, a: Frame, b: Frame, pose_map: PoseMap, target: Target | None, name: str) -> None:
        """Make the rows (from the constructor).

        Args:
            robot, a, b: of the function.
            pose_map: what is measured.
            target: what the rows follow in time; zero, for good, by default.
            name: name in messages.
        """
        if target is not None and not isinstance(target, Target):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError(f"target of '{name}'", "a Target", target)
        function = OfRelativePose(robot, a, b, pose_map, name=name)
        comparison = Comparison.EQUAL_TO_ZERO if target is None else Comparison.EQUALITY
        implicit = Implicit(function, comparison, target, name=name)
        self._take({"robot": robot, "predecessor": a, "successor": b, "function": function}, implicit)

    def _take(self, fields: dict[str, Any], implicit: Implicit) -> None:
        shared = ("name", "space", "group", "rows", "columns", "periodic", "default_rhs", "target", "plain_function")
        fields |= {"implicit": implicit} | {name: getattr(implicit, name) for name in shared}
        set_fields(self, **fields)

    def on(self, space: Space) -> Self:
        """As `RowOwner.on`."""
        lifted = copy.copy(self)
        lifted._take({"lifted_from": self}, self.implicit.on(space))
        return lifted

    def write_position(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """As `RowOwner.write_position`."""
        self.implicit.write_position(point, rhs, error, jacobian)

    def write_velocity(
        self, motion: MovingPoint, rhs: Vector | None, rhs_velocity: Vector | None, error: Vector, jacobian: Matrix
    ) -> None:
        """As `RowOwner.write_velocity`."""
        self.implicit.write_velocity(motion, rhs, rhs_velocity, error, jacobian)

    def write_acceleration(
        self,
        motion: MovingPoint,
        rhs: Vector | None,
        rhs_velocity: Vector | None,
        rhs_acceleration: Vector | None,
        error: Vector,
        jacobian: Matrix,
    ) -> None:
        """As `RowOwner.write_acceleration`."""
        self.implicit.write_acceleration(motion, rhs, rhs_velocity, rhs_acceleration, error, jacobian)

    def rhs_at(self, point: Point) -> Vector:
        """As `RowOwner.rhs_at`: zero, but for closures that follow a target."""
        return self.implicit.rhs_at(point)

    def check_rhs(self, rhs: Any, what: str | None = None) -> Vector:
        """As `RowOwner.check_rhs`."""
        return self.implicit.check_rhs(rhs, what)

    @property
    def frame_indices(self) -> Any:
        """The tangent columns the rows depend on."""
        return np.flatnonzero(self.columns)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.group.nv} rows)"

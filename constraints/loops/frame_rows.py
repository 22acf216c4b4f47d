"""Row owners made of one function: closures, and contacts with an anchor."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from liegroups import Space

from ..errors import WrongObjectError
from ..robot import Frame, Robot
from ..rows.by_twin import Twinned
from ..rows.comparison import Comparison
from ..rows.implicit import Implicit
from ..rows.target import Target
from ..words import counted
from .pose_map import OfRelativePose, PoseMap

__all__ = ["FrameRows"]


class FrameRows(Twinned):
    """Rows of the pose of one frame seen from another; everything about rows is that of its twin.

    Attributes:
        robot: the robot.
        predecessor, successor: the two frames; joint 0 is the world.
        function: the rows as a function of the configuration.
    """

    robot: Robot
    predecessor: Frame
    successor: Frame
    function: OfRelativePose

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
        twin = Implicit(function, comparison, target, name=name)
        self._follow(twin, robot=robot, predecessor=a, successor=b, function=function)

    def _follow(self, twin: Implicit, **fields: object) -> None:
        self.take_rows(twin, plain_function=twin.plain_function if self.has_position else None, **fields)

    def on(self, space: Space) -> Self:
        """As `RowOwner.on`."""
        lifted = copy.copy(self)
        lifted._follow(self.twin.on(space), lifted_from=self.original)
        return lifted

    @property
    def frame_indices(self) -> Any:
        """The tangent columns the rows depend on."""
        return np.flatnonzero(self.columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {counted(self.group.nv, 'row')})"

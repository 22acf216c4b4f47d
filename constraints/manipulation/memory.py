"""Memory for the calls of a graph: all that one call does happens in one workspace."""

from __future__ import annotations

from functools import partial
from typing import final

from liegroups.arrays import Vector

from ..point import Point
from ..robot import Robot
from ..workspace import Pool, Workspace


@final
class GraphMemory:
    """A workspace with a handle that is moved along the configurations of one call: kinematics are computed once each.

    Attributes:
        workspace: the workspace; projections of the call are done in it too.
    """

    __slots__ = ("_point", "workspace")

    def __init__(self, robot: Robot) -> None:
        self.workspace = Workspace()
        self._point = robot.space.place(robot.space.neutral, self.workspace)

    def place(self, q: Vector) -> Point:
        """The point at a configuration that is known to be valid."""
        self._point.move(q)
        return self._point

    def at(self, q: Vector) -> Point:
        """The same; the point as it is where this very array was the last to be placed, within one call."""
        point = self._point
        return point if point.q is q and point.serial == self.workspace.serial else self.place(q)


@final
class GraphMemoryPool:
    """Those of one graph, one for each call that runs at the same time."""

    __slots__ = ("_pool", "give")

    def __init__(self, robot: Robot) -> None:
        self._pool = Pool(partial(GraphMemory, robot))
        self.give = self._pool.give

    def take(self) -> GraphMemory:
        """One that nobody uses; what was placed in it is forgotten: whoever placed it may have changed the array."""
        memory = self._pool.take()
        memory.workspace.serial += 1
        return memory

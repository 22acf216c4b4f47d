"""Where functions are evaluated: a point of a space, in a workspace that owns the memory. Knows no pinocchio.

A `Point` is a light handle on a `Workspace`: the workspace counts the points placed in it, and a handle whose number is
not the last one is stale.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar, final

import numpy as np

from liegroups import ProductSpace, Segments, Space
from liegroups.arrays import ArrayLike, BoolVector, Indices, Vector
from liegroups.frozen import read_only, read_only_copy

from .errors import StalePostureError, WrongObjectError
from .keywords import FieldOf
from .workspace import Workspace

_T = TypeVar("_T")

ALL_JOINTS = 2**30 - 1
"""Index that no joint is behind (Python compares integers up to here fastest)."""


class Point(ABC):
    """A configuration in a workspace: what `Function.evaluate` is given.

    Attributes:
        q: the configuration (nq,), read-only by agreement.
        space: the space it lives in.
        workspace: memory of the evaluation.
        serial: number of the point in its workspace.
    """

    __slots__ = ("q", "serial", "space", "workspace")
    is_moving: Literal[False] = False

    def __init__(self, space: Space, q: Vector, workspace: Workspace, serial: int) -> None:
        self.space, self.q, self.workspace, self.serial = space, q, workspace, serial

    @final
    def check(self) -> None:
        """Raise StalePostureError if the workspace now holds another point."""
        if self.workspace.serial != self.serial:
            raise StalePostureError(
                "this posture is stale: its workspace now holds another configuration; "
                "use robot.at(q) without a workspace, or evaluate before you place the next one"
            )

    @final
    def move(self, q: Vector) -> None:
        """Place another configuration with this handle: cheaper than a new point; only for its single owner.

        Functions see it read-only: one that writes into it, and so into an iterate, is told.
        """
        self.q = read_only(q.view())
        self.workspace.serial = self.serial = self.workspace.serial + 1

    @final
    def scratch(self, owner: object, name: str, shape: tuple[int, ...]) -> Any:
        """Array for intermediate results of `owner` (a function), owned by the workspace."""
        return self.workspace.scratch(owner, name, shape)

    @final
    def at(self, space: Space, q: Vector) -> Point:
        """Point of another space in the same workspace (in its child: this point stays valid)."""
        return place(space, read_only(q.view()), self.workspace.child)

    @abstractmethod
    def part(self, segments: Segments) -> Point:
        """The point of a factor or block of the space."""

    def placed(self, last: int = ALL_JOINTS) -> Any:
        """Kinematics with the placements of a robot's joints; see `Posture.placed`.

        Args:
            last: index of the last joint that the caller reads.

        Raises:
            WrongObjectError: this is no posture.
        """
        del last
        raise WrongObjectError("point of a kinematic function", "a Posture of its robot (robot.at(q))", self)

    def with_jacobians(self, last: int = ALL_JOINTS) -> Any:
        """As `placed`, with the joint Jacobians too."""
        return self.placed(last)


class MovingPoint(ABC):
    """A point with a velocity: what `Function.drift` is given.

    Attributes:
        point: where.
        v: tangent velocity (nv,).
    """

    __slots__ = ("point", "v")
    is_moving: Literal[True] = True

    def __init__(self, point: Point, v: Vector) -> None:
        self.point, self.v = point, v

    q = FieldOf[Vector]("point.q", "Configuration (nq,).")
    space = FieldOf[Space]("point.space", "Its space.")
    workspace = FieldOf[Workspace]("point.workspace", "Memory of the evaluation.")

    @abstractmethod
    def part(self, segments: Segments) -> MovingPoint:
        """The motion of a factor or block of the space."""

    @final
    def at(self, space: Space, q: Vector, v: Vector) -> MovingPoint:
        """Motion in another space in the same workspace (in its child: this one stays valid)."""
        return place_motion(space, q, v, self.point.workspace.child)


class PlacedSpace(Space, ABC):
    """A space that brings its own kind of point: a robot's, whose points carry kinematics.

    Attributes:
        revolute: (nv,) true for the columns that are an angle stored as one number.
    """

    revolute: BoolVector

    @abstractmethod
    def place(self, q: Vector, workspace: Workspace, serial: int | None = None) -> Point:
        """Point at q. With `serial` it is part of a point already placed; else the workspace moves on."""

    @abstractmethod
    def place_alone(self, q: Vector) -> Point:
        """Point at q in a workspace of its own, which goes back to a pool with the point: it never goes stale."""

    @abstractmethod
    def same_robot(self, other: Space) -> bool:
        """True when the other space is this one (of the same robot), not only equal in structure."""

    @abstractmethod
    def move(self, point: Point, v: Vector) -> MovingPoint:
        """The point with velocity v."""


def revolute_columns(space: Space) -> BoolVector:
    """Columns (nv,) of a robot's revolute joints, also where the robot is one factor of a product."""
    revolute = np.zeros(space.nv, dtype=np.bool_)
    if isinstance(space, PlacedSpace):
        return space.revolute
    for factor in space.factors:
        if isinstance(factor.space, PlacedSpace):
            revolute[factor.v] = factor.space.revolute
    return revolute


@final
class SpacePoint(Point):
    """Point of a space without kinematics of its own, possibly with a robot as a factor."""

    __slots__ = ()

    def part(self, segments: Segments) -> Point:
        """The point of a factor or block; the part of a robot's factor is a posture."""
        factor = _placed_factor(self.space, segments)
        q = part_vector(self.q, segments.q_slice, segments.q_indices)
        if factor is None:
            return SpacePoint(segments.space, q, self.workspace, self.serial)
        parts: dict[tuple[int, int], Point] = self.workspace.resource(self.space, "parts", dict[tuple[int, int], Point])
        key = (id(factor), segments.v[0])  # one robot may be two factors
        part = parts.get(key)
        if part is None or part.serial != self.serial:
            part = parts[key] = factor.place(q, self._workspace_of(factor, segments.v[0]), self.serial)
        return part

    def _workspace_of(self, factor: PlacedSpace, start: int) -> Workspace:
        """The workspace of the point; another one for a robot that is there a second time."""
        if all(f.space is not factor or f.v.start >= start for f in self.space.factors):
            return self.workspace
        workspace = self.workspace.resource(factor, f"part {start}", Workspace)
        workspace.serial = self.serial
        return workspace


@final
class SpaceMotion(MovingPoint):
    """Motion in a space without kinematics of its own."""

    __slots__ = ()

    def part(self, segments: Segments) -> MovingPoint:
        """The motion of a factor or block; the part of a robot's factor is a robot's motion."""
        point = self.point.part(segments)
        v = part_vector(self.v, segments.v_slice, segments.v_indices)
        if isinstance(point.space, PlacedSpace):
            return point.space.move(point, v)
        return SpaceMotion(point, v)


def part_vector(vector: Vector, block: slice | None, indices: Indices) -> Vector:
    """Entries of a block: a view where it is contiguous."""
    return vector[block] if block is not None else vector[indices]


def _placed_factor(space: Space, segments: Segments) -> PlacedSpace | None:
    """The robot's space that is exactly this block of a product, if it is one."""
    if isinstance(segments.space, PlacedSpace):
        return segments.space
    if isinstance(space, ProductSpace):
        for factor in space.factors:
            if isinstance(factor.space, PlacedSpace) and segments.v == tuple(range(factor.v.start, factor.v.stop)):
                return factor.space
    return None


def place(space: Space, q: Vector, workspace: Workspace) -> Point:
    """Place q (nq,), taken as valid (the doors have checked it), in the workspace, which moves on to it."""
    if isinstance(space, PlacedSpace):
        return space.place(q, workspace)
    workspace.serial += 1
    return SpacePoint(space, q, workspace, workspace.serial)


def place_alone(space: Space, q: Vector) -> Point:
    """Place q in a workspace of its own: the point never goes stale."""
    return space.place_alone(q) if isinstance(space, PlacedSpace) else place(space, q, Workspace())


def as_point(where: ArrayLike | Point, space: Space, what: str = "q") -> Point:
    """Take a point of a space from a user, or the configuration (nq,) of one, which is placed in its own workspace."""
    if isinstance(where, Point):
        return where
    return place_alone(space, read_only_copy(space.check(where, what)))


def placer(space: Space) -> Callable[[Vector, Workspace], Point]:
    """`place` for one space, with what depends on the space decided once."""
    return space.place if isinstance(space, PlacedSpace) else partial(place, space)


def place_motion(space: Space, q: Vector, v: Vector, workspace: Workspace) -> MovingPoint:
    """Place q with velocity v in the workspace, which moves on to it."""
    return motion_at(place(space, q, workspace), v)


def motion_at(point: Point, v: Vector) -> MovingPoint:
    """A point with velocity v."""
    return point.space.move(point, v) if isinstance(point.space, PlacedSpace) else SpaceMotion(point, v)

"""Local loops of a mechanism: which joints and closures hold each other, found in its graph, and cut out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, final

import networkx as nx
import numpy as np

from liegroups import Segments
from liegroups.arrays import Indices, Matrix, Vector
from liegroups.frozen import set_fields

from ...loops import ConstraintSet
from ...loops.closures import Closure, PointClosure, RodClosure
from ...loops.hinges.relative_pose import OfRelativePose
from ...point import Point
from ...robot import Frame, Robot
from ...robot.model.joints import copied_joint
from ...robot.model.pinocchio import pin
from .implied_slopes import EquationSlopes

_nx: Any = nx  # for the calls whose stubs leave types open

AnyClosure: TypeAlias = Closure | PointClosure | RodClosure

CLOSURES = (Closure, PointClosure, RodClosure)


class LoopParts(NamedTuple):
    """A part of the graph of bodies that no single body separates.

    Attributes:
        joints: indices of its joints, in the order of the model.
        closures: those that close it, in the order of the set.
    """

    joints: tuple[int, ...]
    closures: tuple[AnyClosure, ...]


def loops_in(constraint_set: ConstraintSet) -> list[LoopParts]:
    """The local loops of a robot whose tree is closed by the closures of a set that are on.

    Bodies are nodes, joints of the tree and closures are edges; a local loop is a biconnected part with a closure. All
    joints and closures of one part depend on each other, and on no joint outside.
    """
    robot = constraint_set.robot
    model: Any = robot.model
    graph: Any = _nx.Graph()  # with a node for each edge, since two bodies may be joined twice
    for i in range(1, model.njoints):
        _nx.add_path(graph, [("body", int(model.parents[i])), ("joint", i), ("body", i)])
    closures: dict[int, AnyClosure] = {}
    for k, (owner, _) in enumerate(constraint_set.on):
        if isinstance(owner, CLOSURES):
            closures[k] = owner
            ends = (("body", owner.predecessor.joint), ("closure", k), ("body", owner.successor.joint))
            _nx.add_path(graph, ends)
    found: list[tuple[list[int], list[int]]] = []
    for part in _nx.biconnected_components(graph):
        inside = sorted(k for kind, k in part if kind == "closure")
        if inside:
            found.append((inside, sorted(i for kind, i in part if kind == "joint")))
    return [LoopParts(tuple(joints), tuple(closures[k] for k in inside)) for inside, joints in sorted(found)]


@final
@dataclass(frozen=True, eq=False, repr=False)
class LocalLoop:
    """A local loop as a robot of its own, whose world is the body that carries it.

    Args:
        whole: the robot that it is a part of.
        parts: its joints and closures.

    Attributes:
        name: of its closures.
        robot: its joints alone.
        rows: of its closures, on that robot.
        block: its joints in the space of the whole robot.
        size: number of rows.
    """

    whole: Robot
    parts: LoopParts

    name: str = field(init=False)
    robot: Robot = field(init=False)
    rows: tuple[OfRelativePose, ...] = field(init=False)
    block: Segments = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        """Cut it out."""
        source: Any = self.whole.model
        model, index = pin.Model(), dict[int, int]()
        for i in self.parts.joints:
            parent = index.get(int(source.parents[i]), 0)
            index[i] = copied_joint(source, i, model, parent, source.jointPlacements[i])
        name = " and ".join(closure.name for closure in self.parts.closures)
        robot = Robot(model, name).without_bounds()
        rows: list[OfRelativePose] = []
        for closure in self.parts.closures:
            a, b = (
                Frame(frame.name, (i := index.get(frame.joint, 0)), frame.placement, str(model.names[i]))
                for frame in (closure.predecessor, closure.successor)
            )
            rows.append(OfRelativePose(robot, a, b, closure.function.pose_map, name=closure.name))
        block = self.whole.segments(*(str(source.names[i]) for i in self.parts.joints))
        set_fields(self, name=name, robot=robot, rows=tuple(rows), block=block)
        set_fields(self, size=sum(function.outputs.nv for function in rows))

    def at(self, point: Point) -> tuple[Vector, Matrix]:
        """Errors (size,) and Jacobian (size, nv of the loop) of all closures, views of the workspace of a posture."""
        e: Vector = point.scratch(self, "error", (self.size,))
        J: Matrix = point.scratch(self, "jacobian", (self.size, self.robot.nv))
        for function, s in self._slices():
            function.evaluate(point, e[s], J[s])
        return e, J

    def drift_at(self, q: Vector, v: Vector, point: Point) -> Vector:
        r""":math:`\dot J v` (size,) of all rows, in the workspace of a point.

        Args:
            q, v: of the loop's own robot.
            point: of another space.
        """
        motion, drift = point.workspace.child, np.zeros(self.size)
        moving = self.robot.space.move(self.robot.space.place(q, motion), v)
        for function, s in self._slices():
            function.drift(moving, drift[s])
        return drift

    @property
    def has_exact_derivatives(self) -> bool:
        """Whether `slopes_at` is a formula, without differences."""
        return all(function.has_exact_derivatives for function in self.rows)

    def slopes_at(self, q: Vector, v: Vector, a: Vector, point: Point) -> EquationSlopes:
        """What all rows change by at a state, in the workspace of a point.

        Args:
            q, v, a: of the loop's own robot.
            point: of another space.
        """
        found, unused = EquationSlopes(*np.zeros((3, self.size, self.robot.nv))), np.zeros((self.size, self.robot.nv))
        posture = self.robot.space.place(q, point.workspace.child)
        moving, still = (self.robot.space.move(posture, x) for x in (v, np.zeros(v.size)))
        for function, s in self._slices():
            function.drift_derivatives(moving, a, found.by_q[s], found.by_v[s])
            function.drift_derivatives(still, v, found.rate[s], unused[s])
        return found

    def _slices(self) -> Iterator[tuple[OfRelativePose, slice]]:
        start = 0
        for function in self.rows:
            yield function, slice(start, start + function.outputs.nv)
            start += function.outputs.nv

    def row_names(self, rows: Sequence[int] | Indices) -> tuple[str, ...]:
        """What rows are called, as "row 2 of 'elbow'"."""
        names = [f"row {i} of '{f.name}'" for f, s in self._slices() for i in range(s.stop - s.start)]
        return tuple(names[int(row)] for row in rows)

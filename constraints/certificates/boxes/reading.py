"""Rows of a problem as loops of frames, where they are; and the coordinates in which boxes are divided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups import SO3, R3xSO3, Segments, Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...errors import NoEnclosureError, OptionError, UndefinedError
from ...functions import Function, Orientation, Pose, Position, Rotation, Transformation
from ...functions.enclosures.box import TangentBox
from ...functions.frames.frame_function import FrameFunction
from ...functions.restriction import Restriction
from ...loops.hinges.pose_map import LogPose, Split
from ...loops.hinges.relative_pose import OfRelativePose
from ...problem.problem import Problem
from ..rows import ProblemRows
from .chains import Loop, Screws
from .cutting import Boxes

OFF_PLANE = 1e-12
"""Of an axis, off the normal of a plane in which a chain is said to move; rounding of equations is far above it."""


class Coordinates(NamedTuple):
    r"""The coordinates x in which boxes are divided: q is `reference` :math:`\oplus` v, v zero but for these.

    Attributes:
        problem: whose they are.
        reference: configuration (nq,): zero, or the neutral element; where no row looks, inside the bounds.
        columns: tangent columns (n,) that rows depend on.
        turning: (n,) true for revolute ones.
        names: (n,).
        lower, upper: of x (n,); angles that all rows repeat by whole turns are cut to one turn.
        whole_turns: (n,) true for angles that are cut to one turn.
        seen: (nv,) true for the columns that rows depend on, divided or not.
        whole: why a column cannot be divided, in words; empty if all can.
    """

    problem: Problem
    reference: Vector
    columns: Indices
    turning: BoolVector
    names: tuple[str, ...]
    lower: Vector
    upper: Vector
    whole_turns: BoolVector
    seen: BoolVector
    whole: str

    @staticmethod
    def of(rows: ProblemRows) -> Coordinates:
        """Those of a problem, within its bounds.

        Raises:
            OptionError: a coordinate without bounds, which no whole turn brings back; names it.
        """
        problem, space, bounds = rows.problem, rows.problem.space, rows.problem.bounds
        seen = np.logical_or.reduce([owner.columns for owner in rows.owners] or [np.zeros(space.nv, dtype=np.bool_)])
        periodic = np.logical_and.reduce([o.measured.periodic | ~o.columns for o in rows.owners] or [seen])
        reference, kept, whole = np.array(space.neutral), list[tuple[int, str, float, float, bool]](), ""
        at = dict(zip(space.vector_v.tolist(), space.vector_q.tolist(), strict=True))
        for leaf in space.leaves():
            for k in range(leaf.v.start, leaf.v.stop):
                name = leaf.name if leaf.space.nv == 1 else f"{leaf.name}[{k - leaf.v.start}]"
                ends = (-np.pi, np.pi)
                if k in at:
                    ends = (float(bounds.lower[at[k]]), float(bounds.upper[at[k]]))
                if not seen[k]:
                    if k in at:
                        reference[at[k]] = np.clip(0.0, *ends)
                elif k in at or leaf.space.nv == 1:
                    turns = bool((problem.revolute[k] or k not in at) and periodic[k])
                    kept.append((k, name, *_one_turn(ends, turns, name)))
                else:
                    whole = f"'{leaf.name}' is a rotation or a body as a whole: its coordinates are not divided"
        columns = np.array([k for k, *_ in kept], dtype=np.intp)
        lower, upper = (np.array([entry[i] for entry in kept]) for i in (2, 3))
        cut = np.array([entry[4] for entry in kept], dtype=np.bool_)
        turning = np.array([bool(problem.revolute[k] or k not in at) for k in columns.tolist()], dtype=np.bool_)
        return Coordinates(
            problem, reference, columns, turning, tuple(e[1] for e in kept), lower, upper, cut, seen, whole
        )

    @property
    def space(self) -> Space:
        """Of the configurations."""
        return self.problem.space

    @property
    def width(self) -> Vector:
        """Of all (n,)."""
        return self.upper - self.lower

    @property
    def boxes(self) -> Boxes:
        """All of it, as one box."""
        return Boxes(self.lower[None], self.upper[None])

    def configuration(self, x: Vector) -> Vector:
        """Of x: q."""
        v = np.zeros(self.space.nv)
        v[self.columns] = x
        return self.space.integrate(self.reference, v)

    def settled(self, q: Vector) -> Vector:
        """A configuration with what no row looks at as in the reference, and angles in their turn."""
        out = np.where(self._on, q, self.reference)
        x = self.of_configuration(out)
        turns = np.where(self.whole_turns, np.floor((x - self.lower) / (2.0 * np.pi)), 0.0)
        v = np.zeros(self.space.nv)
        v[self.columns] = -2.0 * np.pi * turns
        return self.space.integrate(out, v) if turns.any() else out

    def of_configuration(self, q: Vector) -> Vector:
        """Of q: x."""
        return self.space.difference(self.reference, q)[self.columns]

    @property
    def _on(self) -> BoolVector:
        """(nq,) entries of q that rows look at."""
        on = np.zeros(self.space.nq, dtype=np.bool_)
        for leaf in self.space.leaves():
            on[leaf.q] = self.seen[leaf.v].any()
        on[self.space.vector_q] = self.seen[self.space.vector_v]
        return on

    def random(self, rng: np.random.Generator, size: int) -> Matrix:
        """Configurations within the bounds (size, nq); bodies without bounds are within 1 m."""
        bounds = self.problem.bounds
        lower, upper = bounds.lower.copy(), bounds.upper.copy()
        at = dict(zip(self.space.vector_v.tolist(), self.space.vector_q.tolist(), strict=True))
        for k, low, high in zip(self.columns.tolist(), self.lower, self.upper, strict=True):
            if k in at:
                lower[at[k]], upper[at[k]] = low, high
        return np.array([self.settled(q) for q in self.space.random(rng, lower, upper, size)])

    def tangent_boxes(self, boxes: Boxes) -> TangentBox:
        """The same boxes, for enclosures of functions; columns that no row looks at stay."""
        r = np.zeros((boxes.number, self.space.nv))
        r[:, self.columns] = boxes.radius * (1.0 + 1e-12) + 1e-12
        return TangentBox(self.space, np.array([self.configuration(x) for x in boxes.center]), r)

    def volume(self, boxes: Boxes) -> float:
        """The share of all."""
        wide = self.upper > self.lower
        width = (boxes.upper - boxes.lower)[:, wide] / (self.upper - self.lower)[wide]
        return float(np.minimum(width, 1.0).prod(axis=1).sum())


def _one_turn(ends: tuple[float, float], turns: bool, name: str) -> tuple[float, float, bool]:
    """An interval of a coordinate, and whether it is one whole turn."""
    lower, upper = ends
    if turns and not upper - lower < 2.0 * np.pi:
        lower = lower if np.isfinite(lower) else upper - 2.0 * np.pi if np.isfinite(upper) else -np.pi
        return lower, float(np.nextafter(np.nextafter(lower + 2.0 * np.pi, np.inf), np.inf)), True
    if not (np.isfinite(lower) and np.isfinite(upper)):
        raise OptionError(f"'{name}' has no bounds, so boxes cannot be divided: give them in `box`, or to the problem")
    return lower, upper, False


class Read(NamedTuple):
    """The rows of a problem as loops.

    Attributes:
        loops: of turns and slides.
        points: those of them that say where a point is in space: name of the function, its joints, the target.
        others: numbers of the owners of rows that are no loops, or not wholly.
    """

    loops: tuple[Loop, ...]
    points: tuple[tuple[FrameFunction, Screws, Vector], ...]
    others: tuple[int, ...]

    @staticmethod
    def of(rows: ProblemRows, coordinates: Coordinates) -> Read:
        """Those of a problem; coordinates of loops are numbered as these are."""
        loops, points, others = list[Loop](), list[tuple[FrameFunction, Screws, Vector]](), list[int]()
        number = np.full(coordinates.space.nv, -1)
        number[coordinates.columns] = np.arange(len(coordinates.columns))
        first = 0
        for i, (owner, rhs) in enumerate(zip(rows.owners, rows.points, strict=True)):
            here = slice(first, first + int(owner.rows.mask.sum()))
            first = here.stop
            function, place, rotation, exact = _asked(owner.measured, owner.rows.mask, rhs)
            lower, upper = rows.lower[here], rows.upper[here]
            if not isinstance(function, FrameFunction) or (lower != upper).any() or lower.any():
                others.append(i)
                continue
            screws = Screws.of(function, coordinates.reference)
            if screws is None or (number[screws.columns] < 0).any():
                others.append(i)
                continue
            screws = screws._replace(columns=number[screws.columns])
            if not exact:
                others.append(i)
            if place is not None:
                place = _in_its_plane(screws, place)
                if not np.isnan(place).any():
                    points.append((function, screws, place))
                if rotation is None:
                    loops.append(Loop.of_point(screws, np.nan_to_num(place), (~np.isnan(place)).astype(np.float64)))
                else:
                    loops.append(Loop.of_pose(screws, rotation, place))
            elif rotation is not None:
                loops.append(Loop.of_axes(screws, rotation))
        return Read(tuple(loops), tuple(points), tuple(others))


def _asked(
    function: Function, mask: BoolVector, rhs: Vector
) -> tuple[Function | None, Vector | None, Matrix | None, bool]:
    """What rows ask of frame b seen from a: its function, where it is (NaN for rows that nobody asks for), its axes.

    Returns:
        (function or None, place (3,) or None, rotation (3, 3) or None, whether this is all that they ask for)
    """
    place = np.full(3, np.nan)
    if isinstance(function, OfRelativePose):
        return _of_closure(function, mask, rhs)
    if isinstance(function, Restriction) and isinstance(function.function, Position):
        rows = function.rows
        which = np.asarray(rows.v_indices if isinstance(rows, Segments) else rows)[mask]
        place[which] = rhs[mask]
        return function.function, place, None, True
    if isinstance(function, Position):
        place[mask] = rhs[mask]
        return function, place, None, True
    if isinstance(function, Orientation | Rotation) and mask.all():
        quaternion = SO3.exp(rhs) if isinstance(function, Orientation) else rhs
        return function, None, np.asarray(SO3.adjoint(quaternion)), True
    if isinstance(function, Transformation | Pose):
        flat = isinstance(function, Transformation)
        if mask.all():
            quaternion = SO3.exp(rhs[3:]) if flat else rhs[3:]
            return function, rhs[:3], np.asarray(SO3.adjoint(quaternion)), True
        if mask[:3].any() and (flat or function.outputs == R3xSO3):
            place[mask[:3]] = rhs[:3][mask[:3]]
            return function, place, None, not mask[3:].any()
    return None, None, None, False


def _of_closure(
    function: OfRelativePose, mask: BoolVector, rhs: Vector
) -> tuple[Function | None, Vector | None, Matrix | None, bool]:
    """As `_asked`, of rows of a closure: the origins are together, or both frames.

    What no motion changes, and holds, asks for nothing.
    """
    rows = function.pose_map
    if isinstance(rows, LogPose) and mask.all() and not rhs.any():
        return function, np.zeros(3), np.eye(3), True
    if not isinstance(rows, Split) or not np.array_equal(rows.directions, np.eye(3)) or not mask[:3].any():
        return None, None, None, False
    try:
        at = function.enclosure(TangentBox(function.inputs, function.inputs.neutral, 0.0))
        holds = ~at.jacobian.magnitude.any(axis=1) & (at.value == rhs) & (at.rounding == 0.0)
    except (UndefinedError, NoEnclosureError):
        holds = np.zeros(rows.size, dtype=np.bool_)
    return function, np.where(mask[:3], rhs[:3], np.nan), None, not (mask & ~holds)[3:].any()


def _in_its_plane(screws: Screws, place: Vector) -> Vector:
    """With the row that nobody asks for, where b stays in a plane: then it is as at the reference."""
    free = np.flatnonzero(np.isnan(place))
    if free.size == 1:
        along = np.abs(screws.axes[:, free[0]])
        stays = np.where(screws.turning, np.abs(along - 1.0), along) < OFF_PLANE
        if stays.all():
            place = place.copy()
            place[free] = screws.position[free]
    return place

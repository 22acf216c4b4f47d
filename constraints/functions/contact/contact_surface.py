"""Contact surfaces: convex polygons on robots, objects and floors."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import hypot
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import as_name, as_tuple, expect, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ...errors import ModelError, SizeError
from ...keywords import FieldOf
from ...robot import Frame
from ...robot.model.pinocchio import Placement, pin
from ...words import counted

FLATNESS = 1e-4
"""How far, in parts of the polygon's size, a vertex may lie off the plane of the others."""


class Nearest(NamedTuple):
    """The point of a polygon that is nearest to a given one.

    Attributes:
        y, z: the point [m].
        yy, yz, zz: derivative of the point by the given one, symmetric: the identity inside, the direction of the edge
            beside one, zero beyond a corner.
    """

    y: float
    z: float
    yy: float
    yz: float
    zz: float


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    r"""A convex polygon, on a joint or in the world, that may touch other surfaces.

    Its normal points out of the body: counter-clockwise vertices are seen from outside,
    :math:`n \propto \sum_i p_i \times p_{i+1}`. Its frame has its origin at the mean of the vertices and y along the
    first edge; x is the normal, or for a floor (`inward`) the opposite of the normal: the x axes of two surfaces in
    contact agree.

    Args:
        name: its name in messages and in `pair`.
        frame: frame of the vertices, `robot.frame(...)`.
        points: vertices (n, 3) [m] in order.

    Attributes:
        outward, inward: placements of the frames of the surface on the joint.
        polygon: vertices (n, 2) [m] in the (y, z) plane of `inward`, counter-clockwise.

    Raises:
        SizeError, DtypeError, NotFiniteError, WrongObjectError: what is wrong with the points.
        ModelError: the polygon is not flat, not convex, or has an edge of length 0; the message names the vertex.

    Source: contact surfaces of hpp-manipulation (`contact` tags).
    """

    name: str
    frame: Frame
    points: ArrayLike

    outward: Placement = field(init=False, repr=False)
    inward: Placement = field(init=False, repr=False)
    polygon: Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        as_name(self.name, "name of a surface")
        jMf = expect(self.frame, Frame, f"frame of surface '{self.name}'", "a Frame (robot.frame(name))").placement
        points = _points(self.points, self.name)
        corners = points @ np.asarray(jMf.rotation).T + jMf.translation
        centre, normal, along = _axes(corners, self.name)
        frames: list[Placement] = []
        for x in (normal, -normal):
            rotation = np.column_stack([x, along, np.cross(x, along)])
            frames.append(pin.SE3(rotation, centre))
        flat = ((corners - centre) @ np.asarray(frames[1].rotation))[::-1, 1:]
        _check_convex(flat, self.name)
        for array in (points, flat):
            read_only(array)
        set_fields(self, points=points, outward=frames[0], inward=frames[1], polygon=flat, _edges=edges_of(flat))

    _edges: tuple[tuple[float, float, float, float, float], ...] = field(init=False, repr=False)

    joint = FieldOf[int]("frame.joint", "Index of the joint that carries the surface; 0 is the world.")

    @property
    def normal(self) -> Vector:
        """Unit normal (3,) out of the body, in the axes of its joint, or of the world if fixed there."""
        return np.array(self.outward.rotation[:, 0])

    def describe(self) -> str:
        """One line of text: its place, number of vertices and normal."""
        where = f"on joint '{self.frame.joint_name}'" if self.joint else "fixed in the world"
        n = ", ".join(f"{x:.3g}" for x in (self.normal + 0.0).round(6).tolist())
        return f"surface '{self.name}' {where}: {counted(len(self.polygon), 'vertex')}, normal [{n}]"

    def nearest(self, y: float, z: float) -> Nearest:
        """The point of the polygon nearest to (y, z), both in the plane of `inward`.

        Args:
            y, z: coordinates [m].
        """
        for cy, cz, ty, tz, _ in self._edges:
            if ty * (z - cz) - tz * (y - cy) < 0.0:
                return self._beside(y, z)
        return Nearest(y, z, 1.0, 0.0, 1.0)

    def _beside(self, y: float, z: float) -> Nearest:
        """The nearest point of the edges that a point outside sees."""
        best, found = np.inf, Nearest(y, z, 1.0, 0.0, 1.0)
        for cy, cz, ty, tz, length in self._edges:
            dy, dz = y - cy, z - cz
            if ty * dz - tz * dy >= 0.0:  # on the inner side of this edge
                continue
            along = ty * dy + tz * dz
            held = min(max(along, 0.0), length)
            ny, nz = cy + held * ty, cz + held * tz
            distance = hypot(y - ny, z - nz)
            if distance < best:
                best = distance
                on = 0.0 < along < length
                found = Nearest(ny, nz, ty * ty, ty * tz, tz * tz) if on else Nearest(ny, nz, 0.0, 0.0, 0.0)
        return found

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<{self.describe()}>"


def _points(vertices: ArrayLike, name: str) -> Matrix:
    what = f"points of surface '{name}'"
    points = np.array(real_numbers(vertices, what, "vertices (n, 3)", finite=True))
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 3:
        raise SizeError(what, "at least 3 rows of 3", points.shape)
    return points


def _axes(corners: Matrix, name: str) -> tuple[Vector, Vector, Vector]:
    """Mean, normal and direction of the first edge, of a polygon that is checked to be flat."""
    centre = corners.mean(axis=0)
    around, after = corners - centre, np.roll(corners, -1, axis=0)
    size = float(np.abs(around).max())
    lengths = np.sqrt(((after - corners) ** 2).sum(axis=1))
    short = np.flatnonzero(lengths <= 1e-9 * max(size, 1e-9))
    if short.size:
        raise ModelError(f"surface '{name}': vertices {short[0]} and {(short[0] + 1) % len(corners)} must differ")
    total = np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0)
    area = float(np.sqrt(total @ total))
    if area <= 1e-9 * size * size:
        turns = np.abs(np.cross(around, np.roll(around, -1, axis=0))).max()
        line = turns <= 1e-9 * size * size
        raise ModelError(
            f"surface '{name}': its {'vertices must not lie on a line' if line else 'edges must not cross'}"
        )
    normal = total / area
    off = np.abs(around @ normal)
    if off.max() > FLATNESS * size:
        worst = int(off.argmax())
        raise ModelError(
            f"surface '{name}' must be flat: vertex {worst} is {off[worst]:.3g} m off the plane of the others"
        )
    along = corners[1] - corners[0]
    along = along - normal * float(along @ normal)
    return centre, normal, along / float(np.sqrt(along @ along))


def _check_convex(polygon: Matrix, name: str) -> None:
    """Refuse a polygon that turns the other way, or around more than once; vertices are in reversed order here."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    before = np.roll(edges, 1, axis=0)
    cross = before[:, 0] * edges[:, 1] - before[:, 1] * edges[:, 0]
    turns = np.arctan2(cross, (before * edges).sum(axis=1))
    size = float(np.abs(polygon).max())
    wrong = np.flatnonzero(cross < -1e-9 * size * size)
    if wrong.size:
        raise ModelError(
            f"surface '{name}' must be convex: it turns inwards at vertex {len(polygon) - 1 - int(wrong[0])}"
        )
    if turns.sum() > 3.0 * np.pi:
        raise ModelError(f"surface '{name}' must be convex: its edges cross each other")


def edges_of(polygon: Matrix) -> tuple[tuple[float, float, float, float, float], ...]:
    """First vertex, direction and length of each edge."""
    out: list[tuple[float, float, float, float, float]] = []
    for (ay, az), (by, bz) in zip(polygon.tolist(), np.roll(polygon, -1, axis=0).tolist(), strict=True):
        length = hypot(by - ay, bz - az)
        out.append((ay, az, (by - ay) / length, (bz - az) / length, length))
    return tuple(out)


def as_surfaces(surfaces: Any, what: str) -> tuple[Surface, ...]:
    """Surfaces as a user gives them: one, a sequence, or the polygons of one `contact` tag among them.

    Args:
        surfaces: a Surface, or a sequence of them; an entry may be a sequence too, as `Semantics.surfaces` has them.
        what: the argument, for messages.

    Raises:
        WrongObjectError: something else.
    """
    if isinstance(surfaces, Surface):
        return (surfaces,)
    found: list[Surface] = []
    entries: tuple[Any, ...] = as_tuple(surfaces, what, "surfaces, or a Surface")
    for entry in entries:
        several: list[Any] = [*entry] if isinstance(entry, tuple | list) else [entry]
        found += [expect(surface, Surface, what, "a Surface, or a sequence of them") for surface in several]
    return tuple(found)

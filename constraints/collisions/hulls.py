"""Convex hulls of meshes, and of their parts: where they are apart, what is in them is apart, and how far at most."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from liegroups.arrays import Indices, Matrix

PARTS = 4
"""Into which a mesh is cut."""

CUTS = (0.25, 0.5, 0.75)
"""Of the extent along the longest axis: where a part may be cut."""

GRAIN = 1e-9
"""Radius [m] of what stands for points: capsules without length, as coal is wrong about balls (`geometry_of`)."""


def hull_of(solid: Any) -> Any:
    """The convex hull of a mesh of coal, as a solid of coal; None of one that is flat, and of what is no mesh."""
    if not (type(solid).__name__.startswith("BVHModel") and solid.num_tris):
        return None
    return _convex(np.array(solid.vertices()))


def triangles_of(mesh: Any) -> Indices:
    """Numbers of the corners (n, 3) of the triangles of a mesh of coal."""
    triangles = map(mesh.tri_indices, range(mesh.num_tris))
    return np.array([(t[0], t[1], t[2]) for t in triangles], dtype=np.intp).reshape(-1, 3)


def parts_of(mesh: Any) -> tuple[Any, ...]:
    """Convex solids of coal that together hold a mesh: each is the hull of some of its triangles.

    A part is cut in two across its longest axis, where that makes the hulls smallest; then another one.

    Args:
        mesh: of coal; its hull is not flat.
    """
    points = np.array(mesh.vertices())
    parts = [_Part(points, triangles_of(mesh))]
    while len(parts) < PARTS:
        parts.sort(key=lambda part: part.cut[0])
        if not parts[-1].cut[0] > 0.0:
            break
        parts += [_Part(points, half) for half in parts.pop().cut[1]]
    return tuple(_convex(_corners(points, part.triangles)) for part in parts)


class PlacedMesh(NamedTuple):
    """A mesh somewhere.

    Attributes:
        mesh: of coal.
        parts: as of `parts_of`.
        at: where, of coal.
    """

    mesh: Any
    parts: tuple[Any, ...]
    at: Any

    def parts_within(self, other: PlacedMesh, request: Any) -> bool:
        """Whether parts of both collide, by a request of coal."""
        coal: Any = import_module("coal")
        pairs = product(self.parts, other.parts)
        return any(coal.collide(a, self.at, b, other.at, request, coal.CollisionResult()) for a, b in pairs)

    def most_apart(self, other: PlacedMesh) -> float:
        r"""At least the distance of both meshes [m]; infinite where parts overlap.

        For any points a and b the distance is at most :math:`|a - b| + d(a, A) + d(b, B)`. They are taken where parts
        are nearest to each other: mostly on the meshes.
        """
        coal: Any = import_module("coal")
        request, nearest = coal.DistanceRequest(), coal.DistanceResult()
        for a, b in product(self.parts, other.parts):
            found = coal.DistanceResult()
            if coal.distance(a, self.at, b, other.at, request, found) < nearest.min_distance:
                nearest = found
        if nearest.min_distance <= 0.0:
            return np.inf
        length, grain = 0.0, coal.Capsule(GRAIN, 0.0)
        points = np.array(nearest.getNearestPoint1()), np.array(nearest.getNearestPoint2())
        for point, placed in zip(points, (self, other), strict=True):
            here, found = coal.Transform3s(np.eye(3), point), coal.DistanceResult()
            length += max(coal.distance(grain, here, placed.mesh, placed.at, request, found), 0.0) + GRAIN
        return length + float(np.linalg.norm(points[0] - points[1]))


@final
class _Part:
    """Some triangles of a mesh, the numbers of their corners (n, 3)."""

    def __init__(self, points: Matrix, triangles: Indices) -> None:
        self.points, self.triangles = points, triangles

    @cached_property
    def cut(self) -> tuple[float, tuple[Indices, ...]]:
        """What a cut in two saves of the volume of the hull [m^3], at most, and both halves."""
        middles = self.points[self.triangles].mean(axis=1)
        x = middles @ np.linalg.eigh(np.cov(middles.T))[1][:, -1]
        least, halves = np.inf, tuple[Indices, ...]()
        for share in CUTS:
            low = x <= x.min() + share * (x.max() - x.min())
            both = self.triangles[low], self.triangles[~low]
            volume = sum(_volume(self.points, half) for half in both)
            if volume < least:
                least, halves = volume, both
        return _volume(self.points, self.triangles) - least, halves


def _corners(points: Matrix, triangles: Indices) -> Matrix:
    """The corners of triangles, each once."""
    return points[np.bincount(triangles.ravel(), minlength=len(points)) > 0]


def _volume(points: Matrix, triangles: Indices) -> float:
    """Of the hull of triangles [m^3]; infinite of those that are flat, which are no part."""
    try:
        return float(ConvexHull(_corners(points, triangles)).volume)
    except (QhullError, ValueError):  # too few points
        return np.inf


def _convex(points: Matrix) -> Any:
    """The convex hull of points (n, 3), as a solid of coal; None if it is flat."""
    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    coal: Any = import_module("coal")
    corners, triangles, number = coal.StdVec_Vec3s(), coal.StdVec_Triangle(), np.empty(len(points), dtype=np.intp)
    number[hull.vertices] = np.arange(len(hull.vertices))
    for point in points[hull.vertices]:
        corners.append(point)
    for triangle in number[hull.simplices].tolist():
        triangles.append(coal.Triangle(*triangle))
    return coal.Convex(corners, triangles)

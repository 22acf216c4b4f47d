"""Convex hulls of meshes, and of their parts: where they are apart, what is in them is apart."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from liegroups.arrays import Indices, Matrix

PARTS = 4
"""Into which a mesh is cut."""

CUTS = (0.25, 0.5, 0.75)
"""Of the extent along an axis: where a part may be cut."""


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

    A part is cut in two across one of its principal axes, so that the hulls become smallest; then another one.

    Args:
        mesh: of coal; its hull is not flat.
    """
    points = np.array(mesh.vertices())
    parts = [_Part.of(points, triangles_of(mesh))]
    while len(parts) < PARTS:
        parts.sort(key=lambda part: part.saved)
        if not parts[-1].saved > 0.0:
            break
        parts += [_Part.of(points, half) for half in parts.pop().halves]
    return tuple(_convex(points[np.unique(part.triangles)]) for part in parts)


class _Part(NamedTuple):
    """Triangles of a mesh (n, 3), and how they are best cut in two.

    Attributes:
        triangles: numbers of their corners.
        saved: of the volume of the hull, by the cut [m^3].
        halves: both sides of the cut.
    """

    triangles: Indices
    saved: float
    halves: tuple[Indices, ...]

    @staticmethod
    def of(points: Matrix, triangles: Indices) -> _Part:
        """Of a mesh with these corners."""
        middles = points[triangles].mean(axis=1)
        axes = np.linalg.svd(middles - middles.mean(axis=0), full_matrices=False)[2]
        whole, least, halves = _volume(points, triangles), np.inf, tuple[Indices, ...]()
        for x, share in product((middles @ axes.T).T, CUTS):
            low = x <= x.min() + share * (x.max() - x.min())
            both = triangles[low], triangles[~low]
            volume = sum(_volume(points, half) for half in both)
            if volume < least:
                least, halves = volume, both
        return _Part(triangles, whole - least, halves)


def _volume(points: Matrix, triangles: Indices) -> float:
    """Of the hull of triangles [m^3]; infinite of those that are flat, which are no part."""
    try:
        return float(ConvexHull(points[np.unique(triangles)]).volume)
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

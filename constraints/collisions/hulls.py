"""Convex hulls of meshes: where they are apart, what is in them is apart."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError


def hull_of(mesh: Any) -> Any:
    """The convex hull of a mesh of coal, as a solid of coal; None of one that is flat, and of what is no mesh.

    Args:
        mesh: a solid of coal.
    """
    if not (type(mesh).__name__.startswith("BVHModel") and mesh.num_tris):
        return None
    points = np.array(mesh.vertices())
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

"""Covers: spheres that hold all of a solid, made once from its shape."""

from __future__ import annotations

from hashlib import sha256
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.spatial import ConvexHull

from liegroups.arrays import Matrix, Vector

from ..linear_algebra import row_lengths
from ..workspace import Kept
from .hulls import triangles_of

SPHERES_OF_A_MESH = 32
"""Spheres that the surface of a mesh is divided among."""
MOST_CELLS_OF_A_BOX = 32
"""Cells, with a sphere each, that a box is divided into."""
EDGE_OF_A_PIECE = 0.1
"""Longest edge of the pieces that triangles of a mesh are cut into, as a part of the radius of the mesh."""
MOST_PIECES = 20_000
"""Pieces of a mesh: triangles are not cut further beyond."""
ROUNDS_OF_A_BALL = 40
"""Steps of the search for a small ball around points."""
MESHES = 256
"""Meshes whose covers are kept: robots and scenes are read again."""
ROUNDING_OF_A_RADIUS = 1e-12
"""What rounding may take from the radius of a sphere, as a part of the size of its solid."""


class Cover(NamedTuple):
    """Spheres that hold all of a solid: each of its points is in at least one of them.

    Attributes:
        centers: (n, 3) on the solid [m].
        radii: (n,) [m].
        center, radius: of one sphere that holds all the others.
    """

    centers: Matrix
    radii: Vector
    center: Vector
    radius: float


def cover_of(solid: Any) -> Cover | None:
    """A cover of a solid of coal; None of one that has no end, as a half-space.

    A mesh is its surface, as it is for coal; all other solids are held with what is inside them.
    """
    kind = type(solid).__name__
    if kind == "Sphere":
        return widened(np.zeros((1, 3)), np.array([float(solid.radius)]), np.zeros(3), float(solid.radius))
    if kind == "Capsule":
        return _of_capsule(float(solid.radius), float(solid.halfLength))
    if kind == "Cylinder":
        return _of_cylinder(float(solid.radius), float(solid.halfLength))
    if kind.startswith("BVHModel") and solid.num_tris:
        return _of_triangles(np.array(solid.vertices())[triangles_of(solid)])
    solid.computeLocalAABB()
    lower, upper = np.array(solid.aabb_local.min_), np.array(solid.aabb_local.max_)
    if not np.abs([lower, upper]).max() < 1e100:
        return None
    return _of_box(lower, upper, np.array(solid.points()) if kind.startswith("Convex") else None)


def widened(centers: Matrix, radii: Vector, center: Vector, radius: float) -> Cover:
    """The cover, with radii that rounding does not make too small."""
    more = ROUNDING_OF_A_RADIUS * float(np.abs(centers).max(initial=0.0) + radius)
    return Cover(centers, radii + more, center, radius + more)


def _of_capsule(radius: float, half: float) -> Cover:
    r"""Spheres along the axis: of centers d apart each has to reach :math:`\sqrt{r^2 + d^2/4}`."""
    count = int(np.clip(np.ceil(2.0 * half / radius), 1, MOST_CELLS_OF_A_BOX)) + 1
    heights = np.linspace(-half, half, count)
    reach = float(np.hypot(radius, half / (count - 1)))
    return widened(_on_axis(heights), np.full(count, reach), np.zeros(3), half + radius)


def _of_cylinder(radius: float, half: float) -> Cover:
    """Spheres around equal slices; a flat one is divided as a box, but for the cells that miss it."""
    if half < 0.5 * radius:
        box = np.array([radius, radius, half])
        return _of_box(-box, box, None, radius)
    count = int(np.clip(np.ceil(2.0 * half / radius), 1, MOST_CELLS_OF_A_BOX))
    heights = half * (np.arange(1, 2 * count, 2) / count - 1.0)
    reach = float(np.hypot(radius, half / count))
    return widened(_on_axis(heights), np.full(count, reach), np.zeros(3), float(np.hypot(radius, half)))


def _on_axis(heights: Vector) -> Matrix:
    return np.column_stack((np.zeros((len(heights), 2)), heights))


def _of_box(lower: Vector, upper: Vector, points: Matrix | None, disc: float = np.inf) -> Cover:
    """Spheres around the cells of a box; without those that are outside of the hull of points, or of a disc about z."""
    sides = upper - lower
    edge = float(max(sides.min() / 3.0, 1e-3 * sides.max()))
    while np.ceil(sides / edge - 1e-9).prod() > MOST_CELLS_OF_A_BOX:
        edge *= 1.1
    counts = np.maximum(np.ceil(sides / edge - 1e-9), 1.0)
    cell = sides / counts
    centers = lower + cell * (np.array(list(product(*(range(int(n)) for n in counts)))) + 0.5)
    if points is not None:
        planes = ConvexHull(points).equations  # outward normal and offset of each face
        beyond = centers @ planes[:, :3].T + planes[:, 3] - 0.5 * np.abs(planes[:, :3]) @ cell
        centers = centers[(beyond <= 1e-9 * sides.max()).all(axis=1)]
    corners = np.maximum(np.abs(centers[:, :2]) - 0.5 * cell[:2], 0.0)
    centers = centers[row_lengths(corners) <= disc]
    reach = 0.5 * float(np.linalg.norm(cell))
    return widened(centers, np.full(len(centers), reach), 0.5 * (lower + upper), 0.5 * float(np.linalg.norm(sides)))


def _of_triangles(triangles: Matrix) -> Cover:
    """As `_grouped`, made once of the same numbers."""
    return _KNOWN.get(sha256(triangles.tobytes()).digest(), lambda: _grouped(triangles))


_KNOWN = Kept[Cover](MESHES)


def _grouped(triangles: Matrix) -> Cover:
    """Balls around groups of neighbouring pieces: a triangle is in every ball that its corners are in."""
    center, radius = _ball(triangles.reshape(-1, 3))
    pieces = _cut(triangles, EDGE_OF_A_PIECE * radius)
    places = pieces.mean(axis=1)
    _, group = kmeans2(places, _far_apart(places, min(SPHERES_OF_A_MESH, len(pieces))), minit="matrix")
    balls = [_ball(pieces[group == k].reshape(-1, 3)) for k in np.unique(group)]
    found = widened(np.array([ball[0] for ball in balls]), np.array([ball[1] for ball in balls]), center, radius)
    for numbers in (found.centers, found.radii, found.center):
        numbers.setflags(write=False)
    return found


def _far_apart(points: Matrix, count: int) -> Matrix:
    """So many of the points, each the farthest from those before."""
    chosen, away = [points[0]], np.full(len(points), np.inf)
    while len(chosen) < count:
        away = np.minimum(away, row_lengths(points - chosen[-1]))
        chosen.append(points[away.argmax()])
    return np.array(chosen)


def _cut(triangles: Matrix, longest: float) -> Matrix:
    """The triangles, halved at the middle of their longest edge until none is longer."""
    short = list[Matrix]()
    left, count = triangles, len(triangles)
    while len(left):
        edges = np.linalg.norm(left - np.roll(left, -1, axis=1), axis=2)
        long = edges.max(axis=1) > longest
        if count + int(long.sum()) > MOST_PIECES:
            break
        short.append(left[~long])
        left, first = left[long], edges[long].argmax(axis=1)
        count += len(left)
        a, b, c = (left[np.arange(len(left)), (first + i) % 3] for i in range(3))
        middle = 0.5 * (a + b)
        left = np.concatenate([np.stack((a, middle, c), axis=1), np.stack((middle, b, c), axis=1)])
    return np.concatenate([*short, left])


def _ball(points: Matrix) -> tuple[Vector, float]:
    r"""A small ball around points: the center moves towards the farthest one, by 1/k of the way in step k.

    Source: M. Badoiu and K. L. Clarkson, Smaller core-sets for balls, SODA 2003. After k steps the radius is within a
    part of :math:`1/\sqrt{k}` of the smallest.
    """
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    best = center, np.inf
    for k in range(2, ROUNDS_OF_A_BALL + 2):
        away = row_lengths(points - center)
        farthest = int(away.argmax())
        if away[farthest] < best[1]:
            best = center, float(away[farthest])
        center = center + (points[farthest] - center) / k
    return best

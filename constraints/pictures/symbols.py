"""Symbols of engineers' drawings: bodies, ground, sliders, springs, dampers. Shapes only: points in the world.

A symbol lies in the plane of the picture: its points (n, 2) are to the right and up, in the unit of the symbol.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from liegroups.arrays import Matrix, Vector

HATCHES = 5
"""Strokes below a ground line."""
COILS = 7
"""Of a spring."""
FLATTEST = 1e-3
"""What is thinner than this part of its length is a line."""

PIN = np.array([[0.0, 0.0], [-0.75, -1.2], [0.75, -1.2]])
"""The triangle below a pivot on the ground."""


def ground(low: float = -1.2, half: float = 1.15) -> list[Matrix]:
    """A ground line at a height, with strokes below it."""
    strokes = [np.array([[x, low], [x - 0.35, low - 0.4]]) for x in np.linspace(-half + 0.35, half, HATCHES).tolist()]
    return [np.array([[-half, low], [half, low]]), *strokes]


def block(along: Vector) -> Matrix:
    """The block of a slider (4, 2) along a direction (2,)."""
    across = np.array([-along[1], along[0]])
    return np.array([a * 1.1 * along + b * 0.65 * across for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))])


def guide(along: Vector, travel: float) -> list[Matrix]:
    """The hatched line on which a slider on the ground moves, on both sides of it as far as `travel`."""
    across = np.array([-along[1], along[0]])
    side = across if across[1] < 0.0 or (across[1] == 0.0 and across[0] < 0.0) else -across
    at = 0.65 * side
    count = max(int(2.0 * travel / 0.55), HATCHES)
    places = np.linspace(-travel + 0.35, travel, count).tolist()
    strokes = [np.array([at + x * along, at + (x - 0.35) * along + 0.4 * side]) for x in places]
    return [np.array([at - travel * along, at + travel * along]), *strokes]


def coil(a: Vector, b: Vector, size: float, shift: float = 0.0) -> Matrix:
    """A spring from a to b (2,) as a zigzag, moved aside by `shift`, all in one unit."""
    along, across, length = _directions(a, b)
    lead = max(0.2 * length, 0.5 * (length - 3.0 * COILS * 0.4 * size))
    inner = np.linspace(lead, length - lead, 2 * COILS + 1)
    sway = 0.55 * size * np.array([0.0, *([1.0, -1.0] * COILS)[: 2 * COILS - 1], 0.0])
    x = np.array([0.0, *([0.0] if shift else []), *inner, *([length] if shift else []), length])
    y = np.array([0.0, *([shift] if shift else []), *(sway + shift), *([shift] if shift else []), 0.0])
    return a + np.outer(x, along) + np.outer(y, across)


def dashpot(a: Vector, b: Vector, size: float, shift: float = 0.0) -> list[Matrix]:
    """A damper from a to b (2,): a cup and a piston, moved aside by `shift`, all in one unit."""
    along, across, length = _directions(a, b)
    half = 0.5 * size
    c, d = 0.5 * length - 0.6 * size, 0.5 * length + 0.6 * size
    lines = [
        [(0.0, 0.0), (0.0, shift), (c, shift)],
        [(d, shift + half), (c, shift + half), (c, shift - half), (d, shift - half)],
        [(0.5 * length, shift + 0.75 * half), (0.5 * length, shift - 0.75 * half)],
        [(0.5 * length, shift), (length, shift), (length, 0.0)],
    ]
    return [np.array([a + x * along + y * across for x, y in line]) for line in lines]


def spiral(turns: float = 2.25, inner: float = 0.35, outer: float = 1.25) -> Matrix:
    """A spring about a pivot (n, 2)."""
    angles = np.linspace(0.0, 2.0 * math.pi * turns, 80)
    radius = np.linspace(inner, outer, 80)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)


def arc(radius: float = 1.45) -> list[Matrix]:
    """A damper about a pivot: an arc between two strokes."""
    angles = np.linspace(math.radians(200.0), math.radians(340.0), 30)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return [radius * ring, *(np.array([0.8 * radius * end, 1.2 * radius * end]) for end in (ring[0], ring[-1]))]


def _directions(a: Vector, b: Vector) -> tuple[Vector, Vector, float]:
    """Along and across the way from a to b (2,), and its length."""
    length = float(np.linalg.norm(b - a))
    along = (b - a) / length if length > 0.0 else np.array([1.0, 0.0])
    return along, np.array([-along[1], along[0]]), length


def faces(points: Sequence[Vector], width: float) -> list[Matrix]:
    """The faces (k, 3) of the convex hull of points (3,): one where they lie in a plane; none where on a line.

    Args:
        points: of a body [m].
        width: of the picture [m].
    """
    given = np.array(points)
    middle = given.mean(axis=0)
    _, sizes, axes = np.linalg.svd(given - middle)
    sizes = [*sizes.tolist(), 0.0, 0.0, 0.0]
    if sizes[1] < max(FLATTEST * sizes[0], 0.01 * width):
        return []
    is_flat = sizes[2] < max(FLATTEST * sizes[0], 0.01 * width)
    try:
        if is_flat:
            ring = ConvexHull((given - middle) @ axes[:2].T).vertices
            return [given[ring]]
        return [given[triangle] for triangle in ConvexHull(given).simplices]
    except QhullError:
        return []

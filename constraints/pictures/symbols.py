"""Symbols of engineers' drawings: bodies, ground, sliders, springs, dampers. Shapes only: points in the world.

A symbol lies in the plane of the picture: its points (n, 2) are to the right and up, in the unit of the symbol.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.spatial import ConvexHull

from liegroups.arrays import Matrix, Vector

HATCHES = 5
"""Strokes below a ground line."""
COILS = 7
"""Of a spring."""
FLATTEST, THINNEST = 1e-3, 0.01
"""What is thinner than this part of its length, or of the picture, is a line."""
TURNS, RADII, AROUND = 2.25, (0.35, 1.25), 1.45
"""Of a spring about a pivot: turns, radii where it begins and ends; radius of a damper."""
ARC, POINTS = (0.56, 0.94), 80
"""Where a damper about a pivot begins and ends [turns], and how many points curves have."""

WIDE, DEEP = 1.15, 1.2
"""Half of the ground line below a pivot, and how far below."""
BACK, DOWN = 0.35, 0.4
"""How far a hatch goes."""
LONG, HALF = 1.1, 0.65
"""Halves of the sides of a slider, along its way and across."""
SWAY, PITCH = 0.55, 1.2
"""Half of the width of a spring, and how long each of its coils is where there is room."""
PIN = DEEP * np.array([[0.0, 0.0], [-0.625, -1.0], [0.625, -1.0]])
"""The triangle below a pivot on the ground."""


def ground() -> list[Matrix]:
    """The line below a pivot on the ground, with strokes below it."""
    return _hatched(np.array([0.0, -DEEP]), np.array([1.0, 0.0]), np.array([0.0, -1.0]), WIDE, HATCHES)


def block(along: Vector) -> Matrix:
    """The block of a slider (4, 2) along a direction (2,)."""
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    return corners @ np.array([LONG * along, HALF * _across(along)])


def guide(along: Vector, travel: float) -> list[Matrix]:
    """The hatched line on which a slider on the ground moves, on both sides of it as far as `travel`."""
    across = _across(along)
    side = across if (across[1], across[0]) < (0.0, 0.0) else -across  # below, or left
    return _hatched(HALF * side, along, side, travel, 2 * HATCHES)


def _hatched(at: Vector, along: Vector, side: Vector, half: float, count: int) -> list[Matrix]:
    """A line around a point, and strokes on one of its sides, from its one end to the other."""
    starts = [at + x * along for x in np.linspace(BACK - half, half, count).tolist()]
    stroke = DOWN * side - BACK * along
    return [np.array([at - half * along, at + half * along]), *(np.array([a, a + stroke]) for a in starts)]


def coil(a: Vector, b: Vector, size: float, shift: float) -> Matrix:
    """A spring from a to b (2,) as a zigzag, moved aside by `shift`, all in one unit."""
    along, length = _direction(a, b)
    lead = max(0.2 * length, 0.5 * (length - COILS * PITCH * size))
    x = np.array([0.0, 0.0, *np.linspace(lead, length - lead, 2 * COILS + 1), length, length])
    y = shift + np.array([-shift, 0.0, 0.0, *np.resize([1.0, -1.0], 2 * COILS - 1) * SWAY * size, 0.0, 0.0, -shift])
    return a + np.outer(x, along) + np.outer(y, _across(along))


def dashpot(a: Vector, b: Vector, size: float, shift: float) -> list[Matrix]:
    """A damper from a to b (2,): a cup and a piston, moved aside by `shift`, all in one unit."""
    along, length = _direction(a, b)
    half, middle, c, d = 0.5 * size, 0.5 * length, 0.5 * length - 0.6 * size, 0.5 * length + 0.6 * size
    lines = [
        [(0.0, 0.0), (0.0, shift), (c, shift)],
        [(d, shift + half), (c, shift + half), (c, shift - half), (d, shift - half)],
        [(middle, shift + 0.75 * half), (middle, shift - 0.75 * half)],
        [(middle, shift), (length, shift), (length, 0.0)],
    ]
    return [a + np.array(line) @ np.array([along, _across(along)]) for line in lines]


def spiral() -> Matrix:
    """A spring about a pivot (n, 2)."""
    return np.linspace(*RADII, POINTS)[:, None] * _ring(0.0, TURNS)


def arc() -> list[Matrix]:
    """A damper about a pivot: an arc below it, between two strokes."""
    ring = AROUND * _ring(*ARC)
    return [ring, *(np.array([0.8 * end, 1.2 * end]) for end in (ring[0], ring[-1]))]


def _ring(start: float, end: float) -> Matrix:
    """Points (n, 2) of the unit circle between two angles [turns]."""
    angles = np.linspace(2.0 * math.pi * start, 2.0 * math.pi * end, POINTS)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _across(along: Vector) -> Vector:
    """A direction (2,), turned to the left."""
    return np.array([-along[1], along[0]])


def _direction(a: Vector, b: Vector) -> tuple[Vector, float]:
    """Direction and length of the way from a to b (2,)."""
    length = float(np.linalg.norm(b - a))
    return (b - a) / length if length else np.array([1.0, 0.0]), length


def faces(points: Sequence[Vector], width: float) -> list[Matrix]:
    """The faces (k, 3) of the convex hull of points (3,): one where they lie in a plane; none where on a line.

    Args:
        points: of a body [m].
        width: of the picture [m].
    """
    given = np.array(points)
    middle = given.mean(axis=0)
    _, sizes, axes = np.linalg.svd(given - middle)
    rank = int((sizes > max(FLATTEST * sizes[0], THINNEST * width)).sum())
    if rank < 2:
        return []
    hull = ConvexHull((given - middle) @ axes[:rank].T)
    return [given[hull.vertices]] if rank == 2 else [given[triangle] for triangle in hull.simplices]

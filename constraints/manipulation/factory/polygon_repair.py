"""Polygons as files give them: repeated vertices left out, vertices that are a little off their plane moved onto it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix

from ...functions.contact.contact_surface import FLATNESS

SAME_VERTICES = 1e-6
"""Two vertices closer than this, in parts of the polygon's size, are one."""
NEARLY_FLAT = 1e-2
"""Distance of a vertex from the plane of the others, by the polygon's size, up to which it is moved onto it."""


class Polygon(NamedTuple):
    """Vertices, and what was done to them.

    Attributes:
        points: vertices (n, 3) [m].
        notes: repairs, a sentence each.
    """

    points: Matrix
    notes: tuple[str, ...]


def repaired(points: Matrix) -> Polygon:
    """A polygon without repeated vertices and with all of them in one plane.

    What is farther off is left as it is, for `Surface` to refuse; so is a polygon of fewer than three vertices.

    Args:
        points: vertices (n, 3) [m] in order.
    """
    notes: list[str] = []
    size = float(np.abs(points - points.mean(axis=0)).max())
    kept: list[int] = []
    for i in range(len(points)):
        if not kept or _apart(points[i], points[kept[-1]]) > SAME_VERTICES * size:
            kept.append(i)
    while len(kept) > 1 and _apart(points[kept[-1]], points[0]) <= SAME_VERTICES * size:  # a polygon that is closed
        kept.pop()
    if 3 <= len(kept) < len(points):
        gone = [i for i in range(len(points)) if i not in kept]
        words = f"vertex {gone[0]} repeats" if len(gone) == 1 else f"vertices {', '.join(map(str, gone))} repeat"
        notes.append(f"{words} a neighbour: left out")
        points = points[kept]
    centre = points.mean(axis=0)
    around = points - centre
    total = np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0)
    length = float(np.sqrt(total @ total))
    if length > 1e-9 * size * size:
        off = around @ (total / length)
        worst = float(np.abs(off).max())
        if FLATNESS * size < worst <= NEARLY_FLAT * size:
            points = points - np.outer(off, total / length)
            notes.append(f"vertices up to {worst:.2g} m off their plane are moved onto it")
    return Polygon(points, tuple(notes))


def _apart(a: Matrix, b: Matrix) -> float:
    return float(np.sqrt(((a - b) ** 2).sum()))

"""Solids as lines and faces."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups.arrays import Matrix

from ..collisions.shapes import Shape

CIRCLE = np.linspace(0.0, 2.0 * np.pi, 25)


def wires(shape: Shape) -> list[Matrix]:
    """A solid as lines of points (n, 3), in its own axes [m]."""
    size = shape.size
    if shape.kind == "Box":
        x, y, z = 0.5 * np.array(size)
        ring = np.array([[x, y, 0.0], [-x, y, 0.0], [-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0]])
        up = np.array([0.0, 0.0, z])
        return [ring - up, ring + up, *(np.array([corner - up, corner + up]) for corner in ring[:4])]
    radius = size[0]
    zero, cos, sin = np.zeros_like(CIRCLE), radius * np.cos(CIRCLE), radius * np.sin(CIRCLE)
    level = np.stack([cos, sin, zero], axis=1)
    upright = [np.stack([cos, zero, sin], axis=1), np.stack([zero, cos, sin], axis=1)]
    if shape.kind == "Sphere":
        return [level, *upright]
    up = np.array([0.0, 0.0, 0.5 * size[1]])
    rings = [level - up, level + up]
    if shape.kind == "Capsule":  # the half circles of its ends, joined by its sides
        return [*rings, *(line + np.where(line[:, 2:] > 0.0, 1.0, -1.0) * up for line in upright)]
    posts = [np.array([point - up, point + up]) for point in level[:-1:6]]
    return [*rings, *posts]


def lid(shape: Shape) -> Any:
    """Faces of the upper third of a box (5, 4, 3), in its own axes [m]."""
    x, y, z = 0.5 * np.array(shape.size)
    ring = np.array([[x, y], [-x, y], [-x, -y], [x, -y]])
    top, below = np.c_[ring, np.full(4, z)], np.c_[ring, np.full(4, z / 3.0)]
    return np.array([top, *(np.array([top[i], top[i - 1], below[i - 1], below[i]]) for i in range(4))])

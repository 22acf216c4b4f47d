"""Point clouds: balls of one radius around many points, in a tree of boxes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, final

import numpy as np

from liegroups.arguments import as_name, real_numbers
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import SizeError
from ..linear_algebra import row_lengths
from ..ranges import positive_number
from ..robot import Frame
from ..robot.placement import as_placement
from .covers import SPHERES_OF_A_MESH, Cover, widened

POINTS_OF_A_LEAF = 8
"""Most points in a box of the tree that is not divided further."""


@final
class CloudTree:
    r"""Points, halved at the median of the longer side of their box until few are left.

    The boxes are numbered as in a heap: box n is divided into 2 n and 2 n + 1, box 1 holds all; the last ones, as many
    as there are `leaves`, have points.

    Attributes:
        points, radius: (n, 3) [m], and of the balls around them [m].
        leaves: number of boxes that are not divided, a power of two.
        size: number of points in each; the last point of all may be there several times.
    """

    def __init__(self, points: Matrix, radius: float) -> None:
        self.points, self.radius = points, radius
        self.leaves = 1 << max(int(np.ceil(np.log2(len(points) / POINTS_OF_A_LEAF))), 0)
        self.size = -(-len(points) // self.leaves)

    @cached_property
    def groups(self) -> Matrix:
        """Points by leaf (leaves, size, 3)."""
        missing = self.leaves * self.size - len(self.points)
        groups = np.concatenate((self.points, np.repeat(self.points[-1:], missing, axis=0)))[None]
        while len(groups) < self.leaves:
            axis = np.ptp(groups, axis=1).argmax(axis=1)
            along, half = np.take_along_axis(groups, axis[:, None, None], axis=2)[..., 0], groups.shape[1] // 2
            order = np.argpartition(along, half, axis=1)
            groups = np.take_along_axis(groups, order[..., None], axis=1).reshape(-1, half, 3)
        return groups

    @cached_property
    def numbers(self) -> Vector:
        """The boxes from number 0 on, which is none, six numbers each (lower and upper corner); then the points."""
        boxes = np.zeros((2 * self.leaves, 6))
        for n in range(self.leaves.bit_length()):
            parts = self.groups.reshape(1 << n, -1, 3)
            boxes[1 << n : 2 << n] = np.hstack((parts.min(axis=1), parts.max(axis=1)))
        return np.concatenate((boxes.ravel(), self.groups.ravel()))

    def cover(self) -> Cover:
        """Balls around the points of a few boxes, and the radius of the points."""
        groups = self.groups.reshape(min(self.leaves, SPHERES_OF_A_MESH), -1, 3)
        centers, radii = _around(groups)
        center, radius = _around(groups.reshape(1, -1, 3))
        return widened(centers, radii + self.radius, center[0], float(radius[0]) + self.radius)


def _around(groups: Matrix) -> tuple[Matrix, Vector]:
    """Balls around groups of points (m, k, 3), from the middle of their box: centers, radii."""
    centers = 0.5 * (groups.min(axis=1) + groups.max(axis=1))
    return centers, row_lengths((groups - centers[:, None]).reshape(-1, 3)).reshape(groups.shape[:2]).max(axis=1)


@final
@dataclass(frozen=True, eq=False, repr=False)
class PointCloud:
    """Balls of one radius around many points, fixed on a frame: what a depth camera or a laser scanner sees.

    Args:
        name: of the cloud, which is one solid.
        points: their centres, seen from the cloud (n, 3) [m], n at least 1.
        radius: of the balls [m], positive: half the distance of neighbouring points leaves no holes.
        frame: the frame that carries it; the world by default.
        placement: of the cloud on that frame (`pinocchio.SE3`, 4 x 4 matrix, or seven numbers).

    Raises:
        SizeError, NotFiniteError, DtypeError: what is wrong with the points.
        OptionError: a radius that is no positive number.
    """

    name: str
    points: Matrix
    radius: float
    frame: Frame | str = "universe"
    placement: Any = None

    def __post_init__(self) -> None:
        """Check the points, and own them."""
        as_name(self.name, "name of a point cloud")
        points = real_numbers(self.points, what := f"points of point cloud '{self.name}'", finite=True)
        if points.ndim != 2 or not len(points) or points.shape[1] != 3:
            raise SizeError(what, "(n, 3), n at least 1", points.shape)
        radius = positive_number(self.radius, f"radius of point cloud '{self.name}' [m]")
        placement = as_placement(self.placement, f"placement of point cloud '{self.name}'")
        set_fields(self, points=read_only(np.array(points)), radius=radius, placement=placement)

    @property
    def size(self) -> tuple[float, ...]:
        """Sides of the box around all balls [m], along the axes of the cloud."""
        return tuple((np.ptp(self.points, axis=0) + 2.0 * self.radius).tolist())

    def solid(self) -> Any:
        """The points as a mesh of coal, of triangles without area: coal has no other tree of points."""
        mesh, count = import_module("coal").BVHModelOBBRSS(), len(self.points)
        mesh.beginModel(count, count)
        mesh.addVertices(self.points)
        mesh.addTriangles(np.repeat(np.arange(count), 3).reshape(-1, 3))
        mesh.endModel()
        return mesh

    def __repr__(self) -> str:
        return f"PointCloud('{self.name}', {len(self.points)} points, radius {self.radius:g} m)"

"""The solids of a collision model, each where it is fixed, and the geometry of pinocchio and coal made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..errors import OptionError
from ..robot.model.pinocchio import Placement, pin
from .clouds import CloudTree, PointCloud
from .covers import Cover, cover_of
from .hulls import hull_of, parts_of
from .pairs import IndexPair
from .shapes import Shape

GJK_TOLERANCE = 1e-9
"""Of coal's search for a common point. At its own 1e-6 it misses some boxes that overlap by centimetres."""


@final
class CoveredGeometry:
    """A solid of coal, or a point cloud, with its cover: made on first use, the same wherever the solid goes."""

    def __init__(self, geometry: Any, cloud: CloudTree | None = None) -> None:
        self.geometry, self.cloud = geometry, cloud
        self.kind = type(geometry).__name__ if cloud is None else "PointCloud"

    @cached_property
    def cover(self) -> Cover | None:
        """None of a solid that has no end."""
        return cover_of(self.geometry) if self.cloud is None else self.cloud.cover()

    @cached_property
    def hull(self) -> Any:
        """The convex hull of a mesh, of coal; None of other solids, which are as easily compared themselves."""
        return hull_of(self.geometry) if self.cloud is None else None

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """Convex solids of coal that together hold a mesh, which has a hull."""
        return parts_of(self.geometry)

    @cached_property
    def box(self) -> tuple[Vector, Vector]:
        """The box around the solid, along its axes: middle and sides [m], not finite of a solid that has no end."""
        self.geometry.computeLocalAABB()
        around = self.geometry.aabb_local
        lower, upper = np.array(around.min_), np.array(around.max_)
        with np.errstate(over="ignore"):
            return 0.5 * (lower + upper), upper - lower + 2.0 * self.padding

    @property
    def padding(self) -> float:
        """How far the solid reaches around what coal knows of it [m]: the radius of the points of a cloud."""
        return 0.0 if self.cloud is None else self.cloud.radius


@final
@dataclass(frozen=True, eq=False)
class CollisionSolid:
    """A solid fixed on a joint.

    Args:
        name: of the solid.
        link: name of the link that it is a part of; empty where it is on a frame of another kind, or held.
        joint: that carries it; 0 is the world.
        placement: on the joint.
        body: what it is.
        source: what a user gave; None of a solid from a file.
    """

    name: str
    link: str
    joint: int
    placement: Placement
    body: CoveredGeometry
    source: Shape | PointCloud | None = None

    @property
    def frame_name(self) -> str:
        """Name of the frame that carries it."""
        if self.source is None:
            return self.link
        return self.source.frame if isinstance(self.source.frame, str) else self.source.frame.name

    @cached_property
    def spheres(self) -> Matrix | None:
        """Its cover on the joint (1 + n, 4): centers and radii, the one around all first; None if it has none."""
        cover = self.body.cover
        if cover is None:
            return None
        centers = np.vstack((cover.center, cover.centers)) @ np.asarray(self.placement.rotation).T
        return np.column_stack((centers + self.placement.translation, [cover.radius, *cover.radii]))


def geometry_of(solids: Sequence[CollisionSolid], margins: Mapping[IndexPair, float]) -> Any:
    """Pinocchio's geometry of solids, in their order, and of pairs, in the order of the margins.

    Coal is wrong about a ball and a triangle without area, as the points of a cloud are. Beside clouds a capsule
    without length stands for a ball: a second object, after all others.
    """
    geometry, balls = pin.GeometryModel(), _balls_beside_clouds(solids)
    for solid in solids:
        geometry.addGeometryObject(pin.GeometryObject(solid.name, solid.joint, solid.placement, solid.body.geometry))
    for i in balls:
        solid, capsule = solids[i], import_module("coal").Capsule(solids[i].body.geometry.radius, 0.0)
        geometry.addGeometryObject(pin.GeometryObject(solid.name, solid.joint, solid.placement, capsule))
    for i, j in margins:
        a = balls.get(i, i) if solids[j].body.cloud else i
        b = balls.get(j, j) if solids[i].body.cloud else j
        geometry.addCollisionPair(pin.CollisionPair(a, b))
    return geometry


def _balls_beside_clouds(solids: Sequence[CollisionSolid]) -> dict[int, int]:
    """Of each ball the number of the object that stands for it beside clouds; nothing where there is no cloud."""
    if not any(solid.body.cloud for solid in solids):
        return {}
    balls = [i for i, solid in enumerate(solids) if solid.body.kind == "Sphere"]
    return {i: len(solids) + n for n, i in enumerate(balls)}


def geometry_of_hulls(geometry: Any, solids: Sequence[CollisionSolid]) -> Any:
    """The same geometry with the hulls of its meshes in place of these."""
    other = geometry.copy()
    for n, solid in enumerate(solids):
        if solid.body.hull is not None:
            other.geometryObjects[n].geometry = solid.body.hull
    return other


def geometry_moved(geometry: Any, solids: Sequence[CollisionSolid], moved: Sequence[int]) -> Any:
    """The same geometry with some of the solids elsewhere on their joints."""
    other, balls = geometry.copy(), _balls_beside_clouds(solids)
    objects = other.geometryObjects
    for i in moved:
        for n in (i, balls.get(i, i)):
            objects[n].placement = solids[i].placement
    return other


def data_of(geometry: Any, margins: Sequence[float]) -> Any:
    """Data of a geometry for coal.

    Pinocchio's own requests have coal begin its search for a common point where the last one of the pair ended. Within
    some micrometres of contact a verdict then depends on what was asked before; here the configuration alone decides.
    Margins are those of each pair [m].
    """
    data, request = geometry.createData(), import_module("coal").CollisionRequest()
    request.gjk_tolerance, request.enable_contact = GJK_TOLERANCE, False
    for pair, margin in enumerate(margins):
        request.security_margin = margin
        data.collisionRequests[pair] = request
    return data


def is_within(geometry: Any, data: Any, pair: int, more: float) -> bool:
    """Whether a pair is not farther apart than its margin and a distance.

    Raises:
        OptionError: coal does not know: a mesh that is near another solid, which it may overlap.
    """
    request = data.collisionRequests[pair]
    margin = request.security_margin
    request.security_margin = margin + more
    try:
        return bool(pin.computeCollision(geometry, data, pair))
    except ValueError:
        ends = geometry.collisionPairs[pair]
        a, b = (geometry.geometryObjects[n].name for n in (ends.first, ends.second))
        what = f"margin {margin:.6g} m of '{a}' and '{b}', which are near each other"
        raise OptionError(f"{what}: a mesh may only overlap another mesh, give 0 or more") from None
    finally:
        request.security_margin = margin

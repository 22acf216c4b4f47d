"""The solids of a collision model: shapes and point clouds on frames, and the collision geometry of URDF files."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from math import inf
from typing import Any

import numpy as np

from liegroups.arguments import as_mapping, expect

from ..errors import DuplicateError, ModelError
from ..linear_algebra import norm
from ..problem.questions import LONGER, reach_of
from ..questions import FAR_AWAY, LONG_DISTANCE, ask_once
from ..robot import Frame, Robot
from ..robot.files.disabled_collisions import link_names
from ..robot.files.packages import robot_data_folder
from ..robot.files.urdf import captured_stderr
from ..robot.files.urdf_graph import misspelt_solids
from ..robot.files.xml import read_xml
from ..robot.frame_table import FrameKind
from ..robot.model.pinocchio import pin
from ..robot.placement import as_placement
from .clouds import CloudTree, PointCloud
from .shapes import Shape
from .solids import CollisionSolid, CoveredGeometry

GivenSolid = Shape | PointCloud
"""What users give by hand."""


def solids_of(
    robot: Robot, shapes: Iterable[GivenSolid], urdfs: Any, packages: tuple[str, ...]
) -> tuple[CollisionSolid, ...]:
    """All solids of a collision model.

    Args:
        robot: what carries them.
        shapes: given by hand.
        urdfs: files whose collision geometry counts: one, or by the name of the part of a system.
        packages: folders in which meshes are looked for.

    Raises:
        FileError, ModelError, DuplicateError, UnknownFrameError, WrongObjectError: as `CollisionModel`.
    """
    files, meshes = _files(urdfs), dict[tuple[str, ...], CoveredGeometry]()
    found = [solid for prefix, file in files.items() for solid in _of_urdf(robot, prefix, file, packages, meshes)]
    return extended(robot, found, shapes)


def extended(
    robot: Robot, solids: Sequence[CollisionSolid], shapes: Iterable[GivenSolid]
) -> tuple[CollisionSolid, ...]:
    """Solids, and behind them those that are given by hand.

    Raises:
        DuplicateError: two of one name.
        UnknownFrameError, WrongObjectError: a shape on a frame that the robot does not have, or something else.
    """
    links, all_of_them = frozenset(link_names(robot.model)), [*solids]
    for shape in shapes:
        expect(shape, (Shape, PointCloud), "shape of a collision model", "a Shape or a PointCloud")
        cloud = CloudTree(shape.points, shape.radius) if isinstance(shape, PointCloud) else None
        all_of_them.append(placed(robot, shape, CoveredGeometry(shape.solid(), cloud), links))
    counts = Counter(solid.name for solid in all_of_them)
    if len(counts) < len(all_of_them):
        raise DuplicateError(f"two shapes are called '{counts.most_common(1)[0][0]}'")
    return tuple(all_of_them)


def placed(robot: Robot, shape: GivenSolid, body: CoveredGeometry, links: Container[str]) -> CollisionSolid:
    """A solid that is given by hand, on its frame.

    Raises:
        UnknownFrameError: the robot does not have its frame.
    """
    frame = robot.frame(shape.frame)
    link, placement = frame.name if frame.name in links else "", frame.placement * shape.placement
    return _asked(robot, CollisionSolid(shape.name, link, frame.joint, placement, body, shape))


def _asked(robot: Robot, solid: CollisionSolid) -> CollisionSolid:
    """The same solid, asked about if it is too large for the robot, or stands where nothing of the robot comes near.

    In the world large floors and walls are meant, if they are not as thick as that too.
    """
    middle, sides = solid.body.box
    away, size = norm(np.asarray(solid.placement.act(middle))), float(sides.max() if solid.joint else sides.min())
    if not LONG_DISTANCE < max(away, size) < inf:
        return solid
    ends = (reach_of(robot, Frame("end", i, as_placement(None))) for i in range(1, robot.model.njoints))
    reach = max((far for far in ends if far < inf), default=0.0)
    words = ""
    if size > LONGER * reach > 0.0:
        words = f"has a size of {float(sides.max()):.6g} m"
    elif not solid.joint and away - 0.5 * norm(sides) > FAR_AWAY * reach > 0.0:
        words = f"is {away:.6g} m away"
    if words:
        ask_once(f"shape '{solid.name}' {words}, and the joints of {robot.name} reach {reach:.3g} m: in millimetres?")
    return solid


def _files(urdfs: Any) -> dict[str, Any]:
    """Files by the name of the part of a system; "" is a robot alone."""
    if urdfs is None:
        return {}
    if isinstance(urdfs, str | os.PathLike):
        return {"": urdfs}
    return dict(as_mapping(urdfs, "urdfs of a collision model", "of names of parts to files"))


def _of_urdf(
    robot: Robot,
    prefix: str,
    source: str | os.PathLike[str],
    packages: tuple[str, ...],
    meshes: dict[tuple[str, ...], CoveredGeometry],
) -> Iterator[CollisionSolid]:
    """The collision geometry of a file, each solid on the frame of the robot that has its link's name.

    Meshes of one file and scale are one body, which has one cover.
    """
    part, read = _geometry_of(source, packages)
    for solid in read.geometryObjects:
        link: Any = part.frames[solid.parentFrame]
        frame = robot.frame(f"{prefix}/{link.name}" if prefix else str(link.name), kind=FrameKind.BODY)
        placement = frame.placement * link.placement.actInv(solid.placement)
        name = f"{prefix}/{solid.name}" if prefix else str(solid.name)
        body = CoveredGeometry(solid.geometry)
        if type(solid.geometry).__name__.startswith("BVHModel"):
            body = meshes.setdefault((solid.meshPath, *map(str, solid.meshScale)), body)
        yield _asked(robot, CollisionSolid(name, frame.name, frame.joint, placement, body))


def _geometry_of(source: str | os.PathLike[str], packages: tuple[str, ...]) -> tuple[Any, Any]:
    """The model and the collision geometry of a URDF file.

    Raises:
        FileError: the file is missing, or is no URDF.
        ModelError: it has no collision geometry, or some that cannot be read: nothing is left out.
    """
    root, name = read_xml(source, "robot", "URDF", packages)
    text = ElementTree.tostring(root, encoding="unicode")
    data = robot_data_folder()
    folders = [*packages, *([] if data is None else [str(data.parent)])]
    said: list[str] = []
    with captured_stderr(said):
        try:
            part: Any = pin.buildModelFromXML(text)
            read: Any = pin.buildGeomFromUrdfString(part, text, pin.GeometryType.COLLISION, package_dirs=folders)
        except Exception as error:  # what the parsers and the readers of meshes raise
            raise ModelError(_unreadable(name, [*said, str(error)])) from None
    wrong = list(dict.fromkeys(said)) if any("collision element" in line for line in said) else []
    wrong += [str(slip) for slip in misspelt_solids(root)]
    wrong += [f"the size of '{solid.name}' must be positive" for solid in read.geometryObjects if _is_flat(solid)]
    if wrong:
        raise ModelError(_unreadable(name, wrong))
    if not read.ngeoms:
        raise ModelError(f"{name} has no collision geometry: nothing would ever collide; leave it out, or give shapes")
    return part, read


def _unreadable(name: str, reasons: list[str]) -> str:
    return f"the collision geometry of {name} cannot be read: {'; '.join(reasons)}"


def _is_flat(solid: Any) -> bool:
    """Whether a box, a sphere, a cylinder or a capsule has a measure that is not positive."""
    shape = solid.geometry
    measures = [getattr(shape, name) for name in ("radius", "halfLength", "halfSide") if hasattr(shape, name)]
    return any(np.min(measure) <= 0.0 for measure in measures)

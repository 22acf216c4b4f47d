"""Solids for collisions: shapes on frames, and the collision geometry of URDF files."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arguments import as_mapping, as_name, expect, finite_vector, is_finite_number
from liegroups.frozen import set_fields

from ..errors import ConstraintError, DuplicateError, ModelError, OptionError
from ..problem.questions import LONGER, reach_of
from ..questions import FAR_AWAY, LONG_DISTANCE, ask_once
from ..robot import Frame, Robot
from ..robot.files.disabled_collisions import link_names
from ..robot.files.packages import robot_data_folder
from ..robot.files.urdf import captured_stderr
from ..robot.files.xml import read_xml
from ..robot.frame_table import FrameKind
from ..robot.model.pinocchio import Placement, pin
from ..robot.placement import as_placement

_SIZES = {"Box": 3, "Sphere": 1, "Cylinder": 2, "Capsule": 2}


@final
@dataclass(frozen=True, eq=False)
class Shape:
    """A solid fixed on a frame, for collisions.

    Args:
        name: of the shape.
        kind: "Box" (x, y, z), "Sphere" (radius), "Cylinder" or "Capsule" (radius, length along z).
        size: its dimensions [m], all positive.
        frame: the frame that carries it; the world by default.
        placement: of its centre on that frame (`pinocchio.SE3`, 4 x 4 matrix, or seven numbers).

    Raises:
        OptionError: an unknown kind, or sizes that do not fit it.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    frame: Frame | str = "universe"
    placement: Any = None

    def __post_init__(self) -> None:
        """Check the measures."""
        as_name(self.name, "name of a shape")
        if as_name(self.kind, f"kind of shape '{self.name}'") not in _SIZES:
            raise OptionError(f"kind of shape '{self.name}': expected one of {', '.join(_SIZES)}, got {self.kind!r}")
        measures: Any = (self.size,) if is_finite_number(self.size) else self.size
        wanted = f"expected {_SIZES[self.kind]} positive sizes of a {self.kind}, got {self.size!r}"
        try:
            size = finite_vector(measures, _SIZES[self.kind], f"measures of shape '{self.name}'")
        except ConstraintError as error:
            raise OptionError(f"shape '{self.name}': {wanted}") from error
        if not (size > 0.0).all():
            raise OptionError(f"shape '{self.name}': {wanted}")
        set_fields(
            self, size=tuple(size.tolist()), placement=as_placement(self.placement, f"placement of shape '{self.name}'")
        )

    def solid(self) -> Any:
        """The solid as an object of coal."""
        return getattr(import_module("coal"), self.kind)(*self.size)


class Solids(NamedTuple):
    """The solids of a robot and of what is around it.

    Attributes:
        geometry: pinocchio's geometry model, without pairs.
        links: of each solid the name of its link; empty for a shape that is on a frame of another kind.
    """

    geometry: Any
    links: list[str]


def solids_of(robot: Robot, shapes: Iterable[Shape], urdfs: Any, packages: tuple[str, ...]) -> Solids:
    """All solids of a collision model.

    Args:
        robot: what carries them.
        shapes: given by hand.
        urdfs: files whose collision geometry counts: one, or by the name of the part of a system.
        packages: folders in which meshes are looked for.

    Raises:
        FileError, ModelError, DuplicateError, UnknownFrameError, WrongObjectError: as `CollisionModel`.
    """
    solids = Solids(pin.GeometryModel(), [])
    links = frozenset(link_names(robot.model))
    for prefix, file in _files(urdfs).items():
        _add_urdf(solids, robot, prefix, file, packages)
    for shape in shapes:
        expect(shape, Shape, "shape of a collision model")
        frame = robot.frame(shape.frame)
        link = frame.name if frame.name in links else ""
        placement = frame.placement * shape.placement
        _ask_of_shape(robot, shape, frame.joint, float(np.linalg.norm(placement.translation)))
        _add(solids, shape.name, link, frame.joint, placement, shape.solid())
    return solids


def _ask_of_shape(robot: Robot, shape: Shape, joint: int, away: float) -> None:
    """Ask about a shape in the world that nothing of a robot comes near to, and about one that is too large for it.

    Args:
        robot: what carries it.
        shape: the shape.
        joint: that carries it; 0 is the world.
        away: of its centre from the origin of that [m].
    """
    size = max(shape.size)
    if max(away, size) <= LONG_DISTANCE:
        return
    ends = (Frame("end", i, as_placement(None)) for i in range(1, robot.model.njoints))
    reach = max((reach_of(robot, end) for end in ends), default=inf)
    words = ""
    if 0.0 < reach < inf and joint and size > LONGER * reach:
        words = f"has a size of {size:.6g} m"
    elif 0.0 < reach < inf and away - size > FAR_AWAY * reach:
        words = f"is {away:.6g} m away"
    if words:
        ask_once(f"shape '{shape.name}' {words}, and the joints of {robot.name} reach {reach:.3g} m: in millimetres?")


def _files(urdfs: Any) -> dict[str, Any]:
    """Files by the name of the part of a system; "" is a robot alone."""
    if urdfs is None:
        return {}
    if isinstance(urdfs, str | os.PathLike):
        return {"": urdfs}
    return dict(as_mapping(urdfs, "urdfs of a collision model", "of names of parts to files"))


def _add(solids: Solids, name: str, link: str, joint: int, placement: Placement, solid: Any) -> None:
    if solids.geometry.existGeometryName(name):
        raise DuplicateError(f"two shapes are called '{name}'")
    solids.geometry.addGeometryObject(pin.GeometryObject(name, joint, placement, solid))
    solids.links.append(link)


def _add_urdf(
    solids: Solids, robot: Robot, prefix: str, source: str | os.PathLike[str], packages: tuple[str, ...]
) -> None:
    """Add the collision geometry of a file, each solid on the frame of the robot that has its link's name."""
    part, read = _geometry_of(source, packages)
    for solid in read.geometryObjects:
        link: Any = part.frames[solid.parentFrame]
        frame = robot.frame(f"{prefix}/{link.name}" if prefix else str(link.name), kind=FrameKind.BODY)
        on_link = link.placement.actInv(solid.placement)
        name = f"{prefix}/{solid.name}" if prefix else str(solid.name)
        _add(solids, name, frame.name, frame.joint, frame.placement * on_link, solid.geometry)


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

"""What the links of robots look like: the visual geometry of URDF, SDF and MJCF files."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ConstraintError, FileError
from ...robot.files.packages import VisualFile, find_resource
from ...robot.files.xml import numbers, read_xml
from ...robot.model.pinocchio import pin
from ...robot.placement import rigid_transform
from ..structure.visual_shapes import Colour, Form, Mesh, Solid, Visual
from .mjcf_visuals import visuals_of_mjcf
from .sdf_document import SdfModel, pose_of, read_sdf

SCHEMES = ("package://", "model://", "file://")
MEASURES = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "ellipsoid": {"radii": 3},
}
"""Of each solid, and how many numbers each has."""


class Visuals(NamedTuple):
    """The visual geometry of a file.

    Attributes:
        found: what can be drawn.
        missing: what cannot, in words, each with the reason.
    """

    found: list[Visual]
    missing: list[str]


def visuals_of(file: VisualFile) -> Visuals:
    """The visual geometry of a file. What cannot be read of it is listed, and the rest is read.

    Args:
        file: which, as a robot has it (`robot.visuals`).

    Raises:
        FileError: the file is missing, or cannot be read at all.
        MissingExtraError: of an MJCF, mujoco is not installed.
    """
    if file.kind == "MJCF":
        return Visuals(*visuals_of_mjcf(file))
    model, word, make = _of_sdf(file) if file.kind == "SDF" else _of_urdf(file)
    read = Visuals([], [])
    for link in model.findall("link"):
        name = str(link.get("name"))
        for i, element in enumerate(link.findall("visual")):
            what = f"visual {word(element, i)} of link '{name}'"
            try:
                read.found.append(make(element, name, what))
            except ConstraintError as error:
                read.missing.append(f"{what}: {error}")
    return read


_Reader = tuple[Element, Callable[[Element, int], object], Callable[[Element, str, str], Visual]]
"""The element with the links, what a visual is called by its number, and what makes one of a link."""


def _of_urdf(file: VisualFile) -> _Reader:
    root, path = read_xml(file.source, "robot", "URDF", file.packages, again=True)
    colours = {
        material.get("name"): colour.get("rgba")
        for material in root.findall("material")
        for colour in material.findall("color")
    }

    def make(element: Element, name: str, what: str) -> Visual:
        origin, material = element.find("origin"), element.find("material")
        xyz, rpy = (
            numbers("0 0 0" if origin is None else origin.get(key, "0 0 0"), path, what, 3) for key in ("xyz", "rpy")
        )
        colour = None if material is None else material.find("color")
        rgba = colours.get(material.get("name")) if material is not None else None
        rgba = colour.get("rgba") if colour is not None else rgba
        form = _form(element.find("geometry"), Element.get, path, file)
        return Visual(name, rigid_transform(xyz, rpy=rpy), form, _colour(rgba, path, what))

    return root, lambda _, i: i, make


def _of_sdf(file: VisualFile) -> _Reader:
    sdf = read_sdf(file.source, file.packages)
    root, path = read_xml(file.source, "sdf", "SDF", file.packages, again=True)

    def make(element: Element, name: str, what: str) -> Visual:
        placement, relative_to = pose_of(element.find("pose"), path, f"pose of {what}")
        if relative_to not in (None, "", name):
            placement = sdf.links[name].placement.actInv(_place(sdf, str(relative_to)) * placement)
        rgba = element.findtext("material/diffuse") or element.findtext("material/ambient")
        form = _form(element.find("geometry"), Element.findtext, path, file)
        return Visual(name, placement, form, _colour(rgba, path, what))

    model = next(iter([*root.findall("model"), *root.findall("world/model")]))
    return model, lambda element, i: f"'{element.get('name', i)}'", make


def _place(sdf: SdfModel, name: str) -> Any:
    """Placement of something with a name in a model."""
    if name in sdf.frames:
        return sdf.frames[name][1]
    if name == "__model__":
        return pin.SE3.Identity()
    named: dict[str, Any] = {**sdf.links, **sdf.joints}
    if name not in named:
        raise FileError(sdf.path, f"a pose is relative to '{name}', which is not there")
    return named[name].placement


def _form(geometry: Element | None, said: Callable[[Element, str], str | None], path: str, file: VisualFile) -> Form:
    """What a `<geometry>` has.

    Args:
        geometry: the element.
        said: the text of an entry: an attribute in URDF, an element in SDF.
        path: of the file.
        file: its entry.
    """
    element = None if geometry is None else next(iter(geometry), None)
    if element is None:
        raise FileError(path, "it has no geometry")
    kind = element.tag
    if kind == "mesh":
        scale = numbers(said(element, "scale") or "1 1 1", path, "scale of a mesh")
        address = said(element, "filename") or said(element, "uri") or ""
        if len(scale) not in (1, 3):  # one number is for all
            raise FileError(path, f"scale of a mesh takes 3 numbers, there are {len(scale)}")
        x, y, z = scale * 3 if len(scale) == 1 else scale
        return Mesh(_resolved(address.strip(), path, file), (x, y, z))
    if kind not in MEASURES:
        raise FileError(path, f"<{kind}> is no geometry that can be drawn")
    measures = [numbers(said(element, key), path, f"{key} of a {kind}", count) for key, count in MEASURES[kind].items()]
    return Solid(kind, tuple(number for several in measures for number in several))


def _colour(rgba: str | None, path: str, what: str) -> Colour | None:
    """Red, green, blue and opacity from 0 to 1; opaque where that is not said."""
    found = numbers(rgba, path, f"colour of {what}")
    if len(found) not in (3, 4):
        return None
    r, g, b, a = np.clip([*found, 1.0][:4], 0.0, 1.0).tolist()
    return r, g, b, a


def _resolved(url: str, path: str, file: VisualFile) -> str:
    """The file of a mesh.

    A `package://` (in SDF `model://`) address is looked for as others are, then in folders of that name above the file
    that has it; a relative path is one from the folder of that file.

    Raises:
        FileError: there is none; says where it was looked for.
    """
    scheme = next((scheme for scheme in SCHEMES if url.startswith(scheme)), "")
    rest = unquote(url.removeprefix(scheme))
    if scheme.startswith(("package", "model")):
        rest = rest.lstrip("/")  # some write three slashes, and pinocchio minds as little
    folder = Path(path).parent if not path.endswith(" text") else Path.cwd()
    if scheme in ("", "file://"):
        return str(find_resource(folder / rest))
    name = rest.partition("/")[0]
    above: list[str | PathLike[str]] = [home for home in folder.parents if (home / name).is_dir()]
    return fspath(find_resource(f"package://{rest}", [*file.packages, *above]))

"""Grippers, handles and contact surfaces from an SRDF file, in the tags of hpp-manipulation."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from liegroups.arguments import as_name
from liegroups.arrays import Matrix

from ...errors import FileError, UnknownFrameError
from ...functions.contact.contact_surface import Surface
from ...questions import asked_of_angles, say
from ...robot import Frame, Robot
from ...robot.arguments import as_robot
from ...robot.files.xml import has_xacro, in_file, numbers, read_xml
from ...robot.frame_table import FrameKind
from ...robot.model.pinocchio import Placement, pin
from ...robot.srdf import MANIPULATION_TAGS, SRDF_TAGS, refuse_misspelt
from ..gripper import Gripper, Handle
from .polygon_repair import repaired

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_log = logging.getLogger(__package__)


OLD_POSITIONS = ("local_position", "handle_position_in_joint")
"""Former names of the tag `position`."""
PARTS = {
    "gripper": ("position", "link", *OLD_POSITIONS),
    "handle": ("position", "link", "mask", "mask_complement", "approaching_direction", *OLD_POSITIONS),
    "contact": ("link", "point", "shape", "triangle"),
}
ATTRIBUTES = {
    "gripper": ("name", "clearance"),
    "handle": ("name", "clearance", "approaching_direction"),
    "contact": ("name",),
    "position": ("xyz", "xyzw", "wxyz", "rpy"),
    "link": ("name",),
}
MEANINGLESS = {"link": ("object",)}
"""Attributes that files have and HPP passes over."""
MASKS = {"mask": "`<mask>1 1 1 1 1 0</mask>`", "mask_complement": "`<mask_complement>0 0 0 0 0 1</mask_complement>`"}
"""Tags of a handle that are tried as attributes, with an example."""
TRUTH = {"1": True, "true": True, "0": False, "false": False}


@dataclass(frozen=True, eq=False)
class Semantics:
    """Grippers, handles and contact surfaces by name.

    Attributes:
        grippers, handles: by name.
        surfaces: polygons of a `contact` tag, by its name; several are called "name 0", "name 1", ...
        notes: what was ignored or repaired in the files, one sentence each; also in the log.
    """

    grippers: Mapping[str, Gripper]
    handles: Mapping[str, Handle]
    surfaces: Mapping[str, tuple[Surface, ...]]
    notes: tuple[str, ...] = ()

    def __or__(self, other: Semantics) -> Semantics:
        """Both together; where they share a name the second counts."""
        return Semantics(
            {**self.grippers, **other.grippers},
            {**self.handles, **other.handles},
            {**self.surfaces, **other.surfaces},
            tuple(dict.fromkeys((*self.notes, *other.notes))),
        )


def read_semantics(
    robot: Robot, source: str | os.PathLike[str], prefix: str = "", packages: Iterable[str | os.PathLike[str]] = ()
) -> Semantics:
    """Read `gripper`, `handle` and `contact` tags.

    - `position`: seven numbers as text are x y z and the quaternion **w x y z** (HPP's order in text); the attributes
      `xyz` with one of `xyzw`, `wxyz` and `rpy` name their order. It is the placement on the link.
    - `link`: name of a body, without the prefix.
    - `clearance`: attribute [m], 0 by default. `mask`, `mask_complement`: six of 0, 1, true, false.
    - `approaching_direction`: attribute or tag, three numbers, 1 0 0 by default.
    - `contact`: `point` (numbers, three per vertex, in the axes of the link) and `shape` (n, then n indices, once
      per polygon) or `triangle` (three indices each), seen counter-clockwise from outside. Repeated vertices are
      left out; vertices up to a hundredth of the polygon's size off their plane are moved onto it.

    Other tags directly under the root are ignored, unless they look like a misspelt tag of these. What was ignored or
    repaired is in `notes` of the result, and in the log.

    Args:
        robot: robot whose links the tags name.
        source: path, `package://` address, or the XML text itself.
        prefix: put in front of all names with a slash, as `Robot.system` does ("box" gives "box/handle").
        packages: folders in which packages are searched.

    Raises:
        FileError: a part, attribute or number that is not understood, a link that the robot does not have; the tag is
            named.
    """
    as_robot(robot, "robot of semantics")
    root, file = read_xml(source, "robot", "SRDF", packages)
    before = f"{as_name(prefix, 'prefix of semantics')}/" if prefix != "" else ""
    reader = _Reader(robot, before, file)
    grippers: dict[str, Gripper] = {}
    handles: dict[str, Handle] = {}
    surfaces: dict[str, tuple[Surface, ...]] = {}
    for tag in root:
        if tag.tag not in PARTS:
            reader.pass_over(tag)
            continue
        name = before + str(tag.get("name", ""))
        what = f"{tag.tag} '{name}'"
        if not tag.get("name"):
            raise FileError(file, f"a <{tag.tag}> has no name, but needs one")
        if name in ({"gripper": grippers, "handle": handles, "contact": surfaces}[tag.tag]):
            raise FileError(file, f"{what}: another one has this name, and names must be unique")
        reader.check(tag, what)
        with in_file(file, f"{what}: "):
            if tag.tag == "gripper":
                grippers[name] = Gripper(name, *reader.frame(tag, what))
            elif tag.tag == "handle":
                handles[name] = reader.handle(tag, name, what)
            else:
                surfaces[name] = reader.surfaces(tag, name, what)
    return Semantics(grippers, handles, surfaces, reader.told())


@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads single tags, and says in which file and tag something is wrong, or was repaired."""

    robot: Robot
    prefix: str
    file: str
    passed: Counter[str] = field(default_factory=lambda: Counter[str]())
    repairs: list[str] = field(default_factory=lambda: list[str]())

    def pass_over(self, tag: Element) -> None:
        """Count a tag that says nothing of grasps and placements; refuse one that was to say it.

        Raises:
            FileError: a misspelt tag, or one of xacro.
        """
        if tag.tag in SRDF_TAGS:
            return
        if has_xacro(tag):
            raise FileError(self.file, "has xacro elements: expand it first (xacro file.xacro > file.srdf)")
        refuse_misspelt(tag.tag, (*MANIPULATION_TAGS, *SRDF_TAGS), self.file)
        self.passed[f"<{tag.tag}>"] += 1
        for inner in tag.iter():
            if inner.tag in PARTS:
                self.passed[f"<{inner.tag}> inside <{tag.tag}>"] += 1

    def told(self) -> tuple[str, ...]:
        """What was passed over or repaired, in words; the log says it too."""
        notes = list(self.repairs)
        if self.passed:
            tags = ", ".join(f"{tag} ({count})" if count > 1 else tag for tag, count in self.passed.items())
            notes.append(f"ignored, because they are not about grasps and placements: {tags}")
        notes = [f"{self.file}: {note}" for note in notes]
        for note in notes:
            _log.warning("%s", note)
        return tuple(notes)

    def check(self, tag: Element, what: str) -> None:
        """Refuse attributes that are not understood, and misspelt parts; count what is passed over."""
        for child in tag:
            if child.tag not in PARTS[tag.tag]:
                refuse_misspelt(child.tag, PARTS[tag.tag], self.file, f"{what}: ")
                self.passed[f"<{child.tag}> of <{tag.tag}>"] += 1
        parts = [child for child in tag if child.tag in PARTS[tag.tag]]
        for element in (tag, *parts):
            for attribute in element.attrib:
                if attribute in MEANINGLESS.get(element.tag, ()):
                    self.passed[f"attribute '{attribute}' of <{element.tag}>"] += 1
                elif attribute not in ATTRIBUTES.get(element.tag, ()):
                    known = ", ".join(ATTRIBUTES.get(element.tag, ())) or "none"
                    said = f"attribute '{attribute}' of <{element.tag}> is not understood; expected {known}"
                    is_mask = element.tag == "handle" and attribute in MASKS
                    self.refuse(what, said + (f"; `{attribute}` is a tag: {MASKS[attribute]}" if is_mask else ""))

    def refuse(self, what: str, reason: str) -> NoReturn:
        raise FileError(self.file, f"{what}: {reason}")

    def one(self, tag: Element, part: str, what: str, needed: bool = True) -> Element | None:
        found = tag.findall(part)
        if len(found) > 1 or (needed and not found):
            self.refuse(what, f"expected one <{part}>, found {len(found)}")
        return found[0] if found else None

    def link(self, tag: Element, what: str) -> Frame:
        link = self.one(tag, "link", what)
        name = self.prefix + str("" if link is None else link.get("name", ""))
        bodies = [kind for kind in (FrameKind.BODY, None) if name in self.robot.frame_names]
        for kind in bodies:
            try:
                return self.robot.frame(name, kind=kind)
            except UnknownFrameError:
                continue
        self.refuse(what, f"{UnknownFrameError(name, self.robot.frame_names)}")

    def frame(self, tag: Element, what: str) -> tuple[Frame, float]:
        """Frame and clearance of a gripper or handle."""
        (clearance,) = numbers(tag.get("clearance", "0"), self.file, f"clearance of {what}", 1)
        old = next((old for old in OLD_POSITIONS if tag.find(old) is not None and tag.find("position") is None), None)
        if old is not None:
            self.repairs.append(f"{what}: <{old}> is read as <position>")
        position = self.one(tag, old or "position", what)
        link = self.link(tag, what)
        placement = pin.SE3.Identity() if position is None else self.position(position, what)
        name = self.prefix + str(tag.get("name"))
        return Frame(name, link.joint, link.placement * placement, link.joint_name), clearance

    def position(self, element: Element, what: str) -> Placement:
        """A placement, from seven numbers or from attributes that say their order."""
        where = f"position of {what}"
        values = numbers(element.text, self.file, where)
        turns = [order for order in ("xyzw", "wxyz", "rpy") if order in element.attrib]
        if values and (turns or "xyz" in element.attrib):
            self.refuse(where, "expected seven numbers or attributes, found both")
        if len(turns) > 1:
            self.refuse(where, f"only one of {', '.join(turns)} may be given")
        if values and len(values) != 7:
            self.refuse(where, f"expected seven numbers, x y z and w x y z, found {len(values)}")
        if values:
            return self._pose(values[:3], values[4:] + values[3:4], where)
        xyz = numbers(element.get("xyz", "0 0 0"), self.file, f"{where}, xyz", 3)
        if not turns:
            return self._pose(xyz, [0.0, 0.0, 0.0, 1.0], where)
        turn = numbers(element.get(turns[0]), self.file, f"{where}, {turns[0]}", 3 if turns[0] == "rpy" else 4)
        if turns[0] == "rpy":
            say(_log, [asked_of_angles(f"{where}, rpy", turn)], self.file)
            return pin.SE3(pin.rpy.rpyToMatrix(*turn), np.array(xyz))
        return self._pose(xyz, turn if turns[0] == "xyzw" else turn[1:] + turn[:1], where)

    def _pose(self, xyz: list[float], xyzw: list[float], where: str) -> Placement:
        norm = float(np.linalg.norm(xyzw))
        if abs(norm - 1.0) > 1e-3:  # files have few digits
            self.refuse(where, f"the quaternion has norm {norm:.4g}, it must be 1")
        return pin.XYZQUATToSE3(np.r_[xyz, np.array(xyzw) / norm])

    def handle(self, tag: Element, name: str, what: str) -> Handle:
        frame, clearance = self.frame(tag, what)
        mask, complement = (self.mask(self.one(tag, part, what, False), what) for part in ("mask", "mask_complement"))
        rows = (True,) * 6 if mask is None else mask
        return Handle(name, frame, clearance, self.approach(tag, what), rows, complement)

    def approach(self, tag: Element, what: str) -> list[float]:
        """The direction of approach: an attribute, or a tag."""
        name = "approaching_direction"
        part, attribute = self.one(tag, name, what, False), tag.get(name)
        if part is not None and attribute is not None:
            self.refuse(what, "approaching_direction must be given only once: it is given as a tag and as an attribute")
        text = ("1 0 0" if attribute is None else attribute) if part is None else part.text
        return numbers(text, self.file, f"{what}, {name if part is None else f'<{name}>'}", 3)

    def mask(self, element: Element | None, what: str) -> list[bool] | None:
        """Six truth values, as 0 and 1 or in words; None where the part is missing."""
        if element is None:
            return None
        words = (element.text or "").lower().split()
        for word in words:
            if word not in TRUTH:
                known = ", ".join(TRUTH)
                self.refuse(f"{what}, <{element.tag}>", f"'{word}' is not a truth value; expected one of {known}")
        if len(words) != 6:
            self.refuse(what, f"<{element.tag}> takes 6 truth values, found {len(words)}")
        return [TRUTH[word] for word in words]

    def surfaces(self, tag: Element, name: str, what: str) -> tuple[Surface, ...]:
        """The polygons of a contact tag."""
        link, points = self.link(tag, what), numbers(getattr(self.one(tag, "point", what), "text", ""), self.file, what)
        if len(points) % 3 or not points:
            self.refuse(what, f"<point> takes three numbers per vertex, found {len(points)}")
        vertices = np.array(points).reshape(-1, 3)
        shapes = [shape for element in tag.findall("shape") for shape in self.shapes(element, what)]
        for element in tag.findall("triangle"):
            corners = self.indices(element, what)
            if len(corners) % 3:
                self.refuse(what, f"<triangle> takes three indices each, found {len(corners)}")
            shapes += [corners[i : i + 3] for i in range(0, len(corners), 3)]
        if not shapes:
            self.refuse(what, "expected a <shape> or <triangle>, found none")
        for i in (i for shape in shapes for i in shape):
            if i >= len(vertices):
                self.refuse(what, f"vertex {i} does not exist, expected indices up to {len(vertices) - 1}")
        names = [name] if len(shapes) == 1 else [f"{name} {i}" for i in range(len(shapes))]
        return tuple(
            Surface(label, link, self.polygon(vertices[shape], label))
            for label, shape in zip(names, shapes, strict=True)
        )

    def polygon(self, points: Matrix, label: str) -> Matrix:
        """Vertices that make a polygon, repaired where they nearly do."""
        points, notes = repaired(points)
        self.repairs.extend(f"surface '{label}': {note}" for note in notes)
        return points

    def shapes(self, element: Element, what: str) -> list[list[int]]:
        """n, n indices, and again."""
        values, out = self.indices(element, what), list[list[int]]()
        while values:
            n, values = values[0], values[1:]
            if n < 3:
                self.refuse(what, f"expected shapes of at least 3 vertices, found {n}")
            if n > len(values):
                self.refuse(what, f"a shape of {n} vertices has only {len(values)} indices")
            out.append(values[:n])
            values = values[n:]
        return out

    def indices(self, element: Element, what: str) -> list[int]:
        values = numbers(element.text, self.file, f"{what}, <{element.tag}>")
        if any(value < 0 or value != int(value) for value in values):
            self.refuse(what, f"<{element.tag}> takes whole numbers from 0")
        return [int(value) for value in values]

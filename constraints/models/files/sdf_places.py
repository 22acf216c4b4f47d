"""Where an SDF file puts its links, joints and frames: poses that may refer to each other."""

from __future__ import annotations

from math import pi
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FileError, UnknownNameError
from ...robot.files.xml import numbers
from ...robot.model.pinocchio import pin


class SdfPlaces:
    """Placements in the model of everything that has a name, found on demand: each may refer to another one.

    Args:
        model: the element of the model.
        path: of its file.
        axes: the frame of axes that name none; empty for that of their joint.
    """

    def __init__(self, model: Element, path: str, axes: str = "") -> None:
        self.path, self.axes = path, axes
        self.nested = {element.get("name") for element in model if element.tag in ("model", "include")}
        self.named: dict[str, dict[str, Element]] = {}
        for tag in ("link", "joint", "frame"):
            self.named[tag] = {}
            for i, element in enumerate(model.findall(tag)):
                name = element.get("name")
                if not name:
                    raise FileError(path, f"<{tag}> number {i + 1} has no name, but it needs one")
                if any(name in others for others in self.named.values()):
                    raise FileError(path, f"two elements are named '{name}'")
                self.named[tag][name] = element
        self._known: dict[str, Any] = {"__model__": pin.SE3.Identity(), "": pin.SE3.Identity()}
        self._on: dict[str, str | None] = {}

    def of(self, name: str) -> Any:
        """Placement of a link, a joint or a frame in the model."""
        inner: dict[str, Any] = {}  # name -> placement on what follows it, as far as that is known
        while name not in self._known:
            if name in inner:
                raise FileError(self.path, f"poses refer to each other in a cycle: {', '.join([*inner, name])}")
            inner[name], name = self._relative(name)
        placement = self._known[name]
        for name in reversed(inner):
            placement = self._known[name] = placement * inner[name]
        return placement

    def _relative(self, name: str) -> tuple[Any, str]:
        """A placement, and the name of what it is relative to; an empty name is that of the model."""
        tag = next((tag for tag, elements in self.named.items() if name in elements), None)
        if tag is None:
            valid = tuple(n for elements in self.named.values() for n in elements)
            raise FileError(self.path, str(UnknownNameError("frame", name, valid)))
        element = self.named[tag][name]
        placement, relative_to = pose_of(element.find("pose"), self.path, f"pose of {tag} '{name}'")
        if relative_to is None:
            meant = {"joint": element.findtext("child", "").strip(), "frame": element.get("attached_to", "")}
            relative_to = meant.get(tag, "")
        return placement, "" if relative_to == "world" else relative_to

    def link_of(self, name: str, canonical: str) -> str | None:
        """The link on which a link, a joint or a frame is; None where it is on none."""
        passed: dict[str, None] = {}
        at: str | None = name
        while at is not None and at not in self.named["link"] and at != "world":
            if at in self._on:
                at = self._on[at]
                break
            if at in passed:
                at = None
                break
            passed[at] = None
            if at in ("", "__model__"):
                at = canonical
            elif at in self.named["frame"]:
                at = self.named["frame"][at].get("attached_to", "")
            elif at in self.named["joint"]:
                at = (self.named["joint"][at].findtext("child") or "").strip() or at
            else:
                at = None
        self._on |= dict.fromkeys(passed, at)
        return at


def pose_of(element: Element | None, path: str, what: str) -> tuple[Any, str | None]:
    """A pose, and the frame to which it says it is relative.

    Args:
        element: a `<pose>`; the identity if None.
        path: of the file.
        what: which pose, for messages.

    Raises:
        FileError: it has not six numbers, or a quaternion that is none.
    """
    if element is None:
        return pin.SE3.Identity(), None
    values = numbers(element.text, path, what)
    rotation = element.get("rotation_format", "euler_rpy")
    if rotation not in ("euler_rpy", "quat_xyzw"):
        raise FileError(path, f"{what}: {UnknownNameError('rotation_format', rotation, ('euler_rpy', 'quat_xyzw'))}")
    if rotation == "quat_xyzw" and values:
        if len(values) != 7:
            raise FileError(path, f"{what}: expected 7 numbers (x y z, quaternion x y z w), got {len(values)}")
        norm = float(np.linalg.norm(values[3:]))
        if norm == 0.0:
            raise FileError(path, f"{what}: its quaternion is zero")
        placement = pin.XYZQUATToSE3(np.array([*values[:3], *(x / norm for x in values[3:])]))
    elif len(values) == 6:
        unit = pi / 180.0 if flag(element.get("degrees"), path, f"degrees of the {what}") else 1.0
        placement = pin.SE3(pin.rpy.rpyToMatrix(*(unit * x for x in values[3:])), np.array(values[:3]))
    elif not values:
        placement = pin.SE3.Identity()
    else:
        raise FileError(path, f"{what}: expected 6 numbers (x y z roll pitch yaw), got {len(values)}")
    return placement, element.get("relative_to") or element.get("frame")


def flag(text: str | None, path: str, what: str) -> bool:
    """A truth value: 1 or true, 0 or false, in either case; false where there is none.

    Args:
        text: as written.
        path: of the file.
        what: whose, for messages.

    Raises:
        FileError: another word.
    """
    word = (text or "").strip().lower()
    if word not in ("", "0", "1", "false", "true"):
        raise FileError(path, f"{what}: expected true or false, got '{text}'")
    return word in ("1", "true")

"""What an SDF file says: links and joints with their placements in the model. No tree is built here."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf, pi
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...errors import FileError, UnknownNameError
from ...questions import asked_of_limit, say
from ...robot.files.urdf_graph import SEARCHED, refuse_larger
from ...robot.files.xml import numbers, read_xml
from ...robot.model.inertia import NO_BODY, has_possible_moments
from ...words import first_names
from ..structure.mechanism import Unread
from ..structure.tree import JointKind, JointLimits
from .sdf_places import SdfPlaces, flag, pose_of
from .sdf_words import foreign_words, without_place

_log = logging.getLogger(__package__)

JOINT_KINDS = {
    "fixed": JointKind.FIXED,
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "screw": JointKind.HELICAL,
    "universal": JointKind.UNIVERSAL,
    "revolute2": JointKind.UNIVERSAL,
    "ball": JointKind.BALL,
}
"""Types of joints that make a tree, and what each leaves free."""
_NO_LIMIT = 1e16
"""What SDF writes for no bound."""


@dataclass(frozen=True, eq=False)
class SdfLink:
    """A link: its placement in the model, mass [kg], centre of mass (3,) [m] and inertia (3, 3) in its own axes.

    A link of mass 0 has no inertia: its file's is left out.
    """

    name: str
    placement: Any
    mass: float
    com: Vector
    inertia: Matrix


@dataclass(frozen=True)
class SdfMimic:
    """The coordinate about an axis follows: multiplier (leader - reference) + offset; the axes are "axis", "axis2"."""

    axis: str
    leader: str
    leader_axis: str
    multiplier: float
    offset: float
    reference: float


@dataclass(frozen=True, eq=False)
class SdfJoint:
    """A joint at the zero of its coordinates.

    Attributes:
        name, kind, parent, child: as written.
        placement: of the joint in the model.
        axes: directions (3,) in the joint's own frame.
        limits, second_limits: of its coordinate, and of that about the second axis.
        pitch: of a screw, advance a radian [m/rad].
        reference, ratio: of a gearbox.
        mimics: the tags of both axes.
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Any
    axes: tuple[Vector, ...]
    limits: JointLimits
    pitch: float
    reference: str
    ratio: float
    second_limits: JointLimits
    mimics: tuple[SdfMimic, ...]

    @property
    def freedoms(self) -> int:
        """How many it has, as a joint of a tree."""
        return JOINT_KINDS[self.kind].freedoms


@dataclass(frozen=True, eq=False)
class SdfModel:
    """One model of an SDF file.

    Attributes:
        name, path: of the model, and of its file.
        placement: in the world.
        is_static: fixed to the world.
        canonical: name of its main link.
        links, joints: by name, in the order of the file.
        frames: (name of the link that it is on, placement in the model), by name.
        unread: what was left out.
        gravity: of the world that the model is in (3,) [m/s2]; None where the file gives none.
    """

    name: str
    path: str
    placement: Any
    is_static: bool
    canonical: str
    links: dict[str, SdfLink]
    joints: dict[str, SdfJoint]
    frames: dict[str, tuple[str, Any]]
    unread: list[Unread] = field(default_factory=list[Unread])
    gravity: Vector | None = None


def read_sdf(source: str | os.PathLike[str], packages: Iterable[str | os.PathLike[str]] = ()) -> SdfModel:
    """Read the first model of an SDF file (1.4 to 1.12; of other versions what means the same there).

    Args:
        source: path, `package://` address, or the XML text itself.
        packages: folders in which packages are looked for.

    Raises:
        FileError: the file is missing, is no SDF with a model, or has numbers that are none; the message says which.
    """
    root, path = read_xml(source, "sdf", "SDF", packages)
    models = [*root.findall("model"), *root.findall("world/model")]
    if not models:
        raise FileError(path, "has no <model>")
    model = models[0]
    places = SdfPlaces(model, path, "__model__" if _has_old_axes(root) else "")
    refuse_larger(path, links=sum(len(places.named[tag]) for tag in ("link", "frame")))
    links = {name: _link(places, name, element) for name, element in places.named["link"].items()}
    if not links:
        raise FileError(path, f"model '{model.get('name')}' has no link")
    massless = [link.name for link in links.values() if not link.mass]
    impossible = [link.name for link in links.values() if link.mass and not has_possible_moments(link.inertia)]
    untold = [name for name, element in places.named["link"].items() if element.find("inertial/mass") is None]
    for names, words in (
        (massless, "these links have mass 0, which affects only dynamics and centres of mass"),
        (impossible, f"the inertias of these links are those of no body, {NO_BODY}"),
        (untold, "these links have no <mass> in an <inertial>, so that each has 1 kg, as SDF says"),
    ):
        if names:
            _log.warning("%s: %s: %s", path, words, first_names(names))
    say(_log, _asked_of_limits(model), path)
    canonical = model.get("canonical_link") or next(iter(links))
    if canonical not in links:
        raise FileError(path, str(UnknownNameError("link", canonical, tuple(links))))
    unread = [Unread(f"model '{m.get('name')}'", "only the first model of a file is built") for m in models[1:]]
    for include in [*root.iter("include")]:
        unread.append(Unread(f"include of '{include.findtext('uri', '').strip()}'", "other files are not read"))
    for joint in root.findall("world/joint"):
        unread.append(Unread(f"joint '{joint.get('name')}' of the world", "only the first model of a file is built"))
    unread += _of_version(root)
    unread += foreign_words(model)
    unread += without_place(model)
    joints: dict[str, SdfJoint] = {}
    for name, element in places.named["joint"].items():
        read = _joint(places, name, element, links, canonical, unread)
        if read is not None:
            joints[name] = read
    frames: dict[str, tuple[str, Any]] = {}
    for name in places.named["frame"]:
        link = places.link_of(name, canonical)
        if link is None:
            unread.append(Unread(f"frame '{name}'", "it is attached to no link", is_mistake=True))
        else:
            frames[name] = (link, places.of(name))
    placement, relative_to = pose_of(model.find("pose"), path, "pose of the model")
    if relative_to not in (None, "world"):
        unread.append(Unread(f"pose of the model relative to '{relative_to}'", "it is read as a pose in the world"))
    placement = placement * places.of(model.get("placement_frame", "")).inverse()
    is_static = flag(model.findtext("static"), path, "static of the model")
    name = model.get("name") or "mechanism"
    gravity = _gravity(root, model, path)
    return SdfModel(name, path, placement, is_static, canonical, links, joints, frames, unread, gravity)


def _gravity(root: Element, model: Element, path: str) -> Vector | None:
    """Gravity of the world of a model, if it is in one that says it."""
    world = next((world for world in root.findall("world") if model in list(world)), None)
    text = None if world is None else world.findtext("gravity")
    return None if text is None else np.array(numbers(text, path, "gravity of the world", 3))


OLDEST, NEWEST = [1, 4], [1, 12]
"""Versions of SDF that are read."""


def _version(root: Element) -> list[int] | None:
    """The version of a file; None where it is none."""
    parts = [part.strip() for part in root.get("version", "").split(".")]
    return [int(part) for part in parts] if all(part.isdecimal() and len(part) < 4 for part in parts) else None


def _of_version(root: Element) -> list[Unread]:
    """What is said of a version that is not one of those that are read."""
    text, version = root.get("version"), _version(root)
    span = f"versions {'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))} are known"
    if version is not None and OLDEST <= version <= NEWEST:
        return []
    if text is None:
        return [Unread("version of SDF", f"the file gives none: it is read as {NEWEST[0]}.{NEWEST[1]}")]
    if version is None:
        return [Unread(f"version '{text}' of SDF", f"it is none; {span}", is_mistake=True)]
    return [Unread(f"version {text} of SDF", f"{span}: what has changed since, or before, is not read")]


def _has_old_axes(root: Element) -> bool:
    """Whether axes are in the frame of the model: up to version 1.4; since then in that of the joint."""
    version = _version(root)
    return version is not None and version <= OLDEST


def _number(
    element: Element | None, tag: str, default: float, path: str, what: str, *, may_be_infinite: bool = False
) -> float:
    text = None if element is None else element.findtext(tag)
    if text is None or not text.strip():
        return default
    if may_be_infinite and text.strip().lower().lstrip("+-") in ("inf", "infinity"):
        return -inf if text.strip().startswith("-") else inf
    return numbers(text, path, f"{tag} of {what}", 1)[0]


def _link(places: SdfPlaces, name: str, element: Element) -> SdfLink:
    what, path, inertial = f"link '{name}'", places.path, element.find("inertial")
    mass = _number(inertial, "mass", 1.0, path, what)
    if mass < 0.0:
        raise FileError(path, f"{what}: its mass must not be negative, got {mass:g}")
    inner = pose_of(None if inertial is None else inertial.find("pose"), path, f"inertial pose of {what}")[0]
    tensor = None if inertial is None else inertial.find("inertia")
    xx, yy, zz = (_number(tensor, tag, 1.0, path, what) for tag in ("ixx", "iyy", "izz"))
    xy, xz, yz = (_number(tensor, tag, 0.0, path, what) for tag in ("ixy", "ixz", "iyz"))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass and np.linalg.eigvalsh(inertia)[0] < 0.0:
        raise FileError(path, f"{what}: its inertia must not be negative about any axis")
    R = inner.rotation
    return SdfLink(name, places.of(name), mass, np.array(inner.translation), R @ inertia @ R.T)


def _asked_of_limits(model: Element) -> Iterator[str]:
    for joint in model.findall("joint"):
        for axis in ("axis", "axis2") if joint.get("type") in ("revolute", "universal") else ():
            sides = (joint.findtext(f"{axis}/limit/{side}", "0") for side in ("lower", "upper"))
            with suppress(ValueError):  # said where it is read
                yield asked_of_limit(str(joint.get("name")), *map(float, sides))


def _joint(
    places: SdfPlaces, name: str, element: Element, links: dict[str, SdfLink], canonical: str, unread: list[Unread]
) -> SdfJoint | None:
    what, path, kind = f"joint '{name}'", places.path, (element.get("type") or "").strip()
    ends = [(element.findtext(tag) or "").strip() for tag in ("parent", "child")]
    ends = [(places.link_of(end, canonical) if end in places.named["frame"] else None) or end for end in ends]
    reference = (element.findtext("gearbox_reference_body") or "").strip()
    if kind not in (*JOINT_KINDS, "gearbox"):
        reason = str(UnknownNameError("type of joint", kind, (*JOINT_KINDS, "gearbox")))
        unread.append(Unread(what, reason, is_mistake=True))
        return None
    told = {"parent": ends[0], "child": ends[1]} | ({"gearbox_reference_body": reference} if kind == "gearbox" else {})
    for tag, link in told.items():
        if not link:
            unread.append(Unread(what, f"it has no <{tag}>, which must name a link", is_mistake=True))
            return None
        if link not in links and link != "world":
            nested = link.split("::")[0] in places.nested
            search = not nested and len(unread) < SEARCHED
            known = str(UnknownNameError("link", link, (*links, "world") if search else (), search=search))
            reason = "a link of a nested model, which is not built" if nested else known
            unread.append(Unread(what, reason, is_mistake=not nested))
            return None
    if ends[1] == "world" or ends[0] == ends[1]:
        unread.append(Unread(what, "it joins a link to itself, or its child is the world", is_mistake=True))
        return None
    unread += _words_without_place(what, kind, element)
    tags = ("axis", "axis2") if kind in ("universal", "revolute2", "gearbox") else ("axis",)
    for tag in tags:
        if kind not in ("fixed", "ball") and element.find(tag) is None:
            unread.append(Unread(f"{tag} of {what}", "the file gives none: z of the joint is used"))
    axes = tuple(_axis(places, name, element.find(tag), tag) for tag in tags)
    # screw_thread_pitch: metres a turn, right-handed; the older thread_pitch: radians a metre, left-handed.
    turn, old = (_number(element, tag, 0.0, path, what) for tag in ("screw_thread_pitch", "thread_pitch"))
    pitch = turn / (2.0 * pi) if turn else (-1.0 / old if old else 0.0)
    if kind == "screw" and not pitch:
        given = any((element.findtext(tag) or "").strip() for tag in ("screw_thread_pitch", "thread_pitch"))
        pitch = 0.0 if given else 1.0 / (2.0 * pi)
        used = "0 makes it a revolute joint" if given else "the file gives none: 1 m a turn is used, as SDF says"
        unread.append(Unread(f"pitch of {what}", used))
    ratio = _number(element, "gearbox_ratio", 1.0, path, what)
    first, second = (_limits(element.find(tag), kind, path, what) for tag in ("axis", "axis2"))
    mimics = tuple(_mimic(element.find(f"{tag}/mimic"), tag, path, what) for tag in ("axis", "axis2"))
    return SdfJoint(
        name, kind, ends[0], ends[1], places.of(name), axes, first, pitch, reference, ratio, second,
        tuple(mimic for mimic in mimics if mimic is not None),
    )  # fmt: skip


def _words_without_place(what: str, kind: str, element: Element) -> Iterator[Unread]:
    """What a joint of this type has no place for."""
    if element.find("axis2") is not None and kind not in ("universal", "revolute2", "gearbox"):
        yield Unread(f"axis2 of {what}", f"a {kind} joint has no second axis")
    bounds = (element.find(f"axis/limit/{side}") for side in ("lower", "upper"))
    if kind == "continuous" and any(bound is not None for bound in bounds):
        yield Unread(f"bounds of {what}", "a continuous joint has no bounds")


def _limits(axis: Element | None, kind: str, path: str, what: str) -> JointLimits:
    """Bounds and the like about one axis."""
    limit, dynamics = (None, None) if axis is None else (axis.find("limit"), axis.find("dynamics"))
    lower, upper, effort, velocity = (
        _number(limit, tag, default, path, what, may_be_infinite=True)
        for tag, default in (("lower", -inf), ("upper", inf), ("effort", -1.0), ("velocity", -1.0))
    )
    bounded = kind != "continuous" and lower <= upper
    if lower > upper:
        words = "so it has no bounds"
        _log.warning("%s: %s has a lower limit above the upper one, %s: [%g, %g]", path, what, words, lower, upper)
    return JointLimits(
        lower if bounded and lower > -_NO_LIMIT else -inf,
        upper if bounded and upper < _NO_LIMIT else inf,
        effort if effort >= 0.0 else inf,
        velocity if velocity >= 0.0 else inf,
        _number(dynamics, "damping", 0.0, path, what),
        _number(dynamics, "friction", 0.0, path, what),
        stiffness=_number(dynamics, "spring_stiffness", 0.0, path, what),
        rest=_number(dynamics, "spring_reference", 0.0, path, what),
    )


def _mimic(tag: Element | None, axis: str, path: str, what: str) -> SdfMimic | None:
    if tag is None:
        return None
    multiplier, offset, reference = (
        _number(tag, part, default, path, f"mimic of {what}")
        for part, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
    )
    return SdfMimic(axis, tag.get("joint", ""), tag.get("axis", "axis"), multiplier, offset, reference)


def _axis(places: SdfPlaces, name: str, axis: Element | None, tag: str) -> Vector:
    """Direction of an axis in the frame of its joint."""
    what, path = f"{tag} of joint '{name}'", places.path
    xyz = None if axis is None else axis.find("xyz")
    direction = np.array(numbers("0 0 1" if xyz is None else xyz.text, path, what))
    if direction.shape != (3,) or not direction.any():
        raise FileError(path, f"{what}: expected a direction, got '{'' if xyz is None else xyz.text}'")
    inside = "" if xyz is None else xyz.get("expressed_in", "")
    asked = "" if axis is None else (axis.findtext("use_parent_model_frame") or "").strip()
    if flag(asked, path, f"use_parent_model_frame of {what}"):
        inside = "__model__"
    elif not inside and not asked and xyz is not None:
        inside = places.axes
    if inside:
        oRj = places.of(name).rotation
        direction = oRj.T @ (places.of("__model__" if inside == "world" else inside).rotation @ direction)
    return direction / np.sqrt(direction @ direction)

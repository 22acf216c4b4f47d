"""What an SRDF file says of a robot: reference postures, and pairs of links whose collisions do not count."""

from __future__ import annotations

import logging
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from liegroups.arrays import Vector
from liegroups.errors import UnknownNameError, nearest_names

from ..errors import FileError
from ..words import first_names
from .configuration import joint_value
from .files.disabled_collisions import DisabledCollision, link_names
from .files.xml import in_file, numbers, read_xml
from .space import RobotSpace

_log = logging.getLogger(__package__)

SRDF_TAGS = (
    *("group", "group_state", "end_effector", "virtual_joint", "passive_joint", "chain", "joint_property"),
    *("disable_collisions", "enable_collisions", "disable_default_collisions", "link_sphere_approximation"),
)
"""Tags of the SRDF standard."""
MANIPULATION_TAGS = ("gripper", "handle", "contact")
"""Tags of hpp-manipulation."""
LIKENESS = 0.75
"""Of a tag to one that is read, from which it is taken for a misspelt one."""


class RobotSemantics(NamedTuple):
    """What an SRDF file says of a robot.

    Attributes:
        references: reference postures (nq,) by name.
        disabled_collisions: pairs of links whose collisions do not count.
    """

    references: dict[str, Vector]
    disabled_collisions: tuple[DisabledCollision, ...]


def read_srdf(
    source: str | os.PathLike[str], space: RobotSpace, packages: Iterable[str | os.PathLike[str]] = ()
) -> RobotSemantics:
    """Read the reference postures (`group_state`) and the disabled collisions of an SRDF file.

    Each posture starts from the neutral configuration. States of one name that belong to different groups make one
    posture; where both give a joint the later one counts, and the log says so. Pairs of links are those of
    `disable_collisions`, and all pairs of a link of `disable_default_collisions` that no `enable_collisions` names.
    Joints and links that the robot does not have are named in the log and left out, since an SRDF often describes more
    than the model at hand (a root joint, hands). Groups and end effectors of the file are not read.

    Args:
        source: path, `package://` address, or the XML text itself.
        space: space of the robot.
        packages: folders in which packages are looked for.

    Raises:
        FileError: the file cannot be read whole, a tag is misspelt, a value does not suit its joint, or a pair lacks a
            link.
    """
    root, name = read_xml(source, "robot", "SRDF", packages)
    for tag in dict.fromkeys(element.tag for element in root):
        refuse_misspelt(tag, (*SRDF_TAGS, *MANIPULATION_TAGS), name)
    return RobotSemantics(_references(root, name, space), _disabled(root, name, link_names(space.model)))


def refuse_misspelt(tag: str, known: Collection[str], file: str, where: str = "") -> None:
    """Refuse a tag whose name is nearly that of one that would be read.

    Args:
        tag: its name.
        known: names of tags that are read.
        file: in the message, with `where` in it.

    Raises:
        FileError: names the tag and the nearest one.
    """
    near = [] if tag in known else nearest_names(tag.lower(), tuple(known), cutoff=LIKENESS)
    if near:
        raise FileError(file, f"{where}<{tag}> is not understood; expected <{near[0]}>?")


def _disabled(root: ElementTree.Element, name: str, links: tuple[str, ...]) -> tuple[DisabledCollision, ...]:
    """Pairs of links of the robot whose collisions do not count, each once."""
    known, unknown = frozenset(links), dict[str, None]()
    pairs: dict[frozenset[str], DisabledCollision] = {}
    left = 0
    for element in root.iter("disable_collisions"):
        a, b = _links(element, name, "link1", "link2")
        missing = [link for link in (a, b) if link not in known]
        unknown |= dict.fromkeys(missing)
        left += bool(missing)
        if not missing:
            pairs.setdefault(frozenset((a, b)), DisabledCollision(a, b, element.get("reason", "")))
    enabled = {frozenset(_links(element, name, "link1", "link2")) for element in root.iter("enable_collisions")}
    alone = [_links(element, name, "link")[0] for element in root.iter("disable_default_collisions")]
    for a in dict.fromkeys(alone):
        if a not in known:
            unknown[a] = None
            left += 1
            continue
        for b in links:
            pair = frozenset((a, b))
            if a != b and pair not in enabled:
                pairs.setdefault(pair, DisabledCollision(a, b, "disabled by default"))
    if unknown:
        first = UnknownNameError("link", next(iter(unknown)), links)
        _log.warning("%s: the robot has no link %s: %d tags of disabled collisions ignored (%s)",
                     name, first_names([*unknown]), left, first)  # fmt: skip
    return tuple(pairs.values())


def _links(element: ElementTree.Element, name: str, *attributes: str) -> tuple[str, ...]:
    """The links that a tag names."""
    found = tuple(element.get(attribute, "") for attribute in attributes)
    for attribute, link in zip(attributes, found, strict=True):
        if not link:
            written = ", ".join(f"{key}='{value}'" for key, value in element.attrib.items()) or "nothing"
            raise FileError(name, f"<{element.tag}> needs the attribute '{attribute}', the name of a link; "
                                  f"it has {written}")  # fmt: skip
    return found


def _references(root: ElementTree.Element, name: str, space: RobotSpace) -> dict[str, Vector]:
    """The reference postures."""
    factors = {factor.name: factor for factor in space.factors}
    postures: dict[str, Vector] = {}
    stated: dict[str, dict[str, list[float]]] = {}
    unknown: dict[str, None] = {}
    for state in root.iter("group_state"):
        posture = state.get("name")
        if not posture:
            raise FileError(name, "a group_state has no name, but it needs one")
        q = postures.setdefault(posture, np.array(space.neutral))
        for element in state.iter("joint"):
            joint = element.get("name")
            what = f"group_state '{posture}', joint '{joint}'"
            value = numbers(element.get("value"), name, what)
            if joint is None or not value:
                raise FileError(name, f"{what}: a joint needs a name and a value")
            if joint not in factors:
                unknown[joint] = None
                continue
            if stated.setdefault(posture, {}).setdefault(joint, value) != value:
                _log.warning("%s: group_state '%s' is given twice with different values of joint '%s': the later value "
                             "counts", name, posture, joint)  # fmt: skip
            factor = factors[joint]
            with in_file(name):
                q[factor.q] = joint_value(factor.space, value[0] if len(value) == 1 else value, what)
    if unknown:
        _log.warning("%s: the robot has no joint %s: ignored in the reference postures", name, first_names([*unknown]))
    return postures

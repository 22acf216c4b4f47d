"""Robots from URDF files: the kinematic tree only, no geometry."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np

from ...errors import FileError
from ...questions import asked_of_angles, asked_of_limit, say
from ...words import first_names
from ..model.inertia import NO_BODY, has_possible_moments
from ..model.mimic import Mimic
from ..model.pinocchio import Model, pin
from .base import FREE_ROBOTS, Base, as_base
from .questions import asked_of_model
from .urdf_graph import JOINT_FREEDOMS, check_is_tree, misspelt, refuse_larger, refuse_long_chains
from .xml import numbers, read_xml

_log = logging.getLogger(__package__)
_stderr = threading.Lock()


def read_urdf(
    source: str | os.PathLike[str], packages: Iterable[str | os.PathLike[str]] = (), base: Base = Base.FIXED
) -> tuple[Model, tuple[Mimic, ...]]:
    """The model of a URDF file and its mimic tags.

    Joints with a mimic tag are joints like the others; the log says that the tags are not enforced, and which of them
    follow no joint that moves (these are left out of the list).

    A `<limit>` without `lower` and `upper`, or with crossed ones, gives no bounds (see `_set_bounds`); the log says so.

    Args:
        source: path, `package://` address, or the XML text itself.
        packages: folders in which packages are looked for.
        base: how the root is attached to the world.

    Raises:
        FileError: the file is missing, is no tree, or cannot be read whole; the reason says what is wrong with it.
        WrongObjectError: the base is no `Base`.
    """
    root, name = read_xml(source, "robot", "URDF", packages)
    check_is_tree(root, name)
    for slip in misspelt(root):
        _log.warning("%s: %s", name, slip)
    return urdf_model(root, name, base)


def urdf_model(root: ElementTree.Element, name: str, base: Base = Base.FIXED) -> tuple[Model, tuple[Mimic, ...]]:
    """The model of a URDF that was read, and its mimic tags.

    Args:
        root: the outermost element of a URDF whose joints make a tree (`urdf_graph`).
        name: how messages call the file.
        base: how the root is attached to the world.

    Raises:
        FileError: the file cannot be read whole; the reason says what is wrong with it.
        WrongObjectError: the base is no `Base`.
    """
    attach: dict[Base, tuple[Any, ...]] = {
        Base.FIXED: (),
        Base.FREE_FLYER: (pin.JointModelFreeFlyer(),),
        Base.PLANAR: (pin.JointModelPlanar(),),
    }
    root_joint = attach[as_base(base)]
    _check(root, name)
    refuse_long_chains(root, name)
    refuse_larger(name, freedoms=sum(JOINT_FREEDOMS.get(j.get("type", ""), 0) for j in root.findall("joint")))
    text = ElementTree.tostring(root, encoding="unicode")
    said: list[str] = []
    with captured_stderr(said):
        try:
            model: Model | None = pin.buildModelFromXML(text, *root_joint)
        except Exception as error:
            model = None
            said.append(str(error))
    if model is None:
        raise FileError(name, "; ".join(said))
    for line in said:
        _log.warning("%s: %s", name, line)
    _check_finite(model, name)
    _set_bounds(root, name, model)
    say(_log, [*_asked_of_limits(root), *_asked_of_origins(root), *asked_of_model(model)], name)
    if not model.nv:
        _log.warning("%s: nothing moves: all its joints are fixed; %s", name, FREE_ROBOTS)
    return model, _mimics(root, name, model)


def _set_bounds(root: ElementTree.Element, name: str, model: Model) -> None:
    """The bounds of revolute and prismatic joints, where pinocchio reads the text of a URDF to the letter.

    To the letter, a `lower` or `upper` that is absent is 0, and crossed ones are bounds. Here neither attribute means
    no bounds, since [0, 0] would freeze the joint; so do crossed ones, as in Bullet (they are never swapped). One
    attribute alone: the other is 0. The log names the joints.
    """
    names, said = {str(joint): i for i, joint in enumerate(model.names)}, defaultdict[str, list[str]](list)
    for element in root.findall("joint"):
        limit, joint = element.find("limit"), str(element.get("name"))
        if limit is None or joint not in names:
            continue
        sides = [side for side in ("lower", "upper") if limit.get(side) is not None]
        if element.get("type") not in ("revolute", "prismatic"):
            if sides:
                said["are of a type without bounds, so their lower and upper are ignored"].append(joint)
            continue
        i = int(model.joints[names[joint]].idx_q)
        lower, upper = float(model.lowerPositionLimit[i]), float(model.upperPositionLimit[i])
        interval = f"{joint} [{lower:.6g}, {upper:.6g}]"
        if not sides:
            said["have a <limit> without lower and upper, so they have no bounds"].append(joint)
        elif lower > upper:
            said["have a lower limit above the upper one, so they have no bounds"].append(interval)
        elif len(sides) == 1:
            said["have only one of lower and upper; the other is 0, as URDF defines"].append(interval)
        if not sides or lower > upper:
            model.lowerPositionLimit[i], model.upperPositionLimit[i] = -np.inf, np.inf
    for words, joints in said.items():
        _log.warning("%s: these joints %s: %s", name, words, first_names(joints))


def _asked_of_limits(root: ElementTree.Element) -> Iterator[str]:
    """Limits of revolute joints of more turns than there are."""
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        if limit is None or joint.get("type") != "revolute":
            continue
        yield asked_of_limit(str(joint.get("name")), *(float(limit.get(side, "0")) for side in ("lower", "upper")))


def _asked_of_origins(root: ElementTree.Element) -> Iterator[str]:
    """Angles of origins of more than a whole turn."""
    for part in root:
        for origin in part.iter("origin"):
            try:
                angles = [float(word) for word in origin.get("rpy", "").split()]
            except ValueError:  # of a link, which is read elsewhere
                continue
            yield asked_of_angles(f"rpy of an origin of {part.tag} '{part.get('name')}'", angles)


def _check(root: ElementTree.Element, name: str) -> None:
    """Refuse what the parsers downstream would read as something else."""
    for joint in root.findall("joint"):
        what, kind, axis = f"joint '{joint.get('name')}'", joint.get("type"), joint.find("axis")
        if axis is not None and kind in ("revolute", "continuous", "prismatic", "planar"):
            xyz = numbers(axis.get("xyz"), name, f"{what}, axis")
            if len(xyz) != 3 or not any(xyz):
                raise FileError(name, f"{what}: its axis '{axis.get('xyz')}' is not a direction")
            if kind == "planar" and any(xyz[:2]):
                _log.warning("%s: planar %s: its axis is not z, but pinocchio moves it in its x-y plane", name, what)
        for tag, attributes in (("limit", ("lower", "upper")), ("origin", ("xyz", "rpy"))):
            element = joint.find(tag)
            if element is None:
                continue
            for attribute in attributes:
                numbers(element.get(attribute), name, f"{what}, {attribute} of its {tag}")


def _check_finite(model: Model, name: str) -> None:
    """Refuse a model with a placement or an inertia that is not finite; say where no body has that mass or inertia.

    Of any body the largest principal moment is at most the sum of the other two.
    """
    impossible: list[str] = []
    for i, joint in enumerate(model.names):
        if not np.isfinite(model.jointPlacements[i].homogeneous).all():
            raise FileError(name, f"the placement of joint '{joint}' is not finite")
        if not np.isfinite(model.inertias[i].matrix()).all():
            raise FileError(name, f"the inertia carried by joint '{joint}' is not finite")
        if model.inertias[i].mass < 0.0:
            _log.warning("%s: the mass carried by joint '%s' is negative, %g", name, joint, model.inertias[i].mass)
        if i and not has_possible_moments(model.inertias[i].inertia):
            impossible.append(str(joint))
    if impossible:
        _log.warning("%s: the inertias carried by these joints are those of no body, %s: %s",
                     name, NO_BODY, first_names(impossible))  # fmt: skip


def _mimics(root: ElementTree.Element, name: str, model: Model) -> tuple[Mimic, ...]:
    """The mimic tags of the joints that move."""
    joints = set(model.names)
    mimics: list[Mimic] = []
    for element in root.findall("joint"):
        tag, joint = element.find("mimic"), element.get("name")
        if tag is None or joint not in joints:
            continue
        source = tag.get("joint")
        if source not in joints:
            _log.warning("%s: joint '%s' mimics '%s', which is not a joint that moves: ignored", name, joint, source)
            continue
        if source == joint:
            raise FileError(name, f"joint '{joint}' mimics itself")
        (multiplier,), (offset,) = (
            numbers(tag.get(key, default), name, f"joint '{joint}', {key} of its mimic", 1)
            for key, default in (("multiplier", "1"), ("offset", "0"))
        )
        mimics.append(Mimic(joint, source, multiplier, offset))
    if mimics:
        names = ", ".join(mimic.joint for mimic in mimics)
        _log.info("%s: mimic tags are not enforced, these joints are independent: %s", name, names)
    return tuple(mimics)


@contextlib.contextmanager
def captured_stderr(lines: list[str]) -> Generator[None]:
    """Append what compiled code writes to the standard error stream to `lines`, where it can be redirected.

    The URDF parser says there, and only there, what is wrong with a file.
    """
    with _stderr, contextlib.ExitStack() as stack:
        try:
            saved = os.dup(2)
        except OSError:  # no such stream
            yield
            return
        stack.callback(os.close, saved)
        sink = stack.enter_context(tempfile.TemporaryFile())
        if sys.stderr is not None:
            sys.stderr.flush()
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            sink.seek(0)
            heard = sink.read().decode(errors="replace").splitlines()
            lines[:0] = [line.removeprefix("Error:").strip() for line in heard if " at line " not in line and line]

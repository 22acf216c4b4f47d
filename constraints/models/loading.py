"""Loading a mechanism from a file of any known kind."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from liegroups.arguments import as_flag

from ..errors import FileError, OptionError
from ..linear_algebra import RANK_TOLERANCE
from ..loops.odd_axis import near_parallels, odd_axis, on_one_line
from ..robot import Base
from ..robot.files.packages import robot_data_folder
from ..robot.files.urdf_graph import listed
from ..robot.files.xml import read_xml
from ..words import counted
from . import mechanisms
from .files.mjcf import mechanism_from_mjcf
from .files.sdf import mechanism_from_sdf
from .files.urdf import mechanism_from_urdf
from .installed import installed_robots
from .structure.mechanism import LOOSE, Mechanism

KINDS = {"robot": "URDF", "mujoco": "MJCF", "sdf": "SDF"}
"""Outermost element -> kind of file."""
LOOPS_OF = {
    "MJCF": "the loops of an MJCF are its <equality> elements",
    "SDF": "the loops of an SDF are joints of the file",
}
_READERS: dict[str, tuple[Callable[..., Mechanism], tuple[str, ...]]] = {
    "URDF": (mechanism_from_urdf, ("loops", "base", "cut")),
    "MJCF": (mechanism_from_mjcf, ("inactive",)),
    "SDF": (mechanism_from_sdf, ("base", "cut")),
}
"""What reads each kind, and its options."""
_log = logging.getLogger(__package__)


def load(
    path: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    *,
    base: Base | None = None,
    cut: Sequence[str] = (),
    inactive: bool = False,
    packages: Iterable[str | os.PathLike[str]] = (),
    strict: bool = True,
) -> Mechanism:
    """A mechanism from a URDF (with a loop sidecar), an MJCF or an SDF file; the outermost element decides which.

    Nothing that connects bodies or joints is ignored silently: `mechanism.unread` lists what could not be built, with
    the reason. Geometry, contacts, sensors and the dynamics of drives are not read. Mistakes in the file are errors:
    unknown names, types and keys, with the closest valid ones.

    Args:
        path: path, `package://` address, or the XML text itself.
        loops: for a URDF, its sidecar; by default the YAML file next to it with the same stem (`mechanism_from_urdf`).
        base: how the root of a URDF or SDF is attached to the world; by default a URDF is fixed, and an SDF file
            decides itself.
        cut: for a URDF or SDF with loops, joints to cut before the rule decides (`mechanism_from_sdf`).
        inactive: for an MJCF, build equalities that are switched off too (`mechanism_from_mjcf`).
        packages: folders in which packages are searched.
        strict: False loads as much as possible of a file with mistakes; these are in `unread`, with `is_mistake`.

    Raises:
        FileError: the file is missing, of an unknown kind, has mistakes, or cannot be read; the message says why.
        OptionError: an option that this kind of file does not accept.
        UnknownJointError: a joint to cut that the file does not have.
        MissingExtraError: mujoco or pyyaml is not installed.

    Example:
        >>> text = "<sdf><model name='door'><link name='leaf'/></model></sdf>"
        >>> load(text).robot.joint_names
        ('root_joint',)
    """
    packages = tuple(packages)
    as_flag(inactive, "inactive")
    as_flag(strict, "strict")
    kind = _kind(path, packages)
    read, takes = _READERS[kind]
    options = {"loops": loops, "base": base, "cut": cut or None, "inactive": inactive or None}
    asked: dict[str, Any] = {option: value for option, value in options.items() if value is not None}
    for option in asked:
        if option not in takes:
            why = f"; {LOOPS_OF[kind]}" if option == "loops" else ""
            raise OptionError(f"option '{option}' is given, but {kind} files accept only {' and '.join(takes)}{why}")
    mechanism = read(path, packages=packages, **asked)
    if strict:
        _refuse_mistakes(path, kind, mechanism)
    for joint in mechanism.cut:
        if joint in mechanism.loose:
            _log.warning("%s: joint '%s' %s", mechanism.name, joint, LOOSE)
            continue
        _log.info("%s: joint '%s' closes a loop: it is cut and becomes a closure", mechanism.name, joint)
    for words in on_one_line(mechanism.closures):
        _log.info("%s: %s", mechanism.name, words)
    nearly = near_parallels(mechanism.closures)
    for words in () if nearly else map(partial(odd_axis, q=mechanism.robot.neutral), mechanism.closures):
        if words:
            _log.warning("%s: %s: it cannot turn", mechanism.name, words)
    for near in nearly:
        if near.angle <= RANK_TOLERANCE:
            _log.info("%s: %s, and taken as parallel", mechanism.name, near)
        else:
            _log.warning("%s: %s: the loop may not move; are these the digits of the file?", mechanism.name, near)
    if mechanism.laws:
        words = "(springs and dampers of the file) act where forces=mechanism.forces() is given to dynamics"
        _log.info("%s: %s %s", mechanism.name, counted(len(mechanism.laws), "law"), words)
    return mechanism


def _refuse_mistakes(path: str | os.PathLike[str], kind: str, mechanism: Mechanism) -> None:
    mistakes = [str(entry) for entry in mechanism.unread if entry.is_mistake]
    if mistakes:
        text = os.fspath(path)
        name = f"{kind} text" if text.lstrip().startswith("<") else text
        remedy = (
            "strict=False, or --lenient on the command line, loads as much as possible and lists the rest in `unread`"
        )
        raise FileError(name, f"{listed(mistakes)} ({remedy})")


def _kind(path: str | os.PathLike[str], packages: tuple[Any, ...]) -> str:
    """The kind of a file, by its outermost element."""
    try:
        element, name = read_xml(path, None, "model", packages, again=True)
    except FileError as error:
        text = os.fspath(path)
        if "valid XML" in error.reason and text.endswith((".yaml", ".yml")):
            raise FileError(
                error.path, "is a YAML file: load a sidecar together with its URDF, load(urdf, loops=...)"
            ) from None
        if "no such file" in error.reason:
            raise FileError(error.path, f"{error.reason}{_hint(text)}") from None
        if "valid XML" in error.reason:
            raise FileError(error.path, f"{error.reason}; load reads {', '.join(KINDS.values())}") from None
        raise
    if element.tag not in KINDS:
        raise FileError(name, f"its outermost element is <{element.tag}>: expected one of {', '.join(KINDS)}")
    return KINDS[element.tag]


def _hint(name: str) -> str:
    """What to do with a name that is no path, where something else has it."""
    if callable(getattr(mechanisms, name, None)):
        return f"; the built-in mechanism is constraints.models.mechanisms.{name}()"
    robots = {} if robot_data_folder() is None else installed_robots()
    if name in robots:
        return f"; the installed robot is load(installed_robots()['{name}'][0])"
    return ""

"""Loading a mechanism from a file of any known kind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from liegroups.doors import as_flag

from ..errors import FileError, OptionError
from ..robot import Base
from ..robot.markup import read_xml
from .mechanism import Mechanism
from .mjcf import mechanism_from_mjcf
from .sdf import mechanism_from_sdf
from .urdf import mechanism_from_urdf

__all__ = ["load"]

KINDS = {"robot": "URDF", "mujoco": "MJCF", "sdf": "SDF"}
"""Outermost element -> kind of file."""


def load(
    path: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    *,
    base: Base | None = None,
    cut: Sequence[str] = (),
    inactive: bool = False,
    packages: Iterable[str | os.PathLike[str]] = (),
) -> Mechanism:
    """A mechanism from a URDF (with a loop sidecar), an MJCF or an SDF file, told apart by their outermost element.

    Nothing that joins bodies or joints is lost in silence: what could not be built stands in `mechanism.unread` with
    the reason. Geometry, contacts, sensors and the dynamics of drives are not looked at.

    Args:
        path: path, `package://` address, or the XML text itself.
        loops: for a URDF, its sidecar; by default the YAML file of the same stem beside it (`mechanism_from_urdf`).
        base: how the root of a URDF or SDF is attached to the world; by default a URDF is fixed, and an SDF says
            itself.
        cut: for an SDF, joints to cut before the rule decides (`mechanism_from_sdf`).
        inactive: for an MJCF, build equalities that are switched off too (`mechanism_from_mjcf`).
        packages: folders in which packages are looked for.

    Raises:
        FileError: the file is missing, of no known kind, or cannot be read whole; the message says why.
        OptionError: an option that the kind of file does not take.
        UnknownJointError: a joint to cut that the file does not have.
        MissingExtraError: mujoco or pyyaml is not installed.

    Example:
        >>> text = "<sdf><model name='door'><link name='leaf'/></model></sdf>"
        >>> load(text).robot.joint_names
        ('root_joint',)
    """
    packages = tuple(packages)
    kind = _kind(path, packages)
    as_flag(inactive, "inactive")
    given = {"loops": loops is not None, "base": base is not None, "cut": bool(cut), "inactive": inactive}
    takes = {"URDF": ("loops", "base"), "MJCF": ("inactive",), "SDF": ("base", "cut")}[kind]
    for option, is_given in given.items():
        if is_given and option not in takes:
            raise OptionError(f"option '{option}' is given, but {kind} files take only {' and '.join(takes)}")
    if kind == "URDF":
        return mechanism_from_urdf(path, loops, Base.FIXED if base is None else base, packages)
    if kind == "MJCF":
        return mechanism_from_mjcf(path, inactive, packages)
    return mechanism_from_sdf(path, cut, base, packages)


def _kind(path: Any, packages: tuple[Any, ...]) -> str:
    """The kind of a file, by its outermost element."""
    element, name = read_xml(path, None, "model", packages, again=True)
    if element.tag not in KINDS:
        raise FileError(name, f"its outermost element is <{element.tag}>: expected one of {', '.join(KINDS)}")
    return KINDS[element.tag]

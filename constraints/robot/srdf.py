"""Reference postures from an SRDF file."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

import numpy as np

from ..arrays import Vector
from ..errors import ConstraintError, FileError
from .configuration import joint_value
from .markup import numbers, read_xml
from .space import RobotSpace

__all__ = ["read_references"]

_log = logging.getLogger(__package__)


def read_references(
    source: str | os.PathLike[str], space: RobotSpace, packages: Iterable[str | os.PathLike[str]] = ()
) -> dict[str, Vector]:
    """The reference postures (`group_state`) of an SRDF file, by name.

    Each starts from the neutral configuration. States of one name that belong to different groups make one posture;
    where both give a joint the later one counts, and the log says so. Joints that the robot does not have are named
    in the log and left out, since an SRDF often describes more than the model at hand (a root joint, hands). Groups,
    end effectors and collision pairs of the file are not read.

    Args:
        source: path, `package://` address, or the XML text itself.
        space: space of the robot.
        packages: folders in which packages are looked for.

    Raises:
        FileError: the file cannot be read whole, or a value does not suit its joint.
    """
    root, name = read_xml(source, "robot", "SRDF", packages)
    factors = {factor.name: factor for factor in space.factors}
    postures: dict[str, Vector] = {}
    stated: dict[str, dict[str, list[float]]] = {}
    unknown: dict[str, None] = {}
    for state in root.iter("group_state"):
        posture = state.get("name")
        if not posture:
            raise FileError(name, "a group_state has no name")
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
                _log.warning("%s: group_state '%s' is given more than once, and differs in joint '%s': the later value "
                             "counts", name, posture, joint)  # fmt: skip
            factor = factors[joint]
            try:
                q[factor.q] = joint_value(factor.space, value[0] if len(value) == 1 else value, what)
            except ConstraintError as error:
                raise FileError(name, str(error)) from None
    if unknown:
        _log.warning("%s: the robot has no joint %s: left out of the reference postures", name, ", ".join(unknown))
    return postures

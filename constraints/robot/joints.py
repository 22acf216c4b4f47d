"""What pinocchio's joint types are called here, and which of their coordinates are angles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from liegroups.arrays import BoolVector

from .pinocchio import Model

__all__ = ["FULL_TURN", "angular_columns", "joint_kind", "radian_columns"]

FULL_TURN = 2 * np.pi - 1e-6
"""A revolute joint whose range is at least this may be shifted by whole turns [rad]."""

_WORDS = {
    "RevoluteUnaligned": "revolute",
    "RevoluteUnboundedUnaligned": "continuous",
    "PrismaticUnaligned": "prismatic",
    "HelicalUnaligned": "helical",
    "FreeFlyer": "free-flyer",
    "Planar": "planar",
    "Spherical": "spherical",
    "SphericalZYX": "spherical zyx",
    "Translation": "translation",
    "Universal": "universal",
    "Ellipsoid": "ellipsoid",
    "Composite": "composite",
}
_ALIGNED = {"R": "revolute", "RUB": "continuous", "P": "prismatic", "H": "helical"}
_TURNING = {"revolute", "spherical zyx", "universal", "ellipsoid"}


def joint_kind(joint: Any) -> str:
    """Words for the type of a pinocchio joint model: "revolute z", "composite (translation, spherical)"."""
    name = str(joint.shortname()).removeprefix("JointModel").removesuffix("Tpl")
    if name == "Composite":
        return f"composite ({', '.join(joint_kind(part) for part in _parts(joint))})"
    if name in _WORDS:
        return _WORDS[name]
    kind = _ALIGNED.get(name[:-1])
    return f"{kind} {name[-1].lower()}" if kind else name


def radian_columns(model: Model) -> BoolVector:
    """Mask (nv,) of the tangent columns that are an angle stored as one number in q [rad].

    Those of revolute, helical, universal, ellipsoid and ZYX joints, inside composite joints too.
    """
    return _columns(model, _TURNING | {"helical"})


def angular_columns(model: Model) -> BoolVector:
    """Mask (nv,) of the angles stored as one number of which a whole turn changes nothing: all but those of helices."""
    return _columns(model, _TURNING)


def _columns(model: Model, kinds: set[str]) -> BoolVector:
    found = [column for i in range(1, model.njoints) for column in _is_of(model.joints[i], kinds)]
    return np.array(found, dtype=np.bool_)


def _is_of(joint: Any, kinds: set[str]) -> Iterator[bool]:
    kind = joint_kind(joint)
    if kind.startswith("composite"):
        for part in _parts(joint):
            yield from _is_of(part, kinds)
        return
    yield from [kind in kinds or kind.split()[0] in kinds] * joint.nv


def _parts(joint: Any) -> list[Any]:
    """The joints that a composite joint is made of."""
    whole = joint.extract() if hasattr(joint, "extract") else joint
    return list(whole.joints)

"""What pinocchio's joint types are called here, and which of their coordinates are angles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays import BoolVector
from .pinocchio import Model

__all__ = ["angular_columns", "joint_kind"]

_WORDS = {
    "RevoluteUnaligned": "revolute",
    "RevoluteUnboundedUnaligned": "continuous",
    "RevoluteUnboundedUnalignedTpl": "continuous",
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
_ANGLES = {"revolute", "helical", "spherical zyx", "universal", "ellipsoid"}


def joint_kind(joint: Any) -> str:
    """Words for the type of a pinocchio joint model: "revolute z", "free-flyer", "composite (translation, spherical)"."""
    name = str(joint.shortname()).removeprefix("JointModel")
    if name == "Composite":
        return f"composite ({', '.join(joint_kind(part) for part in _parts(joint))})"
    if name in _WORDS:
        return _WORDS[name]
    kind = _ALIGNED.get(name[:-1])
    return f"{kind} {name[-1].lower()}" if kind else name


def angular_columns(model: Model) -> BoolVector:
    """Mask (nv,) of the tangent columns that are an angle stored as one number in q [rad].

    Those of revolute, helical, universal, ellipsoid and ZYX joints, inside composite joints too.
    """
    columns = [angular for i in range(1, model.njoints) for angular in _angular(model.joints[i])]
    return np.array(columns, dtype=np.bool_)


def _angular(joint: Any) -> Iterator[bool]:
    kind = joint_kind(joint)
    if kind.startswith("composite"):
        for part in _parts(joint):
            yield from _angular(part)
        return
    yield from [kind in _ANGLES or kind.split()[0] in _ANGLES] * joint.nv


def _parts(joint: Any) -> list[Any]:
    """The joints that a composite joint is made of."""
    whole = joint.extract() if hasattr(joint, "extract") else joint
    return list(whole.joints)

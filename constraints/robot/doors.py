"""Taking a robot, or a point of a group, from a user."""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroups import Element, Space

from ..arrays import ArrayLike
from ..errors import WrongObjectError
from .frame import as_placement, pose_vector
from .pinocchio import Placement
from .robot import Robot

__all__ = ["GivenPoint", "as_robot", "point_numbers"]

GivenPoint = ArrayLike | Element | Placement
"""What is taken for a point of a group: numbers, an Element, or a placement where the group has poses."""


def as_robot(candidate: object, what: str) -> Robot:
    """The candidate, or a typed error that names it."""
    if not isinstance(candidate, Robot):
        raise WrongObjectError(what, "a Robot", repr(candidate) if isinstance(candidate, str) else candidate)
    return candidate


def point_numbers(given: Any, space: Space) -> Any:
    """A given point of a space as numbers, which the door of the space has yet to check."""
    if isinstance(given, Element):
        return given.q
    if hasattr(given, "homogeneous") or (space.nq == 7 and _is_matrix(given)):
        pose = pose_vector(as_placement(given))
        return pose[3:] if space.nq == 4 else pose
    if space.nq == 1 and isinstance(given, int | float) and not isinstance(given, bool):
        return [given]
    return given


def _is_matrix(given: Any) -> bool:
    """Whether it is 4 x 4; ragged lists are not."""
    try:
        return np.shape(given) == (4, 4)
    except ValueError:
        return False

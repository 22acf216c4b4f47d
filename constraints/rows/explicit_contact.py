"""Objects that stand on a surface, as explicit constraints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import OptionError, WrongObjectError
from ..functions.contact.contact import ConvexShapeContactHold
from ..functions.contact.contact_pose import PoseOfContact
from ..robot import Frame
from .comparison import Comparison
from .explicit import Explicit

__all__ = ["HOLD_ROWS", "ExplicitContact"]

HOLD_ROWS = (Comparison.EQUAL_TO_ZERO,) * 5 + (Comparison.EQUALITY,) * 3
"""Comparison of the rows of a hold: in contact, at a place that is chosen."""


def ExplicitContact(  # a constraint by its name in the field
    hold: ConvexShapeContactHold, rhs: Any = None, *, level: int = 0, name: str = ""
) -> Explicit:
    r"""The pose of a free object that stands on a surface, computed from where it stands.

    With F the frame of the floor's surface, :math:`{}^{2}F_b` that of the object's surface on its free-flyer joint, and
    P the frame of that joint's parent,

    .. math:: q_{out} = {}^PM_F(q_{in})\; f(rhs)\; {}^2F_b^{-1}

    with f the pose of `PoseOfContact`. The right-hand side is a value of the hold: five zeros, the point (y, z) [m] of
    the floor's polygon in the plane of `floor.inward`, and (cos, sin) of the rotation about the normal. Its rows are
    EQUAL_TO_ZERO (5) and EQUALITY (3).

    Args:
        hold: the contact with its complement, of one pair of surfaces: where it has several, name one (`pair=`). The
            object's surface is on a free-flyer joint, the floor's in the world or on another joint.
        rhs: where the object stands (9,); by default at the centre of the floor's surface, its edge along the floor's.
        level: where the hold is solved if it cannot be explicit.
        name: name in messages; the hold's by default.

    Raises:
        OptionError: the hold has several pairs of surfaces; they are listed.
        WrongObjectError: no hold, or the object's surface is not on a free-flyer joint.
        OverlapError: the floor moves with the object.

    Source: explicit `ConvexShapeContact` of hpp-constraints, which has the pair of surfaces in its right-hand side.
    """
    if not isinstance(hold, ConvexShapeContactHold):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WrongObjectError("hold of an explicit contact", "a ConvexShapeContactHold", hold)
    if len(hold.pairs) != 1:
        known = ", ".join(map(str, map(tuple, hold.pairs)))
        raise OptionError(
            f"{hold.name!r} has several pairs of surfaces: an explicit contact needs one of them, {known}"
        )
    floor, surface = hold.surfaces_of(hold.pairs[0])
    label = name or hold.name
    pose = Explicit.relative_pose(
        hold.robot,
        Frame(floor.name, floor.joint, floor.inward, floor.frame.joint_name),
        Frame(surface.name, surface.joint, surface.outward, surface.frame.joint_name),
        level=level,
        name=label,
    )
    rhs_map = PoseOfContact(floor, hold.margin, name=label)
    return replace(pose, implicit=hold, rhs_map=rhs_map, comparison=HOLD_ROWS, rhs=rhs)

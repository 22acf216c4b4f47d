"""Placements: an object on a surface, or where it is."""

from __future__ import annotations

from collections.abc import Sequence

from liegroups.arguments import as_tuple

from ..errors import OptionError
from ..functions.contact.contact import (
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    SurfacePair,
)
from ..functions.contact.contact_surface import Surface
from ..ranges import length_of
from ..robot import Robot
from ..rows.explicit_forms import HOLD_ROWS, explicit_contact, locked_joint
from ..rows.implicit import Implicit
from .foliation import Foliation
from .grasp import is_free_object

MARGIN = 1e-4
"""Height at which placed objects stand above a floor [m], so that they do not collide with it; as in hpp-python."""


def placement(
    robot: Robot,
    name: str,
    objects: Surface | Sequence[Surface],
    floors: Surface | Sequence[Surface],
    margin: float = MARGIN,
) -> Foliation:
    """An object stands with one of its surfaces on one of the floors.

    The constraint is the contact of the nearest pair of surfaces (5 rows), the complement where on the floor (3 rows),
    the hold both: explicit, the object's pose being computed, where it is a free object. Where there are several pairs
    of surfaces, there is a variant for each; `foliation.at(q)` chooses the one that touches.

    Args:
        robot: robot that owns all surfaces.
        name: name of the constraint ("place_box"); with "/complement" and "/hold" those of the others.
        objects: surfaces of the object.
        floors: surfaces on which it may stand.
        margin: height above the floor [m].

    Raises:
        As `ConvexShapeContact`.

    Source: placement constraints of hpp-manipulation (`createPlacementConstraint`).
    """
    _check_moves(name, objects)
    function = ConvexShapeContact(robot, floors, objects, margin, name=name)
    constraint = Implicit.zero(function, name=name)
    if len(function.pairs) == 1:
        return _of_pair(robot, name, objects, floors, function, constraint, function.pairs[0])
    whole = ConvexShapeContactComplement(robot, floors, objects, margin, name=f"{name}/complement")
    both = ConvexShapeContactHold(robot, floors, objects, margin, name=f"{name}/hold")
    variants: dict[SurfacePair, Foliation] = {}
    for pair in function.pairs:
        only = ConvexShapeContact(robot, floors, objects, margin, pair, name=name)
        named = Implicit.zero(only, name=name)
        variants[pair] = _of_pair(robot, name, objects, floors, only, named, pair)
    hold = Implicit(both, HOLD_ROWS, name=f"{name}/hold")
    return Foliation(name, constraint, Implicit.equal(whole, name=f"{name}/complement"), hold, variants)


def preplacement(
    robot: Robot,
    name: str,
    objects: Surface | Sequence[Surface],
    floors: Surface | Sequence[Surface],
    distance: float,
    margin: float = MARGIN,
) -> Implicit:
    """An object above a floor: the contact, higher by a distance.

    Args:
        robot, name, objects, floors, margin: as in `placement`.
        distance: how much higher [m].

    Raises:
        OptionError: a negative distance.

    Source: pre-placement constraints of hpp-manipulation.
    """
    height = length_of(distance, f"distance of '{name}'")
    _check_moves(name, objects)
    return Implicit.zero(ConvexShapeContact(robot, floors, objects, margin + height, name=name), name=name)


def _check_moves(name: str, objects: Surface | Sequence[Surface]) -> None:
    """Refuse an object that is fixed in the world: most likely floors and objects are exchanged.

    Raises:
        OptionError: its surface is named.
    """
    surfaces_of = (objects,) if isinstance(objects, Surface) else as_tuple(objects, f"objects of '{name}'", "Surfaces")
    for surface in surfaces_of:
        if isinstance(surface, Surface) and surface.frame.joint == 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise OptionError(
                f"objects of '{name}': surface '{surface.name}' is fixed in the world, expected surfaces of what is "
                "placed (the floors come after them)"
            )


def left_where_it_is(robot: Robot, joint: str) -> Foliation:
    """An object without surfaces: any pose will do, and it stays while nobody holds it.

    Args:
        robot: the robot.
        joint: joint of the object, whose name is that of the constraint.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
    """
    locked = locked_joint(robot, joint, robot.neutral[robot.slice_of(joint)], name=joint)
    return Foliation(joint, None, locked, locked)


def _of_pair(
    robot: Robot,
    name: str,
    objects: Surface | Sequence[Surface],
    floors: Surface | Sequence[Surface],
    contact: ConvexShapeContact,
    constraint: Implicit,
    pair: SurfacePair,
) -> Foliation:
    """The foliation of one pair of surfaces."""
    complement = ConvexShapeContactComplement(robot, floors, objects, contact.margin, pair, name=f"{name}/complement")
    both = ConvexShapeContactHold(robot, floors, objects, contact.margin, pair, name=f"{name}/hold")
    _, surface = contact.surfaces_of(pair)
    if is_free_object(robot, surface.joint):
        hold = explicit_contact(both)
    else:
        hold = Implicit(both, HOLD_ROWS, name=f"{name}/hold")
    return Foliation(name, constraint, Implicit.equal(complement, name=f"{name}/complement"), hold, {}, pair)

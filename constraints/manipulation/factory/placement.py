"""Placements: an object on a surface, or where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import OptionError
from ...functions.contact.contact import (
    ConvexShapeContact,
    ConvexShapeContactComplement,
    ConvexShapeContactHold,
    SurfacePair,
)
from ...functions.contact.contact_surface import Surface, as_surfaces
from ...questions import ask_once
from ...ranges import not_negative
from ...robot import Robot
from ...rows.explicit_forms import HOLD_ROWS, explicit_contact, locked_joint
from ...rows.implicit import Implicit
from ..foliation import Foliation
from .grasp import is_free_object

MARGIN_OF_HEIGHT = 1e-4
"""Height at which placed objects stand above a floor [m], so that they do not collide with it; as in hpp-python."""


def placement(
    robot: Robot,
    name: str,
    objects: Surface | Sequence[Surface],
    floors: Surface | Sequence[Surface],
    margin: float = MARGIN_OF_HEIGHT,
) -> Foliation:
    """An object stands with one of its surfaces on one of the floors.

    The constraint is the contact of the nearest pair of surfaces (5 rows), the complement is the place on the floor (3
    rows), the hold is both: explicit, with a computed pose, if the object is free. If there are several pairs of
    surfaces, there is a variant for each; `foliation.at(q)` chooses the one that touches.

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
    _ask_of_margin(name, as_surfaces(objects, f"objects of '{name}'"), not_negative(margin, f"margin of '{name}'"))

    def leaves(pair: SurfacePair | None, variants: Mapping[SurfacePair, Foliation]) -> Foliation:
        """The foliation of one pair of surfaces, or of the nearest one."""
        place = (robot, floors, objects, margin, pair)
        touches = ConvexShapeContact(*place, name=name)
        complement = ConvexShapeContactComplement(*place, name=f"{name}/complement")
        both = ConvexShapeContactHold(*place, name=f"{name}/hold")
        is_computed = pair is not None and is_free_object(robot, both.surfaces_of(pair)[1].joint)
        hold = explicit_contact(both) if is_computed else Implicit(both, HOLD_ROWS)
        return Foliation(name, Implicit.zero(touches), Implicit.equal(complement), hold, variants, pair, proven=True)

    pairs = ConvexShapeContact(robot, floors, objects, margin, name=name).pairs
    return leaves(pairs[0], {}) if len(pairs) == 1 else leaves(None, {pair: leaves(pair, {}) for pair in pairs})


def preplacement(
    robot: Robot,
    name: str,
    objects: Surface | Sequence[Surface],
    floors: Surface | Sequence[Surface],
    distance: float,
    margin: float = MARGIN_OF_HEIGHT,
) -> Implicit:
    """An object above a floor: the contact, higher by a distance.

    Args:
        robot, name, objects, floors, margin: as in `placement`.
        distance: how much higher [m].

    Raises:
        OptionError: a negative distance.

    Source: pre-placement constraints of hpp-manipulation.
    """
    height = not_negative(distance, f"distance of '{name}'")
    _check_moves(name, objects)
    return Implicit.zero(ConvexShapeContact(robot, floors, objects, margin + height, name=name), name=name)


def _check_moves(name: str, objects: Surface | Sequence[Surface]) -> None:
    """Refuse an object that is fixed in the world: most likely floors and objects are exchanged.

    Raises:
        OptionError: its surface is named.
    """
    for surface in as_surfaces(objects, f"objects of '{name}'"):
        if surface.frame.joint == 0:
            raise OptionError(
                f"objects of '{name}': surface '{surface.name}' is fixed in the world, expected surfaces of the "
                "object (the floors are the next argument)"
            )


def left_where_it_is(robot: Robot, joint: str) -> Foliation:
    """An object without surfaces: any pose is allowed, and it stays there while no gripper holds it.

    Args:
        robot: the robot.
        joint: joint of the object; the constraint has the same name.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
    """
    locked = locked_joint(robot, joint, robot.neutral[robot.slice_of(joint)], name=joint)
    return Foliation(joint, None, locked, locked, proven=True)


def _ask_of_margin(name: str, objects: Sequence[Surface], margin: float) -> None:
    """Ask about an object that stands higher above its floor than its surfaces are wide."""
    width = max((2.0 * float(np.linalg.norm(each.polygon, axis=1).max()) for each in objects), default=0.0)
    if margin > width > 0.0:
        words = f"margin of '{name}' is {margin:.6g} m, and its surfaces are {width:.3g} m wide"
        ask_once(f"{words}: does it float there, or is it in millimetres?")

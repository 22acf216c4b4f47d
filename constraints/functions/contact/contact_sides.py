"""Surfaces that look the wrong way: their vertices run clockwise. Asked once a surface, and taken as they are."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any
from weakref import WeakSet

import numpy as np

from liegroups import SE3

from ...robot import Robot
from .contact_surface import Surface

_log = logging.getLogger(__package__)

DOWN_NORMAL = -0.5
"""A normal whose z is less looks down: what is put on such a floor hangs from it."""
SAME_SIDE = 1e-6
"""A surface looks into an object whose middle is in front of it by more [m]."""

_ASKED: WeakSet[Surface] = WeakSet()
"""Surfaces that somebody has asked about."""


def asked_of_floor(floor: Surface) -> str:
    """What is asked about a floor of the world that looks down; nothing of others.

    Args:
        floor: the surface.
    """
    if floor.joint != 0 or floor.normal[2] >= DOWN_NORMAL:
        return ""
    _ASKED.add(floor)
    return (
        f"{floor.describe()}: its normal points down, so objects hang below it; the vertices of a table must be "
        "counter-clockwise seen from above"
    )


def asked_of_object(robot: Robot, surface: Surface, name: str) -> str:
    """What is asked about a surface that looks into its object; nothing of others.

    Args:
        robot: the robot.
        surface: of an object, on one of its joints.
        name: of the object.
    """
    model: Any = robot.model
    inertia = model.inertias[surface.joint]
    middle = np.array(inertia.lever) if inertia.mass > 0.0 else np.zeros(3)
    if surface.normal @ (surface.outward.translation - middle) >= -SAME_SIDE:
        return ""
    _ASKED.add(surface)
    return (
        f"{surface.describe()}: its normal points into object '{name}', whose "
        f"{'centre of mass' if inertia.mass > 0.0 else 'origin'} is on that side, so the object stands on its head; "
        "the vertices must be counter-clockwise seen from outside"
    )


def ask_of_sides(robot: Robot, floors: Iterable[Surface], objects: Iterable[Surface]) -> None:
    """Ask about the surfaces of a contact, unless somebody has; of bodies without mass only if they are free.

    Args:
        robot: the robot.
        floors, objects: of the contact.
    """
    model: Any = robot.model
    asked = [asked_of_floor(floor) for floor in floors if floor not in _ASKED]
    for surface in objects:
        joint = surface.joint
        if surface in _ASKED or not joint:
            continue
        if model.inertias[joint].mass > 0.0 or robot.space.factors[joint - 1].space == SE3:
            asked.append(asked_of_object(robot, surface, robot.joint_names[joint - 1]))
    for words in filter(None, asked):
        _log.warning("%s", words)

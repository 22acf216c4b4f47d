"""What of its motion an equilibrium keeps: velocities and accelerations that were given, and those of drives."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Indices, Vector

from ...errors import OptionError
from ...linear_algebra import largest
from ...loops.mobility import CLOSED
from ...loops.open_mechanism import OpenMechanismError
from ...rows.right_hand_side import RightHandSide
from ..closing import driven_at
from ..coordinates import MinimalCoordinates
from .balance import Given


class EquilibriumKind(Enum):
    """The part of the motion that an equilibrium keeps."""

    STATIC = "all velocities and accelerations are zero, also of joints that are driven in time"
    QUASI_STATIC = "velocities are kept, accelerations are zero"
    MOVING = "velocities and accelerations are kept"


def kept_kind(kind: EquilibriumKind | None, given: Given) -> EquilibriumKind:
    """What is kept; refused where something was given that the kind does not keep."""
    accelerated = given.acceleration is not None or given.driven_acceleration is not None
    if kind is None:
        moving = EquilibriumKind.QUASI_STATIC if given.v is not None else EquilibriumKind.STATIC
        return EquilibriumKind.MOVING if accelerated else moving
    what = expect(kind, EquilibriumKind, "kind of an equilibrium")
    if accelerated and what is not EquilibriumKind.MOVING:
        raise OptionError(f"kind of an equilibrium: {what.name} keeps no accelerations, but some were given")
    if given.v is not None and what is EquilibriumKind.STATIC:
        raise OptionError("kind of an equilibrium: STATIC keeps no velocities, but v was given")
    return what


def kept_sides(rhs: RightHandSide, kind: EquilibriumKind) -> RightHandSide:
    """Right-hand sides with the rates that are kept."""
    if kind is EquilibriumKind.MOVING:
        return rhs
    if kind is EquilibriumKind.QUASI_STATIC:
        return RightHandSide(rhs.stack, rhs.vector, rhs.velocity)
    return rhs.with_valid(rhs.vector.copy())


def kept_speeds(coordinates: MinimalCoordinates, kind: EquilibriumKind, t: float) -> tuple[Indices, Vector]:
    """Columns of joints that are driven in time, and the velocities that they keep."""
    robot = coordinates.constraint_set.robot
    columns, speeds = [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
    for joint, target in coordinates.targets.items():
        found = np.arange(robot.nv)[robot.velocity_slice_of(joint)]
        columns.append(found)
        still = kind is EquilibriumKind.STATIC
        speeds.append(np.zeros(found.size) if still else target.velocity_at(t, robot.segments(joint).space))
    return np.concatenate(columns), np.concatenate(speeds)


def kept_acceleration(coordinates: MinimalCoordinates, given: Given, kind: EquilibriumKind, t: float) -> Any:
    """Accelerations of the driven coordinates: as given, or those of their targets where they are kept."""
    if given.driven_acceleration is not None or kind is not EquilibriumKind.MOVING:
        return given.driven_acceleration
    robot = coordinates.constraint_set.robot
    whole = np.zeros(robot.nv)
    for joint, target in coordinates.targets.items():
        whole[robot.velocity_slice_of(joint)] = target.acceleration_at(t, robot.segments(joint).space)
    return whole[coordinates.partition.driven]


def check_driven(coordinates: MinimalCoordinates, q: Vector, t: float) -> None:
    """Refuse a start where a joint that is driven in time is elsewhere than at its place at t."""
    robot = coordinates.constraint_set.robot
    off = np.abs(robot.space.difference(q, driven_at(coordinates, q, t)))
    for joint in coordinates.targets:
        size = largest(off[robot.velocity_slice_of(joint)])
        if size > CLOSED:
            raise OpenMechanismError(
                joint, size, f"the place of its drive at t = {t:g}", "pass close=True to move it there"
            )

"""Grippers and handles: named frames that meet in a grasp."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liegroups.arguments import as_name, expect, finite_vector, truth_values
from liegroups.arrays import ArrayLike, BoolVector, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import OptionError, SizeError
from ..ranges import not_negative
from ..robot import Frame


@dataclass(frozen=True, eq=False)
class Gripper:
    """A frame that grasps: its x axis points to the side from which objects come.

    Args:
        name: used in names of states ("r0/gripper grasps box0/h0").
        frame: frame on the joint that carries it, `robot.frame(...)`.
        clearance: distance from the frame that the gripper must keep before it closes [m].

    Raises:
        WrongObjectError, OptionError: an invalid argument, with the name.

    Source: `Gripper` of hpp-manipulation.
    """

    name: str
    frame: Frame
    clearance: float = 0.0

    def __post_init__(self) -> None:
        """Check what was given."""
        as_name(self.name, "name of a gripper")
        set_fields(self, clearance=_clearance(self.frame, self.clearance, f"gripper '{self.name}'"))


@dataclass(frozen=True, eq=False)
class Handle:
    r"""A frame that is grasped: in a grasp it coincides with the gripper's frame, on the rows of its mask.

    Args:
        name: used in names of states.
        frame: frame on the joint of the object, `robot.frame(...)`.
        clearance: as in `Gripper`; before a grasp the sum of both is kept [m].
        approach: direction (3,) from the gripper to the handle before the grasp, in the axes of the gripper;
            normalised.
        mask: (6,) true for the rows of the gripper-to-handle pose that a grasp fixes: translation, then rotation, in
            the axes of the gripper. A symmetric handle leaves a rotation free.
        complement: (6,) rows that a grasp leaves free and that stay constant while it lasts; the others by default.

    Raises:
        OptionError: the mask fixes exactly one rotation row: the two left have no common axis.
        SizeError, WrongObjectError, OptionError: other invalid arguments, with the name.

    Source: `Handle` of hpp-manipulation.
    """

    name: str
    frame: Frame
    clearance: float = 0.0
    approach: ArrayLike = (1.0, 0.0, 0.0)
    mask: ArrayLike = (True,) * 6
    complement: ArrayLike | None = None

    direction: Vector = field(init=False, repr=False)
    rows: BoolVector = field(init=False, repr=False)
    free_rows: BoolVector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check what was given."""
        as_name(self.name, "name of a handle")
        who = f"handle '{self.name}'"
        set_fields(self, clearance=_clearance(self.frame, self.clearance, who))
        direction = np.array(finite_vector(self.approach, 3, f"approach of {who}"))
        length = float(np.sqrt(direction @ direction))
        if length < 1e-9:
            raise OptionError(f"approach of {who}: expected a direction, got a vector of length {length:g}")
        rows = _mask(self.mask, f"mask of {who}")
        free = ~rows if self.complement is None else _mask(self.complement, f"complement of {who}")
        if (rows & free).any():
            both = np.flatnonzero(rows & free).tolist()
            raise OptionError(f"complement of {who}: rows {both} are in the mask too; they must be in one of the two")
        if rows[3:].sum() == 1:
            raise OptionError(
                f"mask of {who}: expected 0, 2 or 3 rotation rows, got 1: two free rotations have no common axis"
            )
        direction = read_only(direction / length)
        set_fields(self, direction=direction, rows=read_only(rows), free_rows=read_only(free))


def _clearance(frame: object, clearance: Any, who: str) -> float:
    expect(frame, Frame, f"frame of {who}", "a Frame (robot.frame(name))")
    return not_negative(clearance, f"clearance of {who}")


def _mask(mask: ArrayLike, what: str) -> BoolVector:
    array = truth_values(mask, what, "six truth values")
    if array.shape != (6,):
        raise SizeError(what, 6, array.shape)
    return array

"""Some rows of what a contact measures."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups import Rn
from liegroups.arguments import truth_values
from liegroups.arrays import Indices, Matrix, Vector

from ...errors import OptionError, SizeError
from ...functions.enclosures.box import Enclosure
from ...functions.frames.slopes import Slopes
from .enclosing import PoseOnBox
from .pose_map import PoseMap


def as_mask(mask: object, size: int, what: str) -> tuple[bool, ...] | None:
    """A mask from a user; None where all rows count.

    Args:
        mask: truth values (size,), true for the rows that count; None for all.
        size: of the rows.
        what: whose.

    Raises:
        WrongObjectError: no truth values.
        SizeError: not so many.
        OptionError: none is true.
    """
    if mask is None:
        return None
    held = truth_values(mask, f"mask of {what}", f"{size} truth values, true for the rows to keep")
    if held.shape != (size,):
        raise SizeError(f"mask of {what}", size, held.shape)
    if not held.any():
        raise OptionError(f"mask of {what}: expected one row or more, got none")
    return None if held.all() else tuple(held.tolist())


@final
class MaskedMap(PoseMap):
    """Some rows of a map.

    Args:
        whole: the map.
        rows: which of its rows (k,).
    """

    __slots__ = ("rows", "size", "whole")

    def __init__(self, whole: PoseMap, rows: Indices) -> None:
        self.whole, self.rows, self.size = whole, rows, len(rows)

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        n = self.whole.size
        every, by_pose = np.zeros(n), None if D is None else np.zeros((n, 6))
        self.whole.value(pose, every, by_pose)
        out[:] = every[self.rows]
        if D is not None and by_pose is not None:
            D[:] = by_pose[self.rows]

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        every = np.zeros(self.whole.size)
        self.whole.second(pose, twist, acceleration, every)
        out[:] = every[self.rows]

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`."""
        every, r = np.zeros(self.whole.size), self.rows
        every[r] = multipliers
        found = self.whole.slopes(pose, twist, acceleration, every)
        return found._replace(rate=found.rate[r], by_pose=found.by_pose[r], by_twist=found.by_twist[r])

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        found, r = self.whole.enclosure(at), self.rows
        value, rounding, J = found.value[..., r], found.rounding[..., r], found.jacobian[..., r, :]
        return Enclosure.centred(Rn(len(r)), at.box, value, rounding, J, lambda: found.bend.rows(r))

    @property
    def has_exact_slopes(self) -> bool:
        """As `PoseMap.has_exact_slopes`."""
        return self.whole.has_exact_slopes

"""Limits of rotations that no rotation reaches, because they are degrees."""

from __future__ import annotations

from math import inf, pi

import numpy as np

from liegroups import Space
from liegroups.groups import TRANSLATIONS

from ..functions.frames.orientation import Orientation
from ..functions.frames.transformation import Transformation
from ..functions.function import Function
from ..functions.lifted import Lifted
from ..words import row_numbers
from .comparison import RowTable

_NO_LIMIT = ((pi, 3.2), (6.25, 6.35), (360.0 + 1e-9, inf))
"""Sizes of limits that stand for none on purpose: half a turn and a whole one, as people round them; large numbers."""


def rotation_rows(function: Function | None, group: Space) -> list[slice]:
    """Blocks of rows that are the logarithm of a rotation, at most pi long.

    Args:
        function: of the rows; a rotation vector in a flat group is known by it.
        group: of its values.
    """
    if group.is_flat:
        function = function.function if isinstance(function, Lifted) else function
        return [slice(-3, None)] if isinstance(function, Orientation | Transformation) else []
    leaves = [leaf for leaf in group.leaves() if leaf.space.atoms in TRANSLATIONS]
    return [slice(leaf.v.start + TRANSLATIONS[leaf.space.atoms], leaf.v.stop) for leaf in leaves]


def idle_limits(rows: RowTable, function: Function | None, group: Space) -> str:
    """What is said of rows of a rotation that can never be violated, with a limit that looks like degrees; or nothing.

    A limit does where it is more than pi and at most 360, but not about pi or 2 pi, which stand for all rotations.
    """
    idle = rows.mask & (rows.lower <= -pi) & (rows.upper >= pi)
    if not idle.any():
        return ""
    angular = np.zeros(group.nv, dtype=np.bool_)
    for block in rotation_rows(function, group):
        angular[block] = True
    pairs = zip(-rows.lower, rows.upper, strict=True)
    degrees = [not (_is_no_limit(low) and _is_no_limit(high)) for low, high in pairs]
    found = np.flatnonzero(idle & angular & degrees).tolist()
    why = "a rotation vector is at most pi long; angles are in radians (did you mean degrees?)"
    return f"limits of {row_numbers(found)} have no effect: {why}" if found else ""


def _is_no_limit(size: float) -> bool:
    return any(least <= size <= most for least, most in _NO_LIMIT)

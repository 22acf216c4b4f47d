"""Whether the constraints of two stacks are the same: copies, as after pickling or loading, or the same made again."""

from __future__ import annotations

import numpy as np

from liegroups.arrays import Vector

from ..point import place_alone
from .comparison import RowTable
from .row_owner import RowOwner
from .stack import Stack

TOLERANCE_OF_ERRORS = 1e-9
"""Relative distance of two errors that are one."""
TRIALS = 6
"""Random configurations at most, of which two with a value are compared."""


def what_differs(theirs: Stack, mine: Stack) -> str:
    """The first constraint of another stack that is not the one of mine at its place, in words; empty where all are.

    The objects are looked at first. Of two objects the names, groups and rows are compared, and what cannot be read off
    them, what they hold, by their errors at random configurations.
    """
    if len(theirs) != len(mine):
        return f"it belongs to {len(theirs)} constraints ({', '.join(theirs.labels)}), the problem has {len(mine)}"
    for i, (their, own) in enumerate(zip(theirs, mine, strict=True)):
        if (their.name, their.group) != (own.name, own.group):
            words = f"constraint {i} is {their.name!r} in {their.group.name}"
            return f"its {words}, the problem's is {own.name!r} in {own.group.name}"
        if their.original is not own.original and not _alike(their, own):
            return f"its {their.name!r} and {own.name!r} of this problem are different constraints with the same name"
    return ""


def _alike(a: RowOwner, b: RowOwner) -> bool:
    """Whether two constraints ask for the same, right-hand sides aside."""
    if type(a) is not type(b) or a.space != b.space or not _same_rows(a.rows, b.rows):
        return False
    a, b = a.unclipped(), b.unclipped()
    rng, compared = np.random.default_rng(0), 0
    for _ in range(TRIALS):
        q = a.space.random(rng)
        one, other = (_error(owner, q) for owner in (a, b))
        if one is None or other is None:
            if one is not other:
                return False
            continue
        if not np.allclose(one, other, TOLERANCE_OF_ERRORS, TOLERANCE_OF_ERRORS, equal_nan=True):
            return False
        compared += 1
        if compared == 2:
            break
    return True


def _same_rows(a: RowTable, b: RowTable) -> bool:
    tables = ((rows.lower, rows.upper, rows.scale, rows.free_rhs, rows.mask) for rows in (a, b))
    return all(np.array_equal(one, other) for one, other in zip(*tables, strict=True))


def _error(owner: RowOwner, q: Vector) -> Vector | None:
    """Errors of all rows at a configuration; None where there is no value."""
    try:
        return owner.error_at(place_alone(owner.space, q))
    except (ArithmeticError, ValueError):  # a function of the user's may end as it likes where it has no value
        return None

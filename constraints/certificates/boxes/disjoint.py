r"""Rows of one function that ask for different values: no configuration has both, whatever the function is.

Compared are intervals of coordinates of vectors, :math:`h_k \in [rhs_k + l, rhs_k + u]`, where h is the function, some
rows of it, or their negative; and targets that are rotations or poses of which all rows are equalities.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from liegroups import Segments, Space
from liegroups.arrays import Indices, Vector

from ...functions import Function
from ...functions.algebra import Sum
from ...functions.combined import Likeness
from ...functions.restriction import Restriction
from ...rows.row_owner import RowOwner
from ..rows import ProblemRows

APART = 1e-6
"""Distance of two targets that are rotations or poses, above which they differ [rad, m]: rounding is far below it."""


class _Interval(NamedTuple):
    """The values that a row asks a coordinate to have."""

    low: float
    high: float

    def apart(self, other: _Interval) -> float:
        """The gap between both, positive if no value is in both."""
        return max(self.low - other.high, other.low - self.high)

    def __str__(self) -> str:
        if self.low == self.high:
            return f"for {self.low:.6g}"
        return f"for values in [{self.low:.6g}, {self.high:.6g}]"


class _Element(NamedTuple):
    """The rotation or pose that rows ask for."""

    group: Space
    point: Vector

    def apart(self, other: _Element) -> float:
        """The distance, or 0 where it may be rounding."""
        distance = float(np.abs(self.group.difference(self.point, other.point)).max())
        return distance if distance > APART else 0.0

    def __str__(self) -> str:
        return f"for {np.round(self.point, 6).tolist()}"


def contradiction(rows: ProblemRows) -> str:
    """Which two constraints ask for different values of one function, in words; empty where none do.

    Functions are the same that are one object, or objects of this library made with the same arguments.

    Args:
        rows: of a problem.
    """
    likeness, met = Likeness(), dict[Any, list[tuple[str, Any]]]()
    for owner, rhs in zip(rows.owners, rows.points, strict=True):
        function, taken, sign = _unwrapped(owner.measured)
        number = likeness.number(function)
        for row, asked in (*_coordinates(owner, rhs, sign), *_elements(owner, rhs)):
            others = met.setdefault((number, int(taken[row]), type(asked)), [])
            for name, other in others:
                gap = other.apart(asked)
                if gap > 0.0:
                    both = f"'{name}' asks {other}, '{owner.name}' {asked}"
                    return f"rows of one function, {function.name}, contradict each other: {both} ({gap:.2g} apart)"
            others.append((owner.name, asked))
    return ""


def _unwrapped(function: Function) -> tuple[Function, Indices, float]:
    """The function that another is some rows of, or their negative; which of its rows (outputs.nv,); the sign."""
    taken, sign = np.arange(function.outputs.nv), 1.0
    while True:
        if isinstance(function, Restriction):
            taken, function = cast("Segments", function.rows).v_indices[taken], function.function
        elif isinstance(function, Sum) and np.array_equal(np.abs(cast("Vector", function.factors)), [1.0]):
            sign, function = sign * float(cast("Vector", function.factors)[0]), function.functions[0]
        else:
            return function, taken, sign


def _coordinates(owner: RowOwner, rhs: Vector, sign: float) -> Iterator[tuple[int, _Interval]]:
    """By row: the interval of the function that is unwrapped; sums are rounded outward."""
    rows, wrapped = owner.rows, owner.wrapped_rotation_vectors
    for v, q in zip(owner.group.vector_v.tolist(), owner.group.vector_q.tolist(), strict=True):
        if rows.mask[v] and not any(block.start <= v < block.stop for block in wrapped):
            low, high = (
                float(rhs[q]) if end == 0.0 else float(np.nextafter(rhs[q] + end, side))
                for end, side in ((rows.lower[v], -np.inf), (rows.upper[v], np.inf))
            )
            yield v, _Interval(low, high) if sign > 0.0 else _Interval(-high, -low)


def _elements(owner: RowOwner, rhs: Vector) -> Iterator[tuple[int, _Element]]:
    """By first row: the targets in groups of which all rows are equalities."""
    rows = owner.rows
    for leaf in owner.group.leaves():
        v = leaf.v
        if not leaf.space.is_flat and rows.mask[v].all() and not (rows.lower[v].any() or rows.upper[v].any()):
            yield v.start, _Element(leaf.space, rhs[leaf.q])

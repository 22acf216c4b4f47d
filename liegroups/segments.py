"""`Segments`: a block of a bigger space, by its coordinates and its own group, with exact set algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import TypeAlias

import numpy as np

from .arguments import expect, integers
from .arrays import BoolVector, Indices
from .errors import OverlapError, SizeError, SpaceMismatchError, UnknownNameError
from .groups import Rn
from .layout import Factor
from .product import ProductSpace
from .space import Space, as_space

Piece: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], Space]
"""Coordinates in q and in v of one indivisible part, and its group: one coordinate of R^n, or a whole other group."""


@dataclass(frozen=True)
class Segments:
    """A block of coordinates of a bigger space, and the group that they form.

    Attributes:
        q: indices of its coordinates in q of the bigger space, increasing.
        v: indices of its tangent coordinates, increasing.
        space: its group, with ``len(q) == space.nq`` and ``len(v) == space.nv``.

    Segments of the same bigger space can be combined: ``a | b``, ``a & b``, ``a - b`` are exact and sorted. ``len(a)``
    counts tangent coordinates, ``i in a`` tests one of them and ``b in a`` all coordinates of b. Groups other than R^n
    are never cut.

    Example:
        >>> from liegroups import Rn, SE3
        >>> arm = Segments.coordinates(SE3 * Rn(4), [7, 9])
        >>> arm.q, arm.v, arm.space
        ((8, 10), (7, 9), R2)
    """

    q: tuple[int, ...]
    v: tuple[int, ...]
    space: Space

    def __post_init__(self) -> None:
        as_space(self.space, "space of segments")
        for kind, indices in (("configuration", self.q), ("tangent", self.v)):
            expect(indices, tuple, f"{kind} indices of segments", "a tuple of integers")
        if len(self.q) != self.space.nq:
            raise SizeError(f"configuration indices of segments of {self.space}", self.space.nq, len(self.q))
        if len(self.v) != self.space.nv:
            raise SizeError(f"tangent indices of segments of {self.space}", self.space.nv, len(self.v))

    # --- constructors ------------------------------------------------------------------------------------------------

    @staticmethod
    def of(space: Space, *factors: int | str) -> Segments:
        """Block of some factors of a space, given by position or by name, in any order.

        Raises:
            UnknownNameError: no such factor.
            OverlapError: the same factor twice.
        """
        as_space(space, "space of segments")
        chosen: list[int] = []
        for factor in factors:
            i = _position(space, factor)
            if i in chosen:
                raise OverlapError(f"segments of {space}", f"factor {space.factors[i].name!r} is given twice")
            chosen.append(i)
        places = [space.factors[i] for i in sorted(chosen)]
        group = places[0].space if len(places) == 1 else ProductSpace([place.space for place in places])
        q = [i for place in places for i in range(place.q.start, place.q.stop)]
        v = [i for place in places for i in range(place.v.start, place.v.stop)]
        return Segments(tuple(q), tuple(v), group)

    @staticmethod
    def coordinates(space: Space, v_indices: Sequence[int] | Indices) -> Segments:
        """Block of some tangent coordinates: any coordinates of R^n factors; other factors only as a whole.

        Raises:
            UnknownNameError: no such coordinate.
            OverlapError: a coordinate twice, or a factor cut in two.
            WrongObjectError: not integers.
        """
        as_space(space, "space of segments")
        wanted = integers(v_indices, f"tangent coordinates of segments of {space}")
        for i in wanted:
            if not 0 <= i < space.nv:
                raise UnknownNameError("tangent coordinate", str(i), [str(j) for j in range(space.nv)])
        if len(set(wanted)) != len(wanted):
            twice = sorted({i for i in wanted if wanted.count(i) > 1})
            raise OverlapError(f"segments of {space}", "coordinates are given twice", twice)
        chosen: list[Piece] = []
        for leaf in space.leaves():
            inside = [i for i in range(leaf.v.start, leaf.v.stop) if i in wanted]
            if inside and len(inside) < leaf.space.nv and not leaf.space.is_flat:
                missing = [i for i in range(leaf.v.start, leaf.v.stop) if i not in wanted]
                where = f"factor {leaf.name!r} ({leaf.space}) is cut in two: {inside} without {missing}"
                raise OverlapError(f"segments of {space}", where)
            chosen += [piece for piece in _pieces_of(leaf) if piece[1][0] in inside]
        return _assembled(chosen)

    @staticmethod
    def all(space: Space) -> Segments:
        """The whole space as one block."""
        as_space(space, "space of segments")
        return Segments(tuple(range(space.nq)), tuple(range(space.nv)), space)

    @staticmethod
    def empty() -> Segments:
        """The block without coordinates."""
        return Segments((), (), Rn(0))

    # --- set algebra -------------------------------------------------------------------------------------------------

    def __or__(self, other: Segments) -> Segments:
        """Coordinates of either."""
        mine, theirs = self._pieces(other)
        return _assembled([*mine.values(), *(piece for key, piece in theirs.items() if key not in mine)])

    def __and__(self, other: Segments) -> Segments:
        """Coordinates of both."""
        mine, theirs = self._pieces(other)
        return _assembled([piece for key, piece in mine.items() if key in theirs])

    def __sub__(self, other: Segments) -> Segments:
        """Coordinates of this one that the other has not."""
        mine, theirs = self._pieces(other)
        return _assembled([piece for key, piece in mine.items() if key not in theirs])

    def overlaps(self, other: Segments) -> bool:
        """Whether the two blocks share a coordinate."""
        return not set(self.v).isdisjoint(other.v) or not set(self.q).isdisjoint(other.q)

    def __len__(self) -> int:
        """Number of tangent coordinates."""
        return len(self.v)

    def __contains__(self, other: object) -> bool:
        """Whether a tangent coordinate, or all the coordinates of other segments, are among these."""
        if isinstance(other, Segments):
            return set(other.v) <= set(self.v) and set(other.q) <= set(self.q)
        return other in self.v

    def _pieces(self, other: Segments) -> tuple[dict[int, Piece], dict[int, Piece]]:
        expect(other, Segments, "segments combined with others", "Segments")
        mine = {piece[1][0]: piece for piece in _pieces(self)}
        theirs = {piece[1][0]: piece for piece in _pieces(other)}
        shared = [key for key in mine if key in theirs]
        if sum(len(mine[key][1]) for key in shared) != len(set(self.v) & set(other.v)) or any(
            mine[key] != theirs[key] for key in shared
        ):
            raise SpaceMismatchError("segments combined with others", "of both", "two different spaces")
        return mine, theirs

    # --- indices -----------------------------------------------------------------------------------------------------

    @cached_property
    def q_indices(self) -> Indices:
        """``q`` as an array."""
        return np.array(self.q, dtype=np.intp)

    @cached_property
    def v_indices(self) -> Indices:
        """``v`` as an array."""
        return np.array(self.v, dtype=np.intp)

    @cached_property
    def q_slice(self) -> slice | None:
        """``q`` as a slice if the coordinates are contiguous, else None."""
        return as_slice(self.q)

    @cached_property
    def v_slice(self) -> slice | None:
        """``v`` as a slice if the coordinates are contiguous, else None."""
        return as_slice(self.v)


def entries_of(space: Space, columns: BoolVector) -> BoolVector:
    """Entries (nq,) of q of these tangent columns; those of a rotation or a pose only if all its columns are meant.

    Args:
        space: the space of q.
        columns: the tangent columns (nv,), as a mask.
    """
    entries = np.zeros(space.nq, dtype=np.bool_)
    for leaf in space.leaves():
        entries[leaf.q] = columns[leaf.v] if leaf.space.is_flat else columns[leaf.v].all()
    return entries


def _position(space: Space, factor: int | str) -> int:
    names = [place.name for place in space.factors]
    if isinstance(factor, str):
        if factor not in names:
            raise UnknownNameError(f"factor of {space}", factor, names)
        return names.index(factor)
    try:
        position = -1 if type(factor) is bool else index(factor)
    except TypeError:
        position = -1
    if not 0 <= position < len(names):
        raise UnknownNameError(f"factor of {space}", factor, names)
    return position


def as_slice(indices: Sequence[int]) -> slice | None:
    """Indices that follow each other, as a slice; None where they do not."""
    start, stop = (indices[0], indices[-1] + 1) if indices else (0, 0)
    return slice(start, stop) if tuple(indices) == tuple(range(start, stop)) else None


def _pieces_of(leaf: Factor) -> list[Piece]:
    """Cut one group into its indivisible parts."""
    if not leaf.space.is_flat:
        return [(tuple(range(leaf.q.start, leaf.q.stop)), tuple(range(leaf.v.start, leaf.v.stop)), leaf.space)]
    line = Rn(1)
    return [((leaf.q.start + i,), (leaf.v.start + i,), line) for i in range(leaf.space.nv)]


def _pieces(segments: Segments) -> list[Piece]:
    """Cut segments into indivisible parts, with coordinates of the bigger space."""
    return [
        (tuple(segments.q[i] for i in q), tuple(segments.v[i] for i in v), space)
        for leaf in segments.space.leaves()
        for q, v, space in _pieces_of(leaf)
    ]


def _assembled(pieces: Sequence[Piece]) -> Segments:
    """Put parts together: sorted, neighbouring coordinates of R^n in one factor."""
    ordered = sorted(pieces, key=lambda piece: piece[1])
    spaces: list[Space] = []
    for _, _, space in ordered:
        if space.is_flat and spaces and spaces[-1].is_flat:
            spaces[-1] = Rn(spaces[-1].nv + space.nv)
        else:
            spaces.append(space)
    group = spaces[0] if len(spaces) == 1 else ProductSpace(spaces) if spaces else Rn(0)
    return Segments(tuple(i for q, _, _ in ordered for i in q), tuple(i for _, v, _ in ordered for i in v), group)

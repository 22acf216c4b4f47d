"""Stacks: ordered, named, sliced rows, whoever owns them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple, final
from weakref import WeakSet

import numpy as np

from liegroups.arguments import as_tuple, expect
from liegroups.arrays import Indices, Vector

from ..errors import (
    AmbiguousNameError,
    DuplicateError,
    SizeError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)
from ..words import counted, one_line
from .row_owner import RowOwner


class On(NamedTuple):
    """A constraint of a set that is on: the owner of its rows, and which rows of the set they are."""

    owner: RowOwner
    rows: slice


@final
class Stack:
    """Constraints (row owners) in order, with their places in stacked rows and right-hand sides. Immutable.

    Args:
        owners: row owners on the same space.

    Attributes:
        owners: as given.
        slices: rows of each owner that count, in the stack.
        rhs_slices: the right-hand side of each owner, in the stacked vector.
        size: number of rows that count.
        active: indices of these rows among all, masked ones included.
        rhs_size: size of the stacked right-hand side.
        copies: stacks that are known to have the same constraints: two are compared only once.

    Raises:
        DuplicateError: the same object twice.
        SpaceMismatchError: owners on different spaces.
    """

    def __init__(self, owners: Sequence[RowOwner]) -> None:
        self.owners = as_tuple(owners, "constraints of a stack", "constraints")
        for i, owner in enumerate(self.owners):
            expect(owner, RowOwner, f"constraint {i} of a stack", "a constraint")
        check_unique(self.owners)
        for owner in self.owners:
            if owner.space != self.owners[0].space:
                raise SpaceMismatchError(f"space of {owner.name!r}", self.owners[0].space.name, owner.space.name)
        counts = [int(owner.rows.mask.sum()) for owner in self.owners]
        self.slices = _slices(counts)
        self.full_slices = _slices([owner.group.nv for owner in self.owners])
        self.rhs_slices = _slices([owner.group.nq for owner in self.owners])
        self.size = sum(counts)
        self.full_size = sum(owner.group.nv for owner in self.owners)
        self.rhs_size = sum(owner.group.nq for owner in self.owners)
        masks = [owner.rows.mask for owner in self.owners]
        self.active: Indices = np.flatnonzero(np.concatenate(masks)) if masks else np.zeros(0, dtype=np.intp)
        self._position = {id(owner.original): i for i, owner in enumerate(self.owners)}
        self._position |= {id(owner): i for i, owner in enumerate(self.owners)}
        self.copies: WeakSet[Stack] = WeakSet()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the owners, in order."""
        return tuple(owner.name for owner in self.owners)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the owners in quotes, with the position if several share a name."""
        return tuple(label(name, i, self.names) for i, name in enumerate(self.names))

    def norms(self, error: Vector) -> list[tuple[str, float]]:
        """Each constraint with the norm of its part of an error (size,)."""
        return [(name, float(np.sqrt(error[s] @ error[s]))) for name, s in zip(self.names, self.slices, strict=True)]

    def worst(self, error: Vector) -> tuple[float, str]:
        """The largest of these norms, and whose it is in words: "'grasp' is off by 0.01"."""
        norms = [norm for _, norm in self.norms(error)]
        i = int(np.argmax(norms))
        return norms[i], f"{self.labels[i]} is off by {norms[i]:.3g}"

    def index(self, which: object) -> int:
        """Position of an owner, given as the object, its position, or its name if unique.

        Raises:
            UnknownNameError: no such constraint.
            AmbiguousNameError: several owners have the name; lists their positions.
            SizeError: no such position.
        """
        if isinstance(which, RowOwner):
            i = self._position.get(id(which), self._position.get(id(which.original)))
            if i is None:
                words = f"this constraint object {which.name!r} is not in this stack"
                if which.name in self.names:
                    words += ", but another one has its name: give that one, or the name"
                raise UnknownNameError("constraint object", which.name, self.names, words)
            return i
        if isinstance(which, str):
            found = [i for i, name in enumerate(self.names) if name == which]
            if len(found) > 1:
                raise AmbiguousNameError("constraint", which, found)
            if not found:
                raise UnknownNameError("constraint", which, tuple(dict.fromkeys(self.names)))
            return found[0]
        if not isinstance(which, bool) and isinstance(which, Integral):
            position = int(which)
            if not -len(self.owners) <= position < len(self.owners):
                raise SizeError("position of a constraint", f"below {len(self.owners)}", position)
            return position % len(self.owners)
        raise WrongObjectError("constraint", "the object, its position, or its name", which)

    def __len__(self) -> int:
        return len(self.owners)

    def __iter__(self) -> Iterator[RowOwner]:
        return iter(self.owners)

    def __getitem__(self, which: object) -> RowOwner:
        return self.owners[self.index(which)]

    def __add__(self, other: Stack) -> Stack:
        """One after the other: rows of the first, then rows of the second. Raises DuplicateError where they share."""
        return Stack(self.owners + expect(other, Stack, "stack to be added").owners)

    def __or__(self, other: Stack) -> Stack:
        """All owners of both, those that they share (the same objects) once, where the first has them."""
        mine = {id(owner) for owner in self.owners}
        theirs = expect(other, Stack, "stack to be added").owners
        return Stack([*self.owners, *(owner for owner in theirs if id(owner) not in mine)])

    def __repr__(self) -> str:
        return f"Stack({counted(self.size, 'row')}: {one_line(', '.join(self.names))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Stack, (self.owners,)


def check_unique(owners: Iterable[RowOwner]) -> None:
    """Refuse the same object twice.

    Raises:
        DuplicateError: names it.
    """
    seen: set[int] = set()
    for owner in owners:
        if id(owner) in seen:
            raise DuplicateError(f"constraint {owner.name!r} is given twice (the same object)")
        seen.add(id(owner))


def label(name: str, position: int, names: Sequence[str]) -> str:
    """A constraint's name in quotes (line breaks escaped), with its position where several have it."""
    return f"{name!r}" if names.count(name) == 1 else f"{name!r} (constraint {position})"


def _slices(sizes: Sequence[int]) -> tuple[slice, ...]:
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(slice(a, b) for a, b in pairwise(ends))

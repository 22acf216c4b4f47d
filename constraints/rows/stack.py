"""Stacks: ordered, named, sliced rows, whoever owns them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, final
from weakref import WeakSet

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..errors import (
    AmbiguousNameError,
    DuplicateError,
    SizeError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)
from ..functions.function import Function
from ..point import MovingPoint, Point
from ..words import counted, one_line
from .comparison import RowTable
from .target import Target

__all__ = ["RowOwner", "Stack", "label"]


class RowOwner(ABC):
    """Whoever has rows to stack: an implicit constraint, a loop closure, a contact.

    Attributes:
        name: in messages.
        space: where it is evaluated.
        group: where its right-hand side lives.
        rows: what each tangent row of the group asks for.
        columns, periodic: (space.nv,) as those of a Function.
        default_rhs: (group.nq,) right-hand side used where none is given.
        target: what moves the right-hand side in time, or None.
        has_position: False for rows of velocity alone (a contact without anchor): no position error, and no Problem.
        lifted_from: the owner that the user gave, where this one is the same on a bigger space, however often it was
            lifted; None where this is it.
        plain_function: where the errors are the value of a function less the right-hand side, and nothing else: the
            function, so that `stack_rows` evaluates it straight into the stack. None elsewhere.
        mixes: whether the rows may be mixed for a step: no mask takes a part of what would be mixed.
    """

    name: str
    space: Space
    group: Space
    rows: RowTable
    columns: BoolVector
    periodic: BoolVector
    default_rhs: Vector
    target: Target | None = None
    has_position: bool = True
    lifted_from: RowOwner | None = None
    mixes: bool = False
    plain_function: Function | None = None

    @property
    def original(self) -> RowOwner:
        """The constraint object that the user gave: this one, or the one it was lifted from."""
        return self if self.lifted_from is None else self.lifted_from

    def write_for_step(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """As `write_position`, but times any invertible matrix that keeps the norm: Newton's step is the same."""
        self.write_position(point, rhs, error, jacobian)

    @abstractmethod
    def write_position(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """Write the errors of all rows, and their Jacobian where one is given; what masked rows hold does not count.

        Args:
            point: where.
            rhs: right-hand side (group.nq,); None for the neutral element.
            error: (group.nv,) to be filled.
            jacobian: (group.nv, space.nv) to be filled; as in `Function.evaluate`.
        """

    @abstractmethod
    def write_velocity(
        self, motion: MovingPoint, rhs: Vector | None, rhs_velocity: Vector | None, error: Vector, jacobian: Matrix
    ) -> None:
        """Write the time derivative of the errors, and the Jacobian.

        Args:
            motion: where, and how fast.
            rhs: right-hand side (group.nq,); None for the neutral element.
            rhs_velocity: its body velocity (group.nv,); None where it rests.
            error: (group.nv,) to be filled.
            jacobian: (group.nv, space.nv) to be filled.
        """

    @abstractmethod
    def write_acceleration(
        self,
        motion: MovingPoint,
        rhs: Vector | None,
        rhs_velocity: Vector | None,
        rhs_acceleration: Vector | None,
        error: Vector,
        jacobian: Matrix,
    ) -> None:
        r"""Write the second time derivative of the errors at zero acceleration of the space, and the Jacobian.

        With joint accelerations a it is :math:`\ddot e = J a + error`: the error is the drift
        :math:`\dot J v` less the acceleration of the target.

        Args:
            motion: where, and how fast.
            rhs: right-hand side (group.nq,); None for the neutral element.
            rhs_velocity, rhs_acceleration: its body velocity and the derivative of that (group.nv,); None where zero.
            error: (group.nv,) to be filled.
            jacobian: (group.nv, space.nv) to be filled.
        """

    @abstractmethod
    def rhs_at(self, point: Point) -> Vector:
        """The right-hand side (group.nq,) that the point satisfies, on the rows that take one."""

    @abstractmethod
    def on(self, space: Space) -> RowOwner:
        """The same rows on a bigger space, one of whose factors is where they live."""

    @abstractmethod
    def check_rhs(self, rhs: Any, what: str | None = None) -> Vector:
        """A right-hand side as a point of the group (nq,), read-only; a typed error where it does not suit the rows.

        Args:
            rhs: what a user gave.
            what: how messages name it.
        """

    def __str__(self) -> str:
        return self.name

    def unclipped(self) -> RowOwner:
        """The same rows but with the interval [0, 0] where it is wider than a point: values, not distances.

        Owners with such rows write it; those whose rows are all equalities are their own.
        """
        return self


@final
class Stack:
    """Row owners in order, with the place of each in stacked rows and in stacked right-hand sides. Immutable.

    Args:
        owners: row owners on one space.

    Attributes:
        owners: as given.
        slices: rows of each owner that count, in the stack.
        rhs_slices: the right-hand side of each owner, in the stacked vector.
        size: number of rows that count.
        active: indices of these rows among all, masked ones included.
        rhs_size: size of the stacked right-hand side.

    Raises:
        DuplicateError: the same object twice.
        SpaceMismatchError: owners on different spaces.
    """

    def __init__(self, owners: Sequence[RowOwner]) -> None:
        if not isinstance(owners, Sequence) or isinstance(owners, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError("constraints of a stack", "a sequence of constraints", owners)
        self.owners = tuple(owners)
        seen: set[int] = set()
        for i, owner in enumerate(self.owners):
            if not isinstance(owner, RowOwner):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise WrongObjectError(f"constraint {i} of a stack", "a constraint", owner)
            if id(owner) in seen:
                raise DuplicateError(f"constraint {owner.name!r} is given twice (the same object)")
            seen.add(id(owner))
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
        self._copies: WeakSet[Stack] = WeakSet()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the owners, in order."""
        return tuple(owner.name for owner in self.owners)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the owners in quotes, with the position where several share one."""
        return tuple(label(name, i, self.names) for i, name in enumerate(self.names))

    def index(self, which: object) -> int:
        """Position of an owner, given as the object, its position, or its name when unique.

        Raises:
            UnknownNameError: not there.
            AmbiguousNameError: several owners have the name; lists their positions.
            SizeError: no such position.
        """
        if isinstance(which, RowOwner):
            i = self._position.get(id(which), self._position.get(id(which.original)))
            if i is None:
                words = f"this constraint object {which.name!r} is none of those here"
                if which.name in self.names:
                    words += ", one of which has its name: give that one, or the name"
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

    def is_known_copy(self, other: Stack) -> bool:
        """Whether `remember_copy` was told so: two stacks are compared once."""
        return other in self._copies

    def remember_copy(self, other: Stack) -> None:
        """Remember that another stack has the same constraints, for as long as it lives."""
        self._copies.add(other)

    def __len__(self) -> int:
        return len(self.owners)

    def __iter__(self) -> Iterator[RowOwner]:
        return iter(self.owners)

    def __getitem__(self, which: object) -> RowOwner:
        return self.owners[self.index(which)]

    def __add__(self, other: Stack) -> Stack:
        """One after the other: rows of the first, then rows of the second. Raises DuplicateError where they share."""
        return Stack(self.owners + self._checked(other).owners)

    def __or__(self, other: Stack) -> Stack:
        """All owners of both, those that they share (the same objects) once, where the first has them."""
        mine = {id(owner) for owner in self.owners}
        return Stack([*self.owners, *(owner for owner in self._checked(other).owners if id(owner) not in mine)])

    @staticmethod
    def _checked(other: object) -> Stack:
        if not isinstance(other, Stack):
            raise WrongObjectError("stack to be added", "a Stack", other)
        return other

    def __repr__(self) -> str:
        return f"Stack({counted(self.size, 'row')}: {one_line(', '.join(self.names))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Stack, (self.owners,)


def label(name: str, position: int, names: Sequence[str]) -> str:
    """A constraint's name in quotes (line breaks escaped), with its position where several have it.

    Args:
        name, position: of the constraint.
        names: of all.
    """
    return f"{name!r}" if names.count(name) == 1 else f"{name!r} (constraint {position})"


def _slices(sizes: Sequence[int]) -> tuple[slice, ...]:
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(slice(a, b) for a, b in pairwise(ends))

"""Right-hand sides of all constraints of a problem: one flat vector beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, final

import numpy as np

from liegroups.arguments import expect, finite_vector
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import read_only, read_only_copy, set_fields

from ..errors import OperatorError, OtherConstraintsError, SizeError, WrongObjectError
from ..exports import from_above
from ..functions.function import Function
from ..keywords import unchanging
from ..point import Point, as_point
from ..words import counted, first_names
from ..workspace import Workspace
from .explicit import Explicit
from .row_owner import RowOwner
from .same_constraints import what_differs
from .stack import Stack

_T = TypeVar("_T")


@final
@unchanging("rhs.replace(name, point) gives a changed copy")
class RightHandSide:
    """The right-hand sides of a stack of constraints, concatenated. Immutable: methods return changed copies.

    Args:
        stack: the constraints, in order.
        vector: (stack.rhs_size,), the points of the output groups, concatenated; each is checked. By default the
            default of each constraint.
        velocity, acceleration: (sum of group.nv,) of moving targets, in their body frames; zero by default.

    Attributes:
        stack: the constraints.
        vector: (rhs_size,), read-only.
        velocity, acceleration: as given, or None.

    Raises:
        RightHandSideError: a value on a row that takes none; the message names the row.
        SizeError, NotFiniteError, NotNormalizedError: another wrong value; the message names the constraint.
    """

    __slots__ = ("_points", "acceleration", "stack", "vector", "velocity")

    if TYPE_CHECKING:
        stack: Stack
        vector: Vector
        velocity: Vector | None
        acceleration: Vector | None
        _points: dict[int, Vector | None] | None

    def __init__(
        self,
        stack: Stack,
        vector: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
    ) -> None:
        expect(stack, Stack, "stack of right-hand sides", "a Stack (problem.constraints)")
        if vector is None:
            parts = [owner.default_rhs for owner in stack]
        else:
            if isinstance(vector, Mapping):
                by_name = "a mapping (to set one constraint by its name: problem.rhs.replace(name, point))"
                raise WrongObjectError(
                    "right-hand side", f"{counted(stack.rhs_size, 'number')} or a RightHandSide", by_name
                )
            if isinstance(vector, Point):
                read = "a RightHandSide (to get one that a posture satisfies: problem.rhs_from(posture.q))"
                raise WrongObjectError("right-hand side", read, f"a {type(vector).__name__}")
            try:
                numbers = _vector(vector, stack.rhs_size, "right-hand side")
            except SizeError as error:
                raise SizeError(error.what, error.expected, error.received, _sizes(stack)) from None
            parts = [owner.check_rhs(numbers[s]) for owner, s in zip(stack, stack.rhs_slices, strict=True)]
        size, of = stack.full_size, "of right-hand sides"
        moving = None if velocity is None else _vector(velocity, size, f"velocity {of}")
        turning = None if acceleration is None else _vector(acceleration, size, f"acceleration {of}")
        _fill(self, stack, read_only(np.concatenate([np.zeros(0), *parts])), moving, turning)

    def read_at(self, point: Point | ArrayLike, which: Iterable[int] | None = None) -> RightHandSide:
        """A copy in which the right-hand sides of some constraints become those that a point satisfies.

        These are valid and not checked again.

        Args:
            point: where; a point, or a configuration (nq,).
            which: positions of the constraints; all by default.
        """
        vector, blocks = self.vector.copy(), self.stack.rhs_slices
        changed = range(len(self.stack)) if which is None else tuple(which)
        if changed:
            point = as_point(point, self.stack.owners[0].space)
            for i in changed:
                vector[blocks[i]] = self.stack.owners[i].rhs_at(point)
        return self.with_valid(vector)

    @property
    def points(self) -> Mapping[int, Vector | None]:
        """Id of a constraint -> its point; None for the zero of a vector space."""
        points = self._points
        if points is None:
            blocks = [(owner, self.vector[s]) for owner, s in zip(self.stack, self.stack.rhs_slices, strict=True)]
            points = {id(owner): None if owner.group.is_flat and not x.any() else x for owner, x in blocks}
            set_fields(self, _points=points)
        return points

    def with_valid(self, vector: Vector) -> RightHandSide:
        """Right-hand sides of the same constraints, at rest, from a vector that is known to be valid.

        Args:
            vector: (rhs_size,); not copied, do not change it afterwards.
        """
        other = object.__new__(RightHandSide)
        _fill(other, self.stack, read_only(vector))
        return other

    def taken_from(self, other: RightHandSide, which: Iterable[int]) -> RightHandSide:
        """A copy in which some constraints take their right-hand sides from another problem that has them too.

        Args:
            other: right-hand sides of the other problem.
            which: positions of the constraints here; the objects are in the other problem too.
        """
        vector = self.vector.copy()
        for i in which:
            owner = self.stack.owners[i]
            vector[self.stack.rhs_slices[i]] = other.vector[other.stack.rhs_slices[other.stack.index(owner)]]
        return self.with_valid(vector)

    def of(self, constraint: RowOwner | str | int) -> Vector:
        """The point (group.nq,) of one constraint, given as the object, its position, or its name when unique."""
        return self.vector[self.stack.rhs_slices[self.stack.index(constraint)]].copy()

    def map_of(self, explicit: Explicit, workspace: Workspace | None = None) -> Function:
        """The map q -> q_out of one explicit constraint with its right-hand side; a workspace keeps it (see `kept`)."""
        if workspace is None:
            return explicit.output_function(self.of(explicit))
        return self.kept(explicit, workspace, "map", explicit.output_function)

    def kept(self, explicit: Explicit, workspace: Workspace, name: str, make: Callable[[Vector], _T]) -> _T:
        """The result of `make` for the right-hand side of an explicit constraint, recomputed only when that changes.

        Args:
            explicit: one of the constraints.
            workspace: stores the result, for one right-hand side at a time.
            name: name of the result.
            make: function of the right-hand side (group.nq,).
        """
        kept: _Kept = workspace.resource(explicit, name, _Kept)
        if kept.seen is not self:
            kept.seen = None
            point = self.vector[self.stack.rhs_slices[self.stack.index(explicit)]]
            key = point.tobytes()  # compares bit for bit, and faster than numbers
            if kept.key != key:
                kept.key, kept.made = None, make(point)
                kept.key = key
            kept.seen = self
        return kept.made

    def replace(self, constraint: RowOwner | str | int, point: Any) -> RightHandSide:
        """A copy with another right-hand side for one constraint.

        Args:
            constraint: the object, its position, or its name when unique.
            point: numbers, an Element, or a placement or rotation if the outputs are poses or rotations.
        """
        i = self.stack.index(constraint)
        vector = self.vector.copy()
        vector[self.stack.rhs_slices[i]] = self.stack.owners[i].check_rhs(point)
        return RightHandSide(self.stack, vector, self.velocity, self.acceleration)

    def at(self, t: float) -> RightHandSide:
        """The right-hand sides at time t [s]: targets with their velocities and accelerations, the others at rest.

        Args:
            t: time; no clock is read.
        """
        vector = self.vector.copy()
        velocity, acceleration = np.zeros(self.stack.full_size), np.zeros(self.stack.full_size)
        for owner, q, v in zip(self.stack, self.stack.rhs_slices, self.stack.full_slices, strict=True):
            if owner.target is not None:
                vector[q] = owner.check_rhs(owner.target.at(t))
                owner.target.watch(t, owner.group, owner.name)
                velocity[v] = owner.target.velocity_at(t, owner.group)
                acceleration[v] = owner.target.acceleration_at(t, owner.group)
        moving = _vector(velocity, velocity.size, "velocity of right-hand sides")
        turning = _vector(acceleration, acceleration.size, "acceleration of right-hand sides")
        other = object.__new__(RightHandSide)  # what does not move was checked when this one was made
        _fill(other, self.stack, read_only(vector), moving, turning)
        return other

    def same_as(self, other: RightHandSide, tolerance: float = 1e-12) -> bool:
        """True if every point is the same element of its group (q and -q are equal), within a tangent tolerance."""
        if len(self.stack) != len(other.stack):
            return False
        for owner, peer, s in zip(self.stack, other.stack, self.stack.rhs_slices, strict=True):
            if owner.group != peer.group:
                return False
            apart = owner.group.difference(self.vector[s], other.vector[s])
            if float(np.abs(apart).max(initial=0.0)) > tolerance:
                return False
        return True

    def on(self, stack: Stack) -> RightHandSide:
        """These right-hand sides for another copy of the same stack of constraints, for example after unpickling.

        Raises:
            OtherConstraintsError: the stack has other constraints (even if their names are the same).
        """
        if stack is self.stack:
            return self
        if self.stack not in stack.copies:
            reason = what_differs(self.stack, stack)
            if reason:
                raise OtherConstraintsError(reason, str(stack), str(self.stack))
            stack.copies.add(self.stack)
        return RightHandSide(stack, self.vector, self.velocity, self.acceleration)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them to a JSON file, by constraint, for `RightHandSide.load`. Raises FileError."""
        from_above("save_rhs")(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], stack: Stack) -> RightHandSide:
        """Read them from a file, for a stack (`problem.constraints`) of the same names and groups. Raises FileError."""
        return from_above("load_rhs")(path, stack)

    if not TYPE_CHECKING:

        def __getitem__(self, constraint: object) -> NoReturn:
            """Refused: `of` reads one."""
            raise OperatorError(f"rhs[{constraint!r}]", "use rhs.of(name) for the point of a constraint")

        def __setitem__(self, constraint: object, point: object) -> NoReturn:
            """Refused: they do not change."""
            way = "right-hand sides are immutable; use rhs = rhs.replace(name, point)"
            raise OperatorError(f"rhs[{constraint!r}] = ...", way)

    def __repr__(self) -> str:
        parts = (f"{o.name}: {np.array2string(self.of(o), precision=4)}" for o in self.stack)
        return f"RightHandSide({'; '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return RightHandSide, (self.stack, self.vector, self.velocity, self.acceleration)


_SLOTS: Any = RightHandSide
_STACK, _VECTOR, _POINTS = _SLOTS.stack.__set__, _SLOTS.vector.__set__, _SLOTS._points.__set__
_VELOCITY, _ACCELERATION = _SLOTS.velocity.__set__, _SLOTS.acceleration.__set__


def _fill(
    made: RightHandSide,
    stack: Stack,
    vector: Vector,
    velocity: Vector | None = None,
    acceleration: Vector | None = None,
) -> None:
    """Set the fields past their lock."""
    _STACK(made, stack)
    _VECTOR(made, vector)
    _POINTS(made, None)
    _VELOCITY(made, velocity)
    _ACCELERATION(made, acceleration)


class _Kept:
    """What was made of a right-hand side, its bytes, and the right-hand sides that it was last asked for."""

    __slots__ = ("key", "made", "seen")

    def __init__(self) -> None:
        self.seen: RightHandSide | None = None
        self.key: bytes | None = None
        self.made: Any = None


def _vector(numbers: ArrayLike, size: int, what: str) -> Vector:
    return read_only_copy(finite_vector(numbers, size, what))


def _sizes(stack: Stack) -> str:
    """How many numbers each of several constraints takes, in words; nothing for a single one."""
    if len(stack) < 2:
        return ""
    sizes = [f"{s.stop - s.start} of '{name}'" for name, s in zip(stack.names, stack.rhs_slices, strict=True)]
    return f"{first_names(sizes)}; problem.rhs.replace(name, point) changes one"

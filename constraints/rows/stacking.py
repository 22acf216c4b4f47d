"""`stack_rows`, the only code that stacks rows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import inf
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import Space
from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.segments import as_slice

from ..errors import SpaceMismatchError, UndefinedError, WrongObjectError
from ..linear_algebra import dot, norm
from ..point import MovingPoint, Point, as_point
from .one_sided import OneSidedRows
from .right_hand_side import RightHandSide
from .row_owner import Reference, RowOwner
from .stack import Stack


class Order(Enum):
    """Order of derivative of the rows: position, velocity or acceleration."""

    POSITION = "errors of the configuration"
    VELOCITY = "J v minus the velocity of the targets"
    ACCELERATION = "drift minus the acceleration of the targets, which J a must cancel"


@final
class Rows:
    """Stacked rows, in the order of the stack: views of the workspace, valid until it is used for other rows.

    Attributes:
        error: (stack.size,).
        jacobian: (stack.size, nv); not up to date if it was not requested.
        parts: views of the error, one for each owner with rows that count.
    """

    __slots__ = ("error", "jacobian", "parts")

    def __init__(self, error: Vector, jacobian: Matrix, slices: Sequence[slice]) -> None:
        self.error, self.jacobian = error, jacobian
        self.parts = tuple(error[s] for s in slices if s.stop > s.start)

    def with_jacobian(self, jacobian: Matrix) -> Rows:
        """The same errors with another Jacobian."""
        other = Rows(self.error, jacobian, ())
        other.parts = self.parts
        return other

    def copy(self) -> Rows:
        """A copy in new memory, without `parts`: for rows that are solved, not measured."""
        return Rows(self.error.copy(), self.jacobian.copy(), ())

    @property
    def merit(self) -> float:
        """Squared norm of all rows."""
        return dot(self.error, self.error) if self.parts else 0.0

    def measure(self) -> tuple[float, float]:
        """Merit, and the largest norm over the owners; infinite if an error is NaN."""
        merit = worst = 0.0
        for part in self.parts:
            length = norm(part)
            merit += length * length
            if length > worst:  # R1
                worst = length
        return (merit, worst) if merit < inf else (inf, inf)

    @property
    def residual(self) -> float:
        """Largest norm over the owners of their errors; infinite if an error is NaN."""
        return self.measure()[1]


class _Block(NamedTuple):
    """Where an owner writes: its rows in the stack with masked ones, and memory for all of them."""

    owner: RowOwner
    rows: slice
    error: Vector
    jacobian: Matrix


class _Masked(NamedTuple):
    """What is taken from the memory of an owner with masked rows: which rows count, and where they go."""

    where: slice | Indices
    error: Vector
    jacobian: Matrix
    to_error: Vector
    to_jacobian: Matrix


@final
class StackedRows:
    """The rows of one stack in one workspace, with a view for each owner: where `stack_rows` stacks.

    Rows that count and follow each other in the whole stack are a view of it; elsewhere each owner with masked rows
    has memory of its own, from which those that count are copied.

    Args:
        stack: whose rows.
        space: of the points.

    Attributes:
        rows: what is stacked, views.
        one_sided: those with an interval, as they are; None where there is none.
        reduced: to be set by whoever adds to columns of the Jacobian in place: functions write only the columns that
            they declare, so the others must be zero again before the next evaluation.
    """

    def __init__(self, stack: Stack, space: Space) -> None:
        _check_stack(stack)
        if stack.owners and stack.owners[0].space != space:
            raise SpaceMismatchError("point of stacked rows", stack.owners[0].space.name, space.name)
        run = as_slice(stack.active.tolist())
        sizes = stack.full_slices if run is not None else stack.slices
        rows = stack.full_size if run is not None else stack.size
        error, jacobian = np.zeros(rows), np.zeros((rows, space.nv))
        self.rows = Rows(*((error, jacobian) if run is None else (error[run], jacobian[run])), stack.slices)
        self._blocks: list[_Block] = []
        self._masked: list[_Masked] = []
        self._jacobians = [jacobian]
        for owner, full, s in zip(stack.owners, stack.full_slices, sizes, strict=True):
            counting, n = np.flatnonzero(owner.rows.mask), owner.group.nv
            if s.stop - s.start == n:
                self._blocks.append(_Block(owner, full, error[s], jacobian[s]))
                continue
            own, kept = (np.zeros(n), np.zeros((n, space.nv))), as_slice(counting.tolist())
            self._blocks.append(_Block(owner, full, *own))
            self._jacobians.append(own[1])
            self._masked.append(_Masked(counting if kept is None else kept, *own, error[s], jacobian[s]))
        one_sided = OneSidedRows(stack, space.nv)
        self.one_sided = one_sided if one_sided else None
        self._unclipped = [owner.unclipped() for owner in stack.owners]
        self.reduced = False
        self._defaults: RightHandSide | None = None

    @staticmethod
    def of(stack: Stack, point: Point | MovingPoint) -> StackedRows:
        """Those of a stack in the workspace of a point."""
        return point.workspace.resource(stack, "rows", StackedRows, stack, point.space)

    def defaults(self, stack: Stack) -> RightHandSide:
        """Each owner's default right-hand side, read once."""
        if self._defaults is None:
            self._defaults = RightHandSide(stack)
        return self._defaults

    def position(self, point: Point, sides: RightHandSide, jacobian: bool = True) -> Rows:
        """Errors at a point, and their Jacobian where it is asked for."""
        if self.reduced and jacobian:
            self._clear()
        for (owner, _, error, block), unclipped in zip(self._blocks, self._unclipped, strict=True):
            unclipped.write_position(point, sides.points[id(owner)], error, block if jacobian else None)
        rows = self._selected(jacobian) if self._masked else self.rows
        if self.one_sided is not None:
            self.one_sided.clip(rows, jacobian)
        return rows

    def velocity(self, motion: MovingPoint, sides: RightHandSide, with_rates: bool) -> Rows:
        """Time derivatives of the errors along a motion, and the Jacobian."""
        if self.reduced:
            self._clear()
        for owner, s, error, block in self._blocks:
            rate = sides.velocity[s] if with_rates and sides.velocity is not None else None
            owner.write_velocity(motion, Reference(sides.points[id(owner)], rate), error, block)
        return self._selected(True)

    def acceleration(self, motion: MovingPoint, sides: RightHandSide, with_rates: bool) -> Rows:
        """Second time derivatives of the errors along a motion at zero acceleration of the space, and the Jacobian."""
        if self.reduced:
            self._clear()
        velocity, acceleration = (sides.velocity, sides.acceleration) if with_rates else (None, None)
        for owner, s, error, block in self._blocks:
            rates = (None if velocity is None else velocity[s], None if acceleration is None else acceleration[s])
            owner.write_acceleration(motion, Reference(sides.points[id(owner)], *rates), error, block)
        return self._selected(True)

    def _clear(self) -> None:
        for jacobian in self._jacobians:
            jacobian.fill(0.0)
        self.reduced = False

    def mask_undefined(self) -> None:
        """Neither errors nor a Jacobian, until rows are stacked again."""
        self._clear()
        self.rows.error.fill(0.0)

    def _selected(self, jacobian: bool) -> Rows:
        """The rows that count: those of owners with masked rows are copied, the others are there already."""
        for where, error, block, to_error, to_block in self._masked:
            to_error[:] = error[where]
            if jacobian:
                to_block[:] = block[where]
        return self.rows


def evaluate_optional(stacked: StackedRows, point: Point, sides: RightHandSide, jacobian: bool) -> None:
    """Stack position rows that need not hold: where they have no value there are none."""
    try:
        rows = stacked.position(point, sides, jacobian)
    except UndefinedError:
        stacked.mask_undefined()
        return
    if not (np.isfinite(rows.error).all() and (not jacobian or np.isfinite(rows.jacobian).all())):
        stacked.mask_undefined()


_POSITION = Order.POSITION  # looked up once: members of an Enum are slow to find


def stack_rows(
    stack: Stack,
    point: Point | MovingPoint | ArrayLike,
    order: Order = _POSITION,
    rhs: RightHandSide | None = None,
    *,
    jacobian: bool = True,
) -> Rows:
    r"""Evaluate and stack the rows of all owners (only rows that count).

    POSITION: the error of each row and its Jacobian. VELOCITY: the time derivative of the errors,
    :math:`J v + \partial_{rhs} e\; \nu_{rhs}`, and the same Jacobian. ACCELERATION: their second time derivative at
    zero joint acceleration, and the same Jacobian: with joint accelerations a it is :math:`J a + error`.

    Args:
        stack: the owners.
        point: a point, or a configuration (nq,); for VELOCITY and ACCELERATION a motion.
        order: order of derivative.
        rhs: right-hand sides; the default of each owner if absent.
        jacobian: False leaves the Jacobian out (POSITION only).

    Returns:
        Views of the workspace of the point; copies if `point` is a configuration.

    Raises:
        WrongObjectError: VELOCITY or ACCELERATION at a point without velocity; or an argument of another type.
        SpaceMismatchError: the point is not in the space of the stack, or the right-hand side has other constraints.
        UndefinedError: a function has no value there.
    """
    there: Any = point
    try:
        memory = StackedRows.of(stack, there)
        sides = memory.defaults(stack) if rhs is None else rhs
        if there.is_moving is False:
            if order is not _POSITION:
                _check_order(order, there)
            return memory.position(there, sides, bool(jacobian))
        if order is Order.VELOCITY:
            return memory.velocity(there, sides, rhs is not None)
        if order is not Order.ACCELERATION:
            _check_order(order, there)
        return memory.acceleration(there, sides, rhs is not None)
    except (AttributeError, KeyError):  # checked once it has failed: this is the solver's loop
        _check_arguments(stack, there, rhs)
        if isinstance(there, Point | MovingPoint):
            raise
    placed = as_point(there, stack.owners[0].space, "point of stacked rows")  # held until all is copied
    rows = stack_rows(stack, placed, order, rhs, jacobian=jacobian)
    return Rows(rows.error.copy(), rows.jacobian.copy(), stack.slices)


def _check_order(order: object, point: Point | MovingPoint) -> None:
    """Refuse an order that is none, or that does not go with the point."""
    order = expect(order, Order, "order of stacked rows", "Order.POSITION, VELOCITY or ACCELERATION")
    if point.is_moving and order is Order.POSITION:
        raise WrongObjectError("point of position rows", "a point, robot.at(q)", point)
    if not point.is_moving and order is not Order.POSITION:
        raise WrongObjectError(f"point of {order.name.lower()} rows", "a motion, robot.at(q, v)", point)


def _check_stack(stack: object) -> None:
    expect(stack, Stack, "stack of rows", "a Stack (problem.constraints)")


def _check_arguments(stack: Stack, point: object, rhs: object) -> None:
    """Refuse arguments of another kind, and a right-hand side that lacks constraints of the stack."""
    _check_stack(stack)
    numbers: tuple[type[Any], ...] = (np.ndarray, list, tuple) if stack.owners else ()
    words = "a point or a motion (robot.at), or a configuration"
    expect(point, (Point, MovingPoint, *numbers), "point of stacked rows", words)
    if rhs is not None:
        check_sides(stack, rhs)


def check_sides(stack: Stack, rhs: object) -> None:
    """Refuse right-hand sides that are none, or lack constraints of the stack."""
    rhs = expect(rhs, RightHandSide, "right-hand side of stacked rows", "a RightHandSide (problem.rhs)")
    if not all(id(owner) in rhs.points for owner in stack):
        raise SpaceMismatchError("right-hand side of other constraints", str(stack), str(rhs.stack))

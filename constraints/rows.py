"""`stack_rows`, the only code that stacks rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import inf, sqrt
from typing import final

import numpy as np

from liegroups import Space

from .arrays import Matrix, Vector
from .errors import SpaceMismatchError, WrongObjectError
from .point import MovingPoint, Point
from .right_hand_side import RightHandSide
from .stack import RowOwner, Stack

__all__ = ["Order", "Rows", "stack_rows"]


class Order(Enum):
    """At which level rows are asked for."""

    POSITION = "errors of the configuration"
    VELOCITY = "J v less the velocity of the targets"


@final
class Rows:
    """Stacked rows, in the order of the stack: views of the workspace, valid until the next stacking there.

    Attributes:
        error: (stack.size,).
        jacobian: (stack.size, nv); not up to date where it was not asked for.
        parts: views of the error, one for each owner with rows that count.
    """

    __slots__ = ("error", "jacobian", "parts")

    def __init__(self, error: Vector, jacobian: Matrix, slices: Sequence[slice]) -> None:
        self.error, self.jacobian = error, jacobian
        self.parts = tuple(error[s] for s in slices if s.stop > s.start)

    @property
    def merit(self) -> float:
        """Squared norm of all rows."""
        return float(self.error.dot(self.error))

    def measure(self) -> tuple[float, float]:
        """Merit, and largest norm of the rows of one owner; infinite where one is not a number."""
        worst = total = 0.0
        for part in self.parts:
            square = part.dot(part).item()
            total += square
            if square > worst:
                worst = square
        return (total, sqrt(worst)) if total < inf else (inf, inf)

    @property
    def residual(self) -> float:
        """Largest norm of the rows of one owner; infinite where one is not a number."""
        return self.measure()[1]


@final
class _Memory:
    """Stacked rows of one stack in one workspace, with a view for each owner."""

    __slots__ = ("all_rows", "blocks", "error", "full_error", "full_jacobian", "jacobian", "other", "plain", "rows")

    def __init__(self, stack: Stack, space: Space) -> None:
        _check_stack(stack)
        if stack.owners and stack.owners[0].space != space:
            raise SpaceMismatchError("point of stacked rows", stack.owners[0].space.name, space.name)
        nv = space.nv
        self.full_error = np.zeros(stack.full_size)
        self.full_jacobian = np.zeros((stack.full_size, nv))
        self.all_rows = stack.size == stack.full_size
        self.error = self.full_error if self.all_rows else np.zeros(stack.size)
        self.jacobian = self.full_jacobian if self.all_rows else np.zeros((stack.size, nv))
        self.rows = Rows(self.error, self.jacobian, stack.slices)
        self.blocks: list[tuple[RowOwner, int, Vector, Matrix]] = [
            (owner, id(owner), self.full_error[s], self.full_jacobian[s])
            for owner, s in zip(stack.owners, stack.full_slices, strict=True)
        ]
        self.plain: list[tuple[Callable[..., None], Vector, Matrix]] = [
            (owner.plain_function.evaluate, error, block)
            for owner, _, error, block in self.blocks
            if owner.plain_function is not None
        ]
        self.other = [block for block in self.blocks if block[0].plain_function is None]


_POSITION = Order.POSITION  # looked up once: members of an Enum are slow to find


def stack_rows(
    stack: Stack,
    point: Point | MovingPoint,
    order: Order = _POSITION,
    rhs: RightHandSide | None = None,
    *,
    jacobian: bool = True,
) -> Rows:
    r"""Evaluate and stack the rows of all owners that count.

    POSITION: the error of each row and its Jacobian. VELOCITY: the time derivative of the errors,
    :math:`J v + \partial_{rhs} e\; \nu_{rhs}`, and the same Jacobian.

    Args:
        stack: whose rows.
        point: where; for VELOCITY a motion.
        order: at which level.
        rhs: right-hand sides; each owner's default if absent.
        jacobian: False leaves the Jacobian out (POSITION only).

    Returns:
        Views of the workspace of the point.

    Raises:
        WrongObjectError: VELOCITY at a point without velocity; or an argument that is something else.
        SpaceMismatchError: the point is in another space than the stack, or the right-hand side of other constraints.
        UndefinedError: a function has no value there.
    """
    try:
        memory = point.workspace.resource(stack, "rows", _Memory, stack, point.space)
        sides = RightHandSide(stack) if rhs is None else rhs
        if point.is_moving is False:
            if order is not _POSITION:
                _check_order(order, point)
            if memory.plain:
                for evaluate, error, block in memory.plain:
                    evaluate(point, error, block if jacobian else None)
                offset = sides.offset(stack)
                if offset is not None:
                    np.subtract(memory.full_error, offset, memory.full_error)
            for owner, key, error, block in memory.other:
                owner.write_position(point, sides.points[key], error, block if jacobian else None)
        else:
            if order is not Order.VELOCITY:
                _check_order(order, point)
            for (owner, key, error, block), s in zip(memory.blocks, stack.full_slices, strict=True):
                rate = None if rhs is None or rhs.velocity is None else rhs.velocity[s]
                owner.write_velocity(point, sides.points[key], rate, error, block)
    except (AttributeError, KeyError):  # checked once it has failed: this is the solver's loop
        _check_arguments(stack, point, rhs)
        raise
    if not memory.all_rows:
        memory.full_error.take(stack.active, 0, memory.error, "clip")
        if jacobian:
            memory.full_jacobian.take(stack.active, 0, memory.jacobian, "clip")
    return memory.rows


def _check_order(order: object, point: Point | MovingPoint) -> None:
    """Refuse an order that is none, or that does not go with the point."""
    if not isinstance(order, Order):
        raise WrongObjectError("order of stacked rows", "Order.POSITION or Order.VELOCITY", order)
    if point.is_moving and order is Order.POSITION:
        raise WrongObjectError("point of position rows", "a point, robot.at(q)", point)
    if not point.is_moving and order is Order.VELOCITY:
        raise WrongObjectError("point of velocity rows", "a motion, robot.at(q, v)", point)


def _check_stack(stack: object) -> None:
    if not isinstance(stack, Stack):
        raise WrongObjectError("stack of rows", "a Stack (problem.constraints)", stack)


def _check_arguments(stack: Stack, point: object, rhs: object) -> None:
    """Refuse arguments of another kind, and a right-hand side that lacks constraints of the stack."""
    _check_stack(stack)
    if not isinstance(point, Point | MovingPoint):
        raise WrongObjectError("point of stacked rows", "a point or a motion (robot.at)", point)
    if rhs is not None and not isinstance(rhs, RightHandSide):
        raise WrongObjectError("right-hand side of stacked rows", "a RightHandSide (problem.rhs)", rhs)
    if rhs is not None and not all(id(owner) in rhs.points for owner in stack):
        raise SpaceMismatchError("right-hand side of other constraints", str(stack), str(rhs.stack))

"""Owners of rows: implicit and explicit constraints, loop closures, contacts. All rows are evaluated here."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Matrix, Vector
from liegroups.frozen import read_only_copy, set_fields
from liegroups.segments import entries_of

from ..errors import RightHandSideError, SpaceMismatchError
from ..functions.function import Function
from ..point import MovingPoint, Point
from ..robot.arguments import point_numbers
from .comparison import RowTable
from .rotation_vectors import rates_to_nearest_turn, shorter, shorter_rates, to_nearest_turn
from .row_slopes import RowSlopes, has_formulas, row_slopes
from .target import Target


class Reference(NamedTuple):
    """A right-hand side that may move: the point that rows are compared to, and its motion.

    Attributes:
        point: (group.nq,); None for the neutral element.
        velocity: its body velocity (group.nv,); None if it is at rest.
        acceleration: derivative of the velocity (group.nv,); None if it is zero.
    """

    point: Vector | None = None
    velocity: Vector | None = None
    acceleration: Vector | None = None


class RowOwner(ABC):
    r"""Base class of everything with rows: implicit and explicit constraints, loop closures, contacts.

    Its rows are those of a function h, :math:`\log(rhs^{-1}\, h(q))`, each compared to its interval by a `RowTable`.
    A subclass sets the function and the table (`take_rows`), and defines the same rows on a bigger space
    (`on`).

    Attributes:
        name: its name in messages.
        measured: h, on the space where the rows are evaluated.
        space: space of the configurations.
        group: space of its right-hand side.
        rows: the condition on each tangent row of the group.
        columns, periodic: (space.nv,) as those of a Function.
        errors_are_values: whether errors are simply the value of h minus the right-hand side.
        default_rhs: (group.nq,) right-hand side used if none is given.
        target: the Target that gives the right-hand side at each time, or None.
        has_position: False for rows of velocity only (a contact without anchor): not allowed in a Problem.
        is_contact: whether it is a contact: it may let go of the world, which closures never do.
        rate_function: function whose Jacobian and drift give velocity and acceleration rows, if these are not the
            derivatives of the position rows (only vector outputs and equalities). Otherwise None.
        wrapped_rotation_vectors: blocks of rows that are rotation vectors; any vector of the same rotation is accepted.
        kept: (group.nq,) entries of a value that its right-hand side keeps; None if rows of the same rotation or
            pose differ.
    """

    name: str
    measured: Function
    space: Space
    group: Space
    rows: RowTable
    columns: BoolVector
    periodic: BoolVector
    errors_are_values: bool
    default_rhs: Vector
    target: Target | None = None
    has_position: bool = True
    is_contact: ClassVar[bool] = False
    rate_function: Function | None = None
    wrapped_rotation_vectors: Sequence[slice] = ()
    kept: BoolVector | None

    _original: RowOwner | None = None
    _flat: bool
    _plain: bool

    # What the rows are: from the constructor, or of a copy.

    @final
    def take_rows(self, measured: Function, rows: RowTable, rhs: Any, **fields: object) -> None:
        """Define the rows (called by the constructor).

        Args:
            measured: h.
            rows: the condition on each row.
            rhs: default right-hand side, as in `check_rhs`; a `Target`; or None for the neutral element.
            fields: other attributes to set before the right-hand side is checked.
        """
        target = rhs if isinstance(rhs, Target) else None
        kept = _kept_entries(measured.outputs, rows)
        set_fields(self, rows=rows, target=target, _plain=rows.is_plain, kept=kept, **fields)
        self._measure(measured)
        start = rhs if target is None else target.at(target.first_time)
        set_fields(self, default_rhs=self.check_rhs(self.group.neutral if start is None else start))

    @final
    def _measure(self, function: Function) -> None:
        flat = function.outputs.is_flat
        set_fields(
            self,
            measured=function,
            space=function.inputs,
            group=function.outputs,
            columns=function.columns,
            periodic=function.periodic,
            errors_are_values=flat and self._plain and self.has_position and not self.wrapped_rotation_vectors,
            _flat=flat,
        )

    @final
    def copy_on(self, function: Function) -> Self:
        """The same rows for another function with values in the same group."""
        other = self.copy_of()
        other._measure(function)
        return other

    @final
    def copy_of(self) -> Self:
        """A copy of this constraint, to be changed before it is used; for users it is still the same constraint."""
        other = copy.copy(self)
        set_fields(other, _original=self.original)
        return other

    @property
    def original(self) -> RowOwner:
        """The constraint object given by the user: this one, or the one it was lifted from (even repeatedly)."""
        return self if self._original is None else self._original

    @abstractmethod
    def on(self, space: Space) -> RowOwner:
        """The same rows on a bigger space that has their space as a factor."""

    @final
    def function_on(self, function: Function, space: Space) -> Function:
        """A function of this constraint on a bigger space.

        Raises:
            SpaceMismatchError: the space has no such factor; the message names the constraint.
        """
        try:
            return function.on(space)
        except SpaceMismatchError as error:
            raise SpaceMismatchError(f"space for {self.name!r}", error.expected, error.received) from None

    @final
    def unclipped(self) -> Self:
        """The same rows with the interval [0, 0] instead of wider ones: errors are values, not distances."""
        if not (self.rows.one_sided & self.rows.mask).any():
            return self
        bare, rows = self.copy_of(), self.rows.unclipped()
        set_fields(bare, rows=rows, _plain=rows.is_plain)
        bare._measure(self.measured)
        return bare

    # Right-hand sides.

    @final
    def check_rhs(self, rhs: Any, what: str | None = None) -> Vector:
        """A right-hand side as a point of the group (nq,), read-only.

        Args:
            rhs: numbers, an Element, or a placement or rotation if the group is one of poses or rotations.
            what: its name in messages.

        Raises:
            RightHandSideError: a row of its logarithm that is not EQUALITY is above 1e-12 (1 + norm of the logarithm).
        """
        what = what or f"right-hand side of {self.name!r}"
        point = read_only_copy(self.group.check(point_numbers(rhs, self.group, what), what))
        fixed = ~self.rows.free_rhs
        if fixed.any():
            log = self.group.log(point)
            limit = 1e-12 * (1.0 + float(np.sqrt(log @ log)))
            wrong = np.flatnonzero(fixed & (np.abs(log) > limit))
            if wrong.size:
                row = int(wrong[0])
                raise RightHandSideError(self.name, row, float(log[row]), self.rows.words[row])
        return point

    @final
    def rhs_at(self, point: Point) -> Vector:
        """The right-hand side (group.nq,) that the point satisfies, on the EQUALITY rows."""
        value = np.zeros(self.group.nq)
        self.measured.evaluate(point, value)
        return self.rhs_at_value(value)

    @final
    def rhs_at_value(self, value: Vector) -> Vector:
        """The right-hand side from a value h: exp of the EQUALITY rows of log h, with zeros in the other rows."""
        if self.kept is not None:
            kept = np.where(self.kept, value, self.group.neutral)
            return kept if self.group.is_normalized(kept, 1e-15) else self.group.normalize(kept)
        return self.group.exp(np.where(self.rows.free_rhs, self.group.log(value), 0.0))

    # Rows.

    @final
    def error_at(self, point: Point, rhs: Vector | None = None) -> Vector:
        """Errors of all rows (group.nv,) at a point, a copy; ignore the values in masked rows."""
        error = np.zeros(self.group.nv)
        self.write_position(point, rhs, error, None)
        return error

    @final
    def write_position(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """Write the errors of all rows, and their Jacobian if an array is given; ignore the values in masked rows.

        Args:
            point: where.
            rhs: right-hand side (group.nq,); None for the neutral element.
            error: (group.nv,) to be filled; zero if the rows have no position.
            jacobian: (group.nv, space.nv) to be filled; as in `Function.evaluate`.
        """
        if self.errors_are_values:
            self.measured.evaluate(point, error, jacobian)
            if rhs is not None:
                error -= rhs
            return
        if not self.has_position:
            error[:] = 0.0
            if jacobian is not None:
                jacobian[:] = 0.0
            return
        if rhs is None or not self.wrapped_rotation_vectors:
            self._write(point, rhs, error, jacobian)
            return
        rhs = self._short(rhs)
        self._write(point, rhs, error, jacobian)
        for block in self.wrapped_rotation_vectors:
            to_nearest_turn(rhs[block], error[block], None if jacobian is None else jacobian[block])

    @final
    def write_velocity(self, motion: MovingPoint, reference: Reference, error: Vector, jacobian: Matrix) -> None:
        """Write the time derivative of the errors, and the Jacobian.

        Args:
            motion: where, and how fast.
            reference: right-hand side, with its velocity.
            error: (group.nv,) to be filled.
            jacobian: (group.nv, space.nv) to be filled.
        """
        if self.rate_function is not None:
            self.rate_function.evaluate(motion.point, error, jacobian)
            np.dot(jacobian, motion.v, error)
            if reference.velocity is not None:
                error -= reference.velocity
            return
        rhs, velocity, _ = self._shorter(reference)
        self._write(motion.point, rhs, error, jacobian)
        inside = self.rows.one_sided & (error == 0.0)
        np.dot(jacobian, motion.v, error)
        if velocity is not None:
            if self._flat:
                rate = -velocity
            else:
                value = motion.point.scratch(self, "measured", (self.group.nq,))
                rate = self.group.difference_dq0(self.group.neutral if rhs is None else rhs, value) @ velocity
            error += np.where(inside, 0.0, self.rows.scale * rate)
        self._turn_rates(motion, rhs, velocity, error, jacobian, second=False)

    @final
    def write_acceleration(self, motion: MovingPoint, reference: Reference, error: Vector, jacobian: Matrix) -> None:
        r"""Write the second time derivative of the errors at zero acceleration of the space, and the Jacobian.

        With joint accelerations a it is :math:`\ddot e = J a + error`: the error is the drift
        :math:`\dot J v` minus the acceleration of the target.

        Args:
            motion: where, and how fast.
            reference: right-hand side, with its velocity and acceleration.
            error: (group.nv,) to be filled.
            jacobian: (group.nv, space.nv) to be filled.
        """
        if self.rate_function is not None:
            self.rate_function.evaluate(motion.point, error, jacobian)
            self.rate_function.drift(motion, error)
            if reference.acceleration is not None:
                error -= reference.acceleration
            return
        rhs, velocity, acceleration = self._shorter(reference)
        group, drift = self.group, np.empty(self.group.nv)
        self.measured.drift(motion, drift)
        if self._flat:
            if acceleration is not None:
                drift -= acceleration
        else:
            value, rest = motion.point.scratch(self, "measured", (group.nq,)), np.zeros(group.nv)
            self.measured.evaluate(motion.point, value, jacobian)
            g = group.compose(group.inverse(group.neutral if rhs is None else rhs), value)
            own = rest if velocity is None else velocity, rest if acceleration is None else acceleration
            moving = group.relative_motion(g, (jacobian @ motion.v, drift), own)
            drift = group.log_second_derivative(group.log(g), *moving)
        self._write(motion.point, rhs, error, jacobian)
        inside = self.rows.one_sided & (error == 0.0)
        error[:] = np.where(inside, 0.0, self.rows.scale * drift)
        self._turn_rates(motion, rhs, acceleration, error, jacobian, second=True)

    @property
    def has_exact_derivatives(self) -> bool:
        """Whether `slopes` uses formulas, not finite differences (except for rotation vectors wrapped by a turn)."""
        return has_formulas(self)

    def slopes(self, motion: MovingPoint, reference: Reference, a: Vector, multipliers: Vector) -> RowSlopes:
        r"""Derivatives of velocity rows, acceleration rows and :math:`J^T \lambda` by q and v.

        By formulas if the function defines `drift_derivatives`, else by finite differences.

        Args:
            motion: where, and how fast.
            reference: right-hand side with its velocity and acceleration, all constant.
            a: acceleration (nv,), constant.
            multipliers: :math:`\lambda` (group.nv,), constant; zero for masked rows.
        """
        return row_slopes(self, motion, self._shorter(reference), a, multipliers)

    @final
    def _write(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """Errors as they are, and their Jacobian; a value in a group is left in the scratch of the point."""
        if self._flat:
            self.measured.evaluate(point, error, jacobian)
            if rhs is not None:
                error -= rhs
        else:
            value = point.scratch(self, "measured", (self.group.nq,))
            self.measured.evaluate(point, value, jacobian)
            self.group.write_error(self.group.neutral if rhs is None else rhs, value, error, jacobian)
        if not self._plain:
            self.rows.apply(error, jacobian)

    @final
    def _short(self, rhs: Vector) -> Vector:
        """The same right-hand side with rotation vectors of at most half a turn: itself where they are."""
        for block in self.wrapped_rotation_vectors:
            short = shorter(rhs[block])
            if (short != rhs[block]).any():
                rhs = rhs.copy()
                rhs[block] = short
        return rhs

    @final
    def _shorter(self, reference: Reference) -> Reference:
        """As `_short`, of a right-hand side that may move."""
        rhs, velocity, acceleration = reference
        if rhs is None or not self.wrapped_rotation_vectors:
            return reference
        short = self._short(rhs)
        if short is rhs or (velocity is None and acceleration is None):
            return Reference(short, velocity, acceleration)
        rates, second = (np.zeros(self.group.nv) if rate is None else rate.copy() for rate in (velocity, acceleration))
        for block in self.wrapped_rotation_vectors:
            rates[block], second[block] = shorter_rates(rhs[block], rates[block], second[block])
        return Reference(short, rates, second)

    @final
    def _turn_rates(
        self, motion: MovingPoint, rhs: Vector | None, own: Vector | None, rates: Vector, jacobian: Matrix, second: bool
    ) -> None:
        """Rates and Jacobian of rotation vectors that are taken to the nearest turn, as `write_position` takes them."""
        if rhs is None or not self.wrapped_rotation_vectors:
            return
        error, own = np.empty(self.group.nv), np.zeros(self.group.nv) if own is None else own
        self._write(motion.point, rhs, error, None)
        for block in self.wrapped_rotation_vectors:
            rates_to_nearest_turn(
                rhs[block], error[block], own[block], motion.v, rates[block], jacobian[block], second=second
            )

    def __str__(self) -> str:
        return self.name


def _kept_entries(group: Space, rows: RowTable) -> BoolVector | None:
    """Entries (nq,) of a value that its right-hand side keeps; None where rows of one rotation or pose differ."""
    kept = entries_of(group, rows.free_rhs)
    return kept if np.array_equal(kept, ~entries_of(group, ~rows.free_rhs)) else None

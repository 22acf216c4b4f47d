"""Implicit (numerical) constraints: a function, a comparison by row, and a right-hand side."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liegroups import SO2, SO3, Space
from liegroups.arrays import ArrayLike, BoolVector, Matrix, Vector
from liegroups.frozen import read_only_copy, set_fields
from liegroups.segments import entries_of

from ..errors import RightHandSideError, SpaceMismatchError, WrongObjectError
from ..functions.function import Function, as_function
from ..keywords import names_checked
from ..linear_algebra import dot
from ..point import MovingPoint, Point
from ..robot.arguments import GivenPoint, point_numbers
from ..words import counted
from .comparison import Comparison, RowTable, by_row
from .stack import RowOwner
from .target import Target

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Implicit"]

SMALL_ERROR = 1.0
"""Errors [m, rad] in SE(2) and SE(3) up to which a step may take rows without the derivative of the logarithm."""


_WORDS = {
    "weight": "Implicit(..., scale=) scales rows, and levels of a Problem put constraints in order",
    "gain": "Implicit(..., scale=) scales rows",
    "priority": "levels of a Problem put constraints in order",
    "tolerance": "Options(threshold=...) of the projector",
    "tol": "Options(threshold=...) of the projector",
}
"""What other libraries give to a task or a constraint."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Implicit(RowOwner):
    r"""Rows :math:`\log(rhs^{-1}\, h(q))`, each compared to its interval: a numerical constraint.

    EQUAL_TO_ZERO holds a row at zero, EQUALITY holds it at a right-hand side that may change, SUPERIOR asks for at
    least the margin, INFERIOR for at most minus the margin; where the comparison is None the interval [lower, upper]
    counts. The error of a row is its signed, scaled distance to its interval.

    Args:
        function: h.
        comparison: one Comparison, or one (or None) by tangent row. EQUAL_TO_ZERO by default.
        rhs: default right-hand side, a point of the outputs; the neutral element by default. Rows of its logarithm that
            are not EQUALITY must be zero. A `Target` is one that varies in time.
        mask: by row, true for the rows that count; all by default.
        scale: factor of each row's error (to weigh metres against radians), 1 by default.
        margin: how far inside SUPERIOR and INFERIOR rows must end, 0 by default; at least the solver's threshold makes
            sure that the value ends on the right side of zero.
        lower, upper: intervals of the rows without comparison.
        name: name in messages; the function's by default.

    Raises:
        RightHandSideError: a right-hand side on a row that takes none; the row is named.
        SizeError, NotFiniteError, NotNormalizedError, OptionError, WrongObjectError: what else is wrong.

    Example:
        >>> from constraints import Implicit, Pose
        >>> from constraints.models import sample_arm
        >>> hand = Implicit.equal(Pose(sample_arm(), "tool"), [0.4, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0], name="hand")
        >>> hand
        Implicit('hand', 6 rows)

    Source: `Implicit` of hpp-constraints.
    """

    function: Function
    comparison: Comparison | Sequence[Comparison | None] | None = None
    rhs: GivenPoint | Target | None = None
    mask: ArrayLike | None = None
    scale: ArrayLike | None = None
    margin: ArrayLike = 0.0
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    name: str = field(default="", kw_only=True)

    target: Target | None = field(init=False)
    default_rhs: Vector = field(init=False)
    _flat: bool = field(init=False)
    _plain: bool = field(init=False)
    _coupled: bool = field(init=False)
    _kept: BoolVector | None = field(init=False)

    def __post_init__(self) -> None:
        """Check everything once."""
        f = as_function(self.function, "function of a constraint")
        if not isinstance(self.name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError(f"name of the constraint on {f.name}", "a string", self.name)
        name = self.name or f.name
        rows = RowTable.of(
            f.outputs.nv, name, self.comparison, self.mask, self.scale, self.margin, self.lower, self.upper
        )
        target = self.rhs if isinstance(self.rhs, Target) else None
        set_fields(
            self,
            name=name,
            rows=rows,
            target=target,
            space=f.inputs,
            group=f.outputs,
            columns=f.columns,
            periodic=f.periodic,
            _flat=f.outputs.is_flat,
            _plain=rows.is_plain,
            _kept=_kept_entries(f.outputs, rows),
            plain_function=f if f.outputs.is_flat and rows.is_plain else None,
            mixes=_may_mix(f, rows),
            _coupled=not all(leaf.space.is_flat or leaf.space in (SO2, SO3) for leaf in f.outputs.leaves()),
        )
        start = target.at(target.first_time) if target is not None else self.rhs
        default = self.check_rhs(self.group.neutral if start is None else start)
        set_fields(self, default_rhs=default)

    # Constructors, by what they ask for.

    @classmethod
    @names_checked("a right-hand side goes to Implicit.equal(function, rhs)", **_WORDS)
    def zero(cls, function: Function, *, mask: ArrayLike | None = None, name: str = "") -> Self:
        """h(q) is the neutral element (zero, or the identity), on the rows of the mask."""
        return cls(function, Comparison.EQUAL_TO_ZERO, mask=mask, name=name)

    @classmethod
    @names_checked(**_WORDS)
    def equal(
        cls,
        function: Function,
        rhs: GivenPoint | Target | None = None,
        *,
        mask: ArrayLike | None = None,
        name: str = "",
    ) -> Self:
        """h(q) is the right-hand side (the neutral element by default), which may be changed later or vary in time."""
        return cls(function, Comparison.EQUALITY, rhs, mask=mask, name=name)

    @classmethod
    @names_checked(**_WORDS)
    def above(
        cls,
        function: Function,
        lower: ArrayLike = 0.0,
        *,
        margin: ArrayLike = 0.0,
        mask: ArrayLike | None = None,
        name: str = "",
    ) -> Self:
        """Rows of log h(q) are at least `lower + margin`, on the rows of the mask.

        A solution may be below that by half the solver's threshold: for a clearance give a margin of at least that.
        """
        return cls(function, lower=_moved(function, name, ("lower", lower), margin, 1.0), mask=mask, name=name)

    @classmethod
    @names_checked(**_WORDS)
    def below(
        cls,
        function: Function,
        upper: ArrayLike = 0.0,
        *,
        margin: ArrayLike = 0.0,
        mask: ArrayLike | None = None,
        name: str = "",
    ) -> Self:
        """Rows of log h(q) are at most `upper - margin`; as in `above`, a margin of the threshold makes sure."""
        return cls(function, upper=_moved(function, name, ("upper", upper), margin, -1.0), mask=mask, name=name)

    @classmethod
    @names_checked(**_WORDS)
    def between(
        cls,
        function: Function,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        margin: ArrayLike = 0.0,
        mask: ArrayLike | None = None,
        name: str = "",
    ) -> Self:
        """Rows of log h(q) are in [lower + margin, upper - margin], on the rows of the mask; margins as in `above`."""
        inside = _moved(function, name, ("lower", lower), margin, 1.0)
        return cls(
            function, lower=inside, upper=_moved(function, name, ("upper", upper), margin, -1.0), mask=mask, name=name
        )

    def on(self, space: Space) -> Implicit:
        """The same constraint on a bigger space, one of whose factors is where it lives."""
        try:
            function = self.function.on(space)
        except SpaceMismatchError as error:
            raise SpaceMismatchError(f"space for {self.name!r}", error.expected, error.received) from None
        return self.with_function(function)

    def with_function(self, function: Function) -> Implicit:
        """The same constraint on another function into the same outputs."""
        other = copy.copy(self)
        set_fields(
            other,
            function=function,
            plain_function=None if self.plain_function is None else function,
            space=function.inputs,
            columns=function.columns,
            periodic=function.periodic,
            mixes=_may_mix(function, self.rows),
            lifted_from=self.original,
        )
        return other

    def unclipped(self) -> Implicit:
        """As `RowOwner.unclipped`."""
        if not (self.rows.one_sided & self.rows.mask).any():
            return self
        bare, rows = copy.copy(self), self.rows.unclipped()
        set_fields(bare, rows=rows, _plain=rows.is_plain, mixes=False, lifted_from=self.original)
        return bare

    # Right-hand sides.

    def check_rhs(self, rhs: Any, what: str | None = None) -> Vector:
        """A right-hand side as a point of the outputs (nq,), read-only.

        Args:
            rhs: numbers, an Element, or a placement or rotation where the outputs are poses or rotations.
            what: how messages name it.

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

    def rhs_at_value(self, value: Vector) -> Vector:
        """The right-hand side that a value h gives: the EQUALITY rows of log h, zero elsewhere, exp'd back."""
        if self._kept is not None:
            kept = np.where(self._kept, value, self.group.neutral)
            return kept if self.group.is_normalized(kept, 1e-15) else self.group.normalize(kept)
        return self.group.exp(np.where(self.rows.free_rhs, self.group.log(value), 0.0))

    # Rows.

    def write_position(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        """As `RowOwner.write_position`."""
        if self._flat:
            self.function.evaluate(point, error, jacobian)
            if rhs is not None:
                error -= rhs
        else:
            value = point.scratch(self, "value", (self.group.nq,))
            self.function.evaluate(point, value, jacobian)
            self.group.write_error(self.group.neutral if rhs is None else rhs, value, error, jacobian)
        if not self._plain:
            self.rows.apply(error, jacobian)

    def write_for_step(self, point: Point, rhs: Vector | None, error: Vector, jacobian: Matrix | None) -> None:
        r"""As `RowOwner.write_for_step`: in a group without :math:`J_{log}(e)`, whose inverse leaves e as it is.

        The step that a damped solver takes then still leads down for rotations, :math:`J_{log}^T(e)\, e = e`; for poses
        in SE(3) that holds for small errors, and large ones keep their rows.
        """
        if self._flat or not self.mixes:
            self.write_position(point, rhs, error, jacobian)
            return
        value, reference = point.scratch(self, "value", (self.group.nq,)), self.group.neutral if rhs is None else rhs
        self.function.evaluate(point, value, jacobian)
        self.group.write_error(reference, value, error)
        if jacobian is not None and self._coupled and dot(error, error) > SMALL_ERROR**2:
            self.group.write_error(reference, value, error, jacobian)

    def write_velocity(
        self, motion: MovingPoint, rhs: Vector | None, rhs_velocity: Vector | None, error: Vector, jacobian: Matrix
    ) -> None:
        """As `RowOwner.write_velocity`."""
        self.write_position(motion.point, rhs, error, jacobian)
        inside = self.rows.one_sided & (error == 0.0)
        np.dot(jacobian, motion.v, error)
        if rhs_velocity is None:
            return
        if self._flat:
            rate = -rhs_velocity
        else:
            value = motion.point.scratch(self, "value", (self.group.nq,))
            rate = self.group.difference_dq0(self.group.neutral if rhs is None else rhs, value) @ rhs_velocity
        error += np.where(inside, 0.0, self.rows.scale * rate)

    def write_acceleration(
        self,
        motion: MovingPoint,
        rhs: Vector | None,
        rhs_velocity: Vector | None,
        rhs_acceleration: Vector | None,
        error: Vector,
        jacobian: Matrix,
    ) -> None:
        """As `RowOwner.write_acceleration`."""
        drift = np.empty(self.group.nv)
        self.function.drift(motion, drift)
        if self._flat:
            self.write_position(motion.point, rhs, error, jacobian)
            if rhs_acceleration is not None:
                drift -= rhs_acceleration
        else:
            group, rest = self.group, np.zeros(self.group.nv)
            value = motion.point.scratch(self, "value", (group.nq,))
            self.function.evaluate(motion.point, value, jacobian)
            moving = jacobian @ motion.v, drift
            reference = group.neutral if rhs is None else rhs
            rates = tuple(rest if rate is None else rate for rate in (rhs_velocity, rhs_acceleration))
            g = group.compose(group.inverse(reference), value)
            drift = group.log_second_derivative(group.log(g), *group.relative_motion(g, moving, (rates[0], rates[1])))
            self.write_position(motion.point, rhs, error, jacobian)
        inside = self.rows.one_sided & (error == 0.0)
        error[:] = np.where(inside, 0.0, self.rows.scale * drift)

    def rhs_at(self, point: Point) -> Vector:
        """The right-hand side (group.nq,) that the point satisfies, on the EQUALITY rows."""
        value = np.zeros(self.group.nq)
        self.function.evaluate(point, value)
        return self.rhs_at_value(value)

    def __repr__(self) -> str:
        return f"Implicit({self.name!r}, {counted(int(self.rows.mask.sum()), 'row')})"


def _moved(function: Function, name: str, side: tuple[str, ArrayLike], margin: ArrayLike, sign: float) -> Vector:
    """One side of the intervals of all rows, moved inside by the margin."""
    f = as_function(function, "function of a constraint")
    which, given = side
    by_rows = (f.outputs.nv, name or f.name)
    return by_row(given, 0.0, *by_rows, which) + sign * by_row(margin, 0.0, *by_rows, "margin")


def _kept_entries(group: Space, rows: RowTable) -> BoolVector | None:
    """Entries (nq,) of a value that its right-hand side keeps; None where rows of one rotation or pose differ."""
    kept = entries_of(group, rows.free_rhs)
    return kept if np.array_equal(kept, ~entries_of(group, ~rows.free_rhs)) else None


def _may_mix(f: Function, rows: RowTable) -> bool:
    """Whether a step may take rows of f mixed: all of them count as they are, or none of a block."""
    if f.outputs.is_flat:
        blocks, offered = f.mixed_rows, type(f).evaluate_for_step is not Function.evaluate_for_step
    else:
        blocks = [leaf.v for leaf in f.outputs.leaves() if not leaf.space.is_flat]
        offered = bool(blocks)
    return rows.is_plain and offered and all(rows.mask[b].all() or not rows.mask[b].any() for b in blocks)

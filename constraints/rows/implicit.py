"""Implicit (numerical) constraints: a function, a comparison by row, and a right-hand side."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

from liegroups import Space
from liegroups.arguments import as_name
from liegroups.arrays import ArrayLike
from liegroups.frozen import keep_own, set_fields

from ..errors import WrongObjectError
from ..functions.function import Function, as_function
from ..keywords import unchanging
from ..robot.arguments import GivenPoint
from ..words import counted
from .angle_limits import idle_limits
from .comparison import Comparison, RowTable
from .row_owner import RowOwner
from .target import Target

_log = logging.getLogger(__package__)

UNCHANGING = unchanging("make a new one", rhs="use rhs = problem.rhs.replace(name, point) and project(q, rhs)")
"""Of constraints that are dataclasses."""


class _Neutral:
    """The neutral element of the outputs, whatever they are; None is a mistake, as of a detection that found none."""

    def __repr__(self) -> str:
        return "neutral"


_NEUTRAL: Any = _Neutral()


@final
@UNCHANGING
@dataclass(frozen=True, eq=False, repr=False)
class Implicit(RowOwner):
    r"""Rows :math:`\log(rhs^{-1}\, h(q))`, each compared to its interval: a numerical constraint.

    EQUAL_TO_ZERO holds a row at zero, EQUALITY holds it at a right-hand side that may change. SUPERIOR means at least
    the margin, INFERIOR at most minus the margin. If the comparison is None, the interval [lower, upper] is used. The
    error of a row is its signed, scaled distance to its interval.

    Args:
        function: h.
        comparison: one Comparison, or one (or None) per tangent row. EQUAL_TO_ZERO by default.
        rhs: default right-hand side, a point of the outputs; the neutral element by default. Rows of its logarithm that
            are not EQUALITY must be zero. A `Target` is a right-hand side that varies in time.
        mask: per row, true for the rows that count; all by default.
        scale: factor of each row's error (to weigh metres against radians), 1 by default.
        margin: how far inside their limit SUPERIOR and INFERIOR rows must end, 0 by default. A margin of at least the
            solver's threshold guarantees the sign of the value. Equalities have no margin.
        lower, upper: intervals of the rows without comparison. Rows of a rotation are in radians and at most pi: a
            warning in the log names larger limits that look like degrees.
        name: name in messages; that of the function by default.

    Raises:
        RightHandSideError: a right-hand side on a row that takes none; the message names the row.
        SizeError, NotFiniteError, NotNormalizedError, OptionError, WrongObjectError: another argument is wrong.

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

    def __post_init__(self) -> None:
        """Check everything once."""
        keep_own(self, "comparison", "rhs", "mask", "scale", "margin", "lower", "upper")
        f = as_function(self.function, "function of a constraint")
        name = as_name(self.name, f"name of the constraint on {f.name}") or f.name
        rows = RowTable.of(
            f.outputs.nv, name, self.comparison, self.mask, self.scale, self.margin, self.lower, self.upper
        )
        self.take_rows(f, rows, self.rhs, name=name)
        idle = idle_limits(rows, f, f.outputs)
        if idle:
            _log.warning("constraint %r: %s", name, idle)

    # Constructors, by what they ask for.

    @classmethod
    def zero(cls, function: Function, *, mask: ArrayLike | None = None, name: str = "") -> Self:
        """h(q) is the neutral element (zero, or the identity), on the rows of the mask."""
        return cls(function, Comparison.EQUAL_TO_ZERO, mask=mask, name=name)

    @classmethod
    def equal(
        cls, function: Function, rhs: GivenPoint | Target = _NEUTRAL, *, mask: ArrayLike | None = None, name: str = ""
    ) -> Self:
        """h(q) is the right-hand side (the neutral element by default), which may be changed later or vary in time."""
        if rhs is None:  # pyright: ignore[reportUnnecessaryComparison]
            what = f"right-hand side of {name or as_function(function, 'function of a constraint').name}"
            neutral = "a point, or a Target; without it, Implicit.equal(f), it is the neutral element"
            raise WrongObjectError(what, neutral, "None")
        return cls(function, Comparison.EQUALITY, None if rhs is _NEUTRAL else rhs, mask=mask, name=name)

    @classmethod
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

        A solution may be lower by half the solver's threshold: for a guaranteed clearance give at least this margin.
        """
        return cls(function, **_limits(function, name, lower=lower), margin=margin, mask=mask, name=name)

    @classmethod
    def below(
        cls,
        function: Function,
        upper: ArrayLike = 0.0,
        *,
        margin: ArrayLike = 0.0,
        mask: ArrayLike | None = None,
        name: str = "",
    ) -> Self:
        """Rows of log h(q) are at most `upper - margin`, on the rows of the mask; for the margin see `above`."""
        return cls(function, **_limits(function, name, upper=upper), margin=margin, mask=mask, name=name)

    @classmethod
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
        limits = _limits(function, name, lower=lower, upper=upper)
        return cls(function, **limits, margin=margin, mask=mask, name=name)

    def on(self, space: Space) -> Self:
        """The same constraint on a bigger space that has its space as a factor."""
        return self.with_function(self.function_on(self.function, space))

    def with_function(self, function: Function) -> Self:
        """The same constraint on another function with the same outputs."""
        other = self.copy_on(function)
        set_fields(other, function=function)
        return other

    def __repr__(self) -> str:
        return f"Implicit({self.name!r}, {counted(int(self.rows.mask.sum()), 'row')})"


def _limits(function: Function, name: str, **limits: Any) -> dict[str, Any]:
    """Limits that were given: None is no number, and without any limit all rows would be equalities."""
    for side, limit in limits.items():
        if limit is None:
            what = f"{side} of '{name or as_function(function, 'function of a constraint').name}'"
            raise WrongObjectError(what, "numbers per row (-inf or inf for no limit)", "None")
    return limits

"""How a row of a constraint compares to its right-hand side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from types import NoneType
from typing import Any

import numpy as np

from liegroups.arguments import expect, real_numbers, truth_values
from liegroups.arrays import ArrayLike, BoolVector, Matrix, Vector
from liegroups.frozen import read_only

from ..errors import NotFiniteError, OptionError, SizeError, WrongObjectError

INTERVAL = "an interval"
"""What a row without comparison is called in messages."""


class Comparison(Enum):
    """Comparison type of a tangent row; the value describes the condition on the row."""

    EQUALITY = "equal to a right-hand side that may vary"
    EQUAL_TO_ZERO = "equal to zero"
    SUPERIOR = "at least the margin"
    INFERIOR = "at most minus the margin"


@dataclass(frozen=True, eq=False)
class RowTable:
    r"""What each tangent row of a constraint asks for.

    With r a row of the logarithm, the error is the signed, scaled distance to the interval of the row:

    .. math:: e = s\,(r - \mathrm{clip}(r, l, u))

    Attributes:
        lower, upper: (n,) interval [l, u]; infinite on masked rows.
        scale: (n,) s > 0.
        free_rhs: (n,) true where the right-hand side may be other than zero (EQUALITY).
        mask: (n,) true for the rows that count.
        words: (n) what each row is called in messages.
    """

    lower: Vector
    upper: Vector
    scale: Vector
    free_rhs: BoolVector
    mask: BoolVector
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.lower, self.upper, self.scale, self.free_rhs, self.mask):
            read_only(array)

    @property
    def is_plain(self) -> bool:
        """True when every row that counts is an equality of scale 1 at zero: the error is the row itself."""
        on = self.mask
        return bool((self.lower[on] == 0.0).all() and (self.upper[on] == 0.0).all() and (self.scale[on] == 1.0).all())

    @property
    def one_sided(self) -> BoolVector:
        """(n,) true for rows whose interval is wider than a point: their Jacobian is zero where they are satisfied."""
        return self.lower < self.upper

    def unclipped(self) -> RowTable:
        """The same rows but for the interval [0, 0] where it is wider than a point."""
        wide = self.one_sided
        return replace(self, lower=np.where(wide, 0.0, self.lower), upper=np.where(wide, 0.0, self.upper))

    def apply(self, error: Vector, jacobian: Matrix | None = None) -> None:
        """Turn rows of the logarithm into errors, in place, and their Jacobian along.

        Args:
            error: (n,) rows on entry, signed scaled distances on return.
            jacobian: (n, nv); rows inside their interval become zero.
        """
        error -= np.clip(error, self.lower, self.upper)
        if jacobian is not None:
            inside = self.one_sided & (error == 0.0)
            if inside.any():
                jacobian[inside] = 0.0
            jacobian *= self.scale[:, None]
        error *= self.scale

    @staticmethod
    def of(
        size: int,
        what: str,
        comparison: Any,
        mask: ArrayLike | None,
        scale: ArrayLike | None,
        margin: ArrayLike,
        lower: ArrayLike | None,
        upper: ArrayLike | None,
    ) -> RowTable:
        """The table of `size` rows from what a user gives by row, a scalar standing for all of them.

        Args:
            size: number of tangent rows.
            what: how messages name the constraint.
            comparison: by row; None where `lower` and `upper` give the interval. Without any, and without an interval,
                all rows are EQUAL_TO_ZERO.
            mask: true for the rows that count.
            scale: factor of each row's error, positive.
            margin: how far inside its bounds an inequality or an interval must be, not negative.
            lower, upper: intervals of the rows whose comparison is None.

        Raises:
            SizeError, NotFiniteError, OptionError, WrongObjectError: what is wrong, with the row.
        """
        bounded = lower is not None or upper is not None
        one = Comparison.EQUAL_TO_ZERO if comparison is None and not bounded else comparison
        listed = isinstance(comparison, list | tuple)
        types: list[Any] = [*comparison] if listed else [one]
        words = "a Comparison, or one per row (for a right-hand side: rhs=, or Implicit.equal(function, rhs))"
        for entry in types:
            expect(entry, (Comparison, NoneType), f"comparison of '{what}'", words)
        types = types if listed else types * size
        if len(types) != size:
            raise SizeError(f"comparison of '{what}'", size, len(types))
        if bounded and None not in types:
            raise OptionError(f"'{what}': lower and upper are given, but every row has a comparison; use None there")
        low, high = by_row(lower, -np.inf, size, what, "lower"), by_row(upper, np.inf, size, what, "upper")
        margins = by_row(margin, 0.0, size, what, "margin")
        scales = by_row(scale, 1.0, size, what, "scale")
        if not (np.isfinite(scales) & (scales > 0.0)).all():
            raise OptionError(f"'{what}': scale must be positive and finite, got {scales.tolist()}")
        if not (np.isfinite(margins) & (margins >= 0.0)).all():
            raise OptionError(f"'{what}': margin must be zero or larger, and finite, got {margins.tolist()}")
        _refuse_margins_of_equalities(types, margins, np.ndim(margin) == 0, what)
        compared = [entry is not None for entry in types]
        low[compared], high[compared] = -np.inf, np.inf
        _refuse_crossed(low, high, margins, what)
        counts = np.array(_mask(mask, size, what))
        free, names = np.zeros(size, dtype=np.bool_), list[str]()
        for i, entry in enumerate(types):
            if entry is None:
                if counts[i] and (low[i] == np.inf or high[i] == -np.inf):
                    raise OptionError(f"'{what}': row {i} is empty: no number is in [{low[i]:g}, {high[i]:g}]")
                names.append(INTERVAL)
                low[i], high[i] = low[i] + margins[i], high[i] - margins[i]
                continue
            names.append(entry.name)
            low[i] = margins[i] if entry is Comparison.SUPERIOR else -np.inf if entry is Comparison.INFERIOR else 0.0
            high[i] = -margins[i] if entry is Comparison.INFERIOR else np.inf if entry is Comparison.SUPERIOR else 0.0
            free[i] = entry is Comparison.EQUALITY
        low[~counts], high[~counts] = -np.inf, np.inf
        counts &= (low > -np.inf) | (high < np.inf)
        return RowTable(low, high, scales, free, counts, tuple(names))


def _refuse_margins_of_equalities(types: list[Any], margins: Vector, one: bool, what: str) -> None:
    """Refuse a margin where it has no meaning; one number for all rows is that of the rows that are none."""
    equal = np.array([entry in (Comparison.EQUALITY, Comparison.EQUAL_TO_ZERO) for entry in types], dtype=np.bool_)
    wrong = np.flatnonzero(equal & (margins > 0.0))
    if wrong.size and (equal.all() or not one):
        way = "Implicit.between(f, lower, upper) gives a tolerance, and Options(threshold=...) the accuracy"
        raise OptionError(f"'{what}': row {wrong[0]} is {types[wrong[0]].name} and has no margin; {way}")


def _refuse_crossed(lower: Vector, upper: Vector, margins: Vector, what: str) -> None:
    """Refuse intervals whose limits are crossed, as given or by their margin."""
    wrong = np.flatnonzero((lower > upper) | (lower + margins > upper - margins))
    if not wrong.size:
        return
    row = int(wrong[0])
    low, high, margin = float(lower[row]), float(upper[row]), float(margins[row])
    if low > high:
        raise OptionError(f"'{what}': row {row} has lower {low:g} above upper {high:g}")
    of = f"margin {margin:g} is wider than half its interval [{low:g}, {high:g}]"
    raise OptionError(f"'{what}': row {row} is empty: its {of}")


def by_row(numbers: ArrayLike | None, default: float, size: int, what: str, name: str) -> Vector:
    """Numbers by row (size,), a scalar standing for all; infinities pass.

    Raises:
        WrongObjectError, DtypeError, SizeError, NotFiniteError: what is wrong, with `name` and `what`.
    """
    array = real_numbers(default if numbers is None else numbers, f"{name} of '{what}'", "numbers per row")
    if array.shape not in ((), (size,)):
        raise SizeError(f"{name} of '{what}'", f"one number or {size}", array.shape)
    if np.isnan(array).any():
        words = "expected numbers (-inf or inf for no limit), received NaN at {}"
        raise NotFiniteError(f"{name} of '{what}'", np.flatnonzero(np.isnan(np.atleast_1d(array))).tolist(), words)
    return np.array(np.broadcast_to(array, (size,)))


def _mask(mask: ArrayLike | None, size: int, what: str) -> BoolVector:
    if mask is None:
        return np.ones(size, dtype=np.bool_)
    try:
        array = truth_values(mask, f"mask of '{what}'", "booleans per row")
    except WrongObjectError as error:
        words = f"{error.expected}{_meant_by_mask(mask, size)}"
        raise WrongObjectError(error.what, words, error.received) from None
    if array.shape not in ((), (size,)):
        raise SizeError(f"mask of '{what}'", size, array.shape)
    return np.array(np.broadcast_to(array, (size,)))


def _meant_by_mask(mask: ArrayLike, size: int) -> str:
    """How numbers that are no truth values are said: row numbers as a mask, others as a scale."""
    try:
        numbers = np.asarray(mask)
    except ValueError:  # rows of several lengths
        return ""
    if numbers.dtype.kind not in "iuf" or numbers.ndim > 1:
        return ""
    rows: list[Any] = np.atleast_1d(numbers).tolist()
    if numbers.dtype.kind == "f" or len(set(rows)) < len(rows) or not all(0 <= row < size for row in rows):
        return " (for weights of rows: Implicit(..., scale=))"
    return f" ({[row in rows for row in range(size)]} for only the rows {sorted(rows)})"

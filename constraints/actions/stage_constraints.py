"""Equalities and inequalities of a stage, stacked, with bounds and derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liegroups.arguments import as_name, as_tuple, real_numbers
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.frozen import keep_own

from ..errors import OptionError, SizeError
from ..functions.function import Function, as_function
from .residuals import Residuals, StagePlace, Term
from .state_space import StageSpace


@final
@dataclass(frozen=True, eq=False)
class StageConstraint(Term):
    r"""Rows :math:`f(x, u) \ominus y` that must be zero, or between bounds.

    Args:
        function: of the configuration, the state or the stage.
        lower, upper: bounds (n,) or one number for all; infinite if there is none. Without bounds, or with equal
            ones, the rows are equalities.
        reference: y; the neutral element by default.
        name: the function's by default.

    Raises:
        OptionError: a lower bound above the upper one; some rows with equal bounds and some without.
    """

    function: Function
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    reference: Any = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check what can be checked without the stage."""
        keep_own(self, "lower", "upper", "reference")
        as_function(self.function, "function of a stage constraint")
        as_name(self.name, "name of a stage constraint")
        lower, upper = self.bounds
        if not (lower <= upper).all():
            raise OptionError(f"bounds of '{self.label}': expected lower bounds that are not above the upper ones")
        equal = lower == upper
        if equal.any() and not equal.all():
            raise OptionError(
                f"bounds of '{self.label}': some rows are equalities; put them into a separate constraint"
            )

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """Lower and upper bounds (n,); both zero for equalities without bounds."""
        n = self.function.outputs.nv
        if self.lower is None and self.upper is None:
            return np.zeros(n), np.zeros(n)
        sides: list[Vector] = []
        for given, default in ((self.lower, -np.inf), (self.upper, np.inf)):
            numbers = real_numbers(default if given is None else given, f"bounds of '{self.label}'")
            if numbers.ndim and numbers.shape != (n,):
                raise SizeError(f"bounds of '{self.label}'", n, numbers.shape)
            sides.append(np.broadcast_to(numbers, (n,)).astype(np.float64))
        return sides[0], sides[1]

    @property
    def is_equality(self) -> bool:
        """Whether its rows are equalities."""
        lower, upper = self.bounds
        return bool((lower == upper).all())


@final
class ConstraintStack:
    """The constraints of a stage: rows g of inequalities and h of equalities, in the order given.

    Equal bounds of equalities are subtracted: h is zero if they hold.

    Args:
        stage: the stage space.
        constraints: in order.

    Attributes:
        constraints: as given.
        inequalities, equalities: indices of these rows.
        terminal_inequalities, terminal_equalities: those that depend on neither controls nor forces.
        lower, upper: bounds of all rows.

    Raises:
        DuplicateNameError: two constraints with the same name.
        SpaceMismatchError: a function on another space.
        SizeError, NotNormalizedError, NotFiniteError: a reference that does not fit.
    """

    def __init__(self, stage: StageSpace, constraints: Iterable[StageConstraint] = ()) -> None:
        self.constraints: tuple[StageConstraint, ...] = as_tuple(constraints, "constraints of an action", "constraints")
        self._residuals = Residuals(stage, self.constraints, StageConstraint, "constraint")
        self._ndx = stage.state.ndx
        sides = [one.bounds for one in self.constraints]
        self.lower = np.concatenate([np.zeros(0), *(side[0] for side in sides)])
        self.upper = np.concatenate([np.zeros(0), *(side[1] for side in sides)])

        self.inequalities, self.equalities = self._rows(False, False), self._rows(True, False)
        self.terminal_inequalities, self.terminal_equalities = self._rows(False, True), self._rows(True, True)

    def _rows(self, equalities: bool, terminal: bool) -> Indices:
        left_out = self._residuals.running if terminal else frozenset[int]()
        kinds = [one.is_equality for one in self.constraints]
        return self._residuals.rows_of([i for i, kind in enumerate(kinds) if kind == equalities and i not in left_out])

    @property
    def size(self) -> int:
        """Number of all rows."""
        return self._residuals.size

    def _rows_at(self, at: StagePlace) -> tuple[Indices, Indices]:
        if at.terminal:
            return self.terminal_inequalities, self.terminal_equalities
        return self.inequalities, self.equalities

    def values(self, at: StagePlace) -> tuple[Vector, Vector]:
        """Inequality rows g (ng,) and equality rows h (nh,).

        Args:
            at: the point; at a terminal node rows that depend on controls or forces are left out.
        """
        value, (g, h) = self._residuals.values(at), self._rows_at(at)
        return value[g], value[h] - self.lower[h]

    def slopes(self, at: StagePlace) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Gx (ng, ndx), Gu (ng, nu), Hx (nh, ndx), Hu (nh, nu).

        Args:
            at: as in `values`.
        """
        (_, J), (g, h), n = self._residuals.slopes(at), self._rows_at(at), self._ndx
        return J[g, :n], J[g, n:], J[h, :n], J[h, n:]

    def __repr__(self) -> str:
        return f"ConstraintStack({', '.join(one.label for one in self.constraints) or 'no constraints'})"

"""Equalities and inequalities of a stage, stacked, with bounds and derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups.arguments import as_name, as_tuple, expect, real_numbers
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import DuplicateNameError, OptionError, SizeError
from ..functions.function import Function, as_function
from .residuals import Residuals
from .state_space import StageSpace


@final
@dataclass(frozen=True, eq=False)
class StageConstraint:
    r"""Rows :math:`f(x, u) \ominus y` that are zero, or between bounds.

    Args:
        function: of the configuration, the state or the stage.
        lower, upper: bounds (n,) or one number for all; infinite where there is none. Without bounds, or with equal
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
    name: str = ""

    def __post_init__(self) -> None:
        """Check what can be checked without the stage."""
        as_function(self.function, "function of a stage constraint")
        as_name(self.name, "name of a stage constraint")
        lower, upper = self.bounds
        if not (lower <= upper).all():
            raise OptionError(f"bounds of '{self.label}': expected lower bounds that are not above the upper ones")
        equal = lower == upper
        if equal.any() and not equal.all():
            raise OptionError(
                f"bounds of '{self.label}': some rows are equalities; give them a constraint of their own"
            )

    @property
    def label(self) -> str:
        """Its name, or that of its function."""
        return self.name or self.function.name

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

    Equalities with equal bounds have these subtracted: h is zero where they hold.

    Args:
        stage: where they live.
        constraints: in order.

    Attributes:
        g_rows, h_rows: which of all rows they are; `terminal` ones leave out what sees the controls.
        lower, upper: bounds of all rows.
    """

    def __init__(self, stage: StageSpace, constraints: Iterable[StageConstraint] = ()) -> None:
        self.constraints: tuple[StageConstraint, ...] = as_tuple(constraints, "constraints of an action", "constraints")
        names: list[str] = []
        for i, one in enumerate(self.constraints):
            expect(one, StageConstraint, f"constraint {i} of an action")
            if one.label in names:
                raise DuplicateNameError("constraint of an action", one.label)
            names.append(one.label)
        functions = [stage.lift(one.function) for one in self.constraints]
        references = [
            f.outputs.neutral if one.reference is None else np.array(f.outputs.check(one.reference, "reference"))
            for one, f in zip(self.constraints, functions, strict=True)
        ]
        self._residuals = Residuals(stage, functions, references)
        sides = [one.bounds for one in self.constraints]
        self.lower = np.concatenate([np.zeros(0), *(side[0] for side in sides)])
        self.upper = np.concatenate([np.zeros(0), *(side[1] for side in sides)])

    def rows(self, *, equalities: bool, terminal: bool = False) -> Any:
        """Indices of the rows of equalities, or of inequalities."""
        sees = self._residuals.sees_controls
        return self._residuals.rows_of(
            [
                i
                for i, one in enumerate(self.constraints)
                if one.is_equality == equalities and not (terminal and sees[i])
            ]
        )

    def values(self, x: Vector, u: Vector, *, terminal: bool = False) -> tuple[Vector, Vector]:
        """Inequality rows g (ng,) and equality rows h (nh,)."""
        value = self._residuals.values(x, u).value
        h = self.rows(equalities=True, terminal=terminal)
        return value[self.rows(equalities=False, terminal=terminal)], value[h] - self.lower[h]

    def slopes(self, x: Vector, u: Vector, *, terminal: bool = False) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Gx (ng, ndx), Gu (ng, nu), Hx (nh, ndx), Hu (nh, nu)."""
        rows = self._residuals.slopes(x, u)
        g = self.rows(equalities=False, terminal=terminal)
        h = self.rows(equalities=True, terminal=terminal)
        return rows.by_x[g], rows.by_u[g], rows.by_x[h], rows.by_u[h]

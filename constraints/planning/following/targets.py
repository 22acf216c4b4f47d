"""Right-hand sides along a parameter: a function of it, or rows, as followers ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast, final

import numpy as np

from liegroups.arguments import is_function, real_numbers
from liegroups.arrays import ArrayLike, Vector

from ...errors import ConstraintError, SizeError, WrongObjectError
from ...paths.moving_rhs import MovingRightHandSide
from ...problem.problem import Problem
from ...rows.right_hand_side import RightHandSide
from ...solvers.projection.batch_arguments import sides_of

KEPT_SIDES = 4096
"""Right-hand sides that are kept for values of the parameter that are asked for again."""


@final
@dataclass(frozen=True, eq=False)
class RowsOfTargets:
    """Right-hand sides at equal parts of a parameter; between two of them each moves on its group.

    Attributes:
        parts: from each row to the next.
    """

    parts: tuple[MovingRightHandSide, ...]

    @property
    def knots(self) -> Vector:
        """Values of the parameter at the rows (n,)."""
        return np.linspace(0.0, 1.0, len(self.parts) + 1)

    def __call__(self, s: float) -> RightHandSide:
        """The right-hand sides at a value of the parameter."""
        knots = self.knots
        i = int(np.clip(np.searchsorted(knots, s, side="right") - 1, 0, len(self.parts) - 1))
        begin, end = float(knots[i]), float(knots[i + 1])
        return self.parts[i].at((s - begin) / (end - begin))


@final
class Targets:
    """Right-hand sides of a problem along a parameter s in [0, 1], each checked.

    Attributes:
        sides: as a path has them.
        knots: values of s that are looked at whatever happens between them, from 0 to 1.
        rows: how many rows were given; None if none.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with a row, or fewer than two of them.
        WrongObjectError: no targets.
    """

    def __init__(self, problem: Problem, given: Any) -> None:
        self._problem, self._made = problem, dict[float, RightHandSide]()
        self.knots: Vector = np.array([0.0, 1.0])
        self.rows: int | None = None
        if isinstance(given, MovingRightHandSide) or is_function(given):
            self.sides = MovingRightHandSide.of(problem, given)
        else:
            listed = _rows(problem, given)
            parts = tuple(MovingRightHandSide(a, b) for a, b in pairwise(listed))
            along = RowsOfTargets(parts)
            self.sides, self.knots, self.rows = MovingRightHandSide(function=along), along.knots, len(listed)
        self.at(0.0)
        self.at(1.0)

    def at(self, s: float) -> RightHandSide:
        """The right-hand sides at a value of the parameter.

        Raises:
            ConstraintError: what is wrong with what a function gives; a note says for which value.
        """
        made = self._made.get(s)
        if made is None:
            try:
                made = self._problem.check_rhs(self.sides.at(s))
            except ConstraintError as error:
                error.add_note(f"in the targets to be followed, at {s:.6g} of the way")
                raise
            if len(self._made) >= KEPT_SIDES:
                self._made.clear()
            self._made[s] = made
        return made

    def along(self, s: Vector) -> list[RightHandSide]:
        """The right-hand sides at several values (n,)."""
        return [self.at(each) for each in s.tolist()]

    def ahead(self, s: Vector, steps: Vector) -> Vector:
        """Values of the parameter (n,) a step further, at most at the next knot."""
        return np.minimum(s + steps, self.knots[np.searchsorted(self.knots[:-1], s, side="right")])


def _rows(problem: Problem, given: Any) -> list[RightHandSide]:
    """Rows of right-hand sides."""
    expected = "rows of right-hand sides (n, size), a function of s in [0, 1], or what moves from one to another"
    if given is None or isinstance(given, RightHandSide | str):
        raise WrongObjectError("targets to be followed", expected, "one" if given is not None else None)
    listed = list(cast("list[object]", given)) if isinstance(given, list | tuple) else list[object]()
    if any(isinstance(row, RightHandSide) for row in listed):
        shape: tuple[int, ...] = (len(listed), 0)
    else:
        shape = real_numbers(cast("ArrayLike", given), "targets to be followed", expected).shape
    if len(shape) != 2 or shape[0] < 2:
        raise SizeError("targets to be followed", f"two rows or more, (n, {problem.constraints.rhs_size})", shape)
    sides = sides_of(problem, cast("ArrayLike", given), shape[0])
    return [problem.check_rhs(side) for side in cast("list[RightHandSide]", sides)]

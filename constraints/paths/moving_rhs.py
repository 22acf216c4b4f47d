"""Right-hand sides along a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, cast, final

import numpy as np

from liegroups.arguments import as_callable, as_tuple, expect, is_finite_number, is_function
from liegroups.arrays import ArrayLike

from ..errors import SpaceMismatchError, WrongObjectError
from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide

_NUMBERS = (float, int, np.number)


@final
@dataclass(frozen=True, eq=False)
class MovingRightHandSide:
    r"""Right-hand sides from time 0 to time 1: constant, moving from one to another, or given by a function.

    Between two values, each right-hand side moves on its group, :math:`r(s) = r_0 \oplus s\,(r_1 \ominus r_0)`.

    Args:
        first: start value, or constant value.
        last: end value; None if they are constant.
        function: from s to right-hand sides of the same problem, instead of `first` and `last`.
        window: values of s at time 0 and at time 1.

    Raises:
        SpaceMismatchError: `first` and `last` belong to different constraints.
        WrongObjectError: not a right-hand side, function or pair of numbers; neither `first` nor `function`, or both.
    """

    first: RightHandSide | None = None
    last: RightHandSide | None = None
    function: Callable[[float], RightHandSide] | None = None
    window: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        """Check the arguments, and that both ends fit."""
        first, last = self.first, self.last
        for name, side in (("first", first), ("last", last)):
            what = f"{name} right-hand side that moves"
            expect(side, (RightHandSide, NoneType), what, "a RightHandSide (problem.rhs)")
        if self.function is not None:
            as_callable(self.function, "function of moving right-hand sides", "a function of s in [0, 1]")
        if (first is None) == (self.function is None) or (last is not None and first is None):
            came = "neither" if first is None and last is None else "both" if first is not None else "only the last"
            raise WrongObjectError("moving right-hand sides", "right-hand sides from the first, or a function", came)
        window = as_tuple(self.window, "window of moving right-hand sides", "two numbers")
        if len(window) != 2 or not all(is_finite_number(s) for s in window):
            raise WrongObjectError("window of moving right-hand sides", "two finite numbers", repr(window))
        if first is not None and last is not None and first.stack is not last.stack:
            raise SpaceMismatchError("right-hand sides at the end of a path", str(first.stack), str(last.stack))

    @staticmethod
    def of(problem: Problem, rhs: Any) -> MovingRightHandSide:
        """From what a user gives: None, right-hand sides, a pair of them, or a function of time in [0, 1].

        A list of numbers is a flat vector, any other list is read as a tuple.

        Raises:
            WrongObjectError: something else.
            SizeError, DtypeError, NotFiniteError: a flat vector that does not fit the problem.
        """
        if isinstance(rhs, MovingRightHandSide):
            return rhs
        if isinstance(rhs, list) and not all(isinstance(entry, _NUMBERS) for entry in cast("list[object]", rhs)):
            rhs = tuple(cast("list[object]", rhs))
        if rhs is None or isinstance(rhs, RightHandSide | np.ndarray | list):
            return MovingRightHandSide(problem.check_rhs(cast("RightHandSide | ArrayLike | None", rhs)))
        if is_function(rhs):
            return MovingRightHandSide(function=cast("Callable[[float], RightHandSide]", rhs))
        pair = cast("tuple[Any, ...]", rhs) if isinstance(rhs, tuple) else ()
        if len(pair) != 2:
            expected = "right-hand sides, a pair of them (at the start, at the end), or a function of time in [0, 1]"
            came = f"{len(pair)} of them" if isinstance(rhs, tuple) else cast("object", rhs)
            raise WrongObjectError("right-hand sides of a path", expected, came)
        return MovingRightHandSide(problem.check_rhs(pair[0]), problem.check_rhs(pair[1]))

    @property
    def constant(self) -> RightHandSide | None:
        """Right-hand sides at all times, where they do not move."""
        return self.first if self.last is None else None

    def at(self, time: float) -> RightHandSide:
        """Right-hand sides at a time in [0, 1]."""
        begin, end = self.window
        s = begin + time * (end - begin)
        if self.function is not None:
            rhs = cast("RightHandSide | None", self.function(s))
            if rhs is None:  # a function without `return`; None would stand for the default
                what = f"right-hand sides of a path at time {s:.4g}"
                raise WrongObjectError(what, "a RightHandSide or the flat vector of all", rhs)
            return rhs
        first, last = cast("RightHandSide", self.first), self.last
        if last is None or s <= 0.0:
            return first
        if s >= 1.0:
            return last
        parts = [
            owner.group.interpolate(first.vector[block], last.vector[block], s)
            for owner, block in zip(first.stack, first.stack.rhs_slices, strict=True)
        ]
        return RightHandSide(first.stack, np.concatenate(parts))

    def at_times(self, problem: Problem, times: Iterable[float]) -> RightHandSide | list[RightHandSide]:
        """Right-hand sides at several times, for a batch of projections: a single one if they are constant.

        Args:
            problem: their problem.
            times: in [0, 1].
        """
        return self.constant or [problem.check_rhs(self.at(float(time))) for time in times]

    def between(self, begin: float, end: float) -> MovingRightHandSide:
        """The part from one time to another; give the later time first to run it backwards."""
        a, b = self.window
        return replace(self, window=(a + begin * (b - a), a + end * (b - a)))

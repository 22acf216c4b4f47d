"""Parameters of a problem as a user gives them, and the problems at them."""

from __future__ import annotations

import numpy as np

from liegroups.arguments import expect, finite_vector
from liegroups.arrays import Vector

from ...errors import SizeError, SpaceMismatchError, WrongObjectError
from ...problem.problem import Problem


def parameters_of(value: object) -> tuple[Vector, bool]:
    """Parameters as a vector, and whether they are one number.

    Args:
        value: what a user gave.

    Raises:
        WrongObjectError, SizeError, DtypeError, NotFiniteError: no number and no vector.
    """
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise WrongObjectError("value of a parameter", "one number, or a vector", value) from None
    if numbers.ndim > 1:
        raise SizeError("value of a parameter", "one number, or a vector", numbers.shape)
    return np.array(finite_vector(np.atleast_1d(numbers), numbers.size, "value of a parameter")), numbers.ndim == 0


def same_layout(mine: Problem, other: object) -> Problem:
    """The other problem, where its free dofs and its constraints, with the rows that count, are those of mine.

    Args:
        mine: the problem that was projected.
        other: what a user's function gave.

    Raises:
        WrongObjectError: no problem.
        SpaceMismatchError: other dofs or constraints.
    """
    theirs = expect(other, Problem, "value of problem_at")
    same = theirs.space == mine.space and (theirs.free == mine.free).all()
    if not (same and _layout(theirs) == _layout(mine)):
        raise SpaceMismatchError("problem of other parameters", repr(mine), repr(theirs))
    return theirs


def _layout(problem: Problem) -> list[list[tuple[str, int]]]:
    return [[(owner.name, owner.rows.mask.sum()) for owner in stack] for stack in (*problem.levels, problem.explicits)]

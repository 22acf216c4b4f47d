"""The corrector of closed loops: Newton's iteration. Its users say what moves, and which steps are trusted.

A closing of minimal coordinates takes full steps and records them; a local loop and a sweep follow a curve, and trust a
correction only where its steps shrink fast. They all take their steps here, and where a step is not to be trusted,
`longest_trusted` halves it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from math import inf
from typing import NamedTuple, Protocol, TypeVar, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...linear_algebra import largest

CLOSED = 1e-6
"""Residual up to which a configuration counts as closed [m or rad]: beyond, ranks are those of another posture."""

_T = TypeVar("_T")


class Ending(Enum):
    """How an iteration ended."""

    CLOSED = auto()
    OTHER_ROWS_OPEN = auto()  # the rows that count hold, others do not
    BUDGET = auto()
    SINGULAR = auto()
    INFINITE = auto()  # rows, or the step, are too large to compute with
    NOT_TRUSTED = auto()  # a step is too long after the one before, or the determinant has another sign


class Trust(NamedTuple):
    """What is trusted: which steps may be taken, and which one is the last. By default full steps, 50 of them.

    Attributes:
        tolerance: the rows that count hold where none is off by more [m or rad]; below zero they are not asked.
        most: number of steps, at most.
        first: longest first step [rad or m].
        shrinking: a step is at most this part of the one before.
        farthest: longest step: a longer one leads to where float64 has no digits left for a residual.
        still: a step this short is not taken: the iterate is closed.
        sharp: a step this short is the last.
        settled: the step after one this short is the last, and is rounding, however long.
        sign: of the determinant, to be kept; 0 where it does not matter.
    """

    tolerance: float = -1.0
    most: int = 50
    first: float = inf
    shrinking: float = inf
    farthest: float = 1e6
    still: float = -1.0
    sharp: float = -1.0
    settled: float = -1.0
    sign: float = 0.0


class Columns(Protocol):
    """What moves: the unknowns of an iteration, and how its linear equations are solved for them."""

    def off(self, error: Vector, J: Matrix) -> float:
        """Largest error of the rows that count [m or rad]."""
        ...

    def step(self, q: Vector, error: Vector, J: Matrix) -> tuple[Vector | None, float]:
        """Newton's step at q, None where it is singular; and the sign of the determinant, 0 where there is none."""
        ...

    def moved(self, q: Vector, step: Vector) -> Vector:
        """A new configuration, after a step."""
        ...


@final
class Record:
    """The iterates of one run, added as they are computed: each run needs a record of its own.

    Attributes:
        iterates: configurations (nq,), the start first.
        residuals: largest error of all rows at each, infinite where it is no number.
        step_sizes: largest entry of each step that was taken.
        signs: of the determinant, where a step was tried.
    """

    def __init__(self, start: Vector) -> None:
        self.iterates = [start]
        self.residuals = list[float]()
        self.step_sizes = list[float]()
        self.signs = list[float]()

    def takes(self, error: Vector, J: Matrix) -> bool:
        """Note the residual of an iterate; whether its rows are finite."""
        residual = largest(error)
        self.residuals.append(residual if residual < inf else inf)
        return residual < inf and bool(np.isfinite(J).all())


class Corrected(NamedTuple):
    """Result of an iteration.

    Attributes:
        ending: how it ended.
        q: where (nq,).
        error, J: rows at the last iterate at which they were evaluated.
    """

    ending: Ending
    q: Vector
    error: Vector
    J: Matrix


class Corrector(NamedTuple):
    """Newton's iteration on some rows, by some columns.

    Attributes:
        rows: q (nq,) -> errors of all rows, and their Jacobian.
        columns: what moves.
    """

    rows: Callable[[Vector], tuple[Vector, Matrix]]
    columns: Columns

    def newton(self, q: Vector, trust: Trust, record: Record | None = None) -> Corrected:
        """Steps from q until the rows hold, or something else ends it.

        Args:
            q: start (nq,), not changed.
            trust: which steps may be taken.
            record: gets the iterates, if given.

        Raises:
            UndefinedError: a row has no value at an iterate.
        """
        columns, taken, limit, settled = self.columns, 0, trust.first, False
        while True:
            error, J = self.rows(q)
            if record is not None and not record.takes(error, J):
                return Corrected(Ending.INFINITE, q, error, J)
            if trust.tolerance >= 0.0 and columns.off(error, J) <= trust.tolerance:
                return _closed(q, error, J, trust)
            if taken == trust.most:
                return Corrected(Ending.BUDGET, q, error, J)
            step, sign = columns.step(q, error, J)
            if record is not None:
                record.signs.append(sign)
            if step is None:
                return Corrected(Ending.SINGULAR, q, error, J)
            size = largest(step)
            if not size <= trust.farthest:
                return Corrected(Ending.INFINITE, q, error, J)
            if size <= trust.still:
                return _closed(q, error, J, trust)
            if sign * trust.sign < 0.0 or (size > limit and not settled):
                return Corrected(Ending.NOT_TRUSTED, q, error, J)
            q = columns.moved(q, step)
            if record is not None:
                record.step_sizes.append(size)
                record.iterates.append(q)
            if settled or size <= trust.sharp:
                return _closed(q, error, J, trust)
            taken, settled, limit = taken + 1, size <= trust.settled, trust.shrinking * size


def _closed(q: Vector, error: Vector, J: Matrix, trust: Trust) -> Corrected:
    """What is said where the rows that count hold: all others must hold, too."""
    holds = largest(error) <= max(CLOSED, trust.tolerance)
    return Corrected(Ending.CLOSED if holds else Ending.OTHER_ROWS_OPEN, q, error, J)


def least_norm(error: Vector, J: Matrix, rank: int, lost: float = 0.0) -> tuple[float, Vector]:
    r"""The largest error in the r directions that rows reach, and the step :math:`-V_r S_r^{-1} U_r^T e` (columns,).

    Args:
        error, J: rows, and their Jacobian by the columns that move.
        rank: r.
        lost: singular values up to this part of the largest are left out.
    """
    U, S, Vt = np.linalg.svd(J, full_matrices=False)
    kept = int((S[:rank] > lost * S[:1]).sum())
    reached = U[:, :kept].T @ error
    return largest(reached), -Vt[:kept].T @ (reached / S[:kept])


def longest_trusted(
    step: Callable[[float], _T | None], length: float, shortest: float
) -> tuple[_T, float] | tuple[None, float]:
    """The first of a step, its half, its quarter ... that is trusted, and its length; None if none of them is.

    Args:
        step: what a step of a length gives, None where it is not to be trusted.
        length: of the first one, which is tried in any case.
        shortest: no shorter one is tried.
    """
    while True:
        found = step(length)
        if found is not None:
            return found, length
        if 0.5 * length < shortest:
            return None, length
        length *= 0.5

"""One projection: what changes, and the memory that it is written into."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, final

from liegroups.arrays import Vector

from ...point import Point
from ...rows.right_hand_side import RightHandSide
from ...rows.stacking import Rows
from ..engine import Outcome
from ..status import Status, Step
from .rules import Score, falls, is_better


@final
class Buffers:
    """What a program writes into, in one workspace: a handle that it moves along, and the rows of its levels.

    Args:
        point: a point of the workspace.
        stacked: rows of all levels.
        mandatory: how many of them must hold.

    Attributes:
        point, stacked: as given.
        rows: views of the rows.
        mandatory, optional: rows of the levels that must hold, and of the optional last one, or None.
    """

    __slots__ = ("mandatory", "optional", "point", "rows", "stacked")

    def __init__(self, point: Point, stacked: Sequence[Any], mandatory: int) -> None:
        self.point, self.stacked = point, stacked
        self.rows: Sequence[Rows] = tuple(level.rows for level in stacked)
        self.mandatory = stacked[:mandatory]
        self.optional = stacked[-1] if len(stacked) > mandatory else None


@final
class ProjectionState:
    """How far a projection has come: its budget, and its best iterate with the try that it is of.

    Args:
        start: configuration (nq,).
        rhs: right-hand sides.
        buffers: of the program.
        trace: the iterates so far, where they are kept.

    Attributes:
        start, rhs, buffers, trace: as given.
        iterations, restarts: spent.
        best, score, residual, merit: the best iterate (nq,), with its score by level, residual, and squared error.
        best_try, status: number of the try that it is of, and how that ended.
    """

    __slots__ = (
        "best",
        "best_try",
        "buffers",
        "iterations",
        "merit",
        "residual",
        "restarts",
        "rhs",
        "score",
        "start",
        "status",
        "trace",
    )

    def __init__(self, start: Vector, rhs: RightHandSide, buffers: Buffers, trace: list[Step] | None = None) -> None:
        self.start, self.rhs, self.buffers, self.trace = start, rhs, buffers, trace
        self.iterations = self.restarts = self.best_try = 0
        self.status = Status.STALLED
        self.forget()

    def forget(self) -> None:
        """No iterate is the best one yet."""
        self.best = self.start
        self.score: Score = [inf]
        self.residual = self.merit = inf

    def keep(self, q: Vector, score: Score, residual: float, merit: float) -> None:
        """Make an iterate the best one if it is."""
        if is_better(score, merit, self.score, self.merit):
            self.take(q, score, residual, merit)

    def take(self, q: Vector, score: Score, residual: float, merit: float) -> None:
        """Make an iterate the best one, whatever the others were."""
        self.best, self.score, self.residual, self.merit = q, score, residual, merit
        self.best_try = self.restarts

    def outcome(self, status: Status) -> Outcome:
        """The best iterate as plain data."""
        trace = None if self.trace is None else tuple(self.trace)
        return Outcome(self.best, status, self.iterations, self.restarts, self.residual, trace)


@final
class StallTest:
    """When a try has stalled: its score did not fall below `ratio` times the reference for `count` iterations in a row.

    Of a step that was capped only a part of that fall is asked for.

    Args:
        ratio, count: as said.
    """

    __slots__ = ("_count", "_ratio", "_reference", "_waited")

    def __init__(self, ratio: float, count: int) -> None:
        self._ratio, self._count = ratio, count
        self._waited = 0
        self._reference: Score = [inf]

    def is_stalled(self, score: Score, part: float = 1.0) -> bool:
        """Take the score of the next iterate, after a part of a step; true when the try should end."""
        ratio = self._ratio if part == 1.0 else 1.0 - part * (1.0 - self._ratio)  # R23
        if falls(score, self._reference, ratio):
            self._reference, self._waited = score, 0
            return False
        self._waited += 1
        return self._waited >= self._count  # R22

"""State of one projection: budget, the best iterate, and how a try goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from liegroups.arrays import Vector

from ...point import Point
from ...rows.right_hand_side import RightHandSide
from ...rows.stack import Stack
from ...rows.stacking import Rows, StackedRows
from ..engine import Outcome
from ..status import Status, Step
from .attached_bodies import CarriedBodies

__all__ = ["Memory", "Patience", "Score", "Search"]

Score = list[float]
"""Residual of each mandatory level, most important first, compared in this order; where there are several, one that is
satisfied counts as 0."""


@final
class Memory:
    """What a program keeps in a workspace: the handle that it moves along, and the rows of its levels.

    Args:
        point: a point of the workspace.
        levels: whose rows are stacked.
        mandatory: how many of them must hold.
        carried: bodies whose frames are seen on what carries them.

    Attributes:
        point: as given.
        stacked: rows of all levels; `firm` are those that must hold, `wish` the optional last one, or None.
        rows: views of the rows.
    """

    __slots__ = ("_carried", "_placed_for", "firm", "point", "rows", "stacked", "wish")

    def __init__(self, point: Point, levels: Sequence[Stack], mandatory: int, carried: CarriedBodies) -> None:
        self.point = point
        self.stacked = tuple(StackedRows(level, point.space, carried.stand_ins) for level in levels)
        self.rows: Sequence[Rows] = tuple(stacked.rows for stacked in self.stacked)
        self.firm = self.stacked[:mandatory]
        self.wish = self.stacked[-1] if len(self.stacked) > mandatory else None
        self._carried = carried
        self._placed_for: RightHandSide | None = None

    def place(self, rhs: RightHandSide) -> None:
        """Make the memory ready for right-hand sides, once for as long as the same are given.

        Raises:
            UndefinedError: an explicit constraint has no map for them.
        """
        if self._carried and rhs is not self._placed_for:
            self._carried.place(self.point, rhs)
            self._placed_for = rhs


@final
class Search:
    """Budget spent so far, and the best iterate with the try it came from.

    Args:
        q: the start.
        rhs: right-hand sides.
        memory: of the program in the workspace.
        trace: whether iterates are kept.
    """

    __slots__ = (
        "begun",
        "best",
        "best_try",
        "caps",
        "firm",
        "given",
        "holding",
        "iterations",
        "merit",
        "part",
        "point",
        "residual",
        "residuals",
        "restarts",
        "rhs",
        "rows",
        "score",
        "stacked",
        "status",
        "trace",
        "wish",
        "workspace",
    )

    def __init__(self, q: Vector, rhs: RightHandSide, memory: Memory, trace: bool) -> None:
        self.given, self.rhs = q, rhs
        self.point, self.stacked, self.rows = memory.point, memory.stacked, memory.rows
        self.firm, self.wish = memory.firm, memory.wish
        self.point.move(q)
        self.workspace = self.point.workspace
        self.holding, self.part = False, 1.0
        self.iterations = self.begun = self.restarts = self.best_try = 0
        self.status = Status.STALLED
        self.trace: list[Step] | None = [] if trace else None
        self.caps: list[float] = []
        self.residuals: list[float] = []
        self.best = q
        self.score: Score = [np.inf]
        self.residual = self.merit = np.inf

    def forget(self) -> None:
        """No iterate is the best one yet."""
        self.best = self.given
        self.score, self.residual, self.merit = [np.inf], np.inf, np.inf

    def keep(self, q: Vector, score: Score, residual: float, merit: float) -> bool:
        """Remember an iterate if it is the best so far: least score, ties by merit."""
        if score >= self.score and (score > self.score or merit >= self.merit):
            return False
        self.best, self.score, self.residual, self.merit = q, score, residual, merit
        self.best_try = self.restarts
        return True

    def take(self, q: Vector, score: Score, residual: float, merit: float) -> None:
        """Make an iterate the best one, whatever the others were."""
        self.best, self.score, self.residual, self.merit = q, score, residual, merit
        self.best_try = self.restarts

    def outcome(self, status: Status) -> Outcome:
        """The best iterate as plain data."""
        trace = None if self.trace is None else tuple(self.trace)
        return Outcome(self.best, status, self.iterations, self.restarts, self.residual, trace)


@final
class Patience:
    """When a try has stalled: its score did not fall below `ratio` times the reference for `count` iterations in a row.

    Of a step that was capped only a part of that fall is asked for.

    Args:
        ratio, count: as said.
    """

    __slots__ = ("_count", "_ratio", "_reference", "_waited")

    def __init__(self, ratio: float, count: int) -> None:
        self._ratio, self._count = ratio, count
        self._waited = 0
        self._reference: Score = [np.inf]

    def is_over(self, score: Score, part: float = 1.0) -> bool:
        """Take the score of the next iterate, after a part of a step; true when the try should end."""
        ratio = self._ratio if part == 1.0 else 1.0 - part * (1.0 - self._ratio)
        if score[0] < ratio * self._reference[0]:
            self._reference, self._waited = score, 0
            return False
        for new, old in zip(score[1:], self._reference[1:], strict=False) if score[0] == 0.0 else ():
            if new < ratio * old:
                self._reference, self._waited = score, 0
                return False
            if new > 0.0 or old > 0.0:
                break
        self._waited += 1
        return self._waited >= self._count

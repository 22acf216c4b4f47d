"""The search of boxes: divide, cut, drop what cannot hold a solution; what is left is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix

from ...errors import NoEnclosureError, UndefinedError
from ...functions.enclosures.interval import Interval
from ...ranges import positive_number, whole_number
from ...words import counted
from ..rows import ProblemRows
from .cutting import Boxes, Linear, cut
from .reading import Coordinates, Read

BATCH = 1024
"""Boxes that are looked at together."""

FEW = 32
"""The same where some rows are enclosed one box at a time."""

SHRUNK = 0.7
"""A box of which some coordinate is cut to less than this is cut again before it is divided."""

NARROW = 1e-5
"""Of the widest coordinate: narrower boxes are not divided, only cut as long as that helps [rad, m]."""


OFF_TUBE = 1e-12
"""Of rounding of stops and of values of a driver, relative to 1 + their size [rad, m]."""


@final
@dataclass(frozen=True)
class SearchLimits:
    """When a search of boxes ends though boxes are left; its result says which limit it was.

    Attributes:
        seconds: wall time [s].
        boxes: that are looked at.

    Raises:
        OptionError: a limit that is not positive, or not a number.
    """

    seconds: float = 30.0
    boxes: int = 5_000_000

    def __post_init__(self) -> None:
        """Check ranges."""
        positive_number(self.seconds, "seconds of a search of boxes")
        whole_number(self.boxes, "boxes of a search", 1)


class Ball(NamedTuple):
    r"""Where a certified solution is the only one: all q with :math:`\|B^T (x - c)\| \le R`, a Euclidean norm.

    Attributes:
        center: c (n,), in coordinates of the search.
        basis: B (n, n), orthonormal.
        R: of its certificate.
    """

    center: Matrix
    basis: Matrix
    R: float

    def holds(self, boxes: Boxes) -> BoolVector:
        """(N,) whether a box is within it."""
        way = np.abs((boxes.center - self.center) @ self.basis) + boxes.radius @ np.abs(self.basis)
        return np.asarray(np.sqrt((way * way).sum(axis=1)) * (1.0 + 1e-9) + 1e-12 <= self.R)


class Tube(NamedTuple):
    r"""Where the solutions of a certified branch are the only ones: around its legs, by the value t of a driver.

    On a leg, :math:`x_0 + (t - t_0)\, s` leads from stop to stop; to each t one solution alone is within R of it.

    Attributes:
        driver: number of the coordinate t.
        begin, end: least and greatest t of each leg (legs,); together they have all values between.
        start, slope: :math:`x_0` at the first of them, and s (legs, n).
        R: (legs,) of each.
        off: (legs,) how far t of its stops may be off.
    """

    driver: int
    begin: Matrix
    end: Matrix
    start: Matrix
    slope: Matrix
    R: Matrix
    off: Matrix

    @staticmethod
    def through(x: Matrix, driver: int, R: Matrix, off: Matrix) -> Tube:
        """From stops (legs, 2, n) at both ends of each leg."""
        legs, rises = np.arange(len(x)), x[:, 1, driver] > x[:, 0, driver]
        first, last = x[legs, 1 - rises], x[legs, 1 * rises]
        t0, t1 = first[:, driver], last[:, driver]
        return Tube(driver, t0, t1, first, (last - first) / (t1 - t0)[:, None], R, off + OFF_TUBE)

    def holds(self, boxes: Boxes) -> BoolVector:
        """(N,) whether a box is within it, on each leg that has values of its driver."""
        lower, upper = (end[:, None, self.driver] for end in boxes)
        low, high = np.maximum(lower, self.begin - self.off), np.minimum(upper, self.end + self.off)
        middle = 0.5 * (low + high)
        way = np.abs(boxes.center[:, None] - self.start - (middle - self.begin)[..., None] * self.slope)
        way += boxes.radius[:, None] + np.abs(self.slope) * 0.5 * (high - low)[..., None]
        way[..., self.driver] = 0.0  # t is that of the point on the leg, but for `off`
        rates = 1.0 + np.abs(self.slope).sum(axis=1)
        off = 4.0 * self.off * rates * (1.0 + np.abs(self.start).max(axis=1))
        inside = np.sqrt((way * way).sum(axis=2)) * (1.0 + 1e-9) + off <= self.R
        covered = (lower >= self.begin.min() - OFF_TUBE) & (upper <= self.end.max() + OFF_TUBE)
        return np.asarray((inside | (low > high)).all(axis=1) & covered[:, 0])


class Searched(NamedTuple):
    """What a search found.

    Attributes:
        boxes: how many were looked at.
        open: the share of the volume that is left.
        narrow: boxes that are too narrow to be divided.
        reason: why it ended; empty if no box is left.
    """

    boxes: int
    open: float
    narrow: Boxes
    reason: str


class BoxSearch:
    """A search of all boxes of the coordinates of a problem.

    Args:
        rows: of the problem.
        coordinates: in which boxes are divided.
        read: the rows as loops, and the others.
        limits: when to end.

    Attributes:
        without: names of functions that have no enclosure, so that their rows cut nothing.
    """

    def __init__(self, rows: ProblemRows, coordinates: Coordinates, read: Read, limits: SearchLimits) -> None:
        self.coordinates, self.loops, self.limits = coordinates, read.loops, limits
        self.others, self.without = _enclosed(rows, read, coordinates)
        self.begun, self.looked, self.undefined = perf_counter(), 0, ""
        self.pending = coordinates.boxes
        self.narrow = self.pending.some(slice(0, 0))
        self.sizes: Matrix = np.ones((1, 1, 1))
        if self.loops:
            self.sizes = np.maximum(self._of_loops(coordinates.boxes).shares.sum(axis=2), 1e-12)[..., None]

    def run(self, balls: Sequence[Ball | Tube] = (), boxes: int | None = None) -> Searched:
        """Go on until no box is left, or a limit is reached.

        Args:
            balls: where solutions are known: boxes within them are dropped.
            boxes: how many are enough for now.
        """
        if self.coordinates.whole:
            return Searched(0, 1.0, self.narrow, self.coordinates.whole)
        size = FEW if self.others else BATCH
        while self.pending.number:
            reason = self._over(boxes)
            if reason:
                left = self.pending.and_also(self.narrow)
                return Searched(self.looked, self.coordinates.volume(left), self.narrow, reason)
            now, pending = self.pending.some(slice(-size, None)), self.pending.some(slice(None, -size))
            self.looked += now.number
            left, along, again = self._cut(now)
            for ball in balls:
                out = ~ball.holds(left)
                left, along, again = left.some(out), along[out], again[out]
            wide = (left.upper - left.lower).max(axis=1, initial=0.0) > NARROW
            self.narrow = self.narrow.and_also(left.some(~wide & ~again))
            halved = left.some(wide & ~again).halves(along[wide & ~again])
            self.pending = pending.and_also(left.some(again), halved)
        if not self.narrow.number:
            return Searched(self.looked, 0.0, self.narrow, "")
        why = self.undefined or "rows are nearly singular there"
        words = f"nothing excludes {counted(self.narrow.number, 'box')} of width {NARROW:g}: {why}"
        return Searched(self.looked, self.coordinates.volume(self.narrow), self.narrow, words)

    def _over(self, enough: int | None) -> str:
        if perf_counter() - self.begun > self.limits.seconds:
            return f"the limit of {self.limits.seconds:g} s was reached"
        if self.looked >= self.limits.boxes:
            return f"the limit of {self.limits.boxes} boxes was reached"
        return "" if enough is None or self.looked < enough else "it is to go on"

    def _of_loops(self, boxes: Boxes) -> Linear:
        return Linear.of_loops(self.loops, boxes, self.coordinates.turning)

    def _cut(self, boxes: Boxes) -> tuple[Boxes, Indices, BoolVector]:
        """What is left of boxes, along which coordinate each is to be divided, and whether it should be cut again."""
        before, score = boxes, (boxes.upper - boxes.lower) / np.maximum(self.coordinates.width, 1e-300)
        if self.loops:
            found = self._of_loops(boxes)
            on = np.flatnonzero(found.possible)
            before, found = boxes.some(on), found.some(on)
            alive, boxes = cut(before, found)
            before, boxes = before.some(alive), boxes.some(alive)
            score = np.asarray((found.shares[alive] / self.sizes).max(axis=1))
        if self.others is not None:
            before, boxes, score = self._cut_by(self.others, before, boxes, score)
        old = np.maximum(before.upper - before.lower, 1e-300)
        shares = np.where(before.upper > before.lower, (boxes.upper - boxes.lower) / old, 1.0)
        score = np.where(boxes.upper > boxes.lower, score * shares, -1.0)
        again = shares.min(axis=1, initial=1.0) < SHRUNK
        return boxes, score.argmax(axis=1) if score.size else np.zeros(0, dtype=np.intp), again

    def _cut_by(self, rows: ProblemRows, before: Boxes, boxes: Boxes, score: Matrix) -> tuple[Boxes, Boxes, Matrix]:
        """By rows that are no loops; those left, as they were and as they are, with their scores."""
        kept, parts, columns = list[int](), list[Boxes](), self.coordinates.columns
        for i, found in enumerate(self._on(rows, boxes)):
            one = boxes.some(slice(i, i + 1))
            if found is None:
                kept.append(i)
                parts.append(one)
                continue
            (value, J), radius = found, one.radius[0] * (1.0 + 1e-12) + 1e-12
            equations = Linear.of_rows(value, J[:, columns], (rows.lower, rows.upper), radius)
            if equations is None:
                continue
            alive, after = cut(one, equations)
            if alive[0]:
                kept.append(i)
                parts.append(after)
                if not self.loops:
                    steps = equations.steps[0]
                    score[i] = (steps / np.maximum(steps.sum(axis=1, keepdims=True), 1e-300)).max(axis=0)
        none = boxes.some(slice(0, 0))
        return before.some(kept), none.and_also(*parts), score[kept]

    def _on(self, rows: ProblemRows, boxes: Boxes) -> list[tuple[Interval, Interval] | None]:
        """Values and Jacobians on each box; None where they have no value."""
        every = list[tuple[Interval, Interval] | None]([None] * boxes.number)
        ahead = [np.arange(boxes.number)] if boxes.number else []
        while ahead:
            which = ahead.pop()
            try:
                found = rows.on(self.coordinates.tangent_boxes(boxes.some(which)))
            except UndefinedError as why:
                self.undefined = f"on some boxes: {why}"
                if np.shape(why.where) == which.shape and why.where.any():
                    which = which[~why.where]
                    ahead += [which] if len(which) else []
                elif len(which) > 1:
                    ahead += np.array_split(which, 2)
                continue
            for k, i in enumerate(which.tolist()):
                every[i] = found.value[k], found.jacobian[k]
        return every


def _enclosed(rows: ProblemRows, read: Read, coordinates: Coordinates) -> tuple[ProblemRows | None, tuple[str, ...]]:
    """The rows that are no loops and have an enclosure, if there are any; and the names of functions that have none."""
    kept, without = list[int](), list[str]()
    at = coordinates.tangent_boxes(coordinates.boxes.some(slice(0, 1)).middles)
    for i in read.others:
        try:
            rows.some([i]).on(at)
        except NoEnclosureError as why:
            without.append(str(why))
            continue
        except UndefinedError:
            pass  # it may have a value elsewhere
        kept.append(i)
    return (rows.some(kept) if kept else None), tuple(without)

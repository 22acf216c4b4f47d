"""Collisions along a path: parts of it are divided until each is proved to be free."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Matrix, Vector

from ..paths.path import Path, Piece
from ..solvers.machine.layout import MOST_LEGS
from .checking import Checker, NearPairs
from .motion import MotionBounds
from .pairs import IndexPair

ROWS_AT_FIRST = 128
"""Parts of a path that are looked at together, then twice as many and so on: what is behind a collision is cheap."""
MANY = MOST_LEGS
"""Fewer parts than these are divided into as many at once: a batch of few rows costs as much as one of many."""
SHORTEST_TIME = 1e-9
"""Parts of a piece that are shorter are not divided, however far something moves in them: as between q and -q."""


class Met(NamedTuple):
    """Where a pair meets first: the time on the path [s], and its number."""

    time: float
    pair: int


class Close(NamedTuple):
    """A pair that comes so near that it is not proved free, from one time to another [s]."""

    pair: int
    begin: float
    end: float


class Along(NamedTuple):
    """What was found on a path.

    Attributes:
        met: the first collision, or None.
        close: before it.
        looked: number of configurations that were looked at.
    """

    met: Met | None
    close: tuple[Close, ...]
    looked: int


class _Parts(NamedTuple):
    """Parts of a piece (n,): times and configurations at their ends; pairs that are not proved free (n, pairs)."""

    t0: Vector
    t1: Vector
    Q0: Matrix
    Q1: Matrix
    moved: Matrix
    open: BoolVector

    def some(self, which: Any) -> _Parts:
        arrays: Any = self
        return _Parts(*(array[which] for array in arrays))


class _Legs(NamedTuple):
    """Parts of a piece, divided: times and configurations between two legs, and bounds on how much nearer pairs come.

    Attributes:
        times: (n (legs - 1),).
        Q: configurations there (n (legs - 1), nq).
        moved: on each leg (n legs, pairs) [m]; where they are asked.
        near: pairs that are not proved free between two legs.
    """

    times: Vector
    Q: Matrix
    moved: Matrix
    near: NearPairs


def along(checker: Checker, pairs: Sequence[IndexPair], path: Path, resolution: float) -> Along:
    """The first pair that collides on a path, and pairs that are too near to be proved free.

    Args:
        checker: what is asked.
        pairs: of solids that are looked at.
        path: the path.
        resolution: parts in which two solids come nearer by less than this are not halved [m].
    """
    found, begun, looked = list[Close](), 0.0, 0
    for piece, duration in zip(path.pieces, path.durations, strict=True):
        search = _Search(checker, pairs, piece, resolution)
        met = search.run() if pairs else None
        looked += search.looked
        before = np.inf if met is None else met.time
        found += [Close(c.pair, *(begun + duration * np.array(c[1:]))) for c in _joined(search.close) if c.end < before]
        if met is not None:
            return Along(Met(begun + duration * met.time, met.pair), tuple(found), looked)
        begun += duration
    return Along(None, tuple(found), looked)


def _joined(close: Sequence[Close]) -> Iterator[Close]:
    """The same with neighbouring parts as one, in the order of time."""
    last: dict[int, Close] = {}
    for part in sorted(close, key=lambda part: part.begin):
        before = last.get(part.pair)
        if before is not None and part.begin <= before.end:
            last[part.pair] = before._replace(end=part.end)
        else:
            if before is not None:
                yield before
            last[part.pair] = part
    yield from last.values()


@final
class _Search:
    """The search on one piece of a path."""

    def __init__(self, checker: Checker, pairs: Sequence[IndexPair], piece: Piece, resolution: float) -> None:
        self._checker, self._piece, self._resolution = checker, piece, resolution
        self._space, D = piece.problem.space, piece.problem.space.difference(piece.samples[:-1], piece.samples[1:])
        self._reaches, self._pairs = checker.carried.reaches_along(piece.samples, D), pairs
        self._program = piece.projector.program.division
        self._solids = None if self._program is None else checker.solids_along(self._reaches)
        self._count = len(pairs)
        self.close: list[Close] = []
        self.looked = 0

    @cached_property
    def _bounds(self) -> MotionBounds:
        return MotionBounds(self._checker.carried, self._pairs, self._reaches)

    @cached_property
    def _samples(self) -> Matrix:
        """Of the piece: time and configuration (n, 1 + nq)."""
        return np.column_stack((self._piece.times, self._piece.samples))

    def run(self) -> Met | None:
        """The first collision; None if there is none."""
        samples, times, b = self._piece.samples, self._piece.times, 0
        if np.array_equal(samples[1:], samples[:-1]):
            return _first(self._near(samples[:1], np.zeros((1, self._count))), times)
        while b < len(times) - 1:
            a, b = b, min(2 * b + ROWS_AT_FIRST, len(times) - 1)
            Q, t, every = samples[a : b + 1], times[a : b + 1], np.ones((b - a, self._count), dtype=np.bool_)
            parts, met = self._divided(_Parts(t[:-1], t[1:], Q[:-1], Q[1:], np.full(every.shape, np.inf), every))
            if len(parts.t0):
                ends = np.isin(t, (parts.t0, parts.t1))  # samples that are not proved free with a part
                near = self._near(Q[ends], np.zeros((int(ends.sum()), self._count)))
                met = self._refined(parts, _earlier(met, _first(near, t[ends])))
            if met is not None:
                return met
        return None

    def _near(self, Q: Matrix, more: Matrix) -> NearPairs:
        self.looked += len(Q)
        return self._checker.near(Q, more)

    def _refined(self, parts: _Parts, met: Met | None) -> Met | None:
        """Divide parts that are open, as long as they are before the first collision; which that is."""
        while True:
            if met is not None:
                parts = parts.some(parts.t0 < met.time)
            short = (parts.moved <= self._resolution) | (parts.t1 - parts.t0 < SHORTEST_TIME)[:, None]
            for n, pair in np.argwhere(parts.open & short).tolist():
                self.close.append(Close(pair, float(parts.t0[n]), float(parts.t1[n])))
            still: BoolVector = parts.open & ~short
            left: BoolVector = np.any(still, axis=1)  # pyright: ignore[reportAssignmentType]
            parts = parts._replace(open=still).some(left)
            if not len(parts.t0):
                return met
            parts, found = self._divided(parts)
            met = _earlier(met, found)

    def _divided(self, parts: _Parts) -> tuple[_Parts, Met | None]:
        """Parts of parts, open where both their ends are too near, or one, and the other is an end of the whole."""
        n, legs = len(parts.t0), MANY if len(parts.t0) < MANY else 2
        found = self._by_kernel(parts, legs) or self._in_numpy(parts, legs)
        self.looked += len(found.times)
        if not found.near.rows.size:
            return parts.some(slice(0)), None
        opened = _beside(_mask(found.near, (n * (legs - 1), self._count)).reshape(n, legs - 1, -1), np.logical_and)
        times = _with_ends(parts.t0, found.times.reshape(n, -1), parts.t1)
        Q = _with_ends(parts.Q0, found.Q.reshape(n, legs - 1, -1), parts.Q1)
        left = opened.any(axis=2)
        few = found.moved.reshape(opened.shape)[left], opened[left]
        divided = _Parts(times[:, :-1][left], times[:, 1:][left], Q[:, :-1][left], Q[:, 1:][left], *few)
        return divided, _first(found.near, found.times)

    def _by_kernel(self, parts: _Parts, legs: int) -> _Legs | None:
        """Parts divided in one call; None where no kernel does it, or a configuration is not reached."""
        piece, program, solids = self._piece, self._program, self._solids
        if program is None or solids is None:
            return None
        sides: Any = piece.sides.constant
        if sides is None:
            times = np.linspace(parts.t0, parts.t1, legs + 1, axis=1)[:, 1:-1].ravel()
            each: Any = piece.sides.at_times(piece.problem, times)
            sides = np.array([side.vector for side in each])
        ends = np.column_stack((parts.t0, parts.t1, parts.Q0, parts.Q1))
        found = program.divide(ends, legs, self._samples, sides, np.where(parts.open, 0.0, -1.0), solids)
        if found is None:
            return None
        Q = found.inner[:, 1:]
        return _Legs(found.inner[:, 0], Q, found.moved, self._checker.near_of(Q, found.more, found.doubts))

    def _in_numpy(self, parts: _Parts, legs: int) -> _Legs:
        """The same, step by step."""
        n = len(parts.t0)
        times: Matrix = np.linspace(parts.t0, parts.t1, legs + 1, axis=1)[:, 1:-1]
        inner = self._piece.at_times(times.ravel())
        Q = _with_ends(parts.Q0, inner.reshape(n, legs - 1, -1), parts.Q1)
        D = self._space.difference(Q[:, :-1], Q[:, 1:])
        bends = _beside(np.abs(np.diff(D, axis=1)), np.maximum)
        balls = self._checker.balls(Q.reshape(-1, Q.shape[2])).reshape(n, legs + 1, -1, 12)
        moved = self._bounds.between(D, bends, balls)
        need = np.where(parts.open[:, None], _between(moved), -1.0)
        near = self._checker.near(inner, need.reshape(-1, need.shape[2]))
        return _Legs(times.ravel(), inner, moved.reshape(-1, moved.shape[2]), near)


def _mask(near: NearPairs, shape: tuple[int, ...]) -> BoolVector:
    mask = np.zeros(shape, dtype=np.bool_)
    mask[near.rows, near.pairs] = True
    return mask


def _first(near: NearPairs, times: Vector) -> Met | None:
    """The first collision among pairs that are near, by time and then by number."""
    met = zip(times[near.rows[near.met]].tolist(), near.pairs[near.met].tolist(), strict=True)
    return min((Met(*each) for each in met), default=None)


def _earlier(one: Met | None, other: Met | None) -> Met | None:
    return min((met for met in (one, other) if met is not None), default=None)


def _between(of_parts: Matrix) -> Matrix:
    """Of each place between two parts of a row (n, parts, ...) the larger value of the two."""
    return np.maximum(of_parts[:, :-1], of_parts[:, 1:])


def _with_ends(first: Any, between: Any, last: Any) -> Any:
    """Rows (n, k, ...) with one more value before them and one behind (n, ...)."""
    return np.concatenate((first[:, None], between, last[:, None]), axis=1)


def _beside(of_places: Any, together: Callable[..., Any]) -> Any:
    """Of each part of a row what is at its two ends, together; of the first and the last one at one end."""
    first, last = of_places[:, :1], of_places[:, -1:]
    return together(np.concatenate((first, of_places), axis=1), np.concatenate((of_places, last), axis=1))

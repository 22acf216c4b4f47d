"""Legs of a piece of a path: which are proved, and what is tried next of the others; all at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...collisions.model import CollisionModel
from ...collisions.motion import MotionBounds
from ...errors import NoEnclosureError, UndefinedError
from ...functions.enclosures.box import TangentBox
from ...functions.enclosures.interval import UNIT, Interval, lengths
from ...paths.path import Piece
from ...words import first_names
from ..check import contraction
from ..path_check import LegPremises, LegReach
from ..rows import NUMBERS, ProblemRows, RowsOn
from ..slice import Place, Slice
from .leg import LEAST_SIZE, SIZE_OF_WAY, Rooms, Turning, Way, legs_of, rooms_along
from .parts import Answer, AtEnd, NoLeg, Proof, WayPart
from .tubes import FINER, Tubes

SPARE = 1.2
"""Factor on what a leg needs of its ball: where it meets the next one it may need more."""

CROSSING_BETA = 0.95
"""At this beta a leg is halved, without a look at other sizes of its ball."""

MOST_HALVES = 3
"""How often a leg is halved at once, at most: as often as its beta, which falls faster than its length."""

HALVED_FIRST = 2
"""How often a part is halved where samples do not prove it, before it is enclosed as a whole."""

HALVED_IF_DEPENDENT = 2
"""How often a leg is halved where rows depend on others: by chance in its middle, or as the problem has them."""

SIZES = 5
"""Of balls, and coordinates that are held, that are tried on one leg, together."""

AT_END = 1e-3
"""An inequality that may be missed, and is as near to its end as this in the middle of a leg, is held there."""

FAR_FROM_END = 0.01
"""An inequality that is held at its end, and is farther from it than this, leaves it."""

OF_DISTANCES = 1e-6
"""What coal's distances are taken to be off by at most [m]."""


@final
class LegSearch:
    """What is tried of the legs of a piece.

    Args:
        piece: of a path.
        collisions: what must be free, or None.
        halvings: how often parts may be halved.

    Attributes:
        rows: at its begin.
        active: (m,) inequalities that are held at an end.
        target: (m,) what each row should be.
        held: (nv,) coordinates that are held on some leg.
        turning: number of a constraint -> its rows, of those whose right-hand sides move on a group.
    """

    def __init__(self, piece: Piece, collisions: CollisionModel | None, halvings: int = 0) -> None:
        self.piece, self.problem, self.collisions = piece, piece.problem, collisions
        self.halvings = min(halvings, HALVED_FIRST)
        self.space = piece.problem.space
        ends = [ProblemRows.of(self.problem, self.problem.check_rhs(piece.sides.at(t))) for t in (0.0, 1.0)]
        still = [np.array_equal(a, b) for a, b in zip(ends[0].points, ends[1].points, strict=True)]
        axes = [axis if stays else None for axis, stays in zip(ends[0].axes, still, strict=True)]
        self.rows = ends[0]._replace(axes=axes)  # a tilt is what rows are only where they are to be zero
        self.active = np.zeros(len(self.rows.lower), dtype=np.bool_)
        self.target = np.where(self.rows.equalities, self.rows.lower, 0.0)
        self.held = np.zeros(self.space.nv, dtype=np.bool_)
        self.turning = dict[int, Turning]()
        self._at_stops = dict[float, Matrix]()
        self._together = max(NUMBERS // (max(len(self.active), 1) * self.space.nv**2), 1)

    def rows_at(self, time: float) -> ProblemRows:
        """With the right-hand sides of a time."""
        points = ProblemRows.of(self.problem, self.problem.check_rhs(self.piece.sides.at(time))).points
        return self.rows._replace(points=points)

    def _rows_at_times(self, times: Sequence[float]) -> ProblemRows:
        """With the right-hand sides of several times."""
        if self.piece.sides.constant is not None:
            return self.rows
        return ProblemRows.stacked([self.rows_at(t) for t in times])

    def _target_moves(self, parts: Sequence[WayPart]) -> Interval:
        """(parts, m) what right-hand sides move by from the middle of each part to its end."""
        moved = [Interval.of(np.zeros((len(parts), int(owner.rows.mask.sum())))) for owner in self.rows.owners]
        if self.piece.sides.constant is None:
            before, after = (self._rows_at_times(t).points for t in ([p.t0 for p in parts], [p.t1 for p in parts]))
            for i, (owner, a, b) in enumerate(zip(self.rows.owners, before, after, strict=True)):
                if owner.group.is_flat:
                    rounding = np.where(a == b, 0.0, 8.0 * UNIT * (np.abs(a) + np.abs(b)))
                    moved[i] = Interval.around(0.5 * (b - a), rounding)[:, owner.rows.mask]
                elif i in self.turning:
                    moved[i] = self.turning[i].ahead(a, b)
        return Interval.joined([Interval.of(np.zeros((len(parts), 0))), *moved], -1)

    def looked_at(self, parts: list[WayPart]) -> list[Answer]:
        """What is found of each part, with so many at a time as fit into fast memory."""
        size, answers = self._together, self._in_tubes(parts)
        others = [i for i in range(len(parts)) if i not in answers]
        for k in range(0, len(others), size):
            some = others[k : k + size]
            answers.update(zip(some, self._legs([parts[i] for i in some]), strict=True))
        return [answers[i] for i in range(len(parts))]

    @cached_property
    def _tubes(self) -> Tubes | None:
        """What proves legs by samples, where there are bounds for it."""
        if self.piece.sides.constant is None or not len(self.rows.lower) or not self.rows.equalities.all():
            return None
        try:
            return Tubes(self.rows, self.piece)
        except (NoEnclosureError, UndefinedError):
            return None

    def _in_tubes(self, parts: list[WayPart]) -> dict[int, Answer]:
        """What samples say of parts, by number: those that are proved, or are to be halved first."""
        new = [i for i, part in enumerate(parts) if part.size == 0.0]
        if not new or self._tubes is None:
            return {}
        some, answers = [parts[i] for i in new], dict[int, Answer]()
        Q0, Q1 = np.array([part.q0 for part in some]), np.array([part.q1 for part in some])
        way = Way.between(self.space, Q0, Q1, self.problem.frozen, np.zeros(len(some)))
        held = np.array([part.held for part in some])
        try:
            begun = self._tubes.begun(way, held)
        except UndefinedError:
            begun = None
        if begun is None:
            return {}
        open_parts = begun.fits.copy()
        with suppress(UndefinedError):
            for finer in FINER:
                for which, ways, legs, rooms, holds in self._tubes.legs(begun, np.flatnonzero(open_parts), finer):
                    reach, need, clear = _clear(ways, legs, rooms)
                    short = rooms.short(need) & np.isfinite(need)[:, None]
                    open_parts[which] = ~(clear & holds) & ~short.any(axis=1)
                    self.held |= held[which[clear & holds]].any(axis=0) & ~self.problem.frozen
                    proved = np.flatnonzero(clear & holds)
                    for i, met in zip(proved.tolist(), self._met(ways.some(proved), need[proved]), strict=True):
                        k = int(which[i])
                        answers[new[k]] = NoLeg(met) if met else Proof(some[k], legs, i, reach[i], float(need[i]))
                    for i in np.flatnonzero(short.any(axis=1)).tolist():
                        k, on = int(which[i]), self._columns(rooms, short[i])
                        if len(on) and not held[k, on].any():
                            held[k, on] = True
                            answers[new[k]] = some[k]._replace(held=held[k], tries=some[k].tries + 1)
        for k in np.flatnonzero(open_parts).tolist():
            if some[k].halved < self.halvings:
                answers[new[k]] = NoLeg("the Jacobian changes too fast between samples")
        return answers

    def _legs(self, parts: list[WayPart]) -> list[Answer]:
        """Of each part: a leg that is proved, with room for where it meets the next one; what to try next; or neither.

        All parts are enclosed at once; where one of them has no value, or other rows in play, they are told apart.
        """
        Q0, Q1 = np.array([part.q0 for part in parts]), np.array([part.q1 for part in parts])
        way = Way.between(self.space, Q0, Q1, self.problem.frozen, np.array([part.size for part in parts]))
        usual = np.maximum(SIZE_OF_WAY * lengths(way.d), LEAST_SIZE)
        way = way._replace(size=np.where(way.size > 0.0, way.size, usual))
        rows, moved = self._rows_at_times([0.5 * (part.t0 + part.t1) for part in parts]), self._target_moves(parts)
        held, first = np.array([part.held for part in parts]), np.arange(len(parts)) < len(parts) // 2
        try:
            found, moved = self._enclosed(rows, way.box, moved)
        except UndefinedError as why:
            return self._without_value(parts, why)
        stays = held & (way.d == 0.0) & (way.off == 0.0)  # what is held may move on the way itself
        played = (self.rows.equalities | self.active) & ~(found.settled(self.target, stays) & (moved.magnitude == 0.0))
        alike = (played == played[0]).all(axis=1)
        if not alike.all():
            return self._told_apart(parts, alike)
        at = Slice.of(found, np.flatnonzero(played[0]), held)
        if len(at.dependent):
            if first.any():
                return self._told_apart(parts, first)
            names = [self.rows.names[int(k)] for k in at.dependent]
            why = f"rows that depend on others to first order are not proved: {first_names(names)}"
            return [NoLeg(why, int(parts[0].halved < HALVED_IF_DEPENDENT))]
        rooms = rooms_along(way, rows, found, self.active, held, moved)
        legs = legs_of(way, found, at, self.target, moved, self._ends(parts), rooms)
        tried = _Tried(way, found, at, rooms, legs, contraction(legs.numbers)[1])
        each, need, clear = _clear(way, legs, rooms)
        far = np.abs(found.value.middle - self.target) > FAR_FROM_END
        which = np.flatnonzero(clear & ~(self.active & far).any(axis=1))
        met = dict(zip(which.tolist(), self._met(way.some(which), need[which]), strict=True))
        proved = [i for i, why in met.items() if not why]
        self.held |= held[proved].any(axis=0) & ~self.problem.frozen
        answers: dict[int, Answer] = {i: NoLeg(why) for i, why in met.items()}
        answers |= {i: Proof(parts[i], legs, i, each[i], float(need[i])) for i in proved}
        return [answers.get(i) or self._answer(part, tried, i, each[i]) for i, part in enumerate(parts)]

    def _enclosed(self, rows: ProblemRows, box: TangentBox, moved: Interval) -> tuple[RowsOn, Interval]:
        """Rows on boxes around legs, and what targets move by, where these move on groups too."""
        found = rows.on(box)
        for turning in self.turning.values():
            found, moved = turning.seen(found, moved, box)
        return found, moved

    def _told_apart(self, parts: list[WayPart], first: BoolVector) -> list[Answer]:
        """As `_legs`, some of them before the others."""
        ours, others = (iter(self._legs([parts[i] for i in np.flatnonzero(which)])) for which in (first, ~first))
        return [next(ours if own else others) for own in first.tolist()]

    def _without_value(self, parts: list[WayPart], why: UndefinedError) -> list[Answer]:
        """As `_legs`, where rows have no value on some boxes."""
        where, no = why.where, NoLeg(f"on the box around it: {why}")
        if len(parts) == 1:
            return [no]
        if np.shape(where) != (len(parts),):
            return self._told_apart(parts, np.arange(len(parts)) < len(parts) // 2)
        others = iter(self._legs([parts[i] for i in np.flatnonzero(~where)]) if not where.all() else ())
        return [no if none else next(others) for none in where.tolist()]

    def _answer(self, part: WayPart, tried: _Tried, i: int, reach: LegReach) -> Answer:
        """What is said of one part that is not proved yet."""
        x, beta, size = tried.found.value.middle[i], float(tried.beta[i]), float(tried.way.size[i])
        left = self.active & (np.abs(x - self.target) > FAR_FROM_END)
        if left.any():
            name = self.rows.names[int(left.argmax())]
            return NoLeg(f"{name} is at its end on a part of the piece only: that is not proved", 0)
        if not beta < CROSSING_BETA:
            condition = float(tried.at.condition[i])
            near = f"the rows are nearly singular, condition {condition:.3g}: " if condition > 1e4 else ""
            halves = min(int(np.log2(beta)), MOST_HALVES) if 2.0 <= beta < np.inf else 1
            return NoLeg(f"{near}no contraction, beta = {beta:.3g}", halves)
        need = SPARE * float(reach.joined(reach))
        why = f"the ball of {size:.3g} around the way is not mapped into itself: it needs {need:.3g}"
        again = part._replace(size=1.2 * need, tries=part.tries + 1)
        if need <= size:
            held = part.held.copy()
            why = self._missed(tried, i, need, held) or self._met(tried.way.some([i]), np.array([need]))[0]
            if not why:
                self.held |= held & ~self.problem.frozen
                return Proof(part, tried.legs, i, reach, need)
            again = part._replace(size=size, held=held, tries=part.tries + 1)
            if why != AGAIN:
                return NoLeg(why)
        return again if again.tries < SIZES else NoLeg(why)

    def _ends(self, parts: list[WayPart]) -> Matrix:
        """(parts, 2, 2, m) the rows at both ends of each part, lower and upper ends; each stop is one of two parts."""
        every = {t: q for part in parts for t, q in ((part.t0, part.q0), (part.t1, part.q1))}
        new = {t: q for t, q in every.items() if t not in self._at_stops}
        if new:
            values = self._rows_at_times(list(new)).at(np.array(list(new.values())))
            for turning in self.turning.values():
                values = turning.rounded(values)
            self._at_stops.update(zip(new, [*np.stack([values.lower, values.upper], axis=1)], strict=True))
        return np.array([[self._at_stops[t] for t in (part.t0, part.t1)] for part in parts])

    def _missed(self, tried: _Tried, i: int, need: float, held: BoolVector) -> str:
        """What may be missed, in words; coordinates at a bound are held first: then `AGAIN`.

        Raises:
            AtEnd: an inequality is at its end.
        """
        rooms, values = tried.rooms, tried.found.value.middle[i]
        places = [rooms.places[k] for k in np.flatnonzero(rooms.short(need)[i]).tolist()]
        columns = self._columns(rooms, rooms.short(need)[i])
        if len(columns) and not held[columns].any():
            held[columns] = True
            return AGAIN
        for row in (place.at for place in places if place.kind == "row"):
            end = min((self.rows.lower[row], self.rows.upper[row]), key=lambda end: abs(end - values[row]))
            if abs(end - values[row]) < AT_END:
                raise AtEnd(row, float(end))
        return f"{self._name(places[0])} may be passed" if places else ""

    def _columns(self, rooms: Rooms, short: BoolVector) -> Indices:
        """Of coordinates that may be missed."""
        places = [rooms.places[k] for k in np.flatnonzero(short).tolist()]
        return self.space.vector_v[[place.at for place in places if place.kind == "coordinate"]]

    def _name(self, place: Place) -> str:
        if place.kind == "row":
            return f"the end of {self.rows.names[place.at]}"
        entry = int(self.space.vector_q[place.at]) if place.kind == "coordinate" else place.at
        return f"a bound of '{next(leaf.name for leaf in self.space.leaves() if leaf.q.start <= entry < leaf.q.stop)}'"

    def met(self, part: WayPart, far: float) -> str:
        """As `_met`, of a part that is proved."""
        way = Way.between(self.space, part.q0[None], part.q1[None], self.problem.frozen, np.array([far]))
        return self._met(way, np.array([far]))[0]

    def _met(self, ways: Way, far: Vector) -> list[str]:
        """Of each way the first pair that is not proved to be apart on it and around it, in words."""
        said = [""] * len(far)
        if self.collisions is None or not said:
            return said
        checker, D = self.collisions.checker, np.abs(ways.d) + ways.off + far[:, None] * ways.moving
        reaches = checker.carried.reaches_along(ways.middle, 2.0 * D)
        more = MotionBounds(checker.carried, self.collisions.contents.margins, reaches).within(D) + OF_DISTANCES
        first = 0
        while first < len(said):  # `near` looks at nothing behind the first collision
            near = checker.near(ways.middle[first:], more[first:])
            rows: list[int] = near.rows.tolist()
            pairs: list[int] = near.pairs.tolist()
            hits: list[bool] = near.met.tolist()
            for row, pair, met in zip(rows, pairs, hits, strict=True):
                i = first + row
                if not said[i] and (met or not checker.are_apart(ways.middle[i], pair, float(more[i, pair]))):
                    a, b = self.collisions.pairs[pair]
                    said[i] = f"'{a}' {'collides with' if met else 'may meet'} '{b}'"
            first = first + rows[hits.index(True)] + 1 if True in hits else len(said)
        return said


def _clear(way: Way, legs: LegPremises, rooms: Rooms) -> tuple[list[LegReach], Vector, BoolVector]:
    """How far solutions of legs are, how far they may be, and which legs are proved for that, with room."""
    reach = LegReach.of(legs)
    need = SPARE * reach.joined(reach)
    contracts = 2.0 * (1.0 - CROSSING_BETA) * reach.turn < legs.pull  # beta is below it
    clear = contracts & (need <= way.size) & ~rooms.short(need).any(axis=1)
    return [LegReach(*numbers) for numbers in zip(*(x.tolist() for x in reach), strict=True)], need, clear


class _Tried(NamedTuple):
    """What was found on several parts at once, each with a leading axis.

    Attributes:
        way, found, at, rooms: the ways, the rows on their boxes, slices and room.
        legs: premises.
        beta: of them.
    """

    way: Way
    found: RowsOn
    at: Slice
    rooms: Rooms
    legs: LegPremises
    beta: Vector


AGAIN = "again"
"""Of `_missed`: what was short is held now."""

"""The search for a certificate of one piece of a path: legs that are halved until each is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Vector

from ..collisions.model import CollisionModel
from ..collisions.motion import MotionBounds
from ..errors import NoEnclosureError, UndefinedError
from ..functions.enclosures.interval import UNIT, Interval
from ..paths.path import Piece
from ..ranges import whole_number
from ..solvers import Options, Projector
from .check import contraction, lengths
from .leg import Rooms, Turning, Way, leg_of, rooms_along
from .path_check import LegPremises, farthest, leg_failures
from .rows import ProblemRows, RowsOn
from .search import SearchStop, refuse_branches
from .slice import Moves, Place, Slice

FINE_THRESHOLD = 1e-10
"""Of the projections that put samples, and configurations between them, where the legs meet [m, rad]."""

FARTHEST_STOP = 0.01
"""Of a stop from its sample: a sample that is off by more is none of a path on the constraints [rad, m]."""

SIZE_OF_WAY = 0.2
"""Of the ball around a way, as a part of half its length."""

LEAST_SIZE = 1e-5
"""Of that ball [rad, m]."""

SPARE = 1.2
"""Factor on what a leg needs of its ball: where it meets the next one it may need more."""

LONGER_BETA = 0.3
"""Below this beta of a leg the next one may be twice as long."""

CROSSING_BETA = 0.95
"""At this beta a leg is halved, without a look at other sizes of its ball."""

FAR_MIDDLE = 0.75
"""A middle that is projected farther than this part of a leg from one of its ends has jumped."""

SIZES = 5
"""Of balls, and coordinates that are held, that are tried on one leg, together."""

ROUNDS_OF_JOINTS = 12
"""Of legs that get a larger ball, or are halved, as they do not meet the next one."""

AT_END = 1e-3
"""An inequality that may be missed, and is as near to its end as this in the middle of a leg, is held there."""

FAR_FROM_END = 0.01
"""An inequality that is held at its end, and is farther from it than this, leaves it."""

OF_DISTANCES = 1e-6
"""What coal's distances are taken to be off by at most [m]."""


@final
@dataclass(frozen=True)
class PathLimits:
    """Limits of a search for a certificate of a path.

    Attributes:
        halvings: of what is between two samples.
        legs: of the whole path.

    Raises:
        OptionError: no whole number from 0, or from 1.
    """

    halvings: int = 10
    legs: int = 20_000

    def __post_init__(self) -> None:
        """Check ranges."""
        whole_number(self.halvings, "halvings of a certificate of a path", 0)
        whole_number(self.legs, "legs of a certificate of a path", 1)


class _AtEnd(Exception):  # the search begins anew
    """An inequality is at an end: it is held there on the whole piece."""

    def __init__(self, row: int, end: float) -> None:
        super().__init__(row, end)
        self.row, self.end = row, end


class _Part(NamedTuple):
    """What is between two stops: times in the piece, configurations, and how often it was halved."""

    t0: float
    t1: float
    q0: Vector
    q1: Vector
    halved: int


class _Proof(NamedTuple):
    """A part, and what is proved of it."""

    part: _Part
    leg: LegPremises


@final
class PieceSearch:
    """The search on one piece.

    Args:
        piece: of a path.
        collisions: what must be free, or None.
        limits: of the search.
        most: legs.

    Attributes:
        proved: parts that are proved, in order.
        reason: why it ended; empty if all is proved.
        stuck: where that is.
        held: (nv,) coordinates that are held on some leg.
        moved: of stops from samples, at most.
    """

    def __init__(self, piece: Piece, collisions: CollisionModel | None, limits: PathLimits, most: int) -> None:
        problem = piece.problem
        self.piece, self.problem, self.space = piece, problem, problem.space
        self.collisions, self.limits, self.most = collisions, limits, most
        self.projector = Projector(problem, Options.local(threshold=FINE_THRESHOLD))
        self._moving: list[bool] | None = None
        if piece.sides.constant is None:
            ends = [self._rows_at(t).points for t in (0.0, 1.0)]
            self._moving = [not np.array_equal(a, b) for a, b in zip(*ends, strict=True)]
        self.rows = self._rows_at(0.0)
        self.active = np.zeros(len(self.rows.lower), dtype=np.bool_)
        self.target = np.where(self.rows.equalities, self.rows.lower, 0.0)
        self.proved, self.held, self.moved = list[_Proof](), np.zeros(problem.space.nv, dtype=np.bool_), 0.0
        self.reason, self._depth, self._share = "", 0, SIZE_OF_WAY
        self._at_stops: dict[float, Interval] = {}
        self.turning: dict[int, Turning] = {}
        self.stuck = _Part(0.0, 1.0, piece.samples[0], piece.samples[-1], 0)

    @property
    def names_of_active(self) -> list[str]:
        """Names of the inequalities that are held at an end."""
        return [self.rows.names[i] for i in np.flatnonzero(self.active).tolist()]

    def run(self) -> None:
        """Prove one part after the other, then that they meet; anew where an inequality turns out to be at its end."""
        try:
            refuse_branches(self.rows)
            self.turning = self._turning()
            while True:
                try:
                    self.proved = []
                    for part in self._parts():
                        self.proved += self._covered(part)
                    self._meet()
                    return
                except _AtEnd as found:
                    self.active[found.row], self.target[found.row] = True, found.end
        except (SearchStop, NoEnclosureError) as why:
            self.reason = str(why)

    def _turning(self) -> dict[int, Turning]:
        """Number of a constraint -> its rows, of those whose right-hand sides move on a group.

        Raises:
            SearchStop: right-hand sides move otherwise than straight, or too far, or not all rows of one count.
        """
        sides, found, first = self.piece.sides, dict[int, Turning](), 0
        if sides.function is not None:
            raise SearchStop("its right-hand sides are a function of time, which has no enclosure")
        if sides.constant is None and not (0.0 <= min(sides.window) and max(sides.window) <= 1.0):
            raise SearchStop("its right-hand sides stand still on a part of it, where their window leaves [0, 1]")
        ends = [self._rows_at(t).points for t in (0.0, 1.0)]
        for i, (owner, a, b) in enumerate(zip(self.rows.owners, *ends, strict=True)):
            group, at = owner.group, slice(first, first + int(owner.rows.mask.sum()))
            first = at.stop
            if not group.is_flat and not np.array_equal(a, b):
                turning = Turning.between(at, group, a, b)
                if turning is None or not owner.rows.mask.all():
                    how = (
                        "turns by nearly half a turn" if turning is None else "moves, and some of its rows are left out"
                    )
                    raise SearchStop(f"the right-hand side of '{owner.name}' in {group.name} {how}")
                found[i] = turning
        return found

    def _rows_at(self, time: float) -> ProblemRows:
        return ProblemRows.of(self.problem, self.problem.check_rhs(self.piece.sides.at(time)), self._moving)

    def _target_moves(self, part: _Part) -> Interval:
        """(m,) what right-hand sides move by from the middle of a part to its end."""
        rows, sides = self.rows, self.piece.sides
        moved = [Interval.of(np.zeros(0)), *(Interval.of(np.zeros(int(o.rows.mask.sum()))) for o in rows.owners)]
        if sides.constant is None:
            ends = [self._rows_at(t).points for t in (part.t0, part.t1)]
            for i, (owner, a, b) in enumerate(zip(rows.owners, *ends, strict=True)):
                if owner.group.is_flat:
                    rounding = np.where(a == b, 0.0, 8.0 * UNIT * (np.abs(a) + np.abs(b)))
                    moved[i + 1] = Interval.around(0.5 * (b - a), rounding)[owner.rows.mask]
                elif i in self.turning:
                    moved[i + 1] = self.turning[i].ahead(a, b)
        return Interval.joined(moved)

    def _parts(self) -> list[_Part]:
        """Between the samples, which are put where the rows hold."""
        samples, t = self.piece.samples, self.piece.times.tolist()
        batch = self.projector.project_batch(samples, self.piece.sides.at_times(self.problem, t))
        Q = np.where(batch.success[:, None], batch.q, samples)
        still = np.zeros((self.space.nv, 0))
        for i, (a, b) in enumerate(zip(samples, Q, strict=True)):
            far = 0.0 if np.array_equal(a, b) else float(Moves.between(self.space, a, b, still).displaced.max())
            if not far < FARTHEST_STOP:
                self.stuck = _Part(t[i], t[i], a, b, 0)
                raise SearchStop(f"sample {i} is {far:.3g} from where the constraints hold")
            self.moved = max(self.moved, far)
        return [_Part(t[i], t[i + 1], Q[i], Q[i + 1], 0) for i in range(len(Q) - 1)]

    def _covered(self, whole: _Part) -> list[_Proof]:
        """Legs that are proved, from one end of a part to the other."""
        ahead, found = [whole], list[_Proof]()
        while ahead:
            self.stuck = part = ahead.pop()
            leg, why = None, ""
            if part.halved >= min(self._depth, self.limits.halvings):
                leg, why = self._leg(part, max(self._share * self._way(part).length, LEAST_SIZE))
            if leg is None:
                ahead += self._halves(part, why)[::-1]
                continue
            found.append(_Proof(part, leg))
            if len(self.proved) + len(found) > self.most:
                raise SearchStop(f"it has more than {self.limits.legs} legs")
        return found

    def _halves(self, part: _Part, why: str) -> list[_Part]:
        """Two parts, with a stop between them on the constraints."""
        if part.halved >= self.limits.halvings:
            raise SearchStop(f"{why}; it was halved {part.halved} times" if part.halved else why)
        space = self.space
        t, halved = 0.5 * (part.t0 + part.t1), part.halved + 1
        found = self.projector.project(space.interpolate(part.q0, part.q1, 0.5), self.piece.sides.at(t))
        if not found.success:
            raise SearchStop(f"half-way the constraints are not reached: {found.status}")
        ends = lengths(space.difference(np.array([part.q0, part.q1]), np.array([found.q, found.q])))
        whole = float(lengths(space.difference(part.q0, part.q1)))
        if ends.max() > FAR_MIDDLE * whole + FINE_THRESHOLD:
            raise SearchStop(
                f"half-way the solution is {float(ends.max()):.3g} from one end, which is {whole:.3g} from the other: "
                "the path jumps"
            )
        return [_Part(part.t0, t, part.q0, found.q, halved), _Part(t, part.t1, found.q, part.q1, halved)]

    # One leg.

    def _way(self, part: _Part, size: float = 0.0) -> Way:
        return Way.between(self.space, part.q0, part.q1, self.problem.frozen, size)

    def _leg(self, part: _Part, size: float) -> tuple[LegPremises | None, str]:
        """A leg that is proved, with room for where it meets the next one; or why there is none.

        Args:
            part: of the path.
            size: of the ball around the way that is tried first.
        """
        why, held, straight = "", self.problem.frozen.copy(), self._target_moves(part)
        rows = self.rows if self.piece.sides.constant is not None else self._rows_at(0.5 * (part.t0 + part.t1))
        for _ in range(SIZES):
            way = self._way(part, size)
            try:
                found, moved = rows.on(way.box), straight
                for turning in self.turning.values():
                    found, moved = turning.seen(found, moved, way.box)
            except UndefinedError as no_value:
                why = f"on the box around it: {no_value}"
                break
            settled = found.settled(self.target, held) & (moved.magnitude == 0.0)
            played = np.flatnonzero((self.rows.equalities | self.active) & ~settled)
            at = Slice.of(found, played, held)
            if len(at.dependent):
                why = f"{self.rows.names[int(at.dependent[0])]} depends on other rows to first order"
                break
            left = self.active & (np.abs(found.value.middle - self.target) > FAR_FROM_END)
            if left.any():
                name = self.rows.names[int(left.argmax())]
                raise SearchStop(f"{name} is at its end on a part of the piece only: that is not proved")
            rooms = rooms_along(way, rows, found, self.active, held, moved)
            leg = leg_of(way, found, at, self.target, moved, self._ends(part), rooms)
            alpha, beta = contraction(leg.numbers)
            if not beta < CROSSING_BETA:
                near = f"the rows are nearly singular, condition {at.condition:.3g}: " if at.condition > 1e4 else ""
                why = f"{near}no contraction, beta = {beta:.3g}"
                break
            need = SPARE * float(max(*farthest([leg, leg._replace(joined=True)]), alpha / (1.0 - beta)))
            if need <= size:
                why = self._missed(rooms, leg, need, held, found) or self._met(way, need)
                if why == AGAIN:
                    continue
                if why:
                    break
                self._depth = max(part.halved - (beta < LONGER_BETA), 0)
                self._share = min(max(SPARE * need / max(way.length, LEAST_SIZE), 0.02), 1.0)
                self.held |= held & ~self.problem.frozen
                return leg, ""
            why = f"the ball of {size:.3g} around the way is not mapped into itself: it needs {need:.3g}"
            size = 1.2 * need
        self._depth = part.halved + 1
        return None, why

    def _ends(self, part: _Part) -> tuple[Interval, Interval]:
        """Values of the rows at both ends of a part: each stop is one of two parts."""
        moves = self.piece.sides.constant is None
        for t, q in ((part.t0, part.q0), (part.t1, part.q1)):
            if t not in self._at_stops:
                value = (self._rows_at(t) if moves else self.rows).at(q)
                for turning in self.turning.values():
                    value = turning.rounded(value)
                self._at_stops[t] = value
        return self._at_stops[part.t0], self._at_stops[part.t1]

    def _missed(self, rooms: Rooms, leg: LegPremises, need: float, held: BoolVector, found: RowsOn) -> str:
        """What may be missed, in words; coordinates at a bound are held first: then `AGAIN`.

        Raises:
            _AtEnd: an inequality is at its end.
        """
        short = np.flatnonzero(rooms.margins < 1.001 * lengths(leg.numbers.rates) * need)
        places = [rooms.places[i] for i in short.tolist()]
        columns = [int(self.space.vector_v[place.at]) for place in places if place.kind == "coordinate"]
        if columns and not held[columns].any():
            held[columns] = True
            return AGAIN
        for place in places:
            x = float(found.value.middle[place.at]) if place.kind == "row" else np.inf
            end = min((self.rows.lower, self.rows.upper), key=lambda ends: abs(ends[place.at] - x))[place.at]
            if place.kind == "row" and abs(end - x) < AT_END:
                raise _AtEnd(place.at, float(end))
        return f"{self._name(places[0])} may be passed" if places else ""

    def _name(self, place: Place) -> str:
        if place.kind == "row":
            return f"the end of {self.rows.names[place.at]}"
        entry = int(self.space.vector_q[place.at]) if place.kind == "coordinate" else place.at
        return f"a bound of '{next(leaf.name for leaf in self.space.leaves() if leaf.q.start <= entry < leaf.q.stop)}'"

    def _met(self, way: Way, far: float) -> str:
        """The first pair that is not proved to be apart on the way and around it, in words."""
        if self.collisions is None:
            return ""
        checker, q = self.collisions.checker, way.middle[None]
        D = np.abs(way.d) + way.off + far * way.moving
        reaches = checker.carried.reaches_along(q, 2.0 * D[None])
        bounds = MotionBounds(checker.carried, self.collisions.contents.margins, reaches)
        near = checker.near(q, bounds.within(D[None]) + OF_DISTANCES)
        if not len(near.pairs):
            return ""
        a, b = self.collisions.pairs[int(near.pairs[0])]
        return f"'{a}' {'collides with' if near.met[0] else 'may meet'} '{b}'"

    # Where legs meet.

    def _meet(self) -> None:
        """Give legs that do not meet the next one a larger ball, or halve them, until all do."""
        short = list[int]()
        for _ in range(ROUNDS_OF_JOINTS):
            legs = [proof.leg._replace(joined=i > 0) for i, proof in enumerate(self.proved)]
            far = farthest(legs)
            short = [k for k, leg in enumerate(legs) if leg_failures(leg, far[k])]
            if not short:
                return
            found = list[_Proof]()
            for k, proof in enumerate(self.proved):
                found += self._again(proof, far[k]) if k in short else [proof]
            self.proved = found
        self.stuck = self.proved[short[0]].part
        raise SearchStop("it is not shown that it goes on to the next part on the same curve")

    def _again(self, proof: _Proof, far: float) -> list[_Proof]:
        """The same part with more room, in one leg or in several."""
        self.stuck, self._depth = proof.part, 0
        leg, why = self._leg(proof.part, SPARE * max(far, proof.leg.numbers.size))
        if leg is not None:
            return [_Proof(proof.part, leg)]
        return [each for half in self._halves(proof.part, why) for each in self._covered(half)]


AGAIN = "again"
"""Of `_missed`: what was short is held now."""

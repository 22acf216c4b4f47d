"""The search for a certificate: Newton's steps to a centre, then a box around it, as large as the proof allows."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import numpy as np

from liegroups import Space
from liegroups.arrays import BoolVector, Vector
from liegroups.by_name import entry_names

from ..errors import NoEnclosureError, UndefinedError
from ..functions.enclosures.box import TangentBox
from ..rows.explicit import Explicit
from ..rows.row_owner import RowOwner
from .balls import shown
from .certificate import Certificate, CertificateStatus
from .check import Premises, contraction, failures, lengths, within
from .rows import ProblemRows, RowsOn
from .slice import Moves, Place, Room, Slice

FIRST_SIZE = 0.02
"""Of the box that is tried first [rad, m]."""

LARGEST_SIZE = 1e3
"""Of boxes: rows that are straight contract on any."""

CONTRACTION = 0.8
"""What beta should be at R: near 1 for a large R; the rest is left to rounding, and to rates that grow."""

ROUNDS = 30
"""Of centres, rows that become active, and sizes that are tried, together."""

COARSE_STEP = 1e-3
"""After a longer Newton step the rows are looked at anew [rad, m]."""

FINE_STEP = 1e-9
"""A longer Newton step is taken, and not left to the distance that is proved [rad, m]."""

NEAR_END = 1e-6
"""Nearer to the end of an inequality or a bound than this, what may cross it is held there [rad, m, units of rows]."""


INSIDE_OF_BOUND = 1e-8
"""How far inside its bound what others follow is held, where they are at a bound too, as mimic joints are [rad, m]."""


class SearchStop(Exception):  # the search ends, with a reason
    """There is no proof; its words say why."""


class CertificateSearch:
    """One search, with what it has found so far.

    Args:
        rows: of the problem.
        q: configuration.
        radius: R that is wanted, or None.
        inside: whether what others follow is held inside its bounds, where they are at a bound too.
    """

    def __init__(self, rows: ProblemRows, q: Vector, radius: float | None, inside: bool = False) -> None:
        self.rows, self.problem, self.space = rows, rows.problem, rows.problem.space
        self.q, self.radius, self.inside = q, radius, inside
        self.center = self.space.normalize(q) if self.space.unit_blocks else q
        self.held = self.problem.frozen.copy()
        self.active = np.zeros(len(rows.lower), dtype=np.bool_)
        self.target = np.where(rows.equalities, rows.lower, 0.0)
        self.settled = np.zeros(len(rows.lower), dtype=np.bool_)
        self.pulled = np.zeros(self.space.nv, dtype=np.bool_)
        self.at: Slice | None = None
        self.numbers: Premises | None = None

    def run(self) -> Certificate:
        """The certificate."""
        try:
            refuse_branches(self.rows)
            self._prove()
        except (SearchStop, NoEnclosureError) as why:
            return self.certificate(str(why))
        except UndefinedError as why:
            return self.certificate(f"on the boxes that were tried: {why}")
        if self.at is not None and len(self.at.dependent):
            if not self.inside and (self.held & ~self.problem.frozen).any():
                other = CertificateSearch(self.rows, self.q, self.radius, inside=True).run()
                if other.success:
                    return other
            first = self.rows.names[int(self.at.dependent[0])]
            return self.certificate(f"{first} depends on other rows to first order: what it asks for is not proved")
        return self.certificate("")

    def _prove(self) -> None:
        """Go on until all that the check asks for holds, and R is large."""
        size, why = self.radius or FIRST_SIZE, "Newton's steps from q do not end"
        best: Premises | None = None
        self._clamp()
        for _ in range(ROUNDS):
            if self.at is None:
                self._look()
                continue
            try:
                found = self.rows.on(self.at.box(self.space, self.center, size))
                self._insist_on_settled(found)
            except UndefinedError:
                if best is None and (self.radius is not None or size < 1e-9):
                    raise
                if best is not None and size < 2.4 * best.size:
                    break
                size = 0.2 * size if best is None else float(np.sqrt(size * best.size))
                continue
            if best is None and (self._activate(found) or self._step(found)):
                continue  # a proof is of the centre and the rows that it was found with
            room = Room.around(self.rows, found, self.active, self.center, self.at.basis)
            moves = Moves.between(self.space, self.q, self.center, self.at.basis)
            numbers = self.at.numbers(found, self.target, size, moves, room)
            wrong = failures(numbers, np.inf, size)
            if not wrong and (best is None or size > best.size):
                best = numbers
            if self.radius is not None and best is not None:
                break
            if wrong and best is None and self._hold(numbers, room, found):
                continue
            other = float(other_size(numbers, contraction(numbers)[1]))
            if best is not None and not other > 1.2 * best.size:
                break
            if wrong:
                why = wrong[0]
                if self.radius is not None or not other < 0.9 * size or best is not None:
                    break
            size = other
        self.numbers = best
        if best is None:
            if self.at is not None and self.at.condition > 1e4:
                why = f"the rows are nearly singular here, condition {self.at.condition:.3g}: {why}"
            raise SearchStop(why)

    # The centre.

    def _look(self) -> None:
        """A slice at the centre, and a step in it."""
        found = self.rows.on(TangentBox(self.space, self.center, 0.0))
        if self._activate(found):
            return
        self.settled = (self.rows.equalities | self.active) & found.settled(self.target, self.held)
        played = np.flatnonzero((self.rows.equalities | self.active) & ~self.settled)
        self.at = Slice.of(found, played, self.held)
        if not self.at.condition < 1e12:
            raise SearchStop(f"the rows are singular here: condition {self.at.condition:.3g}")
        self._step(found, 0.0)

    def _insist_on_settled(self, found: RowsOn) -> None:
        """What was left out of play holds on all of the box: inside of a polygon, for example.

        Raises:
            UndefinedError: it does not.
        """
        for row in np.flatnonzero(self.settled & ~found.settled(self.target, self.held)).tolist():
            raise UndefinedError(f"{self.rows.names[row]} holds at the centre only, and has no slope there")

    def _step(self, found: RowsOn, least: float = FINE_STEP) -> bool:
        """Newton's step from the centre, if it is longer than the least; whether there was one."""
        if self.at is None or not len(self.at.chosen):
            return False
        step = self.at.newton(found, self.target)
        length = float(np.abs(step).max(initial=0.0))
        if not length > least:
            return False
        self.center = self.space.integrate(self.center, step)
        if self._clamp() or length > COARSE_STEP:
            self.at = None
        return True

    def _clamp(self) -> bool:
        """Put coordinates that are beyond a bound on it, and hold them; whether there was one."""
        at, columns = self.space.vector_q, self.space.vector_v
        x = self.center[at]
        inside = np.clip(x, self.problem.bounds.lower[at], self.problem.bounds.upper[at])
        beyond = (inside != x) & ~self.held[columns]
        if beyond.any():
            self.center = self.center.copy()
            self.center[at[beyond]] = inside[beyond]
            self.held[columns[beyond]] = True
        return bool(beyond.any())

    def _activate(self, found: RowsOn) -> bool:
        """Hold inequalities that do not hold at the centre at the end that they miss; whether there was a new one."""
        low, high = found.value.middle < self.rows.lower, found.value.middle > self.rows.upper
        new = (low | high) & ~self.rows.equalities & ~self.active
        self.target = np.where(new, np.where(low, self.rows.lower, self.rows.upper), self.target)
        self.active |= new
        if new.any():
            self.at = None
        return bool(new.any())

    def _hold(self, numbers: Premises, room: Room, found: RowsOn) -> bool:
        """Hold what is so near an end that the solution may cross it; whether there was such a thing."""
        rho = within(*contraction(numbers))
        if not rho < NEAR_END:
            return False
        short = np.flatnonzero(room.margins < 1.001 * lengths(room.rates) * rho)
        places = Room.places(self.rows, self.active)
        for place in (places[i] for i in short.tolist()):
            if not (self.inside and place.kind == "coordinate" and self._follows(place, found)):
                self._put(place, found)
            self.at = None
        return short.size > 0

    def _follows(self, place: Place, found: RowsOn) -> bool:
        """Whether a row leaves a coordinate no choice but by what is held on bounds: that is then held inside of them.

        On its bound the row would have no column left, and what it asks for is true up to rounding, which is no proof.
        """
        column = int(self.space.vector_v[place.at])
        moves = (found.jacobian.magnitude > 0.0)[self.rows.equalities & ~self.settled]
        tied = moves[moves[:, column] & ~(moves & ~self.held & (np.arange(self.space.nv) != column)).any(axis=1)]
        others = tied.any(axis=0) & self.held & ~self.problem.frozen & ~self.pulled
        if not others.any():
            return False
        at, on = self.space.vector_q, others[self.space.vector_v]
        x, bounds = self.center[at], self.problem.bounds
        inward = np.where(x - bounds.lower[at] < bounds.upper[at] - x, INSIDE_OF_BOUND, -INSIDE_OF_BOUND)
        self.center = self.center.copy()
        self.center[at] = np.where(on, x + inward, x)
        self.pulled |= others
        return True

    def _put(self, place: Place, found: RowsOn) -> None:
        """On the end that it is near, to stay there."""
        bounds, i = self.problem.bounds, place.at
        if place.kind == "body":
            raise SearchStop("the position of a body is at a bound, where it cannot be held")
        if place.kind == "row":
            ends, x = (self.rows.lower[i], self.rows.upper[i]), float(found.value.middle[i])
            self.target[i], self.active[i] = min(ends, key=lambda end: abs(end - x)), True
            return
        entry, column = int(self.space.vector_q[i]), int(self.space.vector_v[i])
        if self.held[column]:
            raise SearchStop("a coordinate that does not move is out of its bounds")
        x = float(self.center[entry])
        self.center = self.center.copy()
        self.center[entry] = min((bounds.lower[entry], bounds.upper[entry]), key=lambda end: abs(end - x))
        self.held[column] = True

    # The result.

    def certificate(self, reason: str) -> Certificate:
        """With what is found so far, and why it is no proof; empty if it is one."""
        r = float("inf") if self.numbers is None else float(shown(self.numbers, within(*contraction(self.numbers))))
        return certificate_of(
            self.rows, self.at, self.numbers, self.held, self.active, q=self.q, center=self.center, r=r, reason=reason,
            rests_on=of_users(self.rows),
        )  # fmt: skip


class Known(TypedDict):
    """What a search knows of its certificate, by the names there."""

    q: Vector
    center: Vector
    r: float
    reason: str
    rests_on: tuple[str, ...]


def certificate_of(
    rows: ProblemRows,
    at: Slice | None,
    numbers: Premises | None,
    held: BoolVector,
    active: BoolVector,
    **known: Unpack[Known],
) -> Certificate:
    """What a search has come to."""
    space = rows.problem.space
    return Certificate(
        status=CertificateStatus.NOT_PROVED if known["reason"] else CertificateStatus.PROVED,
        R=0.0 if numbers is None else float(numbers.size),
        condition=float("inf") if at is None else float(at.condition),
        rows=0 if at is None else len(at.chosen),
        active=tuple(rows.names[i] for i in np.flatnonzero(active).tolist()),
        held=coordinate_names(space, np.flatnonzero(held).tolist()),
        open=() if at is None else tuple(map(rows.names.__getitem__, at.dependent.tolist())),
        basis=np.zeros((space.nv, 0)) if at is None else at.basis,
        numbers=numbers,
        **known,
    )


def other_size(numbers: Premises, beta: Any) -> Any:
    """Where beta is about `CONTRACTION`: it grows with the size of the ball from about zero, or with its square."""
    power = 1.0 - 0.5 * (numbers.variation > 0.5 * beta)
    return np.minimum(0.95 * numbers.size * (CONTRACTION / np.maximum(beta, 1e-9)) ** power, LARGEST_SIZE)


def likely_size(at: Slice, found: RowsOn) -> Any:
    """Where beta is about `CONTRACTION`, of rows that tell how fast they change."""
    return np.minimum(0.95 * CONTRACTION / np.maximum(at.bend(found), 1e-9), LARGEST_SIZE)


def has_branches(owner: RowOwner) -> bool:
    """Whether it is an explicit constraint with several branches."""
    return isinstance(owner, Explicit) and owner.has_branches


def refuse_branches(rows: ProblemRows) -> None:
    """Stop where an explicit constraint has several branches."""
    for owner in rows.owners:
        if has_branches(owner):
            raise SearchStop(f"'{owner.name}' is solved on one branch of its equations: which one is not proved")


def coordinate_names(space: Space, columns: list[int]) -> tuple[str, ...]:
    """Names of tangent coordinates: of their joint, with a number where it has several."""
    names = entry_names([*space.leaves()]) if columns else ()
    return tuple(names[k] for k in columns)


def of_users(rows: ProblemRows) -> tuple[str, ...]:
    """Functions in play whose classes are not of this library: what they say of themselves is believed."""
    within_all = (f for owner in rows.owners for f in owner.measured.functions_within())
    return tuple(dict.fromkeys(f.name for f in within_all if not type(f).__module__.startswith("constraints.")))

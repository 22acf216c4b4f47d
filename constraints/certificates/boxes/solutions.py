"""All solutions of a problem that has as many rows as coordinates, each proved, and the proof that these are all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from itertools import product
from time import perf_counter
from typing import final

import numpy as np

from liegroups.arrays import ArrayLike, Matrix, Vector

from ...errors import OptionError
from ...problem.problem import Problem
from ...ranges import whole_number
from ...robot import Bounds
from ...rows.right_hand_side import RightHandSide
from ...solvers import Options, Projector
from ...solvers.result import Result
from ...words import counted, first_names
from ..batch import certify_batch
from ..certificate import Certificate, CertificateStatus
from ..rows import ProblemRows
from ..search import of_users
from ..slice import Moves
from .cutting import Boxes
from .reading import Coordinates, Read
from .refutation import asked
from .searching import Ball, BoxSearch, SearchLimits

STARTS = 64
"""Random starts of projections a coordinate, which find most solutions before boxes are divided."""

PRECISE = 1e-11
"""Threshold of projections: candidates that are the same solution are then near each other."""

SAME_SOLUTION = 1e-5
"""Candidates nearer to a solution than this are taken for it, and not looked at [rad, m]."""

TRIALS = 50
"""Places of boxes that are too narrow to be divided, at which a certificate is tried."""


class CompleteBy(Enum):
    """Why there is no other solution."""

    SEARCH = "No box outside of the neighbourhoods of the solutions, each of which holds one alone, can hold another."
    COUNT = "There are as many as a theorem allows at most."


@final
@dataclass(frozen=True, eq=False, repr=False)
class Solutions(Result):
    """All solutions of a problem within its bounds, or within a box. Angles count once for all whole turns.

    Attributes:
        status: COMPLETE or OPEN.
        reason: why these are all, or what is in the way.
        complete_by: SEARCH or COUNT; None where the status is OPEN.
        certificates: one for each solution: no two of them are of the same one.
        open: share of the volume that is left; 0 if the search ended; 1 if there was none.
        boxes: how many were looked at.
        seconds: wall time.
        rests_on: names of functions whose enclosures were written by users.
    """

    status: CertificateStatus
    reason: str
    complete_by: CompleteBy | None
    certificates: tuple[Certificate, ...]
    open: float
    boxes: int
    seconds: float
    rests_on: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.certificates)

    @property
    def q(self) -> Matrix:
        """Near the solutions, one configuration a row (n, nq): within `r` of its certificate."""
        return np.array([found.q for found in self.certificates])

    def __str__(self) -> str:
        return f"{self.status.name}: {counted(len(self), 'solution')}; {self.reason}"


def all_solutions(
    problem: Problem,
    rhs: RightHandSide | ArrayLike | None = None,
    box: Bounds | None = None,
    limits: SearchLimits | None = None,
    *,
    count: int | None = None,
    source: str = "",
    seed: int = 0,
) -> Solutions:
    r"""All solutions of a problem with as many rows as coordinates, each proved, no two the same, and proved to be all.

    Projections from random starts find candidates, `certify` proves them. Then boxes are divided, cut and dropped as in
    `refute`; a box is dropped too where it is inside the neighbourhood in which a certificate proves its solution to be
    the only one. What the projections missed is left over in narrow boxes, and proved there. Where a theorem bounds the
    number of solutions (16 for six revolute joints), as many proved ones are all, without a search.

    Args:
        problem: a problem without an optional last level, or whose last level does not count.
        rhs: right-hand sides; the default ones if absent.
        box: bounds of q to look in, inside those of the problem; these by default. Frozen coordinates have their value
            here, as two equal bounds.
        limits: when to end though boxes are left.
        count: how many there are at most, by a theorem: whether it holds for this problem is for the user to know.
        source: where the theorem is.
        seed: of the random starts.

    Returns:
        The solutions, COMPLETE or OPEN with the reason.

    Raises:
        WrongObjectError, SpaceMismatchError, SizeError, DtypeError, NotFiniteError: what is wrong with an argument.
        EmptyIntervalError: the box is not inside the bounds; names the joint.
        OptionError: fewer rows than coordinates; a coordinate without bounds that is not an angle; a count without its
            source.
    """
    if count is not None and (whole_number(count, "count of all solutions", 1) and not source):
        raise OptionError(f"count of all solutions: {count} needs a source, the theorem that says so")
    begun, limits = perf_counter(), limits or SearchLimits()
    problem, sides = asked(problem, rhs, box)
    rows = ProblemRows.of(problem, sides)
    coordinates = Coordinates.of(rows)
    _insist_on_isolated(rows, coordinates)
    known, rng = _Known(sides, coordinates), np.random.default_rng(seed)
    known.project(rng)

    def ended(reason: str, by: CompleteBy | None, left: float, boxes: int) -> Solutions:
        status = CertificateStatus.OPEN if by is None else CertificateStatus.COMPLETE
        found, names = tuple(known.certificates), of_users(rows)
        return Solutions(status, reason, by, found, left, boxes, perf_counter() - begun, names)

    while count is not None and len(known.certificates) < count and perf_counter() - begun < 0.5 * limits.seconds:
        known.project(rng)
    by_count = f"a theorem allows {count} at most ({source})"
    if count is not None and len(known.certificates) == count:
        return ended(by_count, CompleteBy.COUNT, 1.0, 0)
    search = BoxSearch(rows, coordinates, Read.of(rows, coordinates), limits)
    found = search.run(known.balls)
    while found.narrow.number and known.look(found.narrow):
        search.narrow = known.outside(search.narrow)
        found = search.run(known.balls)
    if count is not None and len(known.certificates) == count:
        return ended(by_count, CompleteBy.COUNT, found.open, found.boxes)
    if count is not None and len(known.certificates) > count:
        return ended(f"more than the {count} of {source}: that does not hold here", None, found.open, found.boxes)
    if not found.reason:
        words = f"none of {counted(found.boxes, 'box')} of configurations can hold another one"
        return ended(words, CompleteBy.SEARCH, 0.0, found.boxes)
    words = "; ".join([f"{found.reason}; {found.open:.3g} of the volume is left", *search.without, *known.refused])
    return ended(words, None, found.open, found.boxes)


def _insist_on_isolated(rows: ProblemRows, coordinates: Coordinates) -> None:
    """Refuse what has more coordinates than rows."""
    frozen, seen = rows.problem.frozen[coordinates.columns], coordinates.seen
    loose = [name for name, w, f in zip(coordinates.names, coordinates.width, frozen, strict=True) if f and w > 0.0]
    if loose:
        raise OptionError(f"frozen coordinates have no value here: {first_names(loose)}; give it in `box`, twice")
    free, equalities = int((seen & ~rows.problem.frozen).sum()), int(rows.equalities.sum())
    if free > equalities:
        raise OptionError(
            f"all solutions of {counted(equalities, 'row')} in {counted(free, 'coordinate')}: they are "
            "infinitely many, or none; as many rows as coordinates are needed"
        )


class _Known:
    """The solutions that are proved so far.

    Args:
        sides: right-hand sides.
        coordinates: of the search.
    """

    def __init__(self, sides: RightHandSide, coordinates: Coordinates) -> None:
        self.problem, self.sides, self.coordinates = coordinates.problem, sides, coordinates
        self.certificates, self.balls = list[Certificate](), list[Ball]()
        self.failures, self.reasons = list[Vector](), list[str]()
        self.projector = Projector(self.problem, Options.local(threshold=PRECISE))

    @property
    def refused(self) -> list[str]:
        """What was in the way of certificates: the most frequent."""
        return [f"no certificate: {reason}" for reason, _ in Counter(self.reasons).most_common(1)]

    def project(self, rng: np.random.Generator) -> None:
        """From random starts."""
        starts = self.coordinates.random(rng, STARTS * max(int(self.coordinates.seen.sum()), 1))
        found = self.projector.project_batch(starts, self.sides)
        self.add(found.q[found.success])

    def add(self, Q: Matrix) -> bool:
        """Prove the solutions next to configurations (n, nq), those that are new ones; whether there is one."""
        places, new = [*(other.q for other in self.certificates), *self.failures], list[Vector]()
        for q in Q:
            q = self.coordinates.settled(q)
            if all(self._apart(q, place, SAME_SOLUTION) for place in (*places, *new)):
                new.append(q)
        if not new:
            return False
        first = certify_batch(self.problem, new, self.sides)
        at = [self.coordinates.settled(found.center) if found.success else found.q for found in first]
        second = certify_batch(self.problem, at, self.sides)
        return any([self._keep(q, found) for q, found in zip(new, second, strict=True)])

    def _keep(self, q: Vector, found: Certificate) -> bool:
        """A certificate of the solution next to q, if there is one and it is new; whether it is."""
        n = int((self.coordinates.seen & ~self.problem.frozen).sum())
        if not found.success or found.active or found.basis.shape[1] != n:
            self.failures.append(q)
            self.reasons.append(found.reason or "a solution is at a bound, or at the end of an inequality")
            return False
        if not all(self._apart(found.q, other.q, found.r + other.r) for other in self.certificates):
            return False
        self.certificates.append(found)
        self.balls += self._balls(found)
        return True

    def _apart(self, a: Vector, b: Vector, off: float) -> bool:
        """Whether two configurations differ by more than this, as `Certificate.r` measures; but for whole turns."""
        c, v = self.coordinates, np.zeros(self.coordinates.space.nv)
        turns = np.round((c.of_configuration(b) - c.of_configuration(a)) / (2.0 * np.pi))
        v[c.columns] = np.where(c.whole_turns, 2.0 * np.pi * turns, 0.0)
        nearest = c.space.integrate(a, v) if v.any() else a
        way = Moves.between(c.space, nearest, b, np.zeros((c.space.nv, 0))).displaced
        return float(way.max(initial=0.0)) * (1.0 - 1e-6) - 1e-12 > off

    def _balls(self, found: Certificate) -> list[Ball]:
        """Where it is the only one; and a whole turn away, where that is in the search."""
        c, R = self.coordinates, found.R
        if c.whole:
            return []
        basis, center = found.basis[c.columns], c.of_configuration(found.center)
        reach = R * np.abs(basis).sum(axis=1)
        shifts: list[tuple[float, ...]] = [(0.0,) for _ in c.columns]
        for k in np.flatnonzero(c.whole_turns).tolist():
            more = (2.0 * np.pi,) if center[k] - reach[k] < c.lower[k] else ()
            less = (-2.0 * np.pi,) if center[k] + reach[k] > c.upper[k] else ()
            shifts[k] = (0.0, *more, *less)
        return [Ball(center + np.array(shift), basis, R) for shift in product(*shifts)]

    def look(self, narrow: Boxes) -> bool:
        """Whether a new solution is proved near one of some boxes."""
        centers = narrow.center[:: max(1, narrow.number // TRIALS)]
        return self.add(np.array([self.coordinates.configuration(x) for x in centers]))

    def outside(self, boxes: Boxes) -> Boxes:
        """Those that are within no neighbourhood."""
        for ball in self.balls:
            boxes = boxes.some(~ball.holds(boxes))
        return boxes

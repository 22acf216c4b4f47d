"""Proofs along a sweep: its branch, all others from its first value, and that no other one begins on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from liegroups import SO2, Segments
from liegroups.arguments import as_flag, expect
from liegroups.arrays import Vector

from ...errors import ConstraintError, OptionError
from ...functions.affine import Identity
from ...functions.lifted import lifted
from ...paths.moving_rhs import MovingRightHandSide
from ...paths.path import Path, Piece
from ...problem.problem import Problem
from ...reduced.sweeps.sweep import sweep
from ...reduced.sweeps.sweep_result import Sweep
from ...robot import Bounds
from ...robot.space import RobotSpace
from ...rows.implicit import Implicit
from ...rows.right_hand_side import RightHandSide
from ...rows.row_owner import RowOwner
from ...solvers import Options, Projector
from ..boxes.cutting import Boxes
from ..boxes.reading import Coordinates, Read
from ..boxes.refutation import FIRST_BOXES, asked
from ..boxes.searching import BoxSearch, SearchLimits, Tube
from ..boxes.solutions import PRECISE, TRIALS, all_solutions
from ..certificate import Certificate, CertificateStatus
from ..check import lengths
from ..path_certificate import PathCertificate, Stuck, SweepCertificate
from ..path_check import begins_within
from ..rows import ProblemRows
from .along import certify_path
from .leg import FARTHEST_TURN

SAME_START = 1e-6
"""A value that is met twice, by configurations that are nearer, was asked for twice on one branch [rad, m]."""

LONGEST_TURN = 1.0
"""Of an angle kept as cosine and sine, in one piece of a sweep: its two ends stand for the shorter way round [rad]."""


def certify_sweep(swept: Sweep, *, branches: bool = True, seconds: float = 30.0) -> SweepCertificate:
    """Prove that a sweep stays on one branch, which others there are at its first value, and that none begins later.

    The driver, and what was held, are rows with right-hand sides that move from value to value; `certify_path` proves
    the curve of solutions. `all_solutions` finds all closed configurations at the first value; from each other one a
    sweep over the same values is proved in the same way. Then boxes of all coordinates, the driver too, are divided and
    cut until none is left but those in the balls of legs, in which the branch is alone.

    Args:
        swept: with two values or more that were reached.
        branches: whether the others are looked for.
        seconds: wall time of the search at the first value, and of that between the values.

    Raises:
        WrongObjectError: an argument of another type.
        OptionError: no time; fewer than two values; a driver, or a held coordinate, that is a part of a rotation.
    """
    expect(swept, Sweep, "sweep to be certified")
    every = as_flag(branches, "branches of a certificate of a sweep")
    search = SearchLimits(seconds=seconds)
    driven = _Driven(swept)
    along = driven.proved(swept)
    ends = tuple(str(each) for each in swept.singularities)
    last = _runs(swept)[-1][1]
    if not along.success or last + 1 < len(swept.values):
        there = (
            f"'{swept.driver.name}' at {swept.values[last]:.6g}: behind it the same values are met on another branch"
        )
        reason = there if along.success else f"{driven.where(swept, along.stuck)}: {along.reason}"
        return SweepCertificate(CertificateStatus.NOT_PROVED, reason, "", ends, along, (), ())
    if not every:
        return SweepCertificate(CertificateStatus.PROVED, "", "", ends, along, (), ())
    start, why = driven.start(search)
    others, unproved = driven.others(start, along)
    why = why or unproved or driven.left((along, *others), search)
    status = CertificateStatus.PROVED if why else CertificateStatus.COMPLETE
    return SweepCertificate(status, "", why, ends, along, start, others)


class _Driven:
    """A sweep as a problem whose right-hand sides move.

    Args:
        swept: the sweep.
    """

    def __init__(self, swept: Sweep) -> None:
        self.swept, self.whole = swept, swept.coordinates.constraint_set
        space = self.whole.robot.space
        if not _runs(swept):
            raise OptionError("a sweep to be certified: two values, or more, that are reached on one branch are needed")
        names = (swept.driver.name, *swept.held)
        columns: list[int] = swept.coordinates.partition.independent.tolist()
        for name, k in zip(names, columns, strict=True):
            leaf = next(leaf for leaf in space.leaves() if leaf.v.start <= k < leaf.v.stop)
            if leaf.space.nq != leaf.space.nv and leaf.space != SO2:
                raise OptionError(f"a sweep to be certified: '{name}' is a part of a rotation, and no row can hold it")
        self.rows = [
            Implicit.equal(lifted(Identity(block.space), space, block), name=f"held {name}")
            for name, block in zip(names, (Segments.coordinates(space, [k]) for k in columns), strict=True)
        ]
        self.bounds = Bounds.none(space) if swept.bounds is None else swept.bounds
        self.problem = Problem(self.whole.robot, [*self.rows, *self.whole.anchored], self.bounds)
        self.columns = np.array(columns)

    def sides(self, problem: Problem, rows: list[RowOwner], q: Vector) -> RightHandSide:
        """Right-hand sides of the sweep; those of rows are read at q."""
        own = problem.check_rhs(None)
        which = range(len(rows), len(own.stack))
        return own.taken_from(self.swept.rhs, which).read_at(q, range(len(rows)))

    def proved(self, swept: Sweep) -> PathCertificate:
        """Of a sweep over these values: one piece, or more, for each run of values that rise, or fall."""
        pieces, options, turns = list[Piece](), Options.local(), list[float]()
        for first, last in _cut(swept):
            qs, values = swept.qs[first : last + 1], swept.values[first : last + 1]
            first_side, last_side = (self.sides(self.problem, list(self.rows), q) for q in (qs[0], qs[-1]))
            times = (values - values[0]) / (values[-1] - values[0])
            times[-1] = 1.0
            turns.append(float(values[-1] - values[0]) if swept.driver.is_circle else 0.0)
            sides = MovingRightHandSide(first_side, last_side)
            if abs(turns[-1]) >= FARTHEST_TURN:
                sides = MovingRightHandSide(function=_turned(first_side, turns[-1]))
            pieces.append(Piece(self.problem, sides, qs, times, options))
        found = certify_path(Path(tuple(pieces), (1.0,) * len(pieces)))
        turn = 0.0 if found.stuck is None else abs(turns[found.stuck.piece])
        if turn < FARTHEST_TURN:
            return found
        far = f"it turns by {turn:.3g} rad from one value to the next, no less than {FARTHEST_TURN:g}"
        return replace(found, reason=f"{far}: ask for values between")

    def where(self, swept: Sweep, stuck: Stuck | None) -> str:
        """Where a proof ends, by the value of the driver, and which singularity is there."""
        if stuck is None:
            return f"'{swept.driver.name}'"
        first, last = _cut(swept)[stuck.piece]
        a, b = swept.values[[first, last]].tolist()
        values = [a + (t - stuck.piece) * (b - a) for t in (stuck.begin, stuck.end)]
        beyond = abs(b - a) / (last - first)
        near = [str(s) for s in swept.singularities if min(abs(s.value - v) for v in values) <= beyond]
        words = f"'{swept.driver.name}' from {values[0]:.6g} to {values[1]:.6g}"
        return f"{words}, at a {near[0]}" if near else words

    def between(self, first: float, last: float) -> tuple[Problem, RightHandSide, Bounds]:
        """The closed mechanism with what is held; its driver too, where both values are one.

        Coordinates of vectors are held by bounds, angles on a circle by rows.
        """
        robot, q = self.whole.robot, self.swept.qs[0]
        entries = {int(v): int(e) for v, e in zip(robot.space.vector_v, robot.space.vector_q, strict=True)}
        lower, upper = (np.array(end) for end in (self.bounds.lower, self.bounds.upper))
        frozen, rows = np.zeros(robot.nv, dtype=np.bool_), list[RowOwner]()
        for row, k in zip(self.rows, self.columns.tolist(), strict=True):
            is_free = first < last and k == self.swept.driver.column
            if k in entries:
                frozen[k] = not is_free
                lower[entries[k]], upper[entries[k]] = (first, last) if is_free else (q[entries[k]],) * 2
            elif not is_free:
                rows.append(row)
        problem = Problem(robot, [*rows, *self.whole.anchored], self.bounds, frozen=frozen)
        return problem, self.sides(problem, rows, q), Bounds(robot.space, lower, upper)

    def start(self, search: SearchLimits) -> tuple[tuple[Certificate, ...], str]:
        """Closed configurations at the first value, and why these may not be all."""
        value = float(self.swept.values[0])
        try:
            found = all_solutions(*self.between(value, value), search)
        except OptionError as why:
            return (), f"{why}; to a sweep, which keeps none by itself, by SweepOptions(bounds=robot.bounds)"
        return found.certificates, "" if found.success else found.reason

    def left(self, proofs: Sequence[PathCertificate], limits: SearchLimits) -> str:
        """Why other closed configurations may be left between the values, on none of the proved branches.

        Boxes of the driver and of all other coordinates are divided; in the balls of legs the branch is alone.
        """
        driver, ends = self.swept.driver, (float(self.swept.values.min()), float(self.swept.values.max()))
        problem, sides = asked(*self.between(*ends))
        rows = ProblemRows.of(problem, sides)
        found = Coordinates.of(rows)
        nv, legs = problem.space.nv, [leg for proof in proofs for leg in proof.legs]
        why = found.whole or "no row depends on some of the coordinates" * bool((~found.seen & ~problem.frozen).any())
        if any(proof.active or proof.held for proof in proofs) or any(len(leg.numbers.spread[0]) < nv for leg in legs):
            why = "in the slices of a branch some coordinates stay"
        if why:
            return f"between the values no other is looked for: {why}"
        at = int(np.flatnonzero(found.columns == driver.column)[0])
        if driver.is_circle:
            found.lower[at], found.upper[at] = ends[0], min(ends[1], ends[0] + 2.0 * np.pi * (1.0 + 1e-14))
        tubes = [tube for proof in proofs for tube in _tubes(proof, found, at, float(self.swept.values[0]))]
        search, looked = BoxSearch(rows, found, Read.of(rows, found), limits), FIRST_BOXES
        projector = Projector(self.problem, Options.local(threshold=PRECISE))
        while True:
            searched = search.run(tubes, looked)
            if not searched.reason:
                return ""
            boxes = search.pending.and_also(search.narrow)
            for x in boxes.center[:: -(-boxes.number // TRIALS)]:
                q = found.configuration(x)
                result = projector.project(q, self.sides(self.problem, list(self.rows), q))
                value = _elsewhere(found, result.q, tubes) if result.success else ""
                if value:
                    return f"a closed configuration at '{driver.name}' {value} is on none of these branches"
            if search.looked < looked:
                return f"between the values, {searched.reason}; {searched.open:.3g} of the volume is left"
            looked *= 4

    def others(self, start: tuple[Certificate, ...], along: PathCertificate) -> tuple[tuple[PathCertificate, ...], str]:
        """Proofs of the branches from the other configurations than that of the own one, and why one has none."""
        space, found, why = self.whole.robot.space, list[PathCertificate](), ""
        if not np.array_equal(self.swept.rhs.vector, self.whole.rhs_at(0.0).vector):
            return (), "right-hand sides are not those of time 0: other branches are not followed"
        own = [certificate for certificate in start if _begins_at(space, along, certificate)]
        if not own:
            return (), "which of the configurations at the first value is that of the sweep is not proved"
        for certificate in start:
            if any(certificate is each for each in own):
                continue
            turns = _turns(space, certificate.q, self.swept.qs[0])
            try:
                q = self.closed(space.integrate(certificate.q, turns))
                swept = sweep(self.whole, q, self.swept.driver.name, self.swept.values, independent=self.swept.held)
            except ConstraintError as error:
                why = why or f"a branch is not followed: {error}"
                continue
            if not np.array_equal(swept.values, self.swept.values):
                ended = next((str(each) for each in swept.singularities[::-1]), swept.status.name)
                why = why or f"another branch ends at {self.swept.driver.name} {swept.end_value:.6g}: {ended}"
                continue
            found.append(self.proved(swept))
            if found[-1].success and not _begins_at(space, found[-1], certificate):
                why = why or "another branch is not proved to begin at the configuration that it is followed from"
            if not found[-1].success:
                why = why or f"another branch: {self.where(swept, found[-1].stuck)}: {found[-1].reason}"
        return tuple(found), why

    def closed(self, q: Vector) -> Vector:
        """With what is held as it is at the first value, to the last digit."""
        q = np.array(q)
        for leaf in self.whole.robot.space.leaves():
            for k in self.columns.tolist():
                if leaf.v.start <= k < leaf.v.stop:
                    own = leaf.q if leaf.space == SO2 else leaf.q.start + k - leaf.v.start
                    q[own] = self.swept.qs[0][own]
        return q


def _runs(swept: Sweep) -> list[tuple[int, int]]:
    """First and last numbers of runs of values that rise, or fall; a value that was asked for twice counts once.

    Up to where the sweep meets a value again on another branch, behind a dead point.
    """
    values, runs, first = swept.values, list[tuple[int, int]](), 0
    for i in range(1, len(values)):
        step, before = values[i] - values[i - 1], values[i - 1] - values[first]
        if i - 1 > first and step * before <= 0.0:
            runs.append((first, i - 1))
            first = i - 1
        if step == 0.0 and _apart(swept, swept.qs[i - 1], swept.qs[i]) > SAME_START:
            return runs
        if step == 0.0:
            first = i
    return [*runs, (first, len(values) - 1)] if len(values) - 1 > first else runs


def _cut(swept: Sweep) -> list[tuple[int, int]]:
    """The runs; those of an angle on a circle in pieces that turn by `LONGEST_TURN`, or from one value to the next."""
    found = list[tuple[int, int]]()
    for first, last in _runs(swept):
        for i in range(first + 2, last + 1):
            if swept.driver.is_circle and abs(swept.values[i] - swept.values[first]) > LONGEST_TURN:
                found.append((first, i - 1))
                first = i - 1
        found.append((first, last))
    return found


def _turned(first: RightHandSide, turn: float) -> Callable[[float], RightHandSide]:
    """Right-hand sides of which the first one, a point on a circle, turns by more than half a turn in time 1."""
    return lambda s: first.replace(0, SO2.integrate(first.vector[first.stack.rhs_slices[0]], np.array([s * turn])))


def _begins_at(space: RobotSpace, along: PathCertificate, certificate: Certificate) -> bool:
    """Whether a proved curve begins at the solution of a certificate, or whole turns of joints away: it is in its ball.

    There it is the only one. So no two certificates of different solutions have the start of one curve.
    """
    q = along.stops[0]
    apart = space.difference(certificate.center, q) - _turns(space, certificate.center, q)
    return float(lengths(apart)) + begins_within(along.legs[0]) < certificate.R


def _elsewhere(found: Coordinates, q: Vector, tubes: Sequence[Tube]) -> str:
    """The value of the driver, if a configuration is in none of the tubes; else nothing."""
    x = found.of_configuration(q)
    x -= np.where(found.whole_turns, 2.0 * np.pi * np.floor((x - found.lower) / (2.0 * np.pi)), 0.0)
    at = Boxes(x[None], x[None])
    return "" if any(tube.holds(at)[0] for tube in tubes) else f"{x[tubes[0].driver]:.6g}"


def _tubes(proof: PathCertificate, found: Coordinates, driver: int, begin: float) -> list[Tube]:
    """Where a proved branch is the only one; and whole turns of other joints away, as far as these are searched."""
    legs = proof.legs
    first = np.arange(len(legs)) + np.cumsum([not leg.joined for leg in legs]) - 1  # a curve has a stop more than legs
    x = np.array([found.of_configuration(q) for q in proof.stops])
    ways = found.space.difference(proof.stops[:-1], proof.stops[1:])[:, found.columns]
    x[1:] += 2.0 * np.pi * np.cumsum(np.round((ways - np.diff(x, axis=0)) / (2.0 * np.pi)), axis=0)
    x[:, driver] += 2.0 * np.pi * np.round((begin - x[0, driver]) / (2.0 * np.pi))
    R, off = np.array([leg.numbers.size for leg in legs]), np.array([np.abs(leg.at_stops).max() for leg in legs])
    shifts: list[tuple[int, ...]] = [(0,)] * len(found.columns)
    for k in np.flatnonzero(found.whole_turns).tolist():
        less, more = (found.lower[k] - x[:, k].max() - R.max()), (found.upper[k] - x[:, k].min() + R.max())
        if k != driver:
            shifts[k] = (*range(int(np.ceil(less / (2.0 * np.pi))), int(np.floor(more / (2.0 * np.pi))) + 1),)
    each = np.stack([x[first], x[first + 1]], axis=1)
    return [Tube.through(each + 2.0 * np.pi * np.array(shift), driver, R, off) for shift in product(*shifts)]


def _turns(space: RobotSpace, a: Vector, b: Vector) -> Vector:
    """Whole turns of joints (nv,) on the way from a to b."""
    return np.asarray(2.0 * np.pi * np.round(space.difference(a, b) / (2.0 * np.pi)) * space.revolute)


def _apart(swept: Sweep, a: Vector, b: Vector) -> float:
    space = swept.coordinates.constraint_set.robot.space
    return float(np.abs(space.difference(a, b)).max(initial=0.0))

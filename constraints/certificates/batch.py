"""Certificates of configurations, one or many at once: by samples first, then on boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import expect, real_numbers
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.unit_blocks import UNBOUNDED

from ..errors import NoEnclosureError, SizeError, UndefinedError
from ..functions.enclosures.box import TangentBox
from ..problem.problem import Problem
from ..ranges import positive_number
from ..rows.right_hand_side import RightHandSide
from .balls import Balls, FoundByKernels, by_kernels, is_kept
from .certificate import Certificate
from .check import Premises
from .rows import NUMBERS, ProblemRows, RowsOn
from .samples import Around, NearRows
from .search import (
    COARSE_STEP,
    FINE_STEP,
    FIRST_SIZE,
    NEAR_END,
    CertificateSearch,
    certificate_of,
    has_branches,
    likely_size,
    of_users,
    other_size,
)
from .slice import Moves, Room, Slice, each_of

STEPS_TOGETHER = 3
"""Of Newton's method that all take together; who needs more is looked at alone."""

LOOKS = 6
"""The same with a new slice each, where rows are sampled."""

SIZES_TOGETHER = 4
"""Of boxes that are tried together."""

LEAST_BALL = 1e-12
"""Of balls where rows are sampled: nothing is proved on less [rad, m]."""

ROUNDS_TOGETHER = 3
"""In which more coordinates, or inequalities, are held at an end."""


def certify(
    problem: Problem, q: ArrayLike, rhs: RightHandSide | ArrayLike | None = None, *, radius: float | None = None
) -> Certificate:
    r"""Prove that an exact solution of a problem is near q, and how far around it is the only one.

    By Krawczyk's form of Newton-Kantorovich's theorem on the rows in play, in the slice of what they see: by samples
    and bounds of slopes where they prove it, else with enclosures of all functions (`docs/certificates.md`). Newton's
    steps go from q to a centre first, so q may be off by some thresholds. A coordinate beyond a bound is put on it and
    held there, as one is that is on a bound, where that proves more; an inequality that does not hold is held at its
    end.

    Args:
        problem: a problem; its optional last level does not count.
        q: configuration (nq,).
        rhs: right-hand sides; the default ones if absent.
        radius: R that is wanted; by default as large as samples can show, or else boxes.

    Returns:
        The certificate, PROVED or NOT_PROVED with the reason.

    Raises:
        WrongObjectError, SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with an argument.
        OptionError: a radius that is no positive number.
    """
    expect(problem, Problem, "problem to be certified")
    wanted = None if radius is None else positive_number(radius, "radius of a certificate")
    q = np.array(problem.check(q))
    sides = problem.check_rhs(rhs)
    rows = ProblemRows.of(problem, sides)
    if _is_huge(q, sides.vector):
        return CertificateSearch(rows, q, wanted).certificate(f"numbers beyond {UNBOUNDED:g} overflow")
    found = _by_samples(rows, q[None], wanted)
    return found[0] if found else CertificateSearch(rows, q, wanted).run()


def certify_batch(
    problem: Problem, Q: ArrayLike, rhs: RightHandSide | Sequence[RightHandSide] | None = None
) -> tuple[Certificate, ...]:
    """As `certify`, of many configurations: all of them are sampled together, or enclosed on boxes.

    Those that are far from a solution, or where rows depend on each other, are looked at one by one.

    Args:
        problem: a problem.
        Q: configurations (n, nq), one per row.
        rhs: right-hand sides of all, or one for each; the default ones if absent.

    Returns:
        n certificates.

    Raises:
        WrongObjectError, SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with an argument.
    """
    expect(problem, Problem, "problem to be certified")
    starts, nq = real_numbers(Q, "Q"), problem.space.nq
    if starts.ndim != 2 or starts.shape[1] != nq:
        raise SizeError("Q", f"(n, {nq})", starts.shape, "one configuration per row; for a single one use certify(q)")
    starts = np.array([problem.check(q) for q in starts]).reshape(-1, nq)
    if isinstance(rhs, Sequence) and len(rhs) != len(starts):
        raise SizeError("rhs", f"one, or one for each of {len(starts)} rows of Q", len(rhs))
    sides = [problem.check_rhs(one) for one in (rhs if isinstance(rhs, Sequence) else [rhs])]
    times = 1 if len(sides) > 1 else len(starts)
    if _is_huge(starts, *(one.vector for one in sides)):
        return tuple(certify(problem, q, one) for q, one in zip(starts, sides * times, strict=True))
    each = [ProblemRows.of(problem, one) for one in sides] * times
    size = max(NUMBERS // (max(len(each[0].lower), 1) * problem.space.nv**2), 1) if each else 1
    every = list[Certificate]()
    for k in range(0, len(starts), size):
        some, rows = starts[k : k + size], each[k : k + size]
        proved = _proved(rows[0] if len(sides) == 1 else ProblemRows.stacked(rows), some)
        alone = enumerate(zip(rows, some, strict=True))
        every += [proved[i] if i in proved else CertificateSearch(own, q, None).run() for i, (own, q) in alone]
    return tuple(every)


def _is_huge(*numbers: Vector) -> bool:
    """Whether squares of coordinates, or of right-hand sides, overflow."""
    return any(not np.abs(x).max(initial=0.0) <= UNBOUNDED for x in numbers)


def _proved(rows: ProblemRows, Q: Matrix) -> dict[int, Certificate]:
    """Those that are proved in the same way, by number: by samples, or with boxes of all others."""
    found = _by_samples(rows, Q)
    left = np.array([i for i in range(len(Q)) if i not in found], dtype=np.intp)
    if len(left) < 2:
        return found
    others = _together(rows.of_boxes(left), Q[left])
    return found | {int(left[k]): one for k, one in others.items()}


def _by_samples(rows: ProblemRows, Q: Matrix, radius: float | None = None) -> dict[int, Certificate]:
    """Those that are proved where rows are sampled, by number."""
    try:
        near = NearRows.of(rows, Q)
    except NoEnclosureError:
        return {}
    return {} if near is None else _together(rows, Q, near, radius)


class _Ends(NamedTuple):
    """What stays at an end, of several configurations.

    Attributes:
        held: (n, nv) coordinates that stay; those in bounds at the nearest end.
        active: (n, m) inequalities that are held.
        target: (n, m) what rows in play should be.
    """

    held: BoolVector
    active: BoolVector
    target: Matrix

    def some(self, which: Any) -> _Ends:
        """Of some of them; copies."""
        return _Ends(self.held[which].copy(), self.active[which].copy(), self.target[which].copy())


def _together(
    rows: ProblemRows, Q: Matrix, near: NearRows | None = None, radius: float | None = None
) -> dict[int, Certificate]:
    """Those that are proved in the same way, by number; `near` as of `_Together`."""
    if any(has_branches(owner) for owner in rows.owners):
        return {}
    n, target = len(Q), np.where(rows.equalities, rows.lower, 0.0)
    held, active = np.repeat(rows.problem.frozen[None], n, axis=0), np.zeros((n, len(target)), dtype=np.bool_)
    ends = _Ends(held, active, np.repeat(target[None], n, axis=0))
    return _Together(rows, near, radius, Q, ends, ROUNDS_TOGETHER).run()


class _Together:
    """One search for all: steps to a centre, then balls of several sizes around it.

    Args:
        rows: of the problem.
        near: the same, sampled; or None: then they are enclosed on boxes.
        radius: R that is wanted, or None.
        Q: configurations (n, nq).
        ends: what stays at an end; all have the same inequalities there.
        rounds: how often more of that may be held beside these.
    """

    def __init__(
        self, rows: ProblemRows, near: NearRows | None, radius: float | None, Q: Matrix, ends: _Ends, rounds: int
    ) -> None:
        self.rows, self.near, self.radius, self.space = rows, near, radius, rows.problem.space
        self.Q, self.held, self.active, self.target, self.rounds = Q, ends.held, ends.active[0], ends.target[0], rounds
        self.played = rows.equalities | self.active
        self.settled: BoolVector = np.zeros(len(self.active), dtype=np.bool_)
        self.spans = not self.played.all()
        self.start = each_of(self.space.normalize, Q) if self.space.unit_blocks else Q
        self.centers = self.start.copy()
        at, bounds = self.space.vector_q, rows.problem.bounds
        self.lower, self.upper = bounds.lower[at], bounds.upper[at]
        on = (self.held & ~rows.problem.frozen)[:, self.space.vector_v]
        if on.any():
            x = self.centers[:, at]
            self.centers[:, at] = np.where(on, np.where(x - self.lower < self.upper - x, self.lower, self.upper), x)
        self.fits: BoolVector = np.ones(len(Q), dtype=np.bool_)
        self.ends = ends.some(slice(None))

    def run(self) -> dict[int, Certificate]:
        """What is proved, by number."""
        best = dict[int, tuple[Premises, int, float, Vector]]()
        try:
            which = self._look()
        except (NoEnclosureError, UndefinedError):
            return {}
        for _ in range(SIZES_TOGETHER):
            if not len(which):
                break
            size = self.size[which]
            try:
                balls, found = self._tried(which, size)
            except UndefinedError as why:
                fails = why.where if np.shape(why.where) == which.shape else np.ones(len(which), dtype=np.bool_)
                self.fits[[i for i in which[fails].tolist() if i not in best]] = False
                which = which[~fails]
                continue
            numbers, size = balls.numbers, balls.numbers.size
            holds = (balls.rho <= size) & ~balls.is_short
            if balls.is_short.any():
                self._see_ends(which, balls, found)
            for k, i in enumerate(which.tolist()):
                if holds[k] and (i not in best or size[k] > best[i][0].size[best[i][1]]):
                    best[i] = numbers, k, float(balls.r[k]), self.centers[i].copy()
            if self.near is not None and holds.all():
                break
            largest = np.array([best[i][0].size[best[i][1]] if i in best else 0.0 for i in which.tolist()])
            other: Vector = other_size(numbers, balls.beta)
            again = np.where(largest > 0.0, other > 1.2 * largest, other < 0.9 * size)
            self.size[which] = other
            which = which[again & self.fits[which] & (self.radius is None)]
        proved = {i: self._certificate(i, *each) for i, each in best.items() if self.fits[i]}
        return proved | self._at_ends(proved) if self.rounds and len(proved) < len(self.Q) else proved

    def _look(self) -> Indices:
        """Slices at centres, and steps in them; once more where rows are sampled and steps are long. Which fit."""
        left, held = LOOKS if self.near else 1, self.held
        while True:
            left -= 1
            look = self._on(np.arange(len(self.Q)))
            if self.near is None:
                self._keep(look)
            elif left == LOOKS - 1 and self.rounds == ROUNDS_TOGETHER:
                self._hold_on_bounds(look)
            alike = np.ones(len(self.Q), dtype=np.bool_)
            if self.near is None or self.near.known.locked:
                settled = self.played & look.settled(self.target, self.held)
                self.settled = settled[0]
                alike = (settled == self.settled).all(axis=1)
            self.at = Slice.of(look, np.flatnonzero(self.played & ~self.settled), self.held)
            if self.held is not held and (len(self.at.dependent) or not alike.all()):
                self.held = held  # one that is on a bound does not keep the others from being looked at together
                continue
            if len(self.at.dependent):
                return self.at.dependent[:0]
            self.fits &= alike & (self.at.condition < 1e12)
            steps = self.at.newton(look, self.target)
            if not self.fits.all():
                steps = np.where(self.fits[:, None], steps, 0.0)
            short = np.abs(steps).max(axis=1, initial=0.0) <= COARSE_STEP
            self._move(steps)
            if short.all() or not left:
                break
        self.fits &= short
        self.size = np.full(len(self.Q), self.radius or (FIRST_SIZE if self.near is None else 0.0))
        return np.flatnonzero(self.fits)

    def _on(self, which: Indices, at: Slice | None = None, size: Vector | None = None) -> RowsOn:
        """Rows at some centres, or on balls around them."""
        every, centers = len(which) == len(self.Q), self.centers[which]
        if self.near is not None:
            return (self.near if every else self.near.of_boxes(which)).around(centers, size)
        box = TangentBox(self.space, centers, 0.0) if at is None else at.box(self.space, centers, size)
        return (self.rows if every else self.rows.of_boxes(which)).on(box)

    def _tried(self, which: Indices, size: Vector) -> tuple[Balls, RowsOn]:
        """Balls of these sizes around some centres, once Newton's steps from there have come to an end."""
        every = len(which) == len(self.Q)
        at = self.at if every else self.at.some(which)
        found, known, far = self._enclosed(at, which, size)
        for _ in range(STEPS_TOGETHER):
            if not far.any():
                break
            found, known, far = self._enclosed(at, which, size)
        if found.near is not None:
            largest = found.near.largest if known is None else known.reach
            if known is None and self.radius is None:
                size = np.where(size > 0.0, size, likely_size(at, found))
            far |= ~(largest > LEAST_BALL) | (size > largest) & (self.radius is not None)
            size = np.minimum(size, np.maximum(largest, LEAST_BALL))
            if self.spans:
                found = self._on(which, at, size)
        if self.settled.any():
            far |= (self.settled & ~found.settled(self.target, self.held[which])).any(axis=1)
        self.fits[which[far]] = False
        self._keep(found, which)
        if known is not None:
            return known.balls, found
        centers = self.centers[which]
        room = Room.around(self.rows, found, self.active, centers, at.basis)
        moves = Moves.between(self.space, self.start[which], centers, at.basis)
        return Balls.of(at.numbers(found, self.target, size, moves, room)), found

    def _enclosed(self, at: Slice, which: Indices, size: Vector) -> tuple[RowsOn, FoundByKernels | None, BoolVector]:
        """Rows on balls, and from which centres a step led on to others, where they are not looked at yet."""
        found = self._on(which, at, size if self.near is None else None)
        known = None
        if isinstance(found.near, Around) and not self.spans:
            known = by_kernels(found.near, at, self.start[which], self.target, size)
        steps = at.newton(found, self.target) if known is None else known.steps
        far = np.abs(steps).max(axis=1, initial=0.0) > FINE_STEP
        if far.any():
            moves = np.zeros((len(self.Q), self.space.nv))
            moves[which] = np.where(far[:, None], steps, 0.0)
            self._move(moves)
        return found, known, far

    def _move(self, steps: Matrix) -> None:
        moved = steps.any(axis=1)
        if moved.any():
            self.centers[moved] = each_of(self.space.integrate, self.centers[moved], steps[moved])

    # Ends of bounds and inequalities.

    def _keep(self, found: RowsOn, which: Any = slice(None)) -> None:
        """Leave out what is beyond a bound, or beyond the end of an inequality: it is held there next."""
        q, x, columns = self.centers[which][:, self.space.vector_q], found.value.middle, self.space.vector_v
        beyond = (q < self.lower) | (q > self.upper)
        if beyond.any() or self.spans:
            beyond &= ~self.held[which][:, columns]
            low, high = (x < self.rows.lower) & ~self.played, (x > self.rows.upper) & ~self.played
            self.fits[which] &= ~(beyond.any(axis=1) | low.any(axis=1) | high.any(axis=1))
            for k, i in enumerate(np.arange(len(self.Q))[which].tolist()):
                self.ends.held[i, columns[beyond[k]]] = True
                self._hold(i, low[k], high[k])

    def _hold_on_bounds(self, found: RowsOn) -> None:
        """Hold coordinates that are on a bound to the last digit, if rows see them: there is no room beside it."""
        x = self.centers[:, self.space.vector_q]
        on: Any = (x == self.lower) | (x == self.upper)
        if on.any():
            on &= found.jacobian.middle[..., self.space.vector_v].any(axis=1)
            self.held = self.held.copy()
            self.held[:, self.space.vector_v] |= on

    def _hold(self, i: int, low: BoolVector, high: BoolVector) -> None:
        """Hold inequalities of a configuration at one of their ends, next."""
        self.ends.active[i] |= low | high
        self.ends.target[i] = np.where(low, self.rows.lower, np.where(high, self.rows.upper, self.ends.target[i]))

    def _see_ends(self, which: Indices, balls: Balls, found: RowsOn) -> None:
        """Hold what is so near an end that the solution may pass it, next."""
        short = ~is_kept(balls.numbers, balls.rho) & (balls.rho < NEAR_END)[:, None]
        places = Room.places(self.rows, self.active)
        for k, j in np.argwhere(short).tolist():
            place, i = places[j], int(which[k])
            if place.kind == "coordinate":
                self.ends.held[i, self.space.vector_v[place.at]] = True
            elif place.kind == "row":
                x, row = found.value.middle[k, place.at], np.arange(len(self.active)) == place.at
                is_low = x - self.rows.lower[place.at] < self.rows.upper[place.at] - x
                self._hold(i, row & is_low, row & ~is_low)

    def _at_ends(self, found: dict[int, Certificate]) -> dict[int, Certificate]:
        """What is proved of the others, where more is held; or less, of what is held because it is on a bound."""
        new = (self.ends.held != self.held).any(axis=1) | (self.ends.active & ~self.active).any(axis=1)
        groups, proved = dict[bytes, list[int]](), dict[int, Certificate]()
        for i in np.flatnonzero(new).tolist():
            if i not in found:
                key = self.ends.active[i].tobytes() + self.ends.target[i].tobytes()
                groups.setdefault(key, []).append(i)
        for some in groups.values():
            on = np.array(some, dtype=np.intp)
            near, ends = None if self.near is None else self.near.of_boxes(on), self.ends.some(on)
            again = _Together(self.rows.of_boxes(on), near, self.radius, self.Q[on], ends, self.rounds - 1).run()
            proved |= {some[k]: one for k, one in again.items()}
        return proved

    def _certificate(self, i: int, numbers: Premises, k: int, r: float, center: Vector) -> Certificate:
        of_one = Premises(*(each[k] for each in numbers))
        return certificate_of(
            self.rows, self.at.some(i), of_one, self.held[i], self.active, q=self.Q[i], center=center, r=r, reason="",
            rests_on=of_users(self.rows) if self.near is None else (),
        )  # fmt: skip

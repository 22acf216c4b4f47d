"""Certificates of many configurations at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liegroups.arguments import expect, real_numbers
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector

from ..errors import NoEnclosureError, SizeError, UndefinedError
from ..functions.enclosures.box import TangentBox
from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide
from .certificate import Certificate
from .check import Premises, contraction, lengths, spent, within
from .rows import NUMBERS, ProblemRows, RowsOn
from .search import COARSE_STEP, FINE_STEP, FIRST_SIZE, NEAR_END, CertificateSearch, has_branches, other_size
from .slice import Moves, Place, Room, Slice

STEPS_TOGETHER = 3
"""Of Newton's method that all take together; who needs more is looked at alone."""

SIZES_TOGETHER = 4
"""Of boxes that are tried together."""


def certify_batch(
    problem: Problem, Q: ArrayLike, rhs: RightHandSide | Sequence[RightHandSide] | None = None
) -> tuple[Certificate, ...]:
    """As `certify`, of many configurations: boxes around all of them are enclosed together.

    Those at the end of an inequality, far from a solution, or where rows depend on each other, are looked
    at one by one.

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
    sides = rhs if isinstance(rhs, Sequence) else [rhs]
    each = [ProblemRows.of(problem, problem.check_rhs(one)) for one in sides] * (1 if len(sides) > 1 else len(starts))
    size = max(NUMBERS // (max(len(each[0].lower), 1) * problem.space.nv**2), 1) if each else 1
    every = list[Certificate]()
    for k in range(0, len(starts), size):
        some, rows = starts[k : k + size], each[k : k + size]
        proved = _proved(rows[0] if len(sides) == 1 else ProblemRows.stacked(rows), some)
        alone = enumerate(zip(rows, some, strict=True))
        every += [proved[i] if i in proved else CertificateSearch(own, q, None).run() for i, (own, q) in alone]
    return tuple(every)


def _proved(rows: ProblemRows, Q: Matrix) -> dict[int, Certificate]:
    """Those that are proved in the same way, by number."""
    if len(Q) == 1 or any(has_branches(owner) for owner in rows.owners):
        return {}
    try:
        return _Together(rows, Q, np.tile(rows.problem.frozen, (len(Q), 1))).run()
    except (NoEnclosureError, UndefinedError):
        return {}


class _Together:
    """One search for all: a step to a centre, then boxes of several sizes around it.

    Args:
        rows: of the problem.
        Q: configurations (n, nq).
        held: (n, nv) coordinates that stay; those in bounds are put on the nearest end.
        rounds: how often coordinates at a bound may be held beside these.
    """

    def __init__(self, rows: ProblemRows, Q: Matrix, held: BoolVector, rounds: int = 3) -> None:
        self.rows, self.space, self.Q, self.held, self.rounds = rows, rows.problem.space, Q, held, rounds
        self.target = np.where(rows.equalities, rows.lower, 0.0)
        self.active = np.zeros(len(rows.lower), dtype=np.bool_)
        self.centers = self.space.normalize(Q) if self.space.unit_blocks else Q.copy()
        at, bounds = self.space.vector_q, rows.problem.bounds
        x, lower, upper = self.centers[:, at], bounds.lower[at], bounds.upper[at]
        nearest = np.where(x - lower < upper - x, lower, upper)
        on = (held & ~rows.problem.frozen)[:, self.space.vector_v]
        self.centers[:, at] = np.where(on, nearest, x)
        self.fits, self.settled = np.ones(len(Q), dtype=np.bool_), self.active

    def run(self) -> dict[int, Certificate]:
        """What is proved, by number."""
        look = self.rows.on(TangentBox(self.space, self.centers, 0.0))
        self._keep(look)
        settled = self.rows.equalities & look.settled(self.target, self.held)
        self.settled = settled[0]
        self.fits &= (settled == self.settled).all(axis=1)
        self.at = Slice.of(look, np.flatnonzero(self.rows.equalities & ~self.settled), self.held)
        if len(self.at.dependent):
            return {}
        self.fits &= self.at.condition < 1e12
        steps = np.where(self.fits[:, None], self.at.newton(look, self.target), 0.0)
        self.fits &= np.abs(steps).max(axis=1, initial=0.0) <= COARSE_STEP
        self._move(steps)
        best, which = dict[int, tuple[Premises, int, Vector]](), np.flatnonzero(self.fits)
        at_bounds, size = self.held.copy(), np.full(len(self.Q), FIRST_SIZE)
        for _ in range(SIZES_TOGETHER):
            if not len(which):
                break
            try:
                numbers, places = self._premises(which, size[which])
            except UndefinedError as why:
                fails = why.where if np.shape(why.where) == which.shape else np.ones(len(which), dtype=np.bool_)
                self.fits[[i for i in which[fails].tolist() if i not in best]] = False
                which = which[~fails]
                continue
            beta, holds = contraction(numbers)[1], self._holds(numbers)
            at_bounds[which] |= self._at_bounds(numbers, places)
            for k, i in enumerate(which.tolist()):
                if holds[k] and (i not in best or size[i] > best[i][0].size[best[i][1]]):
                    best[i] = numbers, k, self.centers[i].copy()
            largest = np.array([best[i][0].size[best[i][1]] if i in best else 0.0 for i in which.tolist()])
            other = other_size(numbers, beta)
            again = (largest > 0.0) & (other > 1.2 * largest) | (largest == 0.0) & (other < 0.9 * size[which])
            size[which] = other
            which = which[again & self.fits[which]]
        found = {i: self._certificate(i, *each) for i, each in best.items() if self.fits[i]}
        new = np.flatnonzero((at_bounds & ~self.held).any(axis=1)).tolist()
        on = np.array([i for i in new if i not in found], dtype=np.intp)
        if self.rounds and len(on):
            again = _Together(self.rows.of_boxes(on), self.Q[on], at_bounds[on], self.rounds - 1).run()
            found |= {int(on[k]): each for k, each in again.items()}
        return found

    def _at_bounds(self, numbers: Premises, places: Sequence[Place]) -> BoolVector:
        """(n, nv) which coordinates are so near a bound that the solution may pass it."""
        rho, on = within(numbers), np.zeros((len(numbers.margins), self.space.nv), dtype=np.bool_)
        far = np.where(rho < NEAR_END, rho, 0.0)[:, None]
        short = (numbers.margins < 1.001 * lengths(numbers.rates) * far) & (far > 0.0)
        for k, place in enumerate(places):
            if place.kind == "coordinate":
                on[:, self.space.vector_v[place.at]] |= short[:, k]
        return on

    def _premises(self, which: Indices, size: Vector) -> tuple[Premises, Sequence[Place]]:
        """On boxes of these sizes around some centres, once Newton's steps from there have come to an end."""
        at = Slice(*self.at[:2], *(each[which] for each in self.at[2:]))
        found, far = self._enclosed(at, which, size)
        for _ in range(STEPS_TOGETHER):
            if not far.any():
                break
            found, far = self._enclosed(at, which, size)
        self.fits[which[far | (self.settled & ~found.settled(self.target, self.held[which])).any(axis=1)]] = False
        self._keep(found, which)
        centers = self.centers[which]
        room = Room.around(self.rows, found, self.active, centers, at.basis)
        moves = Moves.between(self.space, self.Q[which], centers, at.basis)
        return at.numbers(found, self.target, size, moves, room), room.places

    def _enclosed(self, at: Slice, which: Indices, size: Vector) -> tuple[RowsOn, BoolVector]:
        """Rows on boxes, and from which centres a step led on to others, where they are not enclosed yet."""
        found = self.rows.of_boxes(which).on(at.box(self.space, self.centers[which], size))
        steps, moves = at.newton(found, self.target), np.zeros((len(self.Q), self.space.nv))
        far = np.abs(steps).max(axis=1, initial=0.0) > FINE_STEP
        moves[which] = np.where(far[:, None], steps, 0.0)
        self._move(moves)
        return found, far

    def _keep(self, found: RowsOn, which: Any = slice(None)) -> None:
        """Leave out what is beyond a bound or the end of an inequality."""
        x, bounds, at = found.value.middle, self.rows.problem.bounds, self.space.vector_q
        inside = ((x >= self.rows.lower) & (x <= self.rows.upper) | self.rows.equalities).all(axis=1)
        q = self.centers[which][:, at]
        self.fits[which] &= inside & ((q >= bounds.lower[at]) & (q <= bounds.upper[at])).all(axis=1)

    def _move(self, steps: Matrix) -> None:
        moved = np.abs(steps).max(axis=1, initial=0.0) > 0.0
        self.centers[moved] = self.space.integrate(self.centers[moved], steps[moved])

    @staticmethod
    def _holds(numbers: Premises) -> BoolVector:
        """Whether all that `failures` asks for holds."""
        rho = within(numbers)
        used = spent(numbers.rates, np.where(np.isfinite(rho), rho, 0.0)[:, None])
        return (rho <= numbers.size) & (numbers.margins >= used).all(axis=-1)

    def _certificate(self, i: int, numbers: Premises, k: int, center: Vector) -> Certificate:
        one = CertificateSearch(self.rows, self.Q[i], None)
        one.held = self.held[i]
        one.center, one.at = center, Slice(*self.at[:2], *(each[i] for each in self.at[2:]))
        one.numbers = Premises(*(each[k] for each in numbers))
        return one.certificate("")

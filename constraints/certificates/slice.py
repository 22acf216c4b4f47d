"""The slice in which a proof is done: what moves in it, how far, and what room there is; as numbers of the check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.unit_blocks import plain_entries

from ..functions.enclosures.box import TangentBox
from ..functions.enclosures.group_bounds import OF_MAPS
from ..functions.enclosures.interval import UNIT, Interval, rounded_up
from ..problem.problem import Problem
from .check import Premises, lengths
from .rows import ProblemRows, RowsOn

LEAST_PIVOT = 1e-11
"""Of the singular values of the rows in play, relative to the largest: below it rows depend on each other."""

LEAST_OF_PIVOTS = 1e-9
"""Of the pivots of rows of length 1 that are kept, where rows depend on each other."""


class Slice(NamedTuple):
    r"""The configurations :math:`c \oplus B y` around any centre c, and the rows in play.

    Attributes:
        chosen: indices of independent rows in play (n,).
        dependent: indices of the others.
        basis: B (nv, n); zero rows for what is held.
        preconditioner: C (n, n), near the inverse of J B.
        condition: of J B.
    """

    chosen: Indices
    dependent: Indices
    basis: Matrix
    preconditioner: Matrix
    condition: float

    @staticmethod
    def of(rows: RowsOn, played: Indices, held: BoolVector) -> Slice:
        """What the rows in play see.

        Args:
            rows: at the centre.
            played: indices of those in play.
            held: (nv,) columns that stay.
        """
        every = rows.jacobian.middle[played].copy()
        every[:, held] = 0.0
        keep, others = _independent(every)
        J, dependent, played = every[keep], played[others], played[keep]
        if not len(played):
            return Slice(played, dependent, np.zeros((len(held), 0)), np.zeros((0, 0)), 1.0)
        basis, triangle = np.linalg.qr(J.T)
        basis[held] = 0.0
        values = np.linalg.svd(triangle, compute_uv=False)
        inverse = np.asarray(np.linalg.inv(J @ basis), dtype=np.float64)
        condition = float(values[0] / values[-1]) if values[-1] > 0.0 else np.inf
        return Slice(played, dependent, basis, inverse, condition)

    def box(self, space: Space, center: Vector, size: float) -> TangentBox:
        """What there is around a centre with y of this length."""
        moving = (self.basis != 0.0).any(axis=1)
        return TangentBox(space, center, moving * rounded_up(lengths(self.basis) * size), moving * rounded_up(size))

    def newton(self, rows: RowsOn, target: Vector) -> Vector:
        """Newton's step (nv,) from the centre of these rows to their targets."""
        error = rows.value.middle[self.chosen] - target[self.chosen]
        return -self.basis @ (self.preconditioner @ error)

    def numbers(self, rows: RowsOn, target: Vector, size: float, moves: Moves, room: Room) -> Premises:
        """The premises of the check.

        Args:
            rows: on the box of this size.
            target: what each row should be.
            size: of the box.
            moves: from the configuration that was asked about.
            room: to bounds and to the ends of inequalities.
        """
        M = rows.bend.straight[self.chosen] @ self.basis
        residual = rows.value[self.chosen] - target[self.chosen]
        return Premises(
            self.preconditioner, residual.lower, residual.upper, M.lower, M.upper, self.bend(rows) * size, size,
            moves.displaced, moves.spread, room.margins, room.rates,
        )  # fmt: skip

    def bend(self, rows: RowsOn, moving: BoolVector | None = None) -> float:
        r"""Bound of what :math:`C\,J B` changes by with y on the box of these rows, as a norm by the length of y.

        What the slopes are about is multiplied out first; of how far off they may be, e, the root of the sum of squares
        of :math:`|C|\,e` is taken: B y and B z are no longer than y and z.

        Args:
            rows: on the box.
            moving: (nv,) columns that may move, all of them; by default along the basis alone.
        """
        slopes, n = rows.bend.slopes[self.chosen], len(self.basis)
        bent = np.flatnonzero((slopes.upper != 0.0).any(axis=(1, 2)) | (slopes.lower != 0.0).any(axis=(1, 2)))
        if not len(bent):
            return 0.0
        slopes, preconditioner, m, k = slopes[bent], self.preconditioner[:, bent], len(self.chosen), len(bent)
        on = (self.basis != 0.0).any(axis=1) if moving is None else moving
        about = (preconditioner @ slopes.middle.reshape(k, n * n)).reshape(m, n, n) * on[:, None] * on
        if moving is None:
            about = self.basis.T @ about @ self.basis
        off = (slopes.radius * on[:, None] * on).reshape(k, n * n)
        off = np.abs(preconditioner) @ (off + 4.0 * (n + m + 3) * UNIT * np.abs(slopes.middle).reshape(k, n * n))
        size = about.shape[2]
        way = min(norm_bound(about.reshape(m * size, size)), norm_bound(about.reshape(m, size * size).T))
        return float(rounded_up(way + lengths(off.ravel())))

    def stretch_of(self, A: Interval) -> float:
        r"""A bound of :math:`\|C A\|`, of rows in play (n, m)."""
        gamma = 2.0 * (len(self.chosen) + 3) * UNIT
        rest = np.abs(self.preconditioner) @ (A.radius + gamma * np.abs(A.middle))
        return float(rounded_up(norm_bound(self.preconditioner @ A.middle) + lengths(rest.ravel())))


def norm_bound(A: Matrix) -> float:
    r"""A bound of the largest singular value: :math:`\|(A^T A)^8\|_F^{1/16}`, at most :math:`n^{1/32}` times it."""
    largest = float(np.abs(A).max(initial=0.0))
    if not largest > 0.0:
        return 0.0
    power = (A / largest).T @ (A / largest)
    for _ in range(3):
        power = power @ power  # what it stretches by is at least 1, and at most the number of entries
    return float(rounded_up(largest * lengths(power.ravel()) ** (1.0 / 16.0)))


def _independent(J: Matrix) -> tuple[Indices, Indices]:
    """Which rows are kept, and which depend on them to first order."""
    every = np.arange(len(J))
    if not len(J) or _rank(J) == len(J):
        return every, every[:0]
    size = np.maximum(np.sqrt((J * J).sum(axis=1)), 1e-300)
    triangle, order = qr((J / size[:, None]).T, mode="r", pivoting=True)[-2:]
    rank = int((np.abs(np.diag(triangle)) > LEAST_OF_PIVOTS).sum())
    return np.sort(order[:rank]).astype(np.intp), np.sort(order[rank:]).astype(np.intp)


def _rank(J: Matrix) -> int:
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > LEAST_PIVOT * max(float(values[0]), 1e-300)).sum())


class Moves(NamedTuple):
    """How far what a space has is from a configuration, and how fast it goes on; as in `Premises`."""

    displaced: Vector
    spread: Matrix

    @staticmethod
    def between(space: Space, q: Vector, center: Vector, basis: Matrix) -> Moves:
        """One entry for each coordinate of vectors, rotation, and origin of a body.

        Args:
            space: of the configurations.
            q, center: from, to (nq,).
            basis: B (nv, n).
        """
        displaced = [rounded_up(np.abs(center[space.vector_q] - q[space.vector_q]))]
        spread = [np.abs(basis[space.vector_v])]
        for leaf in space.leaves():
            for part in _PARTS.get(leaf.space.atoms, ()):
                rows = slice(leaf.v.start + part.start, leaf.v.start + part.stop)
                d = leaf.space.difference(q[leaf.q], center[leaf.q])[part]
                if part.start == 0 and leaf.space.atoms in (SE2.atoms, SE3.atoms):
                    d = (center[leaf.q] - q[leaf.q])[: part.stop]
                displaced.append(
                    np.array([rounded_up(np.sqrt(d @ d)) + OF_MAPS * (1.0 + np.abs(center[leaf.q]).max())])
                )
                spread.append(np.sqrt((basis[rows] ** 2).sum(axis=0))[None])
        return Moves(np.concatenate(displaced), np.asarray(rounded_up(np.concatenate(spread))))


_PARTS = {
    SO2.atoms: (slice(0, 1),),
    SE2.atoms: (slice(0, 2), slice(2, 3)),
    SO3.atoms: (slice(0, 3),),
    SE3.atoms: (slice(0, 3), slice(3, 6)),
}
"""Tangent rows of the origins and rotations of a group."""


class Place(NamedTuple):
    """What a margin is of: a row, a coordinate of a vector, or the position of a body, with its number."""

    kind: str
    at: int


class Room(NamedTuple):
    """Room at the centre to bounds and ends of inequalities, and how fast it may shrink; as in `Premises`."""

    margins: Vector
    rates: Matrix
    places: tuple[Place, ...]

    @staticmethod
    def around(rows: ProblemRows, found: RowsOn, active: BoolVector, center: Vector, basis: Matrix) -> Room:
        """Of all bounds, and of the inequalities that are not held.

        Args:
            rows: of the problem.
            found: the same on the box.
            active: (m,) inequalities that are held.
            center: (nq,).
            basis: B (nv, n).
        """
        problem = rows.problem
        margins, rates, places = _of_coordinates(problem, center, basis)
        free = np.flatnonzero(~rows.equalities & ~active)
        value = found.value[free]
        inside = np.minimum(value.lower - rows.lower[free], rows.upper[free] - value.upper)
        slopes = (found.jacobian[free] @ basis).magnitude
        return Room(
            np.concatenate([margins, rounded_down(inside)]),
            np.concatenate([rates, slopes]),
            (*places, *(Place("row", int(i)) for i in free)),
        )


def _of_coordinates(problem: Problem, center: Vector, basis: Matrix) -> tuple[Vector, Matrix, list[Place]]:
    space, bounds = problem.space, problem.bounds
    room = np.minimum(rounded_down(center - bounds.lower), rounded_down(bounds.upper - center))
    bounded = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
    plain = np.isin(np.arange(space.nq), space.vector_q)
    where = np.flatnonzero(bounded[space.vector_q])
    margins, rates = [room[space.vector_q][where]], [np.abs(basis[space.vector_v])[where]]
    places = [Place("coordinate", int(i)) for i in where]
    bodies = np.flatnonzero(bounded & ~plain & plain_entries(space.nq, space.unit_blocks))
    for entry in bodies.tolist():
        leaf = next(leaf for leaf in space.leaves() if leaf.q.start <= entry < leaf.q.stop)
        part = _PARTS[leaf.space.atoms][0]
        rows = slice(leaf.v.start + part.start, leaf.v.start + part.stop)
        margins.append(room[entry : entry + 1])
        rates.append(np.asarray(rounded_up(np.sqrt((basis[rows] ** 2).sum(axis=0))))[None])
        places.append(Place("body", entry))
    return np.concatenate(margins), np.concatenate(rates), places


def rounded_down(x: Vector) -> Vector:
    """Rounded differences, down; a difference of zero is exact."""
    return np.where(x == 0.0, 0.0, np.nextafter(np.minimum(x, np.finfo(np.float64).max), -np.inf))

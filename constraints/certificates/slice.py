"""The slice in which a proof is done: what moves in it, how far, and what room there is; as numbers of the check."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.unit_blocks import plain_entries

from ..functions.enclosures.box import TangentBox
from ..functions.enclosures.group_bounds import OF_MAPS
from ..functions.enclosures.interval import UNIT, Interval, applied, rounded_up
from ..problem.problem import Problem
from .check import Premises, lengths
from .rows import ProblemRows, RowsOn

LEAST_PIVOT = 1e-11
"""Of the singular values of the rows in play, relative to the largest: below it rows depend on each other."""

LEAST_OF_PIVOTS = 1e-9
"""Of the pivots of rows of length 1 that are kept, where rows depend on each other."""


class Slice(NamedTuple):
    r"""The configurations :math:`c \oplus B y` around any centre c, and the rows in play.

    Of several centres with the same rows in play, all but `chosen` and `dependent` have a leading axis.

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
    condition: Any

    @staticmethod
    def of(rows: RowsOn, played: Indices, held: BoolVector) -> Slice:
        """What the rows in play see.

        Args:
            rows: at the centre.
            played: indices of those in play.
            held: (nv,) columns that stay.

        Of several centres rows that depend on others somewhere are only named, as `dependent`: no basis is made.
        """
        every = np.where(held[..., None, :], 0.0, rows.jacobian.middle[..., played, :])
        leading = every.shape[:-2]
        if not len(played):
            basis, inverse = np.zeros((*leading, held.shape[-1], 0)), np.zeros((*leading, 0, 0))
            return Slice(played, played[:0], basis, inverse, np.ones(leading)[()])
        basis, triangle = np.linalg.qr(np.swapaxes(every, -2, -1))
        values = np.linalg.svd(triangle, compute_uv=False)
        full = (values > LEAST_PIVOT * np.maximum(values[..., :1], 1e-300)).sum(axis=-1) == len(played)
        for J in every.reshape(-1, *every.shape[-2:])[~full.reshape(-1)]:
            keep, others = _independent(J)
            if len(others) and leading:
                none, infinite = np.zeros((*leading, 0, 0)), np.full(leading, np.inf)
                return Slice(played[keep], played[others], none, none, infinite)
            if len(others):
                found = Slice.of(rows, played[keep], held)
                return found._replace(dependent=np.sort(np.concatenate([played[others], found.dependent])))
        basis = np.where(held[..., None], 0.0, basis)
        inverse = np.asarray(np.linalg.inv(every @ basis), dtype=np.float64)
        least = values[..., -1]
        condition = np.where(least > 0.0, values[..., 0] / np.where(least > 0.0, least, 1.0), np.inf)[()]
        return Slice(played, played[:0], basis, inverse, condition)

    def box(self, space: Space, center: Vector, size: Any) -> TangentBox:
        """What there is around a centre with y of this length."""
        moving, ball = (self.basis != 0.0).any(axis=-1), np.asarray(rounded_up(size))[..., None]
        return TangentBox(space, center, moving * rounded_up(lengths(self.basis) * ball), moving * ball)

    def newton(self, rows: RowsOn, target: Vector) -> Vector:
        """Newton's step (nv,) from the centre of these rows to their targets."""
        error = rows.value.middle[..., self.chosen] - target[..., self.chosen]
        return -applied(self.basis, applied(self.preconditioner, error))

    def numbers(self, rows: RowsOn, target: Vector, size: Any, moves: Moves, room: Room) -> Premises:
        """The premises of the check.

        Args:
            rows: on the box of this size.
            target: what each row should be.
            size: of the box.
            moves: from the configuration that was asked about.
            room: to bounds and to the ends of inequalities.
        """
        M = rows.bend.straight[..., self.chosen, :] @ self.basis
        residual = rows.value[..., self.chosen] - target[..., self.chosen]
        return Premises(
            self.preconditioner, residual.lower, residual.upper, M.lower, M.upper, self.bend(rows) * size, size,
            moves.displaced, moves.spread, room.margins, room.rates,
        )  # fmt: skip

    def bend(self, rows: RowsOn, moving: BoolVector | None = None) -> Any:
        r"""Bound of what :math:`C\,J B` changes by with y on the box of these rows, as a norm by the length of y.

        What the slopes are about is multiplied out first; of how far off they may be, e, the root of the sum of squares
        of :math:`|C|\,e` is taken: B y and B z are no longer than y and z.

        Args:
            rows: on the box.
            moving: (nv,) columns that may move, all of them; by default along the basis alone.
        """
        leading, n = self.basis.shape[:-2], self.basis.shape[-2]
        slopes, m = rows.bend.rows(self.chosen).slopes.reshaped(*leading, len(self.chosen), n * n), len(self.chosen)
        curved = ((slopes.middle != 0.0) | (slopes.radius > 0.0)).any(axis=-1)
        bent = np.flatnonzero(curved.any(axis=tuple(range(len(leading)))))
        if not len(bent):
            return np.zeros(leading)[()]
        preconditioner, k = self.preconditioner[..., bent], len(bent)
        about, radius = (x if k == m else x[..., bent, :] for x in (slopes.middle, slopes.radius))
        on = (self.basis != 0.0).any(axis=-1) if moving is None else moving
        both = on[..., :, None] & on[..., None, :]
        off = (radius.reshape(*leading, k, n, n) * both[..., None, :, :]).reshape(*leading, k, n * n)
        off = np.abs(preconditioner) @ (off + 4.0 * (n + m + 3) * UNIT * np.abs(about))
        about = (preconditioner @ about).reshape(*leading, m, n, n) * both[..., None, :, :]
        if moving is None:
            B = self.basis[..., None, :, :]
            about = np.swapaxes(B, -2, -1) @ about @ B
        size = about.shape[-1]
        by_rows = norm_bound(np.swapaxes(about.reshape(*leading, m, size * size), -2, -1))
        way = np.minimum(norm_bound(about.reshape(*leading, m * size, size)), by_rows)
        return rounded_up(way + all_entries(off))

    def stretch_of(self, A: Interval) -> Any:
        r"""A bound of :math:`\|C A\|`, of rows in play (n, m)."""
        gamma = 2.0 * (len(self.chosen) + 3) * UNIT
        rest = np.abs(self.preconditioner) @ (A.radius + gamma * np.abs(A.middle))
        return rounded_up(norm_bound(self.preconditioner @ A.middle) + all_entries(rest))


def all_entries(matrices: Matrix) -> Any:
    """Roots of sums of all squares, over leading axes."""
    return lengths(matrices.reshape(*matrices.shape[:-2], -1))


def norm_bound(A: Matrix) -> Any:
    r"""Of the largest singular value: :math:`\|(A^T A)^8\|_F^{1/16}`, at most :math:`n^{1/32}` times it."""
    largest = np.abs(A).max(axis=(-2, -1), initial=0.0)
    scaled = A / np.where(largest > 0.0, largest, 1.0)[..., None, None]
    power = np.swapaxes(scaled, -2, -1) @ scaled
    for _ in range(3):
        power = power @ power  # what it stretches by is at least 1, and at most the number of entries
    return rounded_up(largest * all_entries(power) ** (1.0 / 16.0)) * (largest > 0.0)


def _independent(J: Matrix) -> tuple[Indices, Indices]:
    """Which rows are kept, and which depend on them to first order."""
    size = np.maximum(np.sqrt((J * J).sum(axis=1)), 1e-300)
    triangle, order = qr((J / size[:, None]).T, mode="r", pivoting=True)[-2:]
    rank = int((np.abs(np.diag(triangle)) > LEAST_OF_PIVOTS).sum())
    return np.sort(order[:rank]).astype(np.intp), np.sort(order[rank:]).astype(np.intp)


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
        displaced = [rounded_up(np.abs(center[..., space.vector_q] - q[..., space.vector_q]))]
        spread = [np.abs(basis[..., space.vector_v, :])]
        for leaf in space.leaves():
            for part in _PARTS.get(leaf.space.atoms, ()):
                rows = slice(leaf.v.start + part.start, leaf.v.start + part.stop)
                d = leaf.space.difference(q[..., leaf.q], center[..., leaf.q])[..., part]
                if part.start == 0 and leaf.space.atoms in (SE2.atoms, SE3.atoms):
                    d = (center[..., leaf.q] - q[..., leaf.q])[..., : part.stop]
                size = 1.0 + np.abs(center[..., leaf.q]).max(axis=-1)
                displaced.append(np.asarray(rounded_up(lengths(d)) + OF_MAPS * size)[..., None])
                spread.append(np.sqrt((basis[..., rows, :] ** 2).sum(axis=-2))[..., None, :])
        return Moves(np.concatenate(displaced, axis=-1), np.asarray(rounded_up(np.concatenate(spread, axis=-2))))


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
        value = found.value[..., free]
        inside = np.minimum(value.lower - rows.lower[free], rows.upper[free] - value.upper)
        slopes = (found.jacobian[..., free, :] @ basis).magnitude
        return Room(
            np.concatenate([margins, rounded_down(inside)], axis=-1),
            np.concatenate([rates, slopes], axis=-2),
            (*places, *(Place("row", int(i)) for i in free)),
        )


def _of_coordinates(problem: Problem, center: Vector, basis: Matrix) -> tuple[Vector, Matrix, list[Place]]:
    space, bounds = problem.space, problem.bounds
    room = np.minimum(rounded_down(center - bounds.lower), rounded_down(bounds.upper - center))
    bounded = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
    plain = np.isin(np.arange(space.nq), space.vector_q)
    where = np.flatnonzero(bounded[space.vector_q])
    margins, rates = [room[..., space.vector_q[where]]], [np.abs(basis[..., space.vector_v[where], :])]
    places = [Place("coordinate", int(i)) for i in where]
    bodies = np.flatnonzero(bounded & ~plain & plain_entries(space.nq, space.unit_blocks))
    for entry in bodies.tolist():
        leaf = next(leaf for leaf in space.leaves() if leaf.q.start <= entry < leaf.q.stop)
        part = _PARTS[leaf.space.atoms][0]
        rows = slice(leaf.v.start + part.start, leaf.v.start + part.stop)
        margins.append(room[..., entry : entry + 1])
        rates.append(np.asarray(rounded_up(np.sqrt((basis[..., rows, :] ** 2).sum(axis=-2))))[..., None, :])
        places.append(Place("body", entry))
    return np.concatenate(margins, axis=-1), np.concatenate(rates, axis=-2), places


def rounded_down(x: Vector) -> Vector:
    """Rounded differences, down; a difference of zero is exact."""
    return np.where(x == 0.0, 0.0, np.nextafter(np.minimum(x, np.finfo(np.float64).max), -np.inf))

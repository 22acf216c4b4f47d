"""The slice in which a proof is done: what moves in it, how far, and what room there is; as numbers of the check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from liegroups import SE2, SE3, SO2, SO3, Space
from liegroups.arrays import BoolVector, Indices, Matrix, Vector
from liegroups.unit_blocks import plain_entries

from ..functions.enclosures.box import TangentBox
from ..functions.enclosures.group_bounds import OF_MAPS
from ..functions.enclosures.interval import LARGEST, UNIT, Interval, applied, rounded_up
from ..problem.problem import Problem
from ..workspace import kept_with
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
        every = rows.jacobian.middle[..., played, :]
        if held.any():
            every = np.where(held[..., None, :], 0.0, every)
        leading = every.shape[:-2]
        if not len(played):
            basis, inverse = np.zeros((*leading, held.shape[-1], 0)), np.zeros((*leading, 0, 0))
            return Slice(played, played[:0], basis, inverse, np.ones(leading)[()])
        if rows.near is None:
            basis, triangle = np.linalg.qr(np.swapaxes(every, -2, -1))
            values, across = np.linalg.svd(triangle, compute_uv=False), None
        else:  # one routine instead of three; on boxes the basis of a triangle, which has more zeros, proves more
            across, values, along = np.linalg.svd(every, full_matrices=False)
            basis = np.swapaxes(along, -2, -1)
        most, least = values[..., 0], values[..., -1]
        full = (least > LEAST_PIVOT * np.maximum(most, 1e-300)) & (values.shape[-1] == len(played))
        for J in () if full.all() else every.reshape(-1, *every.shape[-2:])[~full.reshape(-1)]:
            keep, others = _independent(J)
            if len(others) and leading:
                none, infinite = np.zeros((*leading, 0, 0)), np.full(leading, np.inf)
                return Slice(played[keep], played[others], none, none, infinite)
            if len(others):
                found = Slice.of(rows, played[keep], held)
                return found._replace(dependent=np.sort(np.concatenate([played[others], found.dependent])))
        if held.any():
            basis = np.where(held[..., None], 0.0, basis)
        values = np.maximum(values, 1e-280)
        condition = most / values[..., -1]
        if across is None:
            inverse = np.asarray(np.linalg.inv(every @ basis), dtype=np.float64)
        else:
            inverse = np.swapaxes(across / values[..., None, :], -2, -1)
        return Slice(played, played[:0], basis, inverse, condition)

    def some(self, which: Any) -> Slice:
        """Of some of several centres, or of one."""
        return Slice(*self[:2], *(each[which] for each in self[2:]))

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
        M = self.along(rows)
        residual = rows.value if len(self.chosen) == len(target) else rows.value[..., self.chosen]
        if target[self.chosen].any():
            residual = residual - target[self.chosen]
        return Premises(
            self.preconditioner, residual.lower, residual.upper, M.lower, M.upper, self.bend(rows) * size, size,
            moves.displaced, moves.spread, room.margins, room.rates,
        )  # fmt: skip

    def along(self, rows: RowsOn) -> Interval:
        r""":math:`J B` of the rows in play, but for what `bend` says that it changes by."""
        if rows.near is not None:
            return rows.near.along(self.basis, self.chosen)
        return rows.bend.straight[..., self.chosen, :] @ self.basis

    def bend(self, rows: RowsOn, moving: BoolVector | None = None) -> Any:
        r"""Bound of what :math:`C\,J B` changes by with y on the box of these rows, as a norm by the length of y.

        What the slopes are about is multiplied out first; of how far off they may be, e, the root of the sum of squares
        of :math:`|C|\,e` is taken: B y and B z are no longer than y and z.

        Args:
            rows: on the box.
            moving: (nv,) columns that may move, all of them; by default along the basis alone.
        """
        if rows.near is not None:
            return rows.near.rate(self.preconditioner, self.chosen)
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
        if space.is_flat:
            return Moves(rounded_up(np.abs(center - q)), np.abs(basis))
        displaced = [np.abs(center[..., space.vector_q] - q[..., space.vector_q])]
        spread = [np.abs(basis[..., space.vector_v, :])]
        for part in origins_and_rotations(space):
            here, there = q[..., part.q], center[..., part.q]
            if part.turns:
                here = here / lengths(here)[..., None]
                chord = 0.5 * lengths(there - here)
                if part.turns == OF_QUATERNION:  # and its opposite are one rotation
                    chord = np.minimum(chord, 0.5 * lengths(there + here))
                displaced.append(part.turns * chord * (1.0 + OF_ARCS * chord * chord) + 2.0 * OF_MAPS)
            else:
                displaced.append(lengths(there - here))
            spread.append(np.sqrt((basis[..., part.v, :] ** 2).sum(axis=-2)))
        return Moves(rounded_up(np.concatenate(displaced, axis=-1)), rounded_up(np.concatenate(spread, axis=-2)))


OF_ARCS = 0.571
r""":math:`\arcsin x \le x + (\pi / 2 - 1)\, x^3` for x from 0 to 1: the excess rises with x."""

OF_QUATERNION = 4.0
"""Angles of a rotation by that of half the chord of its quaternions."""


class _Part(NamedTuple):
    """The origins, or the rotations, of all groups of one kind.

    Attributes:
        q, v: their entries and tangent rows, one row each.
        turns: angle of a rotation by that of half the chord of its unit vectors; 0 of origins.
    """

    q: Indices
    v: Indices
    turns: float


_ORIGINS_AND_ROTATIONS = {
    SO2.atoms: (_Part(np.arange(2), np.arange(1), 2.0),),
    SE2.atoms: (_Part(np.arange(2), np.arange(2), 0.0), _Part(np.arange(2, 4), np.arange(2, 3), 2.0)),
    SO3.atoms: (_Part(np.arange(4), np.arange(3), OF_QUATERNION),),
    SE3.atoms: (_Part(np.arange(3), np.arange(3), 0.0), _Part(np.arange(3, 7), np.arange(3, 6), OF_QUATERNION)),
}
"""Of each group: its origin, if it has one, and its rotation."""


@kept_with
def origins_and_rotations(space: Space) -> list[_Part]:
    """The origins and rotations of a space."""
    found = dict[tuple[int, int, float], list[_Part]]()
    for leaf in space.leaves():
        for q, v, turns in _ORIGINS_AND_ROTATIONS.get(leaf.space.atoms, ()):
            part = _Part(leaf.q.start + q, leaf.v.start + v, turns)
            found.setdefault((len(q), len(v), turns), []).append(part)
    return [
        _Part(np.array([part.q for part in same]), np.array([part.v for part in same]), turns)
        for (_, _, turns), same in found.items()
    ]


def each_of(function: Callable[..., Vector], *rows: Vector) -> Vector:
    """A map of a space, of vectors, or of rows of matrices; of one row as of a vector, which costs less."""
    return function(*(row[0] for row in rows))[None] if rows[0].ndim == 2 and len(rows[0]) == 1 else function(*rows)


class Place(NamedTuple):
    """What a margin is of: a row, a coordinate of a vector, or the position of a body, with its number."""

    kind: str
    at: int


class Room(NamedTuple):
    """Room at the centre to bounds and ends of inequalities, and how fast it may shrink; as in `Premises`."""

    margins: Vector
    rates: Matrix

    @staticmethod
    def places(rows: ProblemRows, active: BoolVector) -> tuple[Place, ...]:
        """What margins are of."""
        free = np.flatnonzero(~rows.equalities & ~active)
        return (*Bounded.of(rows.problem).places, *(Place("row", i) for i in free.tolist()))

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
        known = Bounded.of(rows.problem)
        x = center[..., known.entries]
        margins = rounded_down(np.minimum(x - known.lower, known.upper - x))
        rates = np.abs(basis[..., known.columns, :])
        if known.bodies:
            turned = np.swapaxes(basis, -2, -1)
            by_body = [(v, turned[..., slice(*v)]) for v in set(known.bodies)]
            of_body = {v: rounded_up(lengths(moved)) * moved.any(axis=-1) for v, moved in by_body}  # zeros stay zeros
            rates = np.concatenate([rates, np.stack([of_body[v] for v in known.bodies], axis=-2)], axis=-2)
        free = ~rows.equalities & ~active
        if not free.any():
            return Room(margins, rates)
        value = found.value[..., free]
        inside = np.minimum(value.lower - rows.lower[free], rows.upper[free] - value.upper)
        slopes = (found.jacobian[..., free, :] @ basis).magnitude
        return Room(np.concatenate([margins, rounded_down(inside)], axis=-1), np.concatenate([rates, slopes], axis=-2))


class Bounded(NamedTuple):
    """Which entries of a configuration have bounds, those of vectors first.

    Attributes:
        entries: all of them.
        lower, upper: their bounds.
        columns: tangent columns of those of vectors.
        bodies: of each other one, from which column on, and up to which, its origin is moved.
        places: of all.
    """

    entries: Indices
    lower: Vector
    upper: Vector
    columns: Indices
    bodies: tuple[tuple[int, int], ...]
    places: tuple[Place, ...]

    @staticmethod
    @kept_with
    def of(problem: Problem) -> Bounded:
        """Of a problem; kept."""
        space, bounds = problem.space, problem.bounds
        bounded = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
        plain = np.isin(np.arange(space.nq), space.vector_q)
        where = np.flatnonzero(bounded[space.vector_q])
        others = np.flatnonzero(bounded & ~plain & plain_entries(space.nq, space.unit_blocks))
        bodies = list[tuple[int, int]]()
        for entry in others.tolist():
            leaf = next(leaf for leaf in space.leaves() if leaf.q.start <= entry < leaf.q.stop)
            rows = leaf.v.start + _ORIGINS_AND_ROTATIONS[leaf.space.atoms][0].v
            bodies.append((int(rows[0]), int(rows[-1]) + 1))
        entries = np.concatenate([space.vector_q[where], others])
        places = *(Place("coordinate", i) for i in where.tolist()), *(Place("body", i) for i in others.tolist())
        columns = space.vector_v[where]
        return Bounded(entries, bounds.lower[entries], bounds.upper[entries], columns, tuple(bodies), places)


def rounded_down(x: Vector) -> Vector:
    """Rounded differences, down; a difference of zero is exact."""
    return np.where(x == 0.0, 0.0, np.nextafter(np.minimum(x, LARGEST), -np.inf))

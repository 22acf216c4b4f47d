r"""Legs that are proved by samples of the Jacobian, and bounds of its slope that hold along a whole piece.

DF is computed at k + 1 equal times of the straight way, :math:`s = 2 / k` apart, k even. By `paths.curves` the second
derivative of DF by the time is at most T, and the third one of F at most Q. So between two samples DF is within
:math:`s^2 T / 8` of the line between both. F is near the parabola through both its values that turns by as much as F
does, :math:`\dot F = DF\,d`, and is within s/8 of that turn from the line. What is left, R, is zero at both ends, where
:math:`\dot R` is the same: at a part x of the step it is

.. math:: R = s^3 \int_0^1 K(y)\, \dddot F\, dy, \qquad K = -\tfrac12 (1 - x)\, y\, (x - y) \ (y \le x), \quad
    \tfrac12 x\, (1 - y)\, (y - x) \ (y \ge x)

and :math:`\int |K| = x (1 - x) (x^2 + (1 - x)^2) / 12` is at most 1/96, half-way. C times a matrix is at most
:math:`\sum \|C_i\|` times its parts, i over the constraints.

Beside the way, by `certificates.slopes`, DF changes by at most h |x| with v, and C DF by K |x|,
:math:`K = \sum \|C_i\|\, h_i`.

All of that holds where rows are no longer than is said of them. At samples they are. From there on, for as long,
:math:`\ddot F` is at most :math:`h |d|^2`: half-way to the next sample rows are longer by at most
:math:`|\dot F| s / 2 + h |d|^2 s^2 / 8`, and beside the way by their slope times the distance. Where that is not too
long, they never get there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...errors import NoEnclosureError
from ...functions.enclosures.box import Bend
from ...functions.enclosures.group_bounds import curved_blocks, structure
from ...functions.enclosures.interval import UNIT, Interval, lengths, rounded_up
from ...functions.frames.levers import AROUND
from ...paths.path import Piece
from ..path_check import LegPremises
from ..rows import ProblemRows, RowsOn
from ..samples import Samples
from ..slice import Slice, all_entries, norm_bound
from ..slopes import LONGEST_WAY, OF_ADJOINTS, BoundedSlopes
from .curves import Curves, curves
from .leg import LEAST_SIZE, SIZE_OF_WAY, Rooms, Way, premises, rooms_along

OF_VARIATION = 0.25
"""How far the Jacobian may be from the line between samples, preconditioned."""

FINER = (1, 2)
"""How many times as many samples are taken as that asks for: at first, and where that is not enough."""

SAMPLED_AT_ONCE = 2_000_000
"""Entries of sampled Jacobians that are held at once."""

MOST_PARTS = 32
"""Into which a leg is cut by its samples."""


class Sampled(NamedTuple):
    """Of ways at several times: errors (ways, n, m), their rates by the time, and how far C DF is from the middle's."""

    errors: Matrix
    rates: Matrix
    changes: Matrix

    def some(self, which: Any) -> Sampled:
        """Of some ways."""
        return Sampled(*(each[which] for each in self))


class Begun(NamedTuple):
    """What is known of ways from their middles and ends.

    Attributes:
        way: the ways.
        found: rows in the middles.
        at: slices there.
        held: (ways, nv) coordinates that stay.
        sizes: (blocks, ways) norms of the columns of C by block.
        rate: (ways,) K.
        curves: (blocks, ways) T and Q.
        sampled: at the start, in the middle and at the end.
        fits: (ways,) whether bounds hold there.
    """

    way: Way
    found: RowsOn
    at: Slice
    held: BoolVector
    sizes: Matrix
    rate: Vector
    curves: Curves
    sampled: Sampled
    fits: BoolVector

    def some(self, which: Indices) -> Begun:
        """Of some ways."""
        if len(which) == len(self.fits):
            return self
        found = RowsOn(self.found.value[which], self.found.jacobian[which], self.found.bend_of)
        return Begun(
            self.way.some(which), found, self.at.some(which),
            self.held[which], self.sizes[:, which], self.rate[which], Curves(*(each[:, which] for each in self.curves)),
            self.sampled.some(which), self.fits[which],
        )  # fmt: skip


@final
class Tubes:
    """What proves legs of a piece by samples.

    Args:
        rows: of the piece, whose right-hand sides stay; all are equalities.
        piece: of a path.

    Raises:
        NoEnclosureError: a constraint has no bounds here.

    Attributes:
        blocks: of the rows.
        small: rounding of samples.
    """

    def __init__(self, rows: ProblemRows, piece: Piece) -> None:
        problem, robot = piece.problem, piece.problem.robot
        if robot is None:
            raise NoEnclosureError(str(problem), "it has no robot, whose links have lengths")
        self.rows, self.space, self.moving = rows, problem.space, ~problem.frozen
        m, nv = len(rows.lower), problem.space.nv
        self._near, self._curved = piece.samples, np.zeros(nv)
        for v, _ in curved_blocks(problem.space):
            self._curved[v] = 1.0
        slopes = BoundedSlopes(rows, piece.samples)
        self.blocks, self._whole = slopes.blocks, slopes.whole
        self.small = float(2.0 ** np.ceil(np.log2(slopes.small)))  # so that samples are kept for paths nearby
        self._stop_of, self._at_stops = dict[bytes, int](), [np.zeros((0, *shape)) for shape in ((m,), (m, nv))]
        engine, q = piece.projector.engine, self.space.normalize(piece.samples[0])
        key = "samples", problem, np.concatenate(rows.points).tobytes(), engine, self.small
        self._samples: Samples = robot.kept.get(key, lambda: Samples(rows, engine, q, self.small))

    # Legs.

    def _stops(self, way: Way) -> tuple[Sequence[Matrix], Matrix]:
        """Errors (ways, m) at both ends of ways, and Jacobians (ways, 2, m, nv), each sampled once."""
        Q = np.stack([way.start, way.end], axis=1).reshape(-1, way.start.shape[1])
        keys = [q.tobytes() for q in Q]
        new = {key: i for i, key in enumerate(keys) if key not in self._stop_of}
        if new:
            # a unit quaternion is the exact one next to what is stored
            found, count = self._samples.at(self.space.normalize(Q[list(new.values())])), len(self._stop_of)
            self._at_stops = [np.concatenate(each) for each in zip(self._at_stops, found, strict=True)]
            self._stop_of.update(zip(new, range(count, count + len(new)), strict=True))
        which = np.array([self._stop_of[key] for key in keys]).reshape(-1, 2)
        E, J = self._at_stops
        return [E[ends] for ends in which.T], J[which]

    def begun(self, way: Way, held: BoolVector) -> Begun | None:
        """What is known of ways; None where rows depend on each other.

        Args:
            way: the ways.
            held: (ways, nv) coordinates that stay on the way.
        """
        fits = (np.abs(way.middle) <= np.abs(self._near).max(axis=0) + 0.5 * AROUND).all(axis=1)
        fits &= ~((way.d != 0.0) | (way.off != 0.0))[:, ~self.moving].any(axis=1)
        E, J = self._samples.at(way.middle)
        middle = Interval.around(J, self.small)
        found = RowsOn(Interval.around(E, self.small), middle, lambda: Bend(middle, middle))
        at = Slice.of(found, np.arange(len(self.rows.lower)), held)
        if len(at.dependent):
            return None
        sizes = np.array([norm_bound(at.preconditioner[..., block.rows]) for block in self.blocks])
        rate = np.array([block.bend for block in self.blocks]) @ sizes
        (E0, E1), ends = self._stops(way)
        p, changes = self._along(way, np.array([-1.0, 1.0]), ends, J, at.preconditioner)
        rates = np.stack([p[:, 0], (J @ way.d[..., None])[..., 0], p[:, 1]], axis=1)
        sampled = Sampled(np.stack([E0, E, E1], axis=1), rates, changes)
        length, curved, each = lengths(way.d), lengths(self._curved * way.d), list[Curves]()
        for block in self.blocks:
            speed = lengths(rates[:, 1, block.rows]) + J.shape[-1] * self.small + block.bend * length**2
            each.append(curves(block, block.along(np.abs(way.d)), curved, speed))
        both = Curves(*(np.array(x) for x in zip(*each, strict=True)))
        return Begun(way, found, at, held, sizes, rate, both, sampled, fits & (length < LONGEST_WAY))

    def legs(
        self, begun: Begun, some: Indices, finer: int
    ) -> Iterator[tuple[Indices, Way, LegPremises, Rooms, BoolVector]]:
        """Of some of the ways: their numbers; they, with balls of a size; premises; room; and which hold so far.

        Args:
            begun: what is known of the ways.
            some: numbers of ways.
            finer: of `FINER`.
        """
        bend = (begun.sizes * begun.curves.bend).sum(axis=0)
        parts = finer * 2.0 ** np.ceil(np.log2(np.maximum(np.sqrt(0.5 * bend / OF_VARIATION), 2.0)))
        some = some[parts[some] <= MOST_PARTS]
        for k in np.unique(parts[some]).astype(int).tolist():
            every = some[parts[some] == k]
            count = max(int(SAMPLED_AT_ONCE // ((k + 1) * begun.found.jacobian.middle[0].size)), 1)
            for which in (every[j : j + count] for j in range(0, len(every), count)):
                yield which, *self._of_parts(k, begun.some(which))

    def _of_parts(self, k: int, begun: Begun) -> tuple[Way, LegPremises, Rooms, BoolVector]:
        """Of ways that are cut into k parts."""
        way, found, at, held, sizes, rate, (bend, bow), sampled, _ = begun
        E, p, changes = self._between(k, way, found, at, sampled)
        C, off, length, step = at.preconditioner, lengths(way.off), np.asarray(rounded_up(lengths(way.d))), 2.0 / k
        slope, n, nv = np.array([block.slope for block in self.blocks]) @ sizes, E.shape[2], way.d.shape[1]
        rest = all_entries(C) * (2.0 * self.small + 8.0 * UNIT * n * (1.0 + self._whole)) * np.sqrt(n * nv)
        rest += 0.2 * (OF_ADJOINTS * lengths(self._curved * way.d)) ** 2 * slope + 2.0 * (rate + slope) * off
        rest += 0.125 * step**2 * (sizes * bend).sum(axis=0)
        variation = changes.max(axis=1) + rest
        largest = np.maximum(SIZE_OF_WAY * length, LEAST_SIZE)
        way = way._replace(size=np.minimum(0.5 * np.maximum(1.0 - variation, 0.0) / rate, largest))
        variation = rounded_up(variation + rate * way.size)
        small = np.sqrt(n * nv) * self.small
        turned = np.abs(np.diff(p, axis=1)).max(axis=1) + 2.0 * small
        far, stays = np.empty(E[:, 0].shape), length + off + way.size < LONGEST_WAY
        whole = E + self.rows.lower  # logarithms may be to be another number than zero
        for block, most in zip(self.blocks, bow, strict=True):
            longest, fastest = (lengths(x[..., block.rows]).max(axis=1) + small for x in (whole, p))
            aside = (2.0 * block.slope + block.bend * length) * off
            between = 0.5 * step * fastest + 0.125 * block.bend * (step * length) ** 2
            stays &= rounded_up(longest + between + block.slope * way.size + aside) < block.farthest
            far[:, block.rows] = (step**3 / 96.0 * most + aside + self.small)[:, None]
        residual = Interval(E.min(axis=1), E.max(axis=1)).widened(rounded_up(far + 0.125 * step * turned))
        ends, near = E[:, [0, -1]], 2.0 * np.sqrt(nv) * self.small
        at_stops = np.stack([ends - 2.0 * self.small, ends + 2.0 * self.small], axis=2)
        M = Interval.around(found.jacobian.middle @ at.basis, near)
        pull = all_entries(C @ found.jacobian.middle) + variation + rest
        none, still = np.zeros(n, dtype=np.bool_), Interval.of(np.zeros(far.shape))
        rooms = rooms_along(way, self.rows, found, none, held, still)
        return way, premises(way, at, residual, M, variation, pull, at_stops, rooms), rooms, stays

    def _along(self, way: Way, times: Vector, slopes: Matrix, middle: Matrix, C: Matrix) -> tuple[Matrix, Matrix]:
        """Rates and changes, as of `Sampled`, of Jacobians (ways, n, m, nv) along motions of bodies, overwritten."""
        rates = (slopes @ way.d[:, None, :, None])[..., 0]
        for block, _ in curved_blocks(self.space):
            ad = np.einsum("ilk,nl->nik", structure(self.space)[block, block, block], way.d[:, block])
            slopes[..., block] -= 0.5 * times[:, None, None] * (slopes[..., block] @ ad[:, None])
        slopes -= middle[:, None]
        return rates, all_entries(C[:, None] @ slopes)

    def _between(self, k: int, way: Way, found: RowsOn, at: Slice, known: Sampled) -> Sampled:
        """At k + 1 equal times of ways, in order."""
        if k == 2:
            return known
        times, others = np.linspace(-1.0, 1.0, k + 1), np.delete(np.arange(k + 1), [0, k // 2, k])
        v = times[others, None] * way.d[:, None]
        Q = self.space.integrate(np.repeat(way.middle, k - 2, axis=0), v.reshape(-1, self.space.nv))
        E, J = (each.reshape(len(v), k - 2, *each.shape[1:]) for each in self._samples.at(Q))
        p, changes = self._along(way, times[others], J, found.jacobian.middle, at.preconditioner)
        order = np.argsort(np.concatenate([others, [0, k // 2, k]]))
        errors, rates = (np.concatenate(each, axis=1)[:, order] for each in ((E, known.errors), (p, known.rates)))
        return Sampled(errors, rates, np.concatenate([changes, known.changes], axis=1))

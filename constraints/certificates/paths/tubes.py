r"""Legs that are proved by samples of the Jacobian, and bounds of its slope that hold along a whole piece.

By `certificates.slopes`, DF changes by at most h |x| with v, and C DF by K |x|, :math:`K = \sum \|C_i\|\, h_i` over the
constraints. DF is computed at k + 1 equal times of the straight way, k even: what is on it is no farther than
:math:`|d| / k` from one of these places, and F is within :math:`h\,(2 |d| / k)^2 / 8` of the line between two of its
values. From a place to what is near it, e grows by at most its slope times the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, final

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
from .leg import LEAST_SIZE, SIZE_OF_WAY, Rooms, Way, premises, rooms_along

OF_VARIATION = (0.25, 0.12)
"""What the Jacobian may change by between samples, preconditioned: at first, and where that is not enough."""

GROUPS = (0.5, 0.9, 1.0)
"""Of legs, from those with the fewest parts on, that have as many parts as the last of them."""

SAMPLED_AT_ONCE = 2_000_000
"""Entries of sampled Jacobians that are held at once."""

MOST_PARTS = 60
"""Into which a leg is cut by its samples."""


class Begun(NamedTuple):
    """What is known of ways from their middles and ends.

    Attributes:
        way: the ways.
        found: rows in the middles.
        at: slices there.
        held: (ways, nv) coordinates that stay.
        sizes: (blocks, ways) norms of the columns of C by block.
        rate: (ways,) K.
        stops: errors and Jacobians at both ends.
        fits: (ways,) whether bounds hold there.
    """

    way: Way
    found: RowsOn
    at: Slice
    held: BoolVector
    sizes: Matrix
    rate: Vector
    stops: Sequence[tuple[Matrix, Matrix]]
    fits: BoolVector


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
        self._near, self._curved = piece.samples, bool(curved_blocks(problem.space))
        slopes = BoundedSlopes(rows, piece.samples)
        self.blocks, self.small, self._whole = slopes.blocks, slopes.small, slopes.whole
        self._at_stops = dict[bytes, tuple[Vector, Matrix]]()
        engine, q = piece.projector.engine, piece.samples[0]
        key = "samples", problem, np.concatenate(rows.points).tobytes(), engine, self.small
        self._samples: Samples = robot.kept.get(key, lambda: Samples(rows, engine, q, self.small))

    # Legs.

    def _stops(self, Q: Matrix) -> tuple[Matrix, Matrix]:
        """Errors and Jacobians at stops, each sampled once."""
        keys = [q.tobytes() for q in Q]
        new = [i for i, key in enumerate(keys) if key not in self._at_stops]
        if new:
            found = zip(*self._samples.at(Q[new]), strict=True)
            self._at_stops.update(zip((keys[i] for i in new), found, strict=True))
        each = [self._at_stops[key] for key in keys]
        return np.array([E for E, _ in each]), np.array([J for _, J in each])

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
        stops = self._stops(way.start), self._stops(way.end)
        return Begun(way, found, at, held, sizes, rate, stops, fits & (lengths(way.d) < LONGEST_WAY))

    def legs(
        self, begun: Begun, some: Indices, change: float
    ) -> Iterator[tuple[Indices, Way, LegPremises, Rooms, BoolVector]]:
        """Of some of the ways: their numbers; they, with balls of a size; premises; room; and which hold so far.

        Args:
            begun: what is known of the ways.
            some: numbers of ways.
            change: of the Jacobian between two samples.
        """
        parts = 2.0 * np.maximum(np.ceil(begun.rate * lengths(begun.way.d) / (2.0 * change)), 1.0)
        some = some[parts[some] <= MOST_PARTS]
        each = np.unique(np.quantile(parts[some], GROUPS, method="higher")) if len(some) else parts[some]
        group = np.asarray(np.searchsorted(each, parts[some]), dtype=np.intp)
        for i, k in enumerate(each.astype(int).tolist()):
            every = some[group == i]
            count = max(int(SAMPLED_AT_ONCE // ((k + 1) * begun.stops[0][1][0].size)), 1)
            for which in (every[j : j + count] for j in range(0, len(every), count)):
                yield which, *self._of_parts(k, which, begun)

    def _of_parts(self, k: int, which: Indices, begun: Begun) -> tuple[Way, LegPremises, Rooms, BoolVector]:
        """Of ways that are cut into k parts."""
        way, at = begun.way.some(which), Slice(*begun.at[:2], *(each[which] for each in begun.at[2:]))
        found = RowsOn(begun.found.value[which], begun.found.jacobian[which], begun.found.bend_of)
        E, J = self._along(k, which, way, found, begun.stops)
        C, off, length = at.preconditioner, lengths(way.off), np.asarray(rounded_up(lengths(way.d)))
        slope, rate = np.array([block.slope for block in self.blocks]) @ begun.sizes[:, which], begun.rate[which]
        gap, n, nv = rounded_up(length / k + 2.0 * off), *J.shape[2:]
        rest = all_entries(C) * (2.0 * self.small + 4.0 * UNIT * n * (1.0 + self._whole)) * np.sqrt(n * nv)
        rest += 0.2 * (OF_ADJOINTS * length) ** 2 * self._curved * slope
        variation = all_entries(C[:, None] @ (J - found.jacobian.middle[:, None])).max(axis=1) + rate * gap + rest
        largest = np.maximum(SIZE_OF_WAY * length, LEAST_SIZE)
        way = way._replace(size=np.minimum(0.5 * np.maximum(1.0 - variation, 0.0) / rate, largest))
        variation, tube = rounded_up(variation + rate * way.size), gap + way.size
        bow, stays = np.empty((len(which), n)), length + off + way.size < LONGEST_WAY
        for block in self.blocks:
            farthest = lengths(E[..., block.rows]).max(axis=1) + block.slope * tube + np.sqrt(n) * self.small
            stays &= farthest < block.farthest
            bow[:, block.rows] = (0.5 * block.bend * gap**2 + 2.0 * block.slope * off + self.small)[:, None]
        residual = Interval(E.min(axis=1), E.max(axis=1)).widened(rounded_up(bow))
        ends, near = E[:, [0, -1]], 2.0 * np.sqrt(nv) * self.small
        at_stops = np.stack([ends - 2.0 * self.small, ends + 2.0 * self.small], axis=2)
        M = Interval.around(found.jacobian.middle @ at.basis, near)
        pull = all_entries(C @ found.jacobian.middle) + variation + rest
        none, still = np.zeros(n, dtype=np.bool_), Interval.of(np.zeros(bow.shape))
        rooms = rooms_along(way, self.rows, found, none, begun.held[which], still)
        return way, premises(way, at, residual, M, variation, pull, at_stops, rooms), rooms, stays

    def _along(
        self, k: int, which: Indices, way: Way, found: RowsOn, stops: Sequence[tuple[Matrix, Matrix]]
    ) -> tuple[Matrix, Matrix]:
        """Errors (ways, k + 1, m) and Jacobians by v at equal times on ways."""
        times, count = np.linspace(-1.0, 1.0, k + 1), len(which)
        half = k // 2
        v = np.delete(times, [0, half, k])[:, None] * way.d[:, None]
        Q = self.space.integrate(np.repeat(way.middle, k - 2, axis=0), v.reshape(-1, self.space.nv))
        middles = found.value.middle, found.jacobian.middle
        E, J = (np.empty((count, k + 1, *each.shape[1:])) for each in middles)
        for all_of, each, middle, ends in zip(
            (E, J), self._samples.at(Q), middles, zip(*stops, strict=True), strict=True
        ):
            halves = each.reshape(count, 2, half - 1, *each.shape[1:])
            all_of[:, 1:half], all_of[:, half], all_of[:, half + 1 : k] = halves[:, 0], middle, halves[:, 1]
            all_of[:, 0], all_of[:, k] = (end[which] for end in ends)
        for block, _ in curved_blocks(self.space):
            ad = np.einsum("ilk,nl->nik", structure(self.space)[block, block, block], way.d[:, block])
            J[..., block] -= 0.5 * times[:, None, None] * (J[..., block] @ ad[:, None])
        return E, J

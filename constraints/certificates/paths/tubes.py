r"""Legs that are proved by samples of the Jacobian, and bounds of its slope that hold along a whole piece.

**Slopes.** Let :math:`F(v) = \log(r^{-1} h(m \oplus v))` be rows of a constraint, :math:`J_g` the Jacobian of h along
motions of bodies and H its derivative (`functions.frames.levers`). With :math:`e = F(v)`, and
:math:`x' = J_{\exp}(v)\, x`,

.. math:: DF\,u = J_{\log}(e)\, J_g\, u', \qquad D^2F(x, u) = \tfrac12 (H(x', u') + H(u', x')) + \text{rest}

since :math:`\tfrac12 \mathrm{ad}_{J_g x} J_g u + H(x, u) - \tfrac12 J_g\, \mathrm{ad}_x u` is the half of H(x, u) +
H(u, x), by the equation of Maurer and Cartan, :math:`H(x, u) - H(u, x) = J_g [x, u] - [J_g x, J_g u]`. With
:math:`\Gamma \ge \|J_{\log} - 1\|` and :math:`\gamma' - \tfrac12`, as in `enclosures.maps` for
:math:`a \ge \|\mathrm{ad}_e\|`, with :math:`E \ge \|J_{\exp}(v) - 1\|`, :math:`b \ge \|\mathrm{ad}_v\|` and
:math:`A \ge \|\mathrm{ad}_x\|`, x of length 1, the rest is at most

.. math:: (1 + E)^2 \left(\Gamma\, |H| + A \left( (\gamma' - \tfrac12)(1 + \Gamma) + \tfrac12 \Gamma \right) |J_g|^2
    \right) + A\, |J_g| \left( \Gamma (\tfrac12 + \tfrac25 b) + \tfrac25 b + E + \tfrac12 E^2 \right)

where :math:`\|DJ_{\exp}(v)[x] + \tfrac12 \mathrm{ad}_x\| \le A \sum_{n \ge 2} n\,b^{n-1} / (n+1)! \le \tfrac25 A b`
for b up to 1/5; the last term is that of bodies that turn, the others are those of logarithms. All of it holds as
long as e and v are no longer than is said of them here. A tilt is a function of a direction d of length 1
(`hinges.enclosing`), which moves across itself: its second derivative along d' and d'' is at most
:math:`(2 |k'| \sin\varphi + |k''| \sin^3\varphi)\, |d'| |d''|`, at a tilt of :math:`\varphi`.

**Legs.** So DF changes by at most h |x| with v, and C DF by K |x|, :math:`K = \sum \|C_i\|\, h_i` over the constraints.
DF is computed at k + 1 equal times of the straight way, k even: what is on it is no farther than :math:`|d| / k` from
one of these places, and F is within :math:`h\,(2 |d| / k)^2 / 8` of the line between two of its values. From a place to
what is near it, e grows by at most its slope times the way.

**Rounding.** Samples come from kernels in doubles. A frame is a product of placements, sines and cosines along a chain,
each entry with fewer than 1,000 roundings of numbers that are at most 1, or at most L, the sum of all lengths, for each
of fewer than 100 joints; a column of the Jacobian is a cross product of two such, a centre of mass a mean of them, and
logarithms of what is nearer than 1 to the identity, and their Jacobians, are within 1,000 more. `OF_SAMPLES` is ten
times all that, of 1 + L. That kernels and enclosures speak of the same rows is looked at once for each problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import SE3
from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...errors import NoEnclosureError
from ...functions import CenterOfMass, Orientation, Pose, Position, Rotation, Transformation
from ...functions.enclosures.box import Bend
from ...functions.enclosures.group_bounds import curved_blocks, structure
from ...functions.enclosures.interval import UNIT, Interval, lengths, rounded_up
from ...functions.enclosures.smooth import tilt
from ...functions.frames.levers import AROUND, Levers, Norms
from ...paths.path import Piece
from ...robot import Frame
from ...rows.row_owner import RowOwner
from ..path_check import LegPremises
from ..rows import ProblemRows, RowsOn
from ..slice import Slice, all_entries, norm_bound
from .leg import LEAST_SIZE, SIZE_OF_WAY, Rooms, Way, premises, rooms_along
from .samples import Samples

OF_SAMPLES = 1e6 * UNIT
"""Rounding of sampled rows and Jacobians, relative to 1 + the lengths of the robot."""

TUBE = 0.012
"""Of rows with a logarithm: how far motions may be, of their slope, that lead to where they are [rad, m]."""

MOST_TURNED = 1.0
"""The same at most."""

LONGEST_WAY = 0.07
"""From the middle of a leg to its end [rad, m]."""

FARTHEST_TILT = 0.2
"""Of an axis from where it should be [rad]."""

OF_ADJOINTS = 2.0**0.5
"""At least the norm of the adjoint of a motion of length 1."""

OF_VARIATION = (0.25, 0.12)
"""What the Jacobian may change by between samples, preconditioned: at first, and where that is not enough."""

GROUPS = (0.5, 0.9, 1.0)
"""Of legs, from those with the fewest parts on, that have as many parts as the last of them."""

SAMPLED_AT_ONCE = 2_000_000
"""Entries of sampled Jacobians that are held at once."""

MOST_PARTS = 60
"""Into which a leg is cut by its samples."""


class SlopedRows(NamedTuple):
    """Rows of one constraint.

    Attributes:
        rows: where they are among all.
        slope, bend: bounds of their first and second derivative by v, on a tube.
        farthest: how large the rows may be there.
        tilted: whether they are the tilt of an axis.
    """

    rows: slice
    slope: float
    bend: float
    farthest: float = np.inf


def _bounds(norms: Norms, farthest: float, curved: bool) -> tuple[float, float]:
    """Bounds of the first and second derivative of F, where e is no longer than `farthest`; see the head of this file.

    Of vectors, which are their own logarithm, `farthest` is 0.
    """
    j, H, even = norms
    a, b = OF_ADJOINTS * farthest, OF_ADJOINTS * LONGEST_WAY * curved
    gamma, more, E = 0.5 * a + a * a / 11.0, a / 5.0, 0.5 * b + 0.2 * b * b
    by_e = gamma * H + OF_ADJOINTS * (more * (1.0 + gamma) + 0.5 * gamma) * j * j
    by_v = OF_ADJOINTS * j * (gamma * (0.5 + 0.4 * b) + 0.4 * b + E + 0.5 * E * E) * curved
    return (1.0 + gamma) * (1.0 + E) * j, (1.0 + E) ** 2 * (even + by_e) + by_v


def _of_tilt(slope: float, bend: float) -> tuple[float, float]:
    """The same of the tilt of a direction with these."""
    sine = np.sin(FARTHEST_TILT)
    k, k1, k2 = (float(each.magnitude) for each in tilt(Interval(np.cos(FARTHEST_TILT), np.ones(()))))
    first, second = k + k1 * sine, 2.0 * k1 * sine + k2 * sine**3
    return first * slope, first * bend + second * slope**2


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
        self.blocks, self._near, self._curved = list[SlopedRows](), piece.samples, bool(curved_blocks(problem.space))
        self._whole, self._at_stops = 0.0, dict[bytes, tuple[Vector, Matrix]]()
        for each in zip(rows.owners, rows.points, rows.axes, strict=True):
            self._add(*each)
        self.small = OF_SAMPLES * (1.0 + self._whole)
        engine, q = piece.projector.engine, piece.samples[0]
        key = "samples", problem, np.concatenate(rows.points).tobytes(), engine, self.small
        self._samples: Samples = robot.kept.get(key, lambda: Samples(rows, engine, q, self.small))

    # Constraints.

    def _add(self, owner: RowOwner, point: Vector, axis: int | None) -> None:
        """The rows of one constraint."""
        f: Any = owner.measured
        kind, mask = type(owner.measured), owner.rows.mask
        if kind is CenterOfMass:
            frames, shares = f.centers
            self._block(mask, *_bounds(self._levers(f, frames).place(shares), 0.0, self._curved))
            return
        if kind not in (Orientation, Pose, Position, Rotation, Transformation):
            raise NoEnclosureError(owner.name, "its slope is not bounded by lengths")
        levers, whole_pose = self._levers(f, [f.frame_b]), kind is Pose and f.outputs == SE3
        flat = 0 if whole_pose or kind in (Orientation, Rotation) else 3
        places, turns = mask[:flat], mask[flat:]
        if places.any():
            self._block(places, *_bounds(levers.place(np.ones(1)), 0.0, self._curved))
        if axis is not None:
            slope, bend = _of_tilt(*_bounds(levers.direction, 0.0, self._curved))
            self._block(turns, slope, bend, float(np.sin(FARTHEST_TILT)))
        elif turns.any():
            if not turns.all() or (kind in (Orientation, Transformation) and point[flat:].any()):
                raise NoEnclosureError(owner.name, "its rows do not say that its rotation is near the target")
            norms = levers.carried.beside(levers.turn) if whole_pose else levers.turn
            farthest = min(TUBE * norms.slope, MOST_TURNED)
            self._block(turns, *_bounds(norms, farthest, self._curved), farthest)

    def _block(self, mask: BoolVector, slope: float, bend: float, farthest: float = np.inf) -> None:
        first = self.blocks[-1].rows.stop if self.blocks else 0
        self.blocks.append(SlopedRows(slice(first, first + int(mask.sum())), slope, bend, farthest))

    def _levers(self, f: Any, frames: Sequence[Frame]) -> Levers:
        found = Levers.between(f.robot, f.frame_a, frames, self._near, self.moving)
        self._whole = max(self._whole, found.whole)
        return found

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

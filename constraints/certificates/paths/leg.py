"""Legs of a path: the boxes around straight ways, and the premises of their check."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from liegroups import SE2, SO2, Space
from liegroups.arrays import BoolVector, Matrix, Vector

from ...functions.enclosures.box import Bend, TangentBox
from ...functions.enclosures.group_bounds import OF_MAPS, curved_blocks, exp_jacobian_bound, log_jacobian_bound, walked
from ...functions.enclosures.interval import Interval, applied, lengths, rounded_up
from ..check import Premises
from ..path_check import LegPremises
from ..rows import ProblemRows, RowsOn
from ..slice import Place, Slice, norm_bound, rounded_down

SIZE_OF_WAY = 0.3
"""Of the ball around a way, as a part of half its length."""

LEAST_SIZE = 1e-5
"""Of that ball [rad, m]."""


class Way(NamedTuple):
    r"""Straight ways :math:`m \oplus v(\tau)`, :math:`v = \tau d` within `off`, and balls around all their points.

    Attributes:
        space: of the configurations.
        start, end: (ways, nq) where they lead from and to.
        middle: m (ways, nq).
        d: (ways, nv) from the middle to the end.
        off: (ways, nv) how far the exact way may be from it, by rounding: none where a coordinate of a vector stays.
        moving: (nv,) coordinates that w may have.
        size: (ways,) of the balls, the length of w.
    """

    space: Space
    start: Vector
    end: Vector
    middle: Vector
    d: Vector
    off: Vector
    moving: BoolVector
    size: Vector

    @staticmethod
    def between(space: Space, start: Matrix, end: Matrix, frozen: BoolVector, size: Vector) -> Way:
        """From configurations to others."""
        d = 0.5 * space.difference(start, end)
        middle = space.integrate(start, d)
        off = 8.0 * OF_MAPS * (1.0 + np.abs(d) + np.abs(middle).max(axis=-1, keepdims=True, initial=0.0))
        a, b = start[:, space.vector_q], end[:, space.vector_q]
        off[:, space.vector_v] = np.where(a == b, 0.0, 4.0 * np.spacing(np.abs(a) + np.abs(b)))
        return Way(space, start, end, middle, d, off, ~frozen, size)

    def some(self, which: Any) -> Way:
        """Of some of them."""
        names = "start", "end", "middle", "d", "off", "size"
        return self._replace(**{name: getattr(self, name)[which] for name in names})

    @property
    def box(self) -> TangentBox:
        """All of each."""
        ball = np.asarray(self.size[:, None] * self.moving, dtype=np.float64)
        return TangentBox(self.space, self.middle, rounded_up(np.abs(self.d) + self.off + ball), ball)

    def stretch(self) -> Vector:
        r"""How much longer w may be in the chart of a leg that it meets, and in the space than in a chart.

        w of one chart is :math:`(1 + E) w` as a motion of the body, and at most :math:`(1 + L)` of that in another,
        with the bounds of the Jacobians of exponential and logarithm.
        """
        r, found = self.box.r, np.ones((2, len(self.d)))
        for leaf in self.space.leaves():
            if curved_blocks(leaf.space):
                own = r[:, leaf.v]
                bounds = np.stack([exp_jacobian_bound(leaf.space, own), log_jacobian_bound(leaf.space, own)])
                found = np.maximum(found, norm_bound(np.eye(leaf.space.nv) + bounds))
        return np.asarray(rounded_up(found[0] * found[1]))


class Rooms(NamedTuple):
    """Room along ways, at w = 0, and how fast it may shrink with the length of w; (ways, places) of each."""

    margins: Matrix
    rates: Matrix
    places: tuple[Place, ...]

    def short(self, far: Any) -> Any:
        """(ways, places) what may be missed where w is as long as this."""
        return self.margins < 1.001 * self.rates * np.reshape(np.minimum(far, 1e300), (-1, 1))


def legs_of(
    way: Way, found: RowsOn, at: Slice, target: Vector, moved: Interval, ends: Matrix, rooms: Rooms
) -> LegPremises:
    r"""The premises of legs, with a leading axis.

    .. math:: G(\tau, 0) = G(m) + \tau\, (J_0 d - u) + \tfrac{\tau^2}{2}\, H(d, d)

    with :math:`J(v) \in J_0 + H v` on the box, u the motion of the targets, and what `off` changes.

    Args:
        way: the ways.
        found: the rows on their boxes.
        at: slices at the middles.
        target: what each row should be in the middle.
        moved: u (ways, m), what the target of each row moves by from the middle to the end.
        ends: (ways, 2, 2, m) all rows at the start and at the end, lower and upper ends of each.
        rooms: room along them.
    """
    which = at.chosen
    (J, H), d = found.bend.rows(which), way.d
    along = (H @ d[:, None, :, None])[..., 0]  # H(d, .)
    half = 0.5 * along.applied(d)
    bow = Interval(np.minimum(half.lower, 0.0), np.maximum(half.upper, 0.0))
    drift = (J.applied(d) - moved[:, which]).magnitude + applied(found.jacobian[:, which].magnitude, way.off)
    residual = ((found.value[:, which] - target[which]) + bow).widened(rounded_up(drift))
    on = way.moving.astype(np.float64)
    variation = at.stretch_of(along * on) + at.bend(found, way.moving) * (way.size + lengths(way.off))
    M, pull = J @ at.basis, at.stretch_of(J * on) + variation
    off = Interval(ends[:, :, 0, which], ends[:, :, 1, which]) - target[which]
    at_stops = np.stack([off.lower, off.upper], axis=2)
    return premises(way, at, residual, M, variation, pull, at_stops, rooms)


def premises(
    way: Way,
    at: Slice,
    residual: Interval,
    M: Interval,
    variation: Vector,
    pull: Vector,
    at_stops: Matrix,
    rooms: Rooms,
) -> LegPremises:
    """Of legs, from their parts: as of `LegPremises` and `Premises`."""
    count, n = residual.shape
    row, rates = np.zeros((count, 1, n)), np.zeros((*rooms.rates.shape, n))
    row[..., :1], rates[..., :1] = way.stretch()[:, None, None], rooms.rates[..., None]
    numbers = Premises(
        at.preconditioner, residual.lower, residual.upper, M.lower, M.upper, rounded_up(variation), way.size,
        np.zeros((count, 1)), row, rooms.margins, rates,
    )  # fmt: skip
    return LegPremises(numbers, rounded_up(pull), at_stops, False, np.stack([way.start, way.end], axis=1))


def rooms_along(
    way: Way, rows: ProblemRows, found: RowsOn, active: BoolVector, held: BoolVector, moved: Interval
) -> Rooms:
    """Of all bounds, and of the inequalities that are not held at an end.

    Args:
        way: the ways.
        rows, found: of the problem, and on their boxes.
        active: (m,) rows that are held at an end.
        held: (ways, nv) coordinates that stay on the way.
        moved: as of `legs_of`.
    """
    space, bounds = way.space, rows.problem.bounds
    bounded = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
    room = np.minimum(*(_within(q, bounds.lower, bounds.upper) for q in (way.start, way.end)))
    at = np.flatnonzero(bounded[space.vector_q])
    margins, rates = [room[:, space.vector_q[at]]], [np.where(held[:, space.vector_v[at]], 0.0, 1.0)]
    places = [Place("coordinate", int(i)) for i in at]
    plain = np.isin(np.arange(space.nq), space.vector_q)
    for leaf in space.leaves():
        entries = [i for i in range(leaf.q.start, leaf.q.stop) if bounded[i] and not plain[i]]
        if entries:  # of the origin of a body: it stays as near to the middle as its way is long
            d = way.d[:, leaf.v]
            stray = rounded_up((1.0 + np.abs(d).sum(axis=-1)) * lengths(d + way.off[:, leaf.v]))[:, None]
            margins.append(_within(way.middle, bounds.lower, bounds.upper)[:, entries] - stray)
            rates.append(np.repeat(way.stretch()[:, None], len(entries), axis=-1))
            places += [Place("body", i) for i in entries]
    free = np.flatnonzero(~rows.equalities & ~active)
    value, J = found.value[:, free], found.jacobian[:, free]
    drift = rounded_up((J.applied(way.d) - moved[:, free]).magnitude + applied(J.magnitude, way.off))
    inside = np.minimum(value.lower - rows.lower[free], rows.upper[free] - value.upper) - drift
    return Rooms(
        np.concatenate([*margins, rounded_down(inside)], axis=-1),
        np.concatenate([*rates, rounded_up(lengths(J.magnitude * way.moving))], axis=-1),
        (*places, *(Place("row", int(i)) for i in free)),
    )


def _within(q: Vector, lower: Vector, upper: Vector) -> Vector:
    return np.minimum(rounded_down(q - lower), rounded_down(upper - q))


OF_TARGETS = 64.0 * OF_MAPS
"""Rounding of a target that moves on its group, relative to 1 + its size: an interpolation, and a product."""

FARTHEST_TURN = 3.0
"""A target that turns farther [rad] is told from one that goes the other way round only by rounding."""


class Turning(NamedTuple):
    r"""Rows of a constraint whose target moves on its group, :math:`r(\tau) = r_m \exp(\tau e)`: all of its rows.

    With y the logarithm seen from :math:`r_m`, and G that seen from :math:`r(\tau)`,

    .. math:: G = \log(\exp(-\tau e) \exp y), \qquad
        \partial_y G = J_{\log}(G)\, J_{\exp}(y) = 1 + \Delta, \qquad \partial_\tau G = -(1 + \Delta')\, e

    where :math:`\Delta` and :math:`\Delta'` are within the bounds of these Jacobians, of y on the box, and of G, which
    is no farther than where motions of :math:`|e|` and then :math:`|y|` lead. So it is as in a vector, with the
    Jacobian and the motion of the target wider by this. Both vanish with the leg. Legs are a leading axis.

    Attributes:
        at: the rows.
        group: of the target.
        small: how far rows may be off by rounding of the target.
    """

    at: slice
    group: Space
    small: float

    @staticmethod
    def between(at: slice, group: Space, a: Vector, b: Vector) -> Turning | None:
        """Of a target that moves from a to b; None where it turns too far."""
        way, far = group.difference(a, b), 0.0
        for leaf in group.leaves():
            turns = 0 if leaf.space.is_flat else 1 if leaf.space.atoms in (SO2.atoms, SE2.atoms) else 3
            far = max(far, float(lengths(way[leaf.v][leaf.space.nv - turns :])) if turns else 0.0)
        size = float(max(np.abs(a).max(), np.abs(b).max()))
        return Turning(at, group, OF_TARGETS * (1.0 + size)) if far < FARTHEST_TURN else None

    def ahead(self, a: Vector, b: Vector) -> Interval:
        """e, of a leg on which the target moves from a to b."""
        return Interval.of(0.5 * self.group.difference(a, b)).widened(self.small)

    def rounded(self, value: Interval) -> Interval:
        """Values of all rows, with the rounding of this target."""
        return self._with(value, value[..., self.at].widened(self.small))

    def _with(self, all_rows: Interval, own: Interval) -> Interval:
        return all_rows[..., None].with_rows(self.at, own[..., None])[..., 0]

    def seen(self, found: RowsOn, moved: Interval, box: TangentBox) -> tuple[RowsOn, Interval]:
        """G on a box, and what stands for the motion of the target.

        Args:
            found: rows on the box, seen from the target in the middle.
            moved: e of these rows, of a leg.
            box: around the leg.

        Raises:
            UndefinedError: they may be too far from the target.
        """
        at, group = self.at, self.group
        e, J = moved[..., at].magnitude, found.jacobian[..., at, :]
        y = rounded_up(found.value[..., at].magnitude + box.moved(J.magnitude))
        log = log_jacobian_bound(group, walked(group, rounded_up(e + y)))
        bound = rounded_up(log + (np.eye(group.nv) + log) @ exp_jacobian_bound(group, y))
        off = rounded_up(bound @ J.magnitude)

        def bend() -> Bend:
            straight = found.bend.straight
            return Bend(straight.with_rows(at, straight[..., at, :].widened(off)), found.bend.slopes)

        wide = RowsOn(self.rounded(found.value), found.jacobian.with_rows(at, J.widened(off)), bend)
        return wide, self._with(moved, moved[..., at].widened(rounded_up(applied(log, e))))

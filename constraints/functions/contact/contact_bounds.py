r"""Enclosures of contacts of convex polygons on a box of configurations.

The pose of the object's surface seen from the floor's is enclosed as that of any frame; here are bounds of what
`contact_rows` makes of it.

**The nearest point.** The projection :math:`\Pi` on a convex polygon has the derivative 1 inside, :math:`t t^T` beside
an edge of direction t, and 0 beyond a corner. Where a box touches several of these regions, the derivative is meant as
any matrix of their convex hull: by the mean value theorem of maps that are Lipschitz (Clarke, Optimization and
Nonsmooth Analysis, 2.6.5) that encloses differences of values as well. Vertices that are on a line but for rounding
are meant as those of the convex polygon next to them.

**Swing.** :math:`g = \theta/\sin\theta` and :math:`-dg/dn_x` grow with the tilt (`enclosures.smooth.tilt`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liegroups import Rn, Space
from liegroups.arrays import BoolVector, Vector

from ...errors import UndefinedError
from ..enclosures.box import Enclosure, TangentBox
from ..enclosures.interval import UNIT, Interval, rounded_up
from ..enclosures.smooth import tilt
from ..frames.chain_bounds import Seen, seen
from ..frames.frame_function import FrameFunction
from .contact_rows import swing
from .contact_surface import Surface

OF_SIDES = 1e-12
"""Which side of an edge a point is on is not told nearer than this, in parts of the lengths around."""


class NearestOnBox(NamedTuple):
    """Where the middle of an object's surface may be, seen from the polygon of a floor.

    Attributes:
        slopes: of the nearest point (2, 2).
        point: the nearest point of the middle at the centre of the box (2,) [m].
        small: how far it may be from there by rounding [m].
        is_inside: the middle is in the polygon on all of the box.
    """

    slopes: Interval
    point: Vector
    small: float
    is_inside: bool

    @staticmethod
    def of(floor: Surface, p: Vector, near: float, moved: Vector) -> NearestOnBox:
        """Of a middle.

        Args:
            floor: with the polygon.
            p: (y, z) at the centre of the box [m].
            near: its rounding [m].
            moved: how far it is from there on the box (2,) [m].
        """
        polygon = floor.polygon
        t = np.roll(polygon, -1, axis=0) - polygon
        length = np.sqrt((t * t).sum(axis=1))
        t /= length[:, None]
        off = OF_SIDES * (1.0 + float(np.abs(polygon).max() + np.abs(p).max()))
        small = near + 64.0 * UNIT * (1.0 + float(np.abs(polygon).max() + np.abs(p).max()))
        d = p - polygon
        inner, along = t[:, 0] * d[:, 1] - t[:, 1] * d[:, 0], (t * d).sum(axis=1)
        across_by, along_by = (np.abs(t) @ x + off for x in (moved[::-1], moved))
        may_be_outside = inner - across_by <= 0.0
        found = list[Vector]()
        if (inner + across_by >= 0.0).all():
            found.append(np.eye(2))
        beside: BoolVector = may_be_outside & (along + along_by >= 0.0) & (along - along_by <= length)
        found += [np.outer(x, x) for x in t[beside]]
        beyond = np.roll(along + along_by >= length, 1) & (along - along_by <= 0.0)
        if may_be_outside.any() and beyond.any():
            found.append(np.zeros((2, 2)))
        every = np.array(found)
        slopes = Interval(every.min(axis=0), every.max(axis=0))
        if beside.any():
            slopes = slopes.widened(8.0 * UNIT)
        at = floor.nearest(float(p[0]), float(p[1]))
        return NearestOnBox(slopes, np.array([at.y, at.z]), small, not may_be_outside.any())


class RowsOnBox(NamedTuple):
    """Rows of a contact on a box: the value at the centre, its rounding, and the Jacobian on the box."""

    value: Vector
    rounding: Vector
    jacobian: Interval

    def then(self, others: RowsOnBox) -> RowsOnBox:
        """These, and others after them."""
        both = Interval.joined([self.jacobian, others.jacobian])
        return RowsOnBox(np.r_[self.value, others.value], np.r_[self.rounding, others.rounding], both)

    def on(self, outputs: Space, box: TangentBox) -> Enclosure:
        """As an enclosure of a value in a space."""
        return Enclosure.centred(outputs, box, self.value, self.rounding, self.jacobian)


class PairOnBox(NamedTuple):
    """A pair of surfaces on a box: how one lies on the other.

    Attributes:
        seen: the object's surface, seen from the floor's.
        turn: its rotation.
        sides: where its middle may be.
        columns: of its middle (3, nv), in the axes of the floor's surface.
    """

    seen: Seen
    turn: Enclosure
    sides: NearestOnBox
    columns: Interval

    @staticmethod
    def of(pair: FrameFunction, floor: Surface, box: TangentBox) -> PairOnBox:
        """On a box.

        Args:
            pair: has the frames of both surfaces.
            floor: the floor's surface.
            box: of configurations.
        """
        at = seen(pair.robot, pair.frame_a, [pair.frame_b], box)
        columns, near = at.position_columns(), float(at.near[0])
        moved = rounded_up(near + columns.magnitude[1:] @ box.r)
        return PairOnBox(at, at.turn(box), NearestOnBox.of(floor, at.position[0, 1:], near, moved), columns)

    def contact(self, margin: float) -> RowsOnBox:
        """The five rows of the contact, at a height above the floor [m]."""
        p, R, (turned, tilt) = self.seen.position[0], self.seen.rotation, self._tilt()
        near, is_inside = float(self.seen.near[0]), self.sides.is_inside
        height, aside = float(p[0]) + margin, p[1:] - self.sides.point
        _, u, w, ratio = swing(R[0, 0], R[1, 0], R[2, 0])
        inside = (Interval.of(np.eye(2)) - self.sides.slopes) @ self.columns[1:]
        if is_inside:
            inside = Interval.of(np.zeros(inside.shape))
        small = [near + 4.0 * UNIT * (1.0 + abs(height)), *[0.0 if is_inside else self.sides.small] * 2, *[turned] * 2]
        columns = Interval.joined([self.columns[:1], inside, tilt])
        return RowsOnBox(np.array([height, *aside, ratio * u, ratio * w]), np.array(small), columns)

    def error(self, margin: float, box: TangentBox) -> tuple[float, float]:
        """What the norm of the contact's rows is at least, and at most."""
        try:
            rows = self.contact(margin).on(Rn(5), box)
        except UndefinedError:  # on its head: what it is tilted by is enough
            return float(np.arccos(min(float(self._rotation().upper[0, 0]), 1.0))) * (1.0 - 1e-9), np.inf
        size, way = float(np.linalg.norm(rows.value)), float(rounded_up(np.linalg.norm(rows.error)))
        return size * (1.0 - 1e-9) - way, size * (1.0 + 1e-9) + way

    def place(self) -> RowsOnBox:
        """Three rows of the place: the nearest point, and the rotation about the normal; its value has four numbers."""
        R, on_box = self.seen.rotation, self._rotation()
        c, s = R[1, 1] + R[2, 2], R[2, 1] - R[1, 2]
        cosine, sine = on_box[1, 1] + on_box[2, 2], on_box[2, 1] - on_box[1, 2]
        square = cosine.square() + sine.square()
        if not square.lower > 0.0:
            raise UndefinedError("an object that may stand on its head has no turn about the normal")
        n1, n2 = on_box[1, 0], on_box[2, 0]
        rates = _row(Interval.of(1.0), -(cosine * n1 + sine * n2) / square, (sine * n1 - cosine * n2) / square)
        norm, near = float(np.hypot(c, s)), self.sides.small
        small = np.array([near, near, float(rounded_up(8.0 * self.seen.turned_by / norm))])
        columns = Interval.joined([self.sides.slopes @ self.columns[1:], rates @ self.turn.jacobian])
        return RowsOnBox(np.array([*self.sides.point, c / norm, s / norm]), small, columns)

    def _rotation(self) -> Interval:
        """Entries of the rotation on the box: no vector turns by more than its angle."""
        return Interval.around(self.seen.rotation, np.full((3, 3), rounded_up(np.sqrt((self.turn.error**2).sum()))))

    def _tilt(self) -> tuple[float, Interval]:
        """Of the swing: how far its value may be off by rounding, and its columns (2, nv)."""
        R = self._rotation()
        g, falling, _ = tilt(R[0, 0])
        slope = -falling
        zero, ahead, aside = Interval.of(0.0), R[1, 0], -R[2, 0]
        by_y, by_z = -R[:, 2], R[:, 1]  # how the normal moves by w_y, and by w_z
        first = _row(zero, *(-g * dn[2] - slope * aside * dn[0] for dn in (by_y, by_z)))
        second = _row(zero, *(g * dn[1] - slope * ahead * dn[0] for dn in (by_y, by_z)))
        steep = float(g.upper + slope.upper)
        columns = Interval.joined([first, second]) @ self.turn.jacobian
        return float(rounded_up(4.0 * steep * self.seen.turned_by)), columns


def _row(*entries: Interval) -> Interval:
    """Single intervals as a row (1, n)."""
    return Interval(*(np.array([[float(getattr(x, side)) for x in entries]]) for side in ("lower", "upper")))

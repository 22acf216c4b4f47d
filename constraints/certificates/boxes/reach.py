r"""How far the origin of a frame can be from a point on the axis of a joint: the reason why a target is out of reach.

A point A on the axis of joint i is carried by the joints before it, and joint i does not move it. So, wherever joint i
is, the distance from A to the origin of b depends on the joints behind i alone, and that from A to a target in the axes
of a on the joints before i alone. A point next to other axes is moved by few joints: by three behind the shoulder of an
arm with seven. If the two ranges have no number in common, no configuration brings b to its target.

**Lengths.** The distance is at most the sum of the distances from point to point along the chain, each of two points
that one link carries (of slides, with their longest way).

**Boxes.** On a box, with f from A to the end at the centre, :math:`d = \sum Q_i d_i` its motion (see `chains`),

.. math:: |f + d|^2 = |f|^2 + 2 f \cdot d + |d|^2, \qquad
    |d|^2 = \sum_i |d_i|^2 + 2 \sum_{l < i} Q_l d_l \cdot Q_i d_i, \qquad |d_i|^2 = 2 |j_i|^2 (1 - \cos v_i)

where the last sum is at most :math:`2 \sum |d_l| |d_i|`; or, with the second order of both,
:math:`2 \sum v_l v_i (f \cdot (w_l \times j_i) + j_l \cdot j_i)` within :math:`2 |f|\,\text{finer}` and
:math:`2 \sum r_l r_i |j_l| |j_i| (B_l + B_i)`, :math:`B_i = A_i + r_i / 2`, since :math:`Q_i d_i` is within
:math:`r_i |j_i| B_i` of :math:`v_i j_i`. Boxes are halved until none can hold a distance that is more than
`FINE_DISTANCE` beyond one that was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...functions.enclosures.interval import lengths, rounded_up
from .chains import OF_BATCH, HalfLoop, Screws
from .cutting import Boxes

FINE_DISTANCE = 1e-4
"""How near distances are found [m], where boxes do not end before."""

MOST_BOXES = 20_000
"""Of one distance: it ends there with a range that is wider, which holds too."""

BATCH = 512
"""Boxes that are looked at together."""

MET = 1e-9
"""Of a point off an axis up to which the axis passes through it, when points are chosen [m]."""

DEEP = 2
"""Points from which distances are found by boxes."""


class Reach(NamedTuple):
    """Ranges of distances from a point on the axis of a joint.

    Attributes:
        column: coordinate of the joint.
        tool: least and greatest from the point to the origin of b [m].
        target: the same to the target.
        boxes: how many were looked at.
    """

    column: int
    tool: tuple[float, float]
    target: tuple[float, float]
    boxes: int

    @property
    def refutes(self) -> bool:
        """Whether no distance is in both."""
        return self.tool[1] < self.target[0] or self.target[1] < self.tool[0]

    @staticmethod
    def all(screws: Screws, target: Vector, boxes: Boxes, deep: bool) -> Iterator[Reach]:
        """From points on axes; those that few joints move first. By lengths alone, those that refute.

        Args:
            screws: from frame a to frame b.
            target: of the origin of b, in the axes of a.
            boxes: one box, of all coordinates.
            deep: whether boxes are divided, for few points; else by lengths alone, for all.
        """
        n = len(screws.columns)
        found = list[tuple[int, int, _Distance, _Distance, Reach]]()
        for i in np.flatnonzero(screws.turning).tolist():
            for p in _points(screws, i):
                behind = _Distance(HalfLoop.carrying(screws, range(i + 1, n), 1.0, screws.position[None], [1.0]), p)
                before = _Distance(HalfLoop.carrying(screws, range(i), 1.0, p[None], [1.0]), target)
                reach = Reach(int(screws.columns[i]), behind.by_lengths(boxes), before.by_lengths(boxes), 0)
                if deep or reach.refutes:
                    found.append((behind.moving(boxes) + before.moving(boxes), i, behind, before, reach))
        found.sort(key=lambda entry: entry[:2])
        for _, _, behind, before, reach in found[:DEEP] if deep else found:
            if deep:
                goal, few = before.by_boxes(boxes, reach.target, reach.tool)
                tool, more = behind.by_boxes(boxes, reach.tool, goal)
                reach = Reach(reach.column, tool, goal, few + more)
            yield reach


def _points(screws: Screws, i: int) -> list[Vector]:
    """On the axis of joint i: nearest to the axes before and behind it."""
    near = [j for j in (i - 1, i + 1) if 0 <= j < len(screws.columns)]
    w, o = screws.axes[i], screws.origins[i]
    found = [o] if not near else []
    for j in near:
        both = np.column_stack([w, -screws.axes[j]])
        found.append(o + w * np.linalg.lstsq(both, screws.origins[j] - o, rcond=1e-9)[0][0])
    return found


class _Distance(NamedTuple):
    """Of a point that a side carries from one that stands still."""

    side: HalfLoop
    point: Vector

    @property
    def slack(self) -> float:
        return OF_BATCH * (1.0 + self.side.lengths + float(np.abs(self.point).sum()))

    def moving(self, boxes: Boxes) -> int:
        """How many joints move the end: at a posture like any other."""
        n = boxes.lower.shape[1]
        steps = self.side.on(np.sin(np.arange(1.0, n + 1.0))[None], np.ones((1, n))).steps
        return int((steps > MET).sum())

    def by_lengths(self, boxes: Boxes) -> tuple[float, float]:
        """Least and greatest, by lengths from joint to joint."""
        side = self.side
        ways = np.maximum(np.abs(boxes.lower[0]), np.abs(boxes.upper[0]))[side.columns]
        slides = float(ways[~side.turning].sum())
        found = list[tuple[float, float]]()
        for links in (self._by_origins(), self._by_feet()):
            total, longest = float(links.sum()) + slides, float(links.max(initial=0.0))
            found.append((max(0.0, 2.0 * longest - total), total))
        off = self.slack * (1.0 + slides)
        return max(0.0, max(low for low, _ in found) - off), min(high for _, high in found) + off

    def _by_origins(self) -> Vector:
        """Lengths of links between the origins of joints."""
        places = self.side.placements[:, 3]
        first = places[:1] - self.point if len(places) else self.side.things - self.point
        return lengths(np.concatenate([first, places[1:], *([self.side.things] if len(places) else [])]))

    def _by_feet(self) -> Vector:
        """Between the feet of the end on each axis, from the last one on."""
        end, links = self.side.things[0], list[float]()
        for i in range(len(self.side.columns) - 1, -1, -1):
            if self.side.turning[i]:
                foot = np.array([0.0, 0.0, end[2]])
                links.append(float(lengths(end - foot)))
                end = foot
            end = self.side.placements[i, :3] @ end + self.side.placements[i, 3]
        return np.array([*links, float(lengths(end - self.point))])

    def by_boxes(
        self, boxes: Boxes, known: tuple[float, float], other: tuple[float, float]
    ) -> tuple[tuple[float, float], int]:
        """Least and greatest, by division, as far as it may separate them from another range; the number of boxes."""
        high, many = self._farthest(boxes, 1.0, other[0])
        low, more = self._farthest(boxes, -1.0, other[1])
        return (max(known[0], low - self.slack), min(known[1], high + self.slack)), many + more

    def _farthest(self, boxes: Boxes, sign: float, goal: float) -> tuple[float, int]:
        """The greatest distance (sign 1), or the least (-1); infinite where one beyond the goal is seen."""
        pending, best, proved, count = boxes, -np.inf, -np.inf, 0
        while pending.number:
            now, pending = pending.some(slice(-BATCH, None)), pending.some(slice(None, -BATCH))
            count += now.number
            seen, ends, steps = self._on(now)
            best = max(best, float((sign * seen).max()))
            if best >= sign * goal:
                return sign * np.inf, count
            most = sign * ends[1 if sign > 0.0 else 0]
            enough = best + min(FINE_DISTANCE, 0.5 * (sign * goal - best))
            going = (most > enough) & (count + pending.number < MOST_BOXES) & (steps.max(axis=1, initial=0.0) > 0.0)
            proved = max(proved, float(most[~going].max(initial=-np.inf)))
            if going.any():
                longest = self.side.columns[steps[going].argmax(axis=1)]
                pending = pending.and_also(now.some(going).halves(longest))
        return sign * proved, count

    def _on(self, boxes: Boxes) -> tuple[Vector, tuple[Vector, Vector], Matrix]:
        """On N boxes: the distance at the centre, its least and greatest, and the steps of joints (N, k)."""
        side = self.side
        r = boxes.radius[:, side.columns]
        moved = side.on(boxes.center, boxes.radius)
        f, j, steps = moved.ends[:, 0] - self.point, moved.slopes[:, :, 0], moved.steps[:, :, 0]
        size, long = lengths(f), lengths(j)
        waves = np.where(side.turning, np.sin(np.minimum(r, 0.5 * np.pi)), r)
        bent = np.where(side.turning, 1.0 - np.cos(np.minimum(r, np.pi)), 0.5 * r * r)
        straight = 2.0 * (np.abs(_dot(f[:, None], j)) * waves).sum(axis=1)
        curve = 2.0 * (_dot(f[:, None], moved.bends[:, :, 0]) + long**2) * bent

        reach = steps.sum(axis=1)
        crossed = 2.0 * size * moved.rest[:, 0] + reach**2 - (steps**2).sum(axis=1)
        earlier, later = side.pairs
        angles = np.where(side.turning, r, 0.0)
        turned = np.cumsum(angles, axis=1) - 0.5 * angles
        second = _dot(f[:, None], moved.crosses[:, :, 0]) + _dot(j[:, earlier], j[:, later])
        third = (long[:, earlier] * long[:, later]) * (turned[:, earlier] + turned[:, later])
        finer = 2.0 * (size * moved.finer[:, 0] + ((np.abs(second) + third) * r[:, earlier] * r[:, later]).sum(axis=1))
        off = straight + np.minimum(crossed, finer)
        high = np.minimum(size**2 + rounded_up(off + np.maximum(curve, 0.0).sum(axis=1)), rounded_up(size + reach) ** 2)
        low = size**2 - rounded_up(off - np.minimum(curve, 0.0).sum(axis=1))
        low = np.maximum(low, np.maximum(size - rounded_up(reach), 0.0) ** 2)
        return size, (np.sqrt(np.maximum(low, 0.0)) * (1.0 - 1e-12), np.sqrt(high) * (1.0 + 1e-12)), steps


def _dot(a: Matrix, b: Matrix) -> Matrix:
    return (a * b).sum(axis=-1)

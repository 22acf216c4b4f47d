r"""Many boxes of coordinates at once: which of them cannot hold a solution, and what can be cut off the others.

A box is all x with :math:`|x_k - c_k| \le r_k`. On it each equation is

.. math:: 0 = f + \sum_k (s_k j_k + h_k b_k) + e, \qquad |s_k| \le \sin r_k,\; 0 \le h_k \le 1 - \cos r_k

with e within a bound (of coordinates that are no angles, :math:`|s_k| \le r_k` and h is zero). Any combination of
equations is one more. So, whatever the numbers :math:`\lambda` are, there is no solution in the box if

.. math:: |\lambda f| > \sum_k \left(|\lambda j_k| \sin r_k + \max(0, \mp \lambda b_k)(1 - \cos r_k)\right)
    + |\lambda e|

where the sign is that of :math:`\lambda f`. And where :math:`\lambda j_k` is not small, the same sum without that term
bounds :math:`s_k = \sin(x_k - c_k)`. (Krawczyk's operator, where the rows :math:`\lambda` are the inverse of the
Jacobian; Neumaier, Interval Methods for Systems of Equations, 4.1 and 5.1.)

All :math:`\lambda` come from one least squares problem: of the motions y and rests e that explain f, the least, each
measured in what the box allows it, :math:`y^T D^{-2} y + e^T W e`. Then
:math:`C = (J^T W J + D^{-2})^{-1} J^T W` gives y, and :math:`\lambda = W (f - J C f)` is what nothing explains. How
good they are decides how many boxes are needed; what is proved does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...functions.enclosures.interval import Interval, rounded_up
from .chains import OF_BATCH, Loop

LEAST_OWN = 0.2
"""Of its own coefficient in a combined equation, below which a coordinate is not cut by it."""

LEAST_REST = 1e-6
"""Of what coordinates move an equation by, taken as its rest at least when combinations are chosen."""

NO_WIDTH = 1e-12
"""Taken as the width of coordinates and rests at least when combinations are chosen [rad, m]."""


class Boxes(NamedTuple):
    """Boxes of n coordinates, by their ends (N, n)."""

    lower: Matrix
    upper: Matrix

    @property
    def number(self) -> int:
        """N."""
        return len(self.lower)

    def some(self, which: Any) -> Boxes:
        """Those that are chosen."""
        return Boxes(self.lower[which], self.upper[which])

    def and_also(self, *others: Boxes) -> Boxes:
        """These, then others."""
        return Boxes(*(np.concatenate(ends) for ends in zip(self, *others, strict=True)))

    @property
    def center(self) -> Matrix:
        """(N, n)."""
        return self.lower + 0.5 * (self.upper - self.lower)

    @property
    def radius(self) -> Matrix:
        """At least the distance from the centre to both ends (N, n); zero where they are one."""
        c = self.center
        wide = np.maximum(self.upper - c, c - self.lower)
        return np.where(wide > 0.0, np.nextafter(wide, np.inf), 0.0)

    @property
    def middles(self) -> Boxes:
        """Their centres alone."""
        return Boxes(self.center, self.center)

    def halves(self, along: Indices) -> Boxes:
        """Each cut in two, across the middle of one coordinate (N,)."""
        at, middle = np.arange(self.number), self.center
        first, second = self.upper.copy(), self.lower.copy()
        first[at, along] = second[at, along] = middle[at, along]
        return Boxes(self.lower, first).and_also(Boxes(second, self.upper))


class Linear(NamedTuple):
    r"""Equations on N boxes; each three rows are a vector, of which e is no longer than `rest`.

    Attributes:
        value: f (N, m).
        slopes, bends: j, b (N, m, n).
        rest: (N, m / 3).
        steps: what each coordinate moves a vector by at most (N, m / 3, n).
        shares: the same with what it turns others by: where to divide (N, m / 3, n).
        crosses: (N, m, pairs): with :math:`\sum v_l v_i` times them, e is no longer than `finer`.
        pairs: coordinates l, i of the pairs (2, pairs).
        finer: (N, m / 3).
        turning: (n,) true for angles.
    """

    value: Matrix
    slopes: Matrix
    bends: Matrix
    rest: Matrix
    steps: Matrix
    shares: Matrix
    crosses: Matrix
    pairs: Indices
    finer: Matrix
    turning: BoolVector

    def some(self, which: Any) -> Linear:
        """On the boxes that are chosen."""
        by_box = {name: getattr(self, name)[which] for name in self._fields if name not in ("pairs", "turning")}
        return self._replace(**by_box)

    @property
    def possible(self) -> BoolVector:
        """(N,) false where one vector alone cannot become zero."""
        size = np.sqrt((self.value.reshape(len(self.value), -1, 3) ** 2).sum(axis=2))
        return (size <= rounded_up(self.steps.sum(axis=2) + self.rest)).all(axis=1)

    @staticmethod
    def of_loops(loops: Sequence[Loop], boxes: Boxes, turning: BoolVector) -> Linear:
        """Of loops of frames.

        Args:
            loops: at least one.
            boxes: of all coordinates.
            turning: (n,) true for angles.
        """
        center, radius = boxes.center, boxes.radius
        count, n = center.shape
        sides = [(loop, side) for loop in loops for side in (loop.left, loop.right)]
        pairs = np.concatenate([side.columns[side.pairs] for _, side in sides], axis=1)
        slid = OF_BATCH * np.where(turning, 0.0, np.abs(center) + radius).sum(axis=1)[:, None]
        parts = list[tuple[Matrix, ...]]()
        done = 0
        for loop in loops:
            e = len(loop.rows)
            value, (slopes, bends) = np.zeros((count, e, 3)), np.zeros((2, count, e, 3, n))
            (steps, shares), crosses = np.zeros((2, count, e, n)), np.zeros((count, e, 3, pairs.shape[1]))
            rest = loop.slack + slid * loop.left.points
            finer = rest
            for side, sign in ((loop.left, 1.0), (loop.right, -1.0)):
                moved = side.on(center, radius)
                value += sign * moved.ends
                slopes[..., side.columns] = sign * moved.slopes.transpose(0, 2, 3, 1)
                bends[..., side.columns] = sign * moved.bends.transpose(0, 2, 3, 1)
                steps[..., side.columns] = moved.steps.transpose(0, 2, 1)
                shares[..., side.columns] = moved.shares.transpose(0, 2, 1)
                rest, finer = rest + moved.rest, finer + moved.finer
                here = slice(done, done + moved.crosses.shape[1])
                crosses[..., here] = sign * moved.crosses.transpose(0, 2, 3, 1)
                done = here.stop
            on = loop.rows[..., None]
            rows = (
                (value * loop.rows).reshape(count, -1),
                *((x * on).reshape(count, 3 * e, -1) for x in (slopes, bends)),
            )
            parts.append((*rows, rest, steps, shares, (crosses * on).reshape(count, 3 * e, -1), finer))
        value, slopes, bends, rest, steps, shares, crosses, finer = (
            np.concatenate(x, axis=1) for x in zip(*parts, strict=True)
        )
        return Linear(value, slopes, bends, rest, steps, shares, crosses, pairs, finer, turning)

    @staticmethod
    def of_rows(value: Interval, J: Interval, ends: tuple[Vector, Vector], radius: Vector) -> Linear | None:
        """Of the rows of a problem on one box; None if one of them cannot be in its interval.

        Args:
            value: of the rows at the centre (m,).
            J: their Jacobian on the box (m, n).
            ends: lower and upper end of the interval of each (m,).
            radius: of the box (n,).
        """
        m = len(ends[0])
        off = rounded_up(value.radius + J.radius @ radius)
        wide = rounded_up(off + np.abs(J.middle) @ radius)
        lower, upper = np.maximum(ends[0], value.middle - wide), np.minimum(ends[1], value.middle + wide)
        if not (lower <= upper).all():
            return None
        asked = lower + 0.5 * (upper - lower)
        off = rounded_up(
            off + np.maximum(upper - asked, asked - lower) + 1e-15 * (np.abs(asked) + np.abs(value.middle))
        )

        def spread(rows: Matrix) -> Matrix:
            """One vector a row."""
            out = np.zeros((1, m, 3, *rows.shape[1:]))
            out[0, :, 0] = rows
            return out.reshape(1, 3 * m, *rows.shape[1:])

        slopes, none = spread(J.middle), np.zeros((2, 0), dtype=np.intp)
        steps = np.asarray(rounded_up(J.magnitude * radius))[None]
        return Linear(
            spread(value.middle - asked), slopes, np.zeros(slopes.shape), off[None], steps, steps,
            np.zeros((1, 3 * m, 0)), none, off[None], np.zeros(len(radius), dtype=np.bool_),
        )  # fmt: skip


def cut(boxes: Boxes, found: Linear) -> tuple[BoolVector, Boxes]:
    """Which boxes may hold a solution (N,), and all of them, cut to where it may be.

    Args:
        boxes: N of them.
        found: their equations.
    """
    c, r, turning = boxes.center, boxes.radius, found.turning
    f, J, n = found.value, found.slopes, len(turning)
    most = np.where(turning, np.sin(np.minimum(r, 0.5 * np.pi)), r)
    bent = np.where(turning, 1.0 - np.cos(np.minimum(r, np.pi)), 0.0)
    combined = _combinations(found, most)
    of_f, of_J, of_b = (combined @ f[:, :, None])[:, :, 0], combined @ J, (combined @ found.bends) * bent[:, None]
    size = np.sqrt((combined.reshape(len(c), n + 1, found.rest.shape[1], 3) ** 2).sum(axis=3))
    first, second = found.pairs
    crossed = (np.abs(combined @ found.crosses) @ (r[:, first] * r[:, second])[:, :, None])[:, :, 0]
    rest, finer = ((size @ x[:, :, None])[:, :, 0] for x in (found.rest, found.finer))
    sizes = np.abs(of_J) * most[:, None]
    total = rounded_up(sizes.sum(axis=2) + np.minimum(rest, finer + crossed))
    low = of_f - total + np.minimum(of_b, 0.0).sum(axis=2)
    high = of_f + total + np.maximum(of_b, 0.0).sum(axis=2)
    alive = ((low <= 0.0) & (high >= 0.0)).all(axis=1)

    each: Indices = np.arange(n)
    own, own_size = of_J[:, 1:][:, each, each], sizes[:, 1:][:, each, each]
    usable = (own > LEAST_OWN) & (~turning | (r < 0.5 * np.pi))
    divisor = np.where(usable, own, 1.0)
    ends = (-(high[:, 1:] - own_size) / divisor, -(low[:, 1:] + own_size) / divisor)
    pad = 1e-12 * (1.0 + np.abs(ends[0]) + np.abs(ends[1]))
    steps = [np.clip(end, -most, most) for end in (ends[0] - pad, ends[1] + pad)]
    steps = [np.where(turning, np.arcsin(np.clip(s, -1.0, 1.0)), s) for s in steps]
    lower = np.where(usable, np.maximum(boxes.lower, c + steps[0] - 1e-12), boxes.lower)
    upper = np.where(usable, np.minimum(boxes.upper, c + steps[1] + 1e-12), boxes.upper)
    return alive & (lower <= upper).all(axis=1), Boxes(lower, upper)


def _combinations(found: Linear, most: Matrix) -> Matrix:
    """What nothing explains, then what each coordinate explains (N, n + 1, m)."""
    f, J, n = found.value, found.slopes, len(found.turning)
    weight = np.repeat(1.0 / (found.rest + LEAST_REST * found.steps.sum(axis=2) + NO_WIDTH), 3, axis=1)
    whitened = J * np.maximum(most, NO_WIDTH)[:, None] * weight[:, :, None]
    normal = whitened.transpose(0, 2, 1) @ whitened + np.eye(n)
    scaled = np.linalg.solve(normal, (whitened * weight[:, :, None]).transpose(0, 2, 1))
    C = np.asarray(scaled * np.maximum(most, NO_WIDTH)[:, :, None], dtype=np.float64)
    left = weight**2 * (f - (J @ (C @ f[:, :, None]))[:, :, 0])
    return np.concatenate([left[:, None], C], axis=1)

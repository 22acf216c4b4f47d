r"""Things that chains of joints carry, on many boxes of configurations at once: where, and how far they move.

**Loops.** Between frame a and frame b stand joints 1 to n, each a turn about an axis, or a slide along one. Where b is
to be at a target, everything is a loop, which can be cut at any link. A thing of that link (a point, or a direction) is
then carried by the joints before the cut, from a, and by those behind it, from the target: both must say the same.
Where the target is a point alone, that point is carried back by the joints before the cut, and the origin of b by those
behind it. So an equation is `left = right`, each a thing that some joints carry; short chains have narrow bounds.

**Bounds.** Let E be carried by joints 1 to k, counted from what stands still, and let joint i turn by v_i from where it
is at the centre c of a box, :math:`|v_i| \le r_i`. Turn joint 1 first, then joint 2, and so on. As joint i turns, E is
where joints 1 to i - 1 have brought it, and all behind i is as at the centre. So its step is that of the centre, turned
by :math:`Q_i`, what the joints before i have turned:

.. math:: E(c + v) - E(c) = \sum_i Q_i d_i, \quad d_i = \sin v_i\, j_i + (1 - \cos v_i)\, w_i \times j_i,
    \quad j_i = w_i \times (E - o_i)

exactly, w_i and o_i axis and origin at the centre. With :math:`|d_i| = 2 |j_i| \sin(v_i / 2)` and
:math:`|Q_i - 1| \le 2 \sin(A_i / 2)`, :math:`A_i = \sum_{l < i} r_l` (2 beyond half a turn):

- E moves by at most `reach`, the sum of the steps :math:`2 |j_i| \sin(r_i / 2)`;
- its motion is :math:`\sum d_i` within `rest`, :math:`\sum 2 \sin(A_i / 2)` steps;
- it is :math:`\sum d_i + \sum_{l < i} v_l v_i\, w_l \times j_i` within `finer`,
  :math:`\sum (A_i^2 / 2 + A_i r_i / 2)\, r_i |j_i|`, from :math:`|Q_i - 1 - \sum v_l [w_l]| \le A_i^2 / 2` and
  :math:`|d_i - v_i j_i| \le r_i^2 |j_i| / 2`.

A slide has :math:`d_i = v_i j_i`, j_i its axis, and turns nothing.

**Rounding.** A value here is a sum of fewer than 1,000 products for each joint, of numbers that are at most 1, or at
most L, the sum of all lengths; placements of pinocchio at the reference are within 64 roundings a joint. `OF_BATCH` is
1e5 roundings of 1 + L, more than all of it for chains of up to 90 joints; each equation is widened by it. Combinations
of equations in `boxes` are covered too: their roundings are below 1,000 of the same sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector
from liegroups.formulas.batch_algebra import cross

from ...functions.enclosures.box import TangentBox
from ...functions.enclosures.interval import lengths
from ...functions.frames.chain_bounds import seen
from ...functions.frames.frame_function import FrameFunction

OF_BATCH = 1e5 * 2.0**-53
"""Rounding of an equation of a loop, relative to 1 + the lengths in it."""


class Screws(NamedTuple):
    """The joints between frame a and frame b at a reference configuration, from a on, in the axes of a.

    Attributes:
        columns: tangent columns (n,).
        axes: unit vectors (n, 3), with the sign by which b moves.
        origins: points on the axes (n, 3).
        turning: (n,) true for turns, false for slides.
        rotation, position: of b (3, 3), (3,).
    """

    columns: Indices
    axes: Matrix
    origins: Matrix
    turning: BoolVector
    rotation: Matrix
    position: Vector

    @staticmethod
    def of(f: FrameFunction, reference: Vector) -> Screws | None:
        """Of a function of two frames; None where a joint is neither a turn nor a slide.

        Args:
            f: the function.
            reference: configuration (nq,).
        """
        robot = f.robot
        found = seen(robot, f.frame_a, [f.frame_b], TangentBox(robot.space, reference, 0.0))
        tree = robot.space.elementary
        joints = tree.subspaces[1]
        on_a, on_b = (tree.carries[joints, tree.joints[frame.joint]] > 0.0 for frame in (f.frame_a, f.frame_b))
        down, up = np.flatnonzero(on_a & ~on_b), np.flatnonzero(on_b & ~on_a)
        columns = np.concatenate(
            [down[np.argsort(-joints[down], kind="stable")], up[np.argsort(joints[up], kind="stable")]]
        )
        w: Matrix = found.angular[0, columns]
        v: Matrix = found.linear[0, columns]
        p = found.position[0]
        feet = cross(w, v)  # of b on the axes, from b
        turn, slide = lengths(w), lengths(v)
        turning = turn > 0.5
        pitched = np.abs((w * v).sum(axis=1)) > OF_BATCH * (1.0 + slide)
        if pitched.any() or (~turning & (turn > 0.0)).any():
            return None
        axes = np.where(turning[:, None], w, v)
        origins = p + feet * turning[:, None]
        return Screws(columns, axes, np.asarray(origins), turning, found.rotation, p)


class Moved(NamedTuple):
    """Where a side carries its things on N boxes, and bounds of how they move; see the head of this file.

    Attributes:
        ends: things at the centre (N, e, 3).
        slopes, bends: j and w x j (N, k, e, 3).
        steps: (N, k, e).
        shares: steps, and what a joint turns the steps of those behind it by (N, k, e): where to divide.
        rest, finer: (N, e).
        crosses: w x j of pairs (N, pairs, e, 3); zero where the earlier joint slides.
    """

    ends: Matrix
    slopes: Matrix
    bends: Matrix
    steps: Matrix
    shares: Matrix
    rest: Matrix
    finer: Matrix
    crosses: Matrix


class HalfLoop(NamedTuple):
    """Things that are carried by some joints, from the one next to what stands still on.

    Attributes:
        columns: coordinates of the joints (k,).
        placements: of each joint's axes on those before (k, 4, 3): rotation, origin.
        turning: (k,).
        things: (e, 3) points and directions, in the axes of the last joint.
        points: (e,) 1 for points, 0 for directions.
        pairs: places of an earlier and a later joint, of all pairs (2, pairs).
    """

    columns: Indices
    placements: Matrix
    turning: BoolVector
    things: Matrix
    points: Vector
    pairs: Indices

    @staticmethod
    def carrying(screws: Screws, which: Sequence[int], sign: float, things: Matrix, points: ArrayLike) -> HalfLoop:
        """Things that some of the joints carry.

        Args:
            screws: all joints.
            which: those that carry, from what stands still on.
            sign: 1 where they move as they do; -1 where they go back.
            things: (e, 3) at the reference.
            points: (e,) 1 for points, 0 for directions.
        """
        some, kinds = np.asarray(which, dtype=np.intp), np.asarray(points, dtype=np.float64)
        turn, p, placements = np.eye(3), np.zeros(3), list[Matrix]()
        for i in some:
            axes, origin = _with_third_axis(sign * screws.axes[i]), screws.origins[i]
            placements.append(np.vstack([turn.T @ axes, (origin - p) @ turn]))
            turn, p = axes, origin
        local = (things - kinds[:, None] * p) @ turn
        stacked = np.array(placements).reshape(len(some), 4, 3)
        return HalfLoop(screws.columns[some], stacked, screws.turning[some], local, kinds, _pairs(len(some)))

    @property
    def lengths(self) -> float:
        """Of all that a value is a sum of, but for slides."""
        own = lengths(self.things * self.points[:, None]).max(initial=0.0)
        return float(lengths(self.placements[:, 3]).sum() + own)

    def on(self, center: Matrix, radius: Matrix) -> Moved:
        """On boxes of all coordinates (N, n)."""
        count, k = len(center), len(self.columns)
        turn, p = np.broadcast_to(np.eye(3), (count, 3, 3)), np.zeros((count, 3))
        axes, origins = np.empty((count, k, 3)), np.empty((count, k, 3))
        for i in range(k):
            p = p + turn @ self.placements[i, 3]
            turn = turn @ self.placements[i, :3]
            axes[:, i], origins[:, i] = turn[:, :, 2], p
            x = center[:, self.columns[i]]
            if self.turning[i]:
                c, s = np.cos(x)[:, None], np.sin(x)[:, None]
                first, second, third = turn.transpose(2, 0, 1)
                turn = np.stack([c * first + s * second, c * second - s * first, third], axis=2)
            else:
                p = p + x[:, None] * turn[:, :, 2]
        ends = self.things @ turn.transpose(0, 2, 1) + self.points[:, None] * p[:, None]
        w, turns = axes[:, :, None], self.turning[:, None, None]
        slides = w * self.points[:, None]
        slopes = np.where(turns, cross(w, ends[:, None] - self.points[:, None] * origins[:, :, None]), slides)
        bends = np.where(turns, cross(w, slopes), 0.0)

        r, size = radius[:, self.columns], lengths(slopes)
        angles = np.where(self.turning, r, 0.0)
        before = np.cumsum(angles, axis=1) - angles
        steps = np.where(self.turning, _chord(r), r)[:, :, None] * size
        rest = (_chord(before)[:, :, None] * steps).sum(axis=1)
        late = (0.5 * before * before + 0.5 * before * angles) * r
        finer = (late[:, :, None] * size).sum(axis=1)
        earlier, later = self.pairs
        crosses = np.where(turns[earlier], cross(w[:, earlier], slopes[:, later]), 0.0)
        behind = steps.sum(axis=1, keepdims=True) - np.cumsum(steps, axis=1)
        shares = steps + _chord(angles)[:, :, None] * np.maximum(behind, 0.0)
        return Moved(ends, slopes, bends, steps, shares, rest, finer, crosses)


class Loop(NamedTuple):
    """Equations `left = right` of things; see the head of this file.

    Attributes:
        left, right: the sides.
        rows: (e, 3) 1 for the rows that are asked for, 0 for others.
    """

    left: HalfLoop
    right: HalfLoop
    rows: Matrix

    @staticmethod
    def of_point(screws: Screws, target: Vector, rows: Vector) -> Loop:
        """The origin of b is at the target (3,), seen from a: all rows (3,), or some, which are then of no link."""
        n = len(screws.columns)
        cut = n // 2 if rows.all() else 0
        left = HalfLoop.carrying(screws, range(cut - 1, -1, -1), -1.0, target[None], [1.0])
        right = HalfLoop.carrying(screws, range(cut, n), 1.0, screws.position[None], [1.0])
        return Loop(left, right, rows[None])

    @staticmethod
    def of_axes(screws: Screws, target: Matrix) -> Loop:
        """The axes of b are those of the target (3, 3), seen from a."""
        n = len(screws.columns)
        left = HalfLoop.carrying(screws, range(n // 2 - 1, -1, -1), -1.0, target.T, np.zeros(3))
        right = HalfLoop.carrying(screws, range(n // 2, n), 1.0, screws.rotation.T, np.zeros(3))
        return Loop(left, right, np.ones((3, 3)))

    @staticmethod
    def of_pose(screws: Screws, rotation: Matrix, position: Vector) -> Loop:
        """The pose of b is the target: a point and the axes of the link in the middle, from a and from the target."""
        n, points = len(screws.columns), [1.0, 0.0, 0.0, 0.0]
        point = screws.origins[n // 2] if n else screws.position
        left = HalfLoop.carrying(screws, range(n // 2), 1.0, np.vstack([point, np.eye(3)]), points)
        # Seen from the target b stands still, and the joints go back: placed as at the reference, then moved with b.
        turn = rotation @ screws.rotation.T
        origins = (screws.origins - screws.position) @ turn.T + position
        moved = screws._replace(axes=screws.axes @ turn.T, origins=origins)
        things = np.vstack([turn @ (point - screws.position) + position, turn.T])
        right = HalfLoop.carrying(moved, range(n - 1, n // 2 - 1, -1), -1.0, things, points)
        return Loop(left, right, np.ones((4, 3)))

    @property
    def slack(self) -> Vector:
        """Of rounding (e,), but for slides."""
        return OF_BATCH * (1.0 + (self.left.lengths + self.right.lengths) * self.left.points)


@cache
def _pairs(count: int) -> Indices:
    """(2, pairs) an earlier and a later joint, of all pairs of so many."""
    return np.array(np.tril_indices(count, -1)[::-1])


def _chord(angle: Matrix) -> Matrix:
    return 2.0 * np.sin(0.5 * np.minimum(angle, np.pi))


def _with_third_axis(z: Vector) -> Matrix:
    """A rotation whose third column is a unit vector."""
    k = int(np.argmin(np.abs(z)))
    i, j = (k + 1) % 3, (k + 2) % 3
    a, b = z[[i, j]].tolist()
    x, size = np.zeros(3), float(np.hypot(a, b))
    x[i], x[j] = -b / size, a / size
    (p, q, r), (u, v, w) = z.tolist(), x.tolist()
    return np.array([[u, q * w - r * v, p], [v, r * u - p * w, q], [w, p * v - q * u, r]])

r"""Enclosures of points and frames of a robot on a box of configurations, by the reach of its joints.

Between frame a and a point or frame b stands a chain of joints. In the box joint j turns by at most an angle
:math:`\alpha_j` and moves by at most :math:`\lambda_j` from where it is at the centre (its motion is
:math:`\exp(S_j v_j)`, of which a point at a distance x of the joint's origin moves by at most
:math:`\lambda_j + \alpha_j |x|`). Lengths and angles do not change in rotations, so, whatever the joints do together,

- a point at :math:`p` (at the centre), seen from the joint j, moves by at most
  :math:`\delta_j = \sum_{i \ge j} (\lambda_i + \alpha_i |p - o_i|)`, i from j on to the point, :math:`o_i` the origins
  at the centre: each term is the motion by one joint of a point that the later ones have moved already;
- what is carried by the joints i turns by at most :math:`\sum \alpha_i`, and a vector x by :math:`|x| \sum \alpha_i`.

The columns of Jacobians are :math:`R_j (S_{lin} + S_{ang} \times y_j)`, y_j the point seen from joint j: they change by
at most the turn of :math:`R_j` times their length, and the motion of y_j. Joints on the side of a are passed from their
far side: their own motion is one of y_j and not of R_j.

What columns change by is known too, with what a column is (lin_k, ang_k: velocity of b and angular velocity, seen from
a). Of two joints, seen from a, the first one carries all that the second one does:

.. math:: \partial_j\, lin_k = ang_j \times lin_k \text{ (j first)}, \quad ang_k \times lin_j \text{ (k first)}

    \partial_j\, ang_k = ang_j \times ang_k \text{ (j first)}, \quad 0 \text{ (k first)}

j is the first one also where both are of one joint near b, whose twists its own motion turns; not where it is near a.
In the axes of b, :math:`\partial_j (R^T x) = R^T (\partial_j x - ang_j \times x)`. All are products of columns, whose
changes on the box are bounded as above.

Rounding is a motion too: forward kinematics in doubles give what joints that turn by `OF_JOINTS` more, and move by as
much of the lengths (from the world's origin) around them, would give exactly. Each of its steps is a product of 3 x 3
matrices, a sine and a cosine: within 20 units of rounding. So rotations of placements, which are no exact ones in
doubles, are meant as the rotations next to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from liegroups import SO3, Rn
from liegroups.arrays import Matrix, Vector

from ...errors import NoEnclosureError
from ...robot import Frame, Robot
from ...robot.elementary import ElementaryTree
from ...robot.model.pinocchio import pin
from ..enclosures.box import Bend, Enclosure, TangentBox
from ..enclosures.group_bounds import OF_MAPS
from ..enclosures.interval import UNIT, Interval, rounded_up
from .planes import Planes

OF_JOINTS = 64.0 * UNIT
"""Rounding of one joint of forward kinematics: an angle, and a part of the lengths around it."""


class Placed(NamedTuple):
    """A robot at the centre of a box, and how far its joints move in it. Index 0 is the world.

    Attributes:
        tree: with elementary joints.
        origins: of the joints (njoints, 3).
        rotations: of the joints (njoints, 3, 3).
        linear, angular: body twists of the columns in the axes of the world (nv, 3).
        small: angles and lengths (2, njoints) of rounding alone.
        moved: the same with the motion in the core of the box.
        rates: (2, njoints) those of w of the box, by the part of its ellipsoid that the joint has.
    """

    tree: ElementaryTree
    origins: Matrix
    rotations: Matrix
    linear: Matrix
    angular: Matrix
    small: Matrix
    moved: Matrix
    rates: Matrix

    @staticmethod
    def at(robot: Robot, box: TangentBox) -> Placed:
        """The robot on a box of its configurations; made once for all functions of it there."""
        tree = robot.space.elementary
        return box.shared(tree, lambda: _placed(tree, robot.name, box))


def _placed(tree: ElementaryTree, name: str, box: TangentBox) -> Placed:
    if not tree.is_exact:
        raise NoEnclosureError(f"robot {name}", "it has an ellipsoid joint, whose motions are no chain of simple ones")
    model, data = tree.model, tree.datas.take()
    pin.forwardKinematics(model, data, box.q)
    origins = np.array([oMi.translation for oMi in data.oMi])
    rotations = np.array([oMi.rotation for oMi in data.oMi])
    tree.datas.give(data)
    S, joints = tree.subspaces
    most, squares = np.zeros((2, model.njoints, 6))
    np.add.at(most, joints, (np.abs(S) * box.core).T)
    moved = np.array([_length(most[:, 3:]), _length(most[:, :3])])
    if box.ball is not None:
        np.add.at(squares, joints, ((S * box.ball) ** 2).T)
    rates = np.sqrt([squares[:, 3:].sum(axis=1), squares[:, :3].sum(axis=1)])
    far = _length(origins)
    lengths = 2.0 * (far + far[list(model.parents)] + tree.steps)
    small = OF_JOINTS * np.array([np.ones(model.njoints), lengths])
    small[:, 0] = 0.0
    R = rotations[joints]
    linear, angular = (R @ S.T[:, half, None] for half in (slice(0, 3), slice(3, 6)))
    return Placed(tree, origins, rotations, linear[..., 0], angular[..., 0], small, rounded_up(moved + small), rates)


class Chains(NamedTuple):
    """The joints between frame a and each of n frames b.

    Attributes:
        near_b, near_a: (n, njoints) 1 for those on the side of b, and on that of a; else 0.
        shared: (n,) how many carry both.
        signs: (n, nv) 1 for columns near b, -1 for those near a.
        turning: (nv,) 1 for columns that turn anything.
        first: (n, nv, nv) 1 where, of columns k and j that are both on the chain, j is the first one seen from a.
        second: the same where k is.
    """

    near_b: Matrix
    near_a: Matrix
    shared: Vector
    signs: Matrix
    turning: Vector
    first: Matrix
    second: Matrix

    @staticmethod
    def between(tree: ElementaryTree, a: int, b: tuple[int, ...]) -> Chains:
        """Of joints of the tree; kept with it.

        Args:
            tree: the tree.
            a, b: joints that carry the frames.
        """
        known = _KNOWN.setdefault(tree, {})
        if (a, b) not in known:
            S, joints = tree.subspaces
            on_a, on_b = tree.carries[:, a] > 0.0, tree.carries[:, list(b)].T > 0.0
            near_b, near_a = (on_b & ~on_a).astype(np.float64), (~on_b & on_a).astype(np.float64)
            turning = (np.abs(S[3:]).sum(axis=0) > 0.0).astype(np.float64)
            signs = (near_b - near_a)[:, joints]
            shared = (on_a & on_b).sum(axis=1).astype(np.float64)
            first, second = _order(near_b[:, joints], near_a[:, joints], tree.carries[np.ix_(joints, joints)])
            known[a, b] = Chains(near_b, near_a, shared, signs, turning, first, second)
        return known[a, b]


def _order(near_b: Matrix, near_a: Matrix, carries: Matrix) -> tuple[Matrix, Matrix]:
    """`first` and `second` of chains; `carries` (nv, nv) is 1 where the joint of a column carries that of another."""
    on = near_b + near_a
    both = on[:, :, None] * on[:, None]
    up = near_b[:, :, None] * (near_b[:, None] * carries.T + near_a[:, None])
    up = up + near_a[:, :, None] * near_a[:, None] * (carries - carries * carries.T)
    return up, both - up


_KNOWN: WeakKeyDictionary[ElementaryTree, dict[tuple[int, tuple[int, ...]], Chains]] = WeakKeyDictionary()


class Seen(NamedTuple):
    """Frames b, and their origins, seen from a frame a, on a box; vectors and columns are in the axes of a.

    Attributes:
        position: of the origins at the centre (n, 3).
        rotation: of the first frame at the centre (3, 3).
        near: how far the origins may be from there by rounding (n,) [m].
        turn_near: how far the first frame may be turned (1,) [rad].
        linear: columns (n, nv, 3) of the velocity of the origins at the centre.
        angular: columns (n, nv, 3) of the angular velocities.
        before: (n, nv) what turns between a and the joint of a column.
        after: (n, nv) what turns between b and the joint.
        by_point: (n, nv) how far the origin of b may move, seen from the joint.
        rounding: (n, nv) of the columns.
        on: (n, nv) 1 for columns that are not zero everywhere.
        first, second: as of `Chains`.
        planes: what of the first frame stays, without rounding.
    """

    position: Matrix
    rotation: Matrix
    near: Vector
    turn_near: float
    linear: Matrix
    angular: Matrix
    before: Matrix
    after: Matrix
    by_point: Matrix
    rounding: Matrix
    on: Matrix
    first: Matrix
    second: Matrix
    planes: Planes

    def direction(self, b: Vector) -> Seen:
        """A direction b (3,) of the first frame, seen from a, in place of its origin: nothing but turns moves it."""
        d = self.rotation @ b
        turning = (np.abs(self.angular[:1]).sum(axis=2) > 0.0) * self.on[:1]
        near = np.array([self.turned_by * float(_length(b))])
        return self._replace(
            position=d[None], near=near, linear=_cross(self.angular[:1], d), angular=self.angular[:1],
            before=self.before[:1], after=self.after[:1], by_point=self.after[:1] * turning,
            rounding=self.rounding[:1], on=turning, first=self.first[:1], second=self.second[:1],
            planes=self.planes.of_direction(b, d),
        )  # fmt: skip

    def place(self, box: TangentBox) -> Enclosure:
        """The origin of b, in R^3."""
        off = self.planes.off(self.near[0])
        return Enclosure.centred(Rn(3), box, self.position[0], off, self.position_columns(), self.position_bend)

    @property
    def quaternion(self) -> Vector:
        """Of the rotation at the centre, xyzw."""
        return SO3.normalize(np.array(pin.Quaternion(self.rotation).coeffs()))

    @property
    def turned_by(self) -> float:
        """How far b may be turned at the centre, whatever about [rad]."""
        return float(rounded_up(self.turn_near + OF_MAPS))

    def turned(self) -> Vector:
        """The same as a rotation vector (3,)."""
        return (self.planes.turns if self.planes.is_kept else np.ones(3)) * self.turned_by

    def turn(self, box: TangentBox) -> Enclosure:
        """The rotation of b, in SO(3)."""
        turned = self.turned_columns()
        return Enclosure.centred(SO3, box, self.quaternion, self.turned(), turned, self.turned_bend)

    def position_columns(self) -> Interval:
        """Of the position (3, nv), in the axes of a."""
        radius = self.before[0] * _length(self.linear[0]) + self.by_point[0]
        return self._columns(self.linear[0].T, radius, self.planes.moves)

    def turned_columns(self) -> Interval:
        """Of the angular velocity of b (3, nv), in the axes of b."""
        radius = self.after[0] * _length(self.angular[0])
        return self._columns((self.angular[0] @ self.rotation).T, radius, self.planes.turns)

    def carried_columns(self) -> Interval:
        """Of the velocity of the origin (3, nv), in the axes of b."""
        radius = self.after[0] * _length(self.linear[0]) + self.by_point[0]
        return self._columns((self.linear[0] @ self.rotation).T, radius, self.planes.carries)

    def position_bend(self) -> Bend:
        """What `position_columns` change by."""
        return self.mean_bend(np.ones(1))

    def mean_bend(self, shares: Vector) -> Bend:
        """What `mean_columns` change by."""
        middle, radius = self._turned(self.before, self.angular, self.linear, self.by_point)
        first, second = self.first[..., None], self.second[..., None]
        turned = np.swapaxes(middle, 1, 2) * first + middle * second  # (n, k, j, 3), each j x k or k x j
        r = np.swapaxes(radius, 1, 2) * self.first + radius * self.second
        straight = np.tensordot(shares, self.linear, 1).T
        small = np.broadcast_to(shares @ (self.on * self.rounding), straight.shape)
        return Bend(
            Interval.around(straight, rounded_up(small)),
            _slopes(np.tensordot(shares, turned, 1), rounded_up(np.tensordot(shares, r, 1))),
        )

    def turned_bend(self) -> Bend:
        """What `turned_columns` change by."""
        ang = self.angular[:1] @ self.rotation
        middle, radius = self._turned(self.after[:1], ang, ang, np.zeros(1))
        second = self.second[0]
        return Bend(self._straight(ang[0].T), _slopes(middle[0] * second[..., None], radius[0] * second))

    def carried_bend(self) -> Bend:
        """What `carried_columns` change by."""
        ang, lin = self.angular[:1] @ self.rotation, self.linear[:1] @ self.rotation
        middle, radius = self._turned(self.after[:1], ang, lin, self.by_point[:1])
        both = middle[0] - np.swapaxes(middle[0], 0, 1)
        r = rounded_up(radius[0] + radius[0].T)
        return Bend(self._straight(lin[0].T), _slopes(both * self.second[0, ..., None], r * self.second[0]))

    def _turned(self, turns: Matrix, ang: Matrix, lin: Matrix, beside: Vector) -> tuple[Matrix, Matrix]:
        """Products of columns, (n, nv, nv, 3) of ang_i x lin_j, and how far each may be off (n, nv, nv).

        The rounding of a product is within that of its columns, which is a hundred times theirs.

        Args:
            turns: what turns before, or behind, each column (n, nv).
            ang, lin: columns at the centre (n, nv, 3).
            beside: (n, nv) what the second ones change by beside being turned.
        """
        small = self.rounding[: len(ang)]
        a, b = _length(ang), _length(lin)
        off_a, off_b = rounded_up(turns * a + small), rounded_up(turns * b + beside + small)
        radius = a[:, :, None] * off_b[:, None] + off_a[:, :, None] * (b + off_b)[:, None]
        return _cross(ang[:, :, None], lin[:, None]), np.asarray(rounded_up(radius))

    def _straight(self, middle: Matrix) -> Interval:
        return Interval.around(middle, np.broadcast_to(self.on[0] * self.rounding[0], middle.shape))

    def mean_columns(self, shares: Vector) -> Interval:
        """Of the mean of the origins (3, nv), in the axes of a; shares (n,) are not negative."""
        middle = np.tensordot(shares, self.linear, 1).T
        radii = self.on * rounded_up(self.before * _length(self.linear) + self.by_point + self.rounding)
        return Interval.around(middle, np.broadcast_to(rounded_up(shares @ radii), middle.shape))

    def _columns(self, middle: Matrix, radius: Vector, rows: Vector) -> Interval:
        """Zero where a joint is on no chain, and in rows (3,) that are 0."""
        r, on = self.on[0] * rounded_up(radius + self.rounding[0]), rows[:, None] * self.on[0]
        found = Interval.around(middle, np.broadcast_to(r, middle.shape))
        return Interval(found.lower * on, found.upper * on)


def _slopes(middle: Matrix, radius: Matrix) -> Interval:
    """As of `Bend` (3, nv, nv), from vectors (nv, nv, 3)."""
    return Interval.around(np.moveaxis(middle, 2, 0), np.broadcast_to(radius, (3, *radius.shape)))


def _length(vectors: Matrix) -> Vector:
    return np.sqrt((vectors * vectors).sum(axis=-1))


def seen(robot: Robot, a: Frame, b: Sequence[Frame], box: TangentBox) -> Seen:
    """Frames b seen from frame a.

    Args:
        robot: the robot.
        a: the frame.
        b: at least one.
        box: of its configurations.

    Raises:
        NoEnclosureError: the robot has an ellipsoid joint.
    """
    placed = Placed.at(robot, box)
    tree, origins = placed.tree, placed.origins
    joints = tree.subspaces[1]
    ja, jb = tree.joints[a.joint], tuple(tree.joints[frame.joint] for frame in b)
    chains = Chains.between(tree, ja, jb)
    pa, Ra = _frame(placed, ja, a)
    ends = [_frame(placed, j, frame) for j, frame in zip(jb, b, strict=True)]
    pb, Rb = np.array([p for p, _ in ends]), ends[0][1]

    # Beyond the chain: the placements of both frames, and what both sides share, which is rounded on each.
    angle = OF_JOINTS * (4.0 + chains.shared)
    far = _length(pb) + float(_length(pa) + _length(a.placement.translation))
    far += np.array([float(_length(frame.placement.translation)) for frame in b])
    beyond = angle * _length(pb - pa) + OF_JOINTS * 4.0 * far

    near_b, near_a, carries = chains.near_b, chains.near_a, tree.carries
    chain = near_a + near_b
    arms = _length(pb[:, None] - origins)
    turns, steps = placed.moved[0], placed.moved[1] + placed.moved[0] * arms
    around = [placed.rates[0], placed.rates[1] + placed.rates[0] * arms]  # of w
    near = rounded_up(((placed.small[1] + placed.small[0] * arms) * chain).sum(axis=1) + beyond)
    turn_near = float((placed.small[0] * chain[0]).sum() + angle[0])

    # Sums along the chain from a on: down from a, then up to b. `@ carries` sums over a joint and what carries it,
    # `@ carries.T` over it and what it carries.
    # w has one length for all joints: of its sums the root of the sum of squares is left.
    def sums(turns: Matrix, steps: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        tb, ta, sb, sa = turns * near_b, turns * near_a, steps * near_b, steps * near_a
        below = carries.T
        return (
            near_b * (ta.sum(axis=1, keepdims=True) + tb @ carries) + near_a * (ta @ below - ta),
            near_b * (tb @ below - tb) + near_a * (tb.sum(axis=1, keepdims=True) + ta @ carries),
            near_b * (sb @ below - sb) + near_a * (sb.sum(axis=1, keepdims=True) + sa @ carries),
        )

    before, after, point = sums(turns, steps)
    if box.ball is not None:
        of_w = sums(around[0] ** 2, around[1] ** 2)
        before, after, point = (x + np.sqrt(y) for x, y in zip((before, after, point), of_w, strict=True))

    levers = pb[:, None] - origins[joints]
    moving = (placed.linear + _cross(placed.angular, levers)) * chains.signs[..., None]
    size = 1.0 + far[:, None] + _length(origins)[joints]
    rounding = (angle[:, None] + 4.0 * OF_JOINTS) * size + beyond[:, None]
    planes = Planes.of(tree, a, b[0])
    position = (pb - pa) @ Ra
    position[0] = np.where(np.isnan(planes.place), position[0], planes.place)
    return Seen(
        position, planes.of_rotation(Ra.T @ Rb), near, turn_near,
        moving @ Ra, (placed.angular * chains.signs[..., None]) @ Ra,
        before[:, joints], after[:, joints], point[:, joints] * chains.turning, rounding, np.abs(chains.signs),
        chains.first, chains.second, planes,
    )  # fmt: skip


def _cross(a: Matrix, b: Matrix) -> Matrix:
    return a[..., _NEXT] * b[..., _AFTER] - a[..., _AFTER] * b[..., _NEXT]


_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


def _frame(placed: Placed, joint: int, frame: Frame) -> tuple[Vector, Matrix]:
    """Origin and rotation of a frame in the world."""
    R = placed.rotations[joint]
    placement: Any = frame.placement
    return placed.origins[joint] + R @ placement.translation, R @ placement.rotation

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
matrices, a sine and a cosine: within 40 units of rounding. So rotations of placements, which are no exact ones in
doubles, are meant as the rotations next to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liegroups import SO3, Rn
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.batch_algebra import cross

from ...errors import NoEnclosureError
from ...robot import Frame, Robot
from ...robot.elementary import ElementaryTree
from ...robot.placement import quaternion_of
from ..enclosures.box import Bend, Enclosure, TangentBox
from ..enclosures.group_bounds import OF_MAPS
from ..enclosures.interval import UNIT, Interval, lengths, rounded_up
from .joint_chains import Chains
from .planes import Planes

OF_JOINTS = 64.0 * UNIT
"""Rounding of one joint of forward kinematics: an angle, and a part of the lengths around it."""


class Placed(NamedTuple):
    """A robot at the centre of a box, and how far its joints move in it. Index 0 is the world.

    Of several boxes all arrays have a leading axis; those of two kinds of motion have it behind theirs.

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
    model, (origins, rotations), (S, joints) = tree.model, tree.placements(box.q), tree.subspaces
    own: Matrix = np.equal.outer(np.arange(int(model.njoints)), joints).astype(np.float64)
    most: Matrix = own @ (np.abs(S.T) * box.core[..., None])
    moved, rates = np.array([lengths(most[..., 3:]), lengths(most[..., :3])]), np.zeros((2, *most.shape[:-1]))
    if box.ball is not None:
        squares: Matrix = own @ (S.T * box.ball[..., None]) ** 2
        rates = np.sqrt([squares[..., 3:].sum(axis=-1), squares[..., :3].sum(axis=-1)])
    far = lengths(origins)
    around = 2.0 * (far + far[..., list(model.parents)] + tree.steps)
    small = OF_JOINTS * np.array([np.ones(around.shape), around])
    small[..., 0] = 0.0
    R = rotations[..., joints, :, :]
    linear, angular = (R @ S.T[:, half, None] for half in (slice(0, 3), slice(3, 6)))
    return Placed(tree, origins, rotations, linear[..., 0], angular[..., 0], small, rounded_up(moved + small), rates)


class Seen(NamedTuple):
    """Frames b, and their origins, seen from a frame a, on a box; vectors and columns are in the axes of a.

    Of several boxes all but `on`, `first` and `second` have a leading axis.

    Attributes:
        position: of the origins at the centre (n, 3).
        rotation: of the first frame at the centre (3, 3).
        near: how far the origins may be from there by rounding (n,) [m].
        turn_near: how far the first frame may be turned () [rad].
        linear: columns (n, nv, 3) of the velocity of the origins at the centre.
        angular: columns (n, nv, 3) of the angular velocities.
        before: (n, nv) what turns between a and the joint of a column.
        after: (n, nv) what turns between b and the joint.
        by_point: (n, nv) how far the origin of b may move, seen from the joint.
        rounding: (n, nv) of the columns.
        on: (n, nv) 1 for columns that are not zero everywhere.
        first, second: as of `Chains`.
        one_sided: no joint is near a.
        planes: what of the first frame stays, without rounding.
    """

    position: Matrix
    rotation: Matrix
    near: Vector
    turn_near: Any
    linear: Matrix
    angular: Matrix
    before: Matrix
    after: Matrix
    by_point: Matrix
    rounding: Matrix
    on: Matrix
    first: Matrix
    second: Matrix
    one_sided: bool
    planes: Planes

    def direction(self, b: Vector) -> Seen:
        """A direction b (3,) of the first frame, seen from a, in place of its origin: nothing but turns moves it."""
        d, angular, after = self.rotation @ b, self.angular[..., :1, :, :], self.after[..., :1, :]
        turning = np.abs(angular).sum(axis=-1).reshape(-1, self.on.shape[1]).any(axis=0) * self.on[:1]
        return self._replace(
            position=d[..., None, :], near=(self.turned_by * lengths(b))[..., None],
            linear=cross(angular, d[..., None, None, :]), angular=angular, before=self.before[..., :1, :],
            after=after, by_point=after * turning, rounding=self.rounding[..., :1, :], on=turning,
            first=self.first[:1], second=self.second[:1], planes=self.planes.of_direction(b, d),
        )  # fmt: skip

    def place(self, box: TangentBox) -> Enclosure:
        """The origin of b, in R^3."""
        off = self.planes.off(self.near[..., :1])
        return Enclosure.centred(Rn(3), box, self.position[..., 0, :], off, self.position_columns(), self.position_bend)

    @property
    def quaternion(self) -> Vector:
        """Of the rotation at the centre, xyzw."""
        each = [quaternion_of(R) for R in self.rotation.reshape(-1, 3, 3)]
        return np.array(each).reshape(*self.rotation.shape[:-2], 4)

    @property
    def turned_by(self) -> Any:
        """How far b may be turned at the centre, whatever about () [rad]."""
        return np.asarray(rounded_up(self.turn_near + OF_MAPS))

    def turned(self) -> Vector:
        """The same as a rotation vector (3,)."""
        return (self.planes.turns if self.planes.is_kept else np.ones(3)) * self.turned_by[..., None]

    def turn(self, box: TangentBox) -> Enclosure:
        """The rotation of b, in SO(3)."""
        turned = self.turned_columns()
        return Enclosure.centred(SO3, box, self.quaternion, self.turned(), turned, self.turned_bend)

    def position_columns(self) -> Interval:
        """Of the position (3, nv), in the axes of a."""
        linear = self.linear[..., 0, :, :]
        radius = self.before[..., 0, :] * lengths(linear) + self.by_point[..., 0, :]
        return self._columns(linear, radius, self.planes.moves)

    def turned_columns(self) -> Interval:
        """Of the angular velocity of b (3, nv), in the axes of b."""
        angular = self.angular[..., 0, :, :]
        return self._columns(angular @ self.rotation, self.after[..., 0, :] * lengths(angular), self.planes.turns)

    def carried_columns(self) -> Interval:
        """Of the velocity of the origin (3, nv), in the axes of b."""
        linear = self.linear[..., 0, :, :]
        radius = self.after[..., 0, :] * lengths(linear) + self.by_point[..., 0, :]
        return self._columns(linear @ self.rotation, radius, self.planes.carries)

    def position_bend(self) -> Bend:
        """What `position_columns` change by."""
        return self.mean_bend(np.ones(1))

    def mean_bend(self, shares: Vector) -> Bend:
        """What `mean_columns` change by."""
        if len(shares) > 1 and self.one_sided:
            return self._of_mean(shares)
        middle, radius = self._turned(self.before, self.angular, self.linear, self.by_point)
        first, second = self.first[..., None], self.second[..., None]
        turned = np.swapaxes(middle, -3, -2) * first + middle * second  # (n, k, j, 3), each j x k or k x j
        r = np.swapaxes(radius, -2, -1) * self.first + radius * self.second
        return Bend(
            _rows_of(_mean(shares, self.linear, -3), rounded_up(_mean(shares, self.on * self.rounding, -2))),
            _slopes(_mean(shares, turned, -4), rounded_up(_mean(shares, r, -3))),
        )

    def _of_mean(self, shares: Vector) -> Bend:
        r"""As `mean_bend`, where no joint is near a: then joint i, where it is first, has one `ang_i` for all frames.

        Of the products the mean is :math:`ang_i \times \sum_b s_b\, lin_j`, over the frames b that j carries; i
        carries them too. What they may be off by is summed in the same way, with the largest for `ang_i`.
        """
        on, small = self.on, self.on * self.rounding
        a, b = lengths(self.angular), lengths(self.linear)
        off_a = rounded_up(self.before * a + small).max(axis=-2)
        off_b = on * rounded_up(self.before * b + self.by_point + small)
        lin, (b, off_b, small) = _mean(shares, self.linear, -3), (_mean(shares, x, -2) for x in (b, off_b, small))
        ang = np.abs(self.angular).max(axis=-3) * np.where(self.angular.min(axis=-3) < 0.0, -1.0, 1.0)
        products = cross(ang[..., :, None, :], lin[..., None, :, :])
        sizes = lengths(ang)[..., None] * off_b[..., None, :] + off_a[..., None] * (b + off_b)[..., None, :]
        first, second = self.first.max(axis=0), self.second.max(axis=0)
        middle = np.swapaxes(products, -3, -2) * first[..., None] + products * second[..., None]
        radius = np.asarray(rounded_up(np.swapaxes(sizes, -2, -1) * first + sizes * second))
        return Bend(_rows_of(lin, rounded_up(small)), _slopes(middle, rounded_up(radius)))

    def turned_bend(self) -> Bend:
        """What `turned_columns` change by."""
        ang, second = self.angular[..., :1, :, :] @ self.rotation[..., None, :, :], self.second[0]
        middle, radius = self._turned(self.after[..., :1, :], ang, ang, np.zeros(1))
        slopes = _slopes(middle[..., 0, :, :, :] * second[..., None], radius[..., 0, :, :] * second)
        return Bend(self._straight(ang[..., 0, :, :]), slopes)

    def carried_bend(self) -> Bend:
        """What `carried_columns` change by."""
        ang, lin = (x[..., :1, :, :] @ self.rotation[..., None, :, :] for x in (self.angular, self.linear))
        middle, radius = self._turned(self.after[..., :1, :], ang, lin, self.by_point[..., :1, :])
        middle, radius, second = middle[..., 0, :, :, :], radius[..., 0, :, :], self.second[0]
        both = middle - np.swapaxes(middle, -3, -2)
        r = rounded_up(radius + np.swapaxes(radius, -2, -1))
        return Bend(self._straight(lin[..., 0, :, :]), _slopes(both * second[..., None], r * second))

    def _turned(self, turns: Matrix, ang: Matrix, lin: Matrix, beside: Vector) -> tuple[Matrix, Matrix]:
        """Products of columns, (n, nv, nv, 3) of ang_i x lin_j, and how far each may be off (n, nv, nv).

        The rounding of a product is within that of its columns, which is a hundred times theirs.

        Args:
            turns: what turns before, or behind, each column (n, nv).
            ang, lin: columns at the centre (n, nv, 3).
            beside: (n, nv) what the second ones change by beside being turned.
        """
        small = self.rounding[..., : ang.shape[-3], :]
        a, b = lengths(ang), lengths(lin)
        off_a, off_b = rounded_up(turns * a + small), rounded_up(turns * b + beside + small)
        radius = a[..., None] * off_b[..., None, :] + off_a[..., None] * (b + off_b)[..., None, :]
        return cross(ang[..., :, None, :], lin[..., None, :, :]), np.asarray(rounded_up(radius))

    def _straight(self, middle: Matrix) -> Interval:
        return _rows_of(middle, self.on[0] * self.rounding[..., 0, :])

    def mean_columns(self, shares: Vector) -> Interval:
        """Of the mean of the origins (3, nv), in the axes of a; shares (n,) are not negative."""
        radii = self.on * rounded_up(self.before * lengths(self.linear) + self.by_point + self.rounding)
        return _rows_of(_mean(shares, self.linear, -3), rounded_up(_mean(shares, radii, -2)))

    def _columns(self, vectors: Matrix, radius: Vector, rows: Vector) -> Interval:
        """From vectors (nv, 3), where they are on the chain, and zero in rows (3,) that are 0."""
        found = _rows_of(vectors, self.on[0] * rounded_up(radius + self.rounding[..., 0, :]))
        on = rows[:, None] * self.on[0]
        return Interval(found.lower * on, found.upper * on)


def _mean(shares: Vector, each: Matrix, axis: int) -> Matrix:
    """Of what stands along an axis."""
    if len(shares) == 1:
        return shares[0] * np.take(each, 0, axis)
    return np.tensordot(each, shares, ([axis], [0]))


def _rows_of(vectors: Matrix, radius: Matrix) -> Interval:
    """A matrix (3, nv) with these columns (nv, 3), each as far off as its radius (nv,)."""
    return Interval.around(np.swapaxes(vectors, -2, -1), radius[..., None, :])


def _slopes(middle: Matrix, radius: Matrix) -> Interval:
    """As of `Bend` (3, nv, nv), from vectors (nv, nv, 3)."""
    return Interval.around(np.moveaxis(middle, -1, -3), radius[..., None, :, :])


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
    pb, Rb = np.stack([p for p, _ in ends], axis=-2), ends[0][1]
    apart = pb - pa[..., None, :]

    # Beyond the chain: the placements of both frames, and what both sides share, which is rounded on each.
    angle = OF_JOINTS * (4.0 + chains.shared)
    far = lengths(pb) + (lengths(pa) + lengths(a.placement.translation))[..., None]
    far += np.array([float(lengths(frame.placement.translation)) for frame in b])
    beyond = angle * lengths(apart) + OF_JOINTS * 4.0 * far

    near_b, near_a, carries = chains.near_b, chains.near_a, tree.carries
    chain = near_a + near_b
    arms = lengths(pb[..., :, None, :] - origins[..., None, :, :])
    small, moved, rates = (x[..., None, :] for x in (placed.small, placed.moved, placed.rates))
    turns, steps = moved[0], moved[1] + moved[0] * arms
    around = [rates[0], rates[1] + rates[0] * arms]  # of w
    near = rounded_up(((small[1] + small[0] * arms) * chain).sum(axis=-1) + beyond)
    turn_near = (placed.small[0] * chain[0]).sum(axis=-1) + angle[0]

    # Sums along the chain from a on: down from a, then up to b. `@ carries` sums over a joint and what carries it,
    # `@ carries.T` over it and what it carries.
    # w has one length for all joints: of its sums the root of the sum of squares is left.
    def sums(turns: Matrix, steps: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        tb, ta, sb, sa = turns * near_b, turns * near_a, steps * near_b, steps * near_a
        below = carries.T
        return (
            near_b * (ta.sum(axis=-1, keepdims=True) + tb @ carries) + near_a * (ta @ below - ta),
            near_b * (tb @ below - tb) + near_a * (tb.sum(axis=-1, keepdims=True) + ta @ carries),
            near_b * (sb @ below - sb) + near_a * (sb.sum(axis=-1, keepdims=True) + sa @ carries),
        )

    before, after, point = sums(turns, steps)
    if box.ball is not None:
        of_w = sums(around[0] ** 2, around[1] ** 2)
        before, after, point = (x + np.sqrt(y) for x, y in zip((before, after, point), of_w, strict=True))

    levers, axes = pb[..., :, None, :] - origins[..., None, joints, :], placed.angular[..., None, :, :]
    moving = (placed.linear[..., None, :, :] + cross(axes, levers)) * chains.signs[..., None]
    size = 1.0 + far[..., None] + lengths(origins)[..., None, joints]
    rounding = (angle[:, None] + 4.0 * OF_JOINTS) * size + beyond[..., None]
    to_a, planes, position = Ra[..., None, :, :], Planes.of(tree, a, b[0]), apart @ Ra
    position[..., 0, :] = np.where(np.isnan(planes.place), position[..., 0, :], planes.place)
    return Seen(
        position, planes.of_rotation(np.swapaxes(Ra, -2, -1) @ Rb), near, turn_near, moving @ to_a,
        (axes * chains.signs[..., None]) @ to_a, before[..., joints], after[..., joints],
        point[..., joints] * chains.turning, rounding, np.abs(chains.signs), chains.first, chains.second,
        not near_a.any(), planes,
    )  # fmt: skip


def _frame(placed: Placed, joint: int, frame: Frame) -> tuple[Vector, Matrix]:
    """Origin and rotation of a frame in the world."""
    R = placed.rotations[..., joint, :, :]
    placement: Any = frame.placement
    return placed.origins[..., joint, :] + R @ placement.translation, R @ placement.rotation

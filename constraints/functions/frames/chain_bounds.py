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

Rounding is a motion too: forward kinematics in doubles give what joints that turn by `OF_JOINTS` more, and move by as
much of the lengths (from the world's origin) around them, would give exactly. Each of its steps is a product of 3 x 3
matrices, a sine and a cosine: within 20 units of rounding. So rotations of placements, which are no exact ones in
doubles, are meant as the rotations next to them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from liegroups import SO3
from liegroups.arrays import Matrix, Vector


from ...errors import NoEnclosureError
from ...robot import Frame, Robot
from ...robot.elementary import ElementaryTree
from ...robot.model.pinocchio import pin
from ..enclosures.box import Box, Enclosure
from ..enclosures.group_bounds import OF_MAPS
from ..enclosures.interval import UNIT, Interval, rounded_up

OF_JOINTS = 64.0 * UNIT
"""Rounding of one joint of forward kinematics: an angle, and a part of the lengths around it."""


class Placed(NamedTuple):
    """A robot at the centre of a box, and how far its joints move in it. Index 0 is the world.

    Attributes:
        tree: with elementary joints.
        origins: of the joints (njoints, 3).
        rotations: of the joints (njoints, 3, 3).
        small: angles and lengths (2, njoints) of rounding alone.
        moved: the same with the motion in the box.
    """

    tree: ElementaryTree
    origins: Matrix
    rotations: Matrix
    small: Matrix
    moved: Matrix

    @staticmethod
    def at(robot: Robot, box: Box) -> Placed:
        """The robot on a box of its configurations; made once for all functions of it there."""
        tree = robot.space.elementary
        return box.shared(tree, lambda: _placed(tree, robot.name, box))


def _placed(tree: ElementaryTree, name: str, box: Box) -> Placed:
    if not tree.is_exact:
        raise NoEnclosureError(f"robot {name}", "it has an ellipsoid joint, whose motions are no chain of simple ones")
    model, data = tree.model, tree.datas.take()
    pin.forwardKinematics(model, data, box.q)
    origins = np.array([oMi.translation for oMi in data.oMi])
    rotations = np.array([oMi.rotation for oMi in data.oMi])
    tree.datas.give(data)
    S, joints = tree.subspaces
    most = np.zeros((model.njoints, 6))
    np.add.at(most, joints, (np.abs(S) * box.r).T)
    moved = np.sqrt(np.array([(most[:, 3:] ** 2).sum(axis=1), (most[:, :3] ** 2).sum(axis=1)]))
    far = np.linalg.norm(origins, axis=1)
    steps = np.array([np.linalg.norm(M.translation) for M in model.jointPlacements])
    lengths = 2.0 * (far + far[list(model.parents)] + steps)
    small = OF_JOINTS * np.array([np.ones(model.njoints), lengths])
    small[:, 0] = 0.0
    return Placed(tree, origins, rotations, small, rounded_up(moved + small))


class Seen(NamedTuple):
    """Points, or frames, seen from a frame a, on a box; all vectors and columns are in the axes of a.

    Attributes:
        position: of the origin of b at the centre (3,).
        rotation: of b at the centre (3, 3).
        near: how far the origin may be from there by rounding [m], and how far b may be turned [rad].
        linear, angular: columns (3, nv) of the velocity of the origin, and of the angular velocity of b, at the centre.
        before: (nv,) what turns between a and the joint of a column.
        after: (nv,) what turns between b and the joint.
        by_point: (nv,) how far the origin of b may move, seen from the joint.
        rounding: (nv,) of the columns; zero where a column is zero everywhere.
    """

    position: Vector
    rotation: Matrix
    near: tuple[float, float]
    linear: Matrix
    angular: Matrix
    before: Vector
    after: Vector
    by_point: Vector
    rounding: Vector

    @property
    def quaternion(self) -> Vector:
        """Of the rotation at the centre, xyzw."""
        return SO3.normalize(np.array(pin.Quaternion(self.rotation).coeffs()))

    def turned(self) -> Vector:
        """How far b may be turned at the centre, as a rotation vector (3,)."""
        return np.full(3, float(rounded_up(self.near[1] + OF_MAPS)))

    def turn(self, box: Box) -> Enclosure:
        """The rotation of b, in SO(3)."""
        return Enclosure.centred(SO3, box, self.quaternion, self.turned(), self.turned_columns())

    def position_columns(self) -> Interval:
        """Of the position (3, nv), in the axes of a."""
        return self._columns(self.linear, self.before * _lengths(self.linear) + self.by_point)

    def turned_columns(self) -> Interval:
        """Of the angular velocity of b (3, nv), in the axes of b."""
        return self._columns(self.rotation.T @ self.angular, self.after * _lengths(self.angular))

    def carried_columns(self) -> Interval:
        """Of the velocity of the point (3, nv), in the axes of b."""
        return self._columns(self.rotation.T @ self.linear, self.after * _lengths(self.linear) + self.by_point)

    def _columns(self, middle: Matrix, radius: Vector) -> Interval:
        r = np.where(self.rounding > 0.0, rounded_up(radius + self.rounding), 0.0)
        return Interval.around(middle, np.broadcast_to(r, middle.shape)) if r.any() else Interval.of(middle)


def _lengths(columns: Matrix) -> Vector:
    return np.sqrt((columns * columns).sum(axis=0))


def seen(robot: Robot, a: Frame, b: Frame, box: Box) -> Seen:
    """Frame b, and its origin, seen from frame a.

    Args:
        robot: the robot.
        a, b: the frames.
        box: of its configurations.

    Raises:
        NoEnclosureError: the robot has an ellipsoid joint.
    """
    placed = Placed.at(robot, box)
    tree = placed.tree
    S, joints = tree.subspaces
    ja, jb = tree.joints[a.joint], tree.joints[b.joint]
    carries = tree.carries
    on_a, on_b = carries[:, ja] > 0.0, carries[:, jb] > 0.0
    near_b, near_a = on_b & ~on_a, on_a & ~on_b
    pa, Ra = _frame(placed, ja, a)
    pb, Rb = _frame(placed, jb, b)

    # Beyond the chain: the placements of both frames, and what both sides share, which is rounded on each.
    shared = int((on_a & on_b).sum())
    angle = OF_JOINTS * (4.0 + shared)
    reach = float(np.linalg.norm(pb - pa))
    far = float(np.linalg.norm(pa) + np.linalg.norm(pb))
    far += float(np.linalg.norm(a.placement.translation) + np.linalg.norm(b.placement.translation))
    ends = angle * reach + OF_JOINTS * 4.0 * far

    arms = np.sqrt(((pb - placed.origins) ** 2).sum(axis=1))
    chain = (near_a | near_b).astype(np.float64)
    turns, steps = placed.moved[0] * chain, (placed.moved[1] + placed.moved[0] * arms) * chain
    small = placed.small * chain
    near = float(rounded_up((small[1] + small[0] * arms).sum() + ends)), float(rounded_up(small[0].sum() + angle))

    # Sums along the chain, from a on: first down from a, then up to b. `up` of a joint: itself and those nearer to the
    # root of its side; `down`: itself and those nearer to its frame.
    up, down = carries.T, carries
    tb, ta = turns * near_b, turns * near_a
    sb, sa = steps * near_b, steps * near_a
    before = np.where(near_b, ta.sum() + up @ tb, down @ ta - ta)
    after = np.where(near_b, down @ tb - tb, tb.sum() + up @ ta)
    point = np.where(near_b, down @ sb - sb, sb.sum() + up @ sa)

    sign = np.where(near_b, 1.0, 0.0) - np.where(near_a, 1.0, 0.0)
    R = placed.rotations[joints]
    linear, angular = np.einsum("kij,jk->ik", R, S[:3]), np.einsum("kij,jk->ik", R, S[3:])
    levers = (pb - placed.origins[joints]).T
    moving = linear + np.cross(angular.T, levers.T).T
    signs = sign[joints]
    turning = (np.abs(S[3:]).sum(axis=0) > 0.0).astype(np.float64)
    size = 1.0 + far + np.sqrt((placed.origins[joints] ** 2).sum(axis=1))
    own = (angle + 4.0 * OF_JOINTS) * size + ends
    return Seen(
        Ra.T @ (pb - pa),
        Ra.T @ Rb,
        near,
        Ra.T @ (moving * signs),
        Ra.T @ (angular * signs),
        before[joints] * np.abs(signs),
        after[joints] * np.abs(signs),
        point[joints] * turning * np.abs(signs),
        own * np.abs(signs),
    )


def _frame(placed: Placed, joint: int, frame: Frame) -> tuple[Vector, Matrix]:
    """Origin and rotation of a frame in the world."""
    R = placed.rotations[joint]
    placement: Any = frame.placement
    return placed.origins[joint] + R @ placement.translation, R @ placement.rotation

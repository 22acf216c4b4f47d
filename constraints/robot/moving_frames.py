"""Frames of a robot in motion, and seen from each other, with derivatives by q and v; and wrenches between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross
from liegroups.formulas.third_order import se3_ad

from .frame import Frame
from .model.pinocchio import pin

if TYPE_CHECKING:
    from .elementary import ElementaryTree
    from .posture import Motion

_LOCAL: Any = pin.LOCAL
_IN_WORLD: Any = pin.LOCAL_WORLD_ALIGNED
_derivatives: Any = pin.getFrameAccelerationDerivatives
_of_point: Any = pin.getPointClassicAccelerationDerivatives


class SeenFrame(NamedTuple):
    """Placement and motion of one frame in its own axes, with derivatives by q and v.

    Attributes:
        pose: in the world.
        twist, acceleration: body twist and spatial acceleration (pinocchio's).
        jacobian: (6, nv), of the twist by v, of the acceleration by that of the joints.
        twist_q, acceleration_q, acceleration_v: (6, nv).
    """

    pose: Any
    twist: Any
    acceleration: Any
    jacobian: Matrix
    twist_q: Matrix
    acceleration_q: Matrix
    acceleration_v: Matrix


class WeightedPoint(NamedTuple):
    """A point of a body, in a mean.

    Attributes:
        joint: index, in the robot, of the joint that carries the body.
        placement: of the point on it; its rotation counts for nothing.
        share: of the whole.
    """

    joint: int
    placement: Any
    share: float


class RelativeFrame(NamedTuple):
    """Motion of one frame seen from another, in its axes, with derivatives.

    Attributes:
        pose, twist, acceleration: X, its body twist (6,) and the derivative of that.
        jacobian: of X (6, nv), along body twists: of the twist by v, too.
        twist_q, acceleration_q, acceleration_v: (6, nv).
        carried: (6, nv) twist of the reference, seen from the frame, by v; None where it is in the world.
    """

    pose: Any
    twist: Vector
    acceleration: Vector
    jacobian: Matrix
    twist_q: Matrix
    acceleration_q: Matrix
    acceleration_v: Matrix
    carried: Matrix | None


@final
class MovingFrames:
    r"""A tree in motion, with an acceleration that is kept: its frames, each computed once.

    Args:
        tree: elementary, whose derivatives pinocchio knows.
        data: of pinocchio, for that tree; overwritten, and read as long as frames are asked for.
        q, v, a: (nq,), (nv,), (nv,).
    """

    __slots__ = ("_frames", "data", "tree")

    def __init__(self, tree: ElementaryTree, data: Any, q: Vector, v: Vector, a: Vector) -> None:
        pin.computeForwardKinematicsDerivatives(tree.model, data, q, v, a)
        self.tree, self.data = tree, data
        self._frames: dict[int, SeenFrame] = {}

    def seen(self, frame: Frame) -> SeenFrame:
        """A frame of the robot, in its own axes."""
        known = self._frames.get(id(frame))
        if known is None:
            data, joint, placement = self.data, self.tree.joints[frame.joint], frame.placement
            slopes = _derivatives(self.tree.model, data, joint, placement, _LOCAL)
            if slopes[0].ndim == 1:  # pinocchio gives one column as a vector
                slopes = [each[:, None] for each in slopes]
            twist_q, by_q, by_v, J = slopes
            twist, acceleration = placement.actInv(data.v[joint]), placement.actInv(data.a[joint])
            known = SeenFrame(data.oMi[joint] * placement, twist, acceleration, J, twist_q, by_q, by_v)
            self._frames[id(frame)] = known
        return known

    def mean(self, parts: Sequence[WeightedPoint]) -> SeenFrame:
        """The mean of points of bodies, as the origin of a frame that never turns.

        Args:
            parts: at least one; their shares add up to 1.
        """
        data, n = self.data, self.tree.model.nv
        place, velocity, acceleration = np.zeros((3, 3))
        slopes = np.zeros((4, 6, n))
        for part in parts:
            joint, at = self.tree.joints[part.joint], part.placement
            oMp = data.oMi[joint] * at
            nu, gamma = at.actInv(data.v[joint]), at.actInv(data.a[joint])
            v = nu.linear
            place += part.share * oMp.translation
            velocity += part.share * oMp.rotation.dot(v)
            acceleration += part.share * oMp.rotation.dot(gamma.linear + cross(nu.angular, v))
            for whole, own in zip(slopes, _of_point(self.tree.model, data, joint, at, _IN_WORLD), strict=True):
                whole[:3] += part.share * own.reshape(3, n)  # pinocchio gives one column as a vector
        twist_q, by_q, by_v, J = slopes
        still, origin = np.zeros(3), pin.SE3(np.eye(3), place)
        twist, second = pin.Motion(velocity, still), pin.Motion(acceleration, still)
        return SeenFrame(origin, twist, second, J, twist_q, by_q, by_v)

    def relative(self, a: Frame, b: Frame) -> RelativeFrame:
        """Frame b seen from frame a, which may be held in the world."""
        return self.seen_from(a, self.seen(b))

    def seen_from(self, a: Frame, to: SeenFrame) -> RelativeFrame:
        r"""A frame seen from frame a, which may be held in the world.

        With :math:`X = {}^aM_b` and :math:`\nu` its body twist,

        .. math::
            \delta X = J\,\delta q, \qquad
            \delta \nu = \delta\nu_b - X^{-1}\delta\nu_a + \mathrm{ad}_{X^{-1}\nu_a}\,\delta X
        """
        if not a.joint:
            twist, acceleration = to.twist.vector, to.acceleration.vector
            pose = a.placement.actInv(to.pose)
            return RelativeFrame(
                pose, twist, acceleration, to.jacobian, to.twist_q, to.acceleration_q, to.acceleration_v, None
            )
        return _relative(self.seen(a), to)


def _relative(a: SeenFrame, b: SeenFrame) -> RelativeFrame:
    pose = a.pose.actInv(b.pose)
    to_b = pose.toActionMatrixInverse()
    back, back2 = pose.actInv(a.twist), pose.actInv(a.acceleration)
    nu = b.twist - back
    carried = to_b @ a.jacobian
    J = b.jacobian - carried
    ad_back, ad_nu = se3_ad(back.vector), se3_ad(nu.vector)
    turned = ad_back @ J
    back_q = to_b @ a.twist_q + turned
    twist_q = b.twist_q - back_q
    second_q = b.acceleration_q - to_b @ a.acceleration_q - se3_ad(back2.vector) @ J
    second_q += ad_nu @ back_q - ad_back @ twist_q
    second_v = b.acceleration_v - to_b @ a.acceleration_v + ad_nu @ carried - turned
    acceleration = (b.acceleration - back2 + nu.cross(back)).vector
    return RelativeFrame(pose, nu.vector, acceleration, J, twist_q, second_q, second_v, carried)


class WrenchSlopes(NamedTuple):
    r"""A wrench on frame b, in its axes at its origin, and what it changes by.

    Attributes:
        wrench: w (6,): force, then moment [N, N m].
        by_pose: (6, 6), by the pose of b seen from a, along its body twists.
        by_twist: (6, 6), by that body twist.
    """

    wrench: Vector
    by_pose: Matrix
    by_twist: Matrix


def joint_force_slopes(
    motion: Motion, a: Frame, b: Frame, law: Callable[[RelativeFrame], WrenchSlopes | None]
) -> tuple[Matrix, Matrix] | None:
    r"""Derivatives (nv, nv) by q and v of the joint forces of a wrench on frame b and of the opposite one on frame a.

    With X the pose of b seen from a, :math:`\delta X = J\,\delta q` and :math:`\nu = J\,v` its body twist,

    .. math:: \tau = J^T w(X, \nu), \qquad
        \delta\tau = \delta J^T w + J^T \Big(\frac{\partial w}{\partial X}\,\delta X
        + \frac{\partial w}{\partial\nu}\,\delta\nu\Big)

    Args:
        motion: the state.
        a, b: the frames, on two joints; one may be held in the world.
        law: w of the motion of b seen from a; None where it has no formulas.

    Returns:
        None where the law gives none, and on robots with ellipsoid joints, whose motions are no chain of elementary
        ones.
    """
    posture, v = motion.posture, np.array(motion.v)
    tree = posture.space.elementary
    if not tree.is_exact:
        return None
    moving = tree.moving(motion.q, v, np.zeros(v.size))
    seen = moving.relative(a, b)
    found = law(seen)
    tree.datas.give(moving.data)
    if found is None:
        return None
    pushed: Any = posture.placement(b).act(pin.Force(found.wrench))
    by_q = tree.wrench_slope(posture.with_jacobians().world_jacobian, a, b, pushed.vector)
    by_q += seen.jacobian.T @ (found.by_pose @ seen.jacobian + found.by_twist @ seen.twist_q)
    return by_q, seen.jacobian.T @ found.by_twist @ seen.jacobian

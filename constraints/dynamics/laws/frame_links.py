"""Forces between two frames, on coordinates of their relative pose; by any law of the pose itself, links in 3D."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liegroups import SE3, Space
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ...functions.frames.frame_function import FrameFunction, world_or_frame
from ...functions.frames.pose import Pose
from ...loops.closures import FixedClosureError
from ...loops.hinges.hinge_fit import RateSlopes
from ...robot import Frame, Motion, Posture, Robot
from ...robot.arguments import as_robot
from ...robot.model.pinocchio import Placement
from ...robot.moving_frames import RelativeFrame, WrenchSlopes, joint_force_slopes
from .on_function import ByLaw, MovingValue, OnFunction


class BetweenFrames(OnFunction):
    r"""A force y on coordinates of the pose X of frame b seen from frame a, equal and opposite wrenches on both.

    .. math:: \dot\theta = F(X)\,\nu, \qquad w_b = F^T y, \qquad w_a = -\,{}^aX_b^*\,w_b, \qquad
        \tau = w_b^T (J_b - {}^bX_a\, J_a)

    with :math:`\nu` the body twist of b relative to a. Each wrench is at the origin of its frame and in its axes, force
    then moment. Here the coordinates are the pose itself, and F is the identity.

    It is the force on the function :math:`\theta(X(q))`, and takes the second derivatives of X from the motion of the
    two frames, all rows at once.
    """

    def _coordinates(self, pose: Any) -> Any:
        """The coordinates of a pose."""
        return pose.copy()

    def _rows(self, pose: Any, twist: Vector) -> Matrix:
        """F (m, 6) at a pose that moves."""
        return np.eye(6)

    def _row_slopes(self, pose: Any, twist: Vector, force: Vector) -> RateSlopes:
        """F, and the derivatives of F nu and of F^T y by the pose."""
        return RateSlopes(np.eye(6), np.zeros((6, 6)), np.zeros((6, 6)))

    @property
    def _values(self) -> Space:
        return SE3

    @property
    def has_exact_slopes(self) -> bool:
        """As `OnFunction.has_exact_slopes`."""
        return True

    @final
    def on_bodies(self, motion: Motion) -> tuple[tuple[Frame, Vector], ...]:
        """Frames b and a, each with the wrench (6,) on it, in its axes: opposite wrenches on one line of action."""
        pose, _, twist = self._moving(motion)
        F = self._rows(pose, twist)
        on_b = self._force(self._coordinates(pose), F @ twist) @ F
        return (self._frames.frame_b, on_b), (self._frames.frame_a, -on_other(pose, on_b))

    @final
    def generalised_slopes(self, motion: Motion) -> tuple[Matrix, Matrix] | None:
        """Derivatives (nv, nv) of the joint forces by q and v; None where there are no formulas.

        That is so for laws that are functions, on robots with ellipsoid joints, and where the ends of a link coincide.
        """
        self._check(motion)
        return joint_force_slopes(motion, self._frames.frame_a, self._frames.frame_b, self._wrench_slopes)

    def _wrench_slopes(self, seen: RelativeFrame) -> WrenchSlopes | None:
        r"""Of :math:`w = F(X)^T\,y(\theta, F(X)\,\nu)`."""
        found = self._pull(self._coordinates(seen.pose), self._rows(seen.pose, seen.twist) @ seen.twist)
        if found is None:
            return None
        F, rate, force = self._row_slopes(seen.pose, seen.twist, found.force)
        by_pose = force + F.T @ (found.by_value @ F + found.by_rate @ rate)
        return WrenchSlopes(found.force @ F, by_pose, F.T @ found.by_rate @ F)

    @final
    def _value_at(self, q: ArrayLike) -> Any:
        return self._coordinates(self._pose_at(q))

    @final
    def _pose_at(self, q: ArrayLike) -> Any:
        space: Any = self._frames.inputs
        return self._frames.relative_placement(space.at(q).placed()).copy()

    @final
    def _seen(self, motion: Motion) -> MovingValue:
        pose, J, twist = self._moving(motion)
        F = self._rows(pose, twist)
        return MovingValue(self._coordinates(pose), F @ twist, F @ J)

    @final
    def _moving(self, motion: Motion) -> tuple[Any, Matrix, Vector]:
        """Pose of b seen from a, its Jacobian (6, nv), along body twists, and its twist (6,)."""
        self._check(motion)
        pose, J = seen_pose(self._frames, motion.posture)
        return pose, J, J @ motion.v

    @property
    def _frames(self) -> FrameFunction:
        function: Any = self._function
        return function


@final
@dataclass(frozen=True, eq=False)
class FrameLink(ByLaw, BetweenFrames):
    r"""A force and a torque between two frames as a function of their relative pose and twist: a bushing, a mount.

    .. math:: w_b = f({}^aM_b, \nu, t), \qquad w_a = -\,{}^aX_b^*\, w_b, \qquad
        \tau = w_b^T (J_b - {}^bX_a\, J_a)

    :math:`{}^aM_b` is the pose of b seen from a, :math:`\nu` (6,) the twist of b relative to a in the axes of b, linear
    then angular. The wrench :math:`w_b` (6,) acts on b, at its origin and in its axes, force then moment; a receives
    the same wrench with the opposite sign, on the same line of action. So the power is :math:`w_b \cdot \nu`, and the
    sum over both bodies is zero. The wrench of a spring is opposite to the pose: it pulls back.

    For a linear spring and damper on each coordinate use a `HingeSpring` on a closure with `Hinge.free()`, which holds
    nothing.

    Args:
        robot: the robot.
        a, b: frame names, Frames, or placements in the world (None: the world itself).
        law: f(pose, twist) or f(pose, twist, t) of a `pinocchio.SE3`, (6,) and s, which returns (6,) [N, N m].
        potential: E(pose) [J], for `energy`, if the law has one: :math:`dE = -w_b \cdot \nu\,dt`.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.
        FixedClosureError: both frames are on one joint.
        WrongObjectError: not a function, or one with other arguments.

    Example:
        >>> from constraints.models import sample_two_arms
        >>> robot = sample_two_arms()
        >>> glue = FrameLink(robot, "left_tool", "right_tool", lambda pose, twist: -5.0 * twist)
        >>> motion = robot.at(robot.neutral, [0.1] * robot.nv)
        >>> bool(glue.generalised(motion) @ motion.v < 0.0)  # it takes power
        True

    Source: 3D links of Robotran, `mbs_calc_force`.
    """

    robot: Robot
    a: Any
    b: Any
    law: Callable[..., ArrayLike]
    potential: Callable[..., float] | None = None

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, pose = ends(self.robot, self.a, self.b, "frame link")
        set_fields(self, robot=robot, a=pose.frame_a, b=pose.frame_b)
        self._take(pose, self.law, self.potential, ("pose", "twist"), what=f"law of a {self._what}")

    def pose(self, q: ArrayLike) -> Placement:
        """B seen from a at q (nq,)."""
        return self._pose_at(q)

    def wrench(self, motion: Motion) -> Vector:
        """Wrench (6,) on b, at its origin and in its axes: force [N], moment [N m].

        Raises:
            NoTimeError: the law depends on time, and none was given.
            SizeError, DtypeError, NotFiniteError: the result of the law is not (6,) numbers.
        """
        return self.on_bodies(motion)[0][1]

    @property
    def _what(self) -> str:
        return f"frame link of {self.a} and {self.b}"


def ends(robot: object, a: object, b: object, word: str) -> tuple[Robot, Pose]:
    """The robot of a link, and frame b seen from frame a, from what a user gave.

    Raises:
        FixedClosureError: both frames are on one joint.
    """
    whole = as_robot(robot, f"robot of a {word}")
    first, second = (world_or_frame(whole, end, f"frame {name} of a {word}") for end, name in ((a, "a"), (b, "b")))
    if first.joint == second.joint:
        where = "in the world" if first.joint == 0 else f"on joint '{whole.model.names[first.joint]}'"
        raise FixedClosureError(f"{word} of {first} and {second}", where)
    return whole, Pose(whole, second, first)


def seen_pose(f: FrameFunction, posture: Posture) -> tuple[Any, Matrix]:
    """Pose of b seen from a, a copy, and its Jacobian (6, nv), along body twists."""
    k, J = posture.with_jacobians(), np.empty((6, posture.space.nv))
    pose = f.relative_placement(k).copy()
    f.write_jacobian(k, None, J)
    return pose, J


def on_other(pose: Any, wrenches: Matrix) -> Matrix:
    """Wrenches (6,) or (6, k) on b in its frame, moved to frame a."""
    return np.asarray(pose.toActionMatrixInverse().T @ wrenches)

"""Links in three dimensions: a force and a torque between two frames, by any law of their relative motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liegroups.arguments import finite_number, finite_vector
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import set_fields

from ...errors import RobotMismatchError
from ...robot import Frame, Motion, Robot
from ...robot.model.pinocchio import Placement, pin
from .law import InTime, Law, NoEnergyError
from .links import ends


@final
@dataclass(frozen=True, eq=False)
class FrameLink(InTime):
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

    _law: Law | None = field(init=False, repr=False)
    _energy: Law | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, a, b = ends(self.robot, self.a, self.b, "frame link")
        set_fields(self, robot=robot, a=a, b=b)
        set_fields(self, _law=Law.of(self.law, ("pose", "twist"), f"law of a {self._what}", "a wrench (6,)"))
        if self.potential is not None:
            words = f"potential of a {self._what}"
            set_fields(self, _energy=Law.of(self.potential, ("pose",), words, "a number [J]"))

    def pose(self, q: ArrayLike) -> Placement:
        """B seen from a at q (nq,)."""
        posture = self.robot.at(q)
        return posture.placement(self.a).actInv(posture.placement(self.b))

    def wrench(self, motion: Motion) -> Vector:
        """Wrench (6,) on b, at its origin and in its axes: force [N], moment [N m].

        Raises:
            NoTimeError: the law depends on time, and none was given.
            SizeError, DtypeError, NotFiniteError: the result of the law is not (6,) numbers.
        """
        return self._across(motion)[1]

    def on_bodies(self, motion: Motion) -> tuple[tuple[Frame, Vector], ...]:
        """The two frames, each with the wrench (6,) on it, in its axes: opposite wrenches, each at its frame."""
        X, on_b = self._across(motion)
        return (self.b, on_b), (self.a, -np.array(X.act(pin.Force(on_b)).vector))

    def generalised(self, motion: Motion) -> Vector:
        """Joint forces (nv,) at a state."""
        out = np.zeros(motion.v.size)
        for frame, wrench in self.on_bodies(motion):
            if frame.joint:
                out += wrench @ motion.posture.jacobian(frame)
        return out

    def energy(self, q: ArrayLike) -> float:
        """Potential energy at q (nq,) [J].

        Raises:
            NoEnergyError: no potential was given.
        """
        if self._energy is None:
            raise NoEnergyError(self._what, "give `potential=`, a function of the pose, if its law has one")
        return finite_number(self._energy(self.pose(q)), self._energy.what)

    def _across(self, motion: Motion) -> tuple[Any, Vector]:
        """B seen from a, and the wrench on b in its axes (6,)."""
        if not self.robot.space.same_robot(motion.posture.space):
            raise RobotMismatchError(f"{self._what}: the motion is of another robot")
        X: Any = motion.posture.placement(self.a).actInv(motion.posture.placement(self.b))
        twist = motion.velocity(self.b) - np.asarray(X.actInv(pin.Motion(motion.velocity(self.a))).vector)
        given: Any = None if self._law is None else self._law(X.copy(), twist)
        return X, np.array(finite_vector(given, 6, f"law of a {self._what}"))

    @property
    def _what(self) -> str:
        return f"frame link of {self.a} and {self.b}"

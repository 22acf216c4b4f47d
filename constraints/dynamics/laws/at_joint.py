"""Forces on the coordinates of one joint of the tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liegroups.arguments import as_name, finite_number
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import set_fields
from liegroups.layout import Factor

from ...errors import RobotMismatchError
from ...robot import Motion, Robot
from ...robot.arguments import as_robot
from .law import InTime, Law, NoEnergyError, numbers_of, plain


class AtJoint(ABC):
    """A generalised force on the coordinates of a joint: it acts between the joint's body and the one that carries it.

    Attributes:
        robot: the robot.
        joint: name of the joint.
    """

    robot: Robot
    joint: str
    _factor: Factor

    @abstractmethod
    def joint_force(self, motion: Motion) -> Vector:
        """Force of the joint (nv_j,) [N, N m] at a state, on its tangent coordinates."""

    @abstractmethod
    def energy(self, q: ArrayLike) -> float:
        """Potential energy at q (nq,) [J]."""

    @final
    def factor_in(self, motion: Motion) -> Factor:
        """The joint's own space, with its places in q and v, for a motion of the robot.

        Raises:
            RobotMismatchError: the motion is of another robot.
        """
        if not self.robot.space.same_robot(motion.posture.space):
            raise RobotMismatchError(f"force at joint '{self.joint}': the motion is of another robot")
        return self._factor

    @final
    def generalised(self, motion: Motion) -> Vector:
        """Joint forces (nv,): zero but for this joint."""
        out = np.zeros(motion.v.size)
        out[self.factor_in(motion).v] = self.joint_force(motion)
        return out


@final
@dataclass(frozen=True, eq=False)
class JointLaw(InTime, AtJoint):
    r"""A force on the coordinates of a joint, any function of them: :math:`\tau_j = f(q_j, v_j, t)`.

    :math:`\tau_j > 0` drives the joint forward: its power is :math:`\tau_j \cdot v_j`. For balls and free joints the
    force is in tangent coordinates, like v: the torque of a ball is in the axes of its moving body.

    Args:
        robot: the robot.
        joint: name of the joint.
        law: f(q_j, v_j) or f(q_j, v_j, t), which returns :math:`\tau_j` (nv_j,) [N, N m]. For a joint with one
            coordinate all are plain numbers; for others arrays (nq_j,) and (nv_j,). A third argument with a default is
            the time if it is named t.
        potential: E(q_j) [J], for `energy`, if the law has one.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
        WrongObjectError: not a function, or one with other arguments.

    Example:
        >>> from constraints.models import sample_two_arms
        >>> robot = sample_two_arms()
        >>> motor = JointLaw(robot, robot.joint_names[0], lambda q, v, t: 2.0 * t - 0.1 * v)
        >>> motor.at(3.0).generalised(robot.at(robot.neutral, [0.0] * robot.nv)).max()
        np.float64(6.0)

    Source: joint forces of Robotran, `user_JointForces`, `Qq`.
    """

    robot: Robot
    joint: str
    law: Callable[..., ArrayLike]
    potential: Callable[..., float] | None = None

    _factor: Factor = field(init=False, repr=False)
    _law: Law | None = field(init=False, repr=False)
    _energy: Law | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Check everything once."""
        set_fields(self, _factor=joint_factor(self.robot, self.joint, "joint law"))
        set_fields(self, _law=Law.of(self.law, ("q", "v"), self._what, "a joint force"))
        if self.potential is not None:
            set_fields(self, _energy=Law.of(self.potential, ("q",), f"potential of the {self._what}", "an energy [J]"))

    def joint_force(self, motion: Motion) -> Vector:
        """Force of the joint (nv_j,) [N, N m] at a state.

        Raises:
            NoTimeError: it depends on time, and none was given.
            SizeError, DtypeError, NotFiniteError: the result of the law is not (nv_j,) numbers.
        """
        factor, law = self.factor_in(motion), self._law
        given: Any = None if law is None else law(*plain(motion.q[factor.q], motion.v[factor.v]))
        return numbers_of(given, factor.space.nv, self._what)

    def energy(self, q: ArrayLike) -> float:
        """Potential energy at q (nq,) [J].

        Raises:
            NoEnergyError: no potential was given.
        """
        if self._energy is None:
            raise NoEnergyError(self._what, "give `potential=`, a function of q_j, if the law has one")
        factor = self._factor
        at = plain(self.robot.check(q)[factor.q], np.zeros(factor.space.nv))[0]
        return finite_number(self._energy(at), self._energy.what)

    @property
    def _what(self) -> str:
        return f"law at joint '{self.joint}'"


def joint_factor(robot: object, joint: object, word: str) -> Factor:
    """The space of a joint, with its places in q and v, from what a user gave.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
    """
    whole = as_robot(robot, f"robot of a {word}")
    return whole.space.factors[whole.joint_index(as_name(joint, f"joint of a {word}")) - 1]

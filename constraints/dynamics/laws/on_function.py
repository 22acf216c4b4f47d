r"""Forces on what a function of a robot gives: joint forces :math:`\tau = J(q)^T y`, with any law for y."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from liegroups import Space
from liegroups.arguments import as_name, finite_number
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import read_only, set_fields
from liegroups.layout import Factor

from ...errors import RobotMismatchError, WrongObjectError
from ...functions import Function
from ...functions.affine import Straight
from ...functions.function import as_function
from ...point import Point
from ...robot import Motion, Robot
from ...robot.arguments import as_robot
from ...robot.space import RobotSpace
from .law import InTime, Law, NoEnergyError, is_function, numbers_of, plain


class Pull(NamedTuple):
    """A force on the value of a function, with its derivatives.

    Attributes:
        force: y (m,).
        by_value: (m, m) by the tangent of the value.
        by_rate: (m, m).
    """

    force: Vector
    by_value: Matrix
    by_rate: Matrix


class MovingValue(NamedTuple):
    """What a force acts on, at a state.

    Attributes:
        value: of the function; of a force between two frames that takes their pose, a placement.
        rate: (m,), J v.
        jacobian: J (m, nv).
    """

    value: Any
    rate: Vector
    jacobian: Matrix


@dataclass(frozen=True, eq=False)
class OnFunction(ABC):
    r"""A force y on the value of a function f of a robot, :math:`\tau = J^T y`; its power is :math:`y \cdot J v`.

    Its derivatives are those of y and of the function:

    .. math:: \frac{d\tau}{dq} = \frac{d(J^T y)}{dq} + J^T \Big(\frac{dy}{df} J + \frac{dy}{d\dot f}
        \frac{d(J v)}{dq}\Big), \qquad \frac{d\tau}{dv} = J^T \frac{dy}{d\dot f} J
    """

    _function: Function = field(init=False, repr=False)

    @abstractmethod
    def _force(self, value: Any, rate: Vector) -> Vector:
        """The force y (m,) at a value that changes at a rate (m,)."""

    @abstractmethod
    def _pull(self, value: Any, rate: Vector) -> Pull | None:
        """The same with its derivatives; None where there is no formula."""

    @abstractmethod
    def _energy(self, value: Any) -> float:
        """Potential energy [J] at a value.

        Raises:
            NoEnergyError: there is none.
        """

    @property
    @abstractmethod
    def _what(self) -> str:
        """What it is called in messages."""

    @property
    def _values(self) -> Space:
        """The space of the values."""
        return self._function.outputs

    @final
    def force_at(self, motion: Motion) -> Vector:
        """The force y (m,) at a state: at the coordinates of a hinge T, of a link the opposite of its tension.

        Raises:
            RobotMismatchError: the motion is of another robot.
            UndefinedError: the function has no value, or no Jacobian, there.
            NoTimeError: its law depends on time, and none was given.
            SizeError, DtypeError, NotFiniteError: what its law gives is not (m,) numbers.
        """
        value, rate, _ = self._seen(motion)
        return self._force(value, rate)

    @final
    def generalised(self, motion: Motion) -> Vector:
        r"""Joint forces (nv,): :math:`J^T y`."""
        value, rate, J = self._seen(motion)
        return self._force(value, rate) @ J

    def generalised_slopes(self, motion: Motion) -> tuple[Matrix, Matrix] | None:
        """Derivatives (nv, nv) of the joint forces by q and v; None where y has no formula for its own."""
        value, rate, J = self._seen(motion)
        found = self._pull(value, rate)
        if found is None:
            return None
        by_q, by_v = J.T @ found.by_value @ J, J.T @ found.by_rate @ J
        if not isinstance(self._function, Straight):
            turned, rates = self._turned(motion, found)
            by_q += turned + J.T @ found.by_rate @ rates
        return by_q, by_v

    @property
    def has_exact_slopes(self) -> bool:
        """Whether `generalised_slopes` is a formula: as the second derivatives of the function are."""
        return self._function.has_exact_derivatives

    @final
    def energy(self, q: ArrayLike) -> float:
        """Potential energy at q (nq,) [J]; of a spring zero at rest.

        Raises:
            NoEnergyError: no potential is known.
        """
        return self._energy(self._value_at(q))

    def _value_at(self, q: ArrayLike) -> Any:
        return self._function.value(q)

    def _seen(self, motion: Motion) -> MovingValue:
        self._check(motion)
        value, J = self._function.linearised_at(motion.posture)
        return MovingValue(value, J @ motion.v, J)

    @final
    def _check(self, motion: Motion) -> None:
        inputs: Any = self._function.inputs
        if not inputs.same_robot(motion.posture.space):
            raise RobotMismatchError(f"{self._what}: the motion is of another robot")

    def _turned(self, motion: Motion, found: Pull) -> tuple[Matrix, Matrix]:
        """Derivatives by q of J^T y, y kept (nv, nv), and of J v (m, nv): zeros where y does not see the rate."""
        f, n = self._function, motion.v.size
        turned, rates, one = np.zeros((n, n)), np.zeros((f.outputs.nv, n)), np.zeros((n, n))
        if not found.by_rate.any():
            f.force_derivative(motion.posture, found.force, turned)
            return turned, rates
        for y, row, unit in zip(found.force, rates, np.eye(f.outputs.nv), strict=True):
            f.force_derivative(motion.posture, unit, one)
            turned += y * one
            row[:] = motion.v @ one
        return turned, rates


@dataclass(frozen=True, eq=False)
class ByLaw(InTime, OnFunction):
    """A force by a law that a user writes, or by numbers that stay as they are."""

    _law: Law | None = field(init=False, repr=False, default=None)
    _potential: Law | None = field(init=False, repr=False, default=None)
    _constant: Vector = field(init=False, repr=False, default_factory=lambda: np.zeros(0))

    def _force(self, value: Any, rate: Vector) -> Vector:
        """What the law gives."""
        law = self._law
        return self._constant if law is None else numbers_of(law(*plain(value, rate)), rate.size, law.what)

    def _pull(self, value: Any, rate: Vector) -> Pull | None:
        """Of numbers; None for a law, which is any code."""
        none = np.zeros((rate.size, rate.size))
        return Pull(self._force(value, rate), none, none) if self._law is None else None

    def _energy(self, value: Any) -> float:
        """As `OnFunction._energy`."""
        if self._potential is None:
            raise NoEnergyError(self._what, "give `potential=`, a function of what it acts on, if the law has one")
        at = plain(value, np.zeros(self._values.nv))[0]
        return finite_number(self._potential(at), self._potential.what)

    def _take(
        self, function: Function, law: Any, potential: Any, names: tuple[str, str], *, what: str, numbers: bool = False
    ) -> None:
        """Set the function, a user's law whose arguments have these names or his numbers, and his potential."""
        set_fields(self, _function=function)
        if numbers and not is_function(law):
            set_fields(self, _constant=read_only(np.array(numbers_of(law, self._values.nv, what))))
        else:
            set_fields(self, _law=Law.of(law, names, what, "a force"))
        if potential is not None:
            words = f"potential of a {self._what}"
            set_fields(self, _potential=Law.of(potential, names[:1], words, "an energy [J]"))


@final
@dataclass(frozen=True, eq=False)
class FunctionLaw(ByLaw):
    r"""A force on the value of any function of a robot: :math:`\tau = J^T f(value, rate, t)`.

    A positive force drives the value forward: its power is the force times the rate, :math:`\dot y = J v`. For values
    in a group the force is in tangent coordinates, like the rate.

    Args:
        function: of a robot's configuration: a function of the library, a formula, or your own.
        law: f(value, rate) or f(value, rate, t), which returns (outputs.nv,): plain numbers for a function with one
            row; else arrays (outputs.nq,) and (outputs.nv,). A third argument with a default is the time if it is named
            t.
        potential: E(value) [J], for `energy`, if the law has one.

    Raises:
        WrongObjectError: not a function of a robot; a law that is no function, or one with other arguments.

    Example:
        >>> from constraints import Position
        >>> from constraints.functions import norm
        >>> from constraints.models import sample_two_arms
        >>> robot = sample_two_arms()
        >>> apart = norm(Position(robot, "left_tool") - Position(robot, "right_tool"))
        >>> rope = FunctionLaw(apart, lambda length, rate: -max(0.0, 200.0 * (length - 0.5)))
        >>> bool(rope.force_at(robot.at(robot.neutral, [0.0] * robot.nv)) < 0.0)  # it pulls
        True
    """

    function: Function
    law: Callable[..., ArrayLike]
    potential: Callable[..., float] | None = None

    def __post_init__(self) -> None:
        """Check everything once."""
        function = function_of_robot(self.function, "law on a function")
        self._take(function, self.law, self.potential, ("value", "rate"), what=f"law on {function.name}")

    @property
    def _what(self) -> str:
        return f"law on {self.function.name}"


@final
@dataclass(frozen=True, eq=False)
class JointLaw(ByLaw):
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

    def __post_init__(self) -> None:
        """Check everything once."""
        self._take(of_joint(self.robot, self.joint, "joint law"), self.law, self.potential, ("q", "v"), what=self._what)

    @property
    def _what(self) -> str:
        return f"law at joint '{self.joint}'"


def function_of_robot(candidate: object, word: str) -> Function:
    """A function of a robot's configuration, from what a user gave.

    Raises:
        WrongObjectError: something else, or a function of another space.
    """
    f = as_function(candidate, f"function of a {word}")
    if not isinstance(f.inputs, RobotSpace):
        raise WrongObjectError(f"function of a {word}", "a function of a robot's configuration", f.inputs)
    return f


def of_joint(robot: object, joint: object, word: str) -> Function:
    """The coordinates of a joint, from what a user gave.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
    """
    whole = as_robot(robot, f"robot of a {word}")
    return _JointCoordinates(whole, whole.space.factors[whole.joint_index(as_name(joint, f"joint of a {word}")) - 1])


@final
@dataclass(frozen=True, eq=False, repr=False)
class _JointCoordinates(Straight):
    """The coordinates of a joint of a robot, a point of the joint's own space.

    Args:
        robot: the robot.
        factor: where they are in q and v.
    """

    robot: Robot
    factor: Factor

    def __post_init__(self) -> None:
        """Declare it."""
        space = self.robot.space
        columns = np.zeros(space.nv, dtype=np.bool_)
        columns[self.factor.v] = True
        self.declare(space, self.factor.space, columns, name=f"coordinates of '{self.factor.name}'")

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        """As `Function.evaluate`."""
        value[:] = point.q[self.factor.q]
        if jacobian is not None:
            jacobian[:, self.factor.v] = np.eye(self.outputs.nv)

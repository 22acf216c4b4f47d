"""Springs and dampers on any function, on the coordinates of a joint, and of a hinge where the tree was cut."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from math import atan2, cos, pi, sin
from numbers import Real
from typing import Any, final

import numpy as np

from liegroups import SO2
from liegroups.arguments import expect, finite_number, finite_vector
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.formulas.log_slopes import log_slopes
from liegroups.frozen import read_only, set_fields

from ...errors import OptionError
from ...functions import Function
from ...loops import Closure
from ...loops.hinges.hinge import Hinge
from ...loops.hinges.subhinge import SubhingeMotion as Step
from ...problem.questions import ask_of_rest
from ...questions import TURN, ask_once
from ...robot import Robot
from .hinge_forces import CLOSURE, AtHinge
from .on_function import OnFunction, Pull, function_of_robot, of_joint

_log = logging.getLogger("constraints.dynamics")


class _Elastic(OnFunction):
    """A spring and damper on a function."""

    stiffness: Any
    damping: Any
    rest: Any

    def _force(self, value: Any, rate: Vector) -> Vector:
        r"""Back to rest, and against the rate: :math:`-S^T K\,\delta - D\,\dot\theta`, S the derivative of delta."""
        delta, slope = self._stretch(value)
        return np.asarray(-((self.stiffness * delta) @ slope) - self.damping * rate)

    def _pull(self, value: Any, rate: Vector) -> Pull:
        """As `OnFunction._pull`."""
        delta, still = self._stretch(value)[0], np.zeros(rate.size)
        log = log_slopes(self._values, delta, still, still, self.stiffness * delta)
        by_value = -(log.jacobian.T @ (self.stiffness[:, None] * log.jacobian)) - log.force
        return Pull(self._force(value, rate), by_value, -np.diag(self.damping))

    def _energy(self, value: Any) -> float:
        r""":math:`\tfrac12 \delta^T K \delta`."""
        delta = self._stretch(value)[0]
        return 0.5 * float((self.stiffness * delta) @ delta)

    def _stretch(self, value: Any) -> tuple[Vector, Matrix]:
        """The difference from rest (nv,), and its derivative by the value (nv, nv)."""
        delta, slope = np.zeros(self._values.nv), np.eye(self._values.nv)
        self._values.error(np.asarray(self.rest), np.ascontiguousarray(value), delta, slope)
        return delta, slope

    def _take(self, function: Function) -> None:
        """Set the function, and the numbers, once they are checked."""
        set_fields(self, _function=function)
        space, name = self._values, self._what
        given: Any = space.neutral if self.rest is None else self.rest
        rest = space.check([given] if _is_one_number(given) else given, f"rest of a {name}")
        set_fields(
            self,
            stiffness=_by_coordinate(self.stiffness, space.nv, f"stiffness of a {name}"),
            damping=_by_coordinate(self.damping, space.nv, f"damping of a {name}"),
            rest=read_only(np.array(rest)),
        )


@final
@dataclass(frozen=True, eq=False)
class HingeSpring(_Elastic, AtHinge):
    r"""A spring and damper on the free coordinates of a closure.

    .. math:: T = -\Big(\frac{\partial\delta}{\partial\theta}\Big)^T K\,\delta - D\,\dot\theta, \qquad
        \delta = \theta \ominus \theta_0, \qquad E = \tfrac12 \delta^T K \delta

    with :math:`\theta` the coordinates of the hinge that is fitted to the closure, :math:`\delta` their difference from
    rest in the hinge's space (for a ball the rotation vector, whose derivative is not the identity), K and D diagonal.
    It pulls back to rest. A pose does not show how many turns a pin has made: its angle from rest is at most half a
    turn, and jumps there.

    On a closure with `Hinge.free()`, which holds nothing, it is a bushing: a force and a torque between two frames.

    Args:
        closure: a `Closure`.
        stiffness: K, one number for all coordinates, or (dofs,) [N/m, N m/rad].
        damping: D, one number, or (dofs,) [N s/m, N m s/rad]; 0 by default.
        rest: coordinates (hinge.space.nq,) without force; the neutral ones by default; a plain number for
            one coordinate.

    Raises:
        WrongObjectError: not a `Closure`.
        OptionError: a stiffness or damping below zero.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: an invalid number.
    """

    closure: Closure
    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    rest: ArrayLike | None = None

    _turning: Indices = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the numbers."""
        closure = expect(self.closure, Closure, "closure of a hinge spring", CLOSURE)
        if not closure.hinge.dofs:
            raise OptionError(f"{self._what}: the hinge is locked, nothing moves in it")
        self._take(closure.function)
        set_fields(self, _turning=_turning(closure.hinge))
        space, rest = closure.hinge.space, np.asarray(self.rest)
        for entry, column in zip(space.vector_q.tolist(), space.vector_v.tolist(), strict=True):
            if column in self._turning and abs(rest[entry]) > TURN:
                words = "more than a whole turn: is it in degrees?"
                ask_once(f"rest of a {self._what}: {rest[entry]:.6g} rad, {words}")

    def _stretch(self, value: Any) -> tuple[Vector, Matrix]:
        delta, slope = super()._stretch(value)
        delta[self._turning] -= 2.0 * pi * np.round(delta[self._turning] / (2.0 * pi))
        return delta, slope

    @property
    def _what(self) -> str:
        return f"spring at the hinge of '{self.closure.name}'"


@final
@dataclass(frozen=True, eq=False)
class FunctionSpring(_Elastic):
    r"""A spring and damper on the value of any function f of a robot.

    .. math:: \tau = J^T y, \qquad y = -\Big(\frac{\partial\delta}{\partial f}\Big)^T K\,\delta - D\,J v, \qquad
        \delta = f(q) \ominus f_0, \qquad E = \tfrac12 \delta^T K \delta

    with :math:`\delta` the difference from rest in the space of the values (for a rotation the rotation vector from
    rest, whose derivative is not the identity), K and D diagonal. It pulls the value back to rest. Its derivatives in
    dynamics are those of the function: exact for those of the library and for formulas.

    Args:
        function: of a robot's configuration: a function of the library, a formula, or your own.
        stiffness: K, one number for all rows, or (outputs.nv,) [N/m, N m/rad, by the unit of the row].
        damping: D, one number, or (outputs.nv,); 0 by default.
        rest: value (outputs.nq,) without force; the neutral one by default; a plain number for one row.

    Raises:
        WrongObjectError: not a function of a robot.
        OptionError: a stiffness or damping below zero.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: an invalid number.

    Example:
        >>> from constraints import Position
        >>> from constraints.models import sample_arm
        >>> arm = sample_arm()
        >>> height = Position(arm, "tool")[2]
        >>> spring = FunctionSpring(height, stiffness=100.0, rest=0.3)
        >>> bool(spring.energy(arm.neutral) > 0.0)
        True
    """

    function: Function
    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    rest: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        self._take(function_of_robot(self.function, "function spring"))

    @property
    def _what(self) -> str:
        return f"spring on {self.function.name}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointSpring(_Elastic):
    r"""A spring and damper on the coordinates of a joint of the tree, of any type.

    .. math:: \tau_j = -\Big(\frac{\partial\delta}{\partial q_j}\Big)^T K\,\delta - D\,v_j, \qquad
        \delta = q_j \ominus q_{j,0}, \qquad E = \tfrac12 \delta^T K \delta

    with :math:`\delta` the difference from rest in the joint's space (for a ball the rotation vector from rest to
    :math:`q_j`, whose derivative is not the identity), K and D diagonal. It pulls back to rest. For a revolute joint
    whose configuration is an angle it counts whole turns. On a continuous joint, whose configuration is (cos, sin), it
    is periodic: delta is the angle from rest modulo a turn, in :math:`(-\pi, \pi]`, and its force changes its sign at
    half a turn from rest, which a line in the log says. For a ball it takes the shorter rotation, too.

    Args:
        robot: the robot.
        joint: name of the joint.
        stiffness: K, one number for all coordinates, or (nv_j,) [N/m, N m/rad].
        damping: D, one number, or (nv_j,) [N s/m, N m s/rad]; 0 by default.
        rest: configuration (nq_j,) of the joint without force; the neutral one by default; a plain number
            where it is one number, and for a continuous joint, whose angle [rad] it is, modulo a turn.

    Raises:
        UnknownJointError: lists the joints whose names come closest.
        OptionError: a stiffness or damping below zero.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: an invalid number.

    Source: joint forces of Robotran, `user_JointForces`, `Qq`.
    """

    robot: Robot
    joint: str
    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    rest: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        function = of_joint(self.robot, self.joint, "joint spring")
        if function.outputs == SO2 and _is_one_number(self.rest):
            angle = finite_number(self.rest, f"rest of a {self._what}")
            set_fields(self, rest=(cos(angle), sin(angle)))
        self._take(function)
        if self._function.outputs.is_flat:
            factor = self.robot.space.factors[self.robot.joint_index(self.joint) - 1]
            ask_of_rest(self.robot, factor, np.asarray(self.rest), self._what)
        if self.is_periodic and np.any(self.stiffness):
            _log.warning(
                "the spring at joint '%s' is periodic, as the joint is continuous: its force changes its sign at half "
                "a turn from rest; for a spring that counts turns make the joint revolute",
                self.joint,
            )

    @property
    def is_periodic(self) -> bool:
        """Whether the joint is continuous: then the angle from rest is taken modulo a turn."""
        return self._function.outputs == SO2

    def angle(self, q: ArrayLike) -> float:
        """Of a periodic spring, the angle from rest at q (nq,), in (-pi, pi] [rad].

        Raises:
            OptionError: the spring is not periodic.
        """
        if not self.is_periodic:
            raise OptionError(f"{self._what}: its joint is not continuous, no angle is modulo a turn")
        return float(self._stretch(self._function.value(q))[0][0])

    def __repr__(self) -> str:
        c, *s = np.asarray(self.rest).tolist()
        rest = f"{atan2(s[0], c):.6g} rad modulo a turn" if self.is_periodic else str([c, *s] if s else c)
        return f"JointSpring({self.joint!r}, {self.stiffness}, {self.damping}, rest={rest})"

    @property
    def _what(self) -> str:
        return f"spring at joint '{self.joint}'"


def _is_one_number(given: object) -> bool:
    return isinstance(given, Real) or (isinstance(given, np.ndarray) and given.ndim == 0)


def _turning(hinge: Hinge) -> Indices:
    """Coordinates that are angles of pins."""
    pins = [sub.motion is Step.PIN for sub in hinge.subhinges for _ in range(sub.nv)]
    return np.flatnonzero(np.array(pins, dtype=np.bool_))


def _by_coordinate(given: ArrayLike, n: int, what: str) -> Vector:
    """A number for each coordinate (n,), none below zero."""
    numbers = np.full(n, finite_number(given, what)) if _is_one_number(given) else finite_vector(given, n, what)
    if not (numbers >= 0.0).all():
        raise OptionError(f"{what}: expected numbers that are not negative, got {numbers.tolist()}")
    return read_only(np.array(numbers))

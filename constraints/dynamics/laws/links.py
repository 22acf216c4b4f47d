"""Links: forces along the line between two points of a robot, by a spring and damper or by any law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, final

import numpy as np

from liegroups.arguments import finite_number
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import ConstraintError, OptionError, RobotMismatchError, UndefinedError, UnknownNameError
from ...functions.frames.frame_function import world_or_frame
from ...loops.closures import FixedClosureError
from ...problem.questions import ask_of_length
from ...robot import Frame, Motion, Posture, Robot
from ...robot.arguments import as_robot
from ...robot.moving_frames import joint_force_slopes
from .law import InTime, Law, NoEnergyError, is_function
from .link_state import COINCIDENT, LinkState, LinkStatus, along_line


class Link(ABC):
    r"""A force along the line between the origins of two frames.

    .. math:: f_b = -F_l\,\frac{x}{|x|} = -f_a, \qquad x = p_b - p_a

    :math:`F_l > 0` is traction: it pulls the ends together, :math:`F_l < 0` pushes them apart.

    Attributes:
        robot: the robot.
        a, b: the frames; joint 0 is the world.
    """

    robot: Robot
    a: Any
    b: Any

    @property
    @abstractmethod
    def _what(self) -> str:
        """What it is, in messages."""

    @property
    @abstractmethod
    def _has_limit(self) -> bool:
        """Whether the force tends to zero with the length, but for what is along the relative velocity."""

    @abstractmethod
    def _tension(self, length: float, rate: float) -> float:
        """F_l [N], traction positive."""

    @abstractmethod
    def _tension_slopes(self) -> tuple[float, float] | None:
        """Derivatives of F_l by length [N/m] and rate [N s/m]; None where there is no formula."""

    @abstractmethod
    def energy(self, q: ArrayLike) -> float:
        """Potential energy at q (nq,) [J]."""

    @final
    def distance(self, q: ArrayLike) -> float:
        """Distance of the ends [m] at q (nq,)."""
        return _between(self, self.robot.at(q))[1]

    @final
    def distance_rates(self, q: ArrayLike) -> Vector:
        r"""Rate of the distance by joint velocities (nv,): a force that pushes the ends apart by 1 N, as joint forces.

        Its opposite is the column of an actuation matrix for an actuator whose force is a tension.

        Raises:
            UndefinedError: the ends coincide.
        """
        posture = self.robot.at(q)
        x, length = _between(self, posture)
        if length < COINCIDENT:
            raise self._no_line()
        return (x / length) @ _relative_jacobian(self, posture)

    @final
    def link_force(self, motion: Motion) -> float:
        """F_l [N], traction positive, at a state.

        Raises:
            UndefinedError: the ends coincide, and it is no spring of zero length.
        """
        line = self._line(motion)
        self._direction(line)
        return self._tension(line.length, line.rate)

    @final
    def force(self, motion: Motion, on: Literal["a", "b"] = "b") -> Vector:
        """Force (3,) on the end b, or on a the opposite one, in world axes [N].

        Raises:
            UndefinedError: as in `link_force`.
        """
        if on not in ("a", "b"):
            raise UnknownNameError(f"end of a {self._what.split(' of ', 1)[0]}", str(on), ("a", "b"))
        on_b = self._on_b(self._line(motion))
        return on_b if on == "b" else -on_b

    @final
    def state(self, motion: Motion, threshold: float = COINCIDENT) -> LinkState:
        """Length, rate, tension and force at a state; ends that coincide are a status, no error.

        Args:
            motion: the state.
            threshold: length below which the force is infinite in every component [m]; below zero nothing is tested,
                and the length is divided by as it is. In dynamics the threshold is 1e-14 m always.

        Source: `get_link_force` of Robotran (`trsh`).
        """
        least = finite_number(threshold, f"threshold of a {self._what}")
        line = self._line(motion)
        has_limit = self._has_limit and line.length < COINCIDENT
        if 0.0 <= least and not has_limit and (line.length < least or line.length == 0.0):
            return LinkState(self._what, line.length, line.rate, np.inf, np.full(3, np.inf), LinkStatus.COINCIDENT)
        tension = self._tension(line.length, line.rate)
        if least < 0.0:
            status = LinkStatus.UNTESTED
            with np.errstate(divide="ignore", invalid="ignore"):
                force = -tension * (line.x / np.float64(line.length))
        elif has_limit:
            status, force = LinkStatus.LIMIT, self._on_b(line)
        else:
            status, force = LinkStatus.DEFINED, -tension * (line.x / line.length)
        return LinkState(self._what, line.length, line.rate, tension, force, status)

    @final
    def on_bodies(self, motion: Motion) -> tuple[tuple[Frame, Vector], ...]:
        """The two frames, each with the wrench (6,) on it, in its axes."""
        on_b = self._on_b(self._line(motion))
        ends = ((self.b, on_b), (self.a, -on_b))
        turned = ((end, force @ motion.posture.placement(end).rotation) for end, force in ends)
        return tuple((end, np.concatenate([force, np.zeros(3)])) for end, force in turned)

    @final
    def generalised(self, motion: Motion) -> Vector:
        """Joint forces (nv,) at a state.

        Raises:
            UndefinedError: as in `link_force`.
        """
        return self._on_b(self._line(motion)) @ _relative_jacobian(self, motion.posture)

    @final
    def generalised_slopes(self, motion: Motion) -> tuple[Matrix, Matrix] | None:
        """Derivatives (nv, nv) of the joint forces by q and v; None where there are no formulas.

        That is so if F_l is a function, on robots with ellipsoid joints, and where the ends coincide.
        """
        self._check(motion)
        slopes = self._tension_slopes()
        if slopes is None:
            return None
        return joint_force_slopes(motion, self.a, self.b, lambda seen: along_line(seen, self._tension, *slopes))

    def _check(self, motion: Motion) -> None:
        if not self.robot.space.same_robot(motion.posture.space):
            raise RobotMismatchError(f"{self._what}: the motion is of another robot")

    def _line(self, motion: Motion) -> _Line:
        self._check(motion)
        x, length = _between(self, motion.posture)
        velocity = _point_velocity(self.b, motion) - _point_velocity(self.a, motion)
        apart = length >= COINCIDENT
        return _Line(x, length, velocity, float(x @ velocity) / length if apart else _norm(velocity))

    def _on_b(self, line: _Line) -> Vector:
        direction = self._direction(line)
        return -self._tension(line.length, line.rate) * direction

    def _direction(self, line: _Line) -> Vector:
        """Unit vector from a to b; of coincident ends of a spring without length that of the velocity, or zero."""
        if line.length >= COINCIDENT:
            return line.x / line.length
        if not self._has_limit:
            raise self._no_line()
        return line.velocity / line.rate if line.rate else np.zeros(3)

    def _no_line(self) -> ConstraintError:
        return UndefinedError(f"{self._what}: the ends coincide, and the line between them has no direction")


@final
@dataclass(frozen=True, eq=False)
class PointSpring(Link):
    r"""A spring, damper or pulling actuator between the origins of two frames; Robotran calls it a link.

    .. math:: F_l = F_0 + k\,(|x| - l_0) + d\,\frac{d|x|}{dt}, \qquad x = p_b - p_a, \qquad
        f_b = -F_l \frac{x}{|x|} = -f_a

    :math:`F_l > 0` is traction: it pulls the ends together, :math:`F_l < 0` pushes them apart. (The multiplier of a
    `RodClosure` has the other sign.)

    If the ends coincide (closer than 1e-14 m) the line has no direction. A spring of zero rest length without tension
    has the limit zero there, and its damper acts against the relative velocity, as it does just after. Any other link
    raises `UndefinedError`.

    Args:
        robot: the robot.
        a, b: frame names, Frames, or placements in the world (None: the world itself).
        stiffness: k [N/m].
        damping: d [N s/m].
        length: l_0 [m], at least 0.
        tension: F_0 [N], a constant part, for example from an actuator.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.
        OptionError: a stiffness, damping or length below zero.
        FixedClosureError: both frames are on one joint.

    Source: links of Robotran, `get_link_force`, whose result below the threshold is infinite (`state`).
    """

    robot: Robot
    a: Any
    b: Any
    stiffness: float = 0.0
    damping: float = 0.0
    length: float = 0.0
    tension: float = 0.0

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, a, b = ends(self.robot, self.a, self.b, "point spring")
        numbers = {name: _not_negative(getattr(self, name), name) for name in ("stiffness", "damping", "length")}
        tension = finite_number(self.tension, "tension of a point spring")
        set_fields(self, robot=robot, a=a, b=b, tension=tension, **numbers)
        ask_of_length(robot, a, b, self.length, self._what)

    def energy(self, q: ArrayLike) -> float:
        r"""Potential energy at q (nq,) [J]: :math:`\tfrac12 k (|x| - l_0)^2 + F_0 |x|`."""
        x = self.distance(q)
        return 0.5 * self.stiffness * (x - self.length) ** 2 + self.tension * x

    @property
    def _what(self) -> str:
        return f"point spring of {self.a} and {self.b}"

    @property
    def _has_limit(self) -> bool:
        return not (self.length or self.tension) and bool(self.stiffness or self.damping)

    def _tension_slopes(self) -> tuple[float, float] | None:
        return self.stiffness, self.damping

    def _tension(self, length: float, rate: float) -> float:
        return float(self.tension + self.stiffness * (length - self.length) + self.damping * rate)


@final
@dataclass(frozen=True, eq=False)
class PointLink(InTime, Link):
    r"""A link between the origins of two frames, whose force is any function of its length and rate.

    .. math:: f_b = -F_l\!\left(|x|, \frac{d|x|}{dt}, t\right) \frac{x}{|x|} = -f_a, \qquad x = p_b - p_a

    :math:`F_l > 0` is traction: it pulls the ends together, :math:`F_l < 0` pushes them apart. Swapped ends give the
    same forces. If the ends coincide (closer than 1e-14 m) `UndefinedError` is raised; `state` gives a status instead.

    Args:
        robot: the robot.
        a, b: frame names, Frames, or placements in the world (None: the world itself).
        law: F_l [N], one number, or a function that returns it, f(length, rate) or f(length, rate, t) of m, m/s and s.
            A third argument with a default is the time if it is named t.
        potential: E(length) [J] with :math:`F_l = E'`, for `energy`; known if the law is a number.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.
        FixedClosureError: both frames are on one joint.
        WrongObjectError: a function with other arguments.

    Example:
        >>> from constraints.models import sample_two_arms
        >>> robot = sample_two_arms()
        >>> rope = PointLink(robot, "left_tool", "right_tool", lambda length, rate: max(0.0, 200.0 * (length - 0.5)))
        >>> bool(rope.link_force(robot.at(robot.neutral, [0.0] * robot.nv)) > 0.0)
        True

    Source: links of Robotran: `user_LinkForces`, `Fl`.
    """

    robot: Robot
    a: Any
    b: Any
    law: float | Callable[..., float]
    potential: Callable[[float], float] | None = None

    _law: Law | None = field(init=False, repr=False, default=None)
    _energy: Law | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, a, b = ends(self.robot, self.a, self.b, "point link")
        set_fields(self, robot=robot, a=a, b=b)
        given: Any = self.law
        if is_function(given):
            set_fields(self, _law=Law.of(given, ("length", "rate"), f"law of a {self._what}", "a number [N]"))
        else:
            set_fields(self, law=finite_number(given, f"law of a {self._what}"))
        if self.potential is not None:
            words = f"potential of a {self._what}"
            set_fields(self, _energy=Law.of(self.potential, ("length",), words, "a number [J]"))

    def energy(self, q: ArrayLike) -> float:
        r"""Potential energy at q (nq,) [J]: the given potential, or :math:`F_l |x|` for a constant force.

        Raises:
            NoEnergyError: the law is a function, and no potential was given.
        """
        x, given = self.distance(q), self.law
        if self._energy is not None:
            return finite_number(self._energy(x), self._energy.what)
        if callable(given):
            raise NoEnergyError(self._what, "give `potential=`, a function of the length, if its law has one")
        return given * x

    @property
    def _what(self) -> str:
        return f"point link of {self.a} and {self.b}"

    @property
    def _has_limit(self) -> bool:
        return False

    def _tension_slopes(self) -> tuple[float, float] | None:
        return (0.0, 0.0) if self._law is None else None

    def _tension(self, length: float, rate: float) -> float:
        law, given = self._law, self.law
        return finite_number(given if law is None else law(length, rate), f"law of a {self._what}")


def ends(robot: object, a: object, b: object, word: str) -> tuple[Robot, Frame, Frame]:
    """The robot and the two frames of a link, from what a user gave.

    Raises:
        FixedClosureError: both frames are on one joint.
    """
    whole = as_robot(robot, f"robot of a {word}")
    first, second = (world_or_frame(whole, end, f"frame {name} of a {word}") for end, name in ((a, "a"), (b, "b")))
    if first.joint == second.joint:
        where = "in the world" if first.joint == 0 else f"on joint '{whole.model.names[first.joint]}'"
        raise FixedClosureError(f"{word} of {first} and {second}", where)
    return whole, first, second


class _Line(NamedTuple):
    """From a to b in world axes (3,), how long it is [m], the velocity of b relative to a (3,), and d|x|/dt."""

    x: Vector
    length: float
    velocity: Vector
    rate: float


def _between(link: Link, posture: Posture) -> tuple[Vector, float]:
    """From a to b in world axes (3,), and how long that is [m]."""
    x = np.array(posture.placement(link.b).translation - posture.placement(link.a).translation)
    return x, _norm(x)


def _norm(x: Vector) -> float:
    return float(np.sqrt(x @ x))


def _point_velocity(frame: Frame, motion: Motion) -> Vector:
    """Velocity of the origin of a frame in world axes (3,)."""
    return motion.posture.placement(frame).rotation @ motion.velocity(frame)[:3]


def _relative_jacobian(link: Link, posture: Posture) -> Matrix:
    """Velocity of b less that of a, in world axes, by joint velocities (3, nv)."""
    total = np.zeros((3, posture.space.nv))
    for frame, sign in ((link.b, 1.0), (link.a, -1.0)):
        if frame.joint:
            total += sign * (posture.placement(frame).rotation @ posture.jacobian(frame)[:3])
    return total


def _not_negative(candidate: float, word: str) -> float:
    number = finite_number(candidate, f"{word} of a point spring")
    if number < 0.0:
        raise OptionError(f"{word} of a point spring: expected a number that is not negative, got {number}")
    return number

"""Springs and dampers: on the free coordinates of a closure, and between two points of a robot."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import Any, Literal, NamedTuple, final

import numpy as np

from liegroups.arguments import expect, finite_number, finite_vector
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector
from liegroups.frozen import read_only, set_fields

from ..errors import ConstraintError, OptionError, RobotMismatchError, UndefinedError, UnknownNameError
from ..functions.frame_function import world_or_frame
from ..loops import Closure, FixedClosureError
from ..loops.hinge import Hinge
from ..loops.hinge_fit import fitted, rate_matrix
from ..loops.subhinge import Motion as Step
from ..robot import Frame, Motion, Posture, Robot
from ..robot.arguments import as_robot
from .hinge_forces import CLOSURE, AtHinge, check_robot

COINCIDENT = 1e-14
"""Distance [m] below which two points are one, and the line between them has no direction; Robotran's threshold."""


@final
@dataclass(frozen=True, eq=False)
class HingeSpring(AtHinge):
    r"""A spring and damper on the free coordinates of a closure.

    .. math:: T = -\Big(\frac{\partial\delta}{\partial\theta}\Big)^T K\,\delta - D\,\dot\theta, \qquad
        \delta = \theta \ominus \theta_0, \qquad E = \tfrac12 \delta^T K \delta

    with :math:`\theta` the coordinates of the hinge that is fitted to the closure, :math:`\delta` their difference from
    rest in the hinge's own space (of a ball the rotation vector, for which the derivative is not the identity), K and D
    diagonal. It pulls back to rest. A pose does not tell how many turns a pin has made: its angle is taken to the
    nearest turn from rest, and jumps at half a turn from there.

    Args:
        closure: a `Closure`.
        stiffness: K, one number for all coordinates, or (dofs,) [N/m, N m/rad].
        damping: D, one number, or (dofs,) [N s/m, N m s/rad]; 0 by default.
        rest: coordinates (hinge.space.nq,) where it is without force; the neutral ones by default; a plain number for
            one coordinate.

    Raises:
        WrongObjectError: no `Closure`.
        OptionError: a stiffness or damping below zero.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with a number.
    """

    closure: Closure
    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    rest: ArrayLike | None = None

    _turning: Indices = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the numbers."""
        closure = expect(self.closure, Closure, "closure of a hinge spring", CLOSURE)
        hinge, name = closure.hinge, f"spring at the hinge of '{closure.name}'"
        given: Any = hinge.space.neutral if self.rest is None else self.rest
        rest = hinge.space.check([given] if np.ndim(given) == 0 else given, f"rest of a {name}")
        set_fields(
            self,
            stiffness=_by_coordinate(self.stiffness, hinge.dofs, f"stiffness of a {name}"),
            damping=_by_coordinate(self.damping, hinge.dofs, f"damping of a {name}"),
            rest=read_only(np.array(rest)),
            _turning=_turning(hinge),
        )

    def hinge_force(self, motion: Motion) -> Vector:
        """T (dofs,) at a state."""
        check_robot(self.closure, motion)
        hinge = self.closure.hinge
        pose, twist, _ = self.closure.function.relative_motion(motion)
        delta, slope = self._stretch(fitted(hinge, pose, np.zeros(6), np.zeros(6)).coordinates)
        rates = rate_matrix(hinge, pose) @ twist
        return -((np.asarray(self.stiffness) * delta) @ slope) - np.asarray(self.damping) * rates

    def energy(self, q: ArrayLike) -> float:
        """Potential energy at q (nq,) [J]; zero at rest."""
        delta = self._stretch(self.closure.hinge_motion(q).coordinates)[0]
        return 0.5 * float((np.asarray(self.stiffness) * delta) @ delta)

    def _stretch(self, coordinates: Vector) -> tuple[Vector, Matrix]:
        """The difference from rest (dofs,), and its derivative by the coordinates (dofs, dofs)."""
        space = self.closure.hinge.space
        delta, slope = np.zeros(space.nv), np.eye(space.nv)
        space.error(np.asarray(self.rest), coordinates, delta, slope)
        delta[self._turning] -= 2.0 * pi * np.round(delta[self._turning] / (2.0 * pi))
        return delta, slope


@final
@dataclass(frozen=True, eq=False)
class PointSpring:
    r"""A spring, damper or pulling actuator between the origins of two frames: a link, in Robotran's word.

    .. math:: F_l = F_0 + k\,(|x| - l_0) + d\,\frac{d|x|}{dt}, \qquad x = p_b - p_a, \qquad
        f_b = -F_l \frac{x}{|x|} = -f_a

    :math:`F_l > 0` is traction: it pulls the ends together, :math:`F_l < 0` pushes them apart. (The multiplier of a
    `RodClosure` has the other sign.)

    Where the ends coincide (closer than 1e-14 m) the line has no direction. A spring of zero rest length without
    tension has a limit there, no force; its damper then acts against the relative velocity, as it does at all other
    places that this velocity leads to. Any other link raises `UndefinedError`.

    Args:
        robot: the robot.
        a, b: frame names, Frames, or placements in the world (None: the world itself).
        stiffness: k [N/m].
        damping: d [N s/m].
        length: l_0 [m], at least 0.
        tension: F_0 [N], a constant part, as that of an actuator.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.
        OptionError: a stiffness, damping or length below zero.
        FixedClosureError: both frames are on one joint.

    Source: links of Robotran, `get_link_force`, whose result below the threshold is infinite.
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
        robot = as_robot(self.robot, "robot of a point spring")
        a = world_or_frame(robot, self.a, "frame a of a point spring")
        b = world_or_frame(robot, self.b, "frame b of a point spring")
        if a.joint == b.joint:
            where = "in the world" if a.joint == 0 else f"on joint '{robot.model.names[a.joint]}'"
            raise FixedClosureError(f"point spring of {a} and {b}", where)
        numbers = {name: _not_negative(getattr(self, name), name) for name in ("stiffness", "damping", "length")}
        tension = finite_number(self.tension, "tension of a point spring")
        set_fields(self, robot=robot, a=a, b=b, tension=tension, **numbers)

    def distance(self, q: ArrayLike) -> float:
        """Distance of the ends [m] at q (nq,)."""
        return _line(self, self.robot.at(q)).length

    def distance_rates(self, q: ArrayLike) -> Vector:
        r"""Rate of the distance by joint velocities (nv,): a force that pushes the ends apart by 1 N, as joint forces.

        Its opposite is the column of an actuation matrix for an actuator whose force is a tension.

        Raises:
            UndefinedError: the ends coincide.
        """
        posture = self.robot.at(q)
        line = _line(self, posture)
        if line.length < COINCIDENT:
            raise self._no_line()
        return (line.x / line.length) @ _relative_jacobian(self, posture)

    def link_force(self, motion: Motion) -> float:
        """F_l [N], traction positive, at a state.

        Raises:
            UndefinedError: the ends coincide, and it is no spring of zero length.
        """
        line, velocity = self._moving(motion)
        return self._traction(line, self._direction(line, velocity), velocity)

    def force(self, motion: Motion, on: Literal["a", "b"] = "b") -> Vector:
        """Force (3,) on the end b, or on a the opposite one, in world axes [N].

        Raises:
            UndefinedError: as of `link_force`.
        """
        if on not in ("a", "b"):
            raise UnknownNameError("end of a point spring", str(on), ("a", "b"))
        on_b = self._on_b(*self._moving(motion))
        return on_b if on == "b" else -on_b

    def energy(self, q: ArrayLike) -> float:
        r"""Potential energy at q (nq,) [J]: :math:`\tfrac12 k (|x| - l_0)^2 + F_0 |x|`."""
        x = self.distance(q)
        return 0.5 * self.stiffness * (x - self.length) ** 2 + self.tension * x

    def generalised(self, motion: Motion) -> Vector:
        """Joint forces (nv,) at a state."""
        line, velocity = self._moving(motion)
        return self._on_b(line, velocity) @ _relative_jacobian(self, motion.posture)

    def _moving(self, motion: Motion) -> tuple[_Line, Vector]:
        """The line between the ends, and the velocity of b relative to a in world axes (3,)."""
        if not self.robot.space.same_robot(motion.posture.space):
            raise RobotMismatchError(f"point spring of {self.a} and {self.b}: the motion is of another robot")
        return _line(self, motion.posture), _point_velocity(self.b, motion) - _point_velocity(self.a, motion)

    def _on_b(self, line: _Line, velocity: Vector) -> Vector:
        direction = self._direction(line, velocity)
        return -self._traction(line, direction, velocity) * direction

    def _traction(self, line: _Line, direction: Vector, velocity: Vector) -> float:
        stretch = line.length - self.length
        return float(self.tension + self.stiffness * stretch + self.damping * (direction @ velocity))

    def _direction(self, line: _Line, velocity: Vector) -> Vector:
        """Unit vector from a to b; of coincident ends of a spring without length that of the velocity, or zero."""
        if line.length >= COINCIDENT:
            return line.x / line.length
        if self.length or self.tension or not (self.stiffness or self.damping):
            raise self._no_line()
        speed = float(np.sqrt(velocity @ velocity))
        return velocity / speed if speed else np.zeros(3)

    def _no_line(self) -> ConstraintError:
        return UndefinedError(
            f"point spring of {self.a} and {self.b}: the ends coincide, and the line between them has no direction"
        )


class _Line(NamedTuple):
    """From a to b in world axes (3,), and how long it is [m]."""

    x: Vector
    length: float


def _line(link: PointSpring, posture: Posture) -> _Line:
    a, b = posture.placement(link.a), posture.placement(link.b)
    x = np.array(b.translation - a.translation)
    return _Line(x, float(np.sqrt(x @ x)))


def _point_velocity(frame: Frame, motion: Motion) -> Vector:
    """Velocity of the origin of a frame in world axes (3,)."""
    return motion.posture.placement(frame).rotation @ motion.velocity(frame)[:3]


def _relative_jacobian(link: PointSpring, posture: Posture) -> Matrix:
    """Velocity of b less that of a, in world axes, by joint velocities (3, nv)."""
    total = np.zeros((3, posture.space.nv))
    for frame, sign in ((link.b, 1.0), (link.a, -1.0)):
        if frame.joint:
            total += sign * (posture.placement(frame).rotation @ posture.jacobian(frame)[:3])
    return total


def _turning(hinge: Hinge) -> Indices:
    """Coordinates that are angles of pins."""
    pins = [sub.motion is Step.PIN for sub in hinge.subhinges for _ in range(sub.nv)]
    return np.flatnonzero(np.array(pins, dtype=np.bool_))


def _by_coordinate(given: ArrayLike, n: int, what: str) -> Vector:
    """A number for each coordinate (n,), none below zero."""
    numbers = np.full(n, finite_number(given, what)) if np.ndim(given) == 0 else finite_vector(given, n, what)
    if not (numbers >= 0.0).all():
        raise OptionError(f"{what}: expected numbers that are not negative, got {numbers.tolist()}")
    return read_only(np.array(numbers))


def _not_negative(candidate: float, word: str) -> float:
    number = finite_number(candidate, f"{word} of a point spring")
    if number < 0.0:
        raise OptionError(f"{word} of a point spring: expected a number that is not negative, got {number}")
    return number

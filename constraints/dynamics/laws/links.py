"""Links: forces along the line between two points of a robot, by a spring and damper or by any law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from liegroups import Rn, Space
from liegroups.arguments import finite_number
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ...errors import ConstraintError, UndefinedError, UnknownNameError
from ...linear_algebra import norm
from ...loops.hinges.hinge_fit import RateSlopes
from ...problem.questions import ask_of_length
from ...ranges import not_negative
from ...robot import Motion, Robot
from ...robot.model.pinocchio import pin
from ...robot.moving_frames import RelativeFrame, WrenchSlopes
from .frame_links import BetweenFrames, ends, seen_pose
from .link_state import COINCIDENT, LinkState, LinkStatus
from .on_function import ByLaw, Pull


class Link(BetweenFrames):
    r"""A force along the line between the origins of two frames, on the length of that line.

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
    def _has_limit(self) -> bool:
        """Whether the force tends to zero with the length, but for what is along the relative velocity."""
        return False

    @property
    def _values(self) -> Space:
        return Rn(1)

    def _coordinates(self, pose: Any) -> Vector:
        """The length."""
        return np.array([norm(pose.translation)])

    def _rows(self, pose: Any, twist: Vector) -> Matrix:
        """The direction from a to b, in b; of coincident ends of a spring without length that of the velocity, or zero.

        Raises:
            UndefinedError: the ends coincide, and it is no spring of zero length.
        """
        x, length = _line(pose)
        if length < COINCIDENT:
            if not self._has_limit:
                raise self._no_line()
            x, length = twist[:3], norm(twist[:3])
        return np.concatenate([x / length if length else np.zeros(3), np.zeros(3)])[None]

    def _row_slopes(self, pose: Any, twist: Vector, force: Vector) -> RateSlopes:
        r"""With :math:`x = l\,n` seen from b, :math:`\delta x = (I, \hat x)\,\delta X`."""
        x, length = _line(pose)
        n, moved = x / length, np.hstack([np.eye(3), pin.skew(x)])
        turned = np.vstack([(moved - np.outer(n, n @ moved)) / length, np.zeros((3, 6))])
        return RateSlopes(self._rows(pose, twist), twist[None] @ turned, force * turned)

    @final
    def _wrench_slopes(self, seen: RelativeFrame) -> WrenchSlopes | None:
        return None if _line(seen.pose)[1] < COINCIDENT else super()._wrench_slopes(seen)

    @final
    def _tension(self, length: float, rate: float) -> float:
        """F_l [N], traction positive."""
        return -float(self._force(np.array([length]), np.array([rate]))[0])

    @final
    def distance(self, q: ArrayLike) -> float:
        """Distance of the ends [m] at q (nq,)."""
        return float(self._value_at(q)[0])

    @final
    def distance_rates(self, q: ArrayLike) -> Vector:
        r"""Rate of the distance by joint velocities (nv,): a force that pushes the ends apart by 1 N, as joint forces.

        Its opposite is the column of an actuation matrix for an actuator whose force is a tension.

        Raises:
            UndefinedError: the ends coincide.
        """
        pose, J = seen_pose(self._frames, self.robot.at(q))
        if _line(pose)[1] < COINCIDENT:
            raise self._no_line()
        return (self._rows(pose, np.zeros(6)) @ J)[0]

    @final
    def link_force(self, motion: Motion) -> float:
        """F_l [N], traction positive, at a state.

        Raises:
            UndefinedError: the ends coincide, and it is no spring of zero length.
        """
        return -float(self.force_at(motion)[0])

    @final
    def force(self, motion: Motion, on: Literal["a", "b"] = "b") -> Vector:
        """Force (3,) on the end b, or on a the opposite one, in world axes [N].

        Raises:
            UndefinedError: as in `link_force`.
        """
        if on not in ("a", "b"):
            raise UnknownNameError(f"end of a {self._what.split(' of ', 1)[0]}", str(on), ("a", "b"))
        on_b = motion.posture.placement(self.b).rotation @ self.on_bodies(motion)[0][1][:3]
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
        pose, _, twist = self._moving(motion)
        x, length = _line(pose)
        rate = float(x @ twist[:3]) / length if length >= COINCIDENT else norm(twist[:3])
        has_limit = self._has_limit and length < COINCIDENT
        if 0.0 <= least and not has_limit and (length < least or length == 0.0):
            return LinkState(self._what, length, rate, np.inf, np.full(3, np.inf), LinkStatus.COINCIDENT)
        tension = self._tension(length, rate)
        if has_limit and least >= 0.0:
            return LinkState(self._what, length, rate, tension, self.force(motion), LinkStatus.LIMIT)
        with np.errstate(divide="ignore", invalid="ignore"):
            force = -tension * (motion.posture.placement(self.b).rotation @ (x / np.float64(length)))
        status = LinkStatus.UNTESTED if least < 0.0 else LinkStatus.DEFINED
        return LinkState(self._what, length, rate, tension, force, status)

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
        robot, pose = ends(self.robot, self.a, self.b, "point spring")
        numbers = {
            name: not_negative(getattr(self, name), f"{name} of a point spring")
            for name in ("stiffness", "damping", "length")
        }
        tension = finite_number(self.tension, "tension of a point spring")
        set_fields(self, robot=robot, a=pose.frame_a, b=pose.frame_b, _function=pose, tension=tension, **numbers)
        ask_of_length(robot, self.a, self.b, self.length, self._what)

    def _energy(self, value: Any) -> float:
        r""":math:`\tfrac12 k (|x| - l_0)^2 + F_0 |x|`."""
        x = float(value[0])
        return 0.5 * self.stiffness * (x - self.length) ** 2 + self.tension * x

    @property
    def _what(self) -> str:
        return f"point spring of {self.a} and {self.b}"

    @property
    def _has_limit(self) -> bool:
        return not (self.length or self.tension) and bool(self.stiffness or self.damping)

    def _force(self, value: Any, rate: Vector) -> Vector:
        return np.asarray(-(self.tension + self.stiffness * (value - self.length) + self.damping * rate))

    def _pull(self, value: Any, rate: Vector) -> Pull:
        return Pull(self._force(value, rate), np.array([[-self.stiffness]]), np.array([[-self.damping]]))


@final
@dataclass(frozen=True, eq=False)
class PointLink(ByLaw, Link):
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

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, pose = ends(self.robot, self.a, self.b, "point link")
        set_fields(self, robot=robot, a=pose.frame_a, b=pose.frame_b)
        names = ("length", "rate")
        self._take(pose, self.law, self.potential, names, what=f"law of a {self._what}", numbers=True)
        if self._law is None:
            set_fields(self, law=float(self._constant[0]))

    def _force(self, value: Any, rate: Vector) -> Vector:
        return -super()._force(value, rate)

    def _energy(self, value: Any) -> float:
        """The given potential; of a constant force :math:`F_l |x|`."""
        if self._potential is None and self._law is None:
            return float(self._constant @ value)
        return super()._energy(value)

    @property
    def _what(self) -> str:
        return f"point link of {self.a} and {self.b}"


def _line(pose: Any) -> tuple[Vector, float]:
    """From the origin of a to that of b, in b (3,), and how long that is [m]."""
    return pose.translation @ pose.rotation, norm(pose.translation)

"""Closures: what holds two frames of a robot together where its kinematic tree was cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np

from liegroups import SE3, Rn
from liegroups.arguments import as_name, expect, finite_number, real_numbers
from liegroups.arrays import ArrayLike, TangentLike, Vector

from ..errors import ConstraintError, OptionError
from ..functions.frames.frame_function import world_or_frame
from ..robot import Frame, Robot
from ..robot.arguments import as_robot
from ..robot.model.pinocchio import Placement, pin
from ..robot.placement import pose_log, pose_log_second
from ..rows.target import Target
from .axes import hinge_of_axes, hinge_of_mask
from .frame_rows import Form, FrameRows
from .hinges.hinge import Hinge
from .hinges.hinge_fit import HingeMotion, fitted, hinge_rows
from .hinges.hinge_rates import hinge_rates
from .hinges.pose_map import Rod, Split


@dataclass(frozen=True, eq=False)
class ErrorFrame:
    """The successor seen from the fitted hinge's outer frame: the identity, at rest, where the closure is closed.

    Attributes:
        placement: its pose.
        twist: its body twist (6,) [m/s, rad/s].
        acceleration: the derivative of the twist (6,) [m/s2, rad/s2].
    """

    placement: Placement
    twist: Vector
    acceleration: Vector


@final
@dataclass(frozen=True, eq=False, repr=False)
class Closure(FrameRows):
    r"""A closure between two frames, whose type is the hinge that it leaves free.

    The hinge is fitted to the pose :math:`X = {}^pM_s`, and the rows are the error that the hinge cannot explain: 6
    minus its degrees of freedom, translations before rotations, in the axes of the predecessor. A locked closure has
    the rows :math:`\log_6 X`; the others see `hinge_rows`. Rotations enter by their angle, so a half turn is never
    small.

    Args:
        robot: the robot.
        predecessor, successor: frame names, Frames (a placement on a joint), or placements in the world (None: the
            world itself).
        hinge: the free motion; axes in the predecessor's frame.
        target: a `Target` in the space of the rows, for a closure that is driven; zero by default.
        form: DERIVATIVE or RATES, of velocity and acceleration rows (`hinge_rates`).
        name: name in messages.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.
        FixedClosureError: both frames are on one joint.
        HingeTypeError: a custom hinge in the form RATES.

    Example:
        >>> from constraints.loops import Closure, Hinge
        >>> from constraints.models import sample_two_arms
        >>> hands = Closure(sample_two_arms(), "left_tool", "right_tool", Hinge.pin([0, 0, 1]), name="hands")
        >>> hands
        Closure('hands', 5 rows)

    Source: cut joints of Karana kdFlex; anchors of pinocchio.
    """

    robot: Robot
    predecessor: Any
    successor: Any
    hinge: Hinge = field(default_factory=Hinge.locked)
    target: Target | None = field(default=None, kw_only=True)
    form: Form = field(default=Form.DERIVATIVE, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, a, b, name = ends_of(self, "closure")
        expect(self.hinge, Hinge, f"hinge of '{name}'")
        expect(self.form, Form, f"form of '{name}'", "Form.DERIVATIVE or Form.RATES")
        rates = hinge_rates(self.hinge, name) if self.form is Form.RATES else None
        self.bind(robot, a, b, hinge_rows(self.hinge), self.target, name, rates)

    @classmethod
    def masked(cls, robot: Robot, predecessor: Any, successor: Any, mask: Sequence[bool], *, name: str = "") -> Self:
        """A closure that holds some of six axes: translations along x, y, z, then rotations about them.

        Args:
            robot, predecessor, successor, name: as in the class.
            mask: true for the held axes.

        Raises:
            HingeTypeError: one rotation is held and two are free; the message says which hinge to use.
        """
        return cls(robot, predecessor, successor, hinge_of_mask(mask), name=name)

    @classmethod
    def along(cls, robot: Robot, predecessor: Any, successor: Any, axes: ArrayLike, *, name: str = "") -> Self:
        """A closure that holds single spatial axes, as RBDL's loop constraints do.

        The rows are those of the hinge that remains free, in its order; they hold the same motions as the axes.

        Args:
            robot, predecessor, successor, name: as in the class.
            axes: (k, 6) or (6,) in the predecessor's frame, linear then angular (RBDL has the angular part first), each
                a unit direction of translation or of rotation, at right angles to each other.

        Raises:
            HingeTypeError: the free motion is not a hinge; the message says which one to use.
        """
        rows = real_numbers(axes, "axes of a closure")
        return cls(robot, predecessor, successor, hinge_of_axes(rows[None] if rows.ndim == 1 else rows), name=name)

    def hinge_motion(self, q: ArrayLike, v: TangentLike | None = None, a: TangentLike | None = None) -> HingeMotion:
        """Fitted hinge coordinates, rates and accelerations at (q, v, a); v and a are zero by default."""
        return fitted(self.hinge, *self.motion(q, v, a))

    def error_frame(self, q: ArrayLike, v: TangentLike | None = None, a: TangentLike | None = None) -> ErrorFrame:
        """The successor seen from the fitted hinge, with its twist and acceleration."""
        X, twist, gamma = self.motion(q, v, a)
        fit = fitted(self.hinge, X, twist, gamma)
        H, S = self.hinge.placement(fit.coordinates), self.hinge.subspace(fit.coordinates)
        E = H.actInv(X)
        outer = S @ fit.rates, S @ fit.accelerations + self.hinge.drift(fit.coordinates, fit.rates)
        return ErrorFrame(E, *SE3.relative_motion(np.asarray(pin.SE3ToXYZQUAT(E)), (twist, gamma), outer))

    def pose_error(self, q: ArrayLike) -> Vector:
        r""":math:`\log_6` of the error frame (6,) [m, rad]: zero exactly where the closure is closed."""
        return pose_log(self.error_frame(q).placement)

    def velocity_error(self, q: ArrayLike, v: TangentLike) -> Vector:
        """First time derivative of `pose_error` (6,)."""
        error, D = self.error_frame(q, v), np.empty((6, 6))
        pose_log(error.placement, D)
        return D @ error.twist

    def acceleration_error(self, q: ArrayLike, v: TangentLike, a: TangentLike | None = None) -> Vector:
        """Second time derivative of `pose_error` (6,) at joint accelerations a; zero by default."""
        error = self.error_frame(q, v, a)
        return pose_log_second(error.placement, error.twist, error.acceleration)


@final
@dataclass(frozen=True, eq=False, repr=False)
class PointClosure(FrameRows):
    r"""A closure that joins the origins of two frames: three rows, :math:`{}^pp_s` in the axes of the predecessor.

    Args:
        robot, predecessor, successor, target, name: as in `Closure`.
    """

    robot: Robot
    predecessor: Any
    successor: Any
    target: Target | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, a, b, name = ends_of(self, "point closure")
        self.bind(robot, a, b, Split(np.eye(3), None), self.target, name)


@final
@dataclass(frozen=True, eq=False, repr=False)
class RodClosure(FrameRows):
    r"""A massless rod between the origins of two frames: one row, :math:`\tfrac12(|x|^2 - l^2)`, x from p to s.

    This row is used instead of the distance minus l because it is a polynomial (it has derivatives everywhere, also if
    the origins coincide) and its multiplier has Robotran's sign: :math:`\lambda x` is the force on the successor, so
    :math:`\lambda > 0` pushes the ends apart and the axial force is :math:`N = \lambda\,l`.

    Args:
        robot, predecessor, successor, name: as in `Closure`.
        length: l > 0 [m]; or a `Target` of one number, for a rod that changes its length.

    Raises:
        OptionError: a length that is not positive.
    """

    robot: Robot
    predecessor: Any
    successor: Any
    length: float | Target
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, a, b, name = ends_of(self, "rod")
        if isinstance(self.length, Target):
            self.bind(robot, a, b, Rod(0.0), _HalfSquare(self.length, name).target(), name)
            return
        length = finite_number(self.length, f"length of '{name}'")
        if length <= 0.0:
            raise OptionError(f"length of '{name}': expected a positive number [m] (PointClosure for 0), got {length}")
        self.bind(robot, a, b, Rod(length), None, name)


@dataclass(frozen=True)
class _HalfSquare:
    """A length that varies in time as a right-hand side of the row: half its square."""

    length: Target
    name: str

    def target(self) -> Target:
        return Target(self.value, self.velocity, self.acceleration, self.length.interval)

    def value(self, t: float) -> Vector:
        return 0.5 * _positive(self.length.at(t), self.name, t) ** 2

    def velocity(self, t: float) -> Vector:
        return self.length.at(t) * self.length.velocity_at(t, Rn(1))

    def acceleration(self, t: float) -> Vector:
        return self.length.velocity_at(t, Rn(1)) ** 2 + self.length.at(t) * self.length.acceleration_at(t, Rn(1))


def ends_of(closure: Any, word: str) -> tuple[Robot, Frame, Frame, str]:
    """The robot, the two frames and a name, from what a user gave.

    Args:
        closure: with what was given for its robot, predecessor, successor and name.
        word: what it is, in messages.

    Raises:
        FixedClosureError: both frames are on one joint.
    """
    robot = as_robot(closure.robot, f"robot of a {word}")
    label = as_name(closure.name, f"name of a {word}")
    a = world_or_frame(robot, closure.predecessor, f"predecessor of a {word}")
    b = world_or_frame(robot, closure.successor, f"successor of a {word}")
    if a.joint == b.joint:
        where = "in the world" if a.joint == 0 else f"on joint '{robot.model.names[a.joint]}'"
        raise FixedClosureError(label or word, where)
    return robot, a, b, label or f"{word}({a.name}, {b.name})"


def _positive(length: Vector, name: str, t: float) -> Vector:
    if length.shape != (1,) or not length[0] > 0.0:
        raise OptionError(f"length of '{name}' at {t:.6g} s: expected one positive number [m], got {length}")
    return length


class FixedClosureError(ConstraintError):
    """Both frames of a closure are on the same joint, so nothing moves it: `closure`, `where`."""

    def __init__(self, closure: str, where: str) -> None:
        self.closure, self.where = closure, where
        super().__init__(
            f"'{closure}': predecessor and successor are both {where}, so they never move relative to each other: "
            "give frames on two joints"
        )

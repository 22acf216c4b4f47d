"""Contacts: points and surfaces of a robot held in the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Self, final

import numpy as np

from liegroups.arguments import as_flag, as_name, expect, finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.formulas.second_order import cross
from liegroups.frozen import keep_own, set_fields

from ..errors import OptionError
from ..functions.enclosures.box import Enclosure
from ..functions.enclosures.smooth import combined
from ..functions.frames.frame_function import as_frame
from ..functions.frames.slopes import STRAIGHT, Slopes
from ..robot import Frame, Robot
from ..robot.arguments import as_robot
from ..robot.model.pinocchio import Placement, pin
from ..robot.placement import as_placement, unit_axis
from ..rows.target import Target
from .frame_rows import Form, FrameRows
from .hinges.enclosing import PoseOnBox
from .hinges.masked_map import MaskedMap, as_mask
from .hinges.pose_map import LogPose, PoseMap, Split, TurnedLog
from .hinges.rotation_rows import Turn


class Axes(Enum):
    """The axes of a contact's rows."""

    LOCAL = "of the contact frame"
    LOCAL_WORLD_ALIGNED = "of the world, at the origin of the contact frame"


def as_axes(axes: object, what: str) -> Axes:
    """Axes from a user; those of the world at its origin are refused with the reason.

    Args:
        axes: what came.
        what: whose.

    Raises:
        OptionError: WORLD, of pinocchio or as a word.
        WrongObjectError: anything else.
    """
    if not isinstance(axes, Axes) and str(axes).rpartition(".")[2].upper() == "WORLD":
        raise OptionError(
            f"axes of {what}: WORLD is ambiguous: Crocoddyl reads it as LOCAL_WORLD_ALIGNED, "
            "pinocchio as spatial rows at the origin of the world; use Axes.LOCAL_WORLD_ALIGNED, or Axes.LOCAL"
        )
    return expect(axes, Axes, f"axes of {what}", "Axes.LOCAL or Axes.LOCAL_WORLD_ALIGNED")


@final
@dataclass(frozen=True, eq=False, repr=False)
class PointContact(FrameRows):
    r"""A point of the robot that does not move along some or all directions.

    With three rows, `PointContact(robot, frame)`, it sticks. With a normal it is one row: the point keeps its height,
    and **slides** without friction in the plane across the normal; with a mask it slides along what is masked.

    With an anchor :math:`p_0` the rows are :math:`n^T (p - p_0)`, in world axes or in the axes of the contact frame;
    their velocity and acceleration rows are the derivatives. Without an anchor there is no position row, and velocity
    rows are :math:`n^T \dot p` (LOCAL: of the velocity in the contact frame).

    In the form RATES the velocity rows in LOCAL axes are :math:`n^T R^T \dot p` with or without an anchor, and the
    acceleration rows :math:`n^T R^T \ddot p`; in world axes both forms are the same.

    Args:
        robot: the robot.
        frame: frame name or Frame; the point is its origin.
        normal: unit (3,), for one row along it, in the axes of `axes`; None for three rows.
        mask: three truth values, true for the rows to keep, in the axes of `axes`; all by default. One true value is
            the 1D contact of Crocoddyl, two are its 2D contact.
        anchor: where the point is held (3,) [m]; None for none, or "here" by `anchored(q)`.
        axes: of the rows.
        form: DERIVATIVE or RATES.
        error_axes: LOCAL_WORLD_ALIGNED, for rows in LOCAL axes and the form RATES, leaves the position error
            :math:`p - p_0` in world axes, as the 2D contact of Crocoddyl does; by default it is in the axes of the
            rows.
        target: a `Target` of one to three numbers that the rows follow in time.
        name: name in messages.

    Raises:
        OptionError: WORLD axes, a normal and a mask, a mask without a true value, error axes that do not apply.
        UnknownFrameError: lists the frames whose names come closest.
        WrongObjectError, SizeError, DtypeError, NotFiniteError: an invalid argument.

    Source: contacts of RBDL (one normal) and crocoddyl (3D, LOCAL or LOCAL_WORLD_ALIGNED).
    """

    is_contact = True
    robot: Robot
    frame: Frame | str
    normal: ArrayLike | None = None
    anchor: ArrayLike | None = None
    axes: Axes = field(default=Axes.LOCAL_WORLD_ALIGNED, kw_only=True)
    form: Form = field(default=Form.DERIVATIVE, kw_only=True)
    mask: Sequence[bool] | None = field(default=None, kw_only=True)
    error_axes: Axes | None = field(default=None, kw_only=True)
    target: Target | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        keep_own(self, "normal", "anchor")
        frame, name = frame_of(self)
        what = f"normal of '{name}' (a direction; anchor= is the place)"
        every = np.eye(3) if self.normal is None else unit_axis(self.normal, what)[None, :]
        mask = as_mask(self.mask, 3, f"'{name}'")
        if mask is not None:
            if self.normal is not None:
                raise OptionError(f"'{name}': give a normal or a mask, not both")
        N = every if mask is None else every[np.flatnonzero(mask)]
        at = None if self.anchor is None else np.array(finite_vector(self.anchor, 3, f"anchor of '{name}'"))
        rates: PoseMap | None = None
        if self.axes is not Axes.LOCAL:
            pose_map: PoseMap = Split(N, None)
        else:
            pose_map = LocalPoint(N, at is not None)
            rates = PointRates(N) if self.form is Form.RATES else None
        set_fields(self, mask=mask)
        if self.error_axes not in (None, self.axes):
            as_axes(self.error_axes, f"the error of '{name}'")
            if rates is None:
                raise OptionError(f"'{name}': error_axes are only for LOCAL rows in Form.RATES")
            pose_map = pose_map if at is None else Split(N, None)
        _hold(self, frame, None if at is None else pin.SE3(np.eye(3), at), pose_map, name, rates)

    def anchored(self, q: ArrayLike) -> Self:
        """The same contact, anchored at its place at q."""
        at = self.robot.at(q).placement(self.successor).translation.copy()
        return replace(self, frame=self.successor, anchor=at)

    @property
    def free(self) -> str:
        """How the point can slide, in words; empty where it sticks."""
        if self.normal is not None:
            return f"in the plane across its normal {np.asarray(self.normal).tolist()}"
        mask = [True] * 3 if self.mask is None else list(self.mask)
        return ", ".join(f"along {axis}" for axis, kept in zip("xyz", mask, strict=True) if not kept)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SurfaceContact(FrameRows):
    r"""A frame of the robot that does not move: six rows.

    With an anchor :math:`M_0`, LOCAL rows are :math:`\log_6(M_0^{-1}\,{}^oM_f)`, and LOCAL_WORLD_ALIGNED rows
    :math:`(p - p_0,\; \log_3(R R_0^T))`. Without an anchor, velocity rows are the twist of the frame, in its axes or in
    world axes.

    In the form RATES the twist is used with an anchor too, the acceleration rows are the spatial acceleration
    of the frame in the same axes, and the position error is :math:`\log_6(M_0^{-1}\,{}^oM_f)`, rotated into these axes.

    Args:
        robot: the robot.
        frame: frame name or Frame.
        anchor: placement where it is held (`pinocchio.SE3`, 4 x 4, or seven numbers); None for none.
        axes: of the rows.
        form: DERIVATIVE or RATES.
        mask: six truth values, true for the rows to keep (linear, then angular, in the axes of `axes`); all by
            default.
        target: a `Target` that the rows follow in time, one number per row.
        name: name in messages.

    Raises:
        OptionError: WORLD axes, a mask without a true value.
        UnknownFrameError: lists the frames whose names come closest.
        WrongObjectError, SizeError, DtypeError, NotFiniteError: an invalid argument.
    """

    is_contact = True
    robot: Robot
    frame: Frame | str
    anchor: Placement | ArrayLike | None = None
    axes: Axes = field(default=Axes.LOCAL, kw_only=True)
    form: Form = field(default=Form.DERIVATIVE, kw_only=True)
    mask: Sequence[bool] | None = field(default=None, kw_only=True)
    target: Target | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        keep_own(self, "anchor")
        frame, name = frame_of(self)
        at = None if self.anchor is None else as_placement(self.anchor, f"anchor of '{name}'")
        local, as_rates = self.axes is Axes.LOCAL, self.form is Form.RATES
        turn = None if local else np.eye(3) if at is None else at.rotation.copy()
        rates: PoseMap = TwistRows(turn, spatial=local or as_rates)
        if at is None:
            pose_map: PoseMap = rates
        elif turn is None:
            pose_map = LogPose()
        else:
            pose_map = TurnedLog(turn) if as_rates else Split(turn, Turn(turn))
        mask = as_mask(self.mask, 6, f"'{name}'")
        if mask is not None:
            rows = np.flatnonzero(mask)
            pose_map, rates = MaskedMap(pose_map, rows), MaskedMap(rates, rows)
        set_fields(self, mask=mask)
        _hold(self, frame, at, pose_map, name, rates if as_rates else None)

    def anchored(self, q: ArrayLike) -> Self:
        """The same contact, anchored at its place at q."""
        return replace(self, frame=self.successor, anchor=self.robot.at(q).placement(self.successor))


def frame_of(contact: Any) -> tuple[Frame, str]:
    """The frame, and the name in messages, from what the user gave for its robot, frame and name."""
    frame = as_frame(as_robot(contact.robot, "robot of a contact"), contact.frame, "a contact")
    return frame, as_name(contact.name, "name of a contact") or f"contact({frame.name})"


def _hold(
    contact: PointContact | SurfaceContact,
    frame: Frame,
    anchor: Placement | None,
    pose_map: PoseMap,
    name: str,
    rates: PoseMap | None,
) -> None:
    """Make the rows: seen from the anchor, or from the world."""
    as_axes(contact.axes, f"'{name}'")
    expect(contact.form, Form, f"form of '{name}'", "Form.DERIVATIVE or Form.RATES")
    set_fields(contact, has_position=anchor is not None)
    reference = Frame("world", 0, anchor, "universe") if anchor is not None else Frame("world", 0)
    contact.bind(contact.robot, reference, frame, pose_map, contact.target, name, rates)


@final
class LocalPoint(PoseMap):
    r"""Position of the origin in the body's axes, :math:`e = N R^T p`, or only its rate, :math:`N v`.

    Args:
        directions: N, (k, 3), in the axes of the body.
        anchored: whether e counts, with its derivatives :math:`N(v - \omega \times R^T p)`.
    """

    __slots__ = ("_anchored", "directions", "size")

    def __init__(self, directions: Matrix, anchored: bool) -> None:
        self.directions, self._anchored, self.size = directions, anchored, directions.shape[0]

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        e = pose.translation.dot(pose.rotation)
        out[:] = self.directions.dot(e) if self._anchored else 0.0
        if D is not None:
            D[:, :3] = self.directions
            if self._anchored:
                D[:, 3:] = self.directions.dot(pin.skew(e))

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        v, w, alpha = twist[:3], twist[3:], acceleration[3:]
        second = np.array(acceleration[:3])
        if self._anchored:
            e = pose.translation @ pose.rotation
            rate = v - cross(w, e)
            second -= cross(alpha, e) + cross(w, rate)
        out[:] = self.directions @ second

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        r"""As `PoseMap.slopes`, with :math:`E = (I, \hat e)` the derivative of :math:`e = R^T p`."""
        found, N = Slopes.zero(self.size), self.directions
        if not self._anchored:
            return found
        e = pose.translation @ pose.rotation
        E, W = np.hstack([np.eye(3), pin.skew(e)]), pin.skew(twist[3:])
        rate = twist[:3] - cross(twist[3:], e)
        found.rate[:] = -N @ W @ E
        found.force[3:] = pin.skew(multipliers @ N) @ E
        found.by_pose[:] = N @ (W @ W - pin.skew(acceleration[3:])) @ E
        found.by_twist[:, :3], found.by_twist[:, 3:] = -N @ W, N @ (pin.skew(rate) - W @ pin.skew(e))
        return found

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`, where it is anchored: e is where the reference is, seen from the body, reversed."""
        return combined(-self.directions, at.back.place(at.box), at.box) if self._anchored else super().enclosure(at)


@final
class PointRates(PoseMap):
    r"""Velocity of the origin along directions of the body, :math:`N v`, and its classical acceleration.

    Args:
        directions: N, (k, 3), in the axes of the body.
    """

    __slots__ = ("_rows", "directions", "in_own_axes", "size")

    def __init__(self, directions: Matrix) -> None:
        self.directions, self.size = directions, directions.shape[0]
        self._rows = np.hstack([directions, np.zeros((self.size, 3))])
        self.in_own_axes = directions.shape == (3, 3) and bool((directions == np.eye(3)).all())

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        out.fill(0.0)
        if D is not None:
            D[...] = self._rows

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        u, v, w, x, y, z = twist.tolist()  # written out: half of the time
        a, b, c, *_ = acceleration.tolist()
        classical = (a + y * w - z * v, b + z * u - x * w, c + x * v - y * u)
        out[:] = classical if self.in_own_axes else self.directions.dot(classical)

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`."""
        found, N = Slopes.zero(self.size), self.directions
        found.by_twist[:, :3], found.by_twist[:, 3:] = N.dot(pin.skew(twist[3:])), N.dot(pin.skew(-twist[:3]))
        return found


@final
class TwistRows(PoseMap):
    """Rates of a frame without position rows: its twist, in its own axes or in those of the world.

    Args:
        turn: from the axes of the reference to those of the world; None for rows in the frame's own axes.
        spatial: whether the acceleration is the spatial one; else its linear part is that of the point.
    """

    size = 6
    __slots__ = ("in_own_axes", "spatial", "turn")

    def __init__(self, turn: Matrix | None, spatial: bool) -> None:
        self.turn, self.spatial = turn, as_flag(spatial, "spatial of twist rows")
        self.in_own_axes = turn is None and spatial

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        out[:] = 0.0
        if D is None:
            return
        if self.turn is None:
            D.flat[::7] = 1.0  # zero when new
        else:
            D[:3, :3] = D[3:, 3:] = self.turn @ pose.rotation

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        out[:] = acceleration
        if not self.spatial:
            out[:3] += cross(twist[3:], twist[:3])
        if self.turn is not None:
            R = self.turn @ pose.rotation
            out[:3], out[3:] = R @ out[:3], R @ out[3:]

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`."""
        if self.in_own_axes:
            return STRAIGHT
        found, skew, v, w = Slopes.zero(6), pin.skew, twist[:3], twist[3:]
        R = np.eye(3) if self.turn is None else self.turn @ pose.rotation
        if not self.spatial:
            found.by_twist[:3, :3], found.by_twist[:3, 3:] = R @ skew(w), -R @ skew(v)
        if self.turn is None:
            return found
        linear = acceleration[:3] if self.spatial else acceleration[:3] + cross(w, v)
        for half, velocity, second in ((slice(3), v, linear), (slice(3, 6), w, acceleration[3:])):
            found.rate[half, 3:], found.by_pose[half, 3:] = -R @ skew(velocity), -R @ skew(second)
            found.force[half, 3:] = skew(multipliers[half] @ R)
        return found

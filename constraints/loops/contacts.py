"""Contacts: points and surfaces of a robot held in the world."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Self, final

import numpy as np

from liegroups.arguments import as_flag, as_name, expect, finite_vector
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.second_order import cross

from ..functions.frame_function import as_frame
from ..robot import Frame, Robot, as_placement
from ..robot.arguments import as_robot
from ..robot.pinocchio import Placement, pin
from ..rows.target import Target
from .frame_rows import FrameRows
from .pose_map import LogPose, PoseMap, Split
from .rotation_rows import Turn
from .subhinge import unit_axis


class Axes(Enum):
    """The axes of a contact's rows."""

    LOCAL = "of the contact frame"
    LOCAL_WORLD_ALIGNED = "of the world, at the origin of the contact frame"


@final
@dataclass(frozen=True, eq=False, repr=False)
class PointContact(FrameRows):
    r"""A point of the robot that does not move along some directions, or any.

    With an anchor :math:`p_0` the rows are :math:`n^T (p - p_0)`, in world axes or in those of the contact frame; their
    velocity and acceleration rows are the derivatives. Without, there is no position row, and velocity rows are
    :math:`n^T \dot p` (LOCAL: of the velocity in the contact frame).

    Args:
        robot: the robot.
        frame: frame name or Frame; the point is its origin.
        normal: unit (3,), for one row along it, in the axes of `axes`; None for three rows.
        anchor: where the point is held (3,) [m]; None for none, or "here" by `anchored(q)`.
        axes: of the rows.
        target: what the rows follow in time, a `Target` of one or three numbers.
        name: name in messages.

    Source: contacts of RBDL (one normal) and crocoddyl (3D, LOCAL or LOCAL_WORLD_ALIGNED).
    """

    robot: Robot
    frame: Frame | str
    normal: ArrayLike | None = None
    anchor: ArrayLike | None = None
    axes: Axes = field(default=Axes.LOCAL_WORLD_ALIGNED, kw_only=True)
    target: Target | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        frame, name = _frame(self)
        what = f"normal of '{name}' (a direction; anchor= is the place)"
        N = np.eye(3) if self.normal is None else unit_axis(self.normal, what)[None, :]
        at = None if self.anchor is None else np.array(finite_vector(self.anchor, 3, f"anchor of '{name}'"))
        world = self.axes is not Axes.LOCAL
        pose_map: PoseMap = Split(N, None) if world else LocalPoint(N, at is not None)
        _hold(self, frame, None if at is None else pin.SE3(np.eye(3), at), pose_map, name)

    def anchored(self, q: ArrayLike) -> Self:
        """The same contact, held where it is at q."""
        at = self.robot.at(q).placement(self.successor).translation.copy()
        return replace(self, frame=self.successor, anchor=at)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SurfaceContact(FrameRows):
    r"""A frame of the robot that does not move: six rows.

    With an anchor :math:`M_0`, LOCAL rows are :math:`\log_6(M_0^{-1}\,{}^oM_f)`, and LOCAL_WORLD_ALIGNED rows
    :math:`(p - p_0,\; \log_3(R R_0^T))`. Without, velocity rows are the twist of the frame, in its axes or in those of
    the world.

    Args:
        robot: the robot.
        frame: frame name or Frame.
        anchor: placement where it is held (`pinocchio.SE3`, 4 x 4, or seven numbers); None for none.
        axes: of the rows.
        target: what the rows follow in time, a `Target` of six numbers.
        name: name in messages.
    """

    robot: Robot
    frame: Frame | str
    anchor: Placement | ArrayLike | None = None
    axes: Axes = field(default=Axes.LOCAL, kw_only=True)
    target: Target | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        frame, name = _frame(self)
        at = None if self.anchor is None else as_placement(self.anchor, f"anchor of '{name}'")
        local = self.axes is Axes.LOCAL
        if at is None:
            pose_map: PoseMap = TwistRows(local)
        else:
            pose_map = LogPose() if local else Split(at.rotation.copy(), Turn(at.rotation.copy()))
        _hold(self, frame, at, pose_map, name)

    def anchored(self, q: ArrayLike) -> Self:
        """The same contact, held where it is at q."""
        return replace(self, frame=self.successor, anchor=self.robot.at(q).placement(self.successor))


def _frame(contact: PointContact | SurfaceContact) -> tuple[Frame, str]:
    """The frame, and the name in messages, from what the user gave."""
    frame = as_frame(as_robot(contact.robot, "robot of a contact"), contact.frame, "a contact")
    return frame, as_name(contact.name, "name of a contact") or f"contact({frame.name})"


def _hold(
    contact: PointContact | SurfaceContact, frame: Frame, anchor: Placement | None, pose_map: PoseMap, name: str
) -> None:
    """Make the rows: seen from the anchor, or from the world."""
    expect(contact.axes, Axes, f"axes of '{name}'", "Axes.LOCAL or Axes.LOCAL_WORLD_ALIGNED")
    set_fields(contact, has_position=anchor is not None)
    reference = Frame("world", 0, anchor, "universe") if anchor is not None else Frame("world", 0)
    contact.bind(contact.robot, reference, frame, pose_map, contact.target, name)


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


@final
class TwistRows(PoseMap):
    """Rates of a frame without position rows: its twist, in its own axes or in those of the world.

    Args:
        local: in its own axes.
    """

    size = 6
    __slots__ = ("_local",)

    def __init__(self, local: bool) -> None:
        self._local = as_flag(local, "local of twist rows")

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        out[:] = 0.0
        if D is not None:
            D[:3, :3] = D[3:, 3:] = np.eye(3) if self._local else pose.rotation

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        if self._local:
            out[:] = acceleration
        else:
            out[:3] = pose.rotation @ (acceleration[:3] + cross(twist[3:], twist[:3]))
            out[3:] = pose.rotation @ acceleration[3:]

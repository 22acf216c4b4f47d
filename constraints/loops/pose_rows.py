"""Contacts and closures whose rows a user gives, as a map of the pose of one frame seen from another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

from liegroups.arrays import ArrayLike
from liegroups.frozen import set_fields

from ..errors import OptionError
from ..robot import Frame, Robot
from ..robot.model.pinocchio import Placement
from ..robot.placement import as_placement
from ..rows.target import Target
from .closures import ends_of
from .contacts import frame_of
from .frame_rows import FrameRows
from .hinges.given_map import GivenMap
from .hinges.pose_map import PoseMap


@final
@dataclass(frozen=True, eq=False, repr=False)
class PoseContact(FrameRows):
    r"""A contact of your own: its rows are a `PoseMap` of the pose of a frame of the robot, seen from the world.

    .. math:: r({}^aM_f(q)) = 0, \qquad \dot r = D\,\nu

    with a the reference, f the frame and :math:`\nu` the body twist of f. Velocity rows, acceleration rows and the
    forces :math:`D^T\lambda` on f follow from the map. A multiplier :math:`\lambda > 0` pushes the frame to where r
    grows: with one row, take r positive off the ground, and `pulling` of a result names the contact where it pulls. All
    methods of dynamics take it but PROXIMAL, which has pinocchio's rows only.

    For an inequality, or another right-hand side, the function of the contact goes into a constraint:
    `Implicit.above(contact.function, [0.0])`.

    Args:
        robot: the robot.
        frame: frame name or Frame.
        pose_map: r.
        reference: the placement a in the world (`pinocchio.SE3`, 4 x 4, or seven numbers); the world by default.
        target: a `Target` that the rows follow in time, one number per row; zero by default.
        name: name in messages.

    Raises:
        WrongObjectError: no PoseMap.
        FunctionError: the map returns its value, or does not write all of it; names the class.
        OptionError: a size that is not in 1 to 6; a reference that is a frame, which needs `PoseClosure`.
        UnknownFrameError: lists the frames whose names come closest.

    Source: no library; the closures and contacts of this one are made in the same way.
    """

    is_contact = True
    robot: Robot
    frame: Frame | str
    pose_map: PoseMap
    reference: Placement | ArrayLike | None = None
    target: Target | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        frame, name = frame_of(self)
        if isinstance(self.reference, str | Frame):
            raise OptionError(
                f"reference of '{name}': expected a placement in the world, got the frame '{self.reference}'; "
                "PoseClosure(robot, predecessor, successor, pose_map) is for two frames"
            )
        at = as_placement(self.reference, f"reference of '{name}' (a placement in the world)")
        set_fields(self, reference=at)
        given = GivenMap(self.pose_map, name)
        self.bind(self.robot, Frame("world", 0, at, "universe"), frame, given, self.target, name)


@final
@dataclass(frozen=True, eq=False, repr=False)
class PoseClosure(FrameRows):
    r"""A closure of your own: its rows are a `PoseMap` of the pose of the successor, seen from the predecessor.

    .. math:: r({}^pM_s(q)) = 0

    What a hinge of `Hinge` cannot say: a point on a curve of another body, a cam, a slot. Forces :math:`D^T\lambda`
    act on the successor, the opposite ones on the predecessor.

    Args:
        robot, predecessor, successor: as in `Closure`.
        pose_map: r.
        target: a `Target` that the rows follow in time, one number per row; zero by default.
        name: name in messages.

    Raises:
        WrongObjectError, FunctionError, OptionError: as in `PoseContact`.
        UnknownFrameError: lists the frames whose names come closest.
        FixedClosureError: both frames are on one joint.
    """

    robot: Robot
    predecessor: Any
    successor: Any
    pose_map: PoseMap
    target: Target | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check everything once."""
        robot, a, b, name = ends_of(self, "closure")
        self.bind(robot, a, b, GivenMap(self.pose_map, name), self.target, name)

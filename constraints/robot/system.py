"""Several robots and objects in one system, with prefixed names."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups.arguments import as_label, as_name, as_tuple, expect
from liegroups.arrays import Vector
from liegroups.errors import DuplicateNameError

from ..errors import OptionError
from ..linear_algebra import norm
from ..questions import say
from .files.disabled_collisions import DisabledCollision
from .files.packages import VisualFile
from .files.questions import asked_of_seats
from .frame_table import FrameTable
from .model.mimic import Mimic
from .model.pinocchio import Placement, pin
from .placement import as_placement

if TYPE_CHECKING:
    from .robot import Robot

_log = logging.getLogger(__package__)


@dataclass(frozen=True, eq=False)
class Part:
    r"""A robot or an object of a system.

    Args:
        name: its joints and frames are called `name/joint`, `name/frame`.
        robot: the robot.
        placement: of its world frame in the world of the system, :math:`{}^oM_p`, or in the frame `on`, :math:`{}^fM_p`
            (`pinocchio.SE3`, a 4 x 4 matrix, or translation [m] and quaternion xyzw); the identity by default.
        on: frame of an earlier part that it is fixed on ("panda/panda_hand"); the world by default.
    """

    name: str
    robot: Robot
    placement: object = None
    on: str | None = None


def join(parts: Iterable[Part], name: str | None, kind: type[Robot]) -> Robot:
    """Append the models of the parts to each other, in their order, names prefixed.

    The bounds of the parts become limits of the model, their reference postures postures of the model, the other parts
    being at neutral. Pinocchio decides the order of the joints: those of a part that stands on a moving frame follow
    the joints that move with it, the others come in the order of the parts.

    Args:
        parts: the parts.
        name: name of the system; the names of the parts by default.
        kind: the class of robots; a robot is made of parts, and parts hold robots.

    Raises:
        DuplicateNameError: two parts have one name.
        UnknownFrameError, AmbiguousFrameError: the frame a part stands on is none, or not one, of the earlier parts'.
        WrongObjectError: an object is no `Part`, or has a name that is not usable.
        OptionError: a part is named as what is within another one, "a/b" beside "a".
    """
    parts = as_tuple(parts, "parts of a system", "Part")
    model: Any = pin.Model()
    names: list[str] = []
    away: dict[str, float] = {}
    for i, part in enumerate(parts):
        expect(part, Part, f"part {i} of the system")
        as_label(part.name, f"name of part {i} of the system")
        expect(part.robot, kind, f"part '{part.name}'", "a Robot (Robot(model) for a pinocchio.Model)")
        if part.name in names:
            raise DuplicateNameError("part of the system", part.name)
        names.append(part.name)
        _refuse_inside(names)
        if i == 0:
            own: Any = part.robot.model
            model.gravity = own.gravity
        frame, placement = _seat(model, part)
        away[part.name] = norm(np.asarray(placement.translation))
        model = pin.appendModel(model, _prefixed(part.robot, f"{part.name}/"), frame, placement)
    say(_log, asked_of_seats(away, [part.robot.model for part in parts]))
    model.name = as_name(name or " + ".join(names) or "empty system", "name of a system")
    slices = {joint: slice(model.idx_qs[i], model.idx_qs[i] + model.nqs[i]) for i, joint in enumerate(model.names) if i}
    neutral: Vector = pin.neutral(model)
    lower, upper = np.array(model.lowerPositionLimit), np.array(model.upperPositionLimit)
    mimics: list[Mimic] = []
    disabled: list[DisabledCollision] = []
    visuals: list[VisualFile] = []
    for part in parts:
        robot, prefix = part.robot, f"{part.name}/"
        for posture, q in robot.references.items():
            whole = neutral.copy()
            for joint in robot.joint_names:
                whole[slices[prefix + joint]] = q[robot.slice_of(joint)]
            model.referenceConfigurations[prefix + posture] = whole
        for joint in robot.joint_names:
            lower[slices[prefix + joint]] = robot.bounds.lower[robot.slice_of(joint)]
            upper[slices[prefix + joint]] = robot.bounds.upper[robot.slice_of(joint)]
        mimics += [mimic.prefixed(prefix) for mimic in robot.mimics]
        disabled += [pair.prefixed(prefix) for pair in robot.disabled_collisions]
        visuals += [file.prefixed(prefix) for file in robot.visuals]
    model.lowerPositionLimit, model.upperPositionLimit = lower, upper
    return kind(model, mimics=mimics, disabled_collisions=disabled, visuals=visuals)


def _refuse_inside(names: list[str]) -> None:
    """Refuse the last part if its name is one of what is within another part, or the reverse."""
    for name in names:
        short, long = sorted((name, names[-1]), key=len)
        if long.startswith(f"{short}/"):
            raise OptionError(
                f"parts of the system: '{long}' names what is within part '{short}', expected another name"
            )


def _prefixed(robot: Robot, prefix: str) -> Any:
    """Copy of a robot's model with prefixed names, its added frames among the model's, a frame for each joint."""
    model: Any = pin.Model(robot.model)
    for frame in robot.added_frames:
        model.addFrame(pin.Frame(frame.name, frame.joint, frame.placement, pin.FrameType.OP_FRAME))
    for i in range(1, model.njoints):
        model.names[i] = prefix + model.names[i]
    for frame in model.frames:
        if frame.name != "universe":
            frame.name = prefix + frame.name
    for posture in [entry.key() for entry in model.referenceConfigurations]:
        del model.referenceConfigurations[posture]
    framed = {frame.parentJoint for frame in model.frames if frame.type == pin.FrameType.JOINT}
    for i in range(1, model.njoints):
        if i not in framed:
            model.addJointFrame(i)
    return model


def _seat(model: Any, part: Part) -> tuple[int, Placement]:
    """Index of a frame of the model so far, and the placement of the part relative to it."""
    what = f"placement of part '{part.name}'"
    if part.on is None:
        return 0, as_placement(part.placement, what)
    seat = FrameTable.of(model).find(part.on)
    at = next(i for i, frame in enumerate(model.frames) if frame.parentJoint == seat.joint)
    jMp = seat.placement * as_placement(part.placement, what)
    return at, model.frames[at].placement.actInv(jMp)

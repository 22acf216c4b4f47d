"""A robot as plain data, and back: its model, and what a Robot keeps beside it."""

from __future__ import annotations

from typing import Any

from liegroups.arrays import Vector

from ..robot.bounds import Bounds
from ..robot.configuration import checked_postures
from ..robot.disabled_collisions import DisabledCollision, as_disabled, link_names
from ..robot.frame import Frame
from ..robot.frame_table import FrameTable
from ..robot.mimic import Mimic
from ..robot.robot import Robot
from ..robot.space import RobotSpace
from .joint_models import model_data, model_from_data, placement_data, placement_from_data
from .json_values import MOST_COORDINATES, JsonValue

MOST_PAIRS = 100_000
"""Pairs of links with disabled collisions that a file may have."""
_ENTRIES = ("name", "bounds", "references", "mimics", "frames", "disabled_collisions")


def space_data(space: RobotSpace) -> dict[str, Any]:
    """The space of a robot as data: its model.

    Raises:
        ModelError: the model has something that no data hold.
    """
    return {"model": model_data(space.model)}


def space_from_data(data: JsonValue) -> RobotSpace:
    """The space of `space_data`."""
    model = model_from_data(data.entry("model"))
    return data.build(RobotSpace, model)


def robot_data(robot: Robot) -> dict[str, Any]:
    """What a robot has beside its space, as data: name, bounds, reference postures, mimics, frames that were added.

    Disabled collisions too, where there are any.
    """
    data: dict[str, Any] = {
        "name": robot.name,
        "bounds": bounds_data(robot.bounds),
        "references": {name: q.tolist() for name, q in robot.references.items()},
        "mimics": [
            {"joint": m.joint, "source": m.source, "multiplier": float(m.multiplier), "offset": float(m.offset)}
            for m in robot.mimics
        ],
        "frames": [frame_data(frame) for frame in robot.added_frames],
    }
    if robot.disabled_collisions:
        data["disabled_collisions"] = [list(pair) for pair in robot.disabled_collisions]
    return data


def robot_from_data(data: JsonValue, space: RobotSpace, beside: tuple[str, ...] = ()) -> Robot:
    """The robot of `robot_data` on a space, which robots that differ in bounds or frames share.

    Args:
        data: as `robot_data` made them.
        space: of `space_from_data`.
        beside: other entries of the object, read elsewhere.

    Raises:
        FileContentError: something is wrong with the data; its place is named.
    """
    data.only(*_ENTRIES, *beside)
    bounds = bounds_from_data(data.entry("bounds"), space)
    postures = {name: posture.vector(space.nq) for name, posture in data.entry("references").entries()}
    references: dict[str, Vector] = data.entry("references").build(checked_postures, space, postures)
    mimics = tuple(_mimic(mimic, space) for mimic in data.entry("mimics").items(MOST_COORDINATES))
    table = data.build(FrameTable.of, space.model)
    robot = object.__new__(Robot)
    fields = {"space": space, "name": data.entry("name").text(), "bounds": bounds, "references": references}
    robot.__dict__.update(fields, mimics=mimics, disabled_collisions=_disabled(data, space), _frames=table)
    for item in data.entry("frames").items():
        frame = item.build(robot.frame, frame_from_data(item))
        robot = item.build(robot.with_frame, frame.name, frame)
    return robot


def frame_data(frame: Frame) -> dict[str, Any]:
    """A frame as data."""
    return {
        "name": frame.name,
        "joint": int(frame.joint),
        "joint_name": frame.joint_name,
        "placement": placement_data(frame.placement),
    }


def frame_from_data(data: JsonValue) -> Frame:
    """The frame of `frame_data`."""
    data.only("name", "joint", "joint_name", "placement")
    joint, placement = data.entry("joint").integer(0, MOST_COORDINATES), placement_from_data(data.entry("placement"))
    return Frame(data.entry("name").text(), joint, placement, data.entry("joint_name").text())


def bounds_data(bounds: Bounds) -> dict[str, Any]:
    """The two sides of a box."""
    return {"lower": bounds.lower.tolist(), "upper": bounds.upper.tolist()}


def bounds_from_data(data: JsonValue, space: Any) -> Bounds:
    """The bounds of `bounds_data` on a space."""
    data.only("lower", "upper")
    lower, upper = (data.entry(side).vector(space.nq, finite=False) for side in ("lower", "upper"))
    return data.build(Bounds, space, lower, upper)


def _mimic(data: JsonValue, space: RobotSpace) -> Mimic:
    data.only("joint", "source", "multiplier", "offset")
    joints = [factor.name for factor in space.factors]
    for end in ("joint", "source"):
        data.entry(end).word(joints)
    return Mimic(
        data.entry("joint").text(),
        data.entry("source").text(),
        data.entry("multiplier").number(),
        data.entry("offset").number(),
    )


def _disabled(data: JsonValue, space: RobotSpace) -> tuple[DisabledCollision, ...]:
    """Pairs of links whose collisions do not count; files have them where there are any."""
    if not data.has("disabled_collisions"):
        return ()
    entry = data.entry("disabled_collisions")
    pairs = [tuple(word.text() for word in pair.items(3)) for pair in entry.items(MOST_PAIRS)]
    return entry.build(as_disabled, pairs, link_names(space.model))

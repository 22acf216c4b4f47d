"""A robot as plain data, and back: its model, and what a Robot keeps beside it."""

from __future__ import annotations

from functools import partial
from typing import Any

from liegroups import Space
from liegroups.arrays import Vector

from ..robot.bounds import Bounds
from ..robot.configuration import checked_postures
from ..robot.files.disabled_collisions import DisabledCollision, as_disabled, link_names
from ..robot.frame_table import FrameTable
from ..robot.model.mimic import Mimic
from ..robot.robot import Robot
from ..robot.space import RobotSpace
from .entries import FRAME, NUMBER, TEXT, Entry, record, vector
from .joint_models import model_data, model_from_data
from .json_values import MOST_COORDINATES, JsonValue

MOST_PAIRS = 100_000
"""Pairs of links with disabled collisions that a file may have."""
_ENTRIES = ("name", "bounds", "references", "mimics", "frames", "disabled_collisions")
_MIMIC = record(Mimic, joint=TEXT, source=TEXT, multiplier=NUMBER, offset=NUMBER)


SPACE = record(RobotSpace, model=Entry(model_data, model_from_data))
"""The space of a robot: its model. One that has something that no data hold raises a ModelError."""


def bounds_on(space: Space) -> Entry:
    """Bounds on a space: the two sides of a box."""
    side = vector(space.nq, finite=False)
    return record(partial(Bounds, space), lower=side, upper=side)


def robot_data(robot: Robot) -> dict[str, Any]:
    """What a robot has beside its space, as data: name, bounds, reference postures, mimics, frames that were added.

    Disabled collisions too, where there are any.
    """
    data: dict[str, Any] = {
        "name": robot.name,
        "bounds": bounds_on(robot.space).write(robot.bounds),
        "references": {name: q.tolist() for name, q in robot.references.items()},
        "mimics": [_MIMIC.write(mimic) for mimic in robot.mimics],
        "frames": [FRAME.write(frame) for frame in robot.added_frames],
    }
    if robot.disabled_collisions:
        data["disabled_collisions"] = [list(pair) for pair in robot.disabled_collisions]
    return data


def robot_from_data(data: JsonValue, space: RobotSpace) -> Robot:
    """The robot of `robot_data` on a space, which robots that differ in bounds or frames share.

    Args:
        data: as `robot_data` made them.
        space: of the same.

    Raises:
        FileContentError: something is wrong with the data; its place is named.
    """
    data.only(*_ENTRIES)
    bounds: Bounds = bounds_on(space).read(data.entry("bounds"))
    postures = {name: posture.vector(space.nq) for name, posture in data.entry("references").entries()}
    references: dict[str, Vector] = data.entry("references").build(checked_postures, space, postures)
    mimics = tuple(_mimic(mimic, space) for mimic in data.entry("mimics").items(MOST_COORDINATES))
    table = data.build(FrameTable.of, space.model)
    robot = object.__new__(Robot)
    fields = {"space": space, "name": data.entry("name").text(), "bounds": bounds, "references": references}
    robot.__dict__.update(fields, mimics=mimics, disabled_collisions=_disabled(data, space), visuals=(), _frames=table)
    for item in data.entry("frames").items():
        frame = item.build(robot.frame, FRAME.read(item))
        robot = item.build(robot.with_frame, frame.name, frame)
    return robot


def _mimic(data: JsonValue, space: RobotSpace) -> Mimic:
    for end in ("joint", "source"):
        data.entry(end).word([factor.name for factor in space.factors])
    return _MIMIC.read(data)


def _disabled(data: JsonValue, space: RobotSpace) -> tuple[DisabledCollision, ...]:
    """Pairs of links whose collisions do not count; files have them where there are any."""
    if not data.has("disabled_collisions"):
        return ()
    entry = data.entry("disabled_collisions")
    pairs = [tuple(word.text() for word in pair.items(3)) for pair in entry.items(MOST_PAIRS)]
    return entry.build(as_disabled, pairs, link_names(space.model))

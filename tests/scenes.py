"""The scene of the recorded constraint graphs: one or two UR5, cubes of 6 cm, a table; built as the record says."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from constraints import Base, Options, Part, Robot, Surface, manipulation

RECORD = Path(__file__).resolve().parent / "data" / "constraint_graphs.json"
UR5 = "package://example-robot-data/robots/ur_description"
BOX = "<robot name='box'><link name='base_link'/></robot>"


@functools.cache
def record() -> dict[str, Any]:
    """What hpp-python 9.0.2 builds for this scene."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


@functools.cache
def scene(arms: int = 1, boxes: int = 1) -> Robot:
    """The system: robots, then boxes on free joints, then the frame of the table."""
    system = record()["system"]
    arm = Robot.from_urdf(f"{UR5}/urdf/ur5_gripper.urdf")
    box = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    bounds = np.array(system["box"]["root_bounds"]).reshape(-1, 2)
    joint = box.joint_names[0]
    box = box.with_bounds({joint: (bounds[:3, 0], bounds[:3, 1])})
    parts = [Part(r["prefix"], arm, r["pose"]) for r in system["robots"][:arms]]
    parts += [Part(f"box{i}", box) for i in range(boxes)]
    return Robot.system(parts, "scene").with_frame("table", "universe", system["table"]["pose"])


def srdf_of_box(handles: int, mask: str) -> str:
    """Handles and the bottom of a box, as they were given to hpp-python.

    The record calls the numbers of a pose xyzw, but HPP read them as w x y z (its answer is under "targets").
    """
    box = record()["system"]["box"]
    tags = [
        f"<handle name='{entry['name'].split('/')[1]}' clearance='{box['handle_clearance']}'>"
        f"<position>{' '.join(map(repr, entry['pose_xyz_quat_xyzw']))}</position><link name='base_link'/>"
        f"<approaching_direction>{' '.join(map(str, box['approach']))}</approaching_direction>"
        f"<mask>{' '.join(mask)}</mask></handle>"
        for entry in box["handles"][:handles]
    ]
    points = "  ".join(" ".join(map(repr, corner)) for corner in box["polygon"])
    bottom = f"<contact name='bottom'><link name='base_link'/><point>{points}</point><shape>4 0 1 2 3</shape></contact>"
    return f"<robot name='box'>{''.join(tags)}{bottom}</robot>"


def factory(
    arms: int = 1,
    boxes: int = 1,
    handles: int = 1,
    surfaces: bool = True,
    rules: tuple[manipulation.Rule, ...] = (),
    mask: str = "111111",
    **options: Any,
) -> manipulation.ConstraintGraphFactory:
    """A factory for the scene."""
    system, robot = record()["system"], scene(arms, boxes)
    srdf = f"{UR5}/srdf/ur5_gripper.srdf"
    grippers: list[manipulation.Gripper] = []
    for i in range(arms):
        grippers += manipulation.read_semantics(robot, srdf, f"r{i}").grippers.values()
    floor = Surface("table/top", robot.frame("table"), system["table"]["polygon"])
    things: list[manipulation.MovableObject] = []
    for i in range(boxes):
        semantics = manipulation.read_semantics(robot, srdf_of_box(handles, mask), f"box{i}")
        things.append(
            manipulation.MovableObject(
                f"box{i}", list(semantics.handles.values()), semantics.surfaces[f"box{i}/bottom"] if surfaces else ()
            )
        )
    return manipulation.ConstraintGraphFactory(
        robot, grippers, things, [floor] if surfaces else [], rules,
        preplacement_distance=system["preplacement_distance"], margin=system["placement_margin"], **options,
    )  # fmt: skip


def forbid() -> tuple[manipulation.Rule, ...]:
    """The rules of the recorded cases called "forbid"."""
    return tuple(manipulation.Rule(*rule) for rule in record()["rules"]["forbid"])


@functools.cache
def recorded_graph(max_iterations: int = Options().max_iterations) -> manipulation.ConstraintGraph:
    """The smallest recorded graph: one robot, one gripper, one box with one handle, on the table.

    Args:
        max_iterations: of its projections; those of HPP had 40.
    """
    return factory(options=Options(max_iterations=max_iterations)).generate()

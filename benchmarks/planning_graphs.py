"""Scenes of `planning.py` over constraint graphs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path as File
from typing import Any

import numpy as np
import pinocchio as pin
from planning_scenes import Query, Scene

sys.path.insert(0, str(File(__file__).resolve().parent.parent / "tests" / "planning"))
sys.path.insert(0, str(File(__file__).resolve().parent.parent / "examples"))
import judge
import pick_and_place
import swap

from constraints import Robot
from constraints.collisions import CollisionModel, Shape
from constraints.manipulation import ConstraintGraph, Gripper, read_semantics
from constraints.planning import Limits, Plan, plan

Handles = dict[str, list[tuple[str, list[int]]]]
"""Of each object: a frame, and the rows that a grasp fixes."""


def spheres(share: str | None = None) -> Scene:
    """Two balls change places: ur3-spheres of hpp-python, with its start, goal and ground."""
    scene = swap.swap()
    ground = Shape("ground", "Box", (2.0, 1.0, 0.02), placement=[0.0, 0.0, -0.02, 0.0, 0.0, 0.0, 1.0])
    collisions = scene.collisions.added(ground)
    ends = scene.at(0.2, 0.3), scene.at(0.3, 0.2)
    for q in ends:
        q[:6] = [np.pi / 6, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]

    def standing(pose: Any) -> float:
        return max(abs(float(pose.translation[2]) - swap.RADIUS), float(np.linalg.norm(pin.log3(pose.rotation)[:2])))

    handles = {name: [(f"{name}_top", [1, 1, 1, 0, 1, 1])] for name in swap.BALLS}
    grippers = read_semantics(scene.robot, swap.SRDF, "ur3").grippers
    carrying = carried(scene.robot, collisions, grippers, handles, dict.fromkeys(swap.BALLS, standing))
    return Scene([ends], 40, partial(planned, scene.graph, collisions), carrying.faults, collisions,
                 {"ManipulationPlanner": 10, "StatesPathFinder": 40})  # fmt: skip


def story(_: str | None = None) -> Scene:
    """A box is turned over with a regrasp: examples/pick_and_place.py, without its sequence and guess."""
    scene = pick_and_place.story()

    def standing(pose: Any) -> float:
        """On the bottom or on the lid, on the table of its side."""
        tilt = pose.rotation[:2, 2]
        off = pose.translation[2] - 0.5 * pick_and_place.HEIGHT - pick_and_place.MARGIN
        return max(min(abs(off - z) for _, _, z in pick_and_place.TABLES.values()), float(np.linalg.norm(tilt)))

    grippers = read_semantics(scene.robot, pick_and_place.SRDF, "ur5").grippers
    handles = {"box": [("top", [1] * 6), ("side", [1] * 6)]}
    carrying = carried(scene.robot, scene.collisions, grippers, handles, {"box": standing})
    return Scene([(scene.start, scene.goal)], 40, partial(planned, scene.graph, scene.collisions), carrying.faults,
                 scene.collisions)  # fmt: skip


def planned(
    graph: ConstraintGraph, collisions: CollisionModel, query: Query, rng: np.random.Generator, limits: Limits
) -> Plan:
    return plan(graph, *query, rng=rng, collisions=collisions, limits=limits)


def carried(
    robot: Robot, collisions: CollisionModel, grippers: Mapping[str, Gripper], handles: Handles, standing: Any
) -> judge.Carrying:
    """The judge's own view of grippers and objects; handles are frames of the robot, with their rows."""

    def place(frame: Any) -> Any:
        return pin.SE3(np.array(frame.placement.rotation), np.array(frame.placement.translation))

    held = {
        name: [judge.Handle(robot.frame(f).joint, place(robot.frame(f)), np.array(rows, bool)) for f, rows in each]
        for name, each in handles.items()
    }
    hands = {name: (gripper.frame.joint, place(gripper.frame)) for name, gripper in grippers.items()}
    objects = {name: each[0].joint for name, each in held.items()}
    return judge.Carrying(robot.model, collisions.checker.geometry, hands, objects, held, standing)

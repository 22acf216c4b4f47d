"""What is drawn of robots without visual geometry: links as sticks from joint to joint, and the ends of closures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector

from ...robot import Frame, Robot

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Of the parts of a system, in turn; told apart by people who see colours otherwise too."""


class StickEnds(NamedTuple):
    """Points on joints: row i is on joint `joints[i]`, 0 is the world.

    Attributes:
        joints: indices.
        points: (n, 3) in the axes of the joints [m].
    """

    joints: tuple[int, ...]
    points: Matrix

    @staticmethod
    def of(ends: Sequence[tuple[int, Vector]]) -> StickEnds:
        """From pairs of a joint and a point on it."""
        points = np.array([point for _, point in ends]) if ends else np.zeros((0, 3))
        return StickEnds(tuple(joint for joint, _ in ends), points)

    def placed(self, origins: Matrix, axes: Matrix) -> Matrix:
        """Where they are in the world (n, 3), from origins (njoints, 3) and rotations (njoints, 3, 3) of the joints."""
        joints = np.array(self.joints, dtype=int)
        return origins[joints] + np.einsum("ijk,ik->ij", axes[joints], self.points)


class Sticks(NamedTuple):
    """Lines from one point of a robot to another.

    Attributes:
        names: of the joint that each stick leads to, or of the frame.
        start, end: where they begin and end.
        colours: of each.
    """

    names: list[str]
    start: StickEnds
    end: StickEnds
    colours: list[str]


def sticks_of(robot: Robot, seen: Iterable[int], ends: Iterable[Frame] = ()) -> Sticks:
    """Sticks from each joint to those that it carries and to the frames at its ends.

    Args:
        robot: whose.
        seen: joints that are drawn otherwise, for their links have visual geometry.
        ends: frames at the ends of closures.
    """
    model, drawn = robot.model, set(seen)
    origin = np.zeros(3)
    lines: list[tuple[str, tuple[int, Vector], tuple[int, Vector]]] = []
    for joint in range(1, model.njoints):
        parent, name = int(model.parents[joint]), str(model.names[joint])
        is_free = not parent and model.joints[joint].nv != 1  # nothing holds an object that moves freely
        if joint not in drawn and not is_free and parent not in drawn:
            lines.append((name, (parent, origin), (joint, origin)))
    carriers = {int(parent) for parent in model.parents}
    tips = {frame.joint: (frame.name, np.array(frame.placement.translation)) for frame in _tips(robot, carriers, drawn)}
    for joint, (name, point) in tips.items():
        lines.append((name, (joint, origin), (joint, point)))
    for frame in ends:
        if frame.joint and frame.joint not in drawn:
            lines.append((frame.name, (frame.joint, origin), (frame.joint, np.array(frame.placement.translation))))
    parts = dict.fromkeys(_part(name) for name in robot.joint_names)
    colour = {part: COLOURS[i % len(COLOURS)] for i, part in enumerate(parts)}
    return Sticks(
        [name for name, _, _ in lines],
        StickEnds.of([a for _, a, _ in lines]),
        StickEnds.of([b for _, _, b in lines]),
        [colour[_part(str(model.names[b[0]]))] for _, _, b in lines],
    )


def _tips(robot: Robot, carriers: set[int], drawn: set[int]) -> list[Frame]:
    """The frame that is farthest out on each joint that carries no other; its centre of mass where no frame is."""
    model = robot.model
    tips: list[Frame] = []
    for joint in range(1, model.njoints):
        if joint in carriers or joint in drawn:
            continue
        frames = [frame for frame in model.frames if frame.parentJoint == joint]
        reach = [float(np.linalg.norm(frame.placement.translation)) for frame in frames]
        farthest = int(np.argmax(reach)) if reach else -1
        lever = np.array(model.inertias[joint].lever)
        if farthest >= 0 and reach[farthest] > float(np.linalg.norm(lever)):
            tips.append(Frame(frames[farthest].name, joint, frames[farthest].placement, str(model.names[joint])))
        elif lever.any():
            tips.append(robot.frame(str(model.names[joint]), np.concatenate([lever, [0.0, 0.0, 0.0, 1.0]])))
    return tips


def _part(joint: str) -> str:
    """The part of a system that a joint belongs to."""
    return joint.rpartition("/")[0]

"""How functions of the centre of mass are packed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...functions import CenterOfMass, ComBetweenFeet
from ...functions.frames.mass import MassFunction
from ...robot import Frame
from ..machine import layout
from .packing import NO_ARGUMENT, Argument, PackedResult, Packer, numbers_of


def center(packer: Packer, f: CenterOfMass, argument: Argument, result: PackedResult) -> None:
    """The centre of mass, seen from a frame."""
    _center(packer, f, f.frame_a, argument, result)


def _center(packer: Packer, f: MassFunction, frame_a: Frame, argument: Argument, result: PackedResult) -> None:
    """The centre of the mass that a function is of, seen from a frame."""
    tree, model = packer.tree(f.robot, argument), f.robot.model
    pose, frame = packer.pose_of(f.robot, argument, frame_a)
    massive: dict[int, Any] = {}
    for index in f.moving_joints:
        _, number, turn = tree.joint(index)
        inertia: Any = model.inertias[index]
        massive[number] = inertia.mass, turn.inverse() * inertia.lever
    bodies = sorted(tree.with_carriers(massive))
    packer.used.update(bodies)
    place = {number: n for n, number in enumerate(bodies)}
    table, numbers = list[tuple[int, int]](), [*numbers_of(frame)]
    for number in bodies:
        joint = tree.joints[number]
        table.append((joint.record[layout.PLACED], place[joint.parent] if joint.parent >= 0 else -1))
        mass, lever = massive.get(number, (0.0, np.zeros(3)))
        numbers += [mass, *np.asarray(lever).tolist()]
    on_a = tree.with_carriers([tree.joint(frame_a.joint)[1]])
    wanted = argument.columns[f.columns_seen_from(frame_a.joint)]
    columns, moved = list[int](), list[tuple[int, int]]()
    for number, joint in enumerate(tree.joints):
        for column in joint.columns:
            if column >= 0 and column in wanted:
                columns.append(column)
                moved.append((place.get(number, -1), int(number in on_a)))
    packer.emit(
        layout.CENTER,
        NO_ARGUMENT,
        result,
        packer.counted(columns),
        packer.records(table),
        packer.table([i for record in moved for i in record]),
        packer.memory(12 + 4 * len(bodies)),
        pose,
        packer.constants(numbers),
    )


def com_between_feet(packer: Packer, f: ComBetweenFeet, argument: Argument, result: PackedResult) -> None:
    """The centre of mass in the world, and where it is between the feet."""
    tree = packer.tree(f.robot, argument)
    inside = PackedResult(packer.memory(3), packer.jacobian(3 * packer.columns), 3)
    _center(packer, f, Frame("world", 0), argument, inside)
    frames = [f.robot.frame(frame) for frame in (f.left, f.right, f.reference)]
    placed = [packer.pose_of(f.robot, argument, frame) for frame in frames]
    chains = [tree.with_carriers([tree.joint(frame.joint)[1]]) for frame in frames]
    wanted, columns, moved = set(packer.columns_of(f, argument)), list[int](), list[int]()
    for number, joint in enumerate(tree.joints):
        for column in joint.columns:
            if column in wanted:
                columns.append(column)
                moved += [int(number in chain) for chain in chains]
    packer.emit(
        layout.BETWEEN_FEET,
        inside.value,
        result,
        packer.counted(columns),
        packer.table(moved),
        inside.jacobian,
        packer.memory(36),
        packer.table([at for at, _ in placed]),
        packer.constants([x for _, placement in placed for x in numbers_of(placement)]),
    )

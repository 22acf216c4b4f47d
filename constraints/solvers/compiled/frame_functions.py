"""How functions of one frame seen from another are packed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...functions import Pose
from ...functions.frames.frame_function import FrameFunction
from ..machine import layout
from .packing import Argument, PackedResult, Packer, numbers_of


def pack_frames(
    packer: Packer,
    operation: int,
    f: FrameFunction,
    argument: Argument,
    result: PackedResult,
    table: int = 0,
    numbers: Sequence[float] = (),
    memory: int = 0,
) -> None:
    """An instruction of a frame seen from another, with a table, numbers and memory of its own behind those of all."""
    pose_a, frame_a = packer.pose_of(f.robot, argument, f.frame_a)
    pose_b, frame_b = packer.pose_of(f.robot, argument, f.frame_b)
    plus, minus = chains(packer, f, argument)
    columns = packer.counted([*plus, *minus])
    constants = packer.constants([*numbers_of(frame_a), *numbers_of(frame_b), *numbers])
    stands = f.frame_a.joint == 0  # in the world
    poses = packer.filled([*numbers_of(frame_a), *[0.0] * (24 + memory)]) if stands else packer.memory(36 + memory)
    is_world = stands and bool(np.array_equal(frame_a.homogeneous, np.eye(4)))
    fields = columns, -1 if is_world else 0 if stands else pose_a, pose_b, poses, len(plus), constants
    packer.emit(operation, table, result, *fields)


def frames(operation: int) -> Callable[[Packer, Any, Argument, PackedResult], None]:
    """Functions of a frame seen from another."""

    def pack(packer: Packer, f: FrameFunction, argument: Argument, result: PackedResult) -> None:
        pack_frames(packer, operation, f, argument, result)

    return pack


def chains(packer: Packer, f: FrameFunction, argument: Argument) -> tuple[list[int], list[int]]:
    """Columns of the joints that carry frame b alone, and frame a alone."""
    tree = packer.tree(f.robot, argument)
    chains = [tree.with_carriers([tree.joint(frame.joint)[1]]) for frame in (f.frame_b, f.frame_a)]
    own = [[c for j in sorted(chain - other) for c in tree.joints[j].columns if c >= 0]
           for chain, other in (chains, chains[::-1])]  # fmt: skip
    return own[0], own[1]


def pose(packer: Packer, f: Pose, argument: Argument, result: PackedResult) -> None:
    """A pose, in either group."""
    operation = layout.POSE if f.outputs.atoms[0][0] == "SE3" else layout.POSE_R3XSO3
    pack_frames(packer, operation, f, argument, result)

"""How contacts of convex polygons are packed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...functions import ConvexShapeContact, ConvexShapeContactComplement, ConvexShapeContactHold
from ...functions.contact.contact_pose import PoseOfContact
from ...functions.contact.contact_surface import edges_of
from ..machine import layout
from .frame_functions import chains
from .packing import NO_ARGUMENT, Argument, PackedResult, Packer, numbers_of

Contact = ConvexShapeContact | ConvexShapeContactComplement | ConvexShapeContactHold


def contact(operation: int) -> Callable[[Packer, Any, Argument, PackedResult], None]:
    """Functions of the nearest of some pairs of surfaces."""

    def pack(packer: Packer, f: Contact, argument: Argument, result: PackedResult) -> None:
        columns, pairs = packer.columns_of(f, argument), list[list[int]]()
        for names, part in zip(f.pairs, f.parts, strict=True):
            pose_a, frame_a = packer.pose_of(f.robot, argument, part.frame_a)
            pose_b, frame_b = packer.pose_of(f.robot, argument, part.frame_b)
            surfaces, places = packer.constants(numbers_of(frame_a) + numbers_of(frame_b)), packer.memory(36)
            floor = edges_of(f.surfaces_of(names)[0].polygon)
            edges, count = packer.constants(floor), len(floor)
            plus, minus = chains(packer, part, argument)
            signs = packer.table([int(c in plus) - int(c in minus) for c in columns])
            pairs.append([pose_a, pose_b, surfaces, places, edges, count, signs])
        table, rows = packer.records(pairs), packer.memory(24)
        packer.emit(
            operation, NO_ARGUMENT, result, packer.counted(columns), table, rows, numbers=packer.constants([f.margin])
        )

    return pack


def pose_of_contact(packer: Packer, f: PoseOfContact, argument: Argument, result: PackedResult) -> None:
    """The pose that a contact asks for."""
    edges = edges_of(f.floor.polygon)
    numbers = packer.constants([f.margin, *(x for edge in edges for x in edge)])
    columns, own = packer.counted(packer.columns_of(f, argument)), packer.counted(argument.columns)
    packer.emit(layout.POSE_OF_CONTACT, argument.at, result, columns, len(edges), own, numbers=numbers)

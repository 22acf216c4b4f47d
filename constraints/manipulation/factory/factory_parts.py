"""Constraints and names from which the factory builds states and transitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from ...rows.implicit import Implicit
from ...rows.row_owner import RowOwner
from ..foliation import Foliation
from .grasp import grasp, pregrasp
from .placement import left_where_it_is, placement, preplacement

if TYPE_CHECKING:
    from .factory import ConstraintGraphFactory

Grasp = tuple[int, int]
"""Index of a gripper, and of a handle among those of all objects."""
GraspSet = frozenset[Grasp]


@final
class Parts:
    """What the states and transitions of one graph are made of: all constraints that may be needed.

    Attributes:
        grippers, handles: names; handles of all objects.
        object_of: index of the object of each handle.
        placements: foliation of each object while nobody holds it.
        preplacements: above its floor, by object; None where it has no surfaces.
        grasps, pregrasps: by gripper and handle, where these are not on one joint.
        preplace_guide, empty_level_sets: options of the factory.
    """

    def __init__(self, factory: ConstraintGraphFactory) -> None:
        robot, floors, margin = factory.robot, factory.floors, factory.margin
        handles = [(i, handle) for i, thing in enumerate(factory.objects) for handle in thing.handles]
        pairs = [
            (g, h)
            for g, gripper in enumerate(factory.grippers)
            for h, (_, handle) in enumerate(handles)
            if gripper.frame.joint != handle.frame.joint
        ]
        self.grippers = [gripper.name for gripper in factory.grippers]
        self.handles = [handle.name for _, handle in handles]
        self.object_of = [i for i, _ in handles]
        self.placements: list[Foliation] = []
        self.preplacements: list[Implicit | None] = []
        for thing in factory.objects:
            if thing.surfaces:
                name, distance = f"place_{thing.name}", factory.preplacement_distance
                under = [floor for floor in floors if floor.joint != thing.joint]
                self.placements.append(placement(robot, name, thing.surfaces, under, margin))
                above = preplacement(robot, f"pre{name}", thing.surfaces, under, distance, margin)
                self.preplacements.append(above)
            else:
                self.placements.append(left_where_it_is(robot, robot.joint_names[thing.joint - 1]))
                self.preplacements.append(None)
        self.grasps = {(g, h): grasp(robot, factory.grippers[g], handles[h][1]) for g, h in pairs}
        self.pregrasps = {(g, h): pregrasp(robot, factory.grippers[g], handles[h][1]) for g, h in pairs}
        self.preplace_guide = factory.preplace_guide
        self.empty_level_sets = factory.empty_level_sets

    @property
    def foliations(self) -> tuple[Foliation, ...]:
        """Placements first: an object that stands is computed from where it stands, not from who reaches for it."""
        return (*self.placements, *self.grasps.values())

    def held(self, held: GraspSet) -> dict[str, str]:
        """Gripper -> handle, by name."""
        return {self.grippers[g]: self.handles[h] for g, h in held}

    def objects_in(self, held: GraspSet) -> set[int]:
        """Objects that somebody holds."""
        return {self.object_of[h] for _, h in held}

    def name_of(self, held: GraspSet) -> str:
        """Name of a state."""
        return " : ".join(self.grasps[pair].name for pair in sorted(held)) or "free"

    def short(self, held: GraspSet) -> str:
        """Short form of a state."""
        return ":".join(f"{g}-{h}" for g, h in sorted(held)) or "f"

    def foliations_of(self, held: GraspSet) -> list[Foliation]:
        """Placements of what nobody holds, then grasps."""
        busy = self.objects_in(held)
        free = [placement for i, placement in enumerate(self.placements) if i not in busy]
        return [*free, *(self.grasps[pair] for pair in sorted(held))]

    def constraints_of(self, held: GraspSet) -> list[RowOwner]:
        """Constraints of a state."""
        return [f.constraint for f in self.foliations_of(held) if f.constraint is not None]

    def complements_of(self, held: GraspSet) -> list[RowOwner]:
        """Complements that paths in a state keep."""
        return complements(self.foliations_of(held))


def complements(foliations: Sequence[Foliation]) -> list[RowOwner]:
    """The complements there are."""
    return [f.complement for f in foliations if f.complement is not None]

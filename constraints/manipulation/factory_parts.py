"""Constraints and names from which the factory builds states and transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from ..rows.implicit import Implicit
from ..rows.row_owner import RowOwner
from .foliation import Foliation
from .grasp import grasp, pregrasp
from .placement import left_where_it_is, placement, preplacement

if TYPE_CHECKING:
    from .factory import ConstraintGraphFactory

Grasp = tuple[int, int]
"""Index of a gripper, and of a handle among those of all objects."""
GraspSet = frozenset[Grasp]


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """What the states and transitions of one graph are made of.

    Attributes:
        grippers, handles: names; handles of all objects.
        object_of: index of the object of each handle.
        placements: foliation of each object while nobody holds it.
        preplacements: above its floor, by object; None where it has no surfaces.
        grasps, pregrasps: by gripper and handle.
        preplace_guide, empty_level_sets: options of the factory.
    """

    grippers: tuple[str, ...]
    handles: tuple[str, ...]
    object_of: tuple[int, ...]
    placements: tuple[Foliation, ...]
    preplacements: tuple[Implicit | None, ...]
    grasps: Mapping[Grasp, Foliation]
    pregrasps: Mapping[Grasp, Implicit]
    preplace_guide: bool
    empty_level_sets: bool

    @staticmethod
    def of(factory: ConstraintGraphFactory) -> Parts:
        """All constraints that may be needed."""
        robot, floors, margin = factory.robot, factory.floors, factory.margin
        placements: list[Foliation] = []
        preplacements: list[Implicit | None] = []
        for thing in factory.objects:
            if thing.surfaces:
                name, distance = f"place_{thing.name}", factory.preplacement_distance
                placements.append(placement(robot, name, thing.surfaces, floors, margin))
                preplacements.append(preplacement(robot, f"pre{name}", thing.surfaces, floors, distance, margin))
            else:
                placements.append(left_where_it_is(robot, robot.joint_names[thing.joint - 1]))
                preplacements.append(None)
        handles = [(i, handle) for i, thing in enumerate(factory.objects) for handle in thing.handles]
        pairs = [(g, h) for g in range(len(factory.grippers)) for h in range(len(handles))]
        return Parts(
            tuple(gripper.name for gripper in factory.grippers),
            tuple(handle.name for _, handle in handles),
            tuple(i for i, _ in handles),
            tuple(placements),
            tuple(preplacements),
            {(g, h): grasp(robot, factory.grippers[g], handles[h][1]) for g, h in pairs},
            {(g, h): pregrasp(robot, factory.grippers[g], handles[h][1]) for g, h in pairs},
            factory.preplace_guide,
            factory.empty_level_sets,
        )

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

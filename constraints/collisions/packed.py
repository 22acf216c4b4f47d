"""Solids with their covers as flat arrays: which pairs may touch, asked of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..robot import Robot
from ..solvers.compiled.packing import Argument, Integers, Packer, numbers_of
from ..solvers.growth import Doubts
from ..solvers.kernels.loading import entrances
from ..solvers.machine import layout
from ..workspace import Pool
from .covers import Cover, points_of
from .pairs import IndexPair

APART_FOR_CERTAIN = 1e-6
"""Distance [m], beyond its margin, from which a pair needs no verdict of coal: far more than rounding makes of it."""
INSIDE_FOR_CERTAIN = 1e-6
"""How deep [m] a point must be in a solid, so that coal says the same."""
ROOM = 4096
"""Numbers of the list of pairs that a kernel fills, beside what one row takes."""

_WALLS = {
    "Box": layout.BOX_WALL,
    "Sphere": layout.SPHERE_WALL,
    "Cylinder": layout.CYLINDER_WALL,
    "Capsule": layout.CAPSULE_WALL,
}
"""Solids in the world that a sphere is compared with exactly."""


@final
class PackedSolids:
    """The solids of a collision model for the kernel that compares their covers.

    Args:
        robot: what carries them.
        geometry: pinocchio's, with the solids.
        covers: of each solid; None where it has none: its pairs are always in doubt.
        margins: pair of solids -> distance to keep [m], in the order in which pairs are counted.

    Attributes:
        pool: memory of the kernel.

    Raises:
        NotPacked: a joint that kernels do not know.
        MissingExtraError: numba is not installed.
    """

    def __init__(
        self, robot: Robot, geometry: Any, covers: Sequence[Cover | None], margins: Mapping[IndexPair, float]
    ) -> None:
        self._packer, header = (packer := Packer(0)), packer.header
        argument = Argument(packer.memory(robot.nq), np.full(robot.nv, -1, dtype=np.int64), True)
        header[layout.NQ], header[layout.Q] = robot.nq, argument.at
        self._tree, self._solids, self._covers = packer.tree(robot, argument), geometry.geometryObjects, covers
        used = sorted({i for pair in margins for i in pair}, key=lambda i: self._solids[i].parentJoint == 0)
        records = {i: self._record(i, cover) for i in used if (cover := covers[i]) is not None}
        header[layout.COVERS] = packer.records(list(records.values()))
        header[layout.MOVING_COVERS] = sum(int(self._solids[i].parentJoint) > 0 for i in records)
        at = {i: header[layout.COVERS] + 1 + layout.COVER_SIZE * n for n, i in enumerate(records)}
        walls = {i: self._wall(i) for i in records if self._is_wall(i)}
        pairs = [self._pair(i, j, margin, at, walls) for (i, j), margin in margins.items()]
        header[layout.COVER_PAIRS] = packer.records(pairs)
        overlaps = [self._overlap(i, j, margin) for (i, j), margin in margins.items()]
        header[layout.OVERLAPS] = packer.table(overlaps)
        header[layout.ALL_JOINTS] = self._tree.table(range(len(self._tree.joints)))
        self._integers, self._floats, self._work = packer.arrays()
        kernels = entrances()
        self._room = 2 * len(margins) + ROOM
        self._ask = kernels.pairs_of_rows
        self.pool = Pool(partial(self._made, kernels.places))

    def _made(self, places: Any) -> Doubts:
        found, work = np.empty(self._room, dtype=np.int64), self._work.copy()
        return Doubts(found, places(self._integers, self._floats, work, found), work)

    def _is_wall(self, i: int) -> bool:
        return int(self._solids[i].parentJoint) == 0 and type(self._solids[i].geometry).__name__ in _WALLS

    def _record(self, i: int, cover: Cover) -> tuple[int, ...]:
        """A solid with its cover, seen from the turned axes of its joint."""
        pose, _, turn = self._tree.joint(int(self._solids[i].parentJoint))
        placement: Any = turn.inverse() * self._solids[i].placement
        centers = np.vstack((cover.center, cover.centers)) @ np.asarray(placement.rotation).T + placement.translation
        spheres = np.column_stack((centers, [cover.radius, *cover.radii]))
        return pose, self._packer.constants(spheres), len(cover.radii), self._packer.memory(1 + 3 * len(spheres))

    def _wall(self, i: int) -> int:
        """A solid in the world; where its record is."""
        numbers = self._packer.constants([*numbers_of(self._solids[i].placement), *self._sizes(i), 0.0, 0.0])
        return self._packer.table([_WALLS[type(self._solids[i].geometry).__name__], numbers])

    def _sizes(self, i: int) -> Vector:
        """Sizes of a solid in the world, as its kind has them."""
        solid = self._solids[i].geometry
        names = {"Box": ["halfSide"], "Sphere": ["radius"]}.get(type(solid).__name__, ["radius", "halfLength"])
        return np.concatenate([np.ravel(getattr(solid, name)) for name in names])

    def _pair(
        self, i: int, j: int, margin: float, at: Mapping[int, int], walls: Mapping[int, int]
    ) -> tuple[int, int, int, int]:
        """A pair; one with a solid without cover is a pair of the others that is never apart."""
        if i in walls:
            i, j = j, i
        known = i in at and j in at
        gap = self._packer.constants([max(margin, 0.0) + APART_FOR_CERTAIN if known else np.inf])
        if not known:
            i = j = next(iter(at))
        return at[i], walls.get(j, at[j]), int(j in walls), gap

    def _overlap(self, i: int, j: int, margin: float) -> int:
        """A pair that collides where a point of one solid is in the other one, in the world; 0 of another pair."""
        one, wall = (j, i) if self._is_wall(i) else (i, j)
        if margin < 0.0 or not self._is_wall(wall):
            return 0
        points, sizes = points_of(self._solids[one].geometry), self._sizes(wall) - INSIDE_FOR_CERTAIN
        if not len(points) or min(sizes) < 0.0:
            return 0
        pose, _, turn = self._tree.joint(int(self._solids[one].parentJoint))
        placement, packer = turn.inverse() * self._solids[one].placement, self._packer
        seen = points @ np.asarray(placement.rotation).T + placement.translation
        shape = packer.constants([*numbers_of(self._solids[wall].placement), *sizes, 0.0, 0.0])
        kind = _WALLS[type(self._solids[wall].geometry).__name__]
        at = packer.constants(seen), len(seen), packer.memory(3), kind, shape, packer.constants([margin])
        return packer.table([pose, *at])

    def in_doubt(self, Q: Matrix) -> Integers:
        """Pairs that are not apart for certain, as rows (row of Q, number of the pair), in the order of the rows.

        Args:
            Q: configurations (n, nq), checked.
        """
        memory, parts, first = self.pool.take(), list[Integers](), 0
        rows = np.require(Q, requirements=["C", "W"])
        while first < len(rows):
            first, count = self._ask(memory.where, rows, first, self._room)
            parts.append(memory.found[:count].reshape(-1, 2).copy())
        self.pool.give(memory)
        return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty((0, 2), dtype=np.int64)])

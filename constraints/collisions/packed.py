"""Solids with their covers as flat arrays: which pairs may touch, asked of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..robot import Robot
from ..solvers.compiled.packing import Argument, Integers, NotPacked, Packer, numbers_of
from ..solvers.division import MotionMemory, MovedSolids
from ..solvers.growth import Doubts
from ..solvers.kernels.loading import entrances
from ..solvers.machine import layout
from ..workspace import Pool
from .clouds import CloudTree
from .motion import CarriedSolids
from .pairs import IndexPair
from .solids import CollisionSolid

APART_FOR_CERTAIN = 1e-6
"""Distance [m], beyond its margin, from which a pair needs no verdict of coal: far more than rounding makes of it."""
ROOM = 4096
"""Numbers of the list of pairs that a kernel fills, beside what one row takes."""
NO_MORE = np.zeros((0, 0))
"""Asked for where no pair must be farther apart than usual."""

_WALLS = {
    "Box": layout.BOX_WALL,
    "Sphere": layout.SPHERE_WALL,
    "Cylinder": layout.CYLINDER_WALL,
    "Capsule": layout.CAPSULE_WALL,
    "PointCloud": layout.CLOUD_WALL,
}
"""Solids in the world that a sphere is compared with exactly."""
_FIRST_CLOUD = 4
"""Place of the first cloud among those that a kernel is given."""


@final
class PackedJoints:
    """The joints of a robot for the kernel: what all collision models of this robot have in common.

    Raises:
        NotPacked: a joint that kernels do not know.
    """

    def __init__(self, robot: Robot) -> None:
        packer = Packer(0)
        argument = Argument(packer.memory(robot.nq), np.full(robot.nv, -1, dtype=np.int64))
        packer.header[layout.NQ], packer.header[layout.Q] = robot.nq, argument.at
        tree = packer.tree(robot, argument)
        carriers = [tree.joint(i) for i in range(int(robot.model.njoints))]
        self.poses: tuple[int, ...] = tuple(at for at, _, _ in carriers)
        self.turns: tuple[Matrix, ...] = tuple(np.array(turn.rotation) for _, _, turn in carriers)
        packer.header[layout.ALL_JOINTS] = tree.table(range(len(tree.joints)))
        self.integers, self.floats, self.work = packer.arrays()


class _Numbers:
    """The arrays of a kernel, while numbers are put behind those of the joints."""

    def __init__(self, joints: PackedJoints) -> None:
        self._integers, self._work = [joints.integers], joints.work
        self._floats: list[Vector] = [joints.floats]
        self._ends = [len(joints.integers), len(joints.floats), len(joints.work)]

    def constants(self, numbers: Any) -> int:
        """Floats; where they are in F."""
        flat: Vector = np.asarray(numbers, dtype=np.float64).reshape(-1)
        self._floats.append(flat)
        self._ends[1] += len(flat)
        return self._ends[1] - len(flat)

    def memory(self, size: int) -> int:
        """Floats that change; where they are in W."""
        self._ends[2] += size
        return self._ends[2] - size

    def records(self, records: Any) -> int:
        """A count, then records; where they are in I."""
        self._integers.append(np.array([len(records), *np.ravel(records)], dtype=np.int64))
        self._ends[0] += len(self._integers[-1])
        return self._ends[0] - len(self._integers[-1])

    def arrays(self) -> tuple[Integers, Vector, Vector]:
        """I, F, W."""
        work = np.concatenate((self._work, np.zeros(self._ends[2] - len(self._work))))
        return np.concatenate(self._integers), np.concatenate(self._floats), work


@final
class PackedSolids:
    """The solids of a collision model for the kernel that compares their covers.

    Args:
        joints: of the robot that carries them.
        solids: all of them; pairs of those without a cover are always in doubt.
        margins: pair of solids -> distance to keep [m], in the order in which pairs are counted.

    Attributes:
        pool: memory of the kernel.
        moving: solids of pairs that are not in the world, those with a cover first.

    Raises:
        NotPacked: no solid has a cover.
        MissingExtraError: numba is not installed.
    """

    def __init__(
        self, joints: PackedJoints, solids: Sequence[CollisionSolid], margins: Mapping[IndexPair, float]
    ) -> None:
        pairs, numbers = np.array(list(margins), dtype=np.int64), _Numbers(joints)
        used: list[int] = np.unique(pairs).tolist()
        used.sort(key=lambda i: solids[i].joint == 0)
        covered = [i for i in used if solids[i].spheres is not None]
        walls = [i for i in covered if solids[i].joint == 0 and solids[i].body.kind in _WALLS]
        if not covered:
            raise NotPacked("solids without covers")
        clouds = [tree for i in walls if (tree := solids[i].body.cloud) is not None]
        covers = numbers.records([_record(joints, solids[i], numbers) for i in covered])
        forms = numbers.records([_wall(solids[i], numbers, clouds) for i in walls])
        at = self._at = _Records(*np.zeros((2, len(solids)), dtype=np.int64))
        at.covers[covered] = covers + 1 + layout.COVER_SIZE * np.arange(len(covered))
        at.walls[walls] = forms + 1 + layout.WALL_SIZE * np.arange(len(walls))
        table = numbers.records(_pair_records(pairs, np.array(list(margins.values())), at, numbers))
        self._integers, self._floats, self._work = numbers.arrays()
        self._integers[[layout.COVERS, layout.COVER_PAIRS]] = covers, table
        self._moving = [i for i in covered if solids[i].joint > 0]
        self.moving = (*self._moving, *(i for i in used if solids[i].joint > 0 and solids[i].spheres is None))
        self._integers[layout.MOVING_COVERS] = len(self._moving)
        self._clouds = [tree.numbers for tree in clouds]
        self._joints, self._kernels, self._room = joints, entrances(), 2 * len(margins) + ROOM
        self.pool = Pool(self._made)

    def moved(self, solids: Sequence[CollisionSolid], moved: Sequence[int]) -> PackedSolids:
        """The same with some solids elsewhere on their joints; only their numbers are others.

        Args:
            solids: all of them.
            moved: numbers of those that are elsewhere.
        """
        other = copy(self)
        other._floats, other.pool = self._floats.copy(), Pool(other._made)
        for i in moved:
            if cover := int(self._at.covers[i]):
                seen = _seen(self._joints, solids[i])
                begin = int(self._integers[cover + layout.SPHERES])
                other._floats[begin : begin + seen.size] = seen.ravel()
            if wall := int(self._at.walls[i]):
                begin = int(self._integers[wall + layout.WALL_SHAPE])
                other._floats[begin : begin + 12] = numbers_of(solids[i].placement)
        return other

    def _made(self) -> Doubts:
        found, work = np.empty(self._room, dtype=np.int64), self._work.copy()
        held = self._integers, self._floats, work, found, *self._clouds
        return Doubts(found, self._kernels.places(*held), held)

    def in_doubt(self, Q: Matrix, more: Matrix = NO_MORE) -> Integers:
        """Pairs that are not apart for certain, as rows (row of Q, number of the pair), in the order of the rows.

        Args:
            Q: configurations (n, nq), checked.
            more: how much farther than its margin a pair must be apart (n, pairs) [m]; negative where it is not asked.
        """
        memory, parts, first = self.pool.take(), list[Integers](), 0
        rows = np.require(Q, requirements=["C", "W"])
        while first < len(rows):
            first, count = self._kernels.pairs_of_rows(memory.where, rows, more, first, self._room)
            parts.append(memory.found[:count].reshape(-1, 2).copy())
        self.pool.give(memory)
        return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty((0, 2), dtype=np.int64)])

    def balls(self, Q: Matrix) -> Matrix:
        """Balls around solids at configurations (n, nq), as `motion.balls` gives them (n, solids, 12)."""
        memory, rows = self.pool.take(), np.require(Q, requirements=["C", "W"])
        moving, found = np.empty((len(Q), 12 * len(self._moving))), np.zeros((len(Q), len(self._at.covers), 12))
        self._kernels.balls_of_rows(memory.where, rows, moving)
        self.pool.give(memory)
        found[:, self._moving] = moving.reshape(len(Q), -1, 12)
        return found


@final
class PackedMotions:
    """The solids of a collision model for the kernel that bounds how they move along a path.

    Args:
        carried: all of them, on their joints.
        moving: those that are not in the world, in the order of `PackedSolids`.
        pairs: of solids.

    Attributes:
        pool: memory of the kernel.
    """

    def __init__(self, carried: CarriedSolids, moving: Sequence[int], pairs: Sequence[IndexPair]) -> None:
        packer, motions, legs = Packer(0), carried.motions, layout.MOST_LEGS
        header, joints, count = packer.header, len(motions.offsets), len(moving)
        self._moving, self._shape = list(moving), (count, joints)
        number = dict(zip(moving, range(count), strict=True))
        header[layout.CARRIERS], header[layout.CARRIED] = joints, count
        header[layout.CARRIER_OF] = packer.table((motions.linear + motions.angular).argmax(axis=1).tolist())
        header[layout.RATES] = packer.constants(
            np.column_stack((motions.linear.sum(axis=1), motions.angular.sum(axis=1)))
        )
        header[layout.CARRIES] = packer.constants(carried.carries[:, self._moving].T)
        header[layout.RADII] = packer.constants(carried.radii[self._moving])
        header[layout.CARRIED_PAIRS] = packer.table([number.get(i, -1) for pair in pairs for i in pair])
        header[layout.REACHES], header[layout.SPEEDS] = packer.memory(count * joints), packer.memory(4 * joints * legs)
        header[layout.BALLS], header[layout.APPROACHES] = (
            packer.memory(12 * count * (legs + 1)),
            packer.memory(count * legs),
        )
        self._arrays, self._reaches = packer.arrays(), header[layout.REACHES]
        self._places, self.pool = entrances().places, Pool(self._made)

    def _made(self) -> MotionMemory:
        integers, floats, work = self._arrays
        held, first, (count, joints) = (integers, floats, work.copy()), self._reaches, self._shape
        return MotionMemory(held[2][first : first + count * joints].reshape(self._shape), self._places(*held), held)

    def along(self, reaches: Matrix, covers: Pool[Doubts]) -> MovedSolids:
        """The solids on one path.

        Args:
            reaches: how far each solid is from each joint there (joints, solids) [m].
            covers: memory of the kernel that compares their covers.
        """
        return MovedSolids(covers, self.pool, reaches[:, self._moving].T)


class _Records(NamedTuple):
    """Where the records of each solid are in I (n,); 0 where it has none."""

    covers: Integers
    walls: Integers


def _record(joints: PackedJoints, solid: CollisionSolid, numbers: _Numbers) -> tuple[int, ...]:
    """A solid with its cover."""
    seen = _seen(joints, solid)
    return joints.poses[solid.joint], numbers.constants(seen), len(seen) - 1, numbers.memory(1 + 3 * len(seen))


def _seen(joints: PackedJoints, solid: CollisionSolid) -> Matrix:
    """The cover of a solid, seen from the turned axes of its joint."""
    spheres: Any = solid.spheres
    return np.column_stack((spheres[:, :3] @ joints.turns[solid.joint], spheres[:, 3]))


def _wall(solid: CollisionSolid, numbers: _Numbers, clouds: Sequence[CloudTree]) -> tuple[int, ...]:
    """A solid in the world."""
    body, kind, tree = solid.body.geometry, solid.body.kind, solid.body.cloud
    more = (0, 0, 0) if tree is None else (_FIRST_CLOUD + clouds.index(tree), tree.leaves, tree.size)
    if tree is not None:
        sizes = [tree.radius]
    else:
        sizes = [*body.halfSide] if kind == "Box" else [body.radius, getattr(body, "halfLength", 0.0), 0.0]
    return _WALLS[kind], numbers.constants([*numbers_of(solid.placement), *sizes]), *more


def _pair_records(pairs: Integers, gaps: Vector, at: _Records, numbers: _Numbers) -> Integers:
    """Records of pairs (n, 2), with `numbers` added to; one with a solid without a cover is another, never apart."""
    swapped = at.walls[pairs[:, 0]] > 0
    one, other = np.where(swapped, pairs[:, 1], pairs[:, 0]), np.where(swapped, pairs[:, 0], pairs[:, 1])
    known, some = (at.covers[one] > 0) & (at.covers[other] > 0), at.covers[at.covers > 0][0]
    is_wall = known & (at.walls[other] > 0)
    there = np.where(is_wall, at.walls[other], at.covers[other])
    apart = numbers.constants(np.where(known, np.maximum(gaps, 0.0) + APART_FOR_CERTAIN, np.inf))
    covers = np.where(known, at.covers[one], some), np.where(known, there, some)
    return np.column_stack((*covers, is_wall, apart + np.arange(len(pairs)))).astype(np.int64)

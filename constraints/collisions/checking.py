"""Verdicts: covers free most pairs in a kernel, and coal decides the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..robot import Robot
from ..robot.model.pinocchio import pin
from ..solvers.division import MovedSolids
from ..solvers.growth import Doubts
from ..solvers.projection.engines import USUAL
from ..workspace import Pool
from .hulls import PlacedMesh
from .motion import CarriedSolids, JointMotions, Reaches
from .pairs import IndexPair
from .solids import CollisionSolid, data_of, geometry_moved, geometry_of, geometry_of_hulls, is_within

HULLS_APART = 1e-5
"""Distance [m], beyond the margin of a pair, from which the convex hulls of its meshes say that they are free."""
MARGIN_MET = 1e-5
"""Distance [m] of two meshes from their margin from which it says whether they keep it: nearer, coal is asked so."""


@final
class JointsOnDemand:
    """The joints of a robot, made ready when somebody first asks for them; models that are changed share them."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    @cached_property
    def packed(self) -> Any:
        """For kernels; None without the extra `fast`, and of a robot that kernels do not know."""
        from ..solvers.compiled.packing import NotPacked
        from .packed import PackedJoints

        try:
            return PackedJoints(self.robot)
        except NotPacked:
            return None

    @cached_property
    def motions(self) -> JointMotions:
        """What bounds the motion of what they carry."""
        return JointMotions(self.robot)


class CoalMemory(NamedTuple):
    """What one thread asks coal with.

    Attributes:
        data: of the robot.
        solids: data of the geometry, with the margin of each pair.
        hulls: the same of the hulls of meshes, with margins wider by `HULLS_APART`; None where there are none.
    """

    data: Any
    solids: Any
    hulls: Any


class Hulls(NamedTuple):
    """The geometry with convex hulls in place of its meshes.

    Attributes:
        geometry: pinocchio's; None where no pair has a hull.
        pairs: numbers of the pairs with a hull.
        of_meshes: pair -> its solids, where both have a hull.
    """

    geometry: Any
    pairs: frozenset[int]
    of_meshes: Mapping[int, IndexPair]


class NearPairs(NamedTuple):
    """Pairs that are not farther apart than was asked.

    Attributes:
        rows, pairs: of the configuration, and of the pair (n,).
        met: whether they collide (n,).
    """

    rows: Any
    pairs: Any
    met: BoolVector


@final
class Checker:
    """What a collision model asks, of all its pairs.

    Args:
        joints: of the robot that carries the solids.
        solids: all of them.
        margins: pair of solids -> distance to keep [m].
        other: a checker of the same solids and margins, some of which were elsewhere; and the numbers of these.
    """

    def __init__(
        self,
        joints: JointsOnDemand,
        solids: Sequence[CollisionSolid],
        margins: Mapping[IndexPair, float],
        other: tuple[Checker, Sequence[int]] | None = None,
    ) -> None:
        self.joints, self._model, self._solids, self._margins = joints, joints.robot.model, solids, margins
        if other is None:
            self.geometry: Any = geometry_of(solids, margins)
            self._pool = Pool(self._memory)
        else:
            self.geometry, self._pool = geometry_moved(other[0].geometry, solids, other[1]), other[0]._pool
            if other[0].__dict__.get("_packed") is not None:
                self.__dict__["_packed"] = other[0]._packed.moved(solids, other[1])
        self._managed = Pool(self._with_manager)

    @cached_property
    def _packed(self) -> Any:
        """The kernel that compares covers; None without the extra `fast`, and of a robot that kernels do not know."""
        if USUAL != "compiled" or self.joints.packed is None:
            return None
        from ..solvers.compiled.packing import NotPacked
        from .packed import PackedSolids

        try:
            return PackedSolids(self.joints.packed, self._solids, self._margins)
        except NotPacked:
            return None

    @cached_property
    def carried(self) -> CarriedSolids:
        """The solids, on their joints."""
        return CarriedSolids(self.joints.motions, self._solids)

    @cached_property
    def _motions(self) -> Any:
        """The same for a kernel; None where there is none that compares covers."""
        if self._packed is None:
            return None
        from .packed import PackedMotions

        return PackedMotions(self.carried, self._packed.moving, tuple(self._margins))

    def solids_along(self, reaches: Reaches) -> MovedSolids | None:
        """The solids on a path, for a kernel; None where there is none."""
        return None if self._motions is None else self._motions.along(reaches.reaches, self._packed.pool)

    @cached_property
    def _hulls(self) -> Hulls:
        """Hulls of meshes."""
        hulled = {i for i, solid in enumerate(self._solids) if solid.body.hull is not None}
        pairs = frozenset(k for k, pair in enumerate(self._margins) if not hulled.isdisjoint(pair))
        of_meshes = {k: pair for k, pair in enumerate(self._margins) if hulled.issuperset(pair)}
        return Hulls(geometry_of_hulls(self.geometry, self._solids) if pairs else None, pairs, of_meshes)

    def _memory(self) -> CoalMemory:
        bodies = [solid.body for solid in self._solids]
        margins = [d + bodies[i].padding + bodies[j].padding for (i, j), d in self._margins.items()]
        hulls, wider = self._hulls, [max(d, 0.0) + HULLS_APART for d in margins]
        of_hulls = data_of(hulls.geometry, wider) if hulls.pairs else None
        return CoalMemory(self._model.createData(), data_of(self.geometry, margins), of_hulls)

    @cached_property
    def _is_flat(self) -> bool:
        """Whether the box around a solid has no volume: pinocchio's broadphase looks at no pair of that solid."""
        solids = [each.geometry for each in self.geometry.geometryObjects]
        for solid in solids:
            solid.computeLocalAABB()
        return not all(solid.aabb_local.volume() > 0.0 for solid in solids)

    def _with_manager(self) -> tuple[CoalMemory, Any]:
        """Memory, and pinocchio's broadphase on it: its boxes are widened by the margins that are there."""
        memory = self._pool.take()
        kind = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager
        return memory, kind(self._model, self.geometry, memory.solids)

    def balls(self, Q: Matrix) -> Matrix:
        """Where the balls around solids are, and how these are turned, at configurations (n, nq), checked.

        Returns:
            (n, solids, 12): nine numbers of the rotation, and the center [m]; zero where a solid does not move, and of
            one that no ball holds.
        """
        if self._packed is not None:
            return self._packed.balls(Q)
        memory, found = self._pool.take(), np.zeros((len(Q), len(self._solids), 12))
        moving = [
            (i, s.joint, s.spheres[0, :3]) for i, s in enumerate(self._solids) if s.joint and s.spheres is not None
        ]
        for n, q in enumerate(Q):
            pin.forwardKinematics(self._model, memory.data, q)
            for i, joint, center in moving:
                pose = memory.data.oMi[joint]
                found[n, i, :9], found[n, i, 9:] = pose.rotation.ravel(), pose.act(center)
        self._pool.give(memory)
        return found

    def free(self, Q: Matrix) -> BoolVector:
        """Whether no pair collides, at configurations (n, nq), checked."""
        if not self._margins:
            return np.ones(len(Q), dtype=np.bool_)
        if self._packed is not None:
            return self.decided(Q, self._packed.in_doubt(Q))
        if self._is_flat:
            return self.decided(Q, np.argwhere(np.ones((len(Q), len(self._margins)))))
        verdicts = np.ones(len(Q), dtype=np.bool_)
        memory, manager = managed = self._managed.take()
        for n, q in enumerate(Q):
            verdicts[n] = not pin.computeCollisions(self._model, memory.data, manager, q, True)
        self._managed.give(managed)
        return verdicts

    @property
    def doubts(self) -> Pool[Doubts] | None:
        """Memory of the kernel that compares covers, for kernels that go on with it; None where there is no kernel."""
        return None if self._packed is None else self._packed.pool

    def decided(self, Q: Matrix, doubts: Indices) -> BoolVector:
        """Whether no pair collides, at configurations (n, nq), checked, of which only some pairs are in doubt.

        Args:
            Q: configurations.
            doubts: rows (row of Q, number of the pair), those of a row after each other.
        """
        verdicts, memory, last = np.ones(len(Q), dtype=np.bool_), self._pool.take(), -1
        for n, pair in self._quick_first(doubts):
            if verdicts[n]:
                if n != last:
                    self._place(memory, Q[n])
                    last = n
                verdicts[n] = not self._meets(memory, pair)
        self._pool.give(memory)
        return verdicts

    def near(self, Q: Matrix, more: Matrix) -> NearPairs:
        """Pairs that are not farther apart than their margin and a distance, and whether they collide.

        Behind the first configuration at which a pair collides nothing is looked at.

        Args:
            Q: configurations (n, nq), checked, in the order of time.
            more: the distance, of each pair at each configuration (n, pairs) [m]; negative where it is not asked.
        """
        if self._packed is None:
            asked = np.argwhere(more >= 0.0)
        else:
            asked = self._packed.in_doubt(Q, np.ascontiguousarray(more))
        return self.near_of(Q, more, asked)

    def near_of(self, Q: Matrix, more: Matrix, asked: Indices) -> NearPairs:
        """The same of some pairs, rows (row of Q, number of the pair); all others are known to be apart."""
        memory, last, met = self._pool.take(), -1, False
        found = list[tuple[int, int, bool]]()
        for n, pair in asked.tolist():
            if n != last:
                if met:
                    break
                self._place(memory, Q[n])
                last = n
            near, hit = self._looked_at(memory, pair, float(more[n, pair]))
            if near:
                found.append((n, pair, hit))
                met = met or hit
        self._pool.give(memory)
        rows, pairs, hits = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return NearPairs(rows, pairs, hits.astype(np.bool_))

    def are_apart(self, q: Vector, pair: int, more: float) -> bool:
        """Whether the solids of a pair are farther apart than its margin and a distance [m].

        These themselves, and not the hulls of their meshes, which are nearer: it takes longer than `near`.
        """
        memory = self._pool.take()
        self._place(memory, q)
        apart = not self._within(memory, pair, more)[0]
        self._pool.give(memory)
        return apart

    def _meets(self, memory: CoalMemory, pair: int) -> bool:
        """Whether a pair collides, where the solids are placed."""
        if pair in self._hulls.pairs and not self._hulls_within(memory.hulls, pair, 0.0):
            return False
        return self._within(memory, pair, 0.0)[0]

    def _within(self, memory: CoalMemory, pair: int, *more: float) -> list[bool]:
        """Whether the solids of a pair are no farther apart than the margin and each of some distances.

        Two meshes are first asked whether they overlap, then for a bound of their distance, and for the distance. That
        they are farther apart than a margin takes coal 1 to 60 ms, the distance 0.7 ms, the bound 0.1 ms.
        """
        data = memory.solids
        margin = data.collisionRequests[pair].security_margin
        if pair not in self._hulls.of_meshes or not margin + min(more) > 0.0:
            return [is_within(self.geometry, data, pair, each) for each in more]
        if is_within(self.geometry, data, pair, -margin):
            return [True] * len(more)
        a, b = self._placed(memory.hulls, pair)
        if a.most_apart(b) - margin < min(more) - MARGIN_MET:
            return [True] * len(more)
        beyond = pin.computeDistance(self.geometry, data, pair).min_distance - margin
        sure = [abs(beyond - each) > MARGIN_MET for each in more]
        return [
            beyond < each if is_sure else is_within(self.geometry, data, pair, each)
            for each, is_sure in zip(more, sure, strict=True)
        ]

    def _hulls_within(self, data: Any, pair: int, more: float) -> bool:
        """Whether hulls are no farther apart than the margin and a distance; of two meshes also those of parts."""
        hulls = self._hulls
        if not is_within(hulls.geometry, data, pair, more):
            return False
        if pair not in hulls.of_meshes:
            return True
        request, (a, b) = data.collisionRequests[pair], self._placed(data, pair)
        margin = request.security_margin
        request.security_margin = margin + more
        near = a.parts_within(b, request)
        request.security_margin = margin
        return near

    def _placed(self, data: Any, pair: int) -> list[PlacedMesh]:
        """The two meshes of a pair, where hulls are."""
        coal: Any = import_module("coal")
        ends = [(self._solids[n].body, data.oMg[n]) for n in self._hulls.of_meshes[pair]]
        return [
            PlacedMesh(body.geometry, body.parts, coal.Transform3s(at.rotation, at.translation)) for body, at in ends
        ]

    def _looked_at(self, memory: CoalMemory, pair: int, more: float) -> tuple[bool, bool]:
        """Whether a pair, or the hulls of its meshes, may be nearer than its margin and a distance; whether it meets.

        Where the solids are placed. What collides is near.
        """
        if more == 0.0:
            met = self._meets(memory, pair)
            return met, met
        if pair in self._hulls.pairs:
            if not self._hulls_within(memory.hulls, pair, more):
                return False, False
            if not self._hulls_within(memory.hulls, pair, 0.0):
                return True, False
        near, met = self._within(memory, pair, more, 0.0)
        return near, met

    def _place(self, memory: CoalMemory, q: Vector) -> None:
        pin.updateGeometryPlacements(self._model, memory.data, self.geometry, memory.solids, q)
        if self._hulls.pairs:
            pin.updateGeometryPlacements(self._model, memory.data, self._hulls.geometry, memory.hulls)

    def met(self, q: Vector, most: int | None = None) -> list[int]:
        """Numbers of the pairs that collide at a configuration (nq,); some of them, where not all are asked."""
        packed = self._packed
        if packed is None and most is not None and self.free(q[None])[0]:
            return []
        doubts = np.argwhere(np.ones((1, len(self._margins)))) if packed is None else packed.in_doubt(q[None])
        memory = self._pool.take()
        self._place(memory, q)
        met = list(islice((k for _, k in self._quick_first(doubts) if self._meets(memory, k)), most))
        self._pool.give(memory)
        return sorted(met)

    def _quick_first(self, doubts: Indices) -> list[tuple[int, int]]:
        """Row by row, pairs of two meshes after all others."""
        slow = self._hulls.of_meshes
        return sorted(doubts.tolist(), key=lambda doubt: (doubt[0], doubt[1] in slow))

    def always_met(self, Q: Matrix) -> list[int]:
        """Numbers of the pairs that collide at each of some configurations (n, nq)."""
        memory, left = self._pool.take(), list(range(len(self._margins)))
        for q in Q:
            if left:
                self._place(memory, q)
                left = [k for k in left if self._within(memory, k, 0.0)[0]]
        self._pool.give(memory)
        return left

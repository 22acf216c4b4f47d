"""Verdicts: covers free most pairs in a kernel, and coal decides the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..robot import Robot
from ..robot.model.pinocchio import Model, pin
from ..solvers.growth import Doubts
from ..solvers.projection.engines import USUAL
from ..workspace import Pool
from .motion import JointMotions
from .pairs import IndexPair
from .solids import CollisionSolid, geometry_moved, geometry_of

GJK_TOLERANCE = 1e-9
"""Of coal's search for a common point. At its own 1e-6 it misses some boxes that overlap by centimetres."""


@final
class JointsOnDemand:
    """The joints of a robot, made ready when somebody first asks for them; models that are changed share them.

    Args:
        robot: whose joints.
    """

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
    """

    data: Any
    solids: Any


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
            padded = tuple(d + solids[i].body.padding + solids[j].body.padding for (i, j), d in margins.items())
            self._pool = Pool(partial(memory_of, self._model, self.geometry, padded))
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

    def _with_manager(self) -> tuple[CoalMemory, Any]:
        """Memory, and pinocchio's broadphase on it: its boxes are widened by the margins that are there."""
        memory = self._pool.take()
        kind = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager
        return memory, kind(self._model, self.geometry, memory.solids)

    def free(self, Q: Matrix) -> BoolVector:
        """Whether no pair collides, at configurations (n, nq), checked."""
        if not self._margins:
            return np.ones(len(Q), dtype=np.bool_)
        if self._packed is not None:
            return self.decided(Q, self._packed.in_doubt(Q))
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
        for n, pair in doubts.tolist():
            if verdicts[n]:
                if n != last:
                    self._place(memory, Q[n])
                    last = n
                verdicts[n] = not pin.computeCollision(self.geometry, memory.solids, pair)
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
        memory, last, met = self._pool.take(), -1, False
        found = list[tuple[int, int, bool]]()
        for n, pair in asked.tolist():
            if n != last:
                if met:
                    break
                self._place(memory, Q[n])
                last = n
            near = self._is_near(memory, pair, float(more[n, pair]))
            if near:
                found.append((n, pair, pin.computeCollision(self.geometry, memory.solids, pair)))
                met = met or found[-1][2]
        self._pool.give(memory)
        rows, pairs, hits = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return NearPairs(rows, pairs, hits.astype(np.bool_))

    def _is_near(self, memory: CoalMemory, pair: int, more: float) -> bool:
        """Whether a pair is not farther apart than its margin and a distance, where the solids are placed."""
        request = memory.solids.collisionRequests[pair]
        margin = request.security_margin
        request.security_margin = margin + more
        near = bool(pin.computeCollision(self.geometry, memory.solids, pair))
        request.security_margin = margin
        return near

    def _place(self, memory: CoalMemory, q: Vector) -> None:
        pin.updateGeometryPlacements(self._model, memory.data, self.geometry, memory.solids, q)

    def met(self, q: Vector) -> list[int]:
        """Numbers of the pairs that collide at a configuration (nq,)."""
        memory = self._pool.take()
        pin.computeCollisions(self._model, memory.data, self.geometry, memory.solids, q, False)
        met = [k for k, result in enumerate(memory.solids.collisionResults) if result.isCollision()]
        self._pool.give(memory)
        return met

    def always_met(self, Q: Matrix) -> list[int]:
        """Numbers of the pairs that collide at each of some configurations (n, nq)."""
        memory, left = self._pool.take(), list(range(len(self._margins)))
        for q in Q:
            if left:
                self._place(memory, q)
                left = [k for k in left if pin.computeCollision(self.geometry, memory.solids, k)]
        self._pool.give(memory)
        return left


def memory_of(model: Model, geometry: Any, margins: tuple[float, ...]) -> CoalMemory:
    """What one thread asks coal with.

    Pinocchio's own requests have coal begin its search for a common point where the last one of the pair ended. Within
    some micrometres of contact a verdict then depends on what was asked before; here the configuration alone decides.

    Args:
        model, geometry: pinocchio's.
        margins: of each pair [m].
    """
    solids, request = geometry.createData(), import_module("coal").CollisionRequest()
    request.gjk_tolerance, request.enable_contact = GJK_TOLERANCE, False
    for pair, margin in enumerate(margins):
        request.security_margin = margin
        solids.collisionRequests[pair] = request
    return CoalMemory(model.createData(), solids)

"""Verdicts: covers free most pairs in a kernel, and coal decides the others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..robot import Robot
from ..robot.model.pinocchio import Model, pin
from ..solvers.growth import Doubts
from ..solvers.projection.engines import USUAL
from ..workspace import Pool
from .covers import Cover, cover_of
from .pairs import IndexPair

GJK_TOLERANCE = 1e-9
"""Of coal's search for a common point. At its own 1e-6 it misses some boxes that overlap by centimetres."""


@final
class Covers:
    """The covers of all solids of a model, made when somebody first asks for them.

    Args:
        geometry: pinocchio's, with the solids.
    """

    def __init__(self, geometry: Any) -> None:
        self._geometry = geometry

    @cached_property
    def of_solids(self) -> tuple[Cover | None, ...]:
        """In the order of the solids; None where a solid has no cover."""
        return tuple(cover_of(solid.geometry) for solid in self._geometry.geometryObjects)


class CoalMemory(NamedTuple):
    """What one thread asks coal with.

    Attributes:
        data: of the robot.
        solids: data of the geometry, with the margin of each pair.
        manager: of bounding boxes: pinocchio's broadphase.
    """

    data: Any
    solids: Any
    manager: Any


@final
class Checker:
    """What a collision model asks, of all its pairs.

    Args:
        robot: what carries the solids.
        geometry: pinocchio's, with the solids and the pairs.
        covers: of the solids.
        margins: pair of solids -> distance to keep [m].
    """

    def __init__(self, robot: Robot, geometry: Any, covers: Covers, margins: Mapping[IndexPair, float]) -> None:
        self._robot, self._geometry, self._covers, self._margins = robot, geometry, covers, margins
        self._pool = Pool(partial(memory_of, robot.model, geometry, tuple(margins.values())))

    @cached_property
    def _packed(self) -> Any:
        """The kernel that compares covers; None without the extra `fast`, and of a robot that kernels do not know."""
        if USUAL != "compiled":
            return None
        from ..solvers.compiled.packing import NotPacked
        from .packed import PackedSolids

        try:
            return PackedSolids(self._robot, self._geometry, self._covers.of_solids, self._margins)
        except NotPacked:
            return None

    def free(self, Q: Matrix) -> BoolVector:
        """Whether no pair collides, at configurations (n, nq), checked."""
        if not self._margins:
            return np.ones(len(Q), dtype=np.bool_)
        if self._packed is not None:
            return self.decided(Q, self._packed.in_doubt(Q))
        verdicts, memory = np.ones(len(Q), dtype=np.bool_), self._pool.take()
        for n, q in enumerate(Q):
            verdicts[n] = not pin.computeCollisions(self._robot.model, memory.data, memory.manager, q, True)
        self._pool.give(memory)
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
                verdicts[n] = not pin.computeCollision(self._geometry, memory.solids, pair)
        self._pool.give(memory)
        return verdicts

    def _place(self, memory: CoalMemory, q: Vector) -> None:
        pin.updateGeometryPlacements(self._robot.model, memory.data, self._geometry, memory.solids, q)

    def met(self, q: Vector) -> list[int]:
        """Numbers of the pairs that collide at a configuration (nq,)."""
        memory = self._pool.take()
        pin.computeCollisions(self._robot.model, memory.data, self._geometry, memory.solids, q, False)
        met = [k for k, result in enumerate(memory.solids.collisionResults) if result.isCollision()]
        self._pool.give(memory)
        return met


def memory_of(model: Model, geometry: Any, margins: tuple[float, ...]) -> CoalMemory:
    """What one thread asks coal with: with the margins first, which the boxes of the manager are widened by.

    Args:
        model, geometry: pinocchio's.
        margins: of each pair [m].
    """
    data, solids = model.createData(), geometry.createData()
    for request, margin in zip(solids.collisionRequests, margins, strict=True):
        request.security_margin = margin
        request.gjk_tolerance = GJK_TOLERANCE
    return CoalMemory(data, solids, pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(model, geometry, solids))

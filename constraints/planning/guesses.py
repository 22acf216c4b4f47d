"""Guesses of targets: joints uniform in their bounds, objects uniform on the floors that they may stand on."""

from __future__ import annotations

from math import cos, pi, sin
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..functions.contact.contact import ConvexShapeContact
from ..functions.contact.contact_surface import Surface
from ..manipulation.graph import ConstraintGraph
from ..manipulation.states import Transition
from ..robot.model.pinocchio import Placement, pin
from ..rows.implicit import Implicit


class _Floor(NamedTuple):
    """A floor of the world and a surface of an object that may touch it.

    Attributes:
        fan: corners (triangles, 3, 2) of the triangles that the floor is made of.
        shares: (triangles,) of its area, up to the end of each.
        above: where the origin of the floor is, a margin above it.
        object: pose of the object in the surface.
    """

    fan: Matrix
    shares: Vector
    above: Placement
    object: Placement

    @staticmethod
    def of(floor: Surface, surface: Surface, margin: float) -> _Floor:
        """Of a floor that is a convex polygon."""
        polygon = floor.polygon
        fan = np.stack([np.broadcast_to(polygon[0], polygon[2:].shape), polygon[1:-1], polygon[2:]], axis=1)
        (ax, ay), (bx, by) = (fan[:, 1] - fan[:, 0]).T, (fan[:, 2] - fan[:, 0]).T
        areas = np.abs(ax * by - ay * bx).cumsum()
        above = floor.inward * pin.SE3(np.eye(3), np.array([-margin, 0.0, 0.0]))
        return _Floor(fan, areas / areas[-1], above, surface.outward.inverse())

    def pose(self, rng: np.random.Generator) -> Vector:
        """A pose (7,) of the object, standing somewhere on the floor, uniform in it, turned anyhow."""
        share, u, v, turn = rng.random(4).tolist()
        corner, a, b = self.fan[self.shares.searchsorted(share, side="right")]
        u, v, turn = min(u, v), max(u, v), 0.5 * (2.0 * pi * turn - pi)
        y, z = (u * a + (v - u) * b + (1.0 - v) * corner).tolist()
        there = pin.XYZQUATToSE3(np.array([0.0, y, z, sin(turn), 0.0, 0.0, cos(turn)]))
        return np.asarray(pin.SE3ToXYZQUAT(self.above * there * self.object))


class _Stand(NamedTuple):
    """Where an object may stand: its coordinates of q, and floors."""

    q: slice
    floors: tuple[_Floor, ...]


@final
class Guesses:
    """Guesses of targets of one graph, whose placements say on which floors objects stand."""

    def __init__(self, graph: ConstraintGraph) -> None:
        self._robot, self._stands = graph.robot, list[_Stand]()
        model, leaves = graph.robot.model, {leaf.q.start: leaf for leaf in graph.robot.space.leaves()}
        for foliation in graph.foliations:
            owner = foliation.constraint
            contact = owner.function if isinstance(owner, Implicit) else None
            if not isinstance(contact, ConvexShapeContact):
                continue
            pairs = [contact.surfaces_of(pair) for pair in contact.pairs]
            fixed = tuple((floor, surface) for floor, surface in pairs if floor.joint == 0)
            joints = {surface.joint for _, surface in fixed}
            if len(joints) != 1:
                continue
            (joint,) = joints
            leaf = leaves.get(model.joints[joint].idx_q)
            if model.parents[joint] == 0 and leaf is not None and leaf.space.atoms[:1] == (("SE3", 1),):
                floors = tuple(_Floor.of(floor, surface, contact.margin) for floor, surface in fixed)
                self._stands.append(_Stand(leaf.q, floors))

    def __call__(self, transition: Transition, q: Vector, rng: np.random.Generator) -> Vector:
        """A guess of the target of a transition, which is the same for all: what it keeps, projections keep."""
        guess = self._robot.random(rng)
        for stand in self._stands:
            guess[stand.q] = stand.floors[int(rng.integers(len(stand.floors)))].pose(rng)
        return guess

    def beside(self, q: Vector, rng: np.random.Generator) -> Vector:
        """A random configuration with the objects as they are in another one."""
        guess = self._robot.random(rng)
        for stand in self._stands:
            guess[stand.q] = q[stand.q]
        return guess

"""Guesses of targets: joints uniform in their bounds, objects uniform on the floors that they may stand on."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..functions.contact.contact import ConvexShapeContact
from ..functions.contact.contact_surface import Surface
from ..manipulation.graph import ConstraintGraph
from ..manipulation.states import Transition
from ..robot.model.pinocchio import pin
from ..rows.implicit import Implicit


class _Stand(NamedTuple):
    """Where an object may stand: its coordinates of q, floors of the world with the surfaces that may touch them."""

    q: slice
    pairs: tuple[tuple[Surface, Surface], ...]
    margin: float


@final
class Guesses:
    """Guesses of targets of one graph.

    Args:
        graph: the graph, whose placements say on which floors objects stand.
    """

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
                self._stands.append(_Stand(leaf.q, fixed, contact.margin))

    def __call__(self, transition: Transition, q: Vector, rng: np.random.Generator) -> Vector:
        """A guess of the target of a transition, which is the same for all: what it keeps, projections keep."""
        guess = self._robot.random(rng)
        for stand in self._stands:
            floor, surface = stand.pairs[int(rng.integers(len(stand.pairs)))]
            guess[stand.q] = _pose(floor, surface, stand.margin, rng)
        return guess

    def beside(self, q: Vector, rng: np.random.Generator) -> Vector:
        """A random configuration with the objects as they are in another one."""
        guess = self._robot.random(rng)
        for stand in self._stands:
            guess[stand.q] = q[stand.q]
        return guess


def _pose(floor: Surface, surface: Surface, margin: float, rng: np.random.Generator) -> Vector:
    """A pose (7,) of an object that stands somewhere on a floor of the world, turned anyhow."""
    y, z = _point_in(floor.polygon, rng)
    turn = rng.uniform(-np.pi, np.pi)
    there: Any = pin.SE3(pin.AngleAxis(turn, np.array([1.0, 0.0, 0.0])).matrix(), np.array([-margin, y, z]))
    return np.asarray(pin.SE3ToXYZQUAT(floor.inward * there * surface.outward.inverse()))


def _point_in(polygon: Matrix, rng: np.random.Generator) -> Vector:
    """A point (2,), uniform in a convex polygon (n, 2)."""
    a, b = polygon[1:-1] - polygon[0], polygon[2:] - polygon[0]
    areas = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    i = int(rng.choice(len(areas), p=areas / areas.sum()))
    u, v = sorted(rng.uniform(size=2))
    return polygon[0] + u * a[i] + (v - u) * b[i]

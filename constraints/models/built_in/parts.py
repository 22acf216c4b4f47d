"""Parts of built-in mechanisms: bars of uniform thickness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liegroups.arrays import ArrayLike, Vector

from ...robot import Robot
from ...robot.model.pinocchio import pin
from ...rows.row_owner import RowOwner
from ..structure.mechanism import Mechanism
from ..structure.tree import Tree

DENSITY = 2.0
"""Mass of a bar by length [kg/m]."""


def add_bar(tree: Tree, joint: int, name: str, start: ArrayLike, end: ArrayLike) -> None:
    """Add a bar between two points of a joint, with the frame `name` at its end.

    Args:
        tree: to which.
        joint: index of the joint that carries it.
        name: of the bar and of its end.
        start, end: points (3,) in the joint's frame [m].
    """
    a: Vector = np.array(start, dtype=np.float64)
    b: Vector = np.array(end, dtype=np.float64)
    along = b - a
    mass, square = DENSITY * float(np.sqrt(along @ along)), float(along @ along)
    thin = np.eye(3) * 1e-4  # a bar 2 cm across
    inertia = mass / 12.0 * (square * np.eye(3) - np.outer(along, along)) + mass * thin
    tree.body(joint, pin.SE3.Identity(), f"{name}_bar", mass, 0.5 * (a + b), inertia)
    tree.frame(joint, pin.SE3(np.eye(3), b), name)


def closed_at(robot: Robot, closures: Sequence[RowOwner], motors: Sequence[str], q: Vector) -> Mechanism:
    """A mechanism with its closed configuration as the posture "closed"."""
    return Mechanism(robot.with_references({"closed": q}), tuple(closures), (), tuple(motors), {"closed": q})

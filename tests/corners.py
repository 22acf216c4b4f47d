"""A graph of an arm with one corner to go around, and balls in its way."""

from __future__ import annotations

import numpy as np
from robots import arm

from constraints import Affine, Implicit, Options
from constraints.collisions.model import CollisionModel
from constraints.collisions.shapes import Shape
from constraints.manipulation import ConstraintGraph, State, Transition


def held(joint: int, value: float) -> Implicit:
    return Implicit.zero(Affine([np.eye(7)[joint]], [-value], arm().space), name=f"joint {joint} at {value:g}")


def corner(short: bool = False) -> ConstraintGraph:
    """Joint 0 at 0.1 or joint 1 at 0.2; from one to the other through both."""
    first, second = held(0, 0.1), held(1, 0.2)
    a, b, both = State("a", [first]), State("b", [second]), State("both", [first, second], waypoint=True)
    loops = [Transition(f"stay in {s}", s, s, s) for s in (a, b)]
    there = [Transition("in", a, both, a), Transition("out", both, b, b, short=short)]
    back = Transition("b to a", b, a, b)
    options = Options(max_iterations=20, restarts=False)
    return ConstraintGraph(arm(), [a, b, both], [*loops, Transition("a to b", a, b, a, inner=there), back],
                           options=options, attempts=2)  # fmt: skip


def posts(count: int) -> CollisionModel:
    """A ball in the hand among balls in the world."""
    rng = np.random.default_rng(1)
    places = [[*rng.uniform([-0.6, -0.6, 0.2], [0.6, 0.6, 1.0]), 0.0, 0.0, 0.0, 1.0] for _ in range(count)]
    fixed = [Shape(f"post{i}", "Sphere", (0.12,), "universe", place) for i, place in enumerate(places)]
    return CollisionModel(arm(), [Shape("hand", "Sphere", (0.08,), "tool"), *fixed])

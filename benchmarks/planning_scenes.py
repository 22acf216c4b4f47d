"""What a scene of `planning.py` is: what is to be planned, how ours does it, and who judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constraints.collisions import CollisionModel
from constraints.paths import Path
from constraints.planning import Connection, Limits, Plan

Array = NDArray[np.float64]
Query = tuple[Array, Array]
Solve = Callable[[Query, np.random.Generator, Limits], Connection | Plan]


@dataclass(frozen=True, eq=False)
class Scene:
    """What is to be planned.

    Args:
        queries: starts and goals.
        seeds: searches of each.
        solve: how ours does it.
        faults: what plain pinocchio and coal find wrong with a path.
        collisions: what shall not touch.
        peers: planners that can do it too, and seeds of each.
        seconds: when to give up, wall time: long, as others may keep the machine busy.
    """

    queries: Sequence[Query]
    seeds: int
    solve: Solve
    faults: Callable[[Path, Query], list[str]]
    collisions: CollisionModel
    peers: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 300.0

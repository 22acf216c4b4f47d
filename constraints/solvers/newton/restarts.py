"""Restarts: where to try again."""

from __future__ import annotations

from typing import final

import numpy as np

from liegroups.arrays import Vector

from ...problem.problem import Problem
from ...robot.configuration import random_points
from .rules import restart_configuration


@final
class Restarts:
    """A table of random configurations, drawn once; a start reads it from a row given by its bytes.

    Scalar joints are uniform in their bounds (the range of a revolute joint is cut to [-pi, pi]; a coordinate without
    bounds is drawn in [-1, 1]), (cos, sin) joints and rotations uniform. Poses of free objects and joints that no
    constraint depends on stay as they are in the start.

    Args:
        problem: whose configurations.
        seed: of the table.
        size: rows of the table.

    Attributes:
        table: (size, nq) configurations.
        drawn: entries of q that are read from it.
    """

    def __init__(self, problem: Problem, seed: int, size: int) -> None:
        space = problem.space
        self.table = random_points(problem.bounds, problem.revolute).draw(np.random.default_rng(seed), size)
        drawn = np.zeros(space.nq, dtype=np.bool_)
        for leaf in space.leaves():
            if leaf.space.atoms[:1] in ((("SE3", 1),), (("SE2", 1),)):
                continue
            moving = (problem.columns & problem.free)[leaf.v]
            drawn[leaf.q] = moving if leaf.space.is_flat else moving.any()
        self.drawn = np.flatnonzero(drawn)

    @property
    def is_empty(self) -> bool:
        """True when no coordinate can be drawn."""
        return not self.drawn.size

    def configurations(self, q0: Vector, row: int, count: int) -> list[Vector]:
        """The start with its drawn coordinates from so many rows of the table; new arrays."""
        return [restart_configuration(q0, self.table, self.drawn, row + i) for i in range(count)]

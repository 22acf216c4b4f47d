"""Edges: from one configuration to another along constraints, by halving; as `paths.interpolation`, in a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from liegroups.arrays import Indices, Matrix, Vector

from ..rows.right_hand_side import RightHandSide

SHORTEST_PART_OF_PATH = 2.0**-18
"""Intervals are not halved below this part of the whole."""
MIDDLE_OF_INTERVAL = 0.75
"""A mid-point may be at most this part of an interval's size away from either end: on a smooth manifold it is half."""
SLACK_OF_A_MIDDLE = 1e-3
"""Part of the largest step that a mid-point may stray on an interval without motion."""


class Edges(NamedTuple):
    """What came of many edges.

    Attributes:
        status: how each ended (n,), a number of `machine.layout`: LAID, AT_START, AT_END, NOT_PROJECTED, APART_STILL.
        offsets: where the samples of each begin, and where the last ones end (n + 1,).
        times: of all samples, in [0, 1] (m,).
        samples: configurations (m, nq); of an edge that is not laid, those before it stops.
        middles: of each the last middle that was looked at (n, nq); where it stops, the start of a projection that
            failed, or a configuration that is too far from its neighbours.
        nexts: time and configuration (n, 1 + nq) at the end of the interval where it stops.
    """

    status: Indices
    offsets: Indices
    times: Vector
    samples: Matrix
    middles: Matrix
    nexts: Matrix

    def rows(self, i: int) -> slice:
        """The samples of an edge."""
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))


class EdgeProgram(ABC):
    """A program that lays edges with all their projections in one call."""

    @abstractmethod
    def run(self, Q0: Matrix, Q1: Matrix, rhs: RightHandSide, max_angle: float, max_length: float) -> Edges:
        """Lay edges, each by itself.

        Args:
            Q0, Q1: ends (n, nq), checked.
            rhs: right-hand sides of all.
            max_angle, max_length: largest motion of a joint between samples [rad], [m].
        """

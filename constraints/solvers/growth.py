"""Ways that grow towards many targets at once: what a search asks of a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ..rows.right_hand_side import RightHandSide
from ..workspace import Pool
from .machine import layout


class Rules(NamedTuple):
    """What steps of a way keep to, in largest steps.

    Attributes:
        columns: tangent columns that distances are of.
        weights: by what a distance has each of them: inverse of a largest step.
        farthest: largest distance of where a step leads from where it began.
        least_gain: by which it comes nearer to the target.
        met: distance from the target that counts as none.
    """

    columns: Indices
    weights: Vector
    farthest: float
    least_gain: float
    met: float


class Doubts(NamedTuple):
    """Memory of a kernel that compares covers of solids, of one thread.

    Attributes:
        found: the list that it fills with (row, pair), of those that are not apart for certain.
        where: addresses of all that it reads and writes, the list too.
        held: what these lead to.
    """

    found: Indices
    where: Any
    held: Any


@final
class GrowingWays:
    """Ways while they grow.

    Args:
        Q: where they begin (n, nq).
        targets: where they lead (n, nq).
        distances: between them (n,).
        most: steps that each may take.
        met: distance that counts as none.

    Attributes:
        targets: as given, in one piece.
        q: (n, 1 + most, nq) where they begin, and where each step leads; the next one too where it is to be decided.
        figures: (n, WAY_SIZE) the records of `layout`.
    """

    def __init__(self, Q: Matrix, targets: Matrix, distances: Vector, most: int, met: float) -> None:
        self._met = met
        self.targets = np.require(targets, requirements=["C", "W"])
        self.q = np.empty((len(Q), 1 + most, Q.shape[1]))
        self.q[:, 0] = Q
        self.figures = np.zeros((len(Q), layout.WAY_SIZE))
        self.figures[:, layout.LEFT] = distances
        self.figures[:, layout.WAY_STATE] = np.where(distances <= met, layout.REACHED, layout.GOES_ON)

    @property
    def states(self) -> Vector:
        """One of the states of `layout` each (n,)."""
        return self.figures[:, layout.WAY_STATE]

    @property
    def steps(self) -> Indices:
        """Steps taken (n,)."""
        return self.figures[:, layout.STEPS].astype(np.intp)

    @property
    def left(self) -> Vector:
        """Distances (n,) from the last steps to the targets."""
        return self.figures[:, layout.LEFT]

    def at(self, state: int) -> Indices:
        """The ways in one of the states of `layout` (k,)."""
        return np.flatnonzero(self.states == state)

    def ahead(self, rows: Indices) -> Matrix:
        """Where the next step of some ways leads (k, nq)."""
        return self.q[rows, self.figures[rows, layout.STEPS].astype(np.intp) + 1]

    def aim(self, rows: Indices, Q: Matrix, left: Vector) -> None:
        """Say where the next step of some ways leads (k, nq), and how far that is from the targets."""
        self.q[rows, self.steps[rows] + 1] = Q
        self.figures[rows, layout.LEFT_AHEAD] = left

    def decide(self, rows: Indices, allowed: BoolVector) -> None:
        """Say of the next steps of some ways whether they are taken."""
        self.figures[rows, layout.WAY_STATE] = np.where(allowed, layout.ALLOWED, layout.ENDED)

    def take_steps(self, rows: Indices) -> None:
        """Take the next steps of some ways, as the kernel does it."""
        figures, most = self.figures, self.q.shape[1] - 1
        figures[rows, layout.STEPS] += 1.0
        figures[rows, layout.LEFT] = left = figures[rows, layout.LEFT_AHEAD]
        going = np.where(figures[rows, layout.STEPS] < most, layout.GOES_ON, layout.ENDED)
        figures[rows, layout.WAY_STATE] = np.where(left <= self._met, layout.REACHED, going)


class GrowthProgram(ABC):
    """A program that takes many steps in one call."""

    @abstractmethod
    def grow(self, ways: GrowingWays, rhs: RightHandSide, solids: Pool[Doubts] | None) -> Indices:
        """Grow ways, each until it ends, or its next step is to be decided, or there is no room for more pairs.

        Args:
            ways: some of which go on.
            rhs: right-hand sides.
            solids: what must be free; None for nothing.

        Returns:
            Pairs of solids that are not apart for certain, as rows (way, number of the pair).
        """

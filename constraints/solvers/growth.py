"""Ways that grow towards many targets at once: what a search asks of a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from liegroups.arrays import Indices, Matrix, Vector

from ..rows.right_hand_side import RightHandSide
from ..workspace import Pool


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


class GrowthProgram(ABC):
    """A program that takes many steps in one call."""

    @abstractmethod
    def grow(
        self, targets: Matrix, ways: Matrix, figures: Matrix, rhs: RightHandSide, solids: Pool[Doubts] | None
    ) -> Indices:
        """Grow ways, each until it ends, or its next step is to be decided, or there is no room for more pairs.

        Args:
            targets, ways, figures: as `grow_ways` has them, of one piece each; the last two are filled.
            rhs: right-hand sides.
            solids: what must be free; None for nothing.

        Returns:
            Pairs of solids that are not apart for certain, as rows (way, number of the pair).
        """

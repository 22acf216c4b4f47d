"""Parts of paths divided by a program: configurations between, bounds on motion, pairs of solids in doubt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from liegroups.arrays import Indices, Matrix

from ..rows.right_hand_side import RightHandSide
from ..workspace import Pool
from .growth import Doubts


class MotionMemory(NamedTuple):
    """Memory of a kernel that bounds the motion of solids, of one thread.

    Attributes:
        reaches: where it has how far each solid is from each joint at most (solids, joints) [m].
        where: addresses of all that it reads and writes.
        held: what these lead to.
    """

    reaches: Matrix
    where: Any
    held: tuple[Any, ...]


class MovedSolids(NamedTuple):
    """Solids whose motion along a path is bounded.

    Attributes:
        covers: memory of the kernel that compares their covers.
        motions: memory for the bounds.
        reaches: how far each solid is from each joint along this path, at most (solids, joints) [m].
    """

    covers: Pool[Doubts]
    motions: Pool[MotionMemory]
    reaches: Matrix


class Divided(NamedTuple):
    """Parts of a path divided into legs.

    Attributes:
        inner: times and configurations between two legs (n (legs - 1), 1 + nq).
        moved: how much nearer a pair comes on a leg, at most (n legs, pairs) [m]; only beside where it is in doubt.
        more: the larger one of two legs (n (legs - 1), pairs) [m], where a pair is in doubt between them.
        doubts: rows (row of inner, number of the pair), of what is not apart for certain.
    """

    inner: Matrix
    moved: Matrix
    more: Matrix
    doubts: Indices


class DivisionProgram(ABC):
    """A program that divides parts of a path with all their projections in one call."""

    @abstractmethod
    def divide(
        self,
        parts: Matrix,
        legs: int,
        samples: Matrix,
        sides: RightHandSide | Matrix,
        asked: Matrix,
        solids: MovedSolids,
    ) -> Divided | None:
        """Divide parts into legs of equal time; None where a configuration between them is not reached.

        Args:
            parts: times where each begins and ends, and the configurations there (n, 2 + 2 nq).
            legs: of each part, at most `layout.MOST_LEGS`.
            samples: of the path, time and configuration (m, 1 + nq).
            sides: right-hand sides; or those of each inner place (n (legs - 1), size).
            asked: of each part and pair (n, pairs): negative where it is not asked, else 0.
            solids: what moves.
        """

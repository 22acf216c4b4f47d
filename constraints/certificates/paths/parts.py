"""Parts of a piece of a path, and what is found of them."""

from __future__ import annotations

from typing import NamedTuple

from liegroups.arrays import BoolVector, Vector

from ..check import Premises
from ..path_check import LegPremises, LegReach


class AtEnd(Exception):  # the search begins anew
    """An inequality is at an end: it is held there on the whole piece."""

    def __init__(self, row: int, end: float) -> None:
        super().__init__(row, end)
        self.row, self.end = row, end


class WayPart(NamedTuple):
    """What is between two stops, and how a leg there is tried next.

    Attributes:
        t0, t1: times in the piece.
        q0, q1: configurations.
        halved: how often it was.
        held: (nv,) coordinates that stay.
        size: of the ball around the way; 0 for `SIZE_OF_WAY` of half its length.
        tries: how many there were.
    """

    t0: float
    t1: float
    q0: Vector
    q1: Vector
    halved: int
    held: BoolVector
    size: float = 0.0
    tries: int = 0


class NoLeg(NamedTuple):
    """Why there is no leg on a part; how often it is to be halved, or not at all."""

    why: str
    halves: int = 1


class Proof(NamedTuple):
    """A part, of which something is proved.

    Attributes:
        part: of the path.
        legs, at: premises of several legs, and which of them is its own.
        reach: how far its solutions are.
        most: how far they may be for all that is claimed.
    """

    part: WayPart
    legs: LegPremises
    at: int
    reach: LegReach
    most: float

    @property
    def leg(self) -> LegPremises:
        """Its premises."""
        numbers, pull, at_stops, joined, ends = self.legs
        own = Premises(*(each[self.at] for each in numbers))
        return LegPremises(own, pull[self.at], at_stops[self.at], joined, ends[self.at])


Answer = Proof | WayPart | NoLeg
"""Of a part: a leg that is proved, the part with what is to be tried next, or why there is neither."""

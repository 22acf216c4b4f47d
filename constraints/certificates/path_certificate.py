"""Certificates of paths: values, that can be checked again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from liegroups.arrays import Matrix, Vector

from ..solvers.result import Result
from ..words import counted
from .certificate import CertificateStatus
from .path_check import LegPremises, path_failures


class Stuck(NamedTuple):
    """The first part of a path that is not proved.

    Attributes:
        piece: its number.
        begin, end: times on the path [s].
        start, goal: configurations (nq,) there.
    """

    piece: int
    begin: float
    end: float
    start: Vector
    goal: Vector

    def __str__(self) -> str:
        return f"piece {self.piece}, from {self.begin:.6g} s to {self.end:.6g} s"


@final
@dataclass(frozen=True, eq=False)
class PathCertificate(Result):
    r"""What is proved of a path: that it does not jump.

    PROVED says, without any rounding: along the whole path there is one continuous curve of configurations that satisfy
    all mandatory rows and bounds exactly. At each time it is within `r` of the straight way (of the space) between the
    `stops` beside: no coordinate of a joint differs by more, no rotation or body turns by more, and no origin of a body
    is farther. In the slices through that way it is the only solution within `R`, and the rows have full rank: it
    cannot be left without going farther. With a collision model, all configurations within r of the way are free.

    The stops are the samples of the path, put where the rows hold to 1e-10, and more of them where samples are too far
    apart; no stop is farther than `moved` from its sample. Pieces with other constraints, or other right-hand sides,
    are proved one by one: where they meet, both curves are within r of the stop, but may be two.

    Attributes:
        status: PROVED or NOT_PROVED.
        reason: what is in the way; empty for a proof.
        stuck: the first part that is not proved; None for a proof.
        r: largest distance of the curve from the straight way [rad, m]; infinite if nothing is proved.
        R: least distance within which it is alone; 0 if nothing is proved.
        moved: of stops from samples, at most [rad, m].
        times: of the stops on the path (n,) [s]; where two pieces meet, both.
        stops: configurations (n, nq), of the part that is proved.
        legs: premises of the check, one for each part between two stops of a piece.
        active: names of the inequalities that are held at an end.
        held: names of coordinates that stay on the straight way somewhere, as they are at a bound.
        rests_on: names of functions whose enclosures were written by users; and coal's distances, where collisions are
            looked at: they are taken as right to 1e-6 m.
    """

    status: CertificateStatus
    reason: str
    stuck: Stuck | None
    r: float
    R: float
    moved: float
    times: Vector
    stops: Matrix
    legs: tuple[LegPremises, ...]
    active: tuple[str, ...]
    held: tuple[str, ...]
    rests_on: tuple[str, ...]

    def check(self) -> list[str]:
        """Prove it again from its numbers, by `constraints/certificates/path_check.py`.

        Returns:
            What does not hold, in words; an empty list if all that is claimed follows from the numbers.
        """
        found = path_failures(self.legs, self.r, self.R)
        return [*found, *([] if self.status is CertificateStatus.PROVED or found else [self.reason])]

    def describe(self) -> str:
        """What is proved, or what is in the way, in words."""
        lines = [str(self), f"{counted(len(self.legs), 'leg')}, stops at most {self.moved:.3g} from samples"]
        for words, names in (
            ("inequalities at their ends: ", self.active),
            ("coordinates that are held somewhere: ", self.held),
            ("rests on: ", self.rests_on),
        ):
            if names:
                lines.append(words + ", ".join(names))
        return "\n  ".join(lines)

    @property
    def told(self) -> str:
        """Which part is not proved, and why; empty for a proof."""
        return self.reason if self.stuck is None else f"{self.stuck}: {self.reason}"

    def __str__(self) -> str:
        if not self.success:
            return f"NOT_PROVED: {self.told}"
        return f"PROVED: one curve of solutions, within {self.r:.3g} of the way, alone in slices within {self.R:.3g}"

    def __repr__(self) -> str:
        return f"PathCertificate({self})"

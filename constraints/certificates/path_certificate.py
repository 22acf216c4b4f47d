"""Certificates of paths and sweeps: values, that can be checked again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from liegroups.arrays import Matrix, Vector

from ..solvers.result import Result
from ..words import counted
from .certificate import Certificate, CertificateStatus
from .path_check import LegPremises, path_failures, unmet


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
@dataclass(frozen=True, eq=False, repr=False)
class PathCertificate(Result):
    r"""What is proved of a path: that it does not jump.

    PROVED says, without any rounding: along each piece of the path there is one continuous curve of configurations that
    satisfy all mandatory rows and bounds exactly. At each time it is within `r` of the straight way (of the space)
    between the `stops` beside: no coordinate of a joint differs by more, no rotation or body turns by more, and no
    origin of a body is farther. In the slices through that way it is the only solution within `R`, and the rows have
    full rank: it cannot be left without going farther. With a collision model, the curve is free: so is, around each
    leg, all that is as near to its way as the curve may be there.

    The stops are the samples of the path, put where the rows hold to 1e-10, and more of them where samples are too far
    apart; no stop is farther than `moved` from its sample. Where two pieces of one problem meet with the same
    right-hand sides, their curves are proved to be one if that can be shown; else, as of pieces that ask for different
    things, both are within r of the stop, but may be two: see `curves`.

    Attributes:
        status: PROVED or NOT_PROVED.
        reason: what is in the way; empty for a proof.
        stuck: the first part that is not proved; None for a proof.
        r: largest distance of the curve from the straight way [rad, m]; infinite if nothing is proved.
        R: least distance within which it is alone; 0 if nothing is proved.
        moved: of stops from samples, at most [rad, m].
        times: of the stops on the path (n,) [s]; where two curves meet, both.
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

    @property
    def curves(self) -> int:
        """How many there are, one after the other: pieces, less those that are proved to go on on the same curve."""
        return sum(not leg.joined for leg in self.legs)

    def check(self) -> list[str]:
        """Prove it again from its numbers, by `constraints/certificates/path_check.py`.

        Returns:
            What does not hold, in words; an empty list if all that is claimed follows from the numbers.
        """
        if not self.legs and not self.success:
            return [self.reason]
        found = path_failures(self.legs, self.r, self.R) or unmet(self.legs, self.times, self.stops, self.moved)
        if self.success and (self.reason or self.stuck is not None):
            found.append("a proof has no reason, and no part that is not proved")
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
        curves = "one curve" if self.curves == 1 else f"{self.curves} curves, one after the other,"
        return f"PROVED: {curves} of solutions, within {self.r:.3g} of the way, alone in slices within {self.R:.3g}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class SweepCertificate(Result):
    """What is proved of a sweep.

    PROVED: the driver determines one exact closed configuration at each of its values between the reached ones, in the
    order of the sweep, beside the straight way between configurations; these are one continuous curve, or several that
    meet, as `along.curves` says: then both are within r of the configuration there. The rows have full rank with the
    driver held: there is no dead point on them. COMPLETE: moreover all closed configurations at the first value are
    known, each of them is followed by such a proof, and between the values there is no other one within the bounds:
    none begins on the way, and there is no dead point.

    At a dead point, and where branches cross, rows lose rank with the driver held. So a proof ends before it, and
    `reason`, or `ends`, names it.

    Attributes:
        status: COMPLETE, PROVED or NOT_PROVED.
        reason: what is in the way of the sweep's own branch; empty for a proof.
        open: what is in the way of COMPLETE; empty where it is, or where it was not asked for.
        ends: the singularities that the sweep met, in words.
        along: of the sweep's own branch; the driver is a row whose right-hand side moves.
        start: closed configurations at the first value, all of them if nothing is `open`; none where nobody asked.
        others: of the other branches from there, in the order of `start`.
    """

    status: CertificateStatus
    reason: str
    open: str
    ends: tuple[str, ...]
    along: PathCertificate
    start: tuple[Certificate, ...]
    others: tuple[PathCertificate, ...]

    def describe(self) -> str:
        """What is proved, and what is not, in words."""
        lines = [str(self), str(self.along)]
        lines += [f"at the first value {counted(len(self.start), 'configuration')}"] if self.start else []
        lines += [f"another branch {other}" for other in self.others]
        lines += [f"all branches: {self.open}"] if self.open else []
        return "\n  ".join([*lines, *(f"rows lose rank, nothing is proved there: {each}" for each in self.ends)])

    def __str__(self) -> str:
        if not self.success:
            return f"NOT_PROVED: {self.reason}"
        more = f", and {counted(len(self.others), 'other one')}" if self.others else ""
        return f"{self.status.name}: one branch without a dead point{more}"

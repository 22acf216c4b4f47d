"""The search for a certificate of one piece of a path: legs that are halved until each is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...collisions.model import CollisionModel
from ...errors import NoEnclosureError
from ...functions.enclosures.interval import lengths
from ...paths.path import Piece
from ...ranges import whole_number
from ...solvers import Options, Projector
from ...workspace import Kept
from ..check import raised
from ..path_check import LegReach, leg_failures
from ..search import SearchStop, refuse_branches
from ..slice import Moves
from .leg import Turning
from .leg_search import SPARE, LegSearch
from .parts import AtEnd, NoLeg, Proof, WayPart

FINE_THRESHOLD = 1e-10
"""Of the projections that put samples, and configurations between them, where the legs meet [m, rad]."""

FARTHEST_STOP = 0.01
"""Of a stop from its sample: a sample that is off by more is none of a path on the constraints [rad, m]."""

FAR_MIDDLE = 0.75
"""A middle that is projected farther than this part of a leg from one of its ends has jumped."""

ROUNDS_OF_JOINTS = 12
"""Of legs that get a larger ball, or are halved, as they do not meet the next one."""

_FINE: Kept[Projector] = Kept(8)


@final
@dataclass(frozen=True)
class PathLimits:
    """Limits of a search for a certificate of a path.

    Attributes:
        halvings: of what is between two samples.
        legs: of the whole path.

    Raises:
        OptionError: no whole number from 0, or from 1.
    """

    halvings: int = 10
    legs: int = 20_000

    def __post_init__(self) -> None:
        """Check ranges."""
        whole_number(self.halvings, "halvings of a certificate of a path", 0)
        whole_number(self.legs, "legs of a certificate of a path", 1)


@final
class PieceSearch:
    """The search on one piece.

    Args:
        piece: of a path.
        collisions: what must be free, or None.
        limits: of the search.
        most: legs.

    Attributes:
        proved: parts that are proved, in order.
        reason: why it ended; empty if all is proved.
        stuck: where that is.
        legs: what is tried of them.
        moved: of stops from samples, at most.
        onward: the first leg of the next piece, where its curve is proved to be the same one.
    """

    def __init__(self, piece: Piece, collisions: CollisionModel | None, limits: PathLimits, most: int) -> None:
        problem = piece.problem
        self.piece, self.problem, self.space, self.limits, self.most = piece, problem, problem.space, limits, most
        fine = Options.local(threshold=FINE_THRESHOLD)
        self.projector = _FINE.get(problem, lambda: Projector(problem, fine))
        self.legs = LegSearch(piece, collisions, limits.halvings)
        self.proved, self.moved, self.reason = list[Proof](), 0.0, ""
        self.onward: LegReach | None = None
        self.stuck: WayPart = WayPart(0.0, 1.0, piece.samples[0], piece.samples[-1], 0, problem.frozen)

    @property
    def names_of_active(self) -> list[str]:
        """Names of the inequalities that are held at an end."""
        return [self.legs.rows.names[i] for i in np.flatnonzero(self.legs.active).tolist()]

    def run(self) -> None:
        """Prove one part after the other, then that they meet; anew where an inequality turns out to be at its end."""
        try:
            refuse_branches(self.legs.rows)
            self.legs.turning = self._turning()
            while True:
                try:
                    self.proved = []
                    self._cover(self._parts())
                    self._meet()
                    return
                except AtEnd as found:
                    self.legs.active[found.row], self.legs.target[found.row] = True, found.end
        except (SearchStop, NoEnclosureError) as why:
            self.reason = str(why)

    def _turning(self) -> dict[int, Turning]:
        """Number of a constraint -> its rows, of those whose right-hand sides move on a group.

        Raises:
            SearchStop: right-hand sides move otherwise than straight, or too far, or not all rows of one count.
        """
        sides, found, first = self.piece.sides, dict[int, Turning](), 0
        if sides.function is not None:
            raise SearchStop("its right-hand sides are a function of time, which has no enclosure")
        if sides.constant is None and not (0.0 <= min(sides.window) and max(sides.window) <= 1.0):
            raise SearchStop("its right-hand sides stand still on a part of it, where their window leaves [0, 1]")
        ends = [self.legs.rows_at(t).points for t in (0.0, 1.0)]
        for i, (owner, a, b) in enumerate(zip(self.legs.rows.owners, *ends, strict=True)):
            group, at = owner.group, slice(first, first + int(owner.rows.mask.sum()))
            first = at.stop
            if not group.is_flat and not np.array_equal(a, b):
                turning = Turning.between(at, group, a, b)
                if turning is None or not owner.rows.mask.all():
                    how = (
                        "turns by nearly half a turn" if turning is None else "moves, and some of its rows are left out"
                    )
                    raise SearchStop(f"the right-hand side of '{owner.name}' in {group.name} {how}")
                found[i] = turning
        return found

    def _parts(self) -> list[WayPart]:
        """Between the samples, which are put where the rows hold."""
        samples, t = self.piece.samples, self.piece.times.tolist()
        batch = self.projector.project_batch(samples, self.piece.sides.at_times(self.problem, t))
        Q = np.where(batch.success[:, None], batch.q, samples)
        moves = Moves.between(self.space, samples, Q, np.zeros((self.space.nv, 0))).displaced
        far = np.where((samples == Q).all(axis=1), 0.0, moves.max(axis=1, initial=0.0))
        for i in np.flatnonzero(~(far < FARTHEST_STOP))[:1].tolist():
            self.stuck = WayPart(t[i], t[i], samples[i], Q[i], 0, self.problem.frozen)
            raise SearchStop(f"sample {i} is {far[i]:.3g} from where the constraints hold")
        self.moved = float(far.max())
        return [WayPart(t[i], t[i + 1], Q[i], Q[i + 1], 0, self.problem.frozen) for i in range(len(Q) - 1)]

    def _cover(self, parts: list[WayPart]) -> None:
        """Prove legs from one end of each part to the other; in each round all parts that are open together.

        Raises:
            SearchStop: the first part of which nothing is proved, and why; all before it is proved.
        """
        ahead, found, stop = parts, self.proved, ""
        while ahead:
            if not stop:
                self.stuck = ahead[0]
            if len(found) + len(ahead) > self.most:
                self.stuck, stop = ahead[0], f"it has more than {self.limits.legs} legs"
                break
            again, open_parts = list[WayPart](), list[tuple[WayPart, NoLeg]]()
            for part, answer in zip(ahead, self.legs.looked_at(ahead), strict=True):
                if isinstance(answer, Proof):
                    found.append(answer)
                elif isinstance(answer, WayPart):
                    again.append(answer)
                else:
                    open_parts.append((part, answer))
            halves, refused = self._halves(open_parts)
            for part, why in refused:
                if not stop or part.t0 < self.stuck.t0:
                    self.stuck, stop = part, why
            ahead = sorted([*again, *halves], key=lambda part: part.t0)
            if stop:
                ahead = [part for part in ahead if part.t0 < self.stuck.t0]
        found.sort(key=lambda proof: proof.part.t0)
        if stop:
            self.proved = [proof for proof in found if proof.part.t0 < self.stuck.t0]
            raise SearchStop(stop)

    def _halves(self, parts: list[tuple[WayPart, NoLeg]]) -> tuple[list[WayPart], list[tuple[WayPart, str]]]:
        """Parts halved as often as asked, with stops between on the constraints; and those that are not, and why."""
        space, done, refused = self.space, list[WayPart](), list[tuple[WayPart, str]]()
        while parts:
            asked, parts = parts, []
            for part, (why, halves) in asked:
                if halves and part.halved < self.limits.halvings:
                    parts.append((part, NoLeg(why, halves)))
                else:
                    refused.append(
                        (part, f"{why}; it was halved {part.halved} times" if part.halved and halves else why)
                    )
            if not parts:
                break
            times = [0.5 * (part.t0 + part.t1) for part, _ in parts]
            Q0, Q1 = np.array([part.q0 for part, _ in parts]), np.array([part.q1 for part, _ in parts])
            middles = space.interpolate(Q0, Q1, 0.5)
            batch = self.projector.project_batch(middles, self.piece.sides.at_times(self.problem, times))
            whole = lengths(space.difference(Q0, Q1))
            ends = np.maximum(*(lengths(space.difference(Q, batch.q)) for Q in (Q0, Q1)))
            asked, parts, success = parts, [], batch.success
            for i, ((part, no), t) in enumerate(zip(asked, times, strict=True)):
                if not success[i]:
                    refused.append((part, f"half-way the constraints are not reached: {batch[i].status}"))
                elif ends[i] > FAR_MIDDLE * whole[i] + FINE_THRESHOLD:
                    why = f"half-way the solution is {ends[i]:.3g} from one end, which is {whole[i]:.3g} from the other"
                    refused.append((part, f"{why}: the path jumps"))
                else:
                    q, n, held = batch.q[i], part.halved + 1, self.problem.frozen
                    halves = [WayPart(part.t0, t, part.q0, q, n, held), WayPart(t, part.t1, q, part.q1, n, held)]
                    if no.halves > 1 and n < self.limits.halvings:
                        parts += [(half, no._replace(halves=no.halves - 1)) for half in halves]
                    else:
                        done += halves
        return done, refused

    # Where legs meet.

    def _meet(self) -> None:
        """Give legs that do not meet the next one a larger ball, or halve them, until all do."""
        for _ in range(ROUNDS_OF_JOINTS):
            far, short = self.reaches, set[int]()
            for k, (proof, so_far) in enumerate(zip(self.proved, far, strict=True)):
                if so_far > proof.most:
                    if leg_failures(proof.leg, so_far):
                        short.add(k)
                    elif why := self.legs.met(proof.part, so_far):
                        self.stuck = proof.part
                        raise SearchStop(why)
                    else:
                        self.proved[k] = proof._replace(most=so_far)
            if not short:
                return
            sizes = {k: SPARE * max(far[k], float(self.proved[k].leg.numbers.size)) for k in short}
            parts = [
                self.proved[k].part._replace(size=sizes[k], tries=0, held=self.problem.frozen) for k in sorted(short)
            ]
            self.proved = [proof for k, proof in enumerate(self.proved) if k not in short]
            self._cover(parts)
            self.stuck = parts[0]
        raise SearchStop("it is not shown that it goes on to the next part on the same curve")

    def go_on(self, following: PieceSearch) -> None:
        """Look whether the curve is that of the next piece, where both ask for the same at one stop.

        What is active here has to be so there, then solutions there are solutions of all rows in play here.
        """
        pieces, active = (self.piece, following.piece), self.legs.active
        if self.problem is not following.problem or not (self.proved and following.proved):
            return
        if any(piece.sides.constant is None and piece.sides.window != (0.0, 1.0) for piece in pieces):
            return  # between its ends a target that moves is known but for rounding
        last, first = self.proved[-1], following.proved[0]
        alike = [(last.part.q1, first.part.q0), (self.legs.target[active], following.legs.target[active])]
        alike += zip(self.legs.rows_at(1.0).points, following.legs.rows_at(0.0).points, strict=True)
        far = float(last.reach.joined(first.reach))
        if far <= last.most and following.legs.active[active].all() and all(np.array_equal(*pair) for pair in alike):
            self.onward = first.reach

    @property
    def reaches(self) -> list[float]:
        """How far the curve is from each way at most, and where it meets the next one; as `farthest`."""
        if not self.proved:
            return []
        every = LegReach(*(np.array(each) for each in zip(*(proof.reach for proof in self.proved), strict=True)))
        first, following = (LegReach(*(each[some] for each in every)) for some in (slice(None, -1), slice(1, None)))
        last = self.proved[-1].reach
        end = last.within if self.onward is None else last.joined(self.onward)
        return [*first.joined(following).tolist(), float(end)]

    @property
    def distance(self) -> float:
        """From the straight way, of all that is proved."""
        far = [raised(proof.reach.stretch * far) for proof, far in zip(self.proved, self.reaches, strict=True)]
        return float(max(far, default=0.0))

"""Branches of solutions, all followed at once along moving right-hand sides, each with steps of its own."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import BoolVector, Indices, Matrix, Vector

from ...paths.path import StepSize
from ...solvers.edges import SLACK_OF_A_MIDDLE
from ..edges import CHECKED_ANGLE, CHECKED_LENGTH, inner_parts
from ..leaf import MAX_ANGLE, MAX_LENGTH, LeafOfProblem
from ..limits import Clock
from .nodes import FollowedNodes
from .targets import Targets

LONGEST_STEP = 2.0**-5
"""Longest step along the parameter, whose middle is looked at too: what targets do within less may be missed."""
SHORTEST_STEP = 2.0**-16
"""Shortest step along the parameter: how closely it is known where a branch stops at a bound or at a collision."""
SHORTEST_GUIDED_STEP = 2.0**-8
"""A guide that stops a branch in shorter steps than this is left."""
PART_BETWEEN_ROWS = 2.0**-4
"""Part of the way from a row of targets to the next below which steps are not shortened either."""
AIMED_STEP = 0.7
"""Part of the largest step of a joint that a step along the parameter aims at."""
GUIDED_STEP = 0.5
"""Part of the largest step by which a guide draws a branch aside, step by step."""
EVENNESS = 1.5
"""Parts of a step may be so many times as long as equal ones: of two halves each is at most three quarters."""


class Stopped(IntEnum):
    """Why a step is not taken."""

    NOT = 0
    NOT_PROJECTED = 1
    JUMPED = 2
    COLLIDED = 3


class Judged(NamedTuple):
    """Steps that were looked at.

    Attributes:
        stopped: (n,) members of `Stopped`.
        q: configurations (n, nq) that collide; where nothing does, what was given.
    """

    stopped: Indices
    q: Matrix


class BranchEnds(NamedTuple):
    """Where branches end.

    Attributes:
        nodes: the last node of each (n,).
        stopped: (n,) why, members of `Stopped`; `NOT` at the end of the targets, or where time or nodes were over.
        ahead: values (n,) of the parameter that were not reached.
        q: configurations (n, nq) that were refused there.
    """

    nodes: Indices
    stopped: Indices
    ahead: Vector
    q: Matrix


@final
class Tracker:
    """Follows branches.

    Args:
        leaf: of the first targets: projector, measure of distances, collisions, counts.
        targets: what is followed.
        shortest: part of the parameter in which a joint that moves farther than a largest step jumps.
        clock: when to give up.
        most: nodes at which to give up.
    """

    def __init__(self, leaf: LeafOfProblem, targets: Targets, shortest: float, clock: Clock, most: int) -> None:
        self._leaf, self._targets, self._clock, self._most = leaf, targets, clock, most
        self._size, between = StepSize(leaf.problem), float(np.diff(targets.knots).min())
        self._jumps, self._shortest = min(shortest, between), min(SHORTEST_STEP, PART_BETWEEN_ROWS * between)
        self.nodes = FollowedNodes(leaf)

    @property
    def is_over(self) -> bool:
        """Whether a limit is reached."""
        return self._clock.is_over or self.nodes.count >= self._most

    def projected(self, Q: Matrix, s: Vector) -> tuple[Matrix, BoolVector]:
        """Configurations (n, nq) put onto the targets at values of the parameter (n,), and which ones were."""
        if not len(Q):
            return Q, np.zeros(0, dtype=np.bool_)
        self._leaf.counts.projections += len(Q)
        batch = self._leaf.projector.project_batch(Q, self._targets.along(s))
        return batch.q, batch.success

    def steps(self, Q0: Matrix, Q1: Matrix) -> Vector:
        """Distances (n,) in the joint that moves most, in largest steps."""
        angles, lengths = self._size.of_rows(Q0, Q1)
        return np.maximum(angles / MAX_ANGLE, lengths / MAX_LENGTH)

    def judged(self, s0: Vector, Q0: Matrix, s1: Vector, Q1: Matrix) -> Judged:
        """Whether steps between solutions are short, go evenly from one end to the other, and are free."""
        whole, q = self.steps(Q0, Q1), Q1.copy()
        stopped = np.where(whole <= 1.0, Stopped.NOT, Stopped.JUMPED).astype(np.intp)
        rows = np.flatnonzero(stopped == Stopped.NOT)
        parts = self._parts(Q0[rows], Q1[rows])
        of, numbers = inner_parts(parts)
        owners, t = rows[of], numbers / parts[of]
        between, on = self.projected(
            self._leaf.space.interpolate(Q0[owners], Q1[owners], t), s0[owners] + t * (s1[owners] - s0[owners])
        )
        stopped[owners[~on]] = Stopped.NOT_PROJECTED
        begun = np.where((numbers == 1)[:, None], Q0[owners], np.roll(between, 1, axis=0))
        limit = ((EVENNESS * whole[rows] + SLACK_OF_A_MIDDLE * parts) / parts)[of]
        uneven = self.steps(begun, between) > limit
        last = numbers == parts[of] - 1
        uneven[last] |= self.steps(between[last], Q1[owners[last]]) > limit[last]
        jumped = owners[uneven & on]
        stopped[jumped[stopped[jumped] == Stopped.NOT]] = Stopped.JUMPED
        self._look_for_collisions(stopped, q, owners, between)
        return Judged(stopped, q)

    def _parts(self, Q0: Matrix, Q1: Matrix) -> Indices:
        """Parts (n,), an even number, in which steps are looked at: two, or as many as collisions need."""
        if self._leaf.collisions is None:
            return np.full(len(Q0), 2)
        angles, lengths = self._size.of_rows(Q0, Q1)
        halves = np.ceil(0.5 * np.maximum(angles / CHECKED_ANGLE, lengths / CHECKED_LENGTH))
        return 2 * np.maximum(halves, 1.0).astype(np.intp)

    def _look_for_collisions(self, stopped: Indices, q: Matrix, owners: Indices, between: Matrix) -> None:
        """Mark steps whose end, or something between, collides."""
        if self._leaf.collisions is None:
            return
        good = np.flatnonzero(stopped == Stopped.NOT)
        inner = np.flatnonzero(stopped[owners] == Stopped.NOT)
        rows = np.concatenate([owners[inner], good])
        Q = np.concatenate([between[inner], q[good]])
        if not len(Q):
            return
        for i in np.flatnonzero(~self._leaf.free(Q))[::-1].tolist():
            stopped[rows[i]] = Stopped.COLLIDED
            q[rows[i]] = Q[i]

    def follow(self, begin: Indices, guides: Matrix | None = None, pace: Vector | None = None) -> BranchEnds:
        """Follow branches from nodes as far as they lead.

        Args:
            begin: nodes at which they begin (n,).
            guides: configurations (n, nq) that draw them aside, as far as rows are free; None for none.
            pace: longest step of each along the parameter (n,) while it is guided.
        """
        count, nodes = len(begin), self.nodes
        at, s, Q = begin.copy(), nodes.s[begin], nodes.q[begin]
        step = np.full(count, LONGEST_STEP) if pace is None else pace.copy()
        guided = np.full(count, guides is not None)
        alive, stopped, ahead, refused = s < 1.0, np.zeros(count, dtype=np.intp), s.copy(), Q.copy()
        while alive.any() and not self.is_over:
            rows = np.flatnonzero(alive)
            ahead[rows] = self._targets.ahead(s[rows], step[rows])
            starts = Q[rows] if guides is None else self._drawn(Q[rows], guides[rows], guided[rows])
            q, on = self.projected(starts, ahead[rows])
            judged = np.full(len(rows), int(Stopped.NOT_PROJECTED))
            refused[rows] = q
            looked = self.judged(s[rows][on], Q[rows][on], ahead[rows][on], q[on])
            judged[on], refused[rows[on]] = looked.stopped, looked.q
            stopped[rows] = judged
            good = judged == Stopped.NOT
            taken, failed = rows[good], rows[~good]
            went = self.steps(Q[taken], q[good])
            if guides is not None:
                guided[taken] &= self._comes_nearer(Q[taken], q[good], guides[taken])
            at[taken] = nodes.add(ahead[taken], q[good], at[taken])
            past = ahead[taken] - s[taken]
            longer = np.minimum(2.0, AIMED_STEP / np.maximum(went, 1e-9)) * past
            longest = np.where(guided[taken], LONGEST_STEP if pace is None else pace[taken], LONGEST_STEP)
            step[taken] = np.minimum(np.where(longer > past, np.maximum(longer, step[taken]), longer), longest)
            s[taken], Q[taken] = ahead[taken], q[good]
            alive[taken] = s[taken] < 1.0
            past = ahead[failed] - s[failed]
            least = np.where(stopped[failed] == Stopped.JUMPED, self._jumps, self._shortest)
            ends = past <= np.where(guided[failed], np.maximum(least, SHORTEST_GUIDED_STEP), least)
            step[failed] = np.where(ends, LONGEST_STEP, 0.5 * past)
            alive[failed[ends & ~guided[failed]]] = False
            guided[failed[ends]] = False
        return BranchEnds(at, stopped, ahead, refused)

    def _drawn(self, Q: Matrix, guides: Matrix, guided: BoolVector) -> Matrix:
        """Configurations a bit nearer to their guides, where they have one."""
        far = np.maximum(self._leaf.chart.distances(Q, guides), 1e-9)
        return self._leaf.space.interpolate(Q, guides, np.where(guided, np.minimum(GUIDED_STEP / far, 1.0), 0.0))

    def _comes_nearer(self, Q0: Matrix, Q1: Matrix, guides: Matrix) -> BoolVector:
        """Whether steps (n,) gain at least a tenth of what they are drawn by."""
        distances = self._leaf.chart.distances
        return distances(Q1, guides) < distances(Q0, guides) - 0.1 * GUIDED_STEP

"""The search along targets: all starts at once, then branches drawn aside where rows are free."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector

from ...collisions.model import Collision
from ...paths.path import Path, Piece
from ...words import counted
from ..ends import RandomSolutions
from ..leaf import LeafOfProblem
from ..limits import Clock
from .targets import Targets
from .tracker import LONGEST_STEP, BranchEnds, Tracker

DRAWN_AT_ONCE = 64
"""Random configurations that are projected onto targets together. It is part of what a seed means."""
BRANCHES_AT_ONCE = 24
"""Branches that are drawn aside together. It is part of what a seed means."""
ROUNDS_WITHOUT_NEWS = 10
"""Rounds of them that lead no further after which nothing does."""
LEAST_NEWS = 1e-3
"""Part of the targets by which a round must lead further; and how far behind a stop other solutions are looked for."""
ROUNDS_BEYOND = 4
"""Times that random solutions behind a stop are looked for, where all of them collide."""
BAND = 0.05
"""Branches begin at solutions whose parameter is at most so far from one that was drawn."""
SLOWEST = 5
"""Guided branches take steps along the parameter that are longest, or half of that, down to one by two to this."""
SMOOTHINGS = 100
"""Stretches of a path that was drawn aside which are tried to be pulled straight."""
LEAST_GAIN_OF_SMOOTHING = 0.02
"""Part of a stretch by which it must become shorter."""


class Beyond(NamedTuple):
    """Solutions a bit behind the place where the longest branch stops.

    Attributes:
        tried: random configurations that were projected there; 0 where this was not asked.
        solved, free: how many of them were, and how many of these are free.
    """

    tried: int = 0
    solved: int = 0
    free: int = 0

    @property
    def words(self) -> str:
        """What this tells of the stop; empty where it was not asked."""
        if not self.tried:
            return ""
        if not self.solved:
            return f"just behind there seems to be no solution: of {self.tried} random configurations none is projected"
        if not self.free:
            return f"just behind all {counted(self.solved, 'solution')} that were found collide"
        return (
            f"just behind {self.solved} of {self.tried} random configurations are projected, and {self.free} free, but "
            "no branch that was found leads there"
        )


class Reached(NamedTuple):
    """How far a branch leads, and nothing collides on it.

    Attributes:
        s: values of the parameter (n,) of its samples.
        q: samples (n, nq).
        path: along them; None where there is one sample.
        end: its branch, a number of `BranchSearch.ends`.
        met: what it collides with a bit further, where only a close look found that.
    """

    s: Vector
    q: Matrix
    path: Path | None
    end: int
    met: Collision | None

    @property
    def reached(self) -> float:
        """Value of the parameter at its end."""
        return float(self.s[-1])


@final
class BranchSearch:
    """One search.

    Attributes:
        ends: of all branches.
        beyond: solutions behind the farthest stop.
    """

    def __init__(
        self, leaf: LeafOfProblem, targets: Targets, tracker: Tracker, rng: np.random.Generator, clock: Clock
    ) -> None:
        self.beyond = Beyond()
        self._leaf, self._targets, self._tracker, self._rng, self._clock = leaf, targets, tracker, rng, clock
        self._met, self._seen = dict[int, Collision](), dict[tuple[int, int], Reached]()
        none = np.zeros(0, dtype=np.intp)
        self.ends = BranchEnds(none, none, np.zeros(0), np.zeros((0, leaf.space.nq)))

    def run(self, starts: Matrix) -> Reached:
        """Follow all starts (n, nq), free solutions of the first targets."""
        nodes, targets = self._tracker.nodes, self._targets
        self._ended(self._tracker.follow(nodes.add(np.zeros(len(starts)), starts, np.full(len(starts), -1))))
        best = self._best()
        if best.reached == 1.0 or self._tracker.is_over:
            return best
        self.beyond = self._beyond(best)
        if not self.beyond.free or not any(self._leaf.problem.dimension(q, targets.at(0.0)) for q in starts):
            return best
        still = 0
        while best.reached < 1.0 and still < ROUNDS_WITHOUT_NEWS and not self._tracker.is_over:
            self._leaf.counts.rounds += 1
            self._draw_aside(best.reached)
            before, best = best.reached, self._best()
            if best.reached > before:
                self.beyond = Beyond()
            still = 0 if best.reached > before + LEAST_NEWS else still + 1
        if best.reached < 1.0 and not self.beyond.tried and not self._tracker.is_over:
            self.beyond = self._beyond(best)
        return self._smoothed(best)

    def _beyond(self, best: Reached) -> Beyond:
        """Look for solutions of the targets a bit behind a stop; where all collide, some times more."""
        rhs, free = self._targets.at(min(1.0, best.reached + LEAST_NEWS)), 0
        solutions = RandomSolutions(self._leaf, [(self._leaf.problem, rhs)], DRAWN_AT_ONCE)
        for _ in range(ROUNDS_BEYOND):
            free = len(solutions.more(self._rng, best.q[-1]))
            if free or not solutions.solved:
                break
        return Beyond(solutions.tried, solutions.solved, free)

    def _ended(self, ends: BranchEnds) -> None:
        """Keep the ends of more branches."""
        both: Any = zip(self.ends, ends, strict=True)
        self.ends = BranchEnds(*map(np.concatenate, both))

    def _draw_aside(self, reached: float) -> None:
        """Branches from solutions before the farthest end, each drawn towards a random configuration."""
        nodes, leaf, rng = self._tracker.nodes, self._leaf, self._rng
        at = reached * (1.0 - rng.random(BRANCHES_AT_ONCE) ** 2)
        drawn = leaf.random(rng, nodes.q[0], BRANCHES_AT_ONCE)
        pace = np.ldexp(LONGEST_STEP, -rng.integers(0, 1 + SLOWEST, BRANCHES_AT_ONCE))
        guides, on = self._tracker.projected(drawn, at)
        guides = np.where(on[:, None], guides, drawn)
        coordinates, aims = leaf.chart.coordinates(nodes.q), leaf.chart.coordinates(guides)
        begin = np.empty(BRANCHES_AT_ONCE, dtype=np.intp)
        for i, s in enumerate(at.tolist()):
            left_out = nodes.cut | (nodes.s > s) | (nodes.s < s - BAND)
            if left_out.all():
                left_out = nodes.cut | (nodes.s > s)
            begin[i] = leaf.chart.nearest(coordinates, aims[i : i + 1], left_out)[0][0]
        whole = np.array([len(nodes.way(node)) > 0 and nodes.way(node)[-1] == node for node in begin.tolist()])
        if whole.any():
            self._ended(self._tracker.follow(begin[whole], guides[whole], pace[whole]))

    def _best(self) -> Reached:
        """The branch that leads farthest and is free when looked at closely; of those the shortest."""
        nodes = self._tracker.nodes
        while True:
            ways = [nodes.way(node) for node in self.ends.nodes.tolist()]
            best = min(range(len(ways)), key=lambda i: self._rank(ways[i]))
            way = ways[best]
            if (seen := self._seen.get((best, len(way)))) is not None:
                return seen
            path = self.path(nodes.s[way], nodes.q[way])
            met = None if path is None or self._leaf.collisions is None else self._leaf.collisions.first_collision(path)
            if met is None or met.time is None:
                lost = self._met.get(int(self._after(int(self.ends.nodes[best]), way)))
                self._seen[best, len(way)] = found = Reached(nodes.s[way], nodes.q[way], path, best, lost)
                return found
            at = met.time * float(nodes.s[way[-1]])
            after = int(way[max(1, int(np.searchsorted(nodes.s[way], at)))])
            self._leaf.counts.refused += 1
            self._met[after] = met._replace(time=None)
            nodes.take_back(after)

    def _rank(self, way: Indices) -> tuple[float, float]:
        nodes = self._tracker.nodes
        return (-float(nodes.s[way[-1]]), float(nodes.cost[way[-1]])) if len(way) else (0.0, np.inf)

    def _after(self, node: int, way: Indices) -> int:
        """The node behind a way that was taken back; -1 where none was."""
        while node != way[-1]:
            before = int(self._tracker.nodes.parents[node])
            if before == way[-1]:
                return node
            node = before
        return -1

    def path(self, s: Vector, Q: Matrix) -> Path | None:
        """The path along samples (n, nq) at values of the parameter (n,); None where there is one."""
        if len(s) < 2:
            return None
        leaf, sides, end = self._leaf, self._targets.sides, float(s[-1])
        sides = sides if end == 1.0 else sides.between(0.0, end)
        piece = Piece(leaf.problem, sides, Q, s / end, leaf.projector.options, projector=leaf.projector)
        return Path((piece,))

    def _smoothed(self, best: Reached) -> Reached:
        """The same with stretches pulled straight, between the same targets, where that is shorter and free."""
        s, Q, leaf, rng = best.s, best.q.copy(), self._leaf, self._rng
        if len(s) < 3:
            return best
        changed = False
        for _ in range(SMOOTHINGS):
            i, j = np.sort(rng.integers(0, len(s), 2)).tolist()
            if j - i < 2 or self._clock.is_over:
                continue
            part = slice(i, j + 1)
            t = (s[i + 1 : j] - s[i]) / (s[j] - s[i])
            ends = np.repeat(Q[[i]], len(t), axis=0), np.repeat(Q[[j]], len(t), axis=0)
            inner, on = self._tracker.projected(leaf.space.interpolate(*ends, t), s[i + 1 : j])
            if not on.all():
                continue
            straight = np.vstack([Q[[i]], inner, Q[[j]]])
            old = leaf.chart.distances(Q[part][:-1], Q[part][1:]).sum()
            new = leaf.chart.distances(straight[:-1], straight[1:]).sum()
            if new > old * (1.0 - LEAST_GAIN_OF_SMOOTHING):
                continue
            judged = self._tracker.judged(s[part][:-1], straight[:-1], s[part][1:], straight[1:])
            if not judged.stopped.any():
                Q[part], changed = straight, True
        if not changed:
            return best
        path = self.path(s, Q)
        if path is None or (leaf.collisions is not None and leaf.collisions.first_collision(path) is not None):
            return best
        return best._replace(q=Q, path=path)

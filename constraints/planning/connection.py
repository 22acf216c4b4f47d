"""From a start to a goal on one leaf: two trees, each grown towards many targets at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from liegroups.arguments import as_flag, expect
from liegroups.arrays import ArrayLike, Indices, Matrix, Vector

from ..collisions.model import Collision, CollisionModel
from ..paths.path import Path
from ..paths.with_path import WithPath
from ..problem.problem import Problem
from ..solvers import Projector
from ..words import counted
from .edges import EdgeJudge
from .ends import Goal, RandomSolutions, Refused, goals_of, left_unasked, rows_of, usable
from .leaf import Effort as Effort, LeafOfProblem, path_projector
from .limits import Clock, Limits
from .status import PlanningStatus
from .trees import SearchTree

if TYPE_CHECKING:
    from ..certificates.path_certificate import PathCertificate

TARGETS_AT_ONCE = 64
"""Most targets that a tree grows towards together: few at first, as most searches end soon. Random numbers are drawn by
rounds, so these three are part of what a seed means."""
FIRST_TARGETS = 4
"""Targets of a round beside those for nodes."""
NODES_A_TARGET = 16
"""Nodes of both trees for which there is a target more."""
TARGETS_WITHOUT_NEWS = 640
"""Targets of a tree that lead to no node farther than a step from all before: then it covers what it can reach."""
NODES_OF_TRIAL = 10_000
"""Nodes of a trial whether the trees would meet if nothing collided, where one of them goes no further."""
TRIAL_SEED = 0
"""Of that trial, which has random numbers of its own: the search does not depend on it."""
ROUNDS_BETWEEN_GOALS = 10
"""Rounds after which more goals are looked for, where they are not given."""
NODES_OF_A_RANGE = 1000
"""Nodes that a tree must have if the ranges of its coordinates shall say something."""
OUTSIDE_A_RANGE = 0.01
"""Part of them that is left out at either end of a range: trees grow towards each other where they come near."""
ROUNDS_WITHOUT_GOAL = 200
"""Rounds of looking for a goal in vain after which there is none."""


class Branchings(NamedTuple):
    """The trees of a search, for pictures.

    Attributes:
        from_start, from_goal: nodes (n, nq).
        parents_from_start, parents_from_goal: number of the parent of each node (n,), -1 for ends.
    """

    from_start: Matrix
    parents_from_start: Indices
    from_goal: Matrix
    parents_from_goal: Indices


@final
@dataclass(frozen=True, eq=False, repr=False)
class Connection(WithPath):
    """Result of a search on one leaf.

    It is neither true nor false (`if connection:` raises): `success` says whether there is a path.

    Attributes:
        path: from a start to a goal; None if none was found.
        status: why the search ended.
        problem: the constraints that are held along the path.
        effort: what it took.
        reason: what is wrong with an end, or what keeps the trees apart, in words; of a path, that no collisions were
            looked at; else empty.
        collisions: pairs that collide at an end.
        refused: the end (nq,) of which `reason` and `collisions` are; None where no end was refused, or none was found.
        meets_without_collisions: whether the trees meet where nothing collides; None where this was not tried.
        trees: of the search; None where the straight way was free, or an end refused.
        certificate: of the path, where it was asked for.
    """

    path: Path | None
    status: PlanningStatus
    problem: Problem
    effort: Effort
    reason: str = ""
    collisions: tuple[Collision, ...] = ()
    meets_without_collisions: bool | None = None
    trees: Branchings | None = None
    refused: Vector | None = None
    certificate: PathCertificate | None = None

    @property
    def start(self) -> Vector | None:
        """The start that was used (nq,)."""
        return None if self.path is None else self.path.start

    @property
    def goal(self) -> Vector | None:
        """The goal that was reached (nq,)."""
        return None if self.path is None else self.path.end

    def describe(self) -> str:
        """The result in words: status, reason, what it took, and which constraints are held."""
        e = self.effort
        lines = [str(self)]
        lines += self._lines_of_path()
        if self.meets_without_collisions is not None:
            met = "meet" if self.meets_without_collisions else "do not meet"
            lines.append(f"  where nothing collides, the trees {met}")
        lines.append(f"  {counted(e.nodes, 'node')} in {counted(e.rounds, 'round')}, {e.seconds:.3g} s")
        lines.append(
            f"  {counted(e.projections, 'projection')}, {counted(e.checks, 'check')} for collisions, "
            f"{counted(e.refused, 'edge')} taken back"
        )
        return "\n".join(lines)


def connect(
    problem: Problem | Projector,
    start: ArrayLike,
    goal: Goal,
    rhs: ArrayLike | None = None,
    *,
    rng: np.random.Generator,
    collisions: CollisionModel | None = None,
    limits: Limits | None = None,
    certified: bool = False,
) -> Connection:
    """A path from a start to a goal on the constraints of a problem, free of collisions.

    The straight way first. Then two trees grow from both ends (RRT-Connect, Kuffner and LaValle 2000; projected onto
    constraints, Berenson et al. 2009): each round draws random configurations on the leaf, from 4 to 64 as the trees
    grow, one tree takes steps towards them, all at once, and the other towards the nodes that came nearest. Where they
    meet, the way along the nodes is looked at closely: each edge is halved until its samples are near each other,
    projected, without a jump, within bounds, and free; an edge that fails is taken back with all that grew from it.

    Args:
        problem: the constraints; or a projector for them, which is then used with its options. By default
            `Options.local()` with half its threshold, so that what lies between samples is within the threshold.
        start: a configuration (nq,), or rows of them (n, nq), any of which will do.
        goal: the same; or a `Problem` (or several) whose solutions are goals, or a box (`Bounds`).
        rhs: right-hand sides, those of the problem by default: the leaf.
        rng: generator, for instance `numpy.random.default_rng(0)`. The same generator gives the same bits, unless the
            clock ends the search.
        collisions: what must be free; None for nothing.
        limits: when to give up; of the search, not of the proof.
        certified: whether the path has to be proved (`Path.certify`, with the collisions). Where it is not, the status
            is NOT_PROVED, `reason` says what is in the way, and the path is there to be looked at.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with an end.
        SpaceMismatchError: a collision model, or a goal, of another robot.
        WrongObjectError: an argument of another type.

    Example:
        >>> import numpy as np
        >>> from liegroups import Rn
        >>> from constraints import Function, Implicit, Problem
        >>> from constraints.planning import connect
        >>> circle = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="circle")
        >>> found = connect(Problem(Rn(2), [Implicit.zero(circle)]), [1, 0], [0, 1], rng=np.random.default_rng(0))
        >>> found.success
        True
    """
    expect(rng, np.random.Generator, "rng of a connection", "a Generator, as numpy.random.default_rng(0)")
    limits = Limits() if limits is None else expect(limits, Limits, "limits of a connection", "Limits")
    projector = path_projector(problem, collisions, "of a connection")
    leaf = LeafOfProblem(projector, projector.problem.check_rhs(rhs), collisions)
    search = LeafSearch(leaf, rng, limits.nodes, Clock(limits.seconds))
    found = search.run(rows_of(projector.problem, start, "start"), goals_of(leaf, goal))
    return _certified(found, collisions) if as_flag(certified, "certified of a connection") else found


def _certified(found: Connection, collisions: CollisionModel | None) -> Connection:
    """The same with a certificate of its path, if it has one."""
    if found.path is None:
        return found
    certificate = found.path.certify(collisions)
    status = found.status if certificate.success else PlanningStatus.NOT_PROVED
    return replace(found, status=status, certificate=certificate, reason=certificate.told)


@final
class LeafSearch:
    """One search.

    Args:
        leaf: where.
        rng: generator.
        nodes: most nodes in both trees.
        clock: when to give up.
    """

    def __init__(self, leaf: LeafOfProblem, rng: np.random.Generator, nodes: int, clock: Clock) -> None:
        self._leaf, self._rng, self._nodes, self._clock = leaf, rng, nodes, clock
        self._edges, self._trees = EdgeJudge(leaf), tuple[SearchTree, ...]()
        self._meets: bool | None = None
        self._found: Path | None = None
        self._reason = ""

    def run(self, starts: Matrix, goals: Matrix | RandomSolutions) -> Connection:
        """The whole search."""
        here = usable(self._leaf, starts, "start")
        if isinstance(here, Refused):
            return self._refused(here)
        if isinstance(goals, RandomSolutions):
            there = goals.first(self._rng, here[0], self._clock, ROUNDS_WITHOUT_GOAL, PlanningStatus.NO_GOAL)
        else:
            there = usable(self._leaf, goals, "goal")
        if isinstance(there, Refused):
            return self._refused(there)
        path = self._straight(here, there)
        if path is not None:
            return self._result(PlanningStatus.FOUND, path)
        self._trees = SearchTree(self._leaf, here), SearchTree(self._leaf, there)
        status = self._grow(goals if isinstance(goals, RandomSolutions) else None)
        return self._result(status, self._found)

    def _straight(self, starts: Matrix, goals: Matrix) -> Path | None:
        """The straight way between the two ends that are nearest to each other, if it is free."""
        chart = self._leaf.chart
        rows, far = chart.nearest(chart.coordinates(starts), chart.coordinates(goals), np.zeros(len(starts), np.bool_))
        j = int(far.argmin())
        return self._edges.laid(np.array([starts[rows[j]], goals[j]])).path

    def _grow(self, goals: RandomSolutions | None) -> PlanningStatus:
        """Grow both trees until they meet on a way that is free, or a limit is reached."""
        here, there = start, goal = self._trees
        count = 0
        while True:
            count += 1
            self._leaf.counts.rounds += 1
            if goals is not None and count % ROUNDS_BETWEEN_GOALS == 0:
                found = goals.more(self._rng, start.q[0])
                goal.add(found, np.full(len(found), -1))
            self._round(here, there)
            if self._found is not None:
                return PlanningStatus.FOUND
            if here.still >= TARGETS_WITHOUT_NEWS:
                self._reason = self._in_the_way(here)
                return PlanningStatus.STUCK if self._would_meet() else PlanningStatus.BRANCHES
            full = start.count + goal.count >= self._nodes
            if full or self._clock.is_over:
                self._reason = self._gap()
                return PlanningStatus.NODES if full else PlanningStatus.TIME
            here, there = there, here

    def _in_the_way(self, tree: SearchTree) -> str:
        """What stops a tree, in words: the pairs that collide a step further."""
        leaf, what = self._leaf, "start" if tree is self._trees[0] else "goal"
        targets = leaf.random(self._rng, tree.q[0], TARGETS_AT_ONCE)
        at = tree.q[tree.nearest(targets)]
        q, on = leaf.projected(
            leaf.space.interpolate(at, targets, 1.0 / np.maximum(leaf.chart.distances(at, targets), 1.0))
        )
        words = f"the tree from the {what} has {counted(tree.count, 'node')}"
        if leaf.collisions is None or not on.any():
            return f"{words}; {int((~on).sum())} of {len(on)} steps further are not projected within the bounds"
        met = Counter((c.a, c.b) for row in q[on] for c in leaf.collisions.collisions(row))
        pairs = ", ".join(f"{a} with {b} in {count}" for (a, b), count in met.most_common(3))
        return f"{words}; of {int(on.sum())} steps further collide: {pairs or 'none'}"

    def _gap(self) -> str:
        """The coordinate whose ranges in the two trees are farthest apart, in words; empty where all overlap."""
        start, goal = (tree.q for tree in self._trees)
        if min(len(start), len(goal)) < NODES_OF_A_RANGE:
            return ""
        (a0, a1), (b0, b1) = (np.quantile(q, (OUTSIDE_A_RANGE, 1.0 - OUTSIDE_A_RANGE), axis=0) for q in (start, goal))
        i = int(np.argmax(np.maximum(a0, b0) - np.minimum(a1, b1)))
        if max(a0[i], b0[i]) <= min(a1[i], b1[i]):
            return ""
        name = self._leaf.problem.bounds.name_of(i)
        return (
            f"the trees stay apart: of most nodes '{name}' is {a0[i]:.3g} to {a1[i]:.3g} "
            f"in the tree from the start, {b0[i]:.3g} to {b1[i]:.3g} in that from the goal; these may be two branches"
        )

    def _round(self, here: SearchTree, there: SearchTree) -> None:
        """Targets for one tree, and for the other the nodes that came nearest."""
        count = min(FIRST_TARGETS + (here.count + there.count) // NODES_A_TARGET, TARGETS_AT_ONCE)
        drawn, _ = self._leaf.projected(self._leaf.random(self._rng, self._trees[0].q[0], count))
        grown = here.grow(drawn)
        nodes = np.unique(grown.nodes)
        answer = there.grow(here.q[nodes])
        for i in np.flatnonzero(answer.reached).tolist():
            a, b = int(nodes[i]), int(answer.nodes[i])
            if not here.is_cut(a) and not there.is_cut(b):
                self._join(here, a, there, b)
            if self._found is not None:
                break

    def _join(self, here: SearchTree, a: int, there: SearchTree, b: int) -> None:
        """The path along two branches that meet; edges that fail are cut off."""
        (start, i), (goal, j) = ((here, a), (there, b)) if here is self._trees[0] else ((there, b), (here, a))
        way, back = start.way(i), goal.way(j)[::-1]
        nodes = np.concatenate([start.q[way], goal.q[back[1:]]])
        if len(nodes) < 2:
            return
        laid = self._edges.laid(nodes)
        self._found = laid.path
        for edge in laid.refused.tolist():
            self._leaf.counts.refused += 1
            if edge < len(way) - 1:
                start.cut(int(way[edge + 1]))
            else:
                goal.cut(int(back[edge - len(way) + 1]))

    def _would_meet(self) -> bool:
        """Whether the trees would meet if nothing collided."""
        if self._leaf.collisions is None:
            return False
        trial = LeafSearch(self._leaf.without_collisions(), np.random.default_rng(TRIAL_SEED), self._nodes, self._clock)
        trial._trees = here, there = tuple(SearchTree(trial._leaf, tree.q[tree.parents < 0]) for tree in self._trees)
        while here.count + there.count < NODES_OF_TRIAL and trial._found is None and not self._clock.is_over:
            if here.still >= TARGETS_WITHOUT_NEWS:
                break
            trial._round(here, there)
            here, there = there, here
        self._meets = trial._found is not None
        return self._meets

    def _refused(self, refused: Refused) -> Connection:
        result = self._result(refused.status, None)
        return replace(result, reason=refused.words, collisions=refused.collisions, refused=refused.q)

    def _result(self, status: PlanningStatus, path: Path | None) -> Connection:
        trees, shown = self._trees, None
        effort = self._leaf.counts.effort(sum(tree.count for tree in trees), self._clock.spent)
        if trees:
            start, goal = trees
            shown = Branchings(start.q.copy(), start.parents.copy(), goal.q.copy(), goal.parents.copy())
        reason = self._reason if path is None else left_unasked(self._leaf.collisions)
        return Connection(
            path, status, self._leaf.problem, effort, reason, meets_without_collisions=self._meets, trees=shown
        )

"""From a start to a goal on one leaf: two trees, each grown towards many targets at once."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, BoolVector, Indices, Matrix, Vector

from ..collisions.model import Collision, CollisionModel
from ..errors import FailedError
from ..paths.path import Path
from ..problem.problem import Problem
from ..solvers import Options, Projector
from ..solvers.result import Result
from ..words import counted
from .edges import Edges
from .ends import Goal, Goals, Refused, check_space, goals_of, in_words, rows_of, usable
from .leaf import LeafOfProblem
from .limits import Clock, Limits
from .status import PlanningStatus
from .trees import Tree

TARGETS_AT_ONCE = 64
"""Most targets that a tree grows towards together: few at first, as most searches end soon. Random numbers are drawn by
rounds, so these three are part of what a seed means."""
FIRST_TARGETS = 4
"""Targets of a round beside those for nodes."""
NODES_A_TARGET = 16
"""Nodes of both trees for which there is a target more."""
ROUNDS_WITHOUT_GROWTH = 20
"""Rounds without any new node after which the trees have stopped growing."""
ROUNDS_BEFORE_TRIAL = 60
"""Rounds after which it is tried whether the trees would meet if nothing collided."""
ROUNDS_OF_TRIAL = 100
"""Rounds of that trial, which ends as soon as they meet."""
TRIAL_SEED = 0
"""Of that trial, which has random numbers of its own: the search does not depend on it."""
COVERED = 0.98
"""Part of the targets that both trees together reach from which on they cover what they lie on."""
LAST_ROUNDS = 10
"""Rounds of each tree that this is counted over."""
ROUNDS_BETWEEN_GOALS = 10
"""Rounds after which more goals are looked for, where they are not given."""
ROUNDS_WITHOUT_GOAL = 200
"""Rounds of looking for a goal in vain after which there is none."""


class Effort(NamedTuple):
    """What a search took.

    Attributes:
        nodes: in all trees.
        rounds: of growth.
        projections, checks: onto the constraints, for collisions.
        refused: edges between nodes that were taken back when looked at closely.
        seconds: wall time [s].
    """

    nodes: int
    rounds: int
    projections: int
    checks: int
    refused: int
    seconds: float


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
class Connection(Result):
    """Result of a search on one leaf.

    It is neither true nor false (`if connection:` raises): `success` says whether there is a path.

    Attributes:
        path: from a start to a goal; None if none was found.
        status: why the search ended.
        problem: the constraints that are held along the path.
        effort: what it took.
        reason: what is wrong with an end, in words; else empty.
        collisions: pairs that collide at an end.
        meets_without_collisions: whether the trees meet where nothing collides; None where this was not tried.
        trees: of the search; None where the straight way was free, or an end refused.
    """

    path: Path | None
    status: PlanningStatus
    problem: Problem
    effort: Effort
    reason: str = ""
    collisions: tuple[Collision, ...] = ()
    meets_without_collisions: bool | None = None
    trees: Branchings | None = None

    @property
    def _given(self) -> Path:
        """What `or_raise` gives."""
        if self.path is None:
            raise FailedError(self)
        return self.path

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
        if self.path is not None:
            lines += [f"  {self.path}", *(f"  held: {held}" for held in self.path.held())]
        if self.meets_without_collisions is not None:
            met = "meet" if self.meets_without_collisions else "do not meet"
            lines.append(f"  where nothing collides, the trees {met}")
        lines.append(f"  {counted(e.nodes, 'node')} in {counted(e.rounds, 'round')}, {e.seconds:.3g} s")
        lines.append(
            f"  {counted(e.projections, 'projection')}, {counted(e.checks, 'check')} for collisions, "
            f"{counted(e.refused, 'edge')} taken back"
        )
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.status} ({self.reason})" if self.reason else str(self.status)

    __repr__ = __str__


def connect(
    problem: Problem | Projector,
    start: ArrayLike,
    goal: Goal,
    rhs: ArrayLike | None = None,
    *,
    rng: np.random.Generator,
    collisions: CollisionModel | None = None,
    limits: Limits = Limits(),
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
        limits: when to give up.

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
    expect(problem, (Problem, Projector), "problem of a connection", "a Problem, or a Projector of one")
    expect(rng, np.random.Generator, "rng of a connection", "a Generator, as numpy.random.default_rng(0)")
    expect(limits, Limits, "limits of a connection", "Limits")
    expect(collisions, (CollisionModel, type(None)), "collisions of a connection", "a CollisionModel, or None")
    clock = Clock(limits.seconds)
    projector = Projector(problem, Options.local(threshold=5e-5)) if isinstance(problem, Problem) else problem
    projector.options.without_clock("of a path")
    check_space(projector.problem, collisions)
    leaf = LeafOfProblem(projector, projector.problem.check_rhs(rhs), collisions)
    search = _Search(leaf, rng, limits, clock)
    return search.run(rows_of(projector.problem, start, "start"), goals_of(leaf, goal))


@final
class Coverage:
    """Which part of random targets on the leaf each tree has reached, of late."""

    def __init__(self) -> None:
        self._parts: tuple[list[float], list[float]] = ([], [])

    def see(self, is_start: bool, reached: BoolVector) -> None:
        """The targets of one round."""
        self._parts[is_start].append(float(reached.mean()) if reached.size else 0.0)

    @property
    def is_whole(self) -> bool:
        """Whether both trees together reach all there is."""
        return sum(float(np.mean(parts[-LAST_ROUNDS:])) for parts in self._parts if parts) >= COVERED


@final
class _Search:
    """One search.

    Args:
        leaf: where.
        rng: generator.
        limits: when to give up.
        clock: of the search.
    """

    def __init__(self, leaf: LeafOfProblem, rng: np.random.Generator, limits: Limits, clock: Clock) -> None:
        self._leaf, self._rng, self._limits, self._clock = leaf, rng, limits, clock
        self._edges, self._trees = Edges(leaf), tuple[Tree, ...]()
        self._meets: bool | None = None
        self._found: Path | None = None

    def run(self, starts: Matrix, goals: Matrix | Goals) -> Connection:
        """The whole search."""
        here = usable(self._leaf, starts, "start")
        if isinstance(here, Refused):
            return self._refused(here)
        if isinstance(goals, Goals):
            there = self._first_goals(goals, here[0])
        else:
            there = usable(self._leaf, goals, "goal")
        if isinstance(there, Refused):
            return self._refused(there)
        path = self._straight(here, there)
        if path is not None:
            return self._result(PlanningStatus.FOUND, path)
        self._trees = Tree(self._leaf, here), Tree(self._leaf, there)
        status = self._grow(goals if isinstance(goals, Goals) else None)
        return self._result(status, self._found)

    def _first_goals(self, goals: Goals, like: Vector) -> Matrix | Refused:
        for _ in range(ROUNDS_WITHOUT_GOAL):
            found = goals.more(self._rng, like)
            if len(found):
                return found
            if self._clock.is_over:
                break
        words = f"{counted(goals.tried, 'projection')}; {in_words(goals.collisions) or goals.nearest}"
        return Refused(PlanningStatus.NO_GOAL, words, goals.collisions)

    def _straight(self, starts: Matrix, goals: Matrix) -> Path | None:
        """The straight way between the two ends that are nearest to each other, if it is free."""
        chart = self._leaf.chart
        rows, far = chart.nearest(chart.coordinates(starts), chart.coordinates(goals), np.zeros(len(starts), np.bool_))
        j = int(far.argmin())
        return self._edges.laid(np.array([starts[rows[j]], goals[j]])).path

    def _grow(self, goals: Goals | None) -> PlanningStatus:
        """Grow both trees until they meet on a way that is free, or a limit is reached."""
        here, there = start, goal = self._trees
        still, watch = 0, Coverage()
        for count in range(1, sys.maxsize):
            self._leaf.counts.rounds += 1
            if goals is not None and count % ROUNDS_BETWEEN_GOALS == 0:
                found = goals.more(self._rng, start.q[0])
                goal.add(found, np.full(len(found), -1))
            more = self._round(here, there, watch)
            if self._found is not None:
                return PlanningStatus.FOUND
            still = 0 if more else still + 1
            if still == ROUNDS_WITHOUT_GROWTH:
                return PlanningStatus.STUCK
            if start.count + goal.count >= self._limits.nodes:
                return PlanningStatus.NODES
            if self._clock.is_over:
                return PlanningStatus.TIME
            if count == ROUNDS_BEFORE_TRIAL and self._are_apart(watch):
                return PlanningStatus.BRANCHES
            here, there = there, here
        raise AssertionError

    def _round(self, here: Tree, there: Tree, watch: Coverage) -> int:
        """Targets for one tree, and for the other the nodes that came nearest; the number of new nodes."""
        count = min(FIRST_TARGETS + (here.count + there.count) // NODES_A_TARGET, TARGETS_AT_ONCE)
        drawn, on = self._leaf.projected(self._leaf.random(self._rng, self._trees[0].q[0], count))
        grown = here.grow(drawn)
        watch.see(here is self._trees[0], grown.reached[on])
        nodes = np.unique(grown.nodes)
        answer = there.grow(here.q[nodes])
        for i in np.flatnonzero(answer.reached).tolist():
            a, b = int(nodes[i]), int(answer.nodes[i])
            if not here.is_cut(a) and not there.is_cut(b):
                self._join(here, a, there, b)
            if self._found is not None:
                break
        return grown.more + answer.more

    def _join(self, here: Tree, a: int, there: Tree, b: int) -> None:
        """The path along two branches that meet; edges that fail are cut off."""
        (start, i), (goal, j) = ((here, a), (there, b)) if here is self._trees[0] else ((there, b), (here, a))
        way, back = start.branch(i), goal.branch(j)[::-1]
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

    def _are_apart(self, watch: Coverage) -> bool:
        """Whether the trees, each of which covers its part, would not meet either if nothing collided."""
        if self._leaf.collisions is None:
            self._meets = False
            return watch.is_whole
        trial = _Search(self._leaf.without_collisions(), np.random.default_rng(TRIAL_SEED), self._limits, self._clock)
        trial._trees = tuple(Tree(trial._leaf, tree.q[tree.parents < 0]) for tree in self._trees)
        seen = Coverage()
        for count in range(ROUNDS_OF_TRIAL):
            trial._round(*trial._trees[:: 1 if count % 2 else -1], seen)
            if trial._found is not None or self._clock.is_over:
                break
        self._meets = trial._found is not None
        return not self._meets and seen.is_whole

    def _refused(self, refused: Refused) -> Connection:
        result = self._result(refused.status, None)
        return replace(result, reason=refused.words, collisions=refused.collisions)

    def _result(self, status: PlanningStatus, path: Path | None) -> Connection:
        counts, trees = self._leaf.counts, self._trees
        nodes = sum(tree.count for tree in trees)
        effort = Effort(nodes, counts.rounds, counts.projections, counts.checks, counts.refused, self._clock.spent)
        shown = Branchings(*(array.copy() for tree in trees for array in (tree.q, tree.parents))) if trees else None
        return Connection(path, status, self._leaf.problem, effort, meets_without_collisions=self._meets, trees=shown)

"""Configurations at the end of transitions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from liegroups.arguments import is_float64
from liegroups.arrays import ArrayLike, Vector
from liegroups.frozen import read_only_copy

from ..errors import GraphError
from ..robot import Robot
from ..solvers import Projection, Status
from ..solvers.result import Result
from ..words import counted
from .memory import GraphMemory
from .plans import TargetStep, TransitionPlan, TransitionPlans, Work
from .problems import GraphProblems
from .states import Transition

DIAGNOSED = "`target.projections[-1].diagnose()`"
"""The diagnosis of a target that was not found: that of its last projection."""


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class TargetConfiguration(Result):
    """A configuration in the target state of a transition, on the leaf of its start; or how far it got.

    It is neither true nor false (`if target:` raises): `success` says whether the target state was reached.

    Attributes:
        transition: the transition.
        q_start: where it starts.
        projections: one for each inner transition that was tried, in order; one for a transition without any. A short
            one that is satisfied already has the projection of the one before. If no leaf was found that may be
            chosen: the last projection onto the condition of the level-set transition, alone.
        attempts: number of guesses.
        on_leaf: whether the end is reached, on the chosen leaf; true for a transition that chooses none.
        off: why what was found is no target, in words: of a transition that was made by hand, whose paths cannot start
            there, or whose constraints hold where its states do not; else empty.
    """

    transition: Transition
    q_start: Vector
    projections: tuple[Projection, ...]
    attempts: int
    on_leaf: bool
    off: str = ""

    def __init__(
        self,
        transition: Transition,
        q_start: Vector,
        projections: tuple[Projection, ...],
        attempts: int,
        on_leaf: bool = True,
        off: str = "",
    ) -> None:
        fields = vars(self)  # half the time of a frozen dataclass's own `__init__`
        fields["transition"], fields["q_start"], fields["projections"] = transition, q_start, projections
        fields["attempts"], fields["on_leaf"] = attempts, on_leaf
        if off:
            fields["off"] = off

    @property
    def q(self) -> Vector:
        """The last configuration (nq,)."""
        return self.projections[-1].q

    @property
    def status(self) -> Status:
        """Status of the last projection."""
        return self.projections[-1].status

    @property
    def success(self) -> bool:
        """Whether the target state was reached, on the leaf of the start and on the chosen one."""
        return self._came_to_the_end and self.on_leaf and not self.off

    @property
    def _came_to_the_end(self) -> bool:
        return len(self.projections) == max(1, len(self.transition.inner)) and self.projections[-1].success

    @property
    def waypoints(self) -> tuple[Vector, ...]:
        """The configurations that were reached after each inner transition, the target last."""
        return tuple(p.q for p in self.projections if p.success)

    @property
    def failed_at(self) -> Transition | None:
        """The transition, or inner transition, whose target was not found; None after success."""
        if self.success:
            return None
        inner = self.transition.inner
        return inner[len(self.projections) - 1] if inner else self.transition

    def describe(self) -> str:
        """The result in words: how far it got, each inner transition, errors by constraint at the last."""
        lines = [str(self)]
        if self.transition.inner:
            for part, projection in zip(self.transition.inner, self.projections, strict=False):
                lines.append(
                    f"  '{part}' to '{part.target}': {projection.status.name}, residual {projection.residual:.3g}"
                )
            lines += [f"  '{part}': not tried" for part in self.transition.inner[len(self.projections) :]]
        lines.append(f"  at the last configuration, on '{self.failed_at or self.transition}':")
        return "\n".join([*lines, *(f"  {e}" for e in self.projections[-1].describe().splitlines()[1:])])

    def __str__(self) -> str:
        failed = self.failed_at
        where = "" if failed is None else f" (at '{failed}')"
        guesses = counted(self.attempts, "guess")
        off = ", but not on the leaf that was chosen" if self._came_to_the_end and not self.on_leaf else ""
        off += f", but {self.off}" if self.off else ""
        last = str(self.projections[-1]).replace("`diagnose()`", DIAGNOSED)
        return f"target of '{self.transition}'{where} after {guesses}{off}: {last}"

    __repr__ = __str__


@final
class Search:
    """A target that is sought.

    Args:
        start: where it starts (nq,), in the source state.
        guess: first guess (nq,).
        leaf: configuration on the leaf where a level-set transition ends, or None.
        first: the first step of the first attempt, where it has been taken.

    Attributes:
        start, leaf: as given.
        guess: the guess of this attempt (nq,).
        here, done: how far this attempt has got (nq,), by which projections.
        goes_on: whether none of them has failed.
        best: what has got furthest in all attempts.
    """

    __slots__ = ("_first", "_rng", "best", "done", "goes_on", "guess", "here", "leaf", "start")
    best: TargetConfiguration
    here: Vector
    done: list[Projection]
    goes_on: bool

    def __init__(self, start: Vector, guess: Vector, leaf: Vector | None, first: Projection | None = None) -> None:
        self.start, self.guess, self.leaf, self._first = start, guess, leaf, first
        self._rng: np.random.Generator | None = None

    def begin(self) -> None:
        """At the start again, or where the first step has led."""
        self.done, self.here, self.goes_on = [], self.start, True
        if self._first is not None:
            self.advance(self._first)
            self._first = None

    def next(self, step: TargetStep, memory: GraphMemory) -> Work:
        """The projection that is to be done for a step."""
        return step.work(self.here, self.guess, self.leaf, memory, self.done[-1] if self.done else None)

    def advance(self, projection: Projection) -> None:
        """A step further."""
        self.done.append(projection)
        self.here, self.goes_on = projection.q, projection.success

    def succeeds(self, plan: TransitionPlan, attempts: int, memory: GraphMemory) -> bool:
        """Whether the last attempt has found the target. Keeps what has got furthest; where two did, the first."""
        at_end = self.goes_on and len(self.done) == len(plan.steps)
        on_leaf = self.leaf is None or (at_end and plan.is_on_leaf(self.here, self.leaf, memory))
        succeeds, off = on_leaf and at_end, ""
        if succeeds and plan.doubts is not None:
            off = plan.doubts.found_in(self.start, [each.q for each in self.done], memory)
            succeeds = not off
        if attempts == 1 or succeeds or len(self.done) > len(self.best.projections):
            self.best = TargetConfiguration(plan.transition, self.start, tuple(self.done), attempts, on_leaf, off)
        return succeeds

    def is_hopeless(self, problems: GraphProblems, memory: GraphMemory) -> bool:
        """Whether the first step was not found in the first attempt, and is out of reach for all others."""
        return len(self.done) == 1 and not self.goes_on and problems.is_out_of_reach(self.done[0], memory)

    def guess_again(self, robot: Robot) -> None:
        """Another guess, a function of the start and the first guess alone."""
        if self._rng is None:
            self._rng = np.random.default_rng([zlib.crc32(q.tobytes()) for q in (self.start, self.guess)])
        self.guess = robot.random(self._rng)


Attempt = Callable[[Sequence[TargetStep], Sequence[Search], GraphMemory], None]
"""An attempt at several targets: the projections of their steps, of each up to the first that fails."""


def one_by_one(steps: Sequence[TargetStep], searches: Sequence[Search], memory: GraphMemory) -> None:
    """One target after the other, in the workspace of a memory."""
    for search in searches:
        search.begin()
        for step in steps[len(search.done) :]:
            if not search.goes_on:
                break
            if step.repeats:
                search.advance(search.done[-1])
                continue
            projector, q, rhs = search.next(step, memory)
            search.advance(projector.project_valid(q.copy(), rhs, memory.workspace))


def together(executor: Executor | None) -> Attempt:
    """All targets step by step: projections of one problem are a batch, on the workers of an executor."""

    def attempt(steps: Sequence[TargetStep], searches: Sequence[Search], memory: GraphMemory) -> None:
        for search in searches:
            search.begin()
        for step in steps:
            if step.repeats:
                for search in searches:
                    search.advance(search.done[-1])
                continue
            works = [search.next(step, memory) for search in searches]
            for search, projection in zip(searches, _solved(works, executor), strict=True):
                search.advance(projection)
            searches = [search for search in searches if search.goes_on]

    return attempt


def _solved(works: Sequence[Work], executor: Executor | None) -> Sequence[Projection]:
    """Projections, those of one problem as a batch."""
    rows: dict[int, list[int]] = {}
    for i, (projector, _, _) in enumerate(works):
        rows.setdefault(id(projector), []).append(i)
    found: dict[int, Projection] = {}
    for members in rows.values():
        projector = works[members[0]][0]
        Q, sides = np.array([works[i][1] for i in members]), [works[i][2] for i in members]
        found |= dict(zip(members, projector.project_batch(Q, sides, executor), strict=True))
    return [found[i] for i in range(len(works))]


def from_start(
    plans: TransitionPlans,
    transition: Transition,
    q_start: ArrayLike,
    q: ArrayLike,
    attempts: int,
    leaf: ArrayLike | None,
) -> TargetConfiguration:
    """The target of one start: start and guess are checked, and the first step is taken, in one call where that works.

    Arguments and errors are those of `ConstraintGraph.target`, and of `from_starts`.
    """
    plan, problems = plans.of(transition), plans.problems
    if leaf is None and plan.at_once is not None and is_float64(q_start) and is_float64(q):
        memory, (projector, program) = problems.memories.take(), plan.at_once
        first = projector.project_from_leaf(program, q_start, q.copy(), memory.workspace)
        if first is not None:
            if first.success and len(plan.steps) == 1 and plan.doubts is None:  # as below, in 1 us less: most loops
                problems.memories.give(memory)
                return TargetConfiguration(transition, read_only_copy(q_start), (first,), 1)
            search = Search(read_only_copy(q_start), q, None, first)
            reach(plan, [search], attempts, problems, memory, one_by_one)
            problems.memories.give(memory)
            return search.best
    check = problems.robot.space.check
    return from_starts(plans, transition, [(check(q_start, "q_start"), check(q, "q"))], attempts, leaf)[0]


def from_starts(
    plans: TransitionPlans,
    transition: Transition,
    pairs: Sequence[tuple[Vector, Vector]],
    attempts: int,
    leaf: ArrayLike | None,
    attempt: Attempt = one_by_one,
) -> list[TargetConfiguration]:
    """Targets of starts that are looked at first, all in the memory of one call.

    Args:
        plans: of the graph.
        transition: with waypoints or without.
        pairs: starts and guesses, checked.
        attempts: number of guesses at most.
        leaf: configuration (nq,) on the leaf where a level-set transition is to end, or None: one is drawn for each.
        attempt: how an attempt is made; by default one target after the other.

    Raises:
        GraphError: a start that is not in the source state; a leaf for a transition that chooses none, or one that may
            not be chosen.
    """
    problems, plan = plans.problems, plans.of(transition)
    memory = problems.memories.take()
    searches: list[Search] = []
    for start, guess in pairs:
        off = plans.selector.misses(transition.source, start, memory.workspace)
        if off:
            raise GraphError(f"the start of '{transition}' is not in the state '{transition.source}': {off}")
        searches.append(Search(read_only_copy(start), guess, None))
    reach(plan, _on_leaves(problems, plan, searches, attempts, leaf), attempts, problems, memory, attempt)
    problems.memories.give(memory)
    return [search.best for search in searches]


def reach(
    plan: TransitionPlan,
    searches: Sequence[Search],
    attempts: int,
    problems: GraphProblems,
    memory: GraphMemory,
    attempt: Attempt,
) -> None:
    """Go through the waypoints of a transition; where one is not found, start again from another guess.

    Short inner transitions start where the last one ended, without restarts: what is found may be joined by a short
    motion. The guesses are random. There is no other one where the first step leads out of reach of its start.

    Args:
        plan: of the transition.
        searches: the targets; each has its best in the end, which says after a failure how many guesses were tried.
        attempts: number of guesses at most.
        problems: of the graph.
        memory: memory of the call.
        attempt: how an attempt is made.
    """
    left, short = searches, plan.transition.short
    for count in range(1, attempts + 1):
        attempt(plan.steps, left, memory)
        left = [search for search in left if not search.succeeds(plan, count, memory)]
        if short or not left:
            return
        if count == 1:
            left = [search for search in left if not search.is_hopeless(problems, memory)]
        for search in left:
            search.guess_again(problems.robot)
    for search in left:
        search.best = replace(search.best, attempts=attempts)


def _on_leaves(
    problems: GraphProblems, plan: TransitionPlan, searches: Sequence[Search], attempts: int, leaf: ArrayLike | None
) -> Sequence[Search]:
    """The searches that have a leaf on which to end, if they need one. Each of the others has failed.

    Args:
        problems: problems of the graph.
        plan: of the transition.
        searches: the targets; for a level-set transition each is given its leaf.
        attempts: most guesses for a leaf that is drawn: a guess is put where leaves may be chosen.
        leaf: configuration (nq,) on the leaf of all of them.

    Raises:
        GraphError: a leaf for a transition that chooses none, or one that does not satisfy the condition.
    """
    if plan.chooses is None:
        if leaf is not None:
            raise GraphError(f"transition '{plan.transition}' chooses no leaf: only level-set transitions take one")
        return searches
    if leaf is not None:
        given = problems.robot.check(leaf, "leaf")
        off = problems.misses(plan.chooses, given)
        if off:
            raise GraphError(f"the leaf of '{plan.transition}' must satisfy its condition: {off}")
        for search in searches:
            search.leaf = given
        return searches
    choice = problems.condition(plan.chooses)
    for search in searches:
        for count in range(1, attempts + 1):
            drawn = choice.project(search.guess)
            if drawn.success:
                search.leaf = drawn.q
                break
            search.best = TargetConfiguration(plan.transition, search.start, (drawn,), count, False)
            search.guess_again(problems.robot)
    return [search for search in searches if search.leaf is not None]

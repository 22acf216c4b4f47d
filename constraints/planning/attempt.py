"""One sequence of transitions tried: configurations where its motions meet, then the motions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import ArrayLike, Vector

from ..collisions.model import CollisionModel
from ..errors import GraphError
from ..manipulation.graph import ConstraintGraph
from ..manipulation.states import State, Transition
from ..manipulation.targets import TargetConfiguration
from ..paths.path import Path
from ..problem.problem import Problem
from .connection import Connection, LeafSearch
from .edges import EdgeJudge
from .ends import in_words
from .leaf import Counts, LeafOfProblem
from .limits import Clock, Limits
from .marks import Sites
from .sequences import PlanStep
from .status import PlanningStatus

TARGETS_OF_A_STEP = 10
"""Targets that are drawn for one step, from one start, before the step before is drawn again."""
TARGETS_AT_FIRST = 30
"""Targets that are drawn for a sequence when it is tried first; each failure of it doubles them."""
NODES_AT_FIRST = 1000
"""Nodes of the first search for a motion; each failure of the same motion doubles them."""
NOT_STRAIGHT = "no free straight way"
"""Why a short motion is refused."""
MOTIONS_REFUSED = 3
"""Motions of one sequence that may fail before another one is tried."""

Guess = Callable[[Transition, Vector, np.random.Generator], ArrayLike]
"""From a transition, the configuration where it starts, and a generator: a guess of where it ends."""


class Leg(NamedTuple):
    """A motion on one leaf that is to be found.

    Attributes:
        part: a transition without waypoints.
        q0, q1: its ends (nq,).
        path: where it is straight, free at its samples; else None.
        step: number of the step that it is part of.
    """

    part: Transition
    q0: Vector
    q1: Vector
    path: Path | None
    step: int


class Tried(NamedTuple):
    """How far one sequence was tried.

    Attributes:
        path: along all of it; None where a step failed.
        on: for each piece of the path the name of the transition that it is a part of.
        failed: number of the step that failed; 0 where none did.
    """

    path: Path | None
    on: tuple[str, ...]
    failed: int


class Refusals:
    """What was refused: how often, where, and a case of each.

    Attributes:
        counts: by (transition, reason).
        cases: by (transition, reason) the last result that says more.
        reached: states that some target reached, waypoint states too.
        missed: how often none was found, by the state that was not reached.
        done: steps of which a target was found.
    """

    def __init__(self) -> None:
        self.reached, self.missed, self.done = set[State](), Counter[State](), set[PlanStep]()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.cases: dict[tuple[str, str], TargetConfiguration | Connection] = {}

    def add(self, part: Transition, reason: str, case: TargetConfiguration | Connection | None = None) -> None:
        """One more."""
        self.counts[part.name, reason] += 1
        if case is not None:
            self.cases[part.name, reason] = case

    def of_one_motion(self) -> tuple[PlanningStatus, str]:
        """Why the start and a goal that needs no transition were not joined."""
        case = next((case for case in self.cases.values() if isinstance(case, Connection)), None)
        if case is None:
            return PlanningStatus.STUCK, ""
        off = case.status is PlanningStatus.GOAL_OFF
        more = (
            "; transitions that change it are sought if it is the complement of a foliation of the graph" if off else ""
        )
        return case.status, case.reason + more

    def of_target(self, target: TargetConfiguration) -> bool:
        """Whether a target was not found; which states it reached is kept."""
        parts = target.transition.inner or (target.transition,)
        self.reached |= {part.target for part, _ in zip(parts, target.waypoints, strict=False)}
        failed = target.failed_at
        if failed is not None:
            self.missed[failed.target] += 1
            self.add(failed, "no target found", target)
        return failed is not None


@final
class Attempts:
    """Tries sequences of one task, and keeps what is the same for all: a clock of all, limits of each search.

    Attributes:
        refusals, counts, targets, nodes: what was refused, and what it took, so far.
    """

    def __init__(self, places: Sites, rng: np.random.Generator, guess: Guess, limits: Limits, clock: Clock) -> None:
        self._graph, self._places, self._goal = places.graph, places, places.q_goal
        self._rng, self._guess, self._limits, self._clock = rng, guess, limits, clock
        self.refusals, self.counts, self.targets, self.nodes = Refusals(), Counts(), 0, 0
        self._leaves: dict[tuple[Problem, CollisionModel | None], LeafOfProblem] = {}
        self._failures: defaultdict[str, int] = defaultdict(int)
        self._tried: Counter[tuple[str, ...]] = Counter()
        self._budget = TARGETS_AT_FIRST

    def run(self, steps: Sequence[PlanStep]) -> Tried:
        """A path along a sequence from the start; or which step failed."""
        names = tuple(step.action.transition.name for step in steps)
        self._budget = TARGETS_AT_FIRST << min(self._tried[names], 8)
        self._tried[names] += 1
        done, failed, refused, first = list[tuple[Leg, Path]](), 0, 0, 0
        while not self._clock.is_over:
            chain, at = self._chain(done[-1][0].q1 if done else self._places.q_start, steps, first)
            if chain is None:
                return Tried(None, (), at)
            for motion in chain:
                alone = not steps
                path = self._connected(motion, alone) if motion.path is None else self._looked_at(motion, motion.path)
                if path is None:
                    failed = motion.step
                    break
                done.append((motion, path))
            else:
                on = tuple(leg.part.name for leg, path in done for _ in path.pieces)
                return Tried(Path(tuple(piece for _, path in done for piece in path.pieces)), on, 0)
            refused += 1
            if refused == MOTIONS_REFUSED or failed == len(steps):
                return Tried(None, (), min(failed, max(len(steps) - 1, 0)))
            done = [each for each in done if each[0].step < failed]
            first = failed
        return Tried(None, (), failed)

    def _chain(self, q: Vector, steps: Sequence[PlanStep], first: int) -> tuple[list[Leg] | None, int]:
        """Motions that meet, from a step on; depth first. Without success the deepest step that was not done."""
        ends, motions, tries = [q], list[list[Leg]](), [0] * (len(steps) + 1)
        deepest = count = first
        while (i := first + len(motions)) < len(steps):
            deepest = max(deepest, i)
            if self._clock.is_over or count - first >= self._budget:
                return None, deepest
            if tries[i] == TARGETS_OF_A_STEP:
                if not motions:
                    return None, deepest
                tries[i] = 0
                motions.pop()
                ends.pop()
                continue
            tries[i] += 1
            count += 1
            found = self._step(ends[-1], steps[i], i)
            if found is not None:
                motions.append(found)
                ends.append(found[-1].q1)
        chain = [motion for each in motions for motion in each]
        last = self._last(ends[-1], steps)
        return [*chain, *last], deepest

    def _last(self, q: Vector, steps: Sequence[PlanStep]) -> list[Leg]:
        """The motion to the goal, on the leaf that is reached; of no length where nothing is left to do."""
        goal = q if self._goal is None else self._goal
        if steps and np.array_equal(q, goal):
            return []
        state = steps[-1].action.to.state if steps else self._places.start.state
        loop = loop_of(self._graph, state)
        if loop is None:
            raise GraphError(f"no transition leads from '{state}' to itself, where the plan is to meet its goal")
        return [Leg(loop, q, goal, None, len(steps))]

    def _step(self, q: Vector, step: PlanStep, number: int) -> list[Leg] | None:
        """The motions of one transition to a target that is drawn, the short ones looked at; None where it fails."""
        transition, leaf = step.action.transition, self._places.leaf_for(step.action)
        if transition.is_loop and self._goal is not None and self._places.is_goal(step.action.to):
            return [Leg(transition, q, self._goal, None, number)]
        guess = self._graph.robot.check(self._guess(transition, q, self._rng), "guess of a plan")
        self.targets += 1
        target = self._graph.target(transition, q, guess, leaf=leaf, onto=step.action.onto)
        if self.refusals.of_target(target):
            return None
        self.refusals.done.add(step)
        whole = [self._graph.transition(part.name) for part in target.transition.inner or (transition,)]
        parts = tuple(zip(whole, target.waypoints, strict=True))
        for part, point in parts:
            model = self._places.model_on(part)
            met = () if model is None else model.collisions(point, 1)
            if met:
                self.refusals.add(part, in_words(met))
                return None
        motions = list[Leg]()
        for part, point in parts:
            path = None
            if part.short:
                path = self._edges(part, q).sketched(np.array([q, point])).path
                if path is None:
                    self.refusals.add(part, NOT_STRAIGHT)
                    return None
            motions.append(Leg(part, q, point, path, number))
            q = point
        return motions

    def _looked_at(self, motion: Leg, path: Path) -> Path | None:
        """A straight path of one motion, if it is free between its samples too; most are given up before."""
        if self._edges(motion.part, motion.q0).met(path) is None:
            return path
        self.refusals.add(motion.part, NOT_STRAIGHT)
        return None

    def _connected(self, motion: Leg, alone: bool) -> Path | None:
        """A path of one motion; with all nodes at once if it is alone, and no other sequence will come to it again."""
        name = motion.part.name
        nodes = self._limits.nodes if alone else min(NODES_AT_FIRST << self._failures[name], self._limits.nodes)
        leaf = self._leaf(motion.part, motion.q0)
        found = LeafSearch(leaf, self._rng, nodes, self._clock).run(motion.q0[None], motion.q1[None])
        self.nodes += found.effort.nodes
        if found.path is None:
            self._failures[name] = min(self._failures[name] + 1, 16)
            self.refusals.add(motion.part, found.status.name, found)
        return found.path

    def _leaf(self, part: Transition, q: Vector) -> LeafOfProblem:
        (problem, rhs), model = self._graph.path_problem(part, q), self._places.model_on(part)
        found = self._leaves.get((problem, model))
        if found is None:
            found = self._leaves[problem, model] = LeafOfProblem(self._graph.path_projector(problem), rhs, model)
        return found.on(rhs, self.counts)

    def _edges(self, part: Transition, q: Vector) -> EdgeJudge:
        return EdgeJudge(self._leaf(part, q))


def loop_of(graph: ConstraintGraph, state: State) -> Transition | None:
    """The transition of a state to itself; None where it has none."""
    return next((t for t in graph.transitions_from(state, state) if not t.is_level_set and not t.inner), None)

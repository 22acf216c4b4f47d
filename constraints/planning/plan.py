"""From a start to a goal over a whole constraint graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, final

import numpy as np

from liegroups.arguments import as_callable, as_flag, as_tuple, expect
from liegroups.arrays import ArrayLike, Vector

from ..collisions.model import Collision, CollisionModel
from ..collisions.words import always_in_words
from ..errors import OptionError, SpaceMismatchError
from ..manipulation.graph import ConstraintGraph
from ..manipulation.states import State, Transition
from ..manipulation.targets import TargetConfiguration
from ..paths.path import Path
from ..paths.with_path import WithPath
from ..problem.problem import Problem
from ..ranges import whole_number
from ..robot import Robot
from ..solvers import Projector
from ..words import counted
from .attempt import Attempts, Guess, Tried, loop_of
from .connection import Connection
from .ends import in_words, left_unasked, met_in_words
from .guesses import Guesses
from .leaf import check_space
from .limits import Clock, Limits
from .marks import Sites, moving_pairs
from .refusals import StepProofs, elsewhere, met_at_end, met_before_parting, refuse_off, state_at
from .sequences import Sequences
from .status import PlanningStatus

if TYPE_CHECKING:
    from ..certificates.path_certificate import PathCertificate

SHOWN = 8
"""Reasons of refusals that are told, the most common first; `describe(details=True)` has all."""
REASONS = 3
"""Reasons why no sequence leads to the goal that are told in one line."""
GOALS_TRIED = 20
"""Starts from which a configuration of each state is sought, where the goal is a problem."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Plan(WithPath):
    """Result of a search over a constraint graph.

    It is neither true nor false (`if plan:` raises): `success` says whether there is a path.

    Attributes:
        path: from the start to the goal; None if none was found.
        status: why the search ended.
        transitions: those of the path, in order, or of the last sequence that was tried.
        sequences: number of sequences that were tried.
        targets: number of targets that were drawn.
        refusals: how often each part of a transition was refused, by (its name, the reason).
        cases: by (name, reason) the last search for a target or motion that failed so.
        impossible: why what is struck out cannot be done, in words: objects that collide where start and goal put
            them; what is out of reach for certain; a state that neither targets nor random configurations reach.
        reason: what is wrong with an end, or why no sequence leads to the goal, in words; of a path, that no collisions
            were looked at; else empty.
        collisions: pairs that collide at an end.
        refused: the end (nq,) of which `reason` and `collisions` are; None where no end was refused, or none was found.
        on: for each piece of the path the name of the transition that it is a part of; where that leads through
            waypoint states, of its inner transition.
        nodes, projections, checks: what the search took.
        seconds: wall time [s].
        seed: of the search that succeeded, where several were given.
        robot: whose configurations these are.
        certificate: of the path, where it was asked for.
    """

    path: Path | None
    status: PlanningStatus
    transitions: tuple[str, ...] = ()
    sequences: int = 0
    targets: int = 0
    refusals: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    cases: Mapping[tuple[str, str], TargetConfiguration | Connection] = field(
        default_factory=lambda: dict[tuple[str, str], TargetConfiguration | Connection]()
    )
    impossible: tuple[str, ...] = ()
    reason: str = ""
    collisions: tuple[Collision, ...] = ()
    refused: Vector | None = None
    on: tuple[str, ...] = ()
    nodes: int = 0
    projections: int = 0
    checks: int = 0
    seconds: float = 0.0
    seed: int | None = None
    robot: Robot | None = None
    certificate: PathCertificate | None = None

    def describe(self, details: bool = False) -> str:
        """The result in words: sequences, what refused which transition and how often, a case of each."""
        lines = [str(self), f"  {counted(self.sequences, 'sequence')} tried, {counted(self.targets, 'target')} drawn"]
        if self.transitions:
            lines.append(f"  {'transitions' if self.success else 'the last one'}: {', '.join(self.transitions)}")
        lines += [f"  impossible: {words}" for words in self.impossible]
        lines += self._lines_of_path()
        reasons = self.refusals.most_common(None if details else SHOWN)
        for key, count in reasons:
            part, reason = key
            lines.append(f"  '{part}' refused {count} times: {reason}")
            if key in self.cases and not self.success:
                said = self.cases[key].describe() if details else str(self.cases[key])
                lines += [f"    the last time: {said}"]
        left = len(self.refusals) - len(reasons)
        if left > 0:
            lines.append(f"  and {counted(left, 'other reason')} (describe(details=True))")
        lines.append(
            f"  {counted(self.nodes, 'node')}, {counted(self.projections, 'projection')}, "
            f"{counted(self.checks, 'check')} for collisions, {self.seconds:.3g} s"
        )
        return "\n".join(lines)


def plan(
    graph: ConstraintGraph,
    q_start: ArrayLike,
    goal: ArrayLike | State | str | Problem,
    *,
    rng: np.random.Generator | None = None,
    seeds: Sequence[int] | None = None,
    executor: Executor | None = None,
    collisions: CollisionModel | None = None,
    limits: Limits | None = None,
    guess: Guess | None = None,
    certified: bool = False,
) -> Plan:
    """A path from a start to a goal: the sequence of transitions is found, and the motion of each.

    Sequences are searched, the cheapest first, over states and over which objects are already where the goal wants
    them. Of each, configurations where its motions meet are drawn (`graph.target`; where an object is put on its place
    in the goal, on two leaves at once), then the motions are searched on their leaves (`connect`). What fails costs
    more from then on, so that others come first, and comes back later; what cannot succeed, because start and goal put
    objects into each other, is struck out. Very long sequences are found late.

    Args:
        graph: the graph.
        q_start: start (nq,).
        goal: configuration (nq,); or a state, of which any configuration will do; or a problem, of which one solution
            in some state is sought first: near the start, or else anywhere.
        rng: generator. The same one gives the same bits, unless the clock ends the search.
        seeds: in place of `rng`, seeds of several searches: the lowest one that succeeds counts.
        executor: what runs these, any `concurrent.futures.Executor`; by default one after the other.
        collisions: of robot and objects; pairs that do not move against each other on a motion are left out there, and
            margins of the graph come on top of its own. None for nothing.
        limits: when to give up; of the search, not of proofs.
        guess: of targets; by default joints uniform in their bounds, and objects uniform on the floors that they may
            stand on.
        certified: whether each piece of the path has to be proved (`Path.certify`, with the pairs that move against
            each other on it). Where one is not, the status is NOT_PROVED, `reason` names the piece, its transition and
            what is in the way, and the path is there to be looked at.

    Raises:
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with start or goal.
        GraphError: start or goal is in no state; the nearest is named.
        UnknownNameError: no state has this name.
        OptionError: neither `rng` nor `seeds`, or both.
        WrongObjectError, SpaceMismatchError: an argument of another type, or of another robot.
    """
    expect(graph, ConstraintGraph, "graph of a plan")
    if (rng is None) == (seeds is None):
        raise OptionError("a plan needs either rng=numpy.random.default_rng(0), or seeds=range(8)")
    start, end = graph.robot.check(q_start, "q_start"), _goal(graph, goal)
    task = task_of(graph, np.array(start), end, collisions, limits, guess, "a plan")
    task = replace(task, certified=as_flag(certified, "certified of a plan"))
    if rng is not None:
        expect(rng, np.random.Generator, "rng of a plan", "a Generator, as numpy.random.default_rng(0)")
        return task.planned(rng)
    numbers = [
        whole_number(seed, "seed of a plan", 0) for seed in as_tuple(seeds or (), "seeds of a plan", "whole numbers")
    ]
    if not numbers:
        raise OptionError("seeds of a plan: expected at least one, got none")
    return _first_of(task, sorted(numbers), executor)


def task_of(
    graph: ConstraintGraph,
    start: Vector,
    goal: Vector | State | Problem,
    collisions: CollisionModel | None,
    limits: Limits | None,
    guess: Guess | None,
    who: str,
    along: tuple[Transition, ...] = (),
) -> PlanSearch:
    """A task, the rest of its arguments checked.

    Raises:
        WrongObjectError: an argument of another type.
        SpaceMismatchError: a collision model of another robot.
    """
    limits = Limits() if limits is None else expect(limits, Limits, f"limits of {who}", "Limits")
    if guess is not None:
        as_callable(guess, f"guess of {who}", "a function of transition, configuration and generator")
    check_space(graph.robot.space, collisions, f"of {who}")
    return PlanSearch(graph, start, goal, collisions, limits, guess, along)


def _goal(graph: ConstraintGraph, goal: ArrayLike | State | str | Problem) -> Vector | State | Problem:
    """What is wanted, checked."""
    if isinstance(goal, Problem):
        if goal.space != graph.robot.space:
            raise SpaceMismatchError("goal of a plan", graph.robot.space.name, goal.space.name)
        return goal
    if isinstance(goal, State | str):
        return graph.state(goal)
    return np.array(graph.robot.check(goal, "goal"))


def _first_of(task: PlanSearch, seeds: Sequence[int], executor: Executor | None) -> Plan:
    """The plan of the lowest seed that succeeds; if none does, the first with a path (not proved), or the last."""
    futures = [] if executor is None else [executor.submit(task.seeded, seed) for seed in seeds]
    plans = (future.result() for future in futures) if futures else (task.seeded(seed) for seed in seeds)
    found = next(plans)
    try:
        while not found.success and (other := next(plans, None)) is not None:
            found = other if found.path is None or other.success else found
    finally:
        for future in futures:
            future.cancel()
    return found


@final
@dataclass(frozen=True, eq=False)
class PlanSearch:
    """What is to be planned; along some transitions where they are given."""

    graph: ConstraintGraph
    start: Vector
    goal: Vector | State | Problem
    collisions: CollisionModel | None
    limits: Limits
    guess: Guess | None
    along: tuple[Transition, ...] = ()
    certified: bool = False

    def seeded(self, seed: int) -> Plan:
        """One search, by a seed; of a task that may have come from another process."""
        goal = self.graph.state(self.goal.name) if isinstance(self.goal, State) else self.goal
        return replace(replace(self, goal=goal).planned(np.random.default_rng(seed)), seed=seed)

    def planned(self, rng: np.random.Generator) -> Plan:
        """One search."""
        clock, refused = Clock(self.limits.seconds), self._refusal("start", self.start)
        if refused is not None:
            return refused
        goal = self._solution(self.goal, rng, clock) if isinstance(self.goal, Problem) else self.goal
        if isinstance(goal, np.ndarray):
            refused = self._refusal("goal", goal)
            refused = self._stuck(goal) if refused is None else refused
        if refused is not None:
            return refused
        return goal if isinstance(goal, Plan) else self._proved(self._searched(goal, rng, clock))

    def _proved(self, found: Plan) -> Plan:
        """The same with a certificate of its path, if it has one and that was asked for."""
        if found.path is None or not self.certified:
            return found
        model, models = self.collisions, None
        if model is not None:
            models = [moving_pairs(self.graph, model, self.graph.transition(name)) for name in found.on]
        certificate = found.path.certify(models)
        if certificate.stuck is None:
            return replace(found, certificate=certificate)
        reason = f"'{found.on[certificate.stuck.piece]}', {certificate.told}"
        return replace(found, status=PlanningStatus.NOT_PROVED, certificate=certificate, reason=reason)

    def _searched(self, goal: Vector | State, rng: np.random.Generator, clock: Clock) -> Plan:
        graph, start = self.graph, self.start
        places = Sites(graph, start, goal, self.collisions, self.along)
        sequences, guess, ruled_out = Sequences(places), self.guess or Guesses(graph), dict[str, None]()
        attempts = Attempts(places, rng, guess, self.limits, clock)
        proofs = StepProofs(places, guess, attempts.refusals, clock)
        status, reason, found, names, tried = PlanningStatus.SEQUENCES, "", Tried(None, (), 0), (), 0
        while tried < self.limits.sequences:
            steps = sequences.cheapest()
            if steps is None:
                status = PlanningStatus.NO_SEQUENCE
                seen = "" if tried else "; ".join(elsewhere(places, sequences.seen))
                reason = seen or "; ".join([*places.struck_out, *ruled_out][:REASONS])
                break
            tried += 1
            names = tuple(step.action.transition.name for step in steps)
            found = attempts.run(steps)
            if found.path is not None or clock.is_over or not steps:
                if found.path is None and not clock.is_over:
                    status, reason = attempts.refusals.of_one_motion()
                else:
                    status = PlanningStatus.TIME if found.path is None else PlanningStatus.FOUND
                break
            step = steps[found.failed]
            transition = step.action.transition
            if words := proofs.of_transition(transition):
                ruled_out[words] = None
                sequences.strike_out_all(transition)
            elif words := proofs.of(step):
                ruled_out[words] = None
                sequences.strike_out(step)
            else:
                sequences.failed(step, proofs.penalty(step))
        if found.path is not None:
            reason = left_unasked(self.collisions)
        elif self.collisions is not None and (met := self.collisions.collisions(start)):
            reason = "; ".join(filter(None, (reason, f"at the start already, {in_words(met)}")))
        counts, refusals = attempts.counts, attempts.refusals
        return Plan(
            found.path, status, names, tried, attempts.targets, refusals.counts, refusals.cases,
            (*places.struck_out, *ruled_out), reason, on=found.on, nodes=attempts.nodes, projections=counts.projections,
            checks=counts.checks, seconds=clock.spent, robot=self.graph.robot,
        )  # fmt: skip

    def _solution(self, goal: Problem, rng: np.random.Generator, clock: Clock) -> Vector | Plan:
        """A configuration in some state that solves a problem: near the start, or else anywhere."""
        graph, guess, nearest = self.graph, self.start, ""
        least, draw, here = np.inf, Guesses(graph), graph.state_of(self.start)
        for _ in range(GOALS_TRIED):
            for state in sorted(graph.states, key=lambda state: state is not here):
                both = graph.problem_of(state) | goal
                found = Projector(both, graph.path_options, graph.engine).project(guess)
                if found.success and (self.collisions is None or self.collisions.is_free(found.q)):
                    return np.array(found.q)
                if found.residual < least:
                    met = self.collisions.collisions(found.q) if found.success and self.collisions else ()
                    words = in_words(met) or "; ".join(map(str.strip, found.describe().splitlines()))
                    least, nearest = found.residual, f"in '{state}': {words}"
            if clock.is_over:
                break
            guess = draw.beside(self.start, rng)
        return Plan(None, PlanningStatus.NO_GOAL, reason=nearest, seconds=clock.spent, robot=graph.robot)

    def _refusal(self, what: str, q: Vector) -> Plan | None:
        """Why nothing can be planned from or to a configuration.

        Raises:
            GraphError: it is in no state, or too far off its own.
        """
        graph, model = self.graph, self.collisions
        state = state_at(graph, q, f"{what} of a plan")
        outside = graph.robot.bounds.violations(q)
        if outside:
            words = f"out of bounds: {', '.join(map(str, outside))}"
            return self._refused(what, "OFF", words, q)
        refuse_off(graph, q, state, f"{what} of a plan")
        met = met_at_end(graph, loop_of(graph, state) or self._given(what), q, model, self.start)
        if not met or model is None:
            return None
        words = "; ".join(filter(None, (met_in_words(model, q, met), always_in_words(model.always_colliding()))))
        return self._refused(what, "COLLIDES", words, q, met)

    def _stuck(self, goal: Vector) -> Plan | None:
        """That something collides at the start and not at the goal: no motion may begin to part it."""
        model = self.collisions
        met = () if model is None else met_before_parting(self.graph, model, self.start, goal)
        if not met or model is None:
            return None
        words = f"{met_in_words(model, self.start, met)}, and not at the goal: no motion leads out of it"
        return self._refused("start", "COLLIDES", words, self.start, met)

    def _refused(self, what: str, why: str, words: str, q: Vector, met: tuple[Collision, ...] = ()) -> Plan:
        """What is said of an end that is refused."""
        status = PlanningStatus.of_end(what, why)
        return Plan(None, status, reason=words, collisions=met, refused=np.array(q), robot=self.graph.robot)

    def _given(self, what: str) -> Transition | None:
        """The first or last motion of the transitions that are given."""
        parts = [part for step in self.along for part in step.inner or (step,)]
        return None if not parts else parts[0] if what == "start" else parts[-1]

"""Why a task cannot be done: what is seen at its ends, and which steps are ruled out once they have failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import final

import numpy as np

from liegroups import SE3
from liegroups.arrays import Vector

from ..collisions.model import Collision, CollisionModel
from ..errors import GraphError, OptionError
from ..manipulation.foliation import leaf_at
from ..manipulation.graph import ConstraintGraph
from ..manipulation.selector import of_margin
from ..manipulation.states import State, Transition
from ..manipulation.targets import TargetConfiguration
from ..paths.relative_motion import CollisionPair, relative_motion
from ..problem.problem import Problem
from ..problem.span import spans_of
from ..rows.row_owner import RowOwner
from ..solvers import Options, Projector
from .attempt import Guess, Refusals
from .ends import in_words
from .limits import Clock
from .marks import START, Site, Sites, moving_pairs
from .sequences import PlanStep

SAMPLES = 40
"""Random configurations of which at least one must lead into a state: with the options of the graph, then with 400
iterations, as the budget of a graph is small."""
LEAST = 100
"""Targets that must have missed a state, and none reached it, before it is sampled."""
FROM_GOAL = 400
"""Targets from the goal, backwards, of which at least one must be found."""
DEEPER = 1e-3
"""A grasp, or a start, is ruled out where bodies collide by more than this: targets are within thresholds [m]."""
PENALTY = 1.0
"""Cost, in transitions, that each failure of an action adds to it."""
PENALTY_WITHOUT_TARGET = 3.0
"""The same where no target of it was ever found: a way round by a regrasp, two transitions longer, comes first then."""
PENALTY_OF_CROWDED = 10.0
"""The same where many targets were found from the goal, and something collides at each."""


def state_at(graph: ConstraintGraph, q: Vector, who: str) -> State:
    """The state of an end.

    Raises:
        GraphError: it is in none; which end, the nearest state, and what is off.
    """
    try:
        return graph.state_of(q)
    except GraphError as error:
        raise GraphError(f"the {who}: {error}{_w_first(graph, q)}") from None


def _w_first(graph: ConstraintGraph, q: Vector) -> str:
    """Objects whose quaternion is no turn at all in the order w x y z, in words."""
    free = (leaf for leaf in graph.robot.space.leaves() if leaf.space == SE3)
    names = [f"'{leaf.name}'" for leaf in free if np.array_equal(q[leaf.q][3:], [1.0, 0.0, 0.0, 0.0])]
    if not names:
        return ""
    return f"; the quaternion of {', '.join(names)} is 1, 0, 0, 0, half a turn about x: is its order x y z w?"


def refuse_off(graph: ConstraintGraph, q: Vector, state: State, who: str) -> None:
    """Refuse an end that is in its state, but too far off for paths.

    Raises:
        GraphError: says by how much, how it is projected, and which constraints are off.
    """
    problem, least = graph.problem_of(state), graph.path_options.threshold
    off = problem.residual(q)
    if off > least:
        norms = zip(problem.constraints, problem.constraints.norms(problem.error(q)), strict=True)
        parts = (
            f"'{name}' is off by {norm:.3g}{of_margin(owner, norm)}" for owner, (name, norm) in norms if norm > least
        )
        raise GraphError(
            f"the {who} is off '{state}' by {off:.3g}, but paths keep to {least:.3g}: project it first, "
            f"`Projector(graph.problem_of(state), graph.path_options).project(q)` ({', '.join(parts)})"
        )


def met_at_end(
    graph: ConstraintGraph, part: Transition | None, q: Vector, model: CollisionModel | None, brought_from: Vector
) -> tuple[Collision, ...]:
    """What collides at an end.

    Args:
        graph: the graph.
        part: a transition whose paths begin or end there; None where there is none.
        q: the end (nq,).
        model: of all pairs; None for nothing.
        brought_from: start (nq,) of the task: pairs that do not move against each other at its goal count, unless they
            collide at its start too.
    """
    if model is None or part is None:
        return ()
    met = moving_pairs(graph, model, part).collisions(q)
    if q is brought_from:
        return met
    every = with_margins_of(graph, model)
    before = (*met, *every.collisions(brought_from))
    return (*met, *(pair for pair in every.collisions(q) if pair not in before))


def with_margins_of(graph: ConstraintGraph, model: CollisionModel, deeper: float = 0.0) -> CollisionModel:
    """All pairs of a model with the margins of a graph on top of its own, less a distance [m]."""
    margins = ((a, b, graph.margins.between(a, b)) for a, b in model.joint_pairs)
    return model.among(CollisionPair(a, b, margin - deeper) for a, b, margin in margins)


def met_before_parting(
    graph: ConstraintGraph, model: CollisionModel, start: Vector, goal: Vector
) -> tuple[Collision, ...]:
    """What collides at the start and not at the goal, by more than thresholds: the motion that parts it begins so.

    Args:
        graph: the graph, whose margins come on top of those of the model.
        model: of all pairs.
        start, goal: (nq,).
    """
    try:
        met = with_margins_of(graph, model, DEEPER).collisions(start)
    except OptionError:  # of meshes coal does not know how deep they are in others
        return ()
    after = with_margins_of(graph, model).collisions(goal) if met else ()
    return tuple(pair for pair in met if pair not in after)


def elsewhere(places: Sites, seen: Set[Site]) -> Iterator[str]:
    """What no transition brings where the goal has it, in words, of the places that can be reached."""
    states = {place.state for place in seen}
    goal = places.goal if isinstance(places.goal, State) else places.goal.state
    if goal not in states:
        yield f"no transition leads from '{places.start.state}' to '{goal}'"
    if isinstance(places.goal, State) or places.q_goal is None:
        return
    told, robot = {f.name: f for f in places.graph.foliations_of(places.goal.state)}, places.graph.robot
    for name, mark in places.goal.marks:
        marks = {dict(place.marks).get(name) for place in seen}
        if mark in marks:
            continue
        here, there = (leaf_at([told[name]], robot.at(q)) for q in (places.q_start, places.q_goal))
        how = "no transition moves it" if marks <= {START} else "no transition puts it there"
        yield f"the goal has '{name}' elsewhere, and {how} (start: {here}; goal: {there})"


@final
class StepProofs:
    """Rules out steps of sequences that have failed.

    Attributes:
        crowded: steps of which many targets were found from the goal, backwards, and none was free.
    """

    def __init__(self, places: Sites, guess: Guess, refusals: Refusals, clock: Clock) -> None:
        self._graph, self._places = places.graph, places
        self._guess, self._refusals, self._clock = guess, refusals, clock
        self._proofs: dict[PlanStep, str] = {}
        self._unreached: dict[State, str] = {}
        self._met: dict[tuple[str, tuple[CollisionPair, ...]], str] = {}
        self._tied: dict[str, Set[frozenset[str]]] = {}
        self._joint_pairs = () if places.collisions is None else places.collisions.joint_pairs
        self.crowded = set[PlanStep]()

    def of(self, step: PlanStep) -> str:
        """Why a step can never be done, in words; empty where that is not seen.

        For certain: what it begins with, or ends with, is further away than the joints span. By sampling: no target
        leads back from the goal.
        """
        if step not in self._proofs:
            self._proofs[step] = self._from_start(step) or self._from_goal(step)
        return self._proofs[step]

    def penalty(self, step: PlanStep) -> float:
        """What a failure of a step that is not ruled out adds to its cost, in transitions."""
        if step in self.crowded:
            return PENALTY_OF_CROWDED
        return PENALTY if step in self._refusals.done else PENALTY_WITHOUT_TARGET

    def _from_start(self, step: PlanStep) -> str:
        if step.place != self._places.start:
            return ""
        transition, leaf, onto = step.action.transition, self._places.leaf_for(step.action), step.action.onto
        guess = self._graph.robot.random(np.random.default_rng(0))
        target = self._graph.target(transition, self._places.q_start, guess, leaf=leaf, onto=onto)
        return self._too_far(target, "start")

    def _from_goal(self, step: PlanStep) -> str:
        """By the transition back, where what it begins with is what the step ends with."""
        transition, goal, q = step.action.transition, self._places.goal, self._places.q_goal
        if q is None or isinstance(goal, State) or goal.state is not transition.target or not step.action.onto:
            return ""
        parts = transition.inner or (transition,)
        for f in self._graph.foliations_of(goal.state):
            if f not in step.action.onto and any(f.complement not in part.constraints for part in parts):
                return ""
        for back in self._graph.transitions_from(transition.target, transition.source):
            if not back.is_level_set and _is_reverse(parts[-1], (back.inner or (back,))[0]):
                return self._without_target(step, back, q)
        return ""

    def _without_target(self, step: PlanStep, back: Transition, goal: Vector) -> str:
        """A transition that leads nowhere from the goal: out of reach for certain, or not found in many searches.

        Where targets are found and none of them is free, the step is kept among the `crowded` ones.
        """
        graph, rng, found, tried = self._graph, np.random.default_rng(0), False, 0
        while tried < FROM_GOAL:
            count = min(max(1, tried), FROM_GOAL - tried)  # first of all one, which says what is too far
            guesses = [graph.robot.check(self._guess(back, goal, rng), "guess of a plan") for _ in range(count)]
            targets = graph.targets(back, np.tile(goal, (count, 1)), np.array(guesses))
            reached = [target for target in targets if target.success]
            found, tried = found or bool(reached), tried + count
            if (reached and self._one_is_free(back, reached)) or self._clock.is_over:
                return ""
            if tried == 1 and (words := self._too_far(targets[0], "goal")):
                return words
        if found:
            self.crowded.add(step)
            return ""
        return f"no target of '{back}' was found from the goal, in {FROM_GOAL} searches"

    def _one_is_free(self, transition: Transition, targets: Sequence[TargetConfiguration]) -> bool:
        """Whether at one of several targets of a transition nothing collides at any waypoint."""
        for i, part in enumerate(transition.inner or (transition,)):
            model = self._places.model_on(part)
            if model is None:
                return True
            free = model.is_free_batch(np.array([target.waypoints[i] for target in targets]))
            targets = [target for target, is_free in zip(targets, free, strict=True) if is_free]
            if not targets:
                return False
        return True

    def _too_far(self, target: TargetConfiguration, what: str) -> str:
        """Whether the first step of a target is out of reach for all guesses, in words."""
        if target.success or len(target.projections) != 1:
            return ""
        projection = target.projections[0]
        point, threshold = self._graph.robot.at(projection.q), projection.options.threshold
        if not any(span.is_too_short(point, threshold) for span in spans_of(projection.problem)):
            return ""
        far = f"'{target.failed_at}' is further away than the joints span"
        return f"no target of '{target.transition}' was found from the {what}: {far}"

    def of_transition(self, transition: Transition) -> str:
        """Why a transition can never be done, wherever it begins, in words; empty where that is not seen.

        For certain: bodies collide that a constraint of a state on its way holds against each other. By sampling: such
        a state was reached by none of many targets, and by no random configuration.
        """
        for part in transition.inner or (transition,):
            state = part.target
            for owner in state.constraints:
                if words := self._always_met(part, owner):
                    return words
            if state in self._refusals.reached or self._refusals.missed[state] < LEAST:
                continue
            if state not in self._unreached:
                self._unreached[state] = self._sampled(state)
            if self._unreached[state]:
                return self._unreached[state]
        return ""

    def _always_met(self, part: Transition, owner: RowOwner) -> str:
        """Bodies that one constraint holds against each other, and that collide then, in words.

        Args:
            part: on whose paths they still move against each other.
            owner: the constraint at its end.
        """
        graph, model = self._graph, self._places.collisions
        if model is None:
            return ""
        tied, moving = self._tied_by(owner), graph.collision_pairs(part, self._joint_pairs)
        pairs = tuple(
            pair._replace(margin=pair.margin - DEEPER) for pair in moving if frozenset((pair.a, pair.b)) in tied
        )
        key = owner.name, pairs
        if key not in self._met:
            self._met[key] = ""
            if pairs:
                problem = Problem(graph.robot, [owner])
                found = Projector(problem, graph.path_options, graph.engine).project(self._places.q_start)
                if found.success and (met := model.among(pairs).collisions(found.q, 1)):
                    self._met[key] = f"where '{owner.name}' holds, {in_words(met)}"
        return self._met[key]

    def _tied_by(self, owner: RowOwner) -> Set[frozenset[str]]:
        """Pairs of joints whose relative pose a constraint fixes."""
        if owner.name not in self._tied:
            motion = relative_motion(self._graph.robot, [owner])
            pairs = np.argwhere(motion.constrained).tolist()
            self._tied[owner.name] = {frozenset((motion.names[i], motion.names[j])) for i, j in pairs}
        return self._tied[owner.name]

    def _sampled(self, state: State) -> str:
        """What random configurations say of a state that none of them is projected onto."""
        graph, rng = self._graph, np.random.default_rng(0)
        wide = Projector(graph.problem_of(state), Options(threshold=graph.threshold), graph.engine)
        for count in range(2 * SAMPLES):
            found = graph.sample(state, rng) if count < SAMPLES else wide.project(graph.robot.random(rng))
            if found.success or self._clock.is_over:
                return ""
        what = f"the state '{state}' was reached from none of {SAMPLES} random configurations"
        return f"{what}: `graph.sample('{state}', rng).diagnose()` says which constraints are in the way"


def _is_reverse(part: Transition, back: Transition) -> bool:
    """Whether a motion and another one lead through the same configurations, the other way round."""
    same = {id(owner) for owner in part.constraints} == {id(owner) for owner in back.constraints}
    return same and back.target is part.source and back.containing is part.containing

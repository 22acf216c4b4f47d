"""Why a sequence of transitions cannot lead from a start to a goal: what is seen at once, before anything is planned.

Functions of a graph: walks call them, and so may planners. Each costs little where nothing stands in the way: a few
projections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from liegroups.arrays import ArrayLike, Vector

from ...collisions.model import Collision, CollisionModel
from ...problem.span import spans_of
from ...solvers import Options, Projector
from ..foliation import leaf_at

if TYPE_CHECKING:
    from ..graph import ConstraintGraph
    from ..states import Transition
    from ..targets import TargetConfiguration

SAMPLES = 40
"""Random configurations of which at least one must lead into a state."""
LEAST = 100
"""Searches that must fail at least."""

Draw = Callable[["Transition", Vector, np.random.Generator], ArrayLike]
"""From a transition, the configuration where it starts, and a generator: a guess of where it ends."""


class WalkRefusal(NamedTuple):
    """Why a task cannot be done.

    Attributes:
        reason: in words.
        case: the last search that failed, if there was one.
        collisions: pairs that collide at the start.
    """

    reason: str
    case: TargetConfiguration | None = None
    collisions: tuple[Collision, ...] = ()


class WalkTask(NamedTuple):
    """What is asked for.

    Attributes:
        start: (nq,), in the source state of the first transition.
        transitions: in order.
        goal: (nq,), in the target state of the last one; None for any.
        back: the transition from the goal that is walked backwards; None without a goal.
        tries: searches from the goal that must fail before it is given up, where nothing proves it out of reach; of the
            start only a proof counts, because whoever plans begins with the same searches.
    """

    start: Vector
    transitions: Sequence[Transition]
    goal: Vector | None = None
    back: Transition | None = None
    tries: int = 400

    @property
    def parts(self) -> tuple[Transition, ...]:
        """The transitions, inner ones in place of those that lead through waypoints."""
        return tuple(part for step in self.transitions for part in step.inner or (step,))


def refusals(
    graph: ConstraintGraph, task: WalkTask, collisions: CollisionModel | None = None, draw: Draw | None = None
) -> Iterator[WalkRefusal]:
    """Why a task cannot be done, the surest and cheapest reasons first; nothing where none is seen.

    Ends in collision; an object that the goal has elsewhere, and that no transition moves; a state that nothing
    reaches; no target of the first transition from the start, or of the last one, backwards, from the goal. Random
    configurations are drawn by a generator of its own, so the same task has the same reasons.

    Args:
        graph: the graph.
        task: what is asked for, its ends in their states.
        collisions: collision model.
        draw: guesses of targets; by default random configurations.
    """
    seen = [*(() if collisions is None else _colliding(graph, task, collisions)), *_elsewhere(graph, task)]
    yield from seen or _found_by_search(graph, task, draw)


def _found_by_search(graph: ConstraintGraph, task: WalkTask, draw: Draw | None) -> Iterator[WalkRefusal]:
    """What many searches in vain tell, up to the first."""
    unreached = next(_unreached_states(graph, task), None)
    if unreached is not None:
        yield unreached
        return
    yield from _without_target(graph, task.transitions[0], task.start, "start", draw, 1)
    if task.goal is not None and task.back is not None:
        yield from _without_target(graph, task.back, task.goal, "goal", draw, max(task.tries, LEAST))


def _colliding(graph: ConstraintGraph, task: WalkTask, collisions: CollisionModel) -> Iterator[WalkRefusal]:
    """Ends where bodies collide that move against each other on the first, or last, motion."""
    last = task.parts[-1] if task.back is None else (task.back.inner or (task.back,))[0]
    for what, q, part in (("start", task.start, task.parts[0]), ("goal", task.goal, last)):
        if q is None:
            continue
        met = collisions.among(graph.collision_pairs(part, collisions.joint_pairs)).collisions(q)
        if met:
            pairs = ", ".join(f"{pair.a} collides with {pair.b}" for pair in met)
            yield WalkRefusal(f"the {what} is in collision ({pairs})", collisions=met if what == "start" else ())


def _elsewhere(graph: ConstraintGraph, task: WalkTask) -> Iterator[WalkRefusal]:
    """What all transitions keep, and the goal has elsewhere than the start."""
    if task.goal is None:
        return
    first = task.parts[0]
    kept = {id(owner) for owner in first.constraints}
    for part in task.parts:
        kept &= {id(owner) for owner in part.constraints}
    own = {id(owner) for owner in first.constraints}
    told = [f for f in graph.foliations if f.complement is not None and id(f.complement) in own]
    here, there = (leaf_at(told, graph.robot.at(q)) for q in (task.start, task.goal))  # the goal may be off the paths
    complements = [id(f.complement) for f in told]
    tolerance = graph.threshold * (len(task.parts) + 1)  # each motion keeps it to that
    for i, complement in enumerate(complements):
        start, goal = here.among([i]), there.among([i])
        if complement in kept and not start.same_as(goal, tolerance):
            what = f"the goal has '{here.foliations[i]}' elsewhere, and no transition of the walk moves it"
            yield WalkRefusal(f"{what} (start: {start}; goal: {goal})")


def _unreached_states(graph: ConstraintGraph, task: WalkTask) -> Iterator[WalkRefusal]:
    """States on the way, waypoint states too, that no random configuration is projected onto."""
    rng, seen = np.random.default_rng(0), set[str]()
    for part in task.parts:
        state = part.target
        if state.name in seen:
            continue
        seen.add(state.name)
        for _ in range(SAMPLES):
            found = graph.sample(state, rng)
            if found.success:
                break
        else:
            wide = Projector(graph.problem_of(state), Options(threshold=graph.threshold), graph.engine)
            if any(wide.project(graph.robot.random(rng)).success for _ in range(SAMPLES)):
                continue  # the budget of the graph is small
            what = f"the state '{state}' was reached from none of {SAMPLES} random configurations"
            yield WalkRefusal(
                f"{what}: `graph.sample('{state}', rng).diagnose()` says which constraints are in the way"
            )


def _without_target(
    graph: ConstraintGraph, step: Transition, q: Vector, what: str, draw: Draw | None, tries: int
) -> Iterator[WalkRefusal]:
    """A transition that leads nowhere from an end: out of reach for certain, or not found in as many searches."""
    rng, words = np.random.default_rng(0), f"no target of '{step}' was found from the {what}"
    for count in range(1, tries + 1):
        guess = graph.robot.random(rng) if draw is None else graph.robot.check(draw(step, q, rng), "guess of a walk")
        target = graph.target(step, q, guess)
        if target.success:
            return
        if count == 1 and _is_out_of_reach(graph, target):
            yield WalkRefusal(f"{words}: '{target.failed_at}' is further away than the joints span", target)
            return
        if count == tries > 1:
            yield WalkRefusal(f"{words}, in {tries} searches, at '{target.failed_at}'", target)


def _is_out_of_reach(graph: ConstraintGraph, failed: TargetConfiguration) -> bool:
    """Whether the first step of a target is out of reach for all guesses."""
    if len(failed.projections) != 1:
        return False
    projection = failed.projections[0]
    point, threshold = graph.robot.at(projection.q), projection.options.threshold
    return any(span.is_too_short(point, threshold) for span in spans_of(projection.problem))

"""From a start to a goal over a given sequence of transitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from liegroups.arguments import as_tuple, expect
from liegroups.arrays import ArrayLike, Vector

from ..collisions.model import CollisionModel
from ..errors import GraphError
from ..manipulation.graph import ConstraintGraph
from ..manipulation.states import State, Transition
from .attempt import Guess
from .limits import Limits
from .plan import Plan, task_of
from .refusals import refuse_off, state_at


def walk(
    graph: ConstraintGraph,
    q_start: ArrayLike,
    transitions: Sequence[Transition | str],
    *,
    rng: np.random.Generator,
    goal: ArrayLike | None = None,
    collisions: CollisionModel | None = None,
    limits: Limits | None = None,
    guess: Guess | None = None,
) -> Plan:
    """A path from a start along given transitions: `plan`, where the sequence is known.

    Configurations where its motions meet are drawn, and the motions are searched on their leaves, as `plan` does it,
    again and again until a path is found, a limit is reached, or the sequence is ruled out: an end in collision, an
    object that the goal has elsewhere and that no transition moves, a state that nothing reaches, a first transition,
    or the last one backwards, out of reach.

    Args:
        graph: the graph.
        q_start: start (nq,), in the source state of the first transition.
        transitions: in order, transitions or their names. A loop leads to a random configuration on its leaf; as the
            last one, to the goal.
        rng: generator. The same one gives the same bits, unless the clock ends the search.
        goal: configuration (nq,) where it must end, in the target state of the last transition; None for any there.
        collisions, limits, guess: as of `plan`.

    Raises:
        GraphError: no transition; transitions that do not follow each other; start or goal in another state, off it by
            more than half the threshold, or out of bounds.
        SizeError, DtypeError, NotFiniteError, NotNormalizedError: what is wrong with start or goal.
        UnknownNameError: no transition has this name.
        WrongObjectError, SpaceMismatchError: an argument of another type, or of another robot.
    """
    expect(graph, ConstraintGraph, "graph of a walk")
    expect(rng, np.random.Generator, "rng of a walk", "a Generator, as numpy.random.default_rng(0)")
    names = as_tuple(transitions, "transitions of a walk", "transitions or their names")
    steps = tuple(graph.transition(step) for step in names)
    if not steps:
        raise GraphError("a walk needs at least one transition")
    for before, after in pairwise(steps):
        if before.target is not after.source:
            ends = f"but '{before}' ends in '{before.target}'"
            raise GraphError(f"'{after}' must follow a transition that ends in '{after.source}', {ends}")
    start = np.array(graph.robot.check(q_start, "q_start"))
    _refuse_elsewhere(graph, start, steps[0].source, "start")
    end = steps[-1].target
    if goal is not None:
        goal = np.array(graph.robot.check(goal, "goal"))
        _refuse_elsewhere(graph, goal, end, "goal")
    return task_of(
        graph, start, end if goal is None else goal, collisions, limits, guess, "a walk", along=steps
    ).planned(rng)


def _refuse_elsewhere(graph: ConstraintGraph, q: Vector, state: State, what: str) -> None:
    """Refuse an end that is in another state, or where no path ends: too far off its own, or out of bounds."""
    found = state_at(graph, q, f"{what} of a walk")
    if found is not state:
        raise GraphError(f"the {what} of a walk is in the state '{found}', expected '{state}'")
    outside = graph.robot.bounds.violations(q)
    if outside:
        raise GraphError(f"the {what} of a walk is out of bounds: {', '.join(map(str, outside))}")
    refuse_off(graph, q, state, f"{what} of a walk")

"""Walking a constraint graph: a given sequence of transitions, targets drawn, paths projected, collisions checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from operator import add
from time import perf_counter
from types import NoneType
from typing import NamedTuple, final

import numpy as np

from liegroups.arguments import as_callable, as_tuple, expect
from liegroups.arrays import ArrayLike, Vector

from ...collisions.model import CollisionModel
from ...errors import FailedError, GraphError, WrongObjectError
from ...keywords import can_be_called
from ...paths.interpolation import Interpolation, PathStatus, interpolate
from ...paths.path import Path
from ...problem.problem import Problem
from ...ranges import positive_number, whole_number
from ...rows.right_hand_side import RightHandSide
from ...solvers import Projector
from ..graph import ConstraintGraph
from ..states import State, Transition
from ..targets import TargetConfiguration
from .refusals import WalkRefusal, WalkTask, refusals
from .result import APART, Walk

DETOUR = 0.5
"""Standard deviation of a way-point around the middle of a motion [rad or m]."""

Progress = Callable[[int, int], object]
"""Told how many transitions are walked, and how many targets were drawn."""
Guess = Callable[[Transition, Vector, np.random.Generator], ArrayLike]
"""From a transition, the configuration where it starts, and a generator: a guess of where it ends."""


def _joined(paths: Sequence[Path]) -> Path | None:
    """One path of several, each of which starts where the one before ends; None where there is none."""
    return reduce(add, paths) if paths else None


def walk(
    graph: ConstraintGraph,
    q_start: ArrayLike,
    transitions: Sequence[Transition | str],
    rng: np.random.Generator,
    *,
    goal: ArrayLike | None = None,
    guess: Guess | None = None,
    collisions: CollisionModel | None = None,
    tries: int = 400,
    patience: int = 40,
    detours: int = 4,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Walk:
    """Walk a sequence of transitions.

    For each, a target is drawn (`graph.target`), and its paths are projected (`interpolate`) and checked. After a
    failure a new target is drawn, `patience` times; then the transition before is drawn again. If a motion collides, or
    ends on another branch, up to `detours` random configurations of its leaf are tried as via points. With a goal the
    last transition is drawn backwards from the goal, and the walk is joined to it in the last state but one: its leaf
    must be the only one there (a grasp that fixes all rows). This is not a planner: it fails if straight motions do not
    suffice.

    What cannot succeed is seen first (`walks.refusals`): no target is drawn then, and the walk says why.

    Args:
        graph: the graph.
        q_start: start (nq,), in the source state of the first transition.
        transitions: transitions to walk, in order; objects or names.
        rng: random generator; the walk depends on its state alone.
        goal: configuration (nq,) where it must end, in the target state of the last transition.
        guess: start of the search for targets; by default a random configuration, objects included.
        collisions: collision model; pairs that do not move relative to each other on a path are left out there, and the
            margins are those of the graph.
        tries: most targets drawn.
        patience: most targets of one transition drawn in a row.
        detours: most random configurations between the ends of a motion.
        seconds: time limit [s], looked at before each target; None for none.
        progress: called before each target with the transitions walked so far, and the targets drawn.

    Raises:
        GraphError: transitions that do not follow each other; start or goal in another state, off it by more than half
            the threshold, or out of bounds; the last transition has no opposite.
        WrongObjectError: an argument of another type.
        OptionError: a number out of its range.
    """
    began = perf_counter()
    expect(graph, ConstraintGraph, "graph of a walk")
    expect(rng, np.random.Generator, "generator of a walk", "a numpy.random.Generator")
    expect(collisions, (CollisionModel, NoneType), "collisions of a walk", "a CollisionModel")
    if guess is not None:
        as_callable(guess, "guess of a walk", "a function of transition, configuration and generator")
    for name, least, value in (("tries", 1, tries), ("patience", 1, patience), ("detours", 0, detours)):
        whole_number(value, f"{name} of a walk", least)
    if seconds is not None:
        positive_number(seconds, "seconds of a walk")
    if progress is not None and not can_be_called(progress, 0, 0):
        raise WrongObjectError("progress of a walk", "a function of two arguments, (done, targets)", progress)
    names = as_tuple(transitions, "transitions of a walk", "transitions or their names")
    steps = tuple(graph.transition(step) for step in names)
    if not steps:
        raise GraphError("a walk needs at least one transition")
    for before, after in pairwise(steps):
        if before.target is not after.source:
            ends = f"but '{before}' ends in '{before.target}'"
            raise GraphError(f"'{after}' must follow a transition that ends in '{after.source}', {ends}")
    start = graph.robot.check(q_start, "q_start")
    _refuse_elsewhere(graph, start, steps[0].source, "start")
    end = None
    if goal is not None:
        end = graph.robot.check(goal, "goal")
        _refuse_elsewhere(graph, end, steps[-1].target, "goal")
    draw: Guess = (lambda _, __, rng: graph.robot.random(rng)) if guess is None else guess
    task = WalkTask(start, steps, end, None if end is None else _opposite(graph, steps[-1]), tries)
    reasons = tuple(refusals(graph, task, collisions, guess))
    if reasons:
        return _refused(steps, reasons, collisions)
    limits = _Limits(tries, patience, detours, seconds, progress)
    return _Walker(graph, steps, rng, draw, collisions, limits, began).run(np.array(start), end)


def _refused(steps: tuple[Transition, ...], reasons: Sequence[WalkRefusal], collisions: CollisionModel | None) -> Walk:
    """A walk that was not begun."""
    cases = {each.reason: each.case for each in reasons if each.case is not None}
    met = reasons[0].collisions
    found = Walk(None, steps, 0, 0, Counter(each.reason for each in reasons), cases, start_collisions=met)
    return replace(found, always_colliding=collisions.always_colliding()) if met and collisions is not None else found


def _opposite(graph: ConstraintGraph, step: Transition) -> Transition:
    """The transition that leads back.

    Raises:
        GraphError: there is none.
    """
    found = graph.transitions_from(step.target, step.source)
    plain = [t for t in found if not t.is_level_set]
    if not plain:
        raise GraphError(f"no transition leads back from '{step.target}' to '{step.source}'")
    return plain[0]


def _refuse_elsewhere(graph: ConstraintGraph, q: Vector, state: State, what: str) -> None:
    """Refuse an end that is in another state, or where no path ends: too far off its own, or out of bounds."""
    found = graph.state_of(q)
    if found is not state:
        raise GraphError(f"the {what} of a walk is in the state '{found}', expected '{state}'")
    outside = graph.robot.bounds.violations(q)
    if outside:
        raise GraphError(f"the {what} of a walk is out of bounds: {', '.join(map(str, outside))}")
    off, least = graph.problem_of(state).residual(q), graph.path_options.threshold
    if off > least:
        raise GraphError(
            f"the {what} of a walk is off '{state}' by {off:.3g}, but paths keep to {least:.3g}: project it first, "
            "`Projector(graph.problem_of(state), graph.path_options).project(q)`"
        )


class _Limits(NamedTuple):
    """How long a walk goes on, and who is told."""

    tries: int
    patience: int
    detours: int
    seconds: float | None
    progress: Progress | None


@final
@dataclass(eq=False)
class _Walker:
    """One walk: what `walk` was asked, then how far it has come."""

    _graph: ConstraintGraph
    _steps: tuple[Transition, ...]
    _rng: np.random.Generator
    _guess: Guess
    _collisions: CollisionModel | None
    _limits: _Limits
    _began: float
    _models: dict[Transition, CollisionModel] = field(default_factory=lambda: {})
    _projectors: dict[tuple[Transition, int], Projector] = field(default_factory=lambda: {})
    _refusals: Counter[str] = field(default_factory=Counter[str])
    _cases: dict[str, TargetConfiguration | Interpolation] = field(default_factory=lambda: {})
    _tries: int = 0
    _collided: bool = False

    def run(self, q: Vector, goal: Vector | None) -> Walk:
        """Depth first, with a step back where a transition cannot be walked."""
        paths: list[Path] = []
        longest: list[Path] = []
        while len(paths) < len(self._steps):
            here = paths[-1].end if paths else q
            last = goal if len(paths) == len(self._steps) - 1 else None
            path = self._walked(self._steps[len(paths)], here, last, len(paths))
            if path is not None:
                paths.append(path)
                longest = paths.copy() if len(paths) > len(longest) else longest
            elif self._is_over():
                break
            elif paths:
                paths.pop()
        whole = _joined(longest)
        of = {id(projector): part for (part, _), projector in self._projectors.items()}
        on = tuple(of[id(piece.projector)] for piece in whole.pieces) if whole is not None else ()
        found = Walk(whole, self._steps, len(longest), self._tries, self._refusals, self._cases, on=on)
        if found.success or self._collisions is None or not self._collided:
            return found
        at_start, always = self._collisions.collisions(q), self._collisions.always_colliding()
        return replace(found, start_collisions=at_start, always_colliding=always)

    def _is_over(self) -> bool:
        """Whether there are no more targets, or no more time."""
        seconds = self._limits.seconds
        if self._tries >= self._limits.tries:
            return True
        return seconds is not None and perf_counter() - self._began >= seconds

    def _walked(self, step: Transition, q: Vector, goal: Vector | None, done: int) -> Path | None:
        """A path of one transition; None where patience, budget or time ended."""
        for _ in range(self._limits.patience):
            if self._is_over():
                if self._tries < self._limits.tries:
                    self._refusals[f"the time of {self._limits.seconds:g} s was over"] = 1
                return None
            if self._limits.progress is not None:
                self._limits.progress(done, self._tries)
            self._tries += 1
            path = self._there(step, q) if goal is None else self._back(step, q, goal)
            if path is not None:
                return path
        return None

    def _there(self, step: Transition, q: Vector) -> Path | None:
        """A path to a target that is drawn."""
        guess = self._graph.robot.check(self._guess(step, q, self._rng), "guess of a walk")
        target = self._graph.target(step, q, guess)
        if not target.success:
            return self._refused(f"no target found for '{target.failed_at}'", target)
        motions: list[Path] = []
        for part, point in zip(step.inner or (step,), target.waypoints, strict=True):
            motion = self._motion(part, q, point)
            if motion is None:
                return None
            motions.append(motion)
            q = point
        return _joined(motions)

    def _back(self, step: Transition, q: Vector, goal: Vector) -> Path | None:
        """A path to the goal: the opposite transition from there, run backwards, joined in the state before."""
        back = self._there(_opposite(self._graph, step), goal)
        if back is None:
            return None
        loops = [t for t in self._graph.transitions_from(step.source, step.source) if not t.is_level_set]
        if not loops:
            raise GraphError(f"no transition leads from '{step.source}' to itself, where the walk is to meet its goal")
        joined = self._motion(loops[0], q, back.end)
        return None if joined is None else joined + back.reversed()

    def _motion(self, part: Transition, q0: Vector, q1: Vector) -> Path | None:
        """A free path on the leaf of q0, straight or by way of others."""
        problem, rhs = self._graph.path_problem(part, q0)
        projector = self._projector(part, problem)
        if projector.residual(q1, rhs) > self._graph.threshold or not problem.bounds.contains(q1):
            return self._refused(f"ends of '{part}' {APART}")
        path = self._free(part, projector, rhs, (q0, q1))
        for _ in range(0 if part.short or path is not None else self._limits.detours):
            space = problem.space
            away = DETOUR * self._rng.standard_normal(space.nv)
            middle = space.integrate(space.interpolate(q0, q1, 0.5), away)
            projection = projector.project(middle, rhs)
            path = self._free(part, projector, rhs, (q0, projection.q, q1)) if projection.success else None
            if path is not None:
                break
        return path

    def _free(
        self, part: Transition, projector: Projector, rhs: RightHandSide, through: Sequence[Vector]
    ) -> Path | None:
        """A path through some configurations that collides with nothing."""
        straight: list[Path] = []
        for q0, q1 in pairwise(through):
            found = interpolate(projector, q0, q1, rhs)
            if found.path is None or not found.success:
                return self._refused(f"{found.status.name} on '{part}'", found)
            straight.append(found.path)
        path = _joined(straight)
        if path is not None and self._collisions is not None:
            try:
                met = self._model(part, self._collisions).first_collision(path)
            except FailedError:  # between samples the path is projected, which may fail
                return self._refused(f"{PathStatus.NOT_PROJECTED.name} on '{part}'")
            if met is not None:
                self._collided = True
                return self._refused(f"{met.a} collides with {met.b} on '{part}'")
        return path

    def _model(self, part: Transition, model: CollisionModel) -> CollisionModel:
        """The pairs of a model that move against each other on a transition."""
        found = self._models.get(part)
        if found is None:
            found = self._models[part] = model.among(self._graph.collision_pairs(part, model.joint_pairs))
        return found

    def _projector(self, part: Transition, problem: Problem) -> Projector:
        key = (part, id(problem))
        found = self._projectors.get(key)
        if found is None:
            found = self._projectors[key] = Projector(problem, self._graph.path_options, self._graph.engine)
        return found

    def _refused(self, why: str, case: TargetConfiguration | Interpolation | None = None) -> None:
        self._refusals[why] += 1
        if case is not None:
            self._cases[why] = case

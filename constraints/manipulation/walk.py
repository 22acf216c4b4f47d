"""Walking a constraint graph: a given sequence of transitions, targets drawn, paths projected, collisions checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from operator import add
from textwrap import indent
from types import NoneType
from typing import final

import numpy as np

from liegroups.arguments import as_callable, as_tuple, expect
from liegroups.arrays import ArrayLike, Vector

from ..errors import GraphError, PathError
from ..paths.collision import Collision, CollisionModel
from ..paths.collision_pairs import always_in_words
from ..paths.interpolation import Interpolation, PathStatus, interpolate
from ..paths.path import Path
from ..problem.problem import Problem
from ..ranges import whole_number
from ..rows.right_hand_side import RightHandSide
from ..solvers import Projector
from ..solvers.result import Result
from ..words import counted
from .graph import ConstraintGraph
from .states import State, Transition
from .targets import TargetConfiguration

SHOWN = 4
"""So many of the reasons why tries were given up are told, the most common first; `describe(details=True)` has all."""
APART = "on two leaves"
"""End of the reason why a motion has no path at all: its ends differ in what stays constant between them."""
MEET = (
    "ends on two leaves cannot be joined, and drawn ones share a leaf by chance only: with `goal=` give the handle a "
    "mask that fixes all rows, or draw the last target yourself, `graph.target('..._ls', q, guess, leaf=goal)`"
)
"""What to do about such ends."""
DETOUR = 0.5
"""Standard deviation of a way-point around the middle of a motion [rad or m]."""

Guess = Callable[[Transition, Vector, np.random.Generator], ArrayLike]
"""From a transition, the configuration where it starts, and a generator: a guess of where it ends."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Walk(Result):
    """Result of a walk. It is neither true nor false (`if walked:` raises): `success` says whether it reached its end.

    Attributes:
        path: from the start to the goal; on failure as far as the best try got; None if it got nowhere.
        transitions: the given sequence.
        done: number of transitions that were walked.
        tries: number of targets drawn.
        refusals: why tries failed, and how often.
        cases: the last failure for each of these reasons, a TargetConfiguration or an Interpolation, if there is one.
        start_collisions: after a failure by collisions, the pairs that already collide at the start.
        always_colliding: after such a failure, the pairs that collide wherever the robot is
            (`CollisionModel.always_colliding`).
        on: for each piece of the path the transition that it is a part of; where that leads through waypoint states,
            its inner transition.
    """

    path: Path | None
    transitions: tuple[Transition, ...]
    done: int
    tries: int
    refusals: Counter[str] = field(default_factory=lambda: Counter[str]())
    cases: Mapping[str, TargetConfiguration | Interpolation] = field(default_factory=lambda: {}, repr=False)
    start_collisions: tuple[Collision, ...] = ()
    always_colliding: tuple[tuple[str, str], ...] = ()
    on: tuple[Transition, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the whole sequence was walked."""
        return self.path is not None and self.done == len(self.transitions)

    def or_raise(self) -> Path:
        """The whole path.

        Raises:
            PathError: the walk did not reach its end; says how far it got, and why. The error carries it.
        """
        if self.path is None or not self.success:
            raise PathError(str(self), self)
        return self.path

    def describe(self, details: bool = False) -> str:
        """The walk in words: how far it got, the most common reasons why tries failed, and a case.

        Ends on two leaves come first, however rare: more targets do not help there.

        Args:
            details: a line for each transition and each reason, and the last failure in full for each.
        """
        lines = [self._came, *(self._details() if details else self._summary())]
        return "\n".join([*lines, *(f"  {sentence}" for sentence in self._hindrances())])

    @property
    def _came(self) -> str:
        steps, targets = counted(len(self.transitions), "transition"), counted(self.tries, "target")
        return f"{self.done} of {steps} after {targets}"

    @property
    def _reasons(self) -> list[tuple[str, int]]:
        """Reasons and counts: ends on two leaves, then the others, the most common first."""
        return sorted(self.refusals.most_common(), key=lambda each: not each[0].endswith(APART))

    def _summary(self) -> Iterator[str]:
        """Transitions by how they went, reasons, and a case of the first."""
        parts = {"walked": slice(0, self.done), "failed": slice(self.done, self.done + 1)}
        for word, part in (parts | {"not reached": slice(self.done + 1, None)}).items():
            names = [f"'{step}'" for step in self.transitions[part]]
            yield from [f"  {word}: {', '.join(names)}"] if names else []
        for reason, count in self._reasons[:SHOWN]:
            yield f"  failed {_times(count)}: {reason}"
        others = [count for _, count in self._reasons[SHOWN:]]
        if others:
            yield f"  failed {_times(sum(others))}: {counted(len(others), 'other reason')} (describe(details=True))"
        for reason, _ in self._reasons[:1] if not self.success else ():
            if reason in self.cases:
                yield f"  the last time: {self.cases[reason]}"

    def _details(self) -> Iterator[str]:
        """Each transition, each reason, each case."""
        for i, step in enumerate(self.transitions):
            yield f"  '{step}': {'walked' if i < self.done else 'failed' if i == self.done else 'not reached'}"
        for reason, count in self._reasons:
            yield f"  failed {_times(count)}: {reason}"
        for reason, _ in self._reasons if not self.success else ():
            if reason in self.cases:
                yield f"  {reason}, the last time:"
                yield indent(self.cases[reason].describe(), "    ")

    def _hindrances(self) -> list[str]:
        """What collides whatever the walk does, and leaves that are met by chance only."""
        apart = not self.success and any(reason.endswith(APART) for reason in self.refusals)
        met = [f"{pair.a} collides with {pair.b}" for pair in self.start_collisions]
        return [
            *([MEET] if apart else []),
            *([f"the start is in collision: {', '.join(met)}"] if met else []),
            *([always_in_words(self.always_colliding)] if self.always_colliding else []),
        ]

    def __str__(self) -> str:
        why = "; ".join(f"{reason}: {count}" for reason, count in self._reasons[:SHOWN])
        more = len(self.refusals) - SHOWN
        why += f"; and {counted(more, 'other reason')}" if more > 0 else ""
        return "; ".join([f"{self._came} ({why})" if why else self._came, *self._hindrances()])

    def __repr__(self) -> str:
        return f"Walk({self._came})"


def _joined(paths: Sequence[Path]) -> Path | None:
    """One path of several, each of which starts where the one before ends; None where there is none."""
    return reduce(add, paths) if paths else None


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


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
) -> Walk:
    """Walk a sequence of transitions.

    For each, a target is drawn (`graph.target`), and its paths are projected (`interpolate`) and checked. After a
    failure a new target is drawn, `patience` times; then the transition before is drawn again. If a motion collides, or
    ends on another branch, up to `detours` random configurations of its leaf are tried as via points. With a goal the
    last transition is drawn backwards from the goal, and the walk is joined to it in the last state but one: its leaf
    must be the only one there (a grasp that fixes all rows). This is not a planner: it fails if straight motions do not
    suffice.

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

    Raises:
        GraphError: transitions that do not follow each other; start or goal in another state, off it by more than half
            the threshold, or out of bounds; the last transition has no opposite.
        WrongObjectError: an argument of another type.
    """
    expect(graph, ConstraintGraph, "graph of a walk")
    expect(rng, np.random.Generator, "generator of a walk", "a numpy.random.Generator")
    expect(collisions, (CollisionModel, NoneType), "collisions of a walk", "a CollisionModel")
    if guess is not None:
        as_callable(guess, "guess of a walk", "a function of transition, configuration and generator")
    for name, least, value in (("tries", 1, tries), ("patience", 1, patience), ("detours", 0, detours)):
        whole_number(value, f"{name} of a walk", least)
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
    return _Walker(graph, steps, rng, draw, collisions, tries, patience, detours).run(np.array(start), end)


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


@final
@dataclass(eq=False)
class _Walker:
    """One walk: what `walk` was asked, then how far it has come."""

    _graph: ConstraintGraph
    _steps: tuple[Transition, ...]
    _rng: np.random.Generator
    _guess: Guess
    _collisions: CollisionModel | None
    _budget: int
    _patience: int
    _detours: int
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
            path = self._walked(self._steps[len(paths)], here, last)
            if path is not None:
                paths.append(path)
                longest = paths.copy() if len(paths) > len(longest) else longest
            elif self._tries >= self._budget:
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

    def _walked(self, step: Transition, q: Vector, goal: Vector | None) -> Path | None:
        """A path of one transition; None where patience or budget ended."""
        for _ in range(self._patience):
            if self._tries >= self._budget:
                return None
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
        back = self._there(self._opposite(step), goal)
        if back is None:
            return None
        loops = [t for t in self._graph.transitions_from(step.source, step.source) if not t.is_level_set]
        if not loops:
            raise GraphError(f"no transition leads from '{step.source}' to itself, where the walk is to meet its goal")
        joined = self._motion(loops[0], q, back.end)
        return None if joined is None else joined + back.reversed()

    def _opposite(self, step: Transition) -> Transition:
        found = self._graph.transitions_from(step.target, step.source)
        plain = [t for t in found if not t.is_level_set]
        if not plain:
            raise GraphError(f"no transition leads back from '{step.target}' to '{step.source}'")
        return plain[0]

    def _motion(self, part: Transition, q0: Vector, q1: Vector) -> Path | None:
        """A free path on the leaf of q0, straight or by way of others."""
        problem, rhs = self._graph.path_problem(part, q0)
        projector = self._projector(part, problem)
        if projector.residual(q1, rhs) > self._graph.threshold or not problem.bounds.contains(q1):
            return self._refused(f"ends of '{part}' {APART}")
        path = self._free(part, projector, rhs, (q0, q1))
        for _ in range(0 if part.short or path is not None else self._detours):
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
            except PathError:  # between samples the path is projected, which may fail
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

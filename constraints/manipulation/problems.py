"""Problems of a constraint graph: built on first use, kept by what they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, final

import numpy as np

from liegroups import Rn
from liegroups.arrays import Vector

from ..functions.affine import Constant
from ..problem.problem import Problem
from ..robot import Robot
from ..rows.implicit import Implicit
from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..solvers import Options, Projection, Projector
from .foliation import Foliation, leaf_at, merge_foliations
from .memory import GraphMemory, GraphMemoryPool
from .states import State, Transition

NOTHING = "no constraint"
"""Name of the constraint of a problem that has none: it is always satisfied."""

_Chosen = Sequence[tuple[Foliation, Foliation]]


class PathProblem(NamedTuple):
    """What every configuration of a path of a transition satisfies.

    Attributes:
        problem: the constraints of the containing state and of the leaf.
        rhs: right-hand sides that put it on the leaf of the start.
    """

    problem: Problem
    rhs: RightHandSide


class LeafStep(NamedTuple):
    """A transition without waypoints, on the way to a leaf that may have been chosen.

    Attributes:
        transition: the transition.
        parameters: complements whose right-hand sides are those of the chosen leaf.
    """

    transition: Transition
    parameters: tuple[RowOwner, ...]


class _Recipe(NamedTuple):
    """What the problems of one transition are made of, whatever surfaces are chosen."""

    owners: list[RowOwner]
    foliations: list[Foliation]
    options: Options


class _Prepared(NamedTuple):
    """A problem with its projector, and the positions of constraints whose right-hand sides may vary."""

    projector: Projector
    free: tuple[int, ...]


@final
class GraphProblems:
    """The problems and projectors of one graph.

    Args:
        robot: the robot.
        foliations: whose constraints, complements and holds are merged.
        constraints: asked of every configuration.
        options: threshold and budget of projections.
        memories: memory for reading right-hand sides.
    """

    def __init__(
        self,
        robot: Robot,
        foliations: Sequence[Foliation],
        constraints: Sequence[RowOwner],
        options: Options,
        memories: GraphMemoryPool,
    ) -> None:
        self.robot, self.foliations, self.everywhere, self.options = robot, tuple(foliations), constraints, options
        self._nothing = Implicit.between(Constant([0.0], Rn(1), robot.space), -1.0, 1.0, name=NOTHING)
        self.memories = memories
        self._recipes: dict[object, _Recipe] = {}
        self._problems: dict[object, _Prepared] = {}
        self._follows: dict[object, bool] = {}
        self._steps: dict[int, tuple[LeafStep, ...]] = {}

    def state(self, state: State) -> Projector:
        """What puts configurations into a state."""
        return self._into((id(state), "state"), state.constraints)

    def condition(self, transition: Transition) -> Projector:
        """What puts configurations where the leaf of a level-set transition may be chosen."""
        return self._into((id(transition), "condition"), transition.condition or ())

    def _into(self, key: object, owners: Sequence[RowOwner]) -> Projector:
        """What puts configurations onto constraints whose right-hand sides do not vary."""
        return self._prepared(key, self._recipe(key, owners, self.options), ()).projector

    def path(self, transition: Transition, q_start: Vector) -> PathProblem:
        """What paths of a transition satisfy, on the leaf of their start."""
        key = (id(transition), "path")
        recipe = self._recipe(key, _of_paths(transition), self.options)
        memory = self.memories.take()
        prepared = self._prepared(key, recipe, _chosen(recipe, q_start, memory))
        path = PathProblem(prepared.projector.problem, _rhs_at(prepared, q_start, memory))
        self.memories.give(memory)
        return path

    def target(
        self,
        step: LeafStep,
        parts: int,
        q_start: Vector,
        leaf: Vector | None,
        memory: GraphMemory,
        before: Projection | None = None,
    ) -> tuple[Projector, RightHandSide]:
        """What puts configurations on the end of a step, on the leaf of its start.

        Args:
            step: of `steps`.
            parts: of how many steps it is one; the threshold is shared among them.
            q_start: where it starts.
            leaf: for a level-set transition: a configuration on the leaf where it is to end.
            memory: memory of the call.
            before: the projection that led to the start: right-hand sides of constraints that both have are taken over.
        """
        recipe, key = self._target_recipe(step, parts), _key(step, parts)
        chosen = _chosen(recipe, q_start, memory)
        if leaf is None or not step.parameters:
            prepared = self._prepared(key, recipe, chosen)
            return prepared.projector, _rhs_at(prepared, q_start, memory, before)
        ends = {id(owner) for owner in step.parameters}
        chosen = [(f, f.at_point(memory.at(leaf)) if id(f.complement) in ends else one) for f, one in chosen]
        prepared = self._prepared(key, recipe, chosen)
        return prepared.projector, _on_leaf(prepared, q_start, step, chosen, leaf, memory)

    def steps(self, transition: Transition) -> tuple[LeafStep, ...]:
        """The inner transitions of a transition, or itself, with what each of them must have of a chosen leaf.

        Once the leaf is chosen, all that ends on its foliation ends on it.
        """
        found = self._steps.get(id(transition))
        if found is None:
            asked: dict[int, RowOwner] = {}
            steps: list[LeafStep] = []
            for part in transition.inner or (transition,):
                kept = {id(owner) for owner in part.constraints}
                own = {id(owner): owner for owner in part.parameters}
                on = {id(f.complement) for f in self._ends_on(part, asked) if id(f.complement) not in kept}
                steps.append(LeafStep(part, (*own.values(), *(asked[key] for key in asked if key in on - own.keys()))))
                asked |= own
            found = self._steps[id(transition)] = tuple(steps)
        return found

    def is_on_leaf(self, transition: Transition, q: Vector, leaf: Vector | None, memory: GraphMemory) -> bool:
        """Whether the end of a transition is on the leaf that was chosen; true where none is.

        Args:
            transition: with waypoints or without.
            q: its end.
            leaf: a configuration on the leaf.
            memory: memory of the call.
        """
        if leaf is None:
            return True
        steps = self.steps(transition)
        asked = {id(owner): owner for step in steps for owner in step.parameters}
        ends = self._ends_on(steps[-1].transition, asked)
        if not ends:
            return True
        here = leaf_at(ends, memory.at(q))
        return here.same_as(leaf_at(ends, memory.at(leaf)), self.options.threshold)

    def _ends_on(self, transition: Transition, complements: Mapping[int, RowOwner]) -> list[Foliation]:
        """Of the foliations of some complements those on which a transition without waypoints ends."""
        there = {id(owner) for owner in (*transition.target.constraints, *transition.containing.constraints)}
        of_these = [f for f in self.foliations if id(f.complement) in complements]
        return [f for f in of_these if f.constraint is None or id(f.constraint) in there]

    def _target_recipe(self, step: LeafStep, parts: int) -> _Recipe:
        key = _key(step, parts)
        recipe = self._recipes.get(key)
        if recipe is None:
            options = replace(self.options, threshold=self.options.threshold / parts)
            if step.transition.short:
                options = replace(options, restarts=False, wrap=False)
            recipe = self._recipe(key, _of_target(step), options)
        return recipe

    def follows(self, step: LeafStep, before: LeafStep, parts: int) -> bool:
        """Whether a target of a step is wherever the one before ended: it is short, and asks for nothing more."""
        key = (_key(step, parts), _key(before, parts), "follows")
        found = self._follows.get(key)
        if found is None:
            asked, there = ({id(owner) for owner in self._target_recipe(s, parts).owners} for s in (step, before))
            found = self._follows[key] = step.transition.short and not step.parameters and asked <= there
        return found

    def on_path(self, transition: Transition) -> list[RowOwner]:
        """Constraints of the paths of a transition, holds in place; where surfaces are not chosen, of all of them."""
        recipe = self._recipe((id(transition), "path"), _of_paths(transition), self.options)
        return merge_foliations(recipe.owners, [(f, f) for f in recipe.foliations])

    def _recipe(self, key: object, owners: Sequence[RowOwner], options: Options) -> _Recipe:
        found = self._recipes.get(key)
        if found is None:
            once = list({id(owner): owner for owner in (*self.everywhere, *owners)}.values())
            kept = [f for f in self.foliations if any(f.complement is owner for owner in once)]
            found = self._recipes[key] = _Recipe(once, kept, options)
        return found

    def _prepared(self, key: object, recipe: _Recipe, chosen: _Chosen) -> _Prepared:
        key = (key, *(one.pair for _, one in chosen))
        found = self._problems.get(key)
        if found is None:
            problem = Problem(self.robot, merge_foliations(recipe.owners, chosen) or [self._nothing])
            free = [i for i, owner in enumerate(problem.constraints) if np.any(owner.rows.free_rhs & owner.rows.mask)]
            found = self._problems[key] = _Prepared(Projector(problem, recipe.options), tuple(free))
        return found


def _chosen(recipe: _Recipe, q: Vector, memory: GraphMemory) -> _Chosen:
    """The foliations of a recipe with the pairs of surfaces that touch at q."""
    return [(f, f.at_point(memory.at(q)) if f.variants else f) for f in recipe.foliations]


def _rhs_at(prepared: _Prepared, q: Vector, memory: GraphMemory, before: Projection | None = None) -> RightHandSide:
    """Right-hand sides that put a problem on the leaf of q."""
    rhs, free = prepared.projector.problem.rhs, prepared.free
    if not free:
        return rhs
    if before is not None and all(id(rhs.stack.owners[i]) in before.rhs.points for i in free):
        return rhs.taken_from(before.rhs, free)
    return rhs.read_at(memory.at(q), free)


def _on_leaf(
    prepared: _Prepared, q_start: Vector, step: LeafStep, chosen: _Chosen, leaf: Vector, memory: GraphMemory
) -> RightHandSide:
    """Right-hand sides of the start, but for parameters, which are read from another configuration."""
    problem = prepared.projector.problem
    ends = {id(owner) for owner in step.parameters}
    for whole, one in chosen:
        if id(whole.complement) in ends:
            ends |= {id(one.hold), id(one.complement)}
    places = {id(owner): i for i, owner in enumerate(problem.constraints)}
    which = [places[key] for key in ends if key in places]
    return _rhs_at(prepared, q_start, memory).read_at(memory.at(leaf), which)


def _of_paths(transition: Transition) -> list[RowOwner]:
    """What paths of a transition satisfy."""
    containing = transition.containing
    return [*transition.constraints, *containing.constraints, *containing.path_constraints]


def _of_target(step: LeafStep) -> list[RowOwner]:
    """What targets of a step satisfy."""
    transition = step.transition
    ends = (*transition.target.constraints, *transition.containing.constraints)
    return [*transition.constraints, *step.parameters, *ends]


def _key(step: LeafStep, parts: int) -> tuple[int, ...]:
    """What tells the problems of two steps apart."""
    return (id(step.transition), parts, *(id(owner) for owner in step.parameters))

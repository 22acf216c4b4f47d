"""Where things are, as far as a sequence depends on it: the state, and which leaves are those of start or goal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Vector
from liegroups.segments import entries_of

from ..collisions.model import CollisionModel
from ..manipulation.foliation import Foliation, Leaf
from ..manipulation.graph import ConstraintGraph
from ..manipulation.states import State, Transition

START, GOAL, OTHER = "start", "goal", "other"
"""On which leaf of a foliation a configuration is: that of the start, that of the goal, or another one."""


class Site(NamedTuple):
    """A state, and on which leaf each of its foliations is.

    Attributes:
        state: the state.
        marks: by name of a foliation START, GOAL or OTHER; START where both are the same leaf.
        done: number of given transitions that lead there; 0 where none are given.
    """

    state: State
    marks: tuple[tuple[str, str], ...]
    done: int = 0

    def __str__(self) -> str:
        where = ", ".join(f"{name}: {mark}" for name, mark in self.marks)
        return f"{self.state} ({where})" if where else str(self.state)


class Move(NamedTuple):
    """A transition from one place to another.

    Attributes:
        transition: the transition.
        onto: foliations on whose leaf of the goal (or of the start, where that is the same) it ends.
        to: where it leads.
    """

    transition: Transition
    onto: tuple[Foliation, ...]
    to: Site

    def __str__(self) -> str:
        at = ", ".join(f.name for f in self.onto)
        return f"{self.transition} (to the goal's {at})" if at else str(self.transition)


def moving_pairs(graph: ConstraintGraph, model: CollisionModel, part: Transition) -> CollisionModel:
    """The same model for the pairs that move against each other on a transition."""
    return model.among(graph.collision_pairs(part, model.joint_pairs))


@final
class Sites:
    """The places of one task, and what leads from one to another.

    Args:
        graph: the graph.
        start: configuration (nq,).
        goal: configuration (nq,); or the state where any will do.
        collisions: of objects whose poses the leaves of start and goal fix; None for nothing.
        along: transitions that are given, in order; empty where any will do.

    Attributes:
        graph, collisions: as given.
        q_start, q_goal: both ends (nq,); no goal where a state is enough.
        start, goal: where they are; or the state.
    """

    def __init__(
        self,
        graph: ConstraintGraph,
        start: Vector,
        goal: Vector | State,
        collisions: CollisionModel | None,
        along: Sequence[Transition] = (),
    ) -> None:
        self.graph, self.collisions, self._along = graph, collisions, tuple(along)
        self.q_start, self.q_goal = start, None if isinstance(goal, State) else goal
        self._models: dict[str, CollisionModel] = {}
        self._collided: dict[tuple[str, tuple[tuple[str, str], ...]], str | None] = {}
        self._ends: dict[str, Vector] = {START: start}
        self._leaf = graph.leaf_of(start)
        self.start = Site(graph.state_of(start), tuple((f.name, START) for f in self._leaf.foliations))
        if isinstance(goal, State):
            self.goal: Site | State = goal
            self._wanted: Mapping[str, str] = {}
        else:
            self._ends[GOAL] = goal
            self._wanted = self._marks_of(graph.leaf_of(goal))
            self.goal = Site(graph.state_of(goal), tuple(self._wanted.items()), len(self._along))

    def _marks_of(self, leaf: Leaf) -> dict[str, str]:
        """Marks of the goal: START where the leaf of a foliation is that of the start."""
        here = {f.name: i for i, f in enumerate(self._leaf.foliations)}
        marks = dict[str, str]()
        for i, f in enumerate(leaf.foliations):
            same = f.name in here and leaf.among([i]).same_as(self._leaf.among([here[f.name]]), self.graph.threshold)
            marks[f.name] = START if same else GOAL
        return marks

    def model_on(self, part: Transition) -> CollisionModel | None:
        """The pairs that move against each other on a transition; None where nothing collides."""
        if self.collisions is None:
            return None
        found = self._models.get(part.name)
        if found is None:
            found = self._models[part.name] = moving_pairs(self.graph, self.collisions, part)
        return found

    def is_goal(self, place: Site) -> bool:
        """Whether nothing but a motion on one leaf is left to do there."""
        if isinstance(self.goal, State):
            return place.state is self.goal and place.done == len(self._along)
        return place == self.goal

    @cached_property
    def _foliations(self) -> dict[str, tuple[Foliation, ...]]:
        return {state.name: self.graph.foliations_of(state) for state in self.graph.states}

    def actions(self, place: Site) -> tuple[Move, ...]:
        """What leads from a place to others."""
        return tuple(move for transition in self._leaving(place) for move in self._ways(place, transition))

    def _leaving(self, place: Site) -> Sequence[Transition]:
        """The next one of the transitions that are given; else all that change the state."""
        if self._along:
            return self._along[place.done : place.done + 1]
        leaving = self.graph.transitions_from(place.state)
        return [t for t in leaving if not (t.is_loop or t.is_level_set or t.weight < 0)]

    def _ways(self, place: Site, transition: Transition) -> Iterator[Move]:
        """A transition with each choice of the leaves on which it ends."""
        marks = dict(place.marks)
        parts = transition.inner or (transition,)
        kept = {id(owner) for owner in parts[0].constraints}
        for part in parts[1:]:
            kept &= {id(owner) for owner in part.constraints}
        there = self._foliations[transition.target.name]
        choices = list[tuple[str, ...]]()
        for f in there:
            if f.name in marks and id(f.complement) in kept:
                choices.append((marks[f.name],))
            else:
                choices.append((self._wanted[f.name], OTHER) if f.name in self._wanted else (OTHER,))
        new = [f.name not in marks or id(f.complement) not in kept for f in there]
        for chosen in product(*choices):
            onto = tuple(f for f, mark, is_new in zip(there, chosen, new, strict=True) if is_new and mark != OTHER)
            marked = tuple((f.name, mark) for f, mark in zip(there, chosen, strict=True))
            to = Site(transition.target, marked, place.done + bool(self._along))
            if self.collision(to) is None:
                yield Move(transition, onto, to)

    def leaf_for(self, action: Move) -> Vector | None:
        """A configuration on the leaf on which an action must end; None where any will do."""
        if not action.onto:
            return None
        marks = dict(action.to.marks)
        ends = {marks[f.name] for f in action.onto}
        if len(ends) == 1:  # constraints of the whole graph hold there, which they may not where two ends are mixed
            return self._ends[ends.pop()].copy()
        q = self.q_start.copy()
        for f in action.onto:
            columns = self._coordinates(f)
            q[columns] = self._ends[marks[f.name]][columns]
        return q

    def _coordinates(self, f: Foliation) -> Indices:
        """Coordinates of q that a foliation depends on."""
        return np.flatnonzero(~entries_of(self.graph.robot.space, ~f.hold.columns))

    def collision(self, place: Site) -> str | None:
        """Objects that collide wherever the rest is, because the leaves of start and goal fix their poses; in words."""
        if self.collisions is None or self.q_goal is None:
            return None
        key = place.state.name, tuple((name, mark) for name, mark in place.marks if mark != OTHER)
        if key not in self._collided:
            self._collided[key] = self._first_met(*key)
        return self._collided[key]

    @property
    def struck_out(self) -> tuple[str, ...]:
        """What collides where start and goal put it, in words."""
        return tuple(dict.fromkeys(words for words in self._collided.values() if words is not None))

    def _first_met(self, state: str, marks: tuple[tuple[str, str], ...]) -> str | None:
        by_name = {f.name: f for f in self._foliations[state]}
        q, fixed = self.q_start.copy(), set[str]()
        robot = self.graph.robot
        for name, mark in marks:
            f = by_name[name]
            columns = f.hold.columns
            if int(f.hold.rows.mask.sum()) < int(columns.sum()):
                continue  # it does not fix all that it depends on
            at = self._coordinates(f)
            q[at] = self._ends[mark][at]
            fixed |= {leaf.name for leaf in robot.space.leaves() if columns[leaf.v].any()}
        model = self.collisions
        if model is None or len(fixed) < 2:
            return None
        joints = dict(zip(model.names, model.joints, strict=True))
        met = [c for c in model.collisions(q) if {joints[c.a], joints[c.b]} <= fixed]
        return f"{met[0].a} collides with {met[0].b} where start and goal put them" if met else None

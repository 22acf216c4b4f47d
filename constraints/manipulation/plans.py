"""Plans of transitions: what each step to a target asks for, prepared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import NamedTuple, final

from liegroups.arrays import Vector

from ..rows.right_hand_side import RightHandSide
from ..rows.row_owner import RowOwner
from ..solvers import Projection, Projector
from ..solvers.engine import LeafProgram, Source
from .doubts import TargetDoubts
from .foliation import Foliation, leaf_at
from .leaf_problem import Choice, LeafProblem, ProblemFamily
from .memory import GraphMemory
from .problems import GraphProblems
from .selector import StateSelector
from .states import Transition

Work = tuple[Projector, Vector, RightHandSide]
"""A projection to be done: by what, from where, and on which leaf."""


class AtOnce(NamedTuple):
    """A projector with the program that checks where a step starts, reads the leaf there, and projects onto it."""

    projector: Projector
    program: LeafProgram


@final
class TargetStep:
    """A transition without waypoints, on the way to a leaf that may have been chosen.

    Args:
        transition: the transition.
        parameters: complements whose right-hand sides are those of the chosen leaf.
        family: the problems of its targets.
        repeats: whether its target is wherever the step before ended: it is short, and asks for nothing more.

    Attributes:
        transition, repeats: as given.
    """

    def __init__(
        self, transition: Transition, parameters: Sequence[RowOwner], family: ProblemFamily, repeats: bool
    ) -> None:
        self.transition, self.repeats = transition, repeats
        self._family, self._parameters = family, {id(owner) for owner in parameters}

    def work(
        self, start: Vector, guess: Vector, leaf: Vector | None, memory: GraphMemory, before: Projection | None
    ) -> Work:
        """The projection that finds its target, on the leaf of its start.

        Args:
            start: where it starts (nq,).
            guess: from where it is sought (nq,), where it is not short.
            leaf: for a level-set transition: a configuration (nq,) on the leaf where it is to end.
            memory: memory of the call.
            before: the projection that led to the start.
        """
        sought = start if self.transition.short else guess
        if leaf is None or not self._parameters:
            found = self._family.at(start, memory)
            return (
                found.projector,
                sought,
                found.rhs_at(start, memory.workspace, None if before is None else before.rhs),
            )
        chosen = [
            (f, f.at_point(memory.at(leaf)) if id(f.complement) in self._parameters else one)
            for f, one in self._family.chosen(start, memory)
        ]
        found = self._family.on(chosen)
        rhs = found.rhs_at(start, memory.workspace)
        return found.projector, sought, found.read_at(rhs, leaf, self._of_leaf(found, chosen), memory.workspace)

    def at_once(self, source: Source | None) -> AtOnce | None:
        """What finds its targets from a start that is not checked, in one call; None where it takes several."""
        if self.transition.short or self._parameters or self._family.chooses:
            return None
        found = self._family.whole
        program = found.from_leaf(source)
        return None if program is None else AtOnce(found.projector, program)

    def _of_leaf(self, found: LeafProblem, chosen: Choice) -> list[int]:
        """Positions of the constraints whose right-hand sides are those of the chosen leaf."""
        ends = set(self._parameters)
        for whole, one in chosen:
            if id(whole.complement) in ends:
                ends |= {id(one.hold), id(one.complement)}
        return [i for i, owner in enumerate(found.problem.constraints) if id(owner) in ends]


@final
class TransitionPlan:
    """What targets of a transition take.

    Attributes:
        transition: as given.
        steps: its inner transitions, or itself.
        chooses: the first of them that ends on a leaf that may be chosen; None where none does.
        doubts: what looks at its targets where it was made by hand; None where there is nothing to look at.
    """

    def __init__(self, problems: GraphProblems, selector: StateSelector, transition: Transition) -> None:
        self.transition, self._threshold, self._selector = transition, problems.options.threshold, selector
        parts = transition.inner or (transition,)
        self.chooses = next((part for part in parts if part.parameters), None)
        asked: dict[int, RowOwner] = {}
        there, steps = set[int](), list[TargetStep]()
        for part in parts:
            kept = {id(owner) for owner in part.constraints}
            own = {id(owner): owner for owner in part.parameters}
            on = {id(f.complement) for f in _ends_on(problems, part, asked) if id(f.complement) not in kept}
            parameters = (*own.values(), *(asked[key] for key in asked if key in on - own.keys()))
            asked |= own
            family = _of_targets(problems, part, parameters, len(parts))
            wanted = {id(owner) for owner in family.owners}
            repeats = bool(steps) and part.short and not parameters and wanted <= there
            steps.append(TargetStep(part, parameters, family, repeats))
            there = wanted
        self.steps = tuple(steps)
        self._ends = _ends_on(problems, parts[-1], asked)
        doubts = TargetDoubts(problems, selector, parts, problems.everywhere)
        self.doubts = doubts if doubts.doubted else None

    @cached_property
    def at_once(self) -> AtOnce | None:
        """What takes the first step from a start that is not checked; None where it takes several calls."""
        if self.chooses is not None or self._selector.has_branches(self.transition.source):
            return None
        return self.steps[0].at_once(self._selector.source(self.transition.source))

    def is_on_leaf(self, q: Vector, leaf: Vector, memory: GraphMemory) -> bool:
        """Whether the end of the transition is on the leaf that was chosen; true where it ends on none."""
        if not self._ends:
            return True
        here = leaf_at(self._ends, memory.at(q))
        return here.same_as(leaf_at(self._ends, memory.at(leaf)), self._threshold)


def _ends_on(problems: GraphProblems, transition: Transition, complements: Mapping[int, RowOwner]) -> list[Foliation]:
    """Of the foliations of some complements those on which a transition without waypoints ends.

    Once the leaf is chosen, all that ends on its foliation ends on it.
    """
    there = {id(owner) for owner in (*transition.target.constraints, *transition.containing.constraints)}
    of_these = [f for f in problems.foliations if id(f.complement) in complements]
    return [f for f in of_these if f.constraint is None or id(f.constraint) in there]


def _of_targets(
    problems: GraphProblems, transition: Transition, parameters: Sequence[RowOwner], parts: int
) -> ProblemFamily:
    """The problems of the targets of one of so many steps, which share the threshold."""
    options = replace(problems.options, threshold=problems.options.threshold / parts)
    if transition.short:
        options = replace(options, restarts=False, wrap=False)
    ends = (*transition.target.constraints, *transition.containing.constraints)
    return problems.family([*transition.constraints, *parameters, *ends], options)


@final
class TransitionPlans:
    """The plans of a graph, made on first use.

    Attributes:
        problems, selector: as given.
        of: the plan of a transition of the graph.
    """

    def __init__(self, problems: GraphProblems, selector: StateSelector) -> None:
        self.problems, self.selector = problems, selector
        self.of = cache(partial(TransitionPlan, problems, selector))
        self._onto: dict[tuple[int, ...], Transition] = {}

    def onto(
        self, transition: Transition, foliations: Sequence[Foliation], around: Sequence[Transition] = ()
    ) -> Transition:
        """The same transition, ending on a leaf of some foliations that is given.

        The leaf is chosen by its last motion that is not short: what follows is a short way from there. Where that
        motion keeps the leaf of its start, as the release of an object that stays where it is let go, a motion in the
        source state comes first, and chooses it.

        Args:
            transition: of the graph.
            foliations: those on which it ends, with a complement.
            around: transitions from its source to its source, of which the first plain one is that motion.
        """
        key = (id(transition), *map(id, foliations))
        found = self._onto.get(key)
        if found is None:
            parts = list(transition.inner or (transition,))
            last = max((i for i, part in enumerate(parts) if not part.short), default=0)
            keeps = {id(kept) for kept in parts[last].constraints}
            chosen = [f.complement for f in foliations if f.complement is not None]
            loop = next((each for each in around if not (each.is_level_set or each.inner)), None)
            before = [c for c in chosen if id(c) in keeps] if loop is not None else []
            parts[last] = replace(parts[last], condition=(), parameters=[c for c in chosen if id(c) not in keeps])
            if before and loop is not None:
                parts.insert(0, replace(loop, condition=(), parameters=before))
            whole = replace(transition, constraints=(), condition=None, parameters=(), inner=parts)
            found = whole if len(parts) > 1 or transition.inner else parts[0]
            self._onto[key] = found
        return found

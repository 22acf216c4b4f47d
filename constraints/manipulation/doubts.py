"""What is doubtful in a graph that was made by hand: asked when it is made, and looked at in targets.

A graph of the factory has no doubts: its holds are equivalent to constraint and complement, its paths can start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from liegroups.arrays import Vector

from ..rows.row_owner import RowOwner
from ..words import counted
from .foliation import Foliation, leaf_at
from .memory import GraphMemory
from .problems import GraphProblems, PathProblem

if TYPE_CHECKING:
    from .selector import StateSelector
    from .states import Transition

ROUGHLY = 10.0
"""So many thresholds a start may be off the paths from there: holds measure errors in other frames."""
SHOWN = 3
"""So many questions of a graph are logged; `graph.validate` tells all."""


def questions(
    transitions: Sequence[Transition], foliations: Sequence[Foliation], everywhere: Sequence[RowOwner]
) -> tuple[str, ...]:
    """What is asked about the transitions of a graph, from what they are made of: no configuration is looked at.

    Args:
        transitions: without waypoints.
        foliations: of the graph.
        everywhere: constraints of all configurations.
    """
    asked: dict[str, list[str]] = {}
    for transition in transitions:
        for words in (
            *_not_kept(transition, foliations, everywhere),
            *_not_at_start(transition, foliations, everywhere),
        ):
            asked.setdefault(words, []).append(transition.name)
    return tuple(f"{_transitions(names)}: {words}" for words, names in asked.items())


def shown(asked: Sequence[str]) -> str:
    """The first questions, and how many more there are."""
    more = len(asked) - SHOWN
    left = [f"and {counted(more, 'more question')}, in `graph.validate(rng)`"] if more > 0 else []
    return "; ".join([*asked[:SHOWN], *left])


def _transitions(names: Sequence[str]) -> str:
    first = ", ".join(f"'{name}'" for name in names[:2])
    return f"{'transition' if len(names) == 1 else 'transitions'} {first}" + (
        f" and {len(names) - 2} more" if len(names) > 2 else ""
    )


def _not_kept(transition: Transition, foliations: Sequence[Foliation], everywhere: Sequence[RowOwner]) -> Iterator[str]:
    """Foliations in which paths stay, but on no leaf."""
    containing = transition.containing
    there = _ids(containing.constraints, containing.path_constraints, everywhere)
    kept = _ids(transition.constraints, everywhere)
    for f in foliations:
        if f.complement is None or f.constraint is None or id(f.constraint) not in there:
            continue
        if id(f.complement) not in kept and id(f.hold) not in kept | there:
            yield (
                f"paths stay in '{containing}', which has the constraint of foliation '{f.name}', but its complement "
                f"'{f.complement.name}' is not among the constraints of the transition: may what it holds move there?"
            )


def _not_at_start(
    transition: Transition, foliations: Sequence[Foliation], everywhere: Sequence[RowOwner]
) -> Iterator[str]:
    """Constraints of paths that their start need not satisfy."""
    source, containing = transition.source, transition.containing
    known = _ids(source.constraints, source.path_constraints, everywhere)
    for owner in containing.constraints:
        if id(owner) not in known:
            yield f"paths stay in '{containing}', whose '{owner.name}' the source '{source}' has not: can they start?"
    there = known | _ids(containing.constraints, containing.path_constraints)
    held = {id(f.complement) for f in foliations if f.constraint is None or id(f.constraint) in there}
    for owner in transition.constraints:
        rows = owner.rows
        same = np.flatnonzero(rows.mask & ~rows.free_rhs & ~rows.one_sided)
        if same.size and id(owner) not in there | held:
            yield (
                f"row {int(same[0])} of '{owner.name}' is the same for all configurations, and the source '{source}' "
                "has it not: can paths start? (`Implicit.equal`, not `zero`, keeps what the start has)"
            )


def _ids(*owners: Iterable[RowOwner]) -> set[int]:
    return {id(owner) for each in owners for owner in each}


@final
class TargetDoubts:
    """Looks at targets of a transition some of whose parts are doubtful.

    Args:
        problems: of the graph.
        selector: knows what its states ask for.
        parts: the steps of the transition.
        everywhere: constraints of all configurations.

    Attributes:
        doubted: whether there is anything to look at.
    """

    def __init__(
        self,
        problems: GraphProblems,
        selector: StateSelector,
        parts: Sequence[Transition],
        everywhere: Sequence[RowOwner],
    ) -> None:
        self._problems, self._selector, self._parts = problems, selector, parts
        made = [f for f in problems.foliations if not f.proven]
        kept = _ids(*(part.constraints for part in parts), *(part.parameters for part in parts))
        held = any(id(f.complement) in kept for f in made)
        starts = (words for part in parts for words in _not_at_start(part, problems.foliations, everywhere))
        self.doubted = held or next(starts, None) is not None

    def found_in(self, start: Vector, ends: Sequence[Vector], memory: GraphMemory) -> str:
        """What is wrong with a target that was found, in words; nothing where it is right.

        Args:
            start: of the transition (nq,).
            ends: of its parts.
            memory: memory of the call.
        """
        for part, end in zip(self._parts, ends, strict=True):
            wrong = self.wrong_with(part, start, end, memory)
            if wrong:
                return wrong
            start = end
        return ""

    def wrong_with(self, part: Transition, start: Vector, end: Vector, memory: GraphMemory) -> str:
        """The same, of one part: it starts elsewhere, it ends in another state, or on another leaf."""
        off = off_the_start(self._problems.path(part, start), start, ROUGHLY * self._selector.threshold)
        if off:
            asked = "".join(
                f"; is '{f.hold.name}', the hold of foliation '{f.name}', equivalent to its constraint and complement?"
                for f in self._problems.foliations
                if not f.proven and off.startswith(f"{f.hold.name!r} ")
            )
            return f"paths of '{part}' cannot start there: {off}{asked}"
        for state in dict.fromkeys((part.target, part.containing)):
            missed = self._selector.misses(state, end, memory.workspace)
            if missed:
                return f"it is not in '{state}', though the constraints of '{part}' hold there: {missed}"
        kept = _ids(part.constraints)
        for f in self._problems.foliations:
            if id(f.complement) in kept:
                here, there = leaf_at([f], memory.at(start)), leaf_at([f], memory.at(end))
                if not here.same_as(there, ROUGHLY * self._selector.threshold):
                    return f"it is not on the leaf of its start ({here}; there {there})"
        return ""


def off_the_start(path: PathProblem, q: Vector, limit: float) -> str:
    """The constraint of paths that their start misses most, and how far, in words; nothing up to a limit.

    Args:
        path: the problem of paths from there.
        q: configuration (nq,) where they start.
        limit: largest error norm.
    """
    stack = path.problem.constraints
    norms = [norm for _, norm in stack.norms(path.problem.error(q, rhs=path.rhs))]
    worst = int(np.argmax(norms))
    return f"{stack.labels[worst]} is off by {norms[worst]:.3g}" if norms[worst] > limit else ""

"""Whether the states and transitions of a graph can be reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from liegroups.arrays import Vector

from ..ranges import whole_number
from ..solvers import Projection, Status
from ..solvers.result import Verdict
from ..words import counted

if TYPE_CHECKING:
    from .graph import ConstraintGraph

AT_BEST = "at best"
"""So begins what the best of some failed projections misses."""
LOW = 0.1
"""A rate of success below this is reported."""


class Rate(NamedTuple):
    """Number of successes and tries.

    Attributes:
        successes, tries: their numbers.
    """

    successes: int
    tries: int

    def __str__(self) -> str:
        return f"{self.successes} of {self.tries}"

    def of(self, noun: str) -> str:
        """In words: "2 of 3 targets"."""
        return f"{self.successes} of {counted(self.tries, noun)}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Validation(Verdict):
    """Result of sampling a graph. It is neither true nor false (`if validation:` raises): see `success`.

    Attributes:
        states: state, waypoint states too -> rate of successful projections.
        hidden: state -> state that contains all of its samples and comes first: by priority, or else by order.
        transitions: transition -> rate of targets found, from samples of its source state.
        failed_at: transition -> inner transition -> number of targets that failed there.
        missed: state, or transition, that was never reached -> in words, what the best try misses most.
        questions: what looks wrong in what the graph is made of (`graph.questions`); they may be meant.
    """

    states: Mapping[str, Rate]
    hidden: Mapping[str, str]
    transitions: Mapping[str, Rate]
    failed_at: Mapping[str, Mapping[str, int]]
    missed: Mapping[str, str] = field(default_factory=lambda: {})
    questions: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems found, one sentence each."""
        words: list[str] = []
        for name, rate in self.states.items():
            if rate.successes == 0:
                why = self._why(name, f"graph.sample('{name}', rng)")
                words.append(f"state '{name}' was never reached ({rate}){why}")
            elif rate.successes < LOW * rate.tries:
                words.append(f"state '{name}' was rarely reached ({rate})")
        words += [f"state '{name}' is contained in '{above}', which comes first" for name, above in self.hidden.items()]
        for name, rate in self.transitions.items():
            if rate.tries == 0:
                words.append(f"transition '{name}' was not tried: no configuration of its source state was found")
            elif rate.successes == 0:
                where = ", ".join(f"{count} at '{part}'" for part, count in self.failed_at[name].items())
                way = f"graph.target('{name}', q, guess).projections[-1]"
                words.append(f"no target of transition '{name}' was found ({rate}; {where}){self._why(name, way)}")
        return tuple(words)

    def _why(self, name: str, failed: str) -> str:
        """What the best try misses most, and the call that says more where there is a failed projection."""
        missed = self.missed.get(name, "")
        more = f"; `{failed}.diagnose()` says why" if missed.startswith(AT_BEST) else ""
        return f": {missed}{more}" if missed else ""

    @property
    def success(self) -> bool:
        """Whether no problem was found; questions are none."""
        return not self.problems

    def describe(self) -> str:
        """The rates of states and transitions in words, a line each, and what is wrong."""
        lines = [f"state '{name}': {rate.of('projection')}" for name, rate in self.states.items()]
        for name, rate in self.transitions.items():
            where = ", ".join(f"{count} at '{part}'" for part, count in self.failed_at.get(name, {}).items())
            lines.append(f"transition '{name}': {rate.of('target')}" + (f"; failed {where}" if where else ""))
        return "\n".join([*lines, *(self.problems or (self._well,)), *self.questions])

    @property
    def _well(self) -> str:
        """What is said where there is no problem: the state or transition that was found least, if any was missed."""
        rates = {f"state '{name}'": rate for name, rate in self.states.items()}
        rates |= {f"transition '{name}'": rate for name, rate in self.transitions.items()}
        missed = {what: rate for what, rate in rates.items() if rate.successes < rate.tries}
        if not missed:
            return "no problem was found" + (", but it is asked:" if self.questions else "")
        rarest = min(missed, key=lambda what: missed[what].successes / missed[what].tries)
        return f"nothing is unreachable; rarest: {rarest}, {missed[rarest]}"

    __str__ = __repr__ = describe


def validation(graph: ConstraintGraph, rng: np.random.Generator, count: int) -> Validation:
    """Sample every state, and every transition from the samples of its source state."""
    whole_number(count, "count of a validation", 1)
    found: dict[str, list[Vector]] = {}
    states: dict[str, Rate] = {}
    hidden: dict[str, str] = {}
    missed: dict[str, str] = {}
    for state in (*graph.states, *graph.waypoint_states):
        projections = graph.samples(state, rng, count)
        found[state.name] = [p.q for p in projections if p.success]
        states[state.name] = Rate(len(found[state.name]), count)
        if not found[state.name]:
            missed[state.name] = _most_missed(projections)
        if not state.waypoint:
            answers = {graph.state_of(q).name for q in found[state.name]}
            if len(answers) == 1 and answers != {state.name}:
                hidden[state.name] = answers.pop()
    transitions: dict[str, Rate] = {}
    failed: dict[str, Mapping[str, int]] = {}
    for transition in graph.transitions:
        ends = [graph.target(transition, start, graph.robot.random(rng)) for start in found[transition.source.name]]
        failed[transition.name] = dict(Counter(str(end.failed_at) for end in ends if not end.success))
        transitions[transition.name] = Rate(sum(end.success for end in ends), len(ends))
        if ends and not transitions[transition.name].successes:
            off = next((end.off for end in ends if end.off), "")
            missed[transition.name] = off or _most_missed([end.projections[-1] for end in ends])
    return Validation(states, hidden, transitions, failed, missed, graph.questions)


def _most_missed(failed: Iterable[Projection]) -> str:
    """What the best of some failed projections misses most: a constraint, or a bound; nothing where it is undefined."""
    tried = [each for each in failed if each.status is not Status.UNDEFINED]
    if not tried:
        return "a function has no value"
    best = min(tried, key=lambda each: each.residual)
    off, words = best.problem.constraints.worst(best.error())
    if off > best.options.threshold:
        return f"{AT_BEST} {words}"
    return f"{AT_BEST} {', '.join(map(str, best.violations)) or best.status.name}"

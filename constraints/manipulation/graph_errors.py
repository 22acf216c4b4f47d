"""Errors of a configuration against everything in a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from liegroups.arrays import Vector

from ..problem.problem import Problem
from ..rows.right_hand_side import RightHandSide
from .problems import NOTHING

if TYPE_CHECKING:
    from .graph import ConstraintGraph


@final
@dataclass(frozen=True, eq=False, repr=False)
class GraphErrors:
    """Error norms of one configuration.

    Attributes:
        states: state, waypoint states too -> constraint -> error norm; of an explicit loop it tells other branches too.
            Where constraints of a state share a name, their positions in `graph.problem_of(state)` are added:
            "upright (constraint 1)".
        transitions: transition without waypoints that leaves a state of the start -> constraint of its paths, on the
            leaf of the start -> error norm.
        threshold: threshold of states; paths use half of it.
    """

    states: Mapping[str, Mapping[str, float]]
    transitions: Mapping[str, Mapping[str, float]]
    threshold: float

    def describe(self) -> str:
        """A line for each state and transition: satisfied, or by which constraint it is off and how much."""
        lines: list[str] = []
        for kind, entries, limit in (
            ("state", self.states, self.threshold),
            ("transition", self.transitions, 0.5 * self.threshold),
        ):
            for name, errors in entries.items():
                off = {c: e for c, e in errors.items() if e > limit}
                words = ", ".join(f"'{c}' off by {e:.3g}" for c, e in off.items())
                lines.append(f"{kind} '{name}': {words or 'satisfied'}")
        return "\n".join(lines)

    __str__ = __repr__ = describe


def graph_errors(graph: ConstraintGraph, q: Vector, q_start: Vector) -> GraphErrors:
    """Errors of q by state, and by transition on the leaf of q_start."""
    states: dict[str, dict[str, float]] = {}
    for state in (*graph.states, *graph.waypoint_states):
        problem = graph.problem_of(state)
        states[state.name] = _norms(problem, q, problem.rhs)
    transitions: dict[str, dict[str, float]] = {}
    for transition in (*graph.transitions, *graph.inner_transitions):
        if not transition.inner and graph.contains(transition.source, q_start):
            problem, rhs = graph.path_problem(transition, q_start)
            transitions[transition.name] = _norms(problem, q, rhs)
    return GraphErrors(states, transitions, graph.threshold)


def _norms(problem: Problem, q: Vector, rhs: RightHandSide) -> dict[str, float]:
    names, norms = problem.constraints.names, problem.constraints.norms(problem.error(q, rhs=rhs))
    point, off_branch = problem.at(q), problem.resolution.branch_error
    return {
        name if names.count(name) == 1 else f"{name} (constraint {i})": max(norm, off_branch(point, rhs, owner))
        for i, ((name, norm), owner) in enumerate(zip(norms, problem.constraints, strict=True))
        if name != NOTHING
    }

"""Constraint graphs in words, and in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..rows.row_owner import RowOwner

if TYPE_CHECKING:
    from .graph import ConstraintGraph
    from .states import Transition


def describe(graph: ConstraintGraph) -> str:
    """States with their constraints, and the transitions that leave them."""
    lines = [repr(graph)]
    if graph.constraints:
        lines.append(f"everywhere: {_names(graph.constraints)}")
    for state in graph.states:
        lines.append(f"state '{state}' (priority {state.priority}): {_names(state.constraints)}")
        for transition in graph.transitions_from(state):
            lines.append(f"  {_arrow(transition)}, paths in '{transition.containing}'")
            if transition.constraints:
                lines.append(f"    on a leaf of {_names(transition.constraints)}")
            for part in transition.inner:
                lines.append(f"    {_arrow(part)}, paths in '{part.containing}'{', short' if part.short else ''}")
                if part.constraints:
                    lines.append(f"      on a leaf of {_names(part.constraints)}")
                if part.parameters:
                    lines.append(f"      ends on a chosen leaf of {_names(part.parameters)}")
    for state in graph.waypoint_states:
        lines.append(f"waypoint state '{state}': {_names(state.constraints)}")
    for foliation in graph.foliations:
        if foliation.complement is not None:
            constraint = "any configuration" if foliation.constraint is None else f"'{foliation.constraint.name}'"
            lines.append(f"foliation: {constraint} with '{foliation.complement.name}' is '{foliation.hold.name}'")
            lines += [f"  '{pair.object}' on '{pair.floor}'" for pair in foliation.variants]
    return "\n".join(lines)


def to_dot(graph: ConstraintGraph) -> str:
    """The graph for Graphviz (`dot -Tsvg`): ellipses are states, boxes waypoints; inner transitions have labels."""
    lines = [f"digraph {_quoted(graph.name)} {{", "  rankdir=LR;", "  node [fontsize=10]; edge [fontsize=8];"]
    for state in graph.states:
        label = "\\n".join([_escaped(state.name), *(_escaped(owner.name) for owner in state.constraints)])
        lines.append(f'  {_quoted(state.name)} [shape=ellipse, label="{label}"];')
    for state in graph.waypoint_states:
        lines.append(f"  {_quoted(state.name)} [shape=box, style=rounded, fontsize=8];")
    drawn = [t for t in graph.transitions if not t.inner] + list(graph.inner_transitions)
    for t in drawn:
        style = "dashed" if t.is_level_set else "dotted" if t.short else "solid"
        lines.append(
            f"  {_quoted(t.source.name)} -> {_quoted(t.target.name)} [label={_quoted(t.name)}, style={style}];"
        )
    return "\n".join([*lines, "}"])


def _arrow(transition: Transition) -> str:
    loop = "stays" if transition.is_loop else f"to '{transition.target}'"
    return f"'{transition}' {loop} (weight {transition.weight})"


def _names(owners: Iterable[RowOwner]) -> str:
    return ", ".join(f"{owner.name!r}" for owner in owners) or "no constraint"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'

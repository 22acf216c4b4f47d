"""States and transitions by name, and the graph they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, final

import networkx as nx
import numpy as np

from liegroups.arguments import expect

from ..errors import DuplicateNameError, GraphError, UnknownNameError
from .foliation import Foliation
from .states import State, Transition

_nx: Any = nx  # for the calls whose stubs leave types open


@final
class Network:
    """States and transitions by name. networkx stays inside.

    Attributes:
        states, transitions: by name, waypoint states and inner transitions included.
        inner: the inner transitions.

    Raises:
        DuplicateNameError: two of one name.
        GraphError: a transition needs a state that is not there.
    """

    def __init__(self, states: Sequence[State], transitions: Sequence[Transition]) -> None:
        inner = {id(part): part for whole in transitions for part in whole.inner}
        self.inner: tuple[Transition, ...] = tuple(inner.values())
        self.states = _by_name(states, "state")
        self.transitions = _by_name((*transitions, *self.inner), "transition")
        self._graph: Any = _nx.MultiDiGraph()
        self._graph.add_nodes_from(self.states)
        for transition in self.transitions.values():
            for state in (transition.source, transition.target, transition.containing):
                if self.states.get(state.name) is not state:
                    raise GraphError(f"transition '{transition}' needs the state '{state}', which is not in the graph")
        for transition in transitions:
            self._graph.add_edge(transition.source.name, transition.target.name, key=transition.name, of=transition)

    def state(self, which: Any) -> State:
        """A state, by its name or as it is."""
        return _find(which, self.states, "state", State)

    def transition(self, which: Any) -> Transition:
        """A transition, by its name or as it is."""
        return _find(which, self.transitions, "transition", Transition)

    def without_waypoints(self, which: Any) -> Transition:
        """A transition, by its name or as it is, whose paths are on one leaf.

        Raises:
            GraphError: it leads through waypoints; its parts are listed.
        """
        found = self.transition(which)
        if found.inner:
            parts = ", ".join(f"'{part}'" for part in found.inner)
            raise GraphError(
                f"transition '{found}' leads through waypoints, and each part has its own paths; give a part: {parts}"
            )
        return found

    def state_or_motion(self, where: State | Transition | str) -> State | Transition:
        """A state, or a transition whose paths are on one leaf, by its name or as it is; errors as above."""
        if isinstance(where, State) or (isinstance(where, str) and where in self.states):
            return self.state(where)
        return self.without_waypoints(where)

    def leaves(self, where: object, foliations: Sequence[Foliation]) -> tuple[State, list[Foliation]]:
        """Where paths of a transition, or loops of a state, stay, and the foliations whose leaf they keep."""
        if isinstance(where, State) or (isinstance(where, str) and where in self.states):
            state = self.state(where)
            loop = next((t for t in self.leaving(state) if t.target is state and not t.is_level_set), None)
            if loop is None:
                return state, [f for f in foliations if any(f.constraint is owner for owner in state.constraints)]
            where = loop
        transition = self.without_waypoints(where)
        kept = {id(owner) for owner in transition.constraints}
        return transition.containing, [f for f in foliations if f.complement is not None and id(f.complement) in kept]

    def leaving(self, state: State) -> list[Transition]:
        """Transitions that leave a state, inner ones not counted."""
        return [data["of"] for _, _, data in self._graph.out_edges(state.name, data=True)]

    def choose(self, state: State, rng: np.random.Generator) -> Transition:
        """A random transition that leaves a state, each as likely as its weight."""
        leaving = self.leaving(state)
        weights = np.maximum([t.weight for t in leaving], 0).astype(np.float64)
        if not weights.sum() > 0.0:
            raise GraphError(f"no transition of positive weight leaves the state '{state}'; there must be one")
        return leaving[int(rng.choice(len(leaving), p=weights / weights.sum()))]

    def shortest(self, source: State, target: State) -> tuple[Transition, ...]:
        """A shortest sequence of transitions, loops, level sets and hidden ones left out."""
        plain: Any = _nx.DiGraph()
        plain.add_nodes_from(self.states)
        for a, b, data in self._graph.edges(data=True):
            transition: Transition = data["of"]
            if not (transition.is_loop or transition.is_level_set or transition.weight < 0):
                plain.add_edge(a, b, of=transition)
        try:
            names: list[str] = list(_nx.shortest_path(plain, source.name, target.name))
        except _nx.NetworkXNoPath:
            raise GraphError(f"no transitions lead from '{source}' to '{target}'; there must be some") from None
        return tuple(plain[a][b]["of"] for a, b in pairwise(names))


def _by_name(entries: Sequence[Any], kind: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for entry in entries:
        if found.setdefault(entry.name, entry) is not entry:
            raise DuplicateNameError(f"{kind} of the graph", entry.name)
    return found


def _find(which: Any, among: Mapping[str, Any], kind: str, expected: type) -> Any:
    if isinstance(which, expected):
        if among.get(str(which)) is not which:
            same = f"no {kind} of this graph: it is {str(which)!r} of another one; give its name, or graph.{kind}(name)"
            words = same if str(which) in among else ""
            raise UnknownNameError(f"{kind} of this graph", str(which), tuple(among), words)
        return which
    name = expect(which, str, kind, f"a {expected.__name__} of the graph, or its name")
    if name not in among:
        raise UnknownNameError(kind, name, tuple(among))
    return among[name]

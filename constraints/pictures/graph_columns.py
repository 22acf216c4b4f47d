"""The states of a constraint graph in columns, ordered so that few of their links cross."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..manipulation.graph import ConstraintGraph

__all__ = ["Link", "columns_of", "links_of", "ordered", "stacked"]

SWEEPS = 8
"""How often columns are ordered by their neighbours."""
APART = 0.8
"""Height between two states: a loop is there [inch]."""


class Link(NamedTuple):
    """Two states with transitions between them.

    Attributes:
        states: names, that of the column further left first.
        gained: constraints that one end has and the other, of lower priority, has not: what is taken or released.
    """

    states: tuple[str, str]
    gained: tuple[str, ...]

    def other(self, name: str) -> str:
        """The other one of its states."""
        return self.states[1] if name == self.states[0] else self.states[0]


def links_of(graph: ConstraintGraph) -> list[Link]:
    """Pairs of states with transitions between them, in the order of the transitions."""
    columns = columns_of(graph)
    found: dict[frozenset[str], Link] = {}
    for transition in graph.transitions:
        if transition.is_loop:
            continue
        low, high = sorted((transition.source, transition.target), key=lambda state: state.priority)
        has = {id(owner) for owner in low.constraints}
        gained = tuple(owner.name for owner in high.constraints if id(owner) not in has)
        first, second = sorted((low.name, high.name), key=lambda name: columns[name])
        found.setdefault(frozenset((first, second)), Link((first, second), gained))
    return list(found.values())


def columns_of(graph: ConstraintGraph) -> dict[str, int]:
    """Column of each state: how many transitions away from those of lowest priority in its connected part it is.

    Where all of a part have one priority, it is counted from the first of them.
    """
    neighbours = defaultdict[str, set[str]](set)
    for transition in graph.transitions:
        neighbours[transition.source.name].add(transition.target.name)
        neighbours[transition.target.name].add(transition.source.name)
    columns: dict[str, int] = {}
    states = sorted(graph.states, key=lambda state: state.priority)
    for state in states:
        if state.name not in columns:
            part = _distances([state.name], neighbours)
            lowest = [o.name for o in states if o.name in part and o.priority == state.priority]
            columns |= part if len(lowest) == len(part) else _distances(lowest, neighbours)
    return columns


def _distances(names: Sequence[str], neighbours: Mapping[str, set[str]]) -> dict[str, int]:
    """How many steps away from some states others are."""
    distance, front = dict.fromkeys(names, 0), list(names)
    while front:
        steps = distance[front[0]] + 1
        front = [o for o in dict.fromkeys(o for name in front for o in sorted(neighbours[name])) if o not in distance]
        distance |= dict.fromkeys(front, steps)
    return distance


def ordered(names: Sequence[str], links: Sequence[Link], columns: Mapping[str, int]) -> list[list[str]]:
    """Names by column, each column from below, by the mean place of their neighbours in the others."""
    rows = defaultdict[int, list[str]](list)
    for name in names:
        rows[columns[name]].append(name)
    neighbours = {name: [link.other(name) for link in links if name in link.states] for name in names}
    place = {name: (i + 0.5) / len(row) for row in rows.values() for i, name in enumerate(row)}
    for sweep in range(SWEEPS):
        for column in sorted(rows, reverse=sweep % 2 == 1):
            row = rows[column]
            mean = {name: _mean([place[o] for o in neighbours[name]], place[name]) for name in row}
            row.sort(key=lambda name: mean[name])
            place |= {name: (i + 0.5) / len(row) for i, name in enumerate(row)}
    return [rows[column] for column in sorted(rows)]


def _mean(numbers: Sequence[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


def stacked(rows: Sequence[Sequence[str]], sizes: Mapping[str, float]) -> dict[str, float]:
    """Heights of the centres: columns from below, each spread over the height of the tallest one."""
    tallest = max((sum(sizes[name] + APART for name in row) for row in rows), default=0.0)
    y: dict[str, float] = {}
    for row in rows:
        free = (tallest - sum(sizes[name] for name in row)) / max(len(row), 1)
        top = 0.0
        for name in row:
            y[name] = top + 0.5 * free + 0.5 * sizes[name]
            top += free + sizes[name]
    return y

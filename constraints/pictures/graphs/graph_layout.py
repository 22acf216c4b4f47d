"""Where the states, waypoints and transitions of a constraint graph go in its picture: plain tuples, no figure."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from math import atan2, degrees
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx

from .layered import Place, heights

if TYPE_CHECKING:
    from ...manipulation.graph import ConstraintGraph
    from ...manipulation.states import State, Transition

_nx: Any = nx  # for the calls whose stubs leave types open

WIDTH, LINE, GAP = 2.5, 0.17, 3.4
"""Width of a state, height of a line of its text, least distance between columns without waypoints [inch]."""
WAYPOINT, STEP, INNER = 0.95, 0.6, 0.07
"""Width of a waypoint, distance between two of them, and of inner transitions from their middle [inch]."""
LANE = {False: 0.13, True: 0.47}
"""Distance of the first transition from the middle between its states, without and with waypoints on it [inch]."""
NEXT, ROOM = 0.26, 0.26
"""Distance between transitions beside each other, and around those of a pair of states [inch]."""
STEEPEST = 1.1
"""Slope of transitions at most: columns move apart."""
CHARACTERS = 32
"""In a line of a state."""
LETTER = 0.045
"""Width of a letter of an inner transition's name [inch]."""
APART = 0.8
"""Height between two states: a loop is there [inch]."""


class StatePair(NamedTuple):
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


class Box(NamedTuple):
    """A state, or a waypoint state.

    Attributes:
        name: of the state.
        lines: its text.
        centre, size: [inch].
        waypoint: whether it is only passed through.
    """

    name: str
    lines: tuple[str, ...]
    centre: Place
    size: Place
    waypoint: bool


class Arrow(NamedTuple):
    """A transition, or an inner one.

    Attributes:
        name: of the transition.
        source, target: names of states.
        label: what is written at it.
        points: its line [inch]; none for a loop.
        middle, tilt: place of the label, and angle of its text [degree].
        gained: constraints that its end of higher priority has and the other has not.
        inner, short, level_set: what it is.
    """

    name: str
    source: str
    target: str
    label: str
    points: tuple[Place, ...]
    middle: Place
    tilt: float
    gained: tuple[str, ...]
    inner: bool
    short: bool
    level_set: bool


class Picture(NamedTuple):
    """All of it.

    Attributes:
        boxes: by name of the state.
        arrows: transitions and inner ones; loops last.
    """

    boxes: dict[str, Box]
    arrows: tuple[Arrow, ...]


class _Track(NamedTuple):
    """The middle between a pair of states, from the first to the second: straight, or round others of their column."""

    a: Place
    b: Place
    bulge: float

    def at(self, t: float, beside: float = 0.0) -> Place:
        """A point, a distance to the left of it (above what leads to the right)."""
        (x0, y0), (x1, y1) = self.a, self.b
        x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
        return (x + 4.0 * t * (1.0 - t) * (self.bulge - beside), y) if self.bulge else (x, y + beside)

    def line(self, t0: float, t1: float, beside: float) -> tuple[Place, ...]:
        """A part of it."""
        n = 16 if self.bulge else 1
        return tuple(self.at(t0 + (t1 - t0) * i / n, beside) for i in range(n + 1))

    def leaves(self, height: float, beside: float) -> float:
        """How far from the middle of a waypoint of some height, as a part of the track, a line beside it leaves it."""
        dx, dy = self.b[0] - self.a[0], self.b[1] - self.a[1]
        if self.bulge:
            return 0.5 * height / abs(dy)
        over = 0.5 * height - (beside if dy > 0.0 else -beside)
        return min(0.5 * WAYPOINT / dx, over / abs(dy) if dy else 1.0)

    @property
    def tilt(self) -> float:
        """Angle of text along it [degree]."""
        return 0.0 if self.bulge else degrees(atan2(self.b[1] - self.a[1], self.b[0] - self.a[0]))


def picture_of(graph: ConstraintGraph, waypoints: bool) -> Picture:
    """Places of everything.

    States stand in columns, by how many transitions away from those of lowest priority they are. Waypoints stand on the
    line between the two states; transitions run beside it, those to the right above.

    Args:
        graph: the graph.
        waypoints: whether waypoint states and inner transitions are drawn.
    """
    columns = _columns(graph)
    pairs = _pairs(graph, columns)
    bands = {pair.states: _band(graph, pair, waypoints) for pair in pairs}
    boxes = _states(graph, pairs, columns, bands, waypoints)
    tracks = _tracks(pairs, columns, boxes, bands)
    arrows: list[Arrow] = []
    for pair in pairs:
        track = tracks[pair.states]
        chain = _chain(graph, pair) if waypoints else []
        passed = _waypoints(graph, pair, chain, track)
        boxes |= passed
        arrows += _arrows(graph, pair, passed, track, waypoints)
    if waypoints:
        boxes |= _aside(graph, boxes)
    for t in graph.transitions:
        if t.is_loop:
            x, y = boxes[t.source.name].centre[0], boxes[t.source.name].centre[1] + 0.5 * boxes[t.source.name].size[1]
            ends = (t.source.name, t.target.name)
            arrows.append(
                Arrow(t.name, *ends, t.name, (), (x + 0.3, y + 0.22), 0.0, (), False, t.short, t.is_level_set)
            )
    return Picture(boxes, tuple(arrows))


def _columns(graph: ConstraintGraph) -> dict[str, int]:
    """Column of each state: how many transitions away from those of lowest priority in its connected part it is.

    Where all of a part have one priority, it is counted from the first of them.
    """
    neighbours: Any = _nx.Graph()
    neighbours.add_nodes_from(state.name for state in graph.states)
    neighbours.add_edges_from((t.source.name, t.target.name) for t in graph.transitions)
    columns: dict[str, int] = {}
    for part in _nx.connected_components(neighbours):
        states = [state for state in graph.states if state.name in part]
        lowest = min(state.priority for state in states)
        first = [state.name for state in states if state.priority == lowest]
        layers = _nx.bfs_layers(neighbours, first if len(first) < len(states) else first[:1])
        columns |= {name: column for column, layer in enumerate(layers) for name in layer}
    return columns


def _pairs(graph: ConstraintGraph, columns: Mapping[str, int]) -> list[StatePair]:
    """Pairs of states with transitions between them, in the order of the transitions."""
    found: dict[frozenset[str], StatePair] = {}
    for transition in graph.transitions:
        if transition.is_loop:
            continue
        low, high = sorted((transition.source, transition.target), key=lambda state: state.priority)
        has = {id(owner) for owner in low.constraints}
        gained = tuple(owner.name for owner in high.constraints if id(owner) not in has)
        first, second = sorted((low.name, high.name), key=lambda name: columns[name])
        found.setdefault(frozenset((first, second)), StatePair((first, second), gained))
    return list(found.values())


def _of(graph: ConstraintGraph, pair: StatePair) -> list[Transition]:
    """Transitions of a pair: plain ones first."""
    ends = set(pair.states)
    found = [t for t in graph.transitions if {t.source.name, t.target.name} == ends]
    return sorted(found, key=lambda t: (t.is_level_set, t.source.name != pair.states[0]))


def _chain(graph: ConstraintGraph, pair: StatePair) -> list[State]:
    """Waypoint states between a pair, in order from its first state; each once."""
    found: dict[str, State] = {}
    for transition in _of(graph, pair):
        passed = [part.target for part in transition.inner][:-1]
        forth = transition.source.name == pair.states[0]
        found |= {state.name: state for state in (passed if forth else passed[::-1]) if state.name not in found}
    return list(found.values())


def _band(graph: ConstraintGraph, pair: StatePair, waypoints: bool) -> float:
    """Height that the transitions of a pair take at a state."""
    forth = sum(t.source.name == pair.states[0] for t in _of(graph, pair))
    most = max(forth, len(_of(graph, pair)) - forth)
    return 2.0 * (LANE[waypoints] + (most - 1) * NEXT + ROOM)


def _states(
    graph: ConstraintGraph,
    pairs: list[StatePair],
    columns: dict[str, int],
    bands: dict[tuple[str, str], float],
    waypoints: bool,
) -> dict[str, Box]:
    """States, high enough for the transitions on each of their sides."""
    sizes: dict[str, float] = {}
    lines: dict[str, tuple[str, ...]] = {}
    for state in graph.states:
        lines[state.name] = (*_wrapped(state.name), f"priority {state.priority}")
        sides = defaultdict[bool, float](float)
        for pair in pairs:
            if state.name in pair.states:
                sides[columns[pair.other(state.name)] > columns[state.name]] += bands[pair.states]
        sizes[state.name] = max(len(lines[state.name]) * LINE + 0.2, *sides.values(), 0.0)
    upwards = {state.name: columns[state.name] for state in graph.states[::-1]}  # the first one above the others
    y = heights(upwards, [pair.states for pair in pairs], {name: size + APART for name, size in sizes.items()})
    longest = max((len(_chain(graph, pair)) for pair in pairs), default=0) if waypoints else 0
    steepest = max((abs(y[a] - y[b]) for a, b in (pair.states for pair in pairs)), default=0.0)
    gap = max(longest * WAYPOINT + (longest + 1) * STEP if longest else GAP, steepest / STEEPEST)
    gap = max(gap, *(_written(graph, pair) for pair in pairs), 0.0) if waypoints else gap
    places = {name: (columns[name] * (WIDTH + gap) + 0.5 * WIDTH, y[name]) for name in sizes}
    return {name: Box(name, lines[name], places[name], (WIDTH, sizes[name]), False) for name in sizes}


def _written(graph: ConstraintGraph, pair: StatePair) -> float:
    """Distance between a pair of states at which the names of inner transitions fit between the waypoints [inch]."""
    steps = len(_chain(graph, pair)) + 1
    between = [WAYPOINT * 0.5 * (part.source.waypoint + part.target.waypoint) for part, _ in _inner_of(graph, pair)]
    names = [LETTER * len(_label(part, whole)) + 0.1 for part, whole in _inner_of(graph, pair)]
    return steps * max((a + b for a, b in zip(between, names, strict=True)), default=0.0)


def _inner_of(graph: ConstraintGraph, pair: StatePair) -> list[tuple[Transition, Transition]]:
    """Inner transitions of a pair, each with the transition it belongs to."""
    return [(part, whole) for whole in _of(graph, pair) for part in whole.inner]


def _label(part: Transition, whole: Transition) -> str:
    """What is written at an inner transition."""
    return _shortened(part.name, [whole.name, whole.name.removesuffix("_ls")])


def _wrapped(name: str) -> list[str]:
    """A name by lines, broken between its grasps first."""
    return [line for part in name.split(" : ") for line in textwrap.wrap(part, CHARACTERS)] or [" "]


def _tracks(
    pairs: list[StatePair],
    columns: dict[str, int],
    boxes: dict[str, Box],
    bands: dict[tuple[str, str], float],
) -> dict[tuple[str, str], _Track]:
    """The middle between each pair; at a state they are in the order of where they lead to."""
    ports: dict[tuple[str, tuple[str, str]], Place] = {}
    for name, box in boxes.items():
        for side in (-1, 1):
            there = [pair for pair in pairs if name in pair.states]
            there = [pair for pair in there if _side(name, pair, columns) == side]
            there.sort(key=lambda pair: boxes[pair.other(name)].centre[1])
            y = box.centre[1] - 0.5 * sum(bands[pair.states] for pair in there)
            for pair in there:
                x = box.centre[0] + 0.5 * side * box.size[0]
                ports[name, pair.states] = (x, y + 0.5 * bands[pair.states])
                y += bands[pair.states]
    found: dict[tuple[str, str], _Track] = {}
    for pair in pairs:
        a, b = pair.states
        bulge = 1.6 if columns[a] == columns[b] else 0.0
        found[pair.states] = _Track(ports[a, pair.states], ports[b, pair.states], bulge)
    return found


def _side(name: str, pair: StatePair, columns: dict[str, int]) -> int:
    """1 where transitions leave a state to the right, -1 where to the left; within a column they leave to the right."""
    return -1 if columns[pair.other(name)] < columns[name] else 1


def _waypoints(graph: ConstraintGraph, pair: StatePair, chain: list[State], track: _Track) -> dict[str, Box]:
    """Waypoint states of a pair, in the middle between its states."""
    names = [t.name for t in _of(graph, pair)]
    chooses = any(t.is_level_set for t in _of(graph, pair))
    found: dict[str, Box] = {}
    for i, state in enumerate(chain, start=1):
        lines = tuple(textwrap.wrap(_shortened(state.name, names), 14)) or (" ",)
        size = (WAYPOINT, max(len(lines) * 0.14 + 0.14, 0.5 if chooses else 0.0))
        found[state.name] = Box(state.name, lines, track.at(i / (len(chain) + 1)), size, True)
    return found


def _arrows(
    graph: ConstraintGraph, pair: StatePair, passed: dict[str, Box], track: _Track, waypoints: bool
) -> list[Arrow]:
    """Transitions of a pair, and the inner ones between its waypoints."""
    arrows: list[Arrow] = []
    known = set[str]()
    beside = defaultdict[bool, int](int)
    stations = {pair.states[0]: 0.0, **{name: box.size[1] for name, box in passed.items()}, pair.states[1]: 0.0}
    for t in _of(graph, pair):
        forth = t.source.name == pair.states[0]
        away = (1.0 if forth else -1.0) * (LANE[waypoints] + NEXT * beside[forth])
        beside[forth] += 1
        points = track.line(0.0, 1.0, away)
        middle = track.at(0.5, away + 0.1)
        ends = (t.source.name, t.target.name)
        kinds = (False, t.short, t.is_level_set)
        points = points if forth else points[::-1]
        arrows.append(Arrow(t.name, *ends, t.name, points, middle, track.tilt, pair.gained, *kinds))
        for part in t.inner if waypoints else ():
            if part.name not in known:
                known.add(part.name)
                arrows.append(_inner(part, t, stations, track, pair.gained))
    return arrows


def _inner(
    part: Transition, whole: Transition, stations: dict[str, float], track: _Track, gained: tuple[str, ...]
) -> Arrow:
    """An inner transition, between two of the stations of its pair, whose heights are given."""
    names, heights = list(stations), list(stations.values())
    i, j = names.index(part.source.name), names.index(part.target.name)
    first, last, n = min(i, j), max(i, j), len(names) - 1
    side = 1.0 if i < j else -1.0
    away = side * (INNER if not part.is_level_set else INNER + 0.14)
    t0 = first / n + (track.leaves(heights[first], away) if first else 0.0)
    t1 = last / n - (track.leaves(heights[last], -away) if last < n else 0.0)
    points = track.line(t0, t1, away)
    middle = track.at(0.5 * (t0 + t1), away + side * 0.07)
    return Arrow(
        part.name, part.source.name, part.target.name, _label(part, whole), points if i < j else points[::-1],
        middle, track.tilt, gained, True, part.short, part.is_level_set,
    )  # fmt: skip


def _aside(graph: ConstraintGraph, boxes: dict[str, Box]) -> dict[str, Box]:
    """Waypoint states that are on no pair: below everything, side by side."""
    left = [state for state in graph.waypoint_states if state.name not in boxes]
    low = min(box.centre[1] - 0.5 * box.size[1] for box in boxes.values()) - 0.6 if boxes else 0.0
    found: dict[str, Box] = {}
    for i, state in enumerate(left):
        lines = tuple(_wrapped(state.name))
        centre = (0.5 * WIDTH + i * (WIDTH + 0.3), low)
        found[state.name] = Box(state.name, lines, centre, (WIDTH, len(lines) * 0.14 + 0.12), True)
    return found


def _shortened(name: str, whole: list[str]) -> str:
    """A name without that of the transition it belongs to, where a factory has put it in front with an underscore."""
    start = max((other for other in whole if name.startswith(f"{other}_")), key=len, default="")
    return re.sub(r"^[_\W]+", "", name[len(start) :]) or name

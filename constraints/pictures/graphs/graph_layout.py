"""Where the states, waypoints and transitions of a constraint graph go in its picture: plain tuples, no figure."""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx

from ..figures import LETTER
from .layered import Place, heights

if TYPE_CHECKING:
    from ...manipulation.graph import ConstraintGraph
    from ...manipulation.states import State, Transition

WIDTH, LINE = 2.5, 0.17
"""Width of a state, height of a line of text [inch]."""
GAP, SLOPE = 0.6, 0.3
"""Least distance beside a state in which transitions bend [inch], and least part of what they climb there."""
WAYPOINT, STEP, LEAST = 0.95, 0.7, 0.5
"""Width of a waypoint, least distance between two of them, and least height of one [inch]."""
NEXT, INNER, APART = 0.26, 0.07, 0.8
"""Distance between transitions, of inner ones from the middle, and between two states, where a loop is [inch]."""
LABEL, SMALL = 7.5, 5.5
"""Sizes of the names of transitions, and of inner ones [points]."""
CHARACTERS, FEW = 32, 14
"""In a line of a state, and of a waypoint."""
_nx: Any = nx  # for the calls whose stubs leave types open


class Box(NamedTuple):
    """A state, or a waypoint state.

    Attributes:
        state: which.
        lines: what is written in it.
        centre, size: [inch].
    """

    state: State
    lines: tuple[str, ...]
    centre: Place
    size: Place

    @property
    def sides(self) -> Place:
        """Its left and right end [inch]."""
        return self.centre[0] - 0.5 * self.size[0], self.centre[0] + 0.5 * self.size[0]


class Arrow(NamedTuple):
    """A transition, or an inner one.

    Attributes:
        transition: which.
        label: what is written at it.
        points: where it leads [inch]; of a loop its two ends.
        gained: constraints that its end of higher priority has and the other has not.
        inner: whether it is a part of a transition.
    """

    transition: Transition
    label: str
    points: tuple[Place, ...]
    gained: tuple[str, ...] = ()
    inner: bool = False

    @property
    def middle(self) -> Place:
        """The middle of its longest part, which is level [inch]."""
        a, b = max(pairwise(self.points), key=lambda leg: abs(leg[1][0] - leg[0][0]))
        return 0.5 * (a[0] + b[0]), a[1]


class Picture(NamedTuple):
    """All of it.

    Attributes:
        boxes: by name of the state.
        arrows: transitions and inner ones; loops last.
        size: width and height, from the origin [inch].
    """

    boxes: dict[str, Box]
    arrows: tuple[Arrow, ...]
    size: Place


class _Link(NamedTuple):
    """Two states with transitions between them.

    Attributes:
        ends: the states, that of lower priority first; of one priority the first one of the graph.
        ways: its transitions, plain ones first.
        inner: the inner ones that are drawn, with their labels.
        passed: waypoint states, in order from the first state, with their texts.
    """

    ends: tuple[State, State]
    ways: list[Transition]
    inner: dict[Transition, str]
    passed: dict[State, tuple[str, ...]]

    @property
    def gained(self) -> tuple[str, ...]:
        """Constraints that the second state has and the first has not: what is taken or released."""
        has = {id(owner) for owner in self.ends[0].constraints}
        return tuple(owner.name for owner in self.ends[1].constraints if id(owner) not in has)

    @property
    def lane(self) -> float:
        """Distance of the first transitions from the middle: they pass the waypoints [inch]."""
        return 0.5 * (max((_height(lines) for lines in self.passed.values()), default=0.0) + NEXT)

    @property
    def height(self) -> float:
        """Of the band of its transitions, those of each way on one side of its middle [inch]."""
        most = max(Counter(way.target.name for way in self.ways).values())
        return 2.0 * (self.lane + most * NEXT)

    @property
    def width(self) -> float:
        """Of a band in which all names can be read [inch]."""
        step = max([STEP, *(LETTER * SMALL * len(label) for label in self.inner.values())])
        waypoints = len(self.passed) * (WAYPOINT + step) + step
        return max([waypoints, *(LETTER * LABEL * len(way.name) for way in self.ways)])


def picture_of(graph: ConstraintGraph, waypoints: bool) -> Picture:
    """Places of everything.

    States stand in columns: each to the right of those of lower priority with which it has transitions, and of those of
    equal priority that the graph has before it. The transitions between two states share a band, those to the right
    above its middle, and waypoints stand in this. Where a band passes a column it has a place there as a state has. So
    nothing lies over anything else; only between columns lines cross.

    Args:
        graph: the graph.
        waypoints: whether waypoint states and inner transitions are drawn.
    """
    links = _links(graph, waypoints)
    linked = {state.name for link in links for state in link.passed}
    alone = [state for state in graph.waypoint_states if waypoints and state.name not in linked]
    states = [*graph.states, *alone]
    columns = _columns(states, links)
    chains = [_chain(link, columns) for link in links]
    room = {state.name: _size(state, links) + APART for state in states[::-1]}  # the first one above the others
    room |= {name: link.height for link, chain in [*zip(links, chains, strict=True)][::-1] for name in chain[1:-1]}
    columns |= {name: 1 + column for chain in chains for column, name in enumerate(chain[1:-1], columns[chain[0]])}
    legs = [leg for chain in chains for leg in pairwise(chain)]
    y = heights({name: columns[name] for name in room}, legs, room)
    between = max((link.width for link in links), default=0.0)
    gap = max([GAP, *(SLOPE * abs(y[a] - y[b]) for a, b in legs)])

    def sides(name: str) -> Place:
        stage, is_between = divmod(columns[name], 2)
        left = stage * (WIDTH + between + 2.0 * gap) + is_between * (WIDTH + gap)
        return left, left + (between if is_between else WIDTH)

    boxes: dict[str, Box] = {}
    for state in states:
        centre, size = (sum(sides(state.name)) / 2.0, y[state.name]), (WIDTH, room[state.name] - APART)
        boxes[state.name] = Box(state, _wrapped(state.name), centre, size)
    arrows: list[Arrow] = []
    for link, chain, (start, end) in zip(links, chains, _ports(links, chains, y), strict=True):
        bands = [(x, y[name]) for name in chain[1:-1] for x in sides(name)]
        track = [(sides(chain[0])[1], start), *bands, (sides(chain[-1])[0], end)]
        step = (between - WAYPOINT * len(link.passed)) / (len(link.passed) + 1)
        for i, (state, lines) in enumerate(link.passed.items(), start=1):
            x = bands[0][0] + i * (step + WAYPOINT) - 0.5 * WAYPOINT
            boxes[state.name] = Box(state, lines, (x, bands[0][1]), (WAYPOINT, _height(lines)))
        arrows += _arrows(link, track, boxes)
    width = max((sides(name)[1] for name in boxes if name in room), default=0.0)
    height = max((y[name] + 0.5 * room[name] for name in y), default=0.0)
    return Picture(boxes, (*arrows, *_loops(graph, boxes)), (width, height))


def _links(graph: ConstraintGraph, waypoints: bool) -> list[_Link]:
    """Pairs of states with transitions between them, in the order of the transitions; each waypoint in one of them."""
    found: dict[frozenset[str], list[Transition]] = defaultdict(list)
    for transition in graph.transitions:
        if not transition.is_loop:
            found[frozenset((transition.source.name, transition.target.name))].append(transition)
    rank = {state.name: (state.priority, i) for i, state in enumerate(graph.states)}
    links, taken = list[_Link](), set[str]()
    for ways in found.values():
        first, second = sorted((ways[0].source, ways[0].target), key=lambda state: rank[state.name])
        ways.sort(key=lambda way: (way.is_level_set, way.target is first))
        names = [way.name for way in ways]
        inner: dict[str, tuple[Transition, str]] = {}
        passed: dict[str, State] = {}
        for way in ways if waypoints else ():
            through = [part.target for part in way.inner[:-1]]
            passed |= {state.name: state for state in through[:: 1 if way.target is second else -1]}
            labels = [way.name, way.name.removesuffix("_ls")]
            inner |= {part.name: (part, _shortened(part.name, labels)) for part in way.inner if part.name not in inner}
        texts = {
            state: tuple(textwrap.wrap(_shortened(name, names), FEW))
            for name, state in passed.items()
            if name not in taken
        }
        taken |= {*passed}
        links.append(_Link((first, second), ways, dict(inner.values()), texts))
    return links


def _columns(states: Sequence[State], links: Iterable[_Link]) -> dict[str, int]:
    """Column of each state: those of bands are between."""
    order: Any = _nx.DiGraph([(first.name, second.name) for first, second in (link.ends for link in links)])
    order.add_nodes_from(state.name for state in states)
    return {name: 2 * i for i, names in enumerate(_nx.topological_generations(order)) for name in names}


def _chain(link: _Link, columns: dict[str, int]) -> list[str]:
    """Names of what stands between two states, these at its ends: a band in each column."""
    a, b = (state.name for state in link.ends)
    return [a, *(f"{a} to {b}, column {column}" for column in range(columns[a] + 1, columns[b])), b]


def _size(state: State, links: Sequence[_Link]) -> float:
    """Height of a state: of its text, or of the bands on one of its sides [inch]."""
    bands = [sum(link.height for link in links if link.ends[side] is state) for side in (0, 1)]
    return max((len(_wrapped(state.name)) + 3) * LINE, *bands)


def _ports(links: Sequence[_Link], chains: Sequence[Sequence[str]], y: dict[str, float]) -> list[list[float]]:
    """Heights at which the middle of each link meets its two states, in the order of where they lead to [inch]."""
    ports = [[0.0, 0.0] for _ in links]
    for end, beside in ((0, 1), (-1, -2)):
        there = defaultdict[str, list[int]](list)
        for i in sorted(range(len(links)), key=lambda i: y[chains[i][beside]]):
            there[chains[i][end]].append(i)
        for name, numbers in there.items():
            low = y[name] - 0.5 * sum(links[i].height for i in numbers)
            for i in numbers:
                ports[i][end] = low + 0.5 * links[i].height
                low += links[i].height
    return ports


def _arrows(link: _Link, track: Sequence[Place], boxes: dict[str, Box]) -> list[Arrow]:
    """Transitions of a link, along its middle; inner ones between the states and waypoints of their ends."""
    arrows, beside = list[Arrow](), Counter[int]()
    for way in link.ways:
        side = 1 if way.target is link.ends[1] else -1
        away = side * (link.lane + NEXT * beside[side])
        beside[side] += 1
        arrows.append(Arrow(way, way.name, tuple((x, y + away) for x, y in track)[::side], link.gained))
    ends = {state.name: point for state, point in zip(link.ends, (track[0], track[-1]), strict=True)}
    for part, label in link.inner.items():
        stations = [
            [ends[name]] * 2 if name in ends else [(x, boxes[name].centre[1]) for x in boxes[name].sides]
            for name in (part.source.name, part.target.name)
        ]
        side = 1 if stations[0] < stations[1] else -1
        (_, start), (end, _) = stations[::side]
        away = side * INNER * (3 if part.is_level_set else 1)
        passed = [point for point in track if start[0] < point[0] < end[0]]
        points = tuple((x, y + away) for x, y in (start, *passed, end))
        arrows.append(Arrow(part, label, points[::side], link.gained, True))
    return arrows


def _loops(graph: ConstraintGraph, boxes: dict[str, Box]) -> list[Arrow]:
    """Loops, side by side over their states."""
    found: dict[str, list[Transition]] = defaultdict(list)
    for transition in graph.transitions:
        if transition.is_loop:
            found[transition.source.name].append(transition)
    arrows: list[Arrow] = []
    for name, loops in found.items():
        (left, right), top = boxes[name].sides, boxes[name].centre[1] + 0.5 * boxes[name].size[1]
        for i, loop in enumerate(loops, start=1):
            x = left + (right - left) * i / (len(loops) + 1)
            arrows.append(Arrow(loop, loop.name, ((x - LINE, top), (x + LINE, top))))
    return arrows


def _height(lines: Sequence[str]) -> float:
    """Of a waypoint with this text [inch]."""
    return max((len(lines) + 1) * LINE, LEAST)


def _wrapped(name: str) -> tuple[str, ...]:
    """A name by lines, broken between its grasps first."""
    return tuple(line for part in name.split(" : ") for line in textwrap.wrap(part, CHARACTERS))


def _shortened(name: str, whole: Sequence[str]) -> str:
    """A name without that of the transition it belongs to, where a factory has put it in front with an underscore."""
    start = max((other for other in whole if name.startswith(f"{other}_")), key=len, default="")
    return re.sub(r"^[_\W]+", "", name[len(start) :]) or name

"""The dependencies of explicit constraints as a picture."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...problem.resolution import Dependency
from ..figures import bare_axes, check_place, save_figure
from .layered import Place, draw_box, draw_line, heights

WIDTH, GAP, LINE, ROOM = 2.2, 0.8, 0.15, 0.18
"""Width of a box, distance between columns, height of a line of text, free height between boxes [inch]."""
CHARACTERS = 32
"""In a line of a box."""
FREE, COMPUTED, RESOLVED, IMPLICIT = "#f2f2f2", "#dff0d8", "#d6e6f5", "#fdecea"
WARNING = "#c0392b"
LINES = ("#7f7f7f", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#17becf", "#bcbd22", "#e377c2")
"""Colours of what is read: all lines that leave a box have one."""


class _Node(NamedTuple):
    """A box, or a place where a line passes a column.

    Attributes:
        label: its lines of text; none where a line passes.
        computes: lines of text about what it computes.
        column: counted from the left: dofs that nothing computes, then the generations.
    """

    label: tuple[str, ...]
    computes: tuple[str, ...]
    column: int


class _Graph(NamedTuple):
    """Nodes by key, and arrows between neighbouring columns with their colours."""

    nodes: dict[str, _Node]
    arrows: dict[tuple[str, str], str]


def plot_dependencies(
    dependencies: Sequence[Dependency], path: str | os.PathLike[str] | None = None, ax: Any = None
) -> Any:
    """Draw explicit constraints between the joints that they read and those that they compute.

    Left are dofs that none computes; then, generation by generation, constraints with what they compute below. An arrow
    leads from dofs to a constraint that reads them. Constraints that became implicit are listed below, with the reason.

    Args:
        dependencies: the constraints, `problem.resolution.dependencies(problem.space)`.
        path: also write the figure there.
        ax: matplotlib axes; a figure of its own if absent.

    Returns:
        The matplotlib figure.

    Raises:
        WrongObjectError: `ax` are no axes, `path` no path.
        MissingExtraError: matplotlib is not installed.
        FileError: the figure cannot be written.
    """
    check_place(ax, path)
    graph = _graph([one for one in dependencies if one.generation is not None])
    places, width, height = _placed(graph)
    refused = [one for one in dependencies if one.generation is None]
    width = max(width, 3 * (WIDTH + GAP)) if refused or not dependencies else width
    notes, depth = _notes(refused, width)
    axes = bare_axes(ax, (-0.2, width + 0.2), (-depth - 0.1, height + 0.6), path is None)
    _draw_arrows(axes, graph, places)
    for key, node in graph.nodes.items():
        _draw_node(axes, places[key], node)
    _draw_headings(axes, graph, height)
    _draw_refused(axes, notes)
    if not dependencies:
        axes.text(0.0, 0.0, "no explicit constraints", fontsize=9)
    return save_figure(axes.figure, path, 120)


def _graph(dependencies: Sequence[Dependency]) -> _Graph:
    """Joints and constraints by column; a line across columns passes each of them at a place of its own."""
    source = {joint: f"constraint {i}" for i, one in enumerate(dependencies) for joint in one.writes}
    nodes: dict[str, _Node] = {}
    for joint in (joint for one in dependencies for joint in one.reads):
        if joint not in source:
            nodes[f"joint {joint}"] = _Node(_lines(joint), (), 0)
    for i, one in enumerate(dependencies):
        nodes[f"constraint {i}"] = _Node(_lines(one.name), _lines(", ".join(one.writes)), 1 + (one.generation or 0))
    colours: dict[str, str] = {}
    arrows: dict[tuple[str, str], str] = {}
    for i, one in enumerate(dependencies):
        for start in dict.fromkeys(source.get(joint, f"joint {joint}") for joint in one.reads):
            colour = colours.setdefault(start, LINES[len(colours) % len(LINES)])
            before, end = start, nodes[f"constraint {i}"].column
            for passed in range(nodes[start].column + 1, end):
                via = f"line from {start} at {passed}"
                nodes[via] = _Node((), (), passed)
                arrows[before, via] = colour
                before = via
            arrows[before, f"constraint {i}"] = colour
    return _Graph(nodes, arrows)


def _placed(graph: _Graph) -> tuple[dict[str, Place], float, float]:
    """Centres of the nodes [inch], and the size of the whole."""
    sizes = {key: ROOM + _box_height(it.label) + _box_height(it.computes) for key, it in graph.nodes.items()}
    columns = {key: graph.nodes[key].column for key in reversed(graph.nodes)}  # the first one above the others
    y = heights(columns, graph.arrows, sizes)
    places = {key: (column * (WIDTH + GAP) + 0.5 * WIDTH, y[key]) for key, column in columns.items()}
    width = max(columns.values(), default=0) * (WIDTH + GAP) + WIDTH
    return places, width, max((y[key] + 0.5 * sizes[key] for key in y), default=0.0)


def _box_height(lines: Sequence[str]) -> float:
    return len(lines) * LINE + 0.1 if lines else 0.0


def _lines(text: str) -> tuple[str, ...]:
    return tuple(textwrap.wrap(text, CHARACTERS)) or (" ",)


def _notes(refused: Sequence[Dependency], width: float) -> tuple[list[tuple[float, tuple[str, ...], list[str]]], float]:
    """Constraints that became implicit: the top of each, its label, its words; and the depth of all."""
    notes, depth = list[tuple[float, tuple[str, ...], list[str]]](), 0.6 if refused else 0.0
    for one in refused:
        words = f"{one.reason}. Would compute {', '.join(one.writes)} from {', '.join(one.reads) or 'nothing'}."
        lines = textwrap.wrap(words, max(int((width - WIDTH) / 0.072), 30))
        label = _lines(one.name)
        notes.append((-depth, label, lines))
        depth += max(_box_height(label), len(lines) * LINE) + ROOM
    return notes, depth


def _draw_node(axes: Any, centre: Place, node: _Node) -> None:
    """The box of a joint; or of a constraint, with what it computes below."""
    x, y = centre
    label, computes = _box_height(node.label), _box_height(node.computes)
    if computes:
        _draw_labelled(axes, (x, y + 0.5 * computes), node.label, RESOLVED)
        _draw_labelled(axes, (x, y - 0.5 * label), node.computes, COMPUTED)
    elif label:
        _draw_labelled(axes, centre, node.label, FREE)


def _draw_labelled(
    axes: Any, centre: Place, label: Sequence[str], colour: str, edge: str = "#555555", style: str = "-"
) -> None:
    """A box with its text."""
    size = (WIDTH, _box_height(label))
    draw_box(axes, centre, size, facecolor=colour, edgecolor=edge, linestyle=style, linewidth=0.9, zorder=3)
    axes.text(*centre, "\n".join(label), ha="center", va="center", fontsize=7.5, zorder=4, linespacing=1.1)


def _draw_arrows(axes: Any, graph: _Graph, places: dict[str, Place]) -> None:
    """Lines from column to column, level at both ends, with a head where they reach a constraint."""
    for (a, b), colour in graph.arrows.items():
        x0, x1 = places[a][0] + 0.5 * WIDTH, places[b][0] - 0.5 * WIDTH
        y0, y1 = _leaves_at(places[a][1], graph.nodes[a]), places[b][1] + 0.5 * _box_height(graph.nodes[b].computes)
        points = [(x0, y0), (x0 + 0.5 * GAP, y0), (x1 - 0.5 * GAP, y1), (x1, y1)]
        if not graph.nodes[a].label:  # a line that passes this column
            points.insert(0, (x0 - WIDTH, y0))
        reaches = bool(graph.nodes[b].label)
        face = colour if reaches else "none"
        draw_line(axes, points, 8 if reaches else None, True, facecolor=face, edgecolor=colour, linewidth=1.1, zorder=1)


def _leaves_at(y: float, node: _Node) -> float:
    """Where lines leave a box: at what it computes."""
    return y - 0.5 * _box_height(node.label) if node.computes else y


def _draw_headings(axes: Any, graph: _Graph, height: float) -> None:
    for column in sorted({node.column for node in graph.nodes.values() if node.label}):
        heading = f"generation {column - 1}" if column else "not computed"
        axes.text(column * (WIDTH + GAP) + 0.5 * WIDTH, height + 0.25, heading, ha="center", fontsize=9, weight="bold")


def _draw_refused(axes: Any, notes: Sequence[tuple[float, tuple[str, ...], list[str]]]) -> None:
    if notes:
        axes.text(0.0, -0.45, "became implicit: solved by Newton steps", fontsize=9, weight="bold", color=WARNING)
    for top, label, lines in notes:
        half = 0.5 * _box_height(label)
        _draw_labelled(axes, (0.5 * WIDTH, top - half), label, IMPLICIT, WARNING, "--")
        axes.text(WIDTH + 0.15, top - half, "\n".join(lines), va="center", fontsize=7.5, linespacing=1.1)

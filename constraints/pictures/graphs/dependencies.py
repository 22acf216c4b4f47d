"""The dependencies of explicit constraints as a picture."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...problem.resolution import Dependency
from ..figures import LETTER, bare_axes, check_place, save_figure
from .layered import Place, draw_box, draw_line, heights

WIDTH, GAP, LINE, ROOM = 2.2, 0.8, 0.15, 0.18
"""Width of a box, distance between columns, height of a line of text, free height between boxes [inch]."""
CHARACTERS = 32
"""In a line of a box."""
PAD, ABOVE, BELOW, HEADED = 0.1, 0.15, 0.6, 0.45
"""Room in a box for its text, below headings, above constraints that became implicit, and of headings [inch]."""
SMALL, HEADING, THIN = 7.5, 9.0, 1.0
"""Sizes of text and of headings, width of lines [points]."""
FREE, RESOLVED, COMPUTED, IMPLICIT = "#f2f2f2", "#d6e6f5", "#dff0d8", "#fdecea"
EDGE, WARNING = "#555555", "#c0392b"


class _Node(NamedTuple):
    """Boxes on each other.

    Attributes:
        column: counted from the left: dofs that nothing computes, then the generations.
        boxes: lines of text, and colour of each, from above; none where a line passes a column.
    """

    column: int
    boxes: tuple[tuple[list[str], str], ...] = ()

    @property
    def height(self) -> float:
        """Of all [inch]."""
        return sum(_height(lines) for lines, _ in self.boxes)


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
    nodes, lines = _graph([one for one in dependencies if one.generation is not None])
    refused = [one for one in dependencies if one.generation is None]
    sizes = {key: nodes[key].height + ROOM for key in reversed(nodes)}  # the first one above the others
    y = heights({key: nodes[key].column for key in sizes}, [leg for line in lines for leg in pairwise(line)], sizes)
    columns = sorted({node.column for node in nodes.values() if node.boxes})
    width = max([_left(3 if refused else 1), *(_left(column) + WIDTH for column in columns)])
    height = max((y[key] + 0.5 * sizes[key] for key in y), default=0.0) + ABOVE
    notes = [(_lines(one.name), textwrap.wrap(_why(one), int((width - WIDTH) / (LETTER * SMALL)))) for one in refused]
    depths = [max(_height(label), _height(words)) + ROOM for label, words in notes]
    below = sum(depths) + BELOW if refused else ROOM
    axes = bare_axes(ax, (-ROOM, width + ROOM), (-below, height + HEADED), path is None)
    colours = {start: f"C{i}" for i, start in enumerate(dict.fromkeys(line[0] for line in lines))}
    for line in lines:
        _draw_line(axes, [(nodes[key], y[key]) for key in line], colours[line[0]])
    for key, node in nodes.items():
        top = y[key] + 0.5 * node.height
        for text, colour in node.boxes:
            _draw_box(axes, (_left(node.column), top), text, colour)
            top -= _height(text)
    for column in columns:
        heading = f"generation {column - 1}" if column else "not computed"
        axes.text(_left(column) + 0.5 * WIDTH, height, heading, ha="center", fontsize=HEADING, weight="bold")
    top = -BELOW
    if refused:
        words = "became implicit: solved by Newton steps"
        axes.text(0.0, top + ABOVE, words, fontsize=HEADING, weight="bold", color=WARNING)
    for (label, words), depth in zip(notes, depths, strict=True):
        _draw_box(axes, (0.0, top), label, IMPLICIT, WARNING, "--")
        axes.text(WIDTH + ABOVE, top - PAD, "\n".join(words), va="top", fontsize=SMALL)
        top -= depth
    if not dependencies:
        axes.text(0.0, 0.0, "no explicit constraints", fontsize=HEADING)
    return save_figure(axes.figure, path)


def _graph(dependencies: Sequence[Dependency]) -> tuple[dict[str, _Node], list[list[str]]]:
    """Joints and constraints, and lines between them; these pass each column between at a place of its own."""
    source = {joint: f"constraint {i}" for i, one in enumerate(dependencies) for joint in one.writes}
    free = dict.fromkeys(joint for one in dependencies for joint in one.reads if joint not in source)
    nodes = {f"joint {joint}": _Node(0, ((_lines(joint), FREE),)) for joint in free}
    for i, one in enumerate(dependencies):
        boxes = (_lines(one.name), RESOLVED), (_lines(", ".join(one.writes)), COMPUTED)
        nodes[f"constraint {i}"] = _Node(1 + (one.generation or 0), boxes)
    lines: list[list[str]] = []
    for i, one in enumerate(dependencies):
        end = f"constraint {i}"
        for start in dict.fromkeys(source.get(joint, f"joint {joint}") for joint in one.reads):
            passed = range(nodes[start].column + 1, nodes[end].column)
            nodes |= {f"from {start} in {column}": _Node(column) for column in passed}
            lines.append([start, *(f"from {start} in {column}" for column in passed), end])
    return nodes, lines


def _why(one: Dependency) -> str:
    return f"{one.reason}. Would compute {', '.join(one.writes)} from {', '.join(one.reads) or 'nothing'}."


def _left(column: int) -> float:
    return column * (WIDTH + GAP)


def _height(lines: Sequence[str]) -> float:
    return len(lines) * LINE + PAD


def _lines(text: str) -> list[str]:
    return textwrap.wrap(text, CHARACTERS)


def _draw_box(axes: Any, corner: Place, lines: Sequence[str], colour: str, edge: str = EDGE, style: str = "-") -> None:
    """A box with its text, from its upper left corner."""
    (x, y), height = corner, _height(lines)
    box = {"facecolor": colour, "edgecolor": edge, "linestyle": style, "linewidth": THIN}
    draw_box(axes, (x + 0.5 * WIDTH, y - 0.5 * height), (WIDTH, height), "\n".join(lines), box, fontsize=SMALL)


def _draw_line(axes: Any, stations: Sequence[tuple[_Node, float]], colour: str) -> None:
    """A line from what a node computes, through columns, to what another one reads."""
    (start, y0), *passed, (end, y1) = stations
    points = [(_left(start.column) + WIDTH, y0 - 0.5 * (start.height - _height(start.boxes[-1][0])))]
    points += [(x, y) for node, y in passed for x in (_left(node.column), _left(node.column) + WIDTH)]
    points.append((_left(end.column), y1 + 0.5 * (end.height - _height(end.boxes[0][0]))))
    draw_line(axes, points, color=colour, linewidth=THIN)

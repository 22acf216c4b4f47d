"""The constraint graph as a picture. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from math import cos, radians, sin
from typing import TYPE_CHECKING, Any

from liegroups.arguments import as_flag

from ..figures import bare_axes, check_place, save_figure
from .graph_layout import LINE, Arrow, Box, Picture, picture_of
from .layered import draw_box, draw_line

if TYPE_CHECKING:
    from ...manipulation.graph import ConstraintGraph

STATE, WAYPOINT, GREY = "#dcebf7", "#f6f6f6", "#9a9a9a"
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#e377c2", "#7f7f7f", "#bcbd22")
"""By what a transition takes or gives."""
MARGIN, BELOW = 0.45, 0.32
"""Free room around [inch], and height of a line of the key."""
MOST_LABELS = 40
"""Transitions whose names are written; in a picture of more only the key says what they take."""


def plot_graph(
    graph: ConstraintGraph, path: str | os.PathLike[str] | None = None, ax: Any = None, waypoints: bool = True
) -> Any:
    """Draw states, the transitions between them, and what these lead through.

    Boxes are states, in columns by how many transitions away from those of lowest priority they are, and small ones
    waypoint states. Thick arrows are transitions, coloured by the constraints that their end of higher priority has and
    the other has not (the grasp that is taken or released); thin grey ones inner transitions, dotted where short.
    Level-set transitions are dashed.

    Args:
        graph: the graph.
        path: also write the figure there.
        ax: matplotlib axes; a figure of its own if absent.
        waypoints: draw waypoint states and inner transitions too; where links cross, they may hide each other.

    Returns:
        The matplotlib figure.

    Raises:
        WrongObjectError: `ax` are no axes, `path` no path, `waypoints` no truth value.
        MissingExtraError: matplotlib is not installed.
        FileError: the figure cannot be written.
    """
    check_place(ax, path)
    as_flag(waypoints, "waypoints of a picture")
    picture = picture_of(graph, waypoints)
    key = _key(picture)
    corners = [(*box.centre, *(0.5 * size for size in box.size)) for box in picture.boxes.values()] or [(0, 0, 0, 0)]
    right = max(max(x + w for x, _, w, _ in corners), 4.5)
    right = max([right, *(x for arrow in picture.arrows for x, _ in arrow.points)])
    low, high = min(y - h for _, y, _, h in corners), max(y + h for _, y, _, h in corners)
    across, up = (-MARGIN, right + MARGIN), (low - BELOW * (len(key) + 1) - MARGIN, high + MARGIN + 0.4)
    axes = bare_axes(ax, across, up, path is None)
    for box in picture.boxes.values():
        _draw_box(axes, box)
    colours = _colours(picture)
    named = sum(not arrow.inner for arrow in picture.arrows) <= MOST_LABELS
    for arrow in picture.arrows:
        if arrow.source == arrow.target:
            _draw_loop(axes, picture.boxes[arrow.source], arrow)
        else:
            _draw_arrow(axes, arrow, GREY if arrow.inner else colours[arrow.gained], named or arrow.inner)
    _draw_key(axes, key, low - MARGIN)
    return save_figure(axes.figure, path, 120)


def _colours(picture: Picture) -> dict[tuple[str, ...], str]:
    """A colour for each set of constraints that some transition takes."""
    gained = dict.fromkeys(arrow.gained for arrow in picture.arrows if arrow.source != arrow.target)
    return {names: COLOURS[i % len(COLOURS)] for i, names in enumerate(gained)}


def _draw_box(axes: Any, box: Box) -> None:
    """A state or waypoint state."""
    x, y = box.centre
    face, edge, width = (WAYPOINT, GREY, 0.7) if box.waypoint else (STATE, "#333333", 1.3)
    draw_box(axes, box.centre, box.size, facecolor=face, edgecolor=edge, linewidth=width, zorder=5)
    if box.waypoint:
        axes.text(x, y, "\n".join(box.lines), ha="center", va="center", fontsize=7, color="#555555", zorder=6)
        return
    *name, priority = box.lines
    axes.text(x, y + 0.5 * LINE, "\n".join(name), ha="center", va="center", fontsize=8.5, weight="bold", zorder=6)
    below = y + 0.5 * LINE - 0.5 * len(name) * LINE - 0.45 * LINE
    axes.text(x, below, priority, ha="center", va="center", fontsize=7, color="#555555", zorder=6)


def _draw_arrow(axes: Any, arrow: Arrow, colour: str, labelled: bool) -> None:
    """A transition between two states, with its name beside it."""
    head, width, order = (7, 0.8, 2) if arrow.inner else (11, 1.6, 3)
    draw_line(
        axes, arrow.points, head, linewidth=width, edgecolor=colour, zorder=order,
        facecolor=colour if len(arrow.points) == 2 else "none",
        linestyle="--" if arrow.level_set else ":" if arrow.inner and arrow.short else "-",
    )  # fmt: skip
    if labelled:
        axes.text(
            *arrow.middle, arrow.label, ha="center", va="center", rotation=arrow.tilt, rotation_mode="anchor",
            fontsize=5.5 if arrow.inner else 7.5, color="#777777" if arrow.inner else colour, zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.75},
        )  # fmt: skip


def _draw_loop(axes: Any, box: Box, arrow: Arrow) -> None:
    """A loop, over its state."""
    x, top = box.centre[0], box.centre[1] + 0.5 * box.size[1]
    angle = radians(65.0)
    reach = [(-cos(angle), sin(angle)), (cos(angle), sin(angle))]
    points = [(x - 0.12, top), *((x + 0.9 * dx, top + 0.5 * dy) for dx, dy in reach), (x + 0.12, top)]
    style = "--" if arrow.level_set else "-"
    draw_line(axes, points, 9, True, linewidth=1.2, edgecolor="#555555", facecolor="none", linestyle=style, zorder=3)
    axes.text(*arrow.middle, arrow.label, fontsize=7, color="#555555", va="center", zorder=4)


def _key(picture: Picture) -> list[tuple[str, str, str]]:
    """Lines of the key: what is drawn, its colour, its style; only of what there is."""
    key = [(f"take, release: {', '.join(n) or 'no constraint'}", c, "-") for n, c in _colours(picture).items()]
    arrows = picture.arrows
    if any(arrow.level_set for arrow in arrows):
        key.append(("level set: chooses the leaf where it ends", "#333333", "--"))
    inner = [arrow.label for arrow in arrows if arrow.inner]
    if inner:
        numbers = ", by the numbers of its ends" if all(label[:2].isdigit() for label in inner) else ""
        key.append((f"inner transition{numbers}", GREY, "-"))
    if any(arrow.inner and arrow.short for arrow in arrows):
        key.append(("short inner transition", GREY, ":"))
    return key


def _draw_key(axes: Any, key: list[tuple[str, str, str]], low: float) -> None:
    for i, (words, colour, style) in enumerate(key):
        y = low - BELOW * (i + 0.5)
        axes.plot([0.0, 0.55], [y, y], color=colour, linestyle=style, linewidth=1.0 if colour == GREY else 1.8)
        axes.text(0.7, y, words, va="center", fontsize=7.5)

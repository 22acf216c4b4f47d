"""The constraint graph as a picture. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from liegroups.arguments import as_flag

from ..figures import QUIET, TEXT, bare_axes, check_place, save_figure
from .graph_layout import LABEL, LINE, SMALL, Arrow, Box, picture_of
from .layered import ABOVE, draw_arrow, draw_box, draw_line

if TYPE_CHECKING:
    from ...manipulation.graph import ConstraintGraph

GREY = "#9a9a9a"
STATE = {"facecolor": "#dcebf7", "edgecolor": "#333333"}
WAYPOINT = {"facecolor": "#f6f6f6", "edgecolor": GREY}
NAME, THICK, THIN = 8.5, 1.6, 0.8
"""Size of the names of states, widths of lines of transitions and of inner ones [points]."""
MARGIN, BESIDE, KEY = 0.3, 0.03, 4.5
"""Free room around all, between a line and its name, and least width, which the key has room in [inch]."""
MOST_LABELS = 40
"""Transitions whose names are written; in a picture of more only the key says what they take."""


def plot_graph(
    graph: ConstraintGraph, path: str | os.PathLike[str] | None = None, ax: Any = None, waypoints: bool = True
) -> Any:
    """Draw states, the transitions between them, and what these lead through.

    Boxes are states, each to the right of those of lower priority with which it has transitions, and small ones
    waypoint states. Thick arrows are transitions, coloured by the constraints that their end of higher priority has and
    the other has not (the grasp that is taken or released); thin grey ones inner transitions, dotted where short.
    Level-set transitions are dashed.

    Args:
        graph: the graph.
        path: also write the figure there.
        ax: matplotlib axes; a figure of its own if absent.
        waypoints: draw waypoint states and inner transitions too.

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
    plain = [arrow for arrow in picture.arrows if not arrow.inner]
    gained = dict.fromkeys(arrow.gained for arrow in plain if not arrow.transition.is_loop)
    colours = {names: f"C{i}" for i, names in enumerate(gained)}
    key = _key(picture.arrows, colours)
    (width, height), below = picture.size, LINE * (len(key) + 1)
    axes = bare_axes(ax, (-MARGIN, max(width, KEY) + MARGIN), (-below - MARGIN, height), path is None)
    for arrow in picture.arrows:
        if arrow.transition.is_loop:
            _draw_loop(axes, arrow)
        else:
            _draw_arrow(axes, arrow, colours, arrow.inner or len(plain) <= MOST_LABELS)
    for box in picture.boxes.values():
        _draw_state(axes, box)
    if key:
        place = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "bbox_transform": axes.transData}
        axes.legend(handles=key, frameon=False, fontsize=LABEL, **place)
    return save_figure(axes.figure, path)


def _draw_state(axes: Any, box: Box) -> None:
    """A state with its priority, or a waypoint state."""
    text = "\n".join(box.lines)
    if box.state.waypoint:
        draw_box(axes, box.centre, box.size, text, {**WAYPOINT, "linewidth": THIN}, fontsize=LABEL, color=QUIET)
        return
    draw_box(axes, box.centre, box.size, text, {**STATE, "linewidth": THICK}, fontsize=NAME, weight="bold")
    below = box.centre[1] - 0.5 * LINE * (len(box.lines) + 1)
    words = {"fontsize": LABEL, "color": QUIET, "ha": "center", "va": "center", "zorder": ABOVE}
    axes.text(box.centre[0], below, f"priority {box.state.priority}", **words)


def _draw_arrow(axes: Any, arrow: Arrow, colours: dict[tuple[str, ...], str], labelled: bool) -> None:
    """A transition between two states, with its name beside it: above what leads to the right."""
    own = GREY if arrow.inner else colours[arrow.gained]
    draw_line(axes, arrow.points, color=own, linewidth=THIN if arrow.inner else THICK, linestyle=_style(arrow))
    if labelled:
        (x, y), above = arrow.middle, arrow.points[0] < arrow.points[-1]
        words = {"fontsize": SMALL, "color": QUIET} if arrow.inner else {"fontsize": LABEL, "color": own}
        y, beside = (y + BESIDE, "bottom") if above else (y - BESIDE, "top")
        axes.text(x, y, arrow.label, ha="center", va=beside, **words)


def _style(arrow: Arrow) -> str:
    """Of its line."""
    return "--" if arrow.transition.is_level_set else ":" if arrow.inner and arrow.transition.short else "-"


def _draw_loop(axes: Any, arrow: Arrow) -> None:
    """A loop, over its state."""
    loop = {"connectionstyle": "arc3,rad=-1.5", "color": QUIET, "linewidth": THICK, "linestyle": _style(arrow)}
    draw_arrow(axes, *arrow.points, **loop)
    x, y = arrow.points[1]
    axes.text(x, y + LINE, arrow.label, fontsize=LABEL, color=QUIET, va="center")


def _key(arrows: Iterable[Arrow], colours: dict[tuple[str, ...], str]) -> list[Any]:
    """Lines of the key: only of what there is."""
    line: Any = importlib.import_module("matplotlib.lines").Line2D
    inner = [arrow for arrow in arrows if arrow.inner]
    numbers = ", by the numbers of its ends" if all(arrow.label[:2].isdigit() for arrow in inner) else ""
    entries = [(f"take, release: {', '.join(names) or 'no constraint'}", c, "-") for names, c in colours.items()]
    level_set = any(arrow.transition.is_level_set for arrow in arrows)
    entries += [("level set: chooses the leaf where it ends", TEXT, "--")] if level_set else []
    entries += [(f"inner transition{numbers}", GREY, "-")] if inner else []
    entries += [("short inner transition", GREY, ":")] if any(arrow.transition.short for arrow in inner) else []
    return [line([], [], color=colour, linestyle=style, label=words) for words, colour, style in entries]

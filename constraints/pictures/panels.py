"""Figures with one picture of a scene or with several, side by side on one scale."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from .figures import QUIET, new_figure
from .scenes import DrawnScene
from .views import new_axes

LINE = 0.21
"""Height of a line of a title [inch]."""
FOOT = 0.34
"""Height of the line at the bottom, which says the distance of grid lines, and of a line of the legend [inch]."""
LETTER = 0.1
"""Mean width of a letter of a title [inch]."""
MOST_IN_A_ROW = 4
KEY = 0.75
"""Width of an entry of the legend without its letters [inch]."""
SCALES = (0.75, 0.55, 0.2, 0.15)
"""Room for the scales of a flat picture: left, below, right, above [inch]."""


class Panels(NamedTuple):
    """A figure with places for pictures.

    Attributes:
        figure: matplotlib's.
        axes: of the pictures, row by row.
        feet: where each picture ends below: its middle, and its lower end, as parts of the figure.
    """

    figure: Any
    axes: list[Any]
    feet: list[tuple[float, float]]


def in_a_row(count: int) -> int:
    """How many of so many pictures of a strip are side by side."""
    return -(-count // -(-count // MOST_IN_A_ROW))


class PanelLayout(NamedTuple):
    """How pictures stand in a figure.

    Attributes:
        side: of a picture that is as wide as high [inch].
        columns: pictures in a row, at most.
        heading: stands above all, in the free room at the top.
        above, below: free room at the top, and below each row [inch].
        least: least width of the figure [inch].
        scales: with numbers along flat axes.
    """

    side: float = 4.0
    columns: int = MOST_IN_A_ROW
    heading: str = ""
    above: float = 0.0
    below: float = 0.0
    least: float = 0.0
    scales: bool = False


def panels(scene: DrawnScene, titles: Sequence[str], shown: bool, layout: PanelLayout = PanelLayout()) -> Panels:  # noqa: B008
    """A figure with a picture of the scene's part of the world for each title, and a legend where there is need of one.

    Args:
        scene: what is drawn in them later.
        titles: one a picture; "" without.
        shown: whether it is for pyplot to show; otherwise for a file.
        layout: of the pictures.
    """
    side, columns, heading, above, below, least, scales = layout
    ratio = scene.region.ratio(scene.view)
    wide, high = side / ratio**0.5, side * ratio**0.5
    left, under, right, over = SCALES if scales and scene.view.flat else (0.1, 0.1, 0.1, 0.1)
    across = left + wide + right
    columns = min(columns, len(titles))
    width = max(across * columns, least)
    across = width / columns
    lines = [textwrap.wrap(title, max(int(across / LETTER), 8)) or [""] for title in titles]
    head = LINE * max(len(text) for text in lines) + 0.1 if any(titles) else 0.0
    key = scene.key()
    longest = max((len(line.get_label()) for line in key), default=0)
    keys = min(len(key), max(int(width / (KEY + 0.085 * longest)), 1))
    foot = (0.0 if scales and scene.view.flat else FOOT) + (FOOT * -(-len(key) // keys) if key else 0.0)
    down, rows = head + over + high + under + below, -(-len(titles) // columns)
    height = above + rows * down + foot
    figure = new_figure(width, height, "none", shown=shown)
    if heading:
        figure.text(0.5, 1.0 - 0.12 / height, heading, ha="center", va="top", fontsize=12)
    axes, feet = list[Any](), list[tuple[float, float]]()
    for i, text in enumerate(lines):
        row, column = divmod(i, columns)
        top = height - above - row * down
        x = column * across + left + 0.5 * (across - left - wide - right)
        place = (x / width, (top - head - over - high) / height, wide / width, high / height)
        axes.append(new_axes(figure, place, scene.view))
        middle = (x + 0.5 * wide) / width
        feet.append((middle, place[1]))
        if text != [""]:
            figure.text(middle, (top - head + 0.02) / height, "\n".join(text), ha="center", va="bottom", fontsize=12)
    if foot and not (scales and scene.view.flat):
        words = f"grid {scene.region.grid:g} m"
        figure.text(0.5, (foot - 0.24) / height, words, ha="center", fontsize=9, color=QUIET)
    if key:
        figure.legend(handles=key, loc="lower center", ncols=keys, frameon=False, fontsize=10, borderaxespad=0.2)
    return Panels(figure, axes, feet)

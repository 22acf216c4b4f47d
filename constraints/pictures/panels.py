"""Figures with one picture of a scene or with several, side by side on one scale."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from .figures import LETTER, QUIET, new_figure
from .scenes import DrawnScene
from .views import new_axes

LINE, FOOT = 0.21, 0.34
"""Heights of a line of a title, and of one of the legend or the line at the bottom, which says the grid [inch]."""
TITLE, SMALL = 12.0, 9.0
"""Sizes of titles and small print [points]."""
MOST_IN_A_ROW = 4
"""Pictures beside each other."""
SIDE = 4.0
"""Of a picture that is as wide as high [inch]."""
KEY = 0.75
"""Width of an entry of the legend without its letters [inch]."""
SCALES, BARE = (0.75, 0.55, 0.2, 0.15), (0.1, 0.1, 0.1, 0.1)
"""Room around a picture with scales, and without: left, below, right, above [inch]."""


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

    side: float = SIDE
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
    ratio, scaled = scene.region.ratio(scene.view), scales and scene.view.flat
    wide, high, columns = side / ratio**0.5, side * ratio**0.5, min(columns, len(titles))
    left, under, right, over = SCALES if scaled else BARE
    spare = 0.5 * max(least / columns - left - wide - right, 0.0)
    left, right = left + spare, right + spare
    across, rows = left + wide + right, -(-len(titles) // columns)
    lines = [textwrap.wrap(title, int(across / (LETTER * TITLE))) for title in titles]
    head = LINE * (max(1, *map(len, lines)) + 0.5) if any(titles) else 0.0
    key = scene.key()
    entry = KEY + LETTER * TITLE * max((len(line.get_label()) for line in key), default=0)
    keys = max(int(across * columns / entry), 1)
    feet = -(-len(key) // keys) + (not scaled)
    between = under + below + head + over
    width, height = across * columns, above + rows * (high + between) + FOOT * feet
    figure = new_figure(width, height, "none", shown=shown)
    grid = figure.add_gridspec(
        rows, columns, left=left / width, right=1.0 - right / width, wspace=(left + right) / wide,
        bottom=(FOOT * feet + below + under) / height, top=1.0 - (above + head + over) / height, hspace=between / high,
    )  # fmt: skip
    places = [grid[i].get_position(figure) for i in range(len(titles))]
    for place, text in zip(places, lines, strict=True):
        if text:
            top = place.ymax + over / height
            figure.text(0.5 * (place.x0 + place.x1), top, "\n".join(text), ha="center", va="bottom", fontsize=TITLE)
    if heading:
        figure.text(0.5, 1.0 - 0.5 * LINE / height, heading, ha="center", va="top", fontsize=TITLE)
    if not scaled:
        middle = FOOT * (feet - 0.5) / height
        figure.text(0.5, middle, f"grid {scene.region.grid:g} m", ha="center", va="center", fontsize=SMALL, color=QUIET)
    if key:
        figure.legend(handles=key, loc="lower center", ncols=keys, frameon=False, borderaxespad=0.0)
    axes = [new_axes(figure, place.bounds, scene.view) for place in places]
    return Panels(figure, axes, [(0.5 * (place.x0 + place.x1), place.y0) for place in places])

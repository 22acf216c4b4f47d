"""Layered pictures: boxes in columns, in an order in which few lines cross, at heights that keep lines level.

The columns are the caller's: distances (`networkx.bfs_layers`) or generations (`networkx.topological_generations`).
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import fmean
from typing import Any

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

Place = tuple[float, float]
"""A point of a picture, to the right and up [inch]."""

SWEEPS = 16
"""How often the columns are ordered by their neighbours."""
HEAD, ABOVE = 9.0, 5.0
"""Size of heads of arrows [points], and order of what is drawn above them."""


def heights(
    columns: Mapping[str, int], lines: Iterable[tuple[str, str]], sizes: Mapping[str, float]
) -> dict[str, float]:
    """Heights of the centres of boxes [inch]; the lowest box begins at 0.

    Sugiyama's method: again and again, each column is put in the order of the mean height of its neighbours, on its
    left on the way to the right, and on its right on the way back. Of all these orders the one with the fewest
    crossings is taken, and its boxes are moved towards all their neighbours, so that lines are level.

    Args:
        columns: column of each box, from the left; boxes of one column stand from below in this order where nothing
            else is known.
        lines: pairs of boxes with a line between them.
        sizes: height of each box, with the room around it [inch].
    """
    graph: nx.Graph[str] = nx.Graph([*lines])
    graph.add_nodes_from(columns)
    rows = [[name for name in columns if columns[name] == column] for column in sorted({*columns.values()})]
    y: dict[str, float] = {}
    for row in rows:
        y |= _stacked(row, dict.fromkeys(row, 0.0), sizes)
    orders = [(_crossings(graph, columns, y), 0, rows, y)]
    for sweep in range(1, SWEEPS + 1):
        way = 1 if sweep % 2 else -1
        rows, y = [[*row] for row in rows], {**y}
        for row in rows[::way]:
            wanted = _means(graph, columns, y, row, way)
            if sweep > SWEEPS // 2:
                row.reverse()  # boxes with equal means change places: the sort is stable
            row.sort(key=wanted.__getitem__)
            y |= _stacked(row, wanted, sizes)
        orders.append((_crossings(graph, columns, y), sweep, rows, y))
    *_, rows, y = min(orders)
    for _ in range(SWEEPS):
        for row in rows:
            y |= _stacked(row, _means(graph, columns, y, row), sizes)
    lowest = min((y[name] - 0.5 * sizes[name] for name in y), default=0.0)
    return {name: y[name] - lowest for name in columns}


def _means(
    graph: Any, columns: Mapping[str, int], y: Mapping[str, float], row: Iterable[str], way: int = 0
) -> dict[str, float]:
    """Mean height of the neighbours of each box, on its left (way 1), its right (-1) or both (0); else its own."""
    wanted: dict[str, float] = {}
    for name in row:
        steps = {other: columns[name] - columns[other] for other in graph[name]}
        wanted[name] = fmean([y[other] for other, step in steps.items() if step and way * step >= 0] or [y[name]])
    return wanted


def _crossings(graph: Any, columns: Mapping[str, int], y: Mapping[str, float]) -> int:
    """How often lines between the same two columns cross."""
    between = defaultdict[tuple[int, ...], list[tuple[float, ...]]](list)
    for line in graph.edges:
        left, right = sorted(line, key=columns.__getitem__)
        between[columns[left], columns[right]].append((y[left], y[right]))
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0.0 for there in between.values() for a, b in combinations(there, 2))


def _stacked(row: Sequence[str], wanted: Mapping[str, float], sizes: Mapping[str, float]) -> dict[str, float]:
    """Heights of one column, from below: as near as they can be to what is wanted (least squares), none overlapping.

    With the heights that boxes would have if they stood on each other taken off, "none overlaps" is "none falls".
    """
    each = np.array([sizes[name] for name in row])
    stood = np.cumsum(each) - 0.5 * each
    apart: Any = isotonic_regression(np.array([wanted[name] for name in row]) - stood)
    return dict(zip(row, (apart.x + stood).tolist(), strict=True))


def draw_box(axes: Any, centre: Place, size: Place, text: str, style: dict[str, Any], **words: Any) -> None:
    """Draw a rounded box [inch], above all lines, with a text in its middle, in the style of `words`."""
    patches: Any = importlib.import_module("matplotlib.patches")
    corner = [middle - 0.5 * side for middle, side in zip(centre, size, strict=True)]
    shape = "round,pad=0,rounding_size=0.06"
    axes.add_patch(patches.FancyBboxPatch(corner, *size, boxstyle=shape, zorder=ABOVE, **style))
    axes.text(*centre, text, ha="center", va="center", zorder=ABOVE, **words)


def draw_line(axes: Any, points: Sequence[Place], **style: Any) -> None:
    """Draw an arrow through points: level at each of them, and curved (a cubic of Bézier) between two heights."""
    path: Any = importlib.import_module("matplotlib.path").Path
    corners = [points[0]]
    for (x0, y0), (x1, y1) in pairwise(points):
        corners += [(0.5 * (x0 + x1), y0), (0.5 * (x0 + x1), y1), (x1, y1)]
    draw_arrow(axes, path=path(corners, [path.MOVETO, *[path.CURVE4] * (len(corners) - 1)]), **style)


def draw_arrow(axes: Any, *ends: Place, **style: Any) -> None:
    """Draw an arrow from one of two ends to the other, or along a path."""
    patches: Any = importlib.import_module("matplotlib.patches")
    whole = {"arrowstyle": "-|>", "mutation_scale": HEAD, **style}
    axes.add_patch(patches.FancyArrowPatch(*ends, **whole))

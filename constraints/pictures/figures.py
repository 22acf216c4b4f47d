"""Figures: made for pyplot or for a file, and written to files. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import importlib
import io
import os
import textwrap
from collections.abc import Mapping
from functools import partial
from types import NoneType
from typing import Any

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Vector

from ..errors import FileError, WrongObjectError
from ..exports import from_extra
from ..files.writing import as_path, write_file

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#000000")
"""Colours that people with any colour vision can tell apart (Okabe and Ito, without those kept for good and bad)."""
GOOD, BAD = "#007a5a", "#d55e00"
"""Of what is closed or found, and of what is open or failed."""
QUIET, TEXT = "#606060", "#303030"
"""Of small print, and of text."""
LINES = (*PALETTE, BAD, QUIET)
"""Colours of curves: more lines cannot be told apart."""

WIDE, HIGH, DOTS = 7.0, 2.4, 100
"""Width of a figure of curves, height of each of its panels [inch]; pixels an inch in files."""
BESIDE: Any = {"frameon": False, "fontsize": "small", "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
"""Where legends of curves are: matplotlib's search for a free place takes long where there are many points."""
LETTER = 0.0085
"""Mean width of a letter, as a part of its size in points [inch]."""


def new_figure(width: float, height: float, layout: str = "constrained", *, shown: bool = True) -> Any:
    """An empty matplotlib figure: one of pyplot's, which `pyplot.show()` opens, unless it is for a file.

    Where no window can be opened, and in what is written to a file, it belongs to nobody and is gone when nobody holds
    it. A notebook shows a figure of pyplot at the end of its cell, and not once more where it is the cell's value.

    Args:
        width, height: size [inch].
        layout: matplotlib's layout engine ("none" for places by hand).
        shown: whether it is for pyplot to show; otherwise for a file.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    own = from_extra("matplotlib.figure", "plot").Figure
    if not shown:
        return own(figsize=(width, height), layout=layout)
    try:
        figure = from_extra("matplotlib.pyplot", "plot").figure(figsize=(width, height), layout=layout)
    except ImportError:  # the user has named a backend with windows, and there is no display
        return own(figsize=(width, height), layout=layout)
    figure._ipython_display_ = partial(_display_once, figure)  # the figure is ours: nobody else has seen it
    return figure


def _display_once(figure: Any) -> None:
    """What IPython calls when it shows a figure: pyplot, which shows what is open at the end of a cell, forgets it."""
    if in_notebook():
        importlib.import_module("matplotlib.pyplot").close(figure)
    raise NotImplementedError  # which means: show it as usual


def in_notebook() -> bool:
    """Whether pyplot puts its figures below the cells of a notebook, as pictures that do not move."""
    return "inline" in str(from_extra("matplotlib", "plot").get_backend())


def check_place(ax: object, path: object) -> None:
    """Check where a user wants a picture; either may be None.

    Raises:
        WrongObjectError: `ax` are no axes, `path` no path.
    """
    if ax is not None and not hasattr(ax, "add_patch"):
        raise WrongObjectError("ax", "matplotlib axes", ax)
    expect(path, (str, os.PathLike, NoneType), "path of a figure", "a path")


def bare_axes(ax: Any, across: tuple[float, float], up: tuple[float, float], shown: bool) -> Any:
    """Axes of one scale without ticks and frame, on which an inch is a unit.

    Args:
        ax: matplotlib axes of a user's; a figure of its own if None.
        across, up: what they show, from the left to the right and from below to the top [inch].
        shown: as of `new_figure`, where the figure is its own.
    """
    if ax is None:
        ax = new_figure(across[1] - across[0], up[1] - up[0], "none", shown=shown).add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=across, ylim=up, aspect="equal")
    ax.axis("off")
    return ax


def stacked(count: int, shown: bool) -> tuple[Any, list[Any]]:
    """A figure with so many axes for curves, one below another, over one abscissa."""
    figure = new_figure(WIDE, HIGH * count, shown=shown)
    axes = figure.subplots(count, 1, sharex=True, squeeze=False).ravel().tolist()
    for each in axes:
        tidy(each)
    return figure, axes


def moving_most(curves: Mapping[str, Vector]) -> dict[str, Vector]:
    """Of many curves those that change most, as many as there are `LINES`, in their order."""
    changes = {name: float(np.ptp(curve)) if curve.size else 0.0 for name, curve in curves.items()}
    most = sorted(curves, key=lambda name: -changes[name])[: len(LINES)]
    return {name: curves[name] for name in curves if name in most}


def name_ordinate(axes: Any, words: str) -> None:
    """Say what a panel of curves shows, in lines that are no longer than it is high."""
    lines = (textwrap.wrap(part, int(HIGH / (LETTER * 10.0))) for part in words.splitlines())
    axes.set_ylabel("\n".join(line for part in lines for line in part))


def tidy(axes: Any) -> None:
    """Give axes of curves a pale grid, and no frame above and on the right."""
    axes.grid(True, color="#e4e4e4")
    axes.spines[["top", "right"]].set_visible(False)


def save_figure(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """Write a figure to a file, whose ending says the format; PNG where it has none. Gives the figure back.

    Raises:
        FileError: the file cannot be written, with the reason.
    """
    if path is None:
        return figure
    picture = io.BytesIO()
    try:
        figure.savefig(picture, format=as_path(path).suffix[1:].lower() or "png", dpi=DOTS)
    except (OSError, ValueError) as error:  # an ending that is no format, or one that needs another program
        raise FileError(os.fspath(path), str(error)) from None
    write_file(path, picture.getvalue())
    return figure

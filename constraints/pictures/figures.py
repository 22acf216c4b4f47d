"""Figures: made without a window, written to files; the cube of the world that one shows. Matplotlib on use only."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterable
from math import ceil, floor
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Vector

from ..errors import FileError, WrongObjectError
from ..exports import from_extra
from ..files.writing import as_path, write_file


class Cube(NamedTuple):
    """The part of the world that a picture shows.

    Attributes:
        middle: (3,) [m].
        reach: half of its width [m].
    """

    middle: Vector
    reach: float

    @staticmethod
    def around(points: Iterable[Vector], least: float = 0.1) -> Cube:
        """The cube around points (3,) with a little room; around the origin where there is none.

        Args:
            points: what is to be seen [m].
            least: least half of its width [m].
        """
        seen = np.array([*points] or [np.zeros(3)])
        low, high = seen.min(axis=0), seen.max(axis=0)
        return Cube(0.5 * (low + high), max(0.53 * float((high - low).max()), least))

    @property
    def grid(self) -> float:
        """A round distance between grid lines [m], about a quarter of its width."""
        power = 10.0 ** np.floor(np.log10(0.5 * self.reach))
        return float(next(power * step for step in (1, 2, 5, 10) if power * step >= 0.35 * self.reach))


def show_cube(axes: Any, cube: Cube, grid: float = 0.5, zoom: float = 1.3) -> None:
    """Show a cube of the world with a grid, and nothing else around it.

    Args:
        axes: matplotlib axes with `projection="3d"`.
        cube: what is shown.
        grid: distance between two lines [m].
        zoom: how much of the picture the cube fills.
    """
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=zoom)
    axes.view_init(elev=18.0, azim=-58.0)
    for name, centre in zip("xyz", cube.middle.tolist(), strict=True):
        low, high = centre - cube.reach, centre + cube.reach
        ticks = [grid * i for i in range(ceil(low / grid), floor(high / grid) + 1)]
        axes.set(**{f"{name}lim": (low, high), f"{name}ticks": ticks})
        axis = getattr(axes, f"{name}axis")
        axis.set_ticklabels([])
        axis.set_pane_color((0.97, 0.97, 0.97))
        axis.line.set_color("#d0d0d0")
        axis.set_tick_params(color="#d0d0d0")
    axes.grid(True)


def new_figure(width: float, height: float, layout: str = "constrained") -> Any:
    """An empty matplotlib figure that belongs to no window.

    Args:
        width, height: size [inch].
        layout: matplotlib's layout engine ("none" for places by hand).

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    return from_extra("matplotlib.figure", "plot").Figure(figsize=(width, height), layout=layout)


def check_place(ax: object, path: object) -> None:
    """Check where a user wants a picture.

    Args:
        ax: matplotlib axes, or None.
        path: a file, or None.

    Raises:
        WrongObjectError: `ax` are no axes, `path` no path.
    """
    if ax is not None and not hasattr(ax, "add_patch"):
        raise WrongObjectError("ax", "matplotlib axes", ax)
    expect(path, (str, os.PathLike, NoneType), "path of a figure", "a path")


def bare_axes(ax: Any, across: tuple[float, float], up: tuple[float, float]) -> Any:
    """Axes of one scale without ticks and frame, on which an inch is a unit.

    Args:
        ax: matplotlib axes of a user's; a figure of its own if None.
        across, up: what they show, from the left to the right and from below to the top [inch].
    """
    if ax is None:
        ax = new_figure(across[1] - across[0], up[1] - up[0], "none").add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=across, ylim=up, aspect="equal")
    ax.axis("off")
    return ax


def save_figure(figure: Any, path: str | os.PathLike[str] | None, dpi: int = 100) -> Any:
    """Write a figure to a file, whose ending says the format; PNG where it has none. Gives the figure back.

    Args:
        figure: a matplotlib figure.
        path: the file; nothing is written if None.
        dpi: pixels an inch.

    Raises:
        FileError: the file cannot be written, with the reason.
    """
    if path is None:
        return figure
    picture = io.BytesIO()
    try:
        figure.savefig(picture, format=as_path(path).suffix[1:].lower() or "png", dpi=dpi)
    except (OSError, ValueError) as error:  # an ending that is no format, or one that needs another program
        raise FileError(os.fspath(path), str(error)) from None
    write_file(path, picture.getvalue())
    return figure


def save_animation(
    figure: Any, pictures: Iterable[object], path: str | os.PathLike[str], rate: float, dpi: int = 80
) -> None:
    """Write a figure that changes as an animated GIF.

    Args:
        figure: a matplotlib figure.
        pictures: at least one; each step of the iteration draws the next picture in the figure.
        path: the file.
        rate: pictures a second.
        dpi: pixels an inch.

    Raises:
        FileError: the file cannot be written, with the reason.
    """
    image: Any = importlib.import_module("PIL.Image")  # matplotlib brings it
    drawn: list[Any] = []
    for _ in pictures:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=dpi)
        drawn.append(image.open(picture).convert("RGB"))
    film = io.BytesIO()
    drawn[0].save(film, "GIF", save_all=True, append_images=drawn[1:], duration=int(1000.0 / rate), loop=0)
    write_file(path, film.getvalue())

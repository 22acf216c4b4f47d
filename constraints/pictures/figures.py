"""Figures: made without a window, written to files. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterable
from typing import Any

from ..errors import FileError, MissingExtraError, WrongObjectError
from ..files.writing import as_path, write_file

__all__ = ["check_place", "new_figure", "save_animation", "save_figure"]


def new_figure(width: float, height: float, layout: str = "constrained") -> Any:
    """An empty matplotlib figure that belongs to no window.

    Args:
        width, height: size [inch].
        layout: matplotlib's layout engine ("none" for places by hand).

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        module = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("matplotlib"):
            raise
        raise MissingExtraError("matplotlib", "plot") from None
    return module.Figure(figsize=(width, height), layout=layout)


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
    if path is not None and not isinstance(path, str | os.PathLike):
        raise WrongObjectError("path of a figure", "a path", path)


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int = 100) -> None:
    """Write a figure to a file, whose ending says the format; PNG where it has none.

    Args:
        figure: a matplotlib figure.
        path: the file.
        dpi: pixels an inch.

    Raises:
        FileError: the file cannot be written, with the reason.
    """
    picture = io.BytesIO()
    try:
        figure.savefig(picture, format=as_path(path).suffix[1:].lower() or "png", dpi=dpi)
    except (OSError, ValueError) as error:  # an ending that is no format, or one that needs another program
        raise FileError(os.fspath(path), str(error)) from None
    write_file(path, picture.getvalue())


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

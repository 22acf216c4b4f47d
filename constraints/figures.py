"""Figures: made without a window, written to files. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import importlib
import os
from typing import Any

from .errors import FileError, MissingExtraError, WrongObjectError

__all__ = ["check_place", "new_figure", "save_figure"]


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
    """Write a figure to a file, whose ending says the format.

    Args:
        figure: a matplotlib figure.
        path: the file.
        dpi: pixels an inch.

    Raises:
        FileError: the file cannot be written, with the reason.
    """
    try:
        figure.savefig(path, dpi=dpi)
    except OSError as error:
        raise FileError(os.fspath(path), error.strerror or str(error)) from None
    except ValueError as error:  # an ending that is no format
        raise FileError(os.fspath(path), str(error)) from None

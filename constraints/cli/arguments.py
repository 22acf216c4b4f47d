"""Arguments that several commands take, and what they share: numbers, places to write to, a bar of progress."""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, MissingExtraError
from ..files.writing import write_file

__all__ = ["ALL_WELL", "NOT_ALL", "drawable", "natural", "positive", "save_arrays", "wants_bar", "writable"]

ALL_WELL, NOT_ALL = 0, 1
"""Exit codes of a command that ran: all is well, or not all is (a projection failed, a bit differs)."""


def positive(text: str) -> int:
    """An integer from 1, for `argparse`."""
    return _at_least(1, text)


def natural(text: str) -> int:
    """An integer from 0, for `argparse`."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least}, got {text!r}")
    return number


def writable(path: str | None) -> None:
    """Refuse a file in a folder that does not exist, before the work whose result it shall hold.

    Raises:
        FileError: the folder is named.
    """
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise FileError(os.fspath(path), f"cannot be written: the folder {folder} does not exist")


def drawable(path: str | None) -> None:
    """As `writable`, for a picture: refused before the work where nothing can draw it.

    Raises:
        FileError: the folder does not exist.
        MissingExtraError: matplotlib is not installed.
    """
    writable(path)
    if path is not None and importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")


def save_arrays(path: str | os.PathLike[str], arrays: dict[str, Any]) -> None:
    """Write arrays by name as an npz file, compressed; a path without the ending stays as it is.

    Raises:
        FileError: the file cannot be written.
    """
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_file(path, content.getvalue())


def wants_bar() -> bool:
    """Whether to show a bar of progress: somebody looks at a terminal, and tqdm is installed."""
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None

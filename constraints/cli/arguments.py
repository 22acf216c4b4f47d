"""Arguments that several commands take, and what they share: numbers, places to write to, a bar of progress."""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, MissingExtraError
from ..exports import from_extra
from ..files.writing import write_file

ALL_WELL, NOT_ALL = 0, 1
"""Exit codes of a command that ran: all is well, or not all is (a projection failed, a bit differs)."""


def seconds(text: str) -> float:
    """A positive number of seconds, for `argparse`."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < inf:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, got {text!r}")
    return number


def natural(text: str, least: int = 0) -> int:
    """An integer from 0, or from another one, for `argparse`."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least}, got {text!r}")
    return number


positive = partial(natural, least=1)
"""An integer from 1, for `argparse`."""


def outputs(inputs: Iterable[str | None], *, saved: Sequence[str] = (".npz", ""), **paths: str | None) -> None:
    """Refuse outputs that cannot be written, before the work whose result they shall hold.

    Args:
        inputs: files that the command reads, and must not write over.
        saved: endings that the file of `save` may have.
        paths: path of each output, by the name of its option; those of `plot` and `output` are pictures.

    Raises:
        FileError: the path cannot be written, is one of the inputs, or that of two outputs, or has the ending of
            something else; says why.
        MissingExtraError: a picture is wanted, and matplotlib is not installed.
    """
    taken = {os.path.realpath(path): "the input file" for path in inputs if path is not None}
    for option, path in paths.items():
        if path is None:
            continue
        reason = _why_not_writable(Path(path))
        if reason:
            raise FileError(path, f"cannot be written: {reason}")
        where = os.path.realpath(path)
        if where in taken and not _is_device(where):
            raise FileError(path, f"cannot be written by --{option}: this is {taken[where]}")
        taken[where] = f"the output of --{option} too"
        ending = Path(path).suffix
        if option == "save" and ending.lower() not in saved:
            raise FileError(path, f"--save writes {' or '.join(filter(None, saved))} files, not {ending or 'others'}")
        if option in _PICTURES:
            _drawable(path, is_wanted=option == "plot")


_PICTURES = ("plot", "output")
"""Options whose file is a picture; that of `output` is left out where nothing can draw it."""


def _why_not_writable(path: Path) -> str:
    """Why a file cannot be written; empty where nothing speaks against it."""
    try:
        path = Path(os.path.realpath(path, strict=False)) if os.fspath(path) else path
        if not path.name or path.is_dir():
            return "it is a folder, but a file was expected"
        folder = path.parent
        if not folder.exists():
            return f"the folder {folder} does not exist"
        if not folder.is_dir():
            return f"{folder} is not a folder"
        if path.exists() and not os.access(path, os.W_OK):
            return "Permission denied"
        if path.is_symlink():
            return "it is a symbolic link to itself"
        if len(os.fsencode(path.name)) > _LONGEST_NAME:
            return f"its name is longer than {_LONGEST_NAME} bytes"
        if not _is_device(path):
            tempfile.TemporaryFile(dir=folder).close()  # says what no permission says, and leaves nothing
    except (OSError, ValueError) as error:  # a null byte, a name too long, a loop of links
        return getattr(error, "strerror", None) or str(error)
    return ""


_LONGEST_NAME = 200
"""Bytes: 255 less what the name of the part that is being written adds."""


def _is_device(path: str | os.PathLike[str]) -> bool:
    """Whether it is there, and is neither a file nor a folder: a device, a pipe."""
    there = Path(path)
    return there.exists() and not there.is_file() and not there.is_dir()


def _drawable(path: str, *, is_wanted: bool) -> None:
    """Refuse a picture that matplotlib, or nobody, can draw."""
    try:
        module = from_extra("matplotlib.backend_bases", "plot")
    except MissingExtraError:
        if is_wanted:
            raise
        return
    formats = module.FigureCanvasBase.get_supported_filetypes()
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending and ending not in formats:
        known = ", ".join(sorted(formats))
        raise FileError(path, f"cannot be drawn: .{ending} is not one of the picture formats {known}")


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

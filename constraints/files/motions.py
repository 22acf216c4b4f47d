"""Motions as tables: CSV, NPZ, and parquet where pandas is installed."""

from __future__ import annotations

import csv
import importlib
import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from liegroups.arrays import Vector

from ..errors import OptionError
from .writing import as_path, write_file

ENDINGS = (".csv", ".npz", ".parquet")


def save_motion(columns: Mapping[str, Vector], path: str | os.PathLike[str]) -> None:
    """Write the columns of a motion to a table; the ending of the file says how.

    Args:
        columns: `record.series()`: name -> (n,).
        path: a file that ends in .csv (numbers with all their digits), .npz (numpy.load), or .parquet (pandas).

    Raises:
        OptionError: another ending, or parquet without pandas and pyarrow.
        FileError: the file cannot be written.
    """
    ending = as_path(path).suffix.lower()
    if ending not in ENDINGS:
        raise OptionError(f"file of a motion: expected an ending of {', '.join(ENDINGS)}, got '{os.fspath(path)}'")
    write_file(path, {".csv": _csv, ".npz": _npz, ".parquet": _parquet}[ending](columns))


def _csv(columns: Mapping[str, Vector]) -> bytes:
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        table.writerow([repr(float(x)) for x in row])
    return text.getvalue().encode()


def _npz(columns: Mapping[str, Vector]) -> bytes:
    content: Any = io.BytesIO()
    arrays: dict[str, Any] = {name.replace("/", "_"): np.asarray(column) for name, column in columns.items()}
    np.savez(content, **arrays)
    return content.getvalue()


def _parquet(columns: Mapping[str, Vector]) -> bytes:
    content = io.BytesIO()
    try:
        importlib.import_module("pandas").DataFrame(dict(columns)).to_parquet(content)
    except ImportError as error:
        raise OptionError(
            f"file of a motion: parquet needs pandas and pyarrow, or write .csv or .npz ({error})"
        ) from None
    return content.getvalue()

"""The kernels that Python calls, when somebody first needs them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ...exports import from_extra
from ..machine.cache import folder, is_warm, mark_ready


class Entrances(NamedTuple):
    """The kernels that Python calls, `jit.places`, which makes their first argument, and `jit.in_lanes`."""

    project_row: Callable[..., Any]
    project_rows: Callable[..., None]
    rows_of: Callable[..., bool]
    residuals_of: Callable[..., int]
    on_leaf: Callable[..., bool]
    pairs_of_rows: Callable[..., tuple[int, int]]
    balls_of_rows: Callable[..., None]
    grow_ways: Callable[..., int]
    lay_edges: Callable[..., tuple[int, int]]
    divide_parts: Callable[..., int]
    places: Callable[..., Any]
    in_lanes: Callable[..., Any]


@cache
def entrances() -> Entrances:
    """The kernels, compiled or read from the disk.

    Raises:
        MissingExtraError: numba is not installed.
    """
    plain = bool(from_extra("numba", "fast").config.DISABLE_JIT)
    warm = plain or is_warm()
    if not warm:
        where = folder()
        kept = "they are not kept: no folder can be written to" if where is None else f"they are kept in {where}"
        print(
            f"lie-constraints: compiling its kernels, once on this machine, in about 170 s of a processor ({kept}). "
            "engine='readable' answers at once, `python -m constraints warm-up` compiles beforehand",
            file=sys.stderr,
        )
    from ..machine.jit import in_lanes, places
    from .covers import balls_of_rows, pairs_of_rows
    from .division import divide_parts
    from .edges import lay_edges
    from .entry import on_leaf, project_row, project_rows, residuals_of, rows_of
    from .growth import grow_ways

    if not warm:
        mark_ready()
    solve = project_row, project_rows, rows_of, residuals_of, on_leaf
    return Entrances(*solve, pairs_of_rows, balls_of_rows, grow_ways, lay_edges, divide_parts, places, in_lanes)

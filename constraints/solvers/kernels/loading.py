"""The kernels that Python calls, each file of them when somebody first needs it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, NamedTuple

from ...exports import from_extra
from ..machine.cache import folder, is_warm, mark_ready


class Part(NamedTuple):
    """A file of kernels that are compiled and kept together.

    Attributes:
        what: what they do.
        seconds: of a processor, about, to compile them, where those that they call are there.
        calls: parts whose kernels they call where they are.
    """

    what: str
    seconds: int
    calls: tuple[str, ...] = ()


PARTS = {
    "trees": Part("poses of joints", 3),
    "tape": Part("functions", 20, ("trees",)),
    "entry": Part("projections", 20, ("trees", "tape")),
    "evaluation": Part("errors and Jacobians", 10, ("trees", "tape")),
    "many": Part("batches", 40, ("trees", "tape")),
    "covers": Part("covers of solids", 3, ("trees",)),
    "edges": Part("edges", 3, ("trees", "tape", "entry")),
    "division": Part("divided paths", 5, ("trees", "tape", "entry", "covers")),
    "growth": Part("trees of planners", 5, ("trees", "tape", "entry", "covers")),
}
"""By the name of the file, those that are called before those that call them."""
_OF_FUNCTIONS = "trees", "tape"


class Entrances:
    """The kernels that Python calls, `jit.places`, which makes their first argument, and `jit.in_lanes`.

    Each is compiled, or read from the disk, when it is first asked for.
    """

    @cached_property
    def project_row(self) -> Callable[..., Any]:
        """One projection."""
        return loaded("entry").project_row

    @cached_property
    def project_rows(self) -> Callable[..., None]:
        """Many of them, in lanes."""
        return loaded("many").project_rows

    @cached_property
    def rows_of(self) -> Callable[..., bool]:
        """Errors and their Jacobian."""
        return loaded("evaluation").rows_of

    @cached_property
    def residuals_of(self) -> Callable[..., int]:
        """Residuals of many configurations."""
        return loaded("evaluation").residuals_of

    @cached_property
    def on_leaf(self) -> Callable[..., bool]:
        """Whether a configuration is on a leaf, and its right-hand sides there."""
        return loaded("evaluation").on_leaf

    @cached_property
    def pairs_of_rows(self) -> Callable[..., tuple[int, int]]:
        """Pairs of solids that may touch."""
        return loaded("covers").pairs_of_rows

    @cached_property
    def balls_of_rows(self) -> Callable[..., None]:
        """Balls around solids."""
        return loaded("covers").balls_of_rows

    @cached_property
    def grow_ways(self) -> Callable[..., int]:
        """Ways from nodes of a tree towards targets."""
        return loaded("growth").grow_ways

    @cached_property
    def lay_edges(self) -> Callable[..., tuple[int, int]]:
        """Paths from configurations to others."""
        return loaded("edges").lay_edges

    @cached_property
    def divide_parts(self) -> Callable[..., int]:
        """Parts of paths, divided until nothing touches there."""
        return loaded("division").divide_parts

    @cached_property
    def places(self) -> Callable[..., Any]:
        """Addresses of arrays."""
        from ..machine.jit import places

        return places

    @cached_property
    def in_lanes(self) -> Callable[..., Any]:
        """Memories in lanes."""
        from ..machine.jit import in_lanes

        return in_lanes


@cache
def entrances() -> Entrances:
    """The kernels that Python calls.

    Raises:
        MissingExtraError: numba is not installed.
    """
    from_extra("numba", "fast")
    return Entrances()


@cache
def loaded(name: str) -> Any:
    """A file of kernels, read from the disk, or compiled, which a line on stderr says.

    Args:
        name: one of `PARTS`.
    """
    cold = cold_parts(name)
    if cold:
        where = folder(name)
        kept = "they are not kept: no folder can be written to" if where is None else f"they are kept in {where}"
        seconds = sum(PARTS[part].seconds for part in cold)
        print(
            f"lie-constraints: compiling its kernels of {PARTS[name].what}, once on this machine, in about {seconds} s "
            f"of a processor ({kept}). engine='readable' answers at once, `python -m constraints warm-up` compiles "
            "those of all kinds beforehand",
            file=sys.stderr,
        )
    made = importlib.import_module(f"...{'tape' if name in _OF_FUNCTIONS else 'kernels'}.{name}", __name__)
    for part in cold:
        mark_ready(part)
    return made


def cold_parts(name: str) -> list[str]:
    """What is to be compiled for a file of kernels: itself, and those that it calls."""
    if from_extra("numba", "fast").config.DISABLE_JIT:
        return []
    return [part for part in (*PARTS[name].calls, name) if not is_warm(part)]

"""The kernels that Python calls, each file of them when somebody first needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, NamedTuple

from ...exports import from_extra
from ..machine.cache import folder, is_warm, mark_ready


class KernelPart(NamedTuple):
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
    "trees": KernelPart("poses of joints", 3),
    "tape": KernelPart("functions", 20, ("trees",)),
    "entry": KernelPart("projections", 20, ("trees", "tape")),
    "evaluation": KernelPart("errors and Jacobians", 5, ("trees", "tape")),
    "many": KernelPart("batches", 40, ("trees", "tape")),
    "covers": KernelPart("covers of solids", 3, ("trees",)),
    "edges": KernelPart("edges", 3, ("trees", "tape", "entry")),
    "division": KernelPart("divided paths", 5, ("trees", "tape", "entry", "covers")),
    "growth": KernelPart("trees of planners", 5, ("trees", "tape", "entry", "covers")),
}
"""By the name of the file, those that are called before those that call them."""


class Entrances:
    """The kernels that Python calls, `jit.places`, which makes their first argument, and `jit.in_lanes`.

    Each is compiled, or read from the disk, when it is first asked for.
    """

    def take_all(self) -> None:
        """Ask for all of them."""
        for name, kind in vars(Entrances).items():
            if isinstance(kind, cached_property):
                getattr(self, name)

    @cached_property
    def project_row(self) -> Callable[..., Any]:
        """One projection."""
        with compiling("entry"):
            from .entry import project_row
        return project_row

    @cached_property
    def project_rows(self) -> Callable[..., None]:
        """Many of them, in lanes."""
        with compiling("many"):
            from .many import project_rows
        return project_rows

    @cached_property
    def rows_of(self) -> Callable[..., bool]:
        """Errors and their Jacobian."""
        with compiling("evaluation"):
            from .evaluation import rows_of
        return rows_of

    @cached_property
    def residuals_of(self) -> Callable[..., int]:
        """Residuals of many configurations."""
        with compiling("evaluation"):
            from .evaluation import residuals_of
        return residuals_of

    @cached_property
    def on_leaf(self) -> Callable[..., bool]:
        """Whether a configuration is on a leaf, and its right-hand sides there."""
        with compiling("evaluation"):
            from .evaluation import on_leaf
        return on_leaf

    @cached_property
    def pairs_of_rows(self) -> Callable[..., tuple[int, int]]:
        """Pairs of solids that may touch."""
        with compiling("covers"):
            from .covers import pairs_of_rows
        return pairs_of_rows

    @cached_property
    def balls_of_rows(self) -> Callable[..., None]:
        """Balls around solids."""
        with compiling("covers"):
            from .covers import balls_of_rows
        return balls_of_rows

    @cached_property
    def grow_ways(self) -> Callable[..., int]:
        """Ways from nodes of a tree towards targets."""
        with compiling("growth"):
            from .growth import grow_ways
        return grow_ways

    @cached_property
    def lay_edges(self) -> Callable[..., tuple[int, int]]:
        """Paths from configurations to others."""
        with compiling("edges"):
            from .edges import lay_edges
        return lay_edges

    @cached_property
    def divide_parts(self) -> Callable[..., int]:
        """Parts of paths, divided until nothing touches there."""
        with compiling("division"):
            from .division import divide_parts
        return divide_parts

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


@contextmanager
def compiling(*names: str) -> Generator[None]:
    """While files of kernels are read from the disk, or compiled, which a line on stderr says once.

    Args:
        names: of `PARTS`.
    """
    cold = cold_parts(*names)
    if new := [part for part in cold if part not in _announced]:
        _announced.update(new)
        _announce(PARTS[names[0]].what if len(names) == 1 else "all kinds", new)
    yield
    for part in cold:
        mark_ready(part)


def cold_parts(*names: str) -> list[str]:
    """What is to be compiled for files of kernels: they, and those that they call."""
    if from_extra("numba", "fast").config.DISABLE_JIT:
        return []
    asked = {part for name in names for part in (*PARTS[name].calls, name)}
    return [part for part in PARTS if part in asked and not is_warm(part)]


_announced: set[str] = set()
"""Parts of which this process has said that it compiles them."""


def _announce(what: str, cold: list[str]) -> None:
    where = folder(cold[-1])
    kept = "they are not kept: no folder can be written to" if where is None else f"they are kept in {where}"
    print(
        f"lie-constraints: compiling its kernels of {what}, once on this machine, in about "
        f"{sum(PARTS[part].seconds for part in cold)} s of a processor ({kept}). engine='readable' answers at once, "
        "`python -m constraints warm-up` compiles those of all kinds beforehand",
        file=sys.stderr,
    )

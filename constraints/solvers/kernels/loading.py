"""The kernels that Python calls, each file of them when somebody first needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import import_module
from time import perf_counter
from typing import Any, NamedTuple

from ...exports import from_extra
from ..machine.cache import folder, is_warm, mark_ready


class KernelPart(NamedTuple):
    """A file of kernels that are compiled and kept together.

    Attributes:
        what: what they do.
        seconds: of a processor, about, to compile them, where those that they call are there.
        calls: parts whose kernels they call where they are.
        file: imports it, where Python calls a kernel of it.
        entrances: the kernels that Python calls.
    """

    what: str
    seconds: int
    calls: tuple[str, ...] = ()
    file: Callable[[], Any] | None = None
    entrances: tuple[str, ...] = ()


_TAPE, _PROJECTIONS = ("trees", "tape"), ("trees", "tape", "entry")
PARTS = {
    "trees": KernelPart("poses of joints", 3),
    "tape": KernelPart("functions", 20, ("trees",)),
    "entry": KernelPart(
        "projections", 20, _TAPE, lambda: import_module(".entry", __package__), ("project_row",)
    ),
    "evaluation": KernelPart(
        "errors and Jacobians", 5, _TAPE, lambda: import_module(".evaluation", __package__),
        ("rows_of", "rows_of_many", "residuals_of", "on_leaf"),
    ),
    "many": KernelPart("batches", 40, _PROJECTIONS, lambda: import_module(".many", __package__), ("project_rows",)),
    "covers": KernelPart(
        "covers of solids", 3, ("trees",), lambda: import_module(".covers", __package__),
        ("pairs_of_rows", "balls_of_rows"),
    ),
    "edges": KernelPart("edges", 3, _PROJECTIONS, lambda: import_module(".edges", __package__), ("lay_edges",)),
    "division": KernelPart(
        "divided paths", 5, (*_PROJECTIONS, "covers"), lambda: import_module(".division", __package__),
        ("divide_parts",),
    ),
    "growth": KernelPart(
        "trees of planners", 5, (*_PROJECTIONS, "covers"), lambda: import_module(".growth", __package__),
        ("grow_ways",),
    ),
    "proofs": KernelPart(
        "proofs", 5, (), lambda: import_module(".proofs", __package__), ("premises_of_balls",)
    ),
}  # fmt: skip
"""By the name of the file, those that are called before those that call them."""
_HOMES = {name: part for part, one in PARTS.items() for name in one.entrances}


class Entrances:
    """The kernels that Python calls, `jit.places`, which makes their first argument, and `jit.in_lanes`.

    Each is compiled, or read from the disk, when it is first asked for.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A kernel that nobody has asked for yet."""
        part = _HOMES.get(name)
        file = None if part is None else PARTS[part].file
        if part is None or file is None:
            raise AttributeError(f"no kernel that Python calls is named {name!r}; there are {', '.join(_HOMES)}")
        with compiling(part):
            made = getattr(file(), name)
        setattr(self, name, made)
        return made

    def take_all(self) -> None:
        """Ask for all of them."""
        for name in _HOMES:
            getattr(self, name)

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
    began = perf_counter()
    yield
    _waits.append(perf_counter() - began)
    for part in cold:
        mark_ready(part)


def seconds_waited() -> float:
    """How long this process has waited for kernels that were read from the disk, or compiled [s]."""
    return sum(_waits)


_waits: list[float] = []


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

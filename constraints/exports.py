"""What is imported on use: names of packages, and libraries that an extra brings."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from .errors import MissingExtraError

ABOVE = {
    "certificates.paths.along": "certify_path",
    "certificates.batch": "certify certify_batch",
    "certificates.boxes.refutation": "beyond_lengths",
    "certificates.paths.sweeps": "certify_sweep",
    "files.motions": "save_motion",
    "files.options": "load_options save_options",
    "files.problems": "load_problem save_problem",
    "files.reports": "save_report",
    "files.right_hand_sides": "load_rhs save_rhs",
    "files.trajectories": "save_trajectory",
    "pictures.assemblies": "plot_iterates",
    "pictures.configurations": "plot_robot",
    "pictures.graphs.dependencies": "plot_dependencies",
    "pictures.graphs.graph": "plot_graph",
    "pictures.modes": "animate_mode plot_modes",
    "pictures.motions": "plot_motion",
    "pictures.paths": "animate",
    "pictures.sweeps": "plot_sweep",
    "pictures.traces": "plot_trace",
    "solvers.diagnosis.diagnosis": "diagnose",
    "solvers.diagnosis.sensitivity": "Sensitivity",
    "solvers.projection.engines": "solved_by",
}
"""Modules -> what methods of lower rooms reach for in them, with blanks between: `problem.save(path)` is where people
look for it. What has such a method has no name in the door of its room beside it."""


def on_use(
    package: str, rooms: Mapping[str, str], elsewhere: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that imports some of its names when somebody asks for them.

    For type checkers the package imports the same names under `TYPE_CHECKING`.

    Args:
        package: its `__name__`.
        rooms: module, relative to the package (with a dot before it, to the one the package is in) -> the names that
            are taken from it, with blanks between them.
        elsewhere: package -> names that people look for here and that are in it, with blanks between them; "Old=New"
            where the name is another one there.
    """
    others = dict[str, str]()
    for room, entries in (elsewhere or {}).items():
        for name, _, new in (entry.partition("=") for entry in entries.split()):
            others[name] = f"it is `{new}` in `{room}`" if new else f"it is in `{room}`"
    homes = {name: module for module, names in rooms.items() for name in names.split()}

    def get(name: str) -> Any:
        if name == "__all__":  # what `from package import *` asks for: no modules, a `robot` of the user stays
            here = vars(sys.modules[package])
            public = (each for each in names() if not each.startswith("_") and each != "TYPE_CHECKING")
            return [each for each in public if not isinstance(here.get(each), ModuleType)]
        if name not in homes:
            where = f": {others.get(name) or _in_a_room(package, name)}".removesuffix(": ")
            if not where and not name.startswith("_") and find_spec(f"{package}.{name}"):
                where = f" yet: `import {package}.{name}` comes first"
            raise AttributeError(f"module '{package}' has no attribute '{name}'{where}")
        return getattr(importlib.import_module(f".{homes[name]}", package), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names


def _in_a_room(package: str, name: str) -> str:
    """Which rooms of a package, of those that are imported, have a public name; empty where none has."""
    rooms = [
        room for room in sorted(sys.modules)
        if room.startswith(f"{package}.") and room.count(".") == package.count(".") + 1 and not name.startswith("_")
        and hasattr(sys.modules[room], "__path__") and name in vars(sys.modules[room])
    ]  # fmt: skip
    return f"it is in {', '.join(f'`{room}`' for room in rooms)}" if rooms else ""


def from_extra(module: str, extra: str, library: str = "") -> Any:
    """A module that comes with an extra of the distribution.

    Args:
        module: its name, with the package it is in.
        extra: which brings it.
        library: what is to be installed, where it is called otherwise than the package.

    Raises:
        MissingExtraError: the library is not installed. What it lacks itself is an error of its own.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise MissingExtraError(library or package, extra) from None


def from_above(name: str) -> Any:
    """What a method of a lower room reaches for in a room above, imported when it is called."""
    module = next(module for module, names in ABOVE.items() if name in names.split())
    return getattr(importlib.import_module(f"{__package__}.{module}"), name)

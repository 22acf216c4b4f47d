"""Doors of packages whose names are imported on use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_use(package: str, rooms: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that imports some of its names when somebody asks for them.

    For type checkers the package imports the same names under `TYPE_CHECKING`.

    Args:
        package: its `__name__`.
        rooms: module, relative to the package -> the names that are taken from it, with blanks between them.
    """
    homes = {name: module for module, names in rooms.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(f".{homes[name]}", package), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names

"""What compiled kernels on disk are kept by: the files that kernels are made of, all of them."""

from __future__ import annotations

import ast
import importlib
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("numba")

from constraints.solvers.machine import cache

ROOMS = ("kernels", "tape", "machine")
OURS = {"constraints", "liegroups"}


def imported(path: Path) -> set[Path]:
    """The files of ours that a module of kernels imports from."""
    files, room = set[Path](), f"constraints.solvers.{path.parent.name}"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(resolve_name("." * node.level + (node.module or ""), room))
            for alias in node.names:
                thing = getattr(module, alias.name)
                files.add(Path(getattr(thing if isinstance(thing, ModuleType) else module, "__file__", None) or "/"))
    return {file.resolve() for file in files if OURS & set(file.parts)}


KERNELS = [path for path in cache.sources() if path.parent.name in ROOMS]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_each_file_that_a_kernel_is_made_of_is_known(path: Path) -> None:
    assert imported(path) - {Path(cache.__file__).resolve()} <= set(cache.sources())

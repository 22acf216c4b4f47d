"""What a package offers: the names that its door imports as themselves, or defines."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType


def offered(package: ModuleType) -> tuple[str, ...]:
    """Names in the order of the door; those imported on use among them."""
    assert package.__file__ is not None
    names: list[str] = []
    for node in ast.walk(ast.parse(Path(package.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names += [alias.name for alias in node.names if alias.asname == alias.name]
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            names.append(node.name)
    return tuple(names)

"""Rooms of the house and what they import, read from the source. `python tests/house/rooms.py` prints the table of
`docs/architecture.md` as it should be."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from house.sources import FILES, MODULE_NAMES, PACKAGES, ROOT, imports_of, module_name

HALL = "hall"  # the loose files of constraints/: every room may import them, and liegroups
DOORS = (
    *("constraints", "constraints.__main__", "constraints.functions", "constraints.solvers", "constraints.dynamics"),
    *("constraints.reduced", "constraints.loops", "constraints.manipulation", "constraints.paths"),
    *("constraints.collisions", "constraints.planning", "constraints.certificates"),
)
"""Packages that offer names of rooms inside them, and the entrances: they import what they offer, and no room them."""


def room_of(module: str) -> str:
    """The folder that a module is in, below the package: "rows", "solvers/newton"; files of the hall are one room."""
    folder = ROOT / "/".join(module.split("."))
    parts = folder.relative_to(ROOT).parts if folder.is_dir() else folder.parent.relative_to(ROOT).parts
    if parts[0] == "liegroups":
        return "liegroups"
    return "/".join(parts[1:]) or HALL


@cache
def room_imports() -> Any:
    """Rooms as a networkx digraph, an edge for each import, on use too; type-only imports and doors left out."""
    graph: Any = nx.DiGraph()
    for path in FILES:
        module = module_name(path)
        if module in DOORS:
            continue
        graph.add_node(room_of(module))
        imports = imports_of(module, path.read_text(encoding="utf-8"), path.name == "__init__.py")
        for item in imports.found:
            if item.module.split(".")[0] not in PACKAGES or item.place == "TYPE_CHECKING":
                continue
            whole = f"{item.module}.{item.name}"
            here, there = room_of(module), room_of(whole if whole in MODULE_NAMES else item.module)
            if here != there:
                graph.add_edge(here, there, where=f"{module}:{item.line}")
    return graph


def imported(graph: Any, room: str) -> tuple[str, ...]:
    """Rooms that a room imports, but the hall and liegroups, which all may."""
    return tuple(sorted(set(graph.successors(room)) - {HALL, "liegroups"}))


if __name__ == "__main__":
    whole = room_imports()
    for name in nx.lexicographical_topological_sort(whole.reverse()):
        print(f"| `{name}` | | {', '.join(f'`{other}`' for other in imported(whole, name))} |")

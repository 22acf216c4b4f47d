"""The page on manipulation: its code runs as it stands there, and its table names what exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from house.doors import offered
from robots import needs_robot_data

import constraints
from constraints import manipulation

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "manipulation.md").read_text(encoding="utf-8")


@needs_robot_data
def test_the_code_of_the_page_runs(capsys: Any) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    exec(compile("\n".join(blocks), "manipulation.md", "exec"), {"__name__": "page"})
    said = capsys.readouterr().out
    assert "3 states, 7 transitions, 6 waypoint states, 16 inner transitions" in said
    assert said.splitlines()[0] in PAGE
    assert "place_cube (cube/bottom on table)" in said


def test_every_public_name_is_on_the_page() -> None:
    """Someone who looks for a name of the package finds it on the page, or in the docstring of what returns it."""
    returned = {"Validation", "RelativeMotion", "TargetConfiguration", "MovableObject"}
    ours = {name for name in offered(manipulation) if getattr(manipulation, name).__module__ in GRAPH}
    missing = sorted(name for name in ours - returned if name not in PAGE)
    assert not missing


def test_every_name_in_the_table_exists() -> None:
    rows = re.findall(r"^\| .* \| (.*) \|$", PAGE, re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`([A-Z]\w+|explicit_\w+)\b", row)}
    assert len(names) > 12
    unknown = [name for name in names if not (hasattr(manipulation, name) or hasattr(constraints, name))]
    assert not unknown


GRAPH = tuple(
    f"constraints.manipulation.{module}"
    for module in ("graph", "states", "factory", "foliation", "grasp", "gripper", "placement", "rules", "targets")
)
"""Modules of what the page is about; the others have docstrings."""

"""The page of the thresholds is that of the source."""

from __future__ import annotations

from collections import Counter

import pytest
from house.sources import ROOT
from house.thresholds import tables, thresholds, thresholds_of

PAGE = (ROOT / "docs" / "thresholds.md").read_text(encoding="utf-8")


def rows(text: str) -> Counter[str]:
    """Headings of rooms and rows of constants, in any order."""
    return Counter(line for line in text.splitlines() if line.startswith(("### ", "| `")))


def test_the_page_has_each_threshold_of_the_source_and_no_other() -> None:
    """`python tests/house/thresholds.py` prints the tables as they should be."""
    page = rows(PAGE.split("## The tables")[1])
    source = rows(tables())
    assert not source - page, "missing on the page"
    assert not page - source, "on the page alone"


def test_each_threshold_says_what_it_is() -> None:
    assert thresholds()
    assert not [f"{one.file}: {one.name}" for one in thresholds() if not one.meaning]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("FAR = 1e-3\n", ["FAR"]),
        ("_NEAR, COUNT = -2.0**-52, 12\n", ["_NEAR"]),
        ("SLOW: float = 0.1\nCREEP = 10 * SLOW\n", ["SLOW", "CREEP"]),
        ("COUNT = 3\nCOLOUR = (0.1, 0.2)\nWORD = 'a'\nlower = 0.1\nOTHER = f(0.1)\n", []),
        ("def f():\n    INSIDE = 0.1\n", []),
    ],
)
def test_floats_of_a_module_are_thresholds_and_other_things_are_not(source: str, names: list[str]) -> None:
    assert [one.name for one in thresholds_of(source, "constraints/room/file.py")] == names


LEFT = {"MET", "NEAT"}
"""Names that still have two values, in files of `dynamics/methods`."""


def test_a_name_has_one_value_in_the_library() -> None:
    values: dict[str, set[float]] = {}
    for one in thresholds():
        values.setdefault(one.name, set()).add(one.value)
    assert {name for name, different in values.items() if len(different) > 1} == LEFT

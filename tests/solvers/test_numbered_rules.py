"""The numbered rules: those of `docs/solver.md` are those that are tested, and both engines say where each is."""

from __future__ import annotations

import re
from pathlib import Path

import constraints

HERE, PACKAGE = Path(__file__).resolve().parent, Path(constraints.__file__).resolve().parent


def numbers(pattern: str, *files: Path) -> list[int]:
    return [int(n) for file in files for n in re.findall(pattern, file.read_text("utf-8"), re.MULTILINE)]


def test_rules_of_the_page_are_numbered_without_a_gap_and_each_has_one_test() -> None:
    page = numbers(r"^\*\*R(\d+)\. ", HERE.parents[1] / "docs" / "solver.md")
    assert page == list(range(1, len(page) + 1))
    tested = numbers(r"^def test_r(\d\d)_\w+\(engine: str\)", *sorted(HERE.glob("test_rules_of_*.py")))
    assert sorted(tested) == page


def test_both_engines_say_where_each_rule_is_carried_out() -> None:
    page = set(numbers(r"^\*\*R(\d+)\. ", HERE.parents[1] / "docs" / "solver.md"))
    rooms = ("rows", "solvers/newton"), ("solvers/kernels", "solvers/compiled")
    for engine in rooms:
        files = [file for room in engine for file in sorted((PACKAGE / room).glob("*.py"))]
        assert set(numbers(r"# R(\d+)\b", *files)) == page, engine

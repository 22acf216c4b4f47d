"""The command that makes mutants: what it changes, and what it leaves alone."""

from __future__ import annotations

import ast

import house.mutants as mutants
import pytest

SOURCE = '''"""Docstring with 1 < 2 and 3."""
from __future__ import annotations
x: int = 0

def f(a: float = 1.0, *, b: bool = True) -> float:
    """1 + 1."""
    if not a < 2 and -a >= 0.5:
        raise ValueError(f"{a + 1}")
    return a @ a if a is not None else a  # 7
'''


def test_one_token_is_changed_and_the_source_still_compiles() -> None:
    found = mutants.places("x.py", SOURCE)
    for mutant in found:
        changed = mutant.apply(SOURCE)
        assert changed != SOURCE
        ast.parse(changed)
        assert [a == b for a, b in zip(SOURCE.splitlines(), changed.splitlines(), strict=True)].count(False) == 1
    changes = {(m.line, SOURCE[m.start : m.stop], m.new) for m in found}
    assert changes == {
        (3, "0", "1"),
        (5, "1.0", "2.5"),
        (5, "True", "False"),
        (7, "not ", ""),
        (7, "<", "<="),
        (7, "2", "3"),
        (7, "and", "or"),
        (7, "-", ""),
        (7, ">=", ">"),
        (7, "0.5", "1.75"),
        (9, "@", "+"),
        (9, "is not", "is"),
    }


@pytest.mark.parametrize("room", ["rows", "problem", "solvers", "solvers/newton", "loops", "functions", "liegroups"])
def test_rooms_have_sources_and_tests(room: str) -> None:
    assert list(mutants.sources(room))
    assert all((mutants.ROOT / folder).is_dir() for folder in mutants.tests_of(room))


def test_a_room_that_is_none_is_named() -> None:
    with pytest.raises(SystemExit, match="no room 'cellar'"):
        list(mutants.sources("cellar"))

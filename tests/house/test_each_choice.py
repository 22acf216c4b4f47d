"""The quick cases of a law over a product of lists: every member of every list is among them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from each_choice import a_few, covering, draws, mark_long


@pytest.mark.parametrize("sizes", [(1,), (5,), (2, 2), (7, 5), (3, 4, 5), (2, 1, 6)], ids=str)
def test_each_choice_is_covered_by_as_many_cases_as_the_longest_list(sizes: tuple[int, ...]) -> None:
    cases = [tuple(enumerate(case)) for case in itertools.product(*map(range, sizes))]
    kept = covering(cases)
    assert {choice for i in kept for choice in cases[i]} == {choice for case in cases for choice in case}
    assert len(kept) == max(sizes)


def is_long(value: Any) -> bool:
    return any(mark.name == "long" for mark in getattr(value, "marks", ()))


def test_a_few_are_spread_from_the_first_to_the_last() -> None:
    """The others are there, with the mark; whatever else is said of a value stays."""
    found = a_few("abcdefg", 3)
    assert [i for i, value in enumerate(found) if not is_long(value)] == [0, 3, 6]
    assert [value.values for value in found if is_long(value)] == [("b",), ("c",), ("e",), ("f",)]
    (first, second) = a_few([("x", 1), ("y", 2)], 1, arguments=2)
    assert (first, second.values) == (("x", 1), ("y", 2))
    slow = pytest.param("s", marks=pytest.mark.skip, id="slow")
    (_, kept) = a_few(["r", slow], 1)
    assert (kept.id, [mark.name for mark in kept.marks]) == ("slow", ["skip", "long"])


def test_draws_are_few_or_long() -> None:
    names, (few, every) = draws(3, 40).args
    assert (names, few, every.values, is_long(every)) == ("count", 3, (40,), True)


def test_choices_that_never_meet_are_covered_too() -> None:
    """Cases of a product of which some are left out."""
    cases = [(("a", i), ("b", j)) for i, j in ((0, 0), (0, 1), (1, 1), (2, 3), (2, 2))]
    kept = covering(cases)
    assert {choice for i in kept for choice in cases[i]} == {choice for case in cases for choice in case}


LAWS = """
import pytest

@pytest.fixture(params=["readable", "compiled"])
def engine(request):
    return request.param

@pytest.mark.parametrize("b", "uvw")
@pytest.mark.parametrize(("a", "size"), [("x", 1), ("y", 1), ("z", 2)])
def test_product(engine, a, size, b): ...

@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_list(a, b): ...

def test_one(): ...
"""


class Seen:
    """A plugin: what was collected, and what of it is long."""

    def __init__(self) -> None:
        self.quick: list[str] = []
        self.long: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        mark_long(items)
        for item in items:
            (self.long if item.get_closest_marker("long") else self.quick).append(item.name)


def test_products_are_thinned_and_lists_are_not(tmp_path: Path) -> None:
    """Arguments that `parametrize` gives together are one list; parameters of a fixture are one too."""
    (tmp_path / "test_laws.py").write_text(LAWS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    seen = Seen()
    options = ["--collect-only", "-q", "-q", "-p", "no:cacheprovider", "-c", str(tmp_path / "pytest.ini")]
    assert pytest.main([*options, str(tmp_path)], plugins=[seen]) == 0
    product = [name for name in seen.quick if name.startswith("test_product")]
    assert len(product) == 3
    for choice in ("readable", "compiled", "x-1", "y-1", "z-2", "u", "v", "w"):
        assert any(f"[{choice}-" in name or f"-{choice}" in name for name in product), choice
    assert sum(name.startswith("test_list") for name in seen.quick) == 4
    assert "test_one" in seen.quick
    assert len(seen.long) == 2 * 3 * 3 - 3

"""Which cases of a law are the quick ones, and which have the mark `long`.

A law that is asked of 7 mechanisms by 5 methods has 35 cases. Seven of them have every mechanism and every method (each
choice, in the words of combinatorial testing); the other 28 are `long`. A law over one list is not thinned, but where
its members are many of a kind and slow: `a_few` of them. `draws` is for a law that is asked of many random cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pytest


def draws(few: int, all_of_them: int) -> pytest.MarkDecorator:
    """The argument `count` of a test: of so many random cases a few, and in a case with the mark `long` all."""
    return pytest.mark.parametrize("count", [few, pytest.param(all_of_them, marks=pytest.mark.long)])


def a_few(values: Iterable[Any], few: int, arguments: int = 1) -> list[Any]:
    """Values of `parametrize`, each for so many arguments: a few of them, evenly spread; the others have `long`."""
    found = list(values)
    kept = {round(i * (len(found) - 1) / max(1, few - 1)) for i in range(few)}
    return [value if i in kept else _long(value, arguments) for i, value in enumerate(found)]


def _long(value: Any, arguments: int) -> Any:
    if isinstance(value, type(pytest.param())):
        return value._replace(marks=(*value.marks, pytest.mark.long))
    return pytest.param(*(value if arguments > 1 else [value]), marks=pytest.mark.long)


def choices_of(case: pytest.Function) -> tuple[Hashable, ...]:
    """What was chosen from each list of `parametrize`, and each parameter of a fixture."""
    values: dict[str, object] = case.callspec.params
    lists: list[tuple[str, ...]] = []
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        lists.append(tuple(map(str.strip, names.split(","))) if isinstance(names, str) else tuple(names))
    lists += [(name,) for name in values if not any(name in names for names in lists)]
    return tuple((names, *(id(values[name]) for name in names)) for names in lists)


def covering(cases: Sequence[Sequence[Hashable]]) -> set[int]:
    """Numbers of cases that have every choice of all of them; those whose choices are rarest so far come first."""
    used: Counter[Hashable] = Counter()
    missing = {choice for case in cases for choice in case}
    kept: set[int] = set()
    while missing:
        rest = (i for i in range(len(cases)) if i not in kept)
        best = max(rest, key=lambda i: (len(missing.intersection(cases[i])), -sum(used[c] for c in cases[i]), -i))
        kept.add(best)
        used.update(cases[best])
        missing.difference_update(cases[best])
    return kept


def mark_long(items: Iterable[pytest.Item]) -> None:
    """Give the mark `long` to all but the covering cases of each parametrized test, of those that do not have it."""
    laws: dict[object, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and not item.get_closest_marker("long"):
            laws.setdefault((item.parent, item.originalname), []).append(item)
    for cases in laws.values():
        kept = covering([choices_of(case) for case in cases])
        for i, case in enumerate(cases):
            if i not in kept:
                case.add_marker("long")

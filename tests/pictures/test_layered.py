"""The layered layout: columns stay, boxes do not overlap, few lines cross, lines are level where they can be."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from constraints.pictures.graphs.layered import heights


def crossings(columns: dict[str, int], lines: list[tuple[str, str]], y: dict[str, float]) -> int:
    """By hand, of lines from column to column."""
    ends = [sorted(line, key=columns.__getitem__) for line in lines]
    return sum(
        columns[a] == columns[c] and columns[b] == columns[d] and (y[a] - y[c]) * (y[b] - y[d]) < 0.0
        for (a, b), (c, d) in combinations(ends, 2)
    )


def test_nothing_is_drawn_of_nothing() -> None:
    assert heights({}, [], {}) == {}


def test_one_line_is_level_and_the_lowest_box_stands_on_the_ground() -> None:
    assert heights({"a": 0, "b": 1}, [("a", "b")], {"a": 1.0, "b": 3.0}) == {"a": 1.5, "b": 1.5}


def test_boxes_stand_as_near_to_their_neighbours_as_they_can() -> None:
    """By hand: two boxes of one neighbour stand on each other, its height in their middle."""
    y = heights({"a": 0, "b": 1, "c": 1}, [("a", "b"), ("a", "c")], {"a": 1.0, "b": 1.0, "c": 2.0})
    assert y == pytest.approx({"a": 1.25, "b": 0.5, "c": 2.0})


def test_lines_that_need_not_cross_do_not() -> None:
    """A ladder whose second column is given upside down, and a tree whose leaves are mixed, on either side of it."""
    columns = {f"{side}{i}": int(side == "b") for side in "ab" for i in range(6)}
    lines = [(f"a{i}", f"b{5 - i}") for i in range(6)]
    y = heights(columns, lines, dict.fromkeys(columns, 1.0))
    assert crossings(columns, lines, y) == 0
    assert all(abs(y[a] - y[b]) < 1e-9 for a, b in lines)
    tree = {"root": 0, "l": 1, "r": 1} | {f"{i}": 2 for i in range(6)}
    branches = [("root", "l"), ("root", "r"), *((("l", "r")[i % 2], f"{i}") for i in range(6))]
    for way in (tree, {name: 2 - column for name, column in tree.items()}):
        assert crossings(way, branches, heights(way, branches, dict.fromkeys(way, 1.0))) == 0
    for seed in (0, 1, 11):  # a planar net whose rows are shuffled
        rng = np.random.default_rng(seed)
        net = {f"{c}{i}": c for c in range(4) for i in rng.permutation(5).tolist()}
        beside = [(f"{c}{i}", f"{c + 1}{i}") for c in range(3) for i in range(5)]
        beside += [(f"{c}{i}", f"{c + 1}{i + 1}") for c in range(3) for i in range(4) if rng.uniform() < 0.6]
        assert crossings(net, beside, heights(net, beside, dict.fromkeys(net, 1.0))) == 0


def test_without_need_the_order_is_the_given_one() -> None:
    """Without lines boxes of a column stand on each other, around one height; without crossings none changes places."""
    columns, sizes = {"d": 0, "c": 1, "b": 1, "a": 2, "e": 2, "f": 1}, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    y = heights(columns, [], dict(zip(columns, sizes, strict=True)))
    middle = (2.0 + 6.5) / 2.0
    assert y == pytest.approx({"d": middle, "c": middle - 9.5 / 3.0, "b": middle - 2.0 / 3.0, "f": middle + 11.5 / 3.0,
                               "a": 2.0, "e": 6.5})  # fmt: skip
    y = heights({"x": 0, "b": 1, "a": 1}, [("x", "b")], {"x": 9.0, "b": 1.0, "a": 1.0})
    assert y["b"] < y["a"]


@pytest.mark.parametrize("seed", range(5, 10))
def test_boxes_of_a_column_never_overlap_and_order_helps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {f"n{i}": int(rng.integers(4)) for i in range(20)}
    lines = [(a, b) for a, b in combinations(columns, 2) if abs(columns[a] - columns[b]) == 1 and rng.uniform() < 0.25]
    sizes = {name: float(rng.uniform(0.2, 2.0)) for name in columns}
    y = heights(columns, lines, sizes)
    assert list(y) == list(columns)
    for a, b in combinations(columns, 2):
        assert columns[a] != columns[b] or abs(y[a] - y[b]) >= 0.5 * (sizes[a] + sizes[b]) - 1e-9
    assert min(y[name] - 0.5 * sizes[name] for name in y) == pytest.approx(0.0, abs=1e-12)
    for a in columns:
        beside = [b for b in columns if b != a and columns[b] == columns[a]]
        joined = [y[b] for line in lines if a in line for b in line if b != a]
        if joined and all(abs(y[a] - y[b]) > 0.5 * (sizes[a] + sizes[b]) + 1e-6 for b in beside):
            assert y[a] == pytest.approx(np.mean(joined), abs=0.2)
    given = {name: float(i) for i, name in enumerate(columns)}
    assert crossings(columns, lines, y) <= crossings(columns, lines, given)

"""Zeros of a level that steps know of: ranges of columns, and the profile of the factors of the normal matrix."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from compiled.both_engines import CompiledRows
from compiled.guarded import plain
from explicit_samples import arm_and_box

pytest.importorskip("numba")

from constraints import Implicit, Pose, Problem, explicit_relative_pose
from constraints.models import mechanisms
from constraints.solvers.compiled.sparsity import profile, row_ranges, tiles
from constraints.solvers.machine import layout


def blocks_of(rng: np.random.Generator, columns: int) -> list[tuple[slice, list[int]]]:
    """Constraints of one to six rows after each other, each with some columns."""
    ends = np.cumsum(rng.integers(1, 7, 8)).tolist()
    some = [rng.permutation(columns)[: rng.integers(1, 5)].tolist() for _ in ends]
    return [(slice(first, end), c) for first, end, c in zip([0, *ends], ends, some, strict=False)]


def some_ranges(rng: np.random.Generator, blocks: int) -> tuple[int, Any]:
    """Rows of so many constraints, and the ranges of twenty columns."""
    some = blocks_of(rng, 20)[:blocks]
    return some[-1][0].stop, row_ranges(20, some, [])


@pytest.mark.parametrize("seed", range(20))
def test_factors_stay_within_the_profile(seed: int) -> None:
    """Whatever the numbers are; and the profile is no larger than the rows that columns link, one after the other."""
    rng, columns = np.random.default_rng(seed), 11
    blocks = blocks_of(rng, columns)
    rows = blocks[-1][0].stop
    J = np.zeros((rows, columns))
    for where, some in blocks:
        J[where, some] = rng.standard_normal((where.stop - where.start, len(some)))
    ranges = row_ranges(columns, blocks, [])
    for c in range(columns):
        there = np.flatnonzero(J[:, c])
        assert ranges[c].tolist() == ([there[0], there[-1] + 1] if there.size else [0, 0])
    found = profile(rows, ranges)
    upper = np.linalg.cholesky(J @ J.T + 1e-3 * np.eye(rows)).T
    for k in range(rows):
        assert np.abs(upper[k, found[k, 0] :]).max(initial=0.0) < 1e-14
        assert np.abs(upper[: found[k, 1], k]).max(initial=0.0) < 1e-14
        assert found[k, 1] <= k < found[k, 0]


@pytest.mark.parametrize("blocks", range(1, 9))
def test_tiles_have_all_entries_of_the_profile_and_the_columns_that_make_them(blocks: int) -> None:
    for seed in range(6):
        rows, ranges = some_ranges(np.random.default_rng(seed), blocks)
        ends = profile(rows, ranges)[:, 0]
        count, *table = tiles(rows, ranges, ends)
        entries, at = set[tuple[int, int]](), 0
        for _ in range(count):
            i, j, size = table[at : at + 3]
            columns, at = table[at + 3 : at + 3 + size], at + 3 + size
            of_i, of_j = ([(ranges[:, 0] <= k) & (k < ranges[:, 1]) for k in range(o, o + 3)] for o in (i, j))
            assert columns == np.flatnonzero(np.any(of_i, axis=0) & np.any(of_j, axis=0)).tolist()
            assert 0 <= i <= j <= rows - 3
            entries |= set(itertools.product(range(i, i + 3), range(j, j + 3)))
        assert at == len(table)
        if rows > 2:
            assert entries >= {(i, j) for i in range(rows) for j in range(i, int(ends[i]))}


@pytest.mark.parametrize("blocks", range(1, 9))
def test_factors_solve_with_and_without_their_profile(blocks: int) -> None:
    """What stands below the diagonal is not read; a pivot that is not positive is told, wherever it is."""
    solved = plain("cholesky").cholesky_solved
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, ranges = some_ranges(rng, blocks)
        here = np.arange(rows)[:, None]
        A = rng.normal(size=(rows, 20)) * ((ranges[:, 0] <= here) & (here < ranges[:, 1]))
        matrix, e = A @ A.T + 0.1 * np.eye(rows), rng.normal(size=rows)
        table = np.array([0, *profile(rows, ranges).ravel()])
        for place in (0, 1):
            W = np.concatenate(([np.nan], np.where(np.tri(rows, k=-1) > 0, np.nan, matrix).ravel(), e))
            assert solved(table, W, 1, rows, 1 + rows * rows, place)
            np.testing.assert_allclose(matrix @ W[1 + rows * rows :], e, rtol=0.0, atol=1e-10)
        for k in range(rows):
            W = np.concatenate(([np.nan], np.eye(rows).ravel(), e))
            W[1 + k * rows + k] = rng.choice([0.0, -1.0, np.nan])
            assert not solved(table, W, 1, rows, 1 + rows * rows, 0)


def test_columns_that_are_mixed_have_the_rows_of_all() -> None:
    ranges = row_ranges(4, [(slice(0, 2), [0]), (slice(2, 5), [2])], [np.array([0, 1, 2])])
    assert ranges.tolist() == [[0, 5], [0, 5], [0, 5], [0, 0]]


def test_computed_dofs_bring_the_columns_that_they_are_computed_from() -> None:
    """A box that follows the hand: rows of the box are rows of the arm."""
    robot = arm_and_box()
    held = explicit_relative_pose(robot, "arm/tool", "box/root_joint")
    seen = Implicit.equal(Pose(robot, "box/root_joint"), name="seen")
    rows = CompiledRows(Problem(robot, [held, seen]))
    for q in robot.random(np.random.default_rng(0), 5):
        assert rows.at(q).jacobian.any()


def test_a_lift_has_narrow_factors() -> None:
    """One stage after the other: the steps of many stages cost as much as there are stages."""
    problem = mechanisms.scissor_lift(8).problem()
    integers = CompiledRows(problem).packed.integers
    rows = problem.constraints.size
    found = integers[integers[layout.PROFILE] :][: 2 * rows].reshape(-1, 2)
    assert (found[:, 0] - np.arange(rows)).max() < rows / 2

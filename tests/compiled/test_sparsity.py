"""Zeros of a level that steps know of: ranges of columns, and the profile of the factors of the normal matrix."""

from __future__ import annotations

import numpy as np
import pytest
from compiled.both_engines import CompiledRows
from explicit_samples import arm_and_box

pytest.importorskip("numba")

from constraints import Implicit, Pose, Problem, explicit_relative_pose
from constraints.models import mechanisms
from constraints.solvers.compiled.sparsity import fours, profile, row_ranges
from constraints.solvers.machine import layout


def blocks_of(rng: np.random.Generator, columns: int) -> list[tuple[slice, list[int]]]:
    """Constraints of one to six rows after each other, each with some columns."""
    ends = np.cumsum(rng.integers(1, 7, 8)).tolist()
    some = [rng.permutation(columns)[: rng.integers(1, 5)].tolist() for _ in ends]
    return [(slice(first, end), c) for first, end, c in zip([0, *ends], ends, some, strict=False)]


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


@pytest.mark.parametrize("seed", range(5))
def test_each_column_is_in_one_four_or_left(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranges = row_ranges(14, blocks_of(rng, 14), [])
    table = fours(ranges)
    groups = np.array(table[1 : 1 + 6 * table[0]]).reshape(-1, 6)
    left = table[2 + 6 * table[0] :]
    assert len(left) == table[1 + 6 * table[0]] < 4
    assert sorted([*groups[:, :4].ravel().tolist(), *left]) == np.flatnonzero(ranges[:, 1]).tolist()
    for *some, first, end in groups.tolist():
        assert first == ranges[some, 0].min()
        assert end == ranges[some, 1].max()


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

"""Dependent and independent coordinates: laws on Jacobians of known rank, and on mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from constraints.linear_algebra import null_space, numerical_rank, pivots, row_space, singular_values
from constraints.loops.partition import Partition, partition
from constraints.models import mechanisms

SHAPES = [(m, n, rank) for m, n, rank in ((6, 9, 6), (8, 5, 3), (4, 4, 4), (5, 7, 1), (3, 6, 0), (0, 4, 0), (3, 0, 0))]


def jacobian(m: int, n: int, rank: int, seed: int = 0) -> Any:
    """Random, of a known rank."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))


def check(J: Any, parts: Partition) -> None:
    """Law: all columns and rows are there once, and the pivot block is regular and determines the motion."""
    m, n = J.shape
    assert sorted([*parts.dependent, *parts.independent, *parts.driven]) == list(range(n))
    assert sorted([*parts.rows, *parts.redundant]) == list(range(m))
    assert parts.dependent.size == parts.rows.size == parts.rank
    assert list(parts.dependent) == sorted(parts.dependent)
    assert list(parts.rows) == sorted(parts.rows)
    others = np.concatenate([parts.independent, parts.driven])
    v = np.zeros(n)
    v[others] = np.random.default_rng(1).standard_normal(others.size)
    h = parts.rows
    v[parts.dependent] = np.linalg.solve(J[np.ix_(h, parts.dependent)], -J[np.ix_(h, others)] @ v[others])
    np.testing.assert_allclose(J[h] @ v, 0.0, atol=1e-10)


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_each_rank_is_found_and_the_pivot_block_is_regular(m: int, n: int, rank: int) -> None:
    for seed in range(20):
        J = jacobian(m, n, rank, seed)
        parts = partition(J)
        assert parts.rank == rank
        check(J, parts)
        np.testing.assert_allclose(J @ null_space(J), 0.0, atol=1e-10)
        assert null_space(J).shape == (n, n - rank)
        assert rank == row_space(J)[1] == numerical_rank(pivots(J)[1]) == numerical_rank(singular_values(J))


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_preferred_columns_are_independent_where_the_rank_allows(m: int, n: int, rank: int) -> None:
    for preferred in ([0], [2, 0], [3, 2, 1], list(range(n))):
        wished = [i for i in preferred if i < n]
        J = jacobian(m, n, rank)
        parts = partition(J, preferred=wished)
        assert parts.rank == rank
        check(J, parts)
        needed = rank - numerical_rank(singular_values(np.delete(J, wished, axis=1)))
        taken = [i for i in wished if i in parts.dependent]
        assert len(taken) == needed
        kept = [i for i in wished if i not in taken]
        assert list(parts.independent[: len(kept)]) == kept


def test_driven_columns_are_never_dependent_and_do_not_count() -> None:
    J = jacobian(6, 9, 6)
    driven = np.arange(9) < 4
    parts = partition(J, preferred=[0, 8], driven=driven)
    assert parts.driven.tolist() == [0, 1, 2, 3]
    assert parts.rank == 5
    assert parts.dependent.tolist() == [4, 5, 6, 7, 8]
    assert parts.redundant.size == 1
    check(J, parts)


def test_the_tolerance_counts_from_the_largest_singular_value() -> None:
    J = np.diag([1e3, 1.0, 0.9e-3, 0.0])
    assert partition(J).dependent.tolist() == [0, 1]
    assert partition(J, tolerance=1e-7).dependent.tolist() == [0, 1, 2]
    assert numerical_rank(np.diag(J), scale=1.0) == 3


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "scissor_lift", "bennett", "delta_robot", "stewart_platform"])
def test_what_is_blocked_is_what_the_partition_cannot_leave_independent(name: str) -> None:
    mechanism = getattr(mechanisms, name)()
    names = mechanism.robot.joint_names
    for q in (*mechanism.postures.values(), mechanism.robot.neutral):
        for driven in ((), mechanism.motors, names[:2], names[::-1][:3], names):
            judged = mechanism.judge(q, driven=driven)
            assert len(judged.dependent) == judged.rank
            assert len(judged.redundant) == judged.rows - judged.rank
            assert judged.blocked == len(set(judged.driven) & set(judged.dependent))


def test_of_preferred_columns_the_first_one_stays() -> None:
    """Where only one of two can be independent, the order decides, not the size of pivots."""
    linkage = mechanisms.four_bar(0.1, 0.04, 0.12, 0.08)
    J = linkage.constraint_set().jacobian(linkage.posture("closed"))
    for first, second in ((0, 2), (2, 0), (1, 2), (2, 1)):
        assert partition(J, preferred=[first, second]).independent.tolist() == [first]
        assert partition(J, wished=[first], preferred=[second]).independent.tolist() == [first]

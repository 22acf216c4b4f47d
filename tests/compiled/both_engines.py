"""Rows of a problem by the kernels, and by the readable functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from constraints import Options, Problem
from liegroups.arrays import Matrix, Vector

pytest.importorskip("numba")

from constraints.solvers.compiled.problem import Packed, packed
from constraints.solvers.kernels.evaluation import rows_of
from constraints.solvers.machine import layout
from constraints.solvers.machine.jit import places

LIMIT = 1e-12
"""Of the largest entry of errors or Jacobian."""


class Rows(NamedTuple):
    """Errors, and the Jacobian by the dofs that steps move."""

    error: Vector
    jacobian: Matrix


class CompiledRows:
    """A packed problem, to be looked at."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.packed: Packed = packed(problem, Options())
        self.live = np.flatnonzero(problem.implicit_dofs & problem.free & ~problem.bounds.frozen)
        assert self.packed.integers[layout.LIVE] == self.live.size

    def at(self, q: Vector) -> Rows:
        """Of the kernels, with and without Jacobian: the errors are the same."""
        integers, floats, work = self.packed[:3]
        size, trial = sum(level.size for level in self.problem.levels), int(integers[layout.Q_TRIAL])
        error, alone, J = np.full(size, np.nan), np.full(size, np.nan), np.full((size, self.live.size), np.nan)
        for errors, jacobian in ((error, J), (alone, np.zeros((0, 1)))):
            memory = work.copy()  # the right-hand sides are in it
            memory[trial : trial + q.size] = q
            assert rows_of(places(integers, floats, memory), errors, jacobian)
        np.testing.assert_array_equal(alone, error)
        self._assert_in_ranges(J)
        return Rows(error, J)

    def _assert_in_ranges(self, J: Matrix) -> None:
        """Steps take numbers of the first level from the rows that each column is said to have."""
        integers, first = self.packed.integers, next((level.size for level in self.problem.levels if level.size), 0)
        ranges = integers[integers[layout.RANGES] :][: 2 * self.live.size].reshape(-1, 2)
        rows = np.arange(first)[:, None]
        outside = (rows < ranges[:, 0]) | (rows >= ranges[:, 1])
        assert not J[:first][outside].any()

    def readable_at(self, q: Vector) -> Rows:
        """Of the functions; for problems without explicit constraints."""
        assert not len(self.problem.explicits)
        rows = self.problem.rows(q)
        return Rows(rows.error, rows.jacobian[:, self.live])


def assert_close(found: Matrix | Vector, expected: Matrix | Vector, limit: float = LIMIT) -> None:
    """To a part of the largest entry, and at least of one."""
    assert found.shape == expected.shape
    largest = max(float(np.abs(expected).max(initial=0.0)), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=limit * largest)

"""Rows side by side have the bits of single calls, whatever stands beside them: kernels as plain Python in lanes.

Comparisons of arrays have no truth value, so a branch on a number of the memory is an error here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from compiled.kinds_of_problems import CASES, Case
from compiled.lanes_in_python import LANES, in_lanes, projected, projected_alone
from each_choice import a_few
from robots import arm

from constraints import Implicit, Options, Pose, Problem
from constraints.solvers.compiled.problem import packed
from constraints.solvers.machine import layout
from constraints.solvers.newton.computed_bodies import ComputedBodies


def tables(case: Case) -> tuple[Any, Any, Any]:
    """A problem as it is packed, without a trace."""
    options = replace(case.options, trace=False)
    return packed(case.problem, options, ComputedBodies(case.problem, options.threshold) or None)[:3]


def mixed(case: Case, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts of all kinds with right-hand sides by row: drawn, out of bounds, already solved, no point, poisoned."""
    pairs = case.starts(count)
    starts, sides = np.array([q for q, _ in pairs]), np.array([rhs.vector for _, rhs in pairs])
    sides = sides.reshape(count, -1)
    space, bounds = case.problem.space, case.problem.bounds
    starts[1] = space.integrate(starts[1], np.full(space.nv, 2.5))
    outside = np.where(np.isfinite(bounds.upper), bounds.upper + 0.3, starts[2])
    starts[2] = np.where(np.isfinite(bounds.upper) & (bounds.upper > bounds.lower), outside, starts[2])
    starts[3, 0] = np.nan
    ends, figures = projected_alone(*tables(case), starts[4:6], sides[4:6])
    for n, end, figure in zip((4, 5), ends, figures, strict=True):
        if figure[0] == layout.CONVERGED:
            starts[n] = end  # nothing to do
    if sides.size:
        sides[6, 0] = np.nan  # all of it becomes NaN
        sides[7, 0] += 1e3  # nowhere near
        sides[8, 0] = 1e200  # and what overflows
    return starts, sides


@pytest.mark.parametrize("name", a_few(CASES, 24))
def test_rows_side_by_side_have_the_bits_of_single_calls(name: str) -> None:
    case = CASES[name]()
    starts, sides = mixed(case, 9)
    memory = tables(case)
    alone, figures = projected_alone(*memory, starts, sides)
    together, found = projected(*memory, starts, sides)
    points = figures[:, 0] != layout.NO_POINT
    np.testing.assert_array_equal(found[:, 0], figures[:, 0])
    np.testing.assert_array_equal(found[points], figures[points])
    assert together[points].tobytes() == alone[points].tobytes()


@pytest.mark.parametrize("count", [1, 2, LANES - 1, LANES, LANES + 1, 17])
def test_any_number_of_rows_is_projected(count: int) -> None:
    problem = Problem(arm(), [Implicit.equal(Pose(arm(), "tool"))])
    case = Case(problem, Options(max_iterations=20))
    pairs = case.starts(count)
    starts, sides = np.array([q for q, _ in pairs]), pairs[0][1].vector[None].copy()
    memory = tables(case)
    alone, together = projected_alone(*memory, starts, sides), projected(*memory, starts, sides)
    assert together[0].tobytes() == alone[0].tobytes()
    np.testing.assert_array_equal(together[1], alone[1])


def test_a_branch_on_a_number_is_an_error() -> None:
    """What the tests above rest on."""
    in_lanes()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(np.zeros(LANES) < 1.0)

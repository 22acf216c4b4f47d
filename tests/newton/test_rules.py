"""The rules of an iteration as plain functions of numbers: which score falls, how caps move, angles, restarts."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from constraints.solvers.newton import rules
from constraints.solvers.newton.iteration import NewtonIteration


@pytest.mark.parametrize(
    ("score", "reference", "said"),
    [
        ((0.4, 9.0, 9.0), (1.0, 0.0, 0.0), True),  # level 0 falls, whatever is below
        ((0.5, 0.0, 0.0), (1.0, 1.0, 1.0), False),  # exactly the ratio is no fall, and level 0 is not satisfied
        ((0.6, 0.0, 0.0), (1.0, 1.0, 1.0), False),
        ((0.0, 0.4, 9.0), (0.0, 1.0, 0.0), True),
        ((0.0, 0.5, 0.0), (0.0, 1.0, 9.0), False),
        ((0.0, 0.0, 0.4), (0.0, 0.0, 1.0), True),  # a level below counts where those above are zero
        ((0.0, 0.3, 0.4), (0.0, 0.0, 1.0), False),  # not where one above has risen from zero, ...
        ((0.0, 1e-9, 0.4), (0.0, 1e-9, 1.0), False),  # ... or stays
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False),
        ((0.4,), (1.0,), True),
        ((0.0,), (0.0,), False),
    ],
)
def test_a_lower_level_falls_only_below_levels_that_are_zero(
    score: tuple[float, ...], reference: tuple[float, ...], said: bool
) -> None:
    assert rules.falls(list(score), list(reference), 0.5) == said


def test_the_best_has_the_lower_score_and_then_the_lower_merit() -> None:
    low, high = [0.0, 1.0], [0.0, 2.0]
    assert rules.is_better(low, 9.0, high, 1.0)
    assert not rules.is_better(high, 1.0, low, 9.0)
    assert rules.is_better(low, 1.0, low, 2.0)
    assert not rules.is_better(low, 2.0, low, 2.0)


@pytest.mark.parametrize(
    ("norms", "score"),
    [
        ((0.5,), [0.5]), ((0.1,), [0.1]), ((0.5, 0.75), [0.0, 0.75]), ((0.51, 0.1), [0.51, 0.0]),
        ((0.5, 0.5), [0.0, 0.0]), ((2.0, 3.0, 0.4), [2.0, 3.0, 0.0]),
    ],
)  # fmt: skip
def test_levels_that_hold_to_half_the_threshold_count_as_zero(norms: tuple[float, ...], score: list[float]) -> None:
    """Of several levels; of one its residual is its score. The last, optional, one is not measured."""
    rows = [SimpleNamespace(measure=lambda r=r: (r * r, r)) for r in (*norms, 9.0)]
    given: Any = SimpleNamespace(_mandatory=len(norms), _half=0.5)
    found = NewtonIteration.measure(given, rows)  # type: ignore[arg-type]
    assert found == (score, max(norms), pytest.approx(sum(r * r for r in norms), abs=1e-15))


def test_a_step_is_cut_to_its_cap() -> None:
    assert rules.part_within(2.0, 0.5) == 0.25
    assert rules.part_within(0.5, 0.5) == 1.0
    assert rules.part_within(0.0, 0.5) == 1.0


@pytest.mark.parametrize(("lower", "upper"), [(-math.pi, math.pi), (0.0, 2.0 * math.pi), (-1.0, 6.5)])
@pytest.mark.parametrize("x", [-20.0, -9.3, -3.2, -math.pi, 3.2, 6.6, 9.5, 13.0])
def test_an_angle_comes_into_its_bounds_by_whole_turns(x: float, lower: float, upper: float) -> None:
    """The same rotation, and the nearest one inside: one turn less would still be outside."""
    if lower <= x <= upper:
        return
    inside, apart = rules.into_bounds(x, lower, upper)
    assert lower <= inside <= upper
    assert abs(math.remainder(inside - x, 2.0 * math.pi)) < 1e-14
    assert 0.0 < apart < 1e-14  # whole turns of this size are known to a rounding
    back = math.copysign(2.0 * math.pi, x - inside)
    assert not lower + 1e-12 < inside + back < upper - 1e-12


def test_an_angle_that_no_whole_turn_brings_inside_ends_at_the_nearest_end() -> None:
    """A range of a turn less 1e-7: an angle in the gap is put to the end, and said to be off by what that takes."""
    lower, upper = -math.pi + 5e-8, math.pi - 5e-8
    for x, end in ((math.pi + 2e-8, lower), (-math.pi - 2e-8, upper)):
        inside, apart = rules.into_bounds(x, lower, upper)
        assert inside == end
        assert apart == pytest.approx(3e-8, rel=1e-6)


def test_restarts_are_decided_by_the_bytes_of_the_start() -> None:
    q, table = np.array([1.0, 2.0, 3.0]), np.arange(12.0).reshape(4, 3)
    rows = {rules.restart_row(q), rules.restart_row(q.copy())}
    assert len(rows) == 1
    assert rules.restart_row(np.nextafter(q, 9.0)) not in rows
    drawn = np.array([0, 2])
    for row in range(9):
        found = rules.restart_configuration(q, table, drawn, row)
        np.testing.assert_array_equal(found, [table[row % 4, 0], 2.0, table[row % 4, 2]])
    np.testing.assert_array_equal(q, [1.0, 2.0, 3.0])

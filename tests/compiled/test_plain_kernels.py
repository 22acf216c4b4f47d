"""Kernels that decide, as plain Python: at thresholds and just beside them, by the rules of the readable engine."""

from __future__ import annotations

import itertools
from math import inf, nextafter, pi

import numpy as np
import pytest

pytest.importorskip("numba")

from compiled.guarded import Guarded, Tables, plain
from compiled.kinds_of_problems import equal, narrow
from robots import arm

from constraints import Implicit, Options, Orientation, Pose, Position, Problem
from constraints.functions import Affine, Identity
from constraints.solvers.machine import layout
from constraints.solvers.newton import rules
from liegroups import SE2, SE3, SO2, SO3, ProductSpace, Rn

TURN = 2.0 * pi


def below(x: float) -> float:
    return nextafter(x, -inf)


def beyond(x: float) -> float:
    return nextafter(x, inf)


def memory(*numbers: float) -> Guarded:
    """Numbers from 1 on; that at 0 is nobody's."""
    return Guarded([0.0, *numbers], {0})


def box(*limits: float) -> tuple[Guarded, Guarded]:
    """Entries 0, 1, .. with their bounds: tables at 1."""
    count = len(limits) // 2
    return Guarded([0, count, *range(count)], {0}), memory(*limits)


# Configurations.


@pytest.mark.parametrize(
    ("x", "inside", "put"),
    [(-1.0, True, -1.0), (below(-1.0), False, -1.0), (2.0, True, 2.0), (beyond(2.0), False, 2.0), (0.5, True, 0.5),
     (-inf, False, -1.0), (inf, False, 2.0)],
)  # fmt: skip
@pytest.mark.parametrize("which", [0, 1])
def test_bounds_belong_to_the_inside(which: int, x: float, inside: bool, put: float) -> None:
    kernels, (I, F) = plain("configurations"), box(-1.0, 2.0, -1.0, 2.0)  # noqa: E741
    numbers = [0.25, 0.25]
    numbers[which] = x
    W = memory(*numbers)
    assert kernels.within(I, F, W, 1, 1, 1) == inside
    assert kernels.clamped(I, F, W, 1, 1, 1, True) == (not inside)
    numbers[which] = put
    assert W.numbers[1:] == numbers


@pytest.mark.parametrize("width", [pi, pi + 0.1, pi - 1e-9])
@pytest.mark.parametrize("x", [-7.0, -3.5, -pi, 0.0, pi, 3.5, 4.0, 9.5, -9.7, 10.0, 3.0 * pi, -5.0 * pi])
def test_angles_are_turned_as_by_the_rules(x: float, width: float) -> None:
    kernels, limits = plain("configurations"), (0.2 - width, 0.2 + width)
    I, F = box(-1.0, 1.0, *limits)  # noqa: E741
    W = memory(0.5, x)
    turned, off = kernels.turned(I, F, W, 1, 1, 1)
    if limits[0] <= x <= limits[1]:
        assert (turned, off, W[2]) == (False, 0.0, x)
        return
    assert turned
    assert (W[2], off) == rules.into_bounds(x, *limits)
    both = memory(1.5 + TURN, x)  # the worst of several counts
    assert kernels.turned(I, F, both, 1, 1, 1)[1] == max(off, rules.into_bounds(1.5 + TURN, -1.0, 1.0)[1])


@pytest.mark.parametrize("off", [0.0, 9e-13, 1.1e-12, 9e-7, 1.1e-6, -9e-7, -1.1e-6, np.nan, inf])
def test_blocks_of_unit_norm(off: float) -> None:
    """Off by more than 1e-12 all are divided by their norms; off by more than 1e-6 they are no point."""
    kernels = plain("configurations")
    I = Guarded([0] * layout.HEADER + [2, 0, 4, 4, 2], set())  # noqa: E741
    I[layout.UNITS] = layout.HEADER
    length = 1.0 + off
    W = memory(0.0, 0.6 * length, 0.0, 0.8 * length, 0.6, 0.8, 3.0)
    before = list(W.numbers)
    assert kernels.is_point(I, W, 1, 7) == (abs(off) <= 1e-6)
    if not np.isfinite(off):
        return
    assert kernels.normalised(I, W, 1) == (abs(off) > 1e-12)
    np.testing.assert_allclose(W.numbers[1:], [0.0, 0.6, 0.0, 0.8, 0.6, 0.8, 3.0], atol=1e-12)
    assert (W.numbers == before) == (abs(off) <= 1e-12)


@pytest.mark.parametrize("x", [inf, -inf, np.nan])
def test_numbers_of_a_point_are_finite(x: float) -> None:
    kernels = plain("configurations")
    I = Guarded([0] * layout.HEADER + [0], set())  # noqa: E741
    I[layout.UNITS] = layout.HEADER
    for place in range(3):
        numbers = [1e300, 0.0, -1e200]
        assert kernels.is_point(I, memory(*numbers), 1, 3)
        assert not kernels.is_finite(memory(*numbers), 1, 3)  # their squares are not
        numbers[place] = x
        assert not kernels.is_point(I, memory(*numbers), 1, 3)
        assert kernels.is_point(I, memory(*numbers), 1, place)
    assert kernels.is_finite(memory(1e150, 2.0), 1, 2)


def test_the_same_numbers_have_the_same_bits() -> None:
    kernels, W = plain("configurations"), memory(1.0, 0.0, 1.0, -0.0, beyond(1.0), 0.0)
    assert kernels.same_numbers(W, 1, 3, 1)
    assert not kernels.same_numbers(W, 1, 3, 2)
    assert not kernels.same_numbers(W, 1, 5, 2)


def test_a_part_of_a_step_moves_each_leaf_along_its_own_columns() -> None:
    space, rng = ProductSpace([Rn(2), SO2, SE2, SO3, SE3, Rn(1)]), np.random.default_rng(6)
    problem = Problem(space, [Implicit.zero(Identity(space))])
    for part, size in itertools.product((1.0, 0.25, -0.5), (1.0, 1e-5, 1e-9, 2.5)):
        tables, q, step = Tables(problem, Options()), space.random(rng, -np.ones(20), np.ones(20)), None
        step = size * rng.normal(0.0, 1.0, space.nv)
        at, to = (tables.integers[name] for name in (layout.Q_TRIAL, layout.STEP))
        for i, x in enumerate(q):
            tables.work[at + i] = x
        for i, x in enumerate(step):
            tables.work[to + i] = x
        plain("configurations").moved(tables.integers, tables.work, at, to, part)
        found = [tables.work[at + i] for i in range(space.nq)]
        np.testing.assert_allclose(found, space.integrate(q, part * step), atol=4e-15 * (1.0 + size))


# Scores.

SCORES = [0.0, 0.5, beyond(0.5), 1.0, 0.9, below(0.9), 2.0, inf]


def best_table(mandatory: int) -> tuple[Guarded, dict[str, int]]:
    """A header with places for scores and the state: no configuration."""
    I, W = Guarded([0] * layout.HEADER, set()), 1  # noqa: E741
    places = {}
    for name in ("SCORE", "SCORE_BEST", "SCORE_REFERENCE"):
        I[getattr(layout, name)] = places[name] = W
        W += max(mandatory, 1)
    I[layout.STATE] = places["STATE"] = W
    I[layout.MANDATORY] = mandatory
    return I, places


@pytest.mark.parametrize("mandatory", [0, 1, 2, 3])
def test_scores_are_compared_as_by_the_rules(mandatory: int) -> None:
    kernels, n, rng = plain("best"), max(mandatory, 1), np.random.default_rng(8)
    I, at = best_table(mandatory)  # noqa: E741
    pairs = itertools.product(itertools.product(SCORES, repeat=n), repeat=2)
    some = (
        list(pairs)
        if n == 1
        else [(rng.choice(SCORES, n).tolist(), rng.choice(SCORES, n).tolist()) for _ in range(300)]
    )
    for new, old in some:
        for merit, best_merit in ((1.0, 2.0), (2.0, 2.0), (3.0, 2.0)):
            numbers = [*new, *old, *old, *[0.0] * layout.STATE_SIZE]
            W = memory(*numbers)
            W[at["STATE"] + layout.MERIT], W[at["STATE"] + layout.TRIES] = best_merit, 4.0
            W[at["STATE"] + layout.RESIDUAL] = 9.0
            better = kernels.keep(I, W, 1, 7.0, merit, True)
            assert better == rules.is_better(list(new), merit, list(old), best_merit)
            state = [W[at["STATE"] + i] for i in (layout.RESIDUAL, layout.MERIT, layout.BEST_TRY)]
            assert state == ([7.0, merit, 4.0] if better else [9.0, best_merit, 0.0])
            kept = [W[at["SCORE_BEST"] + i] for i in range(n)]
            assert kept == list(new if better else old)
        for ratio in (0.9, 1.0):
            assert kernels.falls(I, memory(*new, *old, *old), ratio) == rules.falls(list(new), list(old), ratio)


# Steps.


@pytest.mark.parametrize("n", range(11))
def test_sums_of_products_have_all_of_their_terms(n: int) -> None:
    numbers = np.random.default_rng(n).integers(-9, 9, 2 * n).astype(float)
    W = Guarded([0.0, *numbers, np.nan], {0, 2 * n + 1})
    assert plain("steps").dot(W, 1, 1 + n, n) == numbers[:n] @ numbers[n:]


@pytest.mark.parametrize(
    ("longest", "part"), [(0.5, 1.0), (0.75, 1.0), (-0.75, 1.0), (beyond(0.75), None), (-3.0, 0.25)]
)
@pytest.mark.parametrize("column", range(3))
def test_the_part_within_the_cap_is_that_of_the_longest_coordinate(
    column: int, longest: float, part: float | None
) -> None:
    tables = Tables(Problem(Rn(3), [Implicit.zero(Identity(Rn(3)))]), Options(cap=0.75))
    step = tables.integers[layout.STEP]
    for c in range(3):
        tables.work[step + c] = longest if c == column else 0.1
    found = plain("steps").part_within_cap(tables.integers, tables.floats, tables.work, step)
    assert found == (rules.part_within(abs(longest), 0.75) if part is None else part)
    squared = plain("steps").squared_length(tables.integers, tables.work, step)
    assert squared == pytest.approx(longest**2 + 0.02, rel=1e-15)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 9])
@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("holding", [False, True])
def test_the_damped_step_is_that_of_dense_algebra(rows: int, costs: bool, holding: bool) -> None:
    """Of any rows, with costs, with columns held; of rows that are all the same, with no damping to speak of, too."""
    n, rng = 8, np.random.default_rng(rows)
    A, weights = rng.normal(0.0, 1.0, (rows, n)), rng.uniform(0.3, 3.0, n) if costs else None
    tables = Tables(Problem(Rn(n), [Implicit.zero(Affine(A))], weights=weights), Options())
    I, F, W = tables.where  # noqa: E741
    e = rng.normal(0.0, 1.0, rows)
    J, at = I[I[layout.LEVEL_TABLE] + layout.JACOBIAN], I[I[layout.LEVEL_TABLE] + layout.ERROR]
    scale2 = np.ones(n) if weights is None else 1.0 / weights
    if I[layout.SCALE]:
        scale2 = np.array([F[I[layout.SCALE] + c] ** 2 for c in range(n)])
        np.testing.assert_allclose(scale2 * weights, (scale2 * weights)[0], rtol=1e-12)
    held = np.arange(n) % 3 == 1
    for c in range(n):
        W[I[layout.HELD] + c] = float(held[c])
    if holding:
        scale2 = np.where(held, 0.0, scale2)
    for B, mu in ((A, 0.3), (A, 1e-9), (np.ones((rows, n)), 0.01), (0.0 * A, 0.5)):
        for i, x in enumerate(e):
            W[at + i] = x
        for i, c in itertools.product(range(rows), range(n)):
            W[J + c * rows + i] = B[i, c]
        plain("steps").damped_step(I, F, W, at, mu, True, holding)
        found = np.array([W[I[layout.STEP] + c] for c in range(n)])
        y = np.linalg.solve((B * scale2) @ B.T + mu * np.eye(rows), e)
        np.testing.assert_allclose(found, -scale2 * (B.T @ y), rtol=1e-5, atol=1e-5)
    if rows not in (3, 6):  # made in registers: a division by zero ends plain Python, and no kernel
        for i, c in itertools.product(range(rows), range(n)):
            W[J + c * rows + i], W[at + i] = 1.0, 2.0
        plain("steps").damped_step(I, F, W, at, 0.0, True, holding)  # singular: damped until it is not
        assert sum(W[I[layout.STEP] + c] for c in range(n)) == pytest.approx(-2.0, rel=1e-2)


# Levels.


def test_caps_of_lower_levels_follow_the_rules() -> None:
    robot, rng = arm(), np.random.default_rng(5)
    levels = [[equal(Position(robot, "tool"))], [equal(Orientation(robot, "tool"))], [equal(Position(robot, "elbow"))]]
    options = Options(threshold=1e-4, cap=1.5)
    tables, kernels = Tables(Problem(robot, levels, narrow(robot, 1.0)), options), plain("lower")
    I, F, W = tables.where  # noqa: E741
    kernels.caps_begun(I, F, W, True)
    errors = [I[I[layout.LEVEL_TABLE] + layout.LEVEL_SIZE * n + layout.ERROR] for n in range(3)]
    before, caps = [inf] * 3, [1.5] * 3
    for k in range(400):
        now = [float(rng.choice([0.0, 4.999e-5, 5.001e-5, 0.8001 * b, 0.7999 * b, 0.9001 * b, 0.8999 * b, 1.0]))
               for b in (1.0 if x == inf else x for x in before)]  # fmt: skip
        if k % 50 == 0:
            now = [1.0] * 3
        for error, x in zip(errors, now, strict=True):
            W[error], W[error + 1], W[error + 2] = x, 0.0, 0.0
        falling, settles = kernels.caps_adapted(I, F, W, True), True
        expected = False
        for n in (1, 2):
            above = now[n - 1]
            settles = settles and (above <= 5e-5 or above < rules.SETTLING * before[n - 1])
            caps[n] = rules.next_cap(caps[n], settles, now[n], before[n], 1.5)
            expected = expected or (not settles and caps[n] > 1e-3)
        assert [W[I[layout.CAPS] + n] for n in range(3)] == caps
        assert falling == expected
        before = now


def test_where_the_gradient_is_no_way_down_within_bounds() -> None:
    """At 2 % of the error, to both sides; a column at its bound counts where it leads inside alone."""
    problem = Problem(Rn(2), [Implicit.zero(Identity(Rn(2)))])
    tables = Tables(problem, Options())
    I, F, W = tables.where  # noqa: E741
    level, limits, q = I[layout.LEVEL_TABLE], I[layout.LIMITS], I[layout.Q_NOW]
    for c, (lower, upper) in enumerate(((-1.0, 2.0), (-inf, inf))):
        F[limits + c], F[limits + 2 + c] = lower, upper
    J, e = I[level + layout.JACOBIAN], I[level + layout.ERROR]
    W[e], W[e + 1] = 3.0, 4.0
    is_stationary = plain("finish")._is_stationary
    for place, slope, outward in ((-1.0, 1.0, True), (-1.0, -1.0, False), (2.0, -1.0, True), (2.0, 1.0, False),
                                  (below(-1.0), 1.0, True), (beyond(-1.0), 1.0, False), (below(2.0), -1.0, False),
                                  (0.5, 1.0, False), (2.5, -1.0, True)):  # fmt: skip
        W[q], W[q + 1] = place, 7.0
        for other, small in ((0.0245, True), (0.0255, False), (-0.0245, True)):
            W[J], W[J + 1], W[J + 2], W[J + 3] = slope, 0.0, 0.0, other
            assert is_stationary(I, F, W) == (outward and small)
    W[J], W[J + 1], W[J + 3] = 0.0, 0.0, 0.025  # exactly 2 %
    assert is_stationary(I, F, W) == rules.is_stationary(np.array([0.0, 0.1]), np.array([3.0, 4.0]))


def test_rows_that_hold_are_entered_where_a_step_crosses_their_limit() -> None:
    robot = arm()
    within = Implicit.between(Position(robot, "tool"), [-0.3, -0.2, -0.1], [0.3, 0.2, 0.1], name="within")
    tables = Tables(Problem(robot, [within, equal(Pose(robot, "tool"), mask=[0, 0, 0, 1, 1, 1])]), Options())
    I, F, W = tables.where  # noqa: E741
    level, n = I[layout.LEVEL_TABLE], I[layout.LIVE]
    m, e, J, step = I[level + layout.ROWS], I[level + layout.ERROR], I[level + layout.JACOBIAN], I[layout.STEP]
    table, kept = I[level + layout.ONE_SIDED], I[level + layout.UNCLIPPED]
    assert I[table] == 3
    values, ahead = (0.25, -0.15, 0.0), (0.31, -0.2, -0.2)
    for after in itertools.product(*zip(values, ahead, strict=True)):
        for error in (0.0, 0.01):
            for i in range(m):
                W[e + i] = 5.0
                for c in range(n):
                    W[J + c * m + i] = 3.0
            for c in range(n):
                W[step + c] = float(c == 2)
            for k in range(3):
                W[e + I[table + 1 + 2 * k]], W[I[table + 2 + 2 * k]] = error, values[k]
                for c in range(n):
                    W[kept + k * n + c] = after[k] - values[k] if c == 2 else 9.0
            crossed = [error == 0.0 and after[k] == ahead[k] and k != 1 for k in range(3)]
            assert plain("steps").entered(I, F, W, level, step) == any(crossed)
            for k, limit in enumerate((0.3, -0.2, -0.1)):
                i = I[table + 1 + 2 * k]
                assert W[e + i] == (pytest.approx(values[k] - limit, abs=1e-15) if crossed[k] else error)
                row = [W[J + c * m + i] for c in range(n)]
                assert row == ([after[k] - values[k] if c == 2 else 9.0 for c in range(n)] if crossed[k] else [3.0] * n)

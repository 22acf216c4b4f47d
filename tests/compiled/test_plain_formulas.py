"""Kernels that calculate, as plain Python: exact places, zeros and ones, where a wrong choice is no rounding."""

from __future__ import annotations

import itertools
from typing import Any

import mpmath
import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("numba")

from compiled.guarded import Guarded, Tables, plain
from compiled.test_plain_kernels import memory

from constraints import Implicit, Options, Problem
from constraints.functions import Affine, Lifted
from constraints.solvers.machine import layout
from liegroups import Rn, Segments
from liegroups.formulas.series import EXP_SWITCH, LOG_SWITCH


def turns_of_a_cube() -> list[np.ndarray]:
    """All 24: traces of exactly zero, and half turns whose axes are in the middle of two or of four."""
    signed = (np.diag(signs)[:, list(p)] for p in itertools.permutations(range(3))
              for signs in itertools.product((1.0, -1.0), repeat=3))  # fmt: skip
    return [R for R in signed if np.linalg.det(R) > 0.0]


def test_quaternions_of_exact_turns_have_the_signs_of_pinocchio() -> None:
    kernels, turns = plain("groups", "tape"), turns_of_a_cube()
    assert len(turns) == 24
    across = np.outer([3.0, -3.0, 1.0], [3.0, -3.0, 1.0]) * 2.0 / 19.0 - np.eye(3)  # a half turn
    for R in (*turns, across, across[::-1, ::-1], pin.exp3(np.array([0.4, -0.9, 2.6]))):
        expected = pin.Quaternion(R).coeffs()
        found = kernels.quaternion_of(memory(*R.ravel()), 1)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-15)
        for sign in (1.0, -1.0):
            W = memory(9.0, *(sign * expected), 9.0)
            kernels.sign_of_matrix(W, 2)
            np.testing.assert_allclose(W.numbers[1:], [9.0, *found, 9.0], rtol=0.0, atol=1e-15)


def test_coefficients_of_logarithm_and_exponential_are_those_of_40_digits() -> None:
    """k(t) = (1 - (a / 2) cot(a / 2)) / t, twice its slope, (a - sin a) / a^3, t = a^2; at switches to both sides."""
    kernels, step = plain("groups", "tape"), mpmath.mpf(10) ** -14
    with mpmath.workdps(60):

        def k(t: Any) -> Any:
            half = mpmath.sqrt(t) / 2
            return (1 - half * mpmath.cot(half)) / t

        switches = [switch * (1.0 + side) for switch in (LOG_SWITCH, EXP_SWITCH) for side in (-1e-12, 1e-12)]
        for t in (1e-12, 1e-3, 0.1, 0.5, 1.3, *switches, 3.0, 6.0, 9.8):
            x, a = mpmath.mpf(t), mpmath.sqrt(mpmath.mpf(t))
            slope = (k(x * (1 + step)) - k(x * (1 - step))) / (x * step)
            found = kernels.log_coefficient(t)
            assert found == pytest.approx(float(k(x)), rel=1e-15)
            limit = 1.5e-15 if t < LOG_SWITCH else 1e-13
            assert kernels.log_coefficient_slope(t, found) == pytest.approx(float(slope), rel=limit)
            third = float((a - mpmath.sin(a)) / a**3)
            assert kernels.exp_third(t, *kernels.half_sinc(t)) == pytest.approx(third, rel=1e-15)


@pytest.mark.parametrize("rows", [1, 2, 4, 5, 7])
def test_the_normal_matrix_leaves_out_zeros_alone(rows: int) -> None:
    """Of columns of zeros and ones in all arrangements, in tiles of three rows and in fewer rows."""
    n, rng, mu = 10, np.random.default_rng(rows), 0.5
    tables = Tables(Problem(Rn(n), [Implicit.zero(Affine(np.ones((rows, n))))]), Options())
    I, F, W = tables.where  # noqa: E741
    J, N, y = I[I[layout.LEVEL_TABLE] + layout.JACOBIAN], I[layout.NORMAL], I[layout.DUAL]
    assert I[I[layout.TILES]] == (0, 0, 0, 0, 3, 3, 0, 6)[rows]
    for A in (np.eye(rows, n), np.eye(rows, n)[:, ::-1], np.eye(rows, n, 4), *rng.integers(0, 2, (40, rows, n))):
        for c, i in itertools.product(range(n), range(rows)):
            W[J + c * rows + i] = float(A[i, c])
        e = rng.integers(-3, 4, rows).astype(float)
        for holding in (False, True):
            for c in range(n):
                W[I[layout.HELD] + c] = float(c % 4 == 1)
            for i in range(rows):
                W[y + i] = e[i]
            kept = A * (np.arange(n) % 4 != 1) if holding else A
            matrix = kept @ kept.T + mu * np.eye(rows)
            plain("cholesky")._made(I, F, W, rows, n, J, N, mu, holding)
            for i, j in itertools.combinations_with_replacement(range(rows), 2):
                assert W[N + i * rows + j] == matrix[i, j]
            assert plain("cholesky").cholesky_solved(I, W, N, rows, y, 0)
            found = [W[y + i] for i in range(rows)]
            np.testing.assert_allclose(matrix @ found, e, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("rows", [8, 9, 10, 11, 12, 24])
def test_inequalities_that_hold_are_left_out_and_steps_have_the_same_bits(rows: int) -> None:
    """In threes, wherever they stand, all of them too; with few inequalities nobody asks."""
    n, rng, mu = 5, np.random.default_rng(rows), 1e-3
    tables = Tables(Problem(Rn(n), [Implicit.above(Affine(np.ones((rows, n))))]), Options())
    I, F, W = tables.where  # noqa: E741
    J, y, kernels = I[I[layout.LEVEL_TABLE] + layout.JACOBIAN], I[layout.DUAL], plain("cholesky")
    whole = Guarded([*I.numbers], I.closed)
    assert (I[layout.AWAKE] != 0) == (rows > 8)
    whole[layout.AWAKE] = 0
    for share in (0.0, 0.2, 0.5, 1.0):
        for _ in range(20 if rows > 8 else 0):
            A = rng.standard_normal((rows, n)) * (rng.random((rows, 1)) < share)
            e = rng.standard_normal(rows) * A.any(axis=1)
            for c, i in itertools.product(range(n), range(rows)):
                W[J + c * rows + i] = float(A[i, c])
            threes = [A[i : i + 3].any() for i in range(0, rows - 2, 3)]
            assert kernels._awake_rows(I, W, rows, n, J) == 3 * sum(threes) + rows % 3
            steps = list[list[float]]()
            for tables_of in (I, whole):
                for i in range(rows):
                    W[y + i] = float(e[i])
                assert kernels.normal_solved(tables_of, F, W, rows, n, J, y, mu, False)
                steps.append([W[y + i] if A[i].any() else 0.0 for i in range(rows)])
            assert steps[0] == steps[1]


def test_rows_stay_where_their_own_zeros_save_more() -> None:
    """A chain of points with bounds, whose factors are a band: without some rows they would be a full triangle."""
    space, kernels = Rn(60), plain("cholesky")
    every = [Segments.coordinates(space, range(i, i + 3)) for i in range(0, 60, 3)]
    bounds = [Implicit.above(Lifted(Affine(np.eye(3)), space, each)) for each in every]
    links = [Implicit.zero(Lifted(Affine(np.ones((3, 6))), space, a | b)) for a, b in itertools.pairwise(every)]
    whole = [Implicit.above(Affine(np.ones((60, 60))))]
    for rows, asks, most in (([*bounds[:4], *links], False, 12), (bounds, True, 3), (whole, True, 57)):
        I = Tables(Problem(space, rows), Options()).where[0]  # noqa: E741
        assert (I[layout.AWAKE] != 0) == asks
        assert [count for count in range(0, 60, 3) if kernels._is_less(I, 60, count)] == [*range(0, most + 1, 3)]


def test_pivots_are_positive_numbers_or_nothing_is_solved() -> None:
    positive = plain("cholesky")._are_positive
    for p in ([1e-300, 1.0, 1e300], [1.0, 2.0, 3.0]):
        assert positive(*p)
        for place, bad in itertools.product(range(3), (0.0, -1.0, np.inf, -np.inf, np.nan)):
            assert not positive(*p[:place], bad, *p[place + 1 :])


def computed_tables(live: int, computed: int, rows: int, chain: list[tuple[int, int]], outputs: list[int]) -> Any:
    """Tables of a level whose rows see computed dofs: the header, the level at its end, and an empty memory."""
    I = Guarded([0] * layout.HEADER, set())  # noqa: E741
    level = layout.HEADER
    I.numbers += [0] * layout.LEVEL_SIZE
    I[layout.LIVE], I[layout.COMPUTED] = live, computed
    I[layout.CHAIN] = len(I.numbers)
    I.numbers += [len(chain), *itertools.chain.from_iterable(chain)]
    I[level + layout.OUTPUTS] = len(I.numbers)
    I.numbers += [len(outputs), *outputs]
    size = live + computed
    I[level + layout.ROWS], I[level + layout.JACOBIAN], I[layout.EXPLICIT_JACOBIAN] = rows, 2, 3 + rows * size
    closed = {0, 1, 2 + rows * size, 3 + rows * size + computed * size}
    return I, level, Guarded([0.0] * (4 + rows * size + computed * size), closed)


@pytest.mark.parametrize("count", range(9))
def test_rows_see_live_columns_through_all_outputs(count: int) -> None:
    """J + J_out E of small integers, exactly; of outputs whose derivative is zero or one too."""
    live, computed, rows, rng = 3, 9, 4, np.random.default_rng(count)
    for _ in range(6):
        outputs = sorted(rng.permutation(computed)[:count].tolist())
        I, level, W = computed_tables(live, computed, rows, [], outputs)  # noqa: E741
        J, E = rng.integers(-3, 4, (rows, live + computed)), rng.integers(-1, 2, (computed, live + computed))
        at, to = I[level + layout.JACOBIAN], I[layout.EXPLICIT_JACOBIAN]
        for c, i in itertools.product(range(live + computed), range(rows)):
            W[at + c * rows + i] = float(J[i, c])
        for c, k in itertools.product(range(live + computed), range(computed)):
            W[to + c * computed + k] = float(E[k, c])
        plain("substitution").reduced(I, W, level)
        expected = J[:, :live] + J[:, live:][:, outputs] @ E[outputs, :live]
        found = [[W[at + c * rows + i] for c in range(live)] for i in range(rows)]
        np.testing.assert_array_equal(found, expected)


def test_derivatives_by_computed_dofs_become_those_of_their_inputs() -> None:
    """Output 2 reads outputs 0 and 1, output 3 reads output 2: the product of all, exactly; nothing is left of them."""
    live, computed, rng = 2, 4, np.random.default_rng(1)
    chain = [(2, 0), (2, 1), (3, 2)]
    for _ in range(12):
        I, _, W = computed_tables(live, computed, 1, chain, [])  # noqa: E741
        own, reads = rng.integers(-3, 4, (computed, live)), np.zeros((computed, computed), dtype=int)
        for k, earlier in chain:
            reads[k, earlier] = rng.integers(-1, 2)
        E = np.hstack((own, reads))
        at = I[layout.EXPLICIT_JACOBIAN]
        for c, k in itertools.product(range(live + computed), range(computed)):
            W[at + c * computed + k] = float(E[k, c])
        plain("substitution")._chained(I, W)
        found = np.array([[W[at + c * computed + k] for c in range(live + computed)] for k in range(computed)])
        np.testing.assert_array_equal(found[:, :live], np.linalg.inv(np.eye(computed) - reads) @ own)
        assert not found[:, live:].any()


def block_tables(rows: int, columns: list[int], stride: int, scaled: bool) -> Any:
    """Tables of one block of rows: the tables, where the record is, and an empty memory."""
    table = len(columns)
    I = Guarded([0] * (2 + layout.BLOCK_SIZE), {0})  # noqa: E741
    b, memory_size = 2, 1 + rows + 1
    I[b + layout.COLUMNS] = len(I.numbers)
    I.numbers += [table, *columns]
    I[b + layout.INTERVALS], I[b + layout.TANGENT], I[b + layout.STRIDE] = 1, rows, stride
    I[b + layout.LOG], I[b + layout.BLOCK_JACOBIAN] = 1, memory_size
    end = memory_size + stride * (max(columns) + 1)
    I[b + layout.SCALED] = end + 1 if scaled else 0
    return I, b, Guarded([np.nan] * (end + 2 + rows), {0, memory_size - 1, end})


@pytest.mark.parametrize("scaled", [False, True])
def test_errors_are_scaled_distances_to_intervals_and_rows_inside_have_no_slope(scaled: bool) -> None:
    """Equalities that hold have theirs; where rows are set apart later all have; what is infinite inside is zero."""
    inf, kernels = np.inf, plain("rows")
    intervals = (0.0, 0.0), (-1.0, 2.0), (-inf, 2.0), (-1.0, inf), (-1.0, -1.0)
    values = itertools.product(intervals, (1.0, -2.0, 0.5), (-3.0, -1.0, 0.0, 0.5, 2.0, 4.0))
    rows = [(lower, upper, scale, r) for (lower, upper), scale, r in values]
    F, columns = memory(*itertools.chain.from_iterable(row[:3] for row in rows)), [1, 3]
    for slope, jacobian in ((3.0, 1), (3.0, 0), (inf, 1)):
        I, b, W = block_tables(len(rows), columns, len(rows) + 1, scaled)  # noqa: E741
        J = {(i, c): I[b + layout.BLOCK_JACOBIAN] + c * (len(rows) + 1) + i for i in range(len(rows)) for c in columns}
        for i, row in enumerate(rows):
            W[1 + i] = row[3]
        for (i, c), at in J.items():
            W[at] = slope * (i + c)
        kernels._apply_intervals(I, F, W, kernels._places_of(I, b), jacobian)
        for i, (lower, upper, scale, r) in enumerate(rows):
            off = r - min(max(r, lower), upper)
            assert W[1 + i] == off * scale
            assert not scaled or W[I[b + layout.SCALED] + i] == r * scale
            factor = scale if off != 0.0 or lower == upper or scaled else 0.0
            for c in columns:
                before = slope * (i + c)
                assert W[J[i, c]] == (before if not jacobian else factor * before if factor else 0.0)
        assert sum(np.isnan(W.numbers)) == len(W.numbers) - len(rows) * (3 + scaled)

"""The bare linear algebra: against solutions with 50 digits, on matrices of one's own, good and bad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from constraints.dynamics import DynamicsStatus, Factorisation
from constraints.dynamics.methods.saddle_point import (
    Solution,
    bases_of,
    solve_direct,
    solve_null_space,
    solve_range_space,
)
from constraints.dynamics.methods.tree_sparsity import TreeSparsity, no_sparsity
from constraints.errors import ConstraintError

Solve = Callable[..., Solution]
SOLVERS: dict[str, Solve] = {"direct": solve_direct, "range": solve_range_space, "null": solve_null_space}
EPS = float(np.finfo(float).eps)

every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_factorisation = pytest.mark.parametrize("by", Factorisation, ids=lambda by: by.name)


def system(seed: int, n: int, k: int, hard: float = 1.0) -> tuple[Any, Any, Any, Any]:
    """H with eigenvalues over some powers of ten, and rows of any length."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    H = (Q * 10.0 ** rng.uniform(-hard, hard, n)) @ Q.T
    G = rng.standard_normal((k, n)) * 10.0 ** rng.uniform(-hard, hard, (k, 1))
    return 0.5 * (H + H.T), G, rng.standard_normal(n), rng.standard_normal(k)


def exact(H: Any, G: Any, c: Any, gamma: Any) -> tuple[Any, Any]:
    n, k = len(c), len(gamma)
    with mpmath.workdps(50):
        K = mpmath.matrix(np.block([[H, -G.T], [G, np.zeros((k, k))]]).tolist())
        x = mpmath.lu_solve(K, mpmath.matrix([*c.tolist(), *gamma.tolist()]))
        every = np.array([float(x[i]) for i in range(n + k)])
    return every[:n], every[n:]


@every_solver
@every_factorisation
@pytest.mark.parametrize(("n", "k", "hard"), [(6, 3, 1.0), (6, 6, 1.0), (9, 4, 3.0), (5, 0, 2.0), (1, 1, 1.0)])
def test_solutions_are_those_of_fifty_digits(solver: str, by: Factorisation, n: int, k: int, hard: float) -> None:
    """Error at most 1e3 eps times the condition, of a and of the forces, for each method and factorisation."""
    for seed in range(3):
        H, G, c, gamma = system(seed, n, k, hard)
        a, lam = exact(H, G, c, gamma)
        found = SOLVERS[solver](H, G, c, gamma, by)
        s = 1.0 / np.sqrt(np.diag(H))
        S = G * s
        lengths = np.linalg.norm(S, axis=1)
        K = np.block([[H * s * s[:, None], (S / lengths[:, None]).T], [S / lengths[:, None], np.zeros((k, k))]])
        size = np.linalg.norm(np.concatenate([a / s, lam * lengths]))
        allowed = 1e3 * EPS * np.linalg.cond(K) * size
        assert found.status is DynamicsStatus.SOLVED
        assert np.linalg.norm((found.acceleration - a) / s) < allowed
        assert np.linalg.norm((found.multipliers - lam) * lengths) < allowed


@every_solver
@every_factorisation
def test_redundant_rows_leave_acceleration_and_least_multipliers(solver: str, by: Factorisation) -> None:
    """RBDL 14: repeated, scaled and summed rows: the same acceleration, lambda by the pseudo-inverse, rows named."""
    H, G, c, gamma = system(4, 7, 3)
    T = np.vstack([np.eye(3), [2.0, 0.0, 0.0], [1.0, -1.0, 3.0]])
    a, lam = exact(H, G, c, gamma)
    found = SOLVERS[solver](H, T @ G, c, T @ gamma, by)
    assert found.status is DynamicsStatus.RANK_DEFICIENT
    assert found.row_space.rank == 3
    assert len(found.row_space.redundant) == 2
    assert np.abs(found.acceleration - a).max() < 1e-9 * np.abs(a).max()
    least = np.linalg.pinv(G.T @ T.T, 1e-10) @ (G.T @ lam)
    assert np.abs(found.multipliers - least).max() < 1e-8 * np.abs(least).max()


@every_solver
@every_factorisation
def test_contradicting_rows_meet_what_can_be_met(solver: str, by: Factorisation) -> None:
    """INCONSISTENT: the first equation, and the least squares optimum of the second, rows as they are given."""
    H, G, c, gamma = system(5, 7, 3)
    T = np.vstack([np.eye(3), [20.0, 0.0, 0.0]])
    asked = np.append(gamma, 20.0 * gamma[0] + 1.0)
    found = SOLVERS[solver](H, T @ G, c, asked, by)
    assert found.status is DynamicsStatus.INCONSISTENT
    best = T @ np.linalg.lstsq(T, asked, rcond=None)[0]  # G has full rank: the range of T G is that of T
    assert np.abs(T @ G @ found.acceleration - best).max() < 1e-9 * np.abs(best).max()
    assert np.abs(H @ found.acceleration - c - (T @ G).T @ found.multipliers).max() < 1e-9 * np.abs(H).max()


@every_factorisation
@pytest.mark.parametrize("solver", ["direct", "null"])
def test_a_singular_mass_that_the_rows_hold(solver: str, by: Factorisation) -> None:
    """A singular H is no failure where it is positive definite on the null space of G."""
    H, G, c, gamma = system(6, 6, 2)
    values, vectors = np.linalg.eigh(H)
    H = vectors[:, 1:] * values[1:] @ vectors[:, 1:].T
    G[0] += 3.0 * vectors[:, 0]
    a, lam = exact(H, G, c, gamma)
    found = SOLVERS[solver](H, G, c, gamma, by)
    assert found.status is DynamicsStatus.SOLVED
    assert np.abs(found.acceleration - a).max() < 1e-8 * np.abs(a).max()
    assert np.abs(found.multipliers - lam).max() < 1e-8 * np.abs(lam).max()


@every_solver
@every_factorisation
def test_motions_without_mass_that_nothing_holds(solver: str, by: Factorisation) -> None:
    """SINGULAR_SYSTEM with a basis of what is free; SINGULAR_MASS from the method that factorises H."""
    H = np.diag([1.0, 2.0, 0.0, 3.0, 0.0])
    G = np.array([[0.0, 1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]])
    found = SOLVERS[solver](H, G, np.ones(5), np.ones(2), by)
    assert not found.acceleration.any()
    if solver == "range":
        assert found.status is DynamicsStatus.SINGULAR_MASS
        return
    assert found.status is DynamicsStatus.SINGULAR_SYSTEM
    assert found.free.shape == (5, 1)
    assert np.abs(np.abs(found.free[:, 0]) - np.eye(5)[2]).max() < 1e-9


@every_factorisation
def test_what_is_light_all_over_is_not_taken_for_heavy(by: Factorisation) -> None:
    """Found at random trees: what the rows leave had 1e-32 of the mass, and the null space method divided by it."""
    H = np.diag([1.0, 2.0, 1e-32, 2e-32])
    for solver in ("direct", "null"):
        found = SOLVERS[solver](H, np.eye(4)[:2], np.ones(4), np.ones(2), by)
        assert found.status is DynamicsStatus.SINGULAR_SYSTEM
        assert found.free.shape == (4, 2)


@every_solver
def test_no_rows_and_no_motion(solver: str) -> None:
    """Systems of no rows, and of no degrees of freedom."""
    H, G, c, _ = system(7, 4, 0)
    found = SOLVERS[solver](H, G, c, np.zeros(0))
    assert found.status is DynamicsStatus.SOLVED
    assert np.abs(H @ found.acceleration - c).max() < 1e-12
    found = SOLVERS[solver](np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0), np.zeros(0))
    assert found.status is DynamicsStatus.SOLVED
    assert found.acceleration.shape == found.multipliers.shape == (0,)
    found = SOLVERS[solver](H, np.zeros((2, 4)), c, np.zeros(2))  # rows that are off
    assert found.status is DynamicsStatus.SOLVED
    assert found.row_space.rank == 0


@every_solver
@pytest.mark.parametrize("where", range(4))
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_said(solver: str, where: int, number: float) -> None:
    """NOT_FINITE for NaN and infinities in H, G, c or gamma; no number of the answer is one."""
    arguments = [array.copy() for array in system(8, 5, 2)]
    arguments[where].flat[1] = number
    if where == 0:
        arguments[0][1, 0] = number
    found = SOLVERS[solver](*arguments)
    assert found.status is DynamicsStatus.NOT_FINITE
    assert not found.acceleration.any()
    assert not found.multipliers.any()


@every_solver
def test_numbers_that_overflow_are_said(solver: str) -> None:
    """NOT_FINITE, or an answer; never an infinity."""
    H, G, c, gamma = system(9, 5, 2)
    for factor in (1e150, 1e200, 1e300):
        found = SOLVERS[solver](H, G, factor * c, gamma)
        assert np.isfinite(found.acceleration).all()
        assert np.isfinite(found.multipliers).all()
        assert bool(found.acceleration.any()) is (found.status is DynamicsStatus.SOLVED)


BAD = {
    "H": (lambda s: (s[0][:4], *s[1:]), "H"),
    "H of lists": (lambda s: ("nonsense", *s[1:]), "H"),
    "G": (lambda s: (s[0], s[1][:, :4], *s[2:]), "G"),
    "flat G": (lambda s: (s[0], s[1][0], *s[2:]), "G"),
    "c": (lambda s: (*s[:2], s[2][:4], s[3]), "c"),
    "gamma": (lambda s: (*s[:3], s[3][:1]), "gamma"),
    "text": (lambda s: (*s[:3], "x"), "gamma"),
}


@every_solver
@pytest.mark.parametrize("wrong", BAD)
def test_matrices_that_do_not_fit_are_named(solver: str, wrong: str) -> None:
    """RBDL 20: sizes and types of one's own matrices end in errors that name them."""
    change, culprit = BAD[wrong]
    with pytest.raises(ConstraintError, match=rf"\b{culprit}\b"):
        SOLVERS[solver](*change(system(1, 5, 2)))


@every_solver
def test_lists_are_taken_for_arrays(solver: str) -> None:
    """What numpy can read is read."""
    H, G, c, gamma = system(2, 4, 2)
    found = SOLVERS[solver](H.tolist(), G.tolist(), c.tolist(), gamma.tolist())
    assert np.abs(found.acceleration - SOLVERS[solver](H, G, c, gamma).acceleration).max() == 0.0


# Bases of one's own.


@every_factorisation
def test_bases_of_ones_own(by: Factorisation) -> None:
    """Any Y and Z, not orthonormal: the multipliers are right, which those of RBDL's null space are not."""
    H, G, c, gamma = system(10, 7, 3)
    rng = np.random.default_rng(0)
    Y, Z = bases_of(G)
    Y = Y @ rng.standard_normal((3, 3)) + Z @ rng.standard_normal((4, 3))
    Z = Z @ rng.standard_normal((4, 4))
    a, lam = exact(H, G, c, gamma)
    found = solve_null_space(H, G, c, gamma, by, bases=(Y, Z))
    assert np.abs(found.acceleration - a).max() < 1e-9 * np.abs(a).max()
    assert np.abs(found.multipliers - lam).max() < 1e-9 * np.abs(lam).max()


def test_bases_that_do_not_fit_are_named() -> None:
    """RBDL 20: bases of other sizes, and for rows that are redundant."""
    H, G, c, gamma = system(10, 7, 3)
    Y, Z = bases_of(G)
    with pytest.raises(ConstraintError, match=r"\bY\b"):
        solve_null_space(H, G, c, gamma, bases=(Y[:, :2], Z))
    with pytest.raises(ConstraintError, match=r"\bZ\b"):
        solve_null_space(H, G, c, gamma, bases=(Y, Z[:, :2]))
    with pytest.raises(ConstraintError, match="bases"):
        solve_null_space(H, np.vstack([G, G[0]]), c, np.append(gamma, gamma[0]), bases=bases_of(np.vstack([G, H[0]])))


# TreeSparsity.


def tree(seed: int, n: int) -> tuple[TreeSparsity, Any]:
    """A random tree, and a positive definite matrix that is zero outside them."""
    rng = np.random.default_rng(seed)
    parents = np.array([int(rng.integers(-1, i)) for i in range(n)])
    sparsity = TreeSparsity(parents)
    L = np.zeros((n, n))
    for i, chain in enumerate(sparsity.ancestors):
        L[i, chain], L[i, i] = rng.standard_normal(len(chain)), rng.uniform(0.5, 2.0)
    return sparsity, L.T @ L


@pytest.mark.parametrize("seed", range(5))
def test_factors_stay_in_the_pattern(seed: int) -> None:
    """Zeros outside the pattern are asserted, of H and of its factor; L^T L = H; solutions along the tree."""
    sparsity, H = tree(seed, 12)
    assert sparsity.is_zero_outside(H)
    L = sparsity.factor(H)
    assert L is not None
    assert sparsity.is_zero_outside(L)
    assert not np.triu(L, 1).any()
    assert np.abs(L.T @ L - H).max() < 1e-13 * np.abs(H).max()
    b = np.random.default_rng(seed).standard_normal((12, 3))
    assert np.abs(L.T @ sparsity.solve_transposed(L, b) - b).max() < 1e-10
    assert np.abs(L @ sparsity.solve(L, b) - b).max() < 1e-10
    full = H.copy()
    free = np.argwhere(H == 0.0)
    if len(free):
        full[tuple(free[0])] = 1.0
        assert not sparsity.is_zero_outside(full)


@pytest.mark.parametrize("seed", range(5))
def test_operations_are_counted_along_the_tree(seed: int) -> None:
    """Multiplications, divisions and roots of Featherstone's loops, counted one by one, on H that is zero outside."""
    sparsity, H = tree(seed, 12)
    parents = [int(chain[-1]) if len(chain) else -1 for chain in sparsity.ancestors]
    A, count = H.copy(), 0
    for k in range(11, -1, -1):
        A[k, k] = np.sqrt(A[k, k])
        count += 1
        i = parents[k]
        while i >= 0:
            A[k, i] /= A[k, k]
            count += 1
            i = parents[i]
        i = parents[k]
        while i >= 0:
            j = i
            while j >= 0:
                A[i, j] -= A[k, i] * A[k, j]
                count += 1
                j = parents[j]
            i = parents[i]
    L = sparsity.factor(H)
    assert L is not None
    assert np.abs(np.tril(A) - L).max() < 1e-12
    assert count == sparsity.operations
    assert sparsity.operations <= no_sparsity(12).operations


def test_range_space_works_along_the_tree() -> None:
    """Zeros outside the pattern are asserted, and cost nothing: a star of 12 against a chain of 12."""
    star = TreeSparsity(np.array([-1] + [0] * 11))
    assert star.operations == 1 + 11 * 3
    assert no_sparsity(12).operations == sum(d * (d + 3) // 2 + 1 for d in range(12))
    sparsity, H = tree(3, 12)
    _, G, c, gamma = system(3, 12, 4)
    found = solve_range_space(H, G, c, gamma, sparsity=sparsity)
    spoiled = np.where(H == 0.0, 7.0, H)
    with pytest.raises(ConstraintError, match="zeros outside the given pattern"):
        solve_range_space(spoiled, G, c, gamma, sparsity=sparsity)
    a, _ = exact(H, G, c, gamma)
    assert np.abs(found.acceleration - a).max() < 1e-9 * np.abs(a).max()


@pytest.mark.parametrize("parents", [[0], [-1, 1], [-1, 5], [-1, -2]])
def test_patterns_that_are_none_are_named(parents: list[int]) -> None:
    """RBDL 20: a parent that is not before its child."""
    with pytest.raises(ConstraintError, match="parent of degree of freedom"):
        TreeSparsity(np.array(parents))


def test_patterns_of_another_size_are_named() -> None:
    """RBDL 20: the pattern of another tree."""
    H, G, c, gamma = system(3, 5, 2)
    with pytest.raises(ConstraintError, match="sparsity"):
        solve_range_space(H, G, c, gamma, sparsity=no_sparsity(4))

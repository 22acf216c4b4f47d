"""What `derivative_soundness.py` knows without the library's derivatives: dense solutions, and differences of them.

Accelerations and multipliers of least norm come from numpy's decompositions of pinocchio's inertia and of the rows;
derivatives from extrapolated differences of two orders, which tell how good they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import scipy.linalg
from dynamics_blocks import State, plain_inertia
from numpy.typing import NDArray

from constraints.loops import ConstraintSet

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

RANK = 1e-7
"""Singular values of unit rows below this part of the largest are none."""

JUMP = 0.1
"""Part of the largest entry of the rows that none changes by within 1e-3, but for rows that are others there."""

STEPS, ENOUGH = (2e-2, 5e-3, 1e-3, 1e-4, 1e-5), 2e-9
"""Largest steps of the differences that are tried, and how near two orders are for no other step to be tried."""

OTHER = 0.7
"""Steps of a second opinion, by those of the first."""

NOTHING = 1e-3
"""A part whose derivatives are below this part of the largest of all is judged by that."""


@dataclass(frozen=True, eq=False)
class Oracle:
    """Dense solutions of one question at states nearby.

    Args:
        constraint_set: whose rows.
        state: the question.
    """

    constraint_set: ConstraintSet
    state: State

    @cached_property
    def _data(self) -> Any:
        return self.constraint_set.robot.model.createData()

    @cached_property
    def _in_order(self) -> bool:
        """Whether pinocchio's inertia is right: it is not where branches are mixed up."""
        model: Any = self.constraint_set.robot.model
        own, plain = (f(self.state.q) for f in (partial(pin.crba, model, self._data), partial(plain_inertia, model)))
        return bool(np.allclose(own, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max(initial=0.0)))

    def solution(self, q: Vector, v: Vector) -> Vector:
        """Acceleration, then multipliers of least norm."""
        return dense(*self.equations(q, v))

    def damped(self, q: Vector, v: Vector, tau: Vector, damping: float, armature: Vector) -> Vector:
        """The same with joint forces of its own, with damping of the rows, and more armature."""
        H, f, G, gamma = self.equations(q, v)
        return dense(H + np.diag(armature), f - self.state.tau + tau, G, gamma, damping)

    def impact(self, q: Vector, v: Vector, restitution: Vector, damping: float) -> Vector:
        """Velocity after an impact, then impulses: of the same rows, with a restitution each."""
        motion = self.constraint_set.robot.at(q, v)
        rows = self.constraint_set.rows_at(motion)
        gamma = np.where(self.constraint_set.counts_in(rows), -(1.0 + restitution) * (rows.jacobian @ v), 0.0)
        x = dense(self.inertia(q), np.zeros(v.size), rows.jacobian, gamma, damping)
        x[: v.size] += v
        return x

    def free(self) -> tuple[float, float]:
        """Largest acceleration of the state without rows, and largest of its forces: what either is measured by."""
        H, f, _, _ = self.equations(self.state.q, self.state.v)
        return float(np.abs(np.linalg.lstsq(H, f)[0]).max(initial=0.0)), float(np.abs(f).max(initial=0.0))

    def inertia(self, q: Vector) -> Matrix:
        """Joint-space inertia (nv, nv)."""
        model: Any = self.constraint_set.robot.model
        return np.array(pin.crba(model, self._data, q)) if self._in_order else plain_inertia(model, q)

    def equations(self, q: Vector, v: Vector) -> tuple[Matrix, Vector, Matrix, Vector]:
        """Inertia, joint forces less bias, rows, and what they are asked for."""
        robot, given, some = self.constraint_set.robot, self.state, self.constraint_set
        model: Any = robot.model
        motion = robot.at(q, v)
        rows = some.rows_at(motion)
        gamma = -rows.drift
        if some.gains is not None:
            gamma = gamma - some.gains[0] * rows.position - some.gains[1] * rows.velocity
        if given.acceleration is not None:
            gamma = gamma + np.where(some.counts_in(rows), given.acceleration, 0.0)
        f = given.tau - pin.rnea(model, self._data, q, v, np.zeros(model.nv))
        for force in given.external:
            f = f + force.generalised(motion)
        return self.inertia(q), f, np.array(rows.jacobian), gamma

    def ranks_nearby(self, rng: np.random.Generator) -> set[int]:
        """Ranks of the rows at some states beside this one, on the same side of the edge of a polygon."""
        robot, found, here = self.constraint_set.robot, set[int](), self.constraint_set.jacobian(self.state.q)
        for _ in range(6):
            q = pin.integrate(robot.model, self.state.q, 1e-3 * rng.standard_normal(robot.nv))
            there = self.constraint_set.jacobian(q)
            if np.abs(there - here).max(initial=0.0) <= JUMP * np.abs(here).max(initial=0.0):
                found.add(rank_of(there))
        return found


def rank_of(G: Matrix) -> int:
    """Of unit rows."""
    lengths = np.sqrt((G * G).sum(axis=1))
    on = lengths > 1e-8 * lengths.max(initial=0.0)
    if not on.any():
        return 0
    sizes = np.linalg.svd(G[on] / lengths[on, None], compute_uv=False)
    return int((sizes > RANK * sizes[0]).sum())


def dense(H: Matrix, f: Vector, G: Matrix, gamma: Vector, damping: float = 0.0) -> Vector:
    """H a = f + G^T lambda, G a + damping lambda = gamma (least squares), lambda of least norm."""
    n = len(H)
    if damping:
        return scaled_solution(H, G, damping, np.concatenate([f, gamma]))
    rank = rank_of(G)
    if rank == len(G):
        return scaled_solution(H, G, 0.0, np.concatenate([f, gamma]))
    U, sizes, Vt = np.linalg.svd(G)
    x = scaled_solution(H, Vt[:rank], 0.0, np.concatenate([f, (U[:, :rank].T @ gamma) / sizes[:rank]]))
    return np.concatenate([x[:n], U[:, :rank] @ (x[n:] / sizes[:rank])])


def scaled_solution(H: Matrix, B: Matrix, damping: float, right: Vector) -> Vector:
    """Of the saddle point, with a diagonal and rows near 1, and corrected by what it misses in longer numbers."""
    k = len(B)
    K = np.block([[H, -B.T], [B, damping * np.eye(k)]])
    root = 1.0 / np.sqrt(np.maximum(np.diagonal(H), 1e-12))
    lengths = np.sqrt(((B * root) ** 2).sum(axis=1) + damping)
    scale = np.concatenate([root, 1.0 / np.where(lengths > 0.0, lengths, 1.0)])
    lu = scipy.linalg.lu_factor(K * scale * scale[:, None])
    longer, x = K.astype(np.longdouble), np.zeros(len(K), dtype=np.longdouble)
    for _ in range(3):
        missed = (right - longer @ x).astype(np.float64)
        x = x + scale * scipy.linalg.lu_solve(lu, scale * missed)
    return x.astype(np.float64)


class Slope(NamedTuple):
    """A derivative by differences.

    Attributes:
        matrix: (rows, n).
        apart: of each part of the rows, how far it is from a derivative of lower order, by its own largest entry, or
            by a part of that of all where it is next to nothing.
        again: the same with other steps. Two orders share the rounding of f, of which their difference shows one part
            in 4^(levels - 1) only; other steps show all of it.
    """

    matrix: Matrix
    apart: list[float]
    again: Callable[[], Slope]


def slope(
    f: Callable[[Vector], Vector], n: int, parts: Sequence[slice], levels: int = 4, largest: float = STEPS[0]
) -> Slope:
    """Derivative of f at 0 by n numbers.

    Central differences, each of half the step of the one before, extrapolated to a step of zero (Richardson); of the
    first steps in STEPS that at which two orders agree best, for each part. Of order eight, steps may be so large that
    rounding of f counts for little.

    Args:
        f: the function, of n numbers.
        n: how many.
        parts: of its values, judged each by its own size.
        levels: how many steps: the order is twice that. Two are exact for polynomials of degree two.
        largest: the first step; the others follow as in STEPS.
    """
    best, apart = np.zeros((0, n)), [np.inf for _ in parts]
    for step in (each * largest / STEPS[0] for each in STEPS):
        fine, rough = extrapolated(f, n, step, levels)
        best = fine.copy() if not len(best) else best
        least = NOTHING * max(float(np.abs(fine).max(initial=0.0)), 1e-12)
        for i, rows in enumerate(parts):
            size = max(float(np.abs(fine[rows]).max(initial=0.0)), least)
            own = float(np.abs(fine[rows] - rough[rows]).max(initial=0.0)) / size
            if own < apart[i]:
                best[rows], apart[i] = fine[rows], own
        if max(apart) < ENOUGH:
            break
    return Slope(best, apart, lambda: slope(f, n, parts, levels, OTHER * largest))


def extrapolated(f: Callable[[Vector], Vector], n: int, h: float, levels: int) -> tuple[Matrix, Matrix]:
    """Differences of f at 0 of order 2 levels, and of order 2 levels - 2 by the smaller steps; h is the first step."""
    rows = [
        np.array([(f(step * e) - f(-step * e)) / (2.0 * step) for e in np.eye(n)]).T
        for step in (h * 0.5**i for i in range(levels))
    ]
    factor, before = 1.0, rows
    while len(rows) > 1:
        factor *= 4.0
        before = rows
        rows = [narrow + (narrow - wide) / (factor - 1.0) for wide, narrow in pairwise(rows)]
    return rows[0], before[-1]

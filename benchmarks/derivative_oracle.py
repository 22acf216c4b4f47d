"""What `derivative_soundness.py` knows without the library's derivatives: dense solutions, and differences of them.

Accelerations and multipliers of least norm come from numpy's decompositions of pinocchio's inertia and of the rows;
derivatives from five-point differences of two steps, which tell how good they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pinocchio as pin
from dynamics_blocks import State, plain_inertia
from numpy.typing import NDArray

from constraints.loops import ConstraintSet

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

RANK = 1e-7
"""Singular values of unit rows below this part of the largest are none."""

STEPS = (2e-3, 5e-4, 1.25e-4)
"""Largest steps of the differences; each is compared with half of it."""


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
        robot, given, some = self.constraint_set.robot, self.state, self.constraint_set
        model: Any = robot.model
        motion = robot.at(q, v)
        rows = some.rows_at(motion)
        gamma = -rows.drift
        if some.gains is not None:
            gamma = gamma - some.gains[0] * rows.position - some.gains[1] * rows.velocity
        if given.acceleration is not None:
            gamma = gamma + np.where(some.counts_in(rows), given.acceleration, 0.0)
        data = self._data
        H = pin.crba(model, data, q) if self._in_order else plain_inertia(model, q)
        f = given.tau - pin.rnea(model, data, q, v, np.zeros(model.nv))
        for force in given.external:
            f = f + force.generalised(motion)
        return dense(H, f, rows.jacobian, gamma)

    def ranks_nearby(self, rng: np.random.Generator) -> set[int]:
        """Ranks of the rows at some states beside this one."""
        robot, found = self.constraint_set.robot, set[int]()
        for _ in range(6):
            q = pin.integrate(robot.model, self.state.q, 1e-3 * rng.standard_normal(robot.nv))
            found.add(rank_of(self.constraint_set.jacobian(q)))
        return found


def rank_of(G: Matrix) -> int:
    """Of unit rows."""
    lengths = np.sqrt((G * G).sum(axis=1))
    on = lengths > 1e-8 * lengths.max(initial=0.0)
    if not on.any():
        return 0
    sizes = np.linalg.svd(G[on] / lengths[on, None], compute_uv=False)
    return int((sizes > RANK * sizes[0]).sum())


def dense(H: Matrix, f: Vector, G: Matrix, gamma: Vector) -> Vector:
    """H a = f + G^T lambda, G a = gamma (least squares), lambda of least norm."""
    n, rank = len(H), rank_of(G)
    U, sizes, Vt = np.linalg.svd(G)
    B, wanted = Vt[:rank], (U[:, :rank].T @ gamma) / sizes[:rank]
    K = np.block([[H, -B.T], [B, np.zeros((rank, rank))]])
    scale = 1.0 / np.sqrt(np.concatenate([np.maximum(np.diagonal(H), 1e-12), np.ones(rank)]))
    x = scale * np.linalg.solve(K * scale * scale[:, None], scale * np.concatenate([f, wanted]))
    return np.concatenate([x[:n], U[:, :rank] @ (x[n:] / sizes[:rank])])


def slope(f: Callable[[Vector], Vector], n: int) -> tuple[Matrix, float]:
    """Derivative of f at 0 by n numbers, and how far two steps are apart, as a part of the largest entry."""
    best, apart = np.zeros((0, n)), np.inf
    for step in STEPS:
        wide, narrow = five_points(f, n, step)
        size = max(float(np.abs(narrow).max(initial=0.0)), 1e-12)
        own = float(np.abs(wide - narrow).max(initial=0.0)) / size
        if own < apart:
            best, apart = narrow, own
        if apart < 1e-9:
            break
    return best, apart


def five_points(f: Callable[[Vector], Vector], n: int, h: float) -> tuple[Matrix, Matrix]:
    """Five-point differences of f at 0, of step h and of half of it, which share two points."""
    wide, narrow = list[Vector](), list[Vector]()
    for e in np.eye(n):
        half, one, two = (f(x * h * e) - f(-x * h * e) for x in (0.5, 1.0, 2.0))
        wide.append((8.0 * one - two) / (12.0 * h))
        narrow.append((8.0 * half - one) / (6.0 * h))
    return np.array(wide).T, np.array(narrow).T

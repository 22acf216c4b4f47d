"""The linear step of a level: what a step rule has to give, and damped least squares by Cholesky."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import wraps
from math import inf
from typing import Any, ClassVar, final

import numpy as np
from scipy.linalg import blas, lapack

from liegroups import Space
from liegroups.arrays import BoolVector, Matrix, Vector

from ...errors import StepError
from ...linear_algebra import dot
from ...rows.stack import Stack
from ...rows.stacking import StackedRows
from .rules import part_within

_dposv: Any = lapack.dposv
_dgemm: Any = blas.dgemm
_dgemv: Any = blas.dgemv
_idamax: Any = blas.idamax  # index of the largest entry in size


class LinearStep(ABC):
    r"""Solves a level to first order: a motion dq with :math:`e + J\,dq` small. It has no memory.

    Subclass it for another direction of descent, and give the class to the engine: `NewtonEngine(MyStep)`. Bounds,
    caps, lower levels, restarts and stopping are the same for all subclasses.

    Args:
        rows: number of rows of the level.
        weights: costs of motion (nv,), 0 or more; None means ones.

    Attributes:
        resolves: whether explicit constraints are substituted and J is the reduced Jacobian; else they are rows of J
            like all others.
        is_sparse: whether J is a sparse matrix of scipy: only for one level, without bounds, and without substitution
            of explicit constraints.
    """

    resolves: ClassVar[bool] = True
    is_sparse: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Watch classes that are not of this library: what they forget to return is an error, no motion."""
        super().__init_subclass__(**options)
        if "solve" in vars(cls) and cls.__module__.partition(".")[0] != "constraints":
            cls.solve = _watched(vars(cls)["solve"])

    @abstractmethod
    def __init__(self, rows: int, weights: Vector | None = None) -> None: ...

    @classmethod
    def stacked_rows(cls, level: Stack, space: Space, moving: BoolVector) -> Any:
        """Memory for the rows of a level in the form that `solve` takes: `StackedRows`.

        Args:
            level: the constraints.
            space: space of the configurations.
            moving: (nv,) true for the columns that move.
        """
        del moving  # the columns of the others are set to zero once rows are stacked
        return StackedRows(level, space)

    @abstractmethod
    def solve(self, e: Vector, J: Matrix, mu: float, root: Matrix | None = None) -> Vector:
        """The step (nv,); a new array.

        Args:
            e: errors (rows,).
            J: their Jacobian (rows, nv), contiguous by rows; columns of dofs that do not move are zero.
            mu: damping, positive: small if the error is small.
            root: S (nv, nv) with S S^T in place of W^-1, if costs are not by column: for free bodies with bounds on
                their translation and different costs of the axes.

        Raises:
            StepError: a user-defined class returned something else, or could not solve.
        """


def _watched(solve: Any) -> Any:
    """A `solve` whose result is looked at."""

    @wraps(solve)
    def checked(self: LinearStep, e: Vector, J: Any, mu: float, root: Matrix | None = None) -> Vector:
        who = type(self).__name__
        try:
            step: Any = solve(self, e, J, mu, root)
        except np.linalg.LinAlgError as error:
            raise StepError(who, f"could not solve ({error})") from error
        if getattr(step, "dtype", None) != np.float64:
            raise StepError(who, f"returned {step!r:.60}")
        if step.shape != J.shape[1:]:
            raise StepError(who, f"returned an array of shape {step.shape}, but nv is {J.shape[1]}")
        if not np.isfinite(step).all() and np.isfinite(e).all():
            raise StepError(who, "returned numbers that are not finite although the errors are finite")
        return step

    return checked


@final
class DampedCholesky(LinearStep):
    r"""Damped step of one level, the smallest in the costs of motion.

    .. math:: dq = -W^{-1} J^T y, \qquad (J W^{-1} J^T + \mu I)\, y = e

    It minimises :math:`|J\,dq + e|^2 + \mu\, dq^T W dq`. A cost of zero counts as 1e-6 of the smallest positive one.

    Args:
        rows, weights: as those of `LinearStep`.
    """

    __slots__ = ("_identity", "_scale")

    def __init__(self, rows: int, weights: Vector | None = None) -> None:
        self._identity = np.eye(rows, order="F")
        self._scale = None if weights is None else dof_scale(weights)

    def solve(self, e: Vector, J: Matrix, mu: float, root: Matrix | None = None) -> Vector:
        """As `LinearStep.solve`."""
        if root is not None:
            columns = J.dot(root).T
        else:
            columns = J.T if self._scale is None else (J * self._scale).T
        _, y, info = _dposv(_dgemm(1.0, columns, columns, mu, self._identity, 1), e, 0, 1)  # J J^T + mu I
        while info != 0:  # R12: rounding took definiteness: rows of very different size
            mu = 10.0 * mu + 1e-12 * float(np.abs(columns).max()) ** 2
            if not mu < inf:
                return np.full(len(columns), np.nan)
            _, y, info = _dposv(_dgemm(1.0, columns, columns, mu, self._identity, 1), e, 0, 1)
        step: Vector = _dgemv(-1.0, columns, y)
        if root is not None:
            return root.dot(step)
        if self._scale is not None:
            step *= self._scale
        return step


def capped(step: Vector, cap: float) -> Vector:
    """The step, scaled down so that no coordinate moves more than the cap; itself where none does."""
    part = length_within(step, cap)
    return step if part == 1.0 else step * part


def length_within(step: Vector, cap: float) -> float:
    """How much of a step can be taken so that no coordinate moves more than the cap; at most 1."""
    if dot(step, step) <= cap * cap:
        return 1.0
    return part_within(abs(step.item(_idamax(step))), cap)


def dof_scale(weights: Vector) -> Vector | None:
    """Root of each dof's inverse cost; None for equal costs. No cost counts as 1e-6 of the least one."""
    positive = weights[weights > 0.0]
    if positive.size == weights.size and (weights == weights[0]).all():
        return None
    return np.sqrt(positive.mean() / np.maximum(weights, 1e-6 * positive.min()))  # R11


def without(root: Matrix, held: BoolVector) -> tuple[Matrix, Matrix]:
    r"""Motions without held dofs, where costs are not by column.

    Args:
        root: S (nv, nv), the motions S u of coordinates u that cost alike.
        held: (nv,) true for dofs that are given.

    Returns:
        S P, with P the projector onto :math:`S_{held}\, u = 0`; and :math:`S\, S_{held}^+`, the cheapest motion of each
        held dof.
    """
    rows = root[held]
    inverse = np.asarray(np.linalg.pinv(rows), dtype=np.float64)
    free = root - root.dot(inverse).dot(rows)
    free[held] = 0.0  # roundings
    return free, root.dot(inverse)

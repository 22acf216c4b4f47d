"""The batch gear: what a space does to vectors stacked along leading axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Matrix, Vector

if TYPE_CHECKING:
    from .space import Space

__all__ = ["RowByRow", "Rows", "repeated"]


class Rows(ABC):
    """The seven maps of a group on vectors stacked along leading axes, which broadcast.

    They are the twins of the one-vector maps of `Space` that bear the same names, with the same formulas. `Space` calls
    them with float64 arrays whose last axis has the right size.
    """

    @abstractmethod
    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v): (..., nq), (..., nv) -> (..., nq)."""

    @abstractmethod
    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1): (..., nq), (..., nq) -> (..., nv)."""

    @abstractmethod
    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1: (..., nq), (..., nq) -> (..., nq)."""

    @abstractmethod
    def inverse(self, q: Vector) -> Vector:
        """Return q^-1: (..., nq) -> (..., nq)."""

    @abstractmethod
    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q: (..., nq) -> (..., nv, nv)."""

    @abstractmethod
    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp at v: (..., nv) -> (..., nv, nv)."""

    @abstractmethod
    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp at v: (..., nv) -> (..., nv, nv)."""


class RowByRow(Rows):
    """A batch gear that calls the one-vector gear on each row: enough for a new group, until speed matters."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v), row by row."""
        return _each(self._space.integrate, (self._space.nq,), q, v)

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), row by row."""
        return _each(self._space.difference, (self._space.nv,), q0, q1)

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1, row by row."""
        return _each(self._space.compose, (self._space.nq,), q0, q1)

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1, row by row."""
        return _each(self._space.inverse, (self._space.nq,), q)

    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q, row by row."""
        return _each(self._space.adjoint, (self._space.nv, self._space.nv), q)

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp, row by row."""
        return _each(self._space.exp_jacobian, (self._space.nv, self._space.nv), v)

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp, row by row."""
        return _each(self._space.log_jacobian, (self._space.nv, self._space.nv), v)


def _each(call: Callable[..., Vector], shape: tuple[int, ...], *arrays: Vector) -> Vector:
    """Apply a one-vector map to each row of arrays whose leading axes broadcast."""
    axes = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    rows = [np.broadcast_to(array, axes + array.shape[-1:]).reshape(-1, array.shape[-1]) for array in arrays]
    out = np.empty((int(np.prod(axes)), *shape))
    for i, row in enumerate(zip(*rows, strict=True)):
        out[i] = call(*row)
    return out.reshape(axes + shape)


def repeated(matrices: Matrix, axes: tuple[int, ...]) -> Matrix:
    """Repeat matrices along leading axes."""
    return np.array(np.broadcast_to(matrices, axes + matrices.shape[-2:]))

"""What a group implements: its maps for one vector, and the `BatchMaps` that do the same over leading axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from .arrays import Matrix, Vector
from .batch_maps import BatchMaps
from .second_order import log_second_by_differences, structure_constants
from .structure import Structure

__all__ = ["OneVectorMaps"]


class OneVectorMaps(Structure, ABC):
    """The maps of a group for one vector, from which `Space` derives all others.

    They receive float64 arrays (nq,) and (nv,), whose sizes have been checked, and return new ones.
    """

    @property
    @abstractmethod
    def batch_maps(self) -> BatchMaps:
        """The same maps over leading axes."""

    @abstractmethod
    def _integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v) (nq,), unit blocks normalised."""

    @abstractmethod
    def _difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1) (nv,), the shortest."""

    @abstractmethod
    def _compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1 (nq,), unit blocks normalised."""

    @abstractmethod
    def _inverse(self, q: Vector) -> Vector:
        """Return q^-1 (nq,)."""

    @abstractmethod
    def _adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q (nv, nv), with q exp(v) = exp(Ad_q v) q."""

    @abstractmethod
    def _exp_jacobian(self, v: Vector) -> Matrix:
        """Return J (nv, nv), with exp(v + dv) = exp(v) exp(J dv) to first order."""

    @abstractmethod
    def _log_jacobian(self, v: Vector) -> Matrix:
        """Return J (nv, nv), with log(exp(v) exp(d)) = v + J d to first order."""

    # --- what a group may implement: second order, by differences otherwise -------------------------------------------

    def _bracket(self, x: Vector, y: Vector) -> Vector:
        """Return [x, y] (nv,); by default from differences of the adjoint, to 1e-12."""
        return x.dot(self._constants).dot(y)

    def _log_second(self, r: Vector, velocity: Vector, acceleration: Vector) -> Vector:
        """Return the second time derivative of r = log g (nv,); by default from differences of `_log_jacobian`."""
        return log_second_by_differences(self._log_jacobian, r, velocity, acceleration)

    @cached_property
    def _constants(self) -> Matrix:
        """Structure constants (nv, nv, nv), once for a space."""
        constants = structure_constants(self._adjoint, lambda v: self._integrate(self.neutral, v), self.nv)
        return np.moveaxis(constants, 0, 1)

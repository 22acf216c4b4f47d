"""What a group implements: its maps for one vector, sizes already checked. `rows.Rows` is the same for many."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .arrays import Matrix, Vector

__all__ = ["OneVectorMaps"]


class OneVectorMaps(ABC):
    """The maps of a group for one vector, from which `Space` derives all others.

    They receive float64 arrays (nq,) and (nv,) and return new ones.
    """

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

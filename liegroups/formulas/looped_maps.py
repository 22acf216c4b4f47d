"""`LoopedMaps`: a group over leading axes as a loop over its maps of one vector."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Matrix, Vector
from .batch_maps import BatchMaps
from .group_maps import GroupMaps


class LoopedMaps(BatchMaps):
    """Maps for leading axes that call the maps for one vector in a loop, for groups without batch maps.

    Args:
        maps: the maps of one vector.
        nq: size of a point.
        nv: size of a tangent vector.
    """

    def __init__(self, maps: GroupMaps, nq: int, nv: int) -> None:
        self._maps, self._nq, self._nv = maps, nq, nv

    def integrate(self, q: Vector, v: Vector) -> Vector:
        """Return q exp(v), one by one."""
        return _each(self._maps.integrate, (self._nq,), q, v)

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """Return log(q0^-1 q1), one by one."""
        return _each(self._maps.difference, (self._nv,), q0, q1)

    def compose(self, q0: Vector, q1: Vector) -> Vector:
        """Return q0 q1, one by one."""
        return _each(self._maps.compose, (self._nq,), q0, q1)

    def inverse(self, q: Vector) -> Vector:
        """Return q^-1, one by one."""
        return _each(self._maps.inverse, (self._nq,), q)

    def adjoint(self, q: Vector) -> Matrix:
        """Return Ad_q, one by one."""
        return _each(self._maps.adjoint, (self._nv, self._nv), q)

    def exp_jacobian(self, v: Vector) -> Matrix:
        """Return the right Jacobian of exp, one by one."""
        return _each(self._maps.exp_jacobian, (self._nv, self._nv), v)

    def log_jacobian(self, v: Vector) -> Matrix:
        """Return the inverse of the right Jacobian of exp, one by one."""
        return _each(self._maps.log_jacobian, (self._nv, self._nv), v)


def _each(call: Callable[..., Vector], shape: tuple[int, ...], *arrays: Vector) -> Vector:
    """Call a map of one vector for each of the vectors in arrays whose leading axes broadcast."""
    axes = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    rows = [np.broadcast_to(array, axes + array.shape[-1:]).reshape(-1, array.shape[-1]) for array in arrays]
    out = np.empty((int(np.prod(axes)), *shape))
    for i, row in enumerate(zip(*rows, strict=True)):
        out[i] = call(*row)
    return out.reshape(axes + shape)

"""From translation and rotation vector to a pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liegroups import SE3, SO3, Rn
from liegroups.arrays import Matrix, Vector

from ...point import Point
from ..function import Function


@dataclass(frozen=True, eq=False, repr=False)
class PoseFromRows(Function):
    r"""The pose with a given translation and rotation vector: the inverse of what `Transformation` takes apart.

    .. math:: f(t, w) = (t, \exp w) \in SE(3), \quad J = \mathrm{diag}(\exp(w)^T,\; J_r(w))

    with :math:`J_r` the right Jacobian of exp.

    Shapes:
        value (7,), jacobian (6, 6).
    """

    rotation_vector_blocks = (slice(3, 6),)

    def __post_init__(self) -> None:
        """Declare it."""
        self.declare(Rn(6), SE3)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        t, w = point.q[:3], point.q[3:]
        value[:3] = t
        value[3:] = SO3.exp(w)
        if jacobian is not None:
            jacobian[:] = 0.0
            jacobian[:3, :3] = np.asarray(SE3.adjoint(SE3.inverse(np.r_[np.zeros(3), value[3:]])))[:3, :3]
            jacobian[3:, 3:] = SO3.exp_jacobian(w)

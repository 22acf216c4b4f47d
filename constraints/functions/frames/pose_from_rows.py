"""From translation and rotation vector to a pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liegroups import SE3, SO3, Rn
from liegroups.arrays import Matrix, Vector

from ...point import Point
from ..enclosures.box import Enclosure, TangentBox
from ..enclosures.group_bounds import OF_MAPS, map_rounding
from ..enclosures.interval import Interval, rounded_up
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
        self.declare(Rn(6), SE3)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        t, w = point.q[:3], point.q[3:]
        value[:3] = t
        value[3:] = SO3.exp(w)
        if jacobian is not None:
            jacobian[:] = 0.0
            jacobian[:3, :3] = np.asarray(SE3.adjoint(SE3.inverse(np.r_[np.zeros(3), value[3:]])))[:3, :3]
            jacobian[3:, 3:] = SO3.exp_jacobian(w)

    def enclosure(self, box: TangentBox) -> Enclosure:
        r"""With R within the angle of w, and :math:`J_r(w)` as far from that at the centre as its series lets it."""
        q = box.on(self.inputs, self.name).q
        value, J = self.linearised_at(self._point(q))
        turn = float(rounded_up(np.linalg.norm(box.r[3:])))
        # The terms of the series of J_r in ad_w, of norm |w|, change by at most the sum of n |w|^(n-1) / (n+1)!, which
        # is less than e^|w| / 2.
        slope = 0.5 * np.exp(np.linalg.norm(q[3:]) + turn) * turn
        radius = np.zeros((6, 6))
        radius[:3, :3] = rounded_up(turn + OF_MAPS)
        radius[3:, 3:] = rounded_up(slope + OF_MAPS * 16.0)
        return Enclosure.centred(SE3, box, value, map_rounding(SE3, value), Interval.around(J, radius))

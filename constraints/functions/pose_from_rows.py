"""From translation and rotation vector to a pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liegroups import SE3, SO3, Rn
from liegroups.arrays import Matrix, Vector

from ..point import Point
from ..robot import pose_vector
from .function import Function
from .lifted import Lifted
from .pose import Pose
from .transformation import Transformation
from .translation import RightTranslation

__all__ = ["PoseFromRows", "is_seat"]


@dataclass(frozen=True, eq=False, repr=False)
class PoseFromRows(Function):
    r"""The pose with a given translation and rotation vector: the inverse of what `Transformation` takes apart.

    .. math:: f(t, w) = (t, \exp w) \in SE(3), \quad J = \mathrm{diag}(\exp(w)^T,\; J_r(w))

    with :math:`J_r` the right Jacobian of exp.

    Shapes:
        value (7,), jacobian (6, 6).
    """

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


def is_seat(rows: Function, f: Function, g: Function | None, output: int) -> bool:
    """Whether rows (t, w) are those of the pose that f and g compute: what `Explicit.relative_pose` makes.

    Args:
        rows: the twin's function, lifted or not.
        f, g: of the explicit constraint.
        output: the first tangent column that it computes.
    """
    start = rows.block.v[0] if isinstance(rows, Lifted) else 0
    h, f = (x.function if isinstance(x, Lifted) else x for x in (rows, f))
    if not (type(h) is Transformation and type(f) is Pose and type(g) is RightTranslation):
        return False
    body, base, model = h.frame_b, f.frame_a, h.robot.model
    return (
        h.frame_a == f.frame_b
        and (model.parents[body.joint], model.jointPlacements[body.joint]) == (base.joint, base.placement)
        and start + model.joints[body.joint].idx_v == output
        and bool((g.constant == pose_vector(body.placement)).all())
    )

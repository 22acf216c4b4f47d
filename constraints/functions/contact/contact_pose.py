"""From the coordinates of a contact to the pose of the object's surface."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, cos, hypot, sin

import numpy as np

from liegroups import SE3, SO2, SO3, Rn
from liegroups.arrays import Matrix, Vector

from ...errors import UndefinedError
from ...point import Point
from ..enclosures.box import Enclosure, TangentBox
from ..enclosures.group_bounds import OF_MAPS
from ..enclosures.interval import Interval, rounded_up
from ..function import Function
from .contact_bounds import NearestOnBox
from .contact_surface import Surface

ON_THE_FLOOR = 1e-9
"""How far outside its polygon [m] a point may be for rounding's sake."""


@dataclass(frozen=True, eq=False, repr=False)
class PoseOfContact(Function):
    r"""The pose of an object's surface seen from a floor's: the inverse of what `ConvexShapeContactHold` takes apart.

    .. math:: f(h) = \left((h_0 - m,\; h_1 + h_5,\; h_2 + h_6),\; \exp(0, h_3, h_4)\,\mathrm{rot}_x(\varphi)\right)

    Args:
        floor: the floor's surface.
        margin: m [m].
        name: name in messages.

    Shapes:
        value (7,), jacobian (6, 8).

    Raises:
        UndefinedError: when evaluated where (h_5, h_6) is not a point of the floor's polygon.
    """

    floor: Surface
    margin: float = 0.0
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        self.declare(Rn(7) * SO2, SE3, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        height, ahead, aside, tilt_y, tilt_z, y, z, c, s = point.q.tolist()
        near = self.floor.nearest(y, z)
        outside = hypot(y - near.y, z - near.z)
        if outside > ON_THE_FLOOR:
            raise UndefinedError(
                f"'{self.name}': the right-hand side puts the object {outside:.3g} m outside the surface "
                f"'{self.floor.name}', so there is no contact"
            )
        half = 0.5 * atan2(s, c)
        twist = (sin(half), 0.0, 0.0, cos(half))
        value[:3] = (height - self.margin, ahead + y, aside + z)
        value[3:] = twist
        swing = np.array([0.0, tilt_y, tilt_z])
        if tilt_y != 0.0 or tilt_z != 0.0:
            value[3:] = SO3.compose(SO3.exp(swing), value[3:])
        if jacobian is not None:
            to_body = SE3.adjoint(SE3.inverse(np.r_[np.zeros(3), value[3:]]))[:3, :3]
            jacobian[:] = 0.0
            jacobian[:3, :3] = to_body
            jacobian[:3, 5:7] = to_body[:, 1:]
            turned = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])  # rot_x(phi)^T
            jacobian[3:, 3:5] = (turned @ SO3.exp_jacobian(swing))[:, 1:]
            jacobian[3, 7] = 1.0

    def enclosure(self, box: TangentBox) -> Enclosure:
        """As `Function.enclosure`.

        Raises:
            UndefinedError: the point may be outside of the floor's polygon.
        """
        box.on(self.inputs, self.name)
        if not NearestOnBox.of(self.floor, box.q[5:7], 0.0, box.r[5:7]).is_inside:
            raise UndefinedError(f"'{self.name}': the object may be outside of the surface '{self.floor.name}'")
        value, J = self.linearise(box.q)
        swung = float(np.linalg.norm(box.q[3:5]))
        tilted = float(np.linalg.norm(box.r[3:5]))
        turned = rounded_up(tilted + box.r[7] + OF_MAPS)
        # by a tilt more, the right Jacobian of exp changes by at most the sum of n |s|^(n-1) / (n + 1)! times it
        bent = rounded_up(0.5 * np.exp(swung + tilted) * tilted + box.r[7] + OF_MAPS)
        radius = np.zeros((6, 8))
        radius[:3, :3] = radius[:3, 5:7] = turned
        radius[3:, 3:5] = bent
        lengths = 1.0 + abs(self.margin) + float(np.abs(box.q).max())
        return Enclosure.centred(self.outputs, box, value, np.full(6, OF_MAPS * lengths), Interval.around(J, radius))

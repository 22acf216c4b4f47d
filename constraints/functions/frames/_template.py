"""Distance of a frame from another one: the function to copy when you write your own.

1. Copy the file, rename the class, keep the shape: a frozen dataclass of data, `__post_init__` that says what it maps,
   `evaluate`. That is all a function needs; `drift` is an extra for dynamics.
2. Run `constraints.testing.check_function(YourFunction(...))`: it checks every law and says what to mend.
3. For a function of this library: `docs/howto/your_function.md`, its last section.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector

from ...errors import UndefinedError
from ...point import MovingPoint, Point
from ...robot import Frame, Robot
from ...robot.model.pinocchio import Placement
from .frame_function import FrameFunction, kinematics_at


# Functions are compared by identity (eq=False), and Function has a repr of its own (repr=False). A function that does
# not look at frames derives from `Function` itself; `affine.py` is such a one.
@dataclass(frozen=True, eq=False, repr=False)
class DistanceBetween(FrameFunction):
    r"""Distance of the origin of frame b from that of frame a: of the world, of a placement in it, or of a frame.

    .. math:: f(q) = \|{}^ap_b\| \in \mathbb{R}, \quad J = \frac{{}^ap_b^T}{f}\, {}^aR_b\, J_{lin}

    with :math:`{}^ap_b` the origin of b seen from a, and :math:`J_{lin}` the linear rows of the Jacobian of the body
    twist of b relative to a.

    Args:
        robot: robot that owns the frames.
        frame: frame b, a frame name or a Frame.
        reference: frame a, a frame name, a Frame, or a placement in the world (`pinocchio.SE3`, 4 x 4, seven numbers);
            the world by default.
        name: name in messages.

    Shapes:
        value (1,): [m].
        jacobian (1, nv): zero outside the joints on exactly one of the two chains.

    Raises:
        UnknownFrameError: lists the frames whose names come closest.
        UndefinedError: when evaluated where the origins coincide: a distance has no derivative there.
    """

    # The fields are what a user gives, and all there is: no state, no cache.
    robot: Robot
    frame: Frame | str
    reference: Frame | str | Placement | Vector | None = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Resolve names."""
        # Finds the frames (typed errors for unknown names), and declares the function: inputs is the space of the
        # robot, outputs is R^1, columns are those of the joints between the frames, periodic is true.
        # Functions whose outputs belong to the class have this from `FrameOfRobot`, as `Position`. Without frames:
        # self.declare(inputs, outputs, columns, periodic=..., name=...).
        self.resolve(self.robot, self.reference, self.frame, Rn(1), self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)  # once for all functions; no joint behind
        aMb = self.relative_placement(k)
        p = aMb.translation
        distance = self._distance(p)
        value[0] = distance  # write every entry of value, and every declared column of the Jacobian
        if jacobian is not None:
            # Rows times the body twist of b relative to a, linear then angular. Scratch memory is zero when it is new
            # and stays ours from call to call: the angular part is never written, so it stays zero.
            rows = point.scratch(self, "rows", (1, 6))
            rows[0, :3] = p @ aMb.rotation / distance
            self.write_jacobian(k, rows, jacobian)

    # Optional, for dynamics: without it, a central difference stands in, and `has_exact_drift` says so.
    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)  # of b seen from a, in the axes of b: linear, then angular
        p = aMb.translation
        distance = self._distance(p)
        velocity = aMb.rotation @ twist[:3]
        acceleration = aMb.rotation @ (gamma[:3] + np.cross(twist[3:], twist[:3]))
        rate = p @ velocity / distance
        out[0] = (velocity @ velocity + p @ acceleration - rate * rate) / distance

    def _distance(self, p: Vector) -> float:
        distance = sqrt(p @ p)
        if distance < 1e-9:  # metres: rounding is about 1e-16, so directions are good to 1e-7 above
            raise UndefinedError(f"{self.name}: the origins coincide, where a distance has no derivative")
        return distance

"""Height of a frame."""

from __future__ import annotations

from dataclasses import dataclass

from constraints.functions.frames.frame_function import FrameOfRobot, kinematics_at
from constraints.point import MovingPoint, Point
from liegroups import Rn
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross


@dataclass(frozen=True, eq=False, repr=False)
class Height(FrameOfRobot):
    r"""Height of the origin of frame b over frame a, :math:`({}^ap_b)_z` [m].

    Args:
        robot, frame, reference, name: as in `Position`.
    """

    group = Rn(1)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.last_joint)
        frames = self.relative_frames(k)
        value[0] = frames.translation[2]
        if jacobian is not None:
            rows = point.scratch(self, "rows", (1, 6))
            rows[0, :3] = frames.rotation[2]
            self.write_jacobian(k, rows, jacobian)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        aMb, twist, gamma = self.relative_motion(motion)
        out[0] = aMb.rotation[2] @ (gamma[:3] + cross(twist[3:], twist[:3]))

"""Centre of mass in the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from liegroups import Rn
from liegroups.arrays import Matrix, Vector

from ..point import MovingPoint, Point
from ..robot import Robot
from .frame_function import kinematics_at
from .mass import MassFunction

__all__ = ["CenterOfMass"]


@dataclass(frozen=True, eq=False, repr=False)
class CenterOfMass(MassFunction):
    r"""Centre of mass of a robot, of sub-trees, or of the bodies of any set of joints, in the world.

    .. math:: f(q) = \frac{\sum_i m_i\, {}^op_{c_i}(q)}{\sum_i m_i} \in \mathbb{R}^3

    Args:
        robot: the robot.
        joints: names of the joints whose bodies count (bodies welded to the world have no joint); all by default.
        subtrees: names of joints whose whole sub-trees count, instead of `joints`.
        name: name in messages.

    Shapes:
        value (3,): [m].
        jacobian (3, nv).

    Raises:
        UnknownJointError: a joint the robot does not have.
        ModelError: if the bodies have no mass.

    Source: `CenterOfMassComputation` of hpp-constraints; pinocchio's `jacobianCenterOfMass`.
    """

    robot: Robot
    joints: Sequence[str] | None = None
    subtrees: Sequence[str] | None = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Choose the bodies."""
        robot = self.choose_bodies(self.robot, self.joints, self.subtrees)
        self.declare(robot.space, Rn(3), self.columns_seen_from(0), periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self.moving_joints[-1])
        if jacobian is None:
            value[:] = self.center(k)
            return
        jacobian[:] = self.center_jacobian(k)
        value[:] = k.center

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        out[:] = self.center_motion(motion)[2]

"""Centre of mass seen from a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from liegroups import Rn
from liegroups.arrays import ArrayLike, Matrix, Vector
from liegroups.frozen import set_fields

from ..errors import SizeError
from ..point import MovingPoint, Point
from ..robot import Frame, Robot
from ..robot.pinocchio import pin
from .frame_function import as_frame, motion_of, posture_of
from .mass import MassFunction

__all__ = ["RelativeCenterOfMass"]

_WORLD = Frame("world", 0)


@dataclass(frozen=True, eq=False, repr=False)
class RelativeCenterOfMass(MassFunction):
    r"""Centre of mass seen from a frame, less a reference.

    .. math:: f(q) = {}^oR_a^T\left({}^oc(q) - {}^op_a\right) - r \in \mathbb{R}^3

    .. math:: J = {}^oR_a^T J_c - J_{lin} + [{}^ac]\, J_{ang}

    with :math:`J_c` the Jacobian of the centre of mass and :math:`J_{lin}, J_{ang}` the body Jacobian of a; the
    last two terms are the linear rows of a moved to the centre of mass. Joints that carry the frame and all of the mass
    do not move it: their columns are exactly zero.

    Args:
        robot: the robot.
        frame: frame name or Frame, a.
        reference: r (3,) [m], zero by default.
        joints: names of the joints whose bodies count; all by default.
        subtrees: names of joints whose whole sub-trees count, instead of `joints`.
        name: name in messages.

    Shapes:
        value (3,): [m] in the axes of the frame.
        jacobian (3, nv).

    Raises:
        UnknownFrameError, UnknownJointError: lists the names that come closest.
        ModelError: if the bodies have no mass.

    Source: `RelativeCom` of hpp-constraints.
    """

    robot: Robot
    frame: Frame | str
    reference: ArrayLike | None = None
    joints: Sequence[str] | None = None
    subtrees: Sequence[str] | None = None
    name: str = field(default="", kw_only=True)

    _frame: Frame = field(init=False)
    _reference: Vector = field(init=False)
    _last_joint: int = field(init=False)
    _shifted: Frame = field(init=False)
    _mask: Matrix = field(init=False)

    def __post_init__(self) -> None:
        """Choose the bodies, resolve the frame."""
        robot = self.choose_bodies(self.robot, self.joints, self.subtrees)
        frame = as_frame(robot, self.frame, type(self).__name__)
        reference = Rn(3).check(np.zeros(3) if self.reference is None else self.reference, "reference")
        if reference.shape != (3,):
            raise SizeError("reference", (3,), reference.shape)
        columns = self.columns_seen_from(frame.joint)
        set_fields(
            self,
            _frame=frame,
            _reference=reference,
            _last_joint=max(frame.joint, self.moving_joints[-1]),
            _shifted=frame.moved(pin.SE3(np.eye(3), np.array(reference))),  # seen from there, r is taken off
            _mask=np.tile(columns.astype(np.float64), (3, 1)),
        )
        self.declare(robot.space, Rn(3), columns, periodic=True, name=self.name or f"RelativeCenterOfMass({frame})")

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        try:
            self.evaluate_for_step(point, value, jacobian, to_the_bit=True)
        except AttributeError:  # checked once it has failed, as in `kinematics_at`
            posture_of(point)
            raise

    def evaluate_for_step(
        self, point: Point, error: Vector, jacobian: Matrix | None = None, to_the_bit: bool = False
    ) -> None:
        """As `StepRows.evaluate_for_step`: the rows themselves, but for the last bits unless they are asked for."""
        k = point.placed(self._last_joint) if jacobian is None else point.with_jacobians(self._last_joint)
        frames = k.frames.get(id(self)) or k.relative(self, self._shifted, _WORLD)
        Jc = None if jacobian is None else self.center_jacobian(k, to_the_bit)
        frames.live_b.translation = self.center(k) if Jc is None else k.center
        frames.update(k.model, k.data, frames.memory)
        error[...] = frames.translation  # [:] would make a view first
        if jacobian is None or Jc is None:
            return
        J = frames.rotation.dot(Jc, jacobian)
        if self._frame.joint != 0:
            np.subtract(J, frames.jacobian_of_a_at(k.model, k.data, frames.translation)[:3], J)
        np.multiply(J, self._mask, J)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        k = motion_of(motion).with_drift()
        frame = self._frame
        position, velocity, acceleration = self.center_motion(motion)
        oMa = k.oMi[frame.joint] * frame.placement
        R, w = oMa.rotation, np.zeros(3)
        r, rate = R.T @ (position - oMa.translation), R.T @ velocity
        out[:] = R.T @ acceleration
        if frame.joint != 0:
            nu = frame.placement.actInv(k.data.v[frame.joint])
            gamma = frame.placement.actInv(k.data.a[frame.joint])
            w = nu.angular
            relative = rate - nu.linear - np.cross(w, r)
            out -= gamma.linear + np.cross(w, nu.linear)  # classical acceleration of the origin
            out -= np.cross(gamma.angular, r) + np.cross(w, np.cross(w, r)) + 2.0 * np.cross(w, relative)

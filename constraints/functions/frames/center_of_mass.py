"""Centre of mass, in the world or seen from a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields

from ...point import MovingPoint, Point
from ...robot import Frame, Robot
from ...robot.model.pinocchio import Placement, pin
from ..differences import force_derivative_by_differences
from ..enclosures.box import Bend, Enclosure, TangentBox, of_many
from ..enclosures.interval import UNIT, rounded_up
from ..function import Function
from .chain_bounds import seen
from .frame_function import kinematics_at, motion_of, posture_of, world_or_frame
from .mass import MassFunction
from .position import frame_of
from .slopes import pose_rows

_WORLD = Frame("world", 0)


@dataclass(frozen=True, eq=False, repr=False)
class CenterOfMass(MassFunction):
    r"""Centre of mass of a robot, of sub-trees, or of the bodies of any set of joints, seen from frame a.

    .. math:: {}^oc(q) = \frac{\sum_i m_i\, {}^op_{c_i}(q)}{\sum_i m_i}, \quad
        f(q) = {}^ac(q) = {}^oR_a^T\left({}^oc(q) - {}^op_a\right) \in \mathbb{R}^3

    .. math:: J = {}^oR_a^T J_c - J_{lin} + [{}^ac]\, J_{ang}

    with :math:`J_c` the Jacobian of the centre of mass in the world and :math:`J_{lin}, J_{ang}` that of a in its own
    axes, zero for the world; the last two terms are the linear velocity of a at the centre of mass. Joints that carry
    both the frame and all of the mass do not change the value: their columns are exactly zero.

    Args:
        robot: the robot.
        joints: names of the joints whose bodies count (bodies welded to the world have no joint); all by default.
        subtrees: names of joints whose whole sub-trees count, instead of `joints`.
        reference: frame a, a frame name, a Frame, or a placement in the world (`pinocchio.SE3`, 4 x 4, seven numbers);
            the world by default. For a point r of a frame as origin: `reference=robot.frame(name, rigid_transform(r))`.
        name: name in messages.

    Shapes:
        value (3,): [m] in the axes of a.
        jacobian (3, nv).

    Raises:
        UnknownFrameError, UnknownJointError: lists the names that come closest.
        ModelError: if the bodies have no mass, or one has a mass that is negative or not finite.

    Source: `CenterOfMassComputation`, `RelativeCom` of hpp-constraints; pinocchio's `jacobianCenterOfMass`.
    """

    robot: Robot
    joints: Sequence[str] | None = None
    subtrees: Sequence[str] | None = None
    reference: Frame | str | Placement | Vector | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    frame_a: Frame = field(init=False)
    _last_joint: int = field(init=False)
    _mask: Matrix = field(init=False)

    def __post_init__(self) -> None:
        robot, who = self.choose_bodies(self.robot, self.joints, self.subtrees), type(self).__name__
        frame = world_or_frame(robot, self.reference, who)
        columns = self.columns_seen_from(frame.joint)
        set_fields(
            self,
            frame_a=frame,
            _last_joint=max(frame.joint, self.moving_joints[-1]),
            _mask=np.tile(columns.astype(np.float64), (3, 1)),
        )
        name = self.name or (f"{who}(reference={frame})" if frame.joint else who)
        self.declare(robot.space, Rn(3), columns, periodic=True, name=name)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian, self._last_joint)
        Jc = None if jacobian is None else self.center_jacobian(k)
        center = self.center(k)
        if self.reference is None:
            value[...] = center  # [:] would make a view first
            if jacobian is not None:
                jacobian[...] = Jc
            return
        frames = k.relative(self, self.frame_a, _WORLD)
        frames.live_b.translation = center
        frames.update(k.model, k.data, frames.memory)
        value[...] = frames.translation
        if jacobian is None or Jc is None:
            return
        J = frames.rotation.dot(Jc, jacobian)
        if self.frame_a.joint != 0:
            np.subtract(J, frames.jacobian_of_a_at(k.model, k.data, frames.translation)[:3], J)
        np.multiply(J, self._mask, J)

    def relative(self, turn: Function, origin: Function) -> CenterOfMass | None:
        frame = frame_of(turn, origin, self.frame_a)
        return None if frame is None else CenterOfMass(self.robot, self.joints, self.subtrees, reference=frame)

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        k = motion_of(motion).with_drift()
        frame = self.frame_a
        position, velocity, acceleration = self.center_motion(motion)
        if self.reference is None:
            out[:] = acceleration
            return
        oMa = k.oMi[frame.joint] * frame.placement
        R = oMa.rotation
        out[:] = R.T @ acceleration
        if frame.joint != 0:
            nu = frame.placement.actInv(k.data.v[frame.joint])
            gamma = frame.placement.actInv(k.data.a[frame.joint])
            r, w = R.T @ (position - oMa.translation), nu.angular
            relative = R.T @ velocity - nu.linear - np.cross(w, r)
            out -= gamma.linear + np.cross(w, nu.linear)  # classical acceleration of the origin
            out -= np.cross(gamma.angular, r) + np.cross(w, np.cross(w, r)) + 2.0 * np.cross(w, relative)

    @property
    def centers(self) -> tuple[list[Frame], Vector]:
        """Of the bodies: frames there, and their shares of the mass."""
        frames = [Frame("center", part.joint, part.placement) for part in self._parts]
        return frames, np.array([part.share for part in self._parts])

    @of_many
    def enclosure(self, box: TangentBox) -> Enclosure:
        """The mean of the centres of the bodies, seen from frame a."""
        box.on(self.inputs, self.name)
        frames, shares = self.centers
        found = seen(self.robot, self.frame_a, frames, box)
        off = 4.0 * (len(frames) + 2) * UNIT  # shares are quotients by a sum of n masses
        small = rounded_up(found.near @ shares + off * np.abs(found.position).sum(axis=-1) @ shares)
        jacobian = found.mean_columns(shares)
        jacobian = jacobian.widened(rounded_up(off * jacobian.magnitude) * self.columns)

        def bend() -> Bend:
            straight, slopes = found.mean_bend(shares)
            return Bend(*(x.widened(rounded_up(off * x.magnitude)) for x in (straight, slopes)))

        return Enclosure.centred(self.outputs, box, shares @ found.position, small[..., None], jacobian, bend)

    @property
    def has_exact_derivatives(self) -> bool:
        """As of `Function`; and not on robots with ellipsoid joints, whose motions are no chain of elementary ones."""
        return self.robot.space.elementary.is_exact

    def drift_derivatives(self, motion: MovingPoint, a: Vector, dq: Matrix, dv: Matrix) -> None:
        """As `Function.drift_derivatives`: the centre of mass is the origin of a frame that is seen from a."""
        if not self.has_exact_derivatives:
            super().drift_derivatives(motion, a, dq, dv)
            return
        tree = self.robot.space.elementary
        moving = tree.moving(motion_of(motion).point.q, motion.v, a)
        seen = moving.seen_from(self.frame_a, self.center_frame(moving))
        rows = pose_rows(seen.pose, seen.twist, seen.acceleration, np.zeros(3), moves=True, turns=False)
        rows.write_accelerations(seen, dq, dv)
        tree.datas.give(moving.data)

    def force_derivative(self, point: Point, y: Vector, out: Matrix) -> None:
        r"""As `Function.force_derivative`: of F = R_a y at the centre of mass, and the opposite wrench on frame a."""
        if not self.has_exact_derivatives:
            force_derivative_by_differences(self, point, y, out)
            return
        k, tree = posture_of(point).with_jacobians(), self.robot.space.elementary
        Jc = np.array(self.center_jacobian(k))
        a, oMa = self.frame_a, k.oMi[self.frame_a.joint] * self.frame_a.placement
        F = oMa.rotation @ y
        out[:] = tree.carried_slope(k.world_jacobian, Jc, F)
        if not a.joint:
            return
        turn = k.frame_jacobian(a)[3:]
        r = oMa.actInv(self.center(k))
        J = oMa.rotation.T @ Jc - k.frame_jacobian(a.moved(pin.SE3(np.eye(3), r)))[:3]
        held = oMa.act(pin.Force(y, np.cross(r, y))).vector
        out -= Jc.T @ oMa.rotation @ pin.skew(y) @ turn - turn.T @ pin.skew(y) @ J
        out -= tree.wrench_slope(k.world_jacobian, _WORLD, a, held)

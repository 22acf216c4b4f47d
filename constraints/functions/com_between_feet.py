"""Where the centre of mass is between two feet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from liegroups import Rn
from liegroups.arrays import Matrix, Vector
from liegroups.frozen import set_fields
from liegroups.second_order import cross

from ..point import MovingPoint, Point
from ..robot import Frame, Robot
from ..robot.pinocchio import pin
from ..robot.posture import Kinematics
from .frame_function import as_frame, kinematics_at, motion_of, supporting_columns
from .mass import MassFunction


@dataclass(frozen=True, eq=False, repr=False)
class ComBetweenFeet(MassFunction):
    r"""Position of the centre of mass c between two feet: height, offset from their line, position along the line.

    With :math:`x_L, x_R` the origins of the feet, :math:`u = x_R - x_L`, :math:`m = (x_L + x_R)/2` and the axes
    :math:`R_r` of a reference frame with origin :math:`x_r`, all in the world,

    .. math:: f(q) = \begin{pmatrix} (c - x_r)_z \\ \left(R_r^T\,((c - m) \times u)\right)_z \\
        (c - x_L)\cdot u \\ (c - x_R)\cdot u \end{pmatrix} \in \mathbb{R}^4

    The first row is a difference of heights in the *world*. For balance keep rows 0 and 1 at their right-hand sides,
    row 2 above zero and row 3 below zero.

    Args:
        robot: the robot.
        left, right, reference: frame names or Frames.
        joints: names of the joints whose bodies count; all by default.
        subtrees: names of joints whose whole sub-trees count, instead of `joints`.
        name: name in messages.

    Shapes:
        value (4,): [m], [m2], [m2], [m2].
        jacobian (4, nv).

    Raises:
        UnknownFrameError, UnknownJointError: lists the names that come closest.
        ModelError: if the bodies have no mass.

    Source: `ComBetweenFeet` of hpp-constraints.
    """

    robot: Robot
    left: Frame | str
    right: Frame | str
    reference: Frame | str
    joints: Sequence[str] | None = None
    subtrees: Sequence[str] | None = None
    name: str = field(default="", kw_only=True)

    _frames: tuple[Frame, Frame, Frame] = field(init=False)

    def __post_init__(self) -> None:
        """Choose the bodies, resolve the frames."""
        robot = self.choose_bodies(self.robot, self.joints, self.subtrees)
        frames = tuple(as_frame(robot, f, type(self).__name__) for f in (self.left, self.right, self.reference))
        columns = self.columns_seen_from(0)
        for frame in frames:
            columns |= supporting_columns(robot, frame.joint)
        set_fields(self, _frames=frames)
        self.declare(robot.space, Rn(4), columns, periodic=True, name=self.name or None)

    def evaluate(self, point: Point, value: Vector, jacobian: Matrix | None = None) -> None:
        k = kinematics_at(point, jacobian)
        Jc = None if jacobian is None else self.center_jacobian(k)
        c = self.center(k)
        oMi = k.oMi
        oML, oMR, oMr = (oMi[f.joint].act(f.placement) for f in self._frames)
        xL, xR, R = oML.translation, oMR.translation, oMr.rotation
        u, lever = xR - xL, c - 0.5 * (xL + xR)
        moment = cross(lever, u)
        z = R[:, 2]
        value[0] = c[2] - oMr.translation[2]
        value[1] = z @ moment
        value[2] = (c - xL) @ u
        value[3] = (c - xR) @ u
        if jacobian is None or Jc is None:
            return
        JL, _ = _world_jacobian(k, self._frames[0])
        JR, _ = _world_jacobian(k, self._frames[1])
        Jr, Wr = _world_jacobian(k, self._frames[2])
        Ju, Jlever = JR - JL, Jc - 0.5 * (JL + JR)
        jacobian[0] = Jc[2] - Jr[2]
        jacobian[1] = cross(u, z) @ Jlever + cross(z, lever) @ Ju + cross(z, moment) @ Wr
        jacobian[2] = u @ (Jc - JL) + (c - xL) @ Ju
        jacobian[3] = u @ (Jc - JR) + (c - xR) @ Ju

    def drift(self, motion: MovingPoint, out: Vector) -> None:
        k = motion_of(motion).with_drift()
        c, dc, ddc = self.center_motion(motion)
        states: list[tuple[Vector, Vector, Vector]] = []
        z, w, alpha = np.zeros(3), np.zeros(3), np.zeros(3)
        for frame in self._frames:
            oMf = k.oMi[frame.joint] * frame.placement
            nu, gamma = frame.placement.actInv(k.data.v[frame.joint]), frame.placement.actInv(k.data.a[frame.joint])
            z, w, alpha = oMf.rotation[:, 2], oMf.rotation @ nu.angular, oMf.rotation @ gamma.angular
            classical = gamma.linear + np.cross(nu.angular, nu.linear)
            states.append((oMf.translation, oMf.rotation @ nu.linear, oMf.rotation @ classical))
        (xL, dL, ddL), (xR, dR, ddR), (_, _, ddr) = states
        u, du, ddu = xR - xL, dR - dL, ddR - ddL
        lever, dlever, ddlever = c - 0.5 * (xL + xR), dc - 0.5 * (dL + dR), ddc - 0.5 * (ddL + ddR)
        m = np.cross(lever, u)
        dm = np.cross(dlever, u) + np.cross(lever, du)
        ddm = np.cross(ddlever, u) + 2.0 * np.cross(dlever, du) + np.cross(lever, ddu)
        dz = np.cross(w, z)
        ddz = np.cross(alpha, z) + np.cross(w, dz)
        out[0] = ddc[2] - ddr[2]
        out[1] = ddz @ m + 2.0 * dz @ dm + z @ ddm
        out[2] = (ddc - ddL) @ u + 2.0 * (dc - dL) @ du + (c - xL) @ ddu
        out[3] = (ddc - ddR) @ u + 2.0 * (dc - dR) @ du + (c - xR) @ ddu


def _world_jacobian(k: Kinematics, frame: Frame) -> tuple[Matrix, Matrix]:
    """Velocity of the frame's origin and angular velocity, both in world axes, as (3, nv) each."""
    J = k.joint_jacobian(frame.joint, pin.LOCAL_WORLD_ALIGNED)
    offset = k.oMi[frame.joint].rotation @ frame.placement.translation
    return J[:3] - pin.skew(offset) @ J[3:], J[3:]

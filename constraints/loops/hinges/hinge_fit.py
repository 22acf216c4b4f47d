"""Fitting a hinge to a pose: its coordinates, their rates and accelerations, and the rows it cannot explain."""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, atan2, pi
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import five_points
from liegroups.formulas.second_order import cross

from ...functions.enclosures.box import Enclosure
from ...functions.enclosures.interval import insist
from ...functions.enclosures.smooth import combined, stacked
from ...functions.frames.slopes import Slopes, translation_slopes
from ...robot.model.pinocchio import pin
from .custom_fit import CustomRows, least
from .enclosing import PoseOnBox
from .hinge import Hinge, HingeKind, chain
from .pose_map import LogPose, PoseMap, Split
from .rotation_rows import Cross, RotationRows, Swing, Turn, perpendicular_pair
from .subhinge import Subhinge


@dataclass(frozen=True, eq=False)
class HingeMotion:
    """Fitted coordinates of a hinge, with their rates and accelerations.

    Attributes:
        coordinates: (hinge.space.nq,) [m, rad, quaternions xyzw].
        rates, accelerations: (hinge.dofs,).
    """

    coordinates: Vector
    rates: Vector
    accelerations: Vector


def hinge_rows(hinge: Hinge) -> PoseMap:
    """The rows of a closure with this hinge: what the fitted hinge leaves of the pose, 6 less its dofs.

    LOCKED: the logarithm of SE(3). HELICAL: the two translations across the axis, the advance less what the turns
    explain, the swing. CUSTOM: see `CustomRows`. The others: the translations that no slider makes, in the axes of the
    predecessor, then the swing of the axis (one pin), how far two pins are from a right angle, or the rotation vector
    (no pin); nothing for three pins or a ball.
    """
    kind = hinge.kind
    if kind is HingeKind.LOCKED:
        return LogPose()
    if kind is HingeKind.CUSTOM:
        return CustomRows(hinge)
    pins, sliders = hinge_parts(hinge)
    if kind is HingeKind.HELICAL:
        return ScrewRows(pins[0])
    rotation: RotationRows | None = None
    if not pins:
        rotation = Turn()
    elif len(pins) == 1 and not pins[0].is_ball:
        rotation = Swing(pins[0].axis)
    elif len(pins) == 2:
        rotation = Cross(pins[0].axis, pins[1].axis)
    return Split(kept_translations(sliders), rotation)


def fitted(hinge: Hinge, pose: Any, twist: Vector, acceleration: Vector) -> HingeMotion:
    """The hinge coordinates that explain most of a pose, moving with it.

    Args:
        hinge: the hinge.
        pose: successor seen from predecessor.
        twist, acceleration: its body twist (6,) and the derivative of that.
    """
    if hinge.kind is HingeKind.CUSTOM:
        return HingeMotion(*CustomRows(hinge).motion(pose, twist, acceleration))
    R, p = pose.rotation, pose.translation
    pins, sliders = hinge_parts(hinge)
    velocity = R @ twist[:3]
    change = R @ (acceleration[:3] + cross(twist[3:], twist[:3]))
    q, v, a = sliders @ p, sliders @ velocity, sliders @ change
    if not pins:
        return HingeMotion(q, v, a)
    omega, alpha = twist[3:], acceleration[3:]
    if pins[0].is_ball:
        quaternion = np.array(pin.SE3ToXYZQUAT(pose))[3:]
        return HingeMotion(np.r_[q, quaternion], np.r_[v, omega], np.r_[a, alpha])
    if len(pins) == 1:
        angle, D = twist_angle(R, pins[0].axis)
        if hinge.kind is HingeKind.HELICAL:
            angle += _turns(pins[0], p, angle)
        return HingeMotion(np.r_[q, angle], np.r_[v, D @ omega], np.r_[a, twist_drift(R, pins[0].axis, omega, alpha)])
    angles, whole, kept = _pin_angles(pins, R)
    S = whole.subspace(angles)[3:]
    rates = least(S, omega)
    accelerations = least(S, alpha - whole.drift(angles, rates)[3:])
    return HingeMotion(np.r_[q, angles[kept]], np.r_[v, rates[kept]], np.r_[a, accelerations[kept]])


def rate_matrix(hinge: Hinge, pose: Any) -> Matrix:
    r"""What the fitted coordinates change by: :math:`\dot\theta = F(X)\,\nu`, F (dofs, 6).

    It is the derivative of the coordinates of `fitted`, so that a force T on them does the work
    :math:`T^T \dot\theta = (F^T T)^T \nu`, on open poses too.

    Args:
        hinge: the hinge.
        pose: X, successor seen from predecessor, with the body twist :math:`\nu` (linear, then angular).
    """
    if hinge.kind is HingeKind.CUSTOM:
        return CustomRows(hinge).rate_matrix(pose)
    pins, sliders = hinge_parts(hinge)
    F, k = np.zeros((hinge.dofs, 6)), len(sliders)
    F[:k, :3] = sliders @ pose.rotation
    if not pins:
        return F
    if pins[0].is_ball:
        F[k:, 3:] = np.eye(3)
    elif len(pins) == 1:
        F[k, 3:] = twist_angle(pose.rotation, pins[0].axis)[1]
    else:
        angles, whole, kept = _pin_angles(pins, pose.rotation)
        F[k:, 3:] = np.linalg.pinv(whole.subspace(angles)[3:], rcond=1e-9)[kept]
    return F


class RateSlopes(NamedTuple):
    r"""How the fitted coordinates of a hinge move with the pose, and what that changes by.

    Attributes:
        F: (dofs, 6), :math:`\dot\theta = F(X)\,\nu`.
        rate: (dofs, 6), derivative of :math:`F \nu` by the pose, along its body twists.
        force: (6, 6), derivative of :math:`F^T T` by the pose.
    """

    F: Matrix
    rate: Matrix
    force: Matrix


def rate_slopes(hinge: Hinge, pose: Any, twist: Vector, force: Vector) -> RateSlopes:
    r"""What rates of the fitted coordinates, and wrenches of forces on them, change by with the pose.

    By formulas; of custom hinges, which are fitted by Newton, by five-point differences that continue the fit.

    Args:
        hinge: the hinge.
        pose: X, successor seen from predecessor.
        twist: its body twist :math:`\nu` (6,), kept.
        force: T (dofs,), kept.
    """
    if hinge.kind is HingeKind.CUSTOM:
        return _slopes_by_differences(CustomRows(hinge).near(pose), pose, twist, force)
    pins, sliders = hinge_parts(hinge)
    found, k, R, omega = Slopes.zero(hinge.dofs), len(sliders), pose.rotation, twist[3:]
    if k:
        translation_slopes(found, sliders, R, twist, np.zeros(6), force[:k])
    if len(pins) == 1 and not pins[0].is_ball:
        turn = twist_slopes(R, pins[0].axis, omega, np.zeros(3))
        found.rate[k:, 3:] = turn.rate
        found.force[3:, 3:] += force[k] * turn.force
    elif len(pins) > 1:
        rate, moment = _pin_slopes(pins, R, omega, force[k:])
        found.rate[k:, 3:] = rate
        found.force[3:, 3:] += moment
    return RateSlopes(rate_matrix(hinge, pose), found.rate, found.force)


def _slopes_by_differences(rows: CustomRows, pose: Any, twist: Vector, force: Vector) -> RateSlopes:
    F = rows.rate_matrix(pose)
    found = RateSlopes(F, np.zeros_like(F), np.zeros((6, 6)))
    for i, factor, step in five_points(6):
        there = rows.rate_matrix(pose * pin.exp6(step))
        found.rate[:, i] += factor * (there @ twist)
        found.force[:, i] += factor * (force @ there)
    return found


def _pin_slopes(pins: list[Subhinge], R: Matrix, omega: Vector, force: Vector) -> tuple[Matrix, Matrix]:
    r"""Derivatives by R, along body rotations, of rates of pins (pins, 3) and of the moment of forces on them (3, 3).

    With S (3, 3) the axes of three pins in the body and :math:`\dot\theta = S^{-1}\omega`: the axes before a pin turn
    with it, :math:`\partial s_i / \partial\theta_k = s_i \times s_k` for k after i.
    """
    angles, whole, kept = _pin_angles(pins, R)
    S = whole.subspace(angles)[3:]
    F = np.linalg.pinv(S, rcond=1e-9)
    rates, forces = F @ omega, np.zeros(3)
    forces[kept] = force
    moment = forces @ F
    turned, pulled = np.zeros((2, 3, 3))  # of S rates, and of S^T moment
    for i, j in ((0, 1), (0, 2), (1, 2)):
        change = cross(S[:, i], S[:, j])
        turned[:, j] += rates[i] * change
        pulled[i, j] = moment @ change
    return -(F @ turned @ F)[kept], -F.T @ pulled @ F


@final
class ScrewRows(PoseMap):
    """Rows of a helical hinge: across the axis (2), along it less what the turns explain (1), swing (2).

    Attributes:
        screw: the hinge's one step.
        split: the translations across and along the axis, and the swing.
    """

    size = 5
    __slots__ = ("screw", "split")

    def __init__(self, screw: Subhinge) -> None:
        self.screw = screw
        n1, n2 = perpendicular_pair(screw.axis)
        self.split = Split(np.array([n1, n2, screw.axis]), Swing(screw.axis))

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        self.split.value(pose, out, D)
        angle, slope = twist_angle(pose.rotation, self.screw.axis)
        out[2] -= self.screw.pitch * (angle + _turns(self.screw, pose.translation, angle))
        if D is not None:
            D[2, 3:] = -self.screw.pitch * slope

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        self.split.second(pose, twist, acceleration, out)
        turn = twist_drift(pose.rotation, self.screw.axis, twist[3:], acceleration[3:])
        out[2] -= self.screw.pitch * turn

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`."""
        found, pitch = self.split.slopes(pose, twist, acceleration, multipliers), self.screw.pitch
        turn = twist_slopes(pose.rotation, self.screw.axis, twist[3:], acceleration[3:])
        found.rate[2, 3:] -= pitch * turn.rate[0]
        found.force[3:, 3:] -= pitch * multipliers[2] * turn.force
        found.by_pose[2, 3:] -= pitch * turn.by_pose[0]
        found.by_twist[2, 3:] -= pitch * turn.by_twist[0]
        return found

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`: of the whole turns that are nearest at the centre, if they are so on all of the box.

        Raises:
            UndefinedError: they may not be.
        """
        pitch, placed, leading = self.screw.pitch, self.split.enclosure(at), at.box.leading
        poses = zip(at.seen.rotation.reshape(-1, 3, 3), at.seen.position.reshape(-1, 3), strict=True)
        turns = [(twist_angle(R, self.screw.axis)[0], p) for R, p in poses]
        angles = np.array([angle + _turns(self.screw, p, angle) for angle, p in turns]).reshape(leading)
        turn = at.turn_about(self.screw.axis, angles)
        whole = stacked([placed, turn], at.box)
        less = np.eye(5, 6)
        less[2, 5] = -pitch
        found = combined(less, whole, at.box)
        what = "a screw that may be half a turn from its advance: which turn is the nearest jumps there"
        insist(np.abs(found.value[..., 2]) + found.error[..., 2] < 0.999 * pi * abs(pitch), what)
        return found


def _turns(screw: Subhinge, p: Vector, angle: float) -> float:
    """The whole turns [rad] that bring the advance of a screw nearest to where it is."""
    return 2.0 * pi * round((float(screw.axis @ p) / screw.pitch - angle) / (2.0 * pi))


def twist_angle(R: Matrix, axis: Vector) -> tuple[float, Vector]:
    r"""How far a rotation turns about an axis, in (-pi, pi]: the twist of its swing and twist; and the derivative (3,).

    .. math:: R = R_{swing} \exp(\theta\,a), \quad \theta = 2\,\mathrm{atan2}(a \cdot u, w), \quad q_R = (u, w)

    The same angle results with the twist first. At a swing of pi it is not determined, and taken as zero.
    """
    x, y, z, w = pin.Quaternion(R).coeffs().tolist()
    u = np.array([x, y, z])
    t = float(axis @ u)
    square = t * t + w * w
    if square < 1e-24:
        return 0.0, np.array(axis)
    angle = 2.0 * atan2(t, w)
    if angle > pi:
        angle -= 2.0 * pi
    elif angle <= -pi:
        angle += 2.0 * pi
    return angle, (w * (w * axis + cross(axis, u)) + t * u) / square


def twist_drift(R: Matrix, axis: Vector, omega: Vector, alpha: Vector) -> float:
    """Second time derivative of `twist_angle`, at body angular velocity and acceleration omega, alpha."""
    x, y, z, w = pin.Quaternion(R).coeffs().tolist()
    u = np.array([x, y, z])
    w1, u1 = -0.5 * (u @ omega), 0.5 * (w * omega + cross(u, omega))
    w2 = -0.5 * (u1 @ omega + u @ alpha)
    u2 = 0.5 * (w1 * omega + cross(u1, omega) + w * alpha + cross(u, alpha))
    t, t1, t2 = axis @ u, axis @ u1, axis @ u2
    square = t * t + w * w
    if square < 1e-24:
        return 0.0
    return float(2.0 * ((w * t2 - t * w2) / square - 2.0 * (w * t1 - t * w1) * (t * t1 + w * w1) / square**2))


def twist_slopes(R: Matrix, axis: Vector, omega: Vector, alpha: Vector) -> Slopes:
    """What rate, slope and drift of `twist_angle` change by with R, along body rotations, and with omega."""
    x, y, z, w = pin.Quaternion(R).coeffs().tolist()
    u, skew, eye = np.array([x, y, z]), pin.skew, np.eye(3)
    square = float(axis @ u) ** 2 + w * w
    if square < 1e-24:
        return Slopes.zero(1, 3)

    def half(p: Any, r: Any, turn: Vector) -> tuple[Any, Any]:
        """The quaternion (scalar p, vector r) times half a rotation rate; of derivatives by column as of numbers."""
        return -0.5 * (turn @ r), 0.5 * (np.multiply.outer(turn, p) - skew(turn) @ r)

    w1, u1 = half(w, u, omega)
    w2, u2 = (a + b for a, b in zip(half(w1, u1, omega), half(w, u, alpha), strict=True))
    gw, gu = -0.5 * u, 0.5 * (w * eye + skew(u))  # columns: along e1, e2, e3
    gw1, gu1 = half(gw, gu, omega)
    gw2, gu2 = (a + b for a, b in zip(half(gw1, gu1, omega), half(gw, gu, alpha), strict=True))
    hw2, hu2 = half(gw, gu, omega)  # by omega: that of the first rate is (gw, gu) itself
    hw2, hu2 = hw2 - 0.5 * u1, hu2 + 0.5 * (w1 * eye + skew(u1))
    t, t1, t2 = (float(axis @ each) for each in (u, u1, u2))
    gt, gt1, gt2, ht2 = (axis @ each for each in (gu, gu1, gu2, hu2))
    moment, growth = w * t1 - t * w1, t * t1 + w * w1
    g_square = 2.0 * (t * gt + w * gw)
    g_moment = gw * t1 + w * gt1 - gt * w1 - t * gw1
    g_growth = gt * t1 + t * gt1 + gw * w1 + w * gw1
    h_moment, h_growth = w * gt - t * gw, t * gt + w * gw
    turn, g_turn = w * t2 - t * w2, gw * t2 + w * gt2 - gt * w2 - t * gw2
    h_turn = w * ht2 - t * hw2
    rate = 2.0 * (g_moment / square - moment * g_square / square**2)
    by_pose = g_turn / square - turn * g_square / square**2 - 2.0 * (g_moment * growth + moment * g_growth) / square**2
    by_pose += 4.0 * moment * growth * g_square / square**3
    by_twist = h_turn / square - 2.0 * (h_moment * growth + moment * h_growth) / square**2
    # the slope itself: (w (w a + a x u) + t u) / square
    top = w * (w * axis + cross(axis, u)) + t * u
    g_top = np.outer(2.0 * w * axis + cross(axis, u), gw) + w * skew(axis) @ gu + np.outer(u, gt) + t * gu
    force = g_top / square - np.outer(top, g_square) / square**2
    return Slopes(rate[None], force, 2.0 * by_pose[None], 2.0 * by_twist[None])


def _pin_angles(pins: list[Subhinge], R: Matrix) -> tuple[Vector, Hinge, list[int]]:
    """Angles of three pins that make R, the hinge of these three, and which of them are those given."""
    if len(pins) == 3:  # about x, y, z
        angles = np.array([atan2(-R[1, 2], R[2, 2]), asin(min(max(R[0, 2], -1.0), 1.0)), atan2(-R[0, 1], R[0, 0])])
        return angles, chain(*pins), [0, 1, 2]
    a, last = pins
    b = last.axis if last.turn is None else last.turn @ last.axis
    B = np.column_stack([a.axis, b, cross(a.axis, b)])
    Q = B.T @ (R if last.turn is None else R @ last.turn.T) @ B
    angles = np.array([atan2(Q[2, 1], Q[1, 1]), -asin(min(max(Q[0, 1], -1.0), 1.0)), atan2(Q[0, 2], Q[0, 0])])
    return angles, chain(a, Subhinge(a.motion, B[:, 2]), last), [0, 2]


def hinge_parts(hinge: Hinge) -> tuple[list[Subhinge], Matrix]:
    """The steps that turn, and the directions (k, 3) of the sliders before them."""
    turning = [sub for sub in hinge.subhinges if sub.turns]
    sliding = [sub.axis for sub in hinge.subhinges if not sub.turns]
    return turning, np.array(sliding).reshape(-1, 3)


def kept_translations(directions: Matrix) -> Matrix:
    """Unit directions (3 - k, 3) across the given ones; the axes of the frame themselves where those do."""
    if len(directions) == 0:
        return np.eye(3)
    if len(directions) == 3:
        return np.zeros((0, 3))
    if len(directions) == 2:
        return cross(directions[0], directions[1])[None, :]
    return np.array(perpendicular_pair(directions[0]))

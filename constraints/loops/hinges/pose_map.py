"""What closures and contacts measure: functions of the pose of one frame seen from another, with two derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from liegroups import SE3
from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import five_points, se3_log_slopes
from liegroups.formulas.second_order import cross, se3_log_second

from ...errors import NoEnclosureError
from ...functions.enclosures.box import Enclosure
from ...functions.enclosures.smooth import combined, stacked
from ...functions.frames.slopes import Slopes, translation_slopes
from ...robot.model.pinocchio import pin
from ...robot.placement import pose_log, pose_log_second
from .enclosing import PoseOnBox, half_square, turned_halves
from .rotation_rows import RotationRows


class PoseMap(ABC):
    r"""A function r of the pose X of one frame seen from another, differentiable twice: what rows measure.

    .. math:: r(X) \in \mathbb{R}^k, \qquad \dot r = D(X)\,\nu, \qquad
        \ddot r = D(X)\,\dot\nu + \dot D(X)\,\nu

    with :math:`X = {}^aM_b` the pose of b seen from a, and :math:`\nu` its body twist: of b relative to a, in the axes
    of b, linear [m/s] then angular [rad/s]. `PoseContact` and `PoseClosure` make rows of a map. A subclass sets `size`
    and writes `value` and `second`; `slopes` is an extra for derivatives of dynamics. A map is a value: arrays and
    numbers, no state. A frozen dataclass in `constraints.loops` can be saved in problem files.

    Attributes:
        size: k, 1 to 6.
        has_exact_slopes: whether `slopes` is a formula.

    Raises:
        UndefinedError: from `value`, `second` and `slopes`, where r has no derivative. Raise it yourself; the message
            then names the contact or closure.

    Example:
        >>> import numpy as np
        >>> from constraints.loops import PoseContact, PoseMap
        >>> from constraints.models import sample_arm
        >>> class Above(PoseMap):  # the origin of b is on the plane z = 0 of a
        ...     size = 1
        ...
        ...     def value(self, pose, out, D=None):
        ...         out[0] = pose.translation[2]
        ...         if D is not None:
        ...             D[0, :3] = pose.rotation[2]
        ...
        ...     def second(self, pose, twist, acceleration, out):
        ...         out[0] = pose.rotation[2] @ (acceleration[:3] + np.cross(twist[3:], twist[:3]))
        >>> PoseContact(sample_arm(), "tool", Above(), name="floor")
        PoseContact('floor', 1 row)

    Source: anchors and cut joints of pinocchio and Karana kdFlex, in one form.
    """

    size: int
    in_own_axes: bool = False
    """Whether the rows are all of the body twist, or the velocity of the origin, in the body's axes, as pinocchio has
    them: with the spatial acceleration, or the classical one of the point. Only maps of the library are."""

    @abstractmethod
    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """Write r, and D where it is given.

        Args:
            pose: X, a `pinocchio.SE3`: `translation` (3,) [m] in the axes of a, `rotation` (3, 3) from b to a.
            out: (k,), to be filled: every entry, each time.
            D: (k, 6) or None; entries that are never written are zero, the others are written each time.
        """

    @abstractmethod
    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        r"""Write the second time derivative of r.

        The acceleration of the origin in the axes of a is :math:`R\,(\dot\nu_{lin} + \omega \times \nu_{lin})`.

        Args:
            pose: X.
            twist: its body twist (6,) [m/s, rad/s].
            acceleration: the derivative of that (6,), the spatial acceleration in the axes of b [m/s2, rad/s2].
            out: (k,), to be filled.
        """

    def value_and_second(
        self, pose: Any, twist: Vector, acceleration: Vector, out: Vector, D: Matrix, second: Vector
    ) -> None:
        """Write r, D and the second time derivative of r: `value` and `second` together."""
        self.value(pose, out, D)
        self.second(pose, twist, acceleration, second)

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        r"""What `value` and `second` change by with pose and twist; by five-point differences, unless overridden.

        Args:
            pose: X.
            twist: :math:`\nu` (6,).
            acceleration: the derivative of that (6,).
            multipliers: :math:`\lambda` (k,).
        """
        found, near = Slopes.zero(self.size), self.near(pose)

        def seen(X: Any, nu: Vector) -> tuple[Matrix, Vector]:
            D, out = np.zeros((self.size, 6)), np.zeros(self.size)
            near.value(X, out, D)
            near.second(X, nu, acceleration, out)
            return D, out

        for i, factor, step in five_points(6):
            D, second = seen(pose * pin.exp6(step), twist)
            found.rate[:, i] += factor * (D @ twist)
            found.force[:, i] += factor * (multipliers @ D)
            found.by_pose[:, i] += factor * second
            found.by_twist[:, i] += factor * seen(pose, twist + step)[1]
        return found

    def near(self, pose: Any) -> PoseMap:
        """The same map for poses beside this one, with no jump between them: what differences are taken of."""
        return self

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """What is proved of r on a box of configurations, as a function of them.

        Args:
            at: the two frames on the box.

        Raises:
            NoEnclosureError: the map has none: it is a user's, or measures rates alone.
            UndefinedError: r may have no value, or no derivative, somewhere on the box.
        """
        raise NoEnclosureError(type(self).__name__, "its map writes none")

    @property
    def has_exact_slopes(self) -> bool:
        """Whether `slopes` is a formula: no difference."""
        return type(self).slopes is not PoseMap.slopes


@final
class Split(PoseMap):
    r"""Rows of the translation, in the axes of the reference, then rows of the rotation.

    .. math:: r = (N\,p,\; \rho(R)), \qquad D = \begin{pmatrix} N R & 0 \\ 0 & \rho'(R) \end{pmatrix}

    Args:
        directions: N, (k, 3), in the axes of the reference; may have no row.
        rotation: rows of the rotation; None for none.
    """

    __slots__ = ("_whole", "directions", "rotation", "size")

    def __init__(self, directions: Matrix, rotation: RotationRows | None) -> None:
        self.directions, self.rotation = directions, rotation
        self._whole = directions.shape == (3, 3) and bool((directions == np.eye(3)).all())
        self.size = directions.shape[0] + (0 if rotation is None else rotation.size)

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        N, R, k = self.directions, pose.rotation, self.directions.shape[0]
        out[:k] = pose.translation if self._whole else N.dot(pose.translation)
        if D is not None:
            D[:k, :3] = R if self._whole else N.dot(R)
        if self.rotation is not None:
            self.rotation.value(R, out[k:], None if D is None else D[k:, 3:])

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        k = self.directions.shape[0]
        out[:k] = self.directions @ (pose.rotation @ (acceleration[:3] + cross(twist[3:], twist[:3])))
        if self.rotation is not None:
            self.rotation.second(pose.rotation, twist[3:], acceleration[3:], out[k:])

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`: both parts follow the rotation alone."""
        found, k = Slopes.zero(self.size), self.directions.shape[0]
        if k:
            translation_slopes(found, self.directions, pose.rotation, twist, acceleration, multipliers[:k])
        if self.rotation is not None:
            own = self.rotation.slopes(pose.rotation, twist[3:], acceleration[3:], multipliers[k:])
            found.rate[k:, 3:], found.by_pose[k:, 3:], found.by_twist[k:, 3:] = own.rate, own.by_pose, own.by_twist
            found.force[3:, 3:] = own.force
        return found

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        place = at.place if self._whole else combined(self.directions, at.place, at.box)
        if self.rotation is None:
            return place
        turn = self.rotation.enclosure(at)
        return stacked([place, turn], at.box) if len(self.directions) else turn


@final
class LogPose(PoseMap):
    r"""All six rows of :math:`\log_6 X`; :math:`D = J_{\log_6}(X)`."""

    size = 6
    __slots__ = ()

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        out[:] = pose_log(pose, D)

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        out[:] = pose_log_second(pose, twist, acceleration)

    def value_and_second(
        self, pose: Any, twist: Vector, acceleration: Vector, out: Vector, D: Matrix, second: Vector
    ) -> None:
        """As `PoseMap.value_and_second`, with one logarithm."""
        out[:] = log = pose_log(pose, D)
        second[:] = se3_log_second(log, twist, acceleration)

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`."""
        return Slopes(*se3_log_slopes(pose_log(pose), twist, acceleration, multipliers)[1:])

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        return at.logarithm


@final
class TurnedLog(PoseMap):
    r"""The logarithm in other axes, those of the pose itself and then others: :math:`r = C R\,\log_6 X`, by halves.

    Args:
        turn: C, (3, 3), from the axes of the reference to those of the rows.
    """

    size = 6
    __slots__ = ("turn",)

    def __init__(self, turn: Matrix) -> None:
        self.turn = turn

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        R, J = self.turn @ pose.rotation, None if D is None else np.empty((6, 6))
        log = pose_log(pose, J)
        out[:3], out[3:] = R @ log[:3], R @ log[3:]
        if D is not None and J is not None:
            J[:3, 3:] -= pin.skew(log[:3])  # the axes turn with the body: R (w x u)
            J[3:, 3:] -= pin.skew(log[3:])
            D[:3], D[3:] = R @ J[:3], R @ J[3:]

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        R, log = self.turn @ pose.rotation, pose_log(pose)
        rate, second = SE3.log_jacobian(log) @ twist, se3_log_second(log, twist, acceleration)
        w, alpha = twist[3:], acceleration[3:]
        for half in (slice(0, 3), slice(3, 6)):
            u, u1 = log[half], rate[half]
            out[half] = R @ (second[half] + 2.0 * cross(w, u1) + cross(alpha, u) + cross(w, cross(w, u)))

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        r"""As `PoseMap.slopes`: of halves :math:`C R\,u`, a vector R y turns by -R skew(y)."""
        R, log, skew = self.turn @ pose.rotation, pose_log(pose), pin.skew
        pulled = np.concatenate([multipliers[:3] @ R, multipliers[3:] @ R])
        U, rate, force, by_pose, by_twist = se3_log_slopes(log, twist, acceleration, pulled)
        second = se3_log_second(log, twist, acceleration)
        w, W, A, first = twist[3:], skew(twist[3:]), skew(acceleration[3:]), U @ twist
        found = Slopes.zero(6)
        found.force[:] = force
        for half in (slice(0, 3), slice(3, 6)):
            u, u1, J, y = log[half], first[half], U[half], pulled[half]
            x1 = u1 + cross(w, u)
            x2 = second[half] + 2.0 * cross(w, u1) + A @ u + W @ (W @ u)
            found.rate[half] = R @ (rate[half] + W @ J)
            found.rate[half, 3:] -= R @ skew(x1)
            found.by_pose[half] = R @ (by_pose[half] + 2.0 * W @ rate[half] + A @ J + W @ (W @ J))
            found.by_pose[half, 3:] -= R @ skew(x2)
            found.by_twist[half] = R @ (by_twist[half] + 2.0 * W @ J)
            found.by_twist[half, 3:] -= R @ (2.0 * skew(u1) + skew(cross(w, u)) + W @ skew(u))
            found.force[:, 3:] += J.T @ skew(y)
            found.force[3:] -= skew(y) @ J
            found.force[3:, 3:] += skew(u) @ skew(y)
        return found

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        return turned_halves(self.turn, at)


@final
class Rod(PoseMap):
    r"""One row, :math:`r = \tfrac12(|p|^2 - l^2)`; :math:`D = (p^T R, 0)`.

    Args:
        length: l [m].
    """

    size = 1
    __slots__ = ("length",)

    def __init__(self, length: float) -> None:
        self.length = length

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        p = pose.translation
        out[0] = 0.5 * (p.dot(p) - self.length * self.length)
        if D is not None:
            D[0, :3] = p.dot(pose.rotation)

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        p = pose.translation @ pose.rotation  # in the axes of the body
        out[0] = twist[:3] @ twist[:3] + p @ (acceleration[:3] + cross(twist[3:], twist[:3]))

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        r"""As `PoseMap.slopes`, with :math:`E = (I, \hat e)` the derivative of :math:`e = R^T p`."""
        found, v, w = Slopes.zero(1), twist[:3], twist[3:]
        e = pose.translation @ pose.rotation
        E = np.hstack([np.eye(3), pin.skew(e)])
        pull = acceleration[:3] + cross(w, v)
        found.rate[0], found.by_pose[0] = v @ E, pull @ E
        found.force[:3] = multipliers[0] * E
        found.by_twist[0, :3], found.by_twist[0, 3:] = 2.0 * v + cross(e, w), cross(v, e)
        return found

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        return half_square(self.length, at)

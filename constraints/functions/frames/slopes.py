"""What rows of a relative pose change by with the pose and its velocity: rates, forces and accelerations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.log_slopes import so3_log_slopes
from liegroups.formulas.second_order import cross

from ...robot.model.pinocchio import pin
from ...robot.moving_frames import RelativeFrame
from ...robot.placement import rotation_log


class Slopes(NamedTuple):
    r"""What the rows of a map change by with the pose X, along its body twists, and with its velocity.

    Columns "by X" are those of a small body twist of X, linear [m] then angular [rad]: :math:`X \exp(d)`. Of rows of a
    rotation the columns are the three of the angular velocity.

    Attributes:
        rate: (size, 6), of :math:`D(X)\,\nu` by X, at constant :math:`\nu`.
        force: (6, 6), of :math:`D(X)^T \lambda` by X, at constant :math:`\lambda`.
        by_pose: (size, 6), of the second time derivative by X, at constant :math:`\nu` and :math:`\dot\nu`.
        by_twist: (size, 6), of the second time derivative by :math:`\nu`.
    """

    rate: Matrix
    force: Matrix
    by_pose: Matrix
    by_twist: Matrix

    @classmethod
    def zero(cls, size: int, n: int = 6) -> Slopes:
        """Zeros, to be filled; n is 3 for rows of a rotation."""
        rate, by_pose, by_twist = np.zeros((3, size, n))
        return cls(rate, np.zeros((n, n)), by_pose, by_twist)


STRAIGHT = Slopes.zero(6)
"""Of six rows that are the body twist itself: zeros, never written to."""


class TwistRowSlopes(NamedTuple):
    """Rows of the body twist of a pose, and what they change by: D (size, 6), and its `Slopes`."""

    D: Matrix
    slopes: Slopes

    def write_accelerations(self, seen: RelativeFrame, dq: Matrix, dv: Matrix) -> None:
        """Write what the second time derivative changes by with q and with v (size, nv).

        Args:
            seen: the pose whose rows these are, with the derivatives of its motion.
            dq, dv: to be filled.
        """
        own = self.slopes
        dq[:] = own.by_pose @ seen.jacobian + own.by_twist @ seen.twist_q + self.D @ seen.acceleration_q
        dv[:] = own.by_twist @ seen.jacobian + self.D @ seen.acceleration_v


def translation_slopes(
    found: Slopes, directions: Matrix, R: Matrix, twist: Vector, acceleration: Vector, multipliers: Vector
) -> None:
    r"""Fill the first rows with those of :math:`N\,p`, the translation along directions.

    .. math:: D = (N R, 0), \qquad \ddot r = N R\,(\dot v + w \times v)

    Args:
        found: of a map whose first rows these are.
        directions: N (k, 3), in the axes of the reference.
        R: rotation of the pose.
        twist, acceleration: body twist (6,), and the derivative of that.
        multipliers: of these rows (k,).
    """
    k, v, w = len(directions), twist[:3], twist[3:]
    seen = directions @ R
    along = -seen @ pin.skew(v)
    found.rate[:k, 3:] = found.by_twist[:k, 3:] = along
    found.force[:3, 3:] = pin.skew(multipliers @ seen)
    found.by_pose[:k, 3:] = -seen @ pin.skew(acceleration[:3] + cross(w, v))
    found.by_twist[:k, :3] = seen @ pin.skew(w)


def rotation_vector_slopes(
    R: Matrix, omega: Vector, alpha: Vector, multipliers: Vector, axes: Matrix | None = None
) -> Slopes:
    r"""Those of rows :math:`C\,\log_3 R`, of a rotation (columns: angular velocity).

    Args:
        R: the rotation.
        omega, alpha: body angular velocity (3,) and acceleration (3,).
        multipliers: of the rows (3,).
        axes: C (3, 3); the identity if absent.
    """
    moment = multipliers if axes is None else multipliers @ axes
    _, rate, force, by_point, by_velocity = so3_log_slopes(rotation_log(R), omega, alpha, moment)
    if axes is None:
        return Slopes(rate, force, by_point, by_velocity)
    return Slopes(axes @ rate, force, axes @ by_point, axes @ by_velocity)


def pose_rows(
    pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector, *, moves: bool, turns: bool
) -> TwistRowSlopes:
    """Rows of translation in the axes of the reference, of the rotation vector, or of both.

    Args:
        pose: X.
        twist, acceleration: its body twist (6,), and the derivative of that.
        multipliers: of the rows.
        moves, turns: which rows there are.
    """
    size, k, R = 3 * (moves + turns), 3 * moves, pose.rotation
    D, found = np.zeros((size, 6)), Slopes.zero(size)
    if moves:
        D[:3, :3] = R
        translation_slopes(found, np.eye(3), R, twist, acceleration, multipliers[:3])
    if turns:
        J = np.empty((3, 3))
        rotation_log(R, J)
        D[k:, 3:] = J
        own = rotation_vector_slopes(R, twist[3:], acceleration[3:], multipliers[k:])
        found.rate[k:, 3:], found.by_pose[k:, 3:], found.by_twist[k:, 3:] = own.rate, own.by_pose, own.by_twist
        found.force[3:, 3:] += own.force
    return TwistRowSlopes(D, found)

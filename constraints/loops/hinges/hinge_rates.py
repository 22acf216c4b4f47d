"""Rows of a closure in the form RATES: the velocity and acceleration that a hinge does not leave free."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross
from liegroups.formulas.third_order import se3_ad, se3_coad

from ...functions.frames.slopes import Slopes
from ...robot.model.pinocchio import pin
from .hinge import Hinge, HingeKind, HingeTypeError
from .hinge_fit import hinge_parts, kept_translations
from .pose_map import PoseMap
from .rotation_rows import perpendicular_pair
from .subhinge import Subhinge


def hinge_rates(hinge: Hinge, name: str) -> PoseMap:
    """What the rates of a closure with this hinge measure: as many rows as `hinge_rows`.

    LOCKED: the spatial velocity and acceleration of the successor relative to the predecessor, in the predecessor, as
    anchors of pinocchio have it. The others: velocity and acceleration of the successor's origin across the sliders,
    then angular velocity and acceleration across the pins.

    Args:
        hinge: the hinge.
        name: of the closure, in messages.

    Raises:
        HingeTypeError: a custom hinge, whose rows are those of the fit.
    """
    if hinge.kind is HingeKind.LOCKED:
        return RelativeTwist()
    if hinge.kind is HingeKind.CUSTOM:
        raise HingeTypeError(
            f"'{name}': a custom hinge has no rows in Form.RATES, because they depend on its fit: give Form.DERIVATIVE"
        )
    pins, sliders = hinge_parts(hinge)
    if hinge.kind is HingeKind.HELICAL:
        return AcrossHinge(np.array([*perpendicular_pair(pins[0].axis), pins[0].axis]), pins, pins[0].pitch)
    return AcrossHinge(kept_translations(sliders), pins, 0.0)


@final
class RelativeTwist(PoseMap):
    """The twist of the successor relative to the predecessor, moved to the predecessor; spatial acceleration."""

    size = 6
    __slots__ = ()

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        out[:] = 0.0
        if D is not None:
            D[:] = pose.toActionMatrix()

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        out[:] = pose.toActionMatrix() @ acceleration

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`: the adjoint X changes by X ad."""
        X, found = pose.toActionMatrix(), Slopes.zero(6)
        found.rate[:], found.by_pose[:] = -X @ se3_ad(twist), -X @ se3_ad(acceleration)
        found.force[:] = se3_coad(multipliers @ X)
        return found


@final
class AcrossHinge(PoseMap):
    r"""Velocity of the origin across sliders, and angular velocity across pins.

    .. math:: (N R\,v,\; C(R)\,\omega), \qquad C = R, \quad (n_1, n_2)^T R \quad\text{or}\quad (a \times R\,b)^T R

    for no pin, one about a with :math:`n_1, n_2` across it, and two about a and b; no row for a ball. A screw's advance
    is :math:`a^T R\,v - h\,a^T R\,\omega`.

    Args:
        directions: N, (k, 3), in the predecessor.
        pins: the steps of the hinge that turn.
        pitch: h of a screw [m/rad], whose axis is the last direction; else 0.
    """

    __slots__ = ("_across", "_axes", "_pitch", "directions", "size")

    def __init__(self, directions: Matrix, pins: list[Subhinge], pitch: float) -> None:
        self.directions, self._pitch = directions, pitch
        free = 3 if pins and pins[0].is_ball else len(pins)
        self.size = len(directions) + 3 - free
        self._across: Matrix | None = np.eye(3) if free == 0 else None
        self._axes: tuple[Vector, Vector] | None = None
        if free == 1:
            self._across = np.array(perpendicular_pair(pins[0].axis))
        elif free == 2:
            self._axes = pins[0].axis, pins[1].axis

    def value(self, pose: Any, out: Vector, D: Matrix | None = None) -> None:
        """As `PoseMap.value`."""
        out[:] = 0.0
        if D is None:
            return
        R, k = pose.rotation, len(self.directions)
        D[:k, :3] = self.directions @ R
        if self._pitch:
            D[k - 1, 3:] = -self._pitch * D[k - 1, :3]
        if self._across is not None:
            D[k:, 3:] = self._across @ R
        elif self._axes is not None:
            a, b = self._axes
            D[k, 3:] = cross(a @ R, b)

    def second(self, pose: Any, twist: Vector, acceleration: Vector, out: Vector) -> None:
        """As `PoseMap.second`."""
        R, k = pose.rotation, len(self.directions)
        v, w, alpha = twist[:3], twist[3:], acceleration[3:]
        out[:k] = self.directions @ (R @ (acceleration[:3] + cross(w, v)))
        if self._pitch:
            out[k - 1] -= self._pitch * (self.directions[k - 1] @ (R @ alpha))
        if self._across is not None:
            out[k:] = self._across @ (R @ alpha)
        elif self._axes is not None:
            a, b = self._axes
            seen = a @ R
            out[k] = cross(seen, b) @ alpha + cross(cross(seen, w), b) @ w

    def slopes(self, pose: Any, twist: Vector, acceleration: Vector, multipliers: Vector) -> Slopes:
        """As `PoseMap.slopes`."""
        found, skew, R, k = Slopes.zero(self.size), pin.skew, pose.rotation, len(self.directions)
        v, w, alpha = twist[:3], twist[3:], acceleration[3:]
        N = self.directions @ R
        found.rate[:k, 3:], found.force[:3, 3:] = -N @ skew(v), skew(multipliers[:k] @ N)
        found.by_pose[:k, 3:] = -N @ skew(acceleration[:3] + cross(w, v))
        found.by_twist[:k, :3], found.by_twist[:k, 3:] = N @ skew(w), -N @ skew(v)
        if self._pitch:
            along = self._pitch * N[k - 1]
            found.rate[k - 1, 3:] += along @ skew(w)
            found.by_pose[k - 1, 3:] += along @ skew(alpha)
            found.force[3:, 3:] -= skew(multipliers[k - 1] * along)
        if self._across is not None:
            C = self._across @ R
            found.rate[k:, 3:], found.by_pose[k:, 3:] = -C @ skew(w), -C @ skew(alpha)
            found.force[3:, 3:] += skew(multipliers[k:] @ C)
        elif self._axes is not None:
            a, b = self._axes
            seen = a @ R
            turned = skew(seen)  # what a turn of the pose changes `seen` by
            across = cross(b, w)
            found.rate[k, 3:] = across @ turned
            found.by_pose[k, 3:] = (cross(b, alpha) + cross(w, across)) @ turned
            found.by_twist[k, 3:] = cross(across, seen) + cross(cross(seen, w), b)
            found.force[3:, 3:] -= multipliers[k] * skew(b) @ turned
        return found

"""Rows of a relative rotation, with two derivatives: what hinges leave of it to be zero."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import asin, pi, sqrt
from typing import final

import numpy as np

from liegroups.arrays import Matrix, Vector
from liegroups.formulas.second_order import cross, so3_log_second
from liegroups.unit_vectors import arcsine, unit_log, unit_log_slopes

from ...functions.enclosures.box import Enclosure
from ...functions.enclosures.smooth import combined
from ...functions.frames.slopes import Slopes, rotation_vector_slopes
from ...robot.model.pinocchio import pin
from ...robot.placement import rotation_log
from .enclosing import PoseOnBox, crossing_of, swing_of


class RotationRows(ABC):
    r"""A function of a rotation R, differentiable twice: :math:`\dot r = D(R)\,\omega`, omega in the body."""

    size: int

    @abstractmethod
    def value(self, R: Matrix, out: Vector, D: Matrix | None = None) -> None:
        """Write r (size,), and D (size, 3) where one is given."""

    @abstractmethod
    def second(self, R: Matrix, omega: Vector, alpha: Vector, out: Vector) -> None:
        """Write the second time derivative of r, at body angular velocity and acceleration omega, alpha."""

    @abstractmethod
    def slopes(self, R: Matrix, omega: Vector, alpha: Vector, multipliers: Vector) -> Slopes:
        """What rates, moments and accelerations change by with R, along body rotations, and with omega."""

    @abstractmethod
    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""


@final
class Turn(RotationRows):
    r"""The whole rotation: :math:`r = C\,\log_3 R`.

    Args:
        axes: C, (3, 3) rotation into other axes; None for the identity.
    """

    size = 3
    __slots__ = ("axes",)

    def __init__(self, axes: Matrix | None = None) -> None:
        self.axes = axes

    def value(self, R: Matrix, out: Vector, D: Matrix | None = None) -> None:
        """As `RotationRows.value`."""
        if self.axes is None:
            out[:] = rotation_log(R, D)
            return
        J = np.empty((3, 3))
        out[:] = self.axes @ rotation_log(R, J)
        if D is not None:
            D[:] = self.axes @ J

    def second(self, R: Matrix, omega: Vector, alpha: Vector, out: Vector) -> None:
        """As `RotationRows.second`."""
        drift = so3_log_second(rotation_log(R), omega, alpha)
        out[:] = drift if self.axes is None else self.axes @ drift

    def slopes(self, R: Matrix, omega: Vector, alpha: Vector, multipliers: Vector) -> Slopes:
        """As `RotationRows.slopes`."""
        return rotation_vector_slopes(R, omega, alpha, multipliers, self.axes)

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        vector = at.rotation_vector
        return vector if self.axes is None else combined(self.axes, vector, at.box)


@final
class Swing(RotationRows):
    r"""How the axis of a pin is tilted: the rotation vector of the least rotation that brings a to R a.

    .. math::
        d = R\,a, \quad r = k(c)\, B\, d, \quad c = a \cdot d, \quad
        k = \frac{\varphi}{\sin\varphi}, \; \varphi = \arccos c

    with B = (-n2, n1) and (n1, n2, a) orthonormal: the components of that vector along n1 and n2. Its norm is the angle
    between a and R a: pi, not 0, where they are opposite.

    Args:
        axis: a (3,), unit, the same numbers in both frames.
        successor_axis: the axis in the successor where it is other numbers there.
    """

    size = 2
    __slots__ = ("_turning", "a", "across", "b")

    def __init__(self, axis: Vector, successor_axis: Vector | None = None) -> None:
        self.a, self.b = axis, axis if successor_axis is None else successor_axis
        n1, n2 = perpendicular_pair(axis)
        self.across = np.array([-n2, n1])
        self._turning = -pin.skew(self.b)  # d' = R (omega x b)

    def value(self, R: Matrix, out: Vector, D: Matrix | None = None) -> None:
        """As `RotationRows.value`."""
        d = R.dot(self.b)
        c, x = float(self.a.dot(d)), self.across.dot(d)
        k, k1, _ = unit_log(c)
        if c > -0.9:
            out[:] = k * x
        else:  # the angle from the sine: near a half turn the cosine does not tell
            s = sqrt(float(x.dot(x)))
            out[:] = (pi - asin(min(s, 1.0))) * (x / s if s > 1e-12 else np.array([1.0, 0.0]))
        if D is not None:
            G = k * self.across + np.outer(k1 * x, self.a)  # derivative by d
            D[:] = G.dot(R).dot(self._turning)

    def second(self, R: Matrix, omega: Vector, alpha: Vector, out: Vector) -> None:
        """As `RotationRows.second`."""
        b = self.b
        turned = cross(omega, b)
        d, d1 = R @ b, R @ turned
        d2 = R @ (cross(alpha, b) + cross(omega, turned))
        c, c1, c2 = float(self.a @ d), self.a @ d1, self.a @ d2
        k, k1, k2 = unit_log(c)
        x, x1, x2 = self.across @ d, self.across @ d1, self.across @ d2
        out[:] = k * x2 + 2.0 * k1 * c1 * x1 + (k2 * c1 * c1 + k1 * c2) * x

    def slopes(self, R: Matrix, omega: Vector, alpha: Vector, multipliers: Vector) -> Slopes:
        """As `RotationRows.slopes`, by the product rule: a vector R y turns by -R skew(y)."""
        a, B, b = self.a, self.across, self.b
        y1 = cross(omega, b)
        y2 = cross(alpha, b) + cross(omega, y1)
        turned = [-R @ pin.skew(y) for y in (b, y1, y2)]
        (c, c1, c2), (x, x1, x2) = ([axis @ (R @ y) for y in (b, y1, y2)] for axis in (a, B))
        (gc, gc1, gc2), (gx, gx1, gx2) = ([axis @ M for M in turned] for axis in (a, B))
        k, k1, k2, k3 = unit_log_slopes(float(c))
        outer = np.outer
        rate = outer(k2 * c1 * x + k1 * x1, gc) + k1 * (outer(x, gc1) + c1 * gx) + k * gx1
        moment = k * (multipliers @ B) + k1 * float(x @ multipliers) * a
        g = outer(multipliers @ B, k1 * gc) + outer(a, k2 * float(x @ multipliers) * gc + k1 * (multipliers @ gx))
        force = turned[0].T @ g + pin.skew(b) @ pin.skew(moment @ R)
        by_pose = outer(k1 * x2 + 2.0 * k2 * c1 * x1 + (k3 * c1 * c1 + k2 * c2) * x, gc)
        by_pose += outer(2.0 * k1 * x1 + 2.0 * k2 * c1 * x, gc1) + outer(k1 * x, gc2)
        by_pose += (k2 * c1 * c1 + k1 * c2) * gx + 2.0 * k1 * c1 * gx1 + k * gx2
        spun = turned[1] - R @ pin.skew(omega) @ pin.skew(b)
        by_twist = outer(2.0 * (k1 * x1 + k2 * c1 * x), gc) + 2.0 * k1 * c1 * gx
        by_twist += outer(k1 * x, a @ spun) + k * (B @ spun)
        return Slopes(rate, force, by_pose, by_twist)

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        return swing_of(self.a, self.across, self.b, at)


@final
class Cross(RotationRows):
    r"""How far two crossing axes are from a right angle: :math:`r = -\arcsin(a^T R\, b)`, zero on the joint.

    It is the middle angle of :math:`R = R_a(\alpha)\, R_n(r)\, R_b(\beta)`, the rotation that the fitted joint leaves.

    Args:
        a: first axis (3,), unit, in the predecessor.
        b: second axis (3,), unit, in the successor.
    """

    size = 1
    __slots__ = ("_turning", "a", "b")

    def __init__(self, a: Vector, b: Vector) -> None:
        self.a, self.b = a, b
        self._turning = pin.skew(b)

    def value(self, R: Matrix, out: Vector, D: Matrix | None = None) -> None:
        """As `RotationRows.value`."""
        seen = self.a.dot(R)
        r, slope, _ = arcsine(float(seen.dot(self.b)))
        out[0] = -r
        if D is not None:
            D[0] = -slope * self._turning.dot(seen)

    def second(self, R: Matrix, omega: Vector, alpha: Vector, out: Vector) -> None:
        """As `RotationRows.second`."""
        seen, turned = self.a @ R, cross(omega, self.b)
        _, f1, f2 = arcsine(float(seen @ self.b))
        rate = seen @ turned
        out[0] = -f1 * (seen @ (cross(alpha, self.b) + cross(omega, turned))) - f2 * rate * rate

    def slopes(self, R: Matrix, omega: Vector, alpha: Vector, multipliers: Vector) -> Slopes:
        """As `RotationRows.slopes`, by the product rule."""
        b, seen = self.b, self.a @ R
        y1 = cross(omega, b)
        y2 = cross(alpha, b) + cross(omega, y1)
        x, x1, x2 = (float(seen @ y) for y in (b, y1, y2))
        gx, gx1, gx2 = (-seen @ pin.skew(y) for y in (b, y1, y2))
        _, f1, f2 = arcsine(x)
        f3 = f1**3 + 3.0 * x * x * f1**5
        spun = gx1 - seen @ pin.skew(omega) @ pin.skew(b)
        rate = -f2 * x1 * gx - f1 * gx1
        push = float(multipliers[0])
        force = -push * (np.outer(f2 * self._turning.dot(seen), gx) + f1 * pin.skew(b) @ pin.skew(seen))
        by_pose = -(f2 * x2 + f3 * x1 * x1) * gx - f1 * gx2 - 2.0 * f2 * x1 * gx1
        by_twist = -f1 * spun - 2.0 * f2 * x1 * gx
        return Slopes(rate[None], force, by_pose[None], by_twist[None])

    def enclosure(self, at: PoseOnBox) -> Enclosure:
        """As `PoseMap.enclosure`."""
        return crossing_of(self.a, self.b, at)


def perpendicular_pair(axis: Vector) -> tuple[Vector, Vector]:
    """Unit vectors n1, n2 so that (n1, n2, axis) is orthonormal and right-handed.

    n1 is as near to x as can be, or to y where the axis is near x.
    """
    start = np.eye(3)[0 if abs(axis[0]) < 0.9 else 1]
    n1: Vector = start - (start @ axis) * axis
    n1 /= sqrt(float(n1 @ n1))
    n2: Vector = cross(axis, n1)
    return n1, n2

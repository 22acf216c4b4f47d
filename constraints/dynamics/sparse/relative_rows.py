"""Rows of many closures at once, on the relative twists of their frames: one numpy call for all of a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.arrays import Indices, Matrix, Vector
from liegroups.formulas.batch_algebra import cross
from liegroups.unit_vectors import NEAR_HALF_TURN, UNIT_LOG

from ...loops.hinges.pose_map import LogPose, PoseMap, Rod, Split
from ...loops.hinges.rotation_rows import Swing, Turn
from ...robot.model.pinocchio import pin
from .many_vectors import FAR_TURN, pose_logs, turned, turned_back


class RelativeMotions(NamedTuple):
    """Successors seen from predecessors, an entry for each closure.

    Attributes:
        rotation, translation: poses X (k, 3, 3) and (k, 3).
        twist, acceleration: body twists of X and their derivatives at zero joint acceleration (k, 6).
    """

    rotation: Matrix
    translation: Vector
    twist: Vector
    acceleration: Vector

    def of(self, which: Indices) -> RelativeMotions:
        """Those of some closures."""
        return RelativeMotions(*(array[which] for array in self))


class RelativeRows(NamedTuple):
    r"""Rows r of relative poses: :math:`\dot r = D\,\nu`.

    Attributes:
        value: r (size,).
        D: (size, 6), on the body twist.
        second: second time derivative of r at zero joint acceleration (size,).
    """

    value: Vector
    D: Matrix
    second: Vector


class RowsOfAKind(ABC):
    """The rows of closures that are computed together.

    Attributes:
        which: which closures (k,).
        rows: their rows in the stack (k, r).
    """

    which: Indices
    rows: Indices

    @abstractmethod
    def evaluate(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """Values (k, r), D (k, r, 6) and second derivatives (k, r) at the motions of these closures."""


def closure_rows(kinds: Sequence[RowsOfAKind], at: RelativeMotions, size: int) -> RelativeRows:
    """The rows of all closures of a stack."""
    out = RelativeRows(np.zeros(size), np.zeros((size, 6)), np.zeros(size))
    for kind in kinds:
        out.value[kind.rows], out.D[kind.rows], out.second[kind.rows] = kind.evaluate(at.of(kind.which))
    return out


def rows_by_kind(maps: Sequence[PoseMap], slices: Sequence[slice]) -> list[RowsOfAKind]:
    """Pose maps of closures, sorted by what computes them: points, pins, sliders, rods, locked ones, and the others."""
    sorts: dict[Any, list[int]] = {}
    for i, pose_map in enumerate(maps):
        sorts.setdefault(_kind(pose_map), []).append(i)
    found: list[RowsOfAKind] = []
    for (kind, size), members in sorts.items():
        which = np.array(members, dtype=np.intp)
        first = np.array([slices[i].start for i in members], dtype=np.intp)
        rows: Indices = first[:, None] + np.arange(size, dtype=np.intp)
        own: list[Any] = [maps[i] for i in members]
        found.append(kind(which, rows, own))
    return found


def _kind(pose_map: PoseMap) -> tuple[type[Any], int]:
    size = pose_map.size
    if isinstance(pose_map, Rod):
        return _Rods, size
    if isinstance(pose_map, Split):
        if pose_map.rotation is None:
            return _Points, size
        if isinstance(pose_map.rotation, Swing):
            return _Pins, size
        if isinstance(pose_map.rotation, Turn):
            return _Sliders, size
    if isinstance(pose_map, LogPose):
        return _Locked, size
    return _OneByOne, size


@final
class _Rods(RowsOfAKind):
    """One row each: half the squared distance less that of the length."""

    def __init__(self, which: Indices, rows: Indices, maps: Sequence[Rod]) -> None:
        self.which, self.rows = which, rows
        self._lengths = np.array([rod.length for rod in maps])

    def evaluate(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """As `RowsOfAKind.evaluate`."""
        p = turned_back(at.rotation, at.translation)
        D = np.zeros((p.shape[0], 1, 6))
        D[:, 0, :3] = p
        v, change = at.twist[:, :3], _change(at)
        value = 0.5 * ((p * p).sum(1) - self._lengths * self._lengths)
        return value[:, None], D, ((v * v).sum(1) + (p * change).sum(1))[:, None]


@final
class _Points(RowsOfAKind):
    """Rows of the translation, in the axes of the predecessor."""

    def __init__(self, which: Indices, rows: Indices, maps: Sequence[Split]) -> None:
        self.which, self.rows = which, rows
        self._directions = np.array([split.directions for split in maps])

    def evaluate(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """As `RowsOfAKind.evaluate`."""
        N = self._directions
        D = np.zeros((*N.shape[:2], 6))
        D[:, :, :3] = N @ at.rotation
        return turned(N, at.translation), D, turned(N, turned(at.rotation, _change(at)))


@final
class _Pins(RowsOfAKind):
    """Rows of the translation, then of the swing of an axis: as `Split` with `Swing`."""

    def __init__(self, which: Indices, rows: Indices, maps: Sequence[Any]) -> None:
        swings: list[Swing] = [split.rotation for split in maps]
        self.which, self.rows = which, rows
        self._points = _Points(which, rows[:, :-2], maps)
        self._a, self._b = np.array([swing.a for swing in swings]), np.array([swing.b for swing in swings])
        self._across = np.array([swing.across for swing in swings])

    def evaluate(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """As `RowsOfAKind.evaluate`."""
        points, D, seconds = self._points.evaluate(at)
        swing, slope, second = self._swing(at)
        rotations = np.zeros((*swing.shape, 6))
        rotations[:, :, 3:] = slope
        return _both(points, swing), _both(D, rotations), _both(seconds, second)

    def _swing(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """The formulas of `Swing`."""
        a, b, R, B = self._a, self._b, at.rotation, self._across
        w, alpha = at.twist[:, 3:], at.acceleration[:, 3:]
        moved = cross(w, b)
        d, d1, d2 = turned(R, b), turned(R, moved), turned(R, cross(alpha, b) + cross(w, moved))
        c, c1, c2 = ((a * x).sum(1)[:, None] for x in (d, d1, d2))
        x, x1, x2 = turned(B, d), turned(B, d1), turned(B, d2)
        k, k1, k2 = unit_logs(c)
        value = k * x
        back = c[:, 0] <= -0.9
        if back.any():  # near a half turn the cosine does not tell the angle
            s = np.sqrt((x[back] ** 2).sum(1))[:, None]
            along = np.where(s > 1e-12, x[back] / np.maximum(s, 1e-12), [1.0, 0.0])
            value[back] = (np.pi - np.arcsin(np.minimum(s, 1.0))) * along
        G = (k[:, :, None] * B + (k1 * x)[:, :, None] * a[:, None, :]) @ R
        slope = cross(np.broadcast_to(b[:, None, :], G.shape), G)
        return value, slope, k * x2 + 2.0 * k1 * c1 * x1 + (k2 * c1 * c1 + k1 * c2) * x


@final
class _Sliders(RowsOfAKind):
    """Rows of the translation, then the rotation vector: as `Split` with `Turn`."""

    def __init__(self, which: Indices, rows: Indices, maps: Sequence[Any]) -> None:
        turns: list[Turn] = [split.rotation for split in maps]
        self.which, self.rows = which, rows
        self._points, self._one_by_one = _Points(which, rows[:, :-3], maps), _OneByOne(which, rows, maps)
        self._axes = np.array([np.eye(3) if turn.axes is None else turn.axes for turn in turns])

    def evaluate(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """As `RowsOfAKind.evaluate`."""
        if turns_far(at.rotation):
            return self._one_by_one.evaluate(at)
        points, D, seconds = self._points.evaluate(at)
        log, slope, second = pose_logs(at.rotation, np.zeros_like(at.translation), at.twist, at.acceleration)
        rotations = np.zeros((points.shape[0], 3, 6))
        rotations[:, :, 3:] = self._axes @ slope[:, 3:, 3:]
        value, second = turned(self._axes, log[:, 3:]), turned(self._axes, second[:, 3:])
        return _both(points, value), _both(D, rotations), _both(seconds, second)


@final
class _Locked(RowsOfAKind):
    """The logarithms of poses: as `LogPose`."""

    def __init__(self, which: Indices, rows: Indices, maps: Sequence[PoseMap]) -> None:
        self.which, self.rows, self._one_by_one = which, rows, _OneByOne(which, rows, maps)

    def evaluate(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """As `RowsOfAKind.evaluate`."""
        return self._one_by_one.evaluate(at) if turns_far(at.rotation) else pose_logs(*at)


@final
class _OneByOne(RowsOfAKind):
    """Kinds that have no formula for many: their own, one after the other."""

    def __init__(self, which: Indices, rows: Indices, maps: Sequence[PoseMap]) -> None:
        self.which, self.rows, self._maps = which, rows, tuple(maps)

    def evaluate(self, at: RelativeMotions) -> tuple[Vector, Matrix, Vector]:
        """As `RowsOfAKind.evaluate`."""
        value, second = np.zeros(self.rows.shape), np.zeros(self.rows.shape)
        D = np.zeros((*self.rows.shape, 6))
        for i, pose_map in enumerate(self._maps):
            pose = pin.SE3(np.ascontiguousarray(at.rotation[i]), np.ascontiguousarray(at.translation[i]))
            pose_map.value(pose, value[i], D[i])
            pose_map.second(pose, at.twist[i], at.acceleration[i], second[i])
        return value, D, second


def _both(points: Matrix, rotations: Matrix) -> Matrix:
    """Rows of translations, then those of rotations."""
    return np.concatenate([points, rotations], 1)


def turns_far(R: Matrix) -> bool:
    """Whether a rotation is by more than `FAR_TURN`."""
    return bool((np.trace(R, axis1=1, axis2=2) < 1.0 + 2.0 * np.cos(FAR_TURN)).any())


def _change(at: RelativeMotions) -> Vector:
    """Classical accelerations of the origins, in the axes of the successors."""
    return at.acceleration[:, :3] + cross(at.twist[:, 3:], at.twist[:, :3])


def unit_logs(c: Vector) -> tuple[Vector, Vector, Vector]:
    r""":math:`\varphi/\sin\varphi` with :math:`\varphi = \arccos c`, and its two derivatives by c; any shape."""
    c = np.maximum(c, -1.0 + 0.5 * NEAR_HALF_TURN**2)
    y = 1.0 - c
    k, k1, k2 = np.zeros_like(y), np.zeros_like(y), np.zeros_like(y)
    far = y >= 0.05
    small = np.where(far, 0.0, y)
    for term in UNIT_LOG:
        k2 = k2 * small + 2.0 * k1
        k1 = k1 * small + k
        k = k * small + term
    k1 = -k1
    if far.any():
        cosine = c[far]
        square = y[far] * (1.0 + cosine)
        k[far] = np.arccos(cosine) / np.sqrt(square)
        k1[far] = (cosine * k[far] - 1.0) / square
        k2[far] = (k[far] + 3.0 * cosine * k1[far]) / square
    return k, k1, k2

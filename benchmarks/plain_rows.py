"""Rows of constraints by plain pinocchio: what a random constraint asks for, and how far a configuration is from it.

Nothing here calls the library: values are written from their formulas with pinocchio's forward kinematics, `log3`,
`log6` and `difference`, and compared to intervals row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from random_trees import Coordinates

__all__ = ["HALF_TURN", "Body", "Place", "Wanted", "group_rows", "value_of"]

Vector = NDArray[np.float64]

HALF_TURN = np.pi - 1e-6
"""From this angle on the sign of a rotation's logarithm is a matter of rounding [rad]."""


@dataclass(frozen=True, eq=False)
class Body:
    """A frame: a joint by index and a placement on it."""

    joint: int
    placement: Any


class Place:
    """Pinocchio at one configuration, moved from one to the next.

    Args:
        model: the tree.
        extra: number of variables after the tree's.
    """

    def __init__(self, model: Any, extra: int = 0) -> None:
        self.model, self.data, self.extra = model, model.createData(), extra
        self.coordinates = Coordinates.of(model)
        self.masses = np.array([inertia.mass for inertia in model.inertias])
        self.levers = [inertia.lever.copy() for inertia in model.inertias]
        self.turned = self.other = False
        self.q: Vector = np.zeros(0)

    def at(self, q: Vector) -> None:
        """Go to q; `turned` says from then on whether some rotation met was half a turn."""
        self.q, self.turned = q, False
        pin.forwardKinematics(self.model, self.data, q[: self.model.nq])

    def pose(self, body: Body) -> Any:
        return self.data.oMi[body.joint] * body.placement

    def center(self, joints: tuple[int, ...]) -> Vector:
        """Centre of the bodies of some joints, of all if there are none."""
        chosen = joints or range(1, self.model.njoints)
        total = sum(self.masses[i] * self.data.oMi[i].act(self.levers[i]) for i in chosen if self.masses[i])
        return np.asarray(total) / sum(self.masses[i] for i in chosen)

    def numbers(self) -> Vector:
        """The numbers of q that integrating adds to, by tangent column, the extra variables last."""
        x, where = np.zeros(self.model.nv + self.extra), self.coordinates
        x[where.columns[where.flat]] = self.q[where.entries[where.flat]]
        x[self.model.nv :] = self.q[self.model.nq :]
        return x

    def log3(self, R: Any) -> Vector:
        """Rotation vector; with `other`, of the two that half a turn has, the one that pinocchio does not give."""
        w = pin.log3(R)
        if float(w @ w) > HALF_TURN**2:
            self.turned = True
            if self.other:
                w = w * (1.0 - 2.0 * np.pi / np.sqrt(w @ w))
        return w

    def log6(self, M: Any) -> Vector:
        w, t = self.log3(M.rotation), M.translation
        if not (self.other and w @ w > HALF_TURN**2):
            return pin.log6(M).vector
        angle = float(np.sqrt(w @ w))
        c = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
        return np.concatenate([t - 0.5 * np.cross(w, t) + c * np.cross(w, np.cross(w, t)), w])


@dataclass(frozen=True, eq=False)
class Wanted:
    """One constraint as data.

    Attributes:
        kind: what is measured, a key of `VALUES`.
        bodies: its frames; of a relative function a, then b.
        group: "R", "SO3", "SE3" or "R3xSO3": where values live.
        numbers: further numbers of the function (a matrix, a reference, joints), by name.
        joints: joints that count, by index.
        rhs: right-hand side: numbers in R, a placement otherwise.
        lower, upper, scale: (n,) interval and factor by row; infinite where masked.
        mask: (n,) rows that count.
        words: (n) comparison by row: the library's name, or None for an interval.
        level: its level.
    """

    kind: str
    bodies: tuple[Body, ...] = ()
    group: str = "R"
    numbers: dict[str, Any] = field(default_factory=dict)
    joints: tuple[int, ...] = ()
    rhs: Any = None
    lower: Vector = field(default_factory=lambda: np.zeros(0))
    upper: Vector = field(default_factory=lambda: np.zeros(0))
    scale: Vector = field(default_factory=lambda: np.zeros(0))
    mask: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    words: tuple[str | None, ...] = ()
    level: int = 0

    def rows(self, place: Place) -> Vector:
        """Rows of the logarithm, before intervals."""
        return group_rows(place, self.group, value_of(place, self), self.rhs)

    def error(self, place: Place) -> float:
        """Norm of the signed, scaled distances to the intervals, over the rows that count; infinite where undefined.

        Half a turn has two logarithms: the one that suits an inequality better counts.
        """
        error = self._error(place)
        if place.turned:
            place.other = True
            error = min(error, self._error(place))
            place.other = False
        return error

    def _error(self, place: Place) -> float:
        rows = self.rows(place)
        plain = bool(self.mask.all()) and not (self.lower.any() or self.upper.any())
        if self.kind == "object" and self.rhs is not None and plain:
            rows[3:] = nearest(rows[3:], rows[3:] + self.rhs[3:])
        e = (rows - np.clip(rows, self.lower, self.upper))[self.mask] * self.scale[self.mask]
        square = float(e @ e)
        return float(np.sqrt(square)) if square == square else np.inf


def nearest(error: Vector, w: Vector) -> Vector:
    """A difference from w, or from the other rotation vectors of that rotation: the shortest, for poses computed."""
    angle = float(np.sqrt(w @ w))
    turns = [error + 2.0 * np.pi * k * w / angle for k in (-1, 0, 1)] if angle > 0.0 else [error]
    return min(turns, key=lambda e: float(e @ e))


def group_rows(place: Place, group: str, value: Any, rhs: Any) -> Vector:
    """log(rhs^-1 value) in the group."""
    if group == "R":
        return value - rhs if rhs is not None else value
    M = value if rhs is None else rhs.actInv(value)
    if group == "SE3":
        return place.log6(M)
    w = place.log3(M.rotation)
    if group == "SO3":
        return w
    start = np.zeros(3) if rhs is None else rhs.translation
    return np.concatenate([value.translation - start, w])


def value_of(place: Place, wanted: Wanted) -> Any:
    """h(q): numbers in R, a placement otherwise."""
    return VALUES[wanted.kind](place, wanted)


def _relative(place: Place, wanted: Wanted) -> Any:
    """aMb; a is fixed in the world where its joint is 0."""
    a, b = wanted.bodies
    return place.pose(a).actInv(place.pose(b))


def _transformation(place: Place, wanted: Wanted) -> Vector:
    M = _relative(place, wanted)
    return np.concatenate([M.translation, place.log3(M.rotation)])


def _between_feet(place: Place, wanted: Wanted) -> Vector:
    left, right, reference = (place.pose(body) for body in wanted.bodies)
    c, u = place.center(wanted.joints), right.translation - left.translation
    middle = 0.5 * (left.translation + right.translation)
    side = reference.rotation.T @ np.cross(c - middle, u)
    rows = [c[2] - reference.translation[2], side[2], (c - left.translation) @ u, (c - right.translation) @ u]
    return np.array(rows)


def _relative_center(place: Place, wanted: Wanted) -> Vector:
    return place.pose(wanted.bodies[0]).actInv(place.center(wanted.joints)) - wanted.numbers["reference"]


def _affine(place: Place, wanted: Wanted) -> Vector:
    return wanted.numbers["A"] @ place.numbers() + wanted.numbers["b"]


def waves(x: Vector) -> Vector:
    """Sums of sines and products of three numbers."""
    return np.array([np.sin(x[0]) + x[1] * x[2], np.cos(x[1] - x[0]) + 0.3 * x[2]])


def _waves(place: Place, wanted: Wanted) -> Vector:
    return waves(place.q[wanted.numbers["entries"]])


def _root(place: Place, wanted: Wanted) -> Vector:
    """The root of an entry; it is not a number where the entry is too small."""
    x = place.q[wanted.numbers["entry"]] - wanted.numbers["start"]
    return np.array([np.sqrt(x) if x >= 0.0 else np.nan])


def _locked(place: Place, wanted: Wanted) -> Vector:
    """log(value^-1 q) of one joint: pinocchio's difference from the same q with the value in its place."""
    q, joint = place.q[: place.model.nq], place.model.joints[wanted.numbers["joint"]]
    held = q.copy()
    held[joint.idx_q : joint.idx_q + joint.nq] = wanted.numbers["value"]
    way: Vector = pin.difference(place.model, held, q)[joint.idx_v : joint.idx_v + joint.nv]
    if (joint.nq, joint.nv) == (7, 6) and float(way[3:] @ way[3:]) > HALF_TURN**2:
        return place.log6(pin.exp6(way))
    if (joint.nq, joint.nv) == (4, 3) and joint.shortname() == "JointModelSpherical":
        return place.log3(pin.exp3(way)) if float(way @ way) > HALF_TURN**2 else way
    return way


VALUES: dict[str, Callable[[Place, Wanted], Any]] = {
    "position": lambda place, wanted: _relative(place, wanted).translation.copy(),
    "orientation": lambda place, wanted: place.log3(_relative(place, wanted).rotation),
    "transformation": _transformation,
    "pose": _relative,
    "center": lambda place, wanted: place.center(wanted.joints),
    "relative_center": _relative_center,
    "between_feet": _between_feet,
    "affine": _affine,
    "waves": _waves,
    "root": _root,
    "locked": _locked,
    "coupled": _affine,
    "object": _transformation,
}

"""Rows of constraints by plain pinocchio: what a random constraint asks for, and how far configurations are from it.

Nothing here calls the library: values are written from their formulas with pinocchio's forward kinematics, `log3`,
`log6` and `difference`, and compared to intervals row by row. Pinocchio sees one configuration after the other; what is
made of its placements is written for many of them at once, along the first axis of every array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from random_trees import Coordinates, parts

__all__ = ["HALF_TURN", "Body", "Place", "Polygon", "Poses", "Wanted", "group_rows", "relative", "touch", "value_of"]

Vector = NDArray[np.float64]
Many = NDArray[np.float64]
"""A row for each configuration; a single one stands for all."""

HALF_TURN = np.pi - 1e-6
"""From this angle on the sign of a rotation's logarithm is a matter of rounding [rad]."""


@dataclass(frozen=True, eq=False)
class Poses:
    """Placements of a frame, one for each configuration, with pinocchio's verbs.

    Attributes:
        rotation: (n, 3, 3).
        translation: (n, 3).
    """

    rotation: Many
    translation: Many

    @staticmethod
    def of(M: Any) -> Poses:
        """A `pinocchio.SE3`, which stands for all configurations."""
        return Poses(M.rotation[None].copy(), M.translation[None].copy())

    def first(self) -> Any:
        """That of the first configuration, a `pinocchio.SE3`."""
        return pin.SE3(self.rotation[0], self.translation[0])

    def turn(self, points: Many) -> Many:
        """R p, without the translation."""
        return (self.rotation @ points[..., None])[..., 0]

    def turn_back(self, points: Many) -> Many:
        """R^T p."""
        return (self.rotation.transpose(0, 2, 1) @ points[..., None])[..., 0]

    def act(self, points: Many) -> Many:
        return self.turn(points) + self.translation

    def after(self, other: Poses) -> Poses:
        """self * other."""
        return Poses(self.rotation @ other.rotation, self.act(other.translation))

    def act_back(self, points: Many) -> Many:
        """Points of the world in the frame."""
        return self.turn_back(points - self.translation)

    def seen(self, other: Poses) -> Poses:
        """self^-1 * other."""
        return Poses(self.rotation.transpose(0, 2, 1) @ other.rotation, self.act_back(other.translation))


@dataclass(frozen=True, eq=False)
class Body:
    """A frame: a joint by index and a placement on it."""

    joint: int
    placement: Any


class Place:
    """Pinocchio at some configurations, moved from these to the next.

    Args:
        model: the tree.
        extra: number of variables after the tree's.
    """

    def __init__(self, model: Any, extra: int = 0) -> None:
        self.model, self.data, self.extra = model, model.createData(), extra
        self.coordinates = Coordinates.of(model)
        self.masses = np.array([inertia.mass for inertia in model.inertias])
        self.turned: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self.other = False
        self.q: Many = np.zeros((0, model.nq))
        self._joints: dict[int, tuple[Any, Any]] = {}  # those asked for: views of what pinocchio computes
        self._poses: dict[int, Poses] = {}
        self._weighed: dict[tuple[int, ...], Any] = {}

    def at(self, Q: Many) -> None:
        """Go to the configurations Q (n, nq); `turned` says from then on of which some rotation met was half a turn."""
        self.q, self.turned = Q, np.zeros(len(Q), dtype=np.bool_)
        self._poses.clear()

    def joint(self, joint: int) -> Poses:
        """Placements of a joint in the world."""
        if joint not in self._joints:
            self._joints[joint] = (self.data.oMi[joint].rotation, self.data.oMi[joint].translation)
            self._poses.clear()
        if not self._poses:
            n, views = len(self.q), list(self._joints.values())
            R, t = np.empty((len(views), n, 3, 3)), np.empty((len(views), n, 3))
            for i, q in enumerate(self.q[:, : self.model.nq]):
                pin.forwardKinematics(self.model, self.data, q)
                for k, (rotation, translation) in enumerate(views):
                    R[k, i], t[k, i] = rotation, translation
            self._poses = {j: Poses(R[k], t[k]) for k, j in enumerate(self._joints)}
        return self._poses[joint]

    def pose(self, body: Body) -> Poses:
        return self.joint(body.joint).after(Poses.of(body.placement))

    def center(self, joints: Iterable[int]) -> Many:
        """Centre of the bodies of some joints, of all that move if there are none.

        It is that of a model in which nothing else weighs; pinocchio leaves out what the universe has.
        """
        chosen = tuple(joints) or tuple(range(1, self.model.njoints))
        if chosen not in self._weighed:
            model = pin.Model(self.model)
            for i in set(range(model.njoints)) - {*chosen}:
                model.inertias[i] = pin.Inertia.Zero()
            self._weighed[chosen] = model, model.createData()
        model, data = self._weighed[chosen]
        moving, fixed = (sum(self.masses[i] for i in chosen if (i == 0) == still) for still in (False, True))
        rows = self.q[:, : model.nq] if moving else ()
        centers = [pin.centerOfMass(model, data, q, False) for q in rows] or np.zeros((len(self.q), 3))
        total = moving * stacked(centers, 3) + fixed * model.inertias[0].lever
        return total / (moving + fixed)

    def numbers(self) -> Many:
        """The numbers of q that integrating adds to, by tangent column, the extra variables last."""
        x, where = np.zeros((len(self.q), self.model.nv + self.extra)), self.coordinates
        x[:, where.columns[where.flat]] = self.q[:, where.entries[where.flat]]
        x[:, self.model.nv :] = self.q[:, self.model.nq :]
        return x

    def log3(self, R: Many) -> Many:
        """Rotation vectors; with `other`, of the two that half a turn has, the one that pinocchio does not give."""
        w = log3s(R)
        angles = np.sqrt((w * w).sum(axis=1))
        half = angles > HALF_TURN
        self.turned |= half
        if self.other:
            w[half] *= 1.0 - 2.0 * np.pi / angles[half, None]
        return w

    def log6(self, M: Poses) -> Many:
        w, t = self.log3(M.rotation), M.translation
        rows = stacked([pin.log6(pin.SE3(*one)).vector for one in zip(M.rotation, t, strict=True)], 6)
        half = np.sqrt((w * w).sum(axis=1)) > HALF_TURN
        if self.other and half.any():
            w, t = w[half], t[half]
            angle = np.sqrt((w * w).sum(axis=1, keepdims=True))
            c = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
            across = np.cross(w, t)
            rows[half] = np.concatenate([t - 0.5 * across + c * np.cross(w, across), w], axis=1)
        return rows


def stacked(rows: Any, size: int) -> Many:
    """Rows (n, size), of which there may be none."""
    return np.array(rows, dtype=np.float64).reshape(-1, size)


def log3s(R: Many) -> Many:
    """Rotation vectors (n, 3) of rotations (n, 3, 3)."""
    return stacked([pin.log3(one) for one in R], 3)


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

    def rows(self, place: Place) -> Many:
        """Rows of the logarithm, before intervals."""
        return group_rows(place, self.group, value_of(place, self), self.rhs)

    def errors(self, place: Place) -> Vector:
        """(n,) norms of the signed, scaled distances to the intervals, over the rows that count.

        Infinite where undefined. Half a turn has two logarithms: the one that suits an inequality better counts.
        """
        errors = self._errors(place)
        if place.turned.any():
            turned, place.other = place.turned.copy(), True
            errors = np.where(turned, np.minimum(errors, self._errors(place)), errors)
            place.other = False
        return errors

    def _errors(self, place: Place) -> Vector:
        rows = self.rows(place)
        plain = bool(self.mask.all()) and not (self.lower.any() or self.upper.any())
        if self.kind == "object" and self.rhs is not None and plain:
            rows[:, 3:] = nearest(rows[:, 3:], rows[:, 3:] + self.rhs[3:])
        e = (rows - np.clip(rows, self.lower, self.upper))[:, self.mask] * self.scale[self.mask]
        errors = np.sqrt((e * e).sum(axis=1))
        return np.where(np.isnan(errors), np.inf, errors)


def nearest(error: Many, w: Many) -> Many:
    """Differences from w, or from the other rotation vectors of that rotation: the shortest, for poses computed."""
    angle = np.sqrt((w * w).sum(axis=1, keepdims=True))
    turn = 2.0 * np.pi * np.divide(w, angle, out=np.zeros_like(w), where=angle > 0.0)
    turns = np.stack([error, error - turn, error + turn])
    return turns[(turns * turns).sum(axis=2).argmin(axis=0), np.arange(len(error))]


def group_rows(place: Place, group: str, value: Any, rhs: Any) -> Many:
    """log(rhs^-1 value) in the group."""
    if group == "R":
        return value - rhs if rhs is not None else value
    M = value if rhs is None else Poses.of(rhs).seen(value)
    if group == "SE3":
        return place.log6(M)
    w = place.log3(M.rotation)
    if group == "SO3":
        return w
    start = np.zeros(3) if rhs is None else rhs.translation
    return np.concatenate([value.translation - start, w], axis=1)


def value_of(place: Place, wanted: Wanted) -> Any:
    """h(q): numbers in R, a placement otherwise."""
    return VALUES[wanted.kind](place, wanted)


def relative(place: Place, wanted: Wanted) -> Poses:
    """aMb; a is fixed in the world where its joint is 0."""
    a, b = wanted.bodies
    return place.pose(a).seen(place.pose(b))


def _transformation(place: Place, wanted: Wanted) -> Many:
    M = relative(place, wanted)
    return np.concatenate([M.translation, place.log3(M.rotation)], axis=1)


def _contact(place: Place, wanted: Wanted) -> Many:
    """Height, way to the polygon, tilt; then place and turn against those of a reference, in any axes."""
    given = wanted.numbers
    error, stands, turns = touch(relative(place, wanted), *given["pair"])
    error[:, 0] -= given["margin"]
    return np.concatenate([error, stands - given["stood"], log3s(turns @ given["turned"].T)], axis=1)


Polygon = tuple[Vector, Vector, Vector]
"""Vertices, their mean, and the normal."""


def touch(M: Poses, floor: Polygon, sole: Polygon) -> tuple[Many, Many, Many]:
    """Errors of a contact (height, way to the polygon, tilt); the nearest place; the rotation without the tilt."""
    corners, _, normal = floor
    centre, down = M.act(sole[1]), M.turn(sole[2])
    height = (centre - corners[0]) @ normal
    flat = centre - height[:, None] * normal
    edges, gaps = np.roll(corners, -1, axis=0) - corners, flat[:, None] - corners
    along = (gaps * edges).sum(axis=2) / (edges * edges).sum(axis=1)
    places = corners + np.clip(along, 0.0, 1.0)[..., None] * edges
    near = np.linalg.norm(flat[:, None] - places, axis=2).argmin(axis=1)
    outside = (np.cross(normal, edges) * gaps).sum(axis=2).min(axis=1) < 0.0
    place = np.where(outside[:, None], places[np.arange(len(flat)), near], flat)
    swing = np.array([pin.Quaternion.FromTwoVectors(-normal, one).matrix() for one in down]).reshape(-1, 3, 3)
    tilt = np.linalg.norm(log3s(swing), axis=1)
    error = np.concatenate([height[:, None], flat - place, tilt[:, None]], axis=1)
    return error, place, swing.transpose(0, 2, 1) @ M.rotation


def _between_feet(place: Place, wanted: Wanted) -> Many:
    left, right, reference = (place.pose(body) for body in wanted.bodies)
    c, u = place.center(wanted.joints), right.translation - left.translation
    middle = 0.5 * (left.translation + right.translation)
    height, side = (c - reference.translation)[:, 2], reference.turn_back(np.cross(c - middle, u))[:, 2]
    along = [((c - foot.translation) * u).sum(axis=1) for foot in (left, right)]
    return np.stack([height, side, *along], axis=1)


def _relative_center(place: Place, wanted: Wanted) -> Many:
    return place.pose(wanted.bodies[0]).act_back(place.center(wanted.joints)) - wanted.numbers["reference"]


def _affine(place: Place, wanted: Wanted) -> Many:
    return place.numbers() @ wanted.numbers["A"].T + wanted.numbers["b"]


def waves(x: Vector) -> Vector:
    """Sums of sines and products of three numbers, those of the last axis."""
    x, y, z = x[..., 0], x[..., 1], x[..., 2]
    return np.stack([np.sin(x) + y * z, np.cos(y - x) + 0.3 * z], axis=-1)


def _waves(place: Place, wanted: Wanted) -> Many:
    return waves(place.q[:, wanted.numbers["entries"]])


def _root(place: Place, wanted: Wanted) -> Many:
    """The root of an entry; it is not a number where the entry is too small."""
    x = place.q[:, [wanted.numbers["entry"]]] - wanted.numbers["start"]
    return np.where(x >= 0.0, np.sqrt(np.maximum(x, 0.0)), np.nan)


def _locked(place: Place, wanted: Wanted) -> Many:
    """log(value^-1 q) of one joint: pinocchio's difference from the same q with the value in its place."""
    Q, joint = place.q[:, : place.model.nq], place.model.joints[wanted.numbers["joint"]]
    if joint.nq == joint.nv == 1:
        return Q[:, [joint.idx_q]] - wanted.numbers["value"]
    held, columns = Q.copy(), slice(joint.idx_v, joint.idx_v + joint.nv)
    held[:, joint.idx_q : joint.idx_q + joint.nq] = wanted.numbers["value"]
    ways = [pin.difference(place.model, one, other)[columns] for one, other in zip(held, Q, strict=True)]
    way, at = stacked(ways, joint.nv), 0
    for part in parts(joint):
        if (part.nq, part.nv) == (7, 6) or str(part.shortname()) == "JointModelSpherical":
            way[:, at : at + part.nv] = _turned(place, way[:, at : at + part.nv])
        at += part.nv
    return way


def _turned(place: Place, way: Many) -> Many:
    """Logarithms (n, 3) of rotations or (n, 6) of poses, those of half a turn as `Place` gives them."""
    half = np.sqrt((way[:, -3:] ** 2).sum(axis=1)) > HALF_TURN
    if not half.any():
        return way
    R = np.array([pin.exp3(one) for one in way[:, -3:]])
    if way.shape[1] == 3:
        rows = place.log3(R)
    else:
        rows = place.log6(Poses(R, np.array([pin.exp6(pin.Motion(one)).translation for one in way])))
    return np.where(half[:, None], rows, way)


VALUES: dict[str, Callable[[Place, Wanted], Any]] = {
    "position": lambda place, wanted: relative(place, wanted).translation,
    "orientation": lambda place, wanted: place.log3(relative(place, wanted).rotation),
    "transformation": _transformation,
    "pose": relative,
    "center": lambda place, wanted: place.center(wanted.joints),
    "relative_center": _relative_center,
    "between_feet": _between_feet,
    "affine": _affine,
    "waves": _waves,
    "root": _root,
    "locked": _locked,
    "coupled": _affine,
    "object": _transformation,
    "contact": _contact,
}

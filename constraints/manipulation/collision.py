"""Collisions of configurations and paths: coal, through pinocchio's geometry."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import combinations, pairwise
from math import ceil
from typing import Any, NamedTuple, final

from liegroups.doors import as_mapping, as_name, as_tuple, finite_vector, is_finite_number
from liegroups.frozen import set_fields

from ..arrays import ArrayLike, Vector
from ..errors import (
    ConstraintError,
    DuplicateError,
    ModelError,
    OptionError,
    SpaceMismatchError,
    UnknownNameError,
    WrongObjectError,
)
from ..pool import Pool
from ..robot import Frame, Robot
from ..robot.doors import as_robot
from ..robot.frames import FrameKind
from ..robot.packages import find_resource, robot_data_folder
from ..robot.pinocchio import Model, Placement, pin
from ..robot.placement import as_placement
from .path import Path, StepSize
from .relative_motion import CollisionPair

__all__ = ["Collision", "CollisionModel", "Shape"]

_SIZES = {"Box": 3, "Sphere": 1, "Cylinder": 2, "Capsule": 2}


@final
@dataclass(frozen=True, eq=False)
class Shape:
    """A solid fixed on a frame, for collisions.

    Args:
        name: of the shape.
        kind: "Box" (x, y, z), "Sphere" (radius), "Cylinder" or "Capsule" (radius, length along z).
        size: its measures [m], all positive.
        frame: the frame that carries it; the world by default.
        placement: of its centre on that frame (`pinocchio.SE3`, 4 x 4 matrix, or seven numbers).

    Raises:
        OptionError: a kind that is none, or measures that do not suit it.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    frame: Frame | str = "universe"
    placement: Any = None

    def __post_init__(self) -> None:
        """Check the measures."""
        as_name(self.name, "name of a shape")
        if as_name(self.kind, f"kind of shape '{self.name}'") not in _SIZES:
            raise OptionError(f"kind of shape '{self.name}': expected one of {', '.join(_SIZES)}, got {self.kind!r}")
        given: Any = (self.size,) if is_finite_number(self.size) else self.size
        wanted = f"expected {_SIZES[self.kind]} positive measures of a {self.kind}, got {self.size!r}"
        try:
            size = finite_vector(given, _SIZES[self.kind], f"measures of shape '{self.name}'")
        except ConstraintError as error:
            raise OptionError(f"shape '{self.name}': {wanted}") from error
        if not (size > 0.0).all():
            raise OptionError(f"shape '{self.name}': {wanted}")
        set_fields(
            self, size=tuple(size.tolist()), placement=as_placement(self.placement, f"placement of shape '{self.name}'")
        )

    def solid(self) -> Any:
        """The solid of coal."""
        return getattr(import_module("coal"), self.kind)(*self.size)


class Collision(NamedTuple):
    """Two shapes that meet.

    Attributes:
        a, b: their names.
        time: on a path [s]; None at a configuration.
    """

    a: str
    b: str
    time: float | None = None


@final
class CollisionModel:
    """The shapes of a robot and of the objects around it, and which pairs must not meet. Immutable.

    Looked at are all pairs of shapes on different joints, but for those of a joint and the one it hangs on (neighbours
    touch), less what `without` leaves out.

    Args:
        robot: the robot, or the system of robots and objects.
        shapes: solids of objects, floors, tools.
        urdfs: files whose collision geometry counts: one file, or files by the name of the part of a system.
        packages: folders in which meshes are looked for.
        margin: shapes closer than this count as in collision [m]; negative lets them overlap that much.
        margins: other margins, by pair of names of shapes.
        ignored: pairs of names of shapes that may meet.

    Attributes:
        names, joints: of all shapes, and of the joints that carry them ("universe" is the world).
        pairs: names of those that are looked at.

    Raises:
        FileError: a file that is missing or cannot be read.
        ModelError: a file without collision geometry.
        DuplicateError: two shapes of one name.
        UnknownNameError: a pair with a name that no shape has.
        UnknownFrameError: a shape on a frame that the robot does not have.
    """

    def __init__(
        self,
        robot: Robot,
        shapes: Iterable[Shape] = (),
        urdfs: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
        packages: Iterable[str | os.PathLike[str]] = (),
        *,
        margin: float = 0.0,
        margins: Mapping[tuple[str, str], float] | None = None,
        ignored: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.robot = as_robot(robot, "robot of a collision model")
        self._shapes = as_tuple(shapes, "shapes of a collision model", "Shape")
        self._urdfs = urdfs
        self._packages = tuple(os.fspath(folder) for folder in packages)
        geometry = pin.GeometryModel()
        for prefix, file in self._files(urdfs).items():
            _add_urdf(geometry, self.robot, prefix, file, self._packages)
        for shape in self._shapes:
            if not isinstance(shape, Shape):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise WrongObjectError("shape of a collision model", "a Shape", shape)
            frame = self.robot.frame(shape.frame)
            _add(geometry, shape.name, frame.joint, frame.placement * shape.placement, shape.solid())
        solids = list(geometry.geometryObjects)
        self.names: tuple[str, ...] = tuple(str(solid.name) for solid in solids)
        self.joints: tuple[str, ...] = tuple(str(self.robot.model.names[solid.parentJoint]) for solid in solids)
        distance = _distance(margin, "margin of a collision model")
        together = [(i, j) for i, j in combinations(range(len(solids)), 2) if self._may_meet(solids, i, j)]
        self._take_pairs(geometry, dict.fromkeys(together, distance))
        if ignored != () or margins is not None:
            pairs = as_tuple(ignored, "ignored pairs of a collision model", "pairs of names of shapes")
            chosen = self.without(*pairs).with_margins({} if margins is None else margins)
            self._take_pairs(geometry, chosen._margins)

    def _take_pairs(self, geometry: Any, margins: dict[tuple[int, int], float]) -> None:
        """Look at these pairs of shapes, with their margins."""
        self._geometry, self._margins = geometry.copy(), margins
        self._geometry.removeAllCollisionPairs()
        for i, j in margins:
            self._geometry.addCollisionPair(pin.CollisionPair(i, j))
        self.pairs: tuple[tuple[str, str], ...] = tuple((self.names[i], self.names[j]) for i, j in margins)
        self._pool = Pool(partial(_memory, self.robot.model, self._geometry, tuple(margins.values())))

    @staticmethod
    def _files(urdfs: Any) -> dict[str, Any]:
        if urdfs is None:
            return {}
        if isinstance(urdfs, str | os.PathLike):
            return {"": urdfs}
        return dict(as_mapping(urdfs, "urdfs of a collision model", "of names of parts to files"))

    def _may_meet(self, solids: list[Any], i: int, j: int) -> bool:
        """Whether a pair is looked at: on different joints that are no neighbours, or one is free in the world."""
        model: Any = self.robot.model
        a, b = sorted((int(solids[i].parentJoint), int(solids[j].parentJoint)))
        if a == b:
            return False
        return int(model.parents[b]) != a or (a == 0 and self.robot.space.factors[b - 1].space.name == "SE3")

    def without(self, *pairs: tuple[str, str]) -> CollisionModel:
        """The same model, pairs of shapes (or of all shapes whose names begin like theirs, `"ur5/*"`) left out.

        Raises:
            UnknownNameError: no shape is called so.
        """
        left: set[frozenset[int]] = set()
        for a, b in (_pair(given) for given in pairs):
            left |= {frozenset((i, j)) for i in self._called(a) for j in self._called(b)}
        return self._with({pair: margin for pair, margin in self._margins.items() if frozenset(pair) not in left})

    def with_margins(self, margins: Mapping[tuple[str, str], float]) -> CollisionModel:
        """The same model with other margins [m] for pairs of shapes."""
        changed = dict(self._margins)
        for given, margin in as_mapping(
            margins, "margins of a collision model", "from pairs of names to distances"
        ).items():
            a, b = _pair(given)
            distance = _distance(margin, f"margin of '{a}' and '{b}'")
            asked = {frozenset((i, j)) for i in self._called(a) for j in self._called(b)}
            changed |= {pair: distance for pair in self._margins if frozenset(pair) in asked}
        return self._with(changed)

    def among(self, pairs: Iterable[CollisionPair]) -> CollisionModel:
        """The same model on pairs of joints only, with their margins: what `graph.collision_pairs` leaves."""
        kept = {frozenset((pair.a, pair.b)): pair.margin for pair in pairs}
        chosen: dict[tuple[int, int], float] = {}
        for i, j in self._margins:
            margin = kept.get(frozenset((self.joints[i], self.joints[j])))
            if margin is not None:
                chosen[i, j] = margin
        return self._with(chosen)

    @property
    def joint_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of joints that carry shapes that are looked at, each once."""
        return tuple(dict.fromkeys((self.joints[i], self.joints[j]) for i, j in self._margins))

    def _called(self, pattern: str) -> list[int]:
        names = enumerate(self.names)
        found = [i for i, n in names if n == pattern or (pattern.endswith("*") and n.startswith(pattern[:-1]))]
        if not found:
            raise UnknownNameError("shape", pattern, self.names)
        return found

    def _with(self, margins: dict[tuple[int, int], float]) -> CollisionModel:
        other = object.__new__(CollisionModel)  # copy.copy would read the files again
        other.__dict__ |= self.__dict__
        other._take_pairs(self._geometry, margins)
        return other

    # Asking.

    def is_free(self, q: ArrayLike) -> bool:
        """Whether no pair meets at a configuration (nq,)."""
        return not self._compute(self.robot.space.check(q), True)

    def collisions(self, q: ArrayLike) -> tuple[Collision, ...]:
        """The pairs that meet at a configuration (nq,)."""
        return self._compute(self.robot.space.check(q), False)

    def first_collision(self, path: Path, max_angle: float = 0.05, max_length: float = 0.01) -> Collision | None:
        """The first pair that meets on a path, with its time; None where the path is free.

        Looked at are configurations no further apart than the two limits in every joint: what passes through a shape
        thinner than that motion may be missed. A margin makes up for it.

        Args:
            path: the path.
            max_angle, max_length: limits [rad], [m].

        Raises:
            OptionError: a limit that is no positive number.
            PathError: a configuration between two samples is not reached.
            SpaceMismatchError: a path in another space than the robot's.
        """
        if not isinstance(path, Path):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongObjectError("path of a collision check", "a Path", path)
        if not all(is_finite_number(limit) and limit > 0.0 for limit in (max_angle, max_length)):
            raise OptionError(f"limits of a collision check must be positive, got {max_angle!r}, {max_length!r}")
        space = path.pieces[0].problem.space
        if space != self.robot.space:
            raise SpaceMismatchError("path of a collision check", self.robot.space.name, space.name)
        size, samples = StepSize(path.pieces[0].problem), path.samples
        times = path.times.tolist()
        for i, (t0, t1) in enumerate(pairwise(times)):
            jump = size.between(samples[i], samples[i + 1])
            parts = max(1, ceil(max(jump.angle / max_angle, jump.length / max_length)))
            for k in range(parts):
                time = t0 + (t1 - t0) * k / parts
                q = samples[i] if k == 0 else path(time)
                found = self._compute(q, True)
                if found:
                    return found[0]._replace(time=time)
        found = self._compute(path.end, True)
        return found[0]._replace(time=path.duration) if found else None

    def _compute(self, q: Vector, first: bool) -> tuple[Collision, ...]:
        data, solids = self._pool.take()
        pin.computeCollisions(self.robot.model, data, self._geometry, solids, q, first)
        met = [k for k, result in enumerate(solids.collisionResults) if result.isCollision()]
        self._pool.give((data, solids))
        return tuple(Collision(*self.pairs[k]) for k in (met[:1] if first else met))

    def __repr__(self) -> str:
        return f"CollisionModel({len(self.names)} shapes, {len(self.pairs)} pairs)"

    @staticmethod
    def _rebuilt(robot: Robot, shapes: Any, urdfs: Any, packages: Any, margins: Any) -> CollisionModel:
        return CollisionModel(robot, shapes, urdfs, packages)._with(margins)

    def __reduce__(self) -> tuple[Any, ...]:
        return CollisionModel._rebuilt, (self.robot, self._shapes, self._urdfs, self._packages, self._margins)


def _memory(model: Model, geometry: Any, margins: tuple[float, ...]) -> tuple[Any, Any]:
    """What one thread computes in: memory of the model, and of the shapes, with the margins."""
    solids: Any = geometry.createData()
    for request, margin in zip(solids.collisionRequests, margins, strict=True):
        request.security_margin = margin
    return model.createData(), solids


def _pair(given: Any) -> tuple[str, str]:
    """Two names of shapes."""
    pair = as_tuple(given, "pair of shapes", "two names")
    if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        raise WrongObjectError("pair of shapes", "two names", repr(given))
    return pair[0], pair[1]


def _distance(given: object, what: str) -> float:
    if not is_finite_number(given):
        raise OptionError(f"{what}: expected a number [m], got {given!r}")
    return float(given)


def _add(geometry: Any, name: str, joint: int, placement: Placement, solid: Any) -> None:
    if geometry.existGeometryName(name):
        raise DuplicateError(f"two shapes are called '{name}'")
    geometry.addGeometryObject(pin.GeometryObject(name, joint, placement, solid))


def _add_urdf(
    geometry: Any, robot: Robot, prefix: str, source: str | os.PathLike[str], packages: tuple[str, ...]
) -> None:
    """Add the collision geometry of a file, each solid on the frame of the robot that has its link's name."""
    path = str(find_resource(source, packages))
    data = robot_data_folder()
    folders = [*packages, *([] if data is None else [str(data.parent)])]
    part: Any = pin.buildModelFromUrdf(path)
    try:
        read: Any = pin.buildGeomFromUrdf(part, path, pin.GeometryType.COLLISION, package_dirs=folders)
    except ValueError as error:
        raise ModelError(f"the collision geometry of {path} cannot be read: {error}") from None
    if not read.ngeoms:
        raise ModelError(f"{path} has no collision geometry: nothing would ever collide; leave it out, or give shapes")
    for solid in read.geometryObjects:
        link: Any = part.frames[solid.parentFrame]
        frame = robot.frame(f"{prefix}/{link.name}" if prefix else str(link.name), kind=FrameKind.BODY)
        on_link = link.placement.actInv(solid.placement)
        name = f"{prefix}/{solid.name}" if prefix else str(solid.name)
        _add(geometry, name, frame.joint, frame.placement * on_link, solid.geometry)

"""Collisions of configurations and paths: coal, through pinocchio's geometry."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations, pairwise
from math import ceil
from typing import Any, NamedTuple, final

import numpy as np

from liegroups.doors import as_mapping, as_name, as_tuple

from ..arrays import ArrayLike, Vector
from ..errors import DuplicateError, ModelError, OptionError, UnknownNameError, WrongObjectError
from ..robot import Frame, Robot
from ..robot.doors import as_robot
from ..robot.frame import as_placement
from ..robot.frames import FrameKind
from ..robot.packages import find_resource, robot_data_folder
from ..robot.pinocchio import Placement, pin
from .path import Path, StepSize

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
        if self.kind not in _SIZES:
            raise OptionError(f"shape '{self.name}': the kind is one of {', '.join(_SIZES)}, got {self.kind!r}")
        size = np.atleast_1d(np.asarray(self.size, dtype=np.float64))
        if size.shape != (_SIZES[self.kind],) or not (np.isfinite(size) & (size > 0.0)).all():
            wanted = f"{_SIZES[self.kind]} positive measures"
            raise OptionError(f"shape '{self.name}': a {self.kind} has {wanted}, got {self.size!r}")
        object.__setattr__(self, "size", tuple(size.tolist()))
        object.__setattr__(self, "placement", as_placement(self.placement, f"placement of shape '{self.name}'"))

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
        names: of all shapes.
        pairs: names of those that are looked at.

    Raises:
        FileError: a file that is missing or cannot be read.
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
        self.margin, self._margins = float(margin), dict(margins or {})
        self._ignored = {frozenset(pair) for pair in ignored}
        geometry = pin.GeometryModel()
        for prefix, file in self._files(urdfs).items():
            _add_urdf(geometry, self.robot, prefix, file, self._packages)
        for shape in self._shapes:
            if not isinstance(shape, Shape):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise WrongObjectError("shape of a collision model", "a Shape", shape)
            frame = self.robot.frame(shape.frame)
            _add(geometry, shape.name, frame.joint, frame.placement * shape.placement, shape.solid())
        self.names: tuple[str, ...] = tuple(str(solid.name) for solid in geometry.geometryObjects)
        self._geometry = geometry
        self._add_pairs()
        self._pool: list[tuple[Any, Any]] = []

    @staticmethod
    def _files(urdfs: Any) -> dict[str, Any]:
        if urdfs is None:
            return {}
        if isinstance(urdfs, str | os.PathLike):
            return {"": urdfs}
        return dict(as_mapping(urdfs, "urdfs of a collision model", "of names of parts to files"))

    def _add_pairs(self) -> None:
        """The pairs that are looked at."""
        model: Any = self.robot.model
        solids = list(self._geometry.geometryObjects)
        for names in (*self._ignored, *map(frozenset, self._margins)):
            for name in names:
                if name not in self.names:
                    raise UnknownNameError("shape", str(name), self.names)
        pairs = list[tuple[str, str]]()
        for i, j in combinations(range(len(solids)), 2):
            a, b = solids[i].parentJoint, solids[j].parentJoint
            near = a == b or (a > 0 and model.parents[a] == b) or (b > 0 and model.parents[b] == a)
            if (near and not self._is_object(a, b)) or frozenset((self.names[i], self.names[j])) in self._ignored:
                continue
            self._geometry.addCollisionPair(pin.CollisionPair(i, j))
            pairs.append((self.names[i], self.names[j]))
        self.pairs = tuple(pairs)

    def _is_object(self, a: int, b: int) -> bool:
        """Whether one is the world and the other a free object in it: neighbours that do not touch by construction."""
        kinds = {self.robot.space.factors[j - 1].space.name for j in (a, b) if j > 0}
        return min(a, b) == 0 and a != b and kinds == {"SE3"}

    def without(self, *pairs: tuple[str, str]) -> CollisionModel:
        """The same model, pairs of shapes (or of all shapes whose names begin like theirs, "ur5/*") left out.

        Raises:
            UnknownNameError: no shape is called so.
        """
        ignored = {tuple(sorted(pair)) for pair in self._ignored}
        for a, b in pairs:
            ignored |= {(x, y) for x in self._called(a) for y in self._called(b) if x != y}
        return self._changed(ignored=[(str(a), str(b)) for a, b in ignored])

    def with_margins(self, margins: Mapping[tuple[str, str], float]) -> CollisionModel:
        """The same model with other margins [m] for pairs of shapes."""
        return self._changed(margins={**self._margins, **margins})

    def _called(self, pattern: str) -> list[str]:
        found = [n for n in self.names if n == pattern or (pattern.endswith("*") and n.startswith(pattern[:-1]))]
        if not found:
            raise UnknownNameError("shape", pattern, self.names)
        return found

    def _changed(self, **changes: Any) -> CollisionModel:
        options: dict[str, Any] = {
            "margin": self.margin,
            "margins": self._margins,
            "ignored": [tuple(pair) for pair in self._ignored],
        }
        return CollisionModel(self.robot, self._shapes, self._urdfs, self._packages, **(options | changes))

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
        """
        if not (max_angle > 0.0 and max_length > 0.0):
            raise OptionError(f"limits of a collision check must be positive, got {max_angle!r}, {max_length!r}")
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
        try:
            data, solids = self._pool.pop()
        except IndexError:
            data, solids = self.robot.model.createData(), self._fresh()
        pin.computeCollisions(self.robot.model, data, self._geometry, solids, q, first)
        met = [k for k, result in enumerate(solids.collisionResults) if result.isCollision()]
        self._pool.append((data, solids))
        return tuple(Collision(*self.pairs[k]) for k in (met[:1] if first else met))

    def _fresh(self) -> Any:
        """Memory for one thread, with the margins."""
        solids: Any = self._geometry.createData()
        for k, pair in enumerate(self.pairs):
            other = self._margins.get(pair, self._margins.get((pair[1], pair[0])))
            solids.collisionRequests[k].security_margin = self.margin if other is None else other
        return solids

    def __repr__(self) -> str:
        return f"CollisionModel({len(self.names)} shapes, {len(self.pairs)} pairs)"

    def __reduce__(self) -> tuple[Any, ...]:
        ignored = [tuple(pair) for pair in self._ignored]
        given = (self.robot, self._shapes, self._urdfs, self._packages)
        return _rebuilt, (given, {"margin": self.margin, "margins": self._margins, "ignored": ignored})


def _rebuilt(given: tuple[Any, ...], options: dict[str, Any]) -> CollisionModel:
    return CollisionModel(*given, **options)


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
    for solid in read.geometryObjects:
        link: Any = part.frames[solid.parentFrame]
        frame = robot.frame(f"{prefix}/{link.name}" if prefix else str(link.name), kind=FrameKind.BODY)
        on_link = link.placement.actInv(solid.placement)
        name = f"{prefix}/{solid.name}" if prefix else str(solid.name)
        _add(geometry, name, frame.joint, frame.placement * on_link, solid.geometry)

"""Scenes from JSON files: robots, objects, tables, rules, and the graph they make (`docs/scene_files.md`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from liegroups.arrays import Matrix, Vector

from ..collisions.model import CollisionModel
from ..collisions.shapes import Shape
from ..errors import UnknownNameError
from ..functions.contact.contact_surface import Surface
from ..manipulation.factory.factory import ConstraintGraphFactory, MovableObject
from ..manipulation.factory.rules import Rule
from ..manipulation.factory.semantics import Semantics, read_semantics
from ..manipulation.graph import ConstraintGraph
from ..manipulation.gripper import Gripper, Handle
from ..manipulation.states import State
from ..robot import Base, Part, Robot, rigid_transform
from ..robot.model.pinocchio import Placement, pin
from ..rows.explicit_forms import mimic_constraints
from ..solvers import Options
from .documents import read_document
from .entries import FLAG, several, vector
from .json_values import JsonValue

MOST = 200
"""Robots, objects, tables, rules a scene may have of each."""
MOST_PAIRS = 10_000
"""Pairs of shapes that may collide a scene may have."""
POSE_SIZE = 7
"""Numbers of a pose."""
BODY = "<robot name='object'><link name='body'/></robot>"
BASES = {"fixed": Base.FIXED, "planar": Base.PLANAR, "free_flyer": Base.FREE_FLYER}
FACES = {
    "bottom": (2, -1.0), "top": (2, 1.0), "left": (1, 1.0), "right": (1, -1.0), "front": (0, 1.0), "back": (0, -1.0)
}  # fmt: skip
"""Of a box: the axis that leaves it there, and to which side."""


@final
@dataclass(frozen=True, eq=False)
class Scene:
    """Content of a scene file.

    Attributes:
        name: name of the scene.
        robot: robots and objects as one robot; parts have the names of the file.
        factory: the factory that generated the graph.
        graph: the constraint graph.
        shapes: boxes of sized objects and tables, for pictures and collisions.
        urdfs: URDF files by part, used for collision geometry.
        packages: folders in which packages are searched.
        start: configuration (nq,) where a plan starts; None if the file has none.
        goal: configuration (nq,), or the state, where it ends; None if the file has none.
        may_collide: pairs of names of shapes that may collide.
    """

    name: str
    robot: Robot
    factory: ConstraintGraphFactory
    graph: ConstraintGraph
    shapes: tuple[Shape, ...]
    urdfs: Mapping[str, str]
    packages: tuple[str, ...] = ()
    start: Vector | None = None
    goal: Vector | State | None = None
    may_collide: tuple[tuple[str, str], ...] = ()

    def collision_model(self, **options: Any) -> CollisionModel:
        """Collision model of the shapes and of the geometry of the URDF files, without the pairs that may collide.

        Args:
            **options: the other arguments of `CollisionModel`; pairs that are `ignored` are left out too.
        """
        model = CollisionModel(self.robot, self.shapes, self.urdfs, self.packages, **options)
        return model.without(*self.may_collide) if self.may_collide else model


def read_scene(path: str | os.PathLike[str], packages: Iterable[str | os.PathLike[str]] = ()) -> Scene:
    """Read a scene file. It is data, never code: the files it names are read as URDF and SRDF.

    Args:
        path: the file; paths in it are relative to its folder, or `package://` addresses.
        packages: folders in which packages are looked for.

    Raises:
        FileError: the file does not exist, is too large, or is not JSON.
        FileContentError: wrong content; the message names the place, for example $.objects[1].handles[0].pose. This
            includes errors in the files that it names.
    """
    _, data = read_document(path, "scene")
    data.only(
        "name", "workspace", "robots", "objects", "tables", "rules", "options", "start", "goal", "may_collide"
    )  # fmt: skip
    folders = tuple(os.fspath(folder) for folder in packages)
    return _SceneReader(data, Path(path).resolve().parent, folders).scene()


@dataclass(frozen=True, eq=False)
class _SceneReader:
    """Builds a scene from data."""

    data: JsonValue
    folder: Path
    packages: tuple[str, ...]

    def scene(self) -> Scene:
        data = self.data
        robots, objects = (data.entry(kind).items(MOST) for kind in ("robots", "objects"))
        tables = data.entry("tables").items(MOST) if data.has("tables") else []
        names = [self._name(entry, i, [*robots, *objects, *tables]) for i, entry in enumerate([*robots, *objects])]
        parts = [self._robot(name, entry) for name, entry in zip(names, robots, strict=False)]
        bounds = self._workspace()
        parts += [self._object(name, entry, bounds) for name, entry in zip(names[len(robots) :], objects, strict=True)]
        for i, table in enumerate(tables, start=len(names)):
            self._name(table, i, [*robots, *objects, *tables])
        name = data.entry("name").text() if data.has("name") else "scene"
        robot: Robot = data.build(Robot.system, parts, name)
        grippers: list[Gripper] = []
        floors: list[Surface] = []
        things: list[MovableObject] = []
        shapes: list[Shape] = []
        files = {
            name: entry.those({"urdf": self._file}) for name, entry in zip(names, [*robots, *objects], strict=True)
        }
        urdfs = {name: file["urdf"] for name, file in files.items() if file}
        for prefix, entry in zip(names, robots, strict=False):
            read = self._semantics(robot, prefix, entry)
            grippers += read.grippers.values()
            floors += [surface for surfaces in read.surfaces.values() for surface in surfaces]
        for table in tables:
            floor, shape = self._table(robot, table)
            floors.append(floor)
            shapes.append(shape)
        for prefix, entry in zip(names[len(robots) :], objects, strict=True):
            things.append(self._movable(robot, prefix, entry))
            if entry.has("size"):
                size = tuple(entry.entry("size").vector(3).tolist())
                shapes.append(entry.entry("size").build(Shape, prefix, "Box", size, f"{prefix}/body"))
        factory: ConstraintGraphFactory = data.build(
            ConstraintGraphFactory, robot, grippers, things, floors, self._rules(), name=name,
            constraints=data.build(mimic_constraints, robot), **self._options(),
        )  # fmt: skip
        graph: ConstraintGraph = data.build(factory.generate)
        start, goal = self._ends(graph, names[len(robots) :])
        scene = Scene(name, robot, factory, graph, tuple(shapes), urdfs, self.packages, start, goal)
        return replace(scene, may_collide=self._may_collide(scene))

    @staticmethod
    def _name(entry: JsonValue, i: int, others: list[JsonValue]) -> str:
        """The name of a robot, object or table, which no other has."""
        name = entry.entry("name").text()
        if not name or "/" in name or name == "universe":
            entry.entry("name").expect("a name without slash that is not 'universe'")
        if name in [other.entry("name").text() for other in others[:i]]:
            entry.entry("name").refuse(f"another robot, object or table has the name '{name}' too")
        return name

    def _file(self, entry: JsonValue) -> str:
        """The path of a file."""
        text = entry.text()
        return text if text.startswith("package://") else str(self.folder / text)

    def _robot(self, name: str, entry: JsonValue) -> Part:
        entry.only("name", "urdf", "srdf", "pose", "base")
        base = BASES[entry.entry("base").word(tuple(BASES))] if entry.has("base") else Base.FIXED
        return Part(name, self._of_files(entry, base), _pose(entry))

    def _of_files(self, entry: JsonValue, base: Base) -> Robot:
        """A robot, or an object without a URDF, with reference postures and disabled collisions of its SRDF."""
        if entry.has("size"):
            robot = Robot.from_urdf(BODY, base=base)
        else:
            file = entry.entry("urdf")
            robot = file.build(Robot.from_urdf, self._file(file), packages=self.packages, base=base)
        if not entry.has("srdf"):
            return robot
        file = entry.entry("srdf")
        return file.build(robot.with_srdf, self._file(file), self.packages)

    def _workspace(self) -> tuple[Vector, Vector]:
        entry = self.data.entry("workspace").only("lower", "upper")
        return entry.entry("lower").vector(3), entry.entry("upper").vector(3)

    def _object(self, name: str, entry: JsonValue, bounds: tuple[Vector, Vector]) -> Part:
        entry.only("name", "urdf", "size", "srdf", "handles", "faces")
        if entry.has("urdf") == entry.has("size"):
            entry.refuse("expected either 'urdf' or 'size'")
        robot = self._of_files(entry, Base.FREE_FLYER)
        return Part(name, self.data.entry("workspace").build(robot.with_bounds, {robot.joint_names[0]: bounds}))

    def _semantics(self, robot: Robot, prefix: str, entry: JsonValue) -> Semantics:
        if not entry.has("srdf"):
            return Semantics({}, {}, {})
        file = entry.entry("srdf")
        return file.build(read_semantics, robot, self._file(file), prefix, self.packages)

    def _movable(self, robot: Robot, prefix: str, entry: JsonValue) -> MovableObject:
        """Handles and surfaces of an object: of its SRDF, then those in the scene file."""
        read = self._semantics(robot, prefix, entry)
        handles = list(read.handles.values())
        surfaces = [surface for found in read.surfaces.values() for surface in found]
        for handle in entry.entry("handles").items(MOST) if entry.has("handles") else []:
            handles.append(self._handle(robot, prefix, handle))
        if entry.has("faces"):
            if not entry.has("size"):
                entry.entry("faces").refuse(
                    "only an object with a 'size' has faces; use 'contact' tags (srdf) for others"
                )
            size = entry.entry("size").vector(3)
            for face in entry.entry("faces").items(len(FACES)):
                points = _face(face.word(tuple(FACES)), size)
                surfaces.append(face.build(Surface, f"{prefix}/{face.value}", robot.frame(f"{prefix}/body"), points))
        return entry.build(MovableObject, prefix, handles, surfaces)

    @staticmethod
    def _handle(robot: Robot, prefix: str, entry: JsonValue) -> Handle:
        entry.only("name", "link", "pose", "clearance", "approach", "mask")
        name = f"{prefix}/{entry.entry('name').text()}"
        link = f"{prefix}/{entry.entry('link').text() if entry.has('link') else 'body'}"
        readers = {"clearance": JsonValue.number, "approach": vector(3).read, "mask": several(FLAG, 6).read}
        frame = entry.build(robot.frame, link, _pose(entry))
        return entry.build(Handle, name, frame, **entry.those(readers))

    @staticmethod
    def _table(robot: Robot, entry: JsonValue) -> tuple[Surface, Shape]:
        """The top of a table, and its solid below."""
        entry.only("name", "size", "pose")
        name, size, top = entry.entry("name").text(), entry.entry("size").vector(3), _pose(entry)
        middle = rigid_transform([0.0, 0.0, -0.5 * size[2]])
        shape = entry.build(Shape, name, "Box", tuple(size.tolist()), "universe", top * middle)
        corners = _face("top", size) - [0.0, 0.0, 0.5 * size[2]]
        return entry.build(Surface, name, robot.frame("universe", top), corners), shape

    def _rules(self) -> list[Rule]:
        rules: list[Rule] = []
        for entry in self.data.entry("rules").items(MOST) if self.data.has("rules") else []:
            entry.only("grippers", "handles", "allowed")
            patterns = [[item.text() for item in entry.entry(key).items(MOST)] for key in ("grippers", "handles")]
            rules.append(entry.build(Rule, *patterns, entry.entry("allowed").flag()))
        return rules

    def _ends(self, graph: ConstraintGraph, objects: Sequence[str]) -> tuple[Vector | None, Vector | State | None]:
        """Start and goal of a plan, where the file has them."""
        start: Vector | None = None
        goal: Vector | State | None = None
        if self.data.has("start"):
            start = _configuration(self.data.entry("start"), graph.robot, objects)
        if self.data.has("goal"):
            entry = self.data.entry("goal")
            states = {state.name: state for state in graph.states}
            if entry.holds(str) and entry.text() in states:
                goal = states[entry.text()]
            else:
                goal = _configuration(entry, graph.robot, objects, start, [*states])
        return start, goal

    def _may_collide(self, scene: Scene) -> tuple[tuple[str, str], ...]:
        """Pairs of names of shapes, each of which names pairs that the collision model has."""
        if not self.data.has("may_collide"):
            return ()
        pairs = list[tuple[str, str]]()
        entry = self.data.entry("may_collide")
        model: CollisionModel = entry.build(scene.collision_model)
        for item in entry.items(MOST_PAIRS):
            names = item.items()
            if len(names) != 2:
                item.refuse(f"expected the names of two shapes, got {len(names)}")
            a, b = names[0].text(), names[1].text()
            if a == b and not a.endswith("*"):
                item.refuse(f"expected two shapes, got '{a}' twice")
            item.build(model.without, (a, b))
            pairs.append((a, b))
        return tuple(pairs)

    def _options(self) -> dict[str, Any]:
        """Options of the factory and of its projections."""
        if not self.data.has("options"):
            return {}
        entry = self.data.entry("options")
        entry.only(*_OF_FACTORY, *_OF_PROJECTIONS)
        named, chosen = entry.those(_OF_FACTORY), entry.those(_OF_PROJECTIONS)
        return named | ({"options": entry.build(Options, **chosen)} if chosen else {})


_OF_FACTORY = {
    "preplacement_distance": JsonValue.number, "margin": JsonValue.number, "preplace_guide": JsonValue.flag,
    "empty_level_sets": JsonValue.flag, "attempts": JsonValue.integer,
}  # fmt: skip
_OF_PROJECTIONS = {"threshold": JsonValue.number, "max_iterations": JsonValue.integer, "seed": JsonValue.integer}


def _configuration(
    entry: JsonValue, robot: Robot, objects: Sequence[str], like: Vector | None = None, states: Sequence[str] = ()
) -> Vector:
    """A configuration (nq,): all its numbers, the name of a reference posture, or what each part has.

    Args:
        entry: where it is.
        robot: all parts.
        objects: names of the parts that have poses.
        like: where parts are that are left out; None if none may be.
        states: names that might stand there too, for messages.
    """
    if entry.holds(str):
        return _posture(entry, robot, entry.text(), states)
    if entry.holds(list):
        return np.array(entry.build(robot.check, entry.vector(robot.nq), "the configuration"))
    columns: dict[str, list[int]] = {}
    for factor in robot.space.factors:
        columns.setdefault(factor.name.split("/")[0], []).extend(range(factor.q.start, factor.q.stop))
    entry.only(*columns)
    q = np.array(robot.neutral if like is None else like)
    for name, places in columns.items():
        if not entry.has(name):
            if like is None:
                entry.refuse(f"has no entry '{name}': expected one for each of {', '.join(columns)}")
            continue
        part = entry.entry(name)
        if part.holds(str):
            q[places] = _posture(part, robot, f"{name}/{part.text()}")[places]
        elif name in objects and len(places) == POSE_SIZE:
            q[places] = _seven(part)
        else:
            q[places] = part.vector(len(places))
        part.build(robot.check, q, "the configuration")
    return q


def _posture(entry: JsonValue, robot: Robot, name: str, states: Sequence[str] = ()) -> Vector:
    """A reference posture (nq,)."""
    if name not in robot.references:
        kind = "state or reference posture" if states else "reference posture"
        unknown = UnknownNameError(kind, name, (*states, *robot.references))
        entry.refuse(str(unknown), unknown)
    return robot.reference(name)


def _pose(entry: JsonValue) -> Placement:
    """The pose of an entry; the identity if absent."""
    return pin.XYZQUATToSE3(_seven(entry.entry("pose"))) if entry.has("pose") else pin.SE3.Identity()


def _seven(pose: JsonValue) -> Vector:
    """A pose (7,): translation [m], then quaternion xyzw, normalised; or a translation alone."""
    numbers = pose.vector()
    if numbers.size not in (3, POSE_SIZE):
        pose.refuse(f"expected 3 or 7 numbers (x y z, then the quaternion x y z w), got {numbers.size}")
    turn = numbers[3:] if numbers.size == POSE_SIZE else np.array([0.0, 0.0, 0.0, 1.0])
    norm = float(np.sqrt(turn @ turn))
    if abs(norm - 1.0) > 1e-3:  # files have few digits
        pose.refuse(f"the quaternion must have norm 1, its norm is {norm:.4g}")
    return np.r_[numbers[:3], turn / norm]


def _face(name: str, size: Vector) -> Matrix:
    """Corners of a face of a box (4, 3), counter-clockwise seen from outside."""
    axis, sign = FACES[name]
    u, v = (axis + 1) % 3, (axis + 2) % 3
    corners = np.zeros((4, 3))
    corners[:, axis] = sign
    corners[:, u], corners[:, v] = (-1.0, 1.0, 1.0, -1.0), (-1.0, -1.0, 1.0, 1.0)
    return 0.5 * (corners if sign > 0.0 else corners[::-1]) * size

"""Paths as strips of pictures and as moving ones. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final

import numpy as np

from liegroups.arguments import as_tuple, expect, finite_vector
from liegroups.arrays import Matrix, Vector

from ..errors import FileError, OptionError, WrongObjectError
from ..paths.collision_shapes import Shape
from ..paths.path import Path
from ..ranges import whole_number
from ..robot import Frame, Robot
from .figures import Cube, new_figure, save_animation, save_figure, show_cube
from .robots import draw_configuration, stick_figure

FIXED, MOVING, TRACE = "#8a8a8a", "#d9730d", "#f0b27a"
"""Colours of shapes on the world, of those on joints, and of the lines along which the latter came."""
PANEL = 3.0
"""Width of a picture [inch]."""
MOST_IN_A_ROW = 6
CIRCLE = np.linspace(0.0, 2.0 * np.pi, 25)
MOST_FRAMES = 10_000


def plot_path(
    path: Path,
    file: str | os.PathLike[str] | None = None,
    count: int = 6,
    shapes: Iterable[Shape] = (),
    *,
    tips: Sequence[str | Frame] = (),
) -> Any:
    """A path as a strip of pictures: stick figures of the robot, shapes as wires, at equal steps of time.

    Shapes on the world are grey; those on joints (objects that are moved) orange, with the line along which they came.
    The upper third of boxes that are moved is filled, so that one sees which end is up.

    Args:
        path: of a robot.
        file: also write the figure there; its ending says the format.
        count: pictures, start and end among them.
        shapes: solids to draw, as for a `CollisionModel`; geometry of URDF files is not drawn.
        tips: frames at the ends of the stick figure, as grippers.

    Returns:
        The matplotlib figure.

    Raises:
        WrongObjectError: no path, or one of no robot; something that is no shape.
        OptionError: fewer than two pictures.
        UnknownFrameError: a tip, or the frame of a shape, that the robot does not have.
        PathError: the path breaks at a time that is drawn.
        MissingExtraError: matplotlib is not installed.
        FileError: the figure cannot be written.
    """
    scene = _Scene.of(path, shapes, tips)
    whole_number(count, "number of pictures of a path", 2, 100)
    times, configurations = scene.sampled(count)
    cube = scene.cube(configurations)
    rows = -(-count // MOST_IN_A_ROW)
    columns = -(-count // rows)
    figure = new_figure(PANEL * columns, PANEL * rows, "none")
    figure.subplots_adjust(left=0.0, right=1.0, bottom=0.01, top=0.99, wspace=0.0, hspace=0.0)
    for i, (time, q) in enumerate(zip(times, configurations, strict=True)):
        axes = figure.add_subplot(rows, columns, i + 1, projection="3d")
        scene.draw(axes, time, q, cube)
    return save_figure(figure, file, 110)


def animate(
    path: Path,
    file: str | os.PathLike[str],
    shapes: Iterable[Shape] = (),
    *,
    frames: int = 60,
    rate: float = 15.0,
    tips: Sequence[str | Frame] = (),
) -> None:
    """A path as an animated GIF.

    Args:
        path: of a robot.
        file: where it is written.
        shapes, tips: as in `plot_path`.
        frames: pictures, at equal steps of time.
        rate: pictures a second.

    Raises:
        OptionError: fewer than two pictures, or a rate that is not positive.
        WrongObjectError, UnknownFrameError, PathError, MissingExtraError, FileError: as `plot_path`.
    """
    scene = _Scene.of(path, shapes, tips)
    whole_number(frames, "number of pictures of a path", 2, MOST_FRAMES)
    pictures_a_second = float(finite_vector([rate], 1, "rate of an animation")[0])
    if not pictures_a_second > 0.0:
        raise OptionError(f"rate of an animation: expected a positive number, got {rate!r}")
    name = os.fspath(file)
    if not name.lower().endswith(".gif"):
        raise FileError(name, "is written as a GIF: expected a name that ends in .gif")
    times, configurations = scene.sampled(frames)
    cube = scene.cube(configurations)
    figure = new_figure(4.6, 4.6, "none")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")

    def pictures() -> Iterator[None]:
        for time, q in zip(times, configurations, strict=True):
            axes.clear()
            scene.draw(axes, time, q, cube)
            yield

    save_animation(figure, pictures(), file, pictures_a_second)


@final
class _Scene:
    """A path with what is drawn of it."""

    def __init__(self, path: Path, robot: Robot, shapes: Sequence[Shape], tips: Sequence[str | Frame]) -> None:
        self._path, self._robot = path, robot
        self._shapes = [(robot.frame(shape.frame), shape) for shape in shapes]
        self._tips = [robot.frame(tip) for tip in tips]
        moving = [(frame, shape) for frame, shape in self._shapes if frame.joint]
        self._traces = [np.array([self._placed(*part, q).translation for q in path.samples]) for part in moving]

    @staticmethod
    def of(path: Any, shapes: Any, tips: Any) -> _Scene:
        """Check the arguments."""
        robot = expect(path, Path, "path to be drawn").pieces[0].problem.robot
        if robot is None:
            raise WrongObjectError("path to be drawn", "a path of a robot", path)
        drawn = as_tuple(shapes, "shapes to be drawn", "Shape")
        for shape in drawn:
            expect(shape, Shape, "shape to be drawn")
        return _Scene(path, robot, drawn, as_tuple(tips, "tips", "frames"))

    def sampled(self, count: int) -> tuple[Vector, Matrix]:
        """Times and configurations (count, nq)."""
        times = np.linspace(0.0, self._path.duration, count)
        return times, np.array([self._path(float(t)) for t in times])

    def cube(self, configurations: Matrix) -> Cube:
        """A cube around all of it."""
        points: list[Vector] = [np.zeros(3), *(point for trace in self._traces for point in trace)]
        for q in configurations:
            points += [end for _, end in stick_figure(self._robot, q, self._tips)]
            points += [point for _, lines in self._wires(q) for line in lines for point in line]
        return Cube.around(points)

    def draw(self, axes: Any, time: float, q: Vector, cube: Cube) -> None:
        """The configuration at a time, and the way up to there."""
        show_cube(axes, cube, zoom=1.25)
        for frame, lines in self._wires(q):
            for line in lines:
                axes.plot(*line.T, color=MOVING if frame.joint else FIXED, linewidth=1.5 if frame.joint else 0.9)
        solids: Any = importlib.import_module("mpl_toolkits.mplot3d.art3d")
        for frame, shape in self._shapes:
            if frame.joint and shape.kind == "Box":
                oMs = self._placed(frame, shape, q)
                faces = _lid(shape) @ oMs.rotation.T + oMs.translation
                axes.add_collection3d(solids.Poly3DCollection(faces, facecolor=MOVING, alpha=0.5, linewidth=0.0))
        done = self._path.times <= time
        for trace in self._traces:
            axes.plot(*trace[done].T, ":", color=TRACE, linewidth=1.2)
        draw_configuration(axes, self._robot, q, tips=self._tips)
        axes.text2D(0.06, 0.06, f"{time:.2f} s", transform=axes.transAxes, fontsize=9)

    def _wires(self, q: Vector) -> list[tuple[Frame, list[Matrix]]]:
        """Lines of all shapes in the world."""
        found: list[tuple[Frame, list[Matrix]]] = []
        for frame, shape in self._shapes:
            oMs = self._placed(frame, shape, q)
            lines = [line @ oMs.rotation.T + oMs.translation for line in wires(shape)]
            found.append((frame, lines))
        return found

    def _placed(self, frame: Frame, shape: Shape, q: Vector) -> Any:
        return self._robot.at(q).placement(frame) * shape.placement


def wires(shape: Shape) -> list[Matrix]:
    """A solid as lines of points (n, 3), in its own axes [m].

    Args:
        shape: the solid.
    """
    size = shape.size
    if shape.kind == "Box":
        x, y, z = 0.5 * np.array(size)
        ring = np.array([[x, y, 0.0], [-x, y, 0.0], [-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0]])
        up = np.array([0.0, 0.0, z])
        return [ring - up, ring + up, *(np.array([corner - up, corner + up]) for corner in ring[:4])]
    radius = size[0]
    zero, cos, sin = np.zeros_like(CIRCLE), radius * np.cos(CIRCLE), radius * np.sin(CIRCLE)
    level = np.stack([cos, sin, zero], axis=1)
    upright = [np.stack([cos, zero, sin], axis=1), np.stack([zero, cos, sin], axis=1)]
    if shape.kind == "Sphere":
        return [level, *upright]
    up = np.array([0.0, 0.0, 0.5 * size[1]])
    rings = [level - up, level + up]
    if shape.kind == "Capsule":  # the half circles of its ends, joined by its sides
        return [*rings, *(line + np.where(line[:, 2:] >= 0.0, 1.0, -1.0) * up for line in upright)]
    posts = [np.array([point - up, point + up]) for point in level[:-1:6]]
    return [*rings, *posts]


def _lid(shape: Shape) -> Any:
    """Faces of the upper third of a box (5, 4, 3), in its own axes [m]."""
    x, y, z = 0.5 * np.array(shape.size)
    ring = np.array([[x, y], [-x, y], [-x, -y], [x, -y]])
    top, below = np.c_[ring, np.full(4, z)], np.c_[ring, np.full(4, z / 3.0)]
    return np.array([top, *(np.array([top[i], top[i - 1], below[i - 1], below[i]]) for i in range(4))])

"""Paths and other motions: as strips of pictures and as moving ones. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import ArrayLike, Matrix, Vector

from ..errors import WrongObjectError
from ..keywords import answer
from ..paths.path import Path
from ..ranges import positive_number, whole_number
from ..robot import Robot
from ..robot.description import Drawing
from .configurations import configurations_of
from .figures import QUIET, save_figure
from .films import check_film, film, has_window
from .panels import PanelLayout, in_a_row, panels
from .scenes import DrawnScene, Thing
from .views import Wanted

TRACE = "#56b4e9"
"""Colour of the lines along which objects came."""
MOST_FRAMES = 10_000
SIDE, SMALL = 4.6, 2.4
"""Of a moving picture, and of one of a strip [inch]."""
CORNER = 0.54
"""Where words stand from the lower left corner of a picture, plus half of its axes."""


def plot_path(
    motion: Path,
    path: str | os.PathLike[str] | None = None,
    count: int = 6,
    *,
    view: Wanted = None,
    drawing: Drawing | None = None,
) -> Any:
    """A path as a strip of pictures: stick figures of the robot, shapes as wires, at equal steps of time.

    Shapes on the world are grey; those on joints (objects that are moved) have the colour of their part, and a dotted
    line along which they came. The upper third of boxes that are moved is filled, so that one sees which end is up.

    Args:
        motion: a path of a robot.
        path: the file that the figure is written to; its ending says the format.
        count: pictures, start and end among them.
        view, drawing: as in `plot_robot`.

    Returns:
        The matplotlib figure.

    Raises:
        WrongObjectError: no path, or one of no robot; something that is no shape.
        OptionError: fewer than two pictures.
        UnknownFrameError: a tip, or the frame of a shape, that the robot does not have.
        UnknownNameError: a view that is none.
        FailedError: the path breaks at a time that is drawn.
        MissingExtraError: matplotlib is not installed.
        FileError: the figure cannot be written.
    """
    scene = DrawnScene(_robot_of(motion), drawing)
    whole_number(count, "number of pictures of a path", 2, 100)
    times, Q = _sampled(motion, count)
    traces = _traces(scene, motion.samples)
    scene.look(Q, view, more=[point for trace in traces for point in trace])
    figure, pictures, _ = panels(scene, [""] * count, path is None, PanelLayout(side=SMALL, columns=in_a_row(count)))
    for axes, time, q in zip(pictures, times, Q, strict=True):
        scene.show(axes)
        _draw(axes, scene, q, [trace[motion.times <= time] for trace in traces], f"{time:.2f} s")
    return save_figure(figure, path)


def animate(
    configurations: Path | ArrayLike,
    path: str | os.PathLike[str] | None = None,
    *,
    robot: Thing | None = None,
    count: int = 60,
    rate: float = 15.0,
    view: Wanted = None,
    drawing: Drawing | None = None,
) -> Any:
    """Configurations one after the other, as an animation of matplotlib's.

    It runs in the window that `matplotlib.pyplot.show()` opens; a notebook shows it, with its controls, where it is the
    value of a cell (`animation.to_jshtml()` is the same as text). `animation.save("walk.gif", writer="pillow")` writes
    it too.

    Args:
        configurations: a path of a robot, or configurations (n, nq).
        path: the file that it is written to: `.gif`, `.html` (with its controls), or `.mp4` (needs ffmpeg).
        robot: of configurations that are an array; of a Mechanism or a ConstraintSet the closures are drawn too.
        count: pictures of a path, at equal steps of time; of an array each row is a picture.
        rate: pictures a second.
        view, drawing: as in `plot_robot`.

    Returns:
        the animation, a `matplotlib.animation.FuncAnimation`.

    Raises:
        OptionError: fewer than two pictures of a path, or a rate that is not positive.
        WrongObjectError: configurations of no robot; something that is no shape.
        SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with a configuration.
        UnknownFrameError, UnknownNameError, FailedError, MissingExtraError: as `plot_path`.
        FileError: the file cannot be written, or not as an animation.
    """
    check_film(path)
    pictures_a_second = positive_number(rate, "rate of an animation")
    if isinstance(configurations, Path):
        whole_number(count, "number of pictures of a path", 2, MOST_FRAMES)
        scene = DrawnScene(_robot_of(configurations) if robot is None else robot, drawing)
        times, drawn = _sampled(configurations, count)
        words = [f"{time:.2f} s" for time in times]
        traces, marks = _traces(scene, configurations.samples), [configurations.times <= time for time in times]
    elif robot is None:
        what = "a Path; of an array of configurations say whose they are, robot.animate(configurations)"
        raise WrongObjectError("configurations to be animated", what, configurations)
    else:
        scene = DrawnScene(robot, drawing)
        drawn = configurations_of(scene.robot, configurations)
        words, traces = [""] * len(drawn), _traces(scene, drawn)
        marks = [np.arange(len(drawn)) <= i for i in range(len(drawn))]
    scene.look(drawn, view, more=[point for trace in traces for point in trace])
    figure, (axes,), _ = panels(scene, [""], has_window(path), PanelLayout(side=SIDE))

    def draw(i: int) -> None:
        axes.clear()
        scene.show(axes)
        _draw(axes, scene, drawn[i], [trace[marks[i]] for trace in traces], words[i])

    return film(figure, draw, len(drawn), path, pictures_a_second)


def _robot_of(motion: Any) -> Robot:
    robot = expect(motion, Path, "path to be drawn").pieces[0].problem.robot
    if robot is None:
        raise WrongObjectError("path to be drawn", "a path of a robot", motion)
    return robot


def _sampled(motion: Path, count: int) -> tuple[Vector, list[Vector]]:
    """Times and configurations."""
    times = np.linspace(0.0, motion.duration, count)
    return times, [motion(float(t)) for t in times]


def _traces(scene: DrawnScene, samples: Iterable[Vector]) -> list[Matrix]:
    """The ways (n, 3) of the shapes that are moved, at samples of the motion."""
    moved = [part for part in scene.shapes if part[0].joint]
    return [np.array([scene.placed(*part, q).translation for q in samples]) for part in moved]


def _draw(axes: Any, scene: DrawnScene, q: Vector, traces: Sequence[Matrix], words: str) -> None:
    """The configuration at a time, and the way up to there."""
    for trace in traces:
        axes.plot(*scene.view.seen(trace), ":", color=TRACE)
    scene.draw(axes, q)
    if words:
        write = axes.text if scene.view.flat else axes.text2D
        right, up = scene.reach
        write(CORNER - right, CORNER - up, words, transform=axes.transAxes, fontsize="small", color=QUIET)


answer(__name__)

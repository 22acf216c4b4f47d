"""Configurations of robots and mechanisms as stick figures. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from liegroups.arguments import as_mapping
from liegroups.arrays import ArrayLike, Vector

from ..errors import WrongObjectError
from ..keywords import answer
from ..models.structure.mechanism import Mechanism
from ..robot import Robot
from ..robot.description import Drawing
from .figures import save_figure
from .panels import PanelLayout, panels
from .robots import Stroke
from .scenes import DrawnScene, Thing, robot_of
from .views import Wanted

SIDE = 5.0
"""Of the picture of one robot [inch]."""
FAINTEST = 0.15
"""Opacity of the first one of many configurations."""


def plot_robot(
    robot: Thing,
    q: ArrayLike | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    view: Wanted = None,
    ax: Any = None,
    drawing: Drawing | None = None,
) -> Any:
    """A configuration as a stick figure: joints are dots, each robot and object of a system has its own colour.

    It is shown by `matplotlib.pyplot.show()`, and below the cell of a notebook. With a path the figure is written to
    the file and not shown; no figure stays open then.

    Args:
        robot: the robot; of a Mechanism or a ConstraintSet its closures are drawn too, dashed where they are open.
        q: configuration (nq,), or several (n, nq), drawn over each other, the last one the strongest; the neutral one,
            put into the bounds, by default, or the first posture of a Mechanism.
        path: the file that the figure is written to; its ending says the format.
        view: "xy", "xz", "yz", "3d", or (elevation, azimuth) [deg]. By default the plane in which all joints move, and
            "3d" where there is none.
        ax: matplotlib axes to draw in, made with `projection="3d"` unless the view is flat; a new figure by default.
        drawing: what is drawn beside the sticks, and how.

    Returns:
        the matplotlib figure.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with q.
        UnknownFrameError: a frame that the robot does not have; lists the names that come closest.
        UnknownNameError: a view that is none.
        WrongObjectError: axes that do not suit the view.
        OptionError: files with meshes in the drawing: `render` has them.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    scene = DrawnScene(robot, drawing)
    Q = configurations_of(scene.robot, [resting(robot)] if q is None else q)
    scene.look(Q, view)
    if ax is None:
        figure, (axes,), _ = panels(scene, [""], path is None, PanelLayout(side=SIDE, scales=True))
    else:
        scene.on_axes(ax)
        figure, axes = ax.figure, ax
    scene.show(axes, scales=True)
    _draw_over(scene, axes, Q)
    if ax is not None and (key := scene.key()):
        axes.legend(handles=key, frameon=False)
    return save_figure(figure, path)


def plot_configurations(
    robot: Thing,
    groups: Mapping[str, ArrayLike],
    path: str | os.PathLike[str] | None = None,
    *,
    view: Wanted = None,
    drawing: Drawing | None = None,
) -> Any:
    """Configurations as stick figures, one picture a group, side by side on one scale.

    Args:
        robot, path, view, drawing: as in `plot_robot`.
        groups: title -> configurations (nq,) or (n, nq), drawn over each other, the last one the strongest.

    Returns:
        the matplotlib figure.

    Raises:
        WrongObjectError: no groups, or one without configurations.
        SizeError, NotFiniteError, NotNormalizedError, DtypeError, UnknownFrameError: as `plot_robot`.
        UnknownNameError, MissingExtraError, FileError: as `plot_robot`.
    """
    scene = DrawnScene(robot, drawing)
    check = scene.robot.check
    drawn = {
        title: [check(q, f"configuration {i} of '{title}'") for i, q in enumerate(np.atleast_2d(np.asarray(Q)))]
        for title, Q in as_mapping(groups, "groups of configurations", "title -> configurations").items()
    }
    if not drawn or not all(drawn.values()):
        raise WrongObjectError("groups of configurations", "at least one, with configurations in each", groups)
    scene.look([q for Q in drawn.values() for q in Q], view)
    figure, pictures, _ = panels(scene, [*drawn], path is None)
    for axes, Q in zip(pictures, drawn.values(), strict=True):
        scene.show(axes)
        _draw_over(scene, axes, Q)
    return save_figure(figure, path)


def _draw_over(scene: DrawnScene, axes: Any, Q: Sequence[Vector]) -> None:
    """Configurations over each other, the first ones fainter."""
    for i, q in enumerate(Q, start=1):
        scene.draw(axes, q, Stroke(scene.colour, alpha=FAINTEST + (1.0 - FAINTEST) * (i / len(Q)) ** 3))


def configurations_of(robot: Robot, q: object) -> list[Vector]:
    """Configurations of an argument that is one (nq,), or several (n, nq).

    Raises:
        WrongObjectError: there is none.
        SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with one.
    """
    rows: Any = np.asarray(q)
    if rows.ndim != 2:
        return [robot.check(rows, "q")]
    if not len(rows):
        raise WrongObjectError("configurations to be drawn", "at least one", q)
    return [robot.check(row, f"configuration {i}") for i, row in enumerate(rows)]


def resting(thing: Thing) -> Vector:
    """What is drawn where no configuration is said: the first posture of a mechanism; else neutral, put into bounds."""
    if isinstance(thing, Mechanism) and thing.postures:
        return next(iter(thing.postures.values()))
    robot, _ = robot_of(thing)
    return robot.bounds.clip(robot.neutral)


answer(__name__)

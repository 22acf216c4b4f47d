"""Robots with their meshes as a picture: the page of the viewer, photographed by a browser without a window."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import cos, radians, sin
from typing import Any

import numpy as np

from liegroups.arguments import finite_number
from liegroups.arrays import Matrix, Vector

from ...collisions.shapes import Shape
from ...errors import MissingExtraError, OptionError, UnknownNameError
from ...ranges import whole_number
from ...robot import Frame
from ..configurations import plot_configurations
from ..figures import new_figure, save_figure
from ..scenes import as_placements
from ..views import NAMES, USUAL, Wanted
from .camera import NoCameraError, Picture, Shot, photographs
from .films import Film, film_of
from .stage import Stage
from .view import View, files_of

DOTS = 100
"""Pixels an inch."""
VIEW_NORMALS = {"xy": np.array([0.0, 0.0, 1.0]), "xz": np.array([0.0, -1.0, 0.0]), "yz": np.array([1.0, 0.0, 0.0])}
"""Where the camera is, of the names of planes."""
HEAD = 0.34
"""Height of a title [inch]."""
IN_A_ROW = 4
"""More pictures than this go on in the next row."""

_log = logging.getLogger("constraints.pictures")


def render(
    what: object,
    q: object = None,
    path: str | os.PathLike[str] | None = None,
    *,
    view: Wanted = None,
    shapes: Iterable[Shape] = (),
    frames: Sequence[str | Frame] = (),
    placements: Sequence[object] = (),
    labels: Iterable[str] | None = None,
    urdfs: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
    count: int = 4,
    width: int = 480,
    seconds: float = 120.0,
) -> Any:
    """A robot, path, motion or mechanism with its meshes, as a figure: what `show` shows, for a report.

    Chromium, or Chrome, opens the page of `show` without a window, and viser's camera takes the pictures (a second or
    so each, without a graphics card a few). Where there is no browser, or no viser, sticks are drawn, and the log says
    why.

    Args:
        what, q, shapes, frames, labels, urdfs, packages: as in `show`. Several configurations are side by side, at most
            four in a row.
        placements: placements in the world, drawn as three arrows, for instance a target.
        path: the file that the figure is written to.
        view: "xy", "xz", "yz", "3d", or (elevation, azimuth) [deg]; by default where `show` looks from.
        count: how many configurations at most, evenly spaced, the first and the last among them.
        width: of each picture [pixels].
        seconds: how long the browser may take to open the page, and for each picture.

    Returns:
        the matplotlib figure.

    Raises:
        OptionError: a count or a width that is none.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
        WrongObjectError, SizeError, NotFiniteError, NotNormalizedError, UnknownNameError, UnknownFrameError: as `show`.
    """
    n, wide = whole_number(count, "count of pictures", 1, 100), whole_number(width, "width of a picture", 16, 4096)
    limit = finite_number(seconds, "seconds of a picture")
    if limit <= 0.0:
        raise OptionError(f"seconds of a picture: expected more than 0, got {limit:g}")
    look = _look(view)
    film = film_of(what, q, shapes=shapes, labels=labels)
    steps = np.unique(np.linspace(0, len(film) - 1, min(n, len(film))).round().astype(int)).tolist()
    titles = [film.label(i) for i in steps]
    targets = as_placements(placements)
    arrows = [film.robot.frame(frame) for frame in frames]
    try:
        with View(replace(film, labels=()), arrows, files_of(film.robot, urdfs, packages)) as page:
            stage = page.stage
            for i, target in enumerate(targets):
                stage.add_arrows(f"/world/placement {i}", target)
            shot = Shot.of(_corners(stage, targets), stage.look() if look is None else look, wide)
            pictures = photographs(page, shot, steps, limit)
    except (MissingExtraError, NoCameraError) as error:
        _log.warning("%s: drawn as sticks, %s", film.name, error)
        return _sticks(what, film, steps, titles, path, view, frames, targets)
    figure = _side_by_side(pictures, titles, path is None)
    return save_figure(figure, path, DOTS)


def _corners(stage: Stage, targets: Sequence[Any]) -> Matrix:
    """Points (n, 3) that are to be seen: of the robot with the thickness of its sticks, and of targets."""
    points = stage.all_points()
    around = stage.thickness * np.vstack([np.eye(3), -np.eye(3)])
    points = (points[:, None] + around).reshape(-1, 3)
    arrows = [target.act(stage.arrow * axis) for target in targets for axis in (np.zeros(3), *np.eye(3))]
    return np.vstack([points, *arrows])


def _look(view: object) -> Vector | None:
    """Unit vector to the camera, of what a user says; None for the usual one."""
    if view is None:
        return None
    if isinstance(view, str):
        if view not in NAMES:
            raise UnknownNameError("view", view, NAMES)
        if view in VIEW_NORMALS:
            return VIEW_NORMALS[view]
    numbers: Any = USUAL if view == "3d" else view
    elevation, azimuth = (radians(finite_number(x, "angle of a view")) for x in numbers)
    return np.array([cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation)])


def _sticks(
    what: Any,
    film: Film,
    steps: Sequence[int],
    titles: Sequence[str],
    path: Any,
    view: Wanted,
    frames: Any,
    targets: Any,
) -> Any:
    """The same configurations as stick figures."""
    names = {
        title or " " * (i + 1): film.configurations[k] for i, (k, title) in enumerate(zip(steps, titles, strict=True))
    }
    thing = what if hasattr(what, "stack") else film.robot
    return plot_configurations(thing, names, path, view=view, frames=frames, placements=targets, shapes=film.shapes)


def _side_by_side(pictures: list[Picture], titles: Sequence[str], shown: bool) -> Any:
    """A figure with pictures in rows, dot by dot, and their titles above."""
    high, wide = pictures[0].shape[0] / DOTS, pictures[0].shape[1] / DOTS
    head = HEAD if any(titles) else 0.0
    rows = -(-len(pictures) // IN_A_ROW)
    columns = -(-len(pictures) // rows)
    width, height = wide * columns, (high + head) * rows
    figure = new_figure(width, height, "none", shown=shown)
    for i, (picture, title) in enumerate(zip(pictures, titles, strict=True)):
        row, column = divmod(i, columns)
        top = height - row * (high + head)
        axes = figure.add_axes((column * wide / width, (top - head - high) / height, wide / width, high / height))
        axes.imshow(picture, aspect="auto", interpolation="none")
        axes.axis("off")
        place = ((column + 0.5) * wide / width, (top - 0.22) / height)
        figure.text(*place, title, ha="center", va="center", fontsize=12)
    return figure

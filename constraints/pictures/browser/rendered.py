"""Robots with their meshes as a picture: the page of the viewer, photographed by a browser without a window."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liegroups.arguments import expect
from liegroups.arrays import Matrix

from ...errors import MissingExtraError
from ...keywords import record_by_name
from ...manipulation.graph import ConstraintGraph
from ...ranges import positive_number, whole_number
from ...robot.description import Drawing
from ..configurations import plot_configurations
from ..figures import DOTS, new_figure, save_figure
from ..panels import in_a_row
from ..views import Direction, Wanted
from .camera import NoCameraError, Picture, Shot, browser, photographs
from .film import thinned
from .films import film_of
from .stage import Stage
from .view import View, in_browser

HEAD = 0.34
"""Height of a title [inch]."""

_log = logging.getLogger("constraints.pictures")


@final
@record_by_name
@dataclass(frozen=True, kw_only=True)
class PhotoOptions:
    """How `render` takes pictures, each option given by its name. Immutable.

    Attributes:
        width: of each picture [pixels].
        seconds: how long the browser may take to open the page, and for each picture.

    Raises:
        OptionError: a width or a time that is none.
    """

    width: int = 480
    seconds: float = 120.0

    def __post_init__(self) -> None:
        """Check ranges."""
        whole_number(self.width, "width of a picture", 16, 4096)
        positive_number(self.seconds, "seconds of a picture")


def render(
    what: object,
    q: object = None,
    path: str | os.PathLike[str] | None = None,
    *,
    view: Wanted = None,
    drawing: Drawing | None = None,
    labels: Iterable[str] | ConstraintGraph | None = None,
    count: int = 4,
    photo: PhotoOptions | None = None,
) -> Any:
    """A robot, path, motion or mechanism with its meshes, as a figure: what `show` shows, for a report.

    Chromium, or Chrome, opens the page of `show` without a window, and viser's camera takes the pictures (a second or
    so each, without a graphics card a few). Where there is no browser, or no viser, sticks are drawn, and the log says
    why.

    Args:
        what, q, drawing, labels: as in `show`. Several configurations are side by side, at most four in a row.
        path: the file that the figure is written to.
        view: "xy", "xz", "yz", "3d", or (elevation, azimuth) [deg]; by default where `show` looks from.
        count: how many configurations at most, evenly spaced, the first and the last among them.
        photo: width, and how long it may take.

    Returns:
        the matplotlib figure.

    Raises:
        OptionError: a count that is none, or a drawing of what only stick figures have.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
        WrongObjectError, SizeError, NotFiniteError, NotNormalizedError, UnknownNameError, UnknownFrameError: as `show`.
    """
    n, how = whole_number(count, "count of pictures", 1, 100), PhotoOptions() if photo is None else photo
    expect(how, PhotoOptions, "photo of a picture")
    drawn = in_browser(drawing)
    look = None if view is None else np.cross(*Direction.of(view).basis)
    film = film_of(what, q, shapes=drawn.shapes, labels=labels)
    steps = thinned(len(film), n)
    titles = [film.label(i) for i in steps]
    arrows = [film.robot.at(film.configurations[i]).placement(frame).copy() for i in steps for frame in drawn.frames]
    try:
        browser()  # before meshes are read and sent
        with View(replace(film, labels=()), drawn) as page:
            look = page.stage.look() if look is None else look
            shot = Shot.of(_corners(page.stage, [*drawn.placements, *arrows]), look, how.width)
            pictures = photographs(page, shot, steps, how.seconds)
    except (MissingExtraError, NoCameraError) as error:
        _log.warning("%s: drawn as sticks, %s", film.robot.name, error)
        names = {
            title or " " * (i + 1): film.configurations[k]
            for i, (k, title) in enumerate(zip(steps, titles, strict=True))
        }
        thing: Any = what if hasattr(what, "stack") else film.robot
        sticks = replace(drawn, shapes=film.shapes, urdfs=None, packages=())
        return plot_configurations(thing, names, path, view=view, drawing=sticks)
    figure = _side_by_side(pictures, titles, path is None)
    return save_figure(figure, path)


def _corners(stage: Stage, targets: Sequence[Any]) -> Matrix:
    """Points (n, 3) that are to be seen: of the robot with the thickness of its sticks, and of arrows."""
    points = stage.all_points()
    around = stage.thickness * np.vstack([np.eye(3), -np.eye(3)])
    points = (points[:, None] + around).reshape(-1, 3)
    arrows = [target.act(stage.arrow * axis) for target in targets for axis in (np.zeros(3), *np.eye(3))]
    return np.vstack([points, *arrows])


def _side_by_side(pictures: list[Picture], titles: Sequence[str], shown: bool) -> Any:
    """A figure with pictures in rows, dot by dot, and their titles above."""
    high, wide = pictures[0].shape[0] / DOTS, pictures[0].shape[1] / DOTS
    head = HEAD if any(titles) else 0.0
    columns = in_a_row(len(pictures))
    rows = -(-len(pictures) // columns)
    figure = new_figure(wide * columns, (high + head) * rows, "none", shown=shown)
    above = {"left": 0.0, "right": 1.0, "bottom": 0.0, "top": 1.0 - head / (rows * (high + head))}
    room = {"wspace": 0.0, "hspace": head / high, **above}
    for axes in (grid := figure.subplots(rows, columns, squeeze=False, gridspec_kw=room).ravel().tolist()):
        axes.axis("off")
    for axes, picture, title in zip(grid, pictures, titles, strict=False):
        axes.imshow(picture, aspect="auto", interpolation="none")
        axes.set_title(title)
    return figure

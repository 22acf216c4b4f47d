"""Robots as stick figures, and what is around them: frames and boxes. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from liegroups.arguments import as_mapping, as_tuple, finite_vector
from liegroups.arrays import ArrayLike, Vector

from ..errors import WrongObjectError
from ..robot import Frame, Robot, as_placement
from ..robot.pinocchio import Placement
from ..robot.placement import has_matrix, shape_of
from .figures import Cube, new_figure, save_figure, show_cube

_AXIS_COLOURS = ("#d62728", "#2ca02c", "#1f77b4")


def stick_figure(robot: Robot, q: ArrayLike, tips: Sequence[str | Frame] = ()) -> list[tuple[Vector, Vector]]:
    """The robot as line segments in the world: from each joint to those it carries, and to the tips.

    Args:
        robot: the robot.
        q: configuration (nq,).
        tips: frames at the ends, for instance a hand.

    Returns:
        pairs of points (3,) [m].

    Raises:
        SizeError, NotFiniteError, NotNormalizedError, DtypeError: what is wrong with q.
        UnknownFrameError: a tip is no frame of the robot; lists the names that come closest.
    """
    posture, model, tips = robot.at(q), robot.model, as_tuple(tips, "tips", "frames")
    origins: list[Vector] = [np.array(oMi.translation) for oMi in posture.placed().oMi]
    sticks: list[tuple[Vector, Vector]] = []
    for joint in range(1, model.njoints):
        parent = int(model.parents[joint])
        if parent or model.joints[joint].nv == 1:  # nothing holds an object that moves freely
            sticks.append((origins[parent], origins[joint]))
    for tip in tips:
        frame = robot.frame(tip)
        sticks.append((origins[frame.joint], np.array(posture.placement(frame).translation)))
    return [(a, b) for a, b in sticks if float(np.abs(a - b).max()) > 1e-9]


def draw_configuration(
    axes: Any,
    robot: Robot,
    q: ArrayLike,
    *,
    tips: Sequence[str | Frame] = (),
    colour: str | Sequence[float] = "#1f77b4",
    width: float = 2.0,
    alpha: float = 1.0,
) -> None:
    """Draw a configuration as a stick figure, joints as dots, tips as bigger ones.

    Args:
        axes: matplotlib axes with `projection="3d"`.
        robot: the robot.
        q: configuration (nq,).
        tips: frames at the ends, for instance a hand.
        colour: of everything.
        width: of the sticks [points].
        alpha: opacity.

    Raises:
        WrongObjectError: the axes are flat.
        SizeError, NotFiniteError, NotNormalizedError, DtypeError, UnknownFrameError: as `stick_figure`.
    """
    if not hasattr(axes, "get_zlim"):
        raise WrongObjectError("axes", "matplotlib axes made with projection='3d'", axes)
    sticks = stick_figure(robot, q, tips)
    for a, b in sticks:
        axes.plot(*np.stack([a, b], axis=1), color=colour, linewidth=width, alpha=alpha, solid_capstyle="round")
    ends = np.array([end for _, end in sticks])
    inner = ends[: len(ends) - len(tips)] if tips else ends
    if len(inner):
        axes.plot(*inner.T, ".", color=colour, markersize=2.0 * width, alpha=alpha)
    if tips:
        posture = robot.at(q)
        points = np.array([posture.placement(robot.frame(tip)).translation for tip in tips])
        axes.plot(*points.T, "o", color=colour, markersize=2.6 * width, alpha=alpha, markeredgecolor="white")


def plot_configurations(
    robot: Robot,
    groups: Mapping[str, ArrayLike],
    path: str | os.PathLike[str] | None = None,
    *,
    tips: Sequence[str | Frame] = (),
    placements: Sequence[object] = (),
) -> Any:
    """Configurations as stick figures, one picture a group, side by side on one scale.

    Args:
        robot: the robot.
        groups: title -> configurations (nq,) or (n, nq), drawn over each other, the last one the strongest.
        path: also write the figure there.
        tips: frames at the ends, for instance a hand.
        placements: drawn in all pictures as three arrows, for instance a target.

    Returns:
        the matplotlib figure.

    Raises:
        WrongObjectError: no groups, or one without configurations; one tip, or one placement, that is in no sequence.
        SizeError, NotFiniteError, NotNormalizedError, DtypeError, UnknownFrameError: as `stick_figure`.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    tips, frames = as_tuple(tips, "tips", "frames"), _placements(placements)
    drawn = {
        title: [robot.check(q, f"configuration {i} of '{title}'") for i, q in enumerate(np.atleast_2d(np.asarray(Q)))]
        for title, Q in as_mapping(groups, "groups of configurations", "title -> configurations").items()
    }
    if not drawn or not all(drawn.values()):
        raise WrongObjectError("groups of configurations", "at least one, with configurations in each", groups)
    ends = [end for Q in drawn.values() for q in Q for stick in stick_figure(robot, q, tips) for end in stick]
    ends += [np.asarray(frame.translation) for frame in frames]
    cube = Cube.around(ends)
    figure = new_figure(4.2 * len(drawn), 4.4, layout="none")
    figure.text(0.5, 0.02, f"grid {cube.grid:g} m", ha="center", fontsize=9, color="#808080")
    for column, (title, Q) in enumerate(drawn.items(), start=1):
        width = 1.0 / len(drawn)
        figure.text((column - 0.5) * width, 0.93, title, ha="center", fontsize=13)
        axes = figure.add_axes(((column - 1) * width, 0.05, width, 0.88), projection="3d", computed_zorder=False)
        show_cube(axes, cube, cube.grid, zoom=1.15)
        for frame in frames:
            draw_frame(axes, frame, 0.3 * cube.reach)
        for i, q in enumerate(Q, start=1):
            draw_configuration(axes, robot, q, tips=tips, alpha=0.15 + 0.85 * (i / len(Q)) ** 3)
    return save_figure(figure, path)


def _placements(placements: Any) -> list[Placement]:
    """Placements to be drawn, or a typed error where one stands in place of a sequence of them."""
    several = "a sequence of placements, [placement]"
    if has_matrix(placements, 4) or shape_of(placements) == (7,):
        raise WrongObjectError("placements", several, "one placement")
    given = as_tuple(placements, "placements", several.removeprefix("a sequence of "))
    return [as_placement(placement, f"placement {i}") for i, placement in enumerate(given)]


def draw_frame(axes: Any, placement: object, length: float = 0.2, width: float = 3.0) -> None:
    """Draw a placement as three arrows: x red, y green, z blue.

    Args:
        axes: matplotlib axes with `projection="3d"`.
        placement: of the frame in the world (`pinocchio.SE3`, 4 x 4, or seven numbers).
        length: of the arrows [m].
        width: of the arrows [points].
    """
    oMf: Any = as_placement(placement)
    for column, colour in zip(np.asarray(oMf.rotation).T, _AXIS_COLOURS, strict=True):
        arrow = axes.quiver(*oMf.translation, *(length * column), color=colour, linewidth=width, arrow_length_ratio=0.3)
        arrow.set_zorder(10)


def draw_box(
    axes: Any, placement: object, size: ArrayLike, *, colour: str = "#1f77b4", width: float = 1.5, alpha: float = 1.0
) -> None:
    """Draw the edges of a box.

    Args:
        axes: matplotlib axes with `projection="3d"`.
        placement: of its middle in the world (`pinocchio.SE3`, 4 x 4, or seven numbers).
        size: lengths of its edges along x, y, z (3,) [m].
        colour: of the lines.
        width: of the lines [points].
        alpha: opacity.
    """
    oMb: Any = as_placement(placement)
    half = 0.5 * finite_vector(size, 3, "size of a box")
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    corners = corners @ np.asarray(oMb.rotation).T + np.asarray(oMb.translation)
    for i, j in combinations(range(8), 2):
        if (i ^ j).bit_count() == 1:
            axes.plot(*corners[[i, j]].T, color=colour, linewidth=width, alpha=alpha, solid_capstyle="round")

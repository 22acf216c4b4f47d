"""Pictures: the trace of a projection, and configurations as stick figures. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups.arguments import as_mapping, finite_vector
from liegroups.arrays import ArrayLike, Vector

from ..errors import MissingExtraError, OptionError, WrongObjectError
from ..robot import Frame, Robot, as_placement
from ..words import counted
from .figures import new_figure, save_figure

if TYPE_CHECKING:
    from ..solvers import Projection

__all__ = [
    "MissingExtraError",
    "draw_box",
    "draw_configuration",
    "draw_frame",
    "new_figure",
    "plot_configurations",
    "plot_trace",
    "round_grid",
    "save_figure",
    "stick_figure",
    "tidy_axes",
]

LEAST_RESIDUAL = 1e-17
"""A residual of zero has no place on a logarithmic axis: it is drawn here."""
_AXIS_COLOURS = ("#d62728", "#2ca02c", "#1f77b4")


def plot_trace(
    projection: Projection, path: str | os.PathLike[str] | None = None, threshold: float | None = None
) -> Any:
    """Residual by iteration on a logarithmic axis, one line a try, restarts marked.

    Args:
        projection: made with `Options(trace=True)`.
        path: also write the figure there.
        threshold: drawn as a line where it is known (`projector.options.threshold`).

    Returns:
        the matplotlib figure; a notebook shows it, `figure.savefig` writes it.

    Raises:
        OptionError: the projection has no trace.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    trace = getattr(projection, "trace", None)
    if trace is None:
        raise OptionError("the projection has no trace to plot: project with Options(trace=True)")
    figure = new_figure(7.0, 4.0)
    axes = figure.add_subplot()
    residuals = np.maximum(np.array([step.residual for step in trace], dtype=np.float64), LEAST_RESIDUAL)
    starts = [0, *(i for i, step in enumerate(trace) if step.restarted and i), len(trace)]
    for i, (begin, end) in enumerate(pairwise(starts)):
        reached = i == len(starts) - 2 and projection.success
        colour = "#1f77b4" if reached or len(starts) == 2 else "#9a9a9a"
        axes.semilogy(np.arange(begin, end), residuals[begin:end], "o-", color=colour, markersize=4, linewidth=1.5)
        if i:
            axes.axvline(begin - 0.5, color="#ff7f0e", linestyle=":", label="restart" if i == 1 else None)
    if threshold is not None:
        axes.axhline(threshold, color="#2ca02c", linestyle="--", linewidth=1.0, label=f"threshold {threshold:g}")
    if threshold is not None or len(starts) > 2:
        axes.legend(frameon=False)
    axes.set_xlabel("iterate")
    axes.set_ylabel("residual: largest error norm of a constraint")
    axes.set_title(
        f"{projection.status.name.replace('_', ' ').lower()}, {counted(projection.iterations, 'iteration')}", loc="left"
    )
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(True, which="major", color="#e4e4e4")
    axes.spines[["top", "right"]].set_visible(False)
    if path is not None:
        save_figure(figure, path)
    return figure


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
    posture, model = robot.at(q), robot.model
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
        WrongObjectError: no groups, or one without configurations.
        SizeError, NotFiniteError, NotNormalizedError, DtypeError, UnknownFrameError: as `stick_figure`.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    drawn = {
        title: [robot.check(q, f"configuration {i} of '{title}'") for i, q in enumerate(np.atleast_2d(np.asarray(Q)))]
        for title, Q in as_mapping(groups, "groups of configurations", "title -> configurations").items()
    }
    if not drawn or not all(drawn.values()):
        raise WrongObjectError("groups of configurations", "at least one, with configurations in each", groups)
    ends = [end for Q in drawn.values() for q in Q for stick in stick_figure(robot, q, tips) for end in stick]
    ends += [np.asarray(as_placement(placement).translation) for placement in placements]
    low, high = (limit(ends or [np.zeros(3)], axis=0) for limit in (np.min, np.max))
    reach = max(0.55 * float((high - low).max()), 0.1)
    grid = round_grid(reach)
    figure = new_figure(4.2 * len(drawn), 4.4, layout="none")
    figure.text(0.5, 0.02, f"grid {grid:g} m", ha="center", fontsize=9, color="#808080")
    for column, (title, Q) in enumerate(drawn.items(), start=1):
        width = 1.0 / len(drawn)
        figure.text((column - 0.5) * width, 0.93, title, ha="center", fontsize=13)
        axes = figure.add_axes(((column - 1) * width, 0.05, width, 0.88), projection="3d", computed_zorder=False)
        tidy_axes(axes, (low + high) / 2.0, reach, grid=grid, zoom=1.15)
        for placement in placements:
            draw_frame(axes, placement, 0.3 * reach)
        for i, q in enumerate(Q, start=1):
            draw_configuration(axes, robot, q, tips=tips, alpha=0.15 + 0.85 * (i / len(Q)) ** 3)
    if path is not None:
        save_figure(figure, path)
    return figure


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


def round_grid(reach: float) -> float:
    """A round distance between grid lines [m], about a quarter of a picture of half width `reach`."""
    power = 10.0 ** np.floor(np.log10(0.5 * reach))
    return float(next(power * step for step in (1, 2, 5, 10) if power * step >= 0.35 * reach))


def tidy_axes(axes: Any, middle: ArrayLike, reach: float, grid: float = 0.5, zoom: float = 1.3) -> None:
    """Show a cube of the world with a grid, and nothing else around it.

    Args:
        axes: matplotlib axes with `projection="3d"`.
        middle: of the cube (3,) [m].
        reach: half of its width [m].
        grid: distance between two lines [m].
        zoom: how much of the picture the cube fills.
    """
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=zoom)
    axes.view_init(elev=18.0, azim=-58.0)
    for name, centre in zip("xyz", np.asarray(middle, dtype=np.float64), strict=True):
        first, last = np.ceil((centre - reach) / grid), np.floor((centre + reach) / grid)
        axes.set(**{f"{name}lim": (centre - reach, centre + reach), f"{name}ticks": grid * np.arange(first, last + 1)})
        axis = getattr(axes, f"{name}axis")
        axis.set_ticklabels([])
        axis.set_pane_color((0.97, 0.97, 0.97))
        axis.line.set_color("#d0d0d0")
        axis.set_tick_params(color="#d0d0d0")
    axes.grid(True)

"""The way of an assembly as a picture: a strip of poses, or an animation (extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from liegroups.arguments import natural_number
from liegroups.arrays import Vector

from ..errors import OptionError
from ..loops.frame_rows import FrameRows
from ..robot import Frame, Robot
from .figures import save_animation
from .traces import draw_configuration, new_figure, save_figure, stick_figure, tidy_axes

if TYPE_CHECKING:
    from ..loops.assembly import Assembly

__all__ = ["plot_iterates"]

FRAME_TIME = 0.5
"""How long an iterate is shown in an animation [s]."""
OPEN, SHUT = "#d62728", "#2ca02c"


def plot_iterates(assembly: Assembly, path: str | os.PathLike[str] | None, poses: int) -> Any:
    """Draw the iterates of an assembly; the ends of open closures are joined by a dashed line.

    Args:
        assembly: with its trace.
        path: also write it there: `.gif` for an animation of all iterates, else a strip.
        poses: how many iterates a strip shows, the first and the last among them.

    Raises:
        OptionError, SizeError: no iterate, or no pose.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    iterates = assembly.iterates
    if natural_number(poses, "poses of a strip") == 0 or not iterates:
        raise OptionError(f"poses of a strip: expected at least one of {len(iterates)} iterates, got {poses}")
    residuals = [step.residual for step in assembly.projection.trace or ()]
    robot, pairs = assembly.constraint_set.robot, _pairs(assembly)
    view = _view(robot, iterates, pairs)
    last, count = len(iterates) - 1, min(poses, len(iterates))
    chosen = [round(i * last / max(count - 1, 1)) for i in range(count)]
    figure = new_figure(3.2 * len(chosen), 3.6, layout="none")
    for column, i in enumerate(chosen):
        place = (column / len(chosen), 0.0, 1.0 / len(chosen), 0.82)
        axes = figure.add_axes(place, projection="3d", computed_zorder=False)
        _draw(axes, robot, iterates[i], pairs, view, f"{i}: {residuals[i]:.1e}")
    words = "" if assembly.success else f", worst: {assembly.worst}"
    figure.text(0.5, 0.985, f"{assembly.status.name}{words}", ha="center", va="top", fontsize=10)
    if path is not None:
        if os.fspath(path).lower().endswith(".gif"):
            _animate(robot, assembly, pairs, view, os.fspath(path))
        else:
            save_figure(figure, path)
    return figure


def _draw(axes: Any, robot: Robot, q: Vector, pairs: list[tuple[Frame, Frame]], view: tuple[Vector, float], title: str
          ) -> None:  # fmt: skip
    tidy_axes(axes, *view, grid=0.5 * view[1], zoom=1.1)
    draw_configuration(axes, robot, q, tips=[frame for pair in pairs for frame in pair])
    posture, shut = robot.at(q), True
    for a, b in pairs:
        ends = np.array([posture.placement(a).translation, posture.placement(b).translation])
        if np.abs(ends[0] - ends[1]).max() > 1e-3 * view[1]:
            shut = False
            axes.plot(*ends.T, "--", color=OPEN, linewidth=1.5, zorder=11)
    axes.set_title(title, fontsize=9, color=SHUT if shut else OPEN)


def _animate(robot: Robot, assembly: Assembly, pairs: list[tuple[Frame, Frame]], view: tuple[Vector, float], path: str
             ) -> None:  # fmt: skip
    figure = new_figure(4.0, 4.0, layout="none")
    axes = figure.add_axes((0.0, 0.0, 1.0, 0.92), projection="3d", computed_zorder=False)

    def pictures() -> Iterator[None]:
        for i, step in enumerate(assembly.projection.trace or ()):
            axes.clear()
            _draw(axes, robot, step.q, pairs, view, f"{i}: {step.residual:.1e}")
            yield

    save_animation(figure, pictures(), path, 1.0 / FRAME_TIME, 100)


def _pairs(assembly: Assembly) -> list[tuple[Frame, Frame]]:
    """The two frames of each closure."""
    owners = assembly.constraint_set.stack
    return [(owner.predecessor, owner.successor) for owner in owners if isinstance(owner, FrameRows)]


def _view(robot: Robot, iterates: tuple[Vector, ...], pairs: list[tuple[Frame, Frame]]) -> tuple[Vector, float]:
    """Middle (3,) and half the width of a cube around all iterates [m]."""
    tips = [frame for pair in pairs for frame in pair]
    sticks = [end for q in iterates for stick in stick_figure(robot, q, tips) for end in stick]
    points = np.array(sticks).reshape(-1, 3) if sticks else np.zeros((1, 3))
    lowest, highest = points.min(axis=0), points.max(axis=0)
    return 0.5 * (lowest + highest), max(0.53 * float((highest - lowest).max()), 1e-3)

"""A mechanism before and after its assembly, as a picture (extra `plot`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from liegroups.arrays import ArrayLike, Vector

from ..models.mechanism import Mechanism
from ..robot import Frame
from ..rows.stacking import stack_rows
from .traces import draw_configuration, new_figure, round_grid, save_figure, stick_figure, tidy_axes

__all__ = ["draw_closures", "plot_assembly", "view_of"]

NAMED = 6
"""How many closures are written out beside a picture, the worst first."""
OPEN, SHUT = "#d62728", "#2ca02c"
SEEN_APART = 1e-3
"""Ends of a closure that are further apart than this part of the picture are joined by a line."""


def plot_assembly(
    mechanism: Mechanism, start: ArrayLike, end: ArrayLike, path: str | os.PathLike[str] | None = None
) -> Any:
    """Two configurations side by side, usually before and after assembly, with the errors of the closures.

    Ends of a closure are dots, joined by a red line where they are apart.

    Args:
        mechanism: which.
        start, end: configurations (nq,).
        path: also write the picture there.

    Returns:
        the matplotlib figure.

    Raises:
        SizeError, NotFiniteError, NotNormalizedError: what is wrong with a configuration.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    robot = mechanism.robot
    configurations = [np.array(robot.check(q, what)) for q, what in ((start, "start"), (end, "end"))]
    figure = new_figure(11.0, 6.6, layout="none")
    figure.text(0.5, 0.955, mechanism.name, ha="center", fontsize=15, fontweight="bold")
    view = view_of(mechanism, configurations)
    for column, (q, word) in enumerate(zip(configurations, ("before", "after"), strict=True)):
        axes = figure.add_axes((0.5 * column, 0.2, 0.5, 0.72), projection="3d", computed_zorder=False)
        tidy_axes(axes, *view, grid=round_grid(view[1]), zoom=1.15)
        draw_configuration(axes, robot, q, tips=_ends(mechanism), colour="#1f77b4", width=2.0)
        errors = draw_closures(axes, mechanism, q, view[1])
        worst = max(errors.values(), default=0.0)
        colour = OPEN if worst > 1e-6 else SHUT
        middle = 0.25 + 0.5 * column
        figure.text(middle, 0.905, f"{word}: residual {worst:.2g}", ha="center", fontsize=13, color=colour)
        lines = [f"{name}: {error:.1e}" for name, error in sorted(errors.items(), key=lambda e: -e[1])[:NAMED]]
        if len(errors) > NAMED:
            lines.append(f"and {len(errors) - NAMED} more")
        figure.text(middle, 0.185, "\n".join(lines), ha="center", va="top", fontsize=9, color="#404040")
    figure.text(0.5, 0.01, f"grid {round_grid(view[1]):g} m", ha="center", fontsize=9, color="#808080")
    if path is not None:
        save_figure(figure, path)
    return figure


def draw_closures(axes: Any, mechanism: Mechanism, q: ArrayLike, reach: float) -> dict[str, float]:
    """Draw a line between the ends of each closure that is open.

    Args:
        axes: matplotlib axes with `projection="3d"`.
        mechanism: whose closures.
        q: configuration (nq,).
        reach: half the width of what is shown [m].

    Returns:
        the error norm of each closure and coupler, by name.
    """
    posture = mechanism.robot.at(q)
    for a, b in _pairs(mechanism):
        ends = np.array([posture.placement(a).translation, posture.placement(b).translation])
        for frame, end in zip((a, b), ends, strict=True):
            if not frame.joint:  # in the world
                axes.plot(*end[:, None], "s", color="#404040", markersize=5.0, zorder=11)
        if np.abs(ends[0] - ends[1]).max() > SEEN_APART * reach:
            axes.plot(*ends.T, "--", color=OPEN, linewidth=1.5, zorder=11)
    if not mechanism.rows:
        return {}
    error = stack_rows(mechanism.stack, posture, jacobian=False).error
    parts = zip(mechanism.stack, mechanism.stack.slices, strict=True)
    return {owner.name: float(np.sqrt(error[s] @ error[s])) for owner, s in parts}


def view_of(mechanism: Mechanism, configurations: Sequence[Vector]) -> tuple[Vector, float]:
    """Middle (3,) and half the width of a cube around a mechanism in some configurations [m]."""
    held = [np.array(frame.placement.translation) for pair in _pairs(mechanism) for frame in pair if not frame.joint]
    points = list(held)
    for q in configurations:
        points += [end for stick in stick_figure(mechanism.robot, q, _ends(mechanism)) for end in stick]
    points = points or [np.zeros(3)]
    lowest, highest = np.min(points, axis=0), np.max(points, axis=0)
    return 0.5 * (lowest + highest), max(0.53 * float((highest - lowest).max()), 1e-3)


def _pairs(mechanism: Mechanism) -> list[tuple[Frame, Frame]]:
    """The two frames of each closure."""
    pairs: list[tuple[Frame, Frame]] = []
    for closure in mechanism.closures:
        a, b = (getattr(closure, end, None) for end in ("predecessor", "successor"))
        if isinstance(a, Frame) and isinstance(b, Frame):
            pairs.append((a, b))
    return pairs


def _ends(mechanism: Mechanism) -> list[Frame]:
    """The frames of the closures that are on moving bodies."""
    return [frame for pair in _pairs(mechanism) for frame in pair if frame.joint]

"""The picture of `project`: residuals by iteration, and what became of a robot's configurations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..pictures.figures import Cube, new_figure, save_figure, show_cube
from ..pictures.robots import draw_configuration, stick_figure
from ..pictures.traces import LEAST_RESIDUAL
from ..rows.right_hand_side import RightHandSide
from ..solvers import Projector
from ..solvers.projection.batch import ProjectionBatch

TRACES, SHOWN = 40, 8
"""How many starts have their residuals drawn, and how many configurations are shown."""
GOOD, BAD = "#1f77b4", "#d62728"


def draw(batch: ProjectionBatch, rhs: RightHandSide | None, path: str) -> None:
    """Write the picture: the residuals of the first starts by iteration; beside it the robot, where there is one.

    Args:
        batch: the projections.
        rhs: their right-hand sides; those of the constraints if absent.
        path: the file.

    Raises:
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    robot = batch.problem.robot
    figure = new_figure(12.0 if robot else 7.0, 5.0)
    _residuals(figure.add_subplot(1, 2 if robot else 1, 1), batch, rhs)
    if robot is not None:
        shown = (np.flatnonzero(batch.success) if batch.success.any() else np.arange(len(batch)))[:SHOWN]
        axes: Any = figure.add_subplot(1, 2, 2, projection="3d")
        show_cube(axes, Cube.around((end for k in shown for _, end in stick_figure(robot, batch.q[k])), 0.3))
        for i, k in enumerate(shown):
            draw_configuration(axes, robot, batch.q[k], colour=f"C{i}")
        what = "projected configurations" if batch.success.any() else "best iterates, no start was projected"
        axes.set_title(f"{len(shown)} {what}", loc="left")
    save_figure(figure, path)


def _residuals(axes: Any, batch: ProjectionBatch, rhs: RightHandSide | None) -> None:
    projector = Projector(batch.problem, replace(batch.options, trace=True))
    for k in range(min(TRACES, len(batch))):
        trace = projector.project(batch.starts[k], rhs).trace or ()
        residuals = np.maximum([step.residual for step in trace], LEAST_RESIDUAL)
        axes.semilogy(residuals, color=GOOD if batch.success[k] else BAD, alpha=0.5, linewidth=1.0)
    axes.axhline(batch.options.threshold, color="#2ca02c", linestyle="--", linewidth=1.0)
    axes.set_xlabel("iterate")
    axes.set_ylabel("residual: largest error norm of a constraint")
    axes.set_title(f"{int(batch.success.sum())} of {len(batch)} projected (failures red)", loc="left")
    axes.grid(True, which="major", color="#e4e4e4")
    axes.spines[["top", "right"]].set_visible(False)

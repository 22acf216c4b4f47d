"""The picture of `project`: residuals by iteration, and what became of a robot's configurations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from liegroups import Space
from liegroups.arrays import Matrix

from ..linear_algebra import row_lengths
from ..pictures.figures import BAD, GOOD, PALETTE, new_figure, save_figure, tidy
from ..pictures.robots import Stroke
from ..pictures.scenes import DrawnScene
from ..pictures.traces import LEAST_RESIDUAL
from ..rows.right_hand_side import RightHandSide
from ..solvers import Projector
from ..solvers.projection.batch import ProjectionBatch

TRACES, SHOWN = 40, 6
"""How many starts have their residuals drawn, and how many configurations are shown."""
ALIKE = 0.05
"""Configurations at most so far apart look like one [rad or m]."""


def draw(batch: ProjectionBatch, rhs: RightHandSide | None, path: str) -> None:
    """Write the picture: the residuals of the first starts by iteration; beside it the robot, where there is one.

    Raises:
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    robot = batch.problem.robot
    figure = new_figure(12.0 if robot else 7.0, 5.0, shown=False)
    _residuals(figure.add_subplot(1, 2 if robot else 1, 1), batch, rhs)
    if robot is not None:
        rows = np.flatnonzero(batch.success) if batch.success.any() else np.arange(len(batch))
        shown = rows[far_apart(batch.problem.space, batch.q[rows])]
        scene = DrawnScene(robot)
        scene.look(batch.q[shown], None)
        space = {} if scene.view.flat else {"projection": "3d", "computed_zorder": False}
        axes: Any = figure.add_subplot(1, 2, 2, **space)
        scene.on_axes(axes)
        scene.show(axes, scales=True)
        for i, k in enumerate(shown):
            scene.draw(axes, batch.q[k], Stroke(PALETTE[i % len(PALETTE)]))
        what = "projected configurations" if batch.success.any() else "best iterates, no start was projected"
        alike = "; the others are alike" if len(shown) < min(len(rows), SHOWN) else ""
        axes.set_title(f"{len(shown)} of {len(rows)} {what}{alike}", loc="left")
    save_figure(figure, path)


def far_apart(space: Space, Q: Matrix) -> list[int]:
    """At most `SHOWN` rows of configurations (n, nq) that differ by more than `ALIKE`.

    The first, and then each time the one farthest from all before it.
    """
    rows, distances = [0], np.full(len(Q), np.inf)
    while len(rows) < SHOWN:
        last = np.broadcast_to(Q[rows[-1]], Q.shape)
        distances = np.minimum(distances, row_lengths(space.difference(last, Q)))
        farthest = int(distances.argmax())
        if distances[farthest] <= ALIKE:
            break
        rows.append(farthest)
    return rows


def _residuals(axes: Any, batch: ProjectionBatch, rhs: RightHandSide | None) -> None:
    projector = Projector(batch.problem, replace(batch.options, trace=True))
    for k in range(min(TRACES, len(batch))):
        trace = projector.project(batch.starts[k], rhs).trace or ()
        residuals = np.maximum([step.residual for step in trace], LEAST_RESIDUAL)
        axes.semilogy(residuals, color=GOOD if batch.success[k] else BAD, alpha=0.5, linewidth=1.0)
    axes.axhline(batch.options.threshold, color="#505050", linestyle="--", linewidth=1.0)
    axes.set_xlabel("iterate")
    axes.set_ylabel("residual: largest error norm of a constraint")
    axes.set_title(f"{int(batch.success.sum())} of {len(batch)} projected (failures orange)", loc="left")
    tidy(axes)

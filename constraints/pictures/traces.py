"""The trace of a projection as a picture. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import OptionError
from ..words import counted
from .figures import new_figure, save_figure

if TYPE_CHECKING:
    from ..solvers import Projection

LEAST_RESIDUAL = 1e-17
"""A residual of zero has no place on a logarithmic axis: it is drawn here."""


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
    return save_figure(figure, path)

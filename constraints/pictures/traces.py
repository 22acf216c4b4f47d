"""The trace of a projection as a picture. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import OptionError
from ..words import counted
from .figures import BAD, GOOD, PALETTE, WIDE, check_place, new_figure, save_figure, tidy

if TYPE_CHECKING:
    from ..solvers import Projection

FAILED = "#8a8a8a"
"""Of tries that were given up."""
HIGH = 4.0
"""Height of the figure [inch]."""
LEAST_RESIDUAL = 1e-17
"""A residual of zero has no place on a logarithmic axis: it is drawn here."""


def plot_trace(
    projection: Projection, path: str | os.PathLike[str] | None = None, threshold: float | None = None, ax: Any = None
) -> Any:
    """Residual by iteration on a logarithmic axis, one line a try, restarts marked.

    Args:
        projection: made with `Options(trace=True)`.
        path: also write the figure there.
        threshold: drawn as a line where it is known (`projector.options.threshold`).
        ax: matplotlib axes to draw in; a new figure by default.

    Returns:
        the matplotlib figure; a notebook shows it, `figure.savefig` writes it.

    Raises:
        OptionError: the projection has no trace.
        WrongObjectError: `ax` are no axes, `path` no path.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    trace = getattr(projection, "trace", None)
    if trace is None:
        raise OptionError("the projection has no trace to plot: project with Options(trace=True)")
    check_place(ax, path)
    axes = new_figure(WIDE, HIGH, shown=path is None).add_subplot() if ax is None else ax
    residuals = np.maximum(np.array([step.residual for step in trace], dtype=np.float64), LEAST_RESIDUAL)
    starts = [0, *(i for i, step in enumerate(trace) if step.restarted and i), len(trace)]
    for i, (begin, end) in enumerate(pairwise(starts)):
        reached = i == len(starts) - 2 and projection.success
        colour = PALETTE[0] if reached or len(starts) == 2 else FAILED
        axes.semilogy(np.arange(begin, end), residuals[begin:end], "o-", color=colour)
        if i:
            axes.axvline(begin - 0.5, color=BAD, linestyle=":", label="restart" if i == 1 else None)
    if threshold is not None:
        axes.axhline(threshold, color=GOOD, linestyle="--", label=f"threshold {threshold:g}")
    if threshold is not None or len(starts) > 2:
        axes.legend(frameon=False, loc="upper right")  # "best" takes long, and warns
    axes.set_xlabel("iterate")
    axes.set_ylabel("residual: largest error norm of a constraint")
    axes.set_title(
        f"{projection.status.name.replace('_', ' ').lower()}, {counted(projection.iterations, 'iteration')}", loc="left"
    )
    axes.xaxis.get_major_locator().set_params(integer=True)
    tidy(axes)
    return save_figure(axes.figure, path)

"""The picture of `plan`: configurations and errors along a path, transitions marked."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import Any

import numpy as np

from liegroups import SE3, SO3, R3xSO3
from liegroups.arrays import Matrix, Vector
from liegroups.by_name import entry_names

from ..paths.path import Path
from ..pictures.figures import BESIDE, LINES, QUIET, TEXT, moving_most, name_ordinate, save_figure, stacked

WIDTH, LINE = 9.0, 0.21
"""Width of the figure, and height of a line of text [inch]."""
LETTERS = 110
"""Of a line of text."""
LEAST_ERROR = 1e-16
"""Smaller errors are drawn at this."""


def draw(path: Path, steps: tuple[str, ...], file: str) -> None:
    """Write the picture: a panel for each part of the robot, and one for the errors; bands by transition of each piece.

    Raises:
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    panels = _panels(path)
    bands = _bands(path, steps)
    text = textwrap.wrap("    ".join(f"{i}: {name}" for i, (name, _, _) in enumerate(bands, start=1)), LETTERS)
    figure, axes = stacked(len(panels) + 1, shown=False)
    figure.set_size_inches(WIDTH, figure.get_figheight() + LINE * len(text))
    for ax, (name, curves) in zip(axes, panels.items(), strict=False):
        for colour, (label, values) in zip(LINES, curves.items(), strict=False):
            ax.plot(path.times, values, label=label, color=colour)
        name_ordinate(ax, f"{name} [m, rad]" if name else "q [m, rad]")
        ax.legend(**BESIDE)
    _errors(axes[-1], path)
    for ax in axes:
        for i, (_, begin, end) in enumerate(bands):
            ax.axvspan(begin, end, color=QUIET, alpha=0.1 * (i % 2), linewidth=0.0)
    for i, (_, begin, end) in enumerate(bands, start=1):
        place = axes[0].get_xaxis_transform()
        axes[0].text(0.5 * (begin + end), 1.02, str(i), transform=place, ha="center", color=TEXT)
    if text:
        figure.suptitle("\n".join(text), fontsize="small", ha="left", x=0.01)
    save_figure(figure, file)


def _panels(path: Path) -> dict[str, dict[str, Vector]]:
    """Coordinates by the part of the system that they are of, each by its name: of many those that change most."""
    space, samples = path.pieces[0].problem.space, _without_flips(path)
    found: dict[str, dict[str, Vector]] = {}
    for i, name in enumerate(entry_names(space.factors, configuration=True)):
        part, _, joint = name.rpartition("/")
        found.setdefault(part, {})[joint] = samples[:, i]
    return {part: moving_most(curves) for part, curves in found.items()}


def _without_flips(path: Path) -> Matrix:
    """Samples (n, nq); of a quaternion and its opposite, which are one rotation, that which is near the one before."""
    samples = path.samples
    for leaf in path.pieces[0].problem.space.leaves():
        if leaf.space not in (SO3, SE3, R3xSO3):
            continue
        turns = samples[:, leaf.q.stop - 4 : leaf.q.stop]
        signs = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
        turns[1:] *= np.cumprod(signs)[:, None]
    return samples


def _bands(path: Path, steps: tuple[str, ...]) -> list[tuple[str, float, float]]:
    """Transitions, when each begins and ends."""
    ends = np.cumsum(path.durations).tolist()
    rows = zip(steps, ends, path.durations, strict=False)
    bands: list[tuple[str, float, float]] = []
    for name, group in groupby(rows, key=lambda row: row[0]):
        pieces = [*group]
        bands.append((name, pieces[0][1] - pieces[0][2], pieces[-1][1]))
    return bands


def _errors(ax: Any, path: Path) -> None:
    """The largest error of a constraint at each sample, and the threshold."""
    errors = [
        piece.projector.residual(q, piece.sides.at(t))
        for piece in path.pieces
        for q, t in zip(piece.samples, piece.times.tolist(), strict=True)
    ]
    ax.semilogy(path.times, np.maximum(errors, LEAST_ERROR), color=LINES[0])
    threshold = max(piece.options.threshold for piece in path.pieces)
    ax.axhline(threshold, color=QUIET, linestyle="--", label="threshold")
    ax.set_ylabel("largest error")
    ax.set_xlabel("time [s]")
    ax.legend(**BESIDE)

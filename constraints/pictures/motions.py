"""A motion over time, as a picture: coordinates, forces, power and energy. Matplotlib (extra `plot`) on use only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from liegroups.arguments import expect
from liegroups.arrays import Vector

from ..dynamics.motions import MotionRecord
from ..dynamics.motions.series import energies_of, series_of
from ..errors import UnknownNameError
from .figures import BESIDE, LINES, QUIET, moving_most, name_ordinate, save_figure, stacked

PANELS = ("q", "v", "a", "force", "multiplier", "power", "energy")
"""What can be drawn, a panel each."""

LABELS = {
    "q": "q [m, rad]",
    "v": "v [m/s, rad/s]",
    "a": "a [m/s2, rad/s2]",
    "force": "force [N, N m]",
    "multiplier": "multiplier [N, N m]",
    "power": "power [W]",
    "energy": "energy [J]",
}


def plot_motion(
    record: MotionRecord, path: str | os.PathLike[str] | None = None, what: Sequence[str] | str | None = None
) -> Any:
    """Curves of a motion over time, a panel for each quantity; events are vertical lines.

    Args:
        record: with at least one state.
        path: also write the figure there.
        what: some of "q", "v", "a", "force", "multiplier", "power", "energy", in order; or names of columns of
            `record.series()`, all in one panel each. By default q, v, forces if there are some, and energy.

    Returns:
        the matplotlib figure.

    Raises:
        UnknownNameError: no such quantity or column.
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    expect(record, MotionRecord, "motion to be drawn")
    columns = series_of(record)
    wanted = _default(columns) if what is None else (what,) if isinstance(what, str) else tuple(what)
    panels = [(name, _lines(record, columns, name)) for name in wanted]
    figure, axes = stacked(len(panels), path is None)
    for ax, (name, lines) in zip(axes, panels, strict=True):
        for colour, (label, values) in zip(LINES, lines.items(), strict=False):
            ax.plot(record.times, values, label=label, color=colour)
        for crossing in record.events:
            ax.axvline(crossing.time, color=QUIET, linestyle=":")
        name_ordinate(ax, LABELS.get(name, name))
        if lines:
            ax.legend(**BESIDE)
    axes[-1].set_xlabel("time [s]")
    axes[0].set_title(str(record.status.name), fontsize="small")
    return save_figure(figure, path)


def _default(columns: Mapping[str, Vector]) -> tuple[str, ...]:
    has_forces = any(name.startswith("force of ") for name in columns)
    return ("q", "v", *(("force", "power") if has_forces else ()), "energy")


def _lines(record: MotionRecord, columns: Mapping[str, Vector], name: str) -> dict[str, Vector]:
    """The curves of a panel, by label: of many those that change most."""
    if name == "energy":
        return energies_of(record)
    if name in columns:
        return {name: columns[name]}
    if name not in PANELS:
        raise UnknownNameError("quantity of a motion", name, (*PANELS, *columns))
    prefix = f"{name} of " if name in ("force", "power") else f"{name} "
    return moving_most({key[len(prefix) :]: values for key, values in columns.items() if key.startswith(prefix)})

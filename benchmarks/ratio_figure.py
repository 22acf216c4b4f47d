"""The figure of the benchmark: cost of a usable solution against hpp-constraints, by problem, beside its target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullLocator

__all__ = ["TARGETS", "draw"]

TARGETS = {
    "ur5_pose": 0.22, "panda_pose": 1.1, "pr2_dual": 2.1, "talos_stance_near": 0.6, "talos_stance_far": 0.3,
    "ur5_grasp_explicit": 1.3, "ur5_grasp_implicit": 0.5, "ur5_place_explicit": 0.18, "talos_hands": 0.7,
}  # fmt: skip
"""Ratio that the readable engine was to reach, by problem."""


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the figure.

    Args:
        rows: entries of the benchmark's JSON; those without a ratio are left out.
        path: a file that matplotlib can write, its format by its suffix.
    """
    known = [row for row in rows if row["ratio"] is not None]
    known.sort(key=lambda row: row["ratio"], reverse=True)
    names, ratios = [row["problem"] for row in known], [row["ratio"] for row in known]
    figure, axes = plt.subplots(figsize=(8.0, 1.3 + 0.38 * len(known)), layout="constrained")
    axes.barh(names, [x - 1.0 for x in ratios], left=1.0, height=0.6, color="#4c72b0", label="measured", zorder=2)
    marks = [(i, TARGETS[name]) for i, name in enumerate(names) if name in TARGETS]
    if marks:
        axes.plot(
            [target for _, target in marks], [i for i, _ in marks], "|", color="#c44e52", markersize=18,
            markeredgewidth=2.5, label="target", zorder=4,
        )  # fmt: skip
    axes.axvline(1.0, color="black", linewidth=1.0, zorder=3)
    shown = [1.0, *ratios, *(target for _, target in marks)]
    axes.set_xscale("log")
    axes.set_xlim(0.75 * min(shown), 1.3 * max(shown))
    axes.set_xticks(
        [x for x in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if min(shown) / 1.3 < x < 1.3 * max(shown)]
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    column = axes.get_yaxis_transform()  # x in the axes, y in the data
    for i, row in enumerate(known):
        said = f"{row['ratio']:.2f}    {100 * row['success']:.0f} %    {100 * row['hpp']['success']:.0f} %"
        axes.text(1.02, i, said, va="center", fontsize=9, transform=column)
    axes.text(1.02, len(known) - 0.4, "ratio   success   HPP's", fontsize=8, transform=column, color="0.35")
    axes.set_xlabel("cost of a usable solution, hpp-constraints with its best line search = 1")
    axes.grid(axis="x", color="0.88", zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)

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
    figure, axes = plt.subplots(figsize=(8.0, 1.3 + 0.42 * len(known)), layout="constrained")
    axes.barh(names, ratios, height=0.62, color="#4c72b0", label="measured", zorder=2)
    marks = [(i, TARGETS[name]) for i, name in enumerate(names) if name in TARGETS]
    if marks:
        axes.plot(
            [target for _, target in marks], [i for i, _ in marks], "|", color="#c44e52", markersize=20,
            markeredgewidth=2.5, label="target", zorder=4,
        )  # fmt: skip
    axes.axvline(1.0, color="black", linewidth=1.0, zorder=3, label="as fast as hpp-constraints")
    axes.set_xscale("log")
    largest = max([1.0, *ratios, *(target for _, target in marks)])
    axes.set_xlim(0.7 * min([0.5, *ratios, *(target for _, target in marks)]), 2.4 * largest)
    axes.set_xticks([tick for tick in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if tick <= 2.0 * largest])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    for i, row in enumerate(known):
        end = max(row["ratio"], TARGETS.get(row["problem"], 0.0))
        said = f"{row['ratio']:.2f}   {100 * row['success']:.0f} % (HPP {100 * row['hpp']['success']:.0f} %)"
        axes.text(1.08 * end, i, said, va="center", fontsize=8, zorder=5)
    axes.set_xlabel("cost of a usable solution / that of hpp-constraints with its best line search (success beside it)")
    axes.grid(axis="x", color="0.88", zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)

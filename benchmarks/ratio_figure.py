"""The figure of the benchmark: cost of a usable solution against hpp-constraints, by problem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullLocator

__all__ = ["draw"]

TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def draw(rows: Sequence[dict[str, Any]], path: Path, beside: Sequence[dict[str, Any]] = ()) -> None:
    """Write the figure: a bar a problem, and a mark where another engine is.

    Args:
        rows: entries of the benchmark's JSON; those without a ratio are left out.
        path: a file that matplotlib can write, its format by its suffix.
        beside: entries of another run, of the same problems or some of them.
    """
    known = sorted((row for row in rows if row["ratio"] is not None), key=lambda row: row["ratio"], reverse=True)
    names, ratios = [row["problem"] for row in known], [row["ratio"] for row in known]
    others = {row["problem"]: row for row in beside if row["ratio"] is not None and row["problem"] in names}
    figure, axes = plt.subplots(figsize=(8.0, 1.3 + 0.38 * len(known)), layout="constrained")
    engine = known[0]["engine"] if known else "measured"
    axes.barh(names, [x - 1.0 for x in ratios], left=1.0, height=0.6, color="#4c72b0", label=engine, zorder=2)
    if others:
        axes.plot(
            [row["ratio"] for row in others.values()], [names.index(name) for name in others], "|", color="#dd8452",
            markersize=18, markeredgewidth=3.0, label=next(iter(others.values()))["engine"], zorder=4,
        )  # fmt: skip
    axes.axvline(1.0, color="black", linewidth=1.0, zorder=3)
    shown = [1.0, *ratios, *(row["ratio"] for row in others.values())]
    axes.set_xscale("log")
    axes.set_xlim(0.75 * min(shown), 1.3 * max(shown))
    axes.set_xticks([x for x in TICKS if 0.75 * min(shown) < x < 1.3 * max(shown)])
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
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9, title="engine", title_fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)

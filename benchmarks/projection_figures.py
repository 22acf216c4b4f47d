"""Figures of projections: an entry of the JSON for each problem, their table, and the mean of the ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from turns import Run

Row = dict[str, Any]


def best_line_search(theirs: dict[str, Run]) -> str | None:
    """The one with the cheapest usable solutions, then with the most; None where none was run."""
    return min(theirs, key=lambda name: (theirs[name].us_per_usable or np.inf, -theirs[name].success), default=None)


def figures(
    name: str,
    engine: str,
    ours: Run,
    without: Run,
    theirs: dict[str, Run],
    solved: tuple[float | None, float | None] = (None, None),
) -> Row:
    """One entry of the JSON; `solved` is what a start that is a solution costs, ours and theirs."""
    best = best_line_search(theirs)
    iterations = float(ours.iterations.sum())
    mine, claimed = ours.us_per_usable, ours.errors[ours.claimed]
    cost = None if best is None else theirs[best].us_per_usable
    return {
        "problem": name,
        "engine": engine,
        "success": ours.success,
        "success_without_restarts": without.success,
        "us_per_projection": float(np.median(ours.us_by_start)),
        "us_per_usable": mine,
        "us_solved": solved[0],
        "iterations": float(ours.iterations.mean()),
        "us_per_iteration": float(ours.us_by_start.sum() / iterations) if iterations else None,
        "max_error": float(claimed.max()) if claimed.size else None,
        "hpp": None if best is None else {
            "success": theirs[best].success, "us_per_usable": cost, "us_solved": solved[1], "line_search": best
        },
        "ratio": None if cost is None or mine is None else mine / cost,
    }  # fmt: skip


COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("problem", lambda row: row["problem"]),
    ("success", lambda row: f"{100 * row['success']:.1f} %"),
    ("no restarts", lambda row: f"{100 * row['success_without_restarts']:.1f} %"),
    ("us each", lambda row: f"{row['us_per_projection']:.0f}"),
    ("us usable", lambda row: _number(row["us_per_usable"], ".0f")),
    ("us solved", lambda row: _number(row["us_solved"], ".1f")),
    ("iterations", lambda row: f"{row['iterations']:.1f}"),
    ("us iteration", lambda row: _number(row["us_per_iteration"], ".1f")),
    ("max error", lambda row: _number(row["max_error"], ".1e")),
    ("HPP success", lambda row: f"{100 * row['hpp']['success']:.1f} %" if row["hpp"] else "-"),
    ("HPP usable", lambda row: _number(row["hpp"]["us_per_usable"], ".0f") if row["hpp"] else "-"),
    ("HPP solved", lambda row: _number(row["hpp"]["us_solved"], ".1f") if row["hpp"] else "-"),
    ("line search", lambda row: row["hpp"]["line_search"] if row["hpp"] else "-"),
    ("ratio", lambda row: _number(row["ratio"], ".2f")),
)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def table(rows: list[Row]) -> str:
    """The figures as text, a line a problem."""
    cells = [[head for head, _ in COLUMNS], *([cell(row) for _, cell in COLUMNS] for row in rows)]
    return aligned(cells)


def aligned(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table as text: so many columns to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = "<" * left + ">" * (len(widths) - left)
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True))
        for line in lines
    )


def summary(rows: list[Row]) -> str:
    """Geometric mean and largest of the ratios, in a line; empty where there is none."""
    ratios = {row["problem"]: row["ratio"] for row in rows if row["ratio"] is not None}
    if not ratios:
        return ""
    mean, worst = float(np.exp(np.mean(np.log(list(ratios.values()))))), max(ratios, key=ratios.__getitem__)
    size = f"{len(ratios)} ratio" + "s" * (len(ratios) > 1)
    return f"geometric mean of {size}: {mean:.3f} (1/{1.0 / mean:.1f}); largest: {ratios[worst]:.2f} ({worst})"

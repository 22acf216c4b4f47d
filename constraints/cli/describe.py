"""`describe FILE`: a problem in words, from its file or from a report."""

from __future__ import annotations

import argparse

import numpy as np

from ..files.problems import PlanningTask
from ..files.reports import load_task_or_report
from ..words import counted
from .arguments import ALL_WELL


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("file", metavar="FILE", help="file of `problem.save` or `projection.report`")


def run(options: argparse.Namespace) -> int:
    """Print the problem, and for a report its right-hand sides and what came out."""
    report = load_task_or_report(options.file)
    if isinstance(report, PlanningTask):
        print("\n\n".join(filter(None, (report.problem.describe(), report.aside))))
        return ALL_WELL
    print(report.problem.describe())
    print("\nright-hand sides")
    for owner, label in zip(report.rhs.stack, report.rhs.stack.labels, strict=True):
        if owner.rows.free_rhs.any():
            print(f"  {label}: {np.array2string(report.rhs.of(owner), precision=6, separator=', ')}")
    spent = counted(report.iterations, "iteration")
    spent += f", {counted(report.restarts, 'restart')}" if report.restarts else ""
    print(f"\nreported: {report.status} (residual {report.residual:.3g}, {spent})")
    for name, words in report.versions.items():
        print(f"  {name}: {words}")
    return ALL_WELL

"""`describe FILE`: a problem in words, from its file or from a report."""

from __future__ import annotations

import argparse

import numpy as np

from ..files.documents import read_document
from ..files.problems import problem_from_data
from ..files.reports import report_from_data
from ..words import counted
from .arguments import ALL_WELL


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("file", metavar="FILE", help="of `problem.save` or `projection.report`")


def run(options: argparse.Namespace) -> int:
    """Print the problem, and for a report its right-hand sides and what came out."""
    kind, data = read_document(options.file, "problem", "report")
    if kind == "problem":
        print(problem_from_data(data).describe())
        return ALL_WELL
    report = report_from_data(data)
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

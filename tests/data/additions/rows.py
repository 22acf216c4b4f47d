"""`rows FILE`: how many rows the constraints of a problem have."""

from __future__ import annotations

import argparse

from constraints.cli.arguments import ALL_WELL
from constraints.files.problems import load_problem


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("file", metavar="FILE", help="file of `problem.save`")


def run(options: argparse.Namespace) -> int:
    """Print them."""
    problem = load_problem(options.file)
    print(f"{problem.constraints.size} rows on {problem.space.nv} dofs")
    return ALL_WELL

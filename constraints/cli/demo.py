"""`demo`: project random configurations of robots; print a table, write a picture."""

from __future__ import annotations

import argparse

from . import demonstration as demo
from .arguments import ALL_WELL, natural, outputs, positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--output", default="demo.png", metavar="FILE.png", help="the picture (default: %(default)s)")
    parser.add_argument(
        "--starts", type=positive, default=500, metavar="N", help="configurations a robot (%(default)s)"
    )
    parser.add_argument("--seed", type=natural, default=0, metavar="S", help="of the random generator (%(default)s)")


def run(options: argparse.Namespace) -> int:
    """Run the demonstration; that some starts fail is part of it."""
    outputs((), output=options.output)
    demo.run(options.output, options.starts, options.seed)
    return ALL_WELL

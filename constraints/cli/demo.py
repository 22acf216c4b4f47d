"""`demo`: project random configurations of robots; print a table, write a picture."""

from __future__ import annotations

import argparse
from time import perf_counter

from ..errors import MissingExtraError
from .arguments import ALL_WELL, natural, outputs, positive
from .demo_scenes import scenes
from .demonstration import draw, engine_line, project_all, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    add("--output", default="demo.png", metavar="FILE.png", help="the picture (default: %(default)s)")
    add("--starts", type=positive, default=500, metavar="N", help="configurations per robot (%(default)s)")
    add("--seed", type=natural, default=0, metavar="S", help="seed of the random generator (%(default)s)")


def run(options: argparse.Namespace) -> int:
    """Project, print the table, write the picture; that some starts fail is part of it."""
    outputs((), output=options.output)
    began = perf_counter()
    problems, note = scenes()
    if note:
        print(note)
    print(f"Projecting {options.starts} random configurations in each problem (seed {options.seed}).\n")
    outcomes = [project_all(scene, options.starts, options.seed) for scene in problems]
    print(table(outcomes))
    print(f"\n{engine_line(outcomes)}")
    print("\nDistances in m, angles in rad, medians over the starts. The largest error of all successes is measured")
    print("afterwards with only pinocchio's joint models; the threshold of the projection was 1e-4.")
    try:
        draw(outcomes, options.output)
        print(f"\nPicture: {options.output} ({perf_counter() - began:.1f} s in all)")
    except MissingExtraError as missing:
        print(f"\nNo picture: {missing}")
    return ALL_WELL

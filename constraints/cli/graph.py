"""`graph FILE`: the constraint graph of a scene file, in facts, as a picture, sampled."""

from __future__ import annotations

import argparse

import numpy as np

from ..files.scenes import read_scene
from ..files.writing import write_file
from ..manipulation.graph import ConstraintGraph
from .arguments import ALL_WELL, NOT_ALL, natural, outputs, positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.description = (
        "Build the constraint graph of a scene file, and print one fact per line. Exit code 1 when --validate finds "
        "states or transitions that cannot be reached."
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="a scene (docs/scene_files.md)")
    add("--plot", metavar="OUT.png", help="draw the graph (extra `plot`)")
    add("--no-waypoints", action="store_true", help="do not draw waypoint states and inner transitions")
    add("--dot", metavar="OUT.dot", help="write the graph for Graphviz")
    validate = "sample every state N times, and the transitions from these samples"
    add("--validate", type=positive, metavar="N", help=validate)
    add("--seed", type=natural, default=0, metavar="S", help="seed of the random generator (%(default)s)")


def run(options: argparse.Namespace) -> int:
    """Build, print, draw, sample."""
    outputs((options.file,), dot=options.dot, plot=options.plot)
    graph = read_scene(options.file).graph
    print("\n".join(facts(graph)))
    if options.dot:
        write_file(options.dot, (graph.to_dot() + "\n").encode("utf-8"))
    if options.plot:
        graph.plot(options.plot, waypoints=not options.no_waypoints)
    if options.validate is None:
        return ALL_WELL
    found = graph.validate(np.random.default_rng(options.seed), options.validate)
    print(found)
    return ALL_WELL if found.success else NOT_ALL


def facts(graph: ConstraintGraph) -> list[str]:
    """What the graph is, one fact a line."""
    robot = graph.robot
    lines = [
        f"graph {graph.name}",
        f"nq {robot.nq}",
        f"nv {robot.nv}",
        f"states {len(graph.states)}",
        f"transitions {len(graph.transitions)}",
        f"loops {sum(t.is_loop for t in graph.transitions)}",
        f"level-set transitions {sum(t.is_level_set for t in graph.transitions)}",
        f"waypoint states {len(graph.waypoint_states)}",
        f"inner transitions {len(graph.inner_transitions)}",
    ]
    lines += [f"state '{state}' (priority {state.priority})" for state in graph.states]
    for t in graph.transitions:
        waypoints = f", {len(t.inner) - 1} waypoints" if t.inner else ""
        lines.append(f"transition '{t}' from '{t.source}' to '{t.target}' (weight {t.weight}{waypoints})")
    return lines

# /// script
# requires-python = ">=3.11"
# dependencies = ["lie-constraints[mjcf]"]
# ///
"""Closed chains whose loops are computed instead of solved: what that saves, and what it costs.

    python examples/explicit_loops.py            # prints what it does
    python examples/explicit_loops.py --check    # the same; fails if something is not as it should be
    python examples/explicit_loops.py --plot OUT.png    # draws the figures, too (extra `plot`)

Three mechanisms are closed with all their loops explicit, and with all of them implicit, from the same disturbed
starts, each with a task: a five-bar that holds its tip, Cassie that puts both feet where they are wanted, a gripper
that holds a fingertip. The files of the last two are among the tests of this project; without them the five-bar is
left. Shows which loops were found, which joints are computed from which, and the figures of both ways.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from constraints import Implicit, Options, Pose, Position, Problem, Projector
from constraints.loops import AssemblyOptions, assemble_position
from constraints.models import Mechanism, load, mechanisms
from constraints.reduced import ExplicitLoops

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "mechanisms"
STARTS, SPREAD = 100, 0.3
OPTIONS = Options(threshold=1e-9)
ENGINES = ["readable"] + ["compiled"] * (find_spec("numba") is not None)


class Run(NamedTuple):
    """Means over the starts of one problem, by one engine, with its sizes."""

    unknowns: int
    rows: int
    successes: int
    iterations: float
    milliseconds: float
    worst: float


def mechanism_and_frames(name: str) -> tuple[Mechanism, np.ndarray, list[str]]:
    """A mechanism with a posture to close, and the frames of its task."""
    if name == "five-bar":
        linkage = mechanisms.five_bar()
        return linkage, np.array(linkage.postures["closed"]), ["left_outer_end"]
    mechanism = load(FOLDER / name / f"{name}.xml")
    if name == "cassie_mjcf":
        return mechanism, mechanism.posture("home"), ["left-foot", "right-foot"]
    return mechanism, mechanism.posture("qpos0"), ["right_follower_joint"]


def run(problem: Problem, starts: Sequence[np.ndarray], engine: str, whole: Problem) -> Run:
    """Project all starts; `worst` is the largest error of the implicit constraints at a solution."""
    projector = Projector(problem, OPTIONS, engine=engine)
    projector.project(starts[0])
    began = perf_counter()
    ends = [projector.project(start) for start in starts]
    seconds = perf_counter() - began
    worst = max((whole.residual(end.q) for end in ends if end.success), default=0.0)
    iterations = float(np.mean([end.iterations for end in ends]))
    sizes = int(problem.free.sum()), problem.reduced_size
    return Run(*sizes, sum(end.success for end in ends), iterations, 1e3 * seconds / len(ends), worst)


def task_of(mechanism: Mechanism, loops: ExplicitLoops, q: np.ndarray, frames: Sequence[str]) -> list[Implicit]:
    """Frames where they are at another closed configuration, so that the task can be met."""
    rng = np.random.default_rng(3)
    other = mechanism.robot.space.integrate(q, 0.15 * rng.standard_normal(mechanism.robot.nv))
    goal = Projector(loops.problem(), OPTIONS).project(other).or_raise().q
    if len(frames) == 2:  # the feet
        poses = [Pose(mechanism.robot, frame) for frame in frames]
        return [Implicit.equal(pose, pose.value(goal), name=f"pose of {pose.frame_b}") for pose in poses]
    tip = Position(mechanism.robot, frames[0])
    moves = np.ptp([tip.value(goal), tip.value(q)], axis=0) > 1e-9  # a tip in a plane
    return [Implicit.equal(tip, tip.value(goal), mask=moves, name=f"position of {frames[0]}")]


def compared(name: str) -> dict[str, Run]:
    """Find the loops of one mechanism, solve both ways, print the figures."""
    mechanism, posture, frames = mechanism_and_frames(name)
    robot = mechanism.robot
    q = (
        assemble_position(mechanism.constraint_set(), posture, options=AssemblyOptions(bounds=robot.bounds))
        .or_raise()
        .q
    )
    loops = mechanism.explicit_loops(q)
    print(f"{name}: {loops.describe()}\n")
    task, rng = task_of(mechanism, loops, q, frames), np.random.default_rng(1)
    starts = [
        robot.bounds.clip(robot.space.integrate(q, SPREAD * rng.standard_normal(robot.nv))) for _ in range(STARTS)
    ]
    explicit, implicit = loops.problem(task), mechanism.problem(task)
    rows = {"explicit, readable engine": (explicit, "readable")}
    rows |= {f"implicit, {engine} engine": (implicit, engine) for engine in ENGINES}
    found: dict[str, Run] = {}
    print(f"  {'':27}unknowns  rows  iterations  converged  ms each  largest error")
    for label, (problem, engine) in rows.items():
        found[label] = one = run(problem, starts, engine, implicit)
        sizes = f"{one.unknowns:8}{one.rows:6}"
        print(f"  {label:27}{sizes}{one.iterations:12.2f}{one.successes:11}{one.milliseconds:9.2f}{one.worst:15.1g}")
    print()
    return found


def draw(found: dict[str, dict[str, Run]], path: str) -> None:
    """Unknowns, rows, iterations and time of both ways, explicit loops as a part of implicit ones."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(10.0, 2.8), layout="constrained")
    sizes = [
        ("unknowns of Newton", lambda one: one.unknowns),
        ("rows", lambda one: one.rows),
        ("iterations", lambda one: one.iterations),
        ("ms, readable engine", lambda one: one.milliseconds),
    ]
    places = np.arange(len(found))
    for ax, (title, size) in zip(axes, sizes, strict=True):
        for shift, word, colour in ((-0.2, "implicit", "tab:gray"), (0.2, "explicit", "tab:blue")):
            heights = [size(runs[f"{word}, readable engine"]) for runs in found.values()]
            ax.bar(places + shift, heights, 0.38, label=f"{word} loops", color=colour)
        ax.set_title(title, fontsize=10)
        ax.set_xticks(places, [name.replace("_", "\n") for name in found], fontsize=8)
    axes[2].legend(fontsize=7, loc="upper right")
    axes[2].margins(y=0.35)
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description="What explicit loops save, and what they cost.")
    parser.add_argument("--check", action="store_true", help="fail if something is not as it should be")
    parser.add_argument("--plot", metavar="OUT.png", help="draw the figures there (extra `plot`)")
    options = parser.parse_args()
    all_found: dict[str, dict[str, Run]] = {}
    names = ["five-bar"] + [name for name in ("cassie_mjcf", "robotiq_2f85") if (FOLDER / name).is_dir()]
    for name in names:
        found = all_found[name] = compared(name)
        explicit, implicit = found["explicit, readable engine"], found["implicit, readable engine"]
        if options.check:
            assert explicit.successes >= implicit.successes >= 0.98 * STARTS
            assert explicit.iterations < implicit.iterations
            assert explicit.worst <= OPTIONS.threshold
    print(
        "Fewer unknowns, rows and iterations, but more time: the compiled engine does not pack these maps, and Newton"
    )
    print("on a loop begins anew at each iterate. Where time alone counts, loops are better left implicit.")
    if options.plot is not None:
        draw(all_found, options.plot)


if __name__ == "__main__":
    main()

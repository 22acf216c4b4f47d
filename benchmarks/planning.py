"""Plans from starts to goals: success, processor seconds, length and effort, beside roboplan and HPP in the same run.

    python benchmarks/planning.py [--scene NAME ...] [--seeds N] [--json FILE]
                                  [--hpp-python PATH] [--roboplan-python PATH] [--share FOLDER]
    python benchmarks/planning.py --judge N      # judges N paths of each scene, as found and shortened
    python benchmarks/planning.py --timed N      # looks at N trajectories of each scene, 1000 times a second

No sequence of grasps and no guess is given. Seconds are those of the processor, all threads, around one search, to a
path or to its end without one (Limits.seconds of the scene, wall time); the first search of a process, which reads the
kernels, is not counted. Peers run in a process of their own, after each search of ours, with the same start and goal,
and their seconds are `time.process_time()` in that process around their `solve`.

A success of ours is a path with which `tests/planning/judge.py` finds nothing wrong: plain pinocchio and coal, outside
of the measured time. A peer's success is what it says. Lengths are sums of the norms of steps [rad, m]; HPP measures
its own way.

Of trajectories the joints of robots are limited, to 1.5 rad/s and 5 rad/s^2 (m for rad). Looked at are velocities,
accelerations, their differences of positions, the residual, rest at events, and the time of toppra on the same samples.

Scenes construction_set and placard take the objects of the wheel `hpp-environments`: from the peer's interpreter, or
from `--share`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import bench_setup
import numpy as np
import planning_leaves as leaves
from peer import Child, NoPeer
from planning_graphs import construction_set, placard, spheres, story
from planning_scenes import Query, Scene
from timing import with_seconds

from constraints import ConstraintError
from constraints.planning import Connection, Limits, Trajectory, shorten, timed
from constraints.robot.files.packages import robot_data_folder

Row = dict[str, Any]
OURS = "ours"
PLANNERS = {
    "roboplan": "planning_roboplan.py", "ManipulationPlanner": "planning_hpp.py", "StatesPathFinder": "planning_hpp.py"
}  # fmt: skip
"""Drivers of the peers' planners."""
SCENES: dict[str, Callable[[str | None], Scene]] = {
    "glass": leaves.glass, "bar": leaves.bar, "talos": leaves.talos, "spheres": spheres, "pick_and_place": story,
    "construction_set": construction_set, "placard": placard,
}  # fmt: skip
"""Each is made from the folder that holds hpp_environments."""
WARM = 10**6
"""Seed of the search that is not counted."""


def ours(scene: Scene, query: Query, seed: int) -> Row:
    """One search, and what is wrong with its path."""
    rng, limits = np.random.default_rng(seed), Limits(seconds=scene.seconds)
    found, seconds = with_seconds(lambda: scene.solve(query, rng, limits))
    row: Row = {"seconds": seconds, "status": found.status.name}
    effort = found.effort if isinstance(found, Connection) else found
    row |= {"nodes": effort.nodes, "projections": effort.projections, "checks": effort.checks}
    if found.path is None:
        return {**row, "success": False}
    row["length"], row["faults"] = found.path.length, scene.faults(found.path, query)
    return {**row, "success": not row["faults"]}


def theirs(child: Child, planner: str, scene: Scene, query: Query, seed: int) -> Row:
    """The same search of a peer."""
    start, goal = (q.tolist() for q in query)
    answer = child.ask({"planner": planner, "start": start, "goal": goal, "seed": seed, "limit": scene.seconds})
    return {key: value for key, value in answer.items() if key != "path"}


def measure(name: str, scene: Scene, children: dict[str, Child], options: argparse.Namespace) -> list[Row]:
    """Each query with each seed, ours and the peers in turns."""
    scene.solve(scene.queries[0], np.random.default_rng(WARM), Limits(seconds=scene.seconds))
    rows = list[Row]()
    for number, query in enumerate(scene.queries):
        for seed in range(options.seeds or scene.seeds):
            here = {"scene": name, "query": number, "seed": seed}
            rows.append({**here, "planner": OURS, **ours(scene, query, seed)})
            for planner, child in list(children.items()):
                if seed >= scene.peers[planner]:
                    continue
                try:
                    rows.append({**here, "planner": planner, **theirs(child, planner, scene, query, seed)})
                except NoPeer as why:
                    print(f"{name}: {planner} is left out from query {number}, seed {seed} on: {why}", file=sys.stderr)
                    children.pop(planner).close()
    return rows


def peers(name: str, scene: Scene, options: argparse.Namespace, share: str) -> dict[str, Child]:
    """The processes of the peers, those that are there and know the scene."""
    found = dict[str, Child]()
    for planner in scene.peers:
        interpreter = options.roboplan_python if planner == "roboplan" else options.hpp_python
        if interpreter is None:
            continue
        try:
            found[planner] = Child(interpreter, PLANNERS[planner], {"open": name, "share": share})
        except NoPeer as why:
            print(f"{name}: no {planner}: {why}", file=sys.stderr)
    return found


def judged(name: str, scene: Scene, count: int) -> list[str]:
    """What is wrong with paths of a scene, as they are found and shortened."""
    said = list[str]()
    for i in range(count):
        number, rng = i % len(scene.queries), np.random.default_rng(1000 + i)
        query = scene.queries[number]
        path = scene.solve(query, rng, Limits(seconds=scene.seconds)).path
        if path is None:
            said.append(f"{name}, query {number}, seed {1000 + i}: no path")
            continue
        shorter = shorten(path, rng=rng, collisions=scene.collisions)
        for kind, each in (("found", path), ("shortened", shorter)):
            said += [f"{name}, query {number}, seed {1000 + i}, {kind}: {f}" for f in scene.faults(each, query)]
        if shorter.length > path.length:
            said.append(f"{name}, query {number}, seed {1000 + i}: longer by shortening")
    return said


SPEED, PUSH, FREE = 1.5, 5.0, 1e3
"""Limits of velocity and acceleration of joints, and by how much wider those of free bodies are."""


def clocked(name: str, scene: Scene, count: int) -> list[str]:
    """What is wrong with trajectories along paths of a scene; prints what was measured."""
    said = list[str]()
    model: Any = scene.collisions.robot.model
    single = [joint for joint in list(model.joints)[1:] if joint.nv == 1]
    joints, places = [joint.idx_v for joint in single], [joint.idx_q for joint in single]
    limits = np.full(model.nv, FREE * SPEED), np.full(model.nv, FREE * PUSH)
    limits[0][joints], limits[1][joints] = SPEED, PUSH
    for i in range(count):
        query, rng = scene.queries[i % len(scene.queries)], np.random.default_rng(2000 + i)
        found = scene.solve(query, rng, Limits(seconds=scene.seconds))
        path = found.or_raise()
        trajectory = timed(path if isinstance(found, Connection) else found, *limits)
        measured, threshold = kept(trajectory, limits), path.pieces[0].options.threshold
        measured["toppra"] = trajectory.duration / leaves.judge.toppras_duration(trajectory, *limits, joints, places)
        words = ", ".join(f"{what} {number:.4g}" for what, number in measured.items())
        print(f"{name}, seed {2000 + i}: {trajectory.duration:.2f} s, {words}", flush=True)
        most = {"velocity": 1.01, "acceleration": 1.01, "differences": 1.01, "residual": threshold, "toppra": 1.1}
        said += [
            f"{name}, seed {2000 + i}: {what} {measured[what]:.4g}" for what in most if measured[what] > most[what]
        ]
        if measured["speed at events"] > 1e-9:
            said.append(f"{name}, seed {2000 + i}: moves at an event")
    return said


def kept(trajectory: Trajectory, limits: tuple[Any, Any]) -> dict[str, float]:
    """What limits and constraints a trajectory uses, by name."""
    samples, events = trajectory.sample(1000.0), trajectory.events
    steps = np.diff(samples.times)[:, None]
    rates = trajectory.space.difference(samples.q[:-1], samples.q[1:]) / steps
    bends = np.diff(rates, axis=0)[:-1] / 1e-3  # the last step is as short as the rest of the time
    return {
        "velocity": float((np.abs(samples.v) / limits[0]).max()),
        "acceleration": float((np.abs(samples.a) / limits[1]).max()),
        "differences": max(float((np.abs(rates) / limits[0]).max()), float((np.abs(bends) / limits[1]).max())),
        "residual": trajectory.max_error(),
        "events": len(events),
        "speed at events": max((float(np.abs(trajectory(event.time).v).max()) for event in events), default=0.0),
    }


def figures(rows: list[Row]) -> list[Row]:
    """By scene and planner."""
    by = dict[tuple[str, str], list[Row]]()
    for row in rows:
        by.setdefault((row["scene"], row["planner"]), []).append(row)
    found = list[Row]()
    for (scene, planner), each in by.items():
        good = [row for row in each if row["success"]]
        seconds = np.array([row["seconds"] for row in each])
        median = {k: float(np.median([row[k] for row in good])) for k in EFFORT if good and k in good[0]}
        found.append({
            "scene": scene, "planner": planner, "runs": len(each), "success": len(good), "mean": float(seconds.mean()),
            "median": float(np.median(seconds)), "p90": float(np.quantile(seconds, 0.9)), "max": float(seconds.max()),
            **median,
        })  # fmt: skip
    return found


EFFORT = ("length", "nodes", "projections", "checks")


def table(found: list[Row]) -> str:
    """The figures as text."""
    columns = ("mean", "median", "p90", "max", *EFFORT)
    lines: list[tuple[str, ...]] = [("scene", "planner", "success", *columns)]
    for row in found:
        numbers = [f"{row[k]:.3g}" if k in row else "-" for k in columns[:5]]
        numbers += [f"{row[k]:.0f}" if k in row else "-" for k in columns[5:]]
        lines.append((row["scene"], row["planner"], f"{row['success']}/{row['runs']}", *numbers))
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], ("---",) * len(lines[0]), *lines[1:]))


def arguments() -> argparse.Namespace:
    parser = bench_setup.command(
        __doc__, "json", "hpp-python", seeds=(None, "searches of each start and goal"),
        judge=(None, "paths of each scene that are judged; no times"),
        timed=(None, "trajectories of each scene that are looked at; no times"),
    )  # fmt: skip
    parser.add_argument("--scene", action="append", choices=SCENES, help=f"one of {', '.join(SCENES)}; all if absent")
    parser.add_argument("--roboplan-python", metavar="PATH", help="interpreter that has roboplan")
    parser.add_argument("--share", metavar="FOLDER", help="folder that holds hpp_environments")
    return parser.parse_args()


def share_of(interpreter: str) -> str | None:
    """The share folder of the wheels of an interpreter."""
    ask = "import sys, pathlib as p; print(*(s for e in sys.path if (s := p.Path(e) / 'cmeel.prefix/share').is_dir()))"
    done = subprocess.run([interpreter, "-c", ask], capture_output=True, text=True, check=False)
    return next(iter(done.stdout.split()), None)


def main() -> int:
    options = arguments()
    folder = robot_data_folder()
    environments = options.share or (options.hpp_python and share_of(options.hpp_python))
    rows, said = list[Row](), list[str]()
    for name in options.scene or SCENES:
        try:
            scene = SCENES[name](environments)
        except ConstraintError as missing:
            print(f"{name}: left out, {missing}", file=sys.stderr)
            continue
        if options.judge is not None:
            said += judged(name, scene, options.judge)
        if options.timed is not None:
            said += clocked(name, scene, options.timed)
        if options.judge is not None or options.timed is not None:
            continue
        children = peers(name, scene, options, str(folder and folder.parent))
        rows += measure(name, scene, children, options)
        for child in children.values():
            child.close()
        print(table(figures([row for row in rows if row["scene"] == name])), flush=True)
    said += [f"{r['scene']}, query {r['query']}, seed {r['seed']}: {f}" for r in rows for f in r.get("faults", ())]
    bench_setup.write(options.json, {"figures": figures(rows), "runs": rows})
    print("\n".join(said) or "the judge finds nothing wrong")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())

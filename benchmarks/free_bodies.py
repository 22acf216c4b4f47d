"""Free bodies in boxes: bounds of a translation held by the solver, written as rows by hand, and in hpp-constraints.

    python benchmarks/free_bodies.py [--hpp-python PATH] [--goals N --starts N --repeats R --seed S] [--json FILE]
                                     [--check]

Robots whose base, or the object in whose hand, is in a box: half a side of 0.5, 0.2 and 0.05 m. A goal is the pose of a
hand or foot (of the object: its height and tilt) at a random configuration in the box, so that each can be reached;
starts are random in the box, joints in their bounds. *rows* is the same problem where the box is a constraint on the
position, narrower by the threshold, instead of bounds. A success is one that is claimed, whose residual by plain
pinocchio is at most the threshold, and that is within its bounds: exactly where they are held, to 1e-9 for rows and
hpp-constraints, whose best line search counts. All have 40 iterations; what the library does in 100 has columns of its
own. Times [us] are medians over the repeats of each start, their sum divided by the successes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin
from checking import Judge
from numpy.typing import NDArray
from peer import NoPeer, hpp_on
from problem_files import ProblemFile
from problem_scene import BOX, HERE, ROBOTS, Scene as InTheMaking, numbers
from projection import prepare
from projection_figures import aligned
from turns import ROUNDING, Run, Solver, by_hpp, by_us

from constraints import ConstraintError, Implicit, Options, Position, Problem, Projector
from constraints.robot.frame_table import FrameKind

Row = dict[str, Any]
Vector = NDArray[np.float64]

SIDES = (0.5, 0.2, 0.05)
"""Half sides of the boxes [m]."""
THRESHOLD, BUDGET, PATIENT = 1e-4, 40, 100
GRIPPER, HANDLE = [0.0, 0.1373, 0.0, *(0.5**0.5,) * 2, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.5**0.5, 0.0, 0.5**0.5]


@dataclass(frozen=True)
class Scene:
    """A robot in a box.

    Attributes:
        name: of the row of the table.
        models: as in a problem file.
        body: the joint whose translation is bounded.
        ends: joints that have a pose as goal, all their rows; of an object in a hand: the hand.
        height: of the middle of the box [m].
        grasp: None; or the kind of constraint that holds the body in the hand, which then has a height and a tilt.
    """

    name: str
    models: list[list[Any]]
    body: str
    ends: tuple[str, ...]
    height: float = 0.0
    grasp: str | None = None


def humanoid() -> str:
    """URDF of pinocchio's sample humanoid, without its base joint; always the same."""
    pin.seed(7)
    model = pin.buildSampleModelHumanoidRandom(True)
    links, joints = ["<link name='base_link'/>"], list[str]()
    for i in range(2, model.njoints):
        name, kind, placement = model.names[i], model.joints[i].shortname(), model.jointPlacements[i]
        parent = "base_link" if model.parents[i] == 1 else f"{model.names[model.parents[i]]}_body"
        axis = " ".join(str(int(kind[-1] == letter)) for letter in "XYZ")
        at, turn = (
            " ".join(map(repr, map(float, x))) for x in (placement.translation, pin.rpy.matrixToRpy(placement.rotation))
        )
        lower, upper = (float(x[model.joints[i].idx_q]) for x in (model.lowerPositionLimit, model.upperPositionLimit))
        links.append(f"<link name='{name}_body'/>")
        joints.append(
            f"<joint name='{name}' type='revolute'><parent link='{parent}'/><child link='{name}_body'/>"
            f"<origin xyz='{at}' rpy='{turn}'/><axis xyz='{axis}'/>"
            f"<limit lower='{lower!r}' upper='{upper!r}' effort='1' velocity='1'/></joint>"
        )
    return f"<robot name='humanoid'>{''.join(links + joints)}</robot>"


def scenes() -> Iterator[Scene]:
    """The rows of the table."""
    yield Scene("humanoid, hand", [["man", "freeflyer", humanoid(), HERE]], "man/root_joint", ("man/rarm6_joint",))
    talos = [["talos", "freeflyer", f"{ROBOTS}/talos_data/robots/talos_reduced.urdf", HERE]]
    yield Scene("Talos, hand", talos, "talos/root_joint", ("talos/arm_left_7_joint",), 1.0)
    yield Scene(
        "Talos, feet and hand",
        talos,
        "talos/root_joint",
        ("talos/leg_left_6_joint", "talos/leg_right_6_joint", "talos/arm_left_7_joint"),
        1.0,
    )
    solo = [["solo", "freeflyer", f"{ROBOTS}/solo_description/robots/solo12.urdf", HERE]]
    yield Scene("Solo, foot", solo, "solo/root_joint", ("solo/FL_KFE",), 0.3)
    tiago = [["tiago", "planar", f"{ROBOTS}/tiago_description/robots/tiago.urdf", HERE]]
    yield Scene("Tiago on the plane, hand", tiago, "tiago/root_joint", ("tiago/arm_7_joint",))
    ur5 = [["ur5", "anchor", f"{ROBOTS}/ur_description/urdf/ur5_gripper.urdf", HERE], ["box", "freeflyer", BOX, HERE]]
    for kind, word in (("relative_transformation", "implicit"), ("explicit_relative_pose", "explicit")):
        yield Scene(f"UR5 with an object, {word}", ur5, "box/root_joint", ("ur5/wrist_3_joint",), 0.0, kind)


# Problems of a scene.


def described(scene: Scene, side: float, seed: int, number: int) -> Row:
    """One goal of a scene, in a box of half a side given, as the text of a problem file."""
    made = InTheMaking(f"{scene.name}, {side} m, goal {number}", scene.models)
    block = made.block(scene.body)
    p = slice(block.start, block.start + (3 if block.stop - block.start == 7 else 2))
    middle = np.array([0.0, 0.0, scene.height])[: p.stop - p.start]
    made.lower[p], made.upper[p], made.qref[p] = middle - side, middle + side, middle
    made.qref = np.clip(made.qref, made.lower, made.upper)
    sampler = ["uniform", {"box": side, "rot": float(np.pi)}]
    goal = Judge(made.description("", sampler)).starts(number + 1, seed)[number]
    pin.forwardKinematics(made.model, made.data, goal)
    poses = {end: made.data.oMi[made.model.getJointId(end)] for end in scene.ends}
    if scene.grasp is None:
        for end, oMi in poses.items():
            made.add("transformation", joint2=end, frame2=HERE, frame1_world=numbers(oMi))
    else:  # the object is where the hand puts it, anywhere in the box
        held = pin.XYZQUATToSE3(np.array(GRIPPER)) * pin.XYZQUATToSE3(np.array(HANDLE)).inverse()
        placed = poses[scene.ends[0]] * held
        middle = placed.translation - (goal[p] - middle)
        made.lower[p], made.upper[p], made.qref[p] = middle - side, middle + side, middle
        made.add(scene.grasp, joint1=scene.ends[0], joint2=scene.body, frame1=GRIPPER, frame2=HANDLE)
        level = [0, 0, 1, 1, 1, 0]
        made.add("transformation", level, joint2=scene.body, frame2=HERE, frame1_world=numbers(placed))
    return made.description("", sampler)


def with_rows(scene: Scene, problem: Problem) -> Problem:
    """The same problem where the box is a constraint, narrower by the threshold, in place of bounds."""
    robot = problem.robot
    assert robot is not None
    factor = next(factor for factor in robot.space.factors if factor.name == scene.body)
    size = 3 if factor.space.nv == 6 else 2
    p = slice(factor.q.start, factor.q.start + size)
    lower, upper = np.full(3, -np.inf), np.full(3, np.inf)
    lower[:size], upper[:size] = robot.bounds.lower[p] + THRESHOLD, robot.bounds.upper[p] - THRESHOLD
    position = Position(robot, robot.frame(scene.body, kind=FrameKind.JOINT))
    box = Implicit.between(position, lower, upper, mask=np.arange(3) < size, name="box")
    first, *others = problem.constraint_levels
    free = robot.bounds.replace({scene.body: (-np.inf, np.inf)})
    return Problem(robot, [[*first, box], *others], free)


# Runs.


class Wrong(Exception):
    """A claimed success that is none."""


def done(solver: Solver, starts: Vector, repeats: int, judge: Judge) -> Run:
    """What a solver does with all starts, judged."""
    run = Run.empty(*starts.shape, repeats=repeats)
    for turn in range(repeats):
        solver(0, len(starts), turn, run)
    run.judge(judge, THRESHOLD)
    return run


def look_at(run: Run, problem: Problem, starts: Vector, judge: Judge, exact: bool) -> None:
    """Claims of the library hold, and held bounds do so exactly.

    Raises:
        Wrong: a claim that does not.
    """
    inside = ((judge.lower <= run.ends) & (run.ends <= judge.upper)).all(axis=1) | (not exact)
    wrong = run.claimed & ((run.errors > THRESHOLD * (1.0 + ROUNDING)) | ~inside)
    for q0, q in zip(starts[wrong], run.ends[wrong], strict=True):
        raise Wrong(f"{problem}: a claimed success does not hold: {q.tolist()}, from {q0.tolist()}")


def measure(scene: Scene, side: float, options: argparse.Namespace, folder: Path) -> Row:
    """A row of the table."""
    ours: dict[tuple[bool, int], list[Run]] = {(rows, n): [] for rows in (False, True) for n in (BUDGET, PATIENT)}
    theirs: dict[str, list[Run]] = {}
    why = None
    for number in range(options.goals):
        description, path = described(scene, side, options.seed, number), folder / "goal.npz"
        judge = Judge(description)
        starts = judge.starts(options.starts, options.seed + 1000 + number)
        np.savez(path, problem=json.dumps(description), q0=starts, error_threshold=THRESHOLD, max_iterations=BUDGET)
        problem = prepare(path).problem
        for (rows, n), runs in ours.items():
            asked = with_rows(scene, problem) if rows else problem
            projector = Projector(asked, Options(threshold=THRESHOLD, max_iterations=n))
            runs.append(done(by_us(projector, starts), starts, options.repeats, judge))
            look_at(runs[-1], asked, starts, judge, not rows)
        if options.hpp_python is None:
            continue
        try:
            file = ProblemFile(path, description["name"], description, starts, THRESHOLD, BUDGET)
            hpp = hpp_on(options.hpp_python, file, starts)
            for name in hpp.said["line_searches"]:
                theirs.setdefault(name, []).append(done(by_hpp(hpp, name), starts, options.repeats, judge))
            hpp.close()
        except NoPeer as reason:
            theirs, why = {}, str(reason)
            break
    found = {f"{'rows' if rows else 'held'}_{n}": figures(runs) for (rows, n), runs in ours.items()}
    peers: list[Row] = [figures(runs) | {"line_search": name} for name, runs in theirs.items()]
    peer = max(peers, key=lambda row: (row["success"], -(row["us_per_usable"] or np.inf)), default=None)
    return {"scene": scene.name, "side": side, **found, "hpp": peer, "no_hpp": why}


def figures(runs: list[Run]) -> Row:
    """Of all goals together."""
    usable, us = np.concatenate([run.usable for run in runs]), np.concatenate([run.us_by_start for run in runs])
    each = float(us.sum() / usable.sum()) if usable.any() else None
    return {"success": float(usable.mean()), "us_per_usable": each, "count": len(usable)}


def below(row: Row) -> list[str]:
    """Where bounds that are held succeed less often than others, by more than three standard deviations."""
    said: list[str] = []
    for mine, other in (("held_40", "rows_40"), ("held_100", "rows_100"), ("held_40", "hpp")):
        a, b = row[mine], row[other]
        if b is None:
            continue
        noise = np.sqrt((a["success"] * (1 - a["success"]) + b["success"] * (1 - b["success"])) / a["count"])
        if a["success"] < b["success"] - 3.0 * noise - 1e-12:
            said.append(f"{row['scene']}, {row['side']} m: {mine} {a['success']:.0%}, {other} {b['success']:.0%}")
    return said


HEADS = ("robot", "box", "held", "us", "rows", "us", "HPP", "us", "line search", "held, 100", "us", "rows, 100", "us")


def cells(row: Row) -> list[str]:
    def pair(run: Row | None) -> list[str]:
        if run is None:
            return ["-", "-"]
        us = run["us_per_usable"]
        return [f"{100 * run['success']:.0f} %", "-" if us is None else f"{us:.0f}"]

    search = row["hpp"]["line_search"] if row["hpp"] else "-"
    ends = (*pair(row["held_40"]), *pair(row["rows_40"]), *pair(row["hpp"]), search)
    return [row["scene"], f"{row['side']} m", *ends, *pair(row["held_100"]), *pair(row["rows_100"])]


def table(rows: list[Row]) -> str:
    return aligned([HEADS, *map(cells, rows)])


def arguments() -> argparse.Namespace:
    options = bench_setup.command(
        __doc__, "hpp-python", "seed", "json", "check", goals=(5, "goals of a row"), starts=(20, "starts of a goal"),
        repeats=(3, "of each projection"),
    ).parse_args()  # fmt: skip
    if options.check:
        options.goals, options.starts, options.repeats, options.hpp_python = 1, 8, 1, None
    return options


def main() -> int:
    options = arguments()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for scene in scenes():
            try:
                found = [measure(scene, side, options, Path(folder)) for side in SIDES]
            except ConstraintError as error:
                print(f"{scene.name}: skipped, {error}", file=sys.stderr)
                continue
            rows += found
            for row in found:
                if row["no_hpp"]:
                    print(f"{scene.name}, {row['side']} m: no HPP: {row['no_hpp']}", file=sys.stderr)
    print(table(rows))
    worse = [line for row in rows for line in below(row)]
    print("\n".join(worse) or "nowhere below rows by hand or hpp-constraints by more than noise")
    bench_setup.write(options.json, rows)
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())

"""The demonstration: random configurations of robots put onto constraints, as a table and a picture."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .arrays import BoolVector, Indices, Matrix, Vector
from .errors import FileError, OptionError
from .functions import Pose, RelativePose
from .implicit import Implicit
from .models import sample_arm, sample_two_arms
from .plots import MissingExtraError, draw_configuration, draw_frame, new_figure, save_figure, tidy_axes
from .problem import Problem
from .robot import Robot
from .solvers import Options, Projector

__all__ = ["Outcome", "Scene", "draw", "placement_by_hand", "run", "sample_scenes", "scenes", "table"]

ROBOTS = "package://example-robot-data/robots/"


@dataclass(frozen=True, eq=False)
class Scene:
    """One problem of the demonstration.

    Attributes:
        name: in the table and above the picture.
        problem: the constraints, on a robot.
        tips: frames that the picture shows as ends of the robot.
        measure: error of a configuration, by formulas that share nothing with this library.
        before, after: what the pictures show, with a place for how many.
        target: placement in the world to draw, if there is one.
        holds: whether the tips hold an object between them, to be drawn.
        shown: how many configurations the picture shows at most.
    """

    name: str
    robot: Robot
    problem: Problem
    tips: tuple[str, ...]
    measure: Callable[[Vector], float]
    before: str
    after: str
    target: Any = None
    holds: bool = False
    shown: int = 7


class Outcome(NamedTuple):
    """What the projections of a scene gave.

    Attributes:
        scene: which.
        starts, ends: configurations (n, nq) before and after.
        success: (n,) true where the projection says so.
        iterations, seconds: (n,) of each projection.
        largest_error: measured, over the successes; NaN without any.
    """

    scene: Scene
    starts: Matrix
    ends: Matrix
    success: BoolVector
    iterations: Vector
    seconds: Vector
    largest_error: float


# Problems: a function each, listed in `scenes` and `sample_scenes`.


def _panda() -> Scene:
    folder = ROBOTS + "panda_description/"
    robot = Robot.from_urdf(folder + "urdf/panda.urdf", srdf=folder + "srdf/panda.srdf")
    return _onto_a_pose("Panda: hand at a pose", robot, "panda_hand_tcp", robot.reference("default"))


def _ur5() -> Scene:
    robot = Robot.from_urdf(ROBOTS + "ur_description/urdf/ur5_joint_limited_robot.urdf")
    return _onto_a_pose("UR5: tool at a pose", robot, "tool0", [0.4, -1.2, 1.7, -2.07, -1.57, 0.4])


def _arm() -> Scene:
    robot = sample_arm()
    return _onto_a_pose("Sample arm: tool at a pose", robot, "tool", robot.reference("home"))


def _two_arms() -> Scene:
    robot = sample_two_arms()
    a, b = "left_tool", "right_tool"
    home = robot.reference("home")
    held = placement_by_hand(robot, a, home).actInv(placement_by_hand(robot, b, home))
    problem = Problem(robot, [Implicit.equal(RelativePose(robot, a, b), held)])

    def measure(q: Vector) -> float:
        return _apart(held, placement_by_hand(robot, a, q).actInv(placement_by_hand(robot, b, q)))

    return Scene(
        name="Two arms: one object in both hands",
        robot=robot,
        problem=problem,
        tips=(a, b),
        measure=measure,
        before="before: {} random configurations",
        after="after: the same {}, hands on the object",
        holds=True,
        shown=4,
    )


def _onto_a_pose(name: str, robot: Robot, tip: str, q: Any) -> Scene:
    """A frame at the pose it has at a configuration."""
    target = placement_by_hand(robot, tip, np.asarray(q, dtype=np.float64))
    problem = Problem(robot, [Implicit.equal(Pose(robot, tip), target)])

    def measure(q: Vector) -> float:
        return _apart(target, placement_by_hand(robot, tip, q))

    return Scene(
        name=name,
        robot=robot,
        problem=problem,
        tips=(tip,),
        measure=measure,
        before="before: {} random configurations",
        after="after: the same {}, all at the target",
        target=target,
    )


def scenes() -> tuple[list[Scene], str]:
    """The problems, and a line that says which robots are not there, or nothing."""
    try:
        return [_panda(), _ur5()], ""
    except FileError:
        missing = "The robots of example-robot-data are not there (pip install 'lie-constraints[robots]', 131 MB): "
        return sample_scenes(), missing + "sample robots take the place of Panda and UR5."


def sample_scenes() -> list[Scene]:
    """The problems on robots built in Python."""
    return [_arm(), _two_arms()]


# Measuring, without this library's functions.


def placement_by_hand(robot: Robot, frame: str, q: Vector) -> Any:
    r"""Placement of a frame, by pinocchio's joint models alone, one after the other down the chain.

    .. math:: {}^oM_f = {}^oM_{j_1}\,T_{j_1}(q) \cdots {}^{j_{n-1}}M_{j_n}\,T_{j_n}(q)\;{}^{j_n}M_f

    Args:
        robot: the robot.
        frame: name of a frame of its model.
        q: configuration (nq,).
    """
    model: Any = robot.model
    own = model.frames[model.getFrameId(frame)]
    placement, joint = own.placement, int(own.parentJoint)
    while joint:
        data = model.joints[joint].createData()
        model.joints[joint].calc(data, q)
        placement, joint = model.jointPlacements[joint] * data.M * placement, int(model.parents[joint])
    return placement


def _apart(a: Any, b: Any) -> float:
    """Distance [m] and angle [rad] between two placements, as one norm."""
    R = np.asarray(a.rotation).T @ np.asarray(b.rotation)
    sine = 0.5 * math.hypot(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    angle = math.atan2(sine, 0.5 * (float(np.trace(R)) - 1.0))
    return math.hypot(*(np.asarray(a.translation) - np.asarray(b.translation)), angle)


# Running, printing, drawing.


def project_all(scene: Scene, count: int, seed: int) -> Outcome:
    """Project random configurations of a scene's robot and measure what came out.

    Args:
        scene: which.
        count: how many configurations.
        seed: of the random generator.
    """
    projector = Projector(scene.problem, Options(seed=seed))
    starts = scene.robot.random(np.random.default_rng(seed), count)
    projector.project(starts[0])  # the first call pays for memory
    results = [projector.project(q) for q in starts]
    ends = np.array([result.q for result in results])
    success = np.array([result.success for result in results])
    errors = [scene.measure(q) for q in ends[success]]
    return Outcome(
        scene,
        starts,
        ends,
        success,
        np.array([result.iterations for result in results]),
        np.array([result.seconds for result in results]),
        max(errors, default=math.nan),
    )


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as text, a line each."""
    head = ("problem", "dofs", "rows", "success", "iterations", "time each", "largest error")
    lines: list[tuple[str, ...]] = [head]
    for outcome in outcomes:
        problem = outcome.scene.problem
        lines.append((
            outcome.scene.name,
            str(problem.space.nv),
            str(problem.constraints.size),
            f"{int(outcome.success.sum())} of {len(outcome.success)}",
            f"{float(np.median(outcome.iterations)):.0f}",
            f"{1e3 * float(np.median(outcome.seconds)):.2f} ms",
            "-" if math.isnan(outcome.largest_error) else f"{outcome.largest_error:.1e}",
        ))  # fmt: skip
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
    return "\n".join([text[0], "-" * len(text[0]), *text[1:]])


def draw(outcomes: Sequence[Outcome], path: str | os.PathLike[str]) -> None:
    """Write the picture: a row a scene, configurations before on the left and the same ones after on the right.

    The first successes are shown.

    Args:
        outcomes: what to show.
        path: the file.

    Raises:
        MissingExtraError: matplotlib is not installed.
        FileError: the file cannot be written.
    """
    rows = len(outcomes)
    inches = 5.0 * rows + 0.9
    figure = new_figure(10.0, inches, layout="none")
    title = "Random configurations, and what projection makes of them"
    figure.text(0.5, 1.0 - 0.4 / inches, title, ha="center", fontsize=15)
    figure.text(0.99, 0.1 / inches, "grid: 0.5 m", ha="right", color="#707070")
    for row, outcome in enumerate(outcomes):
        scene, top = outcome.scene, 5.0 * (rows - row) + 0.3
        figure.text(0.5, (top - 0.2) / inches, scene.name, ha="center", fontsize=13, fontweight="bold")
        shown = np.flatnonzero(outcome.success)[: scene.shown]
        middle, reach = _view(outcome, shown)
        for column, (configurations, title) in enumerate(((outcome.starts, scene.before), (outcome.ends, scene.after))):
            left = 0.01 + 0.49 * column
            figure.text(left + 0.245, (top - 0.5) / inches, title.format(len(shown)), ha="center", fontsize=12)
            place = (left, (top - 4.95) / inches, 0.49, 4.3 / inches)
            axes: Any = figure.add_axes(place, projection="3d", computed_zorder=False)
            tidy_axes(axes, middle, reach)
            axes.plot([0.0], [0.0], [0.0], "s", color="#404040", markersize=9.0)
            for i, k in enumerate(shown):
                if scene.holds and column:
                    ends = [placement_by_hand(scene.robot, tip, configurations[k]).translation for tip in scene.tips]
                    axes.plot(*np.transpose(ends), color="#a0a0a0", linewidth=7.0, solid_capstyle="round")
                draw_configuration(axes, scene.robot, configurations[k], tips=scene.tips, colour=f"C{i}", width=2.5)
            if scene.target is not None:
                draw_frame(axes, scene.target, length=0.25 * reach, width=2.5)
                low: Any = scene.target.translation - [0.0, 0.0, 0.32 * reach]
                axes.text(*low, "target", ha="center", va="top", fontsize=11, zorder=11)
    save_figure(figure, path)


def _view(outcome: Outcome, shown: Indices) -> tuple[Vector, float]:
    """Middle and half the width of a cube around all tips and the foot of the robot."""
    robot, tips = outcome.scene.robot, outcome.scene.tips
    configurations = np.concatenate([outcome.starts[shown], outcome.ends[shown]])
    ends = [np.asarray(placement_by_hand(robot, tip, q).translation) for q in configurations for tip in tips]
    points = np.array([np.zeros(3), *ends])
    lowest, highest = points.min(axis=0), points.max(axis=0)
    return 0.5 * (lowest + highest), max(0.53 * float((highest - lowest).max()), 0.5)


def run(output: str | os.PathLike[str] = "demo.png", starts: int = 500, seed: int = 0) -> int:
    """Project, print the table, write the picture.

    Args:
        output: file of the picture.
        starts: configurations a problem.
        seed: of the random generator.

    Returns:
        how many projections failed.

    Raises:
        FileError: the picture cannot be written.
        OptionError: a number that makes no sense.
    """
    if starts < 1 or seed < 0:
        raise OptionError(f"expected at least one start and a seed that is not negative, got {starts} and {seed}")
    folder = Path(output).absolute().parent
    if not folder.is_dir():
        raise FileError(os.fspath(output), f"the folder {folder} does not exist")
    began = perf_counter()
    problems, note = scenes()
    if note:
        print(note)
    print(f"Projecting {starts} random configurations of each robot onto its constraint (seed {seed}).\n")
    outcomes = [project_all(scene, starts, seed) for scene in problems]
    print(table(outcomes))
    print("\nDistances in m, angles in rad, medians over the starts. The largest error over all successes is measured")
    print("afterwards with pinocchio's joint models alone; the threshold of the projection was 1e-4.")
    try:
        draw(outcomes, output)
        print(f"\nPicture: {os.fspath(output)} ({perf_counter() - began:.1f} s in all)")
    except MissingExtraError as missing:
        print(f"\nNo picture: {missing}")
    return sum(int((~outcome.success).sum()) for outcome in outcomes)

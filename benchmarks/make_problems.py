"""Makes the problems of `benchmarks/problems/others`: tasks of planners on robots of example-robot-data.

    python benchmarks/make_problems.py [FOLDER] [--only NAME ...]

Robots, constraints and numbers of starts are written here. Targets are those of a configuration `qref` that is drawn
by `problem_scene.SEED` and the name of the problem, so that all are within reach (over a table a place is drawn that
the arm reaches); starts by the sampler that the file states and `START_SEED`. No target is picked: a problem keeps what
its name draws. Everything is plain pinocchio.

An interval is two constraints of one row each side: `Superior` of the lower end and `Inferior` of the upper one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_setup
import numpy as np
import pinocchio as pin
from checking import Judge
from problem_scene import TILT, Row, Scene, Vector, models_of, numbers

OTHERS = Path(__file__).resolve().parent / "problems" / "others"
START_SEED = 20240607
ARM = r"(?i)shoulder|elbow|wrist|arm"
POSITION, ROTATION = [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]
NEAR: list[Any] = ["near", {"sigma": 0.2}]
FAR: list[Any] = ["uniform", {"box": 0.3, "rot": 0.5}]
ANYWHERE: list[Any] = ["uniform", {"box": 0.5, "rot": float(np.pi)}]


# Arms


def kinova_orientation(scene: Scene) -> Row:
    scene.draw()
    scene.at("j2s6s200_link_6", ROTATION)
    return scene.description("Kinova Jaco, whose joints turn for ever: orientation of the hand (3 rows)", ANYWHERE)


def kinova_grasp_explicit(scene: Scene) -> Row:
    scene.draw()
    scene.qref[scene.block("box/root_joint")] = numbers(scene.pose("j2s6s200_link_6") * GRIP)
    scene.relative("j2s6s200_link_6", "box/base_link", kind="explicit_relative_pose", grip=GRIP)
    scene.at("box/base_link", [0, 0, 1, 1, 1, 0])
    return scene.description("Kinova Jaco with a box in its hand, explicit; height and tilt of the box", ANYWHERE)


def xarm_pose(scene: Scene) -> Row:
    scene.draw()
    scene.at("link_eef")
    return scene.description("xArm7: pose of the flange (6 rows)", ANYWHERE)


def xarm_glass(scene: Scene) -> Row:
    scene.draw()
    scene.upright("link_eef")
    return scene.description("xArm7: a glass in the hand stays upright (2 rows)", ANYWHERE)


def ur10_over_table(scene: Scene) -> Row:
    middle = np.r_[scene.rng.uniform(0.5, 0.8), scene.rng.uniform(-0.4, 0.4), 0.4]
    half = np.array([0.2, 0.3, 0.1])
    scene.between("tool0", middle - half, middle + half, POSITION)
    scene.at("tool0", TILT, target=pin.SE3(np.diag([1.0, -1.0, -1.0]), middle))
    return scene.description("UR10: tool over a table within intervals (6 rows of inequality), and down", ANYWHERE)


def ur10_place_explicit(scene: Scene) -> Row:
    place = scene.rng.uniform([0.4, -0.4], [0.8, 0.4])
    turn = pin.exp3(np.array([0.0, 0.0, scene.rng.uniform(-np.pi, np.pi)]))
    scene.qref[scene.block("cube/root_joint")] = numbers(pin.SE3(turn, np.r_[place, 0.13]))
    side, table = 0.03, 0.5
    scene.constraints.append({
        "kind": "explicit_convex_shape_contact", "object_joint": "cube/root_joint", "floor_joint": "universe",
        "object_surface": [[-side, -side, -side], [-side, side, -side], [side, side, -side], [side, -side, -side]],
        "floor_pose": [0.6, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0],
        "floor_surface": [[-table, -table, 0], [table, -table, 0], [table, table, 0], [-table, table, 0]],
        "comparison": ["EqualToZero"] * 5 + ["Equality"] * 3, "rhs": "from qref", "priority": 0, "margin": 1e-4,
    })  # fmt: skip
    scene.relative("tool0", "cube/base_link", grip=pin.SE3(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 0.05])))
    return scene.description("UR10 takes from above a cube that stands on a table, explicit (6 rows left)", ANYWHERE)


def so101_point(scene: Scene) -> Row:
    scene.draw()
    scene.at("gripper_frame_link", POSITION)
    return scene.description("SO-101, five joints and a gripper: position of the finger tips (3 rows)", ANYWHERE)


def allegro_fingertips(scene: Scene) -> Row:
    scene.draw()
    for tip in (3, 7, 11, 15):
        scene.at(f"link_{tip}.0_tip", POSITION)
    return scene.description("Allegro hand: positions of all four finger tips (12 rows)", ANYWHERE)


# Two arms, mobile bases

GRIP = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.3])), np.array([0.0, 0.0, 0.1]))
"""A box in a hand, seen from the hand."""


def baxter_dual(scene: Scene) -> Row:
    scene.draw()
    scene.relative("left_gripper", "right_gripper")
    scene.lock("finger")
    return scene.description("Baxter: pose of a gripper seen from the other (6 rows), fingers locked", ANYWHERE)


def baxter_box_explicit(scene: Scene) -> Row:
    scene.draw()
    scene.qref[scene.block("box/root_joint")] = numbers(scene.pose("left_gripper") * GRIP)
    scene.relative("left_gripper", "box/base_link", kind="explicit_relative_pose", grip=GRIP)
    scene.relative("right_gripper", "box/base_link")
    scene.upright("box/base_link")
    return scene.description("Baxter, both hands on a box that stays level: one explicit, 8 rows left", ANYWHERE)


def tiago_reach(scene: Scene) -> Row:
    scene.draw()
    scene.at("arm_tool_link")
    scene.lock("wheel|head")
    return scene.description("TIAGo on its mobile base: pose of the tool (6 rows); head and wheels locked", ANYWHERE)


def tiago_dual_bar(scene: Scene) -> Row:
    scene.draw()
    scene.at("arm_left_tool_link")
    scene.relative("arm_left_tool_link", "arm_right_tool_link")
    scene.lock("hand_|head|wheel|caster|suspension")
    return scene.description(
        "TIAGo with two arms and hands on its mobile base: both hands on a bar at a place (12 rows), all else locked",
        ANYWHERE,
    )


# Legs


def romeo_stance_far(scene: Scene) -> Row:
    _on_two_feet(scene, "l_sole", "r_sole")
    return scene.description("Romeo: both feet and the centre of mass over them (14 rows); starts far off", FAR)


def romeo_reach(scene: Scene) -> Row:
    scene.stand()
    scene.draw(ARM)
    _on_two_feet(scene, "l_sole", "r_sole", stand=False)
    scene.at("r_gripper")
    return scene.description("Romeo: both feet, the centre of mass and the pose of a hand (20 rows)", NEAR)


def icub_hands(scene: Scene) -> Row:
    scene.stand()
    scene.draw(ARM)
    _on_two_feet(scene, "l_sole", "r_sole", stand=False)
    scene.relative("l_hand", "r_hand")
    return scene.description("iCub: both feet, the centre of mass, and a hand seen from the other (20 rows)", NEAR)


def g1_two_points(scene: Scene) -> Row:
    scene.stand()
    scene.draw(ARM)
    _on_two_feet(scene, "left_ankle_roll_link", "right_ankle_roll_link", stand=False)
    for side in ("left", "right"):
        scene.at(f"{side}_rubber_hand", POSITION)
    return scene.description("G1: both feet, the centre of mass and the positions of both hands (20 rows)", FAR)


def hyq_feet(scene: Scene) -> Row:
    _on_four_feet(scene, *(f"{leg}_foot" for leg in ("lf", "lh", "rf", "rh")))
    return scene.description("HyQ: four feet at points (12 rows); starts far off", FAR)


def solo_feet_com(scene: Scene) -> Row:
    _on_four_feet(scene, *(f"{leg}_FOOT" for leg in ("FL", "FR", "HL", "HR")))
    scene.balanced("FL_FOOT")
    return scene.description("Solo12: four feet at points and the centre of mass (14 rows)", NEAR)


def go2_patches(scene: Scene) -> Row:
    scene.stand()
    half = np.array([0.03, 0.03, 0.0])
    for leg in ("FL", "FR", "RL", "RR"):
        foot = f"{leg}_foot"
        there = scene.pose(foot).translation.copy()
        scene.between(foot, there - half, there + half, [1, 1, 0, 0, 0, 0])
        scene.at(foot, [0, 0, 1, 0, 0, 0])
    return scene.description("Go2: each foot on the ground within a patch (4 rows, 16 of inequality)", FAR)


def anymal_reach(scene: Scene) -> Row:
    scene.stand()
    scene.draw("j2s6s200")
    _on_four_feet(scene, *(f"{leg}_FOOT" for leg in ("LF", "LH", "RF", "RH")), stand=False)
    scene.at("j2s6s200_link_6")
    return scene.description("ANYmal with an arm: four feet at points and the pose of the hand (18 rows)", NEAR)


def centauro_hands(scene: Scene) -> Row:
    wheels = scene.joints("wheel")
    for name in wheels:  # the URDF gives them no way to turn
        scene.lower[scene.block(name)], scene.upper[scene.block(name)] = -np.pi, np.pi
    scene.stand()
    scene.draw("j_arm")
    _on_four_feet(scene, *(f"wheel_{leg}" for leg in (1, 2, 3, 4)), stand=False)
    scene.relative("ball1_tip", "ball2_tip")
    scene.lock("wheel|head|velodyne")
    return scene.description("Centauro: four wheels at points, a hand seen from the other; wheels locked", NEAR)


def borinot_reach(scene: Scene) -> Row:
    scene.draw("j_")
    scene.at("flying_arm_2__ee", POSITION)
    scene.upright(scene.model.frames[scene.model.getFrameId("borinot/root_joint") + 1].name)
    return scene.description("Borinot, a flying arm: its tip at a point, its body level (5 rows)", FAR)


def _on_two_feet(scene: Scene, left: str, right: str, stand: bool = True) -> None:
    """Both feet at their poses, centre of mass over the left one."""
    if stand:
        scene.stand()
    scene.at(left)
    scene.at(right)
    scene.balanced(left)


def _on_four_feet(scene: Scene, *feet: str, stand: bool = True) -> None:
    """Each foot at its point."""
    if stand:
        scene.stand()
    for foot in feet:
        scene.at(foot, POSITION)


PROBLEMS: dict[Callable[[Scene], Row], tuple[str, str, tuple[str, ...], int]] = {
    allegro_fingertips: ("allegro", "anchor", (), 200),
    anymal_reach: ("anymal", "freeflyer", (), 100),
    baxter_box_explicit: ("baxter", "anchor", ("box",), 200),
    baxter_dual: ("baxter", "anchor", (), 200),
    borinot_reach: ("borinot", "freeflyer", (), 200),
    centauro_hands: ("centauro", "freeflyer", (), 100),
    g1_two_points: ("g1", "freeflyer", (), 100),
    go2_patches: ("go2", "freeflyer", (), 100),
    hyq_feet: ("hyq", "freeflyer", (), 100),
    icub_hands: ("icub", "freeflyer", (), 100),
    kinova_grasp_explicit: ("kinova", "anchor", ("box",), 200),
    kinova_orientation: ("kinova", "anchor", (), 200),
    romeo_reach: ("romeo", "freeflyer", (), 100),
    romeo_stance_far: ("romeo", "freeflyer", (), 100),
    so101_point: ("so101", "anchor", (), 200),
    solo_feet_com: ("solo", "freeflyer", (), 100),
    tiago_dual_bar: ("tiago_dual", "planar", (), 100),
    tiago_reach: ("tiago", "planar", (), 200),
    ur10_over_table: ("ur10", "anchor", (), 200),
    ur10_place_explicit: ("ur10", "anchor", ("cube",), 200),
    xarm_glass: ("xarm", "anchor", (), 200),
    xarm_pose: ("xarm", "anchor", (), 200),
}
"""What makes a problem: its robot, its root, its boxes, the number of its starts."""


def made(name: str) -> tuple[Row, Vector]:
    """Description and starts of a problem."""
    make = next(make for make in PROBLEMS if make.__name__ == name)
    robot, root, objects, count = PROBLEMS[make]
    description = make(Scene(name, models_of(robot, root, objects)))
    return description, Judge(description).starts(count, START_SEED)


def main() -> int:
    parser = bench_setup.command(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=OTHERS, help="where the files go")
    names = [make.__name__ for make in PROBLEMS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="these alone")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only or names:
        description, starts = made(name)
        path = options.folder / f"{name}.npz"
        np.savez_compressed(path, problem=json.dumps(description), q0=starts, error_threshold=1e-4, max_iterations=40)
        rows = sum(sum(c.get("mask", [1])) for c in description["constraints"])
        print(f"{name}: {description['nv']} dofs, {rows} rows, {len(starts)} starts")
    return 0


if __name__ == "__main__":
    sys.exit(main())

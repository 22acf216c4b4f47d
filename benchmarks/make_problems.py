"""Makes the problems of `benchmarks/problems/others`: tasks of planners on robots of example-robot-data.

    python benchmarks/make_problems.py [FOLDER] [--only NAME ...]

Robots, constraints and numbers of starts are written here. Targets are those of a configuration `qref` that is drawn
by `SEED` and the name of the problem, so that all are within reach (over a table a place is drawn that the arm
reaches); starts by the sampler that the file states and `START_SEED`. No target is picked: a problem keeps what its
name draws. Everything is plain pinocchio.

An interval is two constraints of one row each side: `Superior` of the lower end and `Inferior` of the upper one.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from checking import Judge, assembled
from numpy.typing import NDArray

from constraints.robot.packages import find_resource

Row = dict[str, Any]
Vector = NDArray[np.float64]

OTHERS = Path(__file__).resolve().parent / "problems" / "others"
SEED, START_SEED = 20261122, 20240607
HERE = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
ROBOTS = "package://example-robot-data/robots"
FILES = {
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "borinot": "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "centauro": "centauro_description/urdf/centauro.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "icub": "icub_description/robots/icub_reduced.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "romeo": "romeo_description/urdf/romeo_small.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "solo": "solo_description/robots/solo12.urdf",
    "tiago": "tiago_description/robots/tiago_no_hand.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "ur10": "ur_description/urdf/ur10_joint_limited_robot.urdf",
    "xarm": "xarm_description/urdf/xarm7.urdf",
}
STANDING = {
    "anymal": ("anymal_b_simple_description/srdf/anymal-kinova.srdf", "standing_with_arm_up"),
    "centauro": ("centauro_description/srdf/centauro.srdf", "homing_nominal"),
    "go2": ("go2_description/srdf/go2.srdf", "standing"),
    "hyq": ("hyq_description/srdf/hyq.srdf", "standing"),
    "icub": ("icub_description/srdf/icub.srdf", "half_sitting"),
    "romeo": ("romeo_description/srdf/romeo_small.srdf", "half_sitting"),
    "solo": ("solo_description/srdf/solo.srdf", "standing"),
}
"""File and name of a standing configuration."""
BENT = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
"""Legs of a humanoid that comes without one [rad]: feet level under the hips."""
ARM = r"(?i)shoulder|elbow|wrist|arm"
BOX = "<robot name='box'><link name='base_link'/></robot>"
ROOM = 2.0
"""Free bodies stay within a cube of this half side around the origin [m]."""
POSITION, ROTATION, TILT = [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]


class Scene:
    """One problem in the making.

    Args:
        name: of the problem.
        robot: key of FILES, and prefix of all names.
        root: root joint of the robot.
        objects: prefix of each free box.
    """

    def __init__(self, name: str, robot: str, root: str = "anchor", objects: Iterable[str] = ()) -> None:
        self.name, self.robot = name, robot
        self.models: list[Any] = [[robot, root, f"{ROBOTS}/{FILES[robot]}", HERE]]
        self.models += [[prefix, "freeflyer", BOX, HERE] for prefix in objects]
        self.model = assembled(self.models)
        self.data = self.model.createData()
        self.rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
        self.lower, self.upper = self._bounds()
        self.qref: Vector = pin.neutral(self.model)
        self.constraints: list[Row] = []

    def _bounds(self) -> tuple[Vector, Vector]:
        """Those of the URDF, and ROOM for free bodies."""
        lower, upper = self.model.lowerPositionLimit.copy(), self.model.upperPositionLimit.copy()
        for joint in list(self.model.joints)[1:]:
            block = slice(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq != joint.nv:
                free = {7: 3, 4: 2, 2: 0}[joint.nq]
                upper[block] = [ROOM] * free + [1.01] * (joint.nq - free)
                lower[block] = -upper[block]
        return lower, upper

    def joints(self, pattern: str) -> list[str]:
        """Joints whose name without prefix has the pattern."""
        return [name for name in list(self.model.names)[1:] if re.search(pattern, name.split("/", 1)[1])]

    def block(self, joint: str) -> slice:
        at = self.model.joints[self.model.getJointId(joint)]
        return slice(at.idx_q, at.idx_q + at.nq)

    def draw(self, pattern: str = "") -> None:
        """Joints of qref in the middle four fifths of their bounds, cut to a turn; free bodies stay."""
        for name in self.joints(pattern):
            block = self.block(name)
            size = block.stop - block.start
            if size == 1:
                low, high = max(self.lower[block][0], -np.pi), min(self.upper[block][0], np.pi)
                self.qref[block] = self.rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low))
            elif size in (2, 4):  # the place of a planar root, then an angle
                angle = self.rng.uniform(-np.pi, np.pi)
                self.qref[block] = [*self.rng.uniform(-1.0, 1.0, size - 2), np.cos(angle), np.sin(angle)]

    def stand(self) -> None:
        """The robot stands as its SRDF says, clipped to its bounds, or on bent legs."""
        if self.robot in STANDING:
            path, state = STANDING[self.robot]
            alone = pin.buildModelFromUrdf(str(find_resource(self.models[0][2])), pin.JointModelFreeFlyer())
            pin.loadReferenceConfigurations(alone, str(find_resource(f"{ROBOTS}/{path}")), False)
            self.qref[: alone.nq] = alone.referenceConfigurations[state]
        for pattern, angle in () if self.robot in STANDING else BENT.items():
            for name in self.joints(pattern):
                self.qref[self.block(name)] = angle
        for name in self.joints(""):
            block = self.block(name)
            if block.stop - block.start == 1:
                self.qref[block] = np.clip(self.qref[block], self.lower[block], self.upper[block])

    def pose(self, frame: str) -> Any:
        """oMf in qref."""
        pin.framesForwardKinematics(self.model, self.data, self.qref)
        return self.data.oMf[self._frame(frame)]

    def _frame(self, name: str) -> int:
        whole = name if "/" in name else f"{self.robot}/{name}"
        if not self.model.existFrame(whole, pin.FrameType.BODY):
            raise KeyError(f"{self.name}: no link '{whole}'")
        return self.model.getFrameId(whole, pin.FrameType.BODY)

    def on(self, frame: str) -> tuple[str, Any]:
        """Joint that carries a link, and the placement of the link on it."""
        entry = self.model.frames[self._frame(frame)]
        return self.model.names[entry.parentJoint], entry.placement

    # Constraints; targets are those of qref where they are not given.

    def at(self, frame: str, mask: list[int] | None = None, word: str = "EqualToZero", target: Any = None) -> None:
        """A link at a pose in the world, in some of its rows."""
        joint, placement = self.on(frame)
        wanted = self.pose(frame) if target is None else target
        self._add("transformation", mask, word, joint2=joint, frame2=_numbers(placement), frame1_world=_numbers(wanted))

    def between(self, frame: str, low: Vector, high: Vector, mask: list[int]) -> None:
        """Position of a link between two corners of a box in the world [m]."""
        for corner, word in ((low, "Superior"), (high, "Inferior")):
            self.at(frame, mask, word, pin.SE3(np.eye(3), corner))

    def upright(self, frame: str) -> None:
        """A link may turn about the vertical alone: what is vertical in qref stays so."""
        joint, placement = self.on(frame)
        level = pin.SE3(self.pose(frame).rotation.T, np.zeros(3))
        self._add("transformation", TILT, "EqualToZero", joint2=joint, frame2=_numbers(placement * level),
                  frame1_world=HERE)  # fmt: skip

    def relative(self, one: str, other: str, mask: list[int] | None = None, kind: str = "relative_transformation",
                 grip: Any = None) -> None:  # fmt: skip
        """A link at a pose seen from another one: that of qref, or `grip`."""
        (joint1, M1), (joint2, M2) = self.on(one), self.on(other)
        seen = self.pose(one).actInv(self.pose(other)) if grip is None else grip
        frames = {"frame1": _numbers(M1 * seen), "frame2": _numbers(M2)}
        self._add(kind, mask, "EqualToZero", joint1=joint1, joint2=joint2, **frames)

    def balanced(self, foot: str) -> None:
        """Centre of mass over a foot where qref has it, of the bodies that hpp-constraints counts: those up to the
        last joint that hangs on the root. The two axes of the foot's joint count that are nearest to the horizontal.
        """
        joint, _ = self.on(foot)
        parents = list(self.model.parents)
        last = max(i for i, parent in enumerate(parents) if parent == 1)
        pin.forwardKinematics(self.model, self.data, self.qref)
        masses = np.array([self.model.inertias[i].mass for i in range(1, last + 1)])
        centres = np.array([self.data.oMi[i].act(self.model.inertias[i].lever) for i in range(1, last + 1)])
        oMj = self.data.oMi[self.model.getJointId(joint)]
        mask = [1, 1, 1]
        mask[int(np.abs(oMj.rotation[2]).argmax())] = 0
        reference = oMj.actInv(masses @ centres / masses.sum())
        self._add("relative_com", mask, "EqualToZero", joint=joint, reference=reference.tolist(), com_joints=[1, last])

    def lock(self, pattern: str) -> None:
        """Joints held where qref has them."""
        for name in self.joints(pattern):
            self.constraints.append({
                "kind": "locked_joint", "joint": name, "value": self.qref[self.block(name)].tolist(),
                "comparison": ["Equality"], "priority": 0,
            })  # fmt: skip

    def _add(self, kind: str, mask: list[int] | None, word: str, **given: Any) -> None:
        mask = [1] * 6 if mask is None else mask
        rows = {"mask": mask, "comparison": [word] * sum(mask), "priority": 0}
        self.constraints.append({"kind": kind, **given, **rows})

    def description(self, doc: str, sampler: list[Any]) -> Row:
        """The JSON of the problem."""
        return {
            "name": self.name, "doc": doc, "models": self.models, "joints": list(self.model.names), "nq": self.model.nq,
            "nv": self.model.nv, "lower": self.lower.tolist(), "upper": self.upper.tolist(),
            "qref": self.qref.tolist(), "sampler": sampler, "constraints": self.constraints,
        }  # fmt: skip


def _numbers(M: Any) -> list[float]:
    return pin.SE3ToXYZQUAT(M).tolist()


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
    scene.qref[scene.block("box/root_joint")] = _numbers(scene.pose("j2s6s200_link_6") * GRIP)
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
    scene.qref[scene.block("cube/root_joint")] = _numbers(pin.SE3(turn, np.r_[place, 0.13]))
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
    scene.qref[scene.block("box/root_joint")] = _numbers(scene.pose("left_gripper") * GRIP)
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
    description = make(Scene(name, robot, root, objects))
    return description, Judge(description).starts(count, START_SEED)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=OTHERS, help="where the files go")
    names = [make.__name__ for make in PROBLEMS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="these alone")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # remarks on the robots' files
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

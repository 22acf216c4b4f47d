"""Mechanisms of which the number of postures is published, or bounded by a theorem.

The titles of Primrose (Mechanism and Machine Theory 21, 509-510) and of Hunt (105, 705-712) were compared with lists of
references; that of Ronga and Vust, and what each paper proves, were found in no public source, and are from memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Implicit, Pose, Position, Problem
from constraints.functions import norm
from constraints.robot import Robot

SIXTEEN = "E. J. F. Primrose, On the input-output equation of the general 7R-mechanism, 1986"
FORTY = "F. Ronga and T. Vust, Stewart platforms without computer?, 1995"
SIX = "K. H. Hunt, Structural kinematics of in-parallel-actuated robot arms, 1983"


def six_joints(a: list[float], d: list[float], alpha: list[float]) -> Robot:
    """An arm of six revolute joints without bounds, by lengths [m] and angles [rad] of Denavit and Hartenberg.

    From axes i to i + 1: a turn about z, then along z by d, along x by a, about x by alpha. Its hand is frame "hand".
    """
    model, joint, place = pin.Model(), 0, pin.SE3.Identity()
    model.name = "six_joints"
    for i in range(6):
        joint = model.addJoint(joint, pin.JointModelRZ(), place, f"joint{i + 1}")
        place = pin.SE3(pin.utils.rotate("x", alpha[i]), np.array([a[i], 0.0, d[i]]))
    model.addFrame(pin.Frame("hand", joint, 0, place, pin.FrameType.OP_FRAME))
    return Robot(model)


def manseur_doty() -> Problem:
    """The arm and the pose of its hand that have sixteen postures: a variation of one by Manseur and Doty (1989).

    Source: D. Manocha and J. F. Canny, Efficient inverse kinematics for general 6R manipulators, 1994: table I, which
    is the same, the pose, which has four digits there, and table III, `SIXTEEN_POSTURES`. They have it from C. Wampler
    and A. P. Morgan, Solving the 6R inverse position problem using a generic-case solution methodology, 1991, problem
    6. The pose has six digits here: its rotation is the nearest one.
    """
    one, right = np.pi / 180.0, np.pi / 2.0
    robot = six_joints(
        [0.3, 1.0, 0.0, 1.5, 0.0, 0.0], [0.0, 0.0, 0.2, 0.0, 0.0, 0.0], [right, one, right, one, right, one]
    )
    rows = [[-0.760117, -0.641689, 0.102262], [0.133333, 0.0, 0.991071], [-0.635959, 0.766965, 0.0855577]]
    U, _, V = np.linalg.svd(np.array(rows))
    pose = pin.SE3ToXYZQUAT(pin.SE3(U @ V, np.array([-1.14017, 0.0, 0.0])))
    return Problem(robot, [Implicit.equal(Pose(robot, "hand"), pose)])


SIXTEEN_POSTURES = np.deg2rad(
    [
        [-96.28, -6.27, 179.96, 38.48, 52.55, -39.40], [-120.78, 172.33, -179.07, 31.33, -146.71, 142.82],
        [88.67, -176.72, -176.72, -63.24, 157.19, 140.43], [113.84, 5.30, -177.74, -55.92, -62.98, -43.37],
        [-178.12, 108.19, -147.73, -5.69, -164.67, 179.58], [168.32, -103.89, 146.60, -17.24, -171.87, 98.16],
        [-12.94, -105.09, -114.97, 3.02, 7.41, -79.42], [2.51, 108.07, 112.04, -10.52, 0.00, -0.10],
        [2.51, 108.07, -67.95, -169.47, 179.99, 179.89], [-12.94, -105.09, 65.02, 176.97, 172.58, 100.57],
        [168.32, -103.89, -33.39, -162.75, -8.12, -81.83], [-178.12, 108.19, 32.26, -174.30, -15.32, -0.41],
        [88.67, -176.72, 3.27, -116.75, 22.80, -39.56], [-96.28, -6.27, -0.03, 141.51, 127.44, 140.59],
        [-120.78, 172.33, 0.92, 148.66, -33.28, -37.17], [113.84, 5.30, 2.25, -124.07, -117.01, 136.62],
    ]
)  # fmt: skip
"""Of `manseur_doty`, as published, cut to hundredths of a degree [rad]."""


def dietmaier() -> Problem:
    """The platform on six legs that has forty postures; on a free joint, its corners are frames "b0" to "b5".

    Source: P. Dietmaier, The Stewart-Gough platform of general geometry can have 40 real postures, 1998. All numbers
    were compared, digit by digit, with those of two public programs that solve it, one of them Drake's: the same.
    """
    ground = [
        [0.0, 0.0, 0.0], [1.107915, 0.0, 0.0], [0.549094, 0.756063, 0.0], [0.735077, -0.223935, 0.525991],
        [0.514188, -0.526063, -0.368418], [0.590473, 0.094733, -0.205018],
    ]  # fmt: skip
    corners = [
        [0.0, 0.0, 0.0], [0.542805, 0.0, 0.0], [0.956919, -0.528915, 0.0], [0.665885, -0.353482, 1.402538],
        [0.478359, 1.158742, 0.107672], [-0.137087, -0.235121, 0.353913],
    ]  # fmt: skip
    legs = [1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
    model = pin.Model()
    model.name = "platform"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    for i, corner in enumerate(corners):
        place = pin.SE3(np.eye(3), np.array(corner))
        model.addFrame(pin.Frame(f"b{i}", joint, 0, place, pin.FrameType.OP_FRAME))
    robot = Robot(model)
    lengths = [norm(Position(robot, f"b{i}", reference=pin.SE3(np.eye(3), np.array(ground[i])))) for i in range(6)]
    return Problem(robot, [Implicit.equal(f, [leg]) for f, leg in zip(lengths, legs, strict=True)])


def three_rrr(elbows: Any, arms: Any, corners: Any) -> Problem:
    """A planar platform on three arms whose first joints are held: four passive angles, four rows.

    Args:
        elbows: (3, 2) ends of the driven bars [m].
        arms: lengths (3,) of the bars from there to the corners of the platform.
        corners: (3, 2) of the platform, the first one at the origin.
    """
    model, ends = pin.Model(), list[int]()
    model.name = "three_rrr"
    for i in range(3):
        place = pin.SE3(np.eye(3), np.array([*elbows[i], 0.0]))
        ends.append(model.addJoint(0, pin.JointModelRZ(), place, f"arm{i}"))
        tip = pin.SE3(np.eye(3), np.array([arms[i], 0.0, 0.0]))
        model.addFrame(pin.Frame(f"tip{i}", ends[i], 0, tip, pin.FrameType.OP_FRAME))
    plate = model.addJoint(ends[0], pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([arms[0], 0.0, 0.0])), "plate")
    for i in (1, 2):
        at = pin.SE3(np.eye(3), np.array([*corners[i], 0.0]))
        model.addFrame(pin.Frame(f"corner{i}", plate, 0, at, pin.FrameType.OP_FRAME))
    robot = Robot(model)
    rows = [Position(robot, f"corner{i}", reference=f"tip{i}")[:2] for i in (1, 2)]
    return Problem(robot, [Implicit.equal(f, [0.0, 0.0]) for f in rows])


SIX_POSTURES = {
    "elbows": [[0.21, 0.21], [0.85, -0.02], [0.84, 0.77]],
    "arms": [0.63, 0.83, 0.77],
    "corners": [[0.0, 0.0], [0.78, -0.11], [0.25, 0.57]],
}
"""Of `three_rrr`: with six postures; found by a random search."""

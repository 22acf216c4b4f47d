"""A planar linkage of two loops, and all its postures in closed form: how many branches a sweep of it has."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from constraints import Robot
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.reduced import Sweep, sweep

BASE, PIVOT = np.array([0.4, 0.0]), np.array([0.0, -0.15])
"""Of the rocker; and of the output, where a pair of postures begins on the way of the crank."""

CRANK = 1.0
"""Its angle at first."""


def two_loops(pivot: np.ndarray, way: float, steps: int = 40) -> Sweep:
    """A four-bar whose rocker drives two more links, to a pivot that not all of its postures reach.

    The crank turns from `CRANK`, where there is a posture, by the way.
    """
    model = pin.Model()
    joints = dict[str, int]()
    for name, parent, place in (
        ("crank", "", [0.0, 0.0]), ("coupler", "crank", [0.15, 0.0]), ("rocker", "", BASE),
        ("second", "rocker", [0.3, 0.0]), ("output", "", pivot),
    ):  # fmt: skip
        at = pin.SE3(np.eye(3), np.array([*place, 0.0]))
        joints[name] = model.addJoint(joints.get(parent, 0), pin.JointModelRZ(), at, name)
    robot = Robot(model, "two loops")
    for joint, length in (("coupler", 0.35), ("rocker", 0.3), ("second", 0.2), ("output", 0.25)):
        robot = robot.with_frame(f"{joint} end", joint, pin.SE3(np.eye(3), np.array([length, 0.0, 0.0])))
    ends = (("coupler end", "rocker end"), ("second end", "output end"))
    rows = ConstraintSet(robot, [Closure(robot, a, b, Hinge.pin(), name=a) for a, b in ends])
    coupler, rocker, second, output = postures_at(pivot, CRANK)[0]
    q = np.array([CRANK, coupler - CRANK, rocker, second - rocker, output])
    return sweep(rows, q, "crank", CRANK + np.linspace(0.0, way, steps))


def met(a: np.ndarray, b: np.ndarray, lengths: tuple[float, float]) -> list[tuple[float, float]]:
    """Angles in space of two links from a and b whose ends meet: two circles."""
    way = b - a
    far = float(np.hypot(*way))
    cosine = (far**2 + lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * far * lengths[0])
    found = list[tuple[float, float]]()
    for sign in (1.0, -1.0) if abs(cosine) < 1.0 else ():
        angle = float(np.arctan2(way[1], way[0]) + sign * np.arccos(cosine))
        back = a + lengths[0] * np.array([np.cos(angle), np.sin(angle)]) - b
        found.append((angle, float(np.arctan2(back[1], back[0]))))
    return found


def postures_at(pivot: np.ndarray, crank: float) -> list[tuple[float, ...]]:
    """Angles in space of coupler, rocker, second link and output, at an angle of the crank."""
    end, found = 0.15 * np.array([np.cos(crank), np.sin(crank)]), list[tuple[float, ...]]()
    for coupler, rocker in met(end, BASE, (0.35, 0.3)):
        tip = BASE + 0.3 * np.array([np.cos(rocker), np.sin(rocker)])
        found += [(coupler, rocker, *rest) for rest in met(tip, pivot, (0.2, 0.25))]
    return found

"""Mechanisms with published motions, built from their published parameters: rods in a tree, closed by closures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Frame, Robot
from constraints.loops import Closure, ConstraintSet, Hinge
from constraints.robot import Motion

Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Published:
    """A mechanism with its start."""

    constraint_set: ConstraintSet
    q: np.ndarray
    v: np.ndarray
    forces: Callable[[Motion, float], np.ndarray] | None = None

    @property
    def robot(self) -> Robot:
        return self.constraint_set.robot


# Andrews' squeezing mechanism: Schiehlen (1990), Hairer and Wanner (VII.7), test set for IVP solvers.

SQUEEZER = {
    "mass": (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498),
    "inertia": (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5),
    "A": (-0.06934, -0.00227),
    "B": (-0.03635, 0.03273),
    "C": (0.014, 0.072),
    **{"c0": 4530.0, "l0": 0.07785, "moment": 0.033},
    **{"d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092},
    **{"ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02, "ta": 0.02308, "tb": 0.00916},
    **{"u": 0.04, "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04, "fa": 0.01421},
}
SQUEEZER_ANGLES = {
    "beta": -0.0617138900142764496358948458001,
    "Theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "Phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "Omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}


def squeezer() -> Published:
    """Seven bodies in the plane, three loops that join points (two rows each), a spring and a drive torque."""
    p: dict[str, Any] = SQUEEZER
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    # name: parent, where its pivot is there, its centre of mass
    bodies = {
        "beta": ("", (0.0, 0.0), (p["ra"], 0.0)),
        "Theta": ("beta", (p["rr"], 0.0), (-p["da"], 0.0)),
        "gamma": ("", p["B"], (p["sb"], -p["sa"])),
        "Phi": ("delta", (p["zt"], 0.0), (0.0, p["ea"] - p["e"])),
        "delta": ("", p["A"], (p["ta"], p["tb"])),
        "Omega": ("epsilon", (0.0, -p["u"]), (p["zf"] - p["fa"], 0.0)),
        "epsilon": ("", p["A"], (p["ua"], -p["ub"])),
    }
    number = {name: i for i, name in enumerate(bodies)}
    for name in ("beta", "Theta", "gamma", "delta", "Phi", "epsilon", "Omega"):
        parent, pivot, com = bodies[name]
        at = pin.SE3(np.eye(3), np.array([*pivot, 0.0]))
        joint = model.addJoint(model.getJointId(parent) if parent else 0, pin.JointModelRZ(), at, name)
        model.addJointFrame(joint)
        mass, about = p["mass"][number[name]], p["inertia"][number[name]]
        inertia = pin.Inertia(mass, np.array([*com, 0.0]), np.diag([about, about, about]))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    robot = Robot(model)

    def end(name: str, x: float, y: float) -> Frame:
        return robot.frame(name, pin.SE3(np.eye(3), np.array([x, y, 0.0])))

    # the point on the body Theta, seen from those on gamma, Phi and Omega: rows along x and y
    others = {"gamma": (0.0, -p["ss"]), "Phi": (0.0, -p["e"]), "Omega": (p["zf"], 0.0)}
    in_plane = (True, True, False, False, False, False)
    loops = [
        Closure.masked(robot, end(name, *at), end("Theta", -p["d"], 0.0), in_plane, name=f"Theta on {name}")
        for name, at in others.items()
    ]
    tip, anchor = end("gamma", p["sd"], -p["sc"]), np.array([*p["C"], 0.0])

    def forces(motion: Motion, t: float) -> np.ndarray:
        del t
        there = motion.posture.placement(tip)
        spring = there.translation - anchor
        length = np.linalg.norm(spring)
        force = -p["c0"] * (length - p["l0"]) / length * spring
        tau = (there.rotation.T @ force) @ motion.posture.jacobian(tip)[:3]
        tau[robot.velocity_slice_of("beta")] += p["moment"]
        return tau

    q = robot.configuration(SQUEEZER_ANGLES)
    return Published(ConstraintSet(robot, loops), q, np.zeros(robot.nv), forces)


# IFToMM benchmark library, problems A02 and A04. Gravity 9.81 along -y, rods of 1 m and 1 kg.


def four_bar_windows(windows: int = 2, speed: float = 1.0) -> Published:
    """A02: cranks of 1 m side by side, joined by couplers; all start upright, B0 with a speed along x.

    The tree has crank 0 and the couplers on each other's ends; pins about z join the other cranks to them.
    """
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0.0, -9.81, 0.0]), np.zeros(3))
    on = _rod(model, 0, [0.0, 0.0, 0.0], "crank0", [1.0, 0.0, 0.0])
    for i in range(windows):  # the whole branch before the next one: pinocchio wants it so
        on = _rod(model, on, [1.0, 0.0, 0.0], f"coupler{i}", [1.0, 0.0, 0.0])
    for i in range(1, windows + 1):
        _rod(model, 0, [float(i), 0.0, 0.0], f"crank{i}", [1.0, 0.0, 0.0])
    robot = Robot(model)
    end = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    pins = [
        Closure(robot, robot.frame(f"coupler{i}", end), robot.frame(f"crank{i + 1}", end), Hinge.pin(Z), name=f"pin{i}")
        for i in range(windows)
    ]
    upright = {f"crank{i}": 0.5 * np.pi for i in range(windows + 1)}
    q = robot.configuration(upright | {"coupler0": -0.5 * np.pi})
    v = np.zeros(robot.nv)
    for i in range(windows + 1):
        v[robot.velocity_slice_of(f"crank{i}")] = -speed
    v[robot.velocity_slice_of("coupler0")] = speed
    return Published(ConstraintSet(robot, pins), q, v)


BRICARD_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)


def bricard() -> Published:
    """A04: five rods along the edges of a cube (the sixth edge is the ground), a pin across each corner; at rest.

    The tree has five of the pins; the sixth, with five rows of which one repeats the others, closes it.
    """
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0.0, -9.81, 0.0]), np.zeros(3))
    corners, joint = BRICARD_CORNERS, 0
    along = [corners[(i + 1) % 6] - corners[i] for i in range(6)]
    axes = [np.cross(along[i - 1], along[i]) for i in range(6)]  # at corner i
    for i in range(5):
        at = corners[i] - (corners[i - 1] if i else 0.0)
        joint = _rod(model, joint, at, f"pin{i}", along[i], axes[i])
    robot = Robot(model)
    last = robot.frame("pin4", pin.SE3(np.eye(3), along[4]))
    ground = pin.SE3(np.eye(3), corners[5])
    closure = Closure(robot, ground, last, Hinge.pin(axes[5]), name="pin5")
    return Published(ConstraintSet(robot, [closure]), robot.neutral, np.zeros(robot.nv))


def _rod(model: Any, parent: int, at: Any, name: str, along: Any, axis: Any = Z) -> int:
    """A rod of 1 m and 1 kg, 0.1 m thick and square, that turns about a pin at its start."""
    free = pin.JointModelRevoluteUnaligned(np.array(axis))
    joint = model.addJoint(parent, free, pin.SE3(np.eye(3), np.array(at, dtype=float)), name)
    model.addJointFrame(joint)
    direction = np.array(along, dtype=float)
    slim, thick = np.eye(3) - np.outer(direction, direction), np.outer(direction, direction)
    about = (1.0 + 0.01) / 12.0 * slim + 0.01 / 6.0 * thick
    model.appendBodyToJoint(joint, pin.Inertia(1.0, 0.5 * direction, about), pin.SE3.Identity())
    return joint

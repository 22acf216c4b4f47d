"""Random contact sets, and what they can carry by plain pinocchio, loops and a linear program; stances of Talos."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from robots import talos
from scipy.optimize import linprog

from constraints import Implicit, Pose, Problem, Projector, Robot
from constraints.functions import StaticStability, Support

SOLE = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.06, 0.06)])
"""Corners of a sole of Talos [m]."""


FEET = ("left_sole_link", "right_sole_link")


@functools.cache
def boulder() -> Robot:
    """One body on a free-flyer, its mass beside its origin."""
    model = pin.Model()
    model.name = "boulder"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.addJointFrame(joint)
    model.appendBodyToJoint(
        joint, pin.Inertia.FromBox(3.0, 0.3, 0.2, 0.1), pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.2]))
    )
    return Robot(model)


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Supports of a robot at a configuration, and the function of its stability."""

    robot: Robot
    q: np.ndarray
    supports: list[Support]

    @functools.cached_property
    def function(self) -> StaticStability:
        return StaticStability(self.robot, self.supports)

    def wrenches(self, q: np.ndarray | None = None) -> np.ndarray:
        """Wrenches (6, n) about the centre of mass of the edges of all pyramids, column by column, for L = 1 m."""
        model: Any = self.robot.model
        data = model.createData()
        c = pin.centerOfMass(model, data, self.q if q is None else q)
        columns = []
        for support in self.supports:
            oMf = data.oMi[support.frame.joint] * support.frame.placement
            n = np.asarray(support.normal)
            side = np.cross(n, np.eye(3)[np.abs(n).argmin()])
            side /= np.linalg.norm(side)
            turns = 2.0 * np.pi * np.arange(support.edges) / support.edges if support.friction else [0.0]
            for point in np.asarray(support.points):
                for angle in turns:
                    along = support.friction * (np.cos(angle) * side + np.sin(angle) * np.cross(n, side))
                    force = oMf.rotation @ (n + along)
                    columns.append([*force, *np.cross(oMf.act(point) - c, force)])
        return np.array(columns).T

    def least_largest(self) -> float:
        """The least t for which no entry of the wrench misses by more: zero exactly where the set is stable."""
        A = self.wrenches()
        n = A.shape[1]
        b = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        ones = np.ones((6, 1))
        found: Any = linprog(
            np.eye(n + 1)[n], A_ub=np.block([[A, -ones], [-A, -ones]]), b_ub=np.concatenate([b, -b]),
            bounds=[(0.0, None)] * (n + 1), method="highs",
        )  # fmt: skip
        assert found.success, found.message
        return float(found.x[n])

    @staticmethod
    def drawn(kind: str, seed: int) -> ContactSet:
        """A random set of a kind of `KINDS`."""
        return KINDS[kind](np.random.default_rng(seed))


def _body(rng: np.random.Generator) -> np.ndarray:
    """A place of the boulder, most of them a few degrees off level."""
    tilt = rng.normal(0.0, 0.2, 3)
    return np.array([*rng.uniform(-1.0, 1.0, 3), *pin.Quaternion(pin.exp3(tilt)).coeffs()])


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def _grip(rng: np.random.Generator) -> dict[str, Any]:
    return {"friction": float(rng.choice([0.0, 0.2, 0.5, 1.0])), "edges": int(rng.choice([3, 4, 8]))}


def limbs(rng: np.random.Generator) -> ContactSet:
    """Some feet and hands of Talos near half sitting; what they lean on is nearly level, or up to upright."""
    robot = talos()
    home = robot.reference("half_sitting")
    q = robot.space.integrate(home, rng.normal(0.0, float(rng.choice([0.02, 0.2])), robot.nv))
    frames = [*FEET, "gripper_left_base_link", "gripper_right_base_link"]
    chosen = [frames[i] for i in np.flatnonzero(rng.random(4) < [0.9, 0.8, 0.3, 0.3])] or frames[:1]
    supports = []
    for name in chosen:
        frame = robot.frame(name)
        up = robot.at(q).placement(frame).rotation.T @ _unit(np.array([0.0, 0.0, 1.0]) + rng.normal(0.0, 0.2, 3))
        points = SOLE if "sole" in name else rng.uniform(-0.05, 0.05, (int(rng.integers(1, 4)), 3))
        supports.append(Support(frame, points, normal=[0.0, 0.0, 1.0] if "sole" in name else up, **_grip(rng)))
    return ContactSet(robot, q, supports)


def three_points(rng: np.random.Generator) -> ContactSet:
    """Three points about the boulder, each with a normal of its own, in the world or on it."""
    robot, q, supports = boulder(), _body(rng), []
    for i in range(3):
        angle = 2.0 * np.pi * (i + rng.uniform(-0.3, 0.3)) / 3.0
        at = np.array([0.1, 0.0, 0.0]) + 0.3 * np.array([np.cos(angle), np.sin(angle), rng.uniform(-0.3, 0.3)])
        normal = _unit(np.array([0.0, 0.0, 1.0]) + rng.normal(0.0, 0.3, 3))
        place = robot.at(q).placement("body")
        if rng.random() < 0.5:
            frame, at, normal = robot.frame("universe"), place.act(at), place.rotation @ normal
        else:
            frame = robot.frame("body")
        supports.append(Support(frame, [at], normal=normal, **_grip(rng)))
    return ContactSet(robot, q, supports)


def line(rng: np.random.Generator) -> ContactSet:
    """The ends of a line under the boulder, half of them through its centre of mass seen from above."""
    robot = boulder()
    q = np.array([*rng.uniform(-1.0, 1.0, 3), 0.0, 0.0, 0.0, 1.0])
    aside = 0.0 if rng.random() < 0.5 else rng.normal(0.0, 0.05)
    ends = np.array([[x, aside, 0.0] for x in (0.1 - rng.uniform(-0.05, 0.3), 0.1 + rng.uniform(-0.05, 0.3))])
    tilt = rng.normal(0.0, 0.2)
    normal = [np.sin(tilt), 0.0, np.cos(tilt)]
    return ContactSet(robot, q, [Support(robot.frame("body"), ends, normal=normal, **_grip(rng))])


def nearly_dependent(rng: np.random.Generator) -> ContactSet:
    """Points and normals that are the same up to 1e-3 to 1e-12, on the boulder and in the world."""
    robot, q = boulder(), _body(rng)
    off = 10.0 ** rng.uniform(-12.0, -3.0)
    place = robot.at(q).placement("body")
    points = 0.3 * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    points = points + rng.uniform(-0.4, 0.4) * np.array([1.0, 0.0, 0.0])
    grip = _grip(rng)
    first = Support(robot.frame("body"), points, normal=[0.0, 0.0, 1.0], **grip)
    again = points + off * rng.standard_normal(points.shape)
    normal = _unit(np.array([0.0, 0.0, 1.0]) + off * rng.standard_normal(3))
    second = Support(robot.frame("universe"), [place.act(p) for p in again], normal=place.rotation @ normal, **grip)
    return ContactSet(robot, q, [first, second])


@functools.cache
def stance(slope: float) -> tuple[np.ndarray, list[Implicit]]:
    """Half sitting, and Talos' feet held where they are there, each tilted outwards by an angle [rad]."""
    robot = talos()
    home, held = robot.reference("half_sitting"), []
    for foot, sign in zip(FEET, (1.0, -1.0), strict=True):
        oMf = pin.SE3(pin.utils.rotate("x", sign * slope), robot.at(home).placement(foot).translation)
        held.append(Implicit.equal(Pose(robot, foot), oMf, name=foot))
    return home, held


def unstable_starts(slope: float, count: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Postures with both feet in their places from which Talos falls, whatever the ground can give."""
    robot, rng = talos(), np.random.default_rng(seed)
    home, held = stance(slope)
    feet = Projector(Problem(robot, held))
    grounds = [Support(robot.frame(foot), SOLE, friction=0.5) for foot in FEET]
    while count:
        far = rng.normal(0.0, 0.4, robot.nv)
        found = feet.project(robot.bounds.clip(robot.space.integrate(home, far)))
        if found.success and ContactSet(robot, found.q, grounds).least_largest() > 0.01:
            count -= 1
            yield found.q


KINDS: dict[str, Callable[[np.random.Generator], ContactSet]] = {
    "limbs": limbs,
    "three points": three_points,
    "line": line,
    "nearly dependent": nearly_dependent,
}
"""What is drawn; `limbs` needs example-robot-data."""

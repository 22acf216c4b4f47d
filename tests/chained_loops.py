"""Two four-bars in a chain and an arm that grasps what the second one moves: a robot that several tests share."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin

from constraints import Implicit, Pose, Robot
from constraints.loops import PointClosure

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.4, 0.9, 0.7


def closed_form(crank: float) -> tuple[float, float]:
    """Coupler angle (relative to the crank) and rocker angle of a four-bar, elbow up."""
    B = CRANK * np.array([np.cos(crank), np.sin(crank)])
    d = np.array([GROUND, 0.0]) - B
    length = float(np.hypot(*d))
    inner = np.arccos((COUPLER**2 + length**2 - ROCKER**2) / (2.0 * COUPLER * length))
    absolute = np.arctan2(d[1], d[0]) + inner
    C = B + COUPLER * np.array([np.cos(absolute), np.sin(absolute)])
    rocker = np.arctan2(C[1], C[0] - GROUND)
    return float(absolute - crank), float(rocker)


@functools.cache
def robot() -> Robot:
    """Two four-bars, the second on the rocker of the first, and an arm that grasps what the second moves."""
    model = pin.Model()
    box = pin.Inertia.FromBox(1.0, 0.2, 0.1, 0.1)

    def T(x: float, y: float = 0.0) -> Any:
        return pin.SE3(np.eye(3), np.array([x, y, 0.0]))

    def joint(parent: int, place: Any, name: str, kind: Any = None) -> int:
        index = model.addJoint(parent, pin.JointModelRZ() if kind is None else kind, place, name)
        model.appendBodyToJoint(index, box, pin.SE3.Identity())
        return index

    def frame(name: str, on: int, place: Any) -> None:
        model.addFrame(pin.Frame(name, on, 0, place, pin.FrameType.OP_FRAME))

    crank = joint(0, T(0.0), "crank")
    coupler = joint(crank, T(CRANK), "coupler")
    rocker = joint(0, T(GROUND), "rocker")
    frame("coupler end", coupler, T(COUPLER))
    frame("rocker end", rocker, T(ROCKER))
    second = joint(rocker, T(0.2), "link")  # a second loop that uses the rocker's angle
    frame("link end", second, T(0.6))
    third = joint(0, T(1.9, 0.6), "swing")
    frame("swing end", third, T(0.5))
    at = 0
    kinds = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRY, pin.JointModelRX, pin.JointModelRY, pin.JointModelRX)
    offsets = ([1.2, 0.0, 0.3], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0])
    for i, (kind, offset) in enumerate(zip(kinds, offsets, strict=True)):
        at = joint(at, pin.SE3(np.eye(3), np.array(offset)), f"arm{i}", kind())
    frame("hand", at, T(0.1))
    frame("handle", third, pin.SE3(pin.exp3(np.array([0.2, 0.1, 0.0])), np.array([0.25, 0.0, 0.1])))
    return Robot(model, "chained loops").without_bounds()


@functools.cache
def closures() -> tuple[PointClosure, PointClosure, Implicit]:
    """What closes the first loop and the second, and the grasp."""
    r = robot()
    first = PointClosure(r, "rocker end", "coupler end", name="first loop")
    second = PointClosure(r, "swing end", "link end", name="second loop")
    return first, second, Implicit.zero(Pose(r, "handle", reference="hand"), name="grasp")


def start(seed: int) -> np.ndarray:
    r, rng = robot(), np.random.default_rng(seed)
    crank = 0.9 + 0.1 * rng.standard_normal()
    coupler, rocker = closed_form(crank)
    q = r.configuration(crank=crank, coupler=coupler, rocker=rocker, link=-1.0, swing=2.6)
    q[5:] = [-0.2, 0.6, -1.0, 0.3, 0.5, 0.1]
    return q + 0.05 * rng.standard_normal(r.nq)

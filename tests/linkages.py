"""Linkages that several tests share: an arm with a free body to be closed onto it, planar mechanisms held upright."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin
from samples import placement

from constraints import Frame, Robot
from constraints.loops import Closure, ConstraintSet, Hinge, assemble_velocity
from constraints.models import mechanisms

PREDECESSOR, SUCCESSOR = Frame("p", 2, placement(93), "two"), Frame("s", 3, placement(94), "base")
"""Frames of `arm_and_body`, on the end of the arm and on the free body."""

KEPT = ("one", "two", "tail")
"""Joints of `arm_and_body` that stay as they are where a joint is put between the two frames."""


def arm_and_body_model() -> Any:
    """An arm of two joints, and a free body that carries one more joint."""
    model, rng = pin.Model(), np.random.default_rng(3)
    joints: tuple[tuple[str, int, Any], ...] = (
        ("one", 0, pin.JointModelRZ()),
        ("two", 1, pin.JointModelRY()),
        ("base", 0, pin.JointModelFreeFlyer()),
        ("tail", 3, pin.JointModelRX()),
    )
    for i, (name, parent, joint) in enumerate(joints):
        index = model.addJoint(parent, joint, placement(70 + i), name)
        box = pin.Inertia.FromBox(rng.uniform(0.5, 2.0), *rng.uniform(0.1, 0.4, 3))
        model.appendBodyToJoint(index, box, placement(80 + i))
    model.addFrame(pin.Frame("tip", 4, 0, placement(90), pin.FrameType.OP_FRAME))
    return model


@functools.cache
def arm_and_body() -> Robot:
    """The robot of that model, without bounds."""
    return Robot(arm_and_body_model(), "arm and body").without_bounds()


@functools.cache
def upright(name: str) -> tuple[ConstraintSet, np.ndarray]:
    """A planar linkage whose plane is upright, with its closed posture."""
    mechanism = getattr(mechanisms, name)()
    model = pin.Model(mechanism.robot.model)
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    robot = Robot(model, name)
    loops = [Closure(robot, c.predecessor, c.successor, Hinge.pin(), name="cut") for c in mechanism.closures]
    return ConstraintSet(robot, loops), np.array(mechanism.postures["closed"])


def moving(rows: ConstraintSet, q: np.ndarray, seed: int = 0) -> Any:
    """The motion at q with a random velocity that keeps the loops closed."""
    return rows.robot.at(q, assemble_velocity(rows, q, np.random.default_rng(seed).standard_normal(rows.robot.nv)))

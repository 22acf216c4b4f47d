"""Explicit maps for tests: smooth functions into every group, robots that carry free-flying objects."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from robots import arm, humanoid

from constraints import Base, Function, Part, Robot
from constraints.errors import UndefinedError
from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Rn, Space

GROUPS: dict[str, Space] = {"R3": Rn(3), "SO2": SO2, "SO3": SO3, "SE2": SE2, "SE3": SE3, "R3xSO3": R3xSO3}
BOX = "<robot name='box'><link name='base_link'/></robot>"


@dataclass(frozen=True, eq=False, repr=False)
class Swing(Function):
    r"""A smooth map from R^n to a group, :math:`f(x) = \exp(A x + B \sin x)`, A and B drawn from a seed.

    It has a drift of its own (the default one), so that functions made of it are checked too.
    """

    group: Space
    size: int = 3
    seed: int = 0
    reach: float = 0.5

    def __post_init__(self) -> None:
        rng = np.random.default_rng([self.seed, self.group.nv, self.size])
        object.__setattr__(self, "A", self.reach * rng.uniform(-1.0, 1.0, (self.group.nv, self.size)))
        object.__setattr__(self, "B", self.reach * rng.uniform(-1.0, 1.0, (self.group.nv, self.size)))
        self.declare(Rn(self.size), self.group, name=f"swing{self.seed}")

    A: Any = None
    B: Any = None

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        x = point.q
        phi = self.A @ x + self.B @ np.sin(x)
        value[:] = self.group.exp(phi)
        if jacobian is not None:
            jacobian[:] = self.group.exp_jacobian(phi) @ (self.A + self.B * np.cos(x))

    def drift(self, motion: Any, out: Any) -> None:
        Function.drift(self, motion, out)


@dataclass(frozen=True, eq=False, repr=False)
class Sinh(Function):
    """The hyperbolic sine of each coordinate: a map of R^n onto itself that is far from linear."""

    size: int

    def __post_init__(self) -> None:
        self.declare(Rn(self.size), Rn(self.size))

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        value[:] = np.sinh(point.q)
        if jacobian is not None:
            jacobian[:] = np.diag(np.cosh(point.q))

    def drift(self, motion: Any, out: Any) -> None:
        out[:] = np.sinh(motion.point.q) * motion.v**2


@dataclass(frozen=True, eq=False, repr=False)
class Arsinh(Function):
    """The inverse of `Sinh`."""

    size: int

    def __post_init__(self) -> None:
        self.declare(Rn(self.size), Rn(self.size))

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        value[:] = np.arcsinh(point.q)
        if jacobian is not None:
            jacobian[:] = np.diag(1.0 / np.sqrt(1.0 + point.q**2))


def positive_root(q: np.ndarray) -> np.ndarray:
    """The square root, which has no value below zero."""
    if (q < 0.0).any():
        raise UndefinedError(f"the root of {q.min():.3g} is not real")
    return np.sqrt(q)


# Robots that carry things.


@functools.cache
def arm_and_box() -> Robot:
    """An arm and a free-flying box in the world, with frames "gripper" and "handle" that are not at their joints."""
    box = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    robot = Robot.system([Part("arm", arm()), Part("box", box)])
    robot = robot.with_frame("gripper", "arm/tool", pose(1)).with_frame("handle", "box/root_joint", pose(2))
    return robot.with_frame("elbow", "arm/elbow", pose(3))


@functools.cache
def arm_with_tray() -> Robot:
    """An arm on whose third joint a free-flying object hangs, which carries a joint itself; a second object beside."""
    model = pin.Model(arm().model)
    tray = model.addJoint(3, pin.JointModelFreeFlyer(), pin.XYZQUATToSE3(pose(4)), "tray")
    lid = model.addJoint(tray, pin.JointModelRX(), pin.XYZQUATToSE3(pose(5)), "lid")
    ball = model.addJoint(0, pin.JointModelFreeFlyer(), pin.XYZQUATToSE3(pose(6)), "ball")
    for joint in (tray, lid, ball):
        model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.SE3.Identity())
    robot = Robot(model)
    for name, on, seed in (("handle", "tray", 7), ("knob", "lid", 8), ("grip", "ball", 9)):
        joint = robot.joint_index(on)
        model.addFrame(pin.Frame(name, joint, 0, pin.XYZQUATToSE3(pose(seed)), pin.FrameType.OP_FRAME))
    return Robot(model)


@functools.cache
def humanoid_and_box() -> Robot:
    """A humanoid on a free-flyer, and a free-flying box."""
    box = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    robot = Robot.system([Part("human", humanoid()), Part("box", box)])
    return robot.with_frame("hand", "human/larm6_joint", pose(10)).with_frame("handle", "box/root_joint", pose(11))


def pose(seed: int) -> np.ndarray:
    """Seven numbers of a placement far from the identity, always the same."""
    return SE3.random(np.random.default_rng(seed), np.full(7, -0.3), np.full(7, 0.3))


# Differences.


def differences(space: Space, q: np.ndarray, value: Any, group: Space | None = None, h: float = 1e-5) -> np.ndarray:
    """Central differences of `value` along the manifold at q, column by column."""
    columns = []
    for i in range(space.nv):
        step = np.zeros(space.nv)
        step[i] = h
        behind, ahead = value(space.integrate(q, -step)), value(space.integrate(q, step))
        columns.append((ahead - behind if group is None else group.difference(behind, ahead)) / (2.0 * h))
    return np.stack(columns, axis=1)


def composed(problem: Any, q: np.ndarray, rhs: Any = None) -> np.ndarray:
    """The configuration with all outputs written, map by map in resolution order; nothing of the solver's."""
    q = np.array(q)
    for explicit in problem.resolution.explicits:
        side = None if rhs is None else rhs.of(explicit)
        q[list(explicit.outputs.q)] = explicit.output_function(side).value(q)
    return q

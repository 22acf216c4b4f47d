"""What projections cost with functions that users write: formulas, and Python that the kernels call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from timing import in_bursts

from constraints import Affine, Function, Implicit, Position, Problem, Projector, Robot, Rotation
from constraints.functions import dot, inverse, rotated
from constraints.functions.frames.frame_function import posture_of, supporting_columns
from liegroups import Rn


@dataclass(frozen=True, eq=False, repr=False)
class UprightHeight(Function):
    r"""Height of a frame times the cosine of its tilt, in Python: :math:`p_z\, e_z^T R\, e_z`."""

    robot: Robot
    frame: str

    def __post_init__(self) -> None:
        columns = supporting_columns(self.robot, self.robot.frame(self.frame).joint)
        self.declare(self.robot.space, Rn(1), columns, periodic=True, name=f"UprightHeight({self.frame})")

    def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
        posture, frame = posture_of(point), self.robot.frame(self.frame)
        pose = posture.placement(frame)
        x, y, z = pose.rotation[2]
        height = pose.translation[2]
        value[0] = height * z
        if jacobian is not None:
            J = posture.jacobian(frame)
            jacobian[0] = z * (pose.rotation[2] @ J[:3]) + height * (x * J[4] - y * J[3])


def upright_height(robot: Robot, frame: str) -> Function:
    """The same by plain pinocchio, without a Jacobian."""
    model: Any = robot.model
    index = model.getFrameId(frame)
    data = model.createData()

    def value(q: Any) -> float:
        pin.forwardKinematics(model, data, q)
        pose = pin.updateFramePlacement(model, data, index)
        return pose.translation[2] * pose.rotation[2, 2]

    return Function.from_callable(value, robot.space, Rn(1), trace=False, name="upright height")


class Run(NamedTuple):
    """What is projected onto, and by which engine."""

    constraints: list[Implicit]
    engine: str


class Pair(NamedTuple):
    """Two runs, and how many times the cost of the first the second may have."""

    name: str
    first: Run
    second: Run
    allowed: float


def pairs(robot: Robot, frame: str, other: str, goal: Any) -> Iterator[Pair]:
    """What is compared: constraints that the goal satisfies."""
    p, R = Position(robot, frame), Rotation(robot, frame)
    by_hand = rotated(inverse(Rotation(robot, other)), p - Position(robot, other))
    upright = p[2] * rotated(R, [0.0, 0.0, 1.0])[2]
    for name, own, formula, allowed in (
        ("Position | formula", p, upright, 1.3),
        ("relative Position | formula", Position(robot, frame, reference=other), by_hand, 1.2),
        ("Affine @ Position | dot", Affine([[1.0, 2.0, 3.0]]) @ p, dot(p, [1.0, 2.0, 3.0]), 1.2),
    ):
        first, second = ([Implicit.equal(f, f.value(goal))] for f in (own, formula))
        yield Pair(f"{name}, compiled", Run(first, "compiled"), Run(second, "compiled"), allowed)
        yield Pair(f"{name}, readable", Run(first, "readable"), Run(second, "readable"), 2.0)
    for name, f, allowed in (
        ("a Jacobian", UprightHeight(robot, frame), 0.5),
        ("none", upright_height(robot, frame), 0.85),
    ):
        both = [Implicit.equal(p, p.value(goal)), Implicit.above(f, f.value(goal) - 0.02)]
        named = f"Position, Python with {name}: readable | called"
        yield Pair(named, Run(both, "readable"), Run(both, "compiled"), allowed)


def costs(robot: Robot, frame: str, other: str, count: int, rounds: int) -> bool:
    """Print microseconds a projection, the least of all rounds, a line a pair; whether no ratio is above the limit."""
    rng = np.random.default_rng(0)
    goal, starts, within = robot.random(rng), np.array([robot.random(rng) for _ in range(count)]), True
    heads = [f"{head:>9}" for head in ("first", "second", "ratio", "by steps", "allowed")]
    print(f"{robot.name + ', us a projection':50}", *heads)
    for name, *both, allowed in pairs(robot, frame, other, goal):
        some = starts if all(run.engine == "compiled" for run in both) else starts[: count // 10 + 1]
        projectors = [Projector(Problem(robot, constraints), engine=engine) for constraints, engine in both]
        iterations = [float(one.project_batch(some).iterations.mean()) + 1.0 for one in projectors]
        calls = {k: partial(one.project_batch, some) for k, one in enumerate(projectors)}
        least = [float(us.min()) / len(some) for us in in_bursts(calls, rounds).values()]
        ratio = least[1] / least[0]
        within = within and ratio <= allowed
        each = ratio * iterations[0] / iterations[1]
        print(f"{name:50}", *(f"{number:9.2f}" for number in (*least, ratio, each, allowed)))
    return within

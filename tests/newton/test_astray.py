"""Starts that are told to be far from outputs of constant maps: never one that satisfies its constraint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import (
    Comparison,
    ConvexShapeContactHold,
    Explicit,
    Problem,
    Projector,
    Robot,
    Status,
    Surface,
    explicit_contact,
    explicit_relative_pose,
    locked_joint,
)
from constraints.solvers.newton.substitution import Substitution
from constraints.workspace import Workspace

LIMIT = 1e-2
FAR = np.array([1.4, -0.8, 1.0])


def robot() -> Robot:
    """A free body with a frame away from its origin, on a turned seat, and an arm of one joint."""
    model: Any = pin.Model()
    seat = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.5])), np.array([0.1, 0.2, 0.3]))
    body = model.addJoint(0, pin.JointModelFreeFlyer(), seat, "box")
    place = pin.SE3(pin.exp3(np.array([0.4, 0.1, -0.3])), np.array([0.7, -0.4, 0.5]))
    model.addFrame(pin.Frame("side", body, 0, place, pin.FrameType.OP_FRAME))
    model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "arm")
    return Robot(model, "box").without_bounds()


ROBOT = robot()
SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])


def on_table() -> Explicit:
    table = Surface("table", ROBOT.frame("universe", pin.SE3(np.eye(3), np.array([0.2, 0.1, 0.4]))), 0.5 * SQUARE)
    return explicit_contact(ConvexShapeContactHold(ROBOT, table, Surface("foot", ROBOT.frame("side"), 0.1 * SQUARE)))


CASES = {
    "relative pose": lambda: explicit_relative_pose(
        ROBOT, "universe", "side", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], comparison=[Comparison.EQUALITY] * 6
    ),
    "pose of a frame far away": lambda: explicit_relative_pose(
        ROBOT,
        "universe",
        ROBOT.frame("box", pin.SE3(np.eye(3), FAR)),
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        comparison=[Comparison.EQUALITY] * 6,
    ),
    "contact": on_table,
    "locked body": lambda: locked_joint(ROBOT, "box", pin.SE3(pin.exp3(np.array([1.0, 0.5, 0.2])), np.ones(3))),
    "locked arm": lambda: locked_joint(ROBOT, "arm", 0.3),
}


def solved(name: str) -> tuple[Explicit, np.ndarray]:
    """A constraint, and a configuration with its outputs."""
    explicit = CASES[name]()
    q = ROBOT.random(np.random.default_rng(3))
    q[list(explicit.outputs.q)] = explicit.output_function().value(q)
    return explicit, q


@pytest.mark.parametrize("name", CASES)
def test_no_start_that_satisfies_its_constraint_is_astray(name: str) -> None:
    """Moved at random by steps around the limit, turned about far points too: astray means an error above it."""
    explicit, q = solved(name)
    problem, rng, block = Problem(ROBOT, [explicit]), np.random.default_rng(0), list(explicit.outputs.v)
    substitution, told, kept = Substitution(problem), 0, 0
    assert float(np.linalg.norm(problem.error(q))) < 1e-9
    for _ in range(1000):
        step = np.zeros(ROBOT.nv)
        step[block] = rng.normal(size=len(block)) * rng.choice([0.0, 1.0], len(block))
        step *= LIMIT * 10 ** rng.uniform(-1.0, 1.0) / max(float(np.linalg.norm(step)), 1e-9)
        if len(block) == 6 and rng.random() < 0.5:  # about a point on the body: small errors, a long way
            step[block[:3]] = -np.cross(step[block[3:]], FAR if "far" in name else 0.5 * FAR)
        moved = ROBOT.space.integrate(q, step)
        if substitution.is_astray(moved, q, LIMIT):
            told += 1
            assert float(np.linalg.norm(problem.error(moved))) > LIMIT
        kept += float(np.linalg.norm(problem.error(moved))) <= LIMIT
    assert told > 20
    assert kept > 20


def test_what_is_not_known_is_never_astray() -> None:
    """A body that is seen from a joint: its error does not follow from its own entries."""
    explicit = explicit_relative_pose(ROBOT, "arm", "side")
    far = ROBOT.neutral
    far[:3] = 10.0
    assert not Substitution(Problem(ROBOT, [explicit])).is_astray(far, ROBOT.neutral, LIMIT)


@pytest.mark.parametrize("name", ["relative pose", "contact", "locked body"])
def test_the_other_quaternion_is_the_same_pose(name: str) -> None:
    """Two quaternions are one rotation: a start with the one that is not computed stays, bit for bit."""
    explicit, q = solved(name)
    q[3:7] *= -1.0
    substitution = Substitution(Problem(ROBOT, [explicit]))
    started = substitution.start(q, Problem(ROBOT, [explicit]).rhs, Workspace())
    assert not substitution.is_astray(q, started, LIMIT)
    result = Projector(Problem(ROBOT, [explicit])).project(q)
    assert (result.status, result.iterations) == (Status.CONVERGED, 0)
    assert result.q.tobytes() == q.tobytes()

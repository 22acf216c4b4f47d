"""Random trees of joints and free bodies, held in every way: the loop sees what the resolved configuration has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from newton.test_held_bodies import resolved, rows_in_loop

import constraints as lc
from constraints.errors import ConstraintError, OverlapError
from constraints.functions.frames._template import DistanceBetween

KINDS: list[Callable[[], Any]] = [
    pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ, pin.JointModelPZ, pin.JointModelSpherical, pin.JointModelRUBZ,
]  # fmt: skip


def place(rng: np.random.Generator) -> Any:
    return pin.SE3(pin.exp3(rng.standard_normal(3)), 0.3 * rng.standard_normal(3))


def tree(rng: np.random.Generator) -> tuple[lc.Robot, list[int]]:
    """A robot with a frame on each joint, free bodies anywhere in the tree; and the joints of these."""
    model: Any = pin.Model()
    free: list[int] = []
    for i in range(rng.integers(5, 11)):
        parent = int(rng.integers(model.njoints)) if rng.random() < 0.5 else model.njoints - 1
        flies = rng.random() < 0.4
        kind = pin.JointModelFreeFlyer if flies else KINDS[rng.integers(len(KINDS))]
        joint = model.addJoint(parent, kind(), place(rng), f"j{i}")
        model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.SE3.Identity())
        free += [joint] if flies else []
    for joint in range(model.njoints):
        model.addFrame(pin.Frame(f"f{joint}", joint, 0, place(rng), pin.FrameType.OP_FRAME))
    return lc.Robot(model, "tree").without_bounds(), free


def constraints(robot: lc.Robot, free: list[int], rng: np.random.Generator) -> list[Any]:
    """Bodies held by frames of anything, and what is asked of frames."""
    found: list[Any] = []
    for joint in free:
        by = f"f{rng.integers(robot.model.njoints)}"
        try:
            held = lc.explicit_relative_pose(
                robot, by, f"f{joint}", comparison=[lc.Comparison.EQUALITY] * 6, name=f"held {joint}"
            )
        except OverlapError:  # by a part of itself
            continue
        found.append(held)
    return found + [asked(robot, rng) for _ in range(rng.integers(1, 4))]


def asked(robot: lc.Robot, rng: np.random.Generator) -> lc.Implicit:
    """Something that two frames shall do."""
    a, b = (f"f{joint}" for joint in rng.choice(robot.model.njoints, 2, replace=False))
    of_two: Any = [lc.Transformation, lc.Pose, lc.Rotation, lc.Orientation, lc.Position]
    kinds: list[Callable[[], lc.Implicit]] = [
        lambda: lc.Implicit.zero(of_two[rng.integers(5)](robot, b, reference=a)),
        lambda: lc.Implicit.equal(lc.Pose(robot, b)),
        lambda: lc.Implicit.zero(lc.Position(robot, b), mask=[True, False, True]),
        lambda: lc.Implicit.above(lc.Position(robot, b, reference=a), 0.1),
        lambda: lc.Implicit.equal(DistanceBetween(robot, a, b), [0.3]),
        lambda: lc.Implicit.equal(lc.CenterOfMass(robot), [0.0, 0.0, 0.2]),
        lambda: lc.Implicit.zero(lc.Pose(robot, a) - lc.Pose(robot, b)),
    ]
    return kinds[rng.choice(7, p=[0.5, 0.12, 0.12, 0.1, 0.1, 0.03, 0.03])]()


def problem(seed: int) -> tuple[lc.Problem | None, np.random.Generator]:
    rng = np.random.default_rng(seed)
    robot, free = tree(rng)
    owners = constraints(robot, free, rng)
    frozen = [name for name in robot.joint_names if rng.random() < 0.1]
    try:
        return lc.Problem(robot, owners, frozen=frozen), rng
    except ConstraintError:  # frames that nothing moves
        return None, rng


@pytest.mark.parametrize("seed", a_few(range(100, 190), 20))
def test_the_loop_sees_the_resolved_configuration(seed: int) -> None:
    """Rows and reduced Jacobian against those with all outputs written; whatever ends the projection, they are."""
    p, rng = problem(seed)
    if p is None or not p.explicits:
        return
    sides = p.rhs
    for explicit in p.explicits:
        sides = sides.replace(explicit, 0.5 * rng.standard_normal(6))
    q = p.space.random(rng)
    whole = resolved(p, q, sides)
    start = q.copy()
    for explicit in (e for e in p.resolution.explicits if e.is_constant):
        start[explicit.outputs.q_indices] = whole[explicit.outputs.q_indices]
    e, J = rows_in_loop(p, start, sides)
    rows, T = p.rows(whole, sides), p.resolution_jacobian(p.at(whole), sides)
    np.testing.assert_allclose(e, rows.error[: len(e)], atol=1e-10)
    np.testing.assert_allclose(J, rows.jacobian[: len(e)] @ T, atol=1e-10)
    result = lc.Projector(p, lc.Options(max_iterations=12)).project(q, sides)
    assert result.status is not lc.Status.UNDEFINED
    assert result.residual == pytest.approx(p.residual(result.q, sides), rel=1e-8, abs=1e-10)
    for explicit in p.explicits:
        assert np.abs(p.error(result.q, explicit, sides)).max() < 1e-9

"""Planar chains held by three rows of a point: one row is always zero, others vanish where the chain is straight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Frame, Robot
from constraints.dynamics import DynamicsStatus, Method, forward_dynamics
from constraints.loops import Closure, ConstraintSet, Form, Hinge, PointContact

METHODS = (Method.AUTOMATIC, Method.DIRECT, Method.RANGE_SPACE, Method.NULL_SPACE, Method.TEST_FORCES, Method.PROXIMAL)


def chain(links: int) -> tuple[Robot, Frame]:
    model, parent = pin.Model(), 0
    step = pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    for i in range(links):
        parent = model.addJoint(parent, pin.JointModelRZ(), step if i else pin.SE3.Identity(), f"j{i}")
        model.appendBodyToJoint(
            parent, pin.Inertia.FromBox(1.0, 0.5, 0.1, 0.1), pin.SE3(np.eye(3), step.translation / 2)
        )
    model.lowerPositionLimit, model.upperPositionLimit = np.full(links, -np.inf), np.full(links, np.inf)
    robot = Robot(model)
    return robot, Frame("tip", links, step, f"j{links - 1}")


def held(robot: Robot, tip: Any) -> ConstraintSet:
    return ConstraintSet(robot, [PointContact(robot, tip, form=Form.RATES, name="tip")])


@pytest.mark.parametrize("method", METHODS)
def test_a_row_that_is_always_zero_is_no_fault_of_the_mass(method: Method) -> None:
    """Found at stretched chains: pinocchio has that row, and its factorisation without damping gives no number."""
    robot, tip = chain(3)
    motion = robot.at([0.3, -0.8, 0.5], [1.0, -0.5, 0.3])
    result = forward_dynamics(held(robot, tip), motion, [3.0, -1.0, 2.0], method=method)
    other = forward_dynamics(held(robot, tip), motion, [3.0, -1.0, 2.0], method=Method.DIRECT)
    assert result.status is DynamicsStatus.RANK_DEFICIENT
    assert result.redundant_rows == ("tip[2]",)  # out of the plane: nothing moves it
    assert result.rank == 2
    assert np.abs(result.acceleration - other.acceleration).max() < 1e-8
    assert np.abs(result.multipliers - other.multipliers).max() < 1e-7


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bend", [1e-3, 1e-5, 1e-7])
def test_short_rows_are_met_like_long_ones(method: Method, bend: float) -> None:
    """Found at stretched chains: short rows that count are met to 1e-9, like long ones. One of 1e-7 does not count: the
    rule of rank is that of mobility (1e-6 of the largest singular value), and what it misses is listed."""
    robot, tip = chain(2)
    motion = robot.at([bend, -3.0 * bend], [0.0, 0.0])
    result = forward_dynamics(held(robot, tip), motion, [900.0, -1400.0], method=method)
    system = result.system
    assert result.status is DynamicsStatus.RANK_DEFICIENT
    counts = 2 if bend > 1e-6 else 1
    assert result.rank == counts
    sizes = np.linalg.norm(system.jacobian[:2], axis=1)
    G = (system.jacobian[:2] / sizes[:, None])[sizes > 1e-6 * sizes.max()]
    free = np.linalg.solve(system.mass_matrix, system.force)
    assert len(G) == counts
    assert np.abs(G @ result.acceleration).max() < 1e-9 * np.abs(free).max()
    assert set(result.missed_rows) == (set() if counts == 2 else {"tip[0]"})


@pytest.mark.parametrize("method", [m for m in METHODS if m is not Method.PROXIMAL])  # it has no rows of one normal
def test_rows_that_nearly_repeat_others_are_no_silent_success(method: Method) -> None:
    """Found at narrow normals: 1e-7 apart they count as one (1e-6), so what they ask for beside is missed, and listed:
    up to `rounding` it is no contradiction, for a loop that is planar but for its digits moves."""
    robot, tip = chain(3)
    n = np.array([np.sin(1e-7), np.cos(1e-7), 0.0])
    rows = ConstraintSet(
        robot, [PointContact(robot, tip, [0.0, 1.0, 0.0], name="up"), PointContact(robot, tip, n, name="nearly up")]
    )
    motion = robot.at([0.3, -0.8, 0.5], [1.0, -0.5, 0.3])
    result = forward_dynamics(rows, motion, [3.0, -1.0, 2.0], method=method)
    system = result.system
    assert result.rank == 1
    assert result.status is DynamicsStatus.RANK_DEFICIENT
    off = np.abs(system.jacobian @ result.acceleration - system.gamma)
    assert list(result.missed_rows.values()) == pytest.approx(off[off > 1e-9 * 10.0].tolist())
    assert 0 < len(result.missed_rows) <= 2
    assert "missed: " in result.describe()
    left = system.mass_matrix @ result.acceleration - system.force - system.jacobian.T @ result.multipliers
    assert np.abs(left).max() < 1e-12 * np.abs(system.force).max()
    assert 1e-9 < np.abs(system.jacobian @ result.acceleration - system.gamma).max() < 1e-4


def test_a_closure_that_leaves_everything_free_is_in_a_set() -> None:
    """Found at random closures: no row in the world made the set raise an IndexError."""
    robot, tip = chain(2)
    free = Closure(robot, pin.SE3.Identity(), tip, Hinge.free(), name="free")
    rows = ConstraintSet(robot, [free])
    assert rows.size == 0
    motion = robot.at([0.3, -0.8], [1.0, -0.5])
    for method in (*METHODS[:4], Method.NULL_SPACE):
        result = forward_dynamics(rows, motion, [3.0, -1.0], method=method)
        assert result.status is DynamicsStatus.SOLVED
        assert np.abs(result.acceleration - pin.aba(robot.model, robot.model.createData(), motion.q, motion.v,
                                                    np.array([3.0, -1.0]))).max() < 1e-9  # fmt: skip

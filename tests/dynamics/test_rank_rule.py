"""One rule of rank, through every door: a mechanism moves, or does not, whatever it is asked by.

Truth is the same linkage with axes that are parallel to the last digit, whose motion a plain SVD has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from dynamics.bodies import one_body

from constraints.dynamics import DynamicsStatus, Method, MotionStatus, forward_dynamics, impact, simulate
from constraints.dynamics.methods.row_space import RowSpace
from constraints.linear_algebra import rank_of_rows, singular_values
from constraints.loops import Closure, ConstraintSet, Hinge, PointContact, assemble_velocity
from constraints.loops.partition import partition
from constraints.models import mechanisms
from constraints.reduced import minimal_coordinates, reduced_forward_dynamics
from constraints.robot import Frame, Robot

EVERY = [m for m in Method if m not in (Method.TEST_FORCES, Method.PROXIMAL)]


def four_bar(tilt: float, turned: float = 0.3, **options: Any) -> tuple[ConstraintSet, np.ndarray]:
    """A planar four-bar whose closing pin is tilted [rad], about a line of its own plane at an angle."""
    mechanism = mechanisms.four_bar()
    robot, rows = mechanism.robot, mechanism.constraint_set()
    pinned: Any = rows.stack[0]
    way = pin.SE3(pin.exp3(tilt * np.array([np.cos(turned), np.sin(turned), 0.0])), np.zeros(3))
    a, b = (Frame(f"{f.name} tilted", f.joint, f.placement * way) for f in (pinned.predecessor, pinned.successor))
    held = ConstraintSet(robot, [Closure(robot, a, b, Hinge.pin(), name="pin")], **options)
    return held, mechanism.posture("closed")


def moving(rows: ConstraintSet, q: np.ndarray) -> Any:
    """A state that keeps the rows, up to the tilt."""
    v = np.linalg.svd(four_bar(0.0)[0].jacobian(q))[2][-1]
    return rows.robot.at(q, v)


@pytest.mark.parametrize("tilt", [1e-8, 3.3e-8, 3e-7, 7.3e-7])
@pytest.mark.parametrize("method", EVERY, ids=lambda m: m.name)
def test_nearly_parallel_axes_leave_a_linkage_free_by_every_method(method: Method, tilt: float) -> None:
    """It stood still with multipliers of 5e6, or SPARSE changed its mind at 1e-8, in motion -0.45 for 79.87."""
    (rows, q), (flat, _) = four_bar(tilt), four_bar(0.0)
    for v in (np.zeros(3), moving(flat, q).v):
        state, tau = rows.robot.at(q, v), np.array([0.7, 0.0, 0.0])
        found, right = (forward_dynamics(s, state, tau, method=m) for s, m in ((rows, method), (flat, Method.DIRECT)))
        if method is Method.SPARSE and not found.success:
            assert found.status is DynamicsStatus.SINGULAR_SPARSE  # it cannot tell; AUTOMATIC takes DIRECT then
            continue
        assert found.status is DynamicsStatus.RANK_DEFICIENT
        np.testing.assert_allclose(found.acceleration, right.acceleration, rtol=3e-6)
        assert np.abs(found.multipliers).max() < 1.1 * np.abs(right.multipliers).max()
        assert max(found.missed_rows.values(), default=0.0) < 1e-6 * np.abs(found.acceleration).max()


@pytest.mark.parametrize("tilt", [3e-7, 3e-5])
def test_all_doors_say_the_same_of_nearly_parallel_axes(tilt: float) -> None:
    """Mobility, minimal coordinates, velocities, impacts, motions and dynamics: free up to 1e-6, immobile beyond."""
    rows, q = four_bar(tilt)
    moves = tilt < 1e-6
    rank = rank_of_rows(singular_values(rows.jacobian(q)))
    assert rank == (2 if moves else 3)
    assert partition(rows.jacobian(q)).rank == rank
    start = moving(rows, q)
    struck = impact(rows, start)
    result = forward_dynamics(rows, start, method="direct")
    assert struck.row_space.rank == result.rank == rank
    assert bool(np.abs(struck.velocity).max() > 1e-3) is moves
    if moves:
        coordinates = minimal_coordinates(rows, q)
        assert coordinates.partition.independent.size == 1
        np.testing.assert_allclose(struck.velocity, start.v, rtol=1e-5)
        reduced = reduced_forward_dynamics(coordinates.at(q, start.v))
        np.testing.assert_allclose(reduced.acceleration, result.acceleration, rtol=1e-5)
        assembled = assemble_velocity(rows, q, start.v)
        np.testing.assert_allclose(assembled, start.v, rtol=1e-5)
        record = simulate(rows, q, start.v, 0.05, 0.01)
        assert record.status is MotionStatus.FINISHED
        assert np.abs(record.q[-1] - q).max() > 1e-3


def test_lengths_of_rows_do_not_decide() -> None:
    """With `rounding=1e-5` a tilt of 3.7e-6 gave 0 or 80.7 rad/s2 as the pin's frame turned about its own axis."""
    found = []
    for turned in np.linspace(0.0, 2.0 * np.pi, 13):
        rows, q = four_bar(3.7e-6, turned, rounding=1e-5)
        found.append(forward_dynamics(rows, rows.robot.at(q, np.zeros(3)), [0.7, 0.0, 0.0]).acceleration)
    assert np.ptp(found, axis=0).max() < 1e-5 * np.abs(found).max()
    assert np.abs(found).max() > 0.1


def slider_and_closure() -> tuple[ConstraintSet, np.ndarray]:
    """A slider along x, and a closure that holds its rotation, in axes of which one is across: nothing moves a row."""
    robot = one_body(pin.JointModelPX(), pin.Inertia.FromBox(1.0, 0.2, 0.1, 0.1), "slide")
    world = Frame("rail", 0, pin.SE3(pin.exp3(np.array([0.0, 0.5 * np.pi, 0.0])), np.zeros(3)))
    cart = Frame("cart", 1, pin.SE3(pin.exp3(np.array([0.0, 0.5 * np.pi, 0.0])), np.zeros(3)))
    return ConstraintSet(robot, [Closure(robot, world, cart, Hinge.translational(), name="rail")]), robot.neutral


def test_rows_that_nothing_moves_have_rank_zero_and_exact_derivatives() -> None:
    """All rows are rounding (1e-17): they were brought to unit length, and multipliers moved by 1e18."""
    rows, q = slider_and_closure()
    assert np.abs(rows.jacobian(q)).max() < 1e-15
    found = forward_dynamics(rows, rows.robot.at(q, [0.3]), [2.0])
    assert found.rank == 0
    np.testing.assert_allclose(found.acceleration, [2.0])
    slopes = found.derivatives()
    assert slopes.success
    for name in ("acceleration_dq", "acceleration_dv", "multipliers_dq", "multipliers_dv"):
        assert np.abs(getattr(slopes, name)).max() < 1e-9, name
    np.testing.assert_allclose(slopes.acceleration_dtau, [[1.0]])


def test_an_impact_at_rest_up_to_rounding_is_no_contradiction() -> None:
    """Restitution of 1e-15 m/s by one contact of two that hold the same body was INCONSISTENT."""
    robot = one_body(pin.JointModelFreeFlyer(), pin.Inertia.FromBox(1.0, 0.2, 0.1, 0.1))
    soles = [Frame(f"f{i}", 1, pin.SE3.Identity()) for i in (0, 1)]
    feet = [PointContact(robot, sole, [0.0, 0.0, 1.0], name=sole.name) for sole in soles]
    rows = ConstraintSet(robot, feet)
    still = np.zeros(6)
    for speed in (0.0, 1e-15, -1e-15):
        still[2] = speed
        assert impact(rows, robot.at(robot.neutral, still), restitution={"f0": 0.8}).success
    still[2] = -1.0
    assert impact(rows, robot.at(robot.neutral, still), restitution={"f0": 0.8}).status is DynamicsStatus.INCONSISTENT


def test_multipliers_of_least_norm_do_not_jump_where_rows_come_apart() -> None:
    """They changed by up to 6 % between rows that differ by 1e-13 and by 1e-12."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        G, apart = rng.standard_normal((4, 7)), rng.standard_normal(7)
        mu = rng.standard_normal(7)
        some = []
        for gap in (0.0, 1e-15, 1e-13, 1e-12, 1e-10, 1e-8):
            whole = np.vstack([G, G[0] - 0.5 * G[1] + gap * apart])
            space = RowSpace(whole)
            assert space.rank == 4
            some.append(space.multipliers(space.along(mu @ G.T @ G)))
        np.testing.assert_allclose(some, np.broadcast_to(some[0], (6, 5)), rtol=1e-6, atol=1e-6)
        least = np.linalg.lstsq(np.vstack([G, G[0] - 0.5 * G[1]]).T, mu @ G.T @ G, rcond=1e-9)[0]
        np.testing.assert_allclose(some[0], least, rtol=1e-9, atol=1e-9)


def test_a_structurally_singular_matrix_is_not_given_to_superlu(capfd: pytest.CaptureFixture[str]) -> None:
    """BLAS wrote on the terminal, and after some hundred sets the process crashed: `benchmarks/sparse_soundness.py`."""
    model = pin.Model()
    last = 0
    for i in range(4):  # no body has a mass, and the last joints are held by nothing
        last = model.addJoint(last, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])), f"j{i}")
    robot = Robot(model)
    rows = ConstraintSet(robot, [Closure(robot, pin.SE3.Identity(), Frame("tip", 2, pin.SE3.Identity()), Hinge.pin())])
    for q in np.random.default_rng(0).standard_normal((20, 4)):
        found = forward_dynamics(rows, robot.at(q, np.zeros(4)), method=Method.SPARSE)
        assert found.status is DynamicsStatus.SINGULAR_SPARSE
        assert forward_dynamics(rows, robot.at(q, np.zeros(4))).status is DynamicsStatus.SINGULAR_SYSTEM
    assert capfd.readouterr() == ("", "")

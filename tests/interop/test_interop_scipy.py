"""Problems given to SciPy's optimisers as constraints on a tangent step; solutions checked by plain pinocchio."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, mixed_tree, two_arms
from scipy.optimize import minimize

from constraints import Bounds, Function, Implicit, Pose, Position, Problem, Robot, Rotation, linear_coupling
from constraints.errors import NotFiniteError, SizeError, SpaceMismatchError, WrongObjectError
from constraints.interop import TangentSteps, as_nonlinear_constraint
from liegroups import SE2, SE3, SO3, Rn


def placement(robot: Robot, q: np.ndarray, frame: str) -> Any:
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    known = robot.frame(frame)
    return data.oMi[known.joint] * known.placement


def distance(z: np.ndarray) -> float:
    return float(z @ z)


def slope(z: np.ndarray) -> np.ndarray:
    return 2.0 * z


def check_jacobian(steps: TangentSteps, z: np.ndarray) -> None:
    """Central differences in z."""
    J, h = steps.jacobian(z), 1e-6
    assert J.shape == (steps.lower.size, z.size)
    for i in range(z.size):
        d = np.zeros(z.size)
        d[i] = h
        np.testing.assert_allclose(J[:, i], (steps.rows(z + d) - steps.rows(z - d)) / (2 * h), rtol=0, atol=2e-7)


def arm_problem() -> tuple[Problem, np.ndarray]:
    """A tool at a point, an elbow above a height, a wrist that follows."""
    robot = arm()
    return (
        Problem(
            robot,
            [
                Implicit.equal(Position(robot, "tool"), [0.45, 0.15, 0.5], name="reach"),
                Implicit.above(Position(robot, "elbow"), [-9.0, -9.0, 0.55], name="height"),
                linear_coupling(robot, "wrist_roll", {"forearm_roll": 0.5}),
            ],
        ),
        robot.reference("home"),
    )


def humanoid_problem() -> tuple[Problem, np.ndarray]:
    """A free-flyer whose height is bounded: a foot stays at its pose, a hand's place is in a box."""
    robot = humanoid()
    q0 = robot.space.integrate(robot.neutral, 0.1 * np.cos(np.arange(robot.nv)))
    foot, hand = Pose(robot, "rleg6_joint"), Position(robot, "larm6_joint")
    at = hand.value(q0)
    bounds = robot.without_bounds().bounds
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    lower[2], upper[2] = q0[2] + 0.02, q0[2] + 1.0
    problem = Problem(
        robot,
        [Implicit.equal(foot, foot.value(q0), name="foot"), Implicit.between(hand, at - [0.5, 0.5, 0.3], at - 0.1)],
        bounds=Bounds(robot.space, lower, upper),
    )
    return problem, q0


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_the_nearest_configuration_of_an_arm(method: Any) -> None:
    """SLSQP and trust-constr find the same nearest solution; by plain pinocchio it is one, within bounds."""
    problem, q0 = arm_problem()
    robot, steps = arm(), TangentSteps(problem, q0)
    constraints = steps.constraints if method == "SLSQP" else steps.constraint
    found = minimize(
        distance, np.zeros(7), jac=slope, bounds=steps.bounds, constraints=constraints, method=method,
        options={"maxiter": 300},
    )  # fmt: skip
    q = steps.configuration(found.x)
    np.testing.assert_allclose(placement(robot, q, "tool").translation, [0.45, 0.15, 0.5], rtol=0, atol=1e-6)
    assert placement(robot, q, "elbow").translation[2] > 0.55 - 1e-6
    assert abs(q[6] - 0.5 * q[4]) < 1e-6
    assert np.all((robot.bounds.lower - 1e-9 <= q) & (q <= robot.bounds.upper + 1e-9))
    assert problem.is_satisfied(q)
    # stationary: the gradient is in the row space of the rows at their bounds
    active = np.flatnonzero((np.abs(steps.rows(found.x) - steps.lower) < 1e-4) | (steps.lower == steps.upper))
    J = steps.jacobian(found.x)[active]
    gradient = slope(found.x)
    left = gradient - J.T @ np.linalg.lstsq(J.T, gradient, rcond=None)[0]
    assert np.abs(left).max() < 1e-3


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_a_humanoid_with_a_free_base(method: Any) -> None:
    """Unit quaternions: the steps stay on the manifold; the bound on the height of the base is a row."""
    problem, q0 = humanoid_problem()
    robot, steps = humanoid(), TangentSteps(problem, q0)
    constraints = steps.constraints if method == "SLSQP" else steps.constraint
    found = minimize(
        distance, np.zeros(robot.nv), jac=slope, bounds=steps.bounds, constraints=constraints, method=method,
        options={"maxiter": 200},
    )  # fmt: skip
    q = steps.configuration(found.x)
    assert abs(np.linalg.norm(q[3:7]) - 1.0) < 1e-12
    foot = placement(robot, q0, "rleg6_joint").actInv(placement(robot, q, "rleg6_joint"))
    assert np.abs(pin.log6(foot).vector).max() < 1e-5
    at = placement(robot, q0, "larm6_joint").translation
    moved = placement(robot, q, "larm6_joint").translation - at
    assert np.all(moved <= -0.1 + 1e-5)
    assert np.all(moved >= [-0.5 - 1e-5, -0.5 - 1e-5, -0.3 - 1e-5])
    assert q[2] >= q0[2] + 0.02 - 1e-5


@pytest.mark.parametrize("make", [arm_problem, humanoid_problem])
def test_rows_and_jacobian(make: Callable[[], tuple[Problem, np.ndarray]]) -> None:
    """The exact Jacobian, that of integrate included, at the base point and far from it; rows against plain values."""
    problem, q0 = make()
    steps, rng = TangentSteps(problem, q0), np.random.default_rng(0)
    z = rng.uniform(-1.0, 1.0, problem.space.nv)
    for size in (0.0, 0.3, 1.0):
        check_jacobian(steps, size * z)
    inside = (steps.lower - 1e-9 <= steps.rows(np.zeros(z.size))) & (steps.rows(np.zeros(z.size)) <= steps.upper + 1e-9)
    assert not inside.all()  # the start is no solution, by these rows as by the problem
    assert not problem.is_satisfied(q0)


def test_every_group_of_a_robot() -> None:
    """All joint types: spherical, planar, continuous, free, composite; bounds on planar and free translations."""
    robot = mixed_tree()
    bounds = Bounds(robot.space, np.full(robot.nq, -5.0), np.full(robot.nq, 5.0))
    frame = robot.joint_names[-1]
    problem = Problem(robot, [Implicit.equal(Pose(robot, frame), name="end")], bounds=bounds)
    rng = np.random.default_rng(1)
    q0 = robot.random(rng)
    steps = TangentSteps(problem, q0)
    translations = sum({"SE3": 3, "SE2": 2}.get(leaf.space.name, 0) for leaf in robot.space.leaves())
    assert translations > 0
    assert steps.lower.size == 6 + translations
    z = 0.5 * rng.uniform(-1.0, 1.0, robot.nv)
    check_jacobian(steps, z)
    np.testing.assert_allclose(steps.step(steps.configuration(z)), z, rtol=0, atol=1e-9)


def test_rows_of_every_kind() -> None:
    """Scales, masks, margins, intervals, right-hand sides; an optional last level is left out."""
    robot = two_arms()
    grip = Pose(robot, "right_tool", reference="left_tool")
    left = Position(robot, "left_tool")
    problem = Problem(
        robot,
        [
            [
                Implicit(left, lower=[0.1, -np.inf, 0.2], upper=[0.5, 0.4, np.inf], scale=[2.0, 3.0, 4.0], name="box"),
                Implicit.equal(grip, grip.value(robot.neutral), mask=[1, 0, 1, 1, 0, 1], name="grip"),
            ],
            [Implicit.zero(Rotation(robot, "right_tool"), name="wish")],
        ],
        optional_last=True,
    )
    q0 = robot.random(np.random.default_rng(2))
    rhs = problem.rhs.replace("grip", SE3.random(np.random.default_rng(3)))
    steps = TangentSteps(problem, q0, rhs)
    np.testing.assert_allclose(steps.lower, [0.2, -np.inf, 0.8, 0, 0, 0, 0])
    np.testing.assert_allclose(steps.upper, [1.0, 1.2, np.inf, 0, 0, 0, 0])
    z = 0.2 * np.random.default_rng(4).normal(size=robot.nv)
    q = robot.space.integrate(q0, z)
    np.testing.assert_allclose(steps.rows(z)[:3], [2.0, 3.0, 4.0] * left.value(q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(steps.rows(z)[3:], problem.error(q, "grip", rhs), rtol=0, atol=1e-12)
    check_jacobian(steps, z)
    assert [np.size(c.lb) for c in steps.constraints] == [4, 3]
    again = pickle.loads(pickle.dumps(steps))
    np.testing.assert_array_equal(again.rows(z), steps.rows(z))


def test_bounds_of_the_steps() -> None:
    """Joint bounds less the base point; frozen dofs stay; rotations and free translations have no box."""
    robot = arm()
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"))], frozen=["elbow"])
    q0 = robot.neutral
    box = TangentSteps(problem, q0).bounds
    elbow = robot.velocity_slice_of("elbow").start
    free = np.arange(7) != elbow
    np.testing.assert_allclose(np.asarray(box.lb)[free], (robot.bounds.lower - q0)[free])
    np.testing.assert_allclose(np.asarray(box.ub)[free], (robot.bounds.upper - q0)[free])
    assert np.asarray(box.lb)[elbow] == np.asarray(box.ub)[elbow] == 0.0
    problem, q0 = humanoid_problem()
    box = TangentSteps(problem, q0).bounds
    assert not np.isfinite(np.asarray(box.lb)[:6]).any()


def test_a_space_without_robot() -> None:
    """Rotations and planar poses of a bare space; one constraint for scipy in one call."""
    space = SO3 * SE2 * Rn(2)
    f = Function.from_callable(lambda q: [q[0] + q[4] ** 2, q[5] * q[8] - q[3]], space, Rn(2), name="f")
    problem = Problem(space, [Implicit.equal(f, [0.3, 0.1])])
    q0 = space.random(np.random.default_rng(5))
    check_jacobian(TangentSteps(problem, q0), 0.3 * np.ones(space.nv))
    one = as_nonlinear_constraint(problem, q0, [0.3, 0.2])
    found = minimize(distance, np.zeros(space.nv), jac=slope, constraints=one, method="SLSQP")
    q = space.integrate(q0, found.x)
    np.testing.assert_allclose(f.value(q), [0.3, 0.2], rtol=0, atol=1e-6)


def test_bad_input() -> None:
    problem, q0 = arm_problem()
    make = functools.partial(TangentSteps, problem)
    for f in (TangentSteps, as_nonlinear_constraint):
        with pytest.raises(WrongObjectError, match="problem of tangent steps"):
            f(arm(), q0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SizeError, match="q0"):
        make(q0[:-1])
    with pytest.raises(NotFiniteError, match="q0"):
        make(np.full(7, np.nan))
    with pytest.raises(SpaceMismatchError, match="right-hand side"):
        make(q0, humanoid_problem()[0].rhs)
    steps = make(q0)
    for method in (steps.configuration, steps.rows, steps.jacobian):
        with pytest.raises(SizeError, match="z of"):
            method(np.zeros(3))
    with pytest.raises(SizeError):
        steps.step(np.zeros(3))
    assert repr(steps).startswith("TangentSteps(Problem(7 dofs")


def test_rows_of_every_kind_have_their_intervals():
    """A point, and an interval, with scales: rows less their ends are the scaled distances of the value to them."""
    robot = arm()
    f, scale = Position(robot, "tool"), np.array([2.0, 3.0, 1.0])
    lower, upper = np.array([0.2, 0.1, -1.0]), np.array([0.2, 0.5, 2.0])
    steps = TangentSteps(Problem(robot, [Implicit(f, lower=lower, upper=upper, scale=scale)]), robot.neutral)
    z = 0.1 * np.random.default_rng(0).standard_normal(robot.nv)
    value = f.value(steps.configuration(z))
    np.testing.assert_allclose(steps.rows(z) - steps.lower, scale * (value - lower), rtol=0, atol=1e-14)
    np.testing.assert_allclose(steps.upper - steps.rows(z), scale * (upper - value), rtol=0, atol=1e-14)

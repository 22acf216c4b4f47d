"""Free coordinates of configurations, against closed forms, plain pinocchio and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from explicit_samples import arm_and_box
from robots import arm, mixed_tree

from constraints import (
    Bounds,
    Function,
    Implicit,
    Position,
    Problem,
    explicit_relative_pose,
    linear_coupling,
    locked_joint,
)
from constraints.errors import DtypeError, NotFiniteError, NotNormalizedError, SizeError, WrongObjectError
from constraints.models import mechanisms
from constraints.problem.free_coordinates import FreeCoordinates
from liegroups import SE2, SO2, SO3, Rn
from liegroups.groups import Group
from liegroups.layout import Layout

HEIGHT = Implicit.equal(Position(arm(), "tool"), [0.0, 0.0, 0.4], mask=[False, False, True], name="height")


def slopes(problem: Problem, free: FreeCoordinates, q: np.ndarray, model: Any, h: float = 1e-6) -> np.ndarray:
    """Differences of configurations by their free coordinates, along pinocchio's manifold."""
    columns, x = list[np.ndarray](), free.of(q)
    for i in range(len(free)):
        ends = list[np.ndarray]()
        for sign in (-1.0, 1.0):
            moved = x.copy()
            moved[i] += sign * h
            for block in free.unit_blocks:
                moved[block] /= np.linalg.norm(moved[block])
            ends.append(free.q(moved))
        columns.append(pin.difference(model, *ends) / (2.0 * h))
    return np.stack(columns, axis=1)


def test_all_coordinates_of_an_arm_are_free() -> None:
    problem, rng = Problem(arm(), [HEIGHT]), np.random.default_rng(0)
    free, Q = problem.free_coordinates(), arm().random(rng, 6)
    assert len(free) == arm().nq
    np.testing.assert_array_equal(free.of(Q), Q)
    np.testing.assert_array_equal(free.q(Q.reshape(2, 3, -1)), Q.reshape(2, 3, -1))
    np.testing.assert_array_equal(free.derivative(Q[0]), np.eye(arm().nv))
    assert repr(free) == "FreeCoordinates(7 of 7 coordinates)"


def test_frozen_joints_keep_the_values_of_one_configuration() -> None:
    problem = Problem(arm(), [HEIGHT], frozen=["elbow", "wrist_roll"])
    q, other = arm().random(np.random.default_rng(1), 2)
    free = problem.free_coordinates(q)
    held = np.isin(np.arange(7), [arm().joint_names.index(name) for name in ("elbow", "wrist_roll")])
    np.testing.assert_array_equal(free.indices, np.flatnonzero(~held))
    np.testing.assert_array_equal(free.q(free.of(other)), np.where(held, q, other))
    np.testing.assert_array_equal(free.derivative(q), np.eye(7)[:, ~held])
    with pytest.raises(WrongObjectError, match=r"like of free coordinates: .*elbow, wrist_roll"):
        problem.free_coordinates()


def test_coordinates_with_equal_bounds_stay_there() -> None:
    lower, upper = arm().bounds.lower.copy(), arm().bounds.upper.copy()
    lower[2] = upper[2] = 0.3
    problem = Problem(arm(), [HEIGHT], Bounds(arm().space, lower, upper))
    free = problem.free_coordinates()
    assert free.indices.tolist() == [0, 1, 3, 4, 5, 6]
    assert free.q(np.zeros(6))[2] == 0.3


def test_outputs_are_computed_in_order() -> None:
    """Couplings of couplings and a locked joint, by their closed forms, in a batch."""
    rows = [
        linear_coupling(arm(), "wrist_roll", {"elbow": 2.0}, 0.1),
        linear_coupling(arm(), "elbow", {"shoulder_pitch": -0.5}),
        locked_joint(arm(), "shoulder_yaw", 0.7),
    ]
    problem = Problem(arm(), [HEIGHT, *rows])
    at = {name: arm().joint_names.index(name) for name in ("wrist_roll", "elbow", "shoulder_pitch", "shoulder_yaw")}
    free = problem.free_coordinates()
    assert set(free.indices) == set(range(7)) - {at["wrist_roll"], at["elbow"], at["shoulder_yaw"]}
    X = np.random.default_rng(2).uniform(-1.0, 1.0, (5, 4))
    Q = free.q(X)
    np.testing.assert_array_equal(free.of(Q), X)
    np.testing.assert_allclose(Q[:, at["elbow"]], -0.5 * Q[:, at["shoulder_pitch"]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(Q[:, at["wrist_roll"]], 0.1 + 2.0 * Q[:, at["elbow"]], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(Q[:, at["shoulder_yaw"]], np.full(5, 0.7))
    np.testing.assert_allclose(free.derivative(Q[0]), slopes(problem, free, Q[0], arm().model), rtol=0, atol=1e-8)
    other = problem.rhs.replace(rows[2].name, [-0.2])
    assert abs(free.q(X[0], other)[at["shoulder_yaw"]] - 0.5) < 1e-15  # 0.7 and the right-hand side


def test_an_object_that_is_held_follows() -> None:
    """The pose of a box in a gripper, by plain pinocchio; its derivative by differences."""
    robot = arm_and_box()
    problem = Problem(robot, [explicit_relative_pose(robot, "gripper", "handle", name="grasp")])
    free, q = problem.free_coordinates(), robot.random(np.random.default_rng(3))
    assert len(free) == 7
    found = free.q(free.of(q))
    data, model = robot.model.createData(), robot.model
    pin.forwardKinematics(model, data, found)
    gripper, handle = (robot.frame(name) for name in ("gripper", "handle"))
    seen = (data.oMi[gripper.joint] * gripper.placement).actInv(data.oMi[handle.joint] * handle.placement)
    assert np.abs(pin.log6(seen).vector).max() < 1e-12
    np.testing.assert_allclose(free.derivative(found), slopes(problem, free, found, model), rtol=0, atol=1e-7)


def test_every_type_of_joint() -> None:
    """(cos, sin), planar, spherical and free joints, composites: derivatives by differences, also of -q."""
    robot, rng = mixed_tree(), np.random.default_rng(4)
    problem = Problem(robot, [Implicit.equal(Position(robot, "chain_tip"), [0.1, 0.2, 0.3], name="tip")])
    free = problem.free_coordinates()
    assert len(free) == robot.nq
    for q in robot.random(rng, 2):
        for sign in (1.0, -1.0):
            for block in free.unit_blocks:
                if block.stop - block.start == 4:
                    q[block] *= sign
            D = free.derivative(q)
            np.testing.assert_allclose(D, slopes(problem, free, q, robot.model), rtol=0, atol=1e-8)
            for block in free.unit_blocks:  # along itself a unit vector does not move
                np.testing.assert_allclose(D[:, block] @ q[block], 0.0, rtol=0, atol=1e-14)


def test_bodies_that_are_frozen_or_have_equal_bounds() -> None:
    """A body is frozen as a whole; one coordinate of its translation may have equal bounds."""
    space = SE2 * Rn(1) * SO3
    f = Function.from_callable(lambda q: q[:1], space, Rn(1), name="first")
    lower, upper = np.full(9, -2.0), np.full(9, 2.0)
    lower[1] = upper[1] = 0.25
    problem = Problem(space, [Implicit.zero(f)], Bounds(space, lower, upper), frozen=[False] * 4 + [True] * 3)
    q = space.random(np.random.default_rng(5))
    q[1] = 0.25
    free = problem.free_coordinates(q)
    assert free.indices.tolist() == [0, 2, 3, 4]
    assert free.unit_blocks == (slice(1, 3),)
    np.testing.assert_array_equal(free.q(free.of(q)), q)
    h, D, x = 1e-6, free.derivative(q), free.of(q)
    v = np.array([0.3, -0.2 * q[3], 0.2 * q[2], 0.5])  # tangent to the circle
    ahead, behind = (x + s * h * v for s in (1.0, -1.0))
    for y in (ahead, behind):
        y[1:3] /= np.linalg.norm(y[1:3])
    moved = space.difference(free.q(behind), free.q(ahead)) / (2.0 * h)
    np.testing.assert_allclose(D @ v, moved, rtol=0, atol=1e-9)
    assert not D[4:].any()


def test_a_closed_chain_has_all_its_coordinates() -> None:
    """Rows of loops are solved, not resolved: its joints stay free, and D does not know them."""
    linkage = mechanisms.four_bar()
    q = linkage.postures["closed"]
    free = linkage.problem().free_coordinates()
    assert len(free) == 3
    np.testing.assert_array_equal(free.derivative(q), np.eye(3))


def test_what_is_no_x_is_named() -> None:
    body = Problem(SO3, [Implicit.zero(Function.from_callable(lambda q: q[:1], SO3, Rn(1), name="x"))])
    free = body.free_coordinates()
    for wrong, error in (
        ([0.0, 0.0, 0.0], SizeError),
        ([0.0, 0.0, 0.0, np.nan], NotFiniteError),
        ([0.0, 0.0, 0.1, 1.0], NotNormalizedError),
        ("x", DtypeError),
    ):
        with pytest.raises(error, match="x of free coordinates"):
            free.q(wrong)
    with pytest.raises(NotNormalizedError, match="x of free coordinates"):
        free.q([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 2.0]])
    with pytest.raises(SizeError, match="q of free coordinates"):
        free.of([1.0, 0.0])
    with pytest.raises(NotFiniteError, match="q of free coordinates"):
        free.of([0.0, 0.0, np.inf, 1.0])
    with pytest.raises(SizeError, match="like of free coordinates"):
        body.free_coordinates([1.0])


def test_a_group_whose_coordinates_are_unknown_is_named() -> None:
    own = Group(Layout.group("Own", [1.0, 0.0], 1, [slice(0, 2)]), SO2.maps, SO2.batch_maps)
    problem = Problem(own, [Implicit.zero(Function.from_callable(lambda q: q[:1], own, Rn(1), name="x"))])
    free = problem.free_coordinates()
    np.testing.assert_array_equal(free.q([0.0, 1.0]), [0.0, 1.0])
    with pytest.raises(WrongObjectError, match=r"group of .* expected one of R\^n, SO2, SO3, SE2, SE3, .*Own"):
        free.derivative([0.0, 1.0])

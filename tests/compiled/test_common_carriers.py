"""A joint that carries both frames of a relative pose does not move them, but their rounding: no bit depends on it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("numba")

from robots import arm
from solvers.small_problems import computed

from constraints import (
    Explicit,
    Implicit,
    Options,
    Position,
    Problem,
    Projector,
    Robot,
    explicit_relative_pose,
    linear_coupling,
)
from constraints.functions import Affine
from constraints.solvers.compiled.problem import packed
from constraints.solvers.kernels.loading import entrances
from constraints.solvers.machine import layout
from liegroups import Rn


@cache
def two_arms_and_a_body() -> Robot:
    """Two arms of two hinges and a free body, all on a turntable."""
    model = pin.Model()
    model.name = "turntable"
    table = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "table")
    for side, at in (("left", 0.3), ("right", -0.3)):
        carrier, offset = table, np.array([0.1, at, 0.2])
        for name, joint in (("shoulder", pin.JointModelRX()), ("elbow", pin.JointModelRY())):
            carrier = model.addJoint(carrier, joint, pin.SE3(np.eye(3), offset), f"{side}_{name}")
            offset = np.array([0.0, 0.05, 0.4])
        model.addFrame(pin.Frame(f"{side}_hand", carrier, pin.SE3(np.eye(3), offset), pin.FrameType.OP_FRAME))
    model.addJoint(table, pin.JointModelFreeFlyer(), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0])), "body")
    return Robot(model)


def starts(count: int, seed: int = 0) -> np.ndarray:
    rng, space = np.random.default_rng(seed), two_arms_and_a_body().space
    return np.array([space.integrate(space.neutral, rng.uniform(-2.0, 2.0, space.nv)) for _ in range(count)])


def test_rows_of_a_batch_have_the_bits_of_single_calls_where_restarts_leave_a_carrier_as_it_is() -> None:
    """The body is to be in the hand, and half a metre beside it: residuals of restarts differ by rounding alone."""
    robot = two_arms_and_a_body()
    held = explicit_relative_pose(robot, "left_hand", "body")
    beside = Implicit.equal(Position(robot, "body", "left_hand"), [0.5, 0.0, 0.0])
    hands = Implicit.equal(Position(robot, "left_hand", "right_hand"), [-0.1, 0.2, 0.1])
    projector = Projector(Problem(robot, [held, beside, hands]), Options(max_iterations=40), "compiled")
    Q = starts(200)
    batch, ones = projector.project_batch(Q), [projector.project(q) for q in Q]
    assert min(one.restarts for one in ones) > 1
    np.testing.assert_array_equal(batch.residual, [one.residual for one in ones])
    assert batch.q.tobytes() == np.array([one.q for one in ones]).tobytes()


def test_rows_of_the_table_are_alike_where_all_that_is_read_is_drawn_or_computed() -> None:
    """Not with frozen dofs, free bodies and carriers that they read; outputs follow from what is drawn."""

    def alike(where: Any, rows: list[Any], **frozen: Any) -> bool:
        return bool(packed(Problem(where, rows, **frozen), Options())[0][layout.SCREENED])

    robot, turning, space = arm(), two_arms_and_a_body(), Rn(3)
    hand, first = [Implicit.zero(Position(robot, "elbow"))], np.array([True, False, False])
    line = [computed(space, 1, 0, Affine([[2.0]], [1.0])), Implicit.zero(Affine([[1.0, 1.0, 0.0]]))]
    assert alike(robot, hand)
    assert alike(robot, hand, frozen=[robot.joint_names[-1]])  # which no row reads
    assert not alike(robot, hand, frozen=[robot.joint_names[0]])
    assert alike(space, line)
    assert not alike(space, line, frozen=first)
    assert alike(turning, [Implicit.zero(Position(turning, "left_hand"))])
    assert not alike(turning, [Implicit.zero(Position(turning, "left_hand", "right_hand"))])
    assert not alike(turning, [Implicit.zero(Position(turning, "body"))])


def test_outputs_do_not_depend_on_what_stood_there_before() -> None:
    """The turntable follows an arm, and the body the hand: both are computed in one generation."""
    robot = two_arms_and_a_body()
    table: Explicit = linear_coupling(robot, "table", {"left_shoulder": 0.7}, 0.2)
    problem = Problem(robot, [table, explicit_relative_pose(robot, "left_hand", "body")])
    assert len(problem.resolution.generations) == 1
    integers, floats, work = packed(problem, Options())[:3]
    at, errors, none = int(integers[layout.Q_TRIAL]), np.zeros(0), np.zeros((0, 1))
    outputs = np.concatenate([e.outputs.q_indices for e in problem.resolution.explicits])
    where = entrances().places(integers, floats, work)

    def resolved(q: np.ndarray) -> np.ndarray:
        work[at : at + robot.nq] = q
        assert entrances().rows_of(where, errors, none)
        return work[at : at + robot.nq].copy()

    for q, other in zip(starts(50), starts(50, seed=1), strict=True):
        other[np.setdiff1d(np.arange(robot.nq), outputs)] = q[np.setdiff1d(np.arange(robot.nq), outputs)]
        once = resolved(q)
        assert np.abs(once - other)[outputs].max() > 1e-3
        assert resolved(once).tobytes() == resolved(other).tobytes() == once.tobytes()

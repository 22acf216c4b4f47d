"""How far apart configurations are: by the joint that moves most, against closed forms of each group."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from robots import mixed_tree

from constraints import Function, Implicit, Position, Problem
from constraints.problem.steps import Jump, StepSize
from liegroups import SE2, SE3, SO2, SO3, R3xSO3, Rn, Space


def sizes(space: Space) -> StepSize:
    return StepSize(Problem(space, [Implicit.zero(Function.from_callable(lambda q: q[:1], space, Rn(1)))]))


@pytest.mark.parametrize(
    ("space", "measures"),
    [
        (Rn(2), [(1, 0, 0, 1), (1, 0, 1, 1)]), (SO2, [(0, 0, 0, 1)]), (SO3, [(0, 0, 0, 3)]),
        (SE2, [(0, 0, 2, 1), (1, 1, 0, 2)]), (SE3, [(0, 0, 3, 3), (1, 1, 0, 3)]),
        (R3xSO3, [(0, 0, 3, 3), (1, 0, 0, 1), (1, 0, 1, 1), (1, 0, 2, 1)]),
        (Rn(1) * SE2 * SE3, [(0, 0, 3, 1), (0, 0, 7, 3), (1, 0, 0, 1), (1, 1, 1, 2), (1, 1, 5, 3)]),
    ],
)  # fmt: skip
def test_blocks_are_measured_by_their_kind(space: Space, measures: list[tuple[int, ...]]) -> None:
    assert sizes(space).measures == measures


def test_a_body_moves_by_its_origin_and_turns_by_its_angle() -> None:
    """Not by the halves of a twist; the largest of all bodies counts, each for itself."""
    space = SE3 * Rn(1) * SE2 * SO3
    q0 = space.neutral.copy()
    q1 = q0.copy()
    q1[:7] = pin.SE3ToXYZQUAT(pin.SE3(pin.exp3(np.array([0.0, 2.0, 0.0])), np.array([0.3, 0.0, 0.4])))
    q1[7] = -0.45
    q1[8:12] = [0.36, 0.48, np.cos(2.5), np.sin(2.5)]
    q1[12:] = [0.0, 0.0, np.sin(1.4), np.cos(1.4)]
    size = sizes(space)
    assert size.between(q0, q1) == pytest.approx(Jump(2.8, 0.6))
    assert size.between(q1, q0) == pytest.approx(Jump(2.8, 0.6))
    q1[12:] = q0[12:]
    assert size.between(q0, q1) == pytest.approx(Jump(2.5, 0.6))
    q1[8:12] = q0[8:12]
    assert size.between(q0, q1) == pytest.approx(Jump(2.0, 0.5))
    q1[:7] = q0[:7]
    assert size.between(q0, q1) == pytest.approx(Jump(0.0, 0.45))
    angles, lengths = size.of_rows(np.array([q0, q1, q0]), np.array([q0, q0, q1]))
    np.testing.assert_allclose([angles, lengths], [[0.0] * 3, [0.0, 0.45, 0.45]], atol=1e-15)


def test_every_joint_of_a_robot_is_measured_alone() -> None:
    """One joint after the other moves: an angle or a length, and what it is."""
    robot, rng = mixed_tree(), np.random.default_rng(3)
    size = StepSize(Problem(robot, [Implicit.zero(Position(robot, "chain_tip"))]))
    q = robot.random(rng)
    for leaf in robot.space.leaves():
        v = np.zeros(robot.nv)
        v[leaf.v] = rng.uniform(0.1, 0.4, leaf.space.nv)
        there = robot.space.integrate(q, v)
        d = robot.space.difference(q, there)[leaf.v]
        if leaf.space.is_flat:
            turns = robot.space.revolute[leaf.v]
            angle, length = np.abs(d[turns]).max(initial=0.0), np.abs(d[~turns]).max(initial=0.0)
        else:
            shift = {"SE2": 2, "SE3": 3}.get(leaf.space.name, 0)
            angle, length = np.linalg.norm(d[shift:]), np.linalg.norm((there - q)[leaf.q][:shift])
        assert size.between(q, there) == pytest.approx(Jump(float(angle), float(length)), abs=1e-12)

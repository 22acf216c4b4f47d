"""Rows of a packed problem against the readable ones: errors and their Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box

from constraints import Comparison, Options, Problem, explicit_relative_pose

pytest.importorskip("numba")

from constraints.solvers.compiled.kernels.entry import rows_of
from constraints.solvers.compiled.problem import packed


def rows_at(problem: Problem, q: Any) -> tuple[Any, Any]:
    """Errors and reduced Jacobian of the packed problem."""
    arrays, size = packed(problem, Options())[:3], sum(level.size for level in problem.levels)
    live = problem.implicit_dofs & problem.free & ~problem.bounds.frozen
    errors, jacobian = np.zeros(size), np.zeros((size, int(live.sum())))
    assert rows_of(*arrays, q.copy(), problem.rhs.vector.copy(), errors, jacobian)
    return errors, jacobian


@pytest.mark.parametrize("angle", [0.0, 2.0, 3.1, 3.2, 5.0, 2.0 * np.pi, 8.0, 11.0])
def test_rotation_vectors_of_right_hand_sides_may_be_longer_than_half_a_turn(angle: float) -> None:
    robot, rng = arm_and_box(), np.random.default_rng(1)
    side = [0.1, -0.2, 0.3, *(angle * np.array([0.48, -0.64, 0.6]))]
    hold = explicit_relative_pose(robot, "gripper", "handle", side, comparison=Comparison.EQUALITY)
    problem = Problem(robot, [hold], frozen=["box/root_joint"])
    owner, live = problem.levels[0].owners[0], problem.implicit_dofs & problem.free & ~problem.bounds.frozen
    assert owner.wrapped_rotation_vectors
    for _ in range(8):
        q = robot.space.integrate(robot.space.neutral, rng.normal(0.0, 2.0, robot.nv))
        errors, jacobian = rows_at(problem, q)
        expected, whole = np.zeros(6), np.zeros((6, robot.nv))
        owner.write_position(robot.at(q), problem.rhs.vector, expected, whole)
        assert np.abs(errors - expected).max() <= 1e-12
        assert np.abs(jacobian - whole[:, live]).max() <= 1e-12

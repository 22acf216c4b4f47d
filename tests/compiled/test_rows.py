"""Rows of a packed problem against the readable ones: errors and their Jacobian, wherever the configuration stands."""

from __future__ import annotations

import numpy as np
import pytest
from compiled.both_engines import CompiledRows, assert_close
from explicit_samples import arm_and_box
from samples import SAMPLES

from constraints import Comparison, Implicit, Problem, explicit_relative_pose


@pytest.mark.parametrize("angle", [0.0, 2.0, 3.1, 3.2, 5.0, 2.0 * np.pi, 8.0, 11.0])
def test_rotation_vectors_of_right_hand_sides_may_be_longer_than_half_a_turn(angle: float) -> None:
    robot, rng = arm_and_box(), np.random.default_rng(1)
    side = [0.1, -0.2, 0.3, *(angle * np.array([0.48, -0.64, 0.6]))]
    hold = explicit_relative_pose(robot, "gripper", "handle", side, comparison=Comparison.EQUALITY)
    rows = CompiledRows(Problem(robot, [hold], frozen=["box/root_joint"]))
    assert rows.problem.levels[0].owners[0].wrapped_rotation_vectors
    for _ in range(8):
        q = robot.space.integrate(robot.space.neutral, rng.normal(0.0, 2.0, robot.nv))
        found, expected = rows.at(q), rows.readable_at(q)
        assert_close(found.error, expected.error)
        assert_close(found.jacobian, expected.jacobian)


EQUAL, ZERO, ABOVE, BELOW = Comparison.EQUALITY, Comparison.EQUAL_TO_ZERO, Comparison.SUPERIOR, Comparison.INFERIOR


def constraints_of(name: str) -> list[Implicit]:
    """Constraints of one function: at a right-hand side, of some rows, with intervals, on one side."""
    f, rng = SAMPLES[name](), np.random.default_rng(2)
    n = f.outputs.nv
    side = f.outputs.exp(rng.normal(0.0, 1.0, n))
    lower, upper = rng.uniform(-1.0, 0.0, n), rng.uniform(0.0, 1.0, n)
    some = np.arange(n) % 3 != 1
    return [
        Implicit(f, EQUAL, side),
        Implicit(f, EQUAL, side, mask=some),
        Implicit(f, EQUAL, side, scale=rng.uniform(0.1, 10.0, n)),
        Implicit(f, None, mask=some, scale=rng.uniform(0.1, 10.0, n), lower=lower, upper=upper),
        Implicit(f, [(ZERO, ABOVE, BELOW)[i % 3] for i in range(n)], margin=0.01 * (np.arange(n) % 3 > 0)),
    ]


@pytest.mark.parametrize(
    "name",
    ["Pose (arm)", "Pose, relative, R3xSO3 (two arms)", "Rotation, relative (two arms)", "Transformation (humanoid)",
     "Stacked", "Stacked of stacked", "Difference", "Restriction", "Restriction to a rotation", "Sum, weighted",
     "ConvexShapeContactHold, nearest of four", "ComBetweenFeet, three frames", "CenterOfMass, relative (humanoid)",
     "Affine of joints", "Identity of a robot", "Polynomial of joints", "Lifted, a number", "Lifted, composed"],
)  # fmt: skip
def test_rows_of_all_kinds_of_values(name: str) -> None:
    rng = np.random.default_rng(3)
    for owner in constraints_of(name):
        space = owner.space
        frozen = rng.random(space.nv) < 0.3
        for leaf in space.leaves():
            frozen[leaf.v] = frozen[leaf.v].all()  # rotations are held as a whole
        rows = CompiledRows(Problem(space, [owner], frozen=frozen))
        for scale in (1.0, 0.0, 1e-6, 2.0):
            q = space.integrate(space.neutral, scale * rng.normal(0.0, 1.0, space.nv))
            found, expected = rows.at(q), rows.readable_at(q)
            assert_close(found.error, expected.error)
            assert_close(found.jacobian, expected.jacobian)

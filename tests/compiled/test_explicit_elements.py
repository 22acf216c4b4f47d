"""Computed variables with right-hand sides and inverses of every form: configurations of the readable engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box

from constraints import Comparison, Explicit, Implicit, Options, Position, Problem, Projector, explicit_relative_pose
from constraints.functions import Affine, Lifted
from constraints.solvers import CompiledEngine, NewtonEngine, Status, why_not
from liegroups import SE3

pytest.importorskip("numba")

ROBOT = arm_and_box()
HELD = explicit_relative_pose(ROBOT, "gripper", "handle", comparison=Comparison.EQUALITY)
PLACED = explicit_relative_pose(ROBOT, None, "handle", comparison=Comparison.EQUALITY)


def in_the_group(constraint: Explicit) -> Explicit:
    """Right-hand sides are poses of the object: no map leads to them from those of another twin."""
    return replace(constraint, implicit=None, rhs_map=None, name="in the group")


def alike(explicit: Explicit, side: Any, seed: int, others: tuple[Implicit, ...] = ()) -> None:
    """One configuration by both engines, at a right-hand side that both are given."""
    problem = Problem(ROBOT, [explicit, *others])
    assert why_not(problem, Options()) is None
    sides = problem.rhs.replace(explicit.name, side)
    q0 = ROBOT.random(np.random.default_rng(seed))
    a, b = (Projector(problem, Options(), engine()).project(q0, sides) for engine in (CompiledEngine, NewtonEngine))
    assert a.status is b.status
    if a.status is Status.CONVERGED:
        assert np.abs(ROBOT.space.difference(a.q, b.q)).max() < 1e-9
        assert problem.residual(a.q, sides) < 1e-4


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("constraint", [HELD, PLACED], ids=["from joints", "constant"])
def test_poses_of_an_object(constraint: Explicit, seed: int) -> None:
    """By a map of right-hand sides, and with right-hand sides of the group; a frame off the joint of the object."""
    rng = np.random.default_rng(seed)
    alike(constraint, 0.8 * rng.standard_normal(6), seed)
    alike(in_the_group(constraint), SE3.random(rng), seed)
    where = Implicit.equal(Position(ROBOT, "handle"), [0.3, 0.1, 0.4], name="where")
    if constraint is HELD:
        alike(in_the_group(HELD), SE3.exp(0.1 * rng.standard_normal(6)), seed, (where,))


@pytest.mark.parametrize("seed", range(3))
def test_couplings_whose_outputs_are_scaled(seed: int) -> None:
    """g^-1 is no translation: of joints, and of a value without an input."""
    first, second = (ROBOT.segments(name) for name in list(ROBOT.model.names)[1:3])
    scaled: dict[str, Any] = {"g": Affine([[2.0]]), "g_inverse": Affine([[0.5]]), "comparison": Comparison.EQUALITY}
    coupled = Explicit(Affine([[0.3]], [0.1]), second, first, **scaled, whole=ROBOT.space, name="coupled")
    fixed = Explicit(Lifted(Affine([[0.0]], [0.7]), ROBOT.space, first), second, **scaled, name="fixed")
    for constraint in (coupled, fixed):
        alike(constraint, [0.25], seed)

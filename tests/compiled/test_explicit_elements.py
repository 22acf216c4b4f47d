"""Computed variables with right-hand sides and inverses of every form: configurations of the readable engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from explicit_samples import arm_and_box

from constraints import Comparison, Explicit, Implicit, Options, Position, Problem, Projector, explicit_relative_pose
from constraints.functions import Affine, Lifted, Polynomial
from constraints.solvers import CompiledEngine, NewtonEngine, Status, why_not
from liegroups import SE3

pytest.importorskip("numba")

ROBOT = arm_and_box()
HELD = explicit_relative_pose(ROBOT, "gripper", "handle", comparison=Comparison.EQUALITY)
PLACED = explicit_relative_pose(ROBOT, None, "handle", comparison=Comparison.EQUALITY)

AT_ITS_JOINT = explicit_relative_pose(ROBOT, "gripper", "box/root_joint", comparison=Comparison.EQUALITY)


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
@pytest.mark.parametrize("constraint", [HELD, PLACED, AT_ITS_JOINT], ids=["from joints", "constant", "at its joint"])
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
    half = np.zeros((1, ROBOT.nv))
    half[0, second.v_indices], half[0, first.v_indices] = 0.5, -0.15  # half of the output less what f says
    mapped = Explicit(
        Affine([[0.3]], [0.1]), second, first, whole=ROBOT.space, comparison=Comparison.EQUALITY, name="mapped",
        implicit=Affine(half, [-0.05], ROBOT.space), rhs_map=Affine([[2.0]]),
    )  # fmt: skip
    for constraint in (coupled, fixed, mapped):
        alike(constraint, [0.25], seed)


def chain() -> list[Explicit]:
    """A wrist that follows the elbow, and another one that follows that wrist, both curved; a box that follows all."""
    elbow, pitch, roll = (ROBOT.segments(f"arm/{name}") for name in ("elbow", "wrist_pitch", "wrist_roll"))
    first = Explicit(Polynomial([0.1, 0.4, -0.2], [1.0]), pitch, elbow, whole=ROBOT.space, name="first")
    second = Explicit(Polynomial([-0.2, 0.8, 0.3], [1.0]), roll, pitch, whole=ROBOT.space, name="second")
    return [first, second, explicit_relative_pose(ROBOT, "gripper", "handle", name="held")]


@pytest.mark.parametrize("outputs", [1, 2, 8], ids=lambda n: f"{n} outputs")
@pytest.mark.parametrize("reach", [0.4, 9.0], ids=["within reach", "out of reach"])
@pytest.mark.parametrize("options", [Options(), Options.local()], ids=["restarts", "one try"])
def test_outputs_that_follow_outputs(reach: float, options: Options, outputs: int) -> None:
    """Through two maps the derivative is the product; outputs of a failure are computed too, inside the bounds."""
    couplings = chain()[: min(outputs, 3)]
    seen = "box/root_joint" if len(couplings) == 3 else "gripper"
    where = Implicit.equal(Position(ROBOT, seen), [reach, 0.1, 0.5], name="where")
    problem, rng = Problem(ROBOT, [*couplings, where]), np.random.default_rng(2)
    assert why_not(problem, options) is None
    ended = list[Status]()
    for _ in range(8):
        q = ROBOT.random(rng)
        a, b = (Projector(problem, options, engine).project(q) for engine in ("compiled", "readable"))
        assert a.status is b.status
        assert abs(a.residual - b.residual) < 1e-7 * max(1.0, b.residual)
        if a.success:
            assert a.iterations == b.iterations
            assert np.abs(ROBOT.space.difference(a.q, b.q)).max() < 1e-8
        elbow, pitch, roll = (
            float(a.q[ROBOT.segments(f"arm/{name}").q_indices][0]) for name in ("elbow", "wrist_pitch", "wrist_roll")
        )
        assert pitch == pytest.approx(0.1 + 0.4 * elbow - 0.2 * elbow**2, abs=1e-9)
        if len(couplings) > 1:
            assert roll == pytest.approx(-0.2 + 0.8 * pitch + 0.3 * pitch**2, abs=1e-9)
        ended.append(a.status)
    assert (Status.CONVERGED in ended) == (reach < 1.0)

"""Rows with an interval that hold: no step crosses their limits to first order."""

from importlib.util import find_spec

import numpy as np
import pytest
from each_choice import draws
from explicit_samples import arm_and_box

import constraints as lc
from constraints.functions import Affine
from liegroups import Rn

ENGINES = ["readable", "compiled"] if find_spec("numba") else ["readable"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_limit_that_a_step_would_cross_is_where_it_ends(engine: str, scale: float) -> None:
    """x + y = 1, x at most 0.1, from zero: the least step crosses the limit, one with the row does not."""
    line = lc.Implicit.equal(Affine([[1.0, 1.0]]), [1.0], name="line")
    limit = lc.Implicit(Affine([[1.0, 0.0]]), None, upper=[0.1], scale=scale, name="limit")
    projector = lc.Projector(lc.Problem(Rn(2), [line, limit]), lc.Options(threshold=1e-8, trace=True), engine=engine)
    result = projector.project(np.zeros(2))
    assert result.success
    np.testing.assert_allclose(result.q, [0.1, 0.9], atol=1e-7)
    assert max(step.q[0] for step in result.trace or ()) < 0.13  # damping leaves a little; 0.49 without the row


@draws(15, 60)
@pytest.mark.skipif(len(ENGINES) < 2, reason="needs both engines")
@pytest.mark.parametrize("with_bounds", [False, True])
def test_both_engines_agree_where_outputs_are_computed(with_bounds: bool, count: int) -> None:
    """Masked and scaled rows with intervals that see computed dofs, of a lower level too, with bounds on dofs."""
    robot, rng = arm_and_box(), np.random.default_rng(4)
    hold = lc.explicit_relative_pose(robot, "gripper", "handle", name="hold")
    goal = robot.random(rng)
    box, tool = lc.Position(robot, "box/root_joint"), lc.Pose(robot, "arm/tool")
    middle = box.value(lc.Projector(lc.Problem(robot, [hold])).project(goal).q)
    within = lc.Implicit(
        box, None, lower=middle - [0.02, 0.05, 0.0], upper=middle + 0.05, scale=[2.0, 1.0, 0.5], name="within"
    )
    turn = tool.value(goal)
    flat = lc.Implicit.equal(tool, turn, mask=[0, 0, 0, 1, 1, 0], name="flat")
    com = lc.CenterOfMass(robot)
    lower = lc.Implicit.between(com, com.value(goal) - 0.1, com.value(goal) + 0.1, mask=[1, 0, 1], name="com")
    bounds = robot.bounds if with_bounds else lc.Bounds.none(robot.space)
    problem = lc.Problem(robot, [[hold, within, flat], [lower]], bounds)
    options = lc.Options(max_iterations=60)
    starts = [robot.random(rng) for _ in range(count)]
    found, expected = ([lc.Projector(problem, options, e).project(q) for q in starts] for e in ("compiled", "readable"))
    same = [
        a.status is b.status and a.iterations == b.iterations and np.abs(a.q - b.q).max() < 1e-9
        for a, b in zip(found, expected, strict=True)
    ]
    assert sum(same) >= count - 1
    assert sum(a.success for a in found) > count / 2

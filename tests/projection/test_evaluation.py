"""Residual, Jacobian and tangent basis by a projector: those of its problem, whatever the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pytest
from explicit_samples import arm_and_box
from robots import needs_robot_data
from scenes import recorded_graph

import constraints as lc
from constraints.errors import ConstraintError, UndefinedError
from constraints.models import sample_arm, sample_two_arms
from constraints.models.mechanisms import four_bar
from constraints.solvers import CompiledEngine, Engine
from constraints.solvers.engine import Program
from constraints.solvers.newton.engine import NewtonEngine
from constraints.workspace import Workspace
from liegroups import Rn

needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="the compiled engine is an extra")
ENGINES = ["readable", pytest.param("compiled", marks=needs_numba)]
LIMIT = 1e-12
"""Of the largest entry, and at least of one."""


def rows_of_all_kinds() -> lc.Problem:
    """Masked, scaled and one-sided rows, a right-hand side, an optional last level."""
    arm = sample_arm()
    tool = lc.Implicit.equal(lc.Pose(arm, "tool"), [0.4, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0], mask=np.arange(6) != 4)
    above = [lc.Comparison.SUPERIOR] * 3
    high = lc.Implicit(lc.Position(arm, "tool"), above, scale=[1.0, 2.0, 3.0], margin=0.1)
    return lc.Problem(
        arm, [[tool], [high], [lc.Implicit.equal(lc.CenterOfMass(arm), [0.1, 0.0, 0.2])]], optional_last=True
    )


def computed_and_held() -> lc.Problem:
    """A box in the hand, turned by more than half a turn; a coupled joint; a joint that does not move."""
    robot = arm_and_box()
    names = robot.joint_names
    side = [0.1, -0.2, 0.3, 0.0, 4.0, 2.0]
    hold = lc.explicit_relative_pose(robot, "gripper", "handle", side, comparison=lc.Comparison.EQUALITY)
    coupling = lc.linear_coupling(robot, names[1], {names[0]: 0.5})
    level = lc.Implicit.zero(lc.Orientation(robot, "gripper"), mask=[True, True, False])
    return lc.Problem(robot, [hold, coupling, level], frozen=[names[2]])


def robot_and_numbers() -> lc.Problem:
    """A robot that is one factor of a space, and a row on the other one."""
    robot, numbers = sample_two_arms(), Rn(2)
    hand = lc.Implicit.equal(lc.Position(robot, "left_wrist_roll"), [0.4, 0.2, 0.9])
    return lc.Problem(robot.space * numbers, [hand, lc.Implicit.zero(lc.Affine([[1.0, 2.0]], [0.5], numbers))])


def loop() -> lc.Problem:
    return four_bar().problem()


PROBLEMS = [rows_of_all_kinds, computed_and_held, robot_and_numbers, loop]


def assert_close(found: np.ndarray | float, expected: np.ndarray | float) -> None:
    scale = max(float(np.abs(expected).max(initial=0.0)), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=LIMIT * scale)


def configurations(problem: lc.Problem, count: int = 6) -> list[np.ndarray]:
    """Anywhere, and on the constraints."""
    rng, space = np.random.default_rng(0), problem.space
    anywhere = [space.integrate(space.neutral, rng.normal(0.0, 1.0, space.nv)) for _ in range(count)]
    return [*anywhere, *(lc.Projector(problem, engine="readable").project(q).q for q in anywhere[:2])]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("make", PROBLEMS)
def test_evaluation_is_that_of_the_problem(make: Callable[[], lc.Problem], engine: str) -> None:
    """Of configurations as they are: no output is computed before."""
    problem = make()
    projector, rng = lc.Projector(problem, engine=engine), np.random.default_rng(1)
    for q in configurations(problem):
        sides = problem.rhs_from(problem.space.integrate(q, rng.normal(0.0, 0.3, problem.space.nv)))
        for rhs in (None, sides, sides.vector.tolist()):
            assert_close(projector.residual(q, rhs), problem.residual(q, rhs))
            assert_close(projector.error(q, rhs=rhs), problem.error(q, rhs=rhs))
            assert_close(projector.error(q, 0, rhs), problem.error(q, 0, rhs))
            assert_close(projector.jacobian(q, rhs), problem.jacobian(q, rhs))
            basis, expected = projector.tangent_basis(q, rhs), problem.tangent_basis(q, rhs)
            assert basis.shape == expected.shape
            assert_close(basis @ basis.T, expected @ expected.T)
            assert projector.is_satisfied(q, rhs=rhs) == problem.is_satisfied(q, rhs=rhs)
        size = projector.residual(q)
        for threshold, met in ((size, True), (np.nextafter(size, 0.0), False)) if 1e-9 < size < 1.0 else ():
            there = lc.Projector(problem, lc.Options(threshold=float(threshold)), engine=engine)
            assert there.is_satisfied(q) == (met and problem.bounds.contains(q))


@needs_numba
@pytest.mark.parametrize("make", PROBLEMS)
def test_kernels_evaluate_these_problems(make: Callable[[], lc.Problem], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared above is not the readable evaluation with itself."""
    problem = make()
    for name in ("rows", "values"):
        monkeypatch.delattr(f"constraints.solvers.evaluation.Evaluation.{name}")
    evaluation = CompiledEngine().evaluation(problem.robot or problem.space, problem.constraints)
    q, workspace = problem.space.neutral, Workspace()
    assert evaluation.rows(q, problem.rhs, workspace, jacobian=False).residual >= 0.0
    assert evaluation.rows(q, problem.rhs, workspace).jacobian.shape == (problem.constraints.size, problem.space.nv)
    assert evaluation.values(q, workspace).shape == (problem.constraints.rhs_size,)


@needs_robot_data
@needs_numba
def test_values_are_those_of_the_functions() -> None:
    """Of holds and complements, from which right-hand sides of leaves are read."""
    graph, rng = recorded_graph(), np.random.default_rng(2)
    for transition in graph.inner_transitions:
        problem = graph.path_problem(transition, graph.robot.random(rng)).problem
        compiled = CompiledEngine().evaluation(graph.robot, problem.constraints)
        for q in graph.robot.random(rng, 4):
            values = compiled.values(q, Workspace())
            parts = [owner.measured.value_of(q) for owner in problem.constraints]
            assert_close(values, np.concatenate(parts))


@pytest.mark.parametrize("engine", ENGINES)
def test_bad_arguments_are_refused_as_the_problem_refuses_them(engine: str) -> None:
    problem = computed_and_held()
    projector, q = lc.Projector(problem, engine=engine), problem.space.neutral
    bad = [(q[:-1], None), (q * np.nan, None), (q * 2.0, None), ("q", None), (q, [1.0]), (q, "rhs")]
    for name in ("residual", "jacobian", "tangent_basis"):
        for configuration, rhs in bad:
            with pytest.raises(ConstraintError) as expected:
                getattr(problem, name)(configuration, rhs)
            with pytest.raises(type(expected.value)) as found:
                getattr(projector, name)(configuration, rhs)
            assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_undefined_raises(engine: str) -> None:
    """Of mandatory constraints; an optional last one is not asked for the residual."""

    def root(q: np.ndarray) -> np.ndarray:
        if q[0] < 0.0:
            raise UndefinedError("the root of a negative number")
        return np.sqrt(q[:1])

    line = Rn(2)
    rooted = lc.Implicit.zero(lc.Function.from_callable(root, line, Rn(1), lambda q: [[0.5 / np.sqrt(q[0]), 0.0]]))
    both = lc.Implicit.equal(lc.Affine([[1.0, 1.0]], [0.0], line), [1.0])
    q = np.array([-1.0, 0.0])
    with pytest.raises(UndefinedError, match="negative"):
        lc.Projector(lc.Problem(line, [both, rooted]), engine=engine).residual(q)
    optional = lc.Projector(lc.Problem(line, [[both], [rooted]], optional_last=True), engine=engine)
    assert optional.residual(q) == 2.0
    assert optional.tangent_basis(q).shape == (2, 1)


@needs_numba
def test_a_constraint_that_stands_still_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """What is packed for rows alone says nothing again."""
    arm = sample_arm()
    with caplog.at_level(logging.WARNING):
        problem = lc.Problem(
            arm, [lc.Implicit.zero(lc.Position(arm, "universe")), lc.Implicit.zero(lc.Position(arm, "tool"))]
        )
        projector = lc.Projector(problem, engine=CompiledEngine())
        assert projector.residual(arm.neutral) == problem.residual(arm.neutral)
    assert len(caplog.records) == 1


def test_an_engine_needs_no_evaluation_of_its_own() -> None:
    """The readable one serves engines that only solve."""

    class Own(Engine):
        def compile(self, problem: lc.Problem, options: lc.Options) -> Program:
            return NewtonEngine().compile(problem, options)

    problem = rows_of_all_kinds()
    q = problem.space.neutral
    assert lc.Projector(problem, engine=Own()).residual(q) == problem.residual(q)

"""Step controls: HPP's rules, and one merit on both sides of the Armijo test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each_choice import draws
from robots import ur5

from constraints import Affine, Explicit, Function, Implicit, Options, Pose, Problem, Projector, Status
from constraints.errors import OptionError, UndefinedError
from constraints.solvers import (
    Backtracking,
    ConstantStep,
    ErrorNormBased,
    FixedSequence,
    FullSteps,
    StepControl,
    StepState,
)
from liegroups import R3xSO3, Rn, Segments

ALL = [FullSteps(), ConstantStep(), ConstantStep(0.5), Backtracking(), FixedSequence(), ErrorNormBased()]


def never(alpha: float) -> float:
    raise AssertionError("this control asks for no trial")


def state(iteration: int = 0, residual: float = 1.0, threshold: float = 1e-4) -> StepState:
    return StepState(iteration, residual**2, -2.0 * residual**2, residual, threshold)


def test_fixed_sequence_is_that_of_hpp():
    found = [FixedSequence().alpha(state(k), never) for k in range(3)]
    np.testing.assert_allclose(found, [0.2, 0.35, 0.47], atol=1e-12)
    assert FixedSequence().alpha(state(200), never) == pytest.approx(0.95)


def test_error_norm_based_goes_through_the_points_it_was_fitted_to():
    control = ErrorNormBased()
    assert control.alpha(state(residual=1e-4), never) == pytest.approx(0.98)
    assert control.alpha(state(residual=0.1), never) == pytest.approx(0.6)
    assert control.alpha(state(residual=10.0), never) == pytest.approx(0.2, abs=1e-6)


def test_backtracking_takes_the_first_alpha_that_passes():
    tried: list[float] = []

    def trial(alpha: float) -> float:
        tried.append(alpha)
        return 0.5 if alpha < 0.6 else 2.0

    assert Backtracking().alpha(state(), trial) == pytest.approx(0.49)
    np.testing.assert_allclose(tried, [1.0, 0.7, 0.49])
    assert Backtracking().alpha(state(), lambda alpha: 9.0) == 0.2


def test_the_slope_is_that_of_the_merit():
    """The derivative of the merit along the step that the control is told, against differences."""
    seen: list[tuple[StepState, float]] = []

    class Spy(StepControl):
        def alpha(self, state, trial):
            h = 1e-6
            seen.append((state, (trial(h) - trial(-h)) / (2.0 * h)))
            assert trial(0.0) == pytest.approx(state.merit, rel=1e-12)
            return 1.0

    robot = ur5()
    f = Pose(robot, robot.joint_names[-1], outputs=R3xSO3)
    problem = Problem(robot, [Implicit.equal(f, f.value([0.1, -1.0, 1.0, 0.3, 0.4, 0.2]))])
    Projector(problem, Options(step_control=Spy(), restarts=False)).project([0.4, -0.7, 0.6, 0.1, 0.9, -0.3])
    assert len(seen) >= 3
    for told, measured in seen[:3]:
        assert told.slope == pytest.approx(measured, rel=1e-5)
    assert [told.iteration for told, _ in seen] == list(range(len(seen)))


@draws(20, 50)
@pytest.mark.parametrize("control", ALL, ids=lambda control: repr(control))
def test_every_control_reaches_a_pose_in_the_order_of_its_speed(control, count):
    """Full steps reach random poses from 79.5 % of 800 starts without restarts; 72 % of 200 are 2.6 sigma below."""
    robot, reached = ur5(), 0
    f = Pose(robot, robot.joint_names[-1])
    rng = np.random.default_rng(1)
    for _ in range(4):
        problem = Problem(robot, [Implicit.equal(f, f.value(robot.random(rng)))])
        projector = Projector(problem, Options(step_control=control, restarts=False, max_iterations=100))
        results = [projector.project(robot.random(rng)) for _ in range(count)]
        reached += sum(result.success for result in results)
        assert all(problem.residual(result.q) <= 1e-4 for result in results if result.success)
    assert reached >= 0.72 * 4 * count


def test_parts_out_of_range_are_refused():
    for make in (
        lambda: ConstantStep(0.0),
        lambda: ConstantStep(1.5),
        lambda: Backtracking(tau=1.0),
        lambda: FixedSequence(factor=1.0),
        lambda: ErrorNormBased(-0.1),
        lambda: Options(step_control="Backtracking"),  # type: ignore[arg-type]
    ):
        with pytest.raises(OptionError):
            make()


def line(f: Any, slope: Any) -> Problem:
    """One equation in one unknown."""
    return Problem(Rn(1), [Implicit.zero(Function.from_callable(f, Rn(1), Rn(1), slope, name="line"))])


@pytest.mark.parametrize("control", ALL, ids=repr)
def test_one_step_is_the_first_step_of_a_projection(control: StepControl):
    """`one_step` tells a step control that it is the first one: FixedSequence takes 0.2 of it, as HPP does."""
    robot = ur5()
    f, q0 = Pose(robot, robot.joint_names[-1]), np.array([0.4, -0.7, 0.6, 0.1, 0.9, -0.3])
    problem = Problem(robot, [Implicit.equal(f, f.value(q0 + 0.3))])
    for engine, rounding in (("readable", 0.0), (None, 1e-15)):
        projector = Projector(problem, Options(step_control=control, trace=True), engine)
        trace = projector.project(q0).trace
        assert trace is not None
        np.testing.assert_allclose(projector.one_step(q0), trace[1].q, rtol=0.0, atol=rounding)


@pytest.mark.parametrize("says", ["error", "nan"])
def test_backtracking_comes_back_from_where_a_function_has_no_value(says: str):
    """The full Newton step for log q = 0 from 3.5 is at 3.5 (1 - log 3.5) < 0; 0.7 of it is at 0.43."""

    def log(q: np.ndarray) -> np.ndarray:
        if q[0] > 0.0:
            return np.log(q)
        if says == "error":
            raise UndefinedError("the logarithm is not real")
        return np.full(1, np.nan)

    problem = line(log, lambda q: np.array([[1.0 / q[0]]]))
    options = Options(step_control=Backtracking(), restarts=False, damping=0.0, cap=100.0)
    result = Projector(problem, options).project([3.5])
    assert result.success
    assert abs(result.q[0] - 1.0) < 1e-4
    assert Projector(problem, replace(options, step_control=FullSteps())).project([3.5]).status is Status.UNDEFINED


@pytest.mark.parametrize("given", ["a", None, np.nan, True, [0.1], np.array([0.1, 0.2]), 0.0, -1.0, 2.0])
def test_what_is_no_part_of_a_step_is_refused(given: Any):
    for make in (
        ConstantStep,
        ErrorNormBased,
        lambda part: Backtracking(smallest=part),
        lambda part: Backtracking(c=part),
    ):
        with pytest.raises(OptionError, match=r"in \(0, 1"):
            make(given)
    with pytest.raises(OptionError, match="factor of FixedSequence"):
        FixedSequence(factor=given)

    class Mine(StepControl):
        def alpha(self, state: StepState, trial: Any) -> Any:
            return given

    with pytest.raises(OptionError, match="alpha of Mine"):
        Projector(line(lambda q: q - 3.0, lambda q: np.eye(1)), Options(step_control=Mine())).project([0.0])


def test_a_controlled_step_where_only_the_optional_level_has_rows():
    """Explicit constraints alone are mandatory: no mandatory row is left to the step."""
    space = Rn(2)
    couple = Explicit(Affine([[1.0, 0.0]], [0.0], space), Segments.coordinates(space, [1]))
    wish = Implicit.equal(Affine([[1.0, 0.0]], [0.0], space), [1.0])
    problem = Problem(space, [[couple], [wish]], optional_last=True)
    after = Projector(problem, Options(step_control=ConstantStep(0.5), damping=0.0)).one_step([0.0, 0.3])
    np.testing.assert_allclose(after, [0.5, 0.5], atol=1e-9)

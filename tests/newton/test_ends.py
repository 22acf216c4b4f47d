"""How a projection ends in bad places: whole turns that do not fit, values that are none, targets far away."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from called_functions import Length
from newton.test_bounds_in_solver import spinner

from constraints import (
    Affine,
    Bounds,
    Explicit,
    Function,
    Implicit,
    Options,
    Position,
    Problem,
    Projector,
    Robot,
    Status,
)
from constraints.errors import UndefinedError
from constraints.solvers.engine import Outcome
from constraints.solvers.newton.computed_bodies import Resumable
from constraints.solvers.projection.engines import as_engine
from constraints.workspace import Workspace
from liegroups import SO3, Rn, Segments


def turning(short: float) -> Robot:
    """One joint about z with a tip at 1 m, its range a full turn less 2 * short."""
    return spinner(-np.pi + short, np.pi - short, alone=True)


def test_a_success_satisfies_after_whole_turns_too() -> None:
    """A joint that may turn has a range of 2 pi - 1e-6: where the target is in what is missing, that is no success."""
    robot = turning(4.9e-7)
    problem = Problem(robot, [Implicit.equal(Position(robot, "tip"), [-1.0, 0.0, 0.0])])
    for start in (3.0, -3.0, 3.1, 0.5):
        result = Projector(problem, Options(threshold=1e-8)).project([start])
        assert not result.success
        assert result.residual == pytest.approx(4.9e-7, rel=1e-3)  # at the bound
        assert result.violations == ()
        assert result.residual == pytest.approx(problem.residual(result.q), rel=1e-6)
        assert Projector(problem, Options(threshold=1e-6)).project([start]).success


@pytest.mark.parametrize("start", [1e3, -1e6, 1e9])
def test_many_turns_away(start: float) -> None:
    """Rounding of a shift by many turns is measured: a success satisfies its threshold, by plain trigonometry."""
    robot = turning(0.0)
    problem = Problem(robot, [Implicit.equal(Position(robot, "tip"), [np.cos(0.7), np.sin(0.7), 0.0])])
    result = Projector(problem, Options(threshold=1e-12, max_iterations=100)).project([start])
    assert result.success
    assert abs(result.q[0]) <= np.pi
    assert np.hypot(np.cos(result.q[0]) - np.cos(0.7), np.sin(result.q[0]) - np.sin(0.7)) <= 1e-12


def test_a_computed_output_that_is_no_number_is_undefined() -> None:
    """Nothing but an explicit constraint, whose map gives NaN: no success, the start comes back."""
    space = Rn(2)
    nothing = Function.from_callable(lambda q: [np.nan], Rn(1), Rn(1), name="nothing")
    explicit = Explicit(nothing, Segments.coordinates(space, [1]), Segments.coordinates(space, [0]))
    result = Projector(Problem(space, [explicit])).project([5.0, 5.0])
    assert result.status is Status.UNDEFINED
    assert result.residual == np.inf
    np.testing.assert_array_equal(result.q, [5.0, 5.0])


def raises(q: Any) -> list[float]:
    if q[0] > 3.0:
        raise UndefinedError("no value beyond 3")
    return [q[0] - 1.0]


def not_a_number(q: Any) -> list[float]:
    return [np.nan if q[0] > 3.0 else q[0] - 1.0]


@pytest.mark.parametrize("f", [raises, not_a_number])
def test_a_start_without_a_value_is_a_try_that_failed(f: Any) -> None:
    """Whether a function raises or gives NaN there: the next try begins elsewhere; without restarts it is UNDEFINED."""
    problem = Problem(Rn(2), [Implicit.zero(Function.from_callable(f, Rn(2), Rn(1)))])
    result = Projector(problem).project([5.0, 5.0])
    assert result.success
    assert result.restarts > 0
    assert result.q[0] == pytest.approx(1.0, abs=1e-4)
    assert Projector(problem, Options.local()).project([5.0, 5.0]).status is Status.UNDEFINED


@pytest.mark.parametrize("engine", ["compiled", "readable"])
def test_values_alone_tell_that_a_start_holds(engine: str) -> None:
    """Without a derivative too: of one level, and of two with a wish, in a batch; what does not hold is undefined."""
    still, wish = Implicit.zero(Length(2)), Implicit.zero(Affine([[1.0, 0.0]]), name="wish")
    two = [[still], [wish]]
    for problem in (Problem(Rn(2), [still]), Problem(Rn(2), two), Problem(Rn(2), two, optional_last=True)):
        projector, start, other = Projector(problem, Options.local(), engine=engine), [0.0, -0.0], [0.3, -0.2]
        neighbour = projector.project(other)
        batch = projector.project_batch([start, other, start])
        for found in (projector.project(start), batch[0], batch[2]):
            assert (found.status, found.iterations, found.residual) == (Status.CONVERGED, 0, 0.0)
            assert found.q.tobytes() == np.array(start).tobytes()
        assert batch[1].q.tobytes() == neighbour.q.tobytes()
    away = Projector(Problem(Rn(2), [Implicit.equal(Length(2), [0.5])]), Options.local(), engine=engine)
    for found in (away.project([0.0, 0.0]), *away.project_batch([[0.0, 0.0]])):
        assert (found.status, found.residual) == (Status.UNDEFINED, 0.5)


@pytest.mark.parametrize("f", [raises, not_a_number])
def test_a_wish_without_a_value_is_no_wish(f: Any) -> None:
    """The last level need not hold: where it has no value, the levels above are projected as without it."""
    above = Implicit.equal(Affine([[1.0, 0.0]]), [5.0])
    wish = Implicit.zero(Function.from_callable(f, Rn(2), Rn(1)))
    both = Projector(Problem(Rn(2), [[above], [wish]], optional_last=True)).project([7.0, 6.0])
    alone = Projector(Problem(Rn(2), [above])).project([7.0, 6.0])
    assert both.success
    np.testing.assert_allclose(both.q, alone.q, atol=1e-12)


@pytest.mark.parametrize("distance", [10.0, 40.0, 50.0])
def test_a_base_far_from_its_target_drives_there(distance: float) -> None:
    """Capped steps that bring what a cap lets them are no stall; damping does not grow with the distance for ever."""
    model: Any = pin.Model()
    model.addJointFrame(model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "base"))
    robot = Robot(model, "base")
    problem = Problem(robot, [Implicit.equal(Position(robot, "base"), [distance, 0.0, 0.0])])
    for options in (Options(), Options.local()):
        result = Projector(problem, options).project(robot.neutral)
        assert result.success
        assert result.iterations <= distance / 1.5 + 5
        assert result.q[0] == pytest.approx(distance, abs=1e-4)


@pytest.mark.parametrize(("off", "status"), [
    (0.0, Status.CONVERGED), (9e-5, Status.CONVERGED), (1.1e-4, Status.UNDEFINED), (5.0, Status.UNDEFINED),
])  # fmt: skip
def test_computed_outputs_that_miss_their_constraint_are_undefined(off: float, status: Status) -> None:
    """A map that solves another equation than the one it is given with: by how much, against the threshold."""
    space = Rn(3)

    def follow(name: str, miss: float) -> Explicit:
        i = 1 if name == "a" else 2
        f = Affine([[1.0]], [miss])
        twin = Affine([[-1.0, 0.0, 0.0] + np.eye(3)[i]]).on(space, Segments.coordinates(space, [0, 1, 2]))
        out, inputs = Segments.coordinates(space, [i]), Segments.coordinates(space, [0])
        return Explicit(f, out, inputs, implicit=twin, whole=space, name=name)

    row = Implicit.equal(Affine([[1.0, 1.0, 0.0]]), [3.0])
    problem = Problem(space, [row, follow("a", 0.0), follow("b", off)])
    assert Projector(problem).project([0.0, 0.0, 0.0]).success == (status is Status.CONVERGED)
    for options in (Options.local(), Options(restarts=False, max_iterations=0)):
        for start in ([0.0, 0.0, 0.0], [1.5, 1.5, 1.5 + off], [1.5, 1.5, 1.5]):
            result = Projector(problem, options).project(start)
            if start[2] == 1.5:  # satisfies all as it is, though its map says something else
                assert (result.status, result.iterations) == (Status.CONVERGED, 0)
                assert result.q.tolist() == start
            elif options.max_iterations or start[0] == 1.5:
                assert result.status is status
                assert (result.residual == np.inf) == (status is Status.UNDEFINED)
                end = 1.5 if result.success else start[0]
                np.testing.assert_allclose(result.q[:2], end, atol=1e-4)


def test_restarts_look_at_candidates_that_have_no_value() -> None:
    """Of eight the best one, those without a value last; where none has one the next eight."""

    def hidden(q: np.ndarray) -> list[float]:
        if q[0] < 0.6:
            raise UndefinedError("too low")
        return [q[0] - 0.8]

    f = Function.from_callable(hidden, Rn(2), Rn(1), lambda q: [[1.0, 0.0]])
    problem = Problem(Rn(2), [Implicit.zero(f)])
    for screen in (1, 8):
        result = Projector(problem, Options(screen=screen, trace=True)).project([0.0, 0.0])
        assert result.success
        assert result.trace is not None
        assert len([step for step in result.trace if step.restarted]) == 1
        assert result.trace[0].q[0] >= 0.6
        table = Rn(2).random(np.random.default_rng(0), np.full(2, -1.0), np.full(2, 1.0), 256)
        row = zlib.crc32(np.zeros(2).tobytes())
        drawn = [[table[(row + screen * k + i) % 256] for i in range(screen)] for k in range(result.restarts)]
        assert all(max(c[0] for c in candidates) < 0.6 for candidates in drawn[:-1])
        best = min((c for c in drawn[-1] if c[0] >= 0.6), key=lambda c: abs(c[0] - 0.8))
        np.testing.assert_array_equal(result.trace[0].q, best)


def test_starts_are_normalised_before_the_first_step() -> None:
    """A rotation that is off by what is accepted: an iterate is not; a start that satisfies everything stays."""
    space = SO3 * Rn(1)
    off = np.array([0.0, 0.0, 0.6 + 2e-7, 0.8, 0.3])
    problem = Problem(space, [Implicit.zero(Affine([[1.0]]).on(space, Segments.coordinates(space, [3])))])
    result = Projector(problem, Options(trace=True)).project(off)
    assert result.success
    assert result.trace is not None
    np.testing.assert_allclose(result.trace[0].q[:4], off[:4] / np.linalg.norm(off[:4]), rtol=0, atol=1e-15)
    assert abs(result.q[:4] @ result.q[:4] - 1.0) < 1e-15
    off[4] = 0.0
    result = Projector(problem, Options(trace=True)).project(off)
    assert (result.status, result.iterations) == (Status.CONVERGED, 0)
    assert result.q.tobytes() == off.tobytes()


def test_maps_without_a_value_end_a_projection() -> None:
    """A constant map that has none for its right-hand side is met before anything else."""
    space = Rn(2)

    def no(_: np.ndarray) -> np.ndarray:
        raise UndefinedError("no value")

    still = Explicit(Function.from_callable(no, Rn(1), Rn(1), lambda q: [[0.0]], columns=[False]),
                     Segments.coordinates(space, [1]), Segments.coordinates(space, [0]), whole=space)  # fmt: skip
    result = Projector(Problem(space, [still, Implicit.equal(Affine([[1.0, 0.0]]), [1.0])])).project([0.0, 0.5])
    assert (result.status, result.iterations, result.residual) == (Status.UNDEFINED, 0, np.inf)
    assert result.q.tolist() == [0.0, 0.5]


@pytest.mark.parametrize("options", [Options(), Options.local()])
def test_a_start_that_had_to_be_moved_is_no_iterate(options: Options) -> None:
    """Outside its bounds, or with outputs that are not those of its inputs, it may look better than all that follow."""
    space = Rn(2)
    box = Bounds(space, np.zeros(2), np.array([1.0, 9.0]))
    far = Implicit.equal(Affine([[1.0, 0.0]]), [5.0])
    result = Projector(Problem(space, [far], box), options).project([4.9, 0.0])
    assert not result.success
    assert result.q[0] == 1.0
    assert result.residual == 4.0
    follow = Explicit(Affine([[2.0]]), Segments.coordinates(space, [1]), Segments.coordinates(space, [0]), whole=space)
    far = Implicit.equal(Affine([[0.0, 1.0]]), [5.0])
    result = Projector(Problem(space, [follow, far], box), options).project([0.5, 4.9])
    assert not result.success
    assert result.q.tolist() == [1.0, 2.0]
    assert result.residual == 3.0


@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_a_search_that_is_gone_on_with_may_end_undefined(engine: str) -> None:
    """Its budget is spent between half the threshold and all of it, where a computed output misses its twin."""
    if engine == "compiled":
        pytest.importorskip("numba")
    space = Rn(2)
    f, twin = Affine([[1.0]], [5.0]), Affine([[-1.0, 1.0]])
    out, inputs = (Segments.coordinates(space, [i]) for i in (1, 0))
    explicit = Explicit(f, out, inputs, implicit=twin, whole=space)
    problem = Problem(space, [explicit, Implicit.equal(Affine([[1.0, 0.0]]), [1.5])])
    program = as_engine(engine).compile(problem, Options(restarts=False, max_iterations=7))
    assert isinstance(program, Resumable)
    before = Outcome(np.array([1.5 + 0.75e-4, 0.0]), Status.OUT_OF_BOUNDS, 7, 0, 0.0, None)
    found = program.resume(np.zeros(2), problem.rhs, Workspace(), before)
    assert found.status is Status.UNDEFINED
    assert found.q.tolist() == [0.0, 0.0]

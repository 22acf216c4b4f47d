"""Paths on constraints: continuity, constraints between samples, branches, right-hand sides that move.

What a path promises is checked by plain pinocchio, on many times between its samples.
"""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few

from constraints import (
    Affine,
    Bounds,
    ConstraintError,
    Function,
    Implicit,
    Options,
    Position,
    Problem,
    Projector,
    linear_coupling,
)
from constraints.errors import FailedError, OptionError, PathError, SizeError, WrongObjectError
from constraints.manipulation import MovingRightHandSide, Path, PathStatus, interpolate
from constraints.models import sample_arm, sample_two_arms
from constraints.paths.path import Piece
from constraints.solvers import NewtonEngine
from constraints.solvers.projection.engines import USUAL
from liegroups import ProductSpace, Rn

ARM = sample_arm()


def plane_problem(height: float = 0.3) -> Problem:
    """The tool of the arm stays at one height."""
    tool = Implicit.equal(Position(ARM, "tool"), [0.0, 0.0, height], mask=[False, False, True], name="height")
    return Problem(ARM, [tool])


def on_constraints(problem: Problem, seed: int, tries: int = 50) -> np.ndarray:
    rng = np.random.default_rng(seed)
    projector = Projector(problem)
    for _ in range(tries):
        result = projector.project(ARM.space.random(rng, ARM.bounds.lower, ARM.bounds.upper))
        if result.success:
            return result.q
    raise AssertionError("no start")


def height_of(q: np.ndarray) -> float:
    model, data = ARM.model, ARM.model.createData()
    pin.framesForwardKinematics(model, data, q)
    frame = ARM.frame("tool")
    return float((data.oMi[frame.joint] * frame.placement).translation[2])


@pytest.mark.parametrize("seed", range(6))
def test_a_path_keeps_its_constraint_between_samples_and_jumps_nowhere(seed: int) -> None:
    """Consecutive samples differ by at most 0.1 rad and 2 cm; in between, plain pinocchio measures the height."""
    problem = plane_problem()
    q0, q1 = on_constraints(problem, 2 * seed), on_constraints(problem, 2 * seed + 1)
    result = interpolate(problem, q0, q1)
    assert result.path is not None or result.status is not PathStatus.COMPLETE
    if result.path is None:
        return
    path = result.path
    assert np.array_equal(path.start, q0)
    jumps = np.abs(np.diff(path.samples, axis=0))
    assert jumps.max() <= 0.1
    assert path.max_jump().angle == pytest.approx(jumps.max(), abs=1e-12)
    assert path.max_error() <= 1e-4
    times = np.linspace(0.0, path.duration, 301)
    configurations = np.array([path(t) for t in times])
    assert max(abs(height_of(q) - 0.3) for q in configurations) <= 1e-4
    apart = np.abs(np.diff(configurations, axis=0)).max()
    assert apart <= 0.1
    if result.success:
        assert np.array_equal(path.end, q1)


def test_most_paths_reach_their_end() -> None:
    """Of 20 pairs on a plane that the arm can slide on, most are joined: the others lie on other branches."""
    problem = plane_problem()
    points = [on_constraints(problem, 100 + k) for k in range(21)]
    done = sum(interpolate(problem, a, b).success for a, b in itertools.pairwise(points))
    assert done >= 10


def test_a_circle_is_followed_the_short_way() -> None:
    """On the unit circle in the plane the samples stay on it, and the angle rises steadily."""
    circle = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="circle")
    problem = Problem(Rn(2), [Implicit.zero(circle)])
    a, b = 0.1, 2.9
    path = interpolate(
        problem, [np.cos(a), np.sin(a)], [np.cos(b), np.sin(b)], max_length=0.05, options=Options.local(threshold=1e-9)
    ).or_raise()
    angles = np.arctan2(path.samples[:, 1], path.samples[:, 0])
    assert (np.diff(angles) > 0.0).all()
    assert np.abs(np.linalg.norm(path.samples, axis=1) - 1.0).max() < 1e-8
    assert np.abs(np.linalg.norm(np.array([path(t) for t in np.linspace(0, 1, 97)]), axis=1) - 1.0).max() < 1e-8


def test_a_limit_longer_than_the_whole_way_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """One coarse step in silence; a limit that a way needs, and one of lengths where nothing slides, are fine."""
    line = Problem(Rn(2), [Implicit.zero(Affine([[0.0, 1.0]], [0.0], Rn(2)))])
    for max_length, far in ((0.9, 0.5), (2.0, 40.0), (20.0, 0.0)):
        assert interpolate(line, [0.0, 0.0], [far, 0.0], max_length=max_length).success
    turning = Problem(ARM, [Implicit.zero(Affine([np.eye(7)[0]], inputs=ARM.space))])
    assert interpolate(turning, np.zeros(7), 0.3 * np.eye(7)[2], max_length=20.0).success
    assert not caplog.messages
    assert len(interpolate(line, [0.0, 0.0], [0.5, 0.0], max_length=20.0).or_raise().samples) == 2
    [said] = caplog.messages
    assert said.endswith("max_length of an interpolation is 20 m, the whole way 0.5 m: is it in millimetres?")


def test_right_hand_sides_move_along() -> None:
    """A pair of right-hand sides is followed on the group; the tool is where their interpolation says."""
    problem = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), name="tool")])
    q0 = on_constraints(plane_problem(), 3)
    first = problem.rhs_from(q0)
    last = first.replace("tool", first.of("tool") + np.array([0.05, -0.03, 0.04]))
    q1 = Projector(problem, Options.local()).project(q0, last).or_raise().q
    path = interpolate(problem, q0, q1, (first, last)).or_raise()
    for t in np.linspace(0.0, 1.0, 21):
        wanted = first.of("tool") + t * (last.of("tool") - first.of("tool"))
        point = ARM.at(path(t)).placement(ARM.frame("tool")).translation
        assert np.linalg.norm(point - wanted) <= 1.1e-4
    back = path.reversed()
    assert np.array_equal(back.start, q1)
    assert np.array_equal(back.end, q0)
    assert np.abs(back(0.3) - path(0.7)).max() < 1e-9
    assert back.max_error() <= 1e-4
    by_function = interpolate(
        problem, q0, q1, lambda s: first.replace("tool", (1 - s) * first.of("tool") + s * last.of("tool"))
    ).or_raise()
    there = np.searchsorted(by_function.times, path.times)  # a function is looked at more often
    assert np.array_equal(by_function.times[there], path.times)
    assert np.abs(by_function.samples[there] - path.samples).max() < 1e-12


@pytest.mark.parametrize("turns", a_few([1, 2, 3, 5], 2))
def test_right_hand_sides_that_come_back_are_followed(turns: int) -> None:
    """A function that is back at every half and quarter: its samples show all of its motion."""
    x = Function.from_callable(lambda q: q[:1].copy(), Rn(2), Rn(1), lambda q: np.array([[1.0, 0.0]]), name="x")
    problem = Problem(Rn(2), [Implicit.equal(x, [0.0], name="x")])
    path = interpolate(
        problem, [0.0, 0.0], [0.0, 0.0], lambda t: problem.rhs.replace("x", [0.5 * np.sin(2 * np.pi * turns * t)])
    ).or_raise()
    assert path.samples[:, 0].max() > 0.49
    assert path.samples[:, 0].min() < -0.49
    assert 0.0 < path.max_jump().length <= 0.02
    finely = np.array([path(t) for t in np.linspace(0.0, 1.0, 2001)])
    assert np.abs(np.diff(finely, axis=0)).max() <= 0.02


def test_explicit_outputs_follow() -> None:
    """A box held by the first arm keeps its place in the hand at every time of the path."""
    robot = sample_two_arms()
    joints = robot.joint_names
    target = linear_coupling(robot, joints[-1], {joints[0]: 0.5})
    problem = Problem(robot, [target])
    rng = np.random.default_rng(0)
    projector = Projector(problem)
    q0, q1 = (
        projector.project(robot.space.random(rng, robot.bounds.lower, robot.bounds.upper)).or_raise().q for _ in "ab"
    )
    path = interpolate(problem, q0, q1).or_raise()
    for t in np.linspace(0.0, 1.0, 11):
        q = path(t)
        assert q[robot.slice_of(joints[-1])] == pytest.approx(0.5 * q[robot.slice_of(joints[0])], abs=1e-12)


def test_concatenation_times_and_pickle() -> None:
    """Pieces follow each other where they meet; a path is a value."""
    problem = plane_problem()
    q = [on_constraints(problem, k) for k in (0, 1)]
    result = interpolate(problem, q[0], q[1])
    assert result.path is not None
    there = result.path
    both = (there + there.reversed()).lasting(6.0)
    assert both.duration == pytest.approx(6.0)
    assert np.array_equal(both.start, both.end)
    assert np.array_equal(both(0.0), there.start)
    assert np.array_equal(both(6.0), both.end)
    assert np.abs(both(1.0) - both(5.0)).max() < 1e-9
    assert (np.diff(both.times) >= 0.0).all()
    again = pickle.loads(pickle.dumps(both))
    assert np.array_equal(again(2.3), both(2.3))


def test_bad_input_is_named() -> None:
    """Ends off the constraints are a status; limits and right-hand sides of other kinds are errors."""
    problem = plane_problem()
    q0 = on_constraints(problem, 0)
    off = ARM.space.neutral + 0.1
    assert interpolate(problem, off, q0).status is PathStatus.START
    assert interpolate(problem, q0, off).status is PathStatus.END
    with pytest.raises(WrongObjectError, match="right-hand sides of a path"):
        interpolate(problem, q0, q0, 3)
    with pytest.raises(ConstraintError):
        interpolate(problem, q0[:-1], q0)
    with pytest.raises(PathError):
        Path(())
    with pytest.raises(WrongObjectError, match="problem of an interpolation"):
        interpolate(cast("Any", "problem"), q0, q0)
    wrong: list[Any] = [1, ("a",), "a"]
    for bad in wrong:
        with pytest.raises(WrongObjectError, match="of a path"):
            Path(bad)


def test_numbers_and_right_hand_sides_are_taken_as_elsewhere() -> None:
    """Numbers of numpy are times; a flat vector is a right-hand side, as for a projector."""
    circle = Function.from_callable(lambda q: q @ q - 1.0, Rn(2), Rn(1), lambda q: (2.0 * q)[None], name="circle")
    problem = Problem(Rn(2), [Implicit.equal(circle)])
    path = interpolate(problem, [2.0, 0.0], [0.0, 2.0], [3.0]).or_raise()
    assert path.max_error() <= 1e-4
    assert np.linalg.norm(path(0.5)) == pytest.approx(2.0, abs=1e-4)
    time: Any
    for time, same in ((np.float32(0.5), 0.5), (np.float64(0.5), 0.5), (np.int64(1), 1.0)):
        assert np.array_equal(path(time), path(same))


def test_a_path_of_one_point_is_a_path() -> None:
    """Start and end may be the same."""
    problem = plane_problem()
    q0 = on_constraints(problem, 0)
    path = interpolate(problem, q0, q0).or_raise()
    assert np.array_equal(path(0.5), q0)
    assert path.max_jump() == (0.0, 0.0)


# Failures in words


def one_way() -> Problem:
    """x^2 = r on the line, with a bound at 5."""
    square = Function.from_callable(lambda q: q**2 - 1.0, Rn(1), Rn(1), lambda q: 2.0 * np.diag(q), name="square")
    return Problem(Rn(1), [Implicit.equal(square, name="one")], Bounds(Rn(1), np.array([-5.0]), np.array([5.0])))


def test_ends_that_are_refused_say_by_which_constraint_and_bound() -> None:
    """The error at the end, which is 4^2 - 1 = 15, and the bound that an end is outside of."""
    off = interpolate(one_way(), [4.0], [1.0])
    assert off.describe().splitlines() == [
        f"{PathStatus.START} (reached 0 of the way)",
        "  at time 0, threshold 0.0001:",
        "    'one': error 15",
    ]
    assert off.path is None
    with pytest.raises(FailedError):
        off.or_raise()
    problem = one_way()
    outside = interpolate(problem, [1.0], [6.0], (problem.rhs, np.array([35.0])))
    assert outside.status is PathStatus.END
    assert outside.describe().splitlines()[1:] == [
        "  at time 1, threshold 0.0001:",
        "    'one': error 0",
        "    R1 outside its upper bound",
    ]
    assert outside.stop is not None
    assert outside.stop.q.tolist() == [6.0]
    assert outside.off == "'R1' 1 above its bound"
    assert interpolate(problem, [1.0], [6.0]).off == "'one' is off by 35"


def test_what_holds_along_a_path_has_its_largest_error() -> None:
    """At samples and half-way between them, by plain pinocchio."""
    problem = plane_problem()
    path = interpolate(problem, on_constraints(problem, 0), on_constraints(problem, 1), max_angle=0.3).or_raise()
    times = np.concatenate([path.times, 0.5 * (path.times[1:] + path.times[:-1])])
    (held,) = path.held()
    assert held.name == "height"
    assert 0.0 < held.error <= Options().threshold
    assert held.error == pytest.approx(max(abs(height_of(path(t)) - 0.3) for t in times), rel=1e-6)


def test_a_projection_that_fails_on_the_way_is_told() -> None:
    """Half-way the right-hand side asks for x^2 = -3: nothing does, and x is off by x^2 + 3."""
    problem = one_way()
    sides = [problem.check_rhs([r]) for r in (0.0, -4.0)]
    broken = interpolate(problem, [1.0], [1.0], lambda s: sides[int(0.4 < s < 0.6)])
    assert (broken.status, broken.reached, broken.path) == (PathStatus.NOT_PROJECTED, 0.0, None)
    stop = broken.stop
    assert stop is not None
    assert stop.projection is not None
    assert (stop.time, stop.rhs) == (0.5, sides[1])
    lines = broken.describe().splitlines()
    assert lines[0] == str(broken) == repr(broken)
    assert lines[1] == f"  at time 0.5: {stop.projection}"
    assert lines[2].startswith(f"    solved by the {USUAL} engine")
    assert all("of the time in Python: square" in line for line in lines[3:-1])
    assert lines[-1:] == [f"    'one': error {stop.q[0] ** 2 + 3.0:.3g}"]
    with pytest.raises(FailedError, match="NOT_PROJECTED") as caught:
        broken.or_raise()
    assert caught.value.result is broken


def test_a_jump_says_how_far_and_in_which_joint() -> None:
    """Between two roots of (x + 3)(x + 1)(x - 1) projections fall on one root or another, which are 2 or 4 apart."""
    space = ProductSpace([Rn(1), Rn(1)], ["x", "y"])
    cubic = Function.from_callable(
        lambda q: (q[:1] + 3.0) * (q[:1] + 1.0) * (q[:1] - 1.0), space, Rn(1),
        lambda q: np.array([[3.0 * q[0] ** 2 + 6.0 * q[0] - 1.0, 0.0]]),
    )  # fmt: skip
    result = interpolate(Problem(space, [Implicit.zero(cubic)]), [-1.0, 0.0], [1.0, 0.5])
    assert result.status is PathStatus.JUMP
    stop = result.stop
    assert stop is not None
    assert stop.jump is not None
    assert (stop.joint, stop.time, stop.jump.angle) == ("x", result.reached, 0.0)
    assert min(abs(stop.jump.length - apart) for apart in (2.0, 4.0)) <= 1e-3
    assert result.describe().splitlines()[1:] == [
        f"  at time {stop.time:.4g}, however small the steps: 0 rad and {stop.jump.length:.3g} m, most in 'x'"
    ]
    with pytest.raises(PathError, match="is called by its path"):
        result(0.5)  # type: ignore[operator]


def test_errors_of_paths_carry_what_failed() -> None:
    """Between samples that are too far apart for the projection the error has it, and it travels."""
    problem = Problem(ARM, [Implicit.equal(Position(ARM, "tool"), [0.4, 0.1, 0.3])])
    ends = [Projector(problem).project(q).or_raise().q for q in ARM.random(np.random.default_rng(3), 2)]
    piece = Piece(
        problem, MovingRightHandSide(problem.rhs), np.array(ends), np.array([0.0, 1.0]), Options.local(max_iterations=0)
    )
    with pytest.raises(FailedError, match=r"at time 0\.5 of the piece") as caught:
        Path((piece,))(0.5)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.result.status is caught.value.result.status
    assert "Position(tool)" in again.result.describe()


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"samples": [[1.0], [np.nan]]}, ConstraintError, "sample 1 of a piece"),
        ({"samples": [[1.0], [1.0], [1.0]]}, SizeError, "times of a piece of a path: expected size 3, received 2"),
        ({"sides": None}, WrongObjectError, "sides of a piece of a path: expected a MovingRightHandSide"),
    ],
)
def test_pieces_are_checked(changes: dict[str, Any], kind: type[Exception], said: str) -> None:
    problem = one_way()
    piece = interpolate(problem, [1.0], [1.0]).or_raise().pieces[0]
    with pytest.raises(kind, match=said):
        replace(piece, **changes)
    assert replace(piece).times.tolist() == [0.0, 1.0]


# Projectors of paths


def test_a_projector_takes_the_place_of_its_problem() -> None:
    """The path is that of the problem, bit for bit; pieces and parts of it have the projector, and its engine."""
    problem = plane_problem()
    q0, q1 = on_constraints(problem, 0), on_constraints(problem, 1)
    by_problem = interpolate(problem, q0, q1).or_raise()
    projector = Projector(problem, Options.local())
    path = interpolate(projector, q0, q1).or_raise()
    np.testing.assert_array_equal(path.samples, by_problem.samples)
    assert path.pieces[0].projector is path.reversed().pieces[0].projector is projector
    readable = interpolate(Projector(problem, Options.local(), "readable"), q0, q1).or_raise()
    np.testing.assert_allclose(readable.samples, path.samples, atol=1e-9)
    kept = pickle.loads(pickle.dumps(readable)).pieces[0].projector.engine
    assert type(kept) is type(readable.pieces[0].projector.engine) is NewtonEngine
    with pytest.raises(OptionError, match="projector has its own"):
        interpolate(projector, q0, q1, options=Options())
    piece = path.pieces[0]
    for other in (Projector(plane_problem(), Options.local()), Projector(problem)):
        with pytest.raises(PathError, match="its problem and options"):
            Piece(piece.problem, piece.sides, piece.samples, piece.times, piece.options, projector=other)
    with pytest.raises(WrongObjectError, match="projector of a piece"):
        Piece(piece.problem, piece.sides, piece.samples, piece.times, piece.options, projector=cast("Any", "compiled"))


def test_configurations_at_several_times_are_those_at_each() -> None:
    """With right-hand sides that rest and that move; the first that is not reached is told."""
    problem = plane_problem()
    q0, q1 = on_constraints(problem, 0), on_constraints(problem, 1)
    times = [0.0, 0.3, 0.11, 0.5, 0.999, 1.0, -0.1, 1.2]
    for rhs in (None, lambda t: problem.rhs):
        piece = interpolate(problem, q0, q1, rhs).or_raise().pieces[0]
        np.testing.assert_allclose(piece.at_times(times), [piece.at(t) for t in times], rtol=0, atol=1e-14)
        assert piece.at_times([]).shape == (0, problem.space.nq)
    slope = Implicit.equal(Function.from_callable(lambda q: q, Rn(1), Rn(1), lambda q: [[1.0]]), [0.0])
    line = Problem(Rn(1), [slope], Bounds(Rn(1), np.zeros(1), np.ones(1)))
    sides = MovingRightHandSide.of(line, lambda t: line.rhs.replace(0, [t if t < 0.45 else 2.0 if t < 0.9 else 1.0]))
    piece = Piece(line, sides, np.array([[0.0], [1.0]]), np.array([0.0, 1.0]), Options.local())
    with pytest.raises(FailedError, match=r"at time 0\.5 "):
        piece.at_times([0.2, 0.5, 0.7])

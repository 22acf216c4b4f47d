"""Closing by the dependent coordinates: what is held, the way, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from closed_mechanisms import ALL, closed_mechanism
from each_choice import a_few
from scipy.linalg import qr
from scipy.optimize import root

from constraints import ConstraintError, Function, Implicit, Robot, Target, reduced
from constraints.errors import FailedError, OptionError, SizeError, TruthValueError, UndefinedError
from constraints.linear_algebra import pivots
from constraints.loops import ConstraintSet, PointClosure, assemble_position
from constraints.models import mechanisms
from liegroups import Rn

MOVE = 0.02  # of all coordinates, from a closed configuration [rad or m]


def started(name: str, size: float = MOVE, seed: int = 0) -> tuple[reduced.MinimalCoordinates, np.ndarray]:
    """Coordinates by pivots, and an open start near a closed configuration."""
    mechanism, q = closed_mechanism(name)
    space = mechanism.robot.space
    move = size * np.random.default_rng(seed).standard_normal(space.nv)
    return reduced.minimal_coordinates(mechanism.constraint_set(), q), space.integrate(q, move)


def held_numbers(coordinates: reduced.MinimalCoordinates) -> np.ndarray:
    """Entries of q of plain joints that are held, and of other joints of which nothing is dependent."""
    space, dependent = coordinates.constraint_set.robot.space, set(coordinates.partition.dependent.tolist())
    entries: list[int] = []
    for leaf in space.leaves():
        columns = range(leaf.v.start, leaf.v.stop)
        if leaf.space.is_flat:
            entries += [leaf.q.start + i for i, column in enumerate(columns) if column not in dependent]
        elif not dependent & set(columns):
            entries += range(leaf.q.start, leaf.q.stop)
    return np.array(entries, dtype=int)


def test_five_bar_in_six_iterations() -> None:
    """Case 4: on the five-bar with a 3D closure at most 6 iterations to 1e-12, from moves of 0.1 rad."""
    mechanism, q = closed_mechanism("5bar_linkage_iso3d")
    coordinates, rng = mechanism.minimal_coordinates(q), np.random.default_rng(0)
    counts = []
    for _ in range(100):
        u = rng.uniform(-0.1, 0.1, coordinates.partition.independent.size)
        done = coordinates.close(mechanism.robot.space.integrate(q, coordinates.spread(u)))
        assert done.success
        assert done.residual <= 1e-12
        counts.append(done.iterations)
    assert max(counts) <= 6


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_what_is_held_keeps_its_bits(name: str) -> None:
    """Case 4: u and c are unchanged bit for bit, -0.0 too; the start is not changed; the iterates are kept."""
    coordinates, start = started(name)
    robot = coordinates.constraint_set.robot
    flat = [int(i) for i in held_numbers(coordinates) if i in robot.space.vector_q]
    if flat:
        start[flat[-1]] = -0.0 if abs(start[flat[-1]]) < 0.1 else start[flat[-1]]
    given = start.copy()
    done = coordinates.close(start).or_raise()
    same = held_numbers(coordinates)
    for iterate in done.iterates:
        assert iterate[same].tobytes() == start[same].tobytes()
    np.testing.assert_array_equal(start, given)
    assert np.abs(coordinates.constraint_set.position_error(done.q)[coordinates.partition.rows]).max() <= 1e-12
    assert np.abs(coordinates.constraint_set.position_error(done.q)).max() <= 1e-6
    assert done.iterations == len(done.step_sizes) == len(done.iterates) - 1 == len(done.residuals) - 1
    start[:] = 9.0  # what was given is the caller's
    np.testing.assert_array_equal(done.iterates[0], given)
    assert not done.q.flags.writeable
    again = coordinates.close(done.q)
    assert again.iterations == 0
    assert again.q.tobytes() == done.q.tobytes()


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_steps_repeated_are_the_iterates(name: str) -> None:
    """Case 4: the step function applied repeatedly gives the same iterates, bit for bit."""
    coordinates, start = started(name)
    done, q = coordinates.close(start), start
    for i, iterate in enumerate(done.iterates[1:]):
        step = coordinates.step(q, start=start)
        assert step.q.tobytes() == iterate.tobytes()
        assert np.abs(step.change).max() == done.step_sizes[i]
        assert step.lu.sign == done.signs[i]
        q = step.q
    if not coordinates.chart.split:
        assert coordinates.step(start).q.tobytes() == done.iterates[1].tobytes()


def test_a_tie_between_columns_is_decided_by_their_order() -> None:
    """Columns equal but for the last digit: the first is taken, with its own size, on every processor."""
    A = np.random.default_rng(0).standard_normal((4, 3))
    twice = np.column_stack([A, A * (1.0 + 1e-12)])
    order, sizes = pivots(twice)
    assert set(order[:3].tolist()) == {0, 1, 2}
    np.testing.assert_allclose(sizes[:3], pivots(A)[1], rtol=1e-12)
    R, expected = qr(A, mode="r", pivoting=True)
    assert order[:3].tolist() == expected.tolist()
    np.testing.assert_allclose(sizes[:3], np.abs(np.diag(R)), rtol=1e-12)


# Balls and free joints that are split.


def split_platform() -> tuple[reduced.MinimalCoordinates, np.ndarray]:
    """A Stewart platform of whose plate two translations and one rotation are independent."""
    mechanism, q = closed_mechanism("stewart_platform")
    plate = next(f.name for f in mechanism.robot.space.factors if f.v.stop - f.v.start == 6)
    wish = [f"{plate}[{i}]" for i in (0, 2, 4)]
    return reduced.minimal_coordinates(mechanism.constraint_set(), q, independent=wish), q


def splits() -> list[tuple[reduced.MinimalCoordinates, np.ndarray]]:
    mechanism, q = closed_mechanism("digit_like_2legs")
    balls = [f.name for f in mechanism.robot.space.factors if f.v.stop - f.v.start == 3]
    wish = [f"{ball}[1]" for ball in balls[:3]]
    return [(reduced.minimal_coordinates(mechanism.constraint_set(), q, independent=wish), q), split_platform()]


@pytest.mark.parametrize("which", [0, 1], ids=["digit_like_2legs", "stewart_platform"])
def test_held_columns_of_a_split_joint_are_zero_in_the_logarithm_of_its_change(which: int) -> None:
    """Item 2: what "held" means for a split ball or free joint; the same end by another method, in the same chart."""
    coordinates, q = splits()[which]
    assert coordinates.chart.split
    rows, parts = coordinates.constraint_set, coordinates.partition
    space, rng = rows.robot.space, np.random.default_rng(2)
    for _ in range(5):
        start = space.integrate(q, 0.03 * rng.standard_normal(space.nv))
        done = coordinates.close(start).or_raise()
        change = space.difference(start, done.q)
        np.testing.assert_allclose(change[coordinates.held], 0.0, atol=1e-13)

        def errors(v: np.ndarray, start: np.ndarray = start) -> np.ndarray:
            whole = np.zeros(space.nv)
            whole[parts.dependent] = v
            return rows.position_error(space.integrate(start, whole))[parts.rows]

        solved = root(errors, np.zeros(parts.rank), method="hybr", options={"xtol": 1e-13})
        leaves = [leaf for leaf in space.leaves() if leaf.name in coordinates.chart.split]
        for leaf in leaves:
            whole = np.zeros(space.nv)
            whole[parts.dependent] = solved.x
            np.testing.assert_allclose(change[leaf.v], whole[leaf.v], atol=1e-9)


@pytest.mark.parametrize("which", [0, 1], ids=["digit_like_2legs", "stewart_platform"])
def test_newton_in_the_chart_is_quadratic(which: int) -> None:
    """Item 2: the Jacobian is that of the chart: each residual is of the order of the square of the one before."""
    coordinates, q = splits()[which]
    space, rng = coordinates.constraint_set.robot.space, np.random.default_rng(3)
    for _ in range(5):
        done = coordinates.close(space.integrate(q, 0.15 * rng.standard_normal(space.nv))).or_raise()
        r = [x for x in done.residuals if x > 1e-7]
        assert all(later <= 20.0 * before**2 for before, later in zip(r, done.residuals[1:], strict=False))
        crosses = len(set(done.signs)) > 1  # a place where J_v is singular: one way of the platform does
        assert done.iterations <= (8 if crosses else 6)


def test_the_rotation_of_a_free_joint_that_only_translates_keeps_its_bits() -> None:
    """Item 2: a free body on a point: translations dependent, rotations held, and the other way round."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.addFrame(pin.Frame("tip", joint, 0, pin.SE3(np.eye(3), np.array([0.3, 0.1, -0.2])), pin.OP_FRAME))
    robot = Robot(model, "body")
    rows = ConstraintSet(robot, [PointClosure(robot, None, "tip", name="pin")])
    q = assemble_position(rows, robot.neutral).or_raise().q
    rng = np.random.default_rng(0)
    moves = reduced.minimal_coordinates(rows, q, independent=["body[3]", "body[4]", "body[5]"])
    start = robot.space.integrate(q, rng.standard_normal(6))
    done = moves.close(start).or_raise()
    assert done.q[3:].tobytes() == start[3:].tobytes()
    assert np.abs(done.q[:3] - start[:3]).max() > 0.1
    np.testing.assert_allclose(robot.at(done.q).placement("tip").translation, 0.0, atol=1e-12)
    with_turn = reduced.minimal_coordinates(rows, q, independent=["body[0]"])
    assert with_turn.partition.dependent.size == 3
    near = robot.space.integrate(q, 0.05 * rng.standard_normal(6))
    change = robot.space.difference(near, with_turn.close(near).or_raise().q)
    np.testing.assert_allclose(change[with_turn.held], 0.0, atol=1e-14)


# Driven joints.


def test_driven_joints_take_their_places_in_time() -> None:
    """Item 2: joints driven in time are moved to their place at t, those without a motion keep theirs."""
    mechanism, q = closed_mechanism("five_bar")
    left, right = mechanism.motors
    coordinates = mechanism.minimal_coordinates(q, driven={left: Target(lambda t: [q[0] + 0.2 * t]), right: None})
    assert mechanism.robot.slice_of(left).start == 0
    done = coordinates.close(q, t=0.5).or_raise()
    assert done.q[0] == q[0] + 0.1
    place = mechanism.robot.slice_of(right)
    assert done.q[place].tobytes() == q[place].tobytes()
    wrong = mechanism.minimal_coordinates(q, driven={left: Target(lambda t: [q[0], 1.0])})
    with pytest.raises(SizeError, match=left):
        wrong.close(q)
    short = mechanism.minimal_coordinates(q, driven={left: Target(lambda t: [q[0]], interval=(0.0, 1.0))})
    with pytest.raises(OptionError, match="outside the interval"):
        short.close(q, t=2.0)


# How it ends.


def test_the_iteration_limit_is_a_status_with_all_iterates() -> None:
    """Case 4: the limit has a status of its own; iterates, residuals and step sizes are stored up to it."""
    mechanism, q = closed_mechanism("four_bar")
    coordinates = mechanism.minimal_coordinates(q)
    start = mechanism.robot.configuration({"crank": 1.4}, start=q)
    full = coordinates.close(start).or_raise()
    for most in range(full.iterations):
        done = coordinates.close(start, max_iterations=most)
        assert done.status is reduced.ReducedStatus.MAX_ITERATIONS
        assert (done.iterations, len(done.iterates)) == (most, most + 1)
        assert done.residuals == full.residuals[: most + 1]
        np.testing.assert_array_equal(done.iterates, full.iterates[: most + 1])
        assert done.worst == mechanism.closures[0].name
        assert "max_iterations=" in str(done)
        assert not done.jumps
        assert "assemble_position" in done.describe()
        with pytest.raises(FailedError, match="MAX_ITERATIONS") as caught:
            done.or_raise()
        assert caught.value.result is done
        with pytest.raises(TruthValueError):
            bool(done)
    assert coordinates.close(start, max_iterations=full.iterations).status is reduced.ReducedStatus.CONVERGED
    wrong: list[dict[str, Any]] = [{"tolerance": 1e-17}, {"tolerance": np.nan}, {"max_iterations": -1}, {"t": np.nan}]
    for options in wrong:
        with pytest.raises(ConstraintError, match="of a closing"):
            coordinates.close(start, **options)


def test_a_dead_point_on_the_way_is_a_status() -> None:
    """Item 2: J_v singular at an iterate: DEAD_POINT, and the iterate before; `step` and `at` raise."""
    mechanism, q = closed_mechanism("four_bar")
    loop: Any = mechanism.closures[0]
    robot = mechanism.robot
    rows = ConstraintSet(robot, [PointClosure(robot, loop.successor, loop.predecessor, name="pin")])
    coordinates = reduced.minimal_coordinates(rows, q, independent=["rocker"])
    start = robot.configuration({"coupler": 0.0}, start=q)
    done = coordinates.close(start)
    assert done.status is reduced.ReducedStatus.DEAD_POINT
    np.testing.assert_array_equal(done.q, start)
    with pytest.raises(reduced.DeadPointError, match="crank, coupler"):
        coordinates.step(start)
    stretched = assemble_position(rows, start, driven=["coupler"]).or_raise().q
    with pytest.raises(reduced.DeadPointError) as caught:
        coordinates.at(stretched)
    assert caught.value.rcond < 1e-12


def test_rows_that_were_redundant_where_they_were_judged_are_watched() -> None:
    """Item 1: a flat parallelogram has rank 1: elsewhere neither a closing nor a state passes for closed."""
    mechanism = mechanisms.four_bar(ground=0.4, crank=0.2, coupler=0.4, rocker=0.2, angle=0.6)
    q = mechanism.posture("closed")
    flat = mechanism.robot.space.integrate(q, -np.array([0.6, -0.6, 0.6]))
    coordinates = mechanism.minimal_coordinates(flat)
    assert coordinates.partition.independent.size == 2
    done = coordinates.close(mechanism.robot.configuration({"crank": 0.3}, start=flat))
    assert done.status is reduced.ReducedStatus.REDUNDANT_ROWS_OPEN
    with pytest.raises(reduced.RankError, match="not redundant") as caught:
        coordinates.at(q)
    assert set(caught.value.rows) <= set(coordinates.redundant)
    assert mechanism.minimal_coordinates(q).at(q).B.shape == (2, 1)


def of_callable(value: Any, jacobian: Any) -> tuple[reduced.MinimalCoordinates, Robot]:
    """One row on two sliders, y dependent."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
    model.addJoint(1, pin.JointModelPY(), pin.SE3.Identity(), "y")
    robot = Robot(model, "table")
    function = Function.from_callable(value, robot.space, Rn(1), jacobian=jacobian, name="row")
    rows = ConstraintSet(robot, [Implicit.zero(function, name="row")])
    return reduced.minimal_coordinates(rows, robot.neutral, independent=["x"]), robot


def test_a_function_without_value_on_the_way_is_a_status() -> None:
    """Item 2: UNDEFINED, with the iterates up to there, all finite."""

    def value(q: np.ndarray) -> np.ndarray:
        if q[1] > 1.0:
            raise UndefinedError("beyond the table")
        return np.array([q[1] - 2.0 * q[0]])

    coordinates, _ = of_callable(value, lambda q: np.array([[-2.0, 1.0]]))
    done = coordinates.close([1.0, 0.0])
    assert done.status is reduced.ReducedStatus.UNDEFINED
    assert done.iterations == 1
    assert done.residuals == (2.0, np.inf)
    assert done.worst == ""
    assert coordinates.close([0.25, 0.0]).q.tolist() == [0.25, 0.5]


def test_a_step_that_leads_nowhere_is_a_status() -> None:
    """Item 2: DIVERGED instead of NaN, whether the step or the residual cannot be computed with."""
    coordinates, _ = of_callable(
        lambda q: np.array([np.tanh(q[1]) - q[0]]), lambda q: np.array([[-1.0, 1.0 - np.tanh(q[1]) ** 2]])
    )
    done = coordinates.close([0.0, 9.0])
    assert done.status is reduced.ReducedStatus.DIVERGED
    assert np.isfinite(done.q).all()
    with pytest.raises(UndefinedError, match="longer than 1e6"):
        coordinates.step([0.0, 9.0])
    infinite, _ = of_callable(lambda q: np.array([q[1] - np.sinh(1e3 * q[0])]), lambda q: np.array([[0.0, 1.0]]))
    with np.errstate(over="ignore"):
        done = infinite.close([1.0, 0.0])
    assert done.status is reduced.ReducedStatus.DIVERGED
    assert np.isfinite(done.q).all()
    assert not np.isnan(done.residual)


@pytest.mark.parametrize("name", a_few(ALL, 7))
def test_far_starts_end_in_a_status_without_nan(name: str) -> None:
    """Item 2: whatever the start: finite iterates, a status that is true, the same again."""
    for seed in range(5):
        coordinates, start = started(name, size=1.0, seed=seed)
        done = coordinates.close(start)
        assert np.isfinite(done.iterates).all()
        closed = np.abs(coordinates.constraint_set.position_error(done.q)).max() <= 1e-6
        assert done.success <= closed
        assert coordinates.close(start).q.tobytes() == done.q.tobytes()


# Watched.


def failed() -> reduced.Closing:
    mechanism, q = closed_mechanism("four_bar")
    return mechanism.minimal_coordinates(q).close(
        mechanism.robot.configuration({"crank": 2.0}, start=q), max_iterations=7
    )


def test_a_failed_closing_can_be_watched(tmp_path: Path) -> None:
    """Item 8: the picture of assembly: some iterates with their residuals, the status, the worst constraint."""
    pytest.importorskip("matplotlib")
    done = failed()
    figure = done.plot_iterates(tmp_path / "way.png", poses=4)
    assert (tmp_path / "way.png").stat().st_size > 5000
    titles = [axes.get_title() for axes in figure.axes]
    assert [title.split(":")[0] for title in titles] == ["0", "2", "5", "7"]
    assert titles[-1] == f"7: {done.residual:.1e}"
    assert figure.texts[0].get_text() == f"MAX_ITERATIONS, worst: {done.worst}"
    mechanism, q = closed_mechanism("four_bar")
    solved = mechanism.minimal_coordinates(q).close(mechanism.robot.configuration({"crank": 1.3}, start=q))
    assert solved.plot_iterates().texts[0].get_text() == "CONVERGED"

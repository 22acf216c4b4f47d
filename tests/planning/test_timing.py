"""Trajectories against plain pinocchio, finite differences, and toppra's own splines of the same samples."""

from __future__ import annotations

import functools
import logging
import pickle
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from planning.judge import toppras_duration
from robots import needs_robot_data, panda
from scenes import recorded_graph

from constraints import (
    Affine,
    Base,
    Comparison,
    Function,
    Implicit,
    Options,
    Position,
    Problem,
    Projector,
    Robot,
    Rotation,
    linear_coupling,
    locked_joint,
)
from constraints.errors import (
    DtypeError,
    FailedError,
    MissingExtraError,
    NotFiniteError,
    OptionError,
    PathError,
    SizeError,
    UnknownJointError,
    WrongObjectError,
)
from constraints.manipulation import Path, interpolate
from constraints.models import sample_arm
from constraints.models.mechanisms import four_bar
from constraints.paths.moving_rhs import MovingRightHandSide
from constraints.paths.path import Piece
from constraints.planning import Plan, PlanningStatus, Trajectory, timed, walk
from constraints.planning.trajectories import timing
from constraints.planning.trajectories.group_spline import GroupSpline
from constraints.planning.trajectories.time_law import TangentLimits, TimeLaw
from constraints.planning.trajectories.trajectory import regular_times
from liegroups import SE3, Rn

ARM = sample_arm()
WITHIN = 1.01
"""Limits are kept up to this factor at 1000 times a second."""


def kept(trajectory: Trajectory, velocity: Any, acceleration: Any, rate: float = 1000.0) -> tuple[float, float]:
    """Largest parts of the limits that are used; velocities and accelerations are those of the configurations.

    Differences over one sample: v is the mean of both ends up to a quarter of what accelerations may jump by.
    """
    samples = trajectory.sample(rate)
    space, dt = trajectory.space, np.diff(samples.times)[:, None]
    limits = np.broadcast_to(velocity, space.nv), np.broadcast_to(acceleration, space.nv)
    used = np.abs(samples.v) / limits[0], np.abs(samples.a) / limits[1]
    rates = space.difference(samples.q[:-1], samples.q[1:]) / dt
    off = np.abs(rates - 0.5 * (samples.v[1:] + samples.v[:-1]))
    assert (off <= 0.6 * limits[1] * dt + 1e-5).all()
    slopes = np.diff(samples.v, axis=0) / dt
    jumps = np.abs(slopes - 0.5 * (samples.a[1:] + samples.a[:-1])) / limits[1]
    assert np.median(jumps.max(axis=1)) < 0.02  # accelerations jump at a few times only
    bends = np.abs(slopes) / limits[1]
    regular = dt[:, 0] > 0.5 / rate  # the last interval may be as short as rounding
    return float(used[0].max()), max(float(used[1].max()), float(bends[regular].max()))


def height_of(q: np.ndarray) -> float:
    """Of the tool of the arm, by pinocchio [m]."""
    model, data, frame = ARM.model, ARM.model.createData(), ARM.frame("tool")
    pin.forwardKinematics(model, data, q)
    return float((data.oMi[frame.joint] * frame.placement).translation[2])


def speed_limits(robot: Any) -> np.ndarray:
    """Of its model [rad/s, m/s]."""
    return np.array(robot.model.upperVelocityLimit)


def path_between(problem: Problem, seed: int) -> Path:
    """A path between two random configurations."""
    rng, projector = np.random.default_rng(seed), Projector(problem)
    for _ in range(20):
        q0, q1 = (projector.project(problem.robot.random(rng)) for _ in range(2))  # pyright: ignore[reportOptionalMemberAccess]
        if q0.success and q1.success and (found := interpolate(problem, q0.q, q1.q)).success:
            return found.or_raise()
    raise AssertionError("no path")


def flat_problem() -> Problem:
    """The tool of the arm stays at one height."""
    tool = Implicit.equal(Position(ARM, "tool"), [0.0, 0.0, 0.3], mask=[False, False, True], name="height")
    return Problem(ARM, [tool])


@functools.cache
def flat_path() -> Path:
    return path_between(flat_problem(), 11)


@functools.cache
def cornered_path(degrees: float) -> Path:
    """Three way-points of the arm on its plane: in the middle it turns by an angle."""
    problem, way = flat_problem(), flat_path()
    middle = way(0.5)
    ahead = ARM.space.difference(way(0.45), middle)
    ahead /= np.linalg.norm(ahead)
    aside = problem.tangent_basis(middle) @ np.ones(6)
    aside -= ahead * (ahead @ aside)
    turned = np.cos(np.radians(degrees)) * ahead + np.sin(np.radians(degrees)) * aside / np.linalg.norm(aside)
    last = Projector(problem).project(ARM.space.integrate(middle, turned)).or_raise().q
    return Path.through(problem, [way.start, middle, last])


@needs_robot_data
@pytest.mark.parametrize("seed", range(3))
def test_a_panda_with_its_hand_upright(seed: int) -> None:
    """With the limits of its model; the hand is looked at by plain pinocchio at 1 kHz."""
    robot = panda()
    hand = Implicit.equal(Rotation(robot, "panda_hand"), [1.0, 0.0, 0.0, 0.0], mask=[True, True, False], name="up")
    path = path_between(Problem(robot, [hand]), seed)
    trajectory = timed(path, None, 5.0)
    limits = speed_limits(robot)
    velocity, acceleration = kept(trajectory, limits, 5.0)
    assert velocity <= WITHIN
    assert 0.98 <= max(velocity, acceleration)
    assert acceleration <= WITHIN
    assert trajectory.duration <= 1.1 * toppras_duration(trajectory, limits, 5.0)
    model, data = robot.model, robot.model.createData()
    frame = robot.frame("panda_hand")
    tilts = []
    for q in trajectory.sample(1000.0).q:
        pin.forwardKinematics(model, data, q)
        axis = (data.oMi[frame.joint] * frame.placement).rotation[:, 2]
        tilts.append(np.hypot(axis[0], axis[1]))
    assert max(tilts) < 1e-5  # the path itself: up to 1e-4
    assert trajectory.max_error() == pytest.approx(max(tilts), abs=1e-6)
    for q, end in ((path.start, 0.0), (path.end, trajectory.duration)):
        state = trajectory(end)
        assert np.abs(robot.space.difference(q, state.q)).max() < 1e-3
        assert np.abs(state.v).max() < 1e-9


def test_a_closed_chain_stays_closed() -> None:
    """The crank of a four-bar turns by 2 rad: its loop is closed by the cosines and sines of its angles."""
    mechanism = four_bar()
    problem, points = mechanism.problem(), [mechanism.posture("closed")]
    for angle in (1.5, 2.0, 2.5, 3.0):
        locked = mechanism.problem([locked_joint(mechanism.robot, "crank", angle)])
        points.append(Projector(locked, Options.local()).project(points[-1]).or_raise().q)
    trajectory = timed(Path.through(problem, points), 2.0, [3.0, 4.0, 5.0])
    assert max(kept(trajectory, 2.0, [3.0, 4.0, 5.0])) <= WITHIN
    assert trajectory.duration <= 1.1 * toppras_duration(trajectory, 2.0, [3.0, 4.0, 5.0])
    one, two, three = trajectory.sample(1000.0).q.T
    x = 0.15 * np.cos(one) + 0.35 * np.cos(one + two) - 0.3 * np.cos(three) - 0.4
    y = 0.15 * np.sin(one) + 0.35 * np.sin(one + two) - 0.3 * np.sin(three)
    assert np.hypot(x, y).max() < 1e-6
    assert one[-1] == pytest.approx(3.0, abs=1e-3)


@functools.cache
def free_body_path() -> Path:
    """A box with one corner at one height, turned by 8 rad in several pieces."""
    robot = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER)
    robot = robot.with_frame("corner", "body", [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0])
    corner = Implicit.equal(Position(robot, "corner"), [0.0, 0.0, 0.5], mask=[False, False, True], name="corner")
    problem, axis = Problem(robot, [corner]), np.array([0.6, 0.0, 0.8])
    starts = [np.array([0.1 * t, 0.0, 0.0, *np.sin(t / 2.0) * axis, np.cos(t / 2.0)]) for t in range(0, 9, 2)]
    projector = Projector(problem)
    return Path.through(problem, [projector.project(q).or_raise().q for q in starts], max_length=0.1)


def test_a_free_body_turns_by_more_than_half_a_turn() -> None:
    """Limits are those in the frame of the body."""
    path = free_body_path()
    velocity, acceleration = np.array([0.3, 0.3, 0.3, 1.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
    trajectory = timed(path, velocity, acceleration)
    assert len(trajectory.parts) == 1
    used = kept(trajectory, velocity, acceleration)
    assert max(used) <= WITHIN
    heights = [(pin.XYZQUATToSE3(q) * np.array([0.1, 0.2, 0.3]))[2] for q in trajectory.sample(1000.0).q]
    assert np.abs(np.array(heights) - 0.5).max() < 1e-5
    turned = sum(np.linalg.norm(v[3:]) for v in trajectory.sample(1000.0).v) / 1000.0
    assert turned == pytest.approx(8.0, rel=0.05)


def test_what_depends_on_another_joint_follows_it() -> None:
    """An explicit output moves with its input, in positions, velocities and accelerations."""
    problem = Problem(ARM, [*flat_problem().constraints.owners, linear_coupling(ARM, "elbow", {"shoulder_yaw": -0.5})])
    trajectory = timed(path_between(problem, 4), 1.0, 4.0)
    elbow, yaw = (ARM.space.factors[ARM.joint_names.index(name)].v.start for name in ("elbow", "shoulder_yaw"))
    samples = trajectory.sample(1000.0)
    assert np.ptp(samples.q[:, yaw]) > 0.1
    assert samples.q[:, elbow] == pytest.approx(-0.5 * samples.q[:, yaw], abs=1e-7)
    assert samples.v[:, elbow] == pytest.approx(-0.5 * samples.v[:, yaw], abs=1e-5)
    assert samples.a[:, elbow] == pytest.approx(-0.5 * samples.a[:, yaw], abs=1e-3)


@pytest.mark.parametrize("degrees", [30.0, 60.0])
def test_corners_are_rounded_on_the_constraints_or_stopped_at(degrees: float) -> None:
    path = cornered_path(degrees)
    middle = path.pieces[1].samples[0]
    rounded, stopping = timed(path, 1.0, 4.0), timed(path, 1.0, 4.0, stop_at_corners=True)
    assert (len(rounded.parts), len(stopping.parts)) == (1, 2)
    assert rounded.duration < stopping.duration
    looked = np.concatenate([piece.at_times(np.linspace(0.0, 1.0, 400)) for piece in path.pieces])
    for trajectory in (rounded, stopping):
        assert max(kept(trajectory, 1.0, 4.0)) <= WITHIN
        assert trajectory.max_error() < 1e-5
        assert trajectory.duration <= 1.1 * toppras_duration(trajectory, 1.0, 4.0)
        assert trajectory.events == ()
        off = [np.abs(looked - q).max(axis=1).min() for q in trajectory.sample(200.0).q]
        assert max(off) < 0.01  # samples are up to 0.1 rad apart
    distances = np.abs(rounded.sample(1000.0).q - middle).max(axis=1)
    assert np.abs(rounded.sample(1000.0).v[distances.argmin()]).max() > 0.1
    corner = stopping(float(stopping.stops[1]))
    assert np.abs(corner.v).max() < 1e-9
    assert np.abs(corner.q - middle).max() < 1e-3


@pytest.mark.parametrize("seed", [1, 2])
def test_joints_that_come_to_their_bounds_stay_within(seed: int) -> None:
    """A path along the bounds of two joints, with corners where it comes to them and leaves."""
    rng, (low, high) = np.random.default_rng(seed), (ARM.bounds.lower, ARM.bounds.upper)
    Q = [ARM.random(rng)]
    for pressed in ([1, 3], [1, 3], [3], []):
        Q.append(np.clip(Q[-1] + 0.5 * rng.standard_normal(7), low, high))
        Q[-1][pressed] = high[pressed]
    anywhere = Problem(ARM, [Implicit.above(Position(ARM, "tool"), -5.0, name="near")])
    trajectory = timed(Path.through(anywhere, np.array(Q)), 1.5, 5.0)
    q = trajectory.sample(1000.0).q
    assert max((low - q).max(), (q - high).max()) < 1e-12
    assert max(kept(trajectory, 1.5, 5.0)) <= WITHIN


def test_where_a_path_turns_back_it_stops() -> None:
    """Between pieces, and at a sample in the middle of one."""
    there = flat_path()
    forth_and_back = there + there.reversed()
    one = timed(there, 1.0, 4.0)
    piece = there.pieces[0]
    rows = np.concatenate([piece.samples, piece.samples[-2::-1]])
    single = Path((replace(piece, samples=rows, times=np.linspace(0.0, 1.0, len(rows))),))
    for path in (forth_and_back, single):
        both = timed(path, 1.0, 4.0)
        assert both.duration == pytest.approx(2.0 * one.duration, rel=0.01)
        assert both.stops == pytest.approx([0.0, one.duration, 2.0 * one.duration], rel=0.01)
        assert max(kept(both, 1.0, 4.0)) <= WITHIN
        assert np.abs(both(0.5 * both.duration).q - there.end).max() < 1e-3


def test_without_a_corner_it_stops_where_problems_differ_or_right_hand_sides_are_a_function() -> None:
    """One piece as two: of one problem it is run through; another problem with the same constraints is an event."""
    piece, other = flat_path().pieces[0], flat_problem()
    n = len(piece.samples) // 2
    both = piece.samples[: n + 1], piece.samples[n:]
    halves = [replace(piece, samples=Q, times=np.linspace(0.0, 1.0, len(Q))) for Q in both]
    of_other = replace(halves[1], problem=other, sides=MovingRightHandSide(other.rhs), projector=None)
    asked = MovingRightHandSide(function=lambda _: piece.problem.rhs)
    by_function = [replace(half, sides=asked) for half in halves]
    for path, stops, events in ((halves, 2, 0), ([halves[0], of_other], 3, 1), (by_function, 3, 0)):
        found = timed(Path(tuple(path)), 1.0, 4.0)
        assert (len(found.stops), len(found.events)) == (stops, events)
        assert found.max_error() < 1e-5
        for event in found.events:
            assert (event.name, event.begin, event.end) == ("other right-hand sides", (), ())
            assert np.abs(found(event.time).q - piece.samples[n]).max() < 1e-3


@functools.cache
def grasped() -> tuple[Plan, Trajectory]:
    """A box is taken from a table and put back; the limits are those of the arm, not of the box."""
    graph = recorded_graph()
    rng = np.random.default_rng(2)
    start = graph.sample("free", rng).or_raise().q
    steps = [t for t in graph.transitions if ">" in t.name or "<" in t.name]
    walked = walk(graph, start, steps, rng=rng)
    box = "box0/root_joint"
    acceleration = dict.fromkeys(graph.robot.joint_names, 10.0) | {box: 1000.0}
    return walked, timed(walked, {box: 100.0}, acceleration)


@needs_robot_data
def test_a_walk_rests_where_grasps_change() -> None:
    walked, trajectory = grasped()
    path = walked.or_raise()
    changes = [
        i for i in range(1, len(path.pieces)) if path.pieces[i].problem is not path.pieces[i - 1].problem
    ]  # by piece
    assert [event.name for event in trajectory.events] == [str(walked.on[i]) for i in changes]
    for event, i in zip(trajectory.events, changes, strict=True):
        state = trajectory(event.time)
        assert np.abs(state.v).max() < 1e-9
        assert np.abs(trajectory.space.difference(path.pieces[i].samples[0], state.q)).max() < 2e-3
    taken = [event for event in trajectory.events if any("grasps" in name for name in event.begin)]
    given = [event for event in trajectory.events if any("grasps" in name for name in event.end)]
    assert len(taken) == len(given) == 1
    assert taken[0].time < given[0].time
    velocity = np.concatenate([speed_limits(recorded_graph().robot)[:6], np.full(6, 100.0)])
    acceleration = np.array([10.0] * 6 + [1000.0] * 6)
    assert max(kept(trajectory, velocity, acceleration)) <= WITHIN
    assert trajectory.duration <= 1.1 * toppras_duration(trajectory, velocity, acceleration, slice(0, 6))
    assert trajectory.max_error() <= 1e-6


@needs_robot_data
def test_a_held_box_moves_with_the_gripper() -> None:
    """By plain pinocchio: still on the table before and after, at one pose from the gripper in between."""
    _, trajectory = grasped()
    graph = recorded_graph()
    taken, given = (next(e for e in trajectory.events if any("grasps" in n for n in names(e))) for names in (
        lambda e: e.begin, lambda e: e.end))  # fmt: skip
    model: Any = graph.robot.model
    data = model.createData()
    wrist, box = (model.getJointId(name) for name in ("r0/wrist_3_joint", "box0/root_joint"))
    held, still = [], []
    samples = trajectory.sample(200.0)
    for t, q in zip(samples.times, samples.q, strict=True):
        pin.forwardKinematics(model, data, q)
        if taken.time <= t <= given.time:
            held.append(data.oMi[wrist].actInv(data.oMi[box]))
        elif t < taken.time:
            still.append(data.oMi[box])
    for poses in (held, still):
        assert len(poses) > 50
        assert max(np.abs(pin.log6(poses[0].actInv(pose)).vector).max() for pose in poses) < 1e-6


def test_right_hand_sides_may_move() -> None:
    """The tool is lifted from 0.3 m to 0.4 m, evenly by the time of the path: plain pinocchio sees it between them."""
    height = Implicit(Position(ARM, "tool"), Comparison.EQUALITY, [0.0, 0.0, 0.3], [False, False, True], name="height")
    problem = Problem(ARM, [height])
    low, high = problem.rhs, problem.rhs.replace("height", [0.0, 0.0, 0.4])
    q0 = flat_path().start
    q1 = Projector(problem).project(q0, high).or_raise().q
    trajectory = timed(interpolate(problem, q0, q1, (low, high)).or_raise(), 1.0, 4.0)
    assert max(kept(trajectory, 1.0, 4.0)) <= WITHIN
    assert trajectory.max_error() < 1e-5
    heights = np.array([height_of(q) for q in trajectory.sample(1000.0).q])
    assert heights[[0, -1]] == pytest.approx([0.3, 0.4], abs=1e-4)
    assert (np.diff(heights) > -1e-6).all()


def test_no_motion_takes_no_time() -> None:
    q = flat_path().start
    trajectory = timed(interpolate(flat_path().pieces[0].problem, q, q).or_raise(), 1.0, 4.0)
    assert (trajectory.duration, trajectory.slowdown) == (0.0, 1.0)
    state = trajectory(0.0)
    assert np.abs(state.q - q).max() < 1e-3
    assert not state.v.any()
    assert not state.a.any()
    samples = trajectory.sample(1000.0)
    assert samples.times.tolist() == [0.0]
    assert trajectory.max_error() <= 1e-9
    assert len(trajectory.as_joint_trajectory().points) == 1


def test_a_tiny_motion_keeps_its_limits() -> None:
    problem, q0 = flat_path().pieces[0].problem, flat_path().start
    for size in (1e-3, 1e-6):
        q1 = Projector(problem).project(ARM.space.integrate(q0, size * np.ones(7))).or_raise().q
        trajectory = timed(interpolate(problem, q0, q1).or_raise(), 1.0, 4.0)
        assert 0.0 < trajectory.duration < 0.5
        assert max(kept(trajectory, 1.0, 4.0, 1e5)) <= WITHIN


def test_limits_by_name_replace_those_of_the_model() -> None:
    path = flat_path()
    robot = ARM
    everywhere = dict.fromkeys(robot.joint_names, 1.0)
    assert timed(path, everywhere, everywhere).duration == timed(path, 1.0, np.ones(7)).duration
    slow = timed(path, everywhere | {"elbow": 0.05}, 4.0)
    samples = slow.sample(1000.0)
    elbow = robot.joint_names.index("elbow")
    assert 0.045 < np.abs(samples.v[:, elbow]).max() <= WITHIN * 0.05


INFINITE = np.array([1.0, 1.0, np.inf, 1.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("velocity", "acceleration", "kind", "said"),
    [
        (np.ones(6), 1.0, SizeError, "velocity limits"),
        (1.0, np.ones(8), SizeError, "acceleration limits"),
        ([1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0], 1.0, OptionError, "velocity limits of a trajectory: expected positive"),
        (1.0, -1.0, OptionError, "acceleration limits of a trajectory: expected positive"),
        (INFINITE, 1.0, NotFiniteError, "velocity limits"),
        (1.0, np.inf, NotFiniteError, "acceleration limits"),
        (1.0, np.nan, NotFiniteError, "acceleration limits"),
        (np.full(7, np.nan), 1.0, NotFiniteError, "velocity limits"),
        ("fast", 1.0, DtypeError, "velocity limits"),
        (1.0, {"elbow": 1.0}, OptionError, "acceleration={'"),
        ({"elbw": 1.0}, 1.0, UnknownJointError, "elbow"),
        ({"elbow": [1.0, 2.0]}, 1.0, SizeError, "elbow"),
        (dict.fromkeys(ARM.joint_names, 1.0) | {"elbow": 0.0}, 1.0, OptionError, "elbow 0"),
    ],
)
def test_wrong_limits_are_named(velocity: Any, acceleration: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        timed(flat_path(), velocity, acceleration)


def test_joints_without_a_limit_in_their_model_are_named() -> None:
    path = free_body_path()
    for velocity in (None, {}):
        with pytest.raises(OptionError, match=r"none for root_joint; give 6 numbers.* velocity={'root_joint': 1\.0}"):
            timed(path, velocity, 1.0)
    assert timed(path, {"root_joint": [0.3, 0.3, 0.3, 1.0, 1.0, 2.0]}, 2.0).duration > 0.0
    with pytest.raises(OptionError, match=r"got root_joint\[2\] 0, root_joint\[4\] -1;"):
        timed(path, [1.0, 1.0, 0.0, 1.0, -1.0, 1.0], 1.0)


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(WrongObjectError, match="path to be timed"):
        timed(flat_path().samples, 1.0, 1.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="stop_at_corners"):
        timed(flat_path(), 1.0, 1.0, stop_at_corners=1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FailedError):
        timed(Plan(None, PlanningStatus.TIME), 1.0, 1.0)
    with pytest.raises(PathError, match="piece 1 must start where piece 0 ends"):
        timed(Path((flat_path().pieces[0], flat_path().pieces[0])), 1.0, 1.0)


def test_without_toppra_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toppra", None)
    with pytest.raises(MissingExtraError, match="'trajectory'"):
        timed(flat_path(), 1.0, 1.0)


def test_a_curve_that_leaves_the_constraints_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so few points that the curve is off the plane between them."""
    monkeypatch.setattr(timing, "FEWEST", 3)
    monkeypatch.setattr(timing, "PER_SAMPLE", 1)
    monkeypatch.setattr(timing, "MOST_PER_SAMPLE", 1)
    piece = flat_path().pieces[0]
    few = replace(piece, samples=piece.samples[[0, -1]], times=np.array([0.0, 1.0]))
    with pytest.raises(PathError, match="would leave the constraints by"):
        timed(Path((few,)), 1.0, 4.0)


def test_what_time_is_stretched_by_is_said(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """With few knots toppra's speed exceeds the limits: time is stretched, and the log says by how much."""
    assert 1.0 <= timed(flat_path(), 1.0, 4.0).slowdown <= 1.01
    monkeypatch.setattr(timing, "ROUNDS", 0)
    with caplog.at_level(logging.INFO, "constraints.planning"):
        slowed = timed(cornered_path(60.0), 1.0, 4.0)
    assert slowed.slowdown > 1.005
    assert f"slower by a factor of up to {slowed.slowdown:.3g}" in caplog.text
    assert max(kept(slowed, 1.0, 4.0)) <= WITHIN


def test_where_exact_points_lie_far_off_samples_are_kept() -> None:
    """Where q_0^2 = 5e-5: exact points are 7e-3 to either side of samples that are all within the threshold."""
    square = Function.from_callable(
        lambda q: q[:1] ** 2 - 5e-5, Rn(2), Rn(1), lambda q: [[2.0 * q[0], 0.0]], name="square"
    )
    problem = Problem(Rn(2), [Implicit.zero(square)])
    beside = np.array([1e-3, -1e-3, 1e-3, 1.15e-2, 1.15e-2, 2e-3, -1e-3, 1e-3])
    samples, times = np.column_stack([beside, 0.05 * np.arange(8.0)]), np.linspace(0.0, 1.0, 8)
    piece = Piece(problem, MovingRightHandSide(problem.rhs), samples, times, Options.local())
    trajectory = timed(Path((piece,)), 1.0, 4.0)
    q = trajectory.sample(2000.0).q
    assert trajectory.max_error() <= piece.options.threshold
    assert max(float(np.linalg.norm(q - each, axis=1).min()) for each in samples) < 5e-4
    assert max(kept(trajectory, 1.0, 4.0)) <= WITHIN


def test_samples_that_are_there_twice_are_one() -> None:
    """Each sample again, 1e-9 rad beside it, also at the ends: the motion is the same."""
    piece, plain = flat_path().pieces[0], timed(flat_path(), 1.0, 4.0)
    rows = np.repeat(piece.samples, 2, axis=0)
    rows[1:-1:2, 0] += 1e-9
    times = np.repeat(piece.times, 2)
    times[1::2] += 1e-7
    twice = timed(Path((replace(piece, samples=rows, times=times / times[-1]),)), 1.0, 4.0)
    assert twice.duration == pytest.approx(plain.duration, rel=1e-3)
    assert len(twice.parts) == 1
    assert np.abs(twice(0.5 * twice.duration).q - plain(0.5 * plain.duration).q).max() < 1e-3


def test_a_law_of_time_has_constant_accelerations_between_knots() -> None:
    """From rest to 1 at one half and back to rest: two seconds; half as fast it takes twice as long."""
    law = TimeLaw.of_speeds(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 0.0]))
    assert law.times.tolist() == [0.0, 1.0, 2.0]
    times = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    s, speed, bend = law.at(times)
    np.testing.assert_allclose(s, [0.0, 0.125, 0.5, 0.875, 1.0], atol=1e-15)
    np.testing.assert_allclose(speed, [0.0, 0.5, 1.0, 0.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(bend, [1.0, 1.0, -1.0, -1.0, -1.0], atol=1e-15)
    slow = law.stretched(2.0)
    assert slow.duration == 4.0
    for one, other, factor in zip(slow.at(2.0 * times), law.at(times), (1.0, 2.0, 4.0), strict=True):
        np.testing.assert_allclose(factor * one, other, atol=1e-15)


@pytest.mark.parametrize("second", [1.0, 1e-3, 5.0])
@pytest.mark.parametrize(("way", "duration"), [(2.0, 2.25), (0.16, 0.4)])
def test_a_straight_line_is_gone_through_in_the_least_time(way: float, duration: float, second: float) -> None:
    """By 1 m/s and 4 m/s^2 in other units of time: a trapeze of velocities, or a triangle where the way is short."""
    ground = Problem(Rn(2), [Implicit.zero(Affine([[0.0, 1.0]], [0.0], Rn(2)))])
    path = interpolate(ground, [0.0, 0.0], [way, 0.0]).or_raise()
    trajectory = timed(path, 1.0 / second, 4.0 / second**2)
    assert trajectory.duration == pytest.approx(duration * second, rel=0.01)
    ramp = min(0.25, 0.5 * duration)
    for part in (0.5, 1.0):
        state = trajectory(part * ramp * second)
        assert state.v[0] * second == pytest.approx(4.0 * part * ramp, rel=0.03)
        assert state.q[0] == pytest.approx(2.0 * (part * ramp) ** 2, rel=0.06)
    assert trajectory(0.5 * trajectory.duration).q[0] == pytest.approx(0.5 * way, rel=0.01)


def test_intervals_that_stay_are_not_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan of 25 pieces took twice as long; what is kept is, bit for bit, what the curve gives."""
    space, rng = SE3 * Rn(2), np.random.default_rng(4)
    points = space.integrate(np.tile(space.neutral, (9, 1)), 0.3 * rng.standard_normal((9, space.nv)))
    curve = GroupSpline.through(space, points, np.linspace(0.0, 1.0, 9), 5)
    asked, rates = list[int](), GroupSpline.rates
    monkeypatch.setattr(GroupSpline, "rates", lambda self, s: asked.append(len(s)) or rates(self, s))
    looks, knots = timing._Looks(curve), np.linspace(0.0, 1.0, 21)
    looks.at(knots)
    halved = np.sort(np.concatenate([knots, 0.5 * (knots[3:5] + knots[4:6])]))
    for each in (halved, halved):
        found, fresh = looks.at(each), timing._Looks(curve).at(each)
        assert all(np.array_equal(a, b) for a, b in zip(found, fresh, strict=True))
    assert asked == [9 * n for n in (20, 4, 22, 22)]


def test_limits_say_how_much_slower_a_motion_must_be() -> None:
    """Velocities go with the factor of time, accelerations with its square."""
    limits = TangentLimits(np.array([1.0, 2.0]), np.array([4.0, 1.0]))
    v = np.array([[0.5, 0.0], [0.0, -6.0], [1.0, 2.0], [0.0, 0.0]])
    a = np.array([[0.0, 4.0], [4.0, 0.0], [-4.0, 1.0], [-1.0, 0.0]])
    np.testing.assert_allclose(limits.slowdowns(v, a), [2.0, 3.0, 1.0, 0.5])


def test_what_moves_points_onto_stops_fades_smoothly() -> None:
    """From 1 at a stop to 0 half-way; slope and bend vanish at both ends, and it falls between them."""
    x, h = np.linspace(0.0, 1.0, 1001), 1e-4
    y = timing._fading(x)  # pyright: ignore[reportPrivateUsage]
    assert y[0] == 1.0
    assert not y[500:].any()
    assert (np.diff(y[:501]) < 0.0).all()
    assert timing._fading(np.array([0.25])) == pytest.approx(0.5)  # pyright: ignore[reportPrivateUsage]
    for end in (h, 0.5 - h):
        nearby = timing._fading(np.array([end - h, end, end + h]))  # pyright: ignore[reportPrivateUsage]
        assert np.abs(np.diff(nearby)).max() < 1e-9
    assert timing._fading(np.array([0.25 - h, 0.25 + h])) @ [-1.0, 1.0] / (2 * h) == pytest.approx(-3.75)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("duration", "rate", "wanted"),
    [
        (0.0, 10.0, [0.0]),
        (0.3, 10.0, [0.0, 0.1, 0.2, 0.3]),
        (0.25, 10.0, [0.0, 0.1, 0.2, 0.25]),
        (0.05, 10.0, [0.0, 0.05]),
    ],
)
def test_regular_times_end_with_the_duration_once(duration: float, rate: float, wanted: list[float]) -> None:
    times = regular_times(duration, rate)
    assert times == pytest.approx(wanted)
    assert times[-1] == duration


def test_a_trajectory_is_pickled() -> None:
    trajectory = timed(flat_path(), 1.0, 4.0)
    again = pickle.loads(pickle.dumps(trajectory))
    assert np.array_equal(again.sample(50.0).q, trajectory.sample(50.0).q)
    assert again.max_error() == trajectory.max_error()

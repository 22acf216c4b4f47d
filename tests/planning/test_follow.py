"""Paths along given right-hand sides, judged by closed forms of planar arms, and by plain pinocchio and coal."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few
from planning.judge import faults, generator
from planning.test_connect import POST

from constraints import Bounds, Function, Implicit, Options, Pose, Position, Problem, Projector, Robot
from constraints.collisions import Collision, CollisionModel, Shape
from constraints.errors import (
    DtypeError,
    FailedError,
    NotFiniteError,
    OptionError,
    SizeError,
    SpaceMismatchError,
    WrongObjectError,
)
from constraints.models import sample_arm
from constraints.planning import Limits, PlanningStatus, follow, timed
from constraints.planning.edges import CHECKED_ANGLE
from constraints.planning.following import search
from constraints.planning.following.follow import MOST_STARTS, random_starts
from constraints.planning.following.nodes import FollowedNodes
from constraints.planning.following.targets import Targets
from constraints.planning.following.tracker import Stopped, Tracker
from constraints.planning.leaf import LeafOfProblem
from constraints.planning.limits import Clock
from liegroups import R3xSO3, Rn

LENGTHS = (0.5, 0.4, 0.3)
FAR = [9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def planar(lengths: tuple[float, ...], limit: float = np.pi) -> Robot:
    """An arm in the plane z = 0, its links of these lengths."""
    model: Any = pin.Model()
    model.name = "planar"
    parent, at = 0, pin.SE3.Identity()
    for i, length in enumerate(lengths, start=1):
        bounds = np.array([100.0]), np.array([10.0]), np.array([-limit]), np.array([limit])
        parent = model.addJoint(parent, pin.JointModelRZ(), at, f"j{i}", *bounds)
        middle = pin.SE3(np.eye(3), np.array([0.5 * length, 0.0, 0.0]))
        model.addFrame(pin.Frame(f"link{i}", parent, 0, middle, pin.FrameType.OP_FRAME))
        at = pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))
    model.addFrame(pin.Frame("tip", parent, 0, at, pin.FrameType.OP_FRAME))
    return Robot(model)


def tip_of(robot: Robot) -> Problem:
    return Problem(robot, [Implicit.equal(Position(robot, "tip"), mask=[1, 1, 0], name="tip")])


def tip_at(lengths: tuple[float, ...], q: np.ndarray) -> np.ndarray:
    """Closed form."""
    angles = np.cumsum(q)
    return np.array([np.dot(lengths, np.cos(angles)), np.dot(lengths, np.sin(angles))])


def elbow_arm(limit: float = np.pi) -> Problem:
    return tip_of(planar((0.5, 0.4), limit))


TWO = elbow_arm()
"""Reaches from 0.1 m to 0.9 m, in two postures."""


# What is found.


def test_a_circle_with_the_axis_of_the_tool_free() -> None:
    arm = sample_arm()
    tool = Implicit.equal(Pose(arm, "tool", outputs=R3xSO3), mask=[1, 1, 1, 1, 1, 0], name="tool")
    problem, tip = Problem(arm, [tool]), Shape("tip", "Sphere", (0.03,), "tool")
    model = CollisionModel(arm, [Shape("table", "Box", (2.0, 2.0, 0.1), placement=[0, 0, 0.2, 0, 0, 0, 1]), tip])

    def circle(s: float) -> list[float]:
        return [0.5 + 0.1 * np.cos(2 * np.pi * s), 0.1 * np.sin(2 * np.pi * s), 0.35, 0.0, 1.0, 0.0, 0.0]

    kinematics: Any = arm.model
    data = kinematics.createData()

    def placed(q: np.ndarray) -> Any:
        pin.framesForwardKinematics(kinematics, data, q)
        return data.oMf[kinematics.getFrameId("tool")]

    def error(q: np.ndarray) -> float:
        """Off the circle, at whatever place; and off the axis."""
        there = placed(q)
        x, y, z = there.translation - [0.5, 0.0, 0.35]
        return float(np.linalg.norm([np.hypot(x, y) - 0.1, z, *(there.rotation[:, 2] + [0.0, 0.0, 1.0])]))

    found = follow(problem, circle, rng=generator(), collisions=model)
    path = found.or_raise()
    assert found.status is PlanningStatus.FOUND
    assert found.reached == 1.0
    assert found.rows_reached is None
    assert found.reason == ""
    assert faults(path, arm.model, model.checker.geometry, error, (path.start, path.end)) == []
    for t in np.linspace(0.0, 1.0, 301):
        assert np.abs(placed(path(t)).translation - circle(t)[:3]).max() <= 1e-4
    assert [held.name for held in path.held()] == ["tool"]
    assert "held: tool" in found.describe()


def test_a_path_gets_times() -> None:
    pytest.importorskip("toppra")
    path = follow(TWO, lambda s: [0.5, -0.3 + 0.6 * s, 0.0], rng=generator()).or_raise()
    motion = timed(path, 1.0, 2.0)
    for t in np.linspace(0.0, motion.duration, 201):
        assert abs(tip_at((0.5, 0.4), motion(t).q)[0] - 0.5) <= 1e-4


def test_rows_and_a_function_give_the_same_and_rows_are_samples() -> None:
    rows = np.array([[0.5, y, 0.0] for y in np.linspace(-0.3, 0.3, 7)])
    start = Projector(TWO, Options(threshold=1e-9)).project([-1.0, 1.0], rows[0]).or_raise().q
    by_rows = follow(TWO, rows, start, rng=generator())
    by_function = follow(TWO, lambda s: [0.5, -0.3 + 0.6 * s, 0.0], start, rng=generator())
    listed = follow(TWO, [TWO.rhs.with_valid(row) for row in rows], start, rng=generator())
    assert by_rows.rows_reached == 7
    assert np.array_equal(listed.or_raise().samples, by_rows.or_raise().samples)
    for s in np.linspace(0.0, 1.0, 50):
        assert np.abs(by_rows.or_raise()(s) - by_function.or_raise()(s)).max() < 1e-3
    path = by_rows.or_raise()
    for s, row in zip(np.linspace(0.0, 1.0, 7), rows, strict=True):
        (at,) = np.flatnonzero(path.times == s)
        assert np.abs(tip_at((0.5, 0.4), path.samples[at]) - row[:2]).max() <= 5e-5


def test_a_corner_in_rows_is_kept() -> None:
    rows = np.array([[0.4, 0.0, 0.0], [0.6, 0.0, 0.0], [0.6, 0.2, 0.0]])
    path = follow(TWO, rows, rng=generator()).or_raise()
    off = [min(abs(tip[1]), abs(tip[0] - 0.6)) for tip in (tip_at((0.5, 0.4), path(t)) for t in np.linspace(0, 1, 999))]
    assert max(off) <= 1e-4


def test_the_start_is_the_first_sample_bit_for_bit_and_runs_backwards() -> None:
    start = Projector(TWO, Options(threshold=1e-9)).project([1.0, -1.0], [0.5, 0.1, 0.0]).or_raise().q
    path = follow(TWO, lambda s: [0.5 + 0.2 * s, 0.1, 0.0], start, rng=generator()).or_raise()
    assert np.array_equal(path.start, start)
    back = path.reversed()
    assert np.abs(back(0.25) - path(0.75)).max() < 1e-4
    assert back.max_error() <= 1e-4


def test_one_generator_gives_the_same_bits() -> None:
    problem, model, start = round_a_disc()

    def samples(seed: int) -> bytes:
        found = follow(problem, upwards, start, rng=generator(seed), collisions=model, limits=Limits(seconds=None))
        return found.or_raise().samples.tobytes()

    assert samples(1) == samples(1)
    assert samples(1) != samples(2)


def test_a_space_without_a_robot() -> None:
    def value(q: np.ndarray) -> np.ndarray:
        return np.array([q @ q])

    ring = Function.from_callable(value, Rn(2), Rn(1), name="ring")
    problem = Problem(Rn(2), [Implicit.equal(ring, name="ring")], Bounds(Rn(2), np.full(2, -3.0), np.full(2, 3.0)))
    path = follow(problem, lambda s: [0.25 + s], [0.5, 0.0], rng=generator()).or_raise()
    assert abs(path.end @ path.end - 1.25) <= 1e-4


def test_targets_that_stand_still_are_followed() -> None:
    start = Projector(TWO, Options(threshold=1e-9)).project([1.0, -1.0], [0.5, 0.1, 0.0]).or_raise().q
    path = follow(TWO, np.array([[0.5, 0.1, 0.0]] * 3), start, rng=generator()).or_raise()
    assert np.array_equal(path.samples, np.repeat(start[None], len(path.samples), axis=0))


# Where it stops, and why.


@pytest.mark.parametrize(
    ("lengths", "sign", "boundary"), [((0.5, 0.4), 1.0, 0.9), ((0.5, 0.4), -1.0, 0.1), (LENGTHS, 1.0, 1.2)]
)
def test_out_of_reach_it_stops_where_the_closed_form_says(
    lengths: tuple[float, ...], sign: float, boundary: float
) -> None:
    problem = tip_of(planar(lengths))
    found = follow(problem, lambda s: [0.5 + sign * s, 0.0, 0.0], rng=generator())
    assert found.status is PlanningStatus.PARTLY
    assert not found.success
    assert abs(found.reached - abs(boundary - 0.5)) < 1e-4
    assert found.path is not None
    assert abs(tip_at(lengths, found.path.end)[0] - boundary) < 1e-4
    assert found.path.max_error() <= 1e-4
    assert "'tip' cannot be satisfied" in found.reason
    assert "singular" in found.reason
    none = "seems to be no solution: of 64 random configurations none is projected"
    assert found.reason.endswith(f"just behind there {none}")
    assert f"{found.reached:.4g}" in str(found)
    with pytest.raises(FailedError, match="tip"):
        found.or_raise()


def test_of_rows_those_that_were_reached_are_counted() -> None:
    rows = np.array([[x, 0.0, 0.0] for x in (0.4, 0.6, 0.8, 1.0, 1.2)])
    found = follow(TWO, rows, rng=generator())
    assert found.rows_reached == 3
    assert abs(found.reached - 0.5 / 0.8) < 1e-4
    assert "3 rows of targets" in str(found)


def test_a_joint_at_its_bound_is_named_and_it_stops_where_the_closed_form_says() -> None:
    limit = 2.0
    problem = elbow_arm(limit)  # the elbow at its bound: |tip| follows from the law of cosines
    boundary = np.sqrt(0.5**2 + 0.4**2 + 2 * 0.5 * 0.4 * np.cos(limit))
    found = follow(problem, lambda s: [0.8 - 0.5 * s, 0.0, 0.0], rng=generator())
    assert found.status is PlanningStatus.PARTLY
    assert abs(0.8 - 0.5 * found.reached - boundary) < 1e-4
    assert found.joints == ("j2",)
    assert "'j2' is at its" in found.reason
    assert "2 rad" in found.reason
    assert {branch.joints for branch in found.branches} == {("j2",)}
    assert {branch.reason for branch in found.branches} == {
        "'j2' is at its upper bound, 2 rad", "'j2' is at its lower bound, -2 rad"
    }  # fmt: skip
    assert f"\n  2 branches from the starts:\n    2 up to {found.reached:.4g} at most: 'j2' is at" in found.describe()
    many = tuple(found.branches[0]._replace(joints=(f"j{i}",), reached=0.1 * i) for i in range(7, 0, -1))
    said = replace(found, branches=(*many, many[-1]._replace(reached=0.0))).describe().splitlines()
    at = said.index("  8 branches from the starts:")
    assert said[at + 1].startswith("    2 up to 0.1 at most")  # the most frequent first
    assert said[at + 2].startswith("    1 up to 0.7 at most")
    assert said[at + 6] == "    and 2 more reasons"


def test_an_obstacle_in_the_way_is_named_and_it_stops_before() -> None:
    robot = planar((0.5, 0.4))
    wall = Shape("wall", "Box", (0.1, 1.0, 0.2), placement=[0.75, 0, 0, 0, 0, 0, 1])
    model = CollisionModel(robot, [wall, Shape("bead", "Sphere", (0.02,), "tip")])
    found = follow(tip_of(robot), lambda s: [0.4 + 0.45 * s, 0.0, 0.0], rng=generator(), collisions=model)
    assert found.status is PlanningStatus.PARTLY
    assert [{pair.a, pair.b} for pair in found.collisions] == [{"wall", "bead"}]
    said = re.fullmatch(
        r"wall collides with bead; just behind all (\d+) solutions that were found collide", found.reason
    )
    assert said is not None
    assert 64 < int(said[1]) <= 4 * 64
    assert abs(0.4 + 0.45 * found.reached - 0.68) < 1e-3  # the bead touches the wall
    assert found.path is not None
    assert model.first_collision(found.path) is None


@pytest.mark.parametrize("time", [0.0, 0.3])
def test_what_collides_between_nodes_is_taken_back_to_the_node_before(
    time: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first path is said to collide at a time: the next one that is looked at goes on from before that."""
    robot, looked = planar((0.5, 0.4)), list[Any]()
    model = CollisionModel(robot, [Shape("post", "Sphere", (0.1,)), Shape("bead", "Sphere", (0.02,), "tip")])

    def first(self: CollisionModel, path: Any, *_: Any) -> Collision | None:
        looked.append(path)
        return Collision("post", "bead", time * path.duration) if len(looked) == 1 else None

    monkeypatch.setattr(CollisionModel, "first_collision", first)
    problem, start = tip_of(robot), np.array([-1.107, 2.256])
    start = Projector(problem, Options(threshold=1e-9)).project(start, [0.4, 0.0, 0.0]).or_raise().q
    found = follow(problem, lambda s: [0.4 + 0.45 * s, 0.0, 0.0], start, rng=generator(), collisions=model)
    begun, last = looked[0].samples, int(np.searchsorted(looked[0].times, time * looked[0].duration))
    if time:
        assert found.path is not None
        np.testing.assert_array_equal(found.path.samples, begun[:last])
    else:
        assert (found.path, found.reached) == (None, 0.0)
    assert "post collides with bead between samples" in found.reason
    assert found.effort.refused == 1


def test_between_two_solutions_no_joint_moves_unseen_by_more_than_what_is_checked() -> None:
    """Steps of up to the largest one are looked at in as few even parts as that takes; in two without collisions."""
    robot = planar((0.5, 0.4))
    model = CollisionModel(robot, [Shape("bead", "Sphere", (0.02,), "tip"), Shape("post", "Sphere", (0.1,))])
    projector, rng = Projector(tip_of(robot)), generator()
    Q0 = rng.uniform(-1.0, 1.0, (50, 2))
    Q1 = Q0 + rng.uniform(-0.1, 0.1, (50, 2))
    far = np.abs(Q1 - Q0).max(axis=1)
    for collisions in (model, None):
        leaf = LeafOfProblem(projector, projector.problem.rhs, collisions)
        tracker = Tracker(leaf, Targets(projector.problem, good), 2.0**-9, Clock(None), 100)
        parts = tracker._parts(Q0, Q1)  # pyright: ignore[reportPrivateUsage]
        assert (parts % 2 == 0).all()
        assert (parts >= 2).all()
        if collisions is None:
            assert (parts == 2).all()
        else:
            assert (far / parts <= CHECKED_ANGLE).all()
            assert (far > CHECKED_ANGLE * (parts - 2.0)).all()
            assert set(parts.tolist()) == {2, 4, 6}


@pytest.mark.parametrize("parts", [2, 4])
def test_parts_of_a_step_may_be_half_as_long_again_as_equal_ones(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one is longer, the first or the last too, the branch jumps; a whole step is at most a largest one."""
    robot = planar((0.5, 0.4))
    model = CollisionModel(
        robot, [Shape("bead", "Sphere", (0.02,), "tip"), Shape("far", "Sphere", (0.1,), placement=FAR)]
    )
    leaf = LeafOfProblem(Projector(tip_of(robot)), TWO.rhs, None if parts == 2 else model)
    tracker = Tracker(leaf, Targets(leaf.problem, good), 2.0**-9, Clock(None), 100)
    whole = 0.1 if parts == 2 else 0.07
    even = np.arange(1, parts) / parts
    places = {"even": even, "long first": even + 0.6 / parts, "long last": even - 0.6 / parts, "lost": even}
    places |= {"nearly": even + 0.4 / parts, "too far": even, "aside": even}
    Q0 = np.zeros((len(places), 2))
    Q1 = np.repeat([[whole, 0.0]], len(places), axis=0)
    Q1[list(places).index("too far"), 0] = 0.101
    between = np.concatenate(
        [np.column_stack([whole * at, 0.0 * at]) for name, at in places.items() if name != "too far"]
    )
    between[-len(even) :, 1] = 0.08
    on = np.repeat([name != "lost" for name in places if name != "too far"], len(even))
    asked = list[np.ndarray]()

    def projected(self: Tracker, Q: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append(s)
        return between, on

    monkeypatch.setattr(Tracker, "projected", projected)
    n = len(places)
    judged = tracker.judged(np.full(n, 0.2), Q0, np.full(n, 0.6), Q1)
    wanted = {"even": Stopped.NOT, "nearly": Stopped.NOT, "lost": Stopped.NOT_PROJECTED}
    assert judged.stopped.tolist() == [wanted.get(name, Stopped.JUMPED) for name in places]
    np.testing.assert_allclose(asked[0].reshape(n - 1, -1), np.tile(0.2 + 0.4 * even, (n - 1, 1)))
    np.testing.assert_array_equal(judged.q, Q1)


def test_every_step_that_something_is_in_the_way_of_collides(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bead at the tip passes a bead in the world half-way, in each step but the second one."""
    robot, at = planar((0.5, 0.4)), np.array([0.3, -0.5])
    post = Shape("post", "Sphere", (2e-3,), placement=[*tip_at((0.5, 0.4), at), 0.0, 0.0, 0.0, 0.0, 1.0])
    model = CollisionModel(robot, [post, Shape("bead", "Sphere", (2e-3,), "tip")])
    leaf = LeafOfProblem(Projector(tip_of(robot)), TWO.rhs, model)
    middles = at + np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.0], [0.0, 0.0]])
    monkeypatch.setattr(Tracker, "projected", lambda *_: (middles, np.ones(4, dtype=np.bool_)))
    tracker, step, s = Tracker(leaf, Targets(leaf.problem, good), 2.0**-9, Clock(None), 100), [0.019, 0.0], np.zeros(4)
    judged = tracker.judged(s, middles - step, s, middles + step)
    assert judged.stopped.tolist() == [Stopped.COLLIDED, Stopped.NOT, Stopped.COLLIDED, Stopped.COLLIDED]
    np.testing.assert_array_equal(judged.q, np.where(judged.stopped[:, None] > 0, middles, middles + step))


def test_a_guide_is_left_where_a_step_gains_less_than_a_twentieth_of_a_largest_one() -> None:
    """Largest steps are 0.1 rad: from 5 of them away it must come nearer by 5 mrad."""
    leaf = LeafOfProblem(Projector(TWO), TWO.rhs, None)
    tracker = Tracker(leaf, Targets(TWO, good), 2.0**-9, Clock(None), 100)
    after = np.array([[0.494, 0.0], [0.496, 0.0], [0.5, 0.0], [0.501, 0.0]])
    nearer = tracker._comes_nearer(np.tile([0.5, 0.0], (4, 1)), after, np.zeros((4, 2)))  # pyright: ignore[reportPrivateUsage]
    assert nearer.tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((), ""),
        ((64,), "no solution: of 64 random configurations none is projected"),
        ((64, 3), "all 3 solutions that were found collide"),
        ((64, 3, 2), "3 of 64 random configurations are projected, and 2 free"),
    ],
)
def test_what_is_behind_a_stop_is_told(found: tuple[int, ...], words: str) -> None:
    said = search.Beyond(*found).words
    assert words in said
    assert bool(said) is bool(words)


def test_a_thin_plate_is_not_gone_through() -> None:
    robot = planar((0.5, 0.4))
    plate = Shape("plate", "Box", (1e-4, 1.0, 0.2), placement=[0.6033, 0, 0, 0, 0, 0, 1])
    model = CollisionModel(robot, [plate, Shape("bead", "Sphere", (1e-3,), "tip")])
    found = follow(tip_of(robot), lambda s: [0.4 + 0.45 * s, 0.0, 0.0], rng=generator(), collisions=model)
    assert found.status is PlanningStatus.PARTLY
    assert "plate" in found.reason
    assert 0.56 < 0.4 + 0.45 * found.reached < 0.6033
    assert found.path is not None
    assert model.first_collision(found.path) is None


def test_nothing_flips_where_a_line_passes_the_shoulder_closely() -> None:
    """Links of one length reach the shoulder itself; 0.1 mm beside it the shoulder would turn by pi within 0.3 mm."""
    problem = tip_of(planar((0.5, 0.5), 100.0))
    found = follow(problem, lambda s: [0.3 - 0.6 * s, 1e-4, 0.0], rng=generator())
    assert found.status is PlanningStatus.PARTLY
    assert abs(found.reached - 0.5) < 0.01
    assert found.joints == ("j1",)
    said = re.fullmatch(r"'j1' would jump by (\S+) rad within the shortest step; .*", found.reason)
    assert said is not None
    assert 0.1 < float(said[1]) < np.pi
    wide = follow(problem, lambda s: [0.3 - 0.6 * s, 0.05, 0.0], rng=generator())
    samples = wide.or_raise().samples
    assert max(float(np.abs(b - a).max()) for a, b in pairwise(samples)) <= 0.1 + 1e-12
    assert abs(abs(float(samples[-1, 0] - samples[0, 0])) - (np.pi - 2 * np.arctan2(0.05, 0.3))) < 1e-3
    slow = follow(problem, lambda s: [0.3 - 0.6 * s, 1e-3, 0.0], rng=generator(), shortest=2.0**-14)
    assert slow.success  # who allows joints to be so fast gets the path


def test_targets_that_jump_stop_it_there() -> None:
    """By 20 cm half-way: the joint that would move farthest is told, and that nothing is singular is not."""
    start = Projector(TWO, Options(threshold=1e-9)).project([-1.0, 1.5], [0.5, 0.0, 0.0]).or_raise().q
    found = follow(TWO, lambda s: [0.5 + 0.2 * (s > 0.5), 0.0, 0.0], start, rng=generator())
    assert found.status is PlanningStatus.PARTLY
    assert found.reached == pytest.approx(0.5, abs=1e-3)
    elbows = [np.arccos((x**2 - 0.41) / 0.4) for x in (0.5, 0.7)]
    said = re.match(r"'j2' would jump by (\S+) rad within the shortest step", found.reason)
    assert said is not None
    assert float(said[1]) == pytest.approx(abs(elbows[1] - elbows[0]), rel=1e-2)
    assert "singular" not in found.reason
    assert (found.joints, found.collisions) == (("j2",), ())


def test_a_start_on_the_posture_that_stops_does_worse_than_all_starts() -> None:
    """A disc where the elbow comes in one posture."""
    robot = planar((0.5, 0.4))
    problem = tip_of(robot)
    elbow = 0.5 * np.array([np.cos(1.0), np.sin(1.0)])
    disc = Shape("disc", "Cylinder", (0.05, 0.2), placement=[*elbow, 0, 0, 0, 0, 1])
    model = CollisionModel(
        robot, [disc, Shape("elbow", "Sphere", (0.02,), robot.frame("link1", [0.25, 0, 0, 0, 0, 0, 1]))]
    )

    def line(s: float) -> list[float]:
        return [0.6, -0.2 + 0.6 * s, 0.0]

    near = Projector(problem, Options(threshold=1e-9))
    up = near.project([0.4, -1.5], line(0.0)).or_raise().q
    down = near.project([-1.2, 1.5], line(0.0)).or_raise().q
    one = follow(problem, line, up, rng=generator(), collisions=model)
    assert one.status is PlanningStatus.PARTLY
    assert {one.collisions[0].a, one.collisions[0].b} == {"disc", "elbow"}
    assert "of 64 random configurations" in one.reason  # the other posture is there
    for starts in (None, [up, down]):
        every = follow(problem, line, starts, rng=generator(), collisions=model)
        assert every.success
        assert every.branches == ()
        assert every.or_raise().end[1] > 0.0
        assert one.reached < every.reached


def round_a_disc() -> tuple[Problem, CollisionModel, np.ndarray]:
    """An arm with a joint more than rows, whose elbow meets a disc if it keeps its posture."""
    robot = planar(LENGTHS, 3.1)
    problem = tip_of(robot)
    links = [Shape(f"l{i}", "Box", (length, 0.04, 0.04), f"link{i}") for i, length in enumerate(LENGTHS, start=1)]
    disc = Shape("disc", "Cylinder", (0.05, 0.2), placement=[0.35, 0.45, 0, 0, 0, 0, 1])
    start = Projector(problem, Options(threshold=1e-9)).project([0.7, -1.0, -1.0], upwards(0.0)).or_raise().q
    return problem, CollisionModel(robot, [*links, disc]), start


def upwards(s: float) -> list[float]:
    return [0.9, -0.3 + 0.6 * s, 0.0]


@pytest.mark.parametrize("seed", a_few(range(3), 1))
def test_a_branch_is_drawn_aside_where_rows_are_free(seed: int) -> None:
    problem, model, start = round_a_disc()
    straight = follow(problem, upwards, start, rng=generator(seed)).or_raise()
    assert model.first_collision(straight) is not None
    found = follow(problem, upwards, start, rng=generator(seed), collisions=model)
    path = found.or_raise()
    assert found.effort.rounds > 0
    assert problem.robot is not None

    def error(q: np.ndarray) -> float:
        return abs(float(tip_at(LENGTHS, q)[0]) - 0.9)

    assert faults(path, problem.robot.model, model.checker.geometry, error, (start, path.end)) == []
    for t in np.linspace(0.0, 1.0, 201):
        assert np.abs(tip_at(LENGTHS, path(t)) - upwards(t)[:2]).max() <= 1e-4


def test_a_path_that_was_drawn_aside_is_pulled_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the same targets, by a tenth at least; as free as before."""
    problem, model, start = round_a_disc()
    found = follow(problem, upwards, start, rng=generator(1), collisions=model).or_raise()
    monkeypatch.setattr(search, "SMOOTHINGS", 0)
    before = follow(problem, upwards, start, rng=generator(1), collisions=model).or_raise()
    assert found.length < 0.9 * before.length
    assert np.array_equal(found.pieces[0].times, before.pieces[0].times)
    assert np.array_equal(found.samples[[0, -1]], before.samples[[0, -1]])
    assert model.first_collision(found) is None
    assert max(float(np.abs(b - a).max()) for a, b in pairwise(found.samples)) <= 0.1 + 1e-12


def test_limits_end_it_with_what_was_found() -> None:
    problem, model, start = round_a_disc()
    few = follow(problem, upwards, start, rng=generator(), collisions=model, limits=Limits(nodes=5))
    assert few.status is PlanningStatus.NODES
    assert few.path is not None
    assert 0.0 < few.reached < 1.0
    short = follow(problem, upwards, rng=generator(), collisions=model, limits=Limits(seconds=1e-9))
    assert short.status is PlanningStatus.TIME
    assert short.path is None
    assert short.reached == 0.0


def test_rows_lie_at_equal_parts_and_none_is_stepped_over() -> None:
    """Between two rows right-hand sides move evenly; a step ends at the next row, and a row itself is behind."""
    rows = np.array([[0.5, 0.0, 0.0], [0.6, 0.2, 0.0], [0.6, 0.4, 0.0], [0.3, 0.4, 0.0]])
    targets, knots = Targets(TWO, rows), [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]
    assert targets.rows == 4
    assert targets.knots == pytest.approx(knots)
    for s in np.linspace(0.0, 1.0, 31):
        wanted = [np.interp(s, knots, column) for column in rows.T]
        np.testing.assert_allclose(targets.at(float(s)).vector[:2], wanted[:2], atol=1e-12)
    s, steps = np.array([0.0, 0.3, 1.0 / 3.0, 0.6, 0.95]), np.array([0.1, 0.1, 0.1, 0.05, 0.5])
    np.testing.assert_allclose(targets.ahead(s, steps), [0.1, 1.0 / 3.0, 1.0 / 3.0 + 0.1, 0.65, 1.0])


def test_a_step_that_is_taken_back_takes_back_what_followed() -> None:
    """Of two branches from one start; costs are lengths in largest steps, and a way ends before what was taken back."""
    leaf = LeafOfProblem(Projector(TWO), TWO.rhs, None)
    nodes = FollowedNodes(leaf)
    (start,) = nodes.add(np.zeros(1), np.zeros((1, 2)), np.array([-1])).tolist()
    one = nodes.add(np.array([0.1, 0.2]), np.array([[0.1, 0.0], [0.0, 0.2]]), np.array([start, start]))
    two = nodes.add(np.array([0.3]), np.array([[0.4, 0.4]]), one[:1])
    assert nodes.cost.tolist() == pytest.approx([0.0, 1.0, 2.0, 1.0 + 5.0])
    assert nodes.way(int(two[0])).tolist() == [0, 1, 3]
    assert nodes.parents[[3, 0]].tolist() == [1, -1]
    nodes.take_back(1)
    assert nodes.way(3).tolist() == [0]
    assert nodes.way(2).tolist() == [0, 2]
    assert nodes.cut.tolist() == [False, True, False, False]


def test_random_starts_are_apart_by_a_largest_step() -> None:
    """Of an arm in a plane two postures and no more, of one with a joint more as many as are asked for."""
    for lengths, most in (((0.5, 0.4), 2), (LENGTHS, MOST_STARTS)):
        problem = tip_of(planar(lengths))
        projector = Projector(problem, Options(threshold=1e-9))
        leaf = LeafOfProblem(projector, problem.check_rhs([0.5, 0.3, 0.0]), None)
        starts = random_starts(leaf, generator(), Clock(None))
        assert isinstance(starts, np.ndarray)
        assert 2 <= len(starts) <= most
        assert len(starts) > 10 or most == 2
        for i, q in enumerate(starts):
            assert np.abs(tip_at(lengths, q) - [0.5, 0.3]).max() < 1e-8
            others = np.linalg.norm(np.delete(starts, i, axis=0) - q, axis=1)
            assert others.min() > 0.1


# Starts.


def test_starts_that_cannot_be_used_are_told() -> None:
    robot = planar((0.5, 0.4))
    problem = tip_of(robot)
    off = follow(problem, lambda s: [0.5, 0.2 * s, 0.0], [0.3, 0.3], rng=generator())
    assert off.status is PlanningStatus.START_OFF
    assert "tip" in off.reason
    assert off.path is None
    assert off.reached == 0.0
    wall = Shape("wall", "Box", (0.1, 1.0, 0.2), placement=[0.5, 0, 0, 0, 0, 0, 1])
    model = CollisionModel(robot, [wall, Shape("bead", "Sphere", (0.02,), "tip")])
    start = Projector(problem, Options(threshold=1e-9)).project([1.0, -1.0], [0.5, 0.0, 0.0]).or_raise().q
    hit = follow(problem, lambda s: [0.5, 0.2 * s, 0.0], start, rng=generator(), collisions=model)
    assert hit.status is PlanningStatus.START_COLLIDES
    assert "wall" in hit.reason
    none = follow(problem, lambda s: [0.5, 0.2 * s, 0.0], rng=generator(), collisions=model)
    assert none.status is PlanningStatus.NO_START
    assert "wall" in none.reason
    far = follow(problem, lambda s: [5.0, 0.2 * s, 0.0], rng=generator())
    assert far.status is PlanningStatus.NO_START
    assert "projections" in far.reason


def test_frozen_joints_keep_what_they_have() -> None:
    robot = planar(LENGTHS)
    tip = Implicit.equal(Position(robot, "tip"), mask=[1, 1, 0], name="tip")
    problem = Problem(robot, [tip], frozen=["j3"])
    path = follow(problem, lambda s: [0.7, 0.3 * s, 0.0], rng=generator()).or_raise()
    assert not path.samples[:, 2].any()
    start = Projector(problem, Options(threshold=1e-9)).project([0.5, -1.0, 0.4], [0.7, 0.0, 0.0]).or_raise().q
    path = follow(problem, lambda s: [0.7, 0.3 * s, 0.0], start, rng=generator()).or_raise()
    assert (path.samples[:, 2] == 0.4).all()


# Bad input.


def good(s: float) -> list[float]:
    return [0.5, 0.2 * s, 0.0]


@pytest.mark.parametrize(
    ("targets", "error", "words"),
    [
        (np.zeros((3, 2)), SizeError, "3"),
        (np.zeros((1, 3)), SizeError, "two rows"),
        (np.zeros((0, 3)), SizeError, "two rows"),
        (np.zeros(3), SizeError, "two rows"),
        ([[0.5, 0.0, 0.0], [0.5, np.nan, 0.0]], NotFiniteError, "row 1"),
        ([["a", "b", "c"]] * 2, DtypeError, "targets"),
        (None, WrongObjectError, "targets"),
        ("rows", WrongObjectError, "targets"),
        (TWO.rhs, WrongObjectError, "one"),
        ([TWO.rhs, 1.0], WrongObjectError, "row 1"),
        (lambda s: None, WrongObjectError, "right-hand side"),
        (lambda s: [s], SizeError, "3"),
        (lambda s: [0.5, np.nan, 0.0], NotFiniteError, "right-hand side"),
        (lambda s: [0.5, np.nan if s == 1.0 else 0.0, 0.0], NotFiniteError, "right-hand side"),
    ],
)
def test_bad_targets_are_named(targets: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        follow(TWO, targets, rng=generator())


def test_a_bad_target_on_the_way_says_where() -> None:
    with pytest.raises(NotFiniteError) as caught:
        follow(TWO, lambda s: [0.5, np.nan if 0.4 < s < 0.6 else 0.2 * s, 0.0], rng=generator())
    assert "of the way" in "".join(caught.value.__notes__)


@pytest.mark.parametrize("shortest", [0.0, -1.0, 0.1, np.nan, "a", True])
def test_a_bad_shortest_step_is_named(shortest: Any) -> None:
    with pytest.raises(OptionError, match="shortest"):
        follow(TWO, good, rng=generator(), shortest=shortest)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"problem": 3}, WrongObjectError, "problem"),
        ({"rng": 3}, WrongObjectError, "rng"),
        ({"limits": 3}, WrongObjectError, "limits"),
        ({"collisions": 3}, WrongObjectError, "collisions"),
        ({"collisions": CollisionModel(sample_arm(), [POST])}, SpaceMismatchError, "collision model"),
        ({"starts": np.zeros((2, 3))}, SizeError, "starts"),
        ({"starts": [np.nan, 0.0]}, NotFiniteError, "starts"),
    ],
)
def test_other_bad_arguments_are_named(wrong: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        follow(**{"problem": TWO, "targets": good, "rng": generator()} | wrong)


def test_paths_along_rows_are_pickled() -> None:
    path = follow(TWO, np.array([[0.5, 0.0, 0.0], [0.5, 0.2, 0.0]]), rng=generator()).or_raise()
    assert np.array_equal(pickle.loads(pickle.dumps(path))(0.3), path(0.3))

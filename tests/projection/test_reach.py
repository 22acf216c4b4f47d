"""Inverse kinematics in one call: its truth is pinocchio's forward kinematics, its bits are those of the long way."""

# pyright: reportArgumentType=false, reportCallIssue=false
# targets and arguments that are wrong are given on purpose

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, needs_robot_data, panda, talos, two_arms, ur5
from scipy.spatial.transform import Rotation as Rotations

from constraints import (
    Base,
    Implicit,
    Options,
    Part,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Rotation,
    Target,
    mimic_constraints,
    reach,
    reach_batch,
    rigid_transform,
)
from constraints.errors import (
    CallError,
    ConstraintError,
    EmptyProblemError,
    NotFiniteError,
    NotNormalizedError,
    OptionError,
    SizeError,
    SpaceMismatchError,
    UnknownFrameError,
    UnknownJointError,
    UnknownNameError,
    WrongObjectError,
)
from constraints.models import mechanisms, sample_arm
from liegroups import SE3, SO3, Element, Rn

POINT = [0.4, 0.1, 0.3]
POSE = np.array([0.45, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0])
CLOSE = 1e-4  # the default threshold of a projection


def placed(robot: Robot, q: Any, frame: str) -> Any:
    """Placement of a frame in the world, by pinocchio alone."""
    model: Any = robot.model
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.asarray(q))
    return data.oMf[model.getFrameId(frame)]


def off(seen: Any, wanted: Any) -> float:
    """How far one placement is from another."""
    return float(np.linalg.norm(pin.log6(wanted.actInv(seen)).vector))


def targets_of(robot: Robot, frame: str, count: int, seed: int = 0) -> list[Any]:
    """Placements that the robot reaches."""
    return [placed(robot, q, frame).copy() for q in robot.random(np.random.default_rng(seed), count)]


CASES = [
    (arm, "tool"),
    (two_arms, "left_tool"),
    pytest.param(ur5, "tool0", marks=needs_robot_data),
    pytest.param(panda, "panda_hand", marks=needs_robot_data),
]


@pytest.mark.parametrize(("make", "frame"), CASES)
def test_a_pose_is_reached_from_the_default_start(make: Callable[[], Robot], frame: str) -> None:
    robot = make()
    solved = 0
    for target in targets_of(robot, frame, 20):
        result = reach(robot, frame, target)
        assert np.array_equal(result.start, np.clip(robot.neutral, robot.bounds.lower, robot.bounds.upper))
        if result.success:
            solved += 1
            assert off(placed(robot, result.q, frame), target) <= CLOSE
            assert (result.q >= robot.bounds.lower).all()
            assert (result.q <= robot.bounds.upper).all()
    assert solved >= 19


@pytest.mark.parametrize(
    ("make", "asked"),
    [
        (lambda M: M, Pose),
        (lambda M: M.homogeneous, Pose),
        (lambda M: M.homogeneous.tolist(), Pose),
        (lambda M: pin.SE3ToXYZQUAT(M), Pose),
        (lambda M: list(pin.SE3ToXYZQUAT(M)), Pose),
        (lambda M: Element(pin.SE3ToXYZQUAT(M), SE3), Pose),
        (lambda M: M.translation, Position),
        (lambda M: tuple(M.translation), Position),
        (lambda M: Element(M.translation, Rn(3)), Position),
        (lambda M: M.rotation, Rotation),
        (lambda M: pin.Quaternion(M.rotation), Rotation),
        (lambda M: pin.Quaternion(M.rotation).coeffs(), Rotation),
        (lambda M: Rotations.from_matrix(M.rotation), Rotation),
        (lambda M: Element(pin.Quaternion(M.rotation).coeffs(), SO3), Rotation),
    ],
)
def test_the_kind_of_a_target_is_read_from_its_shape(make: Callable[[Any], Any], asked: Any) -> None:
    """A pose, a point and a rotation are told apart, and what is not asked for is not held."""
    robot = arm()
    target = rigid_transform([0.4, 0.2, 0.4], rpy=[2.0, 0.4, -0.3])
    result = reach(robot, "tool", make(target), robot.reference("home"))
    assert result.success
    seen = placed(robot, result.q, "tool")
    moved = float(np.linalg.norm(seen.translation - target.translation))
    turned = float(np.linalg.norm(pin.log3(target.rotation.T @ seen.rotation)))
    assert (moved <= CLOSE) == (asked is not Rotation)
    assert (turned <= CLOSE) == (asked is not Position)


@pytest.mark.parametrize("options", [None, Options(threshold=1e-9, seed=3), Options.local()])
@pytest.mark.parametrize("asked", [Pose, Position, Rotation])
def test_the_bits_are_those_of_the_long_way(asked: Any, options: Options | None) -> None:
    robot = arm()
    home = robot.reference("home")
    for target in targets_of(robot, "tool", 5):
        given = {Pose: target, Position: target.translation, Rotation: target.rotation}[asked]
        for start in (None, home, "home"):
            short = reach(robot, "tool", given, start, options=options)
            problem = Problem(robot, [Implicit.equal(asked(robot, "tool"), given)])
            first = robot.bounds.clip(robot.neutral) if start is None else home
            long = Projector(problem, options).project(first)
            assert short.q.tobytes() == long.q.tobytes()
            assert (short.status, short.iterations, short.residual) == (long.status, long.iterations, long.residual)


def test_what_the_robot_keeps_does_not_depend_on_what_came_before() -> None:
    """Another target, other options and other bounds in between change nothing."""
    robot, fresh = sample_arm(), sample_arm()
    reach(robot, "tool", [0.1, 0.2, 0.9])
    reach(robot, "tool", POSE, options=Options(threshold=1e-2))
    tight = robot.with_bounds({"shoulder_yaw": (-0.01, 0.01)})
    held = reach(tight, "tool", POINT)
    assert held.success
    assert abs(held.q[0]) <= 0.01
    again, first = reach(robot, "tool", POINT), reach(fresh, "tool", POINT)
    assert again.q.tobytes() == first.q.tobytes()
    assert abs(again.q[0]) > 0.01
    assert np.array_equal(again.rhs.vector, POINT)
    assert again.problem is reach(robot, "tool", [0.3, 0.1, 0.5]).problem
    assert again.problem is not reach(robot, "tool", POINT, options=Options(threshold=1e-2)).problem


def test_a_robot_that_reached_is_pickled_without_what_it_keeps_and_can_be_forgotten() -> None:
    robot = sample_arm()
    before = len(pickle.dumps(robot))
    result = reach(robot, "tool", POINT)
    assert len(robot.kept) == 1
    assert len(pickle.dumps(robot)) == before
    copied = pickle.loads(pickle.dumps(robot))
    assert len(copied.kept) == 0
    assert reach(copied, "tool", POINT).q.tobytes() == result.q.tobytes()
    gone = weakref.ref(robot)
    del robot, result
    gc.collect()
    assert gone() is None


def test_frames_with_an_offset_do_not_gather() -> None:
    robot = sample_arm()
    for length in np.linspace(0.0, 0.1, 40):
        assert reach(robot, robot.frame("tool", rigid_transform([0.0, 0.0, length])), POINT).success
    assert len(robot.kept) <= 32


# near


def test_near_gives_the_nearest_and_starts_there() -> None:
    robot = arm()
    home = robot.reference("home")
    near = reach(robot, "tool", POSE, near="home")
    assert near.success
    assert near.stationarity is not None
    assert near.stationarity <= 1e-8
    assert np.array_equal(near.start, home)
    long = Projector(Problem(robot, [Implicit.equal(Pose(robot, "tool"), POSE)]), Options(nearest=True))
    assert near.q.tobytes() == long.project(home, near=home).q.tobytes()
    plain = reach(robot, "tool", POSE, home)
    assert np.linalg.norm(near.q - home) <= np.linalg.norm(plain.q - home)
    elsewhere = reach(robot, "tool", POSE, robot.neutral, near=home)
    assert np.array_equal(elsewhere.start, robot.neutral)
    assert elsewhere.q.tobytes() == long.project(robot.neutral, near=home).q.tobytes()


def test_near_leaves_alone_what_does_not_move_the_frame() -> None:
    robot, rng = two_arms(), np.random.default_rng(0)
    home, q = robot.reference("home"), robot.random(rng)
    target = robot.at(home).placement("left_tool").translation + np.array([0.02, 0.02, 0.0])
    result = reach(robot, "left_tool", target, q, near=home)
    assert result.success
    right = [i for name in robot.joint_names if "right" in name for i in range(*robot.slice_of(name).indices(robot.nq))]
    assert len(right) == 7
    assert result.q[right].tobytes() == q[right].tobytes()
    rows = reach_batch(robot, "left_tool", target, q[None], near=home)
    assert rows.q[0].tobytes() == result.q.tobytes()


def test_rows_of_near_are_counted_as_such() -> None:
    with pytest.raises(SizeError, match="near of reach_batch"):
        reach_batch(arm(), "tool", [POINT, POINT], near=arm().random(np.random.default_rng(0), 3))


# seen from another frame


def test_a_target_is_seen_from_a_frame_of_the_robot() -> None:
    robot = two_arms()
    wanted = rigid_transform([0.0, 0.0, 0.1], rpy=[np.pi, 0.0, 0.0])
    result = reach(robot, "left_tool", wanted, "home", reference="right_tool")
    assert result.success
    aMb = placed(robot, result.q, "right_tool").actInv(placed(robot, result.q, "left_tool"))
    assert off(aMb, wanted) <= CLOSE


@pytest.mark.parametrize("given", [lambda M: M, lambda M: M.homogeneous, pin.SE3ToXYZQUAT])
def test_a_target_is_seen_from_a_place_in_the_world(given: Callable[[Any], Any]) -> None:
    """As of a camera; one that moves, in place or not, is read at each call."""
    robot = sample_arm()
    camera: Any = rigid_transform([0.2, 0.0, 0.9], rpy=[np.pi, 0.0, 0.3])
    for height in (0.0, 0.05):
        camera.translation = np.array([0.2, 0.0, 0.9 + height])
        result = reach(robot, "tool", [0.1, 0.1, 0.5], reference=given(camera))
        assert result.success
        seen = camera.actInv(placed(robot, result.q, "tool")).translation
        assert np.linalg.norm(seen - [0.1, 0.1, 0.5]) <= CLOSE
    assert len(robot.kept) == 2


# joints that move, and joints that do not


def test_a_floating_base_stays() -> None:
    """Otherwise a hand is anywhere at once, because the robot flies there."""
    robot = humanoid()
    free = robot.joint_names[0]
    hand = "larm6_body"
    start = robot.random(np.random.default_rng(2))
    target = placed(robot, start, hand).translation + np.array([0.02, -0.01, 0.02])
    result = reach(robot, hand, target, start)
    assert result.success
    assert np.array_equal(result.q[:7], start[:7])
    far = target + np.array([5.0, 0.0, 0.0])
    failed = reach(robot, hand, far, start)
    assert not failed.success
    assert "frozen dofs free to move" in str(failed.diagnose(trials=20, iterations=50))
    flown = reach(robot, hand, far, start, joints=robot.joint_names)
    assert flown.success
    assert np.linalg.norm(placed(robot, flown.q, hand).translation - far) <= CLOSE
    with pytest.raises(EmptyProblemError, match=rf"are held: {free}; to let them move, give joints=\['{free}'\]"):
        reach(robot, free, far)


@pytest.mark.parametrize("base", [Base.PLANAR, Base.FREE_FLYER])
def test_objects_and_bases_that_move_freely_stay(base: Base) -> None:
    """The hand goes to the box, and not the box to the hand."""
    box = Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=base)
    robot = Robot.system([Part("arm", sample_arm()), Part("box", box)])
    start = robot.neutral
    start[7:9] = [0.4, 0.2]
    grasp = rigid_transform([0.0, 0.0, 0.4], rpy=[np.pi, 0.0, 0.0])
    result = reach(robot, "arm/tool", grasp, start, reference="box/body")
    assert result.success
    assert np.array_equal(result.q[7:], start[7:])
    boxMtool = placed(robot, result.q, "box/body").actInv(placed(robot, result.q, "arm/tool"))
    assert off(boxMtool, grasp) <= CLOSE
    moved = reach(robot, "arm/tool", grasp, robot.neutral, reference="box/body", joints=robot.joint_names)
    assert moved.success
    assert not np.array_equal(moved.q[7:], robot.neutral[7:])


def test_joints_that_are_not_named_stay() -> None:
    robot = arm()
    home = robot.reference("home")
    moving = ["shoulder_yaw", "shoulder_pitch", "elbow"]
    target = placed(robot, np.add(home, [0.2, 0.1, 0.0, -0.2, 0.0, 0.0, 0.0]), "tool").translation
    result = reach(robot, "tool", target, home, joints=moving)
    assert result.success
    assert np.linalg.norm(placed(robot, result.q, "tool").translation - target) <= CLOSE
    still = [robot.slice_of(name).start for name in robot.joint_names if name not in moving]
    assert np.array_equal(result.q[still], home[still])
    assert not reach(robot, "tool", POSE, home, joints=moving, options=Options(max_iterations=30)).success


LEVER = """<robot name="lever"><link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
  <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="follow" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
  <limit lower="-2" upper="2" effort="1" velocity="1"/><mimic joint="turn" multiplier="-0.5" offset="0.3"/></joint>
<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
  <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="beside" type="revolute"><parent link="base"/><child link="d"/><axis xyz="0 0 1"/>
  <limit lower="-2" upper="2" effort="1" velocity="1"/><mimic joint="follow" multiplier="2"/></joint></robot>"""


def test_joints_follow_those_that_they_mimic() -> None:
    """Otherwise a target is reached by a configuration that the robot cannot have."""
    robot = Robot.from_urdf(LEVER)
    q = robot.configuration(turn=0.8, follow=-0.1, slide=0.4)
    target = placed(robot, q, "c").translation * [1.0, 1.0, 0.0]
    problem = Problem(robot, [Implicit.equal(Position(robot, "c"), target), *mimic_constraints(robot)])
    result = reach(robot, "c", target)
    assert result.success
    turn, follow, beside = (float(result.q[robot.slice_of(name)][0]) for name in ("turn", "follow", "beside"))
    assert follow == pytest.approx(-0.5 * turn + 0.3, abs=1e-12)
    assert beside == pytest.approx(2.0 * follow, abs=1e-12)
    assert np.linalg.norm(placed(robot, result.q, "c").translation - target) <= CLOSE
    assert result.q.tobytes() == Projector(problem).project(robot.neutral).q.tobytes()
    driven = reach(robot, "c", target, joints=["turn", "slide"])
    assert driven.q.tobytes() == result.q.tobytes()
    rows = reach_batch(robot, "c", [target, target + 0.05 * np.eye(3)[0]])
    assert rows.q[0].tobytes() == result.q.tobytes()
    assert rows[1].q.tobytes() == reach(robot, "c", target + 0.05 * np.eye(3)[0]).q.tobytes()


@needs_robot_data
def test_fingers_that_move_no_hand_stay_where_the_start_has_them() -> None:
    robot = panda()
    start = robot.bounds.clip(robot.neutral)
    start[-2:] = [0.01, 0.03]  # a mimic that the start does not keep, and the hand does not see
    result = reach(robot, "panda_hand", [0.5, 0.1, 0.4], start)
    assert result.success
    assert np.array_equal(result.q[-2:], start[-2:])


@needs_robot_data
def test_a_humanoid_reaches_and_its_base_stays() -> None:
    robot = talos()
    hand = "arm_left_7_link"
    target = rigid_transform([0.3, 0.4, 0.1])
    result = reach(robot, hand, target.translation)
    assert result.success
    assert np.linalg.norm(placed(robot, result.q, hand).translation - target.translation) <= CLOSE
    assert np.array_equal(result.q[:7], robot.neutral[:7])


# batches


ROWS: list[tuple[str, Callable[[list[Any]], Any]]] = [
    ("(n, 7)", lambda M: np.array([pin.SE3ToXYZQUAT(m) for m in M])),
    ("(n, 4, 4)", lambda M: np.array([m.homogeneous for m in M])),
    ("list of SE3", lambda M: M),
    ("tuple of lists", lambda M: tuple(pin.SE3ToXYZQUAT(m).tolist() for m in M)),
    ("objects", lambda M: np.array([*M, None], dtype=object)[:-1]),
    ("(n, 3)", lambda M: np.array([m.translation for m in M])),
    ("(n, 3, 3)", lambda M: np.array([m.rotation for m in M])),
    ("list of Rotation", lambda M: [Rotations.from_matrix(m.rotation) for m in M]),
    ("Rotation of n", lambda M: Rotations.from_matrix([m.rotation for m in M])),
]


@pytest.mark.parametrize(("name", "rows"), ROWS, ids=[name for name, _ in ROWS])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_row_of_targets_is_the_single_call_bit_for_bit(
    name: str, rows: Callable[[list[Any]], Any], count: int
) -> None:
    robot = arm()
    placements = targets_of(robot, "tool", count)
    targets = rows(placements)
    batch = reach_batch(robot, "tool", targets)
    assert len(batch) == count
    for i, target in enumerate(targets):
        single = reach(robot, "tool", target)
        assert batch.q[i].tobytes() == single.q.tobytes()
        assert batch[i].rhs.vector.tobytes() == single.rhs.vector.tobytes()
        assert off(placed(robot, batch.q[i], "tool"), placements[i]) <= CLOSE or "7" not in name


def test_rows_of_starts_of_targets_and_of_both() -> None:
    robot = arm()
    starts = robot.random(np.random.default_rng(5), 4)
    points = np.array([[0.4, 0.1, z] for z in (0.2, 0.3, 0.4, 0.5)])
    for batch, pairs in (
        (reach_batch(robot, "tool", POSE, starts), [(POSE, q) for q in starts]),
        (reach_batch(robot, "tool", rigid_transform(POSE[:3], POSE[3:]).homogeneous, starts), None),
        (reach_batch(robot, "tool", points, starts), list(zip(points, starts, strict=True))),
        (reach_batch(robot, "tool", points, starts[1]), [(p, starts[1]) for p in points]),
        (reach_batch(robot, "tool", points, "home"), [(p, "home") for p in points]),
        (reach_batch(robot, "tool", POINT), [(POINT, None)]),
        (reach_batch(robot, "tool", Rotations.identity(), starts), [(np.eye(3), q) for q in starts]),
    ):
        for i, (target, start) in enumerate(pairs or []):
            assert batch.q[i].tobytes() == reach(robot, "tool", target, start).q.tobytes()
        assert batch.success.all()
    with ThreadPoolExecutor(2) as executor:
        spread = reach_batch(robot, "tool", points, starts, executor=executor)
    assert spread.q.tobytes() == reach_batch(robot, "tool", points, starts).q.tobytes()
    assert len(reach_batch(robot, "tool", np.zeros((0, 7)))) == 0


def test_rows_near_configurations() -> None:
    robot = arm()
    beside = robot.random(np.random.default_rng(6), 3)
    points = np.array([[0.4, 0.1, z] for z in (0.2, 0.3, 0.4)])
    rows = reach_batch(robot, "tool", points, near=beside)
    one = reach_batch(robot, "tool", points, near="home")
    for i in range(3):
        assert rows.q[i].tobytes() == reach(robot, "tool", points[i], near=beside[i]).q.tobytes()
        assert one.q[i].tobytes() == reach(robot, "tool", points[i], near="home").q.tobytes()
    given = reach_batch(robot, "tool", POINT, starts=beside, near="home")
    assert given.q[1].tobytes() == reach(robot, "tool", POINT, beside[1], near="home").q.tobytes()


# what is wrong is named


M = pin.SE3.Identity()


@pytest.mark.parametrize(
    ("target", "error", "said"),
    [
        (None, WrongObjectError, "got None"),
        ("handle", WrongObjectError, r"reference='handle'"),
        ([0.4, 0.1], SizeError, r"received \(2,\)"),
        ([0.4, 0.1, 0.3, 0.0, 0.0, 0.0], SizeError, r"rpy=\[r, p, y\]"),
        ([[0.4], [0.1], [0.3]], SizeError, "ravel"),
        (np.zeros((5, 7)), SizeError, "reach_batch"),
        ([M, M, M], WrongObjectError, "reach_batch"),
        ((POINT, [0.0, 0.0, 0.0, 1.0]), WrongObjectError, r"rigid_transform\(\*pair\)"),
        (2.0 * np.eye(3), NotNormalizedError, "R R"),
        (np.ones((4, 4)), NotNormalizedError, "last row"),
        ([0.4, 0.1, 0.3, 1.0, 1.0, 0.0, 0.0], NotNormalizedError, "order x y z w"),
        ([np.nan, 0.1, 0.3], NotFiniteError, "target of reach"),
        (Element(np.zeros(4), Rn(4)), SpaceMismatchError, "target of reach"),
        (Target(lambda t: POINT), WrongObjectError, r"target.at\(t\)"),
        (Pose(arm(), "tool"), WrongObjectError, r"project\(robot"),
        (arm().at(arm().neutral), WrongObjectError, "Posture"),
        (0.4, WrongObjectError, "a point"),
        ({"x": 0.4}, WrongObjectError, "a point"),
        (["a", "b", "c"], ConstraintError, "target of reach"),
    ],
)
def test_what_is_no_target_is_refused(target: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        reach(arm(), "tool", target)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"start": "hom"}, UnknownNameError, "nearest names are home"),
        ({"start": [0.0] * 6}, SizeError, "start"),
        ({"near": [np.nan] * 7}, NotFiniteError, "near"),
        ({"near": True}, ConstraintError, "near"),
        ({"joints": "elbow"}, WrongObjectError, "names of joints"),
        ({"joints": ["elbw"]}, UnknownJointError, "nearest names are elbow"),
        ({"joints": [3]}, WrongObjectError, "the name of a joint"),
        ({"joints": []}, EmptyProblemError, "are held: shoulder_yaw"),
        ({"reference": "tol"}, UnknownFrameError, "nearest names are tool"),
        ({"reference": "tool"}, EmptyProblemError, "no joint is between it and 'tool'"),
        ({"reference": [1.0, 2.0]}, SizeError, "reference of reach"),
        ({"options": {"threshold": 1e-3}}, WrongObjectError, "options of reach"),
        (
            {"near": "home", "options": Options(optimise_last=True)},
            OptionError,
            "'nearest' and 'optimise_last' cannot be used together",
        ),
    ],
)
def test_arguments_that_are_wrong_are_named(arguments: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        reach(arm(), "tool", POINT, **arguments)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ((arm(), "tol", POINT), UnknownFrameError, "nearest names are tool"),
        ((arm(), "universe", POINT), EmptyProblemError, "no joint is between it and the world"),
        ((arm().model, "tool", POINT), WrongObjectError, r"Robot\(model\)"),
        ((mechanisms.four_bar(), "tool", POINT), WrongObjectError, r"mechanism.problem\("),
        ((arm(), "tool"), CallError, "'target'"),
        ((arm(), POINT, "tool"), WrongObjectError, "reference='tool'"),  # in the wrong order
    ],
)
def test_robots_and_frames_that_are_wrong_are_named(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        reach(*given)


@pytest.mark.parametrize(
    ("targets", "arguments", "error", "said"),
    [
        (np.eye(3), {}, WrongObjectError, "may be either"),
        (np.round(Rotations.from_rotvec([0.3, 0.2, 0.1]).as_matrix(), 2), {}, WrongObjectError, r"\[R\]"),
        (np.zeros((5, 4)), {}, SizeError, "from_quat"),
        (np.zeros((5, 6)), {}, SizeError, "rpy"),
        ([], {}, SizeError, r"np.zeros\(\(0, 7\)\)"),
        ([M, POINT], {}, WrongObjectError, "row 1 of targets.*Pose as in row 0.*Position"),
        ([POINT, POINT, None], {}, WrongObjectError, "row 2 of targets.*None"),
        ([POINT, [0.0, np.nan, 0.0]], {}, NotFiniteError, "row 1 of targets"),
        ([POSE, POSE * 2.0], {}, NotNormalizedError, "row 1 of targets"),
        ([POINT, POINT], {"starts": np.zeros((3, 7))}, SizeError, "starts of reach_batch.*2 rows as targets"),
        (POINT, {"starts": np.zeros((3, 7)), "near": np.zeros((2, 7))}, SizeError, "near of reach_batch"),
        (POINT, {"starts": np.zeros((3, 6))}, SizeError, "starts of R7"),
        (POINT, {"starts": [np.zeros(7), [np.nan] * 7]}, NotFiniteError, "row 1 of starts"),
        (POINT, {"q0": np.zeros((3, 7))}, UnknownNameError, "use starts="),
        (POINT, {"executor": 3}, WrongObjectError, "executor"),
        (None, {}, WrongObjectError, "got None"),
    ],
)
def test_rows_that_are_wrong_are_named(targets: Any, arguments: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        reach_batch(arm(), "tool", targets, **arguments)


def test_a_target_out_of_reach_says_why() -> None:
    """As one in millimetres: the failure is a status, and its reason is told."""
    result = reach(arm(), "tool", [400.0, 100.0, 300.0])
    assert not result.success
    assert "diagnose()" in str(result)
    assert "Proved out of reach" in str(result.diagnose(trials=20, iterations=50))
    with pytest.raises(ConstraintError):
        result.or_raise()

"""Collisions along paths: thin plates are found, free ways are free, and bounds on motion hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import mixed_tree, panda

from constraints import Base, Implicit, Options, Part, Position, Problem, Projector, Robot, errors
from constraints.collisions import CollisionModel, Shape, checking
from constraints.collisions.along import _beside, _between  # pyright: ignore[reportPrivateUsage]
from constraints.collisions.model import PathCheck
from constraints.collisions.motion import CarriedSolids, JointMotions, MotionBounds
from constraints.manipulation import Path, interpolate
from constraints.models import sample_arm
from constraints.paths.moving_rhs import MovingRightHandSide
from constraints.paths.path import Piece
from constraints.robot.elementary import expanded

BODY = "<robot name='body'><link name='l'/></robot>"
PANDA = "package://example-robot-data/robots/panda_description/urdf/panda.urdf"
PLATE = Shape("plate", "Box", (0.3, 0.3, 0.001))


def body() -> Robot:
    return Robot.from_urdf(BODY, base=Base.FREE_FLYER)


def pose(x: float, y: float = 0.0, z: float = 0.0) -> list[float]:
    return [x, y, z, 0.0, 0.0, 0.0, 1.0]


def straight(robot: Robot, q0: Any, q1: Any, frame: str, **limits: Any) -> Path:
    """The way without constraints: one that always holds, far away."""
    problem = Problem(robot, [Implicit.below(Position(robot, frame), [50.0] * 3, name="here")])
    return interpolate(problem, q0, q1, **limits).or_raise()


def turned(rng: np.random.Generator, place: Any) -> np.ndarray:
    turn = rng.standard_normal(4)
    return np.concatenate([place, turn / np.linalg.norm(turn)])


def of_an_arm(rng: np.random.Generator) -> Path:
    """Across half of the ranges of the joints, with few samples."""
    robot = sample_arm()
    q0, q1 = robot.random(rng), robot.random(rng)
    return straight(robot, q0, robot.space.interpolate(q0, q1, 0.5), "tool", max_angle=1.0)


def of_a_box(rng: np.random.Generator) -> Path:
    """A box that flies a metre and turns."""
    robot = body()
    q0, q1 = turned(rng, np.zeros(3)), turned(rng, rng.uniform(-1.0, 1.0, 3))
    return straight(robot, q0, q1, "l", max_angle=1.0, max_length=1.0)


def at_a_height(rng: np.random.Generator) -> Path:
    """An arm whose tool stays at its height: between samples that are half a radian apart the way is bent."""
    robot = sample_arm()
    while True:
        q0 = robot.space.interpolate(robot.reference("home"), robot.random(rng), 0.3)
        height = Implicit.equal(Position(robot, "tool"), mask=[False, False, True], name="height")
        problem = Problem(robot, [height])
        rhs = problem.rhs_from(q0)
        end = Projector(problem, Options.local()).project(robot.space.interpolate(q0, robot.random(rng), 0.4), rhs)
        found = interpolate(problem, q0, end.q, rhs, max_angle=0.5) if end.success else None
        if found is not None and found.success:
            return found.or_raise()


@pytest.mark.parametrize(("make", "frame"), [(of_an_arm, "tool"), (of_a_box, "l"), (at_a_height, "tool")])
def test_thin_plates_are_not_missed(make: Any, frame: str) -> None:
    """Plates of 1 mm, turned anyhow, in the way of a ball of 1 cm; none is found too late.

    `benchmarks/verdicts.py` does it for a thousand plates of each kind.
    """
    rng, missed = np.random.default_rng(11), 0
    for _ in range(8):
        path = make(rng)
        robot = path.pieces[0].problem.robot
        model = CollisionModel(robot, [Shape("ball", "Sphere", (0.01,), frame), PLATE])
        for time in rng.uniform(0.0, path.duration, 6):
            there = robot.at(path(time)).placement(frame).translation
            found = model.moved({"plate": turned(rng, there)}).first_collision(path)
            missed += found is None or found.time > time + 1e-3  # pyright: ignore[reportOptionalOperand]
    assert missed == 0


@pytest.mark.parametrize("compiled", [True, False])
def test_the_first_time_is_that_of_many_small_steps(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Panda of meshes with a post, on paths of 65 samples and more: against 4000 configurations each."""
    if not compiled:
        monkeypatch.setattr(checking, "USUAL", "readable")
    post = Shape("post", "Cylinder", (0.05, 1.2), placement=pose(0.45, 0.0, 0.6))
    rng, model = np.random.default_rng(2), CollisionModel(panda(), [post], PANDA)
    met = 0
    for _ in range(5):
        q0, q1 = model.random_free(rng, 2)
        path = straight(model.robot, q0, q1, "panda_hand", max_angle=0.03)
        assert len(path.samples) > 65
        check, times = model.check_path(path), np.linspace(0.0, 1.0, 4001)
        free = model.is_free_batch(path.pieces[0].at_times(times))
        assert (check.collision is None) == free.all()
        if check.collision is not None:
            met += 1
            first = times[free.argmin()]
            assert first - 1.0 / 4000 <= check.collision.time <= first + 1e-3  # pyright: ignore[reportOptionalOperand]
            assert not model.is_free(path(check.collision.time))  # pyright: ignore[reportArgumentType]
        else:
            assert check.looked <= 1.5 * len(path.samples)
    assert 1 <= met <= 4


def test_what_passes_by_is_free_and_said_to_be_near() -> None:
    """A ball slides along a wall, 0.1 mm away from it: free at a resolution of 10 um, near all along at one of 1 mm."""
    robot = body()
    ball, wall = Shape("ball", "Sphere", (0.05,), "l"), Shape("wall", "Box", (0.4, 0.02, 1.0), "universe", pose(0.5))
    path = straight(robot, pose(0.0, 0.0601), pose(1.0, 0.0601), "l")
    model = CollisionModel(robot, [ball, wall])
    assert model.check_path(path, 1e-5).grazing == ()
    check = model.check_path(path)
    assert check.collision is None
    (near,) = check.grazing
    assert (near.a, near.b) == ("ball", "wall")
    assert near.begin == pytest.approx(0.3, abs=0.02)
    assert near.end == pytest.approx(0.7, abs=0.02)
    (later,) = model.check_path(path.lasting(3.0)).grazing
    assert (later.begin, later.end) == pytest.approx((3.0 * near.begin, 3.0 * near.end))
    (_, second) = model.check_path(path.lasting(3.0) + path.reversed().lasting(2.0)).grazing
    assert (second.begin, second.end) == pytest.approx((3.0 + 2.0 * (1.0 - near.end), 3.0 + 2.0 * (1.0 - near.begin)))
    deeper = straight(robot, pose(0.0, 0.0599), pose(1.0, 0.0599), "l")
    met = model.check_path(deeper, 1e-5)
    assert met.grazing == ()
    assert met.collision is not None
    assert met.collision.time == pytest.approx(0.3 - np.sqrt(0.05**2 - 0.0499**2), abs=2e-5)
    wide = model.with_margins({("ball", "wall"): 0.02}).first_collision(path)
    assert wide is not None
    assert wide.time == pytest.approx(0.3 - np.sqrt(0.07**2 - 0.0501**2), abs=1.1e-3)


@pytest.fixture(params=["compiled", "readable"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With kernels, and without."""
    monkeypatch.setattr(checking, "USUAL", request.param)


@pytest.mark.usefixtures("engine")
def test_what_does_not_move_is_looked_at_once() -> None:
    robot = body()
    ball, wall = Shape("ball", "Sphere", (0.05,), "l"), Shape("wall", "Box", (0.1, 1.0, 1.0), "universe", pose(0.5))
    model = CollisionModel(robot, [ball, wall])
    for x, met in ((0.0, False), (0.5, True)):
        (piece,) = straight(robot, pose(x), pose(x), "l").pieces
        many = replace(piece, samples=np.repeat(piece.samples[:1], 5, axis=0), times=np.linspace(0.0, 1.0, 5))
        for still in (piece, many):
            check = model.check_path(Path((still,)))
            assert (check.collision is not None, check.looked) == (met, 1)


@pytest.mark.usefixtures("engine")
def test_behind_a_collision_nothing_is_looked_at_closely() -> None:
    """A path that begins in a thin wall: the middles of its parts, and both ends of the first one."""
    robot = body()
    ball, wall = Shape("ball", "Sphere", (0.05,), "l"), Shape("wall", "Box", (0.02, 1.0, 1.0))
    path = straight(robot, pose(-0.02), pose(1.0), "l")
    check = CollisionModel(robot, [ball, wall]).check_path(path)
    assert check.collision == ("ball", "wall", 0.0)
    assert check.looked == len(path.samples) - 1 + 2


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("carried", [True, False])
def test_a_plate_without_an_end_is_met_in_time(carried: bool) -> None:
    """No sphere holds it: on the body that sinks by 1 m onto a ball, and under it."""
    robot, frames = body(), ("l", "universe")
    plate = Shape("plate", "Box", (1e150, 1e150, 0.2), frames[not carried])
    model = CollisionModel(robot, [plate, Shape("ball", "Sphere", (0.1,), frames[carried])])
    met = model.first_collision(straight(robot, pose(0.0, z=1.0), pose(0.0), "l"), 1e-4)
    assert met is not None
    assert met.time == pytest.approx(0.8, abs=1e-4)
    above = model.check_path(straight(robot, pose(0.0, z=1.0), pose(0.0, z=0.21), "l"))
    assert (above.collision, above.grazing) == (None, ())


@pytest.mark.usefixtures("engine")
def test_a_jump_over_a_wall_is_told() -> None:
    """Right-hand sides that jump by 0.3 m half-way: parts of no time are not divided for ever, but near a collision."""
    robot = body()
    problem = Problem(robot, [Implicit.equal(Position(robot, "l"), name="place")])
    sides = MovingRightHandSide(function=lambda s: problem.check_rhs([0.3 * (s > 0.5), 0.0, 0.0]))
    piece = Piece(problem, sides, np.array([pose(0.0), pose(0.3)]), np.array([0.0, 1.0]), Options.local())
    ball, wall = Shape("ball", "Sphere", (0.05,), "l"), Shape("wall", "Box", (0.02, 1.0, 1.0), "universe", pose(0.15))
    check = CollisionModel(robot, [ball, wall]).check_path(Path((piece,)))
    assert check.collision is None
    (near,) = check.grazing
    assert 0.5 - 2e-9 <= near.begin <= 0.5 < near.end <= 0.5 + 2e-9


@pytest.mark.usefixtures("engine")
def test_open_space_is_looked_at_once_a_part() -> None:
    robot = body()
    ball, wall = (
        Shape("ball", "Sphere", (0.05,), "l"),
        Shape("wall", "Box", (0.1, 0.1, 0.1), "universe", pose(0.5, 2.0)),
    )
    path = straight(robot, pose(0.0), pose(1.0), "l")
    check = CollisionModel(robot, [ball, wall]).check_path(path)
    assert (check.collision, check.grazing, check.looked) == (None, (), len(path.samples) - 1)


@pytest.mark.usefixtures("engine")
def test_collisions_of_pieces_have_the_time_of_the_path() -> None:
    """The wall is met in the second of three pieces, which last 1, 2 and 3 s."""
    robot = body()
    ball, wall = Shape("ball", "Sphere", (0.05,), "l"), Shape("wall", "Box", (0.02, 1.0, 1.0), "universe", pose(1.56))
    pieces = [straight(robot, pose(float(x)), pose(x + 1.0), "l").pieces[0] for x in range(3)]
    path, model = Path(tuple(pieces), (1.0, 2.0, 3.0)), CollisionModel(robot, [ball, wall])
    found = model.first_collision(path, 1e-4)
    assert found is not None
    assert found.time == pytest.approx(2.0, abs=2.1e-4)
    assert model.first_collision(path.reversed(), 1e-4).time == pytest.approx(3.0 + 0.76, abs=3e-4)  # pyright: ignore[reportOptionalMemberAccess]


def test_motions_are_within_their_bounds() -> None:
    """Every type of joint: points of balls on each joint, seen from the world and from other balls."""
    robot, rng = mixed_tree(), np.random.default_rng(5)
    frames = [name for name in robot.frame_names if name != "universe"]
    chosen = [frames[i] for i in rng.choice(len(frames), 14, replace=False)]
    shapes = [Shape(name, "Sphere", (0.1,), name, pose(*rng.uniform(-0.2, 0.2, 3))) for name in chosen]
    model = CollisionModel(robot, [*shapes, Shape("world", "Sphere", (0.1,))])
    solids = model._has.solids  # pyright: ignore[reportPrivateUsage]
    pairs = [(i, j) for i in range(len(solids)) for j in range(i)]
    data, ratios, smaller, world = robot.model.createData(), list[float](), list[float](), len(solids) - 1
    carried = CarriedSolids(JointMotions(robot), solids)
    for size in (0.05, 0.5):
        for _ in range(40):
            q0, d = robot.random(rng), size * rng.standard_normal(robot.nv)
            if rng.random() < 0.5:
                d *= rng.random(robot.nv) < 0.15
            ways = np.array([robot.space.integrate(q0, s * d) for s in np.linspace(0.0, 1.0, 9)])
            ends = ways[[0, -1]]
            asked = MotionBounds(carried, pairs, carried.reaches_along(ends, d[None]))
            bounds = asked.between(d[None, None], np.zeros((1, 1, robot.nv)), model.checker.balls(ends)[None])[0, 0]
            along_joints = asked._of_pairs.way(asked._speeds(np.abs(d)))  # pyright: ignore[reportPrivateUsage]
            assert (bounds <= along_joints).all()
            smaller.append(float(np.mean(bounds < along_joints)))
            centers = list[np.ndarray]()
            edges = list[np.ndarray]()
            for q in ways:
                pin.forwardKinematics(robot.model, data, q)
                poses = [data.oMi[s.joint] * s.placement for s in solids]
                centers.append(np.array([p.translation for p in poses]))
                edges.append(np.array([p.translation + 0.1 * p.rotation[:, k] for p in poses for k in range(3)]))
            for (i, j), bound in zip(pairs, bounds, strict=True):
                apart = [np.linalg.norm(c[i] - c[j]) for c in centers]
                assert apart[0] - min(apart) <= bound + 1e-12
                if world in (i, j):
                    k = min(i, j)
                    its = [edge[3 * k : 3 * k + 3] for edge in edges]
                    moved = max(np.linalg.norm(each - its[0], axis=1).max() for each in its)
                    assert moved <= bound + 1e-12
                    if bound > 0.0:
                        ratios.append(moved / bound)
    assert len(ratios) > 300
    assert max(ratios) > 0.5
    assert np.median(ratios) > 0.3
    assert np.mean(smaller) > 0.3  # what the motions of balls say matters


def test_motions_of_joints_are_as_large_as_their_bounds() -> None:
    """Elementary joints of every type: velocities and ways of their origins, by plain pinocchio.

    The bound is reached, but for an ellipsoid, whose bound is larger by less than 3.
    """
    robot, rng = mixed_tree(), np.random.default_rng(2)
    motions, (model, _) = JointMotions(robot), expanded(robot.model)
    data, used = model.createData(), np.zeros((3, int(model.njoints) - 1))
    bounds = motions.linear, motions.angular
    for _ in range(60):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-3.0, 3.0, model.nv))
        pin.computeJointJacobians(model, data, q)
        for k, joint in enumerate(model.joints[1:]):
            d = np.zeros(model.nv)
            d[joint.idx_v : joint.idx_v + joint.nv] = rng.standard_normal(joint.nv) * (rng.random(joint.nv) < 0.6)
            velocity = pin.getJointJacobian(model, data, k + 1, pin.LOCAL) @ d
            sizes = [np.linalg.norm(velocity[:3]), np.linalg.norm(velocity[3:])]
            sizes.append(np.linalg.norm((model.jointPlacements[k + 1].inverse() * data.liMi[k + 1]).translation))
            most = [np.sqrt(d**2 @ squares)[k] for squares in bounds]
            most.append(np.sqrt(q**2 @ motions.ways)[k] + motions.most[k])
            for i, (size, bound) in enumerate(zip(sizes, most, strict=True)):
                assert size <= bound + 1e-9
                used[i, k] = max(used[i, k], size / bound if bound > 1e-9 else 1.0)
    for k, joint in enumerate(model.joints[1:]):
        own, places = np.s_[joint.idx_v : joint.idx_v + joint.nv], np.s_[joint.idx_q : joint.idx_q + joint.nq]
        assert not any(np.delete(squares[:, k], own).any() for squares in bounds)
        assert not np.delete(motions.ways[:, k], places).any()
    round_ones = motions.most > 0.0
    assert round_ones.sum() >= 1
    assert used[:, ~round_ones].min() > 0.999
    assert used[:, round_ones].min() > 1.0 / 3.0


def test_a_joint_reaches_as_far_as_a_stretched_arm() -> None:
    """Links of 0.5 and 0.4 m, a slider that comes from 0.1 to 0.3 m, and a ball of 0.05 m, 0.2 m behind it."""
    joints = [("turn", "revolute", 0.3), ("bend", "revolute", 0.5), ("slide", "prismatic", 0.4)]
    links = "".join(f"<link name='l{i}'/>" for i in range(4))
    text = "".join(
        f"<joint name='{name}' type='{kind}'><parent link='l{i}'/><child link='l{i + 1}'/><origin xyz='{x} 0 0'/>"
        f"<axis xyz='{'1 0 0' if kind == 'prismatic' else '0 0 1'}'/>"
        "<limit lower='-3' upper='3' effort='1' velocity='1'/></joint>"
        for i, (name, kind, x) in enumerate(joints)
    )
    robot = Robot.from_urdf(f"<robot name='arm'>{links}{text}</robot>")
    model = CollisionModel(robot, [Shape("ball", "Sphere", (0.05,), "l3", pose(0.2)), PLATE])
    carried = CarriedSolids(JointMotions(robot), model.contents.solids)
    Q = np.array([[0.0, 0.0, 0.1], [0.4, -0.2, 0.3]])
    ball, plate = carried.reaches_along(Q, np.diff(Q, axis=0)).reaches.T
    slid = 0.3 + 0.5 * 0.2  # the farthest, and what is between it and a configuration that was not looked at
    np.testing.assert_allclose(ball, [0.5 + 0.4 + slid + 0.25, 0.4 + slid + 0.25, 0.25], atol=1e-9)
    assert not plate.any()


@pytest.mark.parametrize("bend", [0.0, 2e-4])
def test_what_joints_do_against_each_other_falls_out_of_the_bound(bend: float) -> None:
    """The shoulder turns by 2 mrad and the elbow, where a ball of 0.3 m is, back by one; with what constraints bend."""
    text = "<robot name='arm'><link name='l0'/><link name='l1'/><link name='l2'/>" + "".join(
        f"<joint name='j{i}' type='revolute'><parent link='l{i}'/><child link='l{i + 1}'/><origin xyz='{i} 0 0'/>"
        "<axis xyz='0 0 1'/><limit lower='-3' upper='3' effort='1' velocity='1'/></joint>"
        for i in range(2)
    )
    robot = Robot.from_urdf(f"{text}</robot>")
    model = CollisionModel(robot, [Shape("ball", "Sphere", (0.3,), "l2"), PLATE])
    turn, ends = 1e-3, np.array([[0.0, 0.0], [2e-3, -1e-3]])
    carried = CarriedSolids(JointMotions(robot), model.contents.solids)
    bounds = MotionBounds(carried, [(0, 1)], carried.reaches_along(ends, np.diff(ends, axis=0)))
    bends = np.array([[[0.0, bend]]])
    found = bounds.between(np.diff(ends, axis=0)[None], bends, model.checker.balls(ends)[None])[0, 0, 0]
    along_joints = 2.0 * turn * 1.3 + (turn + bend) * 0.3
    straight = 2.0 * np.sin(turn) + 2.0 * np.sin(0.5 * turn) * 0.3
    strayed = bend * 0.3 + 0.25 * (3.0 * turn + bend) * along_joints
    assert found == pytest.approx(straight + strayed, rel=1e-9)
    assert found < 0.95 * along_joints


def test_between_two_parts_the_longer_one_counts() -> None:
    """How far solids must be apart there, and what bends a part: the larger of what is beside it."""
    np.testing.assert_array_equal(_between(np.array([[3.0, 1.0, 2.0, 5.0]])), [[3.0, 2.0, 5.0]])
    np.testing.assert_array_equal(_beside(np.array([[3.0, 1.0, 2.0]]), np.maximum), [[3.0, 3.0, 2.0, 2.0]])


def test_solids_on_one_side_of_a_joint_do_not_approach() -> None:
    """Two boxes carried by one joint keep their distance, whatever that joint does."""
    robot = Robot.system([Part(name, body()) for name in "ab"])
    shapes = [Shape("one", "Box", (0.1,) * 3, "a/l"), Shape("two", "Box", (0.1,) * 3, "b/l", pose(9.0))]
    model = CollisionModel(robot, shapes)
    solids = model._has.solids  # pyright: ignore[reportPrivateUsage]
    d = np.zeros((1, 12))
    d[0, 4] = 0.5  # only the first turns
    balls = model.checker.balls(np.array([robot.neutral, robot.space.integrate(robot.neutral, d[0])]))
    carried = CarriedSolids(JointMotions(robot), solids)
    bounds = MotionBounds(carried, [(0, 1)], carried.reaches_along(robot.neutral[None], d))
    bound = bounds.between(d[None], np.zeros((1, 1, 12)), balls[None])[0]
    assert bound[0, 0] == pytest.approx(0.5 * np.sqrt(0.03) / 2, rel=1e-9)


def test_bad_input_is_named() -> None:
    robot = body()
    path = straight(robot, pose(0.0), pose(1.0), "l")
    model = CollisionModel(robot, [Shape("ball", "Sphere", (0.05,), "l"), PLATE])
    for wrong in (0.0, -1.0, np.nan, np.inf, "1", None, True):
        with pytest.raises(errors.OptionError, match="resolution of a collision check"):
            model.first_collision(path, wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.UnknownNameError, match="`resolution`"):
        model.first_collision(path, max_angle=0.05)  # pyright: ignore[reportCallIssue]
    with pytest.raises(errors.TruthValueError, match="collision is None"):
        bool(model.check_path(path))
    with pytest.raises(errors.SpaceMismatchError, match="path of a collision check"):
        model.check_path(of_an_arm(np.random.default_rng(0)))
    assert isinstance(model.check_path(path), PathCheck)

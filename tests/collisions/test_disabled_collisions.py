"""Collisions that an SRDF disables: left out by collision models, kept in files, and told."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robot.test_disabled_collisions import ARM, disable, srdf
from robots import needs_robot_data

from constraints import Base, Implicit, Part, Position, Problem, Robot
from constraints.collisions.pairs import LeftOutReason
from constraints.errors import ConstraintError, FileError, OptionError
from constraints.manipulation import (
    Collision,
    CollisionModel,
    ConstraintGraph,
    NoFreeConfigurationError,
    Shape,
    State,
    Transition,
    read_scene,
)
from constraints.planning import PlanningStatus, plan, walk
from constraints.robot.files.packages import find_resource, robot_data_folder

PANDA = "package://example-robot-data/robots/panda_description"
URDF, SRDF = f"{PANDA}/urdf/panda_collision.urdf", f"{PANDA}/srdf/panda.srdf"
BALLS = [Shape("upper ball", "Sphere", (0.06,), "upper"), Shape("hand ball", "Sphere", (0.06,), "hand")]
"""They overlap by 0.02 m, always."""


def peer() -> tuple[Any, Any]:
    """Panda's model and geometry as pinocchio reads them, the pairs of its SRDF removed by pinocchio."""
    folder = robot_data_folder()
    assert folder is not None
    model = pin.buildModelFromUrdf(str(find_resource(URDF)))
    solids = pin.buildGeomFromUrdf(
        model, str(find_resource(URDF)), pin.GeometryType.COLLISION, package_dirs=[str(folder.parent)]
    )
    solids.addAllCollisionPairs()
    pin.removeCollisionPairs(model, solids, str(find_resource(SRDF)))
    return model, solids


def free_by_peer(model: Any, solids: Any) -> Callable[[np.ndarray], bool]:
    data, memory = model.createData(), solids.createData()
    return lambda q: not pin.computeCollisions(model, data, solids, memory, q, True)


@needs_robot_data
def test_panda_with_its_srdf_is_what_pinocchio_says() -> None:
    """Mend 1: the same pairs, and the same answer in 300 random configurations, as pinocchio's `removeCollisionPairs`;
    without the SRDF no configuration is free."""
    robot = Robot.from_urdf(URDF, SRDF)
    model = CollisionModel(robot, urdfs=URDF)
    own, solids = peer()
    names = [str(solid.name) for solid in solids.geometryObjects]
    assert {frozenset(pair) for pair in model.pairs} == {
        frozenset((names[pair.first], names[pair.second])) for pair in solids.collisionPairs
    }
    is_free = free_by_peer(own, solids)
    Q = robot.random(np.random.default_rng(0), 300)
    said = [model.is_free(q) for q in Q]
    assert said == [is_free(q) for q in Q]
    assert sum(said) == 246
    assert model.is_free(robot.reference("default"))
    without = CollisionModel(robot, urdfs=URDF, srdf=False)
    assert not any(without.is_free(q) for q in Q)
    assert without.pairs == CollisionModel(Robot.from_urdf(URDF), urdfs=URDF).pairs


@needs_robot_data
def test_the_model_says_what_it_left_out() -> None:
    """Mend 1: how many pairs, and why: 35 pairs of links in the file, several solids on each link."""
    robot = Robot.from_urdf(URDF, SRDF)
    model = CollisionModel(robot, urdfs=URDF)
    assert len(robot.disabled_collisions) == 35
    assert "35 pairs of links" in robot.describe()
    counts = {reason: sum(pair.reason is reason for pair in model.left_out) for reason in LeftOutReason}
    assert sum(counts.values()) + len(model.pairs) == 39 * 38 // 2
    assert f"{counts[LeftOutReason.DISABLED]} disabled in the SRDF" in repr(model)
    assert f"{counts[LeftOutReason.SAME_JOINT]} on one joint" in repr(model)
    assert "Never" in model.describe()
    assert "35 pairs of links" in model.describe()
    less = model.without(("panda_link0*", "panda_hand*"))
    by_hand = [pair for pair in less.left_out if pair.reason is LeftOutReason.BY_HAND]
    assert len(by_hand) == len(model.pairs) - len(less.pairs) == 9
    assert "9 left out by hand" in repr(less)
    again = pickle.loads(pickle.dumps(less))
    assert (again.pairs, again.left_out, repr(again)) == (less.pairs, less.left_out, repr(less))
    unused = CollisionModel(robot, urdfs=URDF, srdf=False)
    assert "disabled" not in repr(unused)
    assert "not used (srdf=False)" in unused.describe()


@needs_robot_data
def test_systems_keep_the_pairs_of_each_robot() -> None:
    """Mend 1: two Pandas far apart collide where one of them does, and each other's links are looked at."""
    panda = Robot.from_urdf(URDF, SRDF)
    alone = CollisionModel(panda, urdfs=URDF)
    robot = Robot.system([Part("left", panda), Part("right", panda, [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])])
    assert len(robot.disabled_collisions) == 70
    model = CollisionModel(robot, urdfs={"left": URDF, "right": URDF})
    assert len(model.pairs) == 2 * len(alone.pairs) + 39 * 39 - 9  # all of the other, but for the two bases
    Q = panda.random(np.random.default_rng(3), 40)
    for q0, q1 in zip(Q[:20], Q[20:], strict=True):
        q = robot.neutral
        for name in panda.joint_names:
            q[robot.slice_of(f"left/{name}")] = q0[panda.slice_of(name)]
            q[robot.slice_of(f"right/{name}")] = q1[panda.slice_of(name)]
        assert model.is_free(q) == (alone.is_free(q0) and alone.is_free(q1))


def test_what_stands_in_the_world_is_no_neighbour() -> None:
    """Mend 1: a carriage on a rail, or a base on wheels, meets a post in the world; its own rail it may touch."""
    rail = """<robot name='gantry'><link name='rail'/><link name='carriage'/>
      <joint name='x' type='prismatic'><parent link='rail'/><child link='carriage'/><axis xyz='1 0 0'/>
        <limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"""
    post = Shape("post", "Box", (0.1, 0.1, 0.1), "universe", [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    robot = Robot.from_urdf(rail)
    shapes = [
        Shape("beam", "Box", (2.0, 0.1, 0.1), "rail"),
        Shape("carriage", "Box", (0.1, 0.1, 0.1), "carriage"),
        post,
    ]
    model = CollisionModel(robot, shapes)
    assert model.pairs == (("carriage", "post"),)
    for x in (0.39, 0.41, 0.5, 0.59, 0.61):
        assert model.is_free([x]) == (abs(x - 0.5) > 0.1)
    cart = Robot.from_urdf("<robot name='cart'><link name='body'/></robot>", base=Base.PLANAR)
    model = CollisionModel(cart, [Shape("body", "Box", (0.1, 0.1, 0.1), "body"), post])
    assert model.is_free([0.39, 0.0, 1.0, 0.0])
    assert not model.is_free([0.41, 0.0, 1.0, 0.0])
    two = Robot.system([Part("a", robot), Part("b", robot)])
    shapes = [Shape(f"{p}/{link}", "Box", (0.1,) * 3, f"{p}/{link}") for p in "ab" for link in ("rail", "carriage")]
    found = {frozenset(pair) for pair in CollisionModel(two, shapes).pairs}
    assert found == {
        frozenset(pair) for pair in [("a/rail", "b/carriage"), ("b/rail", "a/carriage"), ("a/carriage", "b/carriage")]
    }


def test_a_model_whose_frames_run_in_circles_is_no_trap() -> None:
    """The frame that a frame is fixed on is a number that anybody may have written."""
    model: Any = pin.Model(Robot.from_urdf(ARM).model)
    for wrong in (2, 10**6):
        for frame in model.frames:
            frame.parentFrame = wrong if frame.name != "universe" else 0
        shapes = [Shape("base", "Sphere", (0.1,), "base"), Shape("upper", "Sphere", (0.1,), "upper")]
        assert len(CollisionModel(Robot(model), shapes).left_out) + len(CollisionModel(Robot(model), shapes).pairs) == 1


def test_files_with_broken_pairs_are_refused(tmp_path: Path) -> None:
    """Mend 1: a problem file whose pair names no link says where."""
    robot = Robot.from_urdf(ARM, srdf(disable("upper", "hand")))
    Problem(robot, [Implicit.equal(Position(robot, "hand"), [0.1, 0.1, 0.1], name="at")]).save(tmp_path / "p.json")
    text = (tmp_path / "p.json").read_text()
    for old, new, said in [
        ('["upper", "hand", "Never"]', '["uper", "hand", "Never"]', "uper"),
        ('["upper", "hand", "Never"]', '["upper"]', "two names"),
        ('["upper", "hand", "Never"]', "3", "a list"),
    ]:
        assert old in text
        (tmp_path / "bad.json").write_text(text.replace(old, new))
        with pytest.raises(FileError, match=rf"disabled_collisions.*{said}"):
            Problem.load(tmp_path / "bad.json")


def test_shapes_given_by_hand_are_on_their_links() -> None:
    """Mend 1: a pair of links counts for shapes on these links; one on a frame of another name is looked at."""
    robot = Robot.from_urdf(ARM, srdf(disable("hand", "upper")))
    assert CollisionModel(robot, BALLS).is_free(robot.neutral)
    assert not CollisionModel(robot, BALLS, srdf=False).is_free(robot.neutral)
    tool = robot.with_frame("tool", "hand")
    other = [BALLS[0], Shape("tool ball", "Sphere", (0.06,), "tool")]
    assert CollisionModel(tool, other).collisions(tool.neutral) == (Collision("upper ball", "tool ball"),)


def test_pairs_that_always_collide() -> None:
    """Mend 1: two balls that overlap at every configuration, by construction; a third meets them at times."""
    robot = Robot.from_urdf(ARM)
    floor = Shape("wall", "Box", (1.0, 0.2, 1.0), "universe", [0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 1.0])
    model = CollisionModel(robot, [*BALLS, floor])
    assert model.always_colliding() == (("upper ball", "hand ball"),)
    for seeded, seed in (({}, 0), *(({"seed": seed}, seed) for seed in range(4))):
        met = model.collisions(robot.random(np.random.default_rng(seed)))
        assert model.always_colliding(1, **seeded) == tuple(c[:2] for c in met)
    assert model.without(("upper ball", "hand ball")).always_colliding() == ()
    assert CollisionModel(robot).always_colliding() == ()
    some = [c for q in robot.random(np.random.default_rng(0), 200) for c in model.collisions(q) if "wall" in c[:2]]
    assert 0 < len(some) < 200
    for name, wrong in (("samples", 0), ("samples", 2.5), ("seed", -1), ("samples", True)):
        with pytest.raises(OptionError, match=name):
            model.always_colliding(**{name: wrong})  # pyright: ignore[reportArgumentType]


def test_boxes_that_overlap_deeply_are_found() -> None:
    """The elbow is on the end of one box and 0.05 m inside the other: at coal's own tolerance 6 of 200,000 such pairs
    are free, among them the configuration number 141 here."""
    text = """<robot name='arm'><link name='base'/><link name='upper'/><link name='elbow'/><link name='fore'/>
      <joint name='turn' type='revolute'><parent link='base'/><child link='upper'/><axis xyz='0 0 1'/>
        <limit lower='-3' upper='3' effort='1' velocity='1'/></joint>
      <joint name='bend' type='revolute'><parent link='upper'/><child link='elbow'/><origin xyz='0 0 0.4'/>
        <axis xyz='0 1 0'/><limit lower='-2' upper='2' effort='1' velocity='1'/></joint>
      <joint name='roll' type='revolute'><parent link='elbow'/><child link='fore'/><axis xyz='0 0 1'/>
        <limit lower='-3' upper='3' effort='1' velocity='1'/></joint></robot>"""
    shapes = [
        Shape("upper", "Box", (0.1, 0.1, 0.4), "upper", [0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0]),
        Shape("fore", "Box", (0.1, 0.1, 0.3), "fore", [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]),
    ]
    robot = Robot.from_urdf(text)
    model = CollisionModel(robot, shapes)
    rng = np.random.default_rng(0)
    assert not any(model.is_free(robot.random(rng)) for _ in range(3000))


@needs_robot_data
def test_panda_without_its_srdf_always_collides() -> None:
    """Mend 1: the pairs named are those that meet in each of the same 200 configurations, one by one by pinocchio."""
    robot = Robot.from_urdf(URDF, SRDF)
    model = CollisionModel(robot, urdfs=URDF, srdf=False)
    own, solids = peer()
    solids.removeAllCollisionPairs()
    solids.addAllCollisionPairs()
    data, memory = own.createData(), solids.createData()
    names = [str(solid.name) for solid in solids.geometryObjects]
    always = {(names[pair.first], names[pair.second]) for pair in solids.collisionPairs} & set(model.pairs)
    for q in robot.random(np.random.default_rng(0), 200):
        pin.computeCollisions(own, data, solids, memory, q, False)
        hits = zip(solids.collisionPairs, memory.collisionResults, strict=True)
        always &= {(names[p.first], names[p.second]) for p, result in hits if result.isCollision()}
    assert set(model.always_colliding()) == always != set()
    assert CollisionModel(robot, urdfs=URDF).always_colliding() == ()


def test_no_free_configuration_quotes_what_always_collides() -> None:
    """Mend 1: the error names the pair and the two ways out; free configurations are drawn where there are some."""
    robot = Robot.from_urdf(ARM)
    model = CollisionModel(robot, BALLS)
    with pytest.raises(NoFreeConfigurationError, match="'upper ball' and 'hand ball' collide in all of 200") as caught:
        model.random_free(np.random.default_rng(0), tries=5)
    assert caught.value.pairs == model.always_colliding()
    assert "without" in str(caught.value)
    assert "SRDF" in str(caught.value)
    many = [replace(ball, name=f"{ball.name} {i}") for ball in BALLS for i in range(3)]
    with pytest.raises(NoFreeConfigurationError, match="'upper ball 1' and 'hand ball 0' and 5 pairs more collide"):
        CollisionModel(robot, many).random_free(np.random.default_rng(0), tries=1)
    wall = Shape("wall", "Box", (1.0, 0.2, 1.0), "universe", [0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 1.0])
    some = CollisionModel(robot, [BALLS[1], wall])
    Q = some.random_free(np.random.default_rng(0), 20)
    assert Q.shape == (20, 3)
    assert all(some.is_free(q) for q in Q)
    assert not all(some.is_free(q) for q in robot.random(np.random.default_rng(0), 20))
    assert some.random_free(np.random.default_rng(0)).shape == (3,)
    blocked = CollisionModel(
        Robot.from_urdf("<robot name='box'><link name='body'/></robot>", base=Base.FREE_FLYER),
        [Shape("a", "Sphere", (0.2,), "body"), Shape("floor", "Box", (9.0, 9.0, 0.1))],
    )
    rng = np.random.default_rng
    seed = next(seed for seed in range(1000) if not blocked.is_free(blocked.robot.random(rng(seed))))
    with pytest.raises(NoFreeConfigurationError, match="no pair collides in all of them, 'a' and 'floor' in"):
        blocked.random_free(rng(seed), tries=1)
    with pytest.raises(OptionError, match="tries"):
        model.random_free(np.random.default_rng(0), tries=0)
    with pytest.raises(ConstraintError, match="rng"):
        model.random_free(3)  # pyright: ignore[reportArgumentType]


def test_a_walk_that_collides_everywhere_says_so() -> None:
    """Mend 1: the walk names the pair that always collides, and the start that is in collision; so does a plan."""
    robot = Robot.from_urdf(ARM)
    anywhere = State("anywhere")
    graph = ConstraintGraph(robot, [anywhere], [Transition("go", anywhere, anywhere, anywhere)])
    rng, model = np.random.default_rng, CollisionModel(robot, BALLS)
    for found in (
        walk(graph, robot.neutral, ["go"], rng=rng(0), collisions=model),
        plan(graph, robot.neutral, "anywhere", rng=rng(0), collisions=model),
    ):
        assert found.status is PlanningStatus.START_COLLIDES
        assert found.collisions == (Collision("upper ball", "hand ball"),)
        for text in (str(found), found.describe()):
            assert "upper ball collides with hand ball" in text
            assert "'upper ball' and 'hand ball' collide in all of 200 random configurations" in text
    disabled = robot.with_srdf(srdf(disable("upper", "hand")))
    graph = ConstraintGraph(disabled, [anywhere], [Transition("go", anywhere, anywhere, anywhere)])
    found = walk(graph, robot.neutral, ["go"], rng=rng(0), collisions=CollisionModel(disabled, BALLS))
    assert found.success
    assert found.collisions == ()


def test_a_start_in_collision_is_said_before_a_target_out_of_reach() -> None:
    """What is cheapest to see is said first, and no target is drawn; without a collision model the target is blamed."""
    robot = Robot.from_urdf(ARM)
    far = State("far", [Implicit.zero(Position(robot, "hand", np.array([100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])))])
    anywhere = State("anywhere")
    graph = ConstraintGraph(robot, [anywhere, far], [Transition("go", anywhere, far, anywhere)])
    rng = np.random.default_rng
    found = walk(graph, robot.neutral, ["go"], rng=rng(0), collisions=CollisionModel(robot, BALLS))
    assert (found.status, found.targets, dict(found.refusals)) == (PlanningStatus.START_COLLIDES, 0, {})
    found = walk(graph, robot.neutral, ["go"], rng=rng(0))
    assert found.status is PlanningStatus.NO_SEQUENCE
    assert "the state 'far' was reached from none of 40 random configurations" in found.reason
    assert found.collisions == ()


@needs_robot_data
def test_scenes_give_robots_their_srdf(tmp_path: Path) -> None:
    """Mend 1: the SRDF of a robot in a scene file counts for its collisions too, beside its grippers."""
    import json

    scene = {
        "format": "lie-constraints scene",
        "version": 1,
        "workspace": {"lower": [-1, -1, 0], "upper": [1, 1, 1]},
        "robots": [{"name": "panda", "urdf": URDF, "srdf": "panda.srdf"}],
        "objects": [
            {"name": "box", "size": [0.05, 0.05, 0.05], "handles": [{"name": "h", "pose": [0, 0, 0, 0, 0, 0, 1]}]}
        ],
    }
    given = Path(find_resource(SRDF)).read_text().replace(
        "</robot>", "<gripper name='g'><position>0 0 0.1 1 0 0 0</position><link name='panda_hand'/></gripper></robot>"
    )  # fmt: skip
    (tmp_path / "panda.srdf").write_text(given)
    (tmp_path / "scene.json").write_text(json.dumps(scene))
    read = read_scene(tmp_path / "scene.json")
    assert len(read.robot.disabled_collisions) == 35
    assert "panda/default" in read.robot.references
    assert "disabled in the SRDF" in repr(read.collision_model())

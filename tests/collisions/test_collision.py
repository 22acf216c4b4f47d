"""Collisions: against closed forms of boxes and spheres, and against pinocchio's geometry used directly."""

from __future__ import annotations

import pickle
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from collisions.test_along import pose

from constraints import Base, Implicit, Part, Position, Problem, Robot, errors
from constraints.collisions.pairs import LeftOutReason
from constraints.manipulation import Collision, CollisionModel, Shape, interpolate
from constraints.models import sample_arm
from constraints.paths.relative_motion import CollisionPair
from constraints.robot.files.packages import find_resource, robot_data_folder

BOX = "<robot name='box'><link name='body'/></robot>"
UR5 = "package://example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
CUBES = [Shape(name, "Box", (0.2, 0.2, 0.2), f"{part}/body") for name, part in (("one", "a"), ("two", "b"))]
BALLS = [replace(cube, kind="Sphere", size=(0.1,)) for cube in CUBES]
BALLS_AND_FLOOR = [*BALLS, Shape("floor", "Box", (9.0, 9.0, 0.2))]


def boxes() -> Robot:
    """Two free objects."""
    one = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    return Robot.system([Part("a", one), Part("b", one)])


@pytest.mark.parametrize("gap", [-0.05, -0.001, 0.001, 0.05])
def test_boxes_meet_where_their_sides_do(gap: float) -> None:
    """Two cubes of 0.2 m along x: they meet when their centres are closer than 0.2 m; a margin widens that."""
    model = CollisionModel(boxes(), CUBES)
    q = np.array(pose(0.0) + pose(0.2 + gap))
    assert model.is_free(q) == (gap > 0.0)
    assert model.collisions(q) == ((Collision("one", "two"),) if gap < 0.0 else ())
    wide = model.with_margins({("two", "one"): 0.02})
    assert wide.is_free(q) == (gap > 0.02)
    assert model.with_margins({("two", "one"): -0.02}).is_free(q) == (gap > -0.02)
    assert model.without(("one", "two")).is_free(q)
    assert pickle.loads(pickle.dumps(wide)).is_free(q) == wide.is_free(q)


def test_margins_in_millimetres_or_that_hide_a_pair_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A metre among small shapes, a negative one larger than both; what overlaps or keeps apart by less is fine."""
    model = CollisionModel(boxes(), CUBES)
    for fine in (-0.27, 0.0, 0.9, 1.7):
        CollisionModel(boxes(), CUBES, margin=fine)
        model.with_margins({("one", "two"): fine})
    assert not caplog.messages
    for _ in range(2):
        assert not CollisionModel(boxes(), CUBES, margin=20).is_free(np.array(pose(0.0) + pose(5.0)))
        model.with_margins({("one", "two"): -5.0})
    assert caplog.messages == [
        "margin 20 m of a collision model, whose shapes have a radius of 0.173 m (median): is it in millimetres?",
        "margin -5 m of 'one' and 'two': they overlap by less wherever they are, so they never collide: is it meant?",
    ]


def test_of_several_configurations_those_in_doubt_are_looked_at_where_they_are() -> None:
    """Whichever of them come first, and whatever was looked at before."""
    model = CollisionModel(boxes(), CUBES)
    Q = np.array([pose(0.0) + pose(x) for x in (5.0, 0.1, 5.0, 0.15)])
    expected = np.array([True, False, True, False])
    assert model.checker.decided(Q, np.array([[0, 0], [1, 0], [2, 0], [3, 0]])).tolist() == expected.tolist()
    for row in (0, 1, 0, 2, 3, 1):
        verdicts = model.checker.decided(Q, np.array([[row, 0]]))
        assert verdicts[row] == expected[row]
        assert np.delete(verdicts, row).all()


def test_margins_that_a_small_shape_never_reaches_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A ball in a thin plate overlaps by its radius and half of the plate at most, as coal says."""
    shapes = [Shape("plate", "Box", (0.8, 0.8, 0.06), "a/body"), Shape("ball", "Sphere", (0.02,), "b/body")]
    model, q = CollisionModel(boxes(), shapes, margin=-0.049), np.array(pose(0.0) + pose(0.0))
    assert not model.is_free(q)
    model.with_margins({("plate", "ball"): -(0.5 * 0.06 + 0.02)})  # as deep as it goes
    assert not caplog.messages
    assert model.with_margins({("plate", "ball"): -0.051}).is_free(q)
    model.added(Shape("pin", "Sphere", (0.02,), "b/body", pose(0.5)), Shape("wall", "Box", (0.8,) * 3)).with_margins(
        {("plate", "*"): -0.06}
    )
    assert caplog.messages == [
        "margin -0.051 m of 'plate' and 'ball': they overlap by less wherever they are, so they never collide: is it "
        "meant?",
        "margin -0.06 m of 'plate' and 'ball' (and 1 more): they overlap by less wherever they are, so they never "
        "collide: is it meant?",
    ]


def test_shapes_and_limits_in_millimetres_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A large floor, a far wall, a beam whose end is near, and shapes of robots that go anywhere are not."""
    arm, hand = sample_arm(), Shape("hand", "Sphere", (0.08,), "tool")
    fine = Shape("floor", "Box", (100.0, 100.0, 0.1)), Shape("wall", "Box", (0.1, 9.0, 9.0), placement=pose(90.0))
    beam = Shape("beam", "Box", (400.0, 0.1, 0.1), placement=pose(150.0))
    CollisionModel(arm, [*fine, beam, hand])
    ship, pier = Shape("ship", "Sphere", (200.0,), "a/body"), Shape("pier", "Sphere", (9.0,), placement=pose(500.0))
    CollisionModel(boxes(), [ship, pier, Shape("buoy", "Sphere", (1.0,), "b/body")])
    assert not caplog.messages
    wrong = Shape("hand", "Sphere", (80.0,), "tool"), Shape("post", "Sphere", (0.12,), placement=pose(300.0))
    for _ in range(2):
        model = CollisionModel(arm, wrong)
    path = interpolate(Problem(arm, [Implicit.below(Position(arm, "tool"), [3.0] * 3)]), arm.neutral, arm.neutral)
    model.first_collision(path.or_raise(), 0.9)
    assert len(caplog.messages) == 2
    model.first_collision(path.or_raise(), resolution=20)
    assert [said.partition(",")[0] for said in caplog.messages] == [
        "shape 'hand' has a size of 160 m", "shape 'post' is 300 m away",
        "resolution of a collision check is 20 m: is it in millimetres?",
    ]  # fmt: skip


def test_obstacles_and_links_in_millimetres_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A box that is thick and far away, also beside a free object, and boxes of a file; a tower may be high."""
    robot = Robot.system([Part("arm", sample_arm()), Part("a", Robot.from_urdf(BOX, base=Base.FREE_FLYER))])
    hand = Shape("hand", "Sphere", (0.08,), "arm/tool")
    lid = Shape("lid", "Box", (0.1, 0.1, 0.1), "a/body")
    crate = Shape("crate", "Box", (0.3, 0.1, 0.5), "universe", [0.4, 0.25, 0, 0, 0, 0, 1])
    tower = Shape("tower", "Box", (8.0, 8.0, 60.0), "universe", pose(30.0))
    chain = Robot.from_urdf(CHAIN)
    CollisionModel(robot, [hand, lid, crate, tower])
    CollisionModel(chain, urdfs=CHAIN)
    assert not caplog.messages
    CollisionModel(robot, [hand, lid, Shape("crate", "Box", (300, 100, 500), "universe", [400, 250, 0, 0, 0, 0, 1])])
    CollisionModel(chain, urdfs=CHAIN.replace("'0.1 0.1 0.2'", "'100 100 200'"))
    sizes = {"crate": 500, "a_0": 200, "b_0": 200, "c_0": 200, "d_0": 200}
    assert [said.partition(",")[0] for said in caplog.messages] == [
        f"shape '{name}' has a size of {size} m" for name, size in sizes.items()
    ]


def test_parts_without_a_solid_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """One file of two robots was forgotten; a part that is welded on another has its solid through any frame of its."""
    chain, box = Robot.from_urdf(CHAIN), Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    bit = Robot.from_urdf(BOX).with_frame("tip", "body", [0, 0, 0.1, 0, 0, 0, 1])
    robot = Robot.system([Part("left", chain), Part("right", chain), Part("box", box), Part("bit", bit, on="left/d")])
    caplog.clear()
    model = CollisionModel(robot, urdfs={"left": CHAIN})
    words = "these parts have no solid, so nothing collides with them: "
    assert caplog.messages == [f"collision model of {robot.name}: {words}right, box, bit"]
    assert f"\n  {words}right, box, bit\n" in model.describe()
    assert words not in CollisionModel(chain, urdfs=CHAIN).describe()
    more = [Shape("lid", "Sphere", (0.1,), "box/body"), Shape("drill", "Sphere", (0.01,), "bit/tip")]
    assert f"{words}right\n" in pickle.loads(pickle.dumps(model.added(*more))).describe()
    caplog.clear()
    assert words not in CollisionModel(robot, more, {"left": CHAIN, "right": CHAIN}).describe()
    assert not caplog.messages


def test_a_model_says_what_it_looks_at_and_why_it_is_empty(caplog: pytest.LogCaptureFixture) -> None:
    """Shapes, joints, pairs, margins; of pairs that are asked for and not looked at, why."""
    one, two = BALLS
    model = CollisionModel(boxes(), BALLS_AND_FLOOR, margin=0.02, margins={("one", "two"): 0.05})
    said = "3 shapes on 3 joints, 3 pairs are checked\n  left out: none\n  margins: 0.02, 0.05 m"
    assert (model.describe(), repr(model)) == (said, "CollisionModel(3 shapes, 3 pairs)")
    less = CollisionModel(boxes(), BALLS_AND_FLOOR).without(("one", "two"), ("one", "floor"))
    assert less.describe() == "3 shapes on 3 joints, 1 pair is checked\n  left out: 2 left out by hand"
    assert not caplog.messages
    same = [replace(one, name=name) for name in "xyz"]
    for shapes in ([one], [], same[:2], same):
        assert CollisionModel(boxes(), shapes).pairs == ()
    CollisionModel(boxes(), [one, two]).without(("*", "*"))
    empty = "collision model of a + b: no pair of shapes is checked, so every configuration is free"
    hint = "a Robot brings no shapes, give them by shapes= and urdfs="
    assert [words for words in caplog.messages if "no solid" not in words] == [
        f"{empty} (it has only one shape, 'one'; {hint})",
        f"{empty} (it has no shape; {hint})",
        f"{empty} (left out: 1 on one joint; `left_out` names them)",
        f"{empty} (left out: 3 on one joint; `left_out` names them)",
        f"{empty} (left out: 1 left out by hand; `left_out` names them)",
    ]


def test_of_some_pairs_of_joints_the_others_are_left_out() -> None:
    """With margins of their own, in either order of the joints; a pair may not be given two of them."""
    model = CollisionModel(boxes(), BALLS_AND_FLOOR)
    a, b = "a/root_joint", "b/root_joint"
    assert model.joint_pairs == ((a, b), (a, "universe"), (b, "universe"))
    some = model.among([CollisionPair(b, a, 0.05), CollisionPair("universe", b, 0.0)])
    assert some.pairs == (("one", "two"), ("two", "floor"))
    assert [(pair.a, pair.b, pair.reason) for pair in some.left_out] == [("one", "floor", LeftOutReason.NOT_ASKED)]
    high = np.array(pose(0.0, z=1.0) + pose(0.24, z=1.0))
    assert [c[:2] for c in some.collisions(high)] == [("one", "two")]
    assert model.is_free(high)  # 0.04 m apart: margins add up
    assert model.with_margins({("one", "two"): -0.02}).among([CollisionPair(b, a, 0.05)]).is_free(high)
    assert not model.with_margins({("one", "two"): 0.03}).among([CollisionPair(b, a, 0.02)]).is_free(high)
    assert some.is_free(np.array(pose(0.0) + pose(1.0, z=1.0)))  # the first is in the floor


def test_a_stale_result_is_not_reported() -> None:
    """Asked for the first collision, the pairs after it keep old results: they are not taken for new ones."""
    model = CollisionModel(boxes(), BALLS_AND_FLOOR)
    assert len(model.collisions(np.array(pose(0.0) + pose(0.1)))) == 3
    assert model.is_free(np.array(pose(0.0, z=1.0) + pose(1.0, z=1.0)))
    assert model.collisions(np.array(pose(0.0, z=1.0) + pose(0.1, z=1.0))) == (Collision("one", "two"),)


def test_a_robot_agrees_with_pinocchio() -> None:
    """UR5 with its meshes beside a post: as pinocchio's own geometry model says, configuration by configuration."""
    robot = Robot.system([Part("ur5", Robot.from_urdf(UR5), pose(0.1, 0.2, 0.3))])
    post = Shape("post", "Cylinder", (0.05, 1.0), "universe", pose(0.5, 0.1, 0.5))
    model = CollisionModel(robot, [post], {"ur5": UR5})
    assert "post" in model.names
    assert any(name.startswith("ur5/") for name in model.names)
    coal: Any = import_module("coal")
    folder = robot_data_folder()
    assert folder is not None
    own = pin.buildModelFromUrdf(str(find_resource(UR5)))
    solids = pin.buildGeomFromUrdf(
        own, str(find_resource(UR5)), pin.GeometryType.COLLISION, package_dirs=[str(folder.parent)]
    )
    base = pin.XYZQUATToSE3(np.array(pose(0.1, 0.2, 0.3)))
    cylinder = coal.Cylinder(0.05, 1.0)
    place = pin.XYZQUATToSE3(np.array(pose(0.5, 0.1, 0.5)))
    data = own.createData()
    rng = np.random.default_rng(1)
    met = 0
    for _ in range(200):
        q = rng.uniform(-np.pi, np.pi, 6)
        pin.forwardKinematics(own, data, q)
        hits = set[str]()
        for solid in solids.geometryObjects:
            at = base * data.oMi[solid.parentJoint] * solid.placement
            result = coal.CollisionResult()
            coal.collide(
                solid.geometry, coal.Transform3s(at.rotation, at.translation), cylinder,
                coal.Transform3s(place.rotation, place.translation), coal.CollisionRequest(), result,
            )  # fmt: skip
            if result.isCollision() and solid.parentJoint > 0:
                hits.add(f"ur5/{solid.name}")
        found = {c.a if c.b == "post" else c.b for c in model.collisions(q) if "post" in c[:2]}
        assert found == hits
        met += bool(hits)
    assert 5 < met < 200


@pytest.mark.parametrize("backwards", [False, True])
def test_long_and_short_ways_between_samples_are_all_looked_at(backwards: bool) -> None:
    """A step of a millimetre beside one of a metre, with a wall of 1 cm in the middle of the long one."""
    robot = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    problem = Problem(robot, [Implicit.equal(Position(robot, "body"), mask=[False, False, True], name="height")])
    places = [pose(1.0), pose(0.001), pose(0.0)] if backwards else [pose(0.0), pose(0.001), pose(1.0)]
    first, second = (interpolate(problem, a, b, max_length=2.0).or_raise() for a, b in pairwise(places))
    path = first + second
    assert len(path.samples) == 4  # the one in the middle ends a piece and begins the next
    ball, wall = Shape("ball", "Sphere", (0.01,), "body"), Shape("wall", "Box", (0.01, 1.0, 1.0), "universe", pose(0.5))
    model = CollisionModel(robot, [ball, wall])
    found = model.first_collision(path, resolution=1e-5)
    assert found is not None
    assert found.time is not None
    at = path(found.time)[0]
    assert at == pytest.approx(0.515 if backwards else 0.485, abs=1.1e-5)
    assert CollisionModel(robot, [ball, wall], ignored=[("ball", "wall")]).first_collision(path) is None


CHAIN = (
    "<robot name='chain'>"
    + "".join(
        f"<link name='{n}'><collision><origin xyz='0 0 0.15'/><geometry><box size='0.1 0.1 0.2'/></geometry>"
        "</collision></link>"
        for n in "abcd"
    )
    + "".join(
        f"<joint name='{p}{c}' type='revolute'><parent link='{p}'/><child link='{c}'/><origin xyz='0 0 0.3'/>"
        "<axis xyz='0 1 0'/><limit lower='-3' upper='3' effort='1' velocity='1'/></joint>"
        for p, c in pairwise("abcd")
    )
    + "</robot>"
)


def test_solids_of_a_file_are_found_on_a_reduced_model() -> None:
    """Welcome: `Robot(pin.buildReducedModel(...))` with the URDF of the whole robot; the joint is locked at 1 rad.

    Solids that only a locked joint lies between are on neighbouring joints, and left out: `left_out` names them.
    """
    whole = Robot.from_urdf(CHAIN)
    locked = whole.configuration({"bc": 1.0})
    reduced = Robot(pin.buildReducedModel(whole.model, [whole.joint_index("bc")], locked))
    full, part = (CollisionModel(robot, urdfs=CHAIN, margin=0.2) for robot in (whole, reduced))
    assert part.pairs == (("a_0", "d_0"),)
    assert ("a_0", "c_0") in {(pair.a, pair.b) for pair in part.left_out}
    found = []
    for q in reduced.random(np.random.default_rng(0), 200):
        found.append(("a_0", "d_0", None) in part.collisions(q))
        assert found[-1] == (("a_0", "d_0", None) in full.collisions([q[0], 1.0, q[1]]))
    assert 10 < sum(found) < 190


def test_a_file_without_collision_geometry_is_refused(tmp_path: Path) -> None:
    """A robot of which nothing can collide would look free everywhere."""
    bare = tmp_path / "bare.urdf"
    bare.write_text(BOX)
    with pytest.raises(errors.ModelError, match="no collision geometry"):
        CollisionModel(Robot.from_urdf(bare), urdfs=bare)


TWO_BALLS = """<robot name='balls'><link name='body'>
  <collision><geometry><sphere radius='0.1'/></geometry></collision>
  <collision><origin xyz='1 0 0'/><geometry><sphere radius='0.1'/></geometry></collision></link></robot>"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<sphere radius='0.1'/></geometry></collision></link>", "<ball/></geometry></collision></link>", "'ball'"),
        ("radius='0.1'", "radius='x'", "x"),
        ("radius='0.1'", "radius='-0.1'", "size of 'body_0' must be positive"),
        ("radius='0.1'", "radius='0'", "size of 'body_0' must be positive"),
        ("<sphere radius='0.1'/>", "<box size='0.1 0 0.1'/>", "size of 'body_0' must be positive"),
        ("<sphere radius='0.1'/>", "<cylinder radius='0.1' length='-1'/>", "size of 'body_0' must be positive"),
        ("<sphere radius='0.1'/>", "<mesh filename='nowhere.stl'/>", "nowhere.stl"),
        ("collision>", "colision>", "link 'body': no element is named 'colision'; the nearest names are collision$"),
        ("</collision></link>", "</collision><Collision/></link>", "no element is named 'Collision'"),
        ("<origin", "<orgin", "its <collision>: no element is named 'orgin'; the nearest names are origin"),
        ("xyz=", "xzy=", "its <origin>: no attribute is named 'xzy'; the nearest names are xyz"),
        ("<origin xyz='1 0 0'/>", "<origin xyz='1 0 0'/><origin xyz='2 0 0'/>", "<origin> is given twice"),
        ("radius='0.1'/></g", "radius='0.1'/><sphere radius='0.2'/></g", "several shapes"),
    ],
)
def test_collision_geometry_that_cannot_be_read_is_not_left_out(old: str, new: str, said: str) -> None:
    """One solid of two that pinocchio drops, misplaces or takes with a negative size would look free there."""
    robot = Robot.from_urdf(TWO_BALLS, base=Base.FREE_FLYER)
    assert CollisionModel(robot, urdfs=TWO_BALLS).names == ("body_0", "body_1")
    assert old in TWO_BALLS
    with pytest.raises(errors.ModelError, match=f"collision geometry of URDF text cannot be read.*{said}"):
        CollisionModel(robot, urdfs=TWO_BALLS.replace(old, new))


def test_packages_are_folders() -> None:
    for wrong in (3, [3], [None], None):
        with pytest.raises(errors.WrongObjectError, match="packages"):
            CollisionModel(boxes(), packages=wrong)  # pyright: ignore[reportArgumentType]


def test_bad_input_is_named() -> None:
    robot, shape = boxes(), Shape("x", "Sphere", (1.0,), "a/body")
    with pytest.raises(errors.UnknownFrameError):
        CollisionModel(robot, [replace(shape, frame="c/body")])
    bad: list[Any] = [("x",), ("x", "x", "x"), ("x", 1), (None, "x")]
    for pair in bad:
        with pytest.raises(errors.WrongObjectError, match="pair of shapes: expected two names"):
            CollisionModel(robot, [shape], ignored=[pair])
        with pytest.raises(errors.WrongObjectError, match="pair of shapes: expected two names"):
            CollisionModel(robot, [shape]).without(pair)

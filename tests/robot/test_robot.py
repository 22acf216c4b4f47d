"""Robot: names, frames, configurations, reference postures, systems of several robots. Laws come from pinocchio."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, joint_models, mixed_model, mixed_tree, robots, two_arms

from constraints import errors
from constraints.problem.arguments import wrapping_columns
from constraints.robot import Base, Bounds, Frame, Part, Robot
from constraints.robot.description import Drawing
from constraints.robot.files.disabled_collisions import DisabledCollision
from constraints.robot.frame_table import AmbiguousFrameError, FrameKind
from constraints.robot.model.mimic import Mimic
from constraints.robot.placement import as_placement
from constraints.workspace import Workspace
from liegroups import SE2, SE3, SO2, Rn
from liegroups.errors import DuplicateNameError, OverlapError

DATA = Path(__file__).parent.parent / "data"
BOX = "<robot name='box'><link name='body'/></robot>"


def box() -> Robot:
    return Robot.from_urdf(BOX, base=Base.FREE_FLYER)


def close(a, b, tolerance=1e-12) -> bool:
    return bool(np.abs(a.homogeneous - b.homogeneous).max() < tolerance)


# The model


def test_what_holds_a_model_is_told_where_it_is():
    """Welcome: pinocchio's wrapper, and tuples of a model and its geometries, are no models; the message says where."""
    model = pin.buildSampleModelManipulator()
    with pytest.raises(errors.WrongObjectError, match=r"a pinocchio.Model \(its `.model`\), got RobotWrapper"):
        Robot(pin.RobotWrapper(model))
    for several in ((model, pin.GeometryModel()), [model, None]):
        with pytest.raises(errors.WrongObjectError, match="which is one of these"):
            Robot(cast("Any", several))
    for other in ("arm.urdf", None, 3, (1, 2), model.createData(), pin.Data):
        with pytest.raises(errors.WrongObjectError, match=r"for a file: Robot\.from_urdf"):
            Robot(cast("Any", other))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("addFrame", r"with_frame"),
        ("q0", "neutral"),
        ("data", r"model\.createData"),
        ("collision_model", "CollisionModel"),
    ],
)
def test_words_of_pinocchio_are_answered(name, said):
    """Welcome: what people try on a robot that they have from a pinocchio model."""
    with pytest.raises(AttributeError, match=said):
        getattr(arm(), name)


@pytest.mark.parametrize("robot", robots(), ids=str)
def test_placements_are_pinocchios(robot):
    """Property: each frame is where pinocchio puts it."""
    rng = np.random.default_rng(3)
    data = robot.model.createData()
    for q in robot.random(rng, 20):
        pin.framesForwardKinematics(robot.model, data, q)
        posture = robot.at(q)
        for i, frame in enumerate(robot.model.frames):
            assert close(posture.placement(robot.frame(frame.name)), data.oMf[i])
        for i, joint in enumerate(robot.model.names):
            assert close(posture.placement(robot.frame(joint)), data.oMi[i])


def test_every_joint_type_is_in_the_mixed_tree():
    made = {name for name in dir(pin) if name.startswith("JointModel")} - {"JointModel", "JointModelMimic"}
    assert {joint.shortname().removesuffix("Tpl") for joint in joint_models().values()} == made
    assert mixed_tree().joint_names == tuple(joint_models())


@pytest.mark.parametrize("robot", robots(), ids=str)
def test_factors_are_the_joints(robot):
    assert len(robot.space.factors) == len(robot.joint_names) == robot.model.njoints - 1
    for i, name in enumerate(robot.joint_names, start=1):
        joint = robot.model.joints[i]
        assert robot.joint_index(name) == i
        assert robot.slice_of(name) == slice(joint.idx_q, joint.idx_q + joint.nq)
        assert robot.velocity_slice_of(name) == slice(joint.idx_v, joint.idx_v + joint.nv)
        block = robot.segments(name)
        assert list(block.q) == list(range(joint.idx_q, joint.idx_q + joint.nq))
        assert list(block.v) == list(range(joint.idx_v, joint.idx_v + joint.nv))


def test_the_users_model_is_not_written_to():
    model = mixed_model()
    model.referenceConfigurations["rest"] = pin.neutral(model)
    before = model.saveToString()
    robot = Robot(model, bounds=Bounds.none(Robot(model).space))
    robot = robot.with_frame("extra", "rz", [0, 0, 1, 0, 0, 0, 1]).without_bounds()
    robot.at(robot.random(np.random.default_rng(0)), np.ones(robot.nv)).mass_matrix()
    Robot.system([Part("a", robot), Part("b", robot, on="a/rz_tip")])
    assert model.saveToString() == before
    assert robot.model is not model
    model.lowerPositionLimit = np.full(model.nq, -0.5)
    model.names[1] = "renamed"
    assert robot.joint_names[0] == "rx"


def test_segments_of_several_joints_come_in_the_order_of_q():
    robot = humanoid()
    block = robot.segments("chest_joint", "root_joint")
    assert block.space == SE3 * Rn(1)
    assert list(block.q)[:7] == list(range(7))
    assert len(robot.segments()) == 0
    with pytest.raises(OverlapError, match="chest_joint"):
        robot.segments("chest_joint", "chest_joint")


def test_a_mimic_joint_of_pinocchio_is_refused_by_name():
    model = pin.buildModelFromUrdf(str(DATA / "gripper.urdf"), True)
    with pytest.raises(errors.ModelError, match="other_finger"):
        Robot(model)


def test_two_joints_of_one_name_are_refused():
    model = pin.Model()
    for _ in range(2):
        model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "twin")
    with pytest.raises(DuplicateNameError, match="twin"):
        Robot(model)


def test_a_robot_without_joints_is_one():
    table = Robot.from_urdf("<robot name='table'><link name='top'/></robot>")
    assert (table.nq, table.nv, table.joint_names) == (0, 0, ())
    assert table.frame_names == ("universe", "top")
    assert table.at([]).placement(table.frame("top")) == pin.SE3.Identity()
    assert table.format([])
    assert table.random(np.random.default_rng(0)).shape == (0,)
    assert "table" in table.describe()


# Sharing, copies, pickles


def test_variants_share_the_space():
    robot = arm()
    for other in (
        robot.with_frame("camera", "tool"),
        robot.with_bounds({"elbow": (0.0, 1.0)}),
        robot.without_bounds(),
        robot.with_references({"zero": np.zeros(7)}),
    ):
        assert other.space is robot.space
        assert other.model is robot.model
        assert other is not robot
    assert "camera" not in robot.frame_names
    assert robot.bounds.lower[robot.slice_of("elbow")] == -0.1


@pytest.mark.parametrize("robot", robots(), ids=str)
def test_pickle_and_deepcopy(robot):
    """Property: everything pickles; the digest says that the robot is the same."""
    robot = robot.with_frame("extra", robot.joint_names[-1], [0.1, 0.2, 0.3, 0, 0, 0, 1])
    q = robot.random(np.random.default_rng(5))
    expected = robot.at(q).placement(robot.frame("extra"))
    for other in (pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot)):
        assert other.space.same_robot(robot.space)
        assert other.frame_names == robot.frame_names
        assert other.bounds.space is other.space
        assert (other.bounds.upper == robot.bounds.upper).all()
        assert list(other.references) == list(robot.references)
        assert close(other.at(q).placement(other.frame("extra")), expected)
    assert not robot.space.same_robot(Robot(pin.buildSampleModelManipulator()).space)


def test_a_pickle_ships_the_model_and_no_data():
    robot = humanoid()
    robot.at(robot.neutral, np.zeros(robot.nv)).mass_matrix()
    assert len(pickle.dumps(robot)) < 3 * len(pickle.dumps(robot.model))


def test_it_is_frozen():
    with pytest.raises(AttributeError):
        arm().name = "other"  # pyright: ignore[reportAttributeAccessIssue]


# Frames


@pytest.mark.parametrize(
    "placement",
    [
        pin.SE3(pin.utils.rotate("x", 0.3), np.array([0.1, 0.2, 0.3])),
        pin.SE3(pin.utils.rotate("x", 0.3), np.array([0.1, 0.2, 0.3])).homogeneous,
        pin.SE3ToXYZQUAT(pin.SE3(pin.utils.rotate("x", 0.3), np.array([0.1, 0.2, 0.3]))).tolist(),
    ],
    ids=["SE3", "matrix", "numbers"],
)
def test_offset_and_added_frames(placement):
    robot = arm()
    fMg = pin.SE3(pin.utils.rotate("x", 0.3), np.array([0.1, 0.2, 0.3]))
    q = robot.random(np.random.default_rng(6))
    expected = robot.at(q).placement(robot.frame("tool")) * fMg
    assert close(robot.at(q).placement(robot.frame("tool", placement)), expected)
    assert close(robot.at(q).placement(robot.frame(robot.frame("tool"), placement)), expected)
    added = robot.with_frame("camera", "tool", placement)
    assert close(added.at(q).placement(added.frame("camera")), expected)
    assert added.frame_names[-1] == "camera"
    on_top = added.with_frame("lens", "camera", fMg)
    assert close(on_top.at(q).placement(on_top.frame("lens")), expected * fMg)


def test_an_unknown_frame_lists_the_nearest():
    with pytest.raises(errors.UnknownFrameError, match="wrist_roll") as caught:
        arm().frame("wrist_rol")
    assert set(caught.value.valid) == set(arm().frame_names)
    with pytest.raises(errors.UnknownFrameError, match="frame"):
        arm().frame("")
    with pytest.raises(errors.WrongObjectError, match="int"):
        arm().frame(3)  # pyright: ignore[reportArgumentType]


def test_frames_at_different_places_with_one_name():
    model = pin.buildSampleModelManipulator()
    shift = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5]))
    model.addFrame(pin.Frame("elbow_joint", model.getJointId("elbow_joint"), 0, shift, pin.FrameType.BODY))
    robot = Robot(model)
    with pytest.raises(AmbiguousFrameError, match=r"elbow_joint.*joint, body.*kind=FrameKind"):
        robot.frame("elbow_joint")
    assert robot.frame("elbow_joint", kind=FrameKind.BODY).placement == shift
    assert robot.frame("elbow_joint", kind=FrameKind.JOINT).placement == pin.SE3.Identity()
    with pytest.raises(errors.UnknownFrameError):
        robot.frame("elbow_joint", kind=FrameKind.SENSOR)
    pickled = pickle.loads(pickle.dumps(AmbiguousFrameError("a", (FrameKind.BODY, FrameKind.JOINT))))
    assert pickled.kinds == (FrameKind.BODY, FrameKind.JOINT)


def test_frames_of_one_kind_at_different_places_with_one_name_are_refused():
    model = pin.Model(arm().model)
    for name, height in (("twice", 0.0), ("other", 0.1)):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, height]))
        model.addFrame(pin.Frame(name, 1, place, pin.FrameType.OP_FRAME))
    model.frames[-1].name = "twice"
    with pytest.raises(errors.ModelError, match="two frames of kind 'operational frame' named 'twice'"):
        Robot(model)


def test_the_placement_of_a_frame_does_not_change():
    placement: Any = arm().frame("tool").placement
    for change in (placement.setIdentity, placement.setRandom):
        with pytest.raises(errors.FrozenValueError, match="FixedPlacement"):
            change()


def test_frames_at_the_same_place_with_one_name_are_one():
    model = pin.buildSampleModelManipulator()
    model.addFrame(pin.Frame("elbow_joint", model.getJointId("elbow_joint"), 0, pin.SE3.Identity(), pin.FrameType.BODY))
    assert Robot(model).frame("elbow_joint").joint == 4


def test_bad_frames_are_refused():
    robot = arm()
    with pytest.raises(DuplicateNameError, match="tool"):
        robot.with_frame("tool", "elbow")
    with pytest.raises(errors.WrongObjectError, match="name"):
        robot.with_frame("", "elbow")
    with pytest.raises(errors.ModelError, match="larm6_joint"):
        robot.frame(humanoid().frame("larm6_joint"))
    with pytest.raises(errors.ModelError, match="chest"):
        robot.frame(Frame("chest", 3, joint_name="chest_joint"))
    with pytest.raises(errors.ConstraintError, match="camera"):
        robot.with_frame("camera", "tool", [0, 0, 0, 0, 0, 0, 2])


# Configurations


def test_configuration_of_each_kind_of_joint():
    robot = mixed_tree()
    R = pin.utils.rotate("z", 0.7) @ pin.utils.rotate("x", -0.4)
    M = pin.SE3(R, np.array([0.1, 0.2, 0.3]))
    xyzw = pin.Quaternion(R).coeffs()
    q = robot.configuration(rx=0.5, rubx=0.4, ruby=[0.6, 0.8], planar=(1, 2, 0.3), spherical=R, free=M, px=[0.2])
    assert q[robot.slice_of("rx")] == 0.5
    assert q[robot.slice_of("rubx")] == pytest.approx([np.cos(0.4), np.sin(0.4)])
    assert q[robot.slice_of("ruby")] == pytest.approx([0.6, 0.8])
    assert q[robot.slice_of("planar")] == pytest.approx([1, 2, np.cos(0.3), np.sin(0.3)])
    assert abs(q[robot.slice_of("spherical")] @ xyzw) == pytest.approx(1.0)
    assert q[robot.slice_of("free")][:3].tolist() == [0.1, 0.2, 0.3]
    others = robot.configuration(
        {
            "planar": [1, 2, 0, 1],
            "spherical": pin.Quaternion(R),
            "free": np.r_[M.translation, xyzw],
            "translation": (1, 2, 3),
            "composite": np.r_[1, 2, 3, xyzw],
        },
        start=q,
    )
    assert others[robot.slice_of("planar")].tolist() == [1, 2, 0, 1]
    assert abs(others[robot.slice_of("spherical")] @ xyzw) == pytest.approx(1.0)
    assert robot.configuration(free=M.homogeneous)[robot.slice_of("free")] == pytest.approx(q[robot.slice_of("free")])
    assert others[robot.slice_of("composite")] == pytest.approx(np.r_[1, 2, 3, xyzw])
    assert others[robot.slice_of("rx")] == 0.5
    assert robot.configuration(start=q) is not q
    assert (robot.configuration() == pin.neutral(robot.model)).all()
    nearly = robot.configuration(spherical=xyzw * (1 + 1e-7))
    assert abs(np.linalg.norm(nearly[robot.slice_of("spherical")]) - 1.0) < 1e-15


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"rxx": 1.0}, errors.UnknownJointError, ["rxx", "rx"]),
        ({"universe": 1.0}, errors.UnknownJointError, ["universe"]),
        ({"rx": [1.0, 2.0]}, errors.SizeError, ["rx", "one number"]),
        ({"rx": "fast"}, errors.DtypeError, ["rx", "fast"]),
        ({"rx": True}, errors.DtypeError, ["rx"]),
        ({"rx": None}, errors.DtypeError, ["rx"]),
        ({"rx": 1j}, errors.DtypeError, ["rx"]),
        ({"rx": np.nan}, errors.NotFiniteError, ["rx"]),
        ({"rubx": [1.0, 1.0]}, errors.NotNormalizedError, ["rubx", "cos"]),
        ({"rubx": [1.0, 0.0, 0.0]}, errors.SizeError, ["rubx", "angle"]),
        ({"planar": [1.0, 2.0]}, errors.SizeError, ["planar", "x, y, angle"]),
        ({"spherical": 2 * np.eye(3)}, errors.NotNormalizedError, ["spherical", "off by 3"]),
        ({"spherical": np.diag([1.0, 1.0, -1.0])}, errors.NotNormalizedError, ["spherical", "reflect"]),
        ({"spherical": [1.0, 0.0, 0.0]}, errors.SizeError, ["spherical", "quaternion"]),
        ({"spherical": [[0.0, 0.0, 0.0, 1.0]]}, errors.SizeError, ["spherical", "quaternion"]),
        ({"spherical": pin.SE3.Identity()}, errors.WrongObjectError, ["spherical", "quaternion"]),
        ({"free": [0, 0, 0, 0, 0, 0, 2]}, errors.NotNormalizedError, ["free", "quaternion"]),
        ({"free": [0, 0, 0]}, errors.SizeError, ["free", "7 numbers"]),
        ({"free": np.zeros((4, 4))}, errors.NotNormalizedError, ["free"]),
        ({"composite": np.zeros(7)}, errors.NotNormalizedError, ["composite"]),
        ({"translation": [[1, 2], [3]]}, errors.WrongObjectError, ["translation"]),
        ([1, 2], errors.WrongObjectError, ["mapping"]),
    ],
)
def test_bad_values_are_refused_by_name(values, error, words):
    with pytest.raises(error) as caught:
        mixed_tree().configuration(values)
    for word in words:
        assert word in str(caught.value)


def test_configuration_starts_at_a_reference_posture():
    robot = arm()
    q = robot.configuration(start="home", elbow=1.0)
    expected = robot.reference("home")
    expected[robot.slice_of("elbow")] = 1.0
    assert (q == expected).all()
    with pytest.raises(errors.UnknownNameError, match="home"):
        robot.configuration(start="hom")
    with pytest.raises(DuplicateNameError, match="elbow"):
        robot.configuration({"elbow": 1.0}, elbow=2.0)
    with pytest.raises(errors.SizeError, match="start"):
        robot.configuration(start=[0.0])


def test_reference_is_a_copy():
    robot = arm()
    robot.reference("home")[:] = 9.0
    assert robot.bounds.contains(robot.reference("home"))
    with pytest.raises(ValueError, match="read-only"):
        robot.references["home"][0] = 1.0
    model = pin.buildSampleModelManipulator()
    model.referenceConfigurations["rest"] = np.full(6, 0.1)
    assert Robot(model).reference("rest").tolist() == [0.1] * 6
    with pytest.raises(errors.SizeError, match="rest"):
        Robot(model, references={"rest": [1.0]})


def test_mimics_name_joints():
    mimic = Mimic("elbow", "wrist_roll", 2.0, 0.1)
    assert Robot(arm().model, mimics=[mimic]).mimics == (mimic,)
    with pytest.raises(errors.UnknownJointError, match="wrist"):
        Robot(arm().model, mimics=[Mimic("elbow", "wrist")])


@pytest.mark.parametrize("robot", robots(), ids=str)
def test_random_is_in_bounds_normalised_and_seeded(robot):
    Q = robot.random(np.random.default_rng(0), 200)
    assert Q.shape == (200, robot.nq)
    assert (Q == robot.random(np.random.default_rng(0), 200)).all()
    for q in Q:
        assert robot.bounds.contains(q)
        assert robot.space.is_normalized(q, 1e-12)
    assert robot.random(np.random.default_rng(0)).shape == (robot.nq,)
    assert robot.random(np.random.default_rng(0), 0).shape == (0, robot.nq)


def test_random_follows_the_bounds_of_each_copy():
    """A robot keeps what it draws from; copies with other bounds draw from theirs."""
    robot = mixed_tree()
    before = robot.random(np.random.default_rng(2), 50)
    narrow = robot.with_bounds({"px": (0.25, 0.5)})
    drawn = narrow.random(np.random.default_rng(2), 50)[:, robot.slice_of("px")]
    assert ((drawn >= 0.25) & (drawn <= 0.5)).all()
    np.testing.assert_array_equal(robot.random(np.random.default_rng(2), 50), before)


@pytest.mark.parametrize(
    ("given", "drawn"),
    [
        ((-10.0, 10.0), (-np.pi, np.pi)), ((-np.pi, np.pi), (-np.pi, np.pi)), ((1.0, 9.0), (1.0, np.pi)),
        ((-9.0, 0.5), (-np.pi, 0.5)), ((np.pi, 4.0), (np.pi, np.pi)), ((-4.0, -np.pi), (-np.pi, -np.pi)),
        ((3.5, 4.0), (3.5, 4.0)), ((-7.0, -4.0), (-7.0, -4.0)), ((-np.inf, np.inf), (-np.pi, np.pi)),
    ],
)  # fmt: skip
def test_random_angles_are_what_bounds_leave_of_a_turn(given, drawn):
    """All of an interval that has nothing of [-pi, pi]."""
    robot = arm().with_bounds({"elbow": given})
    angles = robot.random(np.random.default_rng(1), 400)[:, robot.slice_of("elbow")]
    assert angles.min() >= drawn[0]
    assert angles.max() <= drawn[1]
    np.testing.assert_allclose([angles.min(), angles.max()], drawn, rtol=0, atol=0.02 * (drawn[1] - drawn[0]))


def test_random_ranges():
    robot = mixed_tree().with_bounds({"rx": (3.0, 100.0), "ry": (4.0, 5.0), "px": (-50.0, np.inf), "rz": (-1.0, 0.5)})
    Q = robot.random(np.random.default_rng(1), 4000)

    def span(joint: str) -> list[float]:
        values = Q[:, robot.slice_of(joint)]
        return [values.min(), values.max()]

    assert span("rx") == pytest.approx([3.0, np.pi], abs=1e-3)
    assert span("ry") == pytest.approx([4.0, 5.0], abs=1e-2)
    assert span("rz") == pytest.approx([-1.0, 0.5], abs=1e-2)
    assert span("revolute") == pytest.approx([-np.pi, np.pi], abs=1e-2)
    assert span("helical") == pytest.approx([-np.pi, np.pi], abs=1e-2)
    assert span("py") == pytest.approx([-1.0, 1.0], abs=1e-2)
    assert span("translation") == pytest.approx([-1.0, 1.0], abs=1e-2)
    angles = np.arctan2(Q[:, robot.slice_of("rubx")][:, 1], Q[:, robot.slice_of("rubx")][:, 0])
    assert [angles.min(), angles.max()] == pytest.approx([-np.pi, np.pi], abs=1e-2)
    # Haar: the entries of a uniform rotation matrix have mean 0 and variance 1/3.
    R = np.array([pin.Quaternion(x).matrix() for x in Q[:, robot.slice_of("spherical")]])
    assert np.abs(R.mean(axis=0)).max() < 0.05
    assert np.abs(R.var(axis=0) - 1 / 3).max() < 0.03
    with pytest.raises(errors.WrongObjectError, match="default_rng"):
        robot.random(3)  # pyright: ignore[reportArgumentType]
    for size in (-1, 2.5, (2, 3)):
        with pytest.raises(errors.OptionError, match="size"):
            robot.random(np.random.default_rng(0), size)  # pyright: ignore[reportArgumentType]


def test_which_joints_wrap():
    """Property: what may be shifted by whole turns changes no placement when it is."""
    robot = mixed_tree()
    q = robot.random(np.random.default_rng(2))
    start = [robot.at(q).placement(robot.frame(name)) for name in robot.frame_names]
    for entry, column in zip(robot.space.vector_q, robot.space.vector_v, strict=True):
        turned = q.copy()
        turned[entry] += 2 * np.pi
        same = all(
            close(robot.at(turned).placement(robot.frame(name)), before, 1e-9)
            for name, before in zip(robot.frame_names, start, strict=True)
        )
        assert same == wrapping_columns(robot.space, robot.bounds, ())[column]
    assert wrapping_columns(robot.space, robot.bounds, ()).sum() == 13
    ends = {"rx": (-np.pi, np.pi), "ry": (-3.0, 3.0), "rz": (0.0, np.inf), "revolute": (0.0, 2 * np.pi - 9e-7)}
    wraps = wrapping_columns(robot.space, robot.with_bounds(ends).bounds, ())
    assert [bool(wraps[robot.velocity_slice_of(joint)][0]) for joint in ends] == [True, False, True, True]


@pytest.mark.parametrize(
    ("q", "error"),
    [
        (np.zeros(6), errors.SizeError),
        (np.zeros((1, 7)), errors.SizeError),
        ("home", errors.DtypeError),
        ([np.nan] * 7, errors.NotFiniteError),
        ([True] * 7, errors.DtypeError),
    ],
)
def test_bad_configurations_are_refused(q, error):
    for door in (arm().check, arm().at, arm().format):
        with pytest.raises(error):
            door(q)


def test_at_makes_postures_and_motions():
    robot = two_arms()
    q = robot.random(np.random.default_rng(0))
    workspace = Workspace()
    v = np.ones(robot.nv)
    assert (robot.at(q, workspace=workspace).q == q).all()
    assert (robot.at(q, workspace).q == q).all()
    assert (robot.at(q, v, workspace).v == v).all()
    M = robot.at(q, v).mass_matrix()
    assert np.allclose(M, pin.crba(robot.model, robot.model.createData(), q))


def test_printing():
    robot = mixed_tree().with_bounds({"rx": (-1.0, 1.0), "translation": (-1.0, 1.0)})
    q = robot.configuration(rx=1.5, ry=0.5, translation=[0.0, -2.0, 0.0])
    lines = robot.format(q).splitlines()
    assert len(lines) == len(robot.joint_names)
    assert lines[0].split()[:3] == ["rx", "revolute", "x"]
    assert "OUT OF BOUNDS: 1.5 > 1" in lines[0]
    assert "0.5000 rad (28.6 deg)" in lines[1]
    assert "OUT" not in lines[1]
    assert "-2 < -1" in lines[robot.joint_index("translation") - 1]
    text = robot.describe()
    assert all(joint in text for joint in robot.joint_names)
    half = mixed_tree().with_bounds({"rx": (-1.0, np.inf), "ry": (-np.inf, 2.0)}).describe()
    assert "revolute x, [-1, inf]\n" in half
    assert "revolute y, [-inf, 2]\n" in half
    assert "disabled" not in text
    links = [frame.name for frame in arm().model.frames if frame.type == pin.FrameType.BODY]
    pairs = [DisabledCollision(links[0], link) for link in links[1:4]]
    assert "disabled collisions: 3 pairs of links" in Robot(arm().model, disabled_collisions=pairs).describe()
    assert "mixed" in str(robot)


def test_what_is_drawn_beside_a_robot_is_checked_once():
    placement: Any = pin.SE3.Identity()
    several = iter([placement, [1, 2, 3, 0, 0, 0, 1]])
    drawing = Drawing(placements=several, names=True, degrees=False, packages="folder")
    assert [as_placement(one).translation.tolist() for one in drawing.placements] == [[0, 0, 0], [1, 2, 3]]
    assert drawing.packages == ("folder",)
    mistakes: list[dict[str, Any]] = [
        {"names": "yes"},
        {"degrees": 1},
        {"placements": placement},
        {"placements": [0, 0, 0, 0, 0, 0, 1]},
        {"tips": "hand"},
        {"shapes": 3},
    ]
    for wrong in mistakes:
        with pytest.raises(errors.WrongObjectError, match=next(iter(wrong))):
            Drawing(**wrong)
    assert Drawing.of(None, "a page", "names").names is False
    assert Drawing.of(drawing, "a page", "tips", "colour", "urdfs") is drawing
    with pytest.raises(errors.OptionError, match="a page has no names, placements; leave them out"):
        Drawing.of(drawing, "a page", "names", "placements", "forces")
    with pytest.raises(errors.WrongObjectError, match="drawing"):
        Drawing.of({"names": True}, "a page")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("axis", ["0 -1 0", "0.6 0 0.8", "0 0 -1"])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_printing_says_the_axis_of_a_joint_along_any(kind, axis):
    """Issue 18, a four-bar in an upright plane: pins about -y were "revolute", and nobody could see about what."""
    robot = Robot.from_urdf(
        f"""<robot name="one"><link name="a"/><link name="b"/><joint name="pin" type="{kind}"><parent link="a"/>
        <child link="b"/><axis xyz="{axis}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    )
    words = {"0 -1 0": "-y", "0.6 0 0.8": "(0.6, 0, 0.8)", "0 0 -1": "-z"}[axis]
    assert f"pin  {kind} {words}, " in robot.describe()
    assert robot.format(robot.neutral).startswith(f"pin  {kind} {words}  ")


def test_printing_has_no_negative_zero():
    """Issue 18: an angle of -1e-17 rad was "-0.0000 rad (-0.0 deg)"."""
    robot = mixed_tree()
    q = robot.configuration(rx=-1e-17, ry=-0.0, translation=[-1e-9, 0.0, 0.0])
    assert " 0.0000 rad (0.0 deg)" in robot.format(q).splitlines()[0]
    assert "-0.0" not in robot.format(q)


# Systems


def test_a_system_moves_as_its_parts():
    """Property: frames of a system are those of its parts, placed."""
    oMa = pin.SE3(pin.utils.rotate("z", 0.5), np.array([1.0, 0.0, 0.2]))
    tMm = pin.SE3(pin.utils.rotate("y", -0.5), np.array([0.0, 0.1, 0.2]))
    first = arm().with_frame("camera", "elbow", [0, 0.1, 0, 0, 0, 0, 1])
    system = Robot.system([Part("a", first, oMa), Part("m", mixed_tree(), tMm, on="a/camera"), Part("b", box())])
    rng = np.random.default_rng(0)
    qs = {"a": first.random(rng), "m": mixed_tree().random(rng), "b": box().random(rng)}
    parts = {"a": first, "m": mixed_tree(), "b": box()}
    q = system.configuration(
        {f"{p}/{j}": qs[p][robot.slice_of(j)] for p, robot in parts.items() for j in robot.joint_names}
    )
    assert set(system.joint_names) == {f"{p}/{j}" for p, robot in parts.items() for j in robot.joint_names}
    assert system.name == "a + m + b"
    posture = system.at(q)
    base = {"a": oMa, "m": oMa * first.at(qs["a"]).placement(first.frame("camera")) * tMm, "b": pin.SE3.Identity()}
    for p, robot in parts.items():
        own = robot.at(qs[p])
        for name in robot.frame_names:
            if name != "universe":
                expected = base[p] * own.placement(robot.frame(name))
                assert close(posture.placement(system.frame(f"{p}/{name}")), expected, 1e-11)
        for joint in robot.joint_names:
            assert (
                system.bounds.lower[system.slice_of(f"{p}/{joint}")] == robot.bounds.lower[robot.slice_of(joint)]
            ).all()
    M = posture.space.at(q, np.zeros(system.nv)).mass_matrix()
    assert np.allclose(M, pin.crba(system.model, system.model.createData(), q))
    mass = sum(pin.computeTotalMass(robot.model) for robot in parts.values())
    assert pin.computeTotalMass(system.model) == pytest.approx(mass)


def test_a_system_keeps_bounds_references_and_mimics():
    elbows = arm().with_bounds({"elbow": (0.0, 0.5)})
    elbows = Robot(
        elbows.model, bounds=elbows.bounds, references=elbows.references, mimics=[Mimic("elbow", "wrist_roll")]
    )
    system = Robot.system([Part("left", elbows), Part("right", arm(), [0, 1, 0, 0, 0, 0, 1])], name="pair")
    assert system.name == "pair"
    assert system.bounds.upper[system.slice_of("left/elbow")] == 0.5
    assert system.bounds.upper[system.slice_of("right/elbow")] == 2.6
    assert system.mimics == (Mimic("left/elbow", "left/wrist_roll"),)
    assert list(system.references) == ["left/home", "right/home"]
    home = system.reference("right/home")
    assert (home[7:] == arm().reference("home")).all()
    assert (home[:7] == 0.0).all()
    nested = Robot.system([Part("cell", system), Part("box", box(), on="cell/left/tool")])
    assert "cell/left/home" in nested.references
    assert nested.joint_names.count("box/root_joint") == 1
    tool, attached = nested.joint_names.index("cell/left/wrist_roll"), nested.joint_names.index("box/root_joint")
    assert attached > tool  # pinocchio puts what hangs on a joint after it


def test_a_part_may_stand_on_a_joint_whose_model_has_no_frames():
    """Models that are made with `addJoint` alone."""
    model = pin.Model()
    for i in range(2):
        model.addJoint(i, pin.JointModelRX(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0])), f"j{i + 1}")
    bare = Robot(model)
    system = Robot.system([Part("a", bare), Part("b", box(), [0, 1, 0, 0, 0, 0, 1], on="a/j2")])
    q = system.configuration({"a/j1": 0.3, "a/j2": -0.5})
    seat = bare.at([0.3, -0.5]).placement("j2") * pin.SE3(np.eye(3), np.array([0.0, 1.0, 0.0]))
    assert close(system.at(q).placement("b/root_joint"), seat, 1e-12)


def test_bad_systems_are_refused():
    with pytest.raises(DuplicateNameError, match="'a'"):
        Robot.system([Part("a", arm()), Part("a", arm())])
    with pytest.raises(errors.UnknownFrameError, match="a/tool"):
        Robot.system([Part("a", arm()), Part("b", box(), on="a/tol")])
    with pytest.raises(errors.UnknownFrameError, match="b/body"):
        Robot.system([Part("b", box(), on="b/body")])
    with pytest.raises(errors.WrongObjectError, match="part 1"):
        Robot.system([Part("a", arm()), arm()])  # pyright: ignore[reportArgumentType]
    for names in (("a", "a/b"), ("a/b", "a")):
        with pytest.raises(errors.OptionError, match="'a/b' names what is within part 'a'"):
            Robot.system([Part(name, arm()) for name in names])
    assert Robot.system([Part("a/b", arm()), Part("a/c", arm())]).nq == 2 * arm().nq
    with pytest.raises(errors.WrongObjectError, match="'a'"):
        Robot.system([Part("a", arm().model)])  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.WrongObjectError, match="name of part 0"):
        Robot.system([Part("", arm())])
    with pytest.raises(errors.NotNormalizedError, match="'a'"):
        Robot.system([Part("a", arm(), [0, 0, 0, 1, 1, 1, 1])])
    assert Robot.system([]).nq == 0


@pytest.mark.parametrize("given", [None, 3, [], {}, b"elbow"])
def test_what_is_no_name_is_refused(given):
    for door in (arm().frame, arm().slice_of, arm().segments, arm().reference, arm().joint_index):
        with pytest.raises(errors.ConstraintError):
            door(given)


def test_fuzzed_names_end_in_errors_that_name_the_culprit():
    """Property 9: bad input ends in a ConstraintError child that names it."""
    rng = np.random.default_rng(0)
    robot = two_arms()
    known = set(robot.frame_names)
    for _ in range(300):
        name = list(str(rng.choice(sorted(known))))
        for _ in range(int(rng.integers(1, 3))):
            name[int(rng.integers(len(name)))] = chr(int(rng.integers(33, 0x2FF)))
        typo = "".join(name)
        if typo in known:
            continue
        for door in (robot.frame, robot.slice_of, robot.velocity_slice_of, robot.segments, robot.reference):
            with pytest.raises(errors.UnknownNameError) as caught:
                door(typo)
            assert caught.value.name == typo
            assert repr(typo) in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_placements_that_are_not_finite_are_refused(bad: float) -> None:
    """A joint or a frame, by its name: nothing that is computed from there would be a number."""
    away = pin.SE3(np.eye(3), np.array([0.0, bad, 0.0]))
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), away, "elbow")
    with pytest.raises(errors.ModelError, match="joint 'elbow'"):
        Robot(model)
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "elbow")
    model.addFrame(pin.Frame("tool", joint, 0, away, pin.FrameType.OP_FRAME))
    with pytest.raises(errors.ModelError, match="frame 'tool'"):
        Robot(model)


@pytest.mark.parametrize("R", [2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0])])
def test_placements_whose_rotation_is_none_are_refused(R: Any) -> None:
    """Pinocchio multiplies by any matrix: lengths would be wrong from there on."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3(R, np.zeros(3)), "elbow")
    with pytest.raises(errors.NotNormalizedError, match="placement of joint 'elbow'"):
        Robot(model)


@pytest.mark.parametrize("size", [0.0, 1e-16, 1.1e-14, 1e-12, 1e-10, 1e-8, 2e-8, 1e-6, 1e-3, 1.0, 3.0, np.pi - 1e-7])
def test_maps_are_exact_at_turns_of_any_size(size: float) -> None:
    """Those for one vector, where Pinocchio's are not on SO(2) and SE(2), against those of the groups over rows."""
    rng = np.random.default_rng(4)
    for robot in (mixed_tree(), humanoid()):
        space = robot.space
        turns = np.ones(space.nv, dtype=bool)
        for leaf in space.leaves():
            moves = 2 if leaf.space == SE2 else 3 if leaf.space == SE3 else 0
            turns[leaf.v.start : leaf.v.start + moves] = False
            turns[leaf.v] &= not leaf.space.is_flat
        q, v = robot.random(rng, 40), rng.uniform(-1.0, 1.0, (40, space.nv))
        v[:, turns] = np.sign(v[:, turns]) * size / np.sqrt(3.0)  # of a rotation vector no longer than half a turn
        for leaf in space.leaves():
            if leaf.space in (SO2, SE2):
                v[:, leaf.v.stop - 1] = rng.choice([-size, size], 40)
        there = space.integrate(q, v)
        np.testing.assert_allclose([space.integrate(*row) for row in zip(q, v, strict=True)], there, atol=1e-13)
        moved = [space.difference(*row) for row in zip(q, there, strict=True)]
        np.testing.assert_allclose(moved, space.difference(q, there), atol=1e-13)
        again = [space.integrate(*row) for row in zip(q, moved, strict=True)]
        np.testing.assert_allclose(np.abs(again), np.abs(there), atol=1e-13)  # a quaternion up to its sign

"""Grippers, handles and surfaces from SRDF; grasps and placements. Truth from plain pinocchio."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, needs_robot_data
from scenes import record, scene

from constraints import Base, Explicit, Implicit, Part, Problem, Projector, Robot, Surface, manipulation
from constraints.errors import ConstraintError, FileError, GraphError, WrongObjectError
from constraints.manipulation.factory.semantics import Semantics

SRDF = Path(__file__).resolve().parent.parent / "data" / "box.srdf"
BOX = "<robot name='box'><link name='base_link'/></robot>"


@functools.cache
def system() -> Robot:
    """An arm and a box on a free-flyer."""
    return Robot.system([Part("arm", arm()), Part("box", Robot.from_urdf(BOX, base=Base.FREE_FLYER))])


@functools.cache
def semantics() -> Semantics:
    return manipulation.read_semantics(system(), SRDF, "box")


def gripper(clearance: float = 0.03) -> manipulation.Gripper:
    frame = system().frame("arm/tool", pin.SE3(pin.utils.rotate("y", 0.4), np.array([0.0, 0.1, 0.05])))
    return manipulation.Gripper("hand", frame, clearance)


def handle(mask: str = "111111", **changes: object) -> manipulation.Handle:
    frame = system().frame("box/base_link", pin.SE3(pin.utils.rotate("z", 0.7), np.array([0.01, 0.02, 0.03])))
    return manipulation.Handle("box/h", frame, 0.02, mask=[letter == "1" for letter in mask], **changes)  # type: ignore[arg-type]


def seen(q: np.ndarray, clearance: float = 0.0) -> pin.SE3:
    """The handle seen from the gripper, moved forward by the clearance."""
    model = system().model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    a, b = gripper().frame, handle().frame
    forward = pin.SE3(np.eye(3), np.array([clearance, 0.0, 0.0]))
    return (data.oMi[a.joint] * a.placement * forward).actInv(data.oMi[b.joint] * b.placement)


def apart(a: pin.SE3, b: pin.SE3) -> float:
    return float(np.linalg.norm(pin.log6(a.actInv(b)).vector))


# SRDF


def test_positions_in_every_order():
    """Seven numbers as text are x y z and w x y z; attributes say their order; the last one is rpy."""
    jaw, cup = semantics().grippers["box/jaw"], semantics().grippers["box/cup"]
    assert apart(jaw.frame.placement, cup.frame.placement) < 1e-12
    np.testing.assert_allclose(jaw.frame.placement.rotation, pin.Quaternion(0.5, -0.5, -0.5, -0.5).matrix(), atol=1e-12)
    np.testing.assert_allclose(jaw.frame.placement.translation, [0.1, 0.2, 0.3])
    assert (jaw.clearance, cup.clearance) == (0.03, 0.0)
    side, top = semantics().handles["box/side"], semantics().handles["box/top"]
    np.testing.assert_allclose(side.frame.placement.rotation, pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), atol=1e-12)
    np.testing.assert_allclose(top.frame.placement.rotation, pin.utils.rotate("z", np.pi / 2), atol=1e-12)
    np.testing.assert_allclose(side.direction, [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(side.rows, [1, 1, 1, 0, 1, 1])
    np.testing.assert_array_equal(side.free_rows, [0, 0, 0, 1, 0, 0])
    assert not top.free_rows.any()


def test_surfaces_of_shapes_and_triangles():
    """Several shapes of one tag are several surfaces, seen counter-clockwise from outside."""
    faces = semantics().surfaces["box/faces"]
    assert [face.name for face in faces] == ["box/faces 0", "box/faces 1"]
    np.testing.assert_allclose(faces[0].outward.rotation[:, 0], [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(faces[1].outward.rotation[:, 0], [0, -1, 0], atol=1e-12)
    (wedge,) = semantics().surfaces["box/wedge"]
    assert wedge.name == "box/wedge"
    assert len(wedge.polygon) == 3


@needs_robot_data
def test_the_order_of_quaternions_is_that_of_hpp():
    """The UR5's gripper, read from the SRDF of example-robot-data, is where hpp-python 9.0.2 has it."""
    path = "package://example-robot-data/robots/ur_description/srdf/ur5_gripper.srdf"
    found = manipulation.read_semantics(scene(), path, "r0").grippers["r0/gripper"]
    recorded = record()["targets"]["frames"]["gripper"]
    assert found.frame.joint_name == recorded["joint"]
    assert found.clearance == recorded["clearance"]
    assert apart(found.frame.placement, pin.XYZQUATToSE3(np.array(recorded["pose"]))) < 1e-8  # HPP reads floats


LINK, HERE = "<link name='base_link'/>", "<position>0 0 0 1 0 0 0</position>"


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ("<griper name='a'/>", "<griper> is not understood"),
        (f"<gripper name='a'>{LINK}{HERE}<postion>3</postion></gripper>", "<postion> is not understood.*<position>"),
        (f"<gripper name='a'>{HERE}<link name='base_lnk'/></gripper>", "box/base_lnk"),
        (f"<gripper name='a'>{LINK}<position>0 0 0 1 0 0 x</position></gripper>", "'x' is not a number"),
        (f"<gripper name='a' clearance='-1'>{LINK}{HERE}</gripper>", "expected a number that is not negative, got -1"),
        (f"<handle name='a'>{LINK}{HERE}<mask>1 1 1 0 0 1</mask></handle>", "no common axis"),
        (f"<contact name='a'>{LINK}<point>0 0 0 1 0 0 2 0 0</point><triangle>0 1 2</triangle></contact>", "on a line"),
        ("<contact name='a'><link name='base_link' index='0'/><point>0 0 0</point></contact>", "'index' of <link>"),
    ],
)
def test_what_is_not_understood_is_refused(tags, said):
    """Bad input, with names of a part of a system; of one robot `test_tags_that_are_not_understood` has more rows."""
    with pytest.raises(FileError, match=said):
        manipulation.read_semantics(system(), f"<robot name='box'>{tags}</robot>", "box")


# Grippers and handles


def test_bad_grippers_and_handles_are_refused():
    with pytest.raises(WrongObjectError, match="frame of gripper 'g'"):
        manipulation.Gripper("g", "box/base_link")  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="handle of a grasp"):
        manipulation.grasp(system(), gripper(), gripper())  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConstraintError, match="is not a frame of"):
        manipulation.grasp(arm(), manipulation.Gripper("g", arm().frame("tool")), handle())


# Grasps


def test_a_full_grasp_is_explicit():
    """Six rows on a free object: the object's pose is computed, the handle is the gripper's frame."""
    held = manipulation.grasp(system(), gripper(), handle())
    assert isinstance(held.hold, Explicit)
    assert held.complement is None
    assert held.hold is held.constraint
    problem = Problem(system(), [held.hold])
    assert problem.reduced_size == 0
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = Projector(problem).project(system().random(rng)).or_raise().q
        assert apart(seen(q), pin.SE3.Identity()) < 1e-9


@pytest.mark.parametrize("mask", ["111011", "111000", "000111", "011111"])
def test_grasp_with_complement_is_hold(mask):
    """Five or three rows: the grasp fixes them, the complement the others, and the hold is both, explicit."""
    held = manipulation.grasp(system(), gripper(), handle(mask))
    assert held.constraint is not None
    assert held.complement is not None
    rows = np.array([letter == "1" for letter in mask])
    rng = np.random.default_rng(1)
    apart, together = Problem(system(), [held.constraint, held.complement]), Problem(system(), [held.hold])
    for _ in range(5):
        q = Projector(Problem(system(), [held.constraint])).project(system().random(rng)).or_raise().q
        here = seen(q)
        errors = np.r_[here.translation, pin.log3(here.rotation)]
        assert np.linalg.norm(errors[rows]) <= 1e-4
        start = system().random(rng)
        q1 = Projector(together).project(start, together.rhs_from(q)).or_raise().q
        there = seen(q1)
        np.testing.assert_allclose(np.r_[there.translation, pin.log3(there.rotation)][~rows], errors[~rows], atol=1e-9)
        assert apart.is_satisfied(q1, rhs=apart.rhs_from(q), threshold=2e-4)


def test_pregrasp_is_before_the_grasp():
    """The handle lies the sum of both clearances ahead, in the approach direction, in the axes of the gripper."""
    before = manipulation.pregrasp(system(), gripper(0.03), handle())
    q = Projector(Problem(system(), [before])).project(system().random(np.random.default_rng(0))).or_raise().q
    assert apart(seen(q, 0.05), pin.SE3.Identity()) < 1e-4
    aside = manipulation.pregrasp(system(), gripper(), handle(approach=[0.0, -3.0, 0.0]))
    q = Projector(Problem(system(), [aside])).project(system().random(np.random.default_rng(0))).or_raise().q
    np.testing.assert_allclose(seen(q).translation, [0.0, -0.05, 0.0], atol=1e-4)


def test_a_handle_on_a_robot_is_grasped_implicitly():
    """No free object to compute: six implicit rows."""
    knob = manipulation.Handle("knob", system().frame("arm/elbow"))
    held = manipulation.grasp(system(), manipulation.Gripper("box hand", system().frame("box/base_link")), knob)
    assert isinstance(held.hold, Implicit)
    assert held.hold.rows.mask.all()


# Placements


def placed() -> tuple[Surface, Surface]:
    table = Surface("table", system().frame("universe"), [[0, 0, 0.2], [1, 0, 0.2], [1, 1, 0.2], [0, 1, 0.2]])
    return semantics().surfaces["box/faces"][0], table


def test_placement_and_preplacement():
    """Truth by pinocchio: height of the bottom above the floor, upright, inside; the hold keeps the place."""
    bottom, table = placed()
    stands = manipulation.placement(system(), "place_box", bottom, table, 1e-3)
    assert isinstance(stands.hold, Explicit)
    names = [owner.name for owner in (stands.constraint, stands.complement, stands.hold) if owner]
    assert names == ["place_box", "place_box/complement", "place_box/hold"]
    above = manipulation.preplacement(system(), "preplace_box", bottom, table, 0.1, 1e-3)
    rng = np.random.default_rng(0)
    for constraint, height in ((stands.constraint, 0.301), (above, 0.401)):
        assert constraint is not None
        q = Projector(Problem(system(), [constraint])).project(system().random(rng)).or_raise().q
        box = pin.XYZQUATToSE3(q[-7:])
        assert box.translation[2] == pytest.approx(height, abs=1e-4)
        np.testing.assert_allclose(box.rotation[2, :2], 0.0, atol=1e-4)
        assert (np.abs(box.translation[:2] - 0.5) <= 0.5 + 1e-4).all()


def test_an_object_without_surfaces_is_left_where_it_is():
    left = manipulation.left_where_it_is(system(), "box/root_joint")
    assert left.constraint is None
    assert left.complement is left.hold
    assert left.complement is not None
    problem = Problem(system(), [left.hold])
    rng = np.random.default_rng(0)
    q = system().random(rng)
    result = Projector(problem).project(system().random(rng), problem.rhs_from(q)).or_raise().q
    np.testing.assert_allclose(system().space.difference(q, result)[-6:], 0.0, atol=1e-12)


def test_foliations_are_checked():
    bottom, table = placed()
    stands = manipulation.placement(system(), "place_box", bottom, table)
    with pytest.raises(WrongObjectError, match="hold of foliation 'f'"):
        manipulation.Foliation("f", stands.constraint, stands.complement, None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(GraphError, match="foliation 'f': row 0 of 'place_box/complement' is EQUALITY"):
        manipulation.Foliation("f", stands.complement, stands.complement, stands.hold)

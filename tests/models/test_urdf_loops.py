"""Loops that are written into a URDF itself: refused by `Robot`, cut and closed by `models.load`."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pinocchio as pin
import pytest

from constraints import Projector, Robot
from constraints.errors import FileError, UnknownJointError
from constraints.loops import assemble_position
from constraints.models import Mechanism, load
from constraints.robot import Base
from constraints.robot.frame_table import FrameKind

JOINTS = {
    "j1": ("revolute", "base", "crank", "0 0 0"),
    "j2": ("revolute", "crank", "coupler", "0 0 0.3"),
    "j3": ("revolute", "base", "rocker", "0.5 0 0"),
    "end": ("fixed", "coupler", "tip", "0.5 0 0"),
    "j4": ("revolute", "rocker", "tip", "0 0 0.3"),
}
"""A parallelogram of 0.5 m by 0.3 m: `tip` hangs from the coupler and from the rocker."""


def joint(name: str, turn: str = "") -> str:
    kind, parent, child, xyz = JOINTS[name]
    rpy = f' rpy="{turn}"' if turn else ""
    limit = '<limit lower="-3" upper="3" effort="1" velocity="1"/>' if kind == "revolute" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"{rpy}/><axis xyz="0 1 0"/>{limit}</joint>'
    )


def loop(order: str = "j1 j2 j3 end j4", beside: str = "") -> str:
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0 0"/><mass value="{mass}"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for mass, name in enumerate(("base", "crank", "coupler", "rocker", "tip"), 1)
    )
    return f'<robot name="four_bar">{links}{"".join(map(joint, order.split()))}{beside}</robot>'


def test_a_robot_is_refused_by_link_and_joints_with_the_remedies() -> None:
    """Mend 5: the link, both joints, what a sidecar is, and who cuts loops."""
    with pytest.raises(FileError) as caught:
        Robot.from_urdf(loop())
    for words in ("link 'tip'", "'end' (from 'coupler')", "'j4' (from 'rocker')", "constraints.models.load", "sidecar",
                  "YAML", "closed_loop: [[frame_a, frame_b]]", "type: [6d]"):  # fmt: skip
        assert words in str(caught.value)


def test_the_loop_is_cut_and_the_cut_is_listed(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 5: the joint of most freedoms, the last of the file among equals, is a closure and named in `cut`."""
    with caplog.at_level(logging.INFO, logger="constraints.models"):
        mechanism = load(loop())
    assert mechanism.cut == ("j4",)
    assert [closure.name for closure in mechanism.closures] == ["j4"]
    assert any("'j4' closes a loop" in record.getMessage() for record in caplog.records)
    assert "cut: j4" in mechanism.describe()
    assert [entry.what for entry in mechanism.unread] == ["bounds of joint 'j4', which closes a loop"]
    assert not any(entry.is_mistake for entry in mechanism.unread)
    assert pickle.loads(pickle.dumps(mechanism)).cut == ("j4",)
    judged = mechanism.judge(mechanism.robot.neutral)
    assert (judged.is_closed, judged.rows, judged.mobility) == (True, 5, 1)


@pytest.mark.parametrize("order", ["j1 j2 j3 end j4", "j4 j1 j2 j3 end", "j4 end j3 j2 j1", "j3 j4 end j1 j2"])
@pytest.mark.parametrize("angle", [0.4, -0.7])
def test_any_order_moves_like_a_parallelogram(order: str, angle: float) -> None:
    """Mend 5: in closed form crank and rocker stay parallel and the coupler does not turn; a joint that the tree
    passes from child to parent keeps its coordinate."""
    mechanism = load(loop(order))
    values = {"j1": angle, "j2": -angle, "j3": angle, "j4": -angle}
    moving = mechanism.robot.joint_names
    q = mechanism.robot.configuration({name: values[name] for name in moving})
    assert set(moving) | set(mechanism.cut) == set(values)
    assert mechanism.judge(q).residual <= 1e-12
    assert mechanism.mobility(q) == 1
    R = pin.utils.rotate("y", angle)
    places = {
        "crank": pin.SE3(R, np.zeros(3)),
        "coupler": pin.SE3(np.eye(3), R @ [0.0, 0.0, 0.3]),
        "rocker": pin.SE3(R, np.array([0.5, 0.0, 0.0])),
        "tip": pin.SE3(np.eye(3), R @ [0.0, 0.0, 0.3] + [0.5, 0.0, 0.0]),
    }
    for link, oMl in places.items():
        found = mechanism.robot.at(q).placement(mechanism.robot.frame(link, kind=FrameKind.BODY))
        np.testing.assert_allclose(found.homogeneous, oMl.homogeneous, atol=1e-12)
    masses = {"crank": 2.0, "coupler": 3.0, "rocker": 4.0, "tip": 5.0}
    model, data = mechanism.robot.model, mechanism.robot.model.createData()
    assert pin.computeTotalMass(model) == pytest.approx(14.0)
    center = sum(m * places[link].act(np.array([0.1, 0.0, 0.0])) for link, m in masses.items()) / 14.0
    np.testing.assert_allclose(pin.centerOfMass(model, data, q), center, atol=1e-12)


def test_an_open_loop_is_closed_by_projection() -> None:
    """Mend 5: j4 reaches the tip in closed configurations alone; the crank drives the rocker."""
    mechanism = load(loop())
    q = mechanism.robot.configuration(j1=0.5, j2=-0.2, j3=0.3)
    assert not mechanism.judge(q).is_closed
    for done in (Projector(mechanism.problem()).project(q).or_raise().q,
                 assemble_position(mechanism.constraint_set(), q).q):  # fmt: skip
        assert mechanism.judge(done).residual <= 1e-4
        angles = {name: float(done[mechanism.robot.slice_of(name)][0]) for name in ("j1", "j2", "j3")}
        assert angles["j3"] == pytest.approx(angles["j1"], abs=1e-3)
        assert angles["j2"] == pytest.approx(-angles["j1"], abs=1e-3)


def test_the_cut_can_be_chosen() -> None:
    """Mend 5: `cut` as for SDF; a part that hangs from nothing then is free, and said to be."""
    for name in ("j1", "j2", "j3"):
        mechanism = load(loop(), cut=[name])
        assert mechanism.cut == (name,)
        assert mechanism.mobility(mechanism.robot.neutral) == 1
    with pytest.raises(UnknownJointError, match="nearest names are"):
        load(loop(), cut=["j5"])
    loose = load(loop(), cut=["j4", "j3"])
    assert loose.cut == ("j3", "j4")
    assert "rocker_root_joint" in loose.robot.joint_names
    assert any("link 'rocker'" in entry.what for entry in loose.unread)
    assert loose.mobility(loose.robot.configuration(rocker_root_joint=[0.5, 0, 0, 0, 0, 0, 1])) == 1


def test_a_cut_is_loose_where_nothing_else_holds_its_two_links() -> None:
    tree = loop("j1 j2 j3 end")
    again = joint("j3").replace('"j3"', '"again"')
    for text, loose in ((tree, ("j3",)), (tree.replace("</robot>", f"{again}</robot>"), ()), (loop(), ())):
        mechanism = load(text, cut=["j3"])
        assert mechanism.loose == loose
        assert ("closes no loop" in mechanism.describe()) == bool(loose)


def test_a_tree_is_read_as_before() -> None:
    """Mend 5: without a loop the model is that of `Robot.from_urdf`, number for number."""
    text = loop("j1 j2 j3 end")
    for base in (Base.FIXED, Base.FREE_FLYER):
        assert load(text, base=base).robot.model == Robot.from_urdf(text, base=base).model
    assert load(text).cut == ()


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "fixed"])
@pytest.mark.parametrize("turn", [(0.3, -0.4, 2.0), (0.3, np.pi / 2, -0.2), (0.0, -np.pi / 2, 0.0), (np.pi, 0.0, 0.1)])
def test_turned_joints_that_are_passed_from_child_to_parent(kind: str, turn: tuple[float, float, float]) -> None:
    """Mend 5: the child seen from the parent is what the URDF says, origin times motion, at any coordinate."""
    text = joint("j4", " ".join(map(repr, turn))).replace("revolute", kind)
    mechanism = load(loop("j1 j2 j3 end").replace("</robot>", f"{text}</robot>"), cut=["j3"])
    assert mechanism.cut == ("j3",)
    q = mechanism.robot.random(np.random.default_rng(0))
    posture = mechanism.robot.at(q)
    rocker, tip = (posture.placement(mechanism.robot.frame(n, kind=FrameKind.BODY)) for n in ("rocker", "tip"))
    value = 0.0 if kind == "fixed" else float(q[mechanism.robot.slice_of("j4")][0])
    motion = {
        "revolute": pin.SE3(pin.utils.rotate("y", value), np.zeros(3)),
        "prismatic": pin.SE3(np.eye(3), np.array([0.0, value, 0.0])),
        "fixed": pin.SE3.Identity(),
    }[kind]
    expected = pin.SE3(pin.rpy.rpyToMatrix(*turn), np.array([0.0, 0.0, 0.3])) * motion
    np.testing.assert_allclose(rocker.actInv(tip).homogeneous, expected.homogeneous, atol=1e-12)


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_what_cannot_be_passed_from_child_to_parent_says_what_to_cut(kind: str) -> None:
    text = loop("j1 j2 j3 end").replace("</robot>", joint("j4").replace("revolute", kind) + "</robot>")
    with pytest.raises(FileError, match=rf"joint 'j4' would be reversed .* a {kind} joint: cut another .* cut=\[...\]"):
        load(text, cut=["j3"])
    whole = load(text)
    assert whole.cut == ("j4",)
    assert (kind == "floating") == ("a floating joint constrains nothing" in str(whole.unread))
    assert len(whole.closures) == (kind == "planar")


def test_an_axis_that_is_not_given_is_x_and_one_without_direction_is_refused() -> None:
    text = loop("j1 j2 j3 end").replace("</robot>", joint("j4").replace('<axis xyz="0 1 0"/>', "AXIS") + "</robot>")
    for axis, direction in (("", "x"), ('<axis xyz="0 0 -2"/>', "-z")):
        robot = load(text.replace("AXIS", axis), cut=["j3"]).robot
        rocker, tip = (robot.at(robot.configuration(j4=0.4)).placement(robot.frame(n, kind=FrameKind.BODY))
                       for n in ("rocker", "tip"))  # fmt: skip
        turn = pin.utils.rotate(direction[-1], -0.4 if direction[0] == "-" else 0.4)
        np.testing.assert_allclose(rocker.actInv(tip).rotation, turn, atol=1e-12)
    with pytest.raises(FileError, match="joint 'j4': its axis '0 0 0' is not a direction"):
        load(text.replace("AXIS", '<axis xyz="0 0 0"/>'), cut=["j3"])


def test_names_of_the_file_are_nobody_elses() -> None:
    """A link may be called as the world is elsewhere, or as the link that a joint from child to parent needs."""
    named = load(loop().replace('"base"', '"world"'))
    assert (named.cut, named.mobility(named.robot.neutral)) == (("j4",), 1)
    taken = "rocker_at_j4"
    more = f'<joint name="more" type="fixed"><parent link="base"/><child link="{taken}"/></joint><link name="{taken}"/>'
    mechanism = load(loop(beside=more), cut=["j3"])
    assert mechanism.mobility(mechanism.robot.neutral) == 1
    assert {taken, f"{taken}_"} <= set(mechanism.robot.frame_names)


def test_a_joint_without_bounds_that_is_cut_leaves_nothing_out() -> None:
    for bound in ('lower="-2"', 'upper="2"', ""):
        text = loop().rpartition("<limit")[0] + f'<limit {bound} effort="1" velocity="1"/></joint></robot>'
        assert len(load(text).unread) == bool(bound)
    assert not load(loop().replace('name="j4" type="revolute"', 'name="j4" type="continuous"')).unread


def circle() -> str:
    links = "".join(f'<link name="{name}"/>' for name in "abc")
    joints = "".join(
        f'<joint name="{a}{b}" type="continuous"><parent link="{a}"/><child link="{b}"/></joint>'
        for a, b in ("ab", "bc", "ca")
    )
    return f'<robot name="circle">{links}{joints}</robot>'


def test_links_in_a_circle() -> None:
    """Mend 5: no root at all: refused as a robot, cut as a mechanism with the first link for root."""
    with pytest.raises(FileError, match="the joints form a cycle"):
        Robot.from_urdf(circle())
    mechanism = load(circle())
    assert mechanism.cut == ("ca",)
    assert mechanism.robot.joint_names == ("ab", "bc")


def test_two_roots_are_named_and_free_when_lenient() -> None:
    """Mend 5: a part that no joint holds."""
    text = '<robot name="r"><link name="a"/><link name="b"/></robot>'
    with pytest.raises(FileError, match="'a', 'b' are not the child of any joint"):
        Robot.from_urdf(text)
    with pytest.raises(FileError, match=r"link 'b'.*strict=False"):
        load(text)
    assert load(text, strict=False).robot.joint_names == ("b_root_joint",)


def both(text: str) -> tuple[str, Mechanism]:
    """What the strict way says, and what the lenient one builds."""
    with pytest.raises(FileError) as caught:
        load(text)
    return str(caught.value), load(text, strict=False)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('child link="rocker"', 'child link="roker"', ("joint 'j3'", "roker", "rocker")),
        ('name="j2" type="revolute"', 'name="j2" type="revolut"', ("joint 'j2'", "revolut", "revolute")),
        ('name="j2" type="revolute"', 'name="j1" type="revolute"', ("joint 'j1'", "two joints")),
        ('<link name="tip">', '<link name="rocker"/><link name="tip">', ("link 'rocker'", "two links")),
        ('<parent link="crank"/>', "", ("joint 'j2'", "parent")),
        ('<parent link="crank"/>', '<parent link="coupler"/>', ("joint 'j2'", "itself")),
    ],
)
def test_broken_joints_are_named_and_left_out_when_lenient(old: str, new: str, words: tuple[str, ...]) -> None:
    """Mend 4: of a URDF too."""
    text = loop()
    assert old in text
    said, mechanism = both(text.replace(old, new, 1))
    for word in words:
        assert word in said
    assert any(entry.is_mistake and words[0] in entry.what for entry in mechanism.unread)
    with pytest.raises(FileError) as caught:
        Robot.from_urdf(text.replace(old, new, 1))
    assert words[0] in str(caught.value)


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ('<mimic joint="j9"/>', ("mimic tag of joint 'j3'", "'j9'", "nearest names are")),
        ('<mimic joint="j3"/>', ("mimic tag of joint 'j3'", "itself")),
        ('<mimic multiplier="2"/>', ("mimic tag of joint 'j3'", "not name the joint to follow")),
    ],
)
def test_mimics_of_nothing_are_mistakes(tag: str, words: tuple[str, ...]) -> None:
    """Mend 21: a URDF mimic of an unknown joint is in `unread`, and an error unless asked otherwise."""
    text = loop("j1 j2 j3 end").replace('<parent link="base"/><child link="rocker"/>',
                                         f'<parent link="base"/><child link="rocker"/>{tag}')  # fmt: skip
    said, mechanism = both(text)
    for word in words:
        assert word in said
    assert [entry.what for entry in mechanism.unread] == ["mimic tag of joint 'j3'"]
    assert not mechanism.couplers


def test_a_link_that_is_there_twice_is_listed_beside_a_mimic_of_nothing() -> None:
    """Each of the two is a mistake of its own: pinocchio was given the second link too, and refused the file."""
    tag = '<parent link="base"/><child link="rocker"/>'
    _, mechanism = both(loop(beside='<link name="tip"/>').replace(tag, f'{tag}<mimic joint="j9"/>'))
    assert [entry.what for entry in mechanism.unread if entry.is_mistake] == ["link 'tip'", "mimic tag of joint 'j3'"]


def test_mimics_of_joints_that_do_not_move_are_listed() -> None:
    """Mend 21: right names, and nothing to couple: listed, no error."""
    tag = '<parent link="base"/><child link="rocker"/>'
    still = load(loop("j1 j2 j3 end").replace(tag, f'{tag}<mimic joint="end"/>'))
    cut = load(loop().replace(tag, f'{tag}<mimic joint="j4"/>'))
    for mechanism in (still, cut):
        assert "mimic tag of joint 'j3'" in [entry.what for entry in mechanism.unread]
        assert not any(entry.is_mistake for entry in mechanism.unread)

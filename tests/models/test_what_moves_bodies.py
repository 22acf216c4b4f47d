"""What model files say of axes, pitches, gravity, springs and masses: read as their formats mean it, or listed."""

from __future__ import annotations

from math import pi

import numpy as np
import pinocchio as pin
import pytest
from models.test_forces_of_files import gravity, words as listed

from constraints.errors import FileError
from constraints.models import load

SDF = """<sdf version="VERSION"><model name="m"><link name="a"/><link name="b"><pose>1 0 0 0.5 0 0</pose></link>
  <joint name="ground" type="fixed"><parent>world</parent><child>a</child></joint>
  <joint name="j" type="TYPE"><pose>0 0 0 0 0 0.7</pose><parent>a</parent><child>b</child>MORE
    <axis><xyz>1 0 0</xyz></axis></joint></model></sdf>"""


def sdf(version: str = "1.9", kind: str = "revolute", more: str = "") -> str:
    return SDF.replace("VERSION", version).replace("TYPE", kind).replace("MORE", more)


@pytest.mark.parametrize(
    ("version", "flag", "in_model"),
    [
        ("1.3", "", True),
        ("1.4", "", True),
        ("1.4", "<use_parent_model_frame>0</use_parent_model_frame>", False),
        ("1.5", "", False),
        ("1.5", "<use_parent_model_frame>true</use_parent_model_frame>", True),
        ("1.11", "", False),
    ],
)
def test_an_axis_is_in_the_frame_that_its_version_means(version: str, flag: str, in_model: bool) -> None:
    """Up to SDF 1.4 an axis is in the frame of the model, since then in that of the joint."""
    robot = load(sdf(version).replace("<axis>", f"<axis>{flag}")).robot
    at_rest, turned = (robot.at([angle]).placement("b").rotation for angle in (0.0, 0.3))
    joint = pin.rpy.rpyToMatrix(0.5, 0.0, 0.0) @ pin.rpy.rpyToMatrix(0.0, 0.0, 0.7)
    axis = np.array([1.0, 0.0, 0.0]) if in_model else joint[:, 0]
    np.testing.assert_allclose(turned @ at_rest.T, pin.exp3(0.3 * axis), atol=1e-14)


@pytest.mark.parametrize("tag", ["screw_thread_pitch", "thread_pitch"])
def test_a_screw_that_is_cut_has_the_pitch_of_the_one_in_the_tree(tag: str) -> None:
    """Its closure is closed where the joint would be, at any angle; next to it it is open by how far it is off."""
    text = sdf(kind="screw", more=f"<{tag}>0.3</{tag}>")
    whole, cut = load(text), load(text, cut=["j"])
    for angle in (-2.0, 0.4, 7.0):
        pose = whole.robot.at([angle]).placement("b")
        rows = cut.constraint_set()
        np.testing.assert_allclose(rows.position_error(pin.SE3ToXYZQUAT(pose)), np.zeros(5), atol=1e-13)
        beside = pose * pin.SE3(np.eye(3), pin.rpy.rpyToMatrix(0.0, 0.0, 0.7) @ np.array([0.02, 0.0, 0.0]))
        assert np.abs(rows.position_error(pin.SE3ToXYZQUAT(beside))).max() == pytest.approx(0.02)


def test_a_screw_without_a_pitch_has_that_of_the_format() -> None:
    """SDF says 1 m a turn where the file gives none; 0 makes it a revolute joint; both are listed."""
    plain, none = (load(sdf(kind="screw", more=more)) for more in ("", "<screw_thread_pitch>0</screw_thread_pitch>"))
    starts = [m.robot.at([0.0]).placement("b") for m in (plain, none)]
    ends = [m.robot.at([pi]).placement("b") for m in (plain, none)]
    gone = [np.linalg.norm(end.translation - start.translation) for start, end in zip(starts, ends, strict=True)]
    np.testing.assert_allclose(gone, [0.5, 0.0], atol=1e-12)
    assert "pitch of joint 'j': the file gives none: 1 m a turn" in listed(plain)
    assert "pitch of joint 'j': 0 makes it a revolute joint" in listed(none)
    assert load(sdf(kind="screw", more="<screw_thread_pitch>0</screw_thread_pitch>"), cut=["j"]).rows == 5


def test_a_universal_joint_of_oblique_axes_that_is_cut_is_a_closure() -> None:
    """It went to `unread`, and the loop stayed open, in a file that loads."""
    text = sdf(kind="universal").replace("</axis>", "</axis><axis2><xyz>1 0 0.8</xyz></axis2>")
    whole, cut = load(text), load(text, cut=["j"])
    assert cut.rows == 4
    for angles in ([0.3, -0.4], [2.0, 1.5]):
        pose = whole.robot.at(angles).placement("b")
        rows = cut.constraint_set()
        np.testing.assert_allclose(rows.position_error(pin.SE3ToXYZQUAT(pose)), np.zeros(4), atol=1e-12)
        beside = pose * pin.exp6(0.05 * np.array([0.0, 0.0, 0.0, 1.0, 1.0, -1.0]))
        assert np.abs(rows.position_error(pin.SE3ToXYZQUAT(beside))).max() > 1e-3


def test_gravity_is_that_of_the_world_in_the_file() -> None:
    inside = sdf().replace("<model", "<world name='moon'><gravity>0 0.1 -1.62</gravity><model", 1)
    inside = inside.replace("</model>", "</model></world>")
    assert gravity(load(inside)) == [0.0, 0.1, -1.62]
    assert gravity(load(sdf())) == pin.Model().gravity.linear.tolist()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('<link name="a"/>', '<link name="a"><gravity>false</gravity></link>', "<gravity> of link 'a'"),
        ('<link name="a"/>', '<link name="a"><kinematic>1</kinematic></link>', "<kinematic> of link 'a'"),
        ('<link name="a"/>', '<link name="a"><inertial auto="true"/></link>', "inertial auto='true' of link 'a'"),
        ("</xyz>", "</xyz><dynamics><friction>20</friction></dynamics>", "friction of joint 'j'"),
        ("/>", "><velocity_decay><linear>0.1</linear></velocity_decay></link>", "<velocity_decay> of link 'a'"),
        ('"revolute"', '"universal"', "axis2 of joint 'j': the file gives none"),
    ],
)
def test_what_has_no_place_is_listed(old: str, new: str, words: str) -> None:
    """Masses from shapes, links that do not fall, springs, a second axis that is missing: never silence."""
    assert not load(sdf()).unread
    assert words in listed(load(sdf().replace(old, new, 1)))
    for nothing in ("<gravity>true</gravity>", "<kinematic>false</kinematic>", '<inertial auto="false"/>'):
        assert not load(sdf().replace('<link name="a"/>', f'<link name="a">{nothing}</link>')).unread
    assert not load(
        sdf().replace("</xyz>", "</xyz><dynamics><spring_stiffness>0.0</spring_stiffness></dynamics>")
    ).unread


@pytest.mark.parametrize(
    ("word", "is_on"), [("True", True), ("TRUE", True), (" 1 ", True), ("False", False), ("0", False)]
)
def test_truth_values_of_an_sdf_are_read_in_either_case(word: str, is_on: bool) -> None:
    """`True` was read as false, without a word; other words are refused."""
    text = "<sdf version='1.6'><model name='m'><static>WORD</static><link name='a'/></model></sdf>"
    assert load(text.replace("WORD", word)).robot.joint_names == (() if is_on else ("root_joint",))
    turned = load(sdf().replace("<axis>", f"<axis><use_parent_model_frame>{word}</use_parent_model_frame>"))
    same = load(sdf("1.4" if is_on else "1.9"))
    ours, there = (m.robot.at([0.3]).placement("b").homogeneous for m in (turned, same))
    np.testing.assert_allclose(ours, there, atol=1e-14)
    degrees = sdf().replace("<pose>1 0 0 0.5 0 0", f"<pose degrees='{word}'>1 0 0 30 0 0")
    angle = 30.0 * (pi / 180.0 if is_on else 1.0)
    expected = pin.rpy.rpyToMatrix(angle, 0.0, 0.0)
    np.testing.assert_allclose(load(degrees).robot.at([0.0]).placement("b").rotation, expected, atol=1e-12)
    for wrong in (text.replace("WORD", "yes"), degrees.replace(f"'{word}'", "'yes'")):
        with pytest.raises(FileError, match="expected true or false, got 'yes'"):
            load(wrong)


@pytest.mark.parametrize("given", ["rotation_format='quat_xyzw'", "rotation_format='quat'"])
def test_a_pose_of_another_format_than_its_numbers_is_refused(given: str) -> None:
    """Six numbers that the file calls a quaternion were read as angles."""
    with pytest.raises(FileError, match=r"7 numbers|quat_xyzw"):
        load(sdf().replace("<pose>1 0 0 0.5 0 0", f"<pose {given}>1 0 0 0.5 0 0"))


MJCF = """<mujoco><option gravity="0 0 -3"><flag FLAG="disable"/></option><worldbody>
  <body name="a"><joint name="h"/><geom size="0.1"/></body>
  <body name="b"><joint name="s" type="slide"/><geom size="0.1"/></body></worldbody>
  <equality><joint name="e" joint1="h" joint2="s"/></equality></mujoco>"""


@pytest.mark.parametrize("flag", ["equality", "constraint", "gravity", "contact"])
def test_flags_of_mujoco_switch_off_what_they_name(flag: str) -> None:
    """MuJoCo ignores every equality, or gravity, where its flag is off: so does the mechanism, and says so."""
    pytest.importorskip("mujoco")
    text = MJCF.replace("FLAG", flag)
    mechanism, whole = load(text), load(text, inactive=True)
    is_off = flag in ("equality", "constraint")
    assert len(mechanism.couplers) == (0 if is_off else 1)
    assert (f"'e': switched off by <flag {flag}='disable'>" in listed(mechanism)) == is_off
    assert len(whole.couplers) == 1
    assert not whole.unread
    assert gravity(mechanism)[2] == (0.0 if flag == "gravity" else -3.0)

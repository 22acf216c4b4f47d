"""Robots from files: URDF, SRDF, package addresses; and what is said about files that cannot be read."""

from __future__ import annotations

import importlib.metadata
import json
import logging
import os
import shutil
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from robots import needs_robot_data, panda, pr2, talos, ur5

from constraints.errors import ConstraintError, FileError, WrongObjectError
from constraints.models import load
from constraints.robot import Base, Bounds, Part, Robot
from constraints.robot.files import packages
from constraints.robot.files.packages import find_resource, robot_data_folder
from constraints.robot.files.urdf_graph import JOINT_FREEDOMS
from constraints.robot.model.mimic import Mimic
from liegroups import SE2, SE3, SO2

DATA = Path(__file__).parent.parent / "data"
URDF = DATA / "gripper.urdf"
SRDF = DATA / "gripper.srdf"


def two_links(joint: str, kind: str = "revolute", extra: str = "") -> str:
    return (
        f"<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='{kind}'>"
        f"<parent link='a'/><child link='b'/>{joint}</joint>{extra}</robot>"
    )


LIMIT = "<limit lower='-1' upper='1' effort='1' velocity='1'/>"


# What is read


def test_joints_frames_bounds_and_mimics_of_a_file(caplog):
    with caplog.at_level(logging.INFO):
        robot = Robot.from_urdf(URDF)
    assert robot.name == "gripper_on_rail"
    assert robot.joint_names == ("rail", "turn", "finger", "other_finger")
    assert set(robot.frame_names) >= {"universe", "base", "cart", "turret", "hand", "mount", "left_finger"}
    assert robot.bounds.lower.tolist() == [-0.5, -np.inf, -np.inf, 0.0, -0.04]
    assert robot.bounds.upper.tolist() == [1.5, np.inf, np.inf, 0.04, 0.0]
    assert robot.space.factors[1].space == SO2
    assert robot.mimics == (Mimic("other_finger", "finger", -1.0, 0.001),)
    (record,) = caplog.records
    assert "other_finger" in record.getMessage()
    assert "not enforced" in record.getMessage()
    assert "not enforced: other_finger" in robot.describe()


@pytest.mark.parametrize("source", [URDF, str(URDF), URDF.read_text(), "package://data/gripper.urdf"])
def test_the_same_file_by_every_door(source):
    robot = Robot.from_urdf(source, packages=[DATA.parent])
    assert robot.model == pin.buildModelFromUrdf(str(URDF))


@pytest.mark.parametrize(
    ("base", "group", "joint"),
    [(Base.FREE_FLYER, SE3, pin.JointModelFreeFlyer()), (Base.PLANAR, SE2, pin.JointModelPlanar())],
)
def test_bases(base, group, joint):
    robot = Robot.from_urdf(URDF, base=base)
    assert robot.joint_names[0] == "root_joint"
    assert robot.space.factors[0].space == group
    assert robot.model == pin.buildModelFromUrdf(str(URDF), joint)
    assert np.isinf(robot.bounds.lower[: group.nq]).all()


@pytest.mark.parametrize("kind", JOINT_FREEDOMS)
def test_freedoms_of_a_type_are_pinocchios(kind):
    assert JOINT_FREEDOMS[kind] == pin.buildModelFromXML(two_links(LIMIT + "<axis xyz='0 0 1'/>", kind)).nv


def test_a_planar_base_moves_in_the_plane():
    robot = Robot.from_urdf(URDF, base=Base.PLANAR)
    q = robot.configuration(root_joint=(1.0, -2.0, 0.3))
    M = robot.at(q).placement(robot.frame("base"))
    assert M.translation == pytest.approx([1.0, -2.0, 0.0])
    assert pin.utils.rotate("z", 0.3) == pytest.approx(M.rotation)


def test_reference_postures_of_a_file(caplog):
    robot = Robot.from_urdf(URDF, SRDF)
    assert list(robot.references) == ["ready", "parked"]
    ready = robot.configuration(rail=0.25, turn=1.0, finger=0.03)  # two groups, one posture
    assert robot.reference("ready") == pytest.approx(ready)
    assert robot.reference("parked") == pytest.approx(robot.configuration(rail=-0.5))
    assert any("wheel" in record.getMessage() for record in caplog.records)


def test_reference_postures_that_contradict_each_other(caplog):
    srdf = (
        "<robot name='r'><group_state name='s' group='x'><joint name='rail' value='0.1'/></group_state>"
        "<group_state name='s' group='y'><joint name='rail' value='0.2'/></group_state></robot>"
    )
    assert Robot.from_urdf(URDF, srdf).reference("s")[0] == 0.2
    assert any("'rail'" in record.getMessage() for record in caplog.records)


def test_a_reference_posture_of_a_free_flyer():
    state = "<group_state name='s'><joint name='root_joint' value='1 2 3 0 0 0 1'/></group_state>"
    srdf = f"<robot name='r'>{state}</robot>"
    assert Robot.from_urdf(URDF, srdf, base=Base.FREE_FLYER).reference("s")[:7].tolist() == [1, 2, 3, 0, 0, 0, 1]


# Packages


def test_packages_are_found_in_the_environment(tmp_path, monkeypatch):
    for folder in (tmp_path / "ros" / "robots", tmp_path / "ament" / "share" / "arms"):
        folder.mkdir(parents=True)
        (folder / "r.urdf").write_text(URDF.read_text())
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'ros'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    assert find_resource("package://robots/r.urdf") == tmp_path / "ros" / "robots" / "r.urdf"
    assert Robot.from_urdf("package://arms/r.urdf").nq == 5
    assert find_resource("package://robots/r.urdf", [tmp_path / "ros" / "robots"]).is_file()
    with pytest.raises(FileError, match=r"no package 'legs'.*ros"):
        find_resource("package://legs/r.urdf")
    with pytest.raises(FileError, match=r"the same folder has r\.urdf"):
        find_resource("package://arms/q.urdf")


def test_a_package_that_is_not_there_is_answered_with_those_that_are(tmp_path, monkeypatch):
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(packages, "robot_data_folder", lambda: None)
    with pytest.raises(FileError, match=r"looked in no folder, because none was given$"):
        find_resource("package://legs/r.urdf")
    for name in ("leggs", *(f"x{i:02}" for i in range(11)), ".hidden"):
        (tmp_path / name).mkdir()
    for name in ("legss", "legsy", "llegs", "alegs", "legs2"):
        (tmp_path / "near" / name).mkdir(parents=True)
    (tmp_path / "near" / "legg").mkdir()
    with pytest.raises(FileError, match=r"the nearest packages there are (\w+, ){4}\w+$"):  # five of the six
        find_resource("package://legs/r.urdf", tmp_path / "near")
    shutil.rmtree(tmp_path / "near")
    (tmp_path / "legs.urdf").touch()  # a file is no package
    with pytest.raises(FileError, match=f"looked in {tmp_path}; the nearest packages there are leggs$"):
        find_resource("package://legs/r.urdf", tmp_path)  # one folder alone
    with pytest.raises(FileError, match=r"; the packages there are leggs, x00, .*, x08 and 2 more$"):
        find_resource("package://arms/r.urdf", [tmp_path, tmp_path / "nowhere"])
    for name in ("x09", "x10"):
        (tmp_path / name).rmdir()
    with pytest.raises(FileError, match=r"; the packages there are leggs, x00, .*, x08$"):
        find_resource("package://arms/r.urdf", [tmp_path])
    (tmp_path / "x00" / "package.xml").touch()
    with pytest.raises(FileError, match=r"; the packages there are x00$"):
        find_resource("package://arms/r.urdf", [tmp_path / "x00"])
    with pytest.raises(FileError, match=rf"no such file \(package 'x00' is {tmp_path / 'x00'}\)"):
        find_resource("package://x00/r.urdf", [tmp_path / "x00"])
    hint = "it comes with pip install example-robot-data"
    with pytest.raises(FileError, match=hint):
        find_resource("package://example-robot-data/r.urdf", [tmp_path])
    with pytest.raises(WrongObjectError, match="packages"):
        find_resource("package://x00/r.urdf", [3])  # pyright: ignore[reportArgumentType]


def test_addresses_that_are_none():
    for url in ("package://", "package://name", "package:///x"):
        with pytest.raises(FileError, match="package://NAME"):
            find_resource(url)


@pytest.mark.parametrize("files", [None, [], [PurePosixPath("share/other/robots/a.urdf")], "not installed"])
def test_robot_data_that_is_not_there_has_no_folder(files, monkeypatch):
    def listed(_name):
        if files == "not installed":
            raise importlib.metadata.PackageNotFoundError
        return files

    monkeypatch.setattr(importlib.metadata, "files", listed)
    assert robot_data_folder.__wrapped__() is None


@pytest.mark.parametrize("before", [(), ("a",), ("a", "b")])
@pytest.mark.parametrize("last", [("package.xml",), ("robots", "arm", "urdf", "arm.urdf")])
def test_robot_data_is_found_wherever_a_distribution_has_it(before, last, tmp_path, monkeypatch):
    folder = tmp_path.joinpath(*before, "share", "example-robot-data")
    folder.mkdir(parents=True)
    path = folder.joinpath(*last).relative_to(tmp_path)
    listed = SimpleNamespace(parts=path.parts, locate=lambda: tmp_path / path)
    monkeypatch.setattr(importlib.metadata, "files", lambda _name: [PurePosixPath("share/other/robots/a.urdf"), listed])
    assert robot_data_folder.__wrapped__() == folder


@needs_robot_data
def test_robot_data_folder():
    folder = robot_data_folder()
    assert folder is not None
    assert (folder / "robots" / "ur_description").is_dir()
    assert find_resource("package://example-robot-data/robots/panda_description/urdf/panda.urdf").is_relative_to(folder)


@needs_robot_data
def test_robots_of_the_robot_data():
    assert (ur5().nq, panda().nq, pr2().nq, talos().nq) == (6, 9, 34, 39)
    assert panda().mimics == (Mimic("panda_finger_joint2", "panda_finger_joint1"),)
    assert len(pr2().mimics) == 10
    assert talos().reference("half_sitting").shape == (39,)
    assert panda().bounds.contains(panda().reference(next(iter(panda().references))), 1e-9)


@needs_robot_data
@pytest.mark.parametrize("name", ["panda", "pr2", "talos", "ur5 and box"])
def test_joint_order_and_bounds_are_those_of_the_reference(name):
    """Property: systems are put together in the order of the reference library (data/joint_order.json says which)."""
    expected = json.loads((DATA / "joint_order.json").read_text())["systems"][name]
    box = Robot.from_urdf("<robot name='box'><link name='base_link'/></robot>", base=Base.FREE_FLYER)
    parts = {
        "panda": lambda: [Part("panda", panda())],
        "pr2": lambda: [Part("pr2", pr2())],
        "talos": lambda: [Part("talos", talos())],
        "ur5 and box": lambda: [Part("ur5", ur5()), Part("box", box)],
    }[name]()
    system = Robot.system(parts)
    assert list(system.model.names) == expected["joints"]
    assert (system.nq, system.nv) == (expected["nq"], expected["nv"])
    bounds = Bounds(system.space, expected["lower"], expected["upper"])
    for factor in system.space.factors:
        if factor.space.nq == 1:
            assert system.bounds.lower[factor.q] == pytest.approx(bounds.lower[factor.q], abs=1e-7)
            assert system.bounds.upper[factor.q] == pytest.approx(bounds.upper[factor.q], abs=1e-7)


# What cannot be read

MASS = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
INERTIAL = (
    f"<robot name='r'><link name='a'/><link name='b'>{MASS}</link><joint name='j' type='continuous'><parent link='a'/>"
    "<child link='b'/>{planar}</joint>{more}</robot>"
)
FAR = (
    f"<link name='c'>{MASS}</link><joint name='k' type='fixed'><origin xyz='1e200 0 0'/><parent link='b'/>"
    "<child link='c'/></joint>"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot name='r'><link name='a'></robot>", ["line 1", "mismatched tag"]),
        ("<robot name='r'>\n<link name='a'/>\n<&></robot>", ["line 3"]),
        ("<robot name='r'/>", ["link"]),
        ("<robot><link name='a'/></robot>", ["name"]),
        ("<sdf version='1'/>", ["<sdf>", "<robot>"]),
        ("<!DOCTYPE robot [<!ENTITY a 'b'>]><robot name='r'/>", ["DOCTYPE", "line 1"]),
        ("<robot name='r'><link name='a'/><link name='b'/></robot>", ["root", "'a'", "'b'"]),
        (two_links(""), ["[j]", "limits"]),
        (two_links("", "weird"), ["'j'", "weird", "revolute"]),
        (two_links("<limit lower='low' upper='1' effort='1' velocity='1'/>"), ["'j'", "'low'", "limit"]),
        (two_links("<origin xyz='0 nan 0'/>" + LIMIT), ["'j'", "'nan'", "origin"]),
        (two_links("<axis xyz='0 0 0'/>" + LIMIT), ["'j'", "axis"]),
        (two_links("<axis xyz='0 1'/>" + LIMIT), ["'j'", "axis"]),
        (two_links("<axis/>" + LIMIT), ["'j'", "axis"]),
        (INERTIAL.format(planar="", more=FAR), ["the inertia carried by joint 'j' is not finite"]),
        (two_links(LIMIT + "<mimic joint='j' multiplier='two'/>"), ["[j]", "two", "multiplier"]),
        (two_links(LIMIT + "<mimic joint='j' multiplier='2'/>"), ["'j'", "itself"]),
        (two_links(LIMIT, extra="<joint name='j' type='fixed'><parent link='b'/><child link='a'/></joint>"), ["j"]),
        (
            "<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'><xacro:property name='x' value='1'/></robot>",
            ["xacro"],
        ),
        ("<mujoco model='m'/>", ["<mujoco>", "constraints.models.load"]),
        ("<sdf version='1.9'/>", ["<sdf>", "constraints.models.load"]),
    ],
)
def test_files_that_cannot_be_read_say_why(text, words, tmp_path, capfd):
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    for source, name in ((text, "URDF text"), (path, str(path))):
        with pytest.raises(FileError) as caught:
            Robot.from_urdf(source)
        assert caught.value.path == name
        for word in [name, *words]:
            assert word in str(caught.value)
    assert capfd.readouterr() == ("", "")
    os.write(2, b"heard")  # the stream is back
    assert capfd.readouterr() == ("", "heard")


@pytest.mark.parametrize(("axis", "told"), [("0 0 1", False), ("0 0 -2", False), ("0 1 0", True), ("0.5 0 1", True)])
def test_a_planar_joint_moves_in_its_x_y_plane(axis, told, caplog):
    """Whatever its axis is: the log says so."""
    joint = f"<axis xyz='{axis}'/>"
    Robot.from_urdf(INERTIAL.format(planar=joint, more="").replace("continuous", "planar"))
    words = "planar joint 'j': its axis is not z, but pinocchio moves it in its x-y plane"
    assert any(words in record.getMessage() for record in caplog.records) == told


def test_a_mimic_of_no_joint_is_named_in_the_log(caplog):
    assert Robot.from_urdf(two_links(LIMIT + "<mimic joint='k'/>")).mimics == ()
    assert any("'j' mimics 'k'" in record.getMessage() for record in caplog.records)


def test_missing_files(tmp_path):
    with pytest.raises(FileError, match=r"the same folder has gripper\.urdf"):
        Robot.from_urdf(DATA / "griper.urdf")
    with pytest.raises(FileError, match="does not exist"):
        Robot.from_urdf(tmp_path / "no" / "robot.urdf")
    with pytest.raises(FileError, match="folder"):
        Robot.from_urdf(tmp_path)
    (tmp_path / "empty.urdf").write_bytes(b"")
    with pytest.raises(FileError, match="no element found"):
        Robot.from_urdf(tmp_path / "empty.urdf")
    with pytest.raises(WrongObjectError, match="URDF"):
        Robot.from_urdf(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongObjectError, match="Base"):
        Robot.from_urdf(URDF, base="free")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("<group_state group='g'/>", ["name"]),
        ("<group_state name='s'><joint name='rail'/></group_state>", ["'s'", "'rail'"]),
        ("<group_state name='s'><joint value='1'/></group_state>", ["'s'"]),
        ("<group_state name='s'><joint name='rail' value='1 2'/></group_state>", ["'s'", "'rail'", "one number"]),
        ("<group_state name='s'><joint name='rail' value='far'/></group_state>", ["'s'", "'rail'", "'far'"]),
        ("<group_state name='s'><joint name='rail' value='inf'/></group_state>", ["'s'", "'rail'", "'inf'"]),
        ("<group_state name='s'><joint name='turn' value='1 1'/></group_state>", ["'s'", "'turn'", "norm"]),
    ],
)
def test_bad_reference_postures_say_why(state, words):
    with pytest.raises(FileError) as caught:
        Robot.from_urdf(URDF, f"<robot name='r'>{state}</robot>")
    for word in ["SRDF text", *words]:
        assert word in str(caught.value)


def test_fuzzed_files_end_in_one_family_of_errors(capfd):
    """Property 9: a damaged file is read whole or refused with a ConstraintError; nothing is printed."""
    rng = np.random.default_rng(0)
    text = URDF.read_text()
    refused = 0
    for _ in range(150):
        start = int(rng.integers(len(text)))
        length = int(rng.integers(1, 40))
        damaged = (
            text[:start] + text[start + length :]
            if rng.random() < 0.5
            else (text[:start] + "".join(chr(int(c)) for c in rng.integers(32, 127, 3)) + text[start + 3 :])
        )
        try:
            robot = Robot.from_urdf(damaged)
        except ConstraintError:
            refused += 1
        else:
            assert robot.random(rng).shape == (robot.nq,)
    assert refused > 50
    assert "Error" not in capfd.readouterr().err


def test_inertias_of_no_body_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """Honest 12: moments against the triangle inequality were taken without a word; in URDF and SDF."""
    urdf = (
        "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='{}' iyy='1' izz='1' "
        "ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' type='continuous'><parent link='a'/>"
        "<child link='b'/></joint></robot>"
    )
    sdf = (
        "<sdf version='1.7'><model name='m'><link name='b'><inertial><mass>1</mass><inertia><ixx>{}</ixx><iyy>1</iyy>"
        "<izz>1</izz></inertia></inertial></link></model></sdf>"
    )
    for text, name in ((urdf, "j"), (sdf, "b")):
        load(text.format(2.0005))
        assert "of no body" not in caplog.text
        load(text.format(2.1))
        assert f"of no body, for the largest principal moment is above the sum of the other two: {name}" in caplog.text
        caplog.clear()

"""Degrees in files, bounds, postures and angles are asked about once each, and taken as they are."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constraints import Bounds, Part, Robot, locked_joint, rigid_transform
from constraints.models import load, mechanisms, sample_arm
from constraints.questions import Coordinate, asked_of_angles
from constraints.robot import placement

URDF = (
    "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='{kind}'><parent link='a'/><child link='b'/>"
    "<origin rpy='{rpy}'/><limit lower='{lower}' upper='{upper}' effort='1' velocity='1'/></joint></robot>"
)


def asked(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    caplog.clear()
    return found


@pytest.mark.parametrize(
    ("kind", "rpy", "lower", "upper", "said"),
    [
        ("revolute", "0 0 0", -180, 180, ["joint 'j' has a limit of -180 rad, 28.6 turns: in degrees?"]),
        (
            "revolute",
            "0 90 0",
            -2,
            2,
            ["rpy of an origin of joint 'j' is 90 rad, more than a whole turn: is it in deg"],
        ),
        ("revolute", "0 90 0", 0, 90, ["joint 'j' has a limit of 90 rad", "rpy of an origin of joint 'j' is 90 rad"]),
        ("revolute", "0 -6.2832 0", -18.8, 18.8, []),
        ("prismatic", "0 0 0", -180, 180, []),
    ],
)
def test_degrees_in_a_urdf(
    kind: str, rpy: str, lower: float, upper: float, said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Mend: what users knew from pages only, numbers 70 and 71."""
    robot = Robot.from_urdf(URDF.format(kind=kind, rpy=rpy, lower=lower, upper=upper))
    assert (robot.bounds.lower[0], robot.bounds.upper[0]) == (lower, upper)
    found = asked(caplog)
    assert len(found) == bool(said)
    assert all(words in found[0] for words in said)


def test_degrees_of_a_link_and_of_a_continuous_joint(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, numbers 70 and 71: visuals are looked at too."""
    visual = "<visual><origin rpy='90 0 0'/><geometry><sphere radius='0.1'/></geometry></visual>"
    text = URDF.format(kind="continuous", rpy="0 0 0", lower=0, upper=0).replace(
        "<link name='b'/>", f"<link name='b'>{visual}</link>"
    )
    Robot.from_urdf(text.replace("lower='0' upper='0' ", ""))
    [found] = asked(caplog)
    assert "rpy of an origin of link 'b' is 90 rad" in found


def test_degrees_in_postures(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """Mend: what users knew from pages only, numbers 78 and 79."""
    robot = Robot.from_urdf(URDF.format(kind="revolute", rpy="0 0 0", lower=-2, upper=2))
    state = "<robot name='r'><group_state name='s' group='g'><joint name='j' value='{}'/></group_state></robot>"
    assert robot.with_srdf(state.format(90)).reference("s").tolist() == [90.0]
    assert asked(caplog)[0].endswith("posture 's': 90 for 'j', whose bounds are [-2, 2] rad: is it in degrees?")
    robot.with_srdf(state.format(2.5))
    robot.with_references({"near": np.array([3.0])})
    assert not asked(caplog)
    arm = sample_arm()
    arm.with_references({"x": np.full(7, 45.0)})
    [found] = asked(caplog)
    assert "posture 'x': 45 for 'shoulder_yaw'" in found
    assert found.endswith("and 4 more")


def test_degrees_and_millimetres_in_bounds(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, number 79."""
    arm = sample_arm()
    changed = arm.with_bounds({"elbow": (0, 90)})
    assert changed.bounds.upper[3] == 90.0
    assert asked(caplog)[0].endswith("new bounds: 90 for 'elbow', whose bounds are [-0.1, 2.6] rad: is it in degrees?")
    arm.with_bounds(Bounds(arm.space, np.degrees(arm.bounds.lower), np.degrees(arm.bounds.upper)))
    [said] = asked(caplog)
    assert "new bounds: -166.158 for 'shoulder_yaw'" in said
    arm.with_bounds(Bounds.none(arm.space)).with_bounds(arm.bounds)
    arm.with_bounds({"elbow": (-10, 10)})
    arm.with_bounds({"elbow": (0.0, np.inf)})
    assert not asked(caplog)
    arm.without_bounds().with_bounds({"elbow": (0, 90)})  # there is nothing to compare it with but turns
    assert asked(caplog)[0].endswith("joint 'elbow' has a limit of 90 rad, 14.3 turns: in degrees?")
    slide = Robot.from_urdf(URDF.format(kind="prismatic", rpy="0 0 0", lower=0, upper=0.5))
    slide.with_bounds({"j": (0, 20)})
    assert not asked(caplog)
    slide.with_bounds({"j": (0, 400)})
    assert asked(caplog)[0].endswith("400 for 'j', whose bounds are [0, 0.5] m: is it in millimetres?")


def test_degrees_of_one_joint_in_a_configuration(caplog: pytest.LogCaptureFixture) -> None:
    """Each joint once, whatever its number: bounded, without bounds, and continuous, whose turns are lost."""
    arm, free = sample_arm(), sample_arm().without_bounds()
    wheel = Robot.from_urdf(URDF.format(kind="continuous", rpy="0 0 0", lower=-2, upper=2))
    caplog.clear()
    for k in range(3):  # degrees would be asked about above three turns
        for robot, values in ((arm, {"elbow": 3.0}), (arm, {"wrist_roll": -6.2}), (free, {"elbow": 18.0 + 0.1 * k})):
            robot.configuration(values)
        assert wheel.configuration(j=18.0 + 0.1 * k).tolist() == [np.cos(18.0 + 0.1 * k), np.sin(18.0 + 0.1 * k)]
        locked_joint(wheel, "j", -7.0)
    assert not asked(caplog)
    for k in range(3):
        assert arm.configuration(elbow=90.0 + k)[3] == 90.0 + k
        arm.configuration(shoulder_yaw=1.0, start=arm.configuration(elbow=90.0 + k))
        free.configuration(wrist_roll=45.0 + k)
        wheel.configuration(j=90.0 + k)
        locked_joint(wheel, "j", 90.0 + k)
    said = asked(caplog)
    assert [each.split("; ", 1)[1] for each in said] == [
        "value of a joint: 90 for 'elbow', whose bounds are [-0.1, 2.6] rad: is it in degrees?",
        "value of a joint: 'wrist_roll': 45 rad, 7.16 turns: is it in degrees?",
        "value of joint 'j': 90 rad, 14.3 turns: is it in degrees?",
        "value of locked 'j': 90 rad, 14.3 turns: is it in degrees?",
    ]


def test_degrees_as_roll_pitch_yaw(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mend: what users knew from pages only, number 192: each is asked about once, and a few of them."""
    monkeypatch.setattr(placement, "_ASKED", set())
    for pitch in (0.0, 6.28, 180.0, 180.0, 90.0, 45.0, 30.0):
        rigid_transform(rpy=[0.0, pitch, 0.0])
    found = asked(caplog)
    assert len(found) == 3
    assert found[0].endswith(
        "rpy [0.0, 180.0, 0.0] of a rigid transform is 180 rad, more than a whole turn: is it in degrees?"
    )
    assert asked_of_angles("rpy", []) == ""


def test_what_is_far_enough() -> None:
    """At the limits, on both sides."""
    angle, length = Coordinate("a", -1.0, 1.0, True), Coordinate("s", 0.0, 0.5, False)
    assert [bool(angle.question(x)) for x in (3.0, 3.1, -3.1, 1.0)] == [False, True, True, False]
    assert [bool(angle.question_of_start(x)) for x in (6.28, 6.29, -6.29)] == [False, True, True]
    assert [bool(length.question_of_start(x)) for x in (9.9, 10.1)] == [False, True]
    wide = Coordinate("w", -20.0, 20.0, True)
    assert [bool(wide.question_of_start(x)) for x in (19.9, 20.1)] == [False, True]
    assert [bool(angle.question_of_bound(x)) for x in (18.8, 18.9, np.inf)] == [False, True, False]
    assert [bool(length.question_of_bound(x)) for x in (50.0, 50.1)] == [False, True]


def test_limits_in_degrees_of_a_joint_without_bounds_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    robot = mechanisms.four_bar().robot
    robot.with_bounds({"crank": (-90.0, 90.0)})
    assert "joint 'crank' has a limit of -90 rad, 14.3 turns: in degrees?" in caplog.text
    caplog.clear()
    robot.with_bounds({"crank": (-12.0, 12.0)}).with_bounds({"crank": (-1.0, 1.0)})
    assert "degrees" not in caplog.text


LIMB = (
    "<robot name='r'><link name='a'/><link name='b'/><link name='c'><inertial><mass value='{mass}'/><inertia ixx='{i}' "
    "iyy='{other}' izz='{other}' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<joint name='turn' type='{kind}'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/><origin xyz='{first} 0 0'/>"
    "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
    "<joint name='slide' type='prismatic'><parent link='b'/><child link='c'/><origin xyz='0 {away} 0'/>"
    "<limit lower='0' upper='{way}' effort='1' velocity='1'/></joint></robot>"
)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({}, ""),
        ({"first": 500}, ""),  # the whole robot may stand anywhere
        ({"away": 333}, "joint 'slide' is 333 m away from joint 'turn': is it in millimetres?"),
        ({"away": 30, "way": 10}, ""),  # as long as they may be
        ({"way": 200}, "joint 'slide' has a limit of 200 m: in millimetres?"),
        ({"way": 200, "kind": "prismatic"}, ""),  # a rail under a rail
        ({"way": 1e16}, ""),  # no limit
        ({"way": 1e9}, ""),  # the least number that means none
        ({"i": 60}, "the body of joint 'slide' has a mass of 2 kg and a moment of inertia of 60 kg m^2"),
        ({"i": 40}, ""),  # a radius of gyration of 4.5 m
        ({"i": 50}, ""),  # of just 5 m
        ({"i": 60, "mass": 0}, ""),  # of none
        ({"i": 50.5}, "a mass of 2 kg and a moment of inertia of 50.5 kg m^2, that of a ring with a radius of 5.025 m"),
        ({"i": 60, "away": 2}, ""),  # 5.5 m, on a robot of 2 m
    ],
)
def test_other_units_in_a_urdf(numbers: dict[str, object], said: str, caplog: pytest.LogCaptureFixture) -> None:
    """Lengths of links and ways of sliders in millimetres, moments in kg mm^2: one question, and no change."""
    told: dict[str, Any] = {"i": 0.1, "mass": 2, "kind": "revolute", "first": 0, "away": 0.3, "way": 1, **numbers}
    robot = Robot.from_urdf(LIMB.format(other=0.6 * told["i"], **told))
    assert robot.model.inertias[2].inertia[0, 0] == numbers.get("i", 0.1)
    found = asked(caplog)
    assert len(found) == bool(said)
    assert all(said in line for line in found)


def test_other_units_in_an_sdf(caplog: pytest.LogCaptureFixture) -> None:
    links = "".join(f"<link name='{n}'><inertial><mass>1</mass></inertial></link>" for n in "abc")
    joint = (
        "<joint name='{0}{1}' type='revolute'><parent>{0}</parent><child>{1}</child><pose>{2} 0 0 0 0 0</pose></joint>"
    )
    joints = joint.format("a", "b", 0) + joint.format("b", "c", 400)
    load(f"<sdf version='1.7'><model name='m'><static>true</static>{links}{joints}</model></sdf>")
    assert any("joint 'bc' is 400 m away from joint 'ab': is it in millimetres?" in line for line in asked(caplog))


def test_parts_in_millimetres_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A hundred times as far away as a robot is long; an object without joints has no length."""
    arm, box = sample_arm(), Robot.from_urdf("<robot name='box'><link name='body'/></robot>")
    caplog.clear()
    Robot.system([Part("a", arm), Part("b", arm, [0, 99, 0, 0, 0, 0, 1])])
    Robot.system([Part("a", box), Part("b", box, [0, 1800, 0, 0, 0, 0, 1])])
    assert not asked(caplog)
    Robot.system([Part("a", arm), Part("b", arm, [0, 110, 0, 0, 0, 0, 1]), Part("c", box, [0, 0, 900, 0, 0, 0, 1])])
    (said,) = asked(caplog)
    assert "part 'b' is 110 m away, the longest robot 1.05 m long: is it in millimetres?" in said
    assert "part 'c' is 900 m away" in said

"""Files of others, not quite by the letter: what pinocchio and MuJoCo read is read, and what was odd is said."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from constraints import Implicit, Position, Problem, Projector, Robot
from constraints.errors import ConstraintError, EmptyProblemError, FileError
from constraints.functions import CenterOfMass
from constraints.models import load
from constraints.robot import Base
from constraints.robot.files.reading import comments, read_bytes, without_comments
from liegroups import Rn

ARM = (
    "<link name='base'/><link name='arm'/><joint name='turn' type='revolute'><parent link='base'/>"
    "<child link='arm'/><axis xyz='0 0 1'/>{limit}</joint>"
)
LIMIT = "<limit lower='-1' upper='2' effort='1' velocity='1'/>"


def arm(limit: str = LIMIT, inside: str = "") -> str:
    return f"<robot name='r'>{ARM.format(limit=limit)}{inside}</robot>"


def said(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING)


# XML


@pytest.mark.parametrize(
    "text",
    [
        arm(inside="<drake:proximity/><link name='tip' drake:x='1'/><joint name='t' type='fixed'><parent link='arm'/>"
            "<child link='tip'/></joint>"),
        "\n\n<?xml version='1.0'?>\n" + arm(),
        "\n<?xml version='1.0'?>" + arm(),
        "<!DOCTYPE robot>" + arm(),
        arm(inside="<!-- two -- hyphens -->"),
        arm(LIMIT.replace("' upper", "'upper")),
        arm(inside="<gazebo><plugin name='a & b'/></gazebo>"),
        "<robot name='r' xmlns='http://a.b' xmlns:xacro='http://c.d'>" + ARM.format(limit=LIMIT) + "</robot>",
    ],
    ids=["unbound prefix", "late declaration", "late and close", "document type", "hyphens", "no blank", "ampersand",
         "namespace"],
)  # fmt: skip
def test_what_pinocchio_reads_is_read(text: str, tmp_path: Path) -> None:
    """Mend 6: unbound prefixes (`drake:`), a declaration that is not at the start, and what else its parser takes."""
    peer = pin.buildModelFromXML(text)
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    for source in (text, path):
        robot = Robot.from_urdf(source)
        assert robot.joint_names == tuple(peer.names)[1:]
        assert robot.bounds.lower == peer.lowerPositionLimit
        assert robot.bounds.upper == peer.upperPositionLimit
        q = np.array([0.3])
        pin.framesForwardKinematics(peer, data := peer.createData(), q)
        for frame, place in zip(peer.frames, data.oMf, strict=True):
            if frame.name in robot.frame_names and frame.name != "universe":
                there = robot.at(q).placement(robot.frame(frame.name))
                assert np.allclose(there.homogeneous, place.homogeneous, atol=1e-12)
        assert load(source).robot.joint_names == robot.joint_names


def test_a_comment_before_the_declaration_is_read_with_its_encoding(tmp_path: Path) -> None:
    """Mend 6: a licence above the declaration; the encoding that it declares counts, and lines keep their numbers."""
    path = tmp_path / "arm.urdf"
    path.write_bytes(b"<!-- licence -->\n<?xml version='1.0' encoding='iso-8859-1'?>\n" + arm().encode("latin-1"))
    assert Robot.from_urdf(path).nq == 1
    path.write_bytes(b"<!-- licence -->\n<?xml version='1.0'?>\n<robot name='r'>\n<link></robot>")
    with pytest.raises(FileError, match=r"is not valid XML: line 4.*mismatched tag"):
        Robot.from_urdf(path)


def test_bytes_that_are_no_utf8_are_read_as_latin_1(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Mend 6: pinocchio's parser looks at no encoding; a name in Latin-1 is read, and the log says so."""
    path = tmp_path / "arm.urdf"
    path.write_bytes(arm(inside="<!-- Andr\xe9 -->").encode("latin-1"))
    assert pin.buildModelFromUrdf(str(path)).nq == 1
    assert Robot.from_urdf(path).nq == 1
    assert "Latin-1" in said(caplog)


def test_mended_mistakes_are_said_once_with_their_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Mend 6: what is not valid XML and read nevertheless is in the log, once, with its place."""
    path = tmp_path / "arm.urdf"
    path.write_text(arm(inside="\n<!-- two -- hyphens -->"), encoding="utf-8")
    load(path)
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: is not valid XML: line 2, column 12: not well-formed (invalid token); read as other parsers do"
    ]


def test_comments_are_told_from_what_is_within_them() -> None:
    text = b"<!-- a <!---> x <!-- b -->"
    assert [text[begin:end] for begin, end in comments(text)] == [b"<!-- a <!--->", b"<!-- b -->"]
    assert without_comments(text) == b" x "


def test_slips_in_links_and_joints_are_told_and_a_pipe_is_no_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Robot.from_urdf(arm(LIMIT + LIMIT))
    assert said(caplog) == ""
    Robot.from_urdf(arm(LIMIT + LIMIT.replace("2", "3")))
    assert "joint 'turn': <limit> is given twice with different content: one was expected" in said(caplog)
    Robot.from_urdf("<robot name='r'><link name='l'><inertal><mass value='1'/></inertal></link></robot>")
    assert "link 'l': no element is named 'inertal'; the nearest names are inertial" in said(caplog)
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(FileError, match="is a pipe or a device, but a file was expected"):
        read_bytes(tmp_path / "pipe.urdf")


def test_misspelt_solids_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """A link whose `<colision>` is passed over has no solid; words of other programs are not asked about."""
    solid = "<link name='arm'><collision><verbose/><geometry><mesh filename='a.stl'/></geometry></collision>"
    text = arm().replace("<link name='arm'/>", f"{solid}<collision_checking/><surface/></link>")
    Robot.from_urdf(text)
    assert said(caplog) == ""
    Robot.from_urdf(text.replace("collision>", "colision>").replace("<surface/>", "<visuals/>"))
    Robot.from_urdf(text.replace("/></geometry>", " scal='1 1 1'/></geometry>"))
    for slip in (
        "link 'arm': no element is named 'colision'; the nearest names are collision",
        "link 'arm': no element is named 'visuals'; the nearest names are visual",
        "link 'arm', its <collision>, its <mesh>: no attribute is named 'scal'; the nearest names are scale",
    ):
        assert slip in said(caplog)


@pytest.mark.parametrize("text", [arm() + "<robot name='s'/>", arm() + "junk", arm()[:-3], arm(inside="<a b=1/>")])
def test_what_would_be_lost_or_guessed_is_refused(text: str) -> None:
    """Mend 6: a second robot behind the first, a torn file: what was not read cannot be passed over in silence."""
    with pytest.raises(FileError, match="is not valid XML: line 1"):
        Robot.from_urdf(text)


def test_mjcf_with_mistakes_that_mujoco_reads() -> None:
    """Mend 6: MuJoCo compiles it, so it is loaded (two models of myo-sim are written so)."""
    mujoco = pytest.importorskip("mujoco")
    text = (
        "<mujoco><!-- a -- b --><worldbody><body><joint name='j'type='hinge'/><geom size='.1'/></body></worldbody>"
        "</mujoco>"
    )
    assert mujoco.MjModel.from_xml_string(text).nv == load(text).robot.nv == 1


# Limits


def test_crossed_limits_are_no_bounds(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 6: `lower` above `upper` in a file (pybullet's cube_no_rotation): no bounds, a warning, nothing swapped."""
    robot = Robot.from_urdf(arm("<limit lower='2' upper='-1' effort='1' velocity='1'/>"))
    assert robot.bounds.lower.tolist() == [-np.inf]
    assert robot.bounds.upper.tolist() == [np.inf]
    assert "a lower limit above the upper one, so they have no bounds: turn [2, -1]" in said(caplog)
    with pytest.raises(ConstraintError, match=r"'turn'.*lower bound 2 is above"):  # a model is no file
        Robot(pin.buildModelFromXML(arm("<limit lower='2' upper='-1' effort='1' velocity='1'/>")))


def test_crossed_limits_of_an_sdf_are_no_bounds(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 6: the same in an SDF file."""
    robot = load(sdf("<limit><lower>2</lower><upper>-1</upper></limit>")).robot
    assert (robot.bounds.lower.tolist(), robot.bounds.upper.tolist()) == ([-np.inf], [np.inf])
    assert "joint 'turn' has a lower limit above the upper one, so it has no bounds: [2, -1]" in said(caplog)


# Masses


def sdf(limit: str = "", mass: str = "0") -> str:
    return (
        "<sdf version='1.6'><model name='m'><link name='a'/><link name='b'><inertial>"
        f"<mass>{mass}</mass><inertia><ixx>-1</ixx></inertia></inertial></link>"
        "<joint name='w' type='fixed'><parent>world</parent><child>a</child></joint>"
        "<joint name='turn' type='revolute'><parent>a</parent><child>b</child>"
        f"<pose>0.3 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz>{limit}</axis></joint></model></sdf>"
    )


def test_sdf_links_of_mass_zero_are_read(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 6: kinematics need no mass; the log says where it matters, and a centre of mass of nothing is refused."""
    mechanism = load(sdf())
    assert mechanism.robot.joint_names == ("turn",)
    assert "these links have mass 0, which affects only dynamics and centres of mass: b" in said(caplog)
    robot = mechanism.robot
    at = Implicit.equal(Position(robot, robot.frame("b", [0.2, 0, 0, 0, 0, 0, 1])), [0, 0, 0])
    target = at.function.value(robot.configuration({"turn": 0.7}))
    assert Projector(Problem(robot, [Implicit.equal(at.function, target)])).project(robot.neutral).success
    with pytest.raises(ConstraintError, match="mass"):
        CenterOfMass(robot, joints=["turn"])
    with pytest.raises(FileError, match="link 'b': its mass must not be negative, got -1"):
        load(sdf(mass="-1"))
    with pytest.raises(FileError, match="link 'b': its inertia must not be negative"):
        load(sdf(mass="1"))


def test_a_negative_mass_of_a_urdf_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 6: pinocchio reads it, so it is read; kinematics do not mind, and the log says so."""
    inertial = "<inertial><mass value='-2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    assert Robot.from_urdf(arm().replace("<link name='arm'/>", f"<link name='arm'>{inertial}</link>")).nq == 1
    assert "the mass carried by joint 'turn' is negative, -2" in said(caplog)


# Robots without joints


BOX = "<robot name='box'><link name='body'/><link name='lid'/>{joint}</robot>".format(
    joint="<joint name='j' type='fixed'><parent link='body'/><child link='lid'/></joint>"
)


def test_a_robot_without_joints_says_that_nothing_moves(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 7: `Base.FREE_FLYER` forgotten: loading, `describe()` and a problem say that nothing moves, and `base=`."""
    robot = Robot.from_urdf(BOX)
    assert [record.getMessage() for record in caplog.records] == [
        "URDF text: nothing moves: all its joints are fixed; base=Base.FREE_FLYER loads a URDF robot that is "
        "free in space, base=Base.PLANAR one on wheels"
    ]
    assert "nothing moves" in robot.describe()
    assert "base=Base.FREE_FLYER" in robot.describe()
    at = Implicit.equal(Position(robot, "lid"), [0.1, 0.2, 0.3])
    for make in (lambda: Problem(robot, [at]), lambda: load(BOX).problem([at]), lambda: load(BOX).problem()):
        with pytest.raises(EmptyProblemError, match=r"nothing moves: robot 'box' .*base=Base\.FREE_FLYER"):
            make()
    with pytest.raises(EmptyProblemError, match="nothing moves: the space"):
        Problem(Rn(0), [at])


def test_a_free_robot_moves(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 7: what the message advises works, and says nothing."""
    robot = Robot.from_urdf(BOX, base=Base.FREE_FLYER)
    assert not said(caplog)
    assert "nothing moves" not in robot.describe()
    at = Implicit.equal(Position(robot, "lid"), [0.1, 0.2, 0.3])
    assert Projector(Problem(robot, [at])).project(robot.neutral).success

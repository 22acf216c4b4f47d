"""Files of others, not quite by the letter: what pinocchio and MuJoCo read is read, and what was odd is said."""

from __future__ import annotations

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
from constraints.robot.files.urdf_graph import listed, refuse_larger
from constraints.robot.files.xml import numbers, read_xml
from liegroups import Rn

ARM = (
    "<link name='base'/><link name='arm'/><joint name='turn' type='revolute'><parent link='base'/>"
    "<child link='arm'/><axis xyz='0 0 1'/>{limit}</joint>"
)
LIMIT = "<limit lower='-1' upper='2' effort='1' velocity='1'/>"


def arm(limit: str = LIMIT, inside: str = "") -> str:
    return f"<robot name='r'>{ARM.format(limit=limit)}{inside}</robot>"


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
    assert read_xml("<!----><?xml version='1.0'?>" + arm(), "robot", "URDF")[0].get("name") == "r"
    path.write_bytes(b"<!-- licence -->\n<?xml version='1.0'?>\n<robot name='r'>\n<link></robot>")
    with pytest.raises(FileError, match=r"is not valid XML: line 4.*mismatched tag"):
        Robot.from_urdf(path)


def test_bytes_that_are_no_utf8_are_read_as_latin_1(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Mend 6: pinocchio's parser looks at no encoding; a name in Latin-1 is read, and the log says so."""
    path = tmp_path / "arm.urdf"
    path.write_bytes(arm(inside="<!-- Andr\xe9 -->").encode("latin-1"))
    assert pin.buildModelFromUrdf(str(path)).nq == 1
    assert Robot.from_urdf(path).nq == 1
    assert "Latin-1" in caplog.text
    for declared, told in (("utf-8", True), ("UTF8", True), ("iso-8859-1", False), ("Windows-1252", False)):
        text = f"<?xml version='1.0' encoding='{declared}'?>" + arm(inside="<!-- Andr\xe9 -->")
        path.write_bytes(text.encode("latin-1"))
        caplog.clear()
        assert Robot.from_urdf(path).nq == 1
        assert ("is declared as UTF-8 but is not: read as Latin-1" in caplog.text) == told


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
    assert [*comments(b"<!----> x --> <!-- y")] == [(0, 7)]
    assert without_comments(text) == b" x "


def test_slips_in_links_and_joints_are_told(caplog: pytest.LogCaptureFixture) -> None:
    Robot.from_urdf(arm(LIMIT + LIMIT))
    assert "no bounds" not in caplog.text
    Robot.from_urdf(arm(LIMIT + LIMIT.replace("2", "3")))
    assert "joint 'turn': <limit> is given twice with different content: one was expected" in caplog.text
    Robot.from_urdf("<robot name='r'><link name='l'><inertal><mass value='1'/></inertal></link></robot>")
    assert "link 'l': no element is named 'inertal'; the nearest names are inertial" in caplog.text


def test_a_file_of_the_shell_is_read_and_a_limit_counts_its_bytes(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"0123456789")
    os.close(writer)
    assert read_bytes(f"/dev/fd/{reader}") == b"0123456789"
    os.close(reader)
    path = tmp_path / "ten"
    path.write_bytes(b"0123456789")
    assert read_bytes(path, 10) == b"0123456789"
    with pytest.raises(FileError, match="is larger than 9 bytes"):
        read_bytes(path, 9)
    path.write_bytes(bytes(2**21))  # of which a half is read at a time
    with pytest.raises(FileError, match=f"is larger than {2**20} bytes"):
        read_bytes(path, 2**20)
    assert len(read_bytes(path, 2**21)) == 2**21
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_bytes(tmp_path / "eleven")
    with pytest.raises(FileError, match="cannot be read: embedded null"):
        read_bytes("a\0b")


def test_files_that_are_too_deep_or_too_long_are_refused() -> None:
    """At the limits, on both sides: elements in elements, attributes of one, links."""

    def nested(depth: int) -> str:
        return "<a>" * (depth - 1) + "<b/>" + "</a>" * (depth - 1)

    def wide(count: int) -> str:
        words = " ".join(f"x{i}=''" for i in range(count))
        return f"<a><b {words}/></a>"

    for make, most, words in ((nested, 300, "<b> is nested more than 300"), (wide, 1000, "<b> has more than 1000")):
        assert read_xml(make(most), None, "XML")[0].tag == "a"
        with pytest.raises(FileError, match=words):
            read_xml(make(most + 1), None, "XML")
    refuse_larger("text", links=4000, freedoms=1500)
    with pytest.raises(FileError, match="has 4001 links, expected at most 4000"):
        refuse_larger("text", links=4001)
    with pytest.raises(FileError, match="has 1501 degrees of freedom, expected at most 1500"):
        refuse_larger("text", freedoms=1501)


def test_words_in_the_wrong_place_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """Elements of the file, links and joints inside others, a shape too many; each with its place."""
    shapes = "<collision><geometry><sphere radius='1'/><sphere radius='2'/></geometry></collision>"
    text = arm(inside="<links/><jont/>").replace("<link name='base'/>", f"<link name='base'>{shapes}<link/></link>")
    Robot.from_urdf(text)
    for words in (
        "the file: no element is named 'links'; the nearest names are link",
        "the file: no element is named 'jont'; the nearest names are joint",
        "link 'base': a <link> inside it has no meaning: it belongs in <robot>",
        "link 'base', its <collision>: <geometry> has several shapes: only the first one would be used",
    ):
        assert words in caplog.text


def test_what_is_no_tree_says_why() -> None:
    joint = "<joint name='{0}' type='fixed'><parent link='{1}'/><child link='{2}'/></joint>"
    more = "<link name='tip'/>" + joint.format("to_tip", "arm", "tip")
    for inside, words in (
        (more + joint.format("again", "base", "tip"), "link 'tip' has 2 parents, through the joints 'to_tip' "
         r"\(from 'arm'\) and 'again' \(from 'base'\): a loop"),
        (joint.format("back", "arm", "base"), "the joints form a cycle"),
        ("<link name='b'/><link name='c'/>" + joint.format("bc", "b", "c") + joint.format("cb", "c", "b"),
         "the links 'b', 'c' form a cycle, to which none leads from the root 'base'"),
        (joint.format("self", "arm", "arm"), "it joins link 'arm' to itself"),
    ):  # fmt: skip
        with pytest.raises(FileError, match=words):
            Robot.from_urdf(arm(inside=inside))
    for count, end in ((20, ""), (21, " and 1 more"), (30, " and 10 more")):  # twenty are named
        ring = "".join(
            f"<link name='r{i}'/>" + joint.format(f"j{i}", f"r{i}", f"r{(i + 1) % count}") for i in range(count)
        )
        names = ", ".join(f"'r{i}'" for i in range(min(count, 20)))
        with pytest.raises(FileError, match=f"the links {names}{end} form a cycle"):
            Robot.from_urdf(arm(inside=ring))
    with pytest.raises(FileError, match=r"its outermost element is <world>, <robot> was expected$"):
        Robot.from_urdf("<world/>")
    with pytest.raises(FileError, match="has no <link>: it is an SRDF"):
        Robot.from_urdf("<robot name='r'><group name='g'/></robot>")


def test_encodings_and_empty_texts(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    for encoding, mark in (("utf-16", b""), ("utf-8", b"\xef\xbb\xbf")):
        path.write_bytes(mark + f"<?xml version='1.0' encoding='{encoding}'?>{arm()}".encode(encoding))
        assert read_xml(path, "robot", "URDF")[0].get("name") == "r"
    path.write_bytes(f"<?xml version='1.0' encoding='klingon'?>{arm()}".encode())
    with pytest.raises(FileError, match="is not valid XML: unknown encoding"):
        read_xml(path, "robot", "URDF")
    for empty in ("", "  "):
        with pytest.raises(
            ConstraintError, match="expected a path, a package:// address or XML text, got an empty text"
        ):
            Robot.from_urdf(empty)
    with pytest.raises(FileError, match="damping needs 1 number, got 2"):
        numbers("1 2", "a.urdf", "damping", 1)


def test_many_mistakes_of_a_file_are_counted() -> None:
    assert listed(range(20)) == "; ".join(map(str, range(20)))
    assert listed(range(21)).endswith("19; and 1 mistake more")
    roots = "".join(f"<link name='l{i}'/>" for i in range(22))
    with pytest.raises(FileError, match="'l19' and 2 more are not the child of any joint"):
        Robot.from_urdf(f"<robot name='r'>{roots}</robot>")


def test_misspelt_solids_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """A link whose `<colision>` is passed over has no solid; words of other programs are not asked about."""
    solid = "<link name='arm'><collision><verbose/><geometry><mesh filename='a.stl'/></geometry></collision>"
    text = arm().replace("<link name='arm'/>", f"{solid}<collision_checking/><surface/></link>")
    Robot.from_urdf(text)
    assert "no bounds" not in caplog.text
    Robot.from_urdf(text.replace("collision>", "colision>").replace("<surface/>", "<visuals/>"))
    Robot.from_urdf(text.replace("/></geometry>", " scal='1 1 1'/></geometry>"))
    for slip in (
        "link 'arm': no element is named 'colision'; the nearest names are collision",
        "link 'arm': no element is named 'visuals'; the nearest names are visual",
        "link 'arm', its <collision>, its <mesh>: no attribute is named 'scal'; the nearest names are scale",
    ):
        assert slip in caplog.text


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
    assert "a lower limit above the upper one, so they have no bounds: turn [2, -1]" in caplog.text
    caplog.clear()
    still = Robot.from_urdf(arm("<limit lower='0.5' upper='0.5' effort='1' velocity='1'/>"))
    assert (still.bounds.lower.tolist(), still.bounds.upper.tolist()) == ([0.5], [0.5])
    assert "no bounds" not in caplog.text
    with pytest.raises(ConstraintError, match=r"'turn'.*lower bound 2 is above"):  # a model is no file
        Robot(pin.buildModelFromXML(arm("<limit lower='2' upper='-1' effort='1' velocity='1'/>")))


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
    assert "these links have mass 0, which affects only dynamics and centres of mass: b" in caplog.text
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
    assert "the mass carried by joint 'turn' is negative, -2" in caplog.text


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
    assert not caplog.text
    assert "nothing moves" not in robot.describe()
    at = Implicit.equal(Position(robot, "lid"), [0.1, 0.2, 0.3])
    assert Projector(Problem(robot, [at])).project(robot.neutral).success

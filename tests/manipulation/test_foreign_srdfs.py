"""SRDF files of others: read as HPP reads them, repaired where they nearly say what they mean, and told."""

from __future__ import annotations

import logging
import pickle
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import needs_robot_data

from constraints import Base, Part, Robot
from constraints.errors import FileError
from constraints.manipulation import read_semantics
from constraints.manipulation.factory.polygon_repair import repaired
from constraints.manipulation.factory.semantics import Semantics
from constraints.robot.files.packages import robot_data_folder

BODY = "<link name='body'/>"
HERE = "<position>0 0 -0.35 1 0 0 0</position>"


def read(*tags: str) -> Semantics:
    robot = Robot.system([Part("box", Robot.from_urdf("<robot name='box'><link name='body'/></robot>"))])
    return read_semantics(robot, f"<robot name='box'>{''.join(tags)}</robot>", "box")


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("true true true true true false", "111110"),  # the placard of hpp-environments
        ("true true true false false false", "111000"),  # its sphere
        ("1 1 1 0 0 0", "111000"),
        ("True TRUE 1 true\n 1 true", "111111"),
    ],
)
def test_masks_in_words(words: str, rows: str) -> None:
    """Mend 16: as hpp-python 9.0.2 reads the handles of these files (all 24 handles of nine files agree with it)."""
    expected = [row == "1" for row in rows]
    found = read(f"<handle name='h'>{BODY}{HERE}<mask> {words} </mask></handle>").handles["box/h"]
    assert found.rows.tolist() == expected
    complement = f"<mask_complement>{' '.join('false' if row else 'true' for row in expected)}</mask_complement>"
    found = read(f"<handle name='h'>{BODY}{HERE}<mask>{words}</mask>{complement}</handle>").handles["box/h"]
    assert found.free_rows.tolist() == [not row for row in expected]
    np.testing.assert_allclose(found.frame.placement.translation, [0.0, 0.0, -0.35])


def test_a_handle_without_a_mask_holds_all_six_rows() -> None:
    found = read(f"<handle name='h'>{BODY}{HERE}</handle>").handles["box/h"]
    assert found.rows.tolist() == [True] * 6
    assert found.free_rows.tolist() == [False] * 6


def test_the_direction_of_approach_is_an_attribute_or_a_tag() -> None:
    """Mend 16: the box of hpp-tutorial has the attribute; HPP 9.0.2 answers (0, 0, 1) for it."""
    as_attribute = read(f"<handle name='h' approaching_direction='0 0 1'>{BODY}{HERE}</handle>")
    as_tag = read(f"<handle name='h'>{BODY}{HERE}<approaching_direction>0 0 1</approaching_direction></handle>")
    neither = read(f"<handle name='h'>{BODY}{HERE}</handle>")
    assert as_attribute.handles["box/h"].direction.tolist() == [0.0, 0.0, 1.0]
    assert as_tag.handles["box/h"].direction.tolist() == [0.0, 0.0, 1.0]
    assert neither.handles["box/h"].direction.tolist() == [1.0, 0.0, 0.0]
    both = "<handle name='h' approaching_direction='0 0 1'>"
    with pytest.raises(FileError, match="only once"):
        read(f"{both}{BODY}{HERE}<approaching_direction>0 0 1</approaching_direction></handle>")
    with pytest.raises(FileError, match="approaching_direction needs 3 numbers, got 2"):
        read(f"<handle name='h' approaching_direction='0 1'>{BODY}{HERE}</handle>")
    with pytest.raises(FileError, match="'up' is not a number"):
        read(f"<handle name='h' approaching_direction='up'>{BODY}{HERE}</handle>")


def test_stray_tags_are_passed_over_and_told(caplog: pytest.LogCaptureFixture) -> None:
    """Mend 16: tags of URDF, of tools, parts of a gripper that HPP ignores: the log and the notes say so."""
    found = read(
        "<specificities><feet/></specificities><material name='White'/><material name='Black'/>",
        f"<gripper name='g' clearance='0.03'>{BODY}{HERE}<joint name='j'/><torque_constant value='48e-3'/></gripper>",
        "<contact name='top'><link name='body' object='body_0'/><point>1 -1 0 1 1 0 -1 1 0 -1 -1 0</point>"
        "<shape>4 0 1 2 3</shape></contact>",
        "<gazebo><contact/></gazebo>",
    )
    assert list(found.grippers) == ["box/g"]
    (note,) = found.notes
    for word in (
        *("<specificities>", "<material> (2)", "<joint> of <gripper>", "<torque_constant> of <gripper>"),
        *("attribute 'object' of <link>", "<contact> inside <gazebo>"),
    ):
        assert word in note
    told = [record.getMessage() for record in caplog.records if record.name.startswith("constraints.manipulation")]
    assert told == [note]
    assert read("<group name='arm'/>", "<disable_collisions link1='a' link2='b'/>").notes == ()
    assert pickle.loads(pickle.dumps(found)).notes == found.notes
    both = found | read("<link name='body'/>")
    assert len(both.notes) == 2
    assert (both | found).notes == both.notes


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ("<handles name='h'/>", "<handles> is not understood.*<handle>"),
        ("<Gripper name='h'/>", "<Gripper> is not understood.*<gripper>"),
        ("<disable_collision link1='a' link2='b'/>", "<disable_collision> is not understood.*<disable_collisions>"),
        (f"<handle name='h'>{BODY}{HERE}<masks>1 1 1 1 1 1</masks></handle>", "<masks> is not understood.*<mask>"),
        (f"<handle name='h' clearence='1'>{BODY}{HERE}</handle>", "'clearence' of <handle> is not understood"),
        ("<x:macro xmlns:x='http://www.ros.org/wiki/xacro'/>", "xacro elements: expand it first"),
        (f"<handle name='h'>{BODY}{HERE}<mask>yes no 1 1 1 1</mask></handle>", "'yes' is not a truth value"),
        (f"<handle name='h'>{BODY}{HERE}<mask>true true</mask></handle>", "6 truth values, found 2"),
    ],
)
def test_what_was_meant_to_be_read_is_not_passed_over(tags: str, said: str) -> None:
    """Mend 16: a tag that is nearly one of those that are read is refused with the nearest name."""
    with pytest.raises(FileError, match=said):
        read(tags)


def test_misspelt_tags_are_refused_when_the_robot_is_read() -> None:
    """Mend 1: so that pairs of a misspelt tag are not lost in silence."""
    text = "<robot name='box'><link name='body'/><link name='lid'/><joint name='j' type='fixed'><parent link='body'/>"
    robot = Robot.from_urdf(f"{text}<child link='lid'/></joint></robot>")
    with pytest.raises(FileError, match="<disable_collision> is not understood; expected <disable_collisions>"):
        robot.with_srdf("<robot name='box'><disable_collision link1='body' link2='lid'/></robot>")
    with pytest.raises(FileError, match="<group_states> is not understood; expected <group_state>"):
        robot.with_srdf("<robot name='box'><group_states name='home'/></robot>")
    assert robot.with_srdf("<robot name='box'><rotor_params/><link name='x'/></robot>").disabled_collisions == ()


def test_former_names_of_a_position() -> None:
    """Mend 16: `local_position` of old files is a position, and the notes say so."""
    for old in ("local_position", "handle_position_in_joint"):
        found = read(f"<handle name='h'>{BODY}<{old}>0 0 -0.35 1 0 0 0</{old}></handle>")
        np.testing.assert_allclose(found.handles["box/h"].frame.placement.translation, [0.0, 0.0, -0.35])
        assert f"<{old}> is read as <position>" in found.notes[0]


def contact(points: Any, order: str) -> Semantics:
    text = " ".join(f"{x:.17g}" for x in np.ravel(points))
    return read(f"<contact name='top'>{BODY}<point>{text}</point><shape>{order}</shape></contact>")


SQUARE = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])


@pytest.mark.parametrize("order", ["5 0 1 2 3 0", "6 0 0 1 2 3 3", "5 0 1 1 2 3", "5 0 1 2 3 4"])
def test_repeated_vertices_are_left_out(order: str) -> None:
    """Mend 16: a polygon that is closed, or names a vertex twice, is the square that it means."""
    points = np.vstack([SQUARE, SQUARE[:1] + 1e-9])
    plain = contact(points, "4 0 1 2 3").surfaces["box/top"][0]
    found = contact(points, order)
    surface = found.surfaces["box/top"][0]
    assert len(surface.polygon) == 4
    corners = {tuple(np.round(point, 6)) for point in surface.points.tolist()}  # pyright: ignore
    assert corners == {tuple(point) for point in SQUARE.tolist()}
    np.testing.assert_allclose(surface.outward.rotation[:, 0], plain.outward.rotation[:, 0], atol=1e-12)
    assert "left out" in found.notes[0]
    assert "'box/top'" in found.notes[0]


def test_vertices_a_little_off_their_plane_are_moved_onto_it() -> None:
    """Mend 16: 5 mm of 1 m are repaired, and told; 5 cm are refused; 0.05 mm are taken as they are."""
    bent = SQUARE.copy()
    for lift in (0.002, 0.02, 0.2):
        bent[:, 2] = lift * np.array([1.0, -1.0, 1.0, -1.0]) / 4.0
        if lift == 0.2:
            with pytest.raises(FileError, match="off the plane of the others"):
                contact(bent, "4 0 1 2 3")
            continue
        found = contact(bent, "4 0 1 2 3")
        surface = found.surfaces["box/top"][0]
        np.testing.assert_allclose(np.asarray(surface.points)[:, 2], 0.0, atol=1e-15)
        np.testing.assert_allclose(np.asarray(surface.points)[:, :2], SQUARE[:, :2], atol=1e-15)
        assert "moved onto it" in found.notes[0]
    bent[:, 2] = 5e-5 * np.array([1.0, -1.0, 1.0, -1.0])
    found = contact(bent, "4 0 1 2 3")
    assert found.notes == ()
    np.testing.assert_array_equal(np.asarray(found.surfaces["box/top"][0].points), bent)


def test_repairs_do_not_depend_on_where_a_polygon_is() -> None:
    """A repaired polygon moved is the moved polygon repaired; what needs no repair comes back bit for bit."""
    rng = np.random.default_rng(0)
    bent = SQUARE.copy()
    bent[:, 2] = [0.004, -0.004, 0.004, -0.004]
    plain = repaired(bent)
    for _ in range(20):
        M = pin.SE3.Random()
        moved = repaired(bent @ M.rotation.T + M.translation)
        np.testing.assert_allclose(moved.points, plain.points @ M.rotation.T + M.translation, atol=1e-12)
        assert len(moved.notes) == len(plain.notes) == 1
        flat = rng.uniform(-1.0, 1.0, (3, 3))
        same = repaired(flat)
        assert same.points is flat
        assert same.notes == ()
    line = repaired(np.zeros((4, 3)))
    assert len(line.points) == 4  # for the surface to refuse


def srdf_files() -> list[Path]:
    folder = robot_data_folder()
    return [] if folder is None else sorted(folder.rglob("*.srdf"))


@needs_robot_data
@pytest.mark.parametrize("path", srdf_files(), ids=lambda path: path.stem)
def test_files_of_example_robot_data_are_read(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Mend 16: each, on a robot with the links it names: every gripper and handle, all pairs, nothing refused."""
    caplog.set_level(logging.ERROR)
    root = ElementTree.parse(path).getroot()
    pairs = {frozenset((e.get("link1"), e.get("link2"))) for e in root.iter("disable_collisions")}
    ours = [tag for kind in ("gripper", "handle", "contact") for tag in root.iter(kind)]
    links = {link for pair in pairs for link in pair} | {e.get("name") for tag in ours for e in tag.iter("link")}
    joints = "".join(
        f"<link name='{link}'/><joint name='to {link}' type='fixed'>"
        f"<parent link='the root'/><child link='{link}'/></joint>"
        for link in links
    )
    robot = Robot.from_urdf(f"<robot name='r'><link name='the root'/>{joints}</robot>", base=Base.FREE_FLYER)
    found = read_semantics(robot, path)
    assert len(found.grippers) == len(root.findall("gripper"))
    assert len(found.handles) == len(root.findall("handle"))
    for state in root.findall("group_state"):
        root.remove(state)  # of joints that the stand-in does not have
    read = robot.with_srdf(ElementTree.tostring(root, encoding="unicode"))
    assert {frozenset(pair[:2]) for pair in read.disabled_collisions} == pairs

"""Mechanisms from files: sizes as measured with other tools, nothing lost in silence, mistakes named."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few

from constraints import ConstraintError, Explicit, Implicit, Projector
from constraints.errors import FileError, OptionError, UnknownJointError
from constraints.models import Mechanism, load
from constraints.models.files.mjcf import from_qpos
from constraints.models.files.sdf_document import read_sdf
from constraints.robot import Base
from constraints.robot.frame_table import FrameKind

FOLDER = Path(__file__).parent.parent / "data" / "mechanisms"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
URDF = ("5bar_linkage", "5bar_linkage_iso3d", "cassie_like", "digit_like_2legs", "robot_delta", "talos_like")
MJCF = ("cassie_mjcf", "mj_connect", "mj_joint_couplers", "mj_weld", "robotiq_2f85")


def path_of(name: str) -> Path:
    ending = "urdf" if name in URDF else "xml" if name in MJCF else "sdf"
    return FOLDER / name / f"{name}.{ending}"


def closed(name: str, mechanism: Mechanism) -> np.ndarray:
    """The closed configuration of the table."""
    entry = EXPECTED[name]
    if name in URDF:
        return mechanism.robot.space.normalize(np.array(entry["closed_q"]))
    if name in MJCF:
        return from_qpos(mechanism.robot, entry["closed_qpos_mujoco_order"])
    return mechanism.postures["file"]


@pytest.mark.parametrize("name", a_few([*URDF, *MJCF, "cassie_sdf"], 4))
def test_sizes_rows_rank_and_mobility(name: str) -> None:
    """Case 17, the models: rows, rank at a closed configuration (tolerance 1e-6) and mobility of `expected.json`."""
    entry, mechanism = EXPECTED[name], load(path_of(name))
    judged = mechanism.judge(closed(name, mechanism))
    assert (mechanism.robot.nq, mechanism.robot.nv) == tuple(
        entry[key] for key in (("tree_nq", "tree_nv") if name == "cassie_sdf" else ("nq", "nv"))
    )
    assert judged.is_closed
    assert judged.residual <= 1e-11
    assert (judged.rows, judged.rank, judged.mobility) == (entry["rows"], entry["rank"], entry["mobility"])
    assert mechanism.rows == entry["rows"]
    assert len(judged.redundant) == entry["rows"] - entry["rank"]
    assert len(judged.independent) == entry["mobility"]
    assert len(judged.dependent) == entry["rank"]
    assert mechanism.mobility(closed(name, mechanism)) == entry["mobility"]
    gap = judged.singular_values / judged.singular_values[0]
    assert gap[judged.rank - 1] > 1e-5, "the tolerance does not decide"
    assert gap[judged.rank :].max(initial=0.0) < 1e-8
    # Chosen coordinates are independent: the columns of the others span the range.
    J = mechanism.problem().jacobian(closed(name, mechanism))
    if not mechanism.problem().explicits:
        columns = [i for i, c in enumerate(coordinates(mechanism)) if c in judged.dependent]
        assert np.linalg.matrix_rank(J[:, columns], tol=1e-6 * np.linalg.norm(J, 2)) == judged.rank


def coordinates(mechanism: Mechanism) -> list[str]:
    names: list[str] = []
    for factor in mechanism.robot.space.factors:
        size = factor.v.stop - factor.v.start
        names += [factor.name] if size == 1 else [f"{factor.name}[{i}]" for i in range(size)]
    return names


@pytest.mark.parametrize("name", URDF)
def test_residual_at_neutral_and_motors_of_urdf_packs(name: str) -> None:
    """The 6D and 3D rows are log6 and position of B in A: their size at neutral is that of the table."""
    mechanism = load(path_of(name))
    error = mechanism.problem(bounds=None).error(mechanism.robot.neutral)
    assert np.abs(error).max() == pytest.approx(EXPECTED[name]["initial_residual_inf"], rel=1e-6)
    assert len(mechanism.motors) == EXPECTED[name]["motors"]
    assert not mechanism.unread


def test_motors_are_independent_where_they_can_be() -> None:
    for name in ("cassie_like", "digit_like_2legs", "5bar_linkage"):
        mechanism = load(path_of(name))
        judged = mechanism.judge(closed(name, mechanism))
        assert set(mechanism.motors) <= set(judged.independent)


def test_mechanisms_pickle() -> None:
    for name in ("digit_like_2legs", "robotiq_2f85", "cassie_sdf"):
        mechanism = load(path_of(name))
        again = pickle.loads(pickle.dumps(mechanism))
        q = closed(name, mechanism)
        assert again.judge(q).redundant == mechanism.judge(q).redundant
        assert again.motors == mechanism.motors
        assert list(again.postures) == list(mechanism.postures)


# Sidecars.


def sidecar(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "loops.yaml"
    path.write_text(text, encoding="utf-8")
    return path


FIVE_BAR = path_of("5bar_linkage")


def test_sidecar_mistakes_are_named(tmp_path: Path) -> None:
    """Case 18, mend 4: absent joints and frames and odd types are errors that name what comes closest; with
    strict=False they are listed, and the rest is built."""
    text = """
closed_loop: [[closedloop1_A, closedloop1_B], [closedloop1_a, closedloop1_B], [closedloop1_A, closedloop1_B]]
type: [6D, 6d, 5d]
name_mot: [mot1, Mot2]
joint_name: [mot3]
joint_type: [SPHERICAL]
colour: red
"""
    with pytest.raises(FileError) as caught:
        load(FIVE_BAR, sidecar(tmp_path, text))
    mechanism = load(FIVE_BAR, sidecar(tmp_path, text), strict=False)
    assert mechanism.rows == 6
    assert mechanism.motors == ("mot1",)
    said = [str(entry) for entry in mechanism.unread]
    for words in (
        ("closedloop1_a", "closedloop1_A"),
        ("5d", "6d"),
        ("motor 'Mot2'", "mot2"),
        ("joint 'mot3'", "mot1"),
        ("colour", "closed_loop"),
    ):
        assert any(all(word in line for word in words) for line in said), (words, said)
    assert len(said) == 5
    assert all(line in mechanism.describe() for line in said)
    assert all(line in str(caught.value) for line in said)
    assert "strict=False" in str(caught.value)
    assert all(entry.is_mistake for entry in mechanism.unread)


def test_joints_are_replaced_in_either_case(tmp_path: Path) -> None:
    text = "{closed_loop: [], type: [], joint_name: [mot1, mot2, free1], joint_type: [Spherical, ujoint_zx, FIXED]}"
    plain = load(FIVE_BAR, sidecar(tmp_path, "closed_loop: []"))
    names = plain.robot.joint_names
    text = text.replace("free1", names[-1])
    mechanism = load(FIVE_BAR, sidecar(tmp_path, text))
    assert not mechanism.unread
    assert mechanism.robot.joint_names == names[:-1]
    kinds = {f.name: f.space.name for f in mechanism.robot.space.factors}
    assert (kinds["mot1"], kinds["mot2"]) == ("SO3", "R2")
    assert pin.computeTotalMass(mechanism.robot.model) == pytest.approx(pin.computeTotalMass(plain.robot.model))
    # UJOINT_ZX turns about z, then about x.
    q = mechanism.robot.configuration({"mot2": [0.3, 0.4]})
    rest = mechanism.robot.at(mechanism.robot.neutral).placement(mechanism.robot.frame("mot2", kind=FrameKind.JOINT))
    turned = mechanism.robot.at(q).placement(mechanism.robot.frame("mot2", kind=FrameKind.JOINT))
    expected = pin.utils.rotate("z", 0.3) @ pin.utils.rotate("x", 0.4)
    np.testing.assert_allclose(rest.actInv(turned).rotation, expected, atol=1e-14)
    for word in ("xy", "xz", "yx", "yz", "zy"):
        text = f"{{closed_loop: [], joint_name: [mot2], joint_type: [UJOINT_{word}]}}"
        other = load(FIVE_BAR, sidecar(tmp_path, text))
        turned = other.robot.at(other.robot.configuration({"mot2": [0.3, 0.4]})).placement("mot2")
        expected = pin.utils.rotate(word[0], 0.3) @ pin.utils.rotate(word[1], 0.4)
        np.testing.assert_allclose(rest.actInv(turned).rotation, expected, atol=1e-14)
    # The end is where it was: frames have moved along.
    for frame in ("closedloop1_A", "closedloop1_B"):
        ours, there = (m.robot.at(m.robot.neutral).placement(m.robot.frame(frame)) for m in (mechanism, plain))
        np.testing.assert_allclose(ours.homogeneous, there.homogeneous, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty: no loop is closed"),
        ("[1, 2]", "mapping"),
        ("{joints: 3}", "closed_loop"),
        ("closed_loop: [[a, b]]", "1 pair, type has 0 entries"),
        ("{closed_loop: [[a]], type: [6d]}", "pair of frame names"),
        ("{closed_loop: [[a, 3]], type: [6d]}", "pair of frame names"),
        ("{closed_loop: 3, type: []}", "must be a list"),
        ("{closed_loop: [], name_mot: [3]}", "must be a name"),
        ("{closed_loop: [], joint_name: [mot1]}", "joint_type has 0"),
        ("closed_loop: [[a, b]\ntype: x", "line 2"),
        ("closed_loop: &a [[b, c]]\ntype: *a", "line 1: this list or mapping is used again by an alias"),
        (f"closed_loop: [[a, {'b' * 1001}]]\ntype: [6d]", "line 1: has a word of more than 1000 characters"),
        ("!!python/object/apply:os.getcwd []", "is not valid YAML"),
    ],
)
def test_what_is_no_sidecar_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """Case 18: a sidecar that cannot be read whole is an error that names the file, never a crash."""
    path = sidecar(tmp_path, text)
    with pytest.raises(FileError, match=r"loops\.yaml") as caught:
        load(FIVE_BAR, path)
    assert said in str(caught.value)


def test_sidecar_beside_the_urdf_and_mimic_tags(tmp_path: Path) -> None:
    assert load(FIVE_BAR).rows == 6  # found beside it
    gripper = load(FOLDER.parent / "gripper.urdf")
    assert not gripper.closures
    assert all(isinstance(coupler, Explicit) for coupler in gripper.couplers)
    tags = {m.joint: m for m in gripper.robot.mimics}
    assert len(gripper.couplers) + sum("mimic" in e.what for e in gripper.unread) == len(tags) > 0
    q = Projector(gripper.problem()).project(gripper.robot.neutral).or_raise().q
    for m in tags.values():
        own, source = gripper.robot.slice_of(m.joint), gripper.robot.slice_of(m.source)
        np.testing.assert_allclose(q[own], m.multiplier * q[source] + m.offset, atol=1e-12)


# SDF.


SDF = """<sdf version="1.9"><model name="loop">
  <link name="base"/><link name="a"><pose>0 0 0.1 0 0 0</pose></link><link name="b"><pose>0.5 0 0.1 0 0 0</pose></link>
  <link name="rod"><pose>0 0 0.6 0 0 0</pose></link>
  <joint name="ground" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="ja" type="revolute"><parent>base</parent><child>a</child><axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="jb" type="revolute"><parent>base</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="jr" type="revolute"><parent>rod</parent><child>a</child><pose relative_to="rod"/>
    <axis><xyz>0 2 0</xyz></axis></joint>
  <joint name="end" type="TYPE"><parent>rod</parent><child>b</child><pose relative_to="b">0 0 0.5 0 0 0</pose>
    <axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 0 1</xyz></axis2><screw_thread_pitch>0.01</screw_thread_pitch></joint>
</model></sdf>"""


@pytest.mark.parametrize(
    ("kind", "rows", "rank"),
    [("revolute", 5, 2), ("ball", 3, 2), ("universal", 4, 2), ("fixed", 6, 3), ("prismatic", 5, 3), ("screw", 5, 3)],
)
def test_cut_joints_become_closures_with_their_hinge(kind: str, rows: int, rank: int) -> None:
    """Case 18: the joint that closes a loop is a closure of the right hinge, closed in the poses of the file."""
    mechanism = load(SDF.replace("TYPE", kind), cut=["end"])
    assert [closure.name for closure in mechanism.closures] == ["end"]
    judged = mechanism.judge(mechanism.robot.neutral)
    assert judged.residual <= 1e-15
    assert (judged.rows, judged.rank, mechanism.robot.nv) == (rows, rank, 3)


def test_the_rule_of_the_cut_and_its_override() -> None:
    """Case 18: joints of fewest freedoms make the tree, in the order of the file; the user decides otherwise."""
    assert [c.name for c in load(SDF.replace("TYPE", "ball")).closures] == ["end"]
    assert [c.name for c in load(SDF.replace("TYPE", "revolute")).closures] == ["end"]
    assert [c.name for c in load(SDF.replace("TYPE", "fixed")).closures] == ["jr"]
    other = load(SDF.replace("TYPE", "revolute"), cut=["jb"])
    assert [c.name for c in other.closures] == ["jb"]
    assert set(other.robot.joint_names) == {"ja", "jr", "end"}
    with pytest.raises(UnknownJointError, match="the nearest names are"):
        load(SDF.replace("TYPE", "revolute"), cut=["jc"])


def test_any_cut_gives_the_same_mobility_and_the_same_motion() -> None:
    """A joint passed from child to parent keeps its coordinate: closed configurations of one cut close the others."""
    texts = [load(SDF.replace("TYPE", "revolute"), cut=[name]) for name in ("end", "jb", "ja", "jr")]
    first = texts[0]
    q = first.robot.configuration({"ja": 0.3, "jb": 0.3, "jr": 0.3})  # a parallelogram
    assert first.judge(q).residual <= 1e-12
    for other in texts[1:]:
        values = {"ja": 0.3, "jb": 0.3, "jr": 0.3, "end": 0.3}
        here = other.robot.configuration({name: values[name] for name in other.robot.joint_names})
        assert other.judge(here).residual <= 1e-12
        assert other.mobility(here) == first.mobility(q) == 1
        for link in ("a", "b", "rod"):
            ours = other.robot.at(here).placement(other.robot.frame(link, kind=FrameKind.BODY)).homogeneous
            there = first.robot.at(q).placement(first.robot.frame(link, kind=FrameKind.BODY)).homogeneous
            np.testing.assert_allclose(ours, there, atol=1e-12)


def test_a_part_cut_off_from_the_world_is_free() -> None:
    mechanism = load(SDF.replace("TYPE", "revolute"), cut=["ground"])
    assert mechanism.robot.joint_names[0] == "root_joint"
    assert {closure.name for closure in mechanism.closures} == {"ground", "end"}
    assert mechanism.mobility(mechanism.postures["file"]) == 1


def test_cassie_of_sdf_is_where_the_file_puts_it() -> None:
    mechanism = load(path_of("cassie_sdf"))
    assert [c.name for c in mechanism.closures] == sorted(EXPECTED["cassie_sdf"]["cut"], key=str) or {
        c.name for c in mechanism.closures
    } == set(EXPECTED["cassie_sdf"]["cut"])
    document = read_sdf(path_of("cassie_sdf"))
    posture = mechanism.robot.at(mechanism.postures["file"])
    for link in document.links.values():
        ours = posture.placement(mechanism.robot.frame(link.name, kind=FrameKind.BODY)).homogeneous
        np.testing.assert_allclose(ours, link.placement.homogeneous, atol=1e-12)
    total = sum(link.mass for link in document.links.values())
    assert pin.computeTotalMass(mechanism.robot.model) == pytest.approx(total)
    centers = sum(link.mass * link.placement.act(link.com) for link in document.links.values()) / total
    data = mechanism.robot.model.createData()
    np.testing.assert_allclose(pin.centerOfMass(mechanism.robot.model, data, mechanism.postures["file"]), centers)
    fixed = load(path_of("cassie_sdf"), base=Base.FIXED)
    assert fixed.robot.nv == mechanism.robot.nv - 6
    assert fixed.mobility(fixed.robot.neutral) == EXPECTED["cassie_sdf"]["mobility"] - 6


GEARS = """<sdf version="1.6"><model name="gears"><link name="base"/><link name="motor"/><link name="wheel"/>
  <joint name="jm" type="revolute"><parent>base</parent><child>motor</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="jw" type="revolute"><parent>base</parent><child>wheel</child><axis><xyz>0 0 -1</xyz></axis></joint>
  <joint name="gear" type="gearbox"><parent>motor</parent><child>wheel</child><axis><xyz>0 0 1</xyz></axis>
    <axis2><xyz>0 0 1</xyz></axis2><gearbox_ratio>3</gearbox_ratio>
    <gearbox_reference_body>base</gearbox_reference_body></joint>
</model></sdf>"""


def test_gearboxes_are_couplers() -> None:
    """The child turns by minus the ratio times the parent, as SDF specifies; the sign of an axis counts."""
    mechanism = load(GEARS)
    assert [coupler.name for coupler in mechanism.couplers] == ["gear"]
    q = mechanism.robot.configuration(start=mechanism.robot.neutral, jm=0.2)
    done = Projector(mechanism.problem()).project(q).or_raise().q
    assert done[mechanism.robot.slice_of("jw")] == pytest.approx(0.6)
    skew = load(GEARS.replace("<axis2><xyz>0 0 1", "<axis2><xyz>0 1 1"))
    assert not skew.couplers
    assert "gearbox 'gear'" in str(skew.unread[0])
    for joint in ("jm", "jw"):  # one of its two hinges is none
        without = load(GEARS.replace(f'name="{joint}" type="revolute"', f'name="{joint}" type="prismatic"'))
        assert [entry.what for entry in without.unread] == ["gearbox 'gear'"]


TWO_AXES = """<sdf version="1.9"><model name="m"><link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link>
  <joint name="ground" type="fixed"><parent>world</parent><child>ROOT</child></joint>
  <joint name="u" type="universal"><parent>a</parent><child>b</child>
    <axis><xyz>1 0 0</xyz><limit><lower>-0.5</lower><upper>0.7</upper></limit></axis>
    <axis2><xyz>0 1 0</xyz><limit><lower>-0.2</lower><upper>0.3</upper></limit></axis2></joint></model></sdf>"""


@pytest.mark.parametrize(("root", "turns"), [("a", (1.0, -1.0)), ("b", (-1.0, 1.0))])
def test_both_axes_of_a_universal_joint_have_their_bounds(root: str, turns: tuple[float, float]) -> None:
    """From parent to child, and from child to parent, where the second axis comes first: closed forms of both turns."""
    robot = load(TWO_AXES.replace("ROOT", root)).robot
    first, second = ((-0.5, 0.7), (-0.2, 0.3)) if root == "a" else ((-0.2, 0.3), (-0.5, 0.7))
    np.testing.assert_array_equal(robot.bounds.lower, [first[0], second[0]])
    np.testing.assert_array_equal(robot.bounds.upper, [first[1], second[1]])
    x, y = 0.4, -0.15  # about the axes of the file
    expected = pin.utils.rotate("x", x) @ pin.utils.rotate("y", y)
    q = [x, y] if root == "a" else [y, x]
    ends = [robot.at(q).placement(robot.frame(link, kind=FrameKind.BODY)).rotation for link in ("a", "b")]
    np.testing.assert_allclose(ends[0].T @ ends[1], expected, atol=1e-12)


def test_bounds_of_a_joint_that_closes_a_loop_are_listed() -> None:
    limited = "<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis><axis2>"
    text = SDF.replace("TYPE", "revolute").replace("<axis><xyz>0 1 0</xyz></axis><axis2>", limited)
    mechanism = load(text)
    assert [closure.name for closure in mechanism.closures] == ["end"]
    said = [entry.what for entry in mechanism.unread]
    assert said == ["axis2 of joint 'end'", "bounds of joint 'end', which closes a loop"]


FRAMES = """<sdf version="1.9"><model name="m" placement_frame="grip"><pose>1 2 3 0 0 0.5</pose>
  <link name="a"/><link name="b"><pose>0 0 1 0 0.3 0</pose></link>
  <frame name="top" attached_to="a"><pose>0 0.1 0.9 0.2 0 0</pose></frame>
  <frame name="heel" attached_to="b"><pose>0.1 0 -0.2 0 0 0.4</pose></frame>
  <frame name="grip" attached_to="heel"><pose>0 0 0.5 0 0 0</pose></frame>
  <joint name="j" type="revolute"><parent>top</parent><child>heel</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""


SPELT = FRAMES.replace("<pose>1 2 3 0 0 0.5<", f"<pose degrees='true'>1 2 3 0 0 {np.degrees(0.5)}<").replace(
    "<pose>0.1 0 -0.2 0 0 0.4<",
    f"<pose rotation_format='quat_xyzw'>0.1 0 -0.2 0 0 {2.0 * np.sin(0.2)} {2.0 * np.cos(0.2)}<",
)
"""The same with degrees, and a quaternion of length 2."""


@pytest.mark.parametrize("text", [FRAMES, SPELT], ids=["angles", "degrees and a quaternion"])
def test_joints_join_frames_and_a_frame_places_the_model(text: str) -> None:
    """SDF 1.7: a joint between frames is one between their links, at the child's; placement_frame is at the pose."""
    mechanism = load(text)
    robot, q = mechanism.robot, mechanism.postures["file"]
    assert not mechanism.unread
    assert robot.joint_names == ("root_joint", "j")
    oMm = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, 0.5), np.array([1.0, 2.0, 3.0]))
    mMb = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.3, 0.0), np.array([0.0, 0.0, 1.0]))
    bMh = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, 0.4), np.array([0.1, 0.0, -0.2]))
    hMg = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5]))
    oMb = oMm * (bMh * hMg).inverse()
    at = robot.at(q).placement
    np.testing.assert_allclose(at(robot.frame("grip")).homogeneous, oMm.homogeneous, atol=1e-12)
    np.testing.assert_allclose(at(robot.frame("b", kind=FrameKind.BODY)).homogeneous, oMb.homogeneous, atol=1e-12)
    oMa = oMb * mMb.inverse()
    np.testing.assert_allclose(at(robot.frame("a", kind=FrameKind.BODY)).homogeneous, oMa.homogeneous, atol=1e-12)
    turned = robot.configuration(start=q, j=0.6)
    turn = pin.SE3(pin.utils.rotate("z", 0.6), np.zeros(3))
    expected = oMa * mMb * bMh * turn * bMh.inverse()
    there = robot.at(turned).placement(robot.frame("b", kind=FrameKind.BODY))
    np.testing.assert_allclose(there.homogeneous, expected.homogeneous, atol=1e-12)


def test_frames_are_on_the_link_that_they_lead_to() -> None:
    """On a joint, which is its child's, on another frame, on the model, which is its main link's; or on none."""
    on = {"knee": "j", "shin": "knee", "main": "", "model": "__model__", "one": "two", "two": "one"}
    frames = "".join(f"<frame name='{name}' attached_to='{other}'/>" for name, other in on.items())
    text = FRAMES.replace("</model>", f"{frames}</model>").replace('name="m"', 'name="m" canonical_link="b"')
    with pytest.raises(FileError, match="frame 'one': it is attached to no link"):
        load(text)
    mechanism = load(text, strict=False)
    assert [entry.what for entry in mechanism.unread] == ["frame 'one'", "frame 'two'"]
    robot, q = mechanism.robot, mechanism.postures["file"]
    turned = robot.at(robot.configuration(start=q, j=0.6))
    for frame, link in (("knee", "b"), ("shin", "b"), ("main", "b"), ("model", "b"), ("top", "a")):
        before, after = (at.placement(robot.frame(link, kind=FrameKind.BODY)).actInv(at.placement(frame))
                         for at in (robot.at(q), turned))  # fmt: skip
        np.testing.assert_allclose(after.homogeneous, before.homogeneous, atol=1e-12)
    place = robot.at(q).placement
    np.testing.assert_allclose(place("shin").homogeneous, place("heel").homogeneous, atol=1e-12)


def test_limits_in_degrees_of_both_axes_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    for degrees in ("<lower>-0.2</lower>", "<lower>-0.5</lower>"):
        caplog.clear()
        load(TWO_AXES.replace("ROOT", "a").replace(degrees, "<lower>-90</lower>"))
        assert "joint 'u' has a limit of -90 rad" in caplog.text
    caplog.clear()
    load(TWO_AXES.replace("ROOT", "a").replace("universal", "prismatic").replace("<lower>-0.5", "<lower>-90"))
    load(TWO_AXES.replace("ROOT", "a").replace("<lower>-0.5", "<lower>-1e16"))
    assert "degrees" not in caplog.text


def test_bounds_of_an_sdf_that_are_none(caplog: pytest.LogCaptureFixture) -> None:
    """Infinite ones, 1e16 and more, a lower one above the upper one; 0 is a number."""
    for lower, upper, expected in (
        ("-inf", "inf", (-np.inf, np.inf)),
        ("-1e16", "1e16", (-np.inf, np.inf)),
        ("-9e15", "+INF", (-9e15, np.inf)),
        ("0", "0", (0.0, 0.0)),
        ("1", "-1", (-np.inf, np.inf)),
    ):
        text = TWO_AXES.replace("ROOT", "a").replace("<lower>-0.5", f"<lower>{lower}")
        bounds = load(text.replace("<upper>0.7", f"<upper>{upper}")).robot.bounds
        assert (bounds.lower[0], bounds.upper[0]) == expected
        assert ("a lower limit above the upper one" in caplog.text) == (lower == "1")
    assert "joint 'u' has a lower limit above the upper one, so it has no bounds: [1, -1]" in caplog.text
    limits = "<effort>0</effort><velocity>2</velocity></limit></axis>"
    model: Any = load(TWO_AXES.replace("ROOT", "a").replace("</limit></axis>", limits)).robot.model
    assert (model.upperEffortLimit[0], model.upperVelocityLimit[0]) == (0.0, 2.0)
    assert np.isinf([model.upperEffortLimit[1], model.upperVelocityLimit[1]]).all()


def test_names_that_are_taken_get_a_number() -> None:
    """ "universe" is the world's; where it was another name, that is listed."""
    for text in (
        TWO_AXES.replace("ROOT", "a").replace('"u"', '"universe"'),
        "<mujoco><worldbody><body><joint name='universe'/><geom size='1'/></body></worldbody></mujoco>",
    ):
        if "mujoco" in text:
            pytest.importorskip("mujoco")
        mechanism = load(text)
        assert mechanism.robot.joint_names == ("universe_2",)
        assert [entry.what for entry in mechanism.unread] == ["name of joint 'universe'"]


def test_a_base_that_an_sdf_contradicts_is_refused() -> None:
    held = TWO_AXES.replace("ROOT", "a")
    for text, base, said in (
        (held, Base.FREE_FLYER, r"held by 'ground', a joint to the world; cut=\['ground'\] frees it"),
        (FRAMES.replace("<link", "<static>1</static><link", 1), Base.FREE_FLYER, "the model is static"),
        (FRAMES, Base.PLANAR, "an SDF is fixed or free"),
    ):
        with pytest.raises(OptionError, match=said):
            load(text, base=base)
    assert load(held, base=Base.FIXED).robot.nv == 2
    assert load(FRAMES, base=Base.FREE_FLYER).robot.nv == load(FRAMES).robot.nv == 7
    assert load(FRAMES, base=Base.FIXED).robot.nv == 1


def test_mimics_of_an_sdf_are_couplers() -> None:
    """SDF 1.11: follower = multiplier (leader - reference) + offset."""
    text = """<sdf version="1.11"><model name="m"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
      <joint name="ground" type="fixed"><parent>world</parent><child>a</child></joint>
      <joint name="x" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
      <joint name="y" type="prismatic"><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz><mimic joint="x">
        <multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic></axis></joint>
      <joint name="z" type="revolute"><parent>c</parent><child>d</child><axis><xyz>1 0 0</xyz><mimic joint="xx">
        <multiplier>2</multiplier></mimic></axis></joint></model></sdf>"""
    with pytest.raises(FileError, match=r"mimic tag of joint 'z'.*nearest names are x"):
        load(text)
    mechanism = load(text, strict=False)
    assert [(m.joint, m.source) for m in mechanism.robot.mimics] == [("y", "x")]
    assert [entry.what for entry in mechanism.unread] == ["mimic tag of joint 'z'"]
    q = Projector(mechanism.problem()).project(mechanism.robot.configuration(x=0.3)).or_raise().q
    np.testing.assert_allclose(q, [0.3, 2.0 * (0.3 - 0.1) + 0.5, 0.0], atol=1e-12)
    for new, reason in (
        ('<mimic joint="x" axis="axis2">', "only joints of one coordinate can follow each other"),
        ('<mimic joint="ground">', "one of its joints closes a loop"),
    ):
        other = load(text.replace('<mimic joint="x">', new), strict=False)
        assert f"mimic tag of joint 'y': {reason}" in map(str, other.unread)
        assert not other.couplers


def test_of_many_unknown_names_the_first_are_compared_with_those_there_are(tmp_path: Path) -> None:
    """What comes closest takes its time: of twenty mistakes it is said, of the others the name alone."""
    names = ", ".join(f"mot{i}x" for i in range(30))
    pairs, types = ", ".join(f"[closedloop1_A, z{i:02}]" for i in range(30)), ", ".join(["6d"] * 30)
    for key in (f"name_mot: [{names}]", f"joint_name: [{names}]\njoint_type: [{', '.join(['FIXED'] * 30)}]"):
        text = f"closed_loop: []\n{key}"
        said = [str(entry) for entry in load(FIVE_BAR, sidecar(tmp_path, text), strict=False).unread]
        assert [("nearest" in line) for line in said] == [True] * 21 + [False] * 9
        assert all(f"'mot{i}x'" in line for i, line in enumerate(said))
    loops = load(FIVE_BAR, sidecar(tmp_path, f"closed_loop: [{pairs}]\ntype: [{types}]"), strict=False)
    assert [f"'z{i:02}'" in str(entry) for i, entry in enumerate(loops.unread)] == [True] * 30
    assert not loops.closures


POSE = "<sdf><model name='m'><link name='a'><pose {}</pose></link></model></sdf>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<sdf version='1.6'/>", "no <model>"),
        ("<sdf><model name='m'/></sdf>", "no link"),
        ("<sdf><model name='m'><link name='a'/><link name='a'/></model></sdf>", "named 'a'"),
        ("<sdf><model name='m'><link/></model></sdf>", "has no name"),
        ("<sdf><model name='m'><link name='a'><pose>0 0 x 0 0 0</pose></link></model></sdf>", "'x' is not a number"),
        ("<sdf><model name='m'><link name='a'><pose>0 0</pose></link></model></sdf>", "expected 6 numbers"),
        (POSE.format("rotation_format='quat_xyzw'>0 0 0 0 0 0"), "expected 7 numbers"),
        (POSE.format("rotation_format='quat_xyzw'>1 0 0 0 0 0 0"), "its quaternion is zero"),
        (POSE.format("rotation_format='rpy'>0 0 0 0 0 0"), "euler_rpy"),
        (POSE.format("degrees='no'>0 0 0 0 0 0"), "true or false"),
        ("<sdf><model name='m' canonical_link='b'><link name='a'/></model></sdf>", "'b'"),
        ("<sdf><model name='m'><link name='a'/><link name='b'/><joint name='j' type='revolute'><parent>a</parent>"
         "<child>b</child><axis><xyz>0 0 0</xyz></axis></joint></model></sdf>", "of joint 'j': expected a direction"),
        ("<sdf><model name='m'><link name='a'><pose relative_to='b'/></link>"
         "<link name='b'><pose relative_to='a'/></link></model></sdf>", "refer to each other in a cycle: a, b, a"),
        ("<sdf><model name='m'><link name='arm'><pose relative_to='amr'/></link></model></sdf>", "arm"),
        ("<!DOCTYPE sdf [<!ENTITY x 'y'>]><sdf><model name='m'><link name='a'/></model></sdf>", "DOCTYPE"),
        ("<sdf><model name='m'><link name='a'><inertial><mass>-1</mass></inertial></link></model></sdf>", "mass"),
        ("<sdf><model name='m'><link name='a'><inertial><inertia><ixx>-1</ixx></inertia></inertial></link></model>"
         "</sdf>", "inertia"),
        ("<sdf><model name='m'><link name='a'><inertial><mass>inf</mass></inertial></link></model></sdf>", "mass"),
        ("<sdf><model name='m'><link name='a'>", "is not valid XML"),
        ("<world/>", "expected one of robot, mujoco, sdf"),
        ("<!DOCTYPE m [<!ENTITY a 'b'>]><mujoco/>", "DOCTYPE"),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "MuJoCo cannot compile"),
        ("<mujoco><nonsense/></mujoco>", "MuJoCo cannot compile"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read_whole_are_refused(text: str, said: str) -> None:
    """Case 18: never a crash, never an entity expanded: the reason is named."""
    with pytest.raises(FileError) as caught:
        load(text)
    assert said in str(caught.value)


def test_what_an_sdf_has_beyond_the_tree_is_listed() -> None:
    text = """<sdf version="1.9"><world name="w"><model name="m"><link name="a"/><link name="b"/>
    <joint name="odd" type="hovering"><parent>a</parent><child>b</child></joint>
    <joint name="lost" type="fixed"><parent>a</parent><child>bb</child></joint>
    <gripper name="hand"/></model><model name="second"><link name="x"/></model>
    <include><uri>model://table</uri></include></world></sdf>"""
    with pytest.raises(FileError, match=r"joint 'odd'.*'hovering'.*joint 'lost'.*'bb'") as caught:
        load(text)
    assert "model 'second'" not in str(caught.value)
    mechanism = load(text, strict=False)
    said = "\n".join(str(entry) for entry in mechanism.unread)
    for words in ("joint 'odd'", "joint 'lost'", "<gripper name='hand'>", "model 'second'"):
        assert words in said
    assert len([name for name in mechanism.robot.joint_names if name.endswith("root_joint")]) == 2


def test_options_that_a_kind_of_file_does_not_take_are_refused(tmp_path: Path) -> None:
    wrong: tuple[tuple[Path, dict[str, Any], str], ...] = (
        (path_of("robotiq_2f85"), {"cut": ["x"]}, "cut"),
        (path_of("robotiq_2f85"), {"base": Base.FIXED}, "base"),
        (FIVE_BAR, {"inactive": True}, "inactive"),
        (path_of("cassie_sdf"), {"loops": "x.yaml"}, "loops"),
    )
    for path, options, said in wrong:
        with pytest.raises(OptionError, match=said):
            load(path, **options)
    with pytest.raises(FileError, match="absent"):
        load(tmp_path / "absent.urdf")
    with pytest.raises(ConstraintError, match="expected"):
        load(3)  # type: ignore[arg-type]


def test_couplers_are_explicit_where_one_joint_follows_others() -> None:
    for name in ("mj_joint_couplers", "robotiq_2f85"):
        mechanism = load(path_of(name))
        assert mechanism.couplers
        assert all(isinstance(coupler, Explicit) for coupler in mechanism.couplers)
        assert len(mechanism.problem().explicits) == len(mechanism.couplers)
    assert any(isinstance(coupler, Implicit) for coupler in load(path_of("mj_weld")).couplers)


def test_a_sidecar_may_only_name_motors(tmp_path: Path) -> None:
    """Stumble 11: of a URDF that closes its loop itself; beside it the file is found if it has `closed_loop`."""
    (tmp_path / "loop.urdf").write_text("""<robot name="loop">
      <link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
      <joint name="motor" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
      <joint name="elbow" type="continuous"><parent link="crank"/><child link="coupler"/>
        <origin xyz="0.2 0 0"/><axis xyz="0 0 1"/></joint>
      <joint name="pivot" type="continuous"><parent link="base"/><child link="rocker"/>
        <origin xyz="0.5 0 0"/><axis xyz="0 0 1"/></joint>
      <joint name="tip" type="continuous"><parent link="coupler"/><child link="rocker"/><axis xyz="0 0 1"/></joint>
      </robot>""")
    beside = tmp_path / "loop.yaml"
    beside.write_text("name_mot: [motor]")
    given = load(tmp_path / "loop.urdf", beside)
    assert (given.motors, len(given.cut)) == (("motor",), 1)
    beside.write_text("closed_loop: []\nname_mot: [motor]")
    assert load(tmp_path / "loop.urdf").motors == ("motor",)

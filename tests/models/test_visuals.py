"""Visual geometry of files: what is read of URDF, SDF and MJCF, and where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from constraints import Robot
from constraints.models import load
from constraints.models.files.visuals import visuals_of
from constraints.models.structure.visual_shapes import Mesh, Solid, Triangles

ARM = """<robot name='crane'>
  <material name='orange'><color rgba='1 0.5 0 1'/></material>
  <link name='base'>
    <visual><origin xyz='0 0 0.1'/><geometry><box size='0.4 0.4 0.2'/></geometry><material name='orange'/></visual>
  </link>
  <link name='boom'>
    <visual><origin xyz='0.5 0 0' rpy='0 1.5707963 0.2'/>
      <geometry><cylinder radius='0.1' length='1'/></geometry></visual>
    <visual><geometry><sphere radius='0.15'/></geometry><material name='x'><color rgba='0 0 1 0.5'/></material></visual>
  </link>
  <link name='hook'>
    <visual><geometry><cylinder radius='0.05' length='0.2'/></geometry></visual>
    <visual><geometry><mesh filename='MESH' scale='1 2 3'/></geometry></visual>
  </link>
  <joint name='turn' type='revolute'><parent link='base'/><child link='boom'/><origin xyz='0 0 0.3' rpy='0 0 0.4'/>
    <axis xyz='0 1 0'/><limit lower='0.25' upper='1.5' effort='1' velocity='1'/></joint>
  <joint name='lift' type='prismatic'><parent link='boom'/><child link='hook'/><origin xyz='1 0 0'/>
    <axis xyz='1 0 0'/><limit lower='0' upper='0.5' effort='1' velocity='1'/></joint>
</robot>"""
TETRAHEDRON = """solid t
facet normal 0 0 -1
outer loop
vertex 0 0 0
vertex 0 1 0
vertex 1 0 0
endloop
endfacet
facet normal 0 -1 0
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 0 1
endloop
endfacet
endsolid t
"""


def crane_in(folder: Path) -> Path:
    """A URDF in a package of its own, with a mesh beside it."""
    (folder / "crane" / "urdf").mkdir(parents=True)
    (folder / "crane" / "meshes").mkdir()
    (folder / "crane" / "meshes" / "hook.stl").write_text(TETRAHEDRON)
    path = folder / "crane" / "urdf" / "crane.urdf"
    path.write_text(ARM.replace("MESH", "package://crane/meshes/hook.stl"))
    return path


@pytest.fixture
def crane(tmp_path: Path) -> Path:
    return crane_in(tmp_path)


def test_visual_geometry_of_a_urdf_is_where_pinocchio_has_it(crane: Path) -> None:
    robot = Robot.from_urdf(crane)
    (file,) = robot.visuals
    found, missing = visuals_of(file)
    truth = pin.buildGeomFromUrdf(
        robot.model, str(crane), pin.GeometryType.VISUAL, package_dirs=[str(crane.parents[2])]
    )
    q = np.array([0.7, 0.2])
    data, placed = robot.model.createData(), truth.createData()
    pin.updateGeometryPlacements(robot.model, data, truth, placed, q)
    posture = robot.at(q)
    ours = [posture.placement(visual.link) * visual.placement for visual in found]
    assert not missing
    assert [type(visual.form) for visual in found] == [Solid, Solid, Solid, Solid, Mesh]
    for pose, other in zip(ours, placed.oMg, strict=True):
        assert_allclose(pose.homogeneous, other.homogeneous, atol=1e-12)
    assert found[0].colour == (1.0, 0.5, 0.0, 1.0)
    assert found[2].colour == (0.0, 0.0, 1.0, 0.5)
    mesh = found[4].form
    assert isinstance(mesh, Mesh)
    assert mesh.scale == (1.0, 2.0, 3.0)
    assert Path(mesh.path).samefile(crane.parents[1] / "meshes" / "hook.stl")


def test_a_mesh_that_is_missing_is_named_and_the_rest_is_read(crane: Path) -> None:
    (crane.parents[1] / "meshes" / "hook.stl").unlink()
    found, missing = visuals_of(Robot.from_urdf(crane).visuals[0])
    assert len(found) == 4
    assert len(missing) == 1
    assert "visual 1 of link 'hook'" in missing[0]
    assert "hook.stl" in missing[0]


def test_geoms_of_an_mjcf_are_where_mujoco_has_them() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><asset><material name='m' rgba='0 1 0 1'/>
      <mesh name='t' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody>
      <geom type='plane' size='1 1 1'/>
      <body name='a' pos='0 0 1' euler='0 30 0'><joint name='j' axis='0 1 0'/>
        <geom type='capsule' fromto='0 0 0 0.5 0 0' size='0.05' material='m'/>
        <geom type='box' size='0.1 0.2 0.3' pos='1 0 0' rgba='1 0 0 1'/>
        <geom type='mesh' mesh='t' pos='0 0.3 0' euler='10 20 30'/>
        <geom type='sphere' size='0.3' group='3'/></body></worldbody></mujoco>"""
    mechanism = load(text)
    found, missing = visuals_of(mechanism.robot.visuals[0])
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    data.qpos[:] = 0.4
    mujoco.mj_kinematics(mj, data)
    assert not missing
    assert [visual.form.kind if isinstance(visual.form, Solid) else "mesh" for visual in found] == [
        "capsule",
        "box",
        "mesh",
    ]
    assert found[0].form == Solid("capsule", (0.05, 0.5))
    assert found[0].colour == pytest.approx((0.0, 1.0, 0.0, 1.0))
    box = found[1].form
    assert isinstance(box, Solid)
    assert box.size == pytest.approx((0.2, 0.4, 0.6))
    posture = mechanism.robot.at([0.4])
    for visual, g in zip(found, (1, 2, 3), strict=True):
        pose = posture.placement(visual.link) * visual.placement
        assert_allclose(pose.translation, data.geom_xpos[g], atol=1e-12)
        assert_allclose(pose.rotation.ravel(), data.geom_xmat[g], atol=1e-12)
    mesh = found[2].form
    assert isinstance(mesh, Triangles)
    pose = posture.placement(found[2].link) * found[2].placement
    corners = mesh.vertices @ pose.rotation.T + pose.translation
    seat = pin.SE3(data.xmat[1].reshape(3, 3), data.xpos[1]) * pin.SE3(np.eye(3), np.array([0.0, 0.3, 0.0]))
    assert_allclose(sorted(np.linalg.norm(corners - seat.translation, axis=1)), [0.0, 1.0, 1.0, 1.0], atol=1e-6)


def test_visuals_of_an_sdf_may_be_relative_to_frames() -> None:
    text = """<sdf version='1.9'><model name='door'><static>true</static>
      <link name='leaf'><pose>1 2 0 0 0 1.5707963267948966</pose>
        <visual name='panel'><pose relative_to='__model__'>0 0 1 0 0 0</pose>
          <geometry><box><size>1 2 3</size></box></geometry><material><diffuse>1 0 0 0.25</diffuse></material></visual>
        <visual name='knob'><pose>0 0 1 0 0 0</pose>
          <geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></visual>
        <visual name='gone'><geometry><mesh><uri>model://door/leaf.dae</uri></mesh></geometry></visual>
      </link></model></sdf>"""
    robot = load(text).robot
    found, missing = visuals_of(robot.visuals[0])
    posture = robot.at(robot.neutral)
    placed = [posture.placement("leaf") * visual.placement for visual in found]
    assert_allclose(placed[0].homogeneous, pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0])).homogeneous, atol=1e-12)
    assert_allclose(placed[1].translation, [1.0, 2.0, 1.0], atol=1e-12)
    assert [visual.form for visual in found] == [Solid("box", (1.0, 2.0, 3.0)), Solid("ellipsoid", (1.0, 2.0, 3.0))]
    assert found[0].colour == (1.0, 0.0, 0.0, 0.25)
    assert len(missing) == 1
    assert "'gone'" in missing[0]


def test_visuals_of_an_sdf_may_be_relative_to_joints_links_and_frames() -> None:
    text = """<sdf version='1.9'><model name='m'><link name='a'><pose>1 0 0 0 0 0</pose>{0}</link>
      <link name='b'><pose>0 2 0 0 0 1</pose></link><frame name='f'><pose>0 0 3 0 0 0</pose></frame>
      <joint name='j' type='revolute'><parent>a</parent><child>b</child><pose>4 0 0 0 0 0</pose>
      <axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
    names = ("a", "b", "f", "j", "nobody")
    visuals = "".join(f"<visual name='{name}'><pose relative_to='{name}'/><geometry><sphere><radius>1</radius></sphere>"
                      "</geometry></visual>" for name in names)  # fmt: skip
    found, missing = visuals_of(load(text.format(visuals)).robot.visuals[0])
    turn = pin.SE3(pin.utils.rotate("z", 1.0), np.array([0.0, 2.0, 0.0]))
    places = [
        np.array([1.0, 0.0, 0.0]),
        turn.translation,
        np.array([0.0, 0.0, 3.0]),
        turn.act(np.array([4.0, 0.0, 0.0])),
    ]
    for visual, place in zip(found, places, strict=True):
        assert_allclose(visual.placement.translation, place - places[0], atol=1e-12)
    assert len(missing) == 1
    assert "a pose is relative to 'nobody', which is not there" in missing[0]


def test_what_cannot_be_drawn_of_a_urdf_is_listed_and_colours_are_from_0_to_1(crane: Path) -> None:
    solid = "<visual><geometry><sphere radius='1'/></geometry>{}</visual>"
    material = "<material name='m'><color rgba='{}'/></material>"
    colours = {"2 0.5 -1 0.25": (1.0, 0.5, 0.0, 0.25), "0.1 0.2 0.3": (0.1, 0.2, 0.3, 1.0), "1 1": None}
    here, there = "../meshes/hook.stl", "package:///crane/meshes/hook.stl"
    meshes = ("hook.stl", f"{here}' scale='1 2", f"{here}' scale='2", there)
    shapes = ("", "<cone/>", *(f"<mesh filename='{mesh}'/>" for mesh in meshes))
    visuals = [solid.format(material.format(rgba)) for rgba in colours]
    visuals += [f"<visual><geometry>{shape}</geometry></visual>" for shape in shapes]
    crane.write_text(f"<robot name='r'><link name='l'>{''.join(visuals)}</link></robot>")
    found, missing = visuals_of(Robot.from_urdf(crane).visuals[0])
    assert [visual.colour for visual in found[:3]] == [*colours.values()]
    hook = str((crane.parents[1] / "meshes" / "hook.stl").resolve())
    assert [(str(Path(v.form.path).resolve()), v.form.scale) for v in found[3:] if isinstance(v.form, Mesh)] == [
        (hook, (2.0, 2.0, 2.0)), (hook, (1.0, 1.0, 1.0))]  # fmt: skip
    reasons = ("it has no geometry", "<cone> is no geometry", "no such file", "scale of a mesh takes 3 numbers")
    for words, line in zip(reasons, missing, strict=True):
        assert words in line


@pytest.mark.parametrize(
    "text",
    [
        "<robot name='r'><link name='l'>{0}<mesh filename='package://none/a.stl'/>{1}</link></robot>",
        "<sdf version='1.7'><model name='m'><link name='l'>{0}<mesh><uri>package://none/a.stl</uri></mesh>{1}</link>"
        "</model></sdf>",
    ],
    ids=["URDF", "SDF"],
)
def test_meshes_have_the_address_that_their_file_gives(text: str) -> None:
    robot = load(text.format("<visual name='v'><geometry>", "</geometry></visual>")).robot
    (words,) = visuals_of(robot.visuals[0]).missing
    assert "package://none/a.stl" in words

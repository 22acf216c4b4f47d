"""Springs and dampers of URDF, MJCF and SDF are laws, judged by MuJoCo and closed forms; what is no law is listed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints.dynamics import HingeSpring, JointSpring, simulate
from constraints.errors import ConstraintError
from constraints.loops import Closure, Hinge
from constraints.models import Mechanism, load, mechanisms
from constraints.reduced import linearisation
from constraints.robot import Base, Robot

BODY = "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
URDF = f"""<robot name="two"><link name="a">{BODY}</link><link name="b">{BODY}</link><link name="c">{BODY}</link>
 <joint name="turn" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <dynamics damping="0.7" friction="0.2"/></joint>
 <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1" effort="9" velocity="9"/><dynamics damping="1.5"/></joint></robot>"""
SDF_BODY = "<inertial><mass>2</mass></inertial>"
SDF = f"""<sdf version="1.9"><model name="m"><link name="a">{SDF_BODY}</link>
 <link name="b"><pose>1 0 0 0 0 0</pose>{SDF_BODY}</link>
 <joint name="ground" type="fixed"><parent>world</parent><child>a</child></joint>
 <joint name="j" type="TYPE"><parent>PARENT</parent><child>CHILD</child>
  <axis><xyz>0 0 1</xyz><dynamics><damping>0.3</damping><friction>0.1</friction>
   <spring_stiffness>20</spring_stiffness><spring_reference>0.25</spring_reference></dynamics></axis>
  <axis2><xyz>0 1 0</xyz><dynamics><damping>0.4</damping><spring_stiffness>5</spring_stiffness>
   <spring_reference>-0.5</spring_reference></dynamics></axis2></joint></model></sdf>"""
MJCF = """<mujoco><compiler angle="radian"/><option><flag gravity="disable"/></option><worldbody>
 <body name="f"><freejoint name="free"/><geom size="0.1"/><site name="s1" pos="0.1 0.2 0"/></body>
 <body name="g"><joint name="held" type="free" stiffness="4" damping="0.3"/><geom size="0.1"/></body>
 <body name="b" pos="1 0 0"><joint name="ball" type="ball" stiffness="3" damping="0.5"/><geom size="0.1" pos="0 0.3 0"/>
  <body name="h" pos="0 0.4 0"><joint name="hinge" stiffness="20" springref="0.3" damping="0.6" frictionloss="0.1"/>
   <geom size="0.1"/><site name="s2"/>
   <body name="p" pos="0 0.2 0"><joint name="slide" type="slide" ref="0.2" stiffness="7" springref="0.5" damping="2"/>
    <geom size="0.1"/></body></body></body></worldbody>
 <tendon><spatial name="rope" stiffness="9" damping="0.8" springlength="0.4">
  <site site="s1"/><site site="s2"/></spatial></tendon></mujoco>"""


def words(mechanism: Mechanism) -> str:
    return "\n".join(map(str, mechanism.unread))


def gravity(mechanism: Mechanism) -> list[float]:
    model: Any = mechanism.robot.model
    return model.gravity.linear.tolist()


def joints(mechanism: Mechanism) -> list[str]:
    return [law.joint for law in mechanism.laws if isinstance(law, JointSpring)]


def mujoco_forces(text: str, mechanism: Mechanism, q: Any, v: Any) -> Any:
    """`qfrc_passive` in the axes of the library: of a free joint, linear parts of MuJoCo are in world axes."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    spaces = mechanism.robot.space.factors
    turns: list[tuple[slice, Any]] = []
    for factor in spaces:
        if factor.space.nq in (4, 7):
            stop = factor.q.stop
            data.qpos[stop - 4 : stop] = np.roll(q[stop - 4 : stop], 1)
        if factor.space.nq == 7:
            R = mechanism.robot.at(q).placement(str(mechanism.robot.joint_names[spaces.index(factor)])).rotation
            linear = slice(factor.v.start, factor.v.start + 3)
            data.qvel[linear] = R @ v[linear]
            turns.append((linear, R))
    mujoco.mj_forward(model, data)
    out = np.array(data.qfrc_passive)
    for linear, R in turns:
        out[linear] = R.T @ out[linear]
    return out


def test_forces_of_an_mjcf_are_those_of_mujoco() -> None:
    """Springs and dampers of free, ball, slide and hinge joints and of a tendon, at forty states: to 1e-11."""
    mechanism = load(MJCF)
    forces, rng = mechanism.forces(), np.random.default_rng(1)
    for _ in range(40):
        q, v = mechanism.robot.random(rng), rng.normal(size=mechanism.robot.nv)
        np.testing.assert_allclose(forces(q, v), mujoco_forces(MJCF, mechanism, q, v), rtol=1e-11, atol=1e-11)
    assert words(mechanism).splitlines()[0].startswith("friction of joint 'hinge': dry friction")
    assert len(mechanism.unread) == 1


def test_energy_of_the_springs_of_an_mjcf_has_their_forces_for_slopes() -> None:
    mechanism = load(MJCF)
    forces, rng = mechanism.forces(), np.random.default_rng(2)
    q = mechanism.robot.random(rng)
    still = np.zeros(mechanism.robot.nv)
    for i, unit in enumerate(np.eye(mechanism.robot.nv)):
        ends = [forces.energy(mechanism.robot.space.integrate(q, s * 1e-6 * unit)) for s in (-1.0, 1.0)]
        assert -(ends[1] - ends[0]) / 2e-6 == pytest.approx(forces(q, still)[i], abs=1e-7)


@pytest.mark.parametrize(
    ("old", "new", "listed"),
    [
        ('<freejoint name="free"/>', '<freejoint name="free"/>', "friction of joint 'hinge'"),
        ('springlength="0.4"', 'springlength="0.2 0.4"', "tendon 'rope': it is slack from 0.2 to 0.4 m"),
        ('<site site="s2"/></spatial>', '<site site="s2"/><site site="s1"/></spatial>', "only a straight line"),
        ("<spatial", '<fixed name="t" damping="1"><joint joint="hinge" coef="1"/></fixed><spatial', "tendon 't'"),
        ("<spatial", '<fixed name="t" stiffness="2"><joint joint="hinge" coef="1"/></fixed><spatial',
         "spring of tendon 't': only a straight line"),
        ("</mujoco>", '<actuator><position joint="hinge" name="a"/></actuator></mujoco>', "drive of actuator 'a'"),
        ("<option>", '<option viscosity="0.1">', "density and viscosity"),
        ("<option>", '<option density="0.1">', "density and viscosity"),
        ('<spatial name="rope"', '<spatial name="rope" frictionloss="1"', "friction of tendon 'rope'"),
        ('<body name="g">', '<body name="g" gravcomp="1">', "gravcomp of body 'g'"),
        ('damping="0.6"', 'damping="-0.6"', "spring and damper of joint 'hinge'"),
    ],
)  # fmt: skip
def test_what_is_no_law_in_an_mjcf_is_listed(old: str, new: str, listed: str) -> None:
    pytest.importorskip("mujoco")
    assert listed in words(load(MJCF.replace(old, new, 1)))
    torque_alone = MJCF.replace("</mujoco>", '<actuator><motor joint="hinge"/></actuator></mujoco>')
    assert "drive" not in words(load(torque_alone))


@pytest.mark.parametrize("off", ["spring", "damper", "constraint", "spring damper"])
def test_springs_that_an_mjcf_switches_off_do_not_act(off: str) -> None:
    pytest.importorskip("mujoco")
    flags = "".join(f'{word}="disable" ' for word in off.split())
    text = MJCF.replace("<flag ", f"<flag {flags}")
    mechanism, rng = load(text), np.random.default_rng(3)
    q, v = mechanism.robot.random(rng), rng.normal(size=mechanism.robot.nv)
    np.testing.assert_allclose(mechanism.forces()(q, v), mujoco_forces(text, mechanism, q, v), rtol=1e-11, atol=1e-11)
    assert bool(mechanism.laws) == (off != "spring damper")
    assert gravity(mechanism) == [0.0, 0.0, 0.0]


def test_dampers_of_a_urdf_are_laws_and_its_friction_is_listed() -> None:
    mechanism = load(URDF)
    np.testing.assert_allclose(mechanism.forces()(mechanism.robot.neutral, [2.0, -3.0]), [-1.4, 4.5], rtol=1e-15)
    assert words(mechanism).startswith("friction of joint 'turn': dry friction")
    assert len(mechanism.unread) == 1
    assert "JointSpring('turn'" in mechanism.describe()
    again = pickle.loads(pickle.dumps(mechanism))
    np.testing.assert_allclose(again.forces()(again.robot.neutral, [2.0, -3.0]), [-1.4, 4.5], rtol=1e-15)


def test_dampers_of_a_urdf_on_joints_that_are_none_of_the_tree(tmp_path: Path) -> None:
    """Of a joint that was cut it acts on the closure; of one of several freedoms, or of another type, it is listed."""
    cut = load(URDF, cut=["turn"])
    v = cut.robot.velocity({"b_root_joint": [0.0, 0.0, 0.0, 0.0, 0.0, 2.0], "slide": 3.0})
    assert cut.forces()(cut.robot.neutral, v) @ v == pytest.approx(-0.7 * 2.0**2 - 1.5 * 3.0**2)
    loops = tmp_path / "loops.yaml"
    loops.write_text("{closed_loop: [], joint_name: [turn], joint_type: [SPHERICAL]}")
    assert "damper of joint 'turn': the sidecar replaces the joint" in words(load(URDF, loops))
    planar = load(URDF.replace("continuous", "planar"))
    assert "damper of joint 'turn': one number says nothing of the coordinates of a planar joint" in words(planar)
    for mechanism in (load(URDF, loops), planar):
        assert "friction of joint 'turn'" in words(mechanism)
        assert joints(mechanism) == ["slide"]
    still = load(URDF.replace('damping="0.7" friction="0.2"', 'friction="0"', 1))
    assert (joints(still), still.unread) == (["slide"], ())


def test_a_damper_of_a_file_slows_a_motion_as_its_closed_form_says() -> None:
    r"""A body on one hinge, inertia 1 about it: :math:`\dot q = e^{-d t}`, by one argument of `simulate`."""
    text = URDF[: URDF.index(' <joint name="slide"')].replace(f'<link name="c">{BODY}</link>', "") + "</robot>"
    mechanism = load(text)
    rows, q = mechanism.constraint_set(), mechanism.robot.neutral
    free, slowed = (simulate(rows, q, [2.0], 1.0, 0.01, forces=laws) for laws in (None, mechanism.forces()))
    assert free.v[0] == pytest.approx(2.0, abs=1e-12)
    assert slowed.v[0] == pytest.approx(2.0 * np.exp(-0.7), abs=1e-9)


@pytest.mark.parametrize("ends", [("a", "b"), ("b", "a")])
def test_springs_and_dampers_of_an_sdf_are_laws_on_the_coordinates_of_their_joints(ends: tuple[str, str]) -> None:
    """Also where the tree passes the joint from child to parent: the axes of a universal joint are then reversed."""
    text = SDF.replace("PARENT", ends[0]).replace("CHILD", ends[1])
    hinge, both = load(text.replace("TYPE", "revolute"), strict=False), load(text.replace("TYPE", "universal"))
    assert hinge.forces()([0.1], [2.0])[0] == pytest.approx(-20.0 * (0.1 - 0.25) - 0.6, rel=1e-14)
    first, second = -20.0 * (0.1 - 0.25) - 0.3 * 2.0, -5.0 * (0.3 + 0.5) - 0.4 * 1.0
    order = slice(None) if ends == ("a", "b") else slice(None, None, -1)
    q, v = [0.1, 0.3][order], [2.0, 1.0][order]
    np.testing.assert_allclose(both.forces()(q, v), [first, second][order], rtol=1e-14)
    assert "friction of joint 'j'" in words(both)
    assert "spring" not in words(both)


def test_a_joint_that_is_cut_keeps_its_spring_and_damper_on_the_closure() -> None:
    """The same power and the same force on the bodies as in the tree, at states of the loop."""
    text = SDF.replace("PARENT", "a").replace("CHILD", "b").replace("TYPE", "revolute")
    text = text[: text.index("<axis2>")] + text[text.index("</axis2>") + len("</axis2>") :]
    tree, cut = load(text), load(text, cut=["j"])
    (law,) = cut.laws
    assert isinstance(law, HingeSpring)
    for angle, rate in ((0.1, 2.0), (-1.2, 0.4)):
        posture = tree.robot.at([angle], [rate])
        pose, twist = posture.posture.placement("b"), np.array(posture.velocity("b"))
        q = np.concatenate([pose.translation, np.zeros(4)])
        q[3:] = np.roll([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)], -1)
        power = cut.forces()(q, twist) @ twist
        assert power == pytest.approx(float(tree.forces()([angle], [rate])[0] * rate), rel=1e-12)
    ball = load(text.replace('type="revolute"', 'type="ball"'), cut=["j"])
    assert ball.laws == ()
    assert "damper of joint 'j', which closes a loop: only the hinge of a closure" in words(ball)
    assert "spring of joint 'j': a ball joint has no axis" in words(ball)


def test_modes_take_the_forces_of_a_file_by_one_argument() -> None:
    """A hinge of inertia 1 + 2 on a spring of 20 N m/rad: the frequency of its closed form."""
    text = SDF.replace("PARENT", "a").replace("CHILD", "b").replace("TYPE", "revolute")
    text = text[: text.index("<axis2>")] + text[text.index("</axis2>") + len("</axis2>") :]
    text = text.replace("<damping>0.3</damping>", "")
    mechanism = load(text)
    at = mechanism.minimal_coordinates([0.25])
    found = linearisation(at.at([0.25]), external=mechanism.forces()).modes()
    inertia = 1.0 if "<pose>1 0 0" in text else 0.0
    assert abs(found.eigenvalues[0].imag) == pytest.approx(np.sqrt(20.0 / inertia), rel=1e-9)


def test_a_mechanism_without_springs_has_forces_that_are_zero() -> None:
    plain = mechanisms.four_bar()
    assert not plain.forces()(plain.robot.neutral, np.ones(plain.robot.nv)).any()


def test_links_of_an_sdf_without_a_mass_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """SDF gives them 1 kg; one whose mass is there, or is 0, is not named."""
    text = """<sdf version="1.9"><model name="m"><link name="light"/>
      <link name="told"><inertial><mass>2</mass></inertial></link>
      <joint name="j" type="fixed"><parent>light</parent><child>told</child></joint></model></sdf>"""
    assert float(pin.computeTotalMass(load(text).robot.model)) == pytest.approx(3.0)
    (said,) = [r.getMessage() for r in caplog.records if "1 kg" in r.getMessage()]
    assert "light" in said
    assert "told" not in said


@pytest.mark.parametrize("number", ["rest", "stiffness", "damping"])
def test_ragged_numbers_of_a_spring_are_a_typed_error(number: str) -> None:
    robot = load(URDF).robot
    with pytest.raises(ConstraintError, match=f"{number} of a spring at joint 'slide'"):
        JointSpring(robot, "slide", **{"stiffness": 1.0, number: [[1.0], 2.0]})


def test_the_pitch_of_a_helical_hinge_is_per_turn_and_that_of_pinocchio_per_radian() -> None:
    model, z = pin.Model(), np.array([0.0, 0.0, 1.0])
    model.addJoint(0, pin.JointModelHelicalUnaligned(z, 0.3 / (2.0 * np.pi)), pin.SE3.Identity(), "s")
    robot = Robot(model)
    free = Robot.from_urdf("<robot name='nut'><link name='nut'/></robot>", base=Base.FREE_FLYER)
    closure = Closure(free, None, "nut", Hinge.helical([0.0, 0.0, 1.0], 0.3))
    pose = robot.at([1.7]).placement("s")
    assert pose.translation[2] == pytest.approx(0.3 * 1.7 / (2.0 * np.pi))
    np.testing.assert_allclose(closure.hinge_motion(pin.SE3ToXYZQUAT(pose)).coordinates, [1.7], atol=1e-12)
    assert "per radian" in (Hinge.helical.__doc__ or "")

"""What an MJCF file becomes, against MuJoCo: kinematics, residuals and Jacobians of the equalities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from constraints import Explicit, Implicit
from constraints.errors import ModelError
from constraints.loops import PointClosure
from constraints.models import Mechanism, load
from constraints.models.files.mjcf import from_qpos
from constraints.robot.frame_table import FrameKind
from constraints.testing import check_function

mujoco = pytest.importorskip("mujoco")

FOLDER = Path(__file__).parent.parent / "data" / "mechanisms"
MJCF = ("cassie_mjcf", "mj_connect", "mj_joint_couplers", "mj_weld", "robotiq_2f85")

HARD = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <site name="peg" pos="0.3 0.1 0.2" euler="0.1 0.2 0.3"/>
    <body pos="0.1 0.2 0.3" euler="0.3 -0.2 0.5">
      <joint name="slide" type="slide" axis="1 2 0.5" ref="0.15" range="-1 1" armature="0.2" damping="0.3"/>
      <joint name="hinge" type="hinge" axis="0 1 1" pos="0.05 -0.1 0.2" ref="0.4" range="-0.5 1.5"
             actuatorfrcrange="-7 7" frictionloss="0.1"/>
      <geom size="0.1" pos="0.1 0 0"/>
      <body pos="0.3 0 0.1" quat="0.5 0.5 -0.5 0.5">
        <joint type="ball" pos="0.02 0.03 -0.1" range="0 1.2"/>
        <geom type="box" size="0.1 0.2 0.3"/>
        <site name="tip" pos="0.1 0.1 0.4" euler="1 0 0.4"/>
      </body>
      <body name="welded" pos="0 0 0.2" euler="0 0 1"><geom size="0.05" pos="0 0.3 0"/>
        <body name="arm" pos="0 0.1 0"><joint name="a" axis="1 0 0" ref="0.25"/>
          <joint name="b" axis="0 1 0" pos="0 0.1 0"/>
          <geom size="0.05"/>
          <body name="finger"><joint name="c" type="slide" axis="0 0 1" ref="-0.2"/><geom size="0.03"/></body>
        </body>
      </body>
    </body>
    <body name="free" pos="1 0 0.5" euler="0.1 0.4 0.2"><freejoint/><geom type="box" size="0.1 0.2 0.3"/>
      <body name="target" mocap="false"/>
    </body>
    <body name="ghost" mocap="true" pos="0 0 1"/>
  </worldbody>
  <tendon>
    <fixed name="t1"><joint joint="a" coef="2"/></fixed>
    <fixed name="t2"><joint joint="b" coef="1"/><joint joint="c" coef="-3"/></fixed>
    <fixed name="t3"><joint joint="a" coef="1"/><joint joint="hinge" coef="0.5"/></fixed>
    <spatial name="t4" limited="true" range="0 3"><site site="peg"/><site site="tip"/></spatial>
  </tendon>
  <equality>
    <connect body1="free" anchor="0.1 0.2 0.3"/>
    <connect body1="free" body2="arm" anchor="0.1 0.2 0.3"/>
    <connect body1="free" body2="arm" anchor="-0.1 0.2 0.3"/>
    <connect name="of sites" site1="peg" site2="tip"/>
    <weld body1="finger" body2="free" relpose="0.1 0.2 0.3 0.5 0.5 0.5 -0.5" anchor="0.3 0.2 0.1" torquescale="0.7"/>
    <weld body1="welded"/>
    <weld name="welded sites" site1="tip" site2="peg"/>
    <weld name="anchor alone" body1="arm" body2="free" torquescale="0"/>
    <connect name="off" body1="arm" body2="free" anchor="0 0 0" active="false"/>
    <joint joint1="slide" joint2="hinge" polycoef="0.1 0.5 -0.3 0.2 0.4"/>
    <joint joint1="b" polycoef="0.3 0 0 0 0"/>
    <joint joint1="c" joint2="a"/>
    <joint joint1="c" joint2="b" polycoef="0 1 1 0 0"/>
    <tendon tendon1="t1" tendon2="t2" polycoef="0.1 0.5 0.3 0 0"/>
    <tendon tendon1="t2" tendon2="t3" polycoef="0.2 -0.5 0.3 0.1 0"/>
    <tendon tendon1="t3"/>
    <tendon name="in space" tendon1="t4"/>
    <tendon name="rope" tendon1="t1" tendon2="t4"/>
  </equality>
  <actuator>
    <motor name="drive" joint="hinge"/>
    <motor name="cable" tendon="t2"/>
  </actuator>
  <keyframe>
    <key name="one" qpos="0.3 0.2 0.9 0.1 0.2 0.3 0.1 0.2 -0.1 1 2 3 0 1 0 0"/>
    <key/>
  </keyframe>
</mujoco>
"""
"""What the packs do not have: anchors away from the body, references, welded and unnamed bodies, all equalities."""


@pytest.fixture(scope="module", params=[*MJCF, "hard"])
def pair(request: pytest.FixtureRequest) -> tuple[Mechanism, Any]:
    if request.param == "hard":
        return load(HARD, inactive=True), mujoco.MjModel.from_xml_string(HARD)
    path = FOLDER / request.param / f"{request.param}.xml"
    return load(path, inactive=True), mujoco.MjModel.from_xml_path(str(path))


def motions(mj: Any, count: int, seed: int = 0) -> Any:
    """MuJoCo's data at random configurations, equalities alone."""
    mj.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT)
    mj.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
    mj.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(mj)
    data.eq_active[:] = 1
    for _ in range(count):
        q = np.array(mj.qpos0)
        mujoco.mj_integratePos(mj, q, rng.normal(size=mj.nv), 1.0)
        data.qpos[:] = q
        mujoco.mj_forward(mj, data)
        yield data


def tangent_map(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Matrix from velocities here to velocities of MuJoCo: the linear part of a free joint is in the world there."""
    T = np.eye(mechanism.robot.nv)
    for factor in mechanism.robot.space.factors:
        if factor.space.nq == 7:
            R = pin.XYZQUATToSE3(q[factor.q]).rotation
            T[factor.v.start : factor.v.start + 3, factor.v.start : factor.v.start + 3] = R
    return T


def test_bodies_and_sites_are_where_mujoco_has_them(pair: tuple[Mechanism, Any]) -> None:
    """Kinematics of all bodies and sites at 20 random configurations, and inertias by the centre of mass and energy."""
    mechanism, mj = pair
    robot = mechanism.robot
    moving = [b for b in range(mj.nbody) if mj.body_weldid[b] != 0]
    for data in motions(mj, 20):
        q = from_qpos(robot, data.qpos)
        posture = robot.at(q)
        for b in range(1, mj.nbody):
            frame = robot.frame(mj.body(b).name or f"body_{b}", kind=FrameKind.BODY)
            np.testing.assert_allclose(posture.placement(frame).translation, data.xpos[b], atol=1e-13)
            np.testing.assert_allclose(posture.placement(frame).rotation, data.xmat[b].reshape(3, 3), atol=1e-13)
        for s in range(mj.nsite):
            frame = robot.frame(mj.site(s).name or f"site_{s}", kind=FrameKind.OPERATIONAL)
            np.testing.assert_allclose(posture.placement(frame).translation, data.site_xpos[s], atol=1e-13)
            np.testing.assert_allclose(posture.placement(frame).rotation, data.site_xmat[s].reshape(3, 3), atol=1e-13)
        masses = mj.body_mass[moving]
        center = masses @ data.xipos[moving] / masses.sum()
        np.testing.assert_allclose(pin.centerOfMass(robot.model, robot.model.createData(), q), center, atol=1e-12)
        M = np.zeros((mj.nv, mj.nv))
        if hasattr(data, "qM"):  # before MuJoCo 4
            mujoco.mj_fullM(mj, M, data.qM)
        else:
            mujoco.mj_fullM(mj, data, M)
        ours = pin.crba(robot.model, robot.model.createData(), q)
        ours = np.triu(ours) + np.triu(ours, 1).T
        T = tangent_map(mechanism, q)
        np.testing.assert_allclose(ours, T.T @ M @ T, atol=1e-9 * max(1.0, float(np.abs(M).max())))


def test_residuals_and_jacobians_are_mujocos(pair: tuple[Mechanism, Any]) -> None:
    """Case 18: every equality that was built has the residual and the Jacobian of MuJoCo at random configurations.

    Rows of closures are in the axes of the second object here, in the world's there; a weld's rotation is half its sine
    there; a coupler's row here is for a coefficient of one.
    """
    mechanism, mj = pair
    robot = mechanism.robot
    unread = " ".join(entry.what for entry in mechanism.unread)
    owners = {owner.name: owner for owner in mechanism.stack}
    seen = 0
    for data in motions(mj, 20, seed=3):
        q = from_qpos(robot, data.qpos)
        T = tangent_map(mechanism, q)
        J = data.efc_J.reshape(-1, mj.nv) @ T
        taken: set[str] = set()
        for e in range(mj.neq):
            rows = np.flatnonzero((data.efc_type == 0) & (data.efc_id == e))
            owner = next_owner(mj, e, owners, taken)
            if owner is None:
                assert mj.eq(e).name in unread
                continue
            seen += 1
            expected, jacobian = data.efc_pos[rows], J[rows]
            ours, ours_J = rows_in_mujocos_words(mj, data, owner, q, e)
            np.testing.assert_allclose(ours, expected, atol=1e-12)
            np.testing.assert_allclose(ours_J, jacobian, atol=1e-11)
    assert seen >= 20 * (mj.neq - len(mechanism.unread))


def next_owner(mj: Any, e: int, owners: dict[str, Any], taken: set[str]) -> Any:
    """The owner that came from equality e: by name where it has one, the next of its kind if not."""
    words = ("connect", "weld", "joint", "tendon")
    name = mj.eq(e).name
    for candidate in owners:
        if candidate in taken or ": null rows" in candidate:
            continue
        if candidate == name or (not name and candidate.startswith(words[mj.eq_type[e]] + " ")):
            taken.add(candidate)
            return owners[candidate]
    return None


def rows_in_mujocos_words(mj: Any, data: Any, owner: Any, q: np.ndarray, e: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of an owner as MuJoCo writes them."""
    kind = int(mj.eq_type[e])
    if kind >= 2:
        point = owner.space.at(q)
        error, J = np.zeros(1), np.zeros((1, owner.space.nv))
        owner.write_position(point, None, error, J)
        scale = 1.0
        if kind == 3 and isinstance(owner, Explicit):  # one joint, divided by its coefficient
            scale = float(mj.wrap_prm[mj.tendon_adr[mj.eq_obj1id[e]]])
        return scale * error, scale * J
    robot, a, b = owner.robot, owner.function.frame_a, owner.function.frame_b
    posture = robot.at(q)
    oMa, oMb = posture.placement(a), posture.placement(b)
    aMb = oMa.actInv(oMb)
    linear = oMa.rotation @ aMb.translation
    Ja = body_jacobian(robot, posture, a)
    Jb = body_jacobian(robot, posture, b)
    J_linear = oMb.rotation @ Jb[:3] - oMa.rotation @ Ja[:3]
    if kind == 0:
        point, value, rows = robot.at(q), np.zeros(3), np.zeros((3, robot.nv))
        owner.write_position(point, None, value, rows)
        np.testing.assert_allclose(oMa.rotation @ value, linear, atol=1e-13)  # the closure's own rows
        rate = oMa.rotation @ rows + pin.skew(-linear) @ (oMa.rotation @ Ja[3:])  # of a vector in turning axes
        np.testing.assert_allclose(rate, J_linear, atol=1e-12)
        return linear, J_linear
    scale = float(mj.eq_data[e][10])
    assert isinstance(owner, PointClosure) == (scale == 0.0)
    if scale == 0.0:
        return np.r_[linear, np.zeros(3)], np.vstack([J_linear, np.zeros((3, robot.nv))])
    wxyz = pin.Quaternion(aMb.rotation).coeffs()[[3, 0, 1, 2]]
    wxyz *= np.sign(wxyz @ theirs(mj, data, e))
    relative = Jb[3:] - aMb.rotation.T @ Ja[3:]  # body rates of b seen from a
    E = 0.5 * (wxyz[0] * np.eye(3) + pin.skew(wxyz[1:]))
    return np.r_[linear, scale * wxyz[1:]], np.vstack([J_linear, scale * E @ relative])


def theirs(mj: Any, data: Any, e: int) -> np.ndarray:
    """The quaternion wxyz of the first object seen from the second, by MuJoCo's products: it has two signs."""
    ids, site = (mj.eq_obj1id[e], mj.eq_obj2id[e]), int(mj.eq_objtype[e]) == int(mujoco.mjtObj.mjOBJ_SITE)
    turns = [data.xquat[mj.site_bodyid[i] if site else i] for i in ids]
    own = [mj.site_quat[i] for i in ids] if site else [mj.eq_data[e][6:10], np.array([1.0, 0.0, 0.0, 0.0])]
    out, whole = np.zeros(4), [np.zeros(4), np.zeros(4)]
    for product, turn, inner in zip(whole, turns, own, strict=True):
        mujoco.mju_mulQuat(product, turn, inner)
    mujoco.mju_mulQuat(out, whole[1] * [1.0, -1.0, -1.0, -1.0], whole[0])
    return out


def body_jacobian(robot: Any, posture: Any, frame: Any) -> np.ndarray:
    """Body Jacobian of a frame by plain pinocchio."""
    data = robot.model.createData()
    if frame.joint == 0:
        return np.zeros((6, robot.nv))
    pin.computeJointJacobians(robot.model, data, posture.q)
    J = pin.getJointJacobian(robot.model, data, frame.joint, pin.ReferenceFrame.LOCAL)
    return frame.placement.toActionMatrixInverse() @ J


def test_every_equality_is_built_or_listed(pair: tuple[Mechanism, Any]) -> None:
    """Case 18: no equality of the packs is lost: built and unread ones are as many as the file has."""
    mechanism, mj = pair
    listed = [entry for entry in mechanism.unread if "equality" in entry.what]
    null_rows = [owner for owner in mechanism.stack if "null rows" in owner.name]
    assert len(mechanism.stack) - len(null_rows) + len(listed) == mj.neq
    assert len({owner.name for owner in mechanism.stack}) == len(mechanism.stack)


def test_what_the_hard_file_leaves_unread() -> None:
    """Case 18: what is off, what runs through space, what drives no joint: each is named, with a reason."""
    said = "\n".join(str(entry) for entry in load(HARD).unread)
    for words in (
        "connect equality 'off': switched off",
        "tendon equality 'in space'",
        "tendon equality 'rope'",
        "actuator 'cable': it drives a tendon",
        "range of tendon 't4'",
        "range of joint 'body_2_ball'",
        "mocap of body 'ghost'",
    ):
        assert words in said
    assert len(load(HARD).unread) == len(load(HARD, inactive=True).unread) + 1


def test_names_limits_motors_and_postures() -> None:
    mechanism = load(HARD)
    robot, mj = mechanism.robot, mujoco.MjModel.from_xml_string(HARD)
    model: Any = robot.model
    assert robot.joint_names == ("slide", "hinge", "body_2_ball", "a", "b", "c", "free_free")
    assert mechanism.motors == ("hinge",)
    assert list(mechanism.postures) == ["qpos0", "one", "key_1"]
    np.testing.assert_allclose(mechanism.postures["qpos0"][:2], [0.15, 0.4])
    np.testing.assert_allclose(mechanism.postures["one"][-4:], [1.0, 0.0, 0.0, 0.0])  # xyzw
    assert robot.bounds.lower[1] == -0.5
    assert robot.bounds.upper[1] == 1.5
    assert np.isinf(robot.bounds.upper[robot.slice_of("a")]).all()
    np.testing.assert_allclose(model.armature, mj.dof_armature)
    np.testing.assert_allclose(model.damping, mj.dof_damping)
    assert model.upperEffortLimit[1] == 7.0
    assert model.upperDryFrictionLimit[1] == pytest.approx(0.1)
    repeated = [owner.name for owner in mechanism.closures if owner.name.startswith("connect free")]
    assert repeated == ["connect free world", "connect free arm", "connect free arm (2)"]


def test_couplers_are_explicit_where_they_can_be() -> None:
    """A joint, or a tendon of one joint, that the other side does not read is computed; the others are solved."""
    kinds = {owner.name: type(owner) for owner in load(HARD).couplers}
    assert kinds["joint slide hinge"] is Explicit
    assert kinds["joint b"] is Explicit
    assert kinds["tendon t1 t2"] is Explicit
    assert kinds["tendon t2 t3"] is Implicit
    assert kinds["tendon t3"] is Implicit
    for coupler in load(HARD).couplers:
        if isinstance(coupler, Implicit) and "null" not in coupler.name:
            assert coupler.function.has_exact_drift
            check_function(coupler.function)


def test_mujocos_warnings_go_to_the_log_and_to_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        with pytest.raises(ModelError, match="placement of joint 'body_1_hinge'"):
            load("<mujoco><worldbody><body pos='0 0 nan'><joint/><geom size='0.1'/></body></worldbody></mujoco>")
        assert mujoco.get_mju_user_warning() == heard.append
    finally:
        mujoco.set_mju_user_warning(None)
    assert "NaN" in caplog.text
    assert heard == []
    assert list(tmp_path.iterdir()) == []

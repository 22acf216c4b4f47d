"""Joints of the compiled engine against plain pinocchio: poses of frames, and Jacobians of what is seen of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from compiled.both_engines import CompiledRows, assert_close
from robots import joint_models

from constraints import Bounds, CenterOfMass, Implicit, Pose, Position, Problem, Robot, Transformation
from liegroups import SO3

pytest.importorskip("numba")

from constraints.solvers.compiled.tree import _turn_of as turn_of  # pyright: ignore[reportPrivateUsage]

AXIS = np.array([0.48, -0.6, 0.64])
TURNED = pin.SE3(pin.exp3(np.array([0.4, -0.9, 0.3])), np.array([0.2, -0.1, 0.3]))
STRAIGHT = pin.SE3.Identity()
ALMOST = pin.SE3(pin.exp3(np.array([3e-16, -8e-16, 1.2])), np.array([0.1, -0.2, 0.3]))
NEARLY = pin.SE3(pin.exp3(np.array([2e-9, 1e-9, -0.7])), np.array([0.1, -0.2, 0.3]))
QUARTERS = pin.SE3(pin.rpy.rpyToMatrix(np.pi / 2.0, 0.0, -np.pi / 2.0), np.array([0.0, 0.2, -0.1]))


def composite(*parts: Any, placement: Any = TURNED) -> Any:
    joint = pin.JointModelComposite()
    for part in parts:
        joint.addJoint(part, placement)
    return joint


def continuous(x: float, y: float, z: float) -> Any:
    """Pinocchio makes one of any axis from a URDF alone."""
    model: Any = pin.buildModelFromXML(
        "<robot name='wheel'><link name='a'/><link name='b'/><joint name='turn' type='continuous'><parent link='a'/>"
        f"<child link='b'/><axis xyz='{x} {y} {z}'/></joint></robot>"
    )
    return model.joints[1]


def joints() -> dict[str, Any]:
    """Every type, along coordinate axes and others, the opposite ones too; and composites of them."""
    opposite, z = np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0])
    return joint_models() | {
        "revolute -z": pin.JointModelRevoluteUnaligned(opposite),
        "revolute along z": pin.JointModelRevoluteUnaligned(z),
        "prismatic -z": pin.JointModelPrismaticUnaligned(opposite),
        "continuous -z": continuous(0.0, 0.0, -1.0),
        "helical -z": pin.JointModelHelicalUnaligned(opposite, -0.2),
        "universal xy": pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])),
        "in pieces": composite(
            pin.JointModelSphericalZYX(),
            pin.JointModelUniversal(AXIS, np.array([0.8, 0.64, 0.0]) / np.hypot(0.8, 0.64)),
            pin.JointModelHelicalUnaligned(AXIS, 0.1),
        ),
        "of wholes": composite(pin.JointModelEllipsoid(0.2, 0.5, 0.1), pin.JointModelPlanar(), continuous(*AXIS)),
        "free first": composite(pin.JointModelFreeFlyer(), pin.JointModelPrismaticUnaligned(AXIS)),
        "straight": composite(pin.JointModelRY(), pin.JointModelHX(0.2), pin.JointModelRUBZ(), placement=STRAIGHT),
        "nested": composite(composite(pin.JointModelRX(), pin.JointModelEllipsoid(0.1, 0.2, 0.3)), pin.JointModelPY()),
    }


JOINTS = joints()


def robot_of(joint: Any, placement: Any, beside: bool = False) -> Robot:
    """The joint twice, a revolute one between them: frame "tip" on the last, "elbow" on the one between.

    Where there is a hinge `beside` that one, it comes first.
    """
    model: Any = pin.Model()
    parent = model.addJoint(0, joint, placement, "first")
    if beside:
        hinge = model.addJoint(parent, pin.JointModelRX(), TURNED, "beside")
        model.appendBodyToJoint(hinge, pin.Inertia.FromBox(1.5, 0.3, 0.1, 0.2), TURNED)
    joints = [parent]
    for name, one in (("between", pin.JointModelRY()), ("second", joint)):
        joints.append(model.addJoint(joints[-1], one, placement, name))
    for k, number in enumerate(joints):
        model.appendBodyToJoint(number, pin.Inertia.FromBox(2.0 + k, 0.1, 0.2, 0.3), TURNED)
    model.addFrame(pin.Frame("tip", joints[2], 0, placement, pin.FrameType.OP_FRAME))
    model.addFrame(pin.Frame("elbow", joints[1], 0, TURNED, pin.FrameType.OP_FRAME))
    return Robot(model)


def configurations(robot: Robot) -> list[np.ndarray]:
    """Neutral, half turns of everything that turns one way and the other, and random ones."""
    rng, space = np.random.default_rng(3), robot.space
    half = [space.integrate(space.neutral, np.full(space.nv, angle)) for angle in (np.pi, -np.pi, np.pi / 2.0)]
    single = [space.integrate(space.neutral, np.pi * row) for row in np.eye(space.nv)]
    box = np.full(space.nq, 2.0)
    return [space.neutral, *half, *single, *(space.random(rng, -box, box) for _ in range(4))]


def seen(robot: Robot, q: np.ndarray) -> tuple[Any, Any]:
    """The model and its data at q: frames, and Jacobians of joints."""
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    pin.jacobianCenterOfMass(model, data, q)
    return model, data


@pytest.mark.parametrize(
    ("placement", "beside"),
    [(TURNED, False), (STRAIGHT, False), (ALMOST, False), (NEARLY, True), (QUARTERS, False), (TURNED, True)],
    ids=["turned", "straight", "almost parallel", "nearly, branched", "quarter turns", "turned, branched"],
)
@pytest.mark.parametrize("name", JOINTS)
def test_joints_carry_frames_as_plain_pinocchio_has_them(name: str, placement: Any, beside: bool) -> None:
    robot = robot_of(JOINTS[name], placement, beside)
    functions = [
        Position(robot, "tip"),
        Transformation(robot, "tip"),
        CenterOfMass(robot),
        Position(robot, "tip", reference="elbow"),
        Pose(robot, "tip"),
    ]
    everywhere = Bounds.none(robot.space)
    rows = CompiledRows(Problem(robot, [Implicit.zero(f) for f in functions], bounds=everywhere))
    assert rows.live.size == robot.nv
    for q in configurations(robot):
        model, data = seen(robot, q)
        tip, elbow = (data.oMf[model.getFrameId(frame)] for frame in ("tip", "elbow"))
        J, local, arm = (
            np.array(pin.getFrameJacobian(model, data, model.getFrameId(frame), axes))
            for frame, axes in (
                ("tip", pin.LOCAL_WORLD_ALIGNED),
                ("tip", pin.LOCAL),
                ("elbow", pin.LOCAL_WORLD_ALIGNED),
            )
        )
        error, found = rows.at(q)
        assert_close(error[:3], tip.translation)
        assert_close(found[:3], J[:3])
        turn = error[6:9]  # any rotation vector of the rotation: at half a turn its sign is free
        assert_close(pin.exp3(turn), tip.rotation)
        assert_close(error[3:6], tip.translation)
        assert_close(found[3:9], np.vstack([J[:3], SO3.log_jacobian(turn) @ local[3:]]))
        assert_close(error[9:12], data.com[0])
        assert_close(found[9:12], data.Jcom)
        apart = tip.translation - elbow.translation
        assert_close(error[12:15], elbow.rotation.T @ apart)
        moved = J[:3] - arm[:3] + pin.skew(apart) @ arm[3:]
        assert_close(found[12:15], elbow.rotation.T @ moved)
        assert_close(pin.exp6(error[15:]).homogeneous, tip.homogeneous)


@pytest.mark.parametrize("name", JOINTS)
def test_twists_of_joints_are_those_of_plain_pinocchio(name: str) -> None:
    """The body twist of a frame, where its pose is the one asked for, so that the logarithm changes nothing."""
    robot = robot_of(JOINTS[name], TURNED)
    everywhere = Bounds.none(robot.space)
    rng, box = np.random.default_rng(5), np.full(robot.nq, 2.0)
    for _ in range(3):
        q = robot.space.random(rng, -box, box)
        model, data = seen(robot, q)
        tip = data.oMf[model.getFrameId("tip")]
        local = np.array(pin.getFrameJacobian(model, data, model.getFrameId("tip"), pin.LOCAL))
        error, found = CompiledRows(Problem(robot, [Implicit.equal(Pose(robot, "tip"), tip)], bounds=everywhere)).at(q)
        assert_close(error, np.zeros(6))
        assert_close(found, local)


def test_turns_take_z_to_the_axis_and_z_needs_none() -> None:
    for axis in (*np.eye(3), *-np.eye(3), AXIS, [0.6, 0.8, 0.0], [0.0, -0.6, 0.8]):
        turn = turn_of(axis)
        np.testing.assert_allclose(turn.rotation @ turn.rotation.T, np.eye(3), rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(turn.rotation[:, 2], axis, rtol=0.0, atol=1e-15)
        assert np.linalg.det(turn.rotation) > 0.0
        assert not turn.translation.any()
    np.testing.assert_array_equal(turn_of([0.0, 0.0, 1.0]).homogeneous, np.eye(4))


def test_every_joint_type_of_the_library_is_here() -> None:
    from constraints.robot.model.joints import COMPOSITE, JOINT_TYPES, type_name

    assert {type_name(joint) for joint in JOINTS.values()} == {*JOINT_TYPES, COMPOSITE}


@pytest.mark.parametrize("name", ["ellipsoid", "zyx", "planar", "free", "chain"])
def test_dofs_that_do_not_move_have_no_column(name: str) -> None:
    robot = robot_of(JOINTS[name], TURNED)
    frozen = np.zeros(robot.nv, dtype=np.bool_)
    if robot.space.is_flat:
        frozen[1::2] = True
    else:
        frozen[robot.velocity_slice_of("first")] = True
    constraint = Implicit.zero(Pose(robot, "tip"))
    some = CompiledRows(Problem(robot, [constraint], bounds=Bounds.none(robot.space), frozen=frozen))
    everything = CompiledRows(Problem(robot, [constraint], bounds=Bounds.none(robot.space)))
    np.testing.assert_array_equal(some.live, np.flatnonzero(~frozen))
    for q in configurations(robot)[-3:]:
        assert_close(some.at(q).jacobian, everything.at(q).jacobian[:, ~frozen], 1e-15)

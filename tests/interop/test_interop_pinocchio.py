"""Pinocchio's constraint models taken and given, against Pinocchio's own residuals and Jacobians."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, two_arms

import constraints as lc
from constraints.dynamics import forward_dynamics
from constraints.errors import ModelError, WrongObjectError
from constraints.interop import (
    NoCounterpartError,
    as_anchor_constraint_model,
    as_rigid_constraint_model,
    from_constraint_model,
)
from constraints.loops import (
    Axes,
    Closure,
    ConstraintSet,
    Hinge,
    PointClosure,
    PointContact,
    SurfaceContact,
    assemble_position,
    assemble_velocity,
)
from constraints.models import sample_arm
from liegroups import SE3, R3xSO3

POINT, FRAME = pin.PointAnchorConstraintModel, pin.FrameAnchorConstraintModel
JOINTS = [(5, 12), (3, 0), (0, 9), (7, 8), (4, 4)]  # two arms of the tree, world second, world first, neighbours, one


def placements(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return pin.XYZQUATToSE3(SE3.random(rng)), pin.XYZQUATToSE3(SE3.random(rng))


def configurations(robot: Any, n: int = 4) -> np.ndarray:
    return robot.random(np.random.default_rng(11), n)


def numbers(robot: Any, model: Any, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """Pinocchio's position error, Jacobian and placement of 2 seen from 1. The rigid model's error is what
    constraintDynamics is driven by; it is read off its desired acceleration at rest, with unit gain."""
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    pin.forwardKinematics(robot.model, data, q)
    if isinstance(model, pin.RigidConstraintModel):
        own = pin.RigidConstraintModel(model)
        own.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(1.0, 0.0))
        models = pin.StdVec_RigidConstraintModel()
        models.append(own)
        datas = pin.StdVec_RigidConstraintData()
        datas.append(models[0].createData())
        pin.initConstraintDynamics(robot.model, data, models, datas)
        zero = np.zeros(robot.nv)
        pin.constraintDynamics(robot.model, data, q, zero, zero, models, datas, pin.ProximalSettings(1e-12, 1e-6, 1))
        error = np.array(datas[0].contact_placement_error.vector)[: own.residualSize()]
        pin.computeJointJacobians(robot.model, data, q)
        J = pin.getConstraintJacobian(robot.model, data, models[0], datas[0])
        return error, J, datas[0].c1Mc2
    own_data = model.createData()
    model.calc(robot.model, data, own_data)
    return np.array(own_data.constraint_position_error), model.jacobian(robot.model, data, own_data), own_data.c1Mc2


def ours(robot: Any, constraint: Any, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    problem = lc.Problem(robot.without_bounds(), [constraint])
    return problem.error(q), problem.jacobian(q)


def body_jacobian(robot: Any, joint: int, placement: Any, q: np.ndarray) -> np.ndarray:
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    return placement.toActionMatrixInverse() @ pin.getJointJacobian(robot.model, data, joint, pin.LOCAL)


@pytest.mark.parametrize("joints", JOINTS)
def test_anchors(joints: tuple[int, int]) -> None:
    """Both anchors between any two joints: same residual; the point's Jacobian is ours without offset, and with one up
    to the turning of frame 1; the frame's is a velocity whose Jlog6 is the differential of the error."""
    robot, (M1, M2) = humanoid(), placements(1)
    point, frame = POINT(robot.model, joints[0], M1, joints[1], M2), FRAME(robot.model, joints[0], M1, joints[1], M2)
    for q, offset in itertools.product(configurations(robot), (np.zeros(3), np.array([0.1, -0.2, 0.3]))):
        point.desired_constraint_offset = offset
        error, J, M = numbers(robot, point, q)
        e, Je = ours(robot, from_constraint_model(robot, point), q)
        np.testing.assert_allclose(e, error, rtol=0, atol=1e-12)
        turning = pin.skew(offset) @ body_jacobian(robot, joints[0], M1, q)[3:]
        np.testing.assert_allclose(Je, J + turning, rtol=0, atol=1e-12)
    for q in configurations(robot):
        error, J, M = numbers(robot, frame, q)
        e, Je = ours(robot, from_constraint_model(robot, frame), q)
        np.testing.assert_allclose(e, error, rtol=0, atol=1e-9)
        np.testing.assert_allclose(Je, pin.Jlog6(M) @ M.toActionMatrixInverse() @ J, rtol=0, atol=1e-8)
        np.testing.assert_allclose(Je, pin.Jlog6(M.inverse()) @ J, rtol=0, atol=1e-8)


@pytest.mark.parametrize("joints", JOINTS[:4])
def test_rigid_models(joints: tuple[int, int]) -> None:
    """CONTACT_6D and CONTACT_3D, LOCAL: minus our error; the Jacobians differ by what the table says."""
    robot, (M1, M2) = humanoid(), placements(2)
    for kind in (pin.ContactType.CONTACT_6D, pin.ContactType.CONTACT_3D):
        model = pin.RigidConstraintModel(kind, robot.model, joints[0], M1, joints[1], M2, pin.LOCAL)
        constraint = from_constraint_model(robot, model, name="loop")
        assert constraint.name == "loop"
        for q in configurations(robot):
            error, J, M = numbers(robot, model, q)
            e, Je = ours(robot, constraint, q)
            np.testing.assert_allclose(e, -error, rtol=0, atol=1e-9)
            if kind == pin.ContactType.CONTACT_6D:
                np.testing.assert_allclose(Je, -pin.Jlog6(M.inverse()) @ J, rtol=0, atol=1e-8)
            else:
                turning = pin.skew(M.translation) @ body_jacobian(robot, joints[0], M1, q)[3:]
                np.testing.assert_allclose(Je, -J + turning, rtol=0, atol=1e-12)


def test_rigid_models_on_the_manifold() -> None:
    """Where the loop is closed, the 3D Jacobians are the same but for the sign, and so are the 6D ones."""
    robot, home = two_arms(), two_arms().reference("home")
    left, right = robot.frame("left_tool"), robot.frame("right_tool")
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, home)
    oM2 = data.oMi[right.joint] * right.placement
    M1 = data.oMi[left.joint].inverse() * oM2
    for kind in (pin.ContactType.CONTACT_6D, pin.ContactType.CONTACT_3D):
        model = pin.RigidConstraintModel(kind, robot.model, left.joint, M1, right.joint, right.placement, pin.LOCAL)
        e, Je = ours(robot, from_constraint_model(robot, model), home)
        np.testing.assert_allclose(e, 0.0, atol=1e-9)
        np.testing.assert_allclose(Je, -numbers(robot, model, home)[1], rtol=0, atol=1e-8)


def test_a_loop_of_pinocchio_is_closed_by_projection() -> None:
    """From a far start; Pinocchio's own residual says that it is closed."""
    robot, home = two_arms(), two_arms().reference("home")
    left, right = robot.frame("left_tool"), robot.frame("right_tool")
    grip = lc.Pose(robot, right, reference=left).value(home)
    model = FRAME(robot.model, left.joint, left.placement * pin.XYZQUATToSE3(grip), right.joint, right.placement)
    start = robot.random(np.random.default_rng(3))
    result = lc.project(robot, [from_constraint_model(robot, model)], start, lc.Options(threshold=1e-8)).or_raise()
    assert np.abs(numbers(robot, model, result.q)[0]).max() <= 1e-8


def test_given_back() -> None:
    """Position and Pose from the world and from frames, with right-hand sides: the models have the same rows."""
    robot, rng = humanoid(), np.random.default_rng(5)
    left, right = robot.frame("larm6_joint", placements(3)[0]), robot.frame("rleg3_joint", placements(4)[1])
    for made in (
        lc.Implicit.equal(lc.Position(robot, left), rng.normal(size=3), name="a"),
        lc.Implicit.equal(lc.Position(robot, left, placements(6)[0]), rng.normal(size=3), name="b"),
        lc.Implicit.equal(lc.Position(robot, right, reference=left), rng.normal(size=3), name="c"),
        lc.Implicit.equal(lc.Pose(robot, right), SE3.random(rng), name="d"),
        lc.Implicit.equal(lc.Pose(robot, right, reference=left), SE3.random(rng), name="e"),
        lc.Implicit.zero(lc.Pose(robot, left, reference=right), name="f"),
        PointClosure(robot, left, right, name="g"),
        PointClosure(robot, placements(6)[0], right, name="h"),
        Closure(robot, left, right, Hinge.ball(), name="i"),
        Closure(robot, left, right, name="j"),
    ):
        anchor, rigid = as_anchor_constraint_model(made), as_rigid_constraint_model(made)
        assert anchor.name == rigid.name == made.name
        for q in configurations(robot, 2):
            e, Je = ours(robot, made, q)
            for model, sign in ((anchor, 1.0), (rigid, -1.0)):
                np.testing.assert_allclose(sign * numbers(robot, model, q)[0], e, rtol=0, atol=1e-9)
                again = from_constraint_model(robot, model)
                for a, b in zip(ours(robot, again, q), (e, Je), strict=True):
                    np.testing.assert_allclose(a, b, rtol=0, atol=1e-8)
                assert again.name == made.name


@pytest.mark.parametrize("hinge", [None, Hinge.ball(), Hinge.locked()])
def test_closures_hold_in_the_dynamics_of_pinocchio_as_in_ours(hinge: Hinge | None) -> None:
    """At a closed state that moves: accelerations, and the force on the successor."""
    robot, rng = two_arms(), np.random.default_rng(2)
    a, b = "left_tool", "right_tool"
    made = PointClosure(robot, a, b) if hinge is None else Closure(robot, a, b, hinge)
    rows = ConstraintSet(robot, [made])
    q = assemble_position(rows, robot.random(rng)).or_raise().q
    v, tau = assemble_velocity(rows, q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(as_rigid_constraint_model(made))
    datas.append(models[0].createData())
    data, settings = robot.model.createData(), pin.ProximalSettings(1e-14, 1e-14, 1)
    pin.initConstraintDynamics(robot.model, data, models, datas)
    found = pin.constraintDynamics(robot.model, data, q, v, tau, models, datas, settings)
    own = forward_dynamics(rows, robot.at(q, v), tau).or_raise()
    np.testing.assert_allclose(found, own.acceleration, atol=1e-7 * (1.0 + np.abs(own.acceleration).max()))
    assert np.abs(own.multipliers).max() > 0.1
    np.testing.assert_allclose(-data.lambda_c, own.multipliers, atol=1e-7 * (1.0 + np.abs(own.multipliers).max()))


def test_another_right_hand_side() -> None:
    robot, rng = arm(), np.random.default_rng(6)
    hand, rhs = lc.Implicit.equal(lc.Pose(robot, "tool")), SE3.random(rng)
    q = robot.random(rng)
    error = numbers(robot, as_anchor_constraint_model(hand, rhs), q)[0]
    np.testing.assert_allclose(error, SE3.difference(rhs, lc.Pose(robot, "tool").value(q)), rtol=0, atol=1e-9)


def test_a_generic_constraint_model_is_opened() -> None:
    robot, (M1, M2) = arm(), placements(7)
    inner = POINT(robot.model, 4, M1, 0, M2)
    q = robot.random(np.random.default_rng(0))
    a = ours(robot, from_constraint_model(robot, pin.ConstraintModel(inner)), q)
    np.testing.assert_array_equal(a[0], ours(robot, from_constraint_model(robot, inner), q)[0])


def test_pinocchio_does_not_read_what_is_refused() -> None:
    """Why a desired placement (rigid) and a desired offset (frame anchor) are refused: they change nothing there."""
    robot, (M1, M2) = arm(), placements(8)
    q = robot.random(np.random.default_rng(0))
    frame = FRAME(robot.model, 4, M1, 0, M2)
    before = numbers(robot, frame, q)[0]
    frame.desired_constraint_offset = np.ones(6)
    np.testing.assert_array_equal(numbers(robot, frame, q)[0], before)
    rigid = pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, robot.model, 4, M1, 0, M2, pin.LOCAL)
    before = numbers(robot, rigid, q)[0]
    rigid.desired_contact_placement = M2
    np.testing.assert_array_equal(numbers(robot, rigid, q)[0], before)
    for model in (frame, rigid):
        with pytest.raises(NoCounterpartError, match="does not read"):
            from_constraint_model(robot, model)


def test_what_has_no_counterpart_is_refused() -> None:
    robot, (M1, M2) = arm(), placements(9)
    world = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, robot.model, 4, M1, 0, M2, pin.LOCAL_WORLD_ALIGNED)
    moving = POINT(robot.model, 4, M1, 0, M2)
    moving.desired_constraint_velocity = np.ones(3)
    contact = pin.PointContactConstraintModel(robot.model, 4, M1, 0, M2)
    for model, words in ((world, "LOCAL"), (moving, "velocity"), (contact, "not an equality of two frames")):
        with pytest.raises(NoCounterpartError, match=words):
            from_constraint_model(robot, model)
    for wrong in (None, 3, "model", robot.model, pin.SE3.Identity()):
        with pytest.raises(WrongObjectError, match="constraint model"):
            from_constraint_model(robot, wrong)
    with pytest.raises(ModelError, match="joint 30"):
        from_constraint_model(robot, POINT(humanoid().model, 30, M1, 0, M2))
    with pytest.raises(lc.ConstraintError, match="robot of a constraint model"):
        from_constraint_model("arm", moving)  # pyright: ignore[reportArgumentType]
    pose = lc.Pose(robot, "tool")
    for constraint, words in (
        (lc.Implicit.equal(lc.Pose(robot, "tool", outputs=R3xSO3)), "R3xSO3"),
        (lc.Implicit.equal(lc.Transformation(robot, "tool", reference="elbow")), "got Transformation in R6"),
        (lc.Implicit.equal(pose, mask=[1, 1, 1, 0, 0, 0]), "all its rows"),
        (lc.Implicit.above(lc.Position(robot, "tool"), 0.1), "equality"),
        (lc.Implicit(pose, scale=2.0), "scale"),
        (lc.Implicit.equal(lc.Position(robot, "tool"), lc.Target(lambda t: [t, 0.0, 0.0])), "target moves"),
        (PointClosure(robot, None, "tool", target=lc.Target(lambda t: [t, 0.0, 0.0])), "target moves"),
        (Closure(robot, None, "tool", Hinge.pin("z")), "or locked, got Closure"),
    ):
        for give in (as_anchor_constraint_model, as_rigid_constraint_model):
            with pytest.raises(NoCounterpartError, match=words):
                give(constraint)
    with pytest.raises(WrongObjectError, match="Implicit"):
        as_anchor_constraint_model(pose)  # pyright: ignore[reportArgumentType]


# Accelerations of contacts.


@pytest.mark.parametrize(
    ("kind", "axes", "has_anchor", "classical", "pinocchio"),
    [
        (PointContact, "LOCAL_WORLD_ALIGNED", False, 0.0, 0.0),
        (PointContact, "LOCAL_WORLD_ALIGNED", True, 0.0, 0.0),
        (PointContact, "LOCAL", False, 1.0, 1.0),
        (PointContact, "LOCAL", True, 2.0, 2.0),
        (SurfaceContact, "LOCAL", False, 1.0, 0.0),
        (SurfaceContact, "LOCAL", True, 1.0, 0.0),
        (SurfaceContact, "LOCAL_WORLD_ALIGNED", False, 0.0, -1.0),
        (SurfaceContact, "LOCAL_WORLD_ALIGNED", True, 0.0, -1.0),
    ],
)
def test_accelerations_of_contacts_differ_by_what_the_page_says(
    kind: type[PointContact | SurfaceContact], axes: str, has_anchor: bool, classical: float, pinocchio: float
) -> None:
    """Mend 22: classical acceleration less the rows, and what pinocchio's constraintDynamics holds at zero less the
    rows, are multiples of w x v in the linear rows, as the table of docs/interop.md has it, and nothing else."""
    robot, rng = sample_arm(), np.random.default_rng(4)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    contact = kind(robot, "tool", axes=Axes[axes])
    rows = ConstraintSet(robot, [contact.anchored(q) if has_anchor else contact])
    model, reference = pin.Model(robot.model), getattr(pin.ReferenceFrame, axes)
    frame = model.getFrameId("tool")

    def seen(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Classical acceleration, and w x v with zeros below, in the axes of the rows."""
        data = model.createData()
        pin.forwardKinematics(model, data, q, v, a)
        pin.updateFramePlacements(model, data)
        velocity = pin.getFrameVelocity(model, data, frame, reference)
        turned = np.concatenate([np.cross(velocity.angular, velocity.linear), np.zeros(3)])
        return pin.getFrameClassicalAcceleration(model, data, frame, reference).vector[: rows.size], turned[: rows.size]

    found, turned = seen(a)
    assert np.abs(turned).max() > 0.1
    ours = rows.jacobian(q) @ a + rows.drift(q, v)
    np.testing.assert_allclose(found - ours, classical * turned, atol=1e-12)
    held = constrained(model, frame, reference, rows.size, q, v)
    assert np.abs(held).max() > 0.1
    np.testing.assert_allclose(rows.jacobian(q) @ held + rows.drift(q, v), -pinocchio * turned, atol=1e-10)


def constrained(model: Any, frame: int, reference: Any, size: int, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Joint accelerations of a contact by pinocchio, without torques and Baumgarte gains."""
    kind = pin.ContactType.CONTACT_3D if size == 3 else pin.ContactType.CONTACT_6D
    at, data = model.frames[frame], model.createData()
    contact = pin.RigidConstraintModel(kind, model, at.parentJoint, at.placement, 0, pin.SE3.Identity(), reference)
    contacts, memories = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    contacts.append(contact)
    memories.append(contact.createData())
    pin.initConstraintDynamics(model, data, contacts, memories)
    settings = pin.ProximalSettings(1e-14, 1e-14, 200)
    return np.array(pin.constraintDynamics(model, data, q, v, np.zeros(model.nv), contacts, memories, settings))

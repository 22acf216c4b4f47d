"""Trees of elementary joints: the same motions and forces as plain pinocchio's, with derivatives by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import mixed_tree

from constraints import Robot
from constraints.errors import WrongObjectError
from constraints.robot import Frame
from constraints.robot.moving_frames import RelativeFrame, WeightedPoint, WrenchSlopes, joint_force_slopes

STEP = 1e-5
PLACES = [pin.SE3(pin.exp3(np.array(turn)), np.array([0.1, -0.2, 0.3])) for turn in ([0.4, -0.7, 1.1], [1.0, 0.2, 0.3])]


def tree_of(*joints: tuple[int, Any]) -> Robot:
    """Each joint with its parent's number, and a body."""
    model = pin.Model()
    for i, (parent, joint) in enumerate(joints):
        model.addJoint(parent, joint, PLACES[i % 2], f"j{i + 1}")
        model.appendBodyToJoint(i + 1, pin.Inertia.FromBox(1.0 + i, 0.1, 0.2, 0.3), PLACES[(i + 1) % 2])
    return Robot(model)


def composite() -> Any:
    joint = pin.JointModelComposite(pin.JointModelRX())
    joint.addJoint(pin.JointModelPY(), PLACES[0])
    joint.addJoint(pin.JointModelRZ(), PLACES[1])
    return joint


UNIVERSAL = pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
ALL = "of all types, an ellipsoid too, which has no parts"
TREES = {
    ALL: mixed_tree,
    "of one joint": lambda: tree_of((0, pin.JointModelRX())),
    "not depth-first": lambda: tree_of(
        (0, pin.JointModelRX()), (0, UNIVERSAL), (1, pin.JointModelSpherical()), (2, composite())
    ),
    "the first one of several": lambda: tree_of((0, UNIVERSAL), (1, pin.JointModelRX())),
    "of several": lambda: tree_of((0, pin.JointModelSphericalZYX()), (1, composite()), (2, UNIVERSAL)),
}


def seen(robot: Robot, a: Frame, b: Frame, q: np.ndarray, v: np.ndarray) -> tuple[Any, np.ndarray]:
    """Pose and body twist of b relative to a, by plain pinocchio."""
    model: Any = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    oMa, oMb = (data.oMi[frame.joint] * frame.placement for frame in (a, b))
    X = oMa.actInv(oMb)
    v_a, v_b = (frame.placement.actInv(data.v[frame.joint]) for frame in (a, b))
    return X, (v_b - X.actInv(v_a)).vector


@pytest.mark.parametrize("name", [name for name in TREES if name != ALL])
def test_motions_and_what_they_change_by(name: str) -> None:
    robot, rng = TREES[name](), np.random.default_rng(3)
    tree, space, n = robot.space.elementary, robot.space, robot.nv
    last = robot.model.njoints - 1
    for a in (Frame("a", 0, PLACES[0]), Frame("a", 1, PLACES[0])):
        b = Frame("b", last, PLACES[1])
        q = space.random(rng)
        v, acceleration = rng.standard_normal((2, n))

        def found(q: np.ndarray, v: np.ndarray, a: Frame = a, b: Frame = b, at: np.ndarray = acceleration) -> Any:
            moving = tree.moving(q, v, at)
            result = moving.relative(a, b)
            tree.datas.give(moving.data)
            return result

        here = found(q, v)
        X, twist = seen(robot, a, b, q, v)
        np.testing.assert_allclose(here.pose.homogeneous, X.homogeneous, atol=1e-12)
        np.testing.assert_allclose(here.twist, twist, atol=1e-12)
        later, before = (
            seen(robot, a, b, space.integrate(q, s * v + 0.5 * s * s * acceleration), v + s * acceleration)[1]
            for s in (STEP, -STEP)
        )
        np.testing.assert_allclose(here.acceleration, (later - before) / (2.0 * STEP), atol=1e-7)
        for i, e in enumerate(STEP * np.eye(n)):
            ahead, behind = (found(space.integrate(q, s * e), v) for s in (1.0, -1.0))
            turned = pin.log6(behind.pose.actInv(ahead.pose)).vector
            np.testing.assert_allclose(here.jacobian[:, i], turned / (2.0 * STEP), atol=1e-8)
            for slope, what in ((here.twist_q, "twist"), (here.acceleration_q, "acceleration")):
                difference = getattr(ahead, what) - getattr(behind, what)
                np.testing.assert_allclose(slope[:, i], difference / (2.0 * STEP), atol=1e-6)
            ahead, behind = (found(q, v + s * e) for s in (1.0, -1.0))
            by_v = (ahead.acceleration - behind.acceleration) / (2.0 * STEP)
            np.testing.assert_allclose(here.acceleration_v[:, i], by_v, atol=1e-7)


@pytest.mark.parametrize("name", TREES)
def test_forces_and_what_they_change_by(name: str) -> None:
    robot, rng = TREES[name](), np.random.default_rng(4)
    tree, space, model = robot.space.elementary, robot.space, robot.model
    q = space.random(rng)
    v, a = rng.standard_normal((2, robot.nv))
    held = pin.StdVec_Force([pin.Force(rng.standard_normal(6)) for _ in range(model.njoints)])
    wrenches = pin.StdVec_Force([pin.Force.Zero() for _ in range(tree.model.njoints)])
    for own, joint in enumerate(tree.joints):
        wrenches[joint] = held[own]
    data = tree.datas.take()
    by_q, by_v = tree.force_slopes(data, q, v, a, wrenches)
    tree.datas.give(data)

    def forces(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array(pin.rnea(model, model.createData(), q, v, a, held))

    for i, e in enumerate(STEP * np.eye(robot.nv)):
        moved = (forces(space.integrate(q, e), v) - forces(space.integrate(q, -e), v)) / (2.0 * STEP)
        scale = 1.0 + np.abs(moved).max()
        np.testing.assert_allclose(by_q[:, i], moved, atol=1e-7 * scale)
        np.testing.assert_allclose(by_v[:, i], (forces(q, v + e) - forces(q, v - e)) / (2.0 * STEP), atol=1e-7 * scale)
    if tree.is_exact:
        nothing = pin.StdVec_Force([pin.Force.Zero() for _ in wrenches])
        alone, free = tree.force_slopes(data, q, v, a), tree.force_slopes(data, q, v, a, nothing)
        np.testing.assert_allclose(alone, free, atol=1e-12)


def test_inertias_of_joints_in_any_order() -> None:
    """pinocchio's `crba` and `computeMinverse` are wrong where joints are not depth-first; its RNEA is right."""
    robot = TREES["not depth-first"]()
    model: Any = robot.model.copy()
    model.armature = 0.1 * np.arange(1.0, robot.nv + 1.0)
    robot = Robot(model)
    q = robot.random(np.random.default_rng(6))
    motion, data, still = robot.at(q, robot.space.zero_velocity), model.createData(), np.zeros(robot.nv)
    gravity = pin.rnea(model, data, q, still, still)
    M = np.array([pin.rnea(model, data, q, still, e) - gravity for e in np.eye(robot.nv)]).T
    np.testing.assert_allclose(motion.mass_matrix(), M, atol=1e-12)
    np.testing.assert_allclose(motion.inverse_mass_matrix() @ M, np.eye(robot.nv), atol=1e-10)


@pytest.mark.parametrize("name", [name for name in TREES if name != ALL])
def test_joint_forces_of_a_wrench_change_with_the_posture(name: str) -> None:
    """Those of a wrench between two frames, which stays as it is in one, and of a force that stays in the world."""
    robot, rng = TREES[name](), np.random.default_rng(7)
    tree, space, last = robot.space.elementary, robot.space, robot.model.njoints - 1
    a, b, q = Frame("a", min(1, last - 1), PLACES[0]), Frame("b", last, PLACES[1]), robot.space.random(rng)
    wrench, force = pin.Force(rng.standard_normal(6)), rng.standard_normal(3)

    def jacobians(q: np.ndarray) -> tuple[Any, Any, np.ndarray, np.ndarray, np.ndarray]:
        """Of the joints, and of the bodies of a and b, spatial; and of the origin of b."""
        data = tree.model.createData()
        J = np.array(pin.computeJointJacobians(tree.model, data, q))
        pin.forwardKinematics(tree.model, data, q)
        oMb = data.oMi[tree.joints[b.joint]] * b.placement
        bodies = [np.array(pin.getJointJacobian(tree.model, data, tree.joints[f.joint], pin.WORLD)) for f in (a, b)]
        point = bodies[1][:3] - pin.skew(oMb.translation) @ bodies[1][3:]
        return oMb, J, bodies[0], bodies[1], point

    oMb, J, _, _, point = jacobians(q)

    def forces(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        oMb, _, J_a, J_b, point = jacobians(q)
        return (J_b - J_a).T @ oMb.act(wrench).vector, point.T @ force

    by_wrench = tree.wrench_slope(J, a, b, oMb.act(wrench).vector)
    by_force = tree.carried_slope(J, point, force)
    for i, e in enumerate(STEP * np.eye(robot.nv)):
        ahead, behind = forces(space.integrate(q, e)), forces(space.integrate(q, -e))
        np.testing.assert_allclose(by_wrench[:, i], (ahead[0] - behind[0]) / (2.0 * STEP), atol=1e-8)
        np.testing.assert_allclose(by_force[:, i], (ahead[1] - behind[1]) / (2.0 * STEP), atol=1e-8)


@pytest.mark.parametrize("name", [name for name in TREES if name != ALL])
def test_the_mean_of_points_and_what_it_changes_by(name: str) -> None:
    """Against places by plain pinocchio: it moves as they do, and never turns."""
    robot, rng = TREES[name](), np.random.default_rng(8)
    tree, space, n = robot.space.elementary, robot.space, robot.nv
    parts = [WeightedPoint(j, PLACES[j % 2], share) for j, share in ((1, 0.3), (robot.model.njoints - 1, 0.7))]
    q = space.random(rng)
    v, a = rng.standard_normal((2, n))

    def place(q: np.ndarray) -> Any:
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, q)
        return sum(part.share * data.oMi[part.joint].act(part.placement.translation) for part in parts)

    def mean(q: np.ndarray, v: np.ndarray) -> Any:
        moving = tree.moving(q, v, a)
        found = moving.mean(parts)
        tree.datas.give(moving.data)
        return found

    here, step = mean(q, v), 1e-4
    np.testing.assert_allclose(here.pose.homogeneous, pin.SE3(np.eye(3), place(q)).homogeneous, atol=1e-12)
    later, before = (place(space.integrate(q, s * v + 0.5 * s * s * a)) for s in (step, -step))
    np.testing.assert_allclose(here.twist.vector, [*(later - before) / (2.0 * step), 0, 0, 0], atol=1e-6)
    second = (later - 2.0 * place(q) + before) / step**2
    np.testing.assert_allclose(here.acceleration.vector, [*second, 0, 0, 0], atol=1e-5)
    for i, e in enumerate(STEP * np.eye(n)):
        ahead, behind = (mean(space.integrate(q, s * e), v) for s in (1.0, -1.0))
        np.testing.assert_allclose(here.jacobian[:3, i], (place(space.integrate(q, e)) - place(q)) / STEP, atol=1e-4)
        for slope, what in ((here.twist_q, "twist"), (here.acceleration_q, "acceleration")):
            difference = getattr(ahead, what).vector - getattr(behind, what).vector
            np.testing.assert_allclose(slope[:, i], difference / (2.0 * STEP), atol=1e-6)
        ahead, behind = (mean(q, v + s * e) for s in (1.0, -1.0))
        by_v = (ahead.acceleration.vector - behind.acceleration.vector) / (2.0 * STEP)
        np.testing.assert_allclose(here.acceleration_v[:, i], by_v, atol=1e-7)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("world", [True, False])
def test_joint_forces_of_a_spring_and_damper_between_frames(name: str, world: bool) -> None:
    """The force -k p on b at its place p in its own axes, and a damper of all twists: slopes by differences."""
    robot, rng = TREES[name](), np.random.default_rng(9)
    tree, space = robot.space.elementary, robot.space
    last = robot.model.njoints - 1
    a, b = Frame("a", 0 if world else min(1, last - 1), PLACES[0]), Frame("b", last, PLACES[1])
    q, v = space.random(rng), rng.standard_normal(robot.nv)
    D = rng.standard_normal((6, 6))

    def law(seen: RelativeFrame) -> WrenchSlopes:
        p = seen.pose.rotation.T @ seen.pose.translation
        by_pose = np.zeros((6, 6))
        by_pose[:3] = -3.0 * np.hstack([np.eye(3), pin.skew(p)])
        return WrenchSlopes(np.r_[-3.0 * p, 0, 0, 0] - D @ seen.twist, by_pose, -D)

    def forces(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        moving = tree.moving(q, v, np.zeros(robot.nv))
        seen = moving.relative(a, b)
        tree.datas.give(moving.data)
        return seen.jacobian.T @ law(seen).wrench

    found = joint_force_slopes(robot.at(q, v), a, b, law)
    assert (found is None) == (name == ALL)
    assert joint_force_slopes(robot.at(q, v), a, b, lambda _: None) is None
    if found is None:
        return
    for i, e in enumerate(STEP * np.eye(robot.nv)):
        by_q = (forces(space.integrate(q, e), v) - forces(space.integrate(q, -e), v)) / (2.0 * STEP)
        np.testing.assert_allclose(found[0][:, i], by_q, atol=1e-7)
        np.testing.assert_allclose(found[1][:, i], (forces(q, v + e) - forces(q, v - e)) / (2.0 * STEP), atol=1e-7)


def test_which_joints_carry_which_and_where_they_are() -> None:
    robot = TREES["of several"]()
    tree, q = robot.space.elementary, robot.space.random(np.random.default_rng(5), size=3)
    assert tree.is_exact
    assert tree.model.njoints == 1 + 3 + 3 + 2
    assert tree.joints == (0, 3, 6, 8)
    np.testing.assert_array_equal(tree.carries, np.triu(np.ones((9, 9))))  # a chain
    origins, turns = tree.placements(q)
    for k in range(3):
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, q[k])
        for i, j in enumerate(tree.joints):
            np.testing.assert_allclose(origins[k, j], data.oMi[i].translation, atol=1e-12)
            np.testing.assert_allclose(turns[k, j], data.oMi[i].rotation, atol=1e-12)


def test_a_tree_with_an_ellipsoid_has_no_exact_parts() -> None:
    ellipsoid, hinge = pin.JointModelEllipsoid(0.3, 0.2, 0.4), pin.JointModelRX()
    for joints in ((ellipsoid, UNIVERSAL), (UNIVERSAL, ellipsoid)):
        robot = tree_of((0, joints[0]), (1, joints[1]))
        assert not robot.space.elementary.is_exact
        assert robot.space.elementary.model is robot.model
    assert tree_of((0, hinge)).space.elementary.is_exact


@pytest.mark.parametrize("joint", [True, -1, "j1", 1.0, None])
def test_what_is_no_index_of_a_joint_has_no_frame(joint: Any) -> None:
    with pytest.raises(WrongObjectError, match="joint of frame 'tip': expected the index of a joint, 0 or more"):
        Frame("tip", joint)
    index: Any = np.int64(1)
    assert Frame("tip", index).joint == 1

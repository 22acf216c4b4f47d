"""Postures, motions and workspaces: stages in any order, stale handles, the pool, threads, points of products."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import ref

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from explicit_samples import arm_and_box
from robots import arm, humanoid, mixed_tree, robots, two_arms
from samples import SAMPLES, humanoid_frames, kinematic_samples

from constraints import (
    Affine,
    CenterOfMass,
    Comparison,
    Function,
    Implicit,
    Motion,
    Pose,
    Posture,
    Problem,
    Projector,
    Robot,
    Rotation,
    Stack,
    Workspace,
    errors,
    explicit_relative_pose,
)
from constraints.point import Point, SpacePoint, place, place_motion
from constraints.robot import Frame
from constraints.robot.frame_pair import FramePair
from constraints.rows.stacking import stack_rows
from constraints.workspace import CROWDED
from liegroups import SE3, SO3, ProductSpace, Rn, Segments

ROBOTS = pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new() -> None:
    """The collector of garbage is asked a hundred times here: not of all that earlier tests left alive."""
    gc.freeze()


def state(robot: Robot, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.standard_normal(robot.nv)


# --- stages ----------------------------------------------------------------------------------------------------------

STAGES: dict[str, Callable[[Motion], Any]] = {
    "placement": lambda m: m.posture.placement(last_frame(m)).homogeneous,
    "jacobian": lambda m: m.posture.jacobian(last_frame(m)),
    "center of mass": lambda m: m.posture.center_of_mass(),
    "velocity": lambda m: m.velocity(last_frame(m)),
    "drift": lambda m: m.drift_acceleration(last_frame(m)),
    "mass": lambda m: m.mass_matrix(),
    "bias": lambda m: m.bias_force(),
}


def last_frame(motion: Motion) -> Any:
    space = motion.posture.space
    return Robot(space.model).frame(space.model.names[-1])


def plain(robot: Robot, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """The stages by plain pinocchio, each with data of its own."""
    model, joint = robot.model, robot.model.njoints - 1
    zero = np.zeros(robot.nv)
    M = pin.crba(model, model.createData(), q)
    data = model.createData()
    pin.forwardKinematics(model, data, q, v, zero)
    return {
        "placement": data.oMi[joint].homogeneous,
        "jacobian": pin.computeJointJacobian(model, model.createData(), q, joint),
        "center of mass": pin.centerOfMass(model, model.createData(), q),
        "velocity": data.v[joint].vector,
        "drift": data.a[joint].vector,
        "mass": np.triu(M) + np.triu(M, 1).T,
        "bias": pin.nonLinearEffects(model, model.createData(), q, v),
    }


@ROBOTS
def test_stages_agree_with_plain_pinocchio(robot: Robot) -> None:
    for seed in range(5):
        q, v = state(robot, seed)
        expected = plain(robot, q, v)
        motion = robot.at(q, v)
        for name, stage in STAGES.items():
            scale = 1.0 + np.abs(expected[name]).max()
            np.testing.assert_allclose(stage(motion), expected[name], rtol=0, atol=1e-13 * scale, err_msg=name)


@draws(12, 60)
@ROBOTS
def test_stages_do_not_depend_on_their_order(robot: Robot, count: int) -> None:
    """Property 21: the order in which stages are asked for does not change a bit."""
    q, v = state(robot)
    expected = {name: stage(robot.at(q, v, Workspace())) for name, stage in STAGES.items()}
    orders = list(itertools.permutations(STAGES))
    chosen = np.random.default_rng(0).choice(len(orders), count, replace=False)
    used = Workspace()
    for order in (orders[i] for i in chosen):
        motion = robot.at(q, v, used)
        for name in order:
            np.testing.assert_array_equal(STAGES[name](motion), expected[name], err_msg=f"{name} in {order}")


@ROBOTS
def test_joints_up_to_any_have_the_bits_of_all(robot: Robot) -> None:
    """Kinematics up to a joint write what plain pinocchio writes for the whole model, whatever was asked before."""
    rng = np.random.default_rng(5)
    model = robot.model
    data = model.createData()
    for order in (
        range(1, model.njoints),
        reversed(range(1, model.njoints)),
        rng.permutation(np.arange(model.njoints)),
    ):
        workspace = Workspace()
        for last in (int(j) for j in order):
            posture = robot.at(robot.random(rng), workspace)
            pin.computeJointJacobians(model, data, posture.q)
            n = 0 if last == 0 else model.joints[last].idx_v + model.joints[last].nv
            for _ in range(2):  # the second time nothing is to be done
                k = posture.placed(last)
                assert all(np.array_equal(k.oMi[j].homogeneous, data.oMi[j].homogeneous) for j in range(last + 1))
                assert np.array_equal(posture.with_jacobians(last).data.J[:, :n], data.J[:, :n])
            assert k.last >= last


def test_a_posture_gives_joints_that_were_left_out_when_they_are_asked_for() -> None:
    """A function of the first joints alone, then everything: at the same posture, and at the next."""
    robot, rng = humanoid(), np.random.default_rng(6)
    joints = [j for j in range(2, robot.model.njoints) if robot.model.parents[j] == 1]
    early, late = (robot.frame(robot.model.names[j]) for j in (joints[0], robot.model.njoints - 1))
    f, g = Pose(robot, early), CenterOfMass(robot)
    workspace, data = Workspace(), robot.model.createData()
    value, J, center, Jc = np.zeros(7), np.zeros((6, robot.nv)), np.zeros(3), np.zeros((3, robot.nv))
    for _ in range(3):
        posture = robot.at(robot.random(rng), workspace)
        pin.computeJointJacobians(robot.model, data, posture.q)
        pin.updateFramePlacements(robot.model, data)
        f.evaluate(posture, value, J)
        expected = pin.getFrameJacobian(robot.model, data, early.joint, early.placement, pin.LOCAL)
        assert np.abs(J - expected).max() < 1e-14
        there = data.oMi[late.joint] * late.placement
        assert np.array_equal(posture.placement(late).homogeneous, there.homogeneous)
        expected = pin.getFrameJacobian(robot.model, data, late.joint, late.placement, pin.LOCAL)
        assert np.array_equal(posture.jacobian(late), expected)
        g.evaluate(posture, center, Jc)
        assert np.abs(center - pin.centerOfMass(robot.model, data, posture.q)).max() < 1e-14
        assert np.abs(Jc - pin.jacobianCenterOfMass(robot.model, data, posture.q)).max() < 1e-14


def test_early_joints_alone_are_computed_until_somebody_reads_others() -> None:
    """What no function reads keeps the placement that the memory began with."""
    robot = humanoid()
    workspace = Workspace()
    posture = robot.at(robot.random(np.random.default_rng(7)), workspace)
    last = robot.model.njoints - 1
    for joint in (1, 3):
        k = posture.placed(joint)
        assert k.tree.njoints == joint + 1
    assert np.array_equal(k.oMi[last].homogeneous, np.eye(4))
    assert posture.placed().tree is robot.model
    assert not np.array_equal(k.oMi[last].homogeneous, np.eye(4))


@ROBOTS
def test_mass_matrix_is_symmetric_and_bias_holds_gravity(robot: Robot) -> None:
    q, v = state(robot)
    M = robot.at(q, v).mass_matrix()
    np.testing.assert_array_equal(M, M.T)
    if robot.name != "mixed":  # of some of its joint types pinocchio's gravity is the same, but the humanoid shows it
        assert np.linalg.eigvalsh(M).min() > 0.0
    still = robot.at(q, np.zeros(robot.nv))
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    np.testing.assert_allclose(still.bias_force(), gravity, rtol=0, atol=1e-11 * (1.0 + np.abs(gravity).max()))
    np.testing.assert_array_equal(still.velocity(robot.frame(robot.joint_names[-1])), 0.0)


@ROBOTS
def test_frames_move_with_their_velocity_and_accelerate_with_their_drift(robot: Robot) -> None:
    """Twist and spatial acceleration at zero joint acceleration, by differences along q (+) t v."""
    q, v = state(robot, 3)
    frame = robot.frame(robot.joint_names[-1], pin.SE3(pin.utils.rotate("y", 0.3), np.array([0.1, -0.2, 0.05])))
    motion = robot.at(q, v)
    h = 1e-5
    there = [robot.at(robot.space.integrate(q, t * v)).placement(frame) for t in (-h, h)]
    twist = pin.log6(there[0].actInv(there[1])).vector / (2.0 * h)
    np.testing.assert_allclose(motion.velocity(frame), twist, rtol=0, atol=1e-7 * (1.0 + np.abs(twist).max()))
    np.testing.assert_allclose(motion.posture.jacobian(frame) @ v, motion.velocity(frame), rtol=0, atol=1e-12)
    rates = [robot.at(robot.space.integrate(q, t * v), v).velocity(frame) for t in (-h, h)]
    expected = (rates[1] - rates[0]) / (2.0 * h)
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(motion.drift_acceleration(frame), expected, rtol=0, atol=1e-6 * scale)


def test_several_motions_of_one_posture() -> None:
    """The memory holds the stages of one motion at a time: another motion computes its own, in any order."""
    robot = humanoid()
    q, v = state(robot)
    w, zero = np.random.default_rng(5).standard_normal(robot.nv), np.zeros(robot.nv)
    first = robot.at(q, v)
    others = [Motion(first.posture, x) for x in (w, zero, 2.0 * v)]
    expected = [plain(robot, q, x) for x in (v, w, zero, 2.0 * v)]
    for _ in range(2):
        for motion, wanted in zip([first, *others], expected, strict=True):
            for name in ("velocity", "drift", "bias", "mass", "jacobian"):
                scale = 1.0 + np.abs(wanted[name]).max()
                np.testing.assert_allclose(STAGES[name](motion), wanted[name], rtol=0, atol=1e-12 * scale)


def test_motions_survive_evaluations_at_their_posture() -> None:
    robot = humanoid_frames()
    q, v = state(robot)
    f, g = Pose(robot, "b", reference="a"), CenterOfMass(robot, reference="a")
    motion = place_motion(robot.space, q, v, Workspace())
    expected = [np.zeros(function.outputs.nv) for function in (f, g)]
    for function, out in zip((f, g), expected, strict=True):
        function.drift(place_motion(robot.space, q, v, Workspace()), out)
    for function, out in ((f, expected[0]), (g, expected[1]), (f, expected[0])):
        value, jacobian = np.zeros(function.outputs.nq), np.zeros((function.outputs.nv, robot.nv))
        function.evaluate(motion.point, value, jacobian)
        again = np.zeros_like(out)
        function.drift(motion, again)
        np.testing.assert_array_equal(again, out)


# --- stale postures and the pool -------------------------------------------------------------------------------------


def test_a_borrowed_workspace_moves_on_and_says_so() -> None:
    robot, workspace = arm(), Workspace()
    q, v = state(robot)
    old = robot.at(q, workspace)
    kept = old.placement(robot.frame("tool")).copy()
    moving = robot.at(q, v, workspace)
    moving.mass_matrix()
    new = robot.at(robot.neutral, workspace)
    uses: list[Callable[[], Any]] = [
        lambda: old.placement(robot.frame("tool")),
        lambda: old.jacobian(robot.frame("tool")),
        old.center_of_mass,
        old.check,
        old.placed,
        old.with_jacobians,
        lambda: moving.velocity(robot.frame("tool")),
        lambda: moving.drift_acceleration(robot.frame("tool")),
        moving.mass_matrix,
        moving.bias_force,
        lambda: Pose(robot, "tool").evaluate(old, np.zeros(7)),
        lambda: CenterOfMass(robot).evaluate(old, np.zeros(3), np.zeros((3, 7))),
        lambda: Pose(robot, "tool").drift(moving, np.zeros(6)),
    ]
    for use in uses:
        with pytest.raises(errors.StalePostureError, match="its workspace now holds another configuration"):
            use()
    np.testing.assert_allclose(new.placement(robot.frame("tool")).homogeneous[:3, :3], np.eye(3), atol=1e-15)
    again = robot.at(q, workspace)
    assert again.placement(robot.frame("tool")) == kept


def test_points_of_other_spaces_make_a_posture_stale() -> None:
    workspace = Workspace()
    posture = arm().at(arm().neutral, workspace)
    place(Rn(2), np.zeros(2), workspace)
    with pytest.raises(errors.StalePostureError):
        posture.placed()


def test_postures_without_a_workspace_never_go_stale() -> None:
    """Many are alive at once, and those that are gone give their memory back."""
    robot = arm()
    frame = robot.frame("tool")
    configurations = robot.random(np.random.default_rng(0), 50)
    postures = [robot.at(q) for q in configurations]
    expected = [Pose(robot, "tool").value(q) for q in configurations]
    for _ in range(2):
        for posture, wanted in zip(postures, expected, strict=True):
            np.testing.assert_allclose(pin.SE3ToXYZQUAT(posture.placement(frame)), wanted, rtol=0, atol=1e-15)
    del postures, posture
    gc.collect()
    kept, serial = robot.at(configurations[0]), robot.at(configurations[1])
    del serial
    for q in configurations:
        robot.at(q).placement(frame)
    np.testing.assert_allclose(pin.SE3ToXYZQUAT(kept.placement(frame)), expected[0], rtol=0, atol=1e-15)


def test_a_motion_keeps_its_posture_alive() -> None:
    robot = arm()
    q, v = state(robot)
    motion = robot.at(q, v)
    expected = motion.bias_force()
    gc.collect()
    for other in robot.random(np.random.default_rng(1), 40):
        robot.at(other, v).bias_force()
    np.testing.assert_array_equal(motion.bias_force(), expected)


def test_a_part_of_a_posture_keeps_its_memory() -> None:
    """A part outlives the posture it was taken from: the memory may not be lent to another one meanwhile."""
    robot = two_arms()
    part = robot.at(robot.neutral).part(robot.segments("left_elbow"))
    gc.collect()
    q = np.ones(robot.nq)
    robot.at(q).placed()
    np.testing.assert_array_equal(part.q, [0.0])


def test_postures_own_their_configuration() -> None:
    q = arm().random(np.random.default_rng(0))
    posture = arm().at(q)
    kept = q.copy()
    q[:] = 0.0
    np.testing.assert_array_equal(posture.q, kept)
    with pytest.raises(ValueError, match="read-only"):
        posture.q[0] = 1.0


def test_wrong_configurations_and_velocities_are_refused() -> None:
    with pytest.raises(errors.SizeError):
        arm().at(np.zeros(6))
    with pytest.raises(errors.NotFiniteError):
        arm().at(np.full(7, np.nan))
    with pytest.raises(errors.SizeError, match="velocity"):
        arm().at(np.zeros(7), np.zeros(6))
    with pytest.raises(errors.NotFiniteError, match="velocity"):
        arm().at(np.zeros(7), np.full(7, np.inf))


# --- workspaces ------------------------------------------------------------------------------------------------------


def test_a_workspace_is_never_pickled_nor_copied() -> None:
    """Property 21: memory stays with its worker."""
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(errors.NotPicklableError, match="a Workspace cannot be copied or pickled"):
            attempt(Workspace())


def test_scratch_belongs_to_its_owner() -> None:
    workspace = Workspace()
    f, g = Pose(arm(), "tool"), Pose(arm(), "tool")
    mine = workspace.scratch(f, "rows", (2, 3))
    mine[:] = 1.0
    assert workspace.scratch(f, "rows", (2, 3)) is mine
    assert not workspace.scratch(g, "rows", (2, 3)).any()
    assert not workspace.scratch(f, "others", (2, 3)).any()
    assert workspace.scratch(f, "rows", (3, 3)).shape == (3, 3)
    assert workspace.child is workspace.child


def relative_frames() -> int:
    """How many pairs of frames some workspace remembers."""
    gc.collect()
    return sum(isinstance(thing, FramePair) for thing in gc.get_objects())


def test_workspaces_do_not_grow_with_functions_that_are_gone() -> None:
    """Functions made again and again leave nothing behind, in a pool and in a workspace of one's own."""
    robot, workspace, rng = humanoid_frames(), Workspace(), np.random.default_rng(0)
    q, value, before = robot.neutral, np.zeros(7), relative_frames()
    kept = Pose(robot, "b", reference="a")
    kept.evaluate(robot.at(q, workspace), value)
    for _ in range(50):
        f = Pose(robot, "b", SE3.random(rng))
        f.evaluate(robot.at(q, workspace), value)
        np.testing.assert_allclose(value, f.value(q), rtol=0, atol=1e-15)
    kept.evaluate(robot.at(q, workspace), value)
    np.testing.assert_allclose(value, kept.value(q), rtol=0, atol=1e-15)
    assert relative_frames() - before <= 4  # two functions are alive, in two workspaces


def test_projections_to_new_right_hand_sides_leave_nothing_behind() -> None:
    """Each right-hand side of an explicit pose is a function of its own; rows of a batch have one each."""
    robot, rng = arm_and_box(), np.random.default_rng(1)
    grasp = explicit_relative_pose(robot, "gripper", "handle", comparison=Comparison.EQUALITY)
    projector = Projector(Problem(robot, [grasp]))
    sides, before = rng.uniform(-0.2, 0.2, (40, 6)), relative_frames()
    starts = robot.random(rng, len(sides))
    for q, rhs in zip(starts, sides, strict=True):
        assert projector.project(q, rhs).success
    assert projector.project_batch(starts, sides).success.all()
    assert relative_frames() - before <= 8


def test_a_crowded_workspace_is_not_lent_again() -> None:
    """Stacked rows keep their stack alive: problem after problem, the pool of their robot stays small."""
    robot, q = Robot(arm().model), arm().neutral
    first = ref(robot.at(q).workspace)
    assert robot.at(q).workspace is first()  # what holds little is
    stacks = [Stack([Implicit.zero(Pose(robot, "tool"))]) for _ in range(2 * CROWDED)]
    alive = [ref(stack) for stack in stacks]
    while stacks:
        stack_rows(stacks.pop(), robot.at(q))
    gc.collect()
    assert sum(stack() is not None for stack in alive) <= CROWDED


def test_of_many_postures_at_once_few_workspaces_are_kept() -> None:
    robot = Robot(arm().model)
    postures = [robot.at(robot.neutral) for _ in range(20)]
    del postures
    gc.collect()
    assert len(robot.space._pool.free) == 16  # pyright: ignore[reportPrivateUsage]


def test_one_workspace_serves_several_robots() -> None:
    workspace = Workspace()
    functions: list[Function] = [Pose(arm(), "tool"), CenterOfMass(humanoid()), Pose(two_arms(), "left_tool")]
    for seed in range(3):
        for f in functions:
            q = f.robot.random(np.random.default_rng(seed))  # pyright: ignore[reportAttributeAccessIssue]
            value = np.zeros(f.outputs.nq)
            f.evaluate(place(f.inputs, q, workspace), value)
            np.testing.assert_array_equal(value, f.value(q))


def test_composition_leaves_the_inner_point_valid() -> None:
    """The outer function is evaluated in the child of the workspace."""
    robot, workspace = arm(), Workspace()
    inner = Affine(0.5 * np.eye(7), inputs=robot.space)
    f = Pose(robot, "tool") @ (Affine(np.eye(7)) @ inner)
    q = robot.random(np.random.default_rng(0))
    posture = robot.at(q, workspace)
    value, jacobian = np.zeros(7), np.zeros((6, 7))
    f.evaluate(posture, value, jacobian)
    posture.check()
    np.testing.assert_array_equal(value, Pose(robot, "tool").value(0.5 * q))
    np.testing.assert_array_equal(posture.placement(robot.frame("tool")), robot.at(q).placement(robot.frame("tool")))
    np.testing.assert_array_equal(f.value(q), value)


# --- points of products ----------------------------------------------------------------------------------------------


def test_the_part_of_a_product_is_a_posture() -> None:
    robot = arm()
    space = ProductSpace([Rn(2), robot.space, SO3])
    q = space.random(np.random.default_rng(0))
    point = place(space, q, Workspace())
    assert isinstance(point, SpacePoint)
    part = point.part(Segments.of(space, 1))
    assert isinstance(part, Posture)
    np.testing.assert_array_equal(part.q, q[2:9])
    np.testing.assert_array_equal(part.placement(robot.frame("tool")), robot.at(q[2:9]).placement(robot.frame("tool")))
    assert point.part(Segments.of(space, 1)) is part  # kinematics are computed once for all functions
    flat = point.part(Segments.of(space, 0))
    assert not isinstance(flat, Posture)
    np.testing.assert_array_equal(flat.q, q[:2])
    point.check()
    part.check()
    place(space, q, point.workspace)
    for stale in (point.check, part.placed, flat.check):
        with pytest.raises(errors.StalePostureError):
            stale()


def test_the_part_of_a_moving_product_is_a_motion() -> None:
    robot = arm()
    space = robot.space * SE3
    q, v = space.random(np.random.default_rng(0)), np.arange(13.0)
    part = place_motion(space, q, v, Workspace()).part(Segments.of(space, 0))
    assert isinstance(part, Motion)
    np.testing.assert_array_equal(part.bias_force(), robot.at(q[:7], v[:7]).bias_force())


@pytest.mark.parametrize(
    "places",
    [[(0, arm(), 0), (1, two_arms(), 7)], [(2, arm(), 22), (0, arm(), 0), (1, two_arms(), 7)]],
    ids=["two robots", "one robot twice"],
)
def test_robots_in_one_product(places: list[tuple[int, Robot, int]]) -> None:
    space = ProductSpace([arm().space, two_arms().space, arm().space])
    q = space.random(np.random.default_rng(0))
    workspace = Workspace()
    for _ in range(2):
        point = place(space, q, workspace)
        for i, robot, start in places:
            name = robot.joint_names[-1]
            f = Pose(robot, name).on(space, Segments.of(space, i))
            value = np.zeros(7)
            f.evaluate(point, value)
            np.testing.assert_array_equal(value, Pose(robot, name).value(q[start : start + robot.nq]))


def test_a_robot_of_one_joint_has_jacobians_of_one_column() -> None:
    """Pinocchio gives one column as a vector."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "turn")
    robot = Robot(model).with_frame("tip", "turn", [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    posture = robot.at([0.3])
    np.testing.assert_array_equal(posture.with_jacobians().joint_jacobian(1), np.eye(6)[:, 3:4])
    np.testing.assert_allclose(posture.jacobian(robot.frame("tip")), np.array([[0, 0, 2, 1, 0, 0]]).T, atol=1e-15)


def test_frames_of_another_robot_are_refused() -> None:
    """On a joint that is not there, or has another name."""
    robot = arm()
    posture, last = robot.at(robot.neutral), robot.model.njoints - 1
    posture.placement(Frame("ours", last))
    for frame in (Frame("beyond", last + 1), Frame("other", last, joint_name="elbow")):
        with pytest.raises(errors.ModelError, match=f"frame '{frame}' on joint .* is not a frame of this robot"):
            posture.placement(frame)


def test_the_part_of_a_motion_and_of_its_posture() -> None:
    robot = mixed_tree()
    q, v = state(robot)
    motion = robot.at(q, v)
    assert motion.part(Segments.all(robot.space)) is motion
    part = motion.part(robot.segments("spherical", "rx"))
    rows = [robot.velocity_slice_of(joint) for joint in ("rx", "spherical")]
    np.testing.assert_array_equal(part.v, np.concatenate([v[row] for row in rows]))
    assert motion.posture.part(Segments.all(robot.space)) is motion.posture
    still = motion.posture.part(robot.segments("spherical", "rx"))
    assert isinstance(still, Point)
    np.testing.assert_array_equal(still.q, np.r_[q[robot.slice_of("rx")], q[robot.slice_of("spherical")]])


@pytest.mark.parametrize("sample", sorted(kinematic_samples(arm)))
def test_functions_refuse_what_is_no_posture(sample: str) -> None:
    """A configuration, a motion, nothing, a point without kinematics: what a newcomer hands to `evaluate`."""
    f = kinematic_samples(humanoid_frames)[sample]()
    q, value, jacobian = f.inputs.neutral, np.zeros(f.outputs.nq), np.zeros((f.outputs.nv, f.inputs.nv))
    for wrong in (q, place_motion(f.inputs, q, np.zeros(f.inputs.nv), Workspace()), None, place(Rn(3), q, Workspace())):
        for J in (None, jacobian):
            with pytest.raises(errors.WrongObjectError, match="point of a kinematic function"):
                f.evaluate(wrong, value, J)  # type: ignore[arg-type]


# --- threads ---------------------------------------------------------------------------------------------------------


def test_eight_threads_give_the_same_bits() -> None:
    """Property 21: the same functions from eight threads at once, on their own workspaces and on the pool."""
    names = [
        *(
            f"{kind} (humanoid)"
            for kind in ("Pose, relative", "Transformation", "ComBetweenFeet", "CenterOfMass, relative")
        ),
        *("Composition", "Difference of vectors", "Stacked", "Lifted, composed", "Composition, through a robot"),
    ]
    functions = [SAMPLES[name]() for name in names]
    rng = np.random.default_rng(0)
    points = {
        f: [f.robot.random(rng) if isinstance(f, Pose) else f.inputs.random(rng) for _ in range(20)] for f in functions
    }
    velocities = {f: rng.standard_normal(f.inputs.nv) for f in functions}

    def run(worker: int) -> list[bytes]:
        workspace, found = Workspace(), dict[tuple[int, int], bytes]()
        order = np.random.default_rng(worker).permutation(len(functions) * 20)
        for index in order.tolist():
            i, j = divmod(index, 20)
            f = functions[i]
            q = points[f][j]
            value, jacobian, drift = (
                np.zeros(f.outputs.nq),
                np.zeros((f.outputs.nv, f.inputs.nv)),
                np.zeros(f.outputs.nv),
            )
            motion = place_motion(f.inputs, q, velocities[f], workspace)
            f.evaluate(motion.point, value, jacobian)
            f.drift(motion, drift)
            pooled = f.linearise(q)
            found[i, j] = b"".join(x.tobytes() for x in (value, jacobian, drift, pooled.value, pooled.jacobian))
        return [found[key] for key in sorted(found)]

    expected = run(0)
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(run, range(8)):
            assert result == expected


def test_rotations_of_frames_are_normalised() -> None:
    f = Rotation(humanoid(), "larm6_body")
    for q in humanoid().random(np.random.default_rng(0), 20):
        assert f.outputs.is_normalized(f.value(q), 1e-14)


def test_copies_of_postures_and_motions_are_their_own() -> None:
    """Honest 28: `deepcopy(posture)` raised a TypeError about a workspace; a stale one says that it is stale."""
    robot = arm()
    q, v = robot.random(np.random.default_rng(0)), np.linspace(-1.0, 1.0, robot.nv)
    posture, motion = robot.at(q), robot.at(q, v)
    for again in (copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing)), copy.copy):
        other = again(posture)
        assert other.workspace is not posture.workspace
        assert np.array_equal(other.placement("tool").homogeneous, posture.placement("tool").homogeneous)
        assert np.array_equal(again(motion).bias_force(), motion.bias_force())
    workspace = Workspace()
    stale = robot.at(q, workspace)
    robot.at(robot.neutral, workspace)
    with pytest.raises(errors.StalePostureError):
        copy.deepcopy(stale)

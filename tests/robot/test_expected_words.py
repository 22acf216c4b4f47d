"""What users of pink, mink, jaxlie, Drake, MuJoCo and scipy write, and what they are told where it cannot work."""

# What is tried here is wrong for a type checker too.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from explicit_samples import arm_and_box
from robots import arm, humanoid, two_arms

from constraints import (
    Affine,
    Bounds,
    Comparison,
    Explicit,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projector,
    Robot,
    Stacked,
    Transformation,
    errors,
    explicit_relative_pose,
)
from constraints.loops import ConstraintSet, Hinge, PointClosure, PointContact, assemble_position, assemble_velocity
from constraints.models.mechanisms import four_bar
from constraints.rows.stacking import Order, stack_rows
from liegroups import Rn, Segments

TOOL = "wrist_roll"


def hand(robot: Robot) -> Implicit:
    return Implicit.equal(Pose(robot, TOOL), robot.at(robot.neutral).placement(TOOL), name="hand")


def carried_box() -> tuple[Robot, Explicit]:
    """An arm that holds a free body by an explicit constraint."""
    robot = arm_and_box()
    return robot, explicit_relative_pose(robot, "gripper", "handle", name="held")


def test_a_function_is_called() -> None:
    """Mend 23: `f(q)` is `f.value(q)`, checks included."""
    robot = arm()
    q, f = robot.random(np.random.default_rng(0)), Pose(robot, TOOL)
    np.testing.assert_array_equal(f(q), f.value(q))
    np.testing.assert_array_equal(f(q.tolist()), f.value(q))
    with pytest.raises(errors.SizeError, match="argument of Pose"):
        f(q[1:])


def test_bias_acceleration_of_numbers() -> None:
    """Mend 23: `f.drift_at(q, v)` is the derivative of J(q) v along v, for kinematic and for plain functions."""
    robot, rng = two_arms(), np.random.default_rng(1)
    square = Function.from_callable(lambda q: [q[0] * q[1], q[2] ** 2], Rn(3), Rn(2))
    for f in (Position(robot, robot.joint_names[-1]), Transformation(robot, robot.joint_names[3]), square):
        q, v, h = f.inputs.random(rng), rng.uniform(-1.0, 1.0, f.inputs.nv), 1e-5
        ahead, behind = f.inputs.integrate(q, h * v), f.inputs.integrate(q, -h * v)
        expected = (f.jacobian(ahead) - f.jacobian(behind)) @ v / (2.0 * h)
        np.testing.assert_allclose(f.drift_at(q.tolist(), v.tolist()), expected, atol=1e-4)
    np.testing.assert_allclose(square.drift_at([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]), [6.0, 8.0], atol=1e-4)
    with pytest.raises(errors.SizeError, match="velocity of Position"):
        Position(robot, robot.joint_names[-1]).drift_at(robot.neutral, [0.0])


def test_reduced_jacobian_is_that_of_the_resolved_problem() -> None:
    """Mend 23: by central differences over the free dofs of a problem whose box follows the gripper."""
    robot, box = carried_box()
    problem = Problem(
        robot, [box, Implicit.equal(Position(robot, "box/root_joint"), [0.4, 0.2, 0.5], name="box place")]
    )
    q = Projector(problem, Options(threshold=1e-10)).project(robot.random(np.random.default_rng(2)), problem.rhs).q
    J = problem.reduced_jacobian(q)
    assert J.shape == (problem.reduced_size, int(problem.free.sum()))
    follows = Projector(Problem(robot, [box]), Options(threshold=1e-10))
    for column, i in enumerate(np.flatnonzero(problem.free)):
        step = np.zeros(robot.nv)
        step[i] = 1e-6
        ends = [follows.project(robot.space.integrate(q, sign * step)).q for sign in (1.0, -1.0)]
        rows = [problem.error(end, "box place") for end in ends]
        np.testing.assert_allclose(J[:, column], (rows[0] - rows[1]) / 2e-6, atol=1e-6)
    np.testing.assert_array_equal(J, problem.reduced_jacobian(problem.at(q), problem.rhs.vector))


def test_a_configuration_stands_for_a_point() -> None:
    """Mend 23: where functions of points are public, numbers do."""
    robot, box = carried_box()
    problem, q = Problem(robot, [box, Implicit.equal(Position(robot, "box/root_joint"))]), robot.neutral
    rows, point = stack_rows(problem.constraints, q.tolist()), problem.at(q)
    live = stack_rows(problem.constraints, point)
    np.testing.assert_array_equal(rows.error, live.error)
    np.testing.assert_array_equal(rows.jacobian, live.jacobian)
    kept = rows.error.copy()
    stack_rows(problem.constraints, robot.random(np.random.default_rng(0)))
    np.testing.assert_array_equal(rows.error, kept)  # a copy: no workspace of another point is behind it
    np.testing.assert_array_equal(problem.resolution_jacobian(q), problem.resolution_jacobian(point))
    np.testing.assert_array_equal(problem.rhs.read_at(q).vector, problem.rhs_from(q).vector)
    with pytest.raises(errors.WrongObjectError, match="motion"):
        stack_rows(problem.constraints, q, Order.VELOCITY)
    with pytest.raises(errors.DtypeError, match="Posture, whose numbers are its q"):
        problem.residual(point)  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.DtypeError, match=r"robot\.configuration"):
        problem.residual({TOOL: 0.3})  # pyright: ignore[reportArgumentType]


def test_frames_by_name_where_things_are_read() -> None:
    """Mend 17: `posture.placement("tool")` and the like; frames that the robot was given later are found too."""
    robot = arm().with_frame("tip", TOOL, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    q, v = robot.random(np.random.default_rng(0)), np.linspace(-1.0, 1.0, robot.nv)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    wrist = data.oMi[robot.joint_index(TOOL)]
    problem = Problem(robot, [hand(robot)])
    for posture in (robot.at(q), problem.at(q), robot.at(q, v).posture):
        np.testing.assert_allclose(posture.placement(TOOL).homogeneous, wrist.homogeneous, atol=1e-14)
        tip = wrist * pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1]))
        np.testing.assert_allclose(posture.placement("tip").homogeneous, tip.homogeneous, atol=1e-14)
        np.testing.assert_array_equal(posture.jacobian("tip"), posture.jacobian(robot.frame("tip")))
    motion = robot.at(q, v)
    np.testing.assert_allclose(motion.velocity("tip"), motion.posture.jacobian("tip") @ v, atol=1e-13)
    np.testing.assert_array_equal(motion.drift_acceleration("tip"), motion.drift_acceleration(robot.frame("tip")))
    by_space = robot.space.at(q)  # a space knows the frames of its model
    np.testing.assert_array_equal(by_space.placement(TOOL).homogeneous, robot.at(q).placement(TOOL).homogeneous)
    for ask in (motion.posture.placement, motion.posture.jacobian, motion.velocity, motion.drift_acceleration):
        with pytest.raises(errors.UnknownFrameError, match="tip"):
            ask("tipp")
        with pytest.raises(errors.WrongObjectError, match="frame: expected a name or a Frame, got int"):
            ask(3)


def test_world_is_the_universe_unless_a_frame_is_called_so() -> None:
    """Mend 23: on every frame argument, beside "universe" and None."""
    robot = arm()
    q = robot.random(np.random.default_rng(0))
    assert robot.frame("world").joint == 0
    for world in ("world", "universe", None):
        np.testing.assert_array_equal(Position(robot, TOOL, reference=world)(q), Position(robot, TOOL)(q))
        np.testing.assert_array_equal(Position(robot, TOOL, world)(q), Position(robot, TOOL)(q))
    np.testing.assert_array_equal(robot.at(q).placement("world").homogeneous, np.eye(4))
    assert robot.with_frame("table", "world", [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]).frame("table").joint == 0
    assert PointClosure(robot, "world", TOOL).name == PointClosure(robot, "universe", TOOL).name
    named = robot.with_frame("world", TOOL)
    assert named.frame("world").joint == robot.joint_index(TOOL)
    model = pin.Model(robot.model)
    model.addFrame(pin.Frame("world", 2, pin.SE3.Random(), pin.FrameType.BODY))
    assert Robot(model).frame("world").joint == 2


def test_explicit_poses_take_the_world_too() -> None:
    """Mend 23: a free body placed in the world, by name and by None."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "box")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    robot = Robot(model)
    for world in (None, "world", "universe"):
        problem = Problem(robot, [explicit_relative_pose(robot, world, "box", [0.1, 0.2, 0.3, 0.0, 0.0, 0.0],
                                                         comparison=Comparison.EQUALITY)])  # fmt: skip
        found = Projector(problem).project(robot.neutral)
        np.testing.assert_allclose(found.q, [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0], atol=1e-12)


def test_a_margin_moves_both_sides_of_an_interval_inside() -> None:
    """Mend 23: `margin=` of `between`, as `above` and `below` have it."""
    f = Position(arm(), TOOL)
    rows = Implicit.between(f, [0.0, 0.1, 0.2], 0.5, margin=[0.0, 0.1, 0.05]).rows
    np.testing.assert_allclose(rows.lower, [0.0, 0.2, 0.25])
    np.testing.assert_allclose(rows.upper, [0.5, 0.4, 0.45])
    with pytest.raises(
        errors.OptionError, match=r"row 0 is empty: its margin 0.3 is wider than half its interval \[0, 0.5\]"
    ):
        Implicit.between(f, 0.0, 0.5, margin=0.3)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (False, r"Bounds\.none\(space\) for no bounds, got False"),
        (True, r"Bounds\.none\(space\)"),
        (([-1.0] * 7, [1.0] * 7), r"Bounds\(space, lower, upper\)"),
        ({TOOL: (-1.0, 1.0)}, r"robot\.with_bounds"),
        ("none", "None for the robot's"),
    ],
)
def test_other_bounds_are_told_how(bad: Any, words: str) -> None:
    """Mend 23: `bounds=False` and scipy's pairs are answered by what does that here."""
    robot = arm()
    with pytest.raises(errors.WrongObjectError, match=words):
        Problem(robot, [hand(robot)], bounds=bad)
    assert not np.isfinite(Problem(robot, [hand(robot)], bounds=Bounds.none(robot.space)).bounds.lower).any()


def test_functions_are_stacked_one_after_the_other() -> None:
    """Mend 23: `Stacked(f, g)` is `Stacked([f, g])`."""
    robot = arm()
    f, g = Position(robot, TOOL), Pose(robot, "elbow")
    q = robot.random(np.random.default_rng(0))
    expected = np.concatenate([f(q), g(q)])
    for both in (Stacked(f, g), Stacked([f, g]), Stacked((f, g)), Stacked(functions=[f, g]), Stacked(f, g, name="a")):
        np.testing.assert_array_equal(both(q), expected)
        assert both.functions == (f, g)
    assert Stacked(f, g, name="a").name == "a"
    assert Stacked(f).functions == (f,)
    for bad in ((), ([],)):
        with pytest.raises(errors.SizeError, match="at least one"):
            Stacked(*bad)
    with pytest.raises(errors.WrongObjectError, match="either"):
        Stacked(f, functions=[g])  # pyright: ignore[reportCallIssue]
    for bad in ((f, "g"), ("fg",), (None,), ([f], [g])):
        with pytest.raises(errors.WrongObjectError, match="of a stack"):
            Stacked(*bad)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_driven_joints_are_called_so() -> None:
    """Mend 23: what is wrong with `driven=` is said of driven joints, not of frozen dofs of a problem."""
    mechanism = four_bar()
    robot = mechanism.robot
    closed = ConstraintSet(robot, mechanism.closures)
    q, v = robot.neutral, np.zeros(robot.nv)
    joint = robot.joint_names[0]
    for bad, error, words in (
        (joint, errors.WrongObjectError, rf"driven joints: expected .* write \['{joint}'\]"),
        (3, errors.WrongObjectError, "driven joints"),
        ([0], errors.WrongObjectError, r"entry of driven joints: expected the name of a joint.*got 0"),
        (["crank_"], errors.UnknownJointError, "no joint is named 'crank_'"),
        (Segments((99,), (99,), Rn(1)), errors.SizeError, "driven joints"),
    ):
        with pytest.raises(error, match=words):
            assemble_position(closed, q, driven=bad)
        with pytest.raises(error, match=words):
            assemble_velocity(closed, q, v, driven=bad)
    body = humanoid()
    foot = ConstraintSet(body, [PointContact(body, body.joint_names[-1], anchor=[0.0, 0.0, 0.0])])
    part = Segments((0,), (0,), Rn(1))
    with pytest.raises(errors.OverlapError, match=r"driven joints.*root_joint"):
        assemble_position(foot, body.neutral, driven=part)
    with pytest.raises(errors.OverlapError, match=r"frozen dofs of a problem.*root_joint"):
        Problem(body, [Implicit.zero(Position(body, body.joint_names[-1]))], frozen=part)


def test_an_affine_function_of_a_free_body_names_the_way_out() -> None:
    """Mend 23: the joint, and the functions that see where a body is."""
    robot = humanoid()
    A = np.zeros((1, robot.nv))
    A[0, 2] = 1.0
    with pytest.raises(errors.OptionError, match=r"columns \[2\].*'root_joint' \(SE3\): .*Position, .*'root_joint'"):
        Affine(A, inputs=robot.space)
    height = Implicit.zero(Position(robot, "root_joint"), mask=[False, False, True])
    np.testing.assert_allclose(Problem(robot, [height]).error(robot.neutral), robot.neutral[2])


def test_levels_among_constraints_are_told_apart() -> None:
    """Mend 17: which entries are levels and which are constraints."""
    robot = arm()
    a, b, c = (Implicit.zero(Position(robot, joint), name=joint) for joint in robot.joint_names[:3])
    names = [robot.joint_names[0]]
    with pytest.raises(errors.WrongObjectError, match=rf"entries 0 \(.*{names[0]}.*\) are not levels, entries 1 are"):
        Problem(robot, [a, [b, c]])  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.WrongObjectError, match=r"entries 1 .*, 2 .* are not levels, entries 0 are"):
        Problem(robot, [[a], b, c])  # pyright: ignore[reportArgumentType]
    assert [len(level) for level in Problem(robot, [[a], [b, c]]).constraint_levels] == [1, 2]
    with pytest.raises(errors.WrongObjectError, match=r"Implicit\.equal\("):
        Problem(robot, [Position(robot, TOOL)])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("name", "vector"), [("x", [1, 0, 0]), ("y", [0, 1, 0]), ("z", [0, 0, 1])])
def test_axes_by_letter(name: str, vector: list[int]) -> None:
    """Mend 17: "x", "y", "z", and their opposites, wherever an axis is asked for."""
    robot = arm()
    for given, expected in (
        (name, np.array(vector)),
        (name.upper(), np.array(vector)),
        (f"-{name}", -np.array(vector)),
    ):
        for make in (Hinge.pin, Hinge.slider, Hinge.cylindrical, Hinge.planar, Hinge.two_sliders):
            assert _twists(make(given)) == _twists(make(expected))
        assert _twists(Hinge.helical(given, 0.1)) == _twists(Hinge.helical(expected, 0.1))
        held = [Problem(robot, [PointContact(robot, TOOL, axis, [0.0, 0.0, 0.0])]) for axis in (given, expected)]
        first, second = (problem.jacobian(robot.neutral) for problem in held)
        np.testing.assert_array_equal(first, second)
    assert _twists(Hinge.universal("x", "y")) == _twists(Hinge.universal())
    assert _twists(Hinge.hooke("x", "-y")) == _twists(Hinge.hooke([1, 0, 0], [0, -1, 0]))


def _twists(hinge: Hinge) -> list[list[float]]:
    return hinge.subspace(hinge.space.neutral).tolist()


def test_what_is_no_axis_is_refused() -> None:
    """Mend 17: text that names none, an index, and the zero vector, which no division makes a unit vector."""
    for bad in ("w", "", "xy", "--x"):
        with pytest.raises(errors.UnknownNameError, match="axis of a hinge: no axis is named"):
            Hinge.pin(bad)
    with pytest.raises(errors.SizeError, match="'x', 'y', 'z'"):
        Hinge.pin(2)
    with pytest.raises(errors.NotNormalizedError, match="no direction"):
        Hinge.pin([0.0, 0.0, 0.0])
    with pytest.raises(errors.NotNormalizedError, match="divide it by its norm"):
        Hinge.pin([0.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda robot: Problem(robot.model, [hand(robot)]), r"a Robot, Robot\(model\), got Model"),
        (lambda robot: Pose(robot.model, TOOL), r"a Robot, Robot\(model\), got Model"),
        (lambda robot: Problem("panda.urdf", [hand(robot)]), r"Robot\.from_urdf\(path\)"),
        (lambda robot: Problem(robot, [hand(robot)], frozen=[0]), "the name of a joint, or a block of columns"),
        (lambda robot: Implicit(Pose(robot, TOOL), pin.SE3.Identity()), r"rhs=, or Implicit\.equal"),
        (lambda robot: Function.from_callable(np.sum, robot, Rn(1)), r"a Space, its \.space, got Robot"),
        (lambda robot: Function.from_callable(np.sum, robot.space, 3), r"a Space, Rn\(3\), got int"),
        (lambda robot: Pose(robot, TOOL, outputs="SE3"), r"liegroups\.SE3 or liegroups\.R3xSO3, got 'SE3'"),
        (lambda robot: Pose(robot, TOOL) - np.zeros(6), "Constant"),
        (lambda robot: Pose(robot, 7), "a frame name or a Frame, got int"),
    ],
)
def test_what_others_write_is_answered_by_what_does_it_here(call: Any, words: str) -> None:
    """Mend 23: found by mistakes that were written down before any was tried."""
    with pytest.raises(errors.WrongObjectError, match=words):
        call(arm())


def test_one_cost_for_all_is_told_the_two_ways() -> None:
    """Mend 23: costs are by column or by joint."""
    robot = arm()
    with pytest.raises(errors.SizeError, match=r"\{joint: cost\}"):
        Problem(robot, [hand(robot)], weights=2.0)

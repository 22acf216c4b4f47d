"""Tasks of pink made of functions, and functions made of tasks of pink, in loops of differential inverse kinematics."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import draws
from robots import arm, humanoid, two_arms

import constraints as lc
from constraints.errors import DtypeError, MissingExtraError, RobotMismatchError, SizeError, WrongObjectError
from constraints.interop import PinkFunction, as_pink_task
from constraints.testing import check_function
from liegroups import SE3, Rn

pink: Any = pytest.importorskip("pink")
pytest.importorskip("daqp")


def configuration(robot: lc.Robot, q: np.ndarray) -> Any:
    """As a user of pink has it, on a model of their own."""
    model = pin.Model(robot.model)
    return pink.Configuration(model, model.createData(), q)


def run(robot: lc.Robot, tasks: list[Any], q: np.ndarray, steps: int = 60) -> Any:
    """A loop of differential inverse kinematics."""
    state, dt = configuration(robot, q), 0.1
    for _ in range(steps):
        velocity = pink.solve_ik(state, tasks, dt, solver="daqp", damping=1e-8, safety_break=False, limits=[])
        state.integrate_inplace(velocity, dt)
    return state


def placement(state: Any, robot: lc.Robot, frame: str) -> Any:
    """By plain pinocchio."""
    data = state.model.createData()
    pin.forwardKinematics(state.model, data, state.q)
    known = robot.frame(frame)
    return data.oMi[known.joint] * known.placement


def test_a_pose_is_reached_by_pink() -> None:
    """The task of a pose: the loop converges, as pinocchio sees it; and, weighed against pink's own posture task, to a
    compromise that is as near as pink's own frame task comes."""
    robot, home = arm(), arm().reference("home")
    pose = lc.Pose(robot, "tool")
    target = pose.value(robot.random(np.random.default_rng(1)))
    task = as_pink_task(pose, target, cost=1.0, gain=0.5, lm_damping=1e-6)

    def distance(state: Any) -> float:
        goal = pin.XYZQUATToSE3(task.rhs)
        return float(np.abs(pin.log6(placement(state, robot, "tool").actInv(goal)).vector).max())

    state = run(robot, [task], home)
    assert distance(state) < 1e-10
    task.rhs = pose.value(home)  # another target, without building anything again
    assert distance(state) > 0.1
    assert distance(run(robot, [task], state.q)) < 1e-10
    posture, theirs = pink.tasks.PostureTask(cost=1e-3), pink.tasks.FrameTask("tool", 1.0, 1.0, gain=0.5)
    posture.set_target(0.5 * home)
    theirs.set_target(pin.XYZQUATToSE3(task.rhs))
    found = [run(robot, [one, posture], home) for one in (task, theirs)]
    assert distance(found[0]) < 1e-4
    np.testing.assert_allclose(found[0].q, found[1].q, rtol=0, atol=1e-5)


def test_a_grip_and_a_height_are_reached_by_pink() -> None:
    """Constraints with a relative pose, a mask, a scale and an inequality, weighed by row."""
    robot = two_arms()
    home = robot.reference("home")
    grip = lc.Implicit.equal(lc.Pose(robot, "right_tool", reference="left_tool"))
    grip = lc.Implicit.equal(grip.function, grip.function.value(home), name="grip")
    height = lc.Implicit(lc.Position(robot, "left_tool"), mask=[0, 0, 1], lower=1.1, scale=2.0, name="height")
    tasks = [as_pink_task(grip, cost=[1.0] * 6, gain=0.5), as_pink_task(height, cost=[3.0], gain=0.5)]
    start = robot.space.integrate(home, 0.2 * np.sin(np.arange(robot.nv)))
    state = run(robot, tasks, start)
    assert placement(state, robot, "left_tool").translation[2] > 1.1 - 1e-6
    seen = placement(state, robot, "left_tool").actInv(placement(state, robot, "right_tool"))
    goal = pin.XYZQUATToSE3(grip.default_rhs)
    assert np.abs(pin.log6(goal.actInv(seen)).vector).max() < 1e-5


def test_error_and_jacobian_of_a_task() -> None:
    """The error is the constraint's, the Jacobian its derivative along the manifold, with a free-flying base."""
    robot, rng = humanoid(), np.random.default_rng(2)
    task = as_pink_task(lc.Implicit(lc.Pose(robot, "larm6_joint"), scale=0.5, mask=[1, 1, 1, 1, 1, 0], rhs=None))
    for q in robot.random(rng, 3):
        state = configuration(robot, q)
        e, J = task.compute_error(state), task.compute_jacobian(state)
        np.testing.assert_allclose(e, 0.5 * SE3.log(lc.Pose(robot, "larm6_joint").value(q))[:5], rtol=0, atol=1e-12)
        h = 1e-6
        for i in range(robot.nv):
            v = np.zeros(robot.nv)
            v[i] = h
            ahead, back = (task.compute_error(configuration(robot, robot.space.integrate(q, s * v))) for s in (1, -1))
            np.testing.assert_allclose(J[:, i], (ahead - back) / (2 * h), rtol=0, atol=1e-7)
    assert repr(task).startswith("ConstraintTask(Implicit('Pose(larm6_joint)', 5 rows)")


def test_the_opposite_sign_of_pinks_frame_task() -> None:
    """pink's FrameTask is log6 of the target seen from the frame; ours, the other way round, is minus that."""
    robot, rng = humanoid(), np.random.default_rng(3)
    frame = "larm6_joint"
    target = SE3.random(rng)
    theirs = pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0)
    theirs.set_target(pin.XYZQUATToSE3(target))
    ours = as_pink_task(lc.Pose(robot, frame), target)
    for q in robot.random(rng, 3):
        state = configuration(robot, q)
        np.testing.assert_allclose(ours.compute_error(state), -theirs.compute_error(state), rtol=0, atol=1e-9)
        np.testing.assert_allclose(ours.compute_jacobian(state), -theirs.compute_jacobian(state), rtol=0, atol=1e-8)


def pink_tasks(robot: lc.Robot) -> list[Any]:
    rng = np.random.default_rng(4)
    frame = pink.tasks.FrameTask("larm6_joint", position_cost=1.0, orientation_cost=1.0)
    frame.set_target(pin.XYZQUATToSE3(SE3.random(rng)))
    relative = pink.tasks.RelativeFrameTask("larm6_joint", "rarm6_joint", 1.0, 1.0)
    relative.set_target(pin.XYZQUATToSE3(SE3.random(rng)))
    com = pink.tasks.ComTask(cost=1.0)
    com.set_target(rng.normal(size=3))
    posture = pink.tasks.PostureTask(cost=1.0)
    posture.set_target(robot.random(rng))
    return [frame, relative, com, posture]


@draws(4, 20)
@pytest.mark.parametrize("which", range(4))
def test_tasks_as_functions(which: int, count: int) -> None:
    """The laws of every function hold for four tasks: value and Jacobian along the manifold; they
    pickle; later targets do not count; the robot's model is not written to."""
    robot = humanoid()
    task = pink_tasks(robot)[which]
    f = PinkFunction(robot, task)
    check_function(f, samples=count)
    q = robot.random(np.random.default_rng(5))
    value = f.value(q)
    np.testing.assert_array_equal(value, task.compute_error(configuration(robot, q)))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f)).value(q), value)
    if which == 0:
        task.set_target(pin.SE3.Identity())
        np.testing.assert_array_equal(f.value(q), value)
    assert not hasattr(robot.model, "tangent")


def test_a_task_of_pink_is_projected_onto() -> None:
    """A FrameTask as a constraint: the projection ends at its target, by pinocchio; forth and back is the same."""
    robot = arm()
    target = lc.Pose(robot, "tool").value(robot.random(np.random.default_rng(6)))
    task = pink.tasks.FrameTask("tool", position_cost=1.0, orientation_cost=1.0)
    task.set_target(pin.XYZQUATToSE3(target))
    f = PinkFunction(robot, task, name="reach")
    projector = lc.Projector(lc.Problem(robot, [lc.Implicit.zero(f)]), lc.Options(threshold=1e-7))
    result = projector.project(robot.random(np.random.default_rng(7))).or_raise()
    seen = placement(configuration(robot, result.q), robot, "tool")
    assert np.abs(pin.log6(seen.actInv(pin.XYZQUATToSE3(target))).vector).max() < 1e-7
    again = as_pink_task(f)
    state = configuration(robot, robot.reference("home"))
    np.testing.assert_array_equal(again.compute_error(state), task.compute_error(state))
    np.testing.assert_array_equal(again.compute_jacobian(state), task.compute_jacobian(state))
    for each, cost, gain, damping in (
        (again, [1.0] * 6, 1.0, 0.0),
        (as_pink_task(f, cost=np.float32(2), gain=0.5, lm_damping=1e-3), [2.0] * 6, 0.5, 1e-3),
    ):  # fmt: skip
        assert (each.cost.tolist(), each.gain, each.lm_damping) == (cost, gain, damping)


def test_tasks_pickle_and_copy() -> None:
    robot = arm()
    task = as_pink_task(lc.Position(robot, "tool"), [0.1, 0.2, 0.3], cost=[1.0, 2.0, 3.0], gain=0.7)
    state = configuration(robot, robot.reference("home"))
    for other in (pickle.loads(pickle.dumps(task)), copy.deepcopy(task)):
        np.testing.assert_array_equal(other.compute_error(state), task.compute_error(state))
        np.testing.assert_array_equal(other.compute_qp_objective(state)[0], task.compute_qp_objective(state)[0])


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = arm()
    position = lc.Position(robot, "tool")
    flat = lc.Function.from_callable(lambda q: q, Rn(2), Rn(2), name="flat")
    for wrong in (3, None, "tool", robot):
        with pytest.raises(WrongObjectError, match="constraint of a pink task"):
            as_pink_task(wrong)  # pyright: ignore[reportArgumentType]
        with pytest.raises(WrongObjectError, match="task"):
            PinkFunction(robot, wrong)
    with pytest.raises(WrongObjectError, match="'flat' of a pink task"):
        as_pink_task(flat)
    with pytest.raises(SizeError, match="right-hand side"):
        as_pink_task(position, [1.0])
    for cost, error in (([1.0, 2.0], SizeError), ("heavy", DtypeError), ([1.0, np.nan, 0.0], lc.ConstraintError)):
        with pytest.raises(error, match="cost"):
            as_pink_task(position, cost=cost)  # pyright: ignore[reportArgumentType]
    options: tuple[dict[str, Any], ...] = (
        {"gain": 0.0},
        {"gain": 1.5},
        {"gain": "x"},
        {"lm_damping": -1.0},
        {"lm_damping": np.nan},
    )
    for named in options:
        with pytest.raises(lc.ConstraintError, match=next(iter(named))):
            as_pink_task(position, **named)
    with pytest.raises(RobotMismatchError, match="shoulder_yaw"):
        as_pink_task(position).compute_error(configuration(two_arms(), two_arms().neutral))
    with pytest.raises(WrongObjectError, match="FrameTask: expected one that is ready"):
        PinkFunction(robot, pink.tasks.FrameTask("tool", 1.0, 1.0))
    for on_velocities in (pink.tasks.DampingTask(1.0), pink.tasks.LowAccelerationTask(1.0)):
        with pytest.raises(WrongObjectError, match="got one on velocities"):
            PinkFunction(robot, on_velocities)
    model, posture = pin.Model(), pink.tasks.PostureTask(cost=1.0)
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    posture.set_target(pin.neutral(model))
    with pytest.raises(WrongObjectError, match=r"PostureTask: .*of ball, planar or free joints"):
        PinkFunction(lc.Robot(model), posture)  # its Jacobian is the identity there
    with pytest.raises(lc.ConstraintError, match="robot of a pink task"):
        PinkFunction("arm", pink_tasks(humanoid())[0])  # pyright: ignore[reportArgumentType]
    from constraints.interop import pink_tasks as module

    module._task_class.cache_clear()
    monkeypatch.setitem(sys.modules, "pink", None)
    with pytest.raises(MissingExtraError, match="pink"):
        as_pink_task(position)
    with pytest.raises(MissingExtraError, match="pink"):
        PinkFunction(robot, 3)

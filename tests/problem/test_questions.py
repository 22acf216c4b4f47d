"""Numbers in other units are asked about once a problem; poses typed with a few digits are normalised."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, joint_models
from scipy.spatial.transform import Rotation as R

import constraints as lc
from constraints.errors import FunctionError, NotNormalizedError
from constraints.functions import Function as Written
from constraints.models import sample_arm
from constraints.problem.questions import ask_of_length, ask_of_rest, reach_of
from liegroups import Rn
from liegroups.unit_blocks import plain_entries


def asked(caplog: pytest.LogCaptureFixture, *constraints: Any, robot: Any = None) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "constraints"):
        lc.Problem(robot or arm(), list(constraints))
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def coordinate(joint: int, slope: float = 1.0, shift: float = 0.0) -> lc.Affine:
    return lc.Affine([slope * np.eye(7)[joint]], [shift], arm().space)


def test_degrees_and_millimetres_are_asked_about_once_a_problem(caplog: pytest.LogCaptureFixture) -> None:
    robot = arm()
    locked, hand = (
        lc.locked_joint(robot, "elbow", 90.0),
        lc.Implicit.equal(lc.Position(robot, "tool"), [300.0, 200.0, 500.0]),
    )
    said = asked(caplog, locked, hand)
    assert len(said) == 1
    assert "90 for 'elbow', whose bounds are [-0.1, 2.6] rad: is it in degrees?" in said[0]
    assert "is it in millimetres?" in said[0]
    assert asked(caplog, locked, hand) == []  # the same constraints in another problem, as in a graph
    failed = lc.Projector(lc.Problem(robot, [locked])).project(robot.neutral)
    caplog.clear()
    assert "90 for 'elbow'" in str(failed.diagnose(iterations=20))
    assert caplog.messages == []  # trials of a diagnosis start where the projection ended
    pose = lc.Implicit.equal(lc.Pose(robot, "tool"), [300.0, 200.0, 500.0, 0.0, 0.0, 0.0, 1.0])
    assert "millimetres" in asked(caplog, pose)[0]
    assert "degrees" in asked(caplog, lc.Implicit.equal(coordinate(3, 2.0, 1.0), [181.0]))[0]


def test_what_may_be_meant_is_not_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """A little out of bounds, far but not a hundred times, a loose interval, another joint's turns, a free base."""
    robot = arm()
    fine = [
        lc.locked_joint(robot, "elbow", 3.0),
        lc.Implicit.equal(lc.Position(robot, "tool"), [30.0, 0.2, 0.5]),
        lc.Implicit.below(coordinate(4), [400.0]),
        lc.Implicit.between(lc.Position(robot, "elbow"), [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4]),
    ]
    assert asked(caplog, *fine) == []
    walker = humanoid()
    frame = walker.frame_names[-1]
    assert asked(caplog, lc.Implicit.equal(lc.Position(walker, frame), [1e4, 0.0, 0.0]), robot=walker) == []


def test_degrees_of_rotation_vectors_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """They are at most pi long: 90 is out of reach, which was said of `Transformation` alone."""
    robot = arm()
    turned, pose, lean = lc.Orientation(robot, "tool"), lc.Pose(robot, "tool"), [True, True, False]
    [said] = asked(caplog, lc.Implicit.equal(turned, [0.0, 0.0, 90.0]))
    assert "a rotation vector 90 rad long, where half a turn is pi: is it in degrees?" in said
    [said] = asked(caplog, lc.Implicit.equal(turned, [90.0, 0.0, 0.0], mask=lean))
    assert "90 rad for row 0, where half a turn is pi: is it in degrees?" in said
    for above, row in (
        (lc.Implicit.above(lc.Rotation(robot, "tool"), 10.0, mask=lean), 0),
        (lc.Implicit.above(pose, 10.0), 3),
    ):
        [said] = asked(caplog, above)
        assert f"10 rad for row {row}" in said
    fine = lc.Implicit.equal(turned, [0.0, 3.1, 0.0]), lc.Implicit.above(lc.Rotation(robot, "tool"), -3.1)
    assert asked(caplog, *fine) == []


def test_bounds_of_a_problem_and_joints_without_bounds_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    robot, locked = arm(), lc.locked_joint(arm(), "elbow", 0.5)
    box = robot.bounds
    for bounds in (None, box, lc.Bounds.none(robot.space), lc.Bounds(robot.space, 2.0 * box.lower, 2.0 * box.upper)):
        lc.Problem(robot, [locked], bounds=bounds)
    turned = robot.without_bounds()
    assert asked(caplog, lc.locked_joint(turned, "elbow", 18.8), robot=turned) == []
    for _ in range(2):  # the same numbers again, as in a diagnosis
        lc.Problem(robot, [locked], bounds=lc.Bounds(robot.space, np.degrees(box.lower), np.degrees(box.upper)))
    [said] = [record.getMessage() for record in caplog.records]
    assert "bounds of a problem: -166.158 for 'shoulder_yaw', whose bounds are [-2.9, 2.9] rad: is it in deg" in said
    for one in (lc.locked_joint(turned, "elbow", 90.0), lc.Implicit.equal(coordinate(3, 2.0, 1.0), [181.0])):
        assert "'elbow': 90 rad, 14.3 turns: is it in degrees?" in asked(caplog, one, robot=turned)[0]


def test_a_loose_threshold_is_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """`Options(1000)` was a threshold of 1000, with which everything is satisfied (`test_keywords` has its message)."""
    lc.Options(threshold=10.0)
    assert not caplog.records
    assert [lc.Options(threshold=1000.0).threshold, lc.Options(threshold=1000.0).threshold] == [1000.0, 1000.0]
    assert [record.getMessage() for record in caplog.records] == [
        "option 'threshold' 1000 accepts errors of 1000 m or rad: is it meant?"
    ]


def typed(digits: int) -> list[float]:
    """A pose written with so many digits of its quaternion xyzw."""
    return [0.3, 0.2, 0.5, *np.round(R.from_euler("xyz", [0.3, -0.4, 1.1]).as_quat(), digits).tolist()]


@pytest.mark.parametrize("digits", [3, 4, 5])
def test_typed_poses_targets_and_references_are_normalised(digits: int) -> None:
    robot, pose = arm(), typed(digits)
    unit = np.r_[pose[:3], np.array(pose[3:]) / np.linalg.norm(pose[3:])]
    equal = lc.Implicit.equal(lc.Pose(robot, "tool"), pose)
    problem = lc.Problem(robot, [equal])
    np.testing.assert_allclose(problem.rhs.of(equal), unit, rtol=0, atol=1e-15)
    np.testing.assert_allclose(problem.rhs.replace(equal, pose).of(equal), unit, rtol=0, atol=1e-15)
    moving = lc.Implicit(lc.Pose(robot, "tool"), lc.Comparison.EQUALITY, rhs=lc.Target(lambda t: pose))
    np.testing.assert_allclose(lc.Problem(robot, [moving]).rhs_at(0.5).of(moving), unit, rtol=0, atol=1e-15)
    turned = R.from_quat(pose[3:]).as_matrix()
    held = robot.with_frame("held", "tool", pose).frame("held").placement.rotation
    on_tool = robot.frame("tool").placement.rotation
    np.testing.assert_allclose(held, on_tool @ turned, rtol=0, atol=1e-12)
    far = lc.Position(robot, "tool", reference=np.array(pose)).value(np.zeros(7))
    plain = lc.Position(robot, "tool").value(np.zeros(7))
    np.testing.assert_allclose(far, turned.T @ (plain - pose[:3]), rtol=0, atol=1e-12)


def test_configurations_and_poses_further_off_are_refused_as_before() -> None:
    robot, walker = arm(), humanoid()
    wrong = [0.3, 0.2, 0.5, 0.0, 0.0, 0.0, 1.002]
    with pytest.raises(NotNormalizedError):
        lc.Implicit.equal(lc.Pose(robot, "tool"), wrong)
    with pytest.raises(NotNormalizedError):
        robot.with_frame("held", "tool", wrong)
    q = walker.space.neutral.copy()
    q[6] = 1.0 + 1e-4
    with pytest.raises(NotNormalizedError):
        walker.at(q)


def solve(f: lc.Function) -> Any:
    return lc.Projector(lc.Problem(Rn(2), [lc.Implicit.zero(f)])).project([0.4, 0.3])


def test_a_function_that_writes_into_q_is_named() -> None:
    def spoils(q: Any) -> Any:
        q[0] -= 1.0
        return [q[0] + q[1]]

    with pytest.raises(FunctionError, match=r"spoils writes into its argument: entry 0 of q was 0.4, is -0.6"):
        solve(lc.Function.from_callable(spoils, Rn(2), Rn(1)))

    class Spoils(Written):
        def __init__(self) -> None:
            self.declare(Rn(2), Rn(1), name="of a class")

        def evaluate(self, point: Any, value: Any, jacobian: Any = None) -> None:
            point.q[0] = 1.0
            value[0] = 1.0
            if jacobian is not None:
                jacobian[:] = 1.0

    with pytest.raises(FunctionError, match="of a class writes into q"):
        solve(Spoils())


def test_a_function_with_two_values_for_one_q_is_named() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(FunctionError, match=r"noisy gives two values for one q: entry 0 is .*, then "):
        solve(lc.Function.from_callable(lambda q: [q[0] + 0.01 * rng.random()], Rn(2), Rn(1), name="noisy"))
    assert solve(lc.Function.from_callable(lambda q: [q[0] + q[1] ** 2], Rn(2), Rn(1))).success


HOME = arm().reference("home")
GOAL = [0.45, 0.1, 0.3, 0.0, 1.0, 0.0, 0.0]
MILLIMETRES = [400.0, 100.0, 300.0]
FAR = "a target 509.902 m away of 'tool', which reaches 1.31 m: is it in millimetres?"


def warned(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    caplog.clear()
    return found


@pytest.mark.parametrize("engine", ["readable", None])
def test_starts_and_near_in_degrees_are_asked_about_once_a_projector(
    engine: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Mend: what users knew from pages only, number 47; numbers stay as they are."""
    degrees = np.degrees(HOME)
    said = ": 28.6479 for 'shoulder_pitch', whose bounds are [-2, 2] rad: is it in degrees? (and 2 more)"
    hand = lc.Implicit.equal(lc.Pose(arm(), "tool"), GOAL)
    near = lc.Projector(lc.Problem(arm(), [hand]), lc.Options(nearest=True), engine)
    near.project(HOME)
    found = near.project(degrees)
    assert warned(caplog) == [f"angles are in radians, lengths in metres; start{said}"]
    assert f"  start{said}" in found.describe()
    np.testing.assert_array_equal(found.start, degrees)
    near.project(degrees)
    assert warned(caplog) == []
    other = lc.Projector(lc.Problem(arm(), [hand]), lc.Options(nearest=True), engine)
    assert f"near{said}" in other.project(HOME, near=degrees).describe()
    assert warned(caplog) == [f"angles are in radians, lengths in metres; near{said}"]
    alone, first = lc.Projector(lc.Problem(arm(), [hand]), engine=engine), arm().slice_of("shoulder_pitch").start
    alone.project([*HOME[:first], degrees[first], *HOME[first + 1 :]])
    assert warned(caplog) == [f"angles are in radians, lengths in metres; start{said.removesuffix(' (and 2 more)')}"]
    local = lc.Projector(lc.Problem(arm(), [hand]), lc.Options.local(), engine)
    assert f"start{said}" in str(local.project(degrees).diagnose())
    assert len(warned(caplog)) == 1
    lc.Projector(lc.Problem(arm(), [hand]), engine=engine).project_batch([HOME, degrees])
    assert warned(caplog) == [f"angles are in radians, lengths in metres; start{said}"]


def test_starts_that_are_a_little_out_are_not_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """Out of bounds, out of narrow bounds, and free joints."""
    projector = lc.Projector(
        lc.Problem(arm(), [lc.Implicit.equal(lc.Position(arm(), "tool"), GOAL[:3])]), lc.Options(nearest=True)
    )
    projector.project(np.full(7, 3.5))
    narrow = arm().with_bounds({"elbow": (0.5, 0.5001)})
    lc.Projector(lc.Problem(narrow, [lc.Implicit.equal(lc.Position(narrow, "tool"), GOAL[:3])])).project(np.zeros(7))
    walker = humanoid()
    q = walker.neutral.copy()
    q[:3] = 50.0
    frame = walker.frame_names[-1]
    lc.Projector(lc.Problem(walker, [lc.Implicit.equal(lc.Position(walker, frame), [50.0, 50.0, 50.0])])).project(q)
    assert warned(caplog) == []


def test_targets_in_millimetres_are_asked_about_where_they_are_given(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, number 131."""
    robot, quick = sample_arm(), lc.Options(max_iterations=20)
    found = lc.reach(robot, "tool", MILLIMETRES, options=quick)
    assert warned(caplog) == [f"angles are in radians, lengths in metres; 'Position(tool)': {FAR}"]
    assert FAR in found.describe()
    assert f"Angles are in radians, lengths in metres; 'Position(tool)': {FAR}" in str(found.diagnose(trials=4))
    lc.reach(robot, "tool", MILLIMETRES, options=quick)
    assert warned(caplog) == []
    lc.reach_batch(sample_arm(), "tool", [MILLIMETRES, GOAL[:3]], options=quick)
    assert warned(caplog) == [f"angles are in radians, lengths in metres; 'Position(tool)': {FAR}"]
    for rhs in (lambda p: p.rhs.replace("hand", MILLIMETRES), lambda p: MILLIMETRES):
        problem = lc.Problem(robot, [lc.Implicit.equal(lc.Position(robot, "tool"), GOAL[:3], name="hand")])
        projector = lc.Projector(problem, quick)
        assert projector.project(HOME).success
        projector.project(HOME, rhs(problem))
        assert warned(caplog) == [f"angles are in radians, lengths in metres; 'hand': {FAR}"]


def test_references_masses_and_couplings_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, numbers 79 and 131."""
    robot = arm()
    away = lc.Implicit.equal(
        lc.Position(robot, "tool", reference=np.array([*MILLIMETRES, 0.0, 0.0, 0.0, 1.0])), GOAL[:3]
    )
    assert "a reference 509.902 m away of 'tool', which reaches 1.31 m: is it in mill" in asked(caplog, away)[0]
    mass = lc.Implicit.equal(lc.CenterOfMass(robot), MILLIMETRES)
    assert "a target 509.902 m away of CenterOfMass, which reaches 1.26 m" in asked(caplog, mass)[0]
    coupled = lc.linear_coupling(robot, "elbow", {"wrist_pitch": 1.0}, 90.0)
    assert "88 for 'elbow', whose bounds are [-0.1, 2.6] rad: is it in degrees?" in asked(caplog, coupled)[0]
    fine = [
        lc.linear_coupling(robot, "elbow", {"wrist_pitch": -2.0}, 1.0),
        lc.Implicit.equal(lc.CenterOfMass(robot), [0.1, 0.0, 0.3]),
        lc.Implicit.equal(lc.Pose(robot, "tool", reference=np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])), GOAL),
    ]
    assert asked(caplog, *fine) == []


def test_relative_poses_are_asked_about(caplog: pytest.LogCaptureFixture) -> None:
    """Mend: what users knew from pages only, numbers 118 and 131."""
    box = lc.Robot.from_urdf("<robot name='box'><link name='middle'/></robot>", base=lc.Base.FREE_FLYER)
    box = box.with_bounds({"root_joint": ([-1.0] * 3, [1.0] * 3)})
    both = lc.Robot.system([lc.Part("arm", sample_arm()), lc.Part("box", box)])

    def held(rhs: list[float]) -> Any:
        return lc.explicit_relative_pose(both, "arm/tool", "box/middle", rhs, comparison=lc.Comparison.EQUALITY)

    said = asked(caplog, held([0.0, 0.0, 0.1, 180.0, 0.0, 0.0]), robot=both)
    assert "a rotation vector 180 rad long, where half a turn is pi: is it in degrees?" in said[0]
    said = asked(caplog, held([0.0, 0.0, 1000.0, 0.0, 0.0, 0.0]), robot=both)
    assert "a target 1000 m away of 'box/middle', which reaches 3.04 m: is it in millimetres?" in said[0]
    assert asked(caplog, held([0.0, 0.0, 0.1, 3.1415927, 0.0, 0.0]), robot=both) == []


@pytest.mark.parametrize(
    ("joint", "rest", "said"),
    [
        ("elbow", [2.5], ""), ("elbow", [90.0], "90 for 'elbow', whose bounds are [-0.1, 2.6] rad"),
        ("root_joint", [9.0, 9.0, 900.0, 0.0, 0.0, 0.0, 1.0], ""),
        ("free", [18.8], ""), ("free", [-19.0], "-19 rad, 3.02 turns: is it in degrees?"),
        ("slide", [190.0], ""),
    ],
)  # fmt: skip
def test_rests_of_springs_are_asked_about(
    joint: str, rest: list[float], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Far outside of bounds; of angles without bounds more than three turns; of lengths without bounds nothing."""
    model = pin.Model(arm().model)
    for name, kind in (("free", pin.JointModelRZ()), ("slide", pin.JointModelPX()),
                       ("root_joint", pin.JointModelFreeFlyer())):  # fmt: skip
        model.addJoint(0, kind, pin.SE3.Identity(), name)
    model.lowerPositionLimit[7:9], model.upperPositionLimit[7:9] = -np.inf, np.inf
    robot = lc.Robot(model)
    leaf = next(leaf for leaf in robot.space.leaves() if leaf.name == joint)
    caplog.clear()
    ask_of_rest(robot, leaf, np.array(rest), "spring")
    found = warned(caplog)
    assert len(found) == bool(said)
    assert not said or f"rest of a spring: {said}" in found[0]


def _turning() -> Any:
    """A composite whose entries are all of unit vectors, with three metres inside."""
    joint = pin.JointModelComposite()
    joint.addJoint(pin.JointModelRUBX())
    joint.addJoint(pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([3.0, 0.0, 0.0])))
    return joint


@pytest.mark.parametrize("joint", [*joint_models(), "turning"])
def test_no_configuration_is_beyond_the_reach(joint: str) -> None:
    """Of each joint, within bounds of its plain entries; a bound of the right size."""
    rng, model = np.random.default_rng(0), pin.Model()
    kind = _turning() if joint == "turning" else joint_models()[joint]
    carrier = model.addJoint(0, kind, pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])), "joint")
    offset = pin.SE3(np.eye(3), np.array([0.0, 0.2, 0.1]))
    tip = model.addFrame(pin.Frame("tip", carrier, offset, pin.FrameType.OP_FRAME))
    robot = lc.Robot(model)
    plain = plain_entries(robot.nq, robot.space.unit_blocks)
    if plain.any():
        robot = robot.with_bounds({"joint": (np.full(plain.sum(), -1.5), np.full(plain.sum(), 2.0))})
    lower, upper = np.where(plain, robot.bounds.lower, -1.0), np.where(plain, robot.bounds.upper, 1.0)
    reach, data, farthest = reach_of(robot, robot.frame("tip"), free=True), robot.model.createData(), 0.0
    for _ in range(300):
        pin.framesForwardKinematics(robot.model, data, robot.space.random(rng, lower, upper))
        farthest = max(farthest, float(np.linalg.norm(data.oMf[tip].translation)))
    assert reach / 6.0 < farthest <= reach
    assert reach <= reach_of(robot, robot.frame("tip"))


@pytest.mark.parametrize(
    ("length", "told"), [(0.9, False), (1.0, False), (6.0, False), (14.0, True), (300.0, True)]
)  # fmt: skip
def test_lengths_of_springs_are_asked_about(length: float, told: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Those of more than a metre that are more than ten times as long as the ends are ever apart."""
    robot = arm()
    a, b = robot.frame("universe"), robot.frame("tool")
    assert 0.6 < reach_of(robot, a, b) < 1.4
    caplog.clear()
    ask_of_length(robot, a, b, length, "spring")
    found = warned(caplog)
    assert len(found) == told
    most = f"{reach_of(robot, a, b):.3g}"
    assert not told or (
        f"length of a spring: {length:.6g} m, where its ends are at most {most} m apart: is it in millimetres?"
        in found[0]
    )


@pytest.mark.parametrize(("kind", "count"), [(np.float32, 1), (np.float64, 0)])
def test_a_function_in_single_precision_is_asked_about(kind: Any, count: int, caplog: pytest.LogCaptureFixture) -> None:
    """As of jax, where double precision is not switched on: its differences are those of rounding errors."""
    f = lc.Function.from_callable(lambda q: kind(np.real(q[:1])) ** 2, Rn(2), Rn(1), name="coarse", trace=False)
    with caplog.at_level(logging.WARNING, "constraints"):
        slope = f.jacobian([0.3, 0.0])[0, 0]
    assert [record.getMessage()[:22] for record in caplog.records] == ["coarse gives float32: "] * count
    assert (abs(slope - 0.6) > 1e-5) == bool(count)

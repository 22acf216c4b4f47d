"""Every function: the laws, its value against plain pinocchio, its Jacobian and drift at the bad places.

Formulas of expected values are written here again, from placements that pinocchio alone computes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from each_choice import a_few, draws
from house.doors import offered
from mpmath import mp as _mp, mpf
from robots import arm, humanoid, mixed_tree, needs_robot_data, panda, pr2, talos, two_arms, ur5
from samples import (
    ROBOTS,
    SAMPLES,
    arm_frames,
    humanoid_frames,
    kinematic_samples,
    mixed_frames,
    placement,
    two_arms_frames,
)

from constraints import (
    Base,
    CenterOfMass,
    ComBetweenFeet,
    Frame,
    Function,
    Orientation,
    Part,
    Pose,
    Position,
    Robot,
    Rotation,
    Transformation,
    Workspace,
    functions,
)
from constraints.errors import (
    ModelError,
    NotFiniteError,
    OptionError,
    SizeError,
    UndefinedError,
    UnknownFrameError,
    UnknownJointError,
    WrongObjectError,
)
from constraints.functions.frames._template import DistanceBetween
from constraints.point import place, place_motion
from constraints.testing import check_function
from constraints.testing.derivatives import drift_error, jacobian_error
from liegroups import SE3, SO2, SO3, R3xSO3, Rn

mp: Any = _mp  # half of its names are made when it is imported

ANGLES = [0.0, 1e-12, 1e-9, 1e-8, 1e-4, 1.0, 2.499, 2.501, 3.1, 3.135, math.pi - 1e-4, math.pi - 1e-8]
SEEN = (Position, Orientation, Transformation, Rotation, Pose)
KINEMATIC = (*SEEN, CenterOfMass, ComBetweenFeet, DistanceBetween)

OFFERED = [
    name
    for name in offered(functions)
    if isinstance(getattr(functions, name), type)
    and issubclass(getattr(functions, name), Function)
    and getattr(functions, name) is not Function
]


@functools.cache
def sample(name: str) -> Function:
    return SAMPLES[name]()


# --- the laws --------------------------------------------------------------------------------------------------------


def test_every_exported_function_has_a_sample() -> None:
    sampled = {type(sample(name)) for name in SAMPLES}
    without = [name for name in OFFERED if getattr(functions, name) not in sampled]
    assert not without, f"give {', '.join(without)} a sample in tests/samples.py: all laws are then tested"


@draws(2, 8)
@pytest.mark.parametrize("name", SAMPLES)
def test_laws(name: str, count: int) -> None:
    """Property 1: Jacobians against differences, declared columns, buffers, determinism, copies, drift."""
    check_function(sample(name), samples=count)


@draws(20, 100)
@needs_robot_data
@pytest.mark.parametrize("robot", ["ur5", "talos"])
def test_jacobians_on_a_hundred_configurations_of_real_robots(robot: str, count: int) -> None:
    """Property 1: within 1e-6 of central differences."""
    frames = {
        "ur5": lambda: (
            ur5().with_frame("a", "elbow_joint", placement(1)).with_frame("b", "wrist_3_joint", placement(2))
        ),
        "talos": lambda: talos().with_frame("a", "left_sole_link").with_frame("b", "gripper_right_base_link"),
    }[robot]
    check_jacobians_of(functools.cache(frames), count)


@draws(6, 30)
def test_jacobians_with_every_joint_type(count: int) -> None:
    """Property 1: within 1e-6 of central differences."""
    check_jacobians_of(mixed_frames, count)


def check_jacobians_of(robot: Callable[[], Robot], count: int) -> None:
    configurations = robot().random(np.random.default_rng(17), count)
    for name, factory in kinematic_samples(robot).items():
        f = factory()
        worst = max(jacobian_error(f, q) for q in configurations)
        assert worst <= 1e-6, f"{name}: {worst}"


@pytest.mark.parametrize("name", SAMPLES)
def test_kinematic_functions_have_a_formula_for_their_drift(name: str) -> None:
    f = sample(name)
    if isinstance(f, KINEMATIC):
        assert f.has_exact_drift
        assert f.periodic.all()


@pytest.mark.parametrize("name", [f"{kind} ({robot})" for robot in ROBOTS for kind in ("Transformation", "Pose")])
def test_default_drift_agrees_with_the_formula(name: str) -> None:
    """At any speed."""
    f, rng = sample(name), np.random.default_rng(5)
    for speed in (1e-3, 1.0, 1.0, 1.0, 1e3):
        q, v = f.robot.random(rng), speed * rng.standard_normal(f.inputs.nv)  # pyright: ignore[reportAttributeAccessIssue]
        motion = place_motion(f.inputs, q, v, Workspace())
        own, default = np.zeros(f.outputs.nv), np.zeros(f.outputs.nv)
        f.drift(motion, own)
        Function.drift(f, motion, default)
        np.testing.assert_allclose(default, own, rtol=0, atol=2e-8 * np.abs(own).max())
        Function.drift(f, place_motion(f.inputs, q, 0.0 * v, Workspace()), default)
        assert not default.any()


# --- values ----------------------------------------------------------------------------------------------------------


class Plain:
    """Placements by pinocchio alone."""

    def __init__(self, robot: Robot, q: np.ndarray) -> None:
        self.robot, self.model, self.data = robot, robot.model, robot.model.createData()
        pin.forwardKinematics(self.model, self.data, q)

    def __call__(self, name: str) -> Any:
        frame = self.robot.frame(name)
        return self.data.oMi[frame.joint] * frame.placement

    def com(self, joints: list[int] | None = None) -> Any:
        """Mass-weighted sum over the bodies of some joints; all of them, the universe not, by default."""
        bodies = range(1, self.model.njoints) if joints is None else joints
        inertias = [self.model.inertias[j] for j in bodies]
        total = sum(inertia.mass for inertia in inertias)
        return sum(i.mass * self.data.oMi[j].act(i.lever) for j, i in zip(bodies, inertias, strict=True)) / total


def rotation_vector(M: Any) -> np.ndarray:
    return pin.log3(M.rotation)


def numbers(M: Any) -> np.ndarray:
    return pin.SE3ToXYZQUAT(M)


EXPECTED: dict[str, Callable[[Any], np.ndarray]] = {
    "Position": lambda o: o("b").translation,
    "Position, reference": lambda o: (placement(20).inverse() * o("b")).translation,
    "Position, relative": lambda o: o("a").rotation.T @ (o("b").translation - o("a").translation),
    "Orientation": lambda o: rotation_vector(o("b")),
    "Orientation, reference": lambda o: rotation_vector(placement(21).inverse() * o("b")),
    "Orientation, relative": lambda o: pin.log3(o("a").rotation.T @ o("b").rotation),
    "Transformation": lambda o: np.r_[o("b").translation, rotation_vector(o("b"))],
    "Transformation, reference": lambda o: np.r_[
        (placement(22).inverse() * o("b")).translation, rotation_vector(placement(22).inverse() * o("b"))
    ],
    "Transformation, relative": lambda o: np.r_[
        (o("a").inverse() * o("b")).translation, rotation_vector(o("a").inverse() * o("b"))
    ],
    "Rotation": lambda o: numbers(o("b"))[3:],
    "Rotation, reference": lambda o: numbers(placement(23).inverse() * o("b"))[3:],
    "Rotation, relative": lambda o: numbers(o("a").inverse() * o("b"))[3:],
    "Pose": lambda o: numbers(o("b")),
    "Pose, reference": lambda o: numbers(placement(24).inverse() * o("b")),
    "Pose, R3xSO3": lambda o: numbers(placement(25).inverse() * o("b")),
    "Pose, relative": lambda o: numbers(o("a").inverse() * o("b")),
    "Pose, relative, R3xSO3": lambda o: numbers(o("a").inverse() * o("b")),
    "CenterOfMass": lambda o: o.com(),
    "CenterOfMass, relative": lambda o: o("b").actInv(o.com()) - [0.1, -0.2, 0.3],
    "ComBetweenFeet": lambda o: between_feet(o.com(), o("a"), o("b"), o("b")),
    "DistanceBetween": lambda o: np.array([np.linalg.norm(o("a").translation - o("b").translation)]),
    "DistanceBetween, reference": lambda o: np.array([np.linalg.norm(placement(26).translation - o("b").translation)]),
}


def between_feet(c: np.ndarray, left: Any, right: Any, reference: Any) -> np.ndarray:
    xL, xR = left.translation, right.translation
    u = xR - xL
    offset = reference.rotation.T @ np.cross(c - (xL + xR) / 2, u)
    return np.array([c[2] - reference.translation[2], offset[2], (c - xL) @ u, (c - xR) @ u])


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("kind", EXPECTED)
def test_value_against_plain_pinocchio(kind: str, robot: str) -> None:
    f = sample(f"{kind} ({robot})")
    for q in ROBOTS[robot]().random(np.random.default_rng(2), 10):
        expected = EXPECTED[kind](Plain(ROBOTS[robot](), q))
        apart = f.outputs.difference(expected, f.value(q))
        np.testing.assert_allclose(apart, 0.0, rtol=0, atol=1e-12 * (1.0 + np.abs(expected).max()))


def test_every_kinematic_sample_has_a_formula_here() -> None:
    assert set(EXPECTED) == set(kinematic_samples(arm_frames))


@pytest.mark.parametrize("robot", ROBOTS)
def test_center_of_mass_of_joints_and_sub_trees_is_the_mass_weighted_sum(robot: str) -> None:
    """Property 24: a body subset as an option."""
    r, rng = ROBOTS[robot](), np.random.default_rng(9)
    massive = [j for j in range(1, r.model.njoints) if r.model.inertias[j].mass > 0]
    for _ in range(5):
        q = r.random(rng)
        o = Plain(r, q)
        joints = sorted(rng.choice(massive, size=min(3, len(massive)), replace=False).tolist())
        f = CenterOfMass(r, [r.joint_names[j - 1] for j in joints])
        np.testing.assert_allclose(f.value(q), o.com(joints), rtol=0, atol=1e-12)
        roots = [int(j) for j in rng.choice(massive, size=2, replace=False)]
        below = [j for j in massive if any(root in list(r.model.supports[j]) for root in roots)]
        g = CenterOfMass(r, subtrees=[r.joint_names[j - 1] for j in roots], reference="a")
        np.testing.assert_allclose(g.value(q), o("a").actInv(o.com(below)), rtol=0, atol=1e-12)
        whole = CenterOfMass(r, subtrees=["universe"])
        np.testing.assert_array_equal(whole.value(q), CenterOfMass(r).value(q))


def _package(path: str) -> Callable[[], Robot]:
    return lambda: Robot.from_urdf(f"package://example-robot-data/robots/{path}", base=Base.FREE_FLYER)


REAL_ROBOTS: dict[str, Callable[[], Robot]] = {
    "ur5": ur5,
    "panda": panda,
    "pr2": pr2,
    "talos": talos,
    "romeo": _package("romeo_description/urdf/romeo_small.urdf"),
    "solo12": _package("solo_description/robots/solo12.urdf"),
    "tiago": _package("tiago_description/robots/tiago.urdf"),
    "simple humanoid": _package("simple_humanoid_description/urdf/simple_humanoid.urdf"),
    "anymal": _package("anymal_b_simple_description/robots/anymal.urdf"),
}


@needs_robot_data
@pytest.mark.parametrize("name", REAL_ROBOTS)
def test_center_of_mass_of_real_robots_is_that_of_pinocchio(name: str) -> None:
    """Property 24: the centre of mass equals pinocchio's total one to 1e-12 on every example robot."""
    robot = REAL_ROBOTS[name]()
    f, data = CenterOfMass(robot), robot.model.createData()
    for q in robot.random(np.random.default_rng(4), 10):
        np.testing.assert_allclose(f.value(q), pin.centerOfMass(robot.model, data, q), rtol=0, atol=1e-12)
        expected = pin.jacobianCenterOfMass(robot.model, data, q)
        np.testing.assert_allclose(f.jacobian(q), expected, rtol=0, atol=1e-12)


# --- the bad places --------------------------------------------------------------------------------------------------


def log_jacobian(r: np.ndarray) -> np.ndarray:
    """I + [r]/2 + c [r]^2, with c = (1 - (t/2) cot(t/2)) / t^2 in 50 digits: exact on the whole of [0, pi)."""
    with mp.workdps(50):
        t = mp.sqrt(sum(mpf(float(x)) ** 2 for x in r))
        c = float((1 - t / 2 * mp.cot(t / 2)) / t**2) if float(t) > 1e-20 else 1 / 12
    S = pin.skew(r)
    return np.eye(3) + S / 2 + c * S @ S


def cases(angle: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Configurations of the arm, and rotation vectors of that angle."""
    rng = np.random.default_rng(8)
    found = []
    for q in arm_frames().random(rng, 6):
        axis = rng.standard_normal(3)
        found.append((q, angle * axis / np.linalg.norm(axis)))
    return [*found, (found[0][0], np.array([0.0, 0.0, angle])), (found[1][0], np.array([0.0, -angle, 0.0]))]


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize(
    ("kind", "seen_from"),
    [(kind, place) for place in ("the world", "a frame") for kind in (Orientation, Transformation)],
    ids=["Orientation", "Transformation", "Orientation, relative", "Transformation, relative"],
)
def test_rotation_vectors_at_bad_angles(kind: Any, seen_from: str, angle: float) -> None:
    """Property 1: rotation errors at 0, 1e-12, 1e-9, 1e-8, 1e-4, pi - 1e-4 and pi - 1e-8.

    References are placed so that the rotation vector is known: then the value is r itself, and the Jacobian is
    Jlog(r) times the angular rows of the body Jacobian, which holds up to the cut; a central difference of step 1e-5
    says the same wherever it does not cross the cut.
    """
    robot, build = arm_frames(), kind
    for q, r in cases(angle):
        posture = robot.at(q)
        oMa, oMb = posture.placement(robot.frame("a")), posture.placement(robot.frame("b"))
        error = pin.exp3(r)
        if seen_from == "the world":
            f = build(robot, "b", pin.SE3(oMb.rotation @ error.T, np.zeros(3)))
            angular = posture.jacobian(robot.frame("b"))[3:]
        else:
            target = robot.frame("b", pin.SE3(oMb.rotation.T @ oMa.rotation @ error, np.array([0.1, 0.0, 0.2])))
            f = build(robot, target, reference="a")
            other = posture.jacobian(robot.frame("a"))[3:]
            angular = posture.jacobian(target)[3:] - error.T @ other
        value, jacobian = f.linearise(q)
        np.testing.assert_allclose(value[-3:], r, rtol=0, atol=1e-14)
        np.testing.assert_allclose(jacobian[-3:], log_jacobian(r) @ angular, rtol=0, atol=1e-13)
        if angle <= math.pi - 1e-4:
            assert jacobian_error(f, q) <= 1e-8


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("outputs", [SE3, R3xSO3, SO3], ids=str)
def test_errors_of_poses_at_bad_angles(outputs: Any, angle: float) -> None:
    """Property 1: the derivative of log(rhs^-1 f) at rotation errors of that angle, which is what a solver sees."""
    robot = arm_frames()
    for q, r in cases(angle):
        f = Rotation(robot, "b") if outputs == SO3 else Pose(robot, "b", outputs=outputs)
        linear = [] if outputs == SO3 else [0.3, -0.2, 0.1]
        value, J = f.linearise(q)
        wanted = np.r_[linear, r]
        rhs = outputs.integrate(value, np.zeros(outputs.nv))
        if outputs == R3xSO3:  # its exp does not mix translation and rotation
            rhs = np.r_[value[:3] - linear, SO3.compose(value[3:], SO3.exp(-r))]
        else:
            rhs = outputs.compose(value, outputs.inverse(outputs.exp(wanted)))
        e, jacobian = np.zeros(outputs.nv), J.copy()
        outputs.error(rhs, value, e, jacobian)
        np.testing.assert_allclose(e, wanted, rtol=0, atol=1e-14)
        np.testing.assert_allclose(jacobian[-3:], log_jacobian(r) @ J[-3:], rtol=0, atol=1e-14)
        if angle <= math.pi - 1e-4:
            differences = np.zeros_like(J)
            for i in range(7):
                step = 1e-5 * np.eye(7)[i]
                ahead, behind = (outputs.difference(rhs, f.value(q + sign * step)) for sign in (1, -1))
                differences[:, i] = (ahead - behind) / 2e-5
            np.testing.assert_allclose(jacobian, differences, rtol=0, atol=1e-8)


STRETCHED = [
    *((kind, "arm") for kind in EXPECTED if "Orientation" not in kind and "Transformation" not in kind),
    *((kind, "two arms") for kind in ("Pose, relative", "ComBetweenFeet", "CenterOfMass, relative")),
]


@pytest.mark.parametrize(("kind", "robot"), a_few(STRETCHED, 7, 2))
def test_jacobian_of_a_stretched_arm(kind: str, robot: str) -> None:
    """Property 1: at the singular zero posture, and where only the elbow is stretched."""
    f, r = sample(f"{kind} ({robot})"), ROBOTS[robot]()
    bent = r.neutral
    bent[0] = 0.4
    check_function(f, [r.neutral, bent])
    if kind == "Position":
        assert np.linalg.matrix_rank(Position(r, "tool").jacobian(r.neutral)) < 3


@pytest.mark.parametrize("robot", [humanoid_frames, mixed_frames, arm_frames])
def test_com_between_coincident_feet(robot: Callable[[], Robot], caplog: pytest.LogCaptureFixture) -> None:
    """Property 1: both feet at one place: u = 0, the three rows that hold it vanish, and their Jacobian stays right.

    It is asked about.
    """
    r = robot()
    ComBetweenFeet(r, "a", "b", "b")
    assert not caplog.messages
    f = ComBetweenFeet(r, "a", "a", "b")
    said = "left and right of ComBetweenFeet are 'a' twice: rows 1, 2 and 3 are zero everywhere: is it meant?"
    assert caplog.messages == [said]
    check_function(f, samples=8)
    value, jacobian = f.linearise(r.random(np.random.default_rng(1)))
    np.testing.assert_array_equal(value[1:], 0.0)
    np.testing.assert_allclose(jacobian[1:], 0.0, rtol=0, atol=1e-14)
    # Two frames whose origins coincide, and only the origins.
    turned = r.frame("a", pin.SE3(pin.utils.rotate("x", 0.7), np.zeros(3)))
    np.testing.assert_allclose(ComBetweenFeet(r, "a", turned, "b").value(r.neutral)[1:], 0.0, rtol=0, atol=1e-14)


@pytest.mark.parametrize("robot", [humanoid_frames, mixed_frames, arm_frames])
def test_pose_of_a_frame_relative_to_itself_or_to_its_own_joint(robot: Callable[[], Robot]) -> None:
    """Property 1: identity, with no columns; a constant for another frame on the same joint."""
    r = robot()
    other = r.frame("b", placement(40))
    for q in r.random(np.random.default_rng(1), 5):
        for f, expected in (
            (Pose(r, "b", reference="b"), SE3.neutral),
            (Pose(r, other, reference="b"), numbers(placement(40))),
            (Transformation(r, "b", reference="b"), np.zeros(6)),
        ):
            assert not f.columns.any()
            np.testing.assert_array_equal(f.jacobian(q), 0.0)
            np.testing.assert_allclose(f.outputs.difference(expected, f.value(q)), 0.0, rtol=0, atol=2e-15)


def test_distance_of_coincident_points_is_refused() -> None:
    f = DistanceBetween(arm_frames(), "b", arm_frames().frame("b", pin.SE3(pin.utils.rotate("y", 1.0), np.zeros(3))))
    with pytest.raises(UndefinedError, match=r"DistanceBetween\(b, reference=b\): the origins coincide"):
        f.value(arm_frames().neutral)


@pytest.mark.parametrize("kind", SEEN, ids=lambda kind: kind.__name__)
def test_a_frame_fixed_in_the_world_and_its_placement_are_one_reference(kind: Any) -> None:
    """Bit for bit: its name, the Frame, the placement; of the centre of mass too, and on a system of two robots."""
    M = placement(42)
    both = Robot.system([Part("one", arm_frames()), Part("two", arm_frames(), placement=M)])
    for r, b in (
        (arm_frames().with_frame("post", "universe", M), "b"),
        (both.with_frame("post", "universe", M), "two/b"),
    ):
        functions = [kind(r, b, reference) for reference in ("post", r.frame("post"), M, pin.SE3ToXYZQUAT(M))]
        centers = [CenterOfMass(r, reference=reference) for reference in ("post", r.frame("post"), M)]
        rng = np.random.default_rng(8)
        for q in r.random(rng, 3):
            v = rng.standard_normal(r.nv)
            for f, *others in (functions, centers):
                for g in others[:2]:
                    assert g.name == f.name
                    assert g.value(q).tobytes() == f.value(q).tobytes()
                    assert g.jacobian(q).tobytes() == f.jacobian(q).tobytes()
                    assert g.drift_at(q, v).tobytes() == f.drift_at(q, v).tobytes()
            np.testing.assert_allclose(functions[3].jacobian(q), functions[0].jacobian(q), rtol=0, atol=1e-14)


def test_frames_of_the_world() -> None:
    """No joint at all: a pose fixed in the world, and the world seen from a moving frame."""
    r = humanoid_frames()
    fixed = Pose(r, Frame("post", 0, placement(41)))
    assert not fixed.columns.any()
    np.testing.assert_allclose(fixed.value(r.neutral), numbers(placement(41)), rtol=0, atol=1e-15)
    seen = Pose(r, "universe", reference="b")
    q = r.random(np.random.default_rng(3))
    np.testing.assert_allclose(seen.value(q), SE3.inverse(Pose(r, "b").value(q)), rtol=0, atol=1e-14)


# --- which joints matter ---------------------------------------------------------------------------------------------


def chain(robot: Robot, name: str) -> set[int]:
    joint, found = robot.frame(name).joint, set[int]()
    while joint:
        model = robot.model.joints[joint]
        found |= set(range(model.idx_v, model.idx_v + model.nv))
        joint = robot.model.parents[joint]
    return found


PAIRS = [
    (arm_frames, "a", "b"),
    (two_arms_frames, "a", "b"),
    (two_arms_frames, "c", "b"),
    (humanoid_frames, "a", "b"),
    (humanoid_frames, "b", "c"),
    (mixed_frames, "a", "b"),
    (mixed_frames, "b", "c"),
]


@pytest.mark.parametrize("kind", [*SEEN, DistanceBetween], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("robot", "a", "b"), PAIRS)
def test_relative_functions_depend_on_the_joints_between_the_frames(kind: Any, robot: Any, a: str, b: str) -> None:
    """Property 1: the declared columns are those of the joints on exactly one of the two chains; zeros are exact."""
    r = robot()
    f = kind(r, b, reference=a)
    between = chain(r, a) ^ chain(r, b)
    assert set(np.flatnonzero(f.columns).tolist()) == between
    outside = sorted(set(range(r.nv)) - between)
    for q in r.random(np.random.default_rng(6), 5):
        np.testing.assert_array_equal(f.jacobian(q)[:, outside], 0.0)


@pytest.mark.parametrize("kind", [*SEEN, DistanceBetween, CenterOfMass], ids=lambda kind: kind.__name__)
def test_relative_functions_do_not_see_where_the_robot_stands(kind: Any) -> None:
    """Property 1: moving the free-flyer leaves value and other columns; its own columns are exactly zero."""
    r, rng = humanoid_frames(), np.random.default_rng(7)
    f = kind(r, reference="a") if kind is CenterOfMass else kind(r, "b", reference="a")
    for q in r.random(rng, 5):
        moved = q.copy()
        moved[:7] = SE3.random(rng, np.full(7, -2.0), np.full(7, 2.0))
        (before, J), (after, K) = f.linearise(q), f.linearise(moved)
        np.testing.assert_allclose(f.outputs.difference(before, after), 0.0, rtol=0, atol=1e-13)
        np.testing.assert_allclose(K, J, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(J[:, :6], 0.0)


def test_center_of_mass_depends_on_what_carries_mass() -> None:
    """Property 1: joints that move none of the bodies, or frame and bodies alike, have no columns."""
    r = two_arms_frames()
    left = [name for name in r.joint_names if name.startswith("left")]
    assert set(np.flatnonzero(CenterOfMass(r, left).columns)) == set(range(8))
    seen = CenterOfMass(r, joints=left, reference="c")
    assert set(np.flatnonzero(seen.columns)) == set(range(1, 8))
    own = CenterOfMass(r, joints=["left_elbow"], reference="left_elbow")
    assert not own.columns.any()
    feet = ComBetweenFeet(r, "left_elbow", "left_tool", "left_tool", joints=["torso"])
    assert set(np.flatnonzero(feet.columns)) == set(range(8))


@pytest.mark.parametrize("name", [n for n in SAMPLES if n.endswith("(humanoid)")])
def test_a_quaternion_and_its_opposite_are_one_configuration(name: str) -> None:
    """Property 2: q and -q of the free-flyer give equal values and Jacobians."""
    f = sample(name)
    for q in humanoid().random(np.random.default_rng(10), 5):
        opposite = q.copy()
        opposite[3:7] *= -1.0
        (value, J), (other, K) = f.linearise(q), f.linearise(opposite)
        np.testing.assert_allclose(f.outputs.difference(value, other), 0.0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(K, J, rtol=0, atol=1e-12)


# --- wrong input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "error", "said"),
    [
        (lambda: Pose(arm(), "tol"), UnknownFrameError, "tool"),
        (lambda: Pose(arm(), "elbw", reference="tool"), UnknownFrameError, "elbow"),
        (
            lambda: ComBetweenFeet(humanoid(), "rleg6_joint", "lleg6_jont", "root_joint"),
            UnknownFrameError,
            "lleg6_joint",
        ),
        (lambda: Pose(arm(), 3), WrongObjectError, "frame of Pose"),  # pyright: ignore[reportArgumentType]
        (lambda: Pose(arm().space, "tool"), WrongObjectError, "robot of Pose"),  # pyright: ignore[reportArgumentType]
        (lambda: CenterOfMass("arm"), WrongObjectError, "robot of CenterOfMass"),  # pyright: ignore[reportArgumentType]
        (
            lambda: Pose(arm(), "tool", outputs=SO2),
            WrongObjectError,
            "outputs of Pose: expected liegroups.SE3 or liegroups.R3xSO3",
        ),
        (lambda: Position(arm(), "tool", np.eye(5)), SizeError, "reference of Position"),
        (lambda: Position(arm(), "tool", np.full((4, 4), np.nan)), NotFiniteError, "reference of Position"),
        (lambda: CenterOfMass(arm(), ["elbo"]), UnknownJointError, "elbow"),
        (lambda: CenterOfMass(arm(), subtrees=["elbo"]), UnknownJointError, "elbow"),
        (lambda: CenterOfMass(arm(), "elbow"), WrongObjectError, "joints of CenterOfMass: expected a sequence"),
        (lambda: CenterOfMass(arm(), ["elbow"], ["elbow"]), OptionError, "joints or subtrees, not both"),
        (lambda: CenterOfMass(arm(), []), ModelError, "have no mass"),
        (lambda: CenterOfMass(arm(), reference=np.array([1.0, 2.0])), SizeError, "reference"),
        (lambda: Pose(arm(), "tool").value(np.zeros(6)), SizeError, r"argument of Pose\(tool\)"),
        (lambda: Pose(arm(), "tool").value(np.full(7, np.inf)), NotFiniteError, r"argument of Pose\(tool\)"),
    ],
)
def test_wrong_input_is_named(build: Callable[[], object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        build()


def test_a_kinematic_function_wants_a_posture() -> None:
    f = Pose(arm(), "tool")
    with pytest.raises(WrongObjectError, match="a Posture of its robot"):
        f.evaluate(place(Rn(7), np.zeros(7), Workspace()), np.zeros(7))
    with pytest.raises(WrongObjectError, match="a Motion of its robot"):
        f.drift(place_motion(Rn(7), np.zeros(7), np.zeros(7), Workspace()), np.zeros(6))


def test_names_say_which_frames() -> None:
    assert str(Pose(arm(), "tool")) == "Pose(tool)"
    assert str(Pose(two_arms(), "right_tool", reference="left_tool")) == "Pose(right_tool, reference=left_tool)"
    assert str(Pose(arm(), "tool", placement(1))) == "Pose(tool)"
    assert str(Pose(arm(), "tool", name="hand")) == "hand"
    assert str(CenterOfMass(arm(), reference="tool")) == "CenterOfMass(reference=tool)"
    assert repr(CenterOfMass(arm(), name="balance")).startswith("CenterOfMass('balance'")
    assert mixed_tree().nv == Position(mixed_tree(), "chain").columns.size
    turned = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    references = (
        (None, ""), ("elbow", ""), (np.eye(7)[6], ""),
        (turned + 0.25 * np.eye(7)[0], "seen from the placement [0.25, 0, 0, 0, 0, 1, 0] in the world"),
        (turned, "seen from the placement [0, 0, 0, 0, 0, 1, 0] in the world"),
    )  # fmt: skip
    for reference, words in references:
        f = Pose(arm(), "tool", reference=reference)
        assert f.seen_from == words
        assert f.parts == (f,)


def test_drift_error_sees_a_wrong_drift() -> None:
    f = Pose(arm(), "tool")
    q, v = arm().random(np.random.default_rng(0)), np.ones(7)
    own, differences = drift_error(f, q, v)
    np.testing.assert_allclose(own, differences, rtol=0, atol=1e-8)
    assert np.abs(own).max() > 1e-3

"""The projector: what it promises of solutions, failures, statuses and results. Residuals come from plain pinocchio."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from robots import arm, humanoid, needs_robot_data, panda, pr2, talos, two_arms, ur5

from constraints import (
    Affine,
    Base,
    Bounds,
    CenterOfMass,
    Comparison,
    Function,
    Implicit,
    Options,
    Pose,
    Position,
    Problem,
    Projection,
    Projector,
    Robot,
    Status,
    Transformation,
    project,
    rigid_transform,
)
from constraints.errors import ConstraintError, FailedError, OptionError, UndefinedError, UnknownOptionError
from constraints.functions import Identity
from liegroups import SE3, SO3, R3xSO3, Rn, Space

DATA = Path(__file__).parent.parent / "data"
HALF = 0.5  # of the threshold: where the solver stops


# Problems from stored data, and their residuals by pinocchio alone


@dataclass(frozen=True)
class Case:
    """A problem with starts, and its residual by plain pinocchio."""

    problem: Problem
    starts: np.ndarray
    residual: Callable[[np.ndarray], float]


def stored(name: str, robot: Robot, whole_mass: bool = False) -> tuple[Case, Any]:
    """A problem of the reference data, rebuilt from its description; with the true centre of mass if asked for."""
    data: Any = np.load(DATA / f"reference_{name}.npz")
    said = json.loads(str(data["problem"]))
    model: Any = robot.model
    names = [joint.partition("/")[2] for joint in said["joints"]]
    assert names[1:] == list(robot.joint_names)
    constraints: list[Implicit] = []
    checks: list[Callable[[Any], np.ndarray]] = []
    for c in said["constraints"]:
        frames = {key: c[key].partition("/")[2] for key in ("joint", "joint1", "joint2") if key in c}
        index = {key: names.index(value) for key, value in frames.items()}
        mask = np.array(c["mask"], dtype=bool)
        if c["kind"] == "transformation":
            constraints.append(Implicit(Transformation(robot, frames["joint2"], c["frame1_world"]), mask=mask))
            there = pin.XYZQUATToSE3(np.array(c["frame1_world"]))
            checks.append(lambda d, i=index["joint2"], M=there, m=mask: six(M.actInv(d.oMi[i]))[m])
        elif c["kind"] == "relative_transformation":
            frame = robot.frame(frames["joint1"], c["frame1"])
            constraints.append(Implicit(Transformation(robot, frames["joint2"], reference=frame), mask=mask))
            inner = pin.XYZQUATToSE3(np.array(c["frame1"]))
            checks.append(
                lambda d, i=index["joint1"], j=index["joint2"], M=inner, m=mask: six((d.oMi[i] * M).actInv(d.oMi[j]))[m]
            )
        else:
            first, last = (1, len(names) - 1) if whole_mass else c["com_joints"]
            reference = np.array(c["reference"])
            if whole_mass:
                q = np.array(said["qref"])
                reference = CenterOfMass(robot, reference=frames["joint"]).value(q)
            joints = None if whole_mass else names[first : last + 1]
            f = CenterOfMass(robot, joints=joints, reference=robot.frame(frames["joint"], rigid_transform(reference)))
            constraints.append(Implicit(f, mask=mask))
            checks.append(
                lambda d, i=index["joint"], r=reference, m=mask, a=first, b=last: (
                    d.oMi[i].actInv(center(model, d, a, b)) - r
                )[m]
            )
    spare = model.createData()

    def residual(q: np.ndarray) -> float:
        pin.forwardKinematics(model, spare, q)
        return max(float(np.linalg.norm(check(spare))) for check in checks)

    bounds = Bounds(robot.space, np.array(said["lower"]), np.array(said["upper"]))
    return Case(Problem(robot, constraints, bounds), data["q0"], residual), data


def six(M: Any) -> np.ndarray:
    """Translation and rotation vector of a placement."""
    return np.r_[M.translation, pin.log3(M.rotation)]


def center(model: Any, data: Any, first: int, last: int) -> np.ndarray:
    """Centre of mass of the bodies of joints first..last, in the world."""
    masses = [model.inertias[j].mass for j in range(first, last + 1)]
    places = [data.oMi[j].act(model.inertias[j].lever) for j in range(first, last + 1)]
    return np.average(places, axis=0, weights=masses)


STORED = [("ur5_pose", ur5), ("panda_pose", panda), ("pr2_dual", pr2), ("talos_stance_near", talos)]


@needs_robot_data
@pytest.mark.parametrize(("name", "robot"), STORED, ids=[name for name, _ in STORED])
def test_residuals_agree_with_hpp(name, robot):
    """Property 24, for what exists: on the configurations hpp-constraints has projected, residuals agree with its
    errors to 1e-9 and with plain pinocchio, and what it calls satisfied is."""
    case, data = stored(name, robot())
    for q, error, success in zip(data["q"], data["error"], data["success"], strict=True):
        mine = case.problem.residual(q)
        assert mine == pytest.approx(case.residual(q), abs=1e-12)
        if success:
            assert mine == pytest.approx(float(error), abs=1e-9)
            assert all(case.problem.is_satisfied(q, constraint) for constraint in case.problem.constraints)


@needs_robot_data
@pytest.mark.parametrize(("name", "robot"), STORED, ids=[name for name, _ in STORED])
def test_successes_are_checked_by_pinocchio(name, robot):
    """Property 12: 100 % of reported successes have a residual of at most the threshold by plain pinocchio, are
    within bounds, and are satisfied when asked again; P(P(q)) is P(q) bit for bit, with 0 iterations."""
    case, _ = stored(name, robot())
    projector, successes = Projector(case.problem), 0
    for start in case.starts:
        result = projector.project(start)
        assert result.residual == pytest.approx(case.residual(result.q), abs=1e-12)
        if not result.success:
            assert result.residual > 1e-4 or result.status is Status.OUT_OF_BOUNDS
            continue
        successes += 1
        assert case.residual(result.q) <= 1e-4
        assert case.problem.bounds.contains(result.q)
        check_idempotent(projector, result)
    assert successes >= {"panda_pose": 0.94, "talos_stance_near": 1.0}.get(name, 0.99) * len(case.starts)


def check_idempotent(projector: Projector, result: Projection) -> None:
    """The solution is satisfied, and projected onto itself, bit for bit."""
    assert projector.is_satisfied(result.q, rhs=result.rhs)
    again = projector.project(result.q, result.rhs)
    assert again.q.tobytes() == result.q.tobytes()
    assert (again.status, again.iterations, again.restarts) == (Status.CONVERGED, 0, 0)
    third = projector.project(again.q, result.rhs)
    assert third.q.tobytes() == result.q.tobytes()


def sample_cases() -> list[tuple[str, Problem]]:
    """Problems that need no file: robots of every shape, products, and spaces without a robot."""
    one, two, man, rng = arm(), two_arms(), humanoid(), np.random.default_rng(70)
    goal = Pose(one, "tool").value(one.reference("home"))
    grip = Pose(two, "right_tool", reference="left_tool")
    feet = [Pose(man, f"{side}leg6_joint", outputs=R3xSO3) for side in "lr"]
    stand = man.neutral
    sphere = Function.from_callable(lambda q: q @ q - 2.0, Rn(4), Rn(1), lambda q: 2.0 * q, name="sphere")
    row = np.zeros((1, 9))
    row[0, [0, 7, 8]] = 1.0, -1.0, 2.0
    wide = one.space * Rn(2)
    return [
        ("arm pose SE3", Problem(one, [Implicit.equal(Pose(one, "tool"), goal)])),
        ("arm pose R3xSO3", Problem(one, [Implicit.equal(Pose(one, "tool", outputs=R3xSO3), goal)])),
        ("two arms", Problem(two, [Implicit.equal(grip, grip.value(two.reference("home")))])),
        (
            "humanoid",
            Problem(
                man,
                [*(Implicit.equal(f, f.value(stand)) for f in feet), Implicit.equal(CenterOfMass(man), mask=[1, 1, 0])],
            ),
        ),
        ("heights", Problem(one, [Implicit(Position(one, "tool"), [None, None, Comparison.SUPERIOR], margin=0.5)])),
        ("product", Problem(wide, [Implicit.equal(Pose(one, "tool"), goal), Implicit.zero(Affine(row, None, wide))])),
        ("vector", Problem(Rn(4), [Implicit.zero(sphere)])),
        ("rotation", Problem(SO3, [Implicit.equal(Identity(SO3), SO3.random(rng))])),
        ("mixed", Problem(SE3 * Rn(2), [Implicit.equal(Identity(SE3 * Rn(2)), (SE3 * Rn(2)).random(rng))])),
    ]


@pytest.mark.parametrize(("name", "problem"), sample_cases(), ids=[name for name, _ in sample_cases()])
def test_projection_is_idempotent(name, problem):
    """Property 12: P(P(q)) is P(q) bit for bit with 0 iterations; 19: the residual is that of q, after restarts too."""
    rng, projector, successes = np.random.default_rng(71), Projector(problem), 0
    for _ in range(30):
        start = problem.robot.random(rng) if problem.robot else problem.space.random(rng)
        result = projector.project(start)
        assert result.success == projector.is_satisfied(result.q)
        assert result.residual == pytest.approx(problem.residual(result.q), abs=1e-12)
        if result.success:
            successes += 1
            assert result.residual <= 1e-4
            check_idempotent(projector, result)
    assert successes >= 20, f"too few successes on '{name}' to say anything: {successes} of 30"


def test_satisfied_starts_come_back_unchanged():
    """DESIGN 3.2: a start that satisfies everything to the full threshold comes back bit for bit, as another array;
    one just outside is moved."""
    projector = Projector(Problem(Rn(3), [Implicit.zero(Identity(Rn(3)))]))
    for size, moves in ((0.0, False), (0.7e-4, False), (0.999e-4, False), (1.001e-4, True), (3.0, True)):
        start = np.array([size, -0.0, 0.0])
        result = projector.project(start)
        assert result.success
        assert (result.iterations > 0) == moves
        assert (result.q.tobytes() == start.tobytes()) == (not moves)
        assert result.residual <= (HALF * 1e-4 if moves else 1e-4)
        kept = result.q.tobytes()
        start[:] = 9.0  # the result owns its memory, and the caller's array stays writable
        assert result.q.tobytes() == kept


# Thresholds


def free_body() -> Case:
    """The pose of a free body."""
    target = SE3.random(np.random.default_rng(72))
    robot = Robot.from_urdf("<robot name='b'><link name='body'/></robot>", base=Base.FREE_FLYER)
    problem = Problem(robot, [Implicit.equal(Pose(robot, "body"), target)])
    starts = np.stack([SE3.random(np.random.default_rng([72, i])) for i in range(200)])
    there = pin.XYZQUATToSE3(target)
    return Case(problem, starts, lambda q: float(np.linalg.norm(pin.log6(there.actInv(pin.XYZQUATToSE3(q))).vector)))


def on_two_feet(whole_mass: bool) -> Case:
    """Talos on two feet with its centre of mass, starts near, 100 of them."""
    return stored("talos_stance_near", talos(), whole_mass)[0]


@pytest.mark.parametrize("threshold", [1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(free_body, id="free body"),
        pytest.param(partial(on_two_feet, False), id="some bodies", marks=needs_robot_data),
        pytest.param(partial(on_two_feet, True), id="all bodies", marks=needs_robot_data),
    ],
)
def test_tight_thresholds(make, threshold):
    """Property 13: 1e-6, 1e-8 and 1e-10 are reached from at least 99 % of the starts."""
    case = make()
    projector = Projector(case.problem, Options(threshold=threshold))
    results = [projector.project(start) for start in case.starts]
    assert np.mean([result.success for result in results]) >= 0.99
    for result in results:
        if result.success:
            assert case.residual(result.q) <= threshold
            check_idempotent(projector, result)


# Singular and unreachable


@needs_robot_data
def test_singular_zero_posture_of_ur5():
    """Property 15: from the singular zero posture UR5 reaches its target within bounds, and no joint runs away."""
    case, _ = stored("ur5_pose", ur5())
    for options in (Options(trace=True), Options(restarts=False, trace=True), Options.local(trace=True)):
        result = Projector(case.problem, options).project(np.zeros(6))
        assert result.success
        assert case.problem.bounds.contains(result.q)
        assert result.trace is not None
        moves = [
            np.abs(b.q - a.q).max() for a, b in zip(result.trace, result.trace[1:], strict=False) if not b.restarted
        ]
        assert max(moves) <= 1.5 + 1e-12
        assert np.abs(result.q).max() <= np.pi


def test_unreachable_target():
    """Property 15: 3 m away, the iterate of least residual within bounds is returned with a status that says why; the
    tool is near the closest point of its reach."""
    robot, rng = arm(), np.random.default_rng(73)
    target = np.array([3.0, 0.0, 0.33])
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), target)])
    for options, ratio in (
        (Options(trace=True), 1.05),
        (Options(trace=True, restarts=False), 1.15),
        (Options(trace=True, max_iterations=200), 1.05),
    ):
        residuals: list[float] = []
        for _ in range(40):
            result = Projector(problem, options).project(robot.random(rng))
            assert not result.success
            assert result.status in (Status.STATIONARY, Status.STALLED, Status.MAX_ITERATIONS)
            assert robot.bounds.contains(result.q)
            assert result.trace is not None
            assert result.residual == min(step.residual for step in result.trace)
            best = min(result.trace, key=lambda step: step.residual)
            assert best.q.tobytes() == result.q.tobytes()
            residuals.append(result.residual)
        assert 2.0 <= np.median(residuals) < 2.0 * ratio  # 1 m of reach about a shoulder at height 0.33


def test_statuses_are_told_apart():
    """Property 15, DESIGN 3.8: a local minimum is STATIONARY, a spent budget MAX_ITERATIONS, lost progress STALLED."""
    f = Function.from_callable(lambda q: q @ q + 1.0, Rn(2), Rn(1), lambda q: 2.0 * q, name="bowl")
    minimum = Projector(Problem(Rn(2), [Implicit.zero(f)]), Options(restarts=False)).project([1e-3, 0.0])
    assert minimum.status is Status.STATIONARY
    robot = arm()
    goal = Pose(robot, "tool").value(robot.reference("home"))
    pose = Problem(robot, [Implicit.equal(Pose(robot, "tool"), goal)])
    budget = Projector(pose, Options(max_iterations=1, restarts=False)).project(robot.neutral)
    assert budget.status is Status.MAX_ITERATIONS
    assert budget.iterations == 1
    nothing = Projector(pose, Options(max_iterations=0)).project(robot.neutral)
    assert (nothing.status, nothing.iterations) == (Status.MAX_ITERATIONS, 0)
    assert nothing.q.tobytes() == robot.neutral.tobytes()
    kinked = Function.from_callable(
        lambda q: [1.0 + np.abs(q[0])], Rn(1), Rn(1), lambda q: [[1.0 if q[0] >= 0.0 else -1.0]], name="roof"
    )
    stalled = Projector(Problem(Rn(1), [Implicit.zero(kinked)]), Options(restarts=False)).project([0.3])
    assert stalled.status is Status.STALLED
    for status in Status:
        assert status.value.endswith(".")
        assert str(status).startswith(status.name)


# Redundant and inconsistent rows


def test_duplicated_constraints_do_no_harm():
    """DESIGN 3.6: the same six rows twice converge as once."""
    robot, rng = arm(), np.random.default_rng(74)
    goal = Pose(robot, "tool").value(robot.reference("home"))
    for n in (1, 2, 3):
        problem = Problem(robot, [Implicit.equal(Pose(robot, "tool"), goal) for _ in range(n)])
        results = [Projector(problem).project(robot.random(rng)) for _ in range(40)]
        assert sum(result.success for result in results) >= 39


def test_contradicting_constraints_end_in_the_middle():
    """DESIGN 3.6, recipe: two positions 0.1 m apart end halfway, each 0.05 m off, with a status that says so."""
    robot, rng = arm(), np.random.default_rng(75)
    goal = Position(robot, "tool").value(robot.reference("home"))
    problem = Problem(
        robot, [Implicit.equal(Position(robot, "tool"), goal + s * np.array([0.05, 0.0, 0.0])) for s in (1.0, -1.0)]
    )
    for restarts in (True, False):
        for _ in range(10):
            start = robot.space.integrate(robot.reference("home"), rng.uniform(-0.2, 0.2, 7))
            result = Projector(problem, Options(restarts=restarts)).project(start)
            assert result.status in (Status.STATIONARY, Status.STALLED)
            assert not result.success
            assert result.residual == pytest.approx(0.05, rel=0.02)
            np.testing.assert_allclose(Position(robot, "tool").value(result.q), goal, rtol=0, atol=2e-3)


# Inequalities with a margin


@pytest.mark.parametrize("comparison", [Comparison.SUPERIOR, Comparison.INFERIOR])
@pytest.mark.parametrize(
    ("make", "frame", "z"),
    [(arm, "tool", 0.55), (arm, "elbow", 0.55), pytest.param(ur5, "wrist_3_joint", 0.2, marks=needs_robot_data)],
)
def test_margins_end_on_the_right_side(make, frame, z, comparison):
    """Property 5: with a margin of the threshold the height is on the right side of zero in 100 % of 200 starts."""
    robot, rng, moved = make(), np.random.default_rng(76), 0
    model, f = robot.model, Position(robot, frame, np.array([0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0]))
    projector = Projector(Problem(robot, [Implicit(f, comparison, mask=[0, 0, 1], margin=1e-4)]))
    data, where = model.createData(), robot.frame(frame)
    for _ in range(200):
        result = projector.project(robot.random(rng))
        assert result.success
        pin.forwardKinematics(model, data, result.q)
        height = (data.oMi[where.joint] * where.placement).translation[2] - z
        assert height > 0.0 if comparison is Comparison.SUPERIOR else height < 0.0
        moved += result.iterations > 0
    assert moved > 20


# Determinism, and values


def test_the_same_start_gives_the_same_bytes():
    """DESIGN 3.12: a fresh projector, another order of calls, a used workspace: the same bits, status and counts."""
    robot, rng = arm(), np.random.default_rng(77)
    goal = Pose(robot, "tool").value(robot.reference("home"))
    problem = Problem(robot, [Implicit.equal(Pose(robot, "tool"), goal)])
    starts = robot.random(rng, 40)
    used = Projector(problem)
    first = [used.project(q) for q in starts]
    assert sum(result.restarts > 0 for result in first) > 3  # the sequence of restarts is among what is compared
    orders = [range(40), reversed(range(40)), rng.permutation(40).tolist()]
    for order, projector in zip(
        orders, (used, Projector(problem), Projector(Problem(robot, problem.constraints.owners))), strict=True
    ):
        for i in order:
            again = projector.project(starts[i])
            assert again.q.tobytes() == first[i].q.tobytes()
            assert (again.status, again.iterations, again.restarts) == (
                first[i].status,
                first[i].iterations,
                first[i].restarts,
            )
            assert again.residual == first[i].residual
    seeded = [Projector(problem, Options(seed=1)).project(q) for q in starts]
    assert any(a.q.tobytes() != b.q.tobytes() for a, b in zip(seeded, first, strict=True))


def test_inputs_are_never_changed():
    """DESIGN 2, value in, value out: the start and the right-hand side keep their bytes and flags; results are
    read-only and stay as they are."""
    robot, rng = arm(), np.random.default_rng(78)
    projector = Projector(Problem(robot, [Implicit.equal(Position(robot, "tool"))]), Options(trace=True))
    start, rhs = robot.random(rng), np.array([0.4, 0.1, 0.6])
    before = start.tobytes(), rhs.tobytes()
    result = projector.project(start, rhs)
    assert result.trace is not None
    assert before == (start.tobytes(), rhs.tobytes())
    assert start.flags.writeable
    assert rhs.flags.writeable
    assert not result.q.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        result.q[0] = 1.0
    kept = result.q.tobytes()
    for _ in range(5):
        projector.project(robot.random(rng))
    start[:] = 9.0
    assert result.q.tobytes() == kept
    assert result.trace[0].q.tobytes() == before[0]
    assert not any(step.q.flags.writeable for step in result.trace)
    frozen = start.copy() * 0.0
    frozen.flags.writeable = False
    assert projector.project(frozen, rhs).q is not frozen
    assert projector.project(frozen.tolist(), rhs).q.tobytes() == projector.project(frozen, rhs).q.tobytes()


def test_projections_pickle_and_copy():
    """Property 21: results pickle and deepcopy with the same bits, and answer the same."""
    robot = two_arms()
    grip = Pose(robot, "right_tool", reference="left_tool")
    result = project(
        robot, [Implicit.equal(grip, grip.value(robot.reference("home")))], robot.neutral, Options(trace=True)
    )
    again: Any
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert again.q.tobytes() == result.q.tobytes()
        assert again.status is result.status
        assert again.error().tobytes() == result.error().tobytes()
        assert len(again.trace) == len(result.trace or ())


# Diagnostics


def test_diagnostics_of_a_result():
    """Property 19: status, iterations, errors by constraint, singular values by level, active bounds, time, words."""
    robot, start = arm(), arm().random(np.random.default_rng(79))
    tool, elbow = (
        Implicit.equal(Position(robot, "tool"), [5.0, 0.0, 0.0], name="far"),
        Implicit.zero(Position(robot, "elbow"), mask=[1, 1, 0], name="elbow"),
    )
    result = project(robot, [tool, elbow], start, Options(restarts=False, trace=True))
    assert not result.success
    expected = Position(robot, "tool").value(result.q) - [5.0, 0.0, 0.0]
    for which in (tool, "far", 0, -2):
        np.testing.assert_allclose(result.error(which), expected, rtol=0, atol=1e-14)
    assert result.error("elbow").shape == (2,)
    assert result.error().shape == (5,)
    assert result.residual == pytest.approx(max(np.linalg.norm(result.error(0)), np.linalg.norm(result.error(1))))
    J = np.vstack([Position(robot, "tool").jacobian(result.q), Position(robot, "elbow").jacobian(result.q)[:2]])
    (values,) = result.singular_values()
    np.testing.assert_allclose(values, np.linalg.svd(J, compute_uv=False), rtol=1e-10, atol=1e-12)
    assert np.all(np.diff(values) <= 0.0)
    lower, upper = robot.bounds.lower, robot.bounds.upper
    expected_words = [
        f"{name} at its {side} bound"
        for i, name in enumerate(robot.joint_names)
        for side, reached in (("lower", result.q[i] <= lower[i]), ("upper", result.q[i] >= upper[i]))
        if reached
    ]
    assert list(result.active_bounds) == expected_words
    assert 0.0 < result.seconds < 10.0
    text = result.describe()
    for words in ("far", "elbow", result.status.name, f"{result.iterations} of 400 iterations", *expected_words):
        assert words in text
    with pytest.raises(FailedError, match=result.status.name) as caught:
        result.or_raise()
    assert caught.value.result is result
    assert isinstance(caught.value, ConstraintError)


def test_singular_values_forget_the_past():
    """Property 19: singular values are of the configuration alone, whatever was projected before."""
    robot, rng = arm(), np.random.default_rng(80)
    projector = Projector(Problem(robot, [Implicit.equal(Position(robot, "tool"))]))
    rhs = np.array([0.4, 0.1, 0.6])
    result = projector.project(robot.random(rng), rhs)
    before = result.singular_values()[0].tobytes()
    for _ in range(5):
        projector.project(robot.random(rng), rhs)
    assert result.singular_values()[0].tobytes() == before
    assert projector.project(result.q, rhs).singular_values()[0].tobytes() == before


def test_trace():
    """Property 19: a trace has every iterate with its residual, restarts marked; without the option there is none."""
    robot, rng = arm(), np.random.default_rng(81)
    goal = Pose(robot, "tool").value(robot.reference("home"))
    problem = Problem(robot, [Implicit.equal(Pose(robot, "tool"), goal)])
    assert Projector(problem).project(robot.neutral).trace is None
    for start in robot.random(rng, 20):
        result = Projector(problem, Options(trace=True)).project(start)
        assert result.trace is not None
        assert sum(step.restarted for step in result.trace) == result.restarts
        assert len(result.trace) == result.iterations + 1
        for step in result.trace:
            assert step.residual == pytest.approx(problem.residual(step.q), abs=1e-12)
        plain = Projector(problem).project(start)
        assert plain.q.tobytes() == result.q.tobytes()


# Options


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threshold": 0.0}, r"'threshold': expected a positive number, got 0"),
        ({"threshold": float("nan")}, r"'threshold'"),
        ({"max_iterations": 1.5}, r"'max_iterations': expected a whole number from 0, got 1.5"),
        ({"max_iterations": 10**30}, r"'max_iterations': expected at most 2\*\*62, got 10{30}"),  # int64 of kernels
        (
            {"restarts": 1},
            r"'restarts': expected True or False \(False, or Options.local\(\), is without restarts\), got 1",
        ),
        ({"seed": -1}, r"'seed'"),
        ({"cap": "big"}, r"'cap': expected a positive number, got 'big'"),
        ({"damping": -1e-3}, r"'damping'"),
    ],
)
def test_options_are_checked(changes, said):
    """Property 9: an option outside its range is named, with its range."""
    for make in (Options, Options.local):
        with pytest.raises(OptionError, match=said):
            make(**changes)


def test_whole_numbers_of_numpy_are_whole_numbers():
    """A seed that is drawn, a budget from an array: they were refused as no whole numbers."""
    taken = Options(seed=np.int64(3), max_iterations=np.uint8(9), screen=np.int32(2))  # pyright: ignore[reportArgumentType]
    assert repr(taken) == "Options(max_iterations=9, seed=3, screen=2)"
    assert taken == Options(max_iterations=9, seed=3, screen=2)


def test_typos_in_options_are_named():
    """Property 9: an option that does not exist is named with the nearest ones, however options are made."""
    typo: dict[str, Any] = {"treshold": 1e-4}
    for make in (Options, Options.local, partial(replace, Options())):
        with pytest.raises(UnknownOptionError, match=r"'treshold'; the nearest names are threshold$") as caught:
            make(**typo)
        assert isinstance(caught.value, OptionError)
        assert caught.value.valid == tuple(inspect.signature(Options).parameters)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert replace(Options(threshold=1e-5), seed=3) == pickle.loads(pickle.dumps(Options(threshold=1e-5, seed=3)))


def test_local_options():
    """DESIGN 2: `Options.local()` has no restarts and does not wrap; other options can be given with it."""
    local = Options.local(threshold=1e-6)
    assert (local.restarts, local.wrap, local.threshold) == (False, False, 1e-6)
    assert Options.local(wrap=True).wrap
    robot, rng = arm(), np.random.default_rng(82)
    goal = Pose(robot, "tool").value(robot.reference("home"))
    projector = Projector(Problem(robot, [Implicit.equal(Pose(robot, "tool"), goal)]), local)
    assert all(projector.project(robot.random(rng)).restarts == 0 for _ in range(20))


def test_restarts_stay_within_the_budget():
    """DESIGN 3.8: restart draws count as iterations; a restarted projection says so."""
    robot, rng = arm(), np.random.default_rng(83)
    problem = Problem(robot, [Implicit.equal(Position(robot, "tool"), [3.0, 0.0, 0.0])])
    for budget in (1, 5, 17, 40):
        result = Projector(problem, Options(max_iterations=budget)).project(robot.random(rng))
        assert result.iterations == budget
        tries = "1 try" if result.restarts == 0 else f"{result.restarts + 1} tries"
        assert f"{budget} iteration{'s' * (budget > 1)} used, in {tries}" in str(result)


# Functions without a value somewhere


def test_undefined_functions():
    """DESIGN 3.8: where a function raises UndefinedError the status is UNDEFINED, nothing is raised, the input is
    untouched and the best iterate so far is returned."""

    def root(q: np.ndarray) -> np.ndarray:
        if q[0] < 0.0:
            raise UndefinedError("square root of a negative number")
        return np.sqrt(q[:1]) + 1.0

    f = Function.from_callable(root, Rn(1), Rn(1), lambda q: [[0.5 / np.sqrt(q[0])]], name="root")
    projector = Projector(Problem(Rn(1), [Implicit.zero(f)]), Options(restarts=False, trace=True))
    start = np.array([4.0])
    result = projector.project(start)
    assert result.status is Status.UNDEFINED
    assert start.tolist() == [4.0]
    assert result.trace
    assert result.residual == min(step.residual for step in result.trace)
    assert result.q[0] >= 0.0
    nowhere = projector.project([-1.0])
    assert nowhere.status is Status.UNDEFINED
    assert nowhere.q.tolist() == [-1.0]
    assert not nowhere.success


def test_errors_of_a_users_function_come_through():
    """Property 9: what a user's function raises is not swallowed."""

    def broken(q: np.ndarray) -> np.ndarray:
        raise KeyError("mine")

    f = Function.from_callable(broken, Rn(1), Rn(1), name="broken")
    projector = Projector(Problem(Rn(1), [Implicit.zero(f)]))
    with pytest.raises(KeyError, match="mine"):
        projector.project([1.0])


def test_values_that_are_not_finite():
    """Property 15: a function that gives NaN never ends in a success, nor in a warning."""
    f = Function.from_callable(lambda q: q * np.nan, Rn(1), Rn(1), lambda q: [[1.0]], name="nothing")
    result = project(Rn(1), [Implicit.zero(f)], [1.0])
    assert not result.success
    assert np.isfinite(result.q).all()


# Without a robot


@pytest.mark.parametrize("space", [Rn(3), SO3, SE3, R3xSO3, SO3 * Rn(2) * SE3, SO3**3], ids=str)
def test_spaces_without_a_robot(space: Space):
    """DESIGN 2: problems on any space: a point is reached from anywhere, half a turn away too."""
    rng = np.random.default_rng(84)
    for _ in range(20):
        goal = space.random(rng)
        result = project(space, [Implicit.equal(Identity(space), goal)], space.random(rng))
        assert result.success
        assert np.linalg.norm(space.difference(goal, result.q)) <= 1e-4
        assert space.is_normalized(result.q, 1e-9)
    far = space.integrate(goal, np.pi * np.eye(space.nv)[-1])
    assert project(space, [Implicit.equal(Identity(space), goal)], far).success


def test_front_door_and_projector_are_one():
    """DESIGN 2: `project` is a projector used once."""
    robot = arm()
    goal = Pose(robot, "tool").value(robot.reference("home"))
    c = [Implicit.equal(Pose(robot, "tool"), goal)]
    a, b = project(robot, c, robot.neutral), Projector(Problem(robot, c)).project(robot.neutral)
    assert a.q.tobytes() == b.q.tobytes()
    assert a.or_raise() is a
    with_options = project(robot, c, robot.neutral.tolist(), Options(threshold=1e-9))
    assert with_options.residual <= 1e-9
